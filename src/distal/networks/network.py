"""Base class of networks: a shape, the draws of the weights, and one step from inputs to an action.

A network holds no weights, because every episode of a trial may have others. Two matrices
hold them, one row per post-synaptic neuron and one column per pre-synaptic one:

    hidden (H, columns[0])   into the hidden neurons
    output (O, columns[1])   into the outputs

A new network is a subclass with `columns`, `propagate` and `sources`, and a line,
`register(Mine)`; `check_network` tests it. docs/extending.md has an example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.base import plugins
from distal.base.checks import InputError, code_for, instance, integer, shown, unit_interval
from distal.base.frozen import Frozen
from distal.model import draws
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.maze import INPUTS, OUTPUTS
from distal.model.settings import MAX_INPUTS, MAX_OUTPUTS, Settings
from distal.model.traces import Activations

if TYPE_CHECKING:
    from distal.networks.episode import Episode

LAYERS = ("inputs", "recurrent", "feedback", "outputs", "biases")  # of synapses, by their sources
Hidden = NDArray[Any]  # what hidden neurons pass on: 0 or 1, or a float32 in [0, 1]
Word = Callable[[], np.uint32]  # draws the random word of a step, where one is needed


@dataclass(frozen=True, eq=False)
class Weights(Frozen):
    """All weights of one network, 32-bit floats, one row per receiving neuron.

    Attributes:
        hidden: The weights into the hidden neurons.
        output: The weights into the outputs.
    """

    hidden: NDArray[np.float32]
    output: NDArray[np.float32]


class Sums(NamedTuple):
    """The hidden neurons of a step, and the sums of its outputs.

    Attributes:
        hidden: The values that the hidden neurons pass on, (H).
        active: Which of them count as active, zeros and ones.
        outputs: The sum of each output, (O).
    """

    hidden: Hidden
    active: Activations
    outputs: NDArray[np.float32]


class State(NamedTuple):
    """All that a step leaves: for the next one, and for the record of the episode."""

    hidden: Hidden  # what the hidden neurons pass on
    active: Activations  # which of them count as active
    outputs: Activations  # which outputs are active


class Network(ABC):
    """A network of one shape, without weights.

    Args:
        inputs: The number of inputs, without the bias.
        outputs: The number of outputs, one for each action.
        settings: The number of hidden neurons, and the readings.
        **scales: The numbers in `scales`, each in [0, 1]; a scale that is left out has its default.

    Attributes:
        kind: Its word in settings, files and on the command line.
        label: Its name in text.
        scales: The numbers that it takes from a learner, by name, with the value if a learner
            has none.
        ignores: The readings that have no effect on it.
        compiled: The module whose `compiled`, a `CompiledNetwork`, engine steps runs in place of
            this class; None if there is none. A subclass does not inherit it.

    Raises:
        InputError: If a number is out of its range, or the network has no such scale.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    scales: ClassVar[Mapping[str, float]] = {}
    ignores: ClassVar[tuple[str, ...]] = ()
    compiled: ClassVar[str | None] = None

    def __init__(
        self,
        inputs: int = INPUTS,
        outputs: int = OUTPUTS,
        settings: Settings | None = None,
        **scales: float,
    ) -> None:
        self.inputs = integer("inputs", inputs, 1, MAX_INPUTS)
        self.outputs = integer("outputs", outputs, 1, MAX_OUTPUTS)
        self.settings = (
            Settings() if settings is None else instance("settings", settings, Settings, "a Settings")
        )
        self.hidden = self.settings.hidden
        for name in scales:
            if name not in self.scales:
                known = ", ".join(self.scales) or "none"
                raise InputError(f"{name} is not a scale of network {self.kind!r}; its scales are: {known}")
        values = {name: unit_interval(name, value) for name, value in {**self.scales, **scales}.items()}
        self.scale = {name: np.float32(value) for name, value in values.items()}
        self.numbers: Mapping[str, float] = values

    def __repr__(self) -> str:
        numbers = "".join(f", {name} {value:.3g}" for name, value in self.numbers.items())
        size = f"{self.inputs} inputs, {self.hidden} hidden, {self.outputs} outputs"
        return f"{type(self).__name__}({size}{numbers})"

    # ------------------------------------------------------------------ a network of your own: these three

    @property
    @abstractmethod
    def columns(self) -> tuple[int, int]:
        """The number of pre-synaptic neurons of a hidden neuron and of an output, biases included."""

    @abstractmethod
    def propagate(self, weights: Weights, state: State, inputs: Activations) -> Sums:
        """Compute one step.

        Args:
            weights: The weights of this episode.
            state: The state after the step before, or `start`.
            inputs: The inputs of this step, the bias last, (I + 1).

        Returns:
            The hidden neurons, and the sums of the outputs.
        """

    @abstractmethod
    def sources(self, record: Episode[Any], trace_pre: str) -> tuple[Activations, Activations]:
        """Return the pre-synaptic activations of every step, by column of the two matrices.

        Args:
            record: The episode, with the activations of every step.
            trace_pre: The reading of this name; `before` applies it to activations that
                feed the next step.

        Returns:
            Two arrays, (steps, columns[0]) and (steps, columns[1]), of zeros and ones.
        """

    # ------------------------------------------------------------------ and what follows from them

    @property
    def blocks(self) -> tuple[int, ...]:
        """The columns at which a layer begins in a hidden row, after the first; one layer by default."""
        return ()

    @property
    def layers(self) -> tuple[Sequence[str], Sequence[str]]:
        """The layer in `LAYERS` of each column of the two matrices; "inputs" and "outputs" by default."""
        into_hidden, into_output = self.columns
        return ("inputs",) * into_hidden, ("outputs",) * into_output

    def synapses(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say which entries of the two matrices are synapses; all of them by default."""
        shapes = self.shapes
        return np.ones(shapes[0], np.bool_), np.ones(shapes[1], np.bool_)

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The shapes of the two matrices."""
        into_hidden, into_output = self.columns
        return (self.hidden, into_hidden), (self.outputs, into_output)

    def weights(self, hidden: NDArray[np.float32], output: NDArray[np.float32]) -> Weights:
        """Return two matrices as the weights of this network; refuse matrices of another shape."""
        if (hidden.shape, output.shape) != self.shapes:
            raise InputError(
                f"the weights have the shapes {hidden.shape} and {output.shape}, "
                f"expected {self.shapes[0]} and {self.shapes[1]} for {self!r}"
            )
        return self._weights(hidden, output)

    def _weights(self, hidden: NDArray[np.float32], output: NDArray[np.float32]) -> Weights:
        """Return two matrices of the right shapes as weights; override it to give them more names."""
        return Weights(hidden, output)

    def fresh_weights(self, seed: int, episode: int) -> Weights:
        """Return weights uniform in [−1, 1) for the network that runs an episode.

        Args:
            seed: The seed of the trial.
            episode: The number of the episode, from 0.
        """
        seed, episode = integer("seed", seed, 0, MAX_SEED), integer("episode", episode, 0, MAX_COUNT)
        return self._drawn(seed, draws.WEIGHTS, episode, draws.uniform)

    def perturbation(self, seed: int, episode: int) -> Weights:
        """Return an independent standard normal deviate for every weight."""
        return self._drawn(seed, draws.NOISE, episode, draws.normals)

    def _drawn(
        self, seed: int, purpose: int, episode: int, number: Callable[[Any], NDArray[np.float32]]
    ) -> Weights:
        """Draw a number for every synapse; entries that are none become 0.

        The lane is the post-synaptic neuron (hidden 0 … H−1, then the outputs), the draw is the
        pre-synaptic index. Rows come in whole blocks of four words; the last ones may be unused.
        """
        hidden, (into_hidden, into_output) = self.hidden, self.columns
        exists = self.synapses()
        for_hidden = number(draws.words(seed, purpose, episode, range(hidden), into_hidden))
        lanes = range(hidden, hidden + self.outputs)
        for_output = number(draws.words(seed, purpose, episode, lanes, into_output))
        none = np.float32(0)
        return self._weights(
            np.where(exists[0], for_hidden[:, :into_hidden], none),
            np.where(exists[1], for_output[:, :into_output], none),
        )

    def start(self) -> State:
        """Return the state before the first step: nothing is active."""
        silent = np.zeros(self.hidden, np.uint8)
        return State(silent, silent, np.zeros(self.outputs, np.uint8))

    def step(self, weights: Weights, state: State, inputs: Activations, word: Word) -> tuple[int, State]:
        """Compute one step, and choose its action.

        Args:
            weights: The weights of this episode.
            state: The state after the step before, or `start`.
            inputs: The inputs of this step, the bias last.
            word: Draws the random word of this step.

        Returns:
            The action, and what the step leaves.
        """
        hidden, active, sums = self.propagate(weights, state, inputs)
        action, outputs = self.choose(sums, word)
        return action, State(hidden, active, outputs)

    def choose(self, sums: NDArray[np.float32], word: Word) -> tuple[int, Activations]:
        """Turn the sums of the outputs into an action and active outputs, by default as the readings say.

        Args:
            sums: The sum of each output.
            word: Draws the random word of this step.

        Returns:
            The action, and which outputs are active.
        """
        return choose(sums, self.settings.outputs, word)


NETWORKS: dict[str, type[Network]] = {}  # by the word for the kind; `distal.networks.register` adds one


def network_for(settings: Settings, inputs: int, outputs: int, numbers: Mapping[str, float]) -> Network:
    """Return the network that settings name.

    Args:
        settings: The word for it, its hidden neurons and the readings.
        inputs: The number of inputs, without the bias.
        outputs: The number of outputs.
        numbers: The numbers of a learner, by name; the network takes its scales from them.

    Returns:
        The network.

    Raises:
        InputError: If an argument is wrong, or a number is out of its range.
    """
    word = instance("settings", settings, Settings, "a Settings").network
    if word not in NETWORKS:  # on a worker, which settings come to without being checked again
        plugins.load_installed(plugins.NETWORKS)
    if word not in NETWORKS:
        raise InputError(f"network {shown(word)} is not known here; import its module here, too")
    kind = NETWORKS[word]
    instance("numbers", numbers, Mapping, "the numbers of a learner, by name")  # type: ignore[type-abstract]
    scales = {name: numbers[name] for name in kind.scales if name in numbers}
    return kind(inputs, outputs, settings, **scales)


def added(
    network: Network, weights: Weights, hidden: NDArray[np.float32], output: NDArray[np.float32]
) -> Weights:
    """Add a change to every synapse, and none where there is no synapse."""
    exists, none = network.synapses(), np.float32(0)
    return network.weights(
        hidden=weights.hidden + np.where(exists[0], hidden, none),
        output=weights.output + np.where(exists[1], output, none),
    )


def ordered_sum(terms: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sum each row in ascending order of its columns.

    `np.sum` adds in pairs; an accumulation has to go in order, because every
    partial sum is a result.
    """
    total: NDArray[np.float32] = np.add.accumulate(terms, axis=-1, dtype=np.float32)[..., -1]
    return total


def psi(sums: NDArray[np.float32]) -> Activations:
    """Return the binary activation: 1 where the sum is greater than 0."""
    return (sums > 0).astype(np.uint8)


# ------------------------------------------------------------------ the readings of a network


def _winner(sums: NDArray[np.float32], word: Word) -> tuple[int, Activations]:
    """Let the largest sum act, the first if equal; it is the only active one."""
    strongest = int(np.argmax(sums))
    return strongest, np.eye(len(sums), dtype=np.uint8)[strongest]


def _binary(sums: NDArray[np.float32], word: Word) -> tuple[int, Activations]:
    """Let the largest sum act; all positive ones are active."""
    return int(np.argmax(sums)), psi(sums)


def _random(sums: NDArray[np.float32], word: Word) -> tuple[int, Activations]:
    """Draw the action from the active outputs, or from all if none is active."""
    active = psi(sums)
    candidates = np.flatnonzero(active) if active.any() else np.arange(len(sums))
    return int(candidates[draws.choice(word(), len(candidates))]), active


OUTPUT_READINGS = {"winner": _winner, "binary": _binary, "random": _random}


def choose(sums: NDArray[np.float32], reading: str, word: Word) -> tuple[int, Activations]:
    """Turn the output sums into an action and the output activations, as the reading "outputs" says."""
    return code_for("outputs", OUTPUT_READINGS, reading)(sums, word)


def _delayed(activations: Activations) -> Activations:
    """Shift by one step: row t holds what was active at step t − 1."""
    return np.vstack([np.zeros_like(activations[:1]), activations[:-1]])


TRACE_READINGS: dict[str, Callable[[Activations], Activations]] = {
    "current": lambda activations: activations,
    "previous": _delayed,
}


def before(activations: Activations, trace_pre: str) -> Activations:
    """Return the activations (steps, neurons) of a layer that feeds the next step, as traces pair them."""
    return code_for("trace_pre", TRACE_READINGS, trace_pre)(activations)
