"""Progress of long work: the finished share, the speed and the time left.

A terminal shows it in its last lines (`Display`). Where stderr is not a terminal, a command writes
a line a minute (`Lines`), and Python shows nothing. rich, which draws, is imported with the first
line. No thread draws: processes are forked while work is under way.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from distal.base.checks import InputError, counted, flag, shown

LONG = 10.0  # seconds of work that are worth a line about how long it will take
MINUTE = 60.0  # seconds between two lines
_PATIENCE = 1.0  # seconds of work before anything is shown
_OFTEN = 0.1  # seconds between two drawings
_MARK, _LATELY = 0.5, 30.0  # seconds between two marks, and over which a pace is measured
_SHORTEST = 2.0  # seconds until a pace says something, where nothing was estimated
_BAR, _SHORTEST_BAR = 20, 8  # columns


class Listener(ABC):
    """Hears of the work of engines: episodes, and the steps of these where they count them."""

    def __call__(self, episodes: int) -> None:
        """Hear of more episodes."""
        self.add(episodes, 0)

    @abstractmethod
    def add(self, episodes: int, steps: int) -> None:
        """Hear of more episodes, and of all of their steps; 0 where nobody counts them."""


def tell(progress: Callable[[int], object] | None, episodes: int, steps: int = 0) -> None:
    """Tell of more episodes: with their steps, if it is ours; what a function raises comes out as it is."""
    if isinstance(progress, Listener):
        progress.add(episodes, steps)
    elif progress is not None:
        progress(episodes)


def checked(progress: Any) -> Any:
    """Return a valid `progress`: a function, None for a display on a terminal, False for nothing."""
    if progress is None or callable(progress):
        return progress
    try:
        return None if flag("progress", progress) else False
    except InputError:
        raise InputError(
            f"progress is {shown(progress)}, expected a function, None, or False to show nothing"
        ) from None


@contextmanager
def followed(
    progress: Any,
    label: str,
    total: int | None,
    seconds: Callable[[], float | None] = lambda: None,
    **options: Any,
) -> Iterator[Any]:
    """Yield the listener for the work.

    Args:
        progress: The caller's function; `LINES`, from a command; False for nothing; None for a display
            on the terminal, if there is one.
        label: The word for the work, as "learning".
        total: How many episodes there will be; None if nobody knows.
        seconds: Estimates how long they take; called for a display.
        **options: As in `Shown`.

    Yields:
        A `Shown`, the caller's function, or None.
    """
    given = checked(progress)
    own = given is not None and given is not LINES
    kind = None if own else Display if on_terminal() else given
    if kind is None:
        yield given or None
        return
    estimate = seconds() if kind is Display else None  # lines wait for the measured pace
    shown_ = kind(label, total, seconds=estimate, **options)
    try:
        yield shown_
    finally:
        if isinstance(shown_, Display):
            shown_.close()


def on_terminal() -> bool:
    """Whether stderr is a terminal."""
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it has been closed
        return False


# ------------------------------------------------------------------ words


def duration(seconds: float) -> str:
    """Return a duration as people say it: 45 s, 12 min, 3.5 h, 2.1 days."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    if seconds < 99.5 * 60:
        return f"{seconds / 60:.0f} min"
    number, unit = (seconds / 3600, "h") if seconds < 48 * 3600 else (seconds / 86400, "days")
    return f"{f'{number:.1f}'.removesuffix('.0')} {unit}"


def rate(pace: float, unit: str) -> str:
    """Return a number of things per second, with two significant digits."""
    if pace < 10:
        return f"{pace:.1f} {unit}/s"
    scale = 10 ** (len(f"{pace:.0f}") - 2)
    return f"{round(pace / scale) * scale:,} {unit}/s"


def on_workers(executor: object) -> str:
    """Return the current number of workers of an executor in words; empty if it does not report it."""
    count = getattr(executor, "workers", None)
    return f"on {counted(count, 'worker')}" if isinstance(count, int) else ""


# ------------------------------------------------------------------ counting


class Count:
    """Counts work as it is done: how much, at which pace of late, and how long the rest will take.

    The pace is measured from the first work that is done: compiling and starting processes come before.

    Args:
        total: How much there is; None if nobody knows.
        seconds: How long it may take, if that was estimated.
        clock: Says what time it is, in seconds.
    """

    def __init__(
        self, total: int | None, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total, self.seconds, self.clock = total, seconds, clock
        self.done, self.steps = 0, 0
        self.began = self._begun = clock()
        self._marks = deque([(self.began, 0, 0)])

    def add(self, done: int, steps: int = 0) -> None:
        """Count more of it."""
        first = self.done == 0 and done > 0
        self.done, self.steps = self.done + done, self.steps + steps
        now = self.clock()
        if first:
            self._begun = now
            self._marks = deque([(now, self.done, self.steps)])
        elif now - self._marks[-1][0] >= _MARK:
            self._marks.append((now, self.done, self.steps))
            while len(self._marks) > 2 and now - self._marks[1][0] > _LATELY:
                self._marks.popleft()

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1; 0 if nobody knows."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    def paces(self) -> tuple[float, float]:
        """Return the work and the steps of a second, of late."""
        (began, done, steps), (until, all_done, all_steps) = self._marks[0], self._marks[-1]
        took = until - began
        return ((all_done - done) / took, (all_steps - steps) / took) if took > 0 else (0.0, 0.0)

    def left(self) -> float | None:
        """Return the seconds that the rest will take; None if nobody knows yet."""
        if self.total is None:
            return None
        pace, _ = self.paces()
        took = self._marks[-1][0] - self._begun
        expected = None if self.seconds is None else self.seconds * (1 - self.share)
        if pace <= 0 or (expected is None and took < _SHORTEST):
            return expected
        measured = max(0, self.total - self.done) / pace
        if self.seconds is None or expected is None:
            return measured
        # An estimate that was far too short must not hold the pace down for longer than it said in all.
        trusted = min(_LATELY, max(_SHORTEST, self.seconds / 4))
        weight = min(1, took / trusted)
        return weight * measured + (1 - weight) * expected


# ------------------------------------------------------------------ showing


class Shown(Listener):
    """Work that is shown while it is done, and the part of it that is under way.

    Args:
        label: The word for the work, as "learning".
        total: How many episodes, or whatever the unit is; None if nobody knows.
        unit: What is counted.
        seconds: How long it may take, if that was estimated.
        about: More of the announcement of long work, as "20 generations".
        left: Returns how many seconds are left; computed from the episodes if left out.
        note: Returns the end of a line, whenever one is shown.
        clock: Says what time it is, in seconds.
    """

    def __init__(
        self,
        label: str,
        total: int | None,
        unit: str = "episodes",
        *,
        seconds: float | None = None,
        about: str = "",
        left: Callable[[], float | None] | None = None,
        note: Callable[[], str] = str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.label, self.unit, self.note = label, unit, note
        self.detail = ""
        self.count = Count(total, seconds, clock)
        self.left = self.count.left if left is None else left
        self.part: Count | None = None
        work = f"{total:,} {unit}" if total is not None else ""
        self._announcement = f"{label}: {', '.join(words for words in (about, work) if words)}"

    def announce(self, seconds: float | None) -> bool:
        """Say how long the work will take, if that is long."""
        if self.count.total is None or seconds is None or seconds < LONG:
            return False
        sys.stderr.write(f"{self._announcement}; about {duration(seconds)}\n")
        return True

    def add(self, episodes: int, steps: int) -> None:
        """Count more, and show it now and then."""
        self.count.add(episodes, steps)
        if self.part is not None:
            self.part.add(episodes, steps)
        self.show()

    def begin_part(self, label: str, total: int) -> None:
        """Begin a part of the work."""
        self.label, self.part = label, Count(total, clock=self.count.clock)
        self.show()

    @abstractmethod
    def show(self) -> None:
        """Show the work, if it is time."""

    def pace_and_count(self, count: Count) -> tuple[str, str]:
        """Return how fast it goes, and how much is done."""
        (pace, steps), of = count.paces(), f" of {count.total:,}" if count.total else ""
        fast = rate(steps, "steps") if steps else rate(pace, self.unit) if pace else ""
        return fast, f"{count.done:,}{of} {self.unit}"


class Lines(Shown):
    """Lines on stderr: how long the work will take, as soon as its pace is known, then one a minute.

    There is one more where a part ends, if another twentieth of the work is done.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._written, self._twentieths, self._announced = self.count.began, 0, False

    def begin_part(self, label: str, total: int) -> None:
        """Begin a part; report the progress, unless little was done since the last line."""
        if int(20 * self.count.share) > self._twentieths:
            self._write()
        super().begin_part(label, total)

    def show(self) -> None:
        """Announce the work once its pace is known; write a line if the last one is a minute old."""
        left = None if self._announced else self.left()
        if left is not None:
            self._announced = True
            self.announce(self.count.clock() - self.count.began + left)
        if self.count.clock() - self._written >= MINUTE:
            self._write()

    def _write(self) -> None:
        self._written, self._twentieths = self.count.clock(), int(20 * self.count.share)
        left, (pace, done) = self.left(), self.pace_and_count(self.count)
        rest = "" if left is None else f"about {duration(left)} left"
        words = [word for word in (done, pace, rest, self.detail, self.note()) if word]
        sys.stderr.write(f"{self.label}: {'  '.join(words)}\n")


LINES: Any = Lines  # the `progress` of a command


class Display(Shown):
    """Lines at the foot of a terminal while work is under way; at its end they are gone."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._slow = False  # whether parts take long enough for a line of their own
        self._live: Any = None
        self._drawn = 0.0
        if self.announce(self.count.seconds):
            self.draw()

    def close(self) -> None:
        """Remove the lines."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def begin_part(self, label: str, total: int) -> None:
        """Begin a part, which has a line of its own where parts take long."""
        if self.part is not None:
            self._slow = self.count.clock() - self.part.began >= _SHORTEST
        super().begin_part(label, total)

    def show(self) -> None:
        """Draw, unless that was a moment ago or the work is short so far."""
        now = self.count.clock()
        if now - self._drawn >= _OFTEN and (self._live is not None or now - self.count.began >= _PATIENCE):
            self.draw()

    def draw(self) -> None:
        """Draw the lines."""
        self._drawn = self.count.clock()
        if self._live is None:
            from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
            from rich.live import Live  # noqa: PLC0415

            console = Console(stderr=True, highlight=False, markup=False, emoji=False)
            self._live = Live(console=console, auto_refresh=False, transient=True, vertical_overflow="crop")
            self._live.start()
        self._live.update(self._lines(self._live.console.width), refresh=True)

    def _lines(self, width: int) -> Any:
        """Return the line about the whole, and one about the part that is under way if it takes long."""
        from rich.progress_bar import ProgressBar  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415

        counts, part = {self.label: self.count}, self.part
        if part is not None and (self._slow or self._drawn - part.began >= _SHORTEST):
            counts[f"its {self.unit}"] = part
        longest = max(map(len, counts))
        columns = max(_SHORTEST_BAR, min(_BAR, width // 6))
        room = width - longest - columns - 4 - 3  # for the share, and between the columns
        lines = Table.grid(padding=(0, 1))
        for wide in (longest, columns, 4, room):
            lines.add_column(no_wrap=True, width=max(1, wide))
        for label, count in counts.items():
            bar = ProgressBar(count.total, min(count.done, count.total), columns) if count.total else ""
            words = self._words(count, alone=len(counts) == 1)
            while words and len("  ".join(words)) > room:
                words.pop()
            lines.add_row(label, bar, f"{count.share:4.0%}" if count.total else "", "  ".join(words))
        return lines

    def _words(self, count: Count, alone: bool) -> list[str]:
        """Return the words at the end of a line, the most important ones first."""
        whole, words = count is self.count, []
        left = self.left() if whole else None
        if left is not None:
            words.append(f"{duration(left)} left")
        if alone or not whole:
            pace, done = self.pace_and_count(count)
            words += [pace, done] if self.part is None or not whole else [pace]
        if whole:
            words += [self.detail, self.note()]
        return [word for word in words if word]
