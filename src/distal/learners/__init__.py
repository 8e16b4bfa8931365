"""The learners: each file holds one, all have the same anatomy, and `KINDS` knows them all.

A learner is a small frozen object with its parameters and a method `update`, which says what a
network carries from one episode into the next (see `learner`). A `PlasticNetwork` trains one
network with it. One line, `register(Mine)`, makes a new kind known to everything: evaluation,
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
