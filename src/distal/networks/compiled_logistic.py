"""The logistic function of eight sums, compiled: `recurrent.logistic`, to the bit."""

from __future__ import annotations

import numpy as np

from distal.model.compiled_draws import F0, F1, inlined
from distal.model.lanes import reinterpret, select, splat8
from distal.networks.recurrent import FARTHEST, LN_2_HIGH, LN_2_LOW, LOG2_E, ONE_BITS, SERIES, SHIFT

FAR, LOG2E, SHIFTED, LN2_HIGH, LN2_LOW = map(np.float32, (FARTHEST, LOG2_E, SHIFT, LN_2_HIGH, LN_2_LOW))
E6, E5, E4, E3, E2, E1, E0 = map(np.float32, SERIES)  # of e^u


@inlined
def power8(sums):
    """Return e^-|x| of eight sums (`recurrent.logistic`)."""
    size = reinterpret(reinterpret(sums, np.int32) & splat8(np.int32(0x7FFFFFFF)), np.float32)
    size = select(size > splat8(FAR), splat8(FAR), size)
    shifted = size * splat8(LOG2E) + splat8(SHIFTED)
    whole = shifted - splat8(SHIFTED)
    u = (whole * splat8(LN2_HIGH) - size) + whole * splat8(LN2_LOW)
    power = (splat8(E6) * u + splat8(E5)) * u + splat8(E4)
    power = ((power * u + splat8(E3)) * u + splat8(E2)) * u + splat8(E1)
    power = power * u + splat8(E0)
    scale = splat8(np.int32(ONE_BITS)) - (reinterpret(shifted, np.int32) << splat8(np.int32(23)))
    return power * reinterpret(scale, np.float32)


@inlined
def logistic8(sums):
    """Return the logistic function of eight sums."""
    one = splat8(F1)
    power = power8(sums)
    return select(sums > splat8(F0), one, power) / (one + power)
