"""The source distribution: it holds all of the project, and its tests run from it alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Quick ones that compile nothing, and those that read files from outside of the package.
SOME = (
    "test_imports.py",
    "networks/test_network.py",
    "bench/test_bench.py::test_the_document_shows_the_run_that_is_kept",
    "bench/test_bench.py::test_the_document_names_the_last_tests_on_a_card",
    "docs/test_docs.py::test_links_within_the_project_lead_somewhere",
    "docs/test_docs.py::test_the_readmes_two_commands_are_in_the_makefile",
)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    build = (sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder))
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder / packed.name.removesuffix(".tar.gz")


def test_it_holds_every_file_of_the_project(unpacked: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    listed = subprocess.run(("git", "ls-files"), cwd=ROOT, check=True, capture_output=True, text=True).stdout
    there = {name for name in listed.splitlines() if (ROOT / name).exists()}
    assert {name for name in there if not (unpacked / name).exists()} == set()


def test_its_tests_run_from_it_alone(unpacked: Path) -> None:
    tests = [f"tests/{name}" for name in SOME]
    done = subprocess.run(
        (sys.executable, "-m", "pytest", "-q", "-n", "0", "--noconftest", *tests),
        cwd=unpacked, env={**os.environ, "PYTHONPATH": str(unpacked / "src")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
