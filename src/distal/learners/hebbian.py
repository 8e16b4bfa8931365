"""The general Hebbian (ABCD) rule: A·pre·post + B·pre + C·post + D, with one set of coefficients per m."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from distal.learners.learner import Learner

PLUS = ("a_plus", "b_plus", "c_plus", "d_plus")  # A, B, C, D where m = +1
MINUS = ("a_minus", "b_minus", "c_minus", "d_minus")  # … where m = −1
COEFFICIENTS = (*PLUS, *MINUS)


@dataclass(frozen=True)
class Hebbian(Learner):
    """A Hebbian rule of eight coefficients, the same for all synapses; when they apply is up to subclasses.

    Args:
        a_plus: A where m = +1, the change where both neurons are active, in [-1, 1].
        b_plus: B where m = +1, where the pre-synaptic neuron is, in [-1, 1].
        c_plus: C where m = +1, where the post-synaptic neuron is, in [-1, 1].
        d_plus: D where m = +1, in every step, in [-1, 1].
        a_minus: A where m = −1, in [-1, 1].
        b_minus: B where m = −1, in [-1, 1].
        c_minus: C where m = −1, in [-1, 1].
        d_minus: D where m = −1, in [-1, 1].
    """

    a_plus: float
    b_plus: float
    c_plus: float
    d_plus: float
    a_minus: float
    b_minus: float
    c_minus: float
    d_minus: float

    ranges: ClassVar[dict[str, tuple[float, float]]] = dict.fromkeys(COEFFICIENTS, (-1.0, 1.0))

    def coefficients(self, m: int) -> NDArray[np.float32]:
        """Return A, B, C and D for a modulatory signal."""
        return np.array([getattr(self, name) for name in (PLUS if m == 1 else MINUS)], np.float32)
