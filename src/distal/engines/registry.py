"""The engines by name."""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import Any, cast

from distal.base import memory
from distal.base.checks import InputError, one_of
from distal.base.machine import available_cores
from distal.engines.engine import Engine

ENGINES = ("cpu", "gpu", "steps", "reference")  # each a module here, with its `engine`
AUTO = "auto"  # the first of CHOICES that can run here, and can run the batch
CHOICES = ("gpu", "cpu", "steps", "reference")
DEFAULT = "cpu"

_log = logging.getLogger("distal")


def load(name: str) -> Engine:
    """Return the engine of a name, any available one for "auto"; refuse one that cannot run here."""
    chosen = one_of("engine", name, (*ENGINES, AUTO))
    engine = imported(CHOICES[0] if chosen == AUTO else chosen)
    try:
        engine.check()
    except InputError as refusal:
        if chosen != AUTO:
            raise
        say_instead(CHOICES[1], str(refusal))
        return imported(CHOICES[1])
    return engine


named: set[str] = set()  # the engines that `say_instead` has named


def say_instead(engine: str, reason: str) -> None:
    """Say which engine is used where none was asked for, and why not another; once for each engine."""
    if engine not in named:
        named.add(engine)
        _log.warning("engine %s is used; %s", engine, reason.partition(";")[0])


def imported(name: str) -> Engine:
    """Import an engine."""
    module = f"distal.engines.{name}"
    if name in ("cpu", "steps") and module not in sys.modules:  # the compiler needs room
        memory.check_address_space(f"engine {name}", memory.LOADING + memory.STACK * available_cores())
    try:
        return cast(Engine, import_module(module).engine)
    except InputError:
        raise
    except Exception as error:  # a package that is missing, broken, or told nonsense by its own settings
        what = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"{name} is an engine that cannot be loaded: {what}") from error


def machine_of(engine: str) -> dict[str, Any]:
    """Describe this machine, and its card if that is what the engine runs on."""
    return imported(engine).machine()
