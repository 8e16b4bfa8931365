"""Any Gymnasium environment as a task, one step after another.

`encoders` turns observations into bits, `actions` turns outputs into actions. The episodic
performance is a function of the episode.
"""

from __future__ import annotations

import copy
import difflib
import importlib.metadata
import importlib.util
import json
import logging
import math
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

import numpy as np

from distal.base import plugins
from distal.base.checks import SHOWN, InputError, counted, function, instance, integer, sequence, shown
from distal.model.draws import MAX_SEED
from distal.model.settings import MAX_STEPS, Settings
from distal.tasks import naming
from distal.tasks.actions import Actions, actions_of_space
from distal.tasks.encoders import AnyEncoder, Encoder, encoder_of
from distal.tasks.naming import package_of
from distal.tasks.picture import actions_of
from distal.tasks.registry import TASKS
from distal.tasks.task import Task, Walk, whole_target

_MAX_STARTS = 1_000  # as many goals as a table may have
MAX_SCALE = 10_000
_PROBE = 0  # the seed of all that is tried before the first trial
_TRIED = 20  # steps of an episode that are tried

# Where environments come from whose package has to be imported before they are known.
_PACKAGES = {"ALE/": "ale_py", "MiniGrid-": "minigrid", "BabyAI-": "minigrid"}

_log = logging.getLogger("distal")


class EnvWalk(Walk):
    """The record of an episode of an environment.

    Args:
        task: The environment as a task.
        steps: The most steps that the episode may take.
        goal: The number of the goal.

    Attributes:
        observations: The observations, from the reset on.
        infos: The info dictionaries, from the reset on.
        actions: The actions, from the first step on.
        rewards: The rewards, from the first step on.
        terminated: Whether the environment has ended the episode.
        truncated: Whether it was cut short.
        cut: Whether it took all of its steps before the environment ended it; it counts as
            truncated then.

    Raises:
        InputError: If an argument is wrong, or the environment fails.
    """

    def __init__(self, task: EnvTask, steps: int, goal: int = 0) -> None:
        self._task = instance("task", task, EnvTask, "an EnvTask")
        self._steps = integer("steps", steps, 1, MAX_STEPS)
        self._goal = integer("goal", goal, 0, len(task.goals) - 1)
        self.observations: list[Any] = []
        self.infos: list[dict[str, Any]] = []
        self.actions: list[int] = []
        self.rewards: list[float] = []
        self.terminated = False
        self.truncated = False
        self.cut = False
        observation, info = task._reset(self._goal)
        self.observations.append(observation)
        self.infos.append(info)

    def __repr__(self) -> str:
        total = f"return {sum(self.rewards):g}"
        over = ", cut off" if self.cut else ", over" if self.over else ""
        return f"EnvWalk({self._task.name}: {counted(len(self.actions), 'step')}, {total}{over})"

    @property
    def over(self) -> bool:
        """Whether the environment has ended the episode."""
        return self.terminated or self.truncated

    @property
    def ep(self) -> float:
        """The episodic performance; lower is better."""
        return self._task._measure(self)

    def sense(self) -> Sequence[int]:
        """Return the last observation as bits."""
        return self._task.encoder(self.observations[-1])

    def act(self, action: int) -> None:
        """Take one step."""
        action = integer("action", action, 0, self._task.outputs - 1)
        observation, reward, terminated, truncated, info = self._task._step(action)
        self.observations.append(observation)
        self.infos.append(info)
        self.actions.append(action)
        self.rewards.append(reward)
        self.terminated, self.truncated = terminated, truncated
        if not self.over and len(self.actions) == self._steps:
            self.truncated = self.cut = True


Judge = Callable[[EnvWalk], float]


def minus_return(walk: EnvWalk) -> float:
    """Return minus the sum of all rewards."""
    return _minus_sum(walk.rewards)


def _minus_sum(rewards: Sequence[float]) -> float:
    return 0.0 - float(sum(rewards))  # not −0


class EnvTask(Task[EnvWalk]):
    """An environment as a task. Every thread and every process has an environment of its own.

    Args:
        env: An environment, a function that makes one, or the id of a registered one.
        args: Arguments for the function, or for `gymnasium.make`.
        options: Options for `reset`, one for each goal.
        starts: The number of goals: goal k resets with seed k in every episode.
        ep: A function that returns the EP of an episode, lower is better; minus the return if left out.
        encode: The encoding of observations as bits: words, such as "one-hot,bins:3", or a
            function, or its name, "module:function".
        wrap: Wrappers, the innermost first: classes or functions that take an environment, or
            their names, "module:Class".
        actions: Turns a continuous action into a few, "bins:3": three values of each number.
        scale: The factor on rewards that makes EPs whole numbers.

    Raises:
        InputError: If there is no such environment, or a network cannot act in it.
    """

    whole = False
    acting: Actions
    step_seconds = 0.0  # what a step takes, if that was measured

    def __init__(
        self,
        env: Any,
        *,
        args: Mapping[str, Any] | None = None,
        options: Sequence[Mapping[str, Any]] = ({},),
        starts: int | None = None,
        ep: Judge | None = None,
        encode: object = None,
        wrap: object = None,
        actions: str | None = None,
        scale: int | None = None,
    ) -> None:
        self._worlds = _Worlds(env, args, wrap)
        expected = "a list of options for reset, as [{}] or [{'goal': 3}]"
        self.options: tuple[Mapping[str, Any], ...] = sequence("options", options, expected)
        if not self.options or not all(isinstance(one, Mapping) for one in self.options):
            raise InputError(f"options is {shown(options)}, expected {expected}")
        self.starts = None if starts is None else integer("starts", starts, 1, _MAX_STARTS)
        if self.starts is not None and len(self.options) > 1:
            raise InputError(
                f"there are {len(self.options)} options and starts={starts}; give one or the other"
            )
        self._ep = function("ep", ep) or minus_return
        self._seed: int | None = None  # of the trial, until its first reset
        self.goals = tuple(map(str, range(self.starts or len(self.options))))
        made = self.env
        self.scale = None if scale is None else integer("scale", scale, 1, MAX_SCALE)
        if self.scale is not None and self.measured:
            raise InputError("scale is for returns, and EP is a function of the episode; leave one out")
        self.id = name_of(made, env)
        self.name = scaled_name(self.id, self.scale or 1)
        if self.starts is None:
            self.resets = tuple({"options": dict(one)} if one else {} for one in self.options)
        else:
            same = {"options": dict(self.options[0])} if self.options[0] else {}
            self.resets = tuple({"seed": goal, **same} for goal in range(self.starts))
        self.acting = actions_of_space(made.action_space, actions)
        self.outputs, self.first_action = self.acting.count, self.acting.first
        self.encoder: AnyEncoder = encoder_of(encode, made.observation_space, self._look)
        self.inputs = self.encoder.bits
        self.limit, self._own_limit = _limit_of(made)
        self.steps = None if self.limit is None else min(self.limit, MAX_STEPS)
        known = _keeps_rewards(made)
        threshold = getattr(getattr(made, "spec", None), "reward_threshold", None) if known else None
        self.threshold: float | None = None if threshold is None else float(threshold)
        self._try_out()
        left_out = self.encoder.left_out if isinstance(self.encoder, Encoder) else ()
        if left_out:
            _log.warning("%s: %s is text, which is left out", self.id, " and ".join(left_out))

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions, where they are known; else the actions themselves."""
        return (None if self._actions_changed() else actions_of(self.env.unwrapped, self.outputs)) or (
            self.acting.names
        )

    def _actions_changed(self) -> bool:
        """Say whether a wrapper may have changed the actions, or they are no numbers."""
        from gymnasium import ObservationWrapper, RewardWrapper  # noqa: PLC0415 - an extra

        kept = wrapped_only_in(self.env, ObservationWrapper, RewardWrapper)
        return self.acting.values is not None or not kept

    @property
    def env(self) -> Any:
        """The environment of this thread, made when it is first needed."""
        return self._worlds.env()

    @property
    def measured(self) -> bool:
        """Whether EP is something other than minus the return."""
        return self._ep is not minus_return

    @property
    def cut(self) -> int:
        """The number of episodes that were cut off, in all trials of this process."""
        return self._worlds.cut

    def begin(self, goal: int, settings: Settings) -> EnvWalk:
        """Reset the environment."""
        return EnvWalk(self, self._steps_of(settings), goal)

    def _steps_of(self, settings: Settings) -> int:
        """Return the most steps of an episode; refuse others than an environment that counts them has."""
        steps = instance("settings", settings, Settings, "a Settings").steps
        if self._own_limit and steps != self.limit:
            raise InputError(
                f"steps is {steps}, but the environment ends an episode after {self.limit}; "
                f"make it with max_steps={steps}, or leave steps out"
            )
        return steps

    def target(self, settings: Settings) -> float | None:
        """Return minus Gymnasium's reward threshold of the environment, if it has one for such rewards."""
        if self.threshold is None or self._ep is not minus_return:
            return None
        return whole_target(0.0 - self.threshold * (self.scale or 1), settings, self.limit)

    def for_trial(self, seed: int) -> EnvTask:
        """Return the task of one trial: its first episode resets with the seed, the later ones go on."""
        own = copy.copy(self)
        own._seed = integer("seed", seed, 0, MAX_SEED) % 2**31
        return own

    def _reset(self, goal: int) -> tuple[Any, dict[str, Any]]:
        """Reset the environment towards a goal."""
        if self.starts is not None:
            seed: int | None = goal
            options = self.options[0]
        else:
            seed, self._seed = self._seed, None
            options = self.options[goal]
        env = self.env
        with named(self.name, "reset"):
            observation, info = env.reset(seed=seed, options=dict(options) or None)
        return observation, info

    def _step(self, action: int, copied: Any = None) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step in the environment, or in a copy of it."""
        env = self.env if copied is None else copied
        with named(self.name, "step"):
            observation, reward, terminated, truncated, info = env.step(self.acting[action])
        return observation, _reward(reward), bool(terminated), bool(truncated), info

    def _measure(self, walk: EnvWalk) -> float:
        """Return the EP of an episode, as a number."""
        self._worlds.cut += walk.cut
        return self._checked_ep(self._ep(walk))

    def _checked_ep(self, ep: object) -> float:
        """Return an EP as a number, scaled, if it is a finite one."""
        if self.scale is not None and isinstance(ep, float):
            ep *= self.scale
        if not isinstance(ep, int | float | np.number) or not np.isfinite(ep):
            what = "minus the return of" if self._ep is minus_return else "the result of `ep` for"
            raise InputError(f"{what} an episode is {shown(ep)}, expected a finite number")
        return float(ep)

    def to_dict(self) -> dict[str, Any]:
        """Return the description of the task, ready for JSON; `sources.rebuilt` remakes it if possible."""
        spec = getattr(self.env, "spec", None)
        package, version = _provider(spec)
        return {
            "kind": "environment",
            **self._worlds.to_dict(spec),
            "options": _json([dict(options) for options in self.options]),
            "starts": self.starts,
            "ep": None if self._ep is minus_return else called(self._ep),
            **({} if self.acting.word is None else {"actions": self.acting.word}),
            **({} if self.scale is None else {"scale": self.scale}),
            "encoder": self.encoder.to_dict(),
            "package": package,
            "version": version,
            "gymnasium": importlib.metadata.version("gymnasium"),
        }

    def close(self) -> None:
        """Close the environments that were made here."""
        self._worlds.close()

    def _look(self) -> Iterator[Any]:
        """Yield what a random policy sees, the same in every call."""
        chosen = np.random.default_rng(_PROBE)
        for episode in range(2**31):
            goal = episode % len(self.goals)
            if episode == 0:
                self._seed = _PROBE
            yield self._reset(goal)[0]
            over, steps = False, 0
            while not over and steps < MAX_STEPS:
                action = int(chosen.integers(self.outputs))
                observation, _, terminated, truncated, _ = self._step(action)
                yield observation
                over, steps = terminated or truncated, steps + 1

    def _try_out(self) -> None:
        """Look at two episodes with one seed: whether they are the same, and how long a step takes."""
        if not self._worlds.made_here:
            return
        from gymnasium.utils.env_checker import data_equivalence  # noqa: PLC0415 - an extra

        (first, once), (second, twice) = self._tried(), self._tried()
        self.step_seconds = min(once, twice)
        if not data_equivalence(first[0], second[0]):
            _log.warning(
                "%s ignores the seed of its reset: two resets with one seed differ, "
                "so trials cannot be repeated",
                self.name,
            )
        elif not data_equivalence(first, second):
            _log.warning(
                "%s ignores the seed of its reset: the same actions after one seed have other results, "
                "so trials cannot be repeated",
                self.name,
            )

    def _tried(self) -> tuple[list[Any], float]:
        """Return the beginning of an episode, and the seconds of its fastest step; 0 if there is none."""
        self._seed = _PROBE
        given, fastest = [self._reset(0)[0]], math.inf
        chosen = np.random.default_rng(_PROBE)
        with suppress(InputError):  # a trial says it, and where
            for _ in range(_TRIED):
                began = time.perf_counter()
                *result, terminated, truncated, _ = self._step(int(chosen.integers(self.outputs)))
                fastest = min(fastest, time.perf_counter() - began)
                given.append((*result, terminated, truncated))
                if terminated or truncated:
                    break
        return given, fastest if fastest < math.inf else 0.0


def played(task: EnvTask, goal: int, settings: Settings, act: Callable[[Any], int]) -> tuple[float, bool]:
    """Play an episode without a record, for a task whose EP is minus the return.

    `act` chooses the number of an action, given an observation. Return the EP, and whether the episode took
    all of its steps before the environment ended it.
    """
    rewards: list[float] = []
    steps, step, acting = task._steps_of(settings), task.env.step, task.acting
    observation, _ = task._reset(goal)
    cut = True
    for _ in range(steps):
        action = acting[act(observation)]
        try:
            observation, reward, terminated, truncated, _ = step(action)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise _failed(task.name, "step", error) from error
        # `float` alone is the usual case; all else is looked at as in a walk.
        rewards.append(reward if type(reward) is float and math.isfinite(reward) else _reward(reward))
        if terminated or truncated:
            cut = False
            break
    task._worlds.cut += cut
    return task._checked_ep(_minus_sum(rewards)), cut


class _Worlds:
    """The environments of a task: how one is made, and the ones that were made, one for each thread."""

    def __init__(self, given: Any, args: Mapping[str, Any] | None, wrap: object = None) -> None:
        self.given = _with_module(given) if isinstance(given, str) else given
        self.wrap = _wrappers(wrap)
        named: object = {} if args is None else args
        if not isinstance(named, Mapping) or not all(isinstance(name, str) for name in named):
            raise InputError(f"args is {shown(args)}, expected a dictionary of arguments")
        self.args = dict(named)
        self.made_here = isinstance(given, str) or not is_env(given)
        if self.args and not self.made_here:
            raise InputError("args are for an id, or a function that makes an environment; leave them out")
        self.cut = 0
        self._local = threading.local()
        self._made: list[Any] = []

    def env(self) -> Any:
        made = getattr(self._local, "env", None)
        if made is None:
            made = self._local.env = self._make()
        return made

    def _make(self) -> Any:
        if self.made_here:
            made = made_env(self.given, self.args)
            weakref.finalize(self, getattr(made, "close", int))
        else:  # an object serves one thread
            made = self.given if not self._made else copy.deepcopy(self.given)
        made = wrapped_env(made, self.wrap)
        self._made.append(made)
        return made

    def close(self) -> None:
        if self.made_here:
            for made in self._made:
                made.close()
        self._made = []
        self._local = threading.local()

    def to_dict(self, spec: Any) -> dict[str, Any]:
        """Return the id and the arguments, or what was given in their place."""
        own = {} if not self.wrap else {"wrap": list(map(_described_wrapper, self.wrap))}
        if not isinstance(self.given, str):
            return {"given": called(self.given), **own}
        module, colon, _ = self.given.rpartition(":")
        return {"id": f"{module}{colon}{spec.id}", "arguments": _json(self.args), **own}

    def __getstate__(self) -> dict[str, Any]:
        return {"given": self.given, "args": self.args, "wrap": self.wrap}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["given"], state["args"], state["wrap"])  # type: ignore[misc]


class EnvError(InputError):
    """An environment raised an exception."""


@contextmanager
def named(name: str, what: str) -> Iterator[None]:
    """Turn what an environment raises into one line."""
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:  # a game may end the program
        raise _failed(name, what, error) from error


def _failed(name: str, what: str, error: BaseException) -> EnvError:
    return EnvError(f"{name} failed in {what}: {said(error)}")


def _reward(reward: Any) -> float:
    """Return a reward as a number, if it is a finite one."""
    if not isinstance(reward, int | float | np.number | np.bool_ | np.ndarray) or not np.isfinite(reward):
        raise InputError(f"a reward is {shown(reward)}, expected a finite number; mend the environment")
    return float(reward)


def said(error: BaseException) -> str:
    """Return the type of an exception and the first line of what it says, without control characters."""
    line = next((line.strip()[: 3 * SHOWN] for line in str(error).splitlines() if line.strip()), "")
    line = line if line.isprintable() else repr(line)[1:-1]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


# ---------------------------------------------------------------- making


def made_env(env: Any, args: Mapping[str, Any]) -> Any:
    """Make an environment from the id of a registered one, or with a function."""
    try:
        import gymnasium  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError("Gymnasium is not installed: pip install 'distal[gym]'") from None

    if not isinstance(env, str) and not callable(env):
        raise InputError(
            f"env is {shown(env)}, expected an environment; or give a function that makes one, or an id"
        )
    if (
        isinstance(env, str) and ":" in env
    ):  # whoever read it from a file has asked whether it may be imported
        naming.look_here()
    try:
        made = gymnasium.make(env, **args) if isinstance(env, str) else env(**args)
    except Exception as error:  # an environment may raise anything while it is made, and so may its name
        what = f"environment {shown(env)}" if isinstance(env, str) else "the environment"
        problem, remedy = said(error), _remedy(env, error)
        if remedy:  # Gymnasium means a name without a version
            problem = problem.split(" Did you mean", 1)[0].rstrip(".")
        raise InputError(f"cannot make {what}: {problem}{remedy}") from None
    if not is_env(made):
        raise InputError(
            f"env() returns {shown(made)}, expected an environment; "
            "or give a function that makes one, or an id"
        )
    return made


def _with_module(name: str) -> str:
    """Return an id with the module that registers it, where that is known and installed."""
    for start, module in _PACKAGES.items():
        if name.startswith(start) and importlib.util.find_spec(module) is not None:
            return f"{module}:{name}"
    return name


def _remedy(env: object, error: Exception) -> str:
    """Return what to do about an environment that cannot be made."""
    import gymnasium  # noqa: PLC0415 - an extra

    if not isinstance(env, str):
        return ""
    for start, module in _PACKAGES.items():
        if env.startswith(start):
            return f"; pip install {module.replace('_', '-')}"
    if isinstance(error, ModuleNotFoundError):
        inner = error.name or getattr(error.__cause__, "name", None)  # Gymnasium tells of one that it caught
        package = (inner or env).split(":")[0].split(".")[0]
        if package == "gym":
            return "; it is made for Gym, the predecessor of Gymnasium: write a gymnasium.Env around it"
        return f"; pip install {package}, or go to the folder that {package}.py is in"
    if (
        isinstance(error, gymnasium.error.UnregisteredEnv | gymnasium.error.DeprecatedEnv)
        and len(env) < SHOWN
    ):
        ids = {name.lower(): name for name in (*gymnasium.registry, *TASKS)}
        # A wrong version is nearer than a wrong name, and the newest version the best.
        module, colon, name = env.rpartition(":")
        near = difflib.get_close_matches(name.lower(), sorted(ids, reverse=True), n=1)
        if near:
            return f"; did you mean {module + colon + ids[near[0]]!r}?"
        return "" if ":" in env else plugins.of_your_own("environment or task")
    return ""


def is_env(thing: Any) -> bool:
    """Say whether something has what an environment has."""
    names = ("observation_space", "action_space", "reset", "step")
    return not isinstance(thing, type) and all(hasattr(thing, name) for name in names)


def _wrappers(wrap: object) -> tuple[str | Callable[..., Any], ...]:
    """Return wrappers as they were given, if each is a name or a function."""
    if wrap is None:
        return ()
    expected = "a list of wrappers, as ['minigrid.wrappers:ImgObsWrapper']"
    given = (wrap,) if isinstance(wrap, str) or callable(wrap) else sequence("wrap", wrap, expected)
    for one in given:
        if not (callable(one) or naming.is_name(one)):
            raise InputError(f"wrap holds {shown(one)}, expected a wrapper, or its name as 'module:Class'")
    return given


def wrapped_env(env: Any, wrap: object) -> Any:
    """Return an environment in wrappers, the innermost first."""
    for one in _wrappers(wrap):
        wrapper = naming.function_of("wrap", one) if isinstance(one, str) else one
        name = one if isinstance(one, str) else called(one)
        try:
            made = wrapper(env)
        except Exception as error:  # a wrapper may raise anything
            raise InputError(f"cannot wrap {name_of(env)} in {name}: {said(error)}") from None
        if not is_env(made):
            raise InputError(f"{name} returns {shown(made)}, expected an environment")
        if getattr(made, "unwrapped", made) is not getattr(env, "unwrapped", env):
            raise InputError(
                f"{name} gives another environment, {name_of(made)}; expected a wrapper of {name_of(env)}"
            )
        env = made
    return env


def _described_wrapper(wrapper: str | Callable[..., Any]) -> dict[str, Any]:
    """Return the name of a wrapper, and the package that it is from."""
    name = wrapper if isinstance(wrapper, str) else naming.name_for(wrapper)
    package, version = (None, None) if name is None else package_of(name)
    return {"name": name or called(wrapper), "package": package, "version": version}


def scaled_name(name: str, scale: int) -> str:
    """Return the name of a task whose EPs are a multiple of the environment's."""
    return name if scale == 1 else f"{name} (EP × {scale})"


def harmless() -> tuple[type, ...]:
    """Return the wrappers that change neither observations nor rewards nor actions."""
    from gymnasium import wrappers as known  # noqa: PLC0415 - an extra

    return (known.OrderEnforcing, known.PassiveEnvChecker, known.RecordEpisodeStatistics, known.TimeLimit)


def wrapped_only_in(env: Any, *kinds: type) -> bool:
    """Say whether all wrappers of an environment are harmless, or of these kinds."""
    *outer, _ = wrappers(env)
    return all(isinstance(one, (*harmless(), *kinds)) for one in outer)


def _keeps_rewards(env: Any) -> bool:
    """Say whether no wrapper can have changed the rewards, so that Gymnasium's threshold is one for them."""
    from gymnasium import ActionWrapper, ObservationWrapper  # noqa: PLC0415 - an extra

    return wrapped_only_in(env, ActionWrapper, ObservationWrapper)


def wrappers(env: Any) -> Iterator[Any]:
    """Yield an environment and what it wraps, from the outside in."""
    while True:
        yield env
        inner = getattr(env, "env", None)
        if inner is None or env is getattr(env, "unwrapped", env):
            return
        env = inner


def _limit_of(env: Any) -> tuple[int | None, bool]:
    """Return the most steps of an episode, and whether the environment itself counts them.

    One that counts them itself (`max_steps`, as in our maze) may wait for the last to give its reward.
    """
    own = getattr(getattr(env, "unwrapped", env), "max_steps", None)
    if isinstance(own, int) and own > 0:
        return own, True
    limits = [getattr(one, "_max_episode_steps", None) for one in wrappers(env)]
    limits.append(getattr(getattr(env, "spec", None), "max_episode_steps", None))
    found = [limit for limit in limits if isinstance(limit, int)]
    return (min(found) if found else None), False


# ---------------------------------------------------------------- what is said of it


def name_of(env: Any, given: object = None) -> str:
    """Return what an environment is called: its id, the id that was given, or its class."""
    spec = getattr(env, "spec", None)
    if spec is not None:
        return str(spec.id)
    return given if isinstance(given, str) else type(getattr(env, "unwrapped", env)).__name__


def called(thing: Any) -> str:
    """Return what a function, a class or the class of an object is called, module included."""
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}.{named.__qualname__}"


def _json(value: Any) -> Any:
    """Return a value if JSON can hold it, else None: nothing can be made from it again."""
    try:
        return value if json.loads(json.dumps(value, allow_nan=False)) == value else None
    except (TypeError, ValueError, RecursionError):
        return None


def _provider(spec: Any) -> tuple[str | None, str | None]:
    """Return the package that an environment comes from, and its version, where that is known."""
    entry = getattr(spec, "entry_point", None)
    return package_of(entry if isinstance(entry, str) else getattr(entry, "__module__", ""))
