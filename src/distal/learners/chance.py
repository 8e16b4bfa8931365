"""Chance: fresh random weights in every episode, nothing learned.

What any learner has to beat: the best of as many random networks. With the same seed
a trial begins with the same network as that of a rule or a climber.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from distal.learners.protocol import Parameters, checked_training
from distal.model import network
from distal.model.settings import Settings
from distal.tasks.episode import Episode, run_episode
from distal.tasks.task import Aim, W

NUMBERS = ("alpha_h", "alpha_o")


@dataclass(frozen=True)
class Chance(Parameters):
    """The parameters of the random networks.

    Args:
        alpha_h: The scale of recurrent sums, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: What to call it.

    Raises:
        InputError: If a number is out of its range.
    """

    alpha_h: float
    alpha_o: float
    name: str = ""

    kind: ClassVar[str] = "chance"
    label: ClassVar[str] = "chance"
    key: ClassVar[str] = "random_weights"
    bare: ClassVar[bool] = True
    file_format: ClassVar[str] = "distal-chance"
    names: ClassVar[tuple[str, ...]] = NUMBERS
    ignores: ClassVar[tuple[str, ...]] = ("m_ties", "trace_pre", "normalise")

    def episodes(
        self, task: Aim[W], settings: Settings, seed: int, resample: int | None = None
    ) -> Iterator[Episode[W]]:
        """Run one random network after another, without end; yield each episode.

        Args:
            task: The task and its goal.
            settings: The network and the readings.
            seed: The seed of all random numbers.
            resample: Changes nothing: every episode has fresh weights.

        Returns:
            The episodes, each as it ends.

        Raises:
            InputError: If an argument is wrong.
        """
        return episodes(self, *checked_training(task, settings, seed, resample))


def episodes(
    chance: Chance, task: Aim[W], settings: Settings, seed: int, resample: int | None = None
) -> Iterator[Episode[W]]:
    """Run one random network after another, without end; yield each episode.

    `resample` changes nothing: every episode has fresh weights.
    """
    alpha_h, alpha_o = np.float32(chance.alpha_h), np.float32(chance.alpha_o)
    number = 0
    while True:
        weights = network.fresh_weights(settings.hidden, seed, number, task.inputs, task.outputs)
        yield run_episode(weights, alpha_h, alpha_o, task, settings, seed, number)
        number += 1
