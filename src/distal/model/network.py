"""The recurrent network: which synapses exist, how they are drawn, summed and made active.

Two matrices hold all weights, one row per post-synaptic neuron:

    hidden (H, 4 + H + 4)   columns: left, front, right, bias | hidden 0 … H−1 | the four outputs
    output (4, H + 1)       columns: hidden 0 … H−1 | bias

The column is the pre-synaptic index; sums go over it in ascending order. The
paper's matrices are blocks of these: hidden = [W_hi | W_h | W_ho], output =
W_oh. Hidden neuron j has no synapse from itself: hidden[j, 4 + j] is always 0.

Three inputs and four outputs are the maze's. With I inputs and O outputs the
shapes are (H, I + 1 + H + O) and (O, H + 1), the order is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import integer
from distal.base.frozen import Frozen
from distal.model import draws
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.settings import BINARY

INPUTS = 3  # left, front, right
OUTPUTS = 4  # stop, left, right, straight
MAX_NEURONS = 256  # inputs, or outputs, of any task

Activations = NDArray[np.uint8]  # 0 or 1
Hidden = NDArray[Any]  # what hidden neurons pass on: 0 or 1, or a float32 in [0, 1]


def incoming(hidden: int, inputs: int = INPUTS, outputs: int = OUTPUTS) -> int:
    """Return the number of columns of a hidden row: inputs, bias, hidden, outputs."""
    return inputs + 1 + hidden + outputs


def _checked_shape(hidden: int, inputs: int, outputs: int) -> tuple[int, int, int]:
    """Return the numbers of neurons of a network, if they are some."""
    return (
        integer("hidden", hidden, 1, MAX_NEURONS),
        integer("inputs", inputs, 1, MAX_NEURONS),
        integer("outputs", outputs, 1, MAX_NEURONS),
    )


def synapses(
    hidden: int, inputs: int = INPUTS, outputs: int = OUTPUTS
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say which entries of the two matrices are synapses: all but the self-connections.

    Args:
        hidden: The number of hidden neurons.
        inputs: The number of inputs, without the bias.
        outputs: The number of outputs.

    Returns:
        Two arrays of the shapes of `Weights.hidden` and `Weights.output`.

    Raises:
        InputError: If a number is out of its range.
    """
    hidden, inputs, outputs = _checked_shape(hidden, inputs, outputs)
    into_hidden = np.ones((hidden, incoming(hidden, inputs, outputs)), np.bool_)
    into_hidden[np.arange(hidden), inputs + 1 + np.arange(hidden)] = False
    return into_hidden, np.ones((outputs, hidden + 1), np.bool_)


@dataclass(frozen=True, eq=False)
class Weights(Frozen):
    """All weights of one network, 32-bit floats, one row per receiving neuron.

    Attributes:
        hidden: The weights into the hidden neurons, (H, 4 + H + 4): from the inputs and the
            bias, the hidden neurons, the outputs.
        output: The weights into the outputs, (4, H + 1): from the hidden neurons and the bias.
    """

    hidden: NDArray[np.float32]
    output: NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of hidden neurons, inputs and outputs."""
        hidden, outputs = len(self.hidden), len(self.output)
        return hidden, self.hidden.shape[1] - 1 - hidden - outputs, outputs

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


def draw(
    hidden: int, inputs: int, outputs: int, seed: int, purpose: int, episode: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Draw one random word for every entry of the two matrices.

    The lane is the post-synaptic neuron (hidden 0 … H−1, then the outputs), the
    draw is the pre-synaptic index. Rows come in whole blocks of four words; what
    lies beyond the last pre-synaptic index is not used.
    """
    return (
        draws.words(seed, purpose, episode, range(hidden), incoming(hidden, inputs, outputs)),
        draws.words(seed, purpose, episode, range(hidden, hidden + outputs), hidden + 1),
    )


def fresh_weights(
    hidden: int, seed: int, episode: int, inputs: int = INPUTS, outputs: int = OUTPUTS
) -> Weights:
    """Draw weights uniform in [−1, 1) for the network that runs this episode.

    Args:
        hidden: The number of hidden neurons.
        seed: The seed of the trial.
        episode: The number of the episode, from 0.
        inputs: The number of inputs, without the bias.
        outputs: The number of outputs.

    Returns:
        The weights.

    Raises:
        InputError: If a number is out of its range.
    """
    hidden, inputs, outputs = _checked_shape(hidden, inputs, outputs)
    seed, episode = integer("seed", seed, 0, MAX_SEED), integer("episode", episode, 0, MAX_COUNT)
    for_hidden, for_output = draw(hidden, inputs, outputs, seed, draws.WEIGHTS, episode)
    return _from_draws(draws.uniform(for_hidden), draws.uniform(for_output), inputs)


def perturbation(
    hidden: int, seed: int, episode: int, inputs: int = INPUTS, outputs: int = OUTPUTS
) -> Weights:
    """Draw an independent standard normal deviate for every weight."""
    for_hidden, for_output = draw(hidden, inputs, outputs, seed, draws.NOISE, episode)
    return _from_draws(draws.normals(for_hidden), draws.normals(for_output), inputs)


def _from_draws(
    for_hidden: NDArray[np.float32], for_output: NDArray[np.float32], inputs: int = INPUTS
) -> Weights:
    """Keep the numbers that were drawn for a synapse; self-connections become 0."""
    hidden, outputs = len(for_hidden), len(for_output)
    exists, _ = synapses(hidden, inputs, outputs)
    return Weights(
        hidden=np.where(exists, for_hidden[:, : incoming(hidden, inputs, outputs)], np.float32(0)),
        output=for_output[:, : hidden + 1],
    )


def ordered_sum(terms: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sum each row in ascending order of its columns.

    `np.sum` adds in pairs; an accumulation has to go in order, because every
    partial sum is a result.
    """
    total: NDArray[np.float32] = np.add.accumulate(terms, axis=-1, dtype=np.float32)[..., -1]
    return total


class Stepped(NamedTuple):
    """What a time step gives."""

    hidden: Hidden  # what the hidden neurons pass on
    active: Activations  # which of them count as active: those whose sum is above 0
    sums: NDArray[np.float32]  # of the outputs


def silent(hidden: int, neurons: str = BINARY) -> Hidden:
    """Return what hidden neurons pass on before the first step: nothing."""
    return np.zeros(hidden, np.uint8 if neurons == BINARY else np.float32)


def step(
    weights: Weights,
    alpha_h: float | np.float32,
    alpha_o: float | np.float32,
    inputs: Activations,
    hidden: Hidden,
    outputs: Activations,
    neurons: str = BINARY,
) -> Stepped:
    """Compute one time step (the paper's equations for A_h and A_o).

    `inputs` (4) are those of this step with the bias; `hidden` (H) and `outputs`
    (4) those of the step before. `neurons` are "binary" or "sigmoid".
    """
    sums = (
        ordered_sum(weights.w_hi * inputs)
        + alpha_h * ordered_sum(weights.w_h * hidden)
        + alpha_o * ordered_sum(weights.w_ho * outputs)
    )
    active = psi(sums)
    passed_on: Hidden = active if neurons == BINARY else logistic(sums)
    output_sums = ordered_sum(weights.w_oh * np.append(passed_on, passed_on.dtype.type(1)))
    return Stepped(passed_on, active, output_sums)


def psi(sums: NDArray[np.float32]) -> Activations:
    """Return the binary activation: 1 where the sum is greater than 0."""
    return (sums > 0).astype(np.uint8)


# The constants of `logistic`, in the order of their use; the compiled engines take them from here.
FARTHEST = 18.0  # beyond, nothing changes: 1 + e^-18 is 1
LOG2_E = 1.4426950408889634
SHIFT = 1.5 * 2**23  # a float plus this is a whole number, which stands in the lower bits
LN_2_HIGH, LN_2_LOW = 0.693359375, -2.12194440e-4  # their sum is ln 2; few bits in the first
SERIES = (1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0, 1.0)  # Taylor's of e^u, |u| ≤ ln 2 / 2
ONE_BITS = 0x3F800000  # 1 as a 32-bit float


def logistic(sums: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 1 / (1 + e^-x) of each sum, to the bit as docs/exactness.md says."""
    one = np.float32(1)
    size = np.minimum(np.abs(sums), np.float32(FARTHEST))
    shifted = size * np.float32(LOG2_E) + np.float32(SHIFT)
    whole = shifted - np.float32(SHIFT)  # e^-size = e^u / 2^whole
    u = (whole * np.float32(LN_2_HIGH) - size) + whole * np.float32(LN_2_LOW)
    power: NDArray[np.float32] = np.full_like(u, SERIES[0])
    for coefficient in SERIES[1:]:
        power = power * u + np.float32(coefficient)
    power = power * (np.int32(ONE_BITS) - (shifted.view(np.int32) << 23)).view(np.float32)
    result: NDArray[np.float32] = np.where(sums > 0, one, power) / (one + power)
    return result
