"""The report of the study of readings: a table for each test, figures, and the meaning of the values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from distal.base.significance import SIGNIFICANT
from distal.model.maze import DEFAULT_MAZE, MAZES
from distal.search.config import REMEASURED
from distal.studies.appendix import in_the_paper
from distal.studies.reading_figures import FIGURES, KINDS, all_figures, paper
from distal.studies.reading_outcome import EPISODES, Findings, Mean, ReadingStudy, Runs, readings, short_name
from distal.studies.reading_tests import BINS, PRIOR, SHUFFLES, papers_likelihood
from distal.studies.report import Block, Heading, Report, Sheet, Text, minus, p_value, run_sheet, signed
from distal.studies.reproduction import TRIALS

PAPER = "the paper"
REUSED = (
    "In brackets: the value of the base, where the reading has no effect. Lower is better. Chance: fresh random weights in every "
    "episode, in the same trials."
)


class ReadingReport(Report[ReadingStudy]):
    """The report of a study of readings."""

    holds: ClassVar[str] = "a study of readings"
    of: ClassVar[type] = ReadingStudy
    title: ClassVar[str] = "Readings: where the paper is silent, and the effect on the results"
    page: ClassVar[str] = "readings.html"
    text: ClassVar[str] = "readings.md"
    data: ClassVar[str] = "study.json"
    figures: ClassVar[tuple[str, ...]] = FIGURES

    def summary(self) -> Sequence[Sheet | Text]:
        """Return a table for each test, in 100 columns."""
        return [*tables(self.outcome), Text(REUSED)]

    def blocks(self) -> Sequence[Block]:
        """Return the whole page."""
        study = self.outcome
        base, finals = study.base.variant, len(study.maze.finals)
        meanings = [
            (reading, value, meaning)
            for reading, values in (*readings().items(), ("maze", MAZES))
            for value, meaning in values.items()
        ]
        in_force = ((f"base: {reading}", base.of(reading)) for reading in (*readings(), "maze"))
        return [
            Heading("Every reading"), *tables(study), Text(REUSED),
            Heading("Figures"), *all_figures(study),
            Heading("Values"),
            Sheet("The values", "", ("reading", "value", "meaning"), meanings, folded=True),
            Heading("Trials"),
            run_sheet(
                study, command(study), "readings",
                {name: value for name, value in study.scale.to_dict().items() if name in ("runs", "generations")},
                ("trials of a published rule, and of chance", str(study.scale.trials * finals)),
                ("trials of a rule in the appendix test", str(TRIALS * finals)),
                ("episodes of these", f"{study.scale.episodes:,}"),
                ("trials of a pair of table and numbers", str(study.scale.pairs * finals)),
                ("fresh trials of a winner, about", str(REMEASURED)),
                ("episodes of all other trials", str(EPISODES)),
                ("hidden neurons", str(study.settings.hidden)), ("steps", str(study.settings.steps)),
                ("engine", study.engine), *in_force,
            ),
        ]  # fmt: skip


# A column: its heading, the part of the study that it comes from, its cell, and the paper's, if it has one.
Column = tuple[str, str, Callable[[Findings], str], str]


def columns(study: ReadingStudy) -> list[tuple[str, str, list[Column]]]:
    """Return the tables: a title, a caption and columns."""
    among = papers_likelihood()

    def evolution(kind: str) -> list[Column]:
        part = f"evolve_{kind}"

        def of(cell: Callable[[Runs], str]) -> Callable[[Findings], str]:
            return lambda found: cell(found.evolution(kind))

        return [
            ("first", part, of(lambda runs: _plain(Mean.of(runs.first))), _plain(paper(kind, "initial"))),
            ("last", part, of(lambda runs: _plain(Mean.of(runs.last))), _plain(paper(kind, "final"))),
            ("re-measured", part, of(lambda runs: f"{runs.afresh.mean:.1f}"), ""),
            ("chance", part, of(lambda runs: f"{runs.chance:.1f}"), ""),
            ("beat it", part, of(lambda runs: f"{runs.beat_chance}/{len(runs.winners)}"), ""),
        ]

    evolved = (
        "First, last: the best of the first and of the last generation, mean ± standard deviation over runs, in the trials that "
        "selected them, hence optimistic. Re-measured: the winners on fresh trials; chance: on the same trials."
    )
    return [
        ("The published rules",
         "Mean best EP of the fifteen rules ± standard error, and chance in the same trials. Hill climbing: the evolved climbers, on "
         "fresh trials of their own. Difference: rules minus chance, paired. Beat it: the number of rules that are better than "
         f"chance, p < {SIGNIFICANT} in the paired t-test.",
         [("chance", "chance", lambda found: _plain(found.chance), ""),
          ("hill climbing", "evolve_hc", lambda found: f"{found.hc.afresh.mean:.1f}", ""),
          ("rules", "published", lambda found: _plain(found.published), ""),
          ("difference", "published", lambda found: _plain(found.difference, sign=True), ""),
          ("beat it", "published", lambda found: f"{found.beat_chance}/{len(found.rules)}", "")]),
        ("The appendix",
         f"Mean best EP of the fifteen rules after {study.scale.episodes:,} episodes. r: its correlation with the paper’s fifteen "
         "numbers, which are for 10,000 episodes; rms: the root mean squared difference from them.",
         [("mean", "appendix", lambda found: f"{found.appendix.mean:.1f}", f"{in_the_paper().mean():.1f}"),
          ("r", "appendix", lambda found: f"{found.appendix.r:.2f}", ""),
          ("rms", "appendix", lambda found: f"{found.appendix.rms:.1f}", "")]),
        ("Pairing",
         "Effect: the mean residual of the published tables with their own numbers, in standard deviations of all other pairs. "
         f"p: the share of {SHUFFLES:,} random matchings that do as well.",
         [("effect", "pairing", lambda found: signed(found.pairing.effect), ""),
          ("p", "pairing", lambda found: p_value(found.pairing.p), "")]),
        ("Log-likelihood",
         f"The log-likelihood of the published rules, minus the log-likelihood if all values were equally likely. The "
         f"{study.scale.runs} winners of the evolution of rules give the probability of each change in each row, and of each of "
         f"{BINS} bins of each number (prior weight {PRIOR:g}). The paper: each of its rules, by the other fourteen.",
         [("tables", "evolve_dsp", lambda found: minus(f"{found.likelihood.tables:.1f}"), minus(f"{among.tables:.1f}")),
          ("numbers", "evolve_dsp", lambda found: minus(f"{found.likelihood.numbers:.1f}"), minus(f"{among.numbers:.1f}"))]),
        *((f"Evolution of {name}", evolved, evolution(kind)) for kind, name in KINDS.items()),
    ]  # fmt: skip


def tables(study: ReadingStudy) -> list[Sheet]:
    """Return a table for each test: a row for each variant, and the paper's where maze and network are its own."""
    found = []
    for title, caption, shown in columns(study):
        rows = [[one.variant.label, *(_cell(one, column) for column in shown)] for one in study.outcomes]
        if study.is_papers and any(column[3] for column in shown):
            rows.append([PAPER, *(column[3] for column in shown)])
        heads = [title, *(column[0] for column in shown)]
        found.append(Sheet(title, caption, ["", *heads[1:]], rows, marked=("base", PAPER)))
    return found


def _cell(found: Findings, column: Column) -> str:
    """Return the cell of a variant; in brackets if it is the base's."""
    _, part, cell, _ = column
    return f"({cell(found)})" if found.reused(part) else cell(found)


def _plain(value: Mean, sign: bool = False) -> str:
    middle = signed(value.mean, 1) if sign else f"{value.mean:.1f}"
    return middle + ("" if value.spread is None else f" ± {value.spread:.1f}")


def command(study: ReadingStudy) -> str:
    """Return the command that makes the study; a maze without a name is FILE."""
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
