"""Code from outside Distal: modules imported by name, and the plug-ins of installed packages.

Learners, networks, searches and tasks of other people are known when the module that registers them
has been imported. `import_named` does so for a name that a person gave, `load_installed` for the
entry points of installed packages. Files name the module that something came from, but reading a
file imports nothing: if a module is needed, `unknown` names it.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

from distal.base.checks import InputError, one_of, shown, suggestion, text

LEARNERS, TASKS, NETWORKS, SEARCHES = (
    f"distal.{room}" for room in ("learners", "tasks", "networks", "searches")
)
NOWHERE = "__main__"  # the module of what was typed into a notebook
_LONGEST = 200

# For each group of entry points, what makes known an object that one of them names.
registrars: dict[str, Callable[[str, Any], object]] = {}

_imported: dict[str, str] = {}  # the modules that were asked for, and the folder they were asked for in
_noted: dict[str, None] = {}  # the modules of what was registered
_loaded: set[str] = set()  # the groups whose entry points have been looked at
_log = logging.getLogger("distal")


class NotImportedError(InputError):
    """Something that Distal does not have, and no module that was imported has registered."""


def module_of(thing: Any) -> str | None:
    """Return the module that a class or a function came from; None if it is Distal's own.

    A script is named as the module that its file would be.
    """
    name = str(getattr(thing, "__module__", None) or NOWHERE)
    if name.partition(".")[0] == "distal":
        return None
    if name not in (NOWHERE, "__mp_main__"):
        return name
    main = sys.modules.get(NOWHERE)
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None:
        return str(spec.name)
    stem = Path(file).stem if isinstance(file, str) else ""
    return stem if stem.isidentifier() else NOWHERE


def note(thing: Any) -> None:
    """Remember the module of something that was registered, so that workers import it too."""
    name = module_of(thing)
    if name is not None and getattr(thing, "__module__", None) == name:
        _noted[name] = None


def unknown(what: str, word: object, module: object) -> NotImportedError:
    """Return the refusal of something that a file names and nothing has registered here.

    Args:
        what: What it is, as "learner kind".
        word: The word for it.
        module: The module that the file says it came from, or None.
    """
    begin = f"{what} {shown(word)} is not known here"
    if module is None:
        return NotImportedError(
            f"{begin}, and the file does not say which module it came from: import its module first"
        )
    name = text("module", module, _LONGEST)
    if name == NOWHERE:
        return NotImportedError(
            f"{begin}; it was typed into a session: write it into a module, and import that"
        )
    if name in sys.modules:
        return NotImportedError(f"{begin}; it came from module {name}, which does not register it any more")
    return NotImportedError(f"{begin}; it came from module {name}: import {name} first")


def registered(what: str, word: object, known: Iterable[str]) -> str:
    """Return a word if it is known; else refuse it, and say how a word of one's own becomes known."""
    words = tuple(known)
    if isinstance(word, str) and word not in words:
        near = suggestion(word, words)
        raise InputError(
            f"{what} is {shown(word)}, expected one of {', '.join(words)}{near}{of_your_own(what, near)}"
        )
    return one_of(what, word, words)


def of_your_own(what: str, before: str = "") -> str:
    """Return how something of one's own becomes known, for the end of a refusal, after "did you mean …?"."""
    article = "an" if what[0] in "aeiou" else "a"
    begin = f" {article.capitalize()}" if before else f"; {article}"
    return f"{begin} {what} of your own is known when its module has been imported"


# ------------------------------------------------------------------ modules by name


def import_named(name: object) -> None:
    """Import a module that a person named; one in the current folder comes first, as with `python -m`.

    Args:
        name: The name, as "my_module" or "package.module".

    Raises:
        InputError: If there is none, or it fails.
    """
    word = text("module", name, _LONGEST)
    stem, file = Path(word).stem, word.endswith(".py")
    if file or not all(part.isidentifier() for part in word.split(".")):
        instead = f"; write {stem}" if file and word == f"{stem}.py" and stem.isidentifier() else ""
        raise InputError(
            f"{shown(word)} is not the name of a module, expected one such as my_module "
            f"or package.module{instead}"
        )
    folder = _here()
    with _first(folder), _failing(word, folder):
        module = import_module(word)
    _check_own(word, module, folder)
    _imported[word] = folder


def imported() -> tuple[str, ...]:
    """Return the modules that `import_named` has imported."""
    return tuple(_imported)


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError as error:
        raise InputError(f"cannot use the current folder: {error.strerror}") from None


@contextmanager
def _first(folder: str) -> Iterator[None]:
    """Look into a folder first; later after all others, so that no file in it hides a package."""
    there = folder in sys.path or ("" in sys.path and folder == _here())
    sys.path.insert(0, folder)
    invalidate_caches()
    try:
        yield
    finally:
        with suppress(ValueError):  # the module may have changed it
            sys.path.remove(folder)
        if not there:
            sys.path.append(folder)


@contextmanager
def _failing(name: str, folder: str) -> Iterator[None]:
    """Turn whatever happens in an import into one line."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = str(error.name)
        if name != missing and not name.startswith(f"{missing}."):
            raise InputError(f"module {name} needs {missing}, which is not installed") from None
        near = suggestion(name, (path.stem for path in Path(folder).glob("*.py")))
        raise InputError(
            f"there is no module {name}: no file {name.replace('.', '/')}.py in this folder, "
            f"and no installed package{near}"
        ) from None
    except SystemExit:
        raise InputError(
            f"module {name} ends the program when it is imported; put its program under "
            'if __name__ == "__main__":'
        ) from None
    except Exception as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        what = getattr(error, "msg", what) if isinstance(error, SyntaxError) else what
        raise InputError(f"module {name} cannot be imported{_line_of(error)}: {what}") from None


def _line_of(error: BaseException) -> str:
    """Say in which file and line of theirs an import failed."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f" ({Path(error.filename).name}, line {error.lineno})"
    place, trace = "", error.__traceback__
    own = str(Path(__file__).parents[1])
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(("<frozen", own)) and os.sep in file and "importlib" not in file:
            place = f" ({Path(file).name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return place


def _check_own(name: str, module: object, folder: str) -> None:
    """Refuse another module than the one in the folder."""
    own = Path(folder, *name.split(".")).with_suffix(".py")
    file = getattr(module, "__file__", None)
    if own.is_file() and (file is None or Path(file).resolve() != own.resolve()):
        raise InputError(
            f"module {name} is Python's own or an installed one, and not the {own.name} in this folder; "
            "give your file another name"
        )


# ------------------------------------------------------------------ installed packages


def load_installed(group: str | None = None) -> None:
    """Register what the entry points of installed packages name; one that fails is passed over, in a line.

    Args:
        group: The group, as `LEARNERS`; all that can be registered by now if left out.
    """
    groups = [one for one in (registrars if group is None else (group,)) if one not in _loaded]
    if not groups:
        return
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes longer than most commands that need none

    _loaded.update(groups)
    for one in groups:
        for point in entry_points(group=one):
            try:
                registrars[one](point.name, point.load())
            except Exception as error:
                package = getattr(point.dist, "name", "an installed package")
                _log.warning(
                    "plug-in %s of %s is left out: %s: %s", point.name, package, type(error).__name__, error
                )


# ------------------------------------------------------------------ workers


class Carried:
    """The modules that a worker imports before it reads anything else that it is sent.

    Pickle reads the arguments of a call in order. So this one stands before all that is made of
    classes in those modules.
    """

    def __init__(self) -> None:
        self.modules, self.folders = (*_imported, *_noted), tuple(dict.fromkeys(_imported.values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.modules, self.folders)


def _arrived(modules: tuple[str, ...], folders: tuple[str, ...]) -> None:
    """Import modules on a worker; where that fails, what needs them will say so."""
    for name in modules:
        with suppress(Exception):
            import_there((name,), folders)


def import_there(modules: tuple[str, ...], folders: tuple[str, ...]) -> None:
    """Import modules on a worker, from the same folders as here if it has them."""
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    for name in modules:
        if name not in sys.modules:
            import_module(name)


def asked_for() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the modules that were imported by name, and their folders: what `import_there` takes."""
    return tuple(_imported), tuple(dict.fromkeys(_imported.values()))
