/* Going from step to step and from episode to episode, and playing. */
import { advance, later, SLICE } from "./computing.js";
import { lastStep, panels, shown } from "./panels.js";
import { render, set, SPEEDS, state } from "./state.js";
import { EPISODES, phases } from "./trial.js";

const END_PAUSE = 700; // milliseconds at the end of an episode, at most

/** Show an episode (from 0) at a step; without a step, at its end. */
export function go(episode, step = Infinity, jumped = true) {
  state.episode = Math.min(Math.max(Math.round(episode), 0), EPISODES - 1);
  state.step = step;
  state.jumped = jumped;
  const until = performance.now() + SLICE;
  panels.map((panel) => advance(panel, until));
  if (!shown()) later();
  render();
}

/** Show an episode: from its start while it is played step by step, else at its end. */
export const jump = (episode) => go(episode, state.playing && !state.learning ? 0 : Infinity);

/** Go some steps on or back, and beyond an end into the next episode or the one before. */
export function stepBy(by) {
  pause();
  if (!shown()) return;
  if (by > 0 && state.step >= lastStep()) {
    if (state.episode < EPISODES - 1) go(state.episode + 1, 0, false);
  } else if (by < 0 && state.step <= 0) {
    if (state.episode > 0) go(state.episode - 1, Infinity, false);
  } else go(state.episode, state.step + by, false);
}

/** Jump to the best episode; where the goal moves, of the phase shown. */
export function jumpToBest() {
  const last = Math.min((phases.of(state.episode) + 1) * phases.every, EPISODES) - 1;
  const best = panels.map((panel) => ({ ep: panel.best[last], at: panel.bestAt[last] }));
  best.sort((a, b) => a.ep - b.ep || a.at - b.at);
  // In a comparison, a second press goes to the other learner's best.
  const here = best.findIndex(({ at }) => at === state.episode);
  jump(best[(here + 1) % best.length].at);
}

let frame = 0, lastTime = 0, owed = 0, held = 0;

export function play() {
  const over = state.step >= lastStep();
  if (state.episode === EPISODES - 1 && over && !state.jumped) go(0, state.learning ? Infinity : 0, false);
  else if (over && state.jumped && !state.learning) go(state.episode, 0, false);
  else if (over && state.jumped && state.episode === EPISODES - 1) go(0, Infinity, false);
  state.playing = true;
  lastTime = performance.now();
  owed = held = 0;
  frame = frame || requestAnimationFrame(tick);
  render();
}

export function pause() {
  if (!state.playing) return;
  state.playing = false;
  cancelAnimationFrame(frame);
  frame = 0;
  render();
}

function tick(now) {
  frame = 0;
  if (!state.playing) return;
  const elapsed = Math.min(Math.max(now - lastTime, 0), 250), speed = SPEEDS[state.speed];
  lastTime = now;
  if (shown()) {
    owed += (elapsed / 1000) * speed;
    const whole = Math.floor(owed);
    if (state.learning) {
      if (whole > 0) {
        owed -= whole;
        if (state.episode === EPISODES - 1) pause();
        else go(state.episode + whole, Infinity, false);
      }
    } else if (state.step >= lastStep()) {
      owed = 0;
      held += elapsed;
      if (held >= Math.min(END_PAUSE, 20000 / speed)) {
        held = 0;
        if (state.episode === EPISODES - 1) pause();
        else go(state.episode + 1, 0, false);
      }
    } else if (whole > 0) {
      owed -= whole;
      go(state.episode, state.step + whole, false);
    }
  }
  if (state.playing) frame = requestAnimationFrame(tick);
}

/** Play whole episodes, or steps. */
export const toggleLearning = () => {
  owed = held = 0;
  set({ learning: !state.learning });
};
export const changeSpeed = (by) => set({ speed: Math.min(Math.max(state.speed + by, 0), SPEEDS.length - 1) });
