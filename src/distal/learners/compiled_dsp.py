"""Delayed synaptic plasticity, compiled: `dsp` and `traces`, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from distal.learners.compiled import CompiledLearner, numbers_of
from distal.learners.compiled_modulation import heard
from distal.learners.compiled_normalisation import normalise
from distal.learners.dsp import NUMBERS, Rule
from distal.learners.genes import Decoded
from distal.learners.learner import Learner
from distal.model.compiled_draws import called, inlined
from distal.model.compiled_traces import threshold
from distal.model.lanes import convert, load8, pointer, splat8, store
from distal.networks.compiled import clear, clear_rows, in_eights, with_room
from distal.networks.network import Network

ETA, THETA = NUMBERS.index("eta"), NUMBERS.index("theta")


class Given(NamedTuple):
    """The rules of a batch."""

    eta: Any  # float32 (rules)
    theta: Any  # float32 (rules)
    changes: Any  # float32 (rules, 16, 2): by trace bits and m


class Own(NamedTuple):
    """The traces of an episode as counts of steps, and the EP of the episode before."""

    both_hidden: Any  # int32 (columns[0], hidden in eights): with both neurons of a synapse active
    both_output: Any  # int32
    before_hidden: Any  # int32 (columns[0]): with the source active
    before_output: Any  # int32 (columns[1])
    after_hidden: Any  # int32 (hidden): with the neuron active
    after_output: Any  # int32 (outputs)
    previous: Any  # float64 (1)
    known: Any  # bool (1): whether there was an episode before, with these weights
    change: Any  # float32 (16): η Δw by trace bits


def given(learners: Sequence[Learner]) -> Given:
    """Return rules as arrays."""
    if isinstance(learners, Decoded):
        changes = learners.discrete
    else:
        changes = np.array([rule.delta_w for rule in cast(Sequence[Rule], learners)], np.int8)
    numbers = numbers_of(learners).astype(np.float32)
    return Given(
        np.ascontiguousarray(numbers[:, ETA]),
        np.ascontiguousarray(numbers[:, THETA]),
        changes.reshape(-1, 16, 2).astype(np.float32),
    )


def make(network: Network) -> Own:
    """Return the counts of a network."""
    (hidden, into_hidden), (outputs, into_output) = network.shapes
    return Own(
        both_hidden=with_room((into_hidden, in_eights(hidden)), np.int32),
        both_output=with_room((into_output, in_eights(outputs)), np.int32),
        before_hidden=with_room(into_hidden, np.int32),
        before_output=with_room(into_output, np.int32),
        after_hidden=with_room(hidden, np.int32),
        after_output=with_room(outputs, np.int32),
        previous=np.zeros(1),
        known=np.zeros(1, np.bool_),
        change=np.zeros(16, np.float32),
    )


@inlined
def fresh(own, given, running):
    """Forget the EP of the episode before."""
    own.known[0] = False


@inlined
def begin(own, given, running):
    """Begin the counts anew."""
    clear_rows(own.both_hidden)
    clear_rows(own.both_output)
    clear(own.before_hidden)
    clear(own.before_output)
    clear(own.after_hidden)
    clear(own.after_output)


@called
def count(both, before, after, sources, neurons):
    """Count this step in a layer."""
    each, sums, sent, width = pointer(neurons), pointer(after), pointer(before), both.shape[1]
    for at in range(0, len(sources), 8):
        store(sent, at, load8(sent, at) + convert(load8(pointer(sources), at), np.int32))
    for at in range(0, width, 8):
        now, row = convert(load8(each, at), np.int32), at
        store(sums, at, load8(sums, at) + now)
        for p in range(len(sources)):
            added = now & splat8(np.int32(-np.int32(sources[p])))
            store(pointer(both), row, load8(pointer(both), row) + added)
            row += width


@inlined
def step(own, given, running):
    """Count which neurons were active together."""
    count(own.both_hidden, own.before_hidden, own.after_hidden, running.into_hidden, running.active)
    count(own.both_output, own.before_output, own.after_output, running.into_output, running.outputs)


@called
def change(weights, exists, both, before, after, steps, limit, changes):
    """Add to every weight what the rule says for its trace bits."""
    for p in range(len(weights)):
        pre = before[p]
        for j in range(weights.shape[1]):
            if exists[p, j]:
                n11, n01, n10 = both[p, j], after[j] - both[p, j], pre - both[p, j]
                row = ((steps - after[j] - n10 > limit) << 3) | ((n01 > limit) << 2)
                weights[p, j] += changes[row | ((n10 > limit) << 1) | (n11 > limit)]


@inlined
def update(own, given, running):
    """Change every weight by the row that its traces and m select, then normalise."""
    now = running.now[0]
    m = 1 if heard(own, running) else 0
    eta, steps = given.eta[now.learner], np.int32(now.step)
    limit = np.int32(threshold(given.theta[now.learner], now.step))
    for row in range(16):
        own.change[row] = eta * given.changes[now.learner, row, m]
    hidden, output = running.hidden, running.output
    change(
        hidden, running.hidden_exists, own.both_hidden, own.before_hidden, own.after_hidden, steps, limit,
        own.change,
    )  # fmt: skip
    change(
        output, running.output_exists, own.both_output, own.before_output, own.after_output, steps, limit,
        own.change,
    )  # fmt: skip
    normalise(running)


compiled = CompiledLearner(given, make, fresh, begin, step, update)
