"""REINFORCE with a baseline: a policy gradient of the weights into the outputs.

Williams: "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning"
(Machine Learning, 1992).

The network "softmax" draws its actions with probabilities π, so that the gradient of log π by the weights
into the outputs is known: (1 for the action, else 0, minus π) × what the hidden neurons and the bias pass
on. It is summed over the steps of an episode, and at the end w' = w + η · advantage · gradient. The advantage
is how far the EP lies below its running mean, the baseline, in units of the usual distance. A hidden neuron
is a step function, which has no gradient: the weights into the hidden neurons stay. No normalisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError
from distal.learners.learner import Learner, Memory, Trial, flipped
from distal.model.readings import BINARY, SOFTMAX
from distal.networks.episode import Episode
from distal.networks.network import Network, ordered_sum
from distal.networks.softmax import softmax


def gradient(network: Network, episode: Episode[Any]) -> NDArray[np.float32]:
    """Return the gradient of the log-probability of all actions, by the weights into the outputs."""
    output, (_, sources) = episode.weights.output, network.sources(episode, network.settings.trace_pre)
    found: NDArray[np.float32] = np.zeros_like(output)
    for action, active in zip(episode.actions, sources.astype(np.float32), strict=True):
        pull = -softmax(ordered_sum(output * active))
        pull[action] += np.float32(1)
        found = found + pull[:, None] * active
    return found


@dataclass(frozen=True)
class Reinforce(Learner):
    """The parameters of REINFORCE.

    Args:
        eta: The learning rate, in [0, 0.1]; a gradient is a sum over all steps.
        rate: How fast the baseline and the usual distance follow the EPs, in [0, 1]; with 1 the baseline is
            the EP of the episode before.
        alpha_h: The scale of recurrent sums in the network, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: Its name.

    Raises:
        InputError: If a number is out of its range.
    """

    eta: float
    rate: float
    alpha_h: float
    alpha_o: float
    name: str = ""

    kind: ClassVar[str] = "reinforce"
    label: ClassVar[str] = "REINFORCE"
    file_format: ClassVar[str] = "distal-reinforce"
    names: ClassVar[tuple[str, ...]] = ("eta", "rate", "alpha_h", "alpha_o")
    ranges = {"eta": (0.0, 0.1)}  # noqa: RUF012 - declared in Learner
    genes: ClassVar[tuple[int, int] | None] = (0, len(names))
    compiled: ClassVar[str | None] = "distal.learners.compiled_reinforce"
    ignores: ClassVar[tuple[str, ...]] = ("m_ties", "trace_pre", "normalise")
    needs: ClassVar[str | None] = SOFTMAX

    def check_network(self, network: Network) -> None:
        """Refuse a network without probabilities, and one whose hidden neurons are not binary."""
        super().check_network(network)
        if network.settings.neurons != BINARY:
            raise InputError(
                f"neurons is {network.settings.neurons!r}, but {self.kind} trains {BINARY!r} ones alone; "
                f"write neurons={BINARY!r}"
            )

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        """Move the weights into the outputs along the gradient, as far as the EP was better than usual."""
        baseline, usual = memory.number("baseline"), memory.number("usual") or 0.0
        if baseline is None:  # nothing to compare with
            return Memory(episode.weights, {"baseline": episode.ep, "usual": usual})
        below = baseline - episode.ep
        if flipped(network.settings, trial, episode.number):
            below = -below
        usual = abs(below) if usual == 0 else usual + self.rate * (abs(below) - usual)
        kept = {"baseline": baseline - self.rate * below, "usual": usual}
        if usual == 0:
            return Memory(episode.weights, kept)
        factor = np.float32(self.eta) * np.float32(below / usual)
        output = episode.weights.output + factor * gradient(network, episode)
        return Memory(network.weights(episode.weights.hidden, output), kept)
