"""A reproduction as files: figures, tables, numbers, and a page that holds them all.

report.html         everything on one page, without the network
results.json        all numbers
results.md          the summary, with the figures beside it
figures/            each figure as SVG and PNG
tables/             each table as CSV and LaTeX
evolved_rules.json  the evolved rules, the best first
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import distal
from distal import figures
from distal.comparison import Line, compare
from distal.experiments import TESTS, Reproduction, plan
from distal.files import to_json, write_bytes, write_text
from distal.learners import hill_climbing
from distal.machine import machine
from distal.rule import NUMBERS, Rule
from distal.settings import READINGS


@dataclass(frozen=True)
class Table:
    """A table with a caption, for CSV, LaTeX and HTML alike."""

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def write(result: Reproduction, out: str | Path, lines: list[Line] | None = None) -> Path:
    """Write all files of a report; return the path of the page.

    `lines` are those of `compare`, from a caller who has them already: their bootstrap
    intervals take a moment.
    """
    folder = Path(out)
    for part in ("figures", "tables"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    lines = compare(result) if lines is None else lines
    tables = [
        summary_table(result, lines),
        continuous_table(result),
        discrete_table(result),
        climber_table(result),
    ]
    drawn: dict[str, str] = {}
    for description in figures.FIGURES:
        rendered = figures.draw(description, result)
        if rendered is None:
            continue
        svg, png = rendered
        drawn[description.name] = svg
        write_text(folder / "figures" / f"{description.name}.svg", svg)
        write_bytes(folder / "figures" / f"{description.name}.png", png)
    for table in tables:
        write_text(folder / "tables" / f"{table.name}.csv", to_csv(table))
        write_text(folder / "tables" / f"{table.name}.tex", to_latex(table))
    write_text(folder / "results.json", to_json(numbers(result, lines)) + "\n")
    write_text(folder / "results.md", to_markdown(result, lines, tables, list(drawn)))
    if result.rules == "evolved":
        write_text(folder / "evolved_rules.json", to_json(evolved_rules(result)) + "\n")
    page = folder / "report.html"
    write_text(page, to_html(result, lines, tables, drawn, folder))
    return page


# ------------------------------------------------------------------ numbers


def numbers(result: Reproduction, lines: list[Line]) -> dict[str, Any]:
    """Return all numbers of a reproduction, ready for JSON."""
    marks = sorted({min(mark, result.scale.episodes) for mark in (1, 10, 100, 1_000, 10_000)})
    tests = {
        test: {
            "fitness_at": {str(mark): result.fitness(test)[:, mark - 1].tolist() for mark in marks},
            "best_eps_at": {str(mark): result.best_curve(test)[:, mark - 1].tolist() for mark in marks},
        }
        for test, _, _ in TESTS
    }
    return {
        "format": "distal-results",
        "version": 1,
        "distal": distal.__version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "seed": result.seed,
        "scale": asdict(result.scale),
        "rules": result.rules,
        "settings": asdict(result.settings),
        "engine": result.engine,
        "machine": machine(),
        "seconds": {name: round(value, 2) for name, value in result.seconds.items()},
        "comparison": [
            {**asdict(line), "difference": line.difference, "verdict": line.verdict} for line in lines
        ],
        "evolution": {
            kind: {
                "winners": [winner.to_dict() for winner in evolved.winners],
                "best": evolved.best.tolist(),
                "mean": evolved.mean.tolist(),
            }
            for kind, evolved in result.evolved.items()
        },
        "tests": tests,
        "at_100": {kind: eps.tolist() for kind, eps in result.at_100.items()},
        "best": {kind: result.best(kind) + 1 for kind in ("dsp", "hc")},
    }


def evolved_rules(result: Reproduction) -> dict[str, Any]:
    """Return the evolved rules in the form in which they ship with the package."""
    entries = []
    for number, k in enumerate(result.ranking("dsp"), start=1):
        rule, winner = result.learners["dsp"][k], result.evolved["dsp"].winners[k]
        assert isinstance(rule, Rule)  # noqa: S101
        entries.append(
            {
                "id": number,
                "run": winner.run,
                **{name: getattr(rule, name) for name in NUMBERS},
                "delta_w": list(rule.delta_w),
                "fitness_100_episodes_selected": winner.selected,
                "fitness_100_episodes_remeasured": winner.remeasured,
                f"fitness_{result.scale.episodes}_episodes": float(result.fitness("dsp")[k, -1]),
            }
        )
    source = f"distal {distal.__version__}, distal reproduce --scale {result.scale.name} --seed {result.seed}"
    return {"source": source, "rules": entries}


# ------------------------------------------------------------------ tables


def summary_table(result: Reproduction, lines: list[Line]) -> Table:
    """Return the paper's numbers beside ours."""
    rows = [
        (line.section, line.what, _value(line, line.paper), _value(line, line.ours), _interval(line), _difference(line),
         line.verdict, line.note)
        for line in lines
    ]  # fmt: skip
    caption = "Every number of the paper beside ours; intervals are 95 %." + figures.scale_note(result)
    return Table(
        "summary",
        caption,
        ("section", "what", "paper", "ours", "interval", "difference", "verdict", "note"),
        rows,
    )


def continuous_table(result: Reproduction) -> Table:
    """Return the continuous parts of the rules and their fitness, the best first."""
    rows = []
    for number, k in enumerate(result.ranking("dsp"), start=1):
        rule = result.learners["dsp"][k]
        fitness = result.fitness("dsp")[k, -1]
        cells = [str(number), *(f"{getattr(rule, name):.4f}" for name in NUMBERS), f"{fitness:.2f}"]
        rows.append([*cells, *_winner_cells(result, "dsp", k)])
    caption = f"The continuous parts of the {result.rules} DSP rules and their fitness after {result.scale.episodes:,} episodes."
    return Table("rules_continuous", caption + figures.scale_note(result),
                 ("rule", *NUMBERS, "fitness", *_winner_columns(result, "dsp")), rows)  # fmt: skip


def climber_table(result: Reproduction) -> Table:
    """Return the parameters of hill climbing and their fitness, the best first."""
    names = hill_climbing.NUMBERS
    rows = []
    for number, k in enumerate(result.ranking("hc"), start=1):
        climber, fitness = result.learners["hc"][k], result.fitness("hc")[k, -1]
        cells = [str(number), *(f"{getattr(climber, name):.4f}" for name in names), f"{fitness:.2f}"]
        rows.append([*cells, *_winner_cells(result, "hc", k)])
    caption = (
        f"The evolved hill climbing parameters and their fitness after {result.scale.episodes:,} episodes."
    )
    return Table("climbers", caption + figures.scale_note(result),
                 ("climber", *names, "fitness", *_winner_columns(result, "hc")), rows)  # fmt: skip


def _winner_columns(result: Reproduction, kind: str) -> tuple[str, ...]:
    return ("selected at 100", "re-measured at 100") if kind in result.evolved else ()


def _winner_cells(result: Reproduction, kind: str, k: int) -> list[str]:
    if kind not in result.evolved:
        return []
    winner = result.evolved[kind].winners[k]
    return [f"{winner.selected:.2f}", f"{winner.remeasured:.2f} ± {winner.standard_error:.2f}"]


def discrete_table(result: Reproduction) -> Table:
    """Return the 32 changes of the rules, the best first."""
    rules = [result.learners["dsp"][k] for k in result.ranking("dsp")]
    rows = []
    for row in range(32):
        changes = [str(rule.delta_w[row]) for rule in rules if isinstance(rule, Rule)]
        rows.append([*format(row // 2, "04b"), "1" if row % 2 else "-1", *changes])
    columns = ("00", "01", "10", "11", "m", *(f"rule {n + 1}" for n in range(len(rules))))
    caption = f"The 32 changes of the {result.rules} DSP rules, by trace bits and modulatory signal m."
    return Table("rules_discrete", caption + figures.scale_note(result), columns, rows)


def to_csv(table: Table) -> str:
    """Return a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


_LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "−": r"$-$", "–": "--", "…": r"\ldots{}"}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def to_latex(table: Table) -> str:
    """Return a table as a LaTeX tabular (booktabs)."""
    left = 2 if table.name == "summary" else 1
    width = len(table.columns) - (table.columns[-1] == "note")  # notes are for the page and the CSV
    align = "l" * left + "r" * (width - left)
    rows = [" & ".join(_tex(cell) for cell in row[:width]) + r" \\" for row in (table.columns, *table.rows)]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_tex(table.caption)}}}",
            rf"\begin{{tabular}}{{{align}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _value(line: Line, value: float | str | None) -> str:
    if value is None:
        return "not run"
    if isinstance(value, str):
        return value
    if line.kind == "p" or line.what.endswith(": p"):
        return f"{value:.2g}"
    return f"{value:.1%}" if line.kind == "share" else f"{value:.2f}"


def _interval(line: Line) -> str:
    if line.low is None or line.high is None or line.ours is None:
        return ""
    return f"{_value(line, line.low)} – {_value(line, line.high)}"


def _difference(line: Line) -> str:
    if line.difference is None or line.kind == "p":
        return ""
    return f"{line.difference:+.1%}" if line.kind == "share" else f"{line.difference:+.2f}"


def short_rows(lines: list[Line]) -> list[tuple[str, ...]]:
    """Return section, what, paper, ours, difference and verdict of every line."""
    return [
        (
            line.section,
            line.what,
            _value(line, line.paper),
            _value(line, line.ours),
            _difference(line),
            line.verdict,
        )
        for line in lines
    ]


# ------------------------------------------------------------------ pages


def _what_was_run(result: Reproduction) -> str:
    scale = result.scale
    rules = (
        f"the best of {scale.runs} evolutions of {scale.generations} generations"
        if result.rules == "evolved"
        else "the paper's own fifteen"
    )
    return (
        f"DSP rules: {rules}. Hill climbing parameters: {scale.runs} evolutions of {scale.generations} generations. "
        f"Tests: {result.trials} trials of {scale.episodes:,} episodes for each rule and climber, plain and resampled. "
        f"Seed {result.seed}, Distal {distal.__version__}, engine {result.engine}."
    )


def _readings(result: Reproduction) -> str:
    return ", ".join(f"{name} = {getattr(result.settings, name)}" for name in READINGS)


def _counts(lines: list[Line]) -> str:
    verdicts = [line.verdict for line in lines if line.verdict not in ("", "not run")]
    return f"{verdicts.count('agrees')} of {len(verdicts)} numbers and statements agree with the paper."


HOW = (
    "A mean, a standard deviation or a share agrees if the paper's value lies within our 95 % interval (bootstrap "
    "percentiles; Wilson's for shares). p-values are two-sided Wilcoxon rank-sum tests with the normal approximation, "
    "corrected for ties; they agree if they fall on the same side of 0.05 and, where significant, for the same "
    "learner. The best rule and the best climber are those with the lowest fitness at the end of the plain test."
)


def _stage_rows(result: Reproduction) -> list[tuple[str, str, str]]:
    rows = []
    for stage in plan(result.scale, result.rules, result.maze):
        seconds = result.seconds.get(stage.name, 0.0)
        rows.append((stage.title, f"{stage.episodes:,}", f"{seconds:.1f}"))
    total = sum(result.seconds.values())
    return [*rows, ("together", "", f"{total:.1f}")]


def to_markdown(result: Reproduction, lines: list[Line], tables: list[Table], drawn: list[str]) -> str:
    """Return the summary as Markdown, with the figures beside it."""
    here = machine()
    text = [
        "# Results",
        "",
        f"Written by `distal reproduce --scale {result.scale.name} --rules {result.rules} --seed {result.seed}`.",
        _what_was_run(result) + figures.scale_note(result),
        "",
        f"On {here['processor']}, {here['cores']} cores, in {sum(result.seconds.values()) / 60:.1f} minutes, "
        f"{datetime.now(UTC):%Y-%m-%d}. " + _counts(lines),
        "",
        HOW,
        "",
        f"Readings in force: {_readings(result)}.",
        "",
        "| what | paper | ours | 95 % interval | difference | verdict |",
        "|---|---|---|---|---|---|",
    ]
    section = ""
    for line in lines:
        if line.section != section:
            section = line.section
            text.append(f"| **{section}** | | | | | |")
        cells = (
            line.what,
            _value(line, line.paper),
            _value(line, line.ours),
            _interval(line),
            _difference(line),
            line.verdict,
        )
        text.append("| " + " | ".join(cells) + " |")
    notes = [f"- {line.section}, {line.what}: {line.note}." for line in lines if line.note]
    text += ["", "Notes:", "", *notes, ""]
    for description in figures.FIGURES:
        if description.name in drawn:
            text += [
                f"## {description.title}",
                "",
                f"![{description.title}](figures/{description.name}.svg)",
                "",
                description.caption(result),
                "",
            ]
    for table in tables[1:]:
        text += [f"## {table.name.replace('_', ' ').capitalize()}", "", table.caption, ""]
        text += ["| " + " | ".join(table.columns) + " |", "|" + "---|" * len(table.columns)]
        text += ["| " + " | ".join(row) + " |" for row in table.rows]
        text.append("")
    text += ["## Time", "", "| stage | episodes | seconds |", "|---|---|---|"]
    text += ["| " + " | ".join(row) + " |" for row in _stage_rows(result)]
    return "\n".join(text) + "\n"


_CSS = """
:root { color-scheme: light dark; --ink: #1d2126; --paper: #fff; --soft: #5c6670; --line: #dfe3e8; --card: #fff;
  --good: #00734f; --bad: #a84300; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ea; --paper: #15181c; --soft: #a0a8b0; --line: #333a42; --card: #fff; --good: #4cc79a; --bad: #ff9d5c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.2rem 4rem; color: var(--ink); background: var(--paper);
  font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; } h2 { margin: 2.6rem 0 .6rem; font-size: 1.3rem; }
p.lead { color: var(--soft); margin-top: 0; } a { color: inherit; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .55rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; } tr.section td { font-weight: 600; padding-top: .9rem; text-align: left; }
td:not(:first-child) { white-space: nowrap; } tr.noted td { border-bottom: 0; }
td.note { color: var(--soft); text-align: left; padding-top: 0; font-size: .8rem; }
.agrees { color: var(--good); } .differs { color: var(--bad); }
figure { margin: 1.2rem 0 2rem; } figure .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem; }
figure svg { display: block; width: 100%; height: auto; max-width: 46rem; margin: 0 auto; }
figure.maze svg { max-width: 22rem; }
figcaption { font-size: .9rem; color: var(--soft); margin-top: .5rem; }
@media (max-width: 40rem) { .numbers :is(th, td):is(:nth-child(4), :nth-child(5)) { display: none; } }
nav a { margin-right: 1rem; white-space: nowrap; }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } figure, tr { break-inside: avoid; } nav { display: none; } }
"""


def _listed(lines: list[Line]) -> str:
    """Name lines in a sentence, section by section."""
    sections: dict[str, list[str]] = {}
    for line in lines:
        sections.setdefault(line.section, []).append(line.what)
    return ". ".join(f"{section}: {'; '.join(whats)}" for section, whats in sections.items()) + "."


def _inline(svg: str, name: str) -> str:
    """Return an SVG for use inside a page: no XML prologue, identifiers of its own."""
    body = svg[svg.index("<svg") :]
    own = set(re.findall(r'id="([^"]+)"', body))

    def renamed(found: re.Match[str]) -> str:
        return f"{found[1]}{name}-{found[2]}" if found[2] in own else found[0]  # colours begin with # too

    return re.sub(r'(id="|#)([^"\)]+)(?=["\)])', renamed, body)


def _html_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _comparison_html(lines: list[Line]) -> str:
    columns = ("", "paper", "ours", "95 % interval", "difference", "verdict")
    rows = []
    section = ""
    for line in lines:
        if line.section != section:
            section = line.section
            rows.append(f'<tr class="section"><td colspan="6">{escape(section)}</td></tr>')
        cells = (_value(line, line.paper), _value(line, line.ours), _interval(line), _difference(line))
        kind = {"agrees": "agrees", "": "own", "not run": "own"}.get(line.verdict, "differs")
        noted = ' class="noted"' if line.note else ""
        rows.append(
            f"<tr{noted}><td>{escape(line.what)}</td>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + f'<td class="{kind}">{escape(line.verdict)}</td></tr>'
        )
        if line.note:
            rows.append(f'<tr><td class="note" colspan="6">{escape(line.note)}</td></tr>')
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "\n".join(rows)
    return f'<div class="scroll numbers"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def to_html(
    result: Reproduction, lines: list[Line], tables: list[Table], drawn: dict[str, str], folder: Path
) -> str:
    """Return the whole report as one page."""
    here = machine()
    versions = ", ".join(f"{name} {here[name]}" for name in ("python", "numpy", "numba") if here[name])
    agree = [line for line in lines if line.verdict == "agrees"]
    differ = [line for line in lines if line.verdict not in ("agrees", "not run", "")]
    shown = []
    for description in figures.FIGURES:
        if description.name in drawn:
            shown.append(
                f'<figure id="{description.name}" class="{description.name}"><h3>{escape(description.title)}</h3>'
                f'<div class="card">{_inline(drawn[description.name], description.name)}</div>'
                f"<figcaption>{escape(description.caption(result))} "
                f'<a href="figures/{description.name}.svg">SVG</a> <a href="figures/{description.name}.png">PNG</a>'
                "</figcaption></figure>"
            )
    files = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".") and path.name != "report.html"
    )
    links = "".join(f'<li><a href="{escape(file)}">{escape(file)}</a></li>' for file in files)
    differences = "".join(
        f"<li>{escape(line.section)}: {escape(line.what)} – paper {escape(_value(line, line.paper))}, "
        f"ours {escape(_value(line, line.ours))}</li>"
        for line in differ
    )
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Delayed synaptic plasticity: the paper and our results</title><style>{_CSS}</style></head><body>",
        "<h1>Learning with Delayed Synaptic Plasticity: the paper’s results and ours</h1>",
        f'<p class="lead">{escape(_what_was_run(result) + figures.scale_note(result))}</p>',
        '<nav><a href="#numbers">Numbers</a><a href="#figures">Figures</a><a href="#tables">Tables</a>'
        '<a href="#readings">Readings</a><a href="#time">Time</a><a href="#files">Files</a></nav>',
        f'<h2 id="numbers">The paper’s numbers beside ours</h2><p>{escape(_counts(lines))} {escape(HOW)}</p>',
        _comparison_html(lines),
        "<h2>Where we agree</h2>",
        f"<p>{escape(_listed(agree))}</p>",
        "<h2>Where we differ</h2>",
        f"<ul>{differences}</ul>" if differ else "<p>Nowhere, by these intervals.</p>",
        "<p>The paper’s picture of the maze is not part of its source; ours fills the same grid and has the same mean "
        "distance. Where the paper is silent, the readings below decide.</p>",
        '<h2 id="figures">Figures</h2>',
        *shown,
        '<h2 id="tables">Tables</h2>',
        *(
            f"<h3>{escape(table.caption)}</h3>" + _html_table(table.columns, table.rows)
            for table in tables[1:]
        ),
        f'<h2 id="readings">Readings in force</h2><p>{escape(_readings(result))}; {result.settings.hidden} hidden '
        f"neurons, {result.settings.steps} steps an episode.</p>",
        f'<h2 id="time">Time</h2><p>{escape(here["processor"])}, {here["cores"]} cores, {here["memory_gib"]} GiB, '
        f"{escape(here['system'])}; {escape(versions)}; {datetime.now(UTC):%Y-%m-%d}.</p>",
        _html_table(("stage", "episodes", "seconds"), _stage_rows(result)),
        f'<h2 id="files">Files</h2><ul>{links}</ul>',
        "</body></html>\n",
    ]
    return "\n".join(parts)
