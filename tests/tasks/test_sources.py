"""What a task can be given as, and what it is made again from."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from distal import InputError, Maze, Settings
from distal.tasks.gym import EnvTask
from distal.tasks.mazes import MazeTask
from distal.tasks.sources import AT_ONCE, rebuilt, task_of
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from tests.refusals import refused

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")

DRY = {"is_slippery": False}
TABLE = Table.of([[0], [1]], [[0, 1], [0, 1]], [[1, 1], [1, 2]], [0, 1])
MAZE = Maze.from_text("#####\n#0S1#\n#####")


class Ring(gymnasium.Env[Any, Any]):  # type: ignore[misc, name-defined]
    """A ring of cells, to be walked around."""

    def __init__(self, size: int = 5) -> None:
        self.observation_space = gymnasium.spaces.Discrete(size)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.size = size

    def reset(self, **given: Any) -> tuple[Any, Any]:
        self.cell = 0
        return 0, {}

    def step(self, action: Any) -> Any:
        self.cell += 1 if action else 0
        return self.cell % self.size, -1.0, self.cell == self.size, False, {}


def cell(env: Any) -> int:
    return int(env.cell)


def spot(env: Any) -> int:
    return int(env.s)


def far(observation: Any) -> list[bool]:
    return [observation > 2]


def ep(walk: Any) -> float:
    return 3.5


def test_a_task_is_what_it_is_given_as(tmp_path: Path) -> None:
    TableTask(TABLE, name="two").save(tmp_path / "two.npz")
    assert task_of(MAZE) == MazeTask(MAZE)
    assert task_of(TABLE).table(Settings()) is TABLE
    maze = MazeTask(MAZE)
    assert task_of(maze) is maze
    for path in (tmp_path / "two.npz", str(tmp_path / "two.npz")):
        assert task_of(path).name == "two"
    for given in (Ring(), Ring, partial(Ring, 5)):
        task = task_of(given)
        assert isinstance(task, TableTask)
        assert len(task.table(Settings()).following) == 6
    lake = task_of("FrozenLake-v1", args=DRY, encode="one-hot", starts=2)
    assert isinstance(lake, TableTask)
    assert (lake.inputs, lake.goals) == (16, ("0", "1"))
    assert task_of(Ring, args={"size": 3}).inputs == 2


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"given": "FrozenLake-v1"}, "the result of action 0 in state 0"),
        ({"given": "CartPole-v1"}, "a Box observation usually has too many states for a table"),
        ({"given": Ring, "ep": ep}, "EP is a function of the episode, which no table knows; leave ep out"),
        ({"given": lambda: Ring(AT_ONCE)}, "Ring has more than 2,000 states"),
        ({"given": Ring, "tabulated": False}, None),
    ],
)
def test_an_environment_that_is_no_table_stays_one_and_says_why(given: Any, reason: str | None) -> None:
    task = task_of(**given)
    assert isinstance(task, EnvTask)
    why = task.no_table
    assert why is None if reason is None else why is not None and why.startswith(reason)
    assert task_of(Ring).no_table is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"given": "FrozenLake-v1", "tabulated": True}, "the result of action 0 in state 0"),
        ({"given": Ring, "ep": ep, "tabulated": True}, "EP is a function of the episode, which no table kno"),
        ({"given": MAZE, "encode": "binary"}, "encode is for environments, and the task is Maze("),
        ({"given": TABLE, "starts": 2}, "starts is for environments, and the task is Table("),
        ({"given": MazeTask(MAZE), "tabulated": False}, "tabulated is for environments, and the task is"),
        ({"given": "none.npz"}, "cannot read table 'none.npz': No such file"),
        ({"given": MazeTask}, "cannot make the environment: "),
        ({"given": Ring, "key": lambda env: [1]}, "key returns [1], expected something hashable"),
    ],
)
def test_what_is_no_task_is_refused(given: dict[str, Any], problem: str) -> None:
    assert refused(lambda: task_of(**given)).startswith(problem)


def test_a_table_that_must_be_may_have_more_states() -> None:
    task: Any = task_of(lambda: Ring(AT_ONCE), key=cell, tabulated=True)
    assert len(task.table(Settings()).following) == AT_ONCE + 1


# ---------------------------------------------------------------- made again


def kept(task: Any) -> Any:
    """Return what a task is made again from, as a file holds it."""
    return json.loads(json.dumps(task.to_dict()))


def test_a_task_is_made_again(tmp_path: Path) -> None:
    TableTask(TABLE, ["only"], name="two").save(tmp_path / "two.npz")
    task: Any
    for task in (
        task_of(tmp_path / "two.npz"),
        task_of("FrozenLake-v1", args=DRY, starts=2, encode="one-hot"),
    ):
        again: Any = rebuilt(kept(task))
        assert again.table(Settings()).digest == task.table(Settings()).digest
        assert kept(again) == kept(task)


def test_an_environment_is_made_again_with_the_edges_that_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    task: Any = task_of("CartPole-v1", starts=2)
    data = kept(task)
    # A private method: nothing has to be seen again.
    monkeypatch.setattr(EnvTask, "_look", None)
    again = rebuilt(data)
    assert isinstance(again, EnvTask)
    assert kept(again) == data
    walks = [one.for_trial(1).begin(1, Settings(steps=9)) for one in (task, again)]
    for walk in walks:
        walk.act(1)
    assert walks[0].sense() == walks[1].sense()


@pytest.mark.parametrize(
    ("make", "change", "problem"),
    [
        (lambda: TableTask(TABLE, name="two"), {}, "table 'two' was made in a program; save it, and give th"),
        (lambda: task_of(Ring), {}, "the environment was given as 'tests.tasks.test_sources.Ring'; give the"),
        (lambda: task_of(Ring, tabulated=False), {}, "the environment was given as 'tests.tasks.test_source"),
        (lambda: task_of("FrozenLake-v1", args=DRY, key=spot), {}, "the environment was tabulated with the"),
        (lambda: task_of("FrozenLake-v1", ep=ep), {}, "the EP of 'FrozenLake-v1' was the function 'tests.ta"),
        (lambda: task_of("FrozenLake-v1", args={"desc": ("SF", "FG")}), {}, "the arguments of 'FrozenLake-v"),
        (lambda: task_of("FrozenLake-v1", encode=far), {}, "encode was the function far; give the function"),
        (
            lambda: task_of("FrozenLake-v1"),
            {"version": "0.1"},
            f"'FrozenLake-v1' came from 'gymnasium' '0.1', here is {gymnasium.__version__}; install the vers",
        ),
        (lambda: task_of("FrozenLake-v1"), {"gymnasium": "0.1"}, "'FrozenLake-v1' came from 'gymnasium' '0."),
        (
            lambda: task_of("FrozenLake-v1"),
            {"package": "nosuch", "version": "1"},
            "'FrozenLake-v1' came from 'nosuch' '1', which is not installed here",
        ),
        (
            lambda: task_of("FrozenLake-v1"),
            {"arguments": {"map_name": "8x8"}},
            "encoder 'binary' of 4 bits was not made for Discrete(64); the environment has changed",
        ),
        (lambda: task_of("FrozenLake-v1"), {"kind": "other"}, "task is {'kind': 'other', "),
        (lambda: task_of("FrozenLake-v1", args=DRY), {"digest": "0" * 64}, "the environment gives another t"),
    ],
)
def test_a_task_that_would_be_another_one_is_refused(make: Any, change: Any, problem: str) -> None:
    assert refused(lambda: rebuilt({**kept(make()), **change})).startswith(problem)


def test_a_stranger_cannot_have_a_module_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile.py").write_text("raise SystemExit('it was run')")
    monkeypatch.syspath_prepend(tmp_path)
    data = {**kept(task_of("FrozenLake-v1")), "id": "hostile:FrozenLake-v1"}
    with pytest.raises(InputError, match="'hostile:FrozenLake-v1' names a module of no installed package"):
        rebuilt(data)
    again = rebuilt({**data, "id": "gymnasium:FrozenLake-v1"})
    assert kept(again)["id"] == "gymnasium:FrozenLake-v1"


class Doubled(gymnasium.ObservationWrapper[Any, Any, Any]):  # type: ignore[misc, name-defined]
    """Shows twice the cell."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Discrete(2 * env.observation_space.n)

    def observation(self, observation: Any) -> Any:
        return 2 * observation


FLATTEN = "gymnasium.wrappers:FlattenObservation"


def test_wrappers_go_around_an_environment_the_innermost_first() -> None:
    bits = {"tests.tasks.test_sources:Doubled": 4, FLATTEN: 6}
    for wrap, inputs in ((Doubled, 4), ([Doubled, Doubled], 5), (list(bits), 10), (FLATTEN, 5)):
        assert task_of(Ring, wrap=wrap, tabulated=False).inputs == inputs
    assert task_of(Ring, wrap=Doubled).inputs == 4  # a table, too


def test_wrappers_of_installed_packages_are_made_again_with_the_environment() -> None:
    for tabulated in (False, None):
        task: Any = task_of("FrozenLake-v1", args=DRY, wrap=FLATTEN, tabulated=tabulated)
        again: Any = rebuilt(kept(task))
        assert kept(again) == kept(task)
        assert again.inputs == task.inputs == 16
    by_class: Any = task_of("FrozenLake-v1", args=DRY, wrap=gymnasium.wrappers.FlattenObservation)
    assert rebuilt(kept(by_class)).inputs == 16
    data = kept(task_of("FrozenLake-v1", wrap=FLATTEN, tabulated=False))
    data["wrap"][0]["version"] = "0.1"
    assert "came from 'gymnasium' '0.1', here is" in refused(lambda: rebuilt(data))
    data = kept(task_of("FrozenLake-v1", wrap=lambda env: gymnasium.wrappers.FlattenObservation(env, *())))
    assert refused(partial(rebuilt, data)).endswith("; give the task again")


def test_wrappers_of_your_own_module_are_made_again_once_it_is_imported() -> None:
    data = kept(task_of("FrozenLake-v1", args=DRY, wrap=Doubled, tabulated=False))
    assert rebuilt(data).inputs == 5
    data["wrap"][0] |= {"name": "my_wrappers:Doubled", "package": "my_wrappers"}
    problem = refused(partial(rebuilt, data))
    assert "in my_wrappers:Doubled, of no installed package: import my_wrappers first" in problem


@pytest.mark.parametrize(
    ("wrap", "problem"),
    [
        (3, "wrap is 3, expected a list of wrappers, as ['minigrid.wrappers:ImgObsWrapper']"),
        (["Doubled"], "wrap holds 'Doubled', expected a wrapper, or its name as 'module:Class'"),
        ("gymnasium.wrappers:Flatten", "there is no 'Flatten' in gymnasium.wrappers; did you mean 'Flatten"),
        ("gymnasium.wrappers:TimeLimit", "cannot wrap Ring in gymnasium.wrappers:TimeLimit: TypeError: "),
        (lambda env: 3, "returns 3, expected an environment"),
        (lambda env: Ring(), "gives another environment, Ring; expected a wrapper of Ring"),
    ],
)
def test_what_is_no_wrapper_is_refused(wrap: Any, problem: str) -> None:
    assert problem in refused(lambda: task_of(Ring, wrap=wrap))


def test_an_encoder_goes_by_its_name_into_files_and_comes_back() -> None:
    task: Any = task_of("FrozenLake-v1", encode="tests.tasks.test_sources:far")
    data = kept(task)
    assert data["encoder"] == {"word": "function tests.tasks.test_sources:far", "bits": 1}
    assert kept(rebuilt(data)) == data  # this module is imported already
    data["encoder"]["word"] = "function nosuch_module:far"
    assert refused(lambda: rebuilt(data)) == (
        "encode was the function nosuch_module:far, of no installed package: import nosuch_module first, "
        "if you trust it"
    )


def test_a_file_that_holds_another_table_is_refused(tmp_path: Path) -> None:
    TableTask(TABLE).save(tmp_path / "two.npz")
    data = kept(task_of(tmp_path / "two.npz"))
    TableTask(Table.of([[0], [1]], [[0, 1], [0, 1]], [[1, 1], [1, 3]], [0, 1])).save(tmp_path / "two.npz")
    with pytest.raises(InputError, match=r"file .*two.npz' gives another table than before"):
        rebuilt(data)
