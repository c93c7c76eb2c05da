# SPDX-License-Identifier: MIT
"""The catalogue: one call of each procedure of NFSv3 except NULL, in the order of RFC 1813 section 3.3.

Checks that make a call of many procedures take it from here:

- `call_on(nfs3, "read", handle)` passes a given handle, which may be invalid or of another type,
- `place.call(nfs3, "mkdir", b"name")` uses or creates a name in the directory of a `Place`,
- `CALLS["create"].arranged(scratch, b"name")` creates what the call needs and returns arguments that succeed.

The tuples below the catalogue select from it.
"""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol import nfs3 as p
from nfsclient.protocol.nfs3 import Diropargs3, Nfsstat3, Sattr3, StableHow
from suites.catalogue import Call, Operands, by_name

_EXIST: t.Final = (Nfsstat3.NFS3ERR_EXIST,)
_NOENT: t.Final = (Nfsstat3.NFS3ERR_NOENT,)


def _entry(on: Operands) -> Diropargs3:
    return Diropargs3(on.directory, on.name)


def _target(on: Operands) -> Diropargs3:
    return Diropargs3(on.to_directory, on.to_name)


def _attributes(on: Operands, mode: int) -> Sattr3:
    return Sattr3(mode=mode) if on.attributes is None else t.cast("Sattr3", on.attributes)


def create_arguments(on: Operands, mode: p.CreateMode3) -> p.Create3Args:
    """The arguments of CREATE in the modes UNCHECKED and GUARDED."""
    return p.Create3Args(_entry(on), p.Createhow3(mode, obj_attributes=_attributes(on, 0o644)))


def _fifo(on: Operands) -> p.Mknoddata3:
    return p.Mknoddata3(p.Ftype3.NF3FIFO, pipe_attributes=_attributes(on, 0o644))


CALLS: t.Final = by_name(
    Call(p.GETATTR, lambda on: p.Getattr3Args(on.object), "file"),
    Call(p.SETATTR, lambda on: p.Setattr3Args(on.object, _attributes(on, 0o600)), "file"),
    Call(p.LOOKUP, lambda on: p.Lookup3Args(_entry(on)), "file"),
    Call(p.ACCESS, lambda on: p.Access3Args(on.object, 0x3F), "file"),
    Call(p.READLINK, lambda on: p.Readlink3Args(on.object), "symlink"),
    Call(p.READ, lambda on: p.Read3Args(on.object, 0, 100), "file"),
    # After the data of the file that `arranged` creates: however few bytes the server accepts, the size changes.
    Call(p.WRITE, lambda on: p.Write3Args(on.object, 4, 6, StableHow.FILE_SYNC, b"abcdef"), "file"),
    Call(p.CREATE, lambda on: create_arguments(on, p.CreateMode3.GUARDED), again=_EXIST),
    Call(p.MKDIR, lambda on: p.Mkdir3Args(_entry(on), _attributes(on, 0o755)), again=_EXIST),
    Call(
        p.SYMLINK,
        lambda on: p.Symlink3Args(_entry(on), p.Symlinkdata3(_attributes(on, 0o777), b"target")),
        again=_EXIST,
    ),
    Call(p.MKNOD, lambda on: p.Mknod3Args(_entry(on), _fifo(on)), again=_EXIST),
    Call(p.REMOVE, lambda on: p.Remove3Args(_entry(on)), "file", (), _NOENT),
    Call(p.RMDIR, lambda on: p.Rmdir3Args(_entry(on)), "directory", (), _NOENT),
    Call(p.RENAME, lambda on: p.Rename3Args(_entry(on), _target(on)), "file", ("to_name",), _NOENT),
    Call(p.LINK, lambda on: p.Link3Args(on.object, _target(on)), "file", ("name", "to_name"), _EXIST),
    Call(p.READDIR, lambda on: p.Readdir3Args(on.object, 0, bytes(8), 4096), "directory"),
    Call(p.READDIRPLUS, lambda on: p.Readdirplus3Args(on.object, 0, bytes(8), 4096, 8192), "directory"),
    Call(p.FSSTAT, lambda on: p.Fsstat3Args(on.object), "directory"),
    Call(p.FSINFO, lambda on: p.Fsinfo3Args(on.object), "directory"),
    Call(p.PATHCONF, lambda on: p.Pathconf3Args(on.object), "directory"),
    Call(p.COMMIT, lambda on: p.Commit3Args(on.object, 0, 0), "file"),
)

# ---------------------------------------------------------------- calls with a given handle

ON_A_FILE: t.Final = ("getattr", "setattr", "access", "read", "write", "commit")
IN_A_DIRECTORY: t.Final = (
    *("lookup", "create", "mkdir", "symlink", "mknod", "remove", "rmdir", "rename", "link"),
    *("readdir", "readdirplus"),
)
OF_THE_FILE_SYSTEM: t.Final = ("fsstat", "fsinfo", "pathconf")


def call_on(nfs3: Nfs3, call: str, handle: bytes, name: bytes = b"name") -> t.Any:
    """The reply to a call with the same handle for each handle in its arguments."""
    return CALLS[call].make(nfs3, Operands(handle, handle, name, handle, name + b"-2"))


# ---------------------------------------------------------------- calls on a name in a directory

CREATING_NAMES: t.Final = ("create", "mkdir", "symlink", "mknod", "link", "rename_to")
USING_NAMES: t.Final = ("lookup", "remove", "rmdir", "rename_from")
"""Calls on a name that exists, see `Place.arrange`."""
ON_NAMES: t.Final = (*CREATING_NAMES, *USING_NAMES)
CHANGING_NAMES: t.Final = tuple(call for call in ON_NAMES if call != "lookup")
_SOURCE: t.Final = b"source"


def procedure_name(call: str) -> str:
    """The procedure of one of `ON_NAMES`, for texts: ``RENAME`` for ``rename_from``."""
    return call.partition("_")[0].upper()


class Place:
    """A directory to try names in, and a second one with the file that LINK and RENAME use as their source."""

    def __init__(self, scratch: Nfs3Scratch) -> None:
        self.scratch = scratch
        self.here = scratch.directory("here", mode=0o777)
        self.elsewhere = scratch.directory("elsewhere", mode=0o777)
        self.source = scratch.file(_SOURCE, b"source", directory=self.elsewhere)

    def arrange(self, call: str, name: bytes, directory: bytes | None = None) -> None:
        """Create the object that one of `USING_NAMES` needs; nothing for a call that creates the name."""
        where = directory or self.here
        if call == "rmdir":
            self.scratch.directory(name, directory=where)
        elif call in USING_NAMES:
            self.scratch.file(name, b"precious", directory=where)

    def call(self, nfs3: Nfs3, call: str, name: bytes, directory: bytes | None = None) -> t.Any:
        """The reply to one of `ON_NAMES` with a name in `here`, or in another directory.

        RENAME has two names: `rename_from` is on the name of its source, `rename_to` on that of its target.
        """
        where = directory or self.here
        if call in {"link", "rename_to"}:
            operands = Operands(self.source, self.elsewhere, _SOURCE, where, name)
        else:
            operands = Operands(b"", where, name, self.elsewhere, b"taken")
        return CALLS[procedure_name(call).lower()].make(nfs3, operands)

    def names(self) -> list[bytes]:
        """The names in `here`, sorted, without ``.`` and ``..``."""
        return sorted(self.scratch.names(self.here))
