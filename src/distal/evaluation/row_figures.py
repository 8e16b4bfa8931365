"""Drawings of rules and their rows on axes of Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from distal.base.colours import LIGHT
from distal.base.drawing import CHANGE_ROLES, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LAYER_ROLES = ("start", "dsp", "paper", "hc", "chance")  # the colour of each layer


def row_label(row: int) -> str:
    """Write a row as its trace bits and m."""
    return f"{row // 2:04b} {'+' if row % 2 else '−'}"


def row_cells(row: int) -> list[str]:
    """Return a row in the cells of a table: its number, its trace bits and m."""
    return [str(row), f"{row // 2:04b}", "+1" if row % 2 else "−1"]


def _row_axis(axes: Axes) -> None:
    """Let the axis be the 32 rows, from the top."""
    axes.set_ylim(31.6, -0.6)
    axes.set_yticks(range(32), [row_label(row) for row in range(32)], fontsize=7, family="monospace")
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_ylabel("trace bits 00 01 10 11, and m")


def usage(axes: Axes, counts: NDArray[np.int64], layers: Sequence[str]) -> None:
    """Draw the share of all updates that selected each row as bars, a part for each layer (5, 32)."""
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415

    shares = counts / max(1, int(counts.sum()))
    before = np.zeros(shares.shape[1])
    for layer, share, role in zip(layers, shares, _LAYER_ROLES, strict=True):
        axes.barh(range(len(share)), share, left=before, color=LIGHT[role], height=0.75, label=layer)
        before = before + share
    _row_axis(axes)
    axes.set_xlabel("share of all updates")
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def knockouts(axes: Axes, effects: Sequence[tuple[int, int, float, float, float, bool]]) -> None:
    """Draw what each row's other changes do: (row, change, difference, low, high, whether it matters)."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    for row, change, difference, low, high, matters in effects:
        colour, at = LIGHT[CHANGE_ROLES[change]], row + 0.18 * change
        axes.plot([low, high], [at, at], color=colour, linewidth=1.1)
        axes.plot(
            [difference], [at], marker="o", markersize=3.6, color=colour,
            markerfacecolor=colour if matters else "none", markeredgewidth=0.9,
        )  # fmt: skip
    axes.axvline(0, color=LIGHT["ink"], linewidth=0.8)
    _row_axis(axes)
    axes.set_xlabel("difference of the fitness\n(to the right: worse)")
    handles: list[Any] = [
        Line2D([], [], marker="o", color=LIGHT[role], markersize=4, label=f"set to {signed(change)}")
        for change, role in CHANGE_ROLES.items()
    ]
    axes.legend(handles=handles, loc="lower right", fontsize=7)


def sensitivity(
    axes: Axes,
    name: str,
    own: float,
    fitness: float,
    points: Sequence[tuple[float, float, float, float]],
    chance: float | None,
) -> None:
    """Draw the fitness along a number: (value, difference, low, high); 0 is left of the log scale."""
    values, difference, low, high = map(np.array, zip(*points, strict=True))
    smallest = min(value for value in values if value > 0)
    axes.set_xscale("symlog", linthresh=smallest, linscale=0.5)
    axes.fill_between(values, fitness + low, fitness + high, color=LIGHT["dsp"], alpha=0.18, linewidth=0)
    axes.plot(values, fitness + difference, color=LIGHT["dsp"], marker="o", markersize=3, linewidth=1.3)
    axes.plot([own], [fitness], marker="D", markersize=6, color=LIGHT["other"], label="the rule's own value")
    if chance is not None:
        axes.axhline(chance, color=LIGHT["chance"], linewidth=1.2, label="chance")
    axes.set_xlim(0, 1)
    ticks = sorted({0.0, own, 1.0})
    axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(name)
    axes.set_ylabel("fitness (mean best EP)")


def rule_set(
    axes: Axes,
    table: NDArray[np.int64],
    use: NDArray[np.float64],
    names: Sequence[str],
    consensus: NDArray[np.float64],
    mean_use: NDArray[np.float64],
) -> None:
    """Draw changes (32, rules) as squares whose size is their use; on the right, the consensus."""
    from matplotlib.collections import PatchCollection  # noqa: PLC0415
    from matplotlib.patches import Patch, Rectangle  # noqa: PLC0415

    largest = max(float(use.max()), float(mean_use.max()))
    columns = [*range(len(names)), len(names) + 0.6]
    values = np.column_stack([table, consensus])
    sizes = np.sqrt(np.column_stack([use, mean_use]) / largest)
    for change, role in CHANGE_ROLES.items():
        squares = [
            Rectangle((columns[k] - side / 2, row - side / 2), side, side)
            for (row, k), value in np.ndenumerate(values)
            if np.sign(np.round(value)) == change and (side := 0.12 + 0.83 * float(sizes[row, k])) > 0
        ]
        axes.add_collection(PatchCollection(squares, facecolor=LIGHT[role], edgecolor="none", linewidth=0))
    _row_axis(axes)
    axes.set_xlim(-0.7, columns[-1] + 0.7)
    axes.set_xticks(columns, [*names, "consensus"], rotation=90, fontsize=7)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False)
    axes.legend(
        handles=[
            Patch(facecolor=LIGHT[role], label=signed(change)) for change, role in CHANGE_ROLES.items()
        ], loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=8,
    )  # fmt: skip
