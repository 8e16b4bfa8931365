"""Every door of the package refuses what is wrong with one line, and takes what is right."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

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


def test_two_nasty_values_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: doors.Room) -> None:
    calls = doors.calls(seed=1, count=4_000)
    assert [problem for problem in map(room.attempt, calls) if problem] == []
