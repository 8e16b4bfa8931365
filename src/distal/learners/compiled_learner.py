"""The compiled part of a learner, which engine steps calls in its place.

A learner names the module that holds one in its attribute `compiled`: a `CompiledLearner` of that name,
functions in Numba's subset of Python. They take `state`, the arrays that the learner keeps for one
network (traces, best weights, anything of 32 or 64 bits), `learners`, all learners of a batch as arrays, and
`running`, a network at work (`networks.compiled_network.Running`), whose weights they change.
`running.now[0]` has the seed of the trial, the number of the learner in `learners`, the episode, the step
and the EP.

    compiled = CompiledLearner(packed, make, fresh, begin, step, update)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from distal.learners.learner import Learner
from distal.model.compiled_draws import inlined
from distal.networks.compiled_network import REWARD
from distal.networks.network import Network


@inlined
def nothing(state, learners, running):
    """Do nothing."""


@inlined
def forget(state, learners, running):
    """Forget that there was an episode before, with these weights: `state.known` says whether there was."""
    state.known[0] = False


@inlined
def heard(state, running):
    """Return whether m is +1 as the learner hears it (`modulation`), and keep the EP in `state.previous`."""
    now = running.now[0]
    plus = not state.known[0] or now.ep < state.previous[0]
    if not plus:
        plus = now.ep == state.previous[0] and running.codes.m_ties == REWARD
    state.previous[0], state.known[0] = now.ep, True
    return plus != (now.opposite != 0)


@inlined
def unchanged(state, running):
    """Return the weights that there are: they do not change within an episode."""
    return running.hidden, running.output


class Nothing(NamedTuple):
    """The arrays of a learner that needs none; Numba has no empty ones."""

    none: Any = np.zeros(1, np.uint8)


def none_packed(learners: Sequence[Learner]) -> Nothing:
    """Return nothing: the networks take all that there is of the numbers."""
    return Nothing()


def none_kept(network: Network) -> Nothing:
    """Return nothing: the learner remembers nothing."""
    return Nothing()


@dataclass(frozen=True)
class CompiledLearner:
    """A learner's compiled part.

    Attributes:
        packed: Returns learners as arrays, one row each, as a NamedTuple.
        make: Returns the arrays that a learner keeps for a network, as a NamedTuple.
        fresh: The weights of `running` have just been drawn afresh: forget what is past.
        begin: An episode begins.
        step: A step has been taken: `into_hidden` and `into_output` say what was active before the
            synapses, `active` and `outputs` what is active behind them.
        update: The episode has ended, and another one follows: change the weights.
        began: began(state, running): the weights with which the episode began, if they change within it.
    """

    packed: Callable[[Sequence[Learner]], Any] = none_packed
    make: Callable[[Network], Any] = none_kept
    fresh: Callable[..., Any] = nothing
    begin: Callable[..., Any] = nothing
    step: Callable[..., Any] = nothing
    update: Callable[..., Any] = nothing
    began: Callable[..., Any] = unchanged
