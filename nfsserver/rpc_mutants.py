# SPDX-License-Identifier: MIT
"""Mutants of RPC messages: headers, refusals, XIDs, verifiers. Those of what lies below are in `transport_mutants`."""

from __future__ import annotations

import struct
import typing as t

from nfsclient.errors import XdrError
from nfsclient.protocol import mount, nfs3
from nfsclient.rpc.messages import AcceptStat as Accept
from nfsclient.rpc.messages import AuthFlavor, CallHeader, MismatchInfo, ReplyHeader, accepted, denied
from nfsserver.mutants import Answer, ProceedWire, wire_mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_SECTION_8 = "RFC 1831 section 8"
_SECTION_7_1 = "RFC 1831 section 7.1"
_SIX = struct.Struct(">IIIIII")
_ENDS = frozenset({0, 2**31 - 1, 2**31, 2**32 - 1})
_HEADER = 40
"""Bytes of a call without credential, verifier and arguments in them."""


def head_of(message: bytes) -> tuple[int, int, int, int, int, int]:
    """xid, mtype, rpcvers, prog, vers, proc; zeros for what is not there."""
    xid, mtype, rpcvers, prog, vers, proc = _SIX.unpack(message[: _SIX.size].ljust(_SIX.size, b"\0"))
    return xid, mtype, rpcvers, prog, vers, proc


def with_word(message: bytes, index: int, value: int) -> bytes:
    """A message with one of its words replaced."""
    return message[: 4 * index] + value.to_bytes(4, "big") + message[4 * index + 4 :]


@wire_mutant(
    "rpc-bends-xids-at-the-ends",
    only_raw=True,
    breaks=_SECTION_8,
    gist="The XIDs 0, 2^31-1, 2^31 and 2^32-1 come back as others",
)
def rpc_bends_xids_at_the_ends(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Answer as if the xid were the next one."""
    xid = head_of(message)[0]
    return proceed(with_word(message, 0, xid ^ 1) if xid in _ENDS and len(message) >= _HEADER else message)


@wire_mutant(
    "rpc-ignores-falling-xids",
    only_raw=True,
    breaks=_SECTION_8,
    gist="XIDs are taken for sequence numbers: a call with XID 4 after one with XID 5 is refused",
)
def rpc_ignores_falling_xids(server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Remember the last xid."""
    state = server.mutant_state("rpc-ignores-falling-xids")
    xid, last = head_of(message)[0], state.get("last")
    state["last"] = xid
    if (last, xid) == (5, 4):
        return accepted(xid, Accept.SYSTEM_ERR).to_buffers()
    return proceed(message)


@wire_mutant(
    "rpc-takes-any-rpc-version",
    only_raw=True,
    breaks=_SECTION_8,
    gist="Calls of another RPC version are executed",
)
def rpc_takes_any_rpc_version(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Say 2 instead."""
    return proceed(with_word(message, 2, 2) if len(message) >= _HEADER else message)


@wire_mutant(
    "rpc-drops-another-rpc-version",
    only_raw=True,
    breaks="RFC 1831 section 7",
    gist="Calls of another RPC version are dropped without a word",
)
def rpc_drops_another_rpc_version(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Silence."""
    return proceed(message) if head_of(message)[2] == 2 else None


@wire_mutant(
    "rpc-names-wrong-rpc-versions",
    only_raw=True,
    breaks=_SECTION_8,
    gist="RPC_MISMATCH says that the versions are 0 to 1",
)
def rpc_names_wrong_rpc_versions(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Another range."""
    xid, mtype, rpcvers, *_ = head_of(message)
    if mtype == 0 and rpcvers != 2 and len(message) >= _HEADER:
        return denied(xid, mismatch=MismatchInfo(0, 1)).to_buffers()
    return proceed(message)


@wire_mutant(
    "rpc-takes-unknown-programs-for-nfs",
    only_raw=True,
    breaks=_SECTION_7_1,
    gist="A call of a program that is not served is answered as one of NFS",
)
def rpc_takes_unknown_programs_for_nfs(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Change the program."""
    unknown = len(message) >= _HEADER and head_of(message)[3] not in range(100_000, 100_100)
    return proceed(with_word(message, 3, nfs3.NFS3.number) if unknown else message)


@wire_mutant(
    "rpc-has-no-program-in-unknown-versions",
    only_raw=True,
    breaks=_SECTION_7_1,
    gist="A version of NFS or MOUNT that is not served is answered PROG_UNAVAIL",
)
def rpc_has_no_program_in_unknown_versions(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Take the version for the program."""
    xid, _, _, prog, vers, _ = head_of(message)
    if prog in {nfs3.NFS3.number, mount.PROGRAM} and vers not in range(1, 10) and len(message) >= _HEADER:
        return accepted(xid, Accept.PROG_UNAVAIL).to_buffers()
    return proceed(message)


@wire_mutant(
    "rpc-swaps-the-versions-of-a-mismatch",
    only_raw=True,
    breaks=_SECTION_8,
    gist="PROG_MISMATCH says that the lowest version is 4 and the highest 1",
)
def rpc_swaps_the_versions_of_a_mismatch(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """The wrong way round, and apart, so that no version lies between."""
    xid, _, _, prog, vers, _ = head_of(message)
    known = {nfs3.NFS3.number, mount.PROGRAM}
    if prog in known and vers not in range(1, 10) and len(message) >= _HEADER:
        return accepted(xid, Accept.PROG_MISMATCH, MismatchInfo(4, 1)).to_buffers()
    return proceed(message)


@wire_mutant(
    "rpc-takes-unknown-procedures-for-null",
    only_raw=True,
    breaks=_SECTION_7_1,
    gist="A procedure number that NFS does not have is answered as NULL",
)
def rpc_takes_unknown_procedures_for_null(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Change the number."""
    _, _, _, prog, vers, proc = head_of(message)
    beyond = proc > 21 or (vers == 2 and proc > 17)
    return proceed(with_word(message, 5, 0) if prog == nfs3.NFS3.number and beyond else message)


@wire_mutant(
    "mount3-takes-unknown-procedures-for-null",
    only_raw=True,
    breaks=_SECTION_7_1,
    gist="A procedure number that MOUNT version 3 does not have is answered as NULL",
)
def mount3_takes_unknown_procedures_for_null(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Change the number."""
    _, _, _, prog, vers, proc = head_of(message)
    beyond = prog == mount.PROGRAM and vers == 3 and proc > 5
    return proceed(with_word(message, 5, 0) if beyond else message)


def _reverified(message: bytes, flavor: AuthFlavor, body: bytes, proceed: ProceedWire) -> Answer:
    """The answer with another verifier."""
    reply = proceed(message)
    if reply is None:
        return None
    data = b"".join(reply)
    try:
        header, end = ReplyHeader.unpack_from(data)
    except XdrError:
        return [data]
    if header.body.areply is not None:
        header.body.areply.verf.flavor, header.body.areply.verf.body = flavor, body
    return [*header.to_buffers(), data[end:]]


def _is_null(message: bytes, flavor: int) -> bool:
    """Whether a message is a NULL of NFS version 3 with this flavour of credential."""
    _, mtype, _, prog, vers, proc = head_of(message)
    called = (mtype, prog, vers, proc) == (0, nfs3.NFS3.number, 3, 0)
    return called and message[24:28] == flavor.to_bytes(4, "big")


@wire_mutant(
    "rpc-verifies-with-auth-sys",
    breaks="RFC 1831 appendix A",
    gist="The reply to a NULL with AUTH_SYS has a verifier of flavour AUTH_SYS",
)
def rpc_verifies_with_auth_sys(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Echo the flavour of the caller."""
    if _is_null(message, AuthFlavor.AUTH_SYS):
        return _reverified(message, AuthFlavor.AUTH_SYS, b"", proceed)
    return proceed(message)


@wire_mutant(
    "rpc-gives-a-shorthand-to-nobody",
    breaks="RFC 1831 section 9.1",
    gist="The reply to a NULL with AUTH_NONE has a verifier of flavour AUTH_SHORT",
)
def rpc_gives_a_shorthand_to_nobody(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """A shorthand for nothing."""
    if _is_null(message, AuthFlavor.AUTH_NONE):
        return _reverified(message, AuthFlavor.AUTH_SHORT, b"shorthand", proceed)
    return proceed(message)


@wire_mutant(
    "rpc-answers-replies",
    only_raw=True,
    breaks=_SECTION_8,
    gist="A reply that is sent to the server is answered",
)
def rpc_answers_replies(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """With a refusal."""
    xid, mtype, *_ = head_of(message)
    return accepted(xid, Accept.GARBAGE_ARGS).to_buffers() if mtype == 1 else proceed(message)


@wire_mutant(
    "rpc-fills-up-short-headers",
    only_raw=True,
    breaks=_SECTION_8,
    gist="What a header is short of is filled up with that of a NULL",
)
def rpc_fills_up_short_headers(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """A buffer that is not cleared."""
    if 8 <= len(message) < _HEADER and head_of(message)[1] == 0:
        null = struct.pack(">10I", 0, 0, 2, nfs3.NFS3.number, 3, 0, 0, 0, 0, 0)
        return proceed(message + null[len(message) :])
    return proceed(message)


def header_of(message: bytes) -> tuple[CallHeader, int] | None:
    """The whole header of a call and where its arguments begin; None where it does not decode."""
    try:
        return CallHeader.unpack_from(message)
    except XdrError:
        return None
