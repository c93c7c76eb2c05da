# SPDX-License-Identifier: MIT
"""Workers on a cluster of Dask distributed: each is an actor, pinned to one worker process of Dask.

Dask starts the processes, wherever they are, and carries text to the actors and back; it schedules nothing here. A call
is one method of the actor. What comes back is a text that `messages` reads; Dask itself unpickles what its workers
send, so use only clusters that you trust as you trust this machine.

A worker process that is killed shows in two ways: the call that it carries out fails with `OSError`, or the scheduler
says that the actor is lost. A process that hangs shows in neither: the deadlines of `crew` are for that.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import queue
import socket
import sys
import typing as t
from collections.abc import Callable, Mapping

from nfsclient.rpc.loop import Loop
from workloads.carriers.messages import encode
from workloads.carriers.servant import STOP
from workloads.trouble import Refused, Stopped

MODULE: t.Final = "distributed"
_SSH: t.Final = "asyncssh"
_START: t.Final = 60.0
"""Seconds for an actor to be made: the worker of Dask imports nfsproof."""
_END: t.Final = encode({"call": "end"})
_FINE: t.Final = frozenset({"pending", "finished"})


class MissingExtra(Refused):
    """A package is not installed that only a cluster needs."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"workers on other machines need the package {package}, which is not installed: "
            "python -m pip install 'nfsproof[cluster]' (in a checkout: .venv/bin/python -m pip install -e '.[cluster]')"
        )


def _package(name: str) -> t.Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or name) from error


def at_scheduler(address: str) -> Callable[[float], t.Any]:
    """How to connect to a scheduler that runs, such as ``tcp://host:8786``."""
    distributed = _package(MODULE)

    def connect(seconds: float) -> t.Any:
        try:
            return distributed.Client(address, timeout=seconds, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise Stopped(
                "connection", f"the scheduler {address} of Dask does not answer: {error}"
            ) from error

    return connect


def over_ssh(hosts: list[str], python: str = "", listen: str = "") -> Callable[[float], t.Any]:
    """How to start a scheduler on the first of these hosts and one worker on each, by SSH.

    `listen` is the address at which all listen; empty: the one by which each reaches others.
    """
    distributed = _package(MODULE)
    _package(_SSH)
    logging.getLogger("distributed.deploy.ssh").setLevel(
        logging.WARNING
    )  # it repeats all that is printed there
    where = {"host": listen} if listen else {}

    def connect(seconds: float) -> t.Any:
        try:
            cluster = distributed.SSHCluster(
                [hosts[0], *hosts],
                worker_options={"nthreads": 1, **where},
                scheduler_options={"port": 0, "dashboard_address": ":0", **where},
                remote_python=python or sys.executable,
            )
        except Exception as error:
            raise Stopped("connection", f"no cluster on {', '.join(hosts)}: {error}"[:1000]) from error
        client = distributed.Client(cluster, timeout=seconds, set_as_default=False)
        client.nfsproof_cluster = cluster  # ended with the client
        return client

    return connect


class Cluster:
    """As `crew.Reach`. Text goes to the actors from the loop of Dask, which runs in a separate thread."""

    def __init__(self, connect: Callable[[float], t.Any], loop: Loop, actor: type) -> None:
        """`actor` is a class that workers can import, with `call`, `tell` and `leave` (`nfsproof.workload_actor`)."""
        self.names: list[str] = []
        self._connect = connect
        self._loop = loop
        self._actor = actor
        self._client: t.Any = None
        self._addresses: list[str] = []
        self._futures: list[t.Any] = []
        self._actors: dict[int, t.Any] = {}
        self._answers: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
        self._gone: dict[int, str] = {}
        self._bell = _Bell(loop)

    def find_workers(self, seconds: float, wanted: int | None) -> int:
        """Connect, and choose workers: all, or as many as are wanted. How many. Raises `Refused`, `Stopped`."""
        self._client = self._connect(seconds)
        with contextlib.suppress(TimeoutError):  # how many there are is said below
            self._client.wait_for_workers(wanted or 1, timeout=seconds)
        known = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
        if len(known) < (wanted or 1):
            raise Refused(f"the cluster has {len(known)} workers, expected {wanted or 1} or more")
        self._addresses = known[:wanted]
        return len(self._addresses)

    def start(self) -> None:
        """Make an actor on each worker of Dask."""
        for address in self._addresses:
            self._futures.append(
                self._client.submit(self._actor, workers=[address], actor=True, pure=False, retries=0)
            )
            self.names.append(f"Dask worker {address}")
        for number, future in enumerate(self._futures):
            try:
                self._actors[number] = future.result(timeout=_START)
                with self._client.as_current():
                    _ = self._actors[number].call  # so that it knows its client
            except ImportError as error:
                raise Refused(f"{self.names[number]}: nfsproof is not installed there: {error}") from error
            except Exception as error:
                why = f"{type(error).__name__}: {error}"[:500]
                raise Stopped("connection", f"{self.names[number]} cannot start a worker: {why}") from error

    def send(self, worker: int, text: str) -> None:
        """A call, whose answer will arrive; or `STOP`, which has none."""
        try:
            actor = self._actors[worker]
            pending = actor.tell(text) if text == STOP else actor.call(text)
        except (OSError, RuntimeError) as error:
            self._gone.setdefault(worker, str(error))
            return
        self._client.loop.add_callback(self._collect, worker, pending, text == STOP)

    async def _collect(self, worker: int, pending: t.Any, is_stop: bool) -> None:
        try:
            answer = await pending
        except Exception as error:  # noqa: BLE001  (Dask raises what a worker raised)
            if not is_stop:
                self._gone.setdefault(worker, f"{type(error).__name__}: {error}"[:500])
        else:
            if not is_stop:
                self._answers.put((worker, str(answer)))
        self._bell.ring()

    def arrived(self) -> list[tuple[int, str]]:
        found = []
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self._answers.get_nowait())
        return found

    def gone(self) -> Mapping[int, str]:
        for worker, future in enumerate(self._futures):
            if future.status not in _FINE:
                self._gone.setdefault(worker, f"the scheduler says that it is {future.status}")
        return dict(self._gone)

    def kill(self, worker: int) -> None:
        """Its process belongs to Dask: only what the actor does is ended."""
        with contextlib.suppress(Exception):
            self._client.loop.add_callback(_quietly, self._actors[worker].leave(_END))

    def end(self, seconds: float) -> None:
        self._bell.close()
        client, self._client = self._client, None
        if client is None:
            return
        waiting = list[t.Any]()
        for worker in self._actors.keys() - self.gone().keys():
            with contextlib.suppress(OSError, RuntimeError):
                waiting.append(self._actors[worker].leave(_END))
        for pending in waiting:
            with contextlib.suppress(Exception):
                pending.result(timeout=seconds)
        self._actors.clear()
        with contextlib.suppress(Exception):
            client.cancel(self._futures)
        self._futures.clear()
        with contextlib.suppress(Exception):
            client.close(timeout=seconds)
        cluster = getattr(client, "nfsproof_cluster", None)
        if cluster is not None:
            with contextlib.suppress(Exception):
                cluster.close(timeout=seconds)


async def _quietly(pending: t.Any) -> None:
    with contextlib.suppress(Exception):
        await pending


class _Bell:
    """Wakes a loop from another thread."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._theirs.setblocking(False)
        loop.add(self)

    def ring(self) -> None:
        """May be called by any thread."""
        with contextlib.suppress(OSError):
            self._theirs.send(b"!")

    def close(self) -> None:
        if self._ours.fileno() >= 0:
            self._loop.remove(self)
            self._ours.close()
            self._theirs.close()

    def fileno(self) -> int:
        return self._ours.fileno()

    def wants_to_write(self) -> bool:
        return False

    def wants_to_read(self) -> bool:
        return True

    def next_deadline(self) -> float | None:
        return None

    def on_deadline(self, now: float) -> None:
        pass

    def on_writable(self) -> None:
        pass

    def on_readable(self) -> None:
        with contextlib.suppress(OSError):
            self._ours.recv(4096)
