"""Every door of the package, and the wrong values that are tried on it.

A door is a public function, class or method: how to call it rightly, quickly, and for each
of its parameters an oracle that says which values are right. `singles` gives every
parameter every nasty value, one at a time; `calls` draws pairs at random. `attempt` makes
such a call: a wrong one has to be refused with `InputError`, in one line that names what is
wrong, at once, and to leave no file behind; a right one has to work.
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
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from pathlib import Path, PurePosixPath
from pydoc import locate
from typing import Any, ClassVar

import gymnasium
import numpy as np

import distal
from distal import Chance, HillClimbing, InputError, Maze, Rule, Settings, learners
from distal.base import checks
from distal.engines import Batch, Runner
from distal.engines.cpu import engine as cpu
from distal.engines.gpu import engine as gpu
from distal.engines.reference import engine as reference
from distal.engines.spread import Spread
from distal.evaluation.result import Result
from distal.learners.hebbian import COEFFICIENTS
from distal.model.maze import HEADINGS, MAZES
from distal.model.readings import NEURONS, READINGS
from distal.networks import Recurrent
from distal.search.cma import CMASearch
from distal.search.genetic import GeneticSearch
from distal.show.scenes import Scene, scenes
from distal.studies.appendix import Appendix
from distal.studies.reproduction import Reproduction
from distal.studies.study import Scale
from distal.tasks import registry as task_registry
from distal.tasks.environment import REWARDS, MazeEnv, MazeVectorEnv
from distal.tasks.gym import EnvTask, EnvWalk
from distal.tasks.mazes import MazeTask
from distal.tasks.picture import Picture
from distal.tasks.switching import SCHEDULES, Switch
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from distal.tasks.task import Aim

DOCS = Path(__file__).parents[1] / "docs"

SECONDS = 5.0  # of processor that a call may take: a refusal takes no time, and the right calls are tiny
LINE = 1_000  # letters of a refusal, at most

RIGHT, WRONG, EITHER, LONG = "right", "wrong", "either", "right, but not to be waited for"
Oracle = Callable[[Any], str]

SMALL = Maze.from_text("#####\n#0S1#\n#####")
TASK = MazeTask(SMALL)
RULE = Rule([0, 1, -1, 0] * 8, 0.1, 0.2, 0.3, 0.4)
CLIMBER, RANDOM = HillClimbing(0.1, 0.2, 0.3), Chance(0.1, 0.2)
SHORT = Settings(hidden=2, steps=3)
FEW: Any = {"maze": SMALL, "episodes": 2, "trials": 1, "hidden": 2, "steps": 3}
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
    result().save(folder / "result.npz")
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


def number_one(value: object) -> str:
    """Take 1, be it whole or not."""
    return right_if(_number(value) == 1)


def flag(value: object) -> str:
    """Take True and False."""
    return right_if(isinstance(value, bool | np.bool_))


def words(*allowed: str) -> Oracle:
    """Take some words."""
    return lambda value: right_if(isinstance(value, str) and value in allowed)


def function(value: object) -> str:
    """Take what can be called."""
    return right_if(callable(value))


def ranged(low: float, high: float) -> Oracle:
    """Take numbers in a range."""
    return lambda value: right_if((number := _number(value)) is not None and low <= number <= high)


def one(*kinds: type) -> Oracle:
    """Take objects of some kinds."""
    return lambda value: right_if(isinstance(value, kinds))


def perhaps(unsure: Oracle, other: Oracle | None = None) -> Oracle:
    """Do not know about what one oracle takes; what another one takes is right, all else wrong."""
    return lambda value: EITHER if unsure(value) == RIGHT else (other or never)(value)


def some(*kinds: type) -> Oracle:
    """Take objects of some kinds, but perhaps not all of them."""
    return perhaps(one(*kinds))


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


# ------------------------------------------------------------------ objects that are given


def arrays(count: int) -> tuple[Any, Any, Any]:
    """Return learner, goal and seed of so many trials."""
    return np.zeros(count, np.int32), np.zeros(count, np.int32), np.arange(count).astype(np.uint64)


def trials(count: int = 1) -> Batch:
    """Return a batch of so many trials."""
    return Batch((RULE,), *arrays(count), TASK, SHORT, 2)


@cache
def result() -> Result:
    """Return an evaluation with everything kept."""
    return distal.learn(RULE, keep_ep=True, keep_weights=True, **FEW)


def agent() -> distal.Agent:
    """Return an agent of a maze."""
    return result().agent(0)


def plastic() -> distal.PlasticNetwork:
    """Return a plastic network for the maze."""
    return distal.PlasticNetwork(RULE, inputs=3, outputs=4, settings=SHORT)


def acting(*observations: list[int]) -> distal.PlasticNetwork:
    """Return one that is in an episode, after a step for each observation."""
    made = plastic()
    made.start_episode()
    for one in observations:
        made.act(one)
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
def comparison() -> distal.Comparison:
    """Return two learners compared in a trial."""
    return distal.compare([RULE, CLIMBER], **FEW)


@cache
def evolved() -> distal.Evolved:
    """Return the smallest evolution there is."""
    return distal.evolve(**{**SMALLEST, "maze": SMALL, "fresh": 4})


@cache
def inspection() -> distal.Inspection:
    """Return what is in a small rule; row 1 has the change 1."""
    return distal.inspect(RULE, **FEW)


@cache
def inspected_set() -> distal.RuleSet:
    """Return what two rules have in common."""
    return distal.inspect_set([RULE, "paper:1"], **FEW)


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
def study(name: str) -> dict[str, Any]:
    """Return a study that the documents show, as its file holds it."""
    data: dict[str, Any] = json.loads((DOCS / f"{name}.json").read_text())
    return data


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


def task_word(value: object) -> str:
    """Take words of letters, digits, hyphens and underscores."""
    return right_if(isinstance(value, str) and len(value) <= 50 and value.replace("-", "_").isidentifier())


def registering_task(word: Any) -> None:
    """Register a task, and forget it again."""
    task_registry.register(word)(corridor_task)
    task_registry.unregister(word)


def corridor_task() -> MazeTask:
    """Return a task."""
    return TASK


def search() -> GeneticSearch:
    """Return a search before its first generation."""
    return distal.GeneticAlgorithm(population=3, elite_count=1).begin(2, 1, 0)


def asked_cma() -> CMASearch:
    """Return a search with CMA-ES that has been asked for its first generation."""
    made = distal.CMA(population=4).begin(2, 1, 0)
    made.ask()
    return made


def told(made: Any) -> Any:
    """Return a search after its first generation."""
    made.tell(made.ask(), np.array([2.0, 1.0, 3.0, 4.0])[: made.options.population])
    return made


@cache
def scene() -> Scene:
    """Return a walk of a step."""
    return scenes(trials(), [1])[0]


def env() -> MazeEnv:
    """Return an environment in which an episode has begun."""
    made = MazeEnv(SMALL, goal=1, max_steps=3)
    made.reset(seed=0)
    return made


def at_rest(random: Any, goal: int) -> Any:
    """Begin a compiled task in which nothing happens."""
    return (0.5,), (0.5,)


def stays(state: Any, action: int) -> Any:
    """Do nothing."""
    return state, state, 1.0, False


def envs() -> MazeVectorEnv:
    """Return two of them."""
    made = MazeVectorEnv(2, SMALL, goal=1)
    made.reset(seed=0)
    return made


def table() -> Table:
    """Return a table of two states and two goals."""
    return Table(**{name: make() for name, (make, _) in TABLE.items()})


class SameThread(Executor):
    """An executor that does the work at once."""

    workers = 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do it."""
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


# The object that a method is called on, by its class.
OBJECTS: dict[str, Callable[[], object]] = {
    "distal.Agent": agent, "distal.Comparison": comparison, "distal.EnvTask": lambda: EnvTask(env()),
    "distal.Evaluation": evaluation, "distal.Evolved": evolved, "distal.Inspection": inspection,
    "distal.Maze": lambda: SMALL, "distal.PlasticNetwork": plastic, "distal.Reproduction": reproduction,
    "distal.Result": result, "distal.Rule": lambda: RULE, "distal.RuleSet": inspected_set,
    "distal.Runner": lambda: Runner("cpu"), "distal.Switch": lambda: Switch(2),
    "distal.TableTask": lambda: TableTask(table()),
    "distal.engines.Batch": lambda: trials(9), "distal.engines.Engine": lambda: cpu,
    "distal.engines.spread.Spread": lambda: Spread(SameThread(), "cpu"),
    "distal.evaluation.usage.Usage": lambda: inspection().usage,
    "distal.learners.Learner": lambda: RANDOM.named("chance"), "distal.networks.Network": Recurrent,
    "distal.search.cma.CMASearch": asked_cma, "distal.search.config.Config": lambda: evolved().config,
    "distal.search.genetic.GeneticSearch": lambda: told(search()),
    "distal.search.genotypes.Finalists": lambda: told(search()).finalists(2),
    "distal.search.results.Fresh": lambda: evolved().winners[0].fresh,
    "distal.search.results.Winner": lambda: evolved().winners[0],
    "distal.search.search.Algorithm": distal.GeneticAlgorithm,
    "distal.search.search.Search": lambda: told(search()),
    "distal.show.scenes.Scene": scene, "distal.tasks.environment.MazeEnv": env,
    "distal.tasks.environment.MazeVectorEnv": envs, "distal.tasks.mazes.MazeTask": lambda: TASK,
    "distal.tasks.mazes.MazeWalk": lambda: TASK.begin(0, SHORT),
    "distal.tasks.gym.EnvWalk": lambda: EnvWalk(EnvTask(env()), 3),
    "distal.tasks.picture.Picture": lambda: Picture(["G.", "#H"], [0, 1]),
    "distal.tasks.task.Aim": lambda: Aim(TASK, 0, (0, 1), 2),
}  # fmt: skip


# ------------------------------------------------------------------ parameters by their names


def budget(given: object) -> str:
    """Take numbers of episodes; what is too few depends on the rest, and many take long."""
    number = _number(given)
    return WRONG if number is None or not number > 0 else EITHER if number < 10_000 else LONG


def no_learners(given: object) -> str:
    """Take what may be an empty list; of learners in one, other tests are."""
    kinds = (list, tuple, np.ndarray)
    return EITHER if isinstance(given, kinds) and np.size(given) == 0 else WRONG


PANDAS = importlib.util.find_spec("pandas") is not None
NOTHING_ELSE = row(None, none_or(never))
UNIT, COUNT, PERIOD = row(0.5, share), row(2, whole(1, 10**6_000)), row(None, none_or(whole(1, 2**32 - 1)))
SEED, STEPS = row(0, whole(0, 2**64 - 1)), row(3, whole(1, 10_000))
LISTS, SIZE = (list, tuple, range, np.ndarray), whole(1, 2**32 - 1)
ENGINE, HEADED = words("cpu", "reference", "auto"), whole(0, 3)
LEARNER = one(Rule, HillClimbing, Chance)
SETTINGS: Rows = {
    "hidden": row(2, whole(1, 256, quick=10)), "steps": STEPS,
    **{name: row(next(iter(values)), words(*values)) for name, values in READINGS.items()},
    "neurons": row("binary", words(*NEURONS)), "network": row("recurrent", words("recurrent")),
    "flip": row(0.0, lambda given: RIGHT if _number(given) == 0 else perhaps(share)(given)),
}  # fmt: skip
TABLE: Rows = {  # two states and two goals; what looks like a table of other sizes does not fit the rest
    "observations": row([[0, 1, 1], [1, 0, 0]], never), "following": row([[0, 1, 1, 0], [0, 1, 0, 1]], never),
    "events": row([[0, 1, 0, 0], [2, 0, 0, 1]], never), "costs": row([[0, 5, 0], [0, 0, 3]], never),
    "ends": row([[False, False, True], [False, True, False]], never),
    "left": row([[1, 2], [0, 7]], some(np.ndarray)), "start": row(0, whole(0, 1)),
    "step_cost": row(1, whole(-100_000, 100_000)),
}  # fmt: skip
# What a parameter of this name takes, unless its door says otherwise.
NAMED: Rows = {
    **SETTINGS,
    **dict.fromkeys(("eta", "theta", "alpha_h", "alpha_o", "sigma", "decay", "rate"), UNIT),
    **dict.fromkeys(COEFFICIENTS, row(-0.5, ranged(-1, 1))),
    "factor": row(1.5, ranged(1, 2)),
    **dict.fromkeys(("crossover", "mutation", "deviation"), UNIT),
    **dict.fromkeys(("task", "encode", "render_mode", "actions", "picture", "executor", "ax"), NOTHING_ELSE),
    **dict.fromkeys(("keep_ep", "keep_weights", "chance", "curves"), row(True, flag)),
    **dict.fromkeys(("resample", "switch", "phase", "phases"), PERIOD),
    **dict.fromkeys(("ep", "key"), row(None, none_or(function))),
    "progress": row(None, none_or(lambda value: EITHER if flag(value) == RIGHT else function(value))),
    **dict.fromkeys(("episode", "first", "second", "third", "run"), row(0, whole(0, 2**32 - 1))),
    **dict.fromkeys(("state", "step", "trial", "goal"), row(0, whole(0, 1))),
    "action": row(0, HEADED),
    "agent": (agent, never),
    "args": row({"is_slippery": False}, none_or(some(dict))),
    "batch": (trials, one(Batch)),
    "cell": row((1, 2), some(np.ndarray)),
    "continuous": row(1, whole(0, 2**20, quick=10)),
    "count": COUNT,
    "discrete": row(2, whole(0, 2**20, quick=10)),
    "elites": row("remeasured", words("remeasured", "kept")),
    "engine": row("cpu", none_or(ENGINE)),
    "env": (env, never),
    "episodes": row(2, whole(1, 2**32 - 1, quick=10)),
    "every": row(2, SIZE),
    "force": row(False, flag),
    "found": (inspected_set, never),
    "frames": row([np.zeros((4, 6, 3), np.uint8)] * 2, never),
    "generations": row(3, whole(0, 2**32 - 1)),
    "heading": row("north", words(*HEADINGS)),
    "inputs": row(3, whole(1, 2**20, quick=256)),
    "kind": row(Recurrent, never),
    "learner": row("paper:1", LEARNER),
    "limit": row(None, none_or(whole(1, 10_000))),
    "maze": row(SMALL, none_or(one(Maze))),
    "name": row("", title),
    "options": row({"goal": 1}, none_or(some(dict))),
    "others": row((), either),
    "out": row(None, none_or(any_folder)),
    "path": row("saved.json", new_file),
    "record": row((1, 2), none_or(some(*LISTS))),
    "reward": row("episode", words(*REWARDS)),
    "scale": row("quick", words("quick", "paper")),
    "search": row(distal.GeneticAlgorithm(), never),
    "seed": SEED,
    "settings": row(SHORT, one(Settings)),
    "starts": row(2, none_or(whole(1, 1_000, quick=3))),
    "target": row(None, none_or(finite)),
    "test": row("dsp", never),
    "trials": row(1, whole(1, 2**32 - 1, quick=10)),
    "workers": row(1, none_or(whole(1, 1024))),
    "wrap": row(None, either),
}


def caller(name: str) -> Callable[..., object]:
    """Return what calls a function, a class, or a method of an object of its class."""
    owner, _, member = name.rpartition(".")
    thing: Any = locate(name)
    return method(OBJECTS[owner], member) if inspect.isfunction(thing) and owner in OBJECTS else thing


def method(make: Callable[[], object], name: str) -> Callable[..., object]:
    """Return a function that calls a method of a fresh object."""
    return lambda **given: getattr(make(), name)(**given)  # noqa: PLW0108 - a fresh object for each call


def only(name: str, call: Callable[..., object] | None = None, /, **rows: Row) -> Door:
    """Return a door that is called with these parameters alone."""
    return Door(name, call or caller(name), rows)


def door(name: str, call: Callable[..., object] | None = None, /, **rows: Row) -> Door:
    """Return a door; a parameter that has no row here has that of its name."""
    thing: Any = locate(name)
    settings = SETTINGS if "Unpack[SettingsDict]" in str(inspect.signature(thing)) else {}
    wanted = {**dict.fromkeys(parameters(thing)), **settings, **rows}
    unknown = [one for one in wanted if one not in rows and one not in NAMED]
    assert not unknown, f"{name} has no row in tests/doors.py for {', '.join(unknown)}"
    return only(name, call, **{one: rows.get(one) or NAMED[one] for one in wanted})


def slow(name: str, **rows: Row) -> Door:
    """Return a door of which no right call can be waited for."""
    return replace(door(name, **rows), quick=False)


# ------------------------------------------------------------------ doors that are not as their names say

OPTIONS: Rows = {  # of inspections
    "trials": row(2, perhaps(number_one, whole(2, 2**32 - 1, quick=3))),
    "episodes": row(2, whole(2, 2**32 - 1, quick=3)),
    "resample": row(None, none_or(whole(2, 2**32 - 1))),
}
MOVING = row(None, none_or(whole(1, 1)))  # of two episodes
EVOLUTION: Rows = {
    "learner": row("dsp", words("dsp", "hc")), "runs": row(1, whole(1, 2**20, quick=3)),
    "generations": row(1, perhaps(one(type(None)), whole(0, 2**32 - 1, quick=3))),
    "budget": NOTHING_ELSE, "finalists": row(0, whole(0, 2**20, quick=3)),
    "begin_with": row((), no_learners), "search": row(SMALLEST["search"], none_or(never)),
    "fitness": row("best", words("best", "mean", "missed")), "switch": MOVING,
    "fresh": row(4, none_or(whole(2, 2**32 - 1, quick=1000))), "out": row(None, none_or(new_folder)),
}  # fmt: skip
WATCHING: Rows = {
    **SETTINGS, **{name: NAMED[name] for name in ("episodes", "resample", "switch", "task")},
    "against": row(None, none_or(LEARNER)),
    "goal": row("0", perhaps(one(str, int, np.integer), one(type(None)))),
    "maze": row(SMALL, perhaps(one(Maze), none_or(never))),  # has it a goal 0?
}  # fmt: skip
WALKING: Rows = {
    "heading": row(None, none_or(words(*HEADINGS))), "max_steps": STEPS,
    "goal": row(0, none_or(perhaps(whole(2, 7), whole(0, 1)))),
}  # fmt: skip
BATCH: Rows = {
    "learners": row((RULE,), never), "learner": row(arrays(2)[0], never), "goal": row(arrays(2)[1], never),
    "seed": row(arrays(2)[2], some(np.ndarray)), "task": row(TASK, one(MazeTask)), "switch": NOTHING_ELSE,
    "episodes": row(2, perhaps(number_one, SIZE)),
}  # fmt: skip
RESUMED: Rows = {"out": row("runs", never)}
PATHS: Rows = {"path": row("climber.json", never)}
SHAPE: Rows = {"outputs": row(4, whole(1, 2**12, quick=256))}
FACTOR = row(None, none_or(whole(1, 10_000)))  # what the rewards of an environment are multiplied by
AIM, BACK_AND_FORTH = row(Aim(TASK, 1), never), Switch(2, (1, 0))
FRAMED = {  # the tables that each has as a frame
    "Comparison": ("learners", "differences", "episodes"), "Evolved": ("generations", "winners"),
    "Inspection": ("rows", "knockouts"), "RuleSet": ("rules", "rows"),
}  # fmt: skip


def learning() -> list[Door]:
    """Return the doors of learning, rules and mazes."""
    chance = row(RANDOM, LEARNER)
    return [
        door("distal.learn", switch=MOVING),
        only("distal.learn", learner=chance, task=row(SMALL, none_or(one(Maze))), maze=NOTHING_ELSE,
             episodes=NAMED["episodes"]),
        door("distal.learn", switch=MOVING, learner=chance, engine=row("reference", none_or(ENGINE))),
        door("distal.compare", learners=row([RULE, RANDOM], never), until_decided=row(False, flag),
             most_trials=NOTHING_ELSE),
        door("distal.compare", learners=row([RULE, RANDOM], never),
             until_decided=row(True, lambda given: right_if(flag(given) == RIGHT and given)),
             most_trials=row(100, none_or(whole(50, 2**32 - 1, quick=1000)))),
        door("distal.climb", climber=row(CLIMBER, one(HillClimbing)),
             **{name: NAMED[name] for name in ("episodes", "trials", "resample", "seed")}),
        *(replace(door(f"distal.{kind}.to_frame", what=row(given[0], words(*given))), quick=PANDAS)
          for kind, given in FRAMED.items()),
        door("distal.Behaviour.of", ep=row(np.ones((2, 2), np.int32), some(np.ndarray)),
             target=row(3, none_or(finite))),
        door("distal.Result.agent", trial=row(0, none_or(whole(0, 1)))),
        door("distal.Result.load", path=row("result.npz", never)),
        door("distal.Result.save", path=row("new.npz", never)),
        door("distal.Agent", weights=(lambda: result().weights(0), never),
             network=(lambda: result().network, never), encoder=NOTHING_ELSE,
             first_action=row(0, whole(-10_000_000, 10_000_000)),
             episode=row(0, whole(0, 2**32 - 1 - 10_000_000)), goals=NOTHING_ELSE),
        door("distal.Agent.act", observation=row([1, 0, 1], never)),
        door("distal.Agent.act", method(lake_agent, "act"),
             observation=row(5, perhaps(one(np.ndarray), whole(0, 15)))),
        door("distal.Agent.load", path=row("agent.json", never), env=row(None, either)),
        door("distal.Agent.load", path=row("lake.json", never), env=row("FrozenLake-v1", never)),
        door("distal.evaluate", episodes=row(2, whole(1, 10_000_000, quick=10)),
             seed=row(0, whole(0, 2**31 - 1))),
        door("distal.inspect", rule=row(RULE, one(Rule)), **OPTIONS),
        door("distal.inspect_set", rules=row(["paper:1", RULE], never), **OPTIONS),
        door("distal.Inspection.knockout", row=row(1, perhaps(whole(0, 31))),
             change=row(0, perhaps(whole(-1, 1)))),  # that which the row has is refused
        door("distal.Inspection.plot",
             what=row("eta", words("usage", "knockouts", "eta", "theta", "alpha_h", "alpha_o"))),
        door("distal.evaluation.rule_set.find_rules", given=row("runs", some(Rule))),
        door("distal.find_learner", learner=row("hc", LEARNER)),
        door("distal.find_learner", learner=row("climber.json", LEARNER)),
        door("distal.find_rule", name=row("rule.json", never)),
        door("distal.published_rule", number=row(1, whole(1, 15))),
        door("distal.champion_record", number=row(1, whole(1, len(distal.champion_rules())))),
        door("distal.Rule", delta_w=row([0] * 32, never)),
        door("distal.Rule.load", path=row("rule.json", never)),
        door("distal.Rule.save"),
        door("distal.Rule.from_genes", discrete=row([0] * 32, never),
             continuous=row([0.1, 0.2, 0.3, 0.4], never)),
        door("distal.HillClimbing.load", **PATHS),
        door("distal.NeuronCentric", coefficients=row([[0.5] * 8], never)),
        door("distal.NeuronCentric.from_genes", discrete=row((), no_learners),
             continuous=row([0.5] * 12, never)),
        door("distal.learners.load_learner", **PATHS),
        door("distal.learners.Learner.load", CLIMBER.load, **PATHS),
        door("distal.learners.Learner.from_genes", CLIMBER.from_genes, discrete=row((), no_learners),
             continuous=row((0.1, 0.2, 0.3), never)),
        door("distal.PlasticNetwork", **SHAPE, settings=row(SHORT, none_or(one(Settings)))),
        door("distal.PlasticNetwork.act", method(acting, "act"), observation=row([1, 0, 1], never)),
        door("distal.PlasticNetwork.end_episode", method(lambda: acting([1, 0, 1]), "end_episode"),
             ep=row(3, perhaps(one(type(None)), finite)), reward=row(None, none_or(either))),
        door("distal.PlasticNetwork.load", path=row("plastic.json", never),
             task=row(None, none_or(some(Maze)))),
        door("distal.learners.register", registering, kind=row(Sleeper, never),
             default=row(Sleeper(0, 0), none_or(never))),
        door("distal.learners.unregister", unregistering, kind=row("sleeper", never)),
        door("distal.Maze", picture=row(SMALL.picture, never)),
        door("distal.Maze.from_text", text=row(str(SMALL), never)),
        door("distal.Maze.from_file", path=row("maze.txt", never)),
        door("distal.Maze.sense", heading=row(0, HEADED)),
        door("distal.Maze.move", heading=row(0, HEADED)),
        door("distal.t_maze", levels=row(2, whole(1, 4)), width=row(3, whole(1, 5))),
        door("distal.maze", name=row("triple-t", words(*MAZES))),
        door("distal.Maze.to_svg", scale=row(16, whole(1, 1000))),
        door("distal.Settings.of", options=row({"steps": 3}, some(dict))),
    ]  # fmt: skip


def experiments() -> list[Door]:
    """Return the doors of evolution, the paper's experiments and the study of readings."""
    asked: Any = method(search, "ask")
    learner = row("dsp", never)
    going_on, kinds = (
        row(1, none_or(whole(1, 2**32 - 1, quick=2))),
        ("search.Search", "genetic.GeneticSearch"),
    )
    few = distal.GeneticAlgorithm()
    searches = few, distal.CMA(), distal.Islands(few, 2), distal.Restarts(few, 2), distal.Race(few)
    return [
        door("distal.evolve", **EVOLUTION),
        only("distal.evolve", partial(distal.evolve, **SMALLEST), task=row(SMALL, none_or(one(Maze)))),
        only("distal.evolve", partial(distal.evolve, **{**SMALLEST, "generations": None}, maze=SMALL),
             budget=row(60, lambda given: LONG if given is None else budget(given))),
        door("distal.resume", **RESUMED, generations=going_on, budget=NOTHING_ELSE),
        only("distal.resume", **RESUMED, task=row(SMALL, none_or(never))),
        only("distal.resume", **RESUMED, budget=row(None, none_or(budget))),
        slow("distal.champions", prize=row("best", words("best", "last", "reached", "long")),
             budget=row(1e9, lambda given: right_if(1e7 < (_number(given) or 0) < 2**63)),
             runs=row(None, none_or(whole(1, 2**20, quick=0))), held_out=row(4, whole(2, 2**32 - 1)),
             learner=EVOLUTION["learner"], task=row(SMALL, none_or(one(Maze))),
             out=row("champion", any_folder),
             command=row(None, none_or(lambda given: LONG if isinstance(given, str) else WRONG))),
        door("distal.GeneticAlgorithm", population=row(3, whole(2, 2**20, quick=3)),
             elite_count=row(1, whole(0, 2)),
             elites=row("remeasured", words("remeasured", "kept", "averaged")),
             parents=row("roulette", words("roulette", "elites")),
             mixing=row("one-point", words("one-point", "uniform")),
             wheel=row("inverted", words("inverted", "proportional")),
             bounds=row("clip", words("clip", "reflect"))),
        door("distal.Islands", count=row(2, whole(2, 2**10)), exchange=row(2, SIZE)),
        door("distal.Race", heats=row(1, whole(1, 20))),
        door("distal.CMA", population=row(4, whole(4, 2**20)),
             sigma=row(0.5, lambda given: WRONG if _number(given) == 0 else share(given))),
        *(door(f"distal.{type(one).__name__}.begin", one.begin) for one in searches),
        *(door(f"distal.search.{kind}.immigrate", genotype=(lambda: asked()[:1], never),
               fitness=row(1.0, finite), born=row(0, whole(0, 0))) for kind in kinds),
        *(door(f"distal.search.{kind}.begin_with", genotypes=(lambda: asked()[:2], never)) for kind in kinds),
        door("distal.search.genotypes.Genotypes.of_genes",
             rows=row([[0, 1, 0.5], [1, 0, 1.0]], some(np.ndarray, list)), discrete=row(2, whole(0, 2))),
        door("distal.search.genotypes.Finalists.best", groups=(lambda: [told(search()).finalists(2)], never)),
        door("distal.search.config.Config.decode",
             genotypes=(lambda: evolved().config.begin(0).ask(), never)),
        door("distal.search.config.Config.affordable", budget=row(1e6, perhaps(finite))),
        door("distal.search.search.Search", GeneticSearch),
        door("distal.search.search.Search.tell", method(search, "tell"), genotypes=(asked, never),
             fitness=row(np.ones(3), never)),
        door("distal.search.search.Search.restore", method(search, "restore"),
             state=(lambda: told(search()).state(), never)),
        only("distal.search.search.Search.restore", lambda **state: search().restore(state),
             **fields_of(told(search()).state(), generation=whole(0, 2**32 - 1))),
        door("distal.search.cma.CMASearch.tell", genotypes=(lambda: asked_cma().ask(), never),
             fitness=row(np.ones(4), never)),
        door("distal.search.cma.CMASearch.restore", state=(lambda: told(asked_cma()).state(), never)),
        only("distal.search.cma.CMASearch.restore", lambda **state: asked_cma().restore(state),
             **fields_of(told(asked_cma()).state(), generation=whole(0, 2**32 - 1))),
        door("distal.search.registry.register", kind=row(distal.CMA, never)),
        door("distal.tasks.registry.register", registering_task, word=row("a-task", task_word)),
        door("distal.search.results.Fresh.of",
             **{name: row(np.array([1, 2, 4]), some(np.ndarray)) for name in ("own", "chance")}),
        slow("distal.reproduce", rules=row("evolved", words("evolved", "published"))),
        slow("distal.study_readings"),
        slow("distal.study_tasks", scale=row("quick", words("quick", "full")),
             worlds=row("tables", words("tables", "steps"))),
        slow("distal.study_rivals", scale=row("quick", words("quick", "paper"))),
        slow("distal.study_beyond"),
        slow("distal.write_report", result=(reproduction, never), out=row("report", any_folder)),
        *(door(f"distal.Reproduction.{name}", learner=learner) for name in ("best", "ranking")),
        door("distal.Reproduction.against_chance", learner=learner, episodes=row(1, whole(1, 3))),
        door("distal.Reproduction.origin", learner=learner, number=row(0, whole(0, 0))),
    ]  # fmt: skip


def pictures() -> list[Door]:
    """Return the doors of environments, pages and films."""
    seeds = none_or(whole(0, 10**5000))
    return [
        door("distal.tasks.environment.MazeEnv", **WALKING,
             render_mode=row(None, none_or(words("ansi", "rgb_array")))),
        door("distal.tasks.environment.MazeEnv.reset", seed=row(None, seeds)),
        door("distal.tasks.environment.MazeEnv.step", action=row(0, perhaps(one(np.ndarray), HEADED))),
        door("distal.tasks.environment.MazeVectorEnv", **WALKING, num_envs=row(2, whole(1, 2**20))),
        door("distal.tasks.environment.MazeVectorEnv.reset",
             seed=row(None, perhaps(one(list, tuple), seeds)),
             options=row({"goal": [1, 0]}, none_or(some(dict)))),
        door("distal.tasks.environment.MazeVectorEnv.step", actions=row(np.array([0, 1]), some(np.ndarray))),
        door("distal.show.watch.trials", **WATCHING),
        door("distal.show.watch.watch", **WATCHING),
        door("distal.show.watch.write_page", **WATCHING, out=row("page.html", new_file),
             **{name: NAMED[name] for name in ("seed", "progress")}),
        slow("distal.show.inspection_page.write_page", out=row("page.html", new_file)),
        slow("distal.show.inspection_page.write_figures", path=row("drawn", any_folder)),
        door("distal.show.scenes.scenes", after=row([1, 2], some(*LISTS))),
        door("distal.show.film.film", shown=(lambda: scenes(trials(), [1]), never),
             scale=row(4, whole(1, 100, quick=3))),
        door("distal.show.scenes.Scene.caption", step=row(0, whole(0, 10**5000))),
        door("distal.show.scenes.Scene.draw", scale=row(16, whole(1, 100))),
        door("distal.show.film.write_gif", path=row("a.gif", new_file)),
        slow("distal.show.film.write_mp4", path=row("a.mp4", new_file)),
    ]  # fmt: skip


def machinery() -> list[Door]:
    """Return the doors of engines and executors, of tasks, and of what is inside a trial."""
    executor, batches = (SameThread, never), {name: BATCH[name] for name in ("task", "episodes", "switch")}
    several = {
        "learners": row((RULE, RULE), never),
        "learner": row(np.arange(2, dtype=np.int32), some(np.ndarray)),
    }
    lake = row("FrozenLake-v1", never)
    at = perhaps(one(np.ndarray), whole(-1, 3))
    schedules = {
        "first": row(arrays(2)[0], never), "seed": row(arrays(2)[2], some(np.ndarray)),
        "goals": row(2, whole(2, 2**31 - 1)), "phases": row(3, whole(1, 2**32 - 1, quick=1000)),
    }  # fmt: skip
    return [
        door("distal.engines.Batch", **BATCH),
        door("distal.engines.Batch", **{**BATCH, **several}),
        door("distal.engines.Batch.part", first=row(0, whole(0, 3)), last=row(4, whole(1, 9))),
        *(door("distal.engines.Engine.run", run) for run in (cpu.run, reference.run)),
        *(door("distal.engines.Engine.supports", engine.supports) for engine in (cpu, gpu, reference)),
        door("distal.engines.load", name=row("cpu", ENGINE)),
        door("distal.Runner.spread_over", executor=executor),
        door("distal.Runner.begin", lambda **asked: Runner("cpu").begin(**asked)()),
        slow("distal.engines.cluster.Cluster", address=row("local:1", never)),
        door("distal.engines.spread.Spread", executor=executor, engine=row("cpu", ENGINE)),
        door("distal.engines.spread.Spread.run"),
        door("distal.learners.episodes", learner=row(RULE, LEARNER), task=AIM),
        door("distal.tasks.task.Aim", task=BATCH["task"], phases=row((0, 1), some(*LISTS))),
        door("distal.tasks.mazes.MazeTask", maze=row(SMALL, one(Maze)), steps=row(None, none_or(STEPS[1]))),
        door("distal.tasks.mazes.MazeTask.scaled", maze=row(SMALL, one(Maze))),
        door("distal.tasks.mazes.MazeTask.begin"),
        door("distal.tasks.mazes.MazeWalk", maze=row(SMALL, one(Maze))),
        door("distal.tasks.mazes.MazeWalk.act"),
        door("distal.Switch", goals=row("new", schedule)),
        door("distal.Switch.check_goals", goals=row(3, whole(2, 2**31 - 1))),
        door("distal.Switch.phases", episodes=row(3, SIZE)),
        door("distal.Switch.ends", episodes=row(3, whole(1, 2**32 - 1, quick=1000))),
        *(door("distal.Switch.schedule", one.schedule, **schedules) for one in (Switch(2), BACK_AND_FORTH)),
        door("distal.networks.run_episode", network=(lambda: agent().network, never),
             weights=(lambda: agent().weights, never), task=AIM),
        *(door(f"distal.networks.{name}", **SHAPE, settings=row(SHORT, none_or(one(Settings))), alpha_h=UNIT,
               alpha_o=UNIT) for name in ("Recurrent", "Softmax")),
        door("distal.networks.network_for", **SHAPE, numbers=row({"alpha_h": 0.5}, some(dict))),
        door("distal.Reinforce", eta=row(0.05, ranged(0, 0.1))),
        door("distal.check_learner", learner=row(RULE, perhaps(LEARNER))),
        door("distal.check_task", task=BATCH["task"]),
        door("distal.evaluation.trials.batch_of", learners=row((RULE,), never),
             seeds=row(np.array([3], np.uint64), some(np.ndarray)),
             trials=row(1, whole(1, 2**32 - 1, quick=1000)), **batches),
        door("distal.Table", **TABLE),
        door("distal.Table.of", observations=TABLE["observations"], following=TABLE["following"],
             costs=row([[1, 1, 2, 1], [1, 1, 1, 1]], never), ends=row([False, True], some(np.ndarray)),
             start=row(0, perhaps(one(list), whole(0, 1))),
             left=row(0, perhaps(one(np.ndarray), whole(-100_000, 100_000)))),
        door("distal.TableTask", table=row(table(), one(Table)), goals=row(["near", "far"], none_or(never)),
             name=row("rooms", some(str)), steps=row(None, none_or(STEPS[1]))),
        door("distal.TableTask.begin"),
        door("distal.TableTask.load", path=row("table.npz", never)),
        door("distal.TableTask.save", path=row("new.npz", never)),
        *(door(f"distal.{name}", settings=row(SHORT, either))
          for name in ("TableTask.target", "TableTask.table", "EnvTask.target")),
        door("distal.tasks.picture.Picture", rows=row(["G.", "#H"], never),
             cells=row([0, 1], some(np.ndarray)),
             **{name: row([-1, 0], at) for name in ("headings", "things", "goals")}),
        only("distal.task_of", given=row(SMALL, one(Maze)), tabulated=NOTHING_ELSE,
             progress=NAMED["progress"],
             **dict.fromkeys(("args", "encode", "starts", "ep", "key"), NOTHING_ELSE),
             **dict.fromkeys(("wrap", "actions", "scale"), NOTHING_ELSE)),
        door("distal.task_of", given=lake, encode=row("binary", none_or(never)),
             tabulated=row(None, none_or(flag)), scale=FACTOR),
        door("distal.tasks.sources.rebuilt", data=(lambda: TableTask.load("table.npz").to_dict(), never)),
        door("distal.tabulate", env=row(partial(gymnasium.make, "FrozenLake-v1", is_slippery=False), never),
             encode=row("binary", none_or(never)), key=row(None, none_or(perhaps(function))),
             limit=row(20, perhaps(whole(1, 15), whole(1, 2**21))), scale=FACTOR),
        door("distal.compiled_task", reset=row(at_rest, never), step=row(stays, never),
             actions=row(2, whole(1, 2**12)), low=row((0.0,), either), high=row((1.0,), either),
             encode=row("bins:3", none_or(either)), draws=row(1, whole(1, 1_000)),
             goals=row(1, whole(1, 1_000)),
             steps=row(5, none_or(whole(1, 10_000))), target=row(None, none_or(finite)),
             name=row("rest", none_or(title))),
        door("distal.EnvTask", args=row(None, none_or(some(dict))), options=row([{}], some(list)),
             encode=row("bits", none_or(never)), scale=FACTOR),
        door("distal.EnvTask.begin", goal=row(0, whole(0, 0))),
        door("distal.tasks.gym.EnvWalk", task=(OBJECTS["distal.EnvTask"], never), goal=row(0, whole(0, 0))),
        door("distal.tasks.gym.EnvWalk.act"),
        door("distal.tasks.encoders.Encoder.from_dict",
             data=row({"word": "bits", "bits": 3, "edges": []}, never),
             space=(lambda: env().observation_space, never)),
    ]  # fmt: skip


# ------------------------------------------------------------------ what files hold


def fields_of(right: Mapping[str, Any], other: Oracle = never, **oracles: Oracle) -> Rows:
    """Return a row for each field; of a field that has no oracle of its own, `other` says what is right."""
    return {name: row(given, oracles.get(name, other)) for name, given in right.items()}


def reading() -> Iterator[Door]:
    """Yield the doors of all that is read from a dictionary: given another one, and with another field."""
    loose = dict.fromkeys(("elites", "engine", "distal", "machine", "seconds"), either)
    unit = dict.fromkeys(("eta", "theta", "alpha_h", "alpha_o", "sigma"), share)
    first = {"version": whole(1, 1)}
    # What is stored, and the right values of its fields, their own if none are named; None: any may be right.
    stored: dict[str, tuple[Callable[[], Any], Mapping[str, Oracle] | None]] = {
        **{f"distal.{name}": (partial(OBJECTS[f"distal.{name}"]().to_dict, True), None)  # type: ignore[attr-defined]
           for name in ("Result", "Comparison", "Inspection", "Evaluation")},
        **{f"distal.{name}": (OBJECTS[f"distal.{name}"]().to_dict, None)  # type: ignore[attr-defined]
           for name in ("Evolved", "evaluation.usage.Usage", "search.config.Config", "search.results.Winner",
                        "search.results.Fresh")},
        "distal.studies.champion.HeldOut": (lambda: distal.champion_record(1)["held_out"], None),
        "distal.Rule": (RULE.to_dict, {**first, "name": title, **unit}),
        "distal.HillClimbing": (CLIMBER.named("a climber").to_dict, {**first, "name": title, **unit}),
        "distal.Switch": (Switch(2).to_dict, {"every": SIZE, "goals": schedule}),
        **{f"distal.{name}": (partial(study, file), {**first, "seed": SEED[1], **loose, **own})
           for name, file, own in (
               ("ReadingStudy", "readings", {"version": whole(2, 2), "heading": words(*HEADINGS)}),
               ("TaskStudy", "tasks", {"scale": some(str)}),
               ("RivalStudy", "rivals", {"scale": some(str)}),
               ("BeyondStudy", "beyond", {}),
           )},
    }  # fmt: skip
    for name, (data, oracles) in stored.items():
        read: Any = locate(f"{name}.from_dict")
        rows = fields_of(data(), either) if oracles is None else fields_of(data(), **oracles)
        yield Door(f"{name}.from_dict", read, {"data": (data, never)})
        yield Door(f"{name}.from_dict", lambda read=read, **fields: read(fields), rows)
    yield door("distal.learners.Learner.from_dict", RANDOM.from_dict, data=row(RANDOM.to_dict(), never))
    for name, read in (("from_dict", Settings.from_dict), ("among", Settings.among)):
        yield door(f"distal.Settings.{name}", data=row(SHORT.to_dict(), never))
        yield only(f"distal.Settings.{name}", lambda read=read, **fields: read(fields), **SETTINGS)
    yield slow("distal.Champion.from_dict", data=row({}, never))


@cache
def all_doors() -> list[Door]:
    """Return every door: those that are listed, and of all else that is public one as its names say."""
    given = [*learning(), *experiments(), *pictures(), *machinery(), *reading()]
    known = {*NO_DOOR, *(one.name for one in given)}
    return [*given, *(door(name) for name in public() if name not in known)]


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
            "distal.RivalStudy",
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
        (f"distal.engines.Engine.{name}" for name in ("check", "trials", "begin", "overlaps", "processes")),
        "for an engine to override; a Runner checks what it hands on",
    ),
    **dict.fromkeys(
        (
            "distal.search.config.Config.run_seed", "distal.studies.champion.HeldOut.of",
            "distal.Settings.unknown_to", "distal.Runner.trials", "distal.Runner.in_turns",
        ),
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
        ("distal.learners.dsp.selected_rows", "distal.learners.modulation.modulatory_signal"),
        "part of the definition, to be read; a learner hands it what a network made",
    ),
    **dict.fromkeys(
        (
            "distal.networks.Network", "distal.networks.Network.propagate", "distal.networks.Network.sources",
            "distal.networks.Network.step", "distal.networks.Network.choose",
            "distal.networks.Network.weights", "distal.networks.Softmax.choose",
            "distal.networks.Network.perturbation", "distal.networks.Sums", "distal.networks.ordered_sum",
            "distal.networks.psi", "distal.learners.Learner.update", "distal.learners.Learner.step",
            "distal.OnlineHebbian.step",
            "distal.learners.Memory", "distal.learners.Memory.number", "distal.learners.Trial.fresh_at",
            "distal.learners.Trial.moves_at", "distal.PlasticNetwork.in_trial",
            "distal.PlasticNetwork.run_episode",
        ),
        "a base class, or made by a learner; check_network and register judge what is made of it",
    ),
    **dict.fromkeys(
        (
            "distal.Reinforce.check_network",
            *(
                f"distal.{kind}.{name}"
                for kind in ("learners.Learner", "NeuronCentric")
                for name in ("check_network", "genes_for", "gene_names")
            ),
        ),
        "for a learner to override; called by the package alone, with a network that it made",
    ),
    "distal.engines.cluster.Cluster.submit": "needs a cluster; what it takes is for the executor to judge",
    "distal.engines.cluster.Cluster.check": "needs a cluster; told by the package alone",
    "distal.engines.cluster.Cluster.shutdown": "needs a cluster; takes what any executor's takes",
}  # fmt: skip


def on_the_api_page() -> list[str]:
    """Return the names that docs/api.md gives a page each."""
    return re.findall(r"^   (distal\.\S+)$", (DOCS / "api.md").read_text(), re.MULTILINE)


def listed() -> list[str]:
    """Return the names of all that is public: `__all__`, and what docs/api.md lists."""
    return list(dict.fromkeys([*(f"distal.{name}" for name in distal.__all__), *on_the_api_page()]))


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
    def names(self) -> Iterator[str]:
        """What a refusal may name: a parameter, a value or an entry of it; anything of what is read."""
        if self.door.name.endswith(("from_dict", "restore", "among", "from_text")):
            yield ""
        yield from (*self.door.rows, *CALLED.get(self.door.name, ()))
        for value in map(NASTY.__getitem__, self.nasty.values()):
            yield checks.shown(value)[:20]
            if isinstance(value, str | Path | PurePosixPath | np.generic):
                yield str(value)[:20]
            if isinstance(value, LISTS):
                array = isinstance(value, np.ndarray)
                entries = [*np.atleast_1d(value)[:3], *np.atleast_1d(value)[:3].tolist()] if array else value
                yield from (checks.shown(entry)[:20] for entry in islice(entries, 6))
                yield "empty"
            if callable(value):
                yield "returns"

    @property
    def verdict(self) -> str:
        """What has to come of it."""
        says = {self.door.rows[name][1](NASTY[label]) for name, label in self.nasty.items()}
        for verdict in (LONG, WRONG, EITHER):
            if verdict in says:
                return verdict
        return RIGHT if len(self.nasty) == 1 else EITHER  # two right values may not go together


# What refusals name instead: a part of what is given, or the word for it elsewhere.
CALLED = {
    "distal.check_learner": ("kind is <class",), "distal.search.results.Fresh.of": ("trials",),
    "distal.tasks.environment.MazeEnv.reset": ("option",), "distal.evaluate": ("option",),
}  # fmt: skip


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
        began = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, 4 * SECONDS)  # one that only waits
        try:
            call.door.call(**arguments)
        except InputError as error:
            problem = self._refused(call, verdict, str(error))
        except Exception as error:
            problem = f"raised {type(error).__name__}: {error}"
        else:
            problem = "was accepted" if verdict == WRONG else None
            self.changed()
        signal.setitimer(signal.ITIMER_REAL, 0)
        seconds = time.process_time() - began
        if seconds > SECONDS:
            problem = f"took {seconds:.1f} s"
        return None if problem is None else f"{call} {problem}"

    def _refused(self, call: Call, verdict: str, said: str) -> str | None:
        if self.changed():
            return f"left files behind, and was refused: {said}"
        if verdict == RIGHT:
            return f"is right, but was refused: {said}"
        if not said or "\n" in said or len(said) > LINE:
            return f"was refused in more than a line: {said!r}"
        if len(call.nasty) == 1 and not any(name in said for name in call.names):
            return f"was refused without a name: {said!r}"
        return None


def _too_long(*_: object) -> None:
    raise TimeoutError("too long")


def problems(seed: int, count: int, folder: Path) -> Iterator[str]:
    """Make calls, half of them with one nasty value and half with two, and yield what is wrong."""
    room = Room(folder)
    drawn = random.Random(seed).sample(list(singles()), count // 2)  # noqa: S311 - a test, not a secret
    yield from filter(None, map(room.attempt, [*drawn, *calls(seed, count - count // 2)]))
