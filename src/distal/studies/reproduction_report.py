"""The report of a reproduction: every number of the paper with ours, figures, and the learners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from fnmatch import fnmatchcase as fnmatch
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

from distal.base.files import to_json
from distal.learners import chance_for
from distal.learners.dsp import NUMBERS
from distal.learners.hill_climbing import HillClimbing
from distal.model.readings import READINGS
from distal.search.config import REMEASURED
from distal.search.results import Evolved
from distal.studies.agreement import PaperNumber, agreement, behaviours, compare
from distal.studies.appendix import EPISODES, NARROW
from distal.studies.report import Block, Folded, Report, Sheet, Text, run_sheet
from distal.studies.reproduction import RESAMPLE, TESTS, Reproduction, other_elites
from distal.studies.reproduction_figures import all_figures

_HOW = (
    "The paper’s numbers are estimates from 15 runs or 40 trials, as ours are. A mean, a standard deviation or a share "
    "agrees unless the two differ significantly (p < 0.05: Welch’s test with the paper’s standard deviation, or ours where "
    "it reports none; F-test; Fisher’s exact test). Intervals are 95% intervals of our numbers alone (bootstrap percentiles; Wilson’s for "
    "shares). p-values are two-sided Wilcoxon rank-sum tests with the normal approximation, corrected for ties; they agree if "
    "they fall on the same side of 0.05 and, where significant, for the same learner; an episode “from which” agrees within a "
    "factor of two. The best rule and the best climber have the lowest fitness at the end of the plain test. Chance is run with "
    "the scales α and in the trials of every rule and climber; where the best of each are compared, it is the chance of the best "
    "rule. –: the paper reports no such number; rows without a verdict are not counted."
)

_TERMS = (
    "Fitness: the best EP so far, averaged over trials; lower is better. Chance: random weights in every episode, whose best EP so "
    "far falls too. Verdict: whether the paper’s number and ours may be two estimates of the same quantity."
)
_FILES = (
    "All numbers: [results.json](results.json); this page as text: [results.md](results.md); evolved rules: "
    "`evolved_rules.json`. Figures and tables have links of their own."
)

# The most important lines.
_FIRST = (
    "perfect agent: mean distance from the start",
    "DSP rules, best of the last generation: mean over runs",
    "hill climbing, best of the last generation: mean over runs",
    "DSP rules, winners re-measured on fresh trials: mean",
    "chance: mean on the same trials as DSP rules",
    "hill climbing, winners re-measured on fresh trials: mean",
    "chance: mean on the same trials as hill climbing",
    "DSP: episodes after the first success that reached it again (retained)",
    "chance: episodes after the first success that reached it again (retained)",
    "DSP: fitness", "hill climbing: fitness", "chance: fitness",
    "how many of the fifteen agree", "mean of the fifteen", "chance: mean in the trials of the fifteen",
)  # fmt: skip

_SCREEN_COLUMNS = ("", "paper", "ours", "interval")
# What a screen of 24 lines shows of all lines: the words there, and the section and the line they stand for.
_ON_SCREEN = (
    ("rules in fresh trials of 100 episodes", "Evolution *", "DSP rules, * on fresh trials: mean"),
    ("  chance in the same trials", "Evolution *", "chance: mean on the same trials as DSP rules"),
    ("hill climbing in fresh trials", "Evolution *", "hill climbing, * on fresh trials: mean"),
    ("  chance in the same trials", "Evolution *", "chance: mean on the same trials as hill climbing"),
    ("best rule, {long}", "The best of each, 10,000 *", "DSP: fitness"),
    ("best climber, {long}", "The best of each, 10,000 *", "hill climbing: fitness"),
    ("  chance with the scales of the rule", "The best of each, 10,000 *", "chance: fitness"),
    ("the paper’s fifteen, {long}", "The appendix: *", "mean of the fifteen"),
    ("  chance in the same trials", "The appendix: *", "chance: mean in the trials of the fifteen"),
)
# The sentences at the top of the page, by the words of the line that each quotes; the line of chance is next.
_SENTENCES = {
    "the paper’s fifteen, {long}": "The paper’s fifteen rules have a mean best EP of {ours} after {long}, and chance {chance} "
    "in the same trials.",
    "rules in fresh trials of 100 episodes": "Rules evolved here have {ours} after 100 episodes of fresh trials, and chance "
    "{chance} in the same trials.",
}


class ReproductionReport(Report[Reproduction]):
    """The report of a reproduction."""

    holds: ClassVar[str] = "a reproduction"
    of: ClassVar[type] = Reproduction
    title: ClassVar[str] = "Learning with Delayed Synaptic Plasticity: the paper’s results and ours"
    page: ClassVar[str] = "report.html"
    text: ClassVar[str] = "results.md"
    data: ClassVar[str] = "results.json"
    figures: ClassVar[tuple[str, ...]] = (
        "appendix", "maze", "evolution", "distribution_100", "every_episode", "long_tests", "resampled_tests",
        "distributions", "comparison", "rule_map",
    )  # fmt: skip
    kept: ClassVar[tuple[str, ...]] = (
        "summary",
        "appendix",
        "rules_continuous",
        "rules_discrete",
        "climbers",
    )
    more: ClassVar[tuple[str, ...]] = ("evolved_rules.json",)

    @cached_property
    def lines(self) -> list[PaperNumber]:
        """The paper's numbers with ours; their bootstrap intervals take a moment."""
        return compare(self.outcome)

    def extras(self) -> Iterator[tuple[str, str]]:
        """Yield the evolved rules, the best first."""
        if self.outcome.rules == "evolved":
            yield "evolved_rules.json", to_json(evolved_rules(self.outcome)) + "\n"

    def numbers(self) -> dict[str, Any]:
        """Return all numbers of a reproduction, ready for JSON."""
        result = self.outcome
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

        return {
            "format": "distal-results",
            "version": 1,
            "distal": result.version,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "seed": result.seed,
            "scale": result.scale.to_dict(),
            "rules": result.rules,
            "elites": result.elites,
            "settings": result.settings.to_dict(),
            "engine": result.engine,
            "machine": result.machine,
            "seconds": {name: round(value, 2) for name, value in result.seconds.items()},
            "comparison": [
                {**asdict(line), "difference": line.difference, "verdict": line.verdict}
                for line in self.lines
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
            "chance": {
                "learner": chance_for(result.dsp_rules[result.best("dsp")]).numbers,
                **at_marks("chance"),
            },
            "behaviour": {kind: found.to_dict() for kind, found in behaviours(result).items()},
            "at_100": {kind: eps.tolist() for kind, eps in result.at_100.items()},
            "best": {kind: result.best(kind) + 1 for kind in ("dsp", "hc")},
            "appendix": result.appendix.to_dict(),
        }

    @property
    def long(self) -> str:
        """The length of the long tests, in words."""
        return f"{min(EPISODES, self.outcome.scale.episodes):,} episodes"

    @property
    def screen(self) -> list[list[str]]:
        """The most important lines, in four cells each: words, the paper's number, ours, its interval."""
        rows = []
        for words, section, what in _ON_SCREEN:
            found = (one for one in self.lines if fnmatch(one.section, section) and fnmatch(one.what, what))
            rows += [[words.format(long=self.long), *_cells(one)[2:5]] for one in found]
        return rows

    @property
    def sentences(self) -> list[str]:
        """The sentences at the top of the page: a number of ours, and chance in the row below it."""
        rows = self.screen
        found = {row[0]: (row[2], by_chance[2]) for row, by_chance in pairwise(rows)}
        sentences = []
        for words, sentence in _SENTENCES.items():
            ours, chance = found.get(words.format(long=self.long), ("not run", "not run"))
            sentences.append(sentence.format(ours=ours, chance=chance, long=self.long))
        return sentences

    def summary(self) -> Sequence[Sheet | Text]:
        """Return the most important of the paper's numbers with ours, on one screen."""
        rows = self.screen
        return [
            Sheet("The paper’s numbers and ours: mean best EP, lower is better", "", _SCREEN_COLUMNS, rows),
            Text("–: the paper reports no such number. Intervals: 95%, of our numbers."),
            Text(f"{agreement(self.lines)} The report has all {len(self.lines)} lines."),
        ]

    def blocks(self) -> Sequence[Block]:
        """Return the whole page."""
        result = self.outcome
        scale = result.scale
        seconds = [(name.replace("_", " "), f"{value:.1f}") for name, value in result.seconds.items()]
        in_force = ((name, str(getattr(result.settings, name))) for name in (*READINGS, "hidden", "steps"))
        command = f"distal reproduce --scale {scale.name} --rules {result.rules} --seed {result.seed}"
        first, *others = all_figures(result)
        return [
            first,
            Text(" ".join([agreement(self.lines), *self.sentences])),
            _lines_table("", "", _TERMS, [one for one in self.lines if one.what in _FIRST and one.ours is not None]),
            Folded("All numbers", [_lines_table("summary", "The paper’s numbers and ours", _HOW, self.lines)]),
            Folded("All figures", others),
            Folded(
                "All tables",
                [
                    _appendix_table(result, self.lines),
                    _learners_table(result, "dsp"),
                    _discrete_table(result),
                    _learners_table(result, "hc"),
                ],
            ),
            Folded(
                "How it was run",
                [
                    run_sheet(
                        result, command, "results", scale.to_dict(),
                        ("date", f"{datetime.now(UTC):%Y-%m-%d}"), ("engine", result.engine),
                        ("elites", result.elites), *in_force,
                    ),
                    Sheet("Seconds of every stage", "", ("stage", "seconds"), seconds, folded=True),
                    Text(_FILES),
                ],
            ),
        ]  # fmt: skip


def evolved_rules(result: Reproduction) -> dict[str, Any]:
    """Return the evolved rules in the form in which they ship with the package."""
    entries = []
    for number, k in enumerate(result.ranking("dsp"), start=1):
        rule, winner = result.dsp_rules[k], result.evolved["dsp"].winners[k]
        entries.append({
            "id": number,
            "run": winner.run,
            **{name: getattr(rule, name) for name in NUMBERS},
            "delta_w": list(rule.delta_w),
            "fitness_100_episodes_selected": winner.selected,
            "fitness_100_episodes_remeasured": winner.remeasured,
            "chance_100_episodes": winner.fresh.chance,
            f"chance_{result.scale.episodes}_episodes": float(result.fitness("chance")[k, -1]),
            f"fitness_{result.scale.episodes}_episodes": float(result.fitness("dsp")[k, -1]),
        })  # fmt: skip
    source = f"distal {result.version}, distal reproduce --scale {result.scale.name} --seed {result.seed}"
    return {"source": source, "rules": entries}


# ------------------------------------------------------------------ tables


def _lines_table(name: str, title: str, caption: str, lines: Sequence[PaperNumber]) -> Sheet:
    columns = ("section", "what", "paper", "ours", "interval", "difference", "verdict", "note")
    tones = {"agrees": "good", **dict.fromkeys(("differs", "ours lower", "ours higher"), "bad")}
    rows = list(map(_cells, lines))
    return Sheet(title, caption, columns, rows, name, grouped=True, tones=tones)


def _appendix_table(result: Reproduction, lines: list[PaperNumber]) -> Sheet:
    """Return the paper's fifteen rules, in its order: the paper's number, ours, chance and variants."""
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
        f"Fitness of the paper's fifteen rules: in its appendix after {EPISODES:,} episodes, and ours after {found.episodes:,}, "
        f"{result.trials} trials each. low, high: the 95% interval of ours. p: Welch's test, which assumes that the paper's "
        "trials vary as ours do. chance: with the rule's α, in the same trials. resampled: fresh weights every "
        f"{RESAMPLE} episodes. {NARROW}: ours in that maze, if the study has another one."
    )
    columns = ("rule", "paper", "ours", "low", "high", "p", "verdict", "chance", "resampled", NARROW)
    return Sheet("The paper’s fifteen rules", caption, columns, rows, "appendix")


def _learners_table(result: Reproduction, kind: str) -> Sheet:
    """Return the numbers of the rules, or climbers, with fitness and chance, the best first."""
    name, word, title, numbers = {
        "dsp": ("rules_continuous", "rule", f"The {result.rules} DSP rules: numbers and fitness", NUMBERS),
        "hc": ("climbers", "climber", "The hill climbing parameters", HillClimbing.names),
    }[kind]
    rows = []
    evolved = kind in result.evolved
    for place, k in enumerate(result.ranking(kind), start=1):
        learner, fresh = result.learners[kind][k], result.fresh[kind][k]
        cells = [str(place), result.origin(kind, k), f"{result.fitness(kind)[k, -1]:.2f}"]
        cells.append(f"{result.evolved[kind].winners[k].selected:.2f}" if evolved else "–")
        cells.append(f"{fresh.fitness:.2f} ± {fresh.standard_error:.2f}")
        if fresh.chance is None or fresh.p is None or fresh.superiority is None:  # finished by version 0.1
            cells += ["–"] * 4
        else:
            chance = f"{fresh.chance:.2f} ± {fresh.chance_standard_error:.2f}"
            beats = "yes" if fresh.beats_chance else "no"
            cells += [chance, beats, f"{fresh.p:.2g}", f"{fresh.superiority:.2f}"]
        rows.append([*cells, *(f"{getattr(learner, one):.4f}" for one in numbers)])
    caption = (
        f"The best comes first. fitness: after {result.scale.episodes:,} episodes. selected at 100: the fitness that made it the "
        f"winner, after 100 episodes. re-measured at 100: on about {REMEASURED} fresh trials of 100 episodes. chance: on the same "
        "trials. p: paired t-test. P(better): the share of trials in which it is better than chance; a tie counts half. ±: standard "
        "error."
    )
    measured = ("re-measured at 100", "chance", "beats chance", "p", "P(better)")
    columns = (word, "from", "fitness", "selected at 100", *measured, *numbers)
    return Sheet(title, caption, columns, rows, name)


def _discrete_table(result: Reproduction) -> Sheet:
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
    return Sheet("The rules: changes of the weights", caption, columns, rows, "rules_discrete", folded=True)


def _cells(line: PaperNumber) -> list[str]:
    """Return the cells of a line: section, name, paper, ours, interval, difference, verdict, note."""
    form = line.written or line.kind

    def cell(value: float | str | None) -> str:
        if value is None or isinstance(value, str):
            return "not run" if value is None else value
        written = {"p": ".2g", "episode": "g", "share": ".1%"}.get(form, ".2f")
        return f"{value:{written}}"

    ends = "" if line.low is None or line.ours is None else f"{cell(line.low)} – {cell(line.high)}"
    difference = "" if line.difference is None or form == "p" else cell(line.difference)
    if difference and not difference.startswith("-"):
        difference = f"+{difference}"
    return [
        line.section, line.what, cell(line.paper), cell(line.ours), ends, difference, line.verdict, line.note
    ]  # fmt: skip
