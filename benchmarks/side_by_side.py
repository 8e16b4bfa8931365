"""Measure an engine of two checkouts side by side, in processes that take turns.

    git worktree add /tmp/before COMMIT
    python benchmarks/side_by_side.py /tmp/before . [--engine gpu] [--pairs 10] [--rounds 3]

Prints, for each case, the nanoseconds of an episode in both, the ratio, and whether both return the same
bits: the medians of pairs of processes, with the fastest process of each. A process may be a tenth slower
than the next with the same code, because of where its memory lies, so every pair begins anew; pairs take
turns at who begins first. Within a pair, each round takes the best of several runs; on engine cpu in
processor time, so that other work on the machine matters little. A pair takes about ten seconds; a checkout
that has not run before compiles for half a minute.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

# What both processes run: a line on stdin is answered with the nanoseconds of each case.
TURNS = """
import hashlib, json, sys, time
from distal.bench import generation
from distal.engines import load
try:
    from distal.learners.shipped import evolved_rules, published_rules
    from distal.studies.plans.reproduce import random_learners
except ImportError:  # before version 0.5
    from distal.learners.rule import evolved_rules, published_rules
    from distal.paper.experiments import random_learners

name = sys.argv[1]
engine, repeats = load(name), 3 if name == "cpu" else 21
clock = time.process_time if name == "cpu" else time.perf_counter

def run(batch):
    return engine.run(batch, workers=1)

def nanoseconds(batch):
    began = clock()
    run(batch)
    return (clock() - began) / (len(batch) * batch.episodes) * 1e9

def digest(batch):
    return hashlib.sha256(run(batch).best.tobytes()).hexdigest()

cases = {
    "random rules": generation(random_learners("dsp", 0)),
    "evolved rules": generation(evolved_rules()),
    "published rules": generation(published_rules()),
    "random rules, 40 hidden neurons": generation(random_learners("dsp", 0), trials=1, hidden=40),
    "published rules, sigmoid neurons": generation(published_rules(), trials=1, neurons="sigmoid"),
    "hill climbing": generation(random_learners("hc", 0), trials=1),
}
print(json.dumps({name: digest(batch) for name, batch in cases.items()}), flush=True)
for _ in sys.stdin:
    best = {name: min(nanoseconds(batch) for _ in range(repeats)) for name, batch in cases.items()}
    print(json.dumps(best), flush=True)
"""


class Checkout:
    """The process of a checkout, ready when it has run everything once."""

    def __init__(self, folder: str, engine: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", TURNS, engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(folder).resolve() / "src")},
        )
        self.digests: dict[str, str] = json.loads(self.says())

    def says(self) -> str:
        """Return the next line that the process prints."""
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            raise SystemExit("a checkout could not be measured; its error is above")
        return line

    def turn(self) -> dict[str, float]:
        """Return the nanoseconds of each case, measured now."""
        if self.process.stdin:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        times: dict[str, float] = json.loads(self.says())
        return times


def pair(
    folders: list[str], engine: str, rounds: int, *, swapped: bool
) -> tuple[list[dict[str, float]], dict[str, bool]]:
    """Return the nanoseconds of each case in two checkouts, and whether both gave the same bits.

    The nanoseconds are medians of rounds, in two fresh processes.
    """
    order = (1, 0) if swapped else (0, 1)
    checkouts = {k: Checkout(folders[k], engine) for k in order}
    same = {name: digest == checkouts[1].digests[name] for name, digest in checkouts[0].digests.items()}
    turns = [{k: checkouts[k].turn() for k in order} for _ in range(rounds)]
    for checkout in checkouts.values():
        checkout.process.communicate()
    times = [
        {name: float(np.median([turn[k][name] for turn in turns])) for name in turns[0][k]} for k in (0, 1)
    ]
    return times, same


def main() -> None:
    """Measure, and print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs=2, help="folders of two checkouts, the older one first")
    parser.add_argument("--engine", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    pairs = [
        pair(given.checkouts, given.engine, given.rounds, swapped=bool(k % 2)) for k in range(given.pairs)
    ]
    print(f"{'median (fastest) of an episode':34}{'before':>21}{'after':>21}   before / after")  # noqa: T201
    for name in pairs[0][1]:
        both = np.array([[times[name] for times in one] for one, _ in pairs])
        shown = "".join(f"{np.median(t):8.2f} ({min(t):7.2f}) ns " for t in both.T)
        ratio = np.median(both, axis=0)[0] / np.median(both, axis=0)[1]
        fastest = both.min(axis=0)[0] / both.min(axis=0)[1]
        same = "same bits" if all(bits[name] for _, bits in pairs) else "OTHER BITS"
        print(f"{name:34}{shown}  {ratio:5.3f} ({fastest:5.3f})  {same}")  # noqa: T201


if __name__ == "__main__":
    main()
