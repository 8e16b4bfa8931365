"""Chance: fresh random weights in every episode, nothing learned.

What any learner has to beat: the best of so many random networks. With the same seed
a trial begins with the same network as that of a rule or a climber.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from distal.base.checks import unit_interval
from distal.model import network
from distal.model.settings import Settings
from distal.tasks.episode import Episode, run_episode
from distal.tasks.task import Aim, W

NUMBERS = ("alpha_h", "alpha_o")


@dataclass(frozen=True)
class Chance:
    """The parameters of the random networks, each in [0, 1].

    `alpha_h` and `alpha_o` scale the recurrent and feedback sums.
    """

    alpha_h: float
    alpha_o: float

    def __post_init__(self) -> None:
        for name in NUMBERS:
            object.__setattr__(self, name, unit_interval(name, getattr(self, name)))

    def to_dict(self) -> dict[str, float]:
        """Return the two parameters by name."""
        return {name: getattr(self, name) for name in NUMBERS}


def episodes(
    chance: Chance, task: Aim[W], settings: Settings, seed: int, resample: int | None = None
) -> Iterator[Episode[W]]:
    """Run one random network after another, without end; yield each episode.

    `resample` changes nothing: weights are drawn afresh in any case.
    """
    alpha_h, alpha_o = np.float32(chance.alpha_h), np.float32(chance.alpha_o)
    number = 0
    while True:
        weights = network.fresh_weights(settings.hidden, seed, number, task.inputs, task.outputs)
        yield run_episode(weights, alpha_h, alpha_o, task, settings, seed, number)
        number += 1
