"""Measures of a trial: its best EP, as in the paper, the EPs of many episodes, or success alone.

If goals move, every phase is judged, and the score of a trial is the mean of its phases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from distal.base.checks import InputError, counted, integer, shown
from distal.engines.batch import Batch, EPs, Trials
from distal.model.draws import MAX_COUNT
from distal.model.settings import Settings
from distal.tasks.switching import Switch
from distal.tasks.task import Task

BEST, LAST, MEAN, MISSED = "best", "last", "mean", "missed"
MEASURES = {
    BEST: "the best EP of a trial (the paper)",
    f"{LAST}:K": "the mean EP of its last K episodes, which rewards keeping the goal",
    MEAN: "the mean EP of all episodes, which rewards finding the goal early and keeping it",
    MISSED: "the percentage of trials in which no episode reached the goal",
}


@dataclass(frozen=True)
class Measure:
    """The number that a trial is judged by; lower is better.

    Args:
        kind: "best", "last", "mean" or "missed".
        episodes: For "last", of how many episodes the mean is taken.
    """

    kind: str = BEST
    episodes: int | None = None

    @classmethod
    def of(cls, word: object) -> Measure:
        """Return the measure that a word stands for: "best", "last:20" (or so), "mean" or "missed"."""
        if isinstance(word, str):
            if word in (BEST, MEAN, MISSED):
                return cls(word)
            found = re.fullmatch(rf"{LAST}:(\d{{1,10}})", word, re.ASCII)
            if found:
                return cls(LAST, integer("the number of episodes after last:", int(found[1]), 1, MAX_COUNT))
        raise InputError(
            f"fitness is {shown(word)}, expected {BEST}, {MEAN}, {MISSED}, or {LAST}:K such as {LAST}:20"
        )

    def __str__(self) -> str:
        return self.kind if self.episodes is None else f"{self.kind}:{self.episodes}"

    @property
    def words(self) -> str:
        """The number in words, for people."""
        if self.kind == LAST:
            return (
                "EP of the last episode"
                if self.episodes == 1
                else f"mean EP of the last {self.episodes} episodes"
            )
        return {BEST: "best EP", MEAN: "mean EP", MISSED: "percentage of trials that miss the goal"}[
            self.kind
        ]

    @property
    def needs_ep(self) -> bool:
        """Whether the EP of every episode is needed."""
        return self.kind in (LAST, MEAN)

    def check_task(self, task: Task[Any], settings: Settings) -> None:
        """Refuse to judge by success where a task does not define it."""
        if self.kind == MISSED:
            self.judged(np.zeros(0), task.target(settings))

    def judged(self, best: EPs, target: float | None) -> EPs:
        """Return best EPs; where only success counts, 0 for a success and 100 for a failure."""
        if self.kind != MISSED:
            return best
        if target is None:
            raise InputError(f"fitness is {self}, but the task does not say when its goal is reached")
        return np.where(best <= target, 0, 100)

    def check(self, episodes: int, switch: Switch | None = None) -> None:
        """Refuse to take the last episodes of a trial, or of a phase, that has fewer."""
        shortest = episodes if switch is None else min(switch.every, (episodes - 1) % switch.every + 1)
        if self.episodes is not None and self.episodes > shortest:
            where = "a trial has" if switch is None else "the shortest phase has"
            raise InputError(f"fitness is {self}, but {where} {counted(shortest, 'episode')}; take fewer")

    def record(self, episodes: int, switch: Switch | None = None) -> tuple[int, ...]:
        """Return the episodes after which the best EP is wanted: the last, or that of each phase."""
        return (episodes,) if switch is None else tuple((switch.ends(episodes) + 1).tolist())

    def scores(self, batch: Batch, outcome: Trials) -> EPs:
        """Return the score of each trial; they are recorded as `record` says, with every EP if needed."""
        if not self.needs_ep:
            best = outcome.best
            if self.kind == MISSED:
                best = self.judged(best, batch.task.target(batch.settings))
            return best[:, -1] if best.shape[1] == 1 else best.mean(axis=1)
        if outcome.ep is None:
            raise InputError(f"fitness {self} needs the EP of every episode; run with keep_ep=True")
        firsts = range(0, batch.episodes, batch.phase)
        phases = [outcome.ep[:, first : first + batch.phase] for first in firsts]
        if self.episodes is not None:
            phases = [phase[:, -self.episodes :] for phase in phases]
        means: EPs = np.stack([phase.mean(axis=1) for phase in phases]).mean(axis=0)
        return means
