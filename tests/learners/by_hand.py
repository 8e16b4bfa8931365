"""A tiny network and a short episode, whose updates are worked by hand.

One input, one hidden neuron, one output. The columns of a hidden row are input, bias, the neuron itself
(no synapse), output; those of an output row are hidden neuron, bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal import Settings
from distal.networks import Episode, Recurrent, Weights

BEGINNING = ([[0.25, 0.5, 0, -0.25]], [[0.5, -0.5]])


def tiny(normalise: str = "none", **settings: Any) -> Recurrent:
    """Return the network; weights are not normalised unless a test says so."""
    return Recurrent(1, 1, Settings(hidden=1, normalise=normalise, **settings))


def weights(hidden: Any = BEGINNING[0], output: Any = BEGINNING[1]) -> Weights:
    """Return weights of the network."""
    return Weights(np.array(hidden, np.float32), np.array(output, np.float32))


def lived(ep: float = 5, number: int = 0, own: Weights | None = None) -> Episode[Any]:
    """Return an episode of three steps: input 1 0 1, hidden neuron 1 1 0, output 0 1 1."""
    layers = [[1, 0, 1]], [[1, 1, 0]], [[0, 1, 1]]
    inputs, hidden, outputs = (np.array(layer, np.uint8).T for layer in layers)
    with_bias: NDArray[np.uint8] = np.hstack([inputs, np.ones((3, 1), np.uint8)])
    return Episode(own or weights(), None, ep, (0, 0, 0), with_bias, hidden, outputs, number)
