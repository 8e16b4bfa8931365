/* Which neurons were active in each step of a recorded episode. */
import { breadth, fit, font, palette, roomFor, ticks } from "./canvas.js";
import { grouped, plural, text } from "./elements.js";
import { ACTIONS, data, H, SENSES, TASK } from "./trial.js";

const ACTIVITY = { left: 54, right: 2, top: 4, gap: 6, axis: 18 };

/** Where the rows of neurons lie on the canvas: one block for each layer. */
function activityLayout(panel, episode) {
  const width = panel.root.querySelector(".network").clientWidth, columns = breadth(panel);
  const layers = [[TASK ? "bits" : "walls", episode.inputs, SENSES.slice(0, -1)], ["hidden", episode.hidden, new Array(H).fill("")], ["outputs", episode.outputs, ACTIONS]];
  const rows = layers.reduce((sum, [, , names]) => sum + names.length, 0), neurons = panel.root.querySelector(".neurons").offsetHeight;
  const rest = TASK ? [0, 0, 250, 130][columns] + neurons : [0, 0, 340, 220][columns];
  const row = Math.min(Math.max(columns === 1 ? 9 : (roomFor() - rest) / rows, rows > 56 ? 2 : 6), 14);
  let y = ACTIVITY.top;
  const blocks = layers.map(([name, active, names]) => {
    const block = { name, active, names, y, height: names.length * row };
    y += block.height + ACTIVITY.gap;
    return block;
  });
  const across = width - ACTIVITY.left - ACTIVITY.right;
  return {
    width, row, blocks, bottom: y - ACTIVITY.gap, height: y - ACTIVITY.gap + ACTIVITY.axis,
    x: (step) => ACTIVITY.left + (step / data.settings.steps) * across,
    step: (x) => Math.min(Math.max(Math.round(((x - ACTIVITY.left) / across) * data.settings.steps), 0), episode.steps),
  };
}

/** A layer over the steps of an episode, one pixel for each neuron and step. */
function activityImage(panel, { active, names }) {
  const canvas = document.createElement("canvas"), colour = palette[panel.colour];
  canvas.width = active.length;
  canvas.height = names.length;
  const context = canvas.getContext("2d");
  context.fillStyle = colour;
  active.forEach((neurons, t) => names.forEach((_, i) => neurons[i] && context.fillRect(t, i, 1, 1)));
  return canvas;
}

/** Draw the activity of an episode, and mark the step that is shown. */
export function drawActivity(panel, episode, step) {
  const layout = (panel.layout = activityLayout(panel, episode)), { x, row, blocks } = layout;
  const context = fit(panel.$matrix, layout.width, layout.height), key = palette.page;
  if (!panel.image || panel.image.key !== key) panel.image = { key, layers: blocks.map((block) => activityImage(panel, block)) };
  context.clearRect(0, 0, layout.width, layout.height);
  context.imageSmoothingEnabled = x(1) - x(0) < 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  blocks.forEach(({ name, names, y, height }, layer) => {
    const part = (from, to, strength) => {
      context.globalAlpha = strength;
      if (to > from) context.drawImage(panel.image.layers[layer], from, 0, to - from, names.length, x(from), y, x(to) - x(from), height);
      context.globalAlpha = 1;
    };
    context.fillStyle = palette.middle;
    context.fillRect(x(0), y, x(episode.steps) - x(0), height);
    part(0, step, 1);
    part(step, episode.steps, 0.3); // what is still to come
    context.strokeStyle = palette.card;
    context.lineWidth = 1;
    if (row >= 6) {
      context.beginPath();
      for (let i = 1; i < names.length; i++) {
        context.moveTo(x(0), y + i * row);
        context.lineTo(x(episode.steps), y + i * row);
      }
      context.stroke();
    }
    context.strokeStyle = palette.line;
    context.strokeRect(x(0) - 0.5, y - 0.5, x(data.settings.steps) - x(0) + 1, height + 1);
    context.fillStyle = palette.soft;
    context.font = font(row < 9 ? 11 : Math.min(11, row + 0.5));
    if (row < 9 || !names[0]) context.fillText(name, x(0) - 6, y + height / 2);
    else names.forEach((each, i) => context.fillText(each, x(0) - 6, y + (i + 0.5) * row + 0.5));
  });
  context.font = font(11);
  context.textBaseline = "top";
  context.fillText("step", x(0) - 6, layout.bottom + 5);
  for (const mark of ticks(0, data.settings.steps, 5)) {
    context.textAlign = mark === 0 ? "left" : x(mark) > layout.width - 20 ? "right" : "center";
    context.fillText(grouped(mark), Math.min(x(mark), layout.width - 1), layout.bottom + 5);
  }
  context.strokeStyle = palette.ink;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x(step), 0);
  context.lineTo(x(step), layout.bottom + 3);
  context.stroke();
  text(panel["$matrix-title"], `Activity in episode ${grouped(episode.number + 1)}, step by step`);
  panel.$matrix.setAttribute("aria-label", `Which neurons were active in each of ${plural(episode.steps, "step")} of episode ${grouped(episode.number + 1)}; the marker is at step ${step}`);
}
