"""The compiled part of the cpu engine: one trial after another, as fast as we can.

The bits are those of the reference engine; docs/performance.md explains the ideas.
In short: while an episode lasts the weights are fixed and activations are binary,
so the network is a finite automaton. Its states (the hidden activations) and
transitions are computed once each and remembered, most steps are a lookup, and an
agent that comes back to the same place in the same state repeats itself, so the
rest of its episode is counted instead of walked. Traces need only how often each
transition was taken.

Layout: hidden weights lie by pre-synaptic index, `hidden[p * stride + j]`, so that
eight neighbouring lanes are eight post-synaptic neurons; output weights likewise
with four lanes, `output[p * 4 + k]`. Lanes beyond the last neuron hold garbage
that is masked where it could matter.

Tables are narrow or wide (see `tables`). A narrow one has three inputs and four
actions, the usual case: all sizes are known to the compiler, and a transition is found by
its state and what is sensed. In a wide one there may be thousands of things to sense:
what is sensed has a number, and the transitions that begin with it are a chain. Its outputs
have four lanes, or sixteen. The types of `table.form` and `table.row` tell all this to the
compiler, so that each case has code of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from distal.engines.cpu.cache import kept
from distal.engines.cpu.lanes import (
    bits_mask8,
    bits_mask16,
    bits_mask32,
    convert,
    iota8,
    lane,
    load4,
    load8,
    load16,
    load32,
    load_row,
    lowest_bit,
    mask_bits,
    pointer,
    read_now,
    reinterpret,
    root,
    select,
    splat8,
    splat16,
    splat32,
    splat_like,
    store,
)
from distal.model.draws import ACTION, KEY_STEPS, MULTIPLIERS, NOISE, ROUNDS, SQRT_HALF_BITS, WEIGHTS
from distal.model.network import (
    FARTHEST,
    INPUTS,
    LN_2_HIGH,
    LN_2_LOW,
    LOG2_E,
    ONE_BITS,
    OUTPUTS,
    SERIES,
    SHIFT,
)
from distal.tasks.tables import EVENT_AT, EVENT_BITS, EVENTS, NARROW, NUMBER_AT, STATE_AT, Packed

GROUP = 32  # lanes that are summed together: four vectors, enough to hide the latency of an addition
F0, F1 = np.float32(0), np.float32(1)
MULTIPLIER0, MULTIPLIER1 = map(np.uint64, MULTIPLIERS)
KEY_STEP0, KEY_STEP1 = map(np.uint32, KEY_STEPS)
FAR, LOG2E, SHIFTED, LN2_HIGH, LN2_LOW = map(np.float32, (FARTHEST, LOG2_E, SHIFT, LN_2_HIGH, LN_2_LOW))
E6, E5, E4, E3, E2, E1, E0 = map(np.float32, SERIES)  # of e^u
# The tuple `Options.neurons` has as many entries as this for continuous neurons, else one.
CONTINUOUS = 2

inlined = njit(error_model="numpy", forceinline=True)


def compiled(*functions):
    """Declare kernels, which are compiled when they are first called and kept for later runs."""
    with kept() as keep:
        return tuple(njit(error_model="numpy", nogil=True, cache=keep)(function) for function in functions)


class Options(NamedTuple):
    """What all trials of a batch share."""

    hidden: int
    steps: int
    episodes: int
    recorded: int  # columns of the best-so-far curves
    resample: int  # 0: never
    phase: int  # episodes until goals move
    neurons: tuple[int, ...]  # its length says whether they are continuous, so that each case has its code
    winner_alone: bool  # the output that acts is the only active one
    random_action: bool
    punish_ties: bool
    trace_current: bool
    normalise: bool
    by_layer: bool  # each layer's weights have their own norm
    keep_weights: bool
    keep_ep: bool


class Workspace(NamedTuple):
    """Scratch memory of one worker."""

    hidden: Any  # float32, the weights that run
    output: Any
    best_hidden: Any  # float32, the best weights of a climb
    best_output: Any
    spare: Any  # float32 (8)
    # States of the automaton, numbered as they appear; 0 is the silence before the first step.
    masks: Any  # uint64 (states · words): active hidden neurons
    active_outputs: Any  # uint64 (states)
    action: Any  # int64 (states)
    # Transitions, by state · 8 + what was sensed in a narrow table, else in the order of their discovery.
    follow: Any  # int32: state << 4 | action, or -1 while unknown
    taken: Any  # int32: how often it was taken
    used: Any  # int64: the transitions in the order of their discovery; of a wide table the state before
    sensed: Any  # int64: of a wide table, the number of what was sensed
    link: Any  # int64: … the transition before it in the chain
    last_sensed: Any  # int64 (things to sense): … the last of each chain
    columns: Any  # int64: active columns
    activity: Any  # float32 (3 · stride): what continuous neurons pass on: two steps in turn, and one kept
    # The walk, by step.
    trail: Any  # int64: transition
    spots: Any  # int64
    states: Any  # int64
    extra: Any  # int64: what events have cost so far
    earlier: Any  # int64: the last visit to the same place
    last_visit: Any  # int64 (places: the states of the table)
    words: Any  # uint32 (32): random words for actions
    # Traces.
    both: Any  # int16, like hidden: steps with both neurons active
    both_output: Any  # int16, like output
    both_output_packed: Any  # the same memory as uint64, four counts in one
    pre: Any  # int16: steps with the pre-synaptic neuron active


def workspace(hidden: int, steps: int, table: Packed) -> Workspace:
    """Allocate the scratch memory of one worker."""
    lanes, narrow = len(table.row), len(table.form) == NARROW
    stride = -(-hidden // GROUP) * GROUP
    rows = -(-(table.inputs + 1 + hidden + table.outputs) // 4) * 4
    output_rows = -(-(hidden + 1) // 8) * 8
    states = steps + 1
    transitions = states * 8 if narrow else steps
    both_output = np.zeros(output_rows * lanes, np.int16)
    return Workspace(
        hidden=np.zeros(rows * stride, np.float32),
        output=np.zeros(output_rows * lanes, np.float32),
        best_hidden=np.zeros(rows * stride, np.float32),
        best_output=np.zeros(output_rows * lanes, np.float32),
        spare=np.zeros(8, np.float32),
        masks=np.zeros(states * -(-hidden // 64), np.uint64),
        active_outputs=np.zeros(states, np.uint64),
        action=np.zeros(states, np.int64),
        follow=np.zeros(transitions, np.int32),
        taken=np.zeros(transitions, np.int32),
        used=np.zeros(steps, np.int64),
        sensed=np.zeros(0 if narrow else steps, np.int64),
        link=np.zeros(0 if narrow else steps, np.int64),
        last_sensed=np.full(0 if narrow else len(table.codes), -1, np.int64),
        columns=np.zeros(rows, np.int64),
        activity=np.zeros(3 * stride, np.float32),
        trail=np.zeros(steps, np.int64),
        spots=np.zeros(steps + 1, np.int64),
        states=np.zeros(steps + 1, np.int64),
        extra=np.zeros(steps + 1, np.int64),
        earlier=np.zeros(steps + 1, np.int64),
        last_visit=np.full(table.states, -1, np.int64),
        words=np.zeros(32, np.uint32),
        both=np.zeros(rows * stride, np.int16),
        both_output=both_output,
        both_output_packed=both_output.view(np.uint64),
        pre=np.zeros(table.inputs + 1 + stride + table.outputs, np.int16),
    )


@inlined
def pointers(ws):
    """Return a workspace with pointers to the arrays of one."""
    return Workspace(
        pointer(ws.hidden), pointer(ws.output), pointer(ws.best_hidden), pointer(ws.best_output),
        pointer(ws.spare), pointer(ws.masks), pointer(ws.active_outputs), pointer(ws.action),
        pointer(ws.follow), pointer(ws.taken), pointer(ws.used), pointer(ws.sensed), pointer(ws.link),
        pointer(ws.last_sensed), pointer(ws.columns), pointer(ws.activity), pointer(ws.trail),
        pointer(ws.spots), pointer(ws.states), pointer(ws.extra), pointer(ws.earlier), pointer(ws.last_visit),
        pointer(ws.words), pointer(ws.both), pointer(ws.both_output), pointer(ws.both_output_packed),
        pointer(ws.pre),
    )  # fmt: skip


@inlined
def pointed(table):
    """Return a packed table with pointers to the arrays of one."""
    return Packed(
        pointer(table.moves), pointer(table.outcomes), pointer(table.left), pointer(table.start),
        table.states, table.step_cost, pointer(table.codes), table.inputs, table.outputs, table.row,
        table.form,
    )  # fmt: skip


@inlined
def shape_of(table):
    """Return whether a table is narrow, its inputs and its outputs: constants of the compiler if it is."""
    if len(table.form) == NARROW:
        return True, INPUTS, OUTPUTS
    return False, table.inputs, table.outputs


# ---------------------------------------------------------------- random numbers (distal.draws)


@inlined
def philox8(c0, c1, c2, c3, seed):
    """Philox4x32-10 of eight counters with one key."""
    multiplier0, multiplier1 = splat8(MULTIPLIER0), splat8(MULTIPLIER1)
    shift = splat8(np.uint64(32))
    k0, k1 = np.uint32(seed & np.uint64(0xFFFFFFFF)), np.uint32(seed >> np.uint64(32))
    for _ in range(ROUNDS):
        p0 = convert(c0, np.uint64) * multiplier0
        p1 = convert(c2, np.uint64) * multiplier1
        c0, c1, c2, c3 = (
            convert(p1 >> shift, np.uint32) ^ c1 ^ splat8(k0),
            convert(p1, np.uint32),
            convert(p0 >> shift, np.uint32) ^ c3 ^ splat8(k1),
            convert(p0, np.uint32),
        )
        k0, k1 = np.uint32(k0 + KEY_STEP0), np.uint32(k1 + KEY_STEP1)
    return c0, c1, c2, c3


@inlined
def uniform8(word):
    """Turn words into numbers uniform in [−1, 1)."""
    return convert(reinterpret(word, np.int32) >> splat8(np.int32(8)), np.float32) * splat8(
        np.float32(2.0**-23)
    )


@inlined
def minus_ln8(word):
    """Return −ln((k + ½) / 2^31), with k the upper 31 bits of each word."""
    one = splat8(F1)
    x = convert(reinterpret(word >> splat8(np.uint32(1)), np.int32), np.float32) + splat8(np.float32(0.5))
    root_half = splat8(SQRT_HALF_BITS)
    offset = reinterpret(x, np.int32) - root_half
    exponent = convert(offset >> splat8(np.int32(23)), np.float32)
    mantissa = reinterpret((offset & splat8(np.int32(0x7FFFFF))) + root_half, np.float32)
    s = (mantissa - one) / (mantissa + one)
    z = s * s
    series = (splat8(np.float32(1 / 7)) * z + splat8(np.float32(1 / 5))) * z + splat8(np.float32(1 / 3))
    series = series * z + one
    return (splat8(np.float32(31)) - exponent) * splat8(np.float32(0.6931471805599453)) - (s + s) * series


@inlined
def normals8(radius_word, angle_word):
    """Turn eight pairs of words into eight pairs of normal deviates."""
    y = minus_ln8(radius_word)
    radius = root(y + y)
    one = splat8(F1)
    x = convert(reinterpret(angle_word << splat8(np.uint32(2)), np.int32), np.float32)
    x = x * splat8(np.float32(np.pi / 4 / 2**31))
    z = x * x
    sine = splat8(np.float32(1 / 362880)) * z + splat8(np.float32(-1 / 5040))
    sine = (((sine * z + splat8(np.float32(1 / 120))) * z + splat8(np.float32(-1 / 6))) * z + one) * x
    cosine = splat8(np.float32(1 / 40320)) * z + splat8(np.float32(-1 / 720))
    cosine = ((cosine * z + splat8(np.float32(1 / 24))) * z + splat8(np.float32(-1 / 2))) * z + one
    quarter = angle_word >> splat8(np.uint32(30))
    swap = (quarter & splat8(np.uint32(1))) == splat8(np.uint32(1))
    first, second = select(swap, sine, cosine), select(swap, cosine, sine)
    # Signs are the upper bit of a float: negative first for quarters 1 and 2, second for 2 and 3.
    sign1 = ((quarter + splat8(np.uint32(1))) & splat8(np.uint32(2))) << splat8(np.uint32(30))
    sign2 = (quarter & splat8(np.uint32(2))) << splat8(np.uint32(30))
    first = reinterpret(reinterpret(first, np.uint32) ^ sign1, np.float32)
    second = reinterpret(reinterpret(second, np.uint32) ^ sign2, np.float32)
    return radius * first, radius * second


@inlined
def four_rows(c0, c1, episode, purpose, seed, sigma):
    """Draw four numbers for each of eight neurons: uniform weights, or σ times a normal deviate."""
    w0, w1, w2, w3 = philox8(c0, c1, splat8(np.uint32(episode)), splat8(np.uint32(purpose)), seed)
    if purpose == WEIGHTS:
        return uniform8(w0), uniform8(w1), uniform8(w2), uniform8(w3)
    scale = splat8(sigma)
    z0, z1 = normals8(w0, w1)
    z2, z3 = normals8(w2, w3)
    return scale * z0, scale * z1, scale * z2, scale * z3


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
                half_rows(ws.hidden, ws.best_hidden, ws.spare, at, 4 * stride, r0, climbing, both)
                half_rows(ws.hidden, ws.best_hidden, ws.spare, at + stride, 4 * stride, r1, climbing, both)
                half_rows(
                    ws.hidden, ws.best_hidden, ws.spare, at + 2 * stride, 4 * stride, r2, climbing, both
                )
                half_rows(
                    ws.hidden, ws.best_hidden, ws.spare, at + 3 * stride, 4 * stride, r3, climbing, both
                )
            break
        neurons = iota8() + splat8(np.uint32(c))
        for block in range(blocks):
            at = 4 * block * stride + c
            r0, r1, r2, r3 = four_rows(splat8(np.uint32(block)), neurons, episode, purpose, seed, sigma)
            store(ws.hidden, at, (load8(ws.best_hidden, at) if climbing else zero) + r0)
            at += stride
            store(ws.hidden, at, (load8(ws.best_hidden, at) if climbing else zero) + r1)
            at += stride
            store(ws.hidden, at, (load8(ws.best_hidden, at) if climbing else zero) + r2)
            at += stride
            store(ws.hidden, at, (load8(ws.best_hidden, at) if climbing else zero) + r3)
    for j in range(hidden):
        ws.hidden[(inputs + 1 + j) * stride + j] = F0  # no synapse from itself
    lanes = len(table.row)
    if lanes != 4:
        for c in range(0, outputs, 8):
            neurons = iota8() + splat8(np.uint32(hidden + c))
            for block in range(-(-(hidden + 1) // 4)):
                r0, r1, r2, r3 = four_rows(splat8(np.uint32(block)), neurons, episode, purpose, seed, sigma)
                at = 4 * block * lanes + c
                store(ws.output, at, (load8(ws.best_output, at) if climbing else zero) + r0)
                at += lanes
                store(ws.output, at, (load8(ws.best_output, at) if climbing else zero) + r1)
                at += lanes
                store(ws.output, at, (load8(ws.best_output, at) if climbing else zero) + r2)
                at += lanes
                store(ws.output, at, (load8(ws.best_output, at) if climbing else zero) + r3)
        return
    four = (iota8() & splat8(np.uint32(3))) + splat8(np.uint32(hidden))
    for block in range(0, -(-(hidden + 1) // 4), 2):
        two = (iota8() >> splat8(np.uint32(2))) + splat8(np.uint32(block))
        r0, r1, r2, r3 = four_rows(two, four, episode, purpose, seed, sigma)
        half_rows(ws.output, ws.best_output, ws.spare, 16 * block, 16, r0, climbing, True)
        half_rows(ws.output, ws.best_output, ws.spare, 16 * block + 4, 16, r1, climbing, True)
        half_rows(ws.output, ws.best_output, ws.spare, 16 * block + 8, 16, r2, climbing, True)
        half_rows(ws.output, ws.best_output, ws.spare, 16 * block + 12, 16, r3, climbing, True)


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


# ---------------------------------------------------------------- the automaton (distal.network)


@inlined
def active_columns(ws, state, words):
    """List the active hidden neurons of a state in ascending order; return how many."""
    n = 0
    for w in range(words):
        bits = ws.masks[state * words + w]
        while bits != np.uint64(0):
            ws.columns[n] = 64 * w + lowest_bit(bits)
            n += 1
            bits &= bits - np.uint64(1)
    return n


@inlined
def next_hidden(ws, table, state, sensed, new, hidden, stride, words, alpha_h, alpha_o):
    """Compute the hidden activations that follow a state and write them into state `new`.

    `sensed` are the bits that are sensed.
    """
    narrow, inputs, _ = shape_of(table)
    feed = inputs + 1
    scale_h, scale_o, zero = splat8(alpha_h), splat8(alpha_o), splat8(F0)
    n = active_columns(ws, state, words)
    for w in range(words):
        ws.masks[new * words + w] = np.uint64(0)
    for g in range(0, stride, GROUP):
        h0, h1, h2, h3 = zero, zero, zero, zero
        for k in range(n):
            at = (feed + ws.columns[k]) * stride + g
            h0 = h0 + load8(ws.hidden, at)
            h1 = h1 + load8(ws.hidden, at + 8)
            h2 = h2 + load8(ws.hidden, at + 16)
            h3 = h3 + load8(ws.hidden, at + 24)
        o0, o1, o2, o3 = zero, zero, zero, zero
        bits = ws.active_outputs[state]
        while bits != np.uint64(0):
            at = (feed + hidden + lowest_bit(bits)) * stride + g
            bits &= bits - np.uint64(1)
            o0 = o0 + load8(ws.hidden, at)
            o1 = o1 + load8(ws.hidden, at + 8)
            o2 = o2 + load8(ws.hidden, at + 16)
            o3 = o3 + load8(ws.hidden, at + 24)
        if narrow:
            i0, i1 = three_inputs(ws, g, stride, sensed), three_inputs(ws, g + 8, stride, sensed)
            i2, i3 = three_inputs(ws, g + 16, stride, sensed), three_inputs(ws, g + 24, stride, sensed)
        else:
            i0, i1, i2, i3 = zero, zero, zero, zero
            bits = sensed
            while bits != np.uint64(0):
                at = lowest_bit(bits) * stride + g
                bits &= bits - np.uint64(1)
                i0 = i0 + load8(ws.hidden, at)
                i1 = i1 + load8(ws.hidden, at + 8)
                i2 = i2 + load8(ws.hidden, at + 16)
                i3 = i3 + load8(ws.hidden, at + 24)
        bias = inputs * stride + g
        found = positive8(ws, bias, i0, scale_h, scale_o, h0, o0)
        found |= positive8(ws, bias + 8, i1, scale_h, scale_o, h1, o1) << np.uint64(8)
        found |= positive8(ws, bias + 16, i2, scale_h, scale_o, h2, o2) << np.uint64(16)
        found |= positive8(ws, bias + 24, i3, scale_h, scale_o, h3, o3) << np.uint64(24)
        if hidden - g < GROUP:
            found &= (np.uint64(1) << np.uint64(hidden - g)) - np.uint64(1)
        ws.masks[new * words + (g >> 6)] |= found << np.uint64(g & 63)


@inlined
def three_inputs(ws, at, stride, sensed):
    """Return the sums of eight neurons over three inputs."""
    bits = np.int64(sensed)  # of which a processor makes floats faster
    total = splat8(np.float32(bits & 1)) * load8(ws.hidden, at)
    total = total + splat8(np.float32((bits >> 1) & 1)) * load8(ws.hidden, at + stride)
    return total + splat8(np.float32(bits >> 2)) * load8(ws.hidden, at + 2 * stride)


@inlined
def positive8(ws, bias, from_inputs, scale_h, scale_o, from_hidden, from_outputs):
    """Add up the three sums of eight neurons, with the bias; return a bit for each that becomes active."""
    from_inputs = from_inputs + load8(ws.hidden, bias)
    total = from_inputs + scale_h * from_hidden + scale_o * from_outputs
    return mask_bits(total > splat8(F0))


@inlined
def outputs_of(ws, table, state, hidden, words, winner_alone):
    """Compute the outputs of a state from its hidden activations."""
    row, lanes = table.row, len(table.row)
    sums = splat_like(F0, row)
    for w in range(words):
        bits = ws.masks[state * words + w]
        while bits != np.uint64(0):
            sums = sums + load_row(ws.output, (64 * w + lowest_bit(bits)) * lanes, row)
            bits &= bits - np.uint64(1)
    act(ws, table, state, sums + load_row(ws.output, hidden * lanes, row), winner_alone)


@inlined
def act(ws, table, state, sums, winner_alone):
    """Turn the sums of the outputs in a state into its action and active outputs."""
    _, _, outputs = shape_of(table)
    row = table.row
    best, action = lane(sums, 0), 0
    for k in range(1, outputs):
        if lane(sums, k) > best:
            best, action = lane(sums, k), k
    ws.action[state] = action
    if winner_alone:
        ws.active_outputs[state] = np.uint64(1) << np.uint64(action)
    else:
        ws.active_outputs[state] = mask_bits(sums > splat_like(F0, row)) & all_of(outputs)


@inlined
def all_of(outputs):
    """Return a bit for each output."""
    return (np.uint64(1) << np.uint64(outputs)) - np.uint64(1)


@inlined
def known_state(ws, state, words):
    """Return the number of an earlier state with the same hidden activations, or `state` itself."""
    for other in range(1, state):
        same = True
        for w in range(words):
            same = same and ws.masks[other * words + w] == ws.masks[state * words + w]
        if same:
            return other
    return state


@inlined
def random_action(ws, bits, outputs, step, seed, episode):
    """Draw the action of a step from the active outputs, or from all when none is active."""
    if step & 31 == 0:  # eight blocks of words at a time
        blocks = iota8() + splat8(np.uint32(step >> 2))
        zero = splat8(np.uint32(0))
        w0, w1, w2, w3 = philox8(blocks, zero, splat8(np.uint32(episode)), splat8(np.uint32(ACTION)), seed)
        for k in range(8):
            ws.words[4 * k] = lane(w0, k)
            ws.words[4 * k + 1] = lane(w1, k)
            ws.words[4 * k + 2] = lane(w2, k)
            ws.words[4 * k + 3] = lane(w3, k)
    if bits == np.uint64(0):
        bits = all_of(outputs)
    n = np.uint64(0)
    for k in range(outputs):
        n += (bits >> np.uint64(k)) & np.uint64(1)
    for _ in range((np.uint64(ws.words[step & 31]) * n) >> np.uint64(32)):
        bits &= bits - np.uint64(1)
    return lowest_bit(bits)


# ---------------------------------------------------------------- continuous neurons (distal.network)


@inlined
def power8(sums):
    """Return e^-|x| of eight sums (`network.logistic`)."""
    size = reinterpret(reinterpret(sums, np.int32) & splat8(np.int32(0x7FFFFFFF)), np.float32)
    size = select(size > splat8(FAR), splat8(FAR), size)
    shifted = size * splat8(LOG2E) + splat8(SHIFTED)
    whole = shifted - splat8(SHIFTED)
    u = (whole * splat8(LN2_HIGH) - size) + whole * splat8(LN2_LOW)
    power = (splat8(E6) * u + splat8(E5)) * u + splat8(E4)
    power = ((power * u + splat8(E3)) * u + splat8(E2)) * u + splat8(E1)
    power = power * u + splat8(E0)
    scale = splat8(np.int32(ONE_BITS)) - (reinterpret(shifted, np.int32) << splat8(np.int32(23)))
    return power * reinterpret(scale, np.float32)


@inlined
def activate8(ws, table, sensed, at, now, state, hidden, stride, scale_h, scale_o):
    """Compute eight continuous neurons, those at `at`, from the activity at `now`.

    Returns a bit for each that counts as active, and what they pass on.
    """
    narrow, inputs, _ = shape_of(table)
    feed = inputs + 1
    zero, one = splat8(F0), splat8(F1)
    from_hidden, from_outputs = zero, zero
    for k in range(hidden):
        from_hidden = from_hidden + load8(ws.hidden, (feed + k) * stride + at) * splat8(ws.activity[now + k])
    bits = ws.active_outputs[state]
    while bits != np.uint64(0):
        from_outputs = from_outputs + load8(ws.hidden, (feed + hidden + lowest_bit(bits)) * stride + at)
        bits &= bits - np.uint64(1)
    if narrow:
        from_inputs = three_inputs(ws, at, stride, sensed)
    else:
        from_inputs = zero
        bits = sensed
        while bits != np.uint64(0):
            from_inputs = from_inputs + load8(ws.hidden, lowest_bit(bits) * stride + at)
            bits &= bits - np.uint64(1)
    from_inputs = from_inputs + load8(ws.hidden, inputs * stride + at)
    total = from_inputs + scale_h * from_hidden + scale_o * from_outputs
    positive = total > zero
    power = power8(total)
    return mask_bits(positive), select(positive, one, power) / (one + power)


@inlined
def next_activity(ws, table, options, sensed, now, new, state, alpha_h, alpha_o):
    """Compute what follows `state`, whose activity is at `now`: state + 1, its activity at `new`."""
    hidden = options.hidden
    stride, words = -(-hidden // GROUP) * GROUP, -(-hidden // 64)
    scale_h, scale_o = splat8(alpha_h), splat8(alpha_o)
    for w in range(words):
        ws.masks[(state + 1) * words + w] = np.uint64(0)
    for at in range(0, hidden, 8):
        found, passed_on = activate8(ws, table, sensed, at, now, state, hidden, stride, scale_h, scale_o)
        store(ws.activity, new + at, passed_on)
        if hidden - at < 8:
            found &= (np.uint64(1) << np.uint64(hidden - at)) - np.uint64(1)
        ws.masks[(state + 1) * words + (at >> 6)] |= found << np.uint64(at & 63)
    row, lanes = table.row, len(table.row)
    sums = splat_like(F0, row)
    for k in range(hidden):
        sums = sums + load_row(ws.output, k * lanes, row) * splat_like(ws.activity[new + k], row)
    act(ws, table, state + 1, sums + load_row(ws.output, hidden * lanes, row), options.winner_alone)


@inlined
def same_masks(ws, words, one, other):
    """Say whether the same neurons count as active in two states; sums about 0 may pass on the same."""
    same = True
    for w in range(words):
        same = same and ws.masks[one * words + w] == ws.masks[other * words + w]
    return same


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


@inlined
def run_continuous(ws, table, options, goal, alpha_h, alpha_o, seed, episode):
    """Walk the table with continuous neurons; return what `run_episode` does.

    Every step has a state and a transition of its own. What came before is not known again
    by a number, but an agent that is at a place where it has been, with the same activity to
    the bit, repeats itself: the state of one step is kept, of the last whose number was a
    power of two (Brent's method), and each step is compared with it.
    """
    hidden, steps = options.hidden, options.steps
    _, _, outputs = shape_of(table)
    stride, words = -(-hidden // GROUP) * GROUP, -(-hidden // 64)
    base = np.int64(episode) * (steps + 1)
    for w in range(words):
        ws.masks[w] = np.uint64(0)
    ws.active_outputs[0] = np.uint64(0)
    for k in range(stride):
        ws.activity[k] = F0
    kept = 2 * stride

    spot, extra, step = np.int64(table.start[goal]), 0, 0
    mark, next_mark = -1, 1
    while step < steps:
        place = place_of(table, spot)
        ws.spots[step], ws.extra[step] = spot, extra
        now = (step & 1) * stride
        if not options.random_action:
            if (
                mark >= 0
                and place_of(table, ws.spots[mark]) == place
                and ws.active_outputs[mark] == ws.active_outputs[step]
                and same_masks(ws, words, mark, step)
                and same_activity(ws, hidden, now, kept)
            ):
                period, left = step - mark, steps - step
                rounds, rest = left // period, left % period
                for k in range(mark, step):
                    ws.taken[ws.trail[k]] += rounds
                for k in range(mark, mark + rest):
                    ws.taken[ws.trail[k]] += 1
                extra += rounds * (extra - ws.extra[mark]) + ws.extra[mark + rest] - ws.extra[mark]
                place = place_of(table, ws.spots[mark + rest])
                left_over = table.left[goal * table.states + place]
                return steps * table.step_cost + left_over + extra, steps, np.int64(mark + rest), step
            if step == next_mark:
                mark, next_mark = step, 2 * step
                for at in range(0, stride, 8):
                    store(ws.activity, kept + at, load8(ws.activity, now + at))
        next_activity(ws, table, options, sensed_at(table, spot), now, stride - now, step, alpha_h, alpha_o)
        transition = new_transition(ws, table, np.int64(step), spot, base, step)
        action = ws.action[step + 1]
        ws.follow[transition] = np.int32((step + 1) << 4 | action)
        ws.taken[transition] = 1
        ws.trail[step] = transition
        step += 1
        if options.random_action:
            action = random_action(ws, ws.active_outputs[step], outputs, step - 1, seed, episode)
        spot = np.int64(table.moves[place * outputs + action])
        event = event_of(table, spot)
        if event != 0:
            outcome = np.int64(table.outcomes[goal * EVENTS + event])
            extra += outcome >> 1
            if outcome & 1:
                return step * table.step_cost + extra, step, np.int64(step), step
    left_over = table.left[goal * table.states + place_of(table, spot)]
    return steps * table.step_cost + left_over + extra, step, np.int64(step), step


# ---------------------------------------------------------------- an episode (distal.episode)


@inlined
def place_of(table, spot):
    """Return the state of the table at a spot."""
    return spot >> STATE_AT if len(table.form) == NARROW else (spot & ((1 << NUMBER_AT) - 1)) >> EVENT_BITS


@inlined
def event_of(table, spot):
    """Return the event that led to a spot."""
    return (spot >> EVENT_AT if len(table.form) == NARROW else spot) & (EVENTS - 1)


@inlined
def found_transition(ws, table, state, spot, base):
    """Return the number of a transition, and what it leads to, or a negative number if it is not known."""
    if len(table.form) == NARROW:
        transition = state * 8 + (spot & 7)
        return transition, ws.follow[transition]
    at = ws.last_sensed[spot >> NUMBER_AT]
    while at >= base and ws.used[at - base] != state:
        at = ws.link[at - base]
    if at < base:
        return np.int64(-1), np.int32(-1)
    return at - base, ws.follow[at - base]


@inlined
def new_transition(ws, table, state, spot, base, n_used):
    """Note a transition that is about to be computed; return its number."""
    if len(table.form) == NARROW:
        transition = state * 8 + (spot & 7)
        ws.used[n_used] = transition
        return transition
    number = spot >> NUMBER_AT
    ws.used[n_used], ws.sensed[n_used] = state, number
    ws.link[n_used], ws.last_sensed[number] = ws.last_sensed[number], base + n_used
    return np.int64(n_used)


@inlined
def sensed_at(table, spot):
    """Return the bits that are sensed at a spot."""
    return np.uint64(spot & 7) if len(table.form) == NARROW else table.codes[spot >> NUMBER_AT]


@inlined
def run_episode(ws, table, options, goal, alpha_h, alpha_o, seed, episode):
    """Walk the table; return EP, the steps taken, the last state and the number of transitions in use."""
    if len(options.neurons) == CONTINUOUS:
        return run_continuous(ws, table, options, goal, alpha_h, alpha_o, seed, episode)
    hidden, steps = options.hidden, options.steps
    narrow, _, outputs = shape_of(table)
    stride, words = -(-hidden // GROUP) * GROUP, -(-hidden // 64)
    base = np.int64(episode) * (steps + 1)  # visits of earlier episodes lie below it
    for w in range(words):
        ws.masks[w] = np.uint64(0)
    ws.active_outputs[0] = np.uint64(0)
    if narrow:
        for k in range(8):
            ws.follow[k] = -1
    n_states, n_used = 1, 0

    spot, state, extra, step = np.int64(table.start[goal]), np.int64(0), 0, 0
    while step < steps:
        place = place_of(table, spot)
        ws.spots[step], ws.states[step], ws.extra[step] = spot, state, extra
        if not options.random_action:
            # Has the agent been at this place in this state before?
            visit = ws.last_visit[place]
            ws.earlier[step], ws.last_visit[place] = visit, base + step
            while visit >= base and ws.states[visit - base] != state:
                visit = ws.earlier[visit - base]
            if visit >= base:
                first = visit - base
                period, left = step - first, steps - step
                rounds, rest = left // period, left % period
                for k in range(first, step):
                    ws.taken[ws.trail[k]] += rounds
                for k in range(first, first + rest):
                    ws.taken[ws.trail[k]] += 1
                extra += rounds * (extra - ws.extra[first]) + ws.extra[first + rest] - ws.extra[first]
                spot, state = ws.spots[first + rest], ws.states[first + rest]
                step = steps
                break
        transition, following = found_transition(ws, table, state, spot, base)
        if following < 0:
            sensed = sensed_at(table, spot)
            next_hidden(ws, table, state, sensed, n_states, hidden, stride, words, alpha_h, alpha_o)
            new = known_state(ws, n_states, words)
            if new == n_states:
                outputs_of(ws, table, new, hidden, words, options.winner_alone)
                if narrow:
                    for k in range(8):
                        ws.follow[new * 8 + k] = -1
                n_states += 1
            following = np.int32(new << 4 | ws.action[new])
            transition = new_transition(ws, table, state, spot, base, n_used)
            ws.follow[transition] = following
            ws.taken[transition] = 0
            n_used += 1
        ws.taken[transition] += 1
        ws.trail[step] = transition
        state = np.int64(following) >> 4
        action = np.int64(following & 15)
        if options.random_action:
            action = random_action(ws, ws.active_outputs[state], outputs, step, seed, episode)
        spot = np.int64(table.moves[place * outputs + action])
        event = event_of(table, spot)
        step += 1
        if event != 0:
            outcome = np.int64(table.outcomes[goal * EVENTS + event])
            extra += outcome >> 1
            if outcome & 1:
                return step * table.step_cost + extra, step, state, n_used
    left_over = table.left[goal * table.states + place_of(table, spot)]
    return steps * table.step_cost + left_over + extra, step, state, n_used


# ---------------------------------------------------------------- the DSP update (distal.learners.dsp)


@inlined
def count_traces(ws, table, options, n_used, steps, last):
    """Count the steps in which each pre-synaptic neuron, and both neurons of each synapse, were active.

    `last` is the state that the episode ended in.
    """
    hidden = options.hidden
    stride, words = -(-hidden // GROUP) * GROUP, -(-hidden // 64)
    narrow, inputs, outputs = shape_of(table)
    feed, lanes = inputs + 1, len(table.row)
    none, one = splat32(np.int16(0)), splat32(np.int16(1))
    for p in range(feed + hidden + outputs):
        for g in range(0, stride, GROUP):
            store(ws.both, p * stride + g, none)
    for p in range((hidden + 1) * lanes // 4):
        ws.both_output_packed[p] = np.uint64(0)
    if not narrow:
        for k in range(inputs):
            ws.pre[k] = 0
    first, second, third = 0, 0, 0
    for u in range(n_used):
        transition = ws.used[u] if narrow else np.int64(u)
        times = np.int64(ws.taken[transition])
        before = transition >> 3 if narrow else ws.used[u]
        after = np.int64(ws.follow[transition]) >> 4
        # List the rows whose pre-synaptic neuron was active ...
        pre_state = after if options.trace_current else before
        n = active_columns(ws, pre_state, words)
        for k in range(n):
            ws.columns[k] += feed
        ws.columns[n] = inputs
        n += 1
        if narrow:
            sensed = transition & 7
            first += times * (sensed & 1)
            second += times * ((sensed >> 1) & 1)
            third += times * (sensed >> 2)
            ws.columns[n] = 0
            n += sensed & 1
            ws.columns[n] = 1
            n += (sensed >> 1) & 1
            ws.columns[n] = 2
            n += sensed >> 2
        else:
            bits = table.codes[ws.sensed[u]]
            while bits != np.uint64(0):
                ws.columns[n] = lowest_bit(bits)
                ws.pre[ws.columns[n]] += np.int16(times)
                n += 1
                bits &= bits - np.uint64(1)
        bits = ws.active_outputs[pre_state]
        while bits != np.uint64(0):
            ws.columns[n] = feed + hidden + lowest_bit(bits)
            n += 1
            bits &= bits - np.uint64(1)
        # ... and add the active post-synaptic neurons to each of them.
        many = splat32(np.int16(times))
        for g in range(0, stride, GROUP):
            post = select(bits_mask32(ws.masks[after * words + (g >> 6)] >> np.uint64(g & 63)), many, none)
            for k in range(n):
                at = ws.columns[k] * stride + g
                store(ws.both, at, load32(ws.both, at) + post)
        if lanes == 4:
            packed = np.uint64(0)
            bits = ws.active_outputs[after]
            while bits != np.uint64(0):
                packed += np.uint64(times) << np.uint64(16 * lowest_bit(bits))
                bits &= bits - np.uint64(1)
            for w in range(words):
                bits = ws.masks[after * words + w]
                while bits != np.uint64(0):
                    ws.both_output_packed[64 * w + lowest_bit(bits)] += packed
                    bits &= bits - np.uint64(1)
            ws.both_output_packed[hidden] += packed
        else:
            acting = select(
                bits_mask16(ws.active_outputs[after]), splat16(np.int16(times)), splat16(np.int16(0))
            )
            for w in range(words):
                bits = ws.masks[after * words + w]
                while bits != np.uint64(0):
                    at = (64 * w + lowest_bit(bits)) * lanes
                    store(ws.both_output, at, load16(ws.both_output, at) + acting)
                    bits &= bits - np.uint64(1)
            store(ws.both_output, hidden * lanes, load16(ws.both_output, hidden * lanes) + acting)

    # The bias is always active, so its row counts the post-synaptic neurons. What was active
    # before a step is what was active after one, but for the last step.
    if narrow:
        ws.pre[0], ws.pre[1], ws.pre[2] = first, second, third
    ws.pre[inputs] = steps
    for g in range(0, stride, GROUP):
        active = load32(ws.both, inputs * stride + g)
        if not options.trace_current:
            final = bits_mask32(ws.masks[last * words + (g >> 6)] >> np.uint64(g & 63))
            active = active - select(final, one, none)
        store(ws.pre, feed + g, active)
    for k in range(outputs):
        active_output = ws.both_output[hidden * lanes + k]
        if not options.trace_current:
            active_output -= np.int16((ws.active_outputs[last] >> np.uint64(k)) & np.uint64(1))
        ws.pre[feed + hidden + k] = active_output


@inlined
def threshold(theta, steps):
    """Return the largest count whose frequency is not above θ, or −1."""
    n = np.float32(steps)
    count = max(np.int64(theta * n) - 1, 0)
    while count <= steps and np.float32(count) / n <= theta:
        count += 1
    return count - 1


@inlined
def change_of(both, pre, post, silent_post, limit, changes, eta):
    """Return η Δw of synapses, one a lane, from their counts.

    `changes` holds the sixteen changes for this m as signed numbers of two bits, the
    first at the top; a trace bit shifts it by twice its weight in the row's number,
    and a shift back leaves the change, with its sign.
    """
    none = splat_like(np.int16(0), both)
    pre_alone = pre - both
    shift = select(silent_post - pre_alone > limit, splat_like(np.int16(16), both), none)  # 00
    shift = shift | select(post - both > limit, splat_like(np.int16(8), both), none)  # 01
    shift = shift | select(pre_alone > limit, splat_like(np.int16(4), both), none)  # 10
    shift = shift | select(both > limit, splat_like(np.int16(2), both), none)  # 11
    change = (changes << convert(shift, np.int32)) >> splat_like(np.int32(30), both)
    return convert(change, np.float32) * eta


@inlined
def update(ws, table, options, steps, theta, eta, changes):
    """Change all weights by the rule, then normalise each neuron's incoming ones."""
    hidden = options.hidden
    stride = -(-hidden // GROUP) * GROUP
    _, inputs, outputs = shape_of(table)
    feed = inputs + 1
    bound = np.int16(threshold(theta, steps))
    one, zero = splat8(F1), splat8(F0)
    limit, changes8, eta8 = splat8(bound), splat8(changes), splat8(eta)
    for c in range(0, hidden, 8):
        post = load8(ws.both, inputs * stride + c)
        silent_post = splat8(np.int16(steps)) - post
        squares = zero
        first = 0  # the first row whose squares are in the sum
        for block in range(3):
            begin = 0 if block == 0 else (feed if block == 1 else feed + hidden)
            end = feed if block == 0 else (feed + hidden if block == 1 else feed + hidden + outputs)
            for p in range(begin, end):
                at = p * stride + c
                pre = splat8(ws.pre[p])
                w = load8(ws.hidden, at) + change_of(
                    load8(ws.both, at), pre, post, silent_post, limit, changes8, eta8
                )
                if block == 1 and (p - feed) >> 3 == c >> 3:  # no synapse from itself
                    w = select(bits_mask8(np.uint64(1) << np.uint64((p - feed) & 7)), zero, w)
                store(ws.hidden, at, w)
                squares = squares + w * w
            if options.normalise and (options.by_layer or block == 2):
                norm = root(squares)
                norm = select(norm == zero, one, norm)
                for p in range(first, end):
                    store(ws.hidden, p * stride + c, load8(ws.hidden, p * stride + c) / norm)
                first, squares = end, zero

    row, lanes = table.row, len(table.row)
    limit_out, changes_out = splat_like(bound, row), splat_like(changes, row)
    eta_out, none_out = splat_like(eta, row), splat_like(F0, row)
    post_out = load_row(ws.both_output, hidden * lanes, row)
    silent_out = splat_like(np.int16(steps), row) - post_out
    squares_out = none_out
    for p in range(hidden + 1):
        active = ws.both[inputs * stride + p] if p < hidden else np.int16(steps)
        w_out = load_row(ws.output, p * lanes, row) + change_of(
            load_row(ws.both_output, p * lanes, row),
            splat_like(active, row),
            post_out,
            silent_out,
            limit_out,
            changes_out,
            eta_out,
        )
        store(ws.output, p * lanes, w_out)
        squares_out = squares_out + w_out * w_out
    if options.normalise:
        norm_out = root(squares_out)
        norm_out = select(norm_out == none_out, splat_like(F1, row), norm_out)
        for p in range(hidden + 1):
            store(ws.output, p * lanes, load_row(ws.output, p * lanes, row) / norm_out)


# ---------------------------------------------------------------- trials


@inlined
def keep(ws, table, hidden, trial, hidden_out, output_out):
    """Copy the running weights into the result, one row per post-synaptic neuron."""
    stride = -(-hidden // GROUP) * GROUP
    _, inputs, outputs = shape_of(table)
    for j in range(hidden):
        for p in range(inputs + 1 + hidden + outputs):
            hidden_out[trial, j, p] = ws.hidden[p * stride + j]
    for k in range(outputs):
        for p in range(hidden + 1):
            output_out[trial, k, p] = ws.output[p * len(table.row) + k]


def dsp_trials(
    first,
    last,
    learner,
    goal,
    seed,
    numbers,
    changes,
    task,
    options,
    space,
    columns,
    best,
    ep_out,
    hidden_out,
    output_out,
    stop,
    done,
):
    """Run trials first … last − 1 with DSP rules.

    numbers (rules, 4): η, θ, α_h, α_o; changes (rules, 2): the changes for m = −1
    and +1. done[0] counts episodes, done[1] is the trial at work.
    """
    stride = -(-options.hidden // GROUP) * GROUP
    ws = pointers(space)
    table = pointed(task)
    running, curves, eps = pointer(stop), pointer(best), pointer(ep_out)
    for trial in range(first, last):
        done[1] = trial
        space.last_visit[:] = -1
        space.last_sensed[:] = -1
        rule, key = learner[trial], seed[trial]
        eta, theta, alpha_h, alpha_o = numbers[rule, 0], numbers[rule, 1], numbers[rule, 2], numbers[rule, 3]
        lowest = np.int64(2**62)
        previous = np.int64(2**62)
        until_fresh, until_moved, phase = 0, options.phase, 0
        for episode in range(options.episodes):
            if read_now(running) != 0:
                return
            if until_fresh == 0:
                draw(ws, table, options.hidden, stride, key, episode, WEIGHTS, F1)
                previous = np.int64(2**62)
                until_fresh = options.resample if options.resample > 0 else options.episodes
            if until_moved == 0:
                phase, until_moved, lowest = phase + 1, options.phase, np.int64(2**62)
            until_fresh -= 1
            until_moved -= 1
            ep, steps, last_state, n_used = run_episode(
                ws, table, options, goal[trial, phase], alpha_h, alpha_o, key, episode
            )
            if ep < lowest:
                lowest = ep
                if options.keep_weights:
                    keep(ws, table, options.hidden, trial, hidden_out, output_out)
            if columns[episode] >= 0:
                curves[trial * options.recorded + columns[episode]] = lowest
            if options.keep_ep:
                eps[trial * options.episodes + episode] = ep
            rewarded = ep < previous or (ep == previous and not options.punish_ties)
            previous = ep
            if until_fresh != 0:
                count_traces(ws, table, options, n_used, steps, last_state)
                update(ws, table, options, steps, theta, eta, changes[rule, 1 if rewarded else 0])
            done[0] += 1


def climbing_trials(
    first,
    last,
    learner,
    goal,
    seed,
    numbers,
    changes,
    task,
    options,
    space,
    columns,
    best,
    ep_out,
    hidden_out,
    output_out,
    stop,
    done,
):
    """Run trials first … last − 1 by hill climbing; numbers (climbers, 3): σ, α_h, α_o."""
    stride = -(-options.hidden // GROUP) * GROUP
    ws = pointers(space)
    table = pointed(task)
    running, curves, eps = pointer(stop), pointer(best), pointer(ep_out)
    for trial in range(first, last):
        done[1] = trial
        space.last_visit[:] = -1
        space.last_sensed[:] = -1
        climber, key = learner[trial], seed[trial]
        sigma, alpha_h, alpha_o = numbers[climber, 0], numbers[climber, 1], numbers[climber, 2]
        lowest = np.int64(2**62)
        top = np.int64(2**62)  # the best EP of this climb
        until_fresh, until_moved, phase = 0, options.phase, 0
        for episode in range(options.episodes):
            if read_now(running) != 0:
                return
            if until_fresh == 0:
                draw(ws, table, options.hidden, stride, key, episode, WEIGHTS, F1)
                top = np.int64(2**62)
                until_fresh = options.resample if options.resample > 0 else options.episodes
            elif until_moved == 0:  # the best weights are measured anew
                space.hidden[:] = space.best_hidden
                space.output[:] = space.best_output
                top = np.int64(2**62)
            else:
                draw(ws, table, options.hidden, stride, key, episode, NOISE, sigma)
            if until_moved == 0:
                phase, until_moved, lowest = phase + 1, options.phase, np.int64(2**62)
            until_fresh -= 1
            until_moved -= 1
            ep, _, _, _ = run_episode(ws, table, options, goal[trial, phase], alpha_h, alpha_o, key, episode)
            if ep < top:
                top = ep
                if until_fresh != 0:  # else the climb starts over, as chance does in every episode
                    space.best_hidden[:] = space.hidden
                    space.best_output[:] = space.output
            if ep < lowest:
                lowest = ep
                if options.keep_weights:
                    keep(ws, table, options.hidden, trial, hidden_out, output_out)
            if columns[episode] >= 0:
                curves[trial * options.recorded + columns[episode]] = lowest
            if options.keep_ep:
                eps[trial * options.episodes + episode] = ep
            done[0] += 1


dsp_trials, climbing_trials = compiled(dsp_trials, climbing_trials)
