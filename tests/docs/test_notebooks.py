"""The notebooks in docs/notebooks: each runs, without a network, and prints what is kept in it."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
SMALLEST = 2_000  # bytes of a picture that shows something
NUMBER = re.compile(r"\d+\.\d+")
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def run(folder: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run notebooks with the script that keeps them, without a network where the system can do that."""
    alone: list[str | Path] = ["unshare", "--map-root-user", "--net"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], check=False).returncode:
        alone = []
    python = [*alone, sys.executable, "-W", "error"]
    asked = [*python, DOCS / "run_notebooks.py", *paths, "--out", folder]
    return subprocess.run(asked, capture_output=True, text=True, check=False, timeout=300)


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def code(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def text_of(output: dict[str, Any]) -> str:
    """Return what an output says, in all its forms that are text."""
    shown = output.get("data", {})
    forms = [output.get("text", []), *(shown[kind] for kind in shown if kind.startswith("text/"))]
    return "\n".join("".join(form) for form in forms)


def pictures(cell: dict[str, Any]) -> list[bytes]:
    data = (output.get("data", {}) for output in cell["outputs"])
    return [base64.b64decode(one["image/png"]) for one in data if "image/png" in one]


def without_pictures(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with a word for each picture: fonts differ from one machine to the next."""
    for cell in code(notebook):
        for output in cell["outputs"]:
            if "image/png" in output.get("data", {}):
                output["data"] = "a picture"
    return notebook


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["evolve-and-inspect", "first-steps", "your-own-task"]


@each
def test_a_notebook_runs_and_prints_what_is_kept(path: Path, tmp_path: Path) -> None:
    done = run(tmp_path, path)
    assert done.returncode == 0, done.stderr
    ran = read(tmp_path / path.name)
    for cell in code(ran):
        assert all(len(picture) > SMALLEST for picture in pictures(cell)), cell["id"]
    now, kept = without_pictures(ran), without_pictures(read(path))
    for cell, before in zip(now["cells"], kept["cells"], strict=True):
        assert cell == before
    assert now == kept


@each
def test_what_is_kept_is_short_and_whole_and_names_no_machine(path: Path) -> None:
    notebook = read(path)
    assert 10 <= len(notebook["cells"]) <= 16
    assert notebook["cells"][0]["source"][0].startswith("# ")
    assert not re.search(r"/home/|/root/|/tmp/|site-packages|0x[0-9a-f]{6}", path.read_text(encoding="utf-8"))
    assert sum(len(pictures(cell)) for cell in code(notebook)) >= 2
    for cell in code(notebook):
        assert all(len(picture) > SMALLEST for picture in pictures(cell)), cell["id"]
        assert all(output["output_type"] != "error" for output in cell["outputs"]), cell["id"]
        assert not pictures(cell) or len(cell["metadata"]["mystnb"]["image"]["alt"]) > 20, cell["id"]


@each
def test_the_words_quote_numbers_that_the_cells_print(path: Path) -> None:
    cells = read(path)["cells"]
    printed = [text_of(output) for cell in cells for output in cell.get("outputs", [])]
    said = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert set(NUMBER.findall(said)) <= set(NUMBER.findall("\n".join(printed)))


@each
def test_no_score_is_shown_without_chance(path: Path) -> None:
    said = ["\n".join(map(text_of, cell["outputs"])) for cell in code(read(path))]
    scores = [text for text in said if re.search(r"fitness|fresh|mean return|EP", text)]
    assert scores
    assert all("chance" in text for text in scores)


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Return the bin folder of an environment with all that notebooks need, but without Distal.

    An editable package is not seen there: Python follows no .pth files of a folder that one names.
    """
    venv.create(tmp_path / "bare", with_pip=True, symlinks=True)
    (packages,) = (tmp_path / "bare").glob("lib/*/site-packages")
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    found = (tmp_path / "bare" / "bin" / "python", "-c", "import ipykernel, distal")
    done = subprocess.run(found, capture_output=True, text=True, check=False, env=offline())
    if "No module named 'distal'" not in done.stderr:
        pytest.skip("Distal is not installed as an editable package")
    return tmp_path / "bare" / "bin"


def offline(**more: str) -> dict[str, str]:
    """Return what lets pip install a checkout without a network: the build's tools are there."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    pip = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}  # 0: no isolation
    return {**own, **pip, **more}


def where(python: Path) -> str:
    """Return the file of the package that a Python finds."""
    asked = (python, "-c", "import distal; print(distal.__file__)")
    return subprocess.run(asked, capture_output=True, text=True, check=True, env=offline()).stdout


def test_a_notebook_installs_distal_from_its_checkout_where_it_is_missing(bare: Path) -> None:
    cells = {"".join(code(read(path))[0]["source"]) for path in NOTEBOOKS}
    (install,) = cells  # one for all
    program = "from IPython.core.interactiveshell import InteractiveShell as Shell\n"
    program += f"Shell.instance().run_cell({install!r}).raise_error()"
    run_it = (bare / "python", "-c", program)
    subprocess.run(run_it, cwd=DOCS / "notebooks", check=True, env=offline())
    assert str(bare.parent) in where(bare / "python")
    again = subprocess.run(run_it, cwd=bare, check=True, env=offline(), capture_output=True, text=True)
    assert again.stdout == ""  # it is there already, so no checkout is asked for


def test_binder_installs_the_checkout(bare: Path) -> None:
    path = os.pathsep.join((str(bare), os.environ["PATH"]))
    subprocess.run([ROOT / "binder" / "postBuild"], cwd=ROOT, check=True, env=offline(PATH=path))
    assert str(bare.parent) in where(bare / "python")
    name, number = (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8").strip().split("-")
    assert name == "python"
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"Programming Language :: Python :: {number}" in pyproject["project"]["classifiers"]


def cell(source: str, **more: Any) -> dict[str, Any]:
    own = {"cell_type": "code", "id": "only", "source": [source], "metadata": {}}
    return {**own, "outputs": [], "execution_count": None, **more}


def write(path: Path, *cells: dict[str, Any]) -> Path:
    """Write a notebook as an editor on another machine would have left it."""
    metadata = {"kernelspec": {"name": "mine", "display_name": "Mine"}, "language_info": {"version": "3.9"}}
    about = {"metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps({"cells": cells, **about}), encoding="utf-8")
    return path


def test_the_script_keeps_what_is_said_nothing_of_the_machine_and_no_notebook_that_warns(
    tmp_path: Path,
) -> None:
    source = "import sys\nprint('compiling engine cpu for DSP', file=sys.stderr)\nprint('kept')"
    kept = {"mystnb": {"image": {"alt": "what a picture shows"}}, "tags": ["remove-cell"]}
    stale = {"output_type": "stream", "name": "stdout", "text": ["old"]}
    metadata = {**kept, "execution": {"iopub.status.busy": "2020-01-01T00:00:00Z"}, "collapsed": False}
    path = write(tmp_path / "one.ipynb", cell(source, metadata=metadata, outputs=[stale]))
    warning = write(tmp_path / "two.ipynb", cell("import warnings\nwarnings.warn('late')"))
    (tmp_path / "out").mkdir()
    done = run(tmp_path / "out", path, warning)
    assert done.returncode == 1
    assert "UserWarning" in done.stderr
    assert [written.name for written in (tmp_path / "out").iterdir()] == ["one.ipynb"]
    ran = read(tmp_path / "out" / "one.ipynb")
    (only,) = ran["cells"]
    assert (only["id"], only["execution_count"], only["metadata"]) == ("only", 1, kept)
    assert only["outputs"] == [{"output_type": "stream", "name": "stdout", "text": ["kept\n"]}]
    assert ran["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
