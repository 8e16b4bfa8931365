"""`distal runs`: folders of runs, summed up."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest

import distal
from distal import HillClimbing, Maze, Rule, evolve, resume, t_maze, task_of, triple_t_maze
from distal.cli import main
from tests.command_line import output, refusal
from tests.evolutions import Stop, contents, stop_after
from tests.mazes import T
from tests.search.test_run_folder import SMALL, rows_of


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "finished"
    evolve("dsp", **SMALL, out=folder)
    return folder


def test_the_table_of_runs_holds_every_run_with_its_winner_chance_and_genes(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(finished, tmp_path / "many" / "rules")
    with pytest.raises(Stop):
        evolve(
            "hc",
            **{**SMALL, "maze": None, "runs": 1},
            seed=7,
            out=tmp_path / "many" / "climb",
            progress=stop_after(1),
        )
    table = tmp_path / "many" / "table.csv"
    shown = output(capsys, "runs", str(tmp_path / "many"))
    assert output(capsys, "runs", str(tmp_path / "many"), "--csv", str(table)) == shown
    with table.open(newline="") as file:
        climb, *rules = csv.DictReader(file)
    assert [row["run"] for row in rules] == ["1", "2"]
    for row, winner in zip(rules, resume(finished).winners, strict=True):
        rule, fresh = winner.learner, winner.fresh
        assert isinstance(rule, Rule)
        assert row["folder"] == str(tmp_path / "many" / "rules")
        assert (row["kind"], row["task"], row["search"]) == ("dsp", "maze of 5 by 5 cells", "ga")
        assert (row["generations"], row["done"], row["finished"]) == ("4", "4", "True")
        assert int(row["found_in_generation"]) == winner.generation
        numbers = [winner.selected, fresh.fitness, fresh.standard_error, fresh.chance]
        numbers += [fresh.chance_standard_error, fresh.p, fresh.superiority]
        columns = ["selected", "remeasured", "standard_error", "chance", "chance_standard_error", "p"]
        assert [float(row[name]) for name in (*columns, "superiority")] == numbers
        assert [int(row[f"delta_w_{k}"]) for k in range(32)] == list(rule.delta_w)
        assert {name: float(row[name]) for name in rule.names} == rule.numbers
        assert row["sigma"] == ""
    assert (climb["kind"], climb["task"], climb["seed"]) == ("hc", "triple T-maze", "7")
    assert (climb["generations"], climb["done"], climb["finished"]) == ("4", "1", "False")
    last = rows_of(tmp_path / "many" / "climb")[-1]
    assert float(climb["selected"]) == float(last["best"])
    assert {name: climb[name] for name in HillClimbing.names} == {
        name: last[name] for name in HillClimbing.names
    }
    assert climb["remeasured"] == climb["p"] == climb["eta"] == climb["delta_w_31"] == ""


def test_the_table_is_not_written_into_the_runs(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(finished)
    for name in ("winners.csv", "winners/table.csv"):
        said = refusal(capsys, "runs", str(finished), "--csv", str(finished / name))
        assert "inside a folder of runs; write the table somewhere else" in said
    assert contents(finished) == before
    assert not (finished / "winners" / "table.csv").exists()


@pytest.mark.parametrize(
    ("maze", "said"),
    [
        (t_maze(1), "learner hc, task T-maze of 1 level, corridors of 3 cells, elites"),
        (t_maze(2, 1), "learner hc, task T-maze of 2 levels, corridors of 1 cell, elites"),
        (t_maze(3, 1), "learner hc, task narrow triple T-maze, elites"),
        (distal.maze("narrow-h"), "learner hc, task narrow triple H-maze, elites"),
        (triple_t_maze(), "learner hc, elites"),
        (Maze(triple_t_maze().picture, "east"), "learner hc, task triple T-maze, heading east, elites"),
        (T, "learner hc, task maze of 5 by 5 cells, elites"),
        (None, "learner hc, task CliffWalking-v1, elites"),
    ],
)
def test_a_folder_of_runs_names_its_task_unless_it_is_the_triple_t_maze(
    maze: Maze | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small: Any = {"runs": 1, "generations": 0, "trials": 1, "episodes": 1, "steps": 3, "fresh": 2}
    task = task_of("CliffWalking-v1") if maze is None else maze
    evolve("hc", **small, hidden=2, task=task, out=tmp_path / "runs")
    assert said in output(capsys, "runs", str(tmp_path / "runs"))


def test_a_folder_says_under_which_conditions_its_runs_were_evolved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options: Any = {"runs": 1, "generations": 0, "trials": 1, "episodes": 4, "hidden": 2, "steps": 3}
    evolve(maze=T, fitness="last:2", switch=2, out=tmp_path / "other", fresh=2, **options)
    evolve(maze=T, out=tmp_path / "usual", fresh=2, **options)
    assert main(["runs", str(tmp_path), "--csv", str(tmp_path / "runs.csv")]) == 0
    other, usual = (line for line in capsys.readouterr().out.splitlines() if "learner dsp" in line)
    assert "fitness last:2, switch every 2 episodes, new, elites" in other
    assert not {"fitness", "neurons", "switch"} & set(usual.split())
    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = [(row["fitness"], row["neurons"], row["switch"]) for row in csv.DictReader(file)]
    assert rows == [("last:2", "binary", "every 2 episodes, new"), ("best", "binary", "")]
