"""`distal inspect`: inspect a rule, or the common features of several rules."""

from __future__ import annotations

import argparse

import numpy as np
from rich.text import Text

from distal._version import __version__
from distal.base.checks import counted, folder
from distal.base.drawing import signed
from distal.base.files import PAGE, check_target
from distal.base.progress import LINES
from distal.base.significance import with_error
from distal.cli import Parser, add_options, options
from distal.cli.terminal import console, new_table, print_json, visible
from distal.evaluation.inspect import inspect, inspect_set
from distal.evaluation.inspection import CHANGES, CRITERION, FINDINGS, Inspection
from distal.evaluation.row_figures import row_cells
from distal.evaluation.rule_set import CLUSTERS, RuleSet, find_rules
from distal.evaluation.usage import shares_of
from distal.learners import name_of
from distal.learners.dsp import NUMBERS, ROWS
from distal.learners.shipped import SHIPPED, shipped_names

_TRIALS = 50


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = (
        "Look inside a rule: the use and the effect of each row, the effect of the rule's numbers, and a "
        "smaller rule, tested on fresh trials. For several rules: their common features."
    )
    command.add_argument(
        "rules",
        nargs="+",
        metavar="RULE",
        help=f"{shipped_names()}, or a rule file; or several of them, {', '.join(SHIPPED)}, or a folder of "
        "distal evolve, for their common features",
    )
    add_options(command, {
        "--html FILE": "write all findings to a page",
        "--figures DIR": "write the figures as SVG into a folder",
    })  # fmt: skip
    options.add_evaluation(command, _TRIALS)


def run(args: argparse.Namespace) -> None:
    """Look into a rule, or into several."""
    from distal.show import inspection_page  # noqa: PLC0415 - imports the figures, which no other command needs

    rules = find_rules(args.rules)
    if args.html is not None:
        check_target(args.html, PAGE)
    if args.figures is not None:
        folder("--figures", args.figures)
    with options.runner_of(args) as runner:
        asked = {**options.evaluation(args), "engine": runner, "progress": LINES}
        found = inspect(*rules, **asked) if len(rules) == 1 else inspect_set(rules, **asked)
    files = []
    if args.html is not None:
        inspection_page.write_page(found, args.html)
        files.append(f"page: {args.html}")
    if args.figures is not None:
        files += [f"figure: {path}" for path in inspection_page.write_figures(found, args.figures)]
    if args.json:
        print_json({"version": __version__, **found.to_dict()})
        return
    if isinstance(found, RuleSet):
        _show_set(found)
    else:
        _show(found)
    for line in files:
        console().print(line, soft_wrap=True)


def _show(found: Inspection) -> None:
    """Print an inspection in 80 columns."""
    out, result, usage = console(), found.result, found.usage
    place = visible(result.task.place)
    out.print(name_of(found.rule), style="bold", soft_wrap=True)
    out.print(f"{result.size}{place}, seed {result.seed}, engine {result.engine}")
    _show_findings(found, FINDINGS)
    out.print(f"smallest rule found: {CRITERION}")
    heads = (
        "use", "inputs", "recur-\nrent", "feed-\nback", "out-\nputs", "biases", "first\ntenth", "last\ntenth",
    )  # fmt: skip
    table = new_table("row", "bits", "m", "Δw", *map(Text, heads))
    table.collapse_padding = True  # or it would not fit in 80 columns
    used = [row for row in range(ROWS) if row not in usage.unused]
    for row in used:
        shares = (f"{share:.1%}" for share in shares_of(usage, row))
        table.add_row(*row_cells(row), signed(found.rule.delta_w[row]), *shares)
    out.print(table)
    out.print("bits: the frequent states of the two neurons, of 00 01 10 11")
    out.print(
        "use: share of updates that select the row: overall, by layer, "
        "in the first and last tenth of the trial"
    )
    worth = new_table("row", "bits", "m", "Δw", "use", *(f"set to {signed(change)}" for change in CHANGES))
    worth.collapse_padding = True
    for row in used:
        worth.add_row(
            *row_cells(row), signed(found.rule.delta_w[row]), f"{usage.rows[row]:.1%}",
            *(_worth(found, row, change) for change in CHANGES),
        )  # fmt: skip
    out.print(worth)
    out.print(
        "set to: change in fitness ± half its 95% interval; * holds after Holm's correction for 64 tests"
    )
    out.print("fitness for other values of each number, one number at a time", style="bold")
    along = new_table("", *[""] * max(len(points) for points in found.sensitivity.values()))
    along.show_header, along.collapse_padding = False, True
    for name in NUMBERS:
        points = found.sensitivity[name]
        own = getattr(found.rule, name)
        along.add_row(name, *(f"{value:.3g}{'=' if value == own else ''}" for value in points))
        along.add_row("", *(f"{effect.fitness:z.2f}" for effect in points.values()), style="dim")
    out.print(along)
    out.print("=: the rule's own value")


def _show_findings(found: Inspection | RuleSet, caption: str) -> None:
    for about, finding in found.findings:
        console().print(Text(f"{about}: {visible(finding)}"))
    console().print(caption)


def _worth(found: Inspection, row: int, change: int) -> str:
    """Return the effect of another change of a row; a dot for its own."""
    if found.rule.delta_w[row] == change:
        return "·  "
    one = found.knockout(row, change)
    gap = f"{one.effect.difference:+z.2f}".replace("-", "−")  # as in the other columns
    return f"{gap} ± {one.effect.reach:.2f}{' *' if one.matters else '  '}"


def _show_set(found: RuleSet) -> None:
    """Print the common features of rules."""
    out = console()
    result = found.results[0]
    out.print(f"{counted(len(found.rules), 'rule')}", style="bold")
    out.print(f"{result.size} each, seed {result.seed}, engine {result.engine}")
    table = new_table("rule", "cluster", "fitness", "chance", "used most")
    for k in found.order:
        one = found.results[k]
        often = np.argsort(-found.usages[k].rows, kind="stable")[:4]
        most = ", ".join(f"{row} {signed(found.rules[k].delta_w[row])}" for row in often)
        chance = "" if one.chance_fitness is None else f"{one.chance_fitness:z.2f}"
        table.add_row(
            found.names[k], str(found.clusters[k]), with_error(one.fitness, one.standard_error), chance, most
        )
    out.print(table)
    rows = new_table("row", "bits", "m", "use", "mean Δw", "agreement")
    for row in np.argsort(-found.use, kind="stable"):
        if found.use[row] > 0:
            mark = " *" if row in found.shared else "  "
            rows.add_row(
                *row_cells(int(row)), f"{found.use[row]:.1%}", f"{found.consensus[row]:+z.2f}",
                f"{found.agreement[row]:.0%}{mark}",
            )  # fmt: skip
    out.print(rows)
    out.print(
        "mean Δw: each rule weighted by how often it uses the row; agreement: the weight behind one change"
    )
    _show_findings(found, CLUSTERS)
