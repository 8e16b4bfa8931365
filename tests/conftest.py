"""Set-up of the tests."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

import distal
from distal.base import significance
from distal.base.files import write_text
from distal.base.machine import machine
from distal.engines import Trials
from distal.engines.gpu import cards

# Fixed cases in continuous integration, fresh ones elsewhere.
settings.register_profile("local", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


if TYPE_CHECKING:
    from playwright.sync_api import Browser

COMPARED = pytest.StashKey[int]()  # batches that a card and another engine have both run


def assert_equal_trials(ours: Trials, theirs: Trials, phase: int = 2**31) -> None:
    """Assert that two engines gave the same, as bits: a zero of the other sign would be a difference.

    `phase` has the episodes until goals move, if they do.
    """
    assert (ours.best == theirs.best).all()
    assert ours.steps in (0, theirs.steps)  # engine gpu counts none
    assert (ours.ep is None) == (theirs.ep is None)
    if ours.ep is not None and theirs.ep is not None:
        assert (ours.ep == theirs.ep).all()
        last = (ours.ep.shape[1] - 1) // phase * phase
        assert (ours.best[:, -1] == ours.ep[:, last:].min(axis=1)).all()
    for mine, other in ((ours.hidden, theirs.hidden), (ours.output, theirs.output)):
        assert mine is not None
        assert other is not None
        assert mine.tobytes() == other.tobytes()


os.environ.setdefault("MPLBACKEND", "Agg")  # figures open no windows


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    """Close the figures that a test has opened: Matplotlib warns of twenty, and a warning is an error."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, and return it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def launched() -> Iterator[Browser]:
    """Start a browser; skip where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(names)}")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


browser = pytest.fixture(scope="module", name="browser")(launched)


REDRAWN = {name: getattr(significance, name) for name in ("_RESAMPLES", "_PAIRS")}


@pytest.fixture(scope="module")
def rough() -> Iterator[None]:
    """Redraw samples seldom, and measure winners on few trials, where the claim is about neither.

    A report has hundreds of intervals, and a study's evolutions take most of their time after the last
    generation.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("distal.search.config.REMEASURED", 40)
        for name in REDRAWN:
            patch.setattr(significance, name, 99)
        yield


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redraw samples as often as a report does, in a file whose other tests are `rough`."""
    for name, count in REDRAWN.items():
        monkeypatch.setattr(significance, name, count)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave figures of reports empty, where the claim is not about them; each takes half a second."""
    monkeypatch.setattr("distal.studies.report.render", lambda _: ("<svg>\n</svg>", b"\x89PNG"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run on a card keep its summary, and interrupts come at more moments."""
    parser.addoption("--gpu-summary", metavar="FILE", help="write a summary of the tests on a card to FILE")
    parser.addoption(
        "--moments", type=int, default=1, metavar="N", help="moments at which to interrupt each command"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Compile the cpu engine before the workers start, so that none of them waits or talks about it."""
    if config.option.collectonly or hasattr(config, "workerinput"):
        return
    if importlib.util.find_spec("numba") is not None:
        from tests.compiling import compile_all

        compile_all()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a worker of pytest-xdist say how many batches it has compared."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["compared"] = session.config.stash.get(COMPARED, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add what a worker has compared; one that crashed does not say."""
    stash = node.config.stash
    stash[COMPARED] = stash.get(COMPARED, 0) + getattr(node, "workeroutput", {}).get("compared", 0)


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """Keep what was run on a card: which card, with which software, how many cases, and when."""
    path = config.getoption("--gpu-summary")
    if path is None:
        return
    if cards.problem() is not None:
        terminalreporter.write_line(f"{path} is left as it was: nothing was run on a card")
        return
    stats = terminalreporter.stats
    summary = {
        "passed": len(stats.get("passed", [])),
        "failed": len(stats.get("failed", [])) + len(stats.get("error", [])),
        "skipped": len(stats.get("skipped", [])),
        "batches_compared": config.stash.get(COMPARED, 0),
        "compared_with": "cpu" if importlib.util.find_spec("numba") else "reference",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "distal": distal.__version__,
        "card": cards.describe(),
        "machine": machine(),
    }
    write_text(path, json.dumps(summary, indent=1) + "\n")
