"""The kinds of learners by their words, and the learners in files."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar, cast

from distal.base import plugins
from distal.base.checks import InputError, instance, one_of, shown
from distal.base.files import read_json
from distal.base.records import READERS, plain
from distal.learners.chance import Chance
from distal.learners.checking import check_kind
from distal.learners.dsp import Rule
from distal.learners.eligibility import Eligibility
from distal.learners.evolution_strategy import EvolutionStrategy
from distal.learners.hill_climbing import HillClimbing
from distal.learners.learner import Learner
from distal.learners.neuron_centric import NeuronCentric
from distal.learners.online_hebbian import OnlineHebbian
from distal.learners.reinforce import Reinforce
from distal.learners.separable_cma import SeparableCMA

L = TypeVar("L", bound=Learner)

KINDS: dict[str, type[Learner]] = {}  # by the word for the kind
DEFAULTS: dict[str, Learner] = {}  # what a word alone stands for: that of a kind, and "hebb"

# The climber is the best of our evolved ones after 10,000 episodes (docs/results.md), rounded.
DEFAULT_CLIMBER = HillClimbing(sigma=0.78, alpha_h=0.38, alpha_o=0.00)
DEFAULT_CHANCE = Chance(alpha_h=0.2, alpha_o=0.2)
# The others have numbers that were tried by hand (docs/learners.md); evolve better ones.
DEFAULT_ELIGIBILITY = Eligibility(
    0.5, -0.5, 0, 0, -0.5, 0.5, 0, 0, decay=0.9, eta=0.5, alpha_h=0.2, alpha_o=0.2
)
DEFAULT_ONLINE = OnlineHebbian(0.5, -0.5, 0, 0, -0.5, 0.5, 0, 0, eta=0.1, alpha_h=0.2, alpha_o=0.2)
DEFAULT_NEURON = NeuronCentric(
    [[0.5, -0.5, 0, 0, -0.5, 0.5, 0, 0]], decay=0.9, eta=0.5, alpha_h=0.2, alpha_o=0.2
)
DEFAULT_STRATEGY = EvolutionStrategy(sigma=0.5, factor=1.5, alpha_h=0.38, alpha_o=0.00)
DEFAULT_CMA = SeparableCMA(sigma=0.5, alpha_h=0.38, alpha_o=0.00)
DEFAULT_REINFORCE = Reinforce(eta=0.01, rate=0.1, alpha_h=0.38, alpha_o=0.00)
# The plain modulated Hebbian rule, the paper's equations 2 and 3: A = m, and nothing is forgotten.
HEBB = Eligibility(1, 0, 0, 0, -1, 0, 0, 0, decay=1, eta=0.5, alpha_h=0.2, alpha_o=0.2, name="hebb")


def register(kind: type[L], default: L | None = None) -> type[L]:
    """Register a kind of learner everywhere that learners are accepted.

    Do it in the file that defines the kind, so that the workers of an executor know it too.

    Args:
        kind: The class, a frozen dataclass that inherits from `Learner`.
        default: The learner that the kind's word alone stands for, as in `learn("hc")`; `kind()` if
            left out and all of its fields have defaults.

    Returns:
        The class, so that `@register` can stand above it.

    Raises:
        InputError: If something that a learner needs is missing, or its word or format is taken.
    """
    check_kind(kind)
    for other in KINDS.values():
        for name in ("kind", "file_format"):
            if other is not kind and getattr(other, name) == getattr(kind, name):
                raise InputError(
                    f"{name} {shown(getattr(kind, name))} of {kind.__name__} belongs to {other.__name__}; "
                    "choose another"
                )
    if default is None and all(
        field.default is not MISSING or field.default_factory is not MISSING
        for field in fields(cast(Any, kind))
    ):
        default = kind()
    if default is not None:
        DEFAULTS[kind.kind] = instance("default", default, kind, f"a {kind.__name__}")
    KINDS[kind.kind] = kind
    plugins.note(kind)
    return kind


def unregister(kind: str) -> None:
    """Remove a registered kind, by its word; the built-in ones stay."""
    others = [word for word, one in KINDS.items() if one not in OURS]
    del KINDS[one_of("kind", kind, others)]
    DEFAULTS.pop(kind, None)


register(Rule)
register(HillClimbing, DEFAULT_CLIMBER)
register(Chance, DEFAULT_CHANCE)
register(Eligibility, DEFAULT_ELIGIBILITY)
register(OnlineHebbian, DEFAULT_ONLINE)
register(NeuronCentric, DEFAULT_NEURON)
register(EvolutionStrategy, DEFAULT_STRATEGY)
register(SeparableCMA, DEFAULT_CMA)
register(Reinforce, DEFAULT_REINFORCE)
DEFAULTS["hebb"] = HEBB
OURS = tuple(KINDS.values())
plugins.registrars[plugins.LEARNERS] = lambda _, kind: register(kind)


def load_learner(path: str | Path) -> Learner:
    """Read the file of any learner; its format says which kind it is."""
    data = read_json(path, "learner file")
    try:
        kind = _kind_of_file(data)
    except InputError as error:
        raise type(error)(f"learner file {str(path)!r}: {error}") from None
    return kind.load(path)


def _kind_of_file(data: object) -> type[Learner]:
    """Return the kind of learner whose file holds this."""
    form, module = (data.get("format"), data.get("module")) if isinstance(data, dict) else (None, None)
    plugins.load_installed(plugins.LEARNERS)
    for kind in KINDS.values():
        if kind.file_format == form:
            return kind
    if module is not None:
        raise plugins.unknown("learner format", form, module)
    known = ", ".join(kind.file_format for kind in KINDS.values())
    raise InputError(f"format is {shown(form)}, expected one of {known}")


def class_names() -> list[str]:
    """Return the classes of all kinds, by name, for refusals."""
    return [kind.__name__ for kind in KINDS.values()]


def embedded(learner: Learner) -> dict[str, Any]:
    """Return a learner as it stands inside other files: as in its own, or, if it is bare, without format."""
    content = learner.to_dict()
    if learner.bare:
        del content["format"], content["version"]
    return content


def from_embedded(data: object, bare: type[Learner] = HillClimbing) -> Learner:
    """Read what `embedded` returns; what has no format is of the kind `bare`."""
    content = instance("learner", data, dict, "the contents of a learner's file")
    if "format" not in content:
        return bare.from_dict({"format": bare.file_format, "version": bare.version, **content})
    return _kind_of_file(content).from_dict(content)


plain.register(Learner)(embedded)
READERS[Learner] = lambda _, value: from_embedded(value)
