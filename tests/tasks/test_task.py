"""Any task, from the front door: the same bits whoever does the work, and after any interruption."""

from __future__ import annotations

import csv
import importlib.metadata
import io
import json
import logging
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import EnvTask, InputError, Result, TableTask, evolve, learn, resume, task_of
from distal.cli import main
from distal.engines import Runner
from distal.search.contents import summary
from distal.tasks import naming
from distal.tasks.gym import EnvWalk
from distal.tasks.mazes import MazeTask
from distal.tasks.stored import StoredTask
from tests.command_line import output
from tests.evolutions import Stop, contents, stop_after
from tests.folders import reconfigured, snapshot
from tests.given import some
from tests.mazes import T
from tests.refusals import refused

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")

SHORT: Any = {"trials": 3, "episodes": 6, "steps": 25, "hidden": 4, "seed": 2}
EVOLVED: Any = {
    "runs": 2, "generations": 2, "search": distal.GeneticAlgorithm(population=4, elite_count=1),
    "trials": 2, "episodes": 3, "steps": 12, "hidden": 3,
}  # fmt: skip


class Drift(gymnasium.Env[Any, Any]):  # type: ignore[misc, name-defined]
    """A place on a line that drifts by chance; the way to its end costs fractions."""

    broken_after: int | None = None  # resets of all of them together
    resets = 0

    def __init__(self, length: float = 2.0) -> None:
        self.observation_space = gymnasium.spaces.Box(-9, 9, (1,))
        self.action_space = gymnasium.spaces.Discrete(2)
        self.length = length

    def _seen(self) -> Any:
        return np.array([self.place], np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        Drift.resets += 1
        if Drift.broken_after is not None and Drift.resets > Drift.broken_after:
            raise OSError("the line is broken")
        self.place = float(self.np_random.normal())
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place = float(
            np.clip(self.place + (0.5 if action else -0.5) + self.np_random.normal() / 8, -9, 9)
        )
        return self._seen(), -0.1 - abs(self.place) / 7, abs(self.place) > self.length, False, {}


class Mill(gymnasium.Env[Any, Any]):  # type: ignore[misc, name-defined]
    """Eleven places, whole rewards and no chance: a table."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Discrete(11)
        self.action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.place = 1
        return self.place, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = -float((7 * self.place + 5 * int(action)) % 13)
        self.place = (3 * self.place + 2 * int(action) + 1) % 11
        return self.place, reward, self.place == 0, False, {}


def nothing(walk: EnvWalk) -> float:
    return 0


@pytest.fixture(autouse=True)
def few_fresh_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure winners on few trials; four hundred take seconds on the reference engine."""
    monkeypatch.setattr("distal.search.config.REMEASURED", 4)


@pytest.fixture
def drifting() -> Iterator[str]:
    """Make the environment known by an id."""
    gymnasium.register("tests/Drift-v0", entry_point=Drift)
    yield "tests/Drift-v0"
    del gymnasium.registry["tests/Drift-v0"]
    Drift.broken_after, Drift.resets = None, 0


# ---------------------------------------------------------------- whoever does the work


def processes() -> Executor:
    return ProcessPoolExecutor(2, get_context("spawn"))


def threads() -> Executor:
    return ThreadPoolExecutor(2)


WAYS: dict[str, tuple[bool, dict[str, Any], Callable[[], AbstractContextManager[Any]]]] = {
    "a table on cpu": (True, {"engine": "cpu"}, nullcontext),
    "a table on cpu, two threads": (True, {"engine": "cpu", "workers": 2}, nullcontext),
    "a table on reference": (True, {"engine": "reference"}, nullcontext),
    "an environment": (False, {"workers": 1}, nullcontext),
    "an environment on reference": (False, {"engine": "reference", "workers": 1}, nullcontext),
    "an environment in two processes": (False, {"workers": 2}, nullcontext),
    "an environment in three processes": (False, {"engine": "reference", "workers": 3}, nullcontext),
    "an environment in a pool of threads": (False, {"engine": "reference"}, threads),
    "an environment in a pool of processes": (False, {"engine": "reference"}, processes),
}


@pytest.fixture(scope="module")
def walked() -> tuple[Result, distal.Evolved]:
    """Return what the definition gives: the environment itself, step by step."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("distal.search.config.REMEASURED", 4)
        kept: Any = {"keep_ep": True, "keep_weights": True, "engine": "reference"}
        return (
            learn("evolved:1", task=EnvTask(Mill), **SHORT, **kept),
            evolve(task=EnvTask(Mill), **EVOLVED, engine="reference"),
        )


@pytest.mark.parametrize("way", WAYS)
def test_an_environment_is_learned_and_evolved_with_the_same_bits(
    way: str, walked: tuple[Result, distal.Evolved]
) -> None:
    tabulated, how, pool = WAYS[way]
    task = task_of(Mill, tabulated=tabulated)
    with pool() as executor:
        runner = Runner(**how, executor=executor)
        found = learn("evolved:1", task=task, **SHORT, engine=runner, keep_ep=True, keep_weights=True)
        evolved = evolve(task=task, **EVOLVED, engine=runner)
    learned, right = walked
    one: Any
    other: Any
    for one, other in ((found, learned), (found.chance, learned.chance)):
        assert one.best.tolist() == other.best.tolist()
        assert one.ep.tolist() == other.ep.tolist()
    assert some(found.hidden).tobytes() == some(learned.hidden).tobytes()
    assert len({ep for row in learned.best.tolist() for ep in row}) > 3  # there was something to tell apart
    assert evolved.best.tolist() == right.best.tolist()
    assert evolved.winners == right.winners


@pytest.mark.parametrize("workers", [2, 3])
def test_chance_in_an_environment_does_not_depend_on_the_number_of_processes(workers: int) -> None:
    alone, together = (
        learn("hc", task=Drift, **SHORT, keep_ep=True, engine=Runner(workers=count)) for count in (1, workers)
    )
    assert some(alone.ep).tobytes() == some(together.ep).tobytes()
    assert alone.cut == together.cut > 0


def test_processes_share_the_first_batch_and_are_no_more_than_its_trials() -> None:
    runner = Runner("reference", workers=500)
    learn("hc", task=Drift, **{**SHORT, "episodes": 60}, chance=False, engine=runner)
    # A private list: no result tells how many processes there were.
    (pool,) = runner._pools
    assert (pool.workers, pool.tasks) == (3, 3)
    learn("hc", task=Drift, **{**SHORT, "trials": 4}, chance=False, engine=runner)
    assert [one.workers for one in runner._pools] == [3, 4]


def test_processes_are_forked_without_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    fork = os.fork

    def warning() -> int:  # as Python 3.12 does where there are threads
        warnings.warn("multi-threaded, use of fork() may lead to deadlocks", DeprecationWarning, stacklevel=1)
        return fork()

    monkeypatch.setattr(os, "fork", warning)
    assert learn("hc", task=Drift, **SHORT, engine=Runner(workers=2)).best.shape == (3, 6)


def test_without_an_engine_steps_runs_what_cpu_cannot_and_who_chose_one_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "distal")
    result = learn("hc", task=Drift, **SHORT)
    assert (result.engine, some(result.chance).engine) == ("steps", "steps")
    assert not [line for line in caplog.messages if not line.startswith("compiling")]
    runner = Runner("auto")
    for _ in range(2):
        assert learn("hc", task=Drift, engine=runner, **SHORT).engine == "steps"
    (message,) = [line for line in caplog.messages if line.startswith("using engine steps")]
    assert message == "using engine steps: Drift has no table, which engines cpu and gpu need"
    assert learn("hc", task="CliffWalking-v1", **SHORT).engine == "cpu"


# ---------------------------------------------------------------- numbers that are not whole


def test_fractions_are_kept_whole_in_curves_csv_and_json(tmp_path: Path) -> None:
    result = learn("hc", task=Drift, **SHORT, keep_ep=True)
    assert result.ep is not None
    assert result.ep.dtype == result.best.dtype == np.float64
    assert (result.ep % 1 != 0).all()
    assert (result.best == np.minimum.accumulate(result.ep, axis=1)).all()
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert [float(row["ep"]) for row in rows] == result.ep.ravel().tolist()
    assert [float(row["best"]) for row in rows] == result.best.ravel().tolist()
    assert {row["goal"] for row in rows} == {"0"}
    data = json.loads(json.dumps(result.to_dict(curves=True)))
    assert data["curves"]["ep"] == result.ep.tolist()
    assert data["best"] == result.final.tolist()
    assert (data["reached"], result.reached, result.target) == (None, None, None)
    assert data["behaviour"]["episodes_reached"] is None
    assert data["task"]["name"] == "Drift"
    assert "maze" not in data
    assert "reached" not in result.summary()


# ---------------------------------------------------------------- interrupted and resumed


def interrupted(out: Path, task: Any, after: int = 0) -> Path:
    """Return the folder of runs that were interrupted after a generation."""
    with pytest.raises(Stop):
        evolve(task=task, **EVOLVED, out=out, progress=stop_after(after))
    return out


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("name", ["CartPole-v1", "CliffWalking-v1"])
def test_resumed_runs_rebuild_their_environment_and_end_with_the_same_bytes(
    name: str, after: int, tmp_path: Path
) -> None:
    whole = evolve(task=name, **EVOLVED, out=tmp_path / "whole")
    again = resume(interrupted(tmp_path / "parts", name, after), engine=Runner(workers=2))
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")
    assert again.best.tolist() == whole.best.tolist()
    assert again.winners == whole.winners


def test_a_task_made_in_python_has_to_be_given_again(tmp_path: Path) -> None:
    evolve(task=Drift, **EVOLVED, out=tmp_path / "whole")
    interrupted(tmp_path / "parts", Drift)
    before = snapshot(tmp_path / "parts")
    with pytest.raises(InputError, match=r"given as 'tests.tasks.test_task.Drift'; give the task again$"):
        resume(tmp_path / "parts")
    assert snapshot(tmp_path / "parts") == before
    resume(tmp_path / "parts", task=Drift)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ("FrozenLake-v1", "name is 'CartPole-v1' there, 'FrozenLake-v1' here"),
        (lambda: EnvTask("CartPole-v1", starts=2), "goals is ['0'] there, ['0', '1'] here"),
        (lambda: EnvTask("CartPole-v1", encode="bins:4:quantiles", args={"sutton_barto_reward": True}),
         "arguments is {} there, {'sutton_barto_reward': True} here"),
        (lambda: EnvTask("CartPole-v1", ep=nothing),
         "ep is None there, 'tests.tasks.test_task.nothing' here"),
    ],
)  # fmt: skip
def test_runs_of_another_task_are_not_resumed(other: Any, problem: str, tmp_path: Path) -> None:
    interrupted(tmp_path / "runs", "CartPole-v1")
    before = snapshot(tmp_path)
    given = other() if callable(other) else other
    said = refused(lambda: resume(tmp_path / "runs", task=given))
    assert said == f"the runs are of another task: {problem}"
    assert snapshot(tmp_path) == before


def test_runs_are_not_resumed_with_another_version_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(tmp_path / "runs", "CartPole-v1")
    evolve(task="CartPole-v1", **EVOLVED, out=tmp_path / "whole")
    before = snapshot(tmp_path)
    monkeypatch.setattr(importlib.metadata, "version", lambda package: "99.0")
    with pytest.raises(
        InputError, match=r"'CartPole-v1' came from 'gymnasium' .*, here is 99\.0; install the"
    ):
        resume(tmp_path / "runs")
    with pytest.raises(InputError, match=r"the runs are of another task: version is .* there, '99\.0' here"):
        resume(tmp_path / "runs", task="CartPole-v1")
    assert resume(tmp_path / "whole").best.shape == (2, 3)  # finished: it is only read
    with pytest.raises(InputError, match=r"here is 99\.0"):
        resume(tmp_path / "whole", generations=3)
    assert snapshot(tmp_path) == before


def test_installed_packages_are_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def look() -> dict[str, list[str]]:
        looked.append("once")
        return {"nosuch": ["numpy"]}

    monkeypatch.setattr(importlib.metadata, "packages_distributions", look)
    # A private cache: filled before, and to be filled anew by other tests.
    naming._packages.cache_clear()
    try:
        found = [naming.package_of(f"nosuch.{part}") for part in "ab"]
        assert found == [("numpy", importlib.metadata.version("numpy"))] * 2
        assert looked == ["once"]
    finally:
        naming._packages.cache_clear()


def test_runs_are_listed_and_read_without_gymnasium(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted(tmp_path / "begun", "CartPole-v1")
    evolved = evolve(task=Drift, **EVOLVED, out=tmp_path / "whole")
    before = snapshot(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "gymnasium", None)
    text = output(capsys, "runs", str(tmp_path))
    assert "generation 0 of 2, continue with: distal evolve --resume" in text
    assert "generation 2 of 2, finished" in text
    again = resume(tmp_path / "whole")
    assert again.winners == evolved.winners
    assert isinstance(again.config.task, StoredTask)
    with pytest.raises(InputError, match="the task Drift is only described here"):
        learn("hc", task=again.config.task, engine="reference", **SHORT)
    with pytest.raises(InputError, match=r"Gymnasium is not installed: pip install 'distal\[gym\]'"):
        resume(tmp_path / "begun")
    assert snapshot(tmp_path) == before


def test_a_table_is_the_same_task_wherever_it_comes_from(tmp_path: Path) -> None:
    task: Any = task_of("CliffWalking-v1")
    assert isinstance(task, TableTask)
    evolve(task=task, **EVOLVED, out=tmp_path / "whole")
    task.save(tmp_path / "cliff.npz")
    interrupted(tmp_path / "parts", "CliffWalking-v1")
    resume(tmp_path / "parts", task=tmp_path / "cliff.npz")
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_the_folder_of_a_maze_says_nothing_new(tmp_path: Path) -> None:
    evolve(maze=T, **EVOLVED, out=tmp_path / "short")
    evolve(task=T, **EVOLVED, out=tmp_path / "long")
    assert contents(tmp_path / "short") == contents(tmp_path / "long")
    config = json.loads((tmp_path / "short" / "config.json").read_text())
    assert config["maze"] == list(T.picture)
    assert not {"task", "env", "tabulated"} & set(config)
    assert resume(tmp_path / "short", task=T, generations=3).best.shape == (2, 4)
    with pytest.raises(InputError, match="the runs are of another maze; leave task out"):
        resume(tmp_path / "short", task=distal.triple_t_maze())
    # The steps are in the folder; those that a task itself suggests do not count any more.
    assert resume(tmp_path / "short", task=MazeTask.scaled(T), generations=3).best.shape == (2, 4)


FORGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "text": lambda config: config.update(task="CartPole-v1"),
    "a maze beside it": lambda config: config.update(maze=list(T.picture), heading="north"),
    "no recipe": lambda config: config["task"].pop("recipe"),
    "one field more": lambda config: config["task"].update(code="import os"),
    "no number of inputs": lambda config: config["task"].update(inputs="12"),
    "too many inputs": lambda config: config["task"].update(inputs=10**9),
    "no goals": lambda config: config["task"].update(goals=[]),
    "a name that colours the terminal": lambda config: config["task"].update(name="\x1b[31mred"),
}
RECIPES: dict[str, Callable[[dict[str, Any]], object]] = {
    "more inputs than the environment has": lambda config: config["task"].update(inputs=13),
    "another name": lambda config: config["task"].update(name="Pong"),
    "a recipe of nothing": lambda config: config["task"].update(recipe={}),
    "another environment": lambda config: config["task"]["recipe"].update(id="Acrobot-v1"),
    "an id that is none": lambda config: config["task"]["recipe"].update(id="\x1b[31m\n"),
    "a module to import": lambda config: config["task"]["recipe"].update(id="antigravity:CartPole-v1"),
    "arguments it does not take": lambda config: config["task"]["recipe"].update(arguments={"a": 1}),
    "starts without end": lambda config: config["task"]["recipe"].update(starts=10**9),
    "other edges": lambda config: config["task"]["recipe"]["encoder"].update(edges=[[0] * 3]),
    "a word that is none": lambda config: config["task"]["recipe"]["encoder"].update(word="bins:0"),
    "another package": lambda config: config["task"]["recipe"].update(package="os", version=None),
    "a table of a file elsewhere": lambda config: config["task"].update(
        recipe={"kind": "table", "name": "x", "source": {"file": "/etc/passwd"}, "digest": ""}
    ),
    "a table of a file that is none": lambda config: config["task"].update(
        recipe={"kind": "table", "name": "x", "source": {"file": 3}}
    ),
}


@pytest.fixture(scope="module")
def cart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return interrupted(tmp_path_factory.mktemp("forged") / "runs", "CartPole-v1")


@pytest.mark.parametrize("name", [*FORGED, *RECIPES])
def test_a_forged_task_is_refused_in_one_line_and_nothing_changes(
    name: str, cart: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(cart, copy)
    reconfigured(copy, {**FORGED, **RECIPES}[name])
    before = snapshot(copy)
    for use in (resume, summary) if name in FORGED else (resume,):
        assert refused(partial(use, copy)).isprintable()
    assert snapshot(copy) == before


# ---------------------------------------------------------------- environments that break


def test_an_environment_that_breaks_ends_an_evolution_in_one_line_and_keeps_what_was_evolved(
    drifting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = {**EVOLVED, **EVOLVED["search"].to_dict()}
    small = [f"--{name.replace('_', '-')}={value}" for name, value in numbers.items() if name != "search"]
    evolve(task=task_of(drifting, encode="bins:4"), **EVOLVED, out=tmp_path / "whole")
    Drift.resets, Drift.broken_after = 0, 110  # a generation has 2 · 4 · 2 trials of 3 episodes: 48
    code = main(["evolve", "--env", drifting, "--encode", "bins:4", *small, "--out", str(tmp_path / "parts")])
    said = capsys.readouterr().err.splitlines()
    (line,) = [one for one in said if not one.startswith(("generation ", "using engine steps", "compiling"))]
    assert code == 2
    assert line.startswith("distal: error: trial ")
    assert "(goal 0, seed " in line
    assert line.endswith(f" failed: {drifting} failed in reset: OSError: the line is broken")
    assert summary(tmp_path / "parts")["done"] == 1
    Drift.broken_after = None  # mended
    resume(tmp_path / "parts")
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_an_environment_that_breaks_in_a_process_is_told_alike(drifting: str) -> None:
    told = []
    for workers in (1, 2):
        Drift.broken_after = None
        task = EnvTask(drifting)
        Drift.broken_after = 0  # from here on
        with pytest.raises(InputError) as refused:
            learn("hc", task=task, **SHORT, engine=Runner(workers=workers))
        told.append(str(refused.value))
    assert told[0] == told[1]
    assert told[0].endswith("OSError: the line is broken")
