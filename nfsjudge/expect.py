# SPDX-License-Identifier: MIT
"""`expect()`: the only way in which a check judges.

resok = expect(nfs3.write(...)).ok()
expect(resok.count, "count").at_most(10)
expect(reply).field("resok.count").at_most(10)      # marks the field in the transcript
expect(reply).refused(Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_BADHANDLE)
"""

from __future__ import annotations

import enum
import sys
import typing as t
from collections.abc import Callable, Collection

from nfsclient.errors import NfsClientError
from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.mount import MountStat1
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.xdr import XdrEnum
from nfsclient.xdr.printer import format_bytes
from nfsjudge.outcome import Nonconformance, current_requirement, observe, skip, unsupported
from nfsjudge.pointing import Claim, claim_of
from nfsjudge.requirement import CLOSED_STATUS, Requirement

T = t.TypeVar("T")
T_co = t.TypeVar("T_co", covariant=True)

_FBIG = 27
_NOTSUPP = 10004
_TOOSMALL = 10005
_JUKEBOX = 10008
_NOT_TO_BE_JUDGED = {
    28: "there is no room",
    69: "the quota is used up",
    _TOOSMALL: "the server wants a larger buffer",
    _JUKEBOX: "the server is not ready, for as long as it was asked",
}
"""NOSPC, DQUOT, TOOSMALL, JUKEBOX: legal wherever success is, and no word on what was to be seen."""
_STORING = (nfs2.Attrstat, nfs3.Setattr3Res, nfs3.Write3Res)
"""Replies of what makes files larger: only there is FBIG an answer (RFC 1813 section 3.3.7, RFC 1094 section 2.3.1)."""
_DENIED = frozenset({1, 13, 30})
"""PERM, ACCES, ROFS: who may do what is the server's policy (RFC 1813 sections 2.6 and 4.4), and no broken rule."""
_OPEN = (Nfsstat2, MountStat1)
"""Statuses that are error numbers of UNIX, with no sentence that there are no others (RFC 1094 2.3.1, A.4.2)."""
_UNIX_NOTSUPP = frozenset({45, 95})
"""EOPNOTSUPP of BSD and of Linux, which say NOTSUPP where the status is an error number."""
_MOST_ITEMS = 12


class Reply(t.Protocol[T_co]):
    """A reply with a status, and with results when the status is OK."""

    @property
    def status(self) -> XdrEnum:
        """The status."""
        ...

    @property
    def resok(self) -> T_co | None:
        """The results of success."""
        ...


class StatusReply(t.Protocol):
    """A reply with a status."""

    @property
    def status(self) -> XdrEnum:
        """The status."""
        ...


def show(value: object) -> str:
    """A value for people: bytes as text or hexadecimal, enums by name, long lists cut."""
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
        printable = all(32 <= byte < 127 for byte in data[:64])
        return format_bytes(data, text=printable)
    if isinstance(value, enum.Enum):
        return f"{value.name} ({value.value})"
    if isinstance(value, list | tuple):
        items = ", ".join(map(show, value[:_MOST_ITEMS]))
        more = f", ... ({len(value)} in all)" if len(value) > _MOST_ITEMS else ""
        return f"[{items}{more}]"
    return str(value) if isinstance(value, bool | int | str) else repr(value)


def _fail(
    expected: tuple[str, ...],
    observed: str,
    because: Requirement | None,
    subject: object,
    field: str | None,
    claim: Claim | None = None,
) -> t.NoReturn:
    __tracebackhide__ = True
    raise Nonconformance(
        expected=expected,
        observed=observed,
        requirement=because if because is not None else current_requirement(),
        subject=subject,
        field=field,
        claim=claim,
    )


class ValueExpectation(t.Generic[T]):
    """What is expected of one value: every method gives the value, or raises `Nonconformance`."""

    def __init__(
        self,
        value: T,
        what: str,
        because: Requirement | None,
        subject: object = None,
        field: str | None = None,
    ) -> None:
        self.value = value
        self.what = what
        self._because = because
        self._subject = subject
        self._field = field

    def _hold(self, holds: bool, *expected: str) -> T:
        __tracebackhide__ = True
        if not holds:
            wanted = tuple(f"{self.what} {text}" for text in expected)
            # The check is two frames up: it called the method that called this one.
            claim = claim_of(sys._getframe(2), self.value, self.what) if self._subject is None else None
            _fail(
                wanted,
                f"{self.what} is {show(self.value)}",
                self._because,
                self._subject,
                self._field,
                claim,
            )
        return self.value

    def equals(self, other: T) -> T:
        """The value is `other`."""
        __tracebackhide__ = True
        return self._hold(self.value == other, f"is {show(other)}")

    def differs_from(self, other: T) -> T:
        """The value is not `other`."""
        __tracebackhide__ = True
        return self._hold(self.value != other, f"is not {show(other)}")

    def one_of(self, *allowed: T) -> T:
        """The value is one of `allowed`."""
        __tracebackhide__ = True
        return self._hold(self.value in allowed, *(f"is {show(other)}" for other in allowed))

    def at_most(self, limit: int) -> T:
        """The number is not above `limit`."""
        __tracebackhide__ = True
        return self._hold(t.cast("int", self.value) <= limit, f"is at most {limit}")

    def at_least(self, limit: int) -> T:
        """The number is not below `limit`."""
        __tracebackhide__ = True
        return self._hold(t.cast("int", self.value) >= limit, f"is at least {limit}")

    def between(self, low: int, high: int) -> T:
        """The number is from `low` to `high`."""
        __tracebackhide__ = True
        return self._hold(low <= t.cast("int", self.value) <= high, f"is from {low} to {high}")

    def is_true(self) -> T:
        """The value is true."""
        __tracebackhide__ = True
        return self._hold(bool(self.value), "is true")

    def is_false(self) -> T:
        """The value is false."""
        __tracebackhide__ = True
        return self._hold(not self.value, "is false")

    def is_present(self) -> T:
        """The value is not None."""
        __tracebackhide__ = True
        return self._hold(self.value is not None, "is present")

    def is_absent(self) -> T:
        """The value is None."""
        __tracebackhide__ = True
        return self._hold(self.value is None, "is absent")

    def contains(self, item: object) -> T:
        """The collection has `item`."""
        __tracebackhide__ = True
        return self._hold(item in t.cast("Collection[object]", self.value), f"contains {show(item)}")

    def lacks(self, item: object) -> T:
        """The collection does not have `item`."""
        __tracebackhide__ = True
        return self._hold(
            item not in t.cast("Collection[object]", self.value), f"does not contain {show(item)}"
        )

    def satisfies(self, holds: Callable[[T], bool], expected: str) -> T:
        """`holds` is true of the value; `expected` words it: "is a power of two"."""
        __tracebackhide__ = True
        return self._hold(holds(self.value), expected)


class ReplyExpectation(t.Generic[T]):
    """What is expected of a reply.

    A status that the RFC does not define fails whatever is expected. In NFSv2, where the enum is open, it is an
    error like any other.
    """

    def __init__(self, reply: t.Any, because: Requirement | None) -> None:
        self._reply = reply
        self._because = because

    @property
    def _status_field(self) -> str:
        return "fhs_status" if hasattr(self._reply, "fhs_status") else "status"

    def _status(self) -> XdrEnum:
        __tracebackhide__ = True
        status: XdrEnum = self._reply.status
        if not status.is_known and isinstance(status, _OPEN):
            observe("status outside of the RFC", show(status))
        elif not status.is_known:
            _fail(
                ("a status that the RFC defines",),
                show(status),
                CLOSED_STATUS,
                self._reply,
                self._status_field,
            )
        return status

    @staticmethod
    def _is_an_answer(status: XdrEnum) -> None:
        """End the check at what may come before any other error, as errors have no order: NOTSUPP, JUKEBOX, no room."""
        if status in _NOT_TO_BE_JUDGED and status != _TOOSMALL:
            skip(f"{_NOT_TO_BE_JUDGED[status]}: {show(status)}")
        if status == _NOTSUPP or (status in _UNIX_NOTSUPP and isinstance(status, _OPEN)):
            unsupported("the server answers NOTSUPP")

    def ok(self) -> T:
        """Success: gives the results.

        NOTSUPP ends the check as UNSUPPORTED (RFC 1813 section 1.6), what says nothing of the server as SKIP: no
        room, a buffer too small for it, a file too large for the server, a denial, and JUKEBOX, which any procedure
        may answer (section 2.6). Where one of these is the claim, `granted`, `status` or `refused` judges it.
        """
        __tracebackhide__ = True
        status = self._status()
        if status in _NOT_TO_BE_JUDGED:
            skip(f"{_NOT_TO_BE_JUDGED[status]}: {show(status)}")
        if self._is_too_large(status):
            skip(f"the server's files are smaller: {show(status)}")
        if self._is_denied(status):
            skip(f"the server denies it: {show(status)}")
        self._is_an_answer(status)
        if status != 0:
            _fail(("success",), show(status), self._because, self._reply, self._status_field)
        return t.cast("T", self._reply.resok)

    def granted(self) -> T:
        """`ok`, where the claim is that nothing is denied, or that nothing is too large."""
        __tracebackhide__ = True
        status = self._status()
        if self._is_denied(status) or self._is_too_large(status):
            _fail(("success",), show(status), self._because, self._reply, self._status_field)
        return self.ok()

    @staticmethod
    def _is_denied(status: XdrEnum) -> bool:
        return status in _DENIED and isinstance(status, Nfsstat2 | Nfsstat3)

    def _is_too_large(self, status: XdrEnum) -> bool:
        """FBIG. Whether files may be as large as FSINFO says is a check of its own."""
        return status == _FBIG and isinstance(self._reply, _STORING)

    def ok_or_unsupported(self) -> T:
        """`ok`, where the text itself calls the procedure, or what is asked of it, optional."""
        __tracebackhide__ = True
        return self.ok()

    def status(self, *allowed: XdrEnum) -> None:
        """The status is one of `allowed`; NOTSUPP, JUKEBOX and no room end the check as with `ok`."""
        __tracebackhide__ = True
        status = self._status()
        if status not in allowed:
            self._is_an_answer(status)
            _fail(tuple(map(show, allowed)), show(status), self._because, self._reply, self._status_field)

    def refused(self, *preferred: XdrEnum, because: Requirement | None = None) -> XdrEnum:
        """Not success: any defined error. One that is not `preferred` breaks `because`, if that is given.

        NOTSUPP and JUKEBOX, which may come from anywhere, end the check as with `ok`; so does no room in place of
        what is `preferred`, for errors have no order of precedence (RFC 1813 section 2.5).
        """
        __tracebackhide__ = True
        status = self._status()
        if status in {_NOTSUPP, *_UNIX_NOTSUPP, _JUKEBOX} - set(preferred) or (
            because is not None and status not in preferred
        ):
            self._is_an_answer(status)
        if status == 0:
            wanted = tuple(map(show, preferred)) or ("an error",)
            _fail(wanted, "success", self._because, self._reply, self._status_field)
        if because is not None and preferred and status not in preferred:
            _fail(tuple(map(show, preferred)), show(status), because, self._reply, self._status_field)
        return status

    def field(self, path: str) -> ValueExpectation[t.Any]:
        """One field by its dotted path, such as ``resok.file_wcc.after.size``; marked in the transcript."""
        value: t.Any = self._reply
        for name in path.split("."):
            value = getattr(value, name)
        return ValueExpectation(value, path.removeprefix("resok."), self._because, self._reply, path)


@t.overload
def expect(  # type: ignore[overload-overlap]  # a reply with results is the narrower case, and comes first
    subject: Reply[T], what: None = None, *, because: Requirement | None = None
) -> ReplyExpectation[T]: ...
@t.overload
def expect(
    subject: StatusReply, what: None = None, *, because: Requirement | None = None
) -> ReplyExpectation[None]: ...
@t.overload
def expect(subject: T, what: str, *, because: Requirement | None = None) -> ValueExpectation[T]: ...
def expect(subject: t.Any, what: str | None = None, *, because: Requirement | None = None) -> t.Any:
    """Begin to judge a reply, or (with `what` naming it) a value.

    A claim that does not hold raises `Nonconformance` with `because`, or with what the check proves first.
    """
    if what is None:
        return ReplyExpectation(subject, because)
    return ValueExpectation(subject, what, because)


def expect_error(
    error: type[NfsClientError] | tuple[type[NfsClientError], ...],
    act: Callable[[], object],
    *,
    because: Requirement | None = None,
) -> NfsClientError:
    """Expect that `act` raises one of the library's errors, such as `ProcUnavail`, and give it."""
    __tracebackhide__ = True
    kinds = error if isinstance(error, tuple) else (error,)
    try:
        result = act()
    except kinds as raised:
        return raised
    except NfsClientError as raised:
        _fail(tuple(kind.__name__ for kind in kinds), str(raised), because, None, None)
    status = getattr(result, "status", None)
    seen = "an ordinary reply" if status is None else f"a reply with status {show(status)}"
    _fail(tuple(kind.__name__ for kind in kinds), seen, because, result, None)
