"""The table of readings: who has code for a value, and that none is run as another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest

import distal
from distal import InputError, Settings
from distal.engines import Batch, cpu
from distal.engines.compiled_engine import flags
from distal.engines.gpu import constants
from distal.engines.gpu import engine as gpu
from distal.engines.reference import engine as reference
from distal.learners.modulation import M_READINGS
from distal.learners.normalisation import NORMALISE_READINGS
from distal.model.maze import BLOCKED_READINGS
from distal.model.readings import COMPILED, NEURONS, READINGS, WORDS, forget_value, register_value
from distal.networks.compiled_network import CODES
from distal.networks.network import OUTPUT_READINGS, TRACE_READINGS
from distal.networks.recurrent import NEURON_KINDS
from distal.show.watch import write_page
from distal.tasks.mazes import MazeTask
from tests.batches import trials_of
from tests.given import some
from tests.mazes import T

# Where the reference engine has its functions.
FUNCTIONS: dict[str, dict[str, Any]] = {
    "outputs": OUTPUT_READINGS, "blocked": BLOCKED_READINGS, "m_ties": M_READINGS,
    "trace_pre": TRACE_READINGS, "normalise": NORMALISE_READINGS, "neurons": NEURON_KINDS,
}  # fmt: skip


@pytest.fixture(params=FUNCTIONS)
def added(request: pytest.FixtureRequest) -> Iterator[str]:
    """Add a value to a reading: another name for what its last value does."""
    reading: str = request.param
    functions = FUNCTIONS[reading]
    register_value(reading, "new", "as the last")
    functions["new"] = functions[[*functions][-1]]
    yield reading
    forget_value(reading, "new")
    del functions["new"]


def batch(**settings: Any) -> Batch:
    return trials_of([distal.published_rule(1)], Settings(steps=9, **settings), 4, task=MazeTask(T))


def test_a_new_value_runs_on_the_reference_engine_and_is_refused_by_name_elsewhere(
    added: str, tmp_path: Any
) -> None:
    given: dict[str, Any] = {added: "new"}
    last: dict[str, Any] = {added: [*FUNCTIONS[added]][-2]}
    found, known = (reference.run(batch(**one), keep_weights=True) for one in (given, last))
    assert (found.best == known.best).all()
    assert some(found.hidden).tobytes() == some(known.hidden).tobytes()
    for name, engine in {"cpu": cpu.engine, "gpu": gpu}.items():
        refusal = f"engine {name} has no code for {added} 'new'; use engine reference"
        # Tables say where a blocked move leads, so engines that run tables need no code for it.
        assert engine.supports(batch(**given)) == (None if added == "blocked" else refusal)
    if added != "blocked":
        with pytest.raises(InputError, match=f"engine cpu has no code for {added} 'new'"):
            cpu.engine.run(batch(**given))
        with pytest.raises(InputError, match=f"engine cpu has no code for {added} 'new'"):
            distal.learn("paper:1", maze=T, engine="cpu", **given)
    with pytest.raises(InputError, match=f"the page has no code for {added} 'new', expected one of"):
        write_page(tmp_path / "page.html", "paper:1", maze=T, episodes=2, **given)
    assert list(tmp_path.iterdir()) == []


def test_a_value_without_a_function_is_refused_by_the_reference_engine_too() -> None:
    for reading in FUNCTIONS:
        register_value(reading, "new", "nothing yet")
        try:
            with pytest.raises(InputError, match=f"{reading} is 'new', but there is code for"):
                reference.run(replace(batch(**{reading: "new"}), task=MazeTask(distal.maze("narrow-h"))))
        finally:
            forget_value(reading, "new")


def test_compiled_engines_tell_all_values_that_they_know_apart() -> None:
    needed = {reading for reading, row in WORDS.items() if "cpu" in row.compiled} - {"network"}
    assert {*cpu.FLAGS, "neurons"} == set(constants.FLAGS) == needed
    assert tuple(cpu.NEURONS) == NEURONS.known_to("cpu")
    for name, table in {"cpu": cpu.FLAGS, "gpu": constants.FLAGS}.items():
        for reading, values in table.items():
            assert tuple(values) == WORDS[reading].known_to(name)
            assert all(set(one) != set(other) for one, other in combinations(values.values(), 2))


def test_a_compiled_engine_that_claims_a_value_without_code_refuses_it_by_name() -> None:
    READINGS["normalise"].add("new", "claimed, but not written", known=COMPILED)
    try:
        for table in (cpu.FLAGS, constants.FLAGS):
            with pytest.raises(InputError, match="normalise is 'new', but there is code for neuron, layer"):
                flags(Settings(normalise="new"), table)
    finally:
        READINGS["normalise"].remove("new")


def test_engine_steps_tells_all_values_that_it_knows_apart() -> None:
    for reading, codes in CODES.items():
        row = WORDS[reading]
        assert tuple(codes) == row.known_to("steps")
        assert len(set(codes.values())) == len(codes)


def test_the_values_that_ship_are_known_to_all_but_softmax_and_cannot_be_taken_or_removed() -> None:
    for who, (reading, row) in product(("cpu", "gpu", "steps", "page"), WORDS.items()):
        unknown = [value for value in row if Settings(**{reading: value}).unknown_to(who) is not None]  # type: ignore[arg-type]
        assert unknown == (["softmax"] if reading == "network" and who != "steps" else [])
    with pytest.raises(InputError, match="normalise has the value 'layer' already"):
        register_value("normalise", "layer", "again")
    with pytest.raises(InputError, match="value is 'layer', expected one of"):
        forget_value("normalise", "layer")
    with pytest.raises(InputError, match=r"reading is 'normalize'.*did you mean 'normalise'"):
        register_value("normalize", "column", "by column")
