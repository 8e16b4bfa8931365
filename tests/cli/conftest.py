"""Files that several commands are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mazes import T


@pytest.fixture
def maze_file(tmp_path: Path) -> str:
    path = tmp_path / "a maze.txt"
    path.write_text(str(T) + "\n")
    return str(path)
