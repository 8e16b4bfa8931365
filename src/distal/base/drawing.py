"""Drawing: axes, curves with their bands, and the squares of a rule.

Matplotlib is imported when something is drawn, not before: it takes a third of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import instance, straight
from distal.base.colours import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHANGE_ROLES = {-1: "negative", 0: "soft", 1: "positive"}  # the colour of each change
NORMAL = 1.96  # standard errors on either side of a mean, for 95%
_LOG_FROM = 1000  # a curve of more episodes has a logarithmic axis
_FEW = 3  # entries of a legend that find room among the lines
_ABOVE: Any = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "fontsize": 8, "frameon": False}
_OWN = ("dsp", "hc", "chance")  # kinds of learners that have a colour of their own


def axes_or_new(ax: Axes | None, width: float = 7.2, height: float = 4.0) -> Axes:
    """Return the axes, or the axes of a new figure (inches), which a notebook shows."""
    import matplotlib.axes  # noqa: PLC0415
    from matplotlib import pyplot  # noqa: PLC0415

    if ax is None:
        return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return instance("ax", ax, matplotlib.axes.Axes, "a Matplotlib Axes, or None")


def literal(name: str) -> str:
    """Return a name as a legend or title shows it letter by letter; Matplotlib obeys "_" and "$"."""
    return f"{' ' * name.startswith('_')}{straight(name)}".replace("$", r"\$")


def signed(change: int) -> str:
    """Write a change with its sign: −1, 0 or +1."""
    return f"{change:+d}".replace("-", "−") if change else "0"


def kind_colour(kind: str) -> str:
    """Return the colour of a kind of learner."""
    return LIGHT[kind if kind in _OWN else "other"]


# ---------------------------------------------------------------- curves


def curve(
    ax: Axes, best: NDArray[Any], label: str, colour: str, *, style: str = "-", band: bool = True
) -> None:
    """Draw the mean of the best EPs (trials, episodes), and a band of 1.96 standard errors on either side."""
    mean, episodes = best.mean(axis=0), np.arange(1, best.shape[1] + 1)
    marker = "o" if len(mean) == 1 else ""  # a line of one point is not seen
    ax.plot(episodes, mean, style, marker=marker, color=colour, linewidth=1.6, label=label)
    if band and len(best) > 1:
        half = NORMAL * best.std(axis=0, ddof=1) / np.sqrt(len(best))
        ax.fill_between(episodes, mean - half, mean + half, color=colour, alpha=0.15, linewidth=0)


def curve_axes(ax: Axes, episodes: int) -> None:
    """Name the axes of curves over a number of episodes, and explain the lines."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    if episodes > _LOG_FROM:
        ax.set_xscale("log")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    ax.set_xlabel("episode")
    ax.set_ylabel("mean best EP so far, with 95% bands")
    if len(ax.get_legend_handles_labels()[1]) > _FEW:
        ax.legend(**_ABOVE, ncols=2)
    else:
        ax.legend()


def evolution(
    ax: Axes,
    best: NDArray[np.float64],
    fresh: Sequence[tuple[float, float]],
    chance: float | None,
    colour: str,
) -> None:
    """Draw the best fitness of every run (runs, generations + 1), the winners on fresh trials, and chance.

    `fresh` are the winners' fitness and its standard error. They stand to the right of the last
    generation, side by side, in the order of the runs.
    """
    runs, last = len(best), best.shape[1] - 1
    marker = "o" if last == 0 else ""
    for run, line in enumerate(best):
        label = "_" if run else "best of each run, as selected"
        ax.plot(line, color=colour, marker=marker, alpha=0.6, linewidth=1, label=label)
    room = max(last, 1)
    across = room * (1.04 + 0.1 * np.arange(runs) / max(runs - 1, 1))
    fitness, error = np.array(fresh).T
    ax.errorbar(
        across, fitness, yerr=NORMAL * error, fmt="D", markersize=4, elinewidth=0.9,
        color=LIGHT["ink"], label="winners, on fresh trials (95%)",
    )  # fmt: skip
    if chance is not None:
        ax.axhline(
            chance, color=LIGHT["chance"], linestyle=":", linewidth=1.6, label="chance, on those trials"
        )
    ax.axvline(1.02 * room, color=LIGHT["line"], linewidth=0.8, zorder=0)
    ax.set_xlim(-0.02 * room, 1.16 * room)
    ax.set_xticks([tick for tick in ax.get_xticks() if 0 <= tick <= last and tick == int(tick)])
    ax.set_xlabel("generation")
    ax.set_ylabel("best fitness (mean best EP)")
    ax.legend(**_ABOVE, ncols=3)


# ---------------------------------------------------------------- rules


def rule(ax: Axes, changes: Sequence[int], title: str) -> None:
    """Draw the 32 changes of a rule as squares: a column for each of the 16 trace bits, a row for each m."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    for row, change in enumerate(changes):
        column, m = divmod(row, 2)
        role = CHANGE_ROLES[change] if change else "zero"
        ax.add_patch(
            Rectangle((column - 0.5, m - 0.5), 1, 1, facecolor=LIGHT[role], edgecolor=LIGHT["floor"])
        )
        ink = LIGHT["floor" if change else "soft"]
        ax.text(column, m, signed(change), color=ink, ha="center", va="center", fontsize=10)
    bits = ["\n".join(f"{column:04b}") for column in range(len(changes) // 2)]
    ax.set_xlim(-0.5, len(bits) - 0.5)
    ax.set_ylim(-0.5, 1.5)
    ax.set_aspect("equal")
    ax.set_xticks(range(len(bits)), bits, family="monospace", fontsize=9, linespacing=1.1)
    ax.set_yticks([0, 1], ["m = −1", "m = +1"])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("trace bits, from the top: 00, 01, 10, 11")
    ax.set_title(title, fontsize=10)
