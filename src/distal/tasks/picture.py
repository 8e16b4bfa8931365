"""Grids that pages and films draw: the places of the states of a table.

FrozenLake, CliffWalking, Taxi and MiniGrid have known grids. Learners never see them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import EnumMeta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from distal.base.checks import InputError, integer, sequence, shown
from distal.base.frozen import Frozen
from distal.tasks.table import one_or_each

WALL, FLOOR, GOAL, PIT, START = "#", ".", "G", "H", "S"
NOWHERE = -1
_MAX_CELLS = 2**16

# What the actions of environments are called that do not say so themselves, by class.
ACTIONS = {
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "CliffWalkingEnv": ("up", "right", "down", "left"),
    "TaxiEnv": ("south", "north", "east", "west", "pick up", "drop off"),
}


@dataclass(frozen=True, eq=False)
class Picture(Frozen):
    """A grid that the states of a table lie on.

    Cells are numbered row by row, row · columns + column, from 0.

    Args:
        rows: The grid, one string for each row: # is a wall, . floor, G a goal, H a pit; a small
            letter or a digit is floor with that name.
        cells: The cell that the agent is in, (states).
        headings: The direction that it faces: 0 north, 1 east, 2 south, 3 west, or -1 for none,
            (states).
        things: The cell of the thing that it fetches or carries, such as a taxi's passenger; -1 if
            there is none, (states).
        goals: The cell of the goal, if it differs between states; -1 if it is in `rows`, (states).

    Raises:
        InputError: If a row or a number is wrong.
    """

    rows: Sequence[str]
    cells: ArrayLike
    headings: ArrayLike = NOWHERE
    things: ArrayLike = NOWHERE
    goals: ArrayLike = NOWHERE

    def __post_init__(self) -> None:
        rows = sequence("rows of the picture", self.rows, "a list of strings")
        for row in rows:
            if (
                not isinstance(row, str)
                or not row
                or not all(map(_is_symbol, row))
                or len(row) != len(rows[0])
            ):
                raise InputError(
                    f"rows of the picture holds {shown(row)}, expected strings of one length, "
                    f"of {WALL} {FLOOR} {GOAL} {PIT}, small letters and digits"
                )
        cells = integer("the number of cells", sum(map(len, rows)), 1, _MAX_CELLS)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "cells", one_or_each("cells", self.cells, "states", 0, cells - 1))
        states = integer("the number of states", self.states, 1)
        for name, most in (("headings", 3), ("things", cells - 1), ("goals", cells - 1)):
            object.__setattr__(self, name, one_or_each(name, getattr(self, name), states, NOWHERE, most))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self.rows), len(self.rows[0])

    @property
    def states(self) -> int:
        """The number of states."""
        return len(np.asarray(self.cells))

    def spot(self, state: int) -> Spot:
        """Return where everything is in a state."""
        state = integer("state", state, 0, self.states - 1)
        lists: Any = (self.cells, self.headings, self.things, self.goals)
        return Spot(*(int(one[state]) for one in lists))

    def rows_from(self, state: int) -> tuple[str, ...]:
        """Return the rows for an episode that begins in this state, with S at its start and G at its goal."""
        spot, columns = self.spot(state), self.shape[1]
        symbols = list("".join(self.rows))
        symbols[spot.cell] = START
        if spot.goal != NOWHERE:
            symbols[spot.goal] = GOAL
        return tuple("".join(symbols[at : at + columns]) for at in range(0, len(symbols), columns))


class Spot(NamedTuple):
    """The places in one state: the agent and its heading, its cargo, and a goal of its own."""

    cell: int
    heading: int = NOWHERE
    thing: int = NOWHERE
    goal: int = NOWHERE


def _is_symbol(symbol: str) -> bool:
    return symbol in (WALL, FLOOR, GOAL, PIT) or symbol in "abcdefghijklmnopqrstuvwxyz0123456789"


# ---------------------------------------------------------------- of known environments


def position(env: Any) -> Any:
    """Return where an environment's agent is, as the environment says it; None if that is not known."""
    inner = getattr(env, "unwrapped", env)
    if hasattr(inner, "agent_pos"):  # MiniGrid's
        return inner.agent_pos, getattr(inner, "agent_dir", 0)
    return getattr(inner, "s", None)


def picture_of(env: Any, positions: Iterable[Any]) -> Picture | None:
    """Return the picture of a known environment, whose states have these positions; None for others."""
    inner = getattr(env, "unwrapped", env)
    names = {one.__name__ for one in type(inner).__mro__}
    found = next((make for name, make in _GRIDS.items() if name in names), None)
    if found is None:
        return None
    try:
        rows, spot = found(inner)
        return Picture(rows, *zip(*map(spot, positions), strict=True))
    except (AttributeError, LookupError, TypeError, ValueError):  # a subclass may be another world
        return None


def actions_of(env: Any, count: int) -> tuple[str, ...] | None:
    """Return what the actions of an unwrapped environment are called, if it says so or is known."""
    names = next((ACTIONS[one.__name__] for one in type(env).__mro__ if one.__name__ in ACTIONS), ())
    said = getattr(env, "actions", None)
    if isinstance(said, EnumMeta):  # MiniGrid's
        names = tuple(str(one) for one in said.__members__)
    meanings = getattr(env, "get_action_meanings", None)
    if callable(meanings):  # the Arcade Learning Environment's
        names = tuple(str(one).lower() for one in meanings())
    return names if len(names) == count else None


Grid = tuple[list[str], Callable[[Any], Spot]]


def _lake(env: Any) -> Grid:
    return ["".join(one if one in (GOAL, PIT) else FLOOR for one in row) for row in _text(env.desc)], Spot


def _cliff(env: Any) -> Grid:
    letters = np.where(env._cliff, PIT, FLOOR)
    letters[-1, -1] = GOAL
    return ["".join(row) for row in letters.tolist()], Spot


def _taxi(env: Any) -> Grid:
    """Return its map; a wall between two squares is a cell of its own there."""
    symbols = {"+": WALL, "-": WALL, "|": WALL, ":": FLOOR, " ": FLOOR}
    rows = ["".join(symbols.get(one, one.lower()) for one in row) for row in _text(env.desc)]

    def cell(row: int, column: int) -> int:
        return (row + 1) * len(rows[0]) + 2 * column + 1

    def spot(state: Any) -> Spot:
        row, column, passenger, destination = env.decode(state)
        taxi, stands = cell(row, column), [cell(*one) for one in env.locs]
        return Spot(taxi, NOWHERE, [*stands, taxi][passenger], stands[destination])

    return rows, spot


def _text(desc: Any) -> list[str]:
    return [b"".join(row).decode("ascii") for row in desc.tolist()]


def _minigrid(env: Any) -> Grid:
    """Return the walls and goals as they stand now; what is carried or opened is not drawn."""
    kinds = {"wall": WALL, "goal": GOAL, "lava": PIT}
    columns = int(env.width)

    def symbol(column: int, row: int) -> str:
        return kinds.get(getattr(env.grid.get(column, row), "type", ""), FLOOR)

    def spot(at: Any) -> Spot:
        (column, row), direction = at
        return Spot(int(row) * columns + int(column), (int(direction) + 1) % 4)  # it counts from east

    return ["".join(symbol(column, row) for column in range(columns)) for row in range(int(env.height))], spot


_GRIDS: dict[str, Callable[[Any], Grid]] = {
    "FrozenLakeEnv": _lake,
    "CliffWalkingEnv": _cliff,
    "TaxiEnv": _taxi,
    "MiniGridEnv": _minigrid,
}
