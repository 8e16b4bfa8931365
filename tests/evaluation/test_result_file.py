"""The file of a result: all of it is kept, and what is no such file is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import InputError, Result
from tests.evaluation.test_agent import Turns
from tests.evaluation.test_result import RESULTS, TINY
from tests.given import some
from tests.mazes import T
from tests.refusals import assert_damage_is_refused, refused

WEIGHTS: Any = {**TINY, "keep_weights": True}
DRY = {"is_slippery": False}
KEPT: dict[str, Callable[[], Result]] = {
    **RESULTS,
    "weights": lambda: distal.learn("evolved:2", maze=T, steps=9, resample=2, **WEIGHTS),
    "goals that move": lambda: distal.learn("hc", maze=T, steps=9, switch=2, keep_ep=True, **TINY),
    "an environment": lambda: distal.learn("hc", task="CartPole-v1", steps=9, **WEIGHTS),
    "a tabulated one": lambda: distal.learn("hc", task=distal.task_of("FrozenLake-v1", args=DRY), **WEIGHTS),
    "EPs that are no whole numbers": lambda: distal.learn(
        "hc", task=distal.task_of("Pendulum-v1", actions="bins:3"), steps=9, **WEIGHTS
    ),
}


def kept(result: Result, folder: Path, **options: Any) -> Result:
    """Return a result that was saved and loaded."""
    result.save(folder / "result.npz")
    return Result.load(folder / "result.npz", **options)


def all_of(result: Result) -> dict[str, Any]:
    """Return everything that can be asked of a result, arrays with their types."""
    arrays = {name: getattr(result, name) for name in ("best", "ep", "hidden", "output", "seeds", "goals")}
    return {
        **{
            name: None if one is None else (one.dtype.str, one.tolist(), one.flags.writeable)
            for name, one in arrays.items()
        },
        **{
            name: getattr(result, name)
            for name in ("learner", "settings", "trials", "episodes", "resample", "seed", "engine", "workers")
        },
        **{name: getattr(result, name) for name in ("cut", "switch", "target", "fitness", "reached", "maze")},
        "dictionary": result.to_dict(curves=True),
        "texts": (repr(result), result.summary(), result.to_csv(), result._repr_html_()),
        "chance": None if result.chance is None else all_of(result.chance),
    }


@pytest.mark.parametrize("name", KEPT)
def test_a_result_is_loaded_as_it_was_saved(name: str, tmp_path: Path) -> None:
    result = KEPT[name]()
    assert all_of(kept(result, tmp_path)) == all_of(result)


def test_the_engine_of_chance_is_its_own(tmp_path: Path) -> None:
    result = KEPT["maze"]()
    mixed = replace(result, chance=replace(some(result.chance), engine="reference", workers=3))
    assert all_of(kept(mixed, tmp_path)) == all_of(mixed)


@pytest.mark.parametrize("name", ["weights", "an environment", "a tabulated one"])
def test_the_agent_of_a_loaded_result_is_that_of_the_result(name: str, tmp_path: Path) -> None:
    result = KEPT[name]()
    again = kept(result, tmp_path)
    assert again.agent().to_dict() == result.agent().to_dict()
    assert again.agent(1).to_dict() == result.agent(1).to_dict()


# ---------------------------------------------------------------- tasks that were made in Python


class Reflex(distal.Task[Any]):
    """Two goals, and observations that are bits: what is sensed has to be done."""

    inputs, outputs, goals = 1, 2, ("a", "b")

    def begin(self, goal: int, settings: distal.Settings) -> Any:
        return Once(goal)


class Once(distal.tasks.task.Walk):
    """A single step."""

    over, ep = False, 1

    def __init__(self, goal: int) -> None:
        self.goal = goal

    def sense(self) -> tuple[int]:
        return (self.goal,)

    def act(self, action: int) -> None:
        self.over, self.ep = True, int(action != self.goal)


def test_a_result_of_a_task_made_in_python_has_its_numbers_and_acts_on_bits(tmp_path: Path) -> None:
    result = distal.learn("hc", task=Reflex(), **WEIGHTS)
    again = kept(result, tmp_path)
    assert again.to_dict(curves=True) == result.to_dict(curves=True)
    assert again.agent(1).to_dict() == result.agent(1).to_dict()
    assert kept(again, tmp_path).agent(1).to_dict() == result.agent(1).to_dict()
    assert isinstance(kept(result, tmp_path, task=Reflex()).task, Reflex)


def test_an_agent_that_senses_no_bits_needs_the_task_again(tmp_path: Path) -> None:
    result = distal.learn("hc", task=Turns, **WEIGHTS)
    again = kept(result, tmp_path)
    assert again.summary() == result.summary()
    said = refused(again.agent)
    assert "Turns" in said
    assert said.endswith("Result.load(path, task=…) takes the task itself")
    assert kept(result, tmp_path, task=Turns).agent().to_dict() == result.agent().to_dict()
    with pytest.raises(InputError, match=r"the result is of another task: name is 'Turns .* there, 'Frozen"):
        kept(result, tmp_path, task="FrozenLake-v1")


# ---------------------------------------------------------------- refusals


def changed(folder: Path, about: Callable[[dict[str, Any]], Any] | None = None, **arrays: Any) -> Path:
    """Return the file of a result with something else in it; None leaves an array out."""
    KEPT["weights"]().save(folder / "result.npz")
    with np.load(folder / "result.npz") as stored:
        held = {name: stored[name] for name in stored.files}
    if about is not None:
        said = json.loads(str(held["about"]))
        held["about"] = np.array(json.dumps(about(said) or said))
    held = {name: one for name, one in {**held, **arrays}.items() if one is not None}
    np.savez(folder / "result.npz", **held)
    return folder / "result.npz"


@pytest.mark.parametrize(
    ("about", "arrays", "problem"),
    [
        (lambda said: said.update(format="distal-table"), {}, "format is 'distal-table', expected 'distal-r"),
        (lambda said: said.update(version=2), {}, "version is 2, this release reads version 1"),
        (lambda said: said.pop("chance") and None, {}, "field 'chance' is missing"),
        (lambda said: said["result"].update(seed=-1) or said, {}, "seed is -1, expected a whole number"),
        (lambda said: said["result"].pop("steps") and said, {}, "settings is {"),
        (lambda said: said["result"].update(trials=9) or said, {}, "best has 4 rows, expected 18"),
        (None, {"best": None}, "it holds ['about', 'chance_best', 'hidden', 'output'], expected about, best"),
        (None, {"best": np.array([[object()]])}, "it is damaged"),
        (None, {"best": [[1, 2, 3]] * 4}, "best has 4 rows, expected 4 that never rise"),
        (None, {"ep": [[1, 1, 1]] * 4}, "best and ep do not belong together"),
        (None, {"hidden": None}, "hidden or output weights are missing"),
        (None, {"hidden": np.zeros((4, 1, 1), np.float32)}, "hidden has the shape (4, 1, 1), expected"),
    ],
)
def test_a_file_that_holds_no_result_is_refused_in_one_line(
    about: Callable[[dict[str, Any]], Any] | None, arrays: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    path = changed(tmp_path, about, **arrays)
    said = refused(lambda: Result.load(path))
    assert said.startswith(f"result {str(path)!r}: ")
    assert problem in said


def test_a_file_that_is_cut_short_or_garbled_is_refused(tmp_path: Path) -> None:
    assert_damage_is_refused(changed(tmp_path), Result.load)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = KEPT["maze"]()
    result.save(tmp_path / "result.npz")
    before = (tmp_path / "result.npz").read_bytes()

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("distal.base.files.os.fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        replace(result, seed=9).save(tmp_path / "result.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["result.npz"]
    assert (tmp_path / "result.npz").read_bytes() == before
