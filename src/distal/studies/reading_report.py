"""The study of readings as files: figures, numbers, and a page that holds them all.

readings.html   everything on one page, without the network
readings.md     the same as text, with the figures beside it
study.json      all numbers
figures/        each figure as SVG and PNG
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from distal.base.colours import DARK, LIGHT, css
from distal.base.files import to_json
from distal.base.folders import for_report
from distal.base.significance import SIGNIFICANT
from distal.model.maze import DEFAULT_MAZE, MAZES, maze_name
from distal.search.config import REMEASURED
from distal.studies import experiments
from distal.studies.figures import GROUND
from distal.studies.reading_figures import KINDS, PICTURES, draw, p_text, paper, search_of
from distal.studies.reading_study import (
    EPISODES,
    HOLDS,
    REPORT,
    SCALES,
    SHUFFLES,
    Mean,
    Outcome,
    ReadingStudy,
    readings,
    short_name,
)
from distal.studies.reading_tests import BINS, PRIOR, papers_fitness, papers_likelihood

PAPER = "the paper"


def write(study: ReadingStudy, out: str | Path) -> Path:
    """Write all files of a report; return the path of the page."""
    with for_report(out, HOLDS, REPORT) as folder:
        drawn: dict[str, str] = {}
        for picture in PICTURES:
            svg, png = draw(picture, study)
            drawn[picture.name] = svg
            folder.write_text(f"figures/{picture.name}.svg", svg)
            folder.write_bytes(f"figures/{picture.name}.png", png)
        folder.write_text("study.json", to_json(study.to_dict()) + "\n")
        folder.write_text("readings.md", "# A study of readings\n\n" + to_markdown(study))
        folder.write_text("readings.html", to_html(study, drawn))
        return folder.file("readings.html")


# ------------------------------------------------------------------ what it says


def introduction(study: ReadingStudy) -> list[str]:
    """Say in five sentences what a reading is, what chance is and how to read the table."""
    as_paper = ", evolution should begin and end where the paper’s did," if study.is_papers else ""
    left_out = (
        ""
        if study.is_papers
        else "; what the paper reports, which is for another maze or another network, is left out"
    )
    return [
        "A reading is one way to understand a sentence of the paper that leaves room for several; each is a setting of "
        "Distal with a few values.",
        f"The study measures a base, here {_base(study)}, and then every other value of every reading and every other maze "
        "that has a name, one at a time and with the same random seeds, so that a row differs from the base by that alone.",
        f"EPs are means of the best after {EPISODES} episodes (in the appendix test after {study.scale.episodes:,}), and lower is "
        f"better: the EP counts the steps to the goal, or {study.settings.steps} plus the distance left, and 5 for every "
        "step into a pit.",
        "Chance is a new random network in every episode, which learns nothing, but whose best EP so far falls too: a "
        "value that is not below chance shows nothing; one below it shows a better search, which is not yet learning.",
        "If a reading is the paper’s, the published rules should lie well below chance and do, rule by rule, what its appendix "
        f"says{as_paper} evolution should find rules like the published ones, and the published tables should do better with "
        f"their own numbers than with those of other rules (pairing below 0, with a small p){left_out}.",
    ]  # fmt: skip


def _base(study: ReadingStudy) -> str:
    values = "the defaults" if study.is_default else "not the defaults"
    return f"{values}, in the {maze_name(study.maze)}"


def findings(study: ReadingStudy) -> list[str]:
    """Say which variant each test favours, in a sentence each."""
    tested = [outcome for outcome in study.outcomes if not outcome.reused("published")]
    lead = min(tested, key=lambda outcome: outcome.difference.mean)
    near = min(tested, key=lambda outcome: outcome.appendix.rms)
    strong = min(tested, key=lambda outcome: outcome.pairing.effect)
    small = sum(outcome.pairing.p < SIGNIFICANT and outcome.pairing.effect < 0 for outcome in tested)
    text = [
        f"The published rules lead over chance most with {_named(lead)}: {_plain(lead.published)}, chance "
        f"{_plain(lead.chance)}; {lead.beat_chance} of {len(lead.rules)} beat it.",
        f"After {study.scale.episodes:,} episodes they come nearest to the paper’s appendix with {_named(near)}: r = "
        f"{near.appendix.r:.2f}, rms = {near.appendix.rms:.1f}; noise alone gives {near.appendix.noise_r:.2f} and "
        f"{near.appendix.noise_rms:.1f}.",
        f"The published tables belong most to their own numbers with {_named(strong)}: {_signed(strong.pairing.effect, 2)} "
        f"standard deviations, p = {p_text(strong.pairing.p)}. p is below {SIGNIFICANT} for {small} of {len(tested)} variants.",
    ]  # fmt: skip
    for kind, name in KINDS.items():
        own = [outcome for outcome in study.outcomes if not outcome.reused(f"evolve_{kind}")]
        goal = paper(kind, "final").mean if study.is_papers else -np.inf

        def distance(outcome: Outcome, kind: str = kind, goal: float = goal) -> float:
            last = Mean.of(search_of(outcome, kind).last).mean
            return last if goal == -np.inf else abs(last - goal)

        best = min(own, key=distance)
        search = search_of(best, kind)
        text.append(
            f"Evolution of {name} ends {f'nearest to the paper’s {goal:.1f}' if study.is_papers else 'lowest'} with "
            f"{_named(best)}: {_plain(Mean.of(search.last))}, and {_plain(search.afresh)} on fresh trials, chance "
            f"{search.chance:.1f}."
        )
    own = [outcome for outcome in study.outcomes if not outcome.reused("evolve_dsp")]
    like = max(own, key=lambda outcome: outcome.likelihood.tables + outcome.likelihood.numbers)
    among = papers_likelihood()
    text.append(
        f"Evolution finds rules most like the published ones with {_named(like)}: log-likelihood "
        f"{like.likelihood.tables:.0f} for the tables and {like.likelihood.numbers:.0f} for the numbers; the published rules "
        f"among themselves have {among.tables:.0f} and {among.numbers:.0f}."
    )
    return [_unbroken(sentence) for sentence in text]


def _unbroken(text: str) -> str:
    """Keep what belongs together on one line: trace_pre = previous, 81.4 ± 4.0."""
    return text.replace(" = ", "\u00a0=\u00a0").replace(" ± ", "\u00a0±\u00a0")


def scale_note(study: ReadingStudy) -> str:
    """Say what was run, if it is less than the paper."""
    scale = study.scale
    if scale.name == "paper":
        return ""
    whose = "the paper has" if study.is_papers else "the scale “paper” has"
    whole = SCALES["paper"]
    return (
        f"This is a reduced scale, {scale.runs} runs of {scale.generations} generations: {whose} {whole.runs} runs of "
        f"{whole.generations}, so evolution ends earlier here, and higher. The appendix test has {scale.episodes:,} episodes "
        f"here, but is set beside the paper’s numbers after {whole.episodes:,}."
    )


def _what_was_run(study: ReadingStudy) -> str:
    scale, finals = study.scale, len(study.maze.finals)
    return (
        f"Published rules and chance: {scale.trials * finals} trials each, the same for both. Appendix: "
        f"{experiments.TRIALS * finals} trials of {scale.episodes:,} episodes for each rule. Pairing: "
        f"{scale.pairs * finals} trials for each pair of a table and a set of numbers. Evolution: {scale.runs} runs of "
        f"{scale.generations} generations; every winner is measured afresh on about {REMEASURED} trials, beside chance "
        f"on the same. All other trials have {EPISODES} episodes. Seed {study.seed}, Distal {study.version}, "
        f"engine {study.engine}."
    )


def _readings_in_force(study: ReadingStudy) -> str:
    base = study.base.variant
    values = ", ".join(f"{reading} = {base.of(reading)}" for reading in readings())
    settings = study.settings
    return f"{values}; {settings.hidden} hidden neurons, {settings.steps} steps an episode; {maze_name(study.maze)}"


# The columns of the table: group, heading, and the part of the study it comes from.
COLUMNS = (
    ("The published rules", "chance", "chance"),
    ("The published rules", "hill climbing", "evolve_hc"),
    ("The published rules", "rules", "published"),
    ("The published rules", "difference", "published"),
    ("The published rules", "beat it", "published"),
    ("The appendix", "mean", "appendix"),
    ("The appendix", "r", "appendix"),
    ("The appendix", "rms", "appendix"),
    ("Pairing", "effect", "pairing"),
    ("Pairing", "p", "pairing"),
    ("Log-likelihood", "tables", "evolve_dsp"),
    ("Log-likelihood", "numbers", "evolve_dsp"),
    ("Evolution of DSP rules", "first", "evolve_dsp"),
    ("Evolution of DSP rules", "last", "evolve_dsp"),
    ("Evolution of DSP rules", "afresh", "evolve_dsp"),
    ("Evolution of DSP rules", "chance", "evolve_dsp"),
    ("Evolution of DSP rules", "beat it", "evolve_dsp"),
    ("Evolution of hill climbing", "first", "evolve_hc"),
    ("Evolution of hill climbing", "last", "evolve_hc"),
    ("Evolution of hill climbing", "afresh", "evolve_hc"),
    ("Evolution of hill climbing", "chance", "evolve_hc"),
    ("Evolution of hill climbing", "beat it", "evolve_hc"),
)
_GROUPS = tuple(dict.fromkeys(group for group, _, _ in COLUMNS))


def cells(outcome: Outcome) -> list[str]:
    """Return the row of a variant, without its name."""
    row = [
        _plain(outcome.chance), f"{outcome.hc.afresh.mean:.1f}",
        _plain(outcome.published), _plain(outcome.difference, sign=True),
        f"{outcome.beat_chance}/{len(outcome.rules)}",
        f"{outcome.appendix.mean:.1f}", f"{outcome.appendix.r:.2f}", f"{outcome.appendix.rms:.1f}",
        _signed(outcome.pairing.effect, 2), p_text(outcome.pairing.p),
        _minus(f"{outcome.likelihood.tables:.1f}"), _minus(f"{outcome.likelihood.numbers:.1f}"),
    ]  # fmt: skip
    for search in (outcome.dsp, outcome.hc):
        row += [_plain(Mean.of(search.first)), _plain(Mean.of(search.last))]
        row += [
            f"{search.afresh.mean:.1f}",
            f"{search.chance:.1f}",
            f"{search.beat_chance}/{len(search.winners)}",
        ]
    return row


def _paper_cells(study: ReadingStudy) -> list[str]:
    """Return the paper's row: what it reports of these numbers, nothing if maze or network are not its own."""
    if not study.is_papers:
        return [""] * len(COLUMNS)
    among = papers_likelihood()
    own = {
        ("The appendix", "mean"): f"{np.mean(papers_fitness()):.1f}",
        ("Log-likelihood", "tables"): f"{among.tables:.1f}",
        ("Log-likelihood", "numbers"): f"{among.numbers:.1f}",
    }
    for kind in KINDS:
        group = next(group for group, _, part in COLUMNS if part == f"evolve_{kind}" and "Evolution" in group)
        own[group, "first"], own[group, "last"] = _plain(paper(kind, "initial")), _plain(paper(kind, "final"))
    return [own.get((group, heading), "") for group, heading, _ in COLUMNS]


def tables(study: ReadingStudy) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return a table for each group of columns as title, headings and rows; in brackets what is the base's."""
    found = []
    for title in _GROUPS:
        kept = [k for k, (group, _, _) in enumerate(COLUMNS) if group == title]
        rows = []
        for outcome in study.outcomes:
            row = cells(outcome)
            shown = [f"({row[k]})" if outcome.reused(COLUMNS[k][2]) else row[k] for k in kept]
            rows.append([outcome.variant.label, *shown])
        row = _paper_cells(study)
        if any(row[k] for k in kept):
            rows.append([PAPER, *(row[k] for k in kept)])
        found.append((title, [COLUMNS[k][1] for k in kept], rows))
    return found


def legend(study: ReadingStudy) -> list[str]:
    """Say what the columns are."""
    return [
        "The published rules: mean best EP of the fifteen ± standard error; chance in the same trials; hill climbing: "
        "the evolved climbers on fresh trials of their own; the difference is rules minus chance, paired. "
        f"Beat it: so many rules, or winners, are better than chance with p < {SIGNIFICANT} in the paired t-test.",
        f"The appendix: mean best EP of the fifteen after {study.scale.episodes:,} episodes; r, rms: correlation with, and root of "
        "the mean squared difference from, the paper’s fifteen numbers after 10,000.",
        "Pairing, effect: the mean residual of the published tables with their own numbers, in standard deviations of all other pairs; "
        f"p: the share of {SHUFFLES:,} random matchings that do as well.",
        f"Log-likelihood of the published rules, where the {study.scale.runs} winners of the evolution of rules say how likely each "
        f"change is in each row and each of {BINS} bins of each number (prior weight {PRIOR:g}), less that with all values alike; "
        "that of the paper: each of its rules by the others.",
        "Evolution: best of the first and of the last generation, mean ± standard deviation over runs, in the trials that "
        "selected them, hence optimistic; afresh: the winners on fresh trials, chance: on the same. The first generation of hill climbing is the "
        "best of 14 random sets of parameters.",
    ]  # fmt: skip


REUSED = "the base’s, which the reading does not touch"


def _named(outcome: Outcome) -> str:
    return "the base" if outcome.variant.reading is None else outcome.variant.label


def _plain(value: Mean, sign: bool = False) -> str:
    mean = _signed(value.mean, 1) if sign else f"{value.mean:.1f}"
    return mean + ("" if value.spread is None else f" ± {value.spread:.1f}")


def _signed(value: float, digits: int) -> str:
    return _minus(f"{value:+.{digits}f}")


def _minus(text: str) -> str:
    return text.replace("-", "−")


# ------------------------------------------------------------------ pages


def command(study: ReadingStudy) -> str:
    """Return the command that makes the study; of a maze without a name it says FILE."""
    words = [f"distal readings --scale {study.scale.name} --seed {study.seed}"]
    base = study.base.variant
    for reading, values in readings().items():
        if base.of(reading) != next(iter(values)):
            words.append(f"--{reading.replace('_', '-')} {base.of(reading)}")
    defaults = type(study.settings)()
    for name in ("hidden", "steps"):
        if getattr(study.settings, name) != getattr(defaults, name):
            words.append(f"--{name} {getattr(study.settings, name)}")
    if short_name(study.maze) != DEFAULT_MAZE:
        words.append(f"--maze {short_name(study.maze) or 'FILE'}")
    if study.maze.heading != "north":
        words.append(f"--heading {study.maze.heading}")
    return " ".join(words)


def _where(study: ReadingStudy) -> str:
    here, minutes = study.machine, sum(study.seconds.values()) / 60
    card = f"{here['card']} with " if here.get("card") else ""
    return f"{card}{here['processor']}, {here['cores']} cores, in {minutes:.1f} minutes"


def _markdown_row(texts: Iterable[str]) -> str:
    return "| " + " | ".join(texts) + " |"


def to_markdown(study: ReadingStudy) -> str:
    """Return the study as Markdown, with the figures beside it in figures/."""
    text = [f"Written by `{command(study)}`, on {_where(study)}.", ""]
    note = scale_note(study)
    text += [f"**{note}**", ""] if note else []
    text += [" ".join(introduction(study)), "", f"The base: {_readings_in_force(study)}.", ""]
    text += [f"- {sentence}" for sentence in findings(study)]
    for title, columns, rows in tables(study):
        text += ["", f"### {title}", "", _markdown_row(["", *columns]), "|---|" + "---:|" * len(columns)]
        for label, *row in rows:
            name = {"base": "**base**", PAPER: f"*{PAPER}*"}.get(label, f"`{label}`")
            text.append(_markdown_row([name, *row]))
    text += [
        "",
        *(f"{line}  " for line in legend(study)),
        f"In brackets: {REUSED}.",
        "",
        _what_was_run(study),
    ]
    for picture in PICTURES:
        text += ["", f"### {picture.title}", "", f"![{picture.title}](figures/{picture.name}.svg)", ""]
        text.append(picture.says(study))
    return "\n".join(text) + "\n"


_CSS = (
    f"""
:root {{ color-scheme: light dark; {css(LIGHT)} --ground: {GROUND[0]}; --band: #f4f6f8; }}
@media (prefers-color-scheme: dark) {{ :root {{ {css(DARK)} --ground: {GROUND[1]}; --band: #1d2228; }} }}
"""
    + """
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.2rem 4rem; color: var(--ink);
  background: var(--ground); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .8rem; }
h2 { margin: 2.6rem 0 .6rem; font-size: 1.3rem; }
.soft, figcaption { color: var(--soft); font-size: .9rem; } figcaption { margin-top: .5rem; } a { color: inherit; }
.finding { border-left: 4px solid var(--dsp); background: var(--band); padding: .6rem 1rem .6rem 2rem; }
.finding li, .intro li { margin-bottom: .35rem; } .intro { padding-left: 1.2rem; }
.note { border-left: 4px solid var(--start); padding: .1rem 1rem; }
.scroll { overflow-x: auto; } .swipe { display: none; margin: 0 0 .2rem; color: var(--soft); font-size: .8rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .32rem .4rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { vertical-align: bottom; font-weight: 600; white-space: normal; line-height: 1.25; } th.group { text-align: left; border-bottom: 0; }
tr > td:first-child, th[rowspan] { text-align: left; position: sticky; left: 0; background: var(--ground); }
.begins { border-left: 1px solid var(--line); padding-left: .7rem; }
tr.base :is(th, td) { background: var(--band); font-weight: 700; } tr.paper td { color: var(--paper); }
td.reused { color: var(--soft); opacity: .65; }
.words { width: auto; } .words td { text-align: left; vertical-align: top; white-space: normal; }
figure { margin: 1.2rem 0 2rem; } figure img { display: block; width: 100%; height: auto; }
.card { border: 1px solid var(--line); border-radius: 8px; padding: .6rem; overflow-x: auto; }
figure img { min-width: 30rem; }
@media (max-width: 44rem) { body { padding: 1.2rem .9rem 3rem; } th, td { padding: .3rem .35rem; } }
@media screen and (max-width: 44rem) { .swipe:has(+ .scroll) { display: block; } }
@media screen and (max-width: 33rem) { .swipe { display: block; } }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } figure, tr { break-inside: avoid; } }
"""
)


# Above what is wider than a phone; other screens do not show it.
SWIPE = '<p class="swipe" aria-hidden="true">swipe sideways →</p>'


def _html_table(study: ReadingStudy, groups: Sequence[str]) -> str:
    """Return groups of columns as a table: the base, every other value and maze, the paper."""
    kept = [k for k, (group, _, _) in enumerate(COLUMNS) if group in groups]
    edge = {k: "begins" if k == 0 or COLUMNS[k - 1][0] != COLUMNS[k][0] else "" for k in kept}
    spans = [
        f'<th class="group begins" colspan="{sum(COLUMNS[k][0] == group for k in kept)}">{escape(group)}</th>'
        for group in groups
    ]
    heads = [f'<th class="{edge[k]}">{escape(COLUMNS[k][1])}</th>' for k in kept]

    def line(kind: str, label: str, row: list[str], reused: Callable[[str], bool]) -> str:
        tds = [
            f'<td class="{edge[k]}{" reused" if reused(COLUMNS[k][2]) else ""}">{escape(row[k])}</td>'
            for k in kept
        ]
        return f'<tr class="{kind}"><td>{escape(label)}</td>{"".join(tds)}</tr>'

    lines = [
        line("" if outcome.variant.reading else "base", outcome.variant.label, cells(outcome), outcome.reused)
        for outcome in study.outcomes
    ]
    row = _paper_cells(study)
    if any(row[k] for k in kept):
        lines.append(line("paper", PAPER, row, lambda part: False))
    return (
        f'{SWIPE}<div class="scroll"><table><thead><tr><th rowspan="2"></th>{"".join(spans)}</tr>\n<tr>{"".join(heads)}</tr>'
        "</thead>\n<tbody>" + "\n".join(lines) + "</tbody></table></div>"
    )


def _meanings() -> str:
    """Return what every value of every reading means, as a table."""
    rows = [
        f"<tr><td>{escape(reading)}</td><td>{escape(value)}</td><td>{escape(text)}</td></tr>"
        for reading, values in (*readings().items(), ("maze", MAZES))
        for value, text in values.items()
    ]
    return '<table class="words"><tbody>' + "\n".join(rows) + "</tbody></table>"


def to_html(study: ReadingStudy, drawn: dict[str, str]) -> str:
    """Return the whole report as one page; `drawn` are the SVGs by name."""
    shown = []
    for picture in PICTURES:
        data = base64.b64encode(drawn[picture.name].encode()).decode()
        shown.append(
            f'<figure id="{picture.name}"><h3>{escape(picture.title)}</h3>{SWIPE}<div class="card">'
            f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(picture.title)}"></div>'
            f'<figcaption>{escape(picture.says(study))} <a href="figures/{picture.name}.svg">SVG</a> '
            f'<a href="figures/{picture.name}.png">PNG</a></figcaption></figure>'
        )
    note = scale_note(study)
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Readings: what the paper leaves open</title><style>{_CSS}</style></head><body>",
        "<h1>Readings: what the paper leaves open, and what it does to the results</h1>",
        '<ol class="intro">' + "".join(f"<li>{escape(each)}</li>" for each in introduction(study)) + "</ol>",
        f'<p class="note">{escape(note)}</p>' if note else "",
        '<h2 id="findings">What the numbers say</h2><ul class="finding">'
        + "".join(f"<li>{escape(each)}</li>" for each in findings(study)) + "</ul>",
        '<h2 id="table">Every reading</h2>',
        "<br>\n".join(_html_table(study, _GROUPS[k : k + 2]) for k in range(0, len(_GROUPS), 2)),
        f'<p class="soft">{escape(" ".join(legend(study)))} Pale: {escape(REUSED)}.</p>',
        f'<p class="soft">The base: {escape(_readings_in_force(study))}.</p>',
        '<h2 id="figures">Figures</h2>',
        *shown,
        '<h2 id="values">What the values mean</h2>',
        _meanings(),
        f'<h2 id="run">What was run</h2><p class="soft">{escape(_what_was_run(study))} On '
        f"{escape(_where(study))}.</p>",
        f'<p class="soft"><code>{escape(command(study))}</code></p>',
        '<p class="soft">All numbers: <a href="study.json">study.json</a>; as text: '
        '<a href="readings.md">readings.md</a>.</p>',
        "</body></html>\n",
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)
