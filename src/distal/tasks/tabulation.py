"""Environments as tables: deterministic ones with few states.

Gymnasium's toy environments hold their transitions (`P`). Others are explored: every action is
tried in copies of the environment in every known state, until no state is new. Each action is tried
twice, with other random numbers, so that randomness shows.

The costs of a table are whole numbers. Fractional rewards are multiplied by a scale that makes all
of them whole, and the name of the task says so: "MyEnv-v0 (EP × 10)".
"""

from __future__ import annotations

import copy
import hashlib
import math
import pickle
import random
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from distal.base.checks import InputError, function, instance, integer, shown
from distal.tasks.gym import (
    MAX_SCALE,
    EnvTask,
    called,
    harmless,
    said,
    scaled_name,
    wrapped_only_in,
    wrappers,
)
from distal.tasks.picture import picture_of, position
from distal.tasks.table import MAX_COST, MAX_STATES, Table
from distal.tasks.table_task import MAX_NAME, TableTask

LIMIT = 100_000
_RESETS = 10  # with other seeds, which must all begin in the same state
WALKS, LONGEST = 10, 200  # random walks through environment and table, and their steps, before it is believed
_NEVER = -(2**31)  # steps that TimeLimit believes to have gone
_NEAR = {32: 1e-7, 64: 1e-9}  # that a reward of so many bits may be off a whole number of its scale
_SCALES = (1, 10, 100, 1000)  # tried first: people read them best
_READABLE = 40  # bits, in a sentence
_LARGEST_PART = 1000  # of a fraction that a reward may be

# Variables that never change, or are not looked at: descriptions and random numbers.
SHARED = {
    "spec", "_cached_spec", "metadata", "_metadata", "action_space", "observation_space", "_action_space",
    "_observation_space", "reward_range", "_saved_kwargs", "render_mode", "P", "initial_state_distrib",
}  # fmt: skip
_APART = SHARED | {"_np_random", "_np_random_seed"}

Key = Callable[[Any], Hashable]
Progress = Callable[[int], None]


class NoTable(InputError):  # noqa: N818 - it says why
    """Why an environment is no table."""


def tabulate(
    env: Any,
    *,
    encode: object = None,
    key: Key | None = None,
    limit: int = LIMIT,
    starts: int | None = None,
    wrap: object = None,
    actions: str | None = None,
    scale: int | None = None,
    progress: Progress | None = None,
) -> TableTask:
    """Turn an environment into a table, which every engine runs.

    EP, observations and ends match the environment, step by step. If rewards are not whole numbers,
    the EP is minus the return times a factor that makes it whole, and the name of the task says so.

    Args:
        env: An environment, a function that makes one, or the id of a registered one.
        encode: The encoding of observations as bits: words, such as "one-hot,bins:3", or a
            function, or its name, "module:function".
        key: A function of the unwrapped environment that returns its state; if left out, all its
            variables but random numbers and pictures.
        limit: The most states.
        starts: The number of goals: goal k begins where a reset with seed k does.
        wrap: Wrappers, the innermost first: classes or functions, or their names, "module:Class".
        actions: Turns a continuous action into a few, "bins:3": three values of each number.
        scale: The factor on rewards; found if left out.
        progress: Called with the number of new states.

    Returns:
        The table as a task.

    Raises:
        InputError: If the environment is random, no scale makes all rewards whole, or there are too
            many states.
    """
    task = EnvTask(env, encode=encode, starts=starts, wrap=wrap, actions=actions, scale=scale)
    return table_task(task, key=key, limit=limit, progress=progress)


def table_task(
    task: EnvTask, *, key: Key | None = None, limit: int = LIMIT, progress: Progress | None = None
) -> TableTask:
    """Turn an environment that is a task already into a table; see `tabulate`."""
    instance("task", task, EnvTask, "an EnvTask")
    function("key", key)
    function("progress", progress)
    limit = integer("limit", limit, 1, MAX_STATES)
    if task.measured:
        raise NoTable("EP is a function of the episode, which no table knows; leave ep out")
    graph = _Graph(task, limit, progress)
    if key is None and _has_transitions(task.env):
        starts = _by_transitions(task, graph)
    else:
        starts = _by_exploring(task, graph, _state_of(key))
    scale = _scale(task, graph)
    costs = [[_cost(reward, scale) for reward in rewards] for rewards in graph.rewards]
    table = Table.of(graph.bits, graph.following, costs, graph.ends, start=starts)
    target = None if task.threshold is None else 0.0 - task.threshold * scale
    found = TableTask(
        table, task.goals, name=scaled_name(task.id, scale)[:MAX_NAME], limit=task.steps, target=target,
        actions=task.actions, picture=picture_of(task.env, graph.positions),
    )  # fmt: skip
    _compare(task, table, scale)
    found.encoder, found.first_action, found.acting = task.encoder, task.first_action, task.acting
    found.resets = task.resets
    found.source = {**task.to_dict(), "key": None if key is None else called(key)}
    return found


class _Entered(NamedTuple):
    """A state that was entered: where to go on from, which it is, what is sensed, and what the step did."""

    at: Any
    key: Hashable
    bits: tuple[int, ...]
    position: Any
    reward: float = 0.0
    ended: bool = False


@dataclass
class _Graph:
    """States as they are found. One that an episode ended in is a state of its own."""

    task: EnvTask
    limit: int
    progress: Progress | None
    number: dict[tuple[Hashable, bool], int] = field(default_factory=dict)
    bits: list[tuple[int, ...]] = field(default_factory=list)
    following: list[list[int]] = field(default_factory=list)
    rewards: list[list[float]] = field(default_factory=list)
    known: set[float] = field(default_factory=set)
    ends: list[bool] = field(default_factory=list)
    positions: list[Any] = field(default_factory=list)  # for a picture
    waiting: deque[tuple[Any, int]] = field(default_factory=deque)  # states whose actions are not tried yet

    def follow(self, first: Iterable[_Entered], step: Callable[[Any, int, int], _Entered]) -> list[int]:
        """Take every action in every state, from the first ones on; return the numbers of these."""
        starts = [self._place(entered) for entered in first]
        while self.waiting:
            at, number = self.waiting.popleft()
            for action in range(self.task.outputs):
                entered = step(at, number, action)
                self.following[number][action] = self._place(entered)
                self.rewards[number][action] = entered.reward
                if entered.reward not in self.known:
                    self.known.add(entered.reward)
                    if not _is_whole(entered.reward, self.task.scale or _parts(entered.reward)):
                        _scale(self.task, self)  # no need to look any further
        return starts

    def _place(self, entered: _Entered) -> int:
        """Return the number of a state; one that is new and goes on has to wait for its turn."""
        known = self.number.get((entered.key, entered.ended))
        if known is not None:
            if self.bits[known] != entered.bits:
                raise NoTable(
                    f"state {known} of {self.task.name} is not always observed alike; "
                    "give a key that tells states apart"
                )
            return known
        new = self.number[entered.key, entered.ended] = len(self.bits)
        if new == self.limit:
            raise NoTable(
                f"{self.task.name} has more than {self.limit:,} states; tabulate it with a "
                "higher limit, or with a key that leaves out what does not matter"
            )
        self.bits.append(entered.bits)
        self.positions.append(entered.position)
        # Nothing follows an end: one more of the step that led to it is a class that is there already.
        self.following.append([new] * self.task.outputs)
        self.rewards.append([entered.reward] * self.task.outputs)
        self.ends.append(entered.ended)
        if self.progress is not None:
            self.progress(1)
        if not entered.ended:
            self.waiting.append((entered.at, new))
        return new


# ---------------------------------------------------------------- rewards


def _scale(task: EnvTask, graph: _Graph) -> int:
    """Return the scale that was asked for, or one that makes all rewards whole; refuse if there is none."""
    first: dict[float, tuple[int, int]] = {}
    for state, rewards in enumerate(graph.rewards):
        for action, reward in enumerate(rewards):
            first.setdefault(reward, (state, action))
    largest = max(map(abs, first))
    fits = MAX_SCALE if largest * MAX_SCALE <= MAX_COST else int(MAX_COST / largest)
    if task.scale is None:
        for scale in (*_SCALES, math.lcm(*map(_parts, first))):
            if scale <= fits and all(_is_whole(reward, scale) for reward in first):
                return scale
    elif task.scale <= fits and all(_is_whole(reward, task.scale) for reward in first):
        return task.scale
    tried = task.scale or 1
    highest = max(first, key=abs)
    wrong = next((one for one in first if fits and not _is_whole(one, tried)), highest)
    state, action = first[wrong]
    where = (
        f"reward {wrong:.10g} of action {_said(task, action)} in state {state}{_sensed(graph.bits[state])}"
    )
    if abs(wrong) > MAX_COST:
        raise NoTable(f"{where} of {task.id} is more than {MAX_COST:,}; wrap the environment to divide it")
    if task.scale is not None and _is_whole(wrong, tried):
        raise NoTable(f"{where} of {task.id} times {tried} is more than {MAX_COST:,}; use a smaller scale")
    if task.scale is not None:
        raise NoTable(
            f"{where} of {task.id} times {tried} is no whole number; leave scale out, and one is looked for"
        )
    raise NoTable(
        f"no scale up to {fits:,} makes all rewards of {task.id} whole, as a table needs: {where}; "
        "wrap the environment to round its rewards"
    )


def _is_whole(reward: float, scale: int) -> bool:
    """Say whether a reward is a whole number of 1/scale, but for the rounding of floats."""
    near = _NEAR[32 if float(np.float32(reward)) == reward else 64] * max(1.0, abs(reward))
    return abs(round(reward * scale) / scale - reward) <= near


def _parts(reward: float) -> int:
    """Return the denominator of the fraction that a reward is next to."""
    return Fraction(reward).limit_denominator(_LARGEST_PART).denominator


def _cost(reward: float, scale: int) -> int:
    """Return what a step costs in a table."""
    return -round(reward * scale)


def _said(task: EnvTask, action: int) -> str:
    """Return an action as the environment calls it."""
    return task.acting.names[action]


def _sensed(bits: tuple[int, ...]) -> str:
    """Return the bits that are sensed in a state, unless they are too many to be read."""
    return f" (sensed {''.join(map(str, bits))})" if len(bits) <= _READABLE else ""


# ---------------------------------------------------------------- by Gymnasium's transitions


def _has_transitions(env: Any) -> bool:
    """Say whether an environment has a table of transitions between its observations."""
    from gymnasium.spaces import Discrete  # noqa: PLC0415 - an extra

    *_, inner = wrappers(env)
    space = env.observation_space
    return (
        isinstance(getattr(inner, "P", None), dict)
        and hasattr(inner, "initial_state_distrib")
        and isinstance(space, Discrete)
        and (space.start, space.n) == (0, len(inner.P))
        and wrapped_only_in(env)
        and not getattr(inner, "fickle_passenger", False)  # the taxi's chance that is not in P
    )


def _by_transitions(task: EnvTask, graph: _Graph) -> list[int]:
    """Follow the transitions from where episodes begin; return the first state of every goal."""
    inner = task.env.unwrapped
    if task.starts is None and np.count_nonzero(inner.initial_state_distrib) > 1:
        raise _chance_in_reset(task)

    def entered(state: int, reward: float = 0.0, ended: bool = False) -> _Entered:
        return _Entered(state, state, task.encoder(state), state, reward, ended)

    def step(state: int, number: int, action: int) -> _Entered:
        outcomes = {tuple(rest) for share, *rest in inner.P[state][action] if share > 0}
        if len(outcomes) != 1:
            raise _chance_in_step(task, state, action)
        ((following, reward, ended),) = outcomes
        return entered(int(following), float(reward), bool(ended))

    goals = range(len(task.goals))
    return graph.follow((entered(int(task.for_trial(0)._reset(goal)[0])) for goal in goals), step)


def _chance_in_step(task: EnvTask, state: object, action: int) -> NoTable:
    return NoTable(
        f"the result of action {_said(task, action)} in state {state} of {task.id} is random; "
        "a table must be deterministic"
    )


def _chance_in_reset(task: EnvTask) -> NoTable:
    how = "the same seed gives other ones" if task.starts else "starts=4 makes goals of four of them"
    return NoTable(f"{task.id} begins in different states; {how}")


# ---------------------------------------------------------------- by exploring


def _by_exploring(task: EnvTask, graph: _Graph, state_of: Key) -> list[int]:
    """Try every action in every state; return the first state of every goal."""

    def step(env: Any, number: int, action: int) -> _Entered:
        (at, *one), (_, *other) = (_tried(task, env, action, seed, state_of) for seed in (1, 2))
        state = f"{number}{_sensed(graph.bits[number])}"
        key, bits, reward, ended = one
        if reward != other[2] and _counts_steps(env):
            raise NoTable(
                f"rewards of {task.id} depend on how many steps were taken before (action "
                f"{_said(task, action)} in state {number} gives {reward:.4g} or {other[2]:.4g}), which no "
                "table knows; wrap the environment to give the same reward at any time"
            )
        if one != other:
            raise _chance_in_step(task, state, action)
        return _Entered(at, key, bits, position(at), reward, ended)

    return graph.follow((_start(task, goal, state_of) for goal in range(len(task.goals))), step)


def _start(task: EnvTask, goal: int, state_of: Key) -> _Entered:
    """Return the start towards a goal, in a copy of the environment."""
    found = set()
    for seed in range(2 if task.starts else _RESETS):
        observation, _ = task.for_trial(seed)._reset(goal)
        found.add((state_of(task.env), task.encoder(observation)))
    if len(found) > 1:
        raise _chance_in_reset(task)
    ((key, bits),) = found
    copied = _copied(task.env, task.id)
    if state_of(copied) != key:
        raise NoTable(f"a copy of {task.id} is not in the state of the original, so it cannot be explored")
    return _Entered(copied, key, bits, position(copied))


def _tried(task: EnvTask, env: Any, action: int, seed: int, state_of: Key) -> tuple[Any, ...]:
    """Take one step in a copy with random numbers of its own; return it, its state, bits, reward and end."""
    own = _copied(env, task.id)
    for one in wrappers(own):
        _reseed(one, seed)
        if hasattr(one, "_elapsed_steps"):
            one._elapsed_steps = _NEVER  # TimeLimit's; the table has the limit of its own
    if _counts_steps(own):
        # Some rewards depend on it, as most of MiniGrid's do, and then differ between the two seeds.
        own.unwrapped.step_count = (seed - 1) * (getattr(own.unwrapped, "max_steps", 0) // 2)
    observation, reward, terminated, truncated, _ = task._step(action, own)
    return own, state_of(own), task.encoder(observation), reward, terminated or truncated


def _counts_steps(env: Any) -> bool:
    """Say whether an environment counts its steps as MiniGrid does, and its state leaves them out."""
    inner = getattr(env, "unwrapped", env)
    return callable(getattr(inner, "hash", None)) and hasattr(inner, "step_count")


def _reseed(thing: Any, seed: int) -> None:
    """Give a thing other random numbers."""
    for name, value in list(getattr(thing, "__dict__", {}).items()):
        if isinstance(value, np.random.Generator):
            vars(thing)[name] = np.random.default_rng(seed)
        elif isinstance(value, np.random.RandomState):
            vars(thing)[name] = np.random.RandomState(seed)
        elif isinstance(value, random.Random):
            vars(thing)[name] = random.Random(seed)  # noqa: S311 - not for secrets


def _copied(env: Any, name: str) -> Any:
    """Return a copy of an environment that shares what never changes."""
    memo: dict[int, Any] = {}
    for one in wrappers(env):
        for variable, value in getattr(one, "__dict__", {}).items():
            if variable in SHARED and value is not None:
                memo[id(value)] = value
    try:
        return copy.deepcopy(env, memo)
    except Exception as error:  # an environment may hold anything
        raise NoTable(f"{name} cannot be copied, so it cannot be explored: {said(error)}") from None


def _state_of(key: Key | None) -> Key:
    """Return the function that says which state an environment is in."""
    if key is None:
        return _variables
    given = key

    def asked(env: Any) -> Hashable:
        state = given(getattr(env, "unwrapped", env))
        with suppress(TypeError):
            hash(state)
            return state
        raise InputError(
            f"key returns {shown(state)}, expected something hashable, such as a tuple of numbers"
        )

    return asked


def _variables(env: Any) -> Hashable:
    """Return a digest of all variables of an environment that may be its state, wrappers included."""
    found = hashlib.sha256()
    *outer, inner = wrappers(env)
    things = [one for one in outer if not isinstance(one, harmless())]
    known = getattr(inner, "hash", None)
    if callable(known):  # MiniGrid's
        found.update(str(known()).encode())
    else:
        things.append(inner)
    for one in things:
        for name, value in sorted(vars(one).items()):
            if name in _APART or (name == "env" and one is not inner) or _stateless(value):
                continue
            if name == "lastaction" and hasattr(one, "P"):
                continue  # of Gymnasium's toy environments, for pictures
            try:
                same = value.item() if isinstance(value, np.generic) else value  # whoever made the number
                found.update(f"{name} ".encode() + pickle.dumps(same))
            except Exception as error:  # what cannot be pickled has any reason not to
                raise NoTable(
                    f"variable {name} of {type(one).__name__} cannot be compared ({said(error)}); "
                    "give a key that says which state it is in"
                ) from None
    return found.digest()


def _stateless(value: object) -> bool:
    """Say whether a variable is no part of a state: random numbers, functions, pictures."""
    generator = isinstance(value, np.random.Generator | np.random.RandomState | random.Random)
    return generator or callable(value) or type(value).__module__.partition(".")[0] == "pygame"


# ---------------------------------------------------------------- trust


def _compare(task: EnvTask, table: Table, scale: int) -> None:
    """Walk at random through environment and table, and refuse the table if they differ."""
    for walk in range(WALKS):
        if not _alike(task, table, scale, walk % len(task.goals), walk):
            raise NoTable(
                f"{task.id} does not always do the same in one state; "
                "give a key that tells states apart, or leave it an environment"
            )


def _alike(task: EnvTask, table: Table, scale: int, goal: int, seed: int) -> bool:
    """Say whether environment and table do the same in a random walk."""
    chosen = np.random.default_rng(seed)
    observation, _ = task.for_trial(seed)._reset(goal)
    state, over = int(table.starts[goal]), False
    for step in range(1, min(LONGEST, task.steps or LONGEST) + 1):
        if table.observations[state].tolist() != list(task.encoder(observation)):
            return False
        if over:
            return True
        action = int(chosen.integers(task.outputs))
        event = table.events[state, action]
        observation, reward, terminated, truncated, _ = task._step(action)
        state, over = int(table.following[state, action]), bool(table.ends[goal, event])
        cut = truncated and step == task.limit and not terminated
        if _cost(reward, scale) != table.step_cost + int(table.costs[goal, event]):
            return False
        if over != (terminated or truncated) and not cut:
            return False
    return True
