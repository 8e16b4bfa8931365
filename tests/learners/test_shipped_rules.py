"""Rules: the published ones, the file format, the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from distal import InputError, Rule, champion_rules, find_rule, published_rule, published_rules
from distal.learners.shipped import SHIPPED, published_fitness, shipped_rules
from tests.strategies import rules

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


def test_a_rule_prints_as_its_32_row_table() -> None:
    lines = str(published_rule(1)).splitlines()
    assert lines[1] == "eta = 0.0317  theta = 0.208  alpha_h = 0.1931  alpha_o = 0.2376"
    assert len(lines) == 4 + 32
    assert lines[4].split() == ["0", "0", "0", "0", "0", "-1", "+1"]
    assert lines[4 + 7].split() == ["7", "0", "0", "1", "1", "+1", "-1"]
    assert lines[-1].split() == ["31", "1", "1", "1", "1", "+1", "0"]


def test_arrays_and_lists_of_changes_are_equal_to_tuples() -> None:
    changes = [0, 1, -1, 1] * 8
    one = Rule(changes, 0.1, 0.2, 0.3, 0.4)
    two = Rule(np.array(changes), 0.1, 0.2, 0.3, 0.4)  # type: ignore[arg-type]
    assert one == two
    assert hash(one) == hash(two)


@pytest.mark.parametrize("word", SHIPPED)
def test_shipped_rules_are_valid_though_nothing_checks_them_when_they_are_read(word: str) -> None:
    for rule in shipped_rules(word):
        checked = Rule(**vars(rule))
        assert [(name, type(value), value) for name, value in vars(rule).items()] == [
            (name, type(getattr(checked, name)), getattr(checked, name)) for name in vars(rule)
        ]


@given(rules)
def test_a_rule_survives_its_file(rule: Rule) -> None:
    assert Rule.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


def test_saving_replaces_the_file_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a rule.json"
    published_rule(4).save(path)
    published_rule(3).save(path)
    assert Rule.load(path) == published_rule(3)
    assert [file.name for file in tmp_path.iterdir()] == ["a rule.json"]


def test_saving_refuses_a_link_and_a_file_of_another_kind(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    published_rule(4).save(real)
    link.symlink_to(real)
    with pytest.raises(InputError, match=r"link\.json': it is a link; name the file that it leads to$"):
        published_rule(3).save(link)
    assert Rule.load(real) == published_rule(4)
    real.write_text('{"name": "a package"}')
    with pytest.raises(InputError, match="a file of another kind is there; name another, or remove that"):
        published_rule(3).save(real)
    assert real.read_text() == '{"name": "a package"}'


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
    with pytest.raises(InputError) as refusal:
        find_rule(name)
    assert problem in str(refusal.value)
    assert repr(name) in str(refusal.value)


GOOD: dict[str, Any] = published_rule(1).to_dict()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"delta_w": [0] * 31}, "delta_w has 31 changes, expected 32"),
        ({"delta_w": [0] * 31 + [2]}, "delta_w[31] is 2, expected a whole number from -1 to 1"),
        ({"delta_w": [0.5] + [0] * 31}, "delta_w[0] is 0.5"),
        ({"delta_w": [True] + [0] * 31}, "delta_w[0] is True"),
        ({"eta": 10**400}, "expected a number from 0 to 1"),
        ({"version": 2}, "version is 2, this release reads version 1"),
        ({"format": "other"}, "format is 'other', expected 'distal-rule'"),
        ({"alpha_H": 0.1}, "unknown field 'alpha_H'; did you mean 'alpha_h'?"),
    ],
)
def test_malformed_rule_files_are_refused_by_name(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(InputError) as refusal:
        Rule.load(path)
    assert problem in str(refusal.value)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "is not JSON: line 1, column 2"),
        (b"[1, 2]", "expected an object with"),
        (b"\xff\xfe", "it is not a UTF-8 text file"),
        (b'{"format": "distal-rule", "version": 1}', "field 'eta' is missing"),
        (b'{"format": "distal-rule", "version": 1, "eta": NaN}', "is not JSON: NaN is not a JSON number"),
        (b'{"format": "distal-rule", "eta": -Infinity}', "is not JSON: -Infinity is not a JSON number"),
        (b'{"eta": 0.1, "theta": 0.1, "eta": 0.2}', "is not JSON: it has the name 'eta' twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 10_000, "a number is too long"),
    ],
)
def test_files_that_are_no_rules_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.json") as refusal:
        Rule.load(path)
    assert problem in str(refusal.value)
