/* Where the agent is and has been: on the grid of a maze or of a table's picture, or among a table's states as boxes. */
import { breadth, cached, circle, fit, font, grouped, lines, outlined, palette, plural, roomFor } from "./elements.js";
import { HEADINGS } from "./maze.js";
import { phases, TASK } from "./trial.js";

const LARGEST = TASK ? 64 : 40; // pixels of a cell
const BOX = { height: 26, gap: 4, most: 200 }; // pixels; boxes at a time

/** Draw the walk of an episode up to a step. */
export function drawWalk(panel, episode, step) {
  if (!TASK || TASK.picture) drawGrid(panel, episode, step);
  else drawStates(panel, episode, step);
}

/** How often the agent has been in each place. */
function visited(places, step) {
  const visits = new Map();
  for (let t = 0; t <= step; t++) visits.set(places[t], (visits.get(places[t]) || 0) + 1);
  return visits;
}

/** A grid has walls, a start, and marks: goals, pits, and places that have a name alone. */
function mazeGrid({ rows, columns, wall, start, goal, finals }) {
  const marks = finals.map(({ symbol, cell }) => ({ cell, symbol, role: cell === goal ? "goal" : "pit" }));
  return { rows, columns, wall, start, marks };
}

function tableGrid(rows) {
  const symbols = [...rows.join("")], roles = { G: "goal", H: "pit" };
  const named = (symbol) => (roles[symbol] ? "" : symbol.toUpperCase());
  return {
    rows: rows.length, columns: rows[0].length,
    wall: symbols.map((symbol) => symbol === "#"), start: symbols.indexOf("S"),
    marks: symbols.flatMap((symbol, cell) => ("#.S".includes(symbol) ? [] : [{ cell, symbol: named(symbol), role: roles[symbol] ?? "place" }])),
  };
}

const grids = new Map(); // by goal

/** What the agent walks on in an episode: the goal may have moved. */
function gridIn(panel, number) {
  const goal = phases.goal(number);
  if (!grids.has(goal)) grids.set(goal, TASK ? tableGrid(TASK.picture.rows[goal]) : mazeGrid(panel.replay.mazeIn(number)));
  return grids.get(goal);
}

function cellSize(panel, { rows, columns }) {
  const width = panel.root.querySelector(".walk").clientWidth;
  // Below or beside the maze stands the rest of its panel; where it is not crowded, all of it is seen at once.
  const least = breadth(panel) === 2 ? 232 : 280, rest = [0, 150, 423, 145][breadth(panel)];
  const room = Math.max(least, Math.min(760, roomFor() - rest));
  const size = Math.min(width / columns, room / rows, LARGEST), ratio = window.devicePixelRatio || 1;
  return Math.max(Math.floor(size * ratio), 1) / ratio; // whole pixels: no seams between cells
}

/** The walls and the floor, which are the same for all goals. */
function floorPicture({ rows, columns, wall }, size) {
  const canvas = document.createElement("canvas"), context = fit(canvas, columns * size, rows * size);
  context.fillStyle = palette.wall;
  context.fillRect(0, 0, columns * size, rows * size);
  Object.assign(context, { fillStyle: palette.floor, strokeStyle: palette.line });
  wall.forEach((isWall, cell) => {
    if (isWall) return;
    const x = (cell % columns) * size, y = Math.floor(cell / columns) * size;
    context.fillRect(x, y, size, size);
    if (TASK) context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1); // a floor without walls has no cells to see
  });
  return canvas;
}

function drawGrid(panel, episode, step) {
  const grid = gridIn(panel, episode.number), { columns } = grid, size = cellSize(panel, grid), half = size / 2;
  const floor = cached(panel, "floor", `${size} ${palette.page} ${window.devicePixelRatio}`, () => floorPicture(grid, size));
  const context = fit(panel.$maze, columns * size, grid.rows * size);
  context.drawImage(floor, 0, 0, columns * size, grid.rows * size);
  const x = (cell) => (cell % columns) * size, y = (cell) => Math.floor(cell / columns) * size;
  const mine = palette[panel.colour], visits = visited(episode.cells, step);

  context.fillStyle = mine;
  for (const [cell, times] of visits) {
    context.globalAlpha = Math.min(0.14 + 0.05 * times, 0.5);
    context.fillRect(x(cell), y(cell), size, size);
  }
  Object.assign(context, { globalAlpha: 1, strokeStyle: mine, lineWidth: Math.min(Math.max(1, size * 0.16), 7), lineJoin: "round", lineCap: "round" });
  context.beginPath();
  for (let t = 0; t <= step; t++) {
    const cell = episode.cells[t], leapt = t === 0 || isLeap(columns, episode.cells[t - 1], cell);
    context[leapt ? "moveTo" : "lineTo"](x(cell) + half, y(cell) + half);
  }
  context.stroke();

  // The start, the goal and the pits, over the path so that they stay readable.
  const whole = Math.max(size, Math.min(1.5 * size, 12), 5); // in a large maze, larger than a cell
  Object.assign(context, { textAlign: "center", textBaseline: "middle", lineCap: "butt", strokeStyle: palette.start, lineWidth: Math.min(Math.max(1.5, size * 0.16), 7) });
  circle(context, x(grid.start) + half, y(grid.start) + half, whole * 0.3);
  context.stroke();
  for (const { symbol, cell, role } of grid.marks) {
    const mark = role === "goal" && TASK ? size * 0.56 : whole; // the ring of a maze's goal is larger than its cell
    const left = x(cell) + (size - mark) / 2, top = y(cell) + (size - mark) / 2;
    if (role === "place") Object.assign(context, { fillStyle: palette.soft, font: font(Math.min(size * 0.7, 18), 700) });
    else {
      if (role === "goal") drawGoal(context, left, top, mark);
      else drawPit(context, left, top, mark, visits.has(cell));
      if (mark < 10) continue;
      context.font = font(Math.min(mark * 0.82, 18), 700);
      Object.assign(context, { strokeStyle: palette.card, lineWidth: 3, lineJoin: "round" });
      if (role === "pit") context.strokeText(symbol, x(cell) + half, y(cell) + half + size * 0.05);
    }
    context.fillText(symbol, x(cell) + half, y(cell) + half + size * 0.05);
  }

  const cell = episode.cells[step], heading = episode.headings[step], thing = TASK ? episode.things[step] : -1;
  const agent = Math.max(size * (TASK ? 0.36 : 0.8), 7);
  if (heading < 0) drawDisc(context, x(cell) + half, y(cell) + half, agent, mine);
  else drawAgent(context, x(cell) + half, y(cell) + half, agent, heading, mine);
  if (thing >= 0) drawDisc(context, x(thing) + size * 0.76, y(thing) + size * 0.76, Math.max(size * 0.15, 3), palette.ink);

  const row = Math.floor(cell / columns), column = cell % columns, ahead = heading < 0 ? "" : `, heading ${HEADINGS[heading]}`;
  panel.$maze.setAttribute("aria-label", `${TASK ? `${TASK.name}:` : `The maze: goal ${phases.goal(episode.number)},`} the agent at row ${row}, column ${column}${ahead}, step ${step} of ${episode.steps}`);
}

/** Whether a step leads further than a wall is thick, as after a fall: then the path has a gap. */
function isLeap(columns, from, to) {
  const down = Math.abs(Math.floor(to / columns) - Math.floor(from / columns)), across = Math.abs((to % columns) - (from % columns));
  return Math.min(down, across) > 0 || Math.max(down, across) > 2;
}

/** A goal is a square with a ring round it. */
function drawGoal(context, left, top, mark) {
  const around = [left - mark * 0.22, top - mark * 0.22, mark * 1.44, mark * 1.44];
  context.fillStyle = palette.card;
  context.fillRect(...around);
  Object.assign(context, { fillStyle: palette.goal, strokeStyle: palette.goal, lineWidth: Math.max(1.5, mark * 0.14) });
  context.fillRect(left, top, mark, mark);
  context.strokeRect(...around);
  context.fillStyle = palette["on-goal"];
}

/** A pit is a crossed square; stronger once the agent has entered it. */
function drawPit(context, left, top, mark, entered) {
  Object.assign(context, { fillStyle: palette.pit, strokeStyle: palette.pit, lineWidth: Math.min(Math.max(1, mark * 0.08), 3.2), globalAlpha: entered ? 0.75 : 0.28 });
  context.fillRect(left, top, mark, mark);
  context.globalAlpha = 1;
  context.strokeRect(left + 0.5, top + 0.5, mark - 1, mark - 1);
  context.globalAlpha = 0.6;
  lines(context, [left, top, left + mark, top + mark], [left + mark, top, left, top + mark]);
  Object.assign(context, { globalAlpha: 1, fillStyle: palette.ink });
}

function drawDisc(context, x, y, radius, colour) {
  circle(context, x, y, radius);
  outlined(context, radius * 0.25, colour);
}

/** The agent is a triangle that points where it is heading. */
function drawAgent(context, x, y, size, heading, colour) {
  context.save();
  context.translate(x, y);
  context.rotate((heading * Math.PI) / 2);
  context.beginPath();
  for (const [across, down] of [[0, -1], [0.72, 0.75], [0, 0.42], [-0.72, 0.75]]) context.lineTo(size * across, size * down);
  context.closePath();
  outlined(context, size * 0.175, colour);
  context.restore();
}

/** The states that have a box: all of a small table, of a large one those that were visited in the trial. */
function statesOf(panel) {
  panel.listed ??= TASK.states <= BOX.most
    ? Array.from({ length: TASK.states }, (_, state) => state)
    : [...new Set(panel.replay.states)].sort((a, b) => a - b);
  return panel.listed;
}

function drawStates(panel, episode, step) {
  const all = statesOf(panel), here = episode.states[step], { height, gap, most } = BOX;
  const first = Math.floor(all.indexOf(here) / most) * most, some = all.slice(first, first + most);
  const width = panel.root.querySelector(".walk").clientWidth, box = Math.max(30, 12 + 8 * String(all[all.length - 1]).length);
  const columns = Math.max(1, Math.floor((width + gap) / (box + gap))), rows = Math.ceil(some.length / columns);
  const context = fit(panel.$maze, width, rows * (height + gap) + 20);
  const visits = visited(episode.states, step), start = TASK.starts[phases.goal(episode.number)];
  Object.assign(context, { textBaseline: "middle", textAlign: "center" });
  some.forEach((state, k) => {
    const x = (k % columns) * (box + gap) + 1, y = Math.floor(k / columns) * (height + gap) + 1, times = visits.get(state) || 0;
    context.beginPath();
    context.roundRect(x, y, box - 2, height - 2, 4);
    context.fillStyle = palette.page;
    context.fill();
    Object.assign(context, { fillStyle: palette[panel.colour], globalAlpha: state === here ? 1 : times ? Math.min(0.14 + 0.05 * times, 0.4) : 0 });
    context.fill();
    Object.assign(context, { globalAlpha: 1, strokeStyle: state === start ? palette.start : palette.line, lineWidth: state === start ? 2 : 1 });
    context.stroke();
    context.font = font(12, state === here ? 700 : 400);
    context.fillStyle = state === here ? palette[`on-${panel.colour}`] : times ? palette.ink : palette.soft;
    context.fillText(String(state), x + box / 2 - 1, y + height / 2 - 0.5);
  });
  const which = all.length === TASK.states ? plural(all.length, "state") : `${plural(all.length, "state")} visited in this trial, of ${grouped(TASK.states)}`;
  const part = some.length < all.length ? `, here ${grouped(first + 1)} to ${grouped(first + some.length)}` : "";
  Object.assign(context, { textAlign: "left", font: font(11), fillStyle: palette.soft });
  context.fillText(which + part, 1, rows * (height + gap) + 12);
  panel.$maze.setAttribute("aria-label", `${which}${part}: the agent in state ${here}, step ${step} of ${episode.steps}; visited ${[...visits.keys()].join(" ")}`);
}
