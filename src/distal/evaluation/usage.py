"""The use of each of the 32 rows of a rule: by layer, by m, and over a trial.

Every update of every synapse selects a row. Only updates that another episode follows are
counted: the update after the last episode, or the last before fresh weights, has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, finite_numbers, instance, reading
from distal.base.frozen import Frozen
from distal.engines.batch import Batch
from distal.engines.engine import Progress
from distal.engines.reference import episodes
from distal.learners.dsp import ROWS, Rule, selected_rows
from distal.learners.modulation import modulatory_signal
from distal.networks import LAYERS, Episode, Network, network_for

_PERIODS = 10  # the tenths of a trial


@dataclass(frozen=True, eq=False)
class Usage(Frozen):
    """The number of times that synapses selected each row.

    Attributes:
        counts: Updates of synapses by tenth of the trial, layer and row, (tenths, 5, 32). The layers
            are in the order of `LAYERS`, and a network may lack some; a trial of fewer than ten updates
            has as many parts as updates.
    """

    counts: NDArray[np.int64]

    def __repr__(self) -> str:
        used = ROWS - len(self.unused)
        return f"Usage({self.total:,} updates of synapses, {used} of {ROWS} rows used)"

    @property
    def total(self) -> int:
        """All updates of all synapses."""
        return int(self.counts.sum())

    @property
    def rows(self) -> NDArray[np.float64]:
        """The share of all updates that selected each row, (32)."""
        return _shares(self.counts.sum(axis=(0, 1)))

    @property
    def layers(self) -> NDArray[np.float64]:
        """The share of the updates of each layer that selected each row, (5, 32)."""
        return _shares(self.counts.sum(axis=0))

    @property
    def tenths(self) -> NDArray[np.float64]:
        """The share of the updates of each tenth of the trial that selected each row, (tenths, 32)."""
        return _shares(self.counts.sum(axis=1))

    @property
    def rewarded(self) -> float:
        """The share of all updates with m = +1."""
        return float(self.rows[1::2].sum())

    @property
    def unused(self) -> tuple[int, ...]:
        """The rows that no synapse ever selected."""
        return tuple(np.flatnonzero(self.counts.sum(axis=(0, 1)) == 0).tolist())

    @classmethod
    def from_dict(cls, data: object) -> Usage:
        """Read the data of `to_dict`."""
        given = instance("data", data, dict, "the result of Usage.to_dict")
        with reading("the use of rows"):
            counts = finite_numbers("counts", given["counts"], 3)
            shape = (len(LAYERS), ROWS)
            if counts.shape[1:] != shape or counts.dtype.kind != "i" or counts.min() < 0:
                raise InputError(f"counts has the shape {counts.shape}, expected counts of {shape} each")
            return cls(counts)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and shares, ready for JSON."""
        return {
            "total": self.total,
            "rows": self.rows.tolist(),
            "rewarded": self.rewarded,
            "layers": dict(zip(LAYERS, self.layers.tolist(), strict=True)),
            "first_tenth": self.tenths[0].tolist(),
            "last_tenth": self.tenths[-1].tolist(),
            "unused": list(self.unused),
            "counts": self.counts.tolist(),
        }


def shares_of(usage: Usage, row: int) -> list[float]:
    """Return the shares of a row: of all updates, of each layer's, of the first and the last tenth."""
    return [usage.rows[row], *usage.layers[:, row], usage.tenths[0][row], usage.tenths[-1][row]]


def _shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Divide counts (..., rows) by their sum; a part without updates has no shares."""
    total = counts.sum(axis=-1, keepdims=True)
    shares: NDArray[np.float64] = counts / np.maximum(total, 1)
    return shares


class Tally:
    """Counts the rows that the updates of one trial select, as its episodes end.

    Args:
        batch: A batch of one rule.
        trial: The trial in it.
        counts: The counts to add to, (periods, layers, rows).
    """

    def __init__(self, batch: Batch, trial: int, counts: NDArray[np.int64]) -> None:
        rule, shape = batch.learners[batch.learner[trial]], (batch.task.inputs, batch.task.outputs)
        assert isinstance(rule, Rule)  # noqa: S101 - for the type checker; no other learner has rows
        self.batch, self.theta, self.counts = batch, np.float32(rule.theta), counts
        self.network = network_for(batch.settings, *shape, rule.numbers)
        self.layer = _layers(self.network)
        self.exists = self.network.synapses()
        self.number = 0  # of the next episode
        self.previous: float | None = None  # EP of the episode before, unless weights are fresh

    def add(self, episode: Episode[Any]) -> None:
        """Add the update after the next episode, unless no episode follows it."""
        number, updates, resample = self.number, self.batch.episodes - 1, self.batch.resample
        self.number += 1
        if number == updates or (resample is not None and self.number % resample == 0):
            self.previous = None
            return
        settings = self.batch.settings
        m = modulatory_signal(episode.ep, self.previous, settings.m_ties)
        rows = selected_rows(self.network, episode, self.theta, m)
        period = self.counts[number * len(self.counts) // updates]
        for layer, exists, row in zip(self.layer, self.exists, rows, strict=True):
            np.add.at(period, (layer[exists], row[exists]), 1)
        self.previous = episode.ep


def count_usage(batch: Batch, engine: str, progress: Progress | None = None) -> Usage:
    """Return how often the rows of a rule are selected in the trials of a batch of that rule alone.

    The counts are the same whatever the engine; for engines that run tables, they are made by
    compiled code.
    """
    periods = min(_PERIODS, batch.episodes - 1)
    if engine in ("steps", "reference"):
        return Usage(_counted(batch, periods, progress))
    from distal.engines.cpu import counting  # noqa: PLC0415 - loads Numba

    return Usage(counting.count(batch, periods, progress))


def _counted(batch: Batch, periods: int, progress: Progress | None) -> NDArray[np.int64]:
    """Count in the episodes of the reference engine."""
    counts = np.zeros((periods, len(LAYERS), ROWS), np.int64)
    for trial in range(len(batch)):
        tally = Tally(batch, trial, counts)
        for episode in episodes(batch, trial):
            if progress is not None:
                progress(1)
            tally.add(episode)
    return counts


def _layers(network: Network) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the layer of every entry of the two matrices of weights, by its number."""
    into_hidden, into_output = (list(map(LAYERS.index, names)) for names in network.layers)
    return np.tile(into_hidden, (network.hidden, 1)), np.tile(into_output, (network.outputs, 1))
