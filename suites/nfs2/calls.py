# SPDX-License-Identifier: MIT
"""The catalogue: one call of each procedure of NFSv2 with arguments, in the order of RFC 1094 section 2.2.

`CALLS["create"].arranged(scratch, b"name")` creates what a call needs and returns arguments that succeed; with
`Operands` a check says itself which handles and names a call gets. `names.Directories` adds names with it.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2 as p
from nfsclient.protocol.nfs2 import Diropargs, Nfsstat2, Sattr
from suites.catalogue import Call, Operands, by_name

_EXIST: t.Final = (Nfsstat2.NFSERR_EXIST,)
_NOENT: t.Final = (Nfsstat2.NFSERR_NOENT,)


def _entry(on: Operands) -> Diropargs:
    return Diropargs(on.directory, on.name)


def _target(on: Operands) -> Diropargs:
    return Diropargs(on.to_directory, on.to_name)


def _attributes(on: Operands, mode: int) -> Sattr:
    return Sattr(mode=mode) if on.attributes is None else t.cast("Sattr", on.attributes)


CALLS: t.Final = by_name(
    Call(p.GETATTR, lambda on: p.FhandleArgs(on.object), "file"),
    Call(p.SETATTR, lambda on: p.Sattrargs(on.object, _attributes(on, 0o600)), "file"),
    Call(p.LOOKUP, _entry, "file"),
    Call(p.READLINK, lambda on: p.FhandleArgs(on.object), "symlink"),
    Call(p.READ, lambda on: p.Readargs(on.object, 0, 100, 0), "file"),
    Call(p.WRITE, lambda on: p.Writeargs(on.object, 0, 0, 0, b"abcdef"), "file"),
    # CREATE may open an existing file, so it succeeds again.
    Call(p.CREATE, lambda on: p.Createargs(_entry(on), _attributes(on, 0o644))),
    Call(p.REMOVE, _entry, "file", (), _NOENT),
    Call(p.RENAME, lambda on: p.Renameargs(_entry(on), _target(on)), "file", ("to_name",), _NOENT),
    Call(p.LINK, lambda on: p.Linkargs(on.object, _target(on)), "file", ("name", "to_name"), _EXIST),
    Call(p.SYMLINK, lambda on: p.Symlinkargs(_entry(on), b"target", _attributes(on, 0o777)), again=_EXIST),
    Call(p.MKDIR, lambda on: p.Createargs(_entry(on), _attributes(on, 0o755)), again=_EXIST),
    Call(p.RMDIR, _entry, "directory", (), _NOENT),
    Call(p.READDIR, lambda on: p.Readdirargs(on.object, bytes(p.COOKIESIZE), 4096), "directory"),
    Call(p.STATFS, lambda on: p.FhandleArgs(on.object), "directory"),
)
