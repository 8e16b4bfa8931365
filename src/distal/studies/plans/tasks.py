"""Test whether rules learn in other tasks.

For every task of a set (`problems`), rules and hill climbing are evolved. The winner with the lowest
re-measured fitness is tested in trials that no search has seen, with the rule and the climber of the
triple T-maze. In the set that is run step by step, every rule is also tested in the other tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Unpack

from distal.base.checks import InputError, counted, one_of, text
from distal.base.records import Count, Record
from distal.engines.batch import EPs
from distal.evaluation.trials import settings_in
from distal.learners import Learner, chance_for, find_learner
from distal.model.draws import child_seed
from distal.studies.finished import Finished
from distal.studies.intervals import Gap, Interval
from distal.studies.problems import PROBLEMS, STEPPED, STEPS, TABLES, Problem
from distal.studies.registry import register
from distal.studies.report import (
    Block,
    Heading,
    Sheet,
    Text,
    mean,
    minus,
    percent,
    run_sheet,
    share,
    verdict,
)
from distal.studies.stages import Stage, Stages
from distal.studies.study import Option, RunOptions, Scale, Scaled
from distal.studies.tested import FigureLine, Planned, ProblemOutcome, ProblemsReport, Tested, about

MARKS = (100, 1_000)  # episodes after which learners are compared
TASKS = 9  # the last number of the part that seeds of the study come from; the first is the task
BUDGET = ("runs", "generations", "trials", "episodes", "fresh", "tested", "long")  # the sizes of a task
SETS = (TABLES, STEPS)
# What is run of a task that is stepped in Python: of one without a table, and of those in the other set.
SLOW = {
    "quick": Scale("quick", runs=1, generations=6, trials=3, episodes=30, fresh=20, tested=20, long=100),
    "full": Scale("full", runs=3, generations=20, trials=4, episodes=50, fresh=40, tested=16, long=1_000),
}
PACED = {
    "quick": Scale("quick", runs=1, generations=6, trials=2, episodes=20, fresh=10, tested=12, long=50),
    "full": Scale("full", runs=3, generations=15, trials=4, episodes=50, fresh=40, tested=40, long=200),
}


@dataclass(frozen=True)
class Tried(FigureLine):
    """A learner that is tested: its line in the figure, its name in tables, and the kind with its pace."""

    words: str = ""
    kind: str = "dsp"


MOVED = "Rules in other tasks"
RULE, CLIMBER, MAZE_RULE, MAZE_CLIMBER = "rule", "climber", "maze_rule", "maze_climber"
LEARNERS = {
    RULE: Tried("rule evolved for it", "dsp", words="rule evolved for it"),
    CLIMBER: Tried("hill climbing evolved for it", "hc", words="hill climbing evolved for it", kind="hc"),
    MAZE_RULE: Tried(
        "rule of the maze (evolved:1)", "dsp_resampled", "--", "`evolved:1`, a rule of the maze"
    ),
    MAZE_CLIMBER: Tried(
        "hill climbing of the maze (hc)", "hc_resampled", "--", "`hc`, hill climbing of the maze", "hc"
    ),
}


# ------------------------------------------------------------------ numbers


@dataclass(frozen=True)
class TaskOutcome(ProblemOutcome):
    """The measurements in a task; `versus` compares the rule and the climber that were evolved for it."""

    LEARNERS: ClassVar[Mapping[str, object]] = LEARNERS
    FIRST: ClassVar[tuple[str, ...]] = ("task", "budget", "engine")

    budget: Scale
    engine: str
    versus: tuple[Gap, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        return {**super().to_dict(), "budget": {name: getattr(self.budget, name) for name in BUDGET}}

    @classmethod
    def of_thing(cls, data: Any, thing: Problem, scale: str = "", **known: Any) -> TaskOutcome:
        """Read the measurements in a task at a scale."""
        budget = Scale.from_dict({"name": scale, **{name: data["budget"][name] for name in BUDGET}})
        return super().of_thing(data, thing, budget=budget, **known)


@dataclass(frozen=True)
class Transfer(Record):
    """The rule that was evolved for a task, in another one, in the trials of that one's own rule.

    `gap` compares it with chance, `versus` with the rule that was evolved for the other task.
    """

    rule: str
    task: str
    episodes: Count
    best: Interval
    chance: Interval
    gap: Gap
    versus: Gap

    @classmethod
    def of(cls, rule: str, task: str, ep: EPs, by_chance: EPs, own: EPs) -> Transfer:
        """Sum up EPs (trials, episodes) of the rule and of chance, and longer ones of the task's own rule."""
        episodes = ep.shape[1]
        best, chance, other = (eps.min(axis=1) for eps in (ep, by_chance, own[:, :episodes]))
        return cls(
            rule, task, episodes, Interval.mean(best), Interval.mean(chance), Gap.of(best, chance),
            Gap.of(best, other),
        )  # fmt: skip


@dataclass(frozen=True)
class TaskStudy(Finished):
    """The results of the study of tasks.

    Attributes:
        version: The version of Distal.
        scale: The scale:  "quick" or "full".
        seed: The seed.
        machine: A description of the machine.
        seconds: The time of each stage.
        outcomes: The measurements in each task.
        worlds: The set of tasks: "tables", or "steps".
        transfers: The scores of each task's rule in the other tasks; none in "tables".
    """

    FORMAT: ClassVar[tuple[str, int]] = ("distal-tasks", 1)
    HOLDS: ClassVar[str] = "study of tasks"
    KEYS: ClassVar[Mapping[str, str]] = {"version": "distal", "outcomes": "tasks"}

    scale: str
    outcomes: tuple[TaskOutcome, ...]
    worlds: str = TABLES
    transfers: tuple[Transfer, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, ready for JSON; the set with tables is not named."""
        found = super().to_dict()
        return found if self.worlds != TABLES else {
            name: value for name, value in found.items() if name not in _LATER
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: object) -> TaskStudy:
        """Read the data of `to_dict`."""
        named = isinstance(data, dict) and data.get("worlds", TABLES) != TABLES
        return super().from_dict(data if named or not isinstance(data, dict) else {**data, **_LATER})

    @classmethod
    def _known(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Return the measurements in each task."""
        scale = text("scale", data["scale"])
        worlds = problems_of(one_of("worlds", data["worlds"], SETS))
        return {"outcomes": TaskOutcome.of_each(data["tasks"], worlds, scale)}

    def _check(self) -> None:
        """Refuse transfers of other rules or to other tasks than there are."""
        names = [outcome.problem.name for outcome in self.outcomes]
        found = [(one.rule, one.task) for one in self.transfers]
        if found != (pairs_of(names) if self.worlds == STEPS else []):
            raise InputError("transfers are not from every rule to every other task")


_LATER: dict[str, Any] = {"worlds": TABLES, "transfers": []}  # fields that files with tables do not have


def problems_of(word: str) -> tuple[Problem, ...]:
    """Return the tasks of a set."""
    return PROBLEMS if word == TABLES else STEPPED


def pairs_of(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the rule and the task of every transfer, task by task."""
    return [(rule, task) for task in names for rule in names if rule != task]


# ------------------------------------------------------------------ the report


class TasksReport(ProblemsReport[TaskStudy]):
    """The report of a study of tasks."""

    holds: ClassVar[str] = "a study of tasks"
    of: ClassVar[type] = TaskStudy
    title: ClassVar[str] = "Other tasks"
    page: ClassVar[str] = "tasks.md"
    data: ClassVar[str] = "tasks.json"
    figures: ClassVar[tuple[str, ...]] = ("tasks", "tasks_steps")
    lines: ClassVar[Mapping[str, FigureLine]] = LEARNERS

    @property
    def figure(self) -> str:
        """The name of the figure, one for each set."""
        return self.figures[SETS.index(self.outcome.worlds)]

    def summary(self) -> Sequence[Sheet | Text]:
        """Return the numbers of the rule evolved for each task, after every number of episodes."""
        rows = []
        for outcome in self.outcome.outcomes:
            for rule, versus in zip(outcome.tested[RULE].marks, outcome.versus, strict=True):
                best = (minus(f"{value.value:.2f}") for value in (rule.best, rule.chance))
                gaps = verdict(rule.gap), verdict(versus)
                rows.append(
                    [outcome.problem.title, f"{rule.episodes:,}", *best, *gaps, percent(rule.retained)]
                )
        columns = ("task", "after", "rule", "chance", "against chance", "against climbing", "kept")
        caption = (
            "Mean best EP of the rule, compared with chance and with hill climbing evolved for the task."
        )
        return [Sheet("The rule evolved for each task", caption, columns, rows)]

    def sheet(self, outcome: TaskOutcome) -> Sheet:
        """Return the table of a task: every learner after every number of episodes."""
        rows = [
            [
                LEARNERS[name].words, f"{mark.episodes:,}", mean(mark.best), mean(mark.chance),
                mean(mark.gap.difference, sign=True), verdict(mark.gap), share(mark.reached),
                share(mark.chance_reached), percent(mark.retained), percent(mark.chance_retained),
            ]
            for name, one in outcome.tested.items()
            for mark in one.marks
        ]  # fmt: skip
        columns = (
            "learner", "episodes", "mean best EP", "chance", "difference", "against chance", "reached",
            "chance reached", "kept", "chance kept",
        )  # fmt: skip
        return Sheet(outcome.problem.title, outcome.problem.caption, columns, rows)

    def further(self) -> Sequence[Block]:
        """Return the table of all rules in all tasks, where they were tried, and the budget of each task."""
        columns = (
            "task", "inputs", "actions", "goals", "steps", "evolution", "trials × episodes of an evaluation",
            "re-measured on", "tested on trials × episodes", "engine",
        )  # fmt: skip
        caption = "Numbers of trials are for all goals of a task together, rounded up to the same number for each goal."
        budgets = Sheet("Budgets", caption, columns, list(map(_budget, self.outcome.outcomes)))
        return *(_moved(self.outcome) if self.outcome.transfers else ()), budgets

    @property
    def how(self) -> Sheet:
        """The table of how the study was run."""
        study = self.outcome
        worlds = "" if study.worlds == TABLES else f"--worlds {study.worlds} "
        command = f"distal tasks {worlds}--scale {study.scale} --seed {study.seed}"
        marks = sum(len(one.marks) for outcome in study.outcomes for one in outcome.tested.values())
        tests = ("comparisons with chance, p not corrected", str(marks + len(study.transfers)))
        return run_sheet(study, command, "tasks", {}, tests)


def _moved(study: TaskStudy) -> Sequence[Block]:
    """Return the table of all rules in all tasks, in each its own rule first."""
    titles = {outcome.problem.name: outcome.problem.title for outcome in study.outcomes}
    rows = []
    for outcome in study.outcomes:
        own = outcome.tested[RULE].marks[0]
        task = [outcome.problem.title, "the same", f"{own.episodes:,}"]
        rows.append([*task, mean(own.best), mean(own.chance), verdict(own.gap), "–", "–"])
        rows += [
            [
                outcome.problem.title, titles[one.rule], f"{one.episodes:,}", mean(one.best), mean(one.chance),
                verdict(one.gap), mean(one.versus.difference, sign=True), verdict(one.versus),
            ]
            for one in study.transfers
            if one.task == outcome.problem.name
        ]  # fmt: skip
    columns = (
        "task", "rule evolved for", "episodes", "mean best EP", "chance", "against chance",
        "minus its own rule", "against its own rule",
    )  # fmt: skip
    caption = "The last two columns compare each rule with the rule evolved for the task."
    return Heading(MOVED), Sheet("", caption, columns, rows)


def _budget(outcome: TaskOutcome) -> list[str]:
    """Return the budget of a task."""
    budget = outcome.budget
    return [
        outcome.problem.title, *map(str, (outcome.inputs, outcome.outputs, outcome.goals, outcome.steps)),
        f"{counted(budget.runs, 'run')} of {counted(budget.generations, 'generation')}",
        f"{budget.trials} × {budget.episodes}", str(budget.fresh), f"{budget.tested} × {budget.long:,}",
        outcome.engine,
    ]  # fmt: skip


# ------------------------------------------------------------------ the study


@register
@dataclass(frozen=True, kw_only=True)
class Tasks(Scaled[TaskStudy]):
    """The study of tasks."""

    name: ClassVar[str] = "tasks"
    about: ClassVar[str] = (
        "Evolve rules and hill climbing for T-mazes of one to four levels, CliffWalking, FrozenLake, Taxi "
        "and CartPole, compare them with chance and with the learners of the maze, and write a report. With "
        "--worlds steps, do so for six tasks without a table, and try each rule in the others. Stages are "
        "stored; the same command again runs only the missing ones."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "worlds",
            TABLES,
            "the tasks: tables (nine), steps (six without a table; needs MiniGrid)",
        ),
    )
    file: ClassVar[str] = "task-study.json"
    format: ClassVar[str] = "distal-task-study"
    report_class: ClassVar[type[TasksReport]] = TasksReport
    SCALES: ClassVar[dict[str, Scale]] = {
        "quick": Scale(
            "quick", runs=3, generations=25, trials=40, episodes=100, fresh=400, tested=200, long=1_000,
            about="five minutes on two cores",
        ),
        "full": Scale(
            "full", runs=15, generations=300, trials=40, episodes=100, fresh=400, tested=400, long=1_000,
            about="half an hour on a card; with --worlds steps, 45 minutes on two cores",
        ),
    }  # fmt: skip
    # Of compiled tasks, which engine steps runs at millions of steps a second.
    COMPILED: ClassVar[dict[str, Scale]] = {
        "quick": Scale("quick", runs=2, generations=12, trials=6, episodes=40, fresh=40, tested=40, long=200),
        "full": Scale(
            "full", runs=5, generations=50, trials=20, episodes=100, fresh=200, tested=100, long=1_000
        ),
    }

    worlds: str = TABLES

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "worlds", one_of("worlds", self.worlds, SETS))

    def asked(self) -> dict[str, Any]:
        """Return the options that decide the results, ready for JSON; the set with tables is not named."""
        return super().asked() if self.worlds == TABLES else {**super().asked(), "worlds": self.worlds}

    @cached_property
    def planned(self) -> list[Planned]:
        """The tasks, with settings and budget."""
        found = []
        for problem in problems_of(self.worlds):
            task = problem.make()
            settings = settings_in(task, {})
            if self.worlds == TABLES:
                slow = task.table(settings) is None
                budget, engine = (SLOW[self.scale], "steps") if slow else (self.size, None)
                marks = tuple(mark for mark in MARKS if mark <= budget.long)
            else:
                scales = PACED if task.in_python else self.COMPILED
                budget, engine = scales[self.scale], "steps"
                marks = budget.episodes, budget.long
            found.append(Planned(problem, task, settings, budget, engine, marks))
        return found

    @property
    def _moves(self) -> list[tuple[str, Planned]]:
        """The task of a rule and the one that it is tried in, of all transfers."""
        by_name = {one.problem.name: one for one in self.planned}
        pairs = pairs_of(list(by_name)) if self.worlds == STEPS else []
        return [(rule, by_name[task]) for rule, task in pairs]

    @cached_property
    def plan(self) -> list[Stage]:
        """The stages of all tasks."""
        own = [stage for one in self.planned for stage in self._stages(one)]
        return own + [stage for rule, one in self._moves for stage in _moved_stages(one, rule)]

    @staticmethod
    def _stages(one: Planned) -> list[Stage]:
        """Return the stages of a task, with the episodes that each will run."""
        kinds = ("dsp", "rules"), ("hc", "hill climbing")
        found = [one.evolution(kind, words, one.engine) for kind, words in kinds]
        for which, tried in LEARNERS.items():
            found += [
                one.stage("test", which, f"test {tried.words}", tried.kind, one.engine),
                one.stage("chance", which, "chance for it", "chance", one.engine),
            ]
        return found

    def run_stages(self, stages: Stages) -> TaskStudy:
        """Run all stages that are missing."""
        own: dict[str, EPs] = {}
        outcomes = tuple(self._outcome(stages, one, own) for one in self.planned)
        rules = {outcome.problem.name: outcome.tested[RULE].learner for outcome in outcomes}
        moved = []
        for rule, one in self._moves:
            ep, by_chance = (
                one.test(stages, stage.name, learner, self._seed(one), one.budget.episodes)
                for stage, learner in zip(
                    _moved_stages(one, rule), (rules[rule], chance_for(rules[rule])), strict=True
                )
            )
            name = one.problem.name
            moved.append(Transfer.of(rule, name, ep, by_chance, own[name]))
        return TaskStudy(
            scale=self.scale, outcomes=outcomes, worlds=self.worlds, transfers=tuple(moved),
            **self.made(stages),
        )  # fmt: skip

    def _seed(self, one: Planned) -> int:
        """Return the seed of all tests in a task: its learners have the same trials, to be compared in pairs."""
        return child_seed(self.seed, self.planned.index(one), SETS.index(self.worlds), TASKS)

    def _outcome(self, stages: Stages, one: Planned, own: dict[str, EPs]) -> TaskOutcome:
        """Run all stages of a task, and sum them up; keep the EPs of its rule in `own`."""
        problem, found, eps = one.problem, {}, {}
        for name, who in self._learners(stages, one).items():
            eps[name], by_chance = (
                one.test(stages, f"{what}_{name}_{problem.name}", learner, self._seed(one))
                for what, learner in (("test", who[0]), ("chance", chance_for(who[0])))
            )
            found[name] = Tested.of(who, eps[name], by_chance, one.marks, problem.target)
        own[problem.name] = eps[RULE]
        pairs = ([eps[name][:, :mark].min(axis=1) for name in (RULE, CLIMBER)] for mark in one.marks)
        return TaskOutcome(
            **about(one), budget=one.budget, engine=one.engine or stages.runner.engine, tested=found,
            versus=tuple(Gap.of(*pair) for pair in pairs),
        )  # fmt: skip

    def _learners(self, stages: Stages, one: Planned) -> dict[str, tuple[Learner, int | None, float | None]]:
        """Return the learners that are tested: the best winners, and the rule and climber of the maze."""
        found: dict[str, tuple[Learner, int | None, float | None]] = {}
        for name, kind in ((RULE, "dsp"), (CLIMBER, "hc")):
            best = one.evolved(stages, kind, self.seed)
            found[name] = best.learner, best.run, best.remeasured
        return {
            **found,
            MAZE_RULE: (find_learner("evolved:1"), None, None),
            MAZE_CLIMBER: (find_learner("hc"), None, None),
        }


def _moved_stages(one: Planned, rule: str) -> list[Stage]:
    """Return the stages of a rule in a task that it was not evolved for; `rule` is the name of its own."""
    tests = ("move", "a rule of another task", "dsp"), ("beside", "chance", "chance")
    return [
        one.stage(
            what,
            f"{rule}_in",
            f"{words} in {one.problem.title}",
            kind,
            one.engine,
            one.budget.episodes,
            MOVED,
        )
        for what, words, kind in tests
    ]


def study_tasks(
    scale: str = "quick", *, worlds: str = TABLES, seed: int = 0, **how: Unpack[RunOptions]
) -> TaskStudy:
    """Test whether rules learn in other tasks: T-mazes, CliffWalking, FrozenLake, Taxi and CartPole.

    With worlds "steps" the tasks are CartPole, MountainCar, Acrobot, Phototaxis, Pendulum and MiniGrid,
    and the rule of each is tested in the others. `write_report` writes the report.

    Args:
        scale: "quick", or "full" for as many runs and generations as the paper has (with worlds
            "steps", for a larger budget).
        worlds: The set of tasks: "tables", or "steps" for tasks that are run step by step.
        seed: The seed of all random numbers.
        **how: `engine`, `out`, `force` and `progress`, as in `reproduce`. Tasks without a table run on
            engine steps, on all cores.

    Returns:
        One outcome for each task, and the transfers.

    Raises:
        InputError: If an argument is wrong, the folder cannot be used, or Gymnasium or, for worlds
            "steps", MiniGrid is missing.
    """
    return Tasks(scale=scale, seed=seed, worlds=worlds).run(**how)
