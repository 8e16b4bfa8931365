"""The reproduction: statistics against hand values, stages that are kept, and a complete report."""

from __future__ import annotations

import csv
import json
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from distal import InputError, comparison, experiments, figures, report
from distal.cli import main
from distal.comparison import Line, compare
from distal.experiments import Event, Reproduction, Scale, reproduce
from distal.rule import find_rule

TINY = Scale("quick", runs=3, generations=2, episodes=120)


# ------------------------------------------------------------------ statistics


def test_the_rank_sum_test_by_hand() -> None:
    # 1 2 3 against 4 5 6: U = 0, mean 4.5, variance 3·3·7/12 = 5.25, continuity ½
    z = (4.5 - 0.5) / np.sqrt(5.25)
    assert comparison.rank_sum([1, 2, 3], [4, 5, 6]) == pytest.approx(2 * stats.norm.sf(z))
    # with ties: 1 1 2 against 1 2 2, ranks 2 2 5 | 2 5 5, U = 9 − 6 = 3; variance 9/12·(7 − (24 + 24)/30)
    z = (4.5 - 3 - 0.5) / np.sqrt(9 / 12 * (7 - 48 / 30))
    assert comparison.rank_sum([1, 1, 2], [1, 2, 2]) == pytest.approx(2 * stats.norm.sf(z))
    assert comparison.rank_sum([5, 5], [5, 5, 5]) == 1


def test_superiority_counts_ties_half() -> None:
    assert comparison.superiority([1, 2], [2, 3]) == (3 + 0.5) / 4
    assert comparison.superiority([1], [1]) == 0.5
    x, y = np.random.default_rng(0).integers(0, 9, (2, 30))
    u = stats.mannwhitneyu(x, y).statistic
    assert comparison.superiority(x, y) == pytest.approx(1 - u / 900)


def test_intervals_cover_the_mean_and_follow_wilson() -> None:
    data = np.arange(41)  # mean 20, standard error 1.87
    low, high = comparison.interval(data)
    assert low == pytest.approx(20 - 1.96 * 1.87, abs=0.4)
    assert high == pytest.approx(20 + 1.96 * 1.87, abs=0.4)
    assert comparison.interval([7, 7, 7]) == (7, 7)
    # Wilson for 30 of 40: centre (p + z²/2n) / (1 + z²/n)
    z, n, p = 1.959964, 40, 0.75
    centre, half = (p + z * z / (2 * n)), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert comparison.share_interval(30, 40) == pytest.approx(
        ((centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)), rel=1e-5
    )


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (Line("", "", 50, 52, 49, 55), "agrees"),
        (Line("", "", 50, 52, 51, 55), "ours higher"),
        (Line("", "", 50, 45, 44, 46), "ours lower"),
        (Line("", "", 0.03, 0.001, kind="p", agrees=True), "agrees"),
        (Line("", "", "–", 0.001, kind="ours"), ""),
        (Line("", "", 0.03, 0.2, kind="p"), "differs"),
        (Line("", "", 38.5, 38.5), "agrees"),
        (Line("", "", "yes", "no", kind="text"), "differs"),
        (Line("", "", "yes", "yes", kind="text", agrees=True), "agrees"),
        (Line("", "", 1.0, None), "not run"),
    ],
)
def test_verdicts(line: Line, verdict: str) -> None:
    assert line.verdict == verdict


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
    assert effect.low is not None
    assert effect.high is not None
    assert isinstance(effect.ours, float)
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
    assert len([line for line in compare(tiny[0]) if line.kind == "text"]) == 3  # the three crossings


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
        assert description.caption(result) in text
        assert "Reduced scale: 3 runs of 2 generations and tests of 120 episodes" in description.caption(
            result
        )
    assert "outputs = winner" in text
    every = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert every - {"report.html"} <= set(page.links)


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
    at_100 = {"dsp": np.array([39, 100, 124, 125, 160], np.int32), "hc": np.array([40] * 5, np.int32)}
    figure = figures.distribution_100(replace(tiny[0], at_100=at_100))
    left, right = figure.axes
    heights = [int(bar.get_height()) for bar in left.patches]  # type: ignore[attr-defined]
    assert len(heights) == 18  # 35 to 125 in fives
    assert (heights[0], heights[13], heights[-1]) == (1, 1, 3)
    assert "2 at 125 or more" in left.texts[0].get_text()
    assert "or more" not in right.texts[0].get_text()


def test_tables_are_csv_and_latex(tiny: tuple[Reproduction, Path]) -> None:
    result, folder = tiny
    rows = list(csv.reader((folder / "tables" / "rules_discrete.csv").read_text().splitlines()))
    assert len(rows) == 33
    best = result.learners["dsp"][result.best("dsp")]
    assert [int(row[5]) for row in rows[1:]] == list(best.delta_w)  # type: ignore[union-attr]
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
    assert len(data["evolution"]["dsp"]["best"]) == 3
    assert data["tests"]["hc"]["fitness_at"]["120"] == result.fitness("hc")[:, -1].tolist()
    assert {"processor", "cores"} <= set(data["machine"])
    assert set(data["seconds"]) == {stage.name for stage in experiments.plan(TINY, "evolved", result.maze)}


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
    assert run == ["evolve_dsp", "evolve_hc", "test_dsp", "test_hc"]
    for test, curves in result.curves.items():
        assert (again.curves[test] == curves).all()
    assert again.evolved["dsp"].winners == result.evolved["dsp"].winners
    in_memory = reproduce("quick", seed=3)
    assert (in_memory.curves["hc_resampled"] == result.curves["hc_resampled"]).all()


def test_a_folder_with_other_options_is_refused(
    tiny: tuple[Reproduction, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(experiments.SCALES, "quick", TINY)
    with pytest.raises(InputError, match="holds a reproduction with other options"):
        reproduce("quick", seed=4, out=tiny[1])
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is not empty and holds no reproduction"):
        reproduce("quick", out=tmp_path)


def test_force_begins_anew_and_leaves_other_files_alone(
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
    result = reproduce("quick", seed=4, out=folder, force=True, rules="published")
    assert result.seed == 4
    assert not (folder / "evolve-dsp").exists()
    assert not (folder / "report.html").exists()
    assert (folder / "thesis.tex").read_text() == "years of work"


def test_a_folder_in_use_is_refused(tiny: tuple[Reproduction, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(experiments.SCALES, "quick", TINY)

    def meddle(event: Event) -> None:
        with pytest.raises(InputError, match="is in use by another process"):
            reproduce("quick", seed=5, out=tiny[1], force=True)

    reproduce("quick", seed=3, out=tiny[1], progress=meddle)


def test_the_published_rules_can_be_tested_instead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(experiments.SCALES, "quick", replace(TINY, runs=2, generations=1, episodes=30))
    assert main(["reproduce", "--rules", "published", "--out", str(tmp_path / "out")]) == 0
    captured = capsys.readouterr()
    assert "not run" in captured.out
    assert "paper:15: fitness" in captured.out
    assert str(tmp_path / "out" / "report.html") in captured.out
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
