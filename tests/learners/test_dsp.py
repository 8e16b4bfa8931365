"""Delayed synaptic plasticity: the signal, the update, the norm, the loop."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from distal import InputError, learners, published_rule, triple_t_maze
from distal.learners import dsp, modulation, normalisation
from distal.learners.dsp import Rule
from distal.model.maze import Maze
from distal.model.settings import Settings
from distal.networks import Episode, Recurrent, Weights, run_episode
from distal.tasks.mazes import MazeTask, MazeWalk
from distal.tasks.task import Aim
from tests.mazes import T
from tests.reflex import reflex, walk
from tests.refusals import refused
from tests.strategies import mazes, rules, seeds, settings_of


@pytest.mark.parametrize(
    ("ep", "previous", "reward", "punish"),
    [
        (139, None, 1, 1),  # the first episode after fresh weights
        (99, 100, 1, 1),  # better
        (100, 100, 1, -1),  # equal
        (101, 100, -1, -1),  # worse
    ],
)
def test_m_on_the_first_a_better_an_equal_and_a_worse_episode(
    ep: int, previous: int | None, reward: int, punish: int
) -> None:
    assert modulation.modulatory_signal(ep, previous, ties="reward") == reward
    assert modulation.modulatory_signal(ep, previous, ties="punish") == punish


def one_neuron(trace_pre: str = "current", normalise: str = "neuron") -> Recurrent:
    return Recurrent(settings=Settings(hidden=1, trace_pre=trace_pre, normalise=normalise))


def test_rows_of_the_reflex_agent_worked_by_hand() -> None:
    # Three steps: front wall, hidden and output left active only in the last one.
    episode = walk(reflex(), T, goal=0)
    hidden, output = dsp.selected_rows(one_neuron("previous"), episode, np.float32(0.3), m=1)
    # (pre, post) per step, threshold 0.3 < 1/3:
    assert hidden[0].tolist() == [
        2 * 0b0110 + 1,  # left:  10, 10, 01
        2 * 0b1001 + 1,  # front: 00, 00, 11
        2 * 0b0110 + 1,  # right: 10, 10, 01
        2 * 0b0011 + 1,  # bias:  10, 10, 11
        2 * 0b1100 + 1,  # itself, delayed: 00, 00, 01
        2 * 0b1100 + 1,  # stop, delayed: 00, 00, 01
        2 * 0b1100 + 1,  # left, delayed: 00, 00, 01
        2 * 0b1100 + 1,  # right, delayed
        2 * 0b1011 + 1,  # straight, delayed: 00, 10, 11
    ]
    assert output.tolist() == [
        [2 * 0b1010 + 1, 2 * 0b0010 + 1],  # stop:     00, 00, 10 and 10, 10, 10
        [2 * 0b1001 + 1, 2 * 0b0011 + 1],  # left:     00, 00, 11 and 10, 10, 11
        [2 * 0b1010 + 1, 2 * 0b0010 + 1],  # right
        [2 * 0b0110 + 1, 2 * 0b0011 + 1],  # straight: 01, 01, 10 and 11, 11, 10
    ]


def test_trace_pre_current_changes_the_rows_of_recurrent_and_feedback_synapses_alone() -> None:
    episode = walk(reflex(), T, goal=0)
    previous = dsp.selected_rows(one_neuron("previous"), episode, np.float32(0.3), m=1)
    current = dsp.selected_rows(one_neuron("current"), episode, np.float32(0.3), m=1)
    assert current[0][0, :4].tolist() == previous[0][0, :4].tolist()
    assert current[1].tolist() == previous[1].tolist()
    assert current[0][0, 4:].tolist() == [
        2 * 0b1001 + 1,  # itself: 00, 00, 11
        2 * 0b1100 + 1,  # stop: 00, 00, 01
        2 * 0b1001 + 1,  # left: 00, 00, 11
        2 * 0b1100 + 1,  # right: 00, 00, 01
        2 * 0b0110 + 1,  # straight: 10, 10, 01
    ]


def test_the_update_adds_eta_times_the_change_of_the_row() -> None:
    delta_w = [0] * 32
    delta_w[3], delta_w[8], delta_w[30] = 1, -1, 1
    rule = Rule(delta_w, eta=0.25, theta=0, alpha_h=0, alpha_o=0)
    into_hidden = np.full((2, 10), 0.5, np.float32)
    into_hidden[[0, 1], [4, 5]] = 0
    weights = Weights(into_hidden, np.full((4, 3), -1, np.float32))
    rows = np.zeros((2, 10), np.int32), np.full((4, 3), 30, np.int32)
    rows[0][0, :3] = 3, 8, 7
    rows[0][0, 4] = 3  # the self-connection: no synapse, stays 0
    changed = dsp.changed(Recurrent(settings=Settings(2)), weights, rule, rows)
    assert changed.hidden[0].tolist() == [0.75, 0.25, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert changed.hidden[1].tolist() == weights.hidden[1].tolist()
    assert (changed.output == -0.75).all()


def by_hand_weights() -> Weights:
    """One hidden neuron with 3 and 4 from inputs, 12 from an output; output rows with 0, or 8 and 6."""
    hidden, output = np.zeros((1, 9), np.float32), np.zeros((4, 2), np.float32)
    hidden[0, :2] = 3, 4
    hidden[0, -1] = 12
    output[1] = 8, 6
    return Weights(hidden, output)


def test_a_neurons_incoming_weights_are_divided_by_their_norm_all_together() -> None:
    unit = normalisation.normalised(one_neuron(), by_hand_weights())
    # √(3² + 4² + 12²) = 13 and √(8² + 6²) = 10
    assert unit.hidden[0] == pytest.approx(np.array([3, 4, 0, 0, 0, 0, 0, 0, 12]) / 13, rel=1e-7)
    assert unit.output == pytest.approx(np.array([[0, 0], [0.8, 0.6], [0, 0], [0, 0]]), rel=1e-7)


def test_normalise_layer_gives_every_matrix_a_norm_of_its_own_and_none_leaves_all_alone() -> None:
    layer = normalisation.normalised(one_neuron(normalise="layer"), by_hand_weights())
    assert layer.hidden[0] == pytest.approx(np.array([0.6, 0.8, 0, 0, 0, 0, 0, 0, 1]), rel=1e-7)
    assert layer.output[1] == pytest.approx([0.8, 0.6], rel=1e-7)
    none = normalisation.normalised(one_neuron(normalise="none"), by_hand_weights())
    assert none.hidden.tolist() == by_hand_weights().hidden.tolist()


def run(rule: Rule, n: int, resample: int | None = None, **settings: Any) -> list[Episode[MazeWalk]]:
    chosen = Settings(**settings)
    task = Aim(MazeTask(triple_t_maze()), 2)
    return list(islice(learners.episodes(rule, task, chosen, seed=7, resample=resample), n))


def follow(rule: Rule, episodes: list[Episode[MazeWalk]], number: int, m: int) -> Weights:
    """Return the weights that should run the episode after `number`."""
    rows = dsp.selected_rows(Recurrent(), episodes[number], np.float32(rule.theta), m)
    return normalisation.normalised(
        Recurrent(), dsp.changed(Recurrent(), episodes[number].weights, rule, rows)
    )


def test_each_episode_runs_the_weights_that_the_one_before_left() -> None:
    rule = published_rule(1)
    episodes = run(rule, 40)
    seen = set()
    for number in range(39):
        # the comparison is with the episode before, not with the best
        better = number == 0 or episodes[number].ep <= episodes[number - 1].ep
        expected = follow(rule, episodes, number, m=1 if better else -1)
        assert (episodes[number + 1].weights.hidden == expected.hidden).all()
        assert (episodes[number + 1].weights.output == expected.output).all()
        seen.add(better)
    assert seen == {True, False}


def test_resampling_draws_fresh_weights_and_forgets_the_previous_ep() -> None:
    rule = published_rule(1)
    episodes = run(rule, 45, resample=10)
    plain = run(rule, 45)
    assert [e.ep for e in episodes[:10]] == [e.ep for e in plain[:10]]
    forgotten = 0
    for start in (10, 20, 30, 40):
        fresh = Recurrent().fresh_weights(seed=7, episode=start)
        assert (episodes[start].weights.hidden == fresh.hidden).all()
        assert (episodes[start].weights.output == fresh.output).all()
        expected = follow(rule, episodes, start, m=1)
        assert (episodes[start + 1].weights.hidden == expected.hidden).all()
        forgotten += episodes[start].ep > episodes[start - 1].ep
    assert forgotten  # at least once the previous EP, had it been kept, would have said −1


@given(rules, seeds, settings_of(max_steps=20), mazes(), st.sampled_from(["neuron", "layer"]))
@hypothesis_settings(max_examples=50)
def test_norms_are_one_after_an_update(
    rule: Rule, seed: int, settings: Settings, maze: Maze, reading: str
) -> None:
    settings = replace(settings, normalise=reading)
    network = Recurrent(settings=settings, alpha_h=rule.alpha_h, alpha_o=rule.alpha_o)
    weights = network.fresh_weights(seed, 0)
    episode = run_episode(network, weights, Aim(MazeTask(maze)), seed, 0)
    rows = dsp.selected_rows(network, episode, np.float32(rule.theta), 1)
    unit = normalisation.normalised(network, dsp.changed(network, weights, rule, rows))
    w_hi, w_h, w_ho = np.split(unit.hidden, network.blocks, axis=1)
    for block in (*([unit.hidden] if reading == "neuron" else [w_hi, w_ho]), unit.output):
        assert np.linalg.norm(block, axis=1) == pytest.approx(np.ones(len(block)), abs=1e-5)
    assert not np.diagonal(w_h).any()


def test_a_rule_prints_as_its_32_row_table() -> None:
    lines = str(published_rule(1)).splitlines()
    assert lines[1] == "eta = 0.0317  theta = 0.208  alpha_h = 0.1931  alpha_o = 0.2376"
    assert len(lines) == 4 + 32
    assert lines[4].split() == ["0", "0", "0", "0", "0", "-1", "+1"]
    assert lines[4 + 7].split() == ["7", "0", "0", "1", "1", "+1", "-1"]
    assert lines[-1].split() == ["31", "1", "1", "1", "1", "+1", "0"]


def test_arrays_and_lists_of_changes_are_equal_to_tuples() -> None:
    changes = [0, 1, -1, 1] * 8
    one = Rule(changes, 0.1, 0.2, 0.3, 0.4)
    two = Rule(np.array(changes), 0.1, 0.2, 0.3, 0.4)  # type: ignore[arg-type]
    assert one == two
    assert hash(one) == hash(two)


@given(rules)
def test_a_rule_survives_its_file(rule: Rule) -> None:
    assert Rule.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


def test_saving_replaces_the_file_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a rule.json"
    published_rule(4).save(path)
    published_rule(3).save(path)
    assert Rule.load(path) == published_rule(3)
    assert [file.name for file in tmp_path.iterdir()] == ["a rule.json"]


def test_saving_refuses_a_link_and_a_file_of_another_kind(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    published_rule(4).save(real)
    link.symlink_to(real)
    with pytest.raises(InputError, match=r"link\.json': it is a link; name the file that it leads to$"):
        published_rule(3).save(link)
    assert Rule.load(real) == published_rule(4)
    real.write_text('{"name": "a package"}')
    with pytest.raises(InputError, match="a file of another kind is there; name another, or remove that"):
        published_rule(3).save(real)
    assert real.read_text() == '{"name": "a package"}'


GOOD: dict[str, Any] = published_rule(1).to_dict()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"delta_w": [0] * 31}, "delta_w has 31 changes, expected 32"),
        ({"delta_w": [0] * 31 + [2]}, "delta_w[31] is 2, expected a whole number from -1 to 1"),
        ({"delta_w": [0.5] + [0] * 31}, "delta_w[0] is 0.5"),
        ({"delta_w": [True] + [0] * 31}, "delta_w[0] is True"),
        ({"alpha_H": 0.1}, "unknown field 'alpha_H'; did you mean 'alpha_h'?"),
    ],
)
def test_malformed_rule_files_are_refused_by_name(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({**GOOD, **change}))
    said = refused(lambda: Rule.load(path))
    assert problem in said
    assert str(path) in said


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "is not JSON: line 1, column 2"),
        (b"[1, 2]", "expected an object with"),
        (b"\xff\xfe", "it is not a UTF-8 text file"),
        (b'{"format": "distal-rule", "version": 1}', "field 'eta' is missing"),
        (b'{"format": "distal-rule", "version": 1, "eta": NaN}', "is not JSON: NaN is not a JSON number"),
        (b'{"format": "distal-rule", "eta": -Infinity}', "is not JSON: -Infinity is not a JSON number"),
        (b'{"eta": 0.1, "theta": 0.1, "eta": 0.2}', "is not JSON: the name 'eta' occurs twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 10_000, "a number is too long"),
    ],
)
def test_files_that_are_no_rules_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.json") as refusal:
        Rule.load(path)
    assert problem in str(refusal.value)
