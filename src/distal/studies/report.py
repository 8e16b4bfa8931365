"""A reproduction as files: figures, tables, numbers, and one page that holds them all.

report.html         everything on one page that needs no network
results.json        all numbers
results.md          the summary, with the figures beside it
figures/            each figure as SVG and PNG
tables/             each table as CSV and LaTeX
evolved_rules.json  the evolved rules, the best first
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from distal._version import __version__
from distal.base.colours import DARK, LIGHT, css
from distal.base.files import to_csv, to_json
from distal.base.folders import Folder, for_report
from distal.engines import machine_of
from distal.learners import chance_for, hill_climbing
from distal.learners.shipped import NUMBERS
from distal.model.readings import READINGS
from distal.search.config import REMEASURED
from distal.search.results import Evolved
from distal.studies import figures
from distal.studies.appendix import EPISODES, NARROW
from distal.studies.comparison import NAMES, Line, agreement, behaviours, compare
from distal.studies.experiments import HOLDS, REPORT, RESAMPLE, TESTS, Reproduction, other_elites, plan


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
    lines = compare(result) if lines is None else lines
    with for_report(out, HOLDS, REPORT) as folder:
        return _write(result, folder, lines)


def _write(result: Reproduction, folder: Folder, lines: list[Line]) -> Path:
    tables = [
        _summary_table(result, lines),
        _appendix_table(result, lines),
        _continuous_table(result),
        _discrete_table(result),
        climber_table(result),
    ]
    drawn: dict[str, str] = {}
    for description in figures.FIGURES:
        rendered = figures.draw(description, result)
        if rendered is None:
            continue
        svg, png = rendered
        drawn[description.name] = svg
        folder.write_text(f"figures/{description.name}.svg", figures.standalone(svg))
        folder.write_bytes(f"figures/{description.name}.png", png)
    for table in tables:
        folder.write_text(f"tables/{table.name}.csv", to_csv([table.columns, *table.rows]))
        # A LaTeX table goes elsewhere alone: its caption says what was run.
        folder.write_text(f"tables/{table.name}.tex", _to_latex(table, figures.scale_note(result)))
    folder.write_text("results.json", to_json(numbers(result, lines)) + "\n")
    folder.write_text("results.md", to_markdown(result, lines, tables, list(drawn)))
    if result.rules == "evolved":
        folder.write_text("evolved_rules.json", to_json(evolved_rules(result)) + "\n")
    page = "report.html"
    files = sorted(name for name in folder.files - {page} if (folder.path / name).is_file())
    folder.write_text(page, to_html(result, lines, tables, drawn, files))
    return folder.file(page)


# ------------------------------------------------------------------ numbers


def numbers(result: Reproduction, lines: list[Line]) -> dict[str, Any]:
    """Return all numbers of a reproduction, ready for JSON."""
    marks = sorted({min(mark, result.scale.episodes) for mark in (1, 10, 100, 1_000, 10_000)})

    def at_marks(test: str) -> dict[str, Any]:
        return {
            "fitness_at": {str(mark): result.fitness(test)[:, mark - 1].tolist() for mark in marks},
            "best_eps_at": {str(mark): result.best_curve(test)[:, mark - 1].tolist() for mark in marks},
        }

    def evolution(evolved: dict[str, Evolved]) -> dict[str, Any]:
        return {
            kind: {
                "winners": [winner.to_dict() for winner in found.winners],
                "best": found.best.tolist(),
                "mean": found.mean.tolist(),
            }
            for kind, found in evolved.items()
        }

    best_rule = result.learners["dsp"][result.best("dsp")]
    return {
        "format": "distal-results",
        "version": 1,
        "distal": __version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "seed": result.seed,
        "scale": asdict(result.scale),
        "rules": result.rules,
        "elites": result.elites,
        "settings": result.settings.to_dict(),
        "engine": result.engine,
        "machine": machine_of(result.engine),
        "seconds": {name: round(value, 2) for name, value in result.seconds.items()},
        "comparison": [
            {**asdict(line), "difference": line.difference, "verdict": line.verdict} for line in lines
        ],
        "evolution": evolution(result.evolved),
        "otherwise": {"elites": other_elites(result.elites), "evolution": evolution(result.otherwise)},
        "fresh": {
            kind: [
                {"from": result.origin(kind, k), **asdict(fresh), "beats_chance": fresh.beats_chance}
                for k, fresh in enumerate(found)
            ]
            for kind, found in result.fresh.items()
        },
        "tests": {test: at_marks(test) for test, _, _ in TESTS},
        "chance": {"learner": chance_for(best_rule).numbers, **at_marks("chance")},
        "behaviour": {kind: found.to_dict() for kind, found in behaviours(result).items()},
        "at_100": {kind: eps.tolist() for kind, eps in result.at_100.items()},
        "best": {kind: result.best(kind) + 1 for kind in ("dsp", "hc")},
        "appendix": result.appendix.to_dict(),
    }


def evolved_rules(result: Reproduction) -> dict[str, Any]:
    """Return the evolved rules in the form in which they ship with the package."""
    entries = []
    for number, k in enumerate(result.ranking("dsp"), start=1):
        rule, winner = result.dsp_rules[k], result.evolved["dsp"].winners[k]
        entries.append(
            {
                "id": number,
                "run": winner.run,
                **{name: getattr(rule, name) for name in NUMBERS},
                "delta_w": list(rule.delta_w),
                "fitness_100_episodes_selected": winner.selected,
                "fitness_100_episodes_remeasured": winner.remeasured,
                "chance_100_episodes": winner.fresh.chance,
                f"chance_{result.scale.episodes}_episodes": float(result.fitness("chance")[k, -1]),
                f"fitness_{result.scale.episodes}_episodes": float(result.fitness("dsp")[k, -1]),
            }
        )
    source = f"distal {__version__}, distal reproduce --scale {result.scale.name} --seed {result.seed}"
    return {"source": source, "rules": entries}


# ------------------------------------------------------------------ tables


def _summary_table(result: Reproduction, lines: list[Line]) -> Table:
    """Return the paper's numbers beside ours."""
    rows = [
        (line.section, line.what, _value(line, line.paper), _value(line, line.ours), _interval(line), _difference(line),
         line.verdict, line.note)
        for line in lines
    ]  # fmt: skip
    return Table(
        "summary",
        "Every number of the paper beside ours and chance; intervals are 95 %.",
        ("section", "what", "paper", "ours", "interval", "difference", "verdict", "note"),
        rows,
    )


def _appendix_table(result: Reproduction, lines: list[Line]) -> Table:
    """Return the paper's fifteen rules, in its order: its number, ours, and what stands beside it."""
    found = result.appendix
    verdicts = {line.what: line.verdict for line in lines}
    rows = []
    for row in found.rows:
        numbers = (row.paper, row.ours.value, row.ours.low, row.ours.high)
        beside = (
            "–" if value is None else f"{value:.2f}" for value in (row.chance, row.resampled, row.narrow)
        )
        verdict = verdicts.get(f"{row.rule}: fitness", "")
        rows.append([row.rule, *(f"{value:.2f}" for value in numbers), f"{row.p:.2g}", verdict, *beside])
    caption = (
        f"Fitness of the paper's fifteen rules after {EPISODES:,} episodes: its appendix and ours after {found.episodes:,}, "
        f"{result.trials} trials each. low, high: the 95 % interval of ours. p: Welch's test, the paper's trials taken to "
        "spread as ours do. chance: with the rule's α, in the same trials. resampled: fresh weights every "
        f"{RESAMPLE} episodes. {NARROW}: ours in that maze, where it is another."
    )
    columns = ("rule", "paper", "ours", "low", "high", "p", "verdict", "chance", "resampled", NARROW)
    return Table("appendix", caption, columns, rows)


def _continuous_table(result: Reproduction) -> Table:
    """Return the continuous parts of the rules and their fitness beside chance, the best first."""
    what = f"The continuous parts of the {result.rules} DSP rules"
    return _learners_table(result, "dsp", "rules_continuous", "rule", what, NUMBERS)


def climber_table(result: Reproduction) -> Table:
    """Return the parameters of hill climbing and their fitness beside chance, the best first."""
    what = "The evolved hill climbing parameters"
    return _learners_table(result, "hc", "climbers", "climber", what, hill_climbing.NUMBERS)


def _learners_table(
    result: Reproduction, kind: str, name: str, word: str, what: str, numbers: Sequence[str]
) -> Table:
    rows = []
    evolved = kind in result.evolved
    for place, k in enumerate(result.ranking(kind), start=1):
        learner, fresh = result.learners[kind][k], result.fresh[kind][k]
        cells = [str(place), result.origin(kind, k), f"{result.fitness(kind)[k, -1]:.2f}"]
        if evolved:
            cells.append(f"{result.evolved[kind].winners[k].selected:.2f}")
        cells.append(f"{fresh.fitness:.2f} ± {fresh.standard_error:.2f}")
        if fresh.chance is None or fresh.p is None or fresh.superiority is None:  # finished by version 0.1
            cells += ["–"] * 4
        else:
            chance = f"{fresh.chance:.2f} ± {fresh.chance_standard_error:.2f}"
            cells += [
                chance,
                "yes" if fresh.beats_chance else "no",
                f"{fresh.p:.2g}",
                f"{fresh.superiority:.2f}",
            ]
        rows.append([*cells, *(f"{getattr(learner, one):.4f}" for one in numbers)])
    caption = (
        f"{what}, the best first. fitness: after {result.scale.episodes:,} episodes. "
        + ("selected at 100: the fitness that made it the winner, after 100 episodes. " if evolved else "")
        + f"re-measured at 100: on about {REMEASURED} fresh trials of 100 episodes. chance: on the same trials. "
        "p: paired t-test. P(better): the share of trials that are better than chance's, ties half. ±: standard error."
    )
    measured = [
        *["selected at 100"] * evolved,
        "re-measured at 100",
        "chance",
        "beats chance",
        "p",
        "P(better)",
    ]
    return Table(name, caption, (word, "from", "fitness", *measured, *numbers), rows)


def _discrete_table(result: Reproduction) -> Table:
    """Return the 32 changes of the rules, the best first."""
    rules = [result.dsp_rules[k] for k in result.ranking("dsp")]
    rows = []
    for row in range(32):
        changes = [str(rule.delta_w[row]) for rule in rules]
        rows.append([*format(row // 2, "04b"), "1" if row % 2 else "-1", *changes])
    columns = ("00", "01", "10", "11", "m", *(f"rule {n + 1}" for n in range(len(rules))))
    origins = ", ".join(
        f"rule {n} is {result.origin('dsp', k)}" for n, k in enumerate(result.ranking("dsp"), start=1)
    )
    caption = (
        f"The 32 changes of the {result.rules} DSP rules, by trace bits and modulatory signal m: {origins}."
    )
    return Table("rules_discrete", caption, columns, rows)


_LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "−": r"$-$", "–": "--", "…": r"\ldots{}"}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _to_latex(table: Table, note: str = "") -> str:
    """Return a table as a LaTeX tabular (booktabs), with a note at the end of its caption."""
    left = 2 if table.name == "summary" else 1
    width = len(table.columns) - (table.columns[-1] == "note")  # notes are for the page and the CSV
    align = "l" * left + "r" * (width - left)
    rows = [" & ".join(_tex(cell) for cell in row[:width]) + r" \\" for row in (table.columns, *table.rows)]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_tex(table.caption + note)}}}",
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
    form = line.written or line.kind
    if form == "p":
        return f"{value:.2g}"
    if form == "episode":
        return f"{value:g}"
    return f"{value:.1%}" if form == "share" else f"{value:.2f}"


def _interval(line: Line) -> str:
    if line.low is None or line.high is None or line.ours is None:
        return ""
    return f"{_value(line, line.low)} – {_value(line, line.high)}"


def _difference(line: Line) -> str:
    form = line.written or line.kind
    if line.difference is None or form == "p":
        return ""
    return f"{line.difference:+.1%}" if form == "share" else f"{line.difference:+.2f}"


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


def introduction(result: Reproduction) -> list[str]:
    """Say in five sentences what somebody needs who has not read the paper."""
    finals, steps = len(result.maze.finals), result.settings.steps
    return [
        f"The task: an agent with a small neural network has to find the way through a maze to its goal, one of {finals} final "
        f"positions, in episodes of {steps} steps; the other final positions are pits.",
        f"The measure: the episodic performance (EP) counts the steps to the goal, or {steps} plus the distance left, and 5 for "
        "each step into a pit; lower is better, and fitness is the best EP so far, averaged over trials.",
        "The learners: delayed synaptic plasticity (DSP), an evolved rule, changes every weight after an episode by what "
        "its two neurons did and by whether the EP got worse; hill climbing keeps random changes that lower the best EP.",
        "Chance: random weights in every episode learn nothing, but their best EP so far falls too; a value that is not "
        "below chance shows nothing, and one below it shows a better search, which is not yet learning.",
        "The table: a verdict says whether the paper’s number and ours may be two estimates of the same; rows without a verdict, such as "
        "those about chance, are there to compare with and are not judged.",
    ]


def findings(result: Reproduction) -> list[str]:
    """Say what comparing with chance shows, in a few sentences."""
    parts = []
    for kind, name in (("dsp", "DSP rules"), ("hc", "hill climbing parameters")):
        fresh = [
            one for one in result.fresh[kind] if one.chance is not None
        ]  # version 0.1 did not measure it
        if not fresh:
            continue
        beats = sum(bool(one.beats_chance) for one in fresh)
        mean = sum(one.fitness for one in fresh) / len(fresh)
        chance = figures.chance_at_100(result, [kind])
        parts.append(f"{beats} of {len(fresh)} {name} (mean fitness {mean:.1f}, chance {chance:.1f})")
    text = [f"After 100 episodes, on fresh trials, {' and '.join(parts)} beat chance."] if parts else []
    late = {kind: result.beside_chance(kind, result.scale.episodes) for kind in ("dsp", "hc")}
    beat = {kind: sum(bool(one.beats_chance) for one in found) for kind, found in late.items()}
    text.append(
        f"After {result.scale.episodes:,} episodes, {beat['dsp']} of {len(late['dsp'])} rules and {beat['hc']} of "
        f"{len(late['hc'])} climbers beat chance, each in {result.trials} trials beside chance with its own α."
    )
    found = behaviours(result)
    kept = {kind: "none" if one.retained is None else f"{one.retained:.1%}" for kind, one in found.items()}
    forgets = found["dsp"].keeps is False
    text.append(
        (
            "But the best EP so far is not what the agent can do: with the best rule it does not keep what it found. "
            if forgets
            else ""
        )
        + f"Of the episodes after the first that reached the goal, {kept['dsp']} reach it again with the best DSP rule, "
        f"{kept['hc']} with the best hill climbing parameters (whose episodes try changes of the weights that they keep), and "
        f"{kept['chance']} by chance."
    )
    tenths = [
        f"{one.first_tenth:.1f} and {one.last_tenth:.1f} ({NAMES[kind]})" for kind, one in found.items()
    ]
    text.append(
        "The mean EP of an episode, over the first tenth of 100 episodes and over the last, is "
        f"{tenths[0]}, {tenths[1]}, {tenths[2]}."
    )
    return text


def _what_was_run(result: Reproduction) -> str:
    scale = result.scale
    rules = (
        f"the winners of {scale.runs} evolutions of {scale.generations} generations"
        if result.rules == "evolved"
        else "the paper's own fifteen"
    )
    return (
        f"DSP rules: {rules}. Hill climbing parameters: {scale.runs} evolutions of {scale.generations} generations. "
        f"Tests: {result.trials} trials of {scale.episodes:,} episodes for each rule and climber, plain and resampled, and for "
        "each of the paper's fifteen rules. "
        f"Best rule: {result.origin('dsp', result.best('dsp'))}; best hill climbing parameters: "
        f"{result.origin('hc', result.best('hc'))}. "
        f"Seed {result.seed}, Distal {__version__}, engine {result.engine}."
    )


def _appendix_sentence(result: Reproduction) -> str:
    return f"The paper's fifteen {result.appendix}."


def _readings(result: Reproduction) -> str:
    names = ", ".join(f"{name} = {getattr(result.settings, name)}" for name in READINGS)
    return f"{names}, elites = {result.elites}"


_HOW = (
    "The paper's numbers are estimates from 15 runs or 40 trials, as ours are. A mean, a standard deviation or a share "
    "agrees unless the two differ significantly (p < 0.05: Welch's test with the paper's standard deviation, or ours where "
    "it reports none; F-test; Fisher's exact test). Intervals are 95 % of ours alone (bootstrap percentiles; Wilson's for "
    "shares). p-values are two-sided Wilcoxon rank-sum tests with the normal approximation, "
    "corrected for ties; they agree if they fall on the same side of 0.05 and, where significant, for the same "
    'learner; an episode "from which" agrees within a factor of two. The best rule and the best climber are those with '
    "the lowest fitness at the end of the plain test. Chance is run beside every rule and climber, with its scales α and "
    "in its trials; where the best of each are compared, it is the best rule's."
)


def _where(here: dict[str, Any]) -> str:
    """Say what the work was done on."""
    card = f"{here['card']} with " if here.get("card") else ""
    return f"{card}{here['processor']}, {here['cores']} cores"


def _stage_rows(result: Reproduction) -> list[tuple[str, str, str]]:
    rows = []
    for stage in plan(result.scale, result.rules, result.maze, result.elites):
        seconds = result.seconds.get(stage.name, 0.0)
        rows.append((stage.title, f"{stage.episodes:,}", f"{seconds:.1f}"))
    total = sum(result.seconds.values())
    return [*rows, ("together", "", f"{total:.1f}")]


def to_markdown(result: Reproduction, lines: list[Line], tables: list[Table], drawn: list[str]) -> str:
    """Return the summary as Markdown, with the figures beside it."""
    here = machine_of(result.engine)
    text = [
        "# Results",
        "",
        f"Written by `distal reproduce --scale {result.scale.name} --rules {result.rules} --seed {result.seed}`"
        f" with elites {result.elites}.",
        _what_was_run(result) + figures.scale_note(result),
        "",
        *(f"- {sentence}" for sentence in introduction(result)),
        "",
        f"**Beside chance.** {' '.join(findings(result))}",
        "",
        f"On {_where(here)}, in {sum(result.seconds.values()) / 60:.1f} minutes, "
        f"{datetime.now(UTC):%Y-%m-%d}. {agreement(lines)} {_appendix_sentence(result)}",
        "",
        _HOW,
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
                description.says(result),
                "",
            ]
    for table in tables[1:]:
        text += [f"## {_title(table)}", "", table.caption, ""]
        text += ["| " + " | ".join(table.columns) + " |", "|" + "---|" * len(table.columns)]
        text += ["| " + " | ".join(row) + " |" for row in table.rows]
        text.append("")
    text += ["## Time", "", "| stage | episodes | seconds |", "|---|---|---|"]
    text += ["| " + " | ".join(row) + " |" for row in _stage_rows(result)]
    return "\n".join(text) + "\n"


_CSS = (
    f"""
:root {{ color-scheme: light dark; {css(LIGHT)} --ground: {figures.GROUND[0]}; --band: #f4f6f8; --good: #00734f;
  --bad: #a84300; }}
@media (prefers-color-scheme: dark) {{
  :root {{ {css(DARK)} --ground: {figures.GROUND[1]}; --band: #1d2228; --good: #4cc79a; --bad: #ff9d5c; }} }}
"""
    + """
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 2rem 1.2rem 4rem; color: var(--ink); background: var(--ground);
  font: 16px/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .8rem; } h2 { margin: 2.6rem 0 .6rem; font-size: 1.3rem; }
h3 { margin: 1.8rem 0 .4rem; font-size: 1.05rem; }
.run, .caption { color: var(--soft); font-size: .9rem; } a { color: inherit; }
.finding { border-left: 4px solid var(--chance); background: var(--band); padding: .6rem 1rem; margin: 1.2rem 0; }
nav a { margin-right: 1rem; white-space: nowrap; }
:is(.intro, .verdicts) { padding-left: 1.2rem; } :is(.intro, .verdicts) li { margin-bottom: .35rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .45rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th { vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; } tr.section td { font-weight: 600; padding-top: .9rem; text-align: left; }
td:not(:first-child) { white-space: nowrap; } tr.noted td { border-bottom: 0; } tr.chance { background: var(--band); }
td.note { color: var(--soft); text-align: left; padding-top: 0; font-size: .8rem; }
.agrees { color: var(--good); } .differs { color: var(--bad); }
figure { margin: 1.2rem 0 2rem; }
figure .card { border: 1px solid var(--line); border-radius: 8px; padding: .8rem; overflow-x: auto; }
figure svg { display: block; width: 100%; height: auto; max-width: 46rem; min-width: 30rem; margin: 0 auto; }
figure.maze svg { max-width: 22rem; min-width: 0; } figure.appendix svg { max-width: 34rem; min-width: 20rem; }
figcaption { font-size: .9rem; color: var(--soft); margin-top: .5rem; }
@media (max-width: 44rem) {
  body { padding: 1.2rem .9rem 3rem; }
  .numbers { overflow: visible; }
  .numbers :is(table, thead, tbody) { display: block; }
  .numbers tr { display: grid; grid-template-columns: 1fr 1fr 1.75fr 1.15fr 1.1fr; border-bottom: 1px solid var(--line); }
  .numbers :is(th, td) { border: 0; padding: .1rem .2rem; font-size: .74rem; text-align: left; white-space: normal; }
  .numbers :is(th, td):first-child { grid-column: 1 / -1; font-size: .82rem; padding-top: .4rem; }
  .numbers thead { position: sticky; top: 0; background: var(--ground); } .numbers th:first-child { display: none; }
  .numbers tr.noted { border-bottom: 0; }
}
.swipe { display: none; color: var(--soft); font-size: .8rem; }
@media (max-width: 46rem) { .swipe { display: block; } }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } figure, tr { break-inside: avoid; } nav { display: none; } }
"""
)


def _verdicts_html(lines: list[Line]) -> str:
    """Return one list of what agrees and what differs, section by section."""
    sections: dict[str, list[Line]] = {}
    for line in lines:
        if line.verdict not in ("", "not run"):
            sections.setdefault(line.section, []).append(line)
    items = []
    for section, judged in sections.items():
        agree = [escape(line.what) for line in judged if line.verdict == "agrees"]
        differ = [
            escape(f"{line.what} (paper {_value(line, line.paper)}, ours {_value(line, line.ours)})")
            for line in judged
            if line.verdict != "agrees"
        ]
        parts = [
            f'<span class="{kind}">{word}:</span> {"; ".join(whats)}.'
            for kind, word, whats in (("agrees", "Agrees", agree), ("differs", "Differs", differ))
            if whats
        ]
        items.append(f"<li><b>{escape(section)}</b>. {' '.join(parts)}</li>")
    return f'<ul class="verdicts">{"".join(items)}</ul>'


def _inline(svg: str, name: str) -> str:
    """Return an SVG for use inside a page: no XML prologue, the page's colours, unique identifiers."""
    body = figures.themed(svg[svg.index("<svg") :])
    own = set(re.findall(r'id="([^"]+)"', body))

    def renamed(found: re.Match[str]) -> str:
        return f"{found[1]}{name}-{found[2]}" if found[2] in own else found[0]  # colours begin with # too

    return re.sub(r'(id="|#)([^"\)]+)(?=["\)])', renamed, body)


def _title(table: Table) -> str:
    return {
        "appendix": "The paper’s fifteen rules",
        "rules_continuous": "The rules: numbers and fitness",
        "rules_discrete": "The rules: changes of the weights",
        "climbers": "The hill climbing parameters",
    }[table.name]


SWIPE = '<p class="swipe">Swipe sideways for the rest →</p>'


def _html_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f'{SWIPE}<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


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
        marks = ["noted"] * bool(line.note) + ["chance"] * ("chance" in line.what)
        rows.append(
            f'<tr class="{" ".join(marks)}"><td>{escape(line.what)}</td>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + f'<td class="{kind}">{escape(line.verdict)}</td></tr>'
        )
        if line.note:
            shade = ' class="chance"' if "chance" in marks else ""
            rows.append(f'<tr{shade}><td class="note" colspan="6">{escape(line.note)}</td></tr>')
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "\n".join(rows)
    return f'<div class="scroll numbers"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def to_html(
    result: Reproduction,
    lines: list[Line],
    tables: list[Table],
    drawn: dict[str, str],
    files: Sequence[str],
) -> str:
    """Return the whole report as one page; `drawn` are the SVGs by name, `files` are linked."""
    here = machine_of(result.engine)
    versions = ", ".join(f"{name} {here[name]}" for name in ("python", "numpy", "numba") if here[name])
    shown = []
    for description in figures.FIGURES:
        if description.name in drawn:
            shown.append(
                f'<figure id="{description.name}" class="{description.name}"><h3>{escape(description.title)}</h3>'
                f'{SWIPE}<div class="card">{_inline(drawn[description.name], description.name)}</div>'
                f"<figcaption>{escape(description.says(result))} "
                f'<a href="figures/{description.name}.svg">SVG</a> <a href="figures/{description.name}.png">PNG</a>'
                "</figcaption></figure>"
            )
    links = "".join(f'<li><a href="{escape(file)}">{escape(file)}</a></li>' for file in files)
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Delayed synaptic plasticity: the paper and our results</title><style>{_CSS}</style></head><body>",
        "<h1>Learning with Delayed Synaptic Plasticity: the paper’s results and ours</h1>",
        f'<ul class="intro">{"".join(f"<li>{escape(sentence)}</li>" for sentence in introduction(result))}</ul>',
        f'<p class="finding"><b>Beside chance.</b> {escape(" ".join(findings(result)))}</p>',
        f'<p class="run">{escape(_what_was_run(result) + figures.scale_note(result))}</p>',
        '<nav><a href="#numbers">Numbers</a><a href="#figures">Figures</a><a href="#tables">Tables</a>'
        '<a href="#readings">Readings</a><a href="#time">Time</a><a href="#files">Files</a></nav>',
        '<h2 id="numbers">The paper’s numbers beside ours</h2>',
        f"<p>{escape(agreement(lines))} {escape(_appendix_sentence(result))}</p><p>{escape(_HOW)}</p>",
        _comparison_html(lines),
        "<h2>What agrees and what differs</h2>",
        _verdicts_html(lines),
        "<p>The paper’s picture of the maze is not part of its source; ours fills the same grid and has the same mean "
        "distance. Where the paper is silent, the readings below decide.</p>",
        '<h2 id="figures">Figures</h2>',
        *shown,
        '<h2 id="tables">Tables</h2>',
        *(
            f'<h3>{escape(_title(table))}</h3><p class="caption">{escape(table.caption)}</p>'
            + _html_table(table.columns, table.rows)
            for table in tables[1:]
        ),
        f'<h2 id="readings">Readings in force</h2><p>{escape(_readings(result))}; {result.settings.hidden} hidden '
        f"neurons, {result.settings.steps} steps per episode.</p>",
        f'<h2 id="time">Time</h2><p>{escape(_where(here))}, {here["memory_gib"]} GiB, '
        f"{escape(here['system'])}; {escape(versions)}; {datetime.now(UTC):%Y-%m-%d}.</p>",
        _html_table(("stage", "episodes", "seconds"), _stage_rows(result)),
        f'<h2 id="files">Files</h2><ul>{links}</ul>',
        "</body></html>\n",
    ]
    return "\n".join(parts)
