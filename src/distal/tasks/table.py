"""Finite tasks as tables, which the compiled engines run.

A table holds the inputs of every state and the successor of every action. EP is a sum of costs:
every step costs the same, and some transitions, the events, cost more or end the episode, depending
on the goal. An episode that is cut off also costs an amount that depends on its last state. A maze
is one case: 1 a step, 5 for entering a pit, an end at the goal, and the remaining distance.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distal.base.checks import InputError, array, counted, integer, shown
from distal.base.frozen import Frozen
from distal.model.settings import MAX_INPUTS, MAX_OUTPUTS

EVENT_BITS = 6
EVENTS = 2**EVENT_BITS
MAX_STATES = 2**21
_MAX_GOALS = 1_000  # times MAX_STATES is less than 2^31
MAX_COST = 100_000  # so that the costs of 10,000 steps add up to less than 2^31


@dataclass(frozen=True, eq=False)
class Table(Frozen):
    """A finite task as numbers.

    A transition is of one class, its event. Event 0 is a step like any other: it costs
    nothing beyond the step, and does not end the episode.

    Args:
        observations: The bits sensed in each state, (states, inputs).
        following: The state that each action leads to, (states, actions).
        events: The class of each transition, (states, actions), 0 … 63.
        costs: The cost of an event beyond the step, (goals, events).
        ends: Whether an event ends the episode, (goals, events).
        left: The cost of being cut off in a state, (goals, states).
        start: The state that every episode begins in, or one for each goal, (goals).
        step_cost: The cost of each step.

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
        observations = whole_numbers("observations", self.observations, ("states", "inputs"), 0, 1, np.uint8)
        states, inputs = observations.shape
        integer("the number of states", states, 1, MAX_STATES)
        integer("the number of inputs", inputs, 1, MAX_INPUTS)
        following = whole_numbers("following", self.following, (states, "actions"), 0, states - 1, np.int32)
        actions = integer("the number of actions", following.shape[1], 1, MAX_OUTPUTS)
        costs = whole_numbers("costs", self.costs, ("goals", "events"), -MAX_COST, MAX_COST, np.int32)
        goals = integer("the number of goals", costs.shape[0], 1, _MAX_GOALS)
        events = integer("the number of events", costs.shape[1], 1, EVENTS)
        ends = whole_numbers("ends", self.ends, (goals, events), 0, 1, np.bool_)
        if costs[:, 0].any() or ends[:, 0].any():
            raise InputError("event 0 costs something or ends an episode, expected a step like any other")
        checked = {
            "observations": observations,
            "following": following,
            "events": whole_numbers("events", self.events, (states, actions), 0, events - 1, np.uint8),
            "costs": costs,
            "ends": ends,
            "left": whole_numbers("left", self.left, (goals, states), -MAX_COST, MAX_COST, np.int32),
            "start": one_or_each("start", self.start, goals, 0, states - 1),
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
        """Make a table from the cost of each step and the states that end an episode.

        The classes of transitions and the cost of a plain step are found here: transitions
        that cost the same and end the same are one event, the most common plain one is event 0.

        Args:
            observations: The bits sensed in each state, (states, inputs).
            following: The state that each action leads to, (states, actions).
            costs: The cost of each step, in whole numbers, (states, actions) or
                (goals, states, actions).
            ends: Whether an episode ends when a state is entered, (states) or (goals, states).
            left: The cost of being cut off: a number, (states) or (goals, states).
            start: The state that every episode begins in, or one for each goal, (goals).

        Returns:
            The table.

        Raises:
            InputError: If a shape or a number is wrong, or the transitions
                fall into too many classes.
        """
        sensed = whole_numbers("observations", observations, ("states", "inputs"), 0, 1, np.uint8)
        states = integer("the number of states", len(sensed), 1, MAX_STATES)
        to = whole_numbers("following", following, (states, "actions"), 0, states - 1, np.int32)
        integer("the number of actions", to.shape[1], 1, MAX_OUTPUTS)
        if array(left).ndim == 0:
            left = one_or_each("left", left, states, -MAX_COST, MAX_COST)
        by_goal: dict[str, NDArray[Any]] = {
            "costs": _by_goal("costs", costs, to.shape, MAX_COST, np.int64),
            "ends": _by_goal("ends", ends, (states,), None, np.bool_),
            "left": _by_goal("left", left, (states,), MAX_COST),
            "start": one_or_each("start", start, "goals", 0, states - 1),
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
        """The numbers of states, inputs, actions and goals, in words."""
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
        for name in ARRAYS:
            array = getattr(self, name)
            found.update(f"{name} {array.shape} {array.dtype.str}".encode())
            found.update(array.tobytes())
        return found.hexdigest()

    @property
    def inputs(self) -> int:
        """The number of bits sensed."""
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


ARRAYS = ("observations", "following", "events", "costs", "ends", "left", "start")


def one_or_each(name: str, value: object, count: int | str, low: int, high: int) -> NDArray[np.int32]:
    """Return a number for each thing of some; one number stands for all, and for any count that is a word."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        value = np.full(1 if isinstance(count, str) else count, integer(name, value, low, high))
    return whole_numbers(name, value, (count,), low, high, np.int32)


def whole_numbers(
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
    """Return numbers (goals, …); the numbers of one goal may stand for all. `most` is None for bits."""
    low, high = (0, 1) if most is None else (-most, most)
    if array(value).ndim == len(shape) + 1:
        checked = whole_numbers(name, value, ("goals", *shape), low, high, kind)
        integer("the number of goals", len(checked), 1, _MAX_GOALS)
        return checked
    return whole_numbers(name, value, shape, low, high, kind)[None]


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
