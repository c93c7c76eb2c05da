# SPDX-License-Identifier: MIT
"""`expect()` for NFSv4: the results of operations, and compounds.

reply = expect(session.compound(op.putfh(f), op.getattr("size"))).ok()      # every operation succeeded
expect(session.compound(op.putfh(d), op.lookup(b"absent"))).refused(Nfsstat4.NFS4ERR_NOENT)
expect(reply).of(p.SEQUENCE).ok()                                           # one operation of several

A claim about a compound is about its last operation: those before it must succeed. A compound without any result was
refused as a whole, and its own status is judged instead.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4, Operation
from nfsclient.sessions.reply import CompoundReply
from nfsclient.xdr import Union, Unread, XdrEnum, XdrType, shape_of
from nfsjudge.deviation import Deviation, OutcomeRecord
from nfsjudge.expect import ReplyExpectation, ValueExpectation, fail, judge_by
from nfsjudge.requirement import Requirement
from nfsjudge.showing import show_status
from nfsjudge.terms import NUMBER

_COMPOUND: t.Final = p.COMPOUND.name
A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


class OperationExpectation(ReplyExpectation[t.Any]):
    """What is expected of the result of one operation."""

    def _status_of_reply(self) -> XdrEnum:
        return p.status_of(self._reply)

    def _field_of(self, status: XdrEnum) -> tuple[str, str]:  # noqa: ARG002
        return f"status of {p.operation_of(self._reply).name}", type(self._reply).__xdr_fields__[0]

    def _operation(self) -> str:
        return p.operation_of(self._reply).name

    def _results(self) -> t.Any:
        """The arm of success; the whole result where it has no arms."""
        if not isinstance(self._reply, Union):
            return self._reply
        arm = shape_of(type(self._reply)).arm_for(Nfsstat4.NFS4_OK)
        return self._reply if arm is None or arm.name is None else getattr(self._reply, arm.name)


class _WholeExpectation(ReplyExpectation[CompoundReply]):
    """What is expected of COMPOUND4res itself, whatever it carries."""

    _reply: CompoundReply

    def _fail(
        self, status: XdrEnum, expected: tuple[str, ...], because: Requirement | None = None
    ) -> t.NoReturn:
        __tracebackhide__ = True
        rule, reply = because or self._because, self._reply.res
        seen = show_status(status)
        fail("status of COMPOUND", expected, seen, rule, subject=reply, field="status", operation=_COMPOUND)

    def _results(self) -> CompoundReply:
        return self._reply

    def _fail_short(self) -> t.NoReturn:
        """Success with fewer results than operations."""
        __tracebackhide__ = True
        seen, asked = len(self._reply.res.resarray), len(self._reply.args.argarray)
        expected, observed = (f"{asked}, or an error",), f"{seen}, all successful"
        rule, reply = self._because, self._reply.res
        outcome = OutcomeRecord(str(Deviation.FIELD), _COMPOUND, [NUMBER], NUMBER, "resarray")
        fail(
            "results of COMPOUND", expected, observed, rule, subject=reply, field="resarray", outcome=outcome
        )


class CompoundExpectation(_WholeExpectation):
    """What is expected of a compound."""

    def _last(self) -> ReplyExpectation[t.Any]:
        """The last operation of the request. One before it that failed ends the check as `ok` does."""
        __tracebackhide__ = True
        results, asked = self._reply.res.resarray, self._reply.args.argarray
        if not results:
            return _WholeExpectation(self._reply, self._because)
        last = OperationExpectation(results[-1], self._because)
        if len(results) < len(asked):
            last.ok()
            self._fail_short()
        return last

    def _success_of(self, judge: t.Literal["ok", "granted"]) -> CompoundReply:
        __tracebackhide__ = True
        for result in self._reply.res.resarray:
            getattr(OperationExpectation(result, self._because), judge)()
        getattr(_WholeExpectation(self._reply, self._because), judge)()
        if len(self._reply.res.resarray) < len(self._reply.args.argarray):
            self._fail_short()
        return self._reply

    def ok(self) -> CompoundReply:
        """Every operation succeeded: gives the reply. Inconclusive statuses as in `ReplyExpectation.ok`."""
        __tracebackhide__ = True
        return self._success_of("ok")

    def granted(self) -> CompoundReply:
        """`ok` for a claim that nothing is denied."""
        __tracebackhide__ = True
        return self._success_of("granted")

    def status(self, *allowed: XdrEnum) -> None:
        """The status of the last operation is one of `allowed`; those before it succeeded."""
        __tracebackhide__ = True
        self._last().status(*allowed)

    def refused(self, *preferred: XdrEnum, because: Requirement | None = None) -> XdrEnum:
        """The last operation failed, those before it succeeded; see `ReplyExpectation.refused`."""
        __tracebackhide__ = True
        return self._last().refused(*preferred, because=because)

    def of(self, operation: Operation[A, R], nth: int = 0) -> OperationExpectation:
        """The result of one operation, of its `nth` occurrence. If the server did not come to it, that fails."""
        __tracebackhide__ = True
        places = [
            at
            for at, call in enumerate(self._reply.args.argarray)
            if not isinstance(call, Unread) and p.operation_of(call) is operation
        ]
        at, results = places[nth], self._reply.res.resarray
        if at >= len(results):
            if results:
                OperationExpectation(results[-1], self._because).ok()
            _WholeExpectation(self._reply, self._because).ok()
            self._fail_short()
        return OperationExpectation(results[at], self._because)

    def field(self, path: str, what: str = "") -> ValueExpectation[t.Any]:
        """A field of COMPOUND4res by its dotted path; `what` as of `ReplyExpectation.field`."""
        value: t.Any = self._reply.res
        for name in path.split("."):
            value = getattr(value, name)
        return ValueExpectation(value, what or path, self._because, self._reply.res, path)


judge_by(CompoundExpectation, CompoundReply)
judge_by(OperationExpectation, *(operation.res for operation in p.OPERATIONS))
