"""Ctrl-C: one line and exit code 130, whatever the command is doing.

The handler that is installed says how far the command is. While modules are imported
and after `main` it is `_leave`; `main` makes it `_raise`, once; when the line has been
written it is `_quit`. In a program that imports Distal nothing of this happens: its
Ctrl-C is its own.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

last_acts: list[Callable[[], object]] = []  # what has to end with the command, even when it ends at once


class _Interrupted(KeyboardInterrupt):
    """Ctrl-C in the command.

    When KeyboardInterrupt itself leaves an `exec` of text, as there is one in every
    `namedtuple`, CPython remembers it and ends the process by the signal, with no line
    and no exit code, even if it was caught. It does not do so for a subclass.
    """


def take_over() -> None:
    """Take Ctrl-C over from Python, if this process is the command and does not ignore it."""
    if not _is_command() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    signal.signal(signal.SIGINT, _leave)
    sys.unraisablehook = _unraisable
    # Registered first, so called last. Then Python takes itself apart, and would die of the signal;
    # all work is done, so it is too late for an interrupt.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


@contextmanager
def raised() -> Iterator[None]:
    """Let the first Ctrl-C raise in this block; the second, and any after it, ends the command at once."""
    if signal.getsignal(signal.SIGINT) is not _leave:
        yield
        return
    signal.signal(signal.SIGINT, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _leave)


@contextmanager
def last_line() -> Iterator[None]:
    """Let this block write the line about the interrupt; any later Ctrl-C ends the command without a word."""
    if signal.getsignal(signal.SIGINT) is not _leave:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, _quit)


@contextmanager
def held(errors: int = 2) -> Iterator[list[int]]:
    """Hold Ctrl-C back until the block is over, then let it through; yield those that came.

    A second one ends the command at once, with its line on the file handle `errors`.
    Only the main thread is ever interrupted, and not where Ctrl-C is ignored, as under
    nohup; elsewhere this does nothing.
    """
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def hold(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1 and before is _raise:
            _leave(number, frame, errors)

    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield came
        return
    signal.signal(signal.SIGINT, hold)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        (before if callable(before) else signal.default_int_handler)(came[0], None)


def _is_command() -> bool:
    """Say whether Python was started as `distal` or `python -m distal`.

    A process that multiprocessing starts has the arguments of its parent in `sys.argv`,
    but not in `sys.orig_argv`.
    """
    started = "".join(sys.orig_argv[-len(sys.argv) :][:1])
    if sys.argv[:1] == ["-m"]:  # the module is being imported
        return started.removeprefix("-m").split(".")[0] == "distal"
    name = started.replace("\\", "/").rpartition("/")[2]
    return sys.argv[:1] == [started] and name in ("distal", "distal.exe", "distal-script.py")


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    """Raise, unless in an import: packages take that for a missing module, or swallow it."""
    inner = frame
    while inner is not None:
        if inner.f_code.co_filename.startswith("<frozen importlib"):
            _leave(number, frame)
        inner = inner.f_back
    signal.signal(signal.SIGINT, _leave)
    raise _Interrupted


def _leave(_number: int, _frame: FrameType | None, errors: int = 2) -> NoReturn:
    """End at once, with one line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.write(errors, b"distal: interrupted\n")
    _end()


def _quit(_number: int, _frame: FrameType | None) -> NoReturn:
    """End at once; the line has been written."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end()


def _end() -> NoReturn:
    for act in last_acts:
        with suppress(Exception):
            act()
    os._exit(130)


def _unraisable(failure: Any) -> None:
    """End if an interrupt came where nothing can be raised, as in a finaliser."""
    if failure.exc_type is _Interrupted:
        _leave(signal.SIGINT, None)
    sys.__unraisablehook__(failure)
