/* The states of a table that has no picture, as boxes. */
import { fit, font, palette } from "./canvas.js";
import { grouped, plural } from "./elements.js";
import { phases, TASK } from "./trial.js";

const BOX = { height: 26, gap: 4, most: 200 }; // pixels; boxes at a time

/** The states that have a box: all of a small table, of a large one those that were visited in the trial. */
function statesOf(panel) {
  panel.listed ??= TASK.states <= BOX.most
    ? Array.from({ length: TASK.states }, (_, state) => state)
    : [...new Set(panel.replay.states)].sort((a, b) => a - b);
  return panel.listed;
}

/** Draw the states: where the agent is, and where it has been in this episode. */
export function drawStates(panel, episode, step) {
  const all = statesOf(panel), here = episode.states[step], { height, gap, most } = BOX;
  const first = Math.floor(all.indexOf(here) / most) * most, some = all.slice(first, first + most);
  const width = panel.root.querySelector(".walk").clientWidth, box = Math.max(30, 12 + 8 * String(all[all.length - 1]).length);
  const columns = Math.max(1, Math.floor((width + gap) / (box + gap))), rows = Math.ceil(some.length / columns);
  const context = fit(panel.$maze, width, rows * (height + gap) + 20);
  context.clearRect(0, 0, width, rows * (height + gap) + 20);
  context.textBaseline = "middle";
  context.textAlign = "center";
  const visits = new Map(), start = TASK.starts[phases.goal(episode.number)];
  for (let t = 0; t <= step; t++) visits.set(episode.states[t], (visits.get(episode.states[t]) || 0) + 1);
  some.forEach((state, k) => {
    const x = (k % columns) * (box + gap) + 1, y = Math.floor(k / columns) * (height + gap) + 1, times = visits.get(state) || 0;
    context.beginPath();
    context.roundRect(x, y, box - 2, height - 2, 4);
    context.fillStyle = palette.page;
    context.fill();
    context.fillStyle = palette[panel.colour];
    context.globalAlpha = state === here ? 1 : times ? Math.min(0.14 + 0.05 * times, 0.4) : 0;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = state === start ? palette.start : palette.line;
    context.lineWidth = state === start ? 2 : 1;
    context.stroke();
    context.font = font(12, state === here ? 700 : 400);
    context.fillStyle = state === here ? palette[`on-${panel.colour}`] : times ? palette.ink : palette.soft;
    context.fillText(String(state), x + box / 2 - 1, y + height / 2 - 0.5);
  });
  context.textAlign = "left";
  context.font = font(11);
  context.fillStyle = palette.soft;
  const which = all.length === TASK.states ? plural(all.length, "state") : `${plural(all.length, "state")} visited in this trial, of ${grouped(TASK.states)}`;
  const part = some.length < all.length ? `, here ${grouped(first + 1)} to ${grouped(first + some.length)}` : "";
  context.fillText(which + part, 1, rows * (height + gap) + 12);
  panel.$maze.setAttribute("aria-label", `${which}${part}: the agent in state ${here}, step ${step} of ${episode.steps}; visited ${[...visits.keys()].join(" ")}`);
}
