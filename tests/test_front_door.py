"""The front door: public names are imported when they are used, commands when they are run."""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from pathlib import Path

import pytest

import distal
from distal.cli import all_commands, make_parser

HEAVY = (
    "numpy",
    "scipy",
    "numba",
    "matplotlib",
    "pandas",
    "gymnasium",
    "rich",
    "distal.studies.study",
    "distal.evaluation",
)


def loaded(program: str) -> list[str]:
    """Return the heavy modules that a process has loaded after a program."""
    asked = f"{program}\nimport sys\nprint(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


def test_importing_distal_loads_nothing_that_takes_time() -> None:
    assert loaded("import distal") == []
    assert "numpy" in loaded("import distal; distal.maze")


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_nothing_that_takes_time(option: str) -> None:
    assert loaded(f"from distal.cli import main\ntry: main(['{option}'])\nexcept SystemExit: pass") == []


def test_type_checkers_and_python_find_the_same_names_in_the_same_modules() -> None:
    tree = ast.parse(Path(distal.__file__).read_text(encoding="utf-8"))
    (branch,) = [
        node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    static = {
        (node.module, alias.asname)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    # A private table: a lookup would hide where a name is from.
    table = distal._HOMES
    assert static == {(f"distal.{module}", name) for module, names in table.items() for name in names.split()}


def test_every_public_name_is_there_and_in_dir() -> None:
    assert [name for name in distal.__all__ if getattr(distal, name, None) is None] == []
    assert set(distal.__all__) <= set(dir(distal))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'distal' has no attribute 'lern'"):
        _ = distal.lern


def test_learning_loads_no_library_for_figures_or_tables() -> None:
    learned = "distal.learn('chance', trials=1, episodes=1, engine='reference')"
    assert not {"matplotlib", "pandas", "rich"} & set(loaded(f"import distal; repr({learned})"))


def test_the_rooms_are_attributes_without_an_import_of_their_own() -> None:
    assert loaded("import distal; assert distal.engines.ENGINES") == ["numpy"]


def helps(parser: argparse.ArgumentParser) -> dict[str, str | None]:
    """Return the line of help of each command."""
    # Private: argparse has no other list of what a help shows.
    (commands,) = (one for one in parser._actions if one.dest == "command")
    return {choice.dest: choice.help for choice in commands._choices_actions}  # type: ignore[attr-defined]


def test_the_help_lists_every_command_whichever_is_chosen() -> None:
    for chosen in (None, *all_commands()):
        assert helps(make_parser(chosen)) == all_commands()
