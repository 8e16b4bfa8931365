"""Pictures of a walk, pixel by pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from distal.maze import START, WALL, Cell, Maze

Frame: TypeAlias = NDArray[np.uint8]  # (height, width, 3)

SCALE = 12  # pixels a cell
PAPER, INK = (255, 255, 255), (43, 47, 54)
COLOURS = {"wall": INK, "start": (213, 94, 0), "goal": (0, 158, 115), "pit": (0, 114, 178)}
TRAIL, AGENT = (240, 205, 120), (204, 51, 102)


def draw(maze: Maze, goal: int, cells: Sequence[Cell], heading: int, scale: int = SCALE) -> Frame:
    """Draw the maze with the walk so far: the goal green, pits blue, the agent a triangle on its trail."""
    rows, columns = maze.shape
    picture = Image.new("RGB", (columns * scale, rows * scale), PAPER)
    pen = ImageDraw.Draw(picture)
    visited = set(cells)
    for row, line in enumerate(maze.picture):
        for column, symbol in enumerate(line):
            box = (column * scale, row * scale, (column + 1) * scale - 1, (row + 1) * scale - 1)
            if symbol == WALL:
                pen.rectangle(box, COLOURS["wall"])
                continue
            if symbol == START:
                pen.rectangle(box, COLOURS["start"])
            elif (row, column) in maze.finals:
                pen.rectangle(box, COLOURS["goal" if maze.finals[goal] == (row, column) else "pit"])
            if (row, column) in visited:
                inset = scale // 3
                pen.rectangle((box[0] + inset, box[1] + inset, box[2] - inset, box[3] - inset), TRAIL)
    row, column = cells[-1]
    middle = np.array([(column + 0.5) * scale, (row + 0.5) * scale])
    ahead = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)][heading]) * 0.48 * scale
    side = np.array([-ahead[1], ahead[0]]) * 0.85
    corners = [middle + ahead, middle - ahead + side, middle - ahead - side]
    pen.polygon([(float(x), float(y)) for x, y in corners], AGENT, outline=INK)
    return np.array(picture)  # a copy: others may draw on it
