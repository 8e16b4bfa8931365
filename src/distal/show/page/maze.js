/* A maze, the goals that move in it, and the distance of every cell from the goal. */

export const HEADINGS = ["north", "east", "south", "west"];
export const MAZE_ACTIONS = ["stop", "left", "right", "straight"];
export const TURNS = [0, 3, 1, 0]; // the turn of each action, in quarter turns to the right
export const PIT_PENALTY = 5;

/** The maze of a trial: cells are flat indices, row · columns + column. */
function makeMaze(picture, heading, goalSymbol) {
  const rows = picture.length, columns = picture[0].length;
  const wall = new Uint8Array(rows * columns), pit = new Uint8Array(rows * columns);
  const finals = []; // {symbol, cell}
  let start = 0, goal = 0;
  [...picture.join("")].forEach((symbol, cell) => {
    if (symbol === "#") wall[cell] = 1;
    else if (symbol === "S") start = cell;
    else if (symbol !== ".") {
      finals.push({ symbol, cell });
      if (symbol === goalSymbol) goal = cell;
      else pit[cell] = 1;
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
  return { rows, columns, wall, pit, finals, start, goal, ahead, distance, heading: HEADINGS.indexOf(heading) };
}

/** Which goal each episode has. A trial whose goal does not move has one phase. */
export class Phases {
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

/** Return a function that gives the maze of an episode; there is one maze for each goal. */
export function mazesOf(data, phases) {
  const mazes = new Map();
  return (number) => {
    const goal = phases.goal(number);
    if (!mazes.has(goal)) mazes.set(goal, makeMaze(data.maze, data.heading, goal));
    return mazes.get(goal);
  };
}
