"""The scenes of a film: the walks of an agent that has learned for longer and longer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from distal.base import memory
from distal.base.checks import InputError, counted, instance, integer, one_of, sequence
from distal.base.colours import LIGHT
from distal.engines import Batch, Runner
from distal.engines.reference import episodes
from distal.learners import KINDS
from distal.networks import network_for, run_episode
from distal.show.recording import states_of
from distal.tasks import picture as grid
from distal.tasks.mazes import MazeWalk
from distal.tasks.picture import NOWHERE, Picture
from distal.tasks.pixels import Frame, draw, draw_grid
from distal.tasks.task import Aim

AFTER = (100, 1_000, 10_000)  # episodes, as in the paper's video
MAX_SCENES, MAX_LEARNED = 8, 10_000_000  # side by side; episodes
MAX_SCALE = 100  # pixels per cell
_ROLES = {grid.WALL: "wall", grid.START: "start", grid.GOAL: "goal", grid.PIT: "pit"}


@dataclass(frozen=True, eq=False)
class GridWalk:
    """A walk through a table whose states lie on a grid.

    Attributes:
        picture: The grid.
        states: The states, from the start on.
        ep: The EP.
        reached: Whether the EP is at or below the task's target; None if it has none.
    """

    picture: Picture
    states: tuple[int, ...]
    ep: int
    reached: bool | None

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.states) - 1


@dataclass(frozen=True)
class Scene:
    """A walk that a film shows.

    Attributes:
        after: The number of episodes before this walk.
        walk: The walk.
        kind: The word for the kind of learner.
        since: The first episode, from 1, of the range in which it is the best: if goals move, the first
            of the last phase.
    """

    after: int
    walk: MazeWalk | GridWalk
    kind: str
    since: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "after", integer("after", self.after, 1, MAX_LEARNED))
        if not isinstance(self.walk, GridWalk):
            instance("walk", self.walk, MazeWalk, "a MazeWalk, or a GridWalk")
        one_of("kind", self.kind, KINDS)
        object.__setattr__(self, "since", integer("since", self.since, 1, self.after))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.walk.picture.shape if isinstance(self.walk, GridWalk) else self.walk.maze.shape

    @property
    def roles(self) -> list[str]:
        """The meanings of the grid's colours."""
        symbols = "".join(self.walk.picture.rows) if isinstance(self.walk, GridWalk) else grid.PIT
        return ["start", "goal", *(["pit"] if grid.PIT in symbols else [])]

    @property
    def colour(self) -> str:
        """The colour of the learner."""
        return LIGHT.get(self.kind, LIGHT["other"])

    def caption(self, step: int) -> tuple[str, str]:
        """Return two lines: a title, and the progress after a step or the outcome."""
        walk, step = self.walk, integer("step", step, 0)
        if self.since == self.after:
            title = "the first episode" if self.after == 1 else f"episode {self.after:,}"
        elif self.since == 1:
            title = f"best of {self.after:,} episodes"
        else:
            title = f"best of episodes {self.since:,} to {self.after:,}"
        if step < walk.steps:
            return title, f"step {step}"
        steps = "1 step" if walk.steps == 1 else f"{walk.steps} steps"
        ending = {True: f"goal in {steps}", False: "goal not reached", None: steps}[walk.reached]
        many = 0 if isinstance(walk, GridWalk) else walk.pits
        pits = {0: "", 1: ", 1 pit"}.get(many, f", {many} pits")
        return title, f"{ending}{pits}: EP {walk.ep}"

    def draw(self, step: int, scale: int) -> Frame:
        """Draw the agent after a step, and its path so far."""
        walk, scale = self.walk, integer("scale", scale, 1, MAX_SCALE)
        step = integer("step", step, 0, walk.steps)
        if isinstance(walk, MazeWalk):
            cells, heading = walk.cells[: step + 1], walk.headings[step]
            return draw(walk.maze, walk.goal, cells, heading, scale, self.colour)
        roles = [[_ROLES.get(symbol, "") for symbol in row] for row in walk.picture.rows_from(walk.states[0])]
        spots = [walk.picture.spot(state) for state in walk.states[: step + 1]]
        now, columns = spots[-1], self.shape[1]
        return draw_grid(
            roles,
            [divmod(spot.cell, columns) for spot in spots],
            None if now.heading == NOWHERE else now.heading,
            scale,
            self.colour,
            lines=True,
            thing=None if now.thing == NOWHERE else divmod(now.thing, columns),
        )


def scenes(batch: Batch, after: Sequence[int], engine: str | None = None) -> list[Scene]:
    """Return the walks of the best network that a trial had found after some numbers of episodes.

    Where the goal moves, it is the best since the last move, towards the goal of that phase.

    Args:
        batch: One trial in a maze, or in a table that has a picture; its own number of episodes
            does not matter.
        after: The numbers of episodes, one for each walk.
        engine: The engine that finds the networks; if left out, cpu where it can run the work, else
            reference.

    Returns:
        The walks, in the order of `after`.

    Raises:
        InputError: If an argument is wrong, the task has no picture, or the engine cannot run
            the trial.
    """
    if len(instance("batch", batch, Batch, "a Batch of one trial")) != 1:
        raise InputError(f"batch has {counted(len(batch), 'trial')}, expected one; take it with Batch.part")
    check_picture(batch)
    given = sequence("after", after, "a list of numbers of episodes")
    if not 1 <= len(given) <= MAX_SCENES:
        raise InputError(f"after has {len(given)} numbers of episodes, expected 1 to {MAX_SCENES}")
    wanted = [integer("after", episodes, 1, MAX_LEARNED) for episodes in given]
    curves = {"curves": (memory.EP + memory.COLUMN) * max(wanted)}
    memory.Estimate(counted(max(wanted), "episode"), curves, "ask for fewer of them (after)").check()
    runner = Runner(engine, workers=1)
    return [_scene(replace(batch, episodes=episodes, record=None), runner) for episodes in wanted]


def check_picture(batch: Batch) -> None:
    """Refuse a trial in a task that cannot be drawn."""
    if batch.task.maze is None and batch.task.picture is None:
        raise InputError(
            f"{batch.task.name} has no picture that a film could show; write a page, without a film"
        )


def _scene(batch: Batch, runner: Runner) -> Scene:
    """Run a trial, and then the first episode that was its best again."""
    trials, task = runner.run(batch, keep_weights=True), batch.task
    if trials.hidden is None or trials.output is None:
        raise AssertionError("an engine that was asked for weights gives them")
    learner = batch.learners[int(batch.learner[0])]
    network = network_for(batch.settings, task.inputs, task.outputs, learner.numbers)
    weights = network.weights(trials.hidden[0], trials.output[0])
    phase = batch.phase * ((batch.episodes - 1) // batch.phase)  # the first episode of the last phase
    number = phase + int(trials.best[0, phase:].argmin())
    goals = batch.goals[0].tolist()
    aim = Aim(task, goals[0], goals, batch.phase)
    if learner.within:  # its weights changed on the way
        episode = next(islice(episodes(batch, 0), number, None))
    else:
        episode = run_episode(network, weights, aim, int(batch.seed[0]), number)
    walk, table, picture = episode.walk, task.table(batch.settings), task.picture
    if table is not None and picture is not None:
        target = task.target(batch.settings)
        states = states_of(table, aim.goal_in(number), episode.actions)
        walk = GridWalk(
            picture, tuple(states), int(episode.ep), None if target is None else episode.ep <= target
        )
    return Scene(batch.episodes, walk, learner.kind, since=phase + 1)
