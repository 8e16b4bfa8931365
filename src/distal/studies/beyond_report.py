"""The study beyond the paper as files: a page, a figure for each question, and all numbers.

beyond.md      the page, with the figures beside it
beyond.json    all numbers
figures/       the figures as SVG and PNG
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from distal.base.checks import counted
from distal.base.files import to_json
from distal.base.folders import for_report
from distal.base.significance import SIGNIFICANT
from distal.evaluation.measures import BEST, LAST
from distal.studies.beyond_answers import answer
from distal.studies.beyond_figures import CAPTIONS, figure_of
from distal.studies.beyond_numbers import Comparison, gain
from distal.studies.beyond_plan import (
    ADAPTED,
    CHANCE,
    CLIMBER,
    KINDS,
    LONG,
    LOST,
    MISSED,
    PHASES,
    REMEASURED,
    Pair,
    Question,
    Scale,
)
from distal.studies.beyond_study import BEYOND, HOLDS, REPORT, BeyondStudy, Outcome
from distal.studies.figures import own_style, render, standalone
from distal.studies.intervals import Interval
from distal.studies.wording import made_on, mean, p_value, percent, share, table_row
from distal.tasks.switching import BACK

_TITLE = "Beyond the paper"


def write(study: BeyondStudy, out: str | Path, beside: BeyondStudy | None = None) -> Path:
    """Write all files of a report; return the path of the page, with the answers of another study in it."""
    with for_report(out, HOLDS, REPORT) as folder:
        for outcome in study.outcomes:
            svg, png = draw(outcome, study.scale)
            folder.write_text(f"figures/beyond_{outcome.question.name}.svg", svg)
            folder.write_bytes(f"figures/beyond_{outcome.question.name}.png", png)
        folder.write_text("beyond.json", to_json(study.to_dict()) + "\n")
        folder.write_text("beyond.md", to_markdown(study, beside))
        return folder.file("beyond.md")


def draw(outcome: Outcome, scale: Scale) -> tuple[str, bytes]:
    """Draw the figure of a question as SVG, for light and for dark ground, and PNG."""
    with own_style():
        figure = figure_of(outcome, scale)
    svg, png = render(figure)
    return standalone(svg), png


# ------------------------------------------------------------------ tables


def score_words(of: str, scale: Scale) -> str:
    """Say what a score is."""
    return {
        BEST: f"best EP of {scale.episodes}",
        LAST: f"mean EP, last {scale.last} of {scale.episodes}",
        MISSED: f"share that miss, last {scale.last} of {scale.episodes}",
        f"{MISSED}{LONG}": f"share that miss, last {scale.last} of {scale.long:,}",
        ADAPTED: f"best EP, phases 2 to {PHASES}",
        LOST: "worse at the return",
        REMEASURED: "re-measured fitness",
    }[of]


COLUMNS = (
    "learner", "tested with", "measured by", "mean", "chance", "minus chance", "p", "minus hill climbing", "p",
)  # fmt: skip


def rows(outcome: Outcome, scale: Scale) -> Iterator[list[str]]:
    """Yield every learner in every world by every score, beside chance and hill climbing."""
    for pair, one in outcome.comparisons.items():
        if pair.other == CHANCE:
            case, values = outcome.question.case(pair.own), outcome.rows[pair.own].values
            climbing = _beside_climbing(outcome, pair)
            yield [
                case.words, case.world.words, score_words(pair.of, scale), mean(values[pair.of]),
                mean(values[f"{CHANCE}_{pair.of}"]), *_difference(one),
                *(("–", "–") if climbing is None else _difference(outcome.comparisons[climbing])),
            ]  # fmt: skip


def _beside_climbing(outcome: Outcome, pair: Pair) -> Pair | None:
    """Return the comparison of the same learner with hill climbing, if there is one."""
    found = (
        other
        for other in outcome.comparisons
        if (other.own, other.of) == (pair.own, pair.of) and other.other.startswith(f"{CLIMBER}_")
    )
    return next(found, None)


def _difference(one: Comparison) -> tuple[str, str]:
    return mean(one.gap.difference, sign=True), p_value(one.corrected)


def others(outcome: Outcome, scale: Scale) -> Iterator[list[str]]:
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


def winners(study: BeyondStudy, outcome: Outcome) -> Iterator[list[str]]:
    """Yield the winners of all runs of every evolution of a question."""
    for name, (kind, condition) in outcome.question.evolutions.items():
        evolution = study.evolutions[name]
        values = np.array(evolution.remeasured)
        measured = [
            f"{score_words(score, study.scale)}: {mean(Interval.mean(np.array(found)))}"
            for score, found in outcome.runs.get(name, {}).items()
            if score != REMEASURED
        ]
        yield [
            f"{KINDS[kind]} {condition.words}", str(len(values)), mean(Interval.mean(values)), f"{values.min():.2f}",
            *(["; ".join(measured) or "–"] if outcome.question.everyone else []),
        ]  # fmt: skip


def details(outcome: Outcome, scale: Scale) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield tables, heads and cells, of what else was counted: successes, phases, goals that return."""
    for moves in dict.fromkeys(world.moves for world in outcome.question.worlds):
        cases = [case for case in outcome.question.cases if case.world.moves == moves]
        if moves is None:
            yield _successes(outcome, scale)
        elif moves == BACK:
            heads = ["learner", "left with", "came back with", "found at first after", "found again after"]
            cells = [
                [
                    case.words, *(mean(outcome.rows[case.name].values[name]) for name in ("left", "returned")),
                    *(_median(outcome.rows[case.name].numbers[name]) for name in ("until_first", "until_again")),
                ]
                for case in cases
            ]  # fmt: skip
            yield heads, cells
        else:
            yield (
                [
                    "learner",
                    "phase",
                    "best EP",
                    "chance",
                    "reached",
                    "chance reached",
                    "found after",
                    "chance",
                ],
                [_phase(outcome, case.name, phase) for case in cases for phase in range(1, PHASES + 1)],
            )


def _phase(outcome: Outcome, name: str, phase: int) -> list[str]:
    values, numbers = outcome.rows[name].values, outcome.rows[name].numbers
    both = ("", f"{CHANCE}_")
    return [
        outcome.question.case(name).words, str(phase), *(mean(values[f"{who}best_{phase}"]) for who in both),
        *(share(values[f"{who}reached_{phase}"]) for who in both),
        *(_median(numbers[f"{who}until_{phase}"]) for who in both),
    ]  # fmt: skip


def _successes(outcome: Outcome, scale: Scale) -> tuple[list[str], list[list[str]]]:
    """Return how many trials reached the goal, how soon, and how often again."""
    heads = [
        "learner", "tested with", "episodes", "best EP", "of the way", "reached", "chance reached", "reached again",
        "chance", "first success after", "chance",
    ]  # fmt: skip
    cells, both = [], ("", f"{CHANCE}_")
    for case in outcome.question.cases:
        row = outcome.rows[case.name]
        ends = {"": scale.episodes, LONG: scale.long} if case.world.long else {"": scale.episodes}
        for end, episodes in ends.items():
            way = None if end else gain(row, case.world.place.perfect)
            cells.append(
                [
                    case.words, case.world.words, f"{episodes:,}", mean(row.values[f"{BEST}{end}"]), percent(way),
                    *(share(row.values[f"{who}reached{end}"]) for who in both),
                    *(percent(row.numbers[f"{who}retained{end}"]) for who in both),
                    *(_median(row.numbers[f"{who}first{end}"]) for who in both),
                ]
            )  # fmt: skip
    return heads, cells


def _median(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


# ------------------------------------------------------------------ the page


def command(study: BeyondStudy) -> str:
    """Return the command that makes the study."""
    return f"distal beyond --scale {study.scale.name} --seed {study.seed}"


def introduction(study: BeyondStudy) -> list[str]:
    """Say what was asked, how it was measured, and how far the numbers can be trusted."""
    scale = study.scale
    return [
        "The paper evolves rules for one maze, one size of network and one kind of neuron, and judges them by their best "
        "episode. Six questions lie beyond that. Each is answered by one sentence that is composed from the numbers."  ,
        f"In every condition, rules and hill climbing are evolved in {counted(scale.runs, 'run')} of "
        f"{counted(scale.generations, 'generation')}. The winner of each run is measured again on {scale.fresh} fresh trials, "
        f"and the one with the lowest fitness there stands for the condition. It was chosen by its luck too, so it is "
        f"tested once more: all numbers of learners below come from at least {scale.tested} trials that no search and no choice "
        "has seen, the same for all learners of a question. Chance is fresh random weights in every episode, in the same "
        "trials and with the learner’s own scales α. Lower is better throughout.",
        "Intervals are 95 %: bootstrap for means, Wilson’s for shares. Learners are compared by the paired t-test, the "
        "winners of all runs of two evolutions by the rank-sum test, for which a run is one number. All evolutions of a kind begin "
        "with the same random populations, run by run; that test does not use it, which makes it cautious if anything. Every p is "
        "corrected by Holm’s method for all comparisons of its question, those in all of its tables; where it is not below "
        f"{SIGNIFICANT}, the sentence says “not shown”.",
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


def to_markdown(study: BeyondStudy, beside: BeyondStudy | None = None) -> str:
    """Return the whole page, with the figures beside it in figures/ and the answers of another study."""
    text = [
        f"# {_TITLE}", "",
        f"Written by `{command(study)}{'' if beside is None else ' --beside FILE'}` (Distal {study.version}) on {made_on(study.machine, study.seconds)}.", "",
    ]  # fmt: skip
    if study.scale.name != "paper":
        text += [
            "**This is a reduced scale: evolution ends early here, and a longer one may find better rules.** "
            "`distal beyond --scale paper` runs it in full.",
            "",
        ]
    for paragraph in introduction(study):
        text += [paragraph, ""]
    text += ["## In short", ""]
    text += [f"- **{one.question.title}** {answer(one, study.scale)}" for one in study.outcomes]
    text.append("")
    if beside is not None:
        text += [
            "## The same, once more", "",
            f"What evolution finds depends on its luck. `{command(beside)}` (Distal {beside.version}) answers:", "",
            *(f"- **{one.question.title}** {answer(one, beside.scale)}" for one in beside.outcomes), "",
        ]  # fmt: skip
    for outcome in study.outcomes:
        text += _section(study, outcome)
    return "\n".join([*text, *_what_was_run(study)]) + "\n"


def _section(study: BeyondStudy, outcome: Outcome) -> list[str]:
    question, scale = outcome.question, study.scale
    text = [
        f"## {question.title}", "", notes(study)[question.name], "", _stressed(answer(outcome, scale)), "",
        f"![{question.title}](figures/beyond_{question.name}.svg)", "", CAPTIONS[question.name], "",
        *_table(COLUMNS, rows(outcome, scale)),
    ]  # fmt: skip
    for heads, cells in details(outcome, scale):
        text += _table(heads, cells)
    remaining = list(others(outcome, scale))
    if remaining:
        text += ["Other comparisons:", ""]
        text += _table(("this", "minus this", "measured by", "difference", "p"), remaining)
    text += ["The winners of all runs:", ""]
    columns = ["evolution", "runs", "mean re-measured fitness", "lowest"]
    columns += ["all of them in one test"] if question.everyone else []
    return [*text, *_table(columns, winners(study, outcome))]


def _stressed(sentence: str) -> str:
    """Return an answer with what comes before its first semicolon in bold."""
    first, semicolon, more = sentence.partition(";")
    return f"**{first}**{semicolon}{more}"


def _table(heads: Sequence[str], cells: Iterator[list[str]] | list[list[str]]) -> list[str]:
    return [table_row(heads), "|---|" + "---:|" * (len(heads) - 1), *map(table_row, cells), ""]


def _what_was_run(study: BeyondStudy) -> list[str]:
    """Return the budget and the seeds."""
    scale = study.scale
    return [
        "## What was run", "",
        f"{counted(len(study.evolutions), 'evolution')} of {counted(scale.runs, 'run')} and {counted(scale.generations, 'generation')}, "
        f"judged on {scale.trials} trials of {scale.episodes} episodes (under change three phases of {scale.episodes}); "
        f"winners measured again on {scale.fresh} trials; tests of {scale.tested} trials of {scale.episodes} episodes, of "
        f"{scale.long:,} for what is kept, and of {PHASES} phases of {scale.episodes} where goals move. Trials are for all goals "
        "of a maze together, and rounded up to as many for each.", "",
        f"All random numbers come from seed {study.seed}: the evolutions as those of `distal evolve --seed {study.seed}`, the "
        f"tests of question *k* (from 0, as listed) from part (k, 0, {BEYOND}), which nothing else uses. Trials were run by "
        f"engine {study.engine}, and by the next that could where it could not. `beyond.json`, beside this page, holds all "
        "numbers and the evolved rules.",
    ]  # fmt: skip
