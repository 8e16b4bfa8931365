"""REINFORCE, compiled: `reinforce`, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distal.learners.compiled import CompiledLearner, numbers_of
from distal.learners.learner import Learner
from distal.learners.reinforce import NUMBERS
from distal.model.compiled_draws import F0, F1, inlined
from distal.networks.compiled import clear_rows, with_room
from distal.networks.compiled_softmax import softmax
from distal.networks.network import Network


class Given(NamedTuple):
    """The learners of a batch."""

    eta: Any  # float64 (learners)
    rate: Any  # float64 (learners)


class Own(NamedTuple):
    """The gradient of an episode, and what is usual."""

    gradient: Any  # float32 (columns[1], outputs)
    pull: Any  # float32 (outputs): the gradient by the sums of a step
    baseline: Any  # float64 (1)
    usual: Any  # float64 (1): the distance of an EP from the baseline
    known: Any  # bool (1): whether there is a baseline


def given(learners: Sequence[Learner]) -> Given:
    """Return the learning rates and the rates of the baselines."""
    numbers = numbers_of(learners)
    return Given(*(np.ascontiguousarray(numbers[:, NUMBERS.index(name)]) for name in Given._fields))


def make(network: Network) -> Own:
    """Return room for the gradient of a network."""
    outputs, columns = network.shapes[1]
    one = np.zeros(1), np.zeros(1), np.zeros(1, np.bool_)
    return Own(np.zeros((columns, outputs), np.float32), with_room(outputs), *one)


@inlined
def fresh(own, given, running):
    """Forget what is usual."""
    own.known[0] = False


@inlined
def begin(own, given, running):
    """Begin the gradient anew."""
    clear_rows(own.gradient)


@inlined
def step(own, given, running):
    """Add the gradient of this step's action."""
    pull, sources, outputs = own.pull, running.into_output, len(running.outputs)
    softmax(running.sums, pull)
    for o in range(outputs):
        pull[o] = -pull[o]
    pull[running.now[0].action] += F1
    for p in range(len(sources)):
        if sources[p]:
            for o in range(outputs):
                own.gradient[p, o] += pull[o]


@inlined
def follow(own, rate, below):
    """Let the baseline and the usual distance follow an EP that lies so far below; return the advantage."""
    size = abs(below)
    if own.usual[0] == 0:
        own.usual[0] = size
    else:
        own.usual[0] += rate * (size - own.usual[0])
    own.baseline[0] -= rate * below
    return F0 if own.usual[0] == 0 else np.float32(below / own.usual[0])


@inlined
def update(own, given, running):
    """Move the weights into the outputs along the gradient, as far as the EP was better than usual."""
    now = running.now[0]
    if not own.known[0]:
        own.known[0], own.baseline[0], own.usual[0] = True, now.ep, 0.0
        return
    below = own.baseline[0] - now.ep
    if now.opposite != 0:
        below = -below
    factor = np.float32(given.eta[now.learner]) * follow(own, given.rate[now.learner], below)
    for p in range(len(own.gradient)):
        for o in range(len(running.outputs)):
            running.output[p, o] += factor * own.gradient[p, o]


compiled = CompiledLearner(given, make, fresh, begin, step, update)
