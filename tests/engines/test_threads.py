"""Threads that do pieces of work: all of it, or nothing more after a failure; Ctrl-C at any moment."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from distal.engines.threads import run_in_threads

# Interrupts work at random moments; a lock that stays locked ends it with exit code 1. Done with a
# ThreadPoolExecutor, the same hangs.
STRESS = """
import faulthandler, random, signal, time
faulthandler.dump_traceback_later(60, exit=True)
from distal.engines.threads import run_in_threads

def interrupt(*_):
    raise KeyboardInterrupt

def work():
    run_in_threads([lambda: time.sleep(1e-4)] * 4, 2, watch=int, stop=int, poll=1e-3)

signal.signal(signal.SIGALRM, interrupt)
moments, interrupted = random.Random(5), 0
for _ in range(3_000):
    try:
        signal.setitimer(signal.ITIMER_REAL, moments.uniform(1e-5, 6e-4))
        try:
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupted += 1
work()
print(interrupted)
"""


def test_all_jobs_are_done_and_watched() -> None:
    done: list[int] = []
    watched: list[bool] = []

    def job(number: int) -> None:
        time.sleep(0.01)
        done.append(number)

    def watch() -> None:
        watched.append(threading.current_thread() is threading.main_thread())

    run_in_threads(
        [lambda number=number: job(number) for number in range(20)],  # type: ignore[misc]
        3, watch=watch, stop=pytest.fail, poll=0.005,
    )  # fmt: skip
    assert sorted(done) == list(range(20))
    assert len(watched) > 3
    assert all(watched)


@pytest.mark.parametrize("who", ["job", "watch"])
def test_what_is_raised_stops_all_and_is_raised_when_they_have_ended(who: str) -> None:
    stopped, running, begun = threading.Event(), [0], [0]

    def job() -> None:
        begun[0] += 1
        running[0] += 1
        if who == "job" and begun[0] == 2:
            running[0] -= 1
            raise ValueError("who")
        stopped.wait(10)
        running[0] -= 1

    def watch() -> None:
        if who == "watch" and begun[0] == 2:
            raise ValueError("who")

    with pytest.raises(ValueError, match="who"):
        run_in_threads([job] * 9, 2, watch=watch, stop=stopped.set, poll=0.005)
    assert stopped.is_set()
    assert running == [0]
    assert begun[0] <= 3  # none began after the stop


def test_ctrl_c_at_any_moment_leaves_nothing_locked() -> None:
    done = subprocess.run([sys.executable, "-c", STRESS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1_000
