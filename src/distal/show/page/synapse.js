/* A synapse: its name in the address, its numbers beside the matrix, and how one is selected. */
import { breadth } from "./canvas.js";
import { make, plain, plural, signed, text } from "./elements.js";
import { counts } from "./learners.js";
import { isSelf, widthOf } from "./matrix.js";
import { FEED, OUTPUTS } from "./network.js";
import { set, state } from "./state.js";
import { ACTIONS, COLUMNS, H, SENSES } from "./trial.js";

/** What the neuron that feeds a column is called. */
const preName = (matrix, column) => {
  if (matrix === "output") return column < H ? `hidden ${column}` : "bias";
  if (column < FEED) return column < FEED - 1 ? `input ${SENSES[column]}` : "bias";
  return column < FEED + H ? `hidden ${column - FEED}` : `output ${ACTIONS[column - FEED - H]}`;
};

/** Write the numbers of the selected synapse. */
export function renderReadout(panel) {
  const chosen = state.inspected;
  // Below the matrix; where there are three columns, in the last one, which has room for it. The key
  // to the rule shares its place with a synapse, except where all is in one column.
  const columns = breadth(panel), home = columns === 3 ? panel.$learner : panel.root.querySelector(".network");
  if (panel.$readout.parentElement !== home) home.append(panel.$readout);
  if (panel.$key) {
    const place = columns === 2 ? home : panel.$learner;
    if (panel.$key.parentElement !== place) place.append(panel.$key);
    if (home === place && panel.$key.nextElementSibling !== panel.$readout) panel.$readout.before(panel.$key);
    panel.$key.hidden = columns > 1 && chosen !== null;
  }
  if (panel.rows) panel.rows.forEach(({ row }) => row.classList.remove("chosen"));
  if (!chosen) {
    text(panel.$readout, "Point at an entry of the matrix, or tap it, to see its synapse.");
    panel.readoutKey = null;
    return;
  }
  const { matrix, row, column } = chosen, at = row * widthOf(matrix) + column;
  const { episode, update } = panel.result;
  if (panel.rows && !isSelf(matrix, row, column)) panel.rows[update.rows[matrix][at]].row.classList.add("chosen");
  const key = `${matrix} ${at} ${episode.number}`;
  if (panel.readoutKey === key) return;
  panel.readoutKey = key;
  const post = matrix === "hidden" ? `hidden ${row}` : `output ${ACTIONS[row]}`;
  panel.$readout.replaceChildren(make("b", "", `${preName(matrix, column)} → ${post}`));
  const add = (content) => panel.$readout.append(content);
  const strong = (content) => panel.$readout.append(make("b", "", content));
  if (isSelf(matrix, row, column)) return add(": no neuron has a synapse to itself.");
  const weight = episode.weights[matrix][at];
  add("   weight ");
  strong(plain(weight));
  if (panel.learner.kind !== "dsp") {
    if (!update.best) return add(", drawn afresh");
    add(" = best ");
    add(plain(update.best.weights[matrix][at]));
    if (update.anew) return add(", as it was");
    add(", noise ");
    return strong(signed(panel.change[matrix][at]));
  }
  const rule = update.rows[matrix][at], change = panel.learner.delta_w[rule];
  const n = counts(update.traces[matrix], row, column, episode.steps);
  const bits = (rule >> 1).toString(2).padStart(4, "0");
  add(" → ");
  strong(plain(update.after[matrix][at]));
  add(`, change ${signed(panel.change[matrix][at])}`);
  panel.$readout.append(make("br"));
  add(`(pre, post) in ${plural(episode.steps, "step")}: 00 ${n[0]} · 01 ${n[1]} · 10 ${n[2]} · 11 ${n[3]}; above θ: ${[...bits].join(" ")}`);
  panel.$readout.append(make("br"));
  add("with m = ");
  add(`${update.m > 0 ? "+1" : "−1"}: row ${rule}, Δw = `);
  strong(change > 0 ? "+1" : change < 0 ? "−1" : "0");
  const normalised = panel.replay.settings.normalise !== "none";
  add(`; η · Δw = ${change ? signed(change * Math.fround(panel.learner.eta)) : "0"}${normalised ? ", then normalised" : ""}`);
  return undefined;
}

/** Select an entry of the matrix, or none. */
export function inspect(entry) {
  set({ inspected: entry });
}

/** Move the inspected entry with the arrow keys; the outputs' rows follow below the hidden ones. */
export function inspectBy(key) {
  const now = state.inspected;
  if (!now) return inspect({ matrix: "hidden", row: 0, column: 0 });
  let row = now.row + (now.matrix === "output" ? H : 0), column = now.column + (now.matrix === "output" ? FEED : 0);
  if (key === "ArrowUp") row--;
  if (key === "ArrowDown") row++;
  if (key === "ArrowLeft") column--;
  if (key === "ArrowRight") column++;
  row = Math.min(Math.max(row, 0), H + OUTPUTS - 1);
  if (row < H) return inspect({ matrix: "hidden", row, column: Math.min(Math.max(column, 0), COLUMNS - 1) });
  return inspect({ matrix: "output", row: row - H, column: Math.min(Math.max(column - FEED, 0), H) });
}

// The neurons that feed a matrix, in the order of its columns, and those that are fed: [name, first, how many].
const PRE = {
  hidden: [["i", 0, FEED - 1], ["bias", FEED - 1, 1], ["h", FEED, H], ["o", FEED + H, OUTPUTS]],
  output: [["h", 0, H], ["bias", H, 1]],
};
const POST = { hidden: ["h", H], output: ["o", OUTPUTS] };

/** The name of a synapse in the address, from pre to post: i2-h3, bias-h0, h4-o1. */
export function synapseName({ matrix, row, column }) {
  const [name, first] = PRE[matrix].find(([, from, many]) => column < from + many);
  return `${name}${name === "bias" ? "" : column - first}-${POST[matrix][0]}${row}`;
}

/** The entry of the matrix with this name, or null. */
export function synapseNamed(text) {
  const parts = /^(?:([iho])(\d{1,6})|bias)-([ho])(\d{1,6})$/.exec(text);
  if (!parts) return null;
  const matrix = parts[3] === "h" ? "hidden" : "output", row = +parts[4], index = +(parts[2] ?? 0);
  const pre = PRE[matrix].find(([name]) => name === (parts[1] ?? "bias"));
  if (!pre || index >= pre[2] || row >= POST[matrix][1]) return null;
  return { matrix, row, column: pre[1] + index };
}
