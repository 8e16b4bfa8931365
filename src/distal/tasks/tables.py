"""A finite task as a table: all that the compiled engines know of a task.

A table says what is sensed in every state and where every action leads. EP is a sum of
costs: every step costs the same, and some transitions, the events, cost more or end the
episode, depending on the goal. An episode that is cut off after its last step also pays
for where it stands. A maze is one case: 1 a step, 5 for entering a pit, an end at the
goal, and the distance that is left.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distal.base import checks, files, memory
from distal.base.checks import (
    InputError,
    array,
    counted,
    fields,
    instance,
    integer,
    number,
    sequence,
    shown,
    text,
)
from distal.base.display import short
from distal.base.frozen import Frozen
from distal.model.maze import INPUTS, OUTPUTS
from distal.model.settings import MAX_NEURONS, MAX_STEPS, Settings
from distal.tasks.encoders import AnyEncoder
from distal.tasks.picture import Picture

EVENT_BITS = 6
EVENTS = 2**EVENT_BITS
# Where the parts of a spot begin: see `Packed`.
EVENT_AT = INPUTS
STATE_AT = EVENT_AT + EVENT_BITS
NUMBER_AT = 32
NARROW, WIDE = 1, 2
MAX_STATES = 2**21
_MAX_GOALS = 1_000  # times MAX_STATES is less than 2^31
MAX_COST = 100_000  # so that the costs of 10,000 steps add up to less than 2^31
MAX_NAME = 100
COMPILED_INPUTS, COMPILED_OUTPUTS = 64, 16  # bits of a long word, lanes of a vector: what engine cpu takes

FORMAT = "distal-table"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Table(Frozen):
    """A finite task as numbers.

    A transition is of one class, its event. Event 0 is a step like any other: it costs
    nothing beyond the step, and does not end the episode.

    Args:
        observations: The bits that are sensed in each state, (states, inputs).
        following: The state that each action leads to, (states, actions).
        events: The class of each transition, (states, actions), 0 … 63.
        costs: What an event costs beyond the step, (goals, events).
        ends: Whether an event ends the episode, (goals, events).
        left: What it costs to be cut off in a state, (goals, states).
        start: The state that every episode begins in, or one for each goal, (goals).
        step_cost: What each step costs.

    Raises:
        InputError: If a shape or a number is wrong.
    """

    observations: NDArray[np.uint8]
    following: NDArray[np.int32]
    events: NDArray[np.uint8]
    costs: NDArray[np.int32]
    ends: NDArray[np.bool_]
    left: NDArray[np.int32]
    start: ArrayLike = 0
    step_cost: int = 1

    def __post_init__(self) -> None:
        observations = _numbers("observations", self.observations, ("states", "inputs"), 0, 1, np.uint8)
        states, inputs = observations.shape
        integer("the number of states", states, 1, MAX_STATES)
        integer("the number of inputs", inputs, 1, MAX_NEURONS)
        following = _numbers("following", self.following, (states, "actions"), 0, states - 1, np.int32)
        actions = integer("the number of actions", following.shape[1], 1, MAX_NEURONS)
        costs = _numbers("costs", self.costs, ("goals", "events"), -MAX_COST, MAX_COST, np.int32)
        goals = integer("the number of goals", costs.shape[0], 1, _MAX_GOALS)
        events = integer("the number of events", costs.shape[1], 1, EVENTS)
        ends = _numbers("ends", self.ends, (goals, events), 0, 1, np.bool_)
        if costs[:, 0].any() or ends[:, 0].any():
            raise InputError("event 0 costs something or ends an episode, expected a step like any other")
        checked = {
            "observations": observations,
            "following": following,
            "events": _numbers("events", self.events, (states, actions), 0, events - 1, np.uint8),
            "costs": costs,
            "ends": ends,
            "left": _numbers("left", self.left, (goals, states), -MAX_COST, MAX_COST, np.int32),
            "start": _starts(self.start, goals, states),
            "step_cost": integer("step_cost", self.step_cost, -MAX_COST, MAX_COST),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls,
        observations: ArrayLike,
        following: ArrayLike,
        costs: ArrayLike,
        ends: ArrayLike,
        *,
        left: ArrayLike = 0,
        start: ArrayLike = 0,
    ) -> Table:
        """Make a table from what each step costs and which states end an episode.

        The classes of transitions and the cost of a plain step are found here: transitions
        that cost the same and end the same are one event, the most common plain one is event 0.

        Args:
            observations: the bits that are sensed in each state, (states, inputs).
            following: the state that each action leads to, (states, actions).
            costs: what each step costs, in whole numbers, (states, actions) or
                (goals, states, actions).
            ends: whether an episode ends when a state is entered, (states) or (goals, states).
            left: what it costs to be cut off: a number, (states) or (goals, states).
            start: the state that every episode begins in, or one for each goal, (goals).

        Returns:
            The table.

        Raises:
            InputError: if a shape or a number is not what it should be, or the transitions
                fall into too many classes.
        """
        sensed = _numbers("observations", observations, ("states", "inputs"), 0, 1, np.uint8)
        states = integer("the number of states", len(sensed), 1, MAX_STATES)
        to = _numbers("following", following, (states, "actions"), 0, states - 1, np.int32)
        integer("the number of actions", to.shape[1], 1, MAX_NEURONS)
        if _is_number(left):
            left = np.full(states, integer("left", left, -MAX_COST, MAX_COST))
        by_goal: dict[str, NDArray[Any]] = {
            "costs": _by_goal("costs", costs, to.shape, MAX_COST, np.int64),
            "ends": _by_goal("ends", ends, (states,), None, np.bool_),
            "left": _by_goal("left", left, (states,), MAX_COST),
            "start": _starts(start, 1 if _is_number(start) else "goals", states),
        }
        goals = max(map(len, by_goal.values()))
        for name, value in by_goal.items():
            if len(value) not in (1, goals):
                raise InputError(
                    f"{name} is for {counted(len(value), 'goal')}, other numbers are for {goals}"
                )
        events, extra, ending, step_cost = _classes(by_goal["costs"], by_goal["ends"][:, to])
        return cls(
            observations=sensed,
            following=to,
            events=events,
            costs=np.repeat(extra, goals // len(extra), axis=0),
            ends=np.repeat(ending, goals // len(ending), axis=0),
            left=np.repeat(by_goal["left"], goals // len(by_goal["left"]), axis=0),
            start=np.repeat(by_goal["start"], goals // len(by_goal["start"])),
            step_cost=step_cost,
        )

    def __repr__(self) -> str:
        return f"Table({self.sizes})"

    @property
    def sizes(self) -> str:
        """How many states, inputs, actions and goals there are, in words."""
        counts = {
            "state": len(self.following),
            "input": self.inputs,
            "action": self.outputs,
            "goal": self.goals,
        }
        return ", ".join(counted(count, thing) for thing, count in counts.items())

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of all numbers of the table."""
        found = hashlib.sha256(f"step_cost {self.step_cost}".encode())
        for name in _ARRAYS:
            array = getattr(self, name)
            found.update(f"{name} {array.shape} {array.dtype.str}".encode())
            found.update(array.tobytes())
        return found.hexdigest()

    @property
    def inputs(self) -> int:
        """The number of bits that are sensed."""
        return int(self.observations.shape[1])

    @property
    def outputs(self) -> int:
        """The number of actions."""
        return int(self.following.shape[1])

    @property
    def goals(self) -> int:
        """The number of goals."""
        return len(self.costs)

    @property
    def starts(self) -> NDArray[np.int32]:
        """The state that an episode towards each goal begins in, (goals)."""
        return cast("NDArray[np.int32]", self.start)


_ARRAYS = ("observations", "following", "events", "costs", "ends", "left", "start")


def _is_number(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _starts(start: object, goals: int | str, states: int) -> NDArray[np.int32]:
    """Return the first state of every goal, (goals); one number stands for all."""
    if _is_number(start):
        start = np.full(int(goals), integer("start", start, 0, states - 1))
    return _numbers("start", start, (goals,), 0, states - 1, np.int32)


def _numbers(
    name: str, value: object, shape: tuple[int | str, ...], low: int, high: int, kind: type[Any]
) -> NDArray[Any]:
    """Return a copy that nobody can change, if it has this shape and whole numbers in low … high.

    A length that is not known yet is a word.
    """
    given = array(value)
    fits = given.ndim == len(shape) and all(
        isinstance(wanted, str) or size == wanted for size, wanted in zip(given.shape, shape, strict=True)
    )
    if not fits or given.dtype.kind not in "biu":
        wanted = ", ".join(map(str, shape))
        raise InputError(f"{name} is {shown(value)}, expected whole numbers of the shape ({wanted})")
    if given.size and (int(given.min()) < low or int(given.max()) > high):
        wrong = int(given.min()) if int(given.min()) < low else int(given.max())
        raise InputError(f"{name} holds {wrong}, expected numbers from {low} to {high}")
    checked = np.ascontiguousarray(given, kind)
    checked.setflags(write=False)
    return checked


def _by_goal(
    name: str, value: object, shape: tuple[int, ...], most: int | None, kind: type[Any] = np.int32
) -> NDArray[Any]:
    """Return numbers (goals, …), where those of one goal may stand for all; `most` is None for bits."""
    low, high = (0, 1) if most is None else (-most, most)
    if array(value).ndim == len(shape) + 1:
        checked = _numbers(name, value, ("goals", *shape), low, high, kind)
        integer("the number of goals", len(checked), 1, _MAX_GOALS)
        return checked
    return _numbers(name, value, shape, low, high, kind)[None]


def _classes(costs: NDArray[Any], ends: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]:
    """Sort transitions into classes: events (states, actions), their costs and ends, the cost of a step."""
    goals = max(len(costs), len(ends))
    event = np.zeros(costs[0].size, np.int64)
    for goal in range(goals):  # each goal may split the classes of those before it
        own = costs[goal % len(costs)].ravel() * 2 + ends[goal % len(ends)].ravel()
        event = np.unique(event * (4 * MAX_COST + 4) + own + 2 * MAX_COST, return_inverse=True)[1].ravel()
    _, first, many = np.unique(event, return_index=True, return_counts=True)
    cost = costs.reshape(len(costs), -1)[:, first] + np.zeros((goals, 1), np.int64)
    end = ends.reshape(len(ends), -1)[:, first] | np.zeros((goals, 1), np.bool_)
    plain = (cost == cost[0]).all(axis=0) & ~end.any(axis=0)
    usual = int(np.argmax(np.where(plain, many, 0)))  # the most common of them
    step_cost = int(cost[0, usual]) if plain.any() else 0
    if np.abs(cost - step_cost).max() > MAX_COST:
        step_cost = 0
    # Event 0 has to be a plain step of this cost, even if there is none such.
    zero = plain & (cost[0] == step_cost)
    order = np.concatenate([np.flatnonzero(zero), np.flatnonzero(~zero)])
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order)) + (0 if zero.any() else 1)
    count = int(number.max()) + 1
    if count > EVENTS:
        raise InputError(
            f"steps differ in cost and end in {count} ways, at most {EVENTS} fit in a table; "
            "use fewer different costs, or fewer goals"
        )
    extra, ending = np.zeros((goals, count), np.int64), np.zeros((goals, count), np.bool_)
    extra[:, number], ending[:, number] = cost - step_cost, end
    return number[event].reshape(costs[0].shape), extra, ending, step_cost


# ---------------------------------------------------------------- for the compiled engines


class Packed(NamedTuple):
    """A table as compiled code reads it.

    A narrow one, of three inputs and four actions, has spots of 31 bits: state << STATE_AT |
    event << EVENT_AT | observation. Those of a wide one have 53: number << NUMBER_AT | state
    << EVENT_BITS | event; the number is that of the observation, whose bits are in `codes`.
    """

    moves: Any  # int32, of a wide table int64 (states · actions): the spot after each action
    outcomes: Any  # int32 (goals · 64): what each event costs << 1 | whether it ends the episode
    left: Any  # int32 (goals · states)
    start: Any  # like moves (goals): spots
    states: int
    step_cost: int
    codes: Any  # uint64 (things to sense): the bits of each; of a narrow table unused
    inputs: int
    outputs: int
    row: tuple[int, ...]  # its length, which the compiler knows, is that of a row of output weights
    form: tuple[int, ...]  # its length says whether the table is NARROW or WIDE


@lru_cache(maxsize=4)
def packed(table: Table) -> Packed:
    """Pack a table of up to 64 inputs and 16 actions (see `numbers.table_of`)."""
    bits = np.uint64(1) << np.arange(table.inputs, dtype=np.uint64)
    sensed = (table.observations * bits).sum(axis=1, dtype=np.uint64)
    if (table.inputs, table.outputs) == (INPUTS, OUTPUTS):
        codes, number, row = sensed[:0], sensed.astype(np.int32), OUTPUTS
        spots = np.arange(len(sensed), dtype=np.int32) << STATE_AT | number
        moves = spots[table.following] | table.events.astype(np.int32) << EVENT_AT
    else:
        codes, inverse = np.unique(sensed, return_inverse=True)
        row = OUTPUTS if table.outputs <= OUTPUTS else COMPILED_OUTPUTS
        spots = inverse.astype(np.int64) << NUMBER_AT | np.arange(len(sensed), dtype=np.int64) << EVENT_BITS
        moves = spots[table.following] | table.events
    outcomes = np.zeros((table.goals, EVENTS), np.int32)
    outcomes[:, : table.costs.shape[1]] = table.costs << 1 | table.ends
    return Packed(
        moves=moves.ravel(),
        outcomes=outcomes.ravel(),
        left=table.left.ravel(),
        start=spots[table.starts],
        states=len(table.following),
        step_cost=table.step_cost,
        codes=codes,
        inputs=table.inputs,
        outputs=table.outputs,
        row=(0,) * row,
        form=(0,) * (WIDE if len(codes) else NARROW),
    )


# ---------------------------------------------------------------- as a task


class TableTask:
    """The task that a table describes.

    Args:
        table: What can happen.
        goals: What the goals are called; "0", "1", … if left out.
        name: What the task is called.
        steps: The steps of an episode, if nobody says otherwise.
        target: The EP at or below which the goal counts as reached.
        limit: The most steps of an episode, where something other than the table ends it
            then; more are refused.
        actions: What the actions are called, where they have names.
        picture: Where the states lie, for pages and films; a file does not keep it, nor names of
            actions.

    Raises:
        InputError: If it is no table, or there are not as many names as goals or actions, or the
            picture is of another number of states.
    """

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
        self.actions = None if actions is None else _names("actions", actions, table.outputs)
        self.picture = None if picture is None else instance("picture", picture, Picture, "a Picture")
        if picture is not None and picture.states != self.states:
            raise InputError(f"picture has {picture.states} states, the table has {self.states} states")
        self.source: Mapping[str, Any] | None = None  # what it was made from, if it can be made again
        self.encoder: AnyEncoder | None = None  # of an environment: how it is sensed, and
        self.first_action = 0  # the number of its first action

    def __repr__(self) -> str:
        return f"TableTask({short(self.name)}: {self._table.sizes})"

    def begin(self, goal: int, settings: Settings) -> TableWalk:
        """Begin an episode in the start state."""
        return TableWalk(self.table(settings), goal, settings)

    def table(self, settings: Settings) -> Table:
        """Return the table; the settings may ask for too many steps, and have no other effect."""
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
        return self._target

    def to_dict(self) -> dict[str, Any]:
        """Return what the task is, ready for JSON: its sizes and digest, and what it was made from."""
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
        arrays = {name: getattr(self._table, name) for name in _ARRAYS}
        files.write_bytes(given, files.to_npz(about=np.array(json.dumps(about)), **arrays))

    @classmethod
    def load(cls, path: str | Path) -> TableTask:
        """Read a task that `save` wrote.

        Raises:
            InputError: if the file cannot be read, or does not hold a table.
        """
        given = checks.path("table", path)
        data = files.read_bytes(given, "table", files.MOST_OF_RUNS)
        try:
            about, arrays = _stored(data)
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


def _stored(data: bytes) -> tuple[object, dict[str, NDArray[Any]]]:
    """Return what an NPZ file holds: what is said of the table, and its arrays."""
    names = ("about", *_ARRAYS)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = {entry.filename: entry.file_size for entry in archive.infolist()}
    except Exception:  # a zip file can be damaged in many ways
        raise InputError("it is not an NPZ file, or is damaged") from None
    if sorted(entries) != sorted(f"{name}.npy" for name in names):
        raise InputError(f"it holds {shown(sorted(entries))}, expected {', '.join(names)}")
    memory.Estimate("the numbers of the table", entries, "end other work").check()
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in names}
        return json.loads(str(arrays.pop("about"))), arrays
    except Exception:  # and so can what it holds
        raise InputError("it is damaged") from None


class TableWalk:
    """A walk through the states of a table, under way or over."""

    def __init__(self, table: Table, goal: int, settings: Settings) -> None:
        self._table = instance("table", table, Table, "a Table")
        self._goal = integer("goal", goal, 0, table.goals - 1)
        self._most = instance("settings", settings, Settings, "a Settings").steps
        self.state = int(table.starts[self._goal])
        self.steps = 0
        self.extra = 0  # what events have cost
        self.ended = False  # by an event

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
