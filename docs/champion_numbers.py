"""The numbers behind docs/champions.md: what the champions do, what is inside them, how they do elsewhere.

Everything is measured in the same trials: trial t towards goal g has one seed, whoever runs it.
So every difference is paired. `measure` returns all numbers, ready for JSON.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal import engines, learners
from distal._version import __version__
from distal.base.machine import machine
from distal.base.significance import holm, mean_interval, paired
from distal.engines import Runner
from distal.engines.batch import EPs
from distal.evaluation.behaviour import Behaviour
from distal.evaluation.inspect import with_row
from distal.evaluation.inspection import Effect, other_changes
from distal.evaluation.measures import LAST, Measure
from distal.evaluation.trials import batch_of, settings_in
from distal.evaluation.usage import count_usage
from distal.learners import DEFAULT_CLIMBER, Learner, chance_for
from distal.learners.dsp import NUMBERS, ROWS, Rule
from distal.learners.shipped import champion_record, champion_rules, find_rule
from distal.model.draws import child_seed
from distal.model.maze import maze, t_maze, triple_t_maze
from distal.model.readings import NEURONS, READINGS
from distal.model.settings import SettingsDict
from distal.studies.intervals import Curve, Interval, curve_points
from distal.tasks.mazes import MazeTask
from distal.tasks.task import Aim

BY_BUDGET = Path(__file__).parents[1] / "benchmarks" / "results" / "champions_by_budget.json"
PAPER, OURS = BEFORE = ("paper:1", "evolved:1")  # the best rules before the champions
CLIMBER = "hc"
CHAMPIONS = 18  # the last number of the part that the seed of all trials comes from
KEPT_LAST = 20  # episodes at the end that say what a learner keeps
_AFTER = 50  # episodes after the first success that are looked at

SIGNALS: dict[str, Callable[[int], int | None]] = {  # which row is used in place of one; None: no change
    "swapped": lambda row: row ^ 1,
    "always +1": lambda row: row | 1,
    "always −1": lambda row: row & ~1,
    "no change after m = +1": lambda row: None if row % 2 else row,
    "no change after m = −1": lambda row: row if row % 2 else None,
}


@dataclass(frozen=True)
class Size:
    """How much is run; trials are for all goals of a maze together, rounded up to as many for each.

    Attributes:
        main: Trials that show what each learner does in a short trial.
        trials: Trials of every other short cell.
        long_trials: Trials of every cell with more episodes than a short trial.
        moved: Trials in which weights are followed, on the reference engine.
        short: Episodes of a short trial.
        look: The most episodes of a trial that looks into a rule, or elsewhere.
        long: Episodes of a long trial.
    """

    main: int = 400
    trials: int = 400
    long_trials: int = 160
    moved: int = 8
    short: int = 100
    look: int = 1_000
    long: int = 10_000


QUICK = Size(main=16, trials=8, long_trials=8, moved=2, short=22, look=24, long=30)


@dataclass(frozen=True)
class Place:
    """Where learning happens; `words` name it in tables."""

    words: str
    task: MazeTask = field(default_factory=lambda: MazeTask(triple_t_maze()))
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def settings(self) -> Any:
        """The network, the readings, and as many steps as the maze asks for."""
        given: Any = dict(self.options)
        asked: SettingsDict = given
        return settings_in(self.task, asked)


HOME = Place("the paper’s maze")


def places() -> list[Place]:
    """Return where champions are tried: the maze they were found in, then others that differ in one thing."""
    levels = [
        Place(f"{n} level{'s' * (n > 1)}", MazeTask.scaled(t_maze(n))) for n in (1, 2, 4)
    ]  # steps keep the paper's ratio
    sizes = [Place(f"{n} hidden neurons", options=(("hidden", n),)) for n in (10, 40, 80)]
    readings = [
        Place(f"{name} = {value}", options=((name, value),))
        for name, values in {**READINGS, "neurons": NEURONS}.items()
        for value in list(values)[1:]
    ]
    narrow = Place("narrow-t", MazeTask(maze("narrow-t")))
    return [HOME, narrow, *levels, *sizes, *readings]


class Trials:
    """Runs trials and keeps the EPs of those that several questions need."""

    def __init__(self, seed: int, runner: Runner) -> None:
        self.seed, self.runner = seed, runner
        self.kept: dict[tuple[Learner, Place, int, int], EPs] = {}

    def batch(self, these: Sequence[Learner], place: Place, episodes: int, trials: int) -> engines.Batch:
        """Return the trials of learners, all of one kind; `trials` are for all goals together."""
        each = -(-trials // len(place.task.goals))
        seeds = np.full(len(these), self.seed, np.uint64)
        return batch_of(
            these, seeds, trials=each, episodes=episodes, task=place.task, settings=place.settings,
            record=(episodes,),
        )  # fmt: skip

    def many(self, these: Sequence[Learner], place: Place, episodes: int, trials: int) -> EPs:
        """Return the EPs of learners of one kind, (learners, trials, episodes)."""
        batch = self.batch(these, place, episodes, trials)
        ep = self.runner.run(batch, keep_ep=True).ep
        assert ep is not None  # noqa: S101 - for the type checker: it was asked for
        eps: EPs = ep.reshape(len(these), -1, episodes)
        return eps

    def eps(self, learner: Learner, place: Place, episodes: int, trials: int) -> EPs:
        """Return the EPs of one learner, (trials, episodes)."""
        key = (learner, place, episodes, trials)
        if key not in self.kept:
            self.kept[key] = self.many([learner], place, episodes, trials)[0]
        return self.kept[key]


def score(ep: EPs, measure: Measure, place: Place = HOME) -> NDArray[np.float64]:
    """Return what a measure makes of EPs (…, trials, episodes) in a place: a number for each trial."""
    if not measure.needs_ep:
        best = measure.judged(ep.min(axis=-1), place.task.target(place.settings))
        return np.asarray(best, np.float64)
    return np.asarray(ep[..., -(measure.episodes or ep.shape[-1]) :].mean(axis=-1), np.float64)


def mean(values: NDArray[Any]) -> dict[str, float]:
    """Return a mean with its interval, by Student's t."""
    return Interval(float(values.mean()), *mean_interval(values.astype(np.float64))).to_dict()


def share(which: NDArray[np.bool_]) -> dict[str, float]:
    """Return a share with Wilson's interval."""
    return Interval.share(which).to_dict()


def gap(own: NDArray[np.float64], other: NDArray[np.float64]) -> dict[str, float]:
    """Return one learner minus another in the same trials; below 0 is better."""
    return {**mean(own - other), "p": paired(own, other)}


# ------------------------------------------------------------------ what they do


def behaviour(ep: EPs, target: float, goals: int) -> dict[str, Any]:
    """Return what the episodes (trials, episodes) of a learner show, beyond the best of them."""
    hit = ep <= target
    found = Behaviour.of(ep, target)
    ends = [np.unique(ep[goal::goals, -1], return_counts=True) for goal in range(goals)]
    reached = np.asarray(hit.any(axis=1))
    return {
        "best": mean(ep.min(axis=1)),
        LAST: mean(ep[:, -KEPT_LAST:].mean(axis=1)),
        "reached": share(reached),
        "reached_by_goal": [float(reached[goal::goals].mean()) for goal in range(goals)],
        "median_first": found.median_first,
        "retained": found.retained,
        "again_at_once": float(hit[:, 1:][hit[:, :-1]].mean()) if hit[:, :-1].any() else None,
        "same_end": float(np.mean([counts.max() / counts.sum() for _, counts in ends])),
        "usual_end": [float(values[counts.argmax()]) for values, counts in ends],
        "different": mean(np.array([len(np.unique(row)) for row in ep])),
    }


def after_success(ep: EPs, target: float) -> dict[str, list[float]]:
    """Return the share of trials that reach the goal 1, 2, … episodes after their first success.

    Every number is of the trials that have so many episodes left; the list ends where fewer than five do.
    """
    hit = ep <= target
    first = np.where(hit.any(axis=1), hit.argmax(axis=1), ep.shape[1])
    left = [np.flatnonzero(first + later < ep.shape[1]) for later in range(1, _AFTER + 1)]
    left = [rows for rows in left if len(rows) >= 5]  # the later, the fewer
    shares = [float(hit[rows, first[rows] + later].mean()) for later, rows in enumerate(left, start=1)]
    return {"share": shares, "trials": [float(len(rows)) for rows in left]}


def curves(ep: EPs, target: float) -> dict[str, Any]:
    """Return the best EP so far, the EP and the share that reach the goal, after every episode."""
    points = np.arange(1, ep.shape[1] + 1)
    lines = {"best": np.minimum.accumulate(ep, axis=1), "ep": ep, "reached": ep <= target}
    return {name: Curve.at(points, values.astype(np.float64)).to_dict() for name, values in lines.items()}


def does(trials: Trials, size: Size, learner: Learner) -> dict[str, Any]:
    """Return what a learner does in short and in long trials, and chance in the same."""
    target = HOME.task.target(HOME.settings)
    result: dict[str, Any] = {}
    for who, one in (("own", learner), ("chance", chance_for(learner))):
        ep = trials.eps(one, HOME, size.short, size.main)
        long = trials.eps(one, HOME, size.long, size.long_trials)
        points = np.unique([*curve_points(size.long), size.look])
        best = np.minimum.accumulate(long, axis=1)[:, points - 1]
        result[who] = {
            **behaviour(ep, target, len(HOME.task.goals)),
            "curves": curves(ep, target),
            "after_success": after_success(ep, target),
            "long": {"best": mean(best[:, -1]), "reached": share(best[:, -1] <= target)},
            "long_curve": Curve.at(points, best.astype(np.float64)).to_dict(),
        }
    return result


def movement(trials: Trials, size: Size, rule: Rule) -> dict[str, Any]:
    """Return how far one update moves the weights, and where to, by what happened before it.

    How far is a share of their length. Where to is the cosine of the angle to the update before:
    1 goes on in the same direction, −1 goes back. The reference engine shows the weights of every
    episode; it is slow, so these are few trials.
    """
    target, settings = HOME.task.target(HOME.settings), HOME.settings
    moved: dict[str, list[float]] = {"goal": [], "no worse": [], "worse": []}
    turned: dict[str, list[float]] = {"goal": [], "no worse": [], "worse": []}
    for trial in range(size.moved):
        number, goal = divmod(trial, len(HOME.task.goals))
        aim, seed = Aim(HOME.task, goal), child_seed(trials.seed, number, goal, 0)
        steps: list[tuple[NDArray[Any], str]] = []  # every update, and what happened before it
        before: tuple[NDArray[Any], float, str] | None = None
        for episode in islice(learners.episodes(rule, aim, settings, seed), size.short):
            weights = np.concatenate([episode.weights.hidden.ravel(), episode.weights.output.ravel()])
            worse = before is not None and episode.ep > before[1]
            if before is not None:
                steps.append((weights - before[0], before[2]))
                moved[before[2]].append(float(np.linalg.norm(steps[-1][0]) / np.linalg.norm(before[0])))
            before = weights, episode.ep, "goal" if episode.ep <= target else "worse" if worse else "no worse"
        for (one, _), (two, what) in pairwise(steps):
            lengths = float(np.linalg.norm(one) * np.linalg.norm(two))
            if lengths > 0:
                turned[what].append(float(one @ two) / lengths)
    return {
        name: {
            "updates": len(moved[name]),
            "mean": float(np.mean(moved[name])) if moved[name] else None,
            "cosine": float(np.mean(turned[name])) if turned[name] else None,
        }
        for name in moved
    }


# ------------------------------------------------------------------ what is inside


def inside(trials: Trials, size: Size, rule: Rule, measure: Measure, episodes: int) -> dict[str, Any]:
    """Return which rows a rule uses and needs, whether it needs m, and how it depends on its numbers."""
    count = size.trials if episodes <= size.short else size.long_trials
    own = score(trials.eps(rule, HOME, episodes, count), measure)
    chance = score(trials.eps(chance_for(rule), HOME, episodes, count), measure)

    def effects(rules: Sequence[Rule]) -> list[Effect]:
        return [Effect.of(one, own) for one in score(trials.many(rules, HOME, episodes, count), measure)]

    asked = other_changes(rule)
    knocked = effects([with_row(rule, *one) for one in asked])
    corrected = holm([effect.p for effect in knocked])
    usage = count_usage(trials.batch([rule], HOME, episodes, min(count, 80)), trials.runner.engine)
    tried = [
        (name, value)
        for name in NUMBERS
        for value in dict.fromkeys([0.0, getattr(rule, name) / 2, min(1.0, 2 * getattr(rule, name))])
        if value != getattr(rule, name)
    ]
    others = [replace(rule, **{name: value}) for name, value in tried]
    rows = [[of(row) for row in range(ROWS)] for of in SIGNALS.values()]
    signals = [replace(rule, delta_w=[0 if k is None else rule.delta_w[k] for k in one]) for one in rows]
    return {
        "measure": str(measure),
        "episodes": episodes,
        "trials": len(own),
        "fitness": mean(own),
        "chance": mean(chance),
        "use": usage.rows.tolist(),
        "use_by_layer": usage.counts.sum(axis=0).tolist(),
        "unused": list(usage.unused),
        "knockouts": [
            {"row": row, "change": change, **asdict(effect), "corrected": p}
            for (row, change), effect, p in zip(asked, knocked, corrected, strict=True)
        ],
        "signals": {
            name: asdict(effect)
            for name, effect in zip(SIGNALS, effects(signals), strict=True)
        },
        "numbers": [
            {"name": name, "value": value, **asdict(effect)}
            for (name, value), effect in zip(tried, effects(others), strict=True)
        ],
        "movement": movement(trials, size, rule),
    }  # fmt: skip


# ------------------------------------------------------------------ elsewhere


def elsewhere(
    trials: Trials, size: Size, rule: Rule, measure: Measure, episodes: int
) -> list[dict[str, Any]]:
    """Return how a champion does in other places and in longer trials, beside chance and hill climbing."""
    longer = [one for one in (size.look, size.long) if one > episodes]
    cells = [*((place, episodes) for place in places()), *((HOME, one) for one in longer)]
    rows: list[dict[str, Any]] = []
    for place, length in cells:
        count = size.trials if length <= size.short else size.long_trials
        own, chance, climber = (
            score(trials.eps(one, place, length, count), measure, place)
            for one in (rule, chance_for(rule), DEFAULT_CLIMBER)
        )
        distances = place.task.maze.start_distances
        rows.append(
            {
                "place": place.words, "episodes": length, "trials": len(own), "own": mean(own),
                "chance": mean(chance), "climber": mean(climber), "minus_chance": gap(own, chance),
                "minus_climber": gap(own, climber), "perfect": sum(distances) / len(distances),
            }
        )  # fmt: skip
    gaps = [row[test] for row in rows for test in ("minus_chance", "minus_climber")]
    for one, p in zip(gaps, holm([one["p"] for one in gaps]), strict=True):
        one["corrected"] = p
    return rows


# ------------------------------------------------------------------ all of it


def by_budget(champions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of champions and those kept of searches with other budgets, the smallest first."""
    kept = json.loads(BY_BUDGET.read_text(encoding="utf-8"))
    prizes = {entry["record"]["prize"] for entry in kept["champions"]}
    records = [entry["record"] for entry in kept["champions"]]
    records += [record for record in champions if record["prize"] in prizes]
    return sorted(records, key=lambda record: int(record["budget"]))


def measure(size: Size, seed: int, engine: str | None, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything.

    Args:
        size: How much is run.
        seed: The seed of all random numbers.
        engine: As in `learn`.
        say: Called with what is done next.

    Returns:
        All numbers, ready for JSON.
    """
    started = time.perf_counter()
    trials = Trials(child_seed(seed, 0, 0, CHAMPIONS), Runner.of(engine))
    rules = champion_rules()
    records = [champion_record(number) for number in range(1, len(rules) + 1)]
    shown: dict[str, Learner] = {name: find_rule(name) for name in BEFORE}
    shown |= {rule.name: rule for rule in rules} | {CLIMBER: DEFAULT_CLIMBER}
    does_what = {}
    for name, learner in shown.items():
        say(f"what {name} does")
        does_what[name] = does(trials, size, learner)
    look = {OURS: (find_rule(OURS), Measure(), size.short)}
    for rule, record in zip(rules, records, strict=True):
        short = record["episodes"] <= Size.short
        episodes = size.short if short else size.look
        look[rule.name] = rule, Measure.of(record["fitness"]), episodes
    within, abroad = {}, {}
    for name, (rule, by, episodes) in look.items():
        say(f"what is inside {name}")
        within[name] = inside(trials, size, rule, by, episodes)
        if name != OURS:
            say(f"{name} elsewhere")
            abroad[name] = elsewhere(trials, size, rule, by, episodes)
    goals = {"goals": list(HOME.task.goals), "distances": list(HOME.task.maze.start_distances)}
    return {
        "format": "distal-champion-study",
        "version": 1,
        "distal": __version__,
        "seed": seed,
        "engine": trials.runner.engine,
        "machine": machine(),
        "seconds": round(time.perf_counter() - started, 1),
        "size": asdict(size),
        **goals,
        "champions": [
            {"rule": rule.to_dict(), "record": record} for rule, record in zip(rules, records, strict=True)
        ],
        "by_budget": by_budget(records),
        "rules": {name: one.to_dict() for name, one in shown.items()},
        "does": does_what,
        "inside": within,
        "elsewhere": abroad,
    }
