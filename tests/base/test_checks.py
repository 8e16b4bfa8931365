"""What is asked for is looked at before it is copied: how long it is, and what it holds."""

from __future__ import annotations

import resource
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
import pytest

import distal
from distal import InputError, Maze, Rule, Switch
from distal.base import checks
from distal.tasks.picture import Picture
from tests import doors
from tests.refusals import refused

HUGE = range(10**9)


class Endless(Sequence[int]):
    """It says that it is short, and has no end."""

    def __len__(self) -> int:
        return 3

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[int]: ...
    def __getitem__(self, place: int | slice) -> int | Sequence[int]:
        return 0 if isinstance(place, int) else self


class Failing(Endless):
    """It does not know its length."""

    def __len__(self) -> int:
        raise ZeroDivisionError("no length")


TAKES: dict[str, Callable[[Any], object]] = {
    "Rule": lambda given: Rule(given, 0.1, 0.2, 0.3, 0.4),
    "Switch": lambda given: Switch(2, given),
    "Maze": Maze,
    "Maze.sense": lambda given: doors.SMALL.sense(given, 0),
    "compare": distal.compare,
    "inspect_set": distal.inspect_set,
    "evolve": lambda given: distal.evolve(**doors.SMALLEST, maze=doors.SMALL, begin_with=given),
    "Config": lambda given: distal.search.config.Config(begin_with=[given]),  # type: ignore[arg-type]
    "Batch, learners": lambda given: replace(doors.trials(), learners=given),
    "Batch, record": lambda given: replace(doors.trials(), record=given),
    "Batch, seed": lambda given: replace(doors.trials(), seed=given),
    "Table": lambda given: distal.Table.of(given, [[0]], [[1]], [False]),
    "Table, rows": lambda given: distal.Table.of([given], [[0]], [[1]], [False]),
    "Picture": lambda given: Picture(given, [0]),
    "Picture, cells": lambda given: Picture([".."], given),
    "Agent.act": lambda given: doors.agent().act(given),
    "Aim": lambda given: distal.tasks.task.Aim(doors.TASK, 0, given, 1),
}


@pytest.mark.parametrize("given", [HUGE, Endless(), Failing()], ids=["huge", "endless", "failing"])
@pytest.mark.parametrize("name", TAKES)
def test_a_list_that_computes_its_entries_is_refused_before_it_fills_the_memory(
    name: str, given: Sequence[int]
) -> None:
    doors.agent()  # made once, which takes longer than any refusal
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    with pytest.raises(InputError) as refusal:
        TAKES[name](given)
    assert time.perf_counter() - began < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB
    assert "\n" not in str(refusal.value)


def test_a_refusal_says_how_long_a_list_may_be() -> None:
    said = refused(lambda: checks.sequence("rows", HUGE, "a list of rows", most=32))
    assert said == "rows has 1,000,000,000 entries, at most 32 are allowed"
    assert checks.sequence("rows", range(32), "a list of rows", most=32) == tuple(range(32))


def test_a_long_list_is_not_written_out_to_be_cut_short() -> None:
    long, nested = [0] * 10**7, ["ab"] * 10**3
    tracemalloc.start()
    assert checks.shown(long) == f"{repr(long[:99])[:100]}…"
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 100_000  # bytes; written out it has thirty million letters
    assert checks.shown(nested) == f"{repr(nested)[:100]}…"
    assert checks.shown([0] * 10) == repr([0] * 10)


def test_a_value_is_shown_without_where_it_lies_in_memory() -> None:
    assert checks.shown(object()) == "<object object>"
    assert checks.shown([checks.shown, 0x12]) == "[<function shown>, 18]"
    assert checks.shown("starts at 0x12") == "'starts at 0x12'"


def test_a_picture_of_a_maze_is_no_longer_than_any_maze() -> None:
    with pytest.raises(InputError, match="picture has 2,000,000 characters, at most 1,048,576 are allowed"):
        Maze.from_text("#" * 2_000_000)


@pytest.mark.parametrize("name", ["learner", "goal", "seed"])
def test_masked_arrays_are_no_numbers(name: str) -> None:
    masked: Any = np.ma.array(doors.arrays(2)[0], mask=True)
    with pytest.raises(InputError, match=f"{name} is masked_array.*, expected an array of whole numbers"):
        replace(doors.trials(2), **{name: masked})
    assert checks.array(masked).ndim == 0
