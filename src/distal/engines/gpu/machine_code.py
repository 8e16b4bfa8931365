"""The machine code of a kernel: compiled for the card at hand, and kept with its checksum."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from distal.base.checks import InputError
from distal.base.files import write_bytes

_log = logging.getLogger("distal")
_compiling = threading.Lock()


def source() -> str:
    """Return the kernel's source."""
    return (resources.files("distal.engines.gpu") / "trials.cu").read_text(encoding="utf-8")


def compiler_options(capability: str, constants: tuple[tuple[str, int], ...]) -> list[str]:
    """Return what the compiler is told, for cards of a capability ("90") and the constants of a kernel.

    It is called without CuPy's own compilation of source, which makes subnormal numbers 0.
    """
    return [
        f"--gpu-architecture=sm_{capability}",
        "--std=c++17",
        "--fmad=false",
        "--ftz=false",
        "--device-as-default-execution-space",  # for lambdas, which cannot be marked
        *(f"-D{name}={value}" for name, value in constants),
    ]


def machine_code(nvrtc: Any, capability: str, constants: tuple[tuple[str, int], ...]) -> Path:
    """Return the file of the machine code for these constants, compiled now or kept from an earlier run."""
    text, options = source(), compiler_options(capability, constants)
    version = ".".join(map(str, nvrtc.getVersion()))
    name = hashlib.sha256("\n".join([text, version, *options]).encode()).hexdigest()
    kept = _cache_folder() / f"{name}.cubin"
    with _compiling:  # once for all cards
        if not is_whole(kept):
            began = time.perf_counter()
            kept = keep(kept, compiled(nvrtc, text, options))
            seconds = time.perf_counter() - began
            if seconds > 1:
                _log.warning("compiled engine gpu in %.1f s; it is kept for later runs", seconds)
    return kept


def is_whole(kept: Path) -> bool:
    """Return whether machine code was kept and is what was written, by its checksum."""
    try:
        return kept.with_suffix(".sha256").read_bytes() == _checksum(kept.read_bytes())
    except OSError:
        return False


def keep(kept: Path, code: bytes) -> Path:
    """Keep machine code with its checksum, for this run alone where there is no room; return where it is."""
    try:
        write_bytes(kept, code)
        write_bytes(kept.with_suffix(".sha256"), _checksum(code))
    except InputError as error:
        _log.warning("%s: engine gpu is compiled again in every run", error)
        kept = _temporary_folder() / kept.name
        write_bytes(kept, code)
    return kept


def _checksum(code: bytes) -> bytes:
    return hashlib.sha256(code).hexdigest().encode()


def compiled(nvrtc: Any, source: str, options: list[str]) -> bytes:
    """Compile for the card and return the machine code.

    The compiler fails on some kernels, for it runs out of predicates. These are compiled
    in a simpler form, or with fewer optimisations; they give the same bits.
    """
    for form in (["-DTOGETHER=4"], ["-DTOGETHER=1"]):
        with suppress(RuntimeError):
            return _compiled_once(nvrtc, source, [*options, *form])
    return _compiled_once(nvrtc, source, [*options, "-DTOGETHER=1", "--ptxas-options=-O1"])


def _compiled_once(nvrtc: Any, source: str, options: list[str]) -> bytes:
    program = nvrtc.createProgram(source, "trials.cu", (), ())
    try:
        nvrtc.compileProgram(program, tuple(options))
        code: bytes = nvrtc.getCUBIN(program)
        return code
    except nvrtc.NVRTCError as error:
        raise RuntimeError(f"engine gpu cannot be compiled: {nvrtc.getProgramLog(program)}") from error
    finally:
        nvrtc.destroyProgram(program)


def _cache_folder() -> Path:
    """Return the folder that keeps compiled kernels: one of the user's own, or else one for this run."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "distal"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder if os.access(folder, os.W_OK) else _temporary_folder()


@cache
def _temporary_folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="distal-")
    atexit.register(folder.cleanup)
    return Path(folder.name)
