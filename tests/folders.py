"""Folders as they were: all that lies in one, and files that are forged with a checksum that fits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from distal.base.folders import fingerprint


def snapshot(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Return a folder and all that is in it: the kind, when it was changed, a checksum of what it holds."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        held = str(path.readlink()) if path.is_symlink() else ""
        if path.is_file() and not path.is_symlink():
            held = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(folder))] = status.st_mode, status.st_mtime_ns, held
    return found


def sealed(data: dict[str, Any]) -> dict[str, Any]:
    """Return what a sealed file says with the checksum that fits."""
    content = {name: value for name, value in data.items() if name not in ("format", "version", "sha256")}
    return {**data, "sha256": fingerprint(content)}


def resealed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a sealed file says, and give it the checksum that fits."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(sealed(data)))


def reconfigured(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the configuration of runs, and the checksum that their state has of it."""
    resealed(folder / "config.json", change)
    config = json.loads((folder / "config.json").read_text())
    apart = ("format", "version", "sha256", "generations")
    fits = fingerprint({key: value for key, value in config.items() if key not in apart})
    resealed(folder / "state.json", lambda state: state.update(config=fits))
