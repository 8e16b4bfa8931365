"""Measure the cpu engine of two checkouts side by side, in processes that take turns.

    git worktree add /tmp/before COMMIT
    python benchmarks/side_by_side.py /tmp/before . [--rounds 10]

Prints, for each case, the microseconds of an episode in both (medians of rounds) and the
median of the ratios. Each round takes the best of three runs, in processor time, so that
what else a machine does matters little. Do it more than once: a process may be a tenth slower
than the next with the same code. Takes about half a minute, and as long again to compile
where a checkout has not run before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

# What both processes run: a line on stdin is answered with the microseconds of each case.
TURNS = """
import json, sys, time
from distal.bench import generation
from distal.engines import load
from distal.learners.shipped import evolved_rules, published_rules
from distal.studies.experiments import random_learners

cpu = load("cpu")

def microseconds(batch):
    began = time.process_time()
    cpu.run(batch, workers=1)
    return (time.process_time() - began) / (len(batch) * batch.episodes) * 1e6

cases = {
    "random rules": generation(random_learners("dsp", 0)),
    "evolved rules": generation(evolved_rules()),
    "published rules": generation(published_rules()),
    "random rules, 40 hidden neurons": generation(random_learners("dsp", 0), trials=1, hidden=40),
    "published rules, sigmoid neurons": generation(published_rules(), trials=1, neurons="sigmoid"),
    "hill climbing": generation(random_learners("hc", 0), trials=1),
}
for batch in cases.values():
    microseconds(batch)
print(flush=True)
for _ in sys.stdin:
    best = {name: min(microseconds(batch) for _ in range(3)) for name, batch in cases.items()}
    print(json.dumps(best), flush=True)
"""


class Checkout:
    """The process of a checkout, ready when it has run everything once."""

    def __init__(self, folder: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", TURNS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(folder).resolve() / "src")},
        )
        self.says()

    def says(self) -> str:
        """Return the next line that the process prints."""
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            raise SystemExit("a checkout could not be measured; its error is above")
        return line

    def turn(self) -> dict[str, float]:
        """Return the microseconds of each case, measured now."""
        if self.process.stdin:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        times: dict[str, float] = json.loads(self.says())
        return times


def main() -> None:
    """Measure, and print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs=2, help="folders of two checkouts, the older one first")
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    checkouts = [Checkout(folder) for folder in given.checkouts]
    rounds = [[checkout.turn() for checkout in checkouts] for _ in range(given.rounds)]
    for checkout in checkouts:
        checkout.process.communicate()
    for name in rounds[0][0]:
        old, new = np.array([[times[name] for times in both] for both in rounds]).T
        speed = f"{np.median(old):8.3f} µs {np.median(new):8.3f} µs {np.median(old / new):6.2f} times as fast"
        print(f"{name:34}{speed}")  # noqa: T201


if __name__ == "__main__":
    main()
