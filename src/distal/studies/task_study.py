"""The study of tasks: whether rules learn elsewhere, and beat chance and hill climbing there.

`study_tasks` takes T-mazes of one to four levels and five Gymnasium environments. For each
of them it evolves rules and hill climbing, chooses the winner with the lowest re-measured
fitness, and measures it once more on trials that no search has seen, beside the rule and
the climber of the triple T-maze. It runs in stages (see `stages`); `task_report` turns the
numbers into pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from distal import engines
from distal._version import __version__
from distal.base.checks import (
    InputError,
    fields,
    flag,
    folder,
    function,
    integer,
    one_of,
    sequence,
    shown,
    text,
)
from distal.base.machine import available_cores
from distal.engines import Runner
from distal.engines.batch import EPs
from distal.learners import Learner, chance_for, embedded, find_learner, from_embedded
from distal.model.draws import MAX_SEED, child_seed
from distal.model.settings import Settings
from distal.search.config import Config
from distal.search.genetic import GeneticAlgorithm
from distal.search.results import Evolved
from distal.studies import experiments
from distal.studies.intervals import Curve, Gap, Measured, optional_number
from distal.studies.stages import SECONDS, Claim, Event, Grouped, Stage, Stages
from distal.studies.study import made_by, read_as
from distal.tasks.mazes import levels_task
from distal.tasks.sources import task_of
from distal.tasks.task import Task, settings_in

MARKS = (100, 1_000)  # episodes after which learners are compared
TASKS = 9  # the last number of the part that seeds of the study come from; the first is the task


@dataclass(frozen=True)
class World:
    """A task of the study.

    `target` is the EP at or below which an episode is a success, and `success` says what that
    means. What Gymnasium calls solved is a mean over many episodes and starts: in Taxi, some
    starts are too far away for it.
    """

    name: str  # of its files
    title: str
    make: Callable[[], Task[Any]]
    target: float
    success: str
    remark: str = ""


def _maze(levels: int) -> World:
    word = ("one level", "two levels", "three levels", "four levels")[levels - 1]
    remark = "This is the paper’s maze, for which `evolved:1` and `hc` were evolved." if levels == 3 else ""
    return World(
        f"t_maze_{levels}", f"T-maze, {word}", lambda: levels_task(levels), 99,
        "the goal is reached in fewer than 100 steps, pits counted", remark,
    )  # fmt: skip


def _lake(size: str) -> World:
    args = {"is_slippery": False, "map_name": size}
    return World(
        f"frozen_lake_{size}", f"FrozenLake {size.replace('x', '×')}",
        partial(task_of, "FrozenLake-v1", args=args, tabulated=True), -1, "the goal is reached",
        "The EP is −1 for a success and 0 for anything else, so an agent hears nothing until it succeeds.",
    )  # fmt: skip


WORLDS = (
    *map(_maze, (1, 2, 3, 4)),
    World(
        "cliff_walking", "CliffWalking", partial(task_of, "CliffWalking-v1", tabulated=True), 99,
        "the goal is reached in fewer than 100 steps, without a fall",
        "A step costs 1 and a fall 100. An agent that stands still for 100 steps has an EP of 100, which "
        "beats nearly all that move.",
    ),
    *map(_lake, ("4x4", "8x8")),
    World(
        "taxi", "Taxi, 8 starts", partial(task_of, "Taxi-v4", starts=8, tabulated=True), 199,
        "the passenger is delivered, with an EP below 200",
        "A step costs 1, a wrong pick-up or drop-off 10, and a delivery gains 20: whoever only drives "
        "about has an EP of 200, and hears of nothing better until a passenger is delivered.",
    ),
    World(
        "cart_pole", "CartPole", partial(task_of, "CartPole-v1", encode="bins:4:quantiles"), -475,
        "the pole stands for 475 of 500 steps",
        "It has no table, so the reference engine runs it, a few thousand steps per second and core; it has "
        "a smaller budget for that reason. The EP is minus the steps that the pole stands.",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Budget:
    """How much is run for a task; trials are for all of its goals together."""

    runs: int
    generations: int
    trials: int  # of an evaluation
    episodes: int  # of a trial of the evolution
    fresh: int  # trials on which every winner is measured again
    tested: int  # trials of the test
    long: int  # episodes of a trial of the test

    @property
    def marks(self) -> tuple[int, ...]:
        """The episodes after which learners are compared."""
        return tuple(mark for mark in MARKS if mark <= self.long)


@dataclass(frozen=True)
class Scale:
    """How much is run: for tables, which all engines run, and for what the reference engine alone runs."""

    name: str
    table: Budget
    slow: Budget


SCALES = {
    "quick": Scale("quick", Budget(3, 25, 40, 100, 400, 200, 1_000), Budget(1, 6, 3, 30, 20, 20, 100)),
    "full": Scale("full", Budget(15, 300, 40, 100, 400, 400, 1_000), Budget(3, 20, 4, 50, 40, 16, 1_000)),
}

# The learners that are tested, by the names of their files: what they are, and whose pace they have.
RULE, CLIMBER, MAZE_RULE, MAZE_CLIMBER = "rule", "climber", "maze_rule", "maze_climber"
LEARNERS = {
    RULE: ("rule evolved for it", "dsp"),
    CLIMBER: ("hill climbing evolved for it", "hc"),
    MAZE_RULE: ("`evolved:1`, a rule of the maze", "dsp"),
    MAZE_CLIMBER: ("`hc`, hill climbing of the maze", "hc"),
}


# ------------------------------------------------------------------ numbers


@dataclass(frozen=True)
class Tested:
    """A learner in a task: who it is, and how it did.

    `run` is the run that it won, `remeasured` its fitness there on fresh trials, by which it was
    chosen among the winners of all runs; both are None for a learner that was not evolved here.
    """

    learner: Learner
    run: int | None
    remeasured: float | None
    marks: tuple[Measured, ...]
    curve: Curve
    chance_curve: Curve


@dataclass(frozen=True)
class Outcome:
    """What was measured in a task; `versus` compares the rule with the climber that were evolved for it."""

    world: World
    budget: Budget
    engine: str
    inputs: int
    outputs: int
    goals: int
    steps: int
    tested: dict[str, Tested]
    versus: tuple[Gap, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        own = ("engine", "inputs", "outputs", "goals", "steps")
        return {
            "task": self.world.name,
            "budget": asdict(self.budget),
            **{name: getattr(self, name) for name in own},
            "tested": {
                name: {
                    "learner": embedded(one.learner),
                    "run": one.run,
                    "remeasured": one.remeasured,
                    "marks": [asdict(mark) for mark in one.marks],
                    "curve": one.curve.to_dict(),
                    "chance_curve": one.chance_curve.to_dict(),
                }
                for name, one in self.tested.items()
            },
            "versus": [asdict(gap) for gap in self.versus],
        }

    @classmethod
    def from_dict(cls, data: Any, world: World) -> Outcome:
        """Read what `to_dict` returns."""
        if data["task"] != world.name:
            raise InputError(f"an outcome is of {shown(data['task'])}, expected {world.name}")
        return cls(
            world=world,
            budget=Budget(
                **{name: integer(name, data["budget"][name], 0) for name in Budget.__dataclass_fields__}
            ),
            engine=text("engine", data["engine"]),
            inputs=integer("inputs", data["inputs"], 1),
            outputs=integer("outputs", data["outputs"], 1),
            goals=integer("goals", data["goals"], 1),
            steps=integer("steps", data["steps"], 1),
            tested={name: _tested(data["tested"][name]) for name in LEARNERS},
            versus=tuple(map(Gap.from_dict, data["versus"])),
        )


def _tested(data: Any) -> Tested:
    return Tested(
        learner=from_embedded(data["learner"]),
        run=None if data["run"] is None else integer("run", data["run"], 1),
        remeasured=optional_number("remeasured", data["remeasured"]),
        marks=tuple(map(Measured.from_dict, data["marks"])),
        curve=Curve.from_dict(data["curve"]),
        chance_curve=Curve.from_dict(data["chance_curve"]),
    )


FORMAT, VERSION = "distal-tasks", 1
FIELDS = ("distal", "scale", "seed", "machine", "seconds", "tasks")


@dataclass(frozen=True)
class TaskStudy:
    """All that the study of tasks gave.

    Attributes:
        scale: How much was run: "quick" or "full".
        seed: The seed.
        version: The version of Distal.
        machine: A description of the machine.
        seconds: How long each stage took.
        outcomes: What was measured in each task.
    """

    scale: str
    seed: int
    version: str
    machine: dict[str, Any]
    seconds: dict[str, float]
    outcomes: tuple[Outcome, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and what made them, ready for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "distal": self.version,
            "scale": self.scale,
            "seed": self.seed,
            "machine": self.machine,
            "seconds": {name: round(value, 2) for name, value in self.seconds.items()},
            "tasks": [outcome.to_dict() for outcome in self.outcomes],
        }

    @classmethod
    def from_dict(cls, data: object) -> TaskStudy:
        """Read what `to_dict` returns."""
        with read_as("study of tasks"):
            return cls._read(fields(data, FORMAT, VERSION, FIELDS))

    @classmethod
    def _read(cls, data: dict[str, Any]) -> TaskStudy:
        found = sequence("tasks", data["tasks"], f"a list of {len(WORLDS)} outcomes")
        return cls(
            scale=text("scale", data["scale"]),
            **made_by(data),
            outcomes=tuple(Outcome.from_dict(*each) for each in zip(found, WORLDS, strict=True)),
        )


# ------------------------------------------------------------------ the plan


@dataclass(frozen=True)
class _Plan:
    """What is to be done in a task; `slow` if it has no table, so that the reference engine alone runs it."""

    world: World
    task: Task[Any]
    settings: Settings
    budget: Budget
    slow: bool

    @property
    def stages(self) -> list[Stage]:
        """The stages, with the episodes that each will run."""
        budget, goals = self.budget, len(self.task.goals)
        each = _per_goal(budget.trials, goals) * goals * budget.episodes
        search = budget.runs * (budget.generations + 1) * GeneticAlgorithm.population * each
        test = _per_goal(budget.tested, goals) * goals * budget.long
        found = [
            Stage(f"evolve_{kind}_{self.world.name}", f"evolve {words}", search, kind, budget.runs)
            for kind, words in (("dsp", "rules"), ("hc", "hill climbing"))
        ]
        for name, (label, kind) in LEARNERS.items():
            found.append(Stage(f"test_{name}_{self.world.name}", f"test {label}", test, kind))
            found.append(Stage(f"chance_{name}_{self.world.name}", "chance beside it", test, "chance"))
        return found

    @property
    def outline(self) -> Stage:
        """One stage for people: all of them together."""
        episodes = sum(stage.episodes for stage in self.stages)
        return Stage(self.world.title, self.world.title, episodes, "dsp")

    def config(self, kind: str, seed: int) -> Config:
        """Return the evolution of a kind of learner."""
        budget = self.budget
        return Config(
            kind, budget.runs, budget.generations, _per_goal(budget.trials, len(self.task.goals)),
            budget.episodes, seed, settings=self.settings, task=self.task, fresh=budget.fresh,
        )  # fmt: skip


def _per_goal(trials: int, goals: int) -> int:
    return -(-trials // goals)


def plan(scale: Scale) -> list[_Plan]:
    """Return what is to be done in every task."""
    planned = []
    for world in WORLDS:
        task = world.make()
        settings = settings_in(task, {})
        slow = task.table(settings) is None
        planned.append(_Plan(world, task, settings, scale.slow if slow else scale.table, slow))
    return planned


@dataclass(frozen=True)
class Crew:
    """Who runs the trials: of tables, and of what is slow."""

    table: Runner
    slow: Runner

    @classmethod
    def of(cls, runner: Runner) -> Crew:
        """Let the reference engine do what is slow: on the runner's executor, or in a process per core."""
        alone = runner.executor is None
        workers = runner.workers or (available_cores() if alone else None)
        return cls(runner, Runner("reference", workers, runner.executor))

    def runner(self, one: _Plan) -> Runner:
        """Return who runs a task."""
        return self.slow if one.slow else self.table


def estimated_seconds(planned: Sequence[_Plan], crew: Crew) -> dict[str, float]:
    """Measure all learners for a moment in every task and say how long each may take."""
    return {
        one.outline.name: sum(
            experiments.estimated_seconds(one.stages, one.task, one.settings, crew.runner(one)).values()
        )
        for one in planned
    }


# ------------------------------------------------------------------ the work

CLAIM, HOLDS = "task-study.json", "a study of tasks"
# Everything that a report writes.
REPORT = ("tasks.md", "tasks.json", "figures/tasks.svg", "figures/tasks.png")


@dataclass(frozen=True, kw_only=True)
class Tasks:
    """The study that is asked for: everything that decides the results, checked."""

    scale: str
    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", one_of("scale", self.scale, SCALES))
        object.__setattr__(self, "seed", integer("seed", self.seed, 0, MAX_SEED))

    @cached_property
    def planned(self) -> list[_Plan]:
        """What is to be done in every task."""
        return plan(SCALES[self.scale])

    @cached_property
    def stages(self) -> list[Stage]:
        """What is to be done in all of them."""
        return [stage for one in self.planned for stage in one.stages]

    @cached_property
    def claim(self) -> Claim:
        """What a folder for it holds."""
        content = {"format": "distal-task-study", "scale": self.scale, "seed": self.seed}
        files = (CLAIM, SECONDS, *(file for stage in self.stages for file in stage.files), *REPORT)
        return Claim(CLAIM, HOLDS, content, files, tuple(self.stages))


def study_tasks(
    scale: str = "quick",
    *,
    seed: int = 0,
    out: str | Path | None = None,
    force: bool = False,
    engine: str | Runner | None = None,
    progress: Callable[[Event], None] | None = None,
) -> TaskStudy:
    """Ask in nine tasks whether rules learn there: T-mazes, CliffWalking, FrozenLake, Taxi and CartPole.

    `write_report` writes the report.

    Args:
        scale: "quick", or "full" for as many runs and generations as the paper has.
        seed: The seed of all random numbers.
        out: A folder to keep the work in. Stages that it already holds are read, the others
            are run and stored. A folder made with other options is refused.
        force: Start over in a folder made with other options.
        engine: "cpu", "gpu", "reference", "auto", or a runner, as in `learn`. CartPole has no
            table; the reference engine runs it, in one process for each core.
        progress: Called with an `Event` as the tasks proceed.

    Returns:
        One outcome for each task.

    Raises:
        InputError: If an argument is wrong, the folder cannot be used, or Gymnasium is missing.
    """
    out, force = None if out is None else folder("out", out), flag("force", force)
    function("progress", progress)
    request = Tasks(scale=scale, seed=seed)
    return run(request, Crew.of(Runner.of(engine)), out, force, progress)


def run(
    request: Tasks,
    crew: Crew,
    out: Path | None = None,
    force: bool = False,
    progress: Callable[[Event], None] | None = None,
) -> TaskStudy:
    """Run the study that is asked for; see `study_tasks`."""
    groups = ((one.outline, one.stages) for one in request.planned)
    told = None if progress is None else Grouped(groups, progress)
    with request.claim.taken(out, force) as kept:
        stages = Stages(request.stages, crew.table, told, kept)
        outcomes = []
        for position, one in enumerate(request.planned):
            stages.runner = crew.runner(one)
            outcomes.append(_outcome(one, stages, request.seed, position))
        machine = engines.machine_of(crew.table.engine)
        return TaskStudy(request.scale, request.seed, __version__, machine, stages.seconds, tuple(outcomes))


def _outcome(one: _Plan, stages: Stages, seed: int, position: int) -> Outcome:
    """Do all stages of a task that are missing, and sum them up."""
    evolved = {
        name: stages.evolve(f"evolve_{kind}_{one.world.name}", one.config(kind, seed))
        for name, kind in ((RULE, "dsp"), (CLIMBER, "hc"))
    }
    # All learners have the same trials, so that any two can be compared in pairs.
    seeds = np.array([child_seed(seed, position, 0, TASKS)], np.uint64)

    def test(stage: str, learner: Learner) -> EPs:
        curves = stages.test(
            f"{stage}_{one.world.name}", [learner], seeds,
            trials=_per_goal(one.budget.tested, len(one.task.goals)), episodes=one.budget.long,
            task=one.task, settings=one.settings, every=True,
        )  # fmt: skip
        own: EPs = curves[0]
        return own

    tested, eps = {}, {}
    for name, (learner, origin, remeasured) in _learners(evolved).items():
        eps[name], by_chance = test(f"test_{name}", learner), test(f"chance_{name}", chance_for(learner))
        marks = [Measured.of(eps[name], by_chance, mark, one.world.target) for mark in one.budget.marks]
        curves = Curve.of(eps[name]), Curve.of(by_chance)
        tested[name] = Tested(learner, origin, remeasured, tuple(marks), *curves)
    versus = [
        Gap.of(*(eps[name][:, :mark].min(axis=1) for name in (RULE, CLIMBER))) for mark in one.budget.marks
    ]
    return Outcome(
        one.world, one.budget, stages.runner.engine, one.task.inputs, one.task.outputs, len(one.task.goals),
        one.settings.steps, tested, tuple(versus),
    )  # fmt: skip


def _learners(evolved: dict[str, Evolved]) -> dict[str, tuple[Learner, int | None, float | None]]:
    """Return who is tested: the best of the winners, by re-measured fitness, and those of the maze."""
    best = {name: min(one.winners, key=lambda winner: winner.remeasured) for name, one in evolved.items()}
    return {
        **{name: (winner.learner, winner.run, winner.remeasured) for name, winner in best.items()},
        MAZE_RULE: (find_learner("evolved:1"), None, None),
        MAZE_CLIMBER: (find_learner("hc"), None, None),
    }
