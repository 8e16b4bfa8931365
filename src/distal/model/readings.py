"""The table of readings: their values, the meanings of these, and the engines with code for them.

A reading fills a gap in the paper; docs/readings.md gives the evidence for each default, which is
the first value. The table has two more settings, which the paper does define: the kind of neurons,
and the network.

The reference engine has a function for each value, where the value is used: a dictionary that
`checks.code_for` looks it up in. What has code of its own (`COMPILED`) refuses a value that it does not
know by its name, before any work; nothing is ever run as another value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from distal.base.checks import InputError, one_of, shown

COMPILED = ("cpu", "gpu", "steps", "page")  # three engines, and the page that computes trials in a browser
NEVER_FLIP = ("cpu", "gpu", "page")  # have no code for rewards that are turned round


class Reading(dict[str, str]):
    """The values of a reading, with what they mean; the first is the default.

    Args:
        about: What it is about.
        values: What each value means.
        compiled: Who needs code for it besides the reference engine, and has it for these values.
    """

    def __init__(self, about: str, values: Mapping[str, str], compiled: Collection[str] = COMPILED) -> None:
        super().__init__(values)
        self.about, self.compiled = about, frozenset(compiled)
        self.knowing = dict.fromkeys(self, self.compiled)  # who has code for each value
        self.modules: dict[str, str] = {}  # of the values that are not Distal's

    def __repr__(self) -> str:
        return f"Reading({self.about}: {', '.join(self)})"

    @property
    def default(self) -> str:
        """The value that is used if none is named."""
        return next(iter(self))

    def known_to(self, who: str) -> tuple[str, ...]:
        """Return the values that an engine, or the page, has code for."""
        return tuple(value for value, known in self.knowing.items() if who in known)

    def add(self, value: str, meaning: str, module: str | None = None, known: Collection[str] = ()) -> None:
        """Add a value that the reference engine and the named ones know, with the module it comes from."""
        self[value], self.knowing[value] = meaning, frozenset(known)
        if module is not None:
            self.modules[value] = module

    def remove(self, value: str) -> None:
        """Remove a value that was added."""
        del self[value], self.knowing[value]
        self.modules.pop(value, None)


READINGS = {
    "outputs": Reading(
        "how the sums of the outputs become activations and one action",
        {
            "winner": "the output with the largest sum acts and is the only active one",
            "binary": "outputs with a positive sum are active; the one with the largest sum acts",
            "random": "outputs with a positive sum are active; one of them, drawn at each step, acts",
        },
    ),
    "blocked": Reading(
        "whether a move into a wall still turns the agent",
        {"turn": "a move into a wall still turns the agent", "stay": "a move into a wall changes nothing"},
        compiled=("page",),  # the engines run tables, which say where each move leads
    ),
    "m_ties": Reading(
        "the modulatory signal when an episode is as good as the one before",
        {"reward": "an EP equal to the one before gives m = +1", "punish": "such an EP gives m = −1"},
    ),
    "trace_pre": Reading(
        "which step's hidden and output activations are `pre` of W_h and W_ho",
        {
            "current": "traces pair activations of the same step",
            "previous": "recurrent and feedback synapses pair the step before with this one",
        },
    ),
    "normalise": Reading(
        "which incoming weights share one norm",
        {
            "neuron": "all incoming weights of a neuron share one norm",
            "layer": "the weights from each layer have a norm of their own",
            "none": "weights are not normalised",
        },
    ),
}
NEURONS = Reading(
    "the activation of a hidden neuron; the paper's is binary",
    {
        "binary": "a hidden neuron is 1 if its sum is above 0, else 0",
        "sigmoid": "a hidden neuron is the logistic function of its sum, and is active if the sum is above 0",
    },
)
NETWORK = Reading(
    "the network; `distal.networks` knows those that were registered too",
    {"recurrent": "the paper's recurrent network"},
)
BINARY, SIGMOID = NEURONS
NETWORK.add("softmax", "the paper's network with a softmax that draws the action", known=("steps",))
RECURRENT, SOFTMAX = NETWORK
# Every row of the table: the readings, the neurons and the network, by their keywords.
WORDS = {**READINGS, "neurons": NEURONS, "network": NETWORK}


def default(reading: str) -> str:
    """Return the default value of a reading: its first."""
    return READINGS[reading].default


def register_value(reading: str, value: str, meaning: str) -> None:
    """Add a value to a reading, for the reference engine; its function is added where the others are.

    Args:
        reading: The reading, or "neurons".
        value: The new value.
        meaning: What it means, as the help of the commands says it.

    Raises:
        InputError: If there is no such reading, or it has the value already.
    """
    row = WORDS[one_of("reading", reading, WORDS)]
    if value in row:
        raise InputError(f"{reading} has the value {shown(value)} already; choose another word")
    row.add(value, meaning)


def forget_value(reading: str, value: str) -> None:
    """Remove a value that `register_value` added."""
    row = WORDS[one_of("reading", reading, WORDS)]
    row.remove(one_of("value", value, [one for one in row if one not in _OURS[reading]]))


_OURS = {reading: tuple(row) for reading, row in WORDS.items()}
