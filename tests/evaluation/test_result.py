"""Results at home in a notebook: every one can be drawn, shown, framed and read back."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.axes import Axes

import distal
from distal import InputError
from distal.base.colours import LIGHT
from tests import doors
from tests.given import some
from tests.refusals import refused

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
    legend = some(ax.get_legend())
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
    ax = made.plot()
    assert heights(ax) == [one.best.mean(axis=0).tolist() for one in (made, some(made.chance))]
    assert labels(ax) == ["rule", "chance"]
    for band, one in zip(ax.collections, (made, some(made.chance)), strict=True):
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
        "best of each run, as selected", "winners, on fresh trials (95%)", "chance, on those trials",
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


# ---------------------------------------------------------------- the same for every task


def keeping(task: Any) -> distal.Result:
    """Return a result with everything kept."""
    return distal.learn(doors.CLIMBER, task=task, keep_ep=True, keep_weights=True, **{**TINY, "steps": 3})


TASKS: dict[str, Callable[[], Any]] = {
    "maze": lambda: doors.SMALL,
    "table": table,
    "environment": lambda: distal.EnvTask(doors.env(), options=[{"goal": 0}]),
}


@pytest.mark.parametrize("name", TASKS)
def test_all_attributes_and_methods_of_a_result_work_whatever_the_task(name: str, tmp_path: Path) -> None:
    made = keeping(TASKS[name]())
    path = tmp_path / "result.npz"
    made.save(path)
    public = {each: getattr(made, each) for each in dir(made) if not each.startswith("_")}
    without = {each for each, value in public.items() if value is None}
    # What a task may lack: being a maze, whose ways have lengths, or having an EP that counts as success.
    no_maze = {"maze", "shortest"}
    lacks = {"maze": set(), "table": no_maze, "environment": no_maze | {"target", "reached"}}
    assert without == {"resample", "workers", "switch", "phases"} | lacks[name]
    asked: dict[str, tuple[Any, ...]] = {
        "weights": (0,),
        "from_dict": (made.to_dict(curves=True),),
        "load": (path,),
    }
    others = {"save", "to_frame"} if not doors.PANDAS else {"save"}
    for each, value in public.items():
        if callable(value) and each not in others:
            assert value(*asked.get(each, ())) is not None, each


# ---------------------------------------------------------------- a line, and a small table

NASTY = "_$x$ <script>alert(1)</script> & a name that never ends"
LINES: dict[str, Callable[[], Any]] = {
    **SHOWN,
    "a nasty name": lambda: distal.learn(doors.RULE.named(NASTY), maze=doors.SMALL, steps=3, **TINY),
    "nasty names": lambda: distal.compare(
        [doors.RULE.named(NASTY), doors.CLIMBER.named(NASTY)], maze=doors.SMALL, steps=3, **TINY
    ),
    "a nasty rule": lambda: replace(doors.RULE.named(NASTY), eta=0.123456, theta=0.0123456),
    "agent": lambda: replace(doors.agent(), name=NASTY),
    "agent of an environment": doors.lake_agent,
    "evaluation": doors.evaluation,
    "winner": lambda: doors.evolved().winners[0],
    "table of a task": table,
    "behaviour": lambda: doors.result().behaviour,
    "usage": lambda: doors.inspection().usage,
}


@pytest.mark.parametrize("name", LINES)
def test_a_result_is_one_line_in_a_terminal(name: str) -> None:
    made = LINES[name]()
    line = repr(made)
    assert line.startswith(f"{type(made).__name__}(")
    assert len(line) <= 105
    assert "\n" not in line
    assert "array" not in line


HTML = [name for name in LINES if name not in ("table of a task", "behaviour", "usage")]


@pytest.mark.parametrize("name", HTML)
def test_a_result_is_a_small_table_in_a_notebook(name: str) -> None:
    html = LINES[name]()._repr_html_()
    tables = ElementTree.fromstring(f"<div>{html}</div>")  # noqa: S314 - our own; raises if a name is not escaped
    assert {one.tag for one in tables.iter()} <= {
        "div", "table", "caption", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    for one in tables.iter("table"):
        assert len({len(row) for row in one.iter("tr")}) == 1
    assert "#" not in html.replace("&#x27;", "")  # colours are those of the page


def cells(made: Any) -> list[str]:
    """Return all cells of the table of a result."""
    tables = ElementTree.fromstring(f"<div>{made._repr_html_()}</div>")  # noqa: S314
    return [one.text or "" for one in tables.iter() if one.tag in ("th", "td", "caption")]


def test_no_score_is_shown_without_chance() -> None:
    result, found, several = RESULTS["maze"](), doors.inspection(), doors.inspected_set()
    evaluation, evolved, compared = doors.evaluation(), doors.evolved(), doors.comparison()
    chances: list[tuple[Any, Any]] = [
        (result, some(result.chance).fitness),
        (found, some(found.result.chance).fitness),
        (several, np.mean([one.chance.fitness for one in several.results if one.chance])),
        (evaluation, some(evaluation.chance).mean()),
        (evolved, evolved.winners[0].fresh.chance),
        (evolved.winners[0], evolved.winners[0].fresh.chance),
        (compared, min(one.chance.fitness for one in compared.results if one.chance)),
    ]
    for made, chance in chances:
        assert f"chance {chance:.2f}" in repr(made)
        assert any(cell.startswith(f"{chance:.2f}") for cell in cells(made))
    assert repr(replace(result, chance=None)).endswith("chance left out)")


def test_the_table_of_a_rule_has_its_changes_beside_their_bits() -> None:
    _, *found = cells(doors.RULE)
    rows = [found[k : k + 3] for k in range(0, len(found), 3)]
    assert rows[:3] == [
        ["trace bits 00 01 10 11", "m = −1", "m = +1"],
        ["0000", "0", "+1"],
        ["0001", "−1", "0"],
    ]
    assert rows[16] == ["1111", "−1", "0"]
    assert len(rows) == 17


# ---------------------------------------------------------------- frames


@pytest.mark.parametrize("name", RESULTS)
def test_the_frame_of_a_result_is_the_table_of_its_csv(name: str) -> None:
    import pandas

    made = RESULTS[name]()
    frame = made.to_frame()
    written = list(csv.DictReader(io.StringIO(made.to_csv())))
    assert list(frame.columns) == list(written[0])
    assert frame.astype(str).to_dict("records") == written
    assert len(frame) == made.best.size
    assert pandas.api.types.is_numeric_dtype(frame["best"])
    pivot = frame.pivot_table(index=["trial", frame.columns[1]], columns="episode", values="best")
    assert np.array_equal(pivot.to_numpy(), made.best)


def test_the_frames_of_an_evolution_are_its_generations_and_its_winners() -> None:
    made = distal.evolve("hc", maze=doors.SMALL, **{**doors.SMALLEST, "runs": 2, "fresh": 4})
    frame = made.to_frame()
    assert list(frame.columns) == ["run", "generation", "best", "mean", "worst"]
    for row in frame.itertuples():
        at = row.run - 1, row.generation
        assert (row.best, row.mean, row.worst) == (made.best[at], made.mean[at], made.worst[at])
    assert len(frame) == made.best.size
    winners = made.to_frame("winners")
    assert winners["remeasured"].tolist() == [one.remeasured for one in made.winners]
    assert winners["chance"].tolist() == [one.fresh.chance for one in made.winners]
    assert winners["sigma"].tolist() == [one.learner.numbers["sigma"] for one in made.winners]


def test_the_frames_of_a_comparison_are_learners_differences_and_episodes() -> None:
    made = doors.comparison()
    frame = made.to_frame()
    assert frame["learner"].tolist() == list(made.names)
    assert frame["fitness"].tolist() == [one.fitness for one in made.results]
    assert frame["chance"].tolist() == [one.chance.fitness for one in made.results if one.chance]
    (pair,) = made.to_frame("differences").to_dict("records")
    (difference,) = made.differences
    assert (pair["mean"], pair["low"], pair["high"]) == (difference.mean, *difference.interval)
    episodes = made.to_frame("episodes")
    written = list(csv.DictReader(io.StringIO("".join(made.csv_pieces()))))
    assert episodes.astype(str).to_dict("records") == written
    assert episodes["best"].tolist() == [ep for one in made.results for ep in one.best.ravel().tolist()]


def test_the_frame_of_an_inspection_has_a_row_for_each_row_of_the_rule() -> None:
    found = doors.inspection()
    frame = found.to_frame()
    for row, said in enumerate(frame.to_dict("records")):
        bits = [said[name] for name in ("b00", "b01", "b10", "b11")]
        assert (said["row"], "".join(map(str, bits)), said["m"]) == (row, f"{row // 2:04b}", row % 2 * 2 - 1)
        assert said["delta_w"] == found.rule.delta_w[row]
        assert said["use"] == found.usage.rows[row]
        for change, word in ((-1, "minus"), (0, "zero"), (1, "plus")):
            if change == found.rule.delta_w[row]:
                assert np.isnan(said[f"set_to_{word}"])
            else:
                assert said[f"set_to_{word}"] == found.knockout(row, change).effect.difference
    assert len(frame) == 32
    assert found.to_frame("knockouts")["p_holm"].tolist() == [one.p for one in found.knockouts]


def test_the_frames_of_a_set_of_rules_and_of_an_evaluation() -> None:
    several, evaluation = doors.inspected_set(), doors.evaluation()
    frame = several.to_frame()
    assert frame["rule"].tolist() == several.names
    assert frame["cluster"].tolist() == list(several.clusters)
    assert several.to_frame("rows")["consensus"].tolist() == several.consensus.tolist()
    episodes = evaluation.to_frame()
    assert episodes["return"].tolist() == evaluation.returns.tolist()
    assert episodes["episode"].tolist() == [1, 2]


def test_a_frame_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for made in (
        RESULTS["maze"](),
        doors.evolved(),
        doors.comparison(),
        doors.inspection(),
        doors.evaluation(),
    ):
        with pytest.raises(InputError, match=r"^pandas is not installed: pip install 'distal\[frame\]'$"):
            made.to_frame()


# ---------------------------------------------------------------- there and back

KEPT: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    **{name: (make, {"curves": True}) for name, make in RESULTS.items()},
    "evolved": (doors.evolved, {}),
    "evolved on a table": (lambda: distal.evolve("hc", task=table(), **{**doors.SMALLEST, "fresh": 4}), {}),
    "winner": (lambda: doors.evolved().winners[0], {}),
    "comparison": (doors.comparison, {"curves": True}),
    "comparison until decided": (
        lambda: distal.compare(
            [doors.RULE, doors.CLIMBER, doors.RULE], maze=doors.SMALL, until_decided=True, most_trials=50,
            **{**TINY, "steps": 3},
        ), {"curves": True},
    ),
    "evaluation": (doors.evaluation, {"curves": True}),
    "inspection": (doors.inspection, {"curves": True}),
    "usage": (lambda: doors.inspection().usage, {}),
    "fresh": (lambda: doors.evolved().winners[0].fresh, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_a_result_is_read_back_from_json(name: str) -> None:
    make, options = KEPT[name]
    made = make()
    again = type(made).from_dict(json.loads(json.dumps(made.to_dict(**options))))
    assert again.to_dict(**options) == made.to_dict(**options)
    assert repr(again) == repr(made)


def test_what_is_read_back_has_the_same_numbers_and_types() -> None:
    for made in (RESULTS["maze"](), RESULTS["environment"]()):
        again = distal.Result.from_dict(json.loads(json.dumps(made.to_dict(curves=True))))
        assert again.best.dtype == made.best.dtype
        assert np.array_equal(again.best, made.best)
        with pytest.raises(InputError, match="no weights were kept"):
            again.agent()
    both = distal.Comparison.from_dict(doors.comparison().to_dict(curves=True))
    assert both.differences == doors.comparison().differences


def damaged(data: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return data with another value in a field, or without the field if the value is ..."""
    copy = json.loads(json.dumps(data))
    *outer, last = path.split(".")
    inside = copy
    for part in outer:
        inside = inside[int(part) if isinstance(inside, list) else part]
    place = int(last) if isinstance(inside, list) else last
    if value is ...:
        del inside[place]
    else:
        inside[place] = value
    return copy  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("name", "path", "value", "problem"),
    [
        ("maze", "curves", ..., "cannot read a result: it has no curves; write it with to_dict(curves=True)"),
        ("maze", "seed", ..., "cannot read a result: field 'seed' is missing"),
        ("maze", "trials", 3, "cannot read a result: best has 4 rows, expected 6 that never rise"),
        ("maze", "curves.best", [[1, 2]] * 4, "cannot read a result: best has 4 rows, expected 4 that never"),
        (
            "maze",
            "curves.best",
            [[2**40]] * 4,
            f"cannot read a result: best holds {2**40}, which is not an EP",
        ),
        ("maze", "curves.ep", [[1, 1, 1]] * 4, "cannot read a result: best and ep do not belong together"),
        ("maze", "learner", "x", "cannot read a result: learner is 'x', expected one of dsp, hc, chance"),
        ("maze", "rule.eta", 2, "cannot read a result: eta is 2, expected a number from 0 to 1"),
        ("maze", "maze", "#", "cannot read a result: the maze is not a list of rows"),
        ("evolved", "best", [[1.0]], "cannot read an evolution: best has the shape (1, 1), expected one of"),
        ("evolved", "winners", [], "cannot read an evolution: there is not one winner for each of 1 run"),
        ("evolved", "winners.0.p", -1, "cannot read an evolution: p is -1, expected a number from 0 to 1"),
        ("evolved", "winners.0.chance_standard_error", -1, "cannot read an evolution: chance_standard_error"),
        ("evolved", "winners.0.generation", 9, "cannot read an evolution: generation of a winner is 9"),
        ("evolved", "best", [[1e6, 1e6]], "cannot read an evolution: best is above worst in a generation"),
        ("fresh", "chance", None, "chance is missing, but there are other numbers of chance"),
        ("maze", "cut", 13, "cannot read a result: cut is 13, expected a whole number from 0 to 12"),
        ("evaluation", "curves.lengths", [0, 1], "cannot read an evaluation: returns, lengths and chance"),
        ("inspection", "knockouts.0.p", 2, "cannot read an inspection: p is 2, expected a number from 0 to"),
        ("inspection", "knockouts.0.low", 1e9, "cannot read an inspection: an interval goes from 1000000000"),
        ("inspection", "usage.counts.0.0.0", -1, "cannot read an inspection: cannot read the use of rows: c"),
        ("comparison", "learners", [], "cannot read a comparison: its learners do not have the same trials"),
        ("inspection", "knockouts", [], "cannot read an inspection: knockouts does not have the two other"),
        ("inspection", "usage.counts", [[[1]]], "cannot read an inspection: cannot read the use of rows: co"),
    ],
)
def test_what_is_no_result_is_refused_in_one_line(name: str, path: str, value: object, problem: str) -> None:
    make, options = KEPT[name]
    made = make()
    data = damaged(made.to_dict(**options), path, value)
    assert refused(lambda: type(made).from_dict(data)).startswith(problem)


STUDIES: dict[str, tuple[Callable[[Any], object], Callable[[], dict[str, Any]]]] = {
    "readings": (distal.ReadingStudy.from_dict, partial(doors.study, "readings")),
    "tasks": (distal.TaskStudy.from_dict, partial(doors.study, "tasks")),
    "beyond": (distal.BeyondStudy.from_dict, partial(doors.study, "beyond")),
    "champion": (
        distal.Champion.from_dict,
        lambda: {"learner": distal.find_rule("champion:1").to_dict(), "record": distal.champion_record(1)},
    ),
}
ROW = "questions.0.rows.dsp_base_in_binary"
MARK = "tasks.0.tested.rule.marks.0"


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("readings", "variants.0.rules.0.p", -1),
        ("readings", "variants.0.rules.0.chance", ...),
        ("readings", "variants.0.appendix.errors.0", -1),
        ("readings", "variants.0.appendix.r", 1.5),
        ("readings", "variants.0.pairing.p", 1.5),
        ("readings", "variants.0.hc.first", [1.0]),
        ("readings", "seconds.base_evolution_dsp", -1),
        ("tasks", f"{MARK}.gap.p", -1),
        ("tasks", f"{MARK}.reached.value", 1.5),
        ("tasks", f"{MARK}.best.low", 1e9),
        ("tasks", f"{MARK}.retained", 2),
        ("tasks", "tasks.0.tested.rule.curve.error.0", -1),
        ("beyond", f"{ROW}.values.reached.value", -1),
        ("beyond", f"{ROW}.numbers.chance_retained", 1.5),
        ("beyond", "questions.0.comparisons.dsp_base_in_binary - chance, best.p", -1),
        ("champion", "record.held_out.p", -1),
        ("champion", "record.held_out.chance", ...),
        ("champion", "record.held_out.reached", None),
        ("champion", "record.held_out.low", 1e9),
        ("champion", "record.runs", -1),
        ("champion", "record.run_winners", [1.0]),
        ("champion", "record.selected", None),
    ],
)
def test_a_number_that_cannot_be_is_refused_in_one_line(name: str, path: str, value: object) -> None:
    read, make = STUDIES[name]
    read(make())
    refused(lambda: read(damaged(make(), path, value)))


def test_a_result_without_curves_is_as_it_was_before_it_could_be_read_back() -> None:
    assert "curves" not in RESULTS["maze"]().to_dict()
    assert not {"cut", "target"} & set(RESULTS["maze"]().to_dict(curves=True))
    assert "result" not in doors.comparison().to_dict()["learners"][0]
