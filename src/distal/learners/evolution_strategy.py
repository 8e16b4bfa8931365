"""A (1+1) evolution strategy over the weights; the rule of one success in five sets its step size.

It is the oldest evolution strategy (Beyer, Schwefel: "Evolution Strategies: A Comprehensive
Introduction", Natural Computing, 2002), and the nearest to hill climbing.

Every episode runs the best weights so far plus σ times noise on each of them, and replaces the best
if it did strictly better. Then σ grows by the factor, else it shrinks by its fourth root, so it is
stable when one trial in five succeeds. It is hill climbing with a step size of its own: with a
factor of 1 it is hill climbing to the bit. No traces, no normalisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from distal.learners.hill_climbing import perturbed
from distal.learners.learner import Learner, Memory, Trial, flipped
from distal.networks.episode import Episode
from distal.networks.network import Network, Weights

NUMBERS = ("sigma", "factor", "alpha_h", "alpha_o")
# Weights begin in [−1, 1): noise below the first changes no action, with noise above the second nothing
# is left of what was found. A success is rare, so σ would fall out of 32 bits without an end.
SMALLEST, LARGEST = np.float32(2.0**-10), np.float32(2.0**10)


def stepped(sigma: np.float32, factor: np.float32, success: bool) -> np.float32:
    """Return σ times the factor after a success, else σ divided by its fourth root; within its bounds."""
    if success:
        return min(sigma * factor, LARGEST)
    return max(sigma / np.sqrt(np.sqrt(factor)), min(sigma, SMALLEST))


@dataclass(frozen=True)
class EvolutionStrategy(Learner):
    """The parameters of a (1+1) evolution strategy.

    Args:
        sigma: The scale of the noise at first, in [0, 1].
        factor: The factor on σ after a success, in [1, 2]; with 1 it stays.
        alpha_h: The scale of recurrent sums in the network, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: Its name.

    Raises:
        InputError: If a number is out of its range.
    """

    sigma: float
    factor: float
    alpha_h: float
    alpha_o: float
    name: str = ""

    kind: ClassVar[str] = "es"
    label: ClassVar[str] = "evolution strategy"
    file_format: ClassVar[str] = "distal-es"
    names: ClassVar[tuple[str, ...]] = NUMBERS
    ranges = {"factor": (1.0, 2.0)}  # noqa: RUF012 - declared in Learner
    genes: ClassVar[tuple[int, int] | None] = (0, len(NUMBERS))
    compiled: ClassVar[str | None] = "distal.learners.compiled_climbing"
    ignores: ClassVar[tuple[str, ...]] = ("m_ties", "trace_pre", "normalise")

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        """Replace the best if the episode was strictly better, adapt σ, and try noise on the best."""
        best, ep = cast("Weights | None", memory.kept.get("best")), memory.number("ep")
        before = memory.number("sigma")
        sigma = np.float32(self.sigma if before is None else before)
        if best is None or ep is None:  # the first weights are no trial of a step
            best, ep = episode.weights, episode.ep
        else:
            success = (episode.ep < ep) != flipped(network.settings, trial, episode.number)
            sigma = stepped(sigma, np.float32(self.factor), success)
            if success:
                best, ep = episode.weights, episode.ep
        following = episode.number + 1
        if trial.moves_at(following):
            return Memory(best)
        tried = perturbed(network, best, sigma, trial.seed, following)
        return Memory(tried, {"best": best, "ep": ep, "sigma": float(sigma)})
