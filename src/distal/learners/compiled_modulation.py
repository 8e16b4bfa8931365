"""The modulatory signal, compiled: `modulation`, to the bit.

A learner that hears it keeps the EP of the episode before in `own.previous`, and whether there was one, with
these weights, in `own.known`.
"""

from __future__ import annotations

from distal.model.compiled_draws import inlined
from distal.networks.compiled import REWARD


@inlined
def rewarded(own, running):
    """Return whether m is +1."""
    ep = running.now[0].ep
    if not own.known[0] or ep < own.previous[0]:
        return True
    return ep == own.previous[0] and running.codes.m_ties == REWARD


@inlined
def heard(own, running):
    """Return whether m is +1 as the learner hears it, and keep the EP for the next episode."""
    now = running.now[0]
    plus = rewarded(own, running)
    own.previous[0], own.known[0] = now.ep, True
    return plus != (now.opposite != 0)
