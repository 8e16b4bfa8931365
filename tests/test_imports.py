"""The packages import one another in one direction, and nothing is imported late without a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import distal

ROOT = Path(distal.__file__).parent

# Each may import itself and what stands before it. All may import the version, none the front door.
ORDER = (
    "_version", "base", "model", "tasks", "networks", "learners", "engines", "evaluation", "search",
    "studies", "show", "bench", "cli", "front door",
)  # fmt: skip

# What may be imported in a function: the module that does it, what it imports, and why.
LATE = {
    ("base.checks", "numpy"): "takes 0.1 s, and a command that only prints its help has no array to check",
    ("base.machine", "importlib"): "importlib.metadata takes 0.03 s; only reports need it",
    ("base.plugins", "importlib"): "importlib.metadata takes 0.03 s; only a word that is not known needs it",
    ("base.progress", "rich"): "only a terminal needs it",
    ("base.drawing", "matplotlib"): "takes a third of a second; only figures need it",
    ("base.frames", "pandas"): "an extra",
    ("base.significance", "scipy"): "takes half a second; only tests and intervals need it",
    ("tasks.environment", "distal.tasks.pixels"): "imports Pillow",
    ("evaluation.row_figures", "matplotlib"): "takes a third of a second; only figures need it",
    ("evaluation.rule_set", "scipy"): "takes half a second; only clusters need it",
    ("evaluation.usage", "distal.engines.cpu.counting"): "imports Numba",
    ("engines.cluster", "dask"): "an extra",
    ("engines.cluster", "distributed"): "an extra",
    ("engines.gpu.cards", "cupy"): "an extra",
    ("studies.figures", "matplotlib"): "takes a third of a second; only reports need it",
    ("studies.reading_figures", "matplotlib"): "likewise",
    ("studies.reproduction_figures", "matplotlib"): "likewise",
    ("studies.beyond_figures", "matplotlib"): "likewise",
    ("studies.registry", "distal.studies.study"): "imports NumPy; the command line reads titles without it",
    ("search.cma", "cmaes"): "an extra",
    ("show.film", "imageio_ffmpeg"): "an extra",
    ("tasks.actions", "gymnasium"): "an extra",
    ("bench.steps", "gymnasium"): "an extra",
    ("tasks.compiled_task", "numba"): "takes a moment; only tasks of this kind need it",
    ("tasks.gym", "gymnasium"): "an extra",
    ("tasks.sources", "gymnasium"): "an extra",
    ("tasks.spaces", "gymnasium"): "an extra",
    ("tasks.tabulation", "gymnasium"): "an extra",
    ("cli", "distal.engines"): "imports NumPy; only commands that run trials need it",
    ("cli", "distal.engines.spread"): "imports NumPy; only a command that fails needs it",
    ("cli", "distal.cli.spelling"): "likewise",
    ("cli", "distal.cli.terminal"): "imports rich; likewise",
    ("cli.options", "distal.engines.cluster"): "imports multiprocessing; only --cluster needs it",
    ("cli.inspect", "distal.show.inspection_page"): "imports the figures; no other command needs them",
    ("cli.watch", "distal.show.film"): "imports Pillow",
    ("cli.watch", "distal.show.scenes"): "imports Pillow",
    ("cli.watch", "distal.show.watch"): "stands beside the film; no other command needs it",
}  # fmt: skip


@cache
def modules() -> dict[str, ast.Module]:
    """Return the source of every module, by its name: `distal.model.maze`, `distal.engines` for a package."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = ("distal", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text())
    return found


def imports(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield what a module imports, by the name of the module, and whether it does so in a function.

    What is imported for types alone is left out: it never happens.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "an import that is not absolute"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner if inner in modules() else str(node.module)), False
        late = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from ((name, late or inner) for name, inner in imports(node))


@cache
def imported() -> dict[str, list[tuple[str, bool]]]:
    """Return what every module imports."""
    return {module: list(imports(tree)) for module, tree in modules().items()}


def place(module: str) -> int:
    """Return where the package of a module stands in the order."""
    front = module in ("distal", "distal.__main__")
    return ORDER.index("front door" if front else module.split(".")[1])


def test_a_module_imports_only_from_its_own_package_and_those_before_it() -> None:
    assert [
        f"{module} imports {name}"
        for module, found in imported().items()
        for name, _ in found
        if name in modules() and place(name) > place(module)
    ] == []


def test_no_module_imports_itself_through_others_be_it_late() -> None:
    graph = {
        module: {name for name, _ in found if name in modules() and name != module}
        for module, found in imported().items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_one_table_tells_the_engines_which_learners_they_have_code_for() -> None:
    own = {f"distal.learners.{name}" for name in ("dsp", "rule", "hill_climbing", "chance")}
    assert [
        module
        for module, found in imported().items()
        if module.startswith("distal.engines") and own & {name for name, _ in found}
    ] == ["distal.engines.compiled_engine"]


def test_what_is_imported_in_a_function_has_a_reason() -> None:
    late = {
        (module.removeprefix("distal."), name if name in modules() else name.split(".")[0])
        for module, found in imported().items()
        for name, inside in found
        if inside
    }
    assert late == set(LATE)
