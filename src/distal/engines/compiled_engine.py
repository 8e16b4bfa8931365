"""The common part of the compiled engines: they run tables, and take learners as packed arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, code_for, instance
from distal.engines.batch import Batch
from distal.engines.engine import Engine, imported
from distal.learners import Learner
from distal.learners.chance import Chance
from distal.learners.dsp import Rule
from distal.learners.eligibility import Eligibility
from distal.learners.evolution_strategy import EvolutionStrategy
from distal.learners.genes import changes_of, columns
from distal.learners.hebbian import MINUS, PLUS
from distal.learners.hill_climbing import HillClimbing
from distal.model.settings import Settings

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
        unknown = batch.settings.unknown_to(self.name)
        if unknown is not None:
            return f"{unknown}; {instead(batch)}"
        if batch.kind not in self.kinds:
            kind = batch.kind.kind
            return f"engine {self.name} has no code for learners of kind {kind!r}; {instead(batch)}"
        try:
            table = batch.table
        except InputError as error:
            return str(error)
        if table is None:
            return f"{batch.task.name} has no table, which engines cpu and gpu need; {instead(batch)}"
        if table.inputs > COMPILED_INPUTS or table.outputs > COMPILED_OUTPUTS:
            return (
                f"the task has {table.inputs} inputs and {table.outputs} actions, compiled engines take "
                f"at most {COMPILED_INPUTS} and {COMPILED_OUTPUTS}; {instead(batch)}"
            )
        return None


def instead(batch: Batch) -> str:
    """Say which engine runs a batch that this one refuses: steps where it can, since it is compiled too."""
    try:
        reason = imported("steps").supports(batch)
    except InputError as refusal:
        reason = str(refusal)
    return f"use engine {'steps' if reason is None else 'reference'}"


class PackedLearners(NamedTuple):
    """The learners of a batch as arrays."""

    climbing: bool  # whether they climb; else they are rules
    numbers: NDArray[np.float32]  # (learners, 4): η, θ, α_h, α_o of rules; (learners, 3): σ, α_h, α_o
    # What else an update takes. DSP: int8 (rules, 16, 2), the changes by trace bits and m; eligibility
    # traces: float32 (rules, 2, 4), A, B, C, D for m = −1 and +1; climbers: float32 (climbers), the factor
    # of σ after a success, 1 if it stays.
    own: NDArray[Any]
    resample: int  # draw fresh weights every so many episodes; 0: never


def packed_learners(batch: Batch) -> PackedLearners:
    """Return the learners of a batch that a compiled engine supports."""
    kind, learners, resample = batch.kind, batch.learners, batch.resample or 0
    if kind is Rule:
        changes = changes_of(learners).reshape(-1, 16, 2)
        return PackedLearners(False, columns(learners, *Rule.names), changes, resample)
    if kind is Eligibility:
        numbers = columns(learners, "eta", "eta", "alpha_h", "alpha_o")  # without θ, whose place is unused
        return PackedLearners(False, numbers, columns(learners, *MINUS, *PLUS).reshape(-1, 2, 4), resample)
    scales = columns(learners, "alpha_h", "alpha_o")
    sigma, factor = np.zeros((len(scales), 1), np.float32), np.ones(len(scales), np.float32)
    if kind is Chance:  # a climb that starts over in every episode, so that its σ is never used
        resample = 1
    else:
        sigma = columns(learners, "sigma")
    if kind is EvolutionStrategy:
        factor = columns(learners, "factor").ravel()
    return PackedLearners(True, np.hstack([sigma, scales]), factor, resample)


def packed_changes(changes: NDArray[np.int8]) -> NDArray[np.uint32]:
    """Pack the changes of rules, (rules, 2): sixteen for m = −1 in 32 bits, and those for m = +1.

    Every change is a signed number of two bits; that of trace bits 0000 is at the top.
    """
    code = changes.astype(np.int64) & 3
    packed: NDArray[np.uint32] = (code << 30 - 2 * np.arange(16)[:, None]).sum(axis=1).astype(np.uint32)
    return packed


def flags(settings: Settings, table: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, bool]:
    """Return which flags of compiled code are set; refuse a value that there is no code for.

    The table has the flags that each value of each reading sets; no two values set the same.
    """
    every = dict.fromkeys(flag for values in table.values() for names in values.values() for flag in names)
    in_force = {
        flag
        for reading, values in table.items()
        for flag in code_for(reading, values, getattr(settings, reading))
    }
    return {flag: flag in in_force for flag in every}
