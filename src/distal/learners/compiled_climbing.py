"""Hill climbing and the (1+1) evolution strategy, compiled, to the bit.

Hill climbing is the strategy with a factor of 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distal.learners import evolution_strategy
from distal.learners.compiled_learner import CompiledLearner, forget
from distal.learners.genes import columns
from distal.learners.learner import Learner
from distal.model.compiled_draws import draw, inlined
from distal.model.draws import NOISE
from distal.networks.compiled_network import copy_rows
from distal.networks.network import Network

SMALLEST, LARGEST = evolution_strategy.SMALLEST, evolution_strategy.LARGEST


class Strategies(NamedTuple):
    """The learners of a batch."""

    sigma: Any  # float32 (learners): at first
    factor: Any  # float32 (learners)


class StrategyState(NamedTuple):
    """The best weights so far, and the step."""

    hidden: Any  # float32, as in `Running`
    output: Any
    top: Any  # float64 (1): their EP
    known: Any  # bool (1): whether there are any
    sigma: Any  # float32 (1)


def packed(learners: Sequence[Learner]) -> Strategies:
    """Return the numbers of the learners."""
    sigma, factor = columns(learners, "sigma").ravel(), np.ones(len(learners), np.float32)
    if "factor" in learners[0].names:
        factor = columns(learners, "factor").ravel()
    return Strategies(sigma, factor)


def make(network: Network) -> StrategyState:
    """Return room for the best weights of a network."""
    hidden, output = (np.zeros(shape[::-1], np.float32) for shape in network.shapes)
    return StrategyState(hidden, output, np.zeros(1), np.zeros(1, np.bool_), np.zeros(1, np.float32))


@inlined
def perturbation(running, hidden, output, episode):
    """Draw the deviates of an episode, as `Network.perturbation`."""
    seed, first, purpose = running.now[0].seed, running.hidden.shape[1], np.int64(NOISE)
    draw(hidden, running.hidden_exists, np.int64(0), seed, episode, purpose, running.spare)
    draw(output, running.output_exists, first, seed, episode, purpose, running.spare)


@inlined
def perturb(weights, best, sigma):
    """Turn deviates into the best weights plus σ times each."""
    for p in range(len(weights)):
        for j in range(weights.shape[1]):
            weights[p, j] = best[p, j] + sigma * weights[p, j]


@inlined
def stepped(sigma, factor, success):
    """Return the next step (`evolution_strategy.stepped`)."""
    if success:
        return min(sigma * factor, LARGEST)
    root = np.float32(math.sqrt(np.float32(math.sqrt(factor))))
    return max(sigma / root, min(sigma, SMALLEST))


@inlined
def update(state, learners, running):
    """Replace the best if the episode was strictly better, adapt σ, and try noise on the best."""
    now = running.now[0]
    better = True
    if state.known[0]:
        better = (now.ep < state.top[0]) != (now.opposite != 0)
        state.sigma[0] = stepped(state.sigma[0], learners.factor[now.learner], better)
    else:
        state.sigma[0] = learners.sigma[now.learner]
    if better:
        copy_rows(state.hidden, running.hidden)
        copy_rows(state.output, running.output)
        state.top[0] = now.ep
    state.known[0] = now.moves == 0
    if now.moves != 0:  # the best weights are measured anew
        copy_rows(running.hidden, state.hidden)
        copy_rows(running.output, state.output)
        return
    perturbation(running, running.hidden, running.output, now.episode + 1)
    perturb(running.hidden, state.hidden, state.sigma[0])
    perturb(running.output, state.output, state.sigma[0])


compiled = CompiledLearner(packed, make, forget, update=update)
