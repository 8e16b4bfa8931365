"""Chance, compiled: fresh weights after every episode."""

from __future__ import annotations

from distal.learners.compiled_learner import CompiledLearner
from distal.model.compiled_draws import inlined
from distal.networks.compiled_network import fresh_weights


@inlined
def update(state, learners, running):
    """Draw fresh weights."""
    fresh_weights(running, running.now[0].episode + 1)


compiled = CompiledLearner(update=update)
