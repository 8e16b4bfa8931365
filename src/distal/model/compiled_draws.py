"""Random numbers for compiled code: `draws`, eight at a time, to the bit.

These functions are inlined where they are used.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from distal.model.draws import KEY_STEPS, MULTIPLIERS, ROUNDS, SQRT_HALF_BITS, WEIGHTS
from distal.model.lanes import (
    convert,
    iota8,
    lane,
    pointer,
    reinterpret,
    root,
    select,
    splat8,
    store,
)

F0, F1 = np.float32(0), np.float32(1)
MULTIPLIER0, MULTIPLIER1 = map(np.uint64, MULTIPLIERS)
KEY_STEP0, KEY_STEP1 = map(np.uint32, KEY_STEPS)

inlined = njit(error_model="numpy", forceinline=True)
# Large parts stay functions: in one piece they take each other's registers, which costs a tenth of the time.
# Not to say so would be to inherit the option from a caller that is inlined.
called = njit(error_model="numpy", forceinline=False)


@inlined
def philox8(c0, c1, c2, c3, seed):
    """Philox4x32-10 of eight counters with one key."""
    multiplier0, multiplier1 = splat8(MULTIPLIER0), splat8(MULTIPLIER1)
    shift = splat8(np.uint64(32))
    k0, k1 = np.uint32(seed & np.uint64(0xFFFFFFFF)), np.uint32(seed >> np.uint64(32))
    for _ in range(ROUNDS):
        p0 = convert(c0, np.uint64) * multiplier0
        p1 = convert(c2, np.uint64) * multiplier1
        c0, c1, c2, c3 = (
            convert(p1 >> shift, np.uint32) ^ c1 ^ splat8(k0),
            convert(p1, np.uint32),
            convert(p0 >> shift, np.uint32) ^ c3 ^ splat8(k1),
            convert(p0, np.uint32),
        )
        k0, k1 = np.uint32(k0 + KEY_STEP0), np.uint32(k1 + KEY_STEP1)
    return c0, c1, c2, c3


@inlined
def uniform8(word):
    """Turn words into numbers uniform in [−1, 1)."""
    return convert(reinterpret(word, np.int32) >> splat8(np.int32(8)), np.float32) * splat8(
        np.float32(2.0**-23)
    )


@inlined
def minus_ln8(word):
    """Return −ln((k + ½) / 2^31), with k the upper 31 bits of each word."""
    one = splat8(F1)
    x = convert(reinterpret(word >> splat8(np.uint32(1)), np.int32), np.float32) + splat8(np.float32(0.5))
    root_half = splat8(SQRT_HALF_BITS)
    offset = reinterpret(x, np.int32) - root_half
    exponent = convert(offset >> splat8(np.int32(23)), np.float32)
    mantissa = reinterpret((offset & splat8(np.int32(0x7FFFFF))) + root_half, np.float32)
    s = (mantissa - one) / (mantissa + one)
    z = s * s
    series = (splat8(np.float32(1 / 7)) * z + splat8(np.float32(1 / 5))) * z + splat8(np.float32(1 / 3))
    series = series * z + one
    return (splat8(np.float32(31)) - exponent) * splat8(np.float32(0.6931471805599453)) - (s + s) * series


@inlined
def normals8(radius_word, angle_word):
    """Turn eight pairs of words into eight pairs of normal deviates."""
    y = minus_ln8(radius_word)
    radius = root(y + y)
    one = splat8(F1)
    x = convert(reinterpret(angle_word << splat8(np.uint32(2)), np.int32), np.float32)
    x = x * splat8(np.float32(np.pi / 4 / 2**31))
    z = x * x
    sine = splat8(np.float32(1 / 362880)) * z + splat8(np.float32(-1 / 5040))
    sine = (((sine * z + splat8(np.float32(1 / 120))) * z + splat8(np.float32(-1 / 6))) * z + one) * x
    cosine = splat8(np.float32(1 / 40320)) * z + splat8(np.float32(-1 / 720))
    cosine = ((cosine * z + splat8(np.float32(1 / 24))) * z + splat8(np.float32(-1 / 2))) * z + one
    quarter = angle_word >> splat8(np.uint32(30))
    swap = (quarter & splat8(np.uint32(1))) == splat8(np.uint32(1))
    first, second = select(swap, sine, cosine), select(swap, cosine, sine)
    # Signs are the upper bit of a float: negative first for quarters 1 and 2, second for 2 and 3.
    sign1 = ((quarter + splat8(np.uint32(1))) & splat8(np.uint32(2))) << splat8(np.uint32(30))
    sign2 = (quarter & splat8(np.uint32(2))) << splat8(np.uint32(30))
    first = reinterpret(reinterpret(first, np.uint32) ^ sign1, np.float32)
    second = reinterpret(reinterpret(second, np.uint32) ^ sign2, np.float32)
    return radius * first, radius * second


@inlined
def four_rows(c0, c1, episode, purpose, seed, sigma):
    """Draw four numbers for each of eight neurons: uniform weights, or σ times a normal deviate."""
    w0, w1, w2, w3 = philox8(c0, c1, splat8(np.uint32(episode)), splat8(np.uint32(purpose)), seed)
    if purpose == WEIGHTS:
        return uniform8(w0), uniform8(w1), uniform8(w2), uniform8(w3)
    scale = splat8(sigma)
    z0, z1 = normals8(w0, w1)
    z2, z3 = normals8(w2, w3)
    return scale * z0, scale * z1, scale * z2, scale * z3


@inlined
def draw_words(words, first, seed, episode, purpose):
    """Write 32 words of lane 0 to `words`, a pointer: those of the draws from `first` on, a multiple of 4."""
    blocks = iota8() + splat8(np.uint32(first >> 2))
    zero = splat8(np.uint32(0))
    w0, w1, w2, w3 = philox8(blocks, zero, splat8(np.uint32(episode)), splat8(np.uint32(purpose)), seed)
    for k in range(8):
        words[4 * k] = lane(w0, k)
        words[4 * k + 1] = lane(w1, k)
        words[4 * k + 2] = lane(w2, k)
        words[4 * k + 3] = lane(w3, k)


@inlined
def _put(into, exists, p, first, drawn, spare):
    """Write what was drawn for eight neurons to row `p`, and 0 where there is no synapse."""
    columns, neurons = into.shape
    if p >= columns:
        return
    store(pointer(spare), np.int64(0), drawn)
    for k in range(min(8, neurons - first)):
        into[p, first + k] = spare[k] if exists[p, first + k] else F0


@called
def draw(into, exists, first_lane, seed, episode, purpose, spare):
    """Draw a number for every synapse: fresh weights, or normal deviates.

    into and exists (columns, neurons): by pre-synaptic index and post-synaptic neuron, whose lanes begin
    with `first_lane`; spare: eight numbers.
    """
    columns, neurons = into.shape
    for first in range(0, neurons, 8):
        lanes = iota8() + splat8(np.uint32(first_lane + first))
        for block in range(-(-columns // 4)):
            r0, r1, r2, r3 = four_rows(splat8(np.uint32(block)), lanes, episode, purpose, seed, F1)
            _put(into, exists, 4 * block, first, r0, spare)
            _put(into, exists, 4 * block + 1, first, r1, spare)
            _put(into, exists, 4 * block + 2, first, r2, spare)
            _put(into, exists, 4 * block + 3, first, r3, spare)
