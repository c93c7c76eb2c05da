# SPDX-License-Identifier: MIT
"""Knobs that change what operations of NFSv4 answer: short READ and WRITE, commitment above the request, DELAY."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Buffer, replace
from nfsserver.deciding import Name, accepted, accepts_less, comes_too_early, is_early, place_of
from nfsserver.freedom import Freedom, decided_by_call
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Proceed
from nfsserver.nfs4.common import compound_of, failed

_BEFORE: t.Final = (
    *(p.SEQUENCE, p.PUTFH, p.PUTROOTFH, p.PUTPUBFH, p.SAVEFH, p.RESTOREFH, p.GETFH),
    *(p.LOOKUP, p.LOOKUPP),
)
"""Operations after which nothing of the compound has been done yet."""
_DELAYED: t.Final = (
    *(
        p.ACCESS,
        p.COMMIT,
        p.CREATE,
        p.GETATTR,
        p.LINK,
        p.LOOKUP,
        p.OPEN,
        p.READ,
        p.READDIR,
        p.READLINK,
        p.REMOVE,
    ),
    *(p.RENAME, p.SETATTR, p.WRITE),
)
"""They name an object, or need it; each may answer DELAY (RFC 5661 section 15.2)."""
_LISTED: t.Final = tuple(
    operation
    for operation in p.OPERATIONS
    if operation.is_in(2)
    and Nfsstat4.NFS4ERR_DELAY in p.errors.listed_errors(operation.name, 2 if not operation.is_in(1) else 1)
)
"""The operations that have DELAY among their valid errors (RFC 5661 section 15.2, RFC 7862 section 11.2)."""


def accept_less(
    server: ServerApi, context: CallContext, args: p.Write4Args, proceed: Proceed[p.Write4Args, p.Write4Res]
) -> p.Write4Res:
    """WRITE as if only the beginning had been sent (section 18.32.3)."""
    taken = accepted(server, len(args.data))
    if taken == len(args.data):
        return proceed(context, args)
    return proceed(context, replace(args, data=memoryview(args.data)[:taken]))


def commit_always(
    _server: ServerApi, context: CallContext, args: p.Write4Args, proceed: Proceed[p.Write4Args, p.Write4Res]
) -> p.Write4Res:
    """WRITE as if FILE_SYNC4 had been requested. An undefined stable_how stays what it is."""
    if not args.stable.is_known:
        return proceed(context, args)
    return proceed(context, replace(args, stable=p.StableHow4.FILE_SYNC4))


def return_less(
    server: ServerApi, context: CallContext, args: p.Read4Args, proceed: Proceed[p.Read4Args, p.Read4Res]
) -> p.Read4Res:
    """READ as if less had been asked for (section 18.22.3)."""
    most = server.knobs.now.read_returns or args.count
    return proceed(context, replace(args, count=min(args.count, most)))


def delay(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """DELAY for the first calls about a file, or for a while: as long as the compound has done nothing."""
    now, compound = server.knobs.now, compound_of(context)
    done = [p.operation_of(operation) for operation in compound.operations[: compound.index]]
    if not (now.jukebox_calls or now.jukebox_seconds) or any(operation not in _BEFORE for operation in done):
        return proceed(context, args)
    early = [is_early(server, place) for place in _places(context, args)]  # all of them are counted
    if any(early):
        return failed(p.operation_of(args), Nfsstat4.NFS4ERR_DELAY)
    return proceed(context, args)


def try_again(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """DELAY for the first tries of an operation, wherever it is in its compound.

    SEQUENCE that answers it leaves its slot as it was; after any other operation the client needs a new request.
    """
    compound, operation = compound_of(context), p.operation_of(args)
    parts: list[Buffer] = []
    args.pack(parts)
    about = (compound.handle, compound.current and compound.current.fileid, compound.saved_handle)
    if comes_too_early(server, operation.name, about, b"".join(parts)):
        return failed(operation, Nfsstat4.NFS4ERR_DELAY)
    return proceed(context, args)


def _places(context: CallContext, args: t.Any) -> Iterator[Name]:
    """The files that an operation is about: the current one, the saved one of LINK, and those that it names."""
    compound = compound_of(context)
    here, saved = compound.current, compound.saved
    if here is not None:
        yield place_of(here)
    if isinstance(args, p.Link4Args) and saved is not None:
        yield place_of(saved)
    if isinstance(args, p.Open4Args):
        names = [(here, args.claim.file)]
    else:
        names = [(here, getattr(args, name, None)) for name in ("objname", "target", "newname")]
        names.append((saved, getattr(args, "oldname", None)))
    for directory, name in names:
        if directory is not None and isinstance(name, bytes):
            yield directory.fileid, directory.generation, name


FREEDOMS: t.Final = (
    Freedom(
        (p.WRITE,),
        ("write_accepts", "write_accepts_random"),
        accept_less,
        of_call=lambda _, args: [len(args.data)],
        of_reply=decided_by_call,
        differs=accepts_less,
    ),
    Freedom((p.WRITE,), ("always_commits",), commit_always),
    Freedom(
        (p.READ,),
        ("read_returns",),
        return_less,
        of_reply=lambda reply: [len(reply.resok4.data) if reply.resok4 is not None else 0],
        differs=lambda now, size: size > now.read_returns,
    ),
    Freedom(
        _DELAYED,
        ("jukebox_calls", "jukebox_seconds", "jukebox_names"),
        delay,
        differs=lambda now, _: bool(now.jukebox_calls or now.jukebox_seconds),
    ),
    Freedom(_LISTED, ("jukebox_tries", "jukebox_tries_random"), try_again),
)
"""The innermost first."""
