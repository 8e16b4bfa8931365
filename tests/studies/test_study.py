"""A study and its folder: what is kept, what is refused, how long it takes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from distal import InputError
from distal.studies.experiments import reproduce
from distal.studies.reproduction import Reproduction
from distal.studies.stages import Event
from tests.mazes import T

pytestmark = pytest.mark.usefixtures("rough", "at_tiny_scale")

SMALL: dict[str, Any] = {"maze": T, "steps": 9, "hidden": 5}


def test_a_second_call_only_does_what_is_missing(tiny: tuple[Reproduction, Path], tmp_path: Path) -> None:
    result, folder = tiny
    (folder / "test_hc.npz").unlink()
    damaged = folder / "test_dsp.npz"
    damaged.write_bytes(damaged.read_bytes()[:1000])
    run: list[str] = []

    def told(event: Event) -> None:
        if event.done == 0:
            run.append(event.stage.name)

    again = reproduce("quick", seed=3, out=folder, progress=told)
    evolutions = ["evolve_dsp", "evolve_hc", "evolve_dsp_otherwise", "evolve_hc_otherwise"]  # read again
    assert run == [*evolutions[:2], "test_dsp", "test_hc", *evolutions[2:]]
    for test, curves in result.curves.items():
        assert (again.curves[test] == curves).all()
    assert again.evolved["dsp"].winners == result.evolved["dsp"].winners
    on_disk, in_memory = (reproduce("quick", out=out, **SMALL) for out in (tmp_path / "out", None))
    for test, curves in on_disk.curves.items():
        assert (in_memory.curves[test] == curves).all()


def test_a_folder_with_other_options_is_refused(tiny: tuple[Reproduction, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds a reproduction with other options"):
        reproduce("quick", seed=4, out=tiny[1])
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is not empty and was not made by distal"):
        reproduce("quick", out=tmp_path)


def test_force_starts_over_and_leaves_other_files_alone(
    tiny: tuple[Reproduction, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(tiny[1], folder)
    (folder / "thesis.tex").write_text("years of work")
    for damage in ("", "null", '{"evolve_dsp": "x"}', "[1"):
        (folder / "seconds.json").write_text(damage)
        reproduce("quick", seed=3, out=folder)  # times are for information: damaged ones stop nothing
    with pytest.raises(InputError, match="other options"):
        reproduce("quick", seed=4, out=folder)
    result = reproduce("quick", seed=4, out=folder, force=True, rules="published", **SMALL)
    assert result.seed == 4
    assert not (folder / "evolve-dsp").exists()
    assert not (folder / "report.html").exists()
    assert (folder / "thesis.tex").read_text() == "years of work"


def test_a_folder_in_use_is_refused(tiny: tuple[Reproduction, Path]) -> None:

    def meddle(event: Event) -> None:
        with pytest.raises(InputError, match="is in use by another process"):
            reproduce("quick", seed=5, out=tiny[1], force=True)

    reproduce("quick", seed=3, out=tiny[1], progress=meddle)
