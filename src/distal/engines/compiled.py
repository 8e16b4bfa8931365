"""What the compiled engines have in common: they run tables, and take learners as packed arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, instance
from distal.engines.batch import Batch
from distal.engines.engine import Engine, imported
from distal.learners import Learner, dsp, hill_climbing
from distal.learners.chance import Chance
from distal.learners.dsp import Rule
from distal.learners.genes import Decoded
from distal.learners.hill_climbing import HillClimbing
from distal.model.settings import Settings
from distal.tasks.table import Table

COMPILED_INPUTS, COMPILED_OUTPUTS = 64, 16  # bits of a long word, lanes of a vector: what engine cpu takes


class CompiledEngine(Engine):
    """An engine that runs tasks with a table, and the learners and readings that it has code for.

    Attributes:
        kinds: The kinds of learners.
    """

    kinds: ClassVar[tuple[type[Learner], ...]] = (Rule, HillClimbing, Chance)

    def supports(self, batch: Batch) -> str | None:
        """Return the reason why the engine cannot run a batch, with the remedy; None if it can."""
        instance("batch", batch, Batch, "a Batch")
        try:
            self.table(batch)
        except InputError as error:
            return str(error)
        return None

    def table(self, batch: Batch) -> Table:
        """Return the table of a batch's task; refuse a batch that the engine cannot run."""
        unknown = batch.settings.unknown_to(self.name)
        if unknown is not None:
            raise InputError(f"{unknown}; {instead(batch)}")
        if batch.kind not in self.kinds:
            raise InputError(
                f"engine {self.name} has no code for learners of kind {batch.kind.kind!r}; {instead(batch)}"
            )
        task, table = batch.task, batch.task.table(batch.settings)
        if table is None:
            raise InputError(f"{task.name} has no table, which engines cpu and gpu need; {instead(batch)}")
        instance("the table of the task", table, Table, "a Table, or None")
        # What the kernels rely on: goals within the table, and networks of a shape that they are made for.
        if table.inputs > COMPILED_INPUTS or table.outputs > COMPILED_OUTPUTS:
            raise InputError(
                f"the task has {table.inputs} inputs and {table.outputs} actions, compiled engines take "
                f"at most {COMPILED_INPUTS} and {COMPILED_OUTPUTS}; {instead(batch)}"
            )
        if (table.inputs, table.outputs) != (task.inputs, task.outputs):
            raise InputError(
                f"the table of the task has {table.inputs} inputs and {table.outputs} actions, "
                f"the task {task.inputs} and {task.outputs}"
            )
        if table.goals <= batch.last_goal:
            raise InputError(f"the table of the task has {table.goals} goals, the task {len(task.goals)}")
        return table


def instead(batch: Batch) -> str:
    """Say which engine runs a batch that this one refuses: steps where it can, since it is compiled too."""
    try:
        reason = imported("steps").supports(batch)
    except InputError as refusal:
        reason = str(refusal)
    return f"use engine {'steps' if reason is None else 'reference'}"


class PackedLearners(NamedTuple):
    """The learners of a batch as arrays."""

    climbing: bool  # whether they hill-climb; else they are rules
    numbers: NDArray[np.float32]  # (learners, 4): η, θ, α_h, α_o of rules; (learners, 3): σ, α_h, α_o
    changes: NDArray[np.int8]  # (rules, 16, 2): by trace bits and m; of climbers none
    resample: int  # draw fresh weights every so many episodes; 0: never


def _rules(batch: Batch) -> PackedLearners:
    rules = batch.learners
    if isinstance(rules, Decoded):
        numbers, changes = rules.numbers, rules.discrete
    else:
        numbers = np.array(list(map(attrgetter(*dsp.NUMBERS), rules)), np.float64)
        changes = np.array([rule.delta_w for rule in cast(Sequence[Rule], rules)], np.int8)
    return PackedLearners(False, numbers.astype(np.float32), changes.reshape(-1, 16, 2), batch.resample or 0)


def _climbers(batch: Batch) -> PackedLearners:
    climbers = batch.learners
    if isinstance(climbers, Decoded):
        numbers = climbers.numbers
    else:
        numbers = np.array(list(map(attrgetter(*hill_climbing.NUMBERS), climbers)), np.float64)
    return PackedLearners(True, numbers.astype(np.float32), _NO_CHANGES, batch.resample or 0)


def _chance(batch: Batch) -> PackedLearners:
    """Return a climb that starts over in every episode, so that its σ is never used."""
    numbers = [(0.0, one.alpha_h, one.alpha_o) for one in cast(Sequence[Chance], batch.learners)]
    return PackedLearners(True, np.array(numbers, np.float32), _NO_CHANGES, resample=1)


_NO_CHANGES = np.empty((0, 16, 2), np.int8)
# The kinds of learners that both compiled engines have code for.
_PACKED: dict[type[Learner], Callable[[Batch], PackedLearners]] = {
    Rule: _rules,
    HillClimbing: _climbers,
    Chance: _chance,
}


def packed_learners(batch: Batch) -> PackedLearners:
    """Return the learners of a batch that a compiled engine supports."""
    return _PACKED[batch.kind](batch)


def packed_changes(changes: NDArray[np.int8]) -> NDArray[np.uint32]:
    """Pack the changes of rules, (rules, 2): sixteen for m = −1 in 32 bits, and those for m = +1.

    Every change is a signed number of two bits; that of trace bits 0000 is at the top.
    """
    code = changes.astype(np.int64) & 3
    packed: NDArray[np.uint32] = (code << 30 - 2 * np.arange(16)[:, None]).sum(axis=1).astype(np.uint32)
    return packed


def flags(settings: Settings, table: Mapping[str, tuple[str, ...]]) -> dict[str, bool]:
    """Return which flags of compiled code are set.

    The table has the reading that decides each flag, and the values for which it is set; the values
    that the engine knows differ in at least one flag each.
    """
    return {flag: getattr(settings, reading) in values for flag, (reading, *values) in table.items()}
