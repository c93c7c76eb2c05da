# SPDX-License-Identifier: MIT
"""Mutants of CREATE, MKDIR, SYMLINK and MKNOD. What all four can do wrong is registered for each."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    MKDIR,
    MKNOD,
    SYMLINK,
    Create3Args,
    Create3Res,
    Create3ResOk,
    Createhow3,
    CreateMode3,
    Ftype3,
    Mkdir3Res,
    Mkdir3ResOk,
    Mknod3Res,
    Mknoddata3,
    Nfsstat3,
    Sattr3,
    Symlink3Res,
    WccData,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, change
from nfsmutants.form import AnyCall, Rules, mutant, mutant_of_each
from nfsmutants.nfs3.bending import find, remove, success
from nfsmutants.nfs3.calls import Create, Mkdir, Mknod, Symlink
from nfsmutants.rules import (
    RFC1813_CREATE,
    RFC1813_MKDIR,
    RFC1813_MKNOD,
    RFC1813_NAMES,
    RFC1813_READLINK,
    RFC1813_SYMLINK,
)

_CREATING: t.Final[Rules] = {
    CREATE: RFC1813_CREATE,
    MKDIR: RFC1813_MKDIR,
    SYMLINK: RFC1813_SYMLINK,
    MKNOD: RFC1813_MKNOD,
}
_ALL_BUT_MKDIR: t.Final[Rules] = {
    procedure: rule for procedure, rule in _CREATING.items() if procedure is not MKDIR
}
_ALL_BUT_CREATE: t.Final[Rules] = {
    procedure: rule for procedure, rule in _CREATING.items() if procedure is not CREATE
}


@mutant_of_each(_CREATING)
def creates_nothing(call: AnyCall) -> t.Any:
    """{} answers success and makes nothing"""
    return success(call)


@mutant_of_each(_ALL_BUT_MKDIR)
def attributes_of_the_directory(call: AnyCall) -> t.Any:
    """{} returns the attributes of the directory as those of what it made"""
    return amend(call.proceed(), obj_attributes=lambda it: it.dir_wcc.after)


@mutant(MKDIR, RFC1813_MKDIR)
def mkdir3_attributes_of_the_parent(call: Mkdir) -> Mkdir3Res:
    """MKDIR returns the attributes of the directory as those of what it made"""
    return amend(call.proceed(), obj_attributes=lambda it: it.dir_wcc.after)


def _with_handle_of_the_directory(call: AnyCall) -> t.Any:
    """For one name: with any name, hardly a check could arrange what it needs."""
    reply = call.proceed()
    return amend(reply, obj=call.args.where.dir) if call.args.where.name == b"handle" else reply


@mutant_of_each(_ALL_BUT_MKDIR)
def handle_of_the_directory(call: AnyCall) -> t.Any:
    """{} returns the handle of the directory with what it made under the name `handle`"""
    return _with_handle_of_the_directory(call)


@mutant(MKDIR, RFC1813_MKDIR)
def mkdir3_handle_of_the_parent(call: Mkdir) -> t.Any:
    """MKDIR returns the handle of the directory with what it made under the name `handle`"""
    return _with_handle_of_the_directory(call)


@mutant_of_each(_CREATING)
def creates_in_files(call: AnyCall) -> t.Any:
    """{} answers success when its directory is a file"""
    reply = call.proceed()
    return success(call) if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply


@mutant_of_each(_ALL_BUT_CREATE)
def replaces_files(call: AnyCall) -> t.Any:
    """{} puts what it makes in the place of a file of that name"""
    existing = find(call.server, call.args.where)
    if existing is not None and existing.data is not None:
        remove(call, call.args.where)
    return call.proceed()


# ---------------------------------------------------------------- CREATE


@mutant(CREATE, RFC1813_CREATE)
def create3_fills_the_file(call: Create) -> Create3Res:
    """CREATE in mode UNCHECKED puts a byte into a new file"""
    is_new = call.args.how.mode == CreateMode3.UNCHECKED and find(call.server, call.args.where) is None
    reply = call.proceed()
    made = find(call.server, call.args.where)
    if is_new and made is not None and made.data is not None:
        made.data.write(0, b"x", stable=True)
    return reply


@mutant(CREATE, RFC1813_CREATE)
def create3_ignores_mode(call: Create) -> Create3Res:
    """CREATE gives every new file the mode 0777"""
    attributes = call.args.how.obj_attributes
    if attributes is None:
        return call.proceed()
    how = replace(call.args.how, obj_attributes=replace(attributes, mode=0o777))
    return call.proceed_with(how=how)


def _truncate_existing(call: Create, mode: CreateMode3) -> Create3Res:
    existing = find(call.server, call.args.where)
    if call.args.how.mode == mode and existing is not None and existing.data is not None:
        existing.data.truncate(0)
    return call.proceed()


@mutant(CREATE, RFC1813_CREATE)
def create3_unchecked_truncates(call: Create) -> Create3Res:
    """CREATE in mode UNCHECKED empties a file that exists, though no size was given"""
    return _truncate_existing(call, CreateMode3.UNCHECKED)


@mutant(CREATE, RFC1813_CREATE)
def create3_guarded_truncates(call: Create) -> Create3Res:
    """CREATE in mode GUARDED answers EXIST and empties the file"""
    return _truncate_existing(call, CreateMode3.GUARDED)


@mutant(CREATE, RFC1813_CREATE)
def create3_guarded_takes_existing(call: Create) -> Create3Res:
    """CREATE in mode GUARDED succeeds on a file that exists"""
    args = call.args
    if args.how.mode == CreateMode3.GUARDED:
        args = change(args, "how", mode=CreateMode3.UNCHECKED)
    return call.proceed(args)


@mutant(CREATE, RFC1813_CREATE)
def create3_guarded_takes_directories(call: Create) -> Create3Res:
    """CREATE in mode GUARDED succeeds where a directory has the name"""
    existing = find(call.server, call.args.where)
    if call.args.how.mode == CreateMode3.GUARDED and existing is not None and existing.directory is not None:
        return Create3Res(Nfsstat3.NFS3_OK, Create3ResOk(None, None, WccData()))
    return call.proceed()


def _as_unchecked(args: Create3Args) -> Create3Args:
    return replace(args, how=Createhow3(CreateMode3.UNCHECKED, obj_attributes=Sattr3()))


@mutant(CREATE, RFC1813_CREATE)
def create3_exclusive_forgets_verifier(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE does not know its own verifier again"""
    existing = find(call.server, call.args.where)
    if call.args.how.mode == CreateMode3.EXCLUSIVE and existing is not None:
        existing.create_verifier = None
    return call.proceed()


@mutant(CREATE, RFC1813_CREATE)
def create3_exclusive_takes_any_verifier(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE takes a file that was made exclusively with another verifier"""
    existing = find(call.server, call.args.where)
    made_so = existing is not None and existing.create_verifier is not None
    return (
        call.proceed(_as_unchecked(call.args))
        if call.args.how.mode == CreateMode3.EXCLUSIVE and made_so
        else call.proceed()
    )


@mutant(CREATE, RFC1813_CREATE)
def create3_exclusive_takes_existing(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE takes a file that was not made exclusively"""
    existing = find(call.server, call.args.where)
    made_otherwise = existing is not None and existing.create_verifier is None
    return (
        call.proceed(_as_unchecked(call.args))
        if call.args.how.mode == CreateMode3.EXCLUSIVE and made_otherwise
        else call.proceed()
    )


@mutant(CREATE, RFC1813_NAMES)
def create3_takes_the_empty_name(call: Create) -> Create3Res:
    """CREATE makes a file called `empty` when it is asked for one without a name"""
    return call.proceed_with("where", name=call.args.where.name or b"empty")


# ---------------------------------------------------------------- MKDIR


@mutant(MKDIR, RFC1813_MKDIR)
def mkdir3_fills_the_directory(call: Mkdir) -> Mkdir3Res:
    """MKDIR makes a file in the new directory"""
    reply = call.proceed()
    made = find(call.server, call.args.where)
    if reply.resok is not None and made is not None:
        made.fs.create(call.caller, made, b"uninvited")
    return reply


@mutant(MKDIR, RFC1813_MKDIR)
def mkdir3_takes_an_existing_directory(call: Mkdir) -> Mkdir3Res:
    """MKDIR succeeds where a directory has the name"""
    existing = find(call.server, call.args.where)
    if existing is not None and existing.directory is not None:
        return Mkdir3Res(Nfsstat3.NFS3_OK, Mkdir3ResOk(call.server.handle_of(existing), None, WccData()))
    return call.proceed()


# ---------------------------------------------------------------- SYMLINK


@mutant(SYMLINK, RFC1813_READLINK)
def symlink3_tidies_the_data(call: Symlink) -> Symlink3Res:
    """SYMLINK stores one slash where there are two"""
    tidy = call.args.symlink.symlink_data.replace(b"//", b"/")
    return call.proceed_with("symlink", symlink_data=tidy)


# ---------------------------------------------------------------- MKNOD


@mutant(MKNOD, RFC1813_MKNOD)
def mknod3_makes_fifos_of_sockets(call: Mknod) -> Mknod3Res:
    """MKNOD makes a FIFO where a socket was asked for"""
    args = call.args
    if args.what.type == Ftype3.NF3SOCK:
        args = change(args, "what", type=Ftype3.NF3FIFO)
    return call.proceed(args)


@mutant(MKNOD, RFC1813_MKNOD)
def mknod3_swaps_device_numbers(call: Mknod) -> Mknod3Res:
    """MKNOD takes the major number for the minor one"""
    device = call.args.what.device
    if device is None:
        return call.proceed()
    swapped = replace(device.spec, specdata1=device.spec.specdata2, specdata2=device.spec.specdata1)
    return call.proceed_with("what", device=replace(device, spec=swapped))


@mutant(MKNOD, RFC1813_MKNOD)
def mknod3_makes_regular_files(call: Mknod) -> Mknod3Res:
    """MKNOD makes a FIFO when it is asked for a regular file"""
    args = call.args
    if args.what.type == Ftype3.NF3REG:
        args = replace(args, what=Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644)))
    return call.proceed(args)
