# SPDX-License-Identifier: MIT
"""Tests what a user may do in the directory: write a file, and remain root. Removes what it made if possible."""

from __future__ import annotations

import secrets
import typing as t
from collections.abc import Callable
from contextlib import suppress

from nfsclient.errors import NfsClientError, NfsStatusError
from nfsclient.files import NewAttributes, Steps
from nfsclient.paths import shown
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.rpc.auth import AuthSys, Credential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.url import NfsUrl
from nfsclient.xdr import XdrEnum
from nfstargets.diagnosis.access import REFUSED, Access, acting_uid, owns_and_may_write
from nfstargets.diagnosis.report import Outcome
from nfstargets.diagnosis.trials import CREATES, TrialClient, files_of, owner_of

T = t.TypeVar("T")
_DATA = b"written by nfsproof doctor\n"


class _Refusal(Exception):
    """A procedure answered with an error status."""

    def __init__(self, text: str, status: XdrEnum) -> None:
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
        self._files = files_of(url.version)
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
            version, minor = self._url.version, self._access.minor
            self._clients[credential] = TrialClient(version, rpc, credential, minor=minor)
        return self._clients[credential]

    def _do(self, steps: Steps[T], credential: Credential | None = None) -> T:
        """The result of an operation. Raises `_Refusal`."""
        try:
            return self._client(credential)(steps)
        except NfsStatusError as error:
            raise _Refusal(f"{error.procedure} answers {error.status}", error.status) from None

    def _create(self, directory: bytes, name: bytes, credential: Credential | None = None) -> bytes:
        how = CREATES[self._url.version]
        creating = self._files.create(directory, name, how, NewAttributes(mode=0o600))
        return self._do(creating, credential).handle

    def write(self) -> tuple[Outcome, str, str]:
        """Makes the directory, and in it a file: written, read back, removed."""
        user = f"user {acting_uid(self._url)}"
        try:
            making = self._files.mkdir(self._root, self._name, NewAttributes(mode=0o777))
            self._directory = self._do(making).handle
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
            made = self._create(self._directory, b"root", AuthSys(0, 0))
            owner = owner_of(self._do(self._files.getattr(made)))
            self._do(self._files.remove(self._directory, b"root"))
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
                    with suppress(_Refusal):
                        self._do(self._files.remove(self._directory, name))
                self._do(self._files.rmdir(self._root, self._name))
        except _Refusal as refusal:
            self.not_removed = f"{shown(self._name)} ({refusal})"
        except NfsClientError as error:
            self.not_removed = f"{shown(self._name)} ({error})"
        finally:
            if self._connection is not None:
                for client in self._clients.values():
                    client.close()
                self._connection.close()

    def _write_file(self, directory: bytes) -> None:
        handle = self._create(directory, b"file")
        count = self._do(self._files.write(handle, 0, _DATA)).count
        data = self._do(self._files.read(handle, 0, len(_DATA))).data
        accepted = min(count, len(data))
        if not accepted or data[:accepted] != _DATA[:accepted]:
            # Which of the two is at fault is for the checks; here it matters that files cannot be trusted.
            raise _Refusal("READ returns different data than were written", self._files.success)
        self._do(self._files.remove(directory, b"file"))

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
        if refusal.status.name == "NFS4ERR_GRACE":
            return "the server lets clients reclaim their locks after its start: try again in a minute or two"
        return "read the log of the server"


_ABOUT_ROOT = (
    "checks that need root are skipped or fail; to run them, use no_root_squash on an export made for testing"
)
