"""Results at home in a notebook: every one can be drawn, shown, framed and read back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.axes import Axes

import distal
from distal import InputError
from distal.base.colours import LIGHT
from tests import doors

TINY: Any = {"episodes": 3, "trials": 2, "hidden": 2}


def table() -> distal.TableTask:
    """Return a table of two states and two goals."""
    made = distal.Table(**{name: make() for name, (make, _) in doors.TABLE.items()})
    return distal.TableTask(made, target=2.0, steps=4)


RESULTS: dict[str, Callable[[], distal.Result]] = {
    "maze": lambda: distal.learn(doors.RULE, maze=doors.SMALL, keep_ep=True, steps=3, **TINY),
    "table": lambda: distal.learn(doors.RULE, task=table(), keep_ep=True, **TINY),
    "environment": lambda: distal.learn(
        doors.CLIMBER, task=distal.EnvTask(doors.env(), options=[{"goal": 0}]), keep_ep=True, steps=3, **TINY
    ),
    "without chance": lambda: distal.learn("chance", maze=doors.SMALL, steps=3, **TINY),
}
SHOWN: dict[str, Callable[[], Any]] = {
    **RESULTS,
    "evolved": doors.evolved,
    "comparison": doors.comparison,
    "inspection": doors.inspection,
    "set of rules": doors.inspected_set,
    "rule": lambda: doors.RULE,
}  # fmt: skip


def blank() -> Axes:
    """Return axes to draw on."""
    return matplotlib.figure.Figure().subplots()


def heights(ax: Axes) -> list[list[float]]:
    """Return the y values of every line, in order."""
    return [np.asarray(line.get_ydata(), np.float64).tolist() for line in ax.get_lines()]


def labels(ax: Axes) -> list[str]:
    """Return what the legend says."""
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


# ---------------------------------------------------------------- figures


@pytest.mark.parametrize("name", SHOWN)
def test_a_plot_is_drawn_on_the_axes_that_are_given_or_on_a_figure_that_a_notebook_shows(name: str) -> None:
    from matplotlib import pyplot

    made = SHOWN[name]()
    ax = blank()
    assert made.plot(ax=ax) is ax
    assert pyplot.get_fignums() == []
    new = made.plot()
    assert [pyplot.figure(number) for number in pyplot.get_fignums()] == [new.figure]
    with pytest.raises(InputError, match="ax is 3, expected a Matplotlib Axes, or None"):
        made.plot(ax=3)


def test_a_result_is_drawn_with_chance_and_bands() -> None:
    made = RESULTS["maze"]()
    assert made.chance is not None
    ax = made.plot()
    assert heights(ax) == [one.best.mean(axis=0).tolist() for one in (made, made.chance)]
    assert labels(ax) == ["rule", "chance"]
    for band, one in zip(ax.collections, (made, made.chance), strict=True):
        error = one.final.std(ddof=1) / np.sqrt(len(one.final))
        ends = one.final.mean() + 1.96 * error * np.array([-1, 1])
        drawn = np.asarray(band.get_paths()[0].vertices)
        assert np.isin(ends.round(9), drawn[drawn[:, 0] == one.episodes][:, 1].round(9)).all()


@pytest.mark.parametrize(("episodes", "scale"), [(1, "linear"), (1000, "linear"), (1001, "log")])
def test_many_episodes_are_drawn_on_a_logarithmic_axis(episodes: int, scale: str) -> None:
    made = distal.learn("chance", maze=doors.SMALL, trials=1, episodes=episodes, hidden=2, steps=3)
    assert made.plot().get_xscale() == scale


def test_an_evolution_is_drawn_with_its_winners_on_fresh_trials_and_chance() -> None:
    made = distal.evolve(maze=doors.SMALL, **{**doors.SMALLEST, "runs": 3, "fresh": 4})
    ax = made.plot()
    lines = heights(ax)
    assert lines[:3] == made.best.tolist()
    assert lines[3] == [winner.remeasured for winner in made.winners]
    chance = float(np.mean([winner.fresh.chance for winner in made.winners]))
    assert [chance, chance] in lines
    assert made.chance == chance
    across = np.asarray(ax.get_lines()[3].get_xdata())
    assert (across > 1).all()  # to the right of the last generation,
    assert (np.diff(across) > 0).all()  # beside one another
    assert set(labels(ax)) == {
        "best of each run, as selected", "winners, on fresh trials (95 %)", "chance, on those trials",
    }  # fmt: skip


def test_a_rule_is_drawn_as_32_squares_with_sign_and_colour() -> None:
    rule = distal.Rule([0, 1, -1, 0] * 8, 0.05, 0.25, 0.5, 0.75, name="_$mine$")
    ax = rule.plot()
    squares = {tuple(np.add(one.get_xy(), 0.5)): one.get_facecolor() for one in ax.patches}  # type: ignore[attr-defined]
    words = {text.get_position(): text.get_text() for text in ax.texts}
    colours = {-1: LIGHT["negative"], 0: LIGHT["zero"], 1: LIGHT["positive"]}
    for row, change in enumerate(rule.delta_w):
        at = (row // 2, row % 2)  # the bits across, m = −1 below m = +1
        assert words[at] == {-1: "−1", 0: "0", 1: "+1"}[change]
        assert matplotlib.colors.to_hex(squares[at]) == colours[change]
    assert [tick.get_text() for tick in ax.get_xticklabels()][10] == "1\n0\n1\n0"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["m = −1", "m = +1"]
    assert ax.get_title() == " _\\$mine\\$\neta = 0.05   theta = 0.25   alpha_h = 0.5   alpha_o = 0.75"


def test_a_part_of_an_inspection_explains_its_colours_on_a_figure_of_its_own() -> None:
    found = doors.inspection()
    assert labels(found.plot("usage")) == ["inputs", "recurrent", "feedback", "outputs", "biases"]
    assert labels(found.plot("eta")) == ["the rule's own value", "chance"]
    ax = blank()
    assert found.plot("usage", ax).get_legend() is None


def test_matplotlib_and_pandas_are_loaded_only_when_they_are_used() -> None:
    code = (
        "import sys, distal; r = distal.learn('chance', trials=1, episodes=1, engine='reference'); repr(r);"
        "sys.exit(bool({'matplotlib', 'pandas'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
