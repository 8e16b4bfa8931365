/* The weights, or their changes, as a matrix of colours, and the synapse that is selected in it. */
import { breadth, cached, fit, font, grouped, lines, make, palette, plain, plural, roomFor, scaleColours, signed, text } from "./elements.js";
import { counts } from "./learners.js";
import { FEED, OUTPUTS } from "./network.js";
import { ACTIONS, COLUMNS, H, SENSES, set, state } from "./trial.js";

const LEFT = 15, TOP = 30, BAR = 4; // pixels: the margins for labels and for the marks of active neurons, and a mark

/** Where everything in the matrix lies: blocks of entries, each with its place on the canvas. */
function matrixLayout(panel) {
  const width = panel.root.querySelector(".network").clientWidth;
  const gap = 7, labels = 22;
  const rest = [0, Infinity, 440, 240][breadth(panel)]; // of the panel, above and below the entries
  const tall = rest === Infinity ? rest : Math.max(9, (roomFor() - rest) / (H + OUTPUTS));
  const size = Math.min((width - LEFT - 2 * gap - 2) / COLUMNS, tall, 20);
  const cell = size > 4 ? Math.floor(size * 2) / 2 : size;
  const x = [0, FEED, FEED + H].map((column, group) => LEFT + column * cell + group * gap);
  const lower = TOP + H * cell + labels;
  const block = (matrix, from, columns, rows, left, y) => ({ matrix, from, columns, rows, x: left, y, width: columns * cell, height: rows * cell });
  return {
    cell, width, height: lower + OUTPUTS * cell + 2, lower,
    blocks: [
      block("hidden", 0, FEED, H, x[0], TOP),
      block("hidden", FEED, H, H, x[1], TOP),
      block("hidden", FEED + H, OUTPUTS, H, x[2], TOP),
      block("output", 0, H, OUTPUTS, x[1], lower),
      block("output", H, 1, OUTPUTS, x[2], lower),
    ],
  };
}

const widthOf = (matrix) => (matrix === "hidden" ? COLUMNS : H + 1);
const isSelf = (matrix, row, column) => matrix === "hidden" && column === FEED + row;
const viewOf = (panel) => (panel.learner.kind === "chance" ? "weights" : state.view); // chance changes no weight

/** The entries as colours, one pixel each, and the largest of them. */
function matrixImage(values) {
  let most = 0;
  for (const matrix of [values.hidden, values.output]) for (const value of matrix) most = Math.max(most, Math.abs(value));
  const paint = (matrix) => {
    const columns = widthOf(matrix), rows = values[matrix].length / columns;
    const canvas = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    values[matrix].forEach((value, at) => {
      const self = isSelf(matrix, Math.floor(at / columns), at % columns);
      pixels[at] = self ? 0 : scaleColours[255 + (most ? Math.round((255 * value) / most) : 0)];
    });
    context.putImageData(image, 0, 0);
    return canvas;
  };
  return { most, hidden: paint("hidden"), output: paint("output") };
}

/** Draw the matrix, which neurons are active, and the entry that is selected. */
export function drawMatrix(panel, episode, step) {
  const layout = (panel.layout = matrixLayout(panel)), view = viewOf(panel), n = grouped(episode.number + 1);
  const image = cached(panel, "image", `${view} ${palette.page} ${n}`, () => matrixImage(view === "weights" ? episode.weights : panel.change));
  const context = fit(panel.$matrix, layout.width, layout.height);
  context.imageSmoothingEnabled = false;
  context.lineWidth = 1;
  for (const block of layout.blocks) drawBlock(context, image[block.matrix], block, layout.cell);
  if (step) {
    context.fillStyle = palette[panel.colour];
    markActive(context, layout, episode, step);
  }
  drawLabels(context, layout);
  if (state.inspected) markSelected(context, layout, state.inspected);
  text(panel["$matrix-title"], view === "weights" ? `Weights in episode ${n}` : panel.learner.kind === "hc" ? `Noise added in episode ${n}` : `Change after episode ${n}`);
  panel.$matrix.setAttribute("aria-label", `${panel["$matrix-title"].textContent}: ${H} hidden neurons and 4 outputs, one row each; arrow keys select an entry`);
  text(panel.$low, image.most ? plain(-image.most, 3) : "0");
  text(panel.$high, image.most ? signed(image.most, 3) : "0");
}

function drawBlock(context, image, { from, columns, rows, x, y, width, height }, cell) {
  context.drawImage(image, from, 0, columns, rows, x, y, width, height);
  if (cell >= 6) {
    const between = (many, through) => Array.from({ length: many - 1 }, (_, k) => through((k + 1) * cell));
    context.strokeStyle = palette.card;
    lines(context, ...between(columns, (at) => [x + at, y, x + at, y + height]), ...between(rows, (at) => [x, y + at, x + width, y + at]));
  }
  context.strokeStyle = palette.line;
  context.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
}

/** Mark which neurons are active in a step: before a column the one that feeds, before a row the one fed.
 *
 * A sigmoid neuron is marked as strongly as it is active. */
function markActive(context, { cell, lower, blocks }, episode, step) {
  const inset = cell >= 5 ? 1 : 0, thick = cell - 2 * inset, levels = episode.activity ?? episode.hidden;
  const marked = (neurons, draw) => neurons.forEach((level, i) => {
    context.globalAlpha = level;
    if (level) draw(i);
    context.globalAlpha = 1;
  });
  const columns = (neurons, block, y) => marked(neurons, (i) => context.fillRect(block.x + i * cell + inset, y - 2 - BAR, thick, BAR));
  const rows = (neurons, block) => marked(neurons, (j) => context.fillRect(block.x - 4 - BAR, block.y + j * cell + inset, BAR, thick));
  columns(episode.inputs[step - 1], blocks[0], TOP);
  if (step > 1) {
    columns(levels[step - 2], blocks[1], TOP);
    columns(episode.outputs[step - 2], blocks[2], TOP);
  }
  rows(levels[step - 1], blocks[0]);
  columns(levels[step - 1], blocks[3], lower);
  columns([1], blocks[4], lower); // the bias
  rows(episode.outputs[step - 1], blocks[3]);
}

function drawLabels(context, { cell, width, lower, blocks }) {
  Object.assign(context, { fillStyle: palette.soft, font: font(11), textBaseline: "alphabetic" });
  const label = (content, x, align, y) => {
    context.textAlign = align;
    context.fillText(content, x, y);
  };
  const centred = (block, y, ...names) => {
    const fitting = names.find((name) => context.measureText(name).width <= block.width + 16) || "";
    label(fitting, block.x + block.width / 2, "center", y);
  };
  label(cell < 11 ? "in+bias" : "inputs + bias", blocks[0].x, "left", TOP - 11);
  centred(blocks[1], TOP - 11, "from hidden, the step before", "from hidden", "hidden");
  label("outputs", Math.min(Math.max(blocks[2].x + blocks[2].width, blocks[2].x + 38), width - 1), "right", TOP - 11);
  centred(blocks[3], lower - 10, "to the outputs, from hidden", "from hidden", "hidden");
  label("bias", Math.min(blocks[4].x + 24, width - 1), "right", lower - 10);
  if (cell < 8) return;
  context.font = font(Math.min(11, cell + 0.5));
  ACTIONS.forEach((name, k) => label(name, blocks[3].x - 11, "right", blocks[3].y + (k + 0.5) * cell + Math.min(4, cell / 2.6)));
}

function markSelected(context, { cell, blocks }, { matrix, row, column }) {
  const block = blocks.find((one) => one.matrix === matrix && column >= one.from && column < one.from + one.columns);
  const side = Math.max(cell, 5), shift = (cell - side) / 2;
  Object.assign(context, { strokeStyle: palette.ink, lineWidth: 2 });
  context.strokeRect(block.x + (column - block.from) * cell + shift, block.y + row * cell + shift, side, side);
}

/** The entry at a place on the canvas, or null. */
export function entryAt(panel, event) {
  const box = panel.$matrix.getBoundingClientRect(), { cell, blocks } = panel.layout;
  const x = event.clientX - box.left, y = event.clientY - box.top;
  for (const block of blocks) {
    const column = Math.floor((x - block.x) / cell), row = Math.floor((y - block.y) / cell);
    if (column >= 0 && column < block.columns && row >= 0 && row < block.rows) return { matrix: block.matrix, row, column: block.from + column };
  }
  return null;
}

/** Select an entry of the matrix, or none. */
export const inspect = (entry) => set({ inspected: entry });

/** Move the inspected entry with the arrow keys; the outputs' rows follow below the hidden ones. */
export function inspectBy(key) {
  const now = state.inspected;
  if (!now) return inspect({ matrix: "hidden", row: 0, column: 0 });
  const [down, across] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key];
  const [above, before] = now.matrix === "output" ? [H, FEED] : [0, 0];
  const row = Math.min(Math.max(now.row + above + down, 0), H + OUTPUTS - 1), column = now.column + before + across;
  if (row < H) return inspect({ matrix: "hidden", row, column: Math.min(Math.max(column, 0), COLUMNS - 1) });
  return inspect({ matrix: "output", row: row - H, column: Math.min(Math.max(column - FEED, 0), H) });
}

/** What the neuron that feeds a column is called. */
function preName(matrix, column) {
  if (matrix === "output") return column < H ? `hidden ${column}` : "bias";
  if (column < FEED) return column < FEED - 1 ? `input ${SENSES[column]}` : "bias";
  return column < FEED + H ? `hidden ${column - FEED}` : `output ${ACTIONS[column - FEED - H]}`;
}

/** Write the numbers of the selected synapse. */
export function renderReadout(panel) {
  placeReadout(panel);
  if (panel.rows) panel.rows.forEach(({ row }) => row.classList.remove("chosen"));
  if (!state.inspected) {
    text(panel.$readout, "Point at an entry of the matrix, or tap it, to see its synapse.");
    panel.readoutKey = null;
    return;
  }
  const { matrix, row, column } = state.inspected, at = row * widthOf(matrix) + column, self = isSelf(matrix, row, column);
  const { episode, update } = panel.result;
  if (panel.rows && !self) panel.rows[update.rows[matrix][at]].row.classList.add("chosen");
  const key = `${matrix} ${at} ${episode.number}`;
  if (panel.readoutKey === key) return;
  panel.readoutKey = key;
  const strong = (content) => make("b", "", content), weight = episode.weights[matrix][at];
  const name = `${preName(matrix, column)} → ${matrix === "hidden" ? `hidden ${row}` : `output ${ACTIONS[row]}`}`;
  const told = [strong(name)];
  if (self) told.push(": no neuron has a synapse to itself.");
  else {
    told.push("   weight ", strong(plain(weight)));
    if (panel.learner.kind === "dsp") told.push(...changeByRow(panel, matrix, row, column, strong));
    else if (!update.best) told.push(", drawn afresh");
    else if (update.anew) told.push(` = best ${plain(update.best.weights[matrix][at])}, as it was`);
    else told.push(` = best ${plain(update.best.weights[matrix][at])}, noise `, strong(signed(panel.change[matrix][at])));
  }
  panel.$readout.replaceChildren(...told);
}

/** What a rule did to a synapse, and why. */
function changeByRow(panel, matrix, row, column, strong) {
  const { episode, update } = panel.result, at = row * widthOf(matrix) + column;
  const number = update.rows[matrix][at], change = panel.learner.delta_w[number];
  const n = counts(update.traces[matrix], row, column, episode.steps);
  const bits = [...(number >> 1).toString(2).padStart(4, "0")].join(" ");
  const normalised = panel.replay.settings.normalise === "none" ? "" : ", then normalised";
  return [
    " → ", strong(plain(update.after[matrix][at])), `, change ${signed(panel.change[matrix][at])}`, make("br"),
    `(pre, post) in ${plural(episode.steps, "step")}: 00 ${n[0]} · 01 ${n[1]} · 10 ${n[2]} · 11 ${n[3]}; above θ: ${bits}`, make("br"),
    `with m = ${update.m > 0 ? "+1" : "−1"}: row ${number}, Δw = `, strong(change > 0 ? "+1" : change < 0 ? "−1" : "0"),
    `; η · Δw = ${change ? signed(change * Math.fround(panel.learner.eta)) : "0"}${normalised}`,
  ];
}

/** Put the numbers below the matrix; where there are three columns, in the last one, which has room for them.
 *
 * The key to the rule shares its place with them, except where all is in one column. */
function placeReadout(panel) {
  const columns = breadth(panel), home = columns === 3 ? panel.$learner : panel.root.querySelector(".network");
  if (panel.$readout.parentElement !== home) home.append(panel.$readout);
  if (!panel.$key) return;
  const place = columns === 2 ? home : panel.$learner;
  if (panel.$key.parentElement !== place) place.append(panel.$key);
  if (home === place && panel.$key.nextElementSibling !== panel.$readout) panel.$readout.before(panel.$key);
  panel.$key.hidden = columns > 1 && state.inspected !== null;
}

// The neurons that feed a matrix, in the order of its columns, and those that are fed: [name, first, how many].
const PRE = {
  hidden: [["i", 0, FEED - 1], ["bias", FEED - 1, 1], ["h", FEED, H], ["o", FEED + H, OUTPUTS]],
  output: [["h", 0, H], ["bias", H, 1]],
};
const POST = { hidden: ["h", H], output: ["o", OUTPUTS] };

/** The name of a synapse in the address, from pre to post: i2-h3, bias-h0, h4-o1. */
export function synapseName({ matrix, row, column }) {
  const [name, first] = PRE[matrix].find(([, from, many]) => column < from + many);
  return `${name}${name === "bias" ? "" : column - first}-${POST[matrix][0]}${row}`;
}

/** The entry of the matrix with this name, or null. */
export function synapseNamed(name) {
  const parts = /^(?:([iho])(\d{1,6})|bias)-([ho])(\d{1,6})$/.exec(name);
  if (!parts) return null;
  const matrix = parts[3] === "h" ? "hidden" : "output", row = +parts[4], index = +(parts[2] ?? 0);
  const pre = PRE[matrix].find(([neuron]) => neuron === (parts[1] ?? "bias"));
  if (!pre || index >= pre[2] || row >= POST[matrix][1]) return null;
  return { matrix, row, column: pre[1] + index };
}
