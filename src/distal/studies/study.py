"""A study: a question, the stages that answer it, and a report.

A study is a frozen dataclass whose fields decide its results. It plans its stages (`plan`), runs
them (`run_stages`), and reports their outcome (`Report`). Folder, memory, estimate, progress and command
are the same for all studies. A new study is one file that registers its class (`registry.register`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypedDict, TypeVar

from distal import engines
from distal._version import __version__
from distal.base import checks
from distal.base import progress as terminal
from distal.base.checks import InputError
from distal.base.files import read_json, to_json
from distal.base.folders import Folder, inside, known_files
from distal.engines import Runner, pace
from distal.model.draws import MAX_SEED
from distal.model.maze import MAZES, Maze, maze
from distal.model.settings import Settings
from distal.search.contents import summary
from distal.search.genetic import ELITES, GeneticAlgorithm
from distal.studies.outline import followed, outline
from distal.studies.report import Report
from distal.studies.stages import SECONDS, Event, Stage, Stages, runner_for

Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Scale:
    """The sizes of a study; a size that a study does not have is 0.

    Attributes:
        name: The word for it.
        runs: Runs of an evolution.
        generations: Generations of a run, after its first population.
        trials: Trials of an evaluation.
        pairs: Trials of each pair of a table with the numbers of a rule.
        episodes: Episodes of a trial, and of a phase where goals move.
        fresh: Trials on which every winner is measured again.
        tested: Trials of a test.
        long: Episodes of the long test.
        last: How many of the last episodes say what a learner keeps.
        about: How long it takes, in words for people.
    """

    name: str
    runs: int
    generations: int
    trials: int = 0
    pairs: int = 0
    episodes: int = 0
    fresh: int = 0
    tested: int = 0
    long: int = 0
    last: int = 0
    about: str = field(default="", compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return name and sizes, ready for JSON; a size that the study does not have is left out."""
        always = ("name", "runs", "generations", "episodes")
        sizes = ((name, value) for name, value in asdict(self).items() if name != "about")
        return {name: value for name, value in sizes if value or name in always}

    @classmethod
    def from_dict(cls, data: object) -> Scale:
        """Read the data of `to_dict`."""
        given = checks.instance("scale", data, dict, "a name and sizes")
        sizes = {one.name for one in fields(cls)} - {"name", "about"}
        if not set(given) <= {"name", *sizes}:
            raise InputError(f"scale is {checks.shown(data)}, expected a name and some of {', '.join(sizes)}")
        found: dict[str, Any] = {
            name: checks.integer(name, value, 0) for name, value in given.items() if name != "name"
        }
        return cls(checks.text("scale", given["name"]), **found)


class RunOptions(TypedDict, total=False):
    """The arguments of `Study.run`, as the functions of studies pass them on."""

    engine: str | Runner | None
    out: str | Path | None
    force: bool
    progress: Callable[[Event], None] | bool | None


@dataclass(frozen=True)
class Option:
    """An option of a study's command, whose value becomes the field of that name.

    Attributes:
        name: The name of the field.
        default: The value if the option is left out, as it would be typed.
        help: The help, without the default.
        metavar: The placeholder of the value in the help: N for a whole number, X for any number.
    """

    name: str
    default: str | None
    help: str
    metavar: str = "WORD"


class Study(ABC, Generic[Outcome]):
    """A study as it was asked for.

    A field `elites`, `maze`, `task` or `settings` has the options of its name on the command line. The
    first line of the module's docstring is the help of the command.

    Attributes:
        name: The word for its command.
        folder: The beginning of the default name of its folder; the name if left out.
        word: The option whose value ends that name.
        about: The description of the command; its help if empty.
        file: The file that describes a study in its folder; NAME-study.json if left out.
        format: The word in that file that identifies it; distal-NAME-study if left out.
        report_class: The class of its report.
        options: Further options of its command.
    """

    name: ClassVar[str]
    folder: ClassVar[str]
    word: ClassVar[str] = "seed"
    about: ClassVar[str] = ""
    file: ClassVar[str]
    format: ClassVar[str]
    report_class: ClassVar[type[Report[Any]]]
    options: ClassVar[tuple[Option, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Name the folder and its files after the study, where it does not name them itself."""
        super().__init_subclass__()
        if "name" in vars(cls):
            usual = {
                "folder": cls.name,
                "file": f"{cls.name}-study.json",
                "format": f"distal-{cls.name}-study",
            }
            for attribute in usual.keys() - vars(cls).keys():
                setattr(cls, attribute, usual[attribute])

    @property
    @abstractmethod
    def plan(self) -> Sequence[Stage]:
        """The stages, in their order."""

    @abstractmethod
    def asked(self) -> dict[str, Any]:
        """Return the options that decide the results, ready for JSON."""

    @abstractmethod
    def run_stages(self, stages: Stages) -> Outcome:
        """Run all stages that are missing, and return the outcome."""

    def asked_with(self, options: Mapping[str, object]) -> Self:
        """Return the study with the options of its command, by name, if it records them."""
        return self

    def check_memory(self) -> None:
        """Refuse a study that does not fit in the machine's free memory."""

    def runner(self, given: Runner) -> Runner:
        """Return the runner that does the work, from the one that was asked for."""
        return given

    def report(self, outcome: Outcome) -> Report[Outcome]:
        """Return the report of an outcome."""
        return self.report_class(outcome)

    @property
    def files(self) -> tuple[str, ...]:
        """All files that may be written into the folder."""
        stages = (file for stage in self.plan for file in stage.files)
        return tuple(dict.fromkeys((self.file, SECONDS, *stages, *self.report_class.files())))

    def seconds(self, runner: Runner) -> dict[str, float]:
        """Return the estimated time of each stage that people see, by its name; nothing is run."""
        runner = self.runner(runner)

        def taken(stage: Stage) -> float:
            return pace.seconds(stage.episodes, stage.learner, runner_for(stage, runner)) * stage.cost

        return {shown.name: sum(map(taken, stages)) for shown, stages in outline(self.plan).items()}

    def run(
        self,
        engine: str | Runner | None = None,
        *,
        out: str | Path | None = None,
        force: bool = False,
        progress: Callable[[Event], None] | bool | None = None,
    ) -> Outcome:
        """Run what is missing.

        Args:
            engine: "cpu", "gpu", "steps", "reference", "auto", or a runner, as in `learn`.
            out: A folder for the work. Stages in it are read, the others
                are run and stored. A folder made with other options is refused.
            force: Start over in a folder made with other options.
            progress: Called with an `Event` as the stages proceed. If left out, a terminal shows
                the progress; False shows nothing.

        Raises:
            InputError: If an argument is wrong, the folder cannot be used, or the work would not
                fit in memory.
        """
        folder = None if out is None else checks.folder("out", out)
        checks.flag("force", force)
        terminal.checked(progress)
        runner = Runner.of(engine)
        with self.opened(folder, force) as kept:
            return self.do(runner, kept, progress)

    @contextmanager
    def opened(self, out: Path | None, force: bool = False) -> Iterator[Folder | None]:
        """Open the folder of the study, if one is named; other processes are kept out of it."""
        self.check_memory()
        if out is None:
            yield None
            return
        holds, files = self.report_class.holds, self.files
        self._known(out, force)  # a folder that is refused is not even made
        with Folder(out) as folder:
            folder.claim(holds, files, self._known(out, force), force=force)
            folder.mend_text(self.file, to_json(self._described) + "\n")
            yield folder

    def do(self, runner: Runner, kept: Folder | None = None, progress: Any = None) -> Outcome:
        """Run what is missing in an open folder; `progress` as in `run`, or `LINES`, from a command."""
        estimate = partial(self.seconds, runner)
        with followed(progress, self.name, self.plan, estimate, runner.executor) as told:
            return self.run_stages(Stages(self.plan, self.runner(runner), told, kept))

    @property
    def _described(self) -> dict[str, Any]:
        return {"format": self.format, **self.asked()}

    def _known(self, path: Path, force: bool) -> tuple[str, ...]:
        """Return our files in a folder; refuse one that is not ours or of other options; change nothing."""
        if path.exists() and not path.is_dir():
            raise InputError(f"{str(path)!r} is a file, expected a folder")
        known = known_files(path, self.report_class.holds, self.files)
        if path.is_dir() and not force:
            self._check_description(path)
            for stage in self.plan:
                inner = path / stage.folder
                if stage.runs and (inner / "config.json").exists():
                    summary(inner)  # which refuses what is damaged
        return known

    def _check_description(self, folder: Path) -> None:
        """Refuse a folder of other options, and name them."""
        path, holds = inside(folder, self.file), self.report_class.holds
        if not path.exists():  # interrupted before the first file
            return
        stored = read_json(path, "file")
        if not isinstance(stored, dict):
            raise InputError(f"file {str(path)!r} is damaged: it does not describe {holds}")
        theirs, ours = _flat(stored), _flat(self._described)
        names = [name for name in ours if theirs.get(name) != ours[name]] or sorted(set(theirs) - set(ours))
        if names:
            words = ", ".join(_option(name, theirs.get(name)) for name in names)
            raise InputError(
                f"folder {str(folder)!r} holds {holds} with other options ({words}); "
                "name another, or start over with force=True"
            )


@dataclass(frozen=True, kw_only=True)
class Scaled(Study[Outcome]):
    """A study that can be run at several scales, of which it has a table.

    Args:
        scale: The word of a scale.
        seed: The seed of all random numbers.
    """

    word: ClassVar[str] = "scale"
    SCALES: ClassVar[dict[str, Scale]]

    scale: str = "quick"
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", checks.one_of("scale", self.scale, self.SCALES))
        object.__setattr__(self, "seed", checks.integer("seed", self.seed, 0, MAX_SEED))

    @property
    def size(self) -> Scale:
        """The scale."""
        return self.SCALES[self.scale]

    def made(self, stages: Stages) -> dict[str, Any]:
        """Return the fields of an outcome that say how it was made; some have an engine for each part."""
        engine = stages.runner.engine
        made = {
            "version": __version__, "seed": self.seed, "engine": engine,
            "machine": engines.machine_of(engine), "seconds": stages.seconds,
        }  # fmt: skip
        known = {one.name for one in fields(self.report_class.of)}
        return {name: value for name, value in made.items() if name in known}

    def asked(self) -> dict[str, Any]:
        """Return the options that decide the results, ready for JSON."""
        return {"scale": self.scale, "seed": self.seed}


@dataclass(frozen=True, kw_only=True)
class Based(Scaled[Outcome]):
    """A study that begins with a maze, a network and the readings in force.

    Args:
        elites: As in `evolve`.
        settings: Network, steps and readings.
        maze: The maze.
    """

    elites: str = GeneticAlgorithm.elites
    settings: Settings
    maze: Maze

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "elites", checks.one_of("elites", self.elites, ELITES))
        checks.instance("settings", self.settings, Settings, "a Settings")
        checks.instance("maze", self.maze, Maze, "a Maze")

    def asked(self) -> dict[str, Any]:
        """Return the options that decide the results, ready for JSON."""
        return {
            "scale": self.scale,
            "elites": self.elites,
            "seed": self.seed,
            "settings": self.settings.to_dict(),
            "maze": list(self.maze.picture),
            "heading": self.maze.heading,
        }


def _option(name: str, value: object) -> str:
    """Return the name of an option, with its value if that is short; a maze by its name."""
    known = {} if name != "maze" else {word: list(maze(word).picture) for word in MAZES}
    word = next((word for word, picture in known.items() if picture == value), value)
    return f"{name} {word}" if isinstance(word, str | int) else name


def _flat(asked: dict[str, Any]) -> dict[str, Any]:
    """Return all options side by side."""
    settings = asked.get("settings")
    return {
        **{name: value for name, value in asked.items() if name != "settings"},
        **(settings if isinstance(settings, dict) else {"settings": settings}),
    }
