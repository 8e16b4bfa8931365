"""The kept inspections, and the pages that quote them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import Rule
from distal.evaluation.inspect import with_row
from distal.evaluation.trials import batch_of
from distal.evaluation.usage import count_usage
from tests.given import some

DOCS = Path(__file__).parents[2] / "docs"


def kept(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DOCS / f"inspect_{name}.json").read_text())
    return data


@pytest.mark.parametrize("name", ["evolved_1", "paper_1"])
def test_the_kept_numbers_are_what_the_command_prints(name: str) -> None:
    data = kept(name)
    assert data["version"] == distal.__version__
    rule = distal.find_rule(name.replace("_", ":"))
    own = distal.learn(rule, trials=data["trials"])
    assert (data["fitness"], data["chance"]["fitness"]) == (own.fitness, some(own.chance).fitness)
    shape: Any = {"task": own.task, "settings": own.settings, "trials": own.trials, "episodes": own.episodes}
    usage = count_usage(batch_of([rule], np.zeros(1, np.uint64), **shape), "cpu")
    assert data["usage"]["counts"] == usage.counts.tolist()
    knocked = data["knockouts"][5]
    changed = distal.learn(with_row(rule, knocked["row"], knocked["change"]), trials=own.trials, chance=False)
    assert knocked["fitness"] == changed.fitness
    smallest = Rule.from_dict(data["smallest"]["rule"])
    assert data["smallest"]["found"]["fitness"] == distal.learn(smallest, trials=50, chance=False).fitness


def test_the_rows_that_the_pages_name_are_those_that_the_kept_numbers_show() -> None:
    """The numbers beside them are compared in test_numbers.py."""

    def needed(data: dict[str, Any]) -> list[int]:
        zeroed = [one for one in data["knockouts"] if one["change"] == 0 and one["matters"]]
        return [one["row"] for one in sorted(zeroed, key=lambda one: -one["difference"])]

    ours, papers = kept("evolved_1"), kept("paper_1")
    assert needed(ours) == [5, 9, 3, 2, 4, 8, 25]
    assert needed(papers) == [19]
    page = (DOCS / "inside-a-rule.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (\d+) \| ([01]{4}) \| (\S+) \| (\S+) \|", page, re.MULTILINE)
    assert table == [
        (str(row), f"{row // 2:04b}", "+1" if row % 2 else "−1", f"{change:+d}".replace("-", "−"))
        for row, change in enumerate(ours["smallest"]["rule"]["delta_w"])
        if change
    ]
    shares = ours["usage"]["rows"]
    assert (shares.index(max(shares)), ours["usage"]["unused"]) == (17, [0, 1])
    assert ours["rule"]["alpha_o"] == 0
