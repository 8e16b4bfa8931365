"""`distal rules`: list the rules that ship with the package, or show one."""

from __future__ import annotations

import argparse
from dataclasses import replace

from rich.text import Text

from distal.cli.parser import Commands, add_command
from distal.cli.terminal import console, new_table, print_json, visible
from distal.learners.rule import (
    Rule,
    evolved_beside_chance,
    evolved_fitness,
    evolved_rules,
    find_rule,
    published_fitness,
    published_rules,
)

_SHIPPED = ((published_rules, published_fitness), (evolved_rules, evolved_fitness))


def add(commands: Commands) -> None:
    """Add the command."""
    command = add_command(
        commands,
        "rules",
        run,
        "list the published rules, or show one",
        "List the published rules, or show one. With --json, one rule is printed as a rule file.",
    )
    command.add_argument(
        "rule", nargs="?", metavar="RULE", help="paper:1 to paper:15, evolved:1 to evolved:15, or a rule file"
    )


def run(args: argparse.Namespace) -> None:
    """List the published rules, or show one."""
    if args.rule is None:
        if args.json:
            entries = [
                {**rule.to_dict(), "fitness_10000_episodes": fitness(n)}
                for rules, fitness in _SHIPPED
                for n, rule in enumerate(rules(), start=1)
            ]
            print_json({"rules": entries})
        else:
            _show_rules()
        return
    rule = find_rule(args.rule)
    if args.json:
        print_json(rule.to_dict())
    else:
        _show_rule(rule)


def _show_rules() -> None:
    """Print the rules that ship with the package, one per line."""
    out = console()
    table = new_table(
        "rule", "eta", "theta", "alpha_h", "alpha_o", "− 0 +", "at 100", "chance", "at 10,000", "chance"
    )
    for rules, fitness in _SHIPPED:
        for number, rule in enumerate(rules(), start=1):
            changes = " ".join(f"{rule.delta_w.count(change):2}" for change in (-1, 0, 1))
            numbers = (f"{value:.4f}" for value in (rule.eta, rule.theta, rule.alpha_h, rule.alpha_o))
            ours = fitness is evolved_fitness
            at_100, chance, later = (
                [f"{value:.2f}" for value in evolved_beside_chance(number)] if ours else ["–"] * 3
            )
            table.add_row(rule.name, *numbers, changes, at_100, chance, f"{fitness(number):.2f}", later)
        table.add_section()
    out.print(table)
    out.print("− 0 +: how many of the 32 changes are −1, 0, 1. at 100, at 10,000: mean best EP after as many")
    out.print("episodes, as the paper reports it (paper) or as we measured it (evolved); lower is better.")
    out.print("chance: random weights in each of those episodes, with the rule's alpha_h and alpha_o.")
    out.print("Show one with its 32 rows:  distal rules evolved:1")


def _show_rule(rule: Rule) -> None:
    """Print one rule as its 32-row table."""
    named = replace(rule, name=visible(rule.name))
    console().print(Text(str(named)), soft_wrap=True)
