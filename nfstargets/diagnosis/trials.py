# SPDX-License-Identifier: MIT
"""The few operations of a write trial, alike for NFSv2, NFSv3 and NFSv4: each gives a status and what comes with it."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs2, Nfs3, Patience
from nfsclient.clients.nfs4 import CompoundReply, Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs2 import Nfsstat2, Sattr
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Sattr3, StableHow
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.xdr import XdrType

Status: t.TypeAlias = Nfsstat2 | Nfsstat3 | Nfsstat4
"""All have the same numbers for the same errors."""


class TrialClient(t.Protocol):
    """What a trial calls. A handle of None: the server has left it out."""

    def mkdir(self, directory: bytes, name: bytes, mode: int) -> tuple[Status, bytes | None]: ...

    def create(self, directory: bytes, name: bytes, mode: int) -> tuple[Status, bytes | None]: ...

    def lookup(self, directory: bytes, name: bytes) -> tuple[Status, bytes | None]: ...

    def write(self, file: bytes, data: bytes) -> tuple[Status, int]: ...

    def read(self, file: bytes, count: int) -> tuple[Status, bytes]: ...

    def owner(self, file: bytes) -> tuple[Status, int | str]: ...

    def remove(self, directory: bytes, name: bytes) -> Status: ...

    def rmdir(self, directory: bytes, name: bytes) -> Status: ...

    def close(self) -> None:
        """Give back what the client holds on the server."""


class Trial3:
    """NFSv3."""

    def __init__(self, rpc: RpcClient, credential: Credential | None = None) -> None:
        self._nfs = Nfs3(rpc, credential=credential)

    def mkdir(self, directory: bytes, name: bytes, mode: int) -> tuple[Status, bytes | None]:
        made = self._nfs.mkdir(directory, name, Sattr3(mode=mode))
        return made.status, None if made.resok is None else made.resok.obj

    def create(self, directory: bytes, name: bytes, mode: int) -> tuple[Status, bytes | None]:
        made = self._nfs.create(directory, name, CreateMode3.GUARDED, Sattr3(mode=mode))
        return made.status, None if made.resok is None else made.resok.obj

    def lookup(self, directory: bytes, name: bytes) -> tuple[Status, bytes | None]:
        found = self._nfs.lookup(directory, name)
        return found.status, None if found.resok is None else found.resok.object

    def write(self, file: bytes, data: bytes) -> tuple[Status, int]:
        written = self._nfs.write(file, 0, data, StableHow.FILE_SYNC)
        return written.status, 0 if written.resok is None else written.resok.count

    def read(self, file: bytes, count: int) -> tuple[Status, bytes]:
        found = self._nfs.read(file, 0, count)
        return found.status, b"" if found.resok is None else bytes(found.resok.data)

    def owner(self, file: bytes) -> tuple[Status, int | str]:
        found = self._nfs.getattr(file)
        return found.status, -1 if found.resok is None else found.resok.obj_attributes.uid

    def remove(self, directory: bytes, name: bytes) -> Status:
        return self._nfs.remove(directory, name).status

    def rmdir(self, directory: bytes, name: bytes) -> Status:
        return self._nfs.rmdir(directory, name).status

    def close(self) -> None:
        """NFSv2 and NFSv3 leave nothing."""


class Trial2:
    """NFSv2."""

    def __init__(self, rpc: RpcClient, credential: Credential | None = None) -> None:
        self._nfs = Nfs2(rpc, credential=credential)

    def mkdir(self, directory: bytes, name: bytes, mode: int) -> tuple[Status, bytes | None]:
        made = self._nfs.mkdir(directory, name, Sattr(mode=mode))
        return made.status, None if made.resok is None else made.resok.file

    def create(self, directory: bytes, name: bytes, mode: int) -> tuple[Status, bytes | None]:
        made = self._nfs.create(directory, name, Sattr(mode=mode))
        return made.status, None if made.resok is None else made.resok.file

    def lookup(self, directory: bytes, name: bytes) -> tuple[Status, bytes | None]:
        found = self._nfs.lookup(directory, name)
        return found.status, None if found.resok is None else found.resok.file

    def write(self, file: bytes, data: bytes) -> tuple[Status, int]:
        return self._nfs.write(file, 0, data).status, len(data)  # all or nothing

    def read(self, file: bytes, count: int) -> tuple[Status, bytes]:
        found = self._nfs.read(file, 0, count)
        return found.status, b"" if found.resok is None else bytes(found.resok.data)

    def owner(self, file: bytes) -> tuple[Status, int | str]:
        found = self._nfs.getattr(file)
        return found.status, -1 if found.resok is None else found.resok.uid

    def remove(self, directory: bytes, name: bytes) -> Status:
        return self._nfs.remove(directory, name).status

    def rmdir(self, directory: bytes, name: bytes) -> Status:
        return self._nfs.rmdir(directory, name).status

    def close(self) -> None:
        """NFSv2 and NFSv3 leave nothing."""


class Trial4:
    """NFSv4.1 or 4.2, in a session. Raises `CompoundError` where there is none."""

    def __init__(self, rpc: RpcClient, credential: Credential | None = None, *, minor: int = 1) -> None:
        nfs4 = Nfs4(rpc, minor=minor, credential=credential, patience=Patience.of(rpc.loop))
        self._session = nfs4.establish()

    def mkdir(self, directory: bytes, name: bytes, mode: int) -> tuple[Status, bytes | None]:
        return self._handle(directory, op.mkdir(name, p.Fattr4(mode=mode)))

    def create(self, directory: bytes, name: bytes, mode: int) -> tuple[Status, bytes | None]:
        access = p.OPEN4_SHARE_ACCESS_BOTH | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
        how = op.guarded(p.Fattr4(mode=mode))
        opened = self._session.compound(
            op.putfh(directory), op.open(name, access, owner=name, how=how), op.getfh()
        )
        if opened.status != Nfsstat4.NFS4_OK:
            return opened.status, None
        closed = self._session.compound(op.putfh(opened.handle), op.close(opened.stateid))
        return closed.status, opened.handle

    def lookup(self, directory: bytes, name: bytes) -> tuple[Status, bytes | None]:
        return self._handle(directory, op.lookup(name))

    def write(self, file: bytes, data: bytes) -> tuple[Status, int]:
        reply = self._session.compound(op.putfh(file), op.write(op.ANONYMOUS, 0, data))
        result = reply.of(p.WRITE).resok4 if reply.status == Nfsstat4.NFS4_OK else None
        return reply.status, 0 if result is None else result.count

    def read(self, file: bytes, count: int) -> tuple[Status, bytes]:
        reply = self._session.compound(op.putfh(file), op.read(op.ANONYMOUS, 0, count))
        result = reply.of(p.READ).resok4 if reply.status == Nfsstat4.NFS4_OK else None
        return reply.status, b"" if result is None else bytes(result.data)

    def owner(self, file: bytes) -> tuple[Status, int | str]:
        reply = self._session.compound(op.putfh(file), op.getattr("owner"))
        return reply.status, owner_of(reply.attributes) if reply.status == Nfsstat4.NFS4_OK else -1

    def remove(self, directory: bytes, name: bytes) -> Status:
        return self._session.compound(op.putfh(directory), op.remove(name)).status

    def rmdir(self, directory: bytes, name: bytes) -> Status:
        return self.remove(directory, name)

    def close(self) -> None:
        """End the session and the client."""
        self._session.close()

    def _handle(self, directory: bytes, operation: XdrType) -> tuple[Status, bytes | None]:
        reply: CompoundReply = self._session.compound(op.putfh(directory), operation, op.getfh())
        return reply.status, reply.handle if reply.status == Nfsstat4.NFS4_OK else None


def owner_of(attributes: p.Fattr4) -> int | str:
    """The user id of an owner, which is a number or a name (RFC 5661 section 5.9)."""
    owner = (attributes.owner or b"").decode("utf-8", "replace")
    name = owner.partition("@")[0]
    if name.isascii() and name.isdigit():
        return int(name)
    return 0 if name == "root" else owner
