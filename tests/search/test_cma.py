"""CMA-ES with margin: the library's optimizer, seeded in every generation."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from distal import CMA, GeneticAlgorithm, InputError, evolve
from distal.model.draws import child_seed
from distal.search import cma
from distal.search.config import Config
from distal.search.evolve import estimate
from distal.tasks.mazes import MazeTask
from tests.evolutions import MAZE, toy
from tests.given import some


def test_cma_solves_a_toy_problem_to_its_known_optimum() -> None:
    search = CMA().begin(8, 2, 5)
    for _ in range(120):
        asked = search.ask()
        assert asked.continuous.min() >= 0
        assert asked.continuous.max() <= 1
        search.tell(asked, toy(asked))
    assert some(search.best).discrete[0].tolist() == [1] * 8
    assert some(search.best).continuous[0] == pytest.approx([0.3, 0.3], abs=0.01)


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
        ({"covariance": [[1.0] * 3] * 2}, "covariance is not a list of 3"),
        ({"covariance": [[-1.0] * 3] * 3}, "the distribution has no width"),
        ({"mean": [0.0, None, 0.0]}, "mean is None, expected a finite number"),
        ({"updates": 9}, "updates is 9, expected a whole number from 0 to 1"),
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
    estimate(Config(**few, search=GeneticAlgorithm())).check()
    with pytest.raises(InputError, match=r"400 runs of 14 individuals .* most of it for individuals"):
        evolve("dsp", **few, search=CMA())
