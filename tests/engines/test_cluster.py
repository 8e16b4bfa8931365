"""Dask clusters: the same bytes, whatever happens to the workers, and nobody else's orders."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import distal
from distal import InputError
from distal.base import memory
from distal.cli import main
from distal.engines.cluster import Cluster
from tests.command_line import refusal
from tests.evolutions import contents
from tests.mazes import T
from tests.processes import DISTAL, started, wait_until

ROOT = Path(__file__).parents[2]


EVOLVE = ["evolve", "--runs", "2", "--generations", "8", "--trials", "4", "--episodes", "150", "--seed", "3"]


class Processes:
    """A scheduler and its workers, each a process of its own that can be killed."""

    def __init__(self, folder: Path, *security: str | Path) -> None:
        self.folder, self.security, self.stack = folder, security, ExitStack()
        self.workers: list[subprocess.Popen[str]] = []
        self.file = folder / "scheduler.json"
        host = "tls://127.0.0.1" if security else "tcp://127.0.0.1"
        self.scheduler = self._start(
            "dask_scheduler", "--no-dashboard", "--host", host, "--port", "0", "--scheduler-file", self.file
        )
        wait_until(lambda: self.file.exists() and self.file.read_text().endswith("}"))
        self.address = json.loads(self.file.read_text())["address"]

    def _start(self, program: str, *options: str | Path, **variables: str) -> subprocess.Popen[str]:
        command = (sys.executable, "-m", f"distributed.cli.{program}", *options, *self.security)
        return self.stack.enter_context(
            started(
                *command, cwd=self.folder, env={**os.environ, **variables},
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip

    def add_workers(self, count: int = 1, **variables: str) -> None:
        """Start workers without a nanny, so that what is killed stays dead."""
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder)]
        for _ in range(count):
            self.workers.append(self._start("dask_worker", str(self.address), *options, **variables))

    def kill_workers(self, count: int) -> None:
        for _ in range(count):
            worker = self.workers.pop()
            worker.kill()
            worker.wait()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    cluster = Processes(folder)
    with cluster.stack:
        yield cluster


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("local") / "runs"
    assert main([*EVOLVE, "--out", str(folder)]) == 0
    return contents(folder)


def generations(folder: Path) -> int:
    """Return how many generations are on disk."""
    try:
        return int(json.loads((folder / "state.json").read_text())["runs"][0]["generation"])
    except (OSError, ValueError):
        return -1


def test_workers_and_then_the_scheduler_are_killed_and_the_bytes_are_the_same(
    processes: Processes, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    processes.add_workers(2)
    out = tmp_path / "runs"
    with started(*DISTAL, *EVOLVE, "--out", out, "--cluster", processes.file) as command:
        wait_until(lambda: generations(out) >= 0)
        processes.kill_workers(1)
        wait_until(lambda: generations(out) >= 3 or command.poll() is not None)
        processes.kill_workers(1)  # the last one: the work waits for others
        time.sleep(0.5)
        processes.add_workers(1)
        _, error = command.communicate(timeout=60)
    assert command.returncode == 0, error
    assert contents(out) == expected
    assert "workers, dashboard" in error
    assert "on 2 workers" in error or "on 1 worker" in error
    out = tmp_path / "lost"
    with started(*DISTAL, *EVOLVE, "--out", out, "--cluster", processes.address) as command:
        wait_until(lambda: generations(out) >= 0)
        processes.scheduler.kill()
        _, error = command.communicate(timeout=60)
    assert command.returncode == 1
    last = error.strip().splitlines()[-1]
    assert last.startswith(
        f"distal: error: the Dask scheduler at '{processes.address}' is gone; continue with: "
    )
    assert "Traceback" not in error
    assert main(["evolve", "--resume", str(out)]) == 0
    assert contents(out) == expected


def test_a_worker_of_another_version_is_refused_at_once_with_both_versions(
    processes: Processes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(ROOT / "src", other, ignore=shutil.ignore_patterns("__pycache__"))
    init = other / "distal" / "_version.py"
    init.write_text(init.read_text().replace(distal.__version__, "0.0.9"))
    processes.add_workers(1, PYTHONPATH=str(other))
    from distributed import Client

    with Client(processes.address, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=30)
    out = tmp_path / "runs"
    assert main([*EVOLVE, "--out", str(out), "--cluster", str(processes.address)]) == 2
    error = capsys.readouterr().err
    assert f"has Distal 0.0.9, this is {distal.__version__}; install the same version everywhere" in error
    assert not out.exists() or not any(out.iterdir())


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Path]]:
    """Start a cluster of our own, with a folder that holds all temporary files."""
    folder = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", None)
        cluster = Cluster("local:1")
    with cluster:
        yield cluster, folder
    assert not any(folder.iterdir())


def doors(cluster: Cluster) -> dict[str, tuple[int, str]]:
    """Return who listens: the port, and the operation that runs a function."""
    (worker,) = cluster.client.scheduler_info()["workers"]
    addresses = {
        "scheduler": cluster.client.scheduler.address,
        "worker": worker,
        # Private: Dask tells nobody where its nannies listen.
        "nanny": cluster._cluster.workers[0].address,
    }
    operations = {"scheduler": "run_function", "worker": "run", "nanny": "run"}
    return {name: (int(address.rpartition(":")[2]), operations[name]) for name, address in addresses.items()}


def stranger(kind: str) -> dict[str, Any]:
    """Return how somebody without our certificate connects."""
    from distributed import Security

    if kind == "plain":
        return {}
    if kind == "no certificate":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return {"ssl_context": context}
    arguments: dict[str, Any] = Security.temporary().get_connection_args("client")
    arguments["ssl_context"].verify_mode = ssl.CERT_NONE  # it would talk to anybody
    return arguments


async def order(port: int, operation: str, arguments: dict[str, Any], mark: Path) -> None:
    """Ask whoever listens at a port to make a file."""
    from distributed.core import connect, send_recv
    from distributed.protocol.pickle import dumps

    address = f"{'tls' if arguments else 'tcp'}://127.0.0.1:{port}"
    comm = await connect(address, timeout=1, **arguments)
    packed = {"function": dumps(mark.touch), "args": dumps(()), "kwargs": dumps({})}
    try:
        await asyncio.wait_for(send_recv(comm, op=operation, reply=True, **packed), 5)
    finally:
        comm.abort()


@pytest.mark.parametrize("door", ["scheduler", "worker", "nanny"])
def test_nobody_without_our_certificate_can_make_a_local_cluster_do_anything(
    door: str, own: tuple[Cluster, Path], tmp_path: Path
) -> None:
    cluster, _ = own
    port, operation = doors(cluster)[door]
    for kind in ("plain", "no certificate", "another certificate"):
        with pytest.raises(OSError):  # noqa: PT011 - refused in many ways
            asyncio.run(order(port, operation, stranger(kind), tmp_path / kind))
    ours = cluster.client.security.get_connection_args("client")
    asyncio.run(order(port, operation, ours, tmp_path / "ours"))
    assert [path.name for path in tmp_path.iterdir()] == ["ours"]  # the order itself is right


def test_a_local_cluster_has_no_pages_and_leaves_no_key_on_disk(own: tuple[Cluster, Path]) -> None:
    cluster, folder = own
    assert cluster.dashboard is None
    # Private: Dask's own scheduler, for its port.
    ports = [cluster._cluster.scheduler.http_server.port]
    ports += cluster.client.run(lambda dask_worker: dask_worker.http_server.port).values()
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=1)
    for path in folder.rglob("*"):
        assert not path.is_file() or b"PRIVATE KEY" not in path.read_bytes()
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o700]


def test_a_worker_takes_no_more_memory_than_is_asked_for_before_it_starts(own: tuple[Cluster, Path]) -> None:
    cluster, _ = own
    distal.learn("evolved:1", trials=40, episodes=20, engine=distal.Runner(executor=cluster))
    (held,) = cluster.client.run(lambda: Path("/proc/self/smaps_rollup").read_text()).values()
    (line,) = [line for line in held.splitlines() if line.startswith("Pss_Anon:")]
    assert 0.25 * memory.WORKER < 1024 * int(line.split()[1]) < memory.WORKER


def test_a_local_cluster_writes_the_same_bytes(
    tmp_path: Path, expected: dict[str, bytes], own: tuple[Cluster, Path]
) -> None:
    runner = distal.Runner(executor=own[0])
    distal.evolve(runs=2, generations=8, trials=4, episodes=150, seed=3, engine=runner, out=tmp_path / "runs")
    assert contents(tmp_path / "runs") == expected


def test_a_cluster_with_certificates_takes_those_of_dasks_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import dask
    from distributed import Security

    made = Security.temporary()
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    certificate.write_text(made.tls_ca_file)
    key.write_text(made.tls_client_key)
    processes = Processes(tmp_path, "--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key)
    learn = ["learn", "paper:1", "--trials", "1", "--episodes", "5", "--cluster", processes.address]
    paths = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
    named = {f"distributed.comm.tls.{name}": str(path) for name, path in paths.items()}
    with processes.stack:
        processes.add_workers(1)
        assert processes.address.startswith("tls://")
        with dask.config.set(named):
            assert main(learn) == 0
        assert "fitness" in capsys.readouterr().out
        error = refusal(capsys, *learn)
        assert error.startswith(f"distal: error: cluster '{processes.address}' needs certificates; name them")


@pytest.mark.parametrize("content", ["{}", "no", '{"address": 5}', "[]"])
def test_a_scheduler_file_that_is_none_is_refused(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text(content)
    error = refusal(capsys, "learn", "paper:1", "--cluster", str(path))
    assert "scheduler file" in error


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("foo://127.0.0.1:1", "cluster 'foo://127.0.0.1:1' is not the address of a scheduler, expected tcp:"),
        ("local:many", "N in local:N is 'many', expected a whole number"),
        ("nowhere", "cluster 'nowhere' is neither an address like tcp://host:8786, nor a scheduler file"),
    ],
)
def test_a_cluster_that_cannot_be_is_refused_in_one_line(
    address: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refusal(capsys, "learn", "paper:1", "--cluster", address)
    assert message in error


@pytest.mark.parametrize(
    ("count", "free", "message"),
    [
        # Four processes for each core, 128 MiB for each process.
        (13, "8G", "N in local:N is 13, expected at most 12 on 3 cores; ask for local:3"),
        (10**30, "8G", "N in local:N is 1000000000000000000000000000000, expected at most 12 on 3 cores; "),
        (12, "1G", "12 workers of a local cluster need about 1.5 GiB of memory, most of it for what each "
         "loads, 1.0 GiB are free; ask for local:8, or set DISTAL_MEMORY=unlimited"),
        (1, "100M", "1 worker of a local cluster needs about 128.0 MiB of memory, most of it for what each "
         "loads, 100.0 MiB are free; leave out the cluster, or set DISTAL_MEMORY=unlimited"),
    ],
)  # fmt: skip
def test_a_local_cluster_that_cores_or_memory_cannot_carry_is_refused_before_it_starts(
    count: int, free: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    monkeypatch.setattr(distributed, "LocalCluster", lambda **_: pytest.fail("it was started"))
    monkeypatch.setattr("distal.engines.cluster.available_cores", lambda: 3)
    monkeypatch.setenv("DISTAL_MEMORY", free)
    error = refusal(capsys, "learn", "paper:1", "--cluster", f"local:{count}")
    assert error.startswith(f"distal: error: {message}")


def test_a_scheduler_that_does_not_answer_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("distal.engines.cluster.CONNECT", 1)
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in refusal(
        capsys, "learn", "paper:1", "--cluster", "tcp://127.0.0.1:9"
    )


@pytest.mark.parametrize("command", ["learn paper:1", "evolve --out new", "bench"])
def test_a_cluster_is_refused_for_engine_gpu_even_where_there_is_a_card(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def begun(*args: object) -> None:
        raise AssertionError("a cluster was started")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("distal.engines.gpu.cards.problem", lambda: None)
    monkeypatch.setattr("distal.engines.cluster.Cluster.__init__", begun)
    said = refusal(capsys, *command.split(), "--engine", "gpu", "--cluster", "local:1")
    assert said == "distal: error: --cluster spreads work over processors; leave out --engine gpu\n"
    assert not list(tmp_path.iterdir())


class StopError(Exception):
    """What a user's own function raises."""


@pytest.mark.parametrize("error", [StopError("enough"), ValueError("enough"), InputError("enough")])
@pytest.mark.parametrize("path", ["reference", "cpu", "cpu threads", "processes", "executor", "cluster"])
def test_what_progress_raises_comes_out_as_it_is(
    path: str, error: Exception, own: tuple[Cluster, Path]
) -> None:
    def stop(_: int) -> None:
        raise error

    threads = ThreadPoolExecutor(2)
    ways: dict[str, dict[str, Any]] = {
        "reference": {"engine": "reference"},
        "cpu": {"engine": "cpu", "workers": 1},
        "cpu threads": {"engine": "cpu", "workers": 2},
        "processes": {"engine": "reference", "workers": 2},
        "executor": {"engine": "reference", "executor": threads},
        "cluster": {"engine": "reference", "executor": own[0]},
    }
    runner = distal.Runner(**ways[path])
    with threads, pytest.raises(type(error)) as raised:
        distal.learn("paper:1", maze=T, episodes=3, trials=2, hidden=2, steps=3, progress=stop, engine=runner)
    assert raised.value is error
