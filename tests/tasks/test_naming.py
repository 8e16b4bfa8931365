"""Functions and classes by name, and which of them a file may have imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from distal.tasks import naming
from tests.refusals import refused


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Go to an empty folder; forget what is imported there."""
    before, known = list(sys.path), set(sys.modules)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.path[:] = before
    for name in set(sys.modules) - known:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("a:b", True),
        ("a.b:C.d", True),
        ("a", False),
        ("bins:4", False),
        ("a:b:c", False),
        (":b", False),
        (3, False),
    ],
)
def test_a_name_is_a_module_and_a_function(given: object, right: bool) -> None:
    assert naming.is_name(given) is right


def test_what_a_person_names_is_imported_from_the_folder_they_are_in_too(room: Path) -> None:
    (room / "mine_here.py").write_text("def walls(seen):\n    return [1]\n\n\nclass Inner:\n    number = 3\n")
    assert naming.function_of("encode", "mine_here:walls")(0) == [1]
    assert naming.function_of("encode", "collections:OrderedDict.fromkeys")("a") == {"a": None}
    assert "which is 3, expected a function or a class" in refused(
        lambda: naming.function_of("encode", "mine_here:Inner.number")
    )
    assert refused(lambda: naming.function_of("encode", "mine_here:wall")) == (
        "encode is 'mine_here:wall', but there is no 'wall' in mine_here; did you mean 'walls'?"
    )


def test_a_module_that_is_missing_or_fails_is_named(room: Path) -> None:
    (room / "failing_here.py").write_text("1 / 0\n")
    (room / "needing_here.py").write_text("import nosuch_package\n")
    for name, problem in (
        (
            "nosuch_here:f",
            "there is no module 'nosuch_here' here; pip install its package, or go to the folder",
        ),
        ("failing_here:f", "and its module fails: ZeroDivisionError: division by zero"),
        ("needing_here:f", "which needs nosuch_package: pip install it"),
    ):
        assert problem in refused(partial(naming.function_of, "wrap", name))


def test_a_file_may_have_imported_what_is_installed_or_in_a_folder_that_the_user_names(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (room / "theirs_here.py").write_text("def walls(seen):\n    return [1]\n")
    monkeypatch.syspath_prepend(room)
    assert not naming.may_be_imported("theirs_here:walls")  # it lies beside the file, no more
    assert not naming.may_be_imported("os:system")
    assert not naming.may_be_imported("subprocess:run")
    assert naming.may_be_imported("numpy:ravel")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", str(room)]))
    assert naming.may_be_imported("theirs_here:walls")
    monkeypatch.delenv("PYTHONPATH")
    naming.function_of("encode", "theirs_here:walls")
    assert naming.may_be_imported("theirs_here:walls")  # the user has imported it
