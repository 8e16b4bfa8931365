/* How each kind of learner fills its part of a panel, and a rule's rows in it. */
import { grouped, make, plural, subscripted, tell, text } from "./elements.js";
import { rowCounts, ROWS } from "./learners.js";
import { OUTPUTS } from "./network.js";
import { COLUMNS, EPISODES, H, MOVES, phases, TASK } from "./trial.js";

const SCALES = [["recurrent", "α_h", "alpha_h"], ["feedback", "α_o", "alpha_o"]];
// What the page computes: its numbers; what makes and renders its part of a panel; the change that the matrix shows.
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
  const known = [...(KINDS[learner.kind]?.numbers ?? []), ...SCALES];
  if (!learner.recording) return known.map(([name, symbol, key]) => [name, symbol, learner[key]]);
  return Object.entries(learner.numbers).map(([key, value]) => {
    const [name, symbol] = known.find((one) => one[2] === key) ?? ["", key];
    return [name, symbol, value];
  });
}

const sign = (number) => (number > 0 ? "+1" : number < 0 ? "−1" : "0");

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

/** Write a word that is good or bad: in green or red. */
function judge(element, name, word, good) {
  text(element, word);
  element.className = `${name} ${good ? "up" : "down"}`;
}

/** Make a part of a heading, some numbers and what follows them, a verdict and the reason for it. */
function buildVerdict(panel, heading, numbers, signal, ...more) {
  const list = make("dl", "parameters");
  for (const [name, symbol, value] of numbers) {
    const box = make("div"), term = make("dt", "", name ? `${name} ` : "");
    term.append(...subscripted(symbol));
    term.title = term.textContent;
    box.append(term, make("dd", "", String(+value.toPrecision(4))));
    list.append(box);
  }
  panel.$verdict = make("span", "verdict");
  panel.$why = make("p");
  panel.$learner.append(make("h3", "", heading), list, ...more, panel.$verdict, panel.$why);
  panel["$signal-name"].textContent = signal;
}

function buildClimber(panel) {
  buildVerdict(panel, "Hill climbing", numbersOf(panel.learner), "Climb");
}

function renderClimber(panel, { ep }, { best, anew, accepted }) {
  judge(panel.$signal, "signal", anew ? "again" : accepted ? "accepted" : "rejected", accepted);
  judge(panel.$verdict, "verdict", anew ? "measured again" : accepted ? "accepted as the new best" : "rejected", accepted);
  if (best === null) return text(panel.$why, "Fresh weights: the climb begins with them.");
  const from = `the weights of episode ${grouped(best.number + 1)} (EP ${grouped(best.ep)})`;
  return text(panel.$why, anew
    ? `The goal has moved: ${from} run unchanged. The climb continues from their new EP, ${grouped(ep)}.`
    : `Tried: ${from} plus noise. EP ${grouped(ep)} is ${accepted ? "lower, so these weights are the new best." : "not lower, so the next episode starts from the same weights again."}`);
}

/** Say whether an episode is the first of the best so far; return that, and which one is. */
function renderBest(panel, at) {
  const better = panel.bestAt[at] === at;
  judge(panel.$verdict, "verdict", better ? "the best so far" : "not the best so far", better);
  return [better, `Episode ${grouped(panel.bestAt[at] + 1)} had EP ${grouped(panel.best[at])}`];
}

function buildChance(panel) {
  buildVerdict(panel, "Chance", numbersOf(panel.learner), "Weights");
  text(panel.$signal, "fresh");
  panel.root.querySelector(".segmented").remove(); // nothing changes the weights
}

function renderChance(panel, episode) {
  const [better, best] = renderBest(panel, episode.number);
  text(panel.$why, `${better ? "" : `${best}. `}Nothing is learned: the next episode has fresh random weights again.`);
}

/** Whatever it is: its numbers, and that it is recorded. Activity takes the place of the matrix. */
function buildRecorded(panel) {
  const { learner, root } = panel, numbers = numbersOf(learner), unseen = numbers.length - MOST_NUMBERS.list;
  const more = unseen > 0 ? [make("p", "key", `and ${plural(unseen, "more number")}`)] : [];
  buildVerdict(panel, learner.label[0].toUpperCase() + learner.label.slice(1), numbers.slice(0, MOST_NUMBERS.list), "EP before", ...more);
  panel.$learner.append(make("p", "key", `Recorded: this page ${TASK ? "computes only mazes" : `has no code for learners of kind ${learner.kind}`}, so it plays what the engine recorded. A recording holds no weights.`));
  if (learner.usage) panel.$learner.append(make("h3", "", "Rows used in the whole trial"), ruleTables(panel, ["used"]), make("p", "key", "Bits: (pre, post) was 00, 01, 10, 11 in a share of the steps above θ. Used: how often synapses selected the row, as the engine counted; point at a row for the number."));
  root.classList.add("recorded");
  for (const part of [".segmented", ".scale", ".readout"]) root.querySelector(part).remove();
  panel.$matrix.removeAttribute("tabindex");
  text(panel.$waiting, "waiting …");
}

function renderRecorded(panel, episode) {
  const at = episode.number, [better, best] = renderBest(panel, at), where = MOVES ? " in this phase" : "";
  text(panel.$signal, at ? grouped(panel.learner.eps[at - 1]) : "none");
  if (panel.rows) renderUsage(panel);
  if (!better) text(panel.$why, episode.ep === panel.best[at] ? `${best} already.` : `${best}.`);
  else text(panel.$why, at % phases.every === 0 ? `It is the first${where}.` : `No episode before it${where} had an EP as low.`);
}

function buildRule(panel) {
  panel.$why = make("p");
  panel.$key = make("p", "key", `Bits: (pre, post) was 00, 01, 10, 11 in a share of the steps above θ. n of ${grouped(H * (COLUMNS - 1) + OUTPUTS * (H + 1))} synapses selected the row. Used: solid up to here, pale in the whole trial.`);
  panel.$learner.append(make("h3", "", "Update after this episode"), panel.$why, ruleTables(panel, ["n", "used"]), panel.$key);
}

/** The rows of a rule as two tables, for m = −1 and m = +1, with some columns to be filled. */
function ruleTables(panel, columns) {
  const both = make("div", "halves");
  panel.rows = new Array(ROWS);
  panel.halves = [0, 1].map((positive) => {
    const table = make("table"), m = sign(positive || -1);
    table.createCaption().className = "unseen";
    table.caption.textContent = `Rows of the rule for m = ${m}`;
    const head = table.createTHead().insertRow(), body = table.createTBody();
    for (const name of ["00", "01", "10", "11", "m", "Δw", ...columns]) {
      const cell = make("th", /^\d\d$/.test(name) ? "bit" : columns.includes(name) ? name : "", name);
      cell.scope = "col";
      head.append(cell);
    }
    for (let bits = 0; bits < ROWS / 2; bits++) {
      const number = 2 * bits + positive, change = panel.learner.delta_w[number], row = body.insertRow();
      for (const told of [...bits.toString(2).padStart(4, "0"), m, sign(change)]) row.insertCell().textContent = told;
      row.lastChild.className = `change ${change > 0 ? "positive" : change < 0 ? "negative" : ""}`;
      for (const name of columns) row.insertCell().className = name;
      const bar = make("i");
      bar.setAttribute("role", "img");
      row.querySelector(".used").append(bar);
      row.addEventListener("click", () => tell(row.title)); // a finger cannot point
      panel.rows[number] = { row, n: row.querySelector(".n"), bar };
    }
    both.append(table);
    return table;
  });
  return both;
}

/** Show what the update after an episode did. */
function renderRule(panel, { number, ep }, { m, previous }) {
  judge(panel.$signal, "signal", sign(m), m > 0);
  const relation = ep < previous ? "lower than" : ep > previous ? "higher than" : "equal to";
  const why = [`m = ${sign(m)}: ${previous === null ? "the first episode with fresh weights counts as good" : `EP ${grouped(ep)} is ${relation} ${grouped(previous)} before`}.`];
  if (phases.movesAt(number) && previous !== null) why.push("The goal has moved; nothing tells the rule.");
  const { resample } = panel.replay;
  if (resample !== null && (number + 1) % resample === 0) why.push("Discarded: fresh weights follow.");
  text(panel.$why, why.join(" "));
  panel.halves.forEach((table, positive) => table.classList.toggle("off", (m > 0) !== !!positive));
  panel.rows.forEach(({ row, n }, at) => {
    const count = panel.selected[at];
    row.classList.toggle("lit", count > 0);
    text(n, count ? grouped(count) : "");
  });
  renderUsage(panel);
}

/** How often each row has been used: in bars up to this episode and in the whole trial, in words when pointed at.
 *
 * While the page still compares, it is as far as that has come. A recording holds the whole trial alone. */
export function renderUsage(panel) {
  const { replay, recorded, learner } = panel, counted = recorded ? EPISODES : replay.checked;
  const upTo = Math.min(panel.result.episode.number + 1, counted);
  const whole = recorded ? learner.usage : replay.used(counted), now = recorded ? null : replay.used(upTo);
  const most = Math.max(...whole), sum = (uses) => uses.reduce((a, b) => a + b, 0);
  const length = (uses) => (uses ? `max(1px, ${((100 * uses) / most).toFixed(2)}%)` : "0");
  const words = (uses, all) => `${plural(uses, "time")} (${all ? ((100 * uses) / all).toFixed(1) : 0}%)`;
  const sums = [sum(whole), now && sum(now)];
  const span = counted === EPISODES ? "in the whole trial" : `in the ${grouped(counted)} of ${plural(EPISODES, "episode")} counted so far`;
  panel.rows.forEach(({ row, bar }, number) => {
    const before = now ? `${words(now[number], sums[1])} up to episode ${grouped(upTo)}, ` : "";
    const told = `row ${number}: used ${before}${words(whole[number], sums[0])} ${span}`;
    if (row.title === told) return;
    row.title = told;
    bar.setAttribute("aria-label", told);
    bar.style.setProperty("--whole", length(whole[number]));
    bar.style.setProperty("--now", now ? length(now[number]) : "0");
  });
}
