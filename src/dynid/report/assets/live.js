/* A run that is followed: records come from the server, or stand in the page; plots move, tables follow. */

const { header: HEADER, size: SIZE, stream: STREAM } = DATA;
const FRAME_MS = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 100; // between two drawings
const TABLE_MS = 500; // between two updates of the numbers: people cannot read them faster
const SILENT_MS = 3000; // without a record, before the page says so
const RETRY_MS = 3000; // until a stream that the server has refused is asked for again
const BEST_MS = 5000; // between two choices of what has moved most, so that plots do not jump
const LEFT = 58, RIGHT = 10, TOP = 16, BOTTOM = 30;

/* ---- what is kept: as much as the server keeps, however long the run is -------------------------- */

let run; // buffers of one run
let view; // what is drawn: the run, or what it was when it was paused
let connection = STREAM ? "connecting" : "ended", paused = false, heard = 0, unseen = 0;

function emptyRun() {
  return { first: null, last: null, end: null, recent: [], older: [], group: [], stride: 1, events: [], eventCount: 0 };
}

function numbers(values) { // null, as JSON has what is not a number, becomes NaN
  return Float64Array.from(values || [], (v) => (v === null ? NaN : v));
}

function pointOf(record) {
  return { t: record.t, values: numbers(record.values), sigma: numbers(record.sigma), innovation: record.innovation === null ? NaN : record.innovation };
}

function fullPoint(record) {
  return { ...pointOf(record), measured: numbers(record.measured), predicted: numbers(record.predicted), counts: record.counts || {}, used: record.used, inertia: record.inertia };
}

function merged(points) { // the last, with the largest innovation of all
  const { t, values, sigma } = points[points.length - 1];
  const innovation = points.reduce((peak, p) => (p.innovation > peak || Number.isNaN(peak) ? p.innovation : peak), NaN);
  return { t, values, sigma, innovation };
}

function retire(point) {
  run.group.push(point);
  if (run.group.length < run.stride) return;
  run.older.push(merged(run.group));
  run.group = [];
  if (run.older.length < SIZE.older) return;
  const pairs = [];
  for (let k = 0; k < run.older.length; k += 2) pairs.push(merged(run.older.slice(k, k + 2)));
  run.older = pairs;
  run.stride *= 2;
}

const take = {
  header(record) {
    if (["robot", "joints", "parameters"].some((key) => JSON.stringify(record[key]) !== JSON.stringify(HEADER[key]))) location.reload();
    run = emptyRun();
    showEvents();
  },
  history(record) {
    Object.assign(run, {
      first: record.first && pointOf(record.first), older: record.older.map(pointOf), stride: record.stride,
      recent: record.recent.map(fullPoint), events: record.events, eventCount: record.event_count, end: record.end,
    });
    run.last = run.recent[run.recent.length - 1] || null;
    showEvents();
  },
  record(record) {
    const point = fullPoint(record);
    if (run.last && point.t < run.last.t) return; // the server keeps time; a second look at one record draws nothing new
    run.first = run.first || point;
    run.last = point;
    run.recent.push(point);
    if (run.recent.length > SIZE.recent) retire(run.recent.shift());
    if (paused) unseen += 1;
  },
  event(record) {
    run.eventCount = record.number;
    run.events.push(record);
    if (run.events.length > SIZE.events) run.events.shift();
    addEvent(record);
  },
  end(record) {
    run.end = record;
  },
};

function receive(record) {
  if (!(record.kind in take)) return;
  take[record.kind](record);
  heard = performance.now();
  wanted = true;
}

/* ---- connection ---------------------------------------------------------------------------------- */

function connect() {
  const source = new EventSource(STREAM);
  source.addEventListener("open", () => { connection = "live"; heard = performance.now(); });
  source.addEventListener("message", (message) => {
    connection = "live";
    receive(JSON.parse(message.data));
    if (run.end) { connection = "ended"; source.close(); }
  });
  source.addEventListener("error", () => {
    if (connection === "ended") return;
    connection = "lost";
    if (source.readyState !== EventSource.CLOSED) return; // it tries again by itself
    source.close();
    setTimeout(connect, RETRY_MS);
  });
}

function connectionWords() {
  const silence = performance.now() - heard;
  if (run.end) return ["note", "ended", run.end.outcome || "The run has ended."];
  if (!STREAM) return ["note", "no end", "These records stop without an end: the run was cut off."];
  if (connection === "lost") return ["care", "lost, retrying", "The server does not answer; what was received stays here."];
  if (connection === "connecting" || !run.last) return ["note", "waiting", "No record has come yet."];
  if (silence > SILENT_MS) return ["care", "silent", `No record for ${Math.floor(silence / 1000)} s; the connection stands.`];
  const events = run.eventCount === 1 ? "one event" : `${run.eventCount} events`;
  return ["good", "live", `Parameters follow the robot; ${run.eventCount ? events : "no event"} so far.`];
}

function setText(node, text) { // unchanged text is left alone: nothing to lay out, nothing to announce
  if (node.textContent !== text) node.textContent = text;
}

function showState() {
  const [level, word, sentence] = connectionWords(), badge = document.getElementById("connection");
  badge.className = "badge " + level;
  setText(badge, word);
  setText(document.getElementById("sentence"), sentence);
  setText(document.getElementById("waiting"), paused ? `Paused; ${unseen} records since.` : "");
}

/* ---- plots --------------------------------------------------------------------------------------- */

function niceStep(span, count) {
  const power = Math.pow(10, Math.floor(Math.log10(span / count)));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= span / count * 0.999999);
}

function multiples(low, high, step) {
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

function linearAxis(low, high, count) { // ends on round values, so that the axis of a moving plot stands still
  if (!(high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high)))) {
    const air = Math.abs(low) * 0.01 || 1;
    low -= air; high += air;
  }
  const step = niceStep(high - low, count), from = Math.floor(low / step - 0.1) * step, to = Math.ceil(high / step + 0.1) * step;
  return { from, to, marks: multiples(from, to, step), place: (v) => v };
}

function decadeAxis(low, high) {
  const from = Math.floor(Math.log10(Math.max(low, 1e-6))), to = Math.ceil(Math.log10(Math.min(high, 1e12)));
  const marks = [], every = Math.ceil((to - from) / 6);
  for (let k = from; k <= to; k += every) marks.push(Math.pow(10, k));
  return { from, to, marks, place: (v) => Math.log10(Math.max(v, 1e-9)) };
}

let plotCount = 0;
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) entry.target.inSight = entry.isIntersecting;
  wanted = true;
});

/* One picture; its nodes stay and only their attributes change. Lines and events are places in time. */
class Plot {
  constructor(box, height, classes, { band = false, dashed = NaN } = {}) {
    Object.assign(this, { box, height, dashed, marks: "", shown: null, cursor: null, readout: box.closest("figure").querySelector(".readout") });
    const clip = `clip-${plotCount++}`;
    this.svg = element("svg", { height, "aria-hidden": "true" }, box);
    this.clip = element("rect", { x: LEFT, y: TOP }, element("clipPath", { id: clip }, element("defs", {}, this.svg)));
    this.frame = element("rect", { class: "frame", x: LEFT, y: TOP }, this.svg);
    this.grid = element("g", {}, this.svg);
    const drawn = element("g", { "clip-path": `url(#${clip})` }, this.svg);
    this.band = band ? element("path", { class: classes[0], "fill-opacity": 0.2, "stroke-opacity": 0 }, drawn) : null;
    this.level = element("path", { class: "measured line", "stroke-dasharray": "5 4" }, drawn);
    this.lines = classes.map((name) => element("path", { class: name + " line", "stroke-linejoin": "round" }, drawn));
    this.events = element("g", {}, this.svg);
    this.hair = element("line", { class: "cursor", visibility: "hidden" }, drawn);
    box.addEventListener("pointermove", (event) => this.point(event.clientX - box.getBoundingClientRect().left));
    box.addEventListener("pointerleave", () => { if (document.activeElement !== box) this.point(null); });
    box.addEventListener("blur", () => this.point(null));
    box.addEventListener("keydown", (event) => this.key(event));
    seen.observe(box);
  }

  /* lines: arrays of values beside `times`; band: [low, high]; both ends of the time span in seconds of the source. */
  draw({ times, lines, band, span, axis, words }) {
    const width = Math.max(260, Math.round(this.box.clientWidth)), right = width - RIGHT, bottom = this.height - BOTTOM;
    const x = (t) => LEFT + ((t - span[0]) / (span[1] - span[0] || 1)) * (right - LEFT);
    const y = (v) => bottom - ((axis.place(v) - axis.from) / (axis.to - axis.from)) * (bottom - TOP);
    this.shown = { times, lines, band, span, words, x, right, bottom };
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.svg.setAttribute("width", width);
    for (const rect of [this.clip, this.frame]) {
      rect.setAttribute("width", right - LEFT);
      rect.setAttribute("height", bottom - TOP);
    }
    this.drawGrid(axis, span, x, y, right, bottom);
    const kept = spread(times, x);
    lines.forEach((values, k) => this.lines[k].setAttribute("d", linePath(kept, times, values, x, y)));
    if (this.band) this.band.setAttribute("d", bandPath(kept, times, band, x, y));
    if (Number.isFinite(this.dashed)) this.level.setAttribute("d", `M${LEFT} ${y(this.dashed).toFixed(1)}H${right}`);
    this.drawEvents(span, x, bottom);
    if (this.cursor !== null) this.point(this.cursor);
  }

  drawGrid(axis, span, x, y, right, bottom) {
    const start = view.first.t, steps = niceStep(span[1] - span[0] || 1, Math.max(2, Math.floor((right - LEFT) / 90)));
    const moments = multiples(span[0] - start, span[1] - start, steps), key = [right, bottom, axis.from, axis.to, ...axis.marks].join();
    if (key !== this.marks) {
      this.marks = key;
      this.grid.replaceChildren();
      for (const v of axis.marks) {
        element("line", { class: v === 0 ? "zero" : "tick", x1: LEFT, x2: right, y1: y(v), y2: y(v) }, this.grid);
        element("text", { x: LEFT - 5, y: y(v) + 4, "text-anchor": "end" }, this.grid).textContent = digits(v);
      }
      this.moments = element("g", {}, this.grid);
      element("text", { x: right, y: bottom + 27, "text-anchor": "end" }, this.grid).textContent = "time [s]";
    }
    while (this.moments.childElementCount < moments.length) element("text", { y: bottom + 14, "text-anchor": "middle" }, this.moments);
    while (this.moments.childElementCount > moments.length) this.moments.lastChild.remove();
    moments.forEach((t, k) => {
      const label = this.moments.children[k];
      label.setAttribute("x", Math.min(right - 8, x(t + start)).toFixed(1));
      setText(label, digits(t));
    });
  }

  drawEvents(span, x, bottom) {
    const inside = view.events.filter((event) => event.t >= span[0] && event.t <= span[1]);
    while (this.events.childElementCount < inside.length) {
      const mark = element("g", {}, this.events);
      element("path", {}, mark);
      element("text", { y: TOP - 3, "text-anchor": "middle" }, mark);
    }
    while (this.events.childElementCount > inside.length) this.events.lastChild.remove();
    let last = -Infinity;
    inside.forEach((event, k) => {
      const mark = this.events.children[k], at = x(event.t), level = LINES[event.level] || LINES.note;
      mark.setAttribute("transform", `translate(${at.toFixed(1)} 0)`);
      mark.firstChild.setAttribute("class", level.name + " line");
      mark.firstChild.setAttribute("stroke-dasharray", level.dashes);
      mark.firstChild.setAttribute("d", `M0 ${TOP}V${bottom}`);
      setText(mark.lastChild, at - last > 16 ? String(event.number) : ""); // numbers do not cover each other
      if (at - last > 16) last = at;
    });
  }

  point(place) { // the nearest moment to a place in pixels, in words below
    this.cursor = place;
    const shown = this.shown;
    this.hair.setAttribute("visibility", place === null || !shown || !shown.times.length ? "hidden" : "visible");
    if (this.hair.getAttribute("visibility") === "hidden") { setText(this.readout, "\u00a0"); return; }
    const t = shown.span[0] + ((place - LEFT) / (shown.right - LEFT)) * (shown.span[1] - shown.span[0]);
    const i = nearest(shown.times, t), at = shown.x(shown.times[i]);
    for (const [name, value] of Object.entries({ x1: at, x2: at, y1: TOP, y2: shown.bottom })) this.hair.setAttribute(name, value);
    setText(this.readout, `${digits(shown.times[i] - view.first.t)} s: ${shown.words(i)}`);
  }

  key(event) {
    const steps = { ArrowLeft: -8, ArrowRight: 8, Home: -1e6, End: 1e6 };
    if (event.key === "Escape") this.point(null);
    if (!(event.key in steps) || !this.shown) return;
    event.preventDefault();
    const from = this.cursor === null ? this.shown.right : this.cursor;
    this.point(Math.min(this.shown.right, Math.max(LEFT, from + steps[event.key])));
  }
}

const LINES = { note: { name: "measured", dashes: "2 3" }, care: { name: "friction", dashes: "6 3" }, fail: { name: "residual", dashes: "none" } };

function nearest(times, t) {
  let low = 0, high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] < t) low = middle; else high = middle;
  }
  return t - times[low] < times[high] - t ? low : high;
}

function spread(times, x) { // indices of points that are half a pixel apart at least: a path needs no more
  const kept = [];
  let last = -Infinity;
  times.forEach((t, i) => {
    const at = x(t);
    if (at - last >= 0.5 || i === times.length - 1) { kept.push(i); last = at; }
  });
  return kept;
}

function linePath(kept, times, values, x, y) { // broken where there is no number
  let path = "", pen = "M";
  for (const i of kept) {
    if (!Number.isFinite(values[i])) { pen = "M"; continue; }
    path += pen + x(times[i]).toFixed(1) + " " + y(values[i]).toFixed(1);
    pen = "L";
  }
  return path;
}

function bandPath(kept, times, [low, high], x, y) {
  const known = kept.filter((i) => Number.isFinite(low[i]) && Number.isFinite(high[i]));
  if (known.length < 2) return "";
  const far = (v) => Math.min(1e5, Math.max(-1e5, y(v))).toFixed(1);
  const up = known.map((i) => x(times[i]).toFixed(1) + " " + far(high[i])), down = known.map((i) => x(times[i]).toFixed(1) + " " + far(low[i])).reverse();
  return "M" + up.concat(down).join("L") + "Z";
}

/* ---- what is drawn ------------------------------------------------------------------------------- */

function courseSpan() {
  const seconds = Number(document.getElementById("span").value), [from, to] = [view.first.t, view.last.t];
  return [seconds ? Math.max(from, to - seconds) : from, Math.max(to, from + 1)];
}

function coursePoints(span) {
  const all = [...(view.older.length ? [view.first] : []), ...view.older, ...(view.group.length ? [merged(view.group)] : []), ...view.recent];
  return all.filter((p, i) => p.t >= span[0] && (i === 0 || p.t > all[i - 1].t));
}

function extent(rows, share = 0) { // least and largest, or what leaves a share of the values out on either side
  const all = rows.flatMap((row) => row.filter(Number.isFinite)).sort((a, b) => a - b);
  const cut = Math.floor(share * all.length);
  return all.length ? [all[cut], all[all.length - 1 - cut]] : [-1, 1];
}

const torquePlot = document.querySelector("[data-plot=torque]");
const [torqueBox, errorBox] = torquePlot.querySelectorAll(".canvas");
const plots = {
  torque: new Plot(torqueBox, 230, ["measured", "predicted"]),
  error: new Plot(errorBox, 120, ["residual"]),
  innovation: new Plot(document.querySelector("[data-plot=innovation] .canvas"), 190, ["predicted"], { dashed: 1 }),
  parameters: [...document.querySelectorAll("[data-plot=parameter]")].map((figure) => new Plot(figure.querySelector(".canvas"), 200, ["predicted"], { band: true })),
};

function recentPoints() {
  return view.recent.filter((p) => p.t >= view.last.t - SIZE.window_s);
}

function drawTorque() {
  const j = Number(document.getElementById("joint").value), points = recentPoints(), times = points.map((p) => p.t);
  const span = [Math.max(view.last.t - SIZE.window_s, view.first.t), Math.max(view.last.t, view.first.t + 1)];
  const measured = points.map((p) => p.measured[j]), predicted = points.map((p) => p.predicted[j]);
  const error = measured.map((m, i) => m - predicted[i]);
  const words = (i) => `measured ${digits(measured[i])}, predicted ${digits(predicted[i])}, left over ${digits(error[i])}`;
  setText(document.getElementById("torque-name"), HEADER.joints[j]);
  plots.torque.draw({ times, lines: [measured, predicted], span, axis: linearAxis(...extent([measured, predicted]), 5), words });
  const largest = Math.max(...extent([error]).map(Math.abs));
  plots.error.draw({ times, lines: [error], span, axis: linearAxis(-largest, largest, 2), words });
}

function drawInnovation() {
  const span = courseSpan(), points = coursePoints(span), values = points.map((p) => p.innovation);
  const [low, high] = extent([values]);
  plots.innovation.draw({
    times: points.map((p) => p.t), lines: [values], span, axis: decadeAxis(Math.min(low, 0.1), Math.max(high, 10)), words: (i) => `χ² ${digits(values[i])}`,
  });
}

function scaled(value, start, scale) {
  return scale === "value" ? value : scale === "change" ? value - start : (100 * (value - start)) / Math.abs(start);
}

function drawParameter(plot, k) {
  const figure = plot.box.closest("figure"), { name, unit } = HEADER.parameters[k], scale = document.getElementById("scale").value;
  const span = courseSpan(), points = coursePoints(span), start = view.first.values[k];
  const values = points.map((p) => scaled(p.values[k], start, scale));
  const half = points.map((p) => (2 * p.sigma[k] * (scale === "percent" ? 100 / Math.abs(start) : 1)));
  const band = [values.map((v, i) => v - half[i]), values.map((v, i) => v + half[i])];
  const last = values.length - 1, ends = [band[0][last], band[1][last], values[last]];
  // The first moments of a run that knew nothing go far: they may leave the picture, the state of now may not.
  const [low, high] = extent([values], values.length > 50 ? 0.02 : 0), [least, most] = extent([[low, high, ...ends]]);
  setText(figure.querySelector("b"), name);
  const units = scale === "percent" ? "% of the start" : `${unit || ""}${scale === "change" ? " from the start" : ""}`;
  setText(figure.querySelector("figcaption span"), units.replace("^2", "²").replace("^3", "³"));
  plot.box.setAttribute("aria-label", `${name} over time with ±2σ. Keys ← → read values.`);
  plot.draw({ times: points.map((p) => p.t), lines: [values], band, span, axis: linearAxis(least, most, 4), words: (i) => `${digits(values[i])} ± ${digits(half[i])}` });
}

function draw(all = false) {
  const due = (plot) => all || plot.box.inSight || !plot.shown; // once each, then only what is seen
  if (due(plots.torque) || due(plots.error)) drawTorque();
  if (due(plots.innovation)) drawInnovation();
  const chosen = chosenParameters();
  plots.parameters.forEach((plot, k) => {
    const figure = plot.box.closest("figure"), other = plot.parameter !== chosen[k];
    figure.hidden = k >= chosen.length;
    plot.parameter = chosen[k];
    if (!figure.hidden && (other || due(plot))) drawParameter(plot, chosen[k]);
  });
}

/* ---- numbers ------------------------------------------------------------------------------------- */

function put(figure, value, text) {
  const box = document.querySelector(`[data-figure=${figure}]`);
  box.dataset.value = value;
  setText(box.querySelector("b"), text);
}

function rms(values) {
  const known = values.filter(Number.isFinite);
  return known.length ? Math.sqrt(known.reduce((sum, v) => sum + v * v, 0) / known.length) : NaN;
}

function percent(value) {
  return Number.isFinite(value) ? value.toFixed(value < 9.95 ? 2 : 1) + " %" : "–";
}

function showFigures() {
  const last = view.last, points = recentPoints(), seconds = last.t - view.first.t;
  put("time", seconds, `${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)} s`);
  put("innovation", last.innovation, digits(Number(last.innovation.toPrecision(3))));
  put("inertia", last.inertia, last.inertia === null ? "–" : digits(Number(last.inertia.toPrecision(3))));
  const errors = [], all = [];
  for (const body of document.querySelectorAll("tbody[data-joint]")) {
    const j = Number(body.dataset.joint), cells = body.rows[0].cells;
    const error = rms(points.map((p) => p.measured[j] - p.predicted[j])), whole = rms(points.map((p) => p.measured[j]));
    errors.push(error); all.push(whole);
    setText(cells[1], digits(Number(error.toPrecision(3))));
    setText(cells[2], percent((100 * error) / whole));
    cells[3].querySelector("rect").setAttribute("width", Math.min(100, (100 / 0.3) * (error / whole) || 0).toFixed(1) + "%");
  }
  const relative = (100 * rms(errors)) / rms(all);
  put("error", relative, percent(relative));
  const counts = { used: last.used, ...(view.end && view.end.counts) || last.counts };
  const list = document.getElementById("counts"), words = Object.entries(counts).filter(([, n]) => n !== undefined && n !== null);
  while (list.childElementCount < words.length) list.append(document.createElement("li"));
  while (list.childElementCount > words.length) list.lastChild.remove();
  words.forEach(([name, n], k) => setText(list.children[k], `${name === "used" ? "rows used" : name.replaceAll("_", " ")} ${Number(n).toLocaleString("en").replaceAll(",", "\u202f")}`));
}

const bodies = [...document.querySelectorAll("tbody[data-parameter]")].sort((a, b) => a.dataset.parameter - b.dataset.parameter);

function movement(k) { // change since the start over σ of now
  return (view.last.values[k] - view.first.values[k]) / view.last.sigma[k];
}

function showParameters() {
  bodies.forEach((body, k) => {
    if (body.hidden) return;
    const value = view.last.values[k], start = view.first.values[k];
    [value, 2 * view.last.sigma[k], start, value - start, movement(k)].forEach((v, c) => {
      const cell = body.rows[0].cells[c + 1], short = c === 1 || c === 4 ? Number(v.toPrecision(2)) : v;
      cell.dataset.value = Number.isFinite(v) ? v : "";
      setText(cell.firstElementChild, digits(short));
    });
  });
}

let best = [], bestSince = -Infinity, mine = [];

function chosenParameters() {
  if (document.getElementById("chosen").value === "mine") return mine;
  if (performance.now() - bestSince > BEST_MS) {
    bestSince = performance.now();
    const score = (k) => Math.abs(movement(k)) || 0;
    best = bodies.map((_, k) => k).sort((a, b) => score(b) - score(a)).slice(0, Math.min(4, plots.parameters.length)).sort((a, b) => a - b);
    bodies.forEach((body, k) => { body.querySelector("input").checked = best.includes(k); });
  }
  return best;
}

/* ---- events -------------------------------------------------------------------------------------- */

function addEvent(event) {
  const list = document.getElementById("event-list"), item = document.createElement("li"), badge = document.createElement("span"), text = document.createElement("span");
  const level = event.level in LINES ? event.level : "note";
  item.className = level;
  badge.className = "badge " + level;
  badge.textContent = level === "fail" ? "fails" : level;
  const name = document.createElement("b");
  name.textContent = `${event.number} · ${digits(event.t - (run.first ? run.first.t : event.t))} s · ${event.name} `;
  text.append(name, event.text || "");
  item.append(badge, text);
  list.prepend(item);
  while (list.childElementCount > SIZE.events) list.lastChild.remove();
  const gone = run.eventCount - list.childElementCount, more = document.getElementById("more-events");
  document.getElementById("no-events").hidden = true;
  more.hidden = gone <= 0;
  setText(more, `${gone} earlier events are no longer listed.`);
}

function showEvents() {
  document.getElementById("event-list").replaceChildren();
  document.getElementById("no-events").hidden = run.events.length > 0;
  for (const event of run.events) addEvent(event);
}

/* ---- controls and clock -------------------------------------------------------------------------- */

let wanted = true, drawn = -Infinity, listed = -Infinity;

function redraw() { wanted = true; listed = -Infinity; }

for (const id of ["joint", "span", "scale", "chosen"]) document.getElementById(id).addEventListener("change", redraw);
document.getElementById("chosen").addEventListener("change", () => { bestSince = -Infinity; if (!mine.length) mine = [...best]; });
document.getElementById("find").addEventListener("input", (event) => {
  const looked = event.target.value.trim().toLowerCase();
  for (const body of bodies) body.hidden = !entryValue(body, 0).toLowerCase().includes(looked);
  setText(document.getElementById("count"), `${bodies.filter((body) => !body.hidden).length} of ${bodies.length}`);
  redraw();
});
bodies.forEach((body, k) => body.querySelector("input").addEventListener("change", (event) => {
  const chosen = document.getElementById("chosen");
  if (chosen.value !== "mine") { mine = [...best]; chosen.value = "mine"; }
  mine = mine.filter((other) => other !== k);
  if (event.target.checked) mine.push(k);
  while (mine.length > plots.parameters.length) bodies[mine.shift()].querySelector("input").checked = false;
  redraw();
}));
const pause = document.getElementById("pause");
if (pause) {
  pause.addEventListener("click", () => {
    paused = !paused;
    unseen = 0;
    view = paused ? { ...run, recent: [...run.recent], older: [...run.older], group: [...run.group], events: [...run.events] } : run;
    pause.setAttribute("aria-pressed", paused);
    setText(pause, paused ? "Go on" : "Pause");
    showState();
    redraw();
  });
}
new ResizeObserver(redraw).observe(document.getElementById("content"));
window.addEventListener("beforeprint", () => { if (view.last) draw(true); });

function tick(now) {
  requestAnimationFrame(tick); // a hidden tab gets no frames: it receives and draws nothing
  if (!paused) view = run;
  if (now - listed >= TABLE_MS) {
    showState();
    if (view.last) { showFigures(); showParameters(); }
    listed = now;
  }
  if (!wanted || now - drawn < FRAME_MS || !view.last) return;
  wanted = false;
  drawn = now;
  draw();
}

run = view = emptyRun();
if (DATA.history) receive(DATA.history);
view = run;
if (STREAM) connect();
requestAnimationFrame(tick);
document.documentElement.dataset.script = "done";
