# SPDX-License-Identifier: MIT
"""Tables of what a protocol leaves open, and how they are looked up.

A server may answer some statuses for reasons that say nothing about the claim of a check: the disk is full, the user
has no permission, the procedure is not implemented. Such a status makes a check SKIP or UNSUPPORTED instead of FAIL.
How far that reaches depends on what the check expected, and `Ends` orders the cases.

Tables are found by the type of the status, so a reply needs no reference to its protocol. In NFSv4 each operation of
a COMPOUND has its own status: it is judged like any reply, and its table is that of nfsstat4.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import typing as t
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nfsclient.rpc.program import AnyOperation, Program
from nfsclient.xdr import XdrEnum
from nfsjudge.facts import is_so
from nfsjudge.reason import Lack
from nfsjudge.requirement import Requirement
from nfsjudge.verdict import Verdict


class Ends(enum.IntEnum):
    """Which expectations an inconclusive status ends. Each member includes those before it.

    An expectation that names the status judges it, whatever the table says.
    """

    OK = 1
    """`ok()`: success was needed to go on. `granted()` judges it."""
    SUCCESS = 2
    """`granted()` as well: the status comes from the state of the server, not from its policy."""
    NAMED = 3
    """An expectation of particular statuses as well: NFS gives errors no order of precedence (RFC 1813 section 2.5)."""
    ANY = 4
    """`refused()` with any error as well: the status does not say that the server refused the call."""


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """A status that says nothing about a claim: the verdict that it leads to, how far, and why."""

    verdict: t.Literal[Verdict.SKIP, Verdict.UNSUPPORTED]
    ends: Ends
    reason: str
    replies: tuple[type, ...] = ()
    """Only in these replies; empty: in all."""
    if_so: str = ""
    """Only where this holds of the target: the check asks when it meets the status; empty: always."""
    lack: Lack = Lack.REFUSED
    """What it says in the fields of a reason."""

    @property
    def is_lack(self) -> bool:
        """Whether it says that the server does not have the operation."""
        return self.lack is Lack.NOT_SUPPORTED

    def applies(self, reply: object, expectation: Ends) -> bool:
        """Whether it ends an expectation of this kind about `reply`."""
        is_meant = expectation <= self.ends and (not self.replies or isinstance(reply, self.replies))
        return is_meant and (not self.if_so or is_so(self.if_so))


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusPolicy:
    """One status enumeration."""

    status: type[XdrEnum]
    field: str = "status"
    """The status in a reply, by the name that the RFC gives it."""
    closed_by: Requirement | None = None
    """What an undefined status breaks; None if the RFC does not say that its list is complete."""
    inconclusive: Mapping[int, Inconclusive] = dataclasses.field(default_factory=dict)

    def explain(self, reply: object, status: int, expectation: Ends) -> Inconclusive | None:
        """Why `status` in `reply` does not answer an expectation; None if it does."""
        found = self.inconclusive.get(status)
        return found if found is not None and found.applies(reply, expectation) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolPolicy:
    """The tables of one protocol."""

    statuses: tuple[StatusPolicy, ...] = ()
    versions: Mapping[Program, str] = dataclasses.field(default_factory=dict)
    """A program in one version -> the capability that says whether the target serves it."""
    optional: Mapping[AnyOperation, str] = dataclasses.field(default_factory=dict)
    """An operation that a server may lack -> the capability that says whether the target has it."""
    may_lack: Collection[AnyOperation] = ()
    """Further operations that a server may lack."""


_by_status: dict[type[XdrEnum], StatusPolicy] = {}
_by_version: dict[tuple[int, int], str] = {}
_by_operation: dict[AnyOperation, str] = {}
_may_lack: set[AnyOperation] = set()


def register(policy: ProtocolPolicy) -> ProtocolPolicy:
    """Make the tables of a protocol known. Each status type, version and procedure is registered once."""
    statuses = {status.status: status for status in policy.statuses}
    versions = {(program.number, program.version): name for program, name in policy.versions.items()}
    twice = [*(statuses.keys() & _by_status.keys()), *(versions.keys() & _by_version.keys())]
    twice += [operation.label for operation in policy.optional.keys() & _by_operation.keys()]
    if twice:
        raise ValueError(f"registered twice: {twice}")
    _by_status.update(statuses)
    _by_version.update(versions)
    _by_operation.update(policy.optional)
    _may_lack.update(policy.optional, policy.may_lack)
    return policy


def policy_of(status: object) -> StatusPolicy:
    """The table for a status. Raises `LookupError` for one that no protocol registered: a fault of the suite."""
    for kind in type(status).__mro__:
        if kind in _by_status:
            return _by_status[kind]
    raise LookupError(f"no protocol has registered a policy for {type(status).__name__}")


def is_status(value: object) -> bool:
    """Whether a value is a status of a protocol."""
    return any(kind in _by_status for kind in type(value).__mro__)


def statuses() -> frozenset[str]:
    """The names of all statuses."""
    return _names(tuple(_by_status))


@functools.cache
def _names(kinds: tuple[type[XdrEnum], ...]) -> frozenset[str]:
    return frozenset(name for kind in kinds for name in kind.__members__)


def capability_for(operation: AnyOperation) -> str | None:
    """The capability that says whether the target serves the program and version of an operation."""
    return _by_version.get((operation.program, operation.version))


def optional_capability(operation: AnyOperation) -> str | None:
    """The capability that says whether the target has an operation; None if every server has it."""
    return _by_operation.get(operation)


def is_needed(operation: AnyOperation) -> bool:
    """Whether every server of the version has an operation."""
    return operation not in _may_lack


def is_lacking(result: object, status: object) -> bool:
    """Whether the status of a result says that the server does not have the operation."""
    if not is_status(status):
        return False
    policy = policy_of(status)
    found = policy.explain(result, t.cast("int", status), Ends.OK)
    return found is not None and found.is_lack
