"""The report of the study beyond the paper: verdicts, a figure and tables for each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from distal.base.checks import counted
from distal.base.significance import SIGNIFICANT
from distal.evaluation.measures import BEST, LAST
from distal.studies.beyond_figures import CAPTIONS, figure_of
from distal.studies.beyond_outcome import BeyondStudy, QuestionOutcome, gain
from distal.studies.beyond_plan import (
    ADAPTED,
    BEYOND,
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
    made_on,
    mean,
    percent,
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
        found: list[Block] = [
            Text(
                f"Written by `{command(study)}{'' if beside is None else ' --beside FILE'}` (Distal {study.version}) on "
                f"{made_on(study.machine, study.seconds)}. Scale paper has as many runs and generations as the paper; with fewer, "
                "evolution ends early, and a longer one may find better rules."
            ),
            *map(Text, introduction(scale)), Heading("In short"), *self.summary(),
        ]  # fmt: skip
        if beside is not None:
            words = f"What evolution finds depends on its luck. The verdicts of `{command(beside)}` (Distal {beside.version}):"
            tables = map(partial(verdicts, scale=beside.scale), beside.outcomes)
            found += [Heading("The same, once more"), Text(words), *tables]
        for outcome in study.outcomes:
            question = outcome.question
            figure = partial(figure_of, outcome, scale)
            found += [
                Heading(question.title), Text(notes(study)[question.name]),
                Figure(f"beyond_{question.name}", *CAPTIONS[question.name], figure),
                Sheet("Beside chance and hill climbing", "", COLUMNS, list(rows(outcome, scale))),
                *details(outcome, scale),
            ]  # fmt: skip
            remaining = list(others(outcome, scale))
            if remaining:
                columns = ("this", "minus this", "measured by", "difference", "verdict")
                found.append(Sheet("Other comparisons", "", columns, remaining))
            found.append(winners(study, outcome))
        return [*found, Heading("What was run"), *map(Text, _what_was_run(study))]


def score_words(of: str, scale: Scale) -> str:
    """Say what a score is."""
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
    f"The number of comparisons in which the first are better, in which neither is shown, and in which they are worse. Shown: "
    f"p < {SIGNIFICANT}, corrected by Holm’s method for all comparisons of the question. Elsewhere: in a maze or network that the "
    "learner was not evolved for."
)


def verdicts(outcome: QuestionOutcome, scale: Scale) -> Sheet:
    """Return how many comparisons of each sort show something."""
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
    """Yield every learner in every world by every score, beside chance and hill climbing."""
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
    """Yield tables of what else was counted: successes, phases, goals that return."""
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
    """Return how many trials reached the goal, how soon, and how often again."""
    columns = [
        "learner", "tested with", "episodes", "best EP", "of the way", "reached", "chance reached", "reached again",
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


# ------------------------------------------------------------------ what is said whatever comes out


def command(study: BeyondStudy) -> str:
    """Return the command that makes the study."""
    return f"distal beyond --scale {study.scale.name} --seed {study.seed}"


def introduction(scale: Scale) -> list[str]:
    """Say what was asked, how it was measured, and how far the numbers can be trusted."""
    return [
        "The paper evolves rules for one maze, one size of network and one kind of neuron, and judges them by their best "
        "episode. Six questions lie beyond that.",
        f"In every condition, rules and hill climbing are evolved in {counted(scale.runs, 'run')} of "
        f"{counted(scale.generations, 'generation')}. The winner of each run is measured again on {scale.fresh} fresh trials, "
        f"and the one with the lowest fitness there stands for the condition. It was chosen by its luck too, so it is "
        f"tested once more: all numbers of learners below come from at least {scale.tested} trials that no search and no choice "
        "has seen, the same for all learners of a question. Chance is fresh random weights in every episode, in the same "
        "trials and with the learner’s own scales α. Lower is better throughout.",
        "Intervals are 95 %: bootstrap for means, Wilson’s for shares. Learners are compared by the paired t-test, the "
        "winners of all runs of two evolutions by the rank-sum test, for which a run is one number. All evolutions of a kind begin "
        "with the same random populations, run by run; that test does not use it, which makes it cautious if anything. Every p is "
        "corrected by Holm’s method for all comparisons of its question, those in all of its tables.",
    ]  # fmt: skip


def notes(study: BeyondStudy) -> dict[str, str]:
    """Say what a reader of each question needs to know."""
    scale = study.scale
    return {
        "neurons": "A sigmoid neuron gives the logistic function of its sum on to others, and counts as active for the "
        "traces where its sum is above 0. Outputs are as in the paper.",
        "network": "Rules and climbers hold no weights, so those of one network can be used in any other. The traces and "
        "the rule do not grow with the network.",
        "maze": "Steps are scaled: an episode has as many as keep the paper’s ratio of 100 steps to a shortest way of 38.5, "
        + "rounded up: "
        + ", ".join(
            f"{world.place.settings.steps} steps for {world.words} (shortest way {world.place.perfect:g})"
            for world in study.outcomes[2].question.worlds
        )
        + ". “Of the way” is how far a learner comes from chance (0 %) to the shortest way (100 %).",
        "keeping": f"Evolution judges a trial of {scale.episodes} episodes by its best EP (the paper), by the mean EP of its last "
        f"{scale.last} episodes, or by the mean EP of all. A low EP is not yet a goal that is reached, so the share of the last episodes that miss it is measured too. “Reached again” is the share of the episodes after a trial’s first "
        "success that reach the goal again; a first success is the median over all trials, and a dash where most had none.",
        "change": f"Every {scale.episodes} episodes the goal moves to another final position. The network goes on with the weights "
        "that it has; hill climbing goes on from its best weights. “Started anew” draws fresh weights at every move, as "
        "somebody would who knows when goals move. In another test two goals take turns: what is left of a goal when it "
        "returns is seen in the first episode of the phase. Evolution under change judges three phases.",
        "transfer": "Every rule is tested in every maze of the question before, with the steps of that maze.",
    }  # fmt: skip


def _what_was_run(study: BeyondStudy) -> list[str]:
    """Return the budget and the seeds."""
    scale = study.scale
    return [
        f"{counted(len(study.evolutions), 'evolution')} of {counted(scale.runs, 'run')} and {counted(scale.generations, 'generation')}, "
        f"judged on {scale.trials} trials of {scale.episodes} episodes (under change three phases of {scale.episodes}); "
        f"winners measured again on {scale.fresh} trials; tests of {scale.tested} trials of {scale.episodes} episodes, of "
        f"{scale.long:,} for what is kept, and of {PHASES} phases of {scale.episodes} where goals move. Trials are for all goals "
        "of a maze together, and rounded up to as many for each.",
        f"All random numbers come from seed {study.seed}: the evolutions as those of `distal evolve --seed {study.seed}`, the "
        f"tests of question *k* (from 0, as listed) from part (k, 0, {BEYOND}), which nothing else uses. Trials were run by "
        f"engine {study.engine}, and by the next that could where it could not. `beyond.json`, beside this page, holds all "
        "numbers and the evolved rules.",
    ]  # fmt: skip
