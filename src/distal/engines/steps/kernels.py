"""The compiled code of engine steps: an agent's acts, for whoever holds the agent.

Kernels are made of the parts of a network and of a learner, once for each pair, and kept for later runs.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from numba import njit, typeof, types
from numba.core import event

from distal.engines.cpu import Announcement
from distal.engines.cpu import cache as kept
from distal.engines.steps.agent import Agent, acts_of
from distal.engines.steps.encoding import encode
from distal.engines.steps.held import hold, holder_of, room_for
from distal.learners.compiled import CompiledLearner
from distal.networks.compiled import CompiledNetwork

# What kernels are made of, besides the files of the parts themselves.
SOURCES = (
    "engines/steps/agent.py",
    "engines/steps/encoding.py",
    "engines/steps/held.py",
    "engines/steps/kernels.py",
    "learners/compiled.py",
    "learners/compiled_chance.py",
    "learners/compiled_dsp.py",
    "learners/compiled_hill_climbing.py",
    "model/compiled_draws.py",
    "model/compiled_traces.py",
    "model/draws.py",
    "model/lanes.py",
    "networks/compiled.py",
    "networks/compiled_logistic.py",
    "networks/compiled_recurrent.py",
    "networks/recurrent.py",
)
OUTSIDE = -1  # what `act` returns for an observation that is out of its bounds


class Kernels(NamedTuple):
    """Compiled functions of the address of an agent; `hold` puts it there."""

    hold: Callable[..., Any]
    start: Callable[[int], None]
    begin: Callable[[int], None]
    act: Callable[[int], int]
    end: Callable[[int], None]


def kernels_for(agent: Agent, network: CompiledNetwork, learner: CompiledLearner, what: str) -> Kernels:
    """Return the kernels of an agent, compiled or loaded, and say so if they have to be compiled."""
    return _kernels(typeof(agent), network, learner, what)


@cache
def _kernels(kind: Any, network: CompiledNetwork, learner: CompiledLearner, what: str) -> Kernels:
    acts, held = acts_of(network, learner), holder_of(kind)
    start_it, begin_it, act_it, end_it = acts

    def hold_agent(room, agent):
        hold(room, agent)

    def start(address):
        start_it(held(address))

    def begin(address):
        begin_it(held(address))

    def act(address):
        agent = held(address)
        if len(agent.encoding.values) > 0 and not encode(agent.encoding, agent.running.bits):
            return OUTSIDE
        return act_it(agent)

    def end(address):
        end_it(held(address))

    functions = (hold_agent, start, begin, act, end)
    made = Kernels(*(njit(error_model="numpy")(function) for function in functions))
    key = hashlib.sha256("\n".join((str(kind), *_parts(network, learner))).encode()).hexdigest()
    kept.keep_compiled(*made, key=key, ours=_folder(key))
    with event.install_listener("numba:compile", Announcement(f"engine steps for {what}", *made)):
        kernels: tuple[Any, ...] = made  # Numba's, which have more than functions
        kernels[0].compile((typeof(room_for(kind)), kind))
        for kernel in kernels[1:]:
            kernel.compile((types.int64,))
    return made


def _folder(key: str) -> Path | None:
    """Return the folder for kernels of these parts; other processes may compile those of others meanwhile."""
    ours = kept.folder("steps", SOURCES)
    if ours is None:
        return None
    with suppress(OSError):
        (ours / key[:20]).mkdir(exist_ok=True)
    return ours / key[:20]


def _parts(*parts: CompiledNetwork | CompiledLearner) -> Iterator[str]:
    """Yield the name and the file of every compiled function of the parts."""
    for part in parts:
        for name, function in vars(part).items():
            own = inspect.unwrap(getattr(function, "py_func", function))
            path = Path(own.__code__.co_filename)
            content = path.read_bytes() if path.is_file() else b""
            yield f"{name} {own.__module__}.{own.__qualname__} {hashlib.sha256(content).hexdigest()}"
