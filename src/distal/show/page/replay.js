/* A trial that can be looked at anywhere: computed again, or played from a recording of what the page has no code for.
 * To the panels both are the same: they give any episode by its number. What may take long is a generator
 * that yields now and then, so that the page can breathe. */
import { LEARNERS, rowCounts, ROWS, startsAfresh } from "./learners.js";
import { mazesOf, Phases } from "./maze.js";
import { pick, readingsOf } from "./readings.js";

const SNAPSHOT_BYTES = 64 * 2 ** 20; // what the snapshots of a trial may take

/** A trial that is computed.
 *
 * `check` runs all episodes in order, compares each EP with the engine's and keeps the state before
 * every so many of them; `episode` runs one again from the nearest state before it.
 * Of a rule it also counts how often each row is used. */
export class Replay {
  constructor(data, learner) {
    this.phases = new Phases(data.phases);
    this.mazeIn = mazesOf(data, this.phases);
    this.learner = learner;
    this.settings = data.settings;
    this.readings = readingsOf(data.settings);
    this.run = pick(LEARNERS, "learner", learner.kind); // one episode, from the state before it
    this.seed = data.seed;
    this.resample = data.resample;
    this.eps = learner.eps; // the engine's
    this.checked = 0; // episodes compared so far
    this.differences = []; // {number, ep, engine}
    const H = data.settings.hidden, bytes = 4 * (H * (H + 8) + 4 * (H + 1));
    this.every = Math.max(1, Math.ceil((this.eps.length * bytes) / SNAPSHOT_BYTES));
    this.states = [{ number: 0 }];
    // Before each episode, and at the end; doubles, because 32 bits are too few for a large network.
    this.uses = learner.kind === "dsp" ? new Float64Array(ROWS * (this.eps.length + 1)) : null;
  }

  /** How often each row was used after the first n episodes, as far as `check` has come. */
  used(n) {
    return this.uses.subarray(ROWS * n, ROWS * (n + 1));
  }

  /** Add the rows of an episode's update, unless no episode with its weights follows: then it changes nothing. */
  count(number, rows) {
    const after = this.used(number + 1);
    after.set(this.used(number));
    if (number + 1 === this.eps.length || startsAfresh(this, number + 1)) return;
    rowCounts(rows, this.settings.hidden).forEach((selected, row) => (after[row] += selected));
  }

  /** Whether episode n can be run without waiting for `check`. */
  within(number) {
    return Math.floor(number / this.every) < this.states.length;
  }

  *check() {
    let state = this.states[0];
    while (this.checked < this.eps.length) {
      const { episode, update, next } = yield* this.run(this, state);
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
      const result = yield* this.run(this, state);
      if (state.number === number) return result;
      state = result.next;
      yield;
    }
  }
}

/** A walk through a maze: a state is cell · 4 + heading. */
function mazeWalk(maze, states) {
  const cells = Array.from(states, (state) => state >>> 2), headings = Array.from(states, (state) => state & 3);
  const entered = cells.filter((cell, t) => t > 0 && cell !== cells[t - 1] && maze.pit[cell]);
  return { cells, headings, pits: entered.length, reached: cells[cells.length - 1] === maze.goal };
}

/** A walk through a table; where its states lie on a grid, also its cells, headings and things. */
function tableWalk({ picture, target }, states, ep) {
  const walk = { states: Array.from(states), reached: target === null ? null : ep <= target };
  if (!picture) return walk;
  const [cells, headings, things] = [0, 1, 2].map((part) => walk.states.map((state) => picture.spots[state][part]));
  return { ...walk, cells, headings, things };
}

/** A trial that the reference engine recorded.
 *
 * The packed bytes are, for all episodes in order: the states (32 bits each, one more than there are steps), the
 * actions (8 bits each), and for every step one bit for each input, the bias, each hidden neuron and each
 * output, in whole bytes. Weights are not in it. */
export class Recording {
  constructor(data, learner) {
    this.task = data.task;
    this.mazeIn = data.task ? null : mazesOf(data, new Phases(data.phases));
    this.settings = data.settings;
    this.eps = learner.eps;
    Object.assign(this, learner.recording); // layers, steps, packed
    this.total = 0;
    this.first = this.steps.map((steps) => (this.total += steps) - steps); // steps before each episode
  }

  /** Unpack; nothing can be shown before. */
  async load() {
    const packed = Uint8Array.from(atob(this.packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const bytes = await new Response(stream).arrayBuffer(), states = this.total + this.steps.length;
    this.states = new Uint32Array(bytes, 0, states);
    this.actions = new Uint8Array(bytes, 4 * states, this.total);
    this.active = new Uint8Array(bytes, 4 * states + this.total);
    this.packed = null;
  }

  /** Whether episode n can be shown without waiting. */
  within() {
    return true;
  }

  /** The layers from neuron `from` on, of every step of an episode. */
  layer(number, from, width) {
    const row = Math.ceil(this.layers.reduce((sum, neurons) => sum + neurons) / 8);
    return Array.from({ length: this.steps[number] }, (_, t) => {
      const at = (this.first[number] + t) * row;
      return Uint8Array.from({ length: width }, (__, i) => (this.active[at + ((from + i) >> 3)] >> ((from + i) & 7)) & 1);
    });
  }

  *episode(number) {
    const first = this.first[number], steps = this.steps[number], [inputs, hidden, outputs] = this.layers;
    const states = this.states.subarray(first + number, first + number + steps + 1), ep = this.eps[number];
    const walk = this.task ? tableWalk(this.task, states, ep) : mazeWalk(this.mazeIn(number), states);
    const episode = {
      number, ...walk, steps, ep,
      actions: Array.from(this.actions.subarray(first, first + steps)),
      inputs: this.layer(number, 0, inputs),
      hidden: this.layer(number, inputs, hidden),
      outputs: this.layer(number, inputs + hidden, outputs),
    };
    return { episode, update: {} };
  }
}
