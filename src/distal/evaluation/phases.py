"""Phases of trials whose goals move: the speed of finding each new goal, and the memory of old ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError
from distal.base.frozen import Frozen
from distal.base.records import Count, NotNegative, Record
from distal.base.significance import standard_error
from distal.engines.batch import EPs
from distal.tasks.switching import Switch


@dataclass(frozen=True, eq=False)
class Forgetting(Record):
    """The loss of a goal until it returns, in trials and phases that have one that returns.

    Attributes:
        returns: How many phases of all trials have a goal that an earlier phase had.
        left_with: The mean best EP at the end of the last phase that had it.
        came_back_with: The mean EP of the first episode after its return.
        standard_error: Of the difference, by trial; None for a single trial.
        until_first: The median of the episodes until it was first reached, in the trial's first
            phase with it; trials that did not reach it count as longer than all others, and the
            median is None if it is one of them.
        until_again: The same after it returned.
    """

    MORE: ClassVar[tuple[str, ...]] = ("lost",)

    returns: Count
    left_with: float
    came_back_with: float
    standard_error: NotNegative | None
    until_first: float | None
    until_again: float | None

    @property
    def lost(self) -> float:
        """How much worse the first episode after the return is than the best before."""
        return self.came_back_with - self.left_with


@dataclass(frozen=True, eq=False)
class Phases(Frozen):
    """The phases of trials whose goals move.

    Attributes:
        every: The episodes of a phase; the last may be cut short.
        goals: The goal of each trial in each phase, (trials, phases).
        first: The EP of the first episode of each phase, (trials, phases).
        best: The best EP of each phase, (trials, phases).
        until: After how many episodes of the phase the goal was first reached, (trials, phases);
            0 if it was not. None if the task has no target.
        curve: The mean best EP so far by episode of a phase, over all whole phases but the first,
            and all trials; of the first, if there is no other.
    """

    every: int
    goals: NDArray[np.int32]
    first: EPs
    best: EPs
    until: NDArray[np.int64] | None
    curve: NDArray[np.float64]

    @classmethod
    def of(cls, best: EPs, goals: NDArray[np.int32], switch: Switch, target: float | None) -> Phases:
        """Sum up trials.

        Args:
            best: The best EP of the phase so far after every episode, (trials, episodes).
            goals: The goal of each trial in each phase.
            switch: When goals move.
            target: The EP at or below which a goal counts as reached, if there is one.
        """
        episodes, every = best.shape[1], switch.every
        if goals.shape != (len(best), switch.phases(episodes)):
            raise InputError(
                f"goals has the shape {goals.shape}, expected {(len(best), switch.phases(episodes))}"
            )
        ends, starts = switch.ends(episodes), np.arange(goals.shape[1]) * every
        until = None
        if target is not None:
            reached = [best[:, start : end + 1] <= target for start, end in zip(starts, ends, strict=True)]
            firsts = [np.where(one.any(axis=1), one.argmax(axis=1) + 1, 0) for one in reached]
            until = np.stack(firsts, axis=1)
        whole = [best[:, start : start + every] for start in starts if start + every <= episodes]
        later = whole[1:] or whole or [best]
        curve = np.mean([phase.mean(axis=0) for phase in later], axis=0)
        return cls(every, goals, best[:, starts], best[:, ends], until, curve)

    @property
    def reached(self) -> NDArray[np.float64] | None:
        """The share of trials that reached the goal, by phase."""
        return None if self.until is None else (self.until > 0).mean(axis=0)

    @property
    def median_until(self) -> list[float | None] | None:
        """The median of the episodes until the goal was reached, by phase; None where most never did."""
        return None if self.until is None else [median_until_reached(column) for column in self.until.T]

    @property
    def forgetting(self) -> Forgetting | None:
        """The loss of goals until they return; None if none does."""
        came, left, again, before, trials = [], [], [], [], []
        for trial, row in enumerate(self.goals.tolist()):
            for phase in range(1, len(row)):
                earlier = [k for k in range(phase) if row[k] == row[phase]]
                if earlier and row[phase - 1] != row[phase]:
                    came.append(self.first[trial, phase])
                    left.append(self.best[trial, earlier[-1]])
                    trials.append(trial)
                    if self.until is not None:
                        again.append(self.until[trial, phase])
                        before.append(self.until[trial, earlier[0]])
        if not came:
            return None
        lost = np.array(came, np.float64) - np.array(left, np.float64)
        owner = np.array(trials)
        by_trial = np.array([lost[owner == one].mean() for one in np.unique(owner)])
        return Forgetting(
            returns=len(came),
            left_with=float(np.mean(left)),
            came_back_with=float(np.mean(came)),
            standard_error=standard_error(by_trial) if len(by_trial) > 1 else None,
            until_first=median_until_reached(np.array(before)) if before else None,
            until_again=median_until_reached(np.array(again)) if again else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by phase, ready for JSON."""
        forgetting = self.forgetting
        reached = self.reached
        return {
            "every": self.every,
            "goals": self.goals.tolist(),
            "mean_first_ep": self.first.mean(axis=0).tolist(),
            "mean_best_ep": self.best.mean(axis=0).tolist(),
            "reached": None if reached is None else reached.tolist(),
            "median_episodes_until_reached": self.median_until,
            "curve": self.curve.tolist(),
            "forgetting": None if forgetting is None else forgetting.to_dict(),
        }


def median_until_reached(until: NDArray[np.int64]) -> float | None:
    """Return the median of numbers of episodes, of which 0 stands for more than all others."""
    median = float(np.median(np.where(until > 0, until, np.inf)))
    return median if np.isfinite(median) else None
