# SPDX-License-Identifier: MIT
"""`expect()`: the only way to judge in a check.

resok = expect(nfs3.write(...)).ok()
expect(reply).field("resok.count").at_most(10)      # marks the field in the transcript
expect(after).field("size", "size after WRITE").equals(4)       # `after` is a part of a reply
expect(after.mode & 0o777, "permission bits", of=after, field="mode").equals(0o640)
expect(scratch.size(file), "size", field="size").equals(4)      # the latest reply with such a field
expect(len(names), "number of names").equals(2)                 # marks nothing
expect(reply).refused(Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_BADHANDLE)
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Collection

from nfsclient.errors import (
    NfsClientError,
)
from nfsclient.xdr import XdrEnum
from nfsjudge.answers import answer_name, describe_error, kind_of
from nfsjudge.deviation import AN_ERROR, SUCCESS, Deviation, OutcomeRecord
from nfsjudge.differences import difference_of_values
from nfsjudge.outcome import Nonconformance, current_requirement, observe, skip, unsupported
from nfsjudge.pointing import Claim
from nfsjudge.policy.engine import Ends, StatusPolicy, policy_of
from nfsjudge.reason import because
from nfsjudge.requirement import Requirement
from nfsjudge.showing import show, show_status
from nfsjudge.terms import ABSENT, NONE, PRESENT, Shown, Term, term_of, worded
from nfsjudge.verdict import Verdict

DEFINED: t.Final = Shown("a status that the RFC defines", Term(AN_ERROR, Deviation.STATUS))

T = t.TypeVar("T")
T_co = t.TypeVar("T_co", covariant=True)


class Reply(t.Protocol[T_co]):
    """A reply with a status, and with results when the status is OK."""

    @property
    def status(self) -> XdrEnum: ...

    @property
    def resok(self) -> T_co | None:
        """The results of success."""
        ...


class StatusReply(t.Protocol):
    """A reply with a status."""

    @property
    def status(self) -> XdrEnum: ...


def fail(
    what: str,
    expected: tuple[str, ...],
    observed: str,
    because: Requirement | None = None,
    *,
    subject: object = None,
    field: str | None = None,
    claim: Claim | None = None,
    kind: Deviation | None = None,
    operation: str = "",
    outcome: OutcomeRecord | None = None,
) -> t.NoReturn:
    """Raise `Nonconformance` with `because`, or with what the running check proves first."""
    __tracebackhide__ = True
    raise Nonconformance(
        what=what,
        expected=expected,
        observed=observed,
        requirement=because if because is not None else current_requirement(),
        subject=subject,
        field=field,
        claim=claim,
        kind=kind,
        operation=operation,
        outcome=outcome,
    )


class ValueExpectation(t.Generic[T]):
    """What is expected of one value: every method gives the value, or raises `Nonconformance`.

    Failure texts read ``WHAT: expected A, B or C, got D``, so that `what` is a noun: "size", "names in the directory".
    """

    def __init__(
        self,
        value: T,
        what: str,
        because: Requirement | None,
        subject: object = None,
        field: str | None = None,
        claim: Claim | None = None,
    ) -> None:
        self.value = value
        self.what = what
        self._because = because
        self._subject = subject
        self._field = field
        self._claim = claim

    def _hold(self, holds: bool, *expected: str, observed: str = "", what: str = "") -> T:
        __tracebackhide__ = True
        if not holds:
            fail(
                what or self.what,
                expected,
                observed or self._show(self.value),
                self._because,
                subject=self._subject,
                field=self._field,
                claim=self._claim,
            )
        return self.value

    def _show(self, value: object) -> Shown:
        return show(value, self.what)

    def equals(self, other: T) -> T:
        """The value is `other`. Of long data and lists the text says where they differ."""
        __tracebackhide__ = True
        if self.value == other:
            return self.value
        found = difference_of_values(self.value, other, self.what)
        if found is None:
            return self._hold(False, self._show(other))
        return self._hold(
            False,
            Shown(found.expected, self._show(other).term),
            observed=Shown(found.observed, self._show(self.value).term),
            what=found.what,
        )

    def differs_from(self, other: T) -> T:
        """The value is not `other`."""
        __tracebackhide__ = True
        unwanted = self._show(other)
        text = "some" if unwanted == NONE else f"anything but {unwanted}"
        return self._hold(
            self.value != other, Shown(text, Term(f"not {unwanted.term.name}", unwanted.term.kind))
        )

    def one_of(self, *allowed: T) -> T:
        """The value is one of `allowed`."""
        __tracebackhide__ = True
        return self._hold(self.value in allowed, *map(self._show, allowed))

    def at_most(self, limit: int) -> T:
        """The number is not above `limit`."""
        __tracebackhide__ = True
        return self._hold(t.cast("int", self.value) <= limit, worded(f"at most {limit}", "at most"))

    def at_least(self, limit: int) -> T:
        """The number is not below `limit`."""
        __tracebackhide__ = True
        return self._hold(t.cast("int", self.value) >= limit, worded(f"at least {limit}", "at least"))

    def between(self, low: int, high: int) -> T:
        """The number is from `low` to `high`."""
        __tracebackhide__ = True
        return self._hold(
            low <= t.cast("int", self.value) <= high, worded(f"from {low} to {high}", "from number to")
        )

    def is_true(self) -> T:
        __tracebackhide__ = True
        return self._hold(bool(self.value), show(True))

    def is_false(self) -> T:
        __tracebackhide__ = True
        return self._hold(not self.value, show(False))

    def is_present(self) -> T:
        __tracebackhide__ = True
        return self._hold(self.value is not None, PRESENT, observed=ABSENT)

    def is_absent(self) -> T:
        __tracebackhide__ = True
        return self._hold(self.value is None, NONE)

    def contains(self, item: object) -> T:
        """The collection has `item`."""
        __tracebackhide__ = True
        return self._hold(
            item in t.cast("Collection[object]", self.value), _having(item, f"{show(item)} among them")
        )

    def lacks(self, item: object) -> T:
        """The collection does not have `item`."""
        __tracebackhide__ = True
        return self._hold(
            item not in t.cast("Collection[object]", self.value), _having(item, f"no {show(item)}", "no")
        )

    def satisfies(self, holds: Callable[[T], bool], expected: str) -> T:
        """`holds` is true of the value; `expected` words it: "a power of two"."""
        __tracebackhide__ = True
        return self._hold(holds(self.value), expected)


def _having(item: object, text: str, *words: str) -> Shown:
    """An expectation of an item: its term has the words, and what the item is."""
    found = show(item).term
    return Shown(text, Term(" ".join([*words, found.name]), found.kind))


class ReplyExpectation(t.Generic[T]):
    """What is expected of a reply.

    A status that the RFC does not define fails whatever is expected. In NFSv2, where the enum is open, it is an
    error like any other.
    """

    def __init__(self, reply: t.Any, because: Requirement | None) -> None:
        self._reply = reply
        self._because = because

    def _status(self) -> tuple[XdrEnum, StatusPolicy]:
        """The status and the table for it; one that a closed enumeration does not define is a failure."""
        __tracebackhide__ = True
        status = self._status_of_reply()
        policy = policy_of(status)
        if not status.is_known and policy.closed_by is None:
            observe("status outside of the RFC", show(status))
        elif not status.is_known:
            self._fail(status, (DEFINED,), policy.closed_by)
        return status, policy

    def _status_of_reply(self) -> XdrEnum:
        return t.cast("XdrEnum", self._reply.status)

    def _results(self) -> t.Any:
        """What a reply that says success has besides."""
        return self._reply.resok

    def _field_of(self, status: XdrEnum) -> tuple[str, str]:
        """What a failure text calls the status, and the field that has it."""
        field = policy_of(status).field
        return field, field

    def _fail(
        self, status: XdrEnum, expected: tuple[str, ...], because: Requirement | None = None
    ) -> t.NoReturn:
        __tracebackhide__ = True
        what, field = self._field_of(status)
        rule, seen = because or self._because, show_status(status)
        fail(what, expected, seen, rule, subject=self._reply, field=field, operation=self._operation())

    def _operation(self) -> str:
        """The operation whose status it is; empty: that of the exchange, which the plugin finds."""
        return ""

    def _end_if_inconclusive(self, status: XdrEnum, policy: StatusPolicy, expectation: Ends) -> None:
        """End the check as SKIP or UNSUPPORTED at a status that says nothing about this expectation."""
        found = policy.explain(self._reply, status, expectation)
        if found is None:
            return
        if found.verdict is Verdict.UNSUPPORTED:
            unsupported(because(found.lack, found.reason, status=status.name), self._reply)
        skip(because(found.lack, f"{found.reason}: {show(status)}", status=status.name), self._reply)

    def _success(self, expectation: Ends) -> T:
        __tracebackhide__ = True
        status, policy = self._status()
        if status != 0:
            self._end_if_inconclusive(status, policy, expectation)
            self._fail(status, (SUCCESS,))
        return t.cast("T", self._results())

    def ok(self) -> T:
        """Success: gives the results.

        A status that says nothing about the claim ends the check as SKIP or UNSUPPORTED: no room, a denial, JUKEBOX,
        NOTSUPP, and what else the tables in `nfsjudge.policy` list. Where one of these is the claim, use `granted`,
        `status` or `refused`.
        """
        __tracebackhide__ = True
        return self._success(Ends.OK)

    def granted(self) -> T:
        """`ok` for a claim that nothing is denied, or that nothing is too large."""
        __tracebackhide__ = True
        return self._success(Ends.SUCCESS)

    def status(self, *allowed: XdrEnum) -> None:
        """The status is one of `allowed`. NOTSUPP, JUKEBOX and no room end the check as with `ok`."""
        __tracebackhide__ = True
        status, policy = self._status()
        if status not in allowed:
            self._end_if_inconclusive(status, policy, Ends.NAMED)
            self._fail(status, tuple(map(show_status, allowed)))

    def refused(self, *preferred: XdrEnum, because: Requirement | None = None) -> XdrEnum:
        """Not success: any defined error. One that is not `preferred` breaks `because`, if that is given.

        NOTSUPP and JUKEBOX, which any procedure may answer, end the check as with `ok`. No room does, too, where
        `because` asks for a `preferred` error: errors have no order of precedence (RFC 1813 section 2.5).
        """
        __tracebackhide__ = True
        status, policy = self._status()
        if status != 0 and status not in preferred:
            self._end_if_inconclusive(status, policy, Ends.ANY if because is None else Ends.NAMED)
        wanted = tuple(map(show, preferred)) or (AN_ERROR,)
        if status == 0:
            self._fail(status, wanted)
        if because is not None and preferred and status not in preferred:
            self._fail(status, wanted, because)
        return status

    def field(self, path: str, what: str = "") -> ValueExpectation[t.Any]:
        """One field by its dotted path, such as ``resok.file_wcc.after.size``; marked in the transcript.

        `what` is the noun in failure texts, if it is not the path.
        """
        value: t.Any = self._reply
        for name in path.split("."):
            value = getattr(value, name)
        noun = what or path.removeprefix("resok.")
        return ValueExpectation(value, noun, self._because, self._reply, path)


_kinds: dict[type, type[ReplyExpectation[t.Any]]] = {}


def judge_by(kind: type[ReplyExpectation[t.Any]], *replies: type) -> None:
    """Let `expect()` judge replies of these types by another class: their status is not called `status`."""
    _kinds.update(dict.fromkeys(replies, kind))


def expectation_of(reply: t.Any, because: Requirement | None) -> ReplyExpectation[t.Any]:
    """What judges a reply of this type, or of one that it is derived from."""
    kinds = (_kinds[each] for each in type(reply).__mro__ if each in _kinds)
    return next(kinds, ReplyExpectation)(reply, because)


def expect_error(
    error: type[NfsClientError] | tuple[type[NfsClientError], ...],
    act: Callable[[], object],
    *,
    because: Requirement | None = None,
) -> NfsClientError:
    """Expect that `act` raises one of the library's errors, such as `ProcUnavail`, and give it."""
    __tracebackhide__ = True
    kinds = error if isinstance(error, tuple) else (error,)
    wanted = tuple(map(answer_name, kinds))
    try:
        result = act()
    except kinds as raised:
        return raised
    except NfsClientError as raised:
        seen = Shown(describe_error(raised), term_of(answer_name(raised)) or Term("", kind_of(raised)))
        fail("answer", wanted, seen, because)
    status = getattr(result, "status", None)
    said = "an ordinary reply" if status is None else f"a reply with status {show(status)}"
    term = Term(SUCCESS, Deviation.STATUS) if status is None else show_status(status).term
    fail("answer", wanted, Shown(said, term), because, subject=result)
