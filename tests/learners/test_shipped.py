"""The champions that come with the package: their file and their names."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from distal import Rule, champion_record, champion_rules, find_rule
from distal.evaluation.measures import Measure
from distal.evaluation.rule_set import find_rules
from distal.learners import find_learner

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
