"""Learners and tasks as flat numbers, for the engines that are compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, instance
from distal.engines.batch import Batch
from distal.learners import Learner, hill_climbing
from distal.learners.chance import Chance
from distal.learners.dsp import Rule, packed_rules
from distal.learners.genes import Decoded
from distal.learners.hill_climbing import HillClimbing
from distal.model.readings import unknown_to
from distal.model.settings import Settings
from distal.tasks.table import Table

COMPILED_INPUTS, COMPILED_OUTPUTS = 64, 16  # bits of a long word, lanes of a vector: what engine cpu takes


class Flat(NamedTuple):
    """The learners of a batch as compiled engines take them."""

    climbing: bool  # whether they hill-climb; else they are rules
    numbers: NDArray[np.float32]  # (learners, 4): η, θ, α_h, α_o of rules; (learners, 3): σ, α_h, α_o
    changes: NDArray[np.int8]  # (rules, 16, 2): by trace bits and m; of climbers none
    resample: int  # draw fresh weights every so many episodes; 0: never


def _rules(batch: Batch) -> Flat:
    rules = batch.learners
    if isinstance(rules, Decoded):
        numbers, changes = rules.continuous, rules.discrete
    else:
        packed = packed_rules(cast(Sequence[Rule], rules))
        numbers, changes = packed["numbers"], packed["delta_w"]
    return Flat(False, numbers.astype(np.float32), changes.reshape(-1, 16, 2), batch.resample or 0)


def _climbers(batch: Batch) -> Flat:
    climbers = batch.learners
    if isinstance(climbers, Decoded):
        numbers = climbers.continuous
    else:
        numbers = np.array(list(map(attrgetter(*hill_climbing.NUMBERS), climbers)), np.float64)
    return Flat(True, numbers.astype(np.float32), _NO_CHANGES, batch.resample or 0)


def _chance(batch: Batch) -> Flat:
    """Return a climb that starts over in every episode, so that its σ is never used."""
    numbers = [(0.0, *one.numbers.values()) for one in batch.learners]
    return Flat(True, np.array(numbers, np.float32), _NO_CHANGES, resample=1)


_NO_CHANGES = np.empty((0, 16, 2), np.int8)
# The kinds of learners that there is compiled code for.
_COMPILED: dict[type[Learner], Callable[[Batch], Flat]] = {
    Rule: _rules,
    HillClimbing: _climbers,
    Chance: _chance,
}


def flat(batch: Batch) -> Flat:
    """Return the learners of a batch that compiled engines support."""
    return _COMPILED[batch.kind](batch)


def compiled_table(batch: Batch, engine: str) -> Table:
    """Return the table of a batch's task; refuse a batch without, or whose learners have no code."""
    unknown = unknown_to(engine, batch.settings)
    if unknown is not None:
        raise InputError(unknown)
    kind = batch.kind
    if kind not in _COMPILED:
        raise InputError(
            f"engine {engine} has no code for learners of kind {kind.kind!r}; use engine reference"
        )
    return table_of(batch)


def flags(settings: Settings, table: Mapping[str, tuple[str, ...]]) -> dict[str, bool]:
    """Return which flags of compiled code are set.

    The table has the reading that decides each flag, and the values for which it is set; the values
    that the engine knows differ in at least one flag each.
    """
    return {flag: getattr(settings, reading) in values for flag, (reading, *values) in table.items()}


def refusal(batch: Batch, table: Callable[[Batch], Table]) -> str | None:
    """Return why an engine that runs batches by such a table refuses one; None if it does not."""
    instance("batch", batch, Batch, "a Batch")
    try:
        table(batch)
    except InputError as error:
        return str(error)
    return None


def packed_changes(changes: NDArray[np.int8]) -> NDArray[np.uint32]:
    """Pack the changes of rules, (rules, 2): sixteen for m = −1 in 32 bits, and those for m = +1.

    Every change is a signed number of two bits; that of trace bits 0000 is at the top.
    """
    code = changes.astype(np.int64) & 3
    packed: NDArray[np.uint32] = (code << 30 - 2 * np.arange(16)[:, None]).sum(axis=1).astype(np.uint32)
    return packed


def table_of(batch: Batch) -> Table:
    """Return the table of a batch's task; refuse a task that compiled engines cannot run."""
    task, table = batch.task, batch.task.table(batch.settings)
    if table is None:
        raise InputError(f"{task.name} has no table, which engines cpu and gpu need; use engine reference")
    instance("the table of the task", table, Table, "a Table, or None")
    # What the kernels rely on: goals within the table, and networks of a shape that they are made for.
    if table.inputs > COMPILED_INPUTS or table.outputs > COMPILED_OUTPUTS:
        raise InputError(
            f"the task has {table.inputs} inputs and {table.outputs} actions, compiled engines take at most "
            f"{COMPILED_INPUTS} and {COMPILED_OUTPUTS}; use engine reference"
        )
    if (table.inputs, table.outputs) != (task.inputs, task.outputs):
        raise InputError(
            f"the table of the task has {table.inputs} inputs and {table.outputs} actions, "
            f"the task {task.inputs} and {task.outputs}"
        )
    if batch.last_goal >= table.goals:
        raise InputError(f"the table of the task has {table.goals} goals, the task {len(task.goals)}")
    return table
