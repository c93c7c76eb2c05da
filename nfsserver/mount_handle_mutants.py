# SPDX-License-Identifier: MIT
"""Mutants of the handles that MNT gives, and of whom MOUNT serves."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import (
    FHSIZE,
    MNT1,
    MNT2,
    MNT3,
    NULL1,
    NULL2,
    NULL3,
    PROGRAM,
    UMNT3,
    UMNTALL3,
    DirpathArgs,
    Mnt1Res,
    Mnt3Res,
    MountStat1,
    MountStat3,
)
from nfsclient.rpc.auth import AuthNone, AuthSys
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.service import CallContext, Refused
from nfsclient.xdr import Void, replace
from nfsserver.mount_path_mutants import Res, gives
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant

if t.TYPE_CHECKING:
    from nfsserver.fs import Inode
    from nfsserver.server import Server

_MNT = "RFC 1813 section 5.2.1"
_MNT1 = "RFC 1094 section A.5.2"
_RESULTS = 24
"""Where the results begin in a reply with an empty verifier."""


def _word(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _is_call(message: bytes, procedure: int, versions: t.Collection[int]) -> bool:
    starts = {_word(PROGRAM) + _word(version) + _word(procedure) for version in versions}
    return message[12:24] in starts


def _is_fourth(server: Server, name: str) -> bool:
    """Whether this is the fourth call that the mutant sees: most who mount do so less often."""
    state = server.mutant_state(name)
    state["calls"] = state.get("calls", 0) + 1
    return bool(state["calls"] == 4)


def _another_directory(server: Server, context: CallContext) -> Inode | None:
    entries = server.fs.readdir(server.caller(context), server.fs.root, 0)
    below = [entry.inode for entry in entries if entry.name not in {b".", b".."}]
    return next((inode for inode in below if inode.directory is not None), None)


# ---------------------------------------------------------------- handles


@mutant(
    "mnt1-gives-an-unusable-handle",
    bends=(MNT1, MNT2),
    breaks=_MNT1,
    gist="the fourth MNT of versions 1 and 2 gives a handle that no procedure takes",
)
def mnt1_gives_an_unusable_handle(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt1Res]
) -> Mnt1Res:
    """Make one up."""
    reply = proceed(context, args)
    if reply.directory is None or not _is_fourth(server, "mnt1-gives-an-unusable-handle"):
        return reply
    return Mnt1Res(MountStat1.OK, b"x" * FHSIZE)


@mutant(
    "mnt1-mounts-another-directory",
    bends=(MNT1, MNT2),
    breaks=_MNT1,
    gist="the fourth MNT of versions 1 and 2 gives the first directory in the export instead of the export",
)
def mnt1_mounts_another_directory(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """Alternate."""
    reply = proceed(context, args)
    other = _another_directory(server, context)
    is_bent = _is_fourth(server, "mnt1-mounts-another-directory") and other is not None
    return gives(server, context, other) if is_bent and other is not None else reply


@mutant(
    "mnt2-mounts-what-is-not-there",
    bends=MNT2,
    breaks=_MNT1,
    gist="MNT of version 2 answers an unknown path with the handle of the first export",
)
def mnt2_mounts_what_is_not_there(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt1Res]
) -> Mnt1Res:
    """Turn a refusal into success."""
    reply = proceed(context, args)
    is_unknown = args.dirpath.endswith(b"/nfsproof-never-made-this")
    return Mnt1Res(MountStat1.OK, server.handle_of(server.fs.root)) if is_unknown else reply


@wire_mutant(
    "mnt1-gives-64-bytes",
    breaks="RFC 1094 section A.4.1",
    gist="MNT of versions 1 and 2 gives the fourth time a handle of 64 bytes",
)
def mnt1_gives_64_bytes(server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Put as many again behind it."""
    reply = proceed(message)
    if reply is None or not _is_call(message, MNT1.number, (1, 2)):
        return reply
    whole = b"".join(reply)
    return [whole + bytes(FHSIZE)] if _is_fourth(server, "mnt1-gives-64-bytes") else [whole]


@wire_mutant(
    "mnt3-gives-72-bytes",
    breaks="RFC 1813 section 5.1.5",
    gist="MNT of version 3 gives the fourth time a handle of 72 bytes",
)
def mnt3_gives_72_bytes(server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Lengthen it with zeros."""
    reply = proceed(message)
    if reply is None or not _is_call(message, MNT3.number, (3,)):
        return reply
    whole = b"".join(reply)
    if whole[_RESULTS : _RESULTS + 4] != bytes(4) or not _is_fourth(server, "mnt3-gives-72-bytes"):
        return [whole]
    at = _RESULTS + 8
    length = int.from_bytes(whole[at - 4 : at], "big")
    handle = whole[at : at + length].ljust(72, b"\0")
    return [whole[: at - 4] + _word(72) + handle + whole[at + length :]]


@mutant(
    "mnt3-names-a-flavor-that-is-refused",
    bends=MNT3,
    breaks=_MNT,
    gist="MNT names AUTH_NONE as well, which NFS does not take",
)
def mnt3_names_a_flavor_that_is_refused(
    _server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Name one more."""
    reply = proceed(context, args)
    if reply.mountinfo is None:
        return reply
    return replace(reply, mountinfo=replace(reply.mountinfo, auth_flavors=[1, 0]))


# ---------------------------------------------------------------- who is served


def _null_returns_a_word(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    reply = proceed(message)
    return [*reply, bytes(4)] if reply is not None and _is_call(message, NULL1.number, (1, 2)) else reply


wire_mutant(
    "mount1-null-returns-results",
    breaks="RFC 1094 section A.5.1",
    gist="NULL of versions 1 and 2 returns a word where there are no results",
)(_null_returns_a_word)


@mutant(
    "mount-null-asks-who-calls",
    bends=(NULL1, NULL2, NULL3),
    breaks="RFC 1813 section 5.1.1",
    gist="NULL of MOUNT refuses AUTH_NONE",
)
def mount_null_asks_who_calls(
    _server: Server, context: CallContext, args: Void, proceed: Proceed[Void, Void]
) -> Void:
    """Refuse it."""
    if isinstance(context.credential, AuthNone):
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    return proceed(context, args)


@mutant(
    "mount3-serves-nobody",
    bends=(MNT3, UMNT3, UMNTALL3),
    breaks=_MNT,
    gist="MNT, UMNT and UMNTALL of version 3 take AUTH_NONE",
)
def mount3_serves_nobody(
    _server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Give the caller a name."""
    if isinstance(context.credential, AuthNone):
        context.credential = AuthSys(65534, 65534)
    return proceed(context, args)


@mutant(
    "mnt3-blames-input-and-output",
    bends=MNT3,
    breaks="RFC 1813 section 5.1.5",
    gist="MNT answers IO where permission is denied",
)
def mnt3_blames_input_and_output(
    _server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Take another status."""
    reply = proceed(context, args)
    is_denied = reply.fhs_status == MountStat3.MNT3ERR_ACCES
    return Mnt3Res(MountStat3.MNT3ERR_IO) if is_denied else reply


# ---------------------------------------------------------------- UDP


@mutant(
    "mnt-refuses-over-udp",
    bends=(MNT1, MNT2, MNT3),
    breaks="RFC 1813 section 5.1.3",
    gist="MNT over UDP answers that permission is denied",
)
def mnt_refuses_over_udp(
    _server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """Take the transport for a reason."""
    if context.transport != "udp":
        return proceed(context, args)
    denied = MountStat3.MNT3ERR_ACCES
    return Mnt3Res(denied) if context.version == 3 else Mnt1Res(MountStat1(int(denied)))


@mutant(
    "mnt-gives-another-directory-over-udp",
    bends=(MNT1, MNT2, MNT3),
    breaks="RFC 1813 section 5.1.3",
    gist="MNT over UDP gives the first directory in the export instead of the export",
)
def mnt_gives_another_directory_over_udp(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Res]
) -> Res:
    """Take the next one."""
    other = _another_directory(server, context) if context.transport == "udp" else None
    return proceed(context, args) if other is None else gives(server, context, other)
