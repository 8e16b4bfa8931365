"""The figures of the study of readings: a row for each variant, the base at the top."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from distal.base.colours import LIGHT
from distal.base.significance import SIGNIFICANT
from distal.studies.figures import grid, legend, title
from distal.studies.reading_outcome import EPISODES, Findings, Mean, ReadingStudy
from distal.studies.reading_tests import BINS, SHUFFLES, papers_likelihood
from distal.studies.report import Figure, p_value
from distal.studies.reproduction import paper_results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

KINDS = {"dsp": "DSP rules", "hc": "hill climbing"}


def paper(kind: str, which: str) -> Mean:
    """Return the paper's best of the first ("initial") or last ("final") generation, over its runs."""
    mean, deviation = paper_results()["evolution_100_episodes"][kind][f"{which}_best"]
    return Mean(mean, deviation)


def _axes(count: int, panels: int, height: float = 0.36, shared: bool = True) -> tuple[Drawing, list[Axes]]:
    """Return panels side by side with a row for each variant, on one scale if it is shared."""
    figure, axes = grid(1, panels, 7.2, 1.2 + height * count, sharex=shared, sharey=True)
    return figure, list(axes[0])


def _rows(axes: Axes, outcomes: list[Findings]) -> None:
    """Name the rows, the base first, at the top."""
    axes.set_yticks(range(len(outcomes)), [outcome.variant.label for outcome in outcomes])
    for label in axes.get_yticklabels()[:1]:  # the second panel has none
        label.set_fontweight("bold")
    axes.set_ylim(len(outcomes) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    for row in range(1, len(outcomes)):
        axes.axhline(row - 0.5, color=LIGHT["line"], linewidth=0.6, zorder=0)
    axes.spines["left"].set_visible(False)


def _stroke(
    axes: Axes, x: float, row: int, label: str, colour: str = "ink", half: float = 0.4, **style: Any
) -> None:
    """Draw an upright line across a row."""
    axes.plot([x] * 2, [row - half, row + half], color=LIGHT[colour], label=label, **style)


def _own(study: ReadingStudy, part: str) -> list[Findings]:
    return [outcome for outcome in study.outcomes if not outcome.reused(part)]


def published(study: ReadingStudy) -> Drawing:
    """Draw the fifteen published rules and chance, a row for each variant."""
    outcomes = _own(study, "published")
    figure, (axes,) = _axes(len(outcomes), 1)
    for row, outcome in enumerate(outcomes):
        chance = outcome.chance
        half = 1.96 * (chance.spread or 0)
        axes.fill_betweenx(
            [row - 0.4, row + 0.4], chance.mean - half, chance.mean + half, color=LIGHT["chance"], alpha=0.45,
            linewidth=0, label="chance, 95% interval",
        )  # fmt: skip
        fitness = sorted(rule.fitness for rule in outcome.rules)
        spot = row + 0.22 * ((np.arange(len(fitness)) % 3) - 1)  # side by side where they are close
        axes.scatter(
            fitness, spot, s=22, color=LIGHT["dsp"], alpha=0.75, linewidths=0, zorder=3,
            label="a published rule",
        )  # fmt: skip
        _stroke(axes, outcome.published.mean, row, f"mean of the {len(fitness)}", linewidth=1.8, zorder=4)
    if study.is_papers:
        last = paper("dsp", "final").mean
        axes.axvline(
            last, color=LIGHT["paper"], linestyle="--", linewidth=1.2,
            label=f"the paper: {last:.1f}, as selected",
        )  # fmt: skip
    _rows(axes, outcomes)
    axes.set_xlabel(f"mean best EP after {EPISODES} episodes (lower is better)")
    legend(figure, 4)
    return figure


# How the three numbers of an evolution are drawn: marker, filled, its place in the row.
_MARKS = {
    "first generation": ("o", False, -0.24),
    "last generation": ("o", True, 0.0),
    "winners afresh": ("D", True, 0.24),
}


def evolutions(study: ReadingStudy) -> Drawing:
    """Draw where evolution begins and ends, and the winners on fresh trials; a row for each variant."""
    outcomes = list(study.outcomes)
    figure, panels = _axes(len(outcomes), 2, height=0.44)
    for axes, (kind, name) in zip(panels, KINDS.items(), strict=True):
        for which, style in (("initial", ":"), ("final", "--")) if study.is_papers else ():
            there = paper(kind, which)
            axes.axvspan(
                there.mean - (there.spread or 0), there.mean + (there.spread or 0), color=LIGHT["paper"],
                alpha=0.13, linewidth=0,
            )  # fmt: skip
            word = "first" if which == "initial" else "last"
            axes.axvline(
                there.mean, color=LIGHT["paper"], linestyle=style, linewidth=1.2,
                label=f"the paper, {word} generation",
            )  # fmt: skip
        for row, outcome in enumerate(outcomes):
            search = outcome.evolution(kind)
            faint = 0.3 if outcome.reused(f"evolve_{kind}") else 1.0
            values = (Mean.of(search.first), Mean.of(search.last), search.afresh)
            for value, (label, (marker, filled, offset)) in zip(values, _MARKS.items(), strict=True):
                axes.errorbar(
                    value.mean, row + offset, xerr=value.spread, fmt=marker, markersize=5, capsize=0,
                    color=LIGHT[kind], alpha=faint, elinewidth=1.1,
                    markerfacecolor=LIGHT[kind] if filled else LIGHT["floor"],
                    label=label,
                )  # fmt: skip
            _stroke(axes, search.chance, row, "chance", "chance", 0.42, linewidth=2, zorder=1)
        _rows(axes, outcomes)
        title(axes, name, fontweight="bold")
        axes.set_xlabel("mean best EP (lower is better)")
    legend(figure, 3, order=(*_MARKS, "chance", "the paper, first generation", "the paper, last generation"))
    return figure


# How the bars of the pairing test are drawn: with a small p, and without.
_BARS: dict[bool, dict[str, Any]] = {
    True: {"facecolor": LIGHT["dsp"], "edgecolor": LIGHT["dsp"]},
    False: {"facecolor": "none", "edgecolor": LIGHT["dsp"], "hatch": "////"},
}


def pairing(study: ReadingStudy) -> Drawing:
    """Draw the gain of published tables from their own numbers, a bar for each variant."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - takes a third of a second

    outcomes = _own(study, "pairing")
    figure, (axes,) = _axes(len(outcomes), 1)
    effects = [outcome.pairing.effect for outcome in outcomes]
    low, high = min(-0.5, *effects), max(0.1, *effects)
    for row, outcome in enumerate(outcomes):
        test = outcome.pairing
        clear = test.p < SIGNIFICANT
        axes.barh(row, test.effect, height=0.55, **_BARS[clear])
        words = "one in twenty random matchings reaches this"
        _stroke(axes, test.level, row, words, linewidth=1.2, linestyle=":")
        axes.text(
            high + 0.04 * (high - low), row, f"p = {p_value(test.p)}", va="center", fontsize=8,
            color=LIGHT["ink"], fontweight="bold" if clear else "normal",
        )  # fmt: skip
    axes.axvline(0, color=LIGHT["ink"], linewidth=0.8)
    _rows(axes, outcomes)
    axes.set_xlim(low - 0.05 * (high - low), high + 0.28 * (high - low))
    axes.set_xlabel(
        "residual of matched pairs, in standard deviations of the others\n"
        "(left of 0: a table does better with its own numbers)"
    )
    keys = {f"p < {SIGNIFICANT}": Patch(**_BARS[True]), "not significant": Patch(**_BARS[False])}
    legend(figure, 3, more=keys)
    return figure


def fifteen(study: ReadingStudy) -> Drawing:
    """Draw r and rms of the published rules against the paper's numbers, a dot for each variant."""
    outcomes = _own(study, "appendix")
    figure, panels = _axes(len(outcomes), 2, shared=False)
    tests = [outcome.appendix for outcome in outcomes]
    columns = (
        ("r (higher is better)", [(test.r, test.noise_r) for test in tests]),
        ("rms (lower is better)", [(test.rms, test.noise_rms) for test in tests]),
    )
    for axes, (label, values) in zip(panels, columns, strict=True):
        for row, (value, noise) in enumerate(values):
            _stroke(axes, noise, row, "noise alone gives this", linewidth=1.2, linestyle=":")
            words = "against the paper’s numbers"
            axes.plot(value, row, "o", color=LIGHT["dsp"], markersize=7, zorder=3, label=words)
        _rows(axes, outcomes)
        axes.set_xlabel(label)
    panels[0].set_xlim(min(0.0, *(test.r for test in tests)) - 0.05, 1.02)
    panels[1].set_xlim(left=0)
    legend(figure, 2)
    return figure


def likelihood(study: ReadingStudy) -> Drawing:
    """Draw the likelihood of the published rules by the winners, a bar for each variant."""
    outcomes = _own(study, "evolve_dsp")
    figure, panels = _axes(len(outcomes), 2)
    for axes, name in zip(panels, ("tables", "numbers"), strict=True):
        values = [getattr(outcome.likelihood, name) for outcome in outcomes]
        axes.barh(range(len(values)), values, height=0.55, color=LIGHT["dsp"])
        axes.axvline(0, color=LIGHT["ink"], linewidth=0.8)
        if study.is_papers:
            own = getattr(papers_likelihood(), name)
            axes.axvline(
                own, color=LIGHT["paper"], linestyle="--", linewidth=1.2,
                label="the paper’s own rules, one left out at a time",
            )  # fmt: skip
        _rows(axes, outcomes)
        title(axes, name, fontweight="bold")
        axes.set_xlabel("log-likelihood against uniform")
    if study.is_papers:
        legend(figure, 1)
    return figure


FIGURES = (
    "readings_published", "readings_appendix", "readings_pairing", "readings_evolution", "readings_likelihood",
)  # fmt: skip


def all_figures(study: ReadingStudy) -> list[Figure]:
    """Return every figure of a report, with its caption."""
    draw = (published, fifteen, pairing, evolutions, likelihood)
    words = (
        ("The published rules, by reading",
         "A dot for each of the paper’s fifteen rules. Grey: chance in the same trials, with the rules’ own α, 95% interval. "
         "Readings of the search have no effect here. Dashed, where maze and network are the paper’s: the mean at the end of "
         "its evolutions, in the trials that selected the rules."),
        ("The published rules, rule by rule",
         "The fitness of the fifteen rules in the appendix test, compared with the fifteen numbers of the paper’s appendix, which "
         "are for 10,000 episodes: the correlation, and the root mean squared difference. Dotted: the value that two tests of "
         "the same rules with as many trials would give, because of the noise of the trials alone."),
        ("Do tables and numbers belong together?",
         "All 15 × 15 pairs of a published table and the numbers of a published rule were run. The means of each table and of each "
         "set of numbers are subtracted from their fitness; the bars show the remainder where table and numbers belong to the "
         f"same rule. p: the share of {SHUFFLES:,} random matchings that do as well, bold below {SIGNIFICANT}; all other bars "
         "are hatched."),
        ("Evolution, by reading",
         "Best of the first and of the last generation, and the winners on fresh trials: mean and standard deviation over "
         "runs. Grey: chance in the winners’ fresh trials. Faint: the value of the base, where the reading has no effect. Dotted "
         "and dashed, where maze and network are the paper’s: its numbers, with the standard deviation as a band."),
        ("Does evolution find rules like the paper’s?",
         "How much likelier the fifteen published rules are than if all values were equally likely. The winners of the evolution of "
         f"rules give the probabilities: of each row of the tables, and of {BINS} bins of each number. Natural logarithms, higher "
         "is better. Dashed, where maze and network are the paper’s: the same for the published rules, each by the other "
         "fourteen."),
    )  # fmt: skip
    return [
        Figure(name, heading, caption, partial(one, study))
        for name, (heading, caption), one in zip(FIGURES, words, draw, strict=True)
    ]
