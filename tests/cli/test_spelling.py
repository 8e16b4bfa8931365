"""The command line speaks of options, Python of arguments."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import distal
from distal.cli.spelling import spelled

OPTIONS = ("--wrap", "--switch", "--m-ties", "--env-arg", "--reward-scale", "--steps")


@pytest.mark.parametrize(
    ("python", "here"),
    [
        ("wrap is 3, expected a list", "--wrap is 3, expected a list"),
        ("wrap holds 3, expected a wrapper", "--wrap holds 3, expected a wrapper"),
        ("m_ties is 'x'", "--m-ties is 'x'"),
        ("scale is 0, expected a whole number", "--reward-scale is 0, expected a whole number"),
        ("maze is 3", "maze is 3"),  # there is no such option here
        ("file 'x' is damaged: switch is 3", "file 'x' is damaged: switch is 3"),  # its field, no option
        (
            "steps is 5, but the environment ends an episode after 9; make it with max_steps=5, "
            "or leave steps out",
            "--steps is 5, but the environment ends an episode after 9; add --env-arg max_steps=5, "
            "or leave --steps out",
        ),
        ("choose among a few; pass actions='bins:3' for 3", "choose among a few; add --actions bins:3 for 3"),
        (
            "it is not empty; continue with resume, start over with force=True, or name another",
            "it is not empty; continue with --resume, start over with --force, or name another",
        ),
        ("it came from module mine: import mine first", "it came from module mine: add --import mine"),
        (
            "a task of your own is known when its module has been imported",
            "a task of your own needs --import MODULE",
        ),
    ],
)
def test_a_refusal_names_options_where_python_names_arguments(python: str, here: str) -> None:
    assert spelled(python, OPTIONS) == here


def test_no_refusal_of_python_names_an_option() -> None:
    root = Path(distal.__file__).parent
    found = [
        (path.name, part.value)
        for path in root.rglob("*.py")
        if not {"cli", "bench"} & set(path.relative_to(root).parts)
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("Error")
        for part in ast.walk(call)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and " --" in f" {part.value}"
    ]
    assert found == []
