"""Engine steps gives the bits of the reference engine, in any task, and behaves."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import gymnasium
import numpy as np
import pytest
from numba import njit

import distal
from distal import (
    Chance,
    Eligibility,
    EvolutionStrategy,
    HillClimbing,
    InputError,
    NeuronCentric,
    OnlineHebbian,
    Reinforce,
    Rule,
    SeparableCMA,
    Settings,
    Switch,
    networks,
)
from distal.base.progress import Listener
from distal.engines import Batch, Runner
from distal.engines.engine import imported
from distal.engines.reference import engine as reference
from distal.engines.steps import engine as steps
from distal.engines.steps.encoding import encode, encoding_of
from distal.learners import KINDS, Learner, register, unregister
from distal.learners.genes import decoded
from distal.model.readings import (
    BINARY,
    NEURONS,
    READINGS,
    RECURRENT,
    SIGMOID,
    SOFTMAX,
    forget_value,
    register_value,
)
from distal.networks import Recurrent
from distal.networks.compiled_network import with_room
from distal.search.genetic import first_population
from distal.tasks.encoders import Encoder, encoder_of
from distal.tasks.gym import EnvTask, EnvWalk
from distal.tasks.mazes import MazeTask
from distal.tasks.sources import task_of
from distal.tasks.spaces import numbers_of
from distal.tasks.task import Task, Walk
from tests.conftest import assert_equal_trials
from tests.given import some
from tests.mazes import T


class _Drift(Walk):
    """A number that wanders; the EP is a fraction, and later episodes of a trial are others."""

    def __init__(self, seed: int, steps: int, goal: int) -> None:
        self.random, self.at, self.taken, self.most = np.random.default_rng(seed), 0.0, 0, steps
        self.goal = goal

    @property
    def over(self) -> bool:
        return self.taken >= self.most or abs(self.at) > 3

    @property
    def ep(self) -> float:
        return abs(self.at - self.goal) + self.taken / 7

    def sense(self) -> Sequence[int]:
        return [int(self.at > edge) for edge in (-1.5, -0.5, 0.0, 0.5, 1.5)]

    def act(self, action: int) -> None:
        self.at += (action - 1) * 0.7 + self.random.normal() / 3
        self.taken += 1


class Drift(Task[_Drift]):
    """A task of one's own, with two goals, chance and EPs that are no whole numbers."""

    inputs, outputs, goals, whole = 5, 3, ("0", "1"), False

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def begin(self, goal: int, settings: Settings) -> _Drift:
        self.seed += 1
        return _Drift(self.seed, settings.steps, goal)

    def for_trial(self, seed: int) -> Drift:
        return Drift(seed % 1000)


def lowest_position(walk: EnvWalk) -> float:
    return min(float(seen[0]) for seen in walk.observations)


def signs(observation: Any) -> list[int]:
    return [int(value > 0) for value in observation]


TASKS: dict[str, Callable[[], Task[Any]]] = {
    "maze": lambda: MazeTask(T),
    "table": lambda: task_of("FrozenLake-v1", args={"is_slippery": False}),
    "drift": Drift,
    "quantiles": lambda: task_of("CartPole-v1"),
    "bins": lambda: task_of("MountainCar-v0", encode="bins:5", starts=2),
    "own ep": lambda: task_of("MountainCar-v0", ep=lowest_position),
    "own encoder": lambda: task_of("CartPole-v1", encode=signs),
    "one-hot": lambda: task_of("FrozenLake-v1", encode="one-hot", tabulated=False),
    "binary": lambda: task_of("CliffWalking-v1", encode="binary", tabulated=False, starts=2),
    "tuple": lambda: task_of("Blackjack-v1", tabulated=False),
}


def between(rng: np.random.Generator, count: int = 8) -> Any:
    """Return coefficients; some are 0, and some are not exact in 32 bits."""
    return np.where(rng.random(count) < 0.2, 0, rng.uniform(-1, 1, count)).tolist()


def unit(rng: np.random.Generator, count: int) -> Any:
    """Return numbers from 0 to 1."""
    return rng.random(count).tolist()


DECAYS = np.array([0, 0.3, 0.97, 1])
# Learners by kind; a network has so many hidden neurons and outputs.
LEARNERS: dict[str, Callable[[np.random.Generator, int], Learner]] = {
    "dsp": lambda rng, n: Rule(rng.integers(-1, 2, 32).tolist(), *unit(rng, 4)),
    "hc": lambda rng, n: HillClimbing(*unit(rng, 3)),
    "chance": lambda rng, n: Chance(*unit(rng, 2)),
}
RIVALS: dict[str, Callable[[np.random.Generator, int], Learner]] = {
    "eligibility": lambda rng, n: Eligibility(*[*between(rng), rng.choice(DECAYS).item(), *unit(rng, 3)]),
    "online": lambda rng, n: OnlineHebbian(*between(rng), *unit(rng, 3)),
    "neuron": lambda rng, n: NeuronCentric([between(rng) for _ in range(rng.choice([1, n]))], *unit(rng, 4)),
    "es": lambda rng, n: EvolutionStrategy(rng.random(), rng.uniform(1, 2), *unit(rng, 2)),
    "cma": lambda rng, n: SeparableCMA(*unit(rng, 3)),
    "reinforce": lambda rng, n: Reinforce(rng.uniform(0, 0.1), *unit(rng, 3)),
}


@cache
def task(name: str) -> Task[Any]:
    return TASKS[name]()


def some_batch(name: str, kind: str, number: int) -> Batch:
    """Return a few trials in a task, with any settings, resampling, goals that move and records.

    Rivals have more episodes and smaller networks: some of them change their weights after many.
    """
    rng = np.random.default_rng([number, len(name), len(kind)])
    own, rival = task(name), kind in RIVALS
    goals, episodes = len(own.goals), int(rng.integers(2, 60 if rival else 9))
    hidden, every = int(rng.integers(1, 12 if rival else 40)), 25 if rival else 2
    readings = {reading: str(rng.choice(list(row))) for reading, row in READINGS.items()}
    make = {**LEARNERS, **RIVALS}[kind]
    return Batch(
        learners=tuple(make(rng, hidden + own.outputs) for _ in range(2)),
        learner=np.array([0, 1, 0], np.int32),
        goal=rng.integers(0, goals, 3).astype(np.int32),
        seed=rng.integers(0, 2**64, 3, np.uint64),
        task=own,
        settings=Settings(
            hidden=hidden,
            steps=int(rng.integers(1, 50)),
            neurons=BINARY if kind == "reinforce" else str(rng.choice(list(NEURONS))),
            network=KINDS[kind].needs or RECURRENT,
            flip=float(rng.choice([0.0, 0.0, 0.3, 1.0])),
            **readings,
        ),
        episodes=episodes,
        resample=[None, 1, 20 if rival else 3][rng.integers(3)],
        record=None if rng.random() < 0.5 else (1, episodes),
        switch=Switch(every) if goals > 1 and episodes > every and rng.random() < 0.5 else None,
    )


def assert_same(batch: Batch) -> None:
    expected = reference.run(batch, keep_weights=True, keep_ep=True)
    actual = steps.run(batch, keep_weights=True, keep_ep=True)
    assert_equal_trials(actual, expected, batch.phase)
    assert (actual.cut, actual.steps) == (expected.cut, expected.steps)
    assert (actual.best.dtype, actual.best.shape) == (expected.best.dtype, expected.best.shape)


# A test for each kind of learner: its code is compiled in one process.
@pytest.mark.parametrize("kind", LEARNERS)
def test_any_learner_in_any_task_gives_the_same_bits(kind: str) -> None:
    for name, number in product(TASKS, range(4)):
        assert_same(some_batch(name, kind, number))


@pytest.mark.parametrize("kind", RIVALS)
def test_rivals_give_the_same_bits_as_learners_and_as_their_genes(kind: str) -> None:
    for number in range(12):
        assert_same(some_batch("maze", kind, number))
    if kind != "neuron":  # its genes depend on the network
        genotypes = first_population(2, *(KINDS[kind].genes or (0, 0)), seed=1)
        learners = decoded(KINDS[kind], genotypes.discrete, genotypes.continuous)
        assert_same(replace(some_batch("maze", kind, 3), learners=learners))


@pytest.mark.parametrize("reading", [*READINGS, "neurons"])
def test_every_value_of_a_reading_gives_the_same_bits(reading: str) -> None:
    rule = distal.find_rule("paper:2")
    for value in {**READINGS, "neurons": NEURONS}[reading]:
        for other in ("current", "previous"):
            settings = Settings(**{"steps": 60, "trace_pre": other, reading: value})  # type: ignore[arg-type]
            batch = some_batch("maze", "dsp", 0)
            assert_same(replace(batch, learners=(rule, rule), settings=settings, episodes=12, record=None))


@pytest.mark.parametrize("name", ["maze", "table", "drift", "quantiles"])
def test_actions_that_a_softmax_draws_are_the_same(name: str) -> None:
    for neurons in (BINARY, SIGMOID):
        batch = some_batch(name, "dsp", 6)
        assert_same(replace(batch, settings=replace(batch.settings, network=SOFTMAX, neurons=neurons)))


@pytest.mark.parametrize("hidden", [1, 7, 8, 9, 33, 64, 100, 256])
def test_every_size_of_network_gives_the_same_bits(hidden: int) -> None:
    for kind in LEARNERS:
        for neurons in NEURONS:
            batch = some_batch("quantiles", kind, hidden)
            assert_same(replace(batch, settings=Settings(hidden=hidden, steps=30, neurons=neurons)))


@pytest.mark.parametrize("most", [1, 31, 32, 33, 64, 65, 100])
def test_episodes_of_every_length_are_counted_to_the_bit(most: int) -> None:
    """Counts are made of 32 steps at a time, the last ones of an episode of fewer."""
    batch = some_batch("maze", "dsp", 5)
    for theta in (0.0, 0.02, 0.5, 1.0):  # a count of one step more or less changes the weights
        rule = Rule(np.random.default_rng(most).integers(-1, 2, 32).tolist(), 0.3, theta, 0.5, 0.5)
        settings = Settings(hidden=9, steps=most)
        assert_same(replace(batch, learners=(rule, rule), settings=settings, episodes=6, record=None))


def test_processes_give_the_same_as_one() -> None:
    batch = some_batch("quantiles", "dsp", 1)
    assert_equal_trials(
        Runner("steps", workers=2).run(batch, keep_weights=True, keep_ep=True),
        steps.run(batch, keep_weights=True, keep_ep=True),
        batch.phase,
    )


def test_all_cores_are_used_where_it_is_worth_it_and_the_task_can_travel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("distal.engines.processes.available_cores", lambda: 8)
    small, large = some_batch("drift", "dsp", 1), replace(some_batch("drift", "dsp", 1), episodes=1_000_000)
    assert [steps.processes(small, None), steps.processes(large, None)] == [1, 3]
    slow = replace(some_batch("quantiles", "dsp", 1), episodes=20, record=None, switch=None)
    for seconds, count in ((1.0, 3), (1e-6, 1)):
        cart = EnvTask("CartPole-v1")
        cart.step_seconds = seconds
        slow = replace(slow, task=cart, goal=np.zeros(3, np.int32))
        assert steps.processes(slow, None) == count
    large = replace(large, goal=np.zeros(3, np.int32), switch=None)
    stuck = replace(large, task=task_of("CartPole-v1", encode=lambda seen: [int(seen[0] > 0)]))
    assert [steps.processes(stuck, None), steps.processes(stuck, 2)] == [1, 2]


def test_the_reference_engine_uses_all_cores_too_where_it_is_worth_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("distal.engines.processes.available_cores", lambda: 2)
    small = replace(some_batch("quantiles", "dsp", 1), episodes=3, record=None, switch=None)
    small = replace(small, goal=np.zeros(3, np.int32), settings=Settings(steps=30))
    assert [reference.processes(small, None), reference.processes(small, 2)] == [1, 2]
    assert reference.processes(replace(small, episodes=1_000), None) == 2
    alone = reference.run(small, keep_weights=True, keep_ep=True)
    # A private number: so that little work is worth processes.
    monkeypatch.setattr("distal.engines.reference._WORTH", 1)
    assert reference.processes(small, None) == 2
    spread = Runner("reference").run(small, keep_weights=True, keep_ep=True)
    assert_equal_trials(spread, alone, small.phase)
    assert spread.steps == alone.steps


def test_progress_is_told_of_every_episode_and_what_it_raises_comes_out() -> None:
    batch, told = replace(some_batch("drift", "chance", 0), episodes=50, resample=None), list[int]()
    assert steps.run(batch, progress=told.append).steps > 3 * 50
    assert sum(told) == 3 * 50

    def stop(episodes: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        steps.run(batch, progress=stop)


class Heard(Listener):
    """Adds up the episodes and the steps that it hears of."""

    def __init__(self) -> None:
        self.episodes, self.steps = 0, 0

    def add(self, episodes: int, steps: int) -> None:
        self.episodes, self.steps = self.episodes + episodes, self.steps + steps


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("name", "engine"),
    [("CartPole-v1", "steps"), ("compiled:CartPole", "steps"), ("maze", "steps"), ("maze", "cpu")],
)
def test_all_steps_are_counted_and_told(name: str, engine: str, workers: int) -> None:
    batch = replace(
        some_batch("quantiles", "chance", 2), goal=np.zeros(3, np.int32), switch=None, record=None
    )
    own = MazeTask(T) if name == "maze" else task_of(name)
    batch = replace(batch, task=own, episodes=40, settings=Settings(steps=200))
    expected, heard = reference.run(batch).steps, Heard()
    assert Runner(engine, workers=workers).run(batch, progress=heard).steps == expected
    assert (heard.episodes, heard.steps) == (3 * 40, expected)


# ------------------------------------------------------------------ what it refuses


@pytest.mark.parametrize("reading", [one for one in (*READINGS, "neurons") if one != "blocked"])
def test_a_value_of_a_reading_that_it_has_no_code_for_is_refused_by_name(reading: str) -> None:
    register_value(reading, "another", "one of somebody else's")
    try:
        batch = replace(some_batch("drift", "dsp", 0), settings=Settings(**{reading: "another"}))  # type: ignore[arg-type]
        line = f"engine steps has no code for {reading} 'another'; use engine reference"
        assert steps.supports(batch) == line
        with pytest.raises(InputError, match=line):
            steps.run(batch)
    finally:
        forget_value(reading, "another")


@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_an_engine_that_refuses_a_batch_names_the_fastest_that_runs_it(
    engine: str, heirs: type[HillClimbing]
) -> None:
    drift = some_batch("drift", "hc", 0)
    drift = replace(drift, learners=drift.learners[:1], learner=np.zeros(len(drift), np.int32))
    maze, silent = replace(drift, task=task_of(T)), Settings(network="silent")
    search, heir = distal.SeparableCMA(0.1, 0.1, 0.1), heirs(0.1, 0.1, 0.1)
    for what, batch, instead in (
        ("flip", replace(maze, settings=Settings(flip=0.1)), "steps"),
        ("learners of kind 'cma'", replace(maze, learners=(search,)), "steps"),
        ("no table", drift, "steps"),
        ("learners of kind 'heir'", replace(maze, learners=(heir,)), "reference"),
        ("network 'silent'", replace(maze, settings=silent), "reference"),
        ("learners of kind 'heir'", replace(drift, learners=(heir,)), "reference"),
    ):
        refusal = some(imported(engine).supports(batch))
        assert what in refusal
        assert refusal.endswith(f"; use engine {instead}")
        assert imported(instead).supports(batch) is None


@pytest.fixture
def heirs() -> Iterator[type[Learner]]:
    """Make a learner and a network known that inherit from ours, and do something else."""

    @dataclass(frozen=True)
    class Heir(HillClimbing):
        kind = "heir"
        file_format = "heir"

    class Silent(Recurrent):
        kind, label = "silent", "a network of somebody else's"

    register(Heir)
    networks.register(Silent)
    yield Heir
    unregister("heir")
    networks.unregister("silent")


# ------------------------------------------------------------------ environments that fail


class Failing(gymnasium.Env[Any, int]):
    """An environment that does something wrong in its third step."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space: Any = gymnasium.spaces.Discrete(2)

    def __init__(self, reward: Any = 1.0, seen: Any = 0.5, error: Exception | None = None) -> None:
        self.reward, self.seen, self.error, self.steps = reward, seen, error, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.steps = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: int) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.steps += 1
        if self.steps < 3:
            return np.zeros(2, np.float32), 1.0, False, False, {}
        if self.error is not None:
            raise self.error
        return np.full(2, self.seen, np.float32), self.reward, False, False, {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"reward": float("nan")},
        {"reward": "1"},
        {"seen": 1.5},
        {"seen": float("nan")},
        {"error": ValueError("broken")},
    ],
)
def test_what_an_environment_does_wrong_is_said_in_the_words_of_the_reference_engine(
    wrong: dict[str, Any],
) -> None:
    made = EnvTask(Failing(**wrong), encode="bins:3")
    batch = replace(some_batch("drift", "dsp", 0), task=made, goal=np.zeros(3, np.int32), switch=None)
    batch = replace(batch, settings=Settings(steps=9))
    said = []
    for engine in (reference, steps):
        with pytest.raises(InputError, match=r"trial 0 \(goal 0, seed \d+\) failed: ") as refusal:
            engine.run(batch)
        said.append(str(refusal.value))
    assert said[0] == said[1]


def test_rewards_of_any_kind_of_number_and_observations_of_other_types_are_taken() -> None:
    for reward in (1, np.float32(0.1), np.int64(3), np.array(0.3), True):
        made = EnvTask(Failing(reward=reward, seen=np.float64(0.25)), encode="bins:3")
        batch = replace(some_batch("drift", "dsp", 0), task=made, goal=np.zeros(3, np.int32), switch=None)
        assert_same(replace(batch, settings=Settings(steps=9)))


# ------------------------------------------------------------------ encoders

SPACES = {
    "bins:2": gymnasium.spaces.Box(-1, 1, (9,)),
    "bins:20": gymnasium.spaces.Box(-1, 1, (3,)),
    "one-hot": gymnasium.spaces.MultiDiscrete([1, 3, 11, 17]),
    "binary": gymnasium.spaces.MultiDiscrete([2, 1, 1000, 9]),
    "bits": gymnasium.spaces.MultiBinary(11),
    "one-hot,bins:12": gymnasium.spaces.Tuple(
        (
            gymnasium.spaces.Discrete(10, start=-4),
            gymnasium.spaces.Box(-1, 1, (2,)),
            gymnasium.spaces.Discrete(3),
        )
    ),
    "binary,bins:5": gymnasium.spaces.Tuple(
        (gymnasium.spaces.Box(-1, 1, (2,)), gymnasium.spaces.Discrete(100), gymnasium.spaces.Box(-1, 1, (3,)))
    ),
}


@njit  # type: ignore[untyped-decorator]
def encoded(encoding: Any, bits: Any) -> Any:
    return encode(encoding, bits)


@pytest.mark.parametrize("word", SPACES)
def test_compiled_encoders_give_the_bits_of_the_others(word: str) -> None:
    space = SPACES[word]
    space.seed(0)
    encoder = encoder_of(word, space, list)
    assert isinstance(encoder, Encoder)
    encoding = some(encoding_of(encoder))
    bits = with_room(encoder.bits, np.uint8)
    for _ in range(50):
        seen = space.sample()
        encoding.values[:] = numbers_of(space, seen)
        bits[:] = 7
        assert encoded(encoding, bits)
        assert tuple(bits.tolist()) == encoder(seen)
    assert len(set(encoding.begin.tolist())) > 1
    for wrong in (np.nan, 1e9, -1e9):
        encoding.values[-1] = wrong
        assert not encoded(encoding, bits)


# ------------------------------------------------------------------ how it behaves


def test_memory_does_not_grow_with_the_episodes() -> None:
    peaks = []
    for episodes in (20, 200):
        batch = replace(
            some_batch("quantiles", "dsp", 0), episodes=episodes, record=(episodes,), resample=None
        )
        steps.run(batch)
        tracemalloc.start()
        steps.run(batch)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 20_000


def test_what_one_process_has_compiled_another_finds_and_says_nothing() -> None:
    steps.run(some_batch("quantiles", "dsp", 0))
    script = (
        "import distal\n"
        "distal.learn('paper:1', task='CartPole-v1', episodes=2, trials=1, engine='steps', chance=False)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stderr == ""
