"""The search for a champion: runs, a race, and one measurement on trials that no search has seen."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import Champion, InputError, Maze, champions
from distal.base.files import to_json
from distal.base.folders import sealed
from distal.cli import main
from distal.engines import Batch, Runner
from distal.evaluation.trials import batch_of
from distal.model.draws import held_out_seed
from distal.search.config import Config
from distal.search.contents import finalists_in
from distal.search.genetic import GeneticAlgorithm
from distal.search.run_folder import read_run
from distal.studies.budget import FINALISTS
from distal.studies.plans.champions import Champions
from distal.studies.prizes import PRIZES, Prize
from distal.studies.stages import Event
from distal.tasks.mazes import MazeTask
from tests.evolutions import Stop, contents
from tests.given import some

MAZE = Maze.from_text("#####\n#0S1#\n#####")
SMALL: dict[str, Any] = {
    "budget": 1e6, "runs": 2, "held_out": 10, "task": MAZE, "hidden": 2, "steps": 4, "engine": "cpu",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a finished search."""
    out = tmp_path_factory.mktemp("champion") / "found"
    champions(**SMALL, out=out)
    return out


def seeds_run(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[np.ndarray[Any, Any]]]:
    """Note the seeds of all trials, by the kind of their learners."""
    seen: dict[str, list[np.ndarray[Any, Any]]] = {}

    def noting(name: str) -> Any:
        run = getattr(Runner, name)

        def noted(self: Runner, batch: Batch, **options: Any) -> Any:
            seen.setdefault(batch.kind.kind, []).append(batch.seed)
            return run(self, batch, **options)

        return noted

    for name in ("run", "begin"):
        monkeypatch.setattr(Runner, name, noting(name))
    return seen


def test_held_out_trials_are_seen_by_no_search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = seeds_run(monkeypatch)
    found = champions(**SMALL, out=tmp_path)
    *search, held_out = seen["dsp"]
    assert len(held_out) == found.held_out.trials == 10
    assert not np.isin(held_out, np.concatenate(search)).any()
    assert held_out.tolist() == seen["chance"][-1].tolist()  # chance has the same trials
    assert held_out_seed(0) != held_out_seed(1)
    # An independent route to the same numbers: learn has its trials from a seed in the same way.
    again = batch_of(
        [found.learner], np.array([held_out_seed(0)], np.uint64), trials=5, episodes=100,
        task=MazeTask(MAZE), settings=distal.Settings(hidden=2, steps=4),
    )  # fmt: skip
    best = distal.engines.load("reference").run(again).best
    assert float(best[:, -1].mean()) == found.held_out.fitness
    assert float((best[:, -1] < 4).mean()) == found.held_out.reached


def test_a_finished_search_is_read_and_runs_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(folder)
    seen = seeds_run(monkeypatch)
    found = champions(**SMALL, out=folder)
    assert seen == {}
    assert contents(folder) == before
    assert found.to_dict() == Champion.from_dict(json.loads(json.dumps(found.to_dict()))).to_dict()
    stored = json.loads((folder / "record.json").read_text())
    assert stored["record"] == found.record
    assert distal.Rule.load(folder / "champion.json") == found.learner


@pytest.mark.parametrize(
    "lost", ["champion.json", "search/winners.csv", "search/winners/run-01.json", "held_out.npz",
             "held_out_chance.npz"],
)  # fmt: skip
@pytest.mark.parametrize("content", [None, b"", b"altered"])
def test_what_a_finished_search_has_lost_is_there_again(
    lost: str, content: bytes | None, folder: Path, tmp_path: Path
) -> None:
    whole = contents(folder)
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    if content is None:
        (tmp_path / lost).unlink()
    else:
        (tmp_path / lost).write_bytes(content)
    assert champions(**SMALL, out=tmp_path) == champions(**SMALL, out=folder)
    assert contents(tmp_path) == whole


def test_a_record_that_does_not_fit_what_is_beside_it_is_refused(folder: Path, tmp_path: Path) -> None:
    def forged(**changes: Any) -> None:
        written = json.loads((folder / "record.json").read_text())
        content = {"learner": written["learner"], "record": {**written["record"], **changes}}
        (tmp_path / "record.json").write_text(to_json(sealed(content, "distal-champion", 1)))

    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    held_out = json.loads((folder / "record.json").read_text())["record"]["held_out"]
    for changes in ({"candidates": 401}, {"held_out": {**held_out, "fitness": 0.5}}, {"run_winners": [0, 0]}):
        forged(**changes)
        before = contents(tmp_path)
        with pytest.raises(
            InputError, match=r"record\.json' does not match the search and the held-out trials"
        ):
            champions(**SMALL, out=tmp_path)
        assert contents(tmp_path) == before
    # Trials with other EPs in them: the same file, made from the same, with one number changed.
    (tmp_path / "record.json").write_bytes((folder / "record.json").read_bytes())
    with np.load(folder / "held_out.npz") as stored:
        curves, key = stored["curves"] + np.int32(1), stored["key"]
    np.savez(tmp_path / "held_out.npz", curves=curves, key=key)
    with pytest.raises(InputError, match=r"remove held_out\.npz and held_out_chance\.npz to run them again"):
        champions(**SMALL, out=tmp_path)
    (tmp_path / "held_out.npz").unlink()
    champions(**SMALL, out=tmp_path)
    assert contents(tmp_path) == contents(folder)


@pytest.mark.parametrize("stage", ["search", "race", "held_out"])
def test_a_search_that_stops_anywhere_ends_with_the_same_bytes(
    stage: str, folder: Path, tmp_path: Path
) -> None:
    def stop(event: Event) -> None:
        if event.stage.name == stage and event.done > 0:
            raise Stop

    with pytest.raises(Stop):
        champions(**SMALL, out=tmp_path, progress=stop)
    assert not (tmp_path / "record.json").exists()
    champions(**SMALL, out=tmp_path)
    assert contents(tmp_path) == contents(folder)


def test_too_many_held_out_trials_are_spoken_of_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISTAL_MEMORY", "1G")
    assert main(["champions", "--held-out", "100000000", "--out", str(tmp_path / "new")]) == 2
    wanted = "distal: error: 100,000,000 held-out trials of 100 episodes need about 10.7 GiB of memory, "
    error = capsys.readouterr().err
    assert error.startswith(wanted)
    assert error.endswith("1.0 GiB are free; ask for fewer held-out trials, or set DISTAL_MEMORY=unlimited\n")
    assert not (tmp_path / "new").exists()


def test_the_record_counts_what_was_done(folder: Path) -> None:
    found = champions(**SMALL, out=folder)
    # A candidate runs 10 trials for each of 2 goals, 100 episodes: 2,000 episodes; 100 of them a generation.
    # Nine tenths of a million for two runs: 450,000 each, so a first population and one generation.
    assert (found.runs, found.generations, found.candidates) == (2, 1, 400)
    assert found.finalists == 2 * FINALISTS
    # The last race: 20, 10, 5 and 3 contenders in heats of t, t, 2t and 4t trials for each goal.
    first = Champions(budget=1e6, runs=2, held_out=10, task=MazeTask(MAZE)).divided.first_heat
    assert first == 200_000 // ((20 + 10 + 5 * 2 + 3 * 4) * 2 * 100)
    assert found.spent <= found.budget == 1_000_000
    wanted = (
        "distal champions --prize best --budget 1e+06 --seed 0 --runs 2 --held-out 10 --hidden 2 --steps 4"
    )
    assert found.command == f"{wanted}, task maze"
    assert (
        found.held_out.low < found.held_out.fitness < found.held_out.high
        or found.held_out.standard_error == 0
    )
    assert len(found.run_winners) == 2
    assert "held out, chance" in repr(found)


def test_finalists_of_all_runs_are_bred_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    few = GeneticAlgorithm(population=4, elite_count=2, elites="averaged", parents="elites")
    aim = Prize("share", "missed", 5, 1, few, 2, replace(few, population=12), 2, run_fitness="best")
    monkeypatch.setitem(PRIZES, "reached", aim)
    asked: dict[str, Any] = {**SMALL, "prize": "reached", "runs": None, "budget": 2e4}
    found = champions(**asked, out=tmp_path / "whole")
    # 4 trials for each of 2 goals would be 8; here 1 for each, 5 episodes: 10 a candidate, 40 a population.
    assert found.runs * (found.generations + 1) * 40 <= 15_000
    # Then 12 candidates of 20 episodes: what a tenth for the race leaves.
    assert found.bred == (18_000 - found.runs * (found.generations + 1) * 40) // (12 * 20) - 1
    assert found.candidates == found.runs * (found.generations + 1) * 4 + (found.bred + 1) * 12
    assert (found.fitness, found.run_fitness) == ("missed", "best")
    assert found.spent <= found.budget

    # The first population of the breeding: the best of each run, the second of each, and so on.
    runs = [group.genotypes for group in finalists_in(tmp_path / "whole" / "search", FINALISTS)]
    begun = Config.from_dict(read_run(tmp_path / "whole" / "breed")[0])
    wanted = [runs[0][[0]].genes[0], runs[1][[0]].genes[0]]
    assert [list(row) for row in begun.begin_with[:2]] == wanted
    assert len(begun.begin_with) == 12
    assert begun.fitness == "missed"

    def stop(event: Event) -> None:
        if event.stage.name == "breed" and event.done > 0.5:
            raise Stop

    with pytest.raises(Stop):
        champions(**asked, out=tmp_path / "again", progress=stop)
    champions(**asked, out=tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "whole")


def test_other_options_are_refused(folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    with pytest.raises(InputError, match=r"holds a search for a champion with other options \(seed 0\)"):
        champions(**SMALL, seed=1, out=folder)
    assert contents(folder) == before
    for wrong, message in (
        ({"budget": 1e3}, "budget is 1000, but 2 runs and the last race take at least 444,445 episodes"),
        ({"learner": "chance"}, "learner is 'chance', which has nothing to evolve"),
        ({"held_out": 10**9}, "of memory, most of it for trials"),
    ):
        with pytest.raises(InputError, match=message):
            champions(**{**SMALL, **wrong}, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("prize", PRIZES)
def test_a_budget_is_kept_to_whatever_its_size(prize: str) -> None:
    for budget in (1e9, 3e10, 1e11, 1e13):
        request = Champions(prize=prize, budget=budget)
        config, bred = request.config, request.bred
        assert request.judged.fitness == PRIZES[prize].fitness
        assert config.fitness == ("best" if prize == "reached" else PRIZES[prize].fitness)
        breeding = 0 if bred is None else bred.spent(bred.generations)
        spent = config.runs * config.spent(config.generations) + breeding + request.divided.last_race
        assert 0.85 * budget < spent <= budget
        assert 4 <= config.runs <= 128
        assert bred is None or bred.fitness == PRIZES[prize].fitness
    assert some(bred).seed != config.seed
    with pytest.raises(
        InputError, match=r"the search and the last race take .*; give at least that, or fewer runs"
    ):
        Champions(prize="long", budget=35.6e6)
    # The page says from which budget on finalists are some(bred) together.
    begins = {"long": 8.6e9}.get(prize, 1.72e9)
    bred_at = [Champions(prize=prize, budget=budget).bred for budget in (0.99 * begins, begins)]
    assert [one is not None for one in bred_at] == [False, True]
    page = (Path(distal.__file__).parents[2] / "docs" / "searching.md").read_text(encoding="utf-8")
    assert "(from 1.72e9 episodes, and from 8.6e9 for the prize `long`)" in page
    # What a refusal asks for is enough.
    with pytest.raises(InputError, match="500 runs and the last race take at least") as refused:
        Champions(prize=prize, budget=1e8, runs=500)
    least = float(re.findall(r"at least ([\d,]+)", str(refused.value))[0].replace(",", ""))
    assert Champions(prize=prize, budget=least, runs=500).config.runs == 500
    for budget, words in ((1e11, "1e+11"), (2e10, "2e+10"), (12345670, "12345670")):
        assert f"--budget {words} " in Champions(budget=budget, runs=1).words


def test_every_shipped_champion_is_what_its_record_says() -> None:
    for number, rule in enumerate(distal.champion_rules(), start=1):
        record = distal.champion_record(number)
        whole = Champion.from_dict({"learner": rule.to_dict(), "record": record})
        assert whole.record == record
        with pytest.raises(InputError, match="unknown field 'luck'"):
            Champion.from_dict({"learner": rule.to_dict(), "record": {**record, "luck": 1}})
        assert record["spent"] <= record["budget"]
        # Its command still asks for the same search.
        asked = Champions(prize=record["prize"], budget=record["budget"], seed=record["seed"])
        assert asked.words == record["command"]
        bred = 0 if asked.bred is None else asked.bred.generations
        plan = asked.config.runs, asked.config.generations, bred
        assert plan == (record["runs"], record["generations"], record["bred"])
        held = record["held_out"]
        assert held["trials"] == 4000
        assert held["low"] < held["fitness"] < held["high"] < held["chance"]


@pytest.mark.parametrize("number", [1, 2])
def test_a_champions_held_out_value_comes_out_again(number: int) -> None:
    record = distal.champion_record(number)
    judge = Config(fitness=record["fitness"]).measure
    batch = batch_of(
        [distal.champion_rules()[number - 1]], np.array([held_out_seed(record["seed"])], np.uint64),
        trials=500, episodes=100, task=Config().task, settings=distal.Settings(), record=(100,),
    )  # fmt: skip
    outcome = distal.engines.load("cpu").run(batch, keep_ep=judge.needs_ep)
    assert float(judge.scores(batch, outcome).mean()) == pytest.approx(
        record["held_out"]["fitness"], abs=1e-9
    )
    assert float((outcome.best[:, -1] < 100).mean()) == record["held_out"]["reached"]


def test_the_command_searches_and_says_what_it_found(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "maze.txt").write_text("#####\n#0S1#\n#####\n")
    asked = ["champions", "--prize", "last", "--budget", "5e5", "--runs", "1", "--held-out", "10"]
    asked += ["--maze", "maze.txt", "--hidden", "2", "--steps", "4", "--out", "found"]
    assert main(asked) == 0
    said = capsys.readouterr()
    assert "champion: mean EP of episodes 81 to 100" in said.out
    assert "held out, 10 trials" in said.out
    assert "race of 10 finalists" in said.err
    assert main([*asked, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["record"]
    wanted = "distal champions --prize last --budget 500000 --seed 0 --runs 1 --held-out 10 --maze maze.txt"
    assert record["command"] == f"{wanted} --hidden 2 --steps 4"
