"""Ctrl-C, held back where it would do harm."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held() -> Iterator[list[int]]:
    """Hold Ctrl-C back until the block is over, then let it through; yield those that came.

    Only the main thread is ever interrupted, and not where Ctrl-C is ignored, as under
    nohup; elsewhere this does nothing.
    """
    came: list[int] = []
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield came
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
