# SPDX-License-Identifier: MIT
"""`expect()`: what a check calls first. `nfsjudge.expect` and `nfsjudge.compounds` have what it returns."""

from __future__ import annotations

import typing as t

from nfsclient.sessions.reply import CompoundReply
from nfsclient.xdr import XdrType
from nfsjudge.compounds import CompoundExpectation, OperationExpectation
from nfsjudge.expect import Reply, ReplyExpectation, StatusReply, ValueExpectation, expectation_of
from nfsjudge.pointing import Claim
from nfsjudge.requirement import Requirement

T = t.TypeVar("T")


@t.overload
def expect(  # type: ignore[overload-overlap]  # a compound is the narrower case, and comes first
    subject: CompoundReply, what: None = None, *, because: Requirement | None = None
) -> CompoundExpectation: ...
@t.overload
def expect(  # type: ignore[overload-overlap]  # a reply with results is the narrower case, and comes first
    subject: Reply[T], what: None = None, *, because: Requirement | None = None
) -> ReplyExpectation[T]: ...
@t.overload
def expect(
    subject: StatusReply, what: None = None, *, because: Requirement | None = None
) -> ReplyExpectation[None]: ...
@t.overload
def expect(
    subject: XdrType, what: None = None, *, because: Requirement | None = None
) -> OperationExpectation: ...
@t.overload
def expect(
    subject: T, what: str, *, of: object = None, field: str = "", because: Requirement | None = None
) -> ValueExpectation[T]: ...
def expect(
    subject: t.Any,
    what: str | None = None,
    *,
    of: object = None,
    field: str = "",
    because: Requirement | None = None,
) -> t.Any:
    """Begin to judge a reply or a part of one, or (with `what` naming it) a value.

    A claim that does not hold raises `Nonconformance` with `because`, or with what the check proves first.

    `of` and `field` say which field of which reply a transcript marks: `field` is a dotted path in `of`, which is a
    reply, a part of one, or a raw answer; a raw answer is marked as a whole. Without `of`, the latest reply is meant
    that has such a field with this value.
    """
    if what is None:
        return expectation_of(subject, because)
    claim = Claim(subject, of, field) if of is not None or field else None
    return ValueExpectation(subject, what, because, claim=claim)
