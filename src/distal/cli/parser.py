"""The parser that all commands share: help in narrow columns, errors in one line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from distal.base.checks import brief, path, shown, suggestion

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


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], None],
    text: str,
    description: str = "",
) -> Parser:
    """Add a command that calls `run`; every command can print JSON."""
    command = commands.add_parser(name, help=text, description=description or text)
    command.set_defaults(run=run, parser=command)
    command.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    add_import(command)
    return command


def add_import(parser: Parser) -> None:
    """Add the option that names modules; `named_imports` has found them by the time it is parsed."""
    parser.add_argument(
        "--import",
        action="append",
        default=argparse.SUPPRESS,
        dest="imports",
        metavar="MODULE",
        help="first import a module, my_module for ./my_module.py, that registers your own learners, "
        "networks, searches or tasks; repeatable",
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
