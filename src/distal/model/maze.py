"""The maze: its cells, the agent's senses and its moves.

A cell is (row, column), counted from 0, row 0 at the top. Headings and actions
are small integers that index HEADINGS and ACTIONS.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import MOST, InputError, code_for, counted, integer, one_of, sequence, shown
from distal.base.colours import LIGHT
from distal.base.files import read_text
from distal.base.frozen import made

Cell = tuple[int, int]

HEADINGS = ("north", "east", "south", "west")  # clockwise: +1 is a turn to the right
_AHEAD = ((-1, 0), (0, 1), (1, 0), (0, -1))

ACTIONS = ("stop", "left", "right", "straight")
STOP, LEFT, RIGHT, STRAIGHT = range(4)
TURNS = (0, -1, 1, 0)  # the turn that each action makes before it moves
INPUTS = 3  # of the agent: walls to the left, in front, to the right
OUTPUTS = len(ACTIONS)

WALL, EMPTY, START = "#", ".", "S"
FINALS = "0123456789ABCDEFGHIJKLMNOPQRTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in order; S is the start
MAX_SIDE = 255


def _turn(turned: Any, _heading: Any) -> Any:
    return turned


def _stay(_turned: Any, heading: Any) -> Any:
    return heading


# The heading after a move into a wall, from the one that the agent turned to and the one it had.
BLOCKED_READINGS: dict[str, Callable[[Any, Any], Any]] = {"turn": _turn, "stay": _stay}


@dataclass(frozen=True)
class Maze:
    """A grid of cells with a start, a start heading and final positions.

    Args:
        picture: One string per row: `#` wall, `.` empty, `S` start, and a different digit or
            letter for each final position. Rectangular, at most 255 × 255, closed by walls,
            every final position within reach of the start.
        heading: The heading of the agent at the start: north, east, south or west.

    Raises:
        InputError: If the picture or the heading is wrong; it says where.
    """

    picture: tuple[str, ...]
    heading: str = "north"

    def __post_init__(self) -> None:
        picture = sequence("picture", self.picture, "a list of rows; read text with Maze.from_text")
        for row, line in enumerate(picture):
            if not isinstance(line, str):
                raise InputError(f"picture[{row}] is {shown(line)}, expected a row as text")
        object.__setattr__(self, "picture", tuple(str(line) for line in picture))
        object.__setattr__(self, "heading", one_of("heading", self.heading, HEADINGS))
        _check_shape(self.picture)
        _check_symbols(self.picture)
        from_start = _distances_from(self.start, self.walls)
        for symbol, cell in zip(self.symbols, self.finals, strict=True):
            if from_start[cell] < 0:
                raise _at(cell, f"final position {symbol!r} cannot be reached from the start")

    @classmethod
    def from_text(cls, text: str, heading: str = "north") -> Maze:
        """Read a maze from its picture, one row per line; blank lines around it are ignored."""
        if not isinstance(text, str):
            raise InputError(f"the picture of a maze is {shown(text)}, expected text")
        if len(text) > MOST:
            raise InputError(f"the picture has {len(text):,} characters, at most {MOST:,} are allowed")
        lines = [line.rstrip() for line in text.split("\n")]
        while lines and not lines[0]:
            lines.pop(0)
        while lines and not lines[-1]:
            lines.pop()
        return cls(tuple(lines), heading)

    @classmethod
    def from_file(cls, path: str | Path, heading: str = "north") -> Maze:
        """Read a maze from a text file."""
        text = read_text(path, "maze file")
        try:
            return cls.from_text(text, heading)
        except InputError as error:
            raise InputError(f"maze file {str(path)!r}: {error}") from None

    def __str__(self) -> str:
        """Return the picture as text, without a final newline."""
        return "\n".join(self.picture)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.picture), len(self.picture[0])

    @cached_property
    def walls(self) -> NDArray[np.bool_]:
        """The walls: True where there is one, (rows, columns)."""
        walls = np.array([[symbol == WALL for symbol in row] for row in self.picture])
        walls.setflags(write=False)
        return walls

    @cached_property
    def symbols(self) -> str:
        """The symbols of the final positions, in their order."""
        present = set("".join(self.picture))
        return "".join(symbol for symbol in FINALS if symbol in present)

    @cached_property
    def start(self) -> Cell:
        """The start cell."""
        return self._find(START)

    @cached_property
    def finals(self) -> tuple[Cell, ...]:
        """The final positions, in the order of their symbols."""
        return tuple(self._find(symbol) for symbol in self.symbols)

    @cached_property
    def distances(self) -> NDArray[np.int32]:
        """Steps on the shortest path from every cell to every final position.

        Shape (finals, rows, columns); −1 in walls and where no path leads.
        """
        distances = np.stack([_distances_from(final, self.walls) for final in self.finals])
        distances.setflags(write=False)
        return distances

    @property
    def start_distances(self) -> tuple[int, ...]:
        """The distance from the start to each final position."""
        return tuple(int(to_final[self.start]) for to_final in self.distances)

    @property
    def perfect(self) -> float:
        """The mean EP of an agent that takes the shortest path: the mean of the start distances."""
        return sum(self.start_distances) / len(self.finals)

    def sense(self, cell: Cell, heading: int) -> tuple[int, int, int]:
        """Return the walls to the left, in front and to the right: 1 for a wall, else 0."""
        return sensed(self.walls, *self._place(cell, heading))

    def move(self, cell: Cell, heading: int, action: int, blocked: str) -> tuple[Cell, int]:
        """Return the cell and heading after an action.

        Args:
            cell: The agent's cell, (row, column).
            heading: Its heading: 0 north, 1 east, 2 south, 3 west.
            action: 0 stop, 1 left, 2 right, 3 straight.
            blocked: The reading of this name. A move into a wall leaves the agent in its
                cell, with the heading it turned to ("turn") or the one it had ("stay").

        Returns:
            The new cell and heading.

        Raises:
            InputError: If an argument is out of its range, or the cell is a wall.
        """
        cell, heading = self._place(cell, heading)
        action = integer("action", action, 0, len(ACTIONS) - 1)
        return moved(self.walls, cell, heading, action, code_for("blocked", BLOCKED_READINGS, blocked))

    def to_svg(self, scale: int = 16) -> str:
        """Draw the maze as an SVG picture: walls dark, the start yellow, final positions green."""
        scale = integer("scale", scale, 1, 1000)
        rows, columns = self.shape
        font = (
            f'font-family="sans-serif" font-size="{0.9 * scale:g}" font-weight="bold" text-anchor="middle" '
            'fill="black"'
        )
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * scale} {rows * scale}" '
            f'width="{columns * scale}" height="{rows * scale}" role="img" aria-label="A maze" '
            'shape-rendering="crispEdges">',
            f'<rect width="100%" height="100%" fill="{LIGHT["floor"]}"/>',
        ]
        for row, line in enumerate(self.picture):
            for column, symbol in enumerate(line):
                if symbol == EMPTY:
                    continue
                colour = LIGHT[{WALL: "wall", START: "start"}.get(symbol, "goal")]  # any may be the goal
                x, y = column * scale, row * scale
                parts.append(f'<rect x="{x}" y="{y}" width="{scale}" height="{scale}" fill="{colour}"/>')
                if symbol != WALL:
                    middle, base = x + scale / 2, y + 0.82 * scale
                    parts.append(f'<text x="{middle:g}" y="{base:g}" {font}>{symbol}</text>')
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _place(self, cell: object, heading: object) -> tuple[Cell, int]:
        """Return a cell and a heading in which an agent can be."""
        pair = sequence("cell", cell, "(row, column)")
        if len(pair) != 2:
            raise InputError(f"cell is {shown(cell)}, expected (row, column)")
        row, column = (integer("cell", k, 0, side - 1) for k, side in zip(pair, self.shape, strict=True))
        if self.walls[row, column]:
            raise InputError(f"cell is {(row, column)}, where there is a wall")
        return (row, column), integer("heading", heading, 0, len(HEADINGS) - 1)

    def _find(self, symbol: str) -> Cell:
        row = next(row for row, line in enumerate(self.picture) if symbol in line)
        return row, self.picture[row].index(symbol)


# The mazes that have a name, the default first, and what each is called.
MAZES = {"triple-t": "triple T-maze", "narrow-t": "narrow triple T-maze", "narrow-h": "narrow triple H-maze"}
DEFAULT_MAZE = "triple-t"
_PICTURES = Path(__file__).parent / "mazes"


def maze(name: str = DEFAULT_MAZE) -> Maze:
    """Return a maze by its name.

    `triple-t` has corridors three cells wide: the maze that fits the paper's numbers best.
    `narrow-t`, the default until version 0.3, has corridors of one cell and T-junctions that all
    face north; `narrow-h` has junctions at right angles to each other.

    Args:
        name: One of the three; the default if left out.
    """
    return _named(one_of("name", name, MAZES))


@cache
def _named(name: str) -> Maze:
    picture = tuple((_PICTURES / f"{name}.txt").read_text(encoding="utf-8").split())
    return made(Maze, picture=picture, heading="north")


def triple_t_maze() -> Maze:
    """Return the default maze: three levels of T-junctions, corridors three cells wide."""
    return _named(DEFAULT_MAZE)


def t_maze(levels: int, width: int = 3) -> Maze:
    """Build a maze of 1 to 4 levels of T-junctions that all face north, with 2^levels final positions.

    Three levels with corridors of one cell are `narrow-t`. Beyond its first junction, a maze
    consists of a maze with one level less and the mirror image of that.

    Args:
        levels: Levels of junctions, 1 to 4.
        width: Cells across a corridor, 1 to 5.

    Returns:
        The maze. Its start lies in the middle of the first stem, its final positions in the middle of
        the ends of the last bars.
    """
    # With five, the shortest way takes 100 steps, as many as an episode has: no agent would arrive in time.
    levels, width = integer("levels", levels, 1, 4), integer("width", width, 1, 5)
    middle = (width - 1) // 2
    columns, stems = _stems(levels, width)
    start = 8 * levels + 3 + middle  # the first stem has 10 steps, the others have 8
    cells = [[WALL] * (columns + 2) for _ in range(start + middle + 2)]

    def clear(rows: range, across: range) -> None:
        for row in rows:
            for column in across:
                cells[row][column] = EMPTY

    ends = [column + side for column in stems[-1] for side in (-2, 2)]
    for level, (own, arms) in enumerate(zip(stems, [*stems[1:], ends], strict=True)):
        top = 8 * (levels - 1 - level) + 1
        for number, column in enumerate(own):
            foot = start + middle + 1 if level == 0 else top + 8
            clear(range(top, foot), range(column, column + width))
            clear(range(top, top + width), range(arms[2 * number], arms[2 * number + 1] + width))
    cells[start][stems[0][0] + middle] = START
    for number, (symbol, column) in enumerate(zip(FINALS, ends, strict=False)):
        cells[1 + middle][column + (width - 1) * (number % 2)] = symbol
    return Maze(tuple("".join(row) for row in cells))


def maze_name(maze: Maze) -> str:
    """Return what a maze is called: by its name or its levels, any other by its size."""
    rows, columns = maze.shape
    name = _names().get(maze.picture, f"maze of {rows} by {columns} cells")
    return name if maze.heading == "north" else f"{name}, heading {maze.heading}"


@cache
def _names() -> dict[tuple[str, ...], str]:
    built = {
        t_maze(levels, width).picture: (
            f"T-maze of {counted(levels, 'level')}, corridors of {counted(width, 'cell')}"
        )
        for levels in range(1, 5)
        for width in range(1, 6)
    }
    return {**built, **{maze(name).picture: title for name, title in MAZES.items()}}


def _stems(levels: int, width: int) -> tuple[int, list[list[int]]]:
    """Return the columns of a T-maze inside its outer walls, and where its stems begin, by level."""
    if levels == 1:
        return 4 + width, [[3]]
    columns, left = _stems(levels - 1, width)
    columns = 2 * columns + (2 if levels == 2 else 3)  # with walls between the halves
    both = [own + [columns + 2 - width - column for column in reversed(own)] for own in left]
    return columns, [[(sum(both[0]) + 1) // 2], *both]


def sensed(walls: NDArray[np.bool_], cell: Cell, heading: int) -> tuple[int, int, int]:
    """Return the walls to the left, in front and to the right of an agent; see `Maze.sense`, which checks."""
    left, front, right = (_next(cell, (heading + turn) % 4) for turn in (-1, 0, 1))
    return int(walls[left]), int(walls[front]), int(walls[right])


def moved(
    walls: NDArray[np.bool_], cell: Cell, heading: int, action: int, in_place: Callable[[Any, Any], Any]
) -> tuple[Cell, int]:
    """Return the cell and heading after an action; see `Maze.move`, which checks.

    `in_place` is the function of `BLOCKED_READINGS` for a move into a wall.
    """
    if action == STOP:
        return cell, heading
    turned = (heading + TURNS[action]) % 4
    ahead = _next(cell, turned)
    if not walls[ahead]:
        return ahead, turned
    return cell, int(in_place(turned, heading))


def _next(cell: Cell, heading: int) -> Cell:
    """Return the cell ahead."""
    return cell[0] + _AHEAD[heading][0], cell[1] + _AHEAD[heading][1]


def _distances_from(cell: Cell, walls: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Breadth-first search over empty cells; (rows, columns), −1 where no path leads."""
    # Plain lists with flat indices: ten times faster than indexing arrays cell by cell,
    # which matters for a 255 × 255 maze with 61 final positions.
    columns = walls.shape[1]
    is_wall = walls.ravel().tolist()
    distance = [-1] * len(is_wall)
    queue = deque([cell[0] * columns + cell[1]])
    distance[queue[0]] = 0
    while queue:
        here = queue.popleft()
        for there in (here - columns, here + 1, here + columns, here - 1):
            if distance[there] < 0 and not is_wall[there]:
                distance[there] = distance[here] + 1
                queue.append(there)
    return np.array(distance, np.int32).reshape(walls.shape)


def _at(cell: Cell, problem: str) -> InputError:
    return InputError(f"row {cell[0]}, column {cell[1]}: {problem}")


def _check_shape(picture: tuple[str, ...]) -> None:
    if not picture or not picture[0]:
        raise InputError(
            "row 0, column 0: the maze is empty; draw it with # . S and one symbol per final position"
        )
    rows, columns = len(picture), len(picture[0])
    for row, line in enumerate(picture):
        if len(line) != columns:
            raise _at(
                (row, min(len(line), columns)),
                f"this row is {len(line)} cells wide, row 0 is {columns}; all rows must be equally wide",
            )
    if rows > MAX_SIDE or columns > MAX_SIDE:
        raise _at(
            (min(rows - 1, MAX_SIDE), min(columns - 1, MAX_SIDE)),
            f"the maze has {rows} rows and {columns} columns, at most {MAX_SIDE} of each are allowed",
        )


def _check_symbols(picture: tuple[str, ...]) -> None:
    """Check characters, border, start and final positions, from the top left on."""
    last_row, last_column = len(picture) - 1, len(picture[0]) - 1
    seen: dict[str, Cell] = {}
    for row, line in enumerate(picture):
        for column, symbol in enumerate(line):
            cell = (row, column)
            if symbol not in (WALL, EMPTY, START) and symbol not in FINALS:
                raise _at(cell, f"unknown character {symbol!r}, expected # . S, a digit or a letter")
            if symbol != WALL and (row in (0, last_row) or column in (0, last_column)):
                raise _at(cell, f"{symbol!r} on the border; the maze must be closed by walls (#) all round")
            if symbol in (WALL, EMPTY):
                continue
            if symbol in seen:
                first = seen[symbol]
                what = "start" if symbol == START else "final position"
                raise _at(
                    cell, f"a second {what} {symbol!r}, the first is at row {first[0]}, column {first[1]}"
                )
            seen[symbol] = cell
    whole = f"in rows 0 to {last_row}, columns 0 to {last_column}"
    if START not in seen:
        raise InputError(f"no start {whole}; mark one cell with S")
    if len(seen) == 1:
        raise InputError(f"no final position {whole}; mark at least one cell with a digit or a letter")
