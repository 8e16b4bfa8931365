"""Mazes and rules as flat numbers, for the engines and environments that are compiled or vectorised."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from distal.learners import Learner, hill_climbing
from distal.learners.chance import Chance
from distal.maze import HEADINGS, TURNS, Maze
from distal.rule import Rule, packed_rules


class MazeTables(NamedTuple):
    """The maze as numbers. A place is cell · 4 + heading, a spot is place << 9 | entered << 3 | walls."""

    moves: Any  # int32 (places · 4): the spot after each action; entered is 1 + the final position, or 0
    distances: Any  # int32 (finals · cells)
    start: int  # a spot
    cells: int


def learner_numbers(learners: Sequence[Learner]) -> NDArray[np.float32]:
    """Return η, θ, α_h, α_o of rules, (rules, 4), or σ, α_h, α_o of climbers, (climbers, 3).

    Chance is a climb that starts over in every episode (`Batch.fresh_every`), so its σ is never used.
    """
    if isinstance(learners[0], Rule):
        numbers = packed_rules(cast(Sequence[Rule], learners))["numbers"]
    elif isinstance(learners[0], Chance):
        numbers = np.array([(0.0, one.alpha_h, one.alpha_o) for one in learners])
    else:
        numbers = np.array(list(map(attrgetter(*hill_climbing.NUMBERS), learners)))
    return numbers.astype(np.float32)


def packed_changes(rules: Sequence[Rule]) -> NDArray[np.uint32]:
    """Pack the changes of rules, (rules, 2): sixteen for m = −1 in 32 bits, and those for m = +1.

    Every change is a signed number of two bits; that of trace bits 0000 is at the top.
    """
    code = packed_rules(rules)["delta_w"].reshape(-1, 16, 2).astype(np.int64) & 3
    packed: NDArray[np.uint32] = (code << 30 - 2 * np.arange(16)[:, None]).sum(axis=1).astype(np.uint32)
    return packed


def maze_tables(maze: Maze, blocked: str) -> MazeTables:
    """Turn a maze into the numbers that the compiled code walks on."""
    rows, columns = maze.shape
    cells = rows * columns
    wall = maze.walls.ravel()
    cell, heading = np.divmod(np.arange(cells * 4), 4)
    ahead = np.array([-columns, 1, columns, -1])
    look = [
        (cell + ahead[(heading + turn) % 4]) % cells for turn in (-1, 0, 1)
    ]  # wraps in border walls alone
    walls = sum(wall[seen].astype(np.int64) << k for k, seen in enumerate(look))
    final = np.zeros(cells, np.int64)
    for number, (row, column) in enumerate(maze.finals, start=1):
        final[row * columns + column] = number

    moves = np.empty((cells * 4, len(TURNS)), np.int32)
    for action, turn in enumerate(TURNS):
        turned = (heading + turn) % 4
        there = (cell + ahead[turned]) % cells
        moved = ~wall[there] if action else np.zeros(cells * 4, np.bool_)
        new_heading = np.where(moved | (blocked == "turn"), turned, heading) if action else heading
        place = np.where(moved, there, cell) * 4 + new_heading
        entered = np.where(moved, final[there], 0)
        moves[:, action] = place << 9 | entered << 3 | walls[place]

    start = (maze.start[0] * columns + maze.start[1]) * 4 + HEADINGS.index(maze.heading)
    return MazeTables(
        moves=moves.ravel(),
        distances=np.ascontiguousarray(maze.distances).ravel(),
        start=int(start << 9 | walls[start]),
        cells=cells,
    )
