"""REINFORCE, compiled: `reinforce`, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distal.learners.compiled_learner import CompiledLearner, forget
from distal.learners.genes import numbers_of
from distal.learners.learner import Learner
from distal.model.compiled_draws import F0, F1, inlined
from distal.networks.compiled_network import clear_rows, with_room
from distal.networks.compiled_softmax import softmax
from distal.networks.network import Network


class LearningRates(NamedTuple):
    """The learners of a batch."""

    eta: Any  # float64 (learners)
    rate: Any  # float64 (learners)


class ReinforceState(NamedTuple):
    """The gradient of an episode, and what is usual."""

    gradient: Any  # float32 (columns[1], outputs)
    pull: Any  # float32 (outputs): the gradient by the sums of a step
    baseline: Any  # float64 (1)
    usual: Any  # float64 (1): the distance of an EP from the baseline
    known: Any  # bool (1): whether there is a baseline


def packed(learners: Sequence[Learner]) -> LearningRates:
    """Return the learning rates and the rates of the baselines."""
    return LearningRates(*map(np.ascontiguousarray, numbers_of(learners, *LearningRates._fields).T))


def make(network: Network) -> ReinforceState:
    """Return room for the gradient of a network."""
    outputs, columns = network.shapes[1]
    one = np.zeros(1), np.zeros(1), np.zeros(1, np.bool_)
    return ReinforceState(np.zeros((columns, outputs), np.float32), with_room(outputs), *one)


@inlined
def begin(state, learners, running):
    """Begin the gradient anew."""
    clear_rows(state.gradient)


@inlined
def step(state, learners, running):
    """Add the gradient of this step's action."""
    pull, sources, outputs = state.pull, running.into_output, len(running.outputs)
    softmax(running.sums, pull)
    for o in range(outputs):
        pull[o] = -pull[o]
    pull[running.now[0].action] += F1
    for p in range(len(sources)):
        if sources[p]:
            for o in range(outputs):
                state.gradient[p, o] += pull[o]


@inlined
def follow(state, rate, below):
    """Let the baseline and the usual distance follow an EP that lies so far below; return the advantage."""
    size = abs(below)
    if state.usual[0] == 0:
        state.usual[0] = size
    else:
        state.usual[0] += rate * (size - state.usual[0])
    state.baseline[0] -= rate * below
    return F0 if state.usual[0] == 0 else np.float32(below / state.usual[0])


@inlined
def update(state, learners, running):
    """Move the weights into the outputs along the gradient, as far as the EP was better than usual."""
    now = running.now[0]
    if not state.known[0]:
        state.known[0], state.baseline[0], state.usual[0] = True, now.ep, 0.0
        return
    below = state.baseline[0] - now.ep
    if now.opposite != 0:
        below = -below
    factor = np.float32(learners.eta[now.learner]) * follow(state, learners.rate[now.learner], below)
    for p in range(len(state.gradient)):
        for o in range(len(running.outputs)):
            running.output[p, o] += factor * state.gradient[p, o]


compiled = CompiledLearner(packed, make, forget, begin, step, update)
