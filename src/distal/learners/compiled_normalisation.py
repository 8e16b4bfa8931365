"""The normalisation of weights, compiled: `normalisation`, to the bit."""

from __future__ import annotations

from distal.model.compiled_draws import F0, F1, called, inlined
from distal.model.lanes import load8, load32, pointer, root, select, splat32, store
from distal.networks.compiled_network import LAYER, NEURON, first_lanes


@called
def unit(weights, first, last, norms):
    """Divide each neuron's weights from sources first … last − 1 by their norm, unless it is 0.

    `norms` is room for 32: the squares of so many neurons are added up side by side, because each addition
    waits for the one before.
    """
    rows, width, norms = pointer(weights), weights.shape[1], pointer(norms)
    for block in range(0, width, 32):
        squares = splat32(F0)
        for p in range(first, last):
            w = load32(rows, p * width + block)
            squares = squares + w * w
        found = root(squares)
        store(norms, 0, select(found == splat32(F0), splat32(F1), found))
        for at in range(block, min(block + 32, width), 8):
            norm, own = load8(norms, at - block), first_lanes(width - at)
            for p in range(first, last):
                w = load8(rows, p * width + at)
                store(rows, p * width + at, select(own, w / norm, w))


@inlined
def normalise(running):
    """Normalise the weights of a network, as the reading says."""
    hidden, output, spare = running.hidden, running.output, running.spare
    reading = running.codes.normalise
    if reading == NEURON:
        unit(hidden, 0, len(hidden), spare)
    elif reading == LAYER:
        for layer in range(len(running.blocks) - 1):
            unit(hidden, running.blocks[layer], running.blocks[layer + 1], spare)
    if reading in (NEURON, LAYER):
        unit(output, 0, len(output), spare)
