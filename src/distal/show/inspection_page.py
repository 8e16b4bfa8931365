"""An inspection as figures and as one page that needs no network, on light or dark ground."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from distal.base.checks import InputError, counted, folder, shown, straight
from distal.base.colours import DARK, LIGHT, css
from distal.base.drawing import signed
from distal.base.files import PAGE, SVG, check_target, write_text
from distal.evaluation.inspection import CHANGES, CRITERION, FINDINGS, Inspection, listed, spoken
from distal.evaluation.row_figures import row_label
from distal.evaluation.rule_set import CLUSTERS, RuleSet
from distal.evaluation.usage import LAYERS
from distal.learners import name_of
from distal.learners.dsp import NUMBERS, ROWS
from distal.studies.figures import GROUND, blank, own_style, render_svg, standalone, themed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CAPTIONS = {
    "rows": "Left: the share of all updates that select each row, by layer. Right: what the fitness loses "
    "(to the right) or gains when the row is given another change, with 95 % intervals; filled where the "
    "difference holds after Holm's correction for 64 tests. Rows that never come up have no mark.",
    "numbers": "The fitness along each of the rule's four numbers, the others as they are, with 95 % "
    "intervals of the paired difference. The scale is logarithmic, with 0 beside it.",
    "rules": "The changes of the rules, ordered by how near they are. The larger a square, the more often "
    "the rule uses the row. Right: the mean change, weighted by use and rounded.",
}


def figures(found: Inspection | RuleSet) -> dict[str, str]:
    """Return the figures of an inspection as SVG, by name: rows and numbers, or rules for a set."""
    with own_style():
        if isinstance(found, RuleSet):
            return {"rules": render_svg(_rules(found))}
        return {"rows": render_svg(_rows(found)), "numbers": render_svg(_numbers(found))}


def write_figures(found: Inspection | RuleSet, path: str | Path) -> list[Path]:
    """Write the figures of an inspection into a folder, made if need be; return their files."""
    found, into = _checked(found), folder("path", path)
    into.mkdir(parents=True, exist_ok=True)
    stem = "set" if isinstance(found, RuleSet) else re.sub(r"\W+", "_", name_of(found.rule))[:80]
    drawn = {into / f"{stem}_{name}.svg": svg for name, svg in figures(found).items()}
    for file in drawn:
        check_target(file, SVG)
    for file, svg in drawn.items():
        write_text(file, standalone(svg))
    return list(drawn)


def write_page(found: Inspection | RuleSet, out: str | Path) -> None:
    """Write an inspection as a page."""
    check_target(out, PAGE)
    write_text(out, to_html(_checked(found)))


def _checked(found: object) -> Inspection | RuleSet:
    if not isinstance(found, Inspection | RuleSet):
        raise InputError(f"found is {shown(found)}, expected what distal.inspect or inspect_set returns")
    return found


def _rows(found: Inspection) -> Figure:
    figure = blank(7.2, 6.6)
    left, right = figure.subplots(1, 2, sharey=True)
    found.plot("usage", left)
    found.plot("knockouts", right)
    right.set_ylabel("")
    labels = [
        f"{row}:\u00a0{row_label(row)} → {signed(change)}" for row, change in enumerate(found.rule.delta_w)
    ]
    left.set_yticks(range(ROWS), labels)
    left.set_ylabel("row: trace bits 00 01 10 11, m → change of the weight")
    handles, names = left.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(LAYERS))
    return figure


def _numbers(found: Inspection) -> Figure:
    figure = blank(7.2, 4.6)
    for axes, name in zip(figure.subplots(2, 2, sharey=True).flat, NUMBERS, strict=True):
        found.plot(name, axes)
    for axes in figure.axes[1::2]:
        axes.set_ylabel("")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2)
    return figure


def _rules(found: RuleSet) -> Figure:
    figure = blank(max(4.0, 1.6 + 0.34 * len(found.rules)), 7.4)
    found.plot(figure.subplots())
    return figure


# ------------------------------------------------------------------ the page

_CSS = (
    f":root {{ color-scheme: light dark; {css(LIGHT)} --ground: {GROUND[0]}; --band: #f4f6f8; }}\n"
    "@media (prefers-color-scheme: dark) {\n"
    f":root {{ {css(DARK)} --ground: {GROUND[1]}; --band: #1d2228; }} }}\n"
    """body { background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  max-width: 60rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.soft, figcaption { color: var(--soft); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .55rem; border-bottom: 1px solid var(--line); text-align: right; }
td { white-space: nowrap; }
th { vertical-align: bottom; } th:first-child, td:first-child { text-align: left; }
td.words { text-align: left; white-space: normal; }
td.matters { font-weight: 700; background: var(--band); }
.negative { color: var(--negative); } .positive { color: var(--positive); }
figure { margin: 1.2rem 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 46rem; min-width: 30rem; }
"""
)


def to_html(found: Inspection | RuleSet) -> str:
    """Return an inspection as one page."""
    title, body = _set_body(found) if isinstance(found, RuleSet) else _rule_body(found)
    lines = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_CSS}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        *body,
        "</body></html>\n",
    ]
    return straight("\n".join(lines))


Cell = str | tuple[str, str]  # its text; or its class and its text


def _rule_body(found: Inspection) -> tuple[str, list[str]]:
    drawn, smallest, result = figures(found), found.smallest, found.result
    used = [row for row in range(ROWS) if row not in found.usage.unused]
    trials, episodes = counted(len(result.best), "trial"), counted(result.episodes, "episode")
    run = f"{trials} of {episodes}{result.task.place}, seed {result.seed}"
    numbers = ", ".join(f"{name} {getattr(found.rule, name):.4g}" for name in NUMBERS)
    return f"Inside {name_of(found.rule)}", [
        f'<p class="soft">{escape(run)}. {escape(numbers)}.</p>',
        *_findings(found, FINDINGS),
        "<h2>Rows: how often each is used, and what it is worth</h2>",
        _figure(drawn, "rows"),
        _table(
            ("row", "bits", "m", "change", *(f"set to {signed(change)}" for change in CHANGES)),
            [
                [*_row_cells(row), _change_cell(found, row), *(_worth_cell(found, row, c) for c in CHANGES)]
                for row in used
            ],
        ),
        '<p class="soft">Set to: difference of the fitness and half of its 95 % interval; bold where it '
        "holds after Holm’s correction for 64 tests.</p>",
        _table(
            ("row", "bits", "m", "change", "use", *LAYERS, "first tenth", "last tenth"),
            [[*_row_cells(row), _change_cell(found, row), *_use_cells(found, row)] for row in used],
        ),
        '<p class="soft">Use: share of all updates; by layer: share of the updates of that layer; first and '
        "last tenth: share of the updates of that part of the trial.</p>",
        "<h2>The modulatory signal</h2>",
        _table(
            ("m", "fitness", "difference (95 % interval)"),
            [[name, f"{one.fitness:.2f}", spoken(one)] for name, one in found.signal.items()],
        ),
        "<h2>Its four numbers</h2>",
        _figure(drawn, "numbers"),
        "<h2>The smallest rule that does as well</h2>",
        f"<p>Rows {escape(listed(smallest.rows))}. In fresh trials its fitness is "
        f"{smallest.fresh.fitness:.2f}, {escape(spoken(smallest.fresh))} against the whole rule; "
        f"chance {smallest.chance:.2f}.</p>",
        f'<p class="soft">How it was found: {escape(CRITERION)}.</p>',
        f"<pre>{escape(str(smallest.rule))}</pre>" if smallest.removed else "",
        f'<p class="soft">All trials: seed {result.seed}, engine {escape(result.engine)}.</p>',
    ]  # fmt: skip


def _row_cells(row: int) -> list[Cell]:
    return [str(row), f"{row // 2:04b}", "+1" if row % 2 else "−1"]


def _change_cell(found: Inspection, row: int) -> Cell:
    change = found.rule.delta_w[row]
    return {-1: "negative", 1: "positive"}.get(change, ""), signed(change)


def _use_cells(found: Inspection, row: int) -> list[Cell]:
    usage = found.usage
    shares = [usage.rows[row], *usage.layers[:, row], usage.tenths[0][row], usage.tenths[-1][row]]
    return [f"{share:.1%}" for share in shares]


def _worth_cell(found: Inspection, row: int, change: int) -> Cell:
    if change == found.rule.delta_w[row]:
        return "·"
    one = found.knockout(row, change)
    reach = (one.effect.high - one.effect.low) / 2
    return "matters" if one.matters else "", f"{one.effect.difference:+.2f} ± {reach:.2f}"


def _set_body(found: RuleSet) -> tuple[str, list[str]]:
    used = [int(row) for row in np.argsort(-found.use, kind="stable") if found.use[row] > 0]
    chance = ["" if one.chance is None else f"{one.chance.fitness:.2f}" for one in found.results]
    return f"{len(found.rules)} rules", [
        *_findings(found, CLUSTERS),
        "<h2>All changes</h2>",
        _figure(figures(found), "rules"),
        "<h2>The rules</h2>",
        _table(
            ("rule", "cluster", "fitness", "chance"),
            [
                [found.names[k], str(found.clusters[k]), f"{found.results[k].fitness:.2f}", chance[k]]
                for k in found.order
            ],
        ),
        "<h2>Row by row</h2>",
        _table(
            ("row", "bits", "m", "use", "mean change", "agreement"),
            [
                [*_row_cells(row), f"{found.use[row]:.1%}", f"{found.consensus[row]:+.2f}",
                 ("matters" if row in found.shared else "", f"{found.agreement[row]:.0%}")]
                for row in used
            ],
        ),
    ]  # fmt: skip


def _findings(found: Inspection | RuleSet, caption: str) -> tuple[str, str]:
    """Return what was found, and the caption below it."""
    rows: list[list[Cell]] = [[about, ("words", told)] for about, told in found.findings]
    return _table(("", ""), rows), f'<p class="soft">{escape(caption[0].upper() + caption[1:])}.</p>'


def _table(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    def written(cell: Cell) -> str:
        kind, text = ("", cell) if isinstance(cell, str) else cell
        return f'<td class="{kind}">{escape(text)}</td>'

    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    body = "\n".join(f"<tr>{''.join(map(written, cells))}</tr>" for cells in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _figure(drawn: dict[str, str], name: str) -> str:
    """Return a figure for the page: its colours are the page's, its identifiers its own."""
    svg = themed(drawn[name][drawn[name].index("<svg") :])
    own = set(re.findall(r'id="([^"]+)"', svg))

    def renamed(given: re.Match[str]) -> str:
        return f"{given[1]}{name}-{given[2]}" if given[2] in own else given[0]

    svg = re.sub(r'(id="|#)([^"\)]+)(?=["\)])', renamed, svg)
    return (
        f'<figure><div class="scroll">{svg}</div><figcaption>{escape(_CAPTIONS[name])}</figcaption></figure>'
    )
