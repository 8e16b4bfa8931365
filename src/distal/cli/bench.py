"""`distal bench`: measure an engine."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

from distal import bench, engines
from distal.base.checks import one_of
from distal.base.machine import machine
from distal.base.progress import followed
from distal.bench import Timing
from distal.cli import Parser, add_options
from distal.cli.options import check_cluster
from distal.cli.terminal import NARROWEST, PlainConsole, console, new_table, print_json
from distal.engines.gpu import cards


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = (
        "Measure an engine: ratios within one run, medians of repeats. Engine cpu "
        "takes about two minutes on two cores, ten seconds with --quick; engine gpu about two minutes; "
        "engine steps too."
    )
    add_options(command, {
        "--engine NAME": "cpu, gpu, steps (cpu)",
        "--cluster ADDRESS": "measure a Dask cluster instead: tcp://…, a file, or local:N",
        "--quick": "few repeats, and only rows that take seconds",
        "--against FILE": "also print the change since the run that wrote FILE",
    })  # fmt: skip
    command.set_defaults(engine=engines.DEFAULT)


def run(args: argparse.Namespace) -> None:
    """Measure an engine."""
    args.engine = one_of("engine", args.runner.engine, ("cpu", "gpu", "steps"))
    if args.cluster is not None:
        check_cluster(args)
    card = cards.describe() if args.engine == "gpu" else None
    earlier = bench.load_report(args.against) if args.against is not None else None
    rows = list(_measured(bench.run(args.engine, quick=args.quick, cluster=args.cluster)))
    if args.json:
        print_json(bench.report(rows, card))
    else:
        _show_bench(rows, machine(), card)
    if earlier is not None:
        show_change(bench.compare(rows, earlier), earlier, to_stderr=args.json)


def _measured(rows: Iterable[Timing]) -> Iterator[Timing]:
    """Pass rows on as they come, and count them on a terminal."""
    with followed(None, "measuring", None, unit="rows") as counted:
        for row in rows:
            yield row
            if counted is not None:
                counted(1)


def _show_bench(rows: list[Timing], machine: dict[str, Any], card: dict[str, Any] | None = None) -> None:
    """Print the rows of a benchmark and the machine they were measured on."""
    out = console()
    if card is not None:
        out.print(
            f"{card['card']}, {card['multiprocessors']} multiprocessors, {card['memory_gib']} GiB; "
            f"CUDA {card['driver_cuda']}, NVRTC {card['nvrtc']}, CuPy {card['cupy']}",
            soft_wrap=True,
        )
    memory = f"{machine['memory_gib']} GiB"
    versions = ", ".join(
        f"{name} {machine[name]}" for name in ("python", "numpy", "numba", "jax") if machine[name]
    )
    out.print(
        f"{machine['processor']}, {machine['cores']} cores, {memory}, {machine['system']}; {versions}",
        soft_wrap=True,
    )
    table = new_table("what", "measured", "target", "met", wrap=True)
    for row in rows:
        target = f"{'≥' if row.at_least else '≤'} {row.target:,.4g}" if row.target is not None else ""
        met = {True: "yes", False: "no", None: ""}[row.met]
        value = f"{row.value:,.4g} {row.unit}" if row.value is not None else "not measured"
        table.add_row(row.what, value, target, met)
    out.print(table)
    for row in rows:
        if row.note:
            out.print(f"{row.name}: {row.note}", style="dim")


def show_change(
    compared: list[tuple[Timing, float | None, str]], earlier: dict[str, Any], to_stderr: bool
) -> None:
    """Print what has changed since an earlier benchmark."""
    out = PlainConsole(stderr=True, width=NARROWEST) if to_stderr else console()
    then = earlier["machine"]
    out.print(
        f"Against {earlier['distal']} of {earlier['date']}: {then['processor']}, {then['cores']} cores",
        soft_wrap=True,
    )
    table = new_table("measurement", "then", "now", "change")
    for row, value, verdict in compared:
        cells = (f"{number:,.4g} {row.unit}" if number is not None else "–" for number in (value, row.value))
        table.add_row(row.name, *cells, verdict)
    out.print(table)
