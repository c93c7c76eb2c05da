# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_create.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    MKDIR,
    Create3Args,
    Create3Res,
    Create3ResFail,
    Create3ResOk,
    Createhow3,
    CreateMode3,
    Nfsstat3,
    Sattr3,
    WccData,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, change
from nfsmutants.form import AnyCall, mutant, mutant_in_steps, mutant_of_each
from nfsmutants.nfs3.bending import CREATING, find, success, with_handle_of_the_directory
from nfsmutants.nfs3.calls import Create
from nfsmutants.windows import Steps
from nfsserver.fs import Changes, Inode, Kind

_ALL_BUT_MKDIR: t.Final = tuple(procedure for procedure in CREATING if procedure is not MKDIR)


@mutant_of_each(
    CREATING, kills_many="checks create what they need by CREATE and MKDIR: what is missing then is damage"
)
def creates_nothing(call: AnyCall) -> t.Any:
    """{} answers success and creates nothing"""
    return success(call)


@mutant_of_each(_ALL_BUT_MKDIR)
def attributes_of_the_directory(call: AnyCall) -> t.Any:
    """{} returns the attributes of the directory as those of the new object"""
    return amend(call.proceed(), obj_attributes=lambda it: it.dir_wcc.after)


@mutant_of_each(_ALL_BUT_MKDIR)
def returns_the_handle_of_the_directory(call: AnyCall) -> t.Any:
    """{} of the name `handle` returns the handle of the directory"""
    return with_handle_of_the_directory(call)


# ---------------------------------------------------------------- CREATE


@mutant(CREATE)
def create3_fills_the_file(call: Create) -> Create3Res:
    """CREATE in mode UNCHECKED writes a byte into a new file"""
    is_new = call.args.how.mode == CreateMode3.UNCHECKED and find(call.server, call.args.where) is None
    reply = call.proceed()
    made = find(call.server, call.args.where)
    if is_new and made is not None and made.data is not None:
        made.data.write(0, b"x", stable=True)
    return reply


@mutant(CREATE)
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


@mutant(CREATE)
def create3_unchecked_truncates(call: Create) -> Create3Res:
    """CREATE in mode UNCHECKED empties an existing file although the call sets no size"""
    return _truncate_existing(call, CreateMode3.UNCHECKED)


@mutant(CREATE)
def create3_unchecked_is_guarded(call: Create) -> Create3Res:
    """CREATE in mode UNCHECKED of an existing name answers EXIST"""
    args = call.args
    if args.how.mode == CreateMode3.UNCHECKED:
        args = change(args, "how", mode=CreateMode3.GUARDED)
    return call.proceed(args)


@mutant(CREATE)
def create3_guarded_truncates(call: Create) -> Create3Res:
    """CREATE in mode GUARDED answers EXIST and empties the file"""
    return _truncate_existing(call, CreateMode3.GUARDED)


@mutant(CREATE)
def create3_guarded_accepts_existing(call: Create) -> Create3Res:
    """CREATE in mode GUARDED of an existing file answers success"""
    args = call.args
    if args.how.mode == CreateMode3.GUARDED:
        args = change(args, "how", mode=CreateMode3.UNCHECKED)
    return call.proceed(args)


@mutant_in_steps(CREATE)
def create3_guarded_creates_later(call: Create) -> Steps[Create3Res]:
    """CREATE in mode GUARDED first checks for the file, then creates it or takes the one that is there by then"""
    args = call.args
    if args.how.mode == CreateMode3.GUARDED and find(call.server, args.where) is None:
        yield
        args = change(args, "how", mode=CreateMode3.UNCHECKED)
    return call.proceed(args)


@mutant(CREATE)
def create3_guarded_accepts_directories(call: Create) -> Create3Res:
    """CREATE in mode GUARDED answers success if a directory has the name"""
    existing = find(call.server, call.args.where)
    if call.args.how.mode == CreateMode3.GUARDED and existing is not None and existing.directory is not None:
        return Create3Res(Nfsstat3.NFS3_OK, Create3ResOk(None, None, WccData()))
    return call.proceed()


def _as_unchecked(args: Create3Args) -> Create3Args:
    return replace(args, how=Createhow3(CreateMode3.UNCHECKED, obj_attributes=Sattr3()))


@mutant(CREATE)
def create3_exclusive_forgets_verifier(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE does not recognize its own verifier"""
    existing = find(call.server, call.args.where)
    if call.args.how.mode == CreateMode3.EXCLUSIVE and existing is not None:
        existing.create_verifier = None
    return call.proceed()


@mutant(CREATE)
def create3_exclusive_accepts_any_verifier(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE accepts a file that was created with another verifier"""
    existing = find(call.server, call.args.where)
    made_so = existing is not None and existing.create_verifier is not None
    return (
        call.proceed(_as_unchecked(call.args))
        if call.args.how.mode == CreateMode3.EXCLUSIVE and made_so
        else call.proceed()
    )


@mutant_in_steps(CREATE)
def create3_exclusive_creates_later(call: Create) -> Steps[Create3Res]:
    """CREATE in mode EXCLUSIVE first checks for the file, then creates it or takes the one that is there by then"""
    args = call.args
    if args.how.mode == CreateMode3.EXCLUSIVE and find(call.server, args.where) is None:
        yield
        args = args if find(call.server, args.where) is None else _as_unchecked(args)
    return call.proceed(args)


@mutant(CREATE)
def create3_exclusive_accepts_existing(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE accepts a file that was not created in mode EXCLUSIVE"""
    existing = find(call.server, call.args.where)
    made_without_verifier = existing is not None and existing.create_verifier is None
    return (
        call.proceed(_as_unchecked(call.args))
        if call.args.how.mode == CreateMode3.EXCLUSIVE and made_without_verifier
        else call.proceed()
    )


@mutant(CREATE)
def create3_accepts_the_empty_name(call: Create) -> Create3Res:
    """CREATE with an empty name creates a file called `empty`"""
    return call.proceed_with("where", name=call.args.where.name or b"empty")


def _repeated(call: Create) -> tuple[Create3Res, Inode | None]:
    """The reply, and the file if the call repeats an EXCLUSIVE CREATE."""
    there = find(call.server, call.args.where)
    reply = call.proceed()
    is_repeated = reply.status == Nfsstat3.NFS3_OK and call.args.how.mode == CreateMode3.EXCLUSIVE
    return reply, there if is_repeated else None


@mutant(CREATE)
def create3_exclusive_truncates_again(call: Create) -> Create3Res:
    """A repeated EXCLUSIVE CREATE empties the file"""
    reply, file = _repeated(call)
    if file is not None and file.data is not None:
        file.data.truncate(0)
    return reply


@mutant(CREATE)
def create3_exclusive_replaces_the_file(call: Create) -> Create3Res:
    """A repeated EXCLUSIVE CREATE creates another file in place of the first"""
    there, where = find(call.server, call.args.where), call.args.where
    if (
        call.args.how.mode == CreateMode3.EXCLUSIVE
        and there is not None
        and there.create_verifier is not None
    ):
        directory = call.backend.resolve(where.dir)
        other = directory.fs.create(call.caller, directory, b"other")
        other.create_verifier = there.create_verifier
        directory.fs.rename(call.caller, directory, b"other", directory, where.name)
    return call.proceed()


@mutant(CREATE)
def create3_exclusive_resets_the_mode(call: Create) -> Create3Res:
    """A repeated EXCLUSIVE CREATE resets the mode"""
    reply, file = _repeated(call)
    if file is not None:
        file.mode = 0o644
    return reply


@mutant(CREATE)
def create3_exclusive_remembers_names(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE takes whatever has a name that was once created with this verifier"""
    return _by_name(call, Sattr3())


@mutant(CREATE)
def create3_exclusive_empties_by_name(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE takes whatever has a name that was once created with this verifier, and empties it"""
    return _by_name(call, Sattr3(size=0))


def _by_name(call: Create, attributes: Sattr3) -> Create3Res:
    """EXCLUSIVE that remembers verifiers by name, and is UNCHECKED with these attributes where it knows one."""
    reply, how = call.proceed(), call.args.how
    if how.mode != CreateMode3.EXCLUSIVE:
        return reply
    key = call.args.where.to_xdr(), bytes(how.verf or b"")
    if reply.status == Nfsstat3.NFS3_OK:
        call.state[key] = True
    if reply.status != Nfsstat3.NFS3ERR_EXIST or key not in call.state:
        return reply
    unchecked = Createhow3(CreateMode3.UNCHECKED, obj_attributes=attributes)
    return call.proceed(replace(call.args, how=unchecked))


# ---------------------------------------------------------------- names


@mutant(CREATE)
def create3_guarded_sets_the_mode(call: Create) -> Create3Res:
    """GUARDED CREATE of an existing name is refused, but sets the mode of the object"""
    there = find(call.server, call.args.where)
    asked = call.args.how.obj_attributes
    if there is not None and asked is not None and asked.mode is not None:
        there.mode = asked.mode ^ 1
    return call.proceed()


@mutant(CREATE)
def create3_exclusive_accepts_other_types(call: Create) -> Create3Res:
    """EXCLUSIVE CREATE accepts an existing object that is not a regular file"""
    there = find(call.server, call.args.where)
    if there is None or there.kind is Kind.REGULAR or call.args.how.mode != CreateMode3.EXCLUSIVE:
        return call.proceed()
    return t.cast("Create3Res", success(call))


@mutant(CREATE)
def create3_unchecked_replaces_others(call: Create) -> Create3Res:
    """UNCHECKED CREATE replaces an existing object with a file"""
    args = call.args
    there = find(call.server, args.where)
    if there is None or there.kind is Kind.REGULAR or args.how.mode != CreateMode3.UNCHECKED:
        return call.proceed()
    reply = call.proceed(change(args, "where", name=args.where.name + b"~"))
    made = find(call.server, replace(args.where, name=args.where.name + b"~"))
    directory = call.backend.resolve(args.where.dir).directory
    if made is not None and directory is not None:
        directory.replace(args.where.name, made)
    return reply


@mutant(CREATE)
def create3_follows_links(call: Create) -> Create3Res:
    """CREATE over a symbolic link is refused, but creates a file at the link's target"""
    there = find(call.server, call.args.where)
    if there is None or there.kind is not Kind.SYMLINK:
        return call.proceed()
    directory = call.backend.resolve(call.args.where.dir)
    directory.fs.create(call.caller, directory, there.target, Changes())
    return Create3Res(Nfsstat3.NFS3ERR_EXIST, resfail=Create3ResFail(WccData()))
