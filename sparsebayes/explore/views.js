// The three views: what each draws, how its data are moved, and what it asks for.

import { brief, element, limits } from "./drawing.js";

const STEP = 0.01; // of the axis, by an arrow key

// `changed` is called with "held" while the pointer moves something, with "moving" by keys that are
// likely to be pressed again, and with nothing else. With `start.fixed` nothing can be moved.
class View {
  constructor(kind, plot, start, changed) {
    this.fixed = start.fixed ?? false;
    this.kind = kind;
    this.plot = plot;
    this.names = start.names[kind];
    this.first = start.data[kind];
    this.most = start.limits;
    this.changed = changed;
    this.options = {};
    this.reset();
  }

  reset() {
    this.data = structuredClone(this.first);
    this.answer = null;
    this.domain = null;
  }

  show() {
    this.plot.clear();
    this.domain ??= this.around();
    this.plot.frame(this.domain, this.titles());
    this.plot.svg.classList.toggle("plane", this.kind === "classification");
    this.listen();
    this.drawData();
    if (this.answer) this.drawAnswer(this.answer);
  }

  receive(answer) {
    this.answer = answer;
    this.drawAnswer(answer);
  }

  titles() {
    return this.names.slice(0, 2);
  }
}

// Points that can be dragged, added and removed; subclasses say where they are.
class PointsView extends View {
  chosen = Infinity;

  count() {
    return this.data[this.across].length;
  }

  at(i) {
    return [this.data[this.across][i], this.data[this.up][i]];
  }

  around() {
    return [...limits(this.data[this.across]), ...limits(this.data[this.up], 0.2)];
  }

  listen() {
    if (this.fixed) return;
    this.plot.back.addEventListener("dblclick", (event) => this.add(this.plot.place(event)));
  }

  move(i, [x, y], how) {
    this.data[this.across][i] = x;
    this.data[this.up][i] = y;
    this.placeMark(this.marks[i], i);
    this.drawRings();
    this.changed(how);
  }

  add(place = null) {
    if (this.count() >= this.most.points) return;
    const [x0, x1, y0, y1] = this.domain;
    const [x, y] = place ?? [(x0 + x1) / 2, (y0 + y1) / 2];
    this.data[this.across].push(x);
    this.data[this.up].push(y);
    this.addLabel();
    this.drawData();
    this.marks.at(-1).focus();
    this.changed();
  }

  // The point that had the focus last.
  removeChosen() {
    if (this.chosen < this.count()) this.remove(this.chosen);
  }

  remove(i) {
    for (const column of Object.values(this.data)) column.splice(i, 1);
    if (this.answer) this.answer.relevance = [];
    this.drawData();
    this.chosen = Infinity;
    if (this.count()) this.marks[Math.min(i, this.count() - 1)].focus();
    this.changed();
  }

  addLabel() {}

  drawData() {
    this.plot.points.replaceChildren();
    this.marks = [];
    for (let i = 0; i < this.count(); i += 1) {
      const mark = element("path", this.fixed ? {} : { tabindex: 0, role: "img" }, this.plot.points);
      this.marks.push(mark);
      this.placeMark(mark, i);
      if (!this.fixed) this.handle(mark, i);
    }
    this.drawRings();
  }

  placeMark(mark, i) {
    const [x, y] = this.at(i);
    mark.setAttribute("class", `point ${this.markClass(i)}`);
    mark.setAttribute("d", this.markShape(i));
    mark.setAttribute("transform", `translate(${this.plot.x(x)} ${this.plot.y(y)})`);
    mark.setAttribute("aria-label", `point ${i + 1}, ${this.describe(i)}: ${brief(x)}, ${brief(y)}`);
  }

  markClass() {
    return "";
  }

  markShape() {
    return "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0Z";
  }

  describe() {
    return this.names.slice(0, 2).join(" and ");
  }

  handle(mark, i) {
    mark.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      mark.setPointerCapture(event.pointerId);
      mark.focus();
      event.preventDefault();
    });
    let moved = false;
    mark.addEventListener("pointermove", (event) => {
      if (!mark.hasPointerCapture(event.pointerId)) return;
      moved = true;
      this.move(i, this.plot.place(event), "held");
    });
    mark.addEventListener("lostpointercapture", () => {
      if (moved) this.changed();
      moved = false;
    });
    mark.addEventListener("focus", () => {
      this.chosen = i;
    });
    mark.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      this.remove(i);
    });
    mark.addEventListener("keydown", (event) => this.key(event, i));
  }

  key(event, i) {
    const [x0, x1, y0, y1] = this.domain;
    const step = STEP * (event.shiftKey ? 5 : 1);
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.key in ways) {
      const [x, y] = this.at(i);
      const [dx, dy] = ways[event.key];
      const held = (value, low, high) => Math.min(high, Math.max(low, value));
      const across = held(x + dx * step * (x1 - x0), x0, x1);
      this.move(i, [across, held(y + dy * step * (y1 - y0), y0, y1)], "moving");
    } else if (event.key === "Delete" || event.key === "Backspace") {
      this.remove(i);
    } else if (!this.otherKey(event, i)) {
      return;
    }
    event.preventDefault();
  }

  otherKey() {
    return false;
  }

  drawRings() {
    const rows = (this.answer?.relevance ?? []).filter((i) => i < this.count());
    this.plot.rings.replaceChildren();
    for (const i of rows) {
      const [x, y] = this.at(i);
      element("circle", { class: "ring", cx: this.plot.x(x), cy: this.plot.y(y), r: 10 }, this.plot.rings);
    }
  }
}

export class Regression extends PointsView {
  across = "x";
  up = "y";
  hint = "Drag points, double-click to add one, right-click or Delete to remove one. With the keyboard: Tab to a point, arrows move it.";
  legend = "line: mean · dark band: the function · light band: new observations · circles: relevance vectors";

  request() {
    const [low, high] = this.domain;
    return { kind: this.kind, ...this.data, ...this.options, names: this.names, from: low, to: high, grid: 240 };
  }

  drawAnswer(answer) {
    const plot = this.plot;
    plot.under.replaceChildren();
    plot.lines.replaceChildren();
    element("path", { class: "band", d: plot.band(answer.grid, answer.lower, answer.upper) }, plot.under);
    const inner = plot.band(answer.grid, answer.function_lower, answer.function_upper);
    element("path", { class: "band inner", d: inner }, plot.under);
    element("path", { class: "mean", d: plot.line(answer.grid, answer.mean) }, plot.lines);
    this.drawRings();
  }
}

export class Classification extends PointsView {
  across = "x1";
  up = "x2";
  hint = "Drag points, double-click to add one, right-click or Delete to remove one; Enter on a point changes its class.";
  legend = "colour: the more probable class · lines: probability 0.1, 0.25, 0.5 (thick), 0.75, 0.9 · circles: relevance vectors";

  reset() {
    super.reset();
    this.classes = [...new Set(this.data.label)].sort();
    this.next = this.classes[0];
  }

  request() {
    const [a, b, c, d] = this.domain;
    return { kind: this.kind, ...this.data, ...this.options, names: this.names, from: [a, c], to: [b, d], grid: 40 };
  }

  addLabel() {
    this.data.label.push(this.next);
  }

  second(i) {
    return this.data.label[i] !== this.classes[0];
  }

  markClass(i) {
    return this.second(i) ? "second" : "first";
  }

  markShape(i) {
    return this.second(i) ? "M0 -7L6.5 5H-6.5Z" : super.markShape(i);
  }

  describe(i) {
    return `class ${this.data.label[i]}`;
  }

  otherKey(event, i) {
    if (event.key !== "Enter" && event.key !== " ") return false;
    this.data.label[i] = this.classes[this.second(i) ? 0 : 1];
    this.placeMark(this.marks[i], i);
    this.changed();
    return true;
  }

  drawAnswer(answer) {
    const { under, lines } = this.plot;
    const { x1, x2, probability } = answer;
    const width = this.plot.x(x1[1]) - this.plot.x(x1[0]);
    const height = this.plot.y(x2[0]) - this.plot.y(x2[1]);
    const n = x1.length * x2.length;
    while (under.childElementCount > n) under.lastChild.remove();
    while (under.childElementCount < n) element("rect", { "shape-rendering": "crispEdges" }, under);
    let k = 0;
    for (let j = 0; j < x2.length; j += 1) {
      for (let i = 0; i < x1.length; i += 1) {
        const cell = under.children[k];
        k += 1;
        const p = probability[j][i];
        cell.setAttribute("class", p > 0.5 ? "cell second" : "cell first");
        cell.setAttribute("fill-opacity", (0.75 * Math.abs(p - 0.5)).toFixed(3));
        cell.setAttribute("x", this.plot.x(x1[i]) - width / 2);
        cell.setAttribute("y", this.plot.y(x2[j]) - height / 2);
        cell.setAttribute("width", width);
        cell.setAttribute("height", height);
      }
    }
    lines.replaceChildren();
    for (const { level, pieces } of answer.contours) {
      const half = level === 0.5 ? "contour half" : "contour";
      element("path", { class: half, d: this.plot.pieces(pieces) }, lines);
    }
    this.drawRings();
  }
}

export class Signal extends View {
  hint = "Draw with the pointer, or load a file with a number on each line. With the keyboard: Tab to the sample, left and right choose it, up and down move it.";
  legend = "thin: the samples · line: without noise · band: where it may lie";
  chosen = 0;

  around() {
    return [0, this.data.y.length - 1, ...limits(this.data.y, 0.15)];
  }

  titles() {
    return ["sample", this.names[0]];
  }

  request() {
    return { kind: this.kind, ...this.data, ...this.options, names: this.names };
  }

  listen() {
    if (this.fixed) return;
    const back = this.plot.back;
    back.classList.add("pen");
    back.addEventListener("pointerdown", (event) => {
      back.setPointerCapture(event.pointerId);
      this.last = null;
      this.draw(event);
    });
    back.addEventListener("pointermove", (event) => {
      if (back.hasPointerCapture(event.pointerId)) this.draw(event);
    });
  }

  draw(event) {
    const [x, y] = this.plot.place(event);
    const here = Math.round(x);
    const [from, before] = this.last ?? [here, y];
    const way = Math.sign(here - from) || 1;
    for (let i = from; way * (here - i) >= 0; i += way) {
      this.data.y[i] = here === from ? y : before + ((y - before) * (i - from)) / (here - from);
    }
    this.last = [here, y];
    this.drawData();
    this.changed();
  }

  load(values) {
    this.data = { y: values.slice(0, this.most.samples) };
    this.answer = null;
    this.domain = null;
    this.chosen = 0;
    this.show();
    this.changed();
  }

  drawData() {
    const y = this.data.y;
    const xs = y.map((_, i) => i);
    this.raw ??= element("path", { class: "raw" });
    if (this.raw.parentNode !== this.plot.behind) this.plot.behind.append(this.raw);
    this.raw.setAttribute("d", this.plot.line(xs, y));
    if (this.fixed) return;
    if (!this.cursor || this.cursor.parentNode !== this.plot.points) {
      this.plot.points.replaceChildren();
      const shape = { class: "point", tabindex: 0, r: 6, role: "slider", "pointer-events": "none" };
      this.cursor = element("circle", shape, this.plot.points);
      this.cursor.addEventListener("keydown", (event) => this.key(event));
    }
    this.chosen = Math.min(this.chosen, y.length - 1);
    const value = y[this.chosen] ?? 0;
    this.cursor.setAttribute("cx", this.plot.x(this.chosen));
    this.cursor.setAttribute("cy", this.plot.y(value));
    this.cursor.setAttribute("aria-label", `sample ${this.chosen + 1}`);
    this.cursor.setAttribute("aria-valuenow", brief(value));
  }

  key(event) {
    const size = event.shiftKey ? 5 : 1;
    const across = { ArrowLeft: -size, ArrowRight: size }[event.key];
    const up = { ArrowUp: size, ArrowDown: -size }[event.key];
    if (across === undefined && up === undefined) return;
    event.preventDefault();
    if (across !== undefined) {
      this.chosen = Math.min(this.data.y.length - 1, Math.max(0, this.chosen + across));
    } else {
      const [, , low, high] = this.domain;
      this.data.y[this.chosen] = (this.data.y[this.chosen] ?? 0) + up * STEP * (high - low);
      this.changed();
    }
    this.drawData();
  }

  drawAnswer(answer) {
    const plot = this.plot;
    const xs = answer.signal.map((_, i) => i);
    plot.under.replaceChildren();
    plot.lines.replaceChildren();
    element("path", { class: "band", d: plot.band(xs, answer.lower, answer.upper) }, plot.under);
    element("path", { class: "mean", d: plot.line(xs, answer.signal) }, plot.lines);
  }
}
