"""Machine code of the gpu engine: made by the compiler that cards use, which needs no card, and kept."""

from __future__ import annotations

import ctypes
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from distal import InputError, Settings
from distal.base.files import write_bytes
from distal.engines.gpu import machine_code
from distal.engines.gpu.constants import definitions
from distal.engines.gpu.machine_code import compiled, compiler_options, source
from distal.model.readings import BINARY, SIGMOID


def library() -> Path | None:
    """Return NVRTC's library, as the package nvidia-cuda-nvrtc installs it."""
    found = importlib.util.find_spec("nvidia")
    folders = [] if found is None else list(found.submodule_search_locations or [])
    return next((path for folder in folders for path in Path(folder).glob("*/lib/libnvrtc.so.*")), None)


LIBRARY = library()
needs_nvrtc = pytest.mark.skipif(LIBRARY is None, reason="needs the package nvidia-cuda-nvrtc")


class Compiler:
    """As much of CuPy's module `nvrtc` as the engine uses."""

    class NVRTCError(Exception):
        """Raised where a program does not compile."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(str(LIBRARY))

    def createProgram(self, source: str, name: str, *_: Any) -> ctypes.c_void_p:  # noqa: N802
        program = ctypes.c_void_p()
        self.library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
        return program

    def compileProgram(self, program: ctypes.c_void_p, options: tuple[str, ...]) -> None:  # noqa: N802
        given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if self.library.nvrtcCompileProgram(program, len(options), given):
            raise self.NVRTCError

    def _text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, text)
        return text.raw

    def getProgramLog(self, program: ctypes.c_void_p) -> str:  # noqa: N802
        return self._text(program, "ProgramLog").decode()

    def getCUBIN(self, program: ctypes.c_void_p) -> bytes:  # noqa: N802
        return self._text(program, "CUBIN")

    def destroyProgram(self, program: ctypes.c_void_p) -> None:  # noqa: N802
        self.library.nvrtcDestroyProgram(ctypes.byref(program))


@needs_nvrtc
@pytest.mark.parametrize(
    ("climbing", "settings", "shape"),
    [
        (False, Settings(outputs="random", normalise="layer", hidden=40), (3, 4)),
        (False, Settings(outputs="binary", steps=300), (31, 16)),
        (True, Settings(outputs="binary", neurons="sigmoid"), (16, 8)),
        (False, Settings(normalise="none", m_ties="punish", hidden=80, steps=300, neurons="sigmoid"), (3, 4)),
    ],
)
def test_the_kernel_compiles_for_a_card(climbing: bool, settings: Settings, shape: tuple[int, int]) -> None:
    constants = definitions(settings, *shape, climbing=climbing, keep_weights=True, keep_ep=True, moving=True)
    code = compiled(Compiler(), source(), compiler_options("90", tuple(constants.items())))
    assert code.startswith(b"\x7fELF")


# Every two of the values meet once: half of the eight kernels, each of which takes a second and a half.
@needs_nvrtc
@pytest.mark.parametrize(
    ("climbing", "neurons", "moving"),
    [(False, BINARY, False), (False, SIGMOID, True), (True, BINARY, True), (True, SIGMOID, False)],
)
def test_twenty_warps_of_the_paper_s_network_fit_on_a_multiprocessor(
    climbing: bool, neurons: str, moving: bool
) -> None:
    constants = definitions(Settings(neurons=neurons), 3, 4, climbing=climbing, moving=moving)
    compiler = Compiler()
    program = compiler.createProgram(source(), "trials.cu")
    options = compiler_options("90", tuple(constants.items()))
    compiler.compileProgram(program, (*options, "-DTOGETHER=4", "--ptxas-options=-v"))
    log = compiler.getProgramLog(program)
    compiler.destroyProgram(program)
    assert "0 bytes spill stores, 0 bytes spill loads" in log
    registers, shared = map(int, re.findall(r"Used (\d+) registers.*?(\d+) bytes smem", log)[0])
    assert 5 * 32 * (-(-registers // 8) * 8) <= 2**14  # of each of the four parts of a multiprocessor
    assert 20 * (shared + 2**10) <= 228 * 2**10  # a block has a kibibyte of the system's


@needs_nvrtc
def test_what_does_not_compile_is_told() -> None:
    with pytest.raises(RuntimeError, match="cannot be compiled"):
        compiled(Compiler(), "int x", ["--gpu-architecture=sm_90"])


@pytest.mark.parametrize("name", ["kernel.cubin", "kernel.sha256"])
@pytest.mark.parametrize("harm", ["cut", "emptied", "flipped", "gone"])
def test_machine_code_that_was_damaged_is_not_run(name: str, harm: str, tmp_path: Path) -> None:
    kept = tmp_path / "kernel.cubin"
    assert not machine_code.is_whole(kept)
    assert machine_code.keep(kept, b"code" * 100) == kept
    assert machine_code.is_whole(kept)
    path = tmp_path / name
    data = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": data[:-1], "emptied": b"", "flipped": bytes([data[0] ^ 1]) + data[1:]}[harm])
    assert not machine_code.is_whole(kept)


def test_a_full_disk_under_machine_code_keeps_it_for_this_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:

    def full(path: Path, data: bytes) -> None:
        if path.is_relative_to(tmp_path):
            raise InputError(f"cannot write {str(path)!r}: No space left on device")
        write_bytes(path, data)

    monkeypatch.setattr("distal.engines.gpu.machine_code.write_bytes", full)
    kept = machine_code.keep(tmp_path / "kernel.cubin", b"code")
    assert kept.read_bytes() == b"code"
    assert not kept.is_relative_to(tmp_path)
    assert "No space left on device: engine gpu is compiled again in every run" in caplog.text


class _Compiler:
    """NVRTC, which fails without a certain option."""

    class NVRTCError(Exception):
        pass

    def __init__(self, needed: str) -> None:
        self.needed, self.programs, self.tried = needed, 0, 0

    def createProgram(self, *_: Any) -> int:  # noqa: N802
        self.programs += 1
        return self.programs

    def compileProgram(self, program: int, options: tuple[str, ...]) -> None:  # noqa: N802
        self.tried += 1
        if self.needed not in options:
            raise self.NVRTCError

    def getProgramLog(self, program: int) -> str:  # noqa: N802
        return "ptxas fatal: register allocation failed\nptxas fatal: aborted"

    def getCUBIN(self, program: int) -> bytes:  # noqa: N802
        return b"code"

    def destroyProgram(self, program: int) -> None:  # noqa: N802
        self.programs -= 1


@pytest.mark.parametrize(
    ("needed", "tried"), [("--std=c++17", 1), ("-DTOGETHER=1", 2), ("--ptxas-options=-O1", 3), ("--magic", 3)]
)
def test_a_kernel_that_the_compiler_fails_on_is_compiled_in_a_simpler_form(needed: str, tried: int) -> None:
    compiler = _Compiler(needed)
    if needed == "--magic":
        with pytest.raises(RuntimeError, match="cannot be compiled: ptxas fatal"):
            compiled(compiler, "source", ["--std=c++17"])
    else:
        assert compiled(compiler, "source", ["--std=c++17"]) == b"code"
    assert (compiler.tried, compiler.programs) == (tried, 0)
