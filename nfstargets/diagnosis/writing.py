# SPDX-License-Identifier: MIT
"""Tests what a user may do in the directory: write a file, and remain root. Removes what it made if possible."""

from __future__ import annotations

import secrets
import typing as t
from collections.abc import Callable

from nfsclient.clients import Nfs3
from nfsclient.errors import NfsClientError
from nfsclient.paths import shown
from nfsclient.protocol.nfs3 import CreateMode3, Fattr3, Nfsstat3, Sattr3, StableHow
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient
from nfsclient.url import NfsUrl
from nfstargets.diagnosis.access import REFUSED, Access, acting_uid, owns_and_may_write
from nfstargets.diagnosis.report import Outcome

_DATA = b"written by nfsproof doctor\n"


class _Refusal(Exception):
    """A procedure answered with an error status."""

    def __init__(self, text: str, status: Nfsstat3) -> None:
        super().__init__(text)
        self.status = status


class _Reply(t.Protocol):
    @property
    def status(self) -> Nfsstat3: ...


class WriteTrial:
    """A new directory, and what can be done in it."""

    def __init__(self, url: NfsUrl, access: Access, connect: Callable[[], RpcClient]) -> None:
        assert access.root is not None
        self._url = url
        self._access = access
        self._root: bytes = access.root
        self._connect = connect
        self._connection: RpcClient | None = None
        self._name = b".nfsproof-doctor-" + secrets.token_hex(6).encode()
        self._directory: bytes | None = None
        self._refusal: _Refusal | None = None
        self.not_removed = ""
        """What could not be removed again, if anything."""

    def _rpc(self) -> RpcClient:
        if self._connection is None or not self._connection.is_open:
            self._connection = self._connect()
        return self._connection

    @property
    def _nfs(self) -> Nfs3:
        return Nfs3(self._rpc())

    def write(self) -> tuple[Outcome, str, str]:
        """Makes the directory, and in it a file: written, read back, removed."""
        user = f"user {acting_uid(self._url)}"
        try:
            made = self._nfs.mkdir(self._root, self._name, Sattr3(mode=0o777))
            self._need(made, "MKDIR")
            self._directory = self._handle(made.resok.obj if made.resok else None, self._root, self._name)
            self._write_file(self._directory)
        except _Refusal as refusal:
            self._refusal = refusal
            return Outcome.FAILED, f"{user} cannot write: {refusal}", self._advice(refusal)
        return Outcome.OK, f"{user} created, wrote, read and removed a file", ""

    def squash(self) -> tuple[Outcome, str, str]:
        """Makes a file as root and looks at its owner."""
        if self._directory is None:
            return self._squash_by_refusal()
        try:
            made = Nfs3(self._rpc(), credential=AuthSys(0, 0)).create(
                self._directory, b"root", CreateMode3.GUARDED, Sattr3(mode=0o600)
            )
            self._need(made, "CREATE")
            handle = self._handle(made.resok.obj if made.resok else None, self._directory, b"root")
            owner = self._attributes(handle).uid
            self._need(self._nfs.remove(self._directory, b"root"), "REMOVE")
        except _Refusal as refusal:
            return Outcome.OK, f"root cannot do what other users can: {refusal}", _ABOUT_ROOT
        if owner == 0:
            return Outcome.OK, "root stays root", ""
        return Outcome.OK, f"root is squashed to uid {owner}", _ABOUT_ROOT

    def close(self) -> None:
        try:
            if self._directory is not None:
                for name in (b"file", b"root"):
                    self._nfs.remove(self._directory, name)
                status = self._nfs.rmdir(self._root, self._name).status
                if status != Nfsstat3.NFS3_OK:
                    self.not_removed = f"{shown(self._name)} (RMDIR answers {status})"
        except NfsClientError as error:
            self.not_removed = f"{shown(self._name)} ({error})"
        finally:
            if self._connection is not None:
                self._connection.close()

    def _write_file(self, directory: bytes) -> None:
        made = self._nfs.create(directory, b"file", CreateMode3.GUARDED, Sattr3(mode=0o600))
        self._need(made, "CREATE")
        handle = self._handle(made.resok.obj if made.resok else None, directory, b"file")
        written = self._nfs.write(handle, 0, _DATA, StableHow.FILE_SYNC)
        self._need(written, "WRITE")
        read = self._nfs.read(handle, 0, len(_DATA))
        self._need(read, "READ")
        assert written.resok is not None
        assert read.resok is not None
        accepted = min(written.resok.count, len(read.resok.data))
        if not accepted or bytes(read.resok.data[:accepted]) != _DATA[:accepted]:
            # Which of the two is at fault is for the checks; here it matters that files cannot be trusted.
            raise _Refusal("READ returns different data than were written", read.status)
        self._need(self._nfs.remove(directory, b"file"), "REMOVE")

    def _squash_by_refusal(self) -> tuple[Outcome, str, str]:
        refused = self._refusal is not None and self._refusal.status in REFUSED
        if refused and acting_uid(self._url) == 0 and owns_and_may_write(self._access, 0):
            seen = (
                "root owns the directory but cannot write to it: root is squashed, or the export is read-only"
            )
            return Outcome.FAILED, seen, _ABOUT_ROOT
        return Outcome.NOT_TRIED, "there is no directory to create a file in", ""

    def _advice(self, refusal: _Refusal) -> str:
        if refusal.status == Nfsstat3.NFS3ERR_ROFS:
            return "export it read-write (rw): the checks create and remove files"
        if refusal.status in REFUSED:
            return "export it read-write and let this user write there, or use another one: uid= and gid= in the URL"
        if refusal.status in {Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_DQUOT}:
            return "free some space there"
        return "read the log of the server"

    def _need(self, reply: _Reply, procedure: str) -> None:
        if reply.status != Nfsstat3.NFS3_OK:
            raise _Refusal(f"{procedure} answers {reply.status}", reply.status)

    def _handle(self, given: bytes | None, directory: bytes, name: bytes) -> bytes:
        """The handle that came with a reply, or else by LOOKUP: servers may leave it out."""
        if given is not None:
            return given
        reply = self._nfs.lookup(directory, name)
        self._need(reply, "LOOKUP")
        assert reply.resok is not None
        return reply.resok.object

    def _attributes(self, handle: bytes) -> Fattr3:
        reply = self._nfs.getattr(handle)
        self._need(reply, "GETATTR")
        assert reply.resok is not None
        return reply.resok.obj_attributes


_ABOUT_ROOT = (
    "checks that need root are skipped or fail; to run them, use no_root_squash on an export made for testing"
)
