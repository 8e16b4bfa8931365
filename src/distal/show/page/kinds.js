/* How each kind of learner fills its part of a panel. */
import { grouped, make, plural, subscripted, text } from "./elements.js";
import { rowCounts } from "./learners.js";
import { buildRule, renderRule, renderUsage, ruleTables } from "./rule.js";
import { H, MOVES, phases, TASK } from "./trial.js";

const SCALES = [["recurrent", "α_h", "alpha_h"], ["feedback", "α_o", "alpha_o"]];
// How each kind of learner that the page computes fills its part of a panel, and the change that the matrix shows.
export const KINDS = {
  dsp: { numbers: [["", "η", "eta"], ["", "θ", "theta"]], build: buildRule, render: renderRule, change: changeByRule },
  hc: { numbers: [["noise", "σ", "sigma"]], build: buildClimber, render: renderClimber, change: addedNoise },
  chance: { numbers: [], build: buildChance, render: renderChance, change: () => null },
};
export const RECORDED = { build: buildRecorded, render: renderRecorded }; // and any kind that is recorded
export const MOST_NUMBERS = { heading: 5, list: 9 }; // of a recorded learner; it may have hundreds

export const roleOf = (learner) => (Object.hasOwn(KINDS, learner.kind) ? learner.kind : "other"); // the name of its colour

/** What a learner's numbers are called, and the numbers: [in words, symbol, value] each. */
export function numbersOf(learner) {
  if (!learner.recording) return [...KINDS[learner.kind].numbers, ...SCALES].map(([name, symbol, key]) => [name, symbol, learner[key]]);
  return Object.entries(learner.numbers).map(([key, value]) => {
    const known = [...(KINDS[learner.kind]?.numbers ?? []), ...SCALES].find((one) => one[2] === key);
    return known ? [known[0], known[1], value] : ["", key, value];
  });
}

const difference = (to, from) => ({
  hidden: to.hidden.map((w, at) => w - from.hidden[at]),
  output: to.output.map((w, at) => w - from.output[at]),
});

function changeByRule(panel, { weights }, update) {
  panel.selected = rowCounts(update.rows, H);
  return difference(update.after, weights);
}

function addedNoise(panel, { weights }, update) {
  return difference(weights, update.best ? update.best.weights : weights);
}

/** Make a part of a heading, numbers and what follows them, a verdict and the reason for it. */
function buildVerdict(panel, heading, numbers, signal, ...more) {
  panel.$verdict = make("span", "verdict");
  panel.$why = make("p");
  panel.$learner.append(make("h3", "", heading), parameters(numbers), ...more, panel.$verdict, panel.$why);
  panel["$signal-name"].textContent = signal;
}

function buildClimber(panel) {
  buildVerdict(panel, "Hill climbing", numbersOf(panel.learner), "Climb");
}

function buildChance(panel) {
  buildVerdict(panel, "Chance", numbersOf(panel.learner), "Weights");
  text(panel.$signal, "fresh");
  panel.root.querySelector(".segmented").remove(); // nothing changes the weights
}

/** Whatever it is: its numbers, and that it is recorded. Activity takes the place of the matrix. */
function buildRecorded(panel) {
  const { learner, root } = panel, section = panel.$learner, numbers = numbersOf(learner);
  const more = numbers.length > MOST_NUMBERS.list ? [make("p", "key", `and ${plural(numbers.length - MOST_NUMBERS.list, "more number")}`)] : [];
  buildVerdict(panel, learner.label[0].toUpperCase() + learner.label.slice(1), numbers.slice(0, MOST_NUMBERS.list), "EP before", ...more);
  section.append(make("p", "key", `Recorded: this page ${TASK ? "computes mazes alone" : `has no code for learners of kind ${learner.kind}`}, so it plays what the engine recorded. A recording holds no weights.`));
  if (learner.usage) section.append(make("h3", "", "Rows used in the whole trial"), ruleTables(panel, ["used"]), make("p", "key", "Bits: (pre, post) was 00, 01, 10, 11 in a share of the steps above θ. Used: how often synapses selected the row, as the engine counted; point at a row for the number."));
  root.classList.add("recorded");
  root.querySelector(".segmented").remove();
  root.querySelector(".scale").remove();
  panel.$readout.remove();
  panel.$matrix.removeAttribute("tabindex");
  text(panel.$waiting, "waiting …");
}

function parameters(numbers) {
  const list = make("dl", "parameters");
  for (const [name, symbol, value] of numbers) {
    const box = make("div"), term = make("dt", "", name ? `${name} ` : "");
    term.append(...subscripted(symbol));
    term.title = term.textContent;
    box.append(term, make("dd", "", String(+value.toPrecision(4))));
    list.append(box);
  }
  return list;
}

function renderClimber(panel, episode, update) {
  const word = update.anew ? "anew" : update.accepted ? "accepted" : "rejected";
  text(panel.$signal, word);
  panel.$signal.className = `signal ${update.accepted ? "up" : "down"}`;
  text(panel.$verdict, update.anew ? "measured anew" : update.accepted ? "accepted as the new best" : "rejected");
  panel.$verdict.className = `verdict ${update.accepted ? "up" : "down"}`;
  if (update.best === null) text(panel.$why, "Fresh weights: the climb begins with them.");
  else if (update.anew) {
    text(panel.$why, `The goal has moved: the weights of episode ${grouped(update.best.number + 1)} (EP ${grouped(update.best.ep)}) run as they are. ` +
      `The climb goes on from their new EP, ${grouped(episode.ep)}.`);
  } else {
    text(panel.$why, `Tried: the weights of episode ${grouped(update.best.number + 1)} (EP ${grouped(update.best.ep)}) plus noise. ` +
      `EP ${grouped(episode.ep)} is ${update.accepted ? "lower, so these weights are the new best." : "not lower, so the next episode starts from the same weights again."}`);
  }
}

/** Say whether an episode is the first of the best so far; return that. */
function renderBest(panel, at) {
  const better = panel.bestAt[at] === at;
  text(panel.$verdict, better ? "the best so far" : "not the best so far");
  panel.$verdict.className = `verdict ${better ? "up" : "down"}`;
  return better;
}

function renderChance(panel, episode) {
  const at = episode.number, better = renderBest(panel, at);
  const next = "Nothing is learned: the next episode has fresh random weights again.";
  text(panel.$why, better
    ? next
    : `Episode ${grouped(panel.bestAt[at] + 1)} had EP ${grouped(panel.best[at])}. ${next}`);
}

function renderRecorded(panel, episode) {
  const at = episode.number, better = renderBest(panel, at);
  text(panel.$signal, at ? grouped(panel.learner.eps[at - 1]) : "none");
  const best = `Episode ${grouped(panel.bestAt[at] + 1)} had EP ${grouped(panel.best[at])}`;
  if (panel.rows) renderUsage(panel);
  const first = at % phases.every === 0, where = MOVES ? " in this phase" : "";
  if (better) text(panel.$why, first ? `It is the first${where}.` : `No episode before it${where} had an EP as low.`);
  else text(panel.$why, episode.ep === panel.best[at] ? `${best} already.` : `${best}.`);
}
