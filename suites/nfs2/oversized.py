# SPDX-License-Identifier: MIT
"""Calls above the limits of RFC 1094 section 3.5: names, link texts and data of any length.

A server may refuse such a call in any way, or execute it; see `attempt`. It may also close the connection, so use
a connection that the check does not need afterwards: `second_nfs2`.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.clients import Nfs2
from nfsclient.protocol import nfs2 as p
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Buffer, Bulk, Case, String, Struct, Union, XdrType, u32
from suites.replies import reply_or_none

AnyName = t.Annotated[bytes, String()]
AnyData = t.Annotated[Buffer, Bulk()]
A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)
T = t.TypeVar("T")


class WideDiropargs(Struct):
    """diropargs with a name of any length."""

    dir: p.Fhandle
    name: AnyName


class WideCreateargs(Struct):
    """createargs with a name of any length."""

    where: WideDiropargs
    attributes: p.Sattr


class WideSymlinkargs(Struct):
    """symlinkargs with a link text of any length."""

    from_: WideDiropargs
    to: AnyName
    attributes: p.Sattr


class WideReadlinkres(Union):
    """readlinkres with a link text of any length."""

    status: p.Nfsstat2
    data: t.Annotated[AnyName | None, Case(p.Nfsstat2.NFS_OK)] = None
    __void_default__ = True


class WideWriteargs(Struct):
    """writeargs with data of any length."""

    file: p.Fhandle
    beginoffset: u32
    offset: u32
    totalcount: u32
    data: AnyData


class WideReadok(Struct):
    """readok with data of any length."""

    attributes: p.Fattr
    data: AnyData


class WideReadres(Union):
    """readres with data of any length."""

    status: p.Nfsstat2
    readok: t.Annotated[WideReadok | None, Case(p.Nfsstat2.NFS_OK)] = None
    __void_default__ = True

    @property
    def resok(self) -> WideReadok | None:
        """The result of a successful READ, under the name that `expect` uses."""
        return self.readok


def _like(procedure: Procedure[t.Any, t.Any], args: type[A], res: type[R]) -> Procedure[A, R]:
    return Procedure(p.PROGRAM, p.VERSION, procedure.number, procedure.name, args, res)


LOOKUP = _like(p.LOOKUP, WideDiropargs, p.Diropres)
CREATE = _like(p.CREATE, WideCreateargs, p.Diropres)
MKDIR = _like(p.MKDIR, WideCreateargs, p.Diropres)
REMOVE = _like(p.REMOVE, WideDiropargs, p.StatRes)
RMDIR = _like(p.RMDIR, WideDiropargs, p.StatRes)
SYMLINK = _like(p.SYMLINK, WideSymlinkargs, p.StatRes)
READLINK = _like(p.READLINK, p.FhandleArgs, WideReadlinkres)
READ = _like(p.READ, p.Readargs, WideReadres)
WRITE = _like(p.WRITE, WideWriteargs, p.Attrstat)


def tolerate(act: Callable[[], T]) -> T | None:
    """Make a call that the server may reject as malformed; return the reply, or None as `attempt` does."""
    return reply_or_none(act, "answer")


def attempt(nfs2: Nfs2, procedure: Procedure[A, R], args: A) -> R | None:
    """Return the reply, or None if the server rejected the call as garbage, dropped it or closed the connection."""
    return tolerate(lambda: nfs2.call(procedure, args))
