"""A check of learners: `check_learner` tests a new one, as `check_task` tests a task."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from distal.base.checks import InputError, integer, shown, text
from distal.base.files import to_json
from distal.learners.learner import Learner, Memory, Trial
from distal.model.readings import RECURRENT
from distal.model.settings import Settings
from distal.networks import Network, Weights, network_for
from distal.networks.checking import SHAPES, promise, some_episode
from distal.tasks.checking import failing

_MAX_GENES = 2**16
_EPS = (9, 9, 7, 8, 7, 3, 5)  # as good as before, better and worse


def check_learner(learner: Learner) -> None:
    """Check a learner of your own; raise an InputError with the first broken promise.

    The learner trains networks of several shapes for some episodes, twice, and is written to a file
    and read again. Its class need not be registered.
    """
    given: object = learner
    if isinstance(given, type):
        raise InputError(f"learner is the class {given.__name__}, expected one of its objects")
    kind = type(learner)
    check_kind(kind)
    with failing(kind.__name__):
        again = kind.from_dict(json.loads(to_json(learner.to_dict())))
        promise(again == learner, f"{kind.__name__}.from_dict(to_dict()) gives {shown(again)}")
        if kind.genes is not None:
            discrete, continuous = kind.genes
            made: object = kind.from_genes([0] * discrete, [0.5] * continuous)
            promise(isinstance(made, kind), f"{kind.__name__}.from_genes() gives {shown(made)}, no learner")
        for inputs, outputs, hidden in SHAPES:
            settings = Settings(hidden=hidden, network=kind.needs or RECURRENT)
            network = network_for(settings, inputs, outputs, learner.numbers)
            one, two = (_trained(learner, network) for _ in range(2))
            same = all(map(np.array_equal, vars(one).values(), vars(two).values()))
            promise(same, f"{kind.__name__}.update gives other weights the second time; draw from trial.seed")


def _trained(learner: Learner, network: Network) -> Weights:
    """Return the weights after some episodes with any inputs; refuse what breaks a promise on the way."""
    name = type(learner).__name__
    memory = Memory(network.fresh_weights(1, 0))
    for number, ep in enumerate(_EPS):
        episode = some_episode(network, memory.weights, number, ep)
        found: object = learner.update(network, Trial(seed=1, phase=3), memory, episode)
        if not isinstance(found, Memory) or not isinstance(found.weights, Weights):
            raise InputError(f"{name}.update returns {shown(found)}, expected a Memory with Weights")
        matrices = (found.weights.hidden, found.weights.output)
        network.weights(*matrices)  # refuses those of another shape
        for matrix, exists in zip(matrices, network.synapses(), strict=True):
            promise(
                matrix.dtype == np.float32 and np.isfinite(matrix).all() and not matrix[~exists].any(),
                f"{name}.update gives weights that are not finite 32-bit floats, or are where no synapse is",
            )
        for word, value in found.kept.items():
            promise(
                isinstance(value, int | float | np.ndarray | Weights),
                f"{name} remembers {word} = {shown(value)}, expected numbers, arrays or Weights",
            )
        memory = found
    return memory.weights


def check_kind(kind: Any) -> None:
    """Refuse a class that is not a learner: what `register` asks."""
    if not isinstance(kind, type) or not is_dataclass(kind) or not issubclass(kind, Learner):
        raise InputError(f"kind is {shown(kind)}, expected a dataclass that inherits from Learner")
    for name in ("kind", "label", "key", "file_format"):
        text(f"{name} of {kind.__name__}", getattr(kind, name, None), 50)
    if not kind.kind.isidentifier():
        raise InputError(f"kind of {kind.__name__} is {shown(kind.kind)}, expected one word")
    for name in (*getattr(kind, "names", ()), "name"):
        if name not in kind.__dataclass_fields__:
            raise InputError(f"{kind.__name__} has no field {name!r}, which it needs")
    for count in kind.genes or ():
        integer(f"genes of {kind.__name__}", count, 0, _MAX_GENES)
    plain = kind.from_genes.__func__ is Learner.from_genes.__func__  # type: ignore[attr-defined]
    first = tuple(one.name for one in fields(kind))[: len(kind.names)]
    if kind.genes and plain and (kind.genes != (0, len(kind.names)) or first != kind.names):
        raise InputError(
            f"genes of {kind.__name__} is {shown(kind.genes)}, expected a continuous one for each of "
            f"its first fields, {', '.join(kind.names)}; or write from_genes"
        )
    if kind.__abstractmethods__ or not callable(kind.update):
        raise InputError(f"{kind.__name__} has no method update(network, trial, memory, episode)")
