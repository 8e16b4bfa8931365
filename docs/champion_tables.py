"""The page of docs/champions-tables.md: tables and figures of the kept numbers, and their captions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import champion_figures
from champion_numbers import CHAMPIONS, CLIMBER, KEPT_LAST, OURS, PAPER, SIGNALS

from distal.base.checks import counted
from distal.base.drawing import signed as change_words
from distal.base.significance import SIGNIFICANT, holm
from distal.evaluation.measures import LAST, Measure
from distal.learners.dsp import NUMBERS
from distal.studies import report
from distal.studies.intervals import Interval
from distal.studies.report import Block, Heading, Sheet, Text, made_on, percent, signed

TITLE = "Champions: the tables"
_SHOWN = 8  # rows of a rule in a table
_STATES = ("both silent", "receiver alone", "sender alone", "both active")

Data = dict[str, Any]


def blocks(data: Data) -> list[Block]:
    """Return what the page holds."""
    size, drawn = data["size"], champion_figures.figures(data)
    names = champion_figures.champion_names(data)
    command = (
        f"python docs/make_champions.py --main {size['main']} --trials {size['trials']} --long-trials "
        f"{size['long_trials']} --seed {data['seed']} --engine {data['engine']}"
    )
    return [
        Text(
            f"Written by `{command}` (Distal {data['distal']}; {made_on(data['machine'], {'all': data['seconds']})}) from "
            "`champions.json`. [Champions](champions.md) explains the numbers."
        ),
        Text(
            "Lower EP is better. Intervals are 95%: Student’s for means, Wilson’s for shares. Chance draws fresh random "
            "weights in every episode, in the same trials and with the rule’s own scales α. All learners run the same "
            "trials, so differences are paired; p-values come from the paired t-test and are corrected by Holm’s method "
            f"for all comparisons of a rule in a table. Differences with a corrected p below {SIGNIFICANT} are bold. "
            f"All trials come from part (0, 0, {CHAMPIONS}) of seed {data['seed']}, which nothing else uses: {size['main']:,} "
            f"for the tables of behaviour, {size['trials']:,} in every other cell of {size['short']} episodes, "
            f"{size['long_trials']:,} in cells of longer trials, rounded up to the same number for each final position."
        ),
        Heading("How they were found"), _records(data), _by_runs(data), _by_budget(data),
        Heading("Behaviour"), _doing(data), _keeping(data), _by_goal(data),
        drawn["champions_episodes"], drawn["champions_later"],
        Heading("Inside the rules"), _movement(data), _signals(data), _numbers(data),
        *(one for name in names for one in (_rows(data, name), drawn[f"{name.replace(':', '_')}_rows"])),
        Heading("In other mazes, networks and readings"), drawn["champions_elsewhere"], *(_elsewhere(data, name) for name in names),
    ]  # fmt: skip


def _called(name: str) -> str:
    return champion_figures.label(name) if name == CLIMBER else f"`{name}`"


def _interval(value: Data) -> str:
    return report.mean(Interval.from_dict(value))


def _share(value: Data) -> str:
    return report.share(Interval.from_dict(value))


def _change(one: Data, value: str = "difference") -> str:
    """Write a difference with its interval, bold if it is shown."""
    text = report.mean(Interval(one[value], one["low"], one["high"]), sign=True)
    return f"**{text}**" if one["corrected"] < SIGNIFICANT else text


def _short(one: Data) -> str:
    """Write a difference and half its interval, bold if it is shown."""
    text = f"{signed(one['difference'])} ± {(one['high'] - one['low']) / 2:.2f}"
    return f"**{text}**" if one["corrected"] < SIGNIFICANT else text


def _corrected(tests: Sequence[Data]) -> list[Data]:
    return [
        {**one, "corrected": p} for one, p in zip(tests, holm([test["p"] for test in tests]), strict=True)
    ]


def _judged(found: Data) -> str:
    return f"{Measure.of(found['measure']).words}, trials of {found['episodes']:,} episodes"


# ------------------------------------------------------------------ how they were found


def _held_out(record: Data) -> list[str]:
    held = record["held_out"]
    mean = report.mean(Interval(held["fitness"], held["low"], held["high"]))
    return [mean, f"{held['chance']:.2f}", percent(held["reached"]), percent(held["chance_reached"])]


def _records(data: Data) -> Sheet:
    rows = []
    for entry in data["champions"]:
        record = entry["record"]
        rows.append([
            f"`{entry['rule']['name']}`", record["prize"], f"`{record['command']}`", record["version"],
            f"{record['spent']:,} of {record['budget']:,}", f"{record['candidates']:,}",
            f"{record['finalists']:,}", f"{record['selected']:.2f}", *_held_out(record),
            f"{record['held_out']['trials']:,}",
        ])  # fmt: skip
    columns = (
        "champion", "prize", "command", "Distal", "episodes spent", "measurements", "finalists", "selected",
        "held out", "chance", "reached", "chance", "trials",
    )  # fmt: skip
    caption = (
        "*Selected* is the value that made a rule the champion, so it is optimistic; *held out* was measured once, "
        "afterwards, on trials that no search and no choice had seen."
    )
    return Sheet("The records", caption, columns, rows)


def _by_runs(data: Data) -> Sheet:
    counts, rows = (1, 2, 4, 8, 16, 32), []
    for entry in data["champions"]:
        found = entry["record"]["run_winners"]
        cells = [f"{lowest_of(found, count):.2f}" if count <= len(found) else "–" for count in counts]
        by = Measure.of(entry["record"]["run_fitness"]).words
        rows.append([f"`{entry['rule']['name']}`", by, *cells, f"{min(found):.2f} ({len(found)})"])
    columns = ("champion", "runs judged by", *(counted(count, "run") for count in counts), "all runs")
    caption = (
        "The lowest re-measured fitness among the winners of a number of runs, on average over all ways to choose "
        "them. It is the lowest of many, so it is optimistic. Finalists are bred together afterwards, which this "
        "table does not show."
    )
    return Sheet("The best of several runs", caption, columns, rows)


def lowest_of(values: Sequence[float], count: int) -> float:
    """Return the mean of the lowest of so many values, over all ways to choose them."""
    ways = math.comb(len(values), count)
    return sum(
        value * math.comb(len(values) - place, count - 1) / ways
        for place, value in enumerate(sorted(values), start=1)
    )


def _by_budget(data: Data) -> Sheet:
    records = sorted(data["by_budget"], key=lambda one: (one["prize"], one["budget"]))
    rows = [
        [one["prize"], f"{one['budget']:,}", f"{one['runs']}", f"{one['bred']:,}", *_held_out(one)]
        for one in records
    ]
    columns = ("prize", "budget", "runs", "generations bred", "held out", "chance", "reached", "chance")
    caption = "One search with each budget, in episodes; the searches of the champions are among them."
    return Sheet("By budget", caption, columns, rows)


# ------------------------------------------------------------------ what they do

# A column: its heading, and the cell of what a learner does and what chance does beside it.
Column = tuple[str, Callable[[Data, Data], str]]


def _of_learners(data: Data, title: str, caption: str, columns: Sequence[Column]) -> Sheet:
    rows = []
    for name in (PAPER, OURS, *champion_figures.champion_names(data), CLIMBER):
        own, chance = (data["does"][name][who] for who in ("own", "chance"))
        rows.append([_called(name), *(cell(own, chance) for _, cell in columns)])
    return Sheet(title, caption, ("learner", *(heading for heading, _ in columns)), rows)


def _doing(data: Data) -> Sheet:
    size = data["size"]
    caption = (
        f"{size['main']:,} trials of {size['short']} episodes, and {size['long_trials']:,} of {size['long']:,} episodes, which no "
        "search has seen."
    )
    return _of_learners(data, "How well", caption, [
        (f"best EP of {size['short']}", lambda own, _: _interval(own["best"])),
        ("chance", lambda _, chance: f"{chance['best']['value']:.2f}"),
        ("reached", lambda own, _: _share(own["reached"])),
        ("chance", lambda _, chance: percent(chance["reached"]["value"])),
        (f"mean EP, last {KEPT_LAST}", lambda own, _: _interval(own[LAST])),
        ("chance", lambda _, chance: f"{chance[LAST]['value']:.2f}"),
        (f"best EP of {size['long']:,}", lambda own, _: _interval(own["long"]["best"])),
        ("chance", lambda _, chance: f"{chance['long']['best']['value']:.2f}"),
    ])  # fmt: skip


def _keeping(data: Data) -> Sheet:
    caption = (
        "*Different EPs* is the number of different outcomes in a trial. *Reached again* is the share of the episodes after a "
        "trial’s first success that reach the goal (the median of the trials that have one), *at once* the share of the "
        "episodes that follow a success directly. *Same end* is the share of the trials towards one goal that end with the "
        "most frequent EP."
    )
    return _of_learners(data, "Retention", caption, [
        ("different EPs", lambda own, _: _interval(own["different"])),
        ("chance", lambda _, chance: f"{chance['different']['value']:.1f}"),
        ("first success", lambda own, _: "–" if own["median_first"] is None else f"{own['median_first']:g}"),
        ("reached again", lambda own, _: percent(own["retained"])),
        ("chance", lambda _, chance: percent(chance["retained"])),
        ("at once", lambda own, _: percent(own["again_at_once"])),
        ("same end", lambda own, _: percent(own["same_end"])),
        ("chance", lambda _, chance: percent(chance["same_end"])),
    ])  # fmt: skip


def _by_goal(data: Data) -> Sheet:
    def reached(goal: int) -> Column:
        return f"position {data['goals'][goal]}", lambda own, _: f"{own['reached_by_goal'][goal]:.0%}"

    def usual(goal: int) -> Column:
        return f"end {data['goals'][goal]}", lambda own, _: f"{own['usual_end'][goal]:g}"

    ways = ", ".join(f"{way:g}" for way in data["distances"])
    caption = f"*End*: the most frequent EP of the last episode. The shortest paths: {ways} steps."
    goals = range(len(data["goals"]))
    columns = [*map(reached, goals), *map(usual, goals)]
    return _of_learners(data, "Trials that reach the goal, by final position", caption, columns)


# ------------------------------------------------------------------ what is inside


def _movement(data: Data) -> Sheet:
    after = {"goal": "after a success", "no worse": "after no worse", "worse": "after worse"}
    rows = []
    for name, found in data["inside"].items():
        moved, cosine = found["movement"], found["movement"]["worse"]["cosine"]
        means = (percent(moved[key]["mean"]) for key in after)
        used = f"{32 - len(found['unused'])}"
        rows.append([f"`{name}`", *means, "–" if cosine is None else signed(cosine), used])
    caption = (
        "The size of one update of the weights, as a share of their length, and the cosine of its angle to the update before it: "
        "1 means the same direction, −1 the opposite one. "
        f"{counted(data['size']['moved'], 'trial')} of {data['size']['short']} episodes."
    )
    columns = ("rule", *after.values(), "cosine after worse", "rows used")
    return Sheet("The size of an update", caption, columns, rows)


def _signals(data: Data) -> Sheet:
    rows = []
    for name, found in data["inside"].items():
        signals = _corrected([found["signals"][one] for one in SIGNALS])
        own = [f"{found[one]['value']:.2f}" for one in ("fitness", "chance")]
        rows.append([f"`{name}`", _judged(found), *own, *map(_change, signals)])
    columns = ("rule", "measure", "fitness", "chance", *SIGNALS)
    caption = "The difference from the rule itself, by its own measure, if it hears another m, or if one half of its updates is left out."
    return Sheet("Another m", caption, columns, rows)


def _numbers(data: Data) -> Sheet:
    rows = []
    for name, found in data["inside"].items():
        tried = _corrected(found["numbers"])
        for number in NUMBERS:
            own = data["rules"][name][number]
            cells = {one["value"]: _short(one) for one in tried if one["name"] == number}
            values = (0.0, own / 2, min(1.0, 2 * own))
            rows.append([f"`{name}` {number}", f"{own:.4f}", *(cells.get(one, "·") for one in values)])
    columns = ("number", "value", "0 instead", "half", "twice, at most 1")
    caption = "The difference from the rule itself, if one of its numbers has another value."
    return Sheet("Other numbers", caption, columns, rows)


def _rows(data: Data, name: str) -> Sheet:
    """Return the rows that matter most, with what they do."""
    found, changes = data["inside"][name], data["rules"][name]["delta_w"]
    by_row: dict[int, list[Data]] = {}
    for one in found["knockouts"]:
        by_row.setdefault(one["row"], []).append(one)
    ranked = sorted(by_row, key=lambda row: -max(one["difference"] for one in by_row[row]))
    rows = []
    for row in ranked[:_SHOWN]:
        cells = {one["change"]: _short(one) for one in by_row[row]}
        states = [state for state, bit in zip(_STATES, f"{row // 2:04b}", strict=True) if bit == "1"]
        rows.append([
            str(row), f"{row // 2:04b}", "+1" if row % 2 else "−1", change_words(changes[row]),
            percent(found["use"][row]), *(cells.get(change, "·") for change in (-1, 0, 1)),
            ", ".join(states) or "none",
        ])  # fmt: skip
    columns = ("row", "bits", "m", "Δw", "use", "set to −1", "0", "+1", "states seen")
    caption = (
        f"The {_SHOWN} rows in which another change costs most. A synapse saw a state if its two neurons "
        "were in it in more than θ of the steps."
    )
    return Sheet(f"Rows of {name}", caption, columns, rows)


# ------------------------------------------------------------------ elsewhere


def _elsewhere(data: Data, name: str) -> Sheet:
    rows, usual = [], data["elsewhere"][name][0]["episodes"]
    for one in data["elsewhere"][name]:
        means = (_interval(one[whose]) for whose in ("own", "chance", "climber"))
        gaps = (_change(one[test], "value") for test in ("minus_chance", "minus_climber"))
        place = one["place"] if one["episodes"] == usual else f"{one['episodes']:,} episodes"
        rows.append([place, f"{one['trials']:,}", *means, *gaps, f"{one['perfect']:g}"])
    columns = (
        "place", "trials", name, "chance", "hill climbing", "minus chance", "minus hill climbing",
        "shortest path",
    )  # fmt: skip
    caption = (
        f"Measured by the {_judged(data['inside'][name])}. One thing differs at a time. In mazes of other "
        f"sizes, the number of steps keeps the paper’s ratio to the shortest path. Hill climbing is `{CLIMBER}`, the best climber "
        "that we evolved for the paper’s maze."
    )
    return Sheet(f"{name} elsewhere", caption, columns, rows)
