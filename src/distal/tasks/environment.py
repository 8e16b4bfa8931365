"""The maze as a Gymnasium environment, to compare other methods on.

`gymnasium.make("distal/TripleTMaze-v1")` is the paper's task,
`gymnasium.make("distal/Maze-v0", maze=...)` any maze. Needs the extra `gym`.
"""

from __future__ import annotations

from collections.abc import Sized
from pathlib import Path
from typing import Any

import numpy as np

try:
    import gymnasium
except ImportError as error:
    raise ImportError("Gymnasium is not installed: pip install 'distal[gym]'", name="gymnasium") from error
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from distal.base import memory
from distal.base.checks import InputError, array, instance, integer, one_of, shown
from distal.model.maze import ACTIONS, HEADINGS, MAZES, Maze
from distal.model.maze import maze as named_maze
from distal.model.readings import READINGS, default
from distal.model.settings import MAX_STEPS, Settings
from distal.tasks.mazes import PIT_PENALTY, MazeWalk, maze_table

REWARDS = ("episode", "step")
_RENDER_MODES = ("ansi", "rgb_array")
_MAX_ENVS = 2**20
_ARROWS = "^>v<"  # the agent in a text picture, by heading

_Observation = NDArray[np.int8]


class MazeEnv(gymnasium.Env[_Observation, np.int64]):
    """One agent in a maze.

    Observations are three bits: a wall to the left, in front, to the right. Actions
    are stop, left, right, straight. The option "goal" of `reset` chooses the goal of an
    episode. `info` holds cell (row, column), heading, distance (to the goal), pits (entered
    so far), ep (if the episode ended here) and goal.

    Args:
        maze: A Maze, its name, its picture as text, or a file; the triple T-maze if left out.
        heading: The heading of the agent at the start; the maze's if left out.
        goal: The final position to find, from 0; drawn from the seed if left out.
        max_steps: The most steps of an episode.
        reward: With "episode" every reward is 0 but the last, which is −EP: the paper's
            delayed signal. With "step" a step costs 1, entering a pit 5, and an episode that
            ends without the goal the distance that is left. The return is −EP either way.
        blocked: Whether a move into a wall turns the agent: "turn" or "stay".
        render_mode: "ansi" for text, "rgb_array" for pixels.

    Raises:
        InputError: If an argument is wrong.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium's own declaration
        "render_modes": list(_RENDER_MODES),
        "render_fps": 12,
    }

    def __init__(
        self,
        maze: Maze | str | Path | None = None,
        heading: str | None = None,
        goal: int | None = None,
        max_steps: int = 100,
        reward: str = "episode",
        blocked: str = default("blocked"),
        render_mode: str | None = None,
    ) -> None:
        self.maze = _maze(maze, heading)
        self.goal = None if goal is None else integer("goal", goal, 0, len(self.maze.finals) - 1)
        self.max_steps = integer("max_steps", max_steps, 1, MAX_STEPS)
        self.reward = one_of("reward", reward, REWARDS)
        self.blocked = one_of("blocked", blocked, READINGS["blocked"])
        self.render_mode = None if render_mode is None else one_of("render_mode", render_mode, _RENDER_MODES)
        self.observation_space = gymnasium.spaces.MultiBinary(3)
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self._walk: MazeWalk | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Observation, dict[str, Any]]:
        """Begin an episode; `options={"goal": 3}` chooses the goal."""
        goal = _asked_goal(options, self.maze, self.goal)
        super().reset(seed=None if seed is None else integer("seed", seed, 0))
        if goal is None:
            goal = int(self.np_random.integers(len(self.maze.finals)))
        self._walk = MazeWalk(self.maze, goal, Settings(steps=self.max_steps, blocked=self.blocked))
        return self._observation(self._walk), self._info(self._walk)

    def step(self, action: np.int64) -> tuple[_Observation, float, bool, bool, dict[str, Any]]:
        """Take one step."""
        if self._walk is None or self._walk.over:
            raise ResetNeeded("no episode is under way; call reset() first")
        given: object = action
        if isinstance(given, bool | np.bool_) or given not in self.action_space:
            raise InputError(f"action is {shown(action)}, expected 0 to 3: {', '.join(ACTIONS)}")
        walk, pits = self._walk, self._walk.pits
        walk.act(int(action))
        truncated = walk.over and not walk.reached
        if self.reward == "episode":
            reward = -walk.ep if walk.over else 0
        else:
            reward = -1 - PIT_PENALTY * (walk.pits - pits) - (walk.distance if truncated else 0)
        return self._observation(walk), float(reward), walk.reached, truncated, self._info(walk)

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the maze with the agent: text ("ansi"), or pixels (rows, columns, 3)."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                'nothing to render; make the environment with render_mode="ansi" or "rgb_array"'
            )
            return None
        if self._walk is None:
            raise ResetNeeded("no episode is under way; call reset() first")
        walk = self._walk
        if self.render_mode == "ansi":
            lines = list(self.maze.picture)
            row, column = walk.cells[-1]
            lines[row] = lines[row][:column] + _ARROWS[walk.headings[-1]] + lines[row][column + 1 :]
            goal = self.maze.symbols[walk.goal]
            return "\n".join([*lines, f"goal {goal}, step {walk.steps}, EP {walk.ep}"]) + "\n"
        from distal.tasks import pixels  # noqa: PLC0415 - imports Pillow

        return pixels.draw(self.maze, walk.goal, walk.cells, walk.headings[-1])

    def _observation(self, walk: MazeWalk) -> _Observation:
        return np.array(walk.sense(), np.int8)

    def _info(self, walk: MazeWalk) -> dict[str, Any]:
        return {
            "cell": walk.cells[-1],
            "heading": HEADINGS[walk.headings[-1]],
            "distance": walk.distance,
            "pits": walk.pits,
            "ep": walk.ep,
            "goal": walk.goal,
        }


class MazeVectorEnv(VectorEnv[NDArray[np.int8], NDArray[np.int64], NDArray[Any]]):
    """Many agents, each in its own copy of a maze, moved together by NumPy.

    Observations, rewards and goals are the same as in as many `MazeEnv`; agent k draws its goals
    from the seed + k. After an episode has ended, the next step starts a new one and ignores the
    action, as Gymnasium's vector environments do. `info` holds arrays: cell (n, 2), heading,
    distance, pits, ep, goal (n). The option "goal" of `reset` is one goal for all agents, or a list
    with one for each; it applies to the episodes that `reset` starts, not to later ones.

    Args:
        num_envs: The number of agents.
        maze: A Maze, its name, its picture as text, or a file; the triple T-maze if left out.
        heading: The heading of the agents at the start; the maze's if left out.
        goal: The final position to find, from 0; drawn from the seed if left out.
        max_steps: The most steps of an episode.
        reward: As in `MazeEnv`.
        blocked: Whether a move into a wall turns the agent: "turn" or "stay".
        render_mode: None; many agents at once are not drawn.

    Raises:
        InputError: If an argument is wrong, or the agents would not fit in memory.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium's own declaration
        "autoreset_mode": AutoresetMode.NEXT_STEP,
        "render_modes": [],
    }

    def __init__(
        self,
        num_envs: int = 1,
        maze: Maze | str | Path | None = None,
        heading: str | None = None,
        goal: int | None = None,
        max_steps: int = 100,
        reward: str = "episode",
        blocked: str = default("blocked"),
        render_mode: None = None,
    ) -> None:
        if render_mode is not None:
            raise InputError(
                f"render_mode is {shown(render_mode)}, but a vector environment draws nothing; leave it out"
            )
        one = MazeEnv(maze, heading, goal, max_steps, reward, blocked)
        self.maze, self.goal, self.max_steps, self.reward = one.maze, one.goal, one.max_steps, one.reward
        self.num_envs = num_envs = integer("num_envs", num_envs, 1, _MAX_ENVS)
        agents = {"agents": memory.AGENT * num_envs}
        memory.Estimate(f"{num_envs:,} agents", agents, "ask for a smaller num_envs").check()
        self.single_observation_space, self.single_action_space = one.observation_space, one.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._table = maze_table(self.maze, one.blocked)
        self._drawers = [np.random.default_rng() for _ in range(num_envs)]
        self._state, self._steps, self._extra, self._goals = (np.zeros(num_envs, np.int64) for _ in range(4))
        self._over = np.ones(num_envs, np.bool_)
        self._began = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin an episode for every agent."""
        if isinstance(seed, list | tuple):
            self._check_count("seeds", seed)
            seeds = [None if own is None else integer("seed", own, 0) for own in seed]
        elif seed is None:
            seeds = [None] * self.num_envs
        else:
            seeds = [integer("seed", seed, 0) + k for k in range(self.num_envs)]
        asked = options.get("goal") if isinstance(options, dict) else None
        if isinstance(asked, list | tuple | np.ndarray):
            self._check_count("goals", asked)
            goals = [_asked_goal({**(options or {}), "goal": one}, self.maze, None) for one in asked]
        else:
            goals = [_asked_goal(options, self.maze, self.goal)] * self.num_envs
        for k, own in enumerate(seeds):
            if own is not None:
                self._drawers[k], _ = gymnasium.utils.seeding.np_random(own)
        self._begin(np.ones(self.num_envs, np.bool_), goals)
        self._began = True
        return self._observations(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take one step with every agent, or start a new episode where the last one has ended."""
        if not self._began:
            raise ResetNeeded("no episode is under way; call reset() first")
        chosen = array(actions)
        whole = np.issubdtype(chosen.dtype, np.integer) and chosen.shape == (self.num_envs,)
        if not whole or not ((chosen >= 0) & (chosen < len(ACTIONS))).all():
            raise InputError(f"actions are {shown(actions)}, expected {self.num_envs} numbers from 0 to 3")
        anew, acts = self._over.copy(), ~self._over
        table, here = self._table, self._state
        event = np.where(acts, table.events[here, chosen], 0)
        self._state = np.where(acts, table.following[here, chosen], here)
        cost, terminated = table.costs[self._goals, event], table.ends[self._goals, event]
        self._steps += acts
        self._extra += cost
        truncated = acts & ~terminated & (self._steps == self.max_steps)
        if self.reward == "episode":
            reward = np.where(terminated | truncated, -self._ep(terminated), 0)
        else:
            reward = -1 - cost - np.where(truncated, self._distance(), 0)
            reward = np.where(acts, reward, 0)
        self._over = terminated | truncated
        self._begin(anew, [self.goal] * self.num_envs)
        return self._observations(), reward.astype(np.float64), terminated, truncated, self._infos()

    def _check_count(self, what: str, given: Sized) -> None:
        if len(given) != self.num_envs:
            raise InputError(f"there are {len(given)} {what}, expected one number or {self.num_envs} of them")

    def _begin(self, which: NDArray[np.bool_], goals: list[int | None]) -> None:
        self._state[which] = self._table.starts[0]  # the same for all goals
        self._steps[which] = self._extra[which] = 0
        self._over[which] = False
        for k in np.flatnonzero(which):
            goal = goals[k]
            self._goals[k] = self._drawers[k].integers(len(self.maze.finals)) if goal is None else goal

    def _observations(self) -> NDArray[np.int8]:
        return self._table.observations[self._state].astype(np.int8)

    def _distance(self) -> NDArray[np.int64]:
        return self._table.left[self._goals, self._state].astype(np.int64)

    def _ep(self, reached: NDArray[np.bool_]) -> NDArray[np.int64]:
        base: NDArray[np.int64] = np.where(reached, self._steps, self.max_steps + self._distance())
        return base + self._extra

    def _infos(self) -> dict[str, Any]:
        distance = self._distance()
        return {
            "cell": np.stack(np.divmod(self._state // 4, self.maze.shape[1]), axis=1),
            "heading": np.array(HEADINGS)[self._state % 4],
            "distance": distance,
            "pits": self._extra // PIT_PENALTY,
            "ep": self._ep(distance == 0),
            "goal": self._goals.copy(),
        }


def _maze(maze: Maze | str | Path | None, heading: str | None) -> Maze:
    """Return the maze that is meant: a Maze, a name, a picture as text, a file, or the default."""
    if maze is None:
        maze = named_maze()
    elif isinstance(maze, str) and maze in MAZES:
        maze = named_maze(maze)
    if isinstance(maze, Maze):
        return maze if heading is None else Maze(maze.picture, heading)
    if isinstance(maze, str) and "\n" in maze:
        return Maze.from_text(maze, "north" if heading is None else heading)
    if isinstance(maze, str | Path):
        return Maze.from_file(maze, "north" if heading is None else heading)
    raise InputError(f"maze is {shown(maze)}, expected a Maze, its name, its picture as text, or a file")


def _asked_goal(options: dict[str, Any] | None, maze: Maze, otherwise: int | None) -> int | None:
    """Return the goal that the options of a reset ask for, if they do."""
    if options is None:
        return otherwise
    for name in instance("options", options, dict, "a dictionary such as {'goal': 3}"):
        if not isinstance(name, str) or name != "goal":
            raise InputError(f"options has an unknown name {shown(name)}, the only one is 'goal'")
    return integer("goal", options["goal"], 0, len(maze.finals) - 1) if options else otherwise
