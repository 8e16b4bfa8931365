"""Goals that move at a fixed interval of episodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base import memory
from distal.base.checks import InputError, counted, indices, instance, integer, sequence, shown
from distal.model import draws
from distal.model.draws import MAX_COUNT, MAX_SEED

NEW, BACK = "new", "back"
SCHEDULES = {
    NEW: "every phase has another goal than the one before, drawn from the seed of the trial",
    BACK: "the trial's goal alternates with another one, drawn from its seed",
}
_MOST_GOALS = 2**31 - 1  # they are numbered by 32-bit integers
_MANY = 2**24  # goals of all phases and trials, from which on memory is looked at
_BYTES = 40  # of each, while they are drawn


@dataclass(frozen=True)
class Switch:
    """The schedule of moving goals.

    The episodes between two moves are a phase. A trial begins with its own goal, unless the
    goals are listed.

    Args:
        every: The number of episodes between two moves.
        goals: "new": the goal moves to another one, drawn from the seed of the trial. "back": it
            moves to a drawn one, then back to the first, and so on. Or a list of the goals of all
            phases, by number from 0, which repeats when it ends; then all trials have the same
            goals.

    Raises:
        InputError: If a number is out of its range, or goals is none of these.
    """

    every: int
    goals: str | tuple[int, ...] = NEW

    def __post_init__(self) -> None:
        object.__setattr__(self, "every", integer("switch", self.every, 1, MAX_COUNT))
        given: object = self.goals
        if isinstance(given, str) and given in SCHEDULES:
            return
        expected = f"{' or '.join(SCHEDULES)}, or a list of at least two goals"
        if isinstance(given, str):
            raise InputError(f"the goals of a switch are {shown(given)}, expected {expected}")
        listed = sequence("the goals of a switch", given, expected)
        if len(listed) < 2:
            raise InputError(f"the goals of a switch are {shown(given)}, expected {expected}")
        numbers = tuple(integer("a goal of a switch", one, 0) for one in listed)
        object.__setattr__(self, "goals", numbers)

    def __str__(self) -> str:
        """Return when goals move and where to, in a few words: "every 50 episodes, back"."""
        goals = self.goals if isinstance(self.goals, str) else ",".join(map(str, self.goals))
        return f"every {counted(self.every, 'episode')}, {goals}"

    def check_goals(self, goals: int) -> None:
        """Refuse a task without enough goals."""
        goals = integer("the number of goals", goals, 1, _MOST_GOALS)
        if isinstance(self.goals, tuple):
            for one in self.goals:
                integer("a goal of a switch", one, 0, goals - 1)
        elif goals < 2:
            raise InputError(
                "switch needs a task with at least two goals, this one has 1; an environment has one for "
                "each of its starts"
            )

    def phases(self, episodes: int) -> int:
        """Return the number of phases in a number of episodes; the last may be cut short."""
        return -(-integer("episodes", episodes, 1, MAX_COUNT) // self.every)

    def ends(self, episodes: int) -> NDArray[np.int64]:
        """Return the last episode of each phase, from 0."""
        phases = self.phases(episodes)
        return np.minimum(self.every * np.arange(1, phases + 1), episodes) - 1

    def schedule(
        self, first: NDArray[np.int32], seed: NDArray[np.uint64], goals: int, phases: int
    ) -> NDArray[np.int32]:
        """Return the goal of every trial in every phase, (trials, phases).

        Args:
            first: The goal of each trial's first phase.
            seed: The seed of each trial.
            goals: The number of the task's goals.
            phases: The number of phases.

        Returns:
            The goals, by number.

        Raises:
            InputError: If an argument is wrong.
        """
        self.check_goals(goals)
        goals = int(goals)
        first, seed = indices("first", first, goals - 1, np.int32), indices("seed", seed, MAX_SEED, np.uint64)
        if len(first) != len(seed):
            raise InputError(
                f"there are {len(first)} goals and {len(seed)} seeds, expected one seed for each goal"
            )
        phases = integer("phases", phases, 1, MAX_COUNT)
        if len(first) * phases > _MANY:
            needed = {"goals": _BYTES * len(first) * phases}
            memory.Estimate("the goals of all phases", needed, "ask for fewer phases").check()
        if isinstance(self.goals, tuple):
            row = np.resize(np.array(self.goals, np.int32), phases)
            return np.tile(row, (len(first), 1))
        words = draws.words_of(seed, draws.GOAL, 1 if self.goals == BACK else max(1, phases - 1))
        away = 1 + (words.astype(np.uint64) * np.uint64(goals - 1) >> np.uint64(32)).astype(np.int64)
        if self.goals == BACK:
            away = away * (np.arange(1, max(2, phases)) % 2)
            moved = first[:, None] + away
        else:
            moved = first[:, None] + np.cumsum(away, axis=1)
        row_of = np.concatenate([first[:, None], moved % goals], axis=1)
        return np.ascontiguousarray(row_of[:, :phases], np.int32)

    def to_dict(self) -> dict[str, Any]:
        """Return its fields in a file."""
        goals = list(self.goals) if isinstance(self.goals, tuple) else self.goals
        return {"every": self.every, "goals": goals}

    @classmethod
    def from_dict(cls, data: object) -> Switch:
        """Read the data of `to_dict`."""
        given = instance("switch", data, dict, "the result of Switch.to_dict")
        if set(given) != {"every", "goals"}:
            raise InputError(f"switch is {shown(data)}, expected the dictionary that Switch.to_dict returns")
        return cls(**given)


def switch_of(given: int | Switch | None, episodes: int | None = None) -> Switch | None:
    """Return a switch; a number alone is how many episodes a phase has. Refuse one that never happens."""
    switch = given if given is None or isinstance(given, Switch) else Switch(given)
    if switch is not None and episodes is not None and switch.every >= episodes:
        raise InputError(
            f"switch is {switch.every}, but a trial has {counted(episodes, 'episode')}: the goal would never "
            "move; take fewer, or more episodes"
        )
    return switch
