/* The weights, or their changes, as a matrix of colours; marks at its edges are active neurons. */
import { breadth, fit, font, palette, roomFor, scaleColours } from "./canvas.js";
import { grouped, plain, signed, text } from "./elements.js";
import { FEED, OUTPUTS } from "./network.js";
import { state } from "./state.js";
import { ACTIONS, COLUMNS, H } from "./trial.js";

const MARGIN = { left: 15, top: 30 }; // for the marks of active neurons and the labels

/** Where everything in the matrix lies: blocks of entries, each with its place on the canvas. */
function matrixLayout(panel) {
  const width = panel.root.querySelector(".network").clientWidth;
  const gap = 7, labels = 22;
  const rest = [0, Infinity, 440, 240][breadth(panel)]; // of the panel, above and below the entries
  const tall = rest === Infinity ? rest : Math.max(9, (roomFor() - rest) / (H + OUTPUTS));
  const size = Math.min((width - MARGIN.left - 2 * gap - 2) / COLUMNS, tall, 20);
  const cell = size > 4 ? Math.floor(size * 2) / 2 : size;
  const x = [0, FEED, FEED + H].map((column, group) => MARGIN.left + column * cell + group * gap);
  const top = MARGIN.top, lower = top + H * cell + labels;
  const block = (matrix, from, columns, rows, left, y) => ({ matrix, from, columns, rows, x: left, y, width: columns * cell, height: rows * cell });
  return {
    cell,
    width,
    height: lower + OUTPUTS * cell + 2,
    lower,
    blocks: [
      block("hidden", 0, FEED, H, x[0], top),
      block("hidden", FEED, H, H, x[1], top),
      block("hidden", FEED + H, OUTPUTS, H, x[2], top),
      block("output", 0, H, OUTPUTS, x[1], lower),
      block("output", H, 1, OUTPUTS, x[2], lower),
    ],
  };
}

export const widthOf = (matrix) => (matrix === "hidden" ? COLUMNS : H + 1);
export const isSelf = (matrix, row, column) => matrix === "hidden" && column === FEED + row;
const viewOf = (panel) => (panel.learner.kind === "chance" ? "weights" : state.view); // chance changes no weight

/** The entries as colours, one pixel each: drawn once for an episode, a view and a theme. */
function matrixImage(panel) {
  const view = viewOf(panel), key = `${view} ${palette.page}`;
  if (panel.image && panel.image.key === key) return panel.image;
  const values = view === "weights" ? panel.result.episode.weights : panel.change;
  let most = 0;
  for (const matrix of [values.hidden, values.output]) for (const value of matrix) most = Math.max(most, Math.abs(value));
  const paint = (matrix) => {
    const columns = widthOf(matrix), rows = matrix === "hidden" ? H : OUTPUTS;
    const canvas = document.createElement("canvas");
    canvas.width = columns;
    canvas.height = rows;
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    values[matrix].forEach((value, at) => {
      const self = isSelf(matrix, Math.floor(at / columns), at % columns);
      pixels[at] = self ? 0 : scaleColours[255 + (most ? Math.round((255 * value) / most) : 0)];
    });
    context.putImageData(image, 0, 0);
    return canvas;
  };
  panel.image = { key, most, hidden: paint("hidden"), output: paint("output") };
  return panel.image;
}

/** Draw the matrix, which neurons are active, and the entry that is selected. */
export function drawMatrix(panel, episode, step) {
  const layout = (panel.layout = matrixLayout(panel)), { cell, blocks } = layout;
  const image = matrixImage(panel);
  const context = fit(panel.$matrix, layout.width, layout.height);
  context.clearRect(0, 0, layout.width, layout.height);
  context.imageSmoothingEnabled = false;
  for (const block of blocks) {
    context.drawImage(image[block.matrix], block.from, 0, block.columns, block.rows, block.x, block.y, block.width, block.height);
    if (cell >= 6) {
      context.strokeStyle = palette.card;
      context.lineWidth = 1;
      context.beginPath();
      for (let i = 1; i < block.columns; i++) {
        context.moveTo(block.x + i * cell, block.y);
        context.lineTo(block.x + i * cell, block.y + block.height);
      }
      for (let j = 1; j < block.rows; j++) {
        context.moveTo(block.x, block.y + j * cell);
        context.lineTo(block.x + block.width, block.y + j * cell);
      }
      context.stroke();
    }
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    context.strokeRect(block.x - 0.5, block.y - 0.5, block.width + 1, block.height + 1);
  }

  // Which neurons are active in this step: before a column the one that feeds, before a row the one fed.
  // A sigmoid neuron is marked as strongly as it is active.
  const bar = 4, inset = cell >= 5 ? 1 : 0;
  context.fillStyle = palette[panel.colour];
  const column = (block, i, y) => context.fillRect(block.x + i * cell + inset, y, cell - 2 * inset, bar);
  const row = (block, j) => context.fillRect(block.x - 4 - bar, block.y + j * cell + inset, bar, cell - 2 * inset);
  const levels = episode.activity ?? episode.hidden;
  const graded = (neurons, draw) => neurons.forEach((level, i) => {
    context.globalAlpha = level;
    if (level) draw(i);
    context.globalAlpha = 1;
  });
  if (step) {
    const inputs = episode.inputs[step - 1], outputs = episode.outputs[step - 1];
    inputs.forEach((on, i) => on && column(blocks[0], i, MARGIN.top - 2 - bar));
    if (step > 1) {
      graded(levels[step - 2], (i) => column(blocks[1], i, MARGIN.top - 2 - bar));
      episode.outputs[step - 2].forEach((on, i) => on && column(blocks[2], i, MARGIN.top - 2 - bar));
    }
    graded(levels[step - 1], (j) => row(blocks[0], j));
    graded(levels[step - 1], (i) => column(blocks[3], i, layout.lower - 2 - bar));
    column(blocks[4], 0, layout.lower - 2 - bar);
    outputs.forEach((on, k) => on && row(blocks[3], k));
  }

  // Labels.
  context.fillStyle = palette.soft;
  context.font = font(11);
  context.textBaseline = "alphabetic";
  const label = (content, x, align, y) => {
    context.textAlign = align;
    context.fillText(content, x, y);
  };
  const y = MARGIN.top - 11, narrow = cell < 11;
  label(narrow ? "in+bias" : "inputs + bias", blocks[0].x, "left", y);
  const fitting = (block, ...names) => names.find((name) => context.measureText(name).width <= block.width + 16) || "";
  label(fitting(blocks[1], "from hidden, the step before", "from hidden", "hidden"), blocks[1].x + blocks[1].width / 2, "center", y);
  label("outputs", Math.min(Math.max(blocks[2].x + blocks[2].width, blocks[2].x + 38), layout.width - 1), "right", y);
  label(fitting(blocks[3], "to the outputs, from hidden", "from hidden", "hidden"), blocks[3].x + blocks[3].width / 2, "center", layout.lower - 10);
  label("bias", Math.min(blocks[4].x + 24, layout.width - 1), "right", layout.lower - 10);
  if (cell >= 8) {
    context.font = font(Math.min(11, cell + 0.5));
    ACTIONS.forEach((name, k) => label(name, blocks[3].x - 11, "right", blocks[3].y + (k + 0.5) * cell + Math.min(4, cell / 2.6)));
  }

  if (state.inspected) {
    const { matrix, row: j, column: i } = state.inspected;
    const block = blocks.find((b) => b.matrix === matrix && i >= b.from && i < b.from + b.columns);
    context.strokeStyle = palette.ink;
    context.lineWidth = 2;
    const side = Math.max(cell, 5), shift = (cell - side) / 2;
    context.strokeRect(block.x + (i - block.from) * cell + shift, block.y + j * cell + shift, side, side);
  }

  const climber = panel.learner.kind === "hc", n = grouped(episode.number + 1);
  text(panel["$matrix-title"], viewOf(panel) === "weights"
    ? `Weights in episode ${n}`
    : climber ? `Noise added in episode ${n}` : `Change after episode ${n}`);
  panel.$matrix.setAttribute("aria-label", `${panel["$matrix-title"].textContent}: ${H} hidden neurons and 4 outputs, one row each; arrow keys select an entry`);
  text(panel.$low, image.most ? plain(-image.most, 3) : "0");
  text(panel.$high, image.most ? signed(image.most, 3) : "0");
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
