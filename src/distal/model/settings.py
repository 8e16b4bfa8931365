"""The settings: the size of the network, the length of an episode, and a value of each reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from distal.base import plugins
from distal.base.checks import (
    InputError,
    instance,
    integer,
    one_of,
    sequence,
    shown,
    suggestion,
    text,
    unit_interval,
)
from distal.model.readings import BINARY, NETWORK, NEURONS, NEVER_FLIP, READINGS, RECURRENT, WORDS, default

# Files name these only where they are something else.
_LATER = {"neurons": BINARY, "network": RECURRENT, "flip": 0.0}
ORIGIN = "network_module"  # the field of a file that names the module of a network that is not Distal's
MAX_NEURONS = 256  # hidden neurons
MAX_INPUTS = 2**20  # bits that a task has; free memory mostly ends before
MAX_OUTPUTS = 2**12  # actions that a task has
MAX_STEPS = 10_000


class SettingsDict(TypedDict, total=False):
    """The settings as keyword arguments."""

    hidden: int
    steps: int
    outputs: str
    blocked: str
    m_ties: str
    trace_pre: str
    normalise: str
    neurons: str
    network: str
    flip: float


@dataclass(frozen=True)
class Settings:
    """The size and kind of the network, the length of an episode, and the five readings.

    Args:
        hidden: Hidden neurons, 1 to 256.
        steps: The most steps of an episode (N_steps), 1 to 10,000.
        outputs: How output sums become activations and an action: "winner", "binary" or "random".
        blocked: Whether a move into a wall turns the agent: "turn" or "stay".
        m_ties: The m of an EP equal to the one before: "reward" (+1) or "punish" (−1).
        trace_pre: Which step's activations count as `pre`: "current" or "previous".
        normalise: Which incoming weights share a norm: "neuron", "layer" or "none".
        neurons: Whether hidden neurons are "binary", as in the paper, or "sigmoid".
        network: The word for the network: "recurrent", the paper's, "softmax", or one that was registered.
        flip: The share of episodes after which the learner hears the opposite of its reward, 0 to 1.

    Raises:
        InputError: If a number is out of its range, or a reading has no such value.
    """

    hidden: int = 20
    steps: int = 100
    outputs: str = default("outputs")
    blocked: str = default("blocked")
    m_ties: str = default("m_ties")
    trace_pre: str = default("trace_pre")
    normalise: str = default("normalise")
    neurons: str = BINARY
    network: str = RECURRENT
    flip: float = 0.0

    def __post_init__(self) -> None:
        given: object = self.network
        if not isinstance(given, str) or not _is_network(given):
            near = suggestion(given, NETWORK)
            raise InputError(
                f"network is {shown(given)}, expected one of {', '.join(NETWORK)}"
                f"{near}{plugins.of_your_own('network', near)}"
            )
        object.__setattr__(self, "hidden", integer("hidden", self.hidden, 1, MAX_NEURONS))
        object.__setattr__(self, "steps", integer("steps", self.steps, 1, MAX_STEPS))
        for name, values in {**READINGS, "neurons": NEURONS}.items():
            object.__setattr__(self, name, one_of(name, getattr(self, name), values))
        object.__setattr__(self, "flip", unit_interval("flip", self.flip))

    def unknown_to(self, who: str) -> str | None:
        """Return why an engine, or "page", cannot compute with these settings; None if it can."""
        page = who == "page"
        without = f"{'the page' if page else f'engine {who}'} has no code for"
        for name, row in WORDS.items():
            value = getattr(self, name)
            if who in row.compiled and who not in row.knowing[value]:
                expected = f", expected one of {', '.join(row.known_to(who))}" if page else ""
                return f"{without} {name} {value!r}{expected}"
        if self.flip and who in NEVER_FLIP:
            return f"{without} flip{'; leave it out' if page else ''}"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the settings by name, ready for JSON; some are left out where they have the paper's value.

        A network that is not Distal's comes with its module.
        """
        origin = {ORIGIN: NETWORK.modules[self.network]} if self.network in NETWORK.modules else {}
        named = {name: value for name, value in asdict(self).items() if _LATER.get(name) != value}
        return {**named, **origin}

    @classmethod
    def from_dict(cls, data: object) -> Settings:
        """Read the data of `to_dict`."""
        given = dict(instance("settings", data, dict, "the result of Settings.to_dict"))
        module, network = given.pop(ORIGIN, None), given.get("network", RECURRENT)
        if isinstance(network, str) and network.isidentifier() and not _is_network(network):
            raise plugins.unknown("network", network, module)
        fields = set(cls.__dataclass_fields__)
        if not fields - set(_LATER) <= set(given) <= fields:
            raise InputError(f"settings is {shown(data)}, expected every setting by name")
        return cls(**given)

    @classmethod
    def among(cls, data: object) -> Settings:
        """Read the settings that stand among other fields of a file."""
        given = instance("data", data, dict, "the fields of a file, by name")
        names = (*cls.__dataclass_fields__, ORIGIN)
        return cls.from_dict({name: given[name] for name in names if name in given})

    @classmethod
    def of(cls, options: SettingsDict, others: Sequence[str] = ()) -> Settings:
        """Return settings from keyword arguments; refuse an unknown name.

        `others` are the caller's own keywords, for the nearest right spelling.
        """
        instance("settings", options, dict, "a dictionary")
        known = cls.__dataclass_fields__
        for name in options:
            if name in ("workers", "executor"):  # they had parameters of their own until 0.4
                raise InputError(f"unknown keyword {name!r}: write engine=distal.Runner(engine, {name}=…)")
            if name not in known:
                names = ", ".join(known)
                words = [text("others", word) for word in sequence("others", others, "a list of words")]
                near = suggestion(name, [*known, *words])
                raise InputError(f"unknown keyword {shown(name)}, the settings are {names}{near}")
        return cls(**options)


def _is_network(word: str) -> bool:
    """Say whether a network has this word, here or in an installed package."""
    if word not in NETWORK:
        plugins.load_installed(plugins.NETWORKS)
    return word in NETWORK
