"""How often each row of a rule is used: by layer, and over a trial."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import distal
from distal import Rule, Settings
from distal.engines import Batch
from distal.evaluation.inspect import with_row
from distal.evaluation.trials import batch_of
from distal.evaluation.usage import Usage, count_usage
from distal.networks import LAYERS, Recurrent
from distal.tasks.mazes import MazeTask
from distal.tasks.table_task import TableTask
from tests.batches import random_batch, random_settings, random_table, random_trials
from tests.mazes import T
from tests.reflex import reflex


def trials(rule: Rule, episodes: int = 2, count: int = 1, **settings: Any) -> Batch:
    own = Settings(**settings)
    one: Any = {"task": MazeTask(T), "settings": own, "trials": count, "episodes": episodes}
    return batch_of([rule], np.zeros(1, np.uint64), **one)


def test_the_rows_of_the_reflex_agent_are_counted_as_worked_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recurrent, "fresh_weights", lambda *_: reflex())
    rule = Rule([0] * 32, eta=0, theta=0.3, alpha_h=0.5, alpha_o=0.5)
    batch = trials(rule, hidden=1, trace_pre="previous").part(0, 1)  # goal 0: three steps, one update
    usage = count_usage(batch, "reference")
    expected = {  # the rows of the synapses of each layer; test_dsp works them out
        "inputs": [0b0110, 0b1001, 0b0110],  # left, front, right
        "recurrent": [],  # the one hidden neuron has none to itself
        "feedback": [0b1100, 0b1100, 0b1100, 0b1011],
        "outputs": [0b1010, 0b1001, 0b1010, 0b0110],
        "biases": [0b0011, 0b0010, 0b0011, 0b0010, 0b0011],  # of the hidden neuron, then of the outputs
    }
    for layer, counts in zip(LAYERS, usage.counts[0], strict=True):
        rows = [2 * bits + 1 for bits in expected[layer]]  # m = +1 after the first episode
        assert counts.tolist() == np.bincount(rows, minlength=32).tolist(), layer
    assert usage.rewarded == 1
    assert usage.rows[2 * 0b0011 + 1] == 3 / 16
    assert len(usage.unused) == 32 - 7


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("wide", [False, True])
def test_the_compiled_counts_are_those_of_the_reference_engine(seed: int, wide: bool) -> None:
    rng = np.random.default_rng(seed)
    settings = replace(
        random_settings(rng), hidden=int(rng.integers(1, 40)), steps=int(rng.choice([1, 7, 40]))
    )
    if wide:
        settings = replace(settings, neurons="binary")  # one more form would take long to compile
        task = TableTask(random_table(rng, 4, 3))
        batch = random_trials(rng, "dsp", task, settings, episodes=6, trials=4)
    else:
        batch = random_batch(rng, settings, climbing=False, episodes=6).part(0, 4)
    ours, theirs = count_usage(batch, "cpu"), count_usage(batch, "reference")
    assert (ours.counts == theirs.counts).all()


@pytest.mark.parametrize(("resample", "updates"), [(None, 10), (4, 8), (2, 5)])
def test_every_update_that_an_episode_follows_counts_every_synapse_once(
    resample: int | None, updates: int
) -> None:
    rule = distal.find_rule("evolved:1")
    batch = replace(trials(rule, episodes=11, count=3, hidden=6, steps=9), resample=resample)
    usage = count_usage(batch, "cpu")
    # inputs, recurrent without those to itself, feedback, outputs, the biases of both
    synapses = {"inputs": 3 * 6, "recurrent": 6 * 5, "feedback": 4 * 6, "outputs": 6 * 4, "biases": 6 + 4}
    for layer, counts in zip(LAYERS, usage.counts.swapaxes(0, 1), strict=True):
        assert counts.sum() == synapses[layer] * updates * len(batch), layer
    assert usage.counts.shape == (10, 5, 32)
    assert usage.rows.sum() == pytest.approx(1)
    if resample is None:
        assert (usage.counts.sum(axis=(1, 2)) == usage.total // 10).all()


def test_shares_of_layers_and_tenths_add_up_to_one_and_an_empty_part_has_none() -> None:
    counts = np.zeros((2, 5, 32), np.int64)
    counts[0, 0, 3], counts[0, 1, 3], counts[1, 1, 4] = 1, 1, 2
    usage = Usage(counts)
    assert usage.rows[[3, 4]].tolist() == [0.5, 0.5]
    assert usage.layers[1, [3, 4]].tolist() == [1 / 3, 2 / 3]
    assert usage.layers.sum(axis=1).tolist() == [1, 1, 0, 0, 0]
    assert usage.tenths[:, 3].tolist() == [1, 0]
    assert usage.rewarded == 0.5


@hypothesis_settings(max_examples=15)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.1, 0.4, 0.9]))
def test_a_row_that_is_not_used_can_have_any_change(seed: int, theta: float) -> None:
    rng = np.random.default_rng(seed)
    rule = Rule(rng.choice([-1, 0, 1], 32).tolist(), 0.3, theta, 0.4, 0.2)
    usage = count_usage(batch_of(
        [rule], np.array([seed], np.uint64), task=MazeTask(T), settings=Settings(hidden=4, steps=9), trials=2,
        episodes=8,
    ), "cpu")  # fmt: skip
    assert {0, 1} & set(usage.unused) or theta >= 0.25  # one state always has a quarter of the steps
    others = rule
    for row in usage.unused:
        others = with_row(others, row, (rule.delta_w[row] + 2) % 3 - 1)
    options: Any = {"maze": T, "hidden": 4, "steps": 9, "trials": 2, "episodes": 8, "seed": seed}
    ours, theirs = (distal.learn(one, chance=False, keep_ep=True, **options) for one in (rule, others))
    assert np.array_equal(ours.ep, theirs.ep)  # type: ignore[arg-type]


def test_the_rows_of_a_task_without_a_table_are_counted_where_no_engine_is_named() -> None:
    asked: dict[str, Any] = {"task": "CartPole-v1", "episodes": 3, "trials": 2, "steps": 20, "hidden": 3}
    found, expected = (distal.inspect("paper:1", engine=name, **asked) for name in (None, "reference"))
    assert (found.result.engine, expected.result.engine) == ("steps", "reference")
    assert (found.usage.counts == expected.usage.counts).all()
