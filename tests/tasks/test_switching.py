"""Goals that move: schedules, engines that agree, and what phases say."""

from __future__ import annotations

import csv
import io
from functools import partial

import numpy as np
import pytest

from distal import Behaviour, InputError, Maze, evolve, find_learner, find_rule, learn, triple_t_maze
from distal.engines import Batch, Runner
from distal.evaluation.measures import Measure
from distal.evaluation.phases import Phases
from distal.learners import DEFAULT_CHANCE, DEFAULT_CLIMBER, Learner, episodes
from distal.learners.hill_climbing import perturbed
from distal.model.settings import Settings
from distal.networks import Recurrent
from distal.tasks.mazes import MazeTask, scaled_steps
from distal.tasks.switching import Switch
from distal.tasks.task import Aim

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
        (0, "new", "switch is 0, expected"),
        (2.5, "new", "switch is 2.5, expected"),
        (5, "old", "the goals of a switch are 'old', expected new or back, or a list"),
        (5, (1,), "expected new or back, or a list of at least two goals"),
        (5, (1, -1), "a goal of a switch is -1, expected"),
        (5, 3, "expected new or back, or a list"),
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
            _batch(DEFAULT_CHANCE, switch, task=lone, goal=0)


def _batch(
    learner: Learner,
    switch: Switch | None,
    *,
    task: MazeTask | None = None,
    goal: int = 2,
    resample: int | None = None,
    n: int = 13,
    settings: Settings | None = None,
) -> Batch:
    return Batch(
        learners=(learner,),
        learner=np.zeros(3, np.int32),
        goal=np.full(3, goal, np.int32),
        seed=np.array([1, 2**40, 77], np.uint64),
        task=MazeTask(triple_t_maze()) if task is None else task,
        settings=settings or Settings(steps=60),
        episodes=n,
        resample=resample,
        switch=switch,
    )


@pytest.mark.parametrize("resample", [None, 6])
@pytest.mark.parametrize("how", ["new", "back", (1, 2, 3)])
@pytest.mark.parametrize("word", ["evolved:1", "hc", "chance"])
def test_engines_agree_where_goals_move(word: str, how: str | tuple[int, ...], resample: int | None) -> None:
    batch = _batch(find_learner(word), Switch(4, how), resample=resample)
    one, other = (Runner(name).run(batch, keep_ep=True, keep_weights=True) for name in ("reference", "cpu"))
    for name in ("best", "ep", "hidden", "output"):
        assert (getattr(one, name) == getattr(other, name)).all()


def test_the_best_ep_is_that_of_the_phase() -> None:
    outcome = Runner("cpu").run(_batch(DEFAULT_CHANCE, Switch(5)), keep_ep=True)
    assert outcome.ep is not None
    for first in (0, 5, 10):
        phase = slice(first, first + 5)
        assert (outcome.best[:, phase] == np.minimum.accumulate(outcome.ep[:, phase], axis=1)).all()


def test_where_goals_do_not_move_yet_nothing_changes() -> None:
    rule = find_rule("evolved:1")
    still, moved = (Runner("cpu").run(_batch(rule, switch), keep_ep=True) for switch in (None, Switch(7)))
    assert still.ep is not None
    assert moved.ep is not None
    assert (still.ep[:, :7] == moved.ep[:, :7]).all()
    assert (still.ep[:, 7:] != moved.ep[:, 7:]).any()


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
    assert [aim.moves_at(k) for k in range(7)] == [False, False, False, True, False, False, False]


# Two trials of seven episodes, in phases of three; the last phase is cut short.
BEST = np.array([[9, 5, 5, 8, 8, 4, 7], [9, 9, 9, 6, 3, 3, 2]], np.int32)
GOALS = np.array([[0, 1, 0], [0, 2, 0]], np.int32)


def test_phases_by_hand() -> None:
    phases = Phases.of(BEST, GOALS, Switch(3), target=5)
    assert phases.first.tolist() == [[9, 8, 7], [9, 6, 2]]
    assert phases.best.tolist() == [[5, 4, 7], [9, 3, 2]]
    assert phases.until is not None
    assert phases.until.tolist() == [[2, 3, 0], [0, 2, 1]]
    assert phases.reached is not None
    assert phases.reached.tolist() == [0.5, 1, 0.5]
    assert phases.median_until == [None, 2.5, None]
    assert phases.curve.tolist() == [7, 5.5, 3.5]  # the second phase alone: whole, and not the first
    forgetting = phases.forgetting
    assert forgetting is not None
    assert forgetting.returns == 2
    assert (forgetting.left_with, forgetting.came_back_with) == (7, 4.5)  # (5 + 9) / 2, (7 + 2) / 2
    assert forgetting.lost == -2.5
    assert forgetting.standard_error == pytest.approx(4.5)  # of 2 and −7
    assert forgetting.until_first is None  # 2 and never
    assert phases.to_dict()["forgetting"]["lost"] == -2.5


def test_without_a_target_or_a_return_there_is_less_to_say() -> None:
    phases = Phases.of(BEST, np.array([[0, 1, 2], [0, 2, 1]], np.int32), Switch(3), target=None)
    for found in (phases.until, phases.reached, phases.median_until, phases.forgetting):
        assert found is None


@pytest.mark.parametrize(("word", "expected"), [("best", [5, 5]), ("last:1", [17 / 3, 5]), ("mean", [6, 6])])
def test_what_a_trial_is_judged_by(word: str, expected: list[float]) -> None:
    # Phases of two episodes: (6, 8), (7, 4), (6, 5) of one trial, (4, 4), (9, 4), (8, 7) of the other.
    ep = np.array([[6, 8, 7, 4, 6, 5], [4, 4, 9, 4, 8, 7]], np.int32)
    batch = Batch(
        (DEFAULT_CHANCE,), np.zeros(2, np.int32), np.zeros(2, np.int32), np.arange(2, dtype=np.uint64),
        MazeTask(triple_t_maze()), Settings(), 6, switch=Switch(2),
    )  # fmt: skip
    measure = Measure.of(word)
    assert measure.record(6, Switch(2)) == (2, 4, 6)
    best = np.array([[6, 4, 5], [4, 4, 7]], np.int32)
    outcome = Runner("cpu").run(batch, keep_ep=True)
    given = type(outcome)(best=best, ep=ep, hidden=None, output=None)
    assert measure.scores(batch, given).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("word", ["worst", "last", "last:0", "last:-1", "last:2.5", "LAST:2", 7, None])
def test_a_wrong_measure_is_refused(word: object) -> None:
    with pytest.raises(InputError, match=r"fitness is|after last:"):
        Measure.of(word)


def test_more_last_episodes_than_there_are_is_refused() -> None:
    Measure.of("last:20").check(100, Switch(20))
    with pytest.raises(InputError, match="last:21, but a trial has 20 episodes"):
        Measure.of("last:21").check(20)
    with pytest.raises(InputError, match="last:20, but the shortest phase has 10 episodes"):
        Measure.of("last:20").check(110, Switch(50))


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


def test_a_goal_that_stays_does_not_return() -> None:
    stays = Phases.of(BEST, np.array([[0, 0, 0], [0, 2, 0]], np.int32), Switch(3), target=5).forgetting
    assert stays is not None
    assert stays.returns == 1


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
