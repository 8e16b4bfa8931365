"""The normalisation of weights, compiled: `normalisation`, to the bit."""

from __future__ import annotations

import math

import numpy as np

from distal.model.compiled_draws import F0, F1, called, inlined
from distal.networks.compiled import LAYER, NEURON


@called
def unit(weights, first, last, norm):
    """Divide each neuron's weights from sources first … last − 1 by their norm, unless it is 0."""
    neurons = weights.shape[1]
    for j in range(neurons):
        norm[j] = F0
    for p in range(first, last):
        for j in range(neurons):
            norm[j] += weights[p, j] * weights[p, j]
    for j in range(neurons):
        root = np.float32(math.sqrt(norm[j]))
        norm[j] = F1 if root == F0 else root
    for p in range(first, last):
        for j in range(neurons):
            weights[p, j] /= norm[j]


@inlined
def normalise(running, norm):
    """Normalise the weights of a network, as the reading says; norm: a number for each neuron of a layer."""
    hidden, output, reading = running.hidden, running.output, running.codes.normalise
    if reading == NEURON:
        unit(hidden, 0, len(hidden), norm)
    elif reading == LAYER:
        for layer in range(len(running.blocks) - 1):
            unit(hidden, running.blocks[layer], running.blocks[layer + 1], norm)
    if reading in (NEURON, LAYER):
        unit(output, 0, len(output), norm)
