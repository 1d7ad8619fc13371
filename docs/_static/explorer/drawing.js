// Made by docs/make_explorer_data.py; do not edit.
// SVG: elements, scales, axes, lines.

const NS = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, parent = null, text = null) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function brief(value) {
  if (typeof value !== "number") return value === null ? "none" : String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  return String(Number(value.toPrecision(4)));
}

function ticks(low, high, count) {
  const raw = (high - low) / Math.max(2, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k += 1) found.push(k * step);
  return found;
}

class Plot {
  constructor(svg, margins = { left: 56, right: 12, top: 10, bottom: 40 }) {
    this.svg = svg;
    this.margins = margins;
    this.domain = [0, 1, 0, 1];
    this.clip = `clip-${svg.id}`;
    this.clear();
  }

  clear() {
    this.svg.replaceChildren();
    const clip = element("clipPath", { id: this.clip }, element("defs", {}, this.svg));
    this.window = element("rect", {}, clip);
    this.axes = element("g", { "aria-hidden": "true" }, this.svg);
    const inside = { "clip-path": `url(#${this.clip})` };
    this.back = element("rect", { class: "back" }, this.svg);
    this.under = element("g", { ...inside, "aria-hidden": "true", "pointer-events": "none" }, this.svg);
    this.behind = element("g", { ...inside, "aria-hidden": "true", "pointer-events": "none" }, this.svg);
    this.lines = element("g", { ...inside, "aria-hidden": "true", "pointer-events": "none" }, this.svg);
    this.points = element("g", inside, this.svg);
    this.rings = element("g", { ...inside, "aria-hidden": "true" }, this.svg);
  }

  // Take the size of the element and draw the axes.
  frame(domain, titles = ["", ""]) {
    this.domain = domain;
    const width = Math.max(120, this.svg.clientWidth);
    const height = Math.max(80, this.svg.clientHeight);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const m = this.margins;
    this.box = [m.left, width - m.right, height - m.bottom, m.top];
    const [left, right, bottom, top] = this.box;
    for (const rect of [this.window, this.back]) {
      rect.setAttribute("x", left);
      rect.setAttribute("y", top);
      rect.setAttribute("width", Math.max(1, right - left));
      rect.setAttribute("height", Math.max(1, bottom - top));
    }
    this.axes.replaceChildren();
    const frame = { class: "axis", d: `M${left} ${top}V${bottom}H${right}`, fill: "none" };
    element("path", frame, this.axes);
    for (const x of ticks(domain[0], domain[1], (right - left) / 90)) {
      const place = this.x(x);
      element("path", { class: "axis", d: `M${place} ${bottom}v5` }, this.axes);
      const text = { class: "tick", x: place, y: bottom + 18, "text-anchor": "middle" };
      element("text", text, this.axes, brief(x));
    }
    for (const y of ticks(domain[2], domain[3], (bottom - top) / 60)) {
      const place = this.y(y);
      element("path", { class: "axis", d: `M${left} ${place}h-5` }, this.axes);
      const text = { class: "tick", x: left - 8, y: place + 4, "text-anchor": "end" };
      element("text", text, this.axes, brief(y));
    }
    const middle = (left + right) / 2;
    const below = { class: "title-x", x: middle, y: height - 4, "text-anchor": "middle" };
    element("text", below, this.axes, titles[0]);
    const turn = `rotate(-90 12 ${(top + bottom) / 2})`;
    const beside = { class: "title-y", x: 12, y: (top + bottom) / 2, "text-anchor": "middle", transform: turn };
    element("text", beside, this.axes, titles[1]);
  }

  x(value) {
    const [left, right] = this.box;
    return left + ((right - left) * (value - this.domain[0])) / (this.domain[1] - this.domain[0]);
  }

  y(value) {
    const [, , bottom, top] = this.box;
    return bottom + ((top - bottom) * (value - this.domain[2])) / (this.domain[3] - this.domain[2]);
  }

  // Where an event is in units of the data, held inside the axes.
  place(event) {
    const area = this.svg.getBoundingClientRect();
    const [left, right, bottom, top] = this.box;
    const held = (value, low, high) => Math.min(high, Math.max(low, value));
    const across = (held(event.clientX - area.left, left, right) - left) / (right - left);
    const up = (held(event.clientY - area.top, top, bottom) - bottom) / (top - bottom);
    const [x0, x1, y0, y1] = this.domain;
    return [x0 + across * (x1 - x0), y0 + up * (y1 - y0)];
  }

  line(xs, ys) {
    let text = "";
    let pen = "M";
    for (let i = 0; i < xs.length; i += 1) {
      if (ys[i] === null) {
        pen = "M";
        continue;
      }
      text += `${pen}${this.x(xs[i]).toFixed(1)} ${this.y(ys[i]).toFixed(1)}`;
      pen = "L";
    }
    return text;
  }

  band(xs, low, high) {
    const there = this.line(xs, high);
    const back = this.line([...xs].reverse(), [...low].reverse());
    return `${there}${back.replace("M", "L")}Z`;
  }

  pieces(segments) {
    const text = ([x, y]) => `${this.x(x).toFixed(1)} ${this.y(y).toFixed(1)}`;
    return segments.map(([a, b]) => `M${text(a)}L${text(b)}`).join("");
  }
}

function limits(values, share = 0.08) {
  const known = values.filter((value) => value !== null);
  const low = Math.min(...known);
  const high = Math.max(...known);
  const margin = share * (high - low || Math.max(1, Math.abs(low)));
  return [low - margin, high + margin];
}
