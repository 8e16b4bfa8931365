"""The rules that come with the package: the paper's, evolved ones, champions."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from distal import Rule, champion_record, champion_rules, find_rule, published_rule, published_rules
from distal.evaluation.rule_set import find_rules
from distal.learners import find_learner
from distal.learners.shipped import SHIPPED, published_fitness, shipped_rules
from tests.refusals import refused

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


CHAMPIONS = len(champion_rules())


def test_rule_1_is_the_papers_first_column() -> None:
    rule = published_rule(1)
    assert (rule.eta, rule.theta, rule.alpha_h, rule.alpha_o) == (0.0317, 0.2080, 0.1931, 0.2376)
    # the first lines of the appendix table, in its order
    assert rule.delta_w[:8] == (1, 1, 0, -1, 1, 1, 0, -1)
    assert published_fitness(1) == 44.10


def test_the_appendix_table_read_along_its_rows() -> None:
    all_rules = published_rules()
    assert len(all_rules) == 15
    # 0 0 0 0 −1, then 0 0 0 1 +1, copied from the paper
    assert [rule.delta_w[0] for rule in all_rules] == [1, 1, 0, -1, -1, 1, 1, -1, 0, 1, 1, 0, 0, 0, -1]
    assert [rule.delta_w[3] for rule in all_rules] == [-1, -1, -1, -1, 0, *[-1] * 10]
    assert [rule.eta for rule in all_rules] == [
        0.0317, 0.0754, 0.0720, 0.0470, 0.0302, 0.0152, 0.0422, 0.0927,
        0.0569, 0.2396, 0.2082, 0.4536, 0.0507, 0.2315, 0.9619,
    ]  # fmt: skip
    assert [published_fitness(n) for n in range(1, 16)] == [
        44.10, 45.65, 45.83, 46.98, 51.65, 54.28, 54.35, 62.05,
        67.85, 76.25, 78.70, 79.10, 79.85, 84.98, 86.08,
    ]  # fmt: skip


@pytest.mark.parametrize("word", SHIPPED)
def test_shipped_rules_are_valid_though_nothing_checks_them_when_they_are_read(word: str) -> None:
    for rule in shipped_rules(word):
        checked = Rule(**vars(rule))
        assert [(name, type(value), value) for name, value in vars(rule).items()] == [
            (name, type(getattr(checked, name)), getattr(checked, name)) for name in vars(rule)
        ]


def test_a_rule_is_found_by_name_or_by_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    published_rule(4).save(path)
    assert find_rule("paper:4") == published_rule(4) == find_rule(str(path))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("paper:0", "there are paper:1 to paper:15"),
        ("paper:16", "there are paper:1 to paper:15"),
        ("paper:", "there are paper:1 to paper:15"),
        ("paper:one", "there are paper:1 to paper:15"),
        ("paper1", "did you mean 'paper:1'?"),
        ("champion:99", f"there are champion:1 to champion:{CHAMPIONS}"),
        ("champion", "did you mean 'champion:"),
        ("no/such/file.json", "expected paper:1 to paper:15, evolved:1 to evolved:15, champion:1 to champio"),
    ],
)
def test_unknown_rules_are_refused(name: str, problem: str) -> None:
    said = refused(lambda: find_rule(name))
    assert problem in said
    assert repr(name) in said
