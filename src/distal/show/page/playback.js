/* Which episode and step are shown: computing them in slices, going to them, and playing them. */
import { complain, find, grouped, plural, remark, text } from "./elements.js";
import { renderUsage } from "./kinds.js";
import { computed, display, lastStep, panels, shown } from "./panels.js";
import { EPISODES, phases, render, set, SPEEDS, state } from "./trial.js";

const SLICE = 10; // milliseconds of computing before the page may breathe
const USAGE_PAUSE = 200; // milliseconds between two looks at how often rows have been used
const END_PAUSE = 700; // milliseconds at the end of an episode, at most

let timer = 0, usageDue = 0; // when to look again at how often rows have been used
let settle, settleChecked;
export const ready = new Promise((resolve) => (settle = resolve)); // something is shown for the first time
export const checked = new Promise((resolve) => (settleChecked = resolve)); // all is compared with the engine

/** Go on with one panel until it shows the episode or time is up; say whether it does. */
function advance(panel, until) {
  if (panel.result && panel.result.episode.number === state.episode) return true;
  if (panel.job?.number !== state.episode) panel.job = { number: state.episode, run: null };
  do {
    if (!panel.replay.within(state.episode)) panel.check.next();
    else {
      panel.job.run ??= panel.replay.episode(state.episode);
      const { done, value } = panel.job.run.next();
      if (done) {
        panel.job = null;
        display(panel, value);
        return true;
      }
    }
  } while (performance.now() < until);
  return false;
}

/** Compute for a slice: first what should be seen, then the comparison with the engine. */
function work() {
  timer = 0;
  const until = performance.now() + SLICE, was = shown();
  const all = panels.map((panel) => advance(panel, until)).every(Boolean);
  if (all && !was) render();
  while (all && performance.now() < until) {
    const next = computed.filter((panel) => panel.replay.checked < EPISODES).sort((a, b) => a.replay.checked - b.replay.checked)[0];
    if (!next) break;
    next.check.next();
  }
  renderMatch();
  const compared = computed.every((panel) => panel.replay.checked === EPISODES);
  if (all && (compared || performance.now() > usageDue)) {
    usageDue = performance.now() + USAGE_PAUSE;
    panels.filter((panel) => panel.rows).forEach(renderUsage);
  }
  if (!shown() || !compared) later();
  else settleChecked(true);
}

/** Go on computing when the page has breathed. */
export function later() {
  if (!timer) timer = setTimeout(work, 0);
}

/** Settle `ready` when something is shown. */
export function announce() {
  if (shown()) settle(true);
}

let alerted = 0;

/** Say how far the comparison with the engine has come, and complain where an EP is another. */
function renderMatch() {
  const match = find("match"), all = EPISODES * computed.length;
  if (!computed.length) return text(match, `recorded: ${plural(EPISODES, "episode")} as the engine ran ${EPISODES === 1 ? "it" : "them"}`);
  const done = computed.reduce((sum, panel) => sum + panel.replay.checked, 0);
  const differing = computed.reduce((sum, panel) => sum + panel.replay.differences.length, 0);
  const beside = panels.filter((panel) => panel.recorded).map((panel) => ` · ${panel.learner.name} is recorded`).join("");
  const whose = beside && ` of ${computed[0].learner.name}`, of = `${grouped(done)} of ${grouped(all)} episodes${whose} match the engine`;
  if (differing) remark(match, `✗ ${plural(differing, "episode")} of ${grouped(done)}${whose} differ${differing === 1 ? "s" : ""} from the engine`, beside);
  else remark(match, done < all ? `${of} …` : `✓ ${of}`, beside);
  match.className = differing ? "bad" : done === all ? "good" : "";
  if (differing <= alerted) return undefined;
  alerted = differing;
  const { learner, replay } = computed.find((panel) => panel.replay.differences.length);
  const { number, ep, engine } = replay.differences[0];
  const further = differing > 1 ? `; ${plural(differing - 1, "further episode")} differ${differing === 2 ? "s" : ""}` : "";
  return complain(`Episode ${grouped(number + 1)} of ${learner.name}: this page computes EP ${ep}, the engine computed ${engine}${further}. Do not rely on what is shown here.`);
}

/** Show an episode (from 0) at a step; without a step, at its end. */
export function go(episode, step = Infinity, jumped = true) {
  Object.assign(state, { episode: Math.min(Math.max(Math.round(episode), 0), EPISODES - 1), step, jumped });
  const until = performance.now() + SLICE;
  for (const panel of panels) advance(panel, until);
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
  const over = state.step >= lastStep(), final = state.episode === EPISODES - 1;
  if (final && over && !state.jumped) go(0, state.learning ? Infinity : 0, false);
  else if (over && state.jumped && !state.learning) go(state.episode, 0, false);
  else if (final && over) go(0, Infinity, false);
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

/** Show what is due in this frame: whole episodes, or steps with a pause at the end of each episode. */
function tick(now) {
  frame = 0;
  if (!state.playing) return;
  const elapsed = Math.min(Math.max(now - lastTime, 0), 250), speed = SPEEDS[state.speed];
  lastTime = now;
  if (shown()) {
    const onward = (by, step) => (state.episode === EPISODES - 1 ? pause() : go(state.episode + by, step, false));
    owed += (elapsed / 1000) * speed;
    const whole = Math.floor(owed), ended = !state.learning && state.step >= lastStep();
    if (ended) {
      owed = 0;
      held += elapsed;
      if (held >= Math.min(END_PAUSE, 20000 / speed)) {
        held = 0;
        onward(1, 0);
      }
    } else if (whole > 0) {
      owed -= whole;
      if (state.learning) onward(whole, Infinity);
      else go(state.episode, state.step + whole, false);
    }
  }
  if (state.playing) frame = requestAnimationFrame(tick);
}

/** Play whole episodes, or steps. */
export function toggleLearning() {
  owed = held = 0;
  set({ learning: !state.learning });
}

export const changeSpeed = (by) => set({ speed: Math.min(Math.max(state.speed + by, 0), SPEEDS.length - 1) });
