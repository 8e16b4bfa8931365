"""The public surface is documented, what documents use is in it, and tests say why they use anything else."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from itertools import takewhile
from pathlib import Path
from pydoc import locate
from typing import Any

import pytest

import distal
from tests import doors
from tests.docs.test_docs import BLOCK, DOCUMENTS, ROOT

SECTION = re.compile(r"^(Args|Attributes|Returns|Raises):\n((?:(?: {4}.*)?\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^ {4}(\**\w+): ", re.MULTILINE)
FEW = 2  # a function with no more parameters than this may explain them in a sentence

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PUBLIC = doors.public()
REFUSES = {door.name for door in doors.all_doors()}


def parameters(thing: Callable[..., object]) -> list[str]:
    """Return the names of all parameters but `self`, with their stars."""
    given = inspect.signature(thing).parameters.values()
    return [re.match(r"[*\w]+", str(one))[0] for one in given if one.name != "self"]  # type: ignore[index]


def attributes(thing: Any) -> set[str]:
    """Return what a class declares, or its constructor uses: all that an instance may have."""
    declared = {name for one in thing.__mro__ for name in (*vars(one), *vars(one).get("__annotations__", ()))}
    return declared | set(thing.__init__.__code__.co_names if inspect.isfunction(thing.__init__) else ())


def bases(thing: Any) -> list[type]:
    """Return the dataclasses that a class inherits fields from."""
    return [one for one in inspect.getmro(thing)[1:] if is_dataclass(one)] if inspect.isclass(thing) else []


def gaps(thing: Any, refuses: bool) -> list[str]:
    """Return what is missing in a docstring, or documented without being there.

    The fields of a dataclass are named in Args if users make it, in Attributes if they are
    given it; inherited ones may be named by the class that declares them.
    """
    sections = dict(SECTION.findall((inspect.getdoc(thing) or "") + "\n"))
    named = {section: ENTRY.findall(text) for section, text in sections.items()}
    args, others = named.get("Args", []), named.get("Attributes", [])
    given = parameters(thing)
    inherited = [name for base in bases(thing) for name in ENTRY.findall(inspect.getdoc(base) or "")]
    found = [f"Args names {name}, which is no parameter" for name in args if name not in given]
    if others:
        there = attributes(thing)
        found += [f"Attributes names {name}, which it has not" for name in others if name not in there]
    if len(given) > FEW or is_dataclass(thing) or args:
        found += [f"{name} is not documented" for name in given if name not in (*args, *others, *inherited)]
    if len(given) > FEW:
        returns = inspect.signature(thing).return_annotation
        if not inspect.isclass(thing) and returns not in (None, "None") and "Returns" not in sections:
            found.append("Returns is missing")
        if refuses and "InputError" not in named.get("Raises", []):
            found.append("Raises does not name InputError")
    return found


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_parameter_is_documented(name: str) -> None:
    assert gaps(PUBLIC[name], refuses=name in REFUSES) == []


def used(code: str) -> set[str]:
    """Return the full names of the functions and classes of ours that a script uses."""
    tree = ast.parse(code)
    imported = {"distal": "distal"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "distal":
            imported |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    names = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)}
    found = {imported[root] + rest for name in names for root, rest in [_split(name)] if root in imported}
    return {name for name in found if callable(locate(name))}


def _split(name: str) -> tuple[str, str]:
    root, dot, rest = name.partition(".")
    return root, dot + rest


@pytest.mark.parametrize("document", [*DOCUMENTS, *(f"examples/{path.name}" for path in EXAMPLES)])
def test_what_documents_and_examples_use_is_public(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = [body for language, body in BLOCK.findall(text) if language == "python"]
    code = text if document.endswith(".py") else "\n".join(blocks)
    public = set(doors.listed())
    assert {name for name in used(code) if not {name, name.rpartition(".")[0]} & public} == set()


def test_a_name_that_a_script_uses_is_found() -> None:
    code = "from distal.networks import network as net\nimport distal\nnet.psi(distal.Maze.from_text(x))"
    assert used(code) == {"distal.networks.network.psi", "distal.Maze", "distal.Maze.from_text"}


def test_everything_public_is_listed_for_the_api_page() -> None:
    names = doors.on_the_api_page()
    assert len(names) == len(set(names))
    assert {f"distal.{name}" for name in distal.__all__} <= set(names)
    assert [name for name in names if locate(name) is None] == []


def test_a_parameter_without_a_line_is_found() -> None:
    def walk(maze: str, steps: int, **settings: int) -> int:  # noqa: D417 - on purpose
        """Walk.

        Args:
            maze: Where.
            goal: Where to.
        """
        return len(maze) + steps + len(settings)

    assert gaps(walk, refuses=True) == [
        "Args names goal, which is no parameter",
        "steps is not documented",
        "**settings is not documented",
        "Returns is missing",
        "Raises does not name InputError",
    ]


def test_a_field_without_a_line_is_found() -> None:
    @dataclass
    class Place:
        """A place.

        Attributes:
            row: From the top.
            depth: From above.
        """

        row: int
        column: int

    assert gaps(Place, refuses=False) == [
        "Attributes names depth, which it has not",
        "column is not documented",
    ]


# ------------------------------------------------------------------ the tests use what is public


def touches(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """Yield the private names that a file touches: its line, that of the outermost statement, and the name.

    Those of the file's own objects, on `self`, are not meant, nor what a notebook asks of an object.
    """
    for outer in tree.body:
        first = min([outer.lineno, *(one.lineno for one in getattr(outer, "decorator_list", []))])
        for node in ast.walk(outer):
            if not isinstance(node, ast.expr | ast.stmt):
                continue
            names: list[str] = []
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "cls", "os"):
                names = [node.attr]
            elif isinstance(node, ast.ImportFrom):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("setattr", "getattr")):
                given = [one.value for one in node.args if isinstance(one, ast.Constant)]
                names = [one.rpartition(".")[2] for one in given if isinstance(one, str)]
            for name in names:
                if name.startswith("_") and not name.startswith("__") and name != "_repr_html_":
                    yield node.lineno, first, name


REASON = re.compile(r"""(#|"").*\bprivate\b""", re.IGNORECASE)  # in a comment, or in a docstring


def unexplained(text: str) -> list[str]:
    """Return the private names without a comment, on or above the line, that says why one is needed."""
    lines, found = text.splitlines(), []
    for line, outer, name in touches(ast.parse(text)):
        above = takewhile(lambda one: one.startswith("#"), reversed(lines[: outer - 1]))
        if not any(REASON.search(one) for one in (*above, *lines[outer - 1 : line])):
            found.append(f"line {line}: {name}")
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.name)
def test_a_test_that_touches_a_private_name_says_why(path: Path) -> None:
    assert unexplained(path.read_text(encoding="utf-8")) == []


def test_a_private_name_without_a_reason_is_found() -> None:
    reason = "# A private number: so that few take several pieces.\n"
    for code, name in (
        ("def test() -> None:\n    {}assert thing._name\n", "_name"),
        ("{}monkeypatch.setattr('distal.module._NUMBER', 3)\n", "_NUMBER"),
        ("{}from distal.module import _name\n", "_name"),
    ):
        (found,) = unexplained(code.format(""))
        assert found.endswith(f": {name}")
        assert unexplained(code.format(reason + "    " * code.startswith("def"))) == []
    assert unexplained("self._name = made._repr_html_() or made.__doc__\n") == []
