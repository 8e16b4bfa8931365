"""A finite task as a table: all that the compiled engines know of a task.

A table says what is sensed in every state and where every action leads. EP is a sum of
costs: every step costs the same, and some transitions, the events, cost more or end the
episode, depending on the goal. An episode that is cut off after its last step also pays
for where it stands. A maze is one case: 1 a step, 5 for entering a pit, an end at the
goal, and the distance that is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, instance, integer, sequence, shown, text
from distal.model.network import INPUTS, MAX_NEURONS
from distal.model.settings import Settings

EVENT_BITS = 6
EVENTS = 2**EVENT_BITS
# A spot is state << STATE_AT | event << EVENT_AT | observation, and one bit longer on a card: 31 bits in all.
EVENT_AT = INPUTS
STATE_AT = EVENT_AT + EVENT_BITS
_MAX_STATES = 2**21
_MAX_GOALS = 1_000  # times _MAX_STATES is less than 2^31
MAX_COST = 100_000  # so that the costs of 10,000 steps add up to less than 2^31
_MAX_NAME = 100


@dataclass(frozen=True, eq=False)
class Table:
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
        start: The state that every episode begins in.
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
    start: int = 0
    step_cost: int = 1

    def __post_init__(self) -> None:
        observations = _numbers("observations", self.observations, ("states", "inputs"), 0, 1, np.uint8)
        states, inputs = observations.shape
        integer("the number of states", states, 1, _MAX_STATES)
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
            "start": integer("start", self.start, 0, states - 1),
            "step_cost": integer("step_cost", self.step_cost, -MAX_COST, MAX_COST),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

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


def _numbers(
    name: str, value: object, shape: tuple[int | str, ...], low: int, high: int, kind: type[Any]
) -> NDArray[Any]:
    """Return a copy that nobody can change, if it has this shape and whole numbers in low … high.

    A length that is not known yet is a word.
    """
    try:
        given = np.array(value)
    except Exception:  # what cannot become an array has any reason not to
        given = np.array(None)
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


# ---------------------------------------------------------------- for the compiled engines


class Packed(NamedTuple):
    """A table as compiled code reads it. A spot is state << STATE_AT | event << EVENT_AT | observation."""

    moves: Any  # int32 (states · 4): the spot after each action
    outcomes: Any  # int32 (goals · 64): what each event costs << 1 | whether it ends the episode
    left: Any  # int32 (goals · states)
    start: int  # a spot
    states: int
    step_cost: int


@lru_cache(maxsize=4)
def packed(table: Table) -> Packed:
    """Pack a table of three inputs and four actions (see `numbers.table_of`)."""
    sensed = table.observations.astype(np.int32) @ (1 << np.arange(INPUTS, dtype=np.int32))
    moves = table.following << STATE_AT | table.events.astype(np.int32) << EVENT_AT
    outcomes = np.zeros((table.goals, EVENTS), np.int32)
    outcomes[:, : table.costs.shape[1]] = table.costs << 1 | table.ends
    return Packed(
        moves=(moves | sensed[table.following]).ravel(),
        outcomes=outcomes.ravel(),
        left=table.left.ravel(),
        start=int(table.start << STATE_AT | int(sensed[table.start])),
        states=len(table.following),
        step_cost=table.step_cost,
    )


# ---------------------------------------------------------------- as a task


class TableTask:
    """The task that a table describes.

    Args:
        table: What can happen.
        goals: What the goals are called; "0", "1", … if left out.

    Raises:
        InputError: If it is no table, or there are not as many names as goals.
    """

    def __init__(self, table: Table, goals: Sequence[str] | None = None) -> None:
        self._table = instance("table", table, Table, "a Table")
        names = range(table.goals) if goals is None else sequence("goals", goals, "a list of names")
        if len(names) != table.goals:
            raise InputError(f"goals has {len(names)} names, the table has {table.goals} goals")
        self.goals = tuple(str(k) if goals is None else text("goals", k, _MAX_NAME) for k in names)
        self.inputs, self.outputs = table.inputs, table.outputs

    def begin(self, goal: int, settings: Settings) -> TableWalk:
        """Begin an episode in the start state."""
        return TableWalk(self._table, goal, settings)

    def table(self, settings: Settings) -> Table:
        """Return the table, whatever the settings are."""
        return self._table


class TableWalk:
    """A walk through the states of a table, under way or over."""

    def __init__(self, table: Table, goal: int, settings: Settings) -> None:
        self._table = instance("table", table, Table, "a Table")
        self._goal = integer("goal", goal, 0, table.goals - 1)
        self._most = instance("settings", settings, Settings, "a Settings").steps
        self.state = table.start
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
