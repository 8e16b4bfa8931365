"""The common features of several rules: row by row, weighted by how often each rule uses the row.

A rule's change in a row that it never uses means nothing; evolution leaves it to drift. So
rules are compared by their behaviour: the distance of two rules is the share of updates that
they would make differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, one_of, sequence
from distal.base.display import html_table, or_dash
from distal.base.drawing import axes_or_new
from distal.base.folders import inside
from distal.base.frames import frame, frame_of_rows
from distal.base.frozen import Frozen
from distal.evaluation import row_figures
from distal.evaluation.inspection import CHANGES, checked_rule, listed
from distal.evaluation.result import Result
from distal.evaluation.usage import Usage
from distal.learners.dsp import Rule
from distal.learners.shipped import SHIPPED, is_there, shipped_rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

SHARED = 0.8  # the agreement from which on a row counts as shared,
USED = 0.01  # if it is used at least so often
RANDOM = 4 / 9  # the distance of two rules whose changes are drawn at random
_CUT = RANDOM / 2  # rules that are nearer than this form a cluster
_SCORES = ("cluster", "fitness", "standard_error", "chance")  # of a rule, in JSON
CLUSTERS = (
    f"rules of a cluster would make fewer than {_CUT:.0%} of their updates differently, on average; "
    f"random rules {RANDOM:.0%}"
)


@dataclass(frozen=True, eq=False)
class RuleSet(Frozen):
    """The common features of several rules.

    Attributes:
        rules: The rules.
        results: The evaluation of each, with chance.
        usages: The use of rows by each rule.
    """

    rules: tuple[Rule, ...]
    results: tuple[Result, ...]
    usages: tuple[Usage, ...]

    @cached_property
    def use(self) -> NDArray[np.float64]:
        """The use of each row, the mean over the rules, (32)."""
        mean: NDArray[np.float64] = self._uses.mean(axis=0)
        return mean

    @property
    def consensus(self) -> NDArray[np.float64]:
        """The mean change of each row, each rule weighted by how often it uses the row, (32).

        It is from −1 to 1, and 0 in a row that no rule uses.
        """
        return self._agreed[0]

    @property
    def agreement(self) -> NDArray[np.float64]:
        """The share of the weight behind the most frequent change of each row, (32)."""
        return self._agreed[1]

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """The share of updates that two rules would make differently, (rules, rules)."""
        return distances(self._changes, self._uses)

    @property
    def clusters(self) -> tuple[int, ...]:
        """The cluster of each rule, from 1.

        Rules of one cluster are nearer to one another, on average, than half the distance of random rules.
        """
        return self._clustered[0]

    @property
    def order(self) -> tuple[int, ...]:
        """The rules, from 0, in the order in which the clusters join them."""
        return self._clustered[1]

    @cached_property
    def _agreed(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return consensus(self._changes, self._uses)

    @cached_property
    def _clustered(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return clustered(self.distances)

    @property
    def _changes(self) -> NDArray[np.int64]:
        return np.array([rule.delta_w for rule in self.rules])

    @property
    def _uses(self) -> NDArray[np.float64]:
        return np.array([usage.rows for usage in self.usages])

    def __repr__(self) -> str:
        fitness = float(np.mean([one.fitness for one in self.results]))
        by_chance = [one.chance.fitness for one in self.results if one.chance is not None]
        chance = float(np.mean(by_chance)) if by_chance else None
        return (
            f"RuleSet({len(self.rules)} rules: mean fitness {fitness:z.2f}, chance {or_dash(chance)}; "
            f"{len(self.shared)} rows shared, {len(set(self.clusters))} clusters)"
        )

    def _repr_html_(self) -> str:
        rows = [
            (row["rule"], row["cluster"], f"{row['fitness']:z.2f}", or_dash(row["chance"]))
            for row in self._rows()
        ]
        title = f"{len(self.rules)} rules; rows on which they agree: {listed(self.shared)}"
        return html_table(title, ("rule", "cluster", "fitness: mean best EP", "chance"), rows)

    def _rows(self) -> list[dict[str, Any]]:
        """Return the row of each rule in a table."""
        return [
            {
                "rule": name, "cluster": cluster, "fitness": result.fitness,
                "standard_error": result.standard_error,
                "chance": result.chance_fitness, **rule.numbers,
            }
            for name, cluster, result, rule in zip(
                self.names, self.clusters, self.results, self.rules, strict=True
            )
        ]  # fmt: skip

    def to_frame(self, what: str = "rules") -> DataFrame:
        """Return a pandas DataFrame with one row for each rule, or ("rows") for each row of their tables."""
        if one_of("what", what, ("rules", "rows")) == "rules":
            return frame_of_rows(self._rows())
        rows = np.arange(len(self.use))
        columns = {"use": self.use, "consensus": self.consensus, "agreement": self.agreement}
        return frame({"row": rows, **columns, "shared": np.isin(rows, self.shared)})

    @property
    def names(self) -> list[str]:
        """The names of the rules; numbers for rules without a name."""
        return [rule.name or f"rule {k}" for k, rule in enumerate(self.rules, start=1)]

    @property
    def shared(self) -> tuple[int, ...]:
        """The rows on which the rules agree, by 80% of the weight or more, if 1% of updates use them."""
        return tuple(
            int(row)
            for row in np.argsort(-self.use, kind="stable")
            if self.use[row] >= USED and self.agreement[row] >= SHARED
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and every setting that made them, ready for JSON."""
        own = self.results[0].to_dict()
        kept = (
            "episodes", "trials", "resample", "seed", "engine", "hidden", "steps", "maze", "heading", "task",
        )  # fmt: skip
        return {
            "rules": [
                {
                    "rule": rule.to_dict(), **{name: row[name] for name in _SCORES},
                    "usage": usage.rows.tolist(),
                }
                for rule, row, usage in zip(self.rules, self._rows(), self.usages, strict=True)
            ],
            "use": self.use.tolist(),
            "consensus": self.consensus.tolist(),
            "agreement": self.agreement.tolist(),
            "shared": list(self.shared),
            "distances": self.distances.tolist(),
            "order": list(self.order),
            **{name: own[name] for name in kept if name in own},
        }  # fmt: skip

    @property
    def findings(self) -> tuple[tuple[str, str], ...]:
        """The findings, as the rows of a table; `CLUSTERS` is its caption."""
        apart = self.distances[np.triu_indices(len(self.rules), 1)]
        groups = [
            ", ".join(name for name, its in zip(self.names, self.clusters, strict=True) if its == cluster)
            for cluster in sorted(set(self.clusters))
            if self.clusters.count(cluster) > 1
        ]
        return (
            ("rules", str(len(self.rules))),
            ("mean distance of two rules", f"{apart.mean():z.2f}"),
            ("distance of random rules", f"{RANDOM:z.2f}"),
            ("rows shared, most used first", listed(self.shared)),
            ("clusters of several rules", "; ".join(groups) or "none"),
        )

    def summary(self) -> str:
        """Return the findings in a few lines of text."""
        return "\n".join(f"{about}: {finding}" for about, finding in self.findings)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the changes of all rules, paler if they are used less; the consensus is the last column.

        Args:
            ax: Where to draw; on a new figure if left out.

        Returns:
            The axes, with `figure.savefig` to write them to a file.
        """
        on = axes_or_new(ax, 5, 6)
        order, names = list(self.order), [self.names[k] for k in self.order]
        row_figures.rule_set(on, self._changes[order].T, self._uses[order].T, names, self.consensus, self.use)
        return on


def find_rules(given: object) -> tuple[Rule, ...]:
    """Return the rules that names, folders or lists stand for.

    Args:
        given: "paper", "evolved" or "champion"; a folder that `distal evolve` wrote, or one with
            rule files; a rule, its name or its file; or a list of these.

    Raises:
        InputError: If there is no such rule, or a folder has none.
    """
    if isinstance(given, str | Path):
        if str(given) in SHIPPED:
            return shipped_rules(str(given))
        if is_there(given) and Path(given).is_dir():
            return _in_folder(Path(given))
    if isinstance(given, str | Path | Rule):
        return (checked_rule(given),)
    each = sequence("rules", given, "a list of rules, 'paper', 'evolved', 'champion', or a folder")
    if not each:
        raise InputError("rules is empty, expected one rule or more")
    named = (str, Path)
    return tuple(
        rule for one in each for rule in (find_rules(one) if isinstance(one, named) else (checked_rule(one),))
    )


def _in_folder(folder: Path) -> tuple[Rule, ...]:
    """Return the winners of a folder of runs, or the rules in its files."""
    inner = folder / "winners"
    files = sorted((inner if inner.is_dir() else folder).glob("*.json"))
    if inner.is_dir():
        files = [inside(folder, f"winners/{file.name}") for file in files]
    if not files:
        raise InputError(f"{str(folder)!r} holds no rules: neither winners/ of distal evolve nor rule files")
    return tuple(checked_rule(file) for file in files)


def consensus(
    table: NDArray[np.int64], use: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean change of each row, weighted by use, and the share of the weight behind one change.

    `table` and `use` are (rules, 32). A row that no rule uses has the mean 0 and the agreement 0.
    """
    whole = np.maximum(use.sum(axis=0), np.finfo(np.float64).tiny)
    behind = np.stack([(use * (table == change)).sum(axis=0) for change in CHANGES])
    return (use * table).sum(axis=0) / whole, behind.max(axis=0) / whole


def distances(table: NDArray[np.int64], use: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of updates that two rules would make differently, (rules, rules).

    A row weighs what the two use it on average; opposite changes differ wholly, a change
    and none by half.
    """
    weight = (use[:, None] + use[None]) / 2
    apart: NDArray[np.float64] = (weight * np.abs(table[:, None] - table[None]) / 2).sum(axis=-1)
    return apart


def clustered(apart: NDArray[np.float64]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the cluster of each rule, from 1, and the order in which average linkage joins them."""
    from scipy.cluster import hierarchy  # noqa: PLC0415 - takes half a second
    from scipy.spatial.distance import squareform  # noqa: PLC0415

    joined = hierarchy.linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    order = tuple(hierarchy.leaves_list(joined).tolist())
    raw: Sequence[int] = hierarchy.fcluster(joined, _CUT, "distance").tolist()
    numbers: dict[int, int] = {}
    for k in order:  # number them as they follow one another
        numbers.setdefault(raw[k], len(numbers) + 1)
    return tuple(numbers[one] for one in raw), order
