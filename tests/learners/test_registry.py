"""A new learner is one class and one line: from then on everything takes it, or says why not."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import distal
from distal import Chance, HillClimbing, InputError, Maze, Rule, Settings, engines, learners
from distal.base.colours import LIGHT
from distal.cli import main
from distal.engines import Batch, reference
from distal.engines.cpu import engine as cpu
from distal.engines.gpu import cards
from distal.engines.gpu import engine as gpu
from distal.engines.spread import Spread
from distal.evaluation.trials import batch_of
from distal.learners import Learner, Memory, Trial
from distal.model import draws
from distal.networks import Episode, Network, Weights
from distal.search.config import Config
from distal.show import film, watch
from distal.show.scenes import scenes
from distal.tasks.mazes import MazeTask, MazeWalk
from distal.tasks.task import Aim
from tests.command_line import refusal
from tests.doors import SameThread, contents
from tests.given import some


@dataclass(frozen=True)
class Jumps(Learner):
    """Keep the best weights, and now and then try new ones."""

    jump: float
    alpha_h: float
    alpha_o: float
    name: str = ""

    kind: ClassVar[str] = "jumps"
    label: ClassVar[str] = "jumping"
    file_format: ClassVar[str] = "test-jumps"
    names: ClassVar[tuple[str, ...]] = ("jump", "alpha_h", "alpha_o")
    genes: ClassVar[tuple[int, int] | None] = (0, 3)

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        best, ep = memory.kept.get("best"), memory.number("ep")
        if ep is None or episode.ep < ep:
            best, ep = episode.weights, episode.ep
        assert isinstance(best, Weights)
        following = episode.number + 1
        leaps = draws.child_seed(trial.seed, following) / 2**64 < self.jump
        weights = network.fresh_weights(trial.seed, following) if leaps else best
        return Memory(weights, {"best": best, "ep": ep})


@dataclass(frozen=True)
class Lazy(HillClimbing):
    """A climber that does not climb; nobody has registered it."""

    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        return memory


class Idle(SameThread):
    """An executor that nobody should ask."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise AssertionError("work was handed over")


MAZE = Maze.from_text("#######\n#0...1#\n###.###\n###S###\n#######")
JUMPS = Jumps(0.3, 0.2, 0.4)
SHORT: Any = {"maze": MAZE, "hidden": 3, "steps": 8, "episodes": 6, "trials": 2}
EVOLUTION: Any = {
    **SHORT, "runs": 2, "search": distal.GeneticAlgorithm(population=4, elite_count=2), "episodes": 2,
    "trials": 1,
}  # fmt: skip
REFUSAL = "engine cpu has no code for learners of kind 'jumps'; use engine reference"


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("distal.search.config.REMEASURED", 8)  # the reference engine is slow
    learners.register(Jumps, default=Jumps(0.1, 0.2, 0.2))
    yield
    learners.unregister("jumps")


def trial(learner: Learner = JUMPS) -> Batch:
    batch = batch_of(
        [learner], np.zeros(1, np.uint64), trials=1, episodes=6, task=MazeTask(MAZE), settings=Settings(3, 8)
    )
    return batch.part(0, 1)


# ------------------------------------------------------------------ one class, one line


@pytest.mark.usefixtures("registered")
def test_a_new_learner_learns_beside_chance_with_its_scales() -> None:
    result = distal.learn(JUMPS, engine="reference", keep_ep=True, seed=3, **SHORT)
    batch = batch_of(
        [JUMPS], np.array([3], np.uint64), trials=2, episodes=6, task=MazeTask(MAZE), settings=Settings(3, 8)
    )
    for row, (goal, seed) in enumerate(zip(batch.goal.tolist(), batch.seed.tolist(), strict=True)):
        stream = learners.episodes(JUMPS, Aim(MazeTask(MAZE), goal), Settings(3, 8), seed)
        assert some(result.ep)[row].tolist() == [episode.ep for episode in islice(stream, 6)]
    assert some(result.chance).learner == Chance(0.2, 0.4)
    data = result.to_dict()
    assert (data["learner"], data["parameters"]) == ("jumps", JUMPS.to_dict())
    assert result.summary().startswith("jumping: 4 trials")
    assert distal.learn("jumps", engine="reference", **SHORT).learner == Jumps(0.1, 0.2, 0.2)


@pytest.mark.usefixtures("registered")
def test_a_new_learner_evolves_on_disk_and_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    evolved = distal.evolve("jumps", generations=3, engine="reference", out=whole, **EVOLUTION)
    distal.evolve("jumps", generations=1, engine="reference", out=parts, **EVOLUTION)
    header = (whole / "generations.csv").read_text().splitlines()[0]
    assert header == "run,generation,best,mean,worst,jump,alpha_h,alpha_o"
    distal.resume(parts, generations=3, engine="reference")
    names = ("config.json", "state.json", "generations.csv", "winners.csv", "winners/run-02.json")
    for name in names:
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name
    winner = evolved.winners[1].learner
    assert distal.find_learner(whole / "winners" / "run-02.json") == winner.named("whole run 2")
    assert winner == replace(winner, name="run 2, seed 0")  # type: ignore[type-var]
    assert distal.resume(whole, engine="cpu").winners == evolved.winners  # there is nothing left to run


@pytest.mark.usefixtures("registered")
def test_the_seeds_of_a_new_kind_follow_from_its_word_alone() -> None:
    before = Config("jumps").run_seed(0)
    assert before not in {Config(kind).run_seed(0) for kind in ("dsp", "hc")}
    learners.unregister("jumps")
    learners.register(replace_kind("other"))
    learners.register(Jumps)
    try:
        assert Config("jumps").run_seed(0) == before != Config("other").run_seed(0)
    finally:
        learners.unregister("other")


def replace_kind(word: str) -> type[Jumps]:
    """Return a kind like Jumps of another word and another format."""
    return dataclass(frozen=True)(type("Other", (Jumps,), {"kind": word, "file_format": word}))


# ------------------------------------------------------------------ nothing is run as something else


@pytest.mark.usefixtures("registered")
def test_a_fast_engine_refuses_a_learner_it_has_no_code_for_before_any_work(tmp_path: Path) -> None:
    batch = trial()
    assert reference.engine.supports(batch) is None
    assert cpu.supports(batch) == REFUSAL
    assert gpu.supports(batch) == REFUSAL.replace("cpu", "gpu")
    for run in (engines.Runner("cpu").run, cpu.run, Spread(Idle(), "cpu").run):
        with pytest.raises(InputError, match=REFUSAL):
            run(batch)
    with pytest.raises(InputError, match=REFUSAL):
        distal.learn(JUMPS, engine="cpu", **SHORT)
    with pytest.raises(InputError, match=REFUSAL):
        distal.evolve("jumps", generations=1, engine="cpu", out=tmp_path / "runs", **EVOLUTION)
    assert not (tmp_path / "runs").exists()
    distal.evolve("jumps", generations=0, engine="reference", out=tmp_path / "runs", **EVOLUTION)
    before = contents(tmp_path)
    with pytest.raises(InputError, match=REFUSAL):
        distal.resume(tmp_path / "runs", generations=1, engine="cpu")
    assert contents(tmp_path) == before
    distal.resume(tmp_path / "runs", generations=1, engine=engines.Runner("reference", executor=SameThread()))
    assert contents(tmp_path) != before


@pytest.mark.usefixtures("registered")
def test_auto_falls_back_to_an_engine_that_can_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cards, "problem", lambda: None)  # as if there were a card; nothing is run on it
    run = engines.Runner("auto")
    assert run.engine == "gpu"
    climbing = trial(HillClimbing(0.1, 0.2, 0.3))
    long = replace(climbing, episodes=2**31, record=(1,))
    assert run.suited(climbing) is run
    assert run.suited(long).engine == "cpu"
    assert run.suited(trial()).engine == "reference"
    run.run(trial())
    lines = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert lines == [
        "using engine cpu: episodes is 2147483648, engine gpu takes at most 2147483647",
        "using engine reference: engine steps has no code for learners of kind 'jumps'",
    ]
    with pytest.raises(InputError, match="engine gpu takes at most 2147483647; use engine cpu"):
        engines.Runner("gpu").run(long)


@pytest.mark.usefixtures("registered")
def test_auto_measures_a_new_learner_with_reference_and_chance_beside_it_with_a_fast_engine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def no_card() -> None:
        raise InputError("engine gpu: no card; or use engine cpu")

    monkeypatch.setattr(gpu, "check", no_card)
    result = distal.learn(JUMPS, engine="auto", **SHORT)
    assert (result.engine, some(result.chance).engine) == ("reference", "cpu")
    (tmp_path / "maze.txt").write_text(str(MAZE))
    small = ["--maze", str(tmp_path / "maze.txt"), "--steps", "8", "--trials", "1", "--episodes", "2"]
    assert main(["learn", "jumps", "--engine", "auto", *small, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["engine"] == "reference"


def test_a_stranger_is_refused_by_name_everywhere(tmp_path: Path) -> None:
    task, settings = Aim(MazeTask(MAZE), 0), Settings(3, 8)
    for stranger in (JUMPS, Lazy(0.1, 0.2, 0.3)):
        one: Any = stranger
        for call in (
            lambda one=one: distal.learn(one, engine="reference", **SHORT),
            lambda one=one: replace(trial(Chance(0, 0)), learners=(one,)),
            lambda one=one: learners.episodes(one, task, settings, 0),
            lambda one=one: watch.trials(one, maze=MAZE),
            lambda one=one: distal.learn(one, task="distal/TripleTMaze-v1"),
        ):
            with pytest.raises(InputError, match=type(stranger).__name__):
                call()
    JUMPS.save(tmp_path / "jumps.json")
    expected = f"learner format 'test-jumps' is not known here; it came from module {__name__}"
    with pytest.raises(InputError, match=expected):
        distal.find_learner(tmp_path / "jumps.json")


@pytest.mark.usefixtures("registered")
def test_a_page_records_what_it_cannot_compute_and_a_film_shows_it(tmp_path: Path) -> None:
    small: Any = {"maze": MAZE, "hidden": 3, "steps": 8, "episodes": 6}
    watched = watch.write_page(tmp_path / "page.html", JUMPS, "hc", **small)
    assert [recording is not None for recording in watched.recordings] == [True, False]
    assert watched.eps[0].tolist() == [episode.ep for episode in reference.episodes(trial(), 0)]
    (scene,) = scenes(trial(), [6])
    best = min(reference.episodes(trial(), 0), key=lambda episode: episode.ep)
    assert isinstance(scene.walk, MazeWalk)
    assert scene.walk.cells == best.walk.cells
    frames = film.film([scene], scale=4)
    assert len(frames) > 1
    colour = [int(LIGHT["other"][k : k + 2], 16) for k in (1, 3, 5)]  # as on the page
    assert (frames[0] == colour).all(axis=2).any()
    with pytest.raises(InputError, match=REFUSAL):
        scenes(trial(), [6], engine="cpu")


@pytest.mark.usefixtures("registered")
def test_no_film_is_written_where_the_page_beside_it_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["watch", "jumps", "--gif", "a.gif", "--after", "1"]
    assert "fewer episodes or steps" in refusal(capsys, *line, "--out", "page.html", "--episodes", "100000")
    assert list(here.iterdir()) == []
    assert main(line) == 0
    assert (here / "a.gif").exists()


# ------------------------------------------------------------------ files, alike for all


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    "learner", [Rule([0, 1] * 16, 0.1, 0.2, 0.3, 0.4), HillClimbing(0.1, 0.2, 0.3), Chance(0.1, 0.2), JUMPS]
)
@pytest.mark.parametrize("name", ["", "mine"])
def test_every_learner_has_a_name_and_a_file(learner: Learner, name: str, tmp_path: Path) -> None:
    one, path = learner.named(name), tmp_path / "learner.json"
    one.save(path)
    assert learners.load_learner(path) == type(one).load(path) == one
    assert distal.find_learner(path).name == name
    assert type(one).from_dict(one.to_dict()) == one
    result = distal.learn(path, engine="reference", **SHORT)
    assert (result.learner, learners.name_of(result.learner)) == (one, name or learner.label)


def test_the_files_of_climbers_and_of_chance(tmp_path: Path) -> None:
    HillClimbing(0.1, 0.2, 0.3).save(tmp_path / "climber.json")
    Chance(0.1, 0.2, name="mine").save(tmp_path / "chance.json")
    assert json.loads((tmp_path / "climber.json").read_text()) == {
        "format": "distal-climber", "version": 1, "sigma": 0.1, "alpha_h": 0.2, "alpha_o": 0.3,
    }  # fmt: skip
    assert json.loads((tmp_path / "chance.json").read_text()) == {
        "format": "distal-chance", "version": 1, "name": "mine", "alpha_h": 0.1, "alpha_o": 0.2,
    }  # fmt: skip
    with pytest.raises(InputError, match=r"chance file '.*climber\.json': format is 'distal-climber'"):
        Chance.load(tmp_path / "climber.json")


def test_climbers_and_chance_stand_in_results_as_they_always_have() -> None:
    result = distal.learn(HillClimbing(0.1, 0.2, 0.3), **SHORT).to_dict()
    assert result["hill_climbing"] == {"sigma": 0.1, "alpha_h": 0.2, "alpha_o": 0.3}
    assert list(result["chance"])[:3] == ["alpha_h", "alpha_o", "fitness"]
    assert distal.learn("chance", **SHORT).to_dict()["random_weights"] == {"alpha_h": 0.2, "alpha_o": 0.2}


# ------------------------------------------------------------------ the registry


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (JUMPS, "expected a dataclass that inherits from Learner"),
        (Lazy, "kind 'hc' of Lazy belongs to HillClimbing; choose another"),
        (type("Same", (Jumps,), {"file_format": "distal-rule"}), "'distal-rule' of Same belongs to Rule"),
        (type("Bad", (Jumps,), {"kind": "two words"}), "kind of Bad is 'two words', expected one word"),
        (type("Bad", (Jumps,), {"names": ("sigma",)}), "Bad has no field 'sigma', which it needs"),
        (type("Bad", (Jumps,), {"update": None}), "Bad has no method update"),
        (type("Bad", (Jumps,), {"genes": (0, 2)}), "genes of Bad is .*, expected a continuous one"),
        (type("Bad", (Jumps,), {"names": ("alpha_h", "alpha_o", "jump")}), "first fields, alpha_h, alpha_o,"),
    ],
)
def test_a_class_that_is_no_learner_is_not_registered(kind: Any, problem: str) -> None:
    known = dict(learners.KINDS)
    with pytest.raises(InputError, match=problem):
        learners.register(kind)
    assert known == learners.KINDS


def test_genes_that_are_no_numbers_of_the_learner_are_counted() -> None:
    odd = type("Odd", (Jumps,), {"genes": (2, 4), "discrete_genes": "turn"})
    counted = [f"continuous_{k}" for k in range(4)]
    assert odd.gene_names() == ("turn_0", "turn_1", *counted)  # type: ignore[attr-defined]
    assert Jumps.gene_names() == Jumps.names


def test_the_kinds_of_the_package_stay() -> None:
    with pytest.raises(InputError, match="kind is 'hc', expected one of"):
        learners.unregister("hc")
    other: Any = HillClimbing(0.1, 0.2, 0.3)
    with pytest.raises(InputError, match=r"default is .*, expected a Jumps"):
        learners.register(Jumps, default=other)
    assert list(learners.KINDS)[:4] == ["dsp", "hc", "chance", "eligibility"]
    learners.register(Jumps, default=JUMPS)
    learners.unregister("jumps")
    with pytest.raises(
        InputError, match=r"no learner 'jumps', expected .* hc, chance, eligibility, .*, hebb, or a file"
    ):
        distal.find_learner("jumps")


# ------------------------------------------------------------------ rewards that are turned round


@pytest.mark.parametrize("word", ["eligibility", "online", "neuron", "es", "cma"])
def test_a_learner_that_hears_the_opposite_learns_something_else(word: str) -> None:
    task = Aim(MazeTask(MAZE), 0)

    def last(flip: float) -> Weights:
        settings = Settings(hidden=3, steps=8, flip=flip)
        stream = learners.episodes(distal.find_learner(word), task, settings, seed=2)
        return next(islice(stream, 40, None)).weights

    plain, opposite = last(0), last(1)
    assert (plain.hidden != opposite.hidden).any()
