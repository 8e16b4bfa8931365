"""The report of a reproduction: a whole page, figures that show what they should, tables, all numbers."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from distal.base.colours import DARK, LIGHT
from distal.studies import figures
from distal.studies import reproduction_figures as drawing
from distal.studies.agreement import agreement, compare
from distal.studies.reproduction import Reproduction
from distal.studies.reproduction_figures import all_figures
from distal.studies.reproduction_report import ReproductionReport
from tests.html_page import Page
from tests.studies.conftest import TINY

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Opened

pytestmark = pytest.mark.usefixtures("rough")


def test_the_page_is_whole_valid_and_needs_no_network(tiny: tuple[Reproduction, Path]) -> None:
    result, folder = tiny
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    for link in (*page.links, *page.fetched):
        assert "://" not in link
        if link.startswith("#"):
            assert link[1:] in page.ids, link
        elif not link.startswith("data:image/png;base64,"):
            assert (folder / link).is_file(), link
    text = " ".join(page.words)
    for line in compare(result):
        assert line.what in text
    for figure in all_figures(result):
        assert figure.name in page.ids
        assert figure.caption in text
    assert "Chance: random weights" in text  # for a reader who does not know the paper
    assert agreement(compare(result)) in text
    assert "outputs winner" in text
    assert "elites remeasured" in text
    assert "docs/results.md" in text
    missing = {name for name in ReproductionReport.files() if name not in ("report.html", *page.links)}
    assert missing == {"evolved_rules.json"}


def test_the_page_begins_with_a_figure_and_folds_what_is_long(
    tiny: tuple[Reproduction, Path], browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto((tiny[1] / "report.html").as_uri())
    assert page.locator("h1 + figure").get_attribute("id") == "appendix"
    said = page.locator("figure + p").inner_text()
    rows, winners = tiny[0].appendix.rows, tiny[0].evolved["dsp"].winners
    published = np.mean([row.ours.value for row in rows])
    by_chance = np.mean([row.chance for row in rows])
    evolved = np.mean([one.remeasured for one in winners])
    beaten = np.mean([one.fresh.chance for one in winners])
    assert said == (
        f"{agreement(compare(tiny[0]))} "
        f"The paper’s fifteen rules have a mean best EP of {published:.2f} after 120 episodes, "
        f"and chance {by_chance:.2f} in the same trials. "
        f"Rules evolved here have {evolved:.2f} after 100 episodes of fresh trials, "
        f"and chance {beaten:.2f} in the same trials."
    )
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    assert page.locator("details[open]").count() == 0
    assert page.locator("details.part").count() == 4
    page.close()


@pytest.mark.parametrize("name", ["long_tests", "resampled_tests", "comparison"])
def test_every_learning_curve_has_chance_beside_it(tiny: tuple[Reproduction, Path], name: str) -> None:
    result = tiny[0]
    figure: Any = next(one.draw() for one in all_figures(result) if one.name == name)
    for axes in figure.axes:
        whose = "hc" if "hill climbing" in axes.get_title(loc="left") else "dsp"
        chance = {"dsp": "chance", "hc": "chance_hc"}[whose]
        expected = result.curves[chance][result.best(whose)].mean(axis=0)
        same = [
            line
            for line in axes.lines
            if len(line.get_ydata()) == 120 and np.allclose(line.get_ydata(), expected)
        ]
        assert len(same) == 1
        assert same[0].get_color() == LIGHT["chance"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


def test_evolutions_have_a_line_at_chance_and_one_at_the_winners_afresh(
    tiny: tuple[Reproduction, Path],
) -> None:
    result = tiny[0]
    for axes, kind in zip(drawing.evolution(result).axes, ("dsp", "hc"), strict=True):
        chance = np.mean([one.chance for one in result.fresh[kind]])
        afresh = np.mean([one.fitness for one in result.fresh[kind]])
        (line,) = [line for line in axes.lines if line.get_color() == LIGHT["chance"]]
        assert line.get_ydata() == pytest.approx([chance] * 2)
        (line,) = [line for line in axes.lines if line.get_linestyle() == ":"]
        assert line.get_ydata() == pytest.approx([afresh] * 2)


def test_what_the_agent_does_now_is_beside_the_best_so_far(tiny: tuple[Reproduction, Path]) -> None:
    result = tiny[0]
    so_far, now, share = drawing.every_episode(result).axes
    assert so_far.get_ylim() == now.get_ylim()
    for k, (kind, eps) in enumerate(result.episodes.items()):
        assert eps.shape == (400, 100)
        assert (so_far.lines[k].get_color(), now.lines[k].get_color()) == (LIGHT[kind], LIGHT[kind])
        assert so_far.lines[k].get_ydata()[49] == pytest.approx(eps[:, :50].min(axis=1).mean())  # type: ignore[index]
        assert now.lines[k].get_ydata()[49] == pytest.approx(eps[:, 49].mean())  # type: ignore[index]
        assert share.lines[k].get_ydata()[4] == pytest.approx((eps[:, 40:50] < 100).mean())  # type: ignore[index]
        assert share.lines[k].get_xdata()[4] == 45.5  # type: ignore[index]


def test_the_tables_say_where_a_learner_comes_from_and_whether_it_beats_chance(
    tiny: tuple[Reproduction, Path],
) -> None:
    result, folder = tiny
    for kind, name in (("dsp", "rules_continuous"), ("hc", "climbers")):
        rows = list(csv.DictReader((folder / "tables" / f"{name}.csv").read_text().splitlines()))
        winners = {f"run {winner.run}": winner for winner in result.evolved[kind].winners}
        assert {row["from"] for row in rows} == set(winners)
        for row in rows:
            fresh = winners[row["from"]].fresh
            assert row["re-measured at 100"] == f"{fresh.fitness:.2f} ± {fresh.standard_error:.2f}"
            assert row["chance"] == f"{fresh.chance:.2f} ± {fresh.chance_standard_error:.2f}"
            better = float(row["re-measured at 100"].split()[0]) < float(row["chance"].split()[0])
            assert row["beats chance"] == ("yes" if better and float(row["p"]) < 0.05 else "no")
            assert row["P(better)"] == f"{fresh.superiority:.2f}"


def test_tables_are_csv_and_latex(tiny: tuple[Reproduction, Path]) -> None:
    result, folder = tiny
    rows = list(csv.reader((folder / "tables" / "rules_discrete.csv").read_text().splitlines()))
    assert len(rows) == 33
    best = result.learners["dsp"][result.best("dsp")]
    assert [int(row[5]) for row in rows[1:]] == best.to_dict()["delta_w"]
    continuous = list(csv.DictReader((folder / "tables" / "rules_continuous.csv").read_text().splitlines()))
    fitness = [float(row["fitness"]) for row in continuous]
    assert fitness == sorted(fitness)
    for name in ("summary", "rules_continuous", "rules_discrete", "climbers"):
        tex = (folder / "tables" / f"{name}.tex").read_text()
        assert tex.count(r"\begin{") == tex.count(r"\end{") == 2
        columns = {line.count("&") - line.count(r"\&") for line in tex.splitlines() if line.endswith(r"\\")}
        assert len(columns) == 1


def test_results_json_holds_all_numbers(tiny: tuple[Reproduction, Path]) -> None:
    result, folder = tiny
    data = json.loads((folder / "results.json").read_text())
    assert data["seed"] == 3
    assert len(data["comparison"]) == len(compare(result))
    assert len(data["evolution"]["dsp"]["best"]) == TINY.runs
    assert data["tests"]["hc"]["fitness_at"]["120"] == result.fitness("hc")[:, -1].tolist()
    assert {"processor", "cores"} <= set(data["machine"])
    assert data["elites"] == "remeasured"
    assert data["otherwise"]["elites"] == "kept"
    kept = data["otherwise"]["evolution"]["hc"]
    assert kept["best"] == result.otherwise["hc"].best.tolist()
    assert kept["winners"][0]["run"] == 1
    assert data["chance"]["fitness_at"]["120"] == result.curves["chance"][:, :, -1].mean(axis=1).tolist()
    rule = result.learners["dsp"][result.best("dsp")]
    assert data["chance"]["learner"] == {name: rule.numbers[name] for name in ("alpha_h", "alpha_o")}
    assert len(data["at_100"]["chance"]) == 40
    for kind in ("dsp", "hc", "chance"):
        assert data["behaviour"][kind]["episodes_reached"] == (result.episodes[kind] < 100).mean()
    for kind in ("dsp", "hc"):
        assert [one["from"] for one in data["fresh"][kind]] == ["run 1", "run 2"]
        assert [one["p"] for one in data["fresh"][kind]] == [one.p for one in result.fresh[kind]]
    assert set(data["seconds"]) == set(result.seconds)


# ------------------------------------------------------------------ in a browser


Open = Callable[..., "Opened"]


@pytest.fixture
def opened(browser: Browser, tiny: tuple[Reproduction, Path]) -> Iterator[Open]:
    """Open a file of the report, without a network; at the end, nothing may have gone wrong in it."""
    problems: list[str] = []
    contexts = []

    def open_page(name: str = "report.html", width: int = 1200, scheme: Any = "light") -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((tiny[1] / name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def rgb(colour: str) -> str:
    return "rgb({}, {}, {})".format(*bytes.fromhex(colour[1:]))


def test_a_phone_needs_no_sideways_scrolling_and_shows_intervals(opened: Open) -> None:
    page = opened(width=390)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    over = """[...document.querySelectorAll(".numbers td")].filter(cell => {
        const box = cell.getBoundingClientRect();
        return box.left < 0 || box.right > 390 || cell.scrollWidth > cell.clientWidth; }).length"""
    assert page.evaluate(over) == 0
    intervals = page.locator(".numbers tr:not(.section) td:nth-child(4)").filter(has_text="–")
    assert intervals.count() > 30
    assert all(cell.is_visible() for cell in intervals.all())


@pytest.mark.parametrize(("scheme", "colours"), [("light", LIGHT), ("dark", DARK)])
@pytest.mark.parametrize("name", ["report.html", "figures/comparison.svg"])
def test_figures_fit_the_readers_colour_scheme(
    opened: Open, scheme: str, colours: dict[str, str], name: str
) -> None:
    page = opened(name, scheme=scheme)
    ground = page.evaluate(
        "getComputedStyle(document.body ?? document.documentElement, null).backgroundColor"
    )
    assert ground == rgb(figures.GROUND[scheme == "dark"])
    figure = "#comparison " if name.endswith("html") else ""
    seen = page.evaluate(
        """where => [...document.querySelectorAll(where)].flatMap(part => {
            const style = getComputedStyle(part); return [style.stroke, style.fill]; })""",
        f"{figure}:is(path, use, text)",
    )
    assert rgb(colours["ink"]) in seen
    for test in ("dsp", "hc", "dsp_resampled", "hc_resampled", "chance"):
        assert rgb(colours[test]) in seen
    other = LIGHT if scheme == "dark" else DARK
    assert rgb(other["ink"]) not in seen
    if name.endswith("html"):
        assert page.locator("#comparison svg").evaluate("part => getComputedStyle(part).backgroundColor") == (
            "rgba(0, 0, 0, 0)"
        )


def test_a_style_in_the_current_folder_changes_no_figure(
    tiny: tuple[Reproduction, Path], tmp_path: Path
) -> None:
    (tmp_path / "matplotlibrc").write_text("axes.titlecolor: red\nlines.linewidth: 9\nfont.size: 30\n")
    script = (
        "import sys\n"
        "from distal.studies.plans.reproduce import Experiments, reproduce\n"
        "from distal.studies.figures import standalone\n"
        "from distal.studies.reproduction_figures import all_figures\n"
        "from distal.studies.study import Scale\n"
        "import matplotlib as mpl; assert mpl.rcParams['font.size'] == 30\n"
        f"Experiments.SCALES['quick'] = Scale(**{vars(TINY)!r})\n"
        f"result = reproduce('quick', seed=3, out={str(tiny[1])!r})\n"
        "evolution = next(one for one in all_figures(result) if one.name == 'evolution')\n"
        "sys.stdout.write(standalone(evolution.drawn[0]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == (tiny[1] / "figures" / "evolution.svg").read_text()
