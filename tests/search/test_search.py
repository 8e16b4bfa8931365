"""Searches: a new one is a few lines, and every one resumes from its state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from distal import CMA, GeneticAlgorithm, InputError, Islands, Race, Restarts, Runner, evolve, resume
from distal.model.draws import child_seed
from distal.search import registry
from distal.search.contents import summary
from distal.search.genotypes import Genotypes
from distal.search.search import Algorithm, Search, ask_all
from tests.evolutions import FEW, TINY, Stop, contents, stop_after
from tests.given import some
from tests.refusals import refused

# ------------------------------------------------------------------ a new search: this is all of it


@dataclass(eq=False)
class RandomDraws(Search):
    """Draws every genotype at random."""

    count: int

    def ask(self) -> Genotypes:
        rng = np.random.default_rng(child_seed(self.seed, self.generation + 1))
        discrete = rng.integers(-1, 2, (self.count, self.discrete), np.int8)
        return Genotypes(discrete, rng.random((self.count, self.continuous)))


@dataclass(frozen=True)
class RandomSearch(Algorithm):
    """Random search."""

    name: ClassVar[str] = "random"
    population: int = 5

    def begin(self, discrete: int, continuous: int, seed: int) -> RandomDraws:
        return RandomDraws(discrete, continuous, seed, self.population)


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    registry.register(RandomSearch)
    yield
    del registry.ALGORITHMS["random"]


AVERAGED = GeneticAlgorithm(population=6, elite_count=2, elites="averaged")
UNIFORM = GeneticAlgorithm(population=6, elite_count=2, parents="elites", mixing="uniform")
SEARCHES: list[tuple[str, Algorithm, int]] = [  # what is evolved, how, and the number of finalists
    *(("dsp", search, 0) for search in (RandomSearch(), GeneticAlgorithm(population=6), CMA(population=6))),
    ("hc", CMA(population=6), 0),
    ("hc", Race(AVERAGED, heats=2), 0),
    ("dsp", Islands(FEW, 2, exchange=2), 3),
    ("dsp", Restarts(UNIFORM, every=3), 2),
    ("dsp", Race(Restarts(Islands(AVERAGED, 2, exchange=1), every=4)), 0),
]


@pytest.mark.parametrize(("learner", "search", "finalists"), SEARCHES)
def test_a_run_that_stops_in_any_generation_resumes_to_the_same_bytes(
    learner: str, search: Algorithm, finalists: int, tmp_path: Path
) -> None:
    options: Any = {**TINY, "generations": 5, "search": search, "finalists": finalists}
    whole = evolve(learner, **options, out=tmp_path / "whole")
    for generation in (0, 2, 3, 5):
        folder = tmp_path / str(generation)
        with pytest.raises(Stop):
            evolve(learner, **options, out=folder, progress=stop_after(generation))
        again = resume(folder, engine=Runner(workers=2))
        assert again.config.search == search
        assert contents(folder) == contents(tmp_path / "whole")
        assert [one.selected for one in again.winners] == [one.selected for one in whole.winners]
    shown = summary(tmp_path / "whole")["runs"]
    assert [one["best"] for one in shown] == [one.selected for one in whole.winners]
    alone = evolve(learner, **{**options, "runs": 1})
    assert alone.best[0].tolist() == whole.best[0].tolist()


def test_more_generations_of_a_finished_run_are_those_of_a_longer_one(tmp_path: Path) -> None:
    for generations in (3, 1):
        evolve("hc", **{**TINY, "generations": generations}, search=FEW, out=tmp_path / str(generations))
    resume(tmp_path / "1", generations=3)
    assert contents(tmp_path / "1") == contents(tmp_path / "3")
    with pytest.raises(InputError, match="generations is 2, expected a whole number from 3"):
        resume(tmp_path / "1", generations=2)


def test_the_leader_is_the_best_of_the_current_generation() -> None:
    search = RandomSearch().begin(2, 1, 5)
    for generation, fitness in enumerate(([3.0, 1.0, 2.0, 4.0, 5.0], [9.0, 8.0, 7.0, 8.0, 9.0])):
        asked = search.ask()
        search.tell(asked, np.array(fitness))
        assert (search.generation, search.best_generation, search.best_fitness) == (
            generation, generation, min(fitness),
        )  # fmt: skip
        leader = fitness.index(min(fitness))
        assert some(search.best).continuous.tolist() == asked.continuous[[leader]].tolist()


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (None, "the result of ask is None, expected Genotypes"),
        (Genotypes(np.zeros((0, 2), np.int8), np.zeros((0, 1))), "shapes (0, 2) and (0, 1)"),
        (Genotypes(np.zeros((3, 1), np.int8), np.zeros((3, 2))), "shapes (3, 1) and (3, 2)"),
        (Genotypes(np.zeros((3, 2), np.int8), np.zeros((4, 1))), "shapes (3, 2) and (4, 1)"),
    ],
)
def test_what_a_search_asks_for_has_to_fit(asked: Any, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RandomDraws, "ask", lambda search: asked)
    assert problem in refused(lambda: ask_all([RandomSearch().begin(2, 1, 0)]))


@pytest.mark.parametrize("algorithm", [RandomSearch(), GeneticAlgorithm(population=5), CMA(population=5)])
def test_only_what_was_asked_for_can_be_told(algorithm: Algorithm) -> None:
    search = algorithm.begin(2, 1, 0)
    with pytest.raises(InputError, match="the search has been told nothing yet"):
        search.state()
    asked = search.ask()
    wrong: Any
    for wrong in (None, [1.0] * 5, np.ones(4), np.ones((5, 1)), np.full(5, np.nan), np.array(["x"] * 5)):
        with pytest.raises(InputError, match=r"fitness is .*, expected an array of 5"):
            search.tell(asked, wrong)
    assert search.generation == -1
    if not isinstance(algorithm, RandomSearch):
        with pytest.raises(InputError, match=r"^3 genotypes were told, expected th"):
            search.tell(asked[:3], np.ones(3))
        assert search.generation == -1
