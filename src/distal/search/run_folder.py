"""A folder that keeps an evolution: whole after any interruption, or refused.

    manifest.json     which files are ours (see `folders`)
    config.json       the full configuration
    generations.csv   a row for each generation and run: best, mean and worst fitness of
                      the population, and the genes of the best individual, one per column
    state.json        what is needed to resume, and the winners at the end
    winners/          each run's winner, for `distal learn` or `distal climb`
    winners.csv       selected and re-measured fitness of the winners, and chance
    seconds.csv       how long each generation took: the one file that is not reproducible

Every other file is byte for byte the same whether or not the work was interrupted.
Rows are appended and synced before the state that counts them is renamed into place,
so the state never knows of more than the rows hold; what lies beyond it is cut off.
Generations that take milliseconds are written a few at a time, twice a second, or less
often where writing takes long: a process that is killed loses no more than that.
The state carries checksums of itself, of the configuration and of the rows. All of it
is read and checked before anything is written.
A folder keeps the version of the format that it was started with. In versions 1 and 2 all
genes stand in one column of generations.csv.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base import checks
from distal.base.checks import InputError, integer
from distal.base.files import MOST_OF_RUNS, read_json, to_json, write_pieces
from distal.base.folders import Folder, check_release, fingerprint, inside, known_files, sealed, unsealed
from distal.base.plugins import NotImportedError
from distal.learners import Learner
from distal.search.config import Config

_FORMAT, _VERSION = "distal-evolution", 3
_READABLE = (1, 2, 3)  # a folder keeps the version it was started with
_ONE_COLUMN = 2  # the last version with all genes in one column
HOLDS = "an evolution"
_FITNESS = ("run", "generation", "best", "mean", "worst")
_PAUSE = 0.5  # seconds between two writes, at least
_SHARE = 10  # and that many times the seconds that the last one took
_MAX_RUNS = 2**20

_State = Callable[[], dict[str, Any]]


def run_files(runs: int) -> tuple[str, ...]:
    """Return the names of all files that an evolution of this many runs writes, except the manifest."""
    names = ("config.json", "generations.csv", "seconds.csv", "state.json", "winners.csv")
    return (*names, *(_winner_file(run) for run in range(1, runs + 1)))


def _winner_file(run: int) -> str:
    """Return the name of the file of a run's winner."""
    return f"winners/run-{run:02}.json"


def check_new(out: str | Path, runs: int, force: bool) -> tuple[str, ...]:
    """Return our files in a folder; refuse one where no evolution of this many runs can start."""
    path = checks.path("out", out)
    known = known_files(path, HOLDS, run_files(runs), _older)
    if not force and any((path / name).exists() for name in known):
        raise InputError(
            f"folder {str(out)!r} is not empty; "
            "continue with resume, start over with force=True, or name another"
        )
    return known


def gene_columns(others: Sequence[str], genes: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of genes in a table: their names, or `gene_NAME` where another column has it."""
    return tuple(f"gene_{name}" if name in others else name for name in genes)


class RunFolder:
    """An evolution on disk, locked for this process while it is open."""

    def __init__(
        self, folder: Folder, config: dict[str, Any], state: dict[str, Any] | None, version: int = _VERSION
    ) -> None:
        self.folder, self.config, self.state, self.version = folder, config, state, version
        self._known: Sequence[str] = ()  # the files that were ours when it was opened
        self._hash = hashlib.sha256()
        self._bytes = 0
        self._waiting: list[tuple[str, str]] = []  # rows and seconds of generations not yet written
        self._latest: Sequence[_State] = ()  # of the runs after the last of them
        self._written = 0.0
        self._genes: tuple[str, ...] | None = None
        self._pause = _PAUSE

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.folder.path

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of generations.csv."""
        if self.version <= _ONE_COLUMN:
            return (*_FITNESS, "genotype")
        if self._genes is None:
            with damaged(self.path / "config.json"):
                self._genes = Config.from_dict(self.config).gene_names
        return (*_FITNESS, *gene_columns(_FITNESS, self._genes))

    @property
    def _header(self) -> str:
        return ",".join(self.columns) + "\r\n"

    @classmethod
    @contextmanager
    def create(cls, out: str | Path, config: Config, force: bool = False) -> Iterator[RunFolder]:
        """Make a new folder; one that holds an evolution is refused, or with `force` started over."""
        with Folder(out) as folder:
            known = check_new(folder.path, config.runs, force)
            folder.claim(HOLDS, run_files(config.runs), known, force=force)
            kept = cls(folder, config.to_dict(), None)
            kept._genes = config.gene_names
            kept._write_config()
            kept._append("generations.csv", kept._header)
            kept._append("seconds.csv", "generation,seconds\r\n")
            with kept._all_written():
                yield kept

    @classmethod
    @contextmanager
    def open(cls, out: str | Path) -> Iterator[RunFolder]:
        """Open a folder to resume it; refuse a damaged or foreign one. Only `recover` starts to change it."""
        path = _run_folder(out)
        with Folder(path) as folder:  # locked before anything is read: another process may be at work
            config, state, version = read_run(path)
            files = run_files(config["runs"])
            known = known_files(path, HOLDS, files, _older)
            if not set(known) >= set(files):
                raise InputError(f"{str(path)!r} is damaged: its manifest does not name all of its files")
            kept = cls(folder, config, state, version)
            kept._known = known
            kept._check_rows()
            with kept._all_written():
                yield kept

    @contextmanager
    def _all_written(self) -> Iterator[None]:
        """Write the waiting generations at the end, however it comes."""
        try:
            yield
        finally:
            self._write_waiting()

    def history(self) -> NDArray[np.float64]:
        """Return best, mean and worst of every recorded generation and run: (generations, runs, 3)."""
        runs = self.config["runs"]
        if self.state is None:
            return np.empty((0, runs, 3))
        expected = (self.state["runs"][0]["generation"] + 1) * runs
        columns, values = self.columns, array("d")
        place = 0
        with damaged(self.path / "generations.csv"):
            rows = csv.reader(_text_lines(self.path / "generations.csv", self._bytes))
            if tuple(next(rows, ())) != columns:
                raise InputError(f"its columns are not {columns[0]}, {columns[1]}, … {columns[-1]}")
            for row in rows:
                if place == expected:
                    raise InputError(f"it has more than {expected} rows")
                generation, run = divmod(place, runs)
                if row[:2] != [str(run + 1), str(generation)] or len(row) != len(columns):
                    raise InputError(
                        f"row {place + 1} does not belong to run {run + 1}, generation {generation}"
                    )
                numbers = [float(cell) for cell in row[2:5]]
                if not all(map(math.isfinite, numbers)):
                    raise InputError(f"row {place + 1} has a fitness that is not a number")
                if numbers[0] > numbers[2]:
                    raise InputError(f"row {place + 1} has a best fitness above the worst")
                values.extend(numbers)
                place += 1
            if place < expected:
                raise InputError(f"it has {place} rows, expected {expected}")
        return np.array(values).reshape(-1, runs, 3)

    def seconds(self) -> float:
        """Return how long the recorded generations took, as far as it is known."""
        return sum(float(seconds) for seconds in self._known_seconds().values())

    def extend(self, generations: int) -> None:
        """Set another number of generations; the winners will have to be found again."""
        self.config = {**self.config, "generations": generations}
        if self.state is not None:
            self.state["winners"] = None
            self._write_state()
        self._write_config()
        winners = (_winner_file(run) for run in range(1, self.config["runs"] + 1))
        self.folder.remove(["winners.csv", *winners])

    def append(self, rows: Sequence[tuple[Any, ...]], seconds: float, states: Sequence[_State]) -> None:
        """Record a generation of all runs and the state to resume from.

        Args:
            rows: For each run its number, the generation, best, mean and worst fitness, and the
                genes of the best individual.
            seconds: How long the generation took.
            states: For each run, a function that returns its state after the generation.
        """
        if self.version <= _ONE_COLUMN:
            fixed = len(_FITNESS)
            rows = [(*row[:fixed], " ".join(map(str, row[fixed:]))) for row in rows]
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        self._waiting.append((text.getvalue(), f"{rows[0][1]},{seconds:.3f}\r\n"))
        self._latest = states
        if self.state is None or time.monotonic() - self._written > self._pause:
            self._write_waiting()

    def _write_waiting(self) -> None:
        if not self._waiting:
            return
        began = time.monotonic()
        waiting, self._waiting = self._waiting, []
        self._append("generations.csv", "".join(rows for rows, _ in waiting))
        self._append("seconds.csv", "".join(seconds for _, seconds in waiting))
        self.state = {"runs": [state() for state in self._latest], "winners": None}
        self._write_state()
        self._written = time.monotonic()
        self._pause = max(_PAUSE, _SHARE * (self._written - began))

    def finish(self, winners: list[dict[str, Any]], learners: Sequence[Learner]) -> None:
        """Record the winners, in the state and as files, and the learner of each as a file of its own."""
        self._write_waiting()
        if self.state is None:
            raise InputError(f"{str(self.path)!r} holds no generation yet")
        if self.state["winners"] != winners:
            self.state["winners"] = winners
            self._write_state()
        for winner, learner in zip(winners, learners, strict=True):
            self.folder.mend_text(_winner_file(winner["run"]), to_json(learner.to_dict()) + "\n")
        text = io.StringIO()
        writer = csv.writer(text)
        columns = (
            "run", "generation", "selected", "remeasured", "standard_error", "chance",
            "chance_standard_error", "p", "superiority",
        )  # fmt: skip
        writer.writerow(columns)
        writer.writerows([winner.get(column) for column in columns] for winner in winners)
        self.folder.mend_text("winners.csv", text.getvalue())

    def _check_rows(self) -> None:
        """Check the rows against the state."""
        path = inside(self.path, "generations.csv")
        if self.state is None:
            # Interrupted in the first generation, nothing is lost; but more rows than that had a state.
            if path.exists() and _lines(path, 2 + self.config["runs"]) > 1 + self.config["runs"]:
                raise InputError(f"{str(self.path)!r} is damaged: it has generations but no state.json")
            return
        rows = self.state["rows"]
        self._hash, self._bytes = _digest(path, rows["bytes"]), rows["bytes"]
        if self._hash.hexdigest() != rows["sha256"]:
            raise InputError(
                f"{str(self.path)!r} is damaged: generations.csv is not what state.json describes"
            )

    def recover(self) -> None:
        """Bring the files to where the state is: the first change to a folder that is resumed."""
        self.folder.join(self._known)
        path = self.folder.file("generations.csv")
        if self.state is None:
            self.folder.mend_text("generations.csv", self._header)
            self._hash, self._bytes = hashlib.sha256(self._header.encode()), len(self._header)
        elif path.stat().st_size > self._bytes:  # what the state does not know of
            _detach(path)
            with path.open("r+b") as file:
                file.truncate(self._bytes)
                os.fsync(file.fileno())
        self._write_config()  # its content is right; let its spaces be, too
        # Keep the times of the generations that count; those that are lost stay empty.
        known = self._known_seconds()
        done = self.state["runs"][0]["generation"] + 1 if self.state else 0
        lines = [
            "generation,seconds",
            *(f"{generation},{known.get(generation, '')}" for generation in range(done)),
        ]
        self.folder.mend_text("seconds.csv", "\r\n".join(lines) + "\r\n")

    def _known_seconds(self) -> dict[int, str]:
        """Return the times of the generations as far as they are readable: they are for information alone."""
        known: dict[int, str] = {}
        path = inside(self.path, "seconds.csv")
        most = 64 * (2 + self.config["generations"])  # bytes; a larger file is none of ours
        if path.is_file() and path.stat().st_size <= most:
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                generation, _, seconds = line.partition(",")
                if _short_number(generation) and _short_number(seconds.replace(".", "", 1)):
                    known[int(generation)] = seconds
        return known

    def _append(self, name: str, text: str) -> None:
        data = text.encode()
        path = self.folder.file(name)
        _detach(path)
        try:
            with path.open("ab") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
        if name == "generations.csv":
            self._hash.update(data)
            self._bytes += len(data)

    def _write_config(self) -> None:
        text = to_json(sealed(self.config, _FORMAT, self.version)) + "\n"
        self.folder.mend_text("config.json", text)

    def _write_state(self) -> None:
        assert self.state is not None  # noqa: S101 - written after it was set
        self.state = {
            "config": _fingerprint(self.config),
            "rows": {"bytes": self._bytes, "sha256": self._hash.hexdigest()},
            "runs": self.state["runs"],
            "winners": self.state["winners"],
        }
        text = json.dumps(sealed(self.state, _FORMAT, self.version)) + "\n"
        self.folder.write_text("state.json", text)


def read_run(out: str | Path) -> tuple[dict[str, Any], dict[str, Any] | None, int]:
    """Return configuration, state (None before the first generation) and version of a folder; change nothing.

    The frame of both is checked here; what they say of settings, genes and winners, where
    it is turned into objects.
    """
    path = _run_folder(out)
    config, version = _read_sealed(inside(path, "config.json"))
    with damaged(path / "config.json"):
        integer("runs", config.get("runs"), 1, _MAX_RUNS)
    check_release(config.get("distal"), path / "config.json")
    if not os.path.lexists(path / "state.json"):
        return config, None, version
    state, its_version = _read_sealed(inside(path, "state.json"))
    if its_version != version or state.get("config") != _fingerprint(config):
        raise InputError(f"{str(out)!r} is damaged: state.json belongs to another config.json")
    with damaged(path / "state.json"):
        _check_frame(state, config["runs"])
        rows = inside(path, "generations.csv")
        if not rows.is_file() or rows.stat().st_size < state["rows"]["bytes"]:
            raise InputError("generations.csv has fewer rows than it describes")
    return config, state, version


def _read_sealed(path: Path) -> tuple[dict[str, Any], int]:
    data = read_json(path, "run file", MOST_OF_RUNS)
    return unsealed(data, _FORMAT, _READABLE, path, "distal evolve")


def _check_frame(state: dict[str, Any], runs: int) -> None:
    """Refuse a state that lacks what every state has."""
    if set(state) != {"config", "rows", "runs", "winners"}:
        raise InputError(f"its fields are {', '.join(sorted(state))}")
    rows = state["rows"]
    if not isinstance(rows, dict) or set(rows) != {"bytes", "sha256"} or not isinstance(rows["sha256"], str):
        raise InputError("it does not describe the rows")
    integer("the number of bytes", rows["bytes"], 1)
    for name in ("runs", "winners"):
        entries = state[name]
        if name == "winners" and entries is None:
            continue
        if not isinstance(entries, list) or len(entries) != runs:
            raise InputError(f"{name} is not a list of {runs}")
        if not all(isinstance(entry, dict) for entry in entries):
            raise InputError(f"{name} holds something other than objects")


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    """Turn whatever is wrong with the content of a file into a refusal that names the file."""
    try:
        yield
    except NotImportedError as error:
        raise NotImportedError(f"folder {str(path.parent)!r}: {error}") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, csv.Error) as error:
        problem = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"run file {str(path)!r} is damaged: {problem}") from None


def _run_folder(out: str | Path) -> Path:
    """Return the path of a folder of runs; refuse what cannot be one."""
    path = checks.path("the folder of runs", out)
    try:
        found = (path / "config.json").is_file()
    except OSError as error:
        raise InputError(f"cannot use folder {str(path)!r}: {error.strerror}") from None
    if not found:
        raise InputError(f"{str(out)!r} is not a folder of runs: it has no config.json")
    return path


def is_run_folder(path: Path) -> bool:
    """Return whether a folder looks like one of ours."""
    try:
        data = read_json(inside(path, "config.json"), "run file")
    except InputError:
        return False
    return isinstance(data, dict) and data.get("format") == _FORMAT


def _older(path: Path) -> Sequence[str] | None:
    """Name the files of an evolution that has no manifest: its sealed configuration says how many runs."""
    if not (path / "config.json").is_file():
        return None
    try:
        config, _ = _read_sealed(inside(path, "config.json"))
    except InputError:
        return None
    check_release(config.get("distal"), path / "config.json")
    return run_files(integer("runs", config.get("runs"), 1, _MAX_RUNS))


def _fingerprint(config: dict[str, Any]) -> str:
    """Identify a configuration, whatever its number of generations."""
    return fingerprint({name: value for name, value in config.items() if name != "generations"})


def _short_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


def _detach(path: Path) -> None:
    """Give a file that has several names, as in a backup of hard links, its own content."""
    if path.exists() and path.stat().st_nlink > 1:
        with path.open("rb") as file:
            write_pieces(path, iter(lambda: file.read(2**20), b""))


def _text_lines(path: Path, count: int) -> Iterator[str]:
    """Yield the lines in the first bytes of a file."""
    with path.open("rb") as file:
        while count > 0 and (line := file.readline(min(count, 2**20))):
            count -= len(line)
            yield line.decode()


def _digest(path: Path, count: int) -> Any:
    """Return the checksum of the first bytes of a file, read in pieces."""
    digest, left = hashlib.sha256(), count
    try:
        with path.open("rb") as file:
            while left > 0 and (piece := file.read(min(left, 2**20))):
                digest.update(piece)
                left -= len(piece)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    return digest


def _lines(path: Path, most: int) -> int:
    """Count the lines of a file, but no further than needed."""
    try:
        with path.open("rb") as file:
            pieces = iter(lambda: file.readline(2**16), b"")
            return sum(1 for _, line in zip(range(most), pieces, strict=False) if line.endswith(b"\n"))
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
