"""Learners by name: the rules that come with the package, and the word for a kind or a file.

The rules are the paper's fifteen, fifteen of ours, and champions.

A champion is the best rule that a large search found for one prize. Its record describes the
search, and its scores on held-out trials, which no search had seen.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from distal.base import plugins
from distal.base.checks import InputError, integer, shown, suggestion
from distal.base.frozen import made
from distal.learners.chance import Chance
from distal.learners.dsp import NUMBERS, Rule
from distal.learners.learner import Learner
from distal.learners.registry import DEFAULTS, KINDS, OURS, class_names, load_learner
from distal.networks.recurrent import Recurrent


def published_rule(number: int) -> Rule:
    """Return one of the paper's fifteen evolved rules, 1 … 15, the best first."""
    return _rule("paper", integer("rule number", number, 1, len(_entries("paper"))))


def published_rules() -> tuple[Rule, ...]:
    """Return the paper's fifteen evolved rules."""
    return shipped_rules("paper")


def published_fitness(number: int) -> float:
    """Return the fitness after 10,000 episodes that the paper reports for its rule."""
    return float(_entries("paper")[number - 1]["fitness_10000_episodes"])


def evolved_rules() -> tuple[Rule, ...]:
    """Return the rules that our own reproduction of the paper evolved, the best first."""
    return shipped_rules("evolved")


def evolved_fitness(number: int) -> float:
    """Return the fitness after 10,000 episodes that our reproduction measured for an evolved rule."""
    return float(_entries("evolved")[number - 1]["fitness_10000_episodes"])


def evolved_beside_chance(number: int) -> tuple[float, float, float]:
    """Return a rule's fitness after 100 episodes, on fresh trials, and chance after 100 and 10,000."""
    entry = _entries("evolved")[number - 1]
    names = ("fitness_100_episodes_remeasured", "chance_100_episodes", "chance_10000_episodes")
    at_100, chance_at_100, chance_at_10000 = (float(entry[name]) for name in names)
    return at_100, chance_at_100, chance_at_10000


def champion_rules() -> tuple[Rule, ...]:
    """Return the champions: the best rule that a large search found for each prize."""
    return shipped_rules("champion")


def champion_record(number: int) -> dict[str, Any]:
    """Return the record of a champion's search and of its held-out trials; 1 is `champion:1`."""
    champions = _entries("champion")
    record: dict[str, Any] = champions[integer("champion number", number, 1, len(champions)) - 1]["record"]
    return deepcopy(record)


# The file of the rules whose names begin with each word, and the field that lists them.
SHIPPED = {
    "paper": ("published_rules.json", "rules"),
    "evolved": ("evolved_rules.json", "rules"),
    "champion": ("champions.json", "champions"),
}


def shipped_names() -> str:
    """Return the names of all rules that come with the package: "paper:1 to paper:15" and so on."""
    return ", ".join(f"{word}:1 to {word}:{len(_entries(word))}" for word in SHIPPED)


def find_rule(name: str | Path) -> Rule:
    """Return the rule that a name stands for: `paper:N`, `evolved:N`, `champion:N`, or a rule file."""
    if not isinstance(name, str | Path):
        raise InputError(f"rule is {shown(name)}, expected the name of a rule, or a file")
    prefix, colon, number = str(name).partition(":")
    if prefix in SHIPPED and colon:
        count = len(_entries(prefix))
        if number not in map(str, range(1, count + 1)):
            raise InputError(f"no rule {shown(str(name))}; there are {prefix}:1 to {prefix}:{count}")
        return _rule(prefix, int(number))
    if not is_there(name):
        names = (f"{word}:{k + 1}" for word in SHIPPED for k in range(len(_entries(word))))
        raise InputError(
            f"no rule {shown(str(name))}, expected {shipped_names()}, or a file{suggestion(name, names)}"
        )
    return Rule.load(name)


def find_learner(learner: Learner | str | Path) -> Learner:
    """Return the learner that a name, a word or a file stands for.

    Args:
        learner: A learner of a registered kind, a rule's name ("paper:1", "evolved:1",
            "champion:1"), the file of a learner, or the word for a kind that has a default ("hc",
            "chance").

    Returns:
        The learner.

    Raises:
        InputError: If it is none of these, or the file is damaged.
    """
    if isinstance(learner, str | Path):
        if str(learner) in DEFAULTS:
            return DEFAULTS[str(learner)]
        if is_there(learner) and Path(learner).is_file():
            return _with_folder(load_learner(learner), Path(learner))
        plugins.load_installed(plugins.LEARNERS)
        if str(learner) in DEFAULTS:
            return DEFAULTS[str(learner)]
        kind = KINDS.get(str(learner))
        if kind is not None and kind not in OURS:
            raise InputError(
                f"learner is {shown(str(learner))}, a kind that has no numbers of its own: give all fields "
                f"of {kind.__name__} a default, or name the file of one"
            )
        if ":" in str(learner) or is_there(learner):
            return find_rule(learner)
        raise _unknown(str(learner))
    if type(learner) in KINDS.values():  # what inherits from one of them is of another kind
        return learner
    words = (*class_names(), shipped_names(), *DEFAULTS)
    raise InputError(f"learner is {shown(learner)}, expected a {', '.join(words)} or a file")


def _with_folder(learner: Learner, file: Path) -> Learner:
    """Return a winner with the name of its folder: winners of two folders may have the same run and seed."""
    run = re.fullmatch(r"(run \d+), seed \d+", learner.name)
    folder = file.resolve().parent
    if run is None or folder.name != "winners" or not (folder.parent / "config.json").is_file():
        return learner
    return learner.named(f"{folder.parent.name} {run[1]}")


def _unknown(name: str) -> InputError:
    """Return the refusal of a name that is neither a word for a learner nor that of a file."""
    words = f"{shipped_names()}, {', '.join(DEFAULTS)}"
    if any(mark in name for mark in "/\\."):
        return InputError(f"there is no file {shown(name)}, expected the file of a learner, {words}")
    near = suggestion(name, [*DEFAULTS, *(f"{word}:1" for word in SHIPPED)])
    own = plugins.of_your_own("learner", near)
    return InputError(f"no learner {shown(name)}, expected {words}, or a file{near}{own}")


def name_of(learner: Learner) -> str:
    """Return the name of a learner, or the label of its kind."""
    return learner.name or learner.label


def chance_for(learner: Learner) -> Chance:
    """Return chance for a learner: random networks with the same scales of recurrent and feedback sums."""
    own = {name: getattr(learner, name) for name in Recurrent.scales if name in learner.names}
    return made(Chance, **{**Recurrent.scales, **own})


def is_there(name: str | Path) -> bool:
    """Say whether there is a file, or a folder, of this name."""
    try:
        return bool(str(name)) and Path(name).exists()
    except (OSError, ValueError):  # a name that no file system takes
        return False


def _rule(word: str, number: int) -> Rule:
    """Make the rule of a name, as "paper" and 1."""
    entry = _entries(word)[number - 1]
    numbers = entry.get("rule", entry)  # a champion's record stands beside its rule
    own = {field: float(numbers[field]) for field in NUMBERS}
    return made(Rule, delta_w=tuple(numbers["delta_w"]), **own, name=f"{word}:{number}")


def shipped_rules(word: str) -> tuple[Rule, ...]:
    """Return all rules whose names begin with a word of `SHIPPED`."""
    return tuple(_rule(word, number) for number in range(1, len(_entries(word)) + 1))


@cache
def _entries(word: str) -> list[dict[str, Any]]:
    file, field = SHIPPED[word]
    entries: list[dict[str, Any]] = json.loads(
        (resources.files("distal.learners") / file).read_text(encoding="utf-8")
    )[field]
    return entries
