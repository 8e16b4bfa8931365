"""Results that must never change unnoticed: checksums of what a version computed, file by file.

Most were taken by version 0.2 and hold since; 0.4 rounds p-values, has other evolved rules, and a study of
readings that goes through the named mazes.

A change of bits is a change of version: then run this file as a program to take the
digests again, and say so in the change log.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import Chance, GeneticAlgorithm, HillClimbing, Maze, Rule
from distal.base.files import to_json
from distal.model.readings import READINGS
from distal.studies.plans.readings import Readings
from distal.studies.plans.reproduce import Experiments
from distal.studies.study import Scale
from tests.given import some

KEPT = Path(__file__).with_name("digests.json")
MAZE = Maze.from_text(
    """
#########
#0..#..1#
#.#...#.#
#.##.##.#
#..#S#.2#
#########
""",
    heading="north",
)
RULE = Rule([(7 * row) % 3 - 1 for row in range(32)], 0.7, 0.3, 0.4, 0.6)
CLIMBER, RANDOM = HillClimbing(0.5, 0.4, 0.3), Chance(0.2, 0.6)
OTHER = ("seconds.csv", "seconds.json", "manifest.json", "results.json", "report.html", "results.md")


def of_arrays(*arrays: Any) -> str:
    """Return a checksum of arrays, as bytes."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:20]


def of_files(folder: Path, appendix: bool = False) -> str:
    """Return a checksum of all results in a folder: names and bytes; of NPZ files the curves.

    Of a reproduction, either without its appendix or the appendix alone.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in OTHER and path.name.startswith("appendix_") == appendix:
            digest.update(str(path.relative_to(folder)).encode())
            if path.suffix == ".npz":
                with np.load(path) as stored:
                    digest.update(stored["curves"].tobytes())
            elif path.name == "state.json":
                state = json.loads(path.read_text())
                content = {name: value for name, value in state.items() if name not in ("sha256", "config")}
                digest.update(to_json(content).encode())
            elif path.name != "config.json":  # which says the version, as a checksum in the state does
                digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def learned(learner: Any, **options: Any) -> str:
    """Digest an evaluation with everything kept."""
    given = {"trials": 2, "episodes": 25, "steps": 30, "hidden": 7, "seed": 5, "maze": MAZE, **options}
    result = distal.learn(learner, keep_ep=True, keep_weights=True, **given)
    return of_arrays(result.best, some(result.ep), result.hidden, result.output)


def evolved(learner: str, elites: str) -> str:
    """Digest an evolution on disk."""
    with tempfile.TemporaryDirectory() as folder:
        distal.evolve(
            learner, runs=2, generations=5, trials=1, episodes=20, steps=25, hidden=6, maze=MAZE,
            search=GeneticAlgorithm(elites=elites), out=Path(folder) / "runs",
        )  # fmt: skip
        return of_files(Path(folder) / "runs")


def reproduced(appendix: bool = False, **options: Any) -> str:
    """Digest a reproduction at a tiny scale."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setitem(Experiments.SCALES, "quick", Scale("quick", runs=2, generations=2, episodes=150))
        distal.reproduce("quick", out=Path(folder) / "paper", maze=MAZE, steps=25, hidden=6, **options)
        return of_files(Path(folder) / "paper", appendix)


def studied() -> str:
    """Digest a study of readings at a tiny scale."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        tiny = Scale("quick", runs=2, generations=1, trials=1, pairs=1, episodes=50)
        patch.setitem(Readings.SCALES, "quick", tiny)
        distal.study_readings("quick", out=Path(folder) / "study", maze=MAZE, steps=12, hidden=4)
        return of_files(Path(folder) / "study")


def cases() -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield what is digested, by name."""
    learners = {"dsp": RULE, "hc": CLIMBER, "chance": RANDOM}
    for (kind, learner), engine in product(learners.items(), ("cpu", "reference")):
        yield f"{kind} {engine}", partial(learned, learner, engine=engine)
        yield f"{kind} {engine} resampled", partial(learned, learner, engine=engine, resample=7)
    for kind, learner in learners.items():
        # The maze of one-cell corridors, which was the default then, and the default of today.
        full = partial(learned, learner, hidden=20, steps=100)
        yield f"{kind} triple T-maze", partial(full, maze=distal.maze("narrow-t"))
        for engine in ("cpu", "reference"):
            yield f"{kind} default maze {engine}", partial(full, maze=None, engine=engine)
            more: dict[str, Any] = {"maze": None, "engine": engine, "resample": 7, "outputs": "random"}
            yield f"{kind} default maze {engine} resampled, random", partial(full, **more)
        for reading, values in READINGS.items():
            for value in values:
                yield f"{kind} {reading} {value}", partial(learned, learner, **{reading: value})
    for number in (1, 15):
        for name in (f"paper:{number}", f"evolved:{number}"):
            yield name, partial(learned, name)
    for kind, elites in product(("dsp", "hc"), ("remeasured", "kept")):
        yield f"evolve {kind} {elites}", partial(evolved, kind, elites)
    yield "reproduce", reproduced
    yield "reproduce published", partial(reproduced, rules="published", elites="kept", seed=3)
    yield "reproduce appendix", partial(reproduced, appendix=True)
    yield "readings", studied


CASES = dict(cases())


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_version_that_took_the_digests(name: str) -> None:
    assert CASES[name]() == json.loads(KEPT.read_text())[name]


def test_every_digest_has_its_case() -> None:
    assert set(json.loads(KEPT.read_text())) == set(CASES)


if __name__ == "__main__":
    sys.stdout.write(to_json({name: case() for name, case in CASES.items()}) + "\n")
