"""Every door of the package refuses what is wrong with one line, and takes what is right."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from distal import cli
from tests import doors


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[doors.Room]:
    monkeypatch.chdir(tmp_path)  # and back, when the test is over
    logging.getLogger("distal").setLevel(logging.ERROR)  # that engine auto is cpu here
    yield doors.Room(tmp_path)
    logging.getLogger("distal").setLevel(logging.NOTSET)


def test_every_public_callable_has_a_door_and_every_parameter_a_row() -> None:
    rows: dict[str, set[str]] = {}
    for door in doors.all_doors():
        rows.setdefault(door.name, set()).update(door.rows)
    for name, thing in doors.public().items():
        if name not in doors.NO_DOOR:
            assert name in rows, f"{name} has no door in tests/doors.py"
            assert doors.parameters(thing) <= rows[name], name
    assert set(doors.NO_DOOR) <= set(doors.public())


def test_every_door_lets_in_what_is_right(room: doors.Room) -> None:
    for door in doors.all_doors():
        if door.quick:
            assert room.attempt(doors.Call(door, {})) is None


@pytest.mark.parametrize("part", range(4))
def test_every_parameter_with_every_nasty_value(part: int, room: doors.Room) -> None:
    calls = list(doors.singles())[part::4]
    assert [problem for problem in map(room.attempt, calls) if problem] == []


def test_two_nasty_values_at_once(room: doors.Room) -> None:
    calls = doors.calls(seed=1, count=4_000)
    assert [problem for problem in map(room.attempt, calls) if problem] == []


# ------------------------------------------------------------------ the command line

# What stands before the option that is tried, by command.
COMMANDS: dict[str, list[str]] = {
    "maze": [], "rules": [], "learn": ["hc"], "climb": [], "watch": ["hc", "--gif", "a.gif"],
    "evolve": ["--out", "new"], "runs": [], "reproduce": [], "readings": [], "bench": [],
}  # fmt: skip
NO_PATH = ["", "\0", "loop", "a" * 4_000]
NO_INPUT = [*NO_PATH, "missing", "folder", "latin.txt", "file.txt"]
NO_OUTPUT = [*NO_PATH, "folder", "missing/x", "file.txt/x"]
NO_FOLDER = [*NO_PATH, "file.txt", "file.txt/x"]
NO_LEARNER = ["", "x", "paper:0", "paper:99", *NO_INPUT]
NO_WORD = ["", "x", "\x1b[31m", "a" * 4_000]
NO_WHOLE = ["", "x", "-1", "1.5", "nan", "9" * 30, "9" * 5_000]
# Bad values, by command and option, by option, or by what the help says in its place.
BAD: dict[str, list[str]] = {
    "maze --svg": NO_OUTPUT, "--csv": NO_OUTPUT, "--gif": NO_OUTPUT, "--mp4": NO_OUTPUT,
    "watch --out": NO_OUTPUT, "--resume": [*NO_FOLDER, "missing", "folder"], "RULE": NO_LEARNER,
    "LEARNER": NO_LEARNER, "FILE": NO_INPUT, "DIR": NO_FOLDER, "--after": ["", "x", "0", "2,1", "1,1", "1,"],
    "ADDRESS": ["", "x", "local:0", "local:x", "tcp://x", "\0", "a" * 4_000], "WORD": NO_WORD, "H": NO_WORD,
    "NAME": NO_WORD, "SYMBOL": NO_WORD, "X": ["", "x", "-0.1", "1.1", "nan", "inf"],
    "--seed": NO_WHOLE, "--generations": NO_WHOLE, "--elite-count": NO_WHOLE, "R": ["0", *NO_WHOLE],
    "N": ["0", *NO_WHOLE],
}  # fmt: skip


def options() -> dict[str, list[argparse.Action]]:
    """Return what every command takes a value for."""
    (commands,) = (action for action in cli._parser()._actions if action.dest == "command")
    assert isinstance(commands.choices, dict)
    return {
        name: [action for action in command._actions if action.nargs != 0]
        for name, command in commands.choices.items()
    }


def bad_lines(command: str) -> Iterator[list[str]]:
    """Yield command lines with one bad value."""
    for action in options()[command]:
        name = (*action.option_strings, action.metavar)[0]
        keys = (f"{command} {name}", name, action.metavar)
        for bad in next(BAD[key] for key in keys if key in BAD):
            if not action.option_strings:
                yield [command, bad]
                continue
            before = COMMANDS[command]
            if name == "--resume":
                before = []
            elif name in before:
                before = before[: before.index(name)]
            yield [command, *before, f"{name}={bad}"]


def test_every_command_is_tried() -> None:
    assert set(COMMANDS) == set(options())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_option_is_refused_in_one_line_before_anything_is_begun(
    command: str, room: doors.Room, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def begun(*args: object, **options: object) -> None:
        raise AssertionError("something was begun")

    spreads = any(action.dest == "cluster" for action in options()[command])
    for line in bad_lines(command):
        with monkeypatch.context() as patch:
            patch.setattr("distal.terminal.show_plan", begun)
            if spreads and not line[-1].startswith("--cluster"):
                patch.setattr("distal.cluster.Cluster.__init__", begun)
                line.append("--cluster=local:2")
            try:
                code = cli.main(line)
            except SystemExit as leave:
                code = int(leave.code or 0)
        said = capsys.readouterr()
        assert (line, code, said.out, said.err.count("\n")) == (line, 2, "", 1), said.err
        assert said.err.endswith("\n"), line
        assert not room.changed(), line


@pytest.mark.parametrize(
    "line",
    [
        ["maze", "--svg", ""], ["learn", "hc", "--csv", ""], ["learn", "hc", "--maze", ""],
        ["watch", "hc", "--gif", ""], ["evolve", "--out", ""], ["evolve", "--resume", ""],
        ["reproduce", "--out", ""], ["readings", "--out", ""],
    ],
)  # fmt: skip
def test_an_empty_path_is_refused_by_the_name_of_its_option(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(line) == 2
    assert capsys.readouterr().err == f"distal: error: {line[-2]} is empty, expected a path\n"
