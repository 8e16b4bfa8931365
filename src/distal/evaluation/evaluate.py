"""The returns of an agent in an environment, with those of random networks in the same episodes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import (
    InputError,
    counted,
    finite_numbers,
    flag,
    instance,
    integer,
    reading,
    shown,
)
from distal.base.display import html_table, or_dash
from distal.base.frames import frame
from distal.base.frozen import Frozen
from distal.base.significance import interval, paired
from distal.evaluation.agent import MAX_EPISODES, Agent, Goals
from distal.model.draws import MAX_SEED
from distal.tasks.actions import actions_of_space
from distal.tasks.classic_control import PREFIX
from distal.tasks.gym import is_env, made_env, name_of, named
from distal.tasks.task import Task

if TYPE_CHECKING:
    from pandas import DataFrame

_GOALS_SHOWN = 16


@dataclass(frozen=True, eq=False)
class Evaluation(Frozen):
    """The returns of an agent in an environment, and of chance in episodes with the same seeds.

    Chance is a network with random weights in every episode.

    Attributes:
        returns: The return of every episode, (episodes).
        lengths: Its steps, (episodes).
        chance: The returns of chance, (episodes); None if it was left out.
        seed: The seed of the first episode.
        cut: The number of the agent's episodes that the environment had not ended after the steps of
            its settings.
        goals: The goals of the task, and the one that the agent was trained for, if there are
            several and each was tried: the episodes towards the first come first.
    """

    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    chance: NDArray[np.float64] | None
    seed: int
    cut: int = 0
    goals: Goals | None = None

    def __repr__(self) -> str:
        beside = "chance left out" if self.chance is None else f"chance {self.chance.mean():z.2f}"
        return f"Evaluation({counted(len(self.returns), 'episode')}: mean return {self.mean:z.2f}, {beside})"

    def _repr_html_(self) -> str:
        both = {"agent": self.returns} | ({} if self.chance is None else {"chance": self.chance})
        ends = [interval(one) for one in both.values()]
        rows = [
            ("mean return", *(f"{one.mean():z.2f}" for one in both.values())),
            ("its 95% interval", *(f"{low:z.2f} to {high:z.2f}" for low, high in ends)),
            ("mean length", f"{self.lengths.mean():.1f}", *[""] * (len(both) - 1)),
            ("p, paired t-test", or_dash(self.p if self._varies else None, ".2g"), *[""] * (len(both) - 1)),
        ]
        return html_table(f"{counted(len(self.returns), 'episode')}, seed {self.seed}", ("", *both), rows)

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.returns.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the mean, by bootstrap."""
        return interval(self.returns)

    @property
    def p(self) -> float | None:
        """The p-value of the paired t-test against chance; None without it."""
        return None if self.chance is None else paired(self.returns, self.chance)

    @property
    def _varies(self) -> bool:
        """Whether the differences to chance have a spread, without which a t-test says nothing."""
        return self.chance is not None and bool(np.ptp(self.returns - self.chance))

    def _towards(self, returns: NDArray[np.float64], goal: int) -> float:
        """Return the mean of the returns of the episodes towards a goal."""
        goals = 1 if self.goals is None else len(self.goals.names)
        return float(returns.reshape(goals, -1)[goal].mean())

    @property
    def by_goal(self) -> Mapping[str, float]:
        """The mean return towards each goal, by its name; empty if there is one goal."""
        names = () if self.goals is None else self.goals.names
        return {name: self._towards(self.returns, goal) for goal, name in enumerate(names)}

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with one row for each episode."""
        beside = {} if self.chance is None else {"chance_return": self.chance}
        episodes = np.arange(1, len(self.returns) + 1)
        names = () if self.goals is None else self.goals.names
        goals = {"goal": np.repeat(np.array(names, object), len(episodes) // len(names))} if names else {}
        return frame({"episode": episodes, **goals, "return": self.returns, "length": self.lengths, **beside})

    def to_dict(self, curves: bool = False) -> dict[str, Any]:
        """Return the numbers, ready for JSON; with `curves`, also of every episode, for `from_dict`."""
        by_chance = None
        if self.chance is not None:
            low, high = interval(self.chance)
            by_chance = {"mean": float(self.chance.mean()), "interval": [low, high], "p": self.p}
        kept: dict[str, Any] = {}
        if flag("curves", curves):
            chance = None if self.chance is None else self.chance.tolist()
            kept["curves"] = {
                "returns": self.returns.tolist(), "lengths": self.lengths.tolist(), "chance": chance
            }  # fmt: skip
        return {
            "episodes": len(self.returns),
            "seed": self.seed,
            "mean": self.mean,
            "interval": list(self.interval),
            "mean_length": float(self.lengths.mean()),
            "cut": self.cut,
            "chance": by_chance,
            **({} if self.goals is None else {"goals": {**self.goals.to_dict(), "means": self.by_goal}}),
            **kept,
        }

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the data of `to_dict(curves=True)`."""
        given = instance("data", data, dict, "the result of Evaluation.to_dict(curves=True)")
        with reading("an evaluation"):
            if "curves" not in given:
                raise InputError("it has no curves; write it with to_dict(curves=True)")
            curves = given["curves"]
            returns, lengths = (finite_numbers(name, curves[name], 1) for name in ("returns", "lengths"))
            chance = None if curves["chance"] is None else finite_numbers("chance", curves["chance"], 1)
            counts = {len(one) for one in (returns, lengths, chance) if one is not None}
            if len(counts) != 1 or lengths.dtype.kind != "i" or lengths.min() < 1:
                raise InputError("returns, lengths and chance do not belong to the same episodes")
            goals = None
            if "goals" in given:
                named = instance("goals", given["goals"], dict, "the goals of an agent, by name")
                goals = Goals.from_dict({name: named[name] for name in named if name != "means"})
                if len(returns) % len(goals.names):
                    raise InputError("the goals do not have the same number of episodes")
            return cls(
                returns=returns.astype(np.float64),
                lengths=lengths,
                goals=goals,
                chance=None if chance is None else chance.astype(np.float64),
                seed=integer("seed", given["seed"], 0, MAX_SEED),
                cut=integer("cut", given["cut"], 0, len(returns)),
            )

    def summary(self) -> str:
        """Return the outcome in a few lines of text."""
        lines = [
            f"{counted(len(self.returns), 'episode')}, seed {self.seed}",
            f"mean return  {_line(self.returns)}",
        ]
        if self.goals is not None:
            name = self.goals.names[self.goals.trained]
            lines[0] += f"; trained for goal {name} alone, tried towards all {len(self.goals.names)}"
        if self.chance is not None:
            tested = f", p = {self.p:.2g}, paired t-test" if self._varies else ""
            lines += [f"chance       {_line(self.chance)}{tested}"]
        if self.cut:
            lines.append(f"cut off before the environment ended them: {counted(self.cut, 'episode')}")
        if self.goals is not None:
            for goal, name in enumerate(self.goals.names[:_GOALS_SHOWN]):
                beside = "" if self.chance is None else f", chance {self._towards(self.chance, goal):z.2f}"
                own = "  (trained)" if goal == self.goals.trained else ""
                lines.append(f"goal {name}: {self._towards(self.returns, goal):z.2f}{beside}{own}")
            if len(self.goals.names) > _GOALS_SHOWN:
                lines.append(f"and {len(self.goals.names) - _GOALS_SHOWN} more goals")
        return "\n".join(lines)


def _line(values: NDArray[np.float64]) -> str:
    low, high = interval(values)
    return f"{values.mean():z.2f} (95%: {low:z.2f} to {high:z.2f})"


def evaluate(
    agent: Agent,
    env: Any,
    *,
    episodes: int = 100,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    chance: bool = True,
) -> Evaluation:
    """Let an agent act in a Gymnasium environment, and random networks for comparison.

    Args:
        agent: The agent.
        env: An environment, wrapped or not, a function that makes one, or the id of one.
        episodes: The number of episodes; episode k resets with seed + k. An agent that was trained
            for one of several goals has this many towards each of them, and the summary says so.
        seed: The seed of the first episode.
        options: Options for every reset, instead of goals.
        chance: Run random networks in the same episodes, too.

    Returns:
        The return of every episode.

    Raises:
        InputError: If an argument is wrong, or the agent does not fit the environment.
    """
    instance("agent", agent, Agent, "an Agent, as Result.agent returns")
    episodes, seed = integer("episodes", episodes, 1, MAX_EPISODES), integer("seed", seed, 0, 2**31 - 1)
    chance = flag("chance", chance)
    if options is not None and not isinstance(options, Mapping):
        raise InputError(f"options is {shown(options)}, expected a dictionary for reset")
    if isinstance(env, Task) or (isinstance(env, str) and env.startswith(PREFIX)):
        raise InputError(
            f"env is {shown(env)}, a task; an agent acts in a Gymnasium environment, as 'CartPole-v1', or in "
            "your own loop with agent.act(observation)"
        )
    made = env if is_env(env) else made_env(env, {})
    try:
        _check_fit(agent, made)
        goals = None if options is not None or _has_its_own_goal(made) else agent.goals
        common = {} if options is None else {"options": dict(options)}
        resets = [common] if goals is None else goals.resets
        each = [{"seed": seed + k, **reset} for reset in resets for k in range(episodes)]
        own = replace(agent)  # from its first episode on, whatever it has done before
        played = [_played(own, made, reset) for reset in each]
        by_chance = None
        if chance:
            random = (_by_chance(agent, seed, k) for k in range(len(each)))
            by_chance = [_played(one, made, reset)[0] for one, reset in zip(random, each, strict=True)]
    finally:
        if made is not env:
            made.close()
    returns, lengths, cuts = (np.array(column) for column in zip(*played, strict=True))
    return Evaluation(
        returns=returns.astype(np.float64),
        lengths=lengths.astype(np.int64),
        chance=None if by_chance is None else np.array(by_chance, np.float64),
        seed=seed,
        cut=int(cuts.sum()),
        goals=goals,
    )


def _has_its_own_goal(env: Any) -> bool:
    """Say whether an environment is a maze that was made with one goal."""
    inner = getattr(env, "unwrapped", env)
    return type(inner).__name__ == "MazeEnv" and inner.goal is not None


def _check_fit(agent: Agent, env: Any) -> None:
    outputs = agent.network.outputs
    space = env.action_space
    if agent.actions is not None and agent.actions.values is not None:
        with suppress(InputError):
            if actions_of_space(space, agent.actions.word) == agent.actions:
                return
        raise InputError(f"the agent has other actions than the environment, {shown(space)}")
    if (getattr(space, "n", None), getattr(space, "start", 0)) != (outputs, agent.first_action):
        first = f", from {agent.first_action} on" if agent.first_action else ""
        raise InputError(f"the agent has {counted(outputs, 'action')}{first}, the environment {shown(space)}")


def _by_chance(agent: Agent, seed: int, episode: int) -> Agent:
    """Return an agent like another one, with random weights."""
    weights = agent.network.fresh_weights(seed, episode)
    return replace(agent, weights=weights, seed=seed, episode=episode)


def _played(agent: Agent, env: Any, reset: Mapping[str, Any]) -> tuple[float, int, bool]:
    """Run one episode; return its return, its steps, and whether it was cut off."""
    name = name_of(env)
    with named(name, "reset"):
        observation, _ = env.reset(**reset)
    agent.reset()
    total, steps, over = 0.0, 0, False
    while not over and steps < agent.settings.steps:
        action = agent.act(observation)
        with named(name, "step"):
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
        steps += 1
        over = bool(terminated or truncated)
    if not math.isfinite(total):
        raise InputError(f"the return of an episode is {total}, expected a number; mend the environment")
    return total, steps, not over
