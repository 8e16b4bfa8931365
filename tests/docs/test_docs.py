"""The examples in the documents: every one runs, and prints what the document says it prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import pytest
from PIL import Image

import distal
from distal import learners, networks
from distal.cli import main
from distal.search import registry
from distal.tasks.pixels import SCALE
from distal.tasks.registry import TASKS
from tests import fuzz
from tests.given import some

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLAIN = re.compile(r"distal( [\w.:=,/-]+)*")
PIPED = re.compile(rf'({PLAIN.pattern}) \| (?P<rest>([^"]|"[^"]*")+)')  # quotes end on the line
DOCUMENTS = [
    "README.md",
    "docs/champions.md",
    "docs/cluster.md",
    "docs/your-method.md",
    "docs/comparing.md",
    "docs/conditions.md",
    "docs/do.md",
    "docs/environments.md",
    "docs/evolve-a-rule.md",
    "docs/export.md",
    "docs/extending.md",
    "docs/fast-environments.md",
    "docs/getting-started.md",
    "docs/index.md",
    "docs/inside-a-rule.md",
    "docs/own-loop.md",
    "docs/own-maze.md",
    "docs/own-task.md",
    "docs/compiled-task.md",
    "docs/progress.md",
    "docs/readings.md",
    "docs/reward.md",
    "docs/searching.md",
    "docs/watch.md",
]


def run_block(script: str, folder: Path) -> str:
    """Run a block of shell commands and return what they print.

    Plain commands of ours, and those at the head of a pipe, run in this process, which has imported and
    compiled all they need; the shell gets the others, with loops and files, which show that the installed
    program is there.
    """
    printed = []
    for ours, lines in groupby(script.splitlines(), runs_here):
        if ours:
            printed += [run_line(line, folder) for line in lines]
        else:
            printed.append(run_shell("\n".join(lines), folder))
    return "".join(printed)


def runs_here(line: str) -> bool:
    return PLAIN.fullmatch(line) is not None or PIPED.fullmatch(line) is not None


def run_line(line: str, folder: Path) -> str:
    piped = PIPED.fullmatch(line)
    return run_here(line) if piped is None else run_shell(piped["rest"], folder, run_here(piped[1]))


def run_here(line: str) -> str:
    out, errors = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        code = main(line.split()[1:])
    assert code == 0, errors.getvalue()
    check_told(errors.getvalue())
    return out.getvalue()


def run_shell(script: str, folder: Path, given: str | None = None) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path},
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    check_told(done.stderr)
    return done.stdout


def check_told(errors: str) -> None:
    """Check that stderr holds nothing but progress, and who does the work."""
    told = (
        "generation ",
        *("evolving: ", "learning: ", "comparing: ", "inspecting: "),  # how long it may take, if long
        "winners, measured again: ",
        "using engine ",
        "compiling engine steps",
        "cluster ",
        "compiling engine cpu",
    )
    assert all(line.startswith(told) for line in errors.splitlines()), errors


def squeezed(text: str) -> list[str]:
    """Return the lines without blank ones and trailing spaces, which no document needs to show."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.fixture
def forgetful() -> Iterator[None]:
    """Forget the learners, networks, searches and tasks that an example registers."""
    known: tuple[dict[str, Any], ...] = (learners.KINDS, learners.DEFAULTS, registry.ALGORITHMS, TASKS)
    before = [dict(one) for one in known]
    networks_before = set(networks.NETWORKS)
    yield
    for word in set(networks.NETWORKS) - networks_before:
        networks.unregister(word)
    for one, entries in zip(known, before, strict=True):
        one.clear()
        one.update(entries)


class Written:
    """Stands in for the writer of tensorboardX and for a run of wandb: keeps what it is given."""

    made: list[Written]

    def __init__(self, **options: Any) -> None:
        self.options, self.logged = options, list[tuple[int, dict[str, float]]]()
        self.config: dict[str, Any] = {}
        self.summary: dict[str, Any] = {}
        self.open = True
        self.made.append(self)

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        self.log({tag: scalar_value}, global_step)

    def log(self, data: dict[str, float], step: int) -> None:
        assert self.open
        self.logged.append((step, data))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.open = False


def stand_in(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Written]:
    """Put a small module in the place of one that logs; return what its writers will have kept."""
    monkeypatch.setattr(Written, "made", [], raising=False)
    module: Any = ModuleType(name)
    module.SummaryWriter = lambda logdir: Written(logdir=logdir)
    module.init = lambda project, mode: Written(project=project, mode=mode)
    monkeypatch.setitem(sys.modules, name, module)
    return Written.made


@pytest.fixture
def loggers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let examples log with tensorboardX and wandb where these are not installed."""
    for name in ("tensorboardX", "wandb"):
        if find_spec(name) is None:
            stand_in(name, monkeypatch)


@pytest.mark.usefixtures("forgetful", "loggers")
@pytest.mark.parametrize("document", DOCUMENTS)
def test_examples_run_and_print_what_the_document_says(document: str, here: Path) -> None:
    printed: str | None = None
    names: dict[str, Any] = {"__name__": "__main__"}  # as in a program of the reader's
    for language, body in BLOCK.findall((ROOT / document).read_text(encoding="utf-8")):
        if language == "sh":
            printed = run_block(body, here)
        elif language == "python":
            out = StringIO()
            with redirect_stdout(out):
                exec(compile(body, document, "exec"), names)  # noqa: S102
            printed = out.getvalue()
        elif language == "text":
            assert printed is not None
            assert squeezed(body) == squeezed(printed)
    assert printed is not None


@pytest.mark.parametrize("name", ["tensorboardX", "wandb"])
def test_the_page_on_progress_logs_every_generation(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "progress.md").read_text(encoding="utf-8")
    (body,) = (body for _, body in BLOCK.findall(text) if f"import {name}" in body or f"from {name}" in body)
    made = stand_in(name, monkeypatch)
    names: dict[str, Any] = {}
    exec(compile(body, "progress.md", "exec"), names)  # noqa: S102
    (written,), evolved = made, names["evolved"]
    assert not written.open
    expected: list[tuple[int, dict[str, float]]] = []
    for generation, (best, mean) in enumerate(zip(evolved.best.T, evolved.mean.T, strict=True)):
        if name == "tensorboardX":
            values = {f"best/run_{run}": fitness for run, fitness in enumerate(best, start=1)}
            expected += [
                (generation, {tag: value}) for tag, value in (values | {"mean": mean.mean()}).items()
            ]
        else:
            expected.append((generation, {"best": best.min(), "mean": mean.mean()}))
    for _, data in written.logged:
        data.pop("seconds", None)
    assert written.logged == expected
    if name == "wandb":
        assert written.options["mode"] == "offline"
        assert written.config == evolved.config.to_dict()
        assert written.summary["chance"] == [winner.fresh.chance for winner in evolved.winners]


def test_the_page_on_tasks_films_an_agent_where_moviepy_is_installed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("moviepy")
    ((_, body),) = (
        block
        for block in BLOCK.findall((ROOT / "docs" / "own-task.md").read_text(encoding="utf-8"))
        if block[0] == "py"
    )
    names: dict[str, Any] = {}
    exec(compile(body, "own-task.md", "exec"), names)  # noqa: S102
    assert float(capsys.readouterr().out.splitlines()[-1]) == -names["result"].final[0]
    assert (here / "videos" / "agent-episode-0.mp4").stat().st_size > 1_000


def test_the_lines_that_a_part_of_ones_own_needs_are_counted_right() -> None:
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    blocks = [body for language, body in BLOCK.findall(text) if language == "python"]
    parts = blocks[:8:2]  # after each comes its use
    counts = [
        sum(bool(line.strip()) and not line.startswith(("from ", "import ")) for line in body.splitlines())
        for body in parts
    ]
    said = [int(count) for count in re.findall(r"^\| a \w+ \| (\d+) \|$", text, re.MULTILINE)]
    assert counts == said
    assert len(said) == 4


def test_the_readmes_two_commands_are_in_the_makefile() -> None:
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for target in ("run", "test"):
        assert f"make {target} " in readme
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("document", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")))
def test_links_within_the_project_lead_somewhere(document: Path) -> None:
    for target in re.findall(r'(?:\]\(|src=")([^)"#]+)', document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_the_picture_of_the_maze_is_what_the_command_draws() -> None:
    assert (ROOT / "docs" / "maze.svg").read_text() == distal.triple_t_maze().to_svg()


def test_the_results_document_is_what_the_kept_numbers_say() -> None:
    data = json.loads((ROOT / "docs" / "results.json").read_text())
    document = (ROOT / "docs" / "results-tables.md").read_text(encoding="utf-8")
    assert "scale `paper` (15 runs of 300 generations, tests of 10,000 episodes; the paper has" in document
    assert data["scale"] == {"name": "paper", "runs": 15, "generations": 300, "episodes": 10000}
    for line in data["comparison"]:
        row = next(row for row in document.splitlines() if row.startswith(f"| {line['what']} |"))
        assert line["what"] in row
        assert f"| {line['verdict']} |" in document
    fitness = sorted(data["tests"]["dsp"]["fitness_at"]["10000"])
    assert [distal.learners.shipped.evolved_fitness(n) for n in range(1, 16)] == fitness


def test_the_animated_picture_is_what_its_command_draws(here: Path) -> None:
    command = some(
        re.search(r"`distal (watch [^`]*--gif) agents.gif([^`]*)`", (ROOT / "README.md").read_text())
    )
    run_here(f"distal {command[1]} agents.gif{command[2]}")
    with Image.open(here / "agents.gif") as drawn, Image.open(ROOT / "docs" / "agents.gif") as kept:
        assert drawn.n_frames == kept.n_frames  # type: ignore[attr-defined]
        for frame in range(0, kept.n_frames, 20):  # type: ignore[attr-defined]
            drawn.seek(frame)
            kept.seek(frame)
            # fonts differ a little from one release of Pillow to the next; mazes do not
            top = 4 * SCALE  # the captions stand above the mazes, the key to the colours below
            mazes = (0, top, kept.width, top + 29 * SCALE)
            assert drawn.convert("RGB").crop(mazes).tobytes() == kept.convert("RGB").crop(mazes).tobytes()


def test_the_table_of_what_was_fuzzed_is_that_of_the_last_run_which_found_nothing() -> None:
    found = json.loads(fuzz.KEPT.read_text())
    page = fuzz.PAGE.read_text(encoding="utf-8")
    assert fuzz.with_table(page, found) == page
    assert all(f"| {part} |" in page for part in fuzz.PARTS)
    assert found["failures"] == []


def test_the_citation_names_this_version_and_the_date_of_the_last_release() -> None:
    cited = (ROOT / "CITATION.cff").read_text()
    assert f"version: {distal.__version__}\n" in cited
    released = some(
        re.search(r"^## ([\d.]+) \(([\d-]+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    )
    assert released[1] == distal.__version__
    assert f"date-released: {released[2]}\n" in cited
