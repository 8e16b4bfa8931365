"""Eligibility traces, compiled: `eligibility` and `neuron_centric`, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distal.learners.compiled_learner import CompiledLearner, forget, heard
from distal.learners.compiled_normalisation import normalise
from distal.learners.genes import columns
from distal.learners.hebbian import COEFFICIENTS
from distal.learners.learner import Learner
from distal.learners.neuron_centric import NeuronCentric
from distal.model.compiled_draws import F0, F1, called, inlined
from distal.model.lanes import convert, load8, pointer, splat8, store
from distal.networks.compiled_network import clear, clear_rows, in_eights, with_room
from distal.networks.network import Network


class Coefficients(NamedTuple):
    """The learners of a batch."""

    coefficients: Any  # float32 (learners, neurons or 1, 2, 4): A, B, C, D where m = −1, and where it is +1
    decay: Any  # float32 (learners)
    eta: Any  # float32 (learners)


class EligibilityState(NamedTuple):
    """The traces of an episode (`eligibility.Traces`), and the EP of the episode before."""

    both_hidden: Any  # float32 (columns[0], hidden in eights): steps with both neurons of a synapse active
    both_output: Any  # float32
    before_hidden: Any  # float32 (columns[0]): with the source active
    before_output: Any  # float32 (columns[1])
    after_hidden: Any  # float32 (hidden): with the neuron active
    after_output: Any  # float32 (outputs)
    steps: Any  # float32 (1): all of them
    previous: Any  # float64 (1)
    known: Any  # bool (1)


def packed(learners: Sequence[Learner]) -> Coefficients:
    """Return the coefficients and numbers of learners."""
    rows = [np.array(one.coefficients) for one in learners if isinstance(one, NeuronCentric)]
    if rows:
        neurons = max(map(len, rows))
        own = np.stack([np.broadcast_to(each, (neurons, len(COEFFICIENTS))) for each in rows])
    else:
        own = columns(learners, *COEFFICIENTS)[:, None]
    plus, minus = np.split(own, 2, axis=-1)
    return Coefficients(
        np.ascontiguousarray(np.stack([minus, plus], axis=2), np.float32),
        columns(learners, "decay").ravel(),
        columns(learners, "eta").ravel(),
    )


def make(network: Network) -> EligibilityState:
    """Return the traces of a network."""
    (hidden, into_hidden), (outputs, into_output) = network.shapes
    rows = (into_hidden, in_eights(hidden)), (into_output, in_eights(outputs))
    sizes = *rows, into_hidden, into_output, hidden, outputs, 1
    state = [*(with_room(size) for size in sizes), np.zeros(1), np.zeros(1, np.bool_)]
    return EligibilityState(*state)


@inlined
def begin(state, learners, running):
    """Begin the traces anew."""
    clear_rows(state.both_hidden)
    clear_rows(state.both_output)
    clear(state.before_hidden)
    clear(state.before_output)
    clear(state.after_hidden)
    clear(state.after_output)
    state.steps[0] = F0


@called
def count(both, before, after, sources, neurons, decay):
    """Let the traces of a layer decay, and add this step."""
    every, width = splat8(decay), both.shape[1]
    each, sums, sent = pointer(neurons), pointer(after), pointer(before)
    for at in range(0, len(sources), 8):
        now = convert(load8(pointer(sources), at), np.float32)
        store(sent, at, every * load8(sent, at) + now)
    for at in range(0, width, 8):
        now, row = convert(load8(each, at), np.float32), at
        store(sums, at, every * load8(sums, at) + now)
        for p in range(len(sources)):
            added = now * splat8(np.float32(sources[p]))
            store(pointer(both), row, every * load8(pointer(both), row) + added)
            row += width


@inlined
def step(state, learners, running):
    """Let the traces decay, and add this step."""
    decay = learners.decay[running.now[0].learner]
    into_hidden, into_output = running.into_hidden, running.into_output
    count(state.both_hidden, state.before_hidden, state.after_hidden, into_hidden, running.active, decay)
    count(state.both_output, state.before_output, state.after_output, into_output, running.outputs, decay)
    state.steps[0] = decay * state.steps[0] + F1


@called
def change(weights, exists, both, before, after, always, coefficients, first, m, eta, taken):
    """Add to every weight what its trace says; its coefficients begin with row `first`."""
    several = len(coefficients) > 1
    for p in range(len(weights)):
        for j in range(weights.shape[1]):
            if exists[p, j]:
                own = coefficients[first + j if several else 0, m]
                e = own[0] * both[p, j] + own[1] * before[p] + own[2] * after[j] + own[3] * always
                weights[p, j] += eta * (e / taken)


@inlined
def update(state, learners, running):
    """Change every weight by its trace, as m selects the coefficients, then normalise."""
    now = running.now[0]
    m = 1 if heard(state, running) else 0
    eta, taken, always = learners.eta[now.learner], np.float32(now.step), state.steps[0]
    coefficients = learners.coefficients[now.learner]
    change(
        running.hidden, running.hidden_exists, state.both_hidden, state.before_hidden, state.after_hidden,
        always, coefficients, 0, m, eta, taken,
    )  # fmt: skip
    change(
        running.output, running.output_exists, state.both_output, state.before_output, state.after_output,
        always, coefficients, running.hidden.shape[1], m, eta, taken,
    )  # fmt: skip
    normalise(running)


compiled = CompiledLearner(packed, make, forget, begin, step, update)
