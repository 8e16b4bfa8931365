"""The command line as a whole: Ctrl-C, streams, exit codes, one runner for a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from distal import InputError
from distal.cli import main
from distal.engines import Runner, load
from distal.studies.plans.reproduce import Experiments
from distal.studies.reproduction_report import ReproductionReport
from distal.studies.study import Scale
from tests.command_line import output, refusal
from tests.given import some
from tests.processes import DISTAL, interrupt, started, wait_until

SHORT = ["--episodes", "12", "--trials", "1", "--steps", "8"]
PLAIN = [*SHORT, "--engine", "reference"]  # a process of its own loads it in no time
SMALL = ["--steps", "8", "--hidden", "3"]


def test_ctrl_c_during_an_evolution_says_how_to_continue(tmp_path: Path) -> None:
    small = ("--trials", "1", "--episodes", "2", "--runs", "1")
    command = (*DISTAL, "evolve", "--generations", "100000", *small, "--out", tmp_path / "a run")
    with started(*command) as process:
        wait_until((tmp_path / "a run" / "state.json").exists)
        interrupt(process)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert (
        err.splitlines()[-1]
        == f"distal: interrupted; continue with: distal evolve --resume '{tmp_path / 'a run'}'"
    )


@pytest.mark.parametrize("arguments", [["rules"], ["rules", "--json"]])
def test_a_reader_that_leaves_early_is_no_error(arguments: list[str]) -> None:
    with started(*DISTAL, *arguments) as process:
        some(process.stdout).close()
        assert some(process.stderr).read() == ""
        assert process.wait(timeout=20) == 141


def test_a_full_disk_is_told_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "distal", "maze"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "distal: error: cannot write the output: No space left on device\n"


@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_error_and_no_file_takes_their_place(closed: str, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    command = ("sh", "-c", f'exec "$@" {closed}', "sh", *DISTAL, "learn", "paper:1", *PLAIN, "--csv")
    with started(*command, table) as process:
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert len(table.read_text().splitlines()) == 1 + 8 * 12


@pytest.mark.parametrize(
    "command",
    [
        ["learn", "paper:1", "--episodes", "2", "--trials", "1"],
        ["compare", "paper:1", "hc", "--episodes", "2", "--trials", "1"],
        ["evolve", "--runs", "1", "--generations", "1", "--trials", "1", "--episodes", "2", "--out", "runs"],
        ["reproduce", "--out", "paper"],
    ],
    ids=lambda command: command[0],
)
def test_a_command_chooses_its_engine_once_and_has_one_runner(
    command: list[str], maze_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, made, begin = Mock(side_effect=load), Mock(), Runner.__init__

    def counted(*given: Any, **options: Any) -> None:
        made()
        begin(*given, **options)

    for module in ("engine", "runner", "spread"):
        monkeypatch.setattr(sys.modules[f"distal.engines.{module}"], "load", chosen)
    monkeypatch.setattr(Runner, "__init__", counted)
    monkeypatch.setitem(Experiments.SCALES, "quick", Scale("quick", 1, 0, episodes=3))
    monkeypatch.setattr(ReproductionReport, "write", Mock(side_effect=InputError("all is run")))
    monkeypatch.chdir(tmp_path)
    status = main([*command, *SMALL, "--engine", "cpu", "--maze", maze_file])
    assert status == (2 if command[0] == "reproduce" else 0)
    assert (chosen.call_count, made.call_count) == (1, 1)


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys)
    assert text.startswith("usage: distal")
    assert all(command in text for command in ("learn", "climb", "evolve", "reproduce", "readings", "watch"))


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["lern"], ["'lern'", "did you mean 'learn'?"]),
        (["learn"], ["RULE"]),
        (["learn", "paper:16"], ["'paper:16'", "paper:1 to paper:15"]),
        (["learn", "papr:3"], ["'papr:3'", "did you mean 'paper:3'?"]),
        (["learn", "paper:1", "--episodes", "many"], ["--episodes", "'many' is not a whole number"]),
        (["learn", "paper:1", "--episode", "5"], ["'--episode'", "did you mean '--episodes'?"]),
        (["learn", "paper:1", "--engine", "referense"], ["did you mean 'reference'?"]),
        (["learn", "paper:1", "--outputs", "winer"], ["--outputs is 'winer'", "did you mean 'winner'?"]),
        (["learn", "paper:1", "extra"], ["'extra'"]),
        (["climb", "--sigma", "0.1"], ["--alpha-h is missing"]),
        (["learn", ""], ["no learner ''"]),
        (["learn", "cmaes"], ["did you mean 'cma'? A learner of your own needs --import MODULE"]),
        (["learn", "mine.json"], ["there is no file 'mine.json', expected the file of a learner, paper:1"]),
        (["evolve", "--out", "x", "--learner", "esx"], ["did you mean 'es'? A learner of"]),
        (["evolve", "--out", "x", "--search", "mine"], ["one of ga, cma; a search of your"]),
        (["learn", "hc", "--network", "mine"], ["--network is 'mine', ", "; a network of your own"]),
        (["learn", "hc", "--network", "recurent"], ["did you mean 'recurrent'? A network of your own needs"]),
        (["--json", "maze"], ["--json belongs after the command: distal maze --json"]),
    ],
)
def test_bad_input_gets_one_line_that_names_the_value_and_the_fix(
    capsys: pytest.CaptureFixture[str], arguments: list[str], parts: list[str]
) -> None:
    line = refusal(capsys, *arguments)
    for part in parts:
        assert part in line


def test_help_and_version_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["learn", "--help"], ["--version"]):
        with pytest.raises(SystemExit) as leave:
            main(arguments)
        assert leave.value.code == 0
        assert "distal" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        ["BIG"], ["maze", "BIG"], ["learn", "BIG"], ["learn", "hc", "--seed", "BIG"], ["learn", "--BIG"],
        ["learn", "hc", "--env-arg", "BIG"], ["learn", "hc", "--csv", "BIG/x"], ["--version=BIG"],
        ["runs", "BIG"], ["champions", "--prize", "BIG"], ["learn", "hc", "--cluster", "BIG"],
        ["champions", "--runs", "4", "--out", "BIG"], ["learn", "hc", "--switch", "1", "--switch-to", "BIG"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("big", ["a" * 5000, "a b " * 1250, "ab/" * 1200 + "x", "\x1b" * 1000])
def test_a_refusal_shows_the_beginning_of_what_is_too_long(
    command: list[str], big: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distal.cli.study.show_plan", lambda *_: None)
    assert len(refusal(capsys, *(word.replace("BIG", big) for word in command))) < 1300
