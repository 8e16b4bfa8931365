"""A table as a task: its walks, its names and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from distal.base import checks, files
from distal.base.checks import InputError, counted, fields, instance, integer, number, sequence, text
from distal.base.display import short
from distal.model.settings import MAX_STEPS, Settings
from distal.tasks.picture import Picture
from distal.tasks.table import ARRAYS, Table
from distal.tasks.task import Task, Walk, whole_target

MAX_NAME = 100
FORMAT = "distal-table"
VERSION = 1


class TableTask(Task["TableWalk"]):
    """The task that a table describes.

    Args:
        table: The table.
        goals: The names of the goals; "0", "1", … if left out.
        name: The name of the task.
        steps: The steps of an episode, unless settings say otherwise.
        target: The EP at or below which the goal counts as reached.
        limit: The most steps of an episode, if something other than the table ends it
            then; more are refused.
        actions: The names of the actions, if they have names.
        picture: The places of the states, for pages and films; a file keeps neither it nor names of
            actions.

    Raises:
        InputError: If it is not a table, the number of names does not match goals or actions, or the
            picture is of another number of states.
    """

    in_python = False

    def __init__(
        self,
        table: Table,
        goals: Sequence[str] | None = None,
        *,
        name: str = "table",
        steps: int | None = None,
        target: float | None = None,
        limit: int | None = None,
        actions: Sequence[str] | None = None,
        picture: Picture | None = None,
    ) -> None:
        self._table = instance("table", table, Table, "a Table")
        numbered = tuple(map(str, range(table.goals)))
        self.goals = numbered if goals is None else _names("goals", goals, table.goals)
        self.inputs, self.outputs = table.inputs, table.outputs
        self.name = text("name", name, MAX_NAME)
        self.limit = None if limit is None else integer("limit", limit, 1, MAX_STEPS)
        self.steps = self.limit if steps is None else integer("steps", steps, 1, self.limit or MAX_STEPS)
        self._target = None if target is None else number("target", target)
        if actions is not None:
            self.actions = _names("actions", actions, table.outputs)
        self.picture = None if picture is None else instance("picture", picture, Picture, "a Picture")
        if picture is not None and picture.states != self.states:
            raise InputError(f"picture has {picture.states} states, the table has {self.states} states")
        self.source: Mapping[str, Any] | None = None  # what it was made from, if it can be made again

    def __repr__(self) -> str:
        return f"TableTask({short(self.name)}: {self._table.sizes})"

    def begin(self, goal: int, settings: Settings) -> TableWalk:
        """Begin an episode in the start state."""
        return TableWalk(self.table(settings), goal, settings)

    def table(self, settings: Settings) -> Table:
        """Return the table; the settings limit only the number of steps."""
        steps = instance("settings", settings, Settings, "a Settings").steps
        if self.limit is not None and steps > self.limit:
            raise InputError(
                f"steps is {steps}, but {self.name} ends an episode after {self.limit}; ask for no more"
            )
        return self._table

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self._table.following)

    def target(self, settings: Settings) -> float | None:
        """Return the EP at or below which the goal counts as reached, if there is one."""
        return whole_target(self._target, settings, self.limit)

    def to_dict(self) -> dict[str, Any]:
        """Return the description of the task, ready for JSON: its sizes, digest and source."""
        table = self._table
        return {
            "kind": "table",
            "name": self.name,
            "states": len(table.following),
            "inputs": self.inputs,
            "outputs": self.outputs,
            "goals": list(self.goals),
            "digest": table.digest,
            "source": None if self.source is None else dict(self.source),
        }

    def save(self, path: str | Path) -> None:
        """Write the task to an NPZ file, which `load` reads; its name ends in .npz."""
        given = checks.path("the name of a file", path)
        if given.suffix != ".npz":
            raise InputError(f"cannot write {str(given)!r}: expected a name that ends in .npz")
        files.check_target(given, files.NPZ)
        about = {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "goals": list(self.goals),
            "steps": self.steps,
            "target": self._target,
            "limit": self.limit,
            "step_cost": self._table.step_cost,
        }
        arrays = {name: getattr(self._table, name) for name in ARRAYS}
        files.write_bytes(given, files.to_npz(about=np.array(json.dumps(about)), **arrays))

    @classmethod
    def load(cls, path: str | Path) -> TableTask:
        """Read a task from a file written by `save`.

        Raises:
            InputError: If the file cannot be read, or has no table.
        """
        given = checks.path("table", path)
        data = files.read_bytes(given, "table", files.MOST_OF_RUNS)
        try:
            about, arrays = files.from_npz(data, "the numbers of the table", ARRAYS)
            needed = ("name", "goals", "steps", "target", "limit", "step_cost")
            kept = fields(about, FORMAT, VERSION, needed)
            table = Table(**arrays, step_cost=kept.pop("step_cost"))
            task = cls(table, kept.pop("goals"), **kept)
        except InputError as error:
            raise InputError(f"cannot read table {str(given)!r}: {error}") from None
        task.source = {"file": str(given.resolve())}
        return task


def _names(what: str, given: object, count: int) -> tuple[str, ...]:
    """Return the names of goals or actions, if there are as many as the table has."""
    names = sequence(what, given, "a list of names")
    if len(names) != count:
        raise InputError(f"{what} has {len(names)} names, the table has {count} {what}")
    return tuple(text(what, name, MAX_NAME) for name in names)


class TableWalk(Walk):
    """A walk through the states of a table, under way or over."""

    def __init__(self, table: Table, goal: int, settings: Settings) -> None:
        self._table = instance("table", table, Table, "a Table")
        self._goal = integer("goal", goal, 0, table.goals - 1)
        self._most = instance("settings", settings, Settings, "a Settings").steps
        self.state = int(table.starts[self._goal])
        self.steps = 0
        self.extra = 0  # what events have cost
        self.ended = False  # by an event

    def __repr__(self) -> str:
        over = ", over" if self.over else ""
        return f"TableWalk({counted(self.steps, 'step')}, in state {self.state}, EP {self.ep}{over})"

    @property
    def over(self) -> bool:
        """Whether the walk has ended, by an event or after the last step."""
        return self.ended or self.steps == self._most

    @property
    def ep(self) -> int:
        """The EP if the walk ends here."""
        if self.ended:
            return self.steps * self._table.step_cost + self.extra
        left = int(self._table.left[self._goal, self.state])
        return self._most * self._table.step_cost + self.extra + left

    def sense(self) -> tuple[int, ...]:
        """Return the bits that are sensed in this state."""
        return tuple(self._table.observations[self.state].tolist())

    def act(self, action: int) -> None:
        """Take one step."""
        action = integer("action", action, 0, self._table.outputs - 1)
        event = self._table.events[self.state, action]
        self.state = int(self._table.following[self.state, action])
        self.steps += 1
        self.extra += int(self._table.costs[self._goal, event])
        self.ended = bool(self._table.ends[self._goal, event])
