// Predictions from the JSON of sparsebayes.export.to_json: `predictor(model)(x)` gives its outputs.
"use strict";
const sum = (n, f) => { let t = 0; for (let i = 0; i < n; i++) t += f(i); return t; };
const vec = (n, f) => Array.from({ length: n }, (_, i) => f(i));
const near = (v, c, g, f) => c.map(z => g(sum(v.length, j => f(v[j] - z[j]))));
const bump = (v, c, g) => near(v, c, g, t => t * t);
const pair = f => ([a, b]) => vec(Math.max(a.length, b.length), i => f(a[a.length > 1 ? i : 0], b[b.length > 1 ? i : 0]));
const each = f => ([v], c) => v.map((t, i) => f(t, c, i));
const spline = (a, b, m = Math.min(a, b)) => 1 + a * b + m * (a * b - m * ((a + b) / 2 - m / 3));
const logistic = t => 1 / (1 + Math.exp(-t));
function cdf(z) { // of the normal distribution: a series near 0, a continued fraction in the tails
  if (Math.abs(z) < 3) { let t = z, s = z; for (let n = 3; n < 120; n += 2) s += t *= z * z / n; return 0.5 + s * Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI); }
  let f = 0; for (let n = 80; n > 0; n--) f = n / (Math.abs(z) + f);
  const tail = Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI) / (Math.abs(z) + f);
  return z < 0 ? tail : 1 - tail;
}
function logitAverage(m, v) { // trapezoidal rules over the normal, or over the logistic variable
  const s = Math.sqrt(Math.max(v, 0)), bell = t => Math.exp(-t * t / 2), slope = t => logistic(t) * logistic(-t);
  if (s < 1.5) return sum(181, i => bell((i - 90) / 10) * logistic(m + s * (i - 90) / 10)) / sum(181, i => bell((i - 90) / 10));
  return sum(161, i => slope((i - 80) / 2) * cdf((m - (i - 80) / 2) / s)) / sum(161, i => slope((i - 80) / 2));
}
const tri = (v, c, lower) => { let n = 0; const out = []; v.forEach((t, i) => { let s = lower ? t : (c.offset || [])[i] || 0;
  for (let j = lower ? 0 : i; j < (lower ? i : v.length); j++) s += lower ? -c.triangle[n++] * out[j] : c.triangle[n++] * v[j];
  out.push(lower ? s / c.triangle[n++] : s); }); return out; };
function halfSolve([a, b]) { const A = a.slice(), B = b.slice(), n = Math.round(Math.sqrt(a.length));
  for (let k = 0; k < n; k++) { const r = Math.sqrt(Math.max(A[k * n + k], 1)); for (let i = k; i < B.length; i += n) B[i] /= r; for (let j = k + 1; j < n; j++) A[j * n + k] /= r;
    for (let j = k + 1; j < n; j++) { for (let i = 0; i < B.length; i += n) B[i + j] -= B[i + k] * A[j * n + k]; for (let i = j; i < n; i++) A[i * n + j] -= A[i * n + k] * A[j * n + k]; } }
  return B; }
const bell = z => Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
function smooth(m, v) { // means over N(m, v) of the logistic function, its integral and its slope
  let p = logistic(m), rise = Math.max(m, 0) + Math.log1p(Math.exp(-Math.abs(m))), slope = 0;
  [[0.2517392, 1.1010685], [0.5852392, 1.7299610], [0.1630216, 2.7456800]].forEach(([c, s]) => { const w = Math.sqrt(s * s + v), up = cdf(m / w) - cdf(m / s);
    p += c * up; rise += c * (m * up + w * bell(m / w) - s * bell(m / s)); slope += c * bell(m / w) / w; });
  return [p, rise, slope]; }
function softmaxAverage([mean, cov]) { // the log-sum-exp of the other classes as a normal variable, at nodes of one direction
  const K = mean.length, all = f => vec(K, f), nodes = [[3.7504397177257425, 0.000548268855972217], [2.366759410734541, 0.03075712396758652], [1.1544053947399682, 0.2401231786050127]];
  let D = all(i => all(j => Math.max(cov[i * K + i] + cov[j * K + j] - cov[i * K + j] - cov[j * K + i], 0)));
  const q = operations.softmax([mean.map(t => t / Math.sqrt(1 + Math.PI / 8 * Math.max(...D.flat())))]), A = all(i => sum(K, j => D[i][j] * q[j])), V = A.map(a => a - sum(K, j => q[j] * A[j]) / 2);
  const most = Math.max(...all(i => q[i] * V[i])), one = all(i => q[i] * V[i]).findIndex(t => t >= (1 - 1e-4) * most), s = V[one] > 0 ? Math.sqrt(0.8 / V[one]) / 2 : 0;
  const c = all(i => s * (A[i] - D[one][i])), total = all(() => 0); D = all(i => all(j => Math.max(D[i][j] - (c[i] - c[j]) ** 2, 0)));
  for (const [z, weight] of [[0, 0.45714285714285724], ...nodes, ...nodes.map(([t, w]) => [-t, w])]) { const f = all(i => mean[i] + z * c[i]);
    share(all(k => { let L = f[(k + 1) % K], v = D[(k + 1) % K].slice();
      for (let t = 2; t < K; t++) { const i = (k + t) % K, w = v[i], [p, rise, slope] = smooth(f[i] - L, w), b = (w * slope) ** 2 / 2 - p * (1 - p) * w; v = v.map((u, j) => Math.max(u + p * (D[i][j] - u) + b, 0)); L += rise; }
      return smooth(f[k] - L, v[k])[0]; })).forEach((p, k) => { total[k] += weight * p; }); }
  return total; }
const share = w => { const t = sum(w.length, i => w[i]); return w.map(p => t > 0 ? p / t : 1 / w.length); };
const operations = {
  constant: (_, c) => c.values, join: v => v.flat(), pick: ([v], c) => c.index.map(i => v[i]), scale: each((t, c, i) => (t - (c.shift ? c.shift[i] : 0)) * (c.factor ? c.factor[i] : 1)),
  matrix: ([v], c) => c.matrix.map((row, i) => sum(v.length, j => row[j] * v[j]) + (c.offset ? c.offset[i] : 0)), triangle: ([v], c) => tri(v, c, false), solve_triangle: ([v], c) => tri(v, c, true),
  rbf: ([v], c) => bump(v, c.centres, t => Math.exp(-t / 2)), laplacian: ([v], c) => near(v, c.centres, t => Math.exp(-t), Math.abs), thin_plate: ([v], c) => bump(v, c.centres, t => t > 0 ? t * Math.log(t) / 2 : 0),
  linear_spline: ([v], c) => c.centres.map(z => v.reduce((t, a, j) => t * spline(a, z[j]), 1)), monomials: ([v], c) => c.powers.map(p => v.reduce((t, a, j) => t * a ** p[j], 1)),
  matern: ([v], c) => bump(v, c.centres, t => { const r = Math.sqrt(2 * c.nu * t); return (1 + (c.nu > 1 ? r : 0) + (c.nu > 2 ? r * r / 3 : 0)) * Math.exp(-r); }), rational_quadratic: ([v], c) => bump(v, c.centres, t => (1 + t / (2 * c.alpha)) ** -c.alpha),
  periodic: ([v], c) => bump(v, c.centres, t => Math.exp(-2 * (Math.sin(Math.PI * Math.sqrt(t) / c.period) / c.length_scale) ** 2)), power: each((t, c) => t ** c.exponent), above: each((t, c) => t > c.threshold ? 1 : 0),
  add: pair((a, b) => a + b), subtract: pair((a, b) => a - b), multiply: pair((a, b) => a * b), divide: pair((a, b) => a / b), exp: each(t => Math.exp(t)), expm1: each(t => Math.expm1(t)), log: each(t => Math.log(t)), sqrt: each(t => Math.sqrt(t)), normal: each(cdf),
  clip: each((t, c) => Math.min(Math.max(t, c.low ?? -Infinity), c.high ?? Infinity)), sum: ([v]) => [sum(v.length, i => v[i])], product: ([v]) => [v.reduce((t, a) => t * a, 1)], squares: ([v], c) => [sum(v.length, i => v[i] * v[i] * (c.weights ? c.weights[i] : 1))],
  products: ([a, b], c) => { const n = a.length / c.rows; return vec(c.rows * c.columns, i => sum(n, k => a[Math.floor(i / c.columns) * n + k] * b[(i % c.columns) * n + k])); }, half_solve: halfSolve,
  logit_average: pair(logitAverage), softmax_average: softmaxAverage, normalise: ([v]) => share(v), softmax: ([v]) => { const most = Math.max(...v); return share(v.map(t => Math.exp(t - most))); },
};
const predictor = model => x => { const values = { x };
  for (const step of model.steps) values[step.name] = operations[step.operation](step.of.map(name => values[name]), step);
  return Object.fromEntries(Object.entries(model.outputs).map(([output, name]) => [output, values[name]])); };
module.exports = { predictor, operations };
