"""Races: few trials for all, more for those that may be best."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from distal import InputError, Race, evolve
from distal.search import racing
from distal.search.config import Config
from tests.evolutions import FEW, TINY


def test_half_of_the_field_goes_on_and_doubles_its_trials() -> None:
    # By hand: 5 contenders with 3 trials, then 3 with 3 more, 2 with 6 more, 1 with 12 more.
    assert list(racing.heats(5, 3, 3)) == [(5, 3), (3, 3), (2, 6), (1, 12)]
    asked: list[tuple[list[int], int, int]] = []

    def measure(places: NDArray[np.int64], trials: int, heat: int) -> NDArray[np.float64]:
        asked.append((places.tolist(), trials, heat))
        return np.repeat(places[:, None] + (10.0 if heat == 0 else 0.0), trials, axis=1)

    raced = racing.race(measure, [5, 2], trials=3, more=2)
    assert asked == [([0, 1, 2, 3, 4, 5, 6], 3, 0), ([0, 1, 2, 5], 3, 1), ([0, 1, 5], 6, 2)]
    assert raced.trials.tolist() == [12, 12, 6, 3, 3, 12, 3]
    # 0 ran 3 trials of 10 and 9 of 0: a mean of 2.5; 2 ran 3 of 12 and 3 of 2: 7.
    assert raced.fitness.tolist() == [2.5, 3.5, 7, 13, 14, 7.5, 16]
    assert raced.winner == 0


def test_the_winner_of_a_race_ran_in_its_last_heat() -> None:
    raced = racing.Raced(np.array([1.0, 3.0, 2.0]), np.array([4, 8, 8]))
    assert raced.winner == 2  # 0 looked better before it was dropped, over fewer trials


def test_a_race_in_evolution_costs_what_its_heats_cost_and_changes_the_result() -> None:
    config = Config(runs=2, trials=1, episodes=4, search=Race(FEW, heats=2))
    # Per generation: 6 + 3 + 2 · 2 = 13 candidates' trials for each of eight goals, 4 episodes each.
    assert config.spent(0) == 13 * 8 * 4
    assert config.spent(9) == 10 * 13 * 8 * 4
    plain, raced = (evolve(**TINY, search=search) for search in (FEW, Race(FEW, heats=2)))
    assert plain.best.shape == raced.best.shape
    assert not np.array_equal(plain.best, raced.best)


def test_the_memory_of_a_race_is_that_of_its_largest_heat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISTAL_MEMORY", "100M")
    evolve(**{**TINY, "generations": 0}, search=Race(FEW))
    with pytest.raises(InputError, match="of memory, most of it for trials"):
        evolve(**{**TINY, "generations": 0}, search=Race(FEW, heats=20))
