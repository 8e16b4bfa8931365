/* The page computes in slices, and says how far its comparison with the engine has come. */
import { complain, find, grouped, html, plural, text } from "./elements.js";
import { computed, panels, shown, summarise } from "./panels.js";
import { renderUsage } from "./rule.js";
import { render, state } from "./state.js";
import { EPISODES } from "./trial.js";

export const SLICE = 10; // milliseconds of computing before the page may breathe
const USAGE_PAUSE = 200; // milliseconds between two looks at how often rows have been used

let timer = 0;
let usageDue = 0; // when to look again at how often rows have been used
let settle; // resolves `ready`
let settleChecked;
export const ready = new Promise((resolve) => (settle = resolve));
export const checked = new Promise((resolve) => (settleChecked = resolve));

/** Go on with one panel until it shows the episode or time is up; say whether it does. */
export function advance(panel, until) {
  if (panel.result && panel.result.episode.number === state.episode) return true;
  if (!panel.job || panel.job.number !== state.episode) panel.job = { number: state.episode, run: null };
  do {
    if (!panel.replay.within(state.episode)) panel.check.next();
    else {
      panel.job.run ??= panel.replay.episode(state.episode);
      const { done, value } = panel.job.run.next();
      if (done) {
        panel.result = value;
        panel.job = null;
        summarise(panel);
        return true;
      }
    }
  } while (performance.now() < until);
  return false;
}

/** Compute for a slice: first what should be seen, then the comparison with the engine. */
function work() {
  timer = 0;
  const until = performance.now() + SLICE;
  const was = shown();
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

/** Settle `ready` when something is shown for the first time. */
export function announce() {
  if (shown()) settle(true);
}

let alerted = 0;

function renderMatch() {
  const done = computed.reduce((sum, panel) => sum + panel.replay.checked, 0);
  const differing = computed.reduce((sum, panel) => sum + panel.replay.differences.length, 0);
  const all = EPISODES * computed.length;
  const match = find("match");
  if (!computed.length) return text(match, `recorded: ${plural(EPISODES, "episode")} as the engine ran ${EPISODES === 1 ? "it" : "them"}`);
  const beside = panels.filter((panel) => panel.recorded).map((panel) => ` · ${panel.learner.name} is recorded`).join("");
  const whose = beside && ` of ${computed[0].learner.name}`;
  if (differing) html(match, `✗ ${plural(differing, "episode")} of ${grouped(done)}${whose} differ${differing === 1 ? "s" : ""} from the engine`, beside);
  else if (done < all) html(match, `${grouped(done)} of ${grouped(all)} episodes${whose} match the engine …`, beside);
  else html(match, `✓ ${grouped(done)} of ${grouped(all)} episodes${whose} match the engine`, beside);
  match.className = differing ? "bad" : done === all ? "good" : "";
  if (differing > alerted) {
    alerted = differing;
    const panel = computed.find((one) => one.replay.differences.length);
    const { number, ep, engine } = panel.replay.differences[0];
    complain(`Episode ${grouped(number + 1)} of ${panel.learner.name}: this page computes EP ${ep}, the engine computed ${engine}` +
      `${differing > 1 ? `; ${plural(differing - 1, "further episode")} differ${differing === 2 ? "s" : ""}` : ""}. Do not rely on what is shown here.`);
  }
  return undefined;
}
