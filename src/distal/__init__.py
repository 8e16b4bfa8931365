"""Distal evolves delayed synaptic plasticity.

Rules by which small neural networks learn from a reward that comes only once per
episode, after "Learning with Delayed Synaptic Plasticity" (GECCO 2019).
"""

# Ctrl-C and memory come before what follows, which loads NumPy and takes half a second.
from distal.base import ctrl_c

ctrl_c.take_over()

from distal.base.machine import check_start

check_start()

from distal._version import __version__ as __version__
from distal.base.checks import InputError
from distal.engines import Runner
from distal.evaluation.agents import Agent, Evaluation, evaluate
from distal.evaluation.behaviour import Behaviour
from distal.evaluation.comparison import Comparison, PairedDifference, compare
from distal.evaluation.inspection import Inspection, inspect
from distal.evaluation.learn import climb, learn
from distal.evaluation.result import Difference, Result
from distal.evaluation.rule_set import RuleSet, inspect_set
from distal.learners import PlasticNetwork, find_learner
from distal.learners.chance import Chance
from distal.learners.hill_climbing import HillClimbing
from distal.learners.shipped import (
    Rule,
    champion_record,
    champion_rules,
    find_rule,
    published_rule,
    published_rules,
)
from distal.model.maze import Maze, maze, t_maze, triple_t_maze
from distal.model.settings import Settings
from distal.networks import check_network
from distal.search.cma import CMA
from distal.search.evolve import evolve, resume
from distal.search.genetic import GeneticAlgorithm
from distal.search.islands import Islands
from distal.search.racing import Race
from distal.search.restarts import Restarts
from distal.search.results import Evolved
from distal.studies.beyond_study import BeyondStudy, study_beyond
from distal.studies.champions import Champion, champions
from distal.studies.experiments import Reproduction, reproduce
from distal.studies.reading_study import ReadingStudy, study_readings
from distal.studies.task_study import TaskStudy, study_tasks
from distal.studies.writing import write_report
from distal.tasks import registration
from distal.tasks.gym import EnvTask
from distal.tasks.sources import task_of
from distal.tasks.switching import Switch
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from distal.tasks.tabulation import tabulate
from distal.tasks.task import Task

__all__ = [
    "CMA",
    "Agent",
    "Behaviour",
    "BeyondStudy",
    "Champion",
    "Chance",
    "Comparison",
    "Difference",
    "EnvTask",
    "Evaluation",
    "Evolved",
    "GeneticAlgorithm",
    "HillClimbing",
    "InputError",
    "Inspection",
    "Islands",
    "Maze",
    "PairedDifference",
    "PlasticNetwork",
    "Race",
    "ReadingStudy",
    "Reproduction",
    "Restarts",
    "Result",
    "Rule",
    "RuleSet",
    "Runner",
    "Settings",
    "Switch",
    "Table",
    "TableTask",
    "Task",
    "TaskStudy",
    "champion_record",
    "champion_rules",
    "champions",
    "check_network",
    "climb",
    "compare",
    "evaluate",
    "evolve",
    "find_learner",
    "find_rule",
    "inspect",
    "inspect_set",
    "learn",
    "maze",
    "published_rule",
    "published_rules",
    "reproduce",
    "resume",
    "study_beyond",
    "study_readings",
    "study_tasks",
    "t_maze",
    "tabulate",
    "task_of",
    "triple_t_maze",
    "write_report",
]

registration.register()
