"""Measure the champions: docs/champions.json, its figures and its page of tables.

    python docs/make_champions.py                                        about four minutes on two cores
    python docs/make_champions.py --main 4000 --trials 4000 --long-trials 400 --engine gpu      on a card
    python docs/make_champions.py --page              tables and figures again, from the numbers that are kept
    python docs/make_champions.py --quick --out FOLDER                 a few seconds, into another folder

Writes champions.json, champions-tables.md and figures/champion*.svg into docs, or another folder.
champions.md is written by hand, and so is the README: tests/docs/test_numbers.py compares their numbers.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from champion_numbers import QUICK, Size, measure
from champion_tables import TITLE, blocks

from distal.base.checks import InputError, integer
from distal.base.files import to_json, write_text
from distal.cli.terminal import tell
from distal.studies.figures import standalone
from distal.studies.report import Figure, to_markdown

DOCS = Path(__file__).parent


def write(data: dict[str, Any], out: Path) -> None:
    """Write the tables and the figures into a folder."""
    (out / "figures").mkdir(parents=True, exist_ok=True)
    page = blocks(data)
    write_text(out / "champions-tables.md", to_markdown(TITLE, page))
    for block in page:
        if isinstance(block, Figure):
            write_text(out / "figures" / f"{block.name}.svg", standalone(block.drawn[0]))


def main(arguments: list[str]) -> None:
    """Measure, unless only the tables are wanted, and write."""
    parser = argparse.ArgumentParser(description="Measure the champions.")
    parser.add_argument("--main", type=int, default=Size.main, help="trials that show what learners do")
    parser.add_argument("--trials", type=int, default=Size.trials, help="trials of every other short cell")
    parser.add_argument("--long-trials", type=int, default=Size.long_trials, help="trials of long cells")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", help="cpu, gpu, reference or auto")
    parser.add_argument("--quick", action="store_true", help="few and short trials, for another folder")
    parser.add_argument("--page", action="store_true", help="write again from champions.json")
    parser.add_argument("--out", type=Path, default=DOCS, help="the folder (docs)")
    args = parser.parse_args(arguments)
    if args.quick and args.out == DOCS:
        raise InputError("--quick is for another folder; name one with --out")
    if not args.page:
        numbers = {
            name: integer(f"--{name.replace('_', '-')}", getattr(args, name), 2)
            for name in ("main", "trials", "long_trials")
        }
        size = QUICK if args.quick else replace(Size(), **numbers)
        data = measure(size, args.seed, args.engine, tell)
        args.out.mkdir(parents=True, exist_ok=True)
        write_text(args.out / "champions.json", to_json(data) + "\n")
    kept: dict[str, Any] = json.loads((args.out / "champions.json").read_text(encoding="utf-8"))
    write(kept, args.out)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(str(error))
