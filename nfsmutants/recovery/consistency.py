# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_consistency.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.nfs3 import Commit3Res, StableHow
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.recovery.bending import LOOKS, RENAMES, at_the_crash, entry_of, inode_at, strike
from nfsmutants.rules import RFC1813_COMMIT
from nfsserver.fs import PAGE
from nfsserver.fs.permissions import SUPERUSER

_WRITES: t.Final = (nfs2.WRITE, nfs3.WRITE)
_SETATTRS: t.Final = (nfs2.SETATTR, nfs3.SETATTR)


# ---------------------------------------------------------------- names


@mutant((*RENAMES, *LOOKS))
def crash_undoes_half_of_rename(call: AnyCall) -> t.Any:
    """A crash undoes a RENAME over another file, but not that the other one is removed"""
    strike(call)
    moved = inode_at(call, "from_") if call.operation in RENAMES else None
    if moved is not None and moved is not inode_at(call, "to") and inode_at(call, "to") is not None:
        (here, old), (there, new) = entry_of(call.args, "from_"), entry_of(call.args, "to")
        source, target = inode_of(call.server, here), inode_of(call.server, there)
        assert source is not None
        assert target is not None
        at_the_crash(call, lambda: moved.fs.rename(SUPERUSER, target, new, source, old))
    return call.proceed()


@mutant((*RENAMES, *LOOKS))
def crash_miscounts_links_of_moved_files(call: AnyCall) -> t.Any:
    """After a crash, a file that RENAME has moved to another directory has one link too many"""
    strike(call)
    moved = inode_at(call, "from_") if call.operation in RENAMES else None
    if moved is not None and moved.data is not None:
        (here, _), (there, _) = entry_of(call.args, "from_"), entry_of(call.args, "to")
        if here != there:
            at_the_crash(call, lambda: setattr(moved, "nlink", moved.nlink + 1))
    return call.proceed()


# ---------------------------------------------------------------- data


@mutant((nfs3.WRITE, nfs3.COMMIT), breaks=RFC1813_COMMIT)
def commit3_commits_another_file(call: AnyCall) -> t.Any:
    """COMMIT commits the file that was written last, not the one that it is about"""
    if call.operation is nfs3.WRITE:
        call.state["last"] = bytes(call.args.file)
        return call.proceed()
    reply: Commit3Res = call.proceed_with(file=call.state.get("last", call.args.file))
    return reply


@mutant((nfs3.WRITE, *LOOKS), kills_many="checks read back what was written before the crash")
def write3_crash_zeroes_pages(call: AnyCall) -> t.Any:
    """A crash that loses UNSTABLE data fills whole pages with zeros, with the stable data in them"""
    strike(call)
    inode = inode_of(call.server, call.args.file) if call.operation is nfs3.WRITE else None
    if inode is not None and inode.data is not None and call.args.stable is StableHow.UNSTABLE:
        data, first = inode.data, call.args.offset // PAGE * PAGE
        end = (call.args.offset + len(call.args.data)) // PAGE * PAGE + PAGE

        def zero() -> None:
            data.write(first, bytes(max(0, min(end, data.size) - first)), stable=True)

        at_the_crash(call, zero)
    return call.proceed()


@mutant((*_SETATTRS, *_WRITES, *LOOKS))
def crash_returns_data_after_write(call: AnyCall) -> t.Any:
    """A crash returns data that SETATTR has cut off, though a stable WRITE to the file came after it"""
    strike(call)
    cut: dict[t.Any, bytes] = call.state.setdefault("cut", {})
    if call.operation in LOOKS:
        cut.clear()
        return call.proceed()
    inode = inode_of(call.server, call.args.object if call.operation is nfs3.SETATTR else call.args.file)
    if inode is None or inode.data is None:
        return call.proceed()
    old = inode.data.read(0, inode.data.size)
    reply = call.proceed()
    data = inode.data
    if call.operation in _SETATTRS and data.size < len(old):
        cut[inode] = old
    elif call.operation in _WRITES and inode in cut:
        whole, offset = cut.pop(inode), data.size
        at_the_crash(call, lambda: data.write(offset, whole[offset:], stable=True))
    return reply
