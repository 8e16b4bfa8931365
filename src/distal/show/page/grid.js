/* The agent on its grid: a maze, or the picture of a table. */
import { breadth, drawDisc, fit, font, outlined, palette, roomFor } from "./canvas.js";
import { HEADINGS } from "./maze.js";
import { phases, TASK } from "./trial.js";

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

const LARGEST = TASK ? 64 : 40; // pixels of a cell

function cellSize(panel, { rows, columns }) {
  const width = panel.root.querySelector(".walk").clientWidth;
  // Below or beside the maze stands the rest of its panel; where it is not crowded, all of it is seen at once.
  const least = breadth(panel) === 2 ? 232 : 280, rest = [0, 150, 423, 145][breadth(panel)];
  const room = Math.max(least, Math.min(760, roomFor() - rest));
  const size = Math.min(width / columns, room / rows, LARGEST), ratio = window.devicePixelRatio || 1;
  return Math.max(Math.floor(size * ratio), 1) / ratio; // whole pixels: no seams between cells
}

/** The walls and the floor, which are the same for all goals: drawn once for a size and a theme. */
function gridPicture(panel, { rows, columns, wall }, size) {
  const key = `${size} ${palette.page} ${window.devicePixelRatio}`;
  if (panel.picture && panel.picture.key === key) return panel.picture.canvas;
  const canvas = document.createElement("canvas");
  const context = fit(canvas, columns * size, rows * size);
  context.fillStyle = palette.wall;
  context.fillRect(0, 0, columns * size, rows * size);
  context.fillStyle = palette.floor;
  context.strokeStyle = palette.line;
  for (let cell = 0; cell < wall.length; cell++) {
    const x = (cell % columns) * size, y = Math.floor(cell / columns) * size;
    if (!wall[cell]) context.fillRect(x, y, size, size);
    if (!wall[cell] && TASK) context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1); // a floor without walls has no cells to see
  }
  panel.picture = { key, canvas };
  return canvas;
}

/** Draw the grid, the path as far as it goes, and the agent. */
export function drawGrid(panel, episode, step) {
  const grid = gridIn(panel, episode.number), size = cellSize(panel, grid);
  const width = grid.columns * size, height = grid.rows * size;
  const picture = gridPicture(panel, grid, size);
  const context = fit(panel.$maze, width, height);
  context.clearRect(0, 0, width, height);
  context.drawImage(picture, 0, 0, width, height);
  const x = (cell) => (cell % grid.columns) * size, y = (cell) => Math.floor(cell / grid.columns) * size;
  const mine = palette[panel.colour], half = size / 2;

  // Cells visited, the path so far.
  const visits = new Map();
  for (let t = 0; t <= step; t++) visits.set(episode.cells[t], (visits.get(episode.cells[t]) || 0) + 1);
  context.fillStyle = mine;
  for (const [cell, times] of visits) {
    context.globalAlpha = Math.min(0.14 + 0.05 * times, 0.5);
    context.fillRect(x(cell), y(cell), size, size);
  }
  context.globalAlpha = 1;
  context.strokeStyle = mine;
  context.lineWidth = Math.min(Math.max(1, size * 0.16), 7);
  context.lineJoin = context.lineCap = "round";
  context.beginPath();
  for (let t = 0; t <= step; t++) {
    const cell = episode.cells[t], leapt = t === 0 || isLeap(grid, episode.cells[t - 1], cell);
    context[leapt ? "moveTo" : "lineTo"](x(cell) + half, y(cell) + half);
  }
  context.stroke();

  // The start, the goal and the pits, over the path so that they stay readable.
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineCap = "butt";
  const whole = Math.max(size, Math.min(1.5 * size, 12), 5); // in a large maze, larger than a cell
  context.strokeStyle = palette.start;
  context.lineWidth = Math.min(Math.max(1.5, size * 0.16), 7);
  context.beginPath();
  context.arc(x(grid.start) + half, y(grid.start) + half, whole * 0.3, 0, 7);
  context.stroke();
  for (const { symbol, cell, role } of grid.marks) {
    const isGoal = role === "goal", within = isGoal && TASK; // the ring of a maze's goal is larger than its cell
    const mark = within ? size * 0.56 : whole, left = x(cell) + (size - mark) / 2, top = y(cell) + (size - mark) / 2;
    if (role === "place") {
      context.fillStyle = palette.soft;
      context.font = font(Math.min(size * 0.7, 18), 700);
      context.fillText(symbol, x(cell) + half, y(cell) + half + size * 0.05);
      continue;
    }
    context.fillStyle = context.strokeStyle = isGoal ? palette.goal : palette.pit;
    if (isGoal) {
      context.fillStyle = palette.card;
      context.fillRect(left - mark * 0.22, top - mark * 0.22, mark * 1.44, mark * 1.44);
      context.fillStyle = palette.goal;
      context.fillRect(left, top, mark, mark);
      context.lineWidth = Math.max(1.5, mark * 0.14);
      context.strokeRect(left - mark * 0.22, top - mark * 0.22, mark * 1.44, mark * 1.44);
      context.fillStyle = palette["on-goal"];
    } else {
      const entered = visits.has(cell);
      context.globalAlpha = entered ? 0.75 : 0.28;
      context.fillRect(left, top, mark, mark);
      context.globalAlpha = 1;
      context.lineWidth = Math.min(Math.max(1, mark * 0.08), 3.2);
      context.strokeRect(left + 0.5, top + 0.5, mark - 1, mark - 1);
      context.globalAlpha = 0.6;
      context.beginPath();
      context.moveTo(left, top);
      context.lineTo(left + mark, top + mark);
      context.moveTo(left + mark, top);
      context.lineTo(left, top + mark);
      context.stroke();
      context.globalAlpha = 1;
      context.fillStyle = palette.ink;
    }
    if (mark >= 10) {
      context.font = font(Math.min(mark * 0.82, 18), 700);
      if (!isGoal) {
        context.strokeStyle = palette.card;
        context.lineWidth = 3;
        context.lineJoin = "round";
        context.strokeText(symbol, x(cell) + half, y(cell) + half + size * 0.05);
      }
      context.fillText(symbol, x(cell) + half, y(cell) + half + size * 0.05);
    }
  }

  const cell = episode.cells[step], heading = episode.headings[step], thing = TASK ? episode.things[step] : -1;
  const agent = Math.max(size * (TASK ? 0.36 : 0.8), 7);
  if (heading < 0) drawDisc(context, x(cell) + half, y(cell) + half, agent, mine);
  else drawAgent(context, x(cell) + half, y(cell) + half, agent, heading, mine);
  if (thing >= 0) drawDisc(context, x(thing) + size * 0.76, y(thing) + size * 0.76, Math.max(size * 0.15, 3), palette.ink);

  const row = Math.floor(cell / grid.columns), column = cell % grid.columns, ahead = heading < 0 ? "" : `, heading ${HEADINGS[heading]}`;
  panel.$maze.setAttribute("aria-label", `${TASK ? `${TASK.name}:` : `The maze: goal ${phases.goal(episode.number)},`} the agent at row ${row}, column ${column}${ahead}, step ${step} of ${episode.steps}`);
}

/** Whether a step leads further than a wall is thick, as after a fall: then the path has a gap. */
function isLeap({ columns }, from, to) {
  const down = Math.abs(Math.floor(to / columns) - Math.floor(from / columns)), across = Math.abs((to % columns) - (from % columns));
  return Math.min(down, across) > 0 || Math.max(down, across) > 2;
}

function drawAgent(context, x, y, size, heading, colour) {
  context.save();
  context.translate(x, y);
  context.rotate((heading * Math.PI) / 2);
  context.beginPath();
  context.moveTo(0, -size);
  context.lineTo(size * 0.72, size * 0.75);
  context.lineTo(0, size * 0.42);
  context.lineTo(-size * 0.72, size * 0.75);
  context.closePath();
  outlined(context, size * 0.175, colour);
  context.restore();
}
