"""What a call is refused with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from distal import InputError


def refused(call: Callable[[], object]) -> str:
    """Return the line, and it is one, with which a call is refused."""
    with pytest.raises(InputError) as refusal:
        call()
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def assert_damage_is_refused(path: Path, load: Callable[[Path], object]) -> None:
    """Assert that a file is refused where it is cut short, and no other error is raised by a wrong byte."""
    load(path)  # nothing is wrong with it yet
    data = path.read_bytes()
    for length in (0, 10, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        assert ": it is " in refused(partial(load, path))
    for place in range(30, len(data), 97):
        path.write_bytes(data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :])
        with suppress(InputError):  # or it is a byte that says nothing
            load(path)
