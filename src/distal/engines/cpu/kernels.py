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
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from distal.engines.cpu.cache import kept
from distal.engines.cpu.lanes import (
    bits_mask8,
    bits_mask32,
    convert,
    iota8,
    lane,
    load4,
    load8,
    load32,
    lowest_bit,
    mask_bits,
    pointer,
    read_now,
    reinterpret,
    root,
    select,
    splat4,
    splat8,
    splat32,
    store,
)
from distal.model.draws import ACTION, KEY_STEPS, MULTIPLIERS, NOISE, ROUNDS, SQRT_HALF_BITS, WEIGHTS
from distal.model.network import BIAS, FEED, OUTPUTS
from distal.tasks.tables import EVENT_AT, EVENTS, STATE_AT, Packed

GROUP = 32  # lanes that are summed together: four vectors, enough to hide the latency of an addition
F0, F1 = np.float32(0), np.float32(1)
MULTIPLIER0, MULTIPLIER1 = map(np.uint64, MULTIPLIERS)
KEY_STEP0, KEY_STEP1 = map(np.uint32, KEY_STEPS)

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
    # Transitions, by state · 8 + what was sensed.
    follow: Any  # int32: state << 2 | action, or -1 while unknown
    taken: Any  # int32: how often it was taken
    used: Any  # int64: the transitions in the order of their discovery
    columns: Any  # int64: active columns
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


def workspace(hidden: int, steps: int, places: int) -> Workspace:
    """Allocate the scratch memory of one worker."""
    stride = -(-hidden // GROUP) * GROUP
    rows = -(-(hidden + 8) // 4) * 4
    output_rows = -(-(hidden + 1) // 8) * 8
    states = steps + 1
    both_output = np.zeros(output_rows * OUTPUTS, np.int16)
    return Workspace(
        hidden=np.zeros(rows * stride, np.float32),
        output=np.zeros(output_rows * OUTPUTS, np.float32),
        best_hidden=np.zeros(rows * stride, np.float32),
        best_output=np.zeros(output_rows * OUTPUTS, np.float32),
        spare=np.zeros(8, np.float32),
        masks=np.zeros(states * -(-hidden // 64), np.uint64),
        active_outputs=np.zeros(states, np.uint64),
        action=np.zeros(states, np.int64),
        follow=np.zeros(states * 8, np.int32),
        taken=np.zeros(states * 8, np.int32),
        used=np.zeros(steps, np.int64),
        columns=np.zeros(rows, np.int64),
        trail=np.zeros(steps, np.int64),
        spots=np.zeros(steps + 1, np.int64),
        states=np.zeros(steps + 1, np.int64),
        extra=np.zeros(steps + 1, np.int64),
        earlier=np.zeros(steps + 1, np.int64),
        last_visit=np.full(places, -1, np.int64),
        words=np.zeros(32, np.uint32),
        both=np.zeros(rows * stride, np.int16),
        both_output=both_output,
        both_output_packed=both_output.view(np.uint64),
        pre=np.zeros(FEED + stride + OUTPUTS, np.int16),
    )


@inlined
def pointers(ws):
    """Return a workspace with pointers to the arrays of one."""
    return Workspace(
        pointer(ws.hidden), pointer(ws.output), pointer(ws.best_hidden), pointer(ws.best_output),
        pointer(ws.spare), pointer(ws.masks), pointer(ws.active_outputs), pointer(ws.action),
        pointer(ws.follow), pointer(ws.taken), pointer(ws.used), pointer(ws.columns), pointer(ws.trail),
        pointer(ws.spots), pointer(ws.states), pointer(ws.extra), pointer(ws.earlier), pointer(ws.last_visit),
        pointer(ws.words), pointer(ws.both), pointer(ws.both_output), pointer(ws.both_output_packed),
        pointer(ws.pre),
    )  # fmt: skip


@inlined
def pointed(table):
    """Return a packed table with pointers to the arrays of one."""
    return Packed(
        pointer(table.moves), pointer(table.outcomes), pointer(table.left), table.start, table.states,
        table.step_cost,
    )  # fmt: skip


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
def draw(ws, hidden, stride, seed, episode, purpose, sigma):
    """Fill the weights: fresh ones, or the best of the climb plus noise."""
    zero = splat8(F0)
    climbing = purpose == NOISE
    blocks = -(-(hidden + 8) // 4)
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
        ws.hidden[(FEED + j) * stride + j] = F0  # no synapse from itself
    outputs = (iota8() & splat8(np.uint32(3))) + splat8(np.uint32(hidden))
    for block in range(0, -(-(hidden + 1) // 4), 2):
        two = (iota8() >> splat8(np.uint32(2))) + splat8(np.uint32(block))
        r0, r1, r2, r3 = four_rows(two, outputs, episode, purpose, seed, sigma)
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
def next_hidden(ws, state, sensed, new, hidden, stride, words, alpha_h, alpha_o):
    """Compute the hidden activations that follow a state and write them into state `new`."""
    first = splat8(np.float32(sensed & 1))
    second = splat8(np.float32((sensed >> 1) & 1))
    third = splat8(np.float32((sensed >> 2) & 1))
    scale_h, scale_o, zero = splat8(alpha_h), splat8(alpha_o), splat8(F0)
    n = active_columns(ws, state, words)
    for w in range(words):
        ws.masks[new * words + w] = np.uint64(0)
    for g in range(0, stride, GROUP):
        h0, h1, h2, h3 = zero, zero, zero, zero
        for k in range(n):
            at = (FEED + ws.columns[k]) * stride + g
            h0 = h0 + load8(ws.hidden, at)
            h1 = h1 + load8(ws.hidden, at + 8)
            h2 = h2 + load8(ws.hidden, at + 16)
            h3 = h3 + load8(ws.hidden, at + 24)
        o0, o1, o2, o3 = zero, zero, zero, zero
        bits = ws.active_outputs[state]
        while bits != np.uint64(0):
            at = (FEED + hidden + lowest_bit(bits)) * stride + g
            bits &= bits - np.uint64(1)
            o0 = o0 + load8(ws.hidden, at)
            o1 = o1 + load8(ws.hidden, at + 8)
            o2 = o2 + load8(ws.hidden, at + 16)
            o3 = o3 + load8(ws.hidden, at + 24)
        found = np.uint64(0)
        found |= positive8(ws, g, stride, first, second, third, scale_h, scale_o, h0, o0)
        found |= positive8(ws, g + 8, stride, first, second, third, scale_h, scale_o, h1, o1) << np.uint64(8)
        found |= positive8(ws, g + 16, stride, first, second, third, scale_h, scale_o, h2, o2) << np.uint64(
            16
        )
        found |= positive8(ws, g + 24, stride, first, second, third, scale_h, scale_o, h3, o3) << np.uint64(
            24
        )
        if hidden - g < GROUP:
            found &= (np.uint64(1) << np.uint64(hidden - g)) - np.uint64(1)
        ws.masks[new * words + (g >> 6)] |= found << np.uint64(g & 63)


@inlined
def positive8(ws, at, stride, first, second, third, scale_h, scale_o, from_hidden, from_outputs):
    """Add up the three sums of eight neurons; return a bit for each that becomes active."""
    from_inputs = first * load8(ws.hidden, at) + second * load8(ws.hidden, at + stride)
    from_inputs = from_inputs + third * load8(ws.hidden, at + 2 * stride)
    from_inputs = from_inputs + load8(ws.hidden, at + BIAS * stride)
    total = from_inputs + scale_h * from_hidden + scale_o * from_outputs
    return mask_bits(total > splat8(F0))


@inlined
def outputs_of(ws, state, hidden, words, winner_alone):
    """Compute the outputs of a state from its hidden activations."""
    sums = splat4(F0)
    for w in range(words):
        bits = ws.masks[state * words + w]
        while bits != np.uint64(0):
            sums = sums + load4(ws.output, (64 * w + lowest_bit(bits)) * OUTPUTS)
            bits &= bits - np.uint64(1)
    sums = sums + load4(ws.output, hidden * OUTPUTS)
    best, action = lane(sums, 0), 0
    for k in range(1, OUTPUTS):
        if lane(sums, k) > best:
            best, action = lane(sums, k), k
    ws.action[state] = action
    if winner_alone:
        ws.active_outputs[state] = np.uint64(1) << np.uint64(action)
    else:
        ws.active_outputs[state] = mask_bits(sums > splat4(F0))


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
def random_action(ws, bits, step, seed, episode):
    """Draw the action of a step from the active outputs, or from all four when none is active."""
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
        bits = np.uint64(15)
    n = np.uint64(0)
    for k in range(OUTPUTS):
        n += (bits >> np.uint64(k)) & np.uint64(1)
    for _ in range((np.uint64(ws.words[step & 31]) * n) >> np.uint64(32)):
        bits &= bits - np.uint64(1)
    return lowest_bit(bits)


# ---------------------------------------------------------------- an episode (distal.episode)


@inlined
def run_episode(ws, table, options, goal, alpha_h, alpha_o, seed, episode):
    """Walk the table; return EP, the steps taken, the last state and the number of transitions in use."""
    hidden, steps = options.hidden, options.steps
    stride, words = -(-hidden // GROUP) * GROUP, -(-hidden // 64)
    base = np.int64(episode) * (steps + 1)  # visits of earlier episodes lie below it
    for w in range(words):
        ws.masks[w] = np.uint64(0)
    ws.active_outputs[0] = np.uint64(0)
    for k in range(8):
        ws.follow[k] = -1
    n_states, n_used = 1, 0

    spot, state, extra, step = np.int64(table.start), np.int64(0), 0, 0
    while step < steps:
        place = spot >> STATE_AT
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
        transition = state * 8 + (spot & 7)
        following = ws.follow[transition]
        if following < 0:
            next_hidden(ws, state, spot & 7, n_states, hidden, stride, words, alpha_h, alpha_o)
            new = known_state(ws, n_states, words)
            if new == n_states:
                outputs_of(ws, new, hidden, words, options.winner_alone)
                for k in range(8):
                    ws.follow[new * 8 + k] = -1
                n_states += 1
            following = np.int32(new << 2 | ws.action[new])
            ws.follow[transition] = following
            ws.taken[transition] = 0
            ws.used[n_used] = transition
            n_used += 1
        ws.taken[transition] += 1
        ws.trail[step] = transition
        state = np.int64(following) >> 2
        action = np.int64(following & 3)
        if options.random_action:
            action = random_action(ws, ws.active_outputs[state], step, seed, episode)
        spot = np.int64(table.moves[place * 4 + action])
        event = (spot >> EVENT_AT) & (EVENTS - 1)
        step += 1
        if event != 0:
            outcome = np.int64(table.outcomes[goal * EVENTS + event])
            extra += outcome >> 1
            if outcome & 1:
                return step * table.step_cost + extra, step, state, n_used
    left_over = table.left[goal * table.states + (spot >> STATE_AT)]
    return steps * table.step_cost + left_over + extra, step, state, n_used


# ---------------------------------------------------------------- the DSP update (distal.learners.dsp)


@inlined
def count_traces(ws, options, n_used, steps, last):
    """Count the steps in which each pre-synaptic neuron, and both neurons of each synapse, were active.

    `last` is the state that the episode ended in.
    """
    hidden = options.hidden
    stride, words = -(-hidden // GROUP) * GROUP, -(-hidden // 64)
    none, one = splat32(np.int16(0)), splat32(np.int16(1))
    for p in range(hidden + 8):
        for g in range(0, stride, GROUP):
            store(ws.both, p * stride + g, none)
    for p in range(hidden + 1):
        ws.both_output_packed[p] = np.uint64(0)
    first, second, third = 0, 0, 0
    for u in range(n_used):
        transition = ws.used[u]
        times = np.int64(ws.taken[transition])
        before, after, sensed = transition >> 3, np.int64(ws.follow[transition]) >> 2, transition & 7
        first += times * (sensed & 1)
        second += times * ((sensed >> 1) & 1)
        third += times * (sensed >> 2)
        # List the rows whose pre-synaptic neuron was active ...
        pre_state = after if options.trace_current else before
        n = active_columns(ws, pre_state, words)
        for k in range(n):
            ws.columns[k] += FEED
        ws.columns[n] = BIAS
        n += 1
        ws.columns[n] = 0
        n += sensed & 1
        ws.columns[n] = 1
        n += (sensed >> 1) & 1
        ws.columns[n] = 2
        n += sensed >> 2
        bits = ws.active_outputs[pre_state]
        while bits != np.uint64(0):
            ws.columns[n] = FEED + hidden + lowest_bit(bits)
            n += 1
            bits &= bits - np.uint64(1)
        # ... and add the active post-synaptic neurons to each of them.
        many = splat32(np.int16(times))
        for g in range(0, stride, GROUP):
            post = select(bits_mask32(ws.masks[after * words + (g >> 6)] >> np.uint64(g & 63)), many, none)
            for k in range(n):
                at = ws.columns[k] * stride + g
                store(ws.both, at, load32(ws.both, at) + post)
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

    # The bias is always active, so its row counts the post-synaptic neurons. What was active
    # before a step is what was active after one, but for the last step.
    ws.pre[0], ws.pre[1], ws.pre[2], ws.pre[BIAS] = first, second, third, steps
    for g in range(0, stride, GROUP):
        active = load32(ws.both, BIAS * stride + g)
        if not options.trace_current:
            final = bits_mask32(ws.masks[last * words + (g >> 6)] >> np.uint64(g & 63))
            active = active - select(final, one, none)
        store(ws.pre, FEED + g, active)
    for k in range(OUTPUTS):
        active_output = ws.both_output[hidden * OUTPUTS + k]
        if not options.trace_current:
            active_output -= np.int16((ws.active_outputs[last] >> np.uint64(k)) & np.uint64(1))
        ws.pre[FEED + hidden + k] = active_output


@inlined
def threshold(theta, steps):
    """Return the largest count whose frequency is not above θ, or −1."""
    n = np.float32(steps)
    count = max(np.int64(theta * n) - 1, 0)
    while count <= steps and np.float32(count) / n <= theta:
        count += 1
    return count - 1


@inlined
def change8(both, pre, post, silent_post, limit, table, eta):
    """Return η Δw of eight synapses from their counts.

    `table` holds the sixteen changes for this m as signed numbers of two bits, the
    first at the top; a trace bit shifts it by twice its weight in the row's number,
    and a shift back leaves the change, with its sign.
    """
    none = splat8(np.int16(0))
    pre_alone = pre - both
    shift = select(silent_post - pre_alone > limit, splat8(np.int16(16)), none)  # 00
    shift = shift | select(post - both > limit, splat8(np.int16(8)), none)  # 01
    shift = shift | select(pre_alone > limit, splat8(np.int16(4)), none)  # 10
    shift = shift | select(both > limit, splat8(np.int16(2)), none)  # 11
    change = (table << convert(shift, np.int32)) >> splat8(np.int32(30))
    return convert(change, np.float32) * eta


@inlined
def change4(both, pre, post, silent_post, limit, table, eta):
    """Return η Δw of four synapses: `change8` for the outputs."""
    none = splat4(np.int16(0))
    pre_alone = pre - both
    shift = select(silent_post - pre_alone > limit, splat4(np.int16(16)), none)  # 00
    shift = shift | select(post - both > limit, splat4(np.int16(8)), none)  # 01
    shift = shift | select(pre_alone > limit, splat4(np.int16(4)), none)  # 10
    shift = shift | select(both > limit, splat4(np.int16(2)), none)  # 11
    change = (table << convert(shift, np.int32)) >> splat4(np.int32(30))
    return convert(change, np.float32) * eta


@inlined
def update(ws, options, steps, theta, eta, table):
    """Change all weights by the rule, then normalise each neuron's incoming ones."""
    hidden = options.hidden
    stride = -(-hidden // GROUP) * GROUP
    bound = np.int16(threshold(theta, steps))
    one, zero = splat8(F1), splat8(F0)
    limit, table8, eta8 = splat8(bound), splat8(table), splat8(eta)
    for c in range(0, hidden, 8):
        post = load8(ws.both, BIAS * stride + c)
        silent_post = splat8(np.int16(steps)) - post
        squares = zero
        first = 0  # the first row whose squares are in the sum
        for block in range(3):
            begin = 0 if block == 0 else (FEED if block == 1 else FEED + hidden)
            end = FEED if block == 0 else (FEED + hidden if block == 1 else FEED + hidden + OUTPUTS)
            for p in range(begin, end):
                at = p * stride + c
                pre = splat8(ws.pre[p])
                w = load8(ws.hidden, at) + change8(
                    load8(ws.both, at), pre, post, silent_post, limit, table8, eta8
                )
                if block == 1 and (p - FEED) >> 3 == c >> 3:  # no synapse from itself
                    w = select(bits_mask8(np.uint64(1) << np.uint64((p - FEED) & 7)), zero, w)
                store(ws.hidden, at, w)
                squares = squares + w * w
            if options.normalise and (options.by_layer or block == 2):
                norm = root(squares)
                norm = select(norm == zero, one, norm)
                for p in range(first, end):
                    store(ws.hidden, p * stride + c, load8(ws.hidden, p * stride + c) / norm)
                first, squares = end, zero

    limit4, table4, eta4 = splat4(bound), splat4(table), splat4(eta)
    post4 = load4(ws.both_output, hidden * OUTPUTS)
    silent_post4 = splat4(np.int16(steps)) - post4
    squares4 = splat4(F0)
    for p in range(hidden + 1):
        active = ws.both[BIAS * stride + p] if p < hidden else np.int16(steps)
        w4 = load4(ws.output, p * OUTPUTS) + change4(
            load4(ws.both_output, p * OUTPUTS), splat4(active), post4, silent_post4, limit4, table4, eta4
        )
        store(ws.output, p * OUTPUTS, w4)
        squares4 = squares4 + w4 * w4
    if options.normalise:
        norm4 = root(squares4)
        norm4 = select(norm4 == splat4(F0), splat4(F1), norm4)
        for p in range(hidden + 1):
            store(ws.output, p * OUTPUTS, load4(ws.output, p * OUTPUTS) / norm4)


# ---------------------------------------------------------------- trials


@inlined
def keep(ws, hidden, trial, hidden_out, output_out):
    """Copy the running weights into the result, one row per post-synaptic neuron."""
    stride = -(-hidden // GROUP) * GROUP
    for j in range(hidden):
        for p in range(hidden + 8):
            hidden_out[trial, j, p] = ws.hidden[p * stride + j]
    for k in range(OUTPUTS):
        for p in range(hidden + 1):
            output_out[trial, k, p] = ws.output[p * OUTPUTS + k]


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
        rule, key = learner[trial], seed[trial]
        eta, theta, alpha_h, alpha_o = numbers[rule, 0], numbers[rule, 1], numbers[rule, 2], numbers[rule, 3]
        lowest = np.int64(2**62)
        previous = np.int64(2**62)
        until_fresh = 0
        for episode in range(options.episodes):
            if read_now(running) != 0:
                return
            if until_fresh == 0:
                draw(ws, options.hidden, stride, key, episode, WEIGHTS, F1)
                previous = np.int64(2**62)
                until_fresh = options.resample if options.resample > 0 else options.episodes
            until_fresh -= 1
            ep, steps, last_state, n_used = run_episode(
                ws, table, options, goal[trial], alpha_h, alpha_o, key, episode
            )
            if ep < lowest:
                lowest = ep
                if options.keep_weights:
                    keep(ws, options.hidden, trial, hidden_out, output_out)
            if columns[episode] >= 0:
                curves[trial * options.recorded + columns[episode]] = lowest
            if options.keep_ep:
                eps[trial * options.episodes + episode] = ep
            rewarded = ep < previous or (ep == previous and not options.punish_ties)
            previous = ep
            if until_fresh != 0:
                count_traces(ws, options, n_used, steps, last_state)
                update(ws, options, steps, theta, eta, changes[rule, 1 if rewarded else 0])
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
        climber, key = learner[trial], seed[trial]
        sigma, alpha_h, alpha_o = numbers[climber, 0], numbers[climber, 1], numbers[climber, 2]
        lowest = np.int64(2**62)
        top = np.int64(2**62)  # the best EP of this climb
        until_fresh = 0
        for episode in range(options.episodes):
            if read_now(running) != 0:
                return
            if until_fresh == 0:
                draw(ws, options.hidden, stride, key, episode, WEIGHTS, F1)
                top = np.int64(2**62)
                until_fresh = options.resample if options.resample > 0 else options.episodes
            else:
                draw(ws, options.hidden, stride, key, episode, NOISE, sigma)
            until_fresh -= 1
            ep, _, _, _ = run_episode(ws, table, options, goal[trial], alpha_h, alpha_o, key, episode)
            if ep < top:
                top = ep
                if until_fresh != 0:  # else the climb starts over, as chance does in every episode
                    space.best_hidden[:] = space.hidden
                    space.best_output[:] = space.output
            if ep < lowest:
                lowest = ep
                if options.keep_weights:
                    keep(ws, options.hidden, trial, hidden_out, output_out)
            if columns[episode] >= 0:
                curves[trial * options.recorded + columns[episode]] = lowest
            if options.keep_ep:
                eps[trial * options.episodes + episode] = ep
            done[0] += 1


dsp_trials, climbing_trials = compiled(dsp_trials, climbing_trials)
