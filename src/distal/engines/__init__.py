"""Engines run many independent trials. All take the same arguments and give identical results."""

from distal.engines.batch import Batch, Trials
from distal.engines.engine import (
    AUTO,
    DEFAULT,
    ENGINES,
    MAX_WORKERS,
    Asked,
    Engine,
    Progress,
    checked_workers,
    load,
    machine_of,
)
from distal.engines.runner import Runner

__all__ = [
    "AUTO",
    "DEFAULT",
    "ENGINES",
    "MAX_WORKERS",
    "Asked",
    "Batch",
    "Engine",
    "Progress",
    "Runner",
    "Trials",
    "checked_workers",
    "load",
    "machine_of",
]
