"""Chance, compiled: fresh weights after every episode."""

from __future__ import annotations

from collections.abc import Sequence

from distal.learners.compiled_learner import CompiledLearner, Nothing
from distal.learners.learner import Learner
from distal.model.compiled_draws import inlined
from distal.networks.compiled_network import fresh_weights
from distal.networks.network import Network


def packed(learners: Sequence[Learner]) -> Nothing:
    """Return nothing: the networks take all that there is of the numbers."""
    return Nothing()


def make(network: Network) -> Nothing:
    """Return nothing: chance remembers nothing."""
    return Nothing()


@inlined
def update(state, learners, running):
    """Draw fresh weights."""
    fresh_weights(running, running.now[0].episode + 1)


compiled = CompiledLearner(packed, make, update=update)
