"""Hill climbing (the paper's section "Hill Climbing"), the baseline.

Every episode runs the best weights so far plus noise on each of them, and replaces the best if it
did strictly better. No traces, no normalisation. If goals move, the first episode of a phase runs
the best weights unchanged, to measure them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from distal.learners.learner import Learner, Memory, Trial, flipped
from distal.networks.episode import Episode
from distal.networks.network import Network, Weights


def perturbed(network: Network, best: Weights, sigma: np.float32, seed: int, episode: int) -> Weights:
    """Return best + σ N(0, 1), with a deviate of its own for every synapse in every episode."""
    noise = network.perturbation(seed, episode)
    return network.weights(best.hidden + sigma * noise.hidden, best.output + sigma * noise.output)


@dataclass(frozen=True)
class HillClimbing(Learner):
    """The parameters of hill climbing.

    Args:
        sigma: The scale of the noise, in [0, 1].
        alpha_h: The scale of recurrent sums in the network, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: The name of the climber.

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
    compiled: ClassVar[str | None] = "distal.learners.compiled_climbing"
    names: ClassVar[tuple[str, ...]] = ("sigma", "alpha_h", "alpha_o")
    genes: ClassVar[tuple[int, int] | None] = (0, len(names))
    ignores: ClassVar[tuple[str, ...]] = ("m_ties", "trace_pre", "normalise")

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        """Replace the best if the episode was strictly better, and try noise on the best."""
        best, ep = cast("Weights | None", memory.kept.get("best")), memory.number("ep")
        opposite = flipped(network.settings, trial, episode.number)
        if best is None or ep is None or (episode.ep < ep) != opposite:
            best, ep = episode.weights, episode.ep
        following = episode.number + 1
        if trial.moves_at(following):
            return Memory(best)
        tried = perturbed(network, best, np.float32(self.sigma), trial.seed, following)
        return Memory(tried, {"best": best, "ep": ep})
