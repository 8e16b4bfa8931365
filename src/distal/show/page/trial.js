/* The trial that this page holds, and what of it is shown. Episodes are numbered from 0 here, from 1 on the page. */
import { MAZE_ACTIONS, Phases } from "./maze.js";
import { FEED, OUTPUTS } from "./network.js";
import { readingsOf } from "./readings.js";

export const data = JSON.parse(document.getElementById("trial").textContent);
export const H = data.settings.hidden, COLUMNS = FEED + H + OUTPUTS;
export const EPISODES = data.learners[0].eps.length;
export const TASK = data.task ?? null; // a table; null in a maze
export const phases = new Phases(data.phases), MOVES = phases.goals.length > 1;
export const GRADED = readingsOf(data.settings).neurons.graded;
export const ACTIONS = TASK ? TASK.actions : MAZE_ACTIONS;
export const SENSES = TASK ? [...Array(TASK.bits).keys(), "bias"].map(String) : ["left", "front", "right", "bias"];
export const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** What is shown. `inspected` is {matrix, row, column} of a synapse; `kept` if it stays when the pointer leaves. */
export const state = {
  episode: 0, step: 0, playing: false, learning: false, speed: SPEEDS.indexOf(20), view: "weights",
  log: false, inspected: null, kept: false, jumped: false,
};

const views = [];

/** Let functions draw the page, in this order, whenever something else is to be shown. */
export function drawnBy(...drawing) {
  views.push(...drawing);
}

/** Draw the page. */
export function render() {
  for (const view of views) view();
}

/** Change what is shown. */
export function set(change) {
  Object.assign(state, change);
  render();
}
