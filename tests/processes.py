"""Processes that tests start: Ctrl-C reaches them, and none outlives its test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import distal

DISTAL = (sys.executable, "-m", "distal")
SOURCE = Path(distal.__file__).parents[1]  # wherever a process works, it takes the Distal that is tested


@contextmanager
def started(*command: str | Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a process in a session of its own, and end all of it with the block."""
    environment = {"PYTHONPATH": str(SOURCE), **options.pop("env", os.environ)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    with _heard():
        process: subprocess.Popen[str] = subprocess.Popen(
            command, text=True, start_new_session=True, env=environment, **pipes
        )
    with process:
        try:
            yield process
        finally:
            for one in members(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)


@contextmanager
def _heard() -> Iterator[None]:
    """Start processes that hear Ctrl-C: under nohup, or behind an &, they would inherit that it is ignored.

    A handler is not inherited, only that there is none.
    """
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt(process: subprocess.Popen[str]) -> None:
    """Send Ctrl-C as a terminal does: to all processes."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)


def members(session: int) -> list[int]:
    """Return the living processes of a session: the one that began it and all that come from it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):  # it has gone
                state, _parent, _group, own = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(own) == session and state != "Z":
                    found.append(int(entry.name))
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for something that another process does."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)
