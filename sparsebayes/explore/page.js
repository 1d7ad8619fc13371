// The page: tabs, controls, requests, files. One request is under way at a time, the newest next.
// While something is moved drafts are asked for, and the whole fit when it has come to rest.

import { Plot, brief } from "./drawing.js";
import { drawPath, fillTable, listenTabs, made, selectTab, sliding, titled } from "./parts.js";
import { Classification, Regression, Signal } from "./views.js";

const find = (id) => document.getElementById(id);
const BEAT = 5000; // milliseconds between signs of life
const REST = 300; // milliseconds without a change, after which the whole fit is asked for
const WIDTHS = [0.005, 2]; // of the horizontal axis
const tab = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");

let views = {};
let current = null;
let start = null;
let ended = false;
let evidence = null;

// Requests.

function say(text, wrong = false) {
  find("status").textContent = text;
  find("status").classList.toggle("wrong", wrong);
}

function lost() {
  ended = true;
  say("The explorer has ended. Start it again with: sparsebayes explore", true);
}

// The answer; null if nobody is there.
async function post(place, body) {
  const headers = { "Content-Type": "application/json" };
  try {
    const response = await fetch(place, { method: "POST", headers, body: JSON.stringify(body) });
    const answer = response.status === 204 ? {} : await response.json();
    return response.ok ? answer : { failed: true, ...answer };
  } catch {
    lost();
    return null;
  }
}

let flying = false;
let wanted = null; // "draft" or "whole"
let rest = null;

function setBusy() {
  document.body.dataset.busy = String(flying || rest !== null);
}

// Something has changed. It is still "held" by the pointer, it is "moving" and may move on, or not.
function change(how = "done") {
  clearTimeout(rest);
  rest = null;
  if (how === "moving") rest = setTimeout(change, REST);
  ask(how === "done" ? "whole" : "draft");
  setBusy();
}

// A draft keeps the width that was learned last.
function requested(draft) {
  const request = current.request();
  if (!draft || current.kind === "denoise") return request;
  const learned = current.answer?.summary.width;
  if (request.width === "auto" && learned) request.width = learned;
  return { ...request, draft: true };
}

async function ask(what) {
  wanted = what;
  if (flying || ended) return;
  flying = true;
  setBusy();
  try {
    while (wanted && !ended) {
      const draft = wanted === "draft";
      wanted = null;
      const view = current;
      const begin = performance.now();
      const slow = setTimeout(() => say("fitting …"), 400);
      const answer = await post("explore", requested(draft));
      clearTimeout(slow);
      if (answer === null || view !== current) continue;
      if (answer.failed) {
        say(answer.error, true);
        continue;
      }
      view.receive(answer);
      tell(answer);
      const took = `${Math.round(performance.now() - begin)} ms`;
      const waits = draft && current.options.calibrate ? ", not yet calibrated" : "";
      say(draft ? `quick fit in ${took}${waits}` : `fitted in ${took}`);
      document.body.dataset.answers = Number(document.body.dataset.answers ?? 0) + 1;
    }
  } finally {
    flying = false;
    setBusy();
  }
}

// What the answer says besides the picture.

function tell(answer) {
  fillTable(find("summary"), answer.summary);
  find("notes").replaceChildren(...answer.notes.map((note) => made("li", {}, null, note)));
  const learned = answer.summary.width;
  if (current.options.width === "auto" && learned) widthSlider?.show(learned);
  drawPath(evidence, find("evidence"), answer.evidence_path);
}

// Controls.

let widthSlider = null;

function control(title, id) {
  return titled(find("controls"), title, id);
}

function set(name, value, how = "done") {
  current.options[name] = value;
  change(how);
}

function addChoice(name, title, choices) {
  const box = control(title, `option-${name}`);
  const select = made("select", { id: `option-${name}` }, box);
  choices.forEach(([text], k) => made("option", { value: k }, select, text));
  const given = choices.findIndex(([, value]) => value === current.options[name]);
  select.value = String(Math.max(0, given));
  select.addEventListener("change", () => set(name, choices[Number(select.value)][1]));
}

function addWords(name, title, words) {
  addChoice(name, title, words.map((word) => [word, word]));
}

// One of the words, or a number.
function addWordsOrNumber(name, title, words, first) {
  const box = control(title, `option-${name}`);
  const select = made("select", { id: `option-${name}` }, box);
  for (const word of [...words, "a number"]) made("option", { value: word }, select, word);
  const number = made("input", { type: "number", step: "any", min: "0", value: first, "aria-label": `${title}, number` }, box);
  const given = current.options[name];
  if (typeof given === "number") number.value = given;
  select.value = typeof given === "number" ? "a number" : given;
  const read = () => {
    number.hidden = select.value !== "a number";
    return number.hidden ? select.value : number.valueAsNumber;
  };
  read();
  for (const one of [select, number]) one.addEventListener(one === select ? "change" : "input", () => {
    const value = read();
    if (!Number.isNaN(value)) set(name, value); // NaN while nothing is written
  });
}

function addWidth() {
  const range = { min: 0, max: 1, step: 0.005 };
  const { box, shown, slider } = sliding(find("controls"), "width of a function", "option-width", range);
  const line = made("label", { class: "inline" }, box);
  const learn = made("input", { type: "checkbox", id: "option-learn" }, line);
  line.append(" learn it from the data");
  const span = current.domain[1] - current.domain[0];
  const [least, most] = WIDTHS.map((share) => Math.log(share * span));
  const show = (width) => {
    slider.value = (Math.log(width) - least) / (most - least);
    shown.textContent = brief(width);
  };
  const read = () => Number(Math.exp(least + Number(slider.value) * (most - least)).toPrecision(4));
  widthSlider = { show };
  if (current.options.width === undefined) current.options.width = Number((0.1 * span).toPrecision(4));
  learn.checked = current.options.width === "auto";
  if (!learn.checked) show(current.options.width);
  slider.addEventListener("input", () => {
    learn.checked = false;
    shown.textContent = brief(read());
    set("width", read(), "moving");
  });
  learn.addEventListener("change", () => set("width", learn.checked ? "auto" : read()));
}

function addCoverage() {
  const range = { min: 50, max: 99, step: 1 };
  const { shown, slider } = sliding(find("controls"), "band, probability", "option-coverage", range);
  slider.value = Math.round(100 * current.options.coverage);
  shown.textContent = `${slider.value} %`;
  slider.addEventListener("input", () => {
    shown.textContent = `${slider.value} %`;
    set("coverage", Number(slider.value) / 100, "moving");
  });
}

const AUGMENT = [["no", false], ["yes", true], ["fast", "fast"]];
const CALIBRATE = [["no", null], ["auto", "auto"], ["3 folds", 3], ["5 folds", 5], ["10 folds", 10]];
const DEFAULTS = {
  regression: { prior: "flat", solver: "sequential", noise: "estimate", augment: false, calibrate: null, coverage: 0.95 },
  classification: { prior: "auto", solver: "sequential", link: "logit", augment: false, calibrate: null },
  denoise: { dictionary: "auto", method: "average", prior: "bic", noise: "estimate", noise_model: "gaussian", coverage: 0.95 },
};

function addControls() {
  const { choices } = start;
  const { kind } = current;
  find("controls").replaceChildren();
  widthSlider = null;
  if (kind === "denoise") {
    addWords("dictionary", "dictionary", choices.dictionary);
    addWords("method", "method", choices.method);
    addWordsOrNumber("prior", "prior (method sparse)", choices.prior, 1);
    addWordsOrNumber("noise", "noise variance", ["estimate"], 1);
    addWords("noise_model", "kind of noise", choices.noise_model);
    addCoverage();
    return;
  }
  addWidth();
  if (kind === "regression") addWordsOrNumber("noise", "noise (number: variance)", choices.noise, 0.01);
  else addWords("link", "link", choices.link);
  const priors = kind === "classification" ? ["auto", ...choices.prior] : choices.prior;
  addWordsOrNumber("prior", "prior (number: price)", priors, 1);
  addWords("solver", "solver", choices.solver);
  addChoice("augment", "augment: less sure far off", AUGMENT);
  addChoice("calibrate", "calibrate (held-out points)", CALIBRATE);
  if (kind === "regression") addCoverage();
  else addChoiceOfClass();
}

function addChoiceOfClass() {
  const box = control("class of new points", "option-class");
  const select = made("select", { id: "option-class" }, box);
  for (const name of current.classes) made("option", { value: name }, select, name);
  select.value = current.next;
  select.addEventListener("change", () => {
    current.next = select.value;
  });
}

// Files.

async function fetchFiles(request) {
  say("preparing the file …");
  const answer = await post("explore", request);
  if (answer === null) return;
  if (answer.failed) {
    say(answer.error, true);
    return;
  }
  const links = answer.files.map(({ name, base64 }) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    return made("a", { href, download: name }, null, name);
  });
  for (const old of find("links").querySelectorAll("a")) URL.revokeObjectURL(old.href);
  find("links").replaceChildren(...links);
  if (links.length === 1) links[0].click();
  say(links.length === 1 ? `${links[0].download} is downloaded` : "choose a file to download");
}

function addExports() {
  for (const format of start.choices.to) {
    const button = made("button", { type: "button", id: `export-${format}` }, find("exports"), `Export ${format.toUpperCase()}`);
    button.addEventListener("click", () => fetchFiles({ kind: "export", to: format, of: current.request() }));
  }
}

// Views.

function open(kind) {
  current = views[kind];
  selectTab(find("tabs"), find("stage"), kind);
  find("hint").textContent = [current.hint, ...(kind === start.view ? start.notes : [])].join(" ");
  find("legend").textContent = current.legend;
  for (const id of ["add", "remove"]) find(id).hidden = kind === "denoise";
  find("loader").hidden = kind !== "denoise";
  find("exports").hidden = kind === "denoise";
  find("save").textContent = kind === "denoise" ? "Save signal" : "Save model";
  find("links").replaceChildren();
  current.show();
  addControls();
  change();
}

function listen() {
  listenTabs(find("tabs"), open);
  find("controls").addEventListener("submit", (event) => event.preventDefault());
  find("add").addEventListener("click", () => current.add());
  find("remove").addEventListener("click", () => current.removeChosen());
  find("fit-view").addEventListener("click", () => {
    current.domain = current.around();
    current.show();
    change();
  });
  find("reset").addEventListener("click", () => {
    current.reset();
    current.options = { ...DEFAULTS[current.kind] };
    open(current.kind);
  });
  find("save").addEventListener("click", () => fetchFiles({ kind: "save", of: current.request() }));
  find("loader").addEventListener("click", () => find("load").click());
  find("load").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (file) loadSignal(await file.text(), file.name);
    target.value = ""; // the same file may be loaded again
  });
  find("end").addEventListener("click", async () => {
    await post("end", {});
    lost();
  });
  new ResizeObserver(() => current?.show()).observe(find("plot"));
}

// The last number of each line; lines without one are left out.
function loadSignal(text, name) {
  const values = [];
  for (const line of text.split(/\r?\n/)) {
    const cells = line.split(/[,;\t ]+/).filter((cell) => cell !== "").map(Number);
    if (cells.length && Number.isFinite(cells.at(-1))) values.push(cells.at(-1));
  }
  if (values.length < 16) {
    say(`${name} has ${values.length} numbers; a signal needs 16 at least`, true);
    return;
  }
  current.load(values);
}

// Signs of life, so that the server can end with the last tab.

function beat() {
  if (!ended) post("beat", { tab });
}

function signs() {
  beat();
  setInterval(beat, BEAT);
  addEventListener("pageshow", (event) => event.persisted && beat());
  addEventListener("pagehide", () => {
    navigator.sendBeacon("leave", new Blob([JSON.stringify({ tab })], { type: "application/json" }));
  });
}

async function begin() {
  const response = await fetch("start.json").catch(lost);
  if (!response) return;
  start = await response.json();
  const plot = new Plot(find("plot"));
  evidence = new Plot(find("path"), { left: 50, right: 8, top: 6, bottom: 20 });
  const kinds = { regression: Regression, classification: Classification, denoise: Signal };
  for (const [kind, Kind] of Object.entries(kinds)) {
    views[kind] = new Kind(kind, plot, start, change);
    views[kind].options = { ...DEFAULTS[kind] };
  }
  addExports();
  open(start.view);
  listen();
  if (start.source) document.title = `${start.source} – sparsebayes explorer`;
  signs();
}

begin();
