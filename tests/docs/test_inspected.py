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


def test_the_page_about_rules_says_what_the_kept_numbers_say() -> None:
    page = "".join((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("inside-a-rule", "reward"))
    ours, papers = kept("evolved_1"), kept("paper_1")

    def cost(data: dict[str, Any], row: int, change: int, interval: bool = False) -> str:
        one = next(one for one in data["knockouts"] if (one["row"], one["change"]) == (row, change))
        text = f"{one['difference']:+.1f}".replace("-", "−")
        if not interval:
            return text
        text += f" ± {(one['high'] - one['low']) / 2:.1f}"
        return f"**{text}**" if one["matters"] else text

    def spoken(effect: dict[str, float]) -> str:
        return "{difference:+.2f} ({low:+.2f} to {high:+.2f})".format(**effect).replace("-", "−")

    changes, shares = ours["rule"]["delta_w"], ours["usage"]["rows"]
    table = [line.split(" | ") for line in page.splitlines() if re.match(r"\| \d+ \| [01]{4} ", line)]
    assert [int(cells[0][2:]) for cells in table] == ours["smallest"]["rows"]
    for cells in table:
        row = int(cells[0][2:])
        assert cells[1:7] == [
            f"{row // 2:04b}", "+1" if row % 2 else "−1", f"{changes[row]:+d}".replace("-", "−"),
            f"{shares[row]:.1%}", cost(ours, row, 0, True), cost(ours, row, -changes[row], True),
        ]  # fmt: skip

    def gone(data: dict[str, Any]) -> list[int]:
        zeroed = [one for one in data["knockouts"] if one["change"] == 0 and one["matters"]]
        return [one["row"] for one in sorted(zeroed, key=lambda one: -one["difference"])]

    def along(name: str, factor: float) -> str:
        value = factor * ours["rule"][name]
        (one,) = (one for one in ours["sensitivity"][name] if one["value"] == value)
        return f"{one['difference']:+.1f}"

    assert gone(ours) == [5, 9, 3, 2, 4, 8, 25]
    assert {format(row // 2, "04b") for row in gone(ours)[:6]} == {"0001", "0010", "0100"}
    assert gone(papers) == [19]
    bits = {format(row // 2, "04b"): changes[row] for row in ours["smallest"]["rows"]}
    assert {b for b, change in bits.items() if change < 0} == {"0001", "0011", "0100"}
    assert {b for b, change in bits.items() if change > 0} == {"0010", "0110"}
    apart = [
        sum(ours["usage"][part][row] for row in range(32) if row // 2 in (0b0010, 0b0100))
        for part in ("first_tenth", "last_tenth")
    ]
    still, papers_still = (
        sum(
            share
            for share, change in zip(one["usage"]["rows"], one["rule"]["delta_w"], strict=True)
            if change == 0
        )
        for one in (ours, papers)
    )
    nonzero, left = sum(change != 0 for change in changes), len(ours["smallest"]["rows"])
    assert shares.index(max(shares)) == 17
    for phrase in (
        f"Row 17 has most of the updates, {max(shares):.1%}; {still:.1%} of the updates change nothing",
        "rows "
        + ", ".join(f"{row} ({cost(ours, row, 0)})" for row in gone(ours)[:-1])
        + f" and {gone(ours)[-1]} ({cost(ours, gone(ours)[-1], 0)})",
        f"{nonzero - left} of the {nonzero} rows",
        f"{ours['smallest']['fresh']['fitness']:.2f}, a difference of {spoken(ours['smallest']['fresh'])}; "
        f"chance {ours['smallest']['chance']:.2f}",
        f"to strengthen there costs {cost(ours, 17, 1)}",
        f"{apart[0]:.1%} of the updates in the first tenth of a trial and {apart[1]:.1%} in the last",
        f"it is not shown to be worse: {spoken(ours['signal']['always +1'])}",
        f"with m always −1, is no use alone: {spoken(ours['signal']['always -1'])}",
        f"chance, which is at {ours['chance']['fitness']:.2f}: {spoken(ours['signal']['swapped'])}",
        f"η costs {along('eta', 0.5)}, twice as much {along('eta', 2)}",
        f"θ {along('theta', 0.5)}, twice as much {along('theta', 2)}",
        f"no memory at all: {spoken(ours['sensitivity']['alpha_h'][0])}",
        f"fitness is {papers['fitness']:.2f}, chance {papers['chance']['fitness']:.2f}",
        f"row 3 must not become positive ({cost(papers, 3, 1)}) "
        f"and row 5 not negative ({cost(papers, 5, -1)})",
        f"{papers_still:.1%} of its updates change nothing",
        f"row 19 ({cost(papers, 19, 0)})",
        "rows, 3, 4, 5, 11, 13 and 19"
        if papers["smallest"]["rows"] == [3, 4, 5, 11, 13, 19]
        else "other rows",
        f"{papers['smallest']['fresh']['fitness']:.2f}, a difference of "
        f"{spoken(papers['smallest']['fresh'])}; "
        f"chance {papers['smallest']['chance']:.2f}",
        f"Always +1 is even better, {spoken(papers['signal']['always +1'])}",
        f"these trials show, {spoken(papers['signal']['swapped'])}",
        f"worse than chance, {spoken(papers['signal']['always -1'])}",
    ):
        assert phrase in page, phrase
    assert ours["rule"]["alpha_o"] == 0
