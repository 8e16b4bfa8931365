"""`distal rules`."""

from __future__ import annotations

from pathlib import Path

import pytest

import distal
from distal import Rule, champion_record, champion_rules, published_rule
from tests.command_line import output, output_json, refusal

NUMBERS = range(1, len(champion_rules()) + 1)


def test_rules_lists_the_published_rules_and_shows_one(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "rules")
    assert all(f"paper:{n} " in text for n in range(1, 16))
    assert output(capsys, "rules", "paper:2").rstrip() == str(published_rule(2))
    data = output_json(capsys, "rules")
    names = [f"{source}:{n}" for source in ("paper", "evolved") for n in range(1, 16)]
    assert [rule["name"] for rule in data["rules"]] == names


@pytest.mark.parametrize("name", ["paper:7", "champion:1"])
def test_a_rule_printed_as_json_is_a_rule_file(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(output(capsys, "rules", name, "--json"))
    assert Rule.load(path) == distal.find_rule(name)
    assert output(capsys, "rules", str(path)) == str(distal.find_rule(name)) + "\n"


def test_rules_lists_every_champion_with_its_prize_and_what_it_did_held_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = output(capsys, "rules").splitlines()
    for number in NUMBERS:
        (line,) = (line for line in lines if line.split()[:1] == [f"champion:{number}"])
        record = champion_record(number)
        held = record["held_out"]
        assert f" {record['prize']} " in line
        assert f" {held['fitness']:.2f} ({held['low']:.2f} to {held['high']:.2f}) " in line
        shares = (f"{held['chance']:.2f}", f"{held['reached']:.1%}", f"{held['chance_reached']:.1%}")
        assert line.split()[-3:] == list(shares)


def test_the_list_as_json_holds_rules_and_records(capsys: pytest.CaptureFixture[str]) -> None:
    champions = output_json(capsys, "rules")["champions"]
    assert champions == [
        {"rule": rule.to_dict(), "record": champion_record(number)}
        for number, rule in zip(NUMBERS, champion_rules(), strict=True)
    ]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_champion_is_shown_with_its_rows_and_its_record(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output(capsys, "rules", f"champion:{number}")
    table, record_text = text.split("\n\nprize ")
    assert table == str(champion_rules()[number - 1])
    record = champion_record(number)
    shown = {line.split("  ")[0]: line for line in record_text.splitlines()[1:]}
    assert record["command"] in shown["command"]
    assert record["version"] in shown["version"]
    assert f"{record['budget']:,} episodes, {record['spent']:,} spent" in shown["budget"]
    assert f"{record['candidates']:,} measurements in " in shown["candidates"]
    assert f"{record['selected']:.2f}" in shown["selected"]
    assert f"{record['held_out']['fitness']:.2f} (" in shown["held out"]
    assert f"{record['held_out']['chance']:.2f} ± " in shown["chance"]
    assert f"{record['held_out']['reached']:.1%} (" in shown["reached"]


def test_commands_take_champions_and_name_them_in_their_help(capsys: pytest.CaptureFixture[str]) -> None:
    short = ["--trials", "1", "--episodes", "3", "--steps", "8"]
    data = output_json(capsys, "learn", "champion:2", *short)
    assert data["best"] == distal.learn("champion:2", trials=1, episodes=3, steps=8).final.tolist()
    names = f"champion:1 to champion:{len(NUMBERS)}"
    for command in ("learn", "compare", "inspect", "watch", "rules"):
        with pytest.raises(SystemExit):
            output(capsys, command, "--help")
        assert names in " ".join(capsys.readouterr().out.split())
    assert f"there are {names}" in refusal(capsys, "compare", "champion:99", "hc")
