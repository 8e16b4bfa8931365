"""Learners that were evolved for several tasks and tested there with chance: plan, numbers, report and figure."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from distal.base.checks import InputError
from distal.base.records import Count, Record
from distal.base.significance import SIGNIFICANT
from distal.engines import pace
from distal.engines.batch import EPs
from distal.evaluation.trials import per_goal
from distal.learners import Learner
from distal.model.settings import Settings
from distal.search.config import Config
from distal.search.results import Winner
from distal.studies.figures import draw_curve, episodes_axis, grid, legend, title
from distal.studies.intervals import Curve, Scores
from distal.studies.problems import Problem
from distal.studies.report import Block, Figure, Heading, Report, Sheet, Text
from distal.studies.stages import Stage, Stages, best_winner, evolution_stage
from distal.studies.study import Scale
from distal.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

Study = TypeVar("Study")


@dataclass(frozen=True)
class Planned:
    """A task with the settings and the budget that it has in a study."""

    problem: Problem
    task: Task[Any]
    settings: Settings
    budget: Scale
    engine: str | None
    marks: tuple[int, ...] = ()

    def tested(self, episodes: int) -> int:
        """Return the episodes of a test with `episodes` in each trial."""
        return per_goal(self.task, self.budget.tested) * len(self.task.goals) * episodes

    def stage(
        self, what: str, who: str, title: str, kind: str, engine: str | None, episodes: int = 0,
        group: str = "",
    ) -> Stage:  # fmt: skip
        """Return the stage of a test: the long one, if no number of episodes is given."""
        return Stage(
            f"{what}_{who}_{self.problem.name}", title, self.tested(episodes or self.budget.long), kind,
            group=group or self.problem.title, engine=engine, cost=pace.cost(self.task, self.settings, engine),
        )  # fmt: skip

    def evolution(self, kind: str, words: str, engine: str | None) -> Stage:
        """Return the stage of an evolution."""
        name, config = f"evolve_{kind}_{self.problem.name}", self.config(kind, 0)
        return evolution_stage(name, f"evolve {words}", config, group=self.problem.title, engine=engine)

    def evolved(self, stages: Stages, kind: str, seed: int) -> Winner:
        """Return the best winner of an evolution."""
        return best_winner(stages.evolve(f"evolve_{kind}_{self.problem.name}", self.config(kind, seed)))

    def config(self, kind: str, seed: int) -> Config:
        """Return the evolution of a kind of learner."""
        budget = self.budget
        return Config(
            kind, budget.runs, budget.generations, per_goal(self.task, budget.trials), budget.episodes, seed,
            settings=self.settings, task=self.task, fresh=budget.fresh,
        )  # fmt: skip

    def test(
        self, stages: Stages, stage: str, learner: Learner, seed: int, episodes: int = 0, flip: float = 0.0
    ) -> EPs:
        """Return the EP of every episode of a test: of the long one, if no number of episodes is given."""
        eps: EPs = stages.test(
            stage, [learner], np.array([seed], np.uint64), trials=per_goal(self.task, self.budget.tested),
            episodes=episodes or self.budget.long, task=self.task, settings=replace(self.settings, flip=flip),
            every=True,
        )[0]  # fmt: skip
        return eps


@dataclass(frozen=True)
class Tested(Record):
    """A learner in a task, and its numbers.

    `run` is the run that it won, `remeasured` its fitness there on fresh trials, by which it was
    chosen among the winners of all runs; both are None for a learner that was not evolved here.
    """

    learner: Learner
    run: Count | None
    remeasured: float | None
    marks: tuple[Scores, ...]
    curve: Curve
    chance_curve: Curve

    @classmethod
    def of(
        cls, who: tuple[Learner, int | None, float | None], ep: EPs, by_chance: EPs, marks: Sequence[int],
        target: float, **more: Any,
    ) -> Self:  # fmt: skip
        """Sum up the EPs (trials, episodes) of a learner and of its chance."""
        measured = tuple(Scores.of(ep, by_chance, mark, target) for mark in marks)
        return cls(*who, measured, Curve.of(ep), Curve.of(by_chance), **more)


@dataclass(frozen=True)
class ProblemOutcome(Record):
    """The measurements in a task, by the names of the learners.

    Attributes:
        LEARNERS: The names that there have to be.
    """

    KEYS: ClassVar[Mapping[str, str]] = {"problem": "task"}
    LEARNERS: ClassVar[Mapping[str, object]]

    problem: Problem
    inputs: Count
    outputs: Count
    goals: Count
    steps: Count
    tested: Mapping[str, Tested]

    def _check(self) -> None:
        """Refuse an outcome without all of the learners."""
        if set(self.tested) != set(self.LEARNERS):
            raise InputError(f"tested are {', '.join(self.tested)}, expected {', '.join(self.LEARNERS)}")


def about(one: Planned) -> dict[str, Any]:
    """Return the fields of an outcome that describe its task."""
    task = one.task
    return {
        "problem": one.problem, "inputs": task.inputs, "outputs": task.outputs, "goals": len(task.goals),
        "steps": one.settings.steps,
    }  # fmt: skip


# ------------------------------------------------------------------ the report


@dataclass(frozen=True)
class FigureLine:
    """A learner in the figure: its label, colour and style."""

    label: str
    colour: str
    style: str = "-"


CAPTION = (
    "Lower is better. Chance: fresh random weights in every episode, in the same trials and with the learner’s own scales α. "
    "All learners of a task have the same trials, which no search and no choice has seen. Better and worse: "
    f"p < {SIGNIFICANT} in the paired t-test (in brackets: p). Intervals are 95%: bootstrap for means, Wilson’s for shares. "
    "Kept: the retention, which is the share of the episodes after a trial’s first success that succeed again."
)


class ProblemsReport(Report[Study]):
    """The report of a study of several tasks: a table and a panel for each.

    Attributes:
        lines: The learners of the figure; its chance is that of the first.
        begin: The first episode of the panels, and the first whose means they have room for.
        columns: The number of panels side by side, and of entries of the legend.
    """

    lines: ClassVar[Mapping[str, FigureLine]]
    begin: ClassVar[tuple[int, int]] = (1, 10)
    columns: ClassVar[tuple[int, int]] = (3, 3)

    @property
    @abstractmethod
    def how(self) -> Sheet:
        """The table of how the study was run."""

    @abstractmethod
    def sheet(self, outcome: Any) -> Sheet:
        """Return the table of a task: every learner after every number of episodes."""

    @property
    def figure(self) -> str:
        """The name of the figure."""
        return self.figures[0]

    def blocks(self) -> Sequence[Block]:
        """Return the whole page."""
        study: Any = self.outcome
        begin, first = self.begin
        caption = (
            "Lower is better; bands are 95% intervals (1.96 standard errors). Grey: chance in the same trials, with the scales of "
            f"the first learner. The panels begin at episode {begin} and have room for the means from episode {first} on."
        )
        return [
            Heading("In short"), *self.summary(), Text(CAPTION),
            Figure(self.figure, "Mean best EP so far, a panel for each task", caption, self.draw),
            Heading("Every task"), *map(self.sheet, study.outcomes), *self.further(), Heading("Trials"), self.how,
        ]  # fmt: skip

    def further(self) -> Sequence[Block]:
        """Return the blocks after the tables of all tasks."""
        return ()

    def draw(self) -> Drawing:
        """Draw the mean best EP so far, a panel for each task."""
        study: Any = self.outcome
        outcomes: Sequence[ProblemOutcome] = study.outcomes
        columns, entries = self.columns
        rows, count = -(-len(outcomes) // columns), len(outcomes)
        height, above = _HEIGHTS[columns]
        figure, drawn = grid(rows, columns, 7.6, (height * rows + above) / rows)
        for axes, outcome in zip(drawn.flat, outcomes, strict=False):
            self._panel(axes, outcome)
        for axes in drawn.flat[count:]:
            axes.set_visible(False)
        for axes in drawn[:, 0]:
            axes.set_ylabel("mean best EP")
        for axes in drawn.flat[max(0, count - columns) : count]:
            axes.set_xlabel("episodes")
        legend(figure, entries)
        return figure

    def _panel(self, axes: Axes, outcome: ProblemOutcome) -> None:
        """Draw the curves of a task, with room for all means from some episode on."""
        begin, first = self.begin
        chance = outcome.tested[next(iter(self.lines))].chance_curve
        draw_curve(axes, chance, "chance", "chance", "-")
        for name, one in outcome.tested.items():
            line = self.lines[name]
            draw_curve(axes, one.curve, line.label, line.colour, line.style)
        title(axes, outcome.problem.title)
        episodes_axis(axes, chance)
        last = chance.episodes[-1]
        axes.set_xlim(begin if begin < last else 1, last)
        values = [
            value
            for curve in (chance, *(one.curve for one in outcome.tested.values()))
            for episodes, value in zip(curve.episodes, curve.mean, strict=True)
            if episodes >= min(first, last)
        ]
        room = 0.08 * (max(values) - min(values)) or 1.0
        axes.set_ylim(min(values) - room, max(values) + room)


_HEIGHTS = {2: (2.4, 0.8), 3: (2.2, 0.6)}  # of a row of so many panels, and of the room above, in inches
