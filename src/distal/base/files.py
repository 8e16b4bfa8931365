"""Files in and out: clear refusals, and writes that are whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base import checks, memory
from distal.base.checks import InputError

_MOST = 2**20  # bytes of a file that a person may have written: a rule, a climber, a maze
MOST_OF_RUNS = 2**30  # … and of one that only a program writes

# What files begin with that Distal writes alone, each by a name that a person chose.
PAGE, SVG = rb"(?i)<!doctype html", rb"<\?xml|<svg"
PNG, GIF, MP4 = rb"\x89PNG", rb"GIF8", rb"(?s).{4}ftyp"
NPZ, SAVED = rb"PK", rb'\s*\{\s*"format"\s*:\s*"distal-'
_HEAD = 256  # bytes of a file, by which it is known

# A file that this process has open, by its name.
_OPEN = re.compile(
    r"/dev/std(?P<name>in|out|err)|(?:/dev/fd|/proc/(?:self|thread-self)/fd)/(?P<number>\d{1,9})"
)

# A pipe that nobody writes to is opened without waiting, a terminal without becoming ours.
_OPENING = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
)


def to_json(data: object, indent: int = 0) -> str:
    """Return JSON to be read by people too: one line per field, lists of numbers on one line."""
    inner, outer = " " * (indent + 1), " " * indent
    if isinstance(data, dict) and data:
        fields = [f"{inner}{_scalar(str(key))}: {to_json(value, indent + 1)}" for key, value in data.items()]
        return "{\n" + ",\n".join(fields) + f"\n{outer}}}"
    if isinstance(data, list) and any(isinstance(value, dict | list | str) for value in data):
        return "[\n" + ",\n".join(inner + to_json(value, indent + 1) for value in data) + f"\n{outer}]"
    return _scalar(data)


def to_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV, with names that a spreadsheet shows and does not obey.

    What it would take for a formula begins with an apostrophe.
    """
    written = io.StringIO()
    csv.writer(written).writerows([_cell(value) for value in row] for row in rows)
    return written.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = checks.straight(value)
    if not text.lstrip().startswith(("=", "+", "-", "@")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def _scalar(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


def read_bytes(path: str | Path, what: str, most: int = _MOST) -> bytes:
    """Return the content of a regular file of at most `most` bytes; `what` names its kind in the refusal.

    A pipe, a device or a folder is refused at once: opening one could wait for ever, reading it, too.
    """
    path = checks.path(what, path)
    try:
        with os.fdopen(os.open(path, _OPENING), "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode):
                data = file.read(min(status.st_size, most) + 1) if status.st_size <= most else b""
                if len(data) <= most and status.st_size <= most:
                    return data
                problem = f"it has {max(status.st_size, len(data)):,} bytes, at most {most:,} are allowed"
            else:
                problem = "Is a directory" if stat.S_ISDIR(status.st_mode) else "it is not a regular file"
    except OSError as error:
        problem = str(error.strerror)
    raise InputError(f"cannot read {what} {str(path)!r}: {problem}")


def read_text(path: str | Path, what: str, most: int = _MOST) -> str:
    """Return the text of a file as `read_bytes` reads it, with plain line ends."""
    try:
        text = read_bytes(path, what, most).decode()
    except UnicodeDecodeError:
        raise InputError(f"cannot read {what} {str(path)!r}: it is not a UTF-8 text file") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: str | Path, what: str, most: int = _MOST) -> object:
    """Return the content of a JSON file."""
    text = read_text(path, what, most)
    values = {"numbers and lists": len(text) + memory.JSON_VALUE * sum(map(text.count, ",[{"))}
    memory.Estimate(f"the values of {what} {str(path)!r}", values, "end other work").check()
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}, column {error.colno}: {error.msg}"
    except InputError as error:
        problem = str(error)
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
        problem = "nested too deeply" if isinstance(error, RecursionError) else "a number is too long"
    raise InputError(f"{what} {str(path)!r} is not JSON: {problem}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; JSON would let the last of two equal names win."""
    content: dict[str, Any] = {}
    for name, value in pairs:
        if name in content:
            raise InputError(f"the name {checks.shown(name)} occurs twice")
        content[name] = value
    return content


def _no_number(word: str) -> object:
    """Refuse NaN and Infinity, which Python takes and JSON does not know."""
    raise InputError(f"{word} is not a JSON number")


def check_target(path: str | Path, ours: bytes) -> None:
    """Refuse a file that could not be written, before the work that fills it.

    Args:
        path: The file.
        ours: The regular expression of what such a file of ours begins with. One that is there and
            begins otherwise is somebody else's; one that is empty is nobody's.
    """
    given = checks.path("the name of a file", path)
    problem = None
    try:
        if (handle := _handle(given)) is not None:
            os.fstat(handle)
        elif given.is_symlink():
            problem = "it is a link; name the file that it leads to"
        elif given.is_dir():
            problem = "it is a folder"
        elif not given.parent.is_dir():
            problem = "its folder does not exist"
        elif not os.access(given if given.exists() else given.parent, os.W_OK):
            problem = "permission denied"
        elif given.is_file() and (head := _head(given)) and re.match(ours, head) is None:
            problem = "a file of another kind is there; name another, or remove that one first"
    except OSError as error:
        problem = str(error.strerror)
    if problem is not None:
        raise InputError(f"cannot write {str(path)!r}: {problem}")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _handle(path: Path) -> int | None:
    """Return the handle that a name such as /dev/stdout stands for: a link, but to what is open already."""
    found = _OPEN.fullmatch(os.path.abspath(path))  # noqa: PTH100 - which follows no link
    if found is None:
        return None
    return int(found["number"]) if found["name"] is None else ("in", "out", "err").index(found["name"])


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise InputError(f"cannot write {str(path)!r}: it holds characters that have no UTF-8 form") from None
    write_bytes(path, data)


def to_npz(**arrays: NDArray[Any]) -> bytes:
    """Return arrays as a compressed NPZ file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def from_npz(
    data: bytes, what: str, needed: Sequence[str], others: Sequence[str] = ()
) -> tuple[object, dict[str, NDArray[Any]]]:
    """Read an NPZ file of arrays and one JSON text, `about`; nothing in it is unpickled.

    Args:
        data: The content of the file.
        what: The name of its numbers in a refusal.
        needed: The arrays that it must hold.
        others: The arrays that it may also hold.

    Returns:
        What the JSON says, and the arrays by name.

    Raises:
        InputError: If it is no such file, is damaged, or does not fit in memory.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = {entry.filename.removesuffix(".npy"): entry.file_size for entry in archive.infolist()}
    except Exception:  # a zip file can be damaged in many ways
        raise InputError("it is not an NPZ file, or is damaged") from None
    needed = ("about", *needed)
    if not set(needed) <= set(sizes) <= {*needed, *others}:
        raise InputError(f"it holds {checks.shown(sorted(sizes))}, expected {', '.join(needed)}")
    memory.Estimate(what, sizes, "end other work").check()
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in sizes}
        return json.loads(str(arrays.pop("about")), parse_constant=_no_number), arrays
    except Exception:  # and so can what it holds
        raise InputError("it is damaged") from None


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file, whole or not at all."""
    write_pieces(path, [data])


def write_pieces(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write a file through a temporary one, so that an interrupted write leaves the old file as it was.

    A link is refused; one that comes in between is replaced, not followed.
    """
    target = checks.path("the name of a file", path)
    try:
        if (opened := _handle(target)) is not None:
            with os.fdopen(os.dup(opened), "wb") as stream:
                stream.writelines(pieces)
            return
        if target.is_symlink():
            raise InputError(f"cannot write {str(path)!r}: it is a link; name the file that it leads to")
        if target.exists() and not target.is_file():  # a pipe or a device takes data but cannot be replaced
            with target.open("wb") as device:
                device.writelines(pieces)
            return
        handle, temporary = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name[:200]}.", suffix=".tmp"
        )
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _sync_folder(path: str | Path) -> None:
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
