"""The command reference as Markdown, from the parser itself."""

from __future__ import annotations

import argparse

from distal.cli import make_parser


def commands() -> str:
    """Return the command reference: what each command does, how it is called, its options."""
    actions = make_parser()._actions
    (choices,) = (action.choices for action in actions if isinstance(action, argparse._SubParsersAction))
    return "\n".join(line for parser in choices.values() for line in command(parser))


def command(parser: argparse.ArgumentParser) -> list[str]:
    """Return the section of one command."""
    name = parser.prog.split()[-1]
    formatter = argparse.HelpFormatter(parser.prog, width=78)  # however wide the terminal is
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups)
    usage = formatter.format_help().removeprefix("usage: ").rstrip()
    lines = [f"({name})=", f"## distal {name}", "", sentence(parser.description or ""), ""]
    lines += ["```", usage, "```", ""]
    for group in parser._action_groups:
        shown = (one for one in group._group_actions if one.help != argparse.SUPPRESS)
        rows = [row(one) for one in shown if "-h" not in one.option_strings]
        title = group.title or ""
        own = {"positional arguments": "argument", "options": "option"}
        if rows and title not in own:
            lines += [f"{sentence(title)} {sentence(group.description or '')}".rstrip(), ""]
        what = own.get(title, "reading" if title.startswith("readings") else "option")
        lines += [f"| {what} | |", "|---|---|", *rows, ""] if rows else []
    return lines


def row(action: argparse.Action) -> str:
    """Return an argument or option as a line of a table."""
    value = "" if action.nargs == 0 else str(action.metavar or action.dest)
    called = ", ".join(f"`{option} {value}".rstrip() + "`" for option in action.option_strings)
    help_text = (action.help or "").replace("|", "\\|").replace("<", "&lt;")
    return f"| {called or f'`{value}`'} | {help_text % vars(action) if '%' in help_text else help_text} |"


def sentence(text: str) -> str:
    """Return text that begins with a capital letter and ends with a full stop."""
    return text[:1].upper() + text[1:].rstrip(".:") + "." if text else ""
