"""The paper's network, compiled: one step as in `recurrent`, to the bit.

Silent neurons add nothing to a sum, so that their synapses are skipped; the order of the others stays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distal.model.compiled_draws import F0, inlined
from distal.model.lanes import load8, pointer, store
from distal.networks.compiled import BINARY, CURRENT, PREVIOUS, SIGMOID, CompiledNetwork, clear, copy
from distal.networks.compiled_logistic import logistic8
from distal.networks.network import Network


class Own(NamedTuple):
    """What the network keeps from one step to the next, and the sums of a step."""

    came: Any  # uint8 (columns[0]): what is active before the step: inputs, bias, hidden, outputs
    passed_on: Any  # float32 (hidden, in eights): what hidden neurons passed on in the step before
    inputs: Any  # float32 (hidden, in eights): the sums over inputs and bias, then all sums
    recurrent: Any  # float32 (hidden): … over hidden neurons
    feedback: Any  # float32 (hidden): … over outputs


def make(network: Network) -> Own:
    """Return the arrays of a network."""
    room = -(-network.hidden // 8) * 8
    return Own(np.zeros(network.columns[0], np.uint8), *(np.zeros(room, np.float32) for _ in range(4)))


@inlined
def begin(own, running):
    """Nothing is active before the first step."""
    clear(own.came)
    clear(own.passed_on)


@inlined
def _add(total, weights):
    for j in range(len(weights)):
        total[j] += weights[j]


@inlined
def step(own, running):
    """Compute the hidden neurons, and the sums of the outputs."""
    weights, into_output = running.hidden, running.output
    hidden, feed = weights.shape[1], len(running.bits) + 1
    neurons = running.codes.neurons
    for p in range(feed - 1):
        own.came[p] = running.bits[p]
    own.came[feed - 1] = 1
    for j in range(hidden):
        own.inputs[j] = own.recurrent[j] = own.feedback[j] = F0
    for p in range(feed):
        if own.came[p]:
            _add(own.inputs, weights[p])
    if neurons == BINARY:
        for k in range(hidden):
            if own.came[feed + k]:
                _add(own.recurrent, weights[feed + k])
    elif neurons == SIGMOID:
        for k in range(hidden):
            passed_on = own.passed_on[k]
            for j in range(hidden):
                own.recurrent[j] += weights[feed + k, j] * passed_on
    for p in range(feed + hidden, len(weights)):
        if own.came[p]:
            _add(own.feedback, weights[p])
    alpha_h, alpha_o = running.scales[0], running.scales[1]
    for j in range(hidden):
        total = own.inputs[j] + alpha_h * own.recurrent[j] + alpha_o * own.feedback[j]
        own.inputs[j] = total
        running.active[j] = total > F0
    clear(running.sums)
    if neurons == BINARY:
        for k in range(hidden):
            if running.active[k]:
                _add(running.sums, into_output[k])
    elif neurons == SIGMOID:
        sums, passed_on_to = pointer(own.inputs), pointer(own.passed_on)
        for at in range(0, hidden, 8):
            store(passed_on_to, at, logistic8(load8(sums, at)))
        for k in range(hidden):
            for o in range(len(running.sums)):
                running.sums[o] += into_output[k, o] * own.passed_on[k]
    _add(running.sums, into_output[hidden])


@inlined
def sources(own, running):
    """Note what was active at the synapses of this step, as traces pair it, and keep it for the next step."""
    trace_pre = running.codes.trace_pre
    feed, hidden = len(running.bits) + 1, len(running.active)
    if trace_pre == PREVIOUS:
        copy(running.into_hidden, own.came)
    for k in range(hidden):
        own.came[feed + k] = running.active[k]
        running.into_output[k] = running.active[k]
    for o in range(len(running.outputs)):
        own.came[feed + hidden + o] = running.outputs[o]
    running.into_output[hidden] = 1
    if trace_pre == CURRENT:
        copy(running.into_hidden, own.came)


compiled = CompiledNetwork(make, begin, step, sources)
