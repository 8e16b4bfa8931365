"""Results do not change: every array of every public result is for reading alone."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pydoc import locate
from typing import Any

import numpy as np
import pytest

from distal import engines
from distal.base.frozen import read_only
from distal.engines import reference
from distal.learners import Memory
from distal.search.genotypes import Finalists, Genotypes
from distal.show import watch
from distal.tasks.picture import Picture
from tests import doors
from tests.evaluation.test_result import table


def genotypes() -> Genotypes:
    """Return two genotypes."""
    return Genotypes(np.zeros((2, 3), np.int8), np.zeros((2, 1)))


# How to make each public dataclass that holds arrays, itself or in what it holds.
MADE: dict[str, Callable[[], Any]] = {
    "distal.Result": doors.result,
    "distal.Behaviour": lambda: doors.result().behaviour,
    "distal.Comparison": doors.comparison,
    "distal.Evaluation": doors.evaluation,
    "distal.Evolved": doors.evolved,
    "distal.Inspection": doors.inspection,
    "distal.RuleSet": doors.inspected_set,
    "distal.evaluation.usage.Usage": lambda: doors.inspection().usage,
    "distal.Reproduction": doors.reproduction,
    "distal.networks.Weights": lambda: doors.agent().weights,
    "distal.networks.RecurrentWeights": lambda: doors.agent().weights,
    "distal.learners.Memory": lambda: Memory(doors.agent().weights, {"traces": np.zeros(2)}),
    "distal.Agent": doors.agent,
    "distal.Table": lambda: table().table(doors.SHORT),
    "distal.tasks.picture.Picture": lambda: Picture(["G.", "#H"], [0, 1]),
    "distal.engines.Trials": lambda: engines.Runner("cpu").run(
        doors.trials(), keep_weights=True, keep_ep=True
    ),
    "distal.networks.Episode": lambda: next(reference.episodes(doors.trials(), 0)),
    "distal.search.genotypes.Genotypes": genotypes,
    "distal.search.genotypes.Finalists": lambda: Finalists(genotypes(), np.zeros(2), np.zeros(2, np.int64)),
    "distal.show.watched.Watched": lambda: watch.watch(
        doors.RULE, maze=doors.SMALL, goal="0", episodes=3, steps=3
    ),
}
# What holds arrays that are no result.
INPUTS = {"distal.engines.Batch", "distal.search.search.Search"}
INPUTS |= {"distal.search.genetic.GeneticSearch", "distal.search.cma.CMASearch"}


def arrays(thing: object) -> Iterator[np.ndarray[Any, Any]]:
    """Yield every array in an object of ours, in what it holds, and in its properties."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, Mapping):
        for one in thing.values():
            yield from arrays(one)
    elif isinstance(thing, tuple | list):
        for one in thing:
            yield from arrays(one)
    elif is_dataclass(thing) and not isinstance(thing, engines.Batch):
        for field in fields(thing):
            yield from arrays(getattr(thing, field.name))


def test_every_public_dataclass_with_arrays_is_on_the_list() -> None:
    with_arrays = {
        name
        for name in doors.listed()
        if inspect.isclass(thing := locate(name))
        and is_dataclass(thing)
        and any(
            word in str(field.type) for field in fields(thing) for word in ("Array", "EPs", "Activations")
        )
    }
    assert with_arrays <= set(MADE) | INPUTS


@pytest.mark.parametrize("name", MADE)
def test_no_array_of_a_result_can_be_written(name: str) -> None:
    made = MADE[name]()
    for one in (made, copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301 - our own
        found = list(arrays(one))
        assert found
        for array in found:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def test_what_follows_from_a_result_and_is_kept_cannot_be_written_either() -> None:
    for kept in (doors.result().goals, doors.SMALL.walls, doors.SMALL.distances):
        with pytest.raises(ValueError, match="read-only"):
            kept[...] = 0


def test_a_result_copies_no_array_and_leaves_those_that_it_was_made_of_as_they_are() -> None:
    discrete = np.zeros((2, 3), np.int8)
    made = Genotypes(discrete, np.zeros((2, 1)))
    assert np.shares_memory(made.discrete, discrete)
    discrete[0, 0] = 1  # it is ours
    assert made.discrete[0, 0] == 1
    assert read_only(made.discrete) is made.discrete
