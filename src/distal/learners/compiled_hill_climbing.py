"""Hill climbing, compiled: `hill_climbing`, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distal.learners.compiled_learner import CompiledLearner, numbers_of
from distal.learners.hill_climbing import NUMBERS
from distal.learners.learner import Learner
from distal.model.compiled_draws import draw, inlined
from distal.model.draws import NOISE
from distal.networks.compiled_network import copy_rows
from distal.networks.network import Network

SIGMA = NUMBERS.index("sigma")


class Climbers(NamedTuple):
    """The climbers of a batch."""

    sigma: Any  # float32 (climbers)


class ClimbState(NamedTuple):
    """The best weights so far."""

    hidden: Any  # float32, as in `Running`
    output: Any
    top: Any  # float64 (1): their EP
    known: Any  # bool (1): whether there are any


def packed(learners: Sequence[Learner]) -> Climbers:
    """Return the scales of the noise."""
    return Climbers(numbers_of(learners)[:, SIGMA].astype(np.float32))


def make(network: Network) -> ClimbState:
    """Return room for the best weights of a network."""
    hidden, output = (np.zeros(shape[::-1], np.float32) for shape in network.shapes)
    return ClimbState(hidden, output, np.zeros(1), np.zeros(1, np.bool_))


@inlined
def fresh(state, learners, running):
    """Begin a new climb."""
    state.known[0] = False


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
def update(state, learners, running):
    """Replace the best if the episode was strictly better, and try noise on the best."""
    now = running.now[0]
    if not state.known[0] or (now.ep < state.top[0]) != (now.opposite != 0):
        copy_rows(state.hidden, running.hidden)
        copy_rows(state.output, running.output)
        state.top[0] = now.ep
    state.known[0] = now.moves == 0
    if now.moves != 0:  # the best weights are measured anew
        copy_rows(running.hidden, state.hidden)
        copy_rows(running.output, state.output)
        return
    sigma = learners.sigma[now.learner]
    perturbation(running, running.hidden, running.output, now.episode + 1)
    perturb(running.hidden, state.hidden, sigma)
    perturb(running.output, state.output, sigma)


compiled = CompiledLearner(packed, make, fresh=fresh, update=update)
