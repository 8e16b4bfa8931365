"""The rules that come with the package, by name: the paper's fifteen, fifteen of ours, and champions.

A champion is the best rule that a large search found for one prize. Its record says how it was
found, and what it did on held-out trials, which no search had seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from distal.base.checks import InputError, integer, sequence, shown, suggestion, text
from distal.learners.dsp import NUMBERS, ROWS, Rule

__all__ = [
    "NUMBERS",
    "ROWS",
    "SHIPPED",
    "Rule",
    "champion_record",
    "champion_rules",
    "evolved_beside_chance",
    "evolved_fitness",
    "evolved_rules",
    "find_rule",
    "is_there",
    "published_fitness",
    "published_rule",
    "published_rules",
    "shipped_names",
]


def published_rule(number: int) -> Rule:
    """Return one of the paper's fifteen evolved rules, 1 … 15, the best first."""
    rules = published_rules()
    return rules[integer("rule number", number, 1, len(rules)) - 1]


def published_rules() -> tuple[Rule, ...]:
    """Return the paper's fifteen evolved rules."""
    return _rules("paper", _published())


def published_fitness(number: int) -> float:
    """Return the fitness after 10,000 episodes that the paper reports for its rule."""
    return float(_published()[number - 1]["fitness_10000_episodes"])


def evolved_rules() -> tuple[Rule, ...]:
    """Return the rules that our own reproduction of the paper evolved, the best first."""
    return _rules("evolved", _evolved())


def evolved_fitness(number: int) -> float:
    """Return the fitness after 10,000 episodes that our reproduction measured for an evolved rule."""
    return float(_evolved()[number - 1]["fitness_10000_episodes"])


def evolved_beside_chance(number: int) -> tuple[float, float, float]:
    """Return a rule's fitness after 100 episodes, on fresh trials, and chance after 100 and 10,000."""
    entry = _evolved()[number - 1]
    names = ("fitness_100_episodes_remeasured", "chance_100_episodes", "chance_10000_episodes")
    at_100, chance_at_100, chance_at_10000 = (float(entry[name]) for name in names)
    return at_100, chance_at_100, chance_at_10000


def champion_rules() -> tuple[Rule, ...]:
    """Return the champions: the best rule that a large search found for each prize."""
    return _rules("champion", [entry["rule"] for entry in _champions()])


def champion_record(number: int) -> dict[str, Any]:
    """Return how a champion, 1 for `champion:1`, was found, and what it did on held-out trials."""
    champions = _champions()
    record: dict[str, Any] = champions[integer("champion number", number, 1, len(champions)) - 1]["record"]
    return deepcopy(record)


SHIPPED: dict[str, Callable[[], tuple[Rule, ...]]] = {
    "paper": published_rules,
    "evolved": evolved_rules,
    "champion": champion_rules,
}


def shipped_names() -> str:
    """Return the names of all rules that come with the package: "paper:1 to paper:15" and so on."""
    return ", ".join(f"{prefix}:1 to {prefix}:{len(rules())}" for prefix, rules in SHIPPED.items())


def find_rule(name: str | Path, others: Sequence[str] = ()) -> Rule:
    """Return the rule that a name stands for: `paper:N`, `evolved:N`, `champion:N`, or a rule file.

    `others` are words that the caller takes too, for the refusal.
    """
    words = [text("others", word) for word in sequence("others", others, "a list of words")]
    if not isinstance(name, str | Path):
        raise InputError(f"rule is {shown(name)}, expected the name of a rule, or a file")
    prefix, colon, number = str(name).partition(":")
    if prefix in SHIPPED and colon:
        rules = SHIPPED[prefix]()
        if number not in map(str, range(1, len(rules) + 1)):
            raise InputError(f"no rule {shown(str(name))}; there are {prefix}:1 to {prefix}:{len(rules)}")
        return rules[int(number) - 1]
    if not is_there(name):
        names = [*(rule.name for rules in SHIPPED.values() for rule in rules()), *words]
        more = "".join(f"{word}, " for word in words)
        raise InputError(
            f"no rule {shown(str(name))}, expected {shipped_names()}, {more}or a file"
            f"{suggestion(name, names)}"
        )
    return Rule.load(name)


def is_there(name: str | Path) -> bool:
    """Say whether there is a file, or a folder, of this name."""
    try:
        return bool(str(name)) and Path(name).exists()
    except (OSError, ValueError):  # a name that no file system takes
        return False


def _rules(prefix: str, entries: Sequence[dict[str, Any]]) -> tuple[Rule, ...]:
    return tuple(
        Rule(**{field: entry[field] for field in (*NUMBERS, "delta_w")}, name=f"{prefix}:{number}")
        for number, entry in enumerate(entries, start=1)
    )


def _published() -> list[dict[str, Any]]:
    return _kept("published_rules.json", "rules")


def _evolved() -> list[dict[str, Any]]:
    return _kept("evolved_rules.json", "rules")


def _champions() -> list[dict[str, Any]]:
    return _kept("champions.json", "champions")


@cache
def _kept(file: str, key: str) -> list[dict[str, Any]]:
    """Return the entries of a file of the package."""
    entries: list[dict[str, Any]] = json.loads(
        (resources.files("distal.learners") / file).read_text(encoding="utf-8")
    )[key]
    return entries
