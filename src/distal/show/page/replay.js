/* A trial, recomputed: it can be looked at anywhere.
 * What may take long is a generator that yields now and then, so that the caller can let the page
 * breathe; finish(…) runs one to its end. Nothing here touches the page. */
import { pick, readingsOf } from "./readings.js";
import { LEARNERS, rowCounts, ROWS, startsAfresh } from "./learners.js";
import { mazesOf, Phases } from "./maze.js";

const SNAPSHOT_BYTES = 64 * 2 ** 20; // what the snapshots of a trial may take

/** A trial that can be looked at anywhere.
 *
 * `check` runs all episodes in order, compares each EP with the engine's and keeps the state
 * before every so many of them; `episode` runs one again from the nearest state before it.
 * Of a rule it also counts how often each row is used.
 */
export class Replay {
  constructor(data, learner, eps) {
    this.phases = new Phases(data.phases);
    this.mazeIn = mazesOf(data, this.phases);
    this.learner = learner;
    this.settings = data.settings;
    this.readings = readingsOf(data.settings);
    this.runs = pick(LEARNERS, "learner", learner.kind);
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
    return this.runs(this, state);
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
export function finish(generator) {
  for (;;) {
    const { done, value } = generator.next();
    if (done) return value;
  }
}
