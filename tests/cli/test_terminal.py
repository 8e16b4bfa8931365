"""Output at a terminal: names are shown and not obeyed, and any terminal will do."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from unittest.mock import Mock

import pytest

import distal
from distal import published_rule
from distal.cli import main
from distal.cli.terminal import console
from tests.command_line import output, output_json, refusal
from tests.given import some
from tests.processes import DISTAL, started

SHORT = ["--episodes", "12", "--trials", "1", "--steps", "8"]
PLAIN = [*SHORT, "--engine", "reference"]  # a process of its own loads it in no time


def test_names_and_pictures_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rule = tmp_path / "rule.json"
    rule.write_text(json.dumps({**published_rule(1).to_dict(), "name": "[/bold] :smile: run [ 1, 2 ]"}))
    assert output(capsys, "learn", str(rule), *SHORT).startswith("[/bold] :smile: run [ 1, 2 ]\n")
    assert output_json(capsys, "rules", str(rule))["name"] == "[/bold] :smile: run [ 1, 2 ]"
    wide = tmp_path / "wide.txt"
    wide.write_text("#" * 255 + "\n#S0" + "." * 251 + "#\n" + "#" * 255 + "\n")
    assert output(capsys, "maze", str(wide)).startswith(wide.read_text())


# An escape sequence, a bell, a C1 control, DEL, a line break, a line separator, a change of direction,
# and half a character, as a file name that is not UTF-8 holds it.
EVIL = "ev\x1b[31mil\a\x9b\x7f\n\u2028\u202eX\udcff"


SHOWN = r"ev\x1b[31mil\x07\x9b\x7f\n\u2028\u202eX\udcff"


def obeyed(text: str) -> set[str]:
    """Return what a terminal would not show but do, or could not show; line breaks are for layout."""
    return {letter for letter in text if not letter.isprintable()} - {"\n"}


# What a rule's name may hold, for there are languages that need such characters.
TURNED = "ev\u202eil\u200b"


TURNED_SHOWN = r"ev\u202eil\u200b"


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    path = tmp_path / "rule.json"
    data = {**published_rule(1).to_dict(), "name": TURNED}
    path.write_text(json.dumps(data))
    return path


def test_a_name_with_control_characters_is_refused_without_obeying_it(
    evil: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil.write_text(json.dumps({**published_rule(1).to_dict(), "name": EVIL}))
    err = refusal(capsys, "rules", str(evil))
    assert SHOWN in err
    assert not obeyed(err)


@pytest.mark.parametrize("command", [["rules"], ["learn", *SHORT]])
def test_names_are_shown_and_not_obeyed(
    command: list[str], evil: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command[0], str(evil), *command[1:]]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == TURNED_SHOWN
    assert not obeyed(out + err)


def test_json_holds_the_same_name_and_nothing_to_obey(evil: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", str(evil), "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out)["name"] == TURNED
    assert not obeyed(out)


def test_colours_go_on_working(evil: Path) -> None:
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"}
    with started(*DISTAL, "learn", evil, *PLAIN, env=environment) as process:
        out, _ = process.communicate(timeout=60)
    assert f"\x1b[1m{TURNED_SHOWN}\x1b[0m" in out
    assert obeyed(out) == {"\x1b"}


def test_a_page_a_table_and_a_notebook_do_not_turn_a_name_round(
    evil: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, table, inside = (str(tmp_path / name) for name in ("page.html", "table.csv", "inside.html"))
    assert main(["watch", str(evil), "--steps", "8", "--episodes", "3", "--out", page]) == 0
    assert main(["compare", str(evil), "hc", *SHORT, "--csv", table]) == 0
    assert main(["inspect", str(evil), *SHORT, "--html", inside]) == 0
    capsys.readouterr()
    shown = {page: r"ev\\u202eil\u200b", table: "ev\\u202eil\u200b", inside: "ev\\u202eil\u200b"}
    for file, name in shown.items():
        text = Path(file).read_text()
        assert name in text
        assert "\u202e" not in text
    data = some(re.search(r'id="trial"[^>]*>([^<]*)<', Path(page).read_text()))
    # What the page's own script makes of it: the name is shown letter by letter there, too.
    assert json.loads(data[1])["learners"][0]["name"] == "ev\\u202eil\u200b"
    result = distal.learn(evil, episodes=2, trials=1, steps=4)
    assert "\u202e" not in result._repr_html_()


def test_a_report_of_another_machine_is_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    from distal.cli.bench import show_change

    earlier = {"distal": EVIL, "date": EVIL, "machine": {"processor": EVIL, "cores": 2}}
    for to_stderr in (False, True):
        show_change([], earlier, to_stderr)
        text = "".join(capsys.readouterr())
        assert text.count(SHOWN) == 3
        assert not obeyed(text)


def test_errors_are_one_line_whatever_they_hold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from distal.engines.spread import WorkError

    for error in (distal.InputError(EVIL), WorkError(EVIL), KeyboardInterrupt(EVIL)):
        monkeypatch.setattr("distal.cli.maze.show_maze", Mock(side_effect=error))
        assert main(["maze"]) > 0
        err = capsys.readouterr().err
        assert SHOWN in err
        assert err.count("\n") == 1
        assert not obeyed(err)


@pytest.mark.parametrize("name", [b"\xff", b"a\x1b[31mb", b"line\nbreak", "\u202e".encode()])
def test_any_file_name_will_do(name: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = os.fsdecode(os.fsencode(tmp_path) + b"/" + name)
    missing, folder = f"{rule}.none", f"{rule}.runs"
    published_rule(1).save(rule)
    small = ["--runs", "1", "--generations", "1", "--trials", "1", "--episodes", "2"]
    for command, code in (
        (["rules", rule], 0),
        (["learn", rule, *SHORT, "--csv", f"{rule}.csv"], 0),
        (["evolve", *small, "--out", folder], 0),
        (["runs", folder], 0),
        (["runs", folder, "--json"], 0),
        (["evolve", *small, "--out", folder], 2),
        (["rules", missing], 2),
        (["maze", missing], 2),
        (["runs", missing], 2),
        (["learn", "paper:1", "--cluster", missing], 2),
    ):
        assert main(command) == code, command
        out, err = capsys.readouterr()
        assert not obeyed(out + err)
        assert "line\nbreak" not in out + err
        assert code == 0 or err.count("\n") == 1
    assert repr(missing)[1:-1] in err


@pytest.mark.parametrize(
    "variables",
    [
        {"COLUMNS": "1"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    ],
)
def test_a_narrow_or_plain_terminal_is_no_error(variables: dict[str, str]) -> None:
    with started(*DISTAL, "learn", "paper:1", *PLAIN, env={**os.environ, **variables}) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "Beats chance" in out


@pytest.mark.parametrize(("columns", "width"), [("60", 80), ("100", 100)])
def test_a_narrow_terminal_cuts_no_number_off(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    shown = console()
    assert shown.is_terminal
    assert shown.width == width  # a table of up to 80 columns is whole, its rows are broken by the terminal


@pytest.mark.parametrize(
    "command",
    [
        ["rules"],
        ["learn", "champion:1", *PLAIN],
        ["climb", *PLAIN],
        ["compare", "champion:1", "evolved:10", "hc", *PLAIN],
        ["inspect", "champion:1", *PLAIN],
        ["maze"],
    ],
)
def test_tables_lose_no_letter_in_a_terminal_of_eighty_columns(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(command) == 0
    assert "…" not in capsys.readouterr().out


def test_a_long_named_line_goes_on_beneath_its_start_in_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "generations of their finalists, 64 finalists" in output(capsys, "rules", "champion:1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\n            finalists, 64 finalists" in output(capsys, "rules", "champion:1")


def test_the_list_of_rules_has_their_numbers_where_there_is_room(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    for columns, there in (("80", False), ("115", True)):
        monkeypatch.setenv("COLUMNS", columns)
        text = output(capsys, "rules")
        assert ("theta" in text, "…" in text) == (there, False)
