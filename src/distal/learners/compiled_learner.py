"""The compiled part of a learner, which engine steps calls in its place.

A learner names the module that holds one in its attribute `compiled`: a `CompiledLearner` of that name,
functions in Numba's subset of Python. They take `state`, the arrays that the learner keeps for one
network (traces, best weights, anything of 32 or 64 bits), `learners`, all learners of a batch as arrays, and
`running`, a network at work (`networks.compiled_network.Running`), whose weights they change.
`running.now[0]` has the seed of the trial, the number of the learner in `learners`, the episode, the step
and the EP.

    compiled = CompiledLearner(packed, make, fresh, begin, step, update)

A function that has nothing to do is `nothing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.learners.genes import Decoded
from distal.learners.learner import Learner
from distal.model.compiled_draws import inlined
from distal.networks.network import Network


@inlined
def nothing(state, learners, running):
    """Do nothing."""


@inlined
def unchanged(state, running):
    """Return the weights that there are: they do not change within an episode."""
    return running.hidden, running.output


class Nothing(NamedTuple):
    """The arrays of a learner that needs none; Numba has no empty ones."""

    none: Any = np.zeros(1, np.uint8)


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

    packed: Callable[[Sequence[Learner]], Any]
    make: Callable[[Network], Any]
    fresh: Callable[..., Any] = nothing
    begin: Callable[..., Any] = nothing
    step: Callable[..., Any] = nothing
    update: Callable[..., Any] = nothing
    began: Callable[..., Any] = unchanged


def numbers_of(learners: Sequence[Learner]) -> NDArray[np.float64]:
    """Return the numbers of learners of one kind, (learners, numbers), in the order of `names`."""
    if isinstance(learners, Decoded):
        return learners.numbers
    return np.array([list(one.numbers.values()) for one in learners], np.float64).reshape(len(learners), -1)
