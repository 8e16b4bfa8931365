"""A step of a network of sigmoid neurons."""

from __future__ import annotations

import numpy as np

from distal.engines.cpu.automaton import act
from distal.engines.cpu.workspace import GROUP, shape_of
from distal.model.compiled_draws import F0, F1, inlined
from distal.model.lanes import load8, load_row, lowest_bit, mask_bits, select, splat8, splat_like, store
from distal.networks.compiled_logistic import power8


@inlined
def activate8(ws, table, sensed, at, now, state, hidden, stride, scale_h, scale_o):
    """Compute eight continuous neurons, those at `at`, from the activity at `now`.

    Returns a bit for each that counts as active, and what they pass on.
    """
    _, inputs, _ = shape_of(table)
    feed = inputs + 1
    zero, one = splat8(F0), splat8(F1)
    from_hidden, from_outputs = zero, zero
    for k in range(hidden):
        from_hidden = from_hidden + load8(ws.weights, (feed + k) * stride + at) * splat8(ws.activity[now + k])
    bits = ws.active_outputs[state]
    while bits != np.uint64(0):
        from_outputs = from_outputs + load8(ws.weights, (feed + hidden + lowest_bit(bits)) * stride + at)
        bits &= bits - np.uint64(1)
    from_inputs = zero
    while sensed != np.uint64(0):
        from_inputs = from_inputs + load8(ws.weights, lowest_bit(sensed) * stride + at)
        sensed &= sensed - np.uint64(1)
    from_inputs = from_inputs + load8(ws.weights, inputs * stride + at)
    total = from_inputs + scale_h * from_hidden + scale_o * from_outputs
    positive = total > zero
    power = power8(total)
    return mask_bits(positive), select(positive, one, power) / (one + power)


@inlined
def next_activity(ws, table, options, sensed, now, new, state, alpha_h, alpha_o):
    """Compute what follows `state`, whose activity is at `now`: state + 1, its activity at `new`."""
    hidden = options.hidden
    stride, words = GROUP * options.groups, -(-hidden // 64)
    scale_h, scale_o = splat8(alpha_h), splat8(alpha_o)
    for w in range(words):
        ws.masks[(state + 1) * words + w] = np.uint64(0)
    for at in range(0, hidden, 8):
        found, passed_on = activate8(ws, table, sensed, at, now, state, hidden, stride, scale_h, scale_o)
        store(ws.activity, new + at, passed_on)
        if hidden - at < 8:
            found &= (np.uint64(1) << np.uint64(hidden - at)) - np.uint64(1)
        ws.masks[(state + 1) * words + (at >> 6)] |= found << np.uint64(at & 63)
    _, inputs, outputs = shape_of(table)
    row = table.row
    sums = splat_like(F0, row)
    for k in range(hidden):
        weights = load_row(ws.weights, (inputs + 1 + k) * stride + hidden, row)
        sums = sums + weights * splat_like(ws.activity[new + k], row)
    bias = load_row(ws.weights, (inputs + 1 + hidden + outputs) * stride + hidden, row)
    act(ws, table, state + 1, sums + bias, options.winner_alone)


@inlined
def same_activity(ws, hidden, one, other):
    """Say whether two activities are equal."""
    for at in range(0, hidden, 8):
        equal = mask_bits(load8(ws.activity, one + at) == load8(ws.activity, other + at))
        if hidden - at < 8:
            equal |= ~((np.uint64(1) << np.uint64(hidden - at)) - np.uint64(1))
        if (equal & np.uint64(255)) != np.uint64(255):
            return False
    return True
