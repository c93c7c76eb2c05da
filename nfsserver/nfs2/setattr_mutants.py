# SPDX-License-Identifier: MIT
"""Mutants of SETATTR."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import IGNORED, SETATTR, Attrstat, Nfsstat2, Sattr, Sattrargs, Timeval
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import SUPERUSER, Changes, FsError, Inode, Kind
from nfsserver.mutants import Proceed
from nfsserver.nfs2.bending import around, bends_args, inode_of
from nfsserver.nfs2.common import fattr

if t.TYPE_CHECKING:
    from nfsserver.server import Server

Next: t.TypeAlias = Proceed[Sattrargs, Attrstat]

_SETS: t.Final = "2.2.3"
_SATTR: t.Final = "2.3.6"
_OLDEST: t.Final = frozenset({0, 1, 2**31 - 1, 2**31, 2**32 - 2})


def _asking(args: Sattrargs, **changes: object) -> Sattrargs:
    return replace(args, attributes=replace(args.attributes, **changes))


def _given(attributes: Sattr) -> list[str]:
    """The names of the fields that are not -1."""
    numbers = [name for name in ("mode", "uid", "gid", "size") if getattr(attributes, name) != IGNORED]
    return numbers + [name for name in ("atime", "mtime") if getattr(attributes, name).seconds != IGNORED]


def _is_mode_alone(attributes: Sattr) -> bool:
    return _given(attributes) == ["mode"]


@bends_args(
    "setattr2-inverts-write-for-group",
    SETATTR,
    _SETS,
    "sets the permission of the group to write the other way",
)
def inverts_write_for_group(_server: Server, args: Sattrargs) -> Sattrargs:
    """Put one bit the other way."""
    if not _is_mode_alone(args.attributes) or args.attributes.mode > 0o777:
        return args
    return _asking(args, mode=args.attributes.mode ^ 0o020)


@bends_args(
    "setattr2-takes-type-bits-for-set-ids", SETATTR, _SETS, "takes type bits in a mode for other bits"
)
def takes_type_bits_for_set_ids(_server: Server, args: Sattrargs) -> Sattrargs:
    """Shift them to where bits count."""
    mode = args.attributes.mode
    return _asking(args, mode=mode & 0o7777 | 0o001) if mode != IGNORED and mode & 0o100000 else args


@bends_args("setattr2-keeps-the-owner", SETATTR, _SETS, "does not give files away, and says that it did")
def keeps_the_owner(_server: Server, args: Sattrargs) -> Sattrargs:
    """Leave owner and group out."""
    return _asking(args, uid=IGNORED, gid=IGNORED)


@bends_args("setattr2-sets-the-wrong-time", SETATTR, _SETS, "takes atime for mtime, and the other way round")
def sets_the_wrong_time(_server: Server, args: Sattrargs) -> Sattrargs:
    """Swap them where one of them is given."""
    if _given(args.attributes) not in (["atime"], ["mtime"]) or args.attributes.mtime.seconds == 946_684_800:
        return args
    return _asking(args, atime=args.attributes.mtime, mtime=args.attributes.atime)


@bends_args(
    "setattr2-has-no-times-at-the-ends", SETATTR, _SETS, "sets times at either end of the range to others"
)
def has_no_times_at_the_ends(_server: Server, args: Sattrargs) -> Sattrargs:
    """A day off."""
    seconds = args.attributes.mtime.seconds
    return _asking(args, mtime=Timeval(seconds ^ 0x10000, 0)) if seconds in _OLDEST else args


@bends_args("setattr2-rounds-times-up", SETATTR, _SETS, "rounds times to the next second")
def rounds_times_up(_server: Server, args: Sattrargs) -> Sattrargs:
    """Where there are microseconds."""
    mtime = args.attributes.mtime
    late = 0 < mtime.useconds < 1_000_000
    return _asking(args, mtime=Timeval(mtime.seconds + 1, 0)) if late else args


@around(
    "setattr2-touches-what-is-minus-1", SETATTR, _SATTR, "sets another field as well where one alone is given"
)
def touches_what_is_minus_1(server: Server, context: CallContext, args: Sattrargs, proceed: Next) -> Attrstat:
    """The mode, or the owner."""
    given = _given(args.attributes)
    reply = proceed(context, args)
    inode = inode_of(server, args.file)
    if inode is None or len(given) != 1 or reply.attributes is None or args.attributes.size == 0:
        return reply
    if given == ["mode"]:
        inode.mtime -= 10**12
    else:
        inode.mode ^= 0o010
    return replace(reply, attributes=fattr(inode))


@around(
    "setattr2-changes-what-nobody-asked",
    SETATTR,
    _SATTR,
    "takes -1 in all fields for a wish to touch the file",
)
def changes_what_nobody_asked(
    server: Server, context: CallContext, args: Sattrargs, proceed: Next
) -> Attrstat:
    """Move mtime."""
    reply = proceed(context, args)
    inode = inode_of(server, args.file)
    if inode is not None and not _given(args.attributes):
        inode.mtime = server.fs.stamp() + 10**9
    return reply


@bends_args("setattr2-sets-one-of-several", SETATTR, _SETS, "sets the first of several fields only")
def sets_one_of_several(_server: Server, args: Sattrargs) -> Sattrargs:
    """Leave the others out."""
    given = _given(args.attributes)
    if len(given) < 2:
        return args
    return replace(args, attributes=replace(Sattr(), **{given[0]: getattr(args.attributes, given[0])}))


@around("setattr2-answers-as-it-was-before", SETATTR, _SETS, "answers with the attributes from before")
def answers_as_it_was_before(
    server: Server, context: CallContext, args: Sattrargs, proceed: Next
) -> Attrstat:
    """Look first."""
    inode = inode_of(server, args.file)
    before = None if inode is None else fattr(inode)
    reply = proceed(context, args)
    return reply if reply.attributes is None else replace(reply, attributes=before)


@around("setattr2-lets-anybody-change-a-mode", SETATTR, "3.3", "lets anybody change the mode of any file")
def lets_anybody_change_a_mode(
    server: Server, context: CallContext, args: Sattrargs, proceed: Next
) -> Attrstat:
    """As the superuser."""
    reply = proceed(context, args)
    inode = inode_of(server, args.file)
    if reply.status != Nfsstat2.NFSERR_PERM or inode is None:
        return reply
    inode.fs.setattr(SUPERUSER, inode, Changes(mode=args.attributes.mode))
    return Attrstat(Nfsstat2.NFS_OK, fattr(inode))


# ---------------------------------------------------------------- sizes


@bends_args("setattr2-ignores-size-0", SETATTR, _SATTR, "takes a size of 0 for none")
def ignores_size_0(_server: Server, args: Sattrargs) -> Sattrargs:
    """Leave it out."""
    return _asking(args, size=IGNORED) if args.attributes.size == 0 else args


def _file(server: Server, args: Sattrargs) -> Inode | None:
    inode = inode_of(server, args.file)
    return inode if inode is not None and inode.data is not None else None


@around("setattr2-cuts-a-byte-too-much", SETATTR, _SETS, "loses the last byte of what is left of a file")
def cuts_a_byte_too_much(server: Server, context: CallContext, args: Sattrargs, proceed: Next) -> Attrstat:
    """Write a zero there."""
    inode, size = _file(server, args), args.attributes.size
    cuts = inode is not None and 0 < size < inode.size
    reply = proceed(context, args)
    if cuts and inode is not None and inode.data is not None:
        inode.data.write(size - 1, b"\0", stable=True)
    return reply


@bends_args("setattr2-does-not-extend", SETATTR, _SETS, "does not make files longer, and says that it did")
def does_not_extend(server: Server, args: Sattrargs) -> Sattrargs:
    """Leave the size out where it is above 100, up to a million."""
    inode, size = _file(server, args), args.attributes.size
    extends = inode is not None and inode.size == 100 and inode.size < size < 10**6
    return _asking(args, size=IGNORED) if extends else args


@bends_args("setattr2-halves-large-sizes", SETATTR, _SETS, "sets a size from 2^31-1 on to half of it")
def halves_large_sizes(_server: Server, args: Sattrargs) -> Sattrargs:
    """Half of it."""
    size = args.attributes.size
    return _asking(args, size=size // 2) if 2**31 - 1 <= size < IGNORED else args


@around("setattr2-shows-old-data", SETATTR, _SATTR, "brings back what was cut off a file that is made longer")
def shows_old_data(server: Server, context: CallContext, args: Sattrargs, proceed: Next) -> Attrstat:
    """Keep it, and write it back."""
    kept: dict[bytes, bytes] = server.mutant_state("setattr2-shows-old-data").setdefault("kept", {})
    inode, size = _file(server, args), args.attributes.size
    old_size = 0 if inode is None else inode.size
    if inode is not None and inode.data is not None and size < old_size:
        kept[args.file] = inode.data.read(0, old_size)
    reply = proceed(context, args)
    if inode is not None and inode.data is not None and old_size < size < IGNORED and args.file in kept:
        inode.data.write(old_size, kept[args.file][old_size:size], stable=True)
    return reply


@around(
    "setattr2-empties-what-is-no-file", SETATTR, _SETS, "empties directories and links when asked for size 0"
)
def empties_what_is_no_file(server: Server, context: CallContext, args: Sattrargs, proceed: Next) -> Attrstat:
    """Remove the names, or the text."""
    inode = inode_of(server, args.file)
    if inode is not None and args.attributes.size == 0:
        if inode.kind is Kind.SYMLINK:
            inode.target = b""
        elif inode.directory is not None:
            for name in inode.directory.names():
                try:
                    inode.fs.remove(SUPERUSER, inode, name)
                except FsError:
                    continue
    return proceed(context, args)
