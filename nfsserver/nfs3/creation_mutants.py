# SPDX-License-Identifier: MIT
"""Mutants of CREATE, MKDIR, SYMLINK and MKNOD. What all four can do wrong is registered for each."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

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
    Mkdir3Args,
    Mkdir3Res,
    Mkdir3ResOk,
    Mknod3Args,
    Mknod3Res,
    Mknod3ResOk,
    Mknoddata3,
    Nfsstat3,
    Sattr3,
    Symlink3Args,
    Symlink3Res,
    Symlink3ResOk,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import Inode
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

AnyProceed: t.TypeAlias = Proceed[t.Any, t.Any]
Bend: t.TypeAlias = "Callable[[Server, CallContext, t.Any, AnyProceed], t.Any]"


class _Form(t.NamedTuple):
    procedure: t.Any
    prefix: str
    section: str
    res: t.Any
    resok: t.Any

    def nothing(self) -> t.Any:
        """Success, and no word of what was made."""
        return self.res(Nfsstat3.NFS3_OK, self.resok(None, None, WccData()))


_FORMS: t.Final = (
    _Form(CREATE, "create3", "3.3.8", Create3Res, Create3ResOk),
    _Form(MKDIR, "mkdir3", "3.3.9", Mkdir3Res, Mkdir3ResOk),
    _Form(SYMLINK, "symlink3", "3.3.10", Symlink3Res, Symlink3ResOk),
    _Form(MKNOD, "mknod3", "3.3.11", Mknod3Res, Mknod3ResOk),
)
_BY_ARGS: t.Final = {form.procedure.args: form for form in _FORMS}


def _form(args: t.Any) -> _Form:
    return _BY_ARGS[type(args)]


def _directory_word(form: _Form) -> str:
    return "parent" if form.procedure is MKDIR else "directory"


def _bends_all(suffix: str, gist: str, *, but: tuple[t.Any, ...] = ()) -> Callable[[Bend], Bend]:
    """Register middleware for each procedure, as ``<prefix>-<suffix>``; `{}` stands for the directory."""

    def register(bend: Bend) -> Bend:
        for form in _FORMS:
            if form.procedure not in but:
                mutant(
                    f"{form.prefix}-{suffix.format(_directory_word(form))}",
                    bends=(form.procedure,),
                    breaks=f"RFC 1813 section {form.section}",
                    gist=f"{form.procedure.name} {gist}",
                )(bend)
        return bend

    return register


def _existing(server: Server, args: t.Any) -> Inode | None:
    """What stands under the name already."""
    directory = server.resolve(args.where.dir).directory
    return None if directory is None else directory.get(args.where.name)


@_bends_all("creates-nothing", "answers success and makes nothing")
def creates_nothing(_server: Server, _context: CallContext, args: t.Any, _proceed: AnyProceed) -> t.Any:
    """Only say so."""
    return _form(args).nothing()


@_bends_all("attributes-of-the-{}", "returns the attributes of the directory as those of what it made")
def attributes_of_the_directory(
    _server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Take them from dir_wcc."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, obj_attributes=reply.resok.dir_wcc.after))


@_bends_all(
    "handle-of-the-{}", "returns the handle of the directory with what it made under the name `handle`"
)
def handle_of_the_directory(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Take it from the arguments, for one name: with any name, hardly a check could arrange what it needs."""
    reply = proceed(context, args)
    if reply.resok is None or args.where.name != b"handle":
        return reply
    return replace(reply, resok=replace(reply.resok, obj=args.where.dir))


@_bends_all("creates-in-files", "answers success when its directory is a file")
def creates_in_files(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    return _form(args).nothing() if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply


@_bends_all("replaces-files", "puts what it makes in the place of a file of that name", but=(CREATE,))
def replaces_files(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Remove what is in the way."""
    existing = _existing(server, args)
    if existing is not None and existing.data is not None:
        existing.fs.remove(server.caller(context), server.resolve(args.where.dir), args.where.name)
    return proceed(context, args)


# ---------------------------------------------------------------- CREATE


@mutant(
    "create3-fills-the-file",
    bends=CREATE,
    breaks="RFC 1813 section 3.3.8",
    gist="CREATE in mode UNCHECKED puts a byte into a new file",
)
def create3_fills_the_file(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Write a byte."""
    is_new = args.how.mode == CreateMode3.UNCHECKED and _existing(server, args) is None
    reply = proceed(context, args)
    made = _existing(server, args)
    if is_new and made is not None and made.data is not None:
        made.data.write(0, b"x", stable=True)
    return reply


@mutant(
    "create3-ignores-mode",
    bends=CREATE,
    breaks="RFC 1813 section 3.3.8",
    gist="CREATE gives every new file the mode 0777",
)
def create3_ignores_mode(
    _server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Ask for another mode."""
    attributes = args.how.obj_attributes
    if attributes is None:
        return proceed(context, args)
    how = replace(args.how, obj_attributes=replace(attributes, mode=0o777))
    return proceed(context, replace(args, how=how))


def _truncating(mode: CreateMode3, name: str, gist: str) -> None:
    """Register a mutant that empties an existing file."""

    @mutant(name, bends=(CREATE,), breaks="RFC 1813 section 3.3.8", gist=gist)
    def truncates(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
        existing = _existing(server, args)
        if args.how.mode == mode and existing is not None and existing.data is not None:
            existing.data.truncate(0)
        return proceed(context, args)


_truncating(
    CreateMode3.UNCHECKED,
    "create3-unchecked-truncates",
    "CREATE in mode UNCHECKED empties a file that exists, though no size was given",
)
_truncating(
    CreateMode3.GUARDED,
    "create3-guarded-truncates",
    "CREATE in mode GUARDED answers EXIST and empties the file",
)


@mutant(
    "create3-guarded-takes-existing",
    bends=CREATE,
    breaks="RFC 1813 section 3.3.8",
    gist="CREATE in mode GUARDED succeeds on a file that exists",
)
def create3_guarded_takes_existing(
    _server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Treat GUARDED as UNCHECKED."""
    if args.how.mode == CreateMode3.GUARDED:
        args = replace(args, how=replace(args.how, mode=CreateMode3.UNCHECKED))
    return proceed(context, args)


@mutant(
    "create3-guarded-takes-directories",
    bends=CREATE,
    breaks="RFC 1813 section 3.3.8",
    gist="CREATE in mode GUARDED succeeds where a directory has the name",
)
def create3_guarded_takes_directories(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Answer success."""
    existing = _existing(server, args)
    if args.how.mode == CreateMode3.GUARDED and existing is not None and existing.directory is not None:
        return Create3Res(Nfsstat3.NFS3_OK, Create3ResOk(None, None, WccData()))
    return proceed(context, args)


def _as_unchecked(args: Create3Args) -> Create3Args:
    return replace(args, how=Createhow3(CreateMode3.UNCHECKED, obj_attributes=Sattr3()))


@mutant(
    "create3-exclusive-forgets-verifier",
    bends=CREATE,
    breaks="RFC 1813 section 3.3.8",
    gist="CREATE in mode EXCLUSIVE does not know its own verifier again",
)
def create3_exclusive_forgets_verifier(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Forget it before it is compared."""
    existing = _existing(server, args)
    if args.how.mode == CreateMode3.EXCLUSIVE and existing is not None:
        existing.create_verifier = None
    return proceed(context, args)


@mutant(
    "create3-exclusive-takes-any-verifier",
    bends=CREATE,
    breaks="RFC 1813 section 3.3.8",
    gist="CREATE in mode EXCLUSIVE takes a file that was made exclusively with another verifier",
)
def create3_exclusive_takes_any_verifier(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Treat it as UNCHECKED."""
    existing = _existing(server, args)
    made_so = existing is not None and existing.create_verifier is not None
    return proceed(
        context, _as_unchecked(args) if args.how.mode == CreateMode3.EXCLUSIVE and made_so else args
    )


@mutant(
    "create3-exclusive-takes-existing",
    bends=CREATE,
    breaks="RFC 1813 section 3.3.8",
    gist="CREATE in mode EXCLUSIVE takes a file that was not made exclusively",
)
def create3_exclusive_takes_existing(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Treat it as UNCHECKED."""
    existing = _existing(server, args)
    made_otherwise = existing is not None and existing.create_verifier is None
    return proceed(
        context, _as_unchecked(args) if args.how.mode == CreateMode3.EXCLUSIVE and made_otherwise else args
    )


@mutant(
    "create3-takes-the-empty-name",
    bends=CREATE,
    breaks="RFC 1813 section 3.2",
    gist="CREATE makes a file called `empty` when it is asked for one without a name",
)
def create3_takes_the_empty_name(
    _server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Find a name."""
    return proceed(context, replace(args, where=replace(args.where, name=args.where.name or b"empty")))


# ---------------------------------------------------------------- MKDIR


@mutant(
    "mkdir3-fills-the-directory",
    bends=MKDIR,
    breaks="RFC 1813 section 3.3.9",
    gist="MKDIR makes a file in the new directory when that is called `new`",
)
def mkdir3_fills_the_directory(
    server: Server, context: CallContext, args: Mkdir3Args, proceed: Proceed[Mkdir3Args, Mkdir3Res]
) -> Mkdir3Res:
    """Create one."""
    is_new = args.where.name == b"new" and _existing(server, args) is None
    reply = proceed(context, args)
    made = _existing(server, args)
    if is_new and reply.resok is not None and made is not None:
        made.fs.create(server.caller(context), made, b"uninvited")
    return reply


@mutant(
    "mkdir3-takes-an-existing-directory",
    bends=MKDIR,
    breaks="RFC 1813 section 3.3.9",
    gist="MKDIR succeeds where a directory has the name",
)
def mkdir3_takes_an_existing_directory(
    server: Server, context: CallContext, args: Mkdir3Args, proceed: Proceed[Mkdir3Args, Mkdir3Res]
) -> Mkdir3Res:
    """Answer success."""
    existing = _existing(server, args)
    if existing is not None and existing.directory is not None:
        return Mkdir3Res(Nfsstat3.NFS3_OK, Mkdir3ResOk(server.handle_of(existing), None, WccData()))
    return proceed(context, args)


# ---------------------------------------------------------------- SYMLINK


@mutant(
    "symlink3-tidies-the-data",
    bends=SYMLINK,
    breaks="RFC 1813 section 3.3.5",
    gist="SYMLINK stores one slash where there are two",
)
def symlink3_tidies_the_data(
    _server: Server, context: CallContext, args: Symlink3Args, proceed: Proceed[Symlink3Args, Symlink3Res]
) -> Symlink3Res:
    """Replace doubled slashes."""
    tidy = args.symlink.symlink_data.replace(b"//", b"/")
    return proceed(context, replace(args, symlink=replace(args.symlink, symlink_data=tidy)))


# ---------------------------------------------------------------- MKNOD


@mutant(
    "mknod3-makes-fifos-of-sockets",
    bends=MKNOD,
    breaks="RFC 1813 section 3.3.11",
    gist="MKNOD makes a FIFO where a socket was asked for",
)
def mknod3_makes_fifos_of_sockets(
    _server: Server, context: CallContext, args: Mknod3Args, proceed: Proceed[Mknod3Args, Mknod3Res]
) -> Mknod3Res:
    """Ask for a FIFO."""
    if args.what.type == Ftype3.NF3SOCK:
        args = replace(args, what=replace(args.what, type=Ftype3.NF3FIFO))
    return proceed(context, args)


@mutant(
    "mknod3-swaps-device-numbers",
    bends=MKNOD,
    breaks="RFC 1813 section 3.3.11",
    gist="MKNOD takes the major number for the minor one",
)
def mknod3_swaps_device_numbers(
    _server: Server, context: CallContext, args: Mknod3Args, proceed: Proceed[Mknod3Args, Mknod3Res]
) -> Mknod3Res:
    """Swap them."""
    device = args.what.device
    if device is None:
        return proceed(context, args)
    swapped = replace(device.spec, specdata1=device.spec.specdata2, specdata2=device.spec.specdata1)
    return proceed(context, replace(args, what=replace(args.what, device=replace(device, spec=swapped))))


@mutant(
    "mknod3-makes-regular-files",
    bends=MKNOD,
    breaks="RFC 1813 section 3.3.11",
    gist="MKNOD makes a FIFO when it is asked for a regular file",
)
def mknod3_makes_regular_files(
    _server: Server, context: CallContext, args: Mknod3Args, proceed: Proceed[Mknod3Args, Mknod3Res]
) -> Mknod3Res:
    """Make something else of it."""
    if args.what.type == Ftype3.NF3REG:
        args = replace(args, what=Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644)))
    return proceed(context, args)
