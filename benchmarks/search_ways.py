"""Compare ways to search under noise, on the same budget of episodes.

    python benchmarks/search_ways.py [--engine gpu] [--budgets 1.7e7,1e8] [--runs 15] [--seed 0]
        [--maze narrow-t] [--out benchmarks/results/search_ways.json] [--picture docs/search_ways.svg]
        [--table]

Every way evolves rules in as many independent runs, each with the same budget; the winner
of every run is measured on 400 fresh trials, beside chance. Writes all numbers as JSON and
draws them; with --table only prints the table of the numbers that are there. Results of a
way and budget that the file already holds, with the same maze, runs and seed, are kept.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from distal import CMA, GeneticAlgorithm, Islands, Race, Restarts, engines, evolve, maze
from distal._version import __version__
from distal.base.colours import LIGHT
from distal.base.files import write_text
from distal.base.significance import mean_interval
from distal.model.maze import DEFAULT_MAZE, MAZES
from distal.search.config import Config
from distal.search.search import Algorithm
from distal.studies import figures

FIFTY = GeneticAlgorithm(population=50, elite_count=10)
FOCUSED = GeneticAlgorithm(
    population=100, elite_count=20, mutation=0.05, deviation=0.05, elites="averaged", parents="elites",
    mixing="uniform",
)  # fmt: skip


class Way(NamedTuple):
    """A way to search: its title, the search, the options of `evolve`, and the starts of a run."""

    title: str
    search: Algorithm
    options: Mapping[str, Any] = MappingProxyType({})
    starts: int = 1  # whatever the budget


WAYS = {
    "paper": Way("the paper's", GeneticAlgorithm()),
    "population": Way("population 50, 10 elites", FIFTY),
    "trials": Way("… with 160 trials a candidate", FIFTY, {"trials": 20}),
    "averaged": Way("… with elites' means kept", replace(FIFTY, elites="averaged")),
    "race": Way("… raced, two heats more", Race(FIFTY, heats=2)),
    "finalists": Way("… with 10 finalists", FIFTY, {"finalists": 10}),
    "restarts": Way("… started four times, 10 finalists", FIFTY, {"finalists": 10}, starts=4),
    "islands": Way("four islands of 14", Islands(GeneticAlgorithm(), 4)),
    "cma": Way("CMA-ES, population 50, 160 trials", CMA(population=50), {"trials": 20}),
    "focused": Way("100 bred from 20 averaged elites, 80 trials", FOCUSED, {"trials": 10}),
    "focused_race": Way("… raced, two heats more, 40 trials", Race(FOCUSED, heats=2)),
    "focused_islands": Way(
        "… as four islands of 25", Islands(replace(FOCUSED, population=25, elite_count=5), 4), {"trials": 10}
    ),
    "focused_finalists": Way("… with 10 finalists", FOCUSED, {"trials": 10, "finalists": 10}),
}  # fmt: skip


def config(way: Way, budget: float, runs: int, seed: int) -> Config:
    """Return the configuration of a way that takes this many episodes a run."""
    made = Config(runs=runs, seed=seed, search=way.search, **way.options)
    made = replace(made, generations=made.affordable(budget))
    if way.starts == 1:
        return made
    return replace(made, search=Restarts(way.search, max(1, -(-(made.generations + 1) // way.starts))))


def run(way: Way, budget: float, runs: int, seed: int, name: str, engine: str) -> dict[str, Any]:
    """Evolve by a way in a maze with a name, and sum it up."""
    plan = config(way, budget, runs, seed)
    began = time.perf_counter()
    evolved = evolve(
        runs=runs, seed=seed, generations=plan.generations, search=plan.search,
        maze=maze(name), engine=engine, **way.options,
    )  # fmt: skip
    return {
        "generations": plan.generations,
        "spent": plan.spent(plan.generations),
        "selected": [winner.selected for winner in evolved.winners],
        "fresh": [winner.remeasured for winner in evolved.winners],
        "chance": evolved.chance,
        "seconds": time.perf_counter() - began,
    }


def summary(found: dict[str, Any]) -> tuple[float, float, float, float, float]:
    """Return the mean on fresh trials, its 95% interval, the lowest, and the mean that selected."""
    fresh = np.array(found["fresh"])
    return (float(fresh.mean()), *mean_interval(fresh), float(fresh.min()), float(np.mean(found["selected"])))


def table(kept: dict[str, Any]) -> str:
    """Return the table of the documentation: a row for each way, a column for each budget."""
    budgets = sorted({float(budget) for found in kept["ways"].values() for budget in found})
    heads = [f"{budget:,.0f} episodes" for budget in budgets]
    lines = [
        "| way | " + " | ".join(heads) + " |",
        "|---" * (len(budgets) + 1) + "|",
    ]
    for name, way in WAYS.items():
        cells = []
        for budget in budgets:
            found = kept["ways"].get(name, {}).get(f"{budget:.0f}")
            if found is None:
                cells.append("–")
                continue
            mean, low, high, best, selected = summary(found)
            cells.append(f"{mean:.1f} [{low:.1f}, {high:.1f}], best {best:.1f}, selected {selected:.1f}")
        lines.append(f"| {way.title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(kept: dict[str, Any], path: Path) -> None:
    """Draw fitness on fresh trials against the budget, a line for each way."""
    shown = [name for name in WAYS if name in kept["ways"]]
    budgets = sorted({float(budget) for found in kept["ways"].values() for budget in found})
    with figures.own_style():
        figure = figures.blank(7.2, 0.3 * len(shown) + 1.2)
        axes = figure.subplots()
        for place, (budget, role) in enumerate(zip(budgets, ("dsp", "hc", "goal"), strict=False)):
            at, means, errors = [], [], []
            for row, name in enumerate(shown):
                found = kept["ways"][name].get(f"{budget:.0f}")
                if found is not None:
                    mean, low, high, _, _ = summary(found)
                    at.append(row + 0.22 * (place - (len(budgets) - 1) / 2))
                    means.append(mean)
                    errors.append((mean - low, high - mean))
            axes.errorbar(
                means, at, xerr=np.transpose(errors), fmt="o", markersize=4, color=LIGHT[role],
                label=f"{budget:,.0f} episodes a run, 95% interval",
            )  # fmt: skip
        axes.axvline(kept["chance"], color=LIGHT["chance"], linestyle="--", linewidth=1, label="chance")
        axes.set_yticks(range(len(shown)), [WAYS[name].title for name in shown])
        axes.invert_yaxis()
        axes.set_xlabel(
            f"fitness of the winners on fresh trials, mean of {kept['runs']} runs; lower is better"
        )
        axes.grid(visible=False, axis="y")
        figure.legend(loc="outside upper center", ncols=len(budgets) + 1)
        write_text(path, figures.standalone(figures.render_svg(figure)))


def say(text: str) -> None:
    """Print something at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, keep it, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--budgets", default="1.7e7,1e8")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--maze", default=DEFAULT_MAZE, choices=MAZES)
    parser.add_argument("--out", default="benchmarks/results/search_ways.json")
    parser.add_argument("--picture")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args(arguments)
    out = Path(args.out)
    kept: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {}
    if not args.table:
        asked = {"version": __version__, "maze": args.maze, "runs": args.runs, "seed": args.seed}
        if {name: kept.get(name) for name in asked} != asked:
            kept = {**asked, "machine": engines.machine_of(engines.load(args.engine).name), "ways": {}}
        for budget in map(float, args.budgets.split(",")):
            for name in args.ways.split(","):
                found = kept["ways"].setdefault(name, {})
                if f"{budget:.0f}" not in found:
                    one = run(WAYS[name], budget, args.runs, args.seed, args.maze, args.engine)
                    found[f"{budget:.0f}"] = one
                    mean, low, high, best, selected = summary(found[f"{budget:.0f}"])
                    seconds = found[f"{budget:.0f}"]["seconds"]
                    say(
                        f"{name} {budget:g}: {mean:.1f} [{low:.1f}, {high:.1f}] best {best:.1f} "
                        f"selected {selected:.1f} in {seconds:.0f} s"
                    )
                    chances = [one["chance"] for way in kept["ways"].values() for one in way.values()]
                    kept["chance"] = float(np.mean(chances))
                    write_text(out, json.dumps(kept, indent=1) + "\n")
    say(table(kept))
    if args.picture:
        draw(kept, Path(args.picture))


if __name__ == "__main__":
    main()
