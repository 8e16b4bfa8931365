"""Evolutions on disk: the same bytes after any interruption, and refusals instead of wrong results."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import distal
from distal import (
    GeneticAlgorithm,
    HillClimbing,
    InputError,
    Maze,
    Rule,
    evolve,
    learn,
    reproduce,
    resume,
    t_maze,
    task_of,
    triple_t_maze,
)
from distal.cli import main
from distal.engines import Runner
from distal.model.draws import child_seed
from distal.search.loop import Step
from distal.search.restored import run_seed, summary
from distal.search.runs import gene_columns
from tests.command_line import output, refusal
from tests.evolutions import Stop, stop_after
from tests.mazes import T
from tests.processes import DISTAL, started

SMALL: dict[str, Any] = {
    "runs": 2,
    "generations": 4,
    "trials": 1,
    "episodes": 5,
    "steps": 8,
    "maze": T,
    "hidden": 5,
}
REPRODUCIBLE = (
    "config.json",
    "generations.csv",
    "state.json",
    "winners.csv",
    "winners/run-01.json",
    "winners/run-02.json",
)


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in REPRODUCIBLE}


def rows_of(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "generations.csv").read_text().splitlines()))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "finished"
    evolve("dsp", **SMALL, out=folder)
    return folder


def test_a_folder_holds_config_rows_state_and_winners(finished: Path) -> None:
    rows = rows_of(finished)
    assert [(int(row["run"]), int(row["generation"])) for row in rows] == [
        (r, g) for g in range(5) for r in (1, 2)
    ]
    for row in rows:
        assert float(row["best"]) <= float(row["mean"]) <= float(row["worst"])
        assert list(row)[5:] == [*(f"delta_w_{k}" for k in range(32)), "eta", "theta", "alpha_h", "alpha_o"]
        assert {int(row[f"delta_w_{k}"]) for k in range(32)} <= {-1, 0, 1}
    winner = Rule.load(finished / "winners" / "run-01.json")
    assert winner.name == "run 1, seed 0"
    last = rows[-2]
    assert list(winner.delta_w) == [int(last[f"delta_w_{k}"]) for k in range(32)]
    assert winner.numbers == {name: float(last[name]) for name in ("eta", "theta", "alpha_h", "alpha_o")}


def test_the_winner_is_the_best_of_the_last_generation_with_an_honest_fitness_and_chance_beside_it(
    finished: Path,
) -> None:
    evolved = resume(finished)
    rows = rows_of(finished)
    for winner in evolved.winners:
        last = [row for row in rows if int(row["run"]) == winner.run][-1]
        assert winner.selected == float(last["best"])
    # the fitness in the file is that of an evaluation with the seed of its place
    first = evolved.winners[0]
    assert isinstance(first.learner, Rule)
    run_seed = child_seed(0, 0, 0, 4)
    remeasured = learn(
        first.learner, trials=200, episodes=5, steps=8, hidden=5, maze=T, seed=child_seed(run_seed, 0, 0, 6)
    )
    assert first.remeasured == remeasured.fitness
    assert first.standard_error == remeasured.standard_error
    assert remeasured.chance is not None
    assert remeasured.difference is not None
    assert first.fresh.chance == remeasured.chance.fitness
    assert first.fresh.chance_standard_error == remeasured.chance.standard_error
    assert first.fresh.difference == pytest.approx(remeasured.difference.mean)
    assert first.fresh.difference_standard_error == pytest.approx(remeasured.difference.standard_error)
    own, by_chance = remeasured.final, remeasured.chance.final
    assert first.fresh.p == pytest.approx(stats.ttest_rel(own, by_chance).pvalue, rel=1e-5)
    lower, equal = (own < by_chance).sum(), (own == by_chance).sum()
    assert first.fresh.superiority == (lower + equal / 2) / len(own)


def test_runs_do_not_depend_on_each_other_or_on_the_number_of_workers(finished: Path, tmp_path: Path) -> None:
    whole = resume(finished)
    alone = evolve("dsp", **{**SMALL, "runs": 1}, engine=Runner(workers=2))
    assert alone.best[0].tolist() == whole.best[0].tolist()
    assert alone.winners[0] == whole.winners[0]
    evolve("dsp", **SMALL, out=tmp_path / "two", engine=Runner(workers=2))
    assert contents(tmp_path / "two") == contents(finished)


def test_both_engines_evolve_the_same(finished: Path) -> None:
    other = evolve("dsp", **{**SMALL, "generations": 1}, engine="reference", fresh=2)
    assert other.best.tolist() == resume(finished).best[:, :2].tolist()


def test_an_extended_run_equals_one_that_was_longer_from_the_start(finished: Path, tmp_path: Path) -> None:
    evolve("dsp", **{**SMALL, "generations": 1}, out=tmp_path / "short")
    extended = resume(tmp_path / "short", generations=4)
    assert contents(tmp_path / "short") == contents(finished)
    assert extended.best.shape == (2, 5)
    with pytest.raises(InputError, match="generations is 2, expected a whole number from 4"):
        resume(tmp_path / "short", generations=2)


@pytest.mark.parametrize("after", range(5))
def test_an_interruption_between_generations_changes_nothing(
    after: int, finished: Path, tmp_path: Path
) -> None:
    with pytest.raises(Stop):
        evolve("dsp", **SMALL, out=tmp_path / "run", progress=stop_after(after))
    resume(tmp_path / "run")
    assert contents(tmp_path / "run") == contents(finished)


@pytest.mark.parametrize("elites", ["kept", "remeasured"])
def test_progress_is_told_once_for_every_generation_of_all_runs(elites: str, tmp_path: Path) -> None:
    told: list[Step] = []

    def progress(step: Step) -> None:
        assert threading.current_thread() is threading.main_thread()
        told.append(step)

    search = GeneticAlgorithm(population=6, elite_count=2, elites=elites)
    options = {**SMALL, "search": search, "fresh": 2}
    short = evolve("dsp", **{**options, "generations": 2}, out=tmp_path, progress=progress)
    assert [(step.generation, step.generations) for step in told] == [(0, 2), (1, 2), (2, 2)]
    resume(tmp_path, progress=progress)
    assert len(told) == 3  # nothing was left to do
    evolved = resume(tmp_path, generations=4, progress=progress)
    assert [(step.generation, step.generations) for step in told[3:]] == [(3, 4), (4, 4)]
    assert (evolved.best[:, :3] == short.best).all()
    for step in told:
        assert step.best == evolved.best[:, step.generation].tolist()
        assert step.mean == evolved.mean[:, step.generation].mean()
        elite = 2 if elites == "kept" and step.generation > 0 else 0  # which are not measured again
        assert step.evaluations == 2 * (6 - elite)
        assert step.seconds > 0


def test_what_progress_raises_ends_an_evolution_whose_folder_holds_what_was_told(tmp_path: Path) -> None:
    def stop(step: Step) -> None:
        if step.generation == 3:  # sooner after the first than rows are usually written
            raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        evolve("dsp", **SMALL, out=tmp_path, progress=stop)
    assert summary(tmp_path)["done"] == 3


KILLED = [
    "evolve", "--runs", "2", "--generations", "150", "--trials", "1", "--episodes", "20", "--hidden", "4",
]  # fmt: skip


def test_kill_9_at_random_moments_and_resume_gives_the_same_bytes(tmp_path: Path) -> None:
    assert main([*KILLED, "--out", str(tmp_path / "whole")]) == 0
    generator = random.Random(4)  # noqa: S311
    arguments = [*KILLED, "--out", str(tmp_path / "killed")]
    kills = 0
    for _ in range(4):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with started(*DISTAL, *arguments, **quiet) as process:
            state = tmp_path / "killed" / "config.json"
            while not state.exists() and process.poll() is None:
                time.sleep(0.01)
            time.sleep(generator.uniform(0.1, 0.7))
            if process.poll() is None:
                kills += 1
            process.send_signal(signal.SIGKILL)
        if process.returncode == 0:
            break
        arguments = ["evolve", "--resume", str(tmp_path / "killed")]
    resume(tmp_path / "killed")
    assert kills > 0
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_no_file_of_the_folder_can_be_damaged_unnoticed(finished: Path, tmp_path: Path) -> None:
    """Cut or flip each file of a half-finished run at many places: refused, or finished correctly."""
    with pytest.raises(Stop):
        evolve("dsp", **SMALL, out=tmp_path / "half", progress=stop_after(2))
    generator = random.Random(1)  # noqa: S311
    outcomes = {"refused": 0, "correct": 0}
    for name in ("config.json", "generations.csv", "state.json", "seconds.csv"):
        original = (tmp_path / "half" / name).read_bytes()
        damages: list[bytes | None] = [b"", None, b"\x00\xff", original[:-1], original[: len(original) // 2]]
        for _ in range(12):
            at = generator.randrange(len(original))
            damages.append(
                original[:at] + bytes([original[at] ^ (1 << generator.randrange(7))]) + original[at + 1 :]
            )
        for damage in damages:
            folder = tmp_path / "damaged"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(tmp_path / "half", folder)
            if damage is None:
                (folder / name).unlink()
            else:
                (folder / name).write_bytes(damage)
            try:
                resume(folder)
            except InputError:
                outcomes["refused"] += 1
                continue
            assert contents(folder) == contents(finished), (name, damage)
            outcomes["correct"] += 1
    assert outcomes["refused"] > 20
    assert outcomes["correct"] > 5


def test_rows_beyond_the_state_are_cut_off(finished: Path, tmp_path: Path) -> None:
    """A loss of power after the rows and before the state leaves rows that the state does not know of."""
    with pytest.raises(Stop):
        evolve("dsp", **SMALL, out=tmp_path / "run", progress=stop_after(1))
    with (tmp_path / "run" / "generations.csv").open("ab") as file:
        file.write(b"1,2,99.0,99")
    resume(tmp_path / "run")
    assert contents(tmp_path / "run") == contents(finished)


def test_nothing_is_overwritten_without_force(finished: Path, tmp_path: Path) -> None:
    before = contents(finished)
    with pytest.raises(InputError, match="is not empty; continue with --resume, start over with --force"):
        evolve("dsp", **SMALL, out=finished)
    assert contents(finished) == before
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is not empty"):
        evolve("dsp", **SMALL, out=foreign)
    assert [path.name for path in foreign.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, "is not a folder of runs: it has no config.json"),
        ({"config.json": "{}"}, "was not written by distal evolve"),
        ({"config.json": "[]"}, "was not written by distal evolve"),
        ({"config.json": "no"}, "is not JSON"),
        (
            {"config.json": '{"format": "distal-evolution", "version": 7}'},
            "has version 7, this release reads 1",
        ),
    ],
)
def test_a_foreign_folder_is_refused(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=problem):
        resume(tmp_path)


def test_what_an_interrupted_first_write_left_behind_is_no_obstacle(tmp_path: Path, finished: Path) -> None:
    (tmp_path / ".config.json.x1y2.tmp").write_text("{")
    evolve("dsp", **SMALL, out=tmp_path)
    assert contents(tmp_path) == contents(finished)


def test_a_refusal_leaves_every_file_where_it_was(tmp_path: Path) -> None:
    (tmp_path / ".draft.tmp").write_text("not ours")
    (tmp_path / "thesis.tex").write_text("years of work")
    for run in (lambda: evolve("dsp", **SMALL, out=tmp_path), lambda: reproduce("quick", out=tmp_path)):
        with pytest.raises(InputError, match="is not empty"):
            run()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".draft.tmp", "thesis.tex"]


def test_generations_without_a_state_are_refused(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "copy")
    (tmp_path / "copy" / "state.json").unlink()
    with pytest.raises(InputError, match=r"is damaged: it has generations but no state\.json"):
        resume(tmp_path / "copy")


def test_a_folder_of_version_0_1_resumes_as_it_was_started(tmp_path: Path) -> None:
    # tests/version_0_1 holds two runs of two generations that version 0.1 made, and what it made of four.
    old = Path(__file__).parents[1].joinpath("version_0_1")
    for name in ("config.json", "generations.csv", "state.json"):
        shutil.copy(old / name, tmp_path)
    assert summary(tmp_path)["elites"] == "kept"
    before = (tmp_path / "config.json").read_bytes()
    assert resume(tmp_path).config.settings.trace_pre == "previous"
    assert (tmp_path / "config.json").read_bytes() == before
    evolved = resume(tmp_path, generations=4)
    assert evolved.config.search == GeneticAlgorithm(elites="kept", elite_count=4)
    assert (tmp_path / "generations.csv").read_bytes() == (old / "longer.csv").read_bytes()
    with (old / "winners_longer.csv").open() as file:
        for winner, expected in zip(evolved.winners, csv.DictReader(file), strict=True):
            assert winner.selected == float(expected["selected"])
            assert winner.remeasured == float(expected["remeasured"])
            assert winner.generation == int(expected["generation"])


OLD = (
    Path(__file__).parents[1].joinpath("version_0_2")
)  # two runs of two generations, before genes had columns


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a copy of a folder that 0.2.0 wrote with all genes in one column."""
    folder = tmp_path / "old"
    folder.mkdir()
    for name in ("manifest.json", "config.json", "generations.csv", "state.json"):
        shutil.copy(OLD / name, folder)
    return folder


def in_six_digits(path: Path) -> bytes:
    """Return a table of winners as this version writes it: older ones kept all digits of p."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, **({"p": float(f"{float(row['p']):.6g}")} if "p" in row else {})})
    return text.getvalue().encode()


def test_a_folder_with_all_genes_in_one_column_keeps_them_there(old: Path) -> None:
    resume(old)  # finished: only its winners are written
    for name in ("config.json", "generations.csv", "state.json"):
        assert (old / name).read_bytes() == (OLD / name).read_bytes()
    resume(old, generations=4)
    assert (old / "generations.csv").read_bytes() == (OLD / "longer.csv").read_bytes()
    assert (old / "winners.csv").read_bytes() == in_six_digits(OLD / "winners_longer.csv")


def test_a_folder_that_was_stopped_before_its_first_generation_keeps_its_form_too(old: Path) -> None:
    (old / "state.json").unlink()
    (old / "generations.csv").write_bytes(b"")
    resume(old, generations=4)
    assert (old / "generations.csv").read_bytes() == (OLD / "longer.csv").read_bytes()


def test_the_same_evolution_has_the_same_genes_in_both_forms(old: Path, tmp_path: Path) -> None:
    search = GeneticAlgorithm(population=4, elite_count=1)
    small = {**SMALL, "generations": 2, "search": search, "fresh": 20}
    evolve("dsp", **small, out=tmp_path / "new")
    joined = [
        {**dict(list(row.items())[:5]), "genotype": " ".join(list(row.values())[5:])}
        for row in rows_of(tmp_path / "new")
    ]
    assert joined == rows_of(old)


def test_a_folder_of_version_0_3_resumes_in_the_maze_that_was_the_default_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # tests/version_0_3 holds two runs of two generations that version 0.3 made, and what it made of four.
    folder = Path(__file__).parents[1].joinpath("version_0_3")
    for name in ("manifest.json", "config.json", "generations.csv", "state.json"):
        shutil.copy(folder / name, tmp_path)
    assert "learner dsp, task narrow triple T-maze, elites" in output(capsys, "runs", str(tmp_path))
    assert resume(tmp_path, generations=4).config.task.maze == distal.maze("narrow-t")
    assert (tmp_path / "generations.csv").read_bytes() == (folder / "longer.csv").read_bytes()
    assert (tmp_path / "winners.csv").read_bytes() == in_six_digits(folder / "winners_longer.csv")


def test_folders_of_old_versions_keep_their_own_maze(tmp_path: Path) -> None:
    for folder in ("version_0_1", "version_0_2", "version_0_3"):
        kept = json.loads((Path(__file__).parents[1].joinpath(folder) / "config.json").read_text())
        copy = shutil.copytree(Path(__file__).parents[1].joinpath(folder), tmp_path / folder)
        for name in ("longer.csv", "winners_longer.csv"):
            (copy / name).unlink()
        assert resume(copy).config.task.fields()["maze"] == kept["maze"]


def test_a_gene_that_is_called_like_another_column_gets_a_longer_name() -> None:
    assert gene_columns(("run", "best"), ("eta", "best", "alpha_h")) == ("eta", "gene_best", "alpha_h")


def test_two_processes_cannot_work_in_one_folder(tmp_path: Path) -> None:
    def meddle(step: Step) -> None:
        with pytest.raises(InputError, match="is in use by another process"):
            resume(tmp_path / "run")

    evolve("dsp", **{**SMALL, "generations": 1}, out=tmp_path / "run", progress=meddle)


def test_hill_climbing_evolves_with_the_same_code(tmp_path: Path) -> None:
    evolved = evolve("hc", **SMALL, search=GeneticAlgorithm(elites="kept"), out=tmp_path / "hc")
    assert evolved.best.shape == (2, 5)
    assert (np.diff(evolved.best) <= 0).all()  # kept elites keep their fitness
    assert [winner.selected for winner in evolved.winners] == evolved.best.min(axis=1).tolist()
    path = tmp_path / "hc" / "winners" / "run-02.json"
    assert HillClimbing.load(path) == evolved.winners[1].learner


def test_an_evolved_climber_can_be_climbed_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evolve("hc", **{**SMALL, "generations": 0}, out=tmp_path / "hc")
    path = tmp_path / "hc" / "winners" / "run-01.json"
    assert main(["climb", str(path), "--episodes", "3", "--trials", "1"]) == 0
    assert "hill climbing, sigma" in capsys.readouterr().out
    assert main(["climb", str(path), "--sigma", "0.1"]) == 2
    assert "come from the file" in capsys.readouterr().err
    for text, problem in (
        ("{}", "format is None, expected 'distal-climber'"),
        ('{"format": "distal-climber", "version": 1}', "field 'sigma' is missing"),
    ):
        path.write_text(text)
        assert main(["climb", str(path)]) == 2
        assert problem in capsys.readouterr().err


def test_the_command_line_evolves_resumes_and_summarises(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "a run")
    small = ["--runs", "2", "--generations", "2", "--trials", "1", "--episodes", "3", "--hidden", "4"]
    assert main(["evolve", *small, "--out", out]) == 0
    captured = capsys.readouterr()
    assert "generation 2 of 2" in captured.err
    assert "re-measured" in captured.out
    assert main(["evolve", "--resume", out, "--generations", "3"]) == 0
    assert main(["runs", out]) == 0
    text = capsys.readouterr().out
    assert "DSP rules: 2 runs of 3 generations, " in text
    assert "generation 3 of 3, finished" in text
    listed = text[text.index("finished") :]
    assert "selected" in listed
    assert "beats it" in listed
    assert "best fitness" not in listed
    assert text.count("since generation: when it first appeared") == 2
    single = ["--runs", "1", "--generations", "1", *small[4:], "--out", str(tmp_path / "one")]
    assert main(["evolve", *single]) == 0
    assert "DSP rules: 1 run of 1 generation, " in capsys.readouterr().out
    assert main(["runs", str(tmp_path), "--json"]) == 0
    assert '"done": 3' in capsys.readouterr().out
    for arguments, problem in (
        (["evolve", *small], "no folder for the runs; name one with --out DIR"),
        (["evolve", *small, "--out", out], "is not empty"),
        (
            ["evolve", "--resume", out, "--runs", "3"],
            "--runs cannot be given with --resume; only --generations and --budget can",
        ),
        (["evolve", "--resume", str(tmp_path / "no")], "is not a folder of runs"),
        (
            ["evolve", "--learner", "dps", "--out", out],
            "learner is 'dps', expected one of dsp, hc; did you mean 'dsp'?",
        ),
        (["runs", str(tmp_path / "no")], "is not a folder"),
        (["runs", os.devnull], "is not a folder"),
    ):
        assert main(arguments) == 2
        assert problem in capsys.readouterr().err


def test_a_winner_is_measured_on_as_many_fresh_trials_as_are_asked_for(tmp_path: Path) -> None:
    options: Any = {"runs": 1, "generations": 1, "trials": 1, "episodes": 2, "maze": T, "steps": 9}
    few = evolve("hc", fresh=3, out=tmp_path / "few", **options)
    usual = evolve("hc", out=tmp_path / "usual", **options)
    assert (few.best == usual.best).all()  # the search itself is as it was
    # Three trials for two goals are two for each: the first four of the usual four hundred.
    (winner,) = few.winners
    seed = child_seed(run_seed(few.config, 0), 0, 0, 6)
    alone = learn(winner.learner, trials=2, episodes=2, maze=T, steps=9, seed=seed)
    assert len(alone.final) == 4
    assert winner.remeasured == alone.fitness
    assert '"fresh": 3' in (tmp_path / "few" / "config.json").read_text()
    assert '"fresh"' not in (tmp_path / "usual" / "config.json").read_text()
    assert resume(tmp_path / "few", generations=2).config.fresh == 3
    line = [
        "evolve",
        "--learner",
        "hc",
        "--runs",
        "1",
        "--generations",
        "0",
        "--episodes",
        "2",
        "--fresh",
        "9",
    ]
    assert main([*line, "--out", str(tmp_path / "line")]) == 0
    assert '"fresh": 9' in (tmp_path / "line" / "config.json").read_text()
    with pytest.raises(InputError, match="fresh is 1, expected a whole number from 2 to"):
        evolve("hc", fresh=1, **options)


# ------------------------------------------------------------------ distal runs


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
