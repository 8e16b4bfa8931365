"""The network: its synapses, its draws, one step worked by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from distal.model import draws
from distal.model.settings import Settings
from distal.model.traces import Activations
from distal.networks import Recurrent, RecurrentWeights, State, Weights, ordered_sum, psi
from distal.networks.recurrent import logistic


def bits(*values: int) -> Activations:
    return np.array(values, np.uint8)


def after(hidden: list[int], outputs: list[int]) -> State:
    """Return the state that a step with these activations leaves."""
    return State(bits(*hidden), bits(*hidden), bits(*outputs))


def test_twenty_hidden_neurons_have_624_synapses() -> None:
    into_hidden, into_output = Recurrent().synapses()
    assert into_hidden.sum() + into_output.sum() == 80 + 380 + 80 + 84 == 624


@pytest.mark.parametrize("hidden", [1, 2, 7, 20, 256])
def test_no_hidden_neuron_has_a_synapse_from_itself(hidden: int) -> None:
    weights = Recurrent(settings=Settings(hidden)).fresh_weights(seed=1, episode=0)
    assert isinstance(weights, RecurrentWeights)
    assert weights.hidden.shape == (hidden, hidden + 8)
    assert weights.output.shape == (4, hidden + 1)
    assert not np.diagonal(weights.w_h).any()
    off_diagonal = weights.w_h[~np.eye(hidden, dtype=bool)]
    assert (off_diagonal != 0).all()
    assert [block.shape for block in (weights.w_hi, weights.w_h, weights.w_ho, weights.w_oh)] == [
        (hidden, 4),
        (hidden, hidden),
        (hidden, 4),
        (4, hidden + 1),
    ]


def test_a_synapse_draws_at_its_own_position() -> None:
    weights = Recurrent(settings=Settings(5)).fresh_weights(seed=3, episode=200)
    assert isinstance(weights, RecurrentWeights)

    def drawn(post: int, pre: int) -> float:
        word = draws.philox([pre // 4, post, 200, draws.WEIGHTS], [3, 0])[pre % 4 : pre % 4 + 1]
        return float(draws.uniform(word)[0])

    assert weights.w_hi[2, 3] == drawn(post=2, pre=3)  # the bias of hidden neuron 2
    assert weights.w_h[4, 1] == drawn(post=4, pre=4 + 1)
    assert weights.w_ho[0, 3] == drawn(post=0, pre=4 + 5 + 3)
    assert weights.w_oh[1, 2] == drawn(post=5 + 1, pre=2)
    assert weights.w_oh[3, 5] == drawn(post=5 + 3, pre=5)  # the bias of the last output


def test_a_step_computed_on_paper() -> None:
    weights = Weights(
        hidden=np.array(
            #  left front right bias | hidden 0, 1 | stop left right straight
            [
                [1.0, 2.0, -0.5, 0.25, 0.0, -3.0, 0.5, 0.5, 0.5, -4.0],
                [-1.0, 0.5, 0.5, -0.5, 2.0, 0.0, 0.0, 1.0, 0.0, 0.25],
            ],
            np.float32,
        ),
        output=np.array(
            [[1.0, 1.0, -0.5], [0.5, 2.0, 0.0], [0.25, -1.0, 0.25], [-1.0, 0.0, 1.0]], np.float32
        ),
    )
    # walls left and right; hidden 1 and output straight were active before
    # hidden 0: (1 − 0.5 + 0.25) + 0.5·(−3) + 0.25·(−4) = −1.75 → 0
    # hidden 1: (−1 + 0.5 − 0.5) + 0.5·0 + 0.25·0.25 = −0.9375 → 0
    # outputs are their biases
    network = Recurrent(settings=Settings(2), alpha_h=0.5, alpha_o=0.25)
    hidden, active, sums = network.propagate(weights, after([0, 1], [0, 0, 0, 1]), bits(1, 0, 1, 1))
    assert hidden.tolist() == active.tolist() == [0, 0]
    assert sums.tolist() == [-0.5, 0, 0.25, 1]
    # all walls, hidden 0 and output left active before, α_h = 1, α_o = 0.5
    # hidden 0: (1 + 2 − 0.5 + 0.25) + 0 + 0.5·0.5 = 3 → 1
    # hidden 1: (−1 + 0.5 + 0.5 − 0.5) + 2 + 0.5·1 = 2 → 1
    # outputs: 1 + 1 − 0.5, 0.5 + 2, 0.25 − 1 + 0.25, −1 + 1
    network = Recurrent(settings=Settings(2), alpha_h=1, alpha_o=0.5)
    hidden, active, sums = network.propagate(weights, after([1, 0], [0, 1, 0, 0]), bits(1, 1, 1, 1))
    assert hidden.tolist() == active.tolist() == [1, 1]
    assert sums.tolist() == [1.5, 2.5, -0.5, 0]


def test_a_sum_of_exactly_zero_does_not_activate() -> None:
    assert psi(np.array([-1, 0, -0.0, 1e-45, 1], np.float32)).tolist() == [0, 0, 0, 1, 1]


def test_sums_go_in_ascending_order_with_32_bit_rounding_at_each_step() -> None:
    # 2^24 + 1 + 1 in order stays at 2^24, because each 1 is rounded away; in pairs it would not.
    row = np.array([[2**24, 1, 1, 1, 1, 1, 1, 1, 1, 1]], np.float32)
    assert ordered_sum(row).tolist() == [2**24]
    assert ordered_sum(row[:, ::-1]).tolist() == [2**24 + 8]  # 9, then 9 + 2^24 to even


def test_continuous_neurons_pass_on_the_logistic_function_of_their_sum() -> None:
    # One hidden neuron, from the bias alone: its sum is ln 3, so it passes on 3/4; the outputs see
    # 3/4 of their weights. With the sum −ln 3 it passes on 1/4 and does not count as active.
    for sign, passed_on in ((1, 0.75), (-1, 0.25)):
        into_hidden, into_output = np.zeros((1, 9), np.float32), np.zeros((4, 2), np.float32)
        into_hidden[0, 3] = sign * np.log(3)
        into_output[:, 0] = (4, -4, 2, 0)
        into_output[2, 1] = 1
        network = Recurrent(settings=Settings(1, neurons="sigmoid"), alpha_h=0.5, alpha_o=0.5)
        state = after([0], [0, 0, 0, 1])
        hidden, active, sums = network.propagate(Weights(into_hidden, into_output), state, bits(1, 1, 1, 1))
        assert active.tolist() == [sign > 0]
        np.testing.assert_allclose(hidden, [passed_on], rtol=1e-6)
        np.testing.assert_allclose(sums, [4 * passed_on, -4 * passed_on, 2 * passed_on + 1, 0], rtol=1e-6)
    # What one step passes on feeds the next, scaled by α_h: 0.5 · (0.25 · 2) = 0.25.
    into_hidden = np.zeros((2, 10), np.float32)
    into_hidden[1, 4] = 2  # after three inputs and the bias
    two = Weights(into_hidden, np.zeros((4, 3), np.float32))
    network = Recurrent(settings=Settings(2, neurons="sigmoid"), alpha_h=0.5, alpha_o=0)
    before = State(np.array([0.25, 0.9], np.float32), bits(0, 0), bits(0, 0, 0, 0))
    second = network.propagate(two, before, bits(0, 0, 0, 1))
    assert second.active.tolist() == [0, 1]
    np.testing.assert_allclose(second.hidden, [0.5, 1 / (1 + np.exp(-0.25))], rtol=1e-6)


def test_the_logistic_function_is_within_half_a_millionth_and_never_decreases() -> None:
    x = np.linspace(-18, 18, 1_000_001).astype(np.float32)
    y = logistic(x)
    exact = 1 / (1 + np.exp(-x.astype(np.float64)))
    assert (abs(y - exact) / exact).max() < 5e-7
    assert (np.diff(y) >= 0).all()


def test_the_logistic_function_at_its_ends() -> None:
    far = logistic(np.array([18, 19, 1e38, -18, -19, -1e38, 0, -0.0, 1e-45], np.float32))
    assert far[:3].tolist() == [1, 1, 1]
    assert far[3] == far[4] == far[5]
    assert 0 < far[3] < 2e-8
    assert far[6:].tolist() == [0.5, 0.5, 0.5]


def test_the_logistic_function_to_the_bit() -> None:
    # By hand from the series in docs/exactness.md, with Python's exact fractions rounded after
    # every operation: any other order or constant gives other bits.
    def rounded(value: Fraction) -> Fraction:
        return Fraction(float(np.float32(float(value))))

    for x in (0.25, -1.5, 3.0, -7.75):
        log2_e, high, low = (
            Fraction(float(np.float32(c))) for c in (1.4426950408889634, 0.693359375, -2.1219444e-4)
        )
        size = abs(Fraction(x))
        whole = round(rounded(size * log2_e))
        u = rounded(rounded(whole * high - size) + rounded(whole * low))
        power = Fraction(float(np.float32(1 / 720)))
        for c in (1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1):
            power = rounded(rounded(power * u) + Fraction(float(np.float32(c))))
        power /= 2**whole
        expected = rounded((1 if x > 0 else power) / rounded(1 + power))
        assert float(logistic(np.array([x], np.float32))[0]) == float(expected)
