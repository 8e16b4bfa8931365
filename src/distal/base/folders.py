"""Folders that Distal writes into, and nothing else in them.

A folder is ours if its `manifest.json` says so and the checksum in it holds. The
manifest names every file that may be written there, and is written before any of them,
so our files are known at any moment, even after an interruption. No other
file in the folder is changed or removed, and nothing outside of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from distal._version import __version__
from distal.base import checks
from distal.base.checks import InputError
from distal.base.files import read_json, to_json, write_bytes, write_text

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

MANIFEST = "manifest.json"
_FORMAT, _VERSION = "distal-folder", 1
_LARGEST = 2**26  # bytes of a manifest: one with a million runs has 30 million

# A file inside a folder: plain names with slashes between them. None begins with a dot.
_INSIDE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[a-z0-9_]{8}\.tmp")  # what `files` writes before it renames
_RELEASE = re.compile(r"(\d{1,6})\.(\d{1,6})(\.\d{1,6})?([a-z.+-][a-z0-9.+-]*)?")

_Older = Callable[[Path], Iterable[str] | None]  # names our files in a folder that has no manifest


# ------------------------------------------------------------------ sealed files


def sealed(content: dict[str, Any], file_format: str, version: int) -> dict[str, Any]:
    """Add what kind of file this is and a checksum."""
    return {"format": file_format, "version": version, "sha256": fingerprint(content), **content}


def unsealed(
    data: object, file_format: str, versions: Sequence[int], path: Path, maker: str
) -> tuple[dict[str, Any], int]:
    """Return the content and the version of a sealed file; refuse a foreign, newer or damaged one."""
    if not isinstance(data, dict) or data.get("format") != file_format:
        raise InputError(f"file {str(path)!r} was not written by {maker}")
    version = data.get("version")
    if type(version) is not int or version not in versions:
        raise InputError(
            f"file {str(path)!r} has version {version!r}, this release reads {versions[0]} to {versions[-1]}"
            if len(versions) > 1
            else f"file {str(path)!r} has version {version!r}, this release reads {versions[0]}"
        )
    content = {name: value for name, value in data.items() if name not in ("format", "version", "sha256")}
    try:
        seal = fingerprint(content)
    except RecursionError:
        seal = ""
    if seal != data.get("sha256"):
        raise InputError(f"file {str(path)!r} is damaged: its checksum does not match its content")
    return content, version


def fingerprint(content: dict[str, Any]) -> str:
    """Return a checksum of something that JSON can hold."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def check_release(release: object, path: Path) -> None:
    """Refuse what a later release made: a new minor version may mean something else by the same words."""
    found = _RELEASE.fullmatch(release) if isinstance(release, str) else None
    if found is None:
        raise InputError(f"file {str(path)!r} is damaged: {release!r} is not a version of Distal")
    ours = _RELEASE.fullmatch(__version__)
    if ours is not None and tuple(map(int, found.group(1, 2))) > tuple(map(int, ours.group(1, 2))):
        raise InputError(
            f"file {str(path)!r} was made by Distal {release}, this is {__version__}; "
            "use that release or a later one"
        )


# ------------------------------------------------------------------ manifests


@dataclass(frozen=True)
class Manifest:
    """The content of a folder in words, and every file of ours that may be in it."""

    holds: str
    files: tuple[str, ...]

    def to_text(self) -> str:
        """Return the content of the file."""
        content = {"distal": __version__, "holds": self.holds, "files": list(self.files)}
        return to_json(sealed(content, _FORMAT, _VERSION)) + "\n"


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a folder, or None if it has none; refuse one that is not ours, or damaged."""
    path = inside(folder, MANIFEST)
    if not path.exists():
        return None
    content, _ = unsealed(read_json(path, "manifest", _LARGEST), _FORMAT, (_VERSION,), path, "distal")
    check_release(content.get("distal"), path)
    holds, files = content.get("holds"), content.get("files")
    if set(content) != {"distal", "holds", "files"} or not isinstance(holds, str):
        raise InputError(f"file {str(path)!r} is damaged: it does not say what the folder holds")
    if not isinstance(files, list):
        raise InputError(f"file {str(path)!r} is damaged: it has no list of files")
    for name in files:
        if not isinstance(name, str) or _INSIDE.fullmatch(name) is None:
            raise InputError(f"file {str(path)!r} is damaged: {name!r} is not a file inside the folder")
    return Manifest(checks.text("what the folder holds", holds), tuple(files))


def known_files(
    path: Path, holds: str, files: Iterable[str], older: _Older | None = None, shared: bool = False
) -> tuple[str, ...]:
    """Return which files of a folder are ours; refuse one that is not ours to write these files into.

    Args:
        path: The folder; it need not exist.
        holds: The content it should have, in words.
        files: The files to write there.
        older: Names our files where there is no manifest, as in folders of older versions.
        shared: Take a folder of other people too, as long as none of our files is there.
    """
    if not path.is_dir():
        return ()
    manifest = read_manifest(path)
    if manifest is not None and manifest.holds != holds:
        raise InputError(f"folder {str(path)!r} holds {manifest.holds}, not {holds}; name another")
    ours = None if manifest is None else manifest.files
    if ours is None and older is not None:
        vouched = older(path)
        ours = None if vouched is None else tuple(vouched)
    if ours is None and not shared:
        strangers = sorted(entry.name for entry in path.iterdir() if not _is_temporary(entry.name))
        if strangers:
            more = "" if len(strangers) == 1 else f" and {len(strangers) - 1} more"
            raise InputError(
                f"folder {str(path)!r} is not empty and was not made by distal: it holds "
                f"{strangers[0]!r}{more}; name another"
            )
    mine = dict.fromkeys(ours or ())
    for name in dict.fromkeys((*files, *mine)):
        inside(path, name)
        if name not in mine and os.path.lexists(path / name):
            raise InputError(
                f"folder {str(path)!r} holds {name!r}, which distal did not write; "
                "move it away, or name another folder"
            )
    return tuple(mine)


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp")


def inside(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder, which need not exist.

    Refuse one that is a link or lies behind one, which could lead out of the folder, and
    one that is not a plain file.
    """
    *folders, _ = Path(name).parts
    inner = folder
    for part in folders:
        inner /= part
        if (kind := _kind(inner)) is not None and not stat.S_ISDIR(kind):
            raise InputError(f"{str(inner)!r} is not a plain folder; move it away")
    if (kind := _kind(folder / name)) is not None and not stat.S_ISREG(kind):
        raise InputError(f"{str(folder / name)!r} is not a plain file; move it away")
    return folder / name


def _kind(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"cannot use {str(path)!r}: {error.strerror}") from None


# ------------------------------------------------------------------ folders


class Folder:
    """A folder, made if need be and locked for this process while it is open.

    After `claim` or `join`, the files that are ours can be written.
    """

    def __init__(self, out: str | Path) -> None:
        self.path = _made(checks.path("out", out))
        self.files: frozenset[str] = frozenset()
        self._lock = _locked(self.path)

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let others use the folder."""
        _unlock(self._lock)

    def claim(self, holds: str, files: Iterable[str], known: Sequence[str], *, force: bool = False) -> None:
        """Make the folder ours, for these files.

        Args:
            holds: The content, in words.
            files: The files to write there.
            known: The files that `known_files` returned, called while the folder is open; it refuses a
                folder that is not ours.
            force: Remove the known files first.
        """
        files = tuple(files)
        self._name(holds, (*known, *files))
        if force:
            self._remove_all(known)
            self._name(holds, files)

    def _remove_all(self, names: Iterable[str]) -> None:
        """Remove some of our files, but not while another process works in a folder inside."""
        parents = {path.parent for path in map(self.file, names)} - {self.path}
        locks: list[int] = []
        try:
            for inner in sorted(parents):
                if inner.is_dir():
                    locks.append(_locked(inner))
            self.remove(names)
        finally:
            for lock in locks:
                _unlock(lock)

    def join(self, files: Iterable[str]) -> None:
        """Use a folder whose files are known; remove what killed writes left of them."""
        self.files = frozenset(files)
        self._sweep()

    def _name(self, holds: str, files: Iterable[str]) -> None:
        """Write down which files are ours."""
        named = tuple(dict.fromkeys(files))
        self.join(named)
        self._mend(inside(self.path, MANIFEST), Manifest(holds, named).to_text())

    def file(self, name: str) -> Path:
        """Return the path of one of our files."""
        if name not in self.files:
            raise InputError(f"{name!r} is not a file of folder {str(self.path)!r}")
        return inside(self.path, name)

    def write_text(self, name: str, text: str) -> None:
        """Write a text file, whole or not at all."""
        write_text(self._target(name), text)

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all."""
        write_bytes(self._target(name), data)

    def mend_text(self, name: str, text: str) -> None:
        """Write a text file, unless it already holds this text: a read-only folder may be complete."""
        self._mend(self._target(name), text)

    def remove(self, names: Iterable[str]) -> None:
        """Remove some of our files, and the folders inside that are empty then."""
        inner: set[Path] = set()
        try:
            for name in names:
                path = self.file(name)
                path.unlink(missing_ok=True)
                inner.update(parent for parent in path.parents if self.path in parent.parents)
            for folder in sorted(inner, key=lambda folder: -len(folder.parts)):
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()
        except OSError as error:
            raise InputError(f"cannot remove {str(error.filename)!r}: {error.strerror}") from None

    def _target(self, name: str) -> Path:
        path = self.file(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
        return path

    def _mend(self, path: Path, text: str) -> None:
        data = text.encode()
        with suppress(OSError):
            if path.stat().st_size == len(data) and path.read_bytes() == data:
                return
        write_bytes(path, data)

    def _sweep(self) -> None:
        """Remove temporary files that a killed write of one of our files left."""
        ours = {self.path / name for name in (*self.files, MANIFEST)}
        for folder in {path.parent for path in ours}:
            with suppress(OSError):  # no such folder yet, or one that can only be read
                for entry in list(folder.iterdir()):
                    found = _TEMPORARY.fullmatch(entry.name)
                    if found is not None and folder / found["name"] in ours:
                        entry.unlink()


@contextmanager
def for_report(out: str | Path, holds: str, files: Sequence[str]) -> Iterator[Folder]:
    """Open a folder for the files of a report: the folder of the work itself, or one without such files."""
    with Folder(out) as folder:
        manifest = read_manifest(folder.path)
        same = manifest is not None and manifest.holds == holds
        words = holds if same else f"the report of {holds}"
        folder.claim(words, files, known_files(folder.path, words, files, shared=True))
        yield folder


def _made(path: Path) -> Path:
    try:
        if not path.is_dir():
            if path.exists():
                raise InputError(f"{str(path)!r} is a file, expected a folder")
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot use folder {str(path)!r}: {error.strerror}") from None
    except RecursionError:
        raise InputError(f"cannot use folder {str(path)!r}: it lies inside too many others") from None
    return path


_locks: set[int] = set()  # the handles of all folders that this process has locked


def _close_all() -> None:
    """Close the handles in a process that was forked: else it would hold the locks of its parent."""
    for handle in _locks:
        with suppress(OSError):
            os.close(handle)
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_all)


def _unlock(handle: int) -> None:
    if handle in _locks:  # else it was closed by a fork
        _locks.discard(handle)
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_UN)  # also for a child that has not closed its own handle yet
        os.close(handle)


def _locked(path: Path) -> int:
    """Open the folder and lock it against other processes; the lock goes with the process."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise InputError(f"cannot use folder {str(path)!r}: {error.strerror}") from None
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise InputError(f"folder {str(path)!r} is in use by another process") from None
    _locks.add(handle)
    return handle
