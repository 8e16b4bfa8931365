"""The normalisation of weights, compiled: `normalisation`, to the bit."""

from __future__ import annotations

from distal.model.compiled_draws import F0, F1, called, inlined
from distal.model.lanes import load8, pointer, root, select, splat8, store
from distal.networks.compiled import LAYER, NEURON, first_lanes


@called
def unit(weights, first, last):
    """Divide each neuron's weights from sources first … last − 1 by their norm, unless it is 0."""
    rows, width = pointer(weights), weights.shape[1]
    for at in range(0, width, 8):
        squares = splat8(F0)
        for p in range(first, last):
            w = load8(rows, p * width + at)
            squares = squares + w * w
        norm, own = root(squares), first_lanes(width - at)
        norm = select(norm == splat8(F0), splat8(F1), norm)
        for p in range(first, last):
            w = load8(rows, p * width + at)
            store(rows, p * width + at, select(own, w / norm, w))


@inlined
def normalise(running):
    """Normalise the weights of a network, as the reading says."""
    hidden, output, reading = running.hidden, running.output, running.codes.normalise
    if reading == NEURON:
        unit(hidden, 0, len(hidden))
    elif reading == LAYER:
        for layer in range(len(running.blocks) - 1):
            unit(hidden, running.blocks[layer], running.blocks[layer + 1])
    if reading in (NEURON, LAYER):
        unit(output, 0, len(output))
