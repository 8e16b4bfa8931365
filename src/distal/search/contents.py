"""The contents of a folder of runs, checked: to resume it, to summarise it, to take its finalists."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from distal.base.checks import InputError, integer
from distal.learners import from_embedded
from distal.search.config import Config
from distal.search.genotypes import Finalists, Genotypes
from distal.search.results import Winner, check_winners
from distal.search.run_folder import damaged, read_run
from distal.search.search import Search


class Contents(NamedTuple):
    """The contents of a folder.

    Attributes:
        config: The configuration.
        searches: The runs, in the generation that was recorded last.
        winners: The winners, or None if it is not finished.
    """

    config: Config
    searches: list[Search]
    winners: tuple[Winner, ...] | None = None


def contents_of(folder: Path, stored: dict[str, Any], state: dict[str, Any] | None) -> Contents:
    """Return an evolution from config.json and state.json, which is None before the first generation.

    Raises:
        InputError: If something in them is wrong; it names the file in the folder.
    """
    with damaged(folder / "config.json"):
        config = Config.from_dict(stored)
    searches, winners = config.begin_runs(), None
    if state is None:
        return Contents(config, searches)
    with damaged(folder / "state.json"):
        for search, entry in zip(searches, state["runs"], strict=True):
            search.restore(entry)
        generation = integer("generation", searches[0].generation, 0, config.generations)
        if any(search.generation != generation for search in searches):
            raise InputError("its runs are in different generations")
        if state["winners"] is not None:
            if generation < config.generations:
                raise InputError(f"it has winners before generation {config.generations}")
            winners = tuple(map(Winner.from_dict, state["winners"]))
            check_winners(winners, config, generation)
    return Contents(config, searches, winners)


def finalists_in(out: str | Path, count: int) -> list[Finalists]:
    """Return at most `count` finalists of every run in a folder, without changing it.

    Raises:
        InputError: If the folder is damaged or holds no generation yet.
    """
    stored, state, _ = read_run(out)
    return [search.finalists(count) for search in contents_of(Path(out), stored, state).searches]


def summary(out: str | Path) -> dict[str, Any]:
    """Return a summary of a folder of runs, without changing it."""
    stored, state, _ = read_run(out)
    config, searches, winners = contents_of(Path(out), stored, state)
    names = ("remeasured", "standard_error", "chance", "chance_standard_error", "p", "superiority")
    genes = config.gene_names
    found = [winner.to_dict() for winner in winners] if winners else [{} for _ in searches]
    core = config.search.core
    return {
        "learner": config.learner,
        "task": config.task.label,
        "seed": config.seed,
        "search": core.name,
        "elites": core.to_dict().get("elites"),
        "options": config.options,
        "fitness": config.fitness,
        "neurons": config.settings.neurons,
        "network": config.settings.network,
        "switch": None if config.switch is None else str(config.switch),
        "generations": config.generations,
        "done": searches[0].generation if state else None,
        "finished": winners is not None,
        "runs": [
            {
                "run": count,
                "best": winner.get("selected", search.best_fitness),
                "found_in_generation": winner.get("generation", search.best_generation),
                **{name: winner.get(name) for name in names},
                "genes": dict(zip(genes, _leading(config, search, winner).genes[0], strict=True)),
            }
            for count, (search, winner) in enumerate(zip(searches, found, strict=True), start=1)
            if state
        ],
    }


def _leading(config: Config, search: Search, winner: dict[str, Any]) -> Genotypes:
    """Return the genotype of a run's winner, or of its leader while there is no winner."""
    if winner and config.finalists:
        own = from_embedded(winner["learner"]).named("")
        genotypes = search.finalists(config.finalists).genotypes
        for place, learner in enumerate(config.decode(genotypes)):
            if learner.named("") == own:
                return genotypes[[place]]
    return search.current()[2]
