"""Our numbers beside the paper's, and chance's: how uncertain they are, and a verdict.

`significance` says how tests and intervals are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.significance import (
    SIGNIFICANT,
    deviation,
    interval,
    p_deviations,
    p_means,
    p_shares,
    paired,
    paired_superiority,
    rank_sum,
    share_interval,
    superiority,
    superiority_interval,
)
from distal.evaluation.behaviour import Behaviour
from distal.search.results import Evolved, Fresh
from distal.studies.appendix import EPISODES, PAPER_TRIALS, in_the_paper
from distal.studies.reproduction import Reproduction, other_elites, paper_results

_NOT_REPORTED = "–"
NAMES = {"dsp": "DSP", "hc": "hill climbing", "chance": "chance"}
Ends = tuple[float | None, float | None]  # of an interval; None: there is none
_EVOLVED_NAMES = {"dsp": "DSP rules", "hc": "hill climbing"}


@dataclass(frozen=True)
class Line:
    """One of the paper's numbers, ours, and how they compare."""

    section: str
    what: str
    paper: float | str
    ours: float | str | None  # None: not run
    low: float | None = None
    high: float | None = None
    kind: str = (
        "mean"  # mean, share, p, text, or ours: the paper reports no such number, or one not to be judged by
    )
    written: str = ""  # how a number of kind ours is written: share, p, episode, or, if empty, as a mean
    note: str = ""
    agrees: bool = False  # for p-values and text, which no interval can judge
    chance_of_difference: float | None = None  # p of a difference as large, if both estimate the same

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, where both are numbers."""
        if isinstance(self.paper, str) or self.ours is None or isinstance(self.ours, str):
            return None
        return self.ours - self.paper

    @property
    def verdict(self) -> str:
        """In a word: whether the paper's value and ours may be two estimates of the same."""
        if self.ours is None:
            return "not run"
        if self.kind == "ours":
            return ""
        if self.kind in ("p", "text") or isinstance(self.ours, str) or isinstance(self.paper, str):
            return "agrees" if self.agrees else "differs"
        p = float(self.ours == self.paper) if self.chance_of_difference is None else self.chance_of_difference
        if p >= SIGNIFICANT:
            return "agrees"
        return "ours lower" if self.ours < self.paper else "ours higher"

    @property
    def within(self) -> bool:
        """Whether the paper's value lies within our interval, as if it had no error itself."""
        if isinstance(self.paper, str) or self.low is None or self.high is None:
            return self.verdict == "agrees"
        return self.low <= self.paper <= self.high


def agreement(lines: Iterable[Line]) -> str:
    """Say how many lines agree; those that judge nothing do not count."""
    judged = [line for line in lines if line.verdict not in ("", "not run")]
    agree = sum(line.verdict == "agrees" for line in judged)
    return (
        f"{agree} of {len(judged)} numbers and statements agree with the paper "
        f"({sum(line.within for line in judged)} if the paper's numbers had no error of their own)."
    )


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
        *_otherwise(result),
        *_after_100(result),
        *_every_episode(result),
        *_long_tests(result),
        *_crossings(result),
        *_appendix(result),
    ]


def _evolution(result: Reproduction) -> Iterator[Line]:
    paper = paper_results()["evolution_100_episodes"]
    section = f"Evolution at 100 episodes ({paper['runs']} runs in the paper, {result.scale.runs} here)"
    for kind, name in _EVOLVED_NAMES.items():
        for column, when in ((0, "initial_best"), (-1, "final_best")):
            what = f"{name}, best of {'generation 0' if column == 0 else 'the last generation'}"
            evolved = result.evolved.get(kind)
            best = None if evolved is None else evolved.best[:, column]
            yield from _mean_and_deviation(section, what, paper[kind][when], best)
    winners = {kind: evolved.winners for kind, evolved in result.evolved.items()}
    selected = {kind: np.array([winner.selected for winner in found]) for kind, found in winners.items()}
    what = "rank-sum test of the winners, DSP against hill climbing"
    if "dsp" in winners:
        yield from _test_lines(section, what, paper["wilcoxon_p"], selected["dsp"], selected["hc"])
    else:
        yield Line(section, f"{what}: p", paper["wilcoxon_p"], None, kind="p")
    for kind, name in _EVOLVED_NAMES.items():
        whose = "winners re-measured" if kind in winners else "the published ones"
        yield _ours(section, f"{name}, {whose} on fresh trials: mean", _fitness(result.fresh[kind]))
        yield from _beside_chance(section, name, result.fresh[kind])
    if "dsp" in winners:
        dsp, hc = _fitness(result.fresh["dsp"]), _fitness(result.fresh["hc"])
        p = rank_sum(dsp, hc)
        yield Line(section, f"{what}, re-measured: p", _NOT_REPORTED, p, kind="ours", written="p")
        yield _superiority_line(section, dsp, hc, of="re-measured winners")


def _fitness(fresh: tuple[Fresh, ...]) -> NDArray[np.float64]:
    return np.array([one.fitness for one in fresh])


def _ours(section: str, what: str, values: NDArray[Any], **more: Any) -> Line:
    """Return a mean that the paper does not report."""
    return Line(section, what, _NOT_REPORTED, float(values.mean()), *interval(values), kind="ours", **more)


def _mean_and_deviation(
    section: str, what: str, paper: list[float], values: NDArray[Any] | None, kind: str = "mean"
) -> Iterator[Line]:
    """Yield mean and standard deviation over runs; None: not run."""
    for name, reported, statistic in (
        ("mean over runs", paper[0], np.mean),
        ("standard deviation", paper[1], deviation),
    ):
        if values is None or (statistic is deviation and len(values) < 2):
            yield Line(section, f"{what}: {name}", reported, None, kind=kind)
        else:
            n, runs = len(values), paper_results()["evolution_100_episodes"]["runs"]
            if statistic is deviation:
                p = p_deviations(float(deviation(values)), n, reported, runs)
            else:
                p = p_means(values, paper[0], runs, paper[1])
            ends, ours = interval(values, statistic), float(statistic(values))
            yield Line(section, f"{what}: {name}", reported, ours, *ends, kind=kind, chance_of_difference=p)


def _beside_chance(section: str, name: str, fresh: tuple[Fresh, ...]) -> Iterator[Line]:
    """Yield chance on the fresh trials of learners, and how many of them beat it."""
    chance = np.array([one.chance for one in fresh if one.chance is not None])
    if len(chance) < len(fresh):  # runs that version 0.1 finished
        return
    yield _ours(section, f"chance: mean on the same trials as {name}", chance)
    beats = sum(bool(one.beats_chance) for one in fresh)
    note = f"lower on fresh trials with p < {SIGNIFICANT}, paired t-test"
    what = f"{name}: how many beat chance"
    yield Line(section, what, _NOT_REPORTED, f"{beats} of {len(fresh)}", kind="ours", note=note)


def _otherwise(result: Reproduction) -> Iterator[Line]:
    """Yield what the same evolutions give with the other reading of elites; it is shown, not judged."""
    paper = paper_results()["evolution_100_episodes"]
    word = other_elites(result.elites)
    section = f"Elites {word}: the same evolutions with the other reading, not counted"
    for kind, evolved in result.otherwise.items():
        yield from _other_evolution(section, f"{_EVOLVED_NAMES[kind]}, elites {word}", paper[kind], evolved)


def _other_evolution(section: str, name: str, paper: dict[str, Any], evolved: Evolved) -> Iterator[Line]:
    what = f"{name}, best of the last generation"
    yield from _mean_and_deviation(section, what, paper["final_best"], evolved.best[:, -1], "ours")
    fresh = tuple(winner.fresh for winner in evolved.winners)
    yield _ours(section, f"{name}, winners re-measured: mean", _fitness(fresh))
    yield from _beside_chance(section, name, fresh)


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


def _superiority_line(
    section: str, dsp: NDArray[Any], other: NDArray[Any], than: str = "hill climbing", of: str = ""
) -> Line:
    what = f"probability that DSP is better (lower) than {than}" + (f", {of}" if of else "")
    value = superiority(dsp, other)
    ends: Ends = (
        superiority_interval(dsp, other) if 0 < value < 1 else (None, None)
    )  # else all draws are alike
    return Line(section, what, _NOT_REPORTED, value, *ends, kind="ours")


def _against_chance(section: str, dsp: NDArray[Any], chance: NDArray[Any]) -> Iterator[Line]:
    """Yield a test of the best rule against chance, which has the same trials, and its effect size."""
    note = f"{len(dsp)} pairs, means {dsp.mean():.2f} and {chance.mean():.2f}"
    what = "paired t-test, DSP against chance: p"
    yield Line(section, what, _NOT_REPORTED, paired(dsp, chance), kind="ours", written="p", note=note)
    better = (dsp < chance) + 0.5 * (dsp == chance)
    what = "DSP is better (lower) than chance: share of the trials"
    ours = paired_superiority(dsp, chance)
    yield Line(section, what, _NOT_REPORTED, ours, *interval(better), kind="ours", written="share")


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
    dsp, hc, chance = (result.at_100[kind] for kind in ("dsp", "hc", "chance"))
    yield _share(section, "chance: trials that reached the goal", _NOT_REPORTED, chance, result)
    yield from _test_lines(
        section, f"rank-sum test, {len(dsp)} EPs against {len(hc)}", paper["wilcoxon_p"], dsp, hc
    )
    yield from _against_chance(section, dsp, chance)


def _share(section: str, what: str, paper: float | str, eps: NDArray[np.int32], result: Reproduction) -> Line:
    reached = eps < result.settings.steps
    k, n = int(reached.sum()), len(reached)
    kind = "ours" if paper == _NOT_REPORTED else "share"
    ends, note = share_interval(k, n), f"{k} of {n}"
    p = None if isinstance(paper, str) else p_shares(k, n, round(paper * PAPER_TRIALS), PAPER_TRIALS)
    return Line(
        section, what, paper, k / n, *ends, kind=kind, written="share", note=note, chance_of_difference=p
    )


def behaviours(result: Reproduction) -> dict[str, Behaviour]:
    """Return what happened in every episode of the best rule, the best climber and chance."""
    return {kind: Behaviour.of(ep, result.settings.steps - 1) for kind, ep in result.episodes.items()}


def _every_episode(result: Reproduction) -> Iterator[Line]:
    """Yield what the agents do in the episodes themselves. Intervals bootstrap whole trials."""
    trials, episodes = result.episodes["dsp"].shape
    section = f"What happens in every episode ({episodes} episodes, {trials} trials)"
    found = behaviours(result)
    tenth = max(1, episodes // 10)

    def line(kind: str, what: str, value: float | None, ends: Ends, written: str) -> Line:
        ours = _NOT_REPORTED if value is None else value
        return Line(
            section, f"{NAMES[kind]}: {what}", _NOT_REPORTED, ours, *ends, kind="ours", written=written
        )

    for kind, one in found.items():
        first = one.first_reached[one.first_reached > 0]
        ends: Ends = interval(first, np.median) if len(first) else (None, None)
        yield line(kind, "first episode that reached the goal, median", one.median_first, ends, "episode")
    for kind, one in found.items():
        reached = result.episodes[kind] < result.settings.steps
        yield line(
            kind, "episodes that reached the goal", one.reached, interval(reached.mean(axis=1)), "share"
        )
    for kind, one in found.items():
        ends = _retained_interval(result.episodes[kind] < result.settings.steps, one.first_reached)
        what = "episodes after the first success that reached it again (retained)"
        yield line(kind, what, one.retained, ends, "share")
    for kind, one in found.items():
        eps = result.episodes[kind]
        parts = (("first", one.first_tenth, eps[:, :tenth]), ("last", one.last_tenth, eps[:, -tenth:]))
        for when, value, part in parts:
            ends = interval(part.mean(axis=1))
            yield line(kind, f"mean EP of the {when} {tenth} episodes", value, ends, "")


def _retained_interval(reached: NDArray[np.bool_], first: NDArray[np.int64]) -> Ends:
    """Return the interval of `Behaviour.retained`, if any, by bootstrapping the trials that reached the goal."""
    trials, episodes = np.flatnonzero((first > 0) & (first < reached.shape[1])), reached.shape[1]
    if len(trials) < 2:
        return None, None
    again, after = reached[trials].sum(axis=1) - 1, episodes - first[trials]

    def share(drawn: NDArray[np.float64], axis: int = -1) -> Any:
        which = drawn.astype(np.intp)
        return again[which].sum(axis=axis) / after[which].sum(axis=axis)

    return interval(np.arange(len(trials)), share)


def _long_tests(result: Reproduction) -> Iterator[Line]:
    names = {"dsp": "DSP", "hc": "hill climbing", "dsp_resampled": "resampled DSP"}
    for episodes in (1_000, 10_000):
        paper = paper_results()[f"best_{episodes}_episodes"]
        at = min(episodes, result.scale.episodes)
        section = f"The best of each, {episodes:,} episodes" + (
            f" (here {at:,}, not judged)" if at != episodes else ""
        )
        judged = at == episodes  # fewer episodes than the paper's are shown, not judged
        eps = {test: result.best_curve(test)[:, at - 1] for test in names}
        for which, name in names.items():
            values = eps[which]
            note = ""
            if which == "dsp_resampled":
                lowest = float(result.fitness(which)[:, at - 1].min())
                note = f"with the rule that is best in the plain test; the lowest of all rules here is {lowest:.2f}"
            p = p_means(values, paper[which], PAPER_TRIALS)
            yield Line(
                section, f"{name}: fitness", paper[which], float(values.mean()), *interval(values), note=note,
                kind="mean" if judged else "ours", chance_of_difference=p,
            )  # fmt: skip
        for which, name in names.items():
            reported = paper.get(f"{which}_reached") or paper["reached_all_three"]
            k, n = map(int, reported.split("/"))
            line = _share(section, f"{name}: trials that reached the goal", k / n, eps[which], result)
            yield line if judged else replace(line, kind="ours")
        chance = result.best_curve("chance")[:, at - 1]
        yield _ours(section, "chance: fitness", chance)
        yield _share(section, "chance: trials that reached the goal", _NOT_REPORTED, chance, result)
        for kind, name in _EVOLVED_NAMES.items():
            beside = result.beside_chance(kind, at)
            beats = f"{sum(bool(one.beats_chance) for one in beside)} of {len(beside)}"
            note = (
                f"each beside chance with its own α, {result.trials} pairs, p < {SIGNIFICANT}, paired t-test"
            )
            yield Line(section, f"{name}: how many beat chance", _NOT_REPORTED, beats, kind="ours", note=note)
        what = f"rank-sum test, DSP against hill climbing, {result.trials} EPs against {result.trials}"
        test, effect = _test_lines(section, what, paper["wilcoxon_p_dsp_vs_hc"], eps["dsp"], eps["hc"])
        yield test if judged else replace(test, kind="ours", written="p")
        yield effect
        yield from _against_chance(section, eps["dsp"], chance)


def overtakes(one: NDArray[np.float64], other: NDArray[np.float64]) -> int | None:
    """Return the episode from which on the mean of one stays below that of the other, or None."""
    above = np.flatnonzero(one >= other)
    if len(above) == 0:
        return 1
    return None if above[-1] == len(one) - 1 else int(above[-1]) + 2


def _crossings(result: Reproduction) -> Iterator[Line]:
    section = f"The curves over {result.scale.episodes:,} episodes"
    mean = {test: result.best_curve(test).mean(axis=0) for test in result.curves}
    kind = "text" if result.scale.episodes >= 10_000 else "ours"  # shorter curves are shown, not judged
    at = overtakes(mean["hc"], mean["dsp"])
    near = at is not None and 2_500 <= at <= 10_000  # within a factor of two
    yield Line(section, "episode from which hill climbing stays ahead of plain DSP", "about 5,000",
               "never" if at is None else f"{at:,}", kind=kind, agrees=near)  # fmt: skip
    at = overtakes(mean["hc"], mean["dsp_resampled"])
    yield Line(section, "episode from which hill climbing stays ahead of resampled DSP", "never",
               "never" if at is None else f"{at:,}", kind=kind, agrees=at is None)  # fmt: skip
    plain, resampled = mean["hc"][-1], mean["hc_resampled"][-1]
    worse = bool(resampled > plain)
    note = f"{resampled:.2f} against {plain:.2f} at the end"
    yield Line(section, "resampled hill climbing is worse than plain", "yes", "yes" if worse else "no", kind=kind,
               note=note, agrees=worse)  # fmt: skip
    for test, name in (("dsp", "plain DSP"), ("dsp_resampled", "resampled DSP"), ("hc", "hill climbing")):
        at = overtakes(mean[test], mean["chance_hc" if test == "hc" else "chance"])
        yield Line(section, f"chance: episode from which {name} stays ahead of it", _NOT_REPORTED,
                   "never" if at is None else f"{at:,}", kind="ours")  # fmt: skip


def _appendix(result: Reproduction) -> Iterator[Line]:
    """Yield the paper's fifteen rules one by one, which are judged, and what they show together."""
    found = result.appendix
    section = f"The appendix: the fifteen published rules after {EPISODES:,} episodes" + (
        "" if found.judged else f" (here {found.episodes:,}, not judged)"
    )
    for row in found.rows:
        yield Line(
            section, f"{row.rule}: fitness", row.paper, row.ours.value, row.ours.low, row.ours.high,
            kind="mean" if found.judged else "ours", chance_of_difference=row.p,
        )  # fmt: skip

    def ours(
        what: str, value: float | str, ends: Ends = (None, None), paper: Any = _NOT_REPORTED, note: str = ""
    ) -> Line:
        return Line(section, what, paper, value, *ends, kind="ours", note=note)

    r, rms, mean, chance = found.here.r, found.here.rms, found.mean, found.mean_chance
    how = "our trials redrawn within each rule, the paper's numbers left as they are"
    if r is not None:
        yield ours("correlation with the paper's fifteen numbers (r)", r.value, (r.low, r.high), note=how)
    note = f"{how}; redrawing adds noise, so that the interval lies high"
    what = "root mean squared difference from the paper's fifteen numbers (rms)"
    yield ours(what, rms.value, (rms.low, rms.high), note=note)
    if found.judged:
        yield ours("how many of the fifteen agree", f"{found.agree} of {len(found.rows)}")
    yield ours("mean of the fifteen", mean.value, (mean.low, mean.high), float(in_the_paper().mean()))
    yield ours("chance: mean in the trials of the fifteen", chance.value, (chance.low, chance.high))
    note = f"each beside chance with its own α, {result.trials} pairs, p < {SIGNIFICANT}, paired t-test"
    yield ours("how many of the fifteen beat chance", f"{found.beat_chance} of {len(found.rows)}", note=note)
    for episodes in (1_000, EPISODES):
        number, lowest = found.lowest_resampled(episodes)
        at = "" if episodes <= found.episodes else f" (here {found.episodes:,})"
        what = f"resampled, the lowest of the fifteen at {episodes:,}{at}"
        paper = paper_results()[f"best_{episodes}_episodes"]["dsp_resampled"]
        yield ours(what, lowest, paper=paper, note=f"paper:{number}; the lowest of fifteen is optimistic")
