# SPDX-License-Identifier: MIT
"""Mutants of SETATTR."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    DONT_CHANGE_TIME,
    SETATTR,
    Nfsstat3,
    Nfstime3,
    Sattr3,
    Setattr3Args,
    Setattr3Res,
    Setattr3ResFail,
    Setattr3ResOk,
    SetTime,
    TimeHow,
    WccAttr,
)
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import Watched, nfstime3

if t.TYPE_CHECKING:
    from nfsserver.server import Server

NextSetattr: t.TypeAlias = Proceed[Setattr3Args, Setattr3Res]
BendRequest: t.TypeAlias = Callable[[Inode, Sattr3], Sattr3]
ComeAfter: t.TypeAlias = Callable[[Inode, int, Sattr3], None]

_SETATTR: t.Final = "RFC 1813 section 3.3.2"
_BLOCK: t.Final = 512
_LAST_OF_2038: t.Final = 0x7FFF_FFFF


def _inode(server: Server, handle: bytes) -> Inode | None:
    try:
        return server.resolve(handle)
    except FsError:
        return None


def _refusal(server: Server, args: Setattr3Args, status: Nfsstat3) -> Setattr3Res:
    return Setattr3Res(status, resfail=Setattr3ResFail(Watched(server, args.object).wcc()))


def _success(server: Server, args: Setattr3Args) -> Setattr3Res:
    return Setattr3Res(Nfsstat3.NFS3_OK, Setattr3ResOk(Watched(server, args.object).wcc()))


def _bends_request(name: str, gist: str, breaks: str = _SETATTR) -> Callable[[BendRequest], BendRequest]:
    """Register what sets something else than was asked: (object, asked) -> asked."""

    def register(bend: BendRequest) -> BendRequest:
        @mutant(name, bends=SETATTR, breaks=breaks, gist=gist)
        def middleware(
            server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
        ) -> Setattr3Res:
            inode = _inode(server, args.object)
            if inode is None:
                return proceed(context, args)
            return proceed(context, replace(args, new_attributes=bend(inode, args.new_attributes)))

        return bend

    return register


def _does_more(name: str, gist: str, breaks: str = _SETATTR) -> Callable[[ComeAfter], ComeAfter]:
    """Register what is done behind a success: (object, size before, asked)."""

    def register(come_after: ComeAfter) -> ComeAfter:
        @mutant(name, bends=SETATTR, breaks=breaks, gist=gist)
        def middleware(
            server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
        ) -> Setattr3Res:
            inode = _inode(server, args.object)
            size = 0 if inode is None else inode.size
            reply = proceed(context, args)
            if inode is not None and reply.status == Nfsstat3.NFS3_OK:
                come_after(inode, size, args.new_attributes)
            return reply

        return come_after

    return register


# ---------------------------------------------------------------- mode, owner and group


@_bends_request("setattr3-applies-a-umask", "SETATTR takes write permission from group and others")
def setattr3_applies_a_umask(_inode: Inode, asked: Sattr3) -> Sattr3:
    """As for a file that is created, though it is not."""
    return asked if asked.mode is None else replace(asked, mode=asked.mode & ~0o022)


@_bends_request("setattr3-ignores-mode-of-directories", "SETATTR does not set the mode of directories")
def setattr3_ignores_mode_of_directories(inode: Inode, asked: Sattr3) -> Sattr3:
    """Leave it out."""
    return asked if inode.directory is None else replace(asked, mode=None)


@_does_more("setattr3-mode-moves-mtime", "SETATTR of a mode moves mtime")
def setattr3_mode_moves_mtime(inode: Inode, _size: int, asked: Sattr3) -> None:
    """Touch more than ctime."""
    if asked.mode is not None:
        inode.mtime = inode.ctime


@_bends_request("setattr3-ignores-uid", "SETATTR does not set the owner")
def setattr3_ignores_uid(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Leave it out."""
    return replace(asked, uid=None)


@_bends_request("setattr3-ignores-gid", "SETATTR does not set the group")
def setattr3_ignores_gid(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Leave it out."""
    return replace(asked, gid=None)


@_bends_request("setattr3-truncates-ids", "SETATTR keeps the lower 16 bits of owner and group")
def setattr3_truncates_ids(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Cut them."""
    uid = None if asked.uid is None else asked.uid & 0xFFFF
    gid = None if asked.gid is None else asked.gid & 0xFFFF
    return replace(asked, uid=uid, gid=gid)


def _asks_as_root(name: str, gist: str, matters: Callable[[Sattr3], bool]) -> None:
    """Register a SETATTR that checks nobody's permission."""

    @mutant(name, bends=SETATTR, breaks="RFC 1813 section 4.4", gist=gist)
    def middleware(
        _server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
    ) -> Setattr3Res:
        if matters(args.new_attributes):
            context = dataclasses.replace(context, credential=AuthSys(0, 0))
        return proceed(context, args)


_asks_as_root(
    "setattr3-anybody-changes-the-mode",
    "SETATTR lets anybody change the mode of a file",
    lambda asked: asked.mode is not None,
)
_asks_as_root(
    "setattr3-anybody-truncates",
    "SETATTR lets anybody set the size of a file",
    lambda asked: asked.size is not None,
)


# ---------------------------------------------------------------- times


def _without(asked: Sattr3, name: t.Literal["atime", "mtime"], how: TimeHow) -> Sattr3:
    time: SetTime = getattr(asked, name)
    return replace(asked, **{name: DONT_CHANGE_TIME}) if time.set_it == how else asked


@_bends_request("setattr3-ignores-the-clients-mtime", "SETATTR does not set mtime to a time of the client's")
def setattr3_ignores_the_clients_mtime(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Leave it out."""
    return _without(asked, "mtime", TimeHow.SET_TO_CLIENT_TIME)


@_bends_request("setattr3-ignores-the-clients-atime", "SETATTR does not set atime to a time of the client's")
def setattr3_ignores_the_clients_atime(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Leave it out."""
    return _without(asked, "atime", TimeHow.SET_TO_CLIENT_TIME)


@_bends_request("setattr3-ignores-the-servers-mtime", "SETATTR does not set mtime to the server's time")
def setattr3_ignores_the_servers_mtime(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Leave it out."""
    return _without(asked, "mtime", TimeHow.SET_TO_SERVER_TIME)


@_bends_request("setattr3-ignores-the-servers-atime", "SETATTR does not set atime to the server's time")
def setattr3_ignores_the_servers_atime(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Leave it out."""
    return _without(asked, "atime", TimeHow.SET_TO_SERVER_TIME)


@_bends_request("setattr3-times-end-in-2038", "SETATTR takes a time after 2038 for the last second before")
def setattr3_times_end_in_2038(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Store what fits into 31 bits."""
    time = asked.mtime.time
    if time is None or time.seconds <= _LAST_OF_2038:
        return asked
    return replace(asked, mtime=SetTime(asked.mtime.set_it, Nfstime3(_LAST_OF_2038)))


@_bends_request("setattr3-mtime-sets-atime", "SETATTR of mtime alone sets atime to the same time")
def setattr3_mtime_sets_atime(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Set both."""
    return replace(asked, atime=asked.mtime) if asked.atime.set_it == TimeHow.DONT_CHANGE else asked


@_bends_request("setattr3-atime-sets-mtime", "SETATTR of atime alone sets mtime to the same time")
def setattr3_atime_sets_mtime(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Set both."""
    return replace(asked, mtime=asked.atime) if asked.mtime.set_it == TimeHow.DONT_CHANGE else asked


# ---------------------------------------------------------------- nothing, and several


@_bends_request("setattr3-nothing-resets-the-mode", "SETATTR that sets nothing sets the mode to 0")
def setattr3_nothing_resets_the_mode(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Take what is not set for a zero."""
    return replace(asked, mode=0) if asked == Sattr3() else asked


@_bends_request("setattr3-takes-the-first-only", "SETATTR of a mode and a size does not set the size")
def setattr3_takes_the_first_only(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Stop at the mode, where there is no guard to see to."""
    is_both = asked.mode is not None and asked.size is not None
    return replace(asked, size=None) if is_both and asked.atime != DONT_CHANGE_TIME else asked


# ---------------------------------------------------------------- size


@_bends_request(
    "setattr3-truncates-to-whole-blocks", "SETATTR leaves whole blocks of a file that it truncates"
)
def setattr3_truncates_to_whole_blocks(inode: Inode, asked: Sattr3) -> Sattr3:
    """Round up, as far as the file goes; a size below a block is set as it is."""
    if asked.size is None or not _BLOCK < asked.size < inode.size:
        return asked
    return replace(asked, size=min(-(-asked.size // _BLOCK) * _BLOCK, inode.size))


@_bends_request("setattr3-ignores-size-zero", "SETATTR takes a size of 0 for none to set")
def setattr3_ignores_size_zero(inode: Inode, asked: Sattr3) -> Sattr3:
    """Leave it out, for files of some size."""
    return replace(asked, size=None) if asked.size == 0 and inode.kind is Kind.REGULAR else asked


@_bends_request("setattr3-truncates-large-sizes", "SETATTR keeps the lower 32 bits of a size")
def setattr3_truncates_large_sizes(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Cut it."""
    return asked if asked.size is None else replace(asked, size=asked.size & 0xFFFF_FFFF)


def _overwrite(inode: Inode, offset: int, data: bytes) -> None:
    assert inode.data is not None
    inode.data.write(offset, data, stable=True)


@_does_more(
    "setattr3-truncation-clears-a-byte-too-many", "SETATTR that truncates clears the last byte that stays"
)
def setattr3_truncation_clears_a_byte_too_many(inode: Inode, size: int, asked: Sattr3) -> None:
    """Begin to clear one early, in what is more than a block."""
    if inode.data is not None and asked.size is not None and _BLOCK < asked.size < size:
        _overwrite(inode, asked.size - 1, b"\0")


@_does_more("setattr3-same-size-clears", "SETATTR of the size that a file has clears its data")
def setattr3_same_size_clears(inode: Inode, size: int, asked: Sattr3) -> None:
    """Truncate to nothing, then extend."""
    if inode.data is not None and asked.size == size:
        inode.data.truncate(0)
        inode.data.truncate(size)


@_does_more("setattr3-extends-with-garbage", "SETATTR extends with bytes that are not zero")
def setattr3_extends_with_garbage(inode: Inode, size: int, asked: Sattr3) -> None:
    """Leave something in the middle of what was added, where the file had data before."""
    if inode.data is not None and asked.size is not None and 0 < size < asked.size < 1 << 20:
        _overwrite(inode, (size + asked.size) // 2, b"garbage"[: asked.size - size])


@_does_more("setattr3-extension-clears-the-data", "SETATTR that extends clears what was in the file")
def setattr3_extension_clears_the_data(inode: Inode, size: int, asked: Sattr3) -> None:
    """Make all of it zero."""
    if inode.data is not None and asked.size is not None and 0 < size < asked.size:
        inode.data.truncate(0)
        inode.data.truncate(asked.size)


@mutant(
    "setattr3-extension-brings-old-data-back",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR that extends shows what an earlier one cut off",
)
def setattr3_extension_brings_old_data_back(
    server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Forget to clear blocks that are given back."""
    inode, asked = _inode(server, args.object), args.new_attributes.size
    if inode is None or inode.data is None or asked is None:
        return proceed(context, args)
    cut_off = server.mutant_state("setattr3-extension-brings-old-data-back").setdefault("files", {})
    size = inode.size
    end = inode.data.read(asked, size - asked) if asked < size else b""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3_OK:
        return reply
    if asked < size:
        cut_off[args.object] = (asked, end)
    elif asked > size and args.object in cut_off:
        at, data = cut_off.pop(args.object)
        _overwrite(inode, at, data[: asked - at])
    return reply


@mutant(
    "setattr3-refuses-to-extend",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR answers INVAL to a size above that of the file, up to 4 GiB",
)
def setattr3_refuses_to_extend(
    server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Refuse, where the file has data."""
    inode, asked = _inode(server, args.object), args.new_attributes.size
    if inode is not None and asked is not None and 0 < inode.size < asked < 1 << 32:
        return _refusal(server, args, Nfsstat3.NFS3ERR_INVAL)
    return proceed(context, args)


@mutant(
    "setattr3-size-leaves-mtime",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR of a size does not move mtime",
)
def setattr3_size_leaves_mtime(
    server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Put the old one back."""
    inode = _inode(server, args.object)
    mtime = 0 if inode is None else inode.mtime
    reply = proceed(context, args)
    asked = args.new_attributes
    if inode is not None and asked.size is not None and asked.mtime == DONT_CHANGE_TIME:
        inode.mtime = mtime
    return reply


def _takes_a_size(name: str, gist: str, kind: Kind) -> None:
    """Register a SETATTR that says OK to the size of what has none to set."""

    @mutant(name, bends=SETATTR, breaks=_SETATTR, gist=gist)
    def middleware(
        server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
    ) -> Setattr3Res:
        inode = _inode(server, args.object)
        if inode is None or inode.kind is not kind or args.new_attributes.size is None:
            return proceed(context, args)
        return _success(server, args)


_takes_a_size(
    "setattr3-takes-a-size-for-directories",
    "SETATTR says OK to the size of a directory, and does nothing",
    Kind.DIRECTORY,
)
_takes_a_size(
    "setattr3-takes-a-size-for-fifos", "SETATTR says OK to the size of a FIFO, and does nothing", Kind.FIFO
)


@mutant(
    "setattr3-size-empties-directories",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR of the size of a directory removes its entries, and is refused all the same",
)
def setattr3_size_empties_directories(
    server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Truncate, then look what it was."""
    inode = _inode(server, args.object)
    if inode is not None and inode.directory is not None and args.new_attributes.size is not None:
        for name in inode.directory.names():
            inode.fs.remove(server.caller(context), inode, name)
    return proceed(context, args)


# ---------------------------------------------------------------- guard


@mutant(
    "setattr3-ignores-guard",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR changes attributes though the guard does not match",
)
def setattr3_ignores_guard(
    _server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Leave the guard out."""
    return proceed(context, replace(args, guard=None))


@mutant(
    "setattr3-refuses-a-matching-guard",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR answers NOT_SYNC to every guard",
)
def setattr3_refuses_a_matching_guard(
    server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Do not compare."""
    if args.guard is None:
        return proceed(context, args)
    return _refusal(server, args, Nfsstat3.NFS3ERR_NOT_SYNC)


@mutant(
    "setattr3-wrong-guard-is-inval",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR answers INVAL, not NOT_SYNC, to a guard that does not match",
)
def setattr3_wrong_guard_is_inval(
    _server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Say something else."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_NOT_SYNC:
        return reply
    return replace(reply, status=Nfsstat3.NFS3ERR_INVAL)


@mutant(
    "setattr3-truncates-before-the-guard",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR of size 0 truncates before it looks at the guard",
)
def setattr3_truncates_before_the_guard(
    server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Be quick with one thing."""
    inode = _inode(server, args.object)
    is_guarded = args.guard is not None and args.new_attributes.size == 0
    if is_guarded and inode is not None and inode.data is not None:
        inode.data.truncate(0)
    return proceed(context, args)


@mutant(
    "setattr3-guards-by-mtime",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR lets a guard through that is the object's mtime",
)
def setattr3_guards_by_mtime(
    server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Compare to the wrong time."""
    inode = _inode(server, args.object)
    if inode is not None and args.guard == nfstime3(inode.mtime):
        return proceed(context, replace(args, guard=None))
    return proceed(context, args)


@mutant(
    "setattr3-guards-unasked",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR of a file's mode without a guard answers NOT_SYNC when its mode was set before",
)
def setattr3_guards_unasked(
    server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Guard the second change by the ctime from before the first, when nothing else is asked."""
    inode = _inode(server, args.object)
    only_mode = args.new_attributes == Sattr3(mode=args.new_attributes.mode)
    if inode is None or inode.data is None or args.guard is not None or not only_mode:
        return proceed(context, args)
    guards = server.mutant_state("setattr3-guards-unasked").setdefault("guards", {})
    seen = guards.setdefault(args.object, nfstime3(inode.ctime))
    return proceed(context, replace(args, guard=seen))


# ---------------------------------------------------------------- attributes before and after


@mutant(
    "setattr3-before-is-after",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="the pre-operation attributes of SETATTR are taken after the operation",
)
def setattr3_before_is_after(
    _server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Look too late."""
    reply = proceed(context, args)
    after = None if reply.resok is None else reply.resok.obj_wcc.after
    if reply.resok is None or after is None:
        return reply
    before = WccAttr(after.size, after.mtime, after.ctime)
    return replace(reply, resok=Setattr3ResOk(replace(reply.resok.obj_wcc, before=before)))


@mutant(
    "setattr3-after-is-before",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="the post-operation attributes of SETATTR are taken before the operation",
)
def setattr3_after_is_before(
    server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Look too early."""
    after = Watched(server, args.object).attributes()
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=Setattr3ResOk(replace(reply.resok.obj_wcc, after=after)))


@mutant(
    "setattr3-refusal-shows-what-was-asked",
    bends=SETATTR,
    breaks=_SETATTR,
    gist="SETATTR that is refused shows the mode that was asked as if it were set",
)
def setattr3_refusal_shows_what_was_asked(
    _server: Server, context: CallContext, args: Setattr3Args, proceed: NextSetattr
) -> Setattr3Res:
    """Count on success."""
    reply = proceed(context, args)
    after = None if reply.resfail is None else reply.resfail.obj_wcc.after
    if reply.resfail is None or after is None or args.new_attributes.mode is None:
        return reply
    wcc = replace(reply.resfail.obj_wcc, after=replace(after, mode=args.new_attributes.mode))
    return replace(reply, resfail=Setattr3ResFail(wcc))
