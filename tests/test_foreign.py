"""Learning in any Gymnasium environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import distal
from distal import HillClimbing, InputError, Maze, Rule, Settings, learn_env
from distal.engines import reference
from distal.evaluation.learning import batch_of
from distal.learners import Learner, dsp
from distal.model import draws, network
from distal.model.draws import child_seed
from distal.tasks.gym import EnvTask, EnvWalk
from distal.tasks.walk import MazeTask
from tests.strategies import climbers, mazes, rules, settings_of

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")


def every_goal(maze: Maze) -> list[dict[str, int]]:
    return [{"goal": goal} for goal in range(len(maze.finals))]


@pytest.mark.parametrize("resample", [None, 7])
@pytest.mark.parametrize("learner", ["paper:1", HillClimbing(0.3, 0.2, 0.1)])
def test_in_our_own_environment_it_is_the_maze_engine(learner: Any, resample: int | None) -> None:
    in_env = learn_env(
        "distal/TripleTMaze-v0",
        learner,
        tasks=every_goal(distal.triple_t_maze()),
        episodes=25,
        trials=2,
        seed=3,
        resample=resample,
    )
    run = distal.learn if isinstance(learner, str) else distal.climb
    in_maze = run(learner, episodes=25, trials=2, seed=3, resample=resample, keep_weights=True)
    assert (in_env.best == in_maze.best).all()
    assert in_env.fitness == in_maze.fitness
    for trial, weights in enumerate(in_env.weights):
        assert (weights.hidden == in_maze.weights(trial).hidden).all()
        assert (weights.output == in_maze.weights(trial).output).all()


@given(mazes(), settings_of(), st.one_of(rules, climbers), st.sampled_from(["episode", "step"]))
@hypothesis_settings(max_examples=30)
def test_so_it_is_in_any_maze_with_any_settings_and_either_reward(
    maze: Maze, settings: Settings, learner: Learner, reward: str
) -> None:
    env = gymnasium.make(
        "distal/Maze-v0", maze=maze, max_steps=settings.steps, blocked=settings.blocked, reward=reward
    )
    chosen: dict[str, Any] = vars(settings)
    in_env = learn_env(env, learner, tasks=every_goal(maze), episodes=8, trials=1, seed=5, **chosen)
    batch = batch_of(
        [learner], np.array([5], np.uint64), trials=1, episodes=8, task=MazeTask(maze), settings=settings
    )
    eps = [[episode.ep for episode in reference.episodes(batch, trial)] for trial in range(len(batch))]
    assert in_env.ep.tolist() == eps


class Cue(gymnasium.Env[Any, Any]):  # type: ignore[misc, name-defined]
    """The first observation says which of `n` actions is right in the third step; numbers begin at 5."""

    def __init__(self, n: int = 3) -> None:
        self.observation_space = gymnasium.spaces.Discrete(n + 1, start=5)
        self.action_space = gymnasium.spaces.Discrete(n, start=-1)
        self.n, self.taken, self.seeds = n, [], []  # type: ignore[var-annotated]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.cue, self.time = (options or {}).get("cue", 0), 0
        return 5 + self.cue, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space
        self.taken.append(action)
        self.time += 1
        reward = float(action + 1 == self.cue) if self.time == 3 else 0.0
        return 5 + self.n, reward, self.time == 3, False, {"time": self.time}


def test_the_network_has_an_input_for_every_value_and_an_output_for_every_action() -> None:
    task = EnvTask(Cue(), options=[{"cue": 2}], encode="one-hot")
    assert (task.inputs, task.outputs) == (4, 3)
    walk = task.begin(0, Settings(steps=9))
    assert walk.sense() == (0, 0, 1, 0)
    walk.act(2)
    assert task.env.taken == [1]  # actions begin at −1
    assert walk.sense() == (0, 0, 0, 1)
    weights = network.fresh_weights(5, seed=9, episode=4, inputs=4, outputs=3)
    assert weights.shape == (5, 4, 3)
    assert [block.shape for block in (weights.w_hi, weights.w_h, weights.w_ho, weights.w_oh)] == [
        (5, 5), (5, 5), (5, 3), (3, 6),
    ]  # fmt: skip
    # by the definition: lane = post-synaptic neuron, draw = pre-synaptic index
    words = draws.uniform(draws.words(9, draws.WEIGHTS, 4, range(8), 13))
    assert weights.w_ho[3, 1] == words[3, 5 + 5 + 1]
    assert weights.w_oh[2, 5] == words[5 + 2, 5]
    assert not weights.w_h.diagonal().any()
    assert (weights.w_h != 0).sum() == 20
    layered = dsp.normalised(weights, "layer")
    assert np.linalg.norm(layered.w_ho, axis=1) == pytest.approx([1] * 5)


def test_every_task_has_trials_of_its_own_and_a_trial_seeds_its_first_reset_alone() -> None:
    env = Cue()
    result = learn_env(
        env, HillClimbing(0.5, 0.2, 0.2), tasks=[{"cue": 1}, {"cue": 2}], trials=2, episodes=20, steps=5
    )
    assert result.best.shape == (4, 20)
    assert (result.best == np.minimum.accumulate(result.ep, axis=1)).all()
    assert set(np.unique(result.ep)) <= {0, -1}  # minus the return
    assert result.fitness == result.best[:, -1].mean()
    first = [child_seed(0, trial, task, 0) % 2**31 for trial in range(2) for task in range(2)]
    assert [seed for seed in env.seeds if seed is not None] == first
    assert len(env.seeds) == 4 * 20
    assert "4 trials of 20 episodes" in result.summary()


def test_ep_is_any_function_of_the_episode_and_steps_limit_it() -> None:
    seen: list[EnvWalk] = []

    def ep(walk: EnvWalk) -> int:
        seen.append(walk)
        return len(walk.actions)

    result = learn_env(Cue, "paper:1", ep=ep, episodes=4, trials=1, steps=2)
    assert (result.ep == 2).all()
    assert seen[0].cut
    assert seen[0].truncated
    assert result.cut == 4
    assert "4 of 4 episodes were cut off after 2 steps" in result.summary()
    assert [info.get("time") for info in seen[0].infos] == [None, 1, 2]
    assert len(seen[0].observations) == 3
    whole = learn_env(Cue, "paper:1", ep=ep, episodes=4, trials=1)
    assert whole.ep.tolist() == [[3] * 4]
    assert whole.cut == 0


def test_an_episode_lasts_as_long_as_the_environment_allows() -> None:
    env = gymnasium.make("distal/TripleTMaze-v0", max_steps=30)
    in_env = learn_env(env, "paper:1", tasks=every_goal(distal.triple_t_maze()), episodes=9, trials=1)
    assert in_env.settings.steps == 30
    assert (in_env.best == distal.learn("paper:1", episodes=9, trials=1, steps=30).best).all()


def test_an_observation_that_is_not_in_the_space_is_refused() -> None:
    env: Any = Cue()
    env.observation_space = gymnasium.spaces.Discrete(2)
    with pytest.raises(InputError, match=r"observation.* 5, which is not in Discrete\(2\)"):
        learn_env(env, "paper:1", trials=1, episodes=1)


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gymnasium", None)
    with pytest.raises(InputError, match=r"Gymnasium is not installed: pip install 'distal\[gym\]'"):
        learn_env("CliffWalking-v1", "paper:1")


def test_progress_is_told_every_episode_and_the_same_call_gives_the_same_numbers() -> None:
    told: list[int] = []
    rule = Rule([0, 1, -1, 0] * 8, eta=0.1, theta=0.2, alpha_h=0.2, alpha_o=0.2)
    first = learn_env(Cue(), rule, episodes=6, trials=2, progress=told.append)
    assert sum(told) == 12
    assert (first.ep == learn_env(Cue(), rule, episodes=6, trials=2).ep).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"env": 3}, "env is 3, expected an environment; or give a function that makes one, or an id"),
        ({"env": lambda: 3}, "what env() returns is 3, expected an environment; "),
        ({"env": "nosuchmodule:Foo-v1"}, "cannot make environment 'nosuchmodule:Foo-v1': "),
        ({"env": "distal/Nothing-v0"}, "cannot make environment 'distal/Nothing-v0': "),
        ({"learner": 3}, "learner is 3, expected a Rule, HillClimbing, Chance, paper:1 to paper:15"),
        ({"learner": "paper:99"}, "no rule 'paper:99'; there are paper:1 to paper:15"),
        ({"tasks": []}, "tasks is [], expected a list of options for reset, such as [{}] or [{'goal': 3}]"),
        ({"tasks": {"goal": 3}}, "tasks is {'goal': 3}, expected a list of options for reset"),
        ({"tasks": [1, 2]}, "tasks is [1, 2], expected a list of options for reset"),
        ({"trials": 0}, "trials is 0, expected a whole number"),
        ({"hiden": 3}, "unknown keyword 'hiden'"),
        (
            {"ep": lambda walk: float("nan")},
            "what `ep` returns for an episode is nan, expected",
        ),
        ({"ep": lambda walk: None}, "what `ep` returns for an episode is None, expected a finite number"),
        ({"ep": 3}, "ep is 3, expected a function of the episode"),
        (
            {"env": "distal/TripleTMaze-v0", "steps": 50},
            "steps is 50, but the environment ends an episode after 100; make it with max_steps=50",
        ),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        learn_env(**{"env": Cue, "learner": "paper:1", "episodes": 2, "trials": 1, **arguments})
    assert str(refusal.value).startswith(message)


def test_spaces_that_are_not_bits_or_a_choice_are_refused_with_what_to_do() -> None:
    env: Any = Cue()
    env.observation_space = gymnasium.spaces.Box(0, 1, (3,))
    with pytest.raises(InputError, match=r"observations are Box.*, expected MultiBinary or Discrete; wrap"):
        learn_env(env, "paper:1")
    env = Cue()
    env.action_space = gymnasium.spaces.MultiBinary(3)
    with pytest.raises(InputError, match=r"actions are MultiBinary\(3\), expected Discrete; wrap"):
        learn_env(env, "paper:1")
    with pytest.raises(InputError, match="there are 500 actions, at most 256 are allowed"):
        learn_env(Cue(500), "paper:1")
    env = Cue(500)
    env.action_space = gymnasium.spaces.Discrete(3)
    with pytest.raises(InputError, match="observations become 501 bits, at most 256 are allowed; use binary"):
        learn_env(env, "paper:1")
