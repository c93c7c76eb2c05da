# SPDX-License-Identifier: MIT
"""OPEN, OPEN_DOWNGRADE and CLOSE (RFC 5661 sections 18.2, 18.16, 18.18)."""

from __future__ import annotations

import dataclasses
import errno
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4 import OpenClaimType4 as Claim
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import bits_of
from nfsserver.conflicts import clear_way
from nfsserver.fs import Changes, FsError, Inode, Kind, permissions
from nfsserver.fs.rules import require_directory as entries_of
from nfsserver.handlers import ServerApi
from nfsserver.nfs4 import acls, delegations, values
from nfsserver.nfs4.attributes import apply
from nfsserver.nfs4.common import (
    Nfs4Error,
    become_current,
    change_info,
    check_name,
    compound_of,
    current,
    on_wire,
    plain,
    require_file,
)
from nfsserver.nfs4.locks import notify_waiters
from nfsserver.state.delegations import Delegation
from nfsserver.state.opens import Open
from nfsserver.state.shares import Share
from nfsserver.state.stateids import INVALID, StateError

_OK: t.Final = Nfsstat4.NFS4_OK
_EXCLUSIVE_MODE: t.Final = 0o600
"""Of a file that EXCLUSIVE4 makes: for its owner only (section 18.16.4)."""
_BY_NAME: t.Final = frozenset({Claim.CLAIM_NULL, Claim.CLAIM_DELEGATE_CUR})
_WITH_DELEGATION: t.Final = frozenset({Claim.CLAIM_DELEGATE_CUR, Claim.CLAIM_DELEG_CUR_FH})
_WANTS: t.Final = (
    p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
    | p.OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL
    | p.OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED
)


class _Opening(t.NamedTuple):
    """A file that is about to be opened."""

    inode: Inode
    is_new: bool
    attrset: list[int]
    truncates: bool
    info: p.ChangeInfo4


def open4(server: ServerApi, context: CallContext, args: p.Open4Args) -> p.Open4Res:
    """OPEN by any claim; the two for delegations of an earlier client instance are not supported."""
    state = compound_of(context)
    access, deny = _shares(args)
    _check_claim(context, args)
    opening = _find(server, context, args)
    inode = opening.inode
    states, client = state.states, state.client
    if not opening.is_new:
        _check_access(context, inode, access)
    file: t.Hashable = inode
    if args.claim.claim != Claim.CLAIM_PREVIOUS:
        states.require_shareable(file, access, deny)
        # The holder of a read delegation opens the file for reading without asking the server (section 10.4).
        changes = bool(access & Share.WRITE or deny & Share.READ or opening.truncates)
        if delegations.may_write_later(server, args):
            server.clear_caches(inode, changes=True)
        clear_way(server, inode, client.id, changes=changes)
    if opening.truncates:
        inode.fs.setattr(state.caller, inode, Changes(size=0))
    try:
        opened = states.held.opens.open(client.id, bytes(args.owner.owner), file, access, deny)
    except StateError as refusal:
        is_reclaim = args.claim.claim == Claim.CLAIM_PREVIOUS and refusal.status == "SHARE_DENIED"
        raise StateError("RECLAIM_CONFLICT") if is_reclaim else refusal from None
    states.note_holder(client)
    become_current(context, inode)
    opened.may_notify = server.knobs.now.lock_notices
    resok = p.Open4ResOk(
        stateid=on_wire(opened.stateid),
        cinfo=opening.info,
        rflags=_flags(server, opened),
        attrset=opening.attrset,
        delegation=delegations.granted(server, context, args, inode, access),
    )
    return p.Open4Res(_OK, resok)


def _flags(server: ServerApi, opened: Open) -> int:
    """The flags of the result."""
    flags = p.OPEN4_RESULT_LOCKTYPE_POSIX if server.knobs.now.posix_locks else 0
    return flags | (p.OPEN4_RESULT_MAY_NOTIFY_LOCK if opened.may_notify else 0)


def _shares(args: p.Open4Args) -> tuple[Share, Share]:
    """share_access and share_deny without what is wanted of delegations. Raises INVAL."""
    access, deny = args.share_access & ~_WANTS, args.share_deny
    wanted = args.share_access & p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
    if access not in {1, 2, 3} or deny not in {0, 1, 2, 3} or wanted > p.OPEN4_SHARE_ACCESS_WANT_CANCEL:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    return Share(access), Share(deny)


def _check_claim(context: CallContext, args: p.Open4Args) -> None:
    """Raises what refuses a claim by its kind: INVAL, NOTSUPP, GRACE, NO_GRACE, RECLAIM_BAD; BADXDR: no opentype."""
    state, claim = compound_of(context), args.claim.claim
    if not args.openhow.opentype.is_known:
        raise Nfs4Error(Nfsstat4.NFS4ERR_BADXDR)
    if args.openhow.how is not None and claim not in _BY_NAME:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    if claim in {Claim.CLAIM_DELEGATE_PREV, Claim.CLAIM_DELEG_PREV_FH}:
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOTSUPP)
    if claim == Claim.CLAIM_PREVIOUS:
        state.states.require_reclaim(state.client)
    elif claim in _WITH_DELEGATION:
        if not state.client.has_completed and not state.states.in_grace:
            raise StateError("GRACE")
    else:
        state.states.require_new_locks(state.client)


# ---------------------------------------------------------------- which file


def _find(server: ServerApi, context: CallContext, args: p.Open4Args) -> _Opening:
    """The file of an OPEN, made if need be."""
    here, claim = current(context), args.claim
    name = claim.file
    stateid = claim.oc_delegate_stateid
    if claim.delegate_cur_info is not None:
        name, stateid = claim.delegate_cur_info.file, claim.delegate_cur_info.delegate_stateid
    if name is None:
        require_file(here)
        opening = _Opening(here, False, [], False, p.ChangeInfo4(True, here.change, here.change))
    elif args.openhow.how is None:
        opening = _by_name(server, context, here, bytes(name))
    else:
        opening = _created(server, context, args, here, bytes(name))
    if stateid is not None:
        state = compound_of(context)
        delegation = state.states.held.require(
            plain(stateid), state.client.id, opening.inode, "delegation", slots=state.client.slots
        )
        assert isinstance(delegation, Delegation)
    return opening


def _require_directory(server: ServerApi, directory: Inode, name: bytes) -> None:
    check_name(server, name, directory)
    if directory.directory is None:
        raise FsError(errno.ENOTDIR)


def _by_name(server: ServerApi, context: CallContext, directory: Inode, name: bytes) -> _Opening:
    _require_directory(server, directory, name)
    state = compound_of(context)
    inode = server.backend.pseudo.cross(directory.fs.lookup(state.caller, directory, name))
    require_file(inode)
    info = change_info(directory, directory.change, atomic=server.knobs.now.atomic_change_info)
    return _Opening(inode, False, [], False, info)


def _created(
    server: ServerApi,
    context: CallContext,
    args: p.Open4Args,
    directory: Inode,
    name: bytes,
) -> _Opening:
    """A file that OPEN makes, in one of the four modes, or that it finds."""
    _require_directory(server, directory, name)
    state, how = compound_of(context), args.openhow.how
    assert how is not None
    verifier = how.createverf
    attributes = how.createattrs
    if directory.attribute_of is not None and how.mode in {
        p.Createmode4.EXCLUSIVE4,
        p.Createmode4.EXCLUSIVE4_1,
    }:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    if how.ch_createboth is not None:
        verifier, attributes = how.ch_createboth.cva_verf, how.ch_createboth.cva_attrs
        _check_exclusive(attributes)
    setting = values.setting_of(server, attributes or p.Fattr4(), state.minor)
    found = _existing(context, directory, name)
    if found is not None:
        return _taken(context, directory, found, how.mode, verifier, setting)
    before = directory.change
    changes = setting.changes
    if verifier is not None and changes.mode is None:
        changes = dataclasses.replace(changes, mode=_EXCLUSIVE_MODE)
    acls.require_room(directory, setting.acl)
    inode = directory.fs.create(state.caller, directory, name, changes)
    inode.create_verifier = None if verifier is None else bytes(verifier)
    inode.acl = setting.acl
    info = change_info(directory, before, atomic=server.knobs.now.atomic_change_info)
    return _Opening(inode, True, setting.mask, False, info)


def _check_exclusive(attributes: p.Fattr4) -> None:
    """Raises INVAL for what is not in suppattr_exclcreat (section 18.16.3)."""
    if set(bits_of(attributes.attrmask)) - set(bits_of(values.AT_CREATION)):
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)


def _existing(context: CallContext, directory: Inode, name: bytes) -> Inode | None:
    """What has the name already; with the permission to look."""
    entries_of(directory)
    try:
        return directory.fs.lookup(compound_of(context).caller, directory, name)
    except FsError as refusal:
        if refusal.errno == errno.ENOENT:
            return None
        raise


def _taken(
    context: CallContext,
    directory: Inode,
    found: Inode,
    mode: p.Createmode4,
    verifier: bytes | None,
    setting: values.Setting,
) -> _Opening:
    """A file that was there before an OPEN that may create it."""
    info = p.ChangeInfo4(True, directory.change, directory.change)
    if verifier is not None:
        if found.kind is not Kind.REGULAR or found.create_verifier != bytes(verifier):
            raise FsError(errno.EEXIST)
        # The retry of a creation: what it sets is set again.
        apply(context, found, setting)
        return _Opening(found, True, setting.mask, False, info)
    if mode == p.Createmode4.GUARDED4:
        raise FsError(errno.EEXIST)
    require_file(found)
    truncates = setting.changes.size == 0
    attrset = p.bitmap("size") if truncates else []
    return _Opening(found, False, attrset, truncates, info)


def _check_access(context: CallContext, inode: Inode, access: Share) -> None:
    """Whether the caller may open a file like this, also in a reclaim (section 8.4.2.1.1). Raises ACCESS, ROFS.

    Who may execute may read (section 18.22.4 tells servers to allow what paging in needs).
    """
    caller = compound_of(context).caller
    if access & Share.WRITE and inode.fs.read_only:
        raise FsError(errno.EROFS)
    granted = permissions.granted_by_mode(caller, inode)
    may_read = granted & (permissions.READ | permissions.EXECUTE)
    if (access & Share.READ and not may_read) or (access & Share.WRITE and not granted & permissions.WRITE):
        raise FsError(errno.EACCES)


# ---------------------------------------------------------------- OPEN_DOWNGRADE and CLOSE


def _open_of(context: CallContext, stateid: p.Stateid4) -> Open:
    state = compound_of(context)
    inode = current(context)
    opened = state.states.held.require(
        plain(stateid), state.client.id, inode, "open", slots=state.client.slots
    )
    assert isinstance(opened, Open)
    return opened


def open_downgrade4(
    _server: ServerApi, context: CallContext, args: p.OpenDowngrade4Args
) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE to what some of the OPENs add up to."""
    access, deny = args.share_access & ~_WANTS, args.share_deny
    if access not in {1, 2, 3} or deny not in {0, 1, 2, 3}:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    opened = _open_of(context, args.open_stateid)
    compound_of(context).states.held.opens.downgrade(opened, Share(access), Share(deny))
    return p.OpenDowngrade4Res(_OK, p.OpenDowngrade4ResOk(on_wire(opened.stateid)))


def close4(server: ServerApi, context: CallContext, args: p.Close4Args) -> p.Close4Res:
    """CLOSE; the stateid that it returns is none (section 18.2.4). A file without names goes with its last open."""
    opened, inode = _open_of(context, args.open_stateid), current(context)
    compound_of(context).states.held.close(opened, frees_locks=server.knobs.now.close_frees_locks)
    notify_waiters(server, inode)
    return p.Close4Res(_OK, on_wire(INVALID))
