"""Separable CMA-ES, compiled: `separable_cma`, to the bit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distal.learners.compiled_climbing import LARGEST, SMALLEST, perturbation
from distal.learners.compiled_learner import CompiledLearner
from distal.learners.genes import columns
from distal.learners.learner import Learner
from distal.learners.separable_cma import Constants, constants
from distal.model.compiled_draws import F0, F1, called, inlined
from distal.model.lanes import lane, splat8
from distal.networks.compiled_logistic import power8
from distal.networks.compiled_network import copy_rows
from distal.networks.network import Network

# The places of numbers in `CmaState.constants`; the first two of `Constants` are no such numbers.
STEP_RATE, STEP_GAIN, DAMPING, RATE, GAIN, RANK_ONE, RANK_MU, STALLED, LENGTH, LONGEST = range(10)


class Deviations(NamedTuple):
    """The learners of a batch."""

    sigma: Any  # float32 (learners): at first


class Layer(NamedTuple):
    """The distribution of the weights into a layer; all float32, as `Running.hidden`."""

    mean: Any
    variance: Any
    step_path: Any
    path: Any
    noise: Any
    step: Any  # the mean step of the better half of a generation
    squares: Any


class CmaState(NamedTuple):
    """A distribution, and the generation under way."""

    hidden: Layer
    output: Layer
    eps: Any  # float64 (population)
    opposite: Any  # bool (population): whether the learner hears the opposite of the EP
    ranked: Any  # int64 (population)
    count: Any  # int64 (1): how many of the generation have run; −1 before the first distribution
    sigma: Any  # float32 (1)
    young: Any  # float32 (1)
    weights: Any  # float32 (better half)
    constants: Any  # float32 (10)


def packed(learners: Sequence[Learner]) -> Deviations:
    """Return the first scales of the noise."""
    return Deviations(columns(learners, "sigma").ravel())


def make(network: Network) -> CmaState:
    """Return room for a distribution over the weights of a network."""
    layers = [Layer(*(np.zeros(shape[::-1], np.float32) for _ in Layer._fields)) for shape in network.shapes]
    c = constants(sum(int(mask.sum()) for mask in network.synapses()))
    numbers = np.array(c[Constants._fields.index("step_rate") :], np.float32)
    return CmaState(
        layers[0], layers[1], np.zeros(c.population), np.zeros(c.population, np.bool_),
        np.zeros(c.population, np.int64), np.full(1, -1, np.int64), np.zeros(1, np.float32),
        np.zeros(1, np.float32), c.weights, numbers,
    )  # fmt: skip


@inlined
def fresh(state, learners, running):
    """Begin anew: the next weights are the mean."""
    state.count[0] = -1


@inlined
def root(number):
    """Return the square root, a 32-bit float."""
    return np.float32(math.sqrt(number))


@called
def start(layer, weights):
    """Make weights the mean of a distribution that knows nothing yet."""
    for p in range(len(weights)):
        for j in range(weights.shape[1]):
            layer.mean[p, j] = weights[p, j]
            layer.variance[p, j] = F1
            layer.step_path[p, j] = layer.path[p, j] = F0


@called
def mirror(eps, opposite):
    """Mirror the EPs that a learner hears the opposite of within their generation."""
    low, high = min(eps), max(eps)
    for k in range(len(eps)):
        if opposite[k]:
            eps[k] = low + high - eps[k]


@called
def rank(eps, ranked):
    """Rank a generation, the lowest EP first, and the first of equals."""
    for k in range(len(eps)):
        at = k
        while at > 0 and eps[ranked[at - 1]] > eps[k]:
            ranked[at] = ranked[at - 1]
            at -= 1
        ranked[at] = k


@called
def clear_steps(layer):
    """Begin the sums over a generation."""
    for p in range(len(layer.step)):
        for j in range(layer.step.shape[1]):
            layer.step[p, j] = layer.squares[p, j] = F0


@called
def add(layer, weight):
    """Add the deviates of a network to the sums over its generation."""
    for p in range(len(layer.step)):
        for j in range(layer.step.shape[1]):
            y = root(layer.variance[p, j]) * layer.noise[p, j]
            layer.step[p, j] += weight * y
            layer.squares[p, j] += weight * (y * y)


@called
def step_on(layer, sigma, rate, gain):
    """Move the mean and the step path."""
    left = F1 - rate
    for p in range(len(layer.step)):
        for j in range(layer.step.shape[1]):
            layer.mean[p, j] += sigma * layer.step[p, j]
            along = layer.step[p, j] / root(layer.variance[p, j])
            layer.step_path[p, j] = left * layer.step_path[p, j] + gain * along


@called
def squared(layer, exists, total):
    """Add the square of the step path to a sum: row after row of synapses, in their order."""
    for j in range(exists.shape[1]):
        for p in range(len(exists)):
            if exists[p, j]:
                total += layer.step_path[p, j] * layer.step_path[p, j]
    return total


@called
def widen(layer, c, moving):
    """Move the path and the variances."""
    left, kept = F1 - c[RATE], F1 - c[RANK_ONE] - c[RANK_MU]
    if not moving:
        kept = kept + c[STALLED]
    for p in range(len(layer.step)):
        for j in range(layer.step.shape[1]):
            path = left * layer.path[p, j]
            if moving:
                path = path + c[GAIN] * layer.step[p, j]
            layer.path[p, j] = path
            spread = kept * layer.variance[p, j] + c[RANK_ONE] * (path * path)
            layer.variance[p, j] = spread + c[RANK_MU] * layer.squares[p, j]


@called
def draw_from(layer, weights, exists, sigma):
    """Turn deviates into weights."""
    for p in range(len(weights)):
        for j in range(weights.shape[1]):
            if exists[p, j]:
                deviate = root(layer.variance[p, j]) * layer.noise[p, j]
                weights[p, j] = layer.mean[p, j] + sigma * deviate


@inlined
def move(state, running):
    """Move the distribution by the generation that is complete."""
    c, first = state.constants, running.now[0].episode + 1 - len(state.eps)
    mirror(state.eps, state.opposite)
    rank(state.eps, state.ranked)
    clear_steps(state.hidden)
    clear_steps(state.output)
    for k in range(len(state.weights)):
        perturbation(running, state.hidden.noise, state.output.noise, first + state.ranked[k])
        add(state.hidden, state.weights[k])
        add(state.output, state.weights[k])
    sigma, left = state.sigma[0], F1 - c[STEP_RATE]
    step_on(state.hidden, sigma, c[STEP_RATE], c[STEP_GAIN])
    step_on(state.output, sigma, c[STEP_RATE], c[STEP_GAIN])
    total = squared(state.output, running.output_exists, squared(state.hidden, running.hidden_exists, F0))
    length = root(total)
    state.young[0] = state.young[0] * (left * left)
    moving = length < c[LONGEST] * root(F1 - state.young[0])
    widen(state.hidden, c, moving)
    widen(state.output, c, moving)
    growth = c[DAMPING] * (length / c[LENGTH] - F1)
    change = lane(power8(splat8(min(abs(growth), F1))), 0)
    following = sigma / change if growth > F0 else sigma * change
    state.sigma[0] = min(max(following, min(sigma, SMALLEST)), LARGEST)


@inlined
def update(state, learners, running):
    """Record the network's EP, move the distribution after a generation, and draw the next network."""
    now = running.now[0]
    if state.count[0] < 0:
        start(state.hidden, running.hidden)
        start(state.output, running.output)
        left = F1 - state.constants[STEP_RATE]
        state.sigma[0], state.young[0], state.count[0] = learners.sigma[now.learner], left * left, 0
    else:
        state.eps[state.count[0]], state.opposite[state.count[0]] = now.ep, now.opposite != 0
        state.count[0] += 1
        if state.count[0] == len(state.eps):
            move(state, running)
            state.count[0] = 0
    if now.moves != 0:  # the mean is measured, and is the first of another distribution
        copy_rows(running.hidden, state.hidden.mean)
        copy_rows(running.output, state.output.mean)
        state.count[0] = -1
        return
    perturbation(running, state.hidden.noise, state.output.noise, now.episode + 1)
    draw_from(state.hidden, running.hidden, running.hidden_exists, state.sigma[0])
    draw_from(state.output, running.output, running.output_exists, state.sigma[0])


compiled = CompiledLearner(packed, make, fresh=fresh, update=update)
