"""The figures of docs/champions.md, drawn from the kept numbers; chance is in all that show a score."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from champion_numbers import BEFORE, CLIMBER, OURS
from matplotlib.ticker import PercentFormatter

from distal.base.colours import LIGHT
from distal.base.drawing import signed
from distal.base.significance import SIGNIFICANT
from distal.evaluation import row_figures
from distal.evaluation.measures import MISSED, Measure
from distal.learners.dsp import ROWS
from distal.networks import LAYERS
from distal.studies.figures import bars, draw_curve, grid, legend
from distal.studies.intervals import Curve, Interval
from distal.studies.report import Figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_CHAMPIONS = ("dsp", "other", "goal", "start", "pit")  # the colours of champions, in their order
_OTHERS = {BEFORE[0]: ("paper", ":"), OURS: ("dsp_resampled", "--"), CLIMBER: ("hc", "-.")}
Data = dict[str, Any]


def figures(data: Data) -> dict[str, Figure]:
    """Return all figures by the names of their files."""
    drawn: list[tuple[str, str, Any, str]] = [
        ("champions_episodes", "Episode by episode", _episodes,
         f"Means over trials, with 95% bands; chance with the scales α of `{OURS}`."),
        ("champions_later", "Later", _later,
         "The share of the trials that reach the goal again, by episodes after the first success, and the "
         "mean best EP so far with a 95% band."),
        ("champions_elsewhere", "Place by place", _elsewhere,
         "Each champion minus chance and minus hill climbing, by its own measure, with 95% intervals."),
        *((f"{name.replace(':', '_')}_rows", f"All rows of {name}", partial(_rows, name=name),
           "The share of the updates that select each row, by the layer of the synapse, and the effect of "
           f"its other changes; filled: with a corrected p below {SIGNIFICANT}.")
          for name in champion_names(data)),
    ]  # fmt: skip
    return {name: Figure(name, title, caption, partial(draw, data)) for name, title, draw, caption in drawn}


def champion_names(data: Data) -> list[str]:
    """Return the names of the champions, in their order."""
    return [entry["rule"]["name"] for entry in data["champions"]]


def label(name: str) -> str:
    """Return what a figure calls a learner."""
    return "hill climbing" if name == CLIMBER else name


def _lines(data: Data) -> list[tuple[str, Data, str, str]]:
    """Return what each line is called, what it is of, its colour and its style; chance is the first."""
    found, names = data["does"], champion_names(data)
    styles = {**_OTHERS, **{name: (_CHAMPIONS[k % len(_CHAMPIONS)], "-") for k, name in enumerate(names)}}
    lines = [(label(name), found[name]["own"], *style) for name, style in styles.items()]
    return [("chance", found[OURS]["chance"], "chance", "-"), *lines]


def _episodes(data: Data) -> Drawing:
    figure, panels = grid(1, 3, 8.2, 3.2)
    titles = {"best": "best EP so far", "ep": "EP of the episode", "reached": "episodes that reach the goal"}
    for axes, (of, title) in zip(panels[0], titles.items(), strict=True):
        for name, found, colour, style in _lines(data):
            draw_curve(axes, Curve.from_dict(found["curves"][of]), name, colour, style)
        axes.set_title(title, loc="left", fontsize=9)
        axes.set_xlabel("episode")
    panels[0, 2].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    legend(figure, 4)
    return figure


def _later(data: Data) -> Drawing:
    figure, panels = grid(1, 2, 8.2, 3.2)
    left, right = panels[0]
    for name, found, colour, style in _lines(data):
        shares = found["after_success"]["share"]
        left.plot(np.arange(len(shares)) + 1, shares, style, color=LIGHT[colour], linewidth=1.4, label=name)
        draw_curve(right, Curve.from_dict(found["long_curve"]), name, colour, style)
    left.set_title("reach the goal again", loc="left", fontsize=9)
    left.set_xlabel("episodes after the first success")
    left.set_ylim(0, 1.02)
    left.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    right.set_title("best EP so far", loc="left", fontsize=9)
    right.set_xscale("log")
    right.set_xlabel("episodes")
    legend(figure, 4)
    return figure


def _rows(data: Data, name: str) -> Drawing:
    """Draw how often each row of a champion is used, and what its other changes do to its own measure."""
    found, changes = data["inside"][name], data["rules"][name]["delta_w"]
    figure, panels = grid(1, 2, 7.2, 6.6, sharey=True)
    left, right = panels[0]
    row_figures.usage(left, np.array(found["use_by_layer"]), LAYERS)
    numbers = ("row", "change", "difference", "low", "high")
    effects: list[Any] = [
        (*(one[number] for number in numbers), one["corrected"] < SIGNIFICANT) for one in found["knockouts"]
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


def _elsewhere(data: Data) -> Drawing:
    """Draw every champion minus chance and hill climbing, place by place."""
    names = champion_names(data)
    figure, panels = grid(-(-len(names) // 2), 2, 8.2, 4.5)
    for axes in panels.flat[len(names) :]:
        axes.set_axis_off()
    for axes, name in zip(panels.flat, names, strict=False):
        rows = data["elsewhere"][name]
        for k, (other, colour) in enumerate((("chance", "dsp"), ("climber", "hc"))):
            gaps = [Interval.from_dict(row[f"minus_{other}"]) for row in rows]
            axes.errorbar(
                [one.value for one in gaps], np.arange(len(rows)) + 0.16 * (2 * k - 1), xerr=bars(gaps),
                fmt="o", markersize=3.2, linewidth=1.1, color=LIGHT[colour],
                label=f"minus {'chance' if other == 'chance' else 'hill climbing'}",
            )  # fmt: skip
        axes.axvline(0, color=LIGHT["ink"], linewidth=0.8)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        usual = rows[0]["episodes"]
        places = [
            row["place"] if row["episodes"] == usual else f"{row['episodes']:,} episodes" for row in rows
        ]
        axes.set_yticks(range(len(rows)), places, fontsize=7)
        axes.set_title(name, loc="left", fontsize=9)
        missed = Measure.of(data["inside"][name]["measure"]).kind == MISSED
        axes.set_xlabel(f"{'percentage points' if missed else 'EP'} (to the left: better)")
    legend(figure, 2)
    return figure
