"""The reproduction: statistics against hand values, stages that are kept, and a complete report."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from distal import InputError
from distal.base import significance
from distal.base.colours import DARK, LIGHT
from distal.cli import main
from distal.learners.shipped import find_rule
from distal.studies import comparison, experiments, figures, report
from distal.studies.comparison import Line, compare
from distal.studies.experiments import Reproduction, Scale, reproduce
from distal.studies.stages import Event
from tests.mazes import T

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Opened

pytestmark = pytest.mark.usefixtures("rough")

TINY = Scale("quick", runs=2, generations=2, episodes=120)
SMALL: dict[str, Any] = {"maze": T, "steps": 9, "hidden": 5}


# ------------------------------------------------------------------ statistics


def test_the_rank_sum_test_by_hand() -> None:
    # 1 2 3 against 4 5 6: U = 0, mean 4.5, variance 3·3·7/12 = 5.25, continuity ½
    z = (4.5 - 0.5) / np.sqrt(5.25)
    assert significance.rank_sum([1, 2, 3], [4, 5, 6]) == pytest.approx(2 * stats.norm.sf(z), rel=1e-5)
    # with ties: 1 1 2 against 1 2 2, ranks 2 2 5 | 2 5 5, U = 9 − 6 = 3; variance 9/12·(7 − (24 + 24)/30)
    z = (4.5 - 3 - 0.5) / np.sqrt(9 / 12 * (7 - 48 / 30))
    assert significance.rank_sum([1, 1, 2], [1, 2, 2]) == pytest.approx(2 * stats.norm.sf(z), rel=1e-5)
    assert significance.rank_sum([5, 5], [5, 5, 5]) == 1


def test_superiority_counts_ties_half() -> None:
    assert significance.superiority([1, 2], [2, 3]) == (3 + 0.5) / 4
    assert significance.superiority([1], [1]) == 0.5
    x, y = np.random.default_rng(0).integers(0, 9, (2, 30))
    u = stats.mannwhitneyu(x, y).statistic
    assert significance.superiority(x, y) == pytest.approx(1 - u / 900)


@pytest.mark.usefixtures("exact")
def test_intervals_cover_the_mean_and_follow_wilson() -> None:
    data = np.arange(41)  # mean 20, standard error 1.87
    low, high = significance.interval(data)
    assert low == pytest.approx(20 - 1.96 * 1.87, abs=0.4)
    assert high == pytest.approx(20 + 1.96 * 1.87, abs=0.4)
    assert significance.interval([7, 7, 7]) == (7, 7)
    # Wilson for 30 of 40: centre (p + z²/2n) / (1 + z²/n)
    z, n, p = 1.959964, 40, 0.75
    centre, half = (p + z * z / (2 * n)), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert significance.share_interval(30, 40) == pytest.approx(
        ((centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)), rel=1e-5
    )


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (Line("", "", 50, 52, 51, 55, chance_of_difference=0.06), "agrees"),
        (Line("", "", 50, 52, 51, 55, chance_of_difference=0.04), "ours higher"),
        (Line("", "", 50, 45, 44, 46, chance_of_difference=0.001), "ours lower"),
        (Line("", "", 38.5, 39.0), "ours higher"),
        (Line("", "", 0.03, 0.001, kind="p", agrees=True), "agrees"),
        (Line("", "", "–", 0.001, kind="ours"), ""),
        (Line("", "", 81.4, 90.0, 89, 91, kind="ours"), ""),  # shown beside the paper's, not judged
        (Line("", "", 0.03, 0.2, kind="p"), "differs"),
        (Line("", "", 38.5, 38.5), "agrees"),
        (Line("", "", "yes", "no", kind="text"), "differs"),
        (Line("", "", "yes", "yes", kind="text", agrees=True), "agrees"),
        (Line("", "", 1.0, None), "not run"),
    ],
)
def test_verdicts(line: Line, verdict: str) -> None:
    assert line.verdict == verdict


def test_only_verdicts_are_counted() -> None:
    lines = [
        Line("", "", 50, 52, 51, 55, chance_of_difference=0.06),  # agrees, though beyond our interval
        Line("", "", 50, 52, 49, 55, chance_of_difference=0.4),
        Line("", "", "–", 1.0, kind="ours"),
        Line("", "", 1.0, None),
        Line("", "", "yes", "no", kind="text"),
        Line("", "", 50, 45, 44, 46, chance_of_difference=0.001),
    ]
    assert comparison.agreement(lines) == (
        "2 of 4 numbers and statements agree with the paper "
        "(1 if the paper's numbers had no error of their own)."
    )


def test_two_estimates_are_compared_by_textbook_tests() -> None:
    # Welch: means 10 and 14, standard deviations 2 and 3, 9 and 16 values: t = 4 / √(4/9 + 9/16)
    ours = 10 + 2 * np.array([-2, -2, 0, 0, 0, 0, 0, 2, 2]) / np.sqrt(2)
    assert (ours.mean(), ours.std(ddof=1)) == (10, pytest.approx(2))
    a, b = 4 / 9, 9 / 16
    freedom = (a + b) ** 2 / (a**2 / 8 + b**2 / 15)
    expected = 2 * stats.t.sf(4 / np.sqrt(a + b), freedom)
    assert significance.p_means(ours, 14, 16, 3) == pytest.approx(expected)
    # Without a reported spread it is ours.
    assert significance.p_means(ours, 14, 16) == significance.p_means(ours, 14, 16, float(ours.std(ddof=1)))
    assert significance.p_means([7, 7, 7], 7, 3) == 1
    # Fisher: 3 of 3 against 0 of 3 has one way in 20 on either side
    assert significance.p_shares(3, 3, 0, 3) == pytest.approx(2 / 20)
    assert significance.p_shares(39, 40, 40, 40) == pytest.approx(1)
    # F with 2 and 2 degrees of freedom: P(F < x) = x / (1 + x)
    assert significance.p_deviations(1, 3, 3, 3) == pytest.approx(2 * (1 / 9) / (1 + 1 / 9))


@pytest.mark.parametrize(
    ("dsp", "hc", "paper", "verdict"),
    [
        (range(10), range(20, 30), 0.03, "agrees"),  # DSP better, as in the paper
        (range(20, 30), range(10), 0.03, "differs"),  # significant, but the other way round
        (range(10), range(10), 0.03, "differs"),
        (range(10), range(10), 0.3, "agrees"),
    ],
)
def test_p_values_agree_in_significance_and_direction(
    dsp: range, hc: range, paper: float, verdict: str
) -> None:
    test, effect = comparison._test_lines("", "", paper, np.array(dsp), np.array(hc))
    assert test.verdict == verdict
    assert isinstance(effect.ours, float)
    if effect.ours in (0, 1):  # all draws would be alike: an interval would claim too much
        assert (effect.low, effect.high) == (None, None)
    else:
        assert effect.low is not None
        assert effect.high is not None
        assert effect.low <= effect.ours <= effect.high


def test_overtaking_is_for_good() -> None:
    other = np.array([5.0, 5, 5, 5])
    assert comparison.overtakes(np.array([6.0, 4, 6, 4]), other) == 4
    assert comparison.overtakes(np.array([6.0, 4, 4, 5]), other) is None  # a tie is no lead
    assert comparison.overtakes(np.array([6.0, 4, 4, 4]), other) == 2
    assert comparison.overtakes(np.array([1.0, 1, 1, 1]), other) == 1
    assert comparison.overtakes(np.array([1.0, 1, 1, 6]), other) is None


# ------------------------------------------------------------------ the report


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reproduction, Path]:
    folder = tmp_path_factory.mktemp("report") / "a report"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(experiments.SCALES, "quick", TINY)
        result = reproduce("quick", seed=3, out=folder)
    report.write(result, folder)
    return result, folder


def test_every_number_of_the_paper_has_a_line(tiny: tuple[Reproduction, Path]) -> None:
    found: list[float] = []
    for line in compare(tiny[0]):
        if not isinstance(line.paper, str):
            found.append(line.paper)

    def numbers(value: object) -> list[float]:
        if isinstance(value, dict):
            return [
                number
                for name, part in value.items()
                if name not in ("figures", "runs")
                for number in numbers(part)
            ]
        if isinstance(value, list):
            return [number for part in value for number in numbers(part)]
        if isinstance(value, str) and "/" in value and value[0].isdigit():
            k, n = value.split("/")
            return [int(k) / int(n)]
        return [float(value)] if isinstance(value, int | float) else []

    for number in numbers(experiments.paper_results()):
        assert number in found, number
    lines = compare(tiny[0])
    crossings = [line for line in lines if line.section.startswith("The curves") and line.paper != "–"]
    assert len(crossings) == 3
    # Tests that are shorter than the paper's are shown beside its numbers, and not judged.
    long = [
        line
        for line in lines
        if line.section.startswith(("The curves", "The best of each, 1,000", "The best of each, 10,000"))
    ]
    assert {line.verdict for line in long} == {""}


def test_a_difference_is_written_as_its_numbers_are(tiny: tuple[Reproduction, Path]) -> None:
    for line, (_, _, paper, ours, difference, _) in zip(
        compare(tiny[0]), report.short_rows(compare(tiny[0])), strict=True
    ):
        if difference:
            assert difference.endswith("%") == paper.endswith("%") == ours.endswith("%"), line.what


def test_the_numbers_are_those_of_the_trials(tiny: tuple[Reproduction, Path]) -> None:
    result = tiny[0]
    lines = {(line.section.split(" (")[0], line.what): line for line in compare(result)}
    best = int(np.argmin(result.curves["dsp"][:, :, -1].mean(axis=1)))
    last = lines["The best of each, 10,000 episodes", "DSP: fitness"]
    assert last.ours == result.curves["dsp"][best, :, -1].mean()
    resampled = lines["The best of each, 10,000 episodes", "resampled DSP: fitness"]
    assert resampled.ours == result.curves["dsp_resampled"][best, :, -1].mean()  # the same rule
    reached = lines["The best of each, 40 trials of 100 episodes", "DSP: trials that reached the goal"]
    assert reached.ours == (result.at_100["dsp"] < 100).mean()
    first = lines["Evolution at 100 episodes", "DSP rules, best of generation 0: standard deviation"]
    assert first.ours == pytest.approx(np.std(result.evolved["dsp"].best[:, 0], ddof=1))


def by_name(result: Reproduction) -> dict[tuple[str, str], Line]:
    return {(line.section.split(" (")[0].split(":")[0], line.what): line for line in compare(result)}


def test_chance_has_a_row_wherever_there_is_a_fitness_or_a_share(tiny: tuple[Reproduction, Path]) -> None:
    result = tiny[0]
    lines = by_name(result)
    for kind, name in (("dsp", "DSP rules"), ("hc", "hill climbing")):
        fresh = [winner.fresh for winner in result.evolved[kind].winners]
        mean = lines["Evolution at 100 episodes", f"chance: mean on the same trials as {name}"]
        assert mean.ours == pytest.approx(sum(one.chance or 0 for one in fresh) / TINY.runs)
        beats = [one for one in fresh if (one.p or 0) < 0.05 and one.fitness < (one.chance or 0)]
        how_many = lines["Evolution at 100 episodes", f"{name}: how many beat chance"]
        assert how_many.ours == f"{len(beats)} of {TINY.runs}"
    section = "The best of each, 40 trials of 100 episodes"
    dsp, chance = result.at_100["dsp"], result.at_100["chance"]
    assert lines[section, "chance: trials that reached the goal"].ours == sum(chance < 100) / 40
    p = stats.ttest_rel(dsp, chance).pvalue
    assert lines[section, "paired t-test, DSP against chance: p"].ours == pytest.approx(p, rel=1e-5)
    better = np.mean([(a < b) + (a == b) / 2 for a, b in zip(dsp, chance, strict=True)])
    what = "DSP is better (lower) than chance: share of the trials"
    assert lines[section, what].ours == pytest.approx(better)
    for section in ("The best of each, 1,000 episodes", "The best of each, 10,000 episodes"):
        last = result.curves["chance"][result.best("dsp"), :, -1]  # the tiny tests end before 1,000
        assert lines[section, "chance: fitness"].ours == last.mean()
        assert lines[section, "chance: trials that reached the goal"].ours == sum(last < 100) / 40
        for kind, chance_of, name in (("dsp", "chance", "DSP rules"), ("hc", "chance_hc", "hill climbing")):
            beat = 0
            for own, by_chance in zip(result.curves[kind], result.curves[chance_of], strict=True):
                test = stats.ttest_rel(own[:, -1], by_chance[:, -1])
                beat += test.pvalue < 0.05 and test.statistic < 0
            assert lines[section, f"{name}: how many beat chance"].ours == f"{beat} of {TINY.runs}"
    for (_, what), line in lines.items():
        if what.startswith("chance:"):
            assert (line.paper, line.verdict) == ("–", "")


def test_the_other_reading_of_elites_is_shown_beside_the_paper_but_not_judged(
    tiny: tuple[Reproduction, Path],
) -> None:
    result = tiny[0]
    assert result.elites == "remeasured"
    lines = by_name(result)
    for kind, name, reported in (("dsp", "DSP rules", (81.39, 4.02)), ("hc", "hill climbing", (93.5, 0.87))):
        last = result.otherwise[kind].best[:, -1]
        values = (np.mean(last), np.std(last, ddof=1))
        for word, paper, ours in zip(("mean over runs", "standard deviation"), reported, values, strict=True):
            line = lines["Elites kept", f"{name}, elites kept, best of the last generation: {word}"]
            assert (line.paper, line.verdict) == (paper, "")
            assert line.ours == pytest.approx(ours)
        fresh = lines["Elites kept", f"{name}, elites kept, winners re-measured: mean"]
        winners = result.otherwise[kind].winners
        assert fresh.ours == pytest.approx(np.mean([winner.remeasured for winner in winners]))


def episodes_of(*trials: list[int]) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array(trials, np.int32)


def test_what_happens_in_every_episode_by_hand(tiny: tuple[Reproduction, Path]) -> None:
    eps = episodes_of(
        [130, 90, 110, 80, 110, 110, 110, 110, 110, 110],  # first in episode 2, then 1 of 8
        [120, 120, 120, 120, 99, 120, 120, 120, 120, 70],  # first in episode 5, then 1 of 5
        [140] * 10,  # never; 100 itself does not count
        [100] * 10,
    )
    never = episodes_of(*[[120] * 10] * 4)
    lines = by_name(replace(tiny[0], episodes={"dsp": eps, "hc": never, "chance": eps}))
    section = "What happens in every episode"
    expected = {
        "first episode that reached the goal, median": (2 + 5) / 2,
        "episodes that reached the goal": 4 / 40,
        "episodes after the first success that reached it again (retained)": 2 / 13,
        "mean EP of the first 1 episodes": (130 + 120 + 140 + 100) / 4,
        "mean EP of the last 1 episodes": (110 + 70 + 140 + 100) / 4,
    }
    for what, value in expected.items():
        for name in ("DSP", "chance"):
            line = lines[section, f"{name}: {what}"]
            assert line.ours == pytest.approx(value)
            assert line.low is not None
            assert line.high is not None
            assert line.low <= value <= line.high
    assert lines[section, "hill climbing: first episode that reached the goal, median"].ours == "–"
    retained = lines[
        section, "hill climbing: episodes after the first success that reached it again (retained)"
    ]
    assert (retained.ours, retained.low) == ("–", None)


class Page(HTMLParser):
    """Reads a page; void elements apart, every tag that opens must close."""

    void = frozenset(("meta", "br", "img", "link", "hr", "input"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.ids.append(str(values["id"]))
        for name in ("href", "src", "xlink:href"):
            if values.get(name):
                self.links.append(str(values[name]))
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.void:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_is_whole_valid_and_needs_no_network(tiny: tuple[Reproduction, Path]) -> None:
    result, folder = tiny
    page = Page()
    page.feed((folder / "report.html").read_text(encoding="utf-8"))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        assert "://" not in link
        if link.startswith("#"):
            assert link[1:] in page.ids, link
        elif not link.startswith("data:image/png;base64,"):
            assert (folder / link).is_file(), link
    text = " ".join(page.text)
    for line in compare(result):
        assert line.what in text
    for description in figures.FIGURES:
        assert description.name in page.ids
        assert description.says(result) in text
    for sentence in report.introduction(result):
        assert sentence in text
    assert "outputs = winner" in text
    assert "elites = remeasured" in text
    every = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert every - {"report.html", "manifest.json"} <= set(page.links)


def test_a_reduced_scale_is_said_once(tiny: tuple[Reproduction, Path]) -> None:
    result, folder = tiny
    for name in ("report.html", "results.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count("Reduced scale") == 1
        assert "Reduced scale: 2 runs of 2 generations and tests of 120 episodes" in text
    for table in (folder / "tables").glob("*.tex"):  # each goes elsewhere alone
        assert table.read_text(encoding="utf-8").count("Reduced scale") == 1
    assert figures.scale_note(replace(result, scale=experiments.SCALES["paper"])) == ""


def test_a_reader_who_does_not_know_the_paper_is_told_five_things(tiny: tuple[Reproduction, Path]) -> None:
    sentences = report.introduction(tiny[0])
    assert len(sentences) == 5
    words = ("The task", "lower is better", "hill climbing", "Chance", "The table")
    for sentence, word in zip(sentences, words, strict=True):
        assert word in sentence
        assert sentence.endswith(".")
        assert ". " not in sentence


def test_whether_learners_keep_what_they_find_is_said_as_it_is(tiny: tuple[Reproduction, Path]) -> None:
    keeps, forgets = episodes_of([120] + [50] * 9), episodes_of([120, 50] + [120] * 8)
    chance = episodes_of([120] * 10)
    for dsp, said in ((forgets, True), (keeps, False)):
        result = replace(tiny[0], episodes={"dsp": dsp, "hc": forgets, "chance": chance})
        text = " ".join(report.findings(result))
        assert ("does not keep what it found" in text) == said
        assert f"{'0.0' if said else '100.0'}% reach it again with the best DSP rule" in text
        assert "none by chance" in text


def test_the_page_lists_once_what_agrees_and_what_differs(tiny: tuple[Reproduction, Path]) -> None:
    page = (tiny[1] / "report.html").read_text(encoding="utf-8")
    listed = page.split('<ul class="verdicts">')[1].split("</ul>")[0]
    assert "Where we" not in page
    lines = compare(tiny[0])
    judged = [line for line in lines if line.verdict not in ("", "not run")]
    for line in judged:
        assert line.what in listed
    agree = sum(line.verdict == "agrees" for line in judged)
    assert f"{agree} of {len(judged)} numbers and statements agree with the paper (" in page


def test_every_figure_is_there_as_svg_with_text_and_as_png(tiny: tuple[Reproduction, Path]) -> None:
    folder = tiny[1] / "figures"
    for description in figures.FIGURES:
        tree = ET.parse(folder / f"{description.name}.svg")  # noqa: S314 - our own file
        assert tree.getroot().tag.endswith("svg")
        texts = [element for element in tree.iter() if element.tag.endswith("text")]
        assert texts, description.name
        assert (folder / f"{description.name}.png").read_bytes().startswith(b"\x89PNG")


def test_histograms_put_values_beyond_the_axis_into_the_last_bin_and_say_so(
    tiny: tuple[Reproduction, Path],
) -> None:
    at_100 = {
        "dsp": np.array([39, 100, 124, 125, 160], np.int32),
        "hc": np.array([40] * 5, np.int32),
        "chance": np.array([36, 120, 121, 122, 130], np.int32),
    }
    figure = figures.distribution_100(replace(tiny[0], at_100=at_100))
    left, right = figure.axes
    *bars, outline = left.patches
    heights = [int(bar.get_height()) for bar in bars]  # type: ignore[attr-defined]
    assert outline.get_data().values.tolist() == [1] + [0] * 16 + [4]  # type: ignore[attr-defined]
    assert left.get_ylim() == right.get_ylim()
    assert len(heights) == 18  # 35 to 125 in fives
    assert (heights[0], heights[13], heights[-1]) == (1, 1, 3)
    assert "2 at 125 or more" in left.texts[0].get_text()
    assert "or more" not in right.texts[0].get_text()


@pytest.mark.parametrize("name", ["long_tests", "resampled_tests", "comparison"])
def test_every_learning_curve_has_chance_beside_it(tiny: tuple[Reproduction, Path], name: str) -> None:
    result = tiny[0]
    figure = getattr(figures, name)(result)
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


@pytest.mark.parametrize("name", ["evolution", "evolution_median"])
def test_evolutions_have_a_line_at_chance(tiny: tuple[Reproduction, Path], name: str) -> None:
    result = tiny[0]
    chance = {kind: np.mean([one.chance for one in result.fresh[kind]]) for kind in ("dsp", "hc")}
    both = sum(chance.values()) / 2
    expected = [chance["dsp"], chance["hc"]] if name == "evolution" else [both]
    for axes, mean in zip(getattr(figures, name)(result).axes, expected, strict=True):
        (line,) = [line for line in axes.lines if line.get_color() == LIGHT["chance"]]
        assert line.get_ydata() == pytest.approx([mean] * 2)


def test_what_the_agent_does_now_is_beside_the_best_so_far(tiny: tuple[Reproduction, Path]) -> None:
    result = tiny[0]
    so_far, now, share = figures.every_episode(result).axes
    assert so_far.get_ylim() == now.get_ylim()
    for k, (kind, eps) in enumerate(result.episodes.items()):
        assert eps.shape == (400, 100)
        assert (so_far.lines[k].get_color(), now.lines[k].get_color()) == (LIGHT[kind], LIGHT[kind])
        assert so_far.lines[k].get_ydata()[49] == pytest.approx(eps[:, :50].min(axis=1).mean())  # type: ignore[index]
        assert now.lines[k].get_ydata()[49] == pytest.approx(eps[:, 49].mean())  # type: ignore[index]
        assert share.lines[k].get_ydata()[4] == pytest.approx((eps[:, 40:50] < 100).mean())  # type: ignore[index]
        assert share.lines[k].get_xdata()[4] == 45.5  # type: ignore[index]


def test_every_colour_of_a_figure_has_one_for_dark_ground(tiny: tuple[Reproduction, Path]) -> None:
    roles = {colour: role for role, colour in LIGHT.items()}
    assert len(roles) == len(LIGHT)
    assert set(DARK) == set(LIGHT)
    for path in (tiny[1] / "figures").glob("*.svg"):
        svg = path.read_text(encoding="utf-8")
        style, drawing = svg.split("</style>", 1)
        used = set(re.findall(r"(fill|stroke): (#\w+)", drawing))
        assert used
        for part, colour in used:
            assert f'[style*="{part}: {colour}"] {{ {part}: {DARK[roles[colour]]} !important; }}' in style
        assert "<image" not in drawing  # pixels have one colour for good
        assert not re.findall(r"(?:fill|stroke): #", figures.themed(drawing))


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
    old = replace(result.fresh["hc"][0], chance=None, p=None, superiority=None)  # a folder of version 0.1
    table = report.climber_table(replace(result, fresh={**result.fresh, "hc": (old,) * TINY.runs}))
    assert [row[5:9] for row in table.rows] == [["–"] * 4] * TINY.runs
    unknown = replace(result, fresh={"dsp": (old,), "hc": (old,)})
    assert not any("on fresh trials" in text for text in report.findings(unknown))


def test_chance_has_the_scales_and_the_trials_of_what_it_stands_beside(
    tiny: tuple[Reproduction, Path],
) -> None:
    result = tiny[0]
    for kind, chance in (("dsp", "chance"), ("hc", "chance_hc")):
        # The first episode of a trial is that of the same network, whoever learns.
        assert (result.curves[kind][:, :, 0] == result.curves[chance][:, :, 0]).all()
    first = {kind: eps[:, 0].tolist() for kind, eps in result.episodes.items()}
    assert first["dsp"] == first["chance"]


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
    assert set(data["seconds"]) == {stage.name for stage in experiments.plan(TINY, "evolved", result.maze)}


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


def test_a_second_call_only_does_what_is_missing(
    tiny: tuple[Reproduction, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    result, folder = tiny
    monkeypatch.setitem(experiments.SCALES, "quick", TINY)
    (folder / "test_hc.npz").unlink()
    damaged = folder / "test_dsp.npz"
    damaged.write_bytes(damaged.read_bytes()[:1000])
    run: list[str] = []

    def told(event: Event) -> None:
        if event.done == 0:
            run.append(event.stage.name)

    again = reproduce("quick", seed=3, out=folder, progress=told)
    evolutions = ["evolve_dsp", "evolve_hc", "evolve_dsp_otherwise", "evolve_hc_otherwise"]  # read again
    assert run == [*evolutions[:2], "test_dsp", "test_hc", *evolutions[2:]]
    for test, curves in result.curves.items():
        assert (again.curves[test] == curves).all()
    assert again.evolved["dsp"].winners == result.evolved["dsp"].winners
    on_disk, in_memory = (reproduce("quick", out=out, **SMALL) for out in (tmp_path / "out", None))
    for test, curves in on_disk.curves.items():
        assert (in_memory.curves[test] == curves).all()


def test_a_folder_with_other_options_is_refused(
    tiny: tuple[Reproduction, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(experiments.SCALES, "quick", TINY)
    with pytest.raises(InputError, match="holds a reproduction with other options"):
        reproduce("quick", seed=4, out=tiny[1])
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is not empty and was not made by distal"):
        reproduce("quick", out=tmp_path)


def test_force_starts_over_and_leaves_other_files_alone(
    tiny: tuple[Reproduction, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(experiments.SCALES, "quick", TINY)
    folder = tmp_path / "copy"
    shutil.copytree(tiny[1], folder)
    (folder / "thesis.tex").write_text("years of work")
    for damage in ("", "null", '{"evolve_dsp": "x"}', "[1"):
        (folder / "seconds.json").write_text(damage)
        reproduce("quick", seed=3, out=folder)  # times are for information: damaged ones stop nothing
    with pytest.raises(InputError, match="other options"):
        reproduce("quick", seed=4, out=folder)
    result = reproduce("quick", seed=4, out=folder, force=True, rules="published", **SMALL)
    assert result.seed == 4
    assert not (folder / "evolve-dsp").exists()
    assert not (folder / "report.html").exists()
    assert (folder / "thesis.tex").read_text() == "years of work"


def test_a_style_in_the_current_folder_changes_no_figure(
    tiny: tuple[Reproduction, Path], tmp_path: Path
) -> None:
    (tmp_path / "matplotlibrc").write_text("axes.titlecolor: red\nlines.linewidth: 9\nfont.size: 30\n")
    script = (
        "import sys; from pathlib import Path; from distal.studies import experiments, figures, report\n"
        "import matplotlib as mpl; assert mpl.rcParams['font.size'] == 30\n"
        f"experiments.SCALES['quick'] = experiments.Scale(**{vars(TINY)!r})\n"
        f"result = experiments.reproduce('quick', seed=3, out={str(tiny[1])!r})\n"
        "description = next(one for one in figures.FIGURES if one.name == 'evolution')\n"
        "sys.stdout.write(figures.standalone(figures.draw(description, result)[0]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == (tiny[1] / "figures" / "evolution.svg").read_text()


def test_a_folder_in_use_is_refused(tiny: tuple[Reproduction, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(experiments.SCALES, "quick", TINY)

    def meddle(event: Event) -> None:
        with pytest.raises(InputError, match="is in use by another process"):
            reproduce("quick", seed=5, out=tiny[1], force=True)

    reproduce("quick", seed=3, out=tiny[1], progress=meddle)


@pytest.mark.usefixtures("undrawn")
def test_the_published_rules_can_be_tested_instead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(experiments.SCALES, "quick", replace(TINY, generations=1, episodes=30))
    monkeypatch.setattr(experiments, "_MANY", 5)
    assert main(["reproduce", "--rules", "published", "--out", str(tmp_path / "out")]) == 0
    captured = capsys.readouterr()
    assert "not run" in captured.out
    assert "paper:15: fitness" in captured.out
    assert str(tmp_path / "out" / "report.html") in captured.out
    table, last = captured.out.split("the paper's numbers and ours")[1].split("report: ")
    assert max(map(len, table.splitlines())) <= 80
    assert table.count("chance: ") >= 10
    assert re.fullmatch(r"\d+ of \d+ numbers and statements agree with the paper .*", last.splitlines()[-1])
    line = (
        r"published rules after 30 episodes \(the paper: 10,000\): r -?\.\d\d, rms \d+\.\d \(chance \d+\.\d\)"
    )
    assert re.fullmatch(line, last.splitlines()[-2])
    with (tmp_path / "out" / "tables" / "rules_continuous.csv").open() as file:
        rules = list(csv.DictReader(file))
    assert {row["from"] for row in rules} == {f"paper:{k}" for k in range(1, 16)}
    assert "selected at 100" not in rules[0]
    for row in rules:
        assert row["beats chance"] in ("yes", "no")
    assert "evolve DSP rules" not in captured.err
    assert not (tmp_path / "out" / "evolve-dsp").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--scale", "papper"], "scale is 'papper', expected one of quick, paper; did you mean 'paper'?"),
        (["--rules", "publshed"], "did you mean 'published'?"),
        (["--seed", "-1"], "seed is -1"),
    ],
)
def test_bad_options_are_refused(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "new"
    assert main(["reproduce", *arguments, "--out", str(out)]) == 2
    assert problem in capsys.readouterr().err
    assert not out.exists()


def test_evolved_rules_are_found_by_name() -> None:
    assert find_rule("evolved:1").name == "evolved:1"
    with pytest.raises(InputError, match="there are evolved:1 to evolved:15"):
        find_rule("evolved:16")
