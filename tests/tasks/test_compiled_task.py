"""Tasks of two compiled functions: those that come with the package, and one's own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from numba.core import event

import distal
from distal import Chance, InputError, Settings, check_task, compiled_task, find_learner, task_of
from distal.engines import Batch, Runner
from distal.engines.cpu import cache
from distal.engines.reference import engine as reference
from distal.engines.steps import engine as steps
from distal.evaluation.trials import batch_of
from distal.learners import Learner
from distal.tasks.classic_control import TASKS
from distal.tasks.sources import rebuilt
from tests.conftest import assert_equal_trials

GYM = {"CartPole": "CartPole-v1", "MountainCar": "MountainCar-v0", "Acrobot": "Acrobot-v1"}
# Where NumPy's sines and the C library's differ, it is in the last bit of 53; a step adds a few of them.
STATE, SEEN = 1e-13, 2.0**-22


# Where states are drawn from, so that some steps end an episode and others do not.
STATES = {"CartPole": (2.5, 2, 0.22, 2), "MountainCar": (0.6, 0.07), "Acrobot": (3.1, 3.1, 12, 28)}


@pytest.mark.parametrize("name", GYM)
def test_a_step_is_gymnasiums_from_the_same_state(name: str) -> None:
    world: Any = gymnasium.make(GYM[name]).unwrapped
    world.reset(seed=0)
    step, rng = TASKS[name]["step"], np.random.default_rng(1)
    ends = []
    for _ in range(2_000):
        drawn = rng.uniform(-1, 1, len(STATES[name])) * STATES[name]
        action = int(rng.integers(TASKS[name]["actions"]))
        world.state, world.steps_beyond_terminated = drawn.copy(), None
        state, seen, reward, end = step(tuple(drawn.tolist()), action)
        observation, its_reward, terminated, _, _ = world.step(action)
        assert state == pytest.approx(tuple(map(float, world.state)), rel=STATE, abs=STATE)
        assert [float(one) for one in seen] == pytest.approx(observation.tolist(), rel=SEEN, abs=1e-12)
        assert (reward, end) == (its_reward, terminated)
        ends.append(end)
    assert 0 < sum(ends) < len(ends)


@pytest.mark.parametrize("name", GYM)
def test_an_episode_begins_where_gymnasiums_may_begin(name: str) -> None:
    task = task_of(f"compiled:{name}")
    world = gymnasium.make(GYM[name])
    starts = np.array([np.array(world.reset(seed=seed)[0]) for seed in range(300)])
    ours = []
    for seed in range(300):
        walk = task.for_trial(seed).begin(0, Settings(steps=5))
        ours.append(np.array(walk.observation))
    for edge in (np.min, np.max, np.mean):
        assert edge(ours, axis=0) == pytest.approx(edge(starts, axis=0), abs=0.03)


def trials(task: Any, learner: Learner, **given: Any) -> Batch:
    asked = {"trials": 3, "episodes": 8, "settings": Settings(steps=60), **given}
    return batch_of([learner], np.zeros(1, np.uint64), task=task, **asked)


@pytest.mark.parametrize(
    ("name", "learner"),
    [("Acrobot", "evolved:1"), ("CartPole", "evolved:1"), ("CartPole", "hc"), ("CartPole", "chance")],
)
def test_both_engines_give_the_same_bits(name: str, learner: str) -> None:
    encode = None if learner == "evolved:1" else "bins:3:quantiles"
    batch = trials(task_of(f"compiled:{name}", encode=encode), find_learner(learner), resample=5)
    expected = reference.run(batch, keep_weights=True, keep_ep=True)
    for workers in (1, 3):
        actual = steps.run(batch, keep_weights=True, keep_ep=True, workers=workers)
        assert_equal_trials(actual, expected)
        assert actual.cut == expected.cut


def test_a_compiled_task_keeps_what_a_task_promises_and_runs_on_engine_steps() -> None:
    task = task_of("compiled:CartPole")
    check_task(task)
    assert Runner().suited(trials(task, Chance(0.1, 0.1))).engine == "steps"
    assert repr(task) == "CompiledTask(compiled:CartPole: 12 inputs, 2 actions, 1 goal)"


def test_one_that_comes_with_the_package_is_rebuilt_with_its_encoder() -> None:
    task = task_of("compiled:Acrobot", encode="bins:3")
    again = rebuilt(task.to_dict())
    assert again.encoder is not None
    assert (again.name, again.inputs) == ("compiled:Acrobot", 12)
    assert again.to_dict() == task.to_dict()


# ------------------------------------------------------------------ one's own

FAR = 5


def further(place: int, action: int) -> int:
    return min(max(place + 2 * action - 1, 0), FAR)


def begin(random: Any, goal: int) -> Any:
    place = int(random[0] * FAR)
    return (place, 0.5 * goal), (place, goal)


def move(state: Any, action: int) -> Any:
    place, bonus = further(state[0], action), state[1]
    goal = 1 if bonus > 0 else 0
    return (place, bonus), (place, goal), -1.0 - bonus, place == (FAR if goal else 0)


def test_a_task_of_ones_own_has_goals_whole_numbers_and_functions_that_it_calls() -> None:
    own = compiled_task(
        begin,
        move,
        actions=2,
        low=(0, 0),
        high=(FAR, 1),
        encode="one-hot",
        goals=2,
        steps=20,
        name="corridor",
    )
    assert (own.inputs, own.goals, own.name, own.to_dict()) == (FAR + 3, ("0", "1"), "corridor", None)
    check_task(own)
    batch = trials(own, find_learner("evolved:1"), settings=Settings(steps=20), switch=distal.Switch(3))
    expected = reference.run(batch, keep_weights=True, keep_ep=True)
    assert_equal_trials(steps.run(batch, keep_weights=True, keep_ep=True, workers=2), expected, 3)


def test_what_is_wrong_with_two_functions_is_said_in_one_line() -> None:
    bounds: dict[str, Any] = {"low": (0, 0), "high": (FAR, 1), "actions": 2}

    def unstable(state: Any, action: int) -> Any:
        return (state[0] + 0.5, state[1]), (state[0], 0), 0.0, False

    def unknown(state: Any, action: int) -> Any:
        return {**state}, (0, 0), 0.0, False

    def undefined(state: Any, action: int) -> Any:
        return state, (nowhere, 0), 0.0, False  # type: ignore[name-defined]  # noqa: F821

    def named(state: Any, action: int) -> Any:
        return state, (state[0].name, 0), 0.0, False

    def few(state: Any, action: int) -> Any:
        return state, (0, 0), 0.0

    with pytest.raises(InputError, match=r"expected tuples of the same types, so begin with 0\.0"):
        compiled_task(begin, unstable, **bounds, encode="one-hot")
    with pytest.raises(InputError, match=r"cannot be compiled: \w+Error: "):
        compiled_task(begin, unknown, **bounds, encode="one-hot")
    with pytest.raises(InputError, match=r"Unknown attribute 'name' of type .* \(File .*, line \d+\)$"):
        compiled_task(begin, named, **bounds, encode="one-hot")
    with pytest.raises(InputError, match=r"cannot be compiled: NameError: name 'nowhere' is not defined$"):
        compiled_task(begin, undefined, **bounds, encode="one-hot")
    with pytest.raises(InputError, match=r"expected \(state, observation\) and"):
        compiled_task(begin, few, **bounds, encode="one-hot")
    with pytest.raises(InputError, match="low has 1 numbers, high 2"):
        compiled_task(begin, move, actions=2, low=(0,), high=(1, 2))
    with pytest.raises(InputError, match=r"task is 'compiled:CartPol', .* did you mean 'compiled:CartPole'"):
        task_of("compiled:CartPol")


def test_an_observation_out_of_its_bounds_and_a_reward_that_is_no_number_name_the_trial() -> None:
    def start(random: Any, goal: int) -> Any:
        return (goal,), (0.5,)

    def step(state: Any, action: int) -> Any:
        return state, (0.5 + state[0],), 0.0 if state[0] else math.inf, False

    own = compiled_task(start, step, actions=2, low=(0.0,), high=(1.0,), encode="bins:3", goals=2)
    batch = trials(own, Chance(0.1, 0.1))
    for goal, said in enumerate(("a reward is inf", "an observation is ")):
        for engine in (reference, steps):
            with pytest.raises(InputError, match=rf"trial 0 \(goal {goal}, seed \d+\) failed: {said}"):
                engine.run(batch.part(goal, goal + 1), workers=1)


def drifting(speed: float, clock: Any = None) -> Any:
    """Return a task whose functions enclose a speed, new ones in every call."""

    def start(random: Any, goal: int) -> Any:
        return (0.0,), (0.0,)

    def drift(state: Any, action: int) -> Any:
        place = state[0] + speed * (action - 0.5) + (0.0 if clock is None else clock[0])
        return (place,), (min(max(place, -1.0), 1.0),), -place, False

    return compiled_task(start, drift, actions=2, low=(-1.0,), high=(1.0,), encode="bins:3")


class Compilations(event.Listener):  # type: ignore[misc]
    """Counts how often the trials of a task are compiled."""

    count = 0

    def on_start(self, event: Any) -> None:
        self.count += event.data["dispatcher"].py_func.__name__ == "trials"

    def on_end(self, event: Any) -> None:
        """Count nothing."""


def test_compiled_code_of_ones_own_task_is_kept_until_it_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A new function is as good as one of a new process: Numba knows neither."""

    def run(task: Any) -> tuple[int, float]:
        with event.install_listener("numba:compile", heard := Compilations()):
            best = steps.run(trials(task, Chance(0.1, 0.1)), workers=1).best
        return heard.count, float(best.sum())

    steps.run(trials(task_of("compiled:CartPole"), Chance(0.1, 0.1)), workers=1)  # the parts of all tasks
    monkeypatch.setattr(cache, "folder", lambda *given: tmp_path)
    (first, slow), (again, same) = run(drifting(0.25)), run(drifting(0.25))
    assert (first, again, same) == (1, 0, slow)
    kept = sorted(tmp_path.rglob("*.nbc"))
    changing = np.zeros(1)
    task = drifting(0.25, changing)
    changing[0] = 1.0  # Numba has compiled the step already, and keeps the 0: no other process may have it
    assert run(task) == (1, slow)
    assert sorted(tmp_path.rglob("*.nbc")) == kept
