"""A check of networks: `check_network` tests a new class, as Gymnasium's `check_env` does environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, shown
from distal.model.readings import READINGS
from distal.model.settings import Settings
from distal.networks.episode import Acting, Episode
from distal.networks.network import LAYERS, Network, State, Weights
from distal.tasks.checking import failing

SHAPES = ((1, 2, 1), (3, 4, 20), (7, 3, 5))  # inputs, outputs, hidden neurons
_STEPS = 5


def check_network(kind: Any) -> None:
    """Check a network of your own; refuse, in one line, a class that breaks a promise of `Network`.

    Args:
        kind: The class. It is made in several shapes, and takes some steps in each.

    Raises:
        InputError: If it breaks a promise.
    """
    if not isinstance(kind, type) or not issubclass(kind, Network):
        raise InputError(f"kind is {shown(kind)}, expected a class that inherits from Network")
    missing = ", ".join(sorted(getattr(kind, "__abstractmethods__", ())))
    if missing:
        raise InputError(f"{kind.__name__} has no {missing}, which every network needs")
    for inputs, outputs, hidden in SHAPES:
        for trace_pre in READINGS["trace_pre"]:
            settings = Settings(hidden=hidden, trace_pre=trace_pre)
            with failing(kind.__name__):
                _check(kind, kind(inputs, outputs, settings, **kind.scales))


def _check(kind: type[Network], network: Network) -> None:
    """Check a network of one shape."""
    name = kind.__name__
    weights = network.fresh_weights(1, 0)
    masks = network.synapses()
    for what, matrix, mask, shape in zip(
        ("hidden", "output"), (weights.hidden, weights.output), masks, network.shapes, strict=True
    ):
        promise(min(shape) >= 1, f"{name}.columns is {network.columns}, expected two numbers from 1 on")
        promise(
            mask.shape == shape and mask.dtype == np.bool_,
            f"{name}.synapses() gives {mask.dtype} {mask.shape} for {what}, expected booleans {shape}",
        )
        promise(matrix.shape == shape, f"{name} has {what} weights of shape {matrix.shape}, expected {shape}")
        promise(not matrix[~mask].any(), f"{name} has {what} weights where synapses() says there is none")
    for names, columns in zip(network.layers, network.columns, strict=True):
        promise(
            len(names) == columns and set(names) <= set(LAYERS),
            f"{name}.layers gives {shown(names)}, expected one of {', '.join(LAYERS)} for each column",
        )
    again = network.fresh_weights(1, 0)
    promise(
        (again.hidden == weights.hidden).all() and (again.output == weights.output).all(),
        f"{name}.fresh_weights(seed, episode) gives other weights the second time",
    )
    one, two = (some_episode(network, weights) for _ in range(2))
    promise(one.actions == two.actions, f"{name} takes other steps with the same weights and inputs")
    _check_record(name, network, one)


def some_episode(network: Network, weights: Weights, number: int = 0, ep: float = 0) -> Episode[Any]:
    """Return an episode of some steps with any inputs."""
    name, acting = type(network).__name__, Acting(network, weights, seed=1, number=number)
    state: object = acting.state
    promise(isinstance(state, State), f"{name}.start() gives no State")
    bits = np.random.default_rng(1).integers(0, 2, (_STEPS, network.inputs), np.uint8)
    for row in bits:
        action = acting.act(row.tolist())
        promise(0 <= action < network.outputs, f"{name} takes the action {action} of {network.outputs}")
    return acting.ended(ep)


def _check_record(name: str, network: Network, episode: Episode[Any]) -> None:
    """Check that the record fits the shape, and that its sources fit the matrices."""
    for what, layer, size in (
        ("active hidden neurons", episode.hidden, network.hidden),
        ("active outputs", episode.outputs, network.outputs),
    ):
        promise(
            _bits(layer, (_STEPS, size)),
            f"{name} leaves {shown(layer)} as {what}, expected {size} bits a step",
        )
    sources = network.sources(episode, network.settings.trace_pre)
    for what, layer, columns in zip(("hidden", "output"), sources, network.columns, strict=True):
        promise(
            _bits(layer, (_STEPS, columns)),
            f"{name}.sources() gives {np.shape(layer)} for {what}, expected bits {(_STEPS, columns)}",
        )


def _bits(layer: NDArray[Any], shape: tuple[int, int]) -> bool:
    return layer.shape == shape and layer.dtype.kind in "bui" and bool(np.isin(layer, (0, 1)).all())


def promise(kept: object, broken: str) -> None:
    """Refuse a newcomer with the promise that it broke."""
    if not kept:
        raise InputError(broken)
