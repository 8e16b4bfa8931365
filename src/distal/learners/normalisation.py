"""The normalisation of weights (the paper's equation for w(e + 1)), as the reading "normalise" says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import code_for
from distal.networks.network import Network, Weights, ordered_sum


def normalised(network: Network, weights: Weights) -> Weights:
    """Divide each neuron's incoming weights by their Euclidean norm, as the reading "normalise" says."""
    return code_for("normalise", NORMALISE_READINGS, network.settings.normalise)(network, weights)


def _by_neuron(network: Network, weights: Weights) -> Weights:
    """Give all incoming weights of a neuron one norm."""
    return network.weights(_unit_rows(weights.hidden), _unit_rows(weights.output))


def _by_layer(network: Network, weights: Weights) -> Weights:
    """Give the weights from each layer a norm of their own."""
    layers = np.split(weights.hidden, network.blocks, axis=1)
    return network.weights(np.hstack([_unit_rows(layer) for layer in layers]), _unit_rows(weights.output))


NORMALISE_READINGS: dict[str, Callable[[Network, Weights], Weights]] = {
    "neuron": _by_neuron,
    "layer": _by_layer,
    "none": lambda network, weights: weights,
}


def _unit_rows(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Divide each row by its norm; a row of norm 0 stays as it is."""
    norm = np.sqrt(ordered_sum(matrix * matrix))
    divisor: NDArray[np.float32] = np.where(norm == 0, np.float32(1), norm)
    return matrix / divisor[:, None]
