"""The folder of compiled code, one for each state of the sources and the compilers.

Numba looks only at the file of a kernel to see whether its compiled code is still right. But a
kernel also contains functions and constants from other files, so the name of the folder is a
checksum of them all. And Numba runs any file that it finds: a damaged one would crash. So every
file begins with a checksum of its name and content; a file that does not match is compiled again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile

_log = logging.getLogger("distal")

PACKAGE = Path(__file__).parents[2]
# What the kernels are compiled from.
SOURCES = (
    "engines/cpu/automaton.py",
    "engines/cpu/continuous.py",
    "engines/cpu/episodes.py",
    "engines/cpu/kernels.py",
    "engines/cpu/layout.py",
    "engines/cpu/update.py",
    "engines/cpu/walk.py",
    "engines/cpu/weights.py",
    "engines/cpu/workspace.py",
    "learners/compiled_climbing.py",
    "learners/evolution_strategy.py",
    "tasks/table.py",
    "model/draws.py",
    "model/lanes.py",
    "model/compiled_draws.py",
    "model/compiled_traces.py",
    "networks/recurrent.py",
    "networks/compiled_logistic.py",
)
KEPT = 8  # folders of other sources, compilers or tasks that stay, the youngest


def fingerprint(sources: Iterable[str] | None = None, task: str = "") -> str:
    """Return a checksum of all that compiled code depends on, but for the processor, which Numba looks at.

    `sources` are files of this package, or paths of others; those of engine cpu if left out. `task` is the
    checksum of the functions of a compiled task.
    """
    digest = hashlib.sha256()
    for source in SOURCES if sources is None else sources:
        digest.update((PACKAGE / source).read_bytes())
    for module in (numba, llvmlite, np):
        digest.update(f"{module.__name__} {module.__version__}\n".encode())
    digest.update(task.encode())
    return digest.hexdigest()[:20]


def folder(engine: str = "cpu", sources: Iterable[str] | None = None, task: str = "") -> Path | None:
    """Return the folder for an engine's compiled code, made if need be; None if there is nowhere to write."""
    home = os.environ.get("NUMBA_CACHE_DIR")
    try:
        base = Path(home) if home else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        ours = base / "distal" / f"{engine}-{fingerprint(sources, task)}"
        if ours.is_dir():
            os.utime(ours)  # what is in use is young
        else:
            ours.mkdir(parents=True, exist_ok=True)
            _forget(ours)
    except (OSError, RuntimeError):  # no home, or no right to write there
        return None
    return ours if os.access(ours, os.W_OK) else None


class SealedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """The index and the data of a kernel, each with a checksum before it, which is looked at first."""

    def _load_index(self) -> dict[Any, str]:
        try:
            version, stamp, overloads = self._read(Path(self._index_path))
        except (OSError, ValueError):  # not there yet, or damaged: as if nothing had been kept
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(Path(self._index_path), (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(Path(self._data_path(name)))  # an OSError makes Numba compile again

    def _save_data(self, name: str, data: Any) -> None:
        self._write(Path(self._data_path(name)), data)

    def _read(self, path: Path) -> Any:
        seal, content = (data := path.read_bytes())[:_SEAL], data[_SEAL:]
        if seal != _seal(path.name, content):
            raise OSError(f"{path} is damaged")
        return pickle.loads(content)  # noqa: S301 - Numba's own form, which we have written

    def _write(self, path: Path, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(str(path)) as file:
            file.write(_seal(path.name, content) + content)


_SEAL = hashlib.sha256().digest_size


def _seal(name: str, content: bytes) -> bytes:
    """Return a checksum of a file; its name counts, so that files cannot take each other's place."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


class SealedCache(FunctionCache):  # type: ignore[misc]
    """What is kept of a kernel. Where it cannot be written, the kernel is compiled in every run.

    A kernel that is made of parts has a `key` that names them: Numba would take the identity of the
    functions that it is made of, which is another one in every process.
    """

    def __init__(self, function: Any, key: str | None = None) -> None:
        super().__init__(function)
        self._key = key
        own: Any = self._cache_file
        self._cache_file: Any = SealedFiles(
            self._cache_path, own._index_name[: -len(".nbi")], own._source_stamp
        )

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (
            super()._index_key(sig, codegen) if self._key is None else (sig, codegen.magic_tuple(), self._key)
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was kept for a signature, or None."""
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if there is room for it."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self.disable()
            _not_kept(f"cannot write to {self._cache_path}: {error.strerror}")


def keep_compiled(*kernels: Any, key: str | None = None, ours: Path | None = None) -> None:
    """Let the compiled code of kernels be kept in a folder, that of engine cpu if left out."""
    engine = "engine cpu" if ours is None else "engine steps"
    ours = folder() if ours is None else ours
    if ours is None:
        _not_kept("no folder can be written to", engine)
        return
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(ours)
    try:
        for kernel in kernels:
            cache = SealedCache(kernel.py_func, key)
            if not Path(cache.cache_path).is_relative_to(ours):  # Numba's second choice, where ours is full
                raise RuntimeError
            kernel._cache = cache
    except (OSError, RuntimeError):
        _not_kept(f"cannot write to {ours}", engine)
    finally:
        numba.config.CACHE_DIR = before


_warned: set[str] = set()


def _not_kept(why: str, engine: str = "engine cpu") -> None:
    """Say once that the next run has to compile again."""
    if not _warned:
        _log.warning("%s: %s is compiled again in every run", why, engine)
    _warned.add(why)


def _forget(ours: Path) -> None:
    """Remove the oldest folders of other sources, compilers or tasks."""
    others = [path for path in ours.parent.glob(f"{ours.name.partition('-')[0]}-*") if path != ours]
    with suppress(OSError):
        for old in sorted(others, key=lambda path: -path.stat().st_mtime)[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
