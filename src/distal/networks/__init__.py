"""The networks: one file each; `NETWORKS` lists them by the word for their kind.

One line, `register(Mine)`, registers a new network everywhere that settings are accepted: the
keyword `network`, the command line, results and runs on disk. It runs on the reference engine;
compiled engines refuse a network that they have no code for, by name.
"""

from __future__ import annotations

from typing import TypeVar

from distal.base import plugins
from distal.base.checks import InputError, one_of, shown, text
from distal.model.readings import NETWORK
from distal.networks.checking import check_network
from distal.networks.episode import Acting, Episode, run_episode
from distal.networks.network import (
    LAYERS,
    NETWORKS,
    Network,
    State,
    Sums,
    Weights,
    before,
    choose,
    network_for,
    ordered_sum,
    psi,
)
from distal.networks.recurrent import Recurrent, RecurrentWeights
from distal.networks.softmax import Softmax

__all__ = [
    "LAYERS",
    "NETWORKS",
    "Acting",
    "Episode",
    "Network",
    "Recurrent",
    "RecurrentWeights",
    "Softmax",
    "State",
    "Sums",
    "Weights",
    "before",
    "check_network",
    "choose",
    "network_for",
    "ordered_sum",
    "psi",
    "register",
    "run_episode",
    "unregister",
]

N = TypeVar("N", bound=Network)

NETWORKS.update({kind.kind: kind for kind in (Recurrent, Softmax)})
_OURS = tuple(NETWORKS)


def register(kind: type[N]) -> type[N]:
    """Register a network under its word.

    Args:
        kind: The class. Do this in the file that defines it, so that workers know it too.

    Returns:
        The class, so that `@register` can stand above it.

    Raises:
        InputError: If it is not a network, or its word is taken.
    """
    check_network(kind)
    for name in ("kind", "label"):
        text(f"{name} of {kind.__name__}", getattr(kind, name, None), 50)
    if not kind.kind.isidentifier():
        raise InputError(f"kind of {kind.__name__} is {shown(kind.kind)}, expected one word")
    taken = NETWORKS.get(kind.kind, kind)
    if taken is not kind:
        raise InputError(f"kind {kind.kind!r} of {kind.__name__} belongs to {taken.__name__}; choose another")
    if kind.kind not in NETWORKS:
        known = ("steps",) if vars(kind).get("compiled") else ()
        NETWORK.add(kind.kind, kind.label, plugins.module_of(kind), known)
    NETWORKS[kind.kind] = kind
    plugins.note(kind)
    return kind


plugins.registrars[plugins.NETWORKS] = lambda _, kind: register(kind)


def unregister(kind: str) -> None:
    """Forget a network that `register` made known, by its word; those of the package stay."""
    del NETWORKS[one_of("kind", kind, [word for word in NETWORKS if word not in _OURS])]
    NETWORK.remove(kind)
