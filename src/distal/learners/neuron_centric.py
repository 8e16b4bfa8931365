"""Neuron-centric Hebbian learning with eligibility traces: each neuron has coefficients of its own.

The idea comes from Ferigo, Cunegatti and Iacca ("Neuron-centric Hebbian Learning", GECCO 2024), who
combine the coefficients of both neurons of a synapse and update after every step. Here the update
is the same as in `eligibility`, with the coefficients of the post-synaptic neuron. A single row of
coefficients stands for all neurons and is the same as `eligibility`, in any network; with one row
for each neuron, the learner fits networks of one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, sequence, unit_interval, within
from distal.learners.eligibility import changed
from distal.learners.hebbian import COEFFICIENTS, MINUS, PLUS
from distal.learners.learner import Learner, Memory, Trial
from distal.learners.modulation import heard
from distal.learners.normalisation import normalised
from distal.model.settings import MAX_NEURONS
from distal.networks.episode import Episode
from distal.networks.network import Network

NUMBERS = ("decay", "eta", "alpha_h", "alpha_o")
EACH = len(COEFFICIENTS)  # coefficients of a neuron
LOWEST, HIGHEST = -1.0, 1.0


def checked_rows(coefficients: object) -> tuple[tuple[float, ...], ...]:
    """Return the coefficients of all neurons, if they are rows of eight numbers from −1 to 1."""
    expected = f"a row of {EACH} numbers for each neuron, or one row for all"
    rows = sequence("coefficients", coefficients, expected)
    if not 1 <= len(rows) <= 2 * MAX_NEURONS:
        raise InputError(f"coefficients has {len(rows)} rows, expected {expected}")
    checked = []
    for number, row in enumerate(rows):
        values = sequence(f"coefficients[{number}]", row, f"a row of {EACH} numbers")
        if len(values) != EACH:
            raise InputError(f"coefficients[{number}] has {len(values)} numbers, expected {EACH}")
        name = f"a number of coefficients[{number}]"
        checked.append(tuple(within(name, value, LOWEST, HIGHEST) for value in values))
    return tuple(checked)


@dataclass(frozen=True)
class NeuronCentric(Learner):
    """Eligibility traces with coefficients for each neuron.

    Args:
        coefficients: For each post-synaptic neuron, hidden ones first, then the outputs, a row
            of eight numbers in [-1, 1]: A, B, C, D where m = +1, then where m = −1. One row
            alone stands for all neurons.
        decay: λ, by which a trace is multiplied in each step, in [0, 1]; with 1 it keeps all steps.
        eta: The learning rate, in [0, 1].
        alpha_h: The scale of recurrent sums in the network, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: Its name.

    Raises:
        InputError: If a number is out of its range, or a row has another length.
    """

    coefficients: Sequence[Sequence[float]]
    decay: float
    eta: float
    alpha_h: float
    alpha_o: float
    name: str = ""

    kind: ClassVar[str] = "neuron"
    label: ClassVar[str] = "neuron-centric learning"
    file_format: ClassVar[str] = "distal-neuron"
    names: ClassVar[tuple[str, ...]] = NUMBERS
    genes: ClassVar[tuple[int, int] | None] = (0, len(NUMBERS) + EACH)
    compiled: ClassVar[str | None] = "distal.learners.compiled_eligibility"

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", checked_rows(self.coefficients))
        super().__post_init__()

    def check_network(self, network: Network) -> None:
        """Refuse a network with another number of neurons than there are rows of coefficients."""
        rows, neurons = len(self.coefficients), network.hidden + network.outputs
        if rows not in (1, neurons):
            raise InputError(
                f"coefficients has {rows} rows, but the network has {network.hidden} hidden neurons and "
                f"{network.outputs} outputs; train one with {rows} in all, or evolve for this one"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the contents of the file."""
        return {**super().to_dict(), "coefficients": [list(row) for row in self.coefficients]}

    @classmethod
    def genes_for(cls, network: Network) -> tuple[int, int] | None:
        """Return its number of genes for a network: its numbers, and eight for each neuron."""
        return 0, len(NUMBERS) + EACH * (network.hidden + network.outputs)

    @classmethod
    def gene_names(cls, network: Network | None = None) -> tuple[str, ...]:
        """Return the names of its numbers, then a_plus_0, b_plus_0 … of the first neuron, and so on.

        Args:
            network: The network; one neuron if left out.

        Returns:
            The names.
        """
        neurons = 1 if network is None else network.hidden + network.outputs
        return (*NUMBERS, *(f"{name}_{k}" for k in range(neurons) for name in COEFFICIENTS))

    @classmethod
    def from_genes(cls, discrete: Sequence[int], continuous: Sequence[float]) -> Self:
        """Return the learner with these numbers, and then the coefficients of one neuron after another."""
        genes = sequence("continuous", continuous, "a list of genes", MAX_NEURONS * 2 * EACH + len(NUMBERS))
        own = genes[len(NUMBERS) :]
        if len(sequence("discrete", discrete, "a list of genes")) or not own or len(own) % EACH:
            raise InputError(
                f"there are {len(discrete)} discrete and {len(genes)} continuous genes, {cls.kind} has none "
                f"of the first, and {len(NUMBERS)} and {EACH} for each neuron of the others"
            )
        values = [LOWEST + (HIGHEST - LOWEST) * unit_interval("a gene", gene) for gene in own]
        rows = [values[first : first + EACH] for first in range(0, len(values), EACH)]
        return cls(rows, *genes[: len(NUMBERS)])

    def to_genes(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return its genes, to the last digit."""
        own = ((value - LOWEST) / (HIGHEST - LOWEST) for row in self.coefficients for value in row)
        return (), (*self.numbers.values(), *own)

    def _coefficients(self, m: int) -> NDArray[np.float32]:
        """Return A, B, C and D of every neuron for a modulatory signal, (neurons or 1, 4)."""
        rows = np.array(self.coefficients, np.float32)
        return rows[:, : len(PLUS)] if m == 1 else rows[:, -len(MINUS) :]

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        """Change every weight by its trace and the coefficients of its neuron, then normalise."""
        m = heard(network, trial, memory, episode)
        numbers = np.float32(self.decay), np.float32(self.eta)
        weights = normalised(network, changed(network, episode, self._coefficients(m), *numbers))
        return Memory(weights, {"ep": episode.ep})
