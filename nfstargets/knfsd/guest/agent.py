# SPDX-License-Identifier: MIT
"""The agent in the guest: starts the NFS services, then does what the run asks, over a separate line.

It runs in the guest with nothing but Python's standard library. Settings are words `nfsproof.NAME=VALUE` on the
kernel's command line. The line is a serial device, not the network that the tests use. What passes on it is JSON, one
object in each line of text:

    {"event": "ready", "kernel": TEXT}      {"event": "failed", "why": TEXT}
    {"id": 1, "do": NAME, ...}              {"id": 1, "ok": true, "value": ...} or {"id": 1, "ok": false, "why": TEXT}
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import traceback
import tty
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

WORD = "nfsproof."
"""How a setting begins on the kernel's command line."""
VOLUME = Path("/volume")
EXPORT = VOLUME / "export"
FILLER = VOLUME / "filler"
"""Next to the export, on the same file system."""
STATE = Path("/var/lib/nfs")
CONTROL = Path("/proc/fs/nfsd")
PORTS = {"nfs": 2049, "mountd": 20048, "statd": 32765, "statd-out": 32766, "nlm": 32803}
VERSIONS = ("2", "3", "4.0", "4.1", "4.2")
LOCKD = Path("/proc/fs/lockd")
TUNING = Path("/proc/sys")
LONGEST_NLM_GRACE = 240
COMMAND = 30.0
"""Seconds for one command of the guest."""
_HASH_SEED = "6e667370-726f-4f66-8000-6e667370726f"
"""Fixes the order of names in a directory of ext4, which is random otherwise: a run repeats what the last one saw."""


class GuestError(Exception):
    """Something could not be done in the guest. The text says what, and what the command said."""


def settings(command_line: str) -> dict[str, str]:
    """The settings among the words of the kernel's command line."""
    words = (word.removeprefix(WORD) for word in command_line.split() if word.startswith(WORD))
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def run(*argv: str | Path) -> None:
    """One command. Raises GuestError with its last words."""
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(  # noqa: S603 - commands of this file
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMMAND, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GuestError(f"{words[0]}: {error}") from error
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())
        raise GuestError(f"{' '.join(words)} ended with {done.returncode}: {said[:300]}")


class Server:
    """The NFS service of the guest."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        self.chosen = chosen

    # ------------------------------------------------------------ start

    def start(self) -> None:
        """From a bare kernel to all services. Raises GuestError."""
        self._network()
        self._disks()
        self._modules()
        run("rpcbind", "-w", "-r")
        # --no-notify: no peer knows the machine that was here before.
        run("rpc.statd", "--no-notify", "-p", str(PORTS["statd"]), "-o", str(PORTS["statd-out"]))
        run("nfsdcld")
        run("exportfs", "-ra")
        self.start_service()

    def _network(self) -> None:
        run("ip", "link", "set", "lo", "up")
        run("ip", "address", "add", self.chosen["address"], "dev", self.chosen["interface"])
        run("ip", "link", "set", self.chosen["interface"], "up")
        if self.chosen.get("packets") == "plain":
            _offload_nothing(self.chosen["interface"])

        # Without names mountd would blame the lack of a name server for what it does not do.
        names = [
            f"{address} client{number}" for number, address in enumerate(self.chosen["peers"].split(","), 1)
        ]
        Path("/run/hosts").write_text("\n".join(["127.0.0.1 localhost", *names, ""]))
        run("mount", "--bind", "/run/hosts", "/etc/hosts")

    def _disks(self) -> None:
        state = Path(self.chosen["state"])
        _mount_disk(state, STATE, "ext4")
        for name in ("sm", "sm.bak", "v4recovery"):
            (STATE / name).mkdir(exist_ok=True)
        for name in ("etab", "rmtab"):
            (STATE / name).touch()
        kind = self.chosen["fs"]
        if kind == "tmpfs":
            run("mount", "-t", "tmpfs", "-o", f"size={self.chosen['size']}", "nfsproof", VOLUME)
        else:
            _mount_disk(Path(self.chosen["data"]), VOLUME, kind)
        EXPORT.mkdir(exist_ok=True)
        EXPORT.chmod(0o777)
        how = f"rw,{self.chosen['sync']},insecure,no_root_squash,no_subtree_check,fsid=1"
        Path("/run/exports").write_text(f"{EXPORT} *({how})\n")

    def _modules(self) -> None:
        if Path("/proc/modules").exists():  # else all is built in
            run("modprobe", "-a", "nfsd", "lockd")
        run("mount", "-t", "nfsd", "nfsd", CONTROL)
        pipes = Path("/run/rpc_pipefs")
        pipes.mkdir(exist_ok=True)
        run("mount", "-t", "rpc_pipefs", "pipes", pipes)
        for name in ("nlm_tcpport", "nlm_udpport"):
            (TUNING / "fs/nfs" / name).write_text(str(PORTS["nlm"]))
        # NLM's is 50 s otherwise; what is no multiple of ten is rounded up.
        (TUNING / "fs/nfs/nlm_grace_period").write_text(
            str(min(int(self.chosen["grace"]), LONGEST_NLM_GRACE))
        )

    def start_service(self) -> None:
        """The server and MOUNT. Raises GuestError."""
        with contextlib.suppress(OSError):
            (CONTROL / "max_block_size").write_text(self.chosen["block"])
        (CONTROL / "nfsv4gracetime").write_text(self.chosen["grace"])
        (CONTROL / "nfsv4leasetime").write_text(self.chosen["lease"])
        _choose_versions(self.chosen["versions"])
        # rpc.nfsd takes NFSv2 away. It does no more than this.
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            _listen(kind)
        (CONTROL / "threads").write_text(self.chosen["threads"])
        run("rpc.mountd", "-p", str(PORTS["mountd"]))

    def _stop_service(self) -> None:
        (CONTROL / "threads").write_text("0")
        _end("rpc.mountd")

    # ------------------------------------------------------------ commands

    def restart(self) -> None:
        """Stops the service in order and starts it again. The machine goes on."""
        self._stop_service()
        self.start_service()

    def set_lease(self, seconds: int) -> None:
        """Restarts the service with another lease time, which it keeps; the kernel takes none while it runs."""
        self._stop_service()
        self.chosen = {**self.chosen, "lease": str(seconds)}
        self.start_service()

    def end_grace(self) -> None:
        """Ends the time after a start in which NLM and NFSv4 only let clients reclaim; nothing when it is over."""
        (LOCKD / "nlm_end_grace").write_text("Y")
        grace = CONTROL / "v4_end_grace"
        try:
            grace.write_text("Y")
        except OSError:
            if grace.read_text().strip() != "Y":
                raise

    def touch(self, path: str) -> None:
        """Lets a file of the export grow."""
        with _inside(path).open("ab") as file:
            file.write(b"changed without the protocol")

    def remove(self, path: str) -> None:
        """Removes a file of the export."""
        _inside(path).unlink()

    def discard(self, path: str) -> None:
        """Removes a directory of the export with all that is in it."""
        shutil.rmtree(_inside(path))

    def fill(self) -> None:
        """Takes all room for data that the export has."""
        os.sync()  # blocks that are promised but not yet allocated
        descriptor = os.open(FILLER, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            length, step = 0, 1 << 40
            while step >= 512:
                try:
                    os.posix_fallocate(descriptor, length, step)
                    length += step
                except OSError as error:
                    if error.errno not in (errno.ENOSPC, errno.EFBIG):
                        raise
                    step //= 2
        finally:
            os.close(descriptor)

    def free(self) -> None:
        """Gives back what `fill` took."""
        FILLER.unlink(missing_ok=True)

    def sync(self) -> None:
        """Writes to the disks what is only in memory."""
        os.sync()

    def drop_caches(self) -> None:
        """Lets the kernel forget what it can read again from the disks: data, names and attributes."""
        os.sync()
        (TUNING / "vm/drop_caches").write_text("3")

    def clients(self) -> list[dict[str, str]]:
        """What the kernel says of its NFSv4 clients: the text of `info` and `states` of each."""
        found = []
        for folder in sorted((CONTROL / "clients").glob("*"), key=lambda path: int(path.name)):
            with contextlib.suppress(OSError):  # it went meanwhile
                found.append({name: (folder / name).read_text() for name in ("info", "states")})
        return found


def _offload_nothing(device: str) -> None:
    """Have the kernel compute checksums and divide segments before packets leave a device."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for setting in (0x1F, 0x24, 0x17):  # of ethtool: TSO, GSO, and checksums, which the others need
            value = array.array("B", struct.pack("=II", setting, 0))
            place, _ = value.buffer_info()
            with contextlib.suppress(OSError):  # what a device has not need not be switched off
                fcntl.ioctl(sock, 0x8946, struct.pack("16sP", device.encode(), place) + bytes(16))


def _choose_versions(wanted: str) -> None:
    """Has the kernel serve these versions: words between "+", empty for all that it has. Raises GuestError."""
    names = wanted.split("+") if wanted else VERSIONS
    file = CONTROL / "versions"
    for name in VERSIONS:
        # NFSv2 is not known everywhere.
        with contextlib.suppress(OSError):
            file.write_text(f"{'+' if name in names else '-'}{name}\n")
    served = file.read_text().split()
    missing = [name for name in names if f"+{name}" not in served and name != "4.0"]
    if wanted and missing:
        raise GuestError(f"this kernel does not serve NFS {', '.join(missing)}: it says {' '.join(served)}")


def _listen(kind: socket.SocketKind) -> None:
    """A socket for the kernel's server, which announces it to rpcbind and keeps it."""
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("0.0.0.0", PORTS["nfs"]))  # noqa: S104 - in a network of the run alone
        if kind == socket.SOCK_STREAM:
            sock.listen(64)
        (CONTROL / "portlist").write_text(f"{sock.fileno()}\n")


def _mount_disk(device: Path, point: Path, kind: str) -> None:
    """Mounts a disk; an empty one gets a file system first."""
    with device.open("rb") as disk:
        is_empty = not any(disk.read(0x1_0000))
    if is_empty and kind == "xfs":
        run("mkfs.xfs", "-q", device)
    elif is_empty:
        run("mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-E", f"hash_seed={_HASH_SEED}", device)
    run("mount", "-t", kind, device, point)


def _inside(path: str) -> Path:
    """A path of the export. It arrives with surrogates for bytes that are no text."""
    found = EXPORT / path.lstrip("/")
    if not found.resolve().is_relative_to(EXPORT) or found == EXPORT:
        raise GuestError(f"{path!r} is not below the export")
    return found


def _end(name: str) -> None:
    """Ends all processes of a program in order. Raises GuestError when one does not end."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if (folder / "comm").read_text().strip() != name:
                continue
            process = os.pidfd_open(int(folder.name))
            try:
                signal.pidfd_send_signal(process, signal.SIGTERM)
                if not select.select([process], [], [], COMMAND)[0]:
                    raise GuestError(f"{name} did not end within {COMMAND:g} s of SIGTERM")
            finally:
                os.close(process)


class Line:
    """The line to the run: JSON, one object a line."""

    def __init__(self, device: str) -> None:
        self._descriptor = os.open(device, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self._descriptor, termios.TCSANOW)
        self._input = bytearray()

    def say(self, **what: Any) -> None:
        """One object to the run."""
        left = memoryview(json.dumps(what).encode() + b"\n")
        while left:
            left = left[os.write(self._descriptor, left) :]

    def hear(self) -> dict[str, Any] | None:
        """The next request; waits for it. None when the run has gone, and the machine with it."""
        while b"\n" not in self._input:
            data = b""
            with contextlib.suppress(OSError):
                data = os.read(self._descriptor, 4096)
            if not data:
                return None
            self._input += data
        line, _, self._input = self._input.partition(b"\n")
        request: dict[str, Any] = json.loads(line)
        return request


def obey(server: Server, request: dict[str, Any]) -> dict[str, Any]:
    """Does what a request says; the answer."""
    known: dict[str, Callable[..., Any]] = {
        "restart": server.restart,
        "touch": server.touch,
        "remove": server.remove,
        "discard": server.discard,
        "fill": server.fill,
        "free": server.free,
        "sync": server.sync,
        "set_lease": server.set_lease,
        "end_grace": server.end_grace,
        "drop_caches": server.drop_caches,
        "clients": server.clients,
    }
    number = request.pop("id", 0)
    try:
        value = known[request.pop("do")](**request)
    except (GuestError, OSError, KeyError, TypeError) as error:
        return {"id": number, "ok": False, "why": f"{type(error).__name__}: {error}"}
    return {"id": number, "ok": True, "value": value}


class Role(Protocol):
    """What the guest is for the run."""

    def start(self) -> None:
        """Gets ready. Raises GuestError, OSError or KeyError."""
        ...


R = TypeVar("R", bound=Role)


def attend(
    role: Callable[[Mapping[str, str]], R], answer: Callable[[R, dict[str, Any]], dict[str, Any]]
) -> int:
    """Starts a role and answers requests until the machine ends."""
    chosen = settings(Path("/proc/cmdline").read_text())
    line = Line(chosen["line"])
    played = role(chosen)
    try:
        played.start()
    except (GuestError, OSError, KeyError) as error:
        traceback.print_exc()
        line.say(event="failed", why=f"{type(error).__name__}: {error}")
        return 1
    line.say(event="ready", kernel=os.uname().release)
    while (request := line.hear()) is not None:
        line.say(**answer(played, request))
    return 0


if __name__ == "__main__":
    sys.exit(attend(Server, obey))
