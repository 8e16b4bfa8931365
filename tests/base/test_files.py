"""Single files: written whole, over files of their own kind alone, and through no link."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import distal
from distal import published_rule
from tests.command_line import output, refusal
from tests.processes import DISTAL, started

SHORT = ["--episodes", "12", "--trials", "1", "--steps", "8"]
PLAIN = [*SHORT, "--engine", "reference"]  # a process of its own loads it in no time
SMALL = ["--steps", "8", "--episodes", "3"]


FILES = {  # a command that writes a file of each kind, by its name
    "page.html": ["watch", "hc", *SMALL, "--out"],
    "film.gif": ["watch", "hc", "--steps", "8", "--after", "1", "--gif"],
    "film.mp4": ["watch", "hc", "--steps", "8", "--after", "1", "--mp4"],
    "inside.html": ["inspect", "evolved:1", *SMALL, "--trials", "1", "--html"],
    "learned.csv": ["learn", "hc", *SMALL, "--trials", "1", "--csv"],
    "result.npz": ["learn", "hc", *SMALL, "--trials", "1", "--save"],
    "compared.csv": ["compare", "hc", "chance", *SMALL, "--trials", "1", "--csv"],
    "compared.json": ["compare", "hc", "chance", *SMALL, "--trials", "1", "--out"],
    "curves.svg": ["compare", "hc", "chance", *SMALL, "--trials", "1", "--figure"],
    "curves.png": ["compare", "hc", "chance", *SMALL, "--trials", "1", "--figure"],
    "maze.txt": ["maze", "--out"],
    "maze.svg": ["maze", "--svg"],
    "lake.npz": ["env", "CliffWalking-v1", "--episodes", "1", "--trials", "1", "--save"],
}


@pytest.fixture(params=FILES)
def writing(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[str], Path]:
    """Return a command and the file that it is to write."""
    name: str = request.param
    if name == "film.mp4":
        pytest.importorskip("imageio_ffmpeg", reason="pip install 'distal[video]'")
    return [*FILES[name], str(tmp_path / name)], tmp_path / name


def test_a_file_is_written_again_and_over_an_empty_one(
    writing: tuple[list[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    command, file = writing
    file.touch()
    output(capsys, *command)
    assert (size := file.stat().st_size) > 0
    output(capsys, *command)
    assert abs(file.stat().st_size - size) < 200
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_file_of_another_kind_stays_as_it_is(
    writing: tuple[list[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    command, file = writing
    file.write_text("alias ll='ls -l'\n")
    wanted = f"cannot write {str(file)!r}: a file of another kind is there; name another, or remove that one"
    assert wanted in refusal(capsys, *command)
    assert file.read_text() == "alias ll='ls -l'\n"


@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_a_link(
    there: bool, writing: tuple[list[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    command, file = writing
    other = file.parent / "other"
    if there:
        other.touch()
    file.symlink_to(other)
    wanted = f"cannot write {str(file)!r}: it is a link; name the file that it leads to"
    assert wanted in refusal(capsys, *command)
    assert file.is_symlink()
    assert other.exists() is there
    assert not there or other.read_bytes() == b""


@pytest.mark.parametrize("shell", [
    "{} --csv /dev/stdout > out; head -1 out",
    "{} --csv /dev/stdout | cat",
    "{} --csv /dev/fd/3 3> out > said; head -1 out",
    "{} --csv >(cat > out) > said; sleep 1; cat out",
    "mkfifo pipe; cat pipe & {} --csv pipe > out; wait",
    "{} --csv /dev/null > out; echo trial,final_position,episode,ep,best,chance_ep,chance_best",
    "echo before > out; {} --csv /dev/stdout >> out; sed -n '1d; 2p' out",
])  # fmt: skip
def test_pipes_devices_and_what_a_shell_has_opened_are_written_to(shell: str, tmp_path: Path) -> None:
    line = shell.format(shlex.join([*DISTAL, "learn", "hc", *PLAIN]))
    with started("bash", "-c", line, cwd=tmp_path) as process:
        out, errors = process.communicate(timeout=60)
    assert errors == ""
    assert out.splitlines()[0] == "trial,final_position,episode,ep,best,chance_ep,chance_best"


def test_a_handle_that_nobody_has_opened_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    error = refusal(capsys, "learn", "hc", *SMALL, "--csv", "/dev/fd/987654")
    assert "cannot write '/dev/fd/987654': Bad file descriptor" in error


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("+1+1", "'+1+1"), ("-a", "'-a"), ("@sum", "'@sum"),
        (" =a", "' =a"), ("a=b", "a=b"), ("-1.5", "-1.5"),
    ],
)  # fmt: skip
def test_a_table_holds_no_name_that_a_spreadsheet_takes_for_a_formula(name: str, written: str) -> None:
    rule = published_rule(1).named(name)
    compared = distal.compare([rule, "hc"], episodes=1, trials=2, steps=2)
    _, first, *_ = csv.reader("".join(compared.csv_pieces()).splitlines())
    assert first[0] == written


def test_a_loop_of_links_is_no_file_and_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for command in (["rules"], ["maze"], ["climb"], ["runs"], ["evolve", "--resume"], ["evolve", "--out"]):
        assert str(loop) in refusal(capsys, *command, str(loop))


@pytest.mark.parametrize("load", [distal.Rule.load, distal.HillClimbing.load, distal.Maze.from_file])
def test_a_nul_in_a_name_is_refused(load: Callable[[str], object]) -> None:
    with pytest.raises(distal.InputError, match=r"file is 'a\\x00b', which is not a valid path"):
        load("a\0b")
