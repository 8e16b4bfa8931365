/* The page of a trial: what it says of the trial as a whole, and how it begins. */
import { followAddress, goToAddress } from "./address.js";
import { connect, renderControls } from "./controls.js";
import { renderCurve } from "./curve.js";
import { complain, find, grouped, make, plural, text } from "./elements.js";
import { computed, panels, renderPanels, shown } from "./panels.js";
import { announce, checked, go, later, pause, play, ready } from "./playback.js";
import { ACTIONS, data, drawnBy, EPISODES, GRADED, H, MOVES, phases, SPEEDS, state, TASK } from "./trial.js";

/** Write everything that stays as it is: title, subtitle, legend and help. */
function describe() {
  find("panels").classList.toggle("two", panels.length > 1);
  document.body.classList.toggle("one", panels.length === 1);
  text(find("title"), data.title);
  text(find("subtitle"), subtitle().join(" · "));
  if (panels.length === 1) { // one panel needs no name of its own
    find("title").after(panels[0].root.querySelector(".numbers"));
    panels[0].root.querySelector("h2").remove();
  }
  if (TASK) describeTask();
  find("ties").hidden = data.settings.m_ties !== "punish";
  find("help-moves").hidden = !MOVES;
  find("help-graded").hidden = !GRADED || !computed.length;
  find("help-activity").hidden = computed.length === panels.length;
  find("help-synapse").hidden = find("help-names").hidden = !computed.length;
  find("help-other").hidden = !panels.some((panel) => panel.colour.startsWith("other"));
  if (!computed.length) text(find("source"), "This is a recording: the reference engine ran the trial, and the page plays it back.");
  else if (computed.length < panels.length) {
    const recorded = panels.find((panel) => panel.recorded).learner.name;
    text(find("source"), `${recorded} is a recording: the reference engine ran its trial, and the page plays it back. The page recomputes the trial of ${computed[0].learner.name} exactly, and compares every EP with the engine's.`);
  }
  fillLegend();
}

function subtitle() {
  const { settings, resample, defaults } = data;
  const parts = [plural(EPISODES, "episode"), `seed ${data.evaluation_seed}`, plural(H, `${GRADED ? "sigmoid " : ""}hidden neuron`), plural(settings.steps, "step")];
  if (MOVES) parts.push(`the goal moves every ${phases.every === 1 ? "episode" : plural(phases.every, "episode")}`);
  if (TASK) parts.push(plural(TASK.states, "state"), `${plural(TASK.bits, "bit")} sensed${TASK.encoder ? ` (${TASK.encoder})` : ""}`);
  // What a recorded learner makes of resampling is its own affair.
  if (resample !== null && computed.some((panel) => panel.learner.kind !== "chance")) parts.push(`fresh weights every ${grouped(resample)} episodes`);
  else if (resample !== null && computed.length < panels.length) parts.push(`resample ${grouped(resample)}`);
  const readings = Object.keys(defaults).filter((name) => settings[name] !== defaults[name]);
  return [...parts, ...readings.map((name) => `${name} ${settings[name]}`)];
}

/** What the help says of a task that is no maze. */
function describeTask() {
  text(find("help-task"), `A network acts in ${TASK.name}, one episode after another. Its weights do not change during an episode. Only at the end of an episode does it get a signal about the outcome.`);
  const reached = TASK.target === null ? "" : ` The goal counts as reached at an EP of ${grouped(TASK.target)} or less.`;
  text(find("help-ep"), `It is the cost of all steps of an episode: minus the return of an environment.${reached}`);
  find("help-states").hidden = Boolean(TASK.picture);
  find("help-grid").hidden = !TASK.picture;
  text(find("help-grid-name"), "Grid");
  text(find("help-agent"), "a disc, or a triangle if it has a heading; a small disc is an object that it fetches or carries");
}

/** Name every line of the curve. */
function fillLegend() {
  const entry = (colour, style, content) => {
    const item = make("span"), swatch = make("i");
    swatch.style.borderTop = `${style} var(--${colour})`;
    item.append(swatch, content);
    find("legend").append(item);
  };
  for (const panel of panels) entry(panel.colour, "3px solid", `${panel.learner.name}: best so far`);
  entry("chance", "2px dotted", `chance: best so far, mean of ${data.chance.trials} trials`);
  if (!TASK) entry("goal", "2px dashed", "shortest path");
  else if (TASK.target !== null) entry("goal", "2px dashed", `target: ${grouped(TASK.target)}`);
  find("legend").append(make("div", "", `dots: EP of each episode; here: ● EP, ○ best so far${MOVES ? "; vertical: the goal moves, the best starts again" : ""}`));
}

drawnBy(renderPanels, announce, renderControls, renderCurve, followAddress);

function begin() {
  connect();
  describe();
  // Of the event, not of the window: what was shown may have been written over it since.
  window.addEventListener("hashchange", (event) => goToAddress(new URL(event.newURL).hash));
  if (!goToAddress(location.hash)) go(0, 0, false);
  later();
}

if (computed.length === panels.length) begin();
else {
  const loads = panels.filter((panel) => panel.recorded).map((panel) => panel.replay.load());
  // In a task of its own, so that an error in it is one of the window, and told.
  Promise.all(loads).then(() => setTimeout(begin, 0), (error) => complain(`The recording cannot be unpacked here: ${error.message}`));
}

/** What a panel shows, in plain values. */
function plainly({ best, result: { episode, update } }) {
  return {
    ep: episode.ep, steps: episode.steps, pits: episode.pits ?? null, states: episode.states ?? null, cells: episode.cells ?? null,
    actions: episode.actions.map((action) => ACTIONS[action]), reached: episode.reached, best: best[episode.number],
    m: update.m ?? null, accepted: update.accepted ?? null,
  };
}

window.distal = {
  ready, // resolves when the first episode is shown
  checked, // resolves when every episode has been compared with the engine
  /** Show an episode, from 1, at a step, from 0; at its end without one. */
  goto: (episode, step) => go(episode - 1, step),
  play,
  pause,
  /** What is shown, in plain values. */
  state: () => ({
    ...state,
    episode: state.episode + 1,
    phase: phases.of(state.episode) + 1,
    goal: phases.goal(state.episode),
    speed: SPEEDS[state.speed],
    shown: shown(),
    theme: document.documentElement.dataset.theme,
    recorded: panels.map((panel) => panel.recorded),
    checked: computed.map((panel) => panel.replay.checked),
    differences: computed.map((panel) => panel.replay.differences),
    panels: panels.map((panel) => panel.result && plainly(panel)),
  }),
};
