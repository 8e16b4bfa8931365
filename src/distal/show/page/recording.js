/* A trial, played back: what the reference engine recorded of a learner, or in a task, that the page
 * has no code for. To the panels a Recording is what a Replay is: it gives any episode by its number.
 *
 * The packed bytes are, for all episodes in order: the states (32 bits each, one more than there
 * are steps), the actions (8 bits each), and for every step one bit for each input, the bias, each
 * hidden neuron and each output, in whole bytes. Weights are not in it. */
import { mazesOf, Phases } from "./maze.js";

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** A walk through a maze: a state is cell · 4 + heading. */
function mazeWalk(maze, states) {
  const cells = Array.from(states, (state) => state >>> 2);
  const headings = Array.from(states, (state) => state & 3);
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

export class Recording {
  constructor(data, learner) {
    this.task = data.task;
    this.mazeIn = data.task ? null : mazesOf(data, new Phases(data.phases));
    this.settings = data.settings;
    this.eps = learner.eps;
    this.layers = learner.recording.layers;
    this.steps = learner.recording.steps;
    this.packed = learner.recording.packed;
    let total = 0;
    this.first = this.steps.map((steps) => (total += steps) - steps); // steps before each episode
    this.total = total;
  }

  /** Unpack; nothing can be shown before. */
  async load() {
    const bytes = await unpacked(this.packed), states = this.total + this.steps.length;
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
