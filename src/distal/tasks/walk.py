"""The agent's walk through the maze in one episode, and its episodic performance (EP)."""

from __future__ import annotations

from dataclasses import dataclass

from distal.base.checks import instance, integer, one_of
from distal.model.maze import ACTIONS, HEADINGS, Maze
from distal.model.settings import MAX_STEPS, READINGS, default

PIT_PENALTY = 5


def episodic_performance(steps: int, reached: bool, distance: int, pits: int, n_steps: int) -> int:
    """Return the steps taken, or N_steps + the distance left, plus 5 for each pit entry.

    Lower is better.
    """
    base = steps if reached else n_steps + distance
    return base + PIT_PENALTY * pits


@dataclass(frozen=True)
class MazeTask:
    """Find the final position `goal`, an index, of a maze in at most `steps` steps."""

    maze: Maze
    goal: int
    steps: int = 100
    blocked: str = default("blocked")

    def __post_init__(self) -> None:
        finals = instance("maze", self.maze, Maze, "a Maze").finals
        object.__setattr__(self, "goal", integer("goal", self.goal, 0, len(finals) - 1))
        object.__setattr__(self, "steps", integer("steps", self.steps, 1, MAX_STEPS))
        object.__setattr__(self, "blocked", one_of("blocked", self.blocked, READINGS["blocked"]))

    inputs = 3  # walls to the left, in front, to the right
    outputs = len(ACTIONS)

    def begin(self) -> MazeWalk:
        """Put the agent on the start."""
        return MazeWalk(self)


class MazeWalk:
    """A walk under way, or over; `cells` and `headings` go from the start on."""

    def __init__(self, task: MazeTask) -> None:
        self.task = instance("task", task, MazeTask, "a MazeTask")
        self.cells = [task.maze.start]
        self.headings = [HEADINGS.index(task.maze.heading)]
        self.pits = 0  # entries into a pit

    @property
    def steps(self) -> int:
        """The number of steps taken so far."""
        return len(self.cells) - 1

    @property
    def reached(self) -> bool:
        """Whether the agent stands on the goal."""
        return self.cells[-1] == self.task.maze.finals[self.task.goal]

    @property
    def over(self) -> bool:
        """Whether the walk has ended, at the goal or after the last step."""
        return self.reached or self.steps == self.task.steps

    @property
    def distance(self) -> int:
        """The length of the shortest path that is left."""
        return int(self.task.maze.distances[self.task.goal][self.cells[-1]])

    @property
    def ep(self) -> int:
        """The EP if the walk ends here."""
        return episodic_performance(self.steps, self.reached, self.distance, self.pits, self.task.steps)

    def sense(self) -> tuple[int, int, int]:
        """Return what the agent senses here: walls to the left, in front, to the right."""
        return self.task.maze.sense(self.cells[-1], self.headings[-1])

    def act(self, action: int) -> None:
        """Take one step."""
        maze = self.task.maze
        cell, heading = maze.move(self.cells[-1], self.headings[-1], action, self.task.blocked)
        if cell != self.cells[-1] and cell in maze.finals and cell != maze.finals[self.task.goal]:
            self.pits += 1
        self.cells.append(cell)
        self.headings.append(heading)
