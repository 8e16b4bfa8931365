/* The trial that this page holds. Episodes are numbered from 0 here and from 1 on the page. */
import { readingsOf } from "./readings.js";
import { MAZE_ACTIONS, Phases } from "./maze.js";
import { FEED, OUTPUTS } from "./network.js";

export const data = JSON.parse(document.getElementById("trial").textContent);
export const H = data.settings.hidden, COLUMNS = FEED + H + OUTPUTS;
export const EPISODES = data.learners[0].eps.length;
export const TASK = data.task ?? null; // a table; null in a maze
export const phases = new Phases(data.phases), MOVES = phases.goals.length > 1;
export const GRADED = readingsOf(data.settings).neurons.graded;
export const ACTIONS = TASK ? TASK.actions : MAZE_ACTIONS;
export const SENSES = TASK ? [...Array(TASK.bits).keys(), "bias"].map(String) : ["left", "front", "right", "bias"];
export const HAS_GRID = !TASK || TASK.picture !== null;
