"""Measure which of the warps on a multiprocessor get on fastest.

    python benchmarks/favoured_warps.py

The gpu engine gives its longest trials to the warps with the lowest numbers, because
schedulers prefer them. Fills the card with warps that all do the same sums, and prints as
JSON how long a sum takes in those with each number, against number 0. Needs an NVIDIA card.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from distal.base.checks import InputError
from distal.engines import gpu

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
    import cupy  # noqa: PLC0415 - an extra

    card = cupy.cuda.Device()
    blocks = WARPS * card.attributes["MultiProcessorCount"]
    done, number, kept = cupy.zeros(blocks, np.int32), cupy.zeros(blocks, np.int32), cupy.zeros(1, np.float32)
    kernel = cupy.RawKernel(KERNEL, "sums", (f"-DCYCLES={CYCLES}",))
    for _ in range(3):  # the card takes a while to speed up
        kernel((blocks,), (32,), (done, number, kept))
    rounds, numbers = done.get(), number.get()
    by_number = {int(one): float(rounds[numbers == one].mean()) for one in np.unique(numbers)}
    first = by_number[min(by_number)]
    times = {str(one): round(first / mean, 2) for one, mean in by_number.items()}
    print(json.dumps({"card": gpu.describe()["card"], "time_by_warp": times}, indent=2))  # noqa: T201 - its output


if __name__ == "__main__":
    main()
