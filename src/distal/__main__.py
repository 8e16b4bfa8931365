"""`python -m distal`, the same as `distal`."""

import os
import signal
import sys
from types import FrameType


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """End with one line: nothing has begun, and a traceback through half an import helps nobody."""
    os.write(2, b"distal: interrupted\n")
    os._exit(130)


if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)
    from distal.cli import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
else:
    from distal.cli import main

sys.exit(main())
