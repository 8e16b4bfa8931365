"""The kernel of the gpu engine, without a card: compiled for the processor, its lanes taking turns.

`warp.cpp` says how. What it cannot show is left to the tests on a card (test_gpu.py):
speed, and how warps share the work.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache, partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from distal import (
    Chance,
    GeneticAlgorithm,
    InputError,
    Race,
    Restarts,
    Rule,
    Settings,
    engines,
    evolve,
    published_rules,
)
from distal.engines import Asked, Batch, Trials, gpu
from distal.engines.gpu import cards, constants, kernel, slicing
from distal.engines.gpu.constants import definitions
from distal.engines.gpu.packing import Layout
from distal.engines.reference import engine as reference
from distal.engines.reference import episodes as episodes_of
from distal.model.readings import BINARY, NEURONS, READINGS, SIGMOID
from distal.networks import recurrent
from distal.search.genetic import GeneticSearch
from distal.search.search import Algorithm
from distal.studies.plans.reproduce import random_learners
from distal.tasks.mazes import MazeTask
from distal.tasks.switching import Switch
from distal.tasks.table_task import TableTask
from tests.batches import fading_rules, random_batch, random_settings, random_table, random_trials, trials_of
from tests.conftest import assert_equal_trials
from tests.mazes import wide_maze
from tests.refusals import refused

HERE = Path(__file__).parent
KERNEL = Path(gpu.__file__).with_name("trials.cu")
OUTCOMES = ("done", "lanes were at different functions", "a warp waited for itself")
COMPILER = shutil.which("c++") or shutil.which("g++")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")

expected = engines.load("cpu")


class Arguments(ctypes.Structure):
    """The arguments of the kernel, as `warp.cpp` takes them."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in kernel.ADDRESSES),
        *((name, ctypes.c_int) for name in kernel.NUMBERS),
    ]


Run = Callable[..., Trials]
Library = Callable[[tuple[tuple[str, int], ...]], ctypes.CDLL]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Return what compiles the kernel for the processor, once for all of pytest's workers."""
    own = tmp_path_factory.mktemp("kernels")
    workers = "PYTEST_XDIST_WORKER" in os.environ
    shared = tmp_path_factory.getbasetemp().parent if workers else own

    @cache
    def compiled(constants: tuple[tuple[str, int], ...]) -> ctypes.CDLL:
        defined = [f"-D{name}={value}" for name, value in constants]
        name = f"kernel-{hashlib.sha256(' '.join(defined).encode()).hexdigest()}.so"
        made = own / name
        if (shared / name).exists():
            return ctypes.CDLL(str(shared / name))
        options = "-Og -w -shared -fPIC -std=c++17 -ffp-contract=off -fno-strict-aliasing -U_FORTIFY_SOURCE"
        source = [f'-DKERNEL="{KERNEL}"', *defined, str(HERE / "warp.cpp")]
        subprocess.run([str(COMPILER), *options.split(), *source, "-o", str(made)], check=True)
        return ctypes.CDLL(str(made.rename(shared / name)))

    return compiled


def aligned(array: NDArray[np.int32]) -> NDArray[np.int32]:
    """Copy to an address that is a multiple of 16 bytes."""
    room = np.empty(len(array) + 3, np.int32)
    start = -room.ctypes.data // 4 % 4
    room[start : start + len(array)] = array
    return room[start : start + len(array)]


# ---------------------------------------------------------------- a card that is not there


class OutOfMemoryError(Exception):
    """As CuPy's."""


class Array:
    """An array of that card, or just memory: as much of CuPy's as the engine uses."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self.ptr = array, array.ctypes.data

    @property
    def data(self) -> Array:
        return self


def at(place: int, kind: type[Any], count: int) -> NDArray[Any]:
    """Return what lies at an address, as an array."""
    room = (ctypes.c_char * (count * np.dtype(kind).itemsize)).from_address(place)
    return np.frombuffer(memoryview(room), kind)


class Pinned(np.ndarray[tuple[int], np.dtype[np.uint8]]):
    """Memory of the host that the card can write to."""

    @property
    def ptr(self) -> int:
        return self.ctypes.data


class Device(AbstractContextManager[None]):
    """One of the cards: that with a number, or the one that the thread uses."""

    current = threading.local()

    def __init__(self, number: int | None = None) -> None:
        self.id = getattr(self.current, "number", 0) if number is None else number

    def __enter__(self) -> None:
        self.before, self.current.number = Device().id, self.id

    def __exit__(self, *_: object) -> None:
        self.current.number = self.before


class Stream(AbstractContextManager[None]):
    """Stands for a queue of a card's work; all of it is done at once."""

    ptr = 7

    def __init__(self, non_blocking: bool) -> None:
        self.own, self.waits = non_blocking, 0
        self.watch: Callable[[], None] = lambda: None

    def __exit__(self, *_: object) -> None:
        pass

    def synchronize(self) -> None:
        self.waits += 1
        self.watch()


class Card:
    """A card of which a warp of the processor's does the work; stands for the module `cupy`.

    There may be several, which work one at a time but begin together; the last is too old if `old`.
    """

    Device, Stream = Device, Stream

    def __init__(
        self,
        library: Library,
        size: int = 10**9,
        warps: int = 3,
        together: int = 4,
        cards: int = 1,
        used: int = 1,
        old: bool = False,
        favoured: int = 3,
    ) -> None:
        self.favoured = favoured
        self.library, self.size, self.warps, self.together = library, size, warps, together
        self.cards, self.old, self.by_card = cards, old, Counter[int]()
        self.working, self.begin = threading.Lock(), threading.Barrier(used, timeout=20)
        self.used = self.launches = self.claimed = 0
        self.handed = np.zeros(2, np.int32)  # in all launches: trials that were handed over, and taken over
        self.pace = slicing.Pace(100)
        self.watch: Callable[[NDArray[np.float32]], None] = lambda weights: None
        self.cuda = self.runtime = self.memory = self
        self.OutOfMemoryError = OutOfMemoryError

    def getDeviceCount(self) -> int:  # noqa: N802
        return self.cards

    def getDeviceProperties(self, number: int) -> dict[str, int]:  # noqa: N802
        return {"major": 5 if self.old and number == self.cards - 1 else 9, "minor": 0}

    def kernel(self, card: int, constants: tuple[tuple[str, int], ...]) -> Any:
        with self.working:
            compiled = self.library((*constants, ("TOGETHER", self.together)))
        defined = dict(constants)
        size = Layout(defined["HIDDEN"], defined["INPUTS"], defined["ACTIONS"]).size

        def start(blocks: int, stream: int, given: dict[str, int]) -> None:
            assert (blocks <= self.warps, stream) == (True, Stream.ptr)
            assert card == Device().id
            arguments = kernel.in_order(given)
            kernel.PACKED.pack(*arguments)  # what does not fit is refused
            trials = given["trials"]
            if not self.by_card[card]:
                self.begin.wait()  # until all that shall be used are at work
            with self.working:
                self.launches += 1
                self.by_card[card] += 1
                at(given["claimed"], np.int32, trials)[:] = self.claimed
                ctypes.c_int.in_dll(compiled, "one_in").value = self.favoured
                assert OUTCOMES[compiled.launch(ctypes.byref(Arguments(*arguments)))] == "done"
                self.handed += at(given["handed"], np.int32, 2)
                self.watch(at(given["weights"], np.float32, trials * size).reshape(trials, size))

        return kernel.Kernel(None, start, self.warps, self.pace)

    def alloc(self, size: int) -> Array:
        if self.used + size > self.size:
            raise OutOfMemoryError
        self.used += size
        memory = Array(aligned(np.full(-(-size // 4), -7, np.int32)))
        weakref.finalize(memory, self.free, size)
        return memory

    def memcpyAsync(self, to: int, source: int, size: int, kind: int, stream: int) -> None:  # noqa: N802
        assert kind in (1, 2)
        assert stream == Stream.ptr
        ctypes.memmove(to, source, size)

    def memsetAsync(self, to: int, value: int, size: int, stream: int) -> None:  # noqa: N802
        assert stream == Stream.ptr
        ctypes.memset(to, value, size)

    def free(self, size: int) -> None:
        self.used -= size

    def asarray(self, array: NDArray[Any]) -> Array:
        return Array(aligned(array))

    def alloc_pinned_memory(self, size: int) -> Pinned:
        return Pinned(size, np.uint8)

    def memGetInfo(self) -> tuple[int, int]:  # noqa: N802
        return self.size - self.used, self.size

    def get_default_memory_pool(self) -> Any:
        return type("Pool", (), {"free_bytes": lambda _: 0, "free_all_blocks": lambda _: None})()

    def get_current_stream(self) -> Any:
        return Stream(non_blocking=False)


@pytest.fixture
def plug_in(library: Library, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Card]]:
    """Return what puts a card in."""

    def plug(first_slice: int = slicing.FIRST_SLICE, small: int = cards.SMALL, **options: Any) -> Card:
        monkeypatch.setattr(slicing, "FIRST_SLICE", first_slice)
        monkeypatch.setattr(slicing, "FILLING", 1)
        monkeypatch.setattr(cards, "SMALL", small)
        monkeypatch.setattr(cards, "problem", lambda: None)
        card = Card(library, **options)
        monkeypatch.setitem(sys.modules, "cupy", card)
        monkeypatch.setattr(kernel, "kernel_for", card.kernel)
        forget()
        return card

    def forget() -> None:
        cards.idle.clear()
        for kept in (kernel.prepared, kernel.table_on_card, cards.able_cards, cards.say_cards):
            kept.cache_clear()

    yield plug
    forget()


@pytest.fixture
def emulate(plug_in: Callable[..., Card], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return what runs a batch with a single warp, in pieces and launches that are given."""

    def run(
        batch: Batch,
        piece: int = 4,
        together: int = 4,
        cuts: tuple[int, ...] = (),
        claimed: int = 0,
        watch: Callable[[NDArray[np.float32]], None] = lambda weights: None,
    ) -> Trials:
        card = plug_in(warps=1, together=together)
        card.claimed, card.watch = claimed, watch
        launches = [(0, len(batch), *episodes) for episodes in pairwise((0, *cuts, batch.episodes))]
        monkeypatch.setattr(gpu, "slices", lambda *_: launches)
        monkeypatch.setattr(gpu, "PIECE", piece)
        monkeypatch.setattr(gpu, "CROWD", len(batch) + 1)
        return gpu.engine.run(batch, keep_weights=True, keep_ep=True)

    return run


# ---------------------------------------------------------------- the kernel


def assert_same(run: Run, batch: Batch, **options: Any) -> None:
    theirs = expected.run(batch, keep_weights=True, keep_ep=True)
    assert_equal_trials(run(batch, **options), theirs, batch.phase)


def for_rules(settings: Settings) -> tuple[tuple[str, int], ...]:
    """Return the constants of a kernel for rules in a maze, as the host's side gives them."""
    return (*definitions(settings, 3, 4, keep_weights=True).items(), ("TOGETHER", 4))


def trials(kind: str, settings: Settings, episodes: int, count: int = 2) -> Batch:
    learners = (Chance(0.3, 0.2),) * count if kind == "chance" else random_learners(kind, 1, count)
    return trials_of(learners, settings, episodes)


@pytest.mark.parametrize("kind", ["dsp", "hc", "chance"])
def test_what_is_not_asked_for_is_not_kept(plug_in: Callable[..., Card], kind: str) -> None:
    plug_in(warps=2)
    batch = replace(trials(kind, Settings(hidden=6, steps=30), episodes=12), record=(3, 12))
    ours = gpu.engine.run(batch)
    theirs = expected.run(batch)
    assert (ours.best == theirs.best).all()
    assert (ours.ep, ours.hidden, ours.output) == (None, None, None)


@pytest.mark.parametrize("case", range(12))
def test_random_settings_mazes_and_learners_give_the_same_bits(emulate: Run, case: int) -> None:
    # From 1,005 on both learners meet both kinds of neurons, with goals that stay and that move.
    rng = np.random.default_rng(1_005 + case)
    settings = random_settings(rng)
    for _ in range(2):
        batch = random_batch(rng, settings, climbing=case % 4 == 3, episodes=15)
        assert_same(emulate, batch, piece=int(rng.integers(1, 9)))


@pytest.mark.parametrize("name", [f"{n}={v}" for n, values in READINGS.items() for v in values])
def test_every_reading_gives_the_same_bits_in_the_triple_t_maze(emulate: Run, name: str) -> None:
    reading, value = name.split("=")
    settings = Settings(**{reading: value})  # type: ignore[arg-type]
    assert_same(emulate, trials("dsp", settings, episodes=15))


@pytest.mark.parametrize("hidden", [1, 24, 25, 28, 29, 61, 64])
def test_every_shape_of_a_warp_gives_the_same_bits(emulate: Run, hidden: int) -> None:
    assert_same(emulate, trials("dsp", Settings(hidden=hidden, steps=40), episodes=12))


@pytest.mark.parametrize("kind", ["dsp", "hc"])
def test_neither_pieces_nor_launches_change_a_bit(emulate: Run, kind: str) -> None:
    batch = replace(trials(kind, Settings(), episodes=40), resample=9)
    for piece, cuts in ((1, ()), (40, ()), (3, (1, 17))):
        assert_same(emulate, batch, piece=piece, cuts=cuts)


@pytest.mark.parametrize("kind", ["dsp", "hc"])
def test_a_piece_is_done_though_a_later_one_was_claimed_before(emulate: Run, kind: str) -> None:
    # Another warp may have taken its piece, and claimed it, before this one claims the piece it took earlier.
    # Then a long trial, as all of hill climbing are, is neither finished at once nor handed over.
    assert_same(emulate, trials(kind, Settings(), episodes=20), claimed=3)


@pytest.mark.parametrize("waiting", [1, constants.WAITING])
@pytest.mark.parametrize("favoured", [0, 1, 3])
@pytest.mark.parametrize("kind", ["dsp", "hc"])
def test_long_trials_are_handed_over_once_and_finished(
    plug_in: Callable[..., Card], monkeypatch: pytest.MonkeyPatch, kind: str, favoured: int, waiting: int
) -> None:
    monkeypatch.setattr(constants, "WAITING", waiting)
    batch = replace(trials(kind, Settings(steps=40), episodes=30, count=5), switch=Switch(11))
    card = plug_in(warps=5, favoured=favoured)  # few enough for pieces
    assert_same(partial(gpu.engine.run, keep_weights=True, keep_ep=True), batch)
    over, taken = card.handed
    assert over == taken
    if favoured == 1:  # it is always
        assert over == 0
    elif favoured == 0:  # nothing is taken over before all pieces are done
        assert 0 < over <= waiting
    else:
        assert 0 < over <= len(batch)


@pytest.mark.parametrize("together", [1, 4])  # what a card gets depends on its compiler
def test_published_rules_give_the_same_bits(emulate: Run, together: int) -> None:
    assert_same(emulate, trials_of(published_rules(), Settings(), episodes=12), together=together)


@pytest.mark.parametrize("normalise", ["neuron", "layer"])
def test_weights_that_become_subnormal_are_divided_exactly(emulate: Run, normalise: str) -> None:
    # They hardly change what an agent does, so the weights themselves are compared, after every episode.
    episodes = 75
    batch = trials_of(fading_rules()[1:], Settings(normalise=normalise), episodes).part(0, 3)
    after: list[NDArray[np.float32]] = []
    layout, cuts = Layout(batch.settings.hidden, 3, 4), tuple(range(1, episodes))
    emulate(batch, cuts=cuts, watch=lambda weights: after.append(layout.unpack(weights)[0]))
    tiny = 0
    for trial in range(len(batch)):
        for k, episode in enumerate(islice(episodes_of(batch, trial), 1, None)):
            weights = episode.weights.hidden  # of the next episode
            assert after[k][trial].tobytes() == weights.tobytes()
            tiny += int(((weights != 0) & (np.abs(weights) < 2.0**-126)).sum())
    assert tiny > 1_000


@pytest.mark.parametrize("outputs", READINGS["outputs"])
def test_walks_that_are_longer_than_the_past_are_counted_exactly(emulate: Run, outputs: str) -> None:
    settings, task = Settings(outputs=outputs, steps=700), MazeTask(wide_maze())
    assert_same(emulate, trials_of(random_learners("dsp", 4, 8), settings, episodes=8, task=task))


# Inputs, actions, hidden neurons: columns that need 0 to 3 more to be aligned, spots with room for what is
# sensed and without, four actions and other numbers, outputs in one slot and in two, one to three slots, the
# most inputs and actions, with (27, 16, 49) the most shared memory, and with (31, 16, 49) more than it holds.
SHAPES = [
    (1, 1, 1), (1, 8, 25), (2, 4, 20), (2, 3, 30), (3, 5, 20), (4, 4, 20), (5, 2, 64), (6, 4, 7), (7, 4, 29),
    (8, 8, 20), (11, 7, 28), (27, 16, 49), (13, 6, 61), (14, 1, 32), (16, 8, 20), (16, 8, 64), (31, 16, 48),
    (31, 16, 49),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(SHAPES)))
def test_tables_of_any_shape_give_the_bits_of_the_reference_engine(emulate: Run, case: int) -> None:
    inputs, actions, hidden = SHAPES[case]
    rng = np.random.default_rng(2_000 + case)
    outputs = tuple(READINGS["outputs"])[case // 3 % 3]
    settings = replace(random_settings(rng), hidden=hidden, steps=(7, 40, 150)[case % 3], outputs=outputs)
    kind = ("dsp", "dsp", "hc", "chance")[case % 4]
    task = TableTask(random_table(rng, inputs, actions))
    batch = random_trials(rng, kind, task, settings, episodes=8, trials=4)
    theirs = reference.run(batch, keep_weights=True, keep_ep=True)
    assert_equal_trials(emulate(batch, piece=int(rng.integers(1, 9))), theirs, batch.phase)


@pytest.mark.parametrize("actions", [2, 4, 8])
def test_the_first_of_equal_sums_acts_whatever_the_number_of_actions(emulate: Run, actions: int) -> None:
    # A rule that strengthens every synapse makes all outputs alike: four weights of a half.
    rule = Rule([1] * 32, eta=1.0, theta=1.0, alpha_h=0.0, alpha_o=0.0)
    task = TableTask(random_table(np.random.default_rng(0), 2, actions))
    settings = Settings(hidden=3, steps=10, normalise="neuron")
    batch = trials_of([rule], settings, episodes=60, task=task)
    *_, last = episodes_of(batch, 0)
    assert (last.weights.output == 0.5).all()
    assert set(last.actions) == {0}
    assert_equal_trials(emulate(batch), reference.run(batch, keep_weights=True, keep_ep=True))


@pytest.mark.parametrize(("outputs", "actions"), [("winner", 8), ("binary", 8), ("binary", 16)])
def test_a_remembered_step_is_taken_again_with_its_action(emulate: Run, outputs: str, actions: int) -> None:
    # Without recurrence and with one input a network has two states, which come at many places.
    rng, settings = np.random.default_rng(actions), Settings(hidden=6, steps=20, outputs=outputs)
    rules = [Rule(rng.integers(-1, 2, 32).tolist(), 0.3, 0.2, 0.0, 0.0) for _ in range(4)]
    task = TableTask(random_table(rng, 1, actions))
    batch = trials_of(rules, settings, episodes=12, task=task)
    assert_equal_trials(emulate(batch), reference.run(batch, keep_weights=True, keep_ep=True))


@pytest.mark.parametrize(
    ("hidden", "kind", "neurons"),
    [(65, "dsp", BINARY), (160, "dsp", SIGMOID), (100, "hc", SIGMOID), (256, "chance", BINARY)],
)
def test_more_weights_than_registers_give_the_same_bits(
    emulate: Run, hidden: int, kind: str, neurons: str
) -> None:
    settings = Settings(hidden=hidden, steps=150 if kind == "dsp" else 30, neurons=neurons)
    assert definitions(settings, 3, 4)["LARGE"]
    assert_same(emulate, trials(kind, settings, episodes=6, count=1).part(2, 5), piece=2)


# ---------------------------------------------------------------- continuous neurons


def test_the_logistic_function_is_that_of_the_definition_though_inverses_are_not_exact(
    library: Library,
) -> None:
    rng = np.random.default_rng(0)
    drawn = np.ldexp(rng.uniform(1, 2, 300_000), rng.integers(-30, 6, 300_000)).astype(np.float32)
    near = np.arange(2**16, dtype=np.int32) + np.float32(2.0**-23).view(np.int32)  # e^-x is 1, or nearly
    sums = np.concatenate([drawn, near.view(np.float32), np.array([0, 17.99, 18, 18.01, 1e30], np.float32)])
    for signed in (sums, -sums):
        ours = np.empty_like(signed)
        code = library(for_rules(Settings(neurons="sigmoid", trace_pre="previous")))
        code.logistics(*(ctypes.c_void_p(array.ctypes.data) for array in (signed, ours)), len(signed))
        assert ours.tobytes() == recurrent.logistic(signed).tobytes()


@pytest.mark.parametrize("outputs", READINGS["outputs"])
@pytest.mark.parametrize("kind", ["dsp", "hc", "chance"])
def test_continuous_neurons_give_the_same_bits(emulate: Run, kind: str, outputs: str) -> None:
    settings = Settings(neurons="sigmoid", outputs=outputs, trace_pre="previous")
    assert_same(emulate, trials(kind, settings, episodes=12), piece=3, cuts=(5,))


@pytest.mark.parametrize(("steps", "hidden"), [(700, 20), (300, 40)])
def test_long_walks_of_continuous_neurons_are_counted_exactly(emulate: Run, steps: int, hidden: int) -> None:
    settings, task = Settings(neurons="sigmoid", steps=steps, hidden=hidden), MazeTask(wide_maze())
    assert_same(emulate, trials_of(random_learners("dsp", 4, 2), settings, episodes=3, task=task))


# ---------------------------------------------------------------- goals that move


@pytest.mark.parametrize("neurons", NEURONS)
@pytest.mark.parametrize("kind", ["dsp", "hc", "chance"])
def test_goals_move_in_the_same_episodes_whatever_the_pieces_and_launches(
    emulate: Run, kind: str, neurons: str
) -> None:
    batch = trials(kind, Settings(neurons=neurons, steps=60), episodes=24)
    for every, piece, cuts, resample in ((7, 3, (7, 15), None), (1, 24, (), 5), (6, 1, (), 6)):
        moving = replace(batch, switch=Switch(every), resample=resample)
        assert_same(emulate, moving, piece=piece, cuts=cuts)


# ---------------------------------------------------------------- the host's side


@pytest.mark.parametrize("kind", ["dsp", "hc"])
@pytest.mark.parametrize("warps", [3, 100])
def test_the_whole_engine_gives_the_same_bits(plug_in: Callable[..., Card], kind: str, warps: int) -> None:
    batch = replace(trials(kind, Settings(), episodes=30), resample=11)
    card, told = plug_in(first_slice=3, warps=warps), list[int]()
    ours = gpu.engine.run(batch, keep_weights=True, keep_ep=True, progress=told.append)
    assert_equal_trials(ours, expected.run(batch, keep_weights=True, keep_ep=True))
    assert sum(told) == len(batch) * 30
    assert card.launches == len(told) > 1


def test_trials_that_do_not_fit_on_the_card_go_there_one_part_after_another(
    plug_in: Callable[..., Card],
) -> None:
    batch = replace(trials("dsp", Settings(steps=60), episodes=4, count=5), switch=Switch(2))
    theirs = expected.run(batch, keep_weights=True, keep_ep=True)
    card = plug_in(size=150_000, small=0)
    assert_equal_trials(gpu.engine.run(batch, keep_weights=True, keep_ep=True), theirs, batch.phase)
    assert card.launches > 2
    plug_in(size=3_000, small=0)
    with pytest.raises(InputError, match="engine gpu: 0 MiB of memory are free on the card"):
        gpu.engine.run(batch)


def test_numbers_that_a_card_cannot_hold_are_refused_or_do_not_matter(plug_in: Callable[..., Card]) -> None:
    plug_in()
    batch = trials("dsp", Settings(hidden=6, steps=30), episodes=4, count=1)
    never = replace(batch, resample=2**31)
    assert (gpu.engine.run(never).best == gpu.engine.run(batch).best).all()
    with pytest.raises(InputError, match="episodes is 2147483648, engine gpu takes at most 2147483647"):
        gpu.engine.run(replace(batch, episodes=2**31, record=(1,)))


@pytest.mark.parametrize("several", [1, 2])
@pytest.mark.parametrize("record", [(2, 7, 9, 12), (1, 2, 7, 9, 12)])
def test_few_numbers_a_trial_are_written_by_the_card_and_more_are_copied(
    plug_in: Callable[..., Card], record: tuple[int, ...], several: int
) -> None:
    card = plug_in(cards=several, used=several, first_slice=3)
    copy, fetched = card.memcpyAsync, list[int]()

    def watched(to: int, source: int, size: int, kind: int, stream: int) -> None:
        fetched.extend([size] if kind == cards.TO_HOST else [])
        copy(to, source, size, kind, stream)

    card.memcpyAsync = watched  # type: ignore[method-assign]
    batch = replace(trials("dsp", Settings(hidden=6, steps=30), episodes=12, count=3), record=record)
    theirs = expected.run(batch)
    assert (gpu.engine.run(batch).best == theirs.best).all()
    assert card.launches > several  # several of each
    assert sum(fetched) == (0 if len(record) == 4 else 4 * len(batch) * len(record))


def test_a_kernel_is_started_with_its_arguments_where_cuda_looks_for_them() -> None:
    # CUDA is given an array of addresses, one for each argument, and copies 8 or 4 bytes from each.
    started: list[tuple[int, ...]] = []

    def start(function: int, *more: int) -> None:
        *shape, stream, each, extra = more
        addresses = (ctypes.c_void_p * 31).from_address(each)
        places = [ctypes.c_int64.from_address(address or 0).value for address in addresses[:20]]
        numbers = [ctypes.c_int32.from_address(address or 0).value for address in addresses[20:]]
        started.append((function, *shape, stream, extra, *places, *numbers))

    launch = kernel.Launcher(start, 99)
    arguments = [2**40 + k for k in range(20)] + [2**31 - 1, -1, *range(9)]
    names = [*kernel.ADDRESSES, *kernel.NUMBERS]
    for blocks in (5, 6):
        launch(blocks, 7, dict(reversed([*zip(names, arguments, strict=True)])))
        assert started.pop() == (99, blocks, 1, 1, 32, 1, 1, 0, 7, 0, *arguments)


# ---------------------------------------------------------------- several cards


def test_two_cards_share_a_batch_and_give_the_same_bits(
    plug_in: Callable[..., Card], caplog: pytest.LogCaptureFixture
) -> None:
    batch = replace(trials("dsp", Settings(hidden=6, steps=30), episodes=12, count=3), switch=Switch(5))
    card = plug_in(cards=2, used=2, first_slice=3)
    told: list[tuple[int, int]] = []
    ours = gpu.engine.run(
        batch,
        keep_weights=True,
        keep_ep=True,
        progress=lambda episodes: told.append((episodes, threading.get_ident())),
    )
    theirs = expected.run(batch, keep_weights=True, keep_ep=True)
    assert_equal_trials(ours, theirs, batch.phase)
    assert set(card.by_card) == {0, 1}
    assert {thread for _, thread in told} == {threading.get_ident()}
    assert sum(episodes for episodes, _ in told) == len(batch) * batch.episodes
    assert caplog.messages == ["engine gpu uses 2 cards; workers=1 uses one"]


@pytest.mark.parametrize(("workers", "current", "used"), [(1, 0, {0}), (1, 2, {2}), (2, 1, {1, 0})])
def test_as_many_cards_are_used_as_there_are_workers_the_current_one_first(
    plug_in: Callable[..., Card], workers: int, current: int, used: set[int]
) -> None:
    card = plug_in(cards=3, used=workers)
    batch = trials("dsp", Settings(hidden=6, steps=30), episodes=2, count=1)
    with Device(current):
        engines.Runner("gpu", workers).run(batch)
    assert set(card.by_card) == used


def test_more_workers_than_cards_are_refused_before_any_work(plug_in: Callable[..., Card]) -> None:
    card = plug_in(cards=3, old=True)
    problem = "workers is 3, engine gpu finds 2 cards; ask for no more, or leave workers out"
    batch = trials("dsp", Settings(hidden=6, steps=30), episodes=2, count=1)
    for call in (lambda: engines.Runner("gpu", 3), lambda: gpu.engine.run(batch, workers=3)):
        assert refused(call) == problem
    assert card.launches == 0


def test_with_engine_auto_workers_are_for_processors_and_all_cards_are_used(
    plug_in: Callable[..., Card],
) -> None:
    card = plug_in(cards=2, used=2)
    engines.Runner("auto", 7).run(trials("dsp", Settings(hidden=6, steps=30), episodes=2, count=1))
    assert set(card.by_card) == {0, 1}


def test_what_progress_raises_stops_all_cards(plug_in: Callable[..., Card]) -> None:
    batch = trials("dsp", Settings(hidden=6, steps=30), episodes=800, count=4)
    card = plug_in(cards=2, used=2, first_slice=1)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gpu.engine.run(batch, progress=interrupt)
    launches = card.launches
    card = plug_in(cards=2, used=2, first_slice=1)
    gpu.engine.run(batch)
    assert launches < card.launches
    assert threading.active_count() == 1 or not any("ThreadPool" in t.name for t in threading.enumerate())


def test_what_fails_on_one_card_is_told_once_and_stops_the_others(plug_in: Callable[..., Card]) -> None:
    plug_in(cards=2, used=2, size=3_000, small=0)
    with pytest.raises(InputError, match="engine gpu: 0 MiB of memory are free on the card"):
        gpu.engine.run(trials("dsp", Settings(hidden=6, steps=30), episodes=4, count=2))


# ---------------------------------------------------------------- batches that overlap


def test_batches_overlap_and_give_their_streams_back(plug_in: Callable[..., Card]) -> None:
    card = plug_in(warps=2)
    batches = [
        replace(trials(kind, Settings(hidden=6, steps=30), 12), record=(12,)) for kind in ("dsp", "hc")
    ]
    waits = [gpu.engine.begin(batch, Asked()) for batch in batches]
    assert card.launches == 2  # nothing has been waited for
    assert cards.idle == {0: []}
    for batch, wait in zip(batches, waits, strict=True):
        theirs = expected.run(batch)
        assert (wait().best == theirs.best).all()
    assert len(cards.idle[0]) == 2
    gpu.engine.run(batches[0])
    assert len(cards.idle[0]) == 2


def test_a_batch_that_nobody_waits_for_is_waited_for_before_its_memory_is_free(
    plug_in: Callable[..., Card],
) -> None:
    card = plug_in(warps=2)
    gpu.engine.run(trials("dsp", Settings(hidden=6, steps=30), 12))
    (stream,) = cards.idle[0]
    waits, used = stream.waits, list[int]()
    stream.watch = lambda: used.append(card.used)
    wait = gpu.engine.begin(trials("dsp", Settings(hidden=6, steps=30), 12), Asked())
    assert card.used > 0
    del wait
    gc.collect()
    assert cards.idle[0] == [stream]
    assert stream.own
    assert stream.waits == waits + 1
    assert used[0] > 0
    assert card.used == 0


def test_a_batch_is_waited_for_once(plug_in: Callable[..., Card]) -> None:
    plug_in(warps=2)

    def stop(episodes: int) -> None:
        raise KeyboardInterrupt

    wait = gpu.engine.begin(trials("dsp", Settings(hidden=6, steps=30), 12), Asked(progress=stop))
    with pytest.raises(KeyboardInterrupt):
        wait()
    with pytest.raises(RuntimeError, match="a batch is waited for once"):
        wait()


def test_a_launch_that_is_waited_for_late_says_nothing_about_the_pace(plug_in: Callable[..., Card]) -> None:
    card = plug_in(warps=2)
    batch = trials("dsp", Settings(hidden=6, steps=30), 12)
    before = card.pace.episodes
    wait = gpu.engine.begin(batch, Asked())
    time.sleep(0.5)
    wait()
    assert card.pace.episodes == before
    gpu.engine.run(batch)
    assert card.pace.episodes != before


def test_runs_take_turns_on_one_card_and_not_on_several(plug_in: Callable[..., Card]) -> None:
    plug_in(cards=1)
    assert engines.Runner("gpu").overlaps
    plug_in(cards=2, used=2)
    assert not engines.Runner("gpu").overlaps
    assert engines.Runner("gpu", 1).overlaps
    assert not engines.Runner("cpu").overlaps


@pytest.mark.parametrize("restarted", [False, True])
def test_runs_that_take_turns_on_a_card_give_the_same_files(
    plug_in: Callable[..., Card], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restarted: bool
) -> None:
    card = plug_in(warps=2)
    monkeypatch.setattr(slicing.Pace, "learn", lambda *_: None)  # or a busy machine divides the launches
    behind: list[int] = []
    ask = GeneticSearch.ask_together.__func__  # type: ignore[attr-defined]

    def noted(cls: Any, searches: list[Any]) -> Any:
        behind.append(card.launches)
        return ask(cls, searches)

    few: Algorithm = GeneticAlgorithm(population=4, elite_count=1)
    asked: dict[str, Any] = {
        "runs": 3, "generations": 3, "search": Race(Restarts(few, every=2) if restarted else few, heats=1),
        "trials": 1, "episodes": 4, "hidden": 4, "steps": 20, "fresh": 8, "seed": 3,
    }  # fmt: skip
    evolve(**asked, engine="cpu", out=tmp_path / "cpu")
    monkeypatch.setattr(GeneticSearch, "ask_together", classmethod(noted))
    evolve(**asked, engine="gpu", out=tmp_path / "gpu")
    for name in ("config.json", "generations.csv", "state.json", "winners.csv"):
        assert (tmp_path / "gpu" / name).read_bytes() == (tmp_path / "cpu" / name).read_bytes()
    # Two groups of runs: both are begun before the second heat of either.
    assert behind == [0, 1, 3, 5, 7, 9, 11, 13]
