# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_link.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import GETATTR, LINK, NFS3, NULL, Link3Res, Link3ResOk, Nfsstat3, WccData
from nfsclient.xdr import replace
from nfsmutants.bending import amend, amend_refusal, inode_of, restate
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import LINKED, find, handle_of_same_fileid, is_special
from nfsmutants.nfs3.calls import Link
from nfsserver.fs import Changes
from nfsserver.fs.permissions import SUPERUSER
from nfsserver.nfs3.common import fattr3


@mutant(LINK)
def link3_copies_across_exports(call: Link) -> Link3Res:
    """LINK into another export answers OK and makes an empty file there"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_XDEV:
        return reply
    directory = call.backend.resolve(call.args.link.dir)
    directory.fs.create(SUPERUSER, directory, call.args.link.name)
    return Link3Res(Nfsstat3.NFS3_OK, Link3ResOk(None, WccData()))


@mutant(LINK)
def link3_across_exports_is_io(call: Link) -> Link3Res:
    """LINK into another export answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_XDEV, Nfsstat3.NFS3ERR_IO)


# ---------------------------------------------------------------- stale and bad handles


@mutant(tuple(procedure for procedure in NFS3.procedures if procedure not in {NULL, GETATTR}))
def nfs3_bad_handle_is_inval(call: AnyCall) -> t.Any:
    """Every procedure but GETATTR answers INVAL, not BADHANDLE, to an invalid handle"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_INVAL)


# ---------------------------------------------------------------- handles in calls with names


@mutant(LINK)
def link3_ignores_the_generation_of_handles(call: Link) -> Link3Res:
    """LINK ignores the generation in a handle: that of a removed file refers to a later one"""
    return call.proceed_with(file=handle_of_same_fileid(call.server, call.args.file))


# ---------------------------------------------------------------- LINK


@mutant(LINK)
def link3_creates_nothing(_call: Link) -> Link3Res:
    """LINK answers success and creates no name"""
    return LINKED


@mutant(LINK)
def link3_makes_a_copy(call: Link) -> Link3Res:
    """LINK copies the file instead of adding a name"""
    source = call.backend.resolve(call.args.file)
    directory = call.backend.resolve(call.args.link.dir)
    if source.data is None or directory.directory is None or find(call.server, call.args.link) is not None:
        return call.proceed()
    copy = directory.fs.create(call.caller, directory, call.args.link.name)
    assert copy.data is not None
    copy.data.write(0, source.data.read(0, source.size), stable=True)
    return LINKED


@mutant(LINK)
def link3_keeps_nlink(call: Link) -> Link3Res:
    """LINK does not change nlink"""
    reply = call.proceed()
    if reply.resok is not None:
        call.backend.resolve(call.args.file).nlink -= 1
    return reply


@mutant(LINK)
def link3_attributes_of_the_directory(call: Link) -> Link3Res:
    """LINK returns the attributes of the directory as those of the file"""
    return amend(call.proceed(), file_attributes=lambda it: it.linkdir_wcc.after)


@mutant(LINK)
def link3_replaces_files(call: Link) -> Link3Res:
    """LINK replaces an existing file with the link"""
    existing = find(call.server, call.args.link)
    if existing is not None and existing.data is not None:
        directory = call.backend.resolve(call.args.link.dir)
        directory.fs.remove(call.caller, directory, call.args.link.name)
    return call.proceed()


@mutant(LINK)
def link3_creates_in_files(call: Link) -> Link3Res:
    """LINK answers success if its directory is a file"""
    reply = call.proceed()
    return LINKED if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply


@mutant(LINK)
def link3_creates_in_the_parent(call: Link) -> Link3Res:
    """LINK creates the name in the parent of the directory"""
    inode = call.backend.resolve(call.args.link.dir)
    parent = inode.directory.parent if inode.directory is not None else None
    if parent is None or parent is inode:
        return call.proceed()
    return call.proceed_with("link", dir=call.backend.handle_of(parent))


@mutant(LINK)
def link3_refuses_and_increases_nlink(call: Link) -> Link3Res:
    """LINK of an existing name is refused, but increases nlink"""
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3ERR_EXIST:
        call.backend.resolve(call.args.file).nlink += 1
    return reply


@mutant(LINK)
def link3_follows_symlinks(call: Link) -> Link3Res:
    """LINK of a symbolic link adds a name to the link's target"""
    source = call.backend.resolve(call.args.file)
    target = find(call.server, replace(call.args.link, name=source.target)) if source.target else None
    return call.proceed() if target is None else call.proceed_with(file=call.backend.handle_of(target))


@mutant(LINK)
def link3_refuses_and_links_directories(call: Link) -> Link3Res:
    """LINK of a directory is refused, but creates an empty directory with the name"""
    reply = call.proceed()
    if (
        call.backend.resolve(call.args.file).directory is not None
        and find(call.server, call.args.link) is None
    ):
        directory = call.backend.resolve(call.args.link.dir)
        directory.fs.mkdir(call.caller, directory, call.args.link.name)
    return reply


@mutant(LINK)
def link3_replaces_directories(call: Link) -> Link3Res:
    """LINK replaces an empty directory with the link"""
    existing = find(call.server, call.args.link)
    if existing is not None and existing.directory is not None and not len(existing.directory):
        existing.fs.rmdir(call.caller, call.backend.resolve(call.args.link.dir), call.args.link.name)
    return call.proceed()


@mutant(LINK)
def link3_accepts_the_empty_name(call: Link) -> Link3Res:
    """LINK with an empty name creates a link called `empty`"""
    return call.proceed_with("link", name=call.args.link.name or b"empty")


@mutant(LINK)
def link3_cuts_long_names(call: Link) -> Link3Res:
    """LINK cuts a name to name_max, though PATHCONF says no_trunc"""
    name = call.args.link.name[: call.backend.limits.name_max]
    return call.proceed_with("link", name=name)


@mutant(LINK)
def link3_refusals_show_the_directory(call: Link) -> Link3Res:
    """A refused LINK returns the directory's attributes as those of the file"""
    reply = call.proceed()
    if reply.resfail is None:
        return reply
    attributes = fattr3(call.backend.resolve(call.args.link.dir))
    return amend_refusal(reply, file_attributes=attributes)


@mutant(LINK)
def link3_unsupported_is_io(call: Link) -> Link3Res:
    """LINK is refused with IO if the server does not support it"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NOTSUPP, Nfsstat3.NFS3ERR_IO)


# ---------------------------------------------------------------- REMOVE, RMDIR, LINK, RENAME


@mutant(LINK)
def link3_copies_special_files(call: Link) -> Link3Res:
    """LINK of devices, sockets and FIFOs creates a new file"""
    if not is_special(inode_of(call.server, call.args.file)):
        return call.proceed()
    directory = call.backend.resolve(call.args.link.dir)
    directory.fs.create(call.caller, directory, call.args.link.name, Changes())
    return LINKED
