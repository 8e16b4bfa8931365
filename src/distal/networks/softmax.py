"""The paper's network with a policy: a softmax of the outputs' sums draws the action.

The probability of an action is e^s / Σ e^s, s being the sum of its output. The output that acts alone is
active. A learner can know these probabilities, and so in which direction a weight makes an action likelier.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from distal.model.readings import SOFTMAX, WORDS
from distal.model.traces import Activations
from distal.networks.network import Word, ordered_sum
from distal.networks.recurrent import FARTHEST, Recurrent, falling


def softmax(sums: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probability of each action; one whose sum is 18 or more below the largest has that of 18."""
    power = falling(np.minimum(sums.max() - sums, np.float32(FARTHEST)))
    chances: NDArray[np.float32] = power / ordered_sum(power)
    return chances


def drawn(chances: NDArray[np.float32], word: np.uint32) -> int:
    """Return the action that a random word stands for; its first 24 bits are a number in [0, 1)."""
    share = np.float32(word >> 8) * np.float32(2.0**-24)
    below = int((np.add.accumulate(chances, dtype=np.float32) <= share).sum())
    return min(below, len(chances) - 1)  # rounded probabilities may end below 1


class Softmax(Recurrent):
    """The paper's network, whose action is drawn by a softmax.

    Args:
        inputs: The number of inputs, without the bias.
        outputs: The number of outputs, one for each action.
        settings: The number of hidden neurons, their kind, and the readings.
        **scales: alpha_h and alpha_o, each in [0, 1]; 0.2 if left out.

    Raises:
        InputError: If a number is out of its range.
    """

    kind: ClassVar[str] = SOFTMAX
    label: ClassVar[str] = WORDS["network"][SOFTMAX]
    compiled: ClassVar[str | None] = "distal.networks.compiled_softmax"
    ignores: ClassVar[tuple[str, ...]] = ("outputs",)

    def choose(self, sums: NDArray[np.float32], word: Word) -> tuple[int, Activations]:
        """Draw the action; its output alone is active."""
        action = drawn(softmax(sums), word())
        return action, np.eye(len(sums), dtype=np.uint8)[action]
