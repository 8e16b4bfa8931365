"""The learners: one file each, all with the same anatomy; `KINDS` lists them.

A learner is a small frozen object with its parameters and a method `update`, which returns the
network's memory for the next episode (see `learner`). A `PlasticNetwork` trains one
network with it. One line, `register(Mine)`, registers a new kind everywhere: evaluation,
evolution, files and the command line.
"""

from distal.learners.learner import Learner, Memory, Trial
from distal.learners.plastic import PlasticNetwork, episodes
from distal.learners.registry import (
    DEFAULT_CHANCE,
    DEFAULT_CLIMBER,
    DEFAULTS,
    KINDS,
    class_names,
    embedded,
    from_embedded,
    load_learner,
    register,
    unregister,
)
from distal.learners.shipped import chance_for, find_learner, name_of

__all__ = [
    "DEFAULTS",
    "DEFAULT_CHANCE",
    "DEFAULT_CLIMBER",
    "KINDS",
    "Learner",
    "Memory",
    "PlasticNetwork",
    "Trial",
    "chance_for",
    "class_names",
    "embedded",
    "episodes",
    "find_learner",
    "from_embedded",
    "load_learner",
    "name_of",
    "register",
    "unregister",
]
