"""The engines by name."""

from __future__ import annotations

import logging
import sys
from functools import cache
from importlib import import_module
from typing import Any, cast

from distal.base import memory
from distal.base.checks import InputError, one_of
from distal.base.machine import available_cores, machine
from distal.engines import gpu
from distal.engines.batch import Engine

ENGINES = ("cpu", "gpu", "reference")
AUTO = "auto"  # the first of CHOICES that can run here, and can run the batch
CHOICES = ("gpu", "cpu", "reference")
DEFAULT = "cpu"

_log = logging.getLogger("distal")


def resolve(name: str) -> str:
    """Return the engine that a name stands for (another one for "auto" alone); refuse one that cannot run."""
    name = one_of("engine", name, (*ENGINES, AUTO))
    if name not in ("gpu", AUTO):
        return name
    try:
        gpu.check()
    except InputError as refusal:
        if name != AUTO:
            raise
        say_instead("cpu", str(refusal))
        return "cpu"
    return "gpu"


@cache
def say_instead(engine: str, reason: str) -> None:
    """Say which engine "auto" is, and why not another; the same line once."""
    _log.warning("engine auto is %s here; %s", engine, reason.partition(";")[0])


def load(name: str) -> Engine:
    """Import an engine by name."""
    return imported(resolve(name))


def imported(engine: str) -> Engine:
    """Import the engine that `resolve` returned."""
    module = f"distal.engines.{engine}"
    if module == "distal.engines.cpu" and module not in sys.modules:
        memory.check_address_space("engine cpu", memory.LOADING + memory.STACK * available_cores())
    try:
        return cast(Engine, import_module(module))
    except InputError:
        raise
    except Exception as error:  # a package that is missing, broken, or told nonsense by its own settings
        what = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"{engine} is an engine that cannot be loaded: {what}") from error


def machine_of(engine: str) -> dict[str, Any]:
    """Describe this machine, and its card if that is what the engine runs on."""
    if engine != "gpu":
        return machine()
    return {**machine(), "card": gpu.describe()["card"]}
