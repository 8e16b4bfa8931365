"""A finished evolution that several tests read."""

from __future__ import annotations

from pathlib import Path

import pytest

from distal import evolve
from tests.search.test_run_folder import SMALL


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished evolution."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    evolve("dsp", **SMALL, out=folder)
    return folder
