# SPDX-License-Identifier: MIT
"""The embedded reference server as a target: in this process, on the same loop as the checks."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, ClassVar

from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import AnyOperation
from nfsserver.conflicts import clear_way
from nfsserver.fs import ForwardedClock, FsError, find_locally, remove_tree_locally, touch_locally
from nfsserver.knobs import KNOBS, Knob
from nfsserver.server import Server
from nfsserver.settings import Value
from nfsserver.state.records import Client
from nfsserver.state.stateids import StateError
from nfstargets.base import Target, TargetAddress, TargetError
from nfstargets.states import HeldState, NfsClientState

if TYPE_CHECKING:
    from nfsmutants import Mutants

EXPORT = "/export"
SECOND_EXPORT = "/second"
"""A second file system, for checks of objects in another export."""


class EmbeddedTarget(Target):
    """The correct embedded server. Each worker has one; what a check does to it disturbs no other worker."""

    name = "embedded"
    per_worker: ClassVar[bool] = True
    controls = frozenset(
        {
            "crash",
            "restart",
            "touch_locally",
            "fill_disk",
            "knobs",
            "set_lease",
            "end_grace",
            "drop_caches",
            "known_clients",
        }
    )

    def __init__(self) -> None:
        self.loop: Loop | None = None
        """To be set before `start`: the loop that the checks wait on."""
        self.knobs: Mapping[str, Value] = {}
        """To be set before `start`: the legal freedoms that it takes throughout."""
        self.broken: frozenset[str] = frozenset()
        """To be set before `start`: the mutants that are on throughout."""
        self.server: Server | None = None
        self._clock = ForwardedClock()
        self._mutants: Mutants | None = None
        """Those of `server`; None until one is switched on."""
        self._free_before: tuple[int | None] | None = None
        """What the knob was before the disk was filled; None: it is not filled."""

    def start(self) -> None:
        """Listen on a free port of loopback."""
        if self.loop is None:
            raise TargetError("the embedded server needs the loop of the checks")
        self._clock = ForwardedClock()
        self.server = Server(exports=(EXPORT, SECOND_EXPORT), knobs=self.knobs, clock=self._clock)
        try:
            self.server.listen(self.loop)
        except OSError as error:
            raise TargetError(f"the embedded server cannot listen on loopback: {error}") from error
        if self.broken:
            self.set_mutants(set(self.broken))

    def stop(self) -> None:
        if self.server is not None:
            self.server.close()
        self.server = self._mutants = None

    def address(self) -> TargetAddress:
        """One port for NFS, MOUNT and portmap."""
        port = self.running().port
        return TargetAddress(
            host="127.0.0.1", nfs_port=port, mount_port=port, portmap_port=port, export=EXPORT
        )

    def running(self) -> Server:
        """The server. Raises TargetError while there is none."""
        if self.server is None:
            raise TargetError("the embedded server is not running")
        return self.server

    def crash(self) -> None:
        """Lose what is not stable."""
        self.running().crash()

    def restart(self) -> None:
        """Begin another instance, in order."""
        self.running().restart()

    def touch_locally(self, path: bytes, *, remove: bool = False) -> None:
        """Change or remove a file without the protocol."""
        if not self.try_locally(path, remove=remove):
            raise TargetError(f"{path!r} cannot be changed: it is delegated to an NFSv4 client")

    def try_locally(self, path: bytes, *, remove: bool = False) -> bool:
        """The same; False where it waits for a delegation, which is recalled."""
        server = self.running()
        try:
            if len(server.states.held.stateids):
                clear_way(server, find_locally(server.fs, path), None, changes=True)
            touch_locally(server.fs, path, remove=remove)
        except StateError:
            return False
        except FsError as error:
            raise TargetError(f"{path!r} cannot be changed: {error}") from error
        return True

    def pass_time(self, seconds: float) -> bool:
        """Put the clock of leases forward."""
        self._clock.advance(seconds)
        return True

    def drop_caches(self) -> None:
        """There are none that could be read again: it has no disk."""

    def known_clients(self) -> tuple[NfsClientState, ...]:
        """Its client records."""
        return tuple(_state_of(self.running(), client) for client in self.running().states.clients)

    def discard(self, name: bytes) -> bool:
        """Remove it in this process: half of all calls of a run would be for that."""
        try:
            remove_tree_locally(self.running().fs, name)
        except (FsError, TargetError, KeyError, RecursionError):
            # The last two: a mutant gave a directory two names, or moved it below itself.
            return False
        return True

    def discard_clients(self, clients: Collection[int]) -> bool:
        """Remove them in this process: two of the calls of many checks of NFSv4 would be for that."""
        try:
            states = self.running().states
        except TargetError:
            return False
        for number in clients:
            with contextlib.suppress(StateError):
                states.destroy(states.clients.require(number))
        return True

    def discard_states(self, client: int) -> bool:
        """Remove them in this process."""
        try:
            self.running().states.held.release(client)
        except TargetError:
            return False
        return True

    def fill_disk(self) -> None:
        """Somebody else takes all free bytes."""
        knobs = self.running().knobs
        if self._free_before is None:
            # What is free by now, which removed files may have added to.
            is_bounded = knobs.now.free_bytes is not None
            self._free_before = (self.running().fs.statistics().free_bytes if is_bounded else None,)
        knobs.set("free_bytes", 0)

    def free_disk(self) -> None:
        if self._free_before is not None:
            self.running().knobs.set("free_bytes", *self._free_before)
            self._free_before = None

    def set_lease(self, seconds: int | None) -> None:
        """The knob `lease_time`; None: what it was when the target started."""
        usual = self.knobs.get("lease_time", KNOBS["lease_time"].default)
        self.running().knobs.set("lease_time", usual if seconds is None else float(seconds))

    def end_grace(self) -> None:
        """Whoever has not reclaimed by now cannot."""
        self.running().states.end_grace()
        self.running().spritely.end_recovery()

    def forget_holders(self) -> None:
        """No client may reclaim what it holds now: a check that a mutant ended early did not give it back."""
        self.running().states.forget_holders()
        self.running().spritely.forget_clients()

    def set_knobs(self, values: Mapping[str, Value]) -> None:
        """Turn knobs. Raises `BadKnob`."""
        self.running().knobs.update(**values)

    def reset_knobs(self) -> None:
        self.running().knobs.reset()

    def describe(self) -> str:
        """With the knobs that are turned, and the mutants that are on, throughout."""
        turned = " ".join(
            [*(f"{name}={Knob.spell(value)}" for name, value in self.knobs.items()), *sorted(self.broken)]
        )
        return f"{self.name} ({turned})" if turned else self.name

    def set_mutants(self, names: set[str]) -> None:
        """Switch exactly these mutants on."""
        # Imported here, since most runs have none, and there are hundreds.
        from nfsmutants import Mutants

        if self._mutants is None:
            self._mutants = Mutants(self.running())
        self._mutants.clear()
        self._mutants.update(names)

    def forget_asked(self) -> None:
        """Forget which operations were performed, and count them from now on."""
        self.running().pipeline.performed.clear()

    def asked(self) -> Counter[AnyOperation]:
        """Operation -> how often it was performed since."""
        return self.running().pipeline.performed.copy()


_KINDS = {"open": "open", "lock": "lock", "delegation": "deleg"}


def _state_of(server: Server, client: Client) -> NfsClientState:
    states = server.states
    courtesy = states.is_expired(client) and states.held.has_any(client.id)
    status = "courtesy" if courtesy else "confirmed" if client.is_confirmed else "unconfirmed"
    sessions = list(client.sessions.values())
    up = any(session.back_connection is not None for session in sessions)
    held = tuple(
        HeldState(
            kind=_KINDS[state.kind], stateid=state.stateid.seqid.to_bytes(4, "big").hex() + state.other.hex()
        )
        for state in states.held.stateids.of_client(client.id)
    )
    return NfsClientState(
        id=f"{client.id:016x}",
        name=client.ownerid.decode("utf-8", "backslashreplace"),
        address="",
        status=status,
        minor_version=sessions[0].minor if sessions else 1,
        seconds_since_renewal=int(states.now() - client.renewed),
        callback_state="UP" if up else "DOWN",
        held=held,
    )
