# SPDX-License-Identifier: MIT
"""Steps as calls of one version of NFS: the operations of `nfsclient.files`, and what NFSv4 has besides."""

from __future__ import annotations

import itertools
import typing as t

from nfsclient.clients.nfs4 import operations as op
from nfsclient.files import (
    Attributes,
    Compound,
    Files,
    FileType,
    NewAttributes,
    Stable,
    Steps,
    snfs,
    v2,
    v3,
    v4,
)
from nfsclient.files.v4 import attributes_of, fattr4, ok, ok_built
from nfsclient.protocol import nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.sessions.reply import CompoundReply
from workloads.spec import OF_NFS2, SPRITELY

_GETFH: t.Final = 2
"""Its place in the compound of an open."""
LOCK_TYPES: t.Final = {True: p.NfsLockType4.WRITE_LT, False: p.NfsLockType4.READ_LT}


class Opened(t.NamedTuple):
    """What OPEN gave."""

    handle: bytes
    stateid: p.Stateid4
    attributes: Attributes
    delegation: p.Stateid4 | None


class Verbs:
    """Of NFSv2 and NFSv3: the operations by handle, and what their replies say of objects that they changed."""

    has_opens = False

    def __init__(self, files: Files, version: str) -> None:
        self.files = files
        self.version = version
        self.has_access = version not in OF_NFS2

    def after(self, reply: t.Any) -> Attributes | None:
        """The attributes of the changed object that came with a reply (`wcc_data` of NFSv3)."""
        if self.version != "3":
            return None
        done = getattr(reply, "resok", None)
        for name in ("dir_wcc", "obj_wcc", "file_wcc", "linkdir_wcc", "todir_wcc"):
            found: nfs3.WccData | None = getattr(done, name, None)
            if found is not None:
                return None if found.after is None else v3.attributes_of(found.after)
        return None

    def going_up(self, directory: bytes) -> Steps[t.Any] | None:
        """LOOKUP of `..`; None: as any other name."""
        del directory
        return None


class Verbs4(Verbs):
    """Of NFSv4.1 and 4.2, with opens and locks. Each open has an owner for itself, so that its stateid is its own."""

    has_opens = True
    files: v4.Files

    def __init__(self, version: str, *, wants_delegations: bool) -> None:
        super().__init__(v4.Files(), version)
        self._wish = (
            p.OPEN4_SHARE_ACCESS_WANT_ANY_DELEG if wants_delegations else p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
        )
        self._owners = itertools.count(1)

    def going_up(self, directory: bytes) -> Steps[t.Any] | None:
        """LOOKUPP."""
        return self._going_up(directory)

    @staticmethod
    def _going_up(directory: bytes) -> Steps[t.Any]:
        return (yield from ok(op.putfh(directory), op.lookupp(), op.getfh(), op.getattr(*v4.STAT)))

    def open(
        self, directory: bytes, name: bytes, *, writes: bool, creates: bool = False, mode: int = 0o644
    ) -> Steps[Opened]:
        """OPEN, with GETFH, ACCESS and GETATTR in the same compound. `creates`: GUARDED."""
        access = p.OPEN4_SHARE_ACCESS_BOTH if writes else p.OPEN4_SHARE_ACCESS_READ
        how = op.guarded(fattr4(NewAttributes(mode=mode))) if creates else None
        opening = op.open(name, access | self._wish, owner=b"owner %d" % next(self._owners), how=how)
        operations = [op.putfh(directory), opening, op.getfh(), op.access(0x3F), op.getattr(*v4.STAT)]
        reply: CompoundReply = yield Compound(lambda: operations)
        if reply.status != p.Nfsstat4.NFS4ERR_DELAY or len(reply) <= _GETFH:
            reply.ok()
        # OPEN was executed: what the server had no time for after it is requested again.
        opened, got = reply.of(p.OPEN).resok4, reply.of(p.GETFH).resok4
        assert opened is not None
        assert got is not None
        attributes = (
            (yield from self.files.getattr(got.object)) if reply.status else attributes_of(reply.attributes)
        )
        given = opened.delegation.read or opened.delegation.write
        return Opened(got.object, opened.stateid, attributes, None if given is None else given.stateid)

    @staticmethod
    def reopen(handle: bytes, delegation: p.Stateid4, *, writes: bool, owner: bytes) -> Steps[p.Stateid4]:
        """OPEN of a file that is open by a delegation only, before that is returned (CLAIM_DELEG_CUR_FH)."""
        access = p.OPEN4_SHARE_ACCESS_BOTH if writes else p.OPEN4_SHARE_ACCESS_READ
        opening = op.open(op.claim_deleg_cur_fh(delegation), access, owner=owner)
        return (yield from ok(op.putfh(handle), opening)).stateid

    @staticmethod
    def setattr(handle: bytes, attributes: NewAttributes) -> Steps[Attributes]:
        """SETATTR, and GETATTR in the same compound."""
        operations = [op.putfh(handle), op.setattr(fattr4(attributes)), op.getattr(*v4.STAT)]
        return attributes_of((yield from ok_built(lambda: operations, repeatable=True)).attributes)

    @staticmethod
    def close(handle: bytes, stateid: p.Stateid4) -> Steps[None]:
        """CLOSE."""
        yield from ok(op.putfh(handle), op.close(stateid))

    @staticmethod
    def lock(
        handle: bytes, opened: p.Stateid4, offset: int, count: int, *, exclusive: bool, owner: bytes
    ) -> Steps[p.Stateid4]:
        """LOCK, the first of its owner in this open."""
        locking = op.lock(opened, LOCK_TYPES[exclusive], offset, count or p.NFS4_MAXFILELEN, owner=owner)
        return (yield from ok(op.putfh(handle), locking)).stateid

    @staticmethod
    def unlock(handle: bytes, stateid: p.Stateid4, offset: int, count: int) -> Steps[p.Stateid4]:
        """LOCKU."""
        unlocking = op.locku(stateid, offset, count or p.NFS4_MAXFILELEN)
        return (yield from ok(op.putfh(handle), unlocking)).stateid

    @staticmethod
    def free_stateid(stateid: p.Stateid4) -> Steps[None]:
        """FREE_STATEID."""
        yield from ok(op.free_stateid(stateid))

    @staticmethod
    def delegreturn(handle: bytes, stateid: p.Stateid4) -> Steps[None]:
        """DELEGRETURN."""
        yield from ok(op.putfh(handle), op.delegreturn(stateid))

    @staticmethod
    def expire_type(handle: bytes) -> Steps[int]:
        """`fh_expire_type`: 0 for handles that are valid until the object is removed."""
        found = (yield from ok(op.putfh(handle), op.getattr("fh_expire_type"))).attributes.fh_expire_type
        return p.FH4_VOLATILE_ANY if found is None else int(found)

    def with_stateid(self, stateid: p.Stateid4) -> v4.Files:
        """The operations on data of a file that is open with this stateid."""
        return v4.Files(lambda _is_write: stateid)


def verbs_for(version: str, *, wants_delegations: bool) -> Verbs:
    """Those of a version of NFS: "2", "3", "4.1", "4.2", "snfs"."""
    if version == "2":
        return Verbs(v2.Files(), version)
    if version == SPRITELY:
        return Verbs(snfs.Files(), version)
    if version == "3":
        return Verbs(v3.Files(), version)
    return Verbs4(version, wants_delegations=wants_delegations)


STABLE: t.Final = {
    "unstable": Stable.UNSTABLE,
    "data-sync": Stable.DATA_SYNC,
    "file-sync": Stable.FILE_SYNC,
}
DIRECTORY: t.Final = FileType.DIRECTORY
