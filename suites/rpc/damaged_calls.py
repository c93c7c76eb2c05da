# SPDX-License-Identifier: MIT
"""Valid arguments for every NFSv3 procedure on objects of a scratch directory, and malformed versions of them."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

from fixtures.raw import PROC_UNAVAIL, SUCCESS, Said, Wire
from fixtures.scratch import Scratch
from nfsclient.protocol import nfs3 as v3
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType
from nfsclient.xdr.malform import Malformation, malformations
from nfsjudge import skip, unsupported

AnyProcedure: t.TypeAlias = Procedure[t.Any, t.Any]
Make: t.TypeAlias = Callable[[Scratch, bytes], XdrType]
NAME = b"a name"
"""Its length is not a multiple of four, so XDR pads it."""


def where(scratch: Scratch, name: bytes) -> v3.Diropargs3:
    """The arguments that name an entry of the scratch directory."""
    return v3.Diropargs3(scratch.handle, name)


def _named(scratch: Scratch, name: bytes, make: Callable[[bytes], bytes]) -> v3.Diropargs3:
    make(name)
    return where(scratch, name)


MODE = v3.Sattr3(mode=0o644)
ARGUMENTS: t.Final[dict[AnyProcedure, Make]] = {
    v3.GETATTR: lambda s, _: v3.Getattr3Args(s.handle),
    v3.SETATTR: lambda s, n: v3.Setattr3Args(s.file(n), v3.Sattr3(mode=0o600)),
    v3.LOOKUP: lambda s, n: v3.Lookup3Args(_named(s, n, s.file)),
    v3.ACCESS: lambda s, _: v3.Access3Args(s.handle, 0x3F),
    v3.READLINK: lambda s, n: v3.Readlink3Args(s.symlink(n, b"text")),
    v3.READ: lambda s, n: v3.Read3Args(s.file(n, b"data"), 0, 100),
    v3.WRITE: lambda s, n: v3.Write3Args(s.file(n), 0, 6, v3.StableHow.FILE_SYNC, b"abcdef"),
    v3.CREATE: lambda s, n: v3.Create3Args(where(s, n), v3.Createhow3(v3.CreateMode3.GUARDED, MODE)),
    v3.MKDIR: lambda s, n: v3.Mkdir3Args(where(s, n), MODE),
    v3.SYMLINK: lambda s, n: v3.Symlink3Args(where(s, n), v3.Symlinkdata3(MODE, b"target")),
    v3.MKNOD: lambda s, n: v3.Mknod3Args(where(s, n), v3.Mknoddata3(v3.Ftype3.NF3FIFO, pipe_attributes=MODE)),
    v3.REMOVE: lambda s, n: v3.Remove3Args(_named(s, n, s.file)),
    v3.RMDIR: lambda s, n: v3.Rmdir3Args(_named(s, n, s.directory)),
    v3.RENAME: lambda s, n: v3.Rename3Args(_named(s, n, s.file), where(s, n + b" 2")),
    v3.LINK: lambda s, n: v3.Link3Args(s.file(n), where(s, n + b" 2")),
    v3.READDIR: lambda s, _: v3.Readdir3Args(s.handle, 0, bytes(8), 4096),
    v3.READDIRPLUS: lambda s, _: v3.Readdirplus3Args(s.handle, 0, bytes(8), 4096, 8192),
    v3.FSSTAT: lambda s, _: v3.Fsstat3Args(s.handle),
    v3.FSINFO: lambda s, _: v3.Fsinfo3Args(s.handle),
    v3.PATHCONF: lambda s, _: v3.Pathconf3Args(s.handle),
    v3.COMMIT: lambda s, n: v3.Commit3Args(s.file(n), 0, 0),
}
"""Procedure -> a function that creates the objects the call needs and returns arguments that succeed once."""


def succeeded(procedure: AnyProcedure, said: Said) -> bool:
    """Whether the reply reports success. Raises `XdrError` if the results do not decode."""
    return said.outcome == SUCCESS and said.decode(procedure.res).status == v3.Nfsstat3.NFS3_OK


def need(procedure: AnyProcedure, said: Said) -> None:
    """End the check unless the procedure succeeds with valid arguments."""
    if said.outcome == PROC_UNAVAIL:
        unsupported(f"the server does not have {procedure.name}")
    if said.outcome != SUCCESS:
        skip(f"{procedure.name} with good arguments is answered {said.outcome}")
    status = said.decode(procedure.res).status
    if status == v3.Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported(f"the server answers NOTSUPP to {procedure.name}")
    if status != v3.Nfsstat3.NFS3_OK:
        skip(f"{procedure.name} with good arguments answers {status}")


def truncated_encodings(args: XdrType) -> Iterator[Malformation]:
    """Truncated encodings of `args`. Those that lack only zero padding in the last word are left out."""
    whole = args.to_xdr()
    for each in malformations(args):
        missing = whole[len(each.data) :]
        if each.flaw == "truncated" and (len(missing) > 3 or any(missing)):
            yield each


def oversized_lengths(args: XdrType) -> Iterator[Malformation]:
    """Encodings of `args` with a length that exceeds the bytes present, or the limit of its type."""
    return (each for each in malformations(args) if each.flaw in {"length", "limit"})


def executed_calls(
    connect: Callable[[], Wire], procedure: AnyProcedure, malformed: Iterator[Malformation]
) -> list[str]:
    """The flaws of those malformed calls that succeeded. Reconnects when the server closes the connection."""
    executed = []
    peer = connect()
    for each in malformed:
        if not peer.client.is_open:
            peer = connect()
        said = peer.attempt(peer.make(procedure.number, each.data).message())
        if succeeded(procedure, said):
            executed.append(f"{each.flaw} {each.path}")
    return executed
