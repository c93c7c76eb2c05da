# SPDX-License-Identifier: MIT
"""The operations on files that every version of NFS has, and what they promise in each."""

from __future__ import annotations

import typing as t
from abc import ABC, abstractmethod
from collections.abc import Sequence

from nfsclient.errors import ImpossibleResult, NfsStatusError, NotInVersion
from nfsclient.files.neutral import (
    ALL_ACCESS,
    NOTHING_SET,
    Access,
    Attributes,
    Create,
    Data,
    FileType,
    Found,
    Info,
    NewAttributes,
    Page,
    Position,
    Space,
    Stable,
    Written,
)
from nfsclient.files.steps import Steps
from nfsclient.xdr import Buffer, XdrEnum

Stat: t.TypeAlias = Attributes | NfsStatusError
"""The attributes of one object among many, or why there are none."""
START: t.Final = Position()
PAGE: t.Final = 8192
"""Bytes of a page of a directory if the caller does not say more."""


class Files(ABC):
    """Operations by handle. Each method returns steps: a driver performs them, and returns their result.

    Without `checked` what READ and WRITE say of themselves is given as it came, for callers that judge it.

    Errors, raised by the driver: `NfsStatusError` with the protocol's own `status` (it is Python's own kind where there
    is one), `ImpossibleResult` (a `ServerViolation`) for a result that cannot be true, `NotInVersion` before anything
    is sent; what the calls raise (`RpcError`, `XdrError`).
    """

    name: t.ClassVar[str]
    """ "NFSv2" and so on, for errors."""
    success: t.ClassVar[XdrEnum]
    """OK."""
    is_directory: t.ClassVar[XdrEnum]
    """ISDIR, for callers that refuse to read or remove a directory themselves."""
    no_name: t.ClassVar[XdrEnum]
    """INVAL, for a path that ends in no name; NOENT in NFSv2, which has no INVAL."""

    def __init__(self, *, checked: bool = True) -> None:
        self._checked = checked

    # ------------------------------------------------------------ objects

    @abstractmethod
    def getattr(self, handle: bytes) -> Steps[Attributes]:
        """The attributes of an object."""

    @abstractmethod
    def setattr(self, handle: bytes, attributes: NewAttributes) -> Steps[None]:
        """Set attributes."""

    def access(self, handle: bytes, wanted: Access = ALL_ACCESS) -> Steps[Access]:  # noqa: ARG002
        """Which of the rights in `wanted` the caller has. NFSv2 has no ACCESS: `NotInVersion`."""
        raise NotInVersion(self.name, "ACCESS")

    @abstractmethod
    def readlink(self, handle: bytes) -> Steps[bytes]:
        """The text of a symbolic link."""

    # ------------------------------------------------------------ data: one call each

    @abstractmethod
    def read(self, handle: bytes, offset: int, count: int, *, into: memoryview | None = None) -> Steps[Data]:
        """READ, once: up to `count` bytes from `offset` on. With `into` the data is received there if that can be."""

    @abstractmethod
    def write(
        self, handle: bytes, offset: int, data: Buffer, stable: Stable = Stable.FILE_SYNC
    ) -> Steps[Written]:
        """WRITE, once: the server may write less than all of `data`. In NFSv2 all is stable, whatever `stable` says."""

    @abstractmethod
    def commit(self, handle: bytes, offset: int = 0, count: int = 0) -> Steps[bytes | None]:
        """COMMIT: the verifier; `count` 0 means to the end. In NFSv2 no call is made, and it is None: all is stable."""

    # ------------------------------------------------------------ names

    @abstractmethod
    def lookup(self, directory: bytes, name: bytes, *, attributes: bool = True) -> Steps[Found]:
        """The object of a name. Without `attributes` NFSv4 does not request them."""

    def stat_many(self, directory: bytes, names: Sequence[bytes]) -> Steps[list[Stat]]:
        """The attributes of many names in a directory, or the `NfsStatusError` of each, in order.

        In NFSv4 many names share a compound; in NFSv2 and NFSv3 there is a call for each.
        """
        found: list[Stat] = []
        for name in names:
            try:
                made = yield from self.lookup(directory, name)
                attributes = made.attributes
                found.append((yield from self.getattr(made.handle)) if attributes is None else attributes)
            except NfsStatusError as error:
                found.append(error)
        return found

    @abstractmethod
    def create(
        self,
        directory: bytes,
        name: bytes,
        how: Create = Create.UNCHECKED,
        attributes: NewAttributes = NOTHING_SET,
        *,
        verifier: bytes = b"",
    ) -> Steps[Found]:
        """A regular file, not open afterwards. EXCLUSIVE needs a `verifier` of 8 bytes.

        UNCHECKED: whether a file that is there gets the attributes is the server's choice. NFSv2: GUARDED looks the
        name up first, which another client may come between, and there is no EXCLUSIVE (`NotInVersion`).
        """

    @abstractmethod
    def mkdir(self, directory: bytes, name: bytes, attributes: NewAttributes = NOTHING_SET) -> Steps[Found]:
        """A directory."""

    @abstractmethod
    def symlink(
        self, directory: bytes, name: bytes, text: bytes, attributes: NewAttributes = NOTHING_SET
    ) -> Steps[Found]:
        """A symbolic link with this text."""

    @abstractmethod
    def link(self, handle: bytes, directory: bytes, name: bytes) -> Steps[None]:
        """A further name for an object."""

    @abstractmethod
    def remove(self, directory: bytes, name: bytes) -> Steps[None]:
        """Remove a name. That of a directory: in NFSv4 as `rmdir`, otherwise an error or what the server likes."""

    @abstractmethod
    def rmdir(self, directory: bytes, name: bytes) -> Steps[None]:
        """Remove an empty directory. In NFSv4 any name, as `remove`."""

    @abstractmethod
    def rename(self, directory: bytes, name: bytes, to_directory: bytes, to_name: bytes) -> Steps[None]:
        """Give an object another name; what had that name is replaced, if the server can."""

    @abstractmethod
    def readdir(
        self, directory: bytes, at: Position = START, size: int = PAGE, *, attributes: bool = False
    ) -> Steps[Page]:
        """One page of a directory, of `size` bytes at most.

        With `attributes` those of the entries come along with their handles, where the server gives them.
        """

    # ------------------------------------------------------------ the file system

    @abstractmethod
    def fsinfo(self, handle: bytes) -> Steps[Info]:
        """Limits and preferences: by FSINFO, STATFS or GETATTR."""

    @abstractmethod
    def statfs(self, handle: bytes) -> Steps[Space]:
        """How full the file system is: by STATFS, FSSTAT or GETATTR."""

    # ------------------------------------------------------------ results that cannot be true

    def _require_read(self, offset: int, wanted: int, data: Buffer, count: int | None = None) -> None:
        """Raise `ImpossibleResult` for more data than was requested, and for another `count` than came."""
        got = len(data)
        if self._checked and got > wanted:
            raise ImpossibleResult(f"READ at {offset}: {wanted} bytes requested, {got} came")
        if self._checked and count is not None and got != count:
            raise ImpossibleResult(f"READ at {offset}: {got} bytes came, and count says {count}")

    def _written(
        self, offset: int, sent: int, wanted: Stable, count: int, committed: XdrEnum, verifier: bytes
    ) -> Written:
        """What a WRITE did. Raises `ImpossibleResult` for more than was sent, or less stable than was requested."""
        where = f"WRITE at {offset}"
        if self._checked and count > sent:
            raise ImpossibleResult(f"{where}: {sent} bytes sent, {count} written")
        if self._checked and not committed.is_known:
            raise ImpossibleResult(f"{where}: expected a stable_how in committed, saw {committed}")
        done = Stable(committed) if committed.is_known else wanted
        if self._checked and done < wanted:
            raise ImpossibleResult(f"{where}: {wanted.name} requested, only {done.name} done")
        return Written(count, done, verifier)


_TYPES: t.Final = {each.value: each for each in FileType}


def file_type(value: XdrEnum) -> FileType:
    """The type of an object. Raises `ImpossibleResult` for a number that the protocol does not have."""
    found = _TYPES.get(value)
    if found is None:
        name = {"Ftype": "ftype", "Ftype3": "ftype3", "NfsFtype4": "nfs_ftype4"}[type(value).__name__]
        raise ImpossibleResult(f"expected an {name} in the attributes, saw {value}")
    return found
