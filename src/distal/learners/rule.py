"""A DSP rule: 32 changes and four numbers, as an object, a table and a file.

Row index = (b00·8 + b01·4 + b10·2 + b11)·2 + (1 if m = +1 else 0), the order of
the paper's appendix.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base import checks
from distal.base.checks import InputError, integer, sequence, shown, suggestion, text, unit_interval
from distal.base.files import read_json, to_json, write_text

ROWS = 32
LONGEST_NAME = 200
NUMBERS = ("eta", "theta", "alpha_h", "alpha_o")
FORMAT, VERSION = "distal-rule", 1
PACKED = np.dtype([("numbers", np.float64, len(NUMBERS)), ("delta_w", np.int8, ROWS)])
_CHANGES = frozenset((-1, 0, 1))


@dataclass(frozen=True)
class Rule:
    """A delayed synaptic plasticity rule.

    `delta_w` holds 32 changes in {-1, 0, 1}, one per row; `eta` (learning rate),
    `theta` (trace threshold), `alpha_h` and `alpha_o` (scale of recurrent and
    feedback sums in the network that the rule trains) lie in [0, 1].
    """

    delta_w: Sequence[int]
    eta: float
    theta: float
    alpha_h: float
    alpha_o: float
    name: str = ""

    def __post_init__(self) -> None:
        changes = sequence("delta_w", self.delta_w, f"a list of {ROWS} changes")
        if len(changes) != ROWS:
            raise InputError(f"delta_w has {len(changes)} changes, expected {ROWS}")
        if set(map(type, changes)) != {int} or not _CHANGES.issuperset(changes):
            changes = tuple(integer(f"delta_w[{k}]", change, -1, 1) for k, change in enumerate(changes))
        object.__setattr__(self, "delta_w", changes)
        for name in NUMBERS:
            object.__setattr__(self, name, unit_interval(name, getattr(self, name)))
        object.__setattr__(self, "name", text("name", self.name, LONGEST_NAME))

    @cached_property
    def packed(self) -> bytes:
        """The rule as `PACKED` describes it, for what takes many rules at once."""
        numbers = np.array([getattr(self, name) for name in NUMBERS], np.float64)
        return numbers.tobytes() + np.array(self.delta_w, np.int8).tobytes()

    def __str__(self) -> str:
        """Return the rule as the paper prints it: its numbers, then its 32 rows."""
        numbers = "  ".join(f"{name} = {getattr(self, name):.4g}" for name in NUMBERS)
        lines = [f"{self.name or 'unnamed rule'}", numbers, "", "row  00 01 10 11   m  delta_w"]
        for row, change in enumerate(self.delta_w):
            bits = "  ".join(format(row // 2, "04b"))
            lines.append(f"{row:3}   {bits}  {2 * (row % 2) - 1:+d}  {f'{change:+d}' if change else '0':>6}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as its file holds it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            **{name: getattr(self, name) for name in NUMBERS},
            "delta_w": list(self.delta_w),
        }

    @classmethod
    def from_dict(cls, data: object) -> Rule:
        """Read what `to_dict` returns."""
        return cls(**checks.fields(data, FORMAT, VERSION, (*NUMBERS, "delta_w"), others=("name",)))

    @classmethod
    def load(cls, path: str | Path) -> Rule:
        """Read a rule file."""
        data = read_json(path, "rule file")
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"rule file {str(path)!r}: {error}") from None

    def save(self, path: str | Path) -> None:
        """Write a rule file; an interrupted write leaves the old file as it was."""
        write_text(checks.path("path", path), to_json(self.to_dict()) + "\n")


def packed_rules(rules: Iterable[Rule]) -> NDArray[np.void]:
    """Return rules as an array of `PACKED`."""
    return np.frombuffer(b"".join([rule.packed for rule in rules]), PACKED)


def published_rule(number: int) -> Rule:
    """Return one of the paper's fifteen evolved rules, 1 … 15, the best first."""
    published = _published()
    number = integer("rule number", number, 1, len(published))
    entry = published[number - 1]
    fields = {field: entry[field] for field in (*NUMBERS, "delta_w")}
    return Rule(**fields, name=f"paper:{number}")


def published_rules() -> tuple[Rule, ...]:
    """Return the paper's fifteen evolved rules."""
    return tuple(published_rule(number) for number in range(1, len(_published()) + 1))


def published_fitness(number: int) -> float:
    """Return the fitness after 10,000 episodes that the paper reports for its rule."""
    return float(_published()[number - 1]["fitness_10000_episodes"])


def evolved_rules() -> tuple[Rule, ...]:
    """Return the rules that our own reproduction of the paper evolved, the best first."""
    return tuple(
        Rule(**{field: entry[field] for field in (*NUMBERS, "delta_w")}, name=f"evolved:{number}")
        for number, entry in enumerate(_evolved(), start=1)
    )


def evolved_fitness(number: int) -> float:
    """Return the fitness after 10,000 episodes that our reproduction measured for an evolved rule."""
    return float(_evolved()[number - 1]["fitness_10000_episodes"])


def evolved_beside_chance(number: int) -> tuple[float, float, float]:
    """Return a rule's fitness after 100 episodes, on fresh trials, and chance after 100 and 10,000."""
    entry = _evolved()[number - 1]
    names = ("fitness_100_episodes_remeasured", "chance_100_episodes", "chance_10000_episodes")
    at_100, chance_at_100, chance_at_10000 = (float(entry[name]) for name in names)
    return at_100, chance_at_100, chance_at_10000


def find_rule(name: str | Path, others: Sequence[str] = ()) -> Rule:
    """Return the rule that a name stands for: `paper:N`, `evolved:N`, or a rule file.

    `others` are words that the caller takes too, for the refusal.
    """
    words = [text("others", word) for word in sequence("others", others, "a list of words")]
    if not isinstance(name, str | Path):
        raise InputError(f"rule is {shown(name)}, expected the name of a rule, or a file")
    prefix, colon, number = str(name).partition(":")
    shipped = {"paper": published_rules, "evolved": evolved_rules}
    if prefix in shipped and colon:
        rules = shipped[prefix]()
        if number not in map(str, range(1, len(rules) + 1)):
            raise InputError(f"no rule {shown(str(name))}; there are {prefix}:1 to {prefix}:{len(rules)}")
        return rules[int(number) - 1]
    if not is_there(name):
        names = [*(rule.name for rule in (*published_rules(), *evolved_rules())), *words]
        more = "".join(f"{word}, " for word in words)
        raise InputError(
            f"no rule {shown(str(name))}, expected paper:1 to paper:{len(_published())}, evolved:1 to "
            f"evolved:{len(_evolved())}, {more}or a file{suggestion(name, names)}"
        )
    return Rule.load(name)


def is_there(name: str | Path) -> bool:
    """Say whether there is a file, or a folder, of this name."""
    try:
        return bool(str(name)) and Path(name).exists()
    except (OSError, ValueError):  # a name that no file system takes
        return False


def _published() -> list[dict[str, Any]]:
    return _shipped("published_rules.json")


def _evolved() -> list[dict[str, Any]]:
    return _shipped("evolved_rules.json")


def _shipped(file: str) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = _data(file)["rules"]
    return rules


@cache
def _data(file: str) -> dict[str, Any]:
    text = (resources.files("distal.learners") / file).read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content
