"""The text of docs/champions.md and of the README's part about champions, composed from the kept numbers.

Nothing here knows a number: a sentence that depends on one is chosen by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from champion_figures import champion_names, label
from champion_numbers import CHAMPIONS, CLIMBER, KEPT_LAST, OURS, PAPER, Size

from distal.base.checks import counted
from distal.base.drawing import signed as change_words
from distal.base.significance import SIGNIFICANT, holm
from distal.evaluation.learning import KEPT
from distal.evaluation.measures import BEST, LAST, MISSED, Measure
from distal.learners.dsp import NUMBERS
from distal.studies.reproduction import paper_results
from distal.studies.wording import listed, made_on, percent, signed, table_row

BEGIN, END = "<!-- champions: written by docs/make_champions.py -->\n", "<!-- end of champions -->\n"
_LETTERS = dict(zip(NUMBERS, ("η", "θ", "α_h", "α_o"), strict=True))
_STATES = ("both silent", "the receiver active alone", "the sender active alone", "both active")
_STILL = 0.1  # moving by less than this share of what it moves after a worse episode is staying
_ALIKE = 1.5  # moves that differ by less than this factor are alike
_TURN = 0.25  # the cosine from which on an update has something to do with the one before
_ALL = 0.8  # the share of trials that do the same from which on all of them do, in words
_SHOWN = 8  # rows of a rule in a table

Data = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """What was aimed at: a number of the champion of a prize, on held-out trials."""

    words: str
    limit: float
    prizes: tuple[str, ...]  # the first of them that there is a champion for
    of: str  # "fitness" or "reached"
    paper: str
    ours: tuple[str, ...]  # where the numbers of another learner are in what it does

    @property
    def share(self) -> bool:
        """Whether it is a share, and higher is better."""
        return self.of == "reached"

    def met(self, value: float) -> bool:
        """Say whether a number is good enough."""
        return value >= self.limit if self.share else value <= self.limit

    def written(self, value: float) -> str:
        """Write a number of this kind."""
        return f"{value:.1%}" if self.share else f"{value:.2f}"


_PAPER = paper_results()
TARGETS = (
    Target(
        "best EP after 100 episodes", 62, ("best",), "fitness",
        f"{_PAPER['evolution_100_episodes']['dsp']['final_best'][0]} (as selected)", ("best",),
    ),
    Target(
        "trials that reach the goal in 100 episodes", 0.9, ("reached", "best"), "reached",
        f"{_PAPER['best_100_episodes']['dsp_reached']:.0%}", ("reached",),
    ),
    Target("mean EP of the last 20 of 100 episodes", 90, ("last",), "fitness", "–", (LAST,)),
    Target(
        "best EP after 10,000 episodes, without resampling", 39.5, ("long",), "fitness",
        f"{_PAPER['best_10000_episodes']['dsp']}", ("long", "best"),
    ),
)  # fmt: skip


# ------------------------------------------------------------------ the prizes


def winner(data: Data, target: Target) -> tuple[str, Data]:
    """Return the champion that stands for a target, by name, and its record."""
    return next(
        (entry["rule"]["name"], entry["record"])
        for prize in target.prizes
        for entry in data["champions"]
        if entry["record"]["prize"] == prize
    )


def held_out(target: Target, record: Data) -> tuple[float, float, float]:
    """Return what a champion did on held-out trials, and the ends of its interval."""
    held = record["held_out"]
    ends = ("reached_low", "reached_high") if target.share else ("low", "high")
    return held[target.of], held[ends[0]], held[ends[1]]


def verdict(target: Target, record: Data) -> str:
    """Say whether a target is met, and whether its whole interval says so."""
    value, low, high = held_out(target, record)
    met, least = target.met(value), target.met(low if target.share else high)
    most = target.met(high if target.share else low)
    if met:
        return "met" if least else "met, but the interval reaches beyond it"
    return "not met, but the interval reaches it" if most else "**not met**"


def prizes(data: Data) -> list[str]:
    """Return the table of the targets."""
    rows = []
    for target in TARGETS:
        name, record = winner(data, target)
        value, low, high = map(target.written, held_out(target, record))
        limit = f"{'at least' if target.share else 'at most'} {target.limit:{'.0%' if target.share else 'g'}}"
        before: Any = data["does"][OURS]["own"]
        for key in target.ours:
            before = before[key]
        chance = record["held_out"]["chance_reached" if target.share else "chance"]
        rows.append(
            [
                target.words, limit, target.paper, target.written(before["value"]), f"`{name}`",
                f"**{value}** ({low} to {high})", target.written(chance), verdict(target, record),
            ]
        )  # fmt: skip
    heads = ("", "target", "paper", f"`{OURS}`", "champion", "held out", "chance", "verdict")
    return table(heads, rows)


def in_targets(data: Data) -> str:
    """Say in one sentence which targets are met and which are not."""
    judged = [(target, winner(data, target)[1]) for target in TARGETS]
    found = [(target, record, target.met(held_out(target, record)[0])) for target, record in judged]
    met = [target.words for target, _, good in found if good]
    missed = [
        f"{target.words} ({target.written(held_out(target, record)[0])}, where {target.limit:{form}} was the "
        "target)"
        for target, record, good in found
        if not good
        for form in (".0%" if target.share else "g",)
    ]
    text = f"{len(met)} of {counted(len(TARGETS), 'target')} are met on held-out trials"
    text += f": {listed(met)}" if met else ""
    return f"{text}. Not met: {listed(missed)}." if missed else f"{text}."


def records(data: Data) -> list[str]:
    """Return how each champion was found."""
    rows = []
    for entry in data["champions"]:
        record, held = entry["record"], entry["record"]["held_out"]
        rows.append(
            [
                f"`{entry['rule']['name']}`", record["prize"], f"`{record['command']}`", record["version"],
                f"{record['spent']:,} of {record['budget']:,}", f"{record['candidates']:,}",
                f"{record['finalists']:,}", f"{record['selected']:.2f}",
                f"{held['fitness']:.2f} ({held['low']:.2f} to {held['high']:.2f})", f"{held['trials']:,}",
            ]
        )  # fmt: skip
    heads = (
        "champion", "prize", "command", "Distal", "episodes spent", "measurements", "finalists", "selected",
        "held out", "trials",
    )  # fmt: skip
    return table(heads, rows, left=(1, 2))


# ------------------------------------------------------------------ what a larger budget would buy


def lowest_of(values: Sequence[float], count: int) -> float:
    """Return the mean of the lowest of so many values, over all ways to choose them."""
    ways = math.comb(len(values), count)
    return sum(
        value * math.comb(len(values) - place, count - 1) / ways
        for place, value in enumerate(sorted(values), start=1)
    )


def larger(data: Data) -> list[str]:
    """Say what more runs of each search bring, and what larger budgets brought where a target is missed."""
    counts = [1, 2, 4, 8, 16, 32]
    rows = []
    for entry in data["champions"]:
        record = entry["record"]
        runs = record["run_winners"]
        cells = [f"{lowest_of(runs, count):.2f}" if count <= len(runs) else "–" for count in counts]
        by = Measure.of(record["run_fitness"]).words
        rows.append([f"`{entry['rule']['name']}`", by, *cells, f"{min(runs):.2f} ({len(runs)})"])
    text = [
        "## What a larger budget would buy", "",
        "Runs of a search are independent, so what fewer of them would have found is known: the lowest re-measured "
        "fitness among so many winners, on average over all ways to choose them. It is the lowest of many, so it is "
        "optimistic. Afterwards the finalists of all runs are bred together, which the table does not show.", "",
        *table(("champion", "runs judged by", *(counted(count, "run") for count in counts), "all runs"), rows, left=(1,)),
    ]  # fmt: skip
    for target in TARGETS:
        name, record = winner(data, target)
        same = [one for one in data["by_budget"] if one["prize"] == record["prize"]]
        if not target.met(held_out(target, record)[0]) and len(same) > 1 and same[-1] == record:
            text += budgets(same, target, name)
    return text


def budgets(records: Sequence[Data], target: Target, name: str) -> list[str]:
    """Return what searches with several budgets came to, and whether more would reach a target."""
    found = [held_out(target, record) for record in records]
    rows = []
    for record, (value, low, high) in zip(records, found, strict=True):
        chance = record["held_out"]["chance_reached" if target.share else "chance"]
        rows.append(
            [
                f"{record['budget']:,}", f"{record['runs']}", f"{record['bred']:,}",
                f"{target.written(value)} ({target.written(low)} to {target.written(high)})", target.written(chance),
            ]
        )  # fmt: skip
    heads = ("budget, in episodes", "runs", "generations bred", "held out", "chance")
    (before, *_), (last, *ends) = found[-2:]
    more = records[-1]["budget"] / records[-2]["budget"]
    text = f"The last step, {more:g} times the episodes, changed it from {target.written(before)} to {target.written(last)}"
    flat = min(ends) <= before <= max(ends)
    text += (
        ", no more than noise: more of this search will not get there. It takes another idea, in the rule, the network "
        "or the search."
        if flat and not target.met(last)
        else "."
    )
    return [
        f"**{target.words[0].upper()}{target.words[1:]}**, by budget; one search each, with one seed. The "
        f"last is that of `{name}`.", "",
        *table(heads, rows),
        text, "",
    ]  # fmt: skip


# ------------------------------------------------------------------ what they do


def order(data: Data) -> list[str]:
    """Return the learners in the order of the tables."""
    return [PAPER, OURS, *champion_names(data), CLIMBER]


def called(name: str) -> str:
    """Return what a table calls a learner."""
    return label(name) if name == CLIMBER else f"`{name}`"


def interval(value: Data, form: str = ".2f") -> str:
    """Write a number with its interval."""
    middle, low, high = (f"{value[key]:{form}}" for key in ("value", "low", "high"))
    return f"{middle} ({low} to {high})"


def doing(data: Data) -> list[str]:
    """Return the table of what each learner does, with chance beside it."""
    rows = []
    for name in order(data):
        own, chance = (data["does"][name][who] for who in ("own", "chance"))
        rows.append(
            [
                called(name), interval(own["best"]), f"{chance['best']['value']:.2f}",
                interval(own["reached"], ".1%"), f"{chance['reached']['value']:.1%}", interval(own[LAST]),
                f"{chance[LAST]['value']:.2f}", interval(own["long"]["best"]),
                f"{chance['long']['best']['value']:.2f}",
            ]
        )  # fmt: skip
    size = data["size"]
    heads = (
        "learner", f"best EP of {size['short']}", "chance", "reached", "chance",
        f"mean EP, last {KEPT_LAST}", "chance", f"best EP of {size['long']:,}", "chance",
    )  # fmt: skip
    return table(heads, rows)


def keeping(data: Data) -> list[str]:
    """Return the table of how each learner explores and what it keeps."""
    rows = []
    for name in order(data):
        own, chance = (data["does"][name][who] for who in ("own", "chance"))
        rows.append(
            [
                called(name), interval(own["different"], ".1f"), f"{chance['different']['value']:.1f}",
                "–" if own["median_first"] is None else f"{own['median_first']:g}", percent(own["retained"]),
                percent(chance["retained"]), percent(own["again_at_once"]),
                *(percent(own["repeated"][after]) for after in ("goal", "no worse", "worse")),
            ]
        )  # fmt: skip
    heads = (
        "learner", "different EPs", "chance", "first success", "reached again", "chance", "at once",
        "same EP after the goal", "after no worse", "after worse",
    )  # fmt: skip
    return table(heads, rows)


def by_goal(data: Data) -> list[str]:
    """Return the table of the share of trials that reach each final position."""
    rows = [
        [called(name), *(f"{share:.0%}" for share in data["does"][name]["own"]["reached_by_goal"])]
        for name in order(data)
    ]
    by_chance = data["does"][OURS]["chance"]["reached_by_goal"]
    rows.append([f"chance of `{OURS}`", *(f"{share:.0%}" for share in by_chance)])
    return table(["reached", *(f"position {goal}" for goal in data["goals"])], rows)


def hard_goals(data: Data) -> str:
    """Say how champions do on the final positions that our best rule reaches in less than half of its trials."""
    ours = data["does"][OURS]["own"]["reached_by_goal"]
    hard = [k for k, share in enumerate(ours) if share < 0.5]
    if not hard:
        return f"`{OURS}` reaches every final position in at least half of its trials."

    def share(name: str) -> str:
        own = data["does"][name]["own"]
        reached = [own["reached_by_goal"][k] for k in hard]
        best = [own["best_where_reached"][k] for k in hard if own["best_where_reached"][k] is not None]
        with_ep = f" (best EP {sum(best) / len(best):.0f})" if best else ""
        return f"{sum(reached) / len(hard):.0%}{with_ep}"

    others = listed([f"`{name}` reaches them in {share(name)}" for name in champion_names(data)])
    where = listed([data["goals"][k] for k in hard])
    ways = [data["distances"][k] for k in hard]
    return (
        f"`{OURS}` reaches {'final position' if len(hard) == 1 else 'final positions'} {where} in less than half "
        f"of its trials: in {share(OURS)} of them. In as many episodes, {data['size']['short']}, {others}. In brackets "
        f"is the best EP of the trials that reach them, as a mean over the positions; the shortest ways take {min(ways):g} steps or more, and a "
        "detour over another final position costs 5 on top of its steps."
    )


# ------------------------------------------------------------------ sentences about one champion


def moves(data: Data, name: str) -> str:
    """Say how far an update moves the weights, and what that amounts to."""
    own, ours = (data["inside"][one]["movement"] for one in (name, OURS))
    goal, even, worse = (own[key]["mean"] for key in ("goal", "no worse", "worse"))
    parts = [
        f"{percent(goal)} of their length after an episode that reaches the goal "
        f"({counted(own['goal']['updates'], 'update')})",
        f"{percent(even)} after another that is no worse than the one before",
        f"{percent(worse)} after a worse one",
    ]
    text = (
        f"One update moves the weights by {listed(parts)}; those of `{OURS}` by "
        f"{listed([percent(ours[key]['mean']) for key in ('goal', 'no worse', 'worse')])}."
    )
    if None in (goal, even, worse):
        return f"**How far it moves.** {text}"
    if goal < _STILL * worse and even < worse:
        return f"**Win, stay; lose, shift.** {text}"
    known = sorted((goal, even, worse))
    if known[-1] < _ALIKE * known[0]:
        return f"**It walks on at one pace, whatever the outcome.** {text}"
    return f"**How far it moves.** {text}"


def turns(data: Data, name: str) -> str:
    """Say whether a champion takes back the step that made things worse."""
    cosine = data["inside"][name]["movement"]["worse"]["cosine"]
    if cosine is None:
        return "**No update says whether it goes back**: no episode was worse than the one before."
    if cosine < -_TURN:
        head = "It takes back a step that made things worse"
    elif cosine > _TURN:
        head = "It goes on in the same direction, even where that made things worse"
    else:
        head = "It does not take back a step that made things worse, nor go on with it"
    return (
        f"**{head}.** After a worse episode, the cosine between its update and the one before is "
        f"{signed(cosine)} on average: −1 would be the way back, +1 the same way again."
    )


def remembers(data: Data, name: str) -> str:
    """Say whether the network of a rule can remember anything within an episode."""
    scales = [data["rules"][name][number] for number in ("alpha_h", "alpha_o")]
    if any(scales):
        return (
            f"**Its networks have a memory.** α_h is {scales[0]:.3f} and α_o {scales[1]:.3f}: what they do depends on "
            "what they did before."
        )
    return (
        "**Its networks have no memory.** α_h and α_o are 0, so where the agent senses the same, it does the same: it "
        "turns the same way at every junction that it comes to from below. It gets to other final positions by walking on "
        "from one, and coming back to a junction from the side."
    )


def explores(data: Data, name: str) -> str:
    """Say how many different episodes a champion shows, beside the others."""
    does = data["does"]
    own, ours = (does[one]["own"]["different"] for one in (name, OURS))
    if own["low"] > ours["high"]:
        head = f"It tries more than `{OURS}`"
    elif own["high"] < ours["low"]:
        head = f"It tries less than `{OURS}`"
    else:
        head = f"It tries about as much as `{OURS}`"
    return (
        f"**{head}.** In {data['size']['short']} episodes it shows {interval(own, '.1f')} different EPs, "
        f"`{OURS}` {ours['value']:.1f}, `{PAPER}` {does[PAPER]['own']['different']['value']:.1f}, chance with its "
        f"own scales {does[name]['chance']['different']['value']:.1f}."
    )


def keeps(data: Data, name: str) -> str:
    """Say what becomes of a first success."""
    own, ours = (data["does"][one]["own"] for one in (name, OURS))
    if own["retained"] is None:
        return f"**No trial of {data['size']['short']} episodes says what it keeps**: none goes on after a success."
    head = "It keeps what it finds" if own["retained"] >= KEPT else "It does not keep what it finds"
    return (
        f"**{head}.** Of the episodes after a trial’s first success {percent(own['retained'])} reach the goal again, "
        f"and {percent(own['again_at_once'])} of those that follow a success at once (`{OURS}`: "
        f"{percent(ours['retained'])} and {percent(ours['again_at_once'])}).{_later(own)} It repeats its EP in "
        f"{percent(own['repeated']['goal'])} of the cases after reaching the goal, in "
        f"{percent(own['repeated']['no worse'])} after another episode that is no worse than the one before, in "
        f"{percent(own['repeated']['worse'])} after a worse one."
    )


def _later(own: Data) -> str:
    """Say how many trials reach the goal some episodes after their first success."""
    shares = own["after_success"]["share"]
    parts = [f"{percent(shares[n - 1])} {n} later" for n in (10, 50) if n <= len(shares)]
    return (
        f" Of the trials, {listed([f'{percent(shares[0])} do so one episode after the first success', *parts])}."
        if shares
        else ""
    )


def ends(data: Data, name: str) -> str:
    """Say whether the networks of a champion end up doing the same."""
    own, ours, chance = (
        found["same_end"]
        for found in (data["does"][name]["own"], data["does"][OURS]["own"], data["does"][name]["chance"])
    )
    head = "Its networks end alike" if own >= _ALL else "Its networks do not end alike"
    text = (
        f"**{head}.** Towards the same goal {percent(own)} of the trials have the same EP in their last episode, that "
        f"which is most frequent (`{OURS}` {percent(ours)}, chance {percent(chance)})."
    )
    if own < _ALL:
        return text
    eps = [f"{ep:g}" for ep in data["does"][name]["own"]["usual_end"]]
    return (
        f"{text} So the EP that they end with depends on the goal, and hardly on the weights that they began with: "
        f"{listed(eps)} for final positions {listed(data['goals'])}, where the shortest ways take "
        f"{listed([f'{way:g}' for way in data['distances']])}."
    )


def hears(data: Data, name: str) -> str:
    """Say what becomes of a rule whose m is turned round, or held still."""
    found = data["inside"][name]
    signals = found["signals"]
    corrected = dict(zip(signals, holm([one["p"] for one in signals.values()]), strict=True))
    lead = found["chance"]["value"] - found["fitness"]["value"]
    swapped = signals["swapped"]
    shown = corrected["swapped"] < SIGNIFICANT
    if shown and swapped["difference"] > 0:
        head = "It does worse with m turned round"
    elif shown:
        head = "It does better with m turned round"
    else:
        head = "It is not shown to care whether m is turned round"
    said = {
        what: difference(one) + ("" if corrected[what] < SIGNIFICANT else ", not shown")
        for what, one in signals.items()
    }
    lost = f", {swapped['difference'] / lead:.0%} of its lead of {lead:.2f} over chance" if lead > 0 else ""
    return (
        f"**{head}.** With m turned round, so that a worse episode counts as a better one, its "
        f"{measure_words(found)} changes by {said['swapped']}{lost}; the {measure_words(data['inside'][OURS])} of `{OURS}`, by "
        f"{difference(data['inside'][OURS]['signals']['swapped'])}. With m always +1 it changes by {said['always +1']}, "
        f"with m always −1 by {said['always −1']}; if nothing changes after an episode that was no worse, by "
        f"{said['no change after m = +1']}, if nothing changes after a worse one, by {said['no change after m = −1']}."
    )


def uses(data: Data, name: str) -> str:
    """Say which rows a rule uses and needs."""
    found, changes = data["inside"][name], data["rules"][name]["delta_w"]
    zeroed = [one for one in found["knockouts"] if one["change"] == 0]
    needed = sorted((one for one in zeroed if matters(one)), key=lambda one: -one["difference"])
    acting = sum(change != 0 for change in changes)
    rows = [f"row {one['row']} ({signed(one['difference'])})" for one in needed if one["difference"] > 0]
    used = 32 - len(found["unused"])
    what = listed(rows) if rows else "none of them is shown to cost anything"
    other = [
        one["row"] for one in found["knockouts"] if one["change"] and matters(one) and one["difference"] > 0
    ]
    apart = len({*other} - {one["row"] for one in needed})
    return (
        f"**It uses {used} of 32 rows, and needs {len(rows)} of the {acting} that change a weight.** Set to 0 one at a "
        f"time: {what}. {counted(apart, 'more row')} must not be given another change. After an episode that was no worse "
        f"(m = +1) {found['changed']['m = +1']:.0%} of the synapses change, after a worse one "
        f"{found['changed']['m = −1']:.0%}."
    )


def matters(one: Data) -> bool:
    """Say whether a knock-out is shown to do something, after Holm's correction."""
    return bool(one["corrected"] < SIGNIFICANT)


def measure_words(found: Data) -> str:
    """Say what a rule is measured by."""
    measure = Measure.of(found["measure"])
    episodes = f"{found['episodes']:,}"
    if measure.kind == MISSED:
        return f"{measure.words} in {episodes} episodes"
    return (
        f"best EP of {episodes} episodes" if measure.kind == BEST else f"{measure.words[:-9]} of {episodes}"
    )


def difference(one: Data) -> str:
    """Write what a change does, with its interval."""
    return f"{signed(one['difference'])} ({signed(one['low'])} to {signed(one['high'])})"


def row_words(row: int, change: int) -> str:
    """Say what a row does: to which synapses, and when."""
    states = [state for state, bit in zip(_STATES, f"{row // 2:04b}", strict=True) if bit == "1"]
    act = {1: "strengthens", -1: "weakens", 0: "leaves alone"}[change]
    saw = f"that saw {listed(states)}" if states else "that saw no state often"
    return f"{act} synapses {saw}, after an episode that was {'no worse' if row % 2 else 'worse'}"


def row_table(data: Data, name: str) -> list[str]:
    """Return the rows that matter most, with what they do."""
    found, changes = data["inside"][name], data["rules"][name]["delta_w"]
    by_row: dict[int, list[Data]] = {}
    for one in found["knockouts"]:
        by_row.setdefault(one["row"], []).append(one)
    ranked = sorted(by_row, key=lambda row: -max(one["difference"] for one in by_row[row]))
    rows = []
    for row in [row for row in ranked if any(map(matters, by_row[row]))][:_SHOWN]:
        cells = {one["change"]: _cell(one) for one in by_row[row]}
        rows.append(
            [
                str(row), f"{row // 2:04b}", "+1" if row % 2 else "−1", change_words(changes[row]),
                f"{found['use'][row]:.1%}", *(cells.get(change, "·") for change in (-1, 0, 1)),
                row_words(row, changes[row]),
            ]
        )  # fmt: skip
    if not rows:
        return ["No single change of a row is shown to do anything.", ""]
    heads = ("row", "bits", "m", "Δw", "use", "set to −1", "0", "+1", "what it does")
    return table(heads, rows, left=(8,))


def _cell(one: Data) -> str:
    text = f"{signed(one['difference'])} ± {(one['high'] - one['low']) / 2:.2f}"
    return f"**{text}**" if matters(one) else text


def number_table(data: Data) -> list[str]:
    """Return the four numbers of every rule, and what other values do."""
    rows = []
    for name, found in data["inside"].items():
        p = iter(holm([one["p"] for one in found["numbers"]]))
        tried = [{**one, "corrected": next(p)} for one in found["numbers"]]
        for number in NUMBERS:
            own = data["rules"][name][number]
            cells = {one["value"]: _cell(one) for one in tried if one["name"] == number}
            values = (0.0, own / 2, min(1.0, 2 * own))
            rows.append(
                [f"`{name}`", _LETTERS[number], f"{own:.4f}", *(cells.get(one, "·") for one in values)]
            )
    return table(("rule", "", "value", "0 instead", "half", "twice, at most 1"), rows)


def agreement(data: Data, entry: Data) -> str:
    """Say whether the trials of this page give what the record says of held-out trials."""
    record, own = entry["record"], data["does"][entry["rule"]["name"]]["own"]
    measure = Measure.of(record["fitness"])
    long = record["episodes"] > Size.short
    if record["episodes"] not in (Size.short, Size.long):
        return ""
    if measure.kind == MISSED and not long:
        value, low, high = (100 - 100 * own["reached"][key] for key in ("value", "high", "low"))
        here = {"value": value, "low": low, "high": high}
    elif str(measure) in (BEST, f"{LAST}:{KEPT_LAST}"):
        here = own["long"]["best"] if long else own[measure.kind]
    else:
        return ""
    held = record["held_out"]
    error = ((here["high"] - here["low"]) ** 2 / 3.92**2 + held["standard_error"] ** 2) ** 0.5
    apart = abs(here["value"] - held["fitness"])
    agree = (
        "the two agree" if apart <= 3.3 * error else "**the two differ by more than their errors explain**"
    )
    return f" Held out, its record says {held['fitness']:.2f}; on this page’s trials it is {interval(here)}: {agree}."


def portrait(data: Data, entry: Data) -> list[str]:
    """Return the section about one champion."""
    name, found = entry["rule"]["name"], data["inside"][entry["rule"]["name"]]
    shorter = found["episodes"] < entry["record"]["episodes"]
    note = (
        f" Its rows are judged in {found['episodes']:,} episodes, because there are many of them."
        if shorter
        else ""
    )
    stem = name.replace(":", "_")
    return [
        f"### {name}: {prize_words(entry['record'])}", "",
        f"On the {found['trials']:,} trials of this section its {measure_words(found)} is "
        f"{interval(found['fitness'])}, chance {found['chance']['value']:.2f}.{note}{agreement(data, entry)}", "",
        *(f"- {say(data, name)}" for say in (remembers, moves, turns, explores, keeps, ends, hears, uses)), "",
        f"![Share of the updates that select each row of {name}, and what other changes of the row do]"
        f"(figures/{stem}_rows.svg)", "",
        *row_table(data, name),
    ]  # fmt: skip


# ------------------------------------------------------------------ elsewhere


def counted_places(rows: Sequence[Data], test: str) -> str:
    """Say in how many places a champion is better, and where it is not."""
    better: list[str] = []
    worse: list[str] = []
    unknown: list[str] = []
    for row in rows:
        one = row[test]
        group = unknown if one["corrected"] >= SIGNIFICANT else better if one["value"] < 0 else worse
        group.append(place_words(row, rows[0]["episodes"]))
    text = f"in {len(better)} of {len(rows)}"
    rest = [
        f"{word} {listed(group)}"
        for word, group in (("not shown with", unknown), ("worse with", worse))
        if group
    ]
    return f"{text} ({'; '.join(rest)})" if rest else text


def place_words(row: Data, episodes: int) -> str:
    """Return the name of a row: what differs in it."""
    return str(row["place"]) if row["episodes"] == episodes else f"{row['episodes']:,} episodes"


def abroad(data: Data, name: str) -> list[str]:
    """Return the section about one champion in other places."""
    rows, found = data["elsewhere"][name], data["inside"][name]
    cells = [
        [
            place_words(row, rows[0]["episodes"]), f"{row['trials']:,}", interval(row["own"]),
            interval(row["chance"]), interval(row["climber"]), _gap(row["minus_chance"]),
            _gap(row["minus_climber"]), f"{row['perfect']:g}",
        ]
        for row in rows
    ]  # fmt: skip
    heads = (
        "what differs", "trials", f"`{name}`", "chance", "hill climbing", "minus chance",
        "minus hill climbing", "shortest way",
    )  # fmt: skip
    return [
        f"**`{name}`**, by its {measure_words(found)} unless the row says otherwise, beats chance "
        f"{counted_places(rows, 'minus_chance')} and hill climbing {counted_places(rows, 'minus_climber')}.", "",
        *table(heads, cells),
    ]  # fmt: skip


def _gap(one: Data) -> str:
    text = f"{signed(one['value'])} ({signed(one['low'])} to {signed(one['high'])})"
    return f"**{text}**" if one["corrected"] < SIGNIFICANT else text


# ------------------------------------------------------------------ the page


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = ()) -> list[str]:
    """Return a Markdown table and the empty line after it; the first column is to the left, and `left` are."""
    lines = ("---" if k in (0, *left) else "---:" for k in range(len(heads)))
    return [table_row(heads), f"|{'|'.join(lines)}|", *map(table_row, rows), ""]


def command(data: Data) -> str:
    """Return the command that wrote the page."""
    size = data["size"]
    numbers = {"main": "main", "trials": "trials", "long-trials": "long_trials"}
    options = " ".join(f"--{option} {size[field]}" for option, field in numbers.items())
    return f"python docs/make_champions.py {options} --seed {data['seed']} --engine {data['engine']}"


def in_short(data: Data) -> list[str]:
    """Return what the page comes to, a line for each thing."""
    lines = [f"- **Targets.** {in_targets(data)}"]
    for entry in data["champions"]:
        name = entry["rule"]["name"]
        heads = [
            say(data, name).split("**")[1].rstrip(".")
            for say in (remembers, moves, explores, keeps, ends, hears)
        ]
        heads = [head for head in heads if head not in ("How far it moves", "Its networks have a memory")]
        lines.append(f"- **`{name}`**, prize “{entry['record']['prize']}”. {'. '.join(heads)}.")
    return [*lines, ""]


def page(data: Data) -> str:
    """Return docs/champions.md."""
    size = data["size"]
    text = [
        "# Champions", "",
        f"Written by `{command(data)}` (Distal {data['distal']}) on "
        f"{made_on(data['machine'], {'all': data['seconds']})}. `champions.json`, beside this page, holds all numbers.", "",
        "A champion is the best rule that a large search found for one prize. `distal champions` searches: its record "
        "says how much was spent, how often candidates were measured, and what the champion did on held-out trials, "
        "which no search and no choice had seen. The champions come with the package, as `champion:1` and so on; "
        "every command that takes a rule takes them.", "",
        "```sh", "distal rules champion:1", "distal learn champion:1 --trials 1", "```", "",
        "Lower EP is better. Intervals are 95 %: Student’s for means, Wilson’s for shares. Chance is fresh random "
        "weights in every episode, in the same trials and with the rule’s own scales α. All learners of this page "
        "run the same trials, so differences are paired; p-values are of the paired t-test, corrected by Holm’s "
        f"method within each table, and a difference counts as shown where p is below {SIGNIFICANT}.", "",
        "## In short", "", *in_short(data),
        "## The prizes", "",
        f"{in_targets(data)} The champions and their chance are measured on held-out trials; `{OURS}`, the best rule of "
        f"our reproduction of the paper, in the {size['main']:,} and {size['long_trials']:,} trials of this page. The "
        "paper’s numbers are those that it reports; its first is the mean of fifteen winners, the others are its best rule’s.", "",
        *prizes(data),
        "How they were found. *Selected* is the value that made a rule the champion, so it is optimistic; *held out* "
        "was measured once, afterwards.", "",
        *records(data),
        *larger(data),
        "## What they do", "",
        f"In {size['main']:,} trials of {size['short']} episodes, and {size['long_trials']:,} of {size['long']:,}, none of "
        "which any search has seen:", "",
        *doing(data),
        "![Best EP so far, EP of the episode, and share of trials that reach the goal, over the episodes of a trial]"
        "(figures/champions_episodes.svg)", "",
        f"Chance in this figure and the next has the scales of `{OURS}`.", "",
        f"*Different EPs* counts how many different outcomes a trial of {size['short']} episodes shows. *Reached again* "
        "is the share of the episodes after a trial’s first success (the median of those that have one) that reach the goal, *at once* of those that follow "
        "a success directly. *Same EP* is how often an episode has the EP of the one before: after one that reached the "
        "goal, after another that was no worse than the one before it, after a worse one.", "",
        *keeping(data),
        "![Share of trials that reach the goal again after the first success, and best EP over many episodes]"
        "(figures/champions_later.svg)", "",
        hard_goals(data), "",
        *by_goal(data),
        "## What is inside", "",
        "Each rule is judged by its own measure. A row is given other changes, m is turned round or held still, and "
        f"the difference to the rule itself is measured in the same trials. How far weights move is measured in "
        f"{counted(size['moved'], 'trial')} of {size['short']} episodes. In the tables of rows a synapse *saw* a state if its two "
        f"neurons were in it in more than θ of the steps; the {_SHOWN} rows with the most to lose are shown, and bold "
        "differences hold after correction.", "",
    ]  # fmt: skip
    for entry in data["champions"]:
        text += portrait(data, entry)
    text += [
        "### The four numbers",
        "",
        "What other values of a rule’s numbers do to its measure:",
        "",
        *number_table(data),
    ]
    text += [
        "## Elsewhere", "",
        "The champions were found for the paper’s maze, 20 hidden binary neurons and our readings. Here one thing differs "
        "at a time. Mazes of other sizes have as many steps as keep the paper’s ratio to the shortest way. Hill climbing "
        f"is `{CLIMBER}`, the best of those that we evolved for the paper’s maze.", "",
        "![Each champion minus chance and minus hill climbing, place by place](figures/champions_elsewhere.svg)", "",
    ]  # fmt: skip
    for name in champion_names(data):
        text += abroad(data, name)
    text += [
        "## What was run", "",
        f"Seed {data['seed']}, engine {data['engine']}. All trials come from part (0, 0, {CHAMPIONS}) of the seed, which "
        f"nothing else uses: {size['main']:,} trials that show what learners do, {size['trials']:,} in every other cell of "
        f"{size['short']} episodes, {size['long_trials']:,} in longer ones, rounded up to as many for each final position. "
        "The page, the figures and the part about champions in the README are written from `champions.json`, "
        "without another trial, by `python docs/make_champions.py --page`.",
    ]  # fmt: skip
    return "\n".join(text) + "\n"


def readme(data: Data) -> str:
    """Return the README's part about champions, its marks included."""
    size, rows = data["size"], []
    names = {PAPER: f"the paper’s best rule, `{PAPER}`", OURS: f"the best of our reproduction, `{OURS}`"}
    names |= {
        entry["rule"]["name"]: f"**`{entry['rule']['name']}`**, prize “{entry['record']['prize']}”"
        for entry in data["champions"]
    }
    names[CLIMBER] = label(CLIMBER)
    rows = [_readme_row(words, data["does"][name]["own"]) for name, words in names.items()]
    rows.append(_readme_row(f"chance, with the scales of `{OURS}`", data["does"][OURS]["chance"]))
    heads = (
        "", f"best EP of {size['short']}", "reached", f"mean EP of the last {KEPT_LAST}", f"best EP of {size['long']:,}",
    )  # fmt: skip
    aims = {entry["record"]["prize"]: prize_words(entry["record"]) for entry in data["champions"]}
    text = [
        "## Champions", "",
        f"`distal champions` searches with far more episodes than an evolution of the paper has, for one prize at a time: "
        f"{listed([f'“{prize}” is {words}' for prize, words in aims.items()])}. What the champions do, in the same "
        f"{size['main']:,} trials as the others ({size['long_trials']:,} of {size['long']:,} episodes):", "",
        *table(heads, rows),
        f"{in_targets(data)} How each was found, what it does that other rules do not, and how it does in other mazes and "
        "networks: [docs/champions.md](docs/champions.md).", "",
        "```sh", "distal rules champion:1", "distal learn champion:1 --trials 1", "```", "",
    ]  # fmt: skip
    return f"{BEGIN}{chr(10).join(text)}{END}"


def prize_words(record: Data) -> str:
    """Say what a prize is for."""
    return f"the lowest {Measure.of(record['fitness']).words} in {record['episodes']:,} episodes"


def _readme_row(name: str, found: Data) -> list[str]:
    return [
        name, f"{found['best']['value']:.2f}", f"{found['reached']['value']:.0%}", f"{found[LAST]['value']:.2f}",
        f"{found['long']['best']['value']:.2f}",
    ]  # fmt: skip
