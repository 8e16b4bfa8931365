"""Evolutions on disk: the same bytes after any interruption, and refusals instead of wrong results."""

from __future__ import annotations

import csv
import io
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import distal
from distal import GeneticAlgorithm, InputError, Islands, Race, Restarts, Rule, evolve, reproduce, resume
from distal.cli import main
from distal.search.contents import summary
from distal.search.recorder import Step
from distal.search.run_folder import gene_columns
from tests.command_line import output, refusal
from tests.evolutions import Stop, contents, stop_after
from tests.mazes import T
from tests.processes import DISTAL, started

SMALL: dict[str, Any] = {
    "runs": 2, "generations": 4, "trials": 1, "episodes": 5, "steps": 8, "maze": T, "hidden": 5,
}  # fmt: skip


def rows_of(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "generations.csv").read_text().splitlines()))


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


def test_nothing_is_overwritten_without_force(finished: Path, tmp_path: Path) -> None:
    before = contents(finished)
    with pytest.raises(InputError, match="is not empty; continue with resume, start over with force=True"):
        evolve("dsp", **SMALL, out=finished)
    assert contents(finished) == before
    (tmp_path / ".draft.tmp").write_text("not ours")
    (tmp_path / "thesis.tex").write_text("years of work")
    for run in (lambda: evolve("dsp", **SMALL, out=tmp_path), lambda: reproduce("quick", out=tmp_path)):
        with pytest.raises(InputError, match="is not empty"):
            run()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".draft.tmp", "thesis.tex"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, "is not a folder of runs: it has no config.json"),
        ({"config.json": "{}"}, "was not written by distal evolve"),
        ({"config.json": "[]"}, "was not written by distal evolve"),
        ({"config.json": "no"}, "is not JSON"),
        ({"config.json": '{"format": "distal-evolution", "version": 7}'}, "has version 7, this release read"),
    ],
)
def test_a_foreign_folder_is_refused(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=problem):
        resume(tmp_path)


def test_generations_without_a_state_are_refused(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "copy")
    (tmp_path / "copy" / "state.json").unlink()
    with pytest.raises(InputError, match=r"is damaged: it has generations but no state\.json"):
        resume(tmp_path / "copy")


# Each folder holds two runs of a version, and what it made of more generations.
VERSIONS = Path(__file__).parents[1]
OLD = VERSIONS / "version_0_2"


@pytest.fixture
def left(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies runs as a version left them."""

    def copied(version: str) -> Path:
        folder = tmp_path / version
        folder.mkdir()
        for name in ("manifest.json", "config.json", "generations.csv", "state.json"):
            if (VERSIONS / version / name).exists():
                shutil.copy(VERSIONS / version / name, folder)
        return folder

    return copied


@pytest.fixture
def old(left: Callable[[str], Path]) -> Path:
    """Return a folder with all genes in one column."""
    return left("version_0_2")


def test_a_folder_of_version_0_1_resumes_as_it_was_started(left: Callable[[str], Path]) -> None:
    folder, made = left("version_0_1"), VERSIONS / "version_0_1"
    assert summary(folder)["elites"] == "kept"
    before = (folder / "config.json").read_bytes()
    assert resume(folder).config.settings.trace_pre == "previous"
    assert (folder / "config.json").read_bytes() == before
    evolved = resume(folder, generations=4)
    assert evolved.config.search == GeneticAlgorithm(elites="kept", elite_count=4)
    assert (folder / "generations.csv").read_bytes() == (made / "longer.csv").read_bytes()
    with (made / "winners_longer.csv").open() as file:
        for winner, expected in zip(evolved.winners, csv.DictReader(file), strict=True):
            assert winner.selected == float(expected["selected"])
            assert winner.remeasured == float(expected["remeasured"])
            assert winner.generation == int(expected["generation"])


def in_six_digits(path: Path) -> bytes:
    """Return a table of winners as this version writes it: older ones kept all digits of p."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, **({"p": float(f"{float(row['p']):.6g}")} if "p" in row else {})})
    return text.getvalue().encode()


def assert_continued(folder: Path) -> None:
    """Assert that runs which were resumed are what their version made of more generations."""
    made = VERSIONS / folder.name
    assert (folder / "generations.csv").read_bytes() == (made / "longer.csv").read_bytes()
    assert (folder / "winners.csv").read_bytes() == in_six_digits(made / "winners_longer.csv")


def test_a_folder_of_version_0_3_resumes_in_the_maze_that_was_the_default_then(
    left: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = left("version_0_3")
    assert "learner dsp, task narrow triple T-maze, elites" in output(capsys, "runs", str(folder))
    assert resume(folder, generations=4).config.task.maze == distal.maze("narrow-t")
    assert_continued(folder)


def test_a_folder_of_version_0_4_resumes_with_the_wrappers_that_its_fields_name(
    left: Callable[[str], Path],
) -> None:
    few = GeneticAlgorithm(population=4, elite_count=1, elites="averaged")
    search = resume(folder := left("version_0_4"), generations=7).config.search
    assert search == Race(Restarts(Islands(few, 2, exchange=2), every=3), heats=1)
    assert_continued(folder)


def test_a_folder_with_all_genes_in_one_column_keeps_them_there(old: Path) -> None:
    resume(old)  # finished: only its winners are written
    for name in ("config.json", "generations.csv", "state.json"):
        assert (old / name).read_bytes() == (OLD / name).read_bytes()
    resume(old, generations=4)
    assert_continued(old)


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


def test_a_gene_that_is_called_like_another_column_gets_a_longer_name() -> None:
    assert gene_columns(("run", "best"), ("eta", "best", "alpha_h")) == ("eta", "gene_best", "alpha_h")


def test_two_processes_cannot_work_in_one_folder(tmp_path: Path) -> None:
    def meddle(step: Step) -> None:
        with pytest.raises(InputError, match="is in use by another process"):
            resume(tmp_path / "run")

    evolve("dsp", **{**SMALL, "generations": 1}, out=tmp_path / "run", progress=meddle)


def test_an_evolved_climber_can_be_climbed_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evolve("hc", **{**SMALL, "generations": 0}, out=tmp_path / "hc")
    path = tmp_path / "hc" / "winners" / "run-01.json"
    assert "hill climbing, sigma" in output(capsys, "climb", str(path), "--episodes", "3", "--trials", "1")
    assert "come from the file" in refusal(capsys, "climb", str(path), "--sigma", "0.1")
