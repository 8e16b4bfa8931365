"""Wrappers: they nest, and their fields stand in files."""

from __future__ import annotations

import pytest

from distal import InputError, Islands, Race, Restarts
from distal.search.config import Config
from distal.search.islands import Archipelago
from distal.search.restarts import Restarted
from distal.search.search import Algorithm
from tests.evolutions import FEW, told


@pytest.mark.parametrize(
    ("search", "fields"),
    [
        (Race(FEW, heats=2), {"race": 2}),
        (Restarts(FEW, every=3), {"finalists": 2, "restart": 3}),
        (
            Race(Restarts(Islands(FEW, 2, exchange=1), every=4)),
            {"race": 1, "finalists": 3, "islands": 2, "exchange": 1, "restart": 4},
        ),
    ],
)
def test_the_fields_of_wrappers_stand_in_the_file_before_those_of_the_search(
    search: Algorithm, fields: dict[str, int]
) -> None:
    stored = Config(search=search, finalists=fields.get("finalists", 0), fresh=8).to_dict()
    names = list(stored)
    assert names[names.index("fresh") + 1 : names.index("population")] == list(fields)
    assert {name: stored[name] for name in fields} == fields


def test_wrappers_nest_in_one_order() -> None:
    whole = Race(Restarts(Islands(FEW, 3), every=50), heats=2)
    assert (whole.core, whole.heats, whole.population) == (FEW, 2, 18)
    assert whole.wrapping == {"race": 2, "islands": 3, "restart": 50}
    for make, message in (
        (lambda: Islands(Race(FEW), 2), "Islands cannot wrap Race; put Race around Islands"),
        (lambda: Islands(Restarts(FEW, 5), 2), "Islands cannot wrap Restarts; put Restarts around Islands"),
        (lambda: Restarts(Race(FEW), 5), "Restarts cannot wrap Race; put Race around Restarts"),
        (lambda: Race(Race(FEW)), "Race cannot wrap Race; leave one Race out"),
        (lambda: Race("ga"), "search is 'ga', expected an algorithm such as GeneticAlgorithm"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError, match=message):
            make()


def test_fields_that_wrap_nothing_are_read_as_no_wrapper() -> None:
    # Version 0.4 wrote an exchange without islands, where one was given.
    data = {**Config(search=FEW).to_dict(), "exchange": 5, "islands": 1, "race": 0, "restart": None}
    assert Config.from_dict(data) == Config(search=FEW)
    for name, value in (("islands", 0), ("race", 21), ("restart", 0), ("exchange", "2")):
        with pytest.raises(InputError, match=f"{name} is {value!r}, expected a whole number"):
            Config.from_dict({**data, name: value})


def test_islands_and_starts_have_seeds_of_their_own() -> None:
    config = Config(search=Restarts(Islands(FEW, 2), every=2))
    search = config.begin(config.run_seed(0))
    assert isinstance(search, Restarted)
    seeds = {search.seed}
    for _ in range(2):
        assert isinstance(search.inner, Archipelago)
        seeds |= {part.seed for part in search.inner.parts}
        told(search, *[[float(place) for place in range(12)]] * 3)
    assert len(seeds) == 5
