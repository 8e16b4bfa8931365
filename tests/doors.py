"""Every door of the package, and the wrong values that are tried on it.

A door is a public function, class or method: how to call it rightly, quickly, and for each
of its parameters an oracle that says which values are right. `singles` gives every
parameter every nasty value, one at a time; `calls` draws pairs at random. `attempt` makes
such a call: a wrong one has to be refused with `InputError`, in one line, at once, and to
leave no file behind; a right one has to work.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import random
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from pathlib import Path, PurePosixPath
from pydoc import locate
from typing import Any, ClassVar

import gymnasium
import numpy as np

import distal
from distal import (
    Chance,
    Comparison,
    HillClimbing,
    InputError,
    Maze,
    Rule,
    Settings,
    engines,
    learners,
    networks,
)
from distal.engines import Batch, Runner
from distal.engines.cluster import Cluster
from distal.engines.cpu import engine as cpu
from distal.engines.gpu import engine as gpu
from distal.engines.reference import engine as reference
from distal.engines.spread import Spread
from distal.evaluation.behaviour import Behaviour
from distal.evaluation.result import Result
from distal.evaluation.rule_set import find_rules
from distal.evaluation.trials import batch_of
from distal.evaluation.usage import Usage
from distal.model.draws import child_seed
from distal.model.maze import HEADINGS, MAZES
from distal.model.readings import NEURONS, READINGS
from distal.networks import Recurrent, run_episode
from distal.search.cma import CMASearch
from distal.search.config import Config
from distal.search.genetic import GeneticSearch
from distal.search.genotypes import Finalists, Genotypes
from distal.search.registry import register
from distal.search.results import Fresh, Winner
from distal.show import film, watch
from distal.show.inspection_page import write_figures, write_page
from distal.show.scenes import Scene, scenes
from distal.studies.appendix import Appendix
from distal.studies.champion import HeldOut
from distal.studies.reading_outcome import ReadingStudy
from distal.studies.reproduction import Reproduction
from distal.studies.study import Scale
from distal.studies.tasks import TaskStudy
from distal.tasks.encoders import Encoder
from distal.tasks.environment import REWARDS, MazeEnv, MazeVectorEnv
from distal.tasks.gym import EnvTask, EnvWalk
from distal.tasks.mazes import MazeTask, MazeWalk
from distal.tasks.picture import Picture
from distal.tasks.sources import rebuilt, task_of
from distal.tasks.switching import SCHEDULES, Switch
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from distal.tasks.tabulation import tabulate
from distal.tasks.task import Aim

DOCS = Path(__file__).parents[1] / "docs"

SECONDS = 5.0  # that a call may take: a refusal takes no time, and the right calls are tiny
LINE = 1_000  # letters of a refusal, at most

RIGHT, WRONG, EITHER, LONG = "right", "wrong", "either", "right, but not to be waited for"
Oracle = Callable[[Any], str]

SMALL = Maze.from_text("#####\n#0S1#\n#####")
TASK = MazeTask(SMALL)
RULE = Rule([0, 1, -1, 0] * 8, 0.1, 0.2, 0.3, 0.4)
CLIMBER, RANDOM = HillClimbing(0.1, 0.2, 0.3), Chance(0.1, 0.2)
SHORT = Settings(hidden=2, steps=3)
SMALLEST: Any = {
    "runs": 1, "generations": 1, "search": distal.GeneticAlgorithm(population=3, elite_count=1), "trials": 1,
    "episodes": 2, "hidden": 2, "steps": 3,
}  # fmt: skip


# ------------------------------------------------------------------ nasty values


class Bomb:
    """Whatever it is asked, it raises."""

    def _burst(self, *args: object) -> Any:
        raise ZeroDivisionError("a bomb")

    __repr__ = __str__ = __len__ = __bool__ = __eq__ = __lt__ = __hash__ = _burst
    __iter__ = __getitem__ = __int__ = __float__ = __index__ = __contains__ = _burst


class Place(os.PathLike[Any]):
    """A path that is not text."""

    def __init__(self, given: object) -> None:
        self.given = given

    def __fspath__(self) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


class Pool:
    """A class that looks like an executor; what follows `Executor` is its instances."""

    def __init__(self, *args: object) -> None: ...

    def submit(self) -> None: ...

    def shutdown(self) -> None: ...


def anything(*args: object, **options: object) -> None:
    """Take anything."""


_VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 1000, 2**31, 2**32, 2**63, 2**64, -(2**63), 10**30, -1.0, 0.0,
    0.5, 1.0, 1.5, 1e308, float("nan"), float("inf"), -float("inf"), 1j, Decimal(1), Fraction(1, 2),
    "", " ", "x", "3", "0", "None", "nan", "\0", "a\0b", "\n", "a\nb", "\x1b[31m", "\ud800", "\udcff",
    "é", "\u2028", "a" * 4_000, "a/" * 3_000, ".", "folder", "folder/other.txt", "file.txt",
    "file.txt/x", "latin.txt", "nan.json", "twice.json", "deep.json", "digits.json", "number.json",
    "loop", "loop/x", "missing", "missing/x", "paper:0", "paper:16", "paper:x", "evolved:", "hc ", b"",
    b"x", bytes(32), bytearray(b"x"), memoryview(b"x"), (), [], [None], [1], ["x"], [[]], [{}], {},
    {"a": 1}, {1: 2}, set(), frozenset({1}), range(3), range(10**9), slice(1), NotImplemented, ...,
    datetime(2020, 1, 1, tzinfo=UTC), np.int64(3), np.uint8(1), np.int8(-1), np.float64(0.5),
    np.float32(0.5), np.float64("nan"), np.bool_(True), np.str_("x"), np.bytes_(b"x"), np.array(1),
    np.array([1, 2]), np.zeros((2, 2)), np.zeros(0), np.array(["x"]), np.array([None]),
    np.array([[0] * 40] * 40), np.datetime64("2020"), Path(), Path("missing"), Path("folder"),
    PurePosixPath("file.txt"), Path("loop"),
)  # fmt: skip
NASTY: dict[str, object] = {
    **{repr(value)[:40]: value for value in _VALUES},
    "10**5000": 10**5000,
    "object()": object(),
    "an iterator": iter([1]),
    "a bomb": Bomb(),
    "a function": anything,
    "a class": Pool,
    "a path of bytes": Place(b"x"),
    "a path of a number": Place(5),
    "a path that raises": Place(ZeroDivisionError("a path")),
    "another maze": Maze.from_text("#####\n#S.7#\n#####"),
    "a rule": RULE,
    "a climber": CLIMBER,
    "chance": RANDOM,
    "settings": SHORT,
}


def furnish(folder: Path) -> None:
    """Put the files in a folder that right and nasty values name."""
    (folder / "folder").mkdir(parents=True)
    texts = {
        "folder/other.txt": "not ours\n",
        "file.txt": "no maze, no rule\n",
        "nan.json": '{"format": "distal-climber", "version": 1, "sigma": NaN, "alpha_h": 0, "alpha_o": 0}',
        "twice.json": json.dumps(RULE.to_dict())[:-1] + ', "eta": 0.5}',
        "deep.json": "[" * 100_000,
        "digits.json": "9" * 10_000,
        "number.json": "5",
        "rule.json": json.dumps(RULE.to_dict()),
        "climber.json": json.dumps(CLIMBER.to_dict()),
        "plastic.json": json.dumps(plastic().to_dict()),
        "chance.json": json.dumps(RANDOM.to_dict()),
        "maze.txt": str(SMALL),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "latin.txt").write_bytes(b"\xff\xfe\x80")
    TableTask(Table(**{name: make() for name, (make, _) in TABLE.items()})).save(folder / "table.npz")
    agent().save(folder / "agent.json")
    lake_agent().save(folder / "lake.json")
    (folder / "loop").symlink_to("loop")
    distal.evolve(**{**SMALLEST, "maze": SMALL, "out": folder / "runs"})


def contents(folder: Path) -> dict[str, bytes]:
    """Return what lies in a folder, with what files hold."""
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def stamps(folder: str | Path) -> Iterator[tuple[str, int]]:
    """Yield what lies in a folder, and when it was changed: quick to see, but a file may be rewritten."""
    for entry in os.scandir(folder):
        yield entry.path, entry.stat(follow_symlinks=False).st_mtime_ns
        if entry.is_dir(follow_symlinks=False):
            yield from stamps(entry.path)


# ------------------------------------------------------------------ oracles


def _number(value: object) -> int | float | None:
    """Return what a number is worth; None for what is none, or is True or False."""
    plain: object = value.item() if isinstance(value, np.integer | np.floating) else value
    return plain if type(plain) in (int, float) else None  # type: ignore[return-value]


def right_if(right: bool) -> str:
    """Say right or wrong."""
    return RIGHT if right else WRONG


def whole(low: int, high: int, quick: int | None = None) -> Oracle:
    """Take whole numbers in low … high; those beyond `quick` are not to be waited for."""

    def says(value: object) -> str:
        number = _number(value)
        if not isinstance(number, int) or not low <= number <= high:
            return WRONG
        return RIGHT if quick is None or number <= quick else LONG

    return says


def share(value: object) -> str:
    """Take numbers from 0 to 1."""
    number = _number(value)
    return right_if(number is not None and 0 <= number <= 1)


def finite(value: object) -> str:
    """Take all numbers that a float can hold."""
    number = _number(value)
    return right_if(number is not None and abs(number) <= sys.float_info.max)


def flag(value: object) -> str:
    """Take True and False."""
    return right_if(isinstance(value, bool | np.bool_))


def words(*allowed: str) -> Oracle:
    """Take some words."""
    return lambda value: right_if(isinstance(value, str) and value in allowed)


def function(value: object) -> str:
    """Take what can be called."""
    return right_if(callable(value))


def one(*kinds: type) -> Oracle:
    """Take objects of some kinds."""
    return lambda value: right_if(isinstance(value, kinds))


def some(*kinds: type) -> Oracle:
    """Take objects of some kinds, but perhaps not all of them."""
    return lambda value: EITHER if isinstance(value, kinds) else WRONG


def never(value: object) -> str:
    """Take nothing of what is on the list."""
    return WRONG


def schedule(value: object) -> str:
    """Take what says where goals move: two words, and perhaps a list."""
    if isinstance(value, str):
        return right_if(value in SCHEDULES)
    return some(list, tuple, range, np.ndarray)(value)


def either(value: object) -> str:
    """Do not know."""
    return EITHER


def none_or(oracle: Oracle) -> Oracle:
    """Take None, and what another oracle takes."""
    return lambda value: RIGHT if value is None else oracle(value)


def title(value: object) -> str:
    """Take text without control characters, of up to 200 letters."""
    return right_if(
        isinstance(value, str)
        and len(value) <= 200
        and not any(letter in value for letter in "\0\n\x1b\ud800\udcff\u2028")
    )


def _written(value: object) -> str | None:
    """Return a path as text, if a file system can take it."""
    try:
        path = os.fspath(value)  # type: ignore[call-overload]
        os.fsencode(path)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    usable = isinstance(path, str) and path and "\0" not in path and len(path) < 1000
    return str(path) if usable and not path.startswith("loop") else None


def new_file(value: object) -> str:
    """Take paths that a file can be written to; one that is there may be of another kind."""
    path = _written(value)
    if path is not None and Path(path).is_file():
        return EITHER
    return right_if(path is not None and not Path(path).is_dir() and Path(path).parent.is_dir())


def any_folder(value: object) -> str:
    """Take paths of folders, there or not."""
    path = _written(value)
    return right_if(
        path is not None and not any(part.is_file() for part in (Path(path), *Path(path).parents))
    )


def new_folder(value: object) -> str:
    """Take paths of folders that are not there; others may be taken by force."""
    there = any_folder(value) == RIGHT and Path(value).exists()  # type: ignore[arg-type]
    return EITHER if there else any_folder(value)


# ------------------------------------------------------------------ doors

Row = tuple[Callable[[], Any], Oracle]  # makes a right value; says which are right
Rows = Mapping[str, Row]


@dataclass(frozen=True)
class Door:
    """A public callable, a way to call it with keywords, and a row for each parameter."""

    name: str
    call: Callable[..., object]
    rows: Rows
    quick: bool = True  # whether a right call can be waited for

    def right(self) -> dict[str, Any]:
        """Make the arguments of a right call."""
        return {parameter: make() for parameter, (make, _) in self.rows.items()}


def row(given: Any, oracle: Oracle) -> Row:
    """Return the row of a parameter with a right value that can be used again and again."""
    return (lambda: given), oracle


def arrays(count: int) -> tuple[Any, Any, Any]:
    """Return learner, goal and seed of so many trials."""
    return np.zeros(count, np.int32), np.zeros(count, np.int32), np.arange(count).astype(np.uint64)


def trials(count: int = 1) -> Batch:
    """Return a batch of so many trials."""
    return Batch((RULE,), *arrays(count), TASK, SHORT, 2)


@cache
def result() -> Result:
    """Return an evaluation with everything kept."""
    options: Any = {"episodes": 2, "trials": 1, "hidden": 2, "steps": 3}
    return distal.learn(RULE, maze=SMALL, keep_ep=True, keep_weights=True, **options)


def agent() -> distal.Agent:
    """Return an agent of a maze."""
    return result().agent(0)


def plastic() -> distal.PlasticNetwork:
    """Make a plastic network for the maze."""
    return distal.PlasticNetwork(RULE, inputs=3, outputs=4, settings=SHORT)


def acting() -> distal.PlasticNetwork:
    """Make one that is in an episode."""
    made = plastic()
    made.start_episode()
    return made


def acted() -> distal.PlasticNetwork:
    """Make one that has taken a step."""
    made = acting()
    made.act([1, 0, 1])
    return made


@cache
def lake_agent() -> distal.Agent:
    """Return an agent of an environment."""
    small: Any = {"episodes": 1, "trials": 1, "hidden": 2}
    return distal.learn("chance", task=EnvTask("FrozenLake-v1"), keep_weights=True, **small).agent()


@cache
def evaluation() -> distal.Evaluation:
    """Return how an agent does in two episodes."""
    return distal.evaluate(agent(), env(), episodes=2, options={"goal": 1})


@cache
def comparison() -> Comparison:
    """Return two learners compared in a trial."""
    options: Any = {"episodes": 2, "trials": 1, "hidden": 2, "steps": 3}
    return distal.compare([RULE, CLIMBER], maze=SMALL, **options)


@cache
def evolved() -> distal.Evolved:
    """Return the smallest evolution there is."""
    return distal.evolve(**{**SMALLEST, "maze": SMALL, "fresh": 4})


@cache
def inspection() -> distal.Inspection:
    """Return what is in a small rule; row 1 has the change 1."""
    return distal.inspect(RULE, maze=SMALL, episodes=2, trials=1, hidden=2, steps=3)


@cache
def inspected_set() -> distal.RuleSet:
    """Return what two rules have in common."""
    return distal.inspect_set([RULE, "paper:1"], maze=SMALL, episodes=2, trials=1, hidden=2, steps=3)


@cache
def reproduction() -> Reproduction:
    """Return a reproduction of nothing: one rule, one climber, two trials, three episodes."""
    tests = ("dsp", "hc", "dsp_resampled", "hc_resampled", "chance", "chance_hc")
    return Reproduction(
        Scale("quick", 1, 0, episodes=3), 0, "evolved", "remeasured", SHORT, SMALL, "cpu", {}, {}, {},
        {"dsp": (RULE,), "hc": (CLIMBER,)}, {test: np.ones((1, 2, 3), np.int32) for test in tests},
        {}, {}, {}, Appendix((3,), *(np.ones((15, 2, 1), np.int32),) * 3, narrow=None),
    )  # fmt: skip


@cache
def study() -> dict[str, Any]:
    """Return the study of readings that the documents show, as its file holds it."""
    data: dict[str, Any] = json.loads((DOCS / "readings.json").read_text())
    return data


@cache
def tasks() -> dict[str, Any]:
    """Return the study of tasks that the documents show, as its file holds it."""
    data: dict[str, Any] = json.loads((DOCS / "tasks.json").read_text())
    return data


@cache
def beyond() -> dict[str, Any]:
    """Return the study beyond the paper that the documents show, as its file holds it."""
    data: dict[str, Any] = json.loads((DOCS / "beyond.json").read_text())
    return data


@cache
def winner() -> dict[str, Any]:
    """Return a winner as files hold it."""
    return Winner(1, RULE, 0, 5.0, Fresh.of(np.array([1, 2, 4]), np.array([2, 2, 3]))).to_dict()


@dataclass(frozen=True)
class Sleeper(Chance):
    """A learner of a kind of its own."""

    kind: ClassVar[str] = "sleeper"
    file_format: ClassVar[str] = "sleeper"


def registering(kind: Any, default: Any) -> None:
    """Register a kind of learner, and forget it again."""
    learners.register(kind, default)
    learners.unregister("sleeper")


def unregistering(kind: Any) -> None:
    """Forget a kind of learner that is known."""
    learners.register(Sleeper)
    try:
        learners.unregister(kind)
    finally:
        learners.KINDS.pop("sleeper", None)


def search() -> GeneticSearch:
    """Return a search before its first generation."""
    return distal.GeneticAlgorithm(population=3, elite_count=1).begin(2, 1, 0)


def told_search() -> GeneticSearch:
    """Return a search after its first generation."""
    made = search()
    made.tell(made.ask(), np.array([2.0, 1.0, 3.0]))
    return made


def config() -> Config:
    """Return the configuration of the smallest evolution."""
    return evolved().config


def held_out() -> dict[str, Any]:
    """Return what the first champion did on held-out trials."""
    found: dict[str, Any] = distal.champion_record(1)["held_out"]
    return found


@cache
def scene() -> Scene:
    """Return a walk of a step."""
    return scenes(trials(), [1])[0]


def restored(**state: object) -> None:
    """Let a search go on from a state."""
    search().restore(state)


def asked_cma() -> CMASearch:
    """Return a search with CMA-ES that has been asked for its first generation."""
    made = distal.CMA(population=4).begin(2, 1, 0)
    made.ask()
    return made


@cache
def told_cma() -> dict[str, Any]:
    """Return its state after that generation."""
    made = asked_cma()
    made.tell(made.ask(), np.array([2.0, 1.0, 3.0, 4.0]))
    return made.state()


def restored_cma(**state: object) -> None:
    """Let it go on from a state."""
    asked_cma().restore(state)


@cache
def told() -> dict[str, Any]:
    """Return the state of a search after its first generation."""
    made = search()
    made.tell(made.ask(), np.array([2.0, 1.0, 3.0]))
    return made.state()


def env() -> MazeEnv:
    """Return an environment in which an episode has begun."""
    made = MazeEnv(SMALL, goal=1, max_steps=3)
    made.reset(seed=0)
    return made


def task() -> EnvTask:
    """Return an environment as a task."""
    return EnvTask(env())


def envs() -> MazeVectorEnv:
    """Return two of them."""
    made = MazeVectorEnv(2, SMALL, goal=1)
    made.reset(seed=0)
    return made


class SameThread(Executor):
    """An executor that does the work at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do it."""
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def method(make: Callable[[], object], name: str) -> Callable[..., object]:
    """Return a function that calls a method of a fresh object."""

    def call(**given: object) -> object:
        return getattr(make(), name)(**given)

    return call


def from_fields(read: Callable[..., object]) -> Callable[..., object]:
    """Let a function that takes what a file holds be called with the fields of it."""
    return lambda **fields: read(fields)


def fields_of(right: Mapping[str, Any], **oracles: Oracle) -> Rows:
    """Return a row for each field; nothing but the value itself is right where no oracle is given."""
    return {name: row(given, oracles.get(name, never)) for name, given in right.items()}


PANDAS = importlib.util.find_spec("pandas") is not None
AX: Rows = {"ax": row(None, none_or(never))}
SEED = row(0, whole(0, 2**64 - 1))
INPUTS, OUTPUTS = whole(1, 2**20, quick=256), whole(1, 2**12, quick=256)
SETTINGS: Rows = {
    "hidden": row(2, whole(1, 256, quick=10)),
    "steps": row(3, whole(1, 10_000)),
    **{name: row(next(iter(values)), words(*values)) for name, values in READINGS.items()},
    "neurons": row("binary", words(*NEURONS)),
    "network": row("recurrent", words("recurrent")),
}
BLOCKED, HEADING, HEADED = SETTINGS["blocked"], row("north", words(*HEADINGS)), row(0, whole(0, 3))
NUMBERS: Rows = {
    "episodes": row(2, whole(1, 2**32 - 1, quick=10)),
    "trials": row(1, whole(1, 2**32 - 1, quick=10)),
    "resample": row(None, none_or(whole(1, 2**32 - 1))),
    "seed": SEED,
}
SWITCH = row(None, none_or(whole(1, 1)))  # of two episodes
MAZE, PROGRESS = row(SMALL, none_or(one(Maze))), row(None, none_or(function))
ENGINE = row("cpu", words("cpu", "reference", "auto"))
HOW: Rows = {"engine": row("cpu", none_or(ENGINE[1]))}
WORKERS = row(1, none_or(whole(1, 1024)))
LEARNER = row("paper:1", one(Rule, HillClimbing, Chance))
EVALUATION: Rows = {
    **NUMBERS, **SETTINGS, **HOW, "maze": MAZE, "keep_ep": row(True, flag), "progress": PROGRESS,
    "keep_weights": row(True, flag), "chance": row(True, flag), "switch": SWITCH,
}  # fmt: skip
NO_TASK = row(None, none_or(never))  # there is a maze already
PLASTIC: Rows = {
    "learner": LEARNER, "inputs": row(3, INPUTS), "outputs": row(4, OUTPUTS),
    "task": row(None, none_or(never)), "seed": SEED, "resample": NUMBERS["resample"],
    "switch": NUMBERS["resample"], "settings": row(SHORT, none_or(one(Settings))),
}  # fmt: skip
AGENT: Rows = {
    "weights": (lambda: result().weights(0), never), "network": (lambda: result().network, never),
    "encoder": row(None, none_or(never)),
    "first_action": row(0, whole(-10_000_000, 10_000_000)), "name": row("", title), "seed": SEED,
    "episode": row(0, whole(0, 2**32 - 1 - 10_000_000)),
    "actions": row(None, none_or(never)), "goals": row(None, none_or(never)),
}  # fmt: skip
COMPARING: Rows = {
    **NUMBERS, **SETTINGS, **HOW, "maze": MAZE, "progress": PROGRESS,
    "engine": row("cpu", none_or(ENGINE[1])), "learners": row([RULE, RANDOM], never),
    "task": row(None, none_or(never)),
}  # fmt: skip
INSPECTION: Rows = {
    **SETTINGS, **HOW, "maze": MAZE, "progress": PROGRESS, "seed": SEED,
    "task": row(None, none_or(never)),
    "trials": row(2, lambda count: EITHER if _number(count) == 1 else whole(2, 2**32 - 1, quick=3)(count)),
    "episodes": row(2, whole(2, 2**32 - 1, quick=3)),
    "resample": row(None, none_or(whole(2, 2**32 - 1))),
}  # fmt: skip
GENETIC: Rows = {
    "population": row(3, whole(2, 2**20, quick=3)),
    "elite_count": row(1, whole(0, 2)),
    **{name: row(0.5, share) for name in ("crossover", "mutation", "deviation")},
    "elites": row("remeasured", words("remeasured", "kept", "averaged")),
    "parents": row("roulette", words("roulette", "elites")),
    "mixing": row("one-point", words("one-point", "uniform")),
    "wheel": row("inverted", words("inverted", "proportional")),
    "bounds": row("clip", words("clip", "reflect")),
}
ALGORITHM = row(distal.GeneticAlgorithm(), never)
GENES: Rows = {
    "discrete": row(2, whole(0, 2**20, quick=10)), "continuous": row(1, whole(0, 2**20, quick=10)),
    "seed": SEED,
}  # fmt: skip


def BUDGET(given: object) -> str:  # noqa: N802 - a constant like the others
    """Take numbers of episodes; what is too few depends on the rest, and many take long."""
    number = _number(given)
    return WRONG if number is None or not number > 0 else EITHER if number < 10_000 else LONG


def no_learners(given: object) -> str:
    """Take what may be an empty list; of learners in one, other tests are."""
    kinds = (list, tuple, np.ndarray)
    return EITHER if isinstance(given, kinds) and np.size(given) == 0 else WRONG


EVOLUTION: Rows = {
    "learner": row("dsp", words("dsp", "hc")),
    "runs": row(1, whole(1, 2**20, quick=3)),
    "generations": row(1, lambda given: EITHER if given is None else whole(0, 2**32 - 1, quick=3)(given)),
    "budget": row(None, none_or(never)),  # beside generations
    "finalists": row(0, whole(0, 2**20, quick=3)),
    "begin_with": row((), no_learners),
    "search": row(distal.GeneticAlgorithm(population=3, elite_count=1), none_or(never)),
    "fitness": row("best", words("best", "mean", "missed")),
    "switch": SWITCH,
    "fresh": row(4, none_or(whole(2, 2**32 - 1, quick=1000))),
    **{name: NUMBERS[name] for name in ("trials", "episodes", "seed")},
    **SETTINGS, **HOW, "maze": MAZE, "progress": PROGRESS, "force": row(False, flag),
    "out": row(None, none_or(new_folder)),
}  # fmt: skip
REPORTING: Rows = {
    "scale": row("quick", words("quick", "paper")),
    **{name: EVOLUTION[name] for name in ("force", "maze", "progress", "seed", *HOW, *SETTINGS)},
    "elites": row("remeasured", words("remeasured", "kept")),
    "out": row(None, none_or(any_folder)),
}
WATCHING: Rows = {
    "learner": LEARNER,
    "against": row(None, none_or(LEARNER[1])),
    "goal": row(
        "0", lambda goal: EITHER if isinstance(goal, str | int | np.integer) else right_if(goal is None)
    ),
    **{name: NUMBERS[name] for name in ("episodes", "resample", "seed")},
    "switch": row(None, none_or(whole(1, 2**32 - 1))),
    **SETTINGS,
    "maze": row(SMALL, lambda maze: EITHER if isinstance(maze, Maze) else MAZE[1](maze)),  # has it a goal 0?
    "task": row(None, none_or(never)),  # beside a maze
}
WALKING: Rows = {
    "maze": MAZE,
    "heading": row(None, none_or(HEADING[1])),
    "goal": row(0, none_or(lambda goal: EITHER if whole(2, 7)(goal) == RIGHT else whole(0, 1)(goal))),
    "max_steps": SETTINGS["steps"],
    "reward": row("episode", words(*REWARDS)),
    "blocked": BLOCKED,
}
ASKED: Rows = {
    "batch": (trials, one(Batch)),
    "keep_weights": row(False, flag),
    "keep_ep": row(False, flag),
    "workers": WORKERS,
    "progress": PROGRESS,
}
ASKED_OF_RUNNER: Rows = {name: ASKED[name] for name in ASKED if name != "workers"}
BATCH: Rows = {
    "learners": row((RULE,), never),
    "learner": row(arrays(2)[0], never),
    "goal": row(arrays(2)[1], never),
    "seed": row(arrays(2)[2], some(np.ndarray)),
    "task": row(TASK, one(MazeTask)),
    "settings": row(SHORT, one(Settings)),
    "episodes": row(2, lambda count: EITHER if _number(count) == 1 else whole(1, 2**32 - 1)(count)),
    "resample": NUMBERS["resample"],
    "record": row((1, 2), none_or(some(list, tuple, range, np.ndarray))),
    "switch": row(None, none_or(never)),
}
TABLE: Rows = {  # two states and two goals; what looks like a table of other sizes does not fit the rest
    "observations": row([[0, 1, 1], [1, 0, 0]], never),
    "following": row([[0, 1, 1, 0], [0, 1, 0, 1]], never),
    "events": row([[0, 1, 0, 0], [2, 0, 0, 1]], never),
    "costs": row([[0, 5, 0], [0, 0, 3]], never),
    "ends": row([[False, False, True], [False, True, False]], never),
    "left": row([[1, 2], [0, 7]], some(np.ndarray)),
    "start": row(0, whole(0, 1)),
    "step_cost": row(1, whole(-100_000, 100_000)),
}
COSTS: Rows = {  # the same two states
    **{name: TABLE[name] for name in ("observations", "following")},
    "start": row(0, lambda start: EITHER if isinstance(start, list) else whole(0, 1)(start)),
    "costs": row([[1, 1, 2, 1], [1, 1, 1, 1]], never),
    "ends": row([False, True], some(np.ndarray)),
    "left": row(0, lambda cost: EITHER if isinstance(cost, np.ndarray) else whole(-100_000, 100_000)(cost)),
}
LAKE: Rows = {  # an environment and how it becomes a task
    "args": row({"is_slippery": False}, none_or(some(dict))),
    "encode": row("binary", none_or(never)),
    "starts": row(2, none_or(whole(1, 1_000, quick=3))),
    "ep": row(None, none_or(function)),
    "key": row(None, none_or(function)),
    "wrap": row(None, either),
    "actions": row(None, none_or(never)),
    "scale": row(None, none_or(whole(1, 10_000))),
}
UNIT, OTHERS = row(0.5, share), row((), either)
ALPHAS: Rows = {"alpha_h": UNIT, "alpha_o": UNIT}
RULE_NUMBERS: Rows = {"eta": UNIT, "theta": UNIT, **ALPHAS}
CLIMBER_FILE = CLIMBER.named("a climber").to_dict()
MANY_RULES = {
    "learners": row((RULE, RULE), never),
    "learner": row(np.array([0, 1], np.int32), some(np.ndarray)),
}


def learning() -> list[Door]:
    """Return the doors of learning, rules and mazes."""
    cell = row((1, 2), some(np.ndarray))
    return [
        Door("distal.learn", distal.learn, {"learner": LEARNER, **EVALUATION, "task": NO_TASK}),
        Door("distal.learn", distal.learn, {
            "learner": row(RANDOM, LEARNER[1]), "task": row(SMALL, none_or(one(Maze))),
            "maze": row(None, none_or(never)), "episodes": NUMBERS["episodes"],
        }),
        Door("distal.learn", distal.learn, {
            "learner": row(RANDOM, LEARNER[1]), **EVALUATION, "engine": row("reference", none_or(ENGINE[1])),
        }),
        Door("distal.compare", distal.compare, {
            **COMPARING, "until_decided": row(False, flag), "most_trials": row(None, none_or(never)),
        }),
        Door("distal.compare", distal.compare, {
            **COMPARING, "until_decided": row(True, lambda given: right_if(flag(given) == RIGHT and given)),
            "most_trials": row(100, none_or(whole(50, 2**32 - 1, quick=1000))),
        }),
        Door("distal.Comparison.plot", method(comparison, "plot"), AX),
        Door("distal.climb", distal.climb, {"climber": row(CLIMBER, one(HillClimbing)), **NUMBERS}),
        Door("distal.Result.weights", method(result, "weights"), {"trial": row(0, whole(0, 1))}),
        Door("distal.Result.to_dict", method(result, "to_dict"), {"curves": row(True, flag)}),
        Door("distal.Result.from_dict", Result.from_dict, {"data": (lambda: result().to_dict(True), never)}),
        Door("distal.Result.from_dict", from_fields(Result.from_dict), fields_of(
            result().to_dict(True), **dict.fromkeys(result().to_dict(True), either)
        )),
        Door("distal.Comparison.to_dict", method(comparison, "to_dict"), {"curves": row(True, flag)}),
        Door("distal.Comparison.from_dict", Comparison.from_dict, {
            "data": (lambda: comparison().to_dict(True), never),
        }),
        *(
            Door(f"distal.{kind}.to_frame", method(make, "to_frame"), {"what": row(given[0], words(*given))},
                 quick=PANDAS)
            for kind, make, given in (
                ("Comparison", comparison, ("learners", "differences", "episodes")),
                ("Evolved", evolved, ("generations", "winners")),
                ("Inspection", inspection, ("rows", "knockouts")),
                ("RuleSet", inspected_set, ("rules", "rows")),
            )
        ),
        Door("distal.Inspection.to_dict", method(inspection, "to_dict"), {"curves": row(True, flag)}),
        Door("distal.Inspection.from_dict", distal.Inspection.from_dict, {
            "data": (lambda: inspection().to_dict(True), never),
        }),
        Door("distal.evaluation.usage.Usage.from_dict", Usage.from_dict, {
            "data": (lambda: {"counts": inspection().usage.counts.tolist()}, never),
        }),
        Door("distal.Evaluation.to_dict", method(evaluation, "to_dict"), {"curves": row(True, flag)}),
        Door("distal.Evaluation.from_dict", distal.Evaluation.from_dict, {
            "data": (lambda: evaluation().to_dict(True), never),
        }),
        Door("distal.Evolved.from_dict", distal.Evolved.from_dict, {
            "data": row(evolved().to_dict(), never),
        }),
        Door("distal.Evolved.from_dict", from_fields(distal.Evolved.from_dict), fields_of(
            evolved().to_dict(), **dict.fromkeys(evolved().to_dict(), either)
        )),
        Door("distal.Behaviour.of", Behaviour.of, {
            "ep": row(np.ones((2, 2), np.int32), some(np.ndarray)), "target": row(3, none_or(finite)),
            "phase": row(None, none_or(whole(1, 2**32 - 1))),
        }),
        Door("distal.Result.agent", method(result, "agent"), {"trial": row(0, none_or(whole(0, 1)))}),
        Door("distal.Agent", distal.Agent, AGENT),
        Door("distal.Agent.act", method(agent, "act"), {"observation": row([1, 0, 1], never)}),
        Door("distal.Agent.act", method(lake_agent, "act"), {
            "observation": row(5, lambda one: EITHER if isinstance(one, np.ndarray) else whole(0, 15)(one)),
        }),
        Door("distal.Agent.save", method(agent, "save"), {"path": row("saved.json", new_file)}),
        Door("distal.Agent.load", distal.Agent.load, {
            "path": row("agent.json", never), "env": row(None, either), "encode": row(None, none_or(never)),
        }),
        Door("distal.Agent.load", distal.Agent.load, {
            "path": row("lake.json", never), "env": row("FrozenLake-v1", never),
            "encode": row(None, none_or(never)),
        }),
        Door("distal.evaluate", distal.evaluate, {
            "agent": (agent, never), "env": (env, never), "episodes": row(2, whole(1, 10_000_000, quick=10)),
            "seed": row(0, whole(0, 2**31 - 1)), "options": row({"goal": 1}, none_or(some(dict))),
            "chance": row(True, flag),
        }),
        Door("distal.inspect", distal.inspect, {"rule": row(RULE, one(Rule)), **INSPECTION}),
        Door("distal.inspect_set", distal.inspect_set, {
            "rules": row(["paper:1", RULE], never), **INSPECTION,
        }),
        Door("distal.Inspection.knockout", method(inspection, "knockout"), {
            "row": row(1, lambda row: EITHER if whole(0, 31)(row) == RIGHT else WRONG),  # its own is refused
            "change": row(0, lambda change: EITHER if whole(-1, 1)(change) == RIGHT else WRONG),
        }),
        Door("distal.Inspection.plot", method(inspection, "plot"), {
            "what": row("eta", words("usage", "knockouts", *RULE_NUMBERS)), **AX,
        }),
        Door("distal.RuleSet.plot", method(inspected_set, "plot"), AX),
        Door("distal.Result.plot", method(result, "plot"), AX),
        Door("distal.Rule.plot", RULE.plot, AX),
        Door("distal.Evolved.plot", method(evolved, "plot"), AX),
        Door("distal.evaluation.rule_set.find_rules", find_rules, {"given": row("runs", some(Rule))}),
        Door("distal.show.inspection_page.write_page", write_page, {
            "found": (inspected_set, never), "out": row("page.html", new_file),
        }, quick=False),
        Door("distal.show.inspection_page.write_figures", write_figures, {
            "found": (inspected_set, never), "path": row("drawn", any_folder),
        }, quick=False),
        Door("distal.tasks.gym.EnvWalk", EnvWalk, {
            "task": (task, never), "steps": SETTINGS["steps"], "goal": row(0, whole(0, 0)),
        }),
        Door("distal.tasks.gym.EnvWalk.act", method(lambda: EnvWalk(task(), 3), "act"), {"action": HEADED}),
        *(
            Door("distal.find_learner", distal.find_learner, {"learner": row(name, LEARNER[1])})
            for name in ("hc", "climber.json")
        ),
        Door("distal.find_rule", distal.find_rule, {"name": row("rule.json", never), "others": OTHERS}),
        Door("distal.published_rule", distal.published_rule, {"number": row(1, whole(1, 15))}),
        Door(
            "distal.champion_record", distal.champion_record,
            {"number": row(1, whole(1, len(distal.champion_rules())))},
        ),
        Door("distal.Rule", Rule, {"delta_w": row([0] * 32, never), **RULE_NUMBERS, "name": row("", title)}),
        Door("distal.Rule.from_dict", Rule.from_dict, {"data": row(RULE.to_dict(), never)}),
        Door("distal.Rule.from_dict", from_fields(Rule.from_dict), fields_of(
            RULE.to_dict(), version=whole(1, 1), name=title, **dict.fromkeys(RULE_NUMBERS, share)
        )),
        Door("distal.Rule.load", Rule.load, {"path": row("rule.json", never)}),
        Door("distal.Rule.save", RULE.save, {"path": row("saved.json", new_file)}),
        Door("distal.HillClimbing", HillClimbing, {"sigma": UNIT, **ALPHAS, "name": row("", title)}),
        Door("distal.HillClimbing.from_dict", HillClimbing.from_dict, {"data": row(CLIMBER_FILE, never)}),
        Door("distal.HillClimbing.from_dict", from_fields(HillClimbing.from_dict), fields_of(
            CLIMBER_FILE, version=whole(1, 1), name=title, **dict.fromkeys(CLIMBER.numbers, share)
        )),
        Door("distal.HillClimbing.load", HillClimbing.load, {"path": row("climber.json", never)}),
        Door("distal.Chance", Chance, {**ALPHAS, "name": row("", title)}),
        Door("distal.learners.load_learner", learners.load_learner, {"path": row("climber.json", never)}),
        *(
            Door(f"distal.learners.Learner.{name}", method(lambda: RANDOM.named("chance"), name), rows)
            for name, rows in (
                ("named", {"name": row("", title)}),
                ("from_dict", {"data": row(RANDOM.to_dict(), never)}),
                ("load", {"path": row("chance.json", never)}),
                ("save", {"path": row("saved.json", new_file)}),
            )
        ),
        Door("distal.learners.Learner.from_genes", CLIMBER.from_genes, {
            "discrete": row((), no_learners), "continuous": row((0.1, 0.2, 0.3), never),
        }),
        Door("distal.Rule.from_genes", Rule.from_genes, {
            "discrete": row([0] * 32, never), "continuous": row([0.1, 0.2, 0.3, 0.4], never),
        }),
        Door("distal.PlasticNetwork", distal.PlasticNetwork, PLASTIC),
        Door("distal.PlasticNetwork.act", method(acting, "act"), {"observation": row([1, 0, 1], never)}),
        Door("distal.PlasticNetwork.end_episode", lambda **given: acted().end_episode(**given), {
            "ep": row(3, lambda ep: EITHER if ep is None else finite(ep)),
            "reward": row(None, none_or(lambda _: EITHER)),
        }),
        Door("distal.PlasticNetwork.save", method(plastic, "save"), {"path": row("saved.json", new_file)}),
        Door("distal.PlasticNetwork.load", distal.PlasticNetwork.load, {
            "path": row("plastic.json", never), "task": row(None, none_or(never)),
        }),
        Door("distal.learners.Trial", learners.Trial, {
            "seed": SEED, "resample": NUMBERS["resample"], "phase": NUMBERS["resample"],
            "phases": NUMBERS["resample"],
        }),
        Door("distal.learners.register", registering, {
            "kind": row(Sleeper, never), "default": row(Sleeper(0, 0), none_or(never)),
        }),
        Door("distal.learners.unregister", unregistering, {"kind": row("sleeper", never)}),
        Door("distal.Maze", Maze, {"picture": row(SMALL.picture, never), "heading": HEADING}),
        Door("distal.Maze.from_text", Maze.from_text, {"text": row(str(SMALL), never), "heading": HEADING}),
        Door("distal.Maze.from_file", Maze.from_file, {"path": row("maze.txt", never), "heading": HEADING}),
        Door("distal.Maze.sense", SMALL.sense, {"cell": cell, "heading": HEADED}),
        Door("distal.Maze.move", SMALL.move, {
            "cell": cell, "heading": HEADED, "action": HEADED, "blocked": BLOCKED,
        }),
        Door("distal.t_maze", distal.t_maze, {"levels": row(2, whole(1, 4)), "width": row(3, whole(1, 5))}),
        Door("distal.maze", distal.maze, {"name": row("triple-t", words(*MAZES))}),
        Door("distal.Maze.to_svg", SMALL.to_svg, {"scale": row(16, whole(1, 1000))}),
        Door("distal.Settings", Settings, SETTINGS),
        Door("distal.Settings.from_dict", from_fields(Settings.from_dict), SETTINGS),
        Door("distal.Settings.among", from_fields(Settings.among), SETTINGS),
        Door("distal.Settings.among", Settings.among, {"data": row(SHORT.to_dict(), never)}),
        Door("distal.Settings.from_dict", Settings.from_dict, {"data": row(SHORT.to_dict(), never)}),
        Door("distal.Settings.of", Settings.of, {"options": row({"steps": 3}, some(dict)), "others": OTHERS}),
    ]  # fmt: skip


def experiments() -> list[Door]:
    """Return the doors of evolution, the paper's experiments and the study of readings."""
    test, learner = row("dsp", never), row("dsp", never)
    going_on = {**HOW, "progress": PROGRESS, "generations": row(1, none_or(whole(1, 2**32 - 1, quick=2)))}
    loose = dict.fromkeys(("elites", "engine", "distal", "machine", "seconds"), either)
    return [
        Door("distal.evolve", distal.evolve, {**EVOLUTION, "task": NO_TASK}),
        Door("distal.evolve", partial(distal.evolve, **SMALLEST), {"task": row(SMALL, none_or(one(Maze)))}),
        Door("distal.resume", distal.resume, {"out": row("runs", never), **going_on, "task": NO_TASK}),
        Door("distal.resume", distal.resume, {"out": row("runs", never), "task": row(SMALL, none_or(never))}),
        Door("distal.resume", distal.resume, {
            "out": row("runs", never), "budget": row(None, none_or(BUDGET)),
        }),
        Door("distal.evolve", partial(distal.evolve, **{**SMALLEST, "generations": None}, maze=SMALL), {
            # None for both is right: 300 generations
            "budget": row(60, lambda given: LONG if given is None else BUDGET(given)),
        }),
        Door("distal.champions", distal.champions, {
            **{name: REPORTING[name] for name in ("force", "progress", "seed", *HOW, *SETTINGS)},
            "prize": row("best", words("best", "last", "reached", "long")),
            "budget": row(1e9, lambda given: right_if(1e7 < (_number(given) or 0) < 2**63)),
            "runs": row(None, none_or(whole(1, 2**20, quick=0))), "held_out": row(4, whole(2, 2**32 - 1)),
            "learner": row("dsp", words("dsp", "hc")), "task": row(SMALL, none_or(one(Maze))),
            "out": row("champion", any_folder),
            "command": row(None, none_or(lambda given: LONG if isinstance(given, str) else WRONG)),
        }, quick=False),
        Door("distal.Champion.from_dict", distal.Champion.from_dict, {"data": row({}, never)}, quick=False),
        Door("distal.GeneticAlgorithm", distal.GeneticAlgorithm, GENETIC),
        Door("distal.GeneticAlgorithm.begin", distal.GeneticAlgorithm().begin, GENES),
        Door("distal.Islands", distal.Islands, {
            "search": ALGORITHM, "count": row(2, whole(2, 2**10)), "exchange": row(2, whole(1, 2**32 - 1)),
        }),
        Door("distal.Restarts", distal.Restarts, {"search": ALGORITHM, "every": row(2, whole(1, 2**32 - 1))}),
        Door("distal.Race", distal.Race, {"search": ALGORITHM, "heats": row(1, whole(1, 20))}),
        *(
            Door(f"distal.{name}.begin", wrapped.begin, GENES)
            for name, wrapped in (
                ("Islands", distal.Islands(distal.GeneticAlgorithm(), 2)),
                ("Restarts", distal.Restarts(distal.GeneticAlgorithm(), 2)),
                ("Race", distal.Race(distal.GeneticAlgorithm())),
            )
        ),
        *(
            Door(name, distal.GeneticAlgorithm().evaluations, {
                "generations": row(3, whole(0, 2**32 - 1)),
            })
            for name in (
                "distal.GeneticAlgorithm.evaluations", "distal.search.search.Algorithm.evaluations",
            )
        ),
        *(
            Door(f"distal.search.{kind}.{name}", method(begun, name), rows)
            for kind, begun in (("search.Search", told_search), ("genetic.GeneticSearch", told_search))
            for name, rows in (
                ("finalists", {"count": row(2, whole(1, 10**6_000))}),
                ("immigrate", {
                    "genotype": (lambda: search().ask()[:1], never), "fitness": row(1.0, finite),
                    "born": row(0, whole(0, 0)),
                }),
                ("begin_with", {"genotypes": (lambda: search().ask()[:2], never)}),
            )
        ),
        Door("distal.search.genotypes.Genotypes.of_genes", Genotypes.of_genes, {
            "rows": row([[0, 1, 0.5], [1, 0, 1.0]], some(np.ndarray, list)), "discrete": row(2, whole(0, 2)),
        }),
        Door("distal.search.genotypes.Finalists.best", Finalists.best, {
            "groups": (lambda: [told_search().finalists(2)], never), "count": row(2, whole(1, 10**6_000)),
        }),
        Door(
            "distal.search.genotypes.Finalists.distinct",
            method(lambda: told_search().finalists(2), "distinct"), {"count": row(2, whole(1, 10**6_000))},
        ),
        *(
            Door(f"distal.search.config.Config.{name}", method(config, name), rows)
            for name, rows in (
                ("decode", {"genotypes": (lambda: config().begin(0).ask(), never)}),
                ("begin", {"seed": SEED}),
                ("spent", {"generations": row(1, whole(0, 2**32 - 1))}),
                ("affordable", {
                    "budget": row(1e6, lambda given: EITHER if finite(given) == RIGHT else WRONG),
                }),
            )
        ),
        Door("distal.search.config.Config.from_dict", Config.from_dict, {
            "data": (lambda: config().to_dict(), never),
        }),
        Door("distal.search.config.Config.from_dict", from_fields(Config.from_dict), fields_of(
            config().to_dict(), **dict.fromkeys(config().to_dict(), either)
        )),
        Door("distal.studies.champion.HeldOut.from_dict", HeldOut.from_dict, {
            "data": (held_out, never),
        }),
        Door("distal.studies.champion.HeldOut.from_dict", from_fields(HeldOut.from_dict), fields_of(
            held_out(), **dict.fromkeys(held_out(), either)
        )),
        Door("distal.CMA", distal.CMA, {
            "population": row(4, whole(4, 2**20)),
            "sigma": row(0.5, lambda given: WRONG if _number(given) == 0 else share(given)),
        }),
        Door("distal.CMA.begin", distal.CMA().begin, GENES),
        Door("distal.search.search.Search", GeneticSearch, GENES),
        Door("distal.search.search.Search.tell", method(search, "tell"), {
            "genotypes": (lambda: search().ask(), never), "fitness": row(np.ones(3), never),
        }),
        Door("distal.search.search.Search.restore", method(search, "restore"), {"state": (told, never)}),
        Door("distal.search.search.Search.restore", restored, fields_of(
            told(), generation=whole(0, 2**32 - 1)
        )),
        Door("distal.search.cma.CMASearch.tell", method(asked_cma, "tell"), {
            "genotypes": (lambda: asked_cma().ask(), never), "fitness": row(np.ones(4), never),
        }),
        Door("distal.search.cma.CMASearch.restore", method(asked_cma, "restore"), {
            "state": (told_cma, never),
        }),
        Door("distal.search.cma.CMASearch.restore", restored_cma, fields_of(
            told_cma(), generation=whole(0, 2**32 - 1)
        )),
        Door("distal.search.search.Algorithm.begin", distal.GeneticAlgorithm().begin, GENES),
        Door("distal.search.registry.register", register, {"kind": row(distal.CMA, never)}),
        Door("distal.search.results.Winner.from_dict", Winner.from_dict, {"data": (winner, never)}),
        Door("distal.search.results.Winner.from_dict", from_fields(Winner.from_dict), fields_of(
            winner(), **dict.fromkeys(winner(), either)
        )),
        Door("distal.search.results.Fresh.from_dict", Fresh.from_dict, {
            "data": row({"fitness": 1, "standard_error": 2}, never),
        }),
        Door("distal.search.results.Fresh.of", Fresh.of, {
            name: row(np.array([1, 2, 4]), some(np.ndarray)) for name in ("own", "chance")
        }),
        Door(
            "distal.reproduce", distal.reproduce,
            {**REPORTING, "rules": row("evolved", words("evolved", "published"))}, quick=False,
        ),
        Door("distal.study_readings", distal.study_readings, REPORTING, quick=False),
        Door("distal.study_tasks", distal.study_tasks, {
            **{name: REPORTING[name] for name in ("force", "out", "progress", "seed", *HOW)},
            "scale": row("quick", words("quick", "full")), "engine": row("cpu", none_or(ENGINE[1])),
        }, quick=False),
        Door("distal.study_beyond", distal.study_beyond, {
            **{name: REPORTING[name] for name in ("force", "out", "progress", "seed", *HOW)},
            "scale": row("quick", words("quick", "paper")), "engine": row("cpu", none_or(ENGINE[1])),
        }, quick=False),
        Door("distal.write_report", distal.write_report, {
            "result": (reproduction, never), "out": row("report", any_folder),
        }, quick=False),
        Door("distal.Reproduction.fitness", method(reproduction, "fitness"), {"test": test}),
        Door("distal.Reproduction.best", method(reproduction, "best"), {"learner": learner}),
        Door("distal.Reproduction.ranking", method(reproduction, "ranking"), {"learner": learner}),
        Door("distal.Reproduction.best_curve", method(reproduction, "best_curve"), {"test": test}),
        Door("distal.Reproduction.beside_chance", method(reproduction, "beside_chance"), {
            "learner": learner, "episodes": row(1, whole(1, 3)),
        }),
        Door("distal.Reproduction.origin", method(reproduction, "origin"), {
            "learner": learner, "number": row(0, whole(0, 0)),
        }),
        Door("distal.ReadingStudy.from_dict", ReadingStudy.from_dict, {"data": (study, never)}),
        Door("distal.ReadingStudy.from_dict", from_fields(ReadingStudy.from_dict), fields_of(
            study(), version=whole(2, 2), seed=SEED[1], heading=HEADING[1], **loose
        )),
        Door("distal.TaskStudy.from_dict", TaskStudy.from_dict, {"data": (tasks, never)}),
        Door("distal.TaskStudy.from_dict", from_fields(TaskStudy.from_dict), fields_of(
            tasks(), version=whole(1, 1), seed=SEED[1], scale=some(str), **loose
        )),
        Door("distal.BeyondStudy.from_dict", distal.BeyondStudy.from_dict, {"data": (beyond, never)}),
        Door("distal.BeyondStudy.from_dict", from_fields(distal.BeyondStudy.from_dict), fields_of(
            beyond(), version=whole(1, 1), seed=SEED[1], **loose
        )),
    ]  # fmt: skip


def pictures() -> list[Door]:
    """Return the doors of environments, pages and films."""
    render = row(None, none_or(words("ansi", "rgb_array")))
    seeds = none_or(whole(0, 10**5000))
    frames = row([np.zeros((4, 6, 3), np.uint8)] * 2, never)
    page = {**WATCHING, "progress": PROGRESS}
    return [
        Door("distal.tasks.environment.MazeEnv", MazeEnv, {**WALKING, "render_mode": render}),
        Door("distal.tasks.environment.MazeEnv.reset", method(env, "reset"), {
            "seed": row(None, seeds), "options": row({"goal": 1}, none_or(some(dict))),
        }),
        Door("distal.tasks.environment.MazeEnv.step", method(env, "step"), {
            "action": row(0, lambda act: EITHER if isinstance(act, np.ndarray) else HEADED[1](act)),
        }),
        Door("distal.tasks.environment.MazeVectorEnv", MazeVectorEnv, {
            **WALKING, "num_envs": row(2, whole(1, 2**20)), "render_mode": row(None, none_or(never)),
        }),
        Door("distal.tasks.environment.MazeVectorEnv.reset", method(envs, "reset"), {
            "seed": row(None, lambda seed: EITHER if isinstance(seed, list | tuple) else seeds(seed)),
            "options": row({"goal": [1, 0]}, none_or(some(dict))),
        }),
        Door("distal.tasks.environment.MazeVectorEnv.step", method(envs, "step"), {
            "actions": row(np.array([0, 1]), some(np.ndarray)),
        }),
        Door("distal.show.watch.trials", watch.trials, WATCHING),
        Door("distal.show.watch.watch", watch.watch, page),
        Door("distal.show.watch.write_page", watch.write_page, {"out": row("page.html", new_file), **page}),
        Door("distal.show.scenes.scenes", scenes, {
            "batch": (trials, one(Batch)), "engine": row("cpu", none_or(ENGINE[1])),
            "after": row([1, 2], some(list, tuple, range, np.ndarray)),
        }),
        Door("distal.show.film.film", film.film, {
            "shown": (lambda: scenes(trials(), [1]), never), "scale": row(4, whole(1, 100, quick=3)),
        }),
        *(
            Door(f"distal.show.scenes.Scene.{name}", method(scene, name), rows)
            for name, rows in (
                ("caption", {"step": row(0, whole(0, 10**5000))}),
                ("draw", {"step": row(0, whole(0, 1)), "scale": row(16, whole(1, 100))}),
            )
        ),
        Door(
            "distal.show.film.write_gif", film.write_gif, {"path": row("a.gif", new_file), "frames": frames},
        ),
        Door(
            "distal.show.film.write_mp4", film.write_mp4, {"path": row("a.mp4", new_file), "frames": frames},
            quick=False,
        ),
    ]  # fmt: skip


def machinery() -> list[Door]:
    """Return the doors of engines and executors, and of what is inside a trial."""
    maze, goal, settings = row(SMALL, one(Maze)), row(0, whole(0, 1)), BATCH["settings"]
    table = Table(**{name: make() for name, (make, _) in TABLE.items()})
    picture = Picture(["G.", "#H"], [0, 1])
    return [
        Door("distal.engines.Batch", Batch, BATCH),
        Door("distal.engines.Batch", Batch, {**BATCH, **MANY_RULES}),
        Door("distal.engines.Batch.part", method(lambda: trials(9), "part"), {
            "first": row(0, whole(0, 3)), "last": row(4, whole(1, 9)),
        }),
        *(Door("distal.engines.Engine.run", run, ASKED) for run in (cpu.run, reference.run)),
        *(
            Door("distal.engines.Engine.supports", engine.supports, {"batch": ASKED["batch"]})
            for engine in (cpu, gpu, reference)
        ),
        Door(
            "distal.engines.spread.Spread.supports", method(lambda: Spread(SameThread(), "cpu"), "supports"),
            {"batch": ASKED["batch"]},
        ),
        Door("distal.engines.load", engines.load, {"name": ENGINE}),
        Door("distal.Runner", Runner, {**HOW, "workers": WORKERS, "executor": row(None, none_or(never))}),
        Door("distal.Runner.of", Runner.of, HOW),
        Door("distal.Runner.spread_over", Runner("cpu").spread_over, {"executor": (SameThread, never)}),
        Door("distal.Runner.suited", Runner("cpu").suited, {"batch": ASKED["batch"]}),
        Door("distal.Runner.run", Runner("cpu").run, ASKED_OF_RUNNER),
        Door("distal.Runner.begin", lambda **asked: Runner("cpu").begin(**asked)(), {
            name: ASKED[name] for name in ("batch", "keep_ep")
        }),
        Door("distal.engines.cluster.Cluster", Cluster, {"address": row("local:1", never)}, quick=False),
        Door("distal.engines.spread.Spread", Spread, {"executor": (SameThread, never), "engine": ENGINE}),
        Door("distal.engines.spread.Spread.run", method(lambda: Spread(SameThread(), "cpu"), "run"), ASKED),
        Door("distal.learners.episodes", learners.episodes, {
            "learner": row(RULE, LEARNER[1]), "task": row(Aim(TASK, 1), never), "settings": settings,
            "seed": SEED, "resample": NUMBERS["resample"],
        }),
        Door("distal.tasks.task.Aim", Aim, {
            "task": BATCH["task"], "goal": goal, "phases": row((0, 1), some(list, tuple, range, np.ndarray)),
            "every": row(2, whole(1, 2**32 - 1)),
        }),
        Door("distal.tasks.task.Aim.begin", Aim(TASK, 0, (0, 1), 2).begin, {
            "settings": settings, "episode": row(0, whole(0, 2**32 - 1)),
        }),
        Door("distal.tasks.mazes.MazeTask", MazeTask, {
            "maze": maze, "steps": row(None, none_or(SETTINGS["steps"][1])),
        }),
        Door("distal.tasks.mazes.MazeTask.scaled", MazeTask.scaled, {"maze": maze}),
        Door("distal.Switch", Switch, {
            "every": row(2, whole(1, 2**32 - 1)), "goals": row("new", schedule),
        }),
        *(
            Door(f"distal.Switch.{name}", call, rows)
            for name, call, rows in (
                ("check_goals", Switch(2).check_goals, {"goals": row(3, whole(2, 2**31 - 1))}),
                ("phases", Switch(2).phases, {"episodes": row(3, whole(1, 2**32 - 1))}),
                ("ends", Switch(2).ends, {"episodes": row(3, whole(1, 2**32 - 1, quick=1000))}),
                ("schedule", Switch(2).schedule, {
                    "first": row(arrays(2)[0], never), "seed": row(arrays(2)[2], some(np.ndarray)),
                    "goals": row(2, whole(2, 2**31 - 1)),
                    "phases": row(3, whole(1, 2**32 - 1, quick=1000)),
                }),
                ("schedule", Switch(2, (1, 0)).schedule, {
                    "first": row(arrays(2)[0], never), "seed": row(arrays(2)[2], some(np.ndarray)),
                    "goals": row(2, whole(2, 2**31 - 1)),
                    "phases": row(3, whole(1, 2**32 - 1, quick=1000)),
                }),
            )
        ),
        Door("distal.tasks.task.Aim.goal_in", Aim(TASK, 0, (0, 1), 2).goal_in, {
            "episode": row(3, whole(0, 2**32 - 1)),
        }),
        Door("distal.networks.run_episode", run_episode, {
            "network": (lambda: agent().network, never), "weights": (lambda: agent().weights, never),
            "task": row(Aim(TASK, 1), never), "seed": SEED, "episode": row(0, whole(0, 2**32 - 1)),
        }),
        Door("distal.networks.Recurrent", Recurrent, {
            "inputs": row(3, INPUTS), "outputs": row(4, OUTPUTS),
            "settings": row(SHORT, none_or(one(Settings))), **ALPHAS,
        }),
        Door("distal.networks.Network.fresh_weights", Recurrent().fresh_weights, {
            "seed": SEED, "episode": row(0, whole(0, 2**32 - 1)),
        }),
        Door("distal.networks.network_for", networks.network_for, {
            "settings": settings, "inputs": row(3, INPUTS), "outputs": row(4, OUTPUTS),
            "numbers": row({"alpha_h": 0.5}, some(dict)),
        }),
        Door("distal.check_learner", distal.check_learner, {"learner": row(RULE, never)}),
        Door("distal.check_network", distal.check_network, {"kind": row(Recurrent, never)}),
        Door("distal.networks.register", networks.register, {"kind": row(Recurrent, never)}),
        Door("distal.model.draws.child_seed", child_seed, {
            "seed": SEED, **{name: row(0, whole(0, 2**32 - 1)) for name in ("first", "second", "third")},
        }),
        Door("distal.evaluation.trials.batch_of", batch_of, {
            **{name: BATCH[name] for name in BATCH if name not in ("learner", "goal", "seed")},
            "learners": row((RULE,), never), "seeds": row(np.array([3], np.uint64), some(np.ndarray)),
            "trials": row(1, whole(1, 2**32 - 1, quick=1000)),
        }),
        Door("distal.Switch.from_dict", Switch.from_dict, {"data": row(Switch(2).to_dict(), never)}),
        Door("distal.Switch.from_dict", from_fields(Switch.from_dict), {
            "every": row(2, whole(1, 2**32 - 1)), "goals": row("new", schedule),
        }),
        Door("distal.tasks.mazes.MazeTask.begin", TASK.begin, {"goal": goal, "settings": settings}),
        Door("distal.tasks.mazes.MazeTask.target", TASK.target, {"settings": settings}),
        Door("distal.tasks.mazes.MazeTask.table", TASK.table, {"settings": settings}),
        Door("distal.tasks.mazes.MazeWalk", MazeWalk, {"maze": maze, "goal": goal, "settings": settings}),
        Door(
            "distal.tasks.mazes.MazeWalk.act", method(lambda: TASK.begin(0, SHORT), "act"), {"action": HEADED}
        ),
        Door("distal.Table", Table, TABLE),
        Door("distal.Table.of", Table.of, COSTS),
        Door("distal.TableTask", TableTask, {
            "table": row(table, one(Table)), "goals": row(["near", "far"], none_or(never)),
            "name": row("rooms", lambda name: EITHER if isinstance(name, str) else WRONG),
            "steps": row(None, none_or(whole(1, 10_000))), "target": row(None, none_or(finite)),
            "limit": row(None, none_or(whole(1, 10_000))),
            "actions": row(None, none_or(never)), "picture": row(None, none_or(never)),
        }),
        Door("distal.tasks.picture.Picture", Picture, {
            "rows": row(["G.", "#H"], never), "cells": row([0, 1], some(np.ndarray)),
            **{
                name: row([-1, 0], lambda at: EITHER if isinstance(at, np.ndarray) else whole(-1, 3)(at))
                for name in ("headings", "things", "goals")
            },
        }),
        Door("distal.tasks.picture.Picture.spot", picture.spot, {"state": row(0, whole(0, 1))}),
        Door("distal.tasks.picture.Picture.rows_from", picture.rows_from, {"state": row(0, whole(0, 1))}),
        Door("distal.TableTask.target", TableTask(table).target, {
            "settings": row(SHORT, either),
        }),
        Door("distal.TableTask.save", TableTask(table).save, {"path": row("new.npz", never)}),
        Door("distal.TableTask.load", TableTask.load, {"path": row("table.npz", never)}),
        Door("distal.task_of", task_of, {
            "given": row(SMALL, one(Maze)), "tabulated": row(None, none_or(never)), "progress": PROGRESS,
            **{name: row(None, none_or(never)) for name in LAKE},
        }),
        Door("distal.task_of", task_of, {
            "given": row("FrozenLake-v1", never), **LAKE, "tabulated": row(None, none_or(flag)),
            "progress": PROGRESS,
        }),
        Door("distal.check_task", distal.check_task, {"task": BATCH["task"], "seed": SEED}),
        Door("distal.tasks.sources.rebuilt", rebuilt, {
            "data": (lambda: TableTask.load("table.npz").to_dict(), never),
        }),
        Door("distal.tabulate", tabulate, {
            **{name: LAKE[name] for name in ("encode", "starts", "wrap", "actions", "scale")},
            "env": row(partial(gymnasium.make, "FrozenLake-v1", is_slippery=False), never),
            "key": row(None, none_or(lambda key: EITHER if callable(key) else WRONG)),
            "limit": row(20, lambda most: EITHER if whole(1, 15)(most) == RIGHT else whole(1, 2**21)(most)),
            "progress": PROGRESS,
        }),
        Door("distal.EnvTask", EnvTask, {
            "env": (env, never), "args": row(None, none_or(some(dict))), "options": row([{}], some(list)),
            "encode": row("bits", none_or(never)),
            **{name: LAKE[name] for name in ("starts", "ep", "wrap", "actions", "scale")},
        }),
        Door("distal.EnvTask.begin", method(task, "begin"), {
            "goal": row(0, whole(0, 0)), "settings": settings,
        }),
        Door("distal.EnvTask.for_trial", method(task, "for_trial"), {"seed": SEED}),
        Door("distal.EnvTask.target", method(task, "target"), {"settings": row(SHORT, either)}),
        Door("distal.tasks.encoders.Encoder.from_dict", Encoder.from_dict, {
            "data": row({"word": "bits", "bits": 3, "edges": []}, never),
            "space": (lambda: env().observation_space, never),
        }),
        Door("distal.TableTask.begin", TableTask(table).begin, {
            "goal": goal, "settings": settings,
        }),
        Door("distal.TableTask.table", TableTask(table).table, {"settings": row(SHORT, either)}),
    ]  # fmt: skip


@cache
def all_doors() -> list[Door]:
    """Return every door."""
    return [*learning(), *experiments(), *pictures(), *machinery()]


# ------------------------------------------------------------------ what there is

# What needs no door, and why.
MADE_BY_US = "made by the package, never by who uses it"
NO_DOOR = {
    **dict.fromkeys(
        (
            "distal.Inspection", "distal.RuleSet", "distal.evaluation.usage.Usage",
            "distal.evaluation.inspection.Knockout", "distal.evaluation.inspection.Effect",
            "distal.evaluation.inspection.Effect.of", "distal.evaluation.inspection.Smallest",
            "distal.Comparison", "distal.PairedDifference",
            "distal.Result", "distal.Behaviour", "distal.Difference", "distal.Evaluation", "distal.Evolved",
            "distal.Reproduction", "distal.ReadingStudy", "distal.TaskStudy", "distal.BeyondStudy",
            "distal.search.results.Winner",
            "distal.search.results.Fresh", "distal.engines.Trials", "distal.networks.Episode",
            "distal.search.genetic.GeneticSearch", "distal.search.cma.CMASearch",
            "distal.search.recorder.Step", "distal.search.config.Config", "distal.search.genotypes.Finalists",
            "distal.Champion", "distal.studies.champion.HeldOut",
            "distal.studies.stages.Stage", "distal.studies.stages.Event",
            "distal.show.watched.Watched", "distal.show.scenes.Scene", "distal.show.scenes.GridWalk",
            "distal.networks.Weights", "distal.networks.RecurrentWeights",
            "distal.tasks.encoders.Encoder",
        ),
        MADE_BY_US,
    ),
    **dict.fromkeys(
        (f"distal.search.genetic.GeneticSearch.{name}" for name in ("tell", "restore")),
        "the doors of Search.tell and Search.restore are those of a GeneticSearch",
    ),
    **dict.fromkeys(
        (
            "distal.search.search.Search.ask_together", "distal.search.genetic.GeneticSearch.ask_together",
            "distal.search.search.Algorithm.sizes", "distal.search.search.Algorithm.memory",
            "distal.GeneticAlgorithm.sizes", "distal.Islands.sizes", "distal.Restarts.sizes",
            "distal.CMA.memory", "distal.Islands.memory",
        ),
        "for a search of one's own to override; called by the package alone",
    ),
    **dict.fromkeys(
        (f"distal.engines.Engine.{name}" for name in ("check", "begin", "overlaps")),
        "for an engine to override; a Runner checks what it hands on",
    ),
    **dict.fromkeys(
        ("distal.search.config.Config.run_seed", "distal.studies.champion.HeldOut.of"),
        "called by the package alone",
    ),
    **dict.fromkeys(
        (
            *(f"distal.Task.{name}" for name in ("begin", "table", "target", "for_trial", "lesson")),
            "distal.tasks.mazes.MazeTask.lesson", "distal.tasks.task.Walk.act",
        ),
        "abstract, or takes anything; what refuses something has a door in the class of the task",
    ),
    "distal.search.genotypes.Genotypes": "a pair of arrays; checked where a search hands them to evolve",
    **dict.fromkeys(
        ("distal.learners.dsp.selected_rows", "distal.learners.dsp.modulatory_signal"),
        "part of the definition, to be read; a learner hands it what a network made",
    ),
    **dict.fromkeys(
        (
            "distal.networks.Network", "distal.networks.Network.propagate", "distal.networks.Network.sources",
            "distal.networks.Network.step", "distal.networks.Network.weights",
            "distal.networks.Network.perturbation", "distal.networks.Sums", "distal.networks.ordered_sum",
            "distal.networks.psi", "distal.learners.Learner.update",
            "distal.learners.Memory", "distal.learners.Memory.number", "distal.learners.Trial.fresh_at",
            "distal.learners.Trial.moves_at", "distal.PlasticNetwork.in_trial", "distal.PlasticNetwork.live",
        ),
        "a base class, or made by a learner; check_network and register judge what is made of it",
    ),
    "distal.engines.cluster.Cluster.submit": "needs a cluster; what it takes is for the executor to judge",
    "distal.engines.cluster.Cluster.check": "needs a cluster; told by the package alone",
    "distal.engines.cluster.Cluster.shutdown": "needs a cluster; takes what any executor's takes",
}  # fmt: skip


def listed() -> list[str]:
    """Return the names of all that is public: `__all__`, and what docs/api.md lists."""
    names = re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    return list(dict.fromkeys([*(f"distal.{name}" for name in distal.__all__), *names]))


def public() -> dict[str, Callable[..., object]]:
    """Return every public callable that takes arguments, the methods of public classes among them."""
    found: dict[str, Callable[..., object]] = {}
    for name in listed():
        thing: Any = locate(name)
        if inspect.isclass(thing) and issubclass(thing, Exception):
            continue
        found[name] = thing
        if inspect.isclass(thing):
            members = {member: getattr(thing, member) for member in vars(thing) if not member.startswith("_")}
            members = {member: each for member, each in members.items() if not _overrides(thing, member)}
            found |= {f"{name}.{member}": each for member, each in members.items() if callable(each)}
    return {name: thing for name, thing in found.items() if parameters(thing)}


def _overrides(kind: type, member: str) -> bool:
    """Say whether a method stands for an abstract one of a base class, which says all there is to say."""
    return any(member in getattr(base, "__abstractmethods__", ()) for base in kind.__mro__[1:])


def parameters(thing: Callable[..., object]) -> set[str]:
    """Return the names of the parameters that a door must have a row for."""
    signature = inspect.signature(thing)
    return {
        name
        for name, parameter in signature.parameters.items()
        if name != "self" and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }


# ------------------------------------------------------------------ calls


@dataclass(frozen=True)
class Call:
    """A call with some nasty values, by the name of their parameter."""

    door: Door
    nasty: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.door.name}({', '.join(f'{name}={label}' for name, label in self.nasty.items())})"

    @property
    def verdict(self) -> str:
        """What has to come of it."""
        says = {self.door.rows[name][1](NASTY[label]) for name, label in self.nasty.items()}
        for verdict in (LONG, WRONG, EITHER):
            if verdict in says:
                return verdict
        return RIGHT if len(self.nasty) == 1 else EITHER  # two right values may not go together


def singles() -> Iterator[Call]:
    """Give every parameter of every door every nasty value, one at a time."""
    for door in all_doors():
        for parameter in door.rows:
            for label in NASTY:
                yield Call(door, {parameter: label})


def calls(seed: int, count: int) -> Iterator[Call]:
    """Draw calls with two nasty values."""
    draw = random.Random(seed)  # noqa: S311 - a test, not a secret
    doors = [door for door in all_doors() if len(door.rows) > 1]
    for _ in range(count):
        door = draw.choice(doors)
        yield Call(door, {name: draw.choice(list(NASTY)) for name in draw.sample(list(door.rows), 2)})


class Room:
    """A working directory in which calls are made: after each of them it is as it was before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.kept = folder / "room", folder / "kept"
        furnish(self.kept)
        self._tidy()
        signal.signal(signal.SIGALRM, _too_long)

    def _tidy(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.kept, self.folder, symlinks=True)
        os.chdir(self.folder)
        self.before, self.stamps = contents(self.folder), sorted(stamps(self.folder))

    def changed(self) -> bool:
        """Say whether the folder is not as it was; if so, make it so."""
        if sorted(stamps(self.folder)) == self.stamps:
            return False
        changed = contents(self.folder) != self.before
        self._tidy()
        return changed

    def attempt(self, call: Call) -> str | None:
        """Make a call; return what is wrong with what came of it, if anything is."""
        verdict = call.verdict
        if verdict == LONG or (verdict != WRONG and not call.door.quick):
            return None
        arguments = call.door.right() | {name: NASTY[label] for name, label in call.nasty.items()}
        began = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, 2 * SECONDS)
        try:
            call.door.call(**arguments)
        except InputError as error:
            problem = self._refused(verdict, str(error))
        except Exception as error:
            problem = f"raised {type(error).__name__}: {error}"
        else:
            problem = "was accepted" if verdict == WRONG else None
            self.changed()
        signal.setitimer(signal.ITIMER_REAL, 0)
        seconds = time.perf_counter() - began
        if seconds > SECONDS:
            problem = f"took {seconds:.1f} s"
        return None if problem is None else f"{call} {problem}"

    def _refused(self, verdict: str, said: str) -> str | None:
        if self.changed():
            return f"left files behind, and was refused: {said}"
        if verdict == RIGHT:
            return f"is right, but was refused: {said}"
        if not said or "\n" in said or len(said) > LINE:
            return f"was refused in more than a line: {said!r}"
        return None


def _too_long(*_: object) -> None:
    raise TimeoutError("too long")


def problems(seed: int, count: int, folder: Path) -> Iterator[str]:
    """Make calls, half of them with one nasty value and half with two, and yield what is wrong."""
    room = Room(folder)
    drawn = random.Random(seed).sample(list(singles()), count // 2)  # noqa: S311 - a test, not a secret
    yield from filter(None, map(room.attempt, [*drawn, *calls(seed, count - count // 2)]))
