"""The wheel: installed by itself, it does what the repository does, from any folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import distal

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a fresh environment, beside the packages that it needs; return its bin folder.

    They are found where this Python has them, so that nothing is fetched.
    """
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True, symlinks=True)
    pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index")
    subprocess.run([*pip, "--disable-pip-version-check", wheel], check=True)
    (packages,) = folder.glob("lib/*/site-packages")
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin"


def run(folder: Path, *words: str | Path) -> str:
    """Return what a command prints that knows nothing of this process's Python."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(words, cwd=folder, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    src = ROOT / "src"
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = {path.relative_to(src).as_posix() for path in (src / "distal").rglob("*") if path.is_file()}
    assert packed == {name for name in files if "__pycache__" not in name}


def test_its_description_has_no_link_that_is_dead_outside_the_repository(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        described = archive.read(name).decode()
    assert "\n# Distal\n" in described
    targets = re.findall(r'\]\(([^)]*)\)|src="([^"]*)"', described)
    assert targets
    assert all("".join(target).startswith("https://") for target in targets)


def test_its_command_runs_from_another_folder(installed: Path, tmp_path: Path) -> None:
    here = run(tmp_path, installed / "python", "-c", "import distal; print(distal.__file__)")
    assert Path(here.strip()).is_relative_to(installed.parent)
    # In another folder engine cpu would be compiled again, which takes long.
    learn = ["learn", "champion:1", "--maze", "narrow-t", "--episodes", "2", "--engine", "reference"]
    printed = run(tmp_path, installed / "distal", *learn, "--json")
    assert f'"version": "{distal.__version__}"' in printed
    assert printed == run(tmp_path, installed / "python", "-m", "distal", *learn, "--json")


def test_its_pages_are_there(installed: Path, tmp_path: Path) -> None:
    joined = "from distal.show import modules; print(modules.joined('watch'), modules.asset('watch.html'))"
    assert run(tmp_path, installed / "python", "-c", joined)
