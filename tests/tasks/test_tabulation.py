"""An environment becomes a table: the same steps, the same bits, or a reason why not."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from distal import HillClimbing, InputError, Settings, learners, published_rules
from distal.engines import reference
from distal.evaluation.trials import batch_of
from distal.tasks.gym import EnvTask
from distal.tasks.table_task import TableTask
from distal.tasks.tabulation import tabulate
from distal.tasks.task import Aim
from tests.refusals import refused

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")


def newest(name: str) -> str:
    """Return the id of the newest version of an environment."""
    return max(str(known) for known in gymnasium.registry if known.rpartition("-v")[0] == name)


def lake() -> Any:
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


def twice(reward: Any) -> Any:
    return 2 * reward


def dear_lake() -> Any:
    """Make an environment whose transitions are not those of `P`: they have to be explored."""
    return gymnasium.wrappers.TransformReward(lake(), twice)


class Errand(gymnasium.Env[Any, Any]):  # type: ignore[misc, name-defined]
    """Five cells; fetch what lies in cell 4 and bring it to cell 0.

    Going left of cell 0 cuts the episode off. A wrong grab costs 3. Where it starts is an option, or 2.
    """

    def __init__(self, chance: str = "", reward: float = 10) -> None:
        self.observation_space = gymnasium.spaces.MultiDiscrete([5, 2])
        self.action_space = gymnasium.spaces.Discrete(3, start=1)
        self.chance, self.reward = chance, reward
        self.rng = np.random.default_rng(0)
        self.draw: Callable[[], float] = lambda: float(self.np_random.random())  # no part of the state

    def seen(self) -> Any:
        return np.array([self.cell, self.carries])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.cell, self.carries = (options or {}).get("cell", 2), 0
        if self.chance == "reset":
            self.cell = int(self.np_random.integers(5))
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.chance == "step" and self.cell == 3 and self.np_random.random() < 0.5:
            return self.seen(), -1.0, False, False, {}
        if self.chance == "own numbers" and self.cell == 3 and self.rng.random() < 0.5:
            return self.seen(), -1.0, False, False, {}
        if self.chance == "of all" and self.cell == 3 and random.random() < 0.5:  # noqa: S311
            return self.seen(), -1.0, False, False, {}
        if action == 3:
            took = self.cell == 4 and not self.carries
            self.carries = int(self.carries or took)
            return self.seen(), -1.0 if took else -3.0, False, False, {}
        off = self.cell == 0 and action == 1
        self.cell = min(4, max(0, self.cell + (1 if action == 2 else -1)))
        home = self.cell == 0 and bool(self.carries)
        return self.seen(), float(self.reward) if home else -1.0, home, off and not home, {}


class Counting(Errand):
    """One that counts its steps, which is no part of what it does."""

    def reset(self, **given: Any) -> tuple[Any, Any]:
        self.counted = getattr(self, "counted", 0)
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        self.counted += 1
        return super().step(action)


def place(env: Any) -> Any:
    return env.cell, env.carries


def taxi() -> Any:
    return gymnasium.make(newest("Taxi"))


def cliff() -> Any:
    return gymnasium.make(newest("CliffWalking"))


CASES: dict[str, dict[str, Any]] = {
    "lake": {"env": lake},
    "lake, one-hot": {"env": lake, "encode": "one-hot"},
    "lake, explored": {"env": dear_lake},
    "cliff": {"env": cliff},
    "taxi": {"env": taxi, "starts": 3},
    "errand": {"env": Errand},
    "errand with a key": {"env": Errand, "key": place},
    "errand with starts": {"env": lambda: Errand("reset"), "starts": 4, "encode": "one-hot"},
    "errand within a limit": {"env": lambda: gymnasium.wrappers.TimeLimit(Errand(), 9)},
    "counting": {"env": Counting, "key": place},
}


@pytest.fixture(scope="module")
def both() -> Callable[[str], tuple[EnvTask, TableTask]]:
    """Return a function that makes an environment and its table, once."""
    made: dict[str, tuple[EnvTask, TableTask]] = {}

    def pair(name: str) -> tuple[EnvTask, TableTask]:
        if name not in made:
            case = CASES[name]
            world = EnvTask(case["env"], starts=case.get("starts"), encode=case.get("encode"))
            made[name] = (world, tabulate(**case))
        return made[name]

    return pair


@pytest.mark.parametrize("name", CASES)
def test_a_walk_through_the_table_is_a_walk_through_the_environment(name: str, both: Any) -> None:
    world, table = both(name)
    assert (table.inputs, table.outputs, table.goals) == (world.inputs, world.outputs, world.goals)
    chosen = np.random.default_rng(0)
    settings = Settings(steps=min(60, world.steps or 60))
    for walk in range(12):
        goal = walk % len(world.goals)
        there, here = world.for_trial(walk).begin(goal, settings), table.begin(goal, settings)
        while not there.over:
            assert (here.over, here.sense()) == (False, there.sense())
            action = int(chosen.integers(world.outputs))
            there.act(action)
            here.act(action)
        assert (here.over, here.sense(), here.ep) == (True, there.sense(), there.ep)
        assert there.cut == (there.truncated and not here.ended and world.limit != settings.steps)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("learner", [published_rules()[0], HillClimbing(0.4, 0.2, 0.1)])
def test_whole_trials_are_the_same_bit_for_bit(name: str, learner: Any, both: Any) -> None:
    world, table = both(name)
    settings = Settings(hidden=6, steps=min(40, world.steps or 40))
    batch = batch_of([learner], np.array([3], np.uint64), trials=1, episodes=6, task=table, settings=settings)
    for trial in range(len(batch)):
        goal, seed = int(batch.goal[trial]), int(batch.seed[trial])
        stream = learners.episodes(learner, Aim(world.for_trial(seed), goal), settings, seed, None)
        for there, here in zip(islice(stream, 6), reference.episodes(batch, trial), strict=True):
            assert (there.ep, there.actions) == (here.ep, here.actions)
            assert (there.inputs == here.inputs).all()
            assert (there.weights.hidden == here.weights.hidden).all()


def test_states_are_found_once_and_told() -> None:
    told: list[int] = []
    # Five cells without the thing, four with it (in cell 0 the episode is over), and two ends: home, off.
    table = tabulate(Errand, key=place, progress=told.append).to_dict()
    assert table["states"] == sum(told) == 11
    assert tabulate(Errand).to_dict()["states"] == 11


def test_the_limit_and_the_target_are_those_of_the_environment() -> None:
    task = tabulate(lake)
    assert (task.name, task.steps, task.limit, task.target(Settings())) == ("FrozenLake-v1", 100, 100, -0.7)
    with pytest.raises(InputError, match="steps is 200, but FrozenLake-v1 ends an episode after 100"):
        task.begin(0, Settings(steps=200))
    # exploring does not take TimeLimit's end for an end of its own, however short it is
    assert tabulate(lambda: gymnasium.wrappers.TimeLimit(Errand(), 1), key=place).to_dict()["states"] == 11


class Grid(Errand):
    """One that says by `hash` which state it is in, and counts its own steps, as MiniGrid does."""

    max_steps = 6  # fewer than it takes to see all states

    def reset(self, **given: Any) -> tuple[Any, Any]:
        self.step_count = 0
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        self.step_count += 1
        observation, reward, ended, cut, info = super().step(action)
        return observation, reward, ended, cut or self.step_count >= self.max_steps, info

    def hash(self) -> str:
        return f"{self.cell} {self.carries}"


def test_a_state_is_what_the_environment_says_by_hash() -> None:
    task, steps = tabulate(Grid), Settings(steps=6)
    assert (task.to_dict()["states"], task.limit) == (11, 6)
    there, here = EnvTask(Grid).begin(0, steps), task.begin(0, steps)
    for step in range(6):
        assert (there.over, here.over) == (False, False)
        there.act(step % 2)
        here.act(step % 2)
    assert (there.truncated, there.cut, here.over, here.ep) == (True, False, True, there.ep)


def test_transitions_are_not_believed_where_a_wrapper_changes_what_they_say() -> None:
    there, here = tabulate(lake), tabulate(dear_lake)
    # 16 cells, four of them holes; what is drawn, and who counted a cell, makes no other state
    assert there.to_dict()["states"] == here.to_dict()["states"] == 16
    for task, ep in ((there, -1), (here, -2)):
        walk = task.begin(0, Settings(steps=9))
        for action in (1, 1, 2, 2, 1, 2):  # around the holes
            walk.act(action)
        assert (walk.ended, walk.ep) == (True, ep)


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 2**32 - 1))
@hypothesis_settings(max_examples=15, deadline=None)
def test_any_deterministic_environment_is_the_table_it_came_from(
    states: int, actions: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    following = rng.integers(0, states, (states, actions))
    rewards, ends = rng.integers(-3, 3, (states, actions)), rng.random((states, actions)) < 0.2

    class Drawn(gymnasium.Env[Any, Any]):  # type: ignore[misc, name-defined]
        observation_space = gymnasium.spaces.Discrete(states)
        action_space = gymnasium.spaces.Discrete(actions)

        def reset(self, **given: Any) -> Any:
            self.state = 0
            return 0, {}

        def step(self, action: Any) -> Any:
            before, self.state = self.state, int(following[self.state, action])
            return self.state, float(rewards[before, action]), bool(ends[before, action]), False, {}

    world, task, steps = EnvTask(Drawn), tabulate(Drawn), Settings(steps=30)
    for _ in range(5):
        there, here = world.begin(0, steps), task.begin(0, steps)
        while not there.over:
            assert there.sense() == here.sense()
            action = int(rng.integers(actions))
            there.act(action)
            here.act(action)
        assert (here.over, here.ep) == (True, there.ep)


# ---------------------------------------------------------------- refusals


class Drifting(Errand):
    """What is observed depends on more than the key says."""

    def reset(self, **given: Any) -> tuple[Any, Any]:
        self.time = 0
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        self.time += 1
        return super().step(action)

    def seen(self) -> Any:
        return np.array([self.cell, self.time % 2])


class Tiring(Drifting):
    """The reward depends on more than the key says, late."""

    def seen(self) -> Any:
        return Errand.seen(self)

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, reward - (self.time > 12), *rest


class Hurried(Errand):
    """Coming home is worth less with every step, as in MiniGrid, which says its state without the steps."""

    max_steps = 100

    def __init__(self, worth: float = 0.9) -> None:
        super().__init__()
        self.step_count, self.worth = 0, worth

    def hash(self) -> str:
        return f"{self.cell} {self.carries}"

    def reset(self, **given: Any) -> tuple[Any, Any]:
        self.step_count = 0
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        self.step_count += 1
        observation, reward, *rest = super().step(action)
        late = self.worth * self.step_count / self.max_steps
        return observation, reward - late if reward > 0 else reward, *rest


class Stubborn(Errand):
    """One whose copies know nothing."""

    def __deepcopy__(self, memo: Any) -> Any:
        made = Stubborn()
        made.reset(options={"cell": 0})
        return made


class Unique(Errand):
    """One that cannot be copied."""

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("there is only one")


class Holding(Errand):
    """One with a variable that cannot be pickled."""

    def __init__(self) -> None:
        super().__init__()
        self.held = [lambda: 3]


def slippery() -> Any:
    return gymnasium.make("FrozenLake-v1", is_slippery=True)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"env": slippery}, "the result of action 0 in state 0 of FrozenLake-v1 is random; a table must be"),
        ({"env": lambda: Errand("step")}, "the result of action 1 in state 2 (sensed 1100) of Er"),
        ({"env": lambda: Errand("own numbers")}, "the result of action 1 in state 2 (sensed 1100"),
        ({"env": lambda: Errand("of all"), "key": place}, "the result of action "),
        ({"env": taxi}, f"{newest('Taxi')} begins in different states; starts=4 makes goals"),
        ({"env": lambda: Errand("reset")}, "Errand begins in different states; starts=4 makes goals of"),
        ({"env": lambda: Errand(reward=2**0.5)}, "no scale up to 10,000 makes all rewards of Errand whole,"),
        ({"env": lambda: Errand(reward=0.5), "scale": 3}, "reward 0.5 of action 1 in state 9 (sensed 1001)"),
        ({"env": lambda: Errand(reward=0.5), "scale": 0}, "scale is 0, expected a whole number from 1 to 10"),
        ({"env": lambda: Errand(reward=10**6)}, "reward 1000000 of action 1 in state 9 (sensed 1001) of Err"),
        ({"env": Counting, "limit": 50}, "Counting has more than 50 states; tabulate it with a higher"),
        ({"env": lake, "limit": 15}, "FrozenLake-v1 has more than 15 states; tabulate it with a higher"),
        ({"env": Drifting, "key": place}, "state 0 of Drifting is not always observed alike; give a key"),
        ({"env": Tiring, "key": place}, "Tiring does not always do the same in one state; give a key that"),
        ({"env": Stubborn}, "a copy of Stubborn is not in the state of the original, so it cannot be explo"),
        ({"env": Unique}, "Unique cannot be copied, so it cannot be explored: TypeError: there is only one"),
        ({"env": Hurried}, "rewards of Hurried depend on how many steps were taken before (action 1 in stat"),
        ({"env": Holding}, "variable held of Holding cannot be compared ("),
        ({"env": Errand, "key": lambda env: [1]}, "key returns [1], expected something hashable, such as a"),
        ({"env": Errand, "encode": "bits"}, "encode holds 'bits', which MultiDiscrete([5 2]) has no use for"),
    ],
)
def test_what_is_no_table_is_refused_with_a_reason(given: dict[str, Any], problem: str) -> None:
    random.seed(0)
    assert refused(lambda: tabulate(**given)).startswith(problem)


def test_chance_that_transitions_do_not_show_is_found() -> None:
    with pytest.raises(InputError, match=r"the result of action \d in state \d+ \(sensed \d+\) of Taxi"):
        tabulate(lambda: gymnasium.make(newest("Taxi"), fickle_passenger=True), starts=4)


# ---------------------------------------------------------------- rewards that are no whole numbers


@pytest.mark.parametrize(
    ("reward", "scale", "named"),
    [
        (0.5, None, 10),  # people read 10 better than 2
        (np.float32(0.3), None, 10),
        (0.1 + 0.2, None, 10),  # 0.30000000000000004
        (0.125, None, 1000),
        (1 / 3, None, 3),
        (0.5, 2, 2),
        (3, 4, 4),
        (7, None, 1),
    ],
)
def test_rewards_are_made_whole_by_a_scale_that_the_name_says(
    reward: float, scale: int | None, named: int
) -> None:
    made = tabulate(lambda: Errand(reward=reward), key=place, scale=scale)
    assert made.name == ("Errand" if named == 1 else f"Errand (EP × {named})")
    walk = made.begin(0, Settings(steps=9))
    for action in (1, 1, 2, 0, 0, 0, 0):  # right, right, grab, and home
        walk.act(action)
    assert walk.over
    assert walk.ep == named * 6 - round(named * float(reward))


def test_the_goal_counts_as_reached_at_the_same_return_unless_rewards_are_changed() -> None:
    def plain() -> Any:
        return gymnasium.make("FrozenLake-v1", is_slippery=False)  # solved from 0.7 on

    def changed() -> Any:
        return gymnasium.wrappers.TransformReward(plain(), half)

    assert tabulate(plain, scale=10).target(Settings()) == -7.0
    assert tabulate(changed).target(Settings()) is None


def half(reward: Any) -> Any:
    return reward / 2


def test_a_scale_holds_for_what_stays_an_environment_too() -> None:
    plain, scaled = EnvTask("FrozenLake-v1"), EnvTask("FrozenLake-v1", scale=10)
    assert scaled.name == "FrozenLake-v1 (EP × 10)"
    assert scaled.target(Settings()) == -7.0
    walks = [task.for_trial(1).begin(0, Settings()) for task in (plain, scaled)]
    for walk in walks:
        walk.rewards = [1.0]
    assert [walk.ep for walk in walks] == [-1.0, -10.0]


def test_rewards_that_a_wrapper_makes_the_same_at_any_time_make_a_table() -> None:
    made = tabulate(lambda: gymnasium.wrappers.TransformReward(Hurried(), np.sign))
    assert made.states > 5
