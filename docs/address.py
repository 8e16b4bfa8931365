"""The public address of the repository, and what follows from it.

`Repository` under [project.urls] in pyproject.toml is the one place for it. While it is not filled in,
nothing is linked, and notebooks install Distal from the checkout alone.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_ADDRESS = re.compile(r'^ADDRESS = ".*"$', re.MULTILINE)


def repository(project: Path = PROJECT) -> str:
    """Return the address, or nothing if there is none."""
    if not project.is_file():
        return ""
    urls = tomllib.loads(project.read_text(encoding="utf-8"))["project"].get("urls", {})
    return str(urls.get("Repository", "")).rstrip("/").removesuffix(".git")


def links(notebook: str, address: str) -> str:
    """Return links that open a notebook, named by its path, where it can be run; for GitHub alone."""
    found = re.fullmatch(r"https://github\.com/([^/]+/[^/]+)", address)
    if found is None:
        return ""
    colab = f"https://colab.research.google.com/github/{found[1]}/blob/main/{notebook}"
    binder = f"https://mybinder.org/v2/gh/{found[1]}/main?labpath={notebook}"
    return f"[Open in Colab]({colab}) · [Open in Binder]({binder})"


def installed_from(source: str, address: str) -> str:
    """Return the code of a notebook's first cell with the address that it installs Distal from."""
    return _ADDRESS.sub(f'ADDRESS = "{address and f"git+{address}"}"', source)
