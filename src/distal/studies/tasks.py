"""The study of tasks: whether rules learn elsewhere, and beat chance and hill climbing there.

For T-mazes of one to four levels and five Gymnasium environments, rules and hill climbing
are evolved. The winner with the lowest re-measured fitness is measured once more on trials
that no search has seen, beside the rule and the climber of the triple T-maze.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from distal.base.checks import InputError, counted, sequence, shown, text
from distal.base.significance import SIGNIFICANT
from distal.engines import Runner, pace
from distal.engines.batch import EPs
from distal.evaluation.trials import settings_in
from distal.learners import Learner, chance_for, find_learner
from distal.model.draws import child_seed
from distal.model.settings import Settings
from distal.search.config import Config
from distal.studies.figures import draw_curve, episodes_axis, grid, legend
from distal.studies.intervals import Curve, Gap, Measured
from distal.studies.records import Count, Finished, NotNegative, Record, Seed
from distal.studies.report import (
    Block,
    Figure,
    Heading,
    Report,
    Table,
    Text,
    made_on,
    mean,
    minus,
    percent,
    share,
    verdict,
)
from distal.studies.stages import Event, Stage, Stages, evolution_stage
from distal.studies.study import Scale, Scaled
from distal.tasks.mazes import levels_task
from distal.tasks.sources import task_of
from distal.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

MARKS = (100, 1_000)  # episodes after which learners are compared
TASKS = 9  # the last number of the part that seeds of the study come from; the first is the task
BUDGET = ("runs", "generations", "trials", "episodes", "fresh", "tested", "long")  # the sizes of a task
# What is run of a task without a table, which the reference engine alone runs.
SLOW = {
    "quick": Scale("quick", runs=1, generations=6, trials=3, episodes=30, fresh=20, tested=20, long=100),
    "full": Scale("full", runs=3, generations=20, trials=4, episodes=50, fresh=40, tested=16, long=1_000),
}


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
class Tried:
    """A learner that is tested: what it is, whose pace it has, and its line in the figure."""

    words: str
    kind: str
    line: str
    colour: str
    style: str = "-"


RULE, CLIMBER, MAZE_RULE, MAZE_CLIMBER = "rule", "climber", "maze_rule", "maze_climber"
LEARNERS = {
    RULE: Tried("rule evolved for it", "dsp", "rule evolved for it", "dsp"),
    CLIMBER: Tried("hill climbing evolved for it", "hc", "hill climbing evolved for it", "hc"),
    MAZE_RULE: Tried(
        "`evolved:1`, a rule of the maze", "dsp", "rule of the maze (evolved:1)", "dsp_resampled", "--"
    ),
    MAZE_CLIMBER: Tried(
        "`hc`, hill climbing of the maze", "hc", "hill climbing of the maze (hc)", "hc_resampled", "--"
    ),
}


# ------------------------------------------------------------------ numbers


@dataclass(frozen=True)
class Tested(Record):
    """A learner in a task: who it is, and how it did.

    `run` is the run that it won, `remeasured` its fitness there on fresh trials, by which it was
    chosen among the winners of all runs; both are None for a learner that was not evolved here.
    """

    learner: Learner
    run: Count | None
    remeasured: float | None
    marks: tuple[Measured, ...]
    curve: Curve
    chance_curve: Curve


@dataclass(frozen=True)
class Outcome(Record):
    """What was measured in a task; `versus` compares the rule with the climber that were evolved for it."""

    world: World
    budget: Scale
    engine: str
    inputs: Count
    outputs: Count
    goals: Count
    steps: Count
    tested: dict[str, Tested]
    versus: tuple[Gap, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        own = super().to_dict()
        del own["world"]
        return {
            "task": self.world.name,
            **own,
            "budget": {name: getattr(self.budget, name) for name in BUDGET},
        }

    @classmethod
    def of_world(cls, data: Any, world: World, scale: str) -> Outcome:
        """Read what was measured in a task."""
        if data["task"] != world.name:
            raise InputError(f"an outcome is of {shown(data['task'])}, expected {world.name}")
        budget = {"name": scale, **{name: data["budget"][name] for name in BUDGET}}
        return cls._read(data, world=world, budget=Scale.from_dict(budget))

    def _check(self) -> None:
        """Refuse an outcome without one of the learners."""
        if set(self.tested) != set(LEARNERS):
            raise InputError(f"tested are {', '.join(self.tested)}, expected {', '.join(LEARNERS)}")


@dataclass(frozen=True)
class TaskStudy(Finished):
    """All that the study of tasks gave.

    Attributes:
        version: The version of Distal.
        scale: How much was run: "quick" or "full".
        seed: The seed.
        machine: A description of the machine.
        seconds: How long each stage took.
        outcomes: What was measured in each task.
    """

    FORMAT: ClassVar[tuple[str, int]] = ("distal-tasks", 1)
    HOLDS: ClassVar[str] = "study of tasks"
    KEYS: ClassVar[dict[str, str]] = {"version": "distal", "outcomes": "tasks"}

    version: str
    scale: str
    seed: Seed
    machine: dict[str, Any]
    seconds: dict[str, NotNegative]
    outcomes: tuple[Outcome, ...]

    @classmethod
    def _known(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Return what was measured, in each task."""
        scale = text("scale", data["scale"])
        tasks = sequence("tasks", data["outcomes"], f"a list of {len(WORLDS)} outcomes")
        pairs = zip(tasks, WORLDS, strict=True)
        return {"outcomes": tuple(Outcome.of_world(*each, scale) for each in pairs)}


# ------------------------------------------------------------------ the report


class TasksReport(Report[TaskStudy]):
    """The report of a study of tasks."""

    holds: ClassVar[str] = "a study of tasks"
    of: ClassVar[type] = TaskStudy
    title: ClassVar[str] = "Does it learn there?"
    page: ClassVar[str] = "tasks.md"
    data: ClassVar[str] = "tasks.json"
    figures: ClassVar[tuple[str, ...]] = ("tasks",)

    def summary(self) -> Sequence[Table | Text]:
        """Return what is shown of the rule evolved for each task, after every number of episodes."""
        rows = []
        for outcome in self.outcome.outcomes:
            for rule, versus in zip(outcome.tested[RULE].marks, outcome.versus, strict=True):
                best = (minus(f"{value.value:.2f}") for value in (rule.best, rule.chance))
                gaps = verdict(rule.gap), verdict(versus)
                rows.append([outcome.world.title, f"{rule.episodes:,}", *best, *gaps, percent(rule.retained)])
        table = Table(
            "", "The rule evolved for each task",
            f"Mean best EP after some episodes. Better and worse: p < {SIGNIFICANT} in the paired t-test (in brackets: p), against "
            "chance and against hill climbing evolved for the task. Kept: the share of the episodes after the first success that "
            "succeed again.",
            ("task", "after", "rule", "chance", "against chance", "against climbing", "kept"), rows,
        )  # fmt: skip
        return [table]

    def blocks(self) -> Sequence[Block]:
        """Return the whole page."""
        study = self.outcome
        table = study.outcomes[0].budget
        tests = sum(len(tested.marks) for outcome in study.outcomes for tested in outcome.tested.values())
        return [
            Text(
                f"Written by `distal tasks --scale {study.scale} --seed {study.seed}` (Distal {study.version}) on "
                f"{made_on(study.machine, study.seconds)}. Scale full has as many runs and generations as the paper; with fewer, "
                "evolution ends early, and a longer one may find better rules."
            ),
            Text(
                "Rules of this kind were invented for one maze. Here they are evolved for other tasks, and measured beside "
                "hill climbing that was evolved for the same task, beside the rule and the climber of the maze "
                "(`evolved:1` and `hc`), and beside chance: fresh random weights in every episode, with the learner’s own "
                "scales α and in the same trials. Chance differs from row to row because the scales do; where the chance of one "
                "row is better than the learner of another, the scales alone do more than that learner does."
            ),
            Text(
                "Every number is a mean best EP so far, and lower is better. Chance falls too, because the best of many tries "
                "is kept: a learner that is not below chance shows nothing. Kept is the share of the episodes after a "
                "trial’s first success that succeed again."
            ),
            Text(
                f"Evolution is judged after {counted(table.episodes, 'episode')}, by {counted(table.runs, 'run')} of each kind and "
                f"{counted(table.generations, 'generation')}. The winner of each run is measured again on fresh trials, and the best of "
                "these is chosen. It was chosen by its luck too, so it is measured once more: all numbers below are from trials "
                "that no search and no choice has seen, the same for all learners of a task."
            ),
            Text(
                "Intervals are 95 %: bootstrap for means, Wilson’s for shares. p is from the paired t-test and is not corrected "
                f"for the number of tests: of {tests} comparisons with chance, about {tests * SIGNIFICANT:.0f} would be below "
                f"{SIGNIFICANT} if nothing learned."
            ),
            Heading("In short"),
            *self.summary(),
            Figure(
                "tasks", "Mean best EP so far, a panel for each task",
                "Lower is better; bands are 95 % intervals (1.96 standard errors). Grey: chance in the same trials, with the scales "
                "of the rule evolved for it. The panels show the range from the tenth episode on; what was worse before is cut "
                "off at the top.", lambda: figure_of(study),
            ),
            Heading("Every task"),
            *map(_task, study.outcomes),
            Heading("What was run"),
            Table(
                "", "", "",
                ("task", "inputs", "actions", "goals", "steps", "evolution", "trials × episodes of an evaluation",
                 "re-measured on", "tested on trials × episodes", "engine"),
                [_ran(outcome) for outcome in study.outcomes],
            ),
            Text(
                "Trials are for all goals of a task together, and rounded up to as many for each. Both kinds of learners "
                f"have the same budget. All random numbers come from seed {study.seed}: the evolutions as those of `distal evolve "
                f"--seed {study.seed}`, the tests of task *t* (from 0, as listed) from part (t, 0, {TASKS}), which nothing else "
                "uses. `tasks.json`, beside this page, holds all numbers and the evolved rules."
            ),
        ]  # fmt: skip


def _task(outcome: Outcome) -> Table:
    """Return the table of a task: every learner after every number of episodes."""
    rows = [
        [
            LEARNERS[name].words, f"{mark.episodes:,}", mean(mark.best), mean(mark.chance),
            mean(mark.gap.difference, sign=True), verdict(mark.gap), share(mark.reached),
            share(mark.chance_reached), percent(mark.retained), percent(mark.chance_retained),
        ]
        for name, tested in outcome.tested.items()
        for mark in tested.marks
    ]  # fmt: skip
    columns = (
        "learner", "episodes", "mean best EP", "chance", "difference", "against chance", "reached",
        "chance reached", "kept", "chance kept",
    )  # fmt: skip
    caption = f"Success: {outcome.world.success}. {outcome.world.remark}".rstrip()
    return Table("", outcome.world.title, caption, columns, rows)


def _ran(outcome: Outcome) -> list[str]:
    """Return how much was run of a task."""
    budget = outcome.budget
    return [
        outcome.world.title, *map(str, (outcome.inputs, outcome.outputs, outcome.goals, outcome.steps)),
        f"{counted(budget.runs, 'run')} of {counted(budget.generations, 'generation')}",
        f"{budget.trials} × {budget.episodes}", str(budget.fresh), f"{budget.tested} × {budget.long:,}",
        outcome.engine,
    ]  # fmt: skip


def figure_of(study: TaskStudy) -> Drawing:
    """Draw the mean best EP so far, a panel for each task."""
    rows = -(-len(study.outcomes) // 3)
    figure, panels = grid(rows, 3, 7.6, (2.2 * rows + 0.6) / rows)
    for axes, outcome in zip(panels.flat, study.outcomes, strict=False):
        _panel(axes, outcome)
    for axes in panels[:, 0]:
        axes.set_ylabel("mean best EP")
    for axes in panels[-1]:
        axes.set_xlabel("episodes")
    legend(figure, 3)
    return figure


def _panel(axes: Axes, outcome: Outcome) -> None:
    """Draw the curves of a task."""
    draw_curve(axes, outcome.tested[RULE].chance_curve, "chance", "chance", "-")
    for name, one in LEARNERS.items():
        draw_curve(axes, outcome.tested[name].curve, one.line, one.colour, one.style)
    title_and_range(
        axes, outcome.world.title, outcome.tested[RULE].chance_curve,
        *(one.curve for one in outcome.tested.values()),
    )  # fmt: skip


def title_and_range(axes: Axes, title: str, *curves: Curve) -> None:
    """Give a panel its title, and room for all means from the tenth episode on."""
    axes.set_title(title, loc="left", fontsize=9)
    episodes_axis(axes, curves[0])
    first = min(10, curves[0].episodes[-1])
    values = [
        value
        for curve in curves
        for episodes, value in zip(curve.episodes, curve.mean, strict=True)
        if episodes >= first
    ]
    room = 0.08 * (max(values) - min(values)) or 1.0
    axes.set_ylim(min(values) - room, max(values) + room)


# ------------------------------------------------------------------ the study


@dataclass(frozen=True)
class Planned:
    """A task with the settings and the budget that it has in a study."""

    world: World
    task: Task[Any]
    settings: Settings
    budget: Scale
    engine: str | None

    def per_goal(self, trials: int) -> int:
        """Return how many trials each goal has, so that there are at least so many."""
        return -(-trials // len(self.task.goals))

    def config(self, kind: str, seed: int) -> Config:
        """Return the evolution of a kind of learner."""
        budget = self.budget
        return Config(
            kind, budget.runs, budget.generations, self.per_goal(budget.trials), budget.episodes, seed,
            settings=self.settings, task=self.task, fresh=budget.fresh,
        )  # fmt: skip

    @property
    def stages(self) -> list[Stage]:
        """The stages, with the episodes that each will run."""
        name = self.world.name
        alike: dict[str, Any] = {"group": self.world.title, "engine": self.engine}
        test = self.per_goal(self.budget.tested) * len(self.task.goals) * self.budget.long
        cost = pace.cost(self.task, self.settings)
        found = [
            evolution_stage(f"evolve_{kind}_{name}", f"evolve {words}", self.config(kind, 0), **alike)
            for kind, words in (("dsp", "rules"), ("hc", "hill climbing"))
        ]
        for which, one in LEARNERS.items():
            for stage, title, kind in (
                ("test", f"test {one.words}", one.kind),
                ("chance", "chance beside it", "chance"),
            ):
                found.append(Stage(f"{stage}_{which}_{name}", title, test, kind, cost=cost, **alike))
        return found


@dataclass(frozen=True, kw_only=True)
class Tasks(Scaled[TaskStudy]):
    """The study of tasks."""

    name: ClassVar[str] = "tasks"
    folder: ClassVar[str] = "tasks"
    title: ClassVar[str] = "ask in nine tasks whether rules learn there"
    about: ClassVar[str] = (
        "Evolve rules and hill climbing for T-mazes of one to four levels, CliffWalking, FrozenLake, Taxi "
        "and CartPole, measure them beside chance and the learners of the maze, and write a report. Stages "
        "are stored; a second call only does what is missing."
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
            about="for a card, half an hour",
        ),
    }  # fmt: skip

    @cached_property
    def planned(self) -> list[Planned]:
        """The tasks, with what is to be done in each."""
        found = []
        for world in WORLDS:
            task = world.make()
            settings = settings_in(task, {})
            slow = task.table(settings) is None
            budget = SLOW[self.scale] if slow else self.size
            found.append(Planned(world, task, settings, budget, "reference" if slow else None))
        return found

    @cached_property
    def plan(self) -> list[Stage]:
        """The stages of all tasks."""
        return [stage for one in self.planned for stage in one.stages]

    def work(self, stages: Stages) -> TaskStudy:
        """Do all stages that are missing."""
        outcomes = tuple(self._outcome(stages, *each) for each in enumerate(self.planned))
        made = self.made(stages)
        del made["engine"]  # every outcome has one of its own
        return TaskStudy(scale=self.scale, outcomes=outcomes, **made)

    def _outcome(self, stages: Stages, position: int, one: Planned) -> Outcome:
        """Do all stages of a task, and sum them up."""
        budget, world, task = one.budget, one.world, one.task
        # All learners have the same trials, so that any two can be compared in pairs.
        seeds = np.array([child_seed(self.seed, position, 0, TASKS)], np.uint64)

        def test(stage: str, learner: Learner) -> EPs:
            eps: EPs = stages.test(
                f"{stage}_{world.name}", [learner], seeds, trials=one.per_goal(budget.tested),
                episodes=budget.long, task=task, settings=one.settings, every=True,
            )[0]  # fmt: skip
            return eps

        marks = [mark for mark in MARKS if mark <= budget.long]
        tested, eps = {}, {}
        for name, (learner, run, remeasured) in self._learners(stages, one).items():
            eps[name], by_chance = test(f"test_{name}", learner), test(f"chance_{name}", chance_for(learner))
            measured = tuple(Measured.of(eps[name], by_chance, mark, world.target) for mark in marks)
            tested[name] = Tested(
                learner, run, remeasured, measured, Curve.of(eps[name]), Curve.of(by_chance)
            )
        versus = (Gap.of(*(eps[name][:, :mark].min(axis=1) for name in (RULE, CLIMBER))) for mark in marks)
        return Outcome(
            world, budget, one.engine or stages.runner.engine, task.inputs, task.outputs, len(task.goals),
            one.settings.steps, tested, tuple(versus),
        )  # fmt: skip

    def _learners(self, stages: Stages, one: Planned) -> dict[str, tuple[Learner, int | None, float | None]]:
        """Return who is tested: the best of the winners, by re-measured fitness, and those of the maze."""
        found: dict[str, tuple[Learner, int | None, float | None]] = {}
        for name, kind in ((RULE, "dsp"), (CLIMBER, "hc")):
            winners = stages.evolve(f"evolve_{kind}_{one.world.name}", one.config(kind, self.seed)).winners
            best = min(winners, key=lambda winner: winner.remeasured)
            found[name] = best.learner, best.run, best.remeasured
        return {
            **found,
            MAZE_RULE: (find_learner("evolved:1"), None, None),
            MAZE_CLIMBER: (find_learner("hc"), None, None),
        }


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
        out: As in `reproduce`.
        force: As in `reproduce`.
        engine: As in `reproduce`. CartPole has no table; the reference engine runs it, in one
            process for each core.
        progress: Called with an `Event` as the tasks proceed.

    Returns:
        One outcome for each task.

    Raises:
        InputError: If an argument is wrong, the folder cannot be used, or Gymnasium is missing.
    """
    return Tasks(scale=scale, seed=seed).run(engine, out=out, force=force, progress=progress)
