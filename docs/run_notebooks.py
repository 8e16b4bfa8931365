"""Run the notebooks and write them with what they print: `python docs/run_notebooks.py [NOTEBOOK ...]`.

All of docs/notebooks if none is named; `--out FOLDER` writes them elsewhere. It takes half a
minute on two cores, once the engine is compiled. A notebook is written the same way every
time, so that a diff shows what has changed and nothing else: cells keep their ids, and no
times, paths or versions are kept. Warnings are errors.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from address import installed_from, repository
from nbclient import NotebookClient
from traitlets.config import Config

FOLDER = Path(__file__).parent / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT = ("mystnb", "tags")  # what the site reads of a cell
STRICT = (  # as in the tests; the kernel's own code may warn
    "--IPKernelApp.exec_lines=import warnings; warnings.simplefilter('error'); "
    "warnings.filterwarnings('ignore', module='ipykernel')"
)
COMPILING = re.compile(r"(compiling engine cpu.*\n?)+")  # said on a machine's first run alone
LONGEST = 600  # seconds for a cell, in which the engine may have to be compiled


def run(path: Path) -> Any:
    """Run a notebook in a kernel and a folder of its own; return it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # Sockets are files, so no network is needed. The user's set-up of IPython, and a backend of
        # Matplotlib that shows no pictures in a notebook, are left out.
        kernel = {"transport": "ipc", "connection_file": str(Path(folder, "kernel.json"))}
        client = NotebookClient(
            notebook, kernel_name="python3", timeout=LONGEST, record_timing=False, coalesce_streams=True,
            extra_arguments=[STRICT], resources={"metadata": {"path": folder}},
            config=Config(KernelManager=kernel),
        )  # fmt: skip
        own = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
        client.execute(env={**own, "IPYTHONDIR": str(Path(folder, "ipython"))})
    return tidied(notebook)


def tidied(notebook: Any) -> Any:
    """Return a notebook without anything that differs from one machine to the next."""
    notebook.metadata = METADATA
    for cell in notebook.cells:
        cell.metadata = {name: value for name, value in cell.metadata.items() if name in KEPT}
        if cell.cell_type == "code":
            cell.source = installed_from(cell.source, repository())
            cell.outputs = [
                output for output in cell.outputs if not COMPILING.fullmatch(output.get("text", ""))
            ]
    return notebook


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run notebooks and keep what they print.")
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to write them; else in place")
    asked = parser.parse_args()
    for path in asked.notebooks or sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(run(path), (asked.out or path.parent) / path.name)
