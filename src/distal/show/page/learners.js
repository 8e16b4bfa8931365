/* The learners that the page computes: delayed synaptic plasticity, hill climbing and chance.
 * Each runs one episode from the state before it and returns {episode, update, next}: next is the state after it. */
import { FEED, freshWeights, OUTPUTS, perturbation, runEpisode } from "./network.js";
import { f } from "./random.js";

export const ROWS = 32;

/** m: +1 if the episode was no worse than the one before (null: there is none), else −1. */
function modulatorySignal(ep, previous, ties) {
  if (previous === null || ep < previous) return 1;
  return ep === previous ? ties : -1;
}

/** Layers of neurons, one after another, over time as bits: neuron i was active in step t, or t − delay.
 *
 * Each layer is [its activations in every step, how many neurons, delay]. */
function timeBits(steps, ...layers) {
  const span = Math.ceil(steps / 32), width = layers.reduce((sum, [, many]) => sum + many, 0);
  const bits = new Int32Array(width * span), totals = new Int32Array(width);
  let first = 0;
  for (const [activations, many, delay = 0] of layers) {
    for (let t = delay; t < steps; t++) {
      for (let i = 0; i < many; i++) {
        if (!activations[t - delay][i]) continue;
        bits[(first + i) * span + (t >> 5)] |= 1 << (t & 31);
        totals[first + i]++;
      }
    }
    first += many;
  }
  return { bits, totals, span };
}

function ones(x) {
  x -= (x >>> 1) & 0x55555555;
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** For each matrix, the neurons that feed it and those that are fed, as bits over time. */
function traced({ inputs, hidden, outputs, steps }, trial) {
  const H = trial.settings.hidden, delay = trial.readings.trace_pre, bias = inputs.map(() => [1]);
  return {
    hidden: { pre: timeBits(steps, [inputs, FEED], [hidden, H, delay], [outputs, OUTPUTS, delay]), post: timeBits(steps, [hidden, H]) },
    output: { pre: timeBits(steps, [hidden, H], [bias, 1]), post: timeBits(steps, [outputs, OUTPUTS]) },
  };
}

/** How often (pre, post) was 00, 01, 10, 11 in an episode, pre first. */
export function counts(traces, post, pre, steps) {
  const { span } = traces.pre, onPre = traces.pre.totals[pre], onPost = traces.post.totals[post];
  let both = 0;
  for (let k = 0; k < span; k++) both += ones(traces.pre.bits[pre * span + k] & traces.post.bits[post * span + k]);
  return [steps - onPre - onPost + both, onPost - both, onPre - both, both];
}

/** The row of the rule that every entry of the two matrices selects. */
function selectedRows(traces, trial, steps, m) {
  const theta = f(trial.learner.theta);
  const bit = Uint8Array.from({ length: steps + 1 }, (_, count) => +(f(count / steps) > theta)); // of a count, as a frequency
  const select = (layer) => {
    const width = layer.pre.totals.length, rows = new Uint8Array(layer.post.totals.length * width);
    for (let at = 0; at < rows.length; at++) {
      const pre = at % width, [n00, n01, n10, n11] = counts(layer, (at - pre) / width, pre, steps);
      rows[at] = (bit[n00] * 8 + bit[n01] * 4 + bit[n10] * 2 + bit[n11]) * 2 + (m === 1 ? 1 : 0);
    }
    return rows;
  };
  return { hidden: select(traces.hidden), output: select(traces.output) };
}

/** How many synapses selected each of the 32 rows; a neuron has none to itself. */
export function rowCounts(rows, hidden) {
  const selected = new Int32Array(ROWS), columns = FEED + hidden + OUTPUTS;
  for (let at = 0; at < rows.hidden.length; at++) {
    if (at % columns !== FEED + Math.floor(at / columns)) selected[rows.hidden[at]]++;
  }
  for (let at = 0; at < rows.output.length; at++) selected[rows.output[at]]++;
  return selected;
}

/** w' = w + η Δw for every synapse. */
function changed(weights, rule, rows, hidden) {
  const eta = f(rule.eta), columns = FEED + hidden + OUTPUTS;
  const change = (matrix, row) => matrix.map((w, at) => w + f(eta * rule.delta_w[row[at]]));
  const after = { hidden: change(weights.hidden, rows.hidden), output: change(weights.output, rows.output) };
  for (let j = 0; j < hidden; j++) after.hidden[j * columns + FEED + j] = 0;
  return after;
}

/** Divide matrix[from … to − 1] by its Euclidean norm, in place; nothing is divided by 0. */
function toUnit(matrix, from, to) {
  let sum = 0;
  for (let at = from; at < to; at++) sum = f(sum + f(matrix[at] * matrix[at]));
  const norm = f(Math.sqrt(sum));
  if (norm !== 0) for (let at = from; at < to; at++) matrix[at] = f(matrix[at] / norm);
}

/** Divide each neuron's incoming weights by their norm, in place. */
function normalise(weights, hidden, parts) {
  if (parts === null) return weights;
  const columns = FEED + hidden + OUTPUTS, ends = parts(hidden);
  for (let j = 0; j < hidden; j++) {
    for (let b = 1; b < ends.length; b++) toUnit(weights.hidden, j * columns + ends[b - 1], j * columns + ends[b]);
  }
  for (let k = 0; k < OUTPUTS; k++) toUnit(weights.output, k * (hidden + 1), (k + 1) * (hidden + 1));
  return weights;
}

export const startsAfresh = (trial, number) => number === 0 || (trial.resample !== null && number % trial.resample === 0);

function* dspEpisode(trial, state) {
  const { settings, learner } = trial;
  const fresh = startsAfresh(trial, state.number);
  const weights = fresh ? freshWeights(settings.hidden, trial.seed, state.number) : state.weights;
  const previous = fresh ? null : state.previous;
  const episode = yield* runEpisode(weights, trial, state.number);
  const m = modulatorySignal(episode.ep, previous, trial.readings.m_ties);
  const traces = traced(episode, trial);
  const rows = selectedRows(traces, trial, episode.steps, m);
  const after = normalise(changed(weights, learner, rows, settings.hidden), settings.hidden, trial.readings.normalise);
  return { episode, update: { m, previous, traces, rows, after }, next: { number: state.number + 1, weights: after, previous: episode.ep } };
}

/** Where the goal has moved, the best weights are run as they are, and whatever EP they have now is the best. */
function* climbEpisode(trial, state) {
  const { settings, learner } = trial;
  const fresh = startsAfresh(trial, state.number), anew = !fresh && trial.phases.movesAt(state.number);
  const best = fresh ? null : state.best;
  let weights;
  if (fresh) weights = freshWeights(settings.hidden, trial.seed, state.number);
  else if (anew) weights = best.weights;
  else {
    const sigma = f(learner.sigma), noise = perturbation(settings.hidden, trial.seed, state.number);
    const moved = (from, z) => from.map((w, at) => w + f(sigma * z[at]));
    weights = { hidden: moved(best.weights.hidden, noise.hidden), output: moved(best.weights.output, noise.output) };
  }
  const episode = yield* runEpisode(weights, trial, state.number);
  const accepted = best === null || anew || episode.ep < best.ep;
  const now = accepted ? { weights, ep: episode.ep, number: state.number } : best;
  return { episode, update: { best, anew, accepted }, next: { number: state.number + 1, best: now } };
}

function* chanceEpisode(trial, state) {
  const weights = freshWeights(trial.settings.hidden, trial.seed, state.number);
  const episode = yield* runEpisode(weights, trial, state.number);
  return { episode, update: {}, next: { number: state.number + 1 } };
}

export const LEARNERS = { dsp: dspEpisode, hc: climbEpisode, chance: chanceEpisode };
