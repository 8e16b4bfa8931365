"""A folder that keeps an evolution: whole after any interruption, or refused.

    config.json       the full configuration
    generations.csv   a row for each generation and run: best, mean and worst fitness of
                      the population, and the best genotype
    state.json        what is needed to go on, and the winners at the end
    winners/          each run's winner, for `distal learn` or `distal climb`
    winners.csv       selected and re-measured fitness of the winners, and chance
    seconds.csv       how long each generation took: the one file that is not reproducible

Every other file is byte for byte the same whether or not the work was interrupted.
Rows are appended and synced before the state that counts them is renamed into place,
so the state never knows of more than the rows hold; what lies beyond it is cut off.
Generations that take milliseconds are written a few at a time, twice a second: a
process that is killed loses no more than that.
The state carries checksums of itself, of the configuration and of the rows.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from distal.checks import InputError
from distal.files import MOST_OF_RUNS, read_json, read_text, to_json, write_text
from distal.learners.hill_climbing import FORMAT as CLIMBER
from distal.learners.hill_climbing import VERSION as CLIMBER_VERSION

FORMAT, VERSION = "distal-evolution", 2
READABLE = (1, 2)  # a folder goes on in the version it was begun with
COLUMNS = ("run", "generation", "best", "mean", "worst", "genotype")
HEADER = ",".join(COLUMNS) + "\r\n"
FILES = ("config.json", "generations.csv", "state.json", "winners.csv", "seconds.csv")
PAUSE = 0.5  # seconds between two writes
T = TypeVar("T")


class RunFolder:
    """An evolution on disk, locked for this process while it is open."""

    def __init__(self, path: Path, lock: int, config: dict[str, Any], state: dict[str, Any] | None) -> None:
        self.path, self.config, self.state = path, config, state
        self.version = 1 if "remeasure" in config else VERSION  # a name that version 2 no longer has
        self._lock = lock
        self._hash = hashlib.sha256()
        self._bytes = 0
        self._waiting: list[tuple[str, str]] = []  # rows and seconds of generations not yet written
        self._latest: list[dict[str, Any]] = []  # the state after the last of them
        self._written = 0.0

    @classmethod
    def create(cls, out: str | Path, config: dict[str, Any], force: bool = False) -> RunFolder:
        """Make a new folder; an existing one that is not empty is refused, or with `force` begun anew."""
        path = new_folder(out)
        lock = lock_folder(path)
        try:
            if holds_anything(path):
                if not force:
                    raise InputError(
                        f"folder {str(out)!r} is not empty; go on with --resume, begin anew with --force, "
                        "or name another"
                    )
                if (path / "config.json").exists() and not is_run_folder(path):
                    raise InputError(
                        f"folder {str(out)!r} has a config.json that distal did not write; name another"
                    )
                remove_files(path, [*FILES, "winners/run-*.json"])
            folder = cls(path, lock, config, None)
            folder._write_config()
            folder._append("generations.csv", HEADER)
            folder._append("seconds.csv", "generation,seconds\r\n")
        except BaseException:
            os.close(lock)
            raise
        return folder

    @classmethod
    def open(cls, out: str | Path) -> RunFolder:
        """Open a folder to go on; a damaged or foreign one is refused."""
        path = _run_folder(out)
        lock = lock_folder(path)  # before anything is read: another process may be at work
        try:
            folder = cls(path, lock, *read_run(out))
            folder._recover()
        except BaseException:
            os.close(lock)
            raise
        return folder

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is waiting and let others use the folder."""
        try:
            self._write_waiting()
        finally:
            os.close(self._lock)

    def parsed(self, read: Callable[[dict[str, Any]], T]) -> T:
        """Return the configuration as an object."""
        try:
            return read(self.config)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"run file {str(self.path / 'config.json')!r} is damaged: {error}") from None

    def history(self) -> array[float]:
        """Return best, mean and worst of every recorded row, one after another."""
        values = array("d")
        with (self.path / "generations.csv").open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            next(rows)
            for row in rows:
                values.extend(map(float, row[2:5]))
        return values

    def seconds(self) -> float:
        """Return how long the recorded generations took, as far as it is known."""
        total = 0.0
        for row in csv.reader(io.StringIO((self.path / "seconds.csv").read_text(errors="replace"))):
            try:
                total += float(row[1])
            except (IndexError, ValueError):
                continue
        return total

    def extend(self, generations: int) -> None:
        """Set another number of generations; the winners will have to be found again."""
        self.config = {**self.config, "generations": generations}
        if self.state is not None:
            self.state["winners"] = None
            self._write_state()
        self._write_config()
        remove_files(self.path, ["winners.csv", "winners/run-*.json"])

    def append(self, rows: Sequence[tuple[Any, ...]], seconds: float, runs: list[dict[str, Any]]) -> None:
        """Record a generation of all runs and the state to go on from."""
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        self._waiting.append((text.getvalue(), f"{rows[0][1]},{seconds:.3f}\r\n"))
        self._latest = runs
        if self.state is None or time.monotonic() - self._written > PAUSE:
            self._write_waiting()

    def _write_waiting(self) -> None:
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        self._append("generations.csv", "".join(rows for rows, _ in waiting))
        self._append("seconds.csv", "".join(seconds for _, seconds in waiting))
        self.state = {"runs": self._latest, "winners": None}
        self._write_state()
        self._written = time.monotonic()

    def finish(self, winners: list[dict[str, Any]]) -> None:
        """Record the winners, in the state and as files."""
        self._write_waiting()
        if self.state is None:
            raise InputError(f"{str(self.path)!r} holds no generation yet")
        self.state["winners"] = winners
        self._write_state()
        folder = self.path / "winners"
        folder.mkdir(exist_ok=True)
        for winner in winners:
            learner = winner["learner"]
            if "format" not in learner:
                learner = {"format": CLIMBER, "version": CLIMBER_VERSION, **learner}
            write_text(folder / f"run-{winner['run']:02}.json", to_json(learner) + "\n")
        text = io.StringIO()
        writer = csv.writer(text)
        columns = (
            "run", "generation", "selected", "remeasured", "standard_error", "chance",
            "chance_standard_error", "p", "superiority",
        )  # fmt: skip
        writer.writerow(columns)
        writer.writerows([winner.get(column) for column in columns] for winner in winners)
        write_text(self.path / "winners.csv", text.getvalue())

    def _recover(self) -> None:
        """Check the rows against the state and cut off what it does not know of."""
        path = self.path / "generations.csv"
        expected: dict[str, Any] = {"bytes": len(HEADER), "sha256": _sha(HEADER.encode())}
        if self.state is not None:
            expected = self.state["rows"]
        try:
            data = path.read_bytes() if path.exists() or self.state is not None else b""
        except OSError as error:
            raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
        if self.state is None:
            # Interrupted in the first generation, nothing is lost; but more rows than that had a state.
            if data.count(b"\n") > 1 + self.config["runs"]:
                raise InputError(f"{str(self.path)!r} is damaged: it has generations but no state.json")
            write_text(path, HEADER)
            data = HEADER.encode()
        data = data[: expected["bytes"]]
        if _sha(data) != expected["sha256"]:
            raise InputError(
                f"{str(self.path)!r} is damaged: generations.csv is not what state.json describes"
            )
        with path.open("r+b") as file:
            file.truncate(len(data))
            os.fsync(file.fileno())
        self._hash, self._bytes = hashlib.sha256(data), len(data)
        self._write_config()  # its content is right; let its spaces be, too
        self._recover_seconds()

    def _recover_seconds(self) -> None:
        """Keep the times of the generations that count; those that are lost stay empty."""
        path = self.path / "seconds.csv"
        known: dict[int, str] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines()[1:]:
                generation, _, seconds = line.partition(",")
                if generation.isdecimal() and seconds.replace(".", "", 1).isdecimal():
                    known[int(generation)] = seconds
        done = self.state["runs"][0]["generation"] + 1 if self.state else 0
        lines = [
            "generation,seconds",
            *(f"{generation},{known.get(generation, '')}" for generation in range(done)),
        ]
        write_text(path, "\r\n".join(lines) + "\r\n")

    def _append(self, name: str, text: str) -> None:
        data = text.encode()
        try:
            with (self.path / name).open("ab") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"cannot write {str(self.path / name)!r}: {error.strerror}") from None
        if name == "generations.csv":
            self._hash.update(data)
            self._bytes += len(data)

    def _write_config(self) -> None:
        write_text(self.path / "config.json", to_json(_sealed(self.config, self.version)) + "\n")

    def _write_state(self) -> None:
        assert self.state is not None  # noqa: S101 - written after it was set
        self.state = {
            "config": _fingerprint(self.config),
            "rows": {"bytes": self._bytes, "sha256": self._hash.hexdigest()},
            "runs": self.state["runs"],
            "winners": self.state["winners"],
        }
        write_text(self.path / "state.json", json.dumps(_sealed(self.state, self.version)) + "\n")


def read_run(out: str | Path) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the configuration and, after the first generation, the state; change nothing."""
    path = _run_folder(out)
    config = _checked(read_json(path / "config.json", "run file"), path / "config.json")
    if not (path / "state.json").exists():
        return config, None
    state = _checked(read_json(path / "state.json", "run file", MOST_OF_RUNS), path / "state.json")
    if state.get("config") != _fingerprint(config):
        raise InputError(f"{str(out)!r} is damaged: state.json belongs to another config.json")
    return config, state


def _run_folder(out: str | Path) -> Path:
    """Return the path of a folder of runs; refuse one that cannot be."""
    path = Path(out)
    if not (path / "config.json").is_file():
        raise InputError(f"{str(out)!r} is not a folder of runs: it has no config.json")
    return path


def is_run_folder(path: Path) -> bool:
    """Say whether a folder looks like one of ours."""
    try:
        return FORMAT in read_text(path / "config.json", "run file")
    except InputError:
        return False


def new_folder(out: str | Path) -> Path:
    """Make a folder, if it is not there yet."""
    path = Path(out)
    try:
        if path.exists() and not path.is_dir():
            raise InputError(f"{str(out)!r} is a file, expected a folder")
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot use folder {str(out)!r}: {error.strerror}") from None
    return path


def holds_anything(path: Path) -> bool:
    """Say whether a folder is in use; what an interrupted first write left behind does not count."""
    return any(not (entry.name.startswith(".") and entry.name.endswith(".tmp")) for entry in path.iterdir())


def remove_files(path: Path, patterns: Sequence[str]) -> None:
    """Remove our own files from a folder, and folders that are empty then; leave all others alone."""
    for pattern in patterns:
        for entry in path.glob(pattern):
            if entry.is_file():
                entry.unlink()
    inner = {(path / pattern).parent for pattern in patterns if "/" in pattern}
    for folder in sorted(inner, key=lambda folder: -len(folder.parts)):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def lock_folder(path: Path) -> int:
    """Open the folder and lock it against other processes; the lock goes with the process."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise InputError(f"cannot use folder {str(path)!r}: {error.strerror}") from None
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return handle
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise InputError(f"folder {str(path)!r} is in use by another process") from None
    return handle


def _fingerprint(config: dict[str, Any]) -> str:
    """Identify a configuration, whatever its number of generations."""
    content = {name: value for name, value in config.items() if name != "generations"}
    return _sha(json.dumps(content, sort_keys=True).encode())


def _sealed(content: dict[str, Any], version: int) -> dict[str, Any]:
    """Add what kind of file this is and a checksum."""
    return {
        "format": FORMAT,
        "version": version,
        "sha256": _sha(json.dumps(content, sort_keys=True).encode()),
        **content,
    }


def _checked(data: object, path: Path) -> dict[str, Any]:
    """Return the content of a sealed file; refuse a foreign or damaged one."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"run file {str(path)!r} was not written by distal evolve")
    version = data.get("version")
    if type(version) is not int or version not in READABLE:
        raise InputError(
            f"run file {str(path)!r} has version {version!r}, this release reads {READABLE[0]} to {VERSION}"
        )
    content = {name: value for name, value in data.items() if name not in ("format", "version", "sha256")}
    if _sealed(content, version)["sha256"] != data.get("sha256"):
        raise InputError(f"run file {str(path)!r} is damaged: its checksum does not fit its content")
    return content


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
