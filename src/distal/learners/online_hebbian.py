"""Online Hebbian learning: the weights change after every step of an episode.

As in Hebbian meta-learning (Najarro, Risi: "Meta-Learning through Hebbian Plasticity in Random
Networks", NeurIPS 2020), but with one set of coefficients for all synapses. After each step w' = w
+ η (A·pre·post + B·pre + C·post + D), then weights are normalised. They carry over from one episode
to the next. The coefficients are the same as in `eligibility`; m comes from the episode before, the
last with a known EP, and is +1 in the first episode after fresh weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from distal.learners.hebbian import COEFFICIENTS, Hebbian
from distal.learners.learner import Memory, Trial
from distal.learners.modulation import heard
from distal.learners.normalisation import normalised
from distal.model.traces import Activations
from distal.networks.episode import Episode
from distal.networks.network import Network, Weights, added


def hebbian(pre: Activations, post: Activations, coefficients: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return A·pre·post + B·pre + C·post + D of every synapse between the neurons of a step."""
    x, y = pre.astype(np.float32), post.astype(np.float32)[:, None]
    a, b, c, d = coefficients
    change: NDArray[np.float32] = a * (y * x) + b * x + c * y + d
    return change


@dataclass(frozen=True)
class OnlineHebbian(Hebbian):
    """A Hebbian rule of eight coefficients, applied after every step.

    The eight are `a_plus`, `b_plus`, `c_plus` and `d_plus`, A, B, C and D where m = +1, and `a_minus` …
    `d_minus`, where m = −1, all in [-1, 1].

    Args:
        eta: The learning rate, in [0, 1].
        alpha_h: The scale of recurrent sums in the network, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: Its name.

    Raises:
        InputError: If a number is out of its range.
    """

    eta: float
    alpha_h: float
    alpha_o: float
    name: str = ""

    kind: ClassVar[str] = "online"
    label: ClassVar[str] = "online Hebbian learning"
    file_format: ClassVar[str] = "distal-online"
    names: ClassVar[tuple[str, ...]] = (*COEFFICIENTS, "eta", "alpha_h", "alpha_o")
    genes: ClassVar[tuple[int, int] | None] = (0, len(names))
    compiled: ClassVar[str | None] = "distal.learners.compiled_online_hebbian"
    within: ClassVar[bool] = True

    def step(
        self, network: Network, trial: Trial, memory: Memory, weights: Weights, recent: Episode[Any]
    ) -> Weights:
        """Change every weight by the activity of its neurons in this step, then normalise.

        Args:
            network: The shape of the network.
            trial: The seed, and when goals move.
            memory: The network's memory from before the episode.
            weights: The weights of this step.
            recent: This step, in the last row, and the one before it.

        Returns:
            The weights of the next step.
        """
        coefficients = self.coefficients(-1 if memory.number("m") == -1 else 1)
        pre = network.sources(recent, network.settings.trace_pre)
        into_hidden, into_output = (
            np.float32(self.eta) * hebbian(before[-1], after[-1], coefficients)
            for before, after in zip(pre, (recent.hidden, recent.outputs), strict=True)
        )
        return normalised(network, added(network, weights, into_hidden, into_output))

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        """Keep the weights as they are after the last step, and m for the next episode."""
        m = heard(network, trial, memory, episode)
        return Memory(episode.last, {"ep": episode.ep, "m": m})
