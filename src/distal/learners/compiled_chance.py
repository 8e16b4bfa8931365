"""Chance, compiled: fresh weights after every episode."""

from __future__ import annotations

from distal.learners.compiled import CompiledLearner
from distal.model.compiled_draws import inlined
from distal.networks.compiled import fresh_weights


@inlined
def update(own, given, running):
    """Draw fresh weights."""
    fresh_weights(running, running.now[0].episode + 1)


compiled = CompiledLearner(update=update)
