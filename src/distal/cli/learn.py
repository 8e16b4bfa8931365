"""`distal learn`: train fresh networks with a rule or another learner, and compare it with chance."""

from __future__ import annotations

import argparse
import textwrap

from rich.console import Console
from rich.text import Text

from distal._version import __version__
from distal.base import memory
from distal.base.checks import InputError, counted
from distal.base.files import check_target, write_pieces
from distal.base.progress import LINES
from distal.base.significance import with_error
from distal.cli import Parser, options
from distal.cli.terminal import console, new_table, print_json, visible
from distal.evaluation import result_file
from distal.evaluation.behaviour import KEPT
from distal.evaluation.learn import learn
from distal.evaluation.result import Result
from distal.learners import name_of
from distal.learners.chance import Chance
from distal.model.readings import BINARY, READINGS, RECURRENT
from distal.networks import NETWORKS

NAME = 13  # columns of a learner's name at the head of a column; a longer one takes more lines
_MARKS = 6  # checkpoints of a curve that 80 columns hold
_PHASES = 12  # phases that are shown: the first, and the last
_AGAIN = "reached after first success"
_BETTER = {True: "yes", False: "no, it is worse", None: "not shown"}

Row = tuple[str, ...]  # of a table: its name, and a cell for each column


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = (
        "Train fresh networks with a rule, or another learner, and compare it with chance: random weights in "
        "every episode of trials with the same seeds."
    )
    options.add_result(command)
    options.add_learner(command)


def run(args: argparse.Namespace) -> None:
    """Train with a learner and show its result."""
    (learner,) = options.learners(args, args.rule)
    options.check_brief(args)
    if args.curves and not args.json:
        raise InputError("--curves is for --json; add it, or write a table with --csv FILE")
    if args.csv is not None:
        check_target(args.csv, rb"trial,(goal|final_position),")
    if args.save is not None:
        result_file.check_name(args.save)
    settings, task = options.settings(args), options.task(args)
    switch = options.switch(args, task)
    beside = not args.no_chance and learner.kind != Chance.kind
    if args.curves:
        memory.evaluation(
            args.trials * len(task.goals), args.episodes, curves=2 * (1 + beside) * (1 if task.whole else 2),
            listed=memory.LISTED if (args.steps or task.steps or 0) <= 100 else memory.LISTED_LARGE,
            instead="ask for fewer trials or episodes, or leave out --curves",
        ).check()  # fmt: skip
    with options.runner_of(args) as runner:
        result = learn(
            learner, task=task, episodes=args.episodes, trials=args.trials, resample=args.resample,
            switch=switch, seed=args.seed, engine=runner, keep_ep=True, chance=beside,
            keep_weights=args.save is not None, progress=LINES, **settings,
        )  # fmt: skip
    if args.csv is not None:
        write_pieces(args.csv, (piece.encode() for piece in result.csv_pieces()))
    if args.save is not None:
        result.save(args.save)
    if args.json:
        print_json({"version": __version__, **result.to_dict(args.curves)})
    else:
        show_result(result, args.brief)


def show_result(result: Result, brief: bool = False) -> None:
    """Print an evaluation in 80 columns: numbers with chance, curve, final positions, and the verdicts.

    The short form is the fitness with its verdict, and the share that is reached again after a success.
    """
    episodes, keeps = _behaviour(result)
    scores, beats = _fitness(result)
    perfect = [] if result.shortest is None else [("perfect agent", f"{result.shortest:z.2f}")]
    marks = list(result.checkpoints)[-_MARKS:]
    goals, described, conditions = _goals(result), _described(result), _conditions(result)
    if brief:
        episodes, perfect, keeps = [row for row in episodes if row[0] == _AGAIN], [], []
    columns = result.beside_chance
    names = [name_of(one.learner) for one in columns]

    out = console()
    if not brief:
        out.print(described, style="bold", soft_wrap=True)
        out.print(conditions[0])
        out.print(conditions[1], style="dim")
    heads = [Text("\n".join(textwrap.wrap(visible(name), NAME))) for name in names]
    difference = ["difference"] * (len(names) > 1)
    numbers = new_table(Text("lower EP is better\n± standard error"), *heads, *difference, wrap=True)
    for row in (*scores, *episodes, *perfect):
        numbers.add_row(*row)
    out.print(numbers)
    if not brief and result.switch is not None:
        _show_phases(out, columns)
    elif not brief:
        curve = new_table("mean best EP after", *(f"{mark:,}" for mark in marks), wrap=True)
        for name, one in zip(names, columns, strict=True):
            curve.add_row(name, *(f"{one.checkpoints[mark]:z.2f}" for mark in marks))
        out.print(curve)
    if not brief and goals:
        each = new_table(*goals[0])
        for row in goals[1:]:
            each.add_row(*row)
        out.print(each)
    if not brief and result.cut:
        whole = counted(len(result.best) * result.episodes, "episode")
        out.print(f"{result.cut:,} of {whole} cut off after {counted(result.settings.steps, 'step')}")
    for verdict in (*beats, *keeps):
        out.print(verdict)


def _fitness(result: Result) -> tuple[list[Row], list[str]]:
    """Return the rows about the best EP of trials, and the verdict on chance."""
    difference, verdict = [], []
    columns, gap = result.beside_chance, result.difference
    if gap is not None:
        difference = [with_error(gap.mean, gap.standard_error, sign=True)]
        better = gap.mean < 0 if gap.decided else None
        verdict = [f"Beats chance: {_BETTER[better]} (p = {gap.p:.2g}, paired t-test)."]
    means = [with_error(one.fitness, one.standard_error) for one in columns]
    rows: list[Row] = [("fitness: mean best EP", *means, *difference)]
    if result.reached is not None:
        units = "trials" if result.switch is None else "phases"
        rows.append((f"{units} that reached the goal", *(f"{one.reached:.1%}" for one in columns)))
    return rows, verdict


def _behaviour(result: Result) -> tuple[list[Row], list[str]]:
    """Return the rows about the episodes themselves, and the verdict on what the learner keeps."""
    episodes = [one.behaviour for one in result.beside_chance if one.behaviour is not None]
    if not episodes:
        return [], []
    rows: list[Row] = []
    verdict = []
    own = episodes[0]
    if own.reached is not None:
        first = (one.median_first for one in episodes)
        again = (one.retained for one in episodes)
        rows = [
            ("their first success, median", *("–" if one is None else f"{one:g}" for one in first)),
            ("episodes that reached it", *(f"{one.reached:.2%}" for one in episodes)),
            ("reached in the first tenth", *(f"{one.reached_first_tenth:.2%}" for one in episodes)),
            ("reached in the last tenth", *(f"{one.reached_last_tenth:.2%}" for one in episodes)),
            (_AGAIN, *("–" if one is None else f"{one:.2%}" for one in again)),
        ]
        if result.learner.kind != Chance.kind and own.retained is not None:
            verdict = [
                f"Keeps what it found: {'yes' if own.keeps else 'no'}. Retention {own.retained:.1%} "
                f"(threshold {KEPT:.0%}): episodes after the first success that reach the goal again."
            ]
    rows += [
        ("mean EP of the first tenth", *(f"{one.first_tenth:z.2f}" for one in episodes)),
        ("mean EP of the last tenth", *(f"{one.last_tenth:z.2f}" for one in episodes)),
    ]
    return rows, verdict


def _conditions(result: Result) -> tuple[str, str]:
    """Return the lines about the trials, the network and the readings."""
    settings = result.settings
    resampled = f", resampled every {result.resample:,}" if result.resample else ""
    if result.switch is not None:
        resampled += f", the goal moves {result.switch}"
    each = _for_each(result)
    trials = (
        f"{counted(len(result.best), 'trial')}{each}, "
        f"{counted(result.episodes, 'episode')}{resampled}, seed {result.seed}, engine {result.engine}"
    )
    ignored = {*result.learner.ignores, *result.task.ignores, *NETWORKS[settings.network].ignores}
    readings = ", ".join(f"{name} {getattr(settings, name)}" for name in READINGS if name not in ignored)
    neurons = "" if settings.neurons == BINARY else f"{settings.neurons} "
    network = "" if settings.network == RECURRENT else f"network {settings.network}, "
    flip = f", {settings.flip:.3g} of the rewards inverted" if settings.flip else ""
    size = f"{network}{settings.hidden} {neurons}hidden neurons"
    return trials, f"{size}, {settings.steps} steps{flip}; {readings}"


def _for_each(result: Result) -> str:
    """Say how many trials each goal has, and in which task, unless it is the maze."""
    goals = len(result.task.goals)
    if result.switch is not None and not isinstance(result.switch.goals, str):
        return ""  # all have the goals that are listed
    own = f" ({result.trials} for each of {counted(goals, result.task.goal_label)})"
    return (own if goals > 1 or result.maze is not None else "") + result.task.place


def _described(result: Result) -> str:
    """Return the name of a learner, or its kind and numbers if it has none."""
    learner = result.learner
    if learner.name:
        return learner.name
    return ", ".join([learner.label, *(f"{key} {value:g}" for key, value in learner.numbers.items())])


def _goals(result: Result) -> list[Row]:
    """Return the rows about each goal, the headings first; none for a goal that moves, or the only one."""
    columns, target = result.beside_chance, result.target
    if result.switch is not None or (result.maze is None and len(result.task.goals) == 1):
        return []
    whats = ("mean best EP", "reached") if target is not None else ("mean best EP",)
    heads = [head for what in whats for head in (what, "chance")[: len(columns)]]
    distances = None if result.maze is None else result.maze.start_distances
    rows = [(result.task.goal_label, *(() if distances is None else ("distance",)), *heads)]
    for g, goal in enumerate(result.task.goals):
        distance = () if distances is None else (str(distances[g]),)
        finals = [one.final.reshape(one.trials, -1)[:, g] for one in columns]
        best = (f"{final.mean():z.2f}" for final in finals)
        reached = () if target is None else (f"{(final <= target).mean():.0%}" for final in finals)
        rows.append((goal, *distance, *best, *reached))
    return rows


def _show_phases(out: Console, columns: list[Result]) -> None:
    """Print how each phase went, by a learner and by chance if it is there."""
    found = [phases for one in columns if (phases := one.phases) is not None]
    whats = ["best EP", *(["reached", "after episodes"] if found[0].until is not None else [])]
    heads = [head for what in whats for head in (what, "chance")[: len(found)]]
    table = new_table("phase", *heads)
    count = found[0].best.shape[1]
    for phase in range(count) if count <= _PHASES else (*range(_PHASES - 1), count - 1):
        best = (f"{one.best[:, phase].mean():z.2f}" for one in found)
        reached = (f"{one.reached[phase]:.0%}" for one in found if one.reached is not None)
        medians = (one.median_until[phase] for one in found if one.median_until is not None)
        until = ("–" if median is None else f"{median:g}" for median in medians)
        table.add_row(f"{phase + 1:,}", *best, *reached, *until)
    out.print(table)
    if found[0].until is not None:
        out.print("after episodes: the median until the goal is reached; –: most never reach it", style="dim")
    for one, phases in zip(columns, found, strict=True):
        lost = phases.forgetting
        if lost is not None:
            gap = with_error(lost.lost, lost.standard_error, sign=True)
            out.print(
                f"{name_of(one.learner)}, where a goal returns: best EP {lost.left_with:z.2f} when it left, "
                f"{lost.came_back_with:z.2f} in the first episode after it came back ({gap})"
            )
