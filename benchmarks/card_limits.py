"""Measure what limits a generation on a card: its longest trial, and how its schedulers share their time.

    python benchmarks/card_limits.py

A generation ends with its longest trial, which no other can shorten. Runs the
generation that `distal bench --engine gpu` measures, then each of its trials alone.
The engine gives the longest ones to the warps with the lowest numbers, because
schedulers prefer them. Fills the card with warps that all do the same sums, and finds how
long a sum takes in those with each number, against number 0. Prints all of it as JSON.
Needs an NVIDIA card; takes about ten seconds.
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
from distal.engines import Batch
from distal.engines.gpu import engine as gpu

LONGEST = 20  # trials that are measured again
REPEATS = 11
WARPS = 20  # on a multiprocessor, as many as the engine's kernel has there
CYCLES = 300_000  # that they are at work, all at the same time
KERNEL = """
extern "C" __global__ void sums(int *done, int *number, float *kept)
{
    float sum = threadIdx.x, product = sum;
    const long long begin = clock64();
    int rounds = 0;
    for (; clock64() - begin < CYCLES; rounds++)
#pragma unroll
        for (int k = 0; k < 20; k++) {
            sum += 1.5f;  // each waits for the one before
            product *= 1.0001f;
        }
    if (threadIdx.x == 0) {
        done[blockIdx.x] = rounds;
        asm volatile("mov.u32 %0, %%warpid;" : "=r"(number[blockIdx.x]));
    }
    if (sum == -1) *kept = sum + product;
}
"""


def milliseconds(batch: Batch, repeats: int = REPEATS) -> float:
    """Return the median time of a batch on the card."""
    return float(np.median(times(partial(gpu.run, batch), repeats))) * 1e3


def trials_alone() -> dict[str, float]:
    """Return the time of a generation, and of its trials when each has the card to itself."""
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
    return {name: round(value, 3) for name, value in numbers.items()}


def time_by_warp() -> dict[str, float]:
    """Return how long a sum takes in warps of each number, against the lowest, while all have work."""
    import cupy  # noqa: PLC0415 - an extra

    blocks = WARPS * cupy.cuda.Device().attributes["MultiProcessorCount"]
    done, number, kept = cupy.zeros(blocks, np.int32), cupy.zeros(blocks, np.int32), cupy.zeros(1, np.float32)
    kernel = cupy.RawKernel(KERNEL, "sums", (f"-DCYCLES={CYCLES}",))
    for _ in range(3):  # the card takes a while to speed up
        kernel((blocks,), (32,), (done, number, kept))
    rounds, numbers = done.get(), number.get()
    means = {int(one): float(rounds[numbers == one].mean()) for one in np.unique(numbers)}
    return {str(one): round(means[min(means)] / mean, 2) for one, mean in means.items()}


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
    print(json.dumps({**trials_alone(), "time_by_warp": time_by_warp()}, indent=2))  # noqa: T201 - its output


if __name__ == "__main__":
    main()
