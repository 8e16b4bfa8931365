"""Reports of studies: tables, figures and captions, on one page and as files.

A report lists its blocks once; the page in HTML, its Markdown, and the files of figures and tables
are made from them. Captions hold for any outcome: pages in `docs/` interpret the numbers.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from distal.base.checks import counted
from distal.base.colours import DARK, LIGHT, css
from distal.base.files import to_csv, to_json
from distal.base.folders import for_report
from distal.studies.figures import GROUND, inline, own_style, render, standalone
from distal.studies.intervals import Gap, Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Outcome = TypeVar("Outcome")


# ------------------------------------------------------------------ numbers in cells


def minus(text: str) -> str:
    """Return a number with a minus sign in place of a hyphen."""
    return text.replace("-", "−")


def signed(value: float, digits: int = 2) -> str:
    """Return a number with its sign."""
    return minus(f"{value:+.{digits}f}")


def mean(value: Interval, sign: bool = False) -> str:
    """Return a mean and its interval."""
    low, middle, high = (
        signed(number) if sign else minus(f"{number:.2f}") for number in (value.low, value.value, value.high)
    )
    return f"{middle} ({low} to {high})"


def share(value: Interval) -> str:
    """Return a share and its interval, in percent."""
    return f"{value.value:.1%} ({100 * value.low:.0f} to {100 * value.high:.0f})"


def percent(value: float | None) -> str:
    """Return a share in percent, or a dash if there is none."""
    return "–" if value is None else minus(f"{value:.1%}")


def p_value(value: float, equal: str = "") -> str:
    """Return a p-value, `equal` before one that is large enough to be written."""
    return "< 0.0001" if value < 0.0001 else f"{equal}{value:.{4 if value < 0.001 else 3}f}"


def verdict(gap: Gap) -> str:
    """Return the verdict of a comparison in a word, and its p."""
    return f"{VERDICTS[gap.better]} ({p_value(gap.decisive)})"


VERDICTS = {True: "better", None: "not shown", False: "worse"}


def made_on(machine: Mapping[str, Any], seconds: Mapping[str, float]) -> str:
    """Return the machine that a study was made on, and how long it took."""
    card = f"{machine['card']} with " if machine.get("card") else ""
    minutes = sum(seconds.values()) / 60
    return f"{card}{machine['processor']}, {counted(machine['cores'], 'core')}, {minutes:.1f} minutes"


# ------------------------------------------------------------------ blocks


@dataclass(frozen=True)
class Text:
    """A paragraph, or the items of a list; text between backticks is code."""

    words: str | Sequence[str]

    def markdown(self) -> str:
        """Return the text as Markdown."""
        return self.words if isinstance(self.words, str) else "\n".join(f"- {item}" for item in self.words)

    def html(self) -> str:
        """Return the text as HTML."""
        if isinstance(self.words, str):
            return f"<p>{_code(self.words)}</p>"
        return f"<ul>{''.join(f'<li>{_code(item)}</li>' for item in self.words)}</ul>"


@dataclass(frozen=True)
class Heading:
    """A heading that can be reached from the top of the page."""

    words: str

    @property
    def anchor(self) -> str:
        """The name of its place in the page."""
        return re.sub(r"[^a-z0-9]+", "-", self.words.lower()).strip("-")

    def markdown(self) -> str:
        """Return the heading as Markdown."""
        return f"## {self.words}"

    def html(self) -> str:
        """Return the heading as HTML."""
        return f'<h2 id="{self.anchor}">{_code(self.words)}</h2>'


@dataclass(frozen=True)
class Sheet:
    """A table with a title and a caption.

    Attributes:
        title: The title.
        caption: The meaning of its columns.
        columns: The headings; the first column holds the names of the rows.
        rows: The cells.
        name: The name of its files, if it is written as CSV and LaTeX too.
        folded: Whether the page shows the table only to those who open it.
        marked: Names of rows that are to be seen at once.
        tones: Words that are coloured where they fill a cell: "good" or "bad".
        grouped: Whether the first column is the section that a row belongs to; on the page, sections are
            headings inside the table. A last column "note" stands below the name of its row.
    """

    title: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    name: str = ""
    folded: bool = False
    marked: Sequence[str] = ()
    grouped: bool = False
    tones: Mapping[str, str] = field(default_factory=dict)

    @property
    def sections(self) -> list[tuple[str, list[Sequence[str]]]]:
        """The rows by section; all in one without a name, if they are not grouped."""
        if not self.grouped:
            return [("", list(self.rows))]
        return [(name, [row[1:] for row in rows]) for name, rows in groupby(self.rows, lambda row: row[0])]

    @property
    def headings(self) -> Sequence[str]:
        """The headings of what `sections` holds."""
        return ("", *self.columns[2:]) if self.grouped else self.columns

    @property
    def worded(self) -> list[bool]:
        """Whether each column of `headings` is for words, which begin at its left edge: most cells are."""
        rows = [row for _section, members in self.sections for row in members]
        return [
            name == "note" or _mostly_words([cell for cell in cells if cell.strip("–")])
            for name, *cells in zip(self.headings, *rows, strict=True)
        ]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        width = len(self.headings)
        rows = []
        for section, members in self.sections:
            rows += [_row([f"**{section}**", *[""] * (width - 1)])] if section else []
            rows += [
                _row([f"**{row[0]}**" if row[0] in self.marked else row[0], *row[1:]]) for row in members
            ]
        align = "|---|" + "".join("---|" if words else "---:|" for words in self.worded[1:])
        heading = [f"### {self.title}", ""] if self.title else []
        caption = ["", self.caption] if self.caption else []
        return "\n".join([*heading, _row(self.headings), align, *rows, *caption])

    def html(self) -> str:
        """Return the table as HTML, in a frame that scrolls by itself where the screen is narrow."""
        noted = self.headings[-1] == "note"
        columns = self.headings[:-1] if noted else self.headings
        kinds = [' class="words"' if words else "" for words in self.worded]
        head = "".join(
            f"<th{kind}>{_code(column)}</th>" for column, kind in zip(columns, kinds, strict=False)
        )
        body = ""
        for section, rows in self.sections:
            if section:
                body += f'<tr class="section"><th colspan="{len(columns)}">{_code(section)}</th></tr>\n'
            for first, *cells in rows:
                note = f"<small>{_code(cells.pop())}</small>" if noted else ""
                kind = ' class="marked"' if first in self.marked else ""
                data = "".join(map(self._cell, cells, kinds[1:]))
                body += f"<tr{kind}><td>{_code(first)}{note}</td>{data}</tr>\n"
        files = "".join(
            f' <a href="tables/{self.name}.{kind}">{kind}</a>' for kind in ("csv", "tex") if self.name
        )
        caption = f'<p class="caption">{_code(self.caption)}{files}</p>' if self.caption else ""
        table = (
            f'<div class="{"numbers" if noted else "scroll"}"><table><thead><tr>{head}</tr></thead>\n'
            f"<tbody>{body}</tbody></table></div>{caption}"
        )
        title = _code(self.title)
        if self.folded:
            return f"<details><summary>{title}</summary>{table}</details>"
        return f"<h3>{title}</h3>{table}" if title else table

    def _cell(self, text: str, kind: str) -> str:
        if text in self.tones:
            kind = f' class="words {self.tones[text]}"'
        return f"<td{kind}>{_code(text)}</td>"

    def csv(self) -> str:
        """Return the table as CSV."""
        return to_csv([self.columns, *self.rows])

    def latex(self) -> str:
        """Return the table as a LaTeX tabular (booktabs)."""
        width = len(self.columns) - (self.columns[-1] == "note")  # notes are for the page and the CSV
        left = "ll" if self.grouped else "l"
        lines = [" & ".join(map(_tex, row[:width])) + r" \\" for row in (self.columns, *self.rows)]
        return "\n".join([
            r"\begin{table}", rf"\caption{{{_tex(self.caption)}}}",
            rf"\begin{{tabular}}{{{left}{'r' * (width - len(left))}}}", r"\toprule", lines[0], r"\midrule",
            *lines[1:], r"\bottomrule", r"\end{tabular}", r"\end{table}", "",
        ])  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A figure with a title and a caption.

    Attributes:
        name: The name of its files.
        title: The title.
        caption: What it shows.
        draw: Returns the drawing.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Drawing] = field(compare=False)

    @cached_property
    def drawn(self) -> tuple[str, bytes]:
        """The drawing as SVG, with a transparent ground, and as PNG."""
        with own_style():
            drawing = self.draw()
        return render(drawing)

    def markdown(self) -> str:
        """Return the figure as Markdown, with its file beside the page in figures/."""
        return f"### {self.title}\n\n![{self.title}](figures/{self.name}.svg)\n\n{self.caption}"

    def html(self) -> str:
        """Return the figure as HTML that needs no file; its colours are those of the page."""
        links = " ".join(
            f'<a href="figures/{self.name}.{kind}">{kind.upper()}</a>' for kind in ("svg", "png")
        )
        return (
            f'<figure id="{self.name}"><h3>{_code(self.title)}</h3>'
            f'<div class="card">{inline(self.drawn[0], self.name)}</div>'
            f"<figcaption>{_code(self.caption)} {links}</figcaption></figure>"
        )


@dataclass(frozen=True)
class Folded:
    """A part of the page that is folded below its heading.

    Attributes:
        words: The heading.
        blocks: What is in it.
    """

    words: str
    blocks: Sequence[Block]

    def markdown(self) -> str:
        """Return the part as Markdown, which folds nothing."""
        return "\n\n".join(block.markdown() for block in (Heading(self.words), *self.blocks))

    def html(self) -> str:
        """Return the part as HTML."""
        inside = "\n".join(block.html() for block in self.blocks)
        return f'<details class="part"><summary>{_code(self.words)}</summary>{inside}</details>'


Block = Text | Heading | Sheet | Figure | Folded


# The sizes of a scale, as a report names them.
_SIZES = {
    "runs": "runs of an evolution",
    "generations": "generations of a run",
    "trials": "trials of an evaluation",
    "episodes": "episodes of a trial",
    "fresh": "fresh trials of a winner",
    "tested": "trials of a test",
    "long": "episodes of the long test",
    "last": "last episodes",
}


def run_sheet(study: Any, command: str, page: str, sizes: Mapping[str, Any], *more: tuple[str, str]) -> Sheet:
    """Return the table of how a study was run; `more` are further rows.

    `page` is that of the documentation that explains the terms and interprets such numbers.
    """
    rows = [
        ("command", f"`{command}`"), ("Distal", study.version),
        ("machine and time", made_on(study.machine, study.seconds)),
        *((words, f"{sizes[name]:,}") for name, words in _SIZES.items() if name in sizes), *more,
        ("explained in", f"`docs/{page}.md`"),
    ]  # fmt: skip
    return Sheet("How it was run", "", ("", ""), rows)


def unfolded(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield all blocks, including those in folded parts."""
    for block in blocks:
        yield from unfolded(block.blocks) if isinstance(block, Folded) else (block,)


def to_markdown(title: str, blocks: Iterable[Block]) -> str:
    """Return blocks as a page in Markdown."""
    return "\n\n".join([f"# {title}", *(block.markdown() for block in blocks)]) + "\n"


def to_html(title: str, blocks: Sequence[Block]) -> str:
    """Return blocks as one page that needs no network."""
    links = "".join(
        f'<a href="#{block.anchor}">{escape(block.words)}</a>'
        for block in blocks
        if isinstance(block, Heading)
    )
    return "\n".join([
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_CSS}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f"<nav>{links}</nav>" if links else "",
        *(block.html() for block in blocks),
        "</body></html>\n",
    ])  # fmt: skip


# ------------------------------------------------------------------ reports


class Report(ABC, Generic[Outcome]):
    """The report of an outcome.

    Attributes:
        holds: What its folder holds, in words.
        of: The class of the outcome.
        title: The title of the page.
        page: The file of the page; the Markdown, if there is no HTML.
        text: The file of the same as Markdown; empty if the page is.
        data: The file of all numbers.
        figures: The names of all figures that there may be.
        kept: The names of all tables that have files of their own.
        more: Further files.
    """

    holds: ClassVar[str]
    of: ClassVar[type]
    title: ClassVar[str]
    page: ClassVar[str]
    text: ClassVar[str] = ""
    data: ClassVar[str]
    figures: ClassVar[tuple[str, ...]] = ()
    kept: ClassVar[tuple[str, ...]] = ()
    more: ClassVar[tuple[str, ...]] = ()

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    def numbers(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        outcome: Any = self.outcome
        found: dict[str, Any] = outcome.to_dict()
        return found

    @abstractmethod
    def summary(self) -> Sequence[Sheet | Text]:
        """Return the blocks that a terminal shows."""

    def blocks(self) -> Sequence[Block]:
        """Return the blocks of the page: the summary, if there is no more to it."""
        return self.summary()

    def extras(self) -> Iterator[tuple[str, str]]:
        """Yield further files, by name."""
        yield from ()

    @classmethod
    def files(cls) -> tuple[str, ...]:
        """Return all files that may be written."""
        drawn = (f"figures/{name}.{kind}" for name in cls.figures for kind in ("svg", "png"))
        tables = (f"tables/{name}.{kind}" for name in cls.kept for kind in ("csv", "tex"))
        return tuple(dict.fromkeys((cls.page, cls.data, cls.text or cls.page, *cls.more, *drawn, *tables)))

    def write(self, out: str | Path) -> Path:
        """Write all files into a folder; return the path of the page."""
        with for_report(out, self.holds, self.files()) as folder:
            blocks = self.blocks()
            for block in unfolded(blocks):
                if isinstance(block, Figure):
                    svg, png = block.drawn
                    folder.write_text(f"figures/{block.name}.svg", standalone(svg))
                    folder.write_bytes(f"figures/{block.name}.png", png)
                if isinstance(block, Sheet) and block.name in self.kept:
                    folder.write_text(f"tables/{block.name}.csv", block.csv())
                    folder.write_text(f"tables/{block.name}.tex", block.latex())
            for name, content in self.extras():
                folder.write_text(name, content)
            folder.write_text(self.data, to_json(self.numbers()) + "\n")
            folder.write_text(self.text or self.page, to_markdown(self.title, blocks))
            if self.text:
                folder.write_text(self.page, to_html(self.title, blocks))
            return folder.file(self.page)


# ------------------------------------------------------------------ how the page looks


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _code(text: str) -> str:
    """Return text for HTML, with code where backticks are, links as in Markdown, and minus signs."""
    linked = re.sub(r"\[([^]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', escape(text))
    return _CODE_OR_MINUS.sub(lambda found: f"<code>{found[1]}</code>" if found[1] else "−", linked)


_LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "−": r"$-$", "–": "--", "…": r"\ldots{}"}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


_NUMBER = re.compile(r"[^\w`]*\d")


def _mostly_words(cells: Sequence[str]) -> bool:
    return sum(_NUMBER.match(cell) is None for cell in cells) > len(cells) / 2


_CODE_OR_MINUS = re.compile(r"`([^`]+)`|(?<![\w-])-(?=\d)")
_CSS = (
    f"""
:root {{ color-scheme: light dark; {css(LIGHT)} --ground: {GROUND[0]}; --band: #f4f6f8; --good: #00734f; --bad: #a84300; }}
@media (prefers-color-scheme: dark) {{ :root {{ {css(DARK)} --ground: {GROUND[1]}; --band: #1d2228; --good: #4cc79a; --bad: #ff9d5c; }} }}
"""
    + """
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 2rem 1.2rem 4rem; color: var(--ink); background: var(--ground);
  font: 16px/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .8rem; } h2 { margin: 2.6rem 0 .6rem; font-size: 1.3rem; }
h3 { margin: 1.8rem 0 .4rem; font-size: 1.05rem; }
a { color: inherit; } nav a { margin-right: 1rem; white-space: nowrap; } li { margin-bottom: .35rem; }
ul { padding-left: 1.2rem; } .caption, figcaption { color: var(--soft); font-size: .9rem; margin-top: .5rem; }
summary { cursor: pointer; font-weight: 600; margin: 1.2rem 0 .4rem; }
.part { border-top: 1px solid var(--line); } .part > summary { font-size: 1.15rem; margin: .8rem 0; }
/* Where a table or a figure is cut off, a shadow lies on that edge; at the end of the way it is covered. */
.scroll, .card { overflow-x: auto; --shade: color-mix(in srgb, var(--ink) 40%, transparent); background:
  linear-gradient(to right, var(--ground) 1rem, transparent) 0 0 / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--ground) 1rem, transparent) 100% 0 / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) 0 0 / .9rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shade), transparent) 100% 0 / .9rem 100% no-repeat scroll; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .45rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
.words { text-align: left; }
thead th { vertical-align: bottom; line-height: 1.25; }
tr > :first-child { text-align: left; position: sticky; left: 0; background: var(--ground); min-width: 9rem; }
td:not(:first-child) { white-space: nowrap; }
.section th { padding-top: .9rem; } td small { display: block; color: var(--soft); } .marked td, .marked td:first-child { background: var(--band); font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } figure { margin: 1.2rem 0 2rem; }
.card { border: 1px solid var(--line); border-radius: 8px; padding: .8rem; }
figure svg { display: block; width: 100%; height: auto; max-width: 46rem; min-width: 30rem; margin: 0 auto; }
h1 + figure svg { min-width: 0; }
@media (max-width: 44rem) {
  .numbers :is(table, thead, tbody) { display: block; }
  .numbers tr { display: grid; grid-template-columns: 1fr 1fr 1.75fr 1.15fr 1.1fr; border-bottom: 1px solid var(--line); }
  .numbers :is(th, td) { border: 0; padding: .1rem .2rem; font-size: .74rem; text-align: left; white-space: normal; }
  .numbers tr > :first-child { grid-column: 1 / -1; font-size: .82rem; padding-top: .4rem; position: static; }
  .numbers thead { position: sticky; top: 0; background: var(--ground); z-index: 1; } .numbers thead th:first-child { display: none; }
}
@media (max-width: 46rem) { body { padding: 1.2rem .9rem 3rem; } nav a { white-space: normal; } tr > :first-child { min-width: 4rem; } }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } .part::details-content { content-visibility: visible; } figure, tr { break-inside: avoid; } nav { display: none; } }
"""
)
