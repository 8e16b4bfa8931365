"""The compiled part of engine cpu: one trial after another, as fast as we can.

The bits are the same as the reference engine's; docs/inside-the-engines.md explains the ideas. In
short: while an episode lasts the weights are fixed and activations are binary, so the network is a
finite automaton. Its states (the hidden activations) and transitions are computed once each and
remembered, most steps are a lookup, and an agent that comes back to the same place in the same
state repeats itself, so the rest of its episode is counted instead of walked. An episode whose
transitions are those of the one before is not walked at all. Traces need only how often each
transition was taken, and sources (pre-synaptic neurons) that were active in the same transitions
have the same traces, so that these are compared once for each kind of source.

Layout: weights lie by source, `weights[p * stride + j]`, so that eight neighbouring lanes
are eight post-synaptic neurons: the hidden ones, then the outputs. Sources are the inputs,
the bias, the hidden neurons, the outputs, and the bias of the outputs, which comes last
because it is last in their sums. Places without a synapse, and lanes beyond the last
neuron, hold garbage that is masked where it could matter.

Tables are narrow or wide (see `layout`). A narrow one has three inputs and four
actions, the usual case: all sizes are known to the compiler, and a transition is found by
its state and what is sensed. In a wide one there may be thousands of things to sense:
what is sensed has a number, and the transitions that begin with it are a chain. Its outputs
have four lanes, or sixteen. The types of `table.form` and `table.row` tell all this to the
compiler, so that each case has code of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload
from numpy.typing import DTypeLike, NDArray

from distal.engines.cpu.cache import keep_compiled
from distal.engines.cpu.layout import (
    EVENT_AT,
    INPUTS,
    NARROW,
    NUMBER_AT,
    OUTPUTS,
    STATE_AT,
    WAY_BITS,
    WAY_STATE_AT,
    Packed,
)
from distal.learners.compiled_evolution_strategy import stepped
from distal.model.compiled_draws import F0, F1, called, draw_words, four_rows, inlined
from distal.model.compiled_traces import threshold
from distal.model.draws import ACTION, NOISE, WEIGHTS
from distal.model.lanes import (
    Lanes,
    bits_mask8,
    bits_mask32,
    convert,
    iota8,
    lane,
    load4,
    load8,
    load32,
    load_row,
    lowest_bit,
    mask_bits,
    pointer,
    read_now,
    root,
    select,
    splat8,
    splat32,
    splat_like,
    store,
)
from distal.networks.compiled_logistic import power8
from distal.tasks.table import EVENT_BITS, EVENTS

GROUP = 32  # lanes that are summed together: four vectors, enough to hide the latency of an addition
ZERO = np.int64(0)  # for a plain 0 Numba compiles a function twice: with the constant, and for all numbers
CACHE_LINE = 64  # bytes
# The tuple `Options.neurons` has as many entries as this for continuous neurons, else one.
CONTINUOUS = 2
ACTION_BITS = 6  # of what follows a transition


def compiled(*functions):
    """Declare kernels, which are compiled when they are first called and kept for later runs."""
    kernels = tuple(njit(error_model="numpy", nogil=True)(function) for function in functions)
    keep_compiled(*kernels)
    return kernels


class Options(NamedTuple):
    """What all trials of a batch share."""

    hidden: int
    groups: int  # of lanes between the weights from two sources (`stride_of`)
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

    weights: Any  # float32 (sources · stride), those that run
    best: Any  # float32, the best weights of a climb
    spare: Any  # float32 (8)
    # States of the automaton, numbered as they appear; 0 is the silence before the first step.
    masks: Any  # uint64 (states · words): active hidden neurons
    active_outputs: Any  # uint64 (states)
    action: Any  # int64 (states)
    sums: Any  # float32 (states · stride): what the active hidden neurons pass on to the hidden neurons
    felt: Any  # float32 (8 · stride): of a narrow table, the sums over inputs and bias by what is sensed
    # Transitions, by state · 8 + what was sensed in a narrow table, else in the order of their discovery.
    follow: Any  # int32: state << ACTION_BITS | its action (`turn`), or -1 while unknown
    taken: Any  # int32: how often it was taken
    used: Any  # int64: the transitions in the order of their discovery; of a wide table the state before
    sensed: Any  # int64: of a wide table, the number of what was sensed
    link: Any  # int64: … the transition before it in the chain
    last_sensed: Any  # int64 (things to sense): … the last of each chain
    activity: Any  # float32 (3 · stride): what continuous neurons pass on: two steps in turn, and one kept
    # The walk, by step.
    trail: Any  # int64: transition
    spots: Any  # int64
    places: Any  # uint64: of binary neurons, the place << 32 | the state
    extra: Any  # int64: what events have cost so far; of binary neurons, by event
    happened: Any  # int64: … the steps taken by then
    visits: (
        Any  # int64 (places: the states of the table): the last episode that came there << 32 | its states
    )
    words: Any  # uint32 (32): random words for actions
    # Traces, by firing: which sources were active, and which neurons after them, how many times.
    fired: Any  # uint64 (firings · source words)
    reached: Any  # int16 (firings · 4 · stride): the times, at the neurons that were active
    active: Any  # int16 (stride): steps with the neuron active
    both: Any  # int16 (stride): of a source, steps with the neuron active and the source
    # Sources that fired alike are of one kind.
    pattern: Any  # int16 (firings / 16 · sources): in which of sixteen firings a source fired, a bit each
    left: Any  # uint64 (sources / GROUP): sources whose kind is not known yet
    kind: Any  # int16 (sources)
    chosen: Any  # int16 (kinds · stride): the row of the rule, times two, that a synapse selects
    change: Any  # float32 (kinds · stride): η Δw


def aligned(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return zeros that begin with a cache line: a vector that lies in two of them takes twice the time."""
    width = np.dtype(dtype).itemsize
    memory = np.zeros(size * width + CACHE_LINE, np.uint8)
    first = -memory.ctypes.data % CACHE_LINE
    return memory[first : first + size * width].view(dtype)


def stride_of(hidden: int, table: Packed) -> int:
    """Return how far apart the weights from two sources lie.

    There is a lane for each neuron, and two more, which count how often sources were active.
    """
    return -(-(hidden + len(table.row) + 2) // GROUP) * GROUP


def workspace(hidden: int, steps: int, table: Packed) -> Workspace:
    """Allocate the scratch memory of one worker."""
    narrow = len(table.form) == NARROW
    stride = stride_of(hidden, table)
    sources = -(-(table.inputs + 1 + hidden + table.outputs + 1) // 64) * 64
    states = steps + 2  # the silence, one a step, and one to compare with
    transitions = states * 8 if narrow else steps
    return Workspace(
        weights=aligned((sources + 8) * stride, np.float32),
        best=aligned((sources + 8) * stride, np.float32),
        spare=np.zeros(8, np.float32),
        masks=aligned(states * -(-hidden // 64) + 8, np.uint64),
        active_outputs=np.zeros(states, np.uint64),
        action=np.zeros(states, np.int64),
        sums=aligned(states * stride, np.float32),
        felt=aligned(8 * stride if narrow else 0, np.float32),
        follow=np.zeros(transitions, np.int32),
        taken=np.zeros(transitions, np.int32),
        used=np.zeros(steps, np.int64),
        sensed=np.zeros(0 if narrow else steps, np.int64),
        link=np.zeros(0 if narrow else steps, np.int64),
        last_sensed=np.full(0 if narrow else len(table.codes), -1, np.int64),
        activity=aligned(3 * stride, np.float32),
        trail=np.zeros(steps, np.int64),
        spots=np.zeros(steps + 1, np.int64),
        places=aligned(steps + 8, np.uint64),
        extra=np.zeros(steps + 1, np.int64),
        happened=np.zeros(steps + 1, np.int64),
        visits=np.full(table.states, -1, np.int64),
        words=np.zeros(32, np.uint32),
        fired=np.zeros(2 * steps * (sources // 64) + 2, np.uint64),
        reached=aligned((2 * steps + 15) * 4 * stride, np.int16),
        active=aligned(stride, np.int16),
        both=aligned(stride, np.int16),
        pattern=aligned(-(-2 * steps // 16) * sources, np.int16),
        left=np.zeros(sources // GROUP, np.uint64),
        kind=aligned(sources, np.int16),
        chosen=aligned(sources * stride, np.int16),
        change=aligned(sources * stride, np.float32),
    )


@inlined
def pointers(ws):
    """Return a workspace with pointers to the arrays of one."""
    return Workspace(
        pointer(ws.weights), pointer(ws.best), pointer(ws.spare), pointer(ws.masks),
        pointer(ws.active_outputs), pointer(ws.action), pointer(ws.sums),
        pointer(ws.felt), pointer(ws.follow), pointer(ws.taken), pointer(ws.used), pointer(ws.sensed),
        pointer(ws.link), pointer(ws.last_sensed), pointer(ws.activity), pointer(ws.trail),
        pointer(ws.spots), pointer(ws.places), pointer(ws.extra), pointer(ws.happened), pointer(ws.visits),
        pointer(ws.words), pointer(ws.fired), pointer(ws.reached), pointer(ws.active), pointer(ws.both),
        pointer(ws.pattern), pointer(ws.left), pointer(ws.kind), pointer(ws.chosen), pointer(ws.change),
    )  # fmt: skip


@inlined
def pointed(table):
    """Return a packed table with pointers to the arrays of one."""
    return Packed(
        pointer(table.moves), pointer(table.ways), pointer(table.outcomes), pointer(table.left),
        pointer(table.start),
        table.states, table.step_cost, pointer(table.codes), table.inputs, table.outputs, table.row,
        table.form,
    )  # fmt: skip


@inlined
def shape_of(table):
    """Return whether a table is narrow, its inputs and its outputs: constants of the compiler if it is."""
    if len(table.form) == NARROW:
        return True, INPUTS, OUTPUTS
    return False, table.inputs, table.outputs


# ---------------------------------------------------------------- weights (distal.networks)


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


# ---------------------------------------------------------------- the automaton (distal.network)


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


# ---------------------------------------------------------------- continuous neurons (distal.network)


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


@inlined
def run_continuous(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used):
    """Walk the table with continuous neurons; return what `run_binary` does. Nothing is kept.

    Every step has a state and a transition of its own. What came before is not known again
    by a number, but an agent that is at a place where it has been, with the same activity to
    the bit, repeats itself: the state of one step is kept, of the last whose number was a
    power of two (Brent's method), and each step is compared with it.
    """
    hidden, steps = options.hidden, options.steps
    _, _, outputs = shape_of(table)
    stride, words = GROUP * options.groups, -(-hidden // 64)
    base = np.int64(episode) * (steps + 1)
    for w in range(words):
        ws.masks[w] = np.uint64(0)
    ws.active_outputs[0] = np.uint64(0)
    for k in range(stride):
        ws.activity[k] = F0
    kept = 2 * stride

    spot, extra, step = first_spot(table, goal), ZERO, ZERO
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
                and same_masks(ws.masks, words, mark, step)  # sums about 0 may pass on the same
                and same_activity(ws, hidden, now, kept)
            ):
                rounds, rest = count_cycle_apart(ws, mark, step, steps)
                extra += rounds * (extra - ws.extra[mark]) + ws.extra[mark + rest] - ws.extra[mark]
                place = place_of(table, ws.spots[mark + rest])
                left_over = table.left[goal * table.states + place]
                return steps * table.step_cost + left_over + extra, steps, step
            if step == next_mark:
                mark, next_mark = step, 2 * step
                for at in range(0, stride, 8):
                    store(ws.activity, kept + at, load8(ws.activity, now + at))
        next_activity(ws, table, options, sensed_at(table, spot), now, stride - now, step, alpha_h, alpha_o)
        transition = new_transition(ws, table, np.int64(step), spot, base, step)
        action = ws.action[step + 1]
        ws.follow[transition] = np.int32((step + 1) << ACTION_BITS | action)
        ws.taken[transition] = 1
        ws.trail[step] = transition
        step += 1
        if options.random_action:
            action = random_action(ws, ws.active_outputs[step], outputs, step - 1, seed, episode)
        turned = turn(table, action)
        spot = spot_after(table, ways_from(table, place), place, turned)
        if is_event(table, spot):
            outcome = outcome_of(table, goal, spot, place, turned)
            extra += outcome >> 1
            if outcome & 1:
                return step * table.step_cost + extra, step, step
    left_over = table.left[goal * table.states + place_of(table, spot)]
    return steps * table.step_cost + left_over + extra, step, step


# ---------------------------------------------------------------- an episode (distal.episode)


@inlined
def first_spot(table, goal):
    """Return the spot that an episode begins at: of a narrow table a way."""
    spot = np.int64(table.start[goal])
    if len(table.form) == NARROW:
        return spot >> STATE_AT << WAY_STATE_AT | spot & 7
    return spot


@inlined
def place_of(table, spot):
    """Return the state of the table at a spot; that of a narrow table is a way, and may have others above."""
    if len(table.form) == NARROW:
        return spot >> WAY_STATE_AT & ((1 << WAY_BITS - WAY_STATE_AT) - 1)
    return (spot & ((1 << NUMBER_AT) - 1)) >> EVENT_BITS


@inlined
def ways_from(table, place):
    """Return where the actions lead from a place of a narrow table."""
    return table.ways[place] if len(table.form) == NARROW else np.uint64(0)


@inlined
def turn(table, action):
    """Return an action as `spot_after` takes it: in a narrow table where its way begins."""
    return action * WAY_BITS if len(table.form) == NARROW else action


@inlined
def spot_after(table, ways, place, following):
    """Return the spot that the action of what follows leads to."""
    turned = following & ((1 << ACTION_BITS) - 1)
    if len(table.form) == NARROW:
        return np.int64(ways >> np.uint64(turned))
    return np.int64(table.moves[place * table.outputs + turned])


@inlined
def is_event(table, spot):
    """Say whether an event led to a spot."""
    return spot & (1 << EVENT_AT if len(table.form) == NARROW else EVENTS - 1) != 0


@inlined
def outcome_of(table, goal, spot, place, following):
    """Return the outcome of the event that led from a place to a spot."""
    event = spot & (EVENTS - 1)
    if len(table.form) == NARROW:
        action = (following & ((1 << ACTION_BITS) - 1)) // WAY_BITS
        event = np.int64(table.moves[place * OUTPUTS + action]) >> EVENT_AT & (EVENTS - 1)
    return np.int64(table.outcomes[goal * EVENTS + event])


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
def transition_at(ws, table, u):
    """Return the number of the transition that was discovered as number u, its state, and the bits sensed."""
    if len(table.form) == NARROW:
        transition = ws.used[u]
        return transition, transition >> 3, np.uint64(transition & 7)
    return np.int64(u), ws.used[u], table.codes[ws.sensed[u]]


@inlined
def sensed_at(table, spot):
    """Return the bits that are sensed at a spot."""
    return np.uint64(spot & 7) if len(table.form) == NARROW else table.codes[spot >> NUMBER_AT]


@inlined
def begin_automaton(ws, table, options):
    """Compute what is known before the first step of binary neurons."""
    if len(options.neurons) == CONTINUOUS:
        return
    hidden, words = options.hidden, -(-options.hidden // 64)
    for w in range(words):
        ws.masks[w] = np.uint64(0)
    ws.active_outputs[0] = np.uint64(0)
    for g in range(0, hidden, GROUP):
        store(ws.sums, g, splat32(F0))
    if len(table.form) == NARROW:
        feel(ws, hidden, GROUP * options.groups)


@called
def still_true(ws, table, options, n_used, alpha_h, alpha_o):
    """Compute the transitions of the episode before with the new weights, in the order of their discovery.

    Returns how many come out as before until one does not, and how many states there are by then.
    """
    hidden, stride, words = options.hidden, GROUP * options.groups, -(-options.hidden // 64)
    now = options.steps + 1  # the state to compare with
    n_states = np.int64(1)
    for u in range(n_used):
        transition, before, sensed = transition_at(ws, table, u)
        after = np.int64(ws.follow[transition]) >> ACTION_BITS
        mask = next_hidden(ws, table, before, sensed, now, hidden, stride, words, alpha_h, alpha_o)
        ws.masks[now * words] = mask
        if not same_masks(ws.masks, words, now, after):
            return u, n_states
        if after == n_states:
            sums = sum_up(ws, table, after, mask, hidden, stride, words)
            same = act(ws, table, now, sums, options.winner_alone) == ws.action[after]
            if not same or ws.active_outputs[now] != ws.active_outputs[after]:
                return u, n_states
            n_states += 1
    return n_used, n_states


@inlined
def keep_transitions(ws, table, kept, n_used, base):
    """Keep the first transitions of the episode before, which are still true, and forget the others."""
    narrow, _, _ = shape_of(table)
    for u in range(kept):
        if narrow:
            ws.taken[ws.used[u]] = 0
        else:
            ws.taken[u] = 0
            number = ws.sensed[u]
            ws.link[u], ws.last_sensed[number] = ws.last_sensed[number], base + u
    if narrow and kept == 0:
        for k in range(8):
            ws.follow[k] = -1
    elif narrow:
        for u in range(kept, n_used):
            ws.follow[ws.used[u]] = -1


@inlined
def first_visit(places, step, key):
    """Return the step that began at the same place in the same state as `step`, or `step` itself."""
    for first in range(0, step, 8):
        same = mask_bits(load8(places, first) == splat8(key))
        if same != np.uint64(0):
            return min(first + lowest_bit(same), step)  # what lies beyond is of another episode
    return step


@inlined
def count_cycle(ws, first, step, steps):
    """Count the steps from `step` on, which repeat those from `first` on.

    Returns how often they do so in full, and how many steps remain after that.
    """
    period, left = step - first, steps - step
    rounds, rest = left // period, left % period
    for k in range(first, step):
        ws.taken[ws.trail[k]] += rounds + (k < first + rest)
    return rounds, rest


# Continuous neurons call it as a function apart: inlined, it makes their steps 3 % slower.
count_cycle_apart = called(count_cycle.py_func)


@inlined
def cost_before(ws, events, step):
    """Return what events had cost when a step began."""
    while events > 0 and ws.happened[events] > step:
        events -= 1
    return ws.extra[events]


@inlined
def discover(ws, table, options, state, spot, base, n_states, n_used, alpha_h, alpha_o):
    """Compute a transition that is not known.

    Returns its number, what it leads to, and how many states there are now.
    """
    hidden, stride, words = options.hidden, GROUP * options.groups, -(-options.hidden // 64)
    sensed = sensed_at(table, spot)
    mask = next_hidden(ws, table, state, sensed, n_states, hidden, stride, words, alpha_h, alpha_o)
    new = known_state(ws.masks, n_states, mask, words)
    if new == n_states:
        ws.masks[new * words] = mask
        sums = sum_up(ws, table, new, mask, hidden, stride, words)
        action = act(ws, table, new, sums, options.winner_alone)
        if len(table.form) == NARROW:
            for k in range(8):
                ws.follow[new * 8 + k] = -1
        n_states += 1
    else:
        action = ws.action[new]
    transition = new_transition(ws, table, state, spot, base, n_used)
    following = np.int32(new << ACTION_BITS | turn(table, action))
    ws.follow[transition], ws.taken[transition] = following, 0
    return transition, following, n_states


@called
def run_binary(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used):
    """Walk the table with binary neurons; return EP, the steps taken and the number of transitions in use.

    Of the `n_used` transitions of the episode before, the first `kept` and their states are still true.
    """
    steps, drawn = options.steps, options.random_action
    _, _, outputs = shape_of(table)
    base = np.int64(episode) * (steps + 1)  # visits of earlier episodes lie below it
    keep_transitions(ws, table, kept, n_used, base)
    n_used = kept
    spot, state, step = first_spot(table, goal), ZERO, ZERO
    extra, events = ZERO, ZERO
    ws.extra[0] = 0
    while True:
        place, transition, following, seen, event = ZERO, ZERO, np.int32(-1), False, False
        # Steps whose transition is known have a loop of their own, which leaves the registers to them.
        # Whatever is not a plain step ends it and is done below.
        while step < steps and not drawn:
            place = place_of(table, spot)
            ways = ways_from(table, place)
            # Has the agent been at this place in this state before?
            ws.places[step] = np.uint64(place << 32 | state)
            visits, bit = ws.visits[place], np.int64(1) << (state & 31)
            states = visits & 0xFFFFFFFF if visits >> 32 == episode else ZERO
            ws.visits[place] = np.int64(episode) << 32 | states | bit
            seen = states & bit != 0
            if seen:
                break
            transition, following = found_transition(ws, table, state, spot, base)
            if following < 0:
                break
            ws.taken[transition] += 1
            ws.trail[step] = transition
            state = np.int64(following) >> ACTION_BITS
            spot = spot_after(table, ways, place, np.int64(following))
            step += 1
            event = is_event(table, spot)
            if event:
                break
        if not event:
            if step == steps:
                break
            place = place_of(table, spot)
            if seen:
                first = first_visit(ws.places, step, np.uint64(place << 32 | state))
                if first < step:
                    rounds, rest = count_cycle(ws, first, step, steps)
                    before = cost_before(ws, events, first)
                    extra += rounds * (extra - before) + cost_before(ws, events, first + rest) - before
                    place = np.int64(ws.places[first + rest] >> np.uint64(32))
                    left_over = table.left[goal * table.states + place]
                    return steps * table.step_cost + left_over + extra, steps, n_used
            if seen or drawn:
                transition, following = found_transition(ws, table, state, spot, base)
            if following < 0:
                transition, following, n_states = discover(
                    ws, table, options, state, spot, base, n_states, n_used, alpha_h, alpha_o
                )
                n_used += 1
            ws.taken[transition] += 1
            ws.trail[step] = transition
            state = np.int64(following) >> ACTION_BITS
            if drawn:
                action = random_action(ws, ws.active_outputs[state], outputs, step, seed, episode)
                following = np.int32(turn(table, action))
            spot = spot_after(table, ways_from(table, place), place, np.int64(following))
            step += 1
            event = is_event(table, spot)
        if event:
            outcome = outcome_of(table, goal, spot, place, np.int64(following))
            extra += outcome >> 1
            if outcome & 1:
                return step * table.step_cost + extra, step, n_used
            events += 1
            ws.happened[events], ws.extra[events] = step, extra
    left_over = table.left[goal * table.states + place_of(table, spot)]
    return steps * table.step_cost + left_over + extra, step, n_used


def run_episode(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used):
    """Run an episode with the neurons at hand: compiled code has the other kind's nowhere in it."""
    raise NotImplementedError


@overload(run_episode, jit_options={"error_model": "numpy", "forceinline": True})
def _run_episode(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used):
    neurons = options.types[options.fields.index("neurons")]
    run = run_continuous if len(neurons) == CONTINUOUS else run_binary

    def chosen(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used):
        return run(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used)

    return chosen


# ---------------------------------------------------------------- the DSP update (distal.learners.dsp)


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


# ---------------------------------------------------------------- trials


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


def dsp_trials(
    first,
    last,
    learner,
    goal,
    seed,
    numbers,
    own,
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
    """Run trials first … last − 1 with DSP rules, or with eligibility traces that do not fade.

    numbers (rules, 4): η, θ, α_h, α_o; own: see `PackedLearners`. done[0] counts episodes, done[1] is
    the trial at work, done[2] counts steps.
    """
    ws = pointers(space)
    table = pointed(task)
    stride = GROUP * options.groups
    running, curves, eps = pointer(stop), pointer(best), pointer(ep_out)
    # Actions that are drawn do not repeat themselves, and continuous neurons hardly do.
    repeatable = len(options.neurons) != CONTINUOUS and not options.random_action
    for trial in range(first, last):
        done[1] = trial
        space.visits[:] = -1
        space.last_sensed[:] = -1
        rule, key = learner[trial], seed[trial]
        eta, theta, alpha_h, alpha_o = numbers[rule, 0], numbers[rule, 1], numbers[rule, 2], numbers[rule, 3]
        lowest = np.int64(2**62)
        previous = np.int64(2**62)
        until_fresh, until_moved, phase = 0, options.phase, 0
        ep, steps, n_used = ZERO, ZERO, ZERO
        steady = False  # the last two EPs are equal, so this episode is likely to repeat the one before
        for episode in range(options.episodes):
            if read_now(running) != 0:
                return
            if until_fresh == 0:
                draw(ws, table, options.hidden, stride, key, episode, WEIGHTS, F1)
                previous = np.int64(2**62)
                until_fresh = options.resample if options.resample > 0 else options.episodes
                steady = False
            if until_moved == 0:
                phase, until_moved, lowest = phase + 1, options.phase, np.int64(2**62)
                steady = False
            until_fresh -= 1
            until_moved -= 1
            begin_automaton(ws, table, options)
            kept, n_states, same = ZERO, np.int64(1), False
            if steady and repeatable:
                kept, n_states = still_true(ws, table, options, n_used, alpha_h, alpha_o)
                same = kept == n_used
            if not same:
                ep, steps, n_used = run_episode(
                    ws,
                    table,
                    options,
                    goal[trial, phase],
                    alpha_h,
                    alpha_o,
                    key,
                    episode,
                    kept,
                    n_states,
                    n_used,
                )
            if ep < lowest:
                lowest = ep
                if options.keep_weights:
                    keep(ws, table, options.hidden, stride, trial, hidden_out, output_out)
            if columns[episode] >= 0:
                curves[trial * options.recorded + columns[episode]] = lowest
            if options.keep_ep:
                eps[trial * options.episodes + episode] = ep
            rewarded = ep < previous or (ep == previous and not options.punish_ties)
            steady, previous = ep == previous, ep
            if until_fresh != 0:
                # Where the walk is the same so is m: the EP equals the one before for the second time.
                if not same:
                    m = 1 if rewarded else 0
                    decide_all(ws, table, options, n_used, threshold(theta, steps), own[rule, m], eta)
                update(ws, table, options)
            done[0] += 1
            done[2] += steps


def climbing_trials(
    first,
    last,
    learner,
    goal,
    seed,
    numbers,
    own,
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
    """Run trials first … last − 1 by hill climbing, or with an evolution strategy.

    numbers (climbers, 3): σ, α_h, α_o; own (climbers): the factor of σ after a success, 1 if it stays.
    """
    ws = pointers(space)
    table = pointed(task)
    stride = GROUP * options.groups
    running, curves, eps = pointer(stop), pointer(best), pointer(ep_out)
    for trial in range(first, last):
        done[1] = trial
        space.visits[:] = -1
        space.last_sensed[:] = -1
        climber, key = learner[trial], seed[trial]
        sigma, alpha_h, alpha_o = numbers[climber, 0], numbers[climber, 1], numbers[climber, 2]
        factor = own[climber]
        lowest = np.int64(2**62)
        top = np.int64(2**62)  # the best EP of this climb
        until_fresh, until_moved, phase = 0, options.phase, 0
        for episode in range(options.episodes):
            if read_now(running) != 0:
                return
            if until_fresh == 0:
                draw(ws, table, options.hidden, stride, key, episode, WEIGHTS, F1)
                top, sigma = np.int64(2**62), numbers[climber, 0]
                until_fresh = options.resample if options.resample > 0 else options.episodes
            elif until_moved == 0:  # the best weights are measured anew
                space.weights[:] = space.best
                top, sigma = np.int64(2**62), numbers[climber, 0]
            else:
                draw(ws, table, options.hidden, stride, key, episode, NOISE, sigma)
            if until_moved == 0:
                phase, until_moved, lowest = phase + 1, options.phase, np.int64(2**62)
            until_fresh -= 1
            until_moved -= 1
            begin_automaton(ws, table, options)
            ep, steps, _ = run_episode(
                ws,
                table,
                options,
                goal[trial, phase],
                alpha_h,
                alpha_o,
                key,
                episode,
                ZERO,
                np.int64(1),
                ZERO,
            )
            if top != np.int64(2**62):  # the first weights are no trial of a step
                sigma = stepped(sigma, factor, ep < top)
            if ep < top:
                top = ep
                if until_fresh != 0:  # else the climb starts over, as chance does in every episode
                    space.best[:] = space.weights
            if ep < lowest:
                lowest = ep
                if options.keep_weights:
                    keep(ws, table, options.hidden, stride, trial, hidden_out, output_out)
            if columns[episode] >= 0:
                curves[trial * options.recorded + columns[episode]] = lowest
            if options.keep_ep:
                eps[trial * options.episodes + episode] = ep
            done[0] += 1
            done[2] += steps


dsp_trials, climbing_trials = compiled(dsp_trials, climbing_trials)
