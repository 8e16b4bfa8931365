"""Wrappers: they nest, their fields stand in files, and their runs resume byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from distal import GeneticAlgorithm, InputError, Islands, Race, Restarts, evolve, resume
from distal.search.config import Config
from distal.search.contents import summary
from distal.search.islands import Archipelago
from distal.search.restarts import Restarted
from distal.search.search import Algorithm
from tests.evolutions import FEW, TINY, Stop, contents, stop_after, told

AVERAGED = GeneticAlgorithm(population=6, elite_count=2, elites="averaged")
UNIFORM = GeneticAlgorithm(population=6, elite_count=2, parents="elites", mixing="uniform")
AGAINST_NOISE: list[tuple[Algorithm, dict[str, Any]]] = [
    (Race(AVERAGED, heats=2), {"race": 2}),
    (Islands(FEW, 2, exchange=2), {"finalists": 3, "islands": 2, "exchange": 2}),
    (Restarts(UNIFORM, every=3), {"finalists": 2, "restart": 3}),
    (
        Race(Restarts(Islands(AVERAGED, 2, exchange=1), every=4)),
        {"race": 1, "islands": 2, "exchange": 1, "restart": 4},
    ),
]


@pytest.mark.parametrize(("search", "fields"), AGAINST_NOISE)
def test_a_run_that_stops_anywhere_resumes_to_the_same_bytes(
    search: Algorithm, fields: dict[str, Any], tmp_path: Path
) -> None:
    options: Any = {**TINY, "search": search, "finalists": fields.get("finalists", 0)}
    whole = evolve(**options, out=tmp_path / "whole")
    for generation in (0, 2, 3, 6):
        folder = tmp_path / str(generation)
        with pytest.raises(Stop):
            evolve(**options, out=folder, progress=stop_after(generation))
        again = resume(folder)
        assert contents(folder) == contents(tmp_path / "whole")
        assert again.config.search == search
        assert [one.selected for one in again.winners] == [one.selected for one in whole.winners]
    shown = summary(tmp_path / "whole")["runs"]
    assert [one["best"] for one in shown] == [one.selected for one in whole.winners]
    assert [one["genes"]["eta"] for one in shown] == [one.learner.numbers["eta"] for one in whole.winners]
    stored = json.loads((tmp_path / "whole" / "config.json").read_text())
    places = [list(stored).index(name) for name in fields]
    assert {name: stored[name] for name in fields} == fields
    assert places == list(range(list(stored).index("fresh") + 1, list(stored).index("population")))


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
