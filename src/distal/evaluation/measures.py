"""What a trial is judged by: its best EP, as in the paper, or the EPs of many episodes.

Where goals move, every phase is judged, and a trial by the mean of its phases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from distal.base.checks import InputError, integer, shown
from distal.engines.batch import Batch, EPs, Trials
from distal.model.draws import MAX_COUNT
from distal.tasks.switching import Switch

BEST, LAST, MEAN = "best", "last", "mean"
MEASURES = {
    BEST: "the best EP of a trial (the paper)",
    f"{LAST}:K": "the mean EP of its last K episodes: does it keep what it found?",
    MEAN: "the mean EP of all episodes: does it find it soon, and keep it?",
}


@dataclass(frozen=True)
class Measure:
    """What a trial is judged by; lower is better.

    Args:
        kind: "best", "last" or "mean".
        episodes: For "last", of how many episodes the mean is taken.
    """

    kind: str = BEST
    episodes: int | None = None

    @classmethod
    def of(cls, word: object) -> Measure:
        """Return the measure that a word stands for: "best", "last:20" (or another number) or "mean"."""
        if isinstance(word, str):
            if word in (BEST, MEAN):
                return cls(word)
            found = re.fullmatch(rf"{LAST}:(\d{{1,10}})", word, re.ASCII)
            if found:
                return cls(LAST, integer("the number of episodes after last:", int(found[1]), 1, MAX_COUNT))
        raise InputError(f"fitness is {shown(word)}, expected {BEST}, {MEAN}, or {LAST}:K such as {LAST}:20")

    def __str__(self) -> str:
        return self.kind if self.episodes is None else f"{self.kind}:{self.episodes}"

    @property
    def words(self) -> str:
        """What the number is, as a reader would say it."""
        if self.kind == LAST:
            return (
                "EP of the last episode"
                if self.episodes == 1
                else f"mean EP of the last {self.episodes} episodes"
            )
        return "best EP" if self.kind == BEST else "mean EP"

    @property
    def needs_ep(self) -> bool:
        """Whether the EP of every episode is needed."""
        return self.kind != BEST

    def check(self, episodes: int, switch: Switch | None = None) -> None:
        """Refuse to take the last episodes of a trial, or of a phase, that has fewer."""
        shortest = episodes if switch is None else min(switch.every, (episodes - 1) % switch.every + 1)
        if self.episodes is not None and self.episodes > shortest:
            where = "a trial has" if switch is None else "the shortest phase has"
            raise InputError(f"fitness is {self}, but {where} {shortest} episodes; take fewer")

    def record(self, episodes: int, switch: Switch | None = None) -> tuple[int, ...]:
        """Return the episodes after which the best EP is wanted: the last, or that of each phase."""
        return (episodes,) if switch is None else tuple((switch.ends(episodes) + 1).tolist())

    def scores(self, batch: Batch, outcome: Trials) -> EPs:
        """Return the score of each trial.

        Args:
            batch: The trials, recorded as `record` says.
            outcome: What they gave, with every EP if the measure needs them.

        Returns:
            One number for each trial.
        """
        if self.kind == BEST:
            return outcome.best[:, -1] if outcome.best.shape[1] == 1 else outcome.best.mean(axis=1)
        if outcome.ep is None:
            raise InputError(f"fitness {self} needs the EP of every episode; run with keep_ep=True")
        firsts = range(0, batch.episodes, batch.phase)
        phases = [outcome.ep[:, first : first + batch.phase] for first in firsts]
        if self.episodes is not None:
            phases = [phase[:, -self.episodes :] for phase in phases]
        means: EPs = np.stack([phase.mean(axis=1) for phase in phases]).mean(axis=0)
        return means
