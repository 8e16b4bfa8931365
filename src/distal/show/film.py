"""Films of agents that have learned for longer and longer: GIF, and MP4 with the extra `video`."""

from __future__ import annotations

import io
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from distal.base import checks, memory
from distal.base.checks import InputError, integer, sequence
from distal.base.colours import LIGHT
from distal.base.files import GIF, MP4, check_target, write_bytes
from distal.show.scenes import MAX_SCALE, GridWalk, Scene
from distal.tasks.pixels import SCALE, Frame

FRAMES_PER_SECOND = 12
HOLD = 18  # frames that the end stands still
WIDE = 24  # cells of a maze; the cells of a smaller grid are larger

_Font: TypeAlias = ImageFont.FreeTypeFont | ImageFont.ImageFont


def film(shown: Sequence[Scene], scale: int = SCALE) -> list[Frame]:
    """Show the walks side by side, step by step, each until it ends, with a key to the colours below."""
    shown = sequence("shown", shown, "a list of scenes")
    if not shown or not all(isinstance(scene, Scene) for scene in shown):
        raise InputError("shown is empty, or holds something other than scenes; make them with scenes")
    scale = integer("scale", scale, 1, MAX_SCALE)
    rows, columns = shown[0].shape
    cell = scale * (max(1, WIDE // max(rows, columns)) if isinstance(shown[0].walk, GridWalk) else 1)
    font = ImageFont.load_default(size=1.35 * scale)
    longest = max(scene.walk.steps for scene in shown)
    widest = max(font.getlength(line) for scene in shown for line in scene.caption(longest))
    band, gap = 4 * scale, scale
    width = max(columns * cell, math.ceil(widest))
    height = rows * cell
    size = (_even(len(shown) * (width + gap) + gap), _even(height + band + 3 * scale))
    count = longest + 1 + HOLD
    pixels = {"pixels": memory.PIXEL * count * size[0] * size[1]}
    memory.Estimate(f"{count:,} frames", pixels, "ask for fewer steps, scenes or a smaller maze").check()
    frames = []
    for step in [*range(longest + 1), *[longest] * HOLD]:
        whole = Image.new("RGB", size, LIGHT["floor"])
        pen = ImageDraw.Draw(whole)
        for panel, scene in enumerate(shown):
            left = gap + panel * (width + gap)
            now = min(step, scene.walk.steps)
            for line, text in enumerate(scene.caption(now)):
                pen.text((left, (0.4 + 1.7 * line) * scale), text, LIGHT["wall"], font)
            whole.paste(Image.fromarray(scene.draw(now, cell)), (left, band))
        _key(pen, (gap, band + height + 0.7 * scale), scale, font, shown[0].roles)
        frames.append(np.asarray(whole))
    return frames


def _key(
    pen: ImageDraw.ImageDraw, at: tuple[float, float], scale: int, font: _Font, roles: Sequence[str]
) -> None:
    """Write what the colours of the grid mean."""
    x, y = at
    for role in roles:
        pen.rectangle((x, y + 0.3 * scale, x + scale - 1, y + 1.3 * scale - 1), LIGHT[role])
        pen.text((x + 1.4 * scale, y), role, LIGHT["wall"], font)
        x += 2.6 * scale + font.getlength(role)


def write_gif(path: str | Path, frames: Sequence[Frame]) -> None:
    """Write an animated GIF that repeats."""
    path, frames = _checked(path, frames, GIF)
    # One palette for all, from the last frame, which has every colour: no flicker, and small differences.
    palette = Image.fromarray(frames[-1]).quantize(64)
    pictures = [
        Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames
    ]
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
    path, frames = _checked(path, frames, MP4)
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


def _checked(target: object, frames: object, ours: bytes) -> tuple[Path, tuple[Frame, ...]]:
    """Return where to write which frames; refuse what cannot be written, before the work."""
    out = checks.path("path", target)
    check_target(out, ours)
    pictures = sequence("frames", frames, "a list of frames")
    for frame in pictures:
        if not isinstance(frame, np.ndarray) or frame.dtype != np.uint8 or frame.shape[2:] != (3,):
            raise InputError(
                f"frames holds {checks.shown(frame)}, expected arrays (height, width, 3) of bytes"
            )
    if len({frame.shape for frame in pictures}) != 1 or not pictures[0].size:
        raise InputError(f"frames has {len(pictures)} frames, expected at least one, and all of one size")
    return out, pictures


def _even(number: int) -> int:
    """Round up to an even number, as video needs it."""
    return number + number % 2
