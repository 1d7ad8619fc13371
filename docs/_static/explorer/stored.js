// The explorer of the documentation: stored fits instead of a server. FITS, Plot, the views and the
// parts come from the scripts before this one.

"use strict";

const find = (id) => document.getElementById(id);
const chosen = {}; // by view, the place of each control among its choices
const views = {};
let current = null;
let evidence = null;

const FIRST = {
  regression: { width: 3, points: 1, noise: 1, model: 0, band: 2 },
  classification: { width: 3, model: 0 },
  denoise: { signal: 0, snr: 1, dictionary: 0, method: 0, band: 2 },
};
const CONTROLS = {
  width: "width of a function", points: "number of points", noise: "noise, standard deviation", model: "model",
  band: "band, probability", signal: "signal", snr: "signal to noise", dictionary: "dictionary", method: "method",
};
const SLIDERS = ["width", "points", "noise", "snr", "band"];
const BANDS = Object.keys(FITS.bands);

const codes = new Map([...FITS.letters].map((letter, k) => [letter, k]));

// Two letters are a number between the least and the largest.
function unpacked([low, high, text]) {
  const base = FITS.letters.length;
  const found = [];
  for (let k = 0; k < text.length; k += 2) {
    const code = codes.get(text[k]) * base + codes.get(text[k + 1]);
    found.push(low + ((high - low) * code) / (base * base - 1));
  }
  return found;
}

function evenly(low, high, count) {
  return Array.from({ length: count }, (_, k) => low + ((high - low) * k) / (count - 1));
}

function choices(kind, name) {
  return name === "band" ? BANDS : FITS[kind].axes[name];
}

// What was chosen, as the stored fits are named: the place of each choice.
function keyOf(kind, names) {
  return names.map((name) => chosen[kind][name]).join("|");
}

const half = () => FITS.bands[BANDS[chosen[current.kind].band]];
const around = (middle, std, times, sign) => middle.map((value, k) => value + sign * times * std[k]);

// The stored values of a summary, with their names.
function summaryOf(kind, values) {
  return Object.fromEntries(FITS.summaries[kind].map((name, k) => [name, values[k]]));
}

// Answers as the package's function gives them.
const ANSWERS = {
  regression() {
    const { ends, grid, fits } = FITS.regression;
    const fit = fits[keyOf("regression", ["width", "points", "noise", "model"])];
    const [mean, std, inner] = [fit.mean, fit.std, fit.of_function].map(unpacked);
    const times = half();
    return {
      grid: evenly(...ends, grid), mean, relevance: fit.relevance, evidence_path: unpacked(fit.path), summary: summaryOf("regression", fit.summary),
      lower: around(mean, std, times, -1), upper: around(mean, std, times, 1),
      function_lower: around(mean, inner, times, -1), function_upper: around(mean, inner, times, 1),
    };
  },
  classification() {
    const { from, to, grid, fits } = FITS.classification;
    const fit = fits[keyOf("classification", ["width", "model"])];
    const flat = unpacked(fit.probability);
    const rows = Array.from({ length: grid }, (_, k) => flat.slice(k * grid, (k + 1) * grid));
    const contours = fit.contours.map(([level, stored]) => {
      const numbers = unpacked(stored);
      const pieces = [];
      for (let k = 0; k < numbers.length; k += 4) {
        pieces.push([numbers.slice(k, k + 2), numbers.slice(k + 2, k + 4)]);
      }
      return { level, pieces };
    });
    return {
      x1: evenly(from[0], to[0], grid), x2: evenly(from[1], to[1], grid), probability: rows, contours,
      relevance: fit.relevance, evidence_path: unpacked(fit.path), summary: summaryOf("classification", fit.summary),
    };
  },
  denoise() {
    const fit = FITS.denoise.fits[keyOf("denoise", ["signal", "snr", "dictionary", "method"])];
    const [signal, std] = [fit.signal, fit.std].map(unpacked);
    const times = half();
    return { signal, lower: around(signal, std, times, -1), upper: around(signal, std, times, 1), summary: summaryOf("denoise", fit.summary) };
  },
};

const DATA = {
  regression: () => FITS.regression.data[keyOf("regression", ["points", "noise"])],
  classification: () => FITS.classification.data,
  denoise: () => ({ y: unpacked(FITS.denoise.data[keyOf("denoise", ["signal", "snr"])]) }),
};

// The axes stay the same while sliders move, so that fits can be compared.
const AXES = {
  regression: () => [...FITS.regression.ends, -1.1, 1.7],
  classification: () => [FITS.classification.from[0], FITS.classification.to[0], FITS.classification.from[1], FITS.classification.to[1]],
  denoise: () => null,
};

function show() {
  const { kind } = current;
  current.data = DATA[kind]();
  current.answer = ANSWERS[kind]();
  current.domain = AXES[kind]();
  current.show();
  fillTable(find("summary"), current.answer.summary);
  drawPath(evidence, find("evidence"), current.answer.evidence_path);
}

function addSlider(name, title) {
  const { kind } = current;
  const values = choices(kind, name);
  const range = { min: 0, max: values.length - 1, step: 1 };
  const { shown, slider } = sliding(find("controls"), title, `option-${name}`, range);
  const tell = () => {
    shown.textContent = name === "band" ? `${values[chosen[kind][name]]} %` : values[chosen[kind][name]];
    slider.setAttribute("aria-valuetext", shown.textContent);
  };
  slider.value = chosen[kind][name];
  tell();
  slider.addEventListener("input", () => {
    chosen[kind][name] = Number(slider.value);
    tell();
    show();
  });
}

function addChoice(name, title) {
  const { kind } = current;
  const box = titled(find("controls"), title, `option-${name}`);
  const select = made("select", { id: `option-${name}` }, box);
  choices(kind, name).forEach((text, k) => made("option", { value: k }, select, text));
  select.value = chosen[kind][name];
  select.addEventListener("change", () => {
    chosen[kind][name] = Number(select.value);
    show();
  });
}

function open(kind) {
  current = views[kind];
  selectTab(find("tabs"), find("stage"), kind);
  find("legend").textContent = current.legend;
  find("controls").replaceChildren();
  for (const name of Object.keys(chosen[kind])) {
    (SLIDERS.includes(name) ? addSlider : addChoice)(name, CONTROLS[name]);
  }
  show();
}

// Light or dark as the page around it; if that cannot be read, as the browser says.
function followTheme() {
  let outer = null;
  try {
    outer = window.parent === window ? null : window.parent.document.documentElement;
  } catch {
    return;
  }
  if (!outer) return;
  const take = () => {
    const { theme } = outer.dataset;
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  take();
  new MutationObserver(take).observe(outer, { attributes: true, attributeFilter: ["data-theme"] });
}

function begin() {
  followTheme();
  const plot = new Plot(find("plot"));
  evidence = new Plot(find("path"), { left: 50, right: 8, top: 6, bottom: 20 });
  const start = {
    fixed: true,
    limits: {},
    names: { regression: ["x", "y"], classification: ["x1", "x2", "label"], denoise: ["y"] },
    data: { regression: { x: [], y: [] }, classification: FITS.classification.data, denoise: { y: [] } },
  };
  const kinds = { regression: Regression, classification: Classification, denoise: Signal };
  for (const [kind, Kind] of Object.entries(kinds)) {
    chosen[kind] = { ...FIRST[kind] };
    views[kind] = new Kind(kind, plot, start, () => null);
  }
  listenTabs(find("tabs"), open);
  find("controls").addEventListener("submit", (event) => event.preventDefault());
  open("regression");
  new ResizeObserver(show).observe(find("plot"));
}

begin();
