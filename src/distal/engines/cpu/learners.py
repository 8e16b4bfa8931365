"""The learners of a batch as the kernels of engine cpu take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.engines.batch import Batch
from distal.engines.compiled import packed_changes, packed_learners
from distal.learners.compiled import numbers_of
from distal.learners.eligibility import Eligibility
from distal.learners.evolution_strategy import EvolutionStrategy
from distal.learners.hebbian import MINUS, PLUS

KEEPS_ALL = 1.0  # λ of traces that are counts


class Given(NamedTuple):
    """The learners of a batch as arrays."""

    climbing: bool  # whether they climb; else they are rules
    numbers: NDArray[np.float32]  # (learners, 4): η, θ, α_h, α_o of rules; (learners, 3): σ, α_h, α_o
    # What else an update takes. DSP: int32 (rules, 2), the changes for m = −1 and +1 (`packed_changes`);
    # traces: float32 (rules, 2, 4), A, B, C, D for m = −1 and +1; climbers: float32 (climbers), the factor
    # of σ after a success, 1 if it stays.
    own: NDArray[Any]
    resample: int  # draw fresh weights every so many episodes; 0: never


def _column(batch: Batch, *names: str) -> NDArray[np.float32]:
    """Return some numbers of each learner, (learners, names)."""
    own = [batch.kind.names.index(name) for name in names]
    return np.ascontiguousarray(numbers_of(batch.learners)[:, own], np.float32)


def given(batch: Batch) -> Given:
    """Return the learners of a batch that engine cpu supports."""
    resample = batch.resample or 0
    if batch.kind is EvolutionStrategy:
        return Given(
            True, _column(batch, "sigma", "alpha_h", "alpha_o"), _column(batch, "factor").ravel(), resample
        )
    if batch.kind is Eligibility:
        numbers = _column(batch, "eta", "eta", "alpha_h", "alpha_o")  # without θ, whose place is unused
        coefficients = _column(batch, *MINUS, *PLUS).reshape(-1, 2, len(PLUS))
        return Given(False, numbers, coefficients, resample)
    climbing, numbers, changes, resample = packed_learners(batch)
    if climbing:
        return Given(climbing, numbers, np.ones(len(numbers), np.float32), resample)
    return Given(climbing, numbers, packed_changes(changes).view(np.int32), resample)


def fades(batch: Batch) -> bool:
    """Return whether traces of a batch fade: then they depend on the order of steps, which is not kept."""
    return bool((_column(batch, "decay") != KEEPS_ALL).any())
