"""What evolution can do about noise: races, means of elites, finalists, islands, restarts, a budget."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import distal
from distal import GeneticAlgorithm, InputError, Maze, evolve, resume
from distal.cli import main
from distal.search import racing
from distal.search.config import Config
from distal.search.evolve import Step, run_seed, summary
from distal.search.genetic import GeneticSearch
from distal.search.genotypes import Finalists, Genotypes
from distal.search.islands import Islands
from distal.search.restarts import Restarts
from distal.search.search import Search

ROOT = Path(__file__).parents[2]
MAZE = Maze.from_text("#####\n#0S1#\n#####")
TINY: dict[str, Any] = {
    "runs": 2, "generations": 7, "trials": 1, "episodes": 4, "steps": 6, "hidden": 3, "maze": MAZE,
    "fresh": 8, "population": 6, "elite_count": 2,
}  # fmt: skip


# ------------------------------------------------------------------ races


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
    config = Config(
        runs=2, trials=1, episodes=4, race=2, search=GeneticAlgorithm(population=6, elite_count=2)
    )
    # Per generation: 6 + 3 + 2 · 2 = 13 candidates' trials for each of eight goals, 4 episodes each.
    assert config.spent(0) == 13 * 8 * 4
    assert config.spent(9) == 10 * 13 * 8 * 4
    plain = evolve(**TINY)
    raced = evolve(**{**TINY, "race": 2})
    assert plain.best.shape == raced.best.shape
    assert not np.array_equal(plain.best, raced.best)


# ------------------------------------------------------------------ the genetic algorithm


def told(search: Search, *generations: list[float]) -> list[Genotypes]:
    asked = []
    for fitness in generations:
        asked.append(search.ask())
        search.tell(asked[-1], np.array(fitness))
    return asked


def test_the_fitness_of_an_averaged_elite_is_the_mean_of_its_measurements() -> None:
    search = GeneticAlgorithm(population=4, elite_count=2, elites="averaged").begin(3, 1, 5)
    first, second = told(search, [5.0, 1.0, 9.0, 3.0], [4.0, 6.0, 2.0, 8.0])
    assert second.continuous[:2].tolist() == first.continuous[[1, 3]].tolist()
    # Elites had 1 and 3 and now got 4 and 6; the children's 2 and 8 stand alone.
    assert search.fitness is not None
    assert search.fitness.tolist() == [2.5, 4.5, 2.0, 8.0]
    assert search.measured.tolist() == [2, 2, 1, 1]
    assert search.best_fitness == 2.5  # the child's 2 was measured only once
    assert search.best_generation == 0
    (third,) = told(search, [5.0, 5.5, 7.0, 7.0])
    # The elites are now the child (2, then 5) and the first elite (2.5 twice, then 5.5).
    assert third.continuous[0].tolist() == second.continuous[2].tolist()
    assert search.fitness is not None
    assert search.fitness[:2].tolist() == [3.5, (2.5 * 2 + 5.5) / 3]
    finalists = search.finalists(3)
    # Those that have a mean come first, then one that was measured once.
    assert (finalists.fitness.tolist(), finalists.born.tolist()) == ([3.5, 3.5, 7.0], [1, 0, 2])


def test_parents_can_be_the_elites_alone() -> None:
    options: dict[str, Any] = {
        "population": 40,
        "elite_count": 3,
        "mutation": 0,
        "deviation": 0,
        "crossover": 0,
    }
    for parents, within in (("elites", True), ("roulette", False)):
        search = GeneticAlgorithm(**options, parents=parents).begin(4, 2, 1)
        fitness = np.arange(40.0)[::-1].tolist()
        first, second = told(search, fitness, fitness)
        elites = {tuple(row) for row in first.continuous[[39, 38, 37]].tolist()}
        children = {tuple(row) for row in second.continuous[3:].tolist()}
        assert (children <= elites) is within


def test_uniform_mixing_takes_each_gene_from_either_parent() -> None:
    options: dict[str, Any] = {
        "population": 60,
        "elite_count": 2,
        "mutation": 0,
        "deviation": 0,
        "crossover": 1,
    }
    search = GeneticAlgorithm(**options, parents="elites", mixing="uniform").begin(0, 12, 3)
    first, second = told(search, list(range(60)), list(range(60)))
    one, other = first.continuous[:2]
    children = second.continuous[2:]
    from_one, from_other = children == one, children == other
    assert (from_one | from_other).all()
    mixed = children[~from_one.all(axis=1) & ~from_other.all(axis=1)]
    assert len(mixed) > 10
    switches = (np.diff((mixed == one).astype(int), axis=1) != 0).sum(axis=1)
    assert switches.max() > 2  # one cut would give at most one


def test_elites_that_are_none_cannot_be_parents() -> None:
    with pytest.raises(InputError, match="parents is 'elites', but elite_count is 0; give at least 1"):
        GeneticAlgorithm(elite_count=0, parents="elites")


# ------------------------------------------------------------------ islands and restarts


def islands(count: int = 3, exchange: int = 2) -> Islands:
    return Islands(2, 1, 7, GeneticAlgorithm(population=4, elite_count=1), count, exchange)


def test_islands_are_separate_until_leaders_travel() -> None:
    search = islands()
    apart: list[Search] = [
        GeneticAlgorithm(population=4, elite_count=1).begin(2, 1, part.seed) for part in search.parts
    ]
    assert len({part.seed for part in apart}) == 3
    fitness = np.array([5.0, 1.0, 7.0, 9.0])
    for _ in range(2):
        told(search, (np.concatenate([fitness, fitness + 10, fitness + 20])).tolist())
        for part, more in zip(apart, (0, 10, 20), strict=True):
            told(part, (fitness + more).tolist())
    assert search.generation == 1
    assert [part.state() for part in search.parts] == [part.state() for part in apart]
    told(search, (np.concatenate([fitness, fitness + 10, fitness + 20])).tolist())
    for place, part in enumerate(search.parts):
        values = part.told()[1]
        # The worst, with 9, went; the leader of the island before, with its 1, came.
        assert values.tolist() == [*(fitness[:3] + 10 * place), 1 + 10 * ((place - 1) % 3)]
    assert (search.best_fitness, len(search.told()[0])) == (1, 12)


def test_finalists_are_not_alike() -> None:
    search = islands(exchange=1)
    told(search, [5.0, 1.0, 7.0, 9.0] * 3, [5.0, 1.0, 7.0, 9.0] * 3)  # leaders have travelled
    genes = search.told()[0].continuous[:, 0].tolist()
    assert len(set(genes)) < len(genes)
    found = search.finalists(12).genotypes.continuous[:, 0].tolist()
    assert len(set(found)) == len(found) == len(set(genes))


def test_a_leader_that_has_left_the_population_is_kept_at_a_restart() -> None:
    algorithm = GeneticAlgorithm(population=4, elite_count=0, elites="kept")
    search = Restarts(2, 1, 7, lambda seed: algorithm.begin(2, 1, seed), every=2)
    told(search, [5.0, 1.0, 7.0, 9.0], [5.0, 4.0, 7.0, 9.0], [8.0, 8.0, 8.0, 8.0])
    assert (search.best_fitness, search.best_generation) == (1.0, 0)


def test_islands_of_a_search_that_takes_no_guests_are_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="islands is 2, but the search cma takes no individuals of other islands"
    ):
        evolve(runs=1, search=distal.CMA(population=4), islands=2, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_search_that_takes_no_guests_has_no_islands() -> None:
    search = Islands(2, 1, 7, GeneticAlgorithm(population=4, elite_count=1), 2, 1)
    for part in search.parts:
        part.immigrate = Search.immigrate.__get__(part)  # type: ignore[method-assign]
    told(search, [1.0] * 8)
    with pytest.raises(
        InputError, match="GeneticSearch takes no individuals of other islands; use the search ga"
    ):
        told(search, [1.0] * 8)


def test_a_restart_begins_anew_and_keeps_what_was_found() -> None:
    algorithm = GeneticAlgorithm(population=4, elite_count=1)
    search = Restarts(2, 1, 7, lambda seed: algorithm.begin(2, 1, seed), every=2, keep=2)
    first, _ = told(search, [5.0, 1.0, 7.0, 9.0], [5.0, 2.0, 7.0, 9.0])
    third, _ = told(search, [6.0, 8.0, 7.0, 9.0], [6.0, 8.0, 7.0, 9.0])
    assert third.continuous.tolist() != first.continuous.tolist()
    assert third.continuous.tolist() == algorithm.begin(2, 1, search.inner.seed).ask().continuous.tolist()
    # The first start ended with a best of 2, born in generation 1; the second has 6.
    assert (search.best_fitness, search.best_generation) == (2, 1)
    finalists = search.finalists(3)
    assert finalists.fitness.tolist() == [2, 5, 6]
    assert finalists.born.tolist()[2] == 2


def test_finalists_of_groups_are_the_best_of_all() -> None:
    def group(*fitness: float) -> Finalists:
        n = len(fitness)
        genes = Genotypes(np.zeros((n, 1), np.int8), np.array(fitness)[:, None] / 10)
        return Finalists(genes, np.array(fitness), np.arange(n))

    best = Finalists.best([group(3, 4), group(1, 5)], 3)
    assert best.fitness.tolist() == [1, 3, 4]
    assert best.genotypes.continuous[:, 0].tolist() == [0.1, 0.3, 0.4]
    assert best.born.tolist() == [0, 0, 1]


class Stop(Exception):  # noqa: N818
    """Ends an evolution."""


AGAINST_NOISE: list[dict[str, Any]] = [
    {"race": 2, "elites": "averaged"},
    {"islands": 2, "exchange": 2, "finalists": 3},
    {"restart": 3, "finalists": 2, "parents": "elites", "mixing": "uniform"},
    {"restart": 4, "islands": 2, "exchange": 1, "race": 1, "elites": "averaged"},
]


@pytest.mark.parametrize("options", AGAINST_NOISE)
def test_a_run_that_stops_anywhere_resumes_to_the_same_bytes(options: dict[str, Any], tmp_path: Path) -> None:
    def contents(folder: Path) -> dict[str, bytes]:
        files = (path for path in folder.rglob("*") if path.is_file() and path.name != "seconds.csv")
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    whole = evolve(**TINY, **options, out=tmp_path / "whole")
    for generation in (0, 2, 3, 6):

        def stop(step: Step, last: int = generation) -> None:
            if step.generation == last:
                raise Stop

        folder = tmp_path / str(generation)
        with pytest.raises(Stop):
            evolve(**TINY, **options, out=folder, progress=stop)
        again = resume(folder)
        assert contents(folder) == contents(tmp_path / "whole")
        assert [one.selected for one in again.winners] == [one.selected for one in whole.winners]
    shown = summary(tmp_path / "whole")["runs"]
    assert [one["best"] for one in shown] == [one.selected for one in whole.winners]
    assert [one["genes"]["eta"] for one in shown] == [one.learner.numbers["eta"] for one in whole.winners]
    stored = json.loads((tmp_path / "whole" / "config.json").read_text())
    assert {name: stored[name] for name in options} == options


# ------------------------------------------------------------------ beginning with what is known


def test_a_first_population_begins_with_what_is_given(tmp_path: Path) -> None:
    rules: list[Any] = ["champion:1", distal.find_rule("paper:3")]
    found = evolve(**{**TINY, "generations": 0}, begin_with=rules, out=tmp_path / "runs")
    drawn = evolve(**{**TINY, "generations": 0}, out=tmp_path / "drawn")
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
    whole = evolve(**{**TINY, "generations": 2}, begin_with=rules)
    assert [one.learner for one in more.winners] == [one.learner for one in whole.winners]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"begin_with": ["hc"]}, "begin_with has a learner of kind hc, but dsp is evolved"),
        ({"begin_with": "champion:1"}, "begin_with is 'champion:1', expected a list of learners"),
        ({"begin_with": ["paper:1"] * 7}, "7 individuals are given to begin with, but the population is 6"),
        ({"begin_with": ["paper:1"], "islands": 2}, "begin_with is given with islands or restart"),
        ({"begin_with": ["paper:1"], "restart": 2}, "begin_with is given with islands or restart"),
        ({"begin_with": ["nosuch"]}, "nosuch"),
    ],
)
def test_what_cannot_be_begun_with_is_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        evolve(**{**TINY, **options}, out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_configuration_with_wrong_genes_to_begin_with_is_refused() -> None:
    right = (*[0] * 32, 0.1, 0.2, 0.3, 0.4)
    assert Config(begin_with=(right,)).begin(0).ask().genes[0] == list(right)
    for wrong, message in (
        (right[1:], "genotype 1 of begin_with has 35 genes, expected 36"),
        ((2, *right[1:]), "a change in genotype 1 is 2"),
        ((*right[:-1], 1.5), "a number in genotype 1 is 1.5"),
        (5, "genotype 1 of begin_with is 5, expected a list of genes"),
    ):
        with pytest.raises(InputError, match=message):
            Config(begin_with=(wrong,))  # type: ignore[arg-type]


def test_a_search_that_cannot_begin_with_anything_says_so() -> None:
    class Walk(Search):
        def ask(self) -> Genotypes:
            raise NotImplementedError

    with pytest.raises(InputError, match="Walk cannot begin with what is given; use the search ga"):
        Walk(2, 1, 0).begin_with(Genotypes(np.zeros((1, 2), np.int8), np.zeros((1, 1))))


def test_the_command_begins_with_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        "evolve",
        "--runs",
        "1",
        "--generations",
        "0",
        "--trials",
        "1",
        "--episodes",
        "2",
        "--steps",
        "5",
    ]
    asked += ["--hidden", "3", "--fresh", "8", "--out", str(tmp_path / "runs")]
    assert main([*asked, "--begin-with", "champion:1", "paper:2", "--json"]) == 0
    config = json.loads(capsys.readouterr().out)["config"]
    assert config["begin_with"][1][32:] == list(distal.find_rule("paper:2").numbers.values())
    again = [*asked[:-1], str(tmp_path / "other")]
    assert main([*again, "--begin-with", "hc"]) == 2
    assert "begin_with has a learner of kind hc" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_an_exchange_needs_islands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["--islands", "1"]):
        assert main(["evolve", "--exchange", "5", *more, "--out", str(tmp_path / "runs")]) == 2
        assert "--exchange is for several islands; give --islands as well" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_damaged_state_of_islands_or_restarts_is_refused() -> None:
    search = islands()
    told(search, [1.0] * 12)
    state = search.state()
    with pytest.raises(InputError, match="islands is not a list of 3"):
        islands().restore({**state, "islands": state["islands"][:2]})
    with pytest.raises(InputError, match="its islands are in different generations"):
        islands().restore({**state, "generation": 1})
    begin = GeneticAlgorithm(population=4, elite_count=1).begin

    def restarts() -> Restarts:
        return Restarts(2, 1, 7, lambda seed: begin(2, 1, seed), every=2)

    one = restarts()
    told(one, *[[1.0, 2.0, 3.0, 4.0]] * 3)
    for wrong, message in (
        ({"archive": None}, "the archive is not that of this generation"),
        ({"generation": 3}, "its start is in generation 0, its run in 3"),
        ({"archive": {**one.state()["archive"], "born": [9]}}, "born is 9"),
    ):
        with pytest.raises(InputError, match=message):
            restarts().restore({**one.state(), **wrong})


# ------------------------------------------------------------------ finalists and the budget


def test_the_winner_is_the_best_finalist_on_trials_of_their_own() -> None:
    leader = evolve(**TINY)
    chosen = evolve(**TINY, finalists=4)
    assert chosen.best.tolist() == leader.best.tolist()  # the search is the same
    assert [one.selected for one in chosen.winners] != [one.selected for one in leader.winners]


def test_the_papers_evolution_takes_this_many_episodes() -> None:
    # 301 populations of 14, 40 trials each, 100 episodes a trial; kept elites save 4 of 14 in 300 of them.
    assert Config().spent(300) == 301 * 14 * 40 * 100 == 16_856_000
    assert Config(search=GeneticAlgorithm(elites="kept")).spent(300) == (14 + 300 * 10) * 4_000
    assert Config(finalists=10).spent(300) == 16_856_000 + 10 * 400 * 100
    assert Config(islands=3).spent(300) == 3 * 16_856_000
    assert Config(restart=100).spent(300) == 16_856_000


def test_a_budget_buys_all_generations_that_it_can() -> None:
    for config in (Config(), Config(race=3), Config(restart=7, search=GeneticAlgorithm(elites="kept"))):
        for budget in (config.spent(0), 1_000_000, 16_856_000, 123_456_789):
            generations = config.affordable(budget)
            assert config.spent(generations) <= budget < config.spent(generations + 1)
    small = {**TINY, "generations": None, "budget": 6 * 2 * 4 * 5 + 1}
    assert evolve(**small).config.generations == 4  # 5 populations of 6, 2 trials, 4 episodes
    with pytest.raises(InputError, match="budget is 47, but the first population of a run takes 48"):
        evolve(**{**small, "budget": 47})
    with pytest.raises(InputError, match="both generations and budget are given"):
        evolve(**{**TINY, "budget": 1e6})


def test_a_run_can_be_resumed_with_a_larger_budget(tmp_path: Path) -> None:
    evolve(**{**TINY, "generations": 1}, out=tmp_path / "runs")
    assert resume(tmp_path / "runs", budget=48 * 4).config.generations == 3
    with pytest.raises(InputError, match="generations is 1, expected a whole number from 3"):
        resume(tmp_path / "runs", budget=48 * 2)
    assert main(["evolve", "--resume", str(tmp_path / "runs"), "--budget", str(48 * 5)]) == 0
    assert summary(tmp_path / "runs")["generations"] == 4


def test_the_memory_of_a_race_is_that_of_its_largest_heat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISTAL_MEMORY", "100M")
    evolve(**{**TINY, "generations": 0}, race=1)
    with pytest.raises(InputError, match="of memory, most of it for trials"):
        evolve(**{**TINY, "generations": 0}, race=20)


def test_islands_and_starts_have_seeds_of_their_own() -> None:
    config = Config(islands=2, restart=2)
    search = config.begin(run_seed(config, 0))
    assert isinstance(search, Restarts)
    assert isinstance(search.inner, Islands)
    first = [part.seed for part in search.inner.parts]
    assert all(isinstance(part, GeneticSearch) for part in search.inner.parts)
    told(search, *[[float(place) for place in range(28)]] * 2)
    search.ask()
    assert isinstance(search.inner, Islands)
    assert len({*first, *(part.seed for part in search.inner.parts), search.seed}) == 5


# ------------------------------------------------------------------ the page


def ways() -> Any:
    spec = importlib.util.spec_from_file_location("search_ways", ROOT / "benchmarks" / "search_ways.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_tables_that_were_measured_and_says_what_they_show() -> None:
    script, page = ways(), (ROOT / "docs" / "searching.md").read_text()
    results = ROOT / "benchmarks" / "results"
    wide, narrow = (
        json.loads((results / f"{name}.json").read_text()) for name in ("search_ways", "search_ways_narrow")
    )
    assert (wide["maze"], narrow["maze"]) == ("triple-t", "narrow-t")
    for kept in (wide, narrow):
        assert script.table(kept) in page
        assert f"chance has {kept['chance']:.1f}" in page
        found = [one for way in kept["ways"].values() for one in way.values()]
        assert {len(one["fresh"]) for one in found} == {15}
        assert all(one["spent"] <= float(b) for way in kept["ways"].values() for b, one in way.items())
        assert set(kept["ways"]) == set(script.WAYS)

    def fresh(kept: dict[str, Any], way: str, budget: str = "17000000") -> list[float]:
        return [float(value) for value in kept["ways"][way][budget]["fresh"]]

    def better(way: str) -> bool:
        return (
            float(stats.mannwhitneyu(fresh(wide, way), fresh(wide, "paper"), alternative="less").pvalue)
            < 0.05
        )

    assert "no way is shown to be better than the paper's" in page
    assert not any(better(way) for way in wide["ways"])
    for way in ("trials", "restarts", "cma"):
        assert np.mean(fresh(wide, way)) > np.mean(fresh(wide, "paper")) + 3
        assert f"({np.mean(fresh(wide, way)):.1f})" in page
    best = min(narrow["ways"], key=lambda way: np.mean(fresh(narrow, way, "100000000")))
    assert best == "focused_finalists"
    spreads = [np.std(fresh(narrow, way, "100000000"), ddof=1) for way in ("restarts", "finalists")]
    told = re.search(r"winners is (\S+), and (\S+) with finalists", page)
    assert told is not None
    assert [f"{spread:.1f}" for spread in spreads] == list(told.groups())
    by_success, by_ep = distal.champion_record(4), distal.champion_record(1)
    assert [one["prize"] for one in (by_success, by_ep)] == ["reached", "best"]
    assert by_success["run_winners"] == by_ep["run_winners"]  # the same runs
    shares = [one["held_out"]["reached"] for one in (by_success, by_ep)]
    assert f"{shares[0]:.1%} of 4,000 held-out trials" in page
    assert f"in {shares[1]:.1%}: in this maze" in page
    assert f"(chance: {by_success['held_out']['chance_reached']:.1%})" in page


def test_ways_are_compared_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "ways.json"
    asked = ["--engine", "cpu", "--runs", "2", "--out", str(out), "--budgets", "6e4", "--ways", "paper"]
    ways().main([*asked, "--picture", str(tmp_path / "ways.svg")])
    first = out.read_text()
    assert json.loads(first)["ways"]["paper"]["60000"]["generations"] == 0
    ways().main(asked)  # only reads
    assert out.read_text() == first
    assert capsys.readouterr().out.count("paper 60000:") == 1
    assert (tmp_path / "ways.svg").stat().st_size > 1000


# ------------------------------------------------------------------ success alone


def test_a_trial_may_be_judged_by_success_alone() -> None:
    judge = Config(fitness="missed").measure
    assert judge.judged(np.array([39, 99, 100, 138]), 99).tolist() == [0, 0, 100, 100]
    missed = evolve(**{**TINY, "generations": 0}, fitness="missed")
    # In this maze a trial is solved with an EP below its 6 steps; two trials make 0, 50 or 100.
    assert set(missed.mean.ravel() * 6 % 50) == {0.0}
    assert missed.best.min() >= 0
    assert missed.worst.max() <= 100
    with pytest.raises(
        InputError, match="fitness is missed, but the task does not say when its goal is reached"
    ):
        evolve("hc", task="CliffWalking-v1", fitness="missed", runs=1, generations=0)
