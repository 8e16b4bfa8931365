"""Our numbers and the paper's: intervals, tests, and a verdict for each.

`significance` says how tests and intervals are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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
from distal.search.results import Fresh
from distal.studies.appendix import EPISODES, PAPER_TRIALS, in_the_paper
from distal.studies.intervals import Interval
from distal.studies.reproduction import Reproduction, other_elites, paper_results

NAMES = {"dsp": "DSP", "hc": "hill climbing", "chance": "chance"}
Ends = tuple[float | None, float | None]  # of an interval; None: there is none
_NOT_REPORTED = "–"
_NO_ENDS: Ends = (None, None)
_EVOLVED_NAMES = {"dsp": "DSP rules", "hc": "hill climbing"}


@dataclass(frozen=True)
class PaperNumber:
    """One of the paper's numbers, ours, and how they compare.

    Attributes:
        section: What it belongs to.
        what: What it is.
        paper: The paper's; "–" if it reports none.
        ours: Ours; None if it was not run.
        low: The lower end of the interval of ours.
        high: The upper end.
        kind: "mean", "share", "p" or "text"; "ours" for one that is not to be judged.
        written: How a number of kind "ours" is written: as share, p, episode, or, if empty, as a mean.
        note: More about it.
        agrees: Whether both agree, for p-values and text, which no interval can judge.
        chance_of_difference: The p of a difference as large, if both estimate the same.
    """

    section: str = field(default="", kw_only=True)
    what: str
    paper: float | str
    ours: float | str | None
    low: float | None = None
    high: float | None = None
    kind: str = "mean"
    written: str = ""
    note: str = ""
    agrees: bool = False
    chance_of_difference: float | None = None

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


def agreement(lines: Iterable[PaperNumber]) -> str:
    """Return the number of lines that agree, of all that are judged."""
    judged = [line for line in lines if line.verdict not in ("", "not run")]
    agree = sum(line.verdict == "agrees" for line in judged)
    return (
        f"{agree} of {len(judged)} numbers and statements agree with the paper "
        f"({sum(line.within for line in judged)} if the paper's numbers had no error of their own)."
    )


def compare(result: Reproduction) -> list[PaperNumber]:
    """Return every number of the paper with ours."""
    paper, size, found = paper_results(), result.scale, result.appendix
    perfect = result.maze.perfect
    runs = paper["evolution_100_episodes"]["runs"]
    other = other_elites(result.elites)
    trials, episodes = result.episodes["dsp"].shape
    sections: list[tuple[str, Iterable[PaperNumber]]] = [
        ("The maze", [PaperNumber("perfect agent: mean distance from the start", paper["perfect_agent"], perfect)]),
        (f"Evolution at 100 episodes ({runs} runs in the paper, {size.runs} here)", _evolution(result)),
        (f"Elites {other}: the same evolutions with the other reading, not counted", _otherwise(result)),
        (f"The best of each, {result.trials} trials of 100 episodes", _after_100(result)),
        (f"What happens in every episode ({episodes} episodes, {trials} trials)", _every_episode(result)),
        *(
            (f"The best of each, {mark:,} episodes (here {min(mark, size.episodes):,})",
             _long_test(result, mark))
            for mark in (1_000, 10_000)
        ),
        (f"The curves over {size.episodes:,} episodes", _crossings(result)),
        (f"The appendix: the fifteen published rules after {EPISODES:,} episodes "
         f"(here {found.episodes:,})", _appendix(result)),
    ]  # fmt: skip
    return [replace(line, section=title) for title, lines in sections for line in lines]


# ------------------------------------------------------------------ kinds of lines


def _shown(
    what: str, ours: float | str, ends: Ends = _NO_ENDS, paper: Any = _NOT_REPORTED, **more: Any
) -> PaperNumber:
    """Return a value that is shown and not judged; for most of them the paper reports none."""
    return PaperNumber(what, paper, ours, *ends, kind="ours", **more)


def _ours(what: str, values: NDArray[Any]) -> PaperNumber:
    """Return a mean that the paper does not report."""
    return _shown(what, float(values.mean()), interval(values))


def _mean_and_deviation(
    what: str, paper: list[float], values: NDArray[Any] | None, kind: str = "mean"
) -> Iterator[PaperNumber]:
    """Yield mean and standard deviation over runs; None: not run."""
    runs = paper_results()["evolution_100_episodes"]["runs"]
    mean, spread = f"{what}: mean over runs", f"{what}: standard deviation"
    if values is None:
        yield PaperNumber(mean, paper[0], None, kind=kind)
    else:
        p = p_means(values, paper[0], runs, paper[1])
        ends = interval(values)
        yield PaperNumber(mean, paper[0], float(values.mean()), *ends, kind=kind, chance_of_difference=p)
    if values is None or len(values) < 2:
        yield PaperNumber(spread, paper[1], None, kind=kind)
    else:
        ours = float(deviation(values))
        p = p_deviations(ours, len(values), paper[1], runs)
        ends = interval(values, deviation)
        yield PaperNumber(spread, paper[1], ours, *ends, kind=kind, chance_of_difference=p)


def _beat_chance(name: str, fresh: Sequence[Fresh], note: str) -> PaperNumber:
    beats = sum(bool(one.beats_chance) for one in fresh)
    return _shown(f"{name}: how many beat chance", f"{beats} of {len(fresh)}", note=note)


def _beside_chance(name: str, fresh: tuple[Fresh, ...]) -> Iterator[PaperNumber]:
    """Yield chance in the fresh trials of learners, and the number of learners that beat it."""
    chance = np.array([one.chance for one in fresh if one.chance is not None])
    if len(chance) == len(fresh):  # version 0.1 did not measure it
        yield _ours(f"chance: mean on the same trials as {name}", chance)
        yield _beat_chance(name, fresh, f"lower on fresh trials with p < {SIGNIFICANT}, paired t-test")


def _test_lines(what: str, paper: float, dsp: NDArray[Any], hc: NDArray[Any]) -> Iterator[PaperNumber]:
    """Yield a rank-sum test and its effect size.

    p-values agree if they fall on the same side of 0.05 and, where significant, for
    the same learner: in the paper that is always DSP.
    """
    p = rank_sum(dsp, hc)
    same = (p < SIGNIFICANT) == (paper < SIGNIFICANT)
    agrees = same and (p >= SIGNIFICANT or superiority(dsp, hc) > 0.5)
    note = f"{len(dsp)} values against {len(hc)}, means {dsp.mean():.2f} and {hc.mean():.2f}"
    yield PaperNumber(f"{what}: p", paper, p, kind="p", note=note, agrees=agrees)
    yield _superiority_line(dsp, hc)


def _superiority_line(dsp: NDArray[Any], hc: NDArray[Any], of: str = "") -> PaperNumber:
    value = superiority(dsp, hc)
    ends = superiority_interval(dsp, hc) if 0 < value < 1 else _NO_ENDS  # else all draws are alike
    return _shown(f"probability that DSP is better (lower) than hill climbing{of}", value, ends)


def _against_chance(dsp: NDArray[Any], chance: NDArray[Any]) -> Iterator[PaperNumber]:
    """Yield a test of the best rule against chance, which has the same trials, and its effect size."""
    note = f"{len(dsp)} pairs, means {dsp.mean():.2f} and {chance.mean():.2f}"
    yield _shown("paired t-test, DSP against chance: p", paired(dsp, chance), written="p", note=note)
    better = (dsp < chance) + 0.5 * (dsp == chance)
    what = "DSP is better (lower) than chance: share of the trials"
    yield _shown(what, paired_superiority(dsp, chance), interval(better), written="share")


def _reached(name: str, paper: float | str, eps: NDArray[np.int32], result: Reproduction) -> PaperNumber:
    reached = eps < result.settings.steps
    k, n = int(reached.sum()), len(reached)
    p = None if isinstance(paper, str) else p_shares(k, n, round(paper * PAPER_TRIALS), PAPER_TRIALS)
    return PaperNumber(
        f"{name}: trials that reached the goal", paper, k / n, *share_interval(k, n),
        kind="ours" if p is None else "share", written="share", note=f"{k} of {n}", chance_of_difference=p,
    )  # fmt: skip


# ------------------------------------------------------------------ sections


def _evolution(result: Reproduction) -> Iterator[PaperNumber]:
    paper = paper_results()["evolution_100_episodes"]
    for kind, name in _EVOLVED_NAMES.items():
        best = result.evolved[kind].best.T if kind in result.evolved else {0: None, -1: None}
        for column, when, which in (
            (0, "initial_best", "generation 0"),
            (-1, "final_best", "the last generation"),
        ):
            yield from _mean_and_deviation(f"{name}, best of {which}", paper[kind][when], best[column])
    what = "rank-sum test of the winners, DSP against hill climbing"
    if "dsp" in result.evolved:
        dsp, hc = (
            np.array([winner.selected for winner in result.evolved[kind].winners]) for kind in _EVOLVED_NAMES
        )
        yield from _test_lines(what, paper["wilcoxon_p"], dsp, hc)
    else:
        yield PaperNumber(f"{what}: p", paper["wilcoxon_p"], None, kind="p")
    for kind, name in _EVOLVED_NAMES.items():
        whose = "winners re-measured" if kind in result.evolved else "the published ones"
        yield _ours(f"{name}, {whose} on fresh trials: mean", _fitness(result.fresh[kind]))
        yield from _beside_chance(name, result.fresh[kind])
    if "dsp" in result.evolved:
        dsp, hc = (_fitness(result.fresh[kind]) for kind in _EVOLVED_NAMES)
        yield _shown(f"{what}, re-measured: p", rank_sum(dsp, hc), written="p")
        yield _superiority_line(dsp, hc, ", re-measured winners")


def _fitness(fresh: tuple[Fresh, ...]) -> NDArray[np.float64]:
    return np.array([one.fitness for one in fresh])


def _otherwise(result: Reproduction) -> Iterator[PaperNumber]:
    """Yield the same evolutions with the other reading of elites."""
    paper = paper_results()["evolution_100_episodes"]
    for kind, evolved in result.otherwise.items():
        name = f"{_EVOLVED_NAMES[kind]}, elites {other_elites(result.elites)}"
        what = f"{name}, best of the last generation"
        yield from _mean_and_deviation(what, paper[kind]["final_best"], evolved.best[:, -1], "ours")
        fresh = tuple(winner.fresh for winner in evolved.winners)
        yield _ours(f"{name}, winners re-measured: mean", _fitness(fresh))
        yield from _beside_chance(name, fresh)


def _after_100(result: Reproduction) -> Iterator[PaperNumber]:
    paper = paper_results()["best_100_episodes"]
    for kind, name in NAMES.items():
        reported = paper.get(f"{kind}_reached", _NOT_REPORTED)
        yield _reached(name, reported, result.at_100[kind], result)
    dsp, hc, chance = (result.at_100[kind] for kind in NAMES)
    yield from _test_lines(f"rank-sum test, {len(dsp)} EPs against {len(hc)}", paper["wilcoxon_p"], dsp, hc)
    yield from _against_chance(dsp, chance)


def behaviours(result: Reproduction) -> dict[str, Behaviour]:
    """Return the behaviour in every episode of the best rule, the best climber and chance."""
    return {kind: Behaviour.of(ep, result.settings.steps - 1) for kind, ep in result.episodes.items()}


def _every_episode(result: Reproduction) -> Iterator[PaperNumber]:
    """Yield the numbers of the episodes themselves. Intervals bootstrap whole trials."""
    found = behaviours(result)
    tenth = max(1, result.episodes["dsp"].shape[1] // 10)

    def line(kind: str, what: str, value: float | None, ends: Ends, written: str = "") -> PaperNumber:
        ours = _NOT_REPORTED if value is None else value
        return _shown(f"{NAMES[kind]}: {what}", ours, ends, written=written)

    for kind, one in found.items():
        first = one.first_reached[one.first_reached > 0]
        ends: Ends = interval(first, np.median) if len(first) else _NO_ENDS
        yield line(kind, "first episode that reached the goal, median", one.median_first, ends, "episode")
    hits = {kind: eps < result.settings.steps for kind, eps in result.episodes.items()}
    for kind, one in found.items():
        ends = interval(hits[kind].mean(axis=1))
        yield line(kind, "episodes that reached the goal", one.reached, ends, "share")
    for kind, one in found.items():
        ends = _retained_interval(hits[kind], one.first_reached)
        what = "episodes after the first success that reached it again (retained)"
        yield line(kind, what, one.retained, ends, "share")
    for kind, one in found.items():
        eps = result.episodes[kind]
        parts = (("first", one.first_tenth, eps[:, :tenth]), ("last", one.last_tenth, eps[:, -tenth:]))
        for when, value, part in parts:
            yield line(kind, f"mean EP of the {when} {tenth} episodes", value, interval(part.mean(axis=1)))


def _retained_interval(reached: NDArray[np.bool_], first: NDArray[np.int64]) -> Ends:
    """Return the interval of `Behaviour.retained`, if any, by bootstrapping the trials that reached the goal."""
    trials, episodes = np.flatnonzero((first > 0) & (first < reached.shape[1])), reached.shape[1]
    if len(trials) < 2:
        return _NO_ENDS
    again, after = reached[trials].sum(axis=1) - 1, episodes - first[trials]

    def share(drawn: NDArray[np.float64], axis: int = -1) -> Any:
        which = drawn.astype(np.intp)
        return again[which].sum(axis=axis) / after[which].sum(axis=axis)

    return interval(np.arange(len(trials)), share)


def _long_test(result: Reproduction, mark: int) -> Iterator[PaperNumber]:
    """Yield the tests after `mark` episodes; shorter ones are shown with the paper's numbers, not judged."""
    paper, at = paper_results()[f"best_{mark}_episodes"], min(mark, result.scale.episodes)
    names = {"dsp": "DSP", "hc": "hill climbing", "dsp_resampled": "resampled DSP"}
    eps = {test: result.best_curve(test)[:, at - 1] for test in names}
    lowest = float(result.fitness("dsp_resampled")[:, at - 1].min())
    found = []
    for which, name in names.items():
        values, note = eps[which], ""
        if which == "dsp_resampled":
            note = (
                f"with the rule that is best in the plain test; the lowest of all rules here is {lowest:.2f}"
            )
        p = p_means(values, paper[which], PAPER_TRIALS)
        mean, ends = float(values.mean()), interval(values)
        found.append(
            PaperNumber(f"{name}: fitness", paper[which], mean, *ends, note=note, chance_of_difference=p)
        )
    for which, name in names.items():
        k, n = map(int, (paper.get(f"{which}_reached") or paper["reached_all_three"]).split("/"))
        found.append(_reached(name, k / n, eps[which], result))
    what = f"rank-sum test, DSP against hill climbing, {result.trials} EPs against {result.trials}"
    test, effect = _test_lines(what, paper["wilcoxon_p_dsp_vs_hc"], eps["dsp"], eps["hc"])
    if at < mark:
        found = [replace(line, kind="ours") for line in found]
        test = replace(test, kind="ours", written="p")
    yield from found
    chance = result.best_curve("chance")[:, at - 1]
    yield _ours("chance: fitness", chance)
    yield _reached("chance", _NOT_REPORTED, chance, result)
    for kind, name in _EVOLVED_NAMES.items():
        yield _beat_chance(name, result.against_chance(kind, at), _beside(result))
    yield test
    yield effect
    yield from _against_chance(eps["dsp"], chance)


def _beside(result: Reproduction) -> str:
    return f"each against chance with its own α, {result.trials} pairs, p < {SIGNIFICANT}, paired t-test"


def overtakes(one: NDArray[np.float64], other: NDArray[np.float64]) -> int | None:
    """Return the episode from which on the mean of one stays below that of the other, or None."""
    above = np.flatnonzero(one >= other)
    if len(above) == 0:
        return 1
    return None if above[-1] == len(one) - 1 else int(above[-1]) + 2


def _crossings(result: Reproduction) -> Iterator[PaperNumber]:
    mean = {test: result.best_curve(test).mean(axis=0) for test in result.curves}
    kind = "text" if result.scale.episodes >= EPISODES else "ours"  # shorter curves are shown, not judged

    def episode(at: int | None) -> str:
        return "never" if at is None else f"{at:,}"

    at = overtakes(mean["hc"], mean["dsp"])
    near = at is not None and 2_500 <= at <= 10_000  # within a factor of two
    what = "episode from which hill climbing stays ahead of plain DSP"
    yield PaperNumber(what, "about 5,000", episode(at), kind=kind, agrees=near)
    at = overtakes(mean["hc"], mean["dsp_resampled"])
    what = "episode from which hill climbing stays ahead of resampled DSP"
    yield PaperNumber(what, "never", episode(at), kind=kind, agrees=at is None)
    plain, resampled = mean["hc"][-1], mean["hc_resampled"][-1]
    worse, note = bool(resampled > plain), f"{resampled:.2f} against {plain:.2f} at the end"
    what = "resampled hill climbing is worse than plain"
    yield PaperNumber(what, "yes", "yes" if worse else "no", kind=kind, note=note, agrees=worse)
    for test, name in (("dsp", "plain DSP"), ("dsp_resampled", "resampled DSP"), ("hc", "hill climbing")):
        at = overtakes(mean[test], mean["chance_hc" if test == "hc" else "chance"])
        yield _shown(f"chance: episode from which {name} stays ahead of it", episode(at))


def _appendix(result: Reproduction) -> Iterator[PaperNumber]:
    """Yield the paper's fifteen rules, which are judged, and numbers of all fifteen."""
    found = result.appendix
    for row in found.rows:
        ours = row.ours
        yield PaperNumber(
            f"{row.rule}: fitness", row.paper, ours.value, ours.low, ours.high,
            kind="mean" if found.judged else "ours", chance_of_difference=row.p,
        )  # fmt: skip

    def shown(what: str, value: Interval, **more: Any) -> PaperNumber:
        return _shown(what, value.value, (value.low, value.high), **more)

    note = "our trials redrawn within each rule, the paper's numbers left as they are"
    if found.here.r is not None:
        yield shown("correlation with the paper's fifteen numbers (r)", found.here.r, note=note)
    what = "root mean squared difference from the paper's fifteen numbers (rms)"
    yield shown(what, found.here.rms, note=f"{note}; redrawing adds noise, so that the interval lies high")
    if found.judged:
        yield _shown("how many of the fifteen agree", f"{found.agree} of {len(found.rows)}")
    yield shown("mean of the fifteen", found.mean, paper=float(in_the_paper().mean()))
    yield shown("chance: mean in the trials of the fifteen", found.mean_chance)
    beat = f"{found.beat_chance} of {len(found.rows)}"
    yield _shown("how many of the fifteen beat chance", beat, note=_beside(result))
    for episodes in (1_000, EPISODES):
        number, lowest = found.lowest_resampled(episodes)
        what = f"resampled, the lowest of the fifteen at {episodes:,}"
        paper = paper_results()[f"best_{episodes}_episodes"]["dsp_resampled"]
        yield _shown(what, lowest, paper=paper, note=f"paper:{number}; the lowest of fifteen is optimistic")
