"""The learners: each file holds one, and all have the same anatomy.

A learner is a small frozen object with its parameters, and a function
`episodes(learner, task, settings, seed, resample)` that trains one network
without end and yields every episode as it ends. The loop is at the bottom of
the file, the pure steps it is made of come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from distal.episode import Episode, Task, W
from distal.files import read_json
from distal.learners import chance, dsp, hill_climbing
from distal.learners.chance import Chance
from distal.learners.hill_climbing import HillClimbing
from distal.rule import Rule, find_rule
from distal.settings import Settings

Learner = Rule | HillClimbing | Chance

# The word for each kind on the command line and in files.
KINDS: dict[type, str] = {Rule: "dsp", HillClimbing: "hc", Chance: "chance"}
LABELS = {"dsp": "DSP", "hc": "hill climbing", "chance": "chance"}


# What `hc` and `chance` stand for where nothing else is said. The climber is the best of our evolved ones
# after 10,000 episodes (docs/results.md), rounded.
DEFAULT_CLIMBER = HillClimbing(sigma=0.89, alpha_h=0.44, alpha_o=0.09)
DEFAULT_CHANCE = Chance(alpha_h=0.2, alpha_o=0.2)


def find_learner(
    name: str | Path, climber: HillClimbing = DEFAULT_CLIMBER, by_chance: Chance = DEFAULT_CHANCE
) -> Learner:
    """Return what a name stands for: a rule's name or file, a climber file, `hc` or `chance`."""
    words: dict[str, Learner] = {"hc": climber, "chance": by_chance}
    if str(name) in words:
        return words[str(name)]
    try:
        is_file = bool(str(name)) and Path(name).is_file()
    except (OSError, ValueError):  # a name that no file system takes
        is_file = False
    if is_file:
        data = read_json(name, "learner file")
        if isinstance(data, dict) and data.get("format") == hill_climbing.FORMAT:
            return HillClimbing.load(name)
    return find_rule(str(name), words)


def kind_of(learner: Learner) -> str:
    """Return the word for a learner's kind: dsp, hc or chance."""
    return KINDS[type(learner)]


def name_of(learner: Learner, unnamed: str = "rule") -> str:
    """Return what a learner is called."""
    return (learner.name or unnamed) if isinstance(learner, Rule) else LABELS[kind_of(learner)]


def chance_for(learner: Learner) -> Chance:
    """Return chance for a learner: random networks with the same scales of recurrent and feedback sums."""
    return Chance(learner.alpha_h, learner.alpha_o)


def episodes(
    learner: Learner, task: Task[W], settings: Settings, seed: int, resample: int | None = None
) -> Iterator[Episode[W]]:
    """Train one network with any learner, without end; yield each episode."""
    if isinstance(learner, Rule):
        return dsp.episodes(learner, task, settings, seed, resample)
    if isinstance(learner, HillClimbing):
        return hill_climbing.episodes(learner, task, settings, seed, resample)
    return chance.episodes(learner, task, settings, seed, resample)
