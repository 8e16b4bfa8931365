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
_ROLES = {WALL: "wall", START: "start"}
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
    roles = [[_ROLES.get(symbol, "") for symbol in line] for line in maze.picture]
    for number, (row, column) in enumerate(maze.finals):
        roles[row][column] = "goal" if number == goal else "pit"
    return draw_grid(roles, cells, heading, scale, colour)


def draw_grid(
    roles: Sequence[Sequence[str]],
    cells: Sequence[Cell],
    heading: int | None,
    scale: int = SCALE,
    colour: str = LIGHT["dsp"],
    *,
    lines: bool = False,
    thing: Cell | None = None,
) -> Frame:
    """Draw a grid with the walk so far, `scale` pixels a cell.

    Roles are wall, start, goal or pit; anything else is floor. `cells` end where the agent is; one without
    a heading is a disc. `lines` lie between cells, `thing` is where something else is, a small disc.
    """
    trail = _between(LIGHT["floor"], colour, _TRAIL)
    picture = Image.new("RGB", (len(roles[0]) * scale, len(roles) * scale), LIGHT["floor"])
    pen = ImageDraw.Draw(picture)
    visited = set(cells)
    for row, line in enumerate(roles):
        for column, role in enumerate(line):
            box = (column * scale, row * scale, (column + 1) * scale - 1, (row + 1) * scale - 1)
            if role:
                pen.rectangle(box, LIGHT[role])
            if lines:
                pen.rectangle(box, outline=LIGHT["line"])
            if role != "wall" and (row, column) in visited:
                inset = scale // 3
                pen.rectangle((box[0] + inset, box[1] + inset, box[2] - inset, box[3] - inset), trail)
    _draw_agent(pen, cells[-1], heading, scale, colour)
    if thing is not None:
        _disc(pen, thing, 0.16 * scale, scale, LIGHT["ink"])
    return np.array(picture)  # a copy: others may draw on it


def _draw_agent(pen: ImageDraw.ImageDraw, cell: Cell, heading: int | None, scale: int, colour: str) -> None:
    if heading is None:
        _disc(pen, cell, 0.38 * scale, scale, colour)
        return
    row, column = cell
    middle = np.array([(column + 0.5) * scale, (row + 0.5) * scale])
    ahead = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)][heading]) * 0.7 * scale
    side = np.array([-ahead[1], ahead[0]]) * 0.85
    corners = [middle + ahead, middle - ahead + side, middle - ahead - side]
    pen.polygon([(float(x), float(y)) for x, y in corners], colour, outline=LIGHT["floor"])


def _disc(pen: ImageDraw.ImageDraw, cell: Cell, radius: float, scale: int, colour: str) -> None:
    """Draw a disc in the middle of a cell, with a rim that shows on any ground."""
    y, x = ((part + 0.5) * scale for part in cell)
    box = (x - radius, y - radius, x + radius, y + radius)
    pen.ellipse(box, colour, outline=LIGHT["floor"], width=max(1, scale // 20))


def _between(first: str, second: str, share: float) -> tuple[int, ...]:
    """Mix two colours, with this share of the second."""
    pairs = zip(ImageColor.getrgb(first), ImageColor.getrgb(second), strict=True)
    return tuple(round(a + (b - a) * share) for a, b in pairs)
