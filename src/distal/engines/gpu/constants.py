"""The constants that a kernel is compiled for."""

from __future__ import annotations

import numpy as np

from distal.engines.compiled_engine import flags
from distal.engines.gpu.packing import Layout, in_spot
from distal.model.draws import ACTION, KEY_STEPS, MULTIPLIERS, NOISE, ROUNDS, SQRT_HALF_BITS, WEIGHTS
from distal.model.settings import Settings
from distal.networks.recurrent import FARTHEST, LN_2_HIGH, LN_2_LOW, LOG2_E, ONE_BITS, SERIES, SHIFT
from distal.tasks.table import EVENT_BITS

WAITING = 32  # long trials that may wait for a warp that runs fast

# The flags of the kernel that each value of a reading sets.
FLAGS: dict[str, dict[str, tuple[str, ...]]] = {
    "neurons": {"binary": (), "sigmoid": ("SIGMOID",)},
    "outputs": {"winner": ("WINNER",), "binary": ("BINARY",), "random": ("RANDOM",)},
    "m_ties": {"reward": (), "punish": ("PUNISH",)},
    "trace_pre": {"current": ("CURRENT",), "previous": ()},
    "normalise": {"neuron": (), "layer": ("BY_LAYER",), "none": ("RAW",)},
}


def _bits(number: float) -> int:
    """Return the bits of a number as a 32-bit float."""
    return int(np.float32(number).view(np.int32))


# The constants of `recurrent.logistic`, for neurons that need it.
_LOGISTIC: dict[str, dict[str, int]] = {
    "binary": {},
    "sigmoid": {
        "FARTHEST_BITS": _bits(FARTHEST),
        "LOG2_E_BITS": _bits(LOG2_E),
        "SHIFT_BITS": _bits(SHIFT),
        "LN_2_HIGH_BITS": _bits(LN_2_HIGH),
        "LN_2_LOW_BITS": _bits(LN_2_LOW),
        "ONE_BITS": ONE_BITS,
        **{f"SERIES{k}": _bits(coefficient) for k, coefficient in enumerate(SERIES)},
    },
}


def definitions(
    settings: Settings,
    inputs: int,
    outputs: int,
    *,
    climbing: bool = False,
    keep_weights: bool = False,
    keep_ep: bool = False,
    moving: bool = False,
) -> dict[str, int]:
    """Return the constants that a kernel is compiled for, by name; `climbing` is for climbers and chance."""
    layout = Layout(settings.hidden, inputs, outputs)
    return {
        "INPUTS": inputs,
        "ACTIONS": outputs,
        "IN_SPOT": in_spot(inputs),
        "EVENT_BITS": EVENT_BITS,
        "WEIGHTS": WEIGHTS,
        "NOISE": NOISE,
        "ACTION": ACTION,
        "ROUNDS": ROUNDS,
        "MULTIPLIER0": MULTIPLIERS[0],
        "MULTIPLIER1": MULTIPLIERS[1],
        "KEY_STEP0": KEY_STEPS[0],
        "KEY_STEP1": KEY_STEPS[1],
        "SQRT_HALF_BITS": int(SQRT_HALF_BITS),
        "HIDDEN": settings.hidden,
        "LARGE": int(layout.large),
        "CLIMB": int(climbing),
        "PHASES": int(moving),
        **_LOGISTIC[settings.neurons],
        **{flag: int(is_set) for flag, is_set in flags(settings, FLAGS).items()},
        "STEPS": settings.steps,
        "KEEP": int(keep_weights),
        "EVERY": int(keep_ep),
        "BLOCKS": layout.blocks,
        "WAITING": WAITING,
    }
