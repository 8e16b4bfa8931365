"""What people wrote is known to all commands: `--import MODULE`, entry points, and what files say of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import distal
from distal import InputError, learners, networks
from distal.base import plugins
from distal.model.readings import NETWORK
from distal.search import registry as searches
from distal.tasks import registry as tasks
from tests.command_line import output, output_json, refusal
from tests.docs.test_docs import BLOCK, ROOT

SHORT = ("--trials", "1", "--episodes", "3", "--steps", "8", "--hidden", "3")
RUNS = ("--runs", "1", "--generations", "1", "--fresh", "4", *SHORT)
MINE = ("--import", "my_module")
TABLES = (learners.KINDS, learners.DEFAULTS, networks.NETWORKS, searches.ALGORITHMS, tasks.TASKS)


def _module() -> str:
    """Return the code of docs/extending.md up to where it is used."""
    blocks = [
        body
        for language, body in BLOCK.findall((ROOT / "docs/extending.md").read_text())
        if language == "python"
    ]
    code = [
        block for block in blocks if re.search(r"^(@|class |def |from .*register_task)", block, re.MULTILINE)
    ]
    return "\n".join(code).replace("print(", "str(")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder with my_module.py; after the test nothing that it registers is known."""
    # Two private tables: what has been imported is forgotten again.
    tables: list[dict[Any, Any]] = [
        *TABLES,
        NETWORK.knowing,
        NETWORK.modules,
        plugins._imported,
        plugins._noted,
    ]
    before, words, modules = [dict(table) for table in tables], dict(NETWORK), set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_module.py").write_text(_module())
    yield tmp_path
    for table, kept in zip(tables, before, strict=True):
        table.clear()
        table.update(kept)
    for word in [word for word in NETWORK if word not in words]:
        dict.pop(NETWORK, word)
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def forget() -> None:
    """Forget what my_module registered, as another process would."""
    learners.unregister("jumps")
    networks.unregister("feedforward")
    del searches.ALGORITHMS["random"], sys.modules["my_module"]
    tasks.unregister("corridor")


@pytest.mark.usefixtures("here")
def test_all_commands_know_what_a_module_registers_and_say_what_to_import_without_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = output_json(capsys, "learn", "jumps", "--jump", "0.7", "--network", "feedforward", *SHORT, *MINE)
    assert said["parameters"]["jump"] == 0.7
    assert said["network"] == "feedforward"
    assert "--jump is for jumps alone" in refusal(capsys, "learn", "hc", "--jump", "0.7", *MINE)
    asked = ("--learner", "jumps", "--network", "feedforward", "--search", "random", "--population", "3")
    capsys.readouterr()
    assert distal.cli.main(["evolve", *asked, "--task", "corridor", *RUNS, "--out", "runs", *MINE]) == 0
    capsys.readouterr()
    winner = "runs/winners/run-01.json"
    stored = json.loads(Path("runs/config.json").read_text())
    assert [stored[f"{what}_module"] for what in ("learner", "search", "network")] == ["my_module"] * 3
    assert stored["task"]["recipe"]["module"] == json.loads(Path(winner).read_text())["module"] == "my_module"
    assert "learner jumps, task corridor, network feedforward" in output(capsys, "runs", "runs", *MINE)
    longer = ("evolve", "--resume", "runs", "--generations", "2")
    capsys.readouterr()
    assert distal.cli.main([*longer, *MINE]) == 0
    capsys.readouterr()
    output(capsys, "compare", winner, "chance", *SHORT, "--engine", "reference", *MINE)
    output(capsys, "watch", winner, "--episodes", "3", "--steps", "8", *MINE)
    assert "has no rows to inspect" in refusal(capsys, "inspect", winner, *MINE)

    forget()
    for command in (
        ("runs", "runs"),
        longer,
        ("learn", winner),
        ("compare", winner, "hc"),
        ("watch", winner),
    ):
        assert "it came from module my_module: add --import my_module" in refusal(capsys, *command)


@pytest.mark.usefixtures("here")
def test_a_task_of_a_word_is_made_again_when_its_runs_are_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    length = ("--env-arg", "length=11")
    assert distal.cli.main(["evolve", "--task", "corridor", *length, *RUNS, "--out", "runs", *MINE]) == 0
    told = json.loads(Path("runs/config.json").read_text())["task"]["recipe"]
    assert (told["kind"], told["arguments"], told["made"]["states"]) == ("registered", {"length": 11}, 11)
    forget()
    with pytest.raises(InputError, match="task 'corridor' is not known here; it came from module my_m"):
        distal.resume("runs", generations=2)
    plugins.import_named("my_module")
    assert distal.resume("runs", generations=2).best.shape == (1, 3)
    same = distal.task_of("corridor", args={"length": 11})
    assert distal.resume("runs", generations=3, task=same).best.shape == (1, 4)
    with pytest.raises(InputError, match="the runs are of another task"):
        distal.resume("runs", generations=4, task="corridor")


def test_an_agent_and_a_plastic_network_say_what_to_import(here: Path) -> None:
    plugins.import_named("my_module")
    small: Any = {"trials": 1, "episodes": 2, "steps": 8, "hidden": 3, "network": "feedforward"}
    distal.learn("jumps", keep_weights=True, **small).agent().save("agent.json")
    plastic = distal.PlasticNetwork("jumps", inputs=3, outputs=4, hidden=3)
    plastic.save("plastic.json")
    distal.Agent.load("agent.json")
    distal.PlasticNetwork.load("plastic.json")
    forget()
    with pytest.raises(
        InputError, match="network 'feedforward' is not known here; it came from module my_module"
    ):
        distal.Agent.load("agent.json")
    with pytest.raises(
        InputError, match="learner format 'my-jumps' is not known here; it came from module my_m"
    ):
        distal.PlasticNetwork.load("plastic.json")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("nowhere", None, "there is no module nowhere: no file nowhere.py in this folder, and no installed"),
        ("my_modul", None, "did you mean 'my_module'?"),
        ("my_module.py", None, "'my_module.py' is not the name of a module, expected one such as my_module"),
        ("my_module.py", None, "; write my_module"),
        ("mine", "1 / 0", "module mine cannot be imported (mine.py, line 1): ZeroDivisionError: division by"),
        ("mine", "import not_there", "module mine needs not_there, which is not installed"),
        ("mine", "raise SystemExit", "module mine ends the program when it is imported; put its program"),
        ("json", "x = 1", "module json is Python's own or an installed one, and not the json.py"),
        ("mine", "import distal.learners as own\n\nown.register(3)", "(mine.py, line 3): kind is 3, expecte"),
    ],
)
def test_a_module_that_cannot_be_imported_is_refused_in_one_line(
    name: str, content: str | None, problem: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (here / f"{name}.py").write_text(content)
    assert problem in refusal(capsys, "learn", "hc", "--import", name)


def test_a_folder_of_plug_ins_hides_no_package(here: Path) -> None:
    (here / "timeit.py").write_text("mine = True")
    plugins.import_named("my_module")
    assert sys.path[-1] == str(here)
    code = "import sys; sys.path.append('.'); import timeit; assert not hasattr(timeit, 'mine')"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def test_the_option_may_stand_before_the_command_and_after_it_and_the_help_shows_what_it_brings(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["--import", "my_module", "evolve"], ["evolve", "--import=my_module"]):
        with pytest.raises(SystemExit):
            distal.cli.main([*command, "--help"])
        text = " ".join(capsys.readouterr().out.split())
        assert "jumps: jumping" in text
        assert "random: Random search" in text
        assert "a task that was registered (corridor)" in text
    assert "--import: expected one argument" in refusal(capsys, "learn", "hc", "--import")


def test_a_number_that_has_the_name_of_an_option_leaves_the_option_as_it_is(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (here / "my_module.py").read_text()
    (here / "other.py").write_text(
        text.replace("jump: float", "steps: float")
        .replace('"jump"', '"steps"')
        .replace("self.jump", "self.steps")
    )
    assert (
        output_json(capsys, "learn", "jumps", "--import", "other", *SHORT, "--engine", "reference")["steps"]
        == 8
    )


class Point:
    """An entry point."""

    dist = None

    def __init__(self, name: str, thing: Any) -> None:
        self.name, self.thing = name, thing

    def load(self) -> Any:
        if isinstance(self.thing, Exception):
            raise self.thing
        return self.thing


def test_installed_packages_bring_theirs_and_a_broken_one_is_passed_over(
    here: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plugins.import_named("my_module")
    module = sys.modules["my_module"]
    forget()
    points = {
        plugins.LEARNERS: [Point("broken", ImportError("no such luck")), Point("jumps", module.Jumps)],
        plugins.NETWORKS: [Point("feedforward", module.FeedForward)],
        plugins.SEARCHES: [Point("random", module.RandomSearch)],
        plugins.TASKS: [Point("passage", module.corridor)],
    }
    monkeypatch.setattr(metadata, "entry_points", lambda group: points[group])
    # A private set: nothing has been loaded yet.
    monkeypatch.setattr(plugins, "_loaded", set())
    assert distal.Settings(network="feedforward").network == "feedforward"
    assert distal.find_learner("jumps").kind == "jumps"
    assert searches.algorithm("random", {}).name == "random"
    assert distal.task_of("passage").outputs == 3
    assert "plug-in broken of an installed package is left out: ImportError: no such luck" in caplog.text


def test_a_worker_that_is_not_forked_imports_the_modules_before_it_reads_its_work(here: Path) -> None:
    plugins.import_named("my_module")
    small: Any = {"trials": 1, "episodes": 2, "steps": 8, "hidden": 3, "network": "feedforward"}
    alone = distal.learn("jumps", engine="reference", **small)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        spread = distal.learn("jumps", engine=distal.Runner("reference", executor=pool), **small)
    assert (spread.best == alone.best).all()


def test_a_script_is_named_as_the_module_that_its_file_would_be(here: Path) -> None:
    (here / "program.py").write_text((here / "my_module.py").read_text() + "\nJumps().save('mine.json')")
    subprocess.run([sys.executable, "program.py"], check=True)
    assert json.loads(Path("mine.json").read_text())["module"] == "program"


WORLD = """
import gymnasium
from gymnasium import spaces


class Ring(gymnasium.Env):
    observation_space = spaces.Discrete(5)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at, {}

    def step(self, action):
        self.at = (self.at + (1, 4)[action]) % 5
        return self.at, -1.0, self.at == 2, False, {}


class Same(gymnasium.Wrapper):
    pass


gymnasium.register("Ring-v0", Ring, max_episode_steps=9, disable_env_checker=True)
"""


def test_runs_in_a_world_of_the_current_folder_go_on_once_its_module_is_imported(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import gymnasium

    (here / "my_world.py").write_text(WORLD)
    own = ("--env", "my_world:Ring-v0", "--wrap", "my_world:Same")
    short = ("--runs", "1", "--generations", "1", "--fresh", "4", "--trials", "1", "--episodes", "3")
    assert distal.cli.main(["evolve", *own, *short, "--out", "runs"]) == 0
    longer = ["evolve", "--resume", "runs", "--generations", "2"]
    del sys.modules["my_world"], gymnasium.registry["Ring-v0"]
    capsys.readouterr()
    assert "'my_world:Ring-v0' names a module of no installed package: add --import my_world" in refusal(
        capsys, *longer
    )
    assert distal.cli.main([*longer, "--import", "my_world"]) == 0
    capsys.readouterr()
    own = ("--env", "Ring-v0", "--import", "my_world")
    assert distal.cli.main(["evolve", *own, *short, "--out", "others"]) == 0
    del sys.modules["my_world"], gymnasium.registry["Ring-v0"]
    capsys.readouterr()
    assert "'Ring-v0' came from module my_world, of no installed package: add --import my_world" in refusal(
        capsys, "evolve", "--resume", "others", "--generations", "2"
    )
