"""Any Gymnasium environment as a task.

Observations are `MultiBinary`, or `Discrete` and then one-hot; actions are
`Discrete`. The episodic performance is a function of the episode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from distal.base.checks import InputError, instance, integer, shown
from distal.model.network import MAX_NEURONS
from distal.model.settings import MAX_STEPS, Settings


class EnvWalk:
    """What happened in an episode of an environment.

    Args:
        task: The environment as a task.
        steps: The most steps that the episode may take.

    Attributes:
        observations: What was observed, from the reset on.
        infos: What the environment said beside it, from the reset on.
        actions: The actions, from the first step on.
        rewards: The rewards, from the first step on.
        terminated: Whether the environment has ended the episode.
        truncated: Whether it was cut short.
        cut: Whether it took all of its steps before the environment ended it; it counts as
            truncated then.

    Raises:
        InputError: If an argument is wrong.
    """

    def __init__(self, task: EnvTask, steps: int) -> None:
        self._task = instance("task", task, EnvTask, "an EnvTask")
        self._steps = integer("steps", steps, 1, MAX_STEPS)
        self.observations: list[Any] = []
        self.infos: list[dict[str, Any]] = []
        self.actions: list[int] = []
        self.rewards: list[float] = []
        self.terminated = False
        self.truncated = False
        self.cut = False
        observation, info = task.env.reset(seed=task.take_seed(), options=dict(task.options) or None)
        self.observations.append(observation)
        self.infos.append(info)

    @property
    def over(self) -> bool:
        """Whether the environment has ended the episode."""
        return self.terminated or self.truncated

    @property
    def ep(self) -> float:
        """The episodic performance; lower is better."""
        return self._task.measure(self)

    def sense(self) -> Sequence[int]:
        """Return the last observation as bits."""
        return self._task.bits(self.observations[-1])

    def act(self, action: int) -> None:
        """Take one step."""
        action = integer("action", action, 0, self._task.outputs - 1)
        observation, reward, terminated, truncated, info = self._task.env.step(
            self._task.first_action + action
        )
        self.observations.append(observation)
        self.infos.append(info)
        self.actions.append(action)
        self.rewards.append(float(reward))
        self.terminated, self.truncated = bool(terminated), bool(truncated)
        if not self.over and len(self.actions) == self._steps:
            self.truncated = self.cut = True


Measure = Callable[[EnvWalk], float]


def minus_return(walk: EnvWalk) -> float:
    """Return minus the sum of all rewards."""
    return 0.0 - float(sum(walk.rewards))  # not −0


class EnvTask:
    """An environment as a task with one goal, that of the options.

    Its first reset takes the seed, every reset the options.
    """

    goals = ("0",)

    def __init__(
        self,
        env: Any,
        options: Mapping[str, Any],
        ep: Measure = minus_return,
        seed: int | None = None,
    ) -> None:
        self.env, self.options, self._ep, self._seed = env, options, ep, seed
        self.inputs, self.bits = sensing(env.observation_space)
        self.outputs, self.first_action = acting(env.action_space)
        self.cut = 0  # episodes that were cut off

    def begin(self, goal: int, settings: Settings) -> EnvWalk:
        """Reset the environment."""
        return EnvWalk(self, settings.steps)

    def table(self, settings: Settings) -> None:
        """Return None: what an environment will do is not known."""

    def take_seed(self) -> int | None:
        """Return the seed, once; later episodes use the environment's own generator."""
        seed, self._seed = self._seed, None
        return seed

    def measure(self, walk: EnvWalk) -> float:
        """Return the EP of an episode, as a number."""
        self.cut += walk.cut
        ep: object = self._ep(walk)
        if not isinstance(ep, int | float | np.number) or not np.isfinite(ep):
            what = "minus the return of" if self._ep is minus_return else "what `ep` returns for"
            raise InputError(f"{what} an episode is {shown(ep)}, expected a finite number")
        return float(ep)


def sensing(space: Any) -> tuple[int, Callable[[Any], Sequence[int]]]:
    """Return the number of inputs, and what turns an observation into them."""
    from gymnasium.spaces import Discrete, MultiBinary  # noqa: PLC0415 - an extra

    def checked(observation: Any) -> Any:
        if observation not in space:
            raise InputError(
                f"an observation is {shown(observation)}, which is not in {space}; fix the environment"
            )
        return observation

    if isinstance(space, MultiBinary):
        count = _limited("observations", int(np.prod(space.shape)))
        return count, lambda bits: np.ravel(checked(np.asarray(bits))).tolist()
    if isinstance(space, Discrete):
        count, first = _limited("observations", int(space.n)), int(space.start)
        return count, lambda number: [int(k == int(checked(number)) - first) for k in range(count)]
    raise InputError(
        f"observations are {space}, expected MultiBinary or Discrete; wrap the environment to make them so"
    )


def acting(space: Any) -> tuple[int, int]:
    """Return the number of actions and the first of them."""
    from gymnasium.spaces import Discrete  # noqa: PLC0415 - an extra

    if not isinstance(space, Discrete):
        raise InputError(
            f"actions are {space}, expected Discrete; wrap the environment to choose among a few"
        )
    return _limited("actions", int(space.n)), int(space.start)


def _limited(what: str, count: int) -> int:
    if count > MAX_NEURONS:
        raise InputError(f"{what} need {count} neurons, at most {MAX_NEURONS} are allowed")
    return count
