"""Eligibility traces: their recursion, the change by hand, m, normalisation, and the plain Hebbian rule."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import distal
from distal import Eligibility, learners
from distal.learners import Memory, Trial, eligibility
from distal.learners.hebbian import COEFFICIENTS
from distal.model import traces
from distal.networks import Recurrent
from distal.tasks.mazes import MazeTask
from distal.tasks.task import Aim
from tests.learners.by_hand import lived, tiny, weights
from tests.mazes import T

ONE = Eligibility(0.5, 0.25, -0.5, 0.125, -1, 0, 0.5, 0, decay=0.5, eta=0.5, alpha_h=0.2, alpha_o=0.2)
FRESH = Memory(weights())


def updated(learner: Eligibility, memory: Memory = FRESH, ep: float = 5, **settings: Any) -> Memory:
    return learner.update(tiny(**settings), Trial(), memory, lived(ep))


@given(st.integers(1, 8), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.integers(0, 2**32 - 1))
def test_the_trace_is_what_its_recursion_gives(steps: int, decay: float, seed: int) -> None:
    """With powers of two all of it is exact, whatever the order."""
    rng = np.random.default_rng(seed)
    pre, post = (rng.integers(0, 2, (steps, n)).astype(np.uint8) for n in (3, 2))
    a, b, c, d = coefficients = rng.integers(-4, 5, 4) / 4
    e = np.zeros((2, 3))
    for x, y in zip(pre.astype(float), post.astype(float), strict=True):
        e = decay * e + a * np.outer(y, x) + b * x[None, :] + c * y[:, None] + d
    counted = eligibility.traces(pre, post, np.float32(decay))
    found = eligibility.eligibility(counted, np.array([coefficients], np.float32))
    assert found.dtype == np.float32
    assert found.tolist() == e.tolist()


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_with_nothing_forgotten_the_counts_are_those_of_a_rule_s_traces(steps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pre, post = (rng.integers(0, 2, (steps, n)).astype(np.uint8) for n in (3, 2))
    found = eligibility.traces(pre, post, np.float32(1))
    _, n01, n10, n11 = traces.counts(pre, post)
    assert (found.both == n11).all()
    assert (found.pre == n10 + n11).all()
    assert (found.post[:, None] == n01 + n11).all()
    assert found.steps == steps


def test_an_update_by_hand() -> None:
    """With λ = ½ the three steps weigh ¼, ½ and 1; all together 1¾.

    Both, pre and post of each synapse: input → hidden ¼, 1¼, ¾; bias → hidden ¾, 1¾, ¾;
    output → hidden ½, 1½, ¾; hidden → output ½, ¾, 1½; bias → output 1½, 1¾, 1½.
    e = ½ both + ¼ pre − ½ post + ⅛ · 1¾, and η / steps = ⅙.
    """
    always = 0.125 * 1.75
    changes = [
        [0.125 + 0.3125 - 0.375 + always, 0.375 + 0.4375 - 0.375 + always, 0, 0.25 + 0.375 - 0.375 + always],
        [0.25 + 0.1875 - 0.75 + always, 0.75 + 0.4375 - 0.75 + always],
    ]
    after = updated(ONE)
    assert after.weights.hidden[0] == pytest.approx(
        np.array([0.25, 0.5, 0, -0.25]) + np.array(changes[0]) / 6
    )
    assert after.weights.output[0] == pytest.approx(np.array([0.5, -0.5]) + np.array(changes[1]) / 6)
    assert after.number("ep") == 5


def test_the_second_set_of_coefficients_counts_when_the_episode_was_worse() -> None:
    """A = −1 and C = ½: −both + ½ post."""
    after = updated(ONE, replace(FRESH, kept={"ep": 4.0}))
    changes = np.array([-0.25 + 0.375, -0.75 + 0.375, 0, -0.5 + 0.375]) / 6
    assert after.weights.hidden[0] == pytest.approx(np.array([0.25, 0.5, 0, -0.25]) + changes)


@pytest.mark.parametrize(("before", "ties", "plus"), [(4, "reward", False), (5, "reward", True),
                                                      (5, "punish", False), (6, "punish", True)])  # fmt: skip
def test_m_is_that_of_a_rule(before: float, ties: str, plus: bool) -> None:
    found = updated(ONE, replace(FRESH, kept={"ep": float(before)}), m_ties=ties)
    other: dict[str, Any] = dict.fromkeys(COEFFICIENTS[4:] if plus else COEFFICIENTS[:4], 0.75)
    with_other = replace(ONE, **other)
    same = updated(with_other, replace(FRESH, kept={"ep": float(before)}), m_ties=ties)
    assert (found.weights.hidden == same.weights.hidden).all()


def test_weights_are_normalised_as_the_reading_says() -> None:
    for normalise in ("neuron", "layer", "none"):
        raw, found = updated(ONE), updated(ONE, normalise=normalise)
        for ours, theirs in zip(vars(raw.weights).values(), vars(found.weights).values(), strict=True):
            whole = np.linalg.norm(ours) if normalise == "neuron" else 1
            if normalise != "layer":
                assert theirs == pytest.approx(ours / whole, rel=1e-6)
    hidden = updated(ONE, normalise="layer").weights.hidden[0]
    assert np.hypot(*hidden[:2]) == pytest.approx(1)
    assert abs(hidden[3]) == pytest.approx(1)


def test_pre_is_the_step_before_where_the_reading_says_so() -> None:
    """Output → hidden pairs 0 0 1 with 1 1 0 then, never both at once; input → hidden stays as it is."""
    only_a = replace(ONE, b_plus=0, c_plus=0, d_plus=0)
    now, before = updated(only_a), updated(only_a, trace_pre="previous")
    assert before.weights.hidden[0, 3] == np.float32(-0.25)
    assert now.weights.hidden[0, 3] == pytest.approx(-0.25 + 0.5 * 0.5 / 6)
    assert before.weights.hidden[0, 0] == now.weights.hidden[0, 0]


# ------------------------------------------------------------------ the plain Hebbian rule


@pytest.mark.parametrize("m", [1, -1])
def test_hebb_is_the_paper_s_modulated_hebbian_rule_over_an_episode(m: int) -> None:
    """Equations 2 and 3: w(t + 1) = w(t) + m η a_i a_j in each step, η shared among the steps."""
    hebb, network, episode = distal.find_learner("hebb"), tiny(), lived(5)
    assert isinstance(hebb, Eligibility)
    memory = FRESH if m == 1 else replace(FRESH, kept={"ep": 4.0})
    found = hebb.update(network, Trial(), memory, episode).weights
    hidden, output = (matrix.astype(float) for matrix in vars(weights()).values())
    pre_hidden, pre_output = network.sources(episode, "current")
    for t in range(3):
        hidden += m * hebb.eta / 3 * np.outer(episode.hidden[t], pre_hidden[t])
        output += m * hebb.eta / 3 * np.outer(episode.outputs[t], pre_output[t])
    hidden[0, 2] = 0  # no neuron has a synapse from itself
    assert found.hidden == pytest.approx(hidden, rel=1e-6)
    assert found.output == pytest.approx(output, rel=1e-6)


# ------------------------------------------------------------------ a trial, and what cannot learn


def test_a_trial_follows_the_update() -> None:
    task, settings = Aim(MazeTask(T), 0), distal.Settings(hidden=4, steps=9)
    network = Recurrent(settings=settings, alpha_h=0.2, alpha_o=0.2)
    memory, seen = Memory(network.fresh_weights(3, 0)), 0
    for episode in islice(learners.episodes(ONE, task, settings, seed=3), 12):
        assert (episode.weights.hidden == memory.weights.hidden).all()
        assert episode.changed is None
        memory = ONE.update(network, Trial(3), memory, episode)
        seen += 1
    assert seen == 12
