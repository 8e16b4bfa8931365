"""What holds for every study: its stages, its progress, its folder, its files, its command, its document."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from distal import InputError
from distal.base.colours import DARK, LIGHT
from distal.base.folders import read_manifest
from distal.cli import main
from distal.cli.study import show
from distal.engines import Batch
from distal.evaluation.trials import batch_of
from distal.model.maze import triple_t_maze
from distal.model.settings import Settings
from distal.studies import figures, stages
from distal.studies.outline import outline
from distal.studies.registry import all_studies
from distal.studies.report import Figure, Sheet, to_markdown
from distal.studies.stages import Event
from distal.studies.study import Based, Study
from tests.given import some
from tests.studies.conftest import PICTURE, SEED, STUDIES, Finished

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.usefixtures("rough")
each = pytest.mark.parametrize("name", STUDIES)
each_read = pytest.mark.parametrize(
    "name", ["readings", "tasks", "tasks_steps", "beyond", "rivals"]
)  # from its numbers


def asked(study: type[Study[Any]], **more: str) -> Study[Any]:
    given: dict[str, Any] = (
        {"settings": Settings(), "maze": triple_t_maze()} if issubclass(study, Based) else {}
    )
    return study(**given, **more)


def numbers(outcome: Any) -> dict[str, Any]:
    """Return all numbers but the times."""
    return {name: value for name, value in outcome.to_dict().items() if name != "seconds"}


@pytest.mark.parametrize("study", all_studies(), ids=lambda study: study.name)
def test_every_stage_has_a_name_of_its_own(study: type[Study[Any]]) -> None:
    names = [stage.name for stage in asked(study).plan]
    assert len(names) == len(set(names)) >= 4


@each
def test_progress_tells_of_every_part_from_nothing_to_all(name: str, finished: Finished) -> None:
    finished(name)
    told = STUDIES[name].told
    with pytest.MonkeyPatch.context() as patch:
        STUDIES[name].shrink(patch)
        planned = outline(asked(STUDIES[name].study, **STUDIES[name].asked).plan)
        if name != "readings":  # where a maze without a name is tried, one more is
            assert set(told) == {shown.name for shown in planned}
    for done in told.values():
        assert done[0] == 0
        assert done == sorted(done)
        assert done[-1] == 1


@each_read
@pytest.mark.usefixtures("at_tiny_scale")
def test_a_study_is_read_back_as_it_was_written(name: str, finished: Finished) -> None:
    (outcome, folder), report = finished(name), STUDIES[name].study.report_class
    data = json.loads((folder / report.data).read_text())
    read: Any = report.of
    again = read.from_dict(data)
    assert again.to_dict() == data
    assert again.outcomes == outcome.outcomes
    page = to_markdown(report.title, report(again).blocks())
    assert page == (folder / (report.text or report.page)).read_text(encoding="utf-8")
    manifest = some(read_manifest(folder))
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there <= {*manifest.files, "manifest.json"}  # it names what may be written: a set has one figure
    (parts,) = (part for part in ("variants", "tasks", "questions") if part in data)
    entries = data[parts]
    wrong: Any
    for wrong in (entries[1:], entries[::-1], [{}] * len(entries), "none"):
        with pytest.raises(InputError, match=read.HOLDS):
            read.from_dict({**data, parts: wrong})
    with pytest.raises(InputError, match=f"not a {read.HOLDS}"):
        read.from_dict({"format": "distal-results"})


@each
def test_figures_have_colours_that_dark_ground_knows(name: str, finished: Finished) -> None:
    outcome, folder = finished(name)
    drawn = [one for one in STUDIES[name].study.report_class(outcome).blocks() if isinstance(one, Figure)]
    assert drawn
    roles = {colour: role for role, colour in LIGHT.items()}
    for figure in drawn:
        svg = (folder / "figures" / f"{figure.name}.svg").read_text(encoding="utf-8")
        style, drawing = svg.split("</style>", 1)
        used = set(re.findall(r"(fill|stroke): (#\w+)", drawing))
        assert used
        for part, colour in used:
            assert f'[style*="{part}: {colour}"] {{ {part}: {DARK[roles[colour]]} !important; }}' in style
        assert "<image" not in drawing  # pixels have one colour for good
        assert not re.findall(r"(?:fill|stroke): #", figures.themed(drawing))
        assert (folder / "figures" / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")


@each_read
@pytest.mark.usefixtures("at_tiny_scale")
def test_an_interrupted_study_resumes_and_does_only_what_is_missing(
    name: str, finished: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, whole = finished(name)
    _, part = list(STUDIES[name].told)[:2]

    def stop(event: Event) -> None:
        if event.stage.name == part and event.done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        STUDIES[name].run(seed=SEED, out=tmp_path, progress=stop)
    kept = {path.name for path in tmp_path.glob("*.npz")}
    assert kept
    assert kept < {path.name for path in whole.glob("*.npz")}
    assert numbers(STUDIES[name].run(seed=SEED, out=tmp_path)) == numbers(outcome)
    run: list[Batch] = []

    def counted(*given: Any, **options: Any) -> Batch:
        run.append(batch_of(*given, **options))
        return run[-1]

    monkeypatch.setattr(stages, "batch_of", counted)
    first, *_, last = sorted(tmp_path.glob("*.npz"))
    first.unlink()
    last.write_bytes(b"damaged")
    assert numbers(STUDIES[name].run(seed=SEED, out=tmp_path)) == numbers(outcome)
    assert len(run) == 2
    with pytest.raises(InputError, match=r"with other options \(seed 3\)"):
        STUDIES[name].run(seed=SEED + 1, out=tmp_path)


@each_read
@pytest.mark.usefixtures("at_tiny_scale", "undrawn")
def test_the_command_prints_the_summary_and_writes_the_report(
    name: str, finished: Finished, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (outcome, folder), report = finished(name), STUDIES[name].study.report_class
    Path("maze.txt").write_text(PICTURE)
    shutil.copytree(folder, "out")  # all is stored: the command reads it
    Path("out", report.page).unlink()
    options = [STUDIES[name].study.name, *STUDIES[name].options, "--seed", str(SEED), "--out", "out"]
    assert main(options) == 0
    captured = capsys.readouterr()
    assert Path("out", report.page).exists()
    assert f"out/{report.page}" in captured.out
    assert max(map(len, captured.out.splitlines())) <= 100
    printed = " ".join(captured.out.split())
    for block in report(outcome).summary():
        assert getattr(block, "title", "") in printed
    for shown in STUDIES[name].told:
        assert shown.split(":")[0] in captured.err or name == "beyond"
    assert "together, if nothing is stored yet" in captured.err
    assert main([*options, "--json"]) == 0
    kept = json.loads(Path("out", report.data).read_text())
    assert json.loads(capsys.readouterr().out) == kept
    assert {**kept, "seconds": 0} == {**numbers(outcome), "seconds": 0}
    assert main([*options, "--seed", "4"]) == 2
    assert "other options" in capsys.readouterr().err


@each_read
@pytest.mark.usefixtures("exact")
def test_a_terminal_of_80_columns_shows_every_word_of_the_summary(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    report: Any = STUDIES[name].study.report_class
    kept = report.of.from_dict(json.loads((DOCS / f"{name}.json").read_text("utf-8")))
    summary = report(kept).summary()
    show(summary, Path("page"))
    printed = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert max(map(len, printed.splitlines())) <= 80
    words = set(printed.split())
    for table in (block for block in summary if isinstance(block, Sheet)):
        for row in (table.headings, *(row for _, rows in table.sections for row in rows)):
            assert {word for cell in row for word in cell.split()} <= words
