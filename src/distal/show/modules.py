"""The JavaScript of a page: modules that import one another, joined into one script.

The files in `page/` are ES modules. A page is one file that opens from disk, so they are joined:
each comes after the modules that it imports, without its imports and exports. They share one
scope, in which every name is defined once.
"""

from __future__ import annotations

import re
from importlib import resources

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=function|const|let|class)", re.MULTILINE)


def asset(name: str) -> str:
    """Return a file of the page."""
    return (resources.files("distal.show") / "page" / name).read_text(encoding="utf-8")


def modules(*wanted: str) -> list[str]:
    """Return the names of modules and of all that they import, each after those that it imports."""
    order: list[str] = []

    def visit(name: str, importing: tuple[str, ...]) -> None:
        if name in importing:
            raise ValueError(f"modules import one another in a ring: {' → '.join((*importing, name))}")
        if name not in order:
            for imported in _IMPORT.findall(asset(f"{name}.js")):
                visit(imported, (*importing, name))
            order.append(name)

    for name in wanted:
        visit(name, ())
    return order


def joined(*wanted: str) -> str:
    """Return one script of some modules and all that they import."""
    sources = (asset(f"{name}.js") for name in modules(*wanted))
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", source)) for source in sources)
