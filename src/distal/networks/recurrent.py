"""The paper's network: recurrent, with feedback from the outputs; hidden neurons are binary or sigmoid.

    hidden (H, 4 + H + 4)   columns: left, front, right, bias | hidden 0 … H−1 | the four outputs
    output (4, H + 1)       columns: hidden 0 … H−1 | bias

The column is the pre-synaptic index; sums go over it in ascending order. The
paper's matrices are blocks of these: hidden = [W_hi | W_h | W_ho], output =
W_oh. Hidden neuron j has no synapse from itself: hidden[j, 4 + j] is always 0.

Three inputs and four outputs are the maze's. With I inputs and O outputs the
shapes are (H, I + 1 + H + O) and (O, H + 1), the order is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import code_for
from distal.model.maze import INPUTS, OUTPUTS
from distal.model.traces import Activations
from distal.networks.network import (
    Hidden,
    Network,
    State,
    Sums,
    Weights,
    before,
    ordered_sum,
    psi,
)

if TYPE_CHECKING:
    from distal.networks.episode import Episode


def incoming(hidden: int, inputs: int = INPUTS, outputs: int = OUTPUTS) -> int:
    """Return the number of columns of a hidden row: inputs, bias, hidden, outputs."""
    return inputs + 1 + hidden + outputs


class RecurrentWeights(Weights):
    """The weights of the paper's network, with the paper's names for their blocks.

    Attributes:
        hidden: [W_hi | W_h | W_ho].
        output: W_oh.
    """

    @property
    def w_hi(self) -> NDArray[np.float32]:
        """From inputs and bias to hidden, (H, 4)."""
        return self.hidden[:, : -len(self.hidden) - len(self.output)]

    @property
    def w_h(self) -> NDArray[np.float32]:
        """From hidden to hidden, (H, H), diagonal zero."""
        return self.hidden[:, -len(self.hidden) - len(self.output) : -len(self.output)]

    @property
    def w_ho(self) -> NDArray[np.float32]:
        """From outputs to hidden, (H, 4)."""
        return self.hidden[:, -len(self.output) :]

    @property
    def w_oh(self) -> NDArray[np.float32]:
        """From hidden and bias to outputs, (4, H + 1)."""
        return self.output


class Recurrent(Network):
    """The paper's network: alpha_h scales the recurrent sums, alpha_o the feedback of the outputs.

    Args:
        inputs: The number of inputs, without the bias.
        outputs: The number of outputs, one for each action.
        settings: The number of hidden neurons, their kind, and the readings.
        **scales: alpha_h and alpha_o, each in [0, 1]; 0.2 if left out.

    Raises:
        InputError: If a number is out of its range.
    """

    kind: ClassVar[str] = "recurrent"
    label: ClassVar[str] = "the paper's recurrent network"
    compiled: ClassVar[str | None] = "distal.networks.compiled_recurrent"
    scales: ClassVar[Mapping[str, float]] = {"alpha_h": 0.2, "alpha_o": 0.2}

    @property
    def columns(self) -> tuple[int, int]:
        """Inputs, bias, hidden, outputs; hidden, bias."""
        return incoming(self.hidden, self.inputs, self.outputs), self.hidden + 1

    @property
    def blocks(self) -> tuple[int, ...]:
        """W_h and W_ho begin behind W_hi."""
        return self.inputs + 1, self.inputs + 1 + self.hidden

    @property
    def layers(self) -> tuple[Sequence[str], Sequence[str]]:
        """W_hi, W_h, W_ho and W_oh, without the biases."""
        feed = *("inputs",) * self.inputs, "biases"
        back = *("recurrent",) * self.hidden, *("feedback",) * self.outputs
        return (*feed, *back), (*("outputs",) * self.hidden, "biases")

    def synapses(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say which entries of the two matrices are synapses: all but the self-connections."""
        into_hidden, into_output = super().synapses()
        into_hidden[np.arange(self.hidden), self.inputs + 1 + np.arange(self.hidden)] = False
        return into_hidden, into_output

    def _weights(self, hidden: NDArray[np.float32], output: NDArray[np.float32]) -> RecurrentWeights:
        return RecurrentWeights(hidden, output)

    def propagate(self, weights: Weights, state: State, inputs: Activations) -> Sums:
        """Compute one time step (the paper's equations for A_h and A_o)."""
        first, second = self.blocks
        w_hi, w_h, w_ho = np.split(weights.hidden, (first, second), axis=1)
        sums = (
            ordered_sum(w_hi * inputs)
            + self.scale["alpha_h"] * ordered_sum(w_h * state.hidden)
            + self.scale["alpha_o"] * ordered_sum(w_ho * state.outputs)
        )
        active = psi(sums)
        passed_on = code_for("neurons", NEURON_KINDS, self.settings.neurons)(sums)
        output_sums = ordered_sum(weights.output * np.append(passed_on, passed_on.dtype.type(1)))
        return Sums(passed_on, active, output_sums)

    def sources(self, record: Episode[Any], trace_pre: str) -> tuple[Activations, Activations]:
        """Return inputs, bias, hidden and outputs for W_h, hidden and bias for W_oh."""
        hidden, outputs = before(record.hidden, trace_pre), before(record.outputs, trace_pre)
        return (
            np.hstack([record.inputs, hidden, outputs]),
            np.hstack([record.hidden, record.inputs[:, -1:]]),
        )


# The constants of `logistic`, in the order of their use; the compiled engines take them from here.
FARTHEST = 18.0  # beyond, nothing changes: 1 + e^-18 is 1
LOG2_E = 1.4426950408889634
SHIFT = 1.5 * 2**23  # a float plus this is a whole number, which stands in the lower bits
LN_2_HIGH, LN_2_LOW = 0.693359375, -2.12194440e-4  # their sum is ln 2; few bits in the first
SERIES = (1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0, 1.0)  # Taylor's of e^u, |u| ≤ ln 2 / 2
ONE_BITS = 0x3F800000  # 1 as a 32-bit float


def falling(size: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return e^-x of each number from 0 to `FARTHEST`, to the bit as docs/exactness.md says."""
    shifted = size * np.float32(LOG2_E) + np.float32(SHIFT)
    whole = shifted - np.float32(SHIFT)  # e^-size = e^u / 2^whole
    u = (whole * np.float32(LN_2_HIGH) - size) + whole * np.float32(LN_2_LOW)
    power: NDArray[np.float32] = np.full_like(u, SERIES[0])
    for coefficient in SERIES[1:]:
        power = power * u + np.float32(coefficient)
    return power * (np.int32(ONE_BITS) - (shifted.view(np.int32) << 23)).view(np.float32)


def logistic(sums: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 1 / (1 + e^-x) of each sum, to the bit as docs/exactness.md says."""
    one = np.float32(1)
    power = falling(np.minimum(np.abs(sums), np.float32(FARTHEST)))
    result: NDArray[np.float32] = np.where(sums > 0, one, power) / (one + power)
    return result


NEURON_KINDS: dict[str, Callable[[NDArray[np.float32]], Hidden]] = {"binary": psi, "sigmoid": logistic}
