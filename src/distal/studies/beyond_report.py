"""The report of the study beyond the paper: verdicts, a figure and tables for each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from distal.base.significance import SIGNIFICANT
from distal.evaluation.measures import BEST, LAST
from distal.studies.beyond_figures import CAPTIONS, figure_of
from distal.studies.beyond_outcome import BeyondStudy, QuestionOutcome, gain
from distal.studies.beyond_plan import (
    ADAPTED,
    CHANCE,
    CLIMBER,
    KINDS,
    LONG,
    LOST,
    MISSED,
    PHASES,
    QUESTIONS,
    REMEASURED,
    Pair,
    Question,
)
from distal.studies.intervals import Corrected, Interval
from distal.studies.report import (
    VERDICTS,
    Block,
    Figure,
    Heading,
    Report,
    Sheet,
    Text,
    mean,
    percent,
    run_sheet,
    share,
    verdict,
)
from distal.studies.study import Scale
from distal.tasks.switching import BACK

_BOTH = ("", f"{CHANCE}_")  # before the name of a number: the learner's, and chance's


class BeyondReport(Report[BeyondStudy]):
    """The report of a study beyond the paper, with the verdicts of another one, if there is one."""

    holds: ClassVar[str] = "a study beyond the paper"
    of: ClassVar[type] = BeyondStudy
    title: ClassVar[str] = "Beyond the paper"
    page: ClassVar[str] = "beyond.md"
    data: ClassVar[str] = "beyond.json"
    figures: ClassVar[tuple[str, ...]] = tuple(f"beyond_{question.name}" for question in QUESTIONS)

    def __init__(self, outcome: BeyondStudy, beside: BeyondStudy | None = None) -> None:
        super().__init__(outcome)
        self.beside = beside

    def summary(self) -> Sequence[Sheet | Text]:
        """Return the verdicts on every question."""
        return [*map(partial(verdicts, scale=self.outcome.scale), self.outcome.outcomes), Text(_VERDICTS)]

    def blocks(self) -> Sequence[Block]:
        """Return the whole page."""
        study, beside, scale = self.outcome, self.beside, self.outcome.scale
        found: list[Block] = [Heading("In short"), *self.summary()]
        if beside is not None:
            tables = map(partial(verdicts, scale=beside.scale), beside.outcomes)
            found += [Heading("Another study"), *tables, _how(beside)]
        for outcome in study.outcomes:
            question = outcome.question
            figure = partial(figure_of, outcome, scale)
            found += [
                Heading(question.title),
                Figure(f"beyond_{question.name}", *CAPTIONS[question.name], figure),
                Sheet("Compared with chance and hill climbing", "", COLUMNS, list(rows(outcome, scale))),
                *details(outcome, scale),
            ]  # fmt: skip
            remaining = list(others(outcome, scale))
            if remaining:
                columns = ("this", "minus this", "measured by", "difference", "verdict")
                found.append(Sheet("Other comparisons", "", columns, remaining))
            found.append(winners(study, outcome))
        return [*found, Heading("Trials"), _places(study), _how(study)]


def score_words(of: str, scale: Scale) -> str:
    """Return the name of a score."""
    return {
        BEST: f"best EP of {scale.episodes}",
        LAST: f"mean EP, last {scale.last} of {scale.episodes}",
        MISSED: f"share missed, last {scale.last} of {scale.episodes}",
        f"{MISSED}{LONG}": f"share missed, last {scale.last} of {scale.long:,}",
        ADAPTED: f"best EP, phases 2 to {PHASES}",
        LOST: "worse at the return",
        REMEASURED: "re-measured fitness",
    }[of]


_VERDICTS = (
    f"Numbers of comparisons in which the learners are better, not shown to differ, and worse: p < {SIGNIFICANT} in the paired "
    "t-test, or in the rank-sum test of all runs, corrected by Holm’s method for all comparisons of the question. Elsewhere: in a "
    "maze or network that the learner was not evolved for. Lower is better. Chance: fresh random weights in every episode, in the same "
    "trials and with the learner’s own scales α. Intervals are 95%: bootstrap for means, Wilson’s for shares."
)


def verdicts(outcome: QuestionOutcome, scale: Scale) -> Sheet:
    """Return the number of comparisons of each sort that are better, not shown, and worse."""
    question = outcome.question

    def sort(pair: Pair) -> tuple[str, str, str]:
        if pair.runs:
            kind = question.evolutions[pair.own][0]
            return f"all runs of {_MANY[kind]}", "other runs", score_words(pair.of, scale)
        case = question.case(pair.own)
        kind = CHANCE if pair.other == CHANCE else question.case(pair.other).kind
        other = f"other {_MANY[kind]}" if kind == case.kind else _MANY[kind]
        return (
            f"{_MANY[case.kind]}{'' if case.at_home else ', elsewhere'}",
            other,
            score_words(pair.of, scale),
        )

    found: dict[tuple[str, str, str], Counter[bool | None]] = {}
    for pair, one in outcome.comparisons.items():
        found.setdefault(sort(pair), Counter())[one.better] += 1
    cells = [[*words, *(str(count[better]) for better in VERDICTS)] for words, count in found.items()]
    columns = ("learners", "against", "measured by", *VERDICTS.values())
    return Sheet(question.title, "", columns, cells)


_MANY = {"dsp": "rules", "hc": "hill climbing", CHANCE: CHANCE}

COLUMNS = (
    "learner", "tested with", "measured by", "mean", "chance", "minus chance", "verdict",
    "minus hill climbing", "verdict",
)  # fmt: skip


def rows(outcome: QuestionOutcome, scale: Scale) -> Iterator[list[str]]:
    """Yield every learner in every world by every score, with chance and hill climbing."""
    for pair, one in outcome.comparisons.items():
        if pair.other == CHANCE:
            case, values = outcome.question.case(pair.own), outcome.rows[pair.own].values
            climbing = _beside_climbing(outcome, pair)
            yield [
                case.words, case.world.words, score_words(pair.of, scale),
                *(mean(values[f"{who}{pair.of}"]) for who in _BOTH), *_difference(one),
                *(("–", "–") if climbing is None else _difference(outcome.comparisons[climbing])),
            ]  # fmt: skip


def _beside_climbing(outcome: QuestionOutcome, pair: Pair) -> Pair | None:
    """Return the comparison of the same learner with hill climbing, if there is one."""
    found = (
        other
        for other in outcome.comparisons
        if (other.own, other.of) == (pair.own, pair.of) and other.other.startswith(f"{CLIMBER}_")
    )
    return next(found, None)


def _difference(one: Corrected) -> tuple[str, str]:
    return mean(one.difference, sign=True), verdict(one)


def others(outcome: QuestionOutcome, scale: Scale) -> Iterator[list[str]]:
    """Yield the comparisons that are in no other table."""
    shown = {_beside_climbing(outcome, pair) for pair in outcome.comparisons if pair.other == CHANCE}
    for pair, one in outcome.comparisons.items():
        if pair.other != CHANCE and pair not in shown:
            names = [_name(outcome.question, name, pair.runs) for name in (pair.own, pair.other)]
            yield [*names, score_words(pair.of, scale), *_difference(one)]


def _name(question: Question, name: str, runs: bool) -> str:
    if runs:
        kind, condition = question.evolutions[name]
        return f"all runs: {KINDS[kind]} {condition.words}"
    case = question.case(name)
    return f"{case.words}, {case.world.words}" if len(question.worlds) > 1 else case.words


def winners(study: BeyondStudy, outcome: QuestionOutcome) -> Sheet:
    """Return the winners of all runs of every evolution of a question."""
    cells = []
    for name, (kind, condition) in outcome.question.evolutions.items():
        values = np.array(study.evolutions[name].remeasured)
        measured = [
            f"{score_words(score, study.scale)}: {mean(Interval.mean(np.array(found)))}"
            for score, found in outcome.runs.get(name, {}).items()
            if score != REMEASURED
        ]
        cells.append([
            f"{KINDS[kind]} {condition.words}", str(len(values)), mean(Interval.mean(values)), f"{values.min():.2f}",
            *(["; ".join(measured) or "–"] if outcome.question.everyone else []),
        ])  # fmt: skip
    columns = ["evolution", "runs", "mean re-measured fitness", "lowest"]
    columns += ["all of them in one test"] if outcome.question.everyone else []
    return Sheet("The winners of all runs", "", columns, cells)


def details(outcome: QuestionOutcome, scale: Scale) -> Iterator[Sheet]:
    """Yield the tables of successes, of phases, and of goals that return."""
    for moves in dict.fromkeys(world.moves for world in outcome.question.worlds):
        cases = [case for case in outcome.question.cases if case.world.moves == moves]
        if moves is None:
            yield _successes(outcome, scale)
            continue
        found = [
            (case.words, outcome.rows[case.name].values, outcome.rows[case.name].numbers) for case in cases
        ]
        if moves == BACK:
            columns = ["learner", "left with", "came back with", "found at first after", "found again after"]
            cells = [
                [
                    words, *(mean(values[name]) for name in ("left", "returned")),
                    *(_median(numbers[name]) for name in ("until_first", "until_again")),
                ]
                for words, values, numbers in found
            ]  # fmt: skip
            yield Sheet("Goals that return", "", columns, cells)
        else:
            columns = [
                "learner", "phase", "best EP", "chance", "reached", "chance reached", "found after", "chance",
            ]  # fmt: skip
            cells = [
                [
                    words, str(phase), *(mean(values[f"{who}best_{phase}"]) for who in _BOTH),
                    *(share(values[f"{who}reached_{phase}"]) for who in _BOTH),
                    *(_median(numbers[f"{who}until_{phase}"]) for who in _BOTH),
                ]
                for words, values, numbers in found
                for phase in range(1, PHASES + 1)
            ]  # fmt: skip
            yield Sheet("New goals, phase by phase", "", columns, cells)


def _successes(outcome: QuestionOutcome, scale: Scale) -> Sheet:
    """Return the share of trials that reached the goal, the first success, and retention."""
    columns = [
        "learner", "tested with", "episodes", "best EP", "of the distance", "reached", "chance reached", "reached again",
        "chance", "first success after", "chance",
    ]  # fmt: skip
    cells = []
    for case in outcome.question.cases:
        row = outcome.rows[case.name]
        for end, episodes in {"": scale.episodes, **({LONG: scale.long} if case.world.long else {})}.items():
            way = None if end else gain(row, case.world.place.perfect)
            cells.append([
                case.words, case.world.words, f"{episodes:,}", mean(row.values[f"{BEST}{end}"]), percent(way),
                *(share(row.values[f"{who}reached{end}"]) for who in _BOTH),
                *(percent(row.numbers[f"{who}retained{end}"]) for who in _BOTH),
                *(_median(row.numbers[f"{who}first{end}"]) for who in _BOTH),
            ])  # fmt: skip
    return Sheet("Successes", "", columns, cells)


def _median(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


# ------------------------------------------------------------------ how it was run


def _places(study: BeyondStudy) -> Sheet:
    """Return the steps and the shortest path of every maze."""
    worlds = next(one.question.worlds for one in study.outcomes if one.question.name == "maze")
    rows = [[world.words, f"{world.place.settings.steps}", f"{world.place.perfect:g}"] for world in worlds]
    caption = "Steps keep the paper’s ratio of 100 steps to a shortest path of 38.5, rounded up."
    return Sheet("Mazes", caption, ("maze", "steps of an episode", "shortest path, mean"), rows)


def _how(study: BeyondStudy) -> Sheet:
    """Return the table of how a study was run."""
    command = f"distal beyond --scale {study.scale.name} --seed {study.seed}"
    more = ("evolutions", str(len(study.evolutions))), ("phases where goals move", str(PHASES))
    return run_sheet(study, command, "beyond", study.scale.to_dict(), *more, ("engine", study.engine))
