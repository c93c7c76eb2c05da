# SPDX-License-Identifier: MIT
"""Tries out the control of a server step by step, before a run depends on it.

Each action is carried out once, and its effect is looked at by NFS: a command that ends with 0 may have done nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from nfsclient.errors import NfsClientError
from nfsclient.nfs3 import NfsClient, connect
from nfsclient.protocol import nfs3
from nfstargets.base import ControlFailed, TargetError
from nfstargets.control.actions import Controls
from nfstargets.control.target import ControlledTarget
from nfstargets.diagnosis.report import Outcome, Step

_BLOCK = bytes(4096)
_BY_FILES = frozenset({"touch_locally", "remove_locally", "fill_disk", "drop_caches"})
_LEASE = 15
"""Seconds: most servers refuse less than ten."""
_FULL = 64
"""WRITEs of a block after which a disk that is said to be full is not."""


_CACHED = 65.0
"""Seconds for which a server may answer from a cache of attributes and names: 60 in NFS-Ganesha."""
_PAUSE = 1.0


class _Failed(Exception):
    """What a step saw instead of the effect."""


def failed_step(name: str, error: Exception) -> Step:
    """The step that ended with an error."""
    if isinstance(error, ControlFailed):
        return Step(name, Outcome.FAILED, error.text, output=error.output)
    return Step(name, Outcome.FAILED, str(error))


class Trial:
    """One trial of one server."""

    def __init__(
        self,
        target: ControlledTarget,
        controls: Controls,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._target = target
        self._controls = controls
        self._clock = clock
        self._sleep = sleep
        self._name = f"nfsproof-control-{os.getpid()}"

    def steps(self) -> Iterator[Step]:
        """A step for each control, in the order in which each leaves the server ready for the next; none raises.

        The first that cannot be undone ends the trial.
        """
        ways: list[tuple[str, bool, Callable[[], str]]] = [
            ("touch_locally", self._has("touch_locally"), self._touch),
            ("remove_locally", self._has("remove_locally"), self._remove),
            ("fill_disk", self._has("fill_disk"), self._fill),
            ("drop_caches", self._has("drop_caches"), self._drop_caches),
            ("end_grace", self._has("end_grace"), self._end_grace),
            ("set_lease", self._has("set_lease"), self._set_lease),
            ("stop and start", self._has("stop") and self._has("start"), self._stop_and_start),
            ("restart", self._has("restart"), self._restart),
            ("crash", self._has("crash"), self._crash),
        ]
        for name, is_there, way in ways:
            if not is_there:
                yield Step(name, Outcome.NOT_TRIED, "no command")
                continue
            if self._is_nfs4 and name in _BY_FILES:
                yield Step(name, Outcome.NOT_TRIED, "its effect is looked at by NFSv3 only")
                continue
            began = self._clock()
            try:
                seen = way()
            except (TargetError, NfsClientError, _Failed) as error:
                yield failed_step(name, error)
                if not self._target.answers():
                    yield Step("the others", Outcome.NOT_TRIED, "the server does not answer any more")
                    return
            else:
                yield Step(name, Outcome.OK, f"{seen} ({self._clock() - began:.1f} s)")
        self._clean()

    @property
    def _is_nfs4(self) -> bool:
        return self._target.address().version == 4

    def _has(self, name: str) -> bool:
        return self._controls.has(name)

    # ------------------------------------------------------------ files

    def _touch(self) -> str:
        with self._client() as client:
            client.write_file(self._name, _BLOCK)
            self._target.touch_locally(self._name.encode())
            late = self._comes(lambda: (client.lstat(self._name).size or 0) > len(_BLOCK))
            size = client.lstat(self._name).size or 0
        if size <= len(_BLOCK):
            raise _Failed(
                f"expected the file of {len(_BLOCK)} bytes to grow, seen {size} bytes by GETATTR, for {_CACHED:g} s"
            )
        return f"the file grew from {len(_BLOCK)} to {size} bytes{late}"

    def _remove(self) -> str:
        with self._client() as client:
            client.write_file(self._name, _BLOCK)
            self._target.touch_locally(self._name.encode(), remove=True)
            late = self._comes(lambda: not client.exists(self._name))
            if client.exists(self._name):
                raise _Failed(f"expected the file to be gone, but LOOKUP still finds it, for {_CACHED:g} s")
        return f"the file is gone{late}"

    def _comes(self, is_seen: Callable[[], bool]) -> str:
        """Wait until the server shows what was done on it: it may answer from a cache. What to say of the wait."""
        if is_seen():
            return ""
        if self._has("drop_caches"):
            self._target.drop_caches()
            if is_seen():
                return ", and NFS showed it when the caches were dropped: the server caches it"
        began = self._clock()
        while self._clock() - began < _CACHED:
            self._sleep(_PAUSE)
            if is_seen():
                return f", and NFS showed it {self._clock() - began:.0f} s later: the server caches it"
        return ""

    def _fill(self) -> str:
        with self._client() as client:
            client.write_file(self._name, b"")
            handle = client.find(self._name).handle
            self._target.fill_disk()
            try:
                refused = _write_until_refused(client, handle)
            finally:
                self._target.free_disk()
            after = client.session.nfs.write(handle, 0, _BLOCK)
        if refused is None:
            raise _Failed(
                f"expected WRITE to be refused, but {_FULL} blocks of {len(_BLOCK)} bytes were written"
            )
        if after.resok is None:
            raise _Failed(f"after free_disk, expected WRITE to succeed, seen {after.status}")
        return f"WRITE answered {refused}; after free_disk it succeeded"

    def _drop_caches(self) -> str:
        with self._client() as client:
            client.write_file(self._name, _BLOCK)
            self._target.drop_caches()
            if client.read_file(self._name) != _BLOCK:
                raise _Failed("expected READ to return what was written before, seen other data")
        return "the command succeeded, and data are as they were"

    # ------------------------------------------------------------ times, which NFSv3 does not show

    def _end_grace(self) -> str:
        self._target.end_grace()
        return self._answering("end_grace")

    def _set_lease(self) -> str:
        self._target.set_lease(_LEASE)
        self._target.set_lease(None)
        return self._answering("set_lease")

    def _answering(self, name: str) -> str:
        self._target.wait_for_answer(name)
        return "the command succeeded, and the server answers; NFSv3 does not show its effect"

    # ------------------------------------------------------------ starts

    def _stop_and_start(self) -> str:
        with self._target.watched() as witness:
            self._target.carry_out("stop")
            self._target.wait_for_end(witness, "stop")
        if self._target.answers():
            raise _Failed("after stop, expected no answer to NULL on a new connection, seen one")
        self._target.carry_out("start")
        self._target.wait_for_answer("start")
        return "the server went down, and answers again"

    def _restart(self) -> str:
        self._target.restart()
        return "the server went down, and answers again"

    def _crash(self) -> str:
        if self._is_nfs4:
            self._target.crash()
            return "the server went down, and answers again; what it has lost is looked at by NFSv3 only"
        with self._client() as client:
            client.write_file(self._name + "-stable", _BLOCK)
            client.write_file(self._name, b"")
            handle = client.find(self._name).handle
            before = client.session.nfs.write(handle, 0, _BLOCK, nfs3.StableHow.UNSTABLE).resok
        self._target.crash()
        with self._client() as client:
            with suppress(NfsClientError):
                client.write_file(self._name + "-after", b"")
            lost, stable_lost = (
                not client.exists(name) or (client.lstat(name).size or 0) < len(_BLOCK)
                for name in (self._name, self._name + "-stable")
            )
            after = client.session.nfs.write(client.find(self._name + "-after").handle, 0, b"x").resok
        if stable_lost:
            return (
                "the server went down, and lost data that it had committed: it keeps them in memory only, or the"
                " command undoes more than a loss of power; expect FAIL and SKIP in recovery"
            )
        if before is None or after is None:
            return "the server went down, and answers again"
        changed = "changed" if before.verf != after.verf else "did not change"
        if lost:
            loss = "and lost data that was UNSTABLE"
        elif before.committed == nfs3.StableHow.UNSTABLE:
            loss = "and lost nothing, not even UNSTABLE data: many checks of crashes will be SKIP"
        else:
            loss = "and is not known to lose anything in it, because WRITE commits all data at once"
        return f"the server went down {loss}; its write verifier {changed}"

    # ------------------------------------------------------------ common

    def _client(self) -> NfsClient:
        found = self._target.found
        return connect(self._target.url if found is None else found.url)

    def _clean(self) -> None:
        if self._is_nfs4:
            return
        with suppress(NfsClientError), self._client() as client:
            for name in (self._name, self._name + "-after", self._name + "-stable"):
                if client.exists(name):
                    client.remove(name)


def _write_until_refused(client: NfsClient, handle: bytes) -> nfs3.Nfsstat3 | None:
    """The status by which a server with a full disk refuses a WRITE; None if it takes all."""
    for number in range(_FULL):
        reply = client.session.nfs.write(handle, number * len(_BLOCK), _BLOCK)
        if reply.resok is None:
            return reply.status
    return None
