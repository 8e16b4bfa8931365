"""Which maze with wide corridors, and which search, agrees best with the paper's numbers.

    python benchmarks/find_maze.py --engine gpu --out mazes.json        about six minutes on a large card
    python benchmarks/find_maze.py --candidates 4 --full 1 --scale quick --out mazes.json

Candidates are symmetric mazes of 29 by 29 cells with corridors of three cells, three levels of
junctions and a mean shortest distance of 38.5. All of them have the cheap tests: the published rules
beside chance after 100 episodes and beside the paper's own numbers after 10,000, and hill climbing
after 1,000. Those that fit best are reproduced in full, beside the mazes given by name or file, with
every combination of `wheel`, `bounds` and `elites` for the mazes that are given.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from distal.studies.comparison import compare

from distal.base.files import to_json, write_text
from distal.base.significance import SIGNIFICANT, p_means
from distal.engines import Runner
from distal.evaluation.trials import batch_of
from distal.learners import DEFAULT_CLIMBER, Learner, chance_for
from distal.learners.shipped import published_fitness, published_rules
from distal.model.draws import child_seeds
from distal.model.maze import MAZES, Maze, maze
from distal.model.settings import Settings
from distal.studies.plans import reproduce as experiments
from distal.studies.stages import Stages
from distal.tasks.mazes import MazeTask

SIDE, MIDDLE, MEAN = 29, 14, 38.5
SEARCHES = [
    {"wheel": wheel, "bounds": bounds, "elites": elites}
    for wheel in ("inverted", "proportional")
    for bounds in ("clip", "reflect")
    for elites in ("remeasured", "kept")
]
PAPER = np.array([published_fitness(number) for number in range(1, 16)])


def carved(boxes: list[tuple[int, int, int, int]], start: int, ends: list[tuple[int, int]]) -> Maze | None:
    """Return the maze of boxes (top, bottom, left, right) and their mirror images; None if it is none."""
    cells = np.full((SIDE, SIDE), "#")
    for top, bottom, left, right in boxes:
        if top < 1 or left < 1 or bottom > SIDE - 2 or right > SIDE - 2:
            return None
        cells[top : bottom + 1, left : right + 1] = "."
        cells[top : bottom + 1, SIDE - 1 - right : SIDE - left] = "."
    cells[start, MIDDLE] = "S"
    both = ends + [(row, SIDE - 1 - column) for row, column in ends]
    for symbol, (row, column) in zip("01234567", both, strict=True):
        cells[row, column] = symbol
    try:
        found = Maze(tuple("".join(row) for row in cells))
    except ValueError:
        return None
    return found if sum(found.start_distances) == MEAN * 8 and wide(found) else None


def wide(found: Maze) -> bool:
    """Whether every empty cell lies in a square of three, and none in an open room of five."""
    walls = found.walls
    threes, fives = (
        ~np.lib.stride_tricks.sliding_window_view(walls, (side, side)).any(axis=(2, 3)) for side in (3, 5)
    )
    covered = walls.copy()
    for row, column in np.argwhere(threes):
        covered[row : row + 3, column : column + 3] = True
    return bool(covered.all()) and not fives.any()


def candidates(count: int) -> list[Maze]:
    """Draw mazes whose last bars lie across (as in `triple-t`) or along the corridors before them."""
    drawn = random.Random(0)  # noqa: S311 - nothing secret
    found: dict[tuple[str, ...], Maze] = {}
    while len(found) < count:
        one = candidate(drawn)
        if one is not None:
            found[one.picture] = one
    return list(found.values())


def candidate(drawn: random.Random) -> Maze | None:
    """Draw a maze; None if it does not fit."""
    start, row, column = drawn.choice((25, 26, 27)), drawn.randint(5, 19), drawn.randint(1, 8)
    top, bottom = drawn.randint(1, 7), drawn.randint(20, 25)
    if not (top + 3 < row and row + 4 < bottom):
        return None
    boxes = [
        (row, min(start + 1, 27), 13, 15), (row, row + 2, column, 15), (top, bottom + 2, column, column + 2),
    ]  # fmt: skip
    if drawn.random() < 0.5:  # bars across
        left, right = column - drawn.randint(0, 5), column + 2 + drawn.randint(1, 5)
        if right > 11 or right - left < 7:
            return None
        boxes += [(at, at + 2, left, right) for at in (top, bottom)]
        return carved(boxes, start, [(at + 1, end) for at in (top, bottom) for end in (left, right)])
    inner, up, down = drawn.randint(6, 9), drawn.randint(1, 3), drawn.randint(1, 3)
    if inner < column + 4:
        return None
    for at in (top, bottom):
        boxes += [(at, at + 2, column, inner + 2), (at - up, at + 2 + down, inner, inner + 2)]
    ends = [(end, inner + 1) for at in (top, bottom) for end in (at - up, at + 2 + down)]
    return carved(boxes, start, ends)


def curves(
    these: list[Learner], where: Maze, episodes: int, trials: int, resample: int | None, engine: str
) -> Any:
    """Return the best EPs of learners of one kind, (learners, trials, marks), after 100, 1,000 and all."""
    marks = tuple(sorted({min(mark, episodes) for mark in (100, 1_000, episodes)}))
    seeds = child_seeds(0, [[k, 0, 41] for k in range(len(these))])
    batch = batch_of(
        these, seeds, trials=trials, episodes=episodes, task=MazeTask(where), settings=Settings(),
        resample=resample, record=marks,
    )  # fmt: skip
    return Runner.of(engine).run(batch).best.reshape(len(these), -1, len(marks))


def cheap(where: Maze, engine: str, episodes: int) -> dict[str, Any]:
    """Return the cheap tests of a maze."""
    rules: list[Learner] = list(published_rules())
    ours = curves(rules, where, episodes, 5, None, engine)
    resampled = curves(rules, where, episodes, 5, 100, engine)
    early = curves(rules, where, 100, 25, None, engine)[:, :, -1]
    chance = curves([chance_for(rule) for rule in rules], where, 100, 25, None, engine)[:, :, -1]
    climber = curves([DEFAULT_CLIMBER], where, 1_000, 50, None, engine)[0, :, -1]
    last = ours[:, :, -1]
    means = last.mean(axis=1)
    agree = [p_means(own, float(paper), 40) >= SIGNIFICANT for own, paper in zip(last, PAPER, strict=True)]
    return {
        "published_at_100": early.mean(), "chance_at_100": chance.mean(),
        "lead": float(early.mean() - chance.mean()), "r": float(np.corrcoef(means, PAPER)[0, 1]),
        "rms": float(np.sqrt(((means - PAPER) ** 2).mean())), "mean": means.mean(), "rules": means.tolist(),
        "agree": int(sum(agree)), "rule_1": ours[0].mean(axis=0).tolist(),
        "resampled_lowest": resampled.mean(axis=1).min(axis=0).tolist(), "climber_at_1000": climber.mean(),
    }  # fmt: skip


class Shorter(Stages):
    """The stages of a reproduction without the evolutions that are shown but not judged."""

    def evolve(self, name: str, config: Any) -> Any:
        """Leave out what is not judged."""
        return None if name.endswith("_otherwise") else super().evolve(name, config)


def full(job: tuple[str, Maze, dict[str, str], str, str]) -> dict[str, Any]:
    """Return a reproduction's numbers, and how many of the paper's agree."""
    name, where, options, scale, engine = job
    experiments.PAPER = replace(experiments.PAPER, **options)
    request = experiments.Experiments(
        scale=scale, rules="evolved", elites=options["elites"], seed=0, settings=Settings(), maze=where
    )
    runner = Runner.of(engine)
    result = replace(request.run_stages(Shorter(request.plan, runner)), otherwise={})
    lines = [line for line in compare(result) if line.verdict not in ("", "not run")]
    tests = cheap(where, engine, result.scale.episodes)
    agree = sum(line.verdict == "agrees" for line in lines)
    numbers = {line.what: (line.paper, line.ours, line.verdict) for line in lines}
    evolved = {kind: float(np.mean([one.fitness for one in result.fresh[kind]])) for kind in result.fresh}
    print(f"{name:24} {options} {agree} + {tests['agree']} of {len(lines)} + 15", flush=True)  # noqa: T201
    return {
        "name": name, "maze": list(where.picture), "search": options, "agree": agree, "judged": len(lines),
        "appendix_agree": tests["agree"], "cheap": tests, "afresh": evolved, "lines": numbers,
    }  # fmt: skip


def screened(job: tuple[Maze, str, int]) -> dict[str, Any]:
    """Return the cheap tests of a candidate."""
    return cheap(*job)


def misfit(tests: dict[str, Any]) -> float:
    """Return how far the cheap tests are from the paper's numbers, in their own errors, roughly."""
    parts = (
        (tests["rms"], 6.0, 2.0), (tests["mean"], 63.8, 2.5), (tests["climber_at_1000"], 69.35, 5.0),
        (tests["rule_1"][1], 54.3, 4.0), (tests["resampled_lowest"][-1], 39.3, 1.0),
    )  # fmt: skip
    return float(sum(((value - paper) / error) ** 2 for value, paper, error in parts))


def main() -> None:
    """Screen candidates, reproduce the best, and write all numbers."""
    parser = argparse.ArgumentParser(description="Find the maze and the search that fit the paper best.")
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--candidates", type=int, default=300)
    parser.add_argument("--full", type=int, default=50, help="candidates that are reproduced in full")
    parser.add_argument("--maze", nargs="*", default=[], help="files of further mazes")
    parser.add_argument("--scale", default="paper")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    given = {name: maze(name) for name in MAZES} | {
        Path(file).stem: Maze.from_file(file) for file in args.maze
    }
    found = candidates(args.candidates)
    print(f"{len(found)} mazes are screened", flush=True)  # noqa: T201
    data: dict[str, Any] = {"format": "distal-mazes", "version": 1}
    with multiprocessing.get_context("spawn").Pool(args.processes) as pool:
        episodes = experiments.Experiments.SCALES[args.scale].episodes
        tests = pool.map(screened, [(one, args.engine, episodes) for one in found], chunksize=1)
        order = sorted(range(len(found)), key=lambda k: misfit(tests[k]))
        data["screened"] = [
            {"maze": list(found[k].picture), "misfit": misfit(tests[k]), **tests[k]} for k in order
        ]
        write_text(args.out, to_json(data) + "\n")
        jobs = [(name, one, SEARCHES[0], args.scale, args.engine) for name, one in given.items()]
        jobs += [
            (name, one, search, args.scale, args.engine)
            for search in SEARCHES[1:]
            for name, one in given.items()
            if not name.startswith("narrow")
        ]
        jobs += [
            (f"candidate {place}", found[k], SEARCHES[0], args.scale, args.engine)
            for place, k in enumerate(order[: args.full])
        ]
        data["full"] = []
        for one in pool.imap(full, jobs, chunksize=1):
            data["full"].append(one)
            write_text(args.out, to_json(data) + "\n")
    best = sorted(data["full"], key=lambda one: -(one["agree"] + one["appendix_agree"]))
    for one in best[:15]:
        print(json.dumps([one["name"], one["search"], one["agree"], one["appendix_agree"], one["afresh"]]))  # noqa: T201


if __name__ == "__main__":
    main()
