"""The studies by the words for their commands, and the reports of their outcomes.

A file in `plans/` is a study that comes with the package: `titles` reads its name and its first line,
and only the file of the study that is wanted is imported. A study of your own is known when its module
has been imported. Either file registers its class with `register`.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from distal.base import plugins
from distal.base.checks import InputError, folder, shown

if TYPE_CHECKING:
    from distal.studies.study import Study

_PLANS = Path(__file__).parent / "plans"
_known: dict[str, type[Study[Any]]] = {}  # all that have been imported

S = TypeVar("S", bound="type[Study[Any]]")


def register(study: S) -> S:
    """Register a study under its name, which is the word for its command.

    Args:
        study: A frozen dataclass, a subclass of `Study`; a decorator takes it too.

    Returns:
        The same class.

    Raises:
        InputError: If it is no study, or another one has its name.
    """
    from distal.studies.study import Study  # noqa: PLC0415 - the command line reads titles without it

    given: object = study
    if not inspect.isclass(given) or not issubclass(given, Study) or not is_dataclass(given):
        raise InputError(f"study is {shown(given)}, expected a frozen dataclass that is a subclass of Study")
    if inspect.isabstract(given):
        missing = ", ".join(sorted(given.__abstractmethods__))
        raise InputError(f"study {shown(given.__name__)} lacks {missing}; define what is missing")
    word = getattr(given, "name", None)
    if not isinstance(word, str) or not word.isidentifier():
        raise InputError(f"name of study {given.__name__} is {shown(word)}, expected one word such as mazes")
    if _known.get(word, given) is not given or (word in _shipped() and plugins.module_of(given) is not None):
        raise InputError(f"there is a study {word!r} already; choose another name")
    _known[word] = study
    plugins.note(study)
    return study


def _shipped() -> list[str]:
    """Return the words of the studies that come with the package."""
    return sorted(path.stem for path in _PLANS.glob("[!_]*.py"))


def titles() -> dict[str, str]:
    """Return the help of every study, in a line, by its word; none is imported."""
    found = {}
    for word in _shipped():
        with (_PLANS / f"{word}.py").open(encoding="utf-8") as source:
            found[word] = _synopsis(source.readline())
    own = {word: sys.modules[study.__module__].__doc__ for word, study in _known.items() if word not in found}
    return {**found, **{word: _synopsis(text or word) for word, text in own.items()}}


def _synopsis(docstring: str) -> str:
    """Return the first line of a docstring as the help of a command."""
    line = docstring.strip().strip('"').splitlines()[0].rstrip(".")
    return line[:1].lower() + line[1:]


def find_study(word: str) -> type[Study[Any]]:
    """Return the study of a word in `titles`."""
    if word not in _known:
        import_module(f"distal.studies.plans.{word}")
    return _known[word]


def all_studies() -> list[type[Study[Any]]]:
    """Return all studies; those that come with the package are imported."""
    return [find_study(word) for word in titles()]


def write_report(result: Any, out: str | Path) -> Path:
    """Write figures, tables, numbers and the page into a folder; return the path of the page.

    Args:
        result: The outcome of a study, as `reproduce`, `study_readings`, `study_tasks`, `study_beyond`,
            `study_rivals` or `champions` returns it.
        out: The folder of the work itself, or any that holds no file of these names.

    Raises:
        InputError: If the result is something else, or the folder cannot be used.
    """
    out = folder("out", out)
    for study in all_studies():
        if isinstance(result, study.report_class.of):
            return study.report_class(result).write(out)
    raise InputError(
        f"result is a {type(result).__name__}, expected the result of reproduce, study_readings, "
        "study_tasks, study_beyond or study_rivals"
    )
