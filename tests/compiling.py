"""The cpu engine's compiled code, made once before the tests: each kernel, for every form of table."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from distal import HillClimbing, Settings, find_rule
from distal.engines.cpu import counting, kernels
from distal.engines.cpu import engine as cpu
from distal.evaluation.trials import batch_of
from distal.learners import find_learner
from distal.model.readings import BINARY, SIGMOID
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask

# Inputs, actions and neurons: of a maze, of another table, of one with many actions; a maze's again.
FORMS = ((3, 4, BINARY), (1, 4, BINARY), (1, 5, BINARY), (3, 4, SIGMOID))
# What tests ask for: the kernels, and for which learners and forms.
RULE, TRACES, CLIMBER = find_rule("paper:1"), find_learner("hebb"), HillClimbing(0.1, 0.1, 0.1)
KERNELS = {
    "dsp_trials": [*product([RULE], FORMS), *product([TRACES], FORMS[:2])],
    "climbing_trials": [*product([CLIMBER], FORMS)],
    "counted_trial": [*product([RULE], (*FORMS[:2], FORMS[3]))],
}


def compile_all() -> None:
    """Compile what is not there yet, each kernel in one process: two that wrote its index would lose entries.

    A kernel takes eight seconds for each form. Without this, one worker would compile what
    another compiles too, or the other cores would wait for the first.
    """
    kernel: Any = kernels.dsp_trials  # with what Numba alone knows: a private record of where code is kept
    folder = kernel._cache.cache_path
    if folder is None:  # nothing can be kept
        return
    if all(len(list(Path(folder).glob(f"*.{name}-*.nbc"))) >= len(asked) for name, asked in KERNELS.items()):
        return
    with ProcessPoolExecutor(len(KERNELS), mp_context=get_context("spawn")) as pool:
        list(pool.map(compile_kernel, KERNELS))


def compile_kernel(name: str) -> None:
    """Compile a kernel, or load what is kept."""
    for learner, (inputs, actions, neurons) in KERNELS[name]:
        shape = (1, actions)
        table = Table.of(np.zeros((1, inputs), int), np.zeros(shape, int), np.zeros(shape, int), [0])
        batch = batch_of(
            [learner], np.zeros(1, np.uint64), trials=1, episodes=2,
            task=TableTask(table), settings=Settings(steps=1, hidden=1, neurons=neurons),
        )  # fmt: skip
        if name == "counted_trial":
            counting.count(batch, periods=1)
        else:
            cpu.run(batch)
