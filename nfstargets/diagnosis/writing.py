# SPDX-License-Identifier: MIT
"""Tests what a user may do in the directory: write a file, and remain root. Removes what it made if possible."""

from __future__ import annotations

import secrets
import typing as t
from collections.abc import Callable, Mapping

from nfsclient.errors import NfsClientError
from nfsclient.paths import shown
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.auth import AuthSys, Credential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.url import NfsUrl
from nfstargets.diagnosis.access import REFUSED, Access, acting_uid, owns_and_may_write
from nfstargets.diagnosis.report import Outcome
from nfstargets.diagnosis.trials import Status, Trial2, Trial3, Trial4, TrialClient

_KINDS: t.Final[Mapping[int, t.Callable[..., TrialClient]]] = {2: Trial2, 3: Trial3, 4: Trial4}
_DATA = b"written by nfsproof doctor\n"


class _Refusal(Exception):
    """A procedure answered with an error status."""

    def __init__(self, text: str, status: Status) -> None:
        super().__init__(text)
        self.status = status


class WriteTrial:
    """A new directory, and what can be done in it."""

    def __init__(self, url: NfsUrl, access: Access, connect: Callable[[], RpcClient]) -> None:
        """A URL without a minor version is tried with the one that gave access."""
        assert access.root is not None
        self._url = url
        self._access = access
        self._root: bytes = access.root
        self._connect = connect
        self._connection: RpcClient | None = None
        self._clients: dict[Credential | None, TrialClient] = {}
        self._name = b".nfsproof-doctor-" + secrets.token_hex(6).encode()
        self._directory: bytes | None = None
        self._refusal: _Refusal | None = None
        self.not_removed = ""
        """What could not be removed again, if anything."""

    def _rpc(self) -> RpcClient:
        if self._connection is None or not self._connection.is_open:
            self._clients.clear()
            self._connection = self._connect()
        return self._connection

    def _client(self, credential: Credential | None = None) -> TrialClient:
        rpc = self._rpc()
        if credential not in self._clients:
            made = _KINDS[self._url.version]
            minor = {"minor": self._access.minor} if self._url.version == 4 else {}
            self._clients[credential] = made(rpc, credential, **minor)
        return self._clients[credential]

    def write(self) -> tuple[Outcome, str, str]:
        """Makes the directory, and in it a file: written, read back, removed."""
        user = f"user {acting_uid(self._url)}"
        try:
            status, handle = self._client().mkdir(self._root, self._name, 0o777)
            self._need(status, "MKDIR")
            self._directory = self._handle(handle, self._root, self._name)
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
            status, made = self._client(AuthSys(0, 0)).create(self._directory, b"root", 0o600)
            self._need(status, "CREATE")
            status, owner = self._client().owner(self._handle(made, self._directory, b"root"))
            self._need(status, "GETATTR")
            self._need(self._client().remove(self._directory, b"root"), "REMOVE")
        except _Refusal as refusal:
            return Outcome.OK, f"root cannot do what other users can: {refusal}", _ABOUT_ROOT
        if owner == 0:
            return Outcome.OK, "root stays root", ""
        user = f"uid {owner}" if isinstance(owner, int) else owner
        return Outcome.OK, f"root is squashed to {user}", _ABOUT_ROOT

    def close(self) -> None:
        try:
            if self._directory is not None:
                for name in (b"file", b"root"):
                    self._client().remove(self._directory, name)
                status = self._client().rmdir(self._root, self._name)
                if status != Nfsstat3.NFS3_OK:
                    self.not_removed = f"{shown(self._name)} (RMDIR answers {status})"
        except NfsClientError as error:
            self.not_removed = f"{shown(self._name)} ({error})"
        finally:
            if self._connection is not None:
                for client in self._clients.values():
                    client.close()
                self._connection.close()

    def _write_file(self, directory: bytes) -> None:
        client = self._client()
        status, made = client.create(directory, b"file", 0o600)
        self._need(status, "CREATE")
        handle = self._handle(made, directory, b"file")
        status, count = client.write(handle, _DATA)
        self._need(status, "WRITE")
        status, data = client.read(handle, len(_DATA))
        self._need(status, "READ")
        accepted = min(count, len(data))
        if not accepted or data[:accepted] != _DATA[:accepted]:
            # Which of the two is at fault is for the checks; here it matters that files cannot be trusted.
            raise _Refusal("READ returns different data than were written", status)
        self._need(client.remove(directory, b"file"), "REMOVE")

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
        if refusal.status == Nfsstat4.NFS4ERR_GRACE:
            return "the server lets clients reclaim their locks after its start: try again in a minute or two"
        return "read the log of the server"

    def _need(self, status: Status, procedure: str) -> None:
        if status != Nfsstat3.NFS3_OK:
            raise _Refusal(f"{procedure} answers {status}", status)

    def _handle(self, given: bytes | None, directory: bytes, name: bytes) -> bytes:
        """The handle that came with a reply, or else by LOOKUP: servers of NFSv3 may leave it out."""
        if given is not None:
            return given
        status, found = self._client().lookup(directory, name)
        self._need(status, "LOOKUP")
        assert found is not None
        return found


_ABOUT_ROOT = (
    "checks that need root are skipped or fail; to run them, use no_root_squash on an export made for testing"
)
