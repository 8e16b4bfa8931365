/* A rule: its 32 rows, which of them the update selected, and how often each has been used. */
import { grouped, make, plural, tell, text } from "./elements.js";
import { OUTPUTS } from "./network.js";
import { COLUMNS, EPISODES, H, phases } from "./trial.js";

/** Make the part of a panel that shows a rule. */
export function buildRule(panel) {
  const section = panel.$learner;
  section.append(make("h3", "", "Update after this episode"));
  panel.$why = make("p");
  panel.$key = make("p", "key", `Bits: (pre, post) was 00, 01, 10, 11 in a share of the steps above θ. n of ${grouped(H * (COLUMNS - 1) + OUTPUTS * (H + 1))} synapses selected the row. Used: solid up to here, pale in the whole trial.`);
  section.append(panel.$why, ruleTables(panel, ["n", "used"]), panel.$key);
}

/** The rows of a rule as two tables, for m = −1 and m = +1, with some columns to be filled. */
export function ruleTables(panel, columns) {
  const halves = make("div", "halves");
  panel.rows = new Array(32);
  panel.halves = [0, 1].map((positive) => {
    const table = make("table");
    table.createCaption().className = "unseen";
    table.caption.textContent = `Rows of the rule for m = ${positive ? "+1" : "−1"}`;
    const head = table.createTHead().insertRow();
    const classes = { "00": "bit", "01": "bit", 10: "bit", 11: "bit", n: "n", used: "used" };
    for (const name of ["00", "01", "10", "11", "m", "Δw", ...columns]) {
      const cell = make("th", classes[name], name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    for (let bits = 0; bits < 16; bits++) {
      const number = 2 * bits + positive, change = panel.learner.delta_w[number];
      const row = body.insertRow();
      for (const bit of bits.toString(2).padStart(4, "0")) row.insertCell().textContent = bit;
      row.insertCell().textContent = positive ? "+1" : "−1";
      const cell = row.insertCell();
      cell.className = `change ${change > 0 ? "positive" : change < 0 ? "negative" : ""}`;
      cell.textContent = change > 0 ? "+1" : change < 0 ? "−1" : "0";
      for (const name of columns) row.insertCell().className = name;
      const bar = make("i");
      bar.setAttribute("role", "img");
      row.querySelector(".used").append(bar);
      row.addEventListener("click", () => tell(row.title)); // a finger cannot point
      panel.rows[number] = { row, n: row.querySelector(".n"), bar };
    }
    halves.append(table);
    return table;
  });
  return halves;
}

/** Show what the update after an episode did. */
export function renderRule(panel, episode, update) {
  text(panel.$signal, update.m > 0 ? "+1" : "−1");
  panel.$signal.className = `signal ${update.m > 0 ? "up" : "down"}`;
  const sign = update.m > 0 ? "+1" : "−1";
  let why;
  if (update.previous === null) why = `m = ${sign}: the first episode with fresh weights counts as good.`;
  else {
    const relation = episode.ep < update.previous ? "lower than" : episode.ep > update.previous ? "higher than" : "equal to";
    why = `m = ${sign}: EP ${grouped(episode.ep)} is ${relation} ${grouped(update.previous)} before.`;
  }
  if (phases.movesAt(episode.number) && update.previous !== null) why += " The goal has moved; nothing tells the rule.";
  if (discarded(panel, episode)) why += " Discarded: fresh weights follow.";
  text(panel.$why, why);
  panel.halves.forEach((table, positive) => table.classList.toggle("off", (update.m > 0) !== !!positive));
  panel.rows.forEach(({ row, n }, number) => {
    const count = panel.selected[number];
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
  const words = (uses, all) => `${plural(uses, "time")} (${all ? ((100 * uses) / all).toFixed(1) : 0} %)`;
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

/** Whether the weights that an update made are never used: fresh ones are drawn instead. */
function discarded(panel, episode) {
  return panel.replay.resample !== null && (episode.number + 1) % panel.replay.resample === 0;
}
