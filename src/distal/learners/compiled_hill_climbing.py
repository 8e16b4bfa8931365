"""Hill climbing, compiled: `hill_climbing`, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distal.learners.compiled import CompiledLearner, numbers_of
from distal.learners.hill_climbing import NUMBERS
from distal.learners.learner import Learner
from distal.model.compiled_draws import draw, inlined
from distal.model.draws import NOISE
from distal.networks.compiled import copy_rows
from distal.networks.network import Network

SIGMA = NUMBERS.index("sigma")


class Given(NamedTuple):
    """The climbers of a batch."""

    sigma: Any  # float32 (climbers)


class Own(NamedTuple):
    """The best weights so far."""

    hidden: Any  # float32, as in `Running`
    output: Any
    top: Any  # float64 (1): their EP
    known: Any  # bool (1): whether there are any


def given(learners: Sequence[Learner]) -> Given:
    """Return the scales of the noise."""
    return Given(numbers_of(learners)[:, SIGMA].astype(np.float32))


def make(network: Network) -> Own:
    """Return room for the best weights of a network."""
    hidden, output = (np.zeros(shape[::-1], np.float32) for shape in network.shapes)
    return Own(hidden, output, np.zeros(1), np.zeros(1, np.bool_))


@inlined
def fresh(own, given, running):
    """Begin a new climb."""
    own.known[0] = False


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
def update(own, given, running):
    """Replace the best if the episode was strictly better, and try noise on the best."""
    now = running.now[0]
    if not own.known[0] or (now.ep < own.top[0]) != (now.opposite != 0):
        copy_rows(own.hidden, running.hidden)
        copy_rows(own.output, running.output)
        own.top[0] = now.ep
    own.known[0] = now.moves == 0
    if now.moves != 0:  # the best weights are measured anew
        copy_rows(running.hidden, own.hidden)
        copy_rows(running.output, own.output)
        return
    sigma = given.sigma[now.learner]
    perturbation(running, running.hidden, running.output, now.episode + 1)
    perturb(running.hidden, own.hidden, sigma)
    perturb(running.output, own.output, sigma)


compiled = CompiledLearner(given, make, fresh=fresh, update=update)
