"""A trial that has been watched: its EPs, chance, and recordings of learners that the page cannot compute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.frozen import Frozen
from distal.engines import Batch
from distal.engines.batch import best_so_far
from distal.show import trial_page
from distal.show.chance_curve import CHANCE_TRIALS
from distal.show.recording import Recording
from distal.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Watched(Frozen):
    """A trial of one learner, or of two with the same goal and seed.

    Attributes:
        names: The names of the learners.
        batches: The trial of each learner, as a batch of one trial.
        seed: The seed of the evaluation, as in `learn`; the trial is its first one towards
            the goal.
        eps: The EP of every episode, (learners, episodes).
        chance: The best EP so far of chance, (episodes): the mean of its first 200 trials
            towards the goal; if the goal moves, towards the goals of the trial, each in its phase.
        recordings: The recorded trial of each learner that the page cannot compute;
            None for the others.
        usage: The use of each row in the trial of each recorded rule, (32), counted
            as by `inspect`; None for the others, which the page counts or which have no rows.
    """

    names: tuple[str, ...]
    batches: tuple[Batch, ...]
    seed: int
    eps: NDArray[np.int32]
    chance: NDArray[np.float64]
    recordings: tuple[Recording | None, ...]
    usage: tuple[NDArray[np.int64] | None, ...]

    @property
    def task(self) -> Task[Any]:
        """The task."""
        return self.batches[0].task

    @property
    def goal(self) -> str:
        """The name of the first phase's goal; in a maze, the symbol of the final position."""
        return self.goals[0]

    @property
    def goals(self) -> tuple[str, ...]:
        """The name of each phase's goal; there is one phase if the goal does not move."""
        return tuple(str(self.task.goals[goal]) for goal in self.batches[0].goals[0])

    @property
    def title(self) -> str:
        """The learners and the goal, in words."""
        names = " against ".join(self.names)
        moves = len(self.goals) > 1
        comma = "," * (len(self.names) > 1)
        return f"{names}{comma} learning {self.task.lesson(None if moves else self.goal)}"

    def to_dict(self) -> dict[str, Any]:
        """Return a summary of the trial, ready for JSON.

        If the goal moves, best EPs are for the last phase, and `phases` has the best EPs of all
        phases.
        """
        batch = self.batches[0]
        last = batch.phase * (len(self.goals) - 1)
        return {
            "goal": self.goal,
            "seed": self.seed,
            "trial_seed": int(batch.seed[0]),
            "episodes": batch.episodes,
            "resample": batch.resample,
            **({} if batch.switch is None else {"switch": batch.switch.to_dict(), "phases": self.phases}),
            "learners": [
                {
                    "name": name,
                    "first_ep": int(eps[0]),
                    "best_ep": int(eps[last:].min()),
                    "best_episode": last + int(eps[last:].argmin()) + 1,
                    "last_ep": int(eps[-1]),
                    "mean_ep": float(eps.mean()),
                }
                for name, eps in zip(self.names, self.eps, strict=True)
            ],
            "chance": {"mean_best_ep": float(self.chance[-1]), "trials": CHANCE_TRIALS},
            **batch.settings.to_dict(),
            **self.task.fields(),
        }

    @property
    def phases(self) -> list[dict[str, Any]]:
        """The goal of each phase, its first episode, the best EP of each learner in it, and chance's mean."""
        first = np.arange(len(self.goals)) * self.batches[0].phase
        last = np.append(first[1:], self.eps.shape[1]) - 1
        best = best_so_far(self.eps, self.batches[0].phase)[:, last]
        return [
            {"goal": goal, "first_episode": start + 1, "best_ep": eps, "chance": chance}
            for goal, start, eps, chance in zip(
                self.goals, first.tolist(), best.T.tolist(), self.chance[last].tolist(), strict=True
            )
        ]

    def to_html(self) -> str:
        """Return the page."""
        return trial_page.to_html(self)
