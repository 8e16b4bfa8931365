"""A trained network on its own: it acts in an environment, is kept in a file, and is measured.

Its weights no longer change. `Result.agent` makes one from the best weights of a trial.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import (
    InputError,
    array,
    counted,
    fields,
    finite_numbers,
    flag,
    function,
    instance,
    integer,
    reading,
    sequence,
    shown,
    text,
)
from distal.base.checks import path as checked_path
from distal.base.display import html_table, or_dash, short
from distal.base.files import SAVED, check_target, read_json, to_json, write_text
from distal.base.frames import frame
from distal.base.frozen import Frozen
from distal.base.significance import interval, paired
from distal.learners.plastic import bits_of
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.settings import MAX_INPUTS, Settings
from distal.networks import NETWORKS, Acting, Network, Weights, network_for
from distal.tasks.actions import Actions, actions_of_space
from distal.tasks.encoders import AnyEncoder, Encoder, FunctionEncoder
from distal.tasks.gym import is_env, made_env, name_of, named

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT, VERSION = "distal-agent", 1
MAX_EPISODES = 10_000_000
_GOALS_SHOWN = 16
MAX_NAME = 200
_ALL = "all"  # the word in files for all combinations of an action's numbers
_MOST = 2**31  # bytes of a file; free memory mostly ends before


@dataclass(frozen=True)
class Goals:
    """The goals of the task that an agent comes from, and the one that it was trained for.

    Attributes:
        trained: Which it was trained for, from 0.
        names: What the goals are called.
        resets: What the environment's reset is given for each, by keyword.
    """

    trained: int
    names: tuple[str, ...]
    resets: tuple[Mapping[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the goals, ready for JSON."""
        return {"trained": self.trained, "names": list(self.names), "resets": list(map(dict, self.resets))}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the data of `to_dict`."""
        given = instance("goals", data, dict, "the goals of an agent, by name")
        if set(given) != {"trained", "names", "resets"}:
            raise InputError(f"goals is {shown(data)}, expected trained, names and resets")
        names = tuple(text("a goal", name) for name in sequence("names", given["names"], "a list of names"))
        resets = sequence("resets", given["resets"], "a list of keyword arguments")
        for reset in resets:
            if not isinstance(reset, dict) or not set(reset) <= {"seed", "options"}:
                raise InputError(f"resets holds {shown(reset)}, expected a seed or options")
        if len(names) != len(resets):
            raise InputError(f"there are {len(names)} names of goals and {len(resets)} resets")
        return cls(integer("trained", given["trained"], 0, len(names) - 1), names, resets)


@dataclass(eq=False)
class Agent:
    """A network that acts, with fixed weights.

    Args:
        weights: The weights.
        network: The network that has them, with its scales and settings.
        encoder: Turns observations into bits; None if observations are bits.
        first_action: The environment's number of the network's first output.
        name: The name of the agent.
        seed: The seed of the actions, if they are drawn (outputs="random").
        episode: The number of the first episode; drawn actions depend on it too.
        actions: The environment's actions, if they are not numbers.
        goals: The goals of its task, if there are several.

    Raises:
        InputError: If an argument is wrong, or the arguments do not fit together.
    """

    weights: Weights
    network: Network
    encoder: AnyEncoder | None = None
    first_action: int = 0
    name: str = ""
    seed: int = 0
    episode: int = 0
    actions: Actions | None = None
    goals: Goals | None = None

    def __post_init__(self) -> None:
        instance("weights", self.weights, Weights, "the Weights of a network")
        instance("network", self.network, Network, "a Network, such as Recurrent()")  # type: ignore[type-abstract]
        self.first_action = integer("first_action", self.first_action, -MAX_EPISODES, MAX_EPISODES)
        self.name = text("name", self.name, MAX_NAME)
        self.seed = integer("seed", self.seed, 0, MAX_SEED)
        self.episode = integer("episode", self.episode, 0, MAX_COUNT - MAX_EPISODES)
        given: object = self.encoder
        if given is not None and not isinstance(given, Encoder | FunctionEncoder):
            raise InputError(f"encoder is {shown(given)}, expected the encoder of an EnvTask, or None")
        if self.goals is not None:
            instance("goals", self.goals, Goals, "the Goals of a task, or None")
        network = self.network
        if self.actions is not None:
            count = instance("actions", self.actions, Actions, "the Actions of an environment").count
            if count != network.outputs:
                raise InputError(f"there are {count} actions, the network has {network.outputs} outputs")
        self.weights = network.weights(self.weights.hidden, self.weights.output)
        if self.encoder is not None and self.encoder.bits != network.inputs:
            raise InputError(
                f"the network has {network.inputs} inputs, the encoder gives {self.encoder.bits} bits"
            )
        self._acting = Acting(network, self.weights, self.seed, self.episode, record=False)

    def __repr__(self) -> str:
        network = self.network
        return (
            f"Agent({short(self.name) or 'unnamed'}: {counted(network.inputs, 'input')}, "
            f"{counted(network.hidden, 'hidden neuron')}, {counted(network.outputs, 'output')})"
        )

    def _repr_html_(self) -> str:
        network = self.network
        sensed = "bits, as they are" if self.encoder is None else self.encoder.to_dict()["word"]
        rows = [
            ("network", network.label), ("inputs", network.inputs), ("hidden neurons", network.hidden),
            ("outputs", network.outputs), ("observations", sensed),
            ("steps of an episode", self.settings.steps),
            *((name, f"{value:.4g}") for name, value in network.numbers.items()),
        ]  # fmt: skip
        return html_table(self.name or "unnamed agent", (), rows)

    @property
    def settings(self) -> Settings:
        """The settings of the network; how outputs act is among them."""
        return self.network.settings

    def reset(self) -> None:
        """Begin the next episode, or the first again if it has no step yet: no neuron is active."""
        number = self._acting.number + (self._acting.steps > 0)
        self._acting = Acting(self.network, self.weights, self.seed, number, record=False)

    def act(self, observation: Any) -> Any:
        """Return the environment's action for an observation, usually a number."""
        bits = self.encoder(observation) if self.encoder is not None else None
        action = self._acting.act(bits_of(observation, self.network.inputs) if bits is None else bits)
        return self.first_action + action if self.actions is None else self.actions[action]

    def to_dict(self) -> dict[str, Any]:
        """Return the contents of its file."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            **self.network.numbers,
            "settings": self.settings.to_dict(),
            "encoder": None if self.encoder is None else self.encoder.to_dict(),
            "first_action": self.first_action,
            **({} if self._word is None else {"actions": self._word}),
            **({} if self.goals is None else {"goals": self.goals.to_dict()}),
            "seed": self.seed,
            "episode": self.episode,
            "inputs": self.network.inputs,
            "hidden": self.weights.hidden.tolist(),
            "output": self.weights.output.tolist(),
        }

    @property
    def _word(self) -> str | None:
        """How its actions are made from the environment's, if they are no numbers."""
        return None if self.actions is None or self.actions.values is None else self.actions.word or _ALL

    def save(self, path: str | Path) -> None:
        """Write the agent to a JSON file, which `load` reads."""
        check_target(checked_path("path", path), SAVED)
        write_text(path, to_json(self.to_dict()) + "\n")

    @classmethod
    def load(cls, path: str | Path, env: Any = None, encode: Callable[[Any], Any] | None = None) -> Agent:
        """Read an agent from a file written by `save`.

        Args:
            path: The file.
            env: The environment it acts in, a function that makes it, or its id; needed if
                observations are not bits, because it defines their form.
            encode: The function that turned observations into bits, if one did.

        Returns:
            The agent.

        Raises:
            InputError: If the file cannot be read, is not an agent, or is one for other observations.
        """
        function("encode", encode)
        if env is not None and not (isinstance(env, str) or callable(env) or is_env(env)):
            raise InputError(
                f"env is {shown(env)}, expected an environment, a function that makes one, or an id"
            )
        data = read_json(checked_path("path", path), "agent file", _MOST)
        try:
            return cls._from_dict(data, env, encode)
        except InputError as error:
            raise InputError(f"agent file {str(path)!r}: {error}") from None

    @classmethod
    def _from_dict(cls, data: object, env: Any, encode: Callable[[Any], Any] | None) -> Agent:
        given = instance("data", data, dict, "the file of an agent")
        settings = Settings.from_dict(given.get("settings"))
        scales = tuple(NETWORKS[settings.network].scales)
        names = (
            "first_action", "seed", "episode", "name", "settings", "encoder", "inputs", "hidden", "output",
        )  # fmt: skip
        kept = fields(given, FORMAT, VERSION, (*scales, *names), ("actions", "goals"))
        word, goals = kept.pop("actions", None), kept.pop("goals", None)
        hidden, output = _matrix("hidden", kept.pop("hidden")), _matrix("output", kept.pop("output"))
        numbers = {name: kept.pop(name) for name in scales}
        network = network_for(settings, kept.pop("inputs"), len(output), numbers)
        encoder = _encoder(kept.pop("encoder"), env, encode)
        del kept["settings"]
        actions = None if word is None else _actions(word, env)
        trained = None if goals is None else Goals.from_dict(goals)
        return cls(network.weights(hidden, output), network, encoder, **kept, actions=actions, goals=trained)


def _encoder(data: object, env: Any, encode: Callable[[Any], Any] | None) -> AnyEncoder | None:
    """Make the encoder of an agent again, for the observations of an environment or with the function."""
    word = str(data.get("word")) if isinstance(data, dict) else ""
    if isinstance(data, dict) and word.startswith("function ") and encode is not None:
        return FunctionEncoder(encode, integer("bits", data.get("bits"), 1, MAX_INPUTS))
    if encode is not None:
        raise InputError("no function turned its observations into bits; leave encode out")
    if data is None:
        return None
    if word.startswith("function "):
        raise InputError(f"observations became bits by the {word}; pass it: Agent.load(path, encode=…)")
    if env is None:
        raise InputError("it acts on observations of an environment; name it: Agent.load(path, env)")
    with _opened(env) as made:
        return Encoder.from_dict(data, made.observation_space)


def _actions(word: object, env: Any) -> Actions:
    """Make the actions of an agent again."""
    if env is None:
        raise InputError("its actions belong to an environment; name it: Agent.load(path, env)")
    with _opened(env) as made:
        return actions_of_space(made.action_space, None if word == _ALL else word)


@contextmanager
def _opened(env: Any) -> Iterator[Any]:
    """Return an environment, made and closed again if it is not there yet."""
    made = env if is_env(env) else made_env(env, {})
    try:
        yield made
    finally:
        if made is not env:
            made.close()


def _matrix(name: str, given: object) -> NDArray[np.float32]:
    """Read a matrix of weights."""
    matrix = array(given)
    right = matrix.ndim == 2 and matrix.size > 0 and matrix.dtype.kind in "if"
    if not right or not (np.abs(matrix) <= np.finfo(np.float32).max).all():
        raise InputError(f"{name} is {shown(given)}, expected rows of finite numbers")
    return matrix.astype(np.float32)


# ---------------------------------------------------------------- how well one does


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
            ("its 95 % interval", *(f"{low:z.2f} to {high:z.2f}" for low, high in ends)),
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
        """The 95 % interval of the mean, by bootstrap."""
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
    return f"{values.mean():z.2f} (95 %: {low:z.2f} to {high:z.2f})"


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
