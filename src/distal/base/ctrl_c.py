"""Ctrl-C while Distal is imported: taken over before anything else is loaded.

This is the first module that Distal imports. It imports only modules that are built into Python or
loaded at its start. `interrupts` has the rest of the handling of Ctrl-C.
"""

import atexit
import os
import sys

TYPE_CHECKING = False  # `typing` would take longer to load than all that is here
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn
else:
    import _signal  # `signal` would load `enum` and what that needs

last_acts: "list[Callable[[], object]]" = []  # what has to end with the command, even when it ends at once


def take_over() -> None:
    """Take Ctrl-C over from Python, if this process is the command and does not ignore it."""
    if not _is_command() or _signal.getsignal(_signal.SIGINT) is not _signal.default_int_handler:
        return
    _signal.signal(_signal.SIGINT, leave)
    # Registered first, so called last. Then Python takes itself apart, and would die of the signal;
    # all work is done, so it is too late for an interrupt.
    atexit.register(_signal.signal, _signal.SIGINT, _signal.SIG_IGN)


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


def leave(_number: int, _frame: "FrameType | None", errors: int = 2) -> "NoReturn":
    """End at once, with one line on the file handle `errors`."""
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    try:  # noqa: SIM105 - contextlib takes longer to load
        os.write(errors, b"distal: interrupted\n")
    except OSError:
        pass  # nobody reads it
    end()


def end() -> "NoReturn":
    """End at once, without a word."""
    for act in last_acts:
        try:
            act()
        except Exception:  # noqa: S112
            continue  # the others still have to end
    os._exit(130)
