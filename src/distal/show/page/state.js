/* What is shown, and the views that draw it. */

export const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

export const state = {
  episode: 0, step: 0, playing: false, learning: false, speed: SPEEDS.indexOf(20), view: "weights",
  log: false, inspected: null, kept: false, jumped: false,
  // inspected is {matrix, row, column} of a synapse; a click, or the address, keeps it when the pointer leaves
};

const views = [];

/** Let a function draw a part of the page whenever something else is to be shown, after those before it. */
export function drawnBy(view) {
  views.push(view);
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
