"""Random batches, to compare engines with; extreme numbers come often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal import Chance, HillClimbing, Maze, Rule, Settings, triple_t_maze
from distal.engines import Batch
from distal.evaluation.trials import batch_of
from distal.learners import Learner
from distal.model.readings import NEURONS, READINGS
from distal.tasks.mazes import MazeTask
from distal.tasks.switching import BACK, NEW, Switch
from distal.tasks.table import Table
from distal.tasks.task import Task


def trials_of(
    learners: Sequence[Learner],
    settings: Settings,
    episodes: int,
    trials: int = 1,
    task: Task[Any] | None = None,
    seeds: NDArray[np.uint64] | None = None,
    **options: Any,
) -> Batch:
    """Make trials of each learner for each goal of a task, or of the triple T-maze; learner k has seed k."""
    task = MazeTask(triple_t_maze()) if task is None else task
    seeds = np.arange(len(learners), dtype=np.uint64) if seeds is None else seeds
    return batch_of(
        learners, seeds, trials=trials, episodes=episodes, task=task, settings=settings, **options
    )


def random_maze(rng: np.random.Generator) -> Maze:
    """Carve a maze by a random walk from the start."""
    rows, columns = rng.integers(3, 12, 2)
    columns = max(columns, 4)
    cell = np.array([rng.integers(1, rows - 1), rng.integers(1, columns - 1)])
    start, visited = tuple(cell.tolist()), set()
    for move in rng.integers(0, 4, 80):
        there = cell + [(-1, 0), (1, 0), (0, -1), (0, 1)][move]
        if 1 <= there[0] <= rows - 2 and 1 <= there[1] <= columns - 2:
            cell = there
            visited.add(tuple(cell.tolist()))
    return _carved(rng, rows, columns, start, visited)


def random_wide_maze(rng: np.random.Generator) -> Maze:
    """Carve corridors of two to four cells, by a walk of long strides, and sometimes rooms beside them."""
    width = int(rng.integers(2, 5))
    rows, columns = rng.integers(12, 33, 2)  # no more states than a narrow table of engine cpu has
    corner = np.array([rng.integers(1, rows - width), rng.integers(1, columns - width)])
    start = tuple((corner + width // 2).tolist())
    visited: set[tuple[int, ...]] = set()
    for move, length in zip(rng.integers(0, 4, 12), rng.integers(width, 12, 12), strict=True):
        for _ in range(length):
            visited |= {(int(corner[0]) + k // width, int(corner[1]) + k % width) for k in range(width**2)}
            there = corner + [(-1, 0), (1, 0), (0, -1), (0, 1)][move]
            if 1 <= there[0] < rows - width and 1 <= there[1] < columns - width:
                corner = there
        if rng.random() < 0.15:  # a room, with this end of the corridor in it
            high, far = np.minimum(corner + rng.integers(width, 10, 2), (rows - 1, columns - 1)).tolist()
            visited |= {(r, c) for r in range(int(corner[0]), high) for c in range(int(corner[1]), far)}
    return _carved(rng, rows, columns, start, visited)


def _carved(
    rng: np.random.Generator, rows: int, columns: int, start: tuple[int, ...], visited: set[tuple[int, ...]]
) -> Maze:
    """Make a maze of the cells that were visited, with up to four final positions and any heading."""
    empty = sorted(visited - {start})
    grid = [["#"] * columns for _ in range(rows)]
    for row, column in empty:
        grid[row][column] = "."
    for symbol, k in zip("0123", rng.permutation(len(empty)), strict=False):
        grid[empty[k][0]][empty[k][1]] = symbol
    grid[start[0]][start[1]] = "S"
    return Maze(tuple("".join(line) for line in grid), ("north", "east", "south", "west")[rng.integers(4)])


def random_table(rng: np.random.Generator, inputs: int = 3, actions: int = 4) -> Table:
    """Make a small task that is no maze: any costs, several goals, each with its own start."""
    states, goals, events = rng.integers((2, 1, 40), (9, 4, 65))  # events beyond a word of 32, too
    costs, ends = rng.integers(-9, 9, (goals, events)), rng.random((goals, events)) < 0.1
    costs[:, 0] = ends[:, 0] = 0
    return Table(
        rng.integers(0, 2, (states, inputs), np.uint8),
        rng.integers(0, states, (states, actions), np.int32),
        rng.integers(0, events, (states, actions), np.uint8) * (rng.random((states, actions)) < 0.3),
        costs.astype(np.int32),
        ends,
        rng.integers(-50, 50, (goals, states), np.int32),
        start=rng.integers(0, states, goals),
        step_cost=int(rng.integers(-3, 7)),
    )


def random_learner(rng: np.random.Generator, kind: str) -> Learner:
    """Draw a learner of a kind."""

    def unit() -> float:
        return float(rng.choice([0.0, 1.0, 0.5, rng.random(), 0.1 * rng.random()]))

    changes = rng.choice([-1, 0, 1], 32, p=rng.dirichlet(np.ones(3)))
    if kind == "chance":
        return Chance(unit(), unit())
    if kind == "hc":
        return HillClimbing(unit(), unit(), unit())
    return Rule(changes.tolist(), unit(), unit(), unit(), unit())


def random_trials(
    rng: np.random.Generator, kind: str, task: Task[Any], settings: Settings, episodes: int, trials: int = 8
) -> Batch:
    """Make trials with four learners of a kind; goals often move, where there are several."""
    moving = len(task.goals) > 1 and rng.random() < 0.4
    return Batch(
        learners=tuple(random_learner(rng, kind) for _ in range(4)),
        learner=np.arange(trials, dtype=np.int32) % 4,
        goal=rng.integers(0, len(task.goals), trials).astype(np.int32),
        seed=rng.integers(0, 2**64, trials, np.uint64),
        task=task,
        settings=settings,
        episodes=episodes,
        resample=int(rng.integers(1, 9)) if rng.random() < 0.4 else None,
        switch=Switch(int(rng.integers(1, 13)), str(rng.choice([NEW, BACK]))) if moving else None,
    )


def random_batch(rng: np.random.Generator, settings: Settings, climbing: bool, episodes: int = 25) -> Batch:
    """Make eight trials in a maze with learners of any kind: extreme numbers come often."""
    drawn = rng.random()
    maze = random_maze(rng) if drawn < 0.4 else random_wide_maze(rng) if drawn < 0.8 else triple_t_maze()
    by_chance = climbing and rng.random() < 0.25
    kind = "chance" if by_chance else "hc" if climbing else "dsp"
    return random_trials(rng, kind, MazeTask(maze), settings, episodes)


def random_settings(rng: np.random.Generator) -> Settings:
    """Draw readings and sizes, of one register a lane or two."""
    readings: dict[str, Any] = {name: str(rng.choice(list(values))) for name, values in READINGS.items()}
    hidden = int(rng.integers(1, 33) if rng.random() < 0.7 else rng.integers(33, 65))
    steps, neurons = int(rng.choice([1, 7, 40, 100, 300])), str(rng.choice(list(NEURONS)))
    return Settings(hidden=hidden, steps=steps, neurons=neurons, **readings)


def fading_rules() -> list[Rule]:
    """Make rules that never strengthen some weights: what they change elsewhere shrinks these by the norm."""
    return [
        Rule([1, 1] * 16, eta=1.0, theta=1.0, alpha_h=0.0, alpha_o=0.0),
        Rule([0, 0, 1, 1] * 8, eta=1.0, theta=0.3, alpha_h=0.1, alpha_o=0.1),
    ]
