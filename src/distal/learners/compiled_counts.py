"""Traces as counts, compiled: `traces.counts`, 32 steps at a time.

A step only shifts a bit into a word for every neuron. The words of 32 steps are counted together: the steps
in which both neurons of a synapse were active are the ones of two words that both have a 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distal.model.compiled_draws import called, inlined
from distal.model.lanes import convert, load8, ones, pointer, reinterpret, splat8, store
from distal.networks.compiled_network import clear, in_eights, with_room

STEPS = 32  # that a word holds


class Counts(NamedTuple):
    """The traces of a layer: steps of an episode by what was active; and the steps not yet counted."""

    both: Any  # int32 (columns, neurons in eights): with both neurons of a synapse active
    before: Any  # int32 (columns): with the source active
    after: Any  # int32 (neurons): with the neuron active
    sources: Any  # uint32 (columns): a bit for each step that is not counted yet, the last one lowest
    neurons: Any  # uint32 (neurons)


def make_counts(neurons: int, columns: int) -> Counts:
    """Return the counts of a layer."""
    return Counts(
        with_room((columns, in_eights(neurons)), np.int32),
        with_room(columns, np.int32),
        with_room(neurons, np.int32),
        with_room(columns, np.uint32),
        with_room(neurons, np.uint32),
    )


@called
def begin_counts(counts):
    """Begin anew."""
    both = pointer(counts.both)
    for k in range(counts.both.size):
        both[k] = 0
    clear(counts.before)
    clear(counts.after)
    clear(counts.sources)
    clear(counts.neurons)


@inlined
def shift_in(words, active, count):
    """Put a step behind those that the words of neurons hold."""
    words, active = pointer(words), pointer(active)
    for at in range(0, count, 8):
        earlier = load8(words, at) << splat8(np.uint32(1))
        store(words, at, earlier | convert(load8(active, at), np.uint32))


@inlined
def note(counts, sources, neurons):
    """Note a step of the layer."""
    shift_in(counts.sources, sources, len(sources))
    shift_in(counts.neurons, neurons, len(neurons))


@inlined
def count_ones(into, words, count):
    """Count the steps that the words of neurons hold."""
    into, words = pointer(into), pointer(words)
    for at in range(0, count, 8):
        store(into, at, load8(into, at) + reinterpret(ones(load8(words, at)), np.int32))


@called
def add_up(counts):
    """Count the steps that have been noted."""
    both, sources, neurons = pointer(counts.both), pointer(counts.sources), pointer(counts.neurons)
    columns, width = counts.both.shape
    count_ones(counts.before, counts.sources, columns)
    count_ones(counts.after, counts.neurons, len(counts.after))
    for p in range(columns):
        if sources[p] != np.uint32(0):
            now, row = splat8(sources[p]), p * width
            for at in range(0, width, 8):
                steps = reinterpret(ones(now & load8(neurons, at)), np.int32)
                store(both, row + at, load8(both, row + at) + steps)
    clear(counts.sources)
    clear(counts.neurons)
