"""Learners that were evolved for some tasks, and tested there beside chance: the plan, the numbers, the figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from distal.base.records import Count, Record
from distal.engines import pace
from distal.engines.batch import EPs
from distal.evaluation.trials import per_goal
from distal.learners import Learner
from distal.model.settings import Settings
from distal.search.config import Config
from distal.studies.figures import draw_curve, episodes_axis, grid, legend, title
from distal.studies.intervals import Curve, Measured
from distal.studies.problems import Problem
from distal.studies.stages import Stages
from distal.studies.study import Scale
from distal.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


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
        """Return the episodes of a test, whose trials have so many each."""
        return per_goal(self.task, self.budget.tested) * len(self.task.goals) * episodes

    def cost(self, engine: str | None) -> float:
        """Return how long an episode takes, in episodes of the paper's maze and network."""
        return pace.cost(self.task, self.settings, engine)

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

    @classmethod
    def of(
        cls, who: tuple[Learner, int | None, float | None], ep: EPs, by_chance: EPs, marks: Sequence[int],
        target: float, **more: Any,
    ) -> Self:  # fmt: skip
        """Sum up the EPs (trials, episodes) of a learner and of chance beside it."""
        measured = tuple(Measured.of(ep, by_chance, mark, target) for mark in marks)
        return cls(*who, measured, Curve.of(ep), Curve.of(by_chance), **more)


@dataclass(frozen=True)
class ProblemOutcome(Record):
    """What was measured in a task, by the names of the learners."""

    KEYS: ClassVar[Mapping[str, str]] = {"problem": "task"}

    problem: Problem
    inputs: Count
    outputs: Count
    goals: Count
    steps: Count
    tested: Mapping[str, Tested]


def about(one: Planned) -> dict[str, Any]:
    """Return what an outcome says of its task."""
    task = one.task
    return {
        "problem": one.problem, "inputs": task.inputs, "outputs": task.outputs, "goals": len(task.goals),
        "steps": one.settings.steps,
    }  # fmt: skip


def panels(
    outcomes: Sequence[ProblemOutcome], lines: Mapping[str, tuple[str, str, str]], columns: int, height: float,
    above: float, entries: int, shown: tuple[int, int] = (1, 10),
) -> Drawing:  # fmt: skip
    """Draw the mean best EP so far, a panel for each task.

    Args:
        outcomes: Of the tasks.
        lines: The label, the colour and the style of each learner; chance is that of the first.
        columns: Panels side by side.
        height: Of a row of panels, in inches.
        above: The room above them.
        entries: Of the legend there, side by side.
        shown: The episode with which panels begin, and the one from which on there is room for all means.
    """
    rows, count = -(-len(outcomes) // columns), len(outcomes)
    figure, drawn = grid(rows, columns, 7.6, (height * rows + above) / rows)
    for axes, outcome in zip(drawn.flat, outcomes, strict=False):
        _panel(axes, outcome, lines, *shown)
    for axes in drawn.flat[count:]:
        axes.set_visible(False)
    for axes in drawn[:, 0]:
        axes.set_ylabel("mean best EP")
    for axes in drawn.flat[max(0, count - columns) : count]:
        axes.set_xlabel("episodes")
    legend(figure, entries)
    return figure


def _panel(
    axes: Axes, outcome: ProblemOutcome, lines: Mapping[str, tuple[str, str, str]], begin: int, first: int
) -> None:
    """Draw the curves of a task, with room for all means from the first episode on that is named."""
    chance = outcome.tested[next(iter(lines))].chance_curve
    draw_curve(axes, chance, "chance", "chance", "-")
    for name, one in outcome.tested.items():
        draw_curve(axes, one.curve, *lines[name])
    title(axes, outcome.problem.title)
    episodes_axis(axes, chance)
    last = chance.episodes[-1]
    axes.set_xlim(begin if begin < last else 1, last)
    first = min(first, last)
    values = [
        value
        for curve in (chance, *(one.curve for one in outcome.tested.values()))
        for episodes, value in zip(curve.episodes, curve.mean, strict=True)
        if episodes >= first
    ]
    room = 0.08 * (max(values) - min(values)) or 1.0
    axes.set_ylim(min(values) - room, max(values) + room)
