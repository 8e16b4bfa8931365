"""`distal compare`: learners side by side, in trials with the same seeds."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from rich.text import Text

from distal._version import __version__
from distal.base.checks import InputError, counted
from distal.base.files import PNG, SVG, check_target, to_json, write_bytes, write_pieces, write_text
from distal.base.progress import LINES
from distal.cli import Parser, add_options, options
from distal.cli.terminal import console, new_table, print_json, visible
from distal.evaluation.compare import FEWEST_PAIRS, MOST_TRIALS, compare
from distal.evaluation.comparison import Comparison, written
from distal.learners.chance import Chance
from distal.studies.figures import blank, own_style, render, standalone

_NAME = 16  # columns of a learner's name; a longer one takes more lines
_FORMS = {".png": PNG, ".svg": SVG}  # of a figure, with what such a file begins with
_JSON, _CSV = rb'\{\s*"version"', rb"learner,trial,"


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = (
        "Train fresh networks with two or more learners in trials with the same seeds. Show the score of "
        "each, with chance, and the difference of each pair."
    )
    add_options(command, {
        "--until-decided": "add trials until the interval of every difference excludes zero. The interval "
        "is an asymptotic confidence sequence (Waudby-Smith et al., Annals of Statistics 2024), valid at "
        f"every look; pairs share its 5%%, and the first look is after {FEWEST_PAIRS} trials or more",
        "--most-trials N": "with --until-decided: stop after N trials per goal, decided or not "
        f"({MOST_TRIALS})",
        "--out FILE": "write the JSON object to a file",
        "--csv FILE": "write the best EP so far of every trial and episode to a CSV file",
        "--figure FILE": "draw the curves with 95%% bands: FILE.png or FILE.svg",
    })  # fmt: skip
    options.add_evaluation(command, about="; with --until-decided, the fewest between looks")
    options.add_learner(command, "learners", nargs="+", metavar="LEARNER")


def run(args: argparse.Namespace) -> None:
    """Compare learners, print the comparison, and write the files that were asked for."""
    learners = options.learners(args, *args.learners)
    if args.most_trials is not None and not args.until_decided:
        raise InputError("--most-trials is for --until-decided; add that, or leave it out")
    if args.figure is not None and _form(args.figure) not in _FORMS:
        raise InputError(f"--figure is {args.figure!r}, expected a name that ends in {' or '.join(_FORMS)}")
    targets = {args.out: _JSON, args.csv: _CSV}
    if args.figure is not None:
        targets[args.figure] = _FORMS[_form(args.figure)]
    for target, ours in targets.items():
        if target is not None:
            check_target(target, ours)
    with options.runner_of(args) as runner:
        comparison = compare(
            learners, **options.evaluation(args), until_decided=args.until_decided,
            most_trials=args.most_trials, engine=runner, progress=LINES,
        )  # fmt: skip
    data = {"version": __version__, **comparison.to_dict()} if args.json or args.out is not None else {}
    if args.out is not None:
        write_text(args.out, to_json(data) + "\n")
    if args.csv is not None:
        write_pieces(args.csv, (piece.encode() for piece in comparison.csv_pieces()))
    if args.figure is not None:
        _write_figure(comparison, args.figure)
    if args.json:
        print_json(data)
    else:
        _show(comparison)


def _form(figure: str) -> str:
    return Path(figure).suffix.lower()


def _write_figure(comparison: Comparison, path: str) -> None:
    with own_style():
        drawing = blank(7.2, 4)
        comparison.plot(drawing.subplots())
    svg, png = render(drawing)
    write_bytes(path, standalone(svg).encode() if path.lower().endswith(".svg") else png)


def _show(comparison: Comparison) -> None:
    """Print a comparison in 80 columns: learners with chance, pairs, and verdicts."""
    out = console()
    first = comparison.results[0]
    goals, place = len(first.task.goals), visible(first.task.place)
    each = f" ({first.trials} for each of {counted(goals, first.task.goal_label)})" if goals > 1 else ""
    resampled = f", resampled every {first.resample:,}" if first.resample else ""
    out.print(
        f"{counted(len(first.best), 'trial')} each{each}{place}, {counted(first.episodes, 'episode')}"
        f"{resampled}, seed {first.seed}"
    )
    _show_learners(comparison)
    _show_differences(comparison)
    for result, name in zip(comparison.results, comparison.names, strict=True):
        if result.cut:
            cut = f"{result.cut:,} of {counted(len(result.best) * result.episodes, 'episode')}"
            out.print(f"{name}: {cut} cut off after {counted(first.settings.steps, 'step')}")
    for difference in comparison.differences:
        out.print(f"{difference.verdict}.")


def _show_learners(comparison: Comparison) -> None:
    """Print each learner's fitness and share of trials that reached the goal, with chance."""
    first, fixed = comparison.results[0], comparison.most_trials is None
    beside = first.chance is not None
    reached = ["reached (95%)"] * (first.target is not None)
    heads = ["fitness (95%)", *reached, *(["chance"] * beside), *(["p"] * (beside and fixed))]
    table = new_table("lower EP is better", *heads, wrap=True)
    for name, result, between, share in zip(
        comparison.names, comparison.results, comparison.intervals, comparison.reached_intervals, strict=True
    ):
        cells = [written(result.fitness, between)]
        if share is not None:
            cells.append(f"{result.reached:.0%} ({share[0]:.0%}, {share[1]:.0%})")
        if result.chance is not None and result.difference is not None:
            cells += [f"{result.chance.fitness:z.2f}", *([f"{result.difference.p:.2g}"] * fixed)]
        table.add_row(_folded(visible(name)), *cells)
    console().print(table)


def _show_differences(comparison: Comparison) -> None:
    """Print how each pair differs: first what uses that trials are paired, then what does not."""
    fixed = comparison.most_trials is None
    heads = ["mean (95%)", "", "P(better)", *(["p"] * fixed)]
    table = new_table(Text("difference\n(negative: first\nis better)"), *heads, wrap=True)
    for one in comparison.differences:
        names = _folded(f"{visible(one.first)} −", visible(one.second))
        mean = Text(f"{written(one.mean, one.interval, sign=True)}\n")
        shares = Text(f"{one.paired_superiority:.2f}\n{one.superiority:.2f}")
        ps = [p for p in (one.signed_rank, one.rank_sum) if p is not None]
        table.add_row(
            names,
            mean,
            Text("in pairs\nunpaired"),
            shares,
            *([Text("\n".join(f"{p:.2g}" for p in ps))] * fixed),
        )
    out = console()
    out.print(table)
    for line in _notes(comparison):
        out.print(line, style="dim", soft_wrap=True)


def _folded(*names: str) -> Text:
    """Return names below one another, each on as many lines as it needs."""
    return Text(
        "\n".join(line for name in names for line in textwrap.wrap(name, _NAME, break_on_hyphens=False))
    )


def _notes(comparison: Comparison) -> list[str]:
    """Return the lines that explain the numbers."""
    test = "; p: paired t-test" if comparison.most_trials is None else ""
    chance = "chance: random weights in every episode, "
    own = next((one for one in comparison.learners if isinstance(one, Chance)), None)
    if own is None:
        chance += f"the learner's own α{test}"
    else:
        chance += f"with α_h {own.alpha_h:g} and α_o {own.alpha_o:g}"
    return [chance, *comparison.tests]
