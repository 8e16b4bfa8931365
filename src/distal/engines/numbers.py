"""Learners and tasks as flat numbers, for the engines that are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import cast

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, instance
from distal.engines.batch import Batch
from distal.learners import Learner, hill_climbing
from distal.learners.chance import Chance
from distal.learners.dsp import Rule, packed_rules
from distal.learners.hill_climbing import HillClimbing
from distal.tasks.tables import Table

COMPILED = (Rule, HillClimbing, Chance)


def not_compiled(batch: Batch, engine: str) -> str | None:
    """Return why a compiled engine cannot run a batch: no code for its learners, or no table for its task."""
    learner = instance("batch", batch, Batch, "a Batch").learners[0]
    if type(learner) not in COMPILED:
        return f"engine {engine} has no code for learners of kind {learner.kind!r}; use engine reference"
    try:
        table_of(batch)
    except InputError as refusal:
        return str(refusal)
    return None


def learner_numbers(learners: Sequence[Learner]) -> NDArray[np.float32]:
    """Return η, θ, α_h, α_o of rules, (rules, 4), or σ, α_h, α_o of climbers, (climbers, 3).

    Chance is a climb that starts over in every episode (`Batch.fresh_every`), so its σ is never used.
    """
    if isinstance(learners[0], Rule):
        numbers = packed_rules(cast(Sequence[Rule], learners))["numbers"]
    elif isinstance(learners[0], Chance):
        numbers = np.array([(0.0, one.alpha_h, one.alpha_o) for one in learners])
    else:
        numbers = np.array(list(map(attrgetter(*hill_climbing.NUMBERS), learners)))
    return numbers.astype(np.float32)


def packed_changes(rules: Sequence[Rule]) -> NDArray[np.uint32]:
    """Pack the changes of rules, (rules, 2): sixteen for m = −1 in 32 bits, and those for m = +1.

    Every change is a signed number of two bits; that of trace bits 0000 is at the top.
    """
    code = packed_rules(rules)["delta_w"].reshape(-1, 16, 2).astype(np.int64) & 3
    packed: NDArray[np.uint32] = (code << 30 - 2 * np.arange(16)[:, None]).sum(axis=1).astype(np.uint32)
    return packed


def table_of(batch: Batch) -> Table:
    """Return the table of a batch's task; refuse a task that compiled engines cannot run."""
    task, table = batch.task, batch.task.table(batch.settings)
    if table is None:
        raise InputError(
            f"{type(task).__name__} has no table, which engines cpu and gpu need; use engine reference"
        )
    instance("the table of the task", table, Table, "a Table, or None")
    if int(batch.goal.max()) >= table.goals:
        raise InputError(f"the table of the task has {table.goals} goals, the task {len(task.goals)}")
    return table
