/* One panel for each learner: its numbers, walk, neurons and weights, or its activity. */
import { drawActivity } from "./activity.js";
import { drawStates } from "./boxes.js";
import { find, grouped, html, make, plural, subscripted, text } from "./elements.js";
import { drawGrid } from "./grid.js";
import { KINDS, MOST_NUMBERS, numbersOf, RECORDED, roleOf } from "./kinds.js";
import { drawMatrix } from "./matrix.js";
import { Recording } from "./recording.js";
import { Replay } from "./replay.js";
import { state } from "./state.js";
import { renderReadout } from "./synapse.js";
import { ACTIONS, data, EPISODES, GRADED, H, HAS_GRID, MOVES, phases, SENSES, TASK } from "./trial.js";

export const panels = data.learners.map((learner, index) => {
  const root = find("panel").content.firstElementChild.cloneNode(true);
  const recorded = Boolean(learner.recording), role = roleOf(learner);
  const panel = {
    index, learner, root, recorded,
    kind: recorded ? RECORDED : KINDS[learner.kind],
    // The colour of its kind; where both have the same, the second has a lighter one.
    colour: index && role === roleOf(data.learners[0]) ? `${role}-resampled` : role,
    replay: recorded ? new Recording(data, learner) : new Replay(data, learner, learner.eps),
    best: new Int32Array(EPISODES), // the best EP so far in the phase, and the episode that had it first
    bestAt: new Int32Array(EPISODES),
    result: null, // what is shown: {episode, update, fresh}
    layout: null,
  };
  learner.eps.forEach((ep, n) => {
    const better = n % phases.every === 0 || ep < panel.best[n - 1];
    panel.best[n] = better ? ep : panel.best[n - 1];
    panel.bestAt[n] = better ? n : panel.bestAt[n - 1];
  });
  panel.check = recorded ? null : panel.replay.check();
  for (const name of ["phase", "ep", "best", "best-name", "signal", "signal-name", "step", "pits", "pits-name", "senses-name", "action", "maze", "outcome", "matrix", "matrix-title", "low", "high", "readout", "learner", "waiting"]) {
    panel[`$${name}`] = root.querySelector(`.${name}`);
  }
  root.style.setProperty("--mine", `var(--${panel.colour})`);
  root.style.setProperty("--on-mine", `var(--on-${panel.colour})`);
  root.setAttribute("aria-label", learner.name);
  root.querySelector(".name").textContent = learner.name;
  const numbers = numbersOf(learner), told = recorded ? numbers.slice(0, MOST_NUMBERS.heading) : numbers;
  root.querySelector(".numbers").replaceChildren(...told.map(([, symbol, value]) => {
    const item = make("span");
    item.append(...subscripted(symbol), ` ${+value.toPrecision(4)}`);
    return item;
  }));
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
    panel[`${layer}Cells`] = names.map((name, i) => {
      const cell = make("span", "", name);
      cell.title = titles[i];
      cells.append(cell);
      return cell;
    });
    return cells;
  };
  const senses = TASK ? SENSES.slice(0, -1).map((bit) => `bit ${bit} of the observation`) : ["wall to the left", "wall in front", "wall to the right"];
  fill("inputs", SENSES, [...senses, "the bias is always active"]).classList.toggle("many", SENSES.length > 16);
  if (TASK) {
    panel.root.querySelector(".neurons").classList.add("of-table");
    text(panel["$senses-name"], `${plural(TASK.bits, "bit")} sensed${TASK.encoder ? `: ${TASK.encoder}` : ""}`);
    text(panel["$pits-name"], "State");
  }
  const indices = Array.from({ length: H }, (_, j) => j);
  const cells = fill("hidden", indices.map(String), indices.map((j) => `hidden neuron ${j}`));
  cells.classList.toggle("many", H > 40);
  cells.classList.toggle("graded", GRADED && !panel.recorded);
  panel.root.querySelector(".hidden h3").textContent = plural(H, `${GRADED ? "sigmoid " : ""}hidden neuron`);
  fill("outputs", ACTIONS, ACTIONS.map((name) => `output ${name}`));
}

/** Whether all panels show the episode that they should. */
export function shown() {
  return panels.every((panel) => panel.result && panel.result.episode.number === state.episode);
}

/** The last step of the episode shown, of the learner that took more. */
export const lastStep = () => Math.max(...panels.map((panel) => (panel.result ? panel.result.episode.steps : 0)));

/** What the panels need to know of an episode beyond its steps. */
export function summarise(panel) {
  const { episode, update } = panel.result;
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
  const step = Math.min(state.step, episode.steps);
  const at = episode.number, above = episode.ep - panel.best[at];
  if (MOVES) html(panel.$phase, phases.goal(at), ` phase ${grouped(phases.of(at) + 1)} / ${grouped(phases.goals.length)}`);
  html(panel.$ep, grouped(episode.ep), above ? ` +${grouped(above)}` : panel.bestAt[at] === at ? " best" : " = best");
  panel.$ep.title = above ? `${grouped(above)} above the best so far` : "";
  html(panel.$best, grouped(panel.best[at]), ` ep. ${grouped(panel.bestAt[at] + 1)}`);
  html(panel.$step, grouped(step), ` / ${grouped(episode.steps)}`);
  if (TASK) html(panel.$pits, String(episode.states[step]), ` of ${grouped(TASK.states)}`);
  else html(panel.$pits, grouped(panel.pitsAt[step]), ` / ${grouped(episode.pits)}`);
  text(panel.$action, step ? ACTIONS[episode.actions[step - 1]] : "start");
  renderNeurons(panel, episode, step);
  if (HAS_GRID) drawGrid(panel, episode, step);
  else drawStates(panel, episode, step);
  if (panel.dirty) {
    panel.dirty = false;
    panel.image = null;
    text(panel.$outcome, TASK ? tableOutcome(episode) : mazeOutcome(panel.replay, episode));
    panel.kind.render(panel, episode, update);
  }
  if (panel.recorded) return drawActivity(panel, episode, step);
  drawMatrix(panel, episode, step);
  return renderReadout(panel);
}

function mazeOutcome({ settings, mazeIn }, episode) {
  const pits = episode.pits ? ` + 5 × ${plural(episode.pits, "pit entry", "pit entries")}` : "";
  const last = mazeIn(episode.number).distance[episode.cells[episode.steps]];
  return episode.reached
    ? `Ends at the goal: ${plural(episode.steps, "step")}${pits} = EP ${grouped(episode.ep)}`
    : `Ends short of the goal: ${plural(settings.steps, "step")} + distance ${grouped(last)}${pits} = EP ${grouped(episode.ep)}`;
}

function tableOutcome(episode) {
  const end = `Ends in state ${episode.states[episode.steps]} after ${plural(episode.steps, "step")}: EP ${grouped(episode.ep)}`;
  if (episode.reached === null) return `${end}. The task has no target.`;
  return `${end}. Goal ${episode.reached ? "" : "not "}reached: the target is ${grouped(TASK.target)} or less.`;
}

function renderNeurons(panel, episode, step) {
  const light = (cells, active) => cells.forEach((cell, i) => cell.classList.toggle("on", !!(active && active[i])));
  light(panel.inputsCells, step ? episode.inputs[step - 1] : null);
  light(panel.hiddenCells, step ? episode.hidden[step - 1] : null);
  if (episode.activity) panel.hiddenCells.forEach((cell, j) => {
    const level = step ? episode.activity[step - 1][j] : 0;
    cell.style.setProperty("--level", `${100 * level}%`);
    cell.title = `hidden neuron ${j}: ${level.toFixed(3)}`;
  });
  light(panel.outputsCells, step ? episode.outputs[step - 1] : null);
  panel.outputsCells.forEach((cell, k) => cell.classList.toggle("taken", step > 0 && episode.actions[step - 1] === k));
}
