"""A learner that breaks a promise is refused by `check_learner`, in one line that says which."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from distal import HillClimbing, InputError, check_learner, find_learner
from distal.learners import Memory


@pytest.mark.parametrize("name", ["evolved:1", "hc", "chance"])
def test_the_learners_of_the_package_keep_their_promises(name: str) -> None:
    check_learner(find_learner(name))


def broken(**parts: Any) -> Any:
    """Return a climber of a class with other parts, which nobody has registered."""
    kind: Any = type("Broken", (HillClimbing,), parts)
    return dataclass(frozen=True)(kind)(0.1, 0.2, 0.3)


def same(matrix: Any) -> Any:
    return matrix


WRONG: Any = {"ep": "5"}


def updates(change: Any) -> Any:
    """Return an update that changes the matrices of the episode."""

    def update(self: Any, network: Any, trial: Any, memory: Any, episode: Any) -> Memory:
        old = episode.weights
        return Memory(replace(old, hidden=change(old.hidden), output=change(old.output)))

    return update


def test_a_learner_that_does_nothing_keeps_them_too() -> None:
    check_learner(broken(update=updates(same)))


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"update": lambda *given: given[-1].weights}, "Broken.update returns .*, expected a Memory with We"),
        ({"update": lambda *given: 1 / 0}, "Broken fails with ZeroDivisionError: division by zero"),
        ({"update": updates(np.transpose)}, r"the weights have the shapes \(5, 1\)"),
        ({"update": updates(lambda one: one.astype(np.float64))}, "not finite 32-bit floats"),
        ({"update": updates(lambda one: one + np.float32(1))}, "not finite 32-bit floats, or are where no"),
        (
            {"update": updates(lambda one: one * np.float32(np.random.default_rng().random()))},
            "other weights the second ti",
        ),
        ({"update": lambda *given: Memory(given[-1].weights, WRONG)}, "Broken remembers ep = '5', expec"),
        ({"to_dict": lambda self: {**HillClimbing.to_dict(self), "sigma": 0.5}}, r"from_dict\(to_dict\(\)\)"),
        ({"from_genes": classmethod(lambda cls, *genes: None)}, r"Broken.from_genes\(\) gives None"),
    ],
)
def test_a_broken_promise_is_named(parts: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem) as refusal:
        check_learner(broken(**parts))
    assert "\n" not in str(refusal.value)


def test_a_class_is_no_learner() -> None:
    with pytest.raises(InputError, match="learner is the class HillClimbing, expected one of its objects"):
        check_learner(HillClimbing)  # type: ignore[arg-type]
