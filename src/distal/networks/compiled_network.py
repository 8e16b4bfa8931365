"""The compiled part of a network, which engine steps calls in its place.

A network names the module that holds one in its attribute `compiled`: a `CompiledNetwork` of that
name, functions in Numba's subset of Python that take a network at work, a `Running`. Its matrices
are stored by source, (columns, neurons), so the neurons that one source reaches are neighbours.

A learner sees only the `Running` of a network, so any compiled learner trains any compiled network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from distal.base.checks import code_for
from distal.model.compiled_draws import F0, draw, draw_words, inlined
from distal.model.draws import ACTION, WEIGHTS
from distal.model.lanes import iota8, pointer, reinterpret, splat8
from distal.model.settings import Settings
from distal.networks.network import Network

# The values of the readings that there is code for, as compiled code compares them.
BINARY, SIGMOID = range(2)  # neurons
WINNER, ACTIVE, DRAWN = range(3)  # outputs
REWARD, PUNISH = range(2)  # m_ties
CURRENT, PREVIOUS = range(2)  # trace_pre
NEURON, LAYER, NONE = range(3)  # normalise
ROOM = 32  # entries that the widest vector reaches beyond the end of an array
CODES = {
    "neurons": {"binary": BINARY, "sigmoid": SIGMOID},
    "outputs": {"winner": WINNER, "binary": ACTIVE, "random": DRAWN},
    "m_ties": {"reward": REWARD, "punish": PUNISH},
    "trace_pre": {"current": CURRENT, "previous": PREVIOUS},
    "normalise": {"neuron": NEURON, "layer": LAYER, "none": NONE},
}


class Codes(NamedTuple):
    """The readings in force, as numbers."""

    neurons: int
    outputs: int
    m_ties: int
    trace_pre: int
    normalise: int


def codes_of(settings: Settings) -> Codes:
    """Return the readings in force as numbers; refuse a value that there is no code for."""
    return Codes(**{name: code_for(name, table, getattr(settings, name)) for name, table in CODES.items()})


# Where a trial is; one record, which all that is compiled may read and write.
NOW = np.dtype(
    [
        ("seed", np.uint64),  # of the trial
        ("trial", np.int64),  # which of the batch's
        ("learner", np.int64),  # which of the batch's
        ("episode", np.int64),  # from 0
        ("step", np.int64),  # from 0; at the end of an episode, how many it had
        ("action", np.int64),  # of this step
        ("ep", np.float64),  # of the episode that has ended
        ("moves", np.int64),  # whether the goal moves before the next episode
        ("flip", np.float64),  # a random word below this turns a reward round
        ("opposite", np.int64),  # whether the learner hears the opposite of this episode's reward
    ],
    align=True,
)


class Running(NamedTuple):
    """A network at work, as all compiled parts see it.

    The two matrices may be changed by a learner whenever it is called. `exists` says which of their entries
    are synapses; all others have to stay 0. Vectors may reach beyond the end of what is made by `with_room`.
    """

    hidden: Any  # float32 (columns[0], hidden): the weights into the hidden neurons
    output: Any  # float32 (columns[1], outputs)
    hidden_exists: Any  # bool, like hidden
    output_exists: Any  # bool, like output
    blocks: Any  # int64: the columns at which the layers of `hidden` begin, and their number
    scales: Any  # float32: the network's scales, in their order
    bits: Any  # uint8 (inputs): what is sensed in this step
    active: Any  # uint8 (hidden): which hidden neurons are active
    sums: Any  # float32 (outputs)
    outputs: Any  # uint8 (outputs): which outputs are active
    into_hidden: Any  # uint8 (columns[0]): which sources count as active, as the reading "trace_pre" says
    into_output: Any  # uint8 (columns[1])
    codes: Codes
    now: Any  # NOW (1)
    words: Any  # uint32 (32): random words for actions
    spare: Any  # float32 (32)


def in_eights(count: int) -> int:
    """Return the number of entries of a row, rounded up to whole vectors of eight."""
    return -(-count // 8) * 8


def with_room(shape: int | tuple[int, int], dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Return zeros with room behind them, into which vectors may reach that begin near the end."""
    size = int(np.prod(shape))
    return np.zeros(size + ROOM, dtype)[:size].reshape(shape)


def running(network: Network) -> Running:
    """Return the arrays of a network at work, its weights not yet drawn."""
    (hidden, into_hidden), (outputs, into_output) = network.shapes
    exists = [np.ascontiguousarray(mask.T) for mask in network.synapses()]
    now = np.zeros(1, NOW)
    now["flip"] = network.settings.flip * 2.0**32
    return Running(
        hidden=with_room((into_hidden, hidden)),
        output=with_room((into_output, outputs)),
        hidden_exists=exists[0],
        output_exists=exists[1],
        blocks=np.array([0, *network.blocks, into_hidden], np.int64),
        scales=np.zeros(max(1, len(network.scales)), np.float32),
        bits=with_room(network.inputs, np.uint8),
        active=with_room(hidden, np.uint8),
        sums=with_room(outputs),
        outputs=with_room(outputs, np.uint8),
        into_hidden=with_room(into_hidden, np.uint8),
        into_output=with_room(into_output, np.uint8),
        codes=codes_of(network.settings),
        now=now,
        words=np.zeros(32, np.uint32),
        spare=np.zeros(32, np.float32),
    )


# In place of NumPy's `into[:] = numbers`, for which Numba compiles what could go wrong, for seconds.


@inlined
def first_lanes(count):
    """Return a mask of the first lanes of eight: those that lie in a row with so many entries left."""
    return splat8(np.int32(count)) > reinterpret(iota8(), np.int32)


@inlined
def clear(into):
    """Set all entries of a vector to 0."""
    for k in range(len(into)):
        into[k] = 0


@inlined
def copy(into, numbers):
    """Copy a vector."""
    for k in range(len(into)):
        into[k] = numbers[k]


@inlined
def clear_rows(into):
    """Set all entries of a matrix to 0."""
    for p in range(len(into)):
        clear(into[p])


@inlined
def copy_rows(into, numbers):
    """Copy a matrix."""
    for p in range(len(into)):
        copy(into[p], numbers[p])


@inlined
def fresh_weights(running, episode):
    """Draw the weights of a network that starts over with an episode."""
    key = running.now[0].seed
    first, purpose = running.hidden.shape[1], np.int64(WEIGHTS)
    draw(running.hidden, running.hidden_exists, np.int64(0), key, episode, purpose, running.spare)
    draw(running.output, running.output_exists, first, key, episode, purpose, running.spare)


@inlined
def strongest(sums):
    """Return the first of the largest sums."""
    best, top = 0, sums[0]
    for o in range(1, len(sums)):
        if sums[o] > top:
            best, top = o, sums[o]
    return best


@inlined
def action_word(running):
    """Return the random word of this step."""
    now = running.now[0]
    if now.step & 31 == 0:
        draw_words(pointer(running.words), now.step, now.seed, now.episode, ACTION)
    return running.words[now.step & 31]


@inlined
def drawn_action(running):
    """Draw the action from the active outputs, or from all if none is active."""
    outputs = running.outputs
    active = 0
    for o in range(len(outputs)):
        active += outputs[o]
    every = active == 0
    count = len(outputs) if every else active
    left = (np.uint64(action_word(running)) * np.uint64(count)) >> np.uint64(32)
    action = 0
    for o in range(len(outputs)):
        if every or outputs[o]:
            if left == np.uint64(0):
                action = o
                break
            left -= np.uint64(1)
    return action


@inlined
def choose(state, running):
    """Turn the sums of the outputs into an action, and into active outputs (`network.choose`)."""
    sums, outputs, reading = running.sums, running.outputs, running.codes.outputs
    action = strongest(sums)
    for o in range(len(sums)):
        outputs[o] = sums[o] > F0
    if reading == WINNER:
        clear(outputs)
        outputs[action] = 1
    elif reading == DRAWN:
        action = drawn_action(running)
    return action


@dataclass(frozen=True)
class CompiledNetwork:
    """A network's compiled part; `state` is what `make` returned, `running` a `Running`.

    Attributes:
        make: Returns the arrays that the network keeps, as a NamedTuple.
        begin: begin(state, running): an episode begins, and nothing is active.
        step: step(state, running): from `bits` to `active` and `sums`.
        sources: sources(state, running): `outputs` and the action are chosen; write `into_hidden` and
            `into_output`.
        choose: choose(state, running): return the action, from `sums`, and write `outputs`; by default as the
            readings say.
    """

    make: Callable[[Network], Any]
    begin: Callable[..., Any]
    step: Callable[..., Any]
    sources: Callable[..., Any]
    choose: Callable[..., Any] = choose
