"""Searches: a new one is a few lines, every one resumes from its state, and what is no search is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import distal
from distal import CMA, GeneticAlgorithm, InputError, Maze, evolve, resume
from distal.cli import main
from distal.engines import Runner
from distal.model.draws import child_seed
from distal.search import cma, registry
from distal.search.evolve import Step, summary
from distal.search.genotypes import Genotypes
from distal.search.search import Algorithm, Search, ask_all
from distal.tasks.mazes import MazeTask

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


# ------------------------------------------------------------------ what every search has to do

MAZE = Maze.from_text("#####\n#0S1#\n#####")
TINY: dict[str, Any] = {
    "runs": 2, "generations": 3, "trials": 1, "episodes": 4, "steps": 6, "hidden": 3, "maze": MAZE,
}  # fmt: skip


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    registry.register(RandomSearch)
    yield
    del registry.ALGORITHMS["random"]


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files that are reproducible."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "seconds.csv")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


class Stop(Exception):  # noqa: N818
    """Ends an evolution from outside."""


def stop_after(generation: int) -> Callable[[Step], None]:
    def progress(step: Step) -> None:
        if step.generation == generation:
            raise Stop

    return progress


@pytest.mark.parametrize("learner", ["dsp", "hc"])
@pytest.mark.parametrize("search", [RandomSearch(), GeneticAlgorithm(population=6), CMA(population=6)])
def test_a_run_that_stops_in_any_generation_resumes_to_the_same_bytes(
    search: Algorithm, learner: str, tmp_path: Path
) -> None:
    whole = evolve(learner, **TINY, search=search, out=tmp_path / "whole")
    assert len(whole.winners) == 2
    for generation in range(4):
        folder = tmp_path / str(generation)
        with pytest.raises(Stop):
            evolve(learner, **TINY, search=search, out=folder, progress=stop_after(generation))
        assert resume(folder, engine=Runner(workers=2)).config.search == search
        assert contents(folder) == contents(tmp_path / "whole")
    evolve(learner, **{**TINY, "generations": 1}, search=search, out=tmp_path / "short")
    resume(tmp_path / "short", generations=3)
    assert contents(tmp_path / "short") == contents(tmp_path / "whole")
    alone = evolve(learner, **{**TINY, "runs": 1}, search=search)
    assert alone.best[0].tolist() == whole.best[0].tolist()


def test_the_leader_is_the_best_of_the_current_generation() -> None:
    search = RandomSearch().begin(2, 1, 5)
    for generation, fitness in enumerate(([3.0, 1.0, 2.0, 4.0, 5.0], [9.0, 8.0, 7.0, 8.0, 9.0])):
        asked = search.ask()
        search.tell(asked, np.array(fitness))
        assert (search.generation, search.best_generation, search.best_fitness) == (
            generation, generation, min(fitness),
        )  # fmt: skip
        assert search.best is not None
        leader = fitness.index(min(fitness))
        assert search.best.continuous.tolist() == asked.continuous[[leader]].tolist()


def test_the_genetic_algorithm_does_not_name_itself_in_files_and_others_do(tmp_path: Path) -> None:
    settings = ["hidden", "steps", "outputs", "blocked", "m_ties", "trace_pre", "normalise"]
    frame = ["format", "version", "sha256", "distal", "learner", "runs", "generations", "trials"]
    options = {
        "ga": ["population", "elite_count", "crossover", "mutation", "deviation", "elites"],
        "random": ["search", "population"],
    }
    for search in (GeneticAlgorithm(population=4, elite_count=1), RandomSearch()):
        evolve("hc", **{**TINY, "generations": 0}, search=search, out=tmp_path / search.name)
        stored = json.loads((tmp_path / search.name / "config.json").read_text())
        own = options[search.name]
        assert list(stored) == [*frame, "episodes", "seed", *own, *settings, "maze", "heading"]
        assert summary(tmp_path / search.name)["search"] == search.name


def test_the_old_keywords_are_short_for_the_genetic_algorithm() -> None:
    short = evolve("hc", **TINY, population=5, elite_count=2, mutation=0.3, elites="kept")
    search = GeneticAlgorithm(population=5, elite_count=2, mutation=0.3, elites="kept")
    assert short.config.search == search
    assert short.best.tolist() == evolve("hc", **TINY, search=search).best.tolist()
    with pytest.raises(InputError, match=r"^crossover is given as well as search; write search="):
        evolve("hc", **TINY, search=GeneticAlgorithm(), crossover=0.5)


# ------------------------------------------------------------------ what is no search


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
    with pytest.raises(InputError, match=r"config\.json' is damaged: search is 'random', expected one of ga"):
        resume(tmp_path / "runs", generations=5)
    registry.register(kind)
    assert contents(tmp_path / "runs") == before


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (None, "what ask returned is None, expected Genotypes"),
        (Genotypes(np.zeros((0, 2), np.int8), np.zeros((0, 1))), "shapes (0, 2) and (0, 1)"),
        (Genotypes(np.zeros((3, 1), np.int8), np.zeros((3, 2))), "shapes (3, 1) and (3, 2)"),
        (Genotypes(np.zeros((3, 2), np.int8), np.zeros((4, 1))), "shapes (3, 2) and (4, 1)"),
    ],
)
def test_what_a_search_asks_for_has_to_fit(asked: Any, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RandomDraws, "ask", lambda search: asked)
    with pytest.raises(InputError) as refusal:
        ask_all([RandomSearch().begin(2, 1, 0)])
    assert problem in str(refusal.value)


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


# ------------------------------------------------------------------ CMA-ES


def toy(genotypes: Genotypes) -> NDArray[np.float64]:
    """Count discrete genes that are not 1, and add the distance of continuous ones from 0.3: optimum 0."""
    far: NDArray[np.float64] = np.abs(genotypes.continuous - 0.3).sum(axis=1)
    wrong: NDArray[np.int64] = (genotypes.discrete != 1).sum(axis=1)
    return wrong + far


def test_cma_solves_a_toy_problem_to_its_known_optimum() -> None:
    search = CMA().begin(8, 2, 5)
    for _ in range(120):
        asked = search.ask()
        assert asked.continuous.min() >= 0
        assert asked.continuous.max() <= 1
        search.tell(asked, toy(asked))
    assert search.best is not None
    assert search.best.discrete[0].tolist() == [1] * 8
    assert search.best.continuous[0] == pytest.approx([0.3, 0.3], abs=0.01)


def test_cma_is_the_librarys_optimizer_seeded_in_every_generation() -> None:
    from cmaes import CMAwM

    theirs = CMAwM(
        mean=np.array([0, 0, 0, 0.5, 0.5]), sigma=0.3, steps=np.array([1, 1, 1, 0, 0]), population_size=6,
        bounds=np.array([[-1, 1]] * 3 + [[0, 1]] * 2), cov=np.diag([9.0, 9, 9, 1, 1]),
    )  # fmt: skip
    ours = CMA(population=6).begin(3, 2, 7)
    for generation in range(60):
        theirs.reseed_rng(child_seed(7, generation, 0, 20) % 2**32)
        drawn = [theirs.ask() for _ in range(6)]
        asked = ours.ask()
        assert [*asked.discrete[2], *asked.continuous[2]] == drawn[2][0].tolist()
        # A gene that should be 0 has the margin on both sides, and its scale changes.
        fitness = np.abs(asked.discrete).sum(axis=1) + np.abs(asked.continuous - 0.3).sum(axis=1)
        ours.tell(asked, fitness)
        theirs.tell([(raw, value) for (_, raw), value in zip(drawn, fitness, strict=True)])


def test_the_first_generation_of_cma_is_as_wide_as_sigma_says() -> None:
    asked = CMA(population=4_000, sigma=0.1).begin(3, 2, 1).ask()
    assert asked.continuous.mean() == pytest.approx(0.5, abs=0.01)
    assert asked.continuous.std() == pytest.approx(0.1, rel=0.03)
    # A tenth of three values is 0.3, and values beyond ±0.5 are rounded away from 0.
    assert (asked.discrete != 0).mean() == pytest.approx(0.0956, abs=0.012)


def test_cma_starts_over_when_it_has_converged_also_from_a_stored_state() -> None:
    whole, parts = (CMA(population=4).begin(0, 1, 3) for _ in range(2))
    assert isinstance(whole, cma.CMASearch)
    updates = []
    for _ in range(100):
        asked = whole.ask()
        whole.tell(asked, np.ones(len(asked)))  # nothing to be learned: the library stops
        updates.append(whole.state()["distribution"]["updates"])
        asked = parts.ask()
        parts.tell(asked, np.ones(len(asked)))
        state = json.loads(json.dumps(parts.state()))
        parts = CMA(population=4).begin(0, 1, 3)
        parts.restore(state)
    assert 1 < min(np.flatnonzero(np.array(updates) == 1)[1:]) < 100  # it counts its updates from the start
    assert parts.state() == whole.state()


def test_cma_can_be_asked_twice_without_a_difference() -> None:
    once, twice = (CMA(population=5).begin(4, 2, 3) for _ in range(2))
    for _ in range(3):
        twice.ask()
        for search in (once, twice):
            asked = search.ask()
            search.tell(asked, toy(asked))
        assert once.state() == twice.state()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sigma": 0}, "the distribution has no width"),
        ({"sigma": "1"}, "sigma is '1', expected a finite number"),
        ({"covariance": [[1.0] * 3] * 2}, "covariance is not a list of 3"),
        ({"covariance": [[-1.0] * 3] * 3}, "the distribution has no width"),
        ({"mean": [0.0, None, 0.0]}, "mean is None, expected a finite number"),
        ({"updates": 9}, "updates is 9, expected a whole number from 0 to 1"),
        ({"path": []}, "path is not a list of 3"),
    ],
)
def test_cma_refuses_a_state_that_it_cannot_have_had(change: dict[str, Any], problem: str) -> None:
    search = CMA(population=5).begin(2, 1, 3)
    asked = search.ask()
    search.tell(asked, toy(asked))
    state = search.state()
    state["distribution"].update(change)
    with pytest.raises(InputError, match=problem):
        CMA(population=5).begin(2, 1, 3).restore(state)
    del state["distribution"]
    with pytest.raises(InputError, match="'distribution' is missing"):
        CMA(population=5).begin(2, 1, 3).restore(state)
    with pytest.raises(InputError, match="fitness is not a list of 6"):
        CMA(population=6).begin(2, 1, 3).restore({**search.state()})


def test_without_its_package_cma_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cma, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs the package cmaes: pip install 'distal\[cma\]'"):
        CMA()


def test_the_covariances_of_many_runs_count_as_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISTAL_MEMORY", "64M")
    few: dict[str, Any] = {"runs": 400, "generations": 0, "episodes": 1, "trials": 1, "task": MazeTask(MAZE)}
    distal.search.evolve.estimate(distal.search.config.Config(**few, search=GeneticAlgorithm())).check()
    with pytest.raises(InputError, match=r"400 runs of 14 individuals .* most of it for individuals"):
        evolve("dsp", **few, search=CMA())


def test_the_command_line_takes_a_search_and_its_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "runs")
    small = ["--runs", "1", "--generations", "1", "--trials", "1", "--episodes", "2", "--hidden", "2"]
    assert (
        main(["evolve", "--search", "cma", "--sigma", "0.2", "--population", "5", *small, "--out", out]) == 0
    )
    assert "1 run of 1 generation, search cma, seed 0" in capsys.readouterr().out
    assert main(["evolve", "--resume", out, "--generations", "2"]) == 0
    assert main(["runs", out]) == 0
    assert "learner dsp, search cma, seed 0, generation 2 of 2, finished" in capsys.readouterr().out
    assert resume(out).config.search == CMA(population=5, sigma=0.2)
    shutil.rmtree(out)
    for options, problem in (
        (["--search", "cma", "--elite-count", "2"], "the search cma has no option elite_count; it has popu"),
        (["--sigma", "0.2"], "the search ga has no option sigma; it has population, elite_count"),
        (["--search", "cms"], "search is 'cms', expected one of ga, cma, random; did you mean 'cma'?"),
        (["--search", "cma", "--sigma", "0"], "sigma is 0, expected a number above 0, up to 1"),
        (["--search", "cma", "--population", "3"], "population is 3, expected a whole number from 4"),
    ):
        assert main(["evolve", *options, "--out", out]) == 2
        assert problem in capsys.readouterr().err
        assert not Path(out).exists()
    assert main(["evolve", "--resume", out, "--search", "cma"]) == 2
    assert (
        "--search cannot be given with --resume; only --generations and --budget can"
        in capsys.readouterr().err
    )
