"""A trained network as a thing of its own: it acts in an environment and has a file.

Its weights no longer change. `Result.agent` makes one from the best weights of a trial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import (
    InputError,
    array,
    counted,
    fields,
    function,
    instance,
    integer,
    sequence,
    shown,
    text,
)
from distal.base.checks import path as checked_path
from distal.base.display import html_table, short
from distal.base.files import SAVED, check_target, read_json, to_json, write_text
from distal.learners.plastic import bits_of
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.settings import MAX_INPUTS, Settings
from distal.networks import NETWORKS, Acting, Network, Weights, network_for
from distal.tasks.actions import Actions, actions_of_space
from distal.tasks.encoders import AnyEncoder, Encoder, FunctionEncoder
from distal.tasks.gym import is_env, made_env

FORMAT, VERSION = "distal-agent", 1
MAX_EPISODES = 10_000_000
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
        episode: The number of the first episode, which decides them too.
        actions: The environment's actions, if they are not numbers.
        goals: The goals of its task, if there are several.

    Raises:
        InputError: If an argument is wrong, or they do not fit together.
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
