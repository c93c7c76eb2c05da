# SPDX-License-Identifier: MIT
"""The agent of a guest that is an NFS client: mounts, runs programs and moves files, as the run asks.

It speaks as the agent of the server does (`agent`), over the same kind of line. A request is a text of JSON that
comes in parts, each of which is answered, since a terminal holds little:

    {"id": 1, "part": TEXT}                   {"id": 1, "ok": true}
    {"id": 2, "part": TEXT, "whole": true}    {"id": 2, "ok": true, ...} or {"id": 2, "ok": false, "why": TEXT}

    {"do": "mount", "source": "192.0.2.1:/export", "point": "/run/mnt", "options": "vers=3,nolock"}
    {"do": "begin", "argv": [...], "keep": 65536, "folder": "/", "user": 0, "group": 0}
        {..., "number": 123}
    {"do": "finish", "number": 123, "seconds": 60}
        {..., "status": 0, "stdout": BASE64, "stderr": BASE64, "cut": false, "late": false}
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from nfstargets.knfsd.guest.agent import GuestError, attend, run

MODULES = ("nfs", "nfsv2", "nfsv3")
"""A kernel may have them built in, or lack some."""
_DYING = 5.0
"""Seconds from SIGKILL to the end of a program. One that waits for a server in the kernel may not end at all."""


class Client:
    """What the guest does, one request at a time."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        self._chosen = chosen
        self.parts: list[str] = []
        """Of the request that is coming."""
        self._programs: dict[int, _Heard] = {}

    def start(self) -> None:
        """From a bare kernel to a machine that can mount. Raises GuestError."""
        interface = self._chosen["interface"]
        run("ip", "link", "set", "lo", "up")
        run("ip", "address", "add", self._chosen["address"], "dev", interface)
        run("ip", "link", "set", interface, "up")
        # The server may have any address of the other machine.
        run("ip", "route", "add", "default", "via", self._chosen["gateway"])
        for name in MODULES:
            with contextlib.suppress(GuestError):
                run("modprobe", name)
        if "\tnfs\n" not in Path("/proc/filesystems").read_text():
            raise GuestError("the kernel has no NFS client")

    # ------------------------------------------------------------ mounts

    def mount(self, source: str, point: str, options: str, *, bypass: bool = False) -> None:
        """Mounts an export. `bypass`: by the kernel alone, without mount.nfs, which refuses version 2."""
        Path(point).mkdir(parents=True, exist_ok=True)
        run("mount", *(["-i"] if bypass else []), "-t", "nfs", "-o", options, source, point)

    def umount(self, point: str, *, force: bool = False) -> None:
        """Takes a mount away. `force`: also where its server does not answer, or files are open."""
        run("umount", *(["-f", "-l"] if force else []), point)

    def drop_caches(self) -> None:
        """Forgets what may be forgotten: data, names and attributes."""
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3")

    # ------------------------------------------------------------ programs

    def begin(self, argv: list[str], keep: int, folder: str, user: int, group: int) -> dict[str, Any]:
        """Starts a program; its number."""
        try:
            process = subprocess.Popen(  # noqa: S603 - what the run asks for
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                user=user,
                group=group,
                extra_groups=[],
                start_new_session=True,
            )
        except OSError as error:
            raise GuestError(f"{argv[0]}: {error}") from error
        self._programs[process.pid] = _Heard(process, keep)
        return {"number": process.pid}

    def finish(self, number: int, seconds: float) -> dict[str, Any]:
        """Waits for a program, and ends it when time is up; how it ended and the beginning of what it said."""
        heard = self._programs.pop(number)
        is_late = not heard.listen(time.monotonic() + seconds)
        # All that it started ends with it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(number, signal.SIGKILL)
        heard.listen(time.monotonic() + _DYING)
        heard.close()
        return {
            "status": heard.status(),
            "stdout": b64encode(heard.kept["stdout"]).decode(),
            "stderr": b64encode(heard.kept["stderr"]).decode(),
            "cut": heard.is_cut,
            "late": is_late,
        }

    # ------------------------------------------------------------ files

    def write(self, path: str, data: str, *, begin: bool) -> None:
        """Adds a piece to a file. `begin`: of a new one."""
        with Path(path).open("wb" if begin else "ab") as file:
            file.write(b64decode(data))

    def read(self, path: str, offset: int, count: int) -> dict[str, Any]:
        """A piece of a file."""
        with Path(path).open("rb") as file:
            file.seek(offset)
            return {"data": b64encode(file.read(count)).decode()}


class _Heard:
    """What a program says: the beginning is kept, the rest is read and forgotten, so that it never waits for us."""

    def __init__(self, process: subprocess.Popen[bytes], keep: int) -> None:
        self._process = process
        self._keep = keep
        self.kept = {"stdout": bytearray(), "stderr": bytearray()}
        self.is_cut = False
        self._selector = selectors.DefaultSelector()
        for name, stream in (("stdout", process.stdout), ("stderr", process.stderr)):
            self._selector.register(_present(stream), selectors.EVENT_READ, name)

    def listen(self, deadline: float) -> bool:
        """Until the program has ended and said all, or time is up; whether it has ended.

        A child that outlives it may hold its output open: that is not waited for.
        """
        descriptor = os.pidfd_open(self._process.pid) if self._process.returncode is None else None
        try:
            if descriptor is not None:
                self._selector.register(descriptor, selectors.EVENT_READ, "end")
            return self._listen(deadline)
        finally:
            if descriptor is not None:
                self._selector.unregister(descriptor)
                os.close(descriptor)

    def _listen(self, deadline: float) -> bool:
        while True:
            has_ended = self._process.poll() is not None
            wait = 0.0 if has_ended else deadline - time.monotonic()
            found = [key for key, _ in self._selector.select(max(0.0, wait)) if key.data != "end"]
            for key in found:
                self._take(key)
            if not found and (has_ended or time.monotonic() >= deadline):
                return has_ended

    def _take(self, key: selectors.SelectorKey) -> None:
        data = os.read(key.fd, 65_536)
        if not data:
            self._selector.unregister(key.fileobj)
            return
        kept = self.kept[key.data]
        room = self._keep - len(kept)
        kept += data[:room]
        self.is_cut = self.is_cut or len(data) > room

    def status(self) -> int:
        """How it ended; as if by SIGKILL if that has not ended it yet."""
        try:
            return self._process.wait(_DYING)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL

    def close(self) -> None:
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            _present(stream).close()


def _present(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def obey(client: Client, request: dict[str, Any]) -> dict[str, Any]:
    """Takes a part of a request, and does what it says when it is whole; the answer."""
    answer: dict[str, Any] = {"id": request["id"], "ok": True}
    client.parts.append(request["part"])
    if not request.get("whole"):
        return answer
    words = "".join(client.parts)
    client.parts.clear()
    try:
        return answer | (_do(client, json.loads(words)) or {})
    except (GuestError, OSError, KeyError, TypeError, ValueError) as error:
        return answer | {"ok": False, "why": f"{type(error).__name__}: {error}"}


def _do(client: Client, wanted: dict[str, Any]) -> dict[str, Any] | None:
    known: dict[str, Callable[..., dict[str, Any] | None]] = {
        "mount": client.mount,
        "umount": client.umount,
        "drop_caches": client.drop_caches,
        "begin": client.begin,
        "finish": client.finish,
        "write": client.write,
        "read": client.read,
    }
    return known[wanted.pop("do")](**wanted)


def main() -> int:
    """Gets ready to mount and obeys until the machine ends."""
    return attend(Client, obey)


if __name__ == "__main__":
    sys.exit(main())
