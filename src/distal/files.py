"""Files in and out: clear refusals, and writes that are whole or not at all."""

from __future__ import annotations

import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal import checks
from distal.checks import InputError


def to_json(data: object, indent: int = 0) -> str:
    """Return JSON to be read by people too: one line a field, lists of numbers on one line."""
    inner, outer = " " * (indent + 1), " " * indent
    if isinstance(data, dict) and data:
        fields = [f"{inner}{_scalar(str(key))}: {to_json(value, indent + 1)}" for key, value in data.items()]
        return "{\n" + ",\n".join(fields) + f"\n{outer}}}"
    if isinstance(data, list) and any(isinstance(value, dict | list | str) for value in data):
        return "[\n" + ",\n".join(inner + to_json(value, indent + 1) for value in data) + f"\n{outer}]"
    return _scalar(data)


def _scalar(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


def read_text(path: str | Path, what: str) -> str:
    """Return the text of a file; `what` names its kind in the refusal."""
    try:
        return checks.path(what, path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"cannot read {what} {str(path)!r}: it is not a UTF-8 text file") from None
    except OSError as error:
        raise InputError(f"cannot read {what} {str(path)!r}: {error.strerror}") from None


def read_json(path: str | Path, what: str) -> object:
    """Return the content of a JSON file."""
    text = read_text(path, what)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}, column {error.colno}: {error.msg}"
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
        problem = "nested too deeply" if isinstance(error, RecursionError) else "a number is too long"
    raise InputError(f"{what} {str(path)!r} is not JSON: {problem}")


def check_target(path: str | Path) -> None:
    """Refuse a file that could not be written, before the work that fills it."""
    if not str(path):
        raise InputError("the name of a file is empty")
    target = Path(path).resolve()
    if target.is_dir():
        problem = "it is a folder"
    elif not target.parent.is_dir():
        problem = "its folder does not exist"
    elif not os.access(target if target.exists() else target.parent, os.W_OK):
        problem = "permission denied"
    else:
        return
    raise InputError(f"cannot write {str(path)!r}: {problem}")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise InputError(f"cannot write {str(path)!r}: it holds characters that have no UTF-8 form") from None
    write_bytes(path, data)


def write_array(path: str | Path, **arrays: NDArray[Any]) -> None:
    """Write arrays to a compressed NPZ file, whole or not at all."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_bytes(path, buffer.getvalue())


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file through a temporary one, so that an interrupted write leaves the old file as it was."""
    target = Path(path).resolve()  # the file behind a link, not the link
    try:
        if target.exists() and not target.is_file():  # a pipe or a device takes data but cannot be replaced
            target.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
        sync_folder(target.parent)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def sync_folder(path: str | Path) -> None:
    """Make renames and new files in a folder survive a loss of power, where the system can."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # not every system opens folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    """Return the permissions that new files go without; mkstemp makes private files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
