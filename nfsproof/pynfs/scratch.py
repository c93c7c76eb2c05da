# SPDX-License-Identifier: MIT
"""A directory of the export in which pynfs works, so that it touches nothing else; it is removed at the end."""

from __future__ import annotations

import itertools
import secrets
import typing as t
from contextlib import closing

from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import NfsClientError
from nfsclient.files import NewAttributes
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.loop import Loop
from nfsproof.exits import Trouble
from nfstargets import TargetAddress
from workloads.clients import Link, entries
from workloads.trouble import Stopped

_TIMEOUT: t.Final = 15.0
_REMOVAL_SECONDS: t.Final = 60.0
_DEEPEST: t.Final = 20
_MOST_ENTRIES: t.Final = 100_000


class Scratch:
    """The directory: its name in the export, and the lease time of the server in seconds, 0 if it is not known."""

    def __init__(self, address: TargetAddress, minor: int, loop: Loop) -> None:
        """Make it with NFSv4.`minor`. Raises `Trouble`."""
        self._address = address
        self._version = f"4.{minor}"
        self._loop = loop
        self.name = f"nfsproof-pynfs-{secrets.token_hex(4)}"
        self.lease = 0.0
        try:
            with closing(self._link()) as link:
                link.do(link.files.mkdir(link.root(), self.name.encode(), NewAttributes(mode=0o755)))
                self.lease = _lease_of(link)
        except Stopped as error:
            raise Trouble(
                f"pynfs tests NFSv{self._version}, and the target does not answer it: {error}"
            ) from error
        except NfsClientError as error:
            raise Trouble(f"cannot make a directory for pynfs in {address.export}: {error}") from error

    def _link(self) -> Link:
        return Link(self._address, self._version, self._loop, timeout=_TIMEOUT, connections=1)

    def remove(self) -> str:
        """Remove it with all that is in it; why something is left, or nothing."""
        try:
            with closing(self._link()) as link:
                remover = _Remover(link, self._loop.clock() + _REMOVAL_SECONDS)
                root = link.root()
                remover.remove(root, self.name.encode(), _above(link, root))
        except (Stopped, NfsClientError, _TooLong) as error:
            return f"{self.name} could not be removed from {self._address.export}: {error}"
        return ""


def _lease_of(link: Link) -> float:
    if link.session is None:
        return 0.0
    asked = link.session.compound(op.putrootfh(), op.getattr("lease_time"))
    return float(asked.attributes.lease_time or 0) if asked.status == p.Nfsstat4.NFS4_OK else 0.0


def _above(link: Link, root: bytes) -> tuple[bytes, ...]:
    """The handles of the directories above the root of the export, as far as the server gives them."""
    handles = [root]
    while link.session is not None and len(handles) < _DEEPEST:
        found = link.session.compound(op.putfh(handles[-1]), op.lookupp(), op.getfh())
        if found.status != p.Nfsstat4.NFS4_OK:
            break
        handles.append(bytes(found.handle))
    return tuple(handles[1:])


class _TooLong(Exception):
    """The tree is too deep or too large, or the server too slow."""


class _Remover:
    """Removes a tree, with limits: a server may show one without an end."""

    def __init__(self, link: Link, deadline: float) -> None:
        self._link = link
        self._deadline = deadline
        self._left = _MOST_ENTRIES

    def remove(self, directory: bytes, name: bytes, above: tuple[bytes, ...], depth: int = 0) -> None:
        """Remove a name. `above`: the handles of the directories above `directory`.

        A server that gives one of these for a name is wrong, and nothing is removed there: it may be the user's.
        Raises `NfsClientError`, `Stopped`, `_TooLong`.
        """
        self._left -= 1
        if depth > _DEEPEST or self._left < 0 or self._link.loop.clock() > self._deadline:
            raise _TooLong("it takes too long")
        do, files = self._link.do, self._link.files
        try:
            do(files.remove(directory, name))
        except NfsClientError:
            inside = do(files.lookup(directory, name)).handle
            above = (*above, directory)
            if inside in above:
                raise Stopped("no progress", "a directory has itself, or one above it, as an entry") from None
            for entry in list(itertools.islice(entries(self._link, inside), _MOST_ENTRIES)):
                self.remove(inside, entry, above, depth + 1)
            do(files.rmdir(directory, name))
