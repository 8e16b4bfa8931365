"""Pictures of a walk, pixel by pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageDraw

from distal.base.colours import LIGHT
from distal.model.maze import START, WALL, Cell, Maze

Frame: TypeAlias = NDArray[np.uint8]  # (height, width, 3)

SCALE = 12  # pixels per cell
_TRAIL = 0.6  # how much of the agent's colour its trail has


def draw(
    maze: Maze,
    goal: int,
    cells: Sequence[Cell],
    heading: int,
    scale: int = SCALE,
    colour: str = LIGHT["dsp"],
) -> Frame:
    """Draw the maze with the walk so far; the agent is a triangle of this colour on its trail."""
    rows, columns = maze.shape
    trail = _between(LIGHT["floor"], colour, _TRAIL)
    picture = Image.new("RGB", (columns * scale, rows * scale), LIGHT["floor"])
    pen = ImageDraw.Draw(picture)
    visited = set(cells)
    for row, line in enumerate(maze.picture):
        for column, symbol in enumerate(line):
            box = (column * scale, row * scale, (column + 1) * scale - 1, (row + 1) * scale - 1)
            if symbol == WALL:
                pen.rectangle(box, LIGHT["wall"])
                continue
            if symbol == START:
                pen.rectangle(box, LIGHT["start"])
            elif (row, column) in maze.finals:
                pen.rectangle(box, LIGHT["goal" if maze.finals[goal] == (row, column) else "pit"])
            if (row, column) in visited:
                inset = scale // 3
                pen.rectangle((box[0] + inset, box[1] + inset, box[2] - inset, box[3] - inset), trail)
    row, column = cells[-1]
    middle = np.array([(column + 0.5) * scale, (row + 0.5) * scale])
    ahead = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)][heading]) * 0.7 * scale
    side = np.array([-ahead[1], ahead[0]]) * 0.85
    corners = [middle + ahead, middle - ahead + side, middle - ahead - side]
    pen.polygon([(float(x), float(y)) for x, y in corners], colour, outline=LIGHT["floor"])
    return np.array(picture)  # a copy: others may draw on it


def _between(first: str, second: str, share: float) -> tuple[int, ...]:
    """Mix two colours, with this share of the second."""
    pairs = zip(ImageColor.getrgb(first), ImageColor.getrgb(second), strict=True)
    return tuple(round(a + (b - a) * share) for a, b in pairs)
