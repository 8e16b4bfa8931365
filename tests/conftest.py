"""Set-up of the tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

import distal

# Fixed cases in continuous integration, fresh ones elsewhere.
settings.register_profile("local", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the cpu engine before the workers start, so that none of them waits or talks about it."""
    if not hasattr(config, "workerinput"):
        distal.learn("paper:1", episodes=1, trials=1)
        distal.climb(distal.HillClimbing(0.1, 0.1, 0.1), episodes=1, trials=1)
