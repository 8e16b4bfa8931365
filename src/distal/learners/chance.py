"""Chance: fresh random weights in every episode, nothing learned.

Every learner has to beat it. With the same seed, a trial begins with the same network for chance, a
rule and a climber.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from distal.learners.learner import Learner, Memory, Trial
from distal.networks.episode import Episode
from distal.networks.network import Network


@dataclass(frozen=True)
class Chance(Learner):
    """The parameters of the random networks.

    Args:
        alpha_h: The scale of recurrent sums, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: Its name.

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
    compiled: ClassVar[str | None] = "distal.learners.compiled_chance"
    names: ClassVar[tuple[str, ...]] = ("alpha_h", "alpha_o")
    ignores: ClassVar[tuple[str, ...]] = ("m_ties", "trace_pre", "normalise")

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        """Draw fresh weights."""
        return Memory(network.fresh_weights(trial.seed, episode.number + 1))
