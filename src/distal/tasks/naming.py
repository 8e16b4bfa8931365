"""Functions and classes by name, "module:function", and which of them a file may have imported.

A name that a person types is imported, from the current folder too. A name in a file is imported
only if its module is part of an installed package, lies in a folder on PYTHONPATH, or is imported
already: reading a file from a stranger runs none of their code.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from distal.base.checks import InputError, shown, text

_WORD = r"[^\W\d]\w*"
_NAME = re.compile(rf"{_WORD}(\.{_WORD})*:{_WORD}(\.{_WORD})*")


def is_name(given: object) -> bool:
    """Say whether something has the form module:function."""
    return isinstance(given, str) and _NAME.fullmatch(given) is not None


def function_of(what: str, name: str) -> Callable[..., Any]:
    """Import a function or a class, as "module:function"; `what` it is for stands in a refusal."""
    what, name = text("what", what), text("name", name)
    if not is_name(name):
        raise InputError(f"{what} is {shown(name)}, expected a name such as 'my_module:my_function'")
    module, _, inner = name.partition(":")
    found: Any = _module(what, module, name)
    for word in inner.split("."):
        if not hasattr(found, word):
            near = difflib.get_close_matches(word, dir(found), n=1) or [
                one for one in dir(found) if one.lower().startswith(word.lower())
            ]
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(f"{what} is {shown(name)}, but there is no {word!r} in {module}{hint}")
        found = getattr(found, word)
    if not callable(found):
        raise InputError(f"{what} is {shown(name)}, which is {shown(found)}, expected a function or a class")
    return found  # type: ignore[no-any-return]


def look_here() -> None:
    """Let modules in the current folder be found."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # the last: it hides nothing; and it stays, for processes that work along


def _module(what: str, module: str, name: str) -> Any:
    look_here()
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise InputError(f"{what} is {shown(name)}, which needs {error.name}: pip install it") from None
        raise InputError(
            f"{what} is {shown(name)}, but there is no module {error.name!r} here; pip install its package, "
            "or go to the folder that it is in"
        ) from None
    except Exception as error:  # a module may raise anything
        line = str(error).partition("\n")[0]
        raise InputError(
            f"{what} is {shown(name)}, and its module fails: {type(error).__name__}: {line}"
        ) from None


def name_for(thing: Any) -> str | None:
    """Return the name that a function or class is imported by; None if it has none."""
    module, inner = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    name = f"{module}:{inner}"
    return name if is_name(name) and module != "__main__" else None


def may_be_imported(name: str) -> bool:
    """Say whether a file may have a name imported: of an installed package, or imported, or in PYTHONPATH."""
    return is_name(name) and is_trusted(name.partition(":")[0])


def is_trusted(module: str) -> bool:
    """Say whether a file may have a module imported: that of a function, or of an environment."""
    if module.partition(".")[0] in sys.stdlib_module_names:
        return False
    if module in sys.modules or package_of(module)[1] is not None:
        return True
    trusted = {Path(one).resolve() for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one}
    top = module.partition(".")[0]
    return any((folder / f"{top}.py").is_file() or (folder / top).is_dir() for folder in trusted)


def package_of(module: str) -> tuple[str | None, str | None]:
    """Return the installed package that a module is in, and its version; a module of no package has none.

    Args:
        module: The module, or an entry point, as "package.module:Class".
    """
    top = module.partition(":")[0].partition(".")[0]
    if not top:
        return None, None
    try:
        return top, importlib.metadata.version(top)
    except (importlib.metadata.PackageNotFoundError, ValueError):  # called otherwise
        found = _packages().get(top)
        return (found[0], importlib.metadata.version(found[0])) if found else (top, None)


@cache
def _packages() -> Mapping[str, list[str]]:
    """Return the installed packages by the modules that are in them; to look takes a quarter of a second."""
    return importlib.metadata.packages_distributions()
