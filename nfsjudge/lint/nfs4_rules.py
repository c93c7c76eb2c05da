# SPDX-License-Identifier: MIT
"""Rules for NFSv4.1 and 4.2 that one compound is enough for (RFC 5661). NFSv4.0 is not judged."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable

from nfsclient.errors import ServerViolation
from nfsclient.protocol import nfs4 as p
from nfsclient.sessions.reply import CompoundReply
from nfsjudge.lint.case import Case
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.policy.nfs4 import CLOSED_ENUM
from nfsjudge.requirement import COMPOUND_IS_SOUND, SEQUENCE_ECHOES, must, should, stated

TAG_IS_ECHOED = should("RFC 5661", "16.2.3", "the tag of the results should be the tag of the request")
ATTRIBUTES_ASKED = stated(
    "RFC 5661", "18.7.3", "the result has attributes that the request names, and no others"
)
ACCESS_ASKED = must(
    "RFC 5661",
    "18.1.3",
    "supported and access have no bits that the request does not name, and access has none that supported lacks",
)
READ_UP_TO_COUNT = stated("RFC 5661", "18.22.3", "READ returns as many bytes as the request says, or fewer")
WRITE_UP_TO_COUNT = stated(
    "RFC 5661", "18.32.3", "count is the number of bytes written: as many as were sent, or fewer"
)
COMMITTED_AS_ASKED = must(
    "RFC 5661", "18.32.3", "committed is at least as strong as stable in the arguments (Table 11)"
)
ENTRIES_CHANGE_A_DIRECTORY = stated(
    "RFC 5661",
    "5.8.1.4",
    "the change attribute of a directory gets another value when an entry is made or removed",
)
SIZES_DO_NOT_GROW = must(
    "RFC 5661",
    "18.36.3",
    "the server may decrease header padding and sizes of the fore channel, and does not increase them",
)
BACKCHANNEL_STANDS = must(
    "RFC 5661",
    "18.36.3",
    (
        "ca_maxoperations and ca_maxrequests of the backchannel are what the client offers; its header padding and"
        " sizes are not larger"
    ),
)
ATTRSSET_IN_THE_REQUEST = stated(
    "RFC 5661", "18.30.3", "attrsset is a subset of the attributes that the request sets"
)
COOKIES_RESERVED = should("RFC 5661", "18.23.3", "no entry of READDIR has the cookie 0, 1 or 2")
_SIZES: t.Final = ("ca_headerpadsize", "ca_maxrequestsize", "ca_maxresponsesize", "ca_maxresponsesize_cached")


# ---------------------------------------------------------------- whole compounds


def _reply(case: Case) -> CompoundReply | None:
    """The compound, if it is of a minor version with sessions, and was answered."""
    if case.args is None or case.result is None or case.args.minorversion == 0:
        return None
    return CompoundReply(case.args, case.result)


@rule("nfs4/results", COMPOUND_IS_SOUND, of=(p.COMPOUND,), killed_by="compound4-goes-on-after-an-error")
def results(case: Case) -> Breach | None:
    """Results that do not fit the operations, or a status that is not that of the last result."""
    reply = None if case.is_retry else _reply(case)
    try:
        if reply is not None:
            reply.require_sound()
    except ServerViolation as error:
        return Breach("results that fit the operations", str(error).removeprefix("COMPOUND: "), "resarray")
    return None


@rule("nfs4/tag", TAG_IS_ECHOED, of=(p.COMPOUND,), killed_by="compound4-drops-the-tag")
def tag(case: Case) -> Breach | None:
    """Another tag than that of the request."""
    reply = _reply(case)
    if reply is None or reply.res.tag == reply.args.tag:
        return None
    return Breach(f"tag {reply.args.tag!r}", f"tag {reply.res.tag!r}", "tag")


# ---------------------------------------------------------------- single operations


@rule("nfs4/status-defined", CLOSED_ENUM, of=p.OPERATIONS, killed_by="lookup4-noent-is-errno", when="refused")
def status_defined(case: Case) -> Breach | None:
    """A status that nfsstat4 does not have."""
    if case.status is None or case.status.is_known:
        return None
    field = type(case.result).__xdr_fields__[0]
    return Breach("a status of nfsstat4", f"status {int(case.status)}", field)


@rule("nfs4/sequence-echo", SEQUENCE_ECHOES, of=(p.SEQUENCE,), killed_by="sequence4-answers-slot-0")
def sequence_echo(case: Case) -> Breach | None:
    """SEQUENCE is answered for another session, slot or sequence id."""
    result = case.result.sr_resok4 if case.result is not None else None
    if result is None or case.args is None:
        return None
    for name in ("sessionid", "slotid", "sequenceid"):
        sent, seen = getattr(case.args, f"sa_{name}"), getattr(result, f"sr_{name}")
        if sent != seen:
            return Breach(f"{name} {_text(sent)}", f"{name} {_text(seen)}", f"sr_resok4.sr_{name}")
    return None


def _text(value: bytes | int) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


@rule("nfs4/getattr-asked", ATTRIBUTES_ASKED, of=(p.GETATTR,), killed_by="getattr4-adds-the-type")
def getattr_asked(case: Case) -> Breach | None:
    """GETATTR with attributes that the request does not name."""
    result = case.result.resok4 if case.result is not None else None
    if result is None or case.args is None:
        return None
    surplus = _surplus(result.obj_attributes, case.args.attr_request)
    return surplus and Breach("attributes that the request names", surplus, "resok4.obj_attributes")


@rule("nfs4/readdir-asked", ATTRIBUTES_ASKED, of=(p.READDIR,), killed_by="readdir4-adds-the-type")
def readdir_asked(case: Case) -> Breach | None:
    """READDIR with attributes that the request does not name."""
    result = case.result.resok4 if case.result is not None else None
    if result is None or case.args is None:
        return None
    for index, entry in enumerate(result.reply.entries):
        surplus = _surplus(entry.attrs, case.args.attr_request)
        if surplus:
            return Breach(
                "attributes that the request names", surplus, f"resok4.reply.entries[{index}].attrs"
            )
    return None


def _surplus(seen: p.Fattr4, asked: Iterable[int]) -> t.Any:
    """The names of attributes that the request does not name; None without any."""
    known = set(p.names_of(asked))
    names = [name for name in p.names_of(seen.attrmask) if name not in known]
    return ", ".join(names) or None


@rule("nfs4/access-asked", ACCESS_ASKED, of=(p.ACCESS,), killed_by="access4-supports-everything")
def access_asked(case: Case) -> Breach | None:
    """ACCESS with rights that the request does not name, or that it does not verify."""
    result = case.result.resok4 if case.result is not None else None
    if result is None or case.args is None:
        return None
    if result.supported & ~case.args.access:
        expected = f"no bits besides {case.args.access:#x}"
        return Breach(expected, f"supported {result.supported:#x}", "resok4.supported")
    if result.access & ~result.supported:
        expected = f"no bits besides {result.supported:#x}"
        return Breach(expected, f"access {result.access:#x}", "resok4.access")
    return None


@rule("nfs4/read-count", READ_UP_TO_COUNT, of=(p.READ,), killed_by="read4-returns-more")
def read_count(case: Case) -> Breach | None:
    """READ with more data than the request says."""
    result = case.result.resok4 if case.result is not None else None
    if result is None or case.args is None or len(result.data) <= case.args.count:
        return None
    return Breach(f"at most {case.args.count} bytes", f"{len(result.data)} bytes", "resok4.data")


@rule("nfs4/write-count", WRITE_UP_TO_COUNT, of=(p.WRITE,), killed_by="write4-reports-more-than-sent")
def write_count(case: Case) -> Breach | None:
    """WRITE that reports more bytes than were sent."""
    result = case.result.resok4 if case.result is not None else None
    if result is None or case.args is None or result.count <= len(case.args.data):
        return None
    return Breach(f"at most {len(case.args.data)}", f"count {result.count}", "resok4.count")


@rule("nfs4/committed", COMMITTED_AS_ASKED, of=(p.WRITE,), killed_by="write4-commits-nothing")
def committed(case: Case) -> Breach | None:
    """WRITE that commits less than the request says."""
    result = case.result.resok4 if case.result is not None else None
    if (
        result is None or case.args is None or not case.args.stable.is_known
    ):  # nobody knows what that asks for
        return None
    if int(result.committed) >= int(case.args.stable):
        return None
    return Breach(f"at least {case.args.stable.name}", result.committed.name, "resok4.committed")


@rule(
    "nfs4/change-info",
    ENTRIES_CHANGE_A_DIRECTORY,
    of=(p.CREATE, p.LINK, p.REMOVE),
    killed_by="create4-change-stands",
)
def change_info(case: Case) -> Breach | None:
    """An atomic change_info4 with the same change before and after the operation."""
    result = getattr(case.result, "resok4", None)
    if result is None or not result.cinfo.atomic or result.cinfo.before != result.cinfo.after:
        return None
    return Breach("another change after it", f"change {result.cinfo.after}", "resok4.cinfo.after")


@rule(
    "nfs4/session-sizes", SIZES_DO_NOT_GROW, of=(p.CREATE_SESSION,), killed_by="createsession4-doubles-sizes"
)
def session_sizes(case: Case) -> Breach | None:
    """CREATE_SESSION that grants larger sizes of the fore channel than the request says."""
    result = case.result.csr_resok4 if case.result is not None else None
    if result is None or case.args is None:
        return None
    asked, granted = case.args.csa_fore_chan_attrs, result.csr_fore_chan_attrs
    for name in _SIZES:
        most, seen = getattr(asked, name), getattr(granted, name)
        if seen > most:
            return Breach(f"at most {most}", f"{name} {seen}", f"csr_resok4.csr_fore_chan_attrs.{name}")
    return None


@rule(
    "nfs4/session-backchannel",
    BACKCHANNEL_STANDS,
    of=(p.CREATE_SESSION,),
    killed_by=("createsession4-halves-the-backchannel", "createsession4-doubles-back-sizes"),
)
def session_backchannel(case: Case) -> Breach | None:
    """CREATE_SESSION that grants another backchannel than the client offers."""
    result = case.result.csr_resok4 if case.result is not None else None
    if result is None or case.args is None:
        return None
    offered, granted = case.args.csa_back_chan_attrs, result.csr_back_chan_attrs
    path = "csr_resok4.csr_back_chan_attrs"
    for name in ("ca_maxoperations", "ca_maxrequests"):
        most, seen = getattr(offered, name), getattr(granted, name)
        if seen != most:
            return Breach(f"{name} {most}", f"{name} {seen}", f"{path}.{name}")
    for name in _SIZES:
        most, seen = getattr(offered, name), getattr(granted, name)
        if seen > most:
            return Breach(f"at most {most}", f"{name} {seen}", f"{path}.{name}")
    return None


@rule("nfs4/attrsset", ATTRSSET_IN_THE_REQUEST, of=(p.SETATTR,), killed_by="setattr4-says-that-all-was-set")
def attrsset(case: Case) -> Breach | None:
    """SETATTR that reports attributes as set that the request does not set."""
    if case.result is None or case.args is None:
        return None
    asked = set(p.names_of(case.args.obj_attributes.attrmask))
    surplus = ", ".join(name for name in p.names_of(case.result.attrsset) if name not in asked)
    return Breach("attributes of the request", surplus, "attrsset") if surplus else None


@rule("nfs4/readdir-cookies", COOKIES_RESERVED, of=(p.READDIR,), killed_by="readdir4-counts-cookies-from-one")
def readdir_cookies(case: Case) -> Breach | None:
    """READDIR with a reserved cookie."""
    result = case.result.resok4 if case.result is not None else None
    if result is None:
        return None
    for index, entry in enumerate(result.reply.entries):
        if entry.cookie <= 2:
            return Breach(
                "a cookie above 2", f"cookie {entry.cookie}", f"resok4.reply.entries[{index}].cookie"
            )
    return None
