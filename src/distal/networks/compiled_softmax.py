"""The paper's network with a policy, compiled: `softmax`, to the bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distal.model.compiled_draws import F0, inlined
from distal.model.lanes import load8, pointer, splat8, store
from distal.networks import compiled_recurrent
from distal.networks.compiled_logistic import power8
from distal.networks.compiled_network import CompiledNetwork, action_word, clear, strongest, with_room
from distal.networks.network import Network

UNIT = np.float32(2.0**-24)


class SoftmaxState(NamedTuple):
    """The state of the network between two steps, the sums of a step, and the probabilities of actions."""

    came: Any  # as in `compiled_recurrent.RecurrentState`
    passed_on: Any
    sums: Any
    chances: Any  # float32 (outputs)


def make(network: Network) -> SoftmaxState:
    """Return the arrays of a network."""
    return SoftmaxState(*compiled_recurrent.make(network), with_room(network.outputs))


@inlined
def softmax(sums, chances):
    """Write the probability of each action."""
    top, total = splat8(sums[strongest(sums)]), F0
    for at in range(0, len(sums), 8):
        store(pointer(chances), at, power8(load8(pointer(sums), at) - top))
    for o in range(len(sums)):
        total += chances[o]
    for o in range(len(sums)):
        chances[o] = chances[o] / total


@inlined
def choose(state, running):
    """Draw the action; its output alone is active."""
    chances = state.chances
    softmax(running.sums, chances)
    share = np.float32(action_word(running) >> np.uint32(8)) * UNIT
    action, below = len(chances) - 1, F0
    for o in range(len(chances)):
        below += chances[o]
        if share < below:
            action = o
            break
    clear(running.outputs)
    running.outputs[action] = 1
    return action


_recurrent = compiled_recurrent.compiled
compiled = CompiledNetwork(make, _recurrent.begin, _recurrent.step, _recurrent.sources, choose)
