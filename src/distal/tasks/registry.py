"""Tasks by a word, which `--env` and `task=` take besides environments and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from distal.base import plugins
from distal.base.checks import InputError, shown, text

F = TypeVar("F", bound=Callable[..., Any])

TASKS: dict[str, Callable[..., Any]] = {}  # what makes the task, by its word


def register(word: str) -> Callable[[F], F]:
    """Register a task under a word, for `learn`, `evolve` and the command line.

    Use it above a function or a class: `@register("corridor")`. The result of the call is the task: a
    task, a table, a maze or an environment. Arguments (`--env-arg NAME=VALUE`) go to it.

    Args:
        word: The word, such as "corridor": letters, digits, hyphens and underscores.

    Returns:
        The decorator.

    Raises:
        InputError: If the word is invalid or taken, or the decorated object cannot be called.
    """
    name = text("word", word, 50)
    if not name.replace("-", "_").isidentifier():
        raise InputError(f"word is {shown(name)}, expected letters, digits, hyphens and underscores")

    def registered(make: F) -> F:
        if not callable(make):
            raise InputError(f"task {name} is {shown(make)}, expected a function or a class that makes it")
        if _is_other(TASKS.setdefault(name, make), make):
            raise InputError(f"there is a task {name!r} already; choose another word")
        TASKS[name] = make
        return make

    return registered


def _is_other(one: Any, other: Any) -> bool:
    """Say whether two makers are different ones, and not one that was defined once more."""
    names = [(getattr(it, "__module__", None), getattr(it, "__qualname__", None)) for it in (one, other)]
    return one is not other and names[0] != names[1]


def unregister(word: str) -> None:
    """Forget the task of a word."""
    if text("word", word) not in TASKS:
        raise InputError(f"there is no task {shown(word)}")
    del TASKS[word]


def maker_of(word: object) -> Callable[..., Any] | None:
    """Return the maker of the task of a word, here or in an installed package; None if there is none."""
    if not isinstance(word, str) or not word.replace("-", "_").isidentifier():
        return None
    if word not in TASKS:
        plugins.load_installed(plugins.TASKS)
    return TASKS.get(word)


plugins.registrars[plugins.TASKS] = lambda word, make: register(word)(make)
