"""The weights of a network in a worker's memory: drawn, and kept in the results."""

from __future__ import annotations

import numpy as np

from distal.engines.cpu.workspace import shape_of
from distal.model.compiled_draws import F0, four_rows, inlined
from distal.model.draws import NOISE
from distal.model.lanes import iota8, load4, load8, splat8, store


@inlined
def draw(ws, table, hidden, stride, seed, episode, purpose, sigma):
    """Fill the weights: fresh ones, or the best of the climb plus noise."""
    zero = splat8(F0)
    _, inputs, outputs = shape_of(table)
    climbing = purpose == NOISE
    blocks = -(-(inputs + 1 + hidden + outputs) // 4)
    for c in range(0, hidden, 8):
        if hidden - c <= 4:  # so few neurons are left that two blocks fit into the lanes
            few = (iota8() & splat8(np.uint32(3))) + splat8(np.uint32(c))
            for block in range(0, blocks, 2):
                two = (iota8() >> splat8(np.uint32(2))) + splat8(np.uint32(block))
                r0, r1, r2, r3 = four_rows(two, few, episode, purpose, seed, sigma)
                at, both = 4 * block * stride + c, block + 1 < blocks
                half_rows(ws.weights, ws.best, ws.spare, at, 4 * stride, r0, climbing, both)
                half_rows(ws.weights, ws.best, ws.spare, at + stride, 4 * stride, r1, climbing, both)
                half_rows(ws.weights, ws.best, ws.spare, at + 2 * stride, 4 * stride, r2, climbing, both)
                half_rows(ws.weights, ws.best, ws.spare, at + 3 * stride, 4 * stride, r3, climbing, both)
            break
        neurons = iota8() + splat8(np.uint32(c))
        for block in range(blocks):
            at = 4 * block * stride + c
            r0, r1, r2, r3 = four_rows(splat8(np.uint32(block)), neurons, episode, purpose, seed, sigma)
            store(ws.weights, at, (load8(ws.best, at) if climbing else zero) + r0)
            at += stride
            store(ws.weights, at, (load8(ws.best, at) if climbing else zero) + r1)
            at += stride
            store(ws.weights, at, (load8(ws.best, at) if climbing else zero) + r2)
            at += stride
            store(ws.weights, at, (load8(ws.best, at) if climbing else zero) + r3)
    for j in range(hidden):
        ws.weights[(inputs + 1 + j) * stride + j] = F0  # no synapse from itself
    # Those of the outputs, at lanes of their own; they begin with the first hidden neuron, the bias is last.
    feed = inputs + 1
    own = feed * stride + hidden
    if len(table.row) != 4:
        for c in range(0, outputs, 8):
            neurons = iota8() + splat8(np.uint32(hidden + c))
            for block in range(-(-(hidden + 1) // 4)):
                r0, r1, r2, r3 = four_rows(splat8(np.uint32(block)), neurons, episode, purpose, seed, sigma)
                at = own + 4 * block * stride + c
                store(ws.weights, at, (load8(ws.best, at) if climbing else zero) + r0)
                at += stride
                store(ws.weights, at, (load8(ws.best, at) if climbing else zero) + r1)
                at += stride
                store(ws.weights, at, (load8(ws.best, at) if climbing else zero) + r2)
                at += stride
                store(ws.weights, at, (load8(ws.best, at) if climbing else zero) + r3)
    else:
        four = (iota8() & splat8(np.uint32(3))) + splat8(np.uint32(hidden))
        for block in range(0, -(-(hidden + 1) // 4), 2):
            two = (iota8() >> splat8(np.uint32(2))) + splat8(np.uint32(block))
            r0, r1, r2, r3 = four_rows(two, four, episode, purpose, seed, sigma)
            at = own + 4 * block * stride
            half_rows(ws.weights, ws.best, ws.spare, at, 4 * stride, r0, climbing, True)
            half_rows(ws.weights, ws.best, ws.spare, at + stride, 4 * stride, r1, climbing, True)
            half_rows(ws.weights, ws.best, ws.spare, at + 2 * stride, 4 * stride, r2, climbing, True)
            half_rows(ws.weights, ws.best, ws.spare, at + 3 * stride, 4 * stride, r3, climbing, True)
    for k in range(outputs):
        ws.weights[own + (hidden + outputs) * stride + k] = ws.weights[own + hidden * stride + k]


@inlined
def half_rows(weights, best, spare, at, further, drawn, climbing, both):
    """Store what was drawn for four neurons, and for them in the block that lies `further` on, if any."""
    store(spare, 0, drawn)
    low = load4(spare, 0)
    if climbing:
        low = load4(best, at) + low
    store(weights, at, low)
    if both:
        high = load4(spare, 4)
        if climbing:
            high = load4(best, at + further) + high
        store(weights, at + further, high)


@inlined
def keep(ws, table, hidden, stride, trial, hidden_out, output_out):
    """Copy the running weights into the result, one row per post-synaptic neuron."""
    _, inputs, outputs = shape_of(table)
    feed = inputs + 1
    for j in range(hidden):
        for p in range(feed + hidden + outputs):
            hidden_out[trial, j, p] = ws.weights[p * stride + j]
    for k in range(outputs):
        for p in range(hidden):
            output_out[trial, k, p] = ws.weights[(feed + p) * stride + hidden + k]
        output_out[trial, k, hidden] = ws.weights[(feed + hidden + outputs) * stride + hidden + k]
