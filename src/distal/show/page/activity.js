/* Which neurons were active in each step of a recorded episode: one row for each neuron, one column for each step. */
import { breadth, cached, fit, font, grouped, lines, palette, plural, roomFor, text, ticks } from "./elements.js";
import { ACTIONS, data, H, SENSES, TASK } from "./trial.js";

const AROUND = { left: 54, right: 2, top: 4, gap: 6, axis: 18 }; // pixels

/** Where the rows of neurons lie on the canvas: one block for each layer. */
function activityLayout(panel, episode) {
  const width = panel.root.querySelector(".network").clientWidth, columns = breadth(panel), { steps } = data.settings;
  const layers = [[TASK ? "bits" : "walls", episode.inputs, SENSES.slice(0, -1)], ["hidden", episode.hidden, new Array(H).fill("")], ["outputs", episode.outputs, ACTIONS]];
  const rows = layers.reduce((sum, [, , names]) => sum + names.length, 0), neurons = panel.root.querySelector(".neurons").offsetHeight;
  const rest = TASK ? [0, 0, 250, 130][columns] + neurons : [0, 0, 340, 220][columns];
  const row = Math.min(Math.max(columns === 1 ? 9 : (roomFor() - rest) / rows, rows > 56 ? 2 : 6), 14);
  let bottom = AROUND.top - AROUND.gap;
  const blocks = layers.map(([name, active, names]) => {
    const y = bottom + AROUND.gap, height = names.length * row;
    bottom = y + height;
    return { name, active, names, y, height };
  });
  const across = width - AROUND.left - AROUND.right;
  return {
    width, row, blocks, bottom, height: bottom + AROUND.axis,
    x: (step) => AROUND.left + (step / steps) * across,
    step: (x) => Math.min(Math.max(Math.round(((x - AROUND.left) / across) * steps), 0), episode.steps),
  };
}

/** A layer over the steps of an episode, one pixel for each neuron and step. */
function activityImage(colour, { active, names }) {
  const canvas = Object.assign(document.createElement("canvas"), { width: active.length, height: names.length });
  const context = canvas.getContext("2d");
  context.fillStyle = colour;
  active.forEach((neurons, t) => names.forEach((_, i) => neurons[i] && context.fillRect(t, i, 1, 1)));
  return canvas;
}

/** Draw the activity of an episode, and mark the step that is shown. */
export function drawActivity(panel, episode, step) {
  const layout = (panel.layout = activityLayout(panel, episode)), { x, row, blocks, bottom } = layout;
  const number = grouped(episode.number + 1), { steps } = data.settings;
  const images = cached(panel, "image", `${palette.page} ${number}`, () => blocks.map((block) => activityImage(palette[panel.colour], block)));
  const context = fit(panel.$matrix, layout.width, layout.height);
  Object.assign(context, { imageSmoothingEnabled: x(1) - x(0) < 1, textBaseline: "middle", textAlign: "right", lineWidth: 1 });
  blocks.forEach(({ name, names, y, height }, layer) => {
    const part = (from, to, strength) => {
      context.globalAlpha = strength;
      if (to > from) context.drawImage(images[layer], from, 0, to - from, names.length, x(from), y, x(to) - x(from), height);
      context.globalAlpha = 1;
    };
    context.fillStyle = palette.middle;
    context.fillRect(x(0), y, x(episode.steps) - x(0), height);
    part(0, step, 1);
    part(step, episode.steps, 0.3); // what is still to come
    context.strokeStyle = palette.card;
    if (row >= 6) lines(context, ...names.slice(1).map((_, i) => [x(0), y + (i + 1) * row, x(episode.steps), y + (i + 1) * row]));
    Object.assign(context, { strokeStyle: palette.line, fillStyle: palette.soft, font: font(row < 9 ? 11 : Math.min(11, row + 0.5)) });
    context.strokeRect(x(0) - 0.5, y - 0.5, x(steps) - x(0) + 1, height + 1);
    if (row < 9 || !names[0]) context.fillText(name, x(0) - 6, y + height / 2);
    else names.forEach((each, i) => context.fillText(each, x(0) - 6, y + (i + 0.5) * row + 0.5));
  });
  Object.assign(context, { font: font(11), textBaseline: "top", strokeStyle: palette.ink, lineWidth: 1.5 });
  context.fillText("step", x(0) - 6, bottom + 5);
  for (const mark of ticks(0, steps, 5)) {
    context.textAlign = mark === 0 ? "left" : x(mark) > layout.width - 20 ? "right" : "center";
    context.fillText(grouped(mark), Math.min(x(mark), layout.width - 1), bottom + 5);
  }
  lines(context, [x(step), 0, x(step), bottom + 3]);
  text(panel["$matrix-title"], `Activity in episode ${number}, step by step`);
  panel.$matrix.setAttribute("aria-label", `Which neurons were active in each of ${plural(episode.steps, "step")} of episode ${number}; the marker is at step ${step}`);
}
