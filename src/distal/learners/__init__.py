"""The learners: each file holds one, and all have the same anatomy.

A learner is a small frozen object with its parameters, and a function
`episodes(learner, task, settings, seed, resample)` that trains one network
without end and yields every episode as it ends. The loop is at the bottom of
the file, the pure steps it is made of come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from distal.base.checks import InputError, instance, integer, shown
from distal.base.files import read_json
from distal.learners import chance, dsp, hill_climbing
from distal.learners.chance import Chance
from distal.learners.hill_climbing import HillClimbing
from distal.learners.rule import Rule, find_rule, is_there
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.settings import Settings
from distal.tasks.episode import Episode
from distal.tasks.task import Aim, W

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
    words: dict[str, Learner] = {
        "hc": instance("climber", climber, HillClimbing, "a HillClimbing"),
        "chance": instance("by_chance", by_chance, Chance, "a Chance"),
    }
    if not isinstance(name, str | Path):
        raise InputError(f"learner is {shown(name)}, expected a name, or a file")
    if str(name) in words:
        return words[str(name)]
    if is_there(name) and Path(name).is_file():
        data = read_json(name, "learner file")
        if isinstance(data, dict) and data.get("format") == hill_climbing.FORMAT:
            return HillClimbing.load(name)
    return find_rule(name, tuple(words))


def checked_learner(given: object) -> Learner:
    """Return a learner, or the one that a name stands for; refuse what is neither."""
    if isinstance(given, str | Path):
        return find_learner(given)
    if isinstance(given, Learner):
        return given
    raise InputError(
        f"learner is {shown(given)}, expected a Rule, HillClimbing, Chance, paper:1 to paper:15, "
        "evolved:1 to evolved:15, hc, chance or a file"
    )


def kind_of(learner: Learner) -> str:
    """Return the word for a learner's kind: dsp, hc or chance."""
    return next(word for kind, word in KINDS.items() if isinstance(learner, kind))


def name_of(learner: Learner, unnamed: str = "rule") -> str:
    """Return what a learner is called."""
    return (learner.name or unnamed) if isinstance(learner, Rule) else LABELS[kind_of(learner)]


def chance_for(learner: Learner) -> Chance:
    """Return chance for a learner: random networks with the same scales of recurrent and feedback sums."""
    return Chance(learner.alpha_h, learner.alpha_o)


def episodes(
    learner: Learner, task: Aim[W], settings: Settings, seed: int, resample: int | None = None
) -> Iterator[Episode[W]]:
    """Train one network with any learner, without end; yield each episode."""
    instance("settings", settings, Settings, "a Settings")
    instance("task", task, Aim, "a task and its goal, as Aim(MazeTask(maze), 0)")
    seed = integer("seed", seed, 0, MAX_SEED)
    resample = None if resample is None else integer("resample", resample, 1, MAX_COUNT)
    learner = checked_learner(learner)
    if isinstance(learner, Rule):
        return dsp.episodes(learner, task, settings, seed, resample)
    if isinstance(learner, HillClimbing):
        return hill_climbing.episodes(learner, task, settings, seed, resample)
    return chance.episodes(learner, task, settings, seed, resample)
