"""Random batches, to compare engines with; extreme numbers come often."""

from __future__ import annotations

from typing import Any

import numpy as np

from distal import Chance, HillClimbing, Maze, Rule, Settings, triple_t_maze
from distal.engines import Batch
from distal.learners import Learner
from distal.model.settings import READINGS
from distal.tasks.walk import MazeTask


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
    empty = sorted(visited - {start})
    grid = [["#"] * columns for _ in range(rows)]
    for row, column in empty:
        grid[row][column] = "."
    for symbol, k in zip("0123", rng.permutation(len(empty)), strict=False):
        grid[empty[k][0]][empty[k][1]] = symbol
    grid[start[0]][start[1]] = "S"
    return Maze(tuple("".join(line) for line in grid), ("north", "east", "south", "west")[rng.integers(4)])


def random_batch(rng: np.random.Generator, settings: Settings, climbing: bool, episodes: int = 25) -> Batch:
    """Make eight trials in a maze with learners of any kind: extreme numbers come often."""
    maze = random_maze(rng) if rng.random() < 0.7 else triple_t_maze()

    def unit() -> float:
        return float(rng.choice([0.0, 1.0, 0.5, rng.random(), 0.1 * rng.random()]))

    learners: list[Learner] = []
    by_chance = climbing and rng.random() < 0.25
    for _ in range(4):
        changes = rng.choice([-1, 0, 1], 32, p=rng.dirichlet(np.ones(3)))
        if by_chance:
            learners.append(Chance(unit(), unit()))
        elif climbing:
            learners.append(HillClimbing(unit(), unit(), unit()))
        else:
            learners.append(Rule(changes.tolist(), unit(), unit(), unit(), unit()))
    return Batch(
        learners=tuple(learners),
        learner=np.arange(8, dtype=np.int32) % 4,
        goal=rng.integers(0, len(maze.finals), 8).astype(np.int32),
        seed=rng.integers(0, 2**64, 8, np.uint64),
        task=MazeTask(maze),
        settings=settings,
        episodes=episodes,
        resample=int(rng.integers(1, 9)) if rng.random() < 0.4 else None,
    )


def random_settings(rng: np.random.Generator) -> Settings:
    """Draw readings and sizes, of one register a lane or two."""
    readings: dict[str, Any] = {name: str(rng.choice(list(values))) for name, values in READINGS.items()}
    hidden = int(rng.integers(1, 33) if rng.random() < 0.7 else rng.integers(33, 65))
    return Settings(hidden=hidden, steps=int(rng.choice([1, 7, 40, 100, 300])), **readings)


def fading_rules() -> list[Rule]:
    """Make rules that never strengthen some weights: what they change elsewhere shrinks these by the norm."""
    return [
        Rule([1, 1] * 16, eta=1.0, theta=1.0, alpha_h=0.0, alpha_o=0.0),
        Rule([0, 0, 1, 1] * 8, eta=1.0, theta=0.3, alpha_h=0.1, alpha_o=0.1),
    ]
