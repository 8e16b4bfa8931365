"""The paper's network, compiled: one step as in `recurrent`, to the bit.

Silent neurons add nothing to a sum, so that their synapses are skipped; the order of the others stays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distal.model.compiled_draws import F0, inlined
from distal.model.lanes import load8, load32, pointer, select, splat8, splat32, store
from distal.networks.compiled import (
    BINARY,
    CURRENT,
    PREVIOUS,
    SIGMOID,
    CompiledNetwork,
    clear,
    copy,
    with_room,
)
from distal.networks.compiled_logistic import logistic8
from distal.networks.network import Network


class Own(NamedTuple):
    """What the network keeps from one step to the next, and the sums of a step."""

    came: Any  # uint8 (columns[0]): what is active before the step: inputs, bias, hidden, outputs
    rows: Any  # int64 (columns[0] + 1): where the weights from active sources begin
    passed_on: Any  # float32 (hidden): what hidden neurons passed on in the step before
    sums: Any  # float32 (hidden): those of the hidden neurons


def make(network: Network) -> Own:
    """Return the arrays of a network."""
    columns = network.columns[0]
    return Own(
        np.zeros(columns, np.uint8),
        np.zeros(columns + 1, np.int64),
        with_room(network.hidden),
        with_room(network.hidden),
    )


@inlined
def begin(own, running):
    """Nothing is active before the first step."""
    clear(own.came)
    clear(own.passed_on)


@inlined
def list_active(rows, active, first, last, count, width):
    """List where the rows of the active sources among first … last − 1 begin; `count` are listed before."""
    for p in range(first, last):
        rows[count] = p * width
        count += active[p]
    return count


@inlined
def sum32(weights, rows, first, last, at):
    """Add up 32 entries, from `at` on, of the rows that are listed as first … last − 1."""
    total = splat32(F0)
    for k in range(first, last):
        total = total + load32(weights, rows[k] + at)
    return total


@inlined
def step(own, running):
    """Compute the hidden neurons, and the sums of the outputs."""
    into_hidden, into_output = pointer(running.hidden), pointer(running.output)
    columns, hidden = running.hidden.shape
    feed, outputs = len(running.bits) + 1, len(running.outputs)
    neurons, rows, came = running.codes.neurons, own.rows, own.came
    for p in range(feed - 1):
        came[p] = running.bits[p]
    came[feed - 1] = 1
    sensed = list_active(rows, came, 0, feed, np.int64(0), hidden)
    fed_back = list_active(rows, came, feed + hidden, columns, sensed, hidden)
    recurrent = fed_back
    if neurons == BINARY:
        recurrent = list_active(rows, came, feed, feed + hidden, fed_back, hidden)
    alpha_h, alpha_o = splat32(running.scales[0]), splat32(running.scales[1])
    sums, passed_on, active = pointer(own.sums), pointer(own.passed_on), pointer(running.active)
    for at in range(0, hidden, 32):
        from_inputs = sum32(into_hidden, rows, 0, sensed, at)
        from_outputs = sum32(into_hidden, rows, sensed, fed_back, at)
        from_hidden = sum32(into_hidden, rows, fed_back, recurrent, at)
        if neurons == SIGMOID:
            for k in range(hidden):
                weights = load32(into_hidden, (feed + k) * hidden + at)
                from_hidden = from_hidden + weights * splat32(passed_on[k])
        total = from_inputs + alpha_h * from_hidden + alpha_o * from_outputs
        store(sums, at, total)
        store(active, at, select(total > splat32(F0), splat32(np.uint8(1)), splat32(np.uint8(0))))
    if neurons == SIGMOID:
        for at in range(0, hidden, 8):
            store(passed_on, at, logistic8(load8(sums, at)))
    firing = list_active(rows, running.active, 0, hidden, np.int64(0), outputs)
    for at in range(0, outputs, 8):
        total = splat8(F0)
        if neurons == BINARY:
            for k in range(firing):
                total = total + load8(into_output, rows[k] + at)
        elif neurons == SIGMOID:
            for k in range(hidden):
                total = total + load8(into_output, k * outputs + at) * splat8(passed_on[k])
        store(pointer(running.sums), at, total + load8(into_output, hidden * outputs + at))


@inlined
def sources(own, running):
    """Note what was active at the synapses of this step, as traces pair it, and keep it for the next step."""
    trace_pre = running.codes.trace_pre
    feed, hidden = len(running.bits) + 1, len(running.active)
    if trace_pre == PREVIOUS:
        copy(running.into_hidden, own.came)
    for k in range(hidden):
        own.came[feed + k] = running.active[k]
        running.into_output[k] = running.active[k]
    for o in range(len(running.outputs)):
        own.came[feed + hidden + o] = running.outputs[o]
    running.into_output[hidden] = 1
    if trace_pre == CURRENT:
        copy(running.into_hidden, own.came)


compiled = CompiledNetwork(make, begin, step, sources)
