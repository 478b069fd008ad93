/* A report: curves, heat map, filtering. */

/* ---- torque curves ------------------------------------------------------------------------------- */

const HEIGHT = 250, LEFT = 46, RIGHT = 8, TOP = 18, SPLIT = 168, BELOW = 182, BOTTOM = 228;
const CURVES = ["measured", "predicted", "residual"];
const DOT_SPACING = 7; // pixels between samples from which each of them is marked
const views = new Map(); // visible time span by motion, shared by its joints

function timeOf(curve, i) { // results of version 0.1 list the stamps
  return curve.time ? curve.time[i] : curve.start_s + i * curve.step_s;
}

function pointCount(curve) {
  return curve.time ? curve.time.length : Math.ceil(curve.samples / curve.samples_per_point);
}

function wholeSpan(motion) {
  const curve = DATA.curves[motion];
  return [timeOf(curve, 0), timeOf(curve, pointCount(curve) - 1)];
}

function indexAt(curve, t) { // first point at or after t
  let low = 0, high = pointCount(curve) - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(curve, middle) < t) low = middle + 1; else high = middle;
  }
  return low;
}

function unpacked(text, scale) { // 16-bit integers in base64, times their scale; or numbers as they are
  if (typeof text !== "string") return text;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return Float32Array.from(new Int16Array(bytes.buffer), (value) => value * scale);
}

function curvesOf(motion, joint) { // per name the least and largest value of each point: the same where a point is a sample
  const curve = DATA.curves[motion], joints = curve.unpacked || (curve.unpacked = []);
  if (joints[joint]) return joints[joint];
  const found = {};
  for (const [name, part] of Object.entries(curve.joints[joint])) {
    const low = unpacked(part.low, part.scale);
    found[name] = { low, high: part.high ? unpacked(part.high, part.scale) : low };
  }
  if (!found.predicted) {
    const values = found.measured.low.map((value, i) => value - found.residual.low[i]);
    found.predicted = { low: values, high: values };
  }
  return (joints[joint] = found);
}

function extent(parts, first, last) {
  let low = Infinity, high = -Infinity;
  for (const part of parts) {
    for (let i = first; i <= last; i++) {
      if (part.low[i] < low) low = part.low[i];
      if (part.high[i] > high) high = part.high[i];
    }
  }
  if (!(high > low)) { low -= 1; high += 1; }
  const margin = 0.06 * (high - low);
  return [low - margin, high + margin];
}

function ticks(low, high, count) {
  const rough = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

function centred(low, high) { // one round value on either side of zero, where there is room for three labels only
  const largest = Math.max(Math.abs(low), Math.abs(high)) * 0.95, power = Math.pow(10, Math.floor(Math.log10(largest)));
  const round = [5, 2, 1].map((m) => m * power).find((v) => v <= largest);
  return [-round, 0, round].filter((v) => v >= low && v <= high);
}

function stretches(part, first, last, columns) { // least and largest of the points of each pixel column
  const found = [], size = (last - first + 1) / columns;
  for (let k = 0; k < columns; k++) {
    const from = first + Math.floor(k * size), to = Math.min(last, first + Math.ceil((k + 1) * size) - 1);
    let low = Infinity, high = -Infinity;
    for (let i = from; i <= to; i++) {
      if (part.low[i] < low) low = part.low[i];
      if (part.high[i] > high) high = part.high[i];
    }
    found.push({ at: (from + to) / 2, low, high });
  }
  return found;
}

/* A line through the samples; an envelope only where there are more points than pixels, or a point holds several samples. */
function trace(part, first, last, columns, x, y) {
  const place = (at, v) => x(at).toFixed(1) + " " + y(v).toFixed(1);
  const crowded = last - first > 2 * columns;
  if (!crowded && part.low === part.high) {
    const points = [];
    for (let i = first; i <= last; i++) points.push(place(i, part.low[i]));
    return { line: true, path: "M" + points.join("L") };
  }
  const band = stretches(part, first, last, crowded ? columns : last - first + 1);
  const up = band.map((b) => place(b.at, b.high)), down = band.map((b) => place(b.at, b.low)).reverse();
  return { line: false, path: "M" + up.concat(down).join("L") + "Z" };
}

function dots(part, first, last, x, y) { // one short stroke per sample; round caps make dots of them
  let path = "";
  for (let i = first; i <= last; i++) path += `M${x(i).toFixed(1)} ${y(part.low[i]).toFixed(1)}h.01`;
  return path;
}

function draw(figure) {
  const motion = Number(figure.dataset.motion), joint = Number(figure.dataset.joint);
  const curve = DATA.curves[motion], parts = curvesOf(motion, joint);
  const box = figure.querySelector(".canvas");
  const width = Math.max(280, Math.round(box.clientWidth || 520)), right = width - RIGHT, columns = right - LEFT;
  const span = views.get(motion) || wholeSpan(motion);
  const first = Math.max(0, indexAt(curve, span[0]) - 1), last = Math.min(pointCount(curve) - 1, indexAt(curve, span[1]) + 1);
  const svg = element("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT });
  const across = (t) => LEFT + ((t - span[0]) / (span[1] - span[0] || 1)) * columns;
  const step = (timeOf(curve, last) - timeOf(curve, first)) / Math.max(1, last - first);
  const x = (i) => across(timeOf(curve, first) + (i - first) * step);
  const clip = `clip-${motion}-${joint}`;
  element("rect", { x: LEFT, y: 0, width: columns, height: HEIGHT }, element("clipPath", { id: clip }, element("defs", {}, svg)));
  const panels = [[["measured", "predicted"], TOP, SPLIT], [["residual"], BELOW, BOTTOM]];
  for (const [names, top, bottom] of panels) {
    const [low, high] = extent(names.map((name) => parts[name]), first, last);
    const y = (v) => bottom - ((v - low) / (high - low)) * (bottom - top);
    element("rect", { class: "frame", x: LEFT, y: top, width: columns, height: bottom - top }, svg);
    for (const v of names.length > 1 ? ticks(low, high, 5) : centred(low, high)) {
      element("line", { class: v === 0 ? "zero" : "tick", x1: LEFT, x2: right, y1: y(v), y2: y(v) }, svg);
      element("text", { x: LEFT - 5, y: y(v) + 4, "text-anchor": "end" }, svg).textContent = digits(v);
    }
    for (const name of names) {
      const { line, path } = trace(parts[name], first, last, columns, x, y);
      element("path", { class: name + (line ? " line" : ""), d: path, "clip-path": `url(#${clip})` }, svg);
      if (line && columns / (last - first) > DOT_SPACING) {
        element("path", { class: name + " dots", d: dots(parts[name], first, last, x, y), "clip-path": `url(#${clip})` }, svg);
      }
    }
  }
  const stamps = ticks(span[0], span[1], Math.max(3, Math.floor(width / 90)));
  for (const t of stamps) {
    element("line", { class: "tick", x1: across(t), x2: across(t), y1: BOTTOM, y2: BOTTOM + 4 }, svg);
    const edge = across(t) > right - 20, unit = t === stamps[stamps.length - 1] ? " s" : "";
    element("text", { x: edge ? width : across(t), y: HEIGHT - 7, "text-anchor": edge ? "end" : "middle" }, svg).textContent = digits(t) + unit;
  }
  element("text", { x: LEFT, y: TOP - 6 }, svg).textContent = DATA.units[joint];
  box.replaceChildren(svg);
  figure.plot = { span, width, curve, parts, joint };
}

function timeAt(figure, clientX) {
  const box = figure.querySelector(".canvas").getBoundingClientRect(), plot = figure.plot;
  const place = ((clientX - box.left) / box.width) * plot.width;
  const share = (place - LEFT) / (plot.width - RIGHT - LEFT);
  return plot.span[0] + Math.min(1, Math.max(0, share)) * (plot.span[1] - plot.span[0]);
}

function show(motion, span) {
  const [start, end] = wholeSpan(motion), steps = pointCount(DATA.curves[motion]) - 1;
  const least = Math.min(end - start, (10 * (end - start)) / Math.max(10, steps)); // ten points still make a picture
  let width = Math.min(end - start, Math.max(least, span[1] - span[0]));
  let from = Math.min(Math.max(start, span[0]), end - width);
  views.set(motion, [from, from + width]);
  for (const figure of document.querySelectorAll(`.plot[data-motion="${motion}"]`)) {
    if (figure.hidden) figure.plot = null; else draw(figure);
  }
}

function act(motion, what) {
  const [from, to] = views.get(motion) || wholeSpan(motion), size = to - from, middle = (from + to) / 2;
  const spans = {
    in: [middle - size / 4, middle + size / 4], out: [middle - size, middle + size],
    left: [from - size / 4, to - size / 4], right: [from + size / 4, to + size / 4], reset: wholeSpan(motion),
  };
  show(motion, spans[what]);
}

function read(figure, t) {
  const { curve, parts, span, width, joint } = figure.plot;
  let i = indexAt(curve, t);
  if (i > 0 && t - timeOf(curve, i - 1) < timeOf(curve, i) - t) i -= 1;
  const value = (name) => (parts[name].low[i] + parts[name].high[i]) / 2;
  const told = CURVES.map((name) => `${name === "residual" ? "left over" : name} ${digits(value(name))}`).join(" · ");
  const several = curve.samples_per_point > 1 ? ` · middle of ${curve.samples_per_point} samples` : "";
  figure.querySelector(".readout").textContent = `${digits(timeOf(curve, i))} s · ${told} ${DATA.units[joint]}${several}`;
  const svg = figure.querySelector("svg");
  const place = LEFT + ((timeOf(curve, i) - span[0]) / (span[1] - span[0] || 1)) * (width - RIGHT - LEFT);
  let line = svg.querySelector(".cursor");
  if (!line) line = element("line", { class: "cursor", y1: TOP, y2: BOTTOM }, svg);
  line.setAttribute("x1", place);
  line.setAttribute("x2", place);
}

function listen(figure, panning) {
  const box = figure.querySelector(".canvas"), motion = Number(figure.dataset.motion);
  let start = null;
  box.addEventListener("pointerdown", (event) => {
    if (event.button || !figure.plot) return;
    start = { x: event.clientX, t: timeAt(figure, event.clientX), span: figure.plot.span.slice(), pan: event.shiftKey || panning() };
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    if (!figure.plot) return;
    if (!start) { read(figure, timeAt(figure, event.clientX)); return; }
    if (start.pan) {
      const scale = (start.span[1] - start.span[0]) / box.getBoundingClientRect().width;
      const shift = (start.x - event.clientX) * scale;
      show(motion, [start.span[0] + shift, start.span[1] + shift]);
      return;
    }
    brush(figure, start.x, event.clientX);
  });
  box.addEventListener("pointerup", (event) => {
    const begun = start;
    start = null;
    if (!begun || begun.pan) return;
    const end = timeAt(figure, event.clientX);
    if (Math.abs(event.clientX - begun.x) > 6) show(motion, [Math.min(begun.t, end), Math.max(begun.t, end)]);
    else draw(figure);
  });
  box.addEventListener("pointercancel", () => { start = null; if (figure.plot) draw(figure); });
  box.addEventListener("pointerleave", () => {
    if (start) return;
    figure.querySelector(".readout").textContent = "\u00a0";
    const line = figure.querySelector(".cursor");
    if (line) line.remove();
  });
  box.addEventListener("dblclick", () => act(motion, "reset"));
  const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "reset", Escape: "reset" };
  box.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(motion, keys[event.key]);
  });
}

function brush(figure, from, to) {
  const svg = figure.querySelector("svg"), box = svg.getBoundingClientRect(), scale = figure.plot.width / box.width;
  const inside = (v) => Math.min(figure.plot.width - RIGHT, Math.max(LEFT, (v - box.left) * scale));
  let rect = svg.querySelector(".brush");
  if (!rect) rect = element("rect", { class: "brush", y: TOP, height: BOTTOM - TOP }, svg);
  rect.setAttribute("x", Math.min(inside(from), inside(to)));
  rect.setAttribute("width", Math.abs(inside(to) - inside(from)));
}

function curveSet(set) {
  const pick = (name) => set.querySelector(`[data-pick="${name}"]`);
  const figures = [...set.querySelectorAll(".plot")];
  const update = () => {
    const joint = pick("joint").value;
    set.querySelector(".grid").classList.toggle("one", joint !== "all");
    for (const figure of figures) {
      figure.hidden = figure.dataset.motion !== pick("motion").value || (joint !== "all" && figure.dataset.joint !== joint);
    }
    for (const figure of figures) if (!figure.hidden) draw(figure);
  };
  pick("motion").addEventListener("change", update);
  pick("joint").addEventListener("change", update);
  for (const button of set.querySelectorAll("[data-act]")) {
    button.addEventListener("click", () => act(Number(pick("motion").value), button.dataset.act));
  }
  for (const figure of figures) listen(figure, () => pick("pan").checked);
  update();
  return () => { for (const figure of figures) if (!figure.hidden) draw(figure); };
}

/* ---- correlation map ----------------------------------------------------------------------------- */

function heatMap(holder) {
  const { names, matrix } = DATA.correlation, n = names.length;
  if (!n) { holder.textContent = "No parameter was estimated."; return; }
  const cell = Math.max(10, Math.min(26, Math.floor(590 / n))), margin = 44, size = margin + n * cell, levels = 10;
  const svg = element("svg", { viewBox: `0 0 ${size} ${size}` }, holder);
  element("rect", { class: "frame", x: margin, y: margin, width: n * cell, height: n * cell }, svg);
  const paths = {}; // one path per sign and level: thousands of squares, a few nodes
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const level = Math.round(Math.abs(matrix[i][j]) * levels);
      if (!level) continue;
      const key = (matrix[i][j] > 0 ? "plus " : "minus ") + level;
      paths[key] = (paths[key] || "") + `M${margin + j * cell} ${margin + i * cell}h${cell}v${cell}h-${cell}z`;
    }
  }
  for (const key in paths) {
    const [name, level] = key.split(" ");
    element("path", { class: name, "fill-opacity": level / levels, d: paths[key] }, svg);
  }
  const every = Math.ceil(n / 60);
  names.forEach((name, i) => {
    if (i % every) return;
    const middle = margin + (i + 0.5) * cell;
    element("text", { x: margin - 3, y: middle + 3, "text-anchor": "end" }, svg).textContent = name;
    element("text", { x: 0, y: 0, transform: `translate(${middle + 3} ${margin - 3}) rotate(-90)` }, svg).textContent = name;
  });
  const cross = element("rect", { class: "cross", width: cell, height: cell, visibility: "hidden" }, svg);
  const readout = document.getElementById("heat-readout");
  let at = [0, 0];
  const point = (i, j) => {
    if (i < 0 || j < 0 || i >= n || j >= n) return;
    at = [i, j];
    cross.setAttribute("x", margin + j * cell);
    cross.setAttribute("y", margin + i * cell);
    cross.setAttribute("visibility", "visible");
    readout.textContent = `${names[i]} with ${names[j]}: r = ${digits(matrix[i][j])}`;
  };
  holder.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), scale = size / box.width;
    point(Math.floor(((event.clientY - box.top) * scale - margin) / cell), Math.floor(((event.clientX - box.left) * scale - margin) / cell));
  });
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  holder.addEventListener("keydown", (event) => {
    if (!(event.key in moves)) return;
    event.preventDefault();
    point(at[0] + moves[event.key][0], at[1] + moves[event.key][1]);
  });
}

/* ---- parameter table ----------------------------------------------------------------------------- */

function parameterTable(table) {
  const last = table.tHead.rows[0].cells.length - 1, bodies = [...table.tBodies];
  for (const body of bodies) {
    const button = body.querySelector(".name button");
    button.addEventListener("click", () => button.setAttribute("aria-expanded", body.classList.toggle("open")));
  }
  const find = document.getElementById("find"), kind = document.getElementById("show"), count = document.getElementById("count");
  const update = () => {
    const wanted = find.value.trim().toLowerCase();
    for (const body of bodies) {
      const status = entryValue(body, last);
      body.hidden = !entryValue(body, 0).toLowerCase().includes(wanted) || Boolean(kind.value && status !== kind.value);
    }
    count.textContent = `${bodies.filter((body) => !body.hidden).length} of ${bodies.length}`;
  };
  find.addEventListener("input", update);
  kind.addEventListener("change", update);
}

/* ---- start --------------------------------------------------------------------------------------- */

const redraws = [...document.querySelectorAll(".curves")].map(curveSet);
let waiting = 0;
window.addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => redraws.forEach((redraw) => redraw()), 150);
});
window.addEventListener("beforeprint", () => {
  for (const figure of document.querySelectorAll(".plot")) draw(figure); // also those not chosen: paper has no selector
});
heatMap(document.getElementById("heat"));
for (const table of document.querySelectorAll("table.parameters")) parameterTable(table);
document.documentElement.dataset.script = "done"; // the style folds the formulas from now on
