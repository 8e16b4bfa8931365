"""The change of the weights after an episode: counts of traces, kinds of sources, then the norms."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from distal.engines.cpu.walk import transition_at
from distal.engines.cpu.workspace import ACTION_BITS, GROUP, ZERO, shape_of
from distal.model.compiled_draws import F0, F1, called, inlined
from distal.model.lanes import (
    Lanes,
    bits_mask8,
    bits_mask32,
    convert,
    iota8,
    load8,
    load32,
    lowest_bit,
    mask_bits,
    root,
    select,
    splat8,
    splat32,
    splat_like,
    store,
)


@inlined
def put(fired, first, at, bits):
    """Put bits into the words that begin with `first`, from bit `at` on."""
    word, shift = first + (at >> 6), np.uint64(at & 63)
    fired[word] |= bits << shift
    if shift != np.uint64(0):
        fired[word + 1] |= bits >> (np.uint64(64) - shift)


@inlined
def fire(ws, table, hidden, firing, sensed, bias, state):
    """Note which sources fired: those sensed, the bias, a state's active neurons, the outputs' bias."""
    _, inputs, outputs = shape_of(table)
    words, feed = -(-hidden // 64), inputs + 1
    size = (feed + hidden + outputs + 64) >> 6
    first, one = firing * size, np.uint64(1)
    if size == 1:  # all fit into a register
        bits = sensed | bias << np.uint64(inputs) | ws.masks[state] << np.uint64(feed)
        bits |= (ws.active_outputs[state] | one << np.uint64(outputs)) << np.uint64(feed + hidden)
        ws.fired[first] = bits
        return
    for w in range(size):
        ws.fired[first + w] = np.uint64(0)
    put(ws.fired, first, ZERO, sensed)
    put(ws.fired, first, inputs, bias)
    for w in range(words):
        put(ws.fired, first, feed + 64 * w, ws.masks[state * words + w])
    put(ws.fired, first, feed + hidden, ws.active_outputs[state] | one << np.uint64(outputs))


@inlined
def reached_at(firing):
    """Return where the counts of a firing lie: among the sixteen subsets of four firings, alone."""
    return (firing >> 2) * 16 + (1 << (firing & 3))


@inlined
def reach(ws, table, hidden, stride, firing, state, times, to_hidden, to_outputs):
    """Note how often each neuron that is active in a state was, in a firing.

    The two lanes after the neurons are always active: where a source fired, they count how often,
    the first for hidden neurons, the second for outputs.
    """
    _, _, outputs = shape_of(table)
    words = -(-hidden // 64)
    many, none = splat32(np.int16(times)), splat32(np.int16(0))
    last = (ws.active_outputs[state] | np.uint64(2) << np.uint64(outputs)) if to_outputs else np.uint64(0)
    if to_hidden:
        last |= np.uint64(1) << np.uint64(outputs)
    for g in range(0, hidden + outputs + 2, GROUP):
        bits = np.uint64(0)
        if to_hidden and g < hidden:
            bits = ws.masks[state * words + (g >> 6)] >> np.uint64(g & 63)
        if hidden - g < GROUP:
            bits |= last << np.uint64(hidden - g) if hidden >= g else last >> np.uint64(g - hidden)
        store(ws.reached, reached_at(firing) * stride + g, select(bits_mask32(bits), many, none))


@inlined
def list_firings(ws, table, options, n_used):
    """List which sources fired, and which neurons with them; return the number of firings.

    With the reading that a hidden neuron's sources belong to the step before, there are as
    many again for the outputs, whose sources are of the same step in any case.
    """
    firings = n_used if options.trace_current else 2 * n_used
    for f in range(firings):
        outputs_alone = f >= n_used
        transition, before, sensed = transition_at(ws, table, f - n_used if outputs_alone else f)
        after = np.int64(ws.follow[transition]) >> ACTION_BITS
        times = np.int64(ws.taken[transition])
        bias = np.uint64(1)
        if outputs_alone:
            sensed, bias = np.uint64(0), np.uint64(0)
        source = after if outputs_alone or options.trace_current else before
        fire(ws, table, options.hidden, f, sensed, bias, source)
        to_outputs = outputs_alone or options.trace_current
        reach(
            ws, table, options.hidden, GROUP * options.groups, f, after, times, not outputs_alone, to_outputs
        )
    return firings


@inlined
def add_up(ws, lanes, stride, firings):
    """Add up the counts of every four firings for each subset of them, and of all."""
    none = splat32(np.int16(0))
    for g in range(0, lanes, GROUP):
        for f in range(firings, (firings + 3) >> 2 << 2):
            store(ws.reached, reached_at(f) * stride + g, none)
        active = none
        for quad in range((firings + 3) >> 2):
            at = quad * 16 * stride + g
            a, b = load32(ws.reached, at + stride), load32(ws.reached, at + 2 * stride)
            c, d = load32(ws.reached, at + 4 * stride), load32(ws.reached, at + 8 * stride)
            ab, ac, bc = a + b, a + c, b + c
            abc = ab + c
            store(ws.reached, at + 3 * stride, ab)
            store(ws.reached, at + 5 * stride, ac)
            store(ws.reached, at + 6 * stride, bc)
            store(ws.reached, at + 7 * stride, abc)
            store(ws.reached, at + 9 * stride, a + d)
            store(ws.reached, at + 10 * stride, b + d)
            store(ws.reached, at + 11 * stride, ab + d)
            store(ws.reached, at + 12 * stride, c + d)
            store(ws.reached, at + 13 * stride, ac + d)
            store(ws.reached, at + 14 * stride, bc + d)
            store(ws.reached, at + 15 * stride, abc + d)
            active = active + (abc + d)
        store(ws.active, g, active)


@inlined
def list_patterns(ws, sources, room, firings):
    """Note for each source in which firings it fired, a bit each, in numbers of sixteen bits."""
    size = (sources + 63) >> 6
    for part in range(0, firings, 16):
        for first in range(0, sources, GROUP):
            pattern, bit = splat32(np.int16(0)), np.int16(1)
            for f in range(part, min(part + 16, firings)):
                fired = bits_mask32(ws.fired[f * size + (first >> 6)] >> np.uint64(first & 63))
                pattern = select(fired, pattern | splat32(bit), pattern)
                bit = np.int16(bit << 1)
            store(ws.pattern, (part >> 4) * room + first, pattern)


@inlined
def alike(patterns, parts, room, source, first):
    """Return a bit for each of 32 sources, from `first` on, that fired whenever a source did."""
    same = mask_bits(load32(patterns, first) == splat32(patterns[source]))
    for part in range(1, parts):
        pattern = splat32(patterns[part * room + source])
        same &= mask_bits(load32(patterns, part * room + first) == pattern)
    return same


@inlined
def counted(reached, part, pattern, at, stride):
    """Count the steps in which a source and 32 neurons were active in sixteen firings, by their pattern."""
    pattern, first = np.int64(pattern), 64 * part
    both = load32(reached, (first + (pattern & 15)) * stride + at)
    both = both + load32(reached, (first + 16 + (pattern >> 4 & 15)) * stride + at)
    both = both + load32(reached, (first + 32 + (pattern >> 8 & 15)) * stride + at)
    return both + load32(reached, (first + 48 + (pattern >> 12 & 15)) * stride + at)


@inlined
def choose(ws, table, options, kind, source, parts, room, by):
    """Note what the counts of the synapses of a kind of source mean; a source stands for its kind."""
    _, _, outputs = shape_of(table)
    hidden, stride = options.hidden, GROUP * options.groups
    for g in range(0, hidden + outputs + 2, GROUP):
        both = counted(ws.reached, ZERO, ws.pattern[source], g, stride)
        for part in range(1, parts):
            both = both + counted(ws.reached, part, ws.pattern[part * room + source], g, stride)
        store(ws.both, g, both)
    pre, pre_outputs = splat32(ws.both[hidden + outputs]), splat32(ws.both[hidden + outputs + 1])
    steps = splat32(ws.active[hidden + outputs])
    for g in range(0, hidden + outputs, GROUP):
        active = pre
        if not options.trace_current and hidden - g < GROUP:
            is_hidden = bits_mask32((np.uint64(1) << np.uint64(max(hidden - g, 0))) - np.uint64(1))
            active = select(is_hidden, pre, pre_outputs)
        note(ws, kind * stride + g, load32(ws.both, g), active, load32(ws.active, g), steps, by)


def note(ws, at, both, pre, post, steps, by):
    """Note what the counts of synapses, one a lane, mean to a rule (`sort_sources`)."""


@overload(note, jit_options={"error_model": "numpy", "forceinline": True})
def _note(ws, at, both, pre, post, steps, by):
    def rows(ws, at, both, pre, post, steps, by):
        store(ws.chosen, at, rows_of(both, pre, post, steps, by))

    def traces(ws, at, both, pre, post, steps, by):
        store(ws.change, at, traced(both, pre, post, steps, by))

    return rows if isinstance(by, Lanes) else traces


@inlined
def sort_sources(ws, table, options, firings, by):
    """Find the kinds of sources, and what the counts of their synapses mean; return how many there are.

    `by` is the largest count that makes no trace active, in all lanes: then the row of a rule that they
    select is noted. Or it is A, B, C, D and η of eligibility traces: then the change is.
    """
    _, inputs, outputs = shape_of(table)
    lanes = options.hidden + outputs + 2
    sources = inputs + lanes
    room, parts = (sources + GROUP - 1) // GROUP * GROUP, (firings + 15) >> 4
    add_up(ws, lanes, GROUP * options.groups, firings)
    list_patterns(ws, sources, room, firings)
    for first in range(0, sources, GROUP):
        ws.left[first // GROUP] = (np.uint64(1) << np.uint64(min(sources - first, GROUP))) - np.uint64(1)
    kinds = ZERO
    for first in range(0, sources, GROUP):
        left, number = ws.left[first // GROUP], load32(ws.kind, first)
        while left != np.uint64(0):
            source = first + lowest_bit(left)
            same = alike(ws.pattern, parts, room, source, first)
            number = select(bits_mask32(same & left), splat32(np.int16(kinds)), number)
            left &= ~same
            for other in range(first + GROUP, sources, GROUP):
                same = alike(ws.pattern, parts, room, source, other) & ws.left[other // GROUP]
                ws.left[other // GROUP] &= ~same
                theirs = select(bits_mask32(same), splat32(np.int16(kinds)), load32(ws.kind, other))
                store(ws.kind, other, theirs)
            choose(ws, table, options, kinds, source, parts, room, by)
            kinds += 1
        store(ws.kind, first, number)
    return kinds


@inlined
def rows_of(both, pre, post, steps, limit):
    """Return the rows of a rule that synapses select, times two, one a lane, from their counts."""
    none = splat_like(np.int16(0), both)
    pre_alone = pre - both
    row = select(steps - post - pre_alone > limit, splat_like(np.int16(16), both), none)  # 00
    row = row | select(post - both > limit, splat_like(np.int16(8), both), none)  # 01
    row = row | select(pre_alone > limit, splat_like(np.int16(4), both), none)  # 10
    return row | select(both > limit, splat_like(np.int16(2), both), none)  # 11


@inlined
def traced(both, pre, post, steps, own):
    """Return the changes of synapses, one a lane, that eligibility traces make, from their counts."""
    a, b, c, d, eta = own
    every = convert(steps, np.float32)
    e = splat32(a) * convert(both, np.float32) + splat32(b) * convert(pre, np.float32)
    e = e + splat32(c) * convert(post, np.float32) + splat32(d) * every
    return splat32(eta) * (e / every)


@inlined
def decide(ws, lanes, stride, kinds, changes, eta):
    """Note how much the synapses of each kind of source change.

    `changes` holds the sixteen changes for this m as signed numbers of two bits, the
    first at the top: a shift by twice the row and a shift back leave the change, with its sign.
    """
    for kind in range(kinds):
        for at in range(kind * stride, kind * stride + lanes, GROUP):
            shift = convert(load32(ws.chosen, at), np.int32)
            change = (splat32(changes) << shift) >> splat32(np.int32(30))
            store(ws.change, at, convert(change, np.float32) * splat32(eta))


@inlined
def divide(weights, begin, end, c, stride, divisor):
    """Divide the weights of eight neurons from some sources."""
    for p in range(begin, end):
        store(weights, p * stride + c, load8(weights, p * stride + c) / divisor)


@called
def update(ws, table, options):
    """Change all weights, then normalise each neuron's incoming ones."""
    hidden, stride = options.hidden, GROUP * options.groups
    _, inputs, outputs = shape_of(table)
    feed = inputs + 1
    last = feed + hidden + outputs  # the bias of the outputs
    one, zero = splat8(F1), splat8(F0)
    for c in range(0, hidden + outputs, 8):
        neurons = iota8() + splat8(np.uint32(c))
        is_hidden = splat8(np.uint32(hidden)) > neurons
        is_any = splat8(np.uint32(hidden + outputs)) > neurons
        norm, squares = one, zero
        first = ZERO  # the first source whose squares are in the sum
        for layer in range(3):
            begin = 0 if layer == 0 else (feed if layer == 1 else feed + hidden)
            end = feed if layer == 0 else (feed + hidden if layer == 1 else last)
            reached = is_any if layer == 1 else is_hidden
            for p in range(begin, end):
                at = p * stride + c
                w = load8(ws.weights, at) + load8(ws.change, ws.kind[p] * stride + c)
                w = select(reached, w, zero)
                if layer == 1 and (p - feed) >> 3 == c >> 3:  # no synapse from itself
                    w = select(bits_mask8(np.uint64(1) << np.uint64((p - feed) & 7)), zero, w)
                store(ws.weights, at, w)
                squares = squares + w * w
            if layer == 2:
                at = last * stride + c
                w = load8(ws.weights, at) + load8(ws.change, ws.kind[last] * stride + c)
                w = select(is_hidden, zero, select(is_any, w, zero))
                store(ws.weights, at, w)
                squares = squares + w * w
                end = last + 1
            if options.normalise and (options.by_layer or layer == 2):
                norm = root(squares)
                norm = select(norm == zero, one, norm)
                # All weights of an output belong to one layer, whose norm is known at the end.
                divisor = norm if layer == 2 else select(is_hidden, norm, one)
                divide(ws.weights, first, end, c, stride, divisor)
                squares = select(is_hidden, zero, squares)
                first = end
        if options.by_layer and c + 8 > hidden:
            divide(ws.weights, feed, feed + hidden, c, stride, select(is_hidden, one, norm))


@called
def decide_by_table(ws, table, options, n_used, bound, changes, eta):
    """Note how much every synapse changes by the table of a rule (`decide_all`)."""
    firings = list_firings(ws, table, options, n_used)
    kinds = sort_sources(ws, table, options, firings, splat32(np.int16(bound)))
    decide(ws, options.hidden + len(table.row), GROUP * options.groups, kinds, changes, eta)


@called
def decide_by_traces(ws, table, options, n_used, own, eta):
    """Note how much every synapse changes by its eligibility trace (`decide_all`)."""
    firings = list_firings(ws, table, options, n_used)
    sort_sources(ws, table, options, firings, (own[0], own[1], own[2], own[3], eta))


def decide_all(ws, table, options, n_used, bound, own, eta):
    """Note how much every synapse changes after an episode that took `n_used` transitions.

    `own` holds sixteen changes, or four coefficients of traces.
    """


@overload(decide_all, jit_options={"error_model": "numpy", "forceinline": True})
def _decide_all(ws, table, options, n_used, bound, own, eta):
    def by_table(ws, table, options, n_used, bound, own, eta):
        decide_by_table(ws, table, options, n_used, bound, own, eta)

    def by_traces(ws, table, options, n_used, bound, own, eta):
        decide_by_traces(ws, table, options, n_used, own, eta)

    return by_traces if isinstance(own, types.Array) else by_table
