/* The values of settings that this page has code for, and what each of them does. */
import { choice } from "./random.js";
import { FEED, logistic, OUTPUTS } from "./network.js";

const positive = (sums, outputs) => sums.forEach((sum, k) => (outputs[k] = +(sum > 0)));

/** One of the active outputs acts; of all, if none is active. */
function drawnActive(sums, strongest, outputs, word) {
  positive(sums, outputs);
  const active = [0, 1, 2, 3].filter((k) => outputs[k]);
  const candidates = active.length ? active : [0, 1, 2, 3];
  return candidates[choice(word, candidates.length)];
}

export const READINGS = {
  network: { recurrent: null },
  // What a hidden neuron passes on, and whether that is more than 0 and 1.
  neurons: {
    binary: { graded: false, pass: (sum) => +(sum > 0) },
    sigmoid: { graded: true, pass: logistic },
  },
  // Whether an action is drawn; what writes the activations to outputs and returns the action.
  outputs: {
    winner: { draws: false, act: (sums, strongest, outputs) => ((outputs[strongest] = 1), strongest) },
    binary: { draws: false, act: (sums, strongest, outputs) => (positive(sums, outputs), strongest) },
    random: { draws: true, act: drawnActive },
  },
  blocked: { turn: { turns: true }, stay: { turns: false } },
  m_ties: { reward: 1, punish: -1 }, // m when the EP is that of the episode before
  trace_pre: { current: 0, previous: 1 }, // by how many steps pre is delayed in recurrent and feedback synapses
  // Where the parts of a hidden neuron's incoming weights end that have a norm of their own.
  normalise: {
    neuron: (hidden) => [0, FEED + hidden + OUTPUTS],
    layer: (hidden) => [0, FEED, FEED + hidden, FEED + hidden + OUTPUTS],
    none: null,
  },
};
const UNSAID = { network: "recurrent", neurons: "binary" }; // pages name them only if they are others

/** The entry of a table for a value; another value is an error that names it. */
export function pick(table, name, value) {
  if (!Object.hasOwn(table, value)) throw new Error(`${name} is ${value}, and this page has code only for ${Object.keys(table).join(", ")}`);
  return table[value];
}

/** What the value of every setting does. */
export function readingsOf(settings) {
  return Object.fromEntries(Object.entries(READINGS).map(([name, table]) => [name, pick(table, name, settings[name] ?? UNSAID[name])]));
}
