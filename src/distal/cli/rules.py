"""`distal rules`: list the rules that ship with the package, or show one."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.text import Text

from distal.base.checks import counted
from distal.cli import Parser
from distal.cli.terminal import console, new_table, print_json, print_named, visible
from distal.evaluation.measures import Measure
from distal.learners.dsp import NUMBERS, Rule
from distal.learners.shipped import (
    champion_record,
    champion_rules,
    evolved_beside_chance,
    evolved_fitness,
    evolved_rules,
    find_rule,
    published_fitness,
    published_rules,
    shipped_names,
)
from distal.studies.report import p_value

_WIDE = 115  # columns of a terminal from which the list has each rule's four numbers
_SHIPPED = ((published_rules, published_fitness), (evolved_rules, evolved_fitness))


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = (
        "List the rules that come with the package, or show one; a champion comes with the record of its "
        "search. With --json, one rule is printed as a rule file; the list includes the records."
    )
    command.add_argument("rule", nargs="?", metavar="RULE", help=f"{shipped_names()}, or a rule file")


def run(args: argparse.Namespace) -> None:
    """List the rules, or show one."""
    if args.rule is None:
        if args.json:
            entries = [
                {**rule.to_dict(), "fitness_10000_episodes": fitness(n)}
                for rules, fitness in _SHIPPED
                for n, rule in enumerate(rules(), start=1)
            ]
            champions = [{"rule": rule.to_dict(), "record": record} for rule, record in _champions()]
            print_json({"rules": entries, "champions": champions})
        else:
            _show_rules()
        return
    rule = find_rule(args.rule)
    if args.json:
        print_json(rule.to_dict())
        return
    _show_rule(rule)
    for champion, record in _champions():
        if champion.name == args.rule:
            _show_record(record)


def _champions() -> list[tuple[Rule, dict[str, Any]]]:
    """Return the champions, each with its record."""
    return [(rule, champion_record(number)) for number, rule in enumerate(champion_rules(), start=1)]


def _show_rules() -> None:
    """Print the rules that ship with the package, one per line."""
    out = console()
    heads = ("− 0 +", "at 100", "chance", "at 10,000", "chance")
    table = new_table("rule", *(NUMBERS if out.width >= _WIDE else ()), *heads)
    for rules, fitness in _SHIPPED:
        for number, rule in enumerate(rules(), start=1):
            changes = " ".join(f"{rule.delta_w.count(change):2}" for change in (-1, 0, 1))
            ours = fitness is evolved_fitness
            at_100, chance, later = (
                [f"{value:.2f}" for value in evolved_beside_chance(number)] if ours else ["–"] * 3
            )
            at_10000 = f"{fitness(number):.2f}"
            table.add_row(rule.name, *_numbers(rule, out), changes, at_100, chance, at_10000, later)
        table.add_section()
    out.print(table)
    out.print(
        "− 0 +: how many of the 32 changes are −1, 0, 1. at 100, at 10,000: mean best EP after that many "
        "episodes, as the paper reports it (paper) or as we measured it (evolved); lower is better. "
        "chance: random weights in each of those episodes, with the rule's alpha_h and alpha_o."
    )
    _show_champions()
    out.print("Show one with its four numbers and 32 rows:  distal rules champion:1")


def _show_champions() -> None:
    """Print the champions, one per line: the prize, and the scores on held-out trials."""
    out = console()
    heads = ("prize", "held out (95%)", "chance", "reached", "chance")
    table = new_table("rule", *(NUMBERS if out.width >= _WIDE else ()), *heads)
    champions = _champions()
    for rule, record in champions:
        held = record["held_out"]
        table.add_row(
            rule.name, *_numbers(rule, out), record["prize"], _interval(held),
            f"{held['chance']:.2f}", f"{held['reached']:.1%}", f"{held['chance_reached']:.1%}",
        )  # fmt: skip
    out.print(table)
    for prize, words in {record["prize"]: _prize(record) for _, record in champions}.items():
        out.print(f"{prize}: the champion of a search for {words}.")
    out.print(
        "held out: fitness on trials that no search used. reached: the share of them that reached the goal. "
        "chance: in the same trials."
    )


def _numbers(rule: Rule, out: Console) -> list[str]:
    """Return a rule's four numbers, if the terminal has room for them."""
    return [f"{value:.4f}" for value in rule.numbers.values()] if out.width >= _WIDE else []


def _prize(record: dict[str, Any]) -> str:
    """Return the prize of a champion in words."""
    return f"the lowest {Measure.of(record['fitness']).words} in {counted(record['episodes'], 'episode')}"


def _bred(record: dict[str, Any]) -> str:
    """Say for how long the finalists of all runs were bred together, if they were."""
    return f" and {counted(record['bred'], 'generation')} of their finalists" if record["bred"] else ""


def _interval(held: dict[str, Any]) -> str:
    return f"{held['fitness']:.2f} ({held['low']:.2f} to {held['high']:.2f})"


def _show_record(record: dict[str, Any]) -> None:
    """Print the search for a champion, and its scores on held-out trials."""
    held = record["held_out"]
    lines = {
        "prize": f"{record['prize']}: {_prize(record)}",
        "command": record["command"],
        "seed": str(record["seed"]),
        "version": record["version"],
        "budget": f"{counted(record['budget'], 'episode')}, {record['spent']:,} spent",
        "candidates": f"{record['candidates']:,} measurements in {counted(record['runs'], 'run')}"
        f"{_bred(record)}, {counted(record['finalists'], 'finalist')}",
        "selected": f"{record['selected']:.2f}, the value that made it the champion, so it is optimistic",
        "held out": f"{_interval(held)} on {counted(held['trials'], 'trial')} that no search had seen, 95%",
        "chance": f"{held['chance']:.2f} ± {held['chance_standard_error']:.2f} on the same trials, "
        f"p {p_value(held['p'], '= ')}, better in {held['superiority']:.0%} of them",
        "reached": f"{held['reached']:.1%} ({held['reached_low']:.1%} to {held['reached_high']:.1%}), "
        f"chance {held['chance_reached']:.1%}",
    }
    out = console()
    out.print()
    print_named(out, lines, width=11)


def _show_rule(rule: Rule) -> None:
    """Print one rule as its 32-row table."""
    named = replace(rule, name=visible(rule.name))
    console().print(Text(str(named)), soft_wrap=True)
