"""A result beside chance: the difference in pairs of trials, and the curves of both."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from scipy import stats

from distal import Chance, Difference, Result, Settings, learn
from distal.search.results import Fresh
from distal.tasks.mazes import MazeTask
from tests.given import some
from tests.mazes import T


def result_of(best: list[list[int]], by_chance: list[list[int]] | None = None) -> Result:
    def result(values: list[list[int]], **more: Any) -> Result:
        return Result(
            best=np.minimum.accumulate(np.array(values, np.int32), axis=1), ep=np.array(values, np.int32),
            learner=Chance(0.2, 0.2), task=MazeTask(T), settings=Settings(), trials=len(values) // 2,
            resample=None, seed=0, engine="cpu", workers=None, **more,
        )  # fmt: skip

    return result(best, chance=None if by_chance is None else result(by_chance))


def test_the_difference_from_chance_is_paired() -> None:
    result = result_of([[110], [90], [130], [70]], [[120], [96], [150], [74]])
    # differences −10, −6, −20, −4: mean −10, deviations 0, 4, −10, 6: √(152 / 3) / 2
    assert result.difference is not None
    assert result.difference.mean == -10
    assert result.difference.standard_error == pytest.approx(np.sqrt(152 / 3) / 2)
    expected = stats.ttest_rel([110, 90, 130, 70], [120, 96, 150, 74]).pvalue
    assert result.difference.p == pytest.approx(expected)
    assert not result.difference.decided
    assert Difference(-10, 3, p=0.049).decided
    assert not Difference(-10, None, p=0.05).decided


def test_learn_and_evolve_say_by_one_definition_that_chance_is_beaten() -> None:
    draw = np.random.default_rng(0)
    for shift in (-10, -4, -2, 0, 2, 10):
        own, by_chance = draw.integers(60, 140, (2, 80))
        result = result_of((own + shift)[:, None].tolist(), by_chance[:, None].tolist())
        assert result.difference is not None
        fresh = Fresh.of(result.final, some(result.chance).final)
        assert fresh.p == result.difference.p
        assert fresh.beats_chance == (result.difference.decided and result.difference.mean < 0)


def test_the_table_of_all_episodes_has_both_curves_of_learner_and_chance() -> None:
    result = learn("paper:2", maze=T, trials=2, episodes=4, steps=8, keep_ep=True)
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len(rows) == 2 * 2 * 4
    for k, row in enumerate(rows):
        trial, episode = divmod(k, 4)
        assert (int(row["trial"]), row["final_position"]) == (trial // 2 + 1, "01"[trial % 2])
        assert int(row["episode"]) == episode + 1
        assert int(row["ep"]) == some(result.ep)[trial, episode]
        assert int(row["best"]) == result.best[trial, episode]
        assert int(row["chance_ep"]) == some(some(result.chance).ep)[trial, episode]
        assert int(row["chance_best"]) == some(result.chance).best[trial, episode]
