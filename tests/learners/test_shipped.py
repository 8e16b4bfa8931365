"""The champions that come with the package: their file, their names, what the commands show of them."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

import distal
from distal import Rule, champion_record, champion_rules, find_rule
from distal.evaluation.measures import Measure
from distal.evaluation.rule_set import find_rules
from distal.learners import find_learner
from tests.command_line import output, output_json, refusal

FILE = json.loads((resources.files("distal.learners") / "champions.json").read_text(encoding="utf-8"))
ENTRIES: list[dict[str, Any]] = FILE["champions"]
NUMBERS = range(1, len(ENTRIES) + 1)
RECORD = {
    "prize", "fitness", "episodes", "command", "seed", "version", "budget", "spent", "runs", "candidates",
    "finalists", "selected", "held_out",
}  # fmt: skip
HELD_OUT = {
    "trials", "fitness", "standard_error", "low", "high", "chance", "chance_standard_error", "p",
    "superiority", "reached", "reached_low", "reached_high", "chance_reached",
}  # fmt: skip


def test_the_file_says_what_it_is_and_has_a_champion_for_each_prize() -> None:
    assert (FILE["format"], FILE["version"]) == ("distal-champions", 1)
    assert {entry["record"]["prize"] for entry in ENTRIES} >= {"best", "last", "long"}


@pytest.mark.parametrize("number", NUMBERS)
def test_every_entry_is_whole_and_its_numbers_fit_one_another(number: int) -> None:
    entry = ENTRIES[number - 1]
    record, held = entry["record"], entry["record"]["held_out"]
    assert Rule.from_dict(entry["rule"]).to_dict() == entry["rule"]
    assert set(record) >= RECORD
    assert set(held) >= HELD_OUT
    Measure.of(record["fitness"]).check(record["episodes"])
    assert record["command"].startswith("distal champions")
    assert 0 < record["candidates"] < record["spent"]
    assert 0 < record["finalists"] <= record["candidates"]
    assert held["low"] <= held["fitness"] <= held["high"]
    assert held["reached_low"] <= held["reached"] <= held["reached_high"]
    assert held["trials"] >= 4000
    # The interval is about as wide as the standard error says: 1.96 on either side, or near it.
    half = (held["high"] - held["low"]) / 2
    assert 1.8 * held["standard_error"] <= half <= 2.1 * held["standard_error"]
    assert held["fitness"] < held["chance"]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_champion_has_the_rule_of_its_entry_and_a_name_for_everything(number: int) -> None:
    entry, name = ENTRIES[number - 1], f"champion:{number}"
    rule = champion_rules()[number - 1]
    assert rule.to_dict() == {**entry["rule"], "name": name}
    assert find_rule(name) == find_learner(name) == rule
    assert find_rules([name]) == (rule,)
    assert champion_record(number) == entry["record"]


def test_all_champions_are_a_set_of_rules() -> None:
    assert find_rules("champion") == champion_rules()


def test_a_record_that_a_caller_changes_stays_as_it_is() -> None:
    champion_record(1)["held_out"]["fitness"] = 0
    assert champion_record(1) == ENTRIES[0]["record"]


def test_rules_lists_every_champion_with_its_prize_and_what_it_did_held_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = output(capsys, "rules").splitlines()
    for number in NUMBERS:
        (line,) = (line for line in lines if line.split()[:1] == [f"champion:{number}"])
        record = ENTRIES[number - 1]["record"]
        held = record["held_out"]
        assert f" {record['prize']} " in line
        assert f" {held['fitness']:.2f} ({held['low']:.2f} to {held['high']:.2f}) " in line
        shares = (f"{held['chance']:.2f}", f"{held['reached']:.1%}", f"{held['chance_reached']:.1%}")
        assert line.split()[-3:] == list(shares)


def test_the_list_as_json_holds_rules_and_records(capsys: pytest.CaptureFixture[str]) -> None:
    champions = output_json(capsys, "rules")["champions"]
    assert champions == [
        {"rule": rule.to_dict(), "record": entry["record"]}
        for rule, entry in zip(champion_rules(), ENTRIES, strict=True)
    ]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_champion_is_shown_with_its_rows_and_its_record(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output(capsys, "rules", f"champion:{number}")
    table, record_text = text.split("\n\nprize ")
    assert table == str(champion_rules()[number - 1])
    record = ENTRIES[number - 1]["record"]
    shown = {line.split("  ")[0]: line for line in record_text.splitlines()[1:]}
    assert record["command"] in shown["command"]
    assert record["version"] in shown["version"]
    assert f"{record['budget']:,} episodes, {record['spent']:,} spent" in shown["budget"]
    assert f"{record['candidates']:,} measurements in " in shown["candidates"]
    assert f"{record['selected']:.2f}" in shown["selected"]
    assert f"{record['held_out']['fitness']:.2f} (" in shown["held out"]
    assert f"{record['held_out']['chance']:.2f} ± " in shown["chance"]
    assert f"{record['held_out']['reached']:.1%} (" in shown["reached"]


def test_a_champion_as_json_is_a_rule_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert Rule.from_dict(output_json(capsys, "rules", "champion:1")) == champion_rules()[0]


def test_commands_take_champions_and_name_them_in_their_help(capsys: pytest.CaptureFixture[str]) -> None:
    short = ["--trials", "1", "--episodes", "3", "--steps", "8"]
    data = output_json(capsys, "learn", "champion:2", *short)
    assert data["best"] == distal.learn("champion:2", trials=1, episodes=3, steps=8).final.tolist()
    names = f"champion:1 to champion:{len(ENTRIES)}"
    for command in ("learn", "compare", "inspect", "watch", "rules"):
        with pytest.raises(SystemExit):
            output(capsys, command, "--help")
        assert names in " ".join(capsys.readouterr().out.split())
    assert f"there are {names}" in refusal(capsys, "compare", "champion:99", "hc")
