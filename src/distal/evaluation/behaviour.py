"""Behaviour: a summary of all episodes, because the best EP so far shows little of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, instance, integer, number
from distal.base.display import or_dash
from distal.base.frozen import Frozen
from distal.engines.batch import EPs
from distal.model.draws import MAX_COUNT

KEPT = 0.5  # the share of the episodes after a first success from which on a learner keeps it


@dataclass(frozen=True, eq=False)
class Behaviour(Frozen):
    """A summary of all episodes; `best` shows only the best so far.

    An episode reached the goal if its EP is at or below the task's target. In a maze that is
    the paper's definition, an EP below N_steps; an agent that gets there late, after a pit,
    does not count. Where a task has no target, the shares that reached it are None.

    Attributes:
        first_reached: The first episode of each trial that reached the goal, from 1; 0 if none did.
            Where goals moved, of each phase of each trial, counted from its beginning.
        reached: The share of all episodes that reached it.
        retained: The share of the episodes after a trial's first success that reached it
            again; None if there are no such episodes.
        first_tenth: The mean EP of the first tenth of the episodes.
        last_tenth: The mean EP of the last tenth.
        reached_first_tenth: The share of the first tenth that reached the goal.
        reached_last_tenth: The share of the last tenth that reached it.
    """

    first_reached: NDArray[np.int64]
    reached: float | None
    retained: float | None
    first_tenth: float
    last_tenth: float
    reached_first_tenth: float | None
    reached_last_tenth: float | None

    @classmethod
    def of(cls, ep: EPs, target: float | None, phase: int | None = None) -> Behaviour:
        """Sum up the EPs (trials, episodes) of trials in a task with this target.

        Args:
            ep: The EPs.
            target: At or below it, an episode reached the goal; None if the task has no target.
            phase: The episodes between two moves of the goals, if they move: then every phase counts as a
                trial, except for the first and the last tenth, which belong to the whole trial.

        Returns:
            The summary.

        Raises:
            InputError: If ep has no numbers, or an argument is out of its range.
        """
        expected = "an array (trials, episodes) of numbers"
        numbers = instance("ep", ep, np.ndarray, expected)
        if numbers.ndim != 2 or not numbers.size or numbers.dtype.kind not in "iuf":
            raise InputError(
                f"ep has the shape {numbers.shape} and the type {numbers.dtype}, expected {expected}"
            )
        length = ep.shape[1] if phase is None else integer("phase", phase, 1, MAX_COUNT)
        tenth = max(1, ep.shape[1] // 10)
        means = float(ep[:, :tenth].mean()), float(ep[:, -tenth:].mean())
        if target is None:
            return cls(np.zeros(len(ep), np.int64), None, None, *means, None, None)
        reached = ep <= number("target", target)
        starts = range(0, ep.shape[1], length)
        parts = [reached[:, start : start + length] for start in starts]
        firsts = [np.where(part.any(axis=1), part.argmax(axis=1) + 1, 0) for part in parts]
        first = np.stack(firsts, axis=1).ravel()
        found = int((first > 0).sum())
        # Counted without another array of this size: all that reached it but the firsts came after one.
        lengths = np.array([part.shape[1] for part in parts] * len(ep))
        after = int(lengths[first > 0].sum()) - int(first.sum())
        return cls(
            first_reached=first,
            reached=float(reached.mean()),
            retained=(int(reached.sum()) - found) / after if after else None,
            first_tenth=means[0],
            last_tenth=means[1],
            reached_first_tenth=float(reached[:, :tenth].mean()),
            reached_last_tenth=float(reached[:, -tenth:].mean()),
        )

    def __repr__(self) -> str:
        return (
            f"Behaviour(goal reached in {or_dash(self.reached, '.1%')} of the episodes, after a success in "
            f"{or_dash(self.retained, '.1%')}; mean EP {self.first_tenth:z.2f}, later {self.last_tenth:z.2f})"
        )

    @property
    def keeps(self) -> bool | None:
        """Whether the learner keeps its solution: `retained` is at least a half."""
        return None if self.retained is None else self.retained >= KEPT

    @property
    def median_first(self) -> float | None:
        """The median of the first episodes that reached the goal, in trials that did."""
        found = self.first_reached[self.first_reached > 0]
        return float(np.median(found)) if len(found) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, ready for JSON."""
        return {
            "first_reached": self.first_reached.tolist(),
            "median_first_reached": self.median_first,
            "episodes_reached": self.reached,
            "episodes_reached_first_tenth": self.reached_first_tenth,
            "episodes_reached_last_tenth": self.reached_last_tenth,
            "retained": self.retained,
            "mean_ep_first_tenth": self.first_tenth,
            "mean_ep_last_tenth": self.last_tenth,
        }
