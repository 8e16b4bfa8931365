"""Films: which walks they show, and that players can read them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from distal import InputError, published_rule
from distal.base.colours import LIGHT
from distal.model.maze import STRAIGHT
from distal.show import film
from distal.show.scenes import GridWalk, Scene, scenes
from distal.tasks.picture import Picture
from distal.tasks.pixels import SCALE
from tests.show.test_scenes import trial, walk


def colour(frame: Any, y: float, x: float) -> str:
    return "#" + "".join(f"{part:02x}" for part in frame[int(y), int(x)])


@pytest.mark.parametrize("kind", ["dsp", "hc", "chance"])
def test_a_film_has_the_colours_of_every_other_picture(kind: str) -> None:
    frame = film.film([Scene(5, walk(0, STRAIGHT, STRAIGHT), kind)])[-1][4 * SCALE :, SCALE:]
    centres = {
        (row, column): colour(frame, (row + 0.5) * SCALE, (column + 0.5) * SCALE)
        for row in range(5) for column in range(5)
    }  # fmt: skip
    assert (centres[1, 1], centres[1, 3], centres[0, 0]) == (LIGHT["goal"], LIGHT["pit"], LIGHT["wall"])
    assert centres[1, 2] == LIGHT[kind]  # the agent, at the junction
    assert colour(frame, 3 * SCALE, 2 * SCALE) == LIGHT["start"]  # a corner of it, beside the trail


def test_a_film_of_a_table_draws_its_grid() -> None:
    picture = Picture(["a#.", "H.G"], cells=[3, 4, 5, 2], headings=[-1, 1, -1, -1], things=[-1, -1, -1, 0])
    seen, size = {}, 8 * SCALE  # a grid of three cells is as wide as a maze of 24
    for states in ((0, 1), (0, 1, 2), (0, 3)):
        frame = film.film([Scene(5, GridWalk(picture, states, 7, None), "hc")])[-1][4 * SCALE :, SCALE:]
        seen[states] = {
            (row, column): colour(frame, (row + 0.5) * size, (column + 0.5) * size)
            for row in range(2) for column in range(3)
        }  # fmt: skip
    assert seen[0, 1][1, 1] == seen[0, 1, 2][1, 2] == LIGHT["hc"]  # the agent, a triangle and a disc
    assert seen[0, 1][0, 1] == LIGHT["wall"]
    assert seen[0, 1][1, 2] == LIGHT["goal"]
    assert seen[0, 1][0, 0] == seen[0, 1][0, 2] == LIGHT["floor"]
    assert seen[0, 3][0, 0] == LIGHT["ink"]  # the thing to be fetched
    assert colour(frame, size + 9, 9) == LIGHT["start"]


def test_a_film_runs_until_the_longest_walk_has_ended_and_then_holds_still(tmp_path: Path) -> None:
    shown = scenes(trial(published_rule(1), steps=30), [1, 20])
    frames = film.film(shown)
    assert len(frames) == max(scene.walk.steps for scene in shown) + 1 + film.HOLD
    assert (frames[-1] == frames[-film.HOLD]).all()
    assert (frames[0] != frames[1]).any()
    assert all(side % 2 == 0 for side in frames[0].shape[:2])

    film.write_gif(tmp_path / "a.gif", frames)
    with Image.open(tmp_path / "a.gif") as picture:
        assert picture.size == frames[0].shape[1::-1]
        lasting = 0
        for number in range(picture.n_frames):  # type: ignore[attr-defined] # equal frames are merged
            picture.seek(number)
            lasting += picture.info["duration"]
        assert lasting == pytest.approx(len(frames) * 1000 / film.FRAMES_PER_SECOND, rel=0.05)


def test_an_mp4_has_every_frame(tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="no encoder: pip install 'distal[video]'")
    frames = film.film(scenes(trial(published_rule(1), steps=10), [1]))
    path = tmp_path / "a.mp4"
    film.write_mp4(path, frames)
    count, seconds = ffmpeg.count_frames_and_secs(str(path))
    assert count == len(frames)
    assert seconds == pytest.approx(len(frames) / film.FRAMES_PER_SECOND, abs=0.2)
    probe = subprocess.run(
        [ffmpeg.get_ffmpeg_exe(), "-i", str(path)], capture_output=True, text=True, check=False
    )
    assert "h264" in probe.stderr
    assert "yuv420p" in probe.stderr


def test_without_the_encoder_mp4_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(InputError, match=r"MP4 needs an encoder.*pip install 'distal\[video\]'"):
        film.check_mp4()
