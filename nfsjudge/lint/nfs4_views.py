# SPDX-License-Identifier: MIT
"""What the operations of NFSv4 change, and what the world learns from their results (RFC 5661)."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator, Sequence

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import Step
from nfsclient.xdr import Unread
from nfsjudge.lint.nfs4_known import MOST_STATEIDS, Channels, Identity4, Known, Object4, State4
from nfsjudge.lint.seen import View
from nfsjudge.lint.views import Views, register
from nfsjudge.lint.world import Named, World

OK: t.Final = Nfsstat4.NFS4_OK
IDENTITY: t.Final = ("type", "fsid", "fileid")
STILL: t.Final = ("type", "fsid", "fileid", "mode", "owner", "owner_group", "numlinks", "size")
"""Attributes that stay while nothing changes the object."""
_HARMLESS: t.Final = frozenset(
    {
        *(p.ACCESS, p.BACKCHANNEL_CTL, p.BIND_CONN_TO_SESSION, p.CREATE_SESSION, p.DELEGPURGE),
        *(
            p.DESTROY_CLIENTID,
            p.DESTROY_SESSION,
            p.EXCHANGE_ID,
            p.FREE_STATEID,
            p.GETATTR,
            p.GETFH,
            p.ILLEGAL,
        ),
        *(p.LOCK, p.LOCKT, p.LOCKU, p.LOOKUP, p.LOOKUPP, p.NVERIFY, p.OPEN_DOWNGRADE, p.PUTFH, p.PUTPUBFH),
        *(p.PUTROOTFH, p.READ, p.READDIR, p.READLINK, p.RECLAIM_COMPLETE, p.RESTOREFH, p.SAVEFH, p.SECINFO),
        *(p.SECINFO_NO_NAME, p.SEQUENCE, p.TEST_STATEID, p.VERIFY),
    }
)
"""Operations that change no object."""
_OF_CURRENT: t.Final = frozenset(
    {
        p.ALLOCATE,
        p.CLOSE,
        p.COMMIT,
        p.CREATE,
        p.DEALLOCATE,
        p.DELEGRETURN,
        p.REMOVEXATTR,
        p.SETATTR,
        p.SETXATTR,
        p.WRITE,
    }
)
"""Operations that may change the object of the current filehandle, and no other that was there before."""
_READERS: t.Final = frozenset({p.READ, p.READDIR, p.READLINK})
"""They may move the time of the last access, and with it the attribute change."""
QUIET: t.Final = frozenset(
    {
        *(
            p.ACCESS,
            p.GETATTR,
            p.GETFH,
            p.LOOKUP,
            p.LOOKUPP,
            p.NVERIFY,
            p.PUTFH,
            p.PUTPUBFH,
            p.PUTROOTFH,
            p.READ,
        ),
        *(p.READDIR, p.READLINK, p.RESTOREFH, p.SAVEFH, p.SEQUENCE, p.VERIFY),
    }
)
"""Operations that tell a server nothing about the state that a client has, or has lost."""
_STATEIDS: t.Final = frozenset({p.LOCK, p.LOCKU, p.OPEN, p.OPEN_DOWNGRADE})
_ENDING_STATE: t.Final = frozenset(
    {p.CLOSE, p.DESTROY_CLIENTID, p.DESTROY_SESSION, p.EXCHANGE_ID, p.FREE_STATEID}
)
_OF_STATE: t.Final = _STATEIDS | _ENDING_STATE | {p.SEQUENCE, p.CREATE_SESSION}
"""What `_note_state` learns from."""
_OF_DIRECTORIES: t.Final = frozenset({p.CREATE, p.LINK, p.OPEN, p.REMOVE, p.RENAME})
"""They change names."""
_OF_OWNERS: t.Final = frozenset({p.CREATE, p.LINK, p.LOOKUP, p.OPEN, p.RENAME})
"""They make or move objects, or find those that are ours."""


class DirectoryChange(t.NamedTuple):
    """A change_info4 of a result."""

    directory: bytes
    info: p.ChangeInfo4
    path: str


# ---------------------------------------------------------------- reading results


def views_of(_step: Step) -> list[View]:
    """Nothing: the attributes of NFSv4 come one by one, and the rules read them themselves."""
    return []


def results_of(step: Step) -> t.Any:
    """What an operation that succeeded returns; None for others."""
    if step.result is None or p.status_of(step.result) != OK:
        return None
    return getattr(step.result, "resok4", step.result)


def attributes_of(step: Step) -> tuple[bytes, p.Fattr4] | None:
    """The handle and the attributes that a GETATTR returned."""
    handle = t.cast("p.Step", step).current
    if step.operation is not p.GETATTR or handle is None or (found := results_of(step)) is None:
        return None
    return handle, found.obj_attributes


def directory_changes(step: Step) -> Iterator[DirectoryChange]:
    """The change_info4 of directories whose handles are known."""
    at, found = t.cast("p.Step", step), results_of(step)
    if found is None:
        return
    if step.operation is p.RENAME:
        places = [(at.saved, "source_cinfo"), (at.current, "target_cinfo")]
    elif step.operation in {p.CREATE, p.LINK, p.REMOVE} or _makes_a_file(step):
        places = [(at.current, "cinfo")]
    else:
        return
    for handle, name in places:
        if handle is not None:
            yield DirectoryChange(handle, getattr(found, name), f"resok4.{name}")


def stateid_of(step: Step) -> tuple[p.Stateid4, str] | None:
    """The stateid that an operation on opens or locks returned, and its path."""
    found = results_of(step)
    if step.operation not in _STATEIDS or found is None:
        return None
    if step.operation is p.OPEN and found.rflags & p.OPEN4_RESULT_NO_OPEN_STATEID:
        return None
    for path in t.cast("p.AnyOperation", step.operation).gives_stateid:
        value: t.Any = step.result
        for name in path.split("."):
            value = getattr(value, name, None)
        if isinstance(value, p.Stateid4):
            return value, path
    return None


def _makes_a_file(step: Step) -> bool:
    """Whether it is an OPEN that fails if there is a file already."""
    how = None if step.operation is not p.OPEN or step.args is None else step.args.openhow.how
    return how is not None and how.mode == p.Createmode4.GUARDED4


def _creates(step: Step) -> bool:
    return step.operation is p.OPEN and (
        step.args is None or step.args.openhow.opentype != p.Opentype4.OPEN4_NOCREATE
    )


def request_of(exchange: Exchange) -> tuple[bytes, int, int] | None:
    """Session, slot and sequence id: a second request with the same gets the reply to the first (section 2.10.6.1)."""
    first = next(iter(exchange.args.argarray), None) if isinstance(exchange.args, p.Compound4Args) else None
    if not isinstance(first, p.Sequence4Args):
        return None
    return bytes(first.sa_sessionid), first.sa_slotid, first.sa_sequenceid


# ---------------------------------------------------------------- what changes


def changed(step: Step) -> Sequence[bytes] | None:
    """The handles of the objects that an operation may have changed, also if it failed; None for any object."""
    at = t.cast("p.Step", step)
    if isinstance(step.args, Unread) and step.result is None:
        return None  # an operation that is not known here
    if step.operation in _HARMLESS or (step.operation is p.OPEN and not _creates(step)):
        return []
    if step.operation in _OF_CURRENT:
        handles = [at.current]
    elif step.operation is p.LINK:
        handles = [at.current, at.saved]
    elif step.operation is p.OPEN:
        handles = [at.current, at.after if results_of(step) is not None else None]
    else:
        return None
    return None if None in handles else t.cast("list[bytes]", handles)


def _certainly_changed(step: Step) -> Iterator[bytes | None]:
    """The handles of what an operation that succeeded has certainly changed."""
    at, found = t.cast("p.Step", step), results_of(step)
    if found is None:
        return
    has_written = step.operation is p.WRITE and found.count
    if has_written or step.operation in {p.CREATE, p.LINK, p.REMOVE} or _makes_a_file(step):
        yield at.current


# ---------------------------------------------------------------- learning


def learn(world: World, step: Step | None, _views: Sequence[View], *, is_shared: bool) -> None:
    """Take in what an operation says, and forget what it may have changed."""
    unsettle(world, step)
    if step is None:
        world.removed()
        world.state4.forget()
        return
    operation = step.operation
    if operation not in _HARMLESS or isinstance(step.args, Unread):
        _note_change(world, step)
    if operation in _OF_OWNERS:
        _note_owners(world, step, is_shared=is_shared)
    if is_shared:
        world.state4.forget()
        return
    if operation in _READERS and (handle := t.cast("p.Step", step).current) is not None:
        object_of(world, handle).values.pop("change", None)
    if operation is p.GETATTR or operation in _OF_DIRECTORIES:
        _note_attributes(world, step)
    if operation is p.LOOKUP or operation in _OF_DIRECTORIES:
        _note_names(world, step)
    if operation in _OF_STATE:
        _note_state(world, step)


def unsettle(world: World, step: Step | None) -> None:
    """Forget what an operation may end, for whatever client and at whatever address it was sent."""
    if step is None or step.operation not in QUIET:
        world.state4.flags.clear()
    if step is None:
        return
    if step.operation in {p.SEQUENCE, p.CREATE_SESSION} and step.result is not None:
        world.state4.losses += p.status_of(step.result) in _LOSSES
    kind = _delegates(step)
    if kind is _WRITE_WITH_TIMES:
        world.state4.has_delegated_times = True
    handle = t.cast("p.Step", step).after
    if kind in {_WRITE, _WRITE_WITH_TIMES} and handle is not None:
        object_of(world, handle).is_delegated = True


_WRITE: t.Final = p.OpenDelegationType4.OPEN_DELEGATE_WRITE
_WRITE_WITH_TIMES: t.Final = p.OpenDelegationType4.OPEN_DELEGATE_WRITE_ATTRS_DELEG
"""The client keeps the times of a file from now on: WRITE may leave them, and with them `change`."""
_LOSSES: t.Final = frozenset(
    {Nfsstat4.NFS4ERR_BADSESSION, Nfsstat4.NFS4ERR_DEADSESSION, Nfsstat4.NFS4ERR_STALE_CLIENTID}
)


def _delegates(step: Step) -> p.OpenDelegationType4 | None:
    """The kind of delegation that an operation gives."""
    if step.operation is p.OPEN:
        given = getattr(results_of(step), "delegation", None)
    elif step.operation is p.WANT_DELEGATION:
        given = getattr(step.result, "wdr_resok4", None)
    else:
        return None
    return None if given is None else t.cast("p.OpenDelegationType4", given.delegation_type)


def object_of(world: World, handle: bytes) -> Object4:
    """What is known of an object; what may not hold any more is forgotten."""
    facts = world.of(handle)
    found = facts.object4
    if found is None:
        found = facts.object4 = Object4()
    if found.generation != world.generation:
        found.identity.clear()
        found.past.clear()
        found.generation, found.read, found.changed_by = world.generation, None, ""
    if found.losses != world.state4.losses:
        found.past.clear()
        found.losses, found.read, found.changed_by = world.state4.losses, None, ""
    if (found.epoch, found.touched) != (world.epoch, facts.touched):
        found.values.clear()
        found.epoch, found.touched = world.epoch, facts.touched
    return found


def _note_change(world: World, step: Step) -> None:
    handles = changed(step)
    if handles is None:
        # Directories in which names went are there afterwards.
        kept = {
            directory_change.directory: object_of(world, directory_change.directory)
            for directory_change in directory_changes(step)
        }
        read = {handle: (found.read, dict(found.past), found.changed_by) for handle, found in kept.items()}
        world.removed()
        for handle, (change, past, changed_by) in read.items():
            found = object_of(world, handle)
            found.read, found.past, found.changed_by = change, past, changed_by
    elif handles:
        world.names.clear()
        for handle in handles:
            world.touch(handle)
    for target in _certainly_changed(step):
        # Whoever has a delegation with the times of a file (RFC 9754) may have got it before anybody looked.
        if step.operation is p.WRITE and (world.state4.has_delegated_times or not _is_ours(world, target)):
            continue
        if target is not None:
            found = object_of(world, target)
            found.changed_by = found.changed_by or step.operation.name


def _note_owners(world: World, step: Step, *, is_shared: bool) -> None:
    """Which objects nobody else knows of."""
    at, found = t.cast("p.Step", step), results_of(step)
    is_ours = _is_ours(world, at.current)
    is_of_two = is_ours is not _is_ours(world, at.saved)
    if step.operation is p.LINK and is_of_two and at.current is not None and at.saved is not None:
        world.of(at.current).is_ours = world.of(at.saved).is_ours = False
    elif step.operation in {p.LINK, p.RENAME} and is_of_two:
        world.disown()
    if found is None or is_shared or at.after is None or step.args is None:
        return
    if step.operation is p.CREATE or _makes_a_file(step) or (step.operation is p.LOOKUP and is_ours):
        world.of(at.after).is_ours = True


def _is_ours(world: World, handle: bytes | None) -> bool:
    return handle is not None and world.of(handle).is_ours


def _note_attributes(world: World, step: Step) -> None:
    seen = attributes_of(step)
    if seen is not None:
        handle, attributes = seen
        values = plain_attributes(attributes)
        found = object_of(world, handle)
        for name in IDENTITY:
            if name in values:
                found.identity.setdefault(name, Known(values[name], world.source))
        if all(name in found.identity for name in IDENTITY):
            world.identify(handle, Identity4(*(found.identity[name].value for name in IDENTITY)))
        found.values |= {name: Known(value, world.source) for name, value in values.items()}
        if "change" in values:
            found.read_change(values["change"], world.source, is_apart=world.disturbed == ())
    for directory_change in directory_changes(step):
        if directory_change.info.atomic:
            object_of(world, directory_change.directory).values["change"] = Known(
                directory_change.info.after, world.source
            )


def plain_attributes(attributes: p.Fattr4) -> dict[str, t.Any]:
    """Name -> value that can be compared, of the attributes that the rules use."""
    values = {name: getattr(attributes, name) for name in (*STILL, "change")}
    if values["fsid"] is not None:
        values["fsid"] = (values["fsid"].major, values["fsid"].minor)
    return {name: value for name, value in values.items() if value is not None}


def _note_names(world: World, step: Step) -> None:
    at = t.cast("p.Step", step)
    if step.args is None or at.current is None or step.result is None:
        return
    name, status = name_in(step), p.status_of(step.result)
    if name is None:
        return
    if step.operation is p.REMOVE:
        if status == OK:
            world.names[at.current, name] = Named(False, world.source)
    elif status == OK:
        world.names[at.current, name] = Named(True, world.source)
    elif step.operation is p.LOOKUP and status == Nfsstat4.NFS4ERR_NOENT:
        world.names[at.current, name] = Named(False, world.source)


def name_in(step: Step) -> bytes | None:
    """The name in the current directory that an operation is about."""
    args = step.args
    if step.operation in {p.CREATE, p.LOOKUP}:
        return bytes(args.objname)
    if step.operation is p.LINK:
        return bytes(args.newname)
    if step.operation is p.REMOVE:
        return bytes(args.target)
    if step.operation is p.OPEN and args.claim.claim == p.OpenClaimType4.CLAIM_NULL:
        return bytes(args.claim.file)
    return None


def _note_state(world: World, step: Step) -> None:
    """Sessions, and the seqids of stateids."""
    state, found = world.state4, results_of(step)
    if step.operation is p.SEQUENCE:
        state.session = bytes(step.args.sa_sessionid) if found is not None and step.args is not None else b""
        if found is not None:
            given = found.sr_resok4
            if len(state.flags) >= MOST_STATEIDS:
                state.flags.clear()
            state.flags[bytes(given.sr_sessionid)] = Known(given.sr_status_flags, world.source)
            offered = given.sr_highest_slotid, given.sr_target_highest_slotid
            note_slots(state.highest, bytes(given.sr_sessionid), *offered)
    elif step.operation is p.CREATE_SESSION and step.result is not None and step.args is not None:
        granted = step.result.csr_resok4
        if granted is not None:
            session = bytes(granted.csr_sessionid)
            state.clients[session] = step.args.csa_clientid
            if len(state.channels) >= MOST_STATEIDS:
                state.channels.clear()
            minor = t.cast("p.Step", step).minor
            channels = Channels(granted.csr_fore_chan_attrs, granted.csr_back_chan_attrs, minor)
            state.channels[session] = Known(channels, world.source)
    elif step.operation in _ENDING_STATE:
        # What a stateid was called may be the name of another one from now on.
        state.stateids.clear()
    elif step.operation is p.OPEN and found is not None:
        _note_notices(state, step, world)
    given = stateid_of(step)
    key = None if given is None else state.key(bytes(given[0].other))
    if given is not None and key is not None:
        if len(state.stateids) >= MOST_STATEIDS:
            state.stateids.clear()
        state.stateids[key] = Known(given[0].seqid, world.source)


def note_slots(kept: dict[bytes, int], session: bytes, *offered: int) -> None:
    """Keep the highest slot that a replier ever offered in a session."""
    if len(kept) >= MOST_STATEIDS:
        kept.clear()
    kept[session] = max(*offered, kept.get(session, 0))


_BY_NAME: t.Final = frozenset(
    {
        p.OpenClaimType4.CLAIM_NULL,
        p.OpenClaimType4.CLAIM_DELEGATE_CUR,
        p.OpenClaimType4.CLAIM_DELEGATE_PREV,
    }
)
"""Claims with a name in the current directory; those of others are of the current file."""


def _note_notices(state: State4, step: Step, world: World) -> None:
    """Whether the server may send CB_NOTIFY_LOCK for a file that a client has opened."""
    at, clientid = t.cast("p.Step", step), state.clients.get(state.session)
    is_by_name = step.args is None or step.args.claim.claim in _BY_NAME
    handle = at.after if at.after is not None or is_by_name else at.current
    if handle is None or clientid is None:
        return
    if len(state.notices) >= MOST_STATEIDS:
        state.notices.clear()
    announced = bool(results_of(step).rflags & p.OPEN4_RESULT_MAY_NOTIFY_LOCK)
    known = state.notices.get((clientid, handle))
    state.notices[clientid, handle] = Known(announced or (known is not None and known.value), world.source)


register(p.NFS4, Views(views_of, changed, learn, request_of, unsettle))
