"""Engines run many independent trials. All take the same arguments and give identical results."""

from distal.engines.batch import MAX_WORKERS, Batch, Engine, Progress, Trials, checked_workers
from distal.engines.registry import AUTO, DEFAULT, ENGINES, load, machine_of, resolve
from distal.engines.runner import Runner

__all__ = [
    "AUTO",
    "DEFAULT",
    "ENGINES",
    "MAX_WORKERS",
    "Batch",
    "Engine",
    "Progress",
    "Runner",
    "Trials",
    "checked_workers",
    "load",
    "machine_of",
    "resolve",
]
