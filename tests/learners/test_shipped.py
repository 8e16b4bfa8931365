"""The champions that come with the package: their file and their names."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from distal import champion_record, champion_rules, find_rule
from distal.evaluation.rule_set import find_rules
from distal.learners import find_learner

FILE = json.loads((resources.files("distal.learners") / "champions.json").read_text(encoding="utf-8"))
ENTRIES: list[dict[str, Any]] = FILE["champions"]
NUMBERS = range(1, len(ENTRIES) + 1)


def test_the_file_says_what_it_is_and_has_a_champion_for_each_prize() -> None:
    assert (FILE["format"], FILE["version"]) == ("distal-champions", 1)
    assert {entry["record"]["prize"] for entry in ENTRIES} >= {"best", "last", "long"}


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
