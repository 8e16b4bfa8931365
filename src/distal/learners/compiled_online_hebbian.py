"""Online Hebbian learning, compiled: `online_hebbian`, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distal.learners.compiled_learner import CompiledLearner, heard
from distal.learners.compiled_normalisation import normalise
from distal.learners.genes import columns
from distal.learners.hebbian import MINUS, PLUS
from distal.learners.learner import Learner
from distal.model.compiled_draws import called, inlined
from distal.model.lanes import load8, pointer, select, splat8, store
from distal.networks.compiled_network import copy_rows, first_lanes, with_room
from distal.networks.network import Network


class OnlineCoefficients(NamedTuple):
    """The learners of a batch."""

    coefficients: Any  # float32 (learners, 2, 4): A, B, C, D where m = −1, and where it is +1
    eta: Any  # float32 (learners)


class OnlineState(NamedTuple):
    """The weights with which the episode began, m, and the EP of the episode before."""

    hidden: Any  # float32, as in `Running`
    output: Any
    m: Any  # int64 (1): 0 for −1, and 1
    change: Any  # float32 (2, 2): η times the change, by pre and post
    previous: Any  # float64 (1)
    known: Any  # bool (1)
    hidden_exists: Any  # float32, like hidden: 1 for a synapse, else 0
    output_exists: Any
    spread: Any  # float32 (16): the change of eight neurons, by pre


def packed(learners: Sequence[Learner]) -> OnlineCoefficients:
    """Return the coefficients and learning rates of learners."""
    coefficients = columns(learners, *MINUS, *PLUS).reshape(-1, 2, len(PLUS))
    return OnlineCoefficients(coefficients, columns(learners, "eta").ravel())


def make(network: Network) -> OnlineState:
    """Return room for the weights of a network."""
    hidden, output = (shape[::-1] for shape in network.shapes)
    state = OnlineState(
        np.zeros(hidden, np.float32), np.zeros(output, np.float32), np.ones(1, np.int64),
        np.zeros((2, 2), np.float32), np.zeros(1), np.zeros(1, np.bool_), with_room(hidden),
        with_room(output), np.zeros(16, np.float32),
    )  # fmt: skip
    for exists, mask in zip((state.hidden_exists, state.output_exists), network.synapses(), strict=True):
        exists[...] = mask.T
    return state


@inlined
def fresh(state, learners, running):
    """Forget the EP of the episode before; the first episode counts as rewarded."""
    state.known[0], state.m[0] = False, 1


@inlined
def begin(state, learners, running):
    """Keep the weights with which the episode begins."""
    copy_rows(state.hidden, running.hidden)
    copy_rows(state.output, running.output)


@called
def add(weights, exists, sources, neurons, change, spread):
    """Add to every weight what its neurons do in this step."""
    rows, width, spread = pointer(weights), weights.shape[1], pointer(spread)
    for at in range(0, width, 8):
        active = load8(pointer(neurons), at) > splat8(np.uint8(0))
        for x in range(2):
            store(spread, 8 * x, select(active, splat8(change[x, 1]), splat8(change[x, 0])))
        own, row = first_lanes(width - at), at
        for p in range(len(weights)):
            w = load8(rows, row)
            more = load8(spread, 8 * sources[p]) * load8(pointer(exists), row)
            store(rows, row, select(own, w + more, w))
            row += width


@inlined
def step(state, learners, running):
    """Change every weight by the activity of its neurons in this step, then normalise."""
    learner = running.now[0].learner
    coefficients, eta = learners.coefficients[learner, state.m[0]], learners.eta[learner]
    for k in range(4):
        x, y = np.float32(k >> 1), np.float32(k & 1)
        both, pre, post = coefficients[0] * (y * x), coefficients[1] * x, coefficients[2] * y
        state.change[k >> 1, k & 1] = eta * (both + pre + post + coefficients[3])
    add(running.hidden, state.hidden_exists, running.into_hidden, running.active, state.change, state.spread)
    add(running.output, state.output_exists, running.into_output, running.outputs, state.change, state.spread)
    normalise(running)


@inlined
def update(state, learners, running):
    """Keep m for the next episode; the weights carry over."""
    state.m[0] = 1 if heard(state, running) else 0


@inlined
def began(state, running):
    """Return the weights with which the episode began."""
    return state.hidden, state.output


compiled = CompiledLearner(packed, make, fresh, begin, step, update, began)
