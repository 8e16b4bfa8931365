"""Traces in compiled code: counts are compared with one count, not their frequencies with θ."""

from __future__ import annotations

import numpy as np

from distal.model.compiled_draws import inlined


@inlined
def threshold(theta, steps):
    """Return the largest count whose frequency is not above θ, or −1."""
    n = np.float32(steps)
    count = max(np.int64(theta * n) - 1, 0)
    while count <= steps and np.float32(count) / n <= theta:
        count += 1
    return count - 1
