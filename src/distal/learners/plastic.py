"""A plastic network: a network with the learner that changes it, which acts and learns.

    network = PlasticNetwork("evolved:1", task="CartPole-v1", seed=1)
    network.start_episode()
    action = network.act(observation)      # as often as the episode has steps
    network.end_episode(reward=total)      # or ep=…; the weights change

`learn` on the reference engine trains one for each trial, so a plastic network in your own loop,
with the seed of a trial, gives the EPs of that trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from distal.base import checks
from distal.base.checks import InputError, array, fields, instance, integer, number, shown
from distal.base.files import SAVED, check_target, read_json, to_json, write_text
from distal.learners.learner import Kept, Learner, Memory, Trial
from distal.learners.registry import from_embedded
from distal.learners.shipped import find_learner, name_of
from distal.model.draws import MAX_COUNT
from distal.model.settings import Settings, SettingsDict
from distal.networks import Acting, Episode, Network, Weights, network_for
from distal.networks.episode import run_to_end
from distal.tasks.sources import AnyTask, task_of
from distal.tasks.task import Aim, Task, W

FORMAT, VERSION = "distal-plastic-network", 1
_MOST = 2**26  # bytes of a file


class PlasticNetwork:
    """A network that a learner trains, one episode after another.

    Args:
        learner: A learner, or a name such as "evolved:1", "hc", or the path of a learner's file.
        inputs: The number of inputs; observations are then as many zeros and ones.
        outputs: The number of actions.
        task: Instead of the two numbers: a task, an environment or its id. Then `act` takes its
            observations, and returns its actions.
        seed: The seed of all random numbers; a trial's seed repeats the trial.
        resample: Draw fresh weights after this many episodes.
        switch: The goal moves after this many episodes; some learners then start again.
        settings: The settings of the network; or give them one by one, as keywords.
        **options: As in `Settings`, except the reading "outputs", because `outputs` is the number
            of actions here: write settings=Settings(outputs="random").

    Attributes:
        learner: The learner.
        network: The shape of the network.
        trial: Its seed, and the episodes with fresh weights.
        episode: The number of episodes that have ended.

    Raises:
        InputError: If an argument is wrong, or neither a task nor two numbers are given.
    """

    learner: Learner
    network: Network
    trial: Trial
    episode: int

    def __init__(
        self,
        learner: Learner | str | Path,
        *,
        inputs: int | None = None,
        outputs: int | None = None,
        task: AnyTask = None,
        seed: int = 0,
        resample: int | None = None,
        switch: int | None = None,
        settings: Settings | None = None,
        **options: Any,
    ) -> None:
        one = find_learner(learner)
        if isinstance(outputs, str):  # the reading has the name of the number
            raise InputError(
                f"outputs is {shown(outputs)}, expected the number of actions; "
                "a reading of that name is one of settings=distal.Settings(outputs=…)"
            )
        if settings is not None and options:
            raise InputError(
                f"settings is given with {', '.join(options)}; give the settings or the keywords"
            )
        found: Task[Any] | None = None
        if task is not None:
            if inputs is not None or outputs is not None:
                raise InputError("task is given with inputs or outputs; leave these out, the task sets them")
            found = task_of(task)
            inputs, outputs = found.inputs, found.outputs
            if found.steps is not None:
                options = {"steps": found.steps, **options}
        if inputs is None or outputs is None:
            raise InputError("neither a task nor the numbers of inputs and outputs are given; add one")
        words = ("inputs", "outputs", "task", "seed", "resample", "switch", "settings")
        in_force = Settings.of(cast(SettingsDict, options), words) if settings is None else settings
        network = network_for(in_force, inputs, outputs, one.numbers)
        self._begin(one, network, Trial(seed, resample, switch), found)

    @classmethod
    def in_trial(cls, learner: Learner, network: Network, trial: Trial) -> Self:
        """Return the plastic network of a trial, whose inputs are zeros and ones.

        Args:
            learner: The learner.
            network: The network.
            trial: Its seed, and the episodes with fresh weights.

        Returns:
            The plastic network, before its first episode.
        """
        made = cls.__new__(cls)
        made._begin(learner, network, trial, None)
        return made

    def _begin(self, learner: Learner, network: Network, trial: Trial, task: Task[Any] | None) -> None:
        learner.check_network(network)
        self.learner, self.network, self.trial, self.episode = learner, network, trial, 0
        self._encoder = None if task is None else task.encoder
        self._first_action = 0 if task is None else task.first_action
        self._actions = None if task is None else task.acting
        self._memory = Memory(network.fresh_weights(trial.seed, 0))
        self._acting: Acting | None = None

    def __repr__(self) -> str:
        return f"PlasticNetwork({name_of(self.learner)}, {self.network!r}, episode {self.episode})"

    @property
    def weights(self) -> Weights:
        """The weights of the current episode, or of the next."""
        return self._memory.weights

    def start_episode(self) -> None:
        """Begin the next episode: no neuron is active. An unfinished one is forgotten."""
        change = None
        if self.learner.within:
            change = partial(self.learner.step, self.network, self.trial, self._memory)
        self._acting = Acting(
            self.network, self._memory.weights, self.trial.seed, self.episode, change=change
        )

    def act(self, observation: Any) -> Any:
        """Return the action for an observation of the task, or for zeros and ones.

        An action is a number, or an array if the environment takes arrays.

        Raises:
            InputError: If no episode has begun, or the observation is not one of the task.
        """
        action = self._under_way().act(self._bits(observation))
        return self._first_action + action if self._actions is None else self._actions[action]

    def end_episode(self, *, ep: float | None = None, reward: float | None = None) -> None:
        """End the episode: the learner gets its score, and changes the weights.

        Args:
            ep: The episodic performance, lower is better.
            reward: Instead of ep, a reward, higher is better: ep is minus the reward.

        Raises:
            InputError: If neither or both are given, no episode has begun, or it has no step.
        """
        if (ep is None) == (reward is None):
            raise InputError("end_episode takes either ep (lower is better) or reward (higher is better)")
        heard = number("ep", ep) if reward is None else 0.0 - number("reward", reward)
        self._learn(self._under_way().ended(heard))

    def run_episode(self, task: Aim[W]) -> Episode[W]:
        """Run the next episode in a task, learn from it, and return it."""
        self.start_episode()
        episode = run_to_end(self._under_way(), task)
        self._learn(episode)
        return episode

    def _under_way(self) -> Acting:
        if self._acting is None:
            raise InputError("no episode has begun; call start_episode first")
        return self._acting

    def _learn(self, episode: Episode[Any]) -> None:
        """Let the learner say what the network carries into the next episode."""
        self._acting = None
        self.episode += 1
        if self.trial.fresh_at(self.episode):
            self._memory = Memory(self.network.fresh_weights(self.trial.seed, self.episode))
        else:
            self._memory = self.learner.update(self.network, self.trial, self._memory, episode)

    def _bits(self, observation: Any) -> tuple[int, ...]:
        return (
            bits_of(observation, self.network.inputs) if self._encoder is None else self._encoder(observation)
        )

    # ------------------------------------------------------------------ files

    def to_dict(self) -> dict[str, Any]:
        """Return the contents of its file, without an unfinished episode."""
        memory = {name: _packed(value) for name, value in self._memory.kept.items()}
        return {
            "format": FORMAT,
            "version": VERSION,
            "learner": self.learner.to_dict(),
            "settings": self.network.settings.to_dict(),
            "inputs": self.network.inputs,
            "outputs": self.network.outputs,
            "encoder": None if self._encoder is None else self._encoder.to_dict(),
            "first_action": self._first_action,
            "trial": vars(self.trial),
            "episode": self.episode,
            "weights": _packed(self._memory.weights),
            "memory": memory,
        }

    def save(self, path: str | Path) -> None:
        """Write a JSON file, from which `load` continues; end the current episode first."""
        if self._acting is not None:
            raise InputError("an episode is under way; call end_episode before save")
        check_target(checks.path("path", path), SAVED)
        write_text(path, to_json(self.to_dict()) + "\n")

    @classmethod
    def load(cls, path: str | Path, task: AnyTask = None) -> PlasticNetwork:
        """Read a network from a file written by `save`, as it was after its last episode.

        Args:
            path: The file.
            task: The task again, if it was made with one.

        Raises:
            InputError: If the file cannot be read, is damaged, or is of another task.
        """
        data = read_json(checks.path("path", path), "plastic network file", _MOST)
        try:
            return cls._from_dict(data, None if task is None else task_of(task))
        except InputError as error:
            raise InputError(f"plastic network file {str(path)!r}: {error}") from None

    @classmethod
    def _from_dict(cls, data: object, task: Task[Any] | None) -> PlasticNetwork:
        names = (
            "learner", "settings", "inputs", "outputs", "encoder", "first_action", "trial", "episode",
            "weights", "memory",
        )  # fmt: skip
        kept = fields(data, FORMAT, VERSION, names)
        encoder = None if task is None else task.encoder
        if kept["encoder"] != (None if encoder is None else encoder.to_dict()):
            raise InputError(
                "it acts on observations of an environment; give it: PlasticNetwork.load(path, task=…)"
                if task is None
                else "its observations were encoded in another way than in this task"
            )
        learner = from_embedded(kept["learner"])
        settings = Settings.from_dict(kept["settings"])
        network = network_for(settings, kept["inputs"], kept["outputs"], learner.numbers)
        made = cls.__new__(cls)
        trial = instance("trial", kept["trial"], dict, "the seed of a trial, and when goals move")
        if set(trial) != set(Trial.__dataclass_fields__):
            raise InputError(f"trial is {shown(trial)}, expected {', '.join(Trial.__dataclass_fields__)}")
        made._begin(learner, network, Trial(**trial), task)
        made._first_action = integer("first_action", kept["first_action"], -MAX_COUNT, MAX_COUNT)
        made.episode = integer("episode", kept["episode"], 0, MAX_COUNT)
        weights = _unpacked(network, "weights", kept["weights"])
        memory = instance("memory", kept["memory"], dict, "the memory of the learner, by name")
        made._memory = Memory(
            instance("weights", weights, Weights, "two matrices"),
            {name: _unpacked(network, name, value) for name, value in memory.items()},
        )
        return made


def bits_of(observation: Any, inputs: int) -> tuple[int, ...]:
    """Return an observation that is zeros and ones as it is; refuse any other."""
    bits = np.ravel(array(observation))
    if bits.dtype.kind not in "biu" or len(bits) != inputs or not np.isin(bits, (0, 1)).all():
        raise InputError(f"an observation is {shown(observation)}, expected {inputs} bits")
    return tuple(bits.tolist())


def _packed(value: Kept) -> Any:
    """Return what a learner remembers as JSON can hold it."""
    if isinstance(value, Weights):
        return {"hidden": value.hidden.tolist(), "output": value.output.tolist()}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "type": value.dtype.str}
    return value


def _unpacked(network: Network, name: str, value: Any) -> Kept:
    """Read what `_packed` returns."""
    if isinstance(value, Mapping) and set(value) == {"hidden", "output"}:
        return network.weights(
            *(checks.finite_numbers(f"{name}, {part}", value[part], 2).astype(np.float32) for part in value)
        )
    if isinstance(value, Mapping) and set(value) == {"array", "type"}:
        return np.array(value["array"]).astype(np.dtype(checks.text("type", value["type"], 8)))
    return number(name, value)


def episodes(
    learner: Learner | str | Path,
    task: Aim[W],
    settings: Settings,
    seed: int,
    resample: int | None = None,
) -> Iterator[Episode[W]]:
    """Train one network with any learner; yield one episode after another, without end.

    Args:
        learner: A learner, or anything that `find_learner` takes.
        task: The task and its goal, such as `Aim(MazeTask(maze), 0)`.
        settings: The network, and the readings.
        seed: The seed of all random numbers.
        resample: Draw fresh weights after this many episodes.

    Returns:
        The episodes, as they end.

    Raises:
        InputError: If an argument is wrong.
    """
    one, aim = (
        find_learner(learner),
        instance("task", task, Aim, "a task and its goal, such as Aim(MazeTask(maze), 0)"),
    )
    network = network_for(
        instance("settings", settings, Settings, "a Settings"), aim.inputs, aim.outputs, one.numbers
    )
    phases = len(aim.phases) or None
    trial = Trial(seed, resample, None if phases is None else aim.every, phases)
    return _endless(PlasticNetwork.in_trial(one, network, trial), aim)


def _endless(plastic: PlasticNetwork, task: Aim[W]) -> Iterator[Episode[W]]:
    while True:
        yield plastic.run_episode(task)
