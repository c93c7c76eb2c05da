# SPDX-License-Identifier: MIT
"""What every target offers: an address, controls, and an exit report when it has died."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import ClassVar, Self

from nfstargets.states import NfsClientState

PlainValue = str | int | bool | None


class TargetError(Exception):
    """A target cannot be named, started, restarted or reached. The text says what was tried and what to do."""


class ControlFailed(TargetError):
    """A control that the target has did not work. That says nothing about its NFS service: VOID, never a verdict.

    `output` has the lines that a command of its owner has printed.
    """

    def __init__(self, text: str, output: Sequence[str] = ()) -> None:
        super().__init__("\n".join([text, *output]))
        self.text = text
        self.output = tuple(output)


class ControlDeclined(TargetError):
    """The person who was asked to do it said no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetAddress:
    """Where a target answers, and as whom it is to be asked. Plain values only, so that it crosses to workers."""

    host: str
    """Name or numeric address, IPv6 without brackets."""
    nfs_port: int
    mount_port: int
    """0: there is none, for NFSv4."""
    portmap_port: int | None = None
    """None: the target has no portmapper that the suite may ask."""
    proto: str = "tcp"
    """Transport of the checks that do not choose one: "tcp" or "udp"."""
    version: int = 3
    """2: test NFSv2 only. 3: test NFSv3, and also NFSv2 and NFSv4.1 if they are served. 4: test NFSv4 only."""
    minor: int | None = None
    """With version 4, the latest minor version to test; None: all that are served."""
    export: str = "/export"
    """Path for MNT; of NFSv4, from the root of the server."""
    inside: str = ""
    """Path from the export to the directory in which checks work; empty: the export itself."""
    root_handle: str | None = None
    """Hexadecimal handle of that directory, in `version`, where it is known without MOUNT; None: ask MOUNT."""
    uid: int = 0
    gid: int = 0
    privileged: bool = False
    """True: the server wants calls from source ports below 1024."""
    other_source: str = ""
    """Another address of this machine that reaches the server, for calls of another client; empty: none is known."""
    cable: str = ""
    """How a bridge of packets reaches the server from the network of this process: "new" by a device that it makes,
    "DEVICE ADDRESS" by one that is there; empty: it cannot."""

    def to_plain(self) -> dict[str, PlainValue]:
        """Only str, int, bool and None, as xdist's serialisation wants it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, PlainValue]) -> Self:
        """The inverse of to_plain(). Raises TypeError on unknown or missing keys."""
        unknown = set(plain) - {field.name for field in fields(cls)}
        if unknown:
            raise TypeError(f"not fields of a target address: {', '.join(sorted(unknown))}")
        return cls(**plain)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something in the log of a server that a sound one never says."""

    text: str
    """Its first line."""
    lines: tuple[str, ...]
    is_grave: bool
    """True: the server is broken from now on. False: it may also come of a busy machine."""


class Target(ABC):
    """A server under test. One object per process that talks to it.

    Life: `start()`, any number of `address()`, controls, `stop()`. A target with `per_worker` is started in every
    xdist worker; any other one is started once, by the controller, and its workers get a plain address.
    """

    name: str = "target"
    """As printed in reports, for example "ganesha:vfs"."""
    per_worker: ClassVar[bool] = False
    is_throwaway: ClassVar[bool] = False
    """True: its export is made for the run and goes with it."""
    serves: ClassVar[bool] = True
    """False: it is a client under test. It has no address, and nothing can be asked of it before or after checks."""
    is_watchable: ClassVar[bool] = True
    """False: who serves its port is not the server, but the machine that it runs in."""
    controls: frozenset[str] = frozenset()
    """What nfsproof can do to it from outside: "crash", "restart", "touch_locally", "fill_disk", "set_lease",
    "end_grace", "drop_caches", "known_clients", "knobs"."""
    undone: str = ""
    """After stop(): what could not be put back as it was."""
    remark: str = ""
    """What the user should hear before the run: that it is another server than the name says."""
    asked_for: str = ""
    """Which checks its next control is for, in words for the person who may have to carry it out."""
    wants_network: bool = False
    """Whether it is to be in a private network, if it can be, so that packets can be lost on the way to it. Whoever
    starts it joins that network with this thread."""
    lacks_of_memory: int = 0
    """How often it has ended for lack of memory: how much a machine grants is not its doing."""

    @property
    def log_name(self) -> str | None:
        """The name of the log that it writes; None: it writes none."""
        return None

    log_path: Path | None = None
    """The server's own log, if there is one on this machine. Who wants to keep it sets a place before start()."""

    @abstractmethod
    def start(self) -> None:
        """Brings the target up and returns when it answers. Raises TargetError; leaves nothing running then."""

    @abstractmethod
    def stop(self) -> None:
        """Ends what start() began. May be called twice, and after a failed start."""

    def hurry(self, seconds: float) -> None:  # noqa: B027  (most have nothing that takes long)
        """The run was interrupted: controls that put something back may take this long together from now on."""

    @abstractmethod
    def address(self) -> TargetAddress:
        """Where it answers now. It may change with restart()."""

    def crash(self) -> None:
        """Ends the server without warning, as a loss of power would, and brings it back; returns when it answers."""
        raise TargetError(f"{self.name} has no control 'crash'")

    def restart(self) -> None:
        """Stops it in order and starts it, or brings it back when it has died; returns when it answers."""
        raise TargetError(f"{self.name} has no control 'restart'")

    def touch_locally(self, path: bytes, *, remove: bool = False) -> None:
        """Lets the regular file at `path` below the export grow without NFS, as another program on the server might.

        With `remove` it is removed instead.
        """
        what = "remove" if remove else "change"
        raise TargetError(f"{self.name} has no control 'touch_locally': it cannot {what} {path!r}")

    def try_locally(self, path: bytes, *, remove: bool = False) -> bool:
        """`touch_locally`, unless it has to wait for an NFSv4 client; then nothing is done, and the answer is False.

        Only a server in this process can be asked so: others are waited for.
        """
        self.touch_locally(path, remove=remove)
        return True

    def pass_time(self, seconds: float) -> bool:
        """Lets time pass for leases and grace without waiting; False where that cannot be done."""
        del seconds
        return False

    def discard(self, name: bytes) -> bool:
        """Removes a directory of the export with all that is in it without NFS; False where that cannot be done.

        For what a check has left, where nobody looks any more.
        """
        del name
        return False

    def discard_clients(self, clients: Collection[int]) -> bool:
        """Removes client ids of NFSv4 with all that they have, without NFS; False where that cannot be done."""
        del clients
        return False

    def discard_states(self, client: int) -> bool:
        """Removes the opens, locks and delegations of a client id in the same way; its sessions stay."""
        del client
        return False

    def fill_disk(self) -> None:
        """Takes all room for data that is left below the export, until `free_disk()`."""
        raise TargetError(f"{self.name} has no control 'fill_disk'")

    def free_disk(self) -> None:
        """Gives back what `fill_disk()` took; nothing when it took nothing."""
        return

    def set_lease(self, seconds: int | None) -> None:
        """Sets the lease time of NFSv4, which may restart the service; None: back to its usual one."""
        raise TargetError(f"{self.name} has no control 'set_lease': it cannot be set to {seconds} s")

    def end_grace(self) -> None:
        """Ends the time after a start in which only reclaims are allowed (NLM, NFSv4)."""
        raise TargetError(f"{self.name} has no control 'end_grace'")

    def sync(self) -> None:  # noqa: B027  (most have nothing that a crash would lose)
        """Has its machine write to the disk what it has in memory, where nfsproof can do that; nothing elsewhere."""

    def drop_caches(self) -> None:
        """Has it forget what it can read again from its disk."""
        raise TargetError(f"{self.name} has no control 'drop_caches'")

    def known_clients(self) -> tuple[NfsClientState, ...]:
        """The clients with state that it knows, and their state."""
        raise TargetError(f"{self.name} has no control 'known_clients'")

    def set_knobs(self, values: Mapping[str, float | str | None]) -> None:
        """Sets which legal freedoms it takes, by name; see docs/knobs.md. Raises ValueError for what there is not."""
        raise TargetError(f"{self.name} has no knobs: {', '.join(values)} cannot be set")

    def reset_knobs(self) -> None:
        """Sets all of them back to what they were when it started."""
        return

    def exit_report(self) -> str | None:
        """None while it lives or when nothing is known; else why it is dead: exit status and last log lines."""
        return None

    def await_end(self) -> None:
        """Waits a moment for the end of a server that refuses connections, so that `exit_report` knows of it."""
        return

    def alarms(self) -> list[Alarm]:
        """What its log has said since the last call that a sound server never says."""
        return []

    def describe(self) -> str:
        """One line for the header of a run."""
        return self.name
