"""Measure how long the trials of a generation take when each has the card to itself.

    python benchmarks/longest_trial.py

A generation ends with its longest trial, which no other can shorten. Runs the
generation that `distal bench --engine gpu` measures, then each of its trials alone,
and prints the times as JSON. Needs an NVIDIA card; takes about ten seconds.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from functools import partial

import numpy as np

from distal.base.checks import InputError
from distal.bench import times
from distal.bench.gpu import first_generation
from distal.engines import Batch, gpu

LONGEST = 20  # trials that are measured again
REPEATS = 11


def milliseconds(batch: Batch, repeats: int = REPEATS) -> float:
    """Return the median time of a batch on the card."""
    return float(np.median(times(partial(gpu.run, batch), repeats))) * 1e3


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.parse_args()
    try:
        gpu.check()
    except InputError as refusal:
        parser.error(str(refusal))
    batch = first_generation("dsp")
    trials = [batch.part(k, k + 1) for k in range(len(batch))]
    once = np.array([milliseconds(trial, 1) for trial in trials])
    longest = max(milliseconds(trials[k]) for k in np.argsort(once)[-LONGEST:])
    one_episode = replace(trials[0], episodes=1, record=(1,))
    numbers = {
        "generation_ms": milliseconds(batch),
        "longest_trial_alone_ms": longest,
        "median_trial_alone_ms": float(np.median(once)),
        "one_episode_alone_ms": milliseconds(one_episode),
    }
    print(json.dumps({name: round(value, 3) for name, value in numbers.items()}, indent=2))  # noqa: T201 - its output


if __name__ == "__main__":
    main()
