"""The file of a result: an NPZ file of its curves and weights, with its settings as one JSON text.

NPZ holds plain arrays, which NumPy and other programs read; nothing in it is pickled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal._version import __version__
from distal.base import checks, files
from distal.base.checks import InputError, fields, instance

FORMAT, VERSION = "distal-result", 1
CHANCE = "chance_"  # begins the names of the arrays of chance
ARRAYS = ("best", "ep", "hidden", "output")
SUFFIX = ".npz"
_MOST = 2**36  # bytes of a file; free memory mostly ends before
_ABOUT = ("made_by", "result", "chance")


def check_name(path: str | Path) -> Path:
    """Return the path of a result to write; refuse one that could not be written, or has another ending."""
    given = checks.path("the name of a file", path)
    if given.suffix != SUFFIX:
        raise InputError(f"cannot write {str(given)!r}: expected a name that ends in {SUFFIX}")
    files.check_target(given, files.NPZ)
    return given


def write(
    path: str | Path,
    result: Mapping[str, Any],
    chance: Mapping[str, Any] | None,
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write the file of a result, whole or not at all.

    Args:
        path: The file, whose name ends in .npz.
        result: All that decided the result, ready for JSON.
        chance: The same of its chance, where it differs; None without chance.
        arrays: `ARRAYS` of the result, and of chance with names that begin with `CHANCE`.
    """
    about = {
        "format": FORMAT, "version": VERSION, "made_by": __version__, "result": result, "chance": chance
    }  # fmt: skip
    text = np.array(json.dumps(about, ensure_ascii=False, allow_nan=False))
    files.write_bytes(check_name(path), files.to_npz(about=text, **arrays))


def read(
    path: str | Path,
) -> tuple[dict[str, Any], dict[str, Any] | None, dict[str, NDArray[Any]]]:
    """Return the result, its chance and the arrays, as `write` takes them.

    Raises:
        InputError: If the file cannot be read, is damaged, or is no result.
    """
    data = files.read_bytes(path, "result", _MOST)
    names = (*ARRAYS, *(f"{CHANCE}{name}" for name in ARRAYS))
    about, arrays = files.from_npz(data, "the numbers of the result", names[:1], names[1:])
    kept = fields(about, FORMAT, VERSION, _ABOUT)
    result = instance("result", kept["result"], dict, "the settings of a result, by name")
    chance = kept["chance"]
    if chance is not None:
        instance("chance", chance, dict, "the settings of chance, by name")
    return result, chance, arrays
