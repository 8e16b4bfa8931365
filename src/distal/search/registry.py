"""The search algorithms by name: one line each."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypeVar

from distal.base.checks import InputError, one_of, shown
from distal.search.cma import CMA
from distal.search.genetic import GeneticAlgorithm
from distal.search.search import Algorithm

ALGORITHMS: dict[str, type[Algorithm]] = {kind.name: kind for kind in (GeneticAlgorithm, CMA)}

A = TypeVar("A", bound=type[Algorithm])


def register(kind: A) -> A:
    """Make an algorithm known by its name, so that its runs on disk can be resumed.

    Args:
        kind: A subclass of `Algorithm`; a decorator takes it too.

    Returns:
        The same class.

    Raises:
        InputError: If it is no algorithm, or another one has its name.
    """
    given: object = kind
    if not inspect.isclass(given) or not issubclass(given, Algorithm):
        raise InputError(f"kind is {shown(given)}, expected a subclass of Algorithm")
    if ALGORITHMS.setdefault(kind.name, kind) is not kind:
        raise InputError(f"there is a search {kind.name!r} already; choose another name")
    return kind


def options_of(kind: type[Algorithm]) -> tuple[str, ...]:
    """Return the names of an algorithm's options."""
    return tuple(inspect.signature(kind).parameters)


def algorithm(name: object, options: Mapping[str, Any]) -> Algorithm:
    """Return the algorithm of a name with some options; the others have their defaults."""
    kind = ALGORITHMS[one_of("search", name, ALGORITHMS)]
    known = options_of(kind)
    for option in options:
        if option not in known:
            raise InputError(f"the search {name} has no option {option}; it has {', '.join(known)}")
    return kind(**options)
