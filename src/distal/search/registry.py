"""The search algorithms by name, one line each, and their wrappers by the words of files and commands."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypeVar

from distal.base import plugins
from distal.base.checks import InputError, integer, one_of, shown
from distal.model.draws import MAX_COUNT
from distal.search import islands as archipelago
from distal.search import racing
from distal.search.cma import CMA
from distal.search.genetic import GeneticAlgorithm
from distal.search.islands import Islands
from distal.search.racing import Race
from distal.search.restarts import Restarts
from distal.search.search import Algorithm

ALGORITHMS: dict[str, type[Algorithm]] = {kind.name: kind for kind in (GeneticAlgorithm, CMA)}

A = TypeVar("A", bound=type[Algorithm])


def register(kind: A) -> A:
    """Register an algorithm under its name, so that its runs on disk can be resumed.

    Args:
        kind: A subclass of `Algorithm`; a decorator takes it too.

    Returns:
        The same class.

    Raises:
        InputError: If it is not an algorithm, or another one has its name.
    """
    given: object = kind
    if not inspect.isclass(given) or not issubclass(given, Algorithm):
        raise InputError(f"kind is {shown(given)}, expected a subclass of Algorithm")
    if ALGORITHMS.setdefault(kind.name, kind) is not kind:
        raise InputError(f"there is a search {kind.name!r} already; choose another name")
    plugins.note(kind)
    return kind


plugins.registrars[plugins.SEARCHES] = lambda _, kind: register(kind)


def find_algorithm(name: object, module: object = None) -> type[Algorithm]:
    """Return the algorithm of a name that a file holds, with the module that the file says it is from."""
    if isinstance(name, str) and name not in ALGORITHMS:
        plugins.load_installed(plugins.SEARCHES)
    if isinstance(name, str) and name not in ALGORITHMS:
        raise plugins.unknown("search", name, module)
    return ALGORITHMS[one_of("search", name, ALGORITHMS)]


def options_of(kind: type[Algorithm]) -> tuple[str, ...]:
    """Return the names of an algorithm's options."""
    return tuple(inspect.signature(kind).parameters)


def algorithm(name: object, options: Mapping[str, Any]) -> Algorithm:
    """Return the algorithm of a name with some options; the others have their defaults."""
    if isinstance(name, str) and name not in ALGORITHMS:
        plugins.load_installed(plugins.SEARCHES)
    kind = ALGORITHMS[plugins.registered("search", name, ALGORITHMS)]
    known = options_of(kind)
    for option in options:
        if option not in known:
            raise InputError(f"the search {name} has no option {option}; it has {', '.join(known)}")
    return kind(**options)


def wrapped(
    search: Algorithm,
    *,
    race: object = 0,
    islands: object = 1,
    exchange: object = archipelago.EXCHANGE,
    restart: object = None,
) -> Algorithm:
    """Return a search in the wrappers that the words of files and commands ask for.

    Raises:
        InputError: If a number is out of its range, or the search cannot live on islands.
    """
    count = integer("islands", islands, 1, archipelago.MOST)
    every = integer("exchange", exchange, 1, MAX_COUNT)
    heats = integer("race", race, 0, racing.MOST)
    if count > 1:
        search = Islands(search, count, every)
    if restart is not None:
        search = Restarts(search, integer("restart", restart, 1, MAX_COUNT))
    return Race(search, heats) if heats else search
