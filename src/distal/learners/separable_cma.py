"""Separable CMA-ES over the weights: evolution of the weights themselves, in the episodes of a trial.

Ros, Hansen: "A Simple Modification in CMA-ES Achieving Linear Time and Space Complexity" (PPSN 2008).

Each episode runs a network drawn from a normal distribution with a variance for every weight; when a
generation is complete, the distribution moves towards its better networks. The population has the usual
size, 4 + ⌊3 ln n⌋ for n weights: 23 in the maze. The first mean is the fresh weights, which the first
episode runs. No traces, no normalisation.

It is written out here, in 32-bit floats and a fixed order, and not taken from a library: libraries sum in
the order of the machine, and every engine has to give the same bits. tests/learners/test_separable_cma.py
compares it with the package cmaes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from distal.learners.evolution_strategy import LARGEST, SMALLEST
from distal.learners.learner import Kept, Learner, Memory, Trial, flipped
from distal.networks.episode import Episode
from distal.networks.network import Network, Weights, ordered_sum
from distal.networks.recurrent import falling

_Vector = NDArray[np.float32]


class Constants(NamedTuple):
    """The constants for a number of weights (Hansen: "The CMA Evolution Strategy: A Tutorial", table 1)."""

    population: int
    weights: NDArray[np.float32]  # of the better half, the best first; their sum is 1
    step_rate: np.float32  # c_σ
    step_gain: np.float32  # √(c_σ (2 − c_σ) μ_eff)
    damping: np.float32  # c_σ / d_σ
    rate: np.float32  # c_c
    gain: np.float32  # √(c_c (2 − c_c) μ_eff)
    rank_one: np.float32  # c_1
    rank_mu: np.float32  # c_μ
    stalled: np.float32  # c_1 c_c (2 − c_c)
    length: np.float32  # the expected length of a normal deviate in n dimensions
    longest: np.float32  # (1.4 + 2 / (n + 1)) times that


@cache
def constants(n: int) -> Constants:
    """Return the constants for n weights, rounded so that they are the same on every machine."""
    population = 4 + math.floor(3 * math.log(n))
    better = population // 2
    raw = [math.log(better + 1) - math.log(rank) for rank in range(1, better + 1)]
    weights = [one / sum(raw) for one in raw]
    effective = 1 / sum(one**2 for one in weights)
    step_rate = (effective + 2) / (n + effective + 3)
    damping = 1 + 2 * max(0.0, math.sqrt((effective - 1) / (n + 1)) - 1) + step_rate
    rate = 4 / (n + 4)
    rank_one = 2 / ((n + 1.3) ** 2 + effective)
    # Ros and Hansen: a diagonal is learned (n + 2) / 3 times as fast as a whole matrix.
    whole = 2 / effective / (n + math.sqrt(2)) ** 2
    whole += (1 - 1 / effective) * min(1.0, (2 * effective - 1) / ((n + 2) ** 2 + effective))
    length = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))
    return Constants(
        population,
        np.array([_rounded(one) for one in weights]),
        _rounded(step_rate),
        _rounded(math.sqrt(step_rate * (2 - step_rate) * effective)),
        _rounded(step_rate / damping),
        _rounded(rate),
        _rounded(math.sqrt(rate * (2 - rate) * effective)),
        _rounded(rank_one),
        _rounded((n + 2) / 3 * whole),
        _rounded(rank_one * rate * (2 - rate)),
        _rounded(length),
        _rounded((1.4 + 2 / (n + 1)) * length),
    )


def _rounded(value: float) -> np.float32:
    """Round to six digits, which no C library's logarithm differs in, and then to 32 bits."""
    return np.float32(f"{value:.6g}")


class Distribution(NamedTuple):
    """A normal distribution of weights, and the paths by which it moves; arrays have an entry a synapse."""

    mean: NDArray[np.float32]
    variance: NDArray[np.float32]
    step_path: NDArray[np.float32]  # p_σ
    path: NDArray[np.float32]  # p_c
    sigma: np.float32
    young: np.float32  # (1 − c_σ)^(2 (g + 1)) after g generations


def first_distribution(mean: NDArray[np.float32], sigma: np.float32) -> Distribution:
    """Return the distribution before the first generation."""
    one, none = np.ones_like(mean), np.zeros_like(mean)
    left = np.float32(1) - constants(len(mean)).step_rate
    return Distribution(mean, one, none, none.copy(), sigma, left * left)


def drawn(before: Distribution, noise: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the weights that some deviates stand for."""
    return before.mean + before.sigma * (np.sqrt(before.variance) * noise)


def moved(before: Distribution, noise: list[NDArray[np.float32]]) -> Distribution:
    """Return the next distribution, from the deviates of a generation, the best first."""
    c, one = constants(len(before.mean)), np.float32(1)
    width = np.sqrt(before.variance)
    step: _Vector = np.zeros_like(width)
    squares: _Vector = np.zeros_like(width)
    for weight, own in zip(c.weights, noise, strict=False):
        y = width * own
        step = step + weight * y
        squares = squares + weight * (y * y)
    mean: _Vector = before.mean + before.sigma * step
    left = one - c.step_rate
    moved_by: _Vector = np.divide(step, width)
    step_path: _Vector = left * before.step_path + c.step_gain * moved_by
    length = np.sqrt(ordered_sum(step_path * step_path))
    young = before.young * (left * left)
    moving = length < c.longest * np.sqrt(one - young)  # else the path pauses
    path: _Vector = (one - c.rate) * before.path
    kept = one - c.rank_one - c.rank_mu
    if moving:
        path = path + c.gain * step
    else:
        kept = kept + c.stalled
    variance: _Vector = kept * before.variance + c.rank_one * (path * path) + c.rank_mu * squares
    growth = c.damping * (length / c.length - one)
    change = falling(np.minimum(np.abs(growth), one)[None])[0]  # e to the power of minus its size
    sigma = before.sigma / change if growth > 0 else before.sigma * change
    lowest, highest = min(before.sigma, SMALLEST), LARGEST
    return Distribution(mean, variance, step_path, path, min(max(sigma, lowest), highest), young)


def flat(network: Network, weights: Weights) -> NDArray[np.float32]:
    """Return the weights of all synapses as one array, row after row, the hidden neurons first."""
    hidden, output = network.synapses()
    return np.concatenate([weights.hidden[hidden], weights.output[output]])


def unflat(network: Network, numbers: NDArray[np.float32]) -> Weights:
    """Return the weights that `flat` made one array of."""
    (hidden, output), none = network.synapses(), np.float32(0)
    first, second = np.full(hidden.shape, none), np.full(output.shape, none)
    first[hidden], second[output] = np.split(numbers, [int(hidden.sum())])
    return network.weights(first, second)


@dataclass(frozen=True)
class SeparableCMA(Learner):
    """The parameters of separable CMA-ES.

    Args:
        sigma: The scale of the noise at first, in [0, 1].
        alpha_h: The scale of recurrent sums in the network, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: Its name.

    Raises:
        InputError: If a number is out of its range.
    """

    sigma: float
    alpha_h: float
    alpha_o: float
    name: str = ""

    kind: ClassVar[str] = "cma"
    label: ClassVar[str] = "CMA-ES"
    file_format: ClassVar[str] = "distal-cma"
    names: ClassVar[tuple[str, ...]] = ("sigma", "alpha_h", "alpha_o")
    genes: ClassVar[tuple[int, int] | None] = (0, len(names))
    compiled: ClassVar[str | None] = "distal.learners.compiled_separable_cma"
    ignores: ClassVar[tuple[str, ...]] = ("m_ties", "trace_pre", "normalise")

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        """Record the network's EP, move the distribution after a generation, and draw the next network."""
        kept: dict[str, Any] = dict(memory.kept)
        eps, following = kept.pop("eps", None), episode.number + 1
        if eps is None:  # the first weights are the mean, and none of its generations
            eps = np.zeros(0)
            distribution = first_distribution(flat(network, episode.weights), np.float32(self.sigma))
        else:
            sigma, young = np.float32(kept.pop("sigma")), np.float32(kept.pop("young"))
            distribution = Distribution(**kept, sigma=sigma, young=young)
            eps = np.append(eps, episode.ep)
            if len(eps) == constants(len(distribution.mean)).population:
                own = range(following - len(eps), following)  # the episodes of this generation
                opposite = np.array([flipped(network.settings, trial, one) for one in own])
                ranked = np.argsort(np.where(opposite, eps.min() + eps.max() - eps, eps), kind="stable")
                noise = [flat(network, network.perturbation(trial.seed, own[k])) for k in ranked]
                distribution, eps = moved(distribution, noise), np.zeros(0)
        if trial.moves_at(following):
            return Memory(unflat(network, distribution.mean))
        weights = drawn(distribution, flat(network, network.perturbation(trial.seed, following)))
        numbers = {"sigma": float(distribution.sigma), "young": float(distribution.young)}
        state = cast("dict[str, Kept]", {**distribution._asdict(), **numbers, "eps": eps})
        return Memory(unflat(network, weights), state)
