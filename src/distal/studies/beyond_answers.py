"""The answers to the questions beyond the paper: one sentence each, composed from the numbers.

Every "beats" and every "is worse than" has a p below 0.05, corrected by Holm's method for
all comparisons of the question; what has not is said to be not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from distal.evaluation.behaviour import KEPT
from distal.evaluation.measures import BEST, LAST
from distal.studies.beyond_numbers import Comparison, gain
from distal.studies.beyond_plan import (
    ADAPTED,
    CHANCE,
    CLIMBER,
    LEVELS,
    MISSED,
    PHASES,
    REMEASURED,
    RULE,
    SIZES,
    WIDER,
    Scale,
)
from distal.studies.beyond_study import Outcome
from distal.studies.wording import listed, p_value, percent, signed


def answer(outcome: Outcome, scale: Scale) -> str:
    """Answer a question in one sentence."""
    return _ANSWERS[outcome.question.name](outcome, scale)


def verdict(found: Sequence[tuple[Comparison, str]], plural: bool = False) -> str:
    """Say what comparisons with others show, after the name of who is compared: "beats a (…) and b (…)"."""
    is_ = "are" if plural else "is"
    return _sorted(
        found,
        {
            True: "beat" if plural else "beats",
            False: f"{is_} worse than",
            None: f"{is_} not shown to differ from",
        },
    )


def _sorted(found: Sequence[tuple[Comparison, str]], words: dict[bool | None, str]) -> str:
    """Say what comparisons show: first what is better, then what is worse, then what is not shown."""
    said = []
    for better, word in words.items():
        others = [f"{other} {_numbers(one)}" for one, other in found if one.better is better]
        if others:
            said.append(f"{word} {listed(others)}")
    return ", but ".join(said) if len(said) < 3 else f"{said[0]}, {said[1]} and {said[2]}"


def _numbers(one: Comparison) -> str:
    return f"({signed(one.gap.difference.value)}, {p_value(one.corrected, word=True)})"


def lead(verdicts: Sequence[bool | None]) -> str:
    """Answer in a word or two: whether all, some or none of several comparisons show what was asked."""
    if all(verdicts):
        return "Yes"
    if any(verdicts):
        return "In part"
    return "No" if False in verdicts else "Not shown"


def places(found: dict[str, bool | None], preposition: str, thing: str) -> str:
    """Say where somebody is better, where that is not shown, and where they are worse."""
    named = {
        which: listed([name for name, better in found.items() if better is which])
        for which in (True, None, False)
    }
    said = f"{preposition} {named[True]} {thing}" if named[True] else "nowhere"
    others = [
        f"{words} {preposition} {named[which]}"
        for which, words in ((None, "not shown"), (False, "worse"))
        if named[which]
    ]
    return f"{said} ({', '.join(others)})" if others else said


def _counted(found: Sequence[bool | None], things: str = "") -> str:
    """Say in how many of several cases somebody is better."""
    others = [
        f"{words} in {found.count(which)}"
        for which, words in ((None, "not shown"), (False, "worse"))
        if which in found
    ]
    return f"in {found.count(True)} of {len(found)}{things}" + (f" ({', '.join(others)})" if others else "")


def _neurons(outcome: Outcome, scale: Scale) -> str:
    own = "dsp_sigmoid_in_sigmoid"
    beside = {
        CHANCE: "chance",
        "hc_sigmoid_in_sigmoid": "hill climbing",
        "dsp_base_in_binary": "the rule of binary neurons",
    }
    found = {name: outcome.compared(own, name, BEST) for name in beside}
    runs = outcome.compared("dsp_sigmoid", "dsp_base", REMEASURED, runs=True)
    there, back = (
        verdict([(outcome.compared(name, CHANCE, BEST), "chance")])
        for name in ("dsp_base_in_sigmoid", "dsp_sigmoid_in_binary")
    )
    return (
        f"{'No' if found[CHANCE].better else 'Not shown that it does without'}: a rule evolved with sigmoid neurons "
        f"{verdict([(one, beside[name]) for name, one in found.items()])}; of all runs, the winners with sigmoid "
        f"neurons {verdict([(runs, 'those with binary ones')], plural=True)}; given sigmoid neurons, the rule of binary "
        f"ones {there}, and given binary neurons, the rule of sigmoid ones {back}."
    )


def _network(outcome: Outcome, scale: Scale) -> str:
    def by_size(condition: str | None, other: str, sizes: Sequence[int]) -> dict[str, bool | None]:
        found = {}
        for size in sizes:
            evolved = condition or ("base" if size == 20 else f"hidden_{size}")
            rival = other if other == CHANCE else f"{other}_{evolved}_in_hidden_{size}"
            found[str(size)] = outcome.compared(f"{RULE}_{evolved}_in_hidden_{size}", rival, BEST).better
        return found

    own, wider = by_size(None, CHANCE, SIZES), by_size("base", CHANCE, WIDER)
    runs = outcome.compared(f"{RULE}_hidden_{SIZES[-1]}", f"{RULE}_hidden_{SIZES[0]}", REMEASURED, runs=True)
    return (
        f"{lead([*own.values(), *wider.values()])}: a rule evolved for its network beats chance "
        f"{places(own, 'with', 'hidden neurons')} and hill climbing evolved for it "
        f"{places(by_size(None, CLIMBER, SIZES), 'with', 'hidden neurons')}; the rule of 20 beats chance "
        f"{places(wider, 'with', 'hidden neurons')} and hill climbing of 20 "
        f"{places(by_size('base', CLIMBER, WIDER), 'with', 'hidden neurons')}; of all runs, the winners with {SIZES[-1]} "
        f"{verdict([(runs, f'those with {SIZES[0]}')], plural=True)}."
    )


def _evolved_for(levels: int) -> str:
    return "base" if levels == 3 else f"levels_{levels}"


def _maze(outcome: Outcome, scale: Scale) -> str:
    chance, climbing, gains = {}, {}, []
    for levels in LEVELS:
        name, rival = (f"{kind}_{_evolved_for(levels)}_in_levels_{levels}" for kind in (RULE, CLIMBER))
        chance[str(levels)] = outcome.compared(name, CHANCE, BEST).better
        climbing[str(levels)] = outcome.compared(name, rival, BEST).better
        gains.append(gain(outcome.rows[name], outcome.question.case(name).world.place.perfect))
    shares = listed([percent(one) for one in gains])
    return (
        f"{lead(list(chance.values()))}: a rule evolved for its maze beats chance {places(chance, 'with', 'levels')} and "
        f"hill climbing evolved for it {places(climbing, 'with', 'levels')}; from chance to the shortest way it "
        f"comes {shares} of the way with {listed([str(one) for one in LEVELS])} levels."
    )


def _keeping(outcome: Outcome, scale: Scale) -> str:
    usual = "dsp_base_in_long"
    measured = {
        LAST: f"in the mean EP of the last {scale.last} of {scale.episodes} episodes",
        MISSED: "in the share of these that miss the goal",
        BEST: "in the best EP, its speed",
    }
    words: dict[bool | None, str] = {True: "is better", False: "is worse", None: "is not shown to differ"}
    theirs = outcome.rows[usual].numbers
    clauses, misses, keeps = [], [], []
    for condition, judged in (("last", f"its last {scale.last} episodes"), ("mean", "all its episodes")):
        name = f"dsp_{condition}_in_long"
        found = {score: outcome.compared(name, usual, score) for score in measured}
        own = outcome.rows[name].numbers
        misses.append(found[MISSED].better)
        keeps.append(bool(found[MISSED].better) and (own["retained"] or 0) >= KEPT)
        clauses.append(
            f"one judged by {judged} {_sorted([(one, measured[score]) for score, one in found.items()], words)}, reaches the "
            f"goal first after {_episodes(own['first'], scale)} at the median ({_episodes(theirs['first'], scale)}), and "
            f"again in {_again(own['retained'])} from then on ({_again(theirs['retained'])})"
        )
    first = "Yes" if any(keeps) else "In part" if any(misses) else lead(misses)
    return f"{first}: beside a rule judged by its best episode (in brackets), {'; '.join(clauses)}."


def _again(retained: float | None) -> str:
    return "no episode" if retained is None else f"{percent(retained)} of the episodes"


def _episodes(median: float | None, scale: Scale) -> str:
    return f"more than {scale.episodes} episodes" if median is None else f"{median:g} episodes"


def _change(outcome: Outcome, scale: Scale) -> str:
    rule = "dsp_change_in_new"
    others = {
        "dsp_base_in_new": "the rule evolved without",
        "dsp_base_in_new_anew": "that rule started anew at every move",
        "hc_change_in_new": "hill climbing evolved under change",
        "hc_base_in_new_anew": "hill climbing started anew",
        CHANCE: "chance",
    }
    found = {name: outcome.compared(rule, name, ADAPTED) for name in others}
    said = verdict([(one, others[name]) for name, one in found.items()])
    runs = outcome.compared("dsp_change", "dsp_base", ADAPTED, runs=True)
    back = outcome.rows["dsp_change_in_back"]
    first, again = (_episodes(back.numbers[name], scale) for name in ("until_first", "until_again"))
    return (
        f"{lead([one.better for name, one in found.items() if name != CHANCE])}: in the mean best EP of phases 2 to "
        f"{PHASES}, a rule evolved under change {said}; of all runs, the winners under change "
        f"{verdict([(runs, 'those without')], plural=True)}; when a goal returns, its first episode is "
        f"{back.values['lost'].value:.1f} worse than its best before, and the goal is found at the median after "
        f"{again} (at first {first})."
    )


def _transfer(outcome: Outcome, scale: Scale) -> str:
    chance, climbing, native = [], [], []
    for there in LEVELS:
        for own in LEVELS:
            if own != there:
                name = f"{RULE}_{_evolved_for(own)}_in_levels_{there}"
                home = f"{_evolved_for(there)}_in_levels_{there}"
                chance.append(outcome.compared(name, CHANCE, BEST).better)
                climbing.append(outcome.compared(name, f"{CLIMBER}_{home}", BEST).better)
                native.append(outcome.compared(name, f"{RULE}_{home}", BEST).better)
    return (
        f"{lead(chance)}: in a maze that it was not evolved for, a rule beats chance {_counted(chance, ' cases')}, hill "
        f"climbing evolved for that maze {_counted(climbing)}, and the rule evolved for it {_counted(native)}."
    )


_ANSWERS: dict[str, Callable[[Outcome, Scale], str]] = {
    "neurons": _neurons,
    "network": _network,
    "maze": _maze,
    "keeping": _keeping,
    "change": _change,
    "transfer": _transfer,
}
