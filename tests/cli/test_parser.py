"""The parser: help, and bad input in one line that names the value and the fix."""

from __future__ import annotations

import pytest

from distal.cli import main
from tests.command_line import output, refusal


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
        (["learn", "paper:1", "--hidden", "1000"], ["error: --hidden is 1000", "1 to 256"]),
        (["learn", "paper:1", "--engine", "referense"], ["did you mean 'reference'?"]),
        (["learn", "paper:1", "--outputs", "winer"], ["--outputs is 'winer'", "did you mean 'winner'?"]),
        (["learn", "paper:1", "--heading", "up"], ["error: --heading is 'up'", "north, east, south, west"]),
        (["learn", "paper:1", "--maze", "missing.txt"], ["'missing.txt'", "No such file"]),
        (["learn", "paper:1", "extra"], ["'extra'"]),
        (["climb", "--sigma", "0.1"], ["--alpha-h is missing"]),
        (["climb", "--sigma", "2", "--alpha-h", "0", "--alpha-o", "0"], ["error: --sigma is 2.0", "0 to 1"]),
        (["climb", "--sigma", "x", "--alpha-h", "0", "--alpha-o", "0"], ["'x' is not a number"]),
        (["learn", ""], ["no learner ''"]),
        (["learn", "cmaes"], ["did you mean 'cma'? A learner of your own needs --import MODULE"]),
        (["learn", "mine.json"], ["there is no file 'mine.json', expected the file of a learner, paper:1"]),
        (["evolve", "--out", "x", "--learner", "esx"], ["did you mean 'es'? A learner of"]),
        (["evolve", "--out", "x", "--search", "mine"], ["one of ga, cma; a search of your"]),
        (["learn", "hc", "--network", "mine"], ["--network is 'mine', ", "; a network of your own"]),
        (["learn", "hc", "--network", "recurent"], ["did you mean 'recurrent'? A network of your own needs"]),
        (["evolve", "--out", "x", "--population", "1"], ["error: --population is 1"]),
        (["learn", "x" * 5000], ["no learner 'xxx"]),
        (["learn", "paper:" + "1" * 5000], ["paper:1 to paper:15"]),
        (["learn", "paper:1", "--trials", "4000000000"], ["B are free; ask for fewer trials or episodes"]),
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
