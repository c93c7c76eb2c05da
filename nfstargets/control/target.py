# SPDX-License-Identifier: MIT
"""A server that somebody else runs, with control of it."""

from __future__ import annotations

import math
import os
import tempfile
import time
import typing as t
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from nfsclient.discovery import credential_of
from nfsclient.errors import NfsClientError
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.loop import Loop
from nfstargets.base import ControlFailed, TargetError
from nfstargets.control.actions import ACTIONS, Controls, missing_control
from nfstargets.control.commands import run_command
from nfstargets.control.manual import Person
from nfstargets.url import UrlTarget
from nfstargets.versions import client_of

_LONGEST_END = 30.0
"""Seconds for a server to go down after a command has returned for that purpose."""
_PAUSE = 0.2
_CALL = 2.0
_LEAST = 1.0
"""Seconds that an action has after Ctrl-C, when the time of all together is over."""


class ControlledTarget(UrlTarget):
    """A URL, and commands (or a person) that end, restart and fill its server.

    A command that returns proves little: a machine may take seconds to go down. So `crash` and `restart` hold a
    connection across the command. While it still works, the server has not gone down, and nothing can be judged.
    """

    def __init__(
        self,
        text: str,
        controls: Controls,
        *,
        person: Person | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(text)
        self._controls = controls
        self._person = person or Person()
        self._clock = clock
        self._sleep = sleep
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._is_full = False
        self._ends_at = math.inf
        self.controls = controls.offered

    # ------------------------------------------------------------ life

    @property
    def log_name(self) -> str:
        return "control"

    def start(self) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="nfsproof-control-")
        super().start()

    def stop(self) -> None:
        try:
            self.free_disk()
        except TargetError as error:
            self.undone = f"the disk of the server was not freed: {error}"
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def hurry(self, seconds: float) -> None:
        self._ends_at = self._clock() + seconds

    @property
    def _seconds(self) -> float:
        """How long one action may take; after Ctrl-C what is left of the time for putting back."""
        return max(_LEAST, min(self._controls.seconds, self._ends_at - self._clock()))

    # ------------------------------------------------------------ controls

    def crash(self) -> None:
        with self.watched() as witness:
            self.carry_out("crash")
            self.wait_for_end(witness, "crash")
        self.wait_for_answer("crash")

    def restart(self) -> None:
        if self._controls.has("start") and not self.answers():
            self.carry_out("start")
        elif self._controls.has("restart"):
            with self.watched() as witness:
                self.carry_out("restart")
                self.wait_for_end(witness, "restart")
        else:
            with self.watched() as witness:
                self.carry_out("stop")
                self.wait_for_end(witness, "stop")
            self.carry_out("start")
        self.wait_for_answer("restart")

    def touch_locally(self, path: bytes, *, remove: bool = False) -> None:
        name = "remove_locally" if remove else "touch_locally"
        if not self._controls.has(name):
            raise TargetError(missing_control(name))
        folder = os.fsdecode(self.url.path).rstrip("/")
        self.carry_out(name, {"NFSPROOF_PATH": f"{folder}/{os.fsdecode(path)}"})

    def fill_disk(self) -> None:
        self._is_full = True
        self.carry_out("fill_disk")

    def free_disk(self) -> None:
        if self._is_full:
            self.carry_out("free_disk")
            self._is_full = False

    def set_lease(self, seconds: int | None) -> None:
        self.carry_out("set_lease", {"NFSPROOF_SECONDS": "" if seconds is None else str(seconds)})
        if self._ends_at == math.inf:
            # It may restart the service, in order or not.
            self.wait_for_answer("set_lease")

    def end_grace(self) -> None:
        self.carry_out("end_grace")

    def drop_caches(self) -> None:
        self.carry_out("drop_caches")

    # ------------------------------------------------------------ steps, also for trying out a target file

    def carry_out(self, name: str, environment: dict[str, str] | None = None) -> None:
        """Carry out one of `ACTIONS`. Raises `ControlFailed` and `ControlDeclined`."""
        command = self._controls.commands.get(name)
        if command is not None:
            run_command(name, command, self._seconds, self._log, environment)
        else:
            self._person.ask(name, ACTIONS[name].instruction, self._seconds, self.asked_for)

    def watched(self) -> Witness:
        """A connection to tell by when the server goes down."""
        return Witness(self)

    def answers(self) -> bool:
        """Whether NFS answers NULL on a new connection."""
        with self.watched() as witness:
            return witness.answers()

    def wait_for_end(self, witness: Witness, name: str) -> None:
        """Wait until the connection of the witness has stopped working. Raises `ControlFailed`."""
        began = self._clock()
        while witness.answers():
            longest = min(_LONGEST_END, self._controls.seconds)
            if self._clock() - began > longest:
                raise ControlFailed(
                    f"control {name}: it was carried out, but {longest:g} s later a connection from before still "
                    "works: the server did not go down"
                )
            self._sleep(_PAUSE)

    def wait_for_answer(self, name: str) -> None:
        """Wait until the export is there again, and read its address again. Raises `ControlFailed`."""
        deadline = self._clock() + self._controls.seconds
        while True:
            try:
                super().start()
            except TargetError as error:
                if self._clock() > deadline:
                    raise ControlFailed(
                        f"control {name}: the server did not answer again within {self._controls.seconds:g} s: {error}"
                    ) from error
                self._sleep(_PAUSE)
            else:
                return

    @property
    def _log(self) -> Path:
        if self.log_path is not None:
            return self.log_path
        if self._scratch is None:
            raise TargetError(f"{self.name} has not been started")
        return Path(self._scratch.name) / "control.log"


class Witness:
    """A TCP connection from before an action: the server has gone down when it stops working.

    A server without TCP has no connections that could show it: then a command is believed.
    """

    def __init__(self, target: ControlledTarget) -> None:
        self._loop = Loop()
        self._rpc: RpcClient | None = None
        address = target.address()
        with suppress(NfsClientError):
            self._rpc = connect_tcp(
                address.host,
                address.nfs_port,
                loop=self._loop,
                timeout=_CALL,
                privileged=address.privileged,
                credential=credential_of(target.url),
            )
        self._kind = client_of(address.version)

    def answers(self) -> bool:
        """Whether a NULL on it is answered."""
        if self._rpc is None:
            return False
        try:
            self._kind(self._rpc).null()
        except NfsClientError:
            self.close()
            return False
        return True

    def close(self) -> None:
        rpc, self._rpc = self._rpc, None
        if rpc is not None:
            rpc.close()

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._loop.close()
