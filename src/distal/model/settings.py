"""The settings of network and episode, and the readings where the paper is silent.

`READINGS` is the one place that says which values a reading has, what they mean and
which is the default: the first. docs/readings.md gives the evidence for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from distal.base.checks import InputError, instance, integer, one_of, sequence, shown, suggestion, text

READINGS: dict[str, dict[str, str]] = {
    # How four output sums become activations and one action.
    "outputs": {
        "winner": "the output with the largest sum acts and alone is active",
        "binary": "outputs with a positive sum are active, the largest acts",
        "random": "outputs with a positive sum are active, one of them acts, drawn at each step",
    },
    # Whether a move into a wall still turns the agent.
    "blocked": {
        "turn": "a move into a wall still turns the agent",
        "stay": "a move into a wall changes nothing",
    },
    # The modulatory signal when an episode is as good as the one before.
    "m_ties": {
        "reward": "an EP equal to the one before gives m = +1",
        "punish": "it gives m = −1",
    },
    # Which step's hidden and output activations are `pre` of W_h and W_ho.
    "trace_pre": {
        "current": "traces pair activations of the same step",
        "previous": "recurrent and feedback synapses pair the step before with this one",
    },
    # Which incoming weights share one norm.
    "normalise": {
        "neuron": "all incoming weights of a neuron share one norm",
        "layer": "those from each layer have their own",
        "none": "weights are not normalised",
    },
}


# What a hidden neuron makes of its sum; not a reading, since the paper's neurons are binary.
NEURONS = {
    "binary": "a hidden neuron is 1 where its sum is above 0, else 0",
    "sigmoid": "it is the logistic function of its sum, and counts as active where the sum is above 0",
}
BINARY, SIGMOID = NEURONS


def default(reading: str) -> str:
    """Return the default value of a reading: its first."""
    return next(iter(READINGS[reading]))


_MAX_HIDDEN = 256
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


@dataclass(frozen=True)
class Settings:
    """The size and kind of the network, the length of an episode, and the five readings.

    Args:
        hidden: Hidden neurons, 1 to 256.
        steps: The most steps of an episode (N_steps), 1 to 10,000.
        outputs: How output sums become activations and an action: "winner", "binary" or "random".
        blocked: Whether a move into a wall turns the agent: "turn" or "stay".
        m_ties: What m is when the EP equals the one before: "reward" or "punish".
        trace_pre: Which step's activations count as `pre`: "current" or "previous".
        normalise: Which incoming weights share a norm: "neuron", "layer" or "none".
        neurons: Whether hidden neurons are "binary", as in the paper, or "sigmoid".

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", integer("hidden", self.hidden, 1, _MAX_HIDDEN))
        object.__setattr__(self, "steps", integer("steps", self.steps, 1, MAX_STEPS))
        for name, values in {**READINGS, "neurons": NEURONS}.items():
            object.__setattr__(self, name, one_of(name, getattr(self, name), values))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings by name, ready for JSON; files name the neurons only if they are not binary."""
        settings = asdict(self)
        if self.neurons == BINARY:
            del settings["neurons"]
        return settings

    @classmethod
    def from_dict(cls, data: object) -> Settings:
        """Read what `to_dict` returns."""
        given = instance("settings", data, dict, "what Settings.to_dict returns")
        fields = set(cls.__dataclass_fields__)
        if not fields - {"neurons"} <= set(given) <= fields:
            raise InputError(f"settings is {shown(data)}, expected every setting by name")
        return cls(**given)

    @classmethod
    def among(cls, data: object) -> Settings:
        """Read the settings that stand among other fields of a file."""
        given = instance("data", data, dict, "the fields of a file, by name")
        return cls.from_dict({name: given[name] for name in cls.__dataclass_fields__ if name in given})

    @classmethod
    def of(cls, options: SettingsDict, others: Sequence[str] = ()) -> Settings:
        """Return settings from keyword arguments; refuse an unknown name.

        `others` are the caller's own keywords, for the nearest right spelling.
        """
        instance("settings", options, dict, "a dictionary")
        words = [text("others", word) for word in sequence("others", others, "a list of words")]
        known = cls.__dataclass_fields__
        for name in options:
            if name in ("workers", "executor"):  # they had parameters of their own until 0.4
                raise InputError(f"unknown keyword {name!r}: write engine=distal.Runner(engine, {name}=…)")
            if name not in known:
                names = ", ".join(known)
                near = suggestion(name, [*known, *words])
                raise InputError(f"unknown keyword {shown(name)}, the settings are {names}{near}")
        return cls(**options)
