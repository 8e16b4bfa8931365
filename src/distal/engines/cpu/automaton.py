"""The states of a network of binary neurons, which is a finite automaton, and the action of each."""

from __future__ import annotations

import numpy as np

from distal.engines.cpu.workspace import GROUP, shape_of
from distal.model.compiled_draws import F0, draw_words, inlined
from distal.model.draws import ACTION
from distal.model.lanes import (
    lane,
    load8,
    load32,
    load_row,
    lowest_bit,
    mask_bits,
    splat8,
    splat32,
    splat_like,
    store,
)


@inlined
def feel(ws, hidden, stride):
    """Sum up inputs and bias of a narrow table, for each of the eight things to sense."""
    for g in range(0, hidden, GROUP):
        first, second = load32(ws.weights, g), load32(ws.weights, stride + g)
        third, bias = load32(ws.weights, 2 * stride + g), load32(ws.weights, 3 * stride + g)
        both = first + second
        store(ws.felt, g, bias)
        store(ws.felt, stride + g, first + bias)
        store(ws.felt, 2 * stride + g, second + bias)
        store(ws.felt, 3 * stride + g, both + bias)
        store(ws.felt, 4 * stride + g, third + bias)
        store(ws.felt, 5 * stride + g, (first + third) + bias)
        store(ws.felt, 6 * stride + g, (second + third) + bias)
        store(ws.felt, 7 * stride + g, (both + third) + bias)


@inlined
def felt32(ws, table, sensed, at, stride):
    """Return the sums of 32 neurons over inputs and bias; `sensed` are the bits that are sensed."""
    narrow, inputs, _ = shape_of(table)
    if narrow:
        return load32(ws.felt, np.int64(sensed) * stride + at)
    total = splat32(F0)
    while sensed != np.uint64(0):
        total = total + load32(ws.weights, lowest_bit(sensed) * stride + at)
        sensed &= sensed - np.uint64(1)
    return total + load32(ws.weights, inputs * stride + at)


@inlined
def sum_up(ws, table, state, mask, hidden, stride, words):
    """Sum up what the active hidden neurons of a state pass on to every neuron, in ascending order.

    `mask` is the first word of the state's mask. The sums of the hidden neurons are remembered,
    the sums of the outputs returned.
    """
    _, inputs, outputs = shape_of(table)
    row = table.row
    total, from_hidden = splat32(F0), splat_like(F0, row)
    for w in range(words):
        bits = mask if w == 0 else ws.masks[state * words + w]
        while bits != np.uint64(0):
            at = (inputs + 1 + 64 * w + lowest_bit(bits)) * stride
            total = total + load32(ws.weights, at)
            from_hidden = from_hidden + load_row(ws.weights, at + hidden, row)
            bits &= bits - np.uint64(1)
    store(ws.sums, state * stride, total)
    for g in range(GROUP, hidden, GROUP):
        total = splat32(F0)
        for w in range(words):
            bits = mask if w == 0 else ws.masks[state * words + w]
            while bits != np.uint64(0):
                total = total + load32(ws.weights, (inputs + 1 + 64 * w + lowest_bit(bits)) * stride + g)
                bits &= bits - np.uint64(1)
        store(ws.sums, state * stride + g, total)
    return from_hidden + load_row(ws.weights, (inputs + 1 + hidden + outputs) * stride + hidden, row)


@inlined
def next_hidden(ws, table, state, sensed, new, hidden, stride, words, alpha_h, alpha_o):
    """Compute the hidden activations that follow a state; return the first word of their mask.

    `sensed` are the bits that are sensed. The other words are written into state `new`.
    """
    _, inputs, _ = shape_of(table)
    first = np.uint64(0)
    for w in range(words):
        mask = np.uint64(0)
        for g in range(64 * w, min(64 * w + 64, hidden), GROUP):
            from_outputs = splat32(F0)
            bits = ws.active_outputs[state]
            while bits != np.uint64(0):
                at = (inputs + 1 + hidden + lowest_bit(bits)) * stride + g
                from_outputs = from_outputs + load32(ws.weights, at)
                bits &= bits - np.uint64(1)
            total = felt32(ws, table, sensed, g, stride)
            total = total + splat32(alpha_h) * load32(ws.sums, state * stride + g)
            found = mask_bits(total + splat32(alpha_o) * from_outputs > splat32(F0))
            if hidden - g < GROUP:
                found &= (np.uint64(1) << np.uint64(hidden - g)) - np.uint64(1)
            mask |= found << np.uint64(g & 63)
        if w == 0:
            first = mask
        else:
            ws.masks[new * words + w] = mask
    return first


@inlined
def act(ws, table, state, sums, winner_alone):
    """Turn the sums of the outputs in a state into its active outputs and its action; return this.

    It is the first output with the largest sum.
    """
    narrow, _, outputs = shape_of(table)
    best, action = lane(sums, 0), np.int64(0)
    if narrow:  # the final of two matches, which do not wait for each other, and no jump to guess
        other = lane(sums, 2)
        second, fourth = lane(sums, 1) > best, lane(sums, 3) > other
        best, other = lane(sums, 1) if second else best, lane(sums, 3) if fourth else other
        one, two = np.int64(second), 2 + np.int64(fourth)
        action = two if other > best else one
    else:
        for k in range(1, outputs):
            if lane(sums, k) > best:
                best, action = lane(sums, k), np.int64(k)
    ws.action[state] = action
    if winner_alone:
        ws.active_outputs[state] = np.uint64(1) << np.uint64(action)
    else:
        ws.active_outputs[state] = mask_bits(sums > splat_like(F0, table.row)) & all_of(outputs)
    return action


@inlined
def all_of(outputs):
    """Return a bit for each output."""
    return (np.uint64(1) << np.uint64(outputs)) - np.uint64(1)


@inlined
def known_state(masks, state, mask, words):
    """Return the number of an earlier state with the same hidden activations, or `state` itself.

    `mask` is the first word of its mask.
    """
    if words == 1:
        for first in range(1, state, 8):
            same = mask_bits(load8(masks, first) == splat8(mask))
            if same != np.uint64(0):
                return min(first + lowest_bit(same), state)  # what lies beyond is of another episode
        return state
    masks[state * words] = mask
    for other in range(1, state):
        if same_masks(masks, words, other, state):
            return np.int64(other)
    return state


@inlined
def same_masks(masks, words, one, other):
    """Say whether the same neurons are active in two states."""
    same = True
    for w in range(words):
        same = same and masks[one * words + w] == masks[other * words + w]
    return same


@inlined
def random_action(ws, bits, outputs, step, seed, episode):
    """Draw the action of a step from the active outputs, or from all when none is active."""
    if step & 31 == 0:
        draw_words(ws.words, step, seed, episode, ACTION)
    if bits == np.uint64(0):
        bits = all_of(outputs)
    n = np.uint64(0)
    for k in range(outputs):
        n += (bits >> np.uint64(k)) & np.uint64(1)
    for _ in range((np.uint64(ws.words[step & 31]) * n) >> np.uint64(32)):
        bits &= bits - np.uint64(1)
    return lowest_bit(bits)
