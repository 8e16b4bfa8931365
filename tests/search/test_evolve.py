"""The door `evolve`: its arguments, the runs that it begins, and what it refuses."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import InputError, evolve, resume
from distal.cli import main
from distal.search.config import Config
from distal.search.contents import summary
from distal.search.genotypes import Genotypes
from distal.search.search import Search
from tests.evolutions import FEW, TINY
from tests.refusals import refused


def test_evolve_has_at_most_twenty_parameters() -> None:
    assert len(inspect.signature(evolve).parameters) <= 20


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        (
            {"population": 5},
            r"population belongs to the search: evolve(search=GeneticAlgorithm(population=5))",
        ),
        ({"elites": "kept"}, "elites belongs to the search: evolve(search=GeneticAlgorithm(elites='kept'))"),
        ({"race": 2}, "race belongs to the search: evolve(search=Race(GeneticAlgorithm(), heats=2))"),
        ({"islands": 4}, "islands belongs to the search: evolve(search=Islands(GeneticAlgorithm(), 4))"),
        (
            {"restart": 9},
            "restart belongs to the search: evolve(search=Restarts(GeneticAlgorithm(), every=9))",
        ),
    ],
)
def test_an_option_of_the_search_is_refused_with_what_to_write(given: Any, instead: str) -> None:
    assert refused(lambda: evolve("hc", **TINY, **given)) == instead
    line = instead.partition(": ")[2].replace("evolve(", "evolve('hc', **{**TINY, 'generations': 0}, ")
    assert eval(line, {**vars(distal), "TINY": TINY}).config.learner == "hc"  # noqa: S307 - our own line


# ------------------------------------------------------------------ beginning with known rules


def test_a_first_population_begins_with_what_is_given(tmp_path: Path) -> None:
    rules: list[Any] = ["champion:1", distal.find_rule("paper:3")]
    found = evolve(search=FEW, **{**TINY, "generations": 0}, begin_with=rules, out=tmp_path / "runs")
    drawn = evolve(search=FEW, **{**TINY, "generations": 0}, out=tmp_path / "drawn")
    own, others = (
        json.loads((tmp_path / name / "state.json").read_text())["runs"] for name in ("runs", "drawn")
    )
    for run, other in zip(own, others, strict=True):
        assert run["discrete"][:2] == [
            list(distal.find_rule(name).delta_w) for name in ("champion:1", "paper:3")
        ]
        assert run["discrete"][2:] == other["discrete"][2:]
        assert run["continuous"][1] == list(distal.find_rule("paper:3").numbers.values())
    assert found.config.begin_with != drawn.config.begin_with == ()
    assert (
        Config.from_dict(json.loads(json.dumps(found.config.to_dict()))).begin_with == found.config.begin_with
    )
    more = resume(tmp_path / "runs", generations=2)
    whole = evolve(search=FEW, **{**TINY, "generations": 2}, begin_with=rules)
    assert [one.learner for one in more.winners] == [one.learner for one in whole.winners]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"begin_with": ["hc"]}, "begin_with has a learner of kind hc, but dsp is evolved"),
        ({"begin_with": "champion:1"}, "begin_with is 'champion:1', expected a list of learners"),
        ({"begin_with": ["paper:1"] * 7}, "7 individuals are given to begin with, but the population is 6"),
        ({"begin_with": ["paper:1"], "search": distal.Islands(FEW, 2)}, "given with islands or restart"),
        ({"begin_with": ["paper:1"], "search": distal.Restarts(FEW, 2)}, "given with islands or restart"),
        ({"begin_with": ["nosuch"]}, "nosuch"),
    ],
)
def test_what_cannot_be_begun_with_is_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        evolve(**{**TINY, "search": FEW, **options}, out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_search_that_cannot_begin_with_anything_says_so() -> None:
    class Walk(Search):
        def ask(self) -> Genotypes:
            raise NotImplementedError

    with pytest.raises(InputError, match="Walk cannot begin with given genotypes; use the search ga"):
        Walk(2, 1, 0).begin_with(Genotypes(np.zeros((1, 2), np.int8), np.zeros((1, 1))))


# ------------------------------------------------------------------ finalists, the budget, success


def test_a_budget_stands_in_place_of_generations() -> None:
    small = {**TINY, "generations": None, "budget": 6 * 2 * 4 * 5 + 1}
    assert evolve(**small, search=FEW).config.generations == 4  # 5 populations of 6, 2 trials, 4 episodes
    with pytest.raises(InputError, match="budget is 47, but the first population of a run takes 48"):
        evolve(search=FEW, **{**small, "budget": 47})
    with pytest.raises(InputError, match="both generations and budget are given"):
        evolve(search=FEW, **{**TINY, "budget": 1e6})


def test_a_run_can_be_resumed_with_a_larger_budget(tmp_path: Path) -> None:
    evolve(search=FEW, **{**TINY, "generations": 1}, out=tmp_path / "runs")
    assert resume(tmp_path / "runs", budget=48 * 4).config.generations == 3
    with pytest.raises(InputError, match="generations is 1, expected a whole number from 3"):
        resume(tmp_path / "runs", budget=48 * 2)
    assert main(["evolve", "--resume", str(tmp_path / "runs"), "--budget", str(48 * 5)]) == 0
    assert summary(tmp_path / "runs")["generations"] == 4
