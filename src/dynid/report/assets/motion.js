/* A robot in motion: a figure that plays, turns and zooms, and the same moment in the charts. */

const STICK = DATA.stick;
const FIRST_VIEW = { azimuth: -0.9, elevation: 0.35, zoom: 1 };
const TURN = 0.008; // radians per pixel of dragging
const KEY_TURN = 0.12, KEY_ZOOM = 1.2; // per press
const AWAY = 5; // distance of the eye over the radius of the scene: a mild perspective
const view = { ...FIRST_VIEW };
const state = { time: STICK ? STICK.times[0] : 0, speed: 1, playing: false };

/* ---- the robot at a time ------------------------------------------------------------------------- */

function frameAt(t) { // the frames around t, and the share of the way between them
  const times = STICK.times;
  let low = 0, high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  const share = high > low ? (t - times[low]) / (times[high] - times[low]) : 0;
  return { low, high, share: Math.min(1, Math.max(0, share)) };
}

function mix(a, b, share) {
  return share === 0 ? a : share === 1 ? b : a + share * (b - a);
}

function mixed(rows, { low, high, share }) { // numbers of each link
  return rows[low].map((row, link) => row.map((v, i) => mix(v, rows[high][link][i], share)));
}

function poseAt(t) {
  const frame = frameAt(t);
  return { points: mixed(STICK.points, frame), rotations: mixed(STICK.rotations, frame) };
}

function inBase(pose, link, p) { // a point of a link's frame
  if (link < 0) return p;
  const o = pose.points[link], R = pose.rotations[link];
  return [0, 1, 2].map((i) => o[i] + R[3 * i] * p[0] + R[3 * i + 1] * p[1] + R[3 * i + 2] * p[2]);
}

function sceneOf() { // middle and radius of all that the robot reaches
  const low = [0, 0, 0], high = [0, 0, 0];
  const take = (p, r) => p.forEach((v, i) => {
    low[i] = Math.min(low[i], v - r);
    high[i] = Math.max(high[i], v + r);
  });
  STICK.points.forEach((points, k) => {
    const pose = { points, rotations: STICK.rotations[k] };
    for (const p of points) take(p, 0);
    for (const c of STICK.capsules) for (const p of [c.start, c.end]) take(inBase(pose, c.link, p), c.radius);
  });
  const size = Math.hypot(...high.map((v, i) => v - low[i]));
  return { middle: high.map((v, i) => (v + low[i]) / 2), radius: size / 2 || 1 };
}

/* ---- the picture --------------------------------------------------------------------------------- */

const canvas = document.getElementById("stick");
const scene = STICK ? sceneOf() : null;
let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "soft", "line", "card", "accent", "good", "fail", "predicted", "residual"]) {
    colours[name] = style.getPropertyValue("--" + name).trim();
  }
}

/* From the base frame to the screen: x to the right, y downwards, nearness to the eye, pixels per metre there. */
function projection() {
  const { azimuth, elevation, zoom } = view, width = canvas.clientWidth, height = canvas.clientHeight;
  const ca = Math.cos(azimuth), sa = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
  const eye = AWAY * scene.radius, fit = (0.48 * zoom * Math.min(width, height)) / scene.radius;
  return (p) => {
    const [x, y, z] = p.map((v, i) => v - scene.middle[i]);
    const out = ca * x + sa * y, near = ce * out + se * z;
    const scale = (fit * eye) / Math.max(0.1 * eye, eye - near);
    return { x: width / 2 + (ca * y - sa * x) * scale, y: height / 2 - (ce * z - se * out) * scale, near, scale };
  };
}

function shownPlaces() { // of the links, in pixels
  return poseAt(state.time).points.map(projection()).map((p) => [p.x, p.y]);
}

function stroke(pen, places, colour, width, alpha = 1) {
  pen.beginPath();
  places.forEach((p, i) => (i ? pen.lineTo(p.x, p.y) : pen.moveTo(p.x, p.y)));
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.globalAlpha = alpha;
  pen.stroke();
  pen.globalAlpha = 1;
}

function roundStep(span) { // 1, 2 or 5 times a power of ten, some ten of which fit
  const power = Math.pow(10, Math.floor(Math.log10(span / 10)));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= span / 10);
}

function drawFloor(pen, project) {
  if (STICK.floor === null) return;
  const reach = 1.3 * scene.radius, step = roundStep(2 * reach), count = Math.ceil(reach / step), [cx, cy] = scene.middle;
  const x0 = Math.round(cx / step) * step, y0 = Math.round(cy / step) * step, far = count * step;
  for (let k = -count; k <= count; k++) {
    for (const ends of [[[x0 - far, y0 + k * step], [x0 + far, y0 + k * step]], [[x0 + k * step, y0 - far], [x0 + k * step, y0 + far]]]) {
      stroke(pen, ends.map(([x, y]) => project([x, y, STICK.floor])), colours.soft, 1, 0.3);
    }
  }
}

function drawWall(pen, project, wall) {
  const size = Math.hypot(...wall.normal), n = wall.normal.map((v) => v / size);
  const away = n.reduce((sum, v, i) => sum + v * scene.middle[i], 0) - wall.offset / size;
  if (!(Math.abs(away) < 3 * scene.radius)) return; // out of sight
  const foot = scene.middle.map((v, i) => v - away * n[i]);
  const level = Math.abs(n[2]) > 0.9 ? [1, 0, 0] : [0, 0, 1];
  const across = [n[1] * level[2] - n[2] * level[1], n[2] * level[0] - n[0] * level[2], n[0] * level[1] - n[1] * level[0]];
  const u = across.map((v) => v / Math.hypot(...across));
  const w = [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]];
  const corner = (a, b) => project(foot.map((v, i) => v + scene.radius * (a * u[i] + b * w[i])));
  const corners = [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
  stroke(pen, [...corners, corners[0]], colours.residual, 1.5, 0.8);
  pen.globalAlpha = 0.07;
  pen.fillStyle = colours.residual;
  pen.fill();
  pen.globalAlpha = 1;
}

function drawAxes(pen, project, origin, ends, names) {
  const start = project(origin);
  ends.forEach((end, i) => {
    const tip = project(end), colour = [colours.fail, colours.good, colours.accent][i];
    stroke(pen, [start, tip], colour, 2);
    if (!names) return;
    pen.fillStyle = colour;
    pen.fillText(names[i], tip.x + 4, tip.y - 4);
  });
}

function parts(pose, project) { // bones, joints and capsules, the farthest first
  const found = [], base = project([0, 0, 0]), places = pose.points.map(project);
  const add = (near, draw) => found.push({ near, draw });
  places.forEach((place, link) => {
    const from = STICK.parents[link] < 0 ? base : places[STICK.parents[link]];
    add((place.near + from.near) / 2, (pen) => stroke(pen, [from, place], colours.predicted, 4));
    add(place.near + 1e-6 * scene.radius, (pen) => {
      pen.beginPath();
      pen.arc(place.x, place.y, 4.5, 0, 2 * Math.PI);
      pen.fillStyle = colours.card;
      pen.fill();
      pen.lineWidth = 2;
      pen.strokeStyle = colours.ink;
      pen.stroke();
    });
  });
  for (const capsule of STICK.capsules) {
    const [a, b] = [capsule.start, capsule.end].map((p) => project(inBase(pose, capsule.link, p)));
    const thick = capsule.radius * (a.scale + b.scale);
    add(Math.min(a.near, b.near), (pen) => stroke(pen, [a, { x: b.x + 0.01, y: b.y }], colours.soft, thick, 0.22));
  }
  return found.sort((a, b) => a.near - b.near);
}

function drawFigure() {
  const dots = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width || !height) return;
  if (canvas.width !== Math.round(width * dots)) canvas.width = Math.round(width * dots);
  if (canvas.height !== Math.round(height * dots)) canvas.height = Math.round(height * dots);
  const pen = canvas.getContext("2d"), project = projection(), pose = poseAt(state.time), last = pose.points.length - 1;
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.lineCap = pen.lineJoin = "round";
  pen.font = "13px system-ui, sans-serif";
  drawFloor(pen, project);
  for (const wall of STICK.walls) drawWall(pen, project, wall);
  const reach = 0.25 * scene.radius, small = 0.12 * scene.radius;
  drawAxes(pen, project, [0, 0, 0], [[reach, 0, 0], [0, reach, 0], [0, 0, reach]], ["x", "y", "z"]);
  stroke(pen, STICK.points.map((points) => project(points[last])), colours.residual, 1, 0.6);
  for (const part of parts(pose, project)) part.draw(pen);
  const tip = [[small, 0, 0], [0, small, 0], [0, 0, small]].map((p) => inBase(pose, last, p));
  drawAxes(pen, project, pose.points[last], tip);
}

/* ---- the moment ---------------------------------------------------------------------------------- */

const slider = document.getElementById("stick-time"), playButton = document.getElementById("stick-play");
const charts = [...document.querySelectorAll("#limits svg[data-low]")].map((svg) => {
  const frame = svg.querySelector(".frame"), number = (name) => Number(frame.getAttribute(name));
  const low = Number(svg.dataset.low), high = Number(svg.dataset.high), left = number("x"), wide = number("width");
  return { svg, low, high, left, wide, top: number("y"), bottom: number("y") + number("height") };
});

function say(node, value, decimals) {
  node.dataset.raw = value;
  node.textContent = value.toFixed(decimals).replace("-", "−");
}

function setTime(t) {
  const times = STICK.times, first = times[0], last = times[times.length - 1];
  state.time = t > last && last > first ? first + ((t - first) % (last - first)) : Math.min(last, Math.max(first, t));
  const frame = frameAt(state.time), tip = poseAt(state.time).points.at(-1);
  say(document.querySelector("[data-now=time]"), state.time, 2);
  ["x", "y", "z"].forEach((axis, i) => say(document.querySelector(`[data-now=${axis}]`), tip[i], 3));
  for (const node of document.querySelectorAll("[data-joint]")) {
    const q = DATA.positions[Number(node.dataset.joint)];
    if (q) say(node, mix(q[frame.low], q[frame.high], frame.share), 3);
  }
  slider.value = state.time;
  slider.setAttribute("aria-valuetext", `${state.time.toFixed(2)} s`);
  for (const chart of charts) {
    const place = chart.left + ((state.time - chart.low) / (chart.high - chart.low)) * chart.wide;
    chart.cursor.setAttribute("transform", `translate(${place.toFixed(1)} 0)`);
  }
  drawFigure();
}

let before = null;
function tick(now) {
  if (!state.playing) { before = null; return; }
  const passed = before === null ? 0 : Math.min(0.25, (now - before) / 1000); // a tab that slept does not leap
  before = now;
  setTime(state.time + passed * state.speed);
  requestAnimationFrame(tick);
}

function play(on) {
  if (on && !state.playing) requestAnimationFrame(tick);
  state.playing = on;
  playButton.textContent = on ? "Pause" : "Play";
}

/* ---- what a person does -------------------------------------------------------------------------- */

function turn(right, down) {
  view.azimuth -= right;
  view.elevation = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, view.elevation + down));
  drawFigure();
}

function zoom(factor) {
  view.zoom = Math.min(20, Math.max(0.2, view.zoom * factor));
  drawFigure();
}

function resetView() {
  Object.assign(view, FIRST_VIEW);
  drawFigure();
}

function listenToPointers() {
  const held = new Map(); // places of the fingers on the figure
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    held.set(event.pointerId, [event.clientX, event.clientY]);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const from = held.get(event.pointerId);
    if (!from) return;
    const to = [event.clientX, event.clientY];
    held.set(event.pointerId, to);
    if (held.size === 1) { turn(TURN * (to[0] - from[0]), TURN * (to[1] - from[1])); return; }
    const [, other] = [...held].find(([id]) => id !== event.pointerId);
    const apart = (p) => Math.max(1, Math.hypot(p[0] - other[0], p[1] - other[1]));
    zoom(apart(to) / apart(from));
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => held.delete(event.pointerId));
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return; // the page scrolls past a figure that is not in use
    event.preventDefault();
    zoom(Math.exp(-0.0015 * event.deltaY));
  }, { passive: false });
}

function listenToKeys() {
  const keys = {
    ArrowLeft: () => turn(-KEY_TURN, 0), ArrowRight: () => turn(KEY_TURN, 0),
    ArrowUp: () => turn(0, -KEY_TURN), ArrowDown: () => turn(0, KEY_TURN),
    "+": () => zoom(KEY_ZOOM), "=": () => zoom(KEY_ZOOM), "-": () => zoom(1 / KEY_ZOOM),
    0: resetView, " ": () => play(!state.playing),
  };
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
}

function listenToControls() {
  playButton.addEventListener("click", () => play(!state.playing));
  slider.addEventListener("input", () => { play(false); setTime(Number(slider.value)); });
  document.getElementById("stick-speed").addEventListener("change", (event) => { state.speed = Number(event.target.value); });
  const acts = { in: () => zoom(KEY_ZOOM), out: () => zoom(1 / KEY_ZOOM), reset: resetView };
  for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", acts[button.dataset.view]);
  for (const button of document.querySelectorAll("[data-at]")) {
    button.addEventListener("click", () => {
      play(false);
      setTime(Number(button.dataset.at));
      canvas.scrollIntoView({ block: "center" });
    });
  }
}

function listenToCharts() { // press or drag on a chart to choose the moment
  for (const chart of charts) {
    chart.cursor = element("line", { class: "cursor", x1: 0, x2: 0, y1: chart.top, y2: chart.bottom }, chart.svg);
    const seek = (event) => {
      if (!event.buttons) return;
      const box = chart.svg.getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * chart.svg.viewBox.baseVal.width;
      const t = chart.low + ((x - chart.left) / chart.wide) * (chart.high - chart.low);
      play(false);
      setTime(Math.min(STICK.times[STICK.times.length - 1], t));
    };
    chart.svg.addEventListener("pointerdown", seek);
    chart.svg.addEventListener("pointermove", seek);
  }
}

/* ---- start --------------------------------------------------------------------------------------- */

document.documentElement.dataset.script = "done"; // the style shows the figure from now on
if (STICK) {
  readColours();
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => { readColours(); drawFigure(); });
  }
  listenToPointers();
  listenToKeys();
  listenToControls();
  listenToCharts();
  new ResizeObserver(drawFigure).observe(canvas);
  setTime(STICK.times[0]);
  play(STICK.times.length > 1 && !matchMedia("(prefers-reduced-motion: reduce)").matches);
}
