"""Registers our environments with Gymnasium, no matter which of the two is imported first.

Distal never imports Gymnasium for this: it is an extra, and takes as long to
import as Distal itself.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

_GYMNASIUM = "gymnasium"
# The environments and their own arguments. The first version of the triple T-maze was the narrow one.
NAMES: dict[str, dict[str, str]] = {
    "distal/TripleTMaze-v1": {},
    "distal/TripleTMaze-v0": {"maze": "narrow-t"},
    "distal/Maze-v0": {},
}


def register() -> None:
    """Register the environments, now or as soon as Gymnasium is imported."""
    if _GYMNASIUM in sys.modules:
        _register(sys.modules[_GYMNASIUM])
    elif not any(isinstance(finder, _Waiting) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Waiting())


def _register(gymnasium: ModuleType) -> None:
    for name, arguments in NAMES.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="distal.tasks.environment:MazeEnv",
                vector_entry_point="distal.tasks.environment:MazeVectorEnv",
                kwargs=dict(arguments),
            )


class _Waiting(MetaPathFinder):
    """Waits for the import of Gymnasium, finds it as it would be found without us, and registers after it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's own specification, with a loader that registers when it is done.

        Others may look for Gymnasium without importing it, so we wait until it is loaded.
        """
        if fullname != _GYMNASIUM:
            return None
        place = sys.meta_path.index(self)
        sys.meta_path.remove(self)  # so as not to find ourselves
        try:
            spec = find_spec(fullname)
        finally:
            sys.meta_path.insert(place, self)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                load(module)
                _register(module)

            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
