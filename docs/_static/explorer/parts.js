// Made by docs/make_explorer_data.py; do not edit.
// Parts of a page: titled controls, tabs, the summary, the evidence path.

function made(name, attributes = {}, parent = null, text = null) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  if (text !== null) found.textContent = text;
  if (parent) parent.append(found);
  return found;
}

const TITLES = {
  points: "points", relevance_vectors: "relevance vectors", width: "width", log_evidence: "log evidence",
  steps: "steps of the solver", converged: "converged", stop_reason: "why it ended", noise_std: "noise, standard deviation",
  noise_found: "kind of noise",
  rmse: "error at the points (RMS)", calibration: "bands widened by", wrong: "points on the wrong side", link: "link",
  samples: "samples", kept: "coefficients kept", dictionary: "dictionary", method: "method",
};

function fillTable(table, summary) {
  const rows = table.tBodies[0];
  rows.replaceChildren();
  for (const [key, value] of Object.entries(summary)) {
    const row = made("tr", {}, rows);
    made("th", { scope: "row" }, row, TITLES[key] ?? key);
    made("td", { "data-key": key }, row, typeof value === "boolean" ? (value ? "yes" : "no") : brief(value));
  }
}

function drawPath(plot, figure, path) {
  figure.hidden = !path || path.length < 2;
  if (figure.hidden) return;
  const known = path.filter((value) => value !== null);
  const low = Math.min(...known);
  const high = Math.max(...known);
  plot.clear();
  plot.frame([0, path.length - 1, low - 0.05 * (high - low || 1), high + 0.05 * (high - low || 1)]);
  element("path", { class: "climb", d: plot.line(path.map((_, i) => i), path) }, plot.lines);
}

function titled(form, title, id) {
  const box = made("div", { class: "control" }, form);
  made("label", { for: id }, box, title);
  return box;
}

// A slider, with its value beside the title.
function sliding(form, title, id, range) {
  const box = made("div", { class: "control" }, form);
  const head = made("div", { class: "head" }, box);
  made("label", { for: id }, head, title);
  const shown = made("output", { for: id }, head);
  return { box, shown, slider: made("input", { type: "range", id, ...range }, box) };
}

function selectTab(tabs, stage, kind) {
  for (const button of tabs.children) {
    const chosen = button.dataset.view === kind;
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
  }
  stage.setAttribute("aria-labelledby", `tab-${kind}`);
}

function listenTabs(tabs, open) {
  const buttons = [...tabs.children];
  buttons.forEach((button, k) => {
    button.addEventListener("click", () => open(button.dataset.view));
    button.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (way === undefined) return;
      const next = buttons[(k + way + buttons.length) % buttons.length];
      open(next.dataset.view);
      next.focus();
    });
  });
}
