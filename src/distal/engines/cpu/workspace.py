"""The options of a batch, and the memory of a worker, as compiled code has them.

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
from numpy.typing import DTypeLike, NDArray

from distal.engines.cpu.layout import INPUTS, NARROW, OUTPUTS, Packed
from distal.model.compiled_draws import inlined
from distal.model.lanes import pointer

GROUP = 32  # lanes that are summed together: four vectors, enough to hide the latency of an addition
ZERO = np.int64(0)  # for a plain 0 Numba compiles a function twice: with the constant, and for all numbers
CACHE_LINE = 64  # bytes
# The tuple `Options.neurons` has as many entries as this for continuous neurons, else one.
CONTINUOUS = 2
ACTION_BITS = 6  # of what follows a transition


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
