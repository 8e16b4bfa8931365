"""Hill climbing (the paper's section "Hill Climbing"), the baseline.

Every episode runs the best weights so far plus noise on each of them, and
replaces the best if it did strictly better. No traces, no normalisation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from distal.base.checks import InputError, fields, unit_interval
from distal.base.files import read_json
from distal.model import network
from distal.model.network import Weights
from distal.model.settings import Settings
from distal.tasks.episode import Episode, run_episode
from distal.tasks.task import Aim, W

NUMBERS = ("sigma", "alpha_h", "alpha_o")
FORMAT, VERSION = "distal-climber", 1


@dataclass(frozen=True)
class HillClimbing:
    """The parameters of hill climbing, each in [0, 1].

    `sigma` scales the noise; `alpha_h` and `alpha_o` the recurrent and feedback
    sums of the network.
    """

    sigma: float
    alpha_h: float
    alpha_o: float

    def __post_init__(self) -> None:
        for name in NUMBERS:
            object.__setattr__(self, name, unit_interval(name, getattr(self, name)))

    def to_dict(self) -> dict[str, float]:
        """Return the three parameters by name."""
        return {name: getattr(self, name) for name in NUMBERS}

    @classmethod
    def from_dict(cls, data: object) -> HillClimbing:
        """Read what a climber file holds: the parameters, its format and its version."""
        return cls(**fields(data, FORMAT, VERSION, NUMBERS))

    @classmethod
    def load(cls, path: str | Path) -> HillClimbing:
        """Read a file with the parameters, as `distal evolve --learner hc` writes it."""
        data = read_json(path, "climber file")
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"climber file {str(path)!r}: {error}") from None


def perturbed(best: Weights, sigma: np.float32, seed: int, episode: int) -> Weights:
    """Return best + σ N(0, 1), with a deviate of its own for every synapse."""
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
        else:
            weights = perturbed(best.weights, sigma, seed, number)
        episode = run_episode(weights, alpha_h, alpha_o, task, settings, seed, number)
        yield episode
        if best is None or episode.ep < best.ep:
            best = episode
        number += 1
