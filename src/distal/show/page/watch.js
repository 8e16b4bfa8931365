/* The page of a trial: each file beside this one holds one idea of it, and they are joined when a page
 * is written. What happened in the trial comes from replay.js, or from recording.js where the page has
 * no code for a learner, or for a task: it computes mazes alone. */
import { followAddress, goToAddress } from "./address.js";
import { readPalette } from "./canvas.js";
import { announce, checked, later, ready } from "./computing.js";
import { connect, renderControls } from "./controls.js";
import { renderCurve } from "./curve.js";
import { complain } from "./elements.js";
import { describe } from "./heading.js";
import { computed, panels, renderPanels, shown } from "./panels.js";
import { go, pause, play } from "./playback.js";
import { drawnBy, SPEEDS, state } from "./state.js";
import { ACTIONS, phases } from "./trial.js";

drawnBy(renderPanels);
drawnBy(announce);
drawnBy(renderControls);
drawnBy(renderCurve);
drawnBy(followAddress);

function begin() {
  connect();
  readPalette();
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
    panels: panels.map((panel) => panel.result && {
      ep: panel.result.episode.ep,
      steps: panel.result.episode.steps,
      pits: panel.result.episode.pits ?? null,
      states: panel.result.episode.states ?? null,
      cells: panel.result.episode.cells ?? null,
      actions: panel.result.episode.actions.map((action) => ACTIONS[action]),
      reached: panel.result.episode.reached,
      best: panel.best[panel.result.episode.number],
      m: panel.result.update.m ?? null,
      accepted: panel.result.update.accepted ?? null,
    }),
  }),
};
