"""Ctrl-C: one line and exit code 130, whatever the command is doing.

The installed handler reflects the progress of the command. While modules are imported and after
`main` it is `leave`, of the module `ctrl_c`; `main` makes it `_raise`, once; when the line has been
written it is `_quit`. In a program that imports Distal none of this happens: the program handles
its own Ctrl-C.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from distal.base.ctrl_c import end, leave


class _Interrupted(KeyboardInterrupt):
    """Ctrl-C in the command.

    When KeyboardInterrupt itself leaves an `exec` of text, as there is one in every
    `namedtuple`, CPython remembers it and ends the process by the signal, with no line
    and no exit code, even if it was caught. It does not do so for a subclass.
    """


@contextmanager
def raised() -> Iterator[None]:
    """Let the first Ctrl-C raise in this block; the second, and any after it, ends the command at once."""
    if signal.getsignal(signal.SIGINT) is not leave:
        yield
        return
    sys.unraisablehook = _unraisable
    signal.signal(signal.SIGINT, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, leave)


@contextmanager
def last_line() -> Iterator[None]:
    """Let this block write the line about the interrupt; any later Ctrl-C ends the command without a word."""
    if signal.getsignal(signal.SIGINT) is not leave:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, _quit)


@contextmanager
def held(errors: int) -> Iterator[list[int]]:
    """Let Ctrl-C end the command at once in a block that it cannot stop, with its line on a file handle.

    In a program that is not the command, hold Ctrl-C back until the block is over, then let
    it through; yield those that came. Only the main thread is ever interrupted, and not
    where Ctrl-C is ignored, as under nohup; elsewhere this does nothing.
    """
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def hold(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if before is _raise:
            leave(number, frame, errors)

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


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    """Raise, unless in an import: packages take that for a missing module, or swallow it."""
    inner = frame
    while inner is not None:
        if inner.f_code.co_filename.startswith("<frozen importlib"):
            leave(number, frame)
        inner = inner.f_back
    signal.signal(signal.SIGINT, leave)
    raise _Interrupted


def _quit(_number: int, _frame: FrameType | None) -> NoReturn:
    """End at once; the line has been written."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end()


def _unraisable(failure: Any) -> None:
    """End if an interrupt came where nothing can be raised, as in a finaliser."""
    if failure.exc_type is _Interrupted:
        leave(signal.SIGINT, None)
    sys.__unraisablehook__(failure)
