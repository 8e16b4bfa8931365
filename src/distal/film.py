"""Films of agents that have learned for longer and longer: GIF, and MP4 with the extra `video`."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from distal import engines
from distal.checks import InputError
from distal.engines import Batch
from distal.episode import run_episode
from distal.files import write_bytes
from distal.network import Weights
from distal.pixels import COLOURS, INK, PAPER, SCALE, Frame, draw
from distal.walk import MazeTask, MazeWalk

AFTER = (100, 1_000, 10_000)  # episodes, as in the paper's video
FRAMES_PER_SECOND = 12
HOLD = 18  # frames that the end stands still


@dataclass(frozen=True)
class Scene:
    """A walk, and the episodes of learning that led to it."""

    after: int
    walk: MazeWalk


def scenes(batch: Batch, after: Sequence[int], engine: str = engines.DEFAULT) -> list[Scene]:
    """Return the walks of the best network that a trial had found after so many episodes.

    `batch` holds one trial; its own number of episodes does not matter.
    """
    learner, settings = batch.learners[int(batch.learner[0])], batch.settings
    alpha_h, alpha_o = np.float32(learner.alpha_h), np.float32(learner.alpha_o)
    task = MazeTask(batch.maze, int(batch.goal[0]), settings.steps, settings.blocked)
    found = []
    for episodes in after:
        trials = engines.load(engine).run(
            replace(batch, episodes=episodes), keep_weights=True, keep_ep=False, workers=1, progress=None
        )
        if trials.hidden is None or trials.output is None:
            raise AssertionError("an engine that was asked for weights gives them")
        weights = Weights(trials.hidden[0], trials.output[0])
        number = int(trials.best[0].argmin())  # the first that was the best
        episode = run_episode(weights, alpha_h, alpha_o, task, settings, int(batch.seed[0]), number)
        found.append(Scene(episodes, episode.walk))
    return found


def film(shown: Sequence[Scene], scale: int = SCALE) -> list[Frame]:
    """Show the walks side by side, step by step, each until it ends."""
    task = shown[0].walk.task
    rows, columns = task.maze.shape
    band, gap = 4 * scale, scale
    width = max(columns * scale, 18 * scale)
    size = (_even(len(shown) * (width + gap) + gap), _even(rows * scale + band + gap))
    font = ImageFont.load_default(size=1.35 * scale)
    longest = max(scene.walk.steps for scene in shown)
    frames = []
    for step in [*range(longest + 1), *[longest] * HOLD]:
        whole = Image.new("RGB", size, PAPER)
        pen = ImageDraw.Draw(whole)
        for panel, scene in enumerate(shown):
            walk, left = scene.walk, gap + panel * (width + gap)
            now = min(step, walk.steps)
            over = now == walk.steps
            plural = "s" if scene.after > 1 else ""
            pen.text((left, 0.4 * scale), f"after {scene.after:,} episode{plural}", INK, font)
            outcome = f"EP {walk.ep}" + ("" if walk.reached else ", goal not reached")
            colour = COLOURS["goal"] if over and walk.reached else COLOURS["start"] if over else INK
            pen.text((left, 2.1 * scale), outcome if over else f"step {now}", colour, font)
            picture = draw(task.maze, task.goal, walk.cells[: now + 1], walk.headings[now], scale)
            whole.paste(Image.fromarray(picture), (left, band))
        frames.append(np.asarray(whole))
    return frames


def write_gif(path: str | Path, frames: Sequence[Frame]) -> None:
    """Write an animated GIF that repeats for ever."""
    pictures = [Image.fromarray(frame) for frame in frames]
    # One palette for all, from the last frame, which has every colour: no flicker, and small differences.
    palette = pictures[-1].quantize(64)
    pictures = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    buffer = io.BytesIO()
    pictures[0].save(
        buffer,
        "GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=round(1000 / FRAMES_PER_SECOND),
        loop=0,
    )
    write_bytes(path, buffer.getvalue())


def check_mp4() -> None:
    """Refuse if the encoder is not installed."""
    try:
        import imageio_ffmpeg  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise InputError(
            "MP4 needs an encoder that is not installed; pip install 'distal[video]', or write a GIF"
        ) from None


def write_mp4(path: str | Path, frames: Sequence[Frame]) -> None:
    """Write an MP4 film (H.264), with the encoder that the extra `video` brings."""
    check_mp4()
    import imageio_ffmpeg  # noqa: PLC0415 - an extra

    height, width = frames[0].shape[:2]
    with tempfile.TemporaryDirectory() as folder:
        film_path = Path(folder) / "film.mp4"
        writer = imageio_ffmpeg.write_frames(
            str(film_path), (width, height), fps=FRAMES_PER_SECOND, quality=8, macro_block_size=2
        )
        writer.send(None)
        for frame in frames:
            writer.send(np.ascontiguousarray(frame))
        writer.close()
        write_bytes(path, film_path.read_bytes())


def _even(number: int) -> int:
    """Round up to an even number, as video needs it."""
    return number + number % 2
