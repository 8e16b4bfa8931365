"""What a call is refused with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from distal import InputError


def refused(call: Callable[[], object]) -> str:
    """Return the line, and it is one, with which a call is refused."""
    with pytest.raises(InputError) as refusal:
        call()
    assert "\n" not in str(refusal.value)
    return str(refusal.value)
