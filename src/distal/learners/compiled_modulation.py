"""The modulatory signal, compiled: `modulation`, to the bit.

A learner that hears it keeps the EP of the episode before in `state.previous`, and whether there was one,
with these weights, in `state.known`.
"""

from __future__ import annotations

from distal.model.compiled_draws import inlined
from distal.networks.compiled_network import REWARD


@inlined
def rewarded(state, running):
    """Return whether m is +1."""
    ep = running.now[0].ep
    if not state.known[0] or ep < state.previous[0]:
        return True
    return ep == state.previous[0] and running.codes.m_ties == REWARD


@inlined
def heard(state, running):
    """Return whether m is +1 as the learner hears it, and keep the EP for the next episode."""
    now = running.now[0]
    plus = rewarded(state, running)
    state.previous[0], state.known[0] = now.ep, True
    return plus != (now.opposite != 0)
