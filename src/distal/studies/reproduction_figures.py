"""The figures of the paper's results, in its order and with its axes, and more; chance is in all of them.

Every function takes a Reproduction and returns a drawing; `all_figures` gives them captions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from distal.base.colours import LIGHT
from distal.model.maze import START, WALL, maze_name, triple_t_maze
from distal.search.config import REMEASURED
from distal.studies.appendix import EPISODES, NARROW, Agreement
from distal.studies.figures import bars, blank, grid, legend, letter, line_and_band, title
from distal.studies.intervals import Interval
from distal.studies.report import Figure
from distal.studies.reproduction import RESAMPLE, Reproduction, paper_results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

NAMES = {
    "dsp": "DSP",
    "hc": "hill climbing",
    "dsp_resampled": "DSP, resampled",
    "hc_resampled": "hill climbing, resampled",
    "chance": "chance",
}


def _chance_line(axes: Axes, result: Reproduction, kind: str) -> None:
    """Draw chance's mean best EP after 100 episodes, on the fresh trials of the winners."""
    values = [one.chance for one in result.fresh[kind] if one.chance is not None]
    mean = float(np.mean(values)) if values else float("nan")  # version 0.1 did not measure it
    axes.axhline(mean, color=LIGHT["chance"], linewidth=1.4, label="chance")
    axes.annotate(
        f"{mean:.1f}", (1, mean), xycoords=("axes fraction", "data"), xytext=(-2, 2),
        textcoords="offset points", ha="right", va="bottom", fontsize=8, color=LIGHT["chance"],
    )  # fmt: skip


def appendix(result: Reproduction) -> Drawing:
    """Draw the paper's fifteen numbers against ours, with the line on which both are the same."""
    found = result.appendix
    figure = blank(4.8, 5.1)
    axes = figure.subplots()
    paper = [row.paper for row in found.rows]

    def points(eps: NDArray[np.int32], agreement: Agreement, name: str, **style: Any) -> None:
        values = [Interval.mean(of_rule[:, -1]) for of_rule in eps]
        axes.errorbar(
            paper, [value.value for value in values], yerr=bars(values), marker="o", linestyle="none",
            label=f"{name}: {agreement}", **style,
        )  # fmt: skip

    points(found.plain, found.here, maze_name(result.maze), color=LIGHT["dsp"], zorder=3)
    if found.narrow is not None and found.in_narrow is not None:
        hollow = {"color": LIGHT["soft"], "markerfacecolor": "none", "elinewidth": 0.8, "alpha": 0.6}
        points(found.narrow, found.in_narrow, NARROW, markersize=5, **hollow)
    chance = found.mean_chance.value
    ends = (*axes.get_xlim(), *axes.get_ylim(), chance - 2, chance + 2)
    low, high = min(ends), max(ends)
    axes.plot(
        [low, high], [low, high], color=LIGHT["paper"], linestyle="--", linewidth=1.1, label="agreement"
    )
    axes.axhline(chance, color=LIGHT["chance"], linewidth=1.4, label=f"chance: {chance:.1f}")
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    axes.set_aspect("equal")
    axes.set_xlabel(f"fitness after {EPISODES:,} episodes: the paper")
    axes.set_ylabel(f"fitness after {found.episodes:,} episodes: here")
    legend(figure, 2, order=(maze_name(result.maze), NARROW))
    return figure


def evolution(result: Reproduction) -> Drawing:
    """Best fitness against generation, one line per run (the paper's figure of the evolutions)."""
    kinds = [kind for kind in ("dsp", "hc") if kind in result.evolved]
    figure, panels = grid(1, len(kinds), 7.2 if len(kinds) == 2 else 4.4, 3.1, sharex=True, sharey=True)
    for position, kind in enumerate(kinds):
        axes = panels[0, position]
        for best in result.evolved[kind].best:
            axes.plot(best, color=LIGHT[kind], alpha=0.6, linewidth=0.9)
        fresh = float(np.mean([one.fitness for one in result.fresh[kind]]))
        label = f"{NAMES[kind]}, re-measured: {fresh:.1f}"
        axes.axhline(fresh, color=LIGHT[kind], linestyle=":", linewidth=1.4, label=label)
        _chance_line(axes, result, kind)
        name = {"dsp": "DSP rules", "hc": "hill climbing parameters"}[kind]
        if len(kinds) == 1:
            title(axes, name)
        else:
            letter(axes, position, name)
        axes.set_xlabel("generation")
    _papers_range(panels[0, 0], result, *paper_results()["figures"]["y_range_evolution"])
    panels[0, 0].set_xlim(0, result.scale.generations)
    panels[0, 0].set_ylabel("best fitness (mean best EP)")
    legend(figure, order=("", "chance", "perfect"))
    return figure


def _histogram(
    axes: Axes, result: Reproduction, eps: dict[str, NDArray[np.int32]], test: str, title: str, position: int
) -> int:
    """Draw EPs, and chance's as an outline, on the paper's axis; return the height of the highest bar.

    What lies beyond the axis counts in the last bin, and a line says so.
    """
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - takes a third of a second

    low, high = paper_results()["figures"]["x_range_distributions"]
    edges = np.arange(low, high + 1, 5)
    own, chance = eps[test], eps["chance"]

    def counts(values: NDArray[np.int32]) -> NDArray[np.int64]:
        counted: NDArray[np.int64] = np.histogram(np.clip(values, low, high - 1), bins=edges)[0]
        return counted

    axes.bar(edges[:-1] + 0.2, counts(own), width=4.6, align="edge", color=LIGHT[test])
    axes.stairs(
        counts(chance), edges, color=LIGHT["chance"], linewidth=1.3, label="chance, the same number of trials"
    )
    axes.set_xlim(low, high)
    axes.set_xticks(range(low, high + 1, 15))
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.grid(visible=False)
    lines = [f"mean {own.mean():.1f}, chance {chance.mean():.1f}"]
    steps = result.settings.steps
    lines.append(f"reached {int((own < steps).sum())}, chance {int((chance < steps).sum())} of {len(own)}")
    for where, beyond in ((f"at {high} or more", own >= high), (f"below {low}", own < low)):
        if beyond.any():
            lines.append(f"{int(beyond.sum())} {where}")
    axes.text(0.5, 0.97, "\n".join(lines), transform=axes.transAxes, ha="center", va="top", fontsize=8)
    letter(axes, position, title)
    return int(max(counts(own).max(), counts(chance).max()))


def _label_histograms(figure: Drawing, panels: NDArray[Any], highest: int) -> None:
    """Leave room for the words above the highest bar, and name the outer axes."""
    panels[0, 0].set_ylim(0, max(10, highest * 1.5))
    for axes in panels[-1]:
        axes.set_xlabel("episodic performance (EP)")
    for axes in panels[:, 0]:
        axes.set_ylabel("trials")
    legend(figure, order=("", "chance", "perfect"))


def distribution_100(result: Reproduction) -> Drawing:
    """Histograms of the EPs after 100 episodes."""
    figure, panels = grid(1, 2, height=2.9, sharex=True, sharey=True)
    highest = [
        _histogram(panels[0, position], result, result.at_100, kind, NAMES[kind], position)
        for position, kind in enumerate(("dsp", "hc"))
    ]
    _label_histograms(figure, panels, max(highest))
    return figure


def every_episode(result: Reproduction) -> Drawing:
    """Draw the best EP so far, the EP of each episode, and the share that reach the goal."""
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415 - takes a third of a second

    figure, panels = grid(1, 3, height=3.0, sharex=True)
    so_far, now, share = panels[0]
    now.sharey(so_far)
    now.tick_params(labelleft=False)
    for kind, eps in result.episodes.items():
        _mean_line(so_far, np.minimum.accumulate(eps, axis=1), kind, NAMES[kind])
        _mean_line(now, eps, kind, NAMES[kind])
        reached = (eps < result.settings.steps).mean(axis=0)
        tens = np.array_split(np.arange(len(reached)), 10)  # single episodes are too few to show a share
        share.plot(
            [float(ten.mean()) + 1 for ten in tens], [float(reached[ten].mean()) for ten in tens],
            color=LIGHT[kind], linewidth=1.4, marker="o", markersize=3, label=NAMES[kind],
        )  # fmt: skip
    letter(so_far, 0, "best EP so far")
    letter(now, 1, "EP of the episode itself")
    letter(share, 2, "reaches the goal")
    so_far.set_ylabel("mean EP ± standard error")
    share.set_ylabel("share of the trials")
    share.yaxis.set_major_formatter(PercentFormatter(1, decimals=1))
    share.set_ylim(bottom=0)
    so_far.set_xlim(1, result.episodes["dsp"].shape[1])
    for axes in panels[0]:
        axes.set_xlabel("episode")
    legend(figure, order=("", "chance", "perfect"))
    return figure


def _mean_line(axes: Axes, trials: NDArray[np.int32], kind: str, label: str, style: Any = "-") -> None:
    """Draw the mean of trials (trials, episodes) with a band of one standard error."""
    mean, error = trials.mean(axis=0), trials.std(axis=0, ddof=1) / np.sqrt(len(trials))
    line_and_band(axes, np.arange(1, len(mean) + 1), mean, error, kind, label, style)


def _curves(axes: Axes, result: Reproduction, test: str, last: int, position: int) -> None:
    episodes = np.arange(1, last + 1)
    fitness = result.fitness(test)[:, :last]
    best = result.best(test.removesuffix("_resampled"))
    for k, line in enumerate(fitness):
        if k != best:
            axes.plot(episodes, line, color=LIGHT[test], alpha=0.55, linewidth=0.8)
    chance = result.best_curve("chance_hc" if test.startswith("hc") else "chance")[:, :last].mean(axis=0)
    axes.plot(episodes, chance, color=LIGHT["chance"], linewidth=1.6, zorder=2.5, label="chance")
    label = f"{NAMES[test]}: the best"
    axes.plot(episodes, fitness[best], color=LIGHT[test], linewidth=2.4, zorder=3, label=label)
    _perfect(axes, result)
    axes.set_xlim(1, last)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    _papers_range(axes, result, 35, 140)
    letter(axes, position, f"{NAMES[test]}, episodes 1–{last:,}")


def _papers_range(axes: Axes, result: Reproduction, low: float, high: float) -> None:
    """Let the axis be the paper's, where the task is the paper's: elsewhere nothing may lie on it."""
    if result.maze.picture == triple_t_maze().picture and result.settings.steps == 100:
        axes.set_ylim(low, high)


def _perfect(axes: Axes, result: Reproduction) -> None:
    mean = result.maze.perfect
    axes.axhline(mean, color=LIGHT["goal"], linestyle="--", linewidth=1.1, label=f"perfect agent: {mean:g}")


def long_tests(result: Reproduction, tests: Sequence[str]) -> Drawing:
    """Draw the mean best EP over many episodes, one line per rule, and the first thousand below."""
    figure, panels = grid(2, 2, sharex="row", sharey=True)
    for column, test in enumerate(tests):
        _curves(panels[0, column], result, test, result.scale.episodes, column)
        _curves(panels[1, column], result, test, min(1000, result.scale.episodes), 2 + column)
        panels[1, column].set_xlabel("episode")
    for axes in panels[:, 0]:
        axes.set_ylabel("fitness (mean best EP)")
    legend(figure, order=("", "chance", "perfect"))
    return figure


def distributions(result: Reproduction) -> Drawing:
    """Histograms of the EPs after 1,000 and after all episodes."""
    figure, panels = grid(3, 2, height=2.2, sharex=True, sharey=True)
    ends = (min(1000, result.scale.episodes), result.scale.episodes)
    highest = []
    for row, test in enumerate(("dsp", "hc", "dsp_resampled")):
        for column, at in enumerate(ends):
            eps = {name: result.best_curve(name)[:, at - 1] for name in (test, "chance")}
            title = f"{NAMES[test]}, {at:,} episodes"
            highest.append(_histogram(panels[row, column], result, eps, test, title, 2 * row + column))
    _label_histograms(figure, panels, max(highest))
    return figure


def comparison(result: Reproduction) -> Drawing:
    """Compare the best of each, and chance, over all episodes."""
    figure, panels = grid(1, 1, height=3.6)
    axes = panels[0, 0]
    for test, name in NAMES.items():
        trials = result.best_curve(test)
        style = (0, (4, 1.2)) if test.endswith("resampled") else "-"
        _mean_line(axes, trials, test, f"{name}: {trials[:, -1].mean():.1f} at the end", style)
    _perfect(axes, result)
    axes.set_xlim(1, result.scale.episodes)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    _papers_range(axes, result, 35, 140)
    axes.set_xlabel("episode")
    axes.set_ylabel("fitness (mean best EP ± standard error)")
    axes.legend()
    return figure


_SQUARE = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)])


def maze(result: Reproduction) -> Drawing:
    """Draw the maze."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - takes a third of a second
    from matplotlib.path import Path  # noqa: PLC0415

    rows, columns = result.maze.shape
    figure = blank(3.6, 3.6 * rows / columns)
    axes = figure.subplots()

    def cells(where: NDArray[np.bool_], role: str) -> None:
        """Fill cells as a single path: separate cells would show seams."""
        at = np.argwhere(where)[:, None, ::-1]  # column, row
        codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY]
        path = Path((at + _SQUARE).reshape(-1, 2), np.tile(codes, len(at)))
        axes.add_patch(PathPatch(path, facecolor=LIGHT[role], linewidth=0))

    picture = np.array([list(line) for line in result.maze.picture])
    cells(picture == WALL, "wall")
    cells(picture != WALL, "floor")
    cells(picture == START, "start")
    cells((picture != WALL) & (picture != START) & (picture != "."), "goal")
    for row, line in enumerate(result.maze.picture):
        for column, symbol in enumerate(line):
            if symbol not in (WALL, "."):
                axes.text(
                    column, row, symbol, color=LIGHT["wall"], fontsize=6, fontweight="bold", ha="center",
                    va="center_baseline",
                )  # fmt: skip
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


_CHANGES = {-1: "negative", 0: "zero", 1: "positive"}


def rule_map(result: Reproduction) -> Drawing:
    """Draw the 32 changes of all rules as a heat map, and their agreement on each row."""
    from matplotlib.collections import PatchCollection  # noqa: PLC0415 - takes a third of a second
    from matplotlib.patches import Patch, Rectangle  # noqa: PLC0415
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415

    order = result.ranking("dsp")
    rules = [result.dsp_rules[k] for k in order]
    table = np.array([rule.delta_w for rule in rules]).T  # (32, rules)
    counts = np.stack([(table == change).sum(axis=1) for change in _CHANGES])
    agreement = counts.max(axis=0) / len(rules)
    figure = blank(7.2, 5.6)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[4, 1])
    gap = 0.04
    for change, role in _CHANGES.items():
        squares = [
            Rectangle((column - 0.5 + gap, row - 0.5 + gap), 1 - 2 * gap, 1 - 2 * gap)
            for row, column in zip(*np.nonzero(table == change), strict=True)
        ]
        left.add_collection(PatchCollection(squares, facecolor=LIGHT[role], edgecolor="none", linewidth=0))
    numbers = [re.sub(r"\D", "", result.origin("dsp", k)) for k in order]
    left.set_xticks(range(len(rules)), [f"{k + 1}\n{number}" for k, number in enumerate(numbers)])
    left.set_xlim(-0.5, len(rules) - 0.5)
    left.set_ylim(31.5, -0.5)
    of = "the run that it came from" if "dsp" in result.evolved else "its number in the paper"
    left.set_xlabel(f"rule, the best at the end of the long test first; below it, {of}")
    labels = [f"{row // 2:04b}  {'+' if row % 2 else '−'}" for row in range(32)]
    left.set_yticks(range(32), labels, fontsize=7, family="monospace")
    left.set_ylabel("trace bits 00 01 10 11, and m")
    left.grid(visible=False)
    left.tick_params(length=0)
    handles = [
        Patch(facecolor=LIGHT[role], label=f"{change:+d}".replace("-", "−").replace("+0", "0"))
        for change, role in _CHANGES.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, title="change of the weight")
    majority = np.array([LIGHT["negative"], LIGHT["soft"], LIGHT["positive"]])[counts.argmax(axis=0)]
    right.barh(range(32), agreement, color=majority, height=0.8)
    right.axvline(1 / 3, color=LIGHT["ink"], linestyle=":", linewidth=1)
    right.set_xlim(0, 1)
    right.xaxis.set_major_formatter(PercentFormatter(1))
    right.tick_params(axis="y", length=0)
    right.grid(visible=False, axis="y")
    right.set_xlabel("rules that agree\n(dotted: one third)")
    return figure


def all_figures(result: Reproduction) -> list[Figure]:
    """Return every figure of a report, with its caption."""
    trials, many = result.trials, len(result.episodes["dsp"])
    rule, climber = (result.origin(kind, result.best(kind)) for kind in ("dsp", "hc"))
    best = f"the best DSP rule ({rule}) and the best hill climbing parameters ({climber})"
    found: list[tuple[str, str, Callable[[Reproduction], Drawing], str]] = [
        ("appendix", "The paper’s fifteen rules", appendix,
         f"Fitness of the fifteen rules in the paper’s appendix, after {EPISODES:,} episodes there and "
         f"{result.appendix.episodes:,} here, {trials} trials each. Bars: 95% intervals of our numbers; the paper’s numbers are "
         f"means of 40 trials and have errors too. Dashed: equal numbers. Hollow: the same rules in {NARROW}, if that is not the "
         "maze of this report. Grey line: chance with the same scales α, in the same trials. r: correlation; rms: root mean "
         "squared difference."),
        ("maze", "The maze", maze,
         "S is the start; the numbers are the final positions. In a trial, one of them is the goal and the others are pits."),
        ("evolution", "Evolution", evolution,
         f"Best fitness in each generation of independent evolutions, one line per run, elites {result.elites}. These values "
         "selected the individuals and are therefore optimistic. Dotted: the mean of the winners on about "
         f"{REMEASURED} fresh trials each, which played no part in the selection. Grey: chance on the same trials."),
        ("distribution_100", "After 100 episodes", distribution_100,
         f"Best EP of {trials} trials of 100 episodes with {best}. Outline: chance. Values beyond the axis count in the last bin."),
        ("every_episode", "The best EP so far, and the EP of every episode", every_episode,
         f"{many} trials of 100 episodes with {best}, and chance, all from the same trial seeds. (a) The best EP so far, which the "
         "paper reports, can only fall. (b) The EP of each episode itself, on the same axis. (c) The share of the trials whose "
         "episode reached the goal, means of ten episodes. The curve of a learner that keeps the goal would fall in (b) as in (a), "
         "and rise in (c)."),
        ("long_tests", "Many episodes", partial(long_tests, tests=("dsp", "hc")),
         f"Fitness of all DSP rules and of all hill climbing parameters in tests of their own, {trials} trials each, one line "
         f"per rule. Thick: {best}. Below: the first 1,000 episodes."),
        ("resampled_tests", "Many episodes, with resampling",
         partial(long_tests, tests=("dsp_resampled", "hc_resampled")),
         f"The same with fresh weights every {RESAMPLE} episodes; the best EP so far is kept. Thick: the rule and the climber that "
         "are best without resampling. Chance draws fresh weights in every episode."),
        ("distributions", "Distributions", distributions,
         f"Best EP of {trials} trials with {best}, and the same DSP rule with resampling. Outline: chance. Values beyond the axis "
         "count in the last bin."),
        ("comparison", "The best of each", comparison,
         f"Fitness of {best}, plain and resampled, and of chance. Bands: standard error."),
        ("rule_map", "The rules", rule_map,
         f"The 32 changes of the {len(result.learners['dsp'])} {result.rules} DSP rules. Right: the share of the rules that have "
         "the most frequent change of the row, in the colour of that change (grey: no change)."),
    ]  # fmt: skip
    return [
        Figure(name, title, caption, partial(draw, result))
        for name, title, draw, caption in found
        if name != "evolution" or result.evolved
    ]
