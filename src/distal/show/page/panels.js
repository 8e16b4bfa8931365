/* One panel for each learner: its numbers, walk, neurons and weights, or its activity. */
import { drawActivity } from "./activity.js";
import { find, grouped, make, plural, remark, subscripted, text } from "./elements.js";
import { KINDS, MOST_NUMBERS, numbersOf, RECORDED, roleOf } from "./kinds.js";
import { drawMatrix, renderReadout } from "./matrix.js";
import { Recording, Replay } from "./replay.js";
import { ACTIONS, data, EPISODES, GRADED, H, MOVES, phases, SENSES, state, TASK } from "./trial.js";
import { drawWalk } from "./walk.js";

// The parts of a panel that change, by their classes; panel.$ep is the element of class ep.
const PARTS = ["phase", "ep", "best", "best-name", "signal", "signal-name", "step", "pits", "pits-name", "senses-name", "action", "maze", "outcome", "matrix", "matrix-title", "low", "high", "readout", "learner", "waiting"];

export const panels = data.learners.map((learner, index) => {
  const root = find("panel").content.firstElementChild.cloneNode(true);
  const recorded = Boolean(learner.recording), role = roleOf(learner);
  const panel = {
    learner, root, recorded,
    kind: recorded ? RECORDED : KINDS[learner.kind],
    // The colour of its kind; where both are of one, the second has that of another, which everybody can tell apart.
    colour: index && role === roleOf(data.learners[0]) ? (role === "dsp" ? "hc" : "dsp") : role,
    replay: recorded ? new Recording(data, learner) : new Replay(data, learner),
    best: new Int32Array(EPISODES), // the best EP so far in the phase, and the episode that had it first
    bestAt: new Int32Array(EPISODES),
    result: null, // what is shown: {episode, update}
    layout: null,
  };
  learner.eps.forEach((ep, n) => {
    const better = n % phases.every === 0 || ep < panel.best[n - 1];
    panel.best[n] = better ? ep : panel.best[n - 1];
    panel.bestAt[n] = better ? n : panel.bestAt[n - 1];
  });
  panel.check = recorded ? null : panel.replay.check();
  for (const name of PARTS) panel[`$${name}`] = root.querySelector(`.${name}`);
  root.style.setProperty("--mine", `var(--${panel.colour})`);
  root.style.setProperty("--on-mine", `var(--on-${panel.colour})`);
  root.setAttribute("aria-label", learner.name);
  root.querySelector(".name").textContent = learner.name;
  const numbers = numbersOf(learner), told = recorded ? numbers.slice(0, MOST_NUMBERS.heading) : numbers;
  for (const [, symbol, value] of told) {
    const item = make("span");
    item.append(...subscripted(symbol), ` ${+value.toPrecision(4)}`);
    root.querySelector(".numbers").append(item);
  }
  if (told.length < numbers.length) root.querySelector(".numbers").append("…");
  buildNeurons(panel);
  if (MOVES) {
    root.querySelector(".stats").classList.add("moving");
    panel.$phase.parentElement.hidden = false;
    text(panel["$best-name"], "Best in phase");
  }
  panel.kind.build(panel);
  find("panels").append(root);
  return panel;
});
export const computed = panels.filter((panel) => !panel.recorded);

function buildNeurons(panel) {
  const fill = (layer, names, titles) => {
    const cells = panel.root.querySelector(`.${layer} .cells`);
    panel[`${layer}Cells`] = names.map((name, i) => Object.assign(make("span", "", name), { title: titles[i] }));
    cells.append(...panel[`${layer}Cells`]);
    return cells.classList;
  };
  const senses = TASK ? SENSES.slice(0, -1).map((bit) => `bit ${bit} of the observation`) : ["wall to the left", "wall in front", "wall to the right"];
  fill("inputs", SENSES, [...senses, "the bias is always active"]).toggle("many", SENSES.length > 16);
  if (TASK) {
    panel.root.querySelector(".neurons").classList.add("of-table");
    text(panel["$senses-name"], `${plural(TASK.bits, "bit")} sensed${TASK.encoder ? `: ${TASK.encoder}` : ""}`);
    text(panel["$pits-name"], "State");
  }
  const indices = Array.from({ length: H }, (_, j) => String(j));
  const hidden = fill("hidden", indices, indices.map((j) => `hidden neuron ${j}`));
  hidden.toggle("many", H > 40);
  hidden.toggle("graded", GRADED && !panel.recorded);
  panel.root.querySelector(".hidden h3").textContent = plural(H, `${GRADED ? "sigmoid " : ""}hidden neuron`);
  fill("outputs", ACTIONS, ACTIONS.map((name) => `output ${name}`));
}

/** Whether all panels show the episode that they should. */
export const shown = () => panels.every((panel) => panel.result?.episode.number === state.episode);

/** The last step of the episode shown, of the learner that took more. */
export const lastStep = () => Math.max(...panels.map((panel) => panel.result?.episode.steps ?? 0));

/** Let a panel show an episode, and find out what it needs to know beyond its steps. */
export function display(panel, result) {
  const { episode, update } = (panel.result = result);
  panel.pitsAt = new Int32Array(episode.steps + 1);
  for (let t = 1; t <= episode.steps && !TASK; t++) {
    const entered = episode.cells[t] !== episode.cells[t - 1] && panel.replay.mazeIn(episode.number).pit[episode.cells[t]];
    panel.pitsAt[t] = panel.pitsAt[t - 1] + (entered ? 1 : 0);
  }
  panel.dirty = true;
  if (!panel.recorded) panel.change = panel.kind.change(panel, episode, update);
}

/** Draw all panels, or say that they wait. */
export function renderPanels() {
  const there = shown();
  if (there) state.step = Math.min(Math.max(state.step, 0), lastStep());
  for (const panel of panels) {
    panel.$waiting.hidden = there;
    if (there) renderPanel(panel);
  }
}

function renderPanel(panel) {
  const { episode, update } = panel.result;
  const step = Math.min(state.step, episode.steps), at = episode.number, above = episode.ep - panel.best[at];
  if (MOVES) remark(panel.$phase, phases.goal(at), ` phase ${grouped(phases.of(at) + 1)} / ${grouped(phases.goals.length)}`);
  remark(panel.$ep, grouped(episode.ep), above ? ` +${grouped(above)}` : panel.bestAt[at] === at ? " best" : " = best");
  panel.$ep.title = above ? `${grouped(above)} above the best so far` : "";
  remark(panel.$best, grouped(panel.best[at]), ` ep. ${grouped(panel.bestAt[at] + 1)}`);
  remark(panel.$step, grouped(step), ` / ${grouped(episode.steps)}`);
  if (TASK) remark(panel.$pits, String(episode.states[step]), ` of ${grouped(TASK.states)}`);
  else remark(panel.$pits, grouped(panel.pitsAt[step]), ` / ${grouped(episode.pits)}`);
  text(panel.$action, step ? ACTIONS[episode.actions[step - 1]] : "start");
  renderNeurons(panel, episode, step);
  drawWalk(panel, episode, step);
  if (panel.dirty) {
    panel.dirty = false;
    text(panel.$outcome, TASK ? tableOutcome(episode) : mazeOutcome(panel.replay, episode));
    panel.kind.render(panel, episode, update);
  }
  if (panel.recorded) return drawActivity(panel, episode, step);
  drawMatrix(panel, episode, step);
  return renderReadout(panel);
}

function mazeOutcome({ settings, mazeIn }, episode) {
  const pits = episode.pits ? ` + 5 × ${plural(episode.pits, "pit entry", "pit entries")}` : "", ep = `${pits} = EP ${grouped(episode.ep)}`;
  if (episode.reached) return `Ends at the goal: ${plural(episode.steps, "step")}${ep}`;
  const left = mazeIn(episode.number).distance[episode.cells[episode.steps]];
  return `Ends short of the goal: ${plural(settings.steps, "step")} + distance ${grouped(left)}${ep}`;
}

function tableOutcome(episode) {
  const end = `Ends in state ${episode.states[episode.steps]} after ${plural(episode.steps, "step")}: EP ${grouped(episode.ep)}`;
  if (episode.reached === null) return `${end}. The task has no target.`;
  return `${end}. Goal ${episode.reached ? "" : "not "}reached: the target is ${grouped(TASK.target)} or less.`;
}

function renderNeurons(panel, episode, step) {
  for (const layer of ["inputs", "hidden", "outputs"]) {
    panel[`${layer}Cells`].forEach((cell, i) => cell.classList.toggle("on", step > 0 && !!episode[layer][step - 1][i]));
  }
  if (episode.activity) panel.hiddenCells.forEach((cell, j) => {
    const level = step ? episode.activity[step - 1][j] : 0;
    cell.style.setProperty("--level", `${100 * level}%`);
    cell.title = `hidden neuron ${j}: ${level.toFixed(3)}`;
  });
  panel.outputsCells.forEach((cell, k) => cell.classList.toggle("taken", step > 0 && episode.actions[step - 1] === k));
}
