/* The curve: the EP of every episode, the best so far, chance, and the episode that is shown. */
import { cached, circle, find, fit, font, grouped, lines, palette, ticks } from "./elements.js";
import { panels } from "./panels.js";
import { data, EPISODES, MOVES, phases, state, TASK } from "./trial.js";

export const curve = find("curve");
const kept = {}; // the picture of what does not change
const NARROW = 480; // pixels of a curve on which a long label would hide a third
const EDGE = { left: 48, right: 8, top: MOVES ? 19 : 8, bottom: 20 }; // pixels
const WITH_GOAL = new Map(phases.goals.map((goal, phase) => [goal, phase * phases.every])); // an episode with each goal

/** The EP to reach in an episode: the target of the task, or the shortest way to the goal. */
function wantedIn(number) {
  if (TASK) return TASK.target;
  const maze = panels[0].replay.mazeIn(number);
  return maze.distance[maze.start];
}

function curveScales() {
  const width = curve.parentElement.clientWidth, height = curve.clientHeight || 128;
  const right = width - EDGE.right, base = height - EDGE.bottom, inner = right - EDGE.left;
  let low = Infinity, high = TASK ? -Infinity : data.settings.steps;
  const include = (ep) => {
    if (ep < low) low = ep;
    if (ep > high) high = ep;
  };
  for (const number of WITH_GOAL.values()) if (wantedIn(number) !== null) include(wantedIn(number));
  for (const [, value] of data.chance.curve) include(value);
  for (const panel of panels) panel.learner.eps.forEach(include);
  const span = Math.max(high - low, 1), logSpan = Math.log(Math.max(EPISODES, 2));
  low = TASK ? low - 0.06 * span : Math.max(0, low - 0.06 * span);
  high += 0.04 * span;
  const share = (n) => (state.log ? Math.log(n + 1) / logSpan : EPISODES > 1 ? n / (EPISODES - 1) : 0);
  const back = (s) => (state.log ? Math.exp(s * logSpan) - 1 : s * (EPISODES - 1));
  return {
    width, height, right, base, low, high,
    x: (n) => EDGE.left + share(n) * inner,
    y: (ep) => EDGE.top + ((high - ep) / (high - low)) * (base - EDGE.top),
    episode: (x) => Math.min(Math.max(Math.round(back(Math.min(Math.max((x - EDGE.left) / inner, 0), 1))), 0), EPISODES - 1),
  };
}

/** The episode at a place on the curve. */
export const episodeAt = (event) => curveScales().episode(event.clientX - curve.getBoundingClientRect().left);

function episodeTicks(width) {
  if (!state.log) return [1, ...ticks(1, EPISODES, Math.max(3, Math.min(10, width / 110))).filter((mark) => mark > 0.03 * EPISODES)];
  const marks = [];
  for (let power = 1; power <= EPISODES; power *= 10) marks.push(...(width > 700 ? [1, 2, 5] : [1]).map((k) => k * power));
  return marks.filter((mark) => mark <= EPISODES);
}

/** Everything but the marks of the episode shown. */
function curvePicture(scales) {
  const canvas = document.createElement("canvas"), context = fit(canvas, scales.width, scales.height);
  drawAxes(context, scales);
  if (MOVES) drawMoves(context, scales);
  if (wantedIn(0) !== null) drawWanted(context, scales);
  for (const panel of panels) drawEps(context, scales, panel);
  context.globalAlpha = 1;
  drawChance(context, scales);
  for (const panel of panels) drawBest(context, scales, panel);
  context.translate(7, (EDGE.top + scales.base) / 2);
  context.rotate(-Math.PI / 2);
  Object.assign(context, { textAlign: "center", textBaseline: "middle", fillStyle: palette.soft });
  context.fillText("EP", 0, 0);
  return canvas;
}

function drawAxes(context, { width, height, right, base, low, high, x, y }) {
  Object.assign(context, { font: font(11), lineWidth: 1, textBaseline: "middle", textAlign: "right", strokeStyle: palette.line, fillStyle: palette.soft });
  for (const mark of ticks(low, high, height > 100 ? 4 : 2)) {
    const at = Math.round(y(mark)) + 0.5;
    lines(context, [EDGE.left, at, right, at]);
    context.fillText(String(mark).replace("-", "−"), EDGE.left - 6, at);
  }
  context.textBaseline = "top";
  for (const mark of episodeTicks(width)) {
    const at = x(mark - 1);
    lines(context, [at, base, at, base + 4]);
    context.textAlign = mark === 1 ? "left" : at > right - 20 ? "right" : "center";
    context.fillText(grouped(mark), Math.min(at, right), base + 6);
  }
}

/** A thin line where the goal moves, and above each phase its goal, as far as there is room for them. */
function drawMoves(context, { x, base }) {
  const [near, high] = [4, 13]; // pixels: between two lines; of a goal's name
  let last = -Infinity;
  Object.assign(context, { font: font(11, 700), textBaseline: "middle", textAlign: "center", strokeStyle: palette.soft });
  phases.goals.forEach((goal, phase) => {
    const first = phase * phases.every, from = x(first), next = x(Math.min(first + phases.every, EPISODES - 1));
    if (from - last < near) return;
    last = from;
    context.globalAlpha = 0.6;
    if (phase) lines(context, [Math.round(from) + 0.5, 2, Math.round(from) + 0.5, base]);
    context.globalAlpha = 1;
    const wide = context.measureText(goal).width + 7;
    if (wide + 3 > next - from) return;
    context.fillStyle = palette.goal;
    context.fillRect(from + 3, 2, wide, high);
    context.fillStyle = palette["on-goal"];
    context.fillText(goal, from + 3 + wide / 2, 2 + high / 2 + 0.5);
  });
  context.font = font(11);
}

function drawWanted(context, { x, y, right }) {
  context.setLineDash([5, 4]);
  context.strokeStyle = palette.goal;
  lines(context, ...phases.goals.map((_, phase) => {
    const first = phase * phases.every, next = first + phases.every, at = Math.round(y(wantedIn(first))) + 0.5;
    return [x(first), at, next < EPISODES ? x(next) : right, at];
  }));
  context.setLineDash([]);
}

function drawEps(context, { x, y }, panel) {
  const { eps } = panel.learner, many = EPISODES > 300, radius = many ? 1.2 : 1.8;
  context.fillStyle = context.strokeStyle = palette[panel.colour];
  context.globalAlpha = EPISODES > 3000 ? 0.12 : many ? 0.3 : 0.5;
  eps.forEach((ep, n) => context.fillRect(x(n) - radius, y(ep) - radius, 2 * radius, 2 * radius));
  context.globalAlpha = many ? 0.1 : 0.28;
  if (EPISODES <= 3000) lines(context, eps.flatMap((ep, n) => [x(n), y(ep)]));
}

/** What the best of as many random networks comes to on average; in each phase the line begins anew. */
function drawChance(context, { x, y }) {
  Object.assign(context, { strokeStyle: palette.chance, lineWidth: 2 });
  context.setLineDash([2, 3]);
  context.beginPath();
  let before = 0;
  for (const [n, value] of data.chance.curve) {
    if (phases.movesAt(n)) context.lineTo(x(n), y(before));
    context[phases.movesAt(n) ? "moveTo" : "lineTo"](x(n), y(value));
    before = value;
  }
  context.stroke();
  context.setLineDash([]);
}

function drawBest(context, { x, y }, panel) {
  Object.assign(context, { strokeStyle: palette[panel.colour], lineWidth: 2.2 });
  context.beginPath();
  context.moveTo(x(0), y(panel.best[0]));
  for (let n = 1; n < EPISODES; n++) {
    if (panel.best[n] === panel.best[n - 1] && n < EPISODES - 1 && !phases.movesAt(n)) continue;
    context.lineTo(x(n), y(panel.best[n - 1]));
    context[phases.movesAt(n) ? "moveTo" : "lineTo"](x(n), y(panel.best[n]));
  }
  context.stroke();
}

/** Draw the curve and the marks of the episode shown. */
export function renderCurve() {
  const scales = curveScales(), { width, height, base, x, y } = scales, at = x(state.episode);
  const still = cached(kept, "picture", `${width} ${height} ${palette.page} ${state.log} ${window.devicePixelRatio}`, () => curvePicture(scales));
  const context = fit(curve, width, height, true);
  context.drawImage(still, 0, 0, width, height);
  Object.assign(context, { strokeStyle: palette.ink, lineWidth: 1.5 });
  lines(context, [at, EDGE.top - 4, at, base + 3]);
  for (const panel of panels) {
    circle(context, at, y(panel.best[state.episode]), 6.5); // a ring for the best so far
    Object.assign(context, { fillStyle: palette.card, strokeStyle: palette[panel.colour], lineWidth: 2 });
    context.fill();
    context.stroke();
  }
  for (const panel of panels) {
    circle(context, at, y(panel.learner.eps[state.episode]), 4.5); // a disc for the EP
    Object.assign(context, { fillStyle: palette[panel.colour], strokeStyle: palette.card, lineWidth: 1.5 });
    context.fill();
    context.stroke();
  }
  drawFigures(context, scales, at);
  const towards = MOVES ? `, phase ${phases.of(state.episode) + 1}, goal ${phases.goal(state.episode)}` : "";
  const spoken = panels.map((panel) => `${panels.length > 1 ? `${panel.learner.name} ` : ""}${figures(panel)}`);
  curve.setAttribute("aria-valuemax", String(EPISODES));
  curve.setAttribute("aria-valuenow", String(state.episode + 1));
  curve.setAttribute("aria-valuetext", `episode ${state.episode + 1}${towards}, ${spoken.join(", ")}`);
}

const ep = (panel) => `EP ${grouped(panel.learner.eps[state.episode])}`;
const figures = (panel) => `${ep(panel)}, best ${grouped(panel.best[state.episode])}`;

/** The EP of the episode shown and the best so far, in numbers beside its marker, one line for each learner; on a phone the EP alone. */
function drawFigures(context, { right, base, y }, at) {
  Object.assign(context, { font: font(11, 600), textBaseline: "middle", textAlign: "left" });
  const told = panels.map(right < NARROW ? ep : figures), swatch = panels.length > 1 ? 11 : 0, high = 14, tall = high * told.length;
  const wide = Math.max(...told.map((line) => context.measureText(line).width)) + swatch + 8;
  const beside = at + 10 + wide > right ? at - 10 - wide : at + 10;
  // Between the marks, where few dots lie, and within the axes.
  const marks = panels.flatMap((panel) => [panel.learner.eps[state.episode], panel.best[state.episode]]).map(y);
  const middle = (Math.min(...marks) + Math.max(...marks)) / 2;
  const top = Math.min(Math.max(middle - tall / 2, EDGE.top), base - tall);
  Object.assign(context, { globalAlpha: 0.85, fillStyle: palette.card });
  context.fillRect(beside, top - 1, wide, tall + 2);
  context.globalAlpha = 1;
  told.forEach((line, k) => {
    const centre = top + (k + 0.5) * high;
    context.fillStyle = palette[panels[k].colour];
    if (swatch) context.fillRect(beside + 4, centre - 4, 8, 8);
    context.fillStyle = palette.ink;
    context.fillText(line, beside + 4 + swatch, centre + 0.5);
  });
}
