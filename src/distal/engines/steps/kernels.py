"""The compiled code of engine steps: the acts of an agent, for the code that holds the agent.

Kernels are made of the parts of a network and of a learner, once for each pair, and kept for later runs.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import literal_unroll, njit, typeof, types
from numba.core import event
from numpy.typing import NDArray

from distal.engines.cpu import Announcement
from distal.engines.cpu import cache as kept
from distal.engines.steps.compiled_agent import acts_of
from distal.engines.steps.encoding import encode
from distal.engines.steps.held import hold, holder_of, room_for
from distal.engines.threads import CUT, EPISODES, STEPS, TRIAL, WRONG
from distal.learners.compiled_learner import CompiledLearner
from distal.model.compiled_draws import draw_words
from distal.model.draws import TASK
from distal.model.lanes import pointer, read_now
from distal.networks.compiled_network import CompiledNetwork
from distal.tasks.compiled_task import Compiled

# What kernels are made of, besides the files of the parts themselves.
SOURCES = (
    *sorted(path.relative_to(kept.PACKAGE).as_posix() for path in kept.PACKAGE.glob("*/compiled*.py")),
    "engines/threads.py", "engines/steps/compiled_agent.py", "engines/steps/encoding.py",
    "engines/steps/held.py", "engines/steps/kernels.py", "learners/evolution_strategy.py",
    "model/draws.py", "model/lanes.py", "networks/recurrent.py",
)  # fmt: skip
OUTSIDE = -1  # what `act` returns for an observation that is out of its bounds


class Kernels(NamedTuple):
    """Compiled functions of the address of an agent, for whoever takes its steps."""

    start: Callable[[int], None]
    begin: Callable[[int], None]
    act: Callable[[int], int]
    end: Callable[[int], None]


@cache
def holder_for(kind: Any) -> Callable[[NDArray[np.uint8], Any], None]:
    """Return what writes agents of a type into arrays, where kernels find them by address."""

    def hold_it(room, agent):
        hold(room, agent)

    made = njit(error_model="numpy")(hold_it)
    key = hashlib.sha256(f"hold {kind}".encode()).hexdigest()
    kept.keep_compiled(made, key=key, ours=_folder(key))
    with event.install_listener("numba:compile", Announcement("engine steps", made)):
        made.compile((typeof(room_for(kind)), kind))
    holder: Callable[[NDArray[np.uint8], Any], None] = made
    return holder


@cache
def kernels_for(kind: Any, network: CompiledNetwork, learner: CompiledLearner) -> Kernels:
    """Return the kernels of agents of a type, compiled or loaded, and say so if they have to be compiled."""
    acts, held = acts_of(network, learner), holder_of(kind)
    start_it, begin_it, act_it, end_it = acts

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

    functions = (start, begin, act, end)
    made = Kernels(*(njit(error_model="numpy")(function) for function in functions))
    key = hashlib.sha256("\n".join((str(kind), *_parts(network, learner))).encode()).hexdigest()
    kept.keep_compiled(*made, key=key, ours=_folder(key))
    with event.install_listener("numba:compile", Announcement("engine steps", *made)):
        kernels: tuple[Any, ...] = made  # Numba's, which have more than functions
        for kernel in kernels:
            kernel.compile((types.int64,))
    return made


OUT_OF_BOUNDS, NOT_FINITE = 1, 2  # what can be WRONG


@cache
def trials_for(
    kind: Any, network: CompiledNetwork, learner: CompiledLearner, compiled: Compiled
) -> tuple[Callable[..., None], Announcement]:
    """Return the kernel that runs whole trials of a compiled task, and what says that it is compiled.

    trials(address, first, last, learner, goal, seed, steps, random, words, stop, done): trials first …
    last − 1; goal (trials, phases), random and words room for the numbers of an episode, done what it counts.
    """
    acts, held = acts_of(network, learner), holder_of(kind)
    start_it, begin_it, act_it, end_it = acts
    reset_it, step_it = compiled.reset, compiled.step

    @njit(error_model="numpy")
    def observe(observation, values):
        k = 0
        for one in literal_unroll(observation):
            values[k] = one
            k += 1  # noqa: SIM113 - Numba unrolls no enumerate

    def trials(address, first, last, learner, goal, seed, steps, random, words, stop, done):
        agent = held(address)
        now, encoding, bits = agent.running.now[0], agent.encoding, agent.running.bits
        for trial in range(first, last):
            done[TRIAL] = trial
            now.trial, now.learner, now.seed = trial, learner[trial], seed[trial]
            start_it(agent)
            for episode in range(agent.plan.episodes):
                if read_now(pointer(stop)) != 0:
                    return
                begin_it(agent)
                for k in range(len(random)):
                    if k & 31 == 0:
                        draw_words(pointer(words), np.int64(k), now.seed, episode, np.int64(TASK))
                    random[k] = words[k & 31] / 2.0**32
                phase = min(episode // agent.plan.phase, goal.shape[1] - 1)
                state, observation = reset_it(random, np.int64(goal[trial, phase]))
                total, end = 0.0, False
                for _ in range(steps):
                    observe(observation, encoding.values)
                    if not encode(encoding, bits):
                        done[WRONG] = OUT_OF_BOUNDS
                        return
                    state, observation, reward, ended = step_it(state, np.int64(act_it(agent)))
                    if not math.isfinite(reward):
                        now.ep, done[WRONG] = reward, NOT_FINITE
                        return
                    total += reward
                    if ended:
                        end = True
                        break
                now.ep = 0.0 - total
                end_it(agent)
                done[CUT] += 0 if end else 1
                done[STEPS] += now.step
                done[EPISODES] += 1

    made = njit(error_model="numpy", nogil=True)(trials)
    made_of = compiled.made_of()
    if made_of is not None:
        key = hashlib.sha256("\n".join((made_of, str(kind), *_parts(network, learner))).encode()).hexdigest()
        kept.keep_compiled(made, key=key, ours=_folder(key, "task", made_of))
    return made, Announcement("engine steps", made, kept=made_of is not None)


@cache
def tables_for(
    kind: Any, network: CompiledNetwork, learner: CompiledLearner
) -> tuple[Callable[..., None], Announcement]:
    """Return the kernel that runs whole trials of a table, and what says that it is compiled.

    tables(address, first, last, learner, goal, seed, steps, table, stop, done): as `trials_for`; table the
    arrays of a `Table` in their order, and what a step costs.
    """
    acts, held = acts_of(network, learner), holder_of(kind)
    start_it, begin_it, act_it, end_it = acts

    def tables(address, first, last, learner, goal, seed, steps, table, stop, done):
        observations, following, events, costs, ends, left, starts, step_cost = table
        agent = held(address)
        now, bits = agent.running.now[0], agent.running.bits
        for trial in range(first, last):
            done[TRIAL] = trial
            now.trial, now.learner, now.seed = trial, learner[trial], seed[trial]
            start_it(agent)
            for episode in range(agent.plan.episodes):
                if read_now(pointer(stop)) != 0:
                    return
                begin_it(agent)
                own = goal[trial, min(episode // agent.plan.phase, goal.shape[1] - 1)]
                state, cost, taken, end = starts[own], np.int64(0), np.int64(0), False
                while taken < steps and not end:
                    for k in range(len(bits)):
                        bits[k] = observations[state, k]
                    action = act_it(agent)
                    event = events[state, action]
                    state = following[state, action]
                    cost += costs[own, event]
                    taken += 1
                    end = ends[own, event]
                if not end:
                    taken, cost = steps, cost + left[own, state]
                now.ep = taken * step_cost + cost
                end_it(agent)
                done[STEPS] += now.step
                done[EPISODES] += 1

    made = njit(error_model="numpy", nogil=True)(tables)
    key = hashlib.sha256("\n".join(("tables", str(kind), *_parts(network, learner))).encode()).hexdigest()
    kept.keep_compiled(made, key=key, ours=_folder(key))
    return made, Announcement("engine steps", made, kept=True)


def _folder(key: str, engine: str = "steps", task: str = "") -> Path | None:
    """Return the folder for kernels of these parts; other processes may compile other kernels meanwhile.

    Each compiled task has a folder of its own, since people change theirs: the oldest go.
    """
    ours = kept.folder(engine, SOURCES, task)
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
