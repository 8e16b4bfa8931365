"""CMA-ES with margin, for discrete and continuous genes together. Needs the extra `cma`.

Hamano, Saito, Nomura, Shirakawa: "CMA-ES with Margin: Lower-Bounding Marginal
Probability for Mixed-Integer Black-Box Optimization" (GECCO 2022), as the package cmaes
has it. It draws genotypes from a normal distribution, rounds the discrete genes, and
moves the distribution towards the better ones.

The optimizer is rebuilt from its distribution in every generation, and its generator
seeded from the run's seed and the generation. So a resumed run is the same to the bit as
one that never stopped. It uses the linear algebra of the machine, though: another machine,
or another release of NumPy, may give other last digits, and from there another run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, integer, number, unit_interval
from distal.model.draws import child_seed
from distal.search.genotypes import Genotypes
from distal.search.search import Algorithm, Search, entry, listed

_SAMPLE = 20  # the part of a run's seed that seeds a generation's samples
SMALLEST = 4  # a population that the update of the distribution needs

# A discrete gene has three values, one apart, a continuous one the range of 1: as shares of the
# range, both begin equally wide.
_WIDTH = 3.0

# The parts of a distribution, in our words and in the library's.
_ARRAYS = {
    "mean": "_mean", "covariance": "_C", "step_path": "_p_sigma", "path": "_pc",
    "extremes": "_funhist_values",
}  # fmt: skip

_Distribution = dict[str, Any]  # the arrays above, sigma, updates, and the scale of discrete genes


@dataclass(frozen=True)
class CMA(Algorithm):
    """CMA-ES with margin (Hamano et al., GECCO 2022). Needs the extra `cma`.

    When the distribution has converged, as the library judges it, it starts over.
    Resumed runs are the same to the bit on the same machine; on another one, the last
    digits of its linear algebra may differ, and the run with them.

    Args:
        population: Genotypes in each generation, at least 4.
        sigma: Standard deviation of the first generation, as a share of each gene's range.

    Raises:
        InputError: If an option is out of its range, or the package cmaes is missing.
    """

    name: ClassVar[str] = "cma"
    population: int = 14
    sigma: float = 0.3

    def __post_init__(self) -> None:
        object.__setattr__(self, "population", integer("population", self.population, SMALLEST, 2**20))
        object.__setattr__(self, "sigma", unit_interval("sigma", self.sigma))
        if not self.sigma:
            raise InputError("sigma is 0, expected a number above 0, up to 1")
        if find_spec("cmaes") is None:
            raise InputError("the search cma needs the package cmaes: pip install 'distal[cma]'")

    def begin(self, discrete: int, continuous: int, seed: int) -> CMASearch:  # noqa: D102 - as in Algorithm
        return CMASearch(discrete, continuous, seed, self)

    def memory(self, genes: int) -> int:
        """Return the bytes that a run takes in addition to its individuals."""
        return 100 * genes**2  # the covariance, and its text on disk


@dataclass(eq=False)
class CMASearch(Search):
    """One run of CMA-ES with margin; its leader is the best of the current generation.

    `CMA.begin` makes it. It moves its distribution by the sample of the last `ask`, so each `tell`
    needs an `ask` before it.

    Attributes:
        discrete: The number of discrete genes.
        continuous: The number of continuous genes.
        seed: The seed of this run.
        options: The options of the algorithm.
    """

    options: CMA = field(default_factory=CMA)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._first = self._read(self._optimizer())
        self._first["extremes"][:] = 0  # the library leaves it as it finds it
        self._distribution = self._first
        self._sampled: tuple[Any, list[NDArray[np.float64]]] | None = None

    def ask(self) -> Genotypes:
        """Draw the next generation."""
        optimizer = self._optimizer(self._distribution)
        if optimizer.should_stop():
            optimizer = self._optimizer(self._first)
        optimizer.reseed_rng(child_seed(self.seed, self.generation + 1, 0, _SAMPLE) % 2**32)
        rounded, raw = zip(*(optimizer.ask() for _ in range(self.options.population)), strict=True)
        self._sampled = optimizer, list(raw)
        genes = np.array(rounded)
        return Genotypes(genes[:, : self.discrete].astype(np.int8), genes[:, self.discrete :])

    def tell(self, genotypes: Genotypes, fitness: NDArray[np.float64]) -> None:
        """Move the distribution towards the better ones of the genotypes that `ask` has just returned."""
        if self._sampled is None:
            raise InputError("these genotypes were not asked for; call ask first")
        optimizer, raw = self._sampled
        self._check(genotypes, fitness)
        if len(raw) != len(genotypes):
            raise InputError(
                f"{len(genotypes)} genotypes were told, expected the {len(raw)} that ask returned"
            )
        super().tell(genotypes, fitness)
        optimizer.tell(list(zip(raw, fitness.tolist(), strict=True)))
        self._distribution, self._sampled = self._read(optimizer), None

    def state(self) -> dict[str, Any]:
        """Return everything that is needed to resume, ready for JSON."""
        distribution = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self._distribution.items()
        }
        return {**super().state(), "distribution": distribution}

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a state; refuse one that `state` cannot have returned."""
        super().restore(state)
        listed("fitness", state["fitness"], self.options.population, number)
        stored = entry(state, "distribution")
        read: _Distribution = {}
        for name, first in self._first.items():
            if isinstance(first, np.ndarray):
                read[name] = _array(name, entry(stored, name), first.shape)
        sigma, updates = entry(stored, "sigma"), entry(stored, "updates")
        read["sigma"] = number("sigma", sigma)
        read["updates"] = integer("updates", updates, 0, self.generation + 1)
        if read["sigma"] <= 0 or (np.diag(read["covariance"]) <= 0).any():
            raise InputError("the distribution has no width")
        self._distribution, self._sampled = read, None

    def _optimizer(self, distribution: _Distribution | None = None) -> Any:
        """Return the library's optimizer, with the given distribution or the first one."""
        from cmaes import CMAwM  # noqa: PLC0415 - an extra

        kinds = np.repeat([True, False], [self.discrete, self.continuous])
        optimizer = CMAwM(
            mean=np.where(kinds, 0.0, 0.5),
            sigma=self.options.sigma,
            bounds=np.where(kinds[:, None], [-1.0, 1.0], [0.0, 1.0]),
            steps=np.where(kinds, 1.0, 0.0),
            population_size=self.options.population,
            cov=np.diag(np.where(kinds, _WIDTH**2, 1.0)),
            seed=0,  # seeded again before it draws
        )
        if distribution is not None:
            inner = optimizer._cma
            for name, theirs in _ARRAYS.items():
                setattr(inner, theirs, distribution[name].copy())
            inner._sigma, inner._g = distribution["sigma"], distribution["updates"]
            optimizer._A = distribution["scale"].copy()
        return optimizer

    def _read(self, optimizer: Any) -> _Distribution:
        """Return the distribution of an optimizer."""
        inner = optimizer._cma
        return {
            **{name: getattr(inner, theirs) for name, theirs in _ARRAYS.items()},
            "scale": optimizer._A if self.discrete else np.ones(self.continuous),
            "sigma": float(inner._sigma),
            "updates": int(inner._g),
        }


def _array(name: str, values: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Read an array of finite numbers of a known shape from lists."""

    def row(name: str, values: object) -> list[float]:
        return listed(name, values, shape[-1], number)

    rows = listed(name, values, shape[0], row) if len(shape) > 1 else row(name, values)
    return np.array(rows, np.float64)
