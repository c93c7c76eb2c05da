# SPDX-License-Identifier: MIT
"""`nfsproof workload run NAME --client linux`: the programs run in a guest, on a mount of the embedded server.

    this process             the embedded server in a thread, which counts calls by procedure
    the guest                mounts it, and runs the programs with calls of the system (`workloads.in_guest`)

So what the client of the Linux kernel sends for a program can be laid next to what a policy sends. Seconds are those of
an emulated processor if the guest is one of QEMU.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import threading
import time
import typing as t
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path

import nfsclient
import nfsjudge
import nfstargets
import workloads
from nfsclient.rpc.loop import Loop
from nfsproof import __version__
from nfsserver import Server
from nfsserver.counting import CountsPort, count
from nfsserver.settings import Value
from nfstargets.base import TargetError
from nfstargets.knfsd.client import PROGRAMS_THERE, LinuxClient
from nfstargets.knfsd.qemu_client import available_client
from workloads import result as results
from workloads.result import Result, ResultError
from workloads.running import Outcome
from workloads.spec import Order
from workloads.trouble import Refused

_PACKAGES: t.Final = (nfsclient, nfsjudge, nfstargets, workloads)
_POINT: t.Final = "/run/mnt"
_ORDER: t.Final = "/run/order.json"
_OUT: t.Final = "/run"
_TURN: t.Final = 0.1
_MORE: t.Final = 300.0
"""Seconds besides the phases: Python starts slowly on an emulated processor."""


class _Served:
    """The embedded server with its counts, in a thread that ends with the block."""

    def __init__(self, host: str, knobs: Mapping[str, Value]) -> None:
        """Raises OSError."""
        self._loop = Loop()
        self._server = Server(knobs=knobs)
        counts, _ = count(self._server)
        self.port = self._server.listen(self._loop, host)[1]
        self._counts = CountsPort(counts, self._loop, host, 0)
        self.counts_port = self._counts.address[1]
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="server")

    def _serve(self) -> None:
        while not self._is_ending.is_set():
            self._loop.run_until(self._is_ending.is_set, time.monotonic() + _TURN)

    def __enter__(self) -> t.Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_ending.set()
        self._thread.join()
        self._counts.close()
        self._server.close()
        self._loop.close()


@contextlib.contextmanager
def guest() -> Iterator[LinuxClient]:
    """A guest that can run workloads; several runs may use it, one after the other. Raises `TargetError`."""
    packages = tuple(Path(str(each.__file__)).parent for each in _PACKAGES)
    with closing_guest(available_client(packages)) as client:
        yield client


@contextlib.contextmanager
def closing_guest(client: LinuxClient) -> Iterator[LinuxClient]:
    """Ends the machine after the block."""
    try:
        yield client
    finally:
        client.stop()


def run_in(client: LinuxClient, order: Order, knobs: Mapping[str, Value], label: str = "") -> Outcome:
    """Carry an order out in a guest. Raises `TargetError`, `Refused`."""
    try:
        with client.visit():
            served = _Served(client.listening, knobs)
    except OSError as error:
        raise Refused(f"the embedded server cannot listen at {client.listening}: {error.strerror}") from error
    with served:
        _mount(client, served.port, order)
        try:
            there = replace(
                order,
                mount=_POINT,
                address={},
                counts=f"{client.gateway}:{served.counts_port}",
                owns_machine=True,
            )
            result = _carried_out(client, there, label or "embedded")
        finally:
            with contextlib.suppress(TargetError):
                client.umount(_POINT, force=True)
    setup = replace(
        result.setup,
        version=order.version,
        transport="tcp",
        sizes=replace(result.setup.sizes, read=order.rsize, write=order.wsize),
    )
    return Outcome(replace(result, setup=setup))


def _mount(client: LinuxClient, port: int, order: Order) -> None:
    options: dict[str, str | int | None] = {"port": port, "rsize": order.rsize, "wsize": order.wsize}
    version: str | int = order.version
    if order.version in {"2", "3"}:
        version = int(order.version)
        options |= {"mountport": port, "mountproto": "tcp"}
    client.mount(f"{client.gateway}:/export", _POINT, version=version, options=options)


def _carried_out(client: LinuxClient, order: Order, target: str) -> Result:
    plain = {each.name: getattr(order, each.name) for each in fields(order)}
    plain["parameters"], plain["address"] = dict(order.parameters), {}
    about = {"target": target, "nfsproof": __version__, "server": f"Linux {client.kernel} mounts it"}
    client.write_file(_ORDER, json.dumps({"order": plain, **about}).encode())
    words = ("python3", "-P", "-m", "workloads.in_guest", _ORDER, _OUT)
    limit = order.most_seconds + order.warmup + order.duration + _MORE
    done = client.run("env", f"PYTHONPATH={PROGRAMS_THERE}", *words, seconds=limit)
    if done.status:
        said = done.stderr.decode(errors="replace").strip()[-1000:]
        raise Refused(f"the programs in the guest did not run: {said or done.how()}")
    data = client.read_file(f"{_OUT}/{results.FILE}")
    with tempfile.TemporaryDirectory(prefix="nfsproof-result-") as folder:
        (Path(folder) / results.FILE).write_bytes(data)
        try:
            return results.read(Path(folder))
        except ResultError as error:
            raise Refused(f"the guest gave a result that is none: {error}") from error
