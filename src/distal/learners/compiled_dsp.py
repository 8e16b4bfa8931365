"""Delayed synaptic plasticity, compiled: `dsp` and `traces`, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distal.learners.compiled_counts import STEPS, Counts, add_up, begin_counts, make_counts, note
from distal.learners.compiled_learner import CompiledLearner, forget, heard
from distal.learners.compiled_normalisation import normalise
from distal.learners.genes import changes_of, columns
from distal.learners.learner import Learner
from distal.model.compiled_draws import called, inlined
from distal.model.compiled_traces import threshold
from distal.model.lanes import convert, load8, pointer, reinterpret, select, splat8, store
from distal.networks.compiled_network import with_room
from distal.networks.network import Network


class Rules(NamedTuple):
    """The rules of a batch."""

    eta: Any  # float32 (rules)
    theta: Any  # float32 (rules)
    changes: Any  # uint32 (rules, 2): for m = 0 and 1, 1 + Δw of trace bits b in bits 2b and 2b + 1


class DspState(NamedTuple):
    """The traces of an episode, the synapses, and the EP of the episode before."""

    hidden: Counts
    output: Counts
    hidden_exists: Any  # uint8, like the counts of both: 1 where there is a synapse
    output_exists: Any  # uint8
    previous: Any  # float64 (1)
    known: Any  # bool (1): whether there was an episode before, with these weights


def packed(learners: Sequence[Learner]) -> Rules:
    """Return rules as arrays."""
    places = np.arange(0, 32, 2).astype(np.uint32)
    codes = (changes_of(learners).reshape(-1, 16, 2) + 1).astype(np.uint32) << places[:, None]
    return Rules(
        columns(learners, "eta").ravel(),
        columns(learners, "theta").ravel(),
        np.ascontiguousarray(np.bitwise_or.reduce(codes, axis=1)),
    )


def make(network: Network) -> DspState:
    """Return the counts of a network."""
    hidden, output = (make_counts(*shape) for shape in network.shapes)
    exists = [with_room(own.both.shape, np.uint8) for own in (hidden, output)]
    for own, mask in zip(exists, network.synapses(), strict=True):
        own[:, : len(mask)] = mask.T
    return DspState(hidden, output, exists[0], exists[1], np.zeros(1), np.zeros(1, np.bool_))


@inlined
def begin(state, learners, running):
    """Begin the counts anew."""
    begin_counts(state.hidden)
    begin_counts(state.output)


@inlined
def step(state, learners, running):
    """Note which neurons were active together."""
    note(state.hidden, running.into_hidden, running.active)
    note(state.output, running.into_output, running.outputs)
    if (running.now[0].step + 1) % STEPS == 0:
        add_up(state.hidden)
        add_up(state.output)


@inlined
def halved(changes, counts, limit, bits):
    """Keep the half of the changes that a trace bit selects: the upper one for counts above the limit."""
    return select(counts > splat8(limit), changes >> splat8(np.uint32(bits)), changes)


@called
def change(weights, exists, counts, steps, limit, changes, eta):
    """Add to every weight what the rule says for its trace bits."""
    columns, neurons = weights.shape
    w, there, both, before = pointer(weights), pointer(exists), pointer(counts.both), pointer(counts.before)
    width, one, two = exists.shape[1], splat8(np.int32(1)), splat8(np.uint32(3))
    for at in range(0, neurons, 8):
        after = load8(pointer(counts.after), at)
        for p in range(columns):
            n11, earlier = load8(both, p * width + at), load8(w, p * neurons + at)
            n01, n10 = after - n11, splat8(before[p]) - n11
            left = halved(splat8(changes), splat8(steps) - after - n10, limit, 16)
            left = halved(halved(halved(left, n01, limit, 8), n10, limit, 4), n11, limit, 2)
            sign = convert(reinterpret(left & two, np.int32) - one, np.float32)
            exist = load8(there, p * width + at) > splat8(np.uint8(0))
            store(w, p * neurons + at, select(exist, earlier + splat8(eta) * sign, earlier))


@inlined
def update(state, learners, running):
    """Change every weight by the row that its traces and m select, then normalise."""
    now = running.now[0]
    m = 1 if heard(state, running) else 0
    eta, steps = learners.eta[now.learner], np.int32(now.step)
    limit, changes = (
        np.int32(threshold(learners.theta[now.learner], now.step)),
        learners.changes[now.learner, m],
    )
    add_up(state.hidden)
    add_up(state.output)
    change(running.hidden, state.hidden_exists, state.hidden, steps, limit, changes, eta)
    change(running.output, state.output_exists, state.output, steps, limit, changes, eta)
    normalise(running)


compiled = CompiledLearner(packed, make, forget, begin, step, update)
