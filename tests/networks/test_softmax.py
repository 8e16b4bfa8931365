"""The softmax network: probabilities, the action that a random word draws, and what else stays."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
import pytest

import distal
from distal.networks import Recurrent, Softmax, check_network
from distal.networks.softmax import drawn, softmax
from tests.mazes import T

SHORT: Any = {"maze": T, "hidden": 4, "steps": 9, "episodes": 4, "trials": 1}


def test_the_probabilities_are_those_of_the_formula() -> None:
    sums = np.array([0.5, -1.25, 3, 3, -12], np.float32)
    powers = [math.exp(x) for x in sums.tolist()]
    found = softmax(sums)
    assert found.dtype == np.float32
    assert found.tolist() == pytest.approx([power / sum(powers) for power in powers], rel=1e-6)


def test_equal_sums_are_equally_likely_and_a_hopeless_action_is_as_likely_as_one_18_below() -> None:
    assert softmax(np.array([7, 7, 7, 7], np.float32)).tolist() == [0.25] * 4
    far, near = (softmax(np.array([0, -x], np.float32))[1] for x in (4000, 18))
    assert far == near == pytest.approx(math.exp(-18), rel=1e-6)


@pytest.mark.parametrize(
    ("share", "action"),
    [(0, 0), (0.25 - 2**-24, 0), (0.25, 1), (0.75 - 2**-24, 1), (0.75, 2), (1 - 2**-32, 2)],
)
def test_a_word_draws_the_action_in_whose_part_of_the_unit_interval_it_lies(
    share: float, action: int
) -> None:
    assert drawn(np.array([0.25, 0.5, 0.25], np.float32), np.uint32(share * 2**32)) == action


def test_a_word_behind_all_probabilities_draws_the_last_action() -> None:
    """Rounded probabilities may add up to less than 1."""
    assert drawn(np.array([0.5, 0.25], np.float32), np.uint32(2**32 - 1)) == 1


def test_the_action_alone_is_active_and_the_rest_of_a_step_is_the_paper_s() -> None:
    settings = distal.Settings(3)
    one, other = Softmax(2, 4, settings), Recurrent(2, 4, settings)
    weights, inputs = one.fresh_weights(1, 0), np.array([1, 0, 1], np.uint8)
    action, state = one.step(weights, one.start(), inputs, lambda: np.uint32(2**31))
    sums = other.propagate(weights, other.start(), inputs)
    assert action == drawn(softmax(sums.outputs), np.uint32(2**31))
    assert np.flatnonzero(state.outputs).tolist() == [action]
    assert state.active.tolist() == sums.active.tolist()


def test_it_keeps_the_promises_of_a_network_and_takes_part_by_its_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    check_network(Softmax)
    with caplog.at_level(logging.WARNING, "distal"):
        result = distal.learn("evolved:1", network="softmax", outputs="random", engine="reference", **SHORT)
    assert result.settings.network == "softmax"
    assert "outputs has no effect in the paper's network with a softmax" in caplog.text
    with pytest.raises(distal.InputError, match="engine cpu has no code for network 'softmax'"):
        distal.learn("evolved:1", network="softmax", engine="cpu", **SHORT)
