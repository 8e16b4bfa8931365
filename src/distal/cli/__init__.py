"""The command line: `distal COMMAND …`.

Bad input ends with one line on stderr and exit code 2, Ctrl-C with exit code 130.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from distal._version import __version__
from distal.base import interrupts, plugins
from distal.base.checks import InputError, brief, path, shown, suggestion
from distal.studies.registry import titles

# The commands in the order of the help, each with a line about it. The commands of studies follow them
# (`studies.registry`). Only the module of the command that runs is imported.
COMMANDS = {
    "maze": "draw a maze, its final positions and distances",
    "env": "show an environment as a task: bits, actions, states, and the score of chance",
    "rules": "list the rules that come with the package, or show one",
    "learn": "train fresh networks with a rule, and compare it with chance",
    "climb": "train fresh networks by hill climbing, and compare it with chance",
    "compare": "compare learners with one another and with chance, in trials with the same seeds",
    "inspect": "look inside a rule: the rows it uses and needs, and a smaller rule, tested on fresh trials",
    "watch": "write a page that replays a trial of learning",
    "evolve": "evolve rules, or the parameters of hill climbing",
    "runs": "summarise a folder of runs",
    "bench": "measure an engine",
}
_PATHS = ("DIR", "FILE", "MAZE", "OUT")  # what stands for the path of a file or a folder in the help


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line that helps."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": _Formatter, **options})

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with exit code 2."""
        from distal.cli.terminal import visible  # noqa: PLC0415

        self.exit(2, f"{self.prog}: error: {brief(visible(message))} (see {self.prog} --help)\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse an unknown command with the nearest right one."""
        if action.choices is not None and value not in action.choices:
            words = list(action.choices)
            problem = f"{shown(value)} is none of {', '.join(words)}{suggestion(value, words)}"
            raise argparse.ArgumentError(action, problem)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; name unknown options with the nearest right spelling."""
        known, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser: argparse.ArgumentParser = getattr(known, "parser", self)
            options = [name for action in parser._actions for name in action.option_strings]
            name = unknown[0].split("=")[0]
            if name in options:
                parser.error(f"{name} belongs after the command: {parser.prog} {name}")
            parser.error(f"unknown argument {shown(unknown[0])}{suggestion(name, options)}")
        for action in getattr(known, "parser", self)._actions:
            if action.metavar in _PATHS and getattr(known, action.dest) is not None:
                path((*action.option_strings, action.metavar)[0], getattr(known, action.dest))
        return known


class _Formatter(argparse.HelpFormatter):
    """Help with the options in a narrow column."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)


def make_parser(chosen: str | None = None, alone: bool = False) -> Parser:
    """Make the parser of the command line.

    Args:
        chosen: The command that gets its options; all of them if None.
        alone: Whether nobody can ask for the list of the others, which is not made then.
    """
    parser = Parser(
        prog="distal",
        description="Evolve and study delayed synaptic plasticity: rules by which small neural networks "
        "learn from one reward per episode.",
        epilog="distal COMMAND --help explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"distal {__version__}")
    add_import(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=False, parser_class=Parser)
    own = {word: line for word, line in COMMANDS.items() if alone and word == chosen}
    for name, about in (own or all_commands()).items():
        command = commands.add_parser(name, help=about, description=about)
        if chosen is None or name == chosen:
            home = import_module(f"distal.cli.{name if name in COMMANDS else 'study'}")
            command.set_defaults(run=home.run, parser=command)
            add_options(command, {"--json": "print one JSON object on stdout"})
            add_import(command)
            if chosen is not None:
                plugins.load_installed()  # for the packages that the command has imported
            home.add(command) if name in COMMANDS else home.add(command, name)
    return parser


def all_commands() -> dict[str, str]:
    """Return every command with its line, the commands of studies last."""
    studies = titles()
    for word in COMMANDS.keys() & studies.keys():
        raise InputError(f"the name of a study is {word!r}, which is a command already; choose another name")
    return {**COMMANDS, **studies}


def add_import(parser: Parser) -> None:
    """Add the option that names modules; `named_imports` has found them by the time it is parsed."""
    parser.add_argument(
        "--import",
        action="append",
        default=argparse.SUPPRESS,
        dest="imports",
        metavar="MODULE",
        help="first import a module, my_module for ./my_module.py, that registers your own learners, "
        "networks, searches, tasks or studies; repeatable",
    )


def named_imports(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the modules that --import names in a command line, and all other arguments."""
    modules: list[str] = []
    others: list[str] = []
    words = iter(arguments)
    for word in words:
        option, equals, value = word.partition("=")
        if word == "--":
            return modules, [*others, word, *words]
        if option != "--import":
            others.append(word)
        elif equals:
            modules.append(value)
        else:
            modules += [value for value in [next(words, "-")] if not value.startswith("-")]
    return modules, others


def add_options(to: argparse._ActionsContainer, options: Mapping[str, str]) -> None:
    """Add options, each named as the help shows it: "--csv FILE", "--episodes N", "--quick".

    The placeholder says what the value is: a whole number for N, any number for X, else text. An
    option without one is on or off.
    """
    for shown_, text in options.items():
        name, _, placeholder = shown_.partition(" ")
        if placeholder:
            to.add_argument(name, type=_READ.get(placeholder, str), metavar=placeholder, help=text)
        else:
            to.add_argument(name, action="store_true", help=text)


def whole(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a whole number") from None


def number(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number") from None


_READ: dict[str, Callable[[str], Any]] = {**dict.fromkeys(("N", "E", "R", "W"), whole), "X": number}


# ---------------------------------------------------------------- the run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        with interrupts.raised():
            _open_streams()
            return _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt as interrupt:
        from distal.cli.terminal import tell  # noqa: PLC0415

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


def _run(arguments: list[str]) -> int:
    """Parse, run the command, and turn what goes wrong into one line and an exit code."""
    known: Collection[str] = ()
    try:
        modules, others = named_imports(arguments)
        for module in modules:  # before the parser is made: what they register is in the help
            plugins.import_named(module)
        chosen = next((word for word in others if not word.startswith("-")), "")
        parser = make_parser(chosen, alone=others[:1] == [chosen] and not modules)
        args = parser.parse_args(arguments)
        if args.command is None:
            parser.print_help()
            return 0
        known = args.parser._option_string_actions
        with _warnings_spelled(known):
            if hasattr(args, "engine"):
                from distal.engines import Runner  # noqa: PLC0415

                # Refused at once, if it cannot run here; the one runner that the whole command has.
                args.runner = Runner(args.engine, getattr(args, "workers", None))
            args.run(args)
        sys.stdout.flush()
    except Exception as error:
        code = _tell_failure(error, known)
        if code is None:
            raise
        return code
    return 0


@contextmanager
def _warnings_spelled(known: Collection[str]) -> Iterator[None]:
    """Let warnings name the options of a command where they name arguments of Python."""
    from distal.cli.spelling import spelled  # noqa: PLC0415

    def spell(record: logging.LogRecord) -> bool:
        record.msg, record.args = spelled(record.getMessage(), known), ()
        return True

    log = logging.getLogger("distal")
    log.addFilter(spell)
    try:
        yield
    finally:
        log.removeFilter(spell)


def _tell_failure(error: Exception, known: Collection[str]) -> int | None:
    """Say in one line what went wrong, and return the exit code; None if nobody can have expected it.

    `known` are the options of the command.
    """
    from distal.cli.spelling import spelled  # noqa: PLC0415
    from distal.cli.terminal import tell  # noqa: PLC0415
    from distal.engines.spread import WorkError  # noqa: PLC0415

    if isinstance(error, InputError | WorkError):
        tell(brief(f"distal: error: {spelled(str(error), known)}"))
        return 2 if isinstance(error, InputError) else 1
    if isinstance(error, MemoryError):
        tell("distal: error: not enough memory; ask for fewer trials or episodes")
        return 2
    if not isinstance(error, OSError):
        return None
    # The reader has gone (distal … | head), or the disk is full. What is left in the buffer
    # has nowhere to go; without this, Python would complain about it once more at exit.
    with suppress(io.UnsupportedOperation):  # a stream of a program that calls us
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 141
    where = f"cannot use {str(error.filename)!r}" if error.filename else "cannot write the output"
    tell(brief(f"distal: error: {where}: {error.strerror}"))
    return 2 if error.filename else 1
