/* The trial, recomputed: the reference engine in JavaScript, bit for bit.
 *
 * Read it beside docs/exactness.md. Every +, −, ×, ÷ and √ of two 32-bit floats is done in
 * double precision and rounded by Math.fround (written f below), which gives exactly the 32-bit
 * result; all else is whole numbers. Nothing here touches the page.
 *
 * What may take long is a generator that yields now and then, so that the caller can let the
 * page breathe; finish(…) runs one to its end.
 */
"use strict";

const simulate = (() => {
  const f = Math.fround;

  // ---------------------------------------------------------------- random numbers

  const WEIGHTS = 0; // what a draw is for: the last word of the counter
  const NOISE = 1;
  const ACTION = 2;

  /** The upper 32 bits of the product of two 32-bit words, from products of their halves. */
  function multiplyHigh(a, b) {
    const aLow = a & 0xffff, aHigh = a >>> 16, bLow = b & 0xffff, bHigh = b >>> 16;
    const middle = aHigh * bLow + ((aLow * bLow) >>> 16); // below 2^32: (2^16 − 1)² + 2^16 − 1
    const other = aLow * bHigh + (middle & 0xffff);
    return (aHigh * bHigh + (middle >>> 16) + (other >>> 16)) >>> 0;
  }

  /** Philox4x32-10: write the four words of a counter under a key to out[at …]. */
  function philox(c0, c1, c2, c3, key, out, at) {
    let k0 = key[0] >>> 0, k1 = key[1] >>> 0;
    for (let round = 0; round < 10; round++) {
      const high0 = multiplyHigh(0xd2511f53, c0), low0 = Math.imul(0xd2511f53, c0) >>> 0;
      const high1 = multiplyHigh(0xcd9e8d57, c2), low1 = Math.imul(0xcd9e8d57, c2) >>> 0;
      c0 = (high1 ^ c1 ^ k0) >>> 0;
      c1 = low1;
      c2 = (high0 ^ c3 ^ k1) >>> 0;
      c3 = low0;
      k0 = (k0 + 0x9e3779b9) >>> 0;
      k1 = (k1 + 0xbb67ae85) >>> 0;
    }
    out[at] = c0;
    out[at + 1] = c1;
    out[at + 2] = c2;
    out[at + 3] = c3;
  }

  /** The words at draws 0, 1, … of one lane, rounded up to whole blocks of four. */
  function words(seed, purpose, episode, lane, draws) {
    const out = new Uint32Array(4 * Math.ceil(draws / 4));
    for (let at = 0; at < out.length; at += 4) philox(at / 4, lane, episode, purpose, seed, out, at);
    return out;
  }

  /** A number uniform in [−1, 1): the upper 24 bits of a word as a signed fraction. */
  function uniform(word) {
    return f((word >> 8) * 2 ** -23);
  }

  const LN2 = f(0.6931471805599453);
  const SQRT_HALF_BITS = 0x3f3504f3;
  const THIRD = f(1 / 3), FIFTH = f(1 / 5), SEVENTH = f(1 / 7);
  const EIGHTH_TURN = f(Math.PI / 4 / 2 ** 31);
  const SIN = [-1 / 6, 1 / 120, -1 / 5040, 1 / 362880].map(f);
  const COS = [-1 / 2, 1 / 24, -1 / 720, 1 / 40320].map(f);
  const asFloat = new Float32Array(1);
  const asBits = new Int32Array(asFloat.buffer);

  /** −ln((k + ½) / 2^31), with k the upper 31 bits of a word. */
  function minusLn(word) {
    asFloat[0] = f(f(word >>> 1) + 0.5);
    const offset = asBits[0] - SQRT_HALF_BITS;
    const exponent = offset >> 23;
    asBits[0] = (offset & 0x7fffff) + SQRT_HALF_BITS;
    const mantissa = asFloat[0];
    const s = f(f(mantissa - 1) / f(mantissa + 1));
    const z = f(s * s);
    const series = f(f(f(f(f(f(SEVENTH * z) + FIFTH) * z) + THIRD) * z) + 1);
    return f(f((31 - exponent) * LN2) - f(f(s + s) * series));
  }

  /** Two words become two normal deviates by Box and Muller's method; written to out[at], out[at + 1]. */
  function normals(radiusWord, angleWord, out, at) {
    const y = minusLn(radiusWord);
    const radius = f(Math.sqrt(f(y + y)));
    const quarter = angleWord >>> 30;
    const x = f(f((angleWord << 2) | 0) * EIGHTH_TURN);
    const z = f(x * x);
    let sine = f(f(f(f(f(f(f(SIN[3] * z) + SIN[2]) * z) + SIN[1]) * z) + SIN[0]) * z);
    sine = f(f(sine + 1) * x);
    let cosine = f(f(f(f(f(f(f(COS[3] * z) + COS[2]) * z) + COS[1]) * z) + COS[0]) * z);
    cosine = f(cosine + 1);
    let first = quarter & 1 ? sine : cosine;
    let second = quarter & 1 ? cosine : sine;
    if (quarter === 1 || quarter === 2) first = -first;
    if (quarter >= 2) second = -second;
    out[at] = f(radius * first);
    out[at + 1] = f(radius * second);
  }

  /** A whole number uniform in 0 … n − 1. */
  function choice(word, n) {
    return Math.floor((word * n) / 2 ** 32);
  }

  // ---------------------------------------------------------------- the maze

  const HEADINGS = ["north", "east", "south", "west"];
  const ACTIONS = ["stop", "left", "right", "straight"];
  const TURNS = [0, 3, 1, 0]; // the turn of each action, in quarter turns to the right
  const PIT_PENALTY = 5;

  /** The maze of a trial: cells are flat indices, row · columns + column. */
  function makeMaze(picture, heading, goalSymbol) {
    const rows = picture.length, columns = picture[0].length;
    const wall = new Uint8Array(rows * columns), pit = new Uint8Array(rows * columns);
    const finals = []; // {symbol, cell}
    let start = 0, goal = 0;
    picture.forEach((line, row) => {
      for (let column = 0; column < columns; column++) {
        const symbol = line[column], cell = row * columns + column;
        if (symbol === "#") wall[cell] = 1;
        else if (symbol === "S") start = cell;
        else if (symbol !== ".") {
          finals.push({ symbol, cell });
          if (symbol === goalSymbol) goal = cell;
          else pit[cell] = 1;
        }
      }
    });
    const ahead = [-columns, 1, columns, -1];
    const distance = new Int32Array(rows * columns).fill(-1); // breadth first, from the goal
    distance[goal] = 0;
    for (let queue = [goal], at = 0; at < queue.length; at++) {
      for (const side of ahead) {
        const there = queue[at] + side;
        if (!wall[there] && distance[there] < 0) {
          distance[there] = distance[queue[at]] + 1;
          queue.push(there);
        }
      }
    }
    return { rows, columns, wall, pit, finals, start, goal, goalSymbol, ahead, distance, heading: HEADINGS.indexOf(heading) };
  }

  // ---------------------------------------------------------------- goals that move

  /** Which goal each episode has. A trial whose goal does not move has one phase. */
  class Phases {
    constructor({ every, goals }) {
      this.every = every; // episodes
      this.goals = goals; // of each phase
    }

    of(number) {
      return Math.floor(number / this.every);
    }

    goal(number) {
      return this.goals[this.of(number)];
    }

    /** Whether the goal has moved just before an episode. */
    movesAt(number) {
      return number > 0 && number % this.every === 0;
    }
  }

  /** What gives the maze of an episode: one for each goal. */
  function mazesOf(data, phases) {
    const mazes = new Map();
    return (number) => {
      const goal = phases.goal(number);
      if (!mazes.has(goal)) mazes.set(goal, makeMaze(data.maze, data.heading, goal));
      return mazes.get(goal);
    };
  }

  // ---------------------------------------------------------------- the network

  const FEED = 4; // left, front, right, bias: the first columns of a hidden row
  const OUTPUTS = 4;

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

  const freshWeights = (hidden, seed, episode) => drawn(hidden, seed, WEIGHTS, episode);
  const perturbation = (hidden, seed, episode) => drawn(hidden, seed, NOISE, episode);

  const LOG2_E = f(1.4426950408889634), SHIFT = 1.5 * 2 ** 23;
  const LN2_HIGH = 0.693359375, LN2_LOW = f(-2.1219444e-4);
  const SERIES = [1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1].map(f), FIRST_TERM = f(1 / 720);

  /** 1 / (1 + e^−x): what a sigmoid neuron with this sum passes on. */
  function logistic(sum) {
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

  /** The four output sums become an action and the output activations, written to outputs. */
  function choose(sums, reading, word, outputs) {
    let strongest = 0; // the first, if equal
    for (let k = 1; k < OUTPUTS; k++) if (sums[k] > sums[strongest]) strongest = k;
    for (let k = 0; k < OUTPUTS; k++) outputs[k] = reading === "winner" ? +(k === strongest) : +(sums[k] > 0);
    if (reading !== "random") return strongest;
    const active = [0, 1, 2, 3].filter((k) => outputs[k]);
    const candidates = active.length ? active : [0, 1, 2, 3];
    return candidates[choice(word, candidates.length)];
  }

  // ---------------------------------------------------------------- one episode

  const BREATH = 200000; // additions between two yields

  /** Walk the maze with fixed weights; return what happened. Yields now and then.
   *
   * `hidden` says which neurons were active. Sigmoid neurons pass on more than that: `activity`. */
  function* runEpisode(weights, trial, number) {
    const { settings, seed } = trial, maze = trial.mazeIn(number), graded = settings.neurons === "sigmoid";
    const H = settings.hidden, columns = FEED + H + OUTPUTS;
    const alphaH = f(trial.learner.alpha_h), alphaO = f(trial.learner.alpha_o);
    const random = settings.outputs === "random" ? words(seed, ACTION, number, 0, settings.steps) : null;
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
        next[j] = graded ? logistic(sum) : active[j];
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
      const action = choose(sums, settings.outputs, random && random[actions.length], outputs);

      if (action !== 0) {
        const turned = (heading + TURNS[action]) % 4;
        const there = cell + maze.ahead[turned];
        if (!maze.wall[there]) {
          cell = there;
          heading = turned;
          pits += maze.pit[there];
        } else if (settings.blocked === "turn") heading = turned;
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

  // ---------------------------------------------------------------- delayed synaptic plasticity

  const ROWS = 32;

  /** m: +1 if the episode was no worse than the one before (null: there is none), else −1. */
  function modulatorySignal(ep, previous, ties) {
    if (previous === null || ep < previous) return 1;
    return ep === previous && ties === "reward" ? 1 : -1;
  }

  /** Activations over time as bits: neuron i was active in step t, or t − 1 with delay 1. */
  function timeBits(layer, width, delay) {
    const span = Math.ceil(layer.length / 32);
    const bits = new Int32Array(width * span), totals = new Int32Array(width);
    for (let t = delay; t < layer.length; t++) {
      const active = layer[t - delay];
      for (let i = 0; i < width; i++) {
        if (active[i]) {
          bits[i * span + (t >> 5)] |= 1 << (t & 31);
          totals[i]++;
        }
      }
    }
    return { bits, totals, span };
  }

  function ones(x) {
    x -= (x >>> 1) & 0x55555555;
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
    return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }

  /** The layers that feed a post-synaptic layer, and that layer, as bits over time. */
  function traced(episode, trial) {
    const H = trial.settings.hidden, delay = trial.settings.trace_pre === "previous" ? 1 : 0;
    const inputs = timeBits(episode.inputs, FEED, 0);
    const hidden = timeBits(episode.hidden, H, 0);
    const outputs = timeBits(episode.outputs, OUTPUTS, 0);
    const join = (...layers) => ({
      bits: Int32Array.from(layers.flatMap((layer) => [...layer.bits])),
      totals: Int32Array.from(layers.flatMap((layer) => [...layer.totals])),
      span: inputs.span,
    });
    const bias = { bits: inputs.bits.subarray(3 * inputs.span), totals: inputs.totals.subarray(3) };
    return {
      hidden: {
        pre: join(inputs, timeBits(episode.hidden, H, delay), timeBits(episode.outputs, OUTPUTS, delay)),
        post: hidden,
        width: FEED + H + OUTPUTS,
      },
      output: { pre: join(hidden, bias), post: outputs, width: H + 1 },
    };
  }

  /** How often (pre, post) was 00, 01, 10, 11 in an episode, pre first. */
  function counts(layer, post, pre, steps) {
    const span = layer.pre.span;
    let both = 0;
    for (let k = 0; k < span; k++) both += ones(layer.pre.bits[pre * span + k] & layer.post.bits[post * span + k]);
    const onPre = layer.pre.totals[pre], onPost = layer.post.totals[post];
    return [steps - onPre - onPost + both, onPost - both, onPre - both, both];
  }

  /** The row of the rule that every entry of the two matrices selects. */
  function selectedRows(traces, trial, steps, m) {
    const theta = f(trial.learner.theta);
    const bit = new Uint8Array(steps + 1); // whether a count exceeds θ as a frequency
    for (let count = 0; count <= steps; count++) bit[count] = +(f(count / steps) > theta);
    const select = (layer) => {
      const rows = new Uint8Array(layer.post.totals.length * layer.width);
      for (let at = 0; at < rows.length; at++) {
        const pre = at % layer.width;
        const [n00, n01, n10, n11] = counts(layer, (at - pre) / layer.width, pre, steps);
        rows[at] = (bit[n00] * 8 + bit[n01] * 4 + bit[n10] * 2 + bit[n11]) * 2 + (m === 1 ? 1 : 0);
      }
      return rows;
    };
    return { hidden: select(traces.hidden), output: select(traces.output) };
  }

  /** How many synapses selected each of the 32 rows; a neuron has none to itself. */
  function rowCounts(rows, hidden) {
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
  function normalise(weights, hidden, reading) {
    if (reading === "none") return weights;
    const columns = FEED + hidden + OUTPUTS;
    const ends = reading === "neuron" ? [0, columns] : [0, FEED, FEED + hidden, columns];
    for (let j = 0; j < hidden; j++) {
      for (let b = 1; b < ends.length; b++) toUnit(weights.hidden, j * columns + ends[b - 1], j * columns + ends[b]);
    }
    for (let k = 0; k < OUTPUTS; k++) toUnit(weights.output, k * (hidden + 1), (k + 1) * (hidden + 1));
    return weights;
  }

  const startsAfresh = (trial, number) => number === 0 || (trial.resample !== null && number % trial.resample === 0);

  /** Run one episode of a rule from the state before it; return the episode, its update and the next state. */
  function* dspEpisode(trial, state) {
    const { settings, learner } = trial;
    const fresh = startsAfresh(trial, state.number);
    const weights = fresh ? freshWeights(settings.hidden, trial.seed, state.number) : state.weights;
    const previous = fresh ? null : state.previous;
    const episode = yield* runEpisode(weights, trial, state.number);
    const m = modulatorySignal(episode.ep, previous, settings.m_ties);
    const traces = traced(episode, trial);
    const rows = selectedRows(traces, trial, episode.steps, m);
    const after = normalise(changed(weights, learner, rows, settings.hidden), settings.hidden, settings.normalise);
    return {
      episode,
      fresh,
      update: { m, previous, traces, rows, after },
      next: { number: state.number + 1, weights: after, previous: episode.ep },
    };
  }

  // ---------------------------------------------------------------- hill climbing

  /** Run one episode of a climb; return the same as dspEpisode.
   *
   * Where the goal has moved, the best weights are run as they are, and whatever EP they have now is the best. */
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
    return {
      episode,
      fresh,
      update: { best, anew, accepted },
      next: { number: state.number + 1, best: accepted ? { weights, ep: episode.ep, number: state.number } : best },
    };
  }

  // ---------------------------------------------------------------- chance

  /** Run one episode with fresh random weights, whatever went before; return the same as dspEpisode. */
  function* chanceEpisode(trial, state) {
    const weights = freshWeights(trial.settings.hidden, trial.seed, state.number);
    const episode = yield* runEpisode(weights, trial, state.number);
    return { episode, fresh: true, update: {}, next: { number: state.number + 1 } };
  }

  // ---------------------------------------------------------------- a trial

  const RUN = { dsp: dspEpisode, hc: climbEpisode, chance: chanceEpisode };
  const SNAPSHOT_BYTES = 64 * 2 ** 20; // what the snapshots of a trial may take

  /** A trial that can be looked at anywhere.
   *
   * `check` runs all episodes in order, compares each EP with the engine's and keeps the state
   * before every so many of them; `episode` runs one again from the nearest state before it.
   * Of a rule it also counts how often each row is used.
   */
  class Replay {
    constructor(data, learner, eps) {
      this.phases = new Phases(data.phases);
      this.mazeIn = mazesOf(data, this.phases);
      this.learner = learner;
      this.settings = data.settings;
      this.seed = data.seed;
      this.resample = data.resample;
      this.eps = eps; // the engine's
      this.checked = 0; // episodes compared so far
      this.differences = []; // {number, ep, engine}
      const H = data.settings.hidden, bytes = 4 * (H * (H + 8) + 4 * (H + 1));
      this.every = Math.max(1, Math.ceil((eps.length * bytes) / SNAPSHOT_BYTES));
      this.states = [{ number: 0 }];
      // Before each episode, and at the end; doubles, because 32 bits are too few for a large network.
      this.uses = learner.kind === "dsp" ? new Float64Array(ROWS * (eps.length + 1)) : null;
    }

    /** How often each row was used after the first n episodes, as far as `check` has come. */
    used(n) {
      return this.uses.subarray(ROWS * n, ROWS * (n + 1));
    }

    /** Whether an episode with the weights of this one's update follows. */
    isFollowed(number) {
      return number + 1 < this.eps.length && !startsAfresh(this, number + 1);
    }

    /** Add the rows of an episode's update, unless no episode follows: then it changes nothing. */
    count(number, rows) {
      const before = this.used(number), after = this.used(number + 1);
      after.set(before);
      if (this.isFollowed(number)) rowCounts(rows, this.settings.hidden).forEach((selected, row) => (after[row] += selected));
    }

    run(state) {
      return RUN[this.learner.kind](this, state);
    }

    /** Whether episode n can be run without waiting for `check`. */
    within(number) {
      return Math.floor(number / this.every) < this.states.length;
    }

    *check() {
      let state = this.states[0];
      while (this.checked < this.eps.length) {
        const { episode, update, next } = yield* this.run(state);
        if (this.uses) this.count(episode.number, update.rows);
        const engine = this.eps[episode.number];
        if (episode.ep !== engine) this.differences.push({ number: episode.number, ep: episode.ep, engine });
        state = next;
        this.checked++;
        if (this.checked % this.every === 0) this.states.push(state);
        yield;
      }
    }

    *episode(number) {
      let state = this.states[Math.floor(number / this.every)];
      for (;;) {
        const result = yield* this.run(state);
        if (state.number === number) return result;
        state = result.next;
        yield;
      }
    }
  }

  /** Run a generator to its end and return its result. */
  function finish(generator) {
    for (;;) {
      const { done, value } = generator.next();
      if (done) return value;
    }
  }

  return { ACTIONS, FEED, HEADINGS, OUTPUTS, Phases, Replay, counts, finish, freshWeights, logistic, mazesOf, normals, perturbation, philox, rowCounts };
})();
