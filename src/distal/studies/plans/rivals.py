"""Compare the paper's table with other rules and with black-box optimisers.

For five tasks, every kind of learner is evolved with the same budget of episodes and the paper's
search. Each winner is tested in trials that no search has seen, with chance, and again with one
reward in ten flipped. All learners of a task have the same trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Unpack

from distal.base.checks import counted
from distal.engines.batch import EPs
from distal.evaluation.trials import settings_in
from distal.learners import chance_for
from distal.model.draws import child_seed
from distal.model.maze import maze
from distal.studies.finished import Finished
from distal.studies.intervals import Corrected, Gap, Interval
from distal.studies.problems import PROBLEMS as ALL
from distal.studies.problems import Problem
from distal.studies.registry import register
from distal.studies.report import Sheet, Text, mean, minus, percent, run_sheet, share, verdict
from distal.studies.stages import Stage, Stages
from distal.studies.study import RunOptions, Scale, Scaled
from distal.studies.tested import FigureLine, Planned, ProblemOutcome, ProblemsReport, Tested, about
from distal.tasks.mazes import MazeTask
from distal.tasks.sources import task_of

MARKS = (100, 1_000, 10_000)  # episodes after which learners are compared
RIVALS = 10  # the last number of the part that seeds of the study come from; the first is the task
FLIP = 0.1  # the share of rewards that are turned round in the test of robustness
TABLE = "dsp"  # the kind that all others are compared with

_BY_NAME = {problem.name: problem for problem in ALL}
PROBLEMS = (
    replace(_BY_NAME["t_maze_3"], name="triple_t", title="Triple T-maze", remark=""),
    Problem(
        "narrow_t", "Narrow T-maze", lambda: MazeTask(maze("narrow-t")), 99,
        "the goal is reached in fewer than 100 steps, pits counted",
    ),
    _BY_NAME["cliff_walking"],
    _BY_NAME["frozen_lake_8x8"],
    Problem(
        "cart_pole", "CartPole, compiled", partial(task_of, "compiled:CartPole"), -475,
        "the pole stands for 475 of 500 steps", "The EP is minus the steps that the pole stands.",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Kind(FigureLine):
    """A kind of learner in the study: its line in the figure, and the engine that has to run it, if any."""

    engine: str | None = "steps"


KINDS = {
    TABLE: Kind("table of 32 rows (the paper’s)", "dsp", engine=None),
    "eligibility": Kind("eligibility traces", "goal"),
    "online": Kind("online Hebbian", "positive", "--"),
    "neuron": Kind("neuron-centric", "paper"),
    "hc": Kind("hill climbing", "hc", engine=None),
    "es": Kind("(1+1) evolution strategy", "start", engine=None),
    "cma": Kind("separable CMA-ES", "other", "--"),
}


# ------------------------------------------------------------------ numbers


@dataclass(frozen=True)
class Rival(Tested):
    """A learner in a task.

    `versus` compares it with the table after each number of episodes; p is corrected for all comparisons
    in the task. `flipped` is its mean best EP where rewards are turned round.
    """

    FIRST: ClassVar[tuple[str, ...]] = ("learner", "run", "remeasured", "marks", "flipped", "versus")

    flipped: tuple[Interval, ...]
    versus: tuple[Corrected, ...]


@dataclass(frozen=True)
class RivalOutcome(ProblemOutcome):
    """The measurements in a task, by the kind of learner."""

    LEARNERS: ClassVar[Mapping[str, object]] = KINDS

    tested: dict[str, Rival]


@dataclass(frozen=True)
class RivalStudy(Finished):
    """The results of the study of rivals.

    Attributes:
        version: The version of Distal.
        scale: The scale:  "quick", "middle" or "paper".
        budget: The budget of that scale.
        seed: The seed.
        machine: A description of the machine.
        seconds: The time of each stage.
        outcomes: The measurements in each task.
    """

    FORMAT: ClassVar[tuple[str, int]] = ("distal-rivals", 1)
    HOLDS: ClassVar[str] = "study of rivals"
    KEYS: ClassVar[Mapping[str, str]] = {"version": "distal", "outcomes": "tasks"}

    scale: str
    budget: Scale
    outcomes: tuple[RivalOutcome, ...]

    @classmethod
    def _known(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Return the numbers of each task."""
        return {"outcomes": RivalOutcome.of_each(data["tasks"], PROBLEMS)}


# ------------------------------------------------------------------ the report


class RivalsReport(ProblemsReport[RivalStudy]):
    """The report of a study of rivals."""

    holds: ClassVar[str] = "a study of rivals"
    of: ClassVar[type] = RivalStudy
    title: ClassVar[str] = "The table and its rivals"
    page: ClassVar[str] = "rivals.md"
    data: ClassVar[str] = "rivals.json"
    figures: ClassVar[tuple[str, ...]] = ("rivals",)
    lines: ClassVar[Mapping[str, FigureLine]] = KINDS
    begin: ClassVar[tuple[int, int]] = (10, 30)
    columns: ClassVar[tuple[int, int]] = (2, 4)

    def summary(self) -> Sequence[Sheet | Text]:
        """Return the mean best EP of every learner in every task, after the last number of episodes."""
        last = self.outcome.outcomes[0].tested[TABLE].marks[-1].episodes
        rows = [
            [
                outcome.problem.title, KINDS[name].label, minus(f"{one.marks[-1].best.value:.2f}"),
                minus(f"{one.marks[-1].chance.value:.2f}"), verdict(one.marks[-1].gap),
                "" if name == TABLE else verdict(one.versus[-1]), percent(one.marks[-1].retained),
            ]
            for outcome in self.outcome.outcomes
            for name, one in outcome.tested.items()
        ]  # fmt: skip
        return [
            Sheet(
                f"Mean best EP after {counted(last, 'episode')}",
                "Comparisons with the table have p corrected by Holm’s method for all comparisons in the task.",
                ("task", "learner", "best EP", "chance", "vs. chance", "vs. the table", "kept"), rows,
                grouped=True,
            )
        ]  # fmt: skip

    def sheet(self, outcome: RivalOutcome) -> Sheet:
        """Return the table of a task: every learner after every number of episodes."""
        rows = [
            [
                KINDS[name].label, f"{mark.episodes:,}", mean(mark.best), mean(mark.chance), verdict(mark.gap),
                "" if name == TABLE else f"{mean(versus.difference, sign=True)}, {verdict(versus)}",
                share(mark.reached), percent(mark.retained), percent(mark.chance_retained), mean(flipped),
            ]
            for name, one in outcome.tested.items()
            for mark, versus, flipped in zip(one.marks, one.versus, one.flipped, strict=True)
        ]  # fmt: skip
        columns = (
            "learner", "episodes", "mean best EP", "chance", "against chance", "minus the table", "reached",
            "kept", "chance kept", "flipped",
        )  # fmt: skip
        flipped = f"Flipped: the mean best EP when {FLIP:.0%} of the rewards are flipped."
        return Sheet(outcome.problem.title, f"{outcome.problem.caption} {flipped}", columns, rows)

    @property
    def how(self) -> Sheet:
        """The table of how the study was run."""
        study = self.outcome
        command = f"distal rivals --scale {study.scale} --seed {study.seed}"
        return run_sheet(study, command, "rivals", study.budget.to_dict())


# ------------------------------------------------------------------ the study


@register
@dataclass(frozen=True, kw_only=True)
class Rivals(Scaled[RivalStudy]):
    """The study of rivals."""

    name: ClassVar[str] = "rivals"
    about: ClassVar[str] = (
        "Evolve the paper's table, eligibility traces, online and neuron-centric Hebbian rules, hill climbing, an "
        "evolution strategy and CMA-ES for five tasks with the same budget, compare the winners with chance in "
        "paired trials, and write a report. Stages are stored; the same command again runs only the missing ones."
    )
    file: ClassVar[str] = "rival-study.json"
    format: ClassVar[str] = "distal-rival-study"
    report_class: ClassVar[type[RivalsReport]] = RivalsReport
    SCALES: ClassVar[dict[str, Scale]] = {
        "quick": Scale(
            "quick", runs=2, generations=12, trials=16, episodes=100, fresh=160, tested=80, long=1_000,
            about="less than ten minutes on two cores",
        ),
        "middle": Scale(
            "middle", runs=4, generations=40, trials=16, episodes=100, fresh=160, tested=80, long=10_000,
            about="about half an hour",
        ),
        "paper": Scale(
            "paper", runs=15, generations=300, trials=40, episodes=100, fresh=400, tested=400, long=10_000,
            about="about a day",
        ),
    }  # fmt: skip

    @cached_property
    def planned(self) -> list[Planned]:
        """The tasks, with the budget of each."""
        made = ((problem, problem.make()) for problem in PROBLEMS)
        return [Planned(problem, task, settings_in(task, {}), self.size, None) for problem, task in made]

    @cached_property
    def plan(self) -> list[Stage]:
        """The stages of all tasks."""
        return [stage for one in self.planned for stage in self._stages(one)]

    @staticmethod
    def _stages(one: Planned) -> list[Stage]:
        """Return the stages of a task: every kind is evolved, and its winner tested three times."""
        found = []
        for name, kind in KINDS.items():
            engine = kind.engine if one.task.table(one.settings) is not None else "steps"
            by_chance = engine if kind.engine else None
            found += [
                one.evolution(name, kind.label, engine),
                one.stage("test", name, f"test {kind.label}", name, engine),
                one.stage("chance", name, "chance beside it", "chance", by_chance),
                one.stage("flipped", name, "rewards turned round", name, "steps"),
            ]
        return found

    def run_stages(self, stages: Stages) -> RivalStudy:
        """Run all stages that are missing."""
        outcomes = tuple(self._outcome(stages, *each) for each in enumerate(self.planned))
        return RivalStudy(scale=self.scale, budget=self.size, outcomes=outcomes, **self.made(stages))

    def _outcome(self, stages: Stages, position: int, one: Planned) -> RivalOutcome:
        """Run all stages of a task, and sum them up."""
        problem = one.problem
        # All learners have the same trials, so that any two can be compared in pairs.
        seed = child_seed(self.seed, position, 0, RIVALS)
        marks = [mark for mark in MARKS if mark <= one.budget.long]
        winners, eps, by_chance, flipped = {}, {}, {}, {}
        for name in KINDS:
            winners[name] = best = one.evolved(stages, name, self.seed)
            test, where = partial(one.test, stages, seed=seed), f"{name}_{problem.name}"
            eps[name] = test(f"test_{where}", best.learner)
            by_chance[name] = test(f"chance_{where}", chance_for(best.learner))
            flipped[name] = test(f"flipped_{where}", best.learner, flip=FLIP)
        versus = self._versus(eps, marks)
        found = {
            name: Rival.of(
                (winner.learner, winner.run, winner.remeasured), eps[name], by_chance[name], marks,
                problem.target, versus=versus[name],
                flipped=tuple(Interval.mean(flipped[name][:, :mark].min(axis=1)) for mark in marks),
            )
            for name, winner in winners.items()
        }  # fmt: skip
        return RivalOutcome(**about(one), tested=found)

    @staticmethod
    def _versus(eps: dict[str, EPs], marks: Sequence[int]) -> dict[str, tuple[Corrected, ...]]:
        """Compare every learner of a task with the table, and correct p for all that are compared."""
        pairs = [(name, mark) for name in eps for mark in marks]
        gaps = [Gap.of(*(eps[one][:, :mark].min(axis=1) for one in (name, TABLE))) for name, mark in pairs]
        others = [k for k, (name, _) in enumerate(pairs) if name != TABLE]
        corrected = dict(zip(others, Corrected.family([gaps[k] for k in others]), strict=True))
        found = [corrected.get(k, Corrected(gap.difference, gap.p, 1.0)) for k, gap in enumerate(gaps)]
        return {name: tuple(found[k] for k, (one, _) in enumerate(pairs) if one == name) for name in eps}


def study_rivals(scale: str = "quick", *, seed: int = 0, **how: Unpack[RunOptions]) -> RivalStudy:
    """Compare the paper's table with other rules and with black-box optimisers, in five tasks.

    `write_report` writes the report.

    Args:
        scale: "quick"; "middle" for three times as many generations, and tests of 10,000 episodes; or
            "paper" for as many runs and generations as the paper has.
        seed: The seed of all random numbers.
        **how: `engine`, `out`, `force` and `progress`, as in `reproduce`. Learners that the engine has no
            code for run on engine steps.

    Returns:
        One outcome for each task.

    Raises:
        InputError: If an argument is wrong, the folder cannot be used, or Gymnasium or cmaes is missing.
    """
    return Rivals(scale=scale, seed=seed).run(**how)
