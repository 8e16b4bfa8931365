"""The paper's network, compiled: one step as in `recurrent`, to the bit.

Silent neurons add nothing to a sum, so their synapses are skipped; the order of the others is kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distal.model.compiled_draws import F0, inlined
from distal.model.lanes import load8, load32, lowest_bit, mask_bits, pointer, select, splat8, splat32, store
from distal.networks.compiled_logistic import logistic8
from distal.networks.compiled_network import (
    BINARY,
    CURRENT,
    PREVIOUS,
    SIGMOID,
    CompiledNetwork,
    clear,
    with_room,
)
from distal.networks.network import Network


class RecurrentState(NamedTuple):
    """The state of the network between two steps, and the sums of a step."""

    came: Any  # uint8 (hidden + outputs): which hidden neurons and outputs were active in the step before
    passed_on: Any  # float32 (hidden): what hidden neurons passed on in the step before
    sums: Any  # float32 (hidden): those of the hidden neurons


def make(network: Network) -> RecurrentState:
    """Return the arrays of a network."""
    hidden = network.hidden
    return RecurrentState(with_room(hidden + network.outputs, np.uint8), with_room(hidden), with_room(hidden))


@inlined
def begin(state, running):
    """Nothing is active before the first step."""
    clear(state.came)
    clear(state.passed_on)


@inlined
def active_from(active, first, last):
    """Return which of the neurons first … last − 1 are active, as bits; of the first 32 if they are more."""
    bits = mask_bits(load32(active, first) > splat32(np.uint8(0)))
    return bits if last - first >= 32 else bits & ((np.uint64(1) << np.uint64(last - first)) - np.uint64(1))


@inlined
def sum32(weights, row, width, active, first, last):
    """Add up 32 entries of the rows of those sources first … last − 1 that are active.

    `row` is where the entries of source `first` begin, and `width` how far those of the next one are.
    """
    total = splat32(F0)
    for some in range(first, last, 32):
        bits = active_from(active, some, last)
        while bits != np.uint64(0):
            total = total + load32(weights, row + (some - first + lowest_bit(bits)) * width)
            bits &= bits - np.uint64(1)
    return total


@inlined
def step(state, running):
    """Compute the hidden neurons, and the sums of the outputs."""
    into_hidden, into_output = pointer(running.hidden), pointer(running.output)
    hidden = len(running.active)
    feed, outputs = len(running.bits) + 1, len(running.outputs)
    neurons, bits, came = running.codes.neurons, pointer(running.bits), pointer(state.came)
    alpha_h, alpha_o = splat32(running.scales[0]), splat32(running.scales[1])
    sums, passed_on, active = pointer(state.sums), pointer(state.passed_on), pointer(running.active)
    feedback = hidden + outputs
    for at in range(0, hidden, 32):
        bias, row = (feed - 1) * hidden + at, feed * hidden + at
        from_inputs = sum32(into_hidden, at, hidden, bits, 0, feed - 1) + load32(into_hidden, bias)
        from_outputs = sum32(into_hidden, row + hidden * hidden, hidden, came, hidden, feedback)
        from_hidden = splat32(F0)
        if neurons == BINARY:
            from_hidden = sum32(into_hidden, row, hidden, came, 0, hidden)
        elif neurons == SIGMOID:
            for k in range(hidden):
                weights = load32(into_hidden, row + k * hidden)
                from_hidden = from_hidden + weights * splat32(passed_on[k])
        total = from_inputs + alpha_h * from_hidden + alpha_o * from_outputs
        store(sums, at, total)
        store(active, at, select(total > splat32(F0), splat32(np.uint8(1)), splat32(np.uint8(0))))
    if neurons == SIGMOID:
        for at in range(0, hidden, 8):
            store(passed_on, at, logistic8(load8(sums, at)))
    for at in range(0, outputs, 8):
        total = splat8(F0)
        if neurons == BINARY:
            for some in range(0, hidden, 32):
                bits = active_from(active, some, hidden)
                while bits != np.uint64(0):
                    total = total + load8(into_output, (some + lowest_bit(bits)) * outputs + at)
                    bits &= bits - np.uint64(1)
        elif neurons == SIGMOID:
            for k in range(hidden):
                total = total + load8(into_output, k * outputs + at) * splat8(passed_on[k])
        store(pointer(running.sums), at, total + load8(into_output, hidden * outputs + at))


@inlined
def copy32(into, first, numbers, count):
    """Copy so many bytes to where `first` is; up to 32 behind them are overwritten."""
    for at in range(0, count, 32):
        store(pointer(into), first + at, load32(pointer(numbers), at))


@inlined
def note_into_hidden(state, running):
    """Note what is active at the synapses of the hidden neurons."""
    feed = len(running.bits) + 1
    copy32(running.into_hidden, 0, running.bits, feed - 1)
    running.into_hidden[feed - 1] = 1
    copy32(running.into_hidden, feed, state.came, len(state.came))


@inlined
def sources(state, running):
    """Note what was active at the synapses of this step, as traces pair it, and keep it for the next step."""
    trace_pre, hidden = running.codes.trace_pre, len(running.active)
    if trace_pre == PREVIOUS:
        note_into_hidden(state, running)
    copy32(state.came, 0, running.active, hidden)
    for o in range(len(running.outputs)):
        state.came[hidden + o] = running.outputs[o]
    copy32(running.into_output, 0, running.active, hidden)
    running.into_output[hidden] = 1
    if trace_pre == CURRENT:
        note_into_hidden(state, running)


compiled = CompiledNetwork(make, begin, step, sources)
