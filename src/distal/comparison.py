"""Our numbers beside the paper's: what was compared, how uncertain it is, and a verdict.

`significance` says how tests and intervals are computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.evolving import SIGNIFICANT
from distal.experiments import Reproduction, paper_results
from distal.rule import published_fitness
from distal.significance import (
    deviation,
    interval,
    rank_sum,
    share_interval,
    superiority,
    superiority_interval,
)

NOT_REPORTED = "–"


@dataclass(frozen=True)
class Line:
    """One of the paper's numbers, ours, and how they compare."""

    section: str
    what: str
    paper: float | str
    ours: float | str | None  # None: not run
    low: float | None = None
    high: float | None = None
    kind: str = "mean"  # mean, share, p, text, or ours: a number that the paper does not report
    note: str = ""
    agrees: bool = False  # for p-values and text, which no interval can judge

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, where both are numbers."""
        if isinstance(self.paper, str) or self.ours is None or isinstance(self.ours, str):
            return None
        return self.ours - self.paper

    @property
    def verdict(self) -> str:
        """In a word: whether the paper's value lies within our interval."""
        if self.ours is None:
            return "not run"
        if self.kind == "ours":
            return ""
        if self.kind in ("p", "text") or isinstance(self.ours, str) or isinstance(self.paper, str):
            return "agrees" if self.agrees else "differs"
        if self.low is None or self.high is None:
            return "agrees" if self.ours == self.paper else "differs"
        if self.low <= self.paper <= self.high:
            return "agrees"
        return "ours lower" if self.ours < self.paper else "ours higher"


def compare(result: Reproduction) -> list[Line]:
    """Return every number of the paper beside ours."""
    return [
        Line(
            "The maze",
            "perfect agent: mean distance from the start",
            paper_results()["perfect_agent"],
            float(np.mean(result.maze.start_distances)),
        ),
        *_evolution(result),
        *_after_100(result),
        *_long_tests(result),
        *_crossings(result),
        *_published(result),
    ]


def _evolution(result: Reproduction) -> Iterator[Line]:
    paper = paper_results()["evolution_100_episodes"]
    section = f"Evolution at 100 episodes ({paper['runs']} runs in the paper, {result.scale.runs} here)"
    names = {"dsp": "DSP rules", "hc": "hill climbing"}
    for kind, name in names.items():
        evolved = result.evolved.get(kind)
        for column, when in ((0, "initial_best"), (-1, "final_best")):
            what = f"{name}, best of {'generation 0' if column == 0 else 'the last generation'}"
            if evolved is None:
                yield Line(section, f"{what}: mean over runs", paper[kind][when][0], None)
                yield Line(section, f"{what}: standard deviation", paper[kind][when][1], None)
                continue
            best = evolved.best[:, column]
            yield Line(
                section, f"{what}: mean over runs", paper[kind][when][0], float(best.mean()), *interval(best)
            )
            spread = float(deviation(best)) if len(best) > 1 else None
            ends = interval(best, deviation)
            yield Line(section, f"{what}: standard deviation", paper[kind][when][1], spread, *ends)
    winners = {kind: evolved.winners for kind, evolved in result.evolved.items()}
    selected = {kind: np.array([winner.selected for winner in found]) for kind, found in winners.items()}
    fresh = {kind: np.array([winner.remeasured for winner in found]) for kind, found in winners.items()}
    what = "rank-sum test of the winners, DSP against hill climbing"
    if "dsp" in winners:
        yield from _test_lines(section, what, paper["wilcoxon_p"], selected["dsp"], selected["hc"])
    else:
        yield Line(section, f"{what}: p", paper["wilcoxon_p"], None, kind="p")
    for kind, values in fresh.items():
        mean, ends = float(values.mean()), interval(values)
        yield Line(
            section,
            f"{names[kind]}, winners re-measured on fresh trials: mean",
            NOT_REPORTED,
            mean,
            *ends,
            kind="ours",
        )
    if "dsp" in fresh:
        p = rank_sum(fresh["dsp"], fresh["hc"])
        yield Line(section, f"{what}, re-measured: p", NOT_REPORTED, p, kind="ours")
        yield _superiority_line(section, fresh["dsp"], fresh["hc"], "re-measured winners")


def _test_lines(section: str, what: str, paper: float, dsp: NDArray[Any], hc: NDArray[Any]) -> Iterator[Line]:
    """Yield a rank-sum test and its effect size.

    p-values agree if they fall on the same side of 0.05 and, where significant, for
    the same learner: in the paper that is always DSP.
    """
    p = rank_sum(dsp, hc)
    same = (p < SIGNIFICANT) == (paper < SIGNIFICANT)
    agrees = same and (p >= SIGNIFICANT or superiority(dsp, hc) > 0.5)
    note = f"{len(dsp)} values against {len(hc)}, means {dsp.mean():.2f} and {hc.mean():.2f}"
    yield Line(section, f"{what}: p", paper, p, kind="p", note=note, agrees=agrees)
    yield _superiority_line(section, dsp, hc)


def _superiority_line(section: str, dsp: NDArray[Any], hc: NDArray[Any], of: str = "") -> Line:
    what = "probability that DSP is better (lower) than hill climbing" + (f", {of}" if of else "")
    return Line(
        section, what, NOT_REPORTED, superiority(dsp, hc), *superiority_interval(dsp, hc), kind="ours"
    )


def _after_100(result: Reproduction) -> Iterator[Line]:
    paper = paper_results()["best_100_episodes"]
    section = f"The best of each, {result.trials} trials of 100 episodes"
    for kind, name in (("dsp", "DSP"), ("hc", "hill climbing")):
        yield _share(
            section,
            f"{name}: trials that reached the goal",
            paper[f"{kind}_reached"],
            result.at_100[kind],
            result,
        )
    dsp, hc = result.at_100["dsp"], result.at_100["hc"]
    yield from _test_lines(
        section, f"rank-sum test, {len(dsp)} EPs against {len(hc)}", paper["wilcoxon_p"], dsp, hc
    )


def _share(section: str, what: str, paper: float, eps: NDArray[np.int32], result: Reproduction) -> Line:
    reached = eps < result.settings.steps
    k, n = int(reached.sum()), len(reached)
    return Line(section, what, paper, k / n, *share_interval(k, n), kind="share", note=f"{k} of {n}")


def _long_tests(result: Reproduction) -> Iterator[Line]:
    names = {"dsp": "DSP", "hc": "hill climbing", "dsp_resampled": "resampled DSP"}
    for episodes in (1_000, 10_000):
        paper = paper_results()[f"best_{episodes}_episodes"]
        at = min(episodes, result.scale.episodes)
        section = f"The best of each, {episodes:,} episodes" + (f" (here {at:,})" if at != episodes else "")
        eps = {test: result.best_curve(test)[:, at - 1] for test in names}
        for test, name in names.items():
            values = eps[test]
            note = ""
            if test == "dsp_resampled":
                lowest = float(result.fitness(test)[:, at - 1].min())
                note = f"with the rule that is best in the plain test; the lowest of all rules here is {lowest:.2f}"
            yield Line(
                section, f"{name}: fitness", paper[test], float(values.mean()), *interval(values), note=note
            )
        for test, name in names.items():
            reported = paper.get(f"{test}_reached") or paper["reached_all_three"]
            k, n = map(int, reported.split("/"))
            yield _share(section, f"{name}: trials that reached the goal", k / n, eps[test], result)
        what = f"rank-sum test, DSP against hill climbing, {result.trials} EPs against {result.trials}"
        yield from _test_lines(section, what, paper["wilcoxon_p_dsp_vs_hc"], eps["dsp"], eps["hc"])


def overtakes(one: NDArray[np.float64], other: NDArray[np.float64]) -> int | None:
    """Return the episode from which on the mean of one stays below that of the other, or None."""
    above = np.flatnonzero(one >= other)
    if len(above) == 0:
        return 1
    return None if above[-1] == len(one) - 1 else int(above[-1]) + 2


def _crossings(result: Reproduction) -> Iterator[Line]:
    section = f"The four curves over {result.scale.episodes:,} episodes"
    mean = {test: result.best_curve(test).mean(axis=0) for test in result.curves}
    at = overtakes(mean["hc"], mean["dsp"])
    near = at is not None and 2_500 <= at <= 10_000  # within a factor of two
    yield Line(section, "episode from which hill climbing stays ahead of plain DSP", "about 5,000",
               "never" if at is None else f"{at:,}", kind="text", agrees=near)  # fmt: skip
    at = overtakes(mean["hc"], mean["dsp_resampled"])
    yield Line(section, "episode from which hill climbing stays ahead of resampled DSP", "never",
               "never" if at is None else f"{at:,}", kind="text", agrees=at is None)  # fmt: skip
    plain, resampled = mean["hc"][-1], mean["hc_resampled"][-1]
    worse = bool(resampled > plain)
    note = f"{resampled:.2f} against {plain:.2f} at the end"
    yield Line(section, "resampled hill climbing is worse than plain", "yes", "yes" if worse else "no", kind="text",
               note=note, agrees=worse)  # fmt: skip


def _published(result: Reproduction) -> Iterator[Line]:
    if result.rules != "published":
        return
    at = result.scale.episodes
    section = "The published rules, 10,000 episodes" + (f" (here {at:,})" if at != 10_000 else "")
    for k, rule in enumerate(result.learners["dsp"]):
        eps = result.curves["dsp"][k][:, -1]
        name = getattr(rule, "name", "")
        yield Line(section, f"{name}: fitness", published_fitness(k + 1), float(eps.mean()), *interval(eps))
