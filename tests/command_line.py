"""Commands that are run in this process: what they print, and how they refuse."""

from __future__ import annotations

import argparse
import json
from typing import Any

import pytest

from distal.cli import main, make_parser


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what a command prints that ends well and says nothing on stderr."""
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def output_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Return the JSON that a command prints."""
    data: dict[str, Any] = json.loads(output(capsys, *arguments, "--json"))
    return data


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line on stderr of a command that ends with exit code 2."""
    try:
        code = main(arguments)
    except SystemExit as leave:
        code = leave.code  # type: ignore[assignment]
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err.endswith("\n")
    assert captured.err.count("\n") == 1
    return captured.err


def options() -> dict[str, list[argparse.Action]]:
    """Return what every command takes."""
    # Private: argparse has no other list of what a parser takes.
    (commands,) = (action for action in make_parser()._actions if action.dest == "command")
    assert isinstance(commands.choices, dict)
    return {name: command._actions for name, command in commands.choices.items()}
