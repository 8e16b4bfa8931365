"""The figures of the paper's results, in its order and with its axes, and three more.

Every function takes a Reproduction and returns a matplotlib Figure; `FIGURES` lists
them with their captions. Colours are Okabe and Ito's, safe for colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from typing import Any

import matplotlib as mpl
import matplotlib.patches
import matplotlib.ticker
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from distal.experiments import RESAMPLE, Reproduction, paper_results
from distal.maze import START, WALL
from distal.rule import Rule

COLOURS = {"dsp": "#0072b2", "hc": "#d55e00", "dsp_resampled": "#009e73", "hc_resampled": "#cc79a7"}
NAMES = {
    "dsp": "DSP",
    "hc": "hill climbing",
    "dsp_resampled": "DSP, resampled",
    "hc_resampled": "hill climbing, resampled",
}
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "distal",  # the same picture is the same file
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True)
class Description:
    """A figure: its file name, how it is drawn, and what its caption says."""

    name: str
    title: str
    draw: Callable[[Reproduction], Figure]
    caption: Callable[[Reproduction], str]


def render(figure: Figure) -> tuple[str, bytes]:
    """Return a figure as SVG text and as PNG bytes."""
    svg, png = StringIO(), BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", dpi=160, metadata={"Software": None})
    return svg.getvalue(), png.getvalue()


def _panels(rows: int, columns: int, width: float = 7.2, height: float = 2.6) -> tuple[Figure, NDArray[Any]]:
    figure = Figure(figsize=(width, height * rows))
    return figure, figure.subplots(rows, columns, squeeze=False)


def _letter(axes: Axes, position: int, text: str) -> None:
    axes.set_title(f"({'abcdefgh'[position]}) {text}", loc="left", fontsize=9)


def evolution(result: Reproduction) -> Figure:
    """Best fitness against generation, a line a run (the paper's figure of the evolutions)."""
    kinds = [kind for kind in ("dsp", "hc") if kind in result.evolved]
    figure, panels = _panels(1, 2, height=2.9)
    for position, kind in enumerate(kinds):
        axes = panels[0, position]
        for best in result.evolved[kind].best:
            axes.plot(best, color=COLOURS[kind], alpha=0.6, linewidth=0.9)
        _letter(axes, position, {"dsp": "DSP rules", "hc": "hill climbing parameters"}[kind])
        axes.set_ylim(*paper_results()["figures"]["y_range_evolution"])
        axes.set_xlim(0, result.scale.generations)
        axes.set_xlabel("generation")
        axes.set_ylabel("best fitness (mean best EP)")
    for axes in panels[0, len(kinds) :]:
        axes.set_visible(False)
    return figure


def evolution_median(result: Reproduction) -> Figure:
    """Fitness against generation: all runs, and their median."""
    figure, panels = _panels(1, 1, height=3.2)
    axes = panels[0, 0]
    for kind, evolved in result.evolved.items():
        generations = np.arange(evolved.best.shape[1])
        axes.plot(generations, evolved.best.T, color=COLOURS[kind], alpha=0.22, linewidth=0.7)
        axes.plot(
            generations, np.median(evolved.best, axis=0), color=COLOURS[kind], linewidth=2.2,
            label=f"{NAMES[kind]}, median of {len(evolved.best)} runs",
        )  # fmt: skip
        fresh = float(np.mean([winner.remeasured for winner in evolved.winners]))
        axes.axhline(
            fresh, color=COLOURS[kind], linestyle=":", linewidth=1.2,
            label=f"{NAMES[kind]}, winners re-measured: {fresh:.1f}",
        )  # fmt: skip
    axes.set_xlim(0, result.scale.generations)
    axes.set_xlabel("generation")
    axes.set_ylabel("best fitness (mean best EP)")
    axes.legend(fontsize=8)
    return figure


def _histogram(
    axes: Axes, result: Reproduction, eps: NDArray[np.int32], test: str, title: str, position: int
) -> None:
    """Draw EPs on the paper's axis; what lies beyond it counts in the last bin, and is said."""
    low, high = paper_results()["figures"]["x_range_distributions"]
    edges = np.arange(low, high + 1, 5)
    beyond = int((eps >= high).sum())
    counts, _ = np.histogram(np.clip(eps, low, high - 1), bins=edges)
    axes.bar(edges[:-1], counts, width=5, align="edge", color=COLOURS[test], edgecolor="white", linewidth=0.6)
    axes.set_xlim(low, high)
    axes.set_xticks(range(low, high + 1, 15))
    axes.set_ylim(0, max(10, counts.max() * 1.5))
    axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(5, integer=True))
    axes.set_xlabel("episodic performance")
    axes.set_ylabel("trials")
    axes.grid(visible=False, axis="x")
    text = f"mean {eps.mean():.1f}\nreached {int((eps < result.settings.steps).sum())} of {len(eps)}"
    text += f"\n{beyond} at {high} or more" if beyond else ""
    text += f"\n{int((eps < low).sum())} below {low}" if (eps < low).any() else ""
    axes.text(0.98, 0.96, text, transform=axes.transAxes, ha="right", va="top", fontsize=8)
    _letter(axes, position, title)


def distribution_100(result: Reproduction) -> Figure:
    """Histograms of the EPs after 100 episodes."""
    figure, panels = _panels(1, 2)
    for position, kind in enumerate(("dsp", "hc")):
        _histogram(panels[0, position], result, result.at_100[kind], kind, NAMES[kind], position)
    return figure


def _curves(axes: Axes, result: Reproduction, test: str, last: int, position: int) -> None:
    episodes = np.arange(1, last + 1)
    fitness = result.fitness(test)[:, :last]
    best = result.best(test.removesuffix("_resampled"))
    for k, line in enumerate(fitness):
        if k != best:
            axes.plot(episodes, line, color=COLOURS[test], alpha=0.45, linewidth=0.8)
    axes.plot(episodes, fitness[best], color="black", linewidth=1.6, label="the best at the end, plain")
    axes.axhline(float(np.mean(result.maze.start_distances)), color="#666666", linestyle="--", linewidth=0.8)
    axes.set_xlim(1, last)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(35, 140)
    axes.set_xlabel("episode")
    axes.set_ylabel("fitness (mean best EP)")
    _letter(axes, position, f"{NAMES[test]}, episodes 1–{last:,}")


def _tests(result: Reproduction, tests: Sequence[str]) -> Figure:
    figure, panels = _panels(2, 2)
    for column, test in enumerate(tests):
        _curves(panels[0, column], result, test, result.scale.episodes, column)
        _curves(panels[1, column], result, test, min(1000, result.scale.episodes), 2 + column)
    panels[0, 0].legend(fontsize=8)
    return figure


def long_tests(result: Reproduction) -> Figure:
    """Mean best EP over many episodes, a line a rule."""
    return _tests(result, ("dsp", "hc"))


def resampled_tests(result: Reproduction) -> Figure:
    """Draw the same with resampling."""
    return _tests(result, ("dsp_resampled", "hc_resampled"))


def distributions(result: Reproduction) -> Figure:
    """Histograms of the EPs after 1,000 and after all episodes."""
    figure, panels = _panels(3, 2, height=2.2)
    ends = (min(1000, result.scale.episodes), result.scale.episodes)
    for row, test in enumerate(("dsp", "hc", "dsp_resampled")):
        for column, at in enumerate(ends):
            eps = result.best_curve(test)[:, at - 1]
            _histogram(
                panels[row, column], result, eps, test, f"{NAMES[test]}, {at:,} episodes", 2 * row + column
            )
    return figure


def comparison(result: Reproduction) -> Figure:
    """Compare the best of each over all episodes."""
    figure, panels = _panels(1, 1, height=3.4)
    axes = panels[0, 0]
    episodes = np.arange(1, result.scale.episodes + 1)
    for test, colour in COLOURS.items():
        trials = result.best_curve(test)
        mean = trials.mean(axis=0)
        error = trials.std(axis=0, ddof=1) / np.sqrt(len(trials))
        axes.plot(
            episodes, mean, color=colour, linewidth=1.5, label=f"{NAMES[test]}: {mean[-1]:.1f} at the end"
        )
        few = np.unique(np.linspace(0, len(mean) - 1, 400).astype(int))  # a band needs no more points
        axes.fill_between(
            episodes[few], (mean - error)[few], (mean + error)[few], color=colour, alpha=0.15, linewidth=0
        )
    perfect = float(np.mean(result.maze.start_distances))
    axes.axhline(perfect, color="#444444", linestyle="--", linewidth=1, label=f"perfect agent: {perfect:g}")
    axes.set_xlim(1, result.scale.episodes)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(35, 140)
    axes.set_xlabel("episode")
    axes.set_ylabel("fitness (mean best EP ± standard error)")
    axes.legend(fontsize=8)
    return figure


def maze(result: Reproduction) -> Figure:
    """Draw the maze."""
    rows, columns = result.maze.shape
    figure = Figure(figsize=(3.6, 3.6 * rows / columns))
    axes = figure.subplots()
    axes.imshow(result.maze.walls, cmap=ListedColormap(["white", "#2b2f36"]), interpolation="nearest")
    for row, line in enumerate(result.maze.picture):
        for column, symbol in enumerate(line):
            if symbol not in (WALL, "."):
                colour = COLOURS["hc"] if symbol == START else COLOURS["dsp"]
                axes.add_patch(mpl.patches.Rectangle((column - 0.5, row - 0.5), 1, 1, color=colour))
                axes.text(column, row, symbol, color="white", fontsize=6, ha="center", va="center")
    axes.set_axis_off()
    return figure


def rule_map(result: Reproduction) -> Figure:
    """Draw the 32 changes of all rules as a heat map, and how far the rules agree on each row."""
    order = result.ranking("dsp")
    rules = [rule for rule in (result.learners["dsp"][k] for k in order) if isinstance(rule, Rule)]
    table = np.array([rule.delta_w for rule in rules]).T  # (32, rules)
    counts = np.stack([(table == change).sum(axis=1) for change in (-1, 0, 1)])
    agreement = counts.max(axis=0) / len(rules)
    figure = Figure(figsize=(7.2, 5.6))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[4, 1])
    left.imshow(
        table, cmap=ListedColormap([COLOURS["hc"], "#f2f2f2", COLOURS["dsp"]]), vmin=-1, vmax=1, aspect="auto"
    )
    left.set_xticks(range(len(rules)), [str(k + 1) for k in range(len(rules))])
    left.set_xlabel("rule, the best at the end of the long test first")
    labels = [f"{row // 2:04b}  {'+' if row % 2 else '−'}" for row in range(32)]
    left.set_yticks(range(32), labels, fontsize=7, family="monospace")
    left.set_ylabel("trace bits 00 01 10 11, and m")
    left.set_xticks(np.arange(len(rules) + 1) - 0.5, minor=True)
    left.set_yticks(np.arange(33) - 0.5, minor=True)
    left.grid(visible=False, which="major")
    left.grid(which="minor", color="white", linewidth=0.7)
    left.tick_params(which="minor", length=0)
    handles = [
        mpl.patches.Patch(color=COLOURS["hc"], label="−1"),
        mpl.patches.Patch(facecolor="#f2f2f2", edgecolor="#bbbbbb", label="0"),
        mpl.patches.Patch(color=COLOURS["dsp"], label="+1"),
    ]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=3, title="change of the weight", fontsize=8
    )
    majority = np.array([COLOURS["hc"], "#999999", COLOURS["dsp"]])[counts.argmax(axis=0)]
    right.barh(range(32), agreement, color=majority, height=0.8)
    right.axvline(1 / 3, color="#444444", linestyle=":", linewidth=1)
    right.set_xlim(0, 1)
    right.set_xlabel("share that agrees\n(dotted: one third)")
    return figure


def scale_note(result: Reproduction) -> str:
    """Say in a caption what was run, if it is less than the paper."""
    scale = result.scale
    if scale.name == "paper":
        return ""
    return (
        f" Reduced scale: {scale.runs} runs of {scale.generations} generations and tests of {scale.episodes:,} "
        "episodes (the paper: 15, 300 and 10,000)."
    )


def _evolved(result: Reproduction) -> str:
    names = {"dsp": "DSP rules", "hc": "hill climbing parameters"}
    return " and of ".join(names[kind] for kind in names if kind in result.evolved)


def _caption(text: str) -> Callable[[Reproduction], str]:
    return lambda result: (
        text.format(
            rules=result.rules, n=len(result.learners["dsp"]), trials=result.trials, evolved=_evolved(result)
        )
        + scale_note(result)
    )


FIGURES = (
    Description("maze", "The maze", maze, _caption(
        "The maze: the start S and the final positions. One of them is the goal of a trial, the others are pits."
    )),
    Description("evolution", "Evolution", evolution, _caption(
        "Best fitness in each generation of independent evolutions of {evolved}, a "
        "line a run, on the paper's scale of 70 to 120. Values are those that selected the individuals."
    )),
    Description("evolution_median", "Evolution, all runs and their median", evolution_median, _caption(
        "The same runs and their median. Dotted: the mean of the winners measured afresh on some 400 trials each, which "
        "selection has not favoured."
    )),
    Description("distribution_100", "After 100 episodes", distribution_100, _caption(
        "Episodic performance of {trials} trials after 100 episodes, with the best of the {n} {rules} DSP rules and the best "
        "hill climbing parameters. Values beyond the axis count in the last bin."
    )),
    Description("long_tests", "Many episodes", long_tests, _caption(
        "Fitness of all {rules} DSP rules and of all hill climbing parameters in tests of their own, {trials} trials each. "
        "Below: the first 1,000 episodes. Dashed: the perfect agent."
    )),
    Description("resampled_tests", "Many episodes, with resampling", resampled_tests, _caption(
        f"The same with fresh weights every {RESAMPLE} episodes; the best EP so far is kept."
    )),
    Description("distributions", "Distributions", distributions, _caption(
        "Episodic performance of the {trials} trials with the best DSP rule, the best hill climbing parameters, and the best "
        "DSP rule with resampling. Values beyond the axis count in the last bin."
    )),
    Description("comparison", "The best of each", comparison, _caption(
        "Fitness of the best DSP rule and the best hill climbing parameters, plain and resampled. Bands: standard error."
    )),
    Description("rule_map", "The rules", rule_map, _caption(
        "The 32 changes of the {n} {rules} DSP rules. Right: the share of rules that has the most frequent change of "
        "the row, in its colour."
    )),
)  # fmt: skip


def draw(description: Description, result: Reproduction) -> tuple[str, bytes] | None:
    """Draw a figure as SVG and PNG; None where there is nothing to show."""
    if description.name.startswith("evolution") and not result.evolved:
        return None
    with mpl.rc_context(STYLE):
        figure = description.draw(result)
    return render(figure)
