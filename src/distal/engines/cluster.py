"""A Dask cluster as an executor: one that is running somewhere, or one on this machine.

Dask schedules, moves data, retries and notices lost workers. Needs the
extra `cluster`.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, TypeVar

from distal._version import __version__
from distal.base import checks, ctrl_c, interrupts, memory, plugins
from distal.base.checks import InputError, counted, integer, text
from distal.base.files import read_json
from distal.base.memory import available_cores
from distal.engines.engine import MAX_WORKERS
from distal.engines.spread import WorkError

T = TypeVar("T")

# Dask looks at itself many times a second, which on a machine that is busy computing costs a twentieth
# of its two cores. The cluster that we start does so less often. It has no pages either: they would be plain
# HTTP, open to everybody on the machine.
_OWN = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "5s",
}

_LOCAL = "local:"
_PER_CORE = 4  # processes, at most: with more of them, each would wait for the others
_LONGEST = 1000  # letters of an address, or of the path of a scheduler file
ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9a-fA-F:.%]+\]|[^\s/\[\]:]+):\d{1,5}/?")
_RETRIES = 2  # of a task that raises; one that is lost with its worker is run again anyway
CONNECT = 10  # seconds to find the scheduler
_PATIENCE = 5.0  # seconds to find it again


class Cluster(Executor):
    """Workers of a Dask cluster; leave it with `with`, or `shutdown`.

    Args:
        address: The address of a running scheduler ("tcp://host:8786"), the scheduler file
            that it wrote, or "local:N" for N processes on this machine. These end with the
            cluster, and listen to nobody who lacks the certificate made for them.

    Raises:
        InputError: If Dask is not installed, no scheduler answers, or a worker has another
            version of Distal.
    """

    def __init__(self, address: str) -> None:
        address = text("address of a cluster", address, _LONGEST)
        try:
            import distributed  # noqa: PLC0415 - an extra
        except ImportError:
            raise InputError("Dask is not installed: pip install 'distal[cluster]'") from None
        for name in list(logging.root.manager.loggerDict):
            if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
                logging.getLogger(name).setLevel(logging.CRITICAL)  # `check` reports what matters
        self.address = address
        self._cluster: Any = None
        self._scratch: TemporaryDirectory[str] | None = None
        self.client: Any = None
        self._lost_since: float | None = None
        self._count, self._counted = 1, 0.0
        try:
            with _quietly():
                if address.startswith(_LOCAL):
                    self.client = self._start(distributed, address.removeprefix(_LOCAL))
                else:
                    self.client = self._connect(distributed, address)
                self._check_versions()
                self._import_there()
        except BaseException:
            self.shutdown()
            raise
        self._executor = self.client.get_executor(retries=_RETRIES, pure=False)

    def _start(self, distributed: Any, number: str) -> Any:
        """Start our own processes, which anybody on this machine can reach and only we can use."""
        count = _checked_count(number)
        try:
            security = distributed.Security.temporary()
        except ImportError:
            raise InputError("cryptography is not installed: pip install 'distal[cluster]'") from None
        import dask  # noqa: PLC0415 - an extra

        dask.config.set(_OWN)
        ctrl_c.last_acts.append(self._kill)
        # Dask imports from its scratch folder. Its own choice, in /tmp, may belong to somebody else.
        self._scratch = TemporaryDirectory(prefix="distal-", ignore_cleanup_errors=True)
        with dask.config.set({"temporary-directory": self._scratch.name}):
            self._cluster = distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, host="127.0.0.1", security=security,
                dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL, preload=[__name__],
            )  # fmt: skip
        self._cluster.scheduler.http_server.stop()  # it would serve nothing
        return distributed.Client(self._cluster, set_as_default=False)

    @staticmethod
    def _connect(distributed: Any, address: str) -> Any:
        given, found = {"address": address}, address
        if "://" not in address:
            if not Path(address).is_file():
                raise InputError(
                    f"cluster {address!r} is neither an address like tcp://host:8786, nor a scheduler file, "
                    "nor local:N"
                )
            data = read_json(address, "scheduler file")
            if not isinstance(data, dict) or not isinstance(data.get("address"), str):
                raise InputError(
                    f"scheduler file {address!r} names no address; was it written by dask scheduler?"
                )
            given, found = {"scheduler_file": address}, data["address"]
        if not ADDRESS.fullmatch(found):
            raise InputError(f"cluster {found!r} is not the address of a scheduler, expected tcp://host:8786")
        if found.startswith("tls:") and not distributed.Security().tls_ca_file:
            raise InputError(
                f"cluster {address!r} needs certificates; name them in DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
                "…__CLIENT__CERT and …__CLIENT__KEY, or in Dask's configuration"
            )
        try:
            return distributed.Client(**given, timeout=CONNECT, set_as_default=False)
        except Exception as error:
            what = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(f"no Dask scheduler answers at {address!r}: {what}") from None

    def _check_versions(self) -> None:
        """Refuse workers with another version of Distal, or without it."""
        for worker, version in self.client.run(_version, on_error="return").items():
            if isinstance(version, BaseException):
                raise InputError(f"worker {worker} cannot import Distal ({version}); install it there")
            if version != __version__:
                raise InputError(
                    f"worker {worker} has Distal {version}, this is {__version__}; "
                    "install the same version everywhere"
                )

    def _import_there(self) -> None:
        """Import on every worker what was imported here by name; refuse one that cannot."""
        modules, folders = plugins.asked_for()
        if not modules:
            return
        told = self.client.run(plugins.import_there, modules, folders, on_error="return")
        for worker, problem in told.items():
            if isinstance(problem, BaseException):
                raise InputError(
                    f"worker {worker} cannot import {', '.join(modules)} ({problem}); install it there, or "
                    "start the workers in the folder that holds it"
                )

    @property
    def dashboard(self) -> str | None:
        """The address of Dask's dashboard; one that we started has none."""
        return str(self.client.dashboard_link) if self._cluster is None else None

    @property
    def workers(self) -> int:
        """The number of threads that take tasks, asked for at most once a second."""
        if time.monotonic() - self._counted > 1:
            known = self.client.scheduler_info(n_workers=-1).get("workers", {})
            self._count = sum(worker["nthreads"] for worker in known.values())
            self._counted = time.monotonic()
        return self._count

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Hand a task over.

        Args:
            fn: The function to call on a worker.
            *args: Its arguments.
            **kwargs: Its keyword arguments.

        Returns:
            The future result.

        Raises:
            WorkError: If the scheduler is out of reach.
        """
        self.check()
        future: Future[T] = self._executor.submit(fn, *args, **kwargs)
        return future

    def check(self, lost: bool = False) -> None:
        """Raise if the scheduler has been out of reach for more than a few seconds."""
        if self.client.status == "running" and not lost:
            self._lost_since = None
            return
        now = time.monotonic()
        self._lost_since = self._lost_since or now
        if lost or self.client.status == "closed" or now - self._lost_since > _PATIENCE:
            raise WorkError(f"the Dask scheduler at {self.address!r} is gone")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel outstanding tasks and release the cluster; end it if it is local."""
        if self.client is not None:
            executor = getattr(self, "_executor", None)
            if executor is not None and self.client.status == "running":
                executor.shutdown(wait=False)
            with suppress(TimeoutError):
                self.client.close(timeout=2)
        if self._cluster is not None:
            with suppress(TimeoutError):
                self._cluster.close(timeout=5)
        if self._scratch is not None:
            self._scratch.cleanup()
        if self._kill in ctrl_c.last_acts:
            ctrl_c.last_acts.remove(self._kill)

    def _kill(self) -> None:
        """End our own workers when the command has no time to close the cluster."""
        try:
            for worker in multiprocessing.active_children():
                worker.kill()
        finally:
            if self._scratch is not None:
                self._scratch.cleanup()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()


def _checked_count(number: str) -> int:
    """Return the N of local:N; refuse more processes than the cores have work for, or than memory holds."""
    most = min(MAX_WORKERS, _PER_CORE * available_cores())
    count = integer("N in local:N", int(number) if number.isdecimal() else number, 1)
    if count > most:
        cores = counted(available_cores(), "core")
        raise InputError(
            f"N in local:N is {checks.shown(count)}, expected at most {most} on {cores}; "
            f"ask for local:{available_cores()}"
        )
    fitting = (memory.allowed() or 0) // memory.WORKER
    memory.Estimate(
        f"{counted(count, 'worker')} of a local cluster",
        {"what each loads": memory.WORKER * count},
        f"ask for local:{fitting}" if fitting else "leave out the cluster",
    ).check()
    return count


def dask_setup(worker: Any) -> None:
    """Prepare a worker that we start: it ends with us, and listens only to us.

    A terminal sends Ctrl-C to all its processes; the one that the user started deals with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker.http_server.stop()


@contextmanager
def _quietly() -> Iterator[None]:
    """Start processes without their complaints on stderr; Ctrl-C ends the command, and them, at once.

    There is nothing to lose yet, and Dask does not stop to start them. In a program that is not
    the command, Ctrl-C waits until they are there.
    """
    sys.stderr.flush()
    nowhere, kept = os.open(os.devnull, os.O_WRONLY), os.dup(2)
    try:
        with interrupts.held(errors=kept) as came:
            os.dup2(nowhere, 2)
            try:
                yield
            except Exception:
                if not came:  # a worker that was interrupted while it started is no error
                    raise
            finally:
                os.dup2(kept, 2)
    finally:
        os.close(nowhere)
        os.close(kept)


def _version() -> str:
    """Return the version of Distal on a worker."""
    return __version__
