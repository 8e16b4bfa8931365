"""Distal evolves delayed synaptic plasticity.

Its rules let small neural networks learn from one reward at the end of an episode, after
"Learning with Delayed Synaptic Plasticity" (GECCO 2019). `learn` trains networks with a rule,
`evolve` finds rules, and every result comes with chance.
"""

# Ctrl-C and memory come before all that follows.
from distal.base import ctrl_c

ctrl_c.take_over()

from distal.base.memory import check_start

check_start()

from importlib import import_module

from distal._version import __version__ as __version__
from distal.tasks import registration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from distal.base.checks import InputError as InputError
    from distal.engines import Runner as Runner
    from distal.evaluation.agent import Agent as Agent
    from distal.evaluation.behaviour import Behaviour as Behaviour
    from distal.evaluation.compare import compare as compare
    from distal.evaluation.comparison import Comparison as Comparison
    from distal.evaluation.difference import PairedDifference as PairedDifference
    from distal.evaluation.evaluate import Evaluation as Evaluation
    from distal.evaluation.evaluate import evaluate as evaluate
    from distal.evaluation.inspect import inspect as inspect
    from distal.evaluation.inspect import inspect_set as inspect_set
    from distal.evaluation.inspection import Inspection as Inspection
    from distal.evaluation.learn import climb as climb
    from distal.evaluation.learn import learn as learn
    from distal.evaluation.result import Difference as Difference
    from distal.evaluation.result import Result as Result
    from distal.evaluation.rule_set import RuleSet as RuleSet
    from distal.learners import PlasticNetwork as PlasticNetwork
    from distal.learners import find_learner as find_learner
    from distal.learners.chance import Chance as Chance
    from distal.learners.checking import check_learner as check_learner
    from distal.learners.dsp import Rule as Rule
    from distal.learners.eligibility import Eligibility as Eligibility
    from distal.learners.evolution_strategy import EvolutionStrategy as EvolutionStrategy
    from distal.learners.hill_climbing import HillClimbing as HillClimbing
    from distal.learners.neuron_centric import NeuronCentric as NeuronCentric
    from distal.learners.online_hebbian import OnlineHebbian as OnlineHebbian
    from distal.learners.reinforce import Reinforce as Reinforce
    from distal.learners.separable_cma import SeparableCMA as SeparableCMA
    from distal.learners.shipped import champion_record as champion_record
    from distal.learners.shipped import champion_rules as champion_rules
    from distal.learners.shipped import find_rule as find_rule
    from distal.learners.shipped import published_rule as published_rule
    from distal.learners.shipped import published_rules as published_rules
    from distal.model.maze import Maze as Maze
    from distal.model.maze import maze as maze
    from distal.model.maze import t_maze as t_maze
    from distal.model.maze import triple_t_maze as triple_t_maze
    from distal.model.settings import Settings as Settings
    from distal.networks import check_network as check_network
    from distal.search.cma import CMA as CMA
    from distal.search.evolve import evolve as evolve
    from distal.search.evolve import resume as resume
    from distal.search.genetic import GeneticAlgorithm as GeneticAlgorithm
    from distal.search.islands import Islands as Islands
    from distal.search.racing import Race as Race
    from distal.search.restarts import Restarts as Restarts
    from distal.search.results import Evolved as Evolved
    from distal.studies.beyond_outcome import BeyondStudy as BeyondStudy
    from distal.studies.champion import Champion as Champion
    from distal.studies.plans.beyond import study_beyond as study_beyond
    from distal.studies.plans.champions import champions as champions
    from distal.studies.plans.readings import study_readings as study_readings
    from distal.studies.plans.reproduce import reproduce as reproduce
    from distal.studies.plans.rivals import RivalStudy as RivalStudy
    from distal.studies.plans.rivals import study_rivals as study_rivals
    from distal.studies.plans.tasks import TaskStudy as TaskStudy
    from distal.studies.plans.tasks import study_tasks as study_tasks
    from distal.studies.reading_outcome import ReadingStudy as ReadingStudy
    from distal.studies.registry import write_report as write_report
    from distal.studies.reproduction import Reproduction as Reproduction
    from distal.tasks.checking import check_task as check_task
    from distal.tasks.compiled_task import compiled_task as compiled_task
    from distal.tasks.gym import EnvTask as EnvTask
    from distal.tasks.sources import task_of as task_of
    from distal.tasks.switching import Switch as Switch
    from distal.tasks.table import Table as Table
    from distal.tasks.table_task import TableTask as TableTask
    from distal.tasks.tabulation import tabulate as tabulate
    from distal.tasks.task import Task as Task

# The public names by the modules that hold them. Each is imported when it is first used: NumPy, SciPy and
# the studies take most of a second, and nobody needs all of them.
_HOMES = {
    "base.checks": "InputError",
    "engines": "Runner",
    "evaluation.agent": "Agent",
    "evaluation.evaluate": "Evaluation evaluate",
    "evaluation.behaviour": "Behaviour",
    "evaluation.comparison": "Comparison",
    "evaluation.compare": "compare",
    "evaluation.difference": "PairedDifference",
    "evaluation.inspection": "Inspection",
    "evaluation.inspect": "inspect inspect_set",
    "evaluation.learn": "climb learn",
    "evaluation.result": "Difference Result",
    "evaluation.rule_set": "RuleSet",
    "learners": "PlasticNetwork find_learner",
    "learners.chance": "Chance",
    "learners.checking": "check_learner",
    "learners.dsp": "Rule",
    "learners.eligibility": "Eligibility",
    "learners.evolution_strategy": "EvolutionStrategy",
    "learners.hill_climbing": "HillClimbing",
    "learners.neuron_centric": "NeuronCentric",
    "learners.online_hebbian": "OnlineHebbian",
    "learners.reinforce": "Reinforce",
    "learners.separable_cma": "SeparableCMA",
    "learners.shipped": "champion_record champion_rules find_rule published_rule published_rules",
    "model.maze": "Maze maze t_maze triple_t_maze",
    "model.settings": "Settings",
    "networks": "check_network",
    "search.cma": "CMA",
    "search.evolve": "evolve resume",
    "search.genetic": "GeneticAlgorithm",
    "search.islands": "Islands",
    "search.racing": "Race",
    "search.restarts": "Restarts",
    "search.results": "Evolved",
    "studies.plans.beyond": "study_beyond",
    "studies.beyond_outcome": "BeyondStudy",
    "studies.champion": "Champion",
    "studies.plans.champions": "champions",
    "studies.plans.reproduce": "reproduce",
    "studies.reading_outcome": "ReadingStudy",
    "studies.plans.readings": "study_readings",
    "studies.reproduction": "Reproduction",
    "studies.plans.rivals": "RivalStudy study_rivals",
    "studies.plans.tasks": "TaskStudy study_tasks",
    "studies.registry": "write_report",
    "tasks.checking": "check_task",
    "tasks.gym": "EnvTask",
    "tasks.compiled_task": "compiled_task",
    "tasks.sources": "task_of",
    "tasks.switching": "Switch",
    "tasks.table": "Table",
    "tasks.table_task": "TableTask",
    "tasks.tabulation": "tabulate",
    "tasks.task": "Task",
}
_MODULES = {name: f"distal.{module}" for module, names in _HOMES.items() for name in names.split()}
_ROOMS = (
    "base", "bench", "cli", "engines", "evaluation", "learners", "model", "networks", "search", "show",
    "studies", "tasks",
)  # fmt: skip

__all__ = sorted(_MODULES)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f"distal.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'distal' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})


registration.register()
