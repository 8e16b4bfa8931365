"""The checksum of functions: the same wherever they do the same, none where nobody can tell."""

from __future__ import annotations

import math
import subprocess
import sys
from math import cos
from typing import Any

import numba
import numpy as np
import pytest

from distal.tasks.function_checksum import checksum

SOURCE = """
def turn(x):
    return math.sin(x) + cos(x) + np.sqrt(x) + SPEED * len(MAP)

def step(x):
    return turn(x) if x > LIMIT else step(x + 1)
"""
KNOWN: dict[str, Any] = {"math": math, "cos": cos, "np": np, "SPEED": 0.5, "MAP": np.eye(3), "LIMIT": 2}


def made(source: str = SOURCE, **others: Any) -> Any:
    """Return function `step` of a source, whose globals are those above and others."""
    names = {**KNOWN, **others}
    exec(source, names)  # noqa: S102 - functions as a person writes them
    return names["step"]


def test_functions_that_do_the_same_have_the_same_checksum_in_every_process() -> None:
    own = checksum(made())
    assert own is not None
    assert checksum(made()) == checksum(made("\n\n# moved\n" + SOURCE)) == own
    of_a_set = checksum(made(SPEED=frozenset({"one", "two"})))
    script = (
        "from tests.tasks.test_function_checksum import checksum, made\n"
        "print(checksum(made()), checksum(made(SPEED=frozenset({'one', 'two'}))))"
    )
    for seed in ("1", "2"):  # of Python's hashes, which order sets
        done = subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, check=True, text=True,
        )  # fmt: skip
        assert done.stdout == f"{own} {of_a_set}\n"


@pytest.mark.parametrize(
    "changed",
    [
        {"SPEED": 0.25},
        {"SPEED": 1},
        {"SPEED": True},
        {"SPEED": np.float32(0.5)},
        {"LIMIT": -0.0},
        {"LIMIT": (2,)},
        {"MAP": np.eye(4)},
        {"MAP": np.eye(3, dtype=np.float32)},
        {"MAP": np.asfortranarray(np.arange(9.0).reshape(3, 3))},
        {"cos": math.sin},
        {"cos": np.cos},
        {"source": SOURCE.replace("x + 1", "x + 2")},
        {"source": SOURCE.replace("sin", "tan")},
        {"source": SOURCE.replace("sqrt", "cbrt")},
        {"source": SOURCE.replace("step(x)", "step(x, y=1)", 1)},
        {"source": SOURCE.replace("def turn(x)", "def turn(x, y=1)")},
        {"source": SOURCE.replace("SPEED * len(MAP)", "len([SPEED * one for one in MAP])")},
    ],
    ids=str,
)
def test_whatever_a_function_is_made_of_changes_its_checksum(changed: dict[str, Any]) -> None:
    assert checksum(made(**changed)) not in (None, checksum(made()))


def test_values_that_a_function_encloses_count() -> None:
    def step_of(speed: Any) -> Any:
        return lambda x: x * speed

    assert checksum(step_of(1.0)) == checksum(step_of(1.0)) != checksum(step_of(2.0))
    assert checksum(step_of(object())) is None


def test_an_array_that_is_written_to_changes_the_checksum() -> None:
    place = np.zeros(3)
    step = made(MAP=place)
    before = checksum(step)
    place[1] = 1
    assert checksum(step) not in (None, before)


@pytest.mark.parametrize(
    "thing",
    [
        object(),
        [1, 2],
        {"a": 1},
        np.zeros(10**6),
        np.eye(4)[::2, ::2],
        np.array([object()]),
        numba.njit(lambda x: x),
        np.random,
        sys,
        type("Own", (), {}),
        np.frompyfunc(abs, 1, 1),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_nothing_is_said_of_things_that_may_change_unseen(thing: Any) -> None:
    assert checksum(made(SPEED=thing)) is None
