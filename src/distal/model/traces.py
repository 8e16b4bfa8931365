"""Neuron activation traces (NATs): the memory that a synapse has of an episode.

Each synapse counts how often its two neurons were (pre, post) = (0,0), (0,1),
(1,0), (1,1) over the steps of an episode. The counts become frequencies, the
frequencies become bits, the bits and the modulatory signal m name one of the 32
rows of a rule.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Activations = NDArray[np.uint8]  # 0 or 1


def counts(pre: Activations, post: Activations) -> NDArray[np.int32]:
    """Count the four states of every synapse between two layers.

    `pre` (steps, n_pre) and `post` (steps, n_post) hold one row per step. Returns
    (4, n_post, n_pre) in the order 00, 01, 10, 11, pre first.
    """
    on_pre, on_post = pre.astype(np.int32), post.astype(np.int32)
    off_pre, off_post = 1 - on_pre, 1 - on_post
    return np.stack(
        [
            off_post.T @ off_pre,  # 00
            on_post.T @ off_pre,  # 01: pre silent, post active
            off_post.T @ on_pre,  # 10
            on_post.T @ on_pre,  # 11
        ]
    )


def frequencies(count: NDArray[np.int32], steps: int) -> NDArray[np.float32]:
    """Divide the counts by the number of steps taken."""
    return count.astype(np.float32) / np.float32(steps)


def rows(frequency: NDArray[np.float32], theta: np.float32, m: int) -> NDArray[np.int32]:
    """Return the row of the rule, 0 … 31, that each synapse (n_post, n_pre) selects."""
    b00, b01, b10, b11 = (frequency > theta).astype(np.int32)
    row: NDArray[np.int32] = (b00 * 8 + b01 * 4 + b10 * 2 + b11) * 2 + (1 if m == 1 else 0)
    return row
