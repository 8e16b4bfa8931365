"""The registry: searches that files can name, and refusals of others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from distal import GeneticAlgorithm, InputError, evolve, resume
from distal.search import registry
from distal.search.contents import summary
from tests.evolutions import TINY, contents
from tests.search.test_search import RandomSearch, known  # noqa: F401 - a fixture


def test_the_genetic_algorithm_does_not_name_itself_in_files_and_others_do(tmp_path: Path) -> None:
    settings = ["hidden", "steps", "outputs", "blocked", "m_ties", "trace_pre", "normalise"]
    frame = ["format", "version", "sha256", "distal", "learner", "runs", "generations", "trials"]
    options = {
        "ga": ["population", "elite_count", "crossover", "mutation", "deviation", "elites"],
        "random": ["search", "search_module", "population"],
    }
    for search in (GeneticAlgorithm(population=4, elite_count=1), RandomSearch()):
        evolve("hc", **{**TINY, "generations": 0, "fresh": None}, search=search, out=tmp_path / search.name)
        stored = json.loads((tmp_path / search.name / "config.json").read_text())
        own = options[search.name]
        assert list(stored) == [*frame, "episodes", "seed", *own, *settings, "maze", "heading"]
        assert summary(tmp_path / search.name)["search"] == search.name


@dataclass(frozen=True)
class Clash(RandomSearch):
    """Has an option that means something else in an evolution."""

    name: ClassVar[str] = "clash"
    trials: int = 1


@dataclass(frozen=True)
class Unknown(RandomSearch):
    """Is not registered, and calls itself the genetic algorithm."""

    name: ClassVar[str] = "ga"


def test_a_search_that_no_file_could_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.ALGORITHMS, "clash", Clash)
    wrong: Any
    for wrong, problem in (
        ("ga", "search is 'ga', expected an algorithm such as GeneticAlgorithm"),
        (GeneticAlgorithm, "expected an algorithm such as GeneticAlgorithm"),
        (Unknown(), "the search Unknown is not registered; use distal.search.registry.register"),
        (Clash(), "the search clash has an option 'trials'; call it something else"),
    ):
        with pytest.raises(InputError, match=problem):
            evolve("hc", **TINY, search=wrong)
    with pytest.raises(InputError, match="there is a search 'ga' already; choose another name"):
        registry.register(Unknown)
    assert registry.register(RandomSearch) is RandomSearch  # twice is once


def test_a_folder_of_an_unknown_search_is_refused_and_left_alone(tmp_path: Path) -> None:
    evolve("hc", **TINY, search=RandomSearch(), out=tmp_path / "runs")
    before = contents(tmp_path / "runs")
    kind = registry.ALGORITHMS.pop("random")
    with pytest.raises(InputError, match=r"runs': search 'random' is not known here; it came from module "):
        resume(tmp_path / "runs", generations=5)
    registry.register(kind)
    assert contents(tmp_path / "runs") == before
