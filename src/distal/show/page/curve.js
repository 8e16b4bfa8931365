/* The curve: the EP of every episode, the best so far, chance, and the episode that is shown. */
import { fit, font, palette, ticks } from "./canvas.js";
import { find, grouped } from "./elements.js";
import { panels } from "./panels.js";
import { state } from "./state.js";
import { data, EPISODES, MOVES, phases, TASK } from "./trial.js";

export const curve = { canvas: find("curve"), left: 48, right: 8, top: MOVES ? 19 : 8, bottom: 20, picture: null };
const WITH_GOAL = new Map(phases.goals.map((goal, phase) => [goal, phase * phases.every])); // an episode with each goal

/** The EP to reach in an episode: the target of the task, or the shortest way to the goal. */
function wantedIn(number) {
  if (TASK) return TASK.target;
  const maze = panels[0].replay.mazeIn(number);
  return maze.distance[maze.start];
}

function curveScales() {
  const width = curve.canvas.parentElement.clientWidth, height = curve.canvas.clientHeight || 128;
  const inner = width - curve.left - curve.right, tall = height - curve.top - curve.bottom;
  let low = Infinity, high = TASK ? -Infinity : data.settings.steps;
  const include = (ep) => {
    if (ep < low) low = ep;
    if (ep > high) high = ep;
  };
  for (const number of WITH_GOAL.values()) if (wantedIn(number) !== null) include(wantedIn(number));
  for (const [, value] of data.chance.curve) include(value);
  for (const panel of panels) panel.learner.eps.forEach(include);
  const span = Math.max(high - low, 1);
  low = TASK ? low - 0.06 * span : Math.max(0, low - 0.06 * span);
  high += 0.04 * span;
  const logSpan = Math.log(Math.max(EPISODES, 2));
  const share = (n) => (state.log ? Math.log(n + 1) / logSpan : EPISODES > 1 ? n / (EPISODES - 1) : 0);
  const back = (s) => (state.log ? Math.exp(s * logSpan) - 1 : s * (EPISODES - 1));
  return {
    width, height, low, high,
    x: (n) => curve.left + share(n) * inner,
    y: (ep) => curve.top + ((high - ep) / (high - low)) * tall,
    episode: (x) => Math.min(Math.max(Math.round(back(Math.min(Math.max((x - curve.left) / inner, 0), 1))), 0), EPISODES - 1),
  };
}

function episodeTicks(width) {
  if (state.log) {
    const marks = [];
    for (let power = 1; power <= EPISODES; power *= 10) for (const k of width > 700 ? [1, 2, 5] : [1]) if (k * power <= EPISODES) marks.push(k * power);
    return marks;
  }
  return [1, ...ticks(1, EPISODES, Math.max(3, Math.min(10, width / 110))).filter((mark) => mark > 0.03 * EPISODES)];
}

/** Everything but the marker of the episode: drawn once for a size, a theme and an axis. */
function curvePicture(scales) {
  const key = `${scales.width} ${scales.height} ${palette.page} ${state.log} ${window.devicePixelRatio}`;
  if (curve.picture && curve.picture.key === key) return curve.picture.canvas;
  const canvas = document.createElement("canvas"), context = fit(canvas, scales.width, scales.height);
  const right = scales.width - curve.right, base = scales.height - curve.bottom;
  context.font = font(11);
  context.lineWidth = 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const mark of ticks(scales.low, scales.high, scales.height > 100 ? 4 : 2)) {
    const y = Math.round(scales.y(mark)) + 0.5;
    context.strokeStyle = palette.line;
    context.beginPath();
    context.moveTo(curve.left, y);
    context.lineTo(right, y);
    context.stroke();
    context.fillStyle = palette.soft;
    context.fillText(String(mark).replace("-", "−"), curve.left - 6, y);
  }
  context.textBaseline = "top";
  const marks = episodeTicks(scales.width);
  marks.forEach((mark) => {
    const x = scales.x(mark - 1);
    context.strokeStyle = palette.line;
    context.beginPath();
    context.moveTo(x, base);
    context.lineTo(x, base + 4);
    context.stroke();
    context.textAlign = mark === 1 ? "left" : x > right - 20 ? "right" : "center";
    context.fillText(grouped(mark), Math.min(x, right), base + 6);
  });
  if (MOVES) drawMoves(context, scales, base);
  if (wantedIn(0) !== null) {
    context.setLineDash([5, 4]);
    context.strokeStyle = palette.goal;
    context.beginPath();
    for (let first = 0; first < EPISODES; first += phases.every) {
      const y = Math.round(scales.y(wantedIn(first))) + 0.5, next = first + phases.every;
      context.moveTo(scales.x(first), y);
      context.lineTo(next < EPISODES ? scales.x(next) : right, y);
    }
    context.stroke();
    context.setLineDash([]);
  }
  for (const panel of panels) {
    const eps = panel.learner.eps;
    context.fillStyle = context.strokeStyle = palette[panel.colour];
    context.globalAlpha = EPISODES > 3000 ? 0.12 : EPISODES > 300 ? 0.3 : 0.5;
    const radius = EPISODES > 300 ? 1.2 : 1.8;
    for (let n = 0; n < EPISODES; n++) context.fillRect(scales.x(n) - radius, scales.y(eps[n]) - radius, 2 * radius, 2 * radius);
    if (EPISODES <= 3000) {
      context.globalAlpha = EPISODES > 300 ? 0.1 : 0.28;
      context.beginPath();
      for (let n = 0; n < EPISODES; n++) context.lineTo(scales.x(n), scales.y(eps[n]));
      context.stroke();
    }
  }
  context.globalAlpha = 1;
  // Chance: what the best of as many random networks comes to on average.
  context.strokeStyle = palette.chance;
  context.lineWidth = 2;
  context.setLineDash([2, 3]);
  context.beginPath();
  let before = 0; // in each phase the line begins anew
  for (const [n, value] of data.chance.curve) {
    if (phases.movesAt(n)) {
      context.lineTo(scales.x(n), scales.y(before));
      context.moveTo(scales.x(n), scales.y(value));
    } else context.lineTo(scales.x(n), scales.y(value));
    before = value;
  }
  context.stroke();
  context.setLineDash([]);
  for (const panel of panels) {
    context.strokeStyle = palette[panel.colour];
    context.lineWidth = 2.2;
    context.beginPath();
    context.moveTo(scales.x(0), scales.y(panel.best[0]));
    for (let n = 1; n < EPISODES; n++) {
      if (panel.best[n] === panel.best[n - 1] && n < EPISODES - 1 && !phases.movesAt(n)) continue;
      context.lineTo(scales.x(n), scales.y(panel.best[n - 1]));
      context[phases.movesAt(n) ? "moveTo" : "lineTo"](scales.x(n), scales.y(panel.best[n]));
    }
    context.stroke();
  }
  context.save();
  context.translate(7, (curve.top + base) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = palette.soft;
  context.fillText("EP", 0, 0);
  context.restore();
  curve.picture = { key, canvas };
  return canvas;
}

/** A thin line where the goal moves, and above each phase its goal, as far as there is room for them. */
function drawMoves(context, scales, base) {
  const [near, high] = [4, 13]; // pixels: between two lines; of a goal's name
  let last = -Infinity;
  context.font = font(11, 700);
  context.textBaseline = "middle";
  context.textAlign = "center";
  phases.goals.forEach((goal, phase) => {
    const first = phase * phases.every, x = scales.x(first), next = scales.x(Math.min(first + phases.every, EPISODES - 1));
    if (x - last < near) return;
    last = x;
    context.strokeStyle = palette.soft;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, 2);
    context.lineTo(Math.round(x) + 0.5, base);
    context.globalAlpha = 0.6;
    if (phase) context.stroke();
    context.globalAlpha = 1;
    const wide = context.measureText(goal).width + 7;
    if (wide + 3 > next - x) return;
    context.fillStyle = palette.goal;
    context.fillRect(x + 3, 2, wide, high);
    context.fillStyle = palette["on-goal"];
    context.fillText(goal, x + 3 + wide / 2, 2 + high / 2 + 0.5);
  });
  context.font = font(11);
}

/** Draw the curve and the marks of the episode shown. */
export function renderCurve() {
  const scales = curveScales(), picture = curvePicture(scales);
  const ratio = window.devicePixelRatio || 1;
  const w = Math.round(scales.width * ratio), h = Math.round(scales.height * ratio);
  if (curve.canvas.width !== w || curve.canvas.height !== h) {
    curve.canvas.width = w;
    curve.canvas.height = h;
  }
  const context = curve.canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, scales.width, scales.height);
  context.drawImage(picture, 0, 0, scales.width, scales.height);
  const x = scales.x(state.episode);
  context.strokeStyle = palette.ink;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, curve.top - 4);
  context.lineTo(x, scales.height - curve.bottom + 3);
  context.stroke();
  for (const panel of panels) { // a ring for the best so far, a disc for the EP
    context.beginPath();
    context.arc(x, scales.y(panel.best[state.episode]), 6.5, 0, 7);
    context.fillStyle = palette.card;
    context.fill();
    context.strokeStyle = palette[panel.colour];
    context.lineWidth = 2;
    context.stroke();
  }
  for (const panel of panels) {
    context.beginPath();
    context.arc(x, scales.y(panel.learner.eps[state.episode]), 4.5, 0, 7);
    context.fillStyle = palette[panel.colour];
    context.fill();
    context.strokeStyle = palette.card;
    context.lineWidth = 1.5;
    context.stroke();
  }
  drawFigures(context, scales, x);
  curve.canvas.setAttribute("aria-valuemax", String(EPISODES));
  curve.canvas.setAttribute("aria-valuenow", String(state.episode + 1));
  const towards = MOVES ? `, phase ${phases.of(state.episode) + 1}, goal ${phases.goal(state.episode)}` : "";
  const spoken = panels.map((panel) => `${panels.length > 1 ? `${panel.learner.name} ` : ""}${figures(panel)}`);
  curve.canvas.setAttribute("aria-valuetext", `episode ${state.episode + 1}${towards}, ${spoken.join(", ")}`);
}

const figures = (panel) => `EP ${grouped(panel.learner.eps[state.episode])}, best ${grouped(panel.best[state.episode])}`;

/** The EP of the episode shown and the best so far, in numbers beside its marker, one line for each learner. */
function drawFigures(context, scales, x) {
  context.font = font(11, 600);
  context.textBaseline = "middle";
  context.textAlign = "left";
  const lines = panels.map(figures), swatch = panels.length > 1 ? 11 : 0, high = 14;
  const wide = Math.max(...lines.map((line) => context.measureText(line).width)) + swatch + 8;
  const beside = x + 10 + wide > scales.width - curve.right ? x - 10 - wide : x + 10;
  // Between the marks, where few dots lie, and within the axes.
  const marks = panels.flatMap((panel) => [panel.learner.eps[state.episode], panel.best[state.episode]]).map(scales.y);
  const middle = (Math.min(...marks) + Math.max(...marks)) / 2, tall = high * lines.length;
  const top = Math.min(Math.max(middle - tall / 2, curve.top), scales.height - curve.bottom - tall);
  context.globalAlpha = 0.85;
  context.fillStyle = palette.card;
  context.fillRect(beside, top - 1, wide, tall + 2);
  context.globalAlpha = 1;
  lines.forEach((line, k) => {
    const y = top + (k + 0.5) * high;
    context.fillStyle = palette[panels[k].colour];
    if (swatch) context.fillRect(beside + 4, y - 4, 8, 8);
    context.fillStyle = palette.ink;
    context.fillText(line, beside + 4 + swatch, y + 0.5);
  });
}

/** The episode at a place on the curve. */
export function episodeAt(event) {
  return curveScales().episode(event.clientX - curve.canvas.getBoundingClientRect().left);
}
