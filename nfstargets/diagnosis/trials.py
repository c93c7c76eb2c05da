# SPDX-License-Identifier: MIT
"""The few operations of a write trial, alike for NFSv2 and NFSv3: each gives a status and what comes with it."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs2, Nfs3
from nfsclient.protocol.nfs2 import Nfsstat2, Sattr
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Sattr3, StableHow
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import RpcClient

Status: t.TypeAlias = Nfsstat2 | Nfsstat3
"""Both have the same numbers for the same errors."""


class TrialClient(t.Protocol):
    """What a trial calls. A handle of None: the server has left it out."""

    def mkdir(self, directory: bytes, name: bytes, mode: int) -> tuple[Status, bytes | None]: ...

    def create(self, directory: bytes, name: bytes, mode: int) -> tuple[Status, bytes | None]: ...

    def lookup(self, directory: bytes, name: bytes) -> tuple[Status, bytes | None]: ...

    def write(self, file: bytes, data: bytes) -> tuple[Status, int]: ...

    def read(self, file: bytes, count: int) -> tuple[Status, bytes]: ...

    def owner(self, file: bytes) -> tuple[Status, int]: ...

    def remove(self, directory: bytes, name: bytes) -> Status: ...

    def rmdir(self, directory: bytes, name: bytes) -> Status: ...


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

    def owner(self, file: bytes) -> tuple[Status, int]:
        found = self._nfs.getattr(file)
        return found.status, -1 if found.resok is None else found.resok.obj_attributes.uid

    def remove(self, directory: bytes, name: bytes) -> Status:
        return self._nfs.remove(directory, name).status

    def rmdir(self, directory: bytes, name: bytes) -> Status:
        return self._nfs.rmdir(directory, name).status


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

    def owner(self, file: bytes) -> tuple[Status, int]:
        found = self._nfs.getattr(file)
        return found.status, -1 if found.resok is None else found.resok.uid

    def remove(self, directory: bytes, name: bytes) -> Status:
        return self._nfs.remove(directory, name).status

    def rmdir(self, directory: bytes, name: bytes) -> Status:
        return self._nfs.rmdir(directory, name).status
