"""The tables of docs/champions-tables.md, made of the kept numbers; docs/champions.md says what they mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from champion_figures import champion_names, label
from champion_numbers import CHAMPIONS, CLIMBER, KEPT_LAST, OURS, PAPER, SIGNALS

from distal.base.checks import counted
from distal.base.drawing import signed as change_words
from distal.base.significance import SIGNIFICANT, holm
from distal.evaluation.measures import LAST, Measure
from distal.learners.dsp import NUMBERS
from distal.studies.wording import listed, made_on, percent, signed, table_row

_LETTERS = dict(zip(NUMBERS, ("η", "θ", "α_h", "α_o"), strict=True))
_STATES = ("both silent", "the receiver active alone", "the sender active alone", "both active")
_SHOWN = 8  # rows of a rule in a table

Data = dict[str, Any]


def page(data: Data) -> str:
    """Return the page: tables, figures and captions."""
    size = data["size"]
    command = (
        f"python docs/make_champions.py --main {size['main']} --trials {size['trials']} --long-trials "
        f"{size['long_trials']} --seed {data['seed']} --engine {data['engine']}"
    )
    text = [
        "# Champions: the tables", "",
        f"Written by `{command}` (Distal {data['distal']}) on {made_on(data['machine'], {'all': data['seconds']})}, "
        "from `champions.json`, beside this page. [Champions](champions.md) says what the numbers mean.", "",
        "Lower EP is better. Intervals are 95 %: Student’s for means, Wilson’s for shares. Chance draws fresh random "
        "weights in every episode, in the same trials and with the rule’s own scales α. All learners run the same "
        "trials, so differences are paired; p-values come from the paired t-test and are corrected by Holm’s method "
        f"for all comparisons of a rule in a table. Differences with a corrected p below {SIGNIFICANT} are bold.", "",
        "## How they were found", "",
        "*Selected* is the value that made a rule the champion, so it is optimistic; *held out* was measured once, "
        "afterwards, on trials that no search and no choice had seen.", "",
        *_records(data),
        "The lowest re-measured fitness among the winners of a number of runs, on average over all ways to choose "
        "them. It is the lowest of many, so it is optimistic. Finalists are bred together afterwards, which this "
        "table does not show.", "",
        *_by_runs(data),
        "Searches with other budgets, one with each, beside those of the champions:", "",
        *_by_budget(data),
        "## What they do", "",
        f"{size['main']:,} trials of {size['short']} episodes, and {size['long_trials']:,} of {size['long']:,}; no "
        "search has seen them.", "",
        *_doing(data),
        "*Different EPs* is the number of different outcomes in a trial. *Reached again* is the share of the episodes "
        "after a trial’s first success that reach the goal (the median of the trials that have one), *at once* the "
        "share of the episodes that follow a success directly. *Same EP* is how often an episode has the EP of the "
        "one before: after one that reached the goal, after another that was no worse than the one before it, and "
        "after a worse one. *Same end* is the share of the trials towards one goal that end with the most frequent EP.", "",
        *_keeping(data),
        "Trials that reach the goal, by final position:", "",
        *_by_goal(data),
        "## What is inside", "",
        "One update of the weights, as a share of their length, and the cosine of the angle to the update before it: "
        f"1 goes on in the same direction, −1 goes back. {counted(size['moved'], 'trial')} of {size['short']} episodes.", "",
        *_movement(data),
        "The difference to the rule itself, by its own measure, if it hears another m or does not act on one:", "",
        *_signals(data),
        "The same, if one of its numbers has another value:", "",
        *_numbers(data),
        f"And if a row has another change. A synapse *saw* a state if its two neurons were in it in more than θ of "
        f"the steps. The {_SHOWN} rows with the most to lose are shown.", "",
    ]  # fmt: skip
    for name in champion_names(data):
        stem = name.replace(":", "_")
        text += [
            f"### Rows of {name}", "",
            f"![Share of the updates that select each row of {name}, and the effect of other changes]"
            f"(figures/{stem}_rows.svg)", "",
            *_rows(data, name),
        ]  # fmt: skip
    text += [
        "## Elsewhere", "",
        "One thing differs at a time. Mazes of other sizes have as many steps as keep the paper’s ratio to the "
        f"shortest way. Hill climbing is `{CLIMBER}`, the best of those that we evolved for the paper’s maze.", "",
    ]  # fmt: skip
    for name in champion_names(data):
        text += [f"### {name} elsewhere", "", f"Measured by the {_judged(data['inside'][name])}.", ""]
        text += _elsewhere(data, name)
    text += [
        "## The trials", "",
        f"All trials come from part (0, 0, {CHAMPIONS}) of seed {data['seed']}, which nothing else uses: {size['main']:,} that "
        f"show what learners do, {size['trials']:,} in every other cell of {size['short']} episodes, {size['long_trials']:,} in "
        "longer ones, rounded up to as many for each final position.",
    ]  # fmt: skip
    return "\n".join(text) + "\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = ()) -> list[str]:
    """Return a Markdown table and the empty line after it; the first column and `left` are to the left."""
    lines = ("---" if k in (0, *left) else "---:" for k in range(len(heads)))
    return [table_row(heads), f"|{'|'.join(lines)}|", *map(table_row, rows), ""]


def _called(name: str) -> str:
    return label(name) if name == CLIMBER else f"`{name}`"


def _order(data: Data) -> list[str]:
    return [PAPER, OURS, *champion_names(data), CLIMBER]


def _interval(value: Data, form: str = ".2f") -> str:
    middle, low, high = (f"{value[key]:{form}}".replace("-", "−") for key in ("value", "low", "high"))
    return f"{middle} ({low} to {high})"


def _change(one: Data, corrected: float, value: str = "difference") -> str:
    """Write a difference with its interval, bold if it is shown."""
    text = f"{signed(one[value])} ({signed(one['low'])} to {signed(one['high'])})"
    return f"**{text}**" if corrected < SIGNIFICANT else text


def _judged(found: Data) -> str:
    return f"{Measure.of(found['measure']).words}, trials of {found['episodes']:,} episodes"


# ------------------------------------------------------------------ how they were found


def _records(data: Data) -> list[str]:
    rows = []
    for entry in data["champions"]:
        record, held = entry["record"], entry["record"]["held_out"]
        rows.append(
            [
                f"`{entry['rule']['name']}`", record["prize"], f"`{record['command']}`", record["version"],
                f"{record['spent']:,} of {record['budget']:,}", f"{record['candidates']:,}",
                f"{record['finalists']:,}", f"{record['selected']:.2f}",
                f"{held['fitness']:.2f} ({held['low']:.2f} to {held['high']:.2f})", f"{held['chance']:.2f}",
                f"{held['reached']:.1%}", f"{held['chance_reached']:.1%}", f"{held['trials']:,}",
            ]
        )  # fmt: skip
    heads = (
        "champion", "prize", "command", "Distal", "episodes spent", "measurements", "finalists", "selected",
        "held out", "chance", "reached", "chance", "trials",
    )  # fmt: skip
    return _table(heads, rows, left=(1, 2))


def _by_runs(data: Data) -> list[str]:
    counts, rows = (1, 2, 4, 8, 16, 32), []
    for entry in data["champions"]:
        found = entry["record"]["run_winners"]
        cells = [f"{lowest_of(found, count):.2f}" if count <= len(found) else "–" for count in counts]
        by = Measure.of(entry["record"]["run_fitness"]).words
        rows.append([f"`{entry['rule']['name']}`", by, *cells, f"{min(found):.2f} ({len(found)})"])
    heads = ("champion", "runs judged by", *(counted(count, "run") for count in counts), "all runs")
    return _table(heads, rows, left=(1,))


def lowest_of(values: Sequence[float], count: int) -> float:
    """Return the mean of the lowest of so many values, over all ways to choose them."""
    ways = math.comb(len(values), count)
    return sum(
        value * math.comb(len(values) - place, count - 1) / ways
        for place, value in enumerate(sorted(values), start=1)
    )


def _by_budget(data: Data) -> list[str]:
    rows = []
    for record in sorted(data["by_budget"], key=lambda one: (one["prize"], one["budget"])):
        held = record["held_out"]
        rows.append(
            [
                record["prize"], f"{record['budget']:,}", f"{record['runs']}", f"{record['bred']:,}",
                f"{held['fitness']:.2f} ({held['low']:.2f} to {held['high']:.2f})", f"{held['chance']:.2f}",
                f"{held['reached']:.1%}", f"{held['chance_reached']:.1%}",
            ]
        )  # fmt: skip
    heads = (
        "prize", "budget, in episodes", "runs", "generations bred", "held out", "chance", "reached", "chance",
    )  # fmt: skip
    return _table(heads, rows)


# ------------------------------------------------------------------ what they do


def _doing(data: Data) -> list[str]:
    rows = []
    for name in _order(data):
        own, chance = (data["does"][name][who] for who in ("own", "chance"))
        rows.append(
            [
                _called(name), _interval(own["best"]), f"{chance['best']['value']:.2f}",
                _interval(own["reached"], ".1%"), f"{chance['reached']['value']:.1%}", _interval(own[LAST]),
                f"{chance[LAST]['value']:.2f}", _interval(own["long"]["best"]),
                f"{chance['long']['best']['value']:.2f}",
            ]
        )  # fmt: skip
    size = data["size"]
    heads = (
        "learner", f"best EP of {size['short']}", "chance", "reached", "chance",
        f"mean EP, last {KEPT_LAST}", "chance", f"best EP of {size['long']:,}", "chance",
    )  # fmt: skip
    return _table(heads, rows)


def _keeping(data: Data) -> list[str]:
    rows = []
    for name in _order(data):
        own, chance = (data["does"][name][who] for who in ("own", "chance"))
        rows.append(
            [
                _called(name), _interval(own["different"], ".1f"), f"{chance['different']['value']:.1f}",
                "–" if own["median_first"] is None else f"{own['median_first']:g}", percent(own["retained"]),
                percent(chance["retained"]), percent(own["again_at_once"]),
                *(percent(own["repeated"][after]) for after in ("goal", "no worse", "worse")),
                percent(own["same_end"]), percent(chance["same_end"]),
            ]
        )  # fmt: skip
    heads = (
        "learner", "different EPs", "chance", "first success", "reached again", "chance", "at once",
        "same EP after the goal", "after no worse", "after worse", "same end", "chance",
    )  # fmt: skip
    return _table(heads, rows)


def _by_goal(data: Data) -> list[str]:
    rows = [
        [_called(name), *(f"{share:.0%}" for share in data["does"][name]["own"]["reached_by_goal"])]
        for name in _order(data)
    ]
    by_chance = data["does"][OURS]["chance"]["reached_by_goal"]
    rows.append([f"chance of `{OURS}`", *(f"{share:.0%}" for share in by_chance)])
    rows += [
        [f"usual last EP of {_called(name)}", *(f"{ep:g}" for ep in data["does"][name]["own"]["usual_end"])]
        for name in champion_names(data)
    ]
    rows.append(["shortest way", *(f"{way:g}" for way in data["distances"])])
    return _table(["reached", *(f"position {goal}" for goal in data["goals"])], rows)


# ------------------------------------------------------------------ what is inside


def _movement(data: Data) -> list[str]:
    after = {"goal": "after a success", "no worse": "after no worse", "worse": "after worse"}
    rows = []
    for name, found in data["inside"].items():
        moved = found["movement"]
        cosine = moved["worse"]["cosine"]
        rows.append(
            [
                f"`{name}`", *(percent(moved[key]["mean"]) for key in after),
                *(f"{moved[key]['updates']:,}" for key in after), "–" if cosine is None else signed(cosine),
                *(f"{found['changed'][m]:.0%}" for m in ("m = +1", "m = −1")), f"{32 - len(found['unused'])}",
            ]
        )  # fmt: skip
    heads = (
        "rule", *after.values(), *("updates" for _ in after), "cosine after worse",
        "synapses changed at m = +1", "at m = −1", "rows used",
    )  # fmt: skip
    return _table(heads, rows)


def _signals(data: Data) -> list[str]:
    rows = []
    for name, found in data["inside"].items():
        signals = [found["signals"][one] for one in SIGNALS]
        cells = zip(signals, holm([one["p"] for one in signals]), strict=True)
        own = [f"{found[one]['value']:.2f}" for one in ("fitness", "chance")]
        rows.append([f"`{name}`", _judged(found), *own, *(_change(*cell) for cell in cells)])
    heads = ("rule", "measure", "rule", "chance", *(f"m {one}".replace("m no", "no") for one in SIGNALS))
    return _table(heads, rows, left=(1,))


def _numbers(data: Data) -> list[str]:
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
    return _table(("rule", "", "value", "0 instead", "half", "twice, at most 1"), rows)


def _rows(data: Data, name: str) -> list[str]:
    """Return the rows that matter most, with what they do."""
    found, changes = data["inside"][name], data["rules"][name]["delta_w"]
    by_row: dict[int, list[Data]] = {}
    for one in found["knockouts"]:
        by_row.setdefault(one["row"], []).append(one)
    ranked = sorted(by_row, key=lambda row: -max(one["difference"] for one in by_row[row]))
    rows = []
    for row in ranked[:_SHOWN]:
        cells = {one["change"]: _cell(one) for one in by_row[row]}
        rows.append(
            [
                str(row), f"{row // 2:04b}", "+1" if row % 2 else "−1", change_words(changes[row]),
                f"{found['use'][row]:.1%}", *(cells.get(change, "·") for change in (-1, 0, 1)), _saw(row),
            ]
        )  # fmt: skip
    heads = ("row", "bits", "m", "Δw", "use", "set to −1", "0", "+1", "synapses that saw")
    return _table(heads, rows, left=(8,))


def _saw(row: int) -> str:
    states = [state for state, bit in zip(_STATES, f"{row // 2:04b}", strict=True) if bit == "1"]
    return listed(states) if states else "no state often"


def _cell(one: Data) -> str:
    text = f"{signed(one['difference'])} ± {(one['high'] - one['low']) / 2:.2f}"
    return f"**{text}**" if one["corrected"] < SIGNIFICANT else text


# ------------------------------------------------------------------ elsewhere


def _elsewhere(data: Data, name: str) -> list[str]:
    rows = data["elsewhere"][name]
    usual = rows[0]["episodes"]
    cells = [
        [
            row["place"] if row["episodes"] == usual else f"{row['episodes']:,} episodes", f"{row['trials']:,}",
            *(_interval(row[one]) for one in ("own", "chance", "climber")),
            *(_change(row[one], row[one]["corrected"], "value") for one in ("minus_chance", "minus_climber")),
            f"{row['perfect']:g}",
        ]
        for row in rows
    ]  # fmt: skip
    heads = (
        "difference", "trials", f"`{name}`", "chance", "hill climbing", "minus chance", "minus hill climbing",
        "shortest way",
    )  # fmt: skip
    return _table(heads, cells)
