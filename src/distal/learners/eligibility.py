"""Synaptic eligibility traces of the general Hebbian rule A·pre·post + B·pre + C·post + D.

They are reviewed by Gerstner, Lehmann, Liakoni, Corneil and Brea ("Eligibility Traces and Plasticity on
Behavioral Time Scales", Frontiers in Neural Circuits, 2018).

In every step each synapse's trace decays and grows: e ← λ e + A·pre·post + B·pre + C·post + D. At
the end of the episode w' = w + η · e / steps, with one set of coefficients for m = +1 and one for m
= −1, then weights are normalised. m, pre and post are the same as in `dsp`, so the two differ only
in the change. With λ = 1 and A = m alone it is the plain modulated Hebbian rule of the paper's
equations 2 and 3, over all steps of an episode: "hebb".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.learners.hebbian import COEFFICIENTS, Hebbian
from distal.learners.learner import Memory, Trial
from distal.learners.modulation import heard
from distal.learners.normalisation import normalised
from distal.model.traces import Activations
from distal.networks.episode import Episode
from distal.networks.network import Network, Weights, added


class Traces(NamedTuple):
    """Steps of an episode, counted so that each weighs λ times as much as the next.

    The trace of a synapse is a sum over steps, so these four hold it for any coefficients. With
    λ = 1 they are the counts that a rule's traces are made from.

    Attributes:
        both: With both neurons of a synapse active, (n_post, n_pre).
        pre: With the pre-synaptic neuron active, (n_pre).
        post: With the post-synaptic neuron active, (n_post).
        steps: All of them.
    """

    both: NDArray[np.float32]
    pre: NDArray[np.float32]
    post: NDArray[np.float32]
    steps: np.float32


def traces(pre: Activations, post: Activations, decay: np.float32) -> Traces:
    """Count the steps of an episode; `pre` (steps, n_pre) and `post` (steps, n_post) have a row for each."""
    before, after = pre.astype(np.float32), post.astype(np.float32)
    found = Traces(
        np.zeros((post.shape[1], pre.shape[1]), np.float32),
        np.zeros(pre.shape[1], np.float32),
        np.zeros(post.shape[1], np.float32),
        np.float32(0),
    )
    for x, y in zip(before, after, strict=True):
        found = Traces(
            decay * found.both + y[:, None] * x,
            decay * found.pre + x,
            decay * found.post + y,
            decay * found.steps + np.float32(1),
        )
    return found


def eligibility(found: Traces, coefficients: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the trace e of every synapse; `coefficients` (n_post or 1, 4) are A, B, C, D of each neuron."""
    a, b, c, d = coefficients.T[:, :, None]
    e: NDArray[np.float32] = a * found.both + b * found.pre + c * found.post[:, None] + d * found.steps
    return e


def of_layer(
    network: Network, coefficients: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the coefficients (neurons or 1, 4) of the hidden neurons and of the outputs."""
    if len(coefficients) == 1:
        return coefficients, coefficients
    return coefficients[: network.hidden], coefficients[network.hidden :]


def changed(
    network: Network,
    episode: Episode[Any],
    coefficients: NDArray[np.float32],
    decay: np.float32,
    eta: np.float32,
) -> Weights:
    """Return w' = w + η · (e / steps) for every synapse."""
    pre = network.sources(episode, network.settings.trace_pre)
    post, own = (episode.hidden, episode.outputs), of_layer(network, coefficients)
    into_hidden, into_output = (
        eta * (eligibility(traces(before, after, decay), each) / np.float32(episode.steps))
        for before, after, each in zip(pre, post, own, strict=True)
    )
    return added(network, episode.weights, into_hidden, into_output)


@dataclass(frozen=True)
class Eligibility(Hebbian):
    """A Hebbian rule of eight coefficients, with synaptic eligibility traces.

    The eight are `a_plus`, `b_plus`, `c_plus` and `d_plus`, A, B, C and D where m = +1, and `a_minus` …
    `d_minus`, where m = −1, all in [-1, 1].

    Args:
        decay: λ, by which a trace is multiplied in each step, in [0, 1]; with 1 it keeps all steps.
        eta: The learning rate, in [0, 1].
        alpha_h: The scale of recurrent sums in the network, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: Its name.

    Raises:
        InputError: If a number is out of its range.
    """

    decay: float
    eta: float
    alpha_h: float
    alpha_o: float
    name: str = ""

    kind: ClassVar[str] = "eligibility"
    label: ClassVar[str] = "eligibility traces"
    file_format: ClassVar[str] = "distal-eligibility"
    names: ClassVar[tuple[str, ...]] = (*COEFFICIENTS, "decay", "eta", "alpha_h", "alpha_o")
    genes: ClassVar[tuple[int, int] | None] = (0, len(names))
    compiled: ClassVar[str | None] = "distal.learners.compiled_eligibility"

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        """Change every weight by its trace, as m selects the coefficients, then normalise."""
        m = heard(network, trial, memory, episode)
        numbers = np.float32(self.decay), np.float32(self.eta)
        weights = normalised(network, changed(network, episode, self.coefficients(m)[None], *numbers))
        return Memory(weights, {"ep": episode.ep})
