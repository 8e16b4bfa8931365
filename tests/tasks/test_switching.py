"""Goals that move: schedules, engines that agree, and what phases say."""

from __future__ import annotations

import csv
import io
from functools import partial

import numpy as np
import pytest

from distal import Behaviour, InputError, Maze, evolve, find_rule, learn, triple_t_maze
from distal.engines import Runner
from distal.learners import DEFAULT_CHANCE, DEFAULT_CLIMBER, episodes
from distal.learners.hill_climbing import perturbed
from distal.model.settings import Settings
from distal.networks import Recurrent
from distal.tasks.mazes import MazeTask, scaled_steps
from distal.tasks.switching import Switch
from distal.tasks.task import Aim
from tests.batches import trials_of
from tests.given import some

SEEDS = np.arange(2000, dtype=np.uint64) * 977 + 5
FIRST = (np.arange(2000) % 8).astype(np.int32)


def test_every_phase_has_another_goal_and_all_goals_come_equally_often() -> None:
    goals = Switch(10).schedule(FIRST, SEEDS, 8, 6)
    assert goals.shape == (2000, 6)
    assert (goals[:, 0] == FIRST).all()
    assert (np.diff(goals, axis=1) != 0).all()
    steps = (np.diff(goals, axis=1) % 8).ravel()
    counts = np.bincount(steps, minlength=8)[1:]  # 10,000 moves, each of seven alike: 1,429 ± 35
    assert abs(counts - 10_000 / 7).max() < 4 * 35


def test_goals_go_back_and_forth() -> None:
    goals = Switch(10, "back").schedule(FIRST, SEEDS, 8, 5)
    assert (goals[:, ::2] == FIRST[:, None]).all()
    assert (goals[:, 1] == goals[:, 3]).all()
    assert (goals[:, 1] != FIRST).all()


def test_a_longer_schedule_begins_with_the_shorter_one() -> None:
    for how in ("new", "back", (3, 1, 2)):
        switch = Switch(10, how)
        long = switch.schedule(FIRST, SEEDS, 8, 9)
        for phases in (1, 2, 5):
            assert (switch.schedule(FIRST, SEEDS, 8, phases) == long[:, :phases]).all()


def test_listed_goals_begin_anew_when_the_list_ends() -> None:
    goals = Switch(10, (3, 1)).schedule(FIRST[:2], SEEDS[:2], 8, 5)
    assert goals.tolist() == [[3, 1, 3, 1, 3]] * 2


@pytest.mark.parametrize(
    ("every", "goals", "message"),
    [
        (5, "old", "the goals of a switch are 'old', expected new or back, or a list"),
        (5, (1,), "expected new or back, or a list of at least two goals"),
        (5, (1, -1), "a goal of a switch is -1, expected"),
    ],
)
def test_a_wrong_switch_is_refused(every: int, goals: str | tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Switch(every, goals)


def test_a_task_with_too_few_goals_is_refused() -> None:
    lone = MazeTask(Maze(("####", "#S0#", "####")))
    for switch, message in (
        (Switch(2), "at least two goals"),
        (Switch(2, (0, 1)), "a goal of a switch is 1"),
    ):
        with pytest.raises(InputError, match=message):
            trials_of([DEFAULT_CHANCE], Settings(), 13, task=lone, switch=switch)


def test_where_goals_do_not_move_yet_nothing_changes() -> None:
    rules = [find_rule("evolved:1")]
    still, moved = (
        Runner("cpu").run(trials_of(rules, Settings(steps=60), 13, switch=switch), keep_ep=True)
        for switch in (None, Switch(7))
    )
    assert (some(still.ep)[:, :7] == some(moved.ep)[:, :7]).all()
    assert (some(still.ep)[:, 7:] != some(moved.ep)[:, 7:]).any()


def test_hill_climbing_measures_its_best_weights_anew_where_a_goal_has_moved() -> None:
    aim = Aim(MazeTask(triple_t_maze()), 2, (2, 5), 3)
    found = [next(stream) for stream in [episodes(DEFAULT_CLIMBER, aim, Settings(), 9)] for _ in range(6)]
    best = min(found[:3], key=lambda one: one.ep)
    assert (found[3].weights.hidden == best.weights.hidden).all()
    # From then on the climb goes on from there, whatever EP it had before.
    sigma = np.float32(DEFAULT_CLIMBER.sigma)
    assert (found[4].weights.hidden == perturbed(Recurrent(), best.weights, sigma, 9, 4).hidden).all()
    assert (found[0].weights.hidden == Recurrent().fresh_weights(9, 0).hidden).all()
    assert [aim.goal_in(k) for k in range(8)] == [2, 2, 2, 5, 5, 5, 5, 5]


def test_steps_are_scaled_with_the_shortest_way() -> None:
    # 100 steps for 38.5 on average; a corridor of three steps has 100 · 3 / 38.5 = 7.8, rounded up.
    assert scaled_steps(triple_t_maze()) == 100
    assert scaled_steps(Maze(("######", "#S..0#", "######"))) == 8


def test_a_switch_that_would_never_happen_is_refused() -> None:
    for run in (partial(learn, "hc"), partial(evolve, runs=1, generations=0)):
        with pytest.raises(
            InputError, match="switch is 5, but a trial has 5 episodes: the goal would never move"
        ):
            run(episodes=5, switch=5)


def test_every_phase_counts_as_a_trial_in_what_it_reaches() -> None:
    # Two trials of phases of three and two episodes; a success is a 1.
    ep = np.array([[9, 1, 1, 9, 1], [9, 9, 9, 1, 9]], np.int32)
    found = Behaviour.of(ep, 1, phase=3)
    assert found.first_reached.tolist() == [2, 2, 0, 1]
    assert found.retained == 0.5  # after them come one, none, and one episode more; the first succeeds
    assert Behaviour.of(ep, 1).first_reached.tolist() == [2, 4]


def test_results_of_moving_goals_speak_of_phases_and_tell_trials_apart() -> None:
    result = learn("evolved:1", episodes=7, trials=1, switch=3, steps=30, keep_ep=True)
    assert list(result.checkpoints) == [3, 6, 7]
    for shown in (result.summary(), result._repr_html_()):
        assert "phases" in shown
        assert "of the trials" not in shown
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len({(row["trial"], row["final_position"], row["episode"]) for row in rows}) == len(rows) == 56
    symbols = result.task.goals
    for row, goals in zip(rows[::7], result.goals, strict=True):
        assert row["goal_of_phase"] == row["final_position"] == symbols[goals[0]]
    assert rows[3]["goal_of_phase"] == symbols[result.goals[0, 1]]


def test_the_length_of_a_phase_is_checked_even_where_there_is_one_phase() -> None:
    with pytest.raises(InputError, match="every is 'x', expected a whole number"):
        Aim(MazeTask(triple_t_maze()), 0, (), "x")  # type: ignore[arg-type]
