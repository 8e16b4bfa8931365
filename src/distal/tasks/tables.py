"""Mazes as flat numbers, for the engines and environments that are compiled or vectorised."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distal.model.maze import HEADINGS, TURNS, Maze


class MazeTables(NamedTuple):
    """The maze as numbers. A place is cell · 4 + heading, a spot is place << 9 | entered << 3 | walls."""

    moves: Any  # int32 (places · 4): the spot after each action; entered is 1 + the final position, or 0
    distances: Any  # int32 (finals · cells)
    start: int  # a spot
    cells: int


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
