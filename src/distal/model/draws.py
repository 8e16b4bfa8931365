"""Random numbers: each one a pure function of a seed and a position.

The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random
Numbers: As Easy as 1, 2, 3", SC 2011). It turns a 64-bit key and a 128-bit
counter into four 32-bit words. The key is the seed of a trial; the counter is
the position:

    word of draw d = philox(counter=(d // 4, lane, episode, purpose), key=seed)[d % 4]

Weights and perturbations use the post-synaptic neuron as lane and the
pre-synaptic index as draw, so a synapse's numbers depend on nothing but its own
place. Only integer operations and +, −, ×, ÷, √ on 32-bit floats are used, so
that every engine gives the same bits (docs/exactness.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distal.base.checks import integer

# What a draw is for: the last word of the counter.
WEIGHTS = 0  # fresh weights
NOISE = 1  # hill climbing's perturbation
ACTION = 2  # the action under outputs="random"
SEED = 3  # the seed of a part of the work, from the seed of the whole
GOAL = 4  # the goal of a later phase, where goals move
HELD_OUT = 5  # the seed of trials that no search sees, from the seed of a search
FLIP = 6  # whether the reward of an episode is turned round
TASK = 7  # the numbers that an episode of a compiled task begins with

MAX_SEED = 2**64 - 1
MAX_COUNT = 2**32 - 1  # episodes and trials are one word of the counter

# Philox's constants; the compiled engines take them from here.
ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)

_LOW_HALF = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


def philox(counter: ArrayLike, key: ArrayLike) -> NDArray[np.uint32]:
    """Return Philox4x32-10 of counters (..., 4) and keys (..., 2), as words (..., 4)."""
    counters, keys = np.asarray(counter, np.uint32), np.asarray(key, np.uint32)
    shape = np.broadcast_shapes(counters.shape[:-1], keys.shape[:-1])
    # Words stand in 64 bits, so that products need no conversion. Words 0 and 2 of all counters are one
    # array, 1 and 3 another: an evolution draws few numbers at a time, and every call of NumPy counts.
    even, odd = np.empty((2, *shape), np.uint64), np.empty((2, *shape), np.uint64)
    even[0], odd[0], even[1], odd[1] = np.moveaxis(counters, -1, 0)
    products = np.empty_like(even)
    multipliers = _pair(MULTIPLIERS, len(shape))[::-1]
    first = np.moveaxis(keys, -1, 0).reshape(2, *(1,) * (len(shape) + 1 - keys.ndim), *keys.shape[:-1])
    rounds = np.arange(ROUNDS, dtype=np.uint64).reshape(-1, *(1,) * first.ndim)
    for round_key in first + rounds * _pair(KEY_STEPS, first.ndim - 1) & _LOW_HALF:
        np.multiply(even[::-1], multipliers, out=products)  # of words 2 and 0, which become words 0 and 2
        np.right_shift(products, _32, out=even)
        odd ^= round_key
        even ^= odd
        np.bitwise_and(products, _LOW_HALF, out=odd)
    words = np.empty((*shape, 4), np.uint32)
    words[..., 0], words[..., 2] = even
    words[..., 1], words[..., 3] = odd
    return words


def _pair(numbers: tuple[int, int], dimensions: int) -> NDArray[np.uint64]:
    """Return two numbers as an array (2, 1, 1, …)."""
    return np.array(numbers, np.uint64).reshape(2, *(1,) * dimensions)


def words(seed: int, purpose: int, episode: int, lanes: range, draws: int) -> NDArray[np.uint32]:
    """Return the words at draws 0, 1, … of each lane, (lanes, draws rounded up to whole blocks of 4)."""
    (drawn,) = words_for(seed, episode, lanes, {purpose: draws})
    return drawn


def words_for(
    seed: int | Sequence[int] | NDArray[np.uint64],
    episode: int | range,
    lanes: range,
    draws: Mapping[int, int],
) -> tuple[NDArray[np.uint32], ...]:
    """Return words for several purposes at once, with a number of draws for each; see `words`.

    With many seeds, every array has one axis more, (seeds, lanes, draws); with many episodes
    another one before it.
    """
    blocks = {purpose: -(-count // 4) for purpose, count in draws.items()}
    many = () if isinstance(episode, int) else (len(episode), *(1,) * (not isinstance(seed, int)))
    counter = np.empty((*many, len(lanes), sum(blocks.values()), 4), np.uint32)
    counter[..., 0] = np.concatenate([np.arange(count) for count in blocks.values()])
    counter[..., 1] = np.asarray(lanes)[:, None]
    counter[..., 2] = np.reshape(episode, (*many, 1, 1))
    counter[..., 3] = np.repeat(list(blocks), list(blocks.values()))
    keys = _keys(np.asarray(seed, np.uint64))
    key = keys if isinstance(seed, int) else keys[:, None, None]
    drawn = philox(counter, key)
    drawn = drawn.reshape(*drawn.shape[:-2], -1)
    return tuple(np.split(drawn, 4 * np.cumsum(list(blocks.values()))[:-1], axis=-1))


def uniform(bits: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Turn words into numbers uniform in [−1, 1): the upper 24 bits, as a signed fraction."""
    return (bits.view(np.int32) >> 8).astype(np.float32) * np.float32(2.0**-23)


# Box–Muller: two words make two independent normal deviates. The first word
# gives the radius, the second the angle. ln, sin and cos are their textbook
# series, cut where the rest is below the resolution of a 32-bit float.
_LN2 = np.float32(0.6931471805599453)
SQRT_HALF_BITS = np.int32(0x3F3504F3)  # √½ as a 32-bit float
_THIRD, _FIFTH, _SEVENTH = np.float32(1 / 3), np.float32(1 / 5), np.float32(1 / 7)
_EIGHTH_TURN = np.float32(np.pi / 4 / 2**31)
_SIN = tuple(np.float32(c) for c in (-1 / 6, 1 / 120, -1 / 5040, 1 / 362880))
_COS = tuple(np.float32(c) for c in (-1 / 2, 1 / 24, -1 / 720, 1 / 40320))


def _minus_ln(bits: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Return −ln((k + ½) / 2^31), with k the upper 31 bits of each word."""
    x = (bits >> np.uint32(1)).astype(np.int32).astype(np.float32) + np.float32(0.5)
    # x = mantissa · 2^exponent with the mantissa in [√½, √2)
    offset = x.view(np.int32) - SQRT_HALF_BITS
    exponent = (offset >> 23).astype(np.float32)
    mantissa = ((offset & np.int32(0x7FFFFF)) + SQRT_HALF_BITS).view(np.float32)
    # ln(mantissa) = 2 artanh(s) = 2 (s + s³/3 + s⁵/5 + s⁷/7 + …)
    one = np.float32(1)
    s = (mantissa - one) / (mantissa + one)
    z = s * s
    series = ((_SEVENTH * z + _FIFTH) * z + _THIRD) * z + one
    result: NDArray[np.float32] = (np.float32(31) - exponent) * _LN2 - (s + s) * series
    return result


def normals(bits: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Turn words (..., 2n) into independent standard normal deviates, pair by pair."""
    radius_bits, angle_bits = bits[..., 0::2], bits[..., 1::2]
    y = _minus_ln(radius_bits)
    radius = np.sqrt(y + y)
    # The upper two bits choose a quarter turn, the others an angle in [−π/4, π/4] around it.
    quarter = angle_bits >> np.uint32(30)
    x = (angle_bits << np.uint32(2)).view(np.int32).astype(np.float32) * _EIGHTH_TURN
    z = x * x
    one = np.float32(1)
    sine = ((((_SIN[3] * z + _SIN[2]) * z + _SIN[1]) * z + _SIN[0]) * z + one) * x
    cosine = (((_COS[3] * z + _COS[2]) * z + _COS[1]) * z + _COS[0]) * z + one
    swap = (quarter & 1) == 1  # one or three quarter turns
    first, second = np.where(swap, sine, cosine), np.where(swap, cosine, sine)
    first = np.where((quarter == 1) | (quarter == 2), -first, first)
    second = np.where(quarter >= 2, -second, second)
    result = np.empty(bits.shape, np.float32)
    result[..., 0::2], result[..., 1::2] = radius * first, radius * second
    return result


def words_of(seeds: NDArray[np.uint64], purpose: int, draws: int) -> NDArray[np.uint32]:
    """Return the words at draws 0, 1, … of each seed, in lane 0 of episode 0, (seeds, draws)."""
    (drawn,) = words_for(seeds, 0, range(1), {purpose: draws})
    return drawn[:, 0, :draws]


def _keys(seeds: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Split seeds into keys (..., 2), low word first."""
    return np.stack([seeds & _LOW_HALF, seeds >> _32], axis=-1).astype(np.uint32)


def choice(bits: np.uint32, n: int) -> int:
    """Turn one word into a whole number uniform in 0 … n − 1."""
    return (int(bits) * n) >> 32


def child_seed(seed: int, first: int, second: int = 0, third: int = 0) -> int:
    """Return the seed of part (first, second, third) of the work that has this seed.

    Args:
        seed: The seed of the work.
        first: The first number of the part.
        second: The second.
        third: The third.

    Returns:
        A seed, independent of the seeds of other parts.

    Raises:
        InputError: If a number is out of its range.
    """
    part = [integer("part", one, 0, MAX_COUNT) for one in (first, second, third)]
    return int(child_seeds(integer("seed", seed, 0, MAX_SEED), [part])[0])


def held_out_seed(seed: int) -> int:
    """Return the seed of trials on which nothing is selected: no part of the work of this seed has it."""
    low, high = words(seed, HELD_OUT, 0, range(1), 2)[0, :2].tolist()
    return int(high) << 32 | int(low)


def child_seeds(seed: int | NDArray[np.uint64], parts: ArrayLike) -> NDArray[np.uint64]:
    """Return the seeds of parts (..., 3) of the work that has a seed; many seeds (...) are broadcast."""
    places = np.asarray(parts, np.uint32)
    counter = np.concatenate([places, np.full((*places.shape[:-1], 1), SEED, np.uint32)], axis=-1)
    words = philox(counter, _keys(np.asarray(seed, np.uint64))).astype(np.uint64)
    children: NDArray[np.uint64] = words[..., 1] << np.uint64(32) | words[..., 0]
    return children
