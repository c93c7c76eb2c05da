# SPDX-License-Identifier: MIT
"""What all protocols of a server share: exports, file handles, callers, limits, and the instance of the service."""

from __future__ import annotations

import errno
import itertools
import random
import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace

from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.service import CallContext
from nfsserver.fs import (
    ANONYMOUS,
    Caller,
    Clock,
    FileSystem,
    FsError,
    HandleCodec,
    Identity,
    Inode,
    Limits,
    SystemClock,
)
from nfsserver.knobs import Knobs
from nfsserver.pseudo import FSID, PseudoFileSystem
from nfsserver.transfers import Transfers

_HALF = 0.5


class Backend:
    """File systems by export, and who may see what of them. It knows neither RPC messages nor sockets.

    `exports` are paths; each has a separate file system. `limits` are the usual ones, of which knobs change some.
    `seed` makes handles and verifiers repeatable; without one they are drawn at random.
    """

    def __init__(
        self,
        exports: Iterable[str],
        *,
        clock: Clock | None = None,
        limits: Limits | None = None,
        seed: int | None = None,
    ) -> None:
        self.limits = self._usual_limits = limits or Limits()
        self.clock = clock or SystemClock()
        self.exports: dict[bytes, FileSystem] = {
            path.encode(): FileSystem(clock=self.clock, limits=self.limits, fsid=number)
            for number, path in enumerate(exports, start=1)
        }
        self._by_fsid = {file_system.fsid: file_system for file_system in self.exports.values()}
        self.pseudo = PseudoFileSystem(self.exports, self.clock)
        self.codec = HandleCodec(secrets.randbits(128) if seed is None else seed)
        self.boots = 1
        """The number of this instance of the service. Every restart and every crash begins another one."""
        self._knobs = Knobs({}, lambda: None)
        self._losses = 0
        """How often uncommitted data was lost without a restart."""
        self._luck: random.Random | None = None
        """Draws the uncommitted data that survives a crash; None: nothing does."""
        self._variants = itertools.cycle(range(3))

    # ------------------------------------------------------------ objects

    @property
    def fs(self) -> FileSystem:
        """The file system of the first export."""
        return next(iter(self.exports.values()))

    def resolve(self, handle: bytes) -> Inode:
        """The live object of a handle. EBADF: not one of this server's; ESTALE: the object is gone."""
        identity = self.codec.decode(handle)
        file_system = self._by_fsid.get(identity.export)
        if file_system is None:
            raise FsError(errno.ESTALE)
        return file_system.inode(identity.fileid, identity.generation)

    def resolve4(self, handle: bytes) -> Inode:
        """The same for NFSv4, which has the pseudo file system besides.."""
        identity = self.codec.decode(handle)
        file_system = self.pseudo.fs if identity.export == FSID else self._by_fsid.get(identity.export)
        if file_system is None:
            raise FsError(errno.ESTALE)
        return file_system.inode(identity.fileid, identity.generation)

    def handle_of(self, inode: Inode) -> bytes:
        """A handle of an object: always the same one, unless objects have several."""
        variant = next(self._variants) if self._knobs.now.several_handles else 0
        return self.codec.encode(Identity(inode.fs.fsid, inode.fileid, inode.generation), variant)

    # ------------------------------------------------------------ calls

    def caller(self, context: CallContext) -> Caller:
        """The identity of a caller; without one it is nobody."""
        credential = context.credential
        if not isinstance(credential, AuthSys):
            return ANONYMOUS
        caller = Caller(credential.uid, credential.gid, frozenset(credential.gids))
        now = self._knobs.now  # not what `obey` saw: middleware may set it for one call
        if now.all_squash:
            return ANONYMOUS
        return caller.squashed() if now.root_squash else caller

    def transfers(self, context: CallContext) -> Transfers:
        """What one call may carry."""
        return Transfers(self.limits, is_datagram=context.transport == "udp")

    def obey(self, knobs: Knobs, noted: Callable[[Limits], Limits] | None = None) -> None:
        """Change limits and file systems to the values of the knobs. `noted` makes limits that note their use."""
        self._knobs, now = knobs, knobs.now
        self._luck = None if now.crash_loses is None else random.Random(now.crash_loses)
        limits = replace(self._usual_limits, **knobs.limits())
        self.limits = limits if noted is None else noted(limits)
        self.pseudo.refer(is_wanted=now.referral)
        for file_system in self.exports.values():
            file_system.configure(self.limits)
            if now.write_back_fails and now.free_bytes is not None:
                self._losses += file_system.lose_uncommitted()
            file_system.read_only = now.read_only
            file_system.leave_free(now.free_bytes, now.free_files)

    # ------------------------------------------------------------ instances of the service

    @property
    def write_verifier(self) -> bytes:
        """The verifier of WRITE and COMMIT: another one after each loss of data (RFC 1813 section 3.3.7)."""
        return self.codec.token(
            b"boot", 1 if self._knobs.now.nonvolatile_memory else self.boots, self._losses
        )

    def begin_instance(self, *, clean: bool) -> None:
        """Begin another instance. Unless it is `clean`, uncommitted data is lost as in a crash.

        Handles, names and stable data stay.
        """
        for file_system in self.exports.values():
            if clean or self._knobs.now.nonvolatile_memory:
                file_system.commit_all()
            else:
                file_system.crash(self._survives)
            if self.limits.stale_on_remove:
                file_system.objects.forget_nameless()  # NFSv4 clients had them open
        self.boots += 1

    def _survives(self) -> bool:
        """Whether a page of uncommitted data survives a crash."""
        return self._luck is not None and self._luck.random() < _HALF
