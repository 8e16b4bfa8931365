"""Folders on disk: what is not ours is never touched; what is forged is refused before anything changes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import distal
from distal import InputError, evolve, reproduce, resume, study_readings, write_report
from distal.base import folders
from distal.base.folders import Folder, Manifest, read_manifest
from distal.cli import main
from distal.search import run_folder
from distal.search.contents import summary
from distal.search.recorder import Step
from distal.studies.plans.reproduce import Experiments

# A private function: reading alone is watched, without the work that follows.
from distal.studies.stages import Event, _stored_curves
from distal.studies.study import Scale
from tests.folders import reconfigured, resealed, snapshot
from tests.given import some
from tests.mazes import T

pytestmark = pytest.mark.usefixtures("rough")

SMALL: dict[str, Any] = {
    "runs": 2, "generations": 2, "trials": 1, "episodes": 5, "steps": 8, "maze": T, "hidden": 5,
}  # fmt: skip
TINY = Scale("quick", runs=2, generations=1, episodes=120)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folders") / "finished"
    evolve("dsp", **SMALL, out=folder)
    return folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def version_0_2(tmp_path: Path) -> Path:
    """Return a folder as that version left it: all genes in one column."""
    return shutil.copytree(Path(__file__).parents[1] / "version_0_2", tmp_path / "version_0_2")


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folders") / "reproduction"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(Experiments.SCALES, "quick", TINY)
        reproduce("quick", out=folder)
    return folder


@pytest.fixture
def reproduction(reproduced: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a finished reproduction; another one at the same scale takes no time."""
    monkeypatch.setitem(Experiments.SCALES, "quick", TINY)
    return reproduced


@pytest.fixture
def folder(reproduction: Path, tmp_path: Path) -> Path:
    """Return a copy of it."""
    shutil.copytree(reproduction, tmp_path / "copy")
    return tmp_path / "copy"


# ------------------------------------------------------------------ files of other people

FOREIGN = {
    "measurements.npz": b"years of work",
    "state.json": b"{}",
    "config.json": b'{"a camera": 1}',
    "figures/holiday.png": b"the sea",
    "tables/summary.csv": b"1,2,3",
    "winners/run-01.json": b"gold",
}


def start_over(out: Path) -> list[Callable[[], object]]:
    return [
        lambda: evolve("dsp", **SMALL, out=out, force=True),
        lambda: reproduce("quick", out=out, force=True),
        lambda: study_readings("quick", out=out, force=True),
    ]


@pytest.mark.parametrize("names", [*([name] for name in FOREIGN), list(FOREIGN)])
def test_force_is_refused_by_name_in_a_folder_that_distal_did_not_make(
    names: list[str], tmp_path: Path
) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(FOREIGN[name])
    before = snapshot(tmp_path)
    first = re.escape(min(name.split("/")[0] for name in names))
    for begin in start_over(tmp_path):
        with pytest.raises(InputError, match=f"is not empty and was not made by distal: it holds '{first}'"):
            begin()
    assert snapshot(tmp_path) == before


def test_force_removes_what_the_manifest_names_and_nothing_else(copy: Path) -> None:
    named = some(read_manifest(copy))
    there = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    assert there == {*named.files, "manifest.json"}
    for name, data in (("thesis.tex", b"years"), ("winners/medal.txt", b"gold"), ("more.npz", b"1")):
        (copy / name).write_bytes(data)
    evolve("hc", **{**SMALL, "runs": 1, "generations": 0}, out=copy, force=True)
    now = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    ours = {*run_folder.run_files(1), "manifest.json"}
    assert now == {*ours, "thesis.tex", "winners/medal.txt", "more.npz"}


def test_force_is_refused_where_it_would_overwrite_a_file_of_another(copy: Path) -> None:
    (copy / "winners" / "run-03.json").write_text("gold")  # a third run would write it
    before = snapshot(copy)
    with pytest.raises(InputError, match=r"holds 'winners/run-03\.json', which distal did not write"):
        evolve("dsp", **{**SMALL, "runs": 3}, out=copy, force=True)
    assert snapshot(copy) == before


def test_a_folder_that_holds_other_work_of_ours_is_refused(copy: Path, reproduction: Path) -> None:
    before = snapshot(copy), snapshot(reproduction)
    with pytest.raises(InputError, match="holds an evolution, not a reproduction; name another"):
        reproduce("quick", out=copy, force=True)
    with pytest.raises(InputError, match="holds a reproduction, not an evolution; name another"):
        evolve("dsp", **SMALL, out=reproduction, force=True)
    assert (snapshot(copy), snapshot(reproduction)) == before


@pytest.mark.usefixtures("undrawn")
def test_a_report_overwrites_no_file_of_another_and_links_only_its_own(
    reproduction: Path, tmp_path: Path
) -> None:
    result = reproduce("quick", out=reproduction)
    (tmp_path / "results.json").write_text("years of work")
    with pytest.raises(InputError, match=r"holds 'results\.json', which distal did not write"):
        write_report(result, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]
    (tmp_path / "results.json").unlink()
    (tmp_path / "javascript:alert(1)").write_text("x")
    (tmp_path / "thesis.tex").write_text("years of work")
    page = write_report(result, tmp_path).read_text()
    assert "javascript:" not in page
    assert "thesis" not in page
    links = {link for link in re.findall(r'href="([^"#]+)"', page) if not link.startswith("http")}
    manifest = some(read_manifest(tmp_path))
    assert links == set(manifest.files) - {"report.html", "evolved_rules.json"}  # the page, and what it names
    write_report(result, tmp_path)  # once more, over its own files


# ------------------------------------------------------------------ manifests


def refused(folder: Path, problem: str | None = None) -> None:
    """Assert that nothing resumes a folder, in one line, and that nothing in it has changed."""
    before = snapshot(folder.parent)
    for use in (resume, summary, lambda out: resume(out, generations=9)):
        with pytest.raises(InputError, match=problem) as refusal:
            use(folder)
        assert "\n" not in str(refusal.value)
    assert snapshot(folder.parent) == before


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda data: data.update(distal="9.9.9"), r"was made by Distal 9\.9\.9, this is"),
        (lambda data: data.update(distal=9), "9 is not a version of Distal"),
        (lambda data: data.update(version=2), "has version 2, this release reads 1"),
        (lambda data: data.update(format="x"), "was not written by distal"),
        (lambda data: data.update(holds=["x"]), "does not say what the folder holds"),
        (lambda data: data.update(holds="a \x1b[31mred"), "control characters"),
        (lambda data: data.update(files="config.json"), "has no list of files"),
        (lambda data: data.update(more=1), "does not say what the folder holds"),
        *(
            (lambda data, name=name: data["files"].append(name), "is not a file inside the folder")
            for name in (
                *("../other", "/etc/passwd", "a//b", "winners/../../x", "", ".", "a/", ".hidden"),
                *(5, None, ["a"]),
            )
        ),
    ],
)
def test_a_manifest_that_is_not_ours_of_a_later_release_or_names_files_elsewhere_is_refused(
    damage: Callable[[dict[str, Any]], object], problem: str, copy: Path
) -> None:
    (copy.parent / "other").write_text("not ours")
    resealed(copy / "manifest.json", damage)
    before = snapshot(copy.parent)
    for use in (resume, lambda out: evolve("dsp", **SMALL, out=out, force=True)):
        with pytest.raises(InputError, match=problem):
            use(copy)
    assert snapshot(copy.parent) == before


def test_a_manifest_whose_checksum_does_not_hold_is_refused(copy: Path) -> None:
    text = (copy / "manifest.json").read_text()
    (copy / "manifest.json").write_text(text.replace("winners.csv", "thesis.tex"))
    (copy / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="its checksum does not match"):
        evolve("dsp", **SMALL, out=copy, force=True)
    assert (copy / "thesis.tex").exists()


LINKED = ("config.json", "state.json", "generations.csv", "winners", "winners/run-01.json")


@pytest.mark.parametrize("use", ["resume", "force", "runs", "inspect"])
@pytest.mark.parametrize("name", ["manifest.json", "winners.csv", *LINKED])
def test_a_file_that_is_a_link_into_another_folder_is_refused_by_every_command(
    name: str, use: str, copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(copy, other)
    if (copy / name).is_dir():
        shutil.rmtree(copy / name)
    else:
        (copy / name).unlink()
    (copy / name).symlink_to(Path("../" * name.count("/")) / "../other" / name)
    before = snapshot(other), snapshot(copy)
    words = {
        "resume": ["evolve", "--resume", str(copy), "--generations", "3"],
        "force": ["evolve", "--runs", "2", "--generations", "1", "--out", str(copy), "--force"],
        "runs": ["runs", str(copy)],
        "inspect": ["inspect", str(copy), "--trials", "1", "--episodes", "1"],
    }
    read = {"runs": LINKED[:3], "inspect": LINKED[3:]}
    code = main(words[use])
    if use not in read or name in read[use]:
        assert code == 2
        assert "is not a plain f" in capsys.readouterr().err  # file, or folder
    assert (snapshot(other), snapshot(copy)) == before


@pytest.mark.parametrize("name", ["manifest.json", "reproduction.json", "evolve-dsp/manifest.json"])
@pytest.mark.parametrize("force", [False, True])
def test_a_report_whose_files_are_links_is_refused(
    name: str, force: bool, reproduction: Path, tmp_path: Path
) -> None:
    copy, other = tmp_path / "copy", tmp_path / "other"
    for place in (copy, other):
        shutil.copytree(reproduction, place)
    (copy / name).unlink()
    (copy / name).symlink_to(other / name)
    before = snapshot(other)
    with pytest.raises(InputError, match="is not a plain file; move it away"):
        reproduce("quick", out=copy, force=force)
    assert snapshot(other) == before


@pytest.mark.parametrize("name", run_folder.run_files(1))
def test_a_pipe_in_the_place_of_a_file_is_refused_without_waiting(name: str, copy: Path) -> None:
    (copy / name).unlink()
    os.mkfifo(copy / name)
    for use in (resume, lambda out: evolve("dsp", **SMALL, out=out, force=True)):
        with pytest.raises(InputError, match=r"plain file|regular file|fewer rows|no config\.json"):
            use(copy)


def test_a_folder_writes_only_what_it_named(tmp_path: Path) -> None:
    with Folder(tmp_path / "new") as folder:
        folder.claim("a test", ["a.txt", "inner/b.txt"], known=())
        folder.write_text("inner/b.txt", "b")
        for name in ("c.txt", "../a.txt", "/a.txt", "inner/../a.txt"):
            with pytest.raises(InputError, match="is not a file of folder"):
                folder.write_text(name, "c")
    assert Manifest("a test", ("a.txt", "inner/b.txt")) == read_manifest(tmp_path / "new")


# ------------------------------------------------------------------ forged runs


def run(state: dict[str, Any]) -> dict[str, Any]:
    first: dict[str, Any] = state["runs"][0]
    return first


def winner(state: dict[str, Any]) -> dict[str, Any]:
    first: dict[str, Any] = state["winners"][0]
    return first


STATES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a path as the number of a run": lambda state: winner(state).update(run="../../../tmp/x"),
    "another run": lambda state: winner(state).update(run=2),
    "no winner's learner": lambda state: winner(state).pop("learner"),
    "a learner of another kind": lambda state: winner(state).update(learner={"sigma": 1}),
    "no number as fitness": lambda state: winner(state).update(remeasured="low"),
    "chance without its p": lambda state: winner(state).pop("p"),
    "a share above 1": lambda state: winner(state).update(superiority=1.5),
    "a p without chance": lambda state: winner(state).update(chance=None),
    "a winner from the future": lambda state: winner(state).update(generation=3),
    "too few winners": lambda state: state["winners"].pop(),
    "no runs": lambda state: state.update(runs=[]),
    "too many runs": lambda state: state["runs"].append(run(state)),
    "a later generation": lambda state: run(state).update(generation=7),
    "an earlier generation": lambda state: run(state).update(generation=1),
    "fitness that is too short": lambda state: run(state)["fitness"].pop(),
    "fitness without end": lambda state: run(state)["fitness"].__setitem__(0, float("inf")),
    "a gene that is no change": lambda state: run(state)["discrete"][0].__setitem__(0, 300),
    "a number out of range": lambda state: run(state)["continuous"][0].__setitem__(0, 1.5),
    "a missing gene": lambda state: run(state)["continuous"][0].pop(),
    "genes that are deeper": lambda state: run(state)["discrete"].__setitem__(0, [[0]] * 32),
    "born later": lambda state: run(state)["born"].__setitem__(0, 99),
    "no best": lambda state: run(state).pop("best"),
    "rows that are too many": lambda state: state["rows"].update(bytes=10**12),
    "rows without a checksum": lambda state: state["rows"].pop("sha256"),
    "another configuration": lambda state: state.update(config="0" * 64),
    "another version": lambda state: state.update(version=1),
    "a field that nobody knows": lambda state: state.update(extra=1),
    "a missing field": lambda state: state.pop("winners"),
}


@pytest.mark.parametrize("name", STATES)
def test_a_forged_state_is_refused_and_nothing_changes(name: str, copy: Path) -> None:
    resealed(copy / "state.json", STATES[name])
    refused(copy, "damaged|is not a JSON number")


CONFIGS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a later release": lambda config: config.update(distal="9.9.9"),
    "more runs": lambda config: config.update(runs=3),
    "runs that are text": lambda config: config.update(runs="../.."),
    "no runs": lambda config: config.update(runs=0),
    "fewer generations": lambda config: config.update(generations=1),
    "another learner": lambda config: config.update(learner="hc"),
    "a larger population": lambda config: config.update(population=15),
    "more elites than individuals": lambda config: config.update(elite_count=14),
    "a maze with a hole": lambda config: config["maze"].__setitem__(0, "###.###"),
    "a heading that is none": lambda config: config.update(heading=5),
    "a negative seed": lambda config: config.update(seed=-1),
    "a field that nobody knows": lambda config: config.update(colour="red"),
    "a reading that is none": lambda config: config.update(normalise="often"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_forged_configuration_is_refused_and_nothing_changes(name: str, copy: Path) -> None:
    reconfigured(copy, CONFIGS[name])
    refused(copy)


IN_COLUMNS = [
    ("\n1,1,", "\n2,1,"), ("\n1,1,", "\n1,2,"), ("\n2,2,", "\n2,2,nan,"), ("\n2,1,", '\n2,"1,'),
    (",alpha_o\r\n", "\r\n"), (",eta,theta,", ",theta,eta,"), ("run,", ""),
]  # fmt: skip
IN_ONE_COLUMN = [
    (",genotype\r\n", "\r\n"), (",genotype\r\n", ",genes\r\n"), ("\n1,1,", "\n1,2,"), ("0 0 0", "0,0 0")
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("copy", *change) for change in IN_COLUMNS] + [("version_0_2", *change) for change in IN_ONE_COLUMN],
)
def test_rows_that_do_not_fit_are_refused_even_with_the_right_checksum(
    name: str, old: str, new: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(name)
    text = (folder / "generations.csv").read_bytes().decode()
    assert old in text
    data = text.replace(old, new, 1).encode()
    (folder / "generations.csv").write_bytes(data)
    rows = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    resealed(folder / "state.json", lambda state: state.update(rows=rows))
    before = snapshot(folder)
    with pytest.raises(InputError, match=r"generations\.csv' is damaged"):
        resume(folder)
    assert snapshot(folder) == before


def test_a_folder_that_says_it_has_the_other_form_is_refused(copy: Path, version_0_2: Path) -> None:
    for folder, version, last in ((version_0_2, 3, "alpha_o"), (copy, 2, "genotype")):
        for name in ("config.json", "state.json"):
            data = json.loads((folder / name).read_text())
            (folder / name).write_text(json.dumps({**data, "version": version}))  # no seal covers it
        before = snapshot(folder)
        with pytest.raises(InputError, match=f"damaged: its columns are not run, generation, … {last}"):
            resume(folder)
        assert snapshot(folder) == before


# ------------------------------------------------------------------ what a kill leaves, and what is only read


def test_temporary_files_of_our_own_are_removed_by_the_next_resume(copy: Path) -> None:
    ours = [".state.json.abc_1234.tmp", ".manifest.json.abcdefgh.tmp", "winners/.run-01.json.abcdefgh.tmp"]
    others = [".thesis.tex.abcdefgh.tmp", ".state.json.tmp", ".state.json.ABC-1234.tmp", "notes.tmp"]
    for name in (*ours, *others):
        (copy / name).write_text("half")
    resume(copy)
    assert not any((copy / name).exists() for name in ours)
    assert all((copy / name).exists() for name in others)


def test_a_resumed_reproduction_removes_temporary_files_in_its_evolutions_too(reproduction: Path) -> None:
    left = [reproduction / ".test_dsp.npz.abcdefgh.tmp", reproduction / "evolve-dsp/.state.json.abcdefgh.tmp"]
    for path in left:
        path.write_text("half")
    reproduce("quick", out=reproduction)
    assert not any(path.exists() for path in left)


def test_a_finished_run_is_only_read(copy: Path) -> None:
    before = snapshot(copy)
    assert len(resume(copy).winners) == 2
    assert snapshot(copy) == before


@pytest.mark.parametrize("there", [[], ["manifest.json"], ["manifest.json", "config.json"]])
def test_a_kill_before_the_first_rows_is_no_obstacle(
    there: list[str], finished: Path, tmp_path: Path
) -> None:
    for name in there:
        shutil.copy(finished / name, tmp_path)
    (tmp_path / ".config.json.x1y2abcd.tmp").write_text("{")
    if "config.json" in there:
        resume(tmp_path)
    else:
        evolve("dsp", **SMALL, out=tmp_path)
    assert (tmp_path / "state.json").read_bytes() == (finished / "state.json").read_bytes()


def test_a_folder_is_looked_over_once_before_an_evolution_begins_in_it(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, check = Mock(side_effect=folders.read_manifest), Mock(side_effect=folders.inside)
    monkeypatch.setattr(folders, "read_manifest", read)
    monkeypatch.setattr(folders, "inside", check)
    # A private method: the first that changes something.
    monkeypatch.setattr(Folder, "_name", Mock(side_effect=InterruptedError))
    with pytest.raises(InterruptedError):
        evolve("dsp", **SMALL, out=copy, force=True)
    assert read.call_count == 1
    names = [call.args[1] for call in check.call_args_list]
    assert len(names) == len(set(names)) > 0


def test_a_run_that_is_refused_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        evolve("dsp", **{**SMALL, "trials": 0}, out=tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


def test_a_backup_of_hard_links_keeps_what_it_holds(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run", copy_function=shutil.copy)
    shutil.copytree(tmp_path / "run", tmp_path / "backup", copy_function=os.link)
    before = {path: path.read_bytes() for path in (tmp_path / "backup").rglob("*.csv")}
    resume(tmp_path / "run", generations=4)
    assert all(path.read_bytes() == data for path, data in before.items())
    resume(tmp_path / "backup")
    assert resume(tmp_path / "run").config.generations == 4


def test_a_forked_process_does_not_hold_the_lock(copy: Path) -> None:
    with Folder(copy):
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
    try:
        resume(copy)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_rows_and_times_beyond_what_is_known_are_not_read(copy: Path) -> None:
    expected = resume(copy)
    for name in ("generations.csv", "seconds.csv"):
        with (copy / name).open("ab") as file:
            file.write(b"\xff\0" * 200_000)
            file.truncate(3 * 10**9)  # sparse
    found = resume(copy)
    assert (found.best == expected.best).all()
    assert (copy / "generations.csv").stat().st_size < 10**6
    assert (copy / "seconds.csv").stat().st_size < 10**6


# ------------------------------------------------------------------ stages


def test_an_evolution_with_other_options_inside_is_refused_before_it_is_resumed(folder: Path) -> None:
    shutil.rmtree(folder / "evolve-hc")

    def stop(step: Step) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        evolve("hc", **{**SMALL, "seed": 5}, out=folder / "evolve-hc", progress=stop)
    before = snapshot(folder / "evolve-hc")
    with pytest.raises(InputError, match="holds an evolution with other options"):
        reproduce("quick", out=folder)
    assert snapshot(folder / "evolve-hc") == before


@pytest.mark.parametrize("forgery", ["shape", "type", "negative", "pickle"])
def test_forged_curves_are_run_again(forgery: str, folder: Path) -> None:
    path = folder / "test_dsp.npz"
    with np.load(path) as stored:
        curves, key = stored["curves"], stored["key"]
    forged: Any = {
        "shape": curves[:, :-1],
        "type": curves.astype(np.float32),
        "negative": curves - 1000,
        "pickle": np.array([print], object),
    }[forgery]
    np.savez_compressed(path, curves=forged, key=key)
    run_again: list[str] = []

    def progress(event: Event) -> None:
        if event.done == 0 and not event.stage.runs:
            run_again.append(event.stage.name)

    again = reproduce("quick", out=folder, progress=progress)
    assert run_again == ["test_dsp"]
    assert (again.curves["dsp"] == curves).all()


def test_curves_that_are_larger_than_they_can_be_are_not_unpacked(
    reproduction: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with np.load(reproduction / "test_dsp.npz") as stored:
        shape, key = stored["curves"].shape, str(stored["key"])
    np.savez_compressed(tmp_path / "bomb.npz", curves=np.zeros(10**7, np.int32), key=np.array(key))
    assert (tmp_path / "bomb.npz").stat().st_size < 10**6
    assert _stored_curves(reproduction / "test_dsp.npz", key, shape) is not None

    def never(*arguments: object, **options: object) -> None:
        raise SystemExit("it is being unpacked")

    monkeypatch.setattr(np, "load", never)
    assert _stored_curves(tmp_path / "bomb.npz", key, shape) is None


def test_force_is_refused_while_another_works_in_a_folder_inside(reproduction: Path) -> None:
    with Folder(reproduction / "evolve-hc"), pytest.raises(InputError, match="is in use by another process"):
        reproduce("quick", out=reproduction, force=True)
    assert (reproduction / "evolve-hc" / "state.json").exists()


def test_a_damaged_evolution_inside_is_refused_before_anything_is_run(folder: Path) -> None:
    (folder / "evolve-hc-otherwise" / "config.json").write_text("{}")
    (folder / "test_dsp.npz").unlink()
    before = snapshot(folder)
    with pytest.raises(InputError, match="was not written by distal evolve"):
        reproduce("quick", out=folder)
    assert snapshot(folder) == before


def test_a_finished_reproduction_is_only_read(reproduction: Path) -> None:
    reproduce("quick", out=reproduction)
    before = snapshot(reproduction)
    reproduce("quick", out=reproduction)
    assert snapshot(reproduction) == before


def test_a_refusal_names_the_options_that_differ(reproduction: Path) -> None:
    with pytest.raises(InputError, match=r"with other options \(seed 0, trace_pre current\)"):
        reproduce("quick", out=reproduction, seed=1, trace_pre="previous")


def test_a_reproduction_without_a_manifest_is_refused(reproduction: Path, tmp_path: Path) -> None:
    """As version 0.1 left it."""
    folder = tmp_path / "old"
    shutil.copytree(reproduction, folder)
    (folder / "manifest.json").unlink()
    before = snapshot(folder)
    for force in (False, True):
        with pytest.raises(InputError, match="was not made by distal"):
            reproduce("quick", out=folder, force=force)
    assert snapshot(folder) == before


@pytest.mark.usefixtures("undrawn")
def test_every_file_that_a_reproduction_may_write_is_written(reproduction: Path) -> None:
    write_report(reproduce("quick", out=reproduction), reproduction)
    manifest = some(read_manifest(reproduction))
    missing = {name for name in manifest.files if not (reproduction / name).is_file()}
    assert missing == set()
    assert distal.__version__ in (reproduction / "manifest.json").read_text()
