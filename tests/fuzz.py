"""`make fuzz`: damage, links, wrong calls, kills and early interrupts, from a fresh seed.

Every round has to end in one of two ways: with the right result, to the byte, or with a
refusal in one line that changes nothing. A summary is kept in `benchmarks/results`, a table in SECURITY.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

import distal
from distal import InputError, Maze, evolve, reproduce, resume
from distal.base.files import to_json, write_text
from distal.cli import main
from distal.search.contents import summary
from distal.studies.plans.reproduce import Experiments
from distal.studies.study import Scale
from tests import doors
from tests.evolutions import Stop, stop_after
from tests.folders import sealed, snapshot

KEPT = Path(__file__).parents[1] / "benchmarks" / "results" / "fuzz.json"
PAGE = Path(__file__).parents[1] / "SECURITY.md"
BEGIN, END = "<!-- written by make fuzz -->\n", "<!-- end of what make fuzz wrote -->\n"
MAZE = Maze.from_text("#######\n#0...1#\n###.###\n###S###\n#######")
SMALL: Any = {
    "runs": 2, "generations": 3, "trials": 1, "episodes": 4, "steps": 8, "hidden": 4, "maze": MAZE,
    "search": distal.GeneticAlgorithm(population=4, elite_count=1),
}  # fmt: skip
TINY = Scale("quick", runs=2, generations=1, episodes=120)
OTHER = ("seconds.csv", "seconds.json", "manifest.json", "thesis.tex")  # files that are no results
FORGERY = 14  # the number of ways to damage a file without a checksum that fits
NASTY: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2.5, 1e308, 10**30, "", "../../x", "/etc/passwd", "\x1b[31m", "9.9.9", [], {}, [[]],
    float("nan"), float("inf"), "a" * 5000,
)  # fmt: skip


def contents(folder: Path) -> dict[str, str]:
    """Return the results in a folder by checksum; of curves that of the numbers, not of their packing."""
    found = {
        name: held for name, (_, _, held) in snapshot(folder).items() if held and Path(name).name not in OTHER
    }
    for name in found:
        if name.endswith(".npz"):
            with np.load(folder / name, allow_pickle=False) as stored:
                found[name] = hashlib.sha256(stored["curves"].tobytes()).hexdigest()
    return found


# ------------------------------------------------------------------ damaged folders


def damage(folder: Path, chance: random.Random) -> str:
    """Damage a file of a folder in one of many ways; say how."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    path = chance.choice(files)
    data = path.read_bytes()
    ways: list[Callable[[], object]] = [
        path.unlink,
        lambda: path.write_bytes(b""),
        lambda: path.write_bytes(data[: chance.randrange(len(data) + 1)]),
        lambda: path.write_bytes(_flipped(data, chance)),
        lambda: path.write_bytes(data + chance.randbytes(chance.randrange(1, 40))),
        lambda: path.write_bytes(chance.choice(files).read_bytes()),
        lambda: _replaced(path, os.mkfifo),
        lambda: _replaced(path, Path.mkdir),
        lambda: _replaced(path, lambda place: place.symlink_to(folder.parent / "outside.txt")),
        lambda: _replaced(path, lambda place: place.symlink_to(place)),
        lambda: _replaced(path, lambda place: place.symlink_to(_twin(place, folder))),
        lambda: _behind_a_link(path.parent, folder),
        lambda: path.with_name(f".{path.name}.abcdefgh.tmp").write_bytes(data[:10]),
        lambda: (folder / "thesis.tex").write_bytes(b"years of work"),
    ]
    assert len(ways) == FORGERY
    if path.suffix == ".json":
        ways += [lambda: _forge(path, chance)] * FORGERY
    number = chance.randrange(len(ways))
    ways[number]()
    how = "a forgery" if number >= FORGERY else f"way {number}"
    return f"{how} of {path.relative_to(folder)}"


def _replaced(path: Path, by: Callable[[Path], None]) -> None:
    path.unlink()
    by(path)


def _twin(path: Path, folder: Path) -> Path:
    """Return the same file of the folder beside this one, which is whole and not ours to touch."""
    return folder.parent / "twin" / path.relative_to(folder)


def _behind_a_link(inner: Path, folder: Path) -> None:
    """Put a link to its twin in the place of a folder inside; to the file outside, of the manifest."""
    if inner == folder:
        _replaced(folder / "manifest.json", lambda place: place.symlink_to(_twin(place, folder)))
    else:
        shutil.rmtree(inner)
        inner.symlink_to(_twin(inner, folder))


def _flipped(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return b"x"
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def _places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value in a JSON document."""
    if at:
        yield at
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield from _places(value, (*at, key))


def _forge(path: Path, chance: random.Random) -> None:
    """Put another value somewhere into a JSON file and, mostly, give it the checksum that fits."""
    try:
        data = json.loads(path.read_bytes())
        *way, last = chance.choice(list(_places(data)))
    except (ValueError, IndexError):
        return
    inner = data
    for key in way:
        inner = inner[key]
    if chance.random() < 0.2:
        del inner[last]
    else:
        inner[last] = chance.choice(NASTY)
    if isinstance(data, dict) and "sha256" in data and chance.random() < 0.9:
        data = sealed(data)
    path.write_text(json.dumps(data))


def _half(folder: Path) -> None:
    with suppress(Stop):
        evolve("dsp", **SMALL, out=folder, progress=stop_after(1))


def _start_over(folder: Path) -> None:
    evolve("dsp", **SMALL, out=folder, force=True)


def _reproduce(folder: Path, force: bool = False) -> None:
    reproduce("quick", out=folder, maze=MAZE, steps=8, hidden=4, force=force)


def _command(folder: Path) -> None:
    """Resume on the command line; what it prints must be fit for a terminal."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["evolve", "--resume", str(folder)])
    text = out.getvalue() + err.getvalue()
    if any(ord(letter) < 32 and letter != "\n" for letter in text):
        raise AssertionError(f"control characters on the terminal: {text!r}")
    if code == 2:
        raise InputError(err.getvalue().rstrip("\n").split("\n")[-1])
    if code != 0:
        raise AssertionError(f"exit code {code}: {text}")


def damaged_folders(chance: random.Random, seconds: float, room: Path, failures: list[str]) -> dict[str, int]:
    """Damage folders and use them."""
    Experiments.SCALES["quick"] = TINY
    whole, half, paper = (room / name for name in ("whole", "half", "paper"))
    evolve("dsp", **SMALL, out=whole)
    _half(half)
    _reproduce(paper)
    expected = {whole: contents(whole), half: contents(whole), paper: contents(paper)}
    uses: list[tuple[str, Path, Callable[[Path], object]]] = [
        ("resume", whole, resume),
        ("resume", half, resume),
        ("command", half, _command),
        ("summary", whole, summary),
        ("force", whole, _start_over),
        ("reproduce", paper, _reproduce),
        ("reproduce again", paper, lambda folder: _reproduce(folder, force=True)),
    ]
    counts: Counter[str] = Counter()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        name, source, use = chance.choice(uses)
        yard = room / "yard"
        shutil.rmtree(yard, ignore_errors=True)
        shutil.copytree(source, yard / "folder")
        shutil.copytree(source, yard / "twin")
        (yard / "outside.txt").write_text("not ours")
        twin = snapshot(yard / "twin")
        how = ", ".join(damage(yard / "folder", chance) for _ in range(chance.choice((1, 1, 1, 2, 3))))
        before, what = snapshot(yard), f"{name} of {source.name}, {how}"
        try:
            use(yard / "folder")
        except InputError as refusal:
            counts["refused"] += 1
            if "\n" in str(refusal):
                failures.append(f"{what}: more than one line: {refusal}")
            # A long piece of work may have done a part of it, and stored it, before it met the damage.
            if name not in ("reproduce", "reproduce again") and snapshot(yard) != before:
                failures.append(f"{what}: refused ({refusal}), but something has changed")
        except Exception as error:
            failures.append(f"{what}: {type(error).__name__}: {error}")
        else:
            counts["right"] += 1
            # A forgery with a checksum that fits, and that makes sense, is as good as the original.
            if name != "summary" and "forgery" not in how and contents(yard / "folder") != expected[source]:
                failures.append(f"{what}: the result is another one")
        if (yard / "outside.txt").read_text() != "not ours" or snapshot(yard / "twin") != twin:
            failures.append(f"{what}: a file outside was written")
        counts["rounds"] += 1
    return dict(counts)


# ------------------------------------------------------------------ damaged compiled code

LEARNED = "learn", "paper:1", "--trials", "1", "--episodes", "3", "--json"


def compiled_code(chance: random.Random, seconds: float, room: Path, failures: list[str]) -> dict[str, int]:
    """Damage what is kept of compiled code, and learn: the result is right, and nothing ends badly."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(room / "kept")}
    command = [sys.executable, "-m", "distal", *LEARNED]

    def learned() -> tuple[int, str, str]:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        return done.returncode, done.stdout, done.stderr

    expected = learned()[1]
    counts: Counter[str] = Counter()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        files = sorted(path for path in (room / "kept").rglob("*.nb?") if path.is_file())
        path = chance.choice(files)
        data = path.read_bytes()
        way = chance.choice(("cut", "flipped", "swapped", "gone"))
        if way == "gone":
            path.unlink()
        else:
            cut, other = data[: chance.randrange(len(data))], chance.choice(files).read_bytes()
            path.write_bytes({"cut": cut, "flipped": _flipped(data, chance), "swapped": other}[way])
        code, out, error = learned()
        counts["rounds"] += 1
        counts["compiled again" if "compiling" in error else "right"] += 1
        if (code, out) != (0, expected):
            failures.append(f"{way} {path.name}: exit code {code}, {error!r}")
    return dict(counts)


# ------------------------------------------------------------------ wrong calls


def wrong_calls(chance: random.Random, seconds: float, room: Path, failures: list[str]) -> dict[str, int]:
    """Call everything that is public with wrong values."""
    count, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        failures += doors.problems(chance.randrange(2**32), 500, room / str(count))
        count += 500
    return {"rounds": count}


# ------------------------------------------------------------------ kills

KILLED = (
    "evolve", "--runs", "2", "--generations", "400", "--trials", "1", "--episodes", "20", "--hidden", "4",
)  # fmt: skip


def kills(chance: random.Random, seconds: float, room: Path, failures: list[str]) -> dict[str, int]:
    """Kill or interrupt evolutions at random moments, again and again, until they are done."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        if main([*KILLED, "--out", str(room / "unkilled")]) != 0:
            raise AssertionError("an evolution that nobody disturbs ends well")
    expected = contents(room / "unkilled")
    counts: Counter[str] = Counter()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        folder = room / "killed"
        shutil.rmtree(folder, ignore_errors=True)
        for _ in range(20):
            begun = (folder / "config.json").exists()
            arguments = ("--resume", str(folder)) if begun else (*KILLED[1:], "--out", str(folder), "--force")
            end = _end_at_random([sys.executable, "-m", "distal", "evolve", *arguments], chance, failures)
            counts[end] += 1
            counts["rounds"] += 1
            if end == "finished":
                break
        else:
            resume(folder)
        if contents(folder) != expected:
            failures.append("an evolution that was killed ended otherwise than one that was not")
        left = [str(path) for path in folder.rglob("*.tmp")]
        if left:
            failures.append(f"temporary files were left: {left}")
    return dict(counts)


def _end_at_random(command: list[str], chance: random.Random, failures: list[str]) -> str:
    """Start a command and end it somewhere; return how."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        try:
            time.sleep(chance.uniform(0.1, 3.0))
            way = chance.choice((signal.SIGKILL, signal.SIGINT, signal.SIGTERM))
            process.send_signal(way)
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
    lines = [line for line in error.splitlines() if not line.startswith("generation")]
    if process.returncode == 0:
        return "finished"
    if way is signal.SIGINT:
        interrupted = process.returncode == 130 and len(lines) == 1 and "interrupted" in lines[0]
        if not interrupted:
            failures.append(f"Ctrl-C gave {process.returncode} and {error!r}")
        return "interrupted"
    if process.returncode != -way:
        failures.append(f"signal {way} gave {process.returncode} and {error!r}")
    return "killed"


# ------------------------------------------------------------------ early interrupts


def early(chance: random.Random, seconds: float, room: Path, failures: list[str]) -> dict[str, int]:
    """Interrupt a command in its first tenths of a second: one line, wherever Distal has begun.

    Python's own start, and what comes before the handler is there, is out of our reach; it is
    counted on its own.
    """
    maze = room / "maze.txt"
    maze.write_text(str(MAZE))
    command = [sys.executable, "-m", "distal", "maze", str(maze)]
    counts: Counter[str] = Counter()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        with process:
            time.sleep(chance.uniform(0.005, 0.4))
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        counts["rounds"] += 1
        if process.returncode == 0:
            counts["finished"] += 1
        elif (process.returncode, error) == (130, "distal: interrupted\n"):
            counts["interrupted"] += 1
        elif process.returncode in (1, -signal.SIGINT, 130) and not _began(error):
            counts["before Distal"] += 1
        else:
            failures.append(f"an early Ctrl-C gave {process.returncode} and {error!r}")
    return dict(counts)


def _began(error: str) -> bool:
    """Say whether a traceback shows more of Distal than the import of the handler."""
    files = [line.split('"')[1] for line in error.splitlines() if line.startswith('  File "')]
    ours = [Path(name).parts[-2:] for name in files if "/distal/" in name]
    first = {("distal", "__init__.py"), ("base", "__init__.py"), ("base", "ctrl_c.py")}
    return any(name not in first for name in ours)


PARTS = {
    "damaged folders": damaged_folders,
    "compiled code": compiled_code,
    "wrong calls": wrong_calls,
    "kills": kills,
    "early interrupts": early,
}


def fuzz(seconds: float, seed: int) -> dict[str, Any]:
    """Do all parts, for about so many seconds together; return the summary."""
    failures: list[str] = []
    done: dict[str, dict[str, int]] = {}
    for name, part in PARTS.items():
        before = len(failures)
        with tempfile.TemporaryDirectory() as folder:
            chance = random.Random(f"{seed} {name}")  # noqa: S311
            done[name] = part(chance, seconds / len(PARTS), Path(folder), failures)
        done[name]["failures"] = len(failures) - before
        sys.stderr.write(f"{name}: {done[name]}, {len(failures)} failures so far\n")
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "distal": distal.__version__,
        "seed": seed,
        "seconds": round(seconds),
        **done,
        "failures": failures,
    }


def table(found: dict[str, Any]) -> str:
    """Return the table of SECURITY.md: what was tried, how it ended, and how often that was a failure."""
    rows = ["| tried | rounds | ended | failures |", "|---|---:|---|---:|"]
    for name in PARTS:
        counts = found[name]
        ended = ", ".join(
            f"{count:,} {how}" for how, count in sorted(counts.items()) if how not in ("rounds", "failures")
        )
        rows.append(f"| {name} | {counts['rounds']:,} | {ended} | {counts['failures']} |")
    return "\n".join(rows) + "\n"


def with_table(text: str, found: dict[str, Any]) -> str:
    """Return SECURITY.md with another table."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table(found)}{END}{after}"


def run(arguments: list[str] | None = None) -> int:
    """Fuzz, keep the summary, and return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--out", type=Path, default=KEPT)
    options = parser.parse_args(arguments)
    sys.stderr.write(f"seed {options.seed}\n")
    found = fuzz(options.seconds, options.seed)
    write_text(options.out, to_json(found) + "\n")
    if options.out == KEPT:
        write_text(PAGE, with_table(PAGE.read_text(encoding="utf-8"), found))
    for failure in found["failures"]:
        sys.stderr.write(f"{failure!r}\n")
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(run())
