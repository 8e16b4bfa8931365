"""The command line: `distal COMMAND …`.

Bad input ends with one line on stderr and exit code 2, Ctrl-C with exit code 130.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from distal._version import __version__
from distal.base import interrupts
from distal.base.checks import InputError, brief
from distal.cli import (
    bench,
    beyond,
    champions,
    compare,
    env,
    evolve,
    inspect,
    learn,
    maze,
    rules,
    runs,
    study,
    tasks,
    watch,
)
from distal.cli.parser import Parser
from distal.cli.terminal import tell
from distal.engines import Runner
from distal.engines.spread import WorkError
from distal.studies.registry import STUDIES

# As in the help.
_COMMANDS = (
    *(module.add for module in (maze, env, rules, learn, compare, inspect, watch, evolve, runs)),
    *(partial(study.add, study=one) for one in STUDIES),
    *(module.add for module in (tasks, beyond, champions, bench)),
)


def _parser() -> Parser:
    parser = Parser(
        prog="distal",
        description="Evolve and study delayed synaptic plasticity: rules by which small neural networks "
        "learn from a reward that comes once per episode.",
        epilog="distal COMMAND --help explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"distal {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=False, parser_class=Parser)
    for command in _COMMANDS:
        command(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        with interrupts.raised():
            _open_streams()
            return _run(arguments)
    except KeyboardInterrupt as interrupt:
        with interrupts.last_line():
            tell("; ".join(["distal: interrupted", *map(str, interrupt.args)]))
        return 130


def _open_streams() -> None:
    """Make stdout and stderr take anything that is written to them."""
    if sys.stdout is None or sys.stderr is None:  # closed by whoever started us
        while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass  # keeps the number, which a file with data in it would get otherwise
        os.close(handle)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± or − still gets its table


def _run(arguments: Sequence[str] | None) -> int:
    """Parse, run the command, and turn what goes wrong into one line and an exit code."""
    try:
        parser = _parser()
        args = parser.parse_args(arguments)
        if args.command is None:
            parser.print_help()
            return 0
        if hasattr(args, "engine"):
            # Refused at once, if it cannot run here; the one runner that the whole command has.
            args.runner = Runner(args.engine, getattr(args, "workers", None))
        args.run(args)
        sys.stdout.flush()
    except InputError as error:
        tell(brief(f"distal: error: {error}"))
        return 2
    except WorkError as error:
        tell(brief(f"distal: error: {error}"))
        return 1
    except MemoryError:
        tell("distal: error: not enough memory; ask for fewer trials or episodes")
        return 2
    except OSError as error:
        # The reader has gone (distal … | head), or the disk is full. What is left in the buffer
        # has nowhere to go; without this, Python would complain about it once more at exit.
        with suppress(io.UnsupportedOperation):  # a stream of a program that calls us
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 141
        where = f"cannot use {str(error.filename)!r}" if error.filename else "cannot write the output"
        tell(brief(f"distal: error: {where}: {error.strerror}"))
        return 2 if error.filename else 1
    return 0
