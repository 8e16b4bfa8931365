"""Hill climbing (the paper's section "Hill Climbing"), the baseline.

Every episode runs the best weights so far plus noise on each of them, and
replaces the best if it did strictly better. No traces, no normalisation. Where goals
move, the first episode of a phase runs the best weights as they are, to measure them anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from distal.learners.protocol import Parameters, checked_training
from distal.model import network
from distal.model.network import Weights
from distal.model.settings import Settings
from distal.tasks.episode import Episode, run_episode
from distal.tasks.task import Aim, W

NUMBERS = ("sigma", "alpha_h", "alpha_o")


@dataclass(frozen=True)
class HillClimbing(Parameters):
    """The parameters of hill climbing.

    Args:
        sigma: The scale of the noise, in [0, 1].
        alpha_h: The scale of recurrent sums in the network, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: What to call the climber.

    Raises:
        InputError: If a number is out of its range.
    """

    sigma: float
    alpha_h: float
    alpha_o: float
    name: str = ""

    kind: ClassVar[str] = "hc"
    label: ClassVar[str] = "hill climbing"
    key: ClassVar[str] = "hill_climbing"
    bare: ClassVar[bool] = True
    file_format: ClassVar[str] = "distal-climber"
    names: ClassVar[tuple[str, ...]] = NUMBERS
    genes: ClassVar[tuple[int, int] | None] = (0, len(NUMBERS))
    ignores: ClassVar[tuple[str, ...]] = ("m_ties", "trace_pre", "normalise")

    def episodes(
        self, task: Aim[W], settings: Settings, seed: int, resample: int | None = None
    ) -> Iterator[Episode[W]]:
        """Climb with one network, without end; yield each episode.

        Args:
            task: The task and its goal.
            settings: The network and the readings.
            seed: The seed of all random numbers.
            resample: Draw fresh weights after this many episodes.

        Returns:
            The episodes, each as it ends.

        Raises:
            InputError: If an argument is wrong.
        """
        return episodes(self, *checked_training(task, settings, seed, resample))


def perturbed(best: Weights, sigma: np.float32, seed: int, episode: int) -> Weights:
    """Return best + σ N(0, 1), with a separate deviate for every synapse."""
    hidden, inputs, outputs = best.shape
    noise = network.perturbation(hidden, seed, episode, inputs, outputs)
    return Weights(best.hidden + sigma * noise.hidden, best.output + sigma * noise.output)


def episodes(
    climber: HillClimbing, task: Aim[W], settings: Settings, seed: int, resample: int | None = None
) -> Iterator[Episode[W]]:
    """Climb with one network, without end; yield each episode."""
    sigma, alpha_h, alpha_o = (np.float32(getattr(climber, name)) for name in NUMBERS)
    best: Episode[W] | None = None
    number = 0
    while True:
        if resample and number % resample == 0:
            best = None
        if best is None:
            weights = network.fresh_weights(settings.hidden, seed, number, task.inputs, task.outputs)
        elif task.moves_at(number):
            weights, best = best.weights, None
        else:
            weights = perturbed(best.weights, sigma, seed, number)
        episode = run_episode(weights, alpha_h, alpha_o, task, settings, seed, number)
        yield episode
        if best is None or episode.ep < best.ep:
            best = episode
        number += 1
