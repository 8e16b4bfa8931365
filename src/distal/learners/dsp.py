"""Delayed synaptic plasticity (the paper's section "Evolving Delayed Synaptic Plasticity").

A rule is 32 changes and four numbers: an object, a table and a file. Its row index is (b00·8 +
b01·4 + b10·2 + b11)·2 + (1 if m = +1 else 0), the order of the paper's appendix. After every
episode each synapse changes as the rule says for its traces and the modulatory signal m; then each
neuron's incoming weights are normalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, integer, sequence
from distal.base.display import html_table, short
from distal.base.drawing import axes_or_new, literal, signed
from distal.base.drawing import rule as draw_rule
from distal.learners.learner import Learner, Memory, Trial
from distal.learners.modulation import heard
from distal.learners.normalisation import normalised
from distal.model import traces
from distal.networks.episode import Episode
from distal.networks.network import Network, Weights, added

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS = 32
NUMBERS = ("eta", "theta", "alpha_h", "alpha_o")
_CHANGES = frozenset((-1, 0, 1))


def selected_rows(
    network: Network, episode: Episode[Any], theta: np.float32, m: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the row of the rule that every synapse selects.

    Entries of the matrices that are not synapses have a row too, without an effect.

    Args:
        network: The network.
        episode: The episode.
        theta: The rule's threshold.
        m: The modulatory signal, −1 or 1.

    Returns:
        The rows of hidden and of output synapses, in the shapes of their weights.

    Raises:
        InputError: If there is no code for the reading "trace_pre".
    """
    sources = network.sources(episode, network.settings.trace_pre)
    into_hidden, into_output = (
        traces.frequencies(traces.counts(pre, post), episode.steps)
        for pre, post in zip(sources, (episode.hidden, episode.outputs), strict=True)
    )
    return traces.rows(into_hidden, theta, m), traces.rows(into_output, theta, m)


def changed(
    network: Network, weights: Weights, rule: Rule, rows: tuple[NDArray[np.int32], NDArray[np.int32]]
) -> Weights:
    """Return w' = w + η Δw for every synapse, Δw being what the rule says for its row."""
    change = np.float32(rule.eta) * np.array(rule.delta_w, np.float32)
    return added(network, weights, change[rows[0]], change[rows[1]])


@dataclass(frozen=True)
class Rule(Learner):
    """A delayed synaptic plasticity rule.

    Args:
        delta_w: 32 changes in {-1, 0, 1}, one per row.
        eta: The learning rate, in [0, 1].
        theta: The threshold of the traces, in [0, 1].
        alpha_h: The scale of recurrent sums in the network that the rule trains, in [0, 1].
        alpha_o: The scale of feedback sums, in [0, 1].
        name: The name of the rule.

    Raises:
        InputError: If a change or a number is out of its range.
    """

    kind: ClassVar[str] = "dsp"
    label: ClassVar[str] = "rule"
    key: ClassVar[str] = "rule"
    file_format: ClassVar[str] = "distal-rule"
    compiled: ClassVar[str | None] = "distal.learners.compiled_dsp"
    names: ClassVar[tuple[str, ...]] = NUMBERS
    genes: ClassVar[tuple[int, int] | None] = (ROWS, len(NUMBERS))
    discrete_genes: ClassVar[str] = "delta_w"

    delta_w: Sequence[int]
    eta: float
    theta: float
    alpha_h: float
    alpha_o: float
    name: str = ""

    def __post_init__(self) -> None:
        changes = sequence("delta_w", self.delta_w, f"a list of {ROWS} changes")
        if len(changes) != ROWS:
            raise InputError(f"delta_w has {len(changes)} changes, expected {ROWS}")
        if set(map(type, changes)) != {int} or not _CHANGES.issuperset(changes):
            changes = tuple(integer(f"delta_w[{k}]", change, -1, 1) for k, change in enumerate(changes))
        object.__setattr__(self, "delta_w", changes)
        super().__post_init__()

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name} {value:.3g}" for name, value in self.numbers.items())
        active = sum(change != 0 for change in self.delta_w)
        return f"Rule({short(self.name) or 'unnamed'}: {numbers}; {active} of {ROWS} rows not 0)"

    def _repr_html_(self) -> str:
        numbers = ", ".join(f"{name} = {value:.4g}" for name, value in self.numbers.items())
        rows = [(f"{row // 2:04b}", *map(signed, self.delta_w[row : row + 2])) for row in range(0, ROWS, 2)]
        title = f"{self.name or 'unnamed rule'}: {numbers}"
        return html_table(title, ("trace bits 00 01 10 11", "m = −1", "m = +1"), rows)

    def __str__(self) -> str:
        """Return the rule as the paper prints it: its numbers, then its 32 rows."""
        numbers = "  ".join(f"{name} = {getattr(self, name):.4g}" for name in NUMBERS)
        lines = [f"{self.name or 'unnamed rule'}", numbers, "", "row  00 01 10 11   m  delta_w"]
        for row, change in enumerate(self.delta_w):
            bits = "  ".join(format(row // 2, "04b"))
            lines.append(f"{row:3}   {bits}  {2 * (row % 2) - 1:+d}  {f'{change:+d}' if change else '0':>6}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the contents of the rule's file."""
        return {
            "format": self.file_format,
            "version": self.version,
            "name": self.name,
            **self.numbers,
            "delta_w": list(self.delta_w),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the 32 changes: a column for each of the 16 trace bits, a row for each m.

        Args:
            ax: Where to draw; on a new figure if left out.

        Returns:
            The axes, with `figure.savefig` to write them to a file.
        """
        on = axes_or_new(ax, 7.2, 2.4)
        numbers = "   ".join(f"{name} = {value:.4g}" for name, value in self.numbers.items())
        draw_rule(on, self.delta_w, f"{literal(self.name or 'unnamed rule')}\n{numbers}")
        return on

    @classmethod
    def from_genes(cls, discrete: Sequence[int], continuous: Sequence[float]) -> Rule:
        """Return the rule with these 32 changes and four numbers."""
        changes, (eta, theta, alpha_h, alpha_o) = cls._genes(discrete, continuous)
        return cls(changes, eta, theta, alpha_h, alpha_o)

    def to_genes(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the changes and the numbers."""
        return tuple(self.delta_w), tuple(self.numbers.values())

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        """Change every weight by the row that its traces and m select, then normalise."""
        m = heard(network, trial, memory, episode)
        rows = selected_rows(network, episode, np.float32(self.theta), m)
        weights = normalised(network, changed(network, episode.weights, self, rows))
        return Memory(weights, {"ep": episode.ep})
