"""The maze as a task: the agent's walk in one episode, its episodic performance (EP), and its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from distal.base.checks import code_for, counted, instance, integer
from distal.base.frozen import made
from distal.model.maze import (
    ACTIONS,
    BLOCKED_READINGS,
    HEADINGS,
    TURNS,
    Maze,
    maze_name,
    moved,
    sensed,
    t_maze,
    triple_t_maze,
)
from distal.model.settings import MAX_STEPS, Settings
from distal.tasks.table import Table
from distal.tasks.task import Task, Walk

PIT_PENALTY = 5


def episodic_performance(steps: int, reached: bool, distance: int, pits: int, n_steps: int) -> int:
    """Return the steps taken, or N_steps + the distance left, plus 5 for each pit entry.

    Lower is better.
    """
    base = steps if reached else n_steps + distance
    return base + PIT_PENALTY * pits


@dataclass(frozen=True, repr=False)
class MazeTask(Task["MazeWalk"]):
    """Find a final position of a maze; goals are numbered from 0, in the order of their symbols.

    Args:
        maze: The maze.
        steps: The most steps of an episode, unless settings say otherwise; the usual 100 if None.

    Raises:
        InputError: If it is not a maze.
    """

    maze: Maze
    steps: int | None = None
    goals: tuple[str, ...] = field(init=False, compare=False)

    name = "maze"
    inputs = 3  # walls to the left, in front, to the right
    outputs = len(ACTIONS)
    actions = ACTIONS
    lowest = 0
    ignores = ()
    in_python = False
    goal_label = "final position"
    place = ""

    def __post_init__(self) -> None:
        instance("maze", self.maze, Maze, "a Maze")
        object.__setattr__(self, "goals", tuple(self.maze.symbols))
        if self.steps is not None:
            object.__setattr__(self, "steps", integer("steps", self.steps, 1, MAX_STEPS))

    @classmethod
    def scaled(cls, maze: Maze) -> MazeTask:
        """Return a maze with the steps that `scaled_steps` gives it."""
        return cls(maze, scaled_steps(maze))

    def begin(self, goal: int, settings: Settings) -> MazeWalk:
        """Put the agent on the start; it has `settings.steps` steps to find the goal."""
        return MazeWalk(self.maze, goal, settings)

    def target(self, settings: Settings) -> int:
        """Return the highest EP that is a success: in the paper, an EP below N_steps, pits included."""
        return instance("settings", settings, Settings, "a Settings").steps - 1

    def table(self, settings: Settings) -> Table:
        """Return the maze as a table."""
        return maze_table(self.maze, instance("settings", settings, Settings, "a Settings").blocked)

    def fields(self) -> dict[str, Any]:
        """Return the fields that name the maze in the JSON of results and runs."""
        return {"maze": list(self.maze.picture), "heading": self.maze.heading}

    @property
    def resets(self) -> Sequence[Mapping[str, Any]]:  # type: ignore[override]
        """The arguments of `MazeEnv.reset`, goal by goal."""
        return tuple({"options": {"goal": goal}} for goal in range(len(self.goals)))

    @property
    def label(self) -> str:
        """The name of the maze in lists of runs."""
        return maze_name(self.maze)

    def lesson(self, goal: str | None) -> str:
        """Return the goal in words, such as "to reach goal 3"; None is a goal that moves."""
        return f"to reach {'a goal that moves' if goal is None else f'goal {goal}'}"

    def __repr__(self) -> str:
        rows, columns = self.maze.shape
        return f"MazeTask({self.label}: {rows} × {columns}, {counted(len(self.goals), self.goal_label)})"


def levels_task(levels: int) -> MazeTask:
    """Return the T-maze of a number of levels with the paper's corridors: with three it is the default.

    The others are T-mazes with corridors as wide.
    """
    return MazeTask(triple_t_maze() if levels == 3 else t_maze(levels))


def scaled_steps(maze: Maze) -> int:
    """Return how many steps an episode needs to be as generous as the paper's.

    There, an episode has 100 steps and the shortest path takes 38.5 on average; the same ratio
    is taken, rounded up.
    """
    paper = triple_t_maze().start_distances
    own = instance("maze", maze, Maze, "a Maze").start_distances
    # In whole numbers: 100 · mean(own) / mean(paper).
    return min(MAX_STEPS, -(-Settings().steps * sum(own) * len(paper) // (sum(paper) * len(own))))


class MazeWalk(Walk):
    """A walk through a maze, complete or not.

    Args:
        maze: The maze.
        goal: The final position to find, from 0.
        settings: The number of steps, and the effect of a blocked move.

    Attributes:
        cells: The cells of the agent, from the start on.
        headings: Its heading there: 0 north, 1 east, 2 south, 3 west.
        pits: The number of its entries into pits.

    Raises:
        InputError: If an argument is wrong, or the maze has no such goal.
    """

    def __init__(self, maze: Maze, goal: int, settings: Settings) -> None:
        self.maze = instance("maze", maze, Maze, "a Maze")
        self.goal = integer("goal", goal, 0, len(maze.finals) - 1)
        self.settings = instance("settings", settings, Settings, "a Settings")
        self.cells = [maze.start]
        self.headings = [HEADINGS.index(maze.heading)]
        self._in_place = code_for("blocked", BLOCKED_READINGS, settings.blocked)
        self.pits = 0

    def __repr__(self) -> str:
        where = "reached" if self.reached else f"{self.distance} away"
        goal = self.maze.symbols[self.goal]
        return f"MazeWalk({counted(self.steps, 'step')}, goal {goal} {where}, EP {self.ep})"

    @property
    def steps(self) -> int:
        """The number of steps taken so far."""
        return len(self.cells) - 1

    @property
    def reached(self) -> bool:
        """Whether the agent stands on the goal."""
        return self.cells[-1] == self.maze.finals[self.goal]

    @property
    def over(self) -> bool:
        """Whether the walk has ended, at the goal or after the last step."""
        return self.reached or self.steps == self.settings.steps

    @property
    def distance(self) -> int:
        """The length of the shortest remaining path."""
        return int(self.maze.distances[self.goal][self.cells[-1]])

    @property
    def ep(self) -> int:
        """The EP if the walk ends here."""
        return episodic_performance(self.steps, self.reached, self.distance, self.pits, self.settings.steps)

    def sense(self) -> tuple[int, int, int]:
        """Return the agent's inputs: walls to the left, in front, to the right."""
        return sensed(self.maze.walls, self.cells[-1], self.headings[-1])

    def act(self, action: int) -> None:
        """Take one step."""
        maze, action = self.maze, integer("action", action, 0, len(ACTIONS) - 1)
        cell, heading = moved(maze.walls, self.cells[-1], self.headings[-1], action, self._in_place)
        if cell != self.cells[-1] and cell in maze.finals and cell != maze.finals[self.goal]:
            self.pits += 1
        self.cells.append(cell)
        self.headings.append(heading)


@lru_cache(maxsize=4)
def maze_table(maze: Maze, blocked: str) -> Table:
    """Turn a maze into a table: a state is cell · 4 + heading, an event is 1 + the final position entered."""
    in_place = code_for("blocked", BLOCKED_READINGS, blocked)
    rows, columns = maze.shape
    cells = rows * columns
    wall = maze.walls.ravel()
    cell, heading = np.divmod(np.arange(cells * 4), 4)
    ahead = np.array([-columns, 1, columns, -1])
    # Looks and moves wrap in border walls alone.
    look = [(cell + ahead[(heading + turn) % 4]) % cells for turn in (-1, 0, 1)]
    final = np.zeros(cells, np.int64)
    for number, (row, column) in enumerate(maze.finals, start=1):
        final[row * columns + column] = number

    following = np.empty((cells * 4, len(TURNS)), np.int32)
    events = np.empty((cells * 4, len(TURNS)), np.uint8)
    for action, turn in enumerate(TURNS):
        turned = (heading + turn) % 4
        there = (cell + ahead[turned]) % cells
        moved = ~wall[there] if action else np.zeros(cells * 4, np.bool_)
        new_heading = np.where(moved, turned, in_place(turned, heading)) if action else heading
        following[:, action] = np.where(moved, there, cell) * 4 + new_heading
        events[:, action] = np.where(moved, final[there], 0)

    finals = len(maze.finals)
    ends = np.eye(finals, finals + 1, 1, dtype=np.bool_)  # entering the goal
    costs = np.where(ends, 0, PIT_PENALTY).astype(np.int32)
    costs[:, 0] = 0
    start = (maze.start[0] * columns + maze.start[1]) * 4 + HEADINGS.index(maze.heading)
    return made(
        Table,
        observations=np.stack([wall[seen] for seen in look], axis=1).view(np.uint8),
        following=following,
        events=events,
        costs=costs,
        ends=ends,
        left=np.repeat(maze.distances.reshape(finals, cells), 4, axis=1),
        start=np.full(finals, start, np.int32),
        step_cost=1,
    )
