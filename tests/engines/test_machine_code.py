"""The gpu engine's kernel is compiled by the compiler that cards use: NVRTC needs no card to compile."""

from __future__ import annotations

import ctypes
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from distal import Settings
from distal.engines.gpu.constants import definitions
from distal.engines.gpu.machine_code import compiled, compiler_options, source
from distal.model.readings import BINARY, SIGMOID


def library() -> Path | None:
    """Return NVRTC's library, as the package nvidia-cuda-nvrtc installs it."""
    found = importlib.util.find_spec("nvidia")
    folders = [] if found is None else list(found.submodule_search_locations or [])
    return next((path for folder in folders for path in Path(folder).glob("*/lib/libnvrtc.so.*")), None)


LIBRARY = library()
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="needs the package nvidia-cuda-nvrtc")


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


@pytest.mark.parametrize(
    ("climbing", "settings", "shape"),
    [
        (False, Settings(outputs="random", normalise="layer", hidden=40), (3, 4)),
        (False, Settings(outputs="binary", normalise="none", m_ties="punish", trace_pre="previous"), (3, 4)),
        (True, Settings(outputs="random"), (2, 5)),
        (False, Settings(outputs="binary", steps=300), (31, 16)),
        (True, Settings(outputs="binary", neurons="sigmoid"), (16, 8)),
        (False, Settings(outputs="random", hidden=80, steps=300, neurons="sigmoid"), (3, 4)),
        (False, Settings(hidden=80, outputs="binary"), (31, 16)),
    ],
)
def test_the_kernel_compiles_for_a_card(climbing: bool, settings: Settings, shape: tuple[int, int]) -> None:
    constants = definitions(settings, *shape, climbing=climbing, keep_weights=True, keep_ep=True, moving=True)
    code = compiled(Compiler(), source(), compiler_options("90", tuple(constants.items())))
    assert code.startswith(b"\x7fELF")


# Every two of the values meet once: half of the eight kernels, each of which takes a second and a half.
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


def test_what_does_not_compile_is_told() -> None:
    with pytest.raises(RuntimeError, match="cannot be compiled"):
        compiled(Compiler(), "int x", ["--gpu-architecture=sm_90"])
