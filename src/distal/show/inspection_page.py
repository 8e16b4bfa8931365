"""An inspection as figures and as one page that needs no network, on light or dark ground."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from distal.base.checks import InputError, folder, shown, straight
from distal.base.drawing import signed
from distal.base.files import PAGE, SVG, check_target, write_text
from distal.evaluation.inspection import CHANGES, CRITERION, FINDINGS, Inspection, listed, spoken
from distal.evaluation.row_figures import row_cells, row_label
from distal.evaluation.rule_set import CLUSTERS, RuleSet
from distal.evaluation.usage import shares_of
from distal.learners import name_of
from distal.learners.dsp import NUMBERS, ROWS
from distal.networks import LAYERS
from distal.studies.figures import blank, inline, own_style, render_svg, standalone
from distal.studies.report import Block, Figure, Heading, Sheet, Text, to_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_CAPTIONS = {
    "rows": "Left: the share of all updates that select each row, by layer. Right: the loss of fitness "
    "(to the right) or the gain when the row is given another change, with 95% intervals; filled where the "
    "difference holds after Holm's correction for 64 tests. Rows that are never selected have no mark.",
    "numbers": "The fitness for other values of each of the rule's four numbers, one at a time, with 95% "
    "intervals of the paired difference. The scale is logarithmic, with 0 added at the left.",
    "rules": "The changes of the rules, similar rules side by side. The larger a square, the more often "
    "the rule uses the row. Right: the mean change, weighted by use and rounded.",
}


class _OfPage(Figure):
    """A figure that stands on the page alone."""

    @property
    def svg(self) -> str:
        """The figure as SVG."""
        with own_style():
            return render_svg(self.draw())

    def html(self) -> str:
        """Return the figure as HTML."""
        return (
            f'<figure><div class="card">{inline(self.svg, self.name)}</div>'
            f"<figcaption>{escape(self.caption)}</figcaption></figure>"
        )


def _figures(found: Inspection | RuleSet) -> dict[str, _OfPage]:
    """Return the figures of an inspection by name: rows and numbers, or rules for a set."""
    drawings = (
        {"rules": partial(_rules, found)}
        if isinstance(found, RuleSet)
        else {"rows": partial(_rows, found), "numbers": partial(_numbers, found)}
    )
    return {name: _OfPage(name, "", _CAPTIONS[name], draw) for name, draw in drawings.items()}


def write_figures(found: Inspection | RuleSet, path: str | Path) -> list[Path]:
    """Write the figures of an inspection into a folder, which is made if needed; return their files."""
    found, into = _checked(found), folder("path", path)
    into.mkdir(parents=True, exist_ok=True)
    stem = "set" if isinstance(found, RuleSet) else re.sub(r"\W+", "_", name_of(found.rule))[:80]
    drawn = {into / f"{stem}_{name}.svg": one.svg for name, one in _figures(found).items()}
    for file in drawn:
        check_target(file, SVG)
    for file, svg in drawn.items():
        write_text(file, standalone(svg))
    return list(drawn)


def write_page(found: Inspection | RuleSet, out: str | Path) -> None:
    """Write an inspection as an HTML page."""
    check_target(out, PAGE)
    found = _checked(found)
    if isinstance(found, RuleSet):
        title, blocks = f"{len(found.rules)} rules", _set_blocks(found)
    else:
        title, blocks = f"Inside {name_of(found.rule)}", _rule_blocks(found)
    write_text(out, straight(to_html(title, blocks)))


def _checked(found: object) -> Inspection | RuleSet:
    if not isinstance(found, Inspection | RuleSet):
        raise InputError(f"found is {shown(found)}, expected the result of distal.inspect or inspect_set")
    return found


def _rows(found: Inspection) -> Drawing:
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


def _numbers(found: Inspection) -> Drawing:
    figure = blank(7.2, 4.6)
    for axes, name in zip(figure.subplots(2, 2, sharey=True).flat, NUMBERS, strict=True):
        found.plot(name, axes)
    for axes in figure.axes[1::2]:
        axes.set_ylabel("")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2)
    return figure


def _rules(found: RuleSet) -> Drawing:
    figure = blank(max(4.0, 1.6 + 0.34 * len(found.rules)), 7.4)
    found.plot(figure.subplots())
    return figure


# ------------------------------------------------------------------ the page


def _rule_blocks(found: Inspection) -> list[Block]:
    drawn, smallest, result = _figures(found), found.smallest, found.result
    used = [row for row in range(ROWS) if row not in found.usage.unused]
    numbers = ", ".join(f"{name} {getattr(found.rule, name):.4g}" for name in NUMBERS)
    own = {row: [*row_cells(row), signed(found.rule.delta_w[row])] for row in used}
    worth = {(one.row, one.change): one for one in found.knockouts}
    cells = {
        at: f"{one.effect.difference:+z.2f}".replace("-", "−") + f" ± {one.effect.reach:.2f}"
        for at, one in worth.items()
    }
    tones = {
        cells[at]: "bad" if one.effect.difference > 0 else "good" for at, one in worth.items() if one.matters
    }
    return [
        Text(_plain(f"{result.size}{result.task.place}, seed {result.seed}. {numbers}.")),
        *_findings(found, FINDINGS),
        Heading("Rows: use and effect"),
        drawn["rows"],
        Sheet("",
            "Set to: difference of the fitness and half of its 95% interval; coloured where it holds after "
            "Holm's correction for 64 tests.",
            ("row", "bits", "m", "change", *(f"set to {signed(change)}" for change in CHANGES)),
            [[*own[row], *(cells.get((row, change), "·") for change in CHANGES)] for row in used],
            tones=tones,
        ),
        Sheet("", "Use: share of all updates; by layer: share of the updates of that layer; first and last "
            "tenth: share of the updates of that part of the trial.",
            ("row", "bits", "m", "change", "use", *LAYERS, "first tenth", "last tenth"),
            [[*own[row], *(f"{share:.1%}" for share in shares_of(found.usage, row))] for row in used],
        ),
        Heading("The modulatory signal"),
        Sheet("", "", ("m", "fitness", "difference (95% interval)"),
            [[name, f"{one.fitness:z.2f}", spoken(one)] for name, one in found.signal.items()],
        ),
        Heading("The four numbers"),
        drawn["numbers"],
        Heading("The smallest rule found"),
        Text(
            f"Rows {listed(smallest.rows)}. In fresh trials its fitness is {smallest.fresh.fitness:z.2f}, "
            f"{spoken(smallest.fresh)} against the whole rule: {smallest.verdict}. "
            f"Chance: {smallest.chance:z.2f}."
        ),
        Text(f"How it was found: {CRITERION}."),
        Sheet("All its changes", "", ("trace bits 00 01 10 11", "m = −1", "m = +1"),
            [
                [f"{row // 2:04b}", *map(signed, smallest.rule.delta_w[row : row + 2])]
                for row in range(0, ROWS, 2)
            ],
            folded=True,
        ),
        Text(f"All trials: seed {result.seed}, engine {result.engine}."),
    ]  # fmt: skip


def _set_blocks(found: RuleSet) -> list[Block]:
    used = [int(row) for row in np.argsort(-found.use, kind="stable") if found.use[row] > 0]
    chance = ["" if one.chance_fitness is None else f"{one.chance_fitness:z.2f}" for one in found.results]
    return [
        *_findings(found, CLUSTERS),
        Heading("All changes"),
        _figures(found)["rules"],
        Heading("The rules"),
        Sheet("", "", ("rule", "cluster", "fitness", "chance"),
            [
                [_plain(found.names[k]), str(found.clusters[k]), f"{found.results[k].fitness:.2f}", chance[k]]
                for k in found.order
            ],
        ),
        Heading("Row by row"),
        Sheet("", "Marked are rows on which the rules agree.",
            ("row", "bits", "m", "use", "mean change", "agreement"),
            [
                [*row_cells(row), f"{found.use[row]:.1%}", f"{found.consensus[row]:+z.2f}",
                 f"{found.agreement[row]:.0%}"]
                for row in used
            ],
            marked=[str(row) for row in found.shared],
        ),
    ]  # fmt: skip


def _findings(found: Inspection | RuleSet, caption: str) -> Sequence[Text]:
    """Return what was found, and the caption below it."""
    findings = [_plain(f"{about}: {finding}") for about, finding in found.findings]
    return Text(findings), Text(f"{caption[0].upper()}{caption[1:]}.")


def _plain(text: str) -> str:
    """Return text in which no name is taken for a link."""
    return text.replace("](", "] (")
