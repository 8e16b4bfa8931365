"""The study of tasks as files: a page, a figure, and all numbers.

tasks.md      the page, with the figure beside it
tasks.json    all numbers
figures/      the figure as SVG and PNG
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distal.base.checks import counted
from distal.base.files import to_json
from distal.base.folders import for_report
from distal.base.significance import SIGNIFICANT
from distal.evaluation.behaviour import KEPT
from distal.studies.figures import blank, draw_curve, own_style, render, standalone
from distal.studies.intervals import Curve, Gap, Interval, Measured
from distal.studies.task_study import (
    CLIMBER,
    HOLDS,
    LEARNERS,
    MAZE_CLIMBER,
    MAZE_RULE,
    REPORT,
    RULE,
    TASKS,
    Outcome,
    TaskStudy,
)
from distal.studies.wording import made_on, mean, p_value, percent, share, signed, table_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TITLE = "Does it learn there?"


def write(study: TaskStudy, out: str | Path) -> Path:
    """Write all files of a report; return the path of the page."""
    with for_report(out, HOLDS, REPORT) as folder:
        svg, png = draw(study)
        folder.write_text("figures/tasks.svg", svg)
        folder.write_bytes("figures/tasks.png", png)
        folder.write_text("tasks.json", to_json(study.to_dict()) + "\n")
        folder.write_text("tasks.md", to_markdown(study))
        return folder.file("tasks.md")


# ------------------------------------------------------------------ what it says


def introduction(study: TaskStudy) -> list[str]:
    """Say what was asked, how it was measured, and how far the numbers can be trusted."""
    table = study.outcomes[0].budget
    tests = sum(len(tested.marks) for outcome in study.outcomes for tested in outcome.tested.values())
    return [
        "Rules of this kind were invented for one maze. Here they are evolved for other tasks, and measured beside "
        "hill climbing that was evolved for the same task, beside the rule and the climber of the maze "
        "(`evolved:1` and `hc`), and beside chance: fresh random weights in every episode, with the learner’s own "
        "scales α and in the same trials. Chance differs from row to row because the scales do; where the chance of one row "
        "is better than the learner of another, the scales alone do more than that learner does.",
        "Every number is a mean *best* EP so far, and lower is better. Chance falls too, because the best of many tries "
        "is kept: a learner that is not below chance shows nothing. *Kept* is the share of the episodes after a "
        f"trial’s first success that succeed again; from {KEPT:.0%} on we say that a learner keeps what it found.",
        f"Evolution is judged after {counted(table.episodes, 'episode')}, by {table.runs} runs of each kind and "
        f"{table.generations} generations. The winner of each run is measured again on fresh trials, and the best of "
        "these is chosen. It was chosen by its luck too, so it is measured once more: all numbers below are from trials "
        "that no search and no choice has seen, the same for all learners of a task.",
        f"Intervals are 95 %: bootstrap for means, Wilson’s for shares. p is from the paired t-test and is not corrected "
        f"for the number of tests: of {tests} comparisons with chance, about {tests * SIGNIFICANT:.0f} would be below "
        f"{SIGNIFICANT} if nothing learned.",
    ]  # fmt: skip


def summary(study: TaskStudy) -> str:
    """Say in how many tasks the rule that was evolved for it beats chance and hill climbing, and keeps it."""
    said = []
    first = study.outcomes[0].tested[RULE].marks[0].episodes
    for place, when in ((0, f"After {first} episodes"), (-1, "At the end of the test")):
        chance = sum(bool(outcome.tested[RULE].marks[place].gap.better) for outcome in study.outcomes)
        versus = [outcome.versus[place].better for outcome in study.outcomes]
        said.append(
            f"{when} a rule evolved for the task beats chance in {chance} of {len(study.outcomes)} tasks; it beats hill "
            f"climbing evolved for the task in {versus.count(True)} and is worse in {versus.count(False)}."
        )
    kept = sum(_keeps(outcome.tested[RULE].marks[-1]) for outcome in study.outcomes)
    return f"{' '.join(said)} It keeps what it found in {kept or 'none'}."


def finding(outcome: Outcome) -> str:
    """Say whether a rule beats chance and hill climbing in a task, and keeps what it found."""
    marks = outcome.tested[RULE].marks
    words = [
        f"after {mark.episodes:,} episodes {who} {_verdict(mark.gap, 'chance')} and "
        f"{_verdict(versus, 'hill climbing evolved for it')}"
        for mark, versus, who in zip(marks, outcome.versus, ("a rule evolved for it", "it"), strict=False)
    ]
    nothing = not any(mark.gap.better for tested in outcome.tested.values() for mark in tested.marks)
    said = "; ".join(words)
    said = f"Nothing beats chance here: {said}" if nothing else f"{said[0].upper()}{said[1:]}"
    return f"{said}. {_kept(marks[-1])} {_transferred(outcome)}"


def _verdict(gap: Gap, other: str) -> str:
    if gap.difference == Interval(0, 0, 0):
        return f"equals {other} in every trial"
    numbers = f"({signed(gap.difference.value)}, {p_value(gap.p, word=True)})"
    if gap.better is None:
        return f"cannot be told from {other} {numbers}"
    return f"{'beats' if gap.better else 'is worse than'} {other} {numbers}"


def _keeps(mark: Measured) -> bool:
    return mark.retained is not None and mark.retained >= KEPT


def _kept(mark: Measured) -> str:
    if mark.retained is None:
        return "It never succeeded, so there is nothing to keep."
    chance = "" if mark.chance_retained is None else f" (chance {mark.chance_retained:.1%})"
    return (
        f"It {'keeps' if _keeps(mark) else 'does not keep'} what it found: {mark.retained:.1%} of the episodes "
        f"after the first success succeed again{chance}."
    )


def _transferred(outcome: Outcome) -> str:
    """Say which learners of the maze beat chance at the end."""
    verdicts = {
        name: outcome.tested[key].marks[-1].gap.better
        for name, key in (("`evolved:1`", MAZE_RULE), ("`hc`", MAZE_CLIMBER))
    }
    said = []
    for verdict, one, both in (
        (True, "beats chance", "beat chance"),
        (False, "is worse than chance", "are worse than chance"),
        (None, "cannot be told from chance", "cannot be told from chance"),
    ):
        names = [name for name, better in verdicts.items() if better is verdict]
        if names:
            said.append(f"{' and '.join(names)} {one if len(names) == 1 else both}")
    return f"Of the maze’s learners, {' and '.join(said)} at the end."


COLUMNS = (
    "learner", "episodes", "mean best EP", "chance", "difference", "p", "reached", "chance reached", "kept",
    "chance kept",
)  # fmt: skip


def rows(outcome: Outcome) -> Iterator[list[str]]:
    """Yield the table of a task: every learner after every number of episodes."""
    for name, tested in outcome.tested.items():
        for mark in tested.marks:
            yield [
                LEARNERS[name][0], f"{mark.episodes:,}", mean(mark.best), mean(mark.chance),
                mean(mark.gap.difference, sign=True), p_value(mark.gap.p), share(mark.reached),
                share(mark.chance_reached), percent(mark.retained), percent(mark.chance_retained),
            ]  # fmt: skip


# ------------------------------------------------------------------ the figure

# How each line is drawn: the learner, its label, its colour and its style.
_LINES = (
    (RULE, "rule evolved for it", "dsp", "-"),
    (CLIMBER, "hill climbing evolved for it", "hc", "-"),
    (MAZE_RULE, "rule of the maze (evolved:1)", "dsp_resampled", "--"),
    (MAZE_CLIMBER, "hill climbing of the maze (hc)", "hc_resampled", "--"),
)
_CAPTION = (
    "Mean best EP so far in each task, lower is better; bands are 95 % intervals (1.96 standard errors). Grey: "
    "chance in the same trials, with the scales of the rule evolved for it. The panels show the range from the tenth "
    "episode on; what was worse before is cut off at the top."
)  # fmt: skip


def draw(study: TaskStudy) -> tuple[str, bytes]:
    """Draw the figure as SVG, for light and for dark ground, and PNG."""
    with own_style():
        figure = figure_of(study)
    svg, png = render(figure)
    return standalone(svg), png


def figure_of(study: TaskStudy) -> Figure:
    """Draw the mean best EP so far, a panel for each task."""
    height = -(-len(study.outcomes) // 3)
    figure = blank(7.6, 2.2 * height + 0.6)
    panels: Any = figure.subplots(height, 3, squeeze=False)
    for position, outcome in enumerate(study.outcomes):
        axes = panels[position // 3, position % 3]
        _panel(axes, outcome)
        if position % 3 == 0:
            axes.set_ylabel("mean best EP")
        if position // 3 == height - 1:
            axes.set_xlabel("episodes")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def _panel(axes: Axes, outcome: Outcome) -> None:
    chance = outcome.tested[RULE].chance_curve
    drawn = [chance]
    draw_curve(axes, chance, "chance", "chance", "-")
    for name, label, colour, style in _LINES:
        curve = outcome.tested[name].curve
        drawn.append(curve)
        draw_curve(axes, curve, label, colour, style)
    axes.set_title(outcome.world.title, loc="left", fontsize=9)
    axes.set_xscale("log")
    axes.set_xlim(1, chance.episodes[-1])
    marks = [10**power for power in range(5) if 10**power <= chance.episodes[-1]]
    axes.set_xticks(marks, [f"{mark:,}" for mark in marks])
    axes.set_ylim(*_limits(drawn))


def _limits(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the range of all means from the tenth episode on, or of the last if there are no more."""
    first = min(10, curves[0].episodes[-1])
    values = [
        value
        for curve in curves
        for episodes, value in zip(curve.episodes, curve.mean, strict=True)
        if episodes >= first
    ]
    room = 0.08 * (max(values) - min(values)) or 1.0
    return min(values) - room, max(values) + room


# ------------------------------------------------------------------ the page


def command(study: TaskStudy) -> str:
    """Return the command that makes the study."""
    return f"distal tasks --scale {study.scale} --seed {study.seed}"


def to_markdown(study: TaskStudy) -> str:
    """Return the whole page, with the figure beside it in figures/."""
    text = [
        f"# {_TITLE}", "", f"Written by `{command(study)}` (Distal {study.version}) on {made_on(study.machine, study.seconds)}.", "",
    ]  # fmt: skip
    if study.scale != "full":
        text += [
            "**This is a reduced scale: evolution ends early here, and a longer one may find better rules.**",
            "",
        ]
    for paragraph in introduction(study):
        text += [paragraph, ""]
    text += ["## What the numbers say", "", summary(study), ""]
    text += [f"- **{outcome.world.title}.** {finding(outcome)}" for outcome in study.outcomes]
    text += ["", "![Mean best EP so far, a panel for each task](figures/tasks.svg)", "", _CAPTION, ""]
    text += ["## Every task", ""]
    for outcome in study.outcomes:
        text += _section(outcome)
    return "\n".join([*text, *_what_was_run(study)]) + "\n"


def _section(outcome: Outcome) -> list[str]:
    world = outcome.world
    text = [f"### {world.title}", ""]
    text += [f"Success: {world.success}. {world.remark}".rstrip(), ""]
    text += [table_row(COLUMNS), "|---|" + "---:|" * (len(COLUMNS) - 1)]
    return [*text, *map(table_row, rows(outcome)), ""]


def _what_was_run(study: TaskStudy) -> list[str]:
    """Return the budgets of all tasks and the seeds."""
    heads = (
        "task", "inputs", "actions", "goals", "steps", "evolution", "trials × episodes of an evaluation",
        "re-measured on", "tested on trials × episodes", "engine",
    )  # fmt: skip
    text = ["## What was run", "", table_row(heads), "|---|" + "---:|" * (len(heads) - 2) + "---|"]
    for outcome in study.outcomes:
        budget = outcome.budget
        sizes = (outcome.inputs, outcome.outputs, outcome.goals, outcome.steps)
        text.append(
            table_row(
                (
                    outcome.world.title, *map(str, sizes),
                    f"{counted(budget.runs, 'run')} of {counted(budget.generations, 'generation')}",
                    f"{budget.trials} × {budget.episodes}", str(budget.fresh),
                    f"{budget.tested} × {budget.long:,}", outcome.engine,
                )
            )
        )  # fmt: skip
    return [
        *text, "",
        "Trials are for all goals of a task together, and rounded up to as many for each. Both kinds of learners "
        "have the same budget.", "",
        f"All random numbers come from seed {study.seed}: the evolutions as those of `distal evolve --seed "
        f"{study.seed}`, the tests of task *t* (from 0, as listed) from part (t, 0, {TASKS}), which nothing else "
        "uses. `tasks.json`, beside this page, holds all numbers and the evolved rules.",
    ]  # fmt: skip
