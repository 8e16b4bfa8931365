"""The gpu engine: its host side everywhere, and on a card the bits of the cpu engine.

Tests with the marker `gpu` need an NVIDIA card; `make test-gpu` runs them and keeps
their summary in benchmarks/results/gpu-tests.json.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distal import InputError, Rule, Settings, engines, learn, published_rules
from distal.engines import Batch, gpu
from distal.engines.gpu import cards, packing
from distal.engines.gpu.constants import definitions
from distal.engines.gpu.kernel import kernel_for
from distal.engines.gpu.machine_code import compiled, compiler_options, source
from distal.engines.gpu.slicing import Pace
from distal.engines.reference import engine as reference
from distal.learners import Learner, chance_for
from distal.model.readings import NEURONS, READINGS, SIGMOID
from distal.networks import recurrent
from distal.studies.plans.reproduce import random_learners
from distal.tasks.mazes import MazeTask
from distal.tasks.switching import BACK, Switch
from distal.tasks.table import MAX_STATES
from distal.tasks.table_task import TableTask
from tests.batches import fading_rules, random_batch, random_settings, random_table, random_trials, trials_of
from tests.conftest import COMPARED, assert_equal_trials
from tests.mazes import wide_maze

on_card = [
    pytest.mark.gpu,
    pytest.mark.skipif(cards.problem() is not None, reason=f"engine gpu: {cards.problem()}"),
]

# Where Numba is missing, the reference engine is what the card is compared with; it takes longer.
expected = engines.load("cpu" if importlib.util.find_spec("numba") else "reference")


# ---------------------------------------------------------------- packing


def test_a_spot_holds_the_last_state_and_event_of_the_largest_table() -> None:
    assert (MAX_STATES * 64 << max(map(packing.in_spot, range(1, 32)))) <= 2**31


NO_TABLE = "the task has 3 inputs and 17 actions, compiled engines take at most 64 and 16; use engine steps"


def shaped(inputs: int, actions: int, hidden: int) -> Batch:
    rng = np.random.default_rng(0)
    task = TableTask(random_table(rng, inputs, actions))
    return random_trials(rng, "dsp", task, Settings(hidden=hidden), episodes=2)


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ((16, 8, 64), None),
        ((31, 16, 48), None),
        ((32, 4, 20), "the number of inputs is 32, engine gpu takes at most 31; use engine cpu for more"),
        ((3, 17, 20), NO_TABLE),
        ((31, 16, 256), None),
    ],
)
def test_what_does_not_fit_on_a_card_is_refused(shape: tuple[int, int, int], reason: str | None) -> None:
    assert gpu.engine.supports(shaped(*shape)) == reason


# ---------------------------------------------------------------- what may be missing


class _NoCard:
    """CuPy on a machine without a card, a driver or a compiler."""

    class CUDARuntimeError(Exception):
        pass

    def __init__(
        self, count: int | None, compiler: bool = True, capability: tuple[int, int] = (9, 0)
    ) -> None:
        self.count, self.compiler, self.capability = count, compiler, capability
        self.cuda = self.runtime = self.nvrtc = self

    def getDeviceCount(self) -> int:  # noqa: N802
        if self.count is None:
            raise self.CUDARuntimeError("cudaErrorInsufficientDriver")
        return self.count

    def getVersion(self) -> tuple[int, int]:  # noqa: N802
        if not self.compiler:
            raise RuntimeError("libnvrtc.so not found")
        return 13, 0

    def Device(self) -> Any:  # noqa: N802
        return type("Device", (), {"id": 0})

    def getDeviceProperties(self, number: int) -> dict[str, int]:  # noqa: N802
        return {"major": self.capability[0], "minor": self.capability[1]}


@pytest.mark.parametrize(
    ("cupy", "message"),
    [
        (None, "engine gpu: CuPy "),
        (_NoCard(None), "no NVIDIA card answers (cudaErrorInsufficientDriver): install the card's driver"),
        (_NoCard(0), "there is no NVIDIA card: run on a machine that has one"),
        (_NoCard(1, compiler=False), "run-time compiler cannot be loaded (libnvrtc.so not found)"),
        (_NoCard(1, capability=(5, 2)), "the card has compute capability 5.2, 7.0 is needed"),
    ],
)
def test_what_is_missing_is_said_in_one_line_and_auto_is_cpu(
    cupy: Any, message: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    cards.problem.cache_clear()
    try:
        with pytest.raises(InputError) as refusal:
            learn("paper:1", engine="gpu", episodes=1, trials=1)
        assert learn("paper:1", engine="auto", episodes=1, trials=1).engine == "cpu"
    finally:
        cards.problem.cache_clear()
    assert message in str(refusal.value)
    assert str(refusal.value).endswith("; or use engine cpu")
    assert caplog.messages[0].startswith("using engine cpu: engine gpu: ")


def test_the_core_needs_nothing_but_numpy() -> None:
    script = """
import sys

class Nowhere:
    names = "numba llvmlite matplotlib rich scipy gymnasium PIL distributed dask cupy".split()

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ImportError(f"{name} is not here", name=name)

sys.meta_path.insert(0, Nowhere())
import distal, distal.engines.gpu, distal.engines.spread, distal.search.evolve, distal.studies.plans.reproduce
print(distal.learn("paper:1", episodes=1, trials=1, steps=5, engine="reference").fitness)
evolved = distal.evolve("hc", runs=1, generations=0, trials=1, episodes=1, steps=5, engine="reference")
print(len(evolved.winners))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "1"


# ---------------------------------------------------------------- the summary of the tests on a card


@pytest.mark.skipif(cards.problem() is None, reason="there is a card")
def test_without_a_card_the_summary_of_the_last_run_on_one_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "summary.json"
    kept.write_text("the last run on a card")
    tests = [__file__, "-m", "gpu", "-q", "-p", "no:xdist", "--gpu-summary", str(kept)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *tests], capture_output=True, text=True, check=False
    )
    assert f"{kept} is left as it was: nothing was run on a card" in done.stdout
    assert kept.read_text() == "the last run on a card"


CARD = """
from distal.engines.gpu import cards
cards.problem, cards.describe = lambda: None, lambda: {}
"""
COMPARING = """
import pytest
from tests.conftest import COMPARED

@pytest.mark.parametrize("batches", [1, 2, 3, 4])
def test_some(pytestconfig, batches):
    pytestconfig.stash[COMPARED] = pytestconfig.stash.get(COMPARED, 0) + batches
"""


def test_the_summary_has_the_batches_of_all_processes(tmp_path: Path) -> None:
    (tmp_path / "with_card.py").write_text(CARD)
    (tmp_path / "test_comparing.py").write_text(COMPARING)
    kept = tmp_path / "summary.json"
    plugins = ["-p", "with_card", "-p", "tests.conftest", "-n", "2", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "test_comparing.py", *plugins, "--gpu-summary", str(kept)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    told = json.loads(kept.read_text())
    assert (told["passed"], told["batches_compared"]) == (4, 1 + 2 + 3 + 4)


# ---------------------------------------------------------------- on a card


compared: list[Batch] = []  # in the test at work

# A kernel of its own, for what a hidden neuron makes of its sum.
LOGISTICS = """
extern "C" __global__ void logistics(float *sums, int count)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) sums[k] = logistic(sums[k]);
}
"""


def learners_of(kind: str, count: int) -> Sequence[Learner]:
    """Return random learners; of chance, with the scales of random rules."""
    if kind == "chance":
        return [chance_for(rule) for rule in random_learners("dsp", 1, count)]
    return random_learners(kind, 1, count)


@pytest.fixture(autouse=True)
def _count(pytestconfig: pytest.Config) -> Iterator[None]:
    """Let the summary know how many batches were compared."""
    compared.clear()
    yield
    pytestconfig.stash[COMPARED] = pytestconfig.stash.get(COMPARED, 0) + len(compared)


def assert_same(batch: Batch, engine: engines.Engine = expected) -> None:
    compared.append(batch)
    ours = gpu.engine.run(batch, keep_weights=True, keep_ep=True)
    assert_equal_trials(ours, engine.run(batch, keep_weights=True, keep_ep=True), batch.phase)


class TestOnACard:
    """What needs an NVIDIA card."""

    pytestmark = on_card

    @pytest.mark.parametrize("case", range(60))
    def test_random_settings_mazes_and_learners_give_the_same_bits(self, case: int) -> None:
        rng = np.random.default_rng(case)
        settings = random_settings(rng)
        for _ in range(50 if expected is not reference else 1):
            assert_same(random_batch(rng, settings, climbing=case % 3 == 2))

    @pytest.mark.parametrize("case", range(24))
    def test_tables_of_any_shape_give_the_bits_of_the_reference_engine(self, case: int) -> None:
        rng = np.random.default_rng(3_000 + case)
        inputs, actions = map(int, rng.integers(1, (17, 9) if case % 3 else (32, 17)))
        settings = random_settings(rng)
        for kind in ("dsp", ("hc", "chance")[case % 2]):
            task = TableTask(random_table(rng, inputs, actions))
            assert_same(random_trials(rng, kind, task, settings, episodes=10), reference)

    @pytest.mark.parametrize("name", [f"{n}={v}" for n, values in READINGS.items() for v in values])
    @pytest.mark.parametrize("kind", ["dsp", "hc", "chance"])
    @pytest.mark.parametrize("neurons", NEURONS)
    def test_every_reading_gives_the_same_bits_in_the_triple_t_maze(
        self, name: str, kind: str, neurons: str
    ) -> None:
        reading, value = name.split("=")
        settings = Settings(neurons=neurons, **{reading: value})  # type: ignore[arg-type]
        batch = trials_of(learners_of(kind, 5), settings, episodes=60)
        # A kernel takes a second to compile, so that each has one of both; binary ones that move are below.
        moving = replace(batch, switch=Switch(13, BACK), resample=21)
        assert_same(moving if neurons == SIGMOID else batch)

    @pytest.mark.parametrize("resample", [None, 150])
    @pytest.mark.parametrize("kind", ["dsp", "hc"])
    def test_long_trials_give_the_same_bits(self, kind: str, resample: int | None) -> None:
        learners = published_rules() if kind == "dsp" else random_learners("hc", 3, 5)
        batch = trials_of(learners, Settings(), 2_000, resample=resample)
        assert_same(batch if expected is not reference else replace(batch, episodes=20))

    @pytest.mark.parametrize("neurons", NEURONS)
    @pytest.mark.parametrize("hidden", [1, 2, 27, 28, 29, 31, 32, 33, 59, 60, 61, 64])
    def test_every_shape_of_a_warp_gives_the_same_bits(self, hidden: int, neurons: str) -> None:
        for kind in ("dsp", "hc"):
            settings = Settings(hidden=hidden, steps=150, neurons=neurons)
            assert_same(trials_of(random_learners(kind, 5, 4), settings, episodes=30))

    @pytest.mark.parametrize(("inputs", "actions", "hidden"), [(16, 12, 64), (31, 16, 48), (5, 2, 40)])
    def test_continuous_neurons_fit_in_every_shape(self, inputs: int, actions: int, hidden: int) -> None:
        rng = np.random.default_rng(hidden)
        task = TableTask(random_table(rng, inputs, actions))
        for kind in ("dsp", "hc"):
            settings = Settings(hidden=hidden, steps=200, neurons="sigmoid")
            assert_same(random_trials(rng, kind, task, settings, episodes=10))

    def test_the_logistic_function_is_that_of_the_definition(self, tmp_path: Path) -> None:
        import cupy

        # Every sum for which e^-x is near 1, where a division is hardest, and many others.
        near = np.arange(2**23 * 4, dtype=np.int32) + np.float32(2.0**-25).view(np.int32)
        rng = np.random.default_rng(0)
        drawn = np.ldexp(rng.uniform(1, 2, 2**22), rng.integers(-30, 6, 2**22)).astype(np.float32)
        positive = np.concatenate([near.view(np.float32), drawn, np.zeros(1, np.float32)])
        sums = np.concatenate([positive, -positive])
        constants = definitions(Settings(neurons="sigmoid"), 3, 4)
        options = compiler_options(cupy.cuda.Device().compute_capability, tuple(constants.items()))
        code = tmp_path / "logistics.cubin"
        code.write_bytes(compiled(cupy.cuda.nvrtc, source() + LOGISTICS, options))
        there = cupy.asarray(sums)
        function = cupy.RawModule(path=str(code)).get_function("logistics")
        function((-(-len(sums) // 256),), (256,), (there, np.int32(len(sums))))
        for part in range(0, len(sums), 2**22):
            ours = there[part : part + 2**22].get()
            assert ours.tobytes() == recurrent.logistic(sums[part : part + 2**22]).tobytes()

    @pytest.mark.parametrize("neurons", NEURONS)
    @pytest.mark.parametrize("kind", ["dsp", "hc", "chance"])
    def test_goals_that_move_give_the_same_bits(self, kind: str, neurons: str) -> None:
        batch = trials_of(learners_of(kind, 6), Settings(neurons=neurons), episodes=60, trials=2)
        for switch in (Switch(1), Switch(7), Switch(30, BACK), Switch(20, (3, 5, 0)), Switch(60)):
            for resample in (None, 12):
                assert_same(replace(batch, switch=switch, resample=resample))

    def test_weights_that_become_subnormal_are_divided_exactly(self) -> None:
        episodes = 600 if expected is not reference else 30
        assert_same(trials_of(fading_rules(), Settings(), episodes, trials=2))

    @pytest.mark.parametrize("outputs", READINGS["outputs"])
    def test_walks_that_are_longer_than_the_past_are_counted_exactly(self, outputs: str) -> None:
        # With much recurrence there are hundreds of different transitions.
        rng = np.random.default_rng(0)
        rules = [Rule(rng.integers(-1, 2, 32).tolist(), 0.3, 0.05, 1.0, 1.0) for _ in range(4)]
        for steps in (128, 129, 200, 1_000, 10_000):
            settings = Settings(outputs=outputs, steps=steps, hidden=24)
            assert_same(trials_of(rules, settings, episodes=12, task=MazeTask(wide_maze())))

    @pytest.mark.parametrize("neurons", NEURONS)
    @pytest.mark.parametrize("kind", ["dsp", "hc"])
    def test_more_trials_than_warps_give_the_same_bits(self, kind: str, neurons: str) -> None:
        # Trials are then done in pieces, and long ones at once.
        batch = trials_of(random_learners(kind, 0, 210), Settings(neurons=neurons), 100, trials=5)
        constants = definitions(batch.settings, 3, 4, climbing=kind == "hc", keep_weights=True)
        warps = kernel_for(0, tuple(constants.items())).warps
        few = batch.part(0, min(len(batch), gpu.CROWD * warps - 1))
        if expected is reference or len(few) <= warps:
            pytest.skip(f"{len(few)} trials do not fill the {warps} warps of this card")
        for _ in range(3):  # how warps share the work differs from run to run
            assert_same(few)
        assert_same(replace(few, resample=30))
        assert_same(replace(few, switch=Switch(25)))

    @pytest.mark.parametrize("neurons", NEURONS)
    @pytest.mark.parametrize("switch", [None, Switch(10)])
    def test_slices_do_not_change_a_bit(
        self, neurons: str, switch: Switch | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for kind in ("dsp", "hc"):
            settings = Settings(neurons=neurons)
            batch = trials_of(
                random_learners(kind, 2, 3), settings, episodes=50, trials=2, resample=13, switch=switch
            )
            whole = gpu.engine.run(batch, keep_weights=True)
            told: list[int] = []

            def few(trials: int, episodes: int, room: int, warps: int, pace: Pace) -> Any:
                for first in range(0, trials, 17):
                    for episode in range(0, episodes, 7):
                        yield first, min(trials, first + 17), episode, min(episodes, episode + 7)

            with monkeypatch.context() as patch:
                patch.setattr(gpu, "slices", few)
                sliced = gpu.engine.run(batch, keep_weights=True, progress=told.append)
            assert sum(told) == len(batch) * 50
            assert_equal_trials(whole, sliced)
            some = gpu.engine.run(replace(batch, record=(1, 25, 50)))
            assert (some.best == whole.best[:, [0, 24, 49]]).all()

    def test_the_reference_engine_agrees_too(self) -> None:
        assert_same(trials_of(published_rules()[:3], Settings(), episodes=8), reference)

    @pytest.mark.parametrize("neurons", NEURONS)
    @pytest.mark.parametrize("hidden", [65, 80, 160, 256])
    def test_more_weights_than_registers_give_the_same_bits(self, hidden: int, neurons: str) -> None:
        for kind in ("dsp", "hc", "chance"):
            settings = Settings(hidden=hidden, steps=150, neurons=neurons)
            batch = trials_of(learners_of(kind, 3), settings, episodes=12)
            assert_same(batch)
            assert_same(replace(batch, switch=Switch(5)))

    def test_auto_is_the_card(self) -> None:
        assert learn("paper:1", engine="auto", episodes=2, trials=1).engine == "gpu"
