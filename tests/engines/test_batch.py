"""Batches: one that exists is valid, and its parts hold their own trials."""

from __future__ import annotations

import timeit
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from distal.engines import Batch
from distal.engines.cpu import engine as cpu
from distal.engines.reference import engine as reference
from tests import doors
from tests.refusals import refused


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"goal": np.array([0, 2])}, "goal holds 2, expected numbers from 0 to 1"),
        ({"goal": np.array([0, 10**8])}, "goal holds 100000000, expected numbers from 0 to 1"),
        ({"goal": np.array([0.0, 1.0])}, "goal is array([0., 1.]), expected an array of whole numbers"),
        ({"learner": np.array([0, 1])}, "learner holds 1, expected numbers from 0 to 0"),
        ({"seed": np.array([0, -1])}, "seed holds -1, expected numbers from 0 to 18446744073709551615"),
        ({"seed": np.zeros(3, np.uint64)}, "learner, goal and seed have 2, 2 and 3 entries, expected one of"),
        ({"learners": ()}, "learners has 0 entries, expected at least one, and all of one kind"),
        ({"learners": (doors.RULE, doors.RANDOM)}, "learners has 2 entries, expected at least one"),
        ({"record": (2, 1)}, "record is (2, 1), expected a list of episodes, from 1 and ascending"),
        ({"record": (1, 3)}, "record is 3, expected a whole number from 1 to 2"),
    ],
)
def test_a_batch_that_is_none_cannot_be_made(change: dict[str, Any], problem: str) -> None:
    assert refused(lambda: replace(doors.trials(2), **change)).startswith(problem)


def test_a_batch_holds_plain_numbers_and_arrays_of_one_kind() -> None:
    far_apart: Any = np.zeros(4, np.int16)[::2]
    numbers: dict[str, Any] = {"episodes": np.int64(2), "resample": np.int8(1), "record": [np.int64(2)]}
    batch = replace(doors.trials(2), learner=far_apart, goal=far_apart, seed=far_apart, **numbers)
    arrays = (batch.learner, batch.goal, batch.seed)
    assert [array.dtype for array in arrays] == [np.int32, np.int32, np.uint64]
    assert all(array.flags.c_contiguous for array in arrays)
    assert repr((batch.episodes, batch.resample, batch.record)) == "(2, 1, (2,))"
    assert cpu.run(batch).best.tolist() == reference.run(batch).best.tolist()


def test_a_batch_is_checked_in_no_time() -> None:
    learner, goal, seed = doors.arrays(8_400)  # a generation of fifteen runs of the paper
    rules = (doors.RULE,) * 210
    make = partial(Batch, rules, learner, goal, seed, doors.TASK, doors.SHORT, 100)
    assert min(timeit.repeat(make, number=1, repeat=20)) < 0.001  # seconds; it takes 0.03 ms
