"""`distal climb`: train fresh networks by hill climbing, and compare it with chance."""

from __future__ import annotations

import argparse

from distal.base.checks import InputError
from distal.cli import Parser, add_options, learn, options
from distal.learners import DEFAULT_CLIMBER
from distal.learners.hill_climbing import HillClimbing

_SCALED = {"sigma": "noise", "alpha_h": "recurrent sums", "alpha_o": "feedback sums"}


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = (
        "Train fresh networks by hill climbing, and compare it with chance: random weights in every episode "
        "of trials with the same seeds."
    )
    for name, scaled in _SCALED.items():
        text = f"scale of the {scaled}, 0 to 1 ({getattr(DEFAULT_CLIMBER, name):g}; all three or none)"
        add_options(command, {f"--{name.replace('_', '-')} X": text})
    command.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="read sigma, alpha_h and alpha_o from a file written by distal evolve --learner hc",
    )
    options.add_result(command, "m-ties, trace-pre and normalise do not apply to hill climbing")


def run(args: argparse.Namespace) -> None:
    """Train by hill climbing."""
    given = {name: getattr(args, name) for name in _SCALED if getattr(args, name) is not None}
    if args.file is not None and given:
        raise InputError("--sigma, --alpha-h and --alpha-o come from the file; leave them out, or the file")
    missing = [name for name in _SCALED if name not in given]
    if given and missing:
        raise InputError(
            f"--{missing[0].replace('_', '-')} is missing: give --sigma, --alpha-h and --alpha-o, a climber "
            "file, or none"
        )
    named = DEFAULT_CLIMBER if args.file is None else HillClimbing.load(args.file)
    args.rule = HillClimbing(**given) if given else named
    learn.run(args)
