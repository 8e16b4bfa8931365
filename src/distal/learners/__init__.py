"""The learners: each file holds one, and all have the same anatomy.

A learner is a small frozen object with its parameters, and a function
`episodes(learner, task, settings, seed, resample)` that trains one network
without end and yields every episode as it ends. The loop is at the bottom of
the file, the pure steps it is made of come first.
"""

from __future__ import annotations

from collections.abc import Iterator

from distal.episode import Episode, Task, W
from distal.learners import dsp, hill_climbing
from distal.learners.hill_climbing import HillClimbing
from distal.rule import Rule
from distal.settings import Settings

Learner = Rule | HillClimbing


def name_of(learner: Learner, unnamed: str = "rule") -> str:
    """Return what a learner is called."""
    return (learner.name or unnamed) if isinstance(learner, Rule) else "hill climbing"


def episodes(
    learner: Learner, task: Task[W], settings: Settings, seed: int, resample: int | None = None
) -> Iterator[Episode[W]]:
    """Train one network with any learner, without end; yield each episode."""
    if isinstance(learner, Rule):
        return dsp.episodes(learner, task, settings, seed, resample)
    return hill_climbing.episodes(learner, task, settings, seed, resample)
