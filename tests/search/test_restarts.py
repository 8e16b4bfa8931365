"""Restarts: a new start every so many generations, in which the finds of earlier ones stay."""

from __future__ import annotations

from typing import Any

import pytest

from distal import GeneticAlgorithm, InputError, Restarts
from distal.search.restarts import Restarted
from tests.evolutions import told

FEW = GeneticAlgorithm(population=4, elite_count=1)


def restarts(search: GeneticAlgorithm = FEW) -> Restarted:
    return Restarts(search, every=2).begin(2, 1, 7)


def test_a_restart_begins_anew_and_keeps_what_was_found() -> None:
    search = restarts()
    search.wanted = 2
    first, _ = told(search, [5.0, 1.0, 7.0, 9.0], [5.0, 2.0, 7.0, 9.0])
    third, _ = told(search, [6.0, 8.0, 7.0, 9.0], [6.0, 8.0, 7.0, 9.0])
    assert third.continuous.tolist() != first.continuous.tolist()
    assert third.continuous.tolist() == FEW.begin(2, 1, search.inner.seed).ask().continuous.tolist()
    # The first start ended with a best of 2, born in generation 1; the second has 6.
    assert (search.best_fitness, search.best_generation) == (2, 1)
    finalists = search.finalists(3)
    assert finalists.fitness.tolist() == [2, 5, 6]
    assert finalists.born.tolist()[2] == 2


def test_to_ask_for_a_new_start_changes_nothing() -> None:
    search = restarts()
    told(search, *[[5.0, 1.0, 7.0, 9.0]] * 2)
    before = search.state()
    assert search.ask().genes == search.ask().genes
    assert search.state() == before


def test_a_leader_that_has_left_the_population_is_kept_at_a_restart() -> None:
    search = restarts(GeneticAlgorithm(population=4, elite_count=0, elites="kept"))
    told(search, [5.0, 1.0, 7.0, 9.0], [5.0, 4.0, 7.0, 9.0], [8.0, 8.0, 8.0, 8.0])
    assert (search.best_fitness, search.best_generation) == (1.0, 0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"archive": None}, "the archive belongs to another generation"),
        ({"generation": 3}, "its start is in generation 0, its run in 3"),
        ({"archive": {"born": [9]}}, "born is 9"),
    ],
)
def test_a_damaged_state_of_restarts_is_refused(wrong: dict[str, Any], message: str) -> None:
    search = restarts()
    told(search, *[[1.0, 2.0, 3.0, 4.0]] * 3)
    state = search.state()
    if wrong.get("archive"):
        wrong = {"archive": {**state["archive"], **wrong["archive"]}}
    with pytest.raises(InputError, match=message):
        restarts().restore({**state, **wrong})
