"""Every door of the package refuses what is wrong with one line, and takes what is right."""

from __future__ import annotations

import argparse
import json
import logging
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import Rule, cli
from distal.base.checks import shown
from distal.base.files import to_json
from distal.show import watch
from tests import command_line, doors


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


def test_every_parameter_with_a_tenth_of_the_nasty_values_and_every_value_with_a_tenth_of_them(
    room: doors.Room,
) -> None:
    # All 90,000 calls take most of a minute; `make fuzz` draws from them.
    calls = list(doors.singles())[::10]
    for rows in (
        Counter((id(call.door), *call.nasty) for call in calls),
        Counter(label for call in calls for label in call.nasty.values()),
    ):
        assert max(rows.values()) - min(rows.values()) <= 1
    assert [problem for problem in map(room.attempt, calls) if problem] == []


def test_two_nasty_values_at_once(room: doors.Room) -> None:
    calls = doors.calls(seed=1, count=2_000)
    assert [problem for problem in map(room.attempt, calls) if problem] == []


# ------------------------------------------------------------------ batches, and NumPy's numbers


def test_numpys_numbers_are_as_good_as_pythons(tmp_path: Path) -> None:
    few = {"population": 3, "elite_count": 1, "crossover": 0.5, "elites": "kept"}
    plain: dict[str, Any] = {**doors.SMALLEST, "seed": 3, "force": False}
    del plain["search"]
    kinds = {int: np.int64, float: np.float64, str: np.str_, bool: np.bool_}

    def converted(given: dict[str, Any]) -> Any:
        return {name: kinds[type(value)](value) for name, value in given.items()}

    searches: Any = (dict(few), converted(few))
    for name, options, search in zip(("plain", "theirs"), (plain, converted(plain)), searches, strict=True):
        distal.evolve(
            "hc", **options, search=distal.GeneticAlgorithm(**search), maze=doors.SMALL, out=tmp_path / name
        )
    for file in ("config.json", "state.json", "generations.csv", "winners/run-01.json"):
        assert (tmp_path / "theirs" / file).read_bytes() == (tmp_path / "plain" / file).read_bytes()

    short: Any = {"episodes": np.int32(2), "trials": np.uint8(1), "steps": np.int64(3)}
    third, largest = np.int64(3), np.uint64(2**64 - 1)
    workers: Any = np.int64(1)
    runner = distal.Runner(workers=workers)
    result: Any = distal.learn(doors.RULE, **{**short, "seed": largest}, maze=doors.SMALL, engine=runner)
    assert json.loads(to_json(result.to_dict(curves=np.bool_(True))))["seed"] == 2**64 - 1
    trial: Any = {"seed": third, "episodes": third, "goal": np.int64(1)}
    watched = watch.watch(doors.RULE, **trial, maze=doors.SMALL)
    assert json.loads(to_json(watched.to_dict()))["seed"] == 3
    numbers: Any = (np.ones(32, np.int8), np.float32(0.5), np.int64(1), np.uint8(0), 1)
    assert to_json(Rule(*numbers).to_dict()) == to_json(Rule([1] * 32, 0.5, 1.0, 0.0, 1.0).to_dict())


# ------------------------------------------------------------------ the command line

# What stands before the option that is tried, by command.
COMMANDS: dict[str, list[str]] = {
    "maze": [], "env": ["FrozenLake-v1"], "rules": [], "learn": ["hc"], "climb": [],
    "compare": ["paper:1", "hc"], "inspect": ["paper:1"],
    "watch": ["hc", "--gif", "a.gif"], "evolve": ["--out", "new"], "runs": ["runs"], "reproduce": [],
    "readings": [], "tasks": [], "beyond": [], "rivals": [], "champions": [], "bench": [],
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
    "compare --out": NO_OUTPUT, "--figure": NO_OUTPUT,
    "maze --svg": NO_OUTPUT, "maze --out": NO_OUTPUT, "--save": NO_OUTPUT, "--csv": NO_OUTPUT,
    "--html": NO_OUTPUT,
    "--gif": NO_OUTPUT, "--mp4": NO_OUTPUT, "watch --out": NO_OUTPUT,
    "--resume": [*NO_FOLDER, "missing", "folder"],
    "RULE": NO_LEARNER, "LEARNER": NO_LEARNER, "FILE": NO_INPUT, "DIR": NO_FOLDER,
    "--after": ["", "x", "0", "2,1", "1,1", "1,"],
    "ADDRESS": ["", "x", "local:0", "local:x", "tcp://x", "\0", "a" * 4_000], "WORD": NO_WORD, "H": NO_WORD,
    "NAME": NO_WORD, "GOAL": NO_WORD, "X": ["", "x", "-0.1", "1.1", "nan", "inf"],
    "--seed": NO_WHOLE, "--generations": NO_WHOLE, "--elite-count": NO_WHOLE, "--race": NO_WHOLE,
    "--finalists": NO_WHOLE, "R": ["0", *NO_WHOLE],
    "E": ["0", *NO_WHOLE], "W": ["0", "3", "6", *NO_WHOLE], "MAZE": [*NO_INPUT, "narrow", "Narrow-t"],
    "N": ["0", *NO_WHOLE], "ID": ["", "x", "x:y", "\0", "a" * 4_000, "missing.npz"],
    "MODULE": ["", "-", "x y", "nowhere.py", "no.where", "\0", "a" * 4_000],
    "NAME=VALUE": ["", "x", "=", "=1", "1=1", "a b=1", "nosuch=1"],
    "MODULE:CLASS": [*NO_WORD, "x:", "nosuch:X", "json:nosuch", "json:__name__"],
    "bins:N": [*NO_WORD, "bins", "bins:1", "bins:x", "binary"],
    "WORDS": [*NO_WORD, "nosuch:x", "json:nosuch", "bins", "bins:0", "one-hot,binary"],
}  # fmt: skip


def options() -> dict[str, list[argparse.Action]]:
    """Return what every command takes a value for."""
    taken = command_line.options()
    return {name: [action for action in given if action.nargs != 0] for name, given in taken.items()}


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


def named(line: list[str], said: str) -> bool:
    """Say whether a refusal names the option that is bad, or the value that it was given."""
    bad = line[-2] if line[-1] == "--cluster=local:2" else line[-1]
    option, given, value = bad.partition("=")
    names = {"--import": ["module"], "--cluster": ["local:N", "cluster"]}.get(option, [option.strip("-")])
    text = value.split("=")[0] or value if given else bad
    names.append(shown(text)[1:20] if text else "''")
    return any(name in said for name in names)


def test_every_command_is_tried() -> None:
    assert set(COMMANDS) == set(options())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_option_is_refused_in_one_line_before_anything_is_begun(
    command: str, room: doors.Room, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def begun(*args: object, **options: object) -> None:
        raise AssertionError("something was begun")

    monkeypatch.setattr(
        cli, "make_parser", cache(cli.make_parser)
    )  # most of the time would go into making it
    spreads = any(action.dest == "cluster" for action in options()[command])
    for line in bad_lines(command):
        with monkeypatch.context() as patch:
            patch.setattr("distal.cli.study.show_plan", begun)
            if spreads and not line[-1].startswith("--cluster"):
                patch.setattr("distal.engines.cluster.Cluster.__init__", begun)
                line.append("--cluster=local:2")
            try:
                code = cli.main(line)
            except SystemExit as leave:
                code = int(leave.code or 0)
        said = capsys.readouterr()
        assert (line, code, said.out, said.err.count("\n")) == (line, 2, "", 1), said.err
        assert said.err.endswith("\n"), line
        assert named(line, said.err), (line, said.err)
        assert not room.changed(), line


class Word(str, Enum):  # noqa: UP042 - a StrEnum calls itself by its value
    """A word that calls itself otherwise."""

    LAYER = "layer"
    DSP = "dsp"
    OUT = "runs"


class Odd(int):
    """A number that says it is another one."""

    def __int__(self) -> int:
        return 10**9

    __index__ = __int__


def test_words_and_numbers_of_a_kind_of_their_own_are_what_they_hold(here: Path) -> None:
    options: Any = {"trials": 1, "episodes": 3, "steps": 9, "hidden": 4}
    right = distal.learn("evolved:1", normalise="layer", **options)
    found = distal.learn("evolved:1", normalise=Word.LAYER, **{**options, "hidden": Odd(4)})
    assert found.settings == right.settings
    assert type(found.settings.normalise) is str
    assert (found.best == right.best).all()
    distal.evolve(Word.DSP, runs=1, generations=0, out=Word.OUT, **options)
    assert [path.name for path in here.iterdir()] == ["runs"]
