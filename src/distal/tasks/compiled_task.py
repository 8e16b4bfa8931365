"""A task whose reset and step are compiled: two plain functions, and the bounds of observations.

    def reset(random, goal):
        return state, observation

    def step(state, action):
        return state, observation, reward, end

A state is any tuple of numbers, an observation a tuple of numbers between bounds. The functions are
in Numba's subset of Python and keep no state: all randomness comes from `random`, numbers in [0, 1)
that are a function of the trial's seed and the episode. Engine steps runs such a task in compiled
code alone, in threads; the reference engine calls the same two compiled functions, step by step.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, function, instance, integer, number, shown, text
from distal.model import draws
from distal.model.draws import MAX_SEED
from distal.model.settings import MAX_OUTPUTS, MAX_STEPS, Settings
from distal.tasks.encoders import Encoder, encoder_of
from distal.tasks.function_checksum import checksum
from distal.tasks.spaces import Bounds
from distal.tasks.task import Task, Walk, whole_target

_MAX_DRAWS = 1_000
_MAX_GOALS = 1_000
_LONGEST_NAME = 200


def fractions(seed: int, episode: int, count: int) -> NDArray[np.float64]:
    """Return the random numbers of an episode of a trial, in [0, 1)."""
    return draws.words(seed, draws.TASK, episode, range(1), count)[0, :count] / 2.0**32


class CompiledTask(Task["CompiledWalk"]):
    """A task of two compiled functions; `compiled_task` makes it."""

    whole = False
    in_python = False
    encoder: Encoder

    def __init__(
        self,
        reset: Callable[..., Any],
        step: Callable[..., Any],
        *,
        actions: int,
        low: Sequence[float],
        high: Sequence[float],
        encode: str | Mapping[str, Any] | None = None,
        draws: int = 16,
        goals: int = 1,
        steps: int | None = None,
        target: float | None = None,
        name: str | None = None,
    ) -> None:
        self.reset, self.step = (_plain(what, given) for what, given in (("reset", reset), ("step", step)))
        self.outputs = integer("actions", actions, 1, MAX_OUTPUTS)
        self.draws = integer("draws", draws, 1, _MAX_DRAWS)
        self.goals = tuple(map(str, range(integer("goals", goals, 1, _MAX_GOALS))))
        self.steps = None if steps is None else integer("steps", steps, 1, MAX_STEPS)
        self.threshold = None if target is None else number("target", target)
        self.name = text("name", self.reset.__module__ if name is None else name, _LONGEST_NAME)
        self.recipe: dict[str, Any] | None = None
        self._seed, self._begun = 0, 0
        given = dict(encode) if isinstance(encode, Mapping) else encode
        if given is not None and not isinstance(given, str | dict):
            raise InputError(f"encode is {shown(encode)}, expected words such as 'bins:4:quantiles'")
        self.space = Bounds.of(low, high)
        made = encoder_of(given, self.space, self._look)
        if not isinstance(made, Encoder):
            raise InputError(f"encode is {shown(encode)}, expected words such as 'bins:4:quantiles'")
        self.encoder = made
        self.inputs = made.bits

    @cached_property
    def compiled(self) -> Compiled:
        """The two functions, compiled by Numba when they are first called."""
        return _both(self.reset, self.step)

    def begin(self, goal: int, settings: Settings) -> CompiledWalk:
        """Begin the next episode of the trial."""
        steps = instance("settings", settings, Settings, "a Settings").steps
        goal = integer("goal", goal, 0, len(self.goals) - 1)
        episode, self._begun = self._begun, self._begun + 1
        return CompiledWalk(self, steps, goal, fractions(self._seed, episode, self.draws))

    def for_trial(self, seed: int) -> CompiledTask:
        """Return the task of one trial, whose episodes are functions of its seed."""
        own = copy.copy(self)
        own._seed, own._begun = integer("seed", seed, 0, MAX_SEED), 0
        return own

    def target(self, settings: Settings) -> float | None:
        """Return the EP at or below which the goal counts as reached, if there is one."""
        return whole_target(self.threshold, settings, self.steps)

    def to_dict(self) -> dict[str, Any] | None:
        """Return what a task that comes with the package is made from again; None for any other."""
        return None if self.recipe is None else {**self.recipe, "encoder": self.encoder.to_dict()}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "compiled"}

    def check_types(self) -> None:
        """Refuse functions that Numba cannot compile, or that return other things than they should."""
        from numba import typeof  # noqa: PLC0415 - takes a moment; only tasks of this kind need it

        reset, step, *_ = self.compiled
        try:
            begun = reset(fractions(0, 0, self.draws), 0)
            stepped = step(begun[0], 0)
        except Exception as error:  # Numba says at length why it cannot compile
            raise InputError(f"reset and step cannot be compiled: {_cause(error)}") from None
        if (
            not isinstance(begun, tuple)
            or len(begun) != 2
            or not isinstance(stepped, tuple)
            or len(stepped) != 4
        ):
            raise InputError(
                f"reset gives {shown(begun)} and step {shown(stepped)}, expected (state, observation) and "
                "(state, observation, reward, end)"
            )
        for what, one, other in zip(("state", "observation"), begun, stepped, strict=False):
            if not isinstance(one, tuple) or typeof(one) != typeof(other):
                raise InputError(
                    f"the {what} of reset is {shown(one)}, that of step {shown(other)}; expected tuples of "
                    "the same types, so begin with 0.0 where fractions follow"
                )

    def _look(self) -> Iterator[tuple[float, ...]]:
        """Yield what a random policy sees, the same in every call."""
        reset, step = self.reset, self.step  # as they are: nothing is worth compiling yet
        chosen = np.random.default_rng(0)
        for episode in range(2**31):
            state, observation = reset(fractions(0, episode, self.draws), episode % len(self.goals))
            yield observation
            for _ in range(self.steps or MAX_STEPS):
                state, observation, _, end = step(state, int(chosen.integers(self.outputs)))
                yield observation
                if end:
                    break


class CompiledWalk(Walk):
    """An episode of a compiled task.

    Args:
        task: The task.
        steps: The most steps.
        goal: The number of the goal.
        random: The random numbers of the episode.
    """

    def __init__(self, task: CompiledTask, steps: int, goal: int, random: NDArray[np.float64]) -> None:
        self._task, self._most = task, steps
        self.taken, self.total, self.ended = 0, 0.0, False
        self.state, self.observation = task.compiled.reset(random, goal)

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.ended or self.taken == self._most

    @property
    def ep(self) -> float:
        """Minus the sum of all rewards."""
        return 0.0 - self.total

    def sense(self) -> Sequence[int]:
        """Return the last observation as bits."""
        return self._task.encoder(self.observation)

    def act(self, action: int) -> None:
        """Take one step."""
        action = integer("action", action, 0, self._task.outputs - 1)
        self.state, self.observation, reward, end = self._task.compiled.step(self.state, action)
        check_reward(reward)
        self.total += float(reward)
        self.taken += 1
        self.ended = bool(end)
        self.cut = self.taken == self._most and not self.ended


def check_reward(reward: float) -> None:
    """Refuse a reward that is no finite number."""
    if not math.isfinite(reward):
        raise InputError(f"a reward is {shown(reward)}, expected a finite number; mend the task")


def _cause(error: Exception) -> str:
    """Return what Numba means, of all that it says, and the line of code if it names one."""
    said = [line for line in map(str.strip, str(error).splitlines()) if line]
    cause = next((line for line in said if not line.startswith("Failed in nopython mode")), "")
    place = next((line.rstrip(":") for line in said if line.startswith("File ")), None)
    where = "" if place is None or place == cause.rstrip(":") else f" ({place})"
    kind = "" if cause.partition(":")[0].endswith("Error") else f"{type(error).__name__}: "
    return f"{kind}{cause[:200]}{where}"


def compiled_task(
    reset: Callable[..., Any],
    step: Callable[..., Any],
    *,
    actions: int,
    low: Sequence[float],
    high: Sequence[float],
    encode: str | Mapping[str, Any] | None = None,
    draws: int = 16,
    goals: int = 1,
    steps: int | None = None,
    target: float | None = None,
    name: str | None = None,
) -> CompiledTask:
    """Make a task of two functions, which runs entirely in compiled code.

    Args:
        reset: reset(random, goal) gives (state, observation), both tuples of numbers.
        step: step(state, action) gives (state, observation, reward, end).
        actions: The number of actions, from 0.
        low: The lowest value of each number of an observation; a whole number declares whole values.
        high: The highest values.
        encode: The encoding of observations as bits: words, such as "bins:3".
        draws: The number of random numbers for `reset`.
        goals: The number of goals.
        steps: The most steps of an episode, unless settings say otherwise.
        target: The EP, minus the return, at or below which the goal counts as reached.
        name: The name of the task.

    Returns:
        The task.

    Raises:
        InputError: If an argument is wrong, or Numba cannot compile the functions.
    """
    made = CompiledTask(
        reset, step, actions=actions, low=low, high=high, encode=encode, draws=draws, goals=goals,
        steps=steps, target=target, name=name,
    )  # fmt: skip
    made.check_types()
    return made


class Compiled(NamedTuple):
    """The two functions of a task, as Numba compiles them."""

    reset: Any
    step: Any
    plain: tuple[Callable[..., Any], Callable[..., Any]]
    checksum: str | None  # of all that they are made of, if that can be told

    def made_of(self) -> str | None:
        """Return the checksum, unless an array has changed since, which compiled code may know or not."""
        return self.checksum if self.checksum == checksum(*self.plain) else None


@lru_cache(maxsize=16)
def _both(reset: Callable[..., Any], step: Callable[..., Any]) -> Compiled:
    """Return two functions, compiled once for all tasks that are made of them."""
    made: dict[Callable[..., Any], Any] = {}
    plain = reset, step
    return Compiled(_compiled(reset, made), _compiled(step, made), plain, checksum(*plain))


def _compiled(function: Callable[..., Any], made: dict[Callable[..., Any], Any]) -> Any:
    """Return a function compiled by Numba, and with it the functions of its file that it calls."""
    from numba import njit  # noqa: PLC0415 - takes a moment; only tasks of this kind need it

    if function not in made:
        known = dict(function.__globals__)
        for name in function.__code__.co_names:
            if isinstance(known.get(name), FunctionType):
                known[name] = _compiled(known[name], made)
        plain: Any = function
        own = FunctionType(plain.__code__, known, plain.__name__, plain.__defaults__, plain.__closure__)
        own.__module__, own.__qualname__ = plain.__module__, plain.__qualname__
        made[function] = njit(error_model="numpy")(own)
    return made[function]


def _plain(what: str, given: Any) -> Callable[..., Any]:
    """Return a function, be it one that Numba has already compiled."""
    found: Callable[..., Any] | None = function(what, getattr(given, "py_func", given))
    if found is None or not hasattr(found, "__code__"):
        raise InputError(f"{what} is {shown(given)}, expected a function")
    return found
