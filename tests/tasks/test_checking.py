"""A task that breaks a promise is refused by `check_task`, in one line that says which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from distal import InputError, Settings, Table, TableTask, Task, check_task, task_of
from distal.tasks.mazes import MazeTask
from distal.tasks.picture import Picture
from distal.tasks.task import Walk
from tests.mazes import T
from tests.refusals import refused


class Steps(Walk):
    """A way of three cells; action 1 goes on, action 0 stays."""

    def __init__(self, task: Corridor, settings: Settings) -> None:
        self.task, self.most = task, settings.steps
        self.cell = self.steps = 0

    @property
    def over(self) -> bool:
        return self.cell == 2 or self.steps == self.most

    @property
    def ep(self) -> Any:
        return self.steps + (0 if self.cell == 2 else 5)

    def sense(self) -> Sequence[Any]:
        return [self.cell % 2]

    def act(self, action: int) -> None:
        self.steps += 1
        self.cell += action


class Corridor(Task[Any]):
    """Reach the end of a way, which is a table, too."""

    inputs, outputs, goals = 1, 2, ("end",)
    steps = 4
    walk: type[Steps] = Steps

    def begin(self, goal: int, settings: Settings) -> Any:
        return self.walk(self, settings)

    def table(self, settings: Settings) -> Any:
        return table()


def table(**change: Any) -> Table:
    cells = [[0, 1], [1, 2], [2, 2]]
    given: dict[str, Any] = {
        "observations": [[0], [1], [0]], "following": cells, "costs": np.ones((3, 2), int), "ends": [0, 0, 1],
        "left": 5,
    }  # fmt: skip
    return Table.of(**{**given, **change})


class Drawn(Steps):
    """A way whose first cell is drawn."""

    def __init__(self, task: Any, settings: Settings) -> None:
        super().__init__(task, settings)
        self.cell = int(task.drawn.integers(2))


class Coin(Corridor):
    """A corridor whose first cell is drawn from the seed of the trial."""

    drawn: np.random.Generator
    walk = Drawn

    def for_trial(self, seed: int) -> Coin:
        own = type(self)()
        own.drawn = np.random.default_rng(seed)
        return own

    def table(self, settings: Settings) -> None:
        return None


def test_tasks_that_keep_their_promises_pass() -> None:
    rooms = TableTask(table(), picture=Picture(["..G"], cells=[0, 1, 2]))
    for task in (Corridor(), Coin(), MazeTask(T), MazeTask(T, steps=9), rooms):
        check_task(task)


@pytest.mark.parametrize("name", ["CartPole-v1", "FrozenLake-v1", "CliffWalking-v1"])
def test_environments_and_their_tables_pass(name: str) -> None:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")
    check_task(task_of(name))


def broken(**change: Any) -> Callable[[], Task[Any]]:
    """Return a class of corridors with other members."""
    return type("Broken", (Corridor,), change)


def walking(**change: Any) -> Callable[[], Task[Any]]:
    """Return a class of corridors whose walks have other members, and which is no table."""
    return broken(walk=type("Other", (Steps,), change), table=lambda *_: None)


def same_walk(task: Any, goal: int, settings: Settings) -> Walk:
    task.made = getattr(task, "made", None) or Steps(task, Settings(steps=10_000))
    task.made.cell = 0
    return task.made  # type: ignore[no-any-return]


def fails(*_: object) -> Any:
    raise ValueError("no such button")


class Aging(Steps):
    """A walk that knows how many have begun before it."""

    begun = 0

    def __init__(self, task: Corridor, settings: Settings) -> None:
        super().__init__(task, settings)
        Aging.begun += 1
        self.cell = Aging.begun % 2


class Restless(Steps):
    """A walk in which looking is a step."""

    def sense(self) -> Sequence[int]:
        self.cell += 1
        return [self.cell % 2]


HERE = "in step 1 of an episode towards goal 'end'"
END = "at the end of an episode towards goal 'end'"
BROKEN: dict[str, tuple[Callable[[], Any], str]] = {
    "no task": (object, "task is <object object"),
    "a class": (lambda: Corridor, "task is the class Corridor, expected one of its objects: Corridor()"),
    "the same methods alone": (lambda: Steps(Corridor(), Settings()), "a class of your own inherits from"),
    "no inputs": (type("Bare", (Task,), {"begin": fails}), "task Bare has no inputs; set it in the"),
    "no outputs": (broken(outputs=0), "the number of outputs is 0, expected"),
    "no goals": (broken(goals=()), "the number of goals is 0, expected"),
    "goals of one name": (broken(goals=("a", "a")), "goals are ['a', 'a'], expected different names"),
    "too few actions": (broken(actions=("on",)), "actions has 1 names, the task has 2 outputs"),
    "a target that fails": (broken(target=fails), "target(settings) fails with ValueError: no such button"),
    "a recipe that is no JSON": (broken(to_dict=lambda task: {1: {2}}), "to_dict() returns {1: {2}}, expect"),
    "a trial of another size": (
        broken(for_trial=lambda task, seed: MazeTask(T)), "for_trial(seed) returns MazeTask(",
    ),
    "a table that is none": (broken(table=lambda *_: 3), "the table is 3, expected a Table"),
    "a table of other inputs": (
        broken(table=lambda *_: table(observations=[[0, 1]] * 3)),
        "the table has 2 inputs, the task 1; they must be the same",
    ),
    "fractions in a table": (broken(whole=False), "whole is False, but EPs of a table are whole"),
    "a picture of other states": (
        broken(picture=Picture(["..", ".G"], cells=[0, 1, 2, 3])), "picture has 4 states, the table 3",
    ),
    "a table that senses otherwise": (
        broken(table=lambda *_: table(observations=[[1], [1], [0]])),
        "the table and the walk disagree: after the actions 0,",
    ),
    "a table that ends elsewhere": (
        broken(table=lambda *_: table(ends=[0, 1, 1])), "they differ in their steps, ",
    ),
    "a table that costs otherwise": (broken(table=lambda *_: table(left=6)), "they differ in their EP, 9 an"),
    "no walk": (broken(begin=lambda *_: 3), "begin returns 3, expected a walk, of a class that"),
    "begin that fails": (broken(begin=fails), "begin(0, settings) fails with ValueError: no such button"),
    "one walk for all": (broken(begin=same_walk), "begin returns the walk of the episode before; make a new"),
    "a walk that is not afresh": (broken(walk=Aging, table=lambda *_: None), "a trial with one seed is not"),
    "over at once": (walking(over=True), "over is True before the first step of an episode"),
    "too many bits": (walking(sense=lambda walk: [0, 1]), f"sense() {HERE} gives 2 bits, the task has"),
    "a bit of two": (walking(sense=lambda walk: [2]), f"sense() {HERE} gives 2, expected 0 or 1"),
    "no list of bits": (walking(sense=lambda walk: 1), f"sense() {HERE} is 1, expected a list of bits"),
    "sensing that is a step": (walking(sense=Restless.sense), "gives 1, and then 0; it must change"),
    "an action that is refused": (
        walking(act=fails),
        f"act(0) fails with ValueError: no such button, {HERE}; every action",
    ),
    "an EP that is half": (walking(ep=0.5), f"ep {END} is 0.5; say whole = False in the class"),
    "an EP below the lowest": (broken(lowest=9, table=lambda *_: None), "but lowest is 9"),
    "cut that is a number": (walking(cut=1), "cut is 1, expected"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_task_that_breaks_a_promise_is_refused_in_one_line(name: str) -> None:
    make, problem = BROKEN[name]
    assert problem in refused(lambda: check_task(make()))


def test_chance_that_no_seed_decides_is_refused() -> None:
    chance = np.random.default_rng(1)

    class Free(Coin):
        def for_trial(self, seed: int) -> Coin:
            own = super().for_trial(seed)
            own.drawn = chance
            return own

    with pytest.raises(InputError, match="draw random numbers from the seed that for_trial gets"):
        check_task(Free())
