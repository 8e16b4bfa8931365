/* The paper's recurrent network, and one episode with it. */
import { PIT_PENALTY, TURNS } from "./maze.js";
import { ACTION, asBits, asFloat, f, NOISE, normals, uniform, WEIGHTS, words } from "./random.js";

export const FEED = 4; // left, front, right, bias: the first columns of a hidden row
export const OUTPUTS = 4;

/** One number for every entry of the two matrices, from the words drawn for its neuron. */
function drawn(hidden, seed, purpose, episode) {
  const columns = FEED + hidden + OUTPUTS;
  const weights = { hidden: new Float32Array(hidden * columns), output: new Float32Array(OUTPUTS * (hidden + 1)) };
  const pair = new Float32Array(2);
  for (let lane = 0; lane < hidden + OUTPUTS; lane++) {
    const width = lane < hidden ? columns : hidden + 1;
    const into = lane < hidden ? weights.hidden : weights.output;
    const row = (lane < hidden ? lane : lane - hidden) * width;
    const word = words(seed, purpose, episode, lane, width);
    for (let d = 0; d < width; d++) {
      if (purpose === WEIGHTS) into[row + d] = uniform(word[d]);
      else {
        if (d % 2 === 0) normals(word[d], word[d + 1], pair, 0);
        into[row + d] = pair[d % 2];
      }
    }
    if (lane < hidden) into[row + FEED + lane] = 0; // no synapse from a neuron to itself
  }
  return weights;
}

export const freshWeights = (hidden, seed, episode) => drawn(hidden, seed, WEIGHTS, episode);
export const perturbation = (hidden, seed, episode) => drawn(hidden, seed, NOISE, episode);

const LOG2_E = f(1.4426950408889634), SHIFT = 1.5 * 2 ** 23;
const LN2_HIGH = 0.693359375, LN2_LOW = f(-2.1219444e-4);
const SERIES = [1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1].map(f), FIRST_TERM = f(1 / 720);

/** 1 / (1 + e^−x): what a sigmoid neuron with this sum passes on. */
export function logistic(sum) {
  const size = Math.min(Math.abs(sum), 18);
  const shifted = f(f(size * LOG2_E) + SHIFT), whole = f(shifted - SHIFT); // e^−size = e^u / 2^whole
  const u = f(f(f(whole * LN2_HIGH) - size) + f(whole * LN2_LOW));
  let power = FIRST_TERM;
  for (let k = 0; k < SERIES.length; k++) power = f(f(power * u) + SERIES[k]);
  asFloat[0] = shifted;
  asBits[0] = 0x3f800000 - (asBits[0] << 23);
  power = f(power * asFloat[0]);
  return f((sum > 0 ? 1 : power) / f(1 + power));
}

/** The number of the largest sum; of the first, if some are equal. */
function strongestOf(sums) {
  let strongest = 0;
  for (let k = 1; k < OUTPUTS; k++) if (sums[k] > sums[strongest]) strongest = k;
  return strongest;
}

const BREATH = 200000; // additions between two yields

/** Walk the maze with fixed weights; return what happened. Yields now and then.
 *
 * `hidden` says which neurons were active. Sigmoid neurons pass on more than that: `activity`. */
export function* runEpisode(weights, trial, number) {
  const { settings, seed } = trial, maze = trial.mazeIn(number);
  const { blocked, neurons: { graded, pass }, outputs: { draws, act } } = trial.readings;
  const H = settings.hidden, columns = FEED + H + OUTPUTS;
  const alphaH = f(trial.learner.alpha_h), alphaO = f(trial.learner.alpha_o);
  const drawnWords = draws ? words(seed, ACTION, number, 0, settings.steps) : null;
  const cells = [maze.start], headings = [maze.heading], actions = [];
  const inputsAt = [], hiddenAt = [], outputsAt = [], activityAt = [];
  let passed = new Float32Array(H), outputs = new Uint8Array(OUTPUTS);
  let cell = maze.start, heading = maze.heading, pits = 0, work = 0;
  while (actions.length < settings.steps && cell !== maze.goal) {
    const side = (turn) => maze.wall[cell + maze.ahead[(heading + turn) % 4]];
    const inputs = Uint8Array.of(side(3), side(0), side(1), 1);

    // Zeros that are added change nothing that is compared; the others go in order.
    const fromInputs = [], fromHidden = [], fromOutputs = [];
    for (let i = 0; i < FEED; i++) if (inputs[i]) fromInputs.push(i);
    for (let i = 0; i < H; i++) if (passed[i]) fromHidden.push(i);
    for (let i = 0; i < OUTPUTS; i++) if (outputs[i]) fromOutputs.push(FEED + H + i);
    const W = weights.hidden;
    const active = new Uint8Array(H), next = new Float32Array(H);
    for (let j = 0; j < H; j++) {
      const row = j * columns;
      let sumInputs = 0, sumHidden = 0, sumOutputs = 0;
      for (let i = 0; i < fromInputs.length; i++) sumInputs = f(sumInputs + W[row + fromInputs[i]]);
      for (let i = 0; i < fromHidden.length; i++) sumHidden = f(sumHidden + f(W[row + FEED + fromHidden[i]] * passed[fromHidden[i]]));
      for (let i = 0; i < fromOutputs.length; i++) sumOutputs = f(sumOutputs + W[row + fromOutputs[i]]);
      const sum = f(f(sumInputs + f(alphaH * sumHidden)) + f(alphaO * sumOutputs));
      active[j] = +(sum > 0);
      next[j] = pass(sum);
    }
    const sums = [0, 0, 0, 0];
    for (let k = 0; k < OUTPUTS; k++) {
      const row = k * (H + 1);
      let sum = 0;
      for (let j = 0; j < H; j++) if (next[j]) sum = f(sum + f(weights.output[row + j] * next[j]));
      sums[k] = f(sum + weights.output[row + H]);
    }
    passed = next;
    outputs = new Uint8Array(OUTPUTS);
    const action = act(sums, strongestOf(sums), outputs, draws ? drawnWords[actions.length] : null);

    if (action !== 0) {
      const turned = (heading + TURNS[action]) % 4;
      const there = cell + maze.ahead[turned];
      if (!maze.wall[there]) {
        cell = there;
        heading = turned;
        pits += maze.pit[there];
      } else if (blocked.turns) heading = turned;
    }
    cells.push(cell);
    headings.push(heading);
    actions.push(action);
    inputsAt.push(inputs);
    hiddenAt.push(active);
    activityAt.push(passed);
    outputsAt.push(outputs);
    work += H * (fromHidden.length + 12);
    if (work > BREATH) {
      work = 0;
      yield;
    }
  }
  const reached = cell === maze.goal, steps = actions.length;
  const ep = (reached ? steps : settings.steps + maze.distance[cell]) + PIT_PENALTY * pits;
  const what = { number, weights, ep, reached, pits, steps, cells, headings, actions, inputs: inputsAt, hidden: hiddenAt, outputs: outputsAt };
  return graded ? { ...what, activity: activityAt } : what;
}
