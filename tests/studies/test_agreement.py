"""The paper's numbers beside ours: verdicts, and where every number comes from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from distal.base import significance
from distal.studies import agreement
from distal.studies.agreement import PaperNumber, compare
from distal.studies.reproduction import Reproduction, paper_results
from tests.given import some
from tests.studies.conftest import TINY

pytestmark = pytest.mark.usefixtures("rough")


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (PaperNumber("", 50, 52, 51, 55, chance_of_difference=0.06), "agrees"),
        (PaperNumber("", 50, 52, 51, 55, chance_of_difference=0.04), "ours higher"),
        (PaperNumber("", 50, 45, 44, 46, chance_of_difference=0.001), "ours lower"),
        (PaperNumber("", 38.5, 39.0), "ours higher"),
        (PaperNumber("", 0.03, 0.001, kind="p", agrees=True), "agrees"),
        (PaperNumber("", "–", 0.001, kind="ours"), ""),
        (PaperNumber("", 81.4, 90.0, 89, 91, kind="ours"), ""),  # shown beside the paper's, not judged
        (PaperNumber("", 0.03, 0.2, kind="p"), "differs"),
        (PaperNumber("", 38.5, 38.5), "agrees"),
        (PaperNumber("", "yes", "no", kind="text"), "differs"),
        (PaperNumber("", "yes", "yes", kind="text", agrees=True), "agrees"),
        (PaperNumber("", 1.0, None), "not run"),
    ],
)
def test_verdicts(line: PaperNumber, verdict: str) -> None:
    assert line.verdict == verdict


def test_only_verdicts_are_counted() -> None:
    lines = [
        PaperNumber("", 50, 52, 51, 55, chance_of_difference=0.06),  # agrees, though beyond our interval
        PaperNumber("", 50, 52, 49, 55, chance_of_difference=0.4),
        PaperNumber("", "–", 1.0, kind="ours"),
        PaperNumber("", 1.0, None),
        PaperNumber("", "yes", "no", kind="text"),
        PaperNumber("", 50, 45, 44, 46, chance_of_difference=0.001),
    ]
    assert agreement.agreement(lines) == (
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
    # A private function: it alone is given numbers that no reproduction would give.
    test, effect = agreement._test_lines("", paper, np.array(dsp), np.array(hc))
    assert test.verdict == verdict
    assert isinstance(effect.ours, float)
    if effect.ours in (0, 1):  # all draws would be alike: an interval would claim too much
        assert (effect.low, effect.high) == (None, None)
    else:
        assert some(effect.low) <= effect.ours <= some(effect.high)


def test_overtaking_is_for_good() -> None:
    other = np.array([5.0, 5, 5, 5])
    assert agreement.overtakes(np.array([6.0, 4, 6, 4]), other) == 4
    assert agreement.overtakes(np.array([6.0, 4, 4, 5]), other) is None  # a tie is no lead
    assert agreement.overtakes(np.array([6.0, 4, 4, 4]), other) == 2
    assert agreement.overtakes(np.array([1.0, 1, 1, 1]), other) == 1
    assert agreement.overtakes(np.array([1.0, 1, 1, 6]), other) is None


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

    for number in numbers(paper_results()):
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


def by_name(result: Reproduction) -> dict[tuple[str, str], PaperNumber]:
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
            assert some(line.low) <= value <= some(line.high)
    assert lines[section, "hill climbing: first episode that reached the goal, median"].ours == "–"
    retained = lines[
        section, "hill climbing: episodes after the first success that reached it again (retained)"
    ]
    assert (retained.ours, retained.low) == ("–", None)
