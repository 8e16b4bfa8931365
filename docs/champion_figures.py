"""The figures of docs/champions.md, drawn from the kept numbers; chance is in all that show a score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from champion_numbers import BEFORE, CLIMBER, OURS
from matplotlib.ticker import PercentFormatter

from distal.base.colours import LIGHT
from distal.base.drawing import signed
from distal.base.significance import SIGNIFICANT
from distal.evaluation import row_figures
from distal.evaluation.measures import MISSED, Measure
from distal.evaluation.usage import LAYERS
from distal.learners.dsp import ROWS
from distal.studies.figures import blank, draw_curve, own_style, render_svg, standalone
from distal.studies.intervals import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CHAMPIONS = ("dsp", "other", "goal", "start", "pit")  # the colours of champions, in their order
_OTHERS = {BEFORE[0]: ("paper", ":"), OURS: ("dsp_resampled", "--"), CLIMBER: ("hc", "-.")}


def figures(data: dict[str, Any]) -> dict[str, str]:
    """Return all figures as SVG, for light and for dark ground, by the names of their files."""
    drawn = {"champions_episodes": _episodes, "champions_later": _later, "champions_elsewhere": _elsewhere}
    with own_style():
        found = {name: draw(data) for name, draw in drawn.items()}
        for name in champion_names(data):
            found[f"{name.replace(':', '_')}_rows"] = _rows(data, name)
    return {name: standalone(render_svg(figure)) for name, figure in found.items()}


def champion_names(data: dict[str, Any]) -> list[str]:
    """Return the names of the champions, in their order."""
    return [entry["rule"]["name"] for entry in data["champions"]]


def label(name: str) -> str:
    """Return what a figure calls a learner."""
    return "hill climbing" if name == CLIMBER else name


def _lines(data: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return the colour and the style of every learner's line."""
    own = {name: (_CHAMPIONS[k % len(_CHAMPIONS)], "-") for k, name in enumerate(champion_names(data))}
    return {**_OTHERS, **own}


def _legend(figure: Figure, columns: int) -> None:
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    figure.legend(list(found.values()), list(found), loc="outside upper center", ncols=columns)


def _episodes(data: dict[str, Any]) -> Figure:
    figure = blank(8.2, 3.2)
    panels = figure.subplots(1, 3)
    titles = {"best": "best EP so far", "ep": "EP of the episode", "reached": "episodes that reach the goal"}
    chance = data["does"][OURS]["chance"]["curves"]
    for axes, (of, title) in zip(panels, titles.items(), strict=True):
        draw_curve(axes, Curve.from_dict(chance[of]), "chance", "chance", "-")
        for name, (colour, style) in _lines(data).items():
            curve = Curve.from_dict(data["does"][name]["own"]["curves"][of])
            draw_curve(axes, curve, label(name), colour, style)
        axes.set_title(title, loc="left", fontsize=9)
        axes.set_xlabel("episode")
    panels[2].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    _legend(figure, 4)
    return figure


def _later(data: dict[str, Any]) -> Figure:
    """Draw what is left after the first success, and the best EP over many episodes."""
    figure = blank(8.2, 3.2)
    left, right = figure.subplots(1, 2)
    chance = data["does"][OURS]["chance"]
    _after(left, chance["after_success"]["share"], "chance", "chance", "-")
    draw_curve(right, Curve.from_dict(chance["long_curve"]), "chance", "chance", "-")
    for name, (colour, style) in _lines(data).items():
        own = data["does"][name]["own"]
        _after(left, own["after_success"]["share"], label(name), colour, style)
        draw_curve(right, Curve.from_dict(own["long_curve"]), label(name), colour, style)
    left.set_title("reach the goal again", loc="left", fontsize=9)
    left.set_xlabel("episodes after the first success")
    left.set_ylim(0, 1.02)
    left.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    right.set_title("best EP so far", loc="left", fontsize=9)
    right.set_xscale("log")
    right.set_xlabel("episodes")
    _legend(figure, 4)
    return figure


def _after(axes: Axes, shares: list[float], name: str, colour: str, style: str) -> None:
    axes.plot(
        np.arange(1, len(shares) + 1), shares, style, color=LIGHT[colour], linewidth=1.4, label=name
    )  # fmt: skip


def _rows(data: dict[str, Any], name: str) -> Figure:
    """Draw how often each row of a champion is used, and what its other changes do to its own measure."""
    found, changes = data["inside"][name], data["rules"][name]["delta_w"]
    figure = blank(7.2, 6.6)
    left, right = figure.subplots(1, 2, sharey=True)
    row_figures.usage(left, np.array(found["use_by_layer"]), LAYERS)
    effects = [
        (
            one["row"],
            one["change"],
            one["difference"],
            one["low"],
            one["high"],
            one["corrected"] < SIGNIFICANT,
        )
        for one in found["knockouts"]
    ]
    row_figures.knockouts(right, effects)
    right.set_xlabel(f"difference of the\n{Measure.of(found['measure']).words}\n(to the right: worse)")
    right.set_ylabel("")
    names = [f"{row}:\u00a0{row_figures.row_label(row)} → {signed(changes[row])}" for row in range(ROWS)]
    left.set_yticks(range(ROWS), names)
    left.set_ylabel("row: trace bits 00 01 10 11, m → change of the weight")
    handles, layers = left.get_legend_handles_labels()
    figure.legend(handles, layers, loc="outside upper center", ncols=len(LAYERS))
    return figure


def _elsewhere(data: dict[str, Any]) -> Figure:
    """Draw every champion minus chance and hill climbing, place by place."""
    names = champion_names(data)
    lines = -(-len(names) // 2)
    figure = blank(8.2, 0.4 + 4.4 * lines)
    panels = figure.subplots(lines, 2, squeeze=False).ravel()
    for axes in panels[len(names) :]:
        axes.set_axis_off()
    for axes, name in zip(panels, names, strict=False):
        rows = data["elsewhere"][name]
        for k, (test, words, colour) in enumerate(
            (("minus_chance", "minus chance", "dsp"), ("minus_climber", "minus hill climbing", "hc"))
        ):
            values = [row[test] for row in rows]
            middle = [one["value"] for one in values]
            bars = [
                [one["value"] - one["low"] for one in values],
                [one["high"] - one["value"] for one in values],
            ]
            axes.errorbar(
                middle, np.arange(len(rows)) + 0.16 * (2 * k - 1), xerr=bars, fmt="o", markersize=3.2,
                linewidth=1.1, color=LIGHT[colour], label=words,
            )  # fmt: skip
        axes.axvline(0, color=LIGHT["ink"], linewidth=0.8)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_yticks(range(len(rows)), [_place(row, rows[0]["episodes"]) for row in rows], fontsize=7)
        axes.set_title(name, loc="left", fontsize=9)
        missed = Measure.of(data["inside"][name]["measure"]).kind == MISSED
        axes.set_xlabel(f"{'percentage points' if missed else 'EP'} (to the left: better)")
    _legend(figure, 2)
    return figure


def _place(row: dict[str, Any], episodes: int) -> str:
    return row["place"] if row["episodes"] == episodes else f"{row['episodes']:,} episodes"
