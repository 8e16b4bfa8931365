"""Distal evolves delayed synaptic plasticity.

Rules by which small neural networks learn from a reward that comes only once per
episode, after "Learning with Delayed Synaptic Plasticity" (GECCO 2019).
"""

# Ctrl-C and memory come before what follows, which loads NumPy and takes half a second.
from distal import interrupts

interrupts.take_over()

from distal.machine import check_start

check_start()

from distal import registration
from distal.checks import InputError
from distal.evaluation import Behaviour, Difference, Result, climb, learn
from distal.evolving import Evolved, evolve, resume
from distal.experiments import Reproduction, reproduce
from distal.foreign import EnvResult, learn_env
from distal.learners import find_learner
from distal.learners.chance import Chance
from distal.learners.hill_climbing import HillClimbing
from distal.maze import Maze, triple_t_maze
from distal.reading_study import ReadingStudy, study_readings
from distal.rule import Rule, find_rule, published_rule, published_rules
from distal.settings import Settings

__version__ = "0.2.0"

__all__ = [
    "Behaviour",
    "Chance",
    "Difference",
    "EnvResult",
    "Evolved",
    "HillClimbing",
    "InputError",
    "Maze",
    "ReadingStudy",
    "Reproduction",
    "Result",
    "Rule",
    "Settings",
    "climb",
    "evolve",
    "find_learner",
    "find_rule",
    "learn",
    "learn_env",
    "published_rule",
    "published_rules",
    "reproduce",
    "resume",
    "study_readings",
    "triple_t_maze",
]

registration.register()
