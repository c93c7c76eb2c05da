# SPDX-License-Identifier: MIT
"""The reply to a compound: results by operation and as a whole, and errors that name the operation."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

from nfsclient.errors import NfsStatusError, ServerViolation
from nfsclient.protocol.nfs4.attributes import Fattr4
from nfsclient.protocol.nfs4.compound import Compound4Args, Compound4Res
from nfsclient.protocol.nfs4.operations import (
    ARGOPS,
    BY_CLASS,
    GETATTR,
    GETFH,
    ILLEGAL,
    OPERATIONS,
    STATUS_OF,
    AnyOperation,
    Operation,
    operation_of,
    status_of,
)
from nfsclient.protocol.nfs4.sessions import Sequence4Args, Sequence4Res
from nfsclient.protocol.nfs4.types import Nfsstat4, Stateid4
from nfsclient.replies import AlreadyExists, IsADirectory, NotADirectory, NotFound, NotPermitted
from nfsclient.xdr import Unread, XdrType

_RESULTS: t.Final = {operation.args: operation.res for operation in OPERATIONS}
A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


class CompoundError(NfsStatusError):
    """A compound ended with an error: `operation` is the one that failed, `index` its place among all of the compound.

    None and -1 where the server executed none. `reply` has the results before it.
    """

    def __init__(
        self,
        status: Nfsstat4,
        operation: AnyOperation | None,
        index: int,
        reply: CompoundReply,
        path: str | None = None,
    ) -> None:
        name = "COMPOUND" if operation is None else operation.name
        super().__init__(status, name, path)
        self.operation = operation
        self.index = index
        self.reply = reply


class CompoundNotFound(CompoundError, NotFound):
    """NOENT."""


class CompoundAlreadyExists(CompoundError, AlreadyExists):
    """EXIST."""


class CompoundNotPermitted(CompoundError, NotPermitted):
    """ACCESS or PERM."""


class CompoundNotADirectory(CompoundError, NotADirectory):
    """NOTDIR."""


class CompoundIsADirectory(CompoundError, IsADirectory):
    """ISDIR."""


_KINDS: t.Final[dict[Nfsstat4, type[CompoundError]]] = {
    Nfsstat4.NFS4ERR_NOENT: CompoundNotFound,
    Nfsstat4.NFS4ERR_EXIST: CompoundAlreadyExists,
    Nfsstat4.NFS4ERR_ACCESS: CompoundNotPermitted,
    Nfsstat4.NFS4ERR_PERM: CompoundNotPermitted,
    Nfsstat4.NFS4ERR_NOTDIR: CompoundNotADirectory,
    Nfsstat4.NFS4ERR_ISDIR: CompoundIsADirectory,
}


class CompoundReply:
    """What a server answered to a compound.

    Indexing, length and iteration are about the results of the caller's own operations: a SEQUENCE that the session
    put in front is in `sequence` instead. `args` and `res` have everything as it was on the wire.
    """

    __slots__ = ("_skipped", "args", "res")

    def __init__(self, args: Compound4Args, res: Compound4Res, *, supplied: int = 0) -> None:
        self.args = args
        self.res = res
        self._skipped = supplied

    @property
    def status(self) -> Nfsstat4:
        """Of the whole compound."""
        return self.res.status

    @property
    def results(self) -> list[XdrType]:
        """Results of the caller's operations, as many as the server came to."""
        return self.res.resarray[self._skipped :]

    @property
    def executed(self) -> int:
        """How many operations have results, with the SEQUENCE of a session."""
        return len(self.res.resarray)

    @property
    def sequence(self) -> Sequence4Res | None:
        """The result of a leading SEQUENCE."""
        first = self.res.resarray[0] if self.res.resarray else None
        return first if isinstance(first, Sequence4Res) else None

    @property
    def renews_lease(self) -> bool:
        """Whether a leading SEQUENCE succeeded (RFC 5661 section 8.3)."""
        first = self.sequence
        return first is not None and first.sr_status == Nfsstat4.NFS4_OK

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[XdrType]:
        return iter(self.results)

    def __getitem__(self, index: int) -> t.Any:
        return self.results[index]

    @property
    def statuses(self) -> list[Nfsstat4]:
        """The status of each of the caller's operations that the server came to."""
        return [status_of(result) for result in self.results]

    @property
    def failed(self) -> AnyOperation | None:
        """The operation that ended the compound; None if all succeeded, or none was executed."""
        return self._operation(self._last) if self.status and self.res.resarray else None

    @property
    def _last(self) -> int:
        return len(self.res.resarray) - 1

    def _operation(self, index: int) -> AnyOperation | None:
        if not 0 <= index < len(self.args.argarray):
            return None
        call = self.args.argarray[index]
        if not isinstance(call, Unread):
            return operation_of(call)
        cls = ARGOPS.classes.get(call.number)  # of a known operation the caller has made the bytes itself
        return ILLEGAL if cls is None else BY_CLASS[cls]

    def error(self, path: str | None = None) -> CompoundError | None:
        """The exception for a compound that failed; None for one that succeeded."""
        if self.status == Nfsstat4.NFS4_OK:
            return None
        kind = _KINDS.get(self.status, CompoundError)
        return kind(self.status, self.failed, self._last, self, path)

    def ok(self, path: str | None = None) -> t.Self:
        """This reply, if all operations succeeded. Raises `CompoundError`, `ServerViolation` if results are amiss."""
        if self.res.status:
            raise t.cast("CompoundError", self.error(path))
        self.require_sound()
        return self

    def require_sound(self) -> None:
        """Raise `ServerViolation` unless the results fit the operations (RFC 5661 section 16.2.3).

        Each belongs to the operation in its place, no operation follows one that failed, the last has the status of
        the whole, and none is missing from a compound that succeeded.
        """
        if self._is_success():
            return
        results = self.res.resarray
        if len(results) > len(self.args.argarray):
            raise ServerViolation(f"COMPOUND: {len(self.args.argarray)} operations, {len(results)} results")
        for index, result in enumerate(results):
            operation, expected = operation_of(result), self._operation(index)
            if operation is not expected and operation is not ILLEGAL:
                raise ServerViolation(
                    f"COMPOUND: result {index} is of {operation.name}, expected {expected and expected.name}"
                )
            if index < self._last and status_of(result) != Nfsstat4.NFS4_OK:
                raise ServerViolation(f"COMPOUND: results follow the error of {operation.name}")
        if results and status_of(results[-1]) != self.status:
            raise ServerViolation(
                f"COMPOUND: its status is {self.status}, that of its last result {status_of(results[-1])}"
            )
        if self.status == Nfsstat4.NFS4_OK and len(results) < len(self.args.argarray):
            raise ServerViolation(
                f"COMPOUND: success with {len(results)} results of {len(self.args.argarray)} operations"
            )

    def _is_success(self) -> bool:
        """Whether each operation has its own result, and all succeeded, as in nearly every reply."""
        calls, results = self.args.argarray, self.res.resarray
        if self.res.status or len(calls) != len(results):
            return False
        for call, result in zip(calls, results, strict=True):
            if _RESULTS.get(type(call)) is not type(result) or STATUS_OF[type(result)](result):
                return False
        return True

    def of(self, operation: Operation[A, R], nth: int = 0) -> R:
        """The result of an operation, of its `nth` occurrence (-1: the last), whatever its status.

        Raises `CompoundError` if the server did not come to it, `ServerViolation` if it left it out.
        """
        found = [result for result in self.res.resarray if isinstance(result, operation.res)]
        if -len(found) <= nth < len(found):
            return found[nth]
        error = self.error()
        if error is not None:
            raise error
        raise ServerViolation(f"COMPOUND succeeded without a result of {operation.name}")

    @property
    def handle(self) -> bytes:
        """The filehandle that the last GETFH gave. Raises `CompoundError`."""
        result = self.ok().of(GETFH, -1)
        assert result.resok4 is not None
        return result.resok4.object

    @property
    def attributes(self) -> Fattr4:
        """What the last GETATTR gave. Raises `CompoundError`."""
        result = self.ok().of(GETATTR, -1)
        assert result.resok4 is not None
        return result.resok4.obj_attributes

    @property
    def stateid(self) -> Stateid4:
        """The stateid that the last of the operations gave that gives one. Raises `CompoundError`."""
        for result in reversed(self.ok().results):
            for place in operation_of(result).gives_stateid:
                value: t.Any = result
                for name in place.split("."):
                    value = getattr(value, name, None)
                if isinstance(value, Stateid4):
                    return value
        raise ServerViolation("no operation of this compound gave a stateid")


def is_delayed_at_sequence(reply: CompoundReply) -> bool:
    """Whether SEQUENCE itself got DELAY, so that nothing was executed (RFC 5661 section 2.10.6.1.2)."""
    first = reply.sequence if reply.status else None
    return first is not None and first.sr_status == Nfsstat4.NFS4ERR_DELAY


def has_sequence(args: Compound4Args) -> bool:
    """Whether a compound begins with SEQUENCE."""
    return bool(args.argarray) and isinstance(args.argarray[0], Sequence4Args)
