# SPDX-License-Identifier: MIT
"""Rules for NFSv4.1 and 4.2 replies that contradict what the same server said before (RFC 5661).

What was said before binds only while nothing that is seen, and nobody unseen, can have changed it: see `world`.
Replies of calls that overlap are not compared.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge.harm import Harm
from nfsjudge.lint.case import Case
from nfsjudge.lint.nfs4_known import Known
from nfsjudge.lint.nfs4_views import (
    IDENTITY,
    OK,
    QUIET,
    STILL,
    attributes_of,
    directory_changes,
    name_in,
    object_of,
    plain_attributes,
    stateid_of,
)
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.lint.world import same_user
from nfsjudge.requirement import must, should, stated

_REGULAR, _LINK, _DIRECTORY = p.NfsFtype4.NF4REG, p.NfsFtype4.NF4LNK, p.NfsFtype4.NF4DIR
_HALF: t.Final = 1 << 31
_ALL: t.Final = 1 << 32


ONE_HANDLE_ONE_FILE = must(
    "RFC 5661",
    "4.2.1",
    "equal filehandles refer to the same file: its type, fsid and fileid stay what they are",
    harm=Harm.DATA,
)
ATTRIBUTES_AGREE = stated(
    "RFC 5661",
    "18.7.3",
    "GETATTR obtains the attributes of the object: nothing changed them since the last ones",
)
CHANGE_MOVES = stated(
    "RFC 5661",
    "5.8.1.4",
    "attribute change tells whether data, contents or attributes of the object have been modified",
)
BEFORE_IS_BEFORE = should(
    # the value is the one just before the operation, and may have moved by itself (section 5.8.1.4)
    "RFC 5661",
    "3.3.8",
    "before in an atomic change_info4 is the change attribute that the directory had: nothing changed it since",
)
NAMES_AGREE = stated(
    "RFC 5661", "18.13.3", "LOOKUP finds the name of an object in its directory, and no other name"
)
SEQIDS_GO_ON = must(
    "RFC 5661", "8.2.2", "the seqid of a stateid is incremented when the set of locks changes"
)
FLAGS_STAY = stated(
    "RFC 5661",
    "18.46.3",
    (
        "the status bits of lost state remain set on all SEQUENCE replies until FREE_STATEID has acknowledged the"
        " loss; that of a restart until RECLAIM_COMPLETE"
    ),
)
_LOST: t.Final = {
    p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED: "EXPIRED_ALL_STATE_REVOKED",
    p.SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED: "EXPIRED_SOME_STATE_REVOKED",
    p.SEQ4_STATUS_ADMIN_STATE_REVOKED: "ADMIN_STATE_REVOKED",
    p.SEQ4_STATUS_RECALLABLE_STATE_REVOKED: "RECALLABLE_STATE_REVOKED",
    p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED: "RESTART_RECLAIM_NEEDED",
}
"""The bits that only a client ends. Those of the backchannel, of GSS contexts, of leases that moved and of devices may
go when something happens that no call shows."""


def _is_apart(case: Case) -> bool:
    """Whether no other call went on at the same time."""
    return case.world.disturbed == ()


def _still(kind: object) -> tuple[str, ...]:
    """Attributes that cannot drift for a type. Sizes and link counts of directories may; None: of any type."""
    if kind in {_REGULAR, _LINK}:
        return STILL
    without = {"size", "numlinks"} if kind in {None, _DIRECTORY} else {"size"}
    return tuple(name for name in STILL if name not in without)


@rule("nfs4/handle-same-object", ONE_HANDLE_ONE_FILE, of=(p.GETATTR,), killed_by="getattr4-renumbers-files")
def handle_same_object(case: Case) -> Breach | None:
    """A different object for the same filehandle."""
    seen = attributes_of(case.step)
    if seen is None or case.world.others:
        return None
    known, values = object_of(case.world, seen[0]).identity, plain_attributes(seen[1])
    return _differs(known, values, IDENTITY, "of the filehandle was")


def _differs(
    known: dict[str, Known], values: dict[str, t.Any], names: tuple[str, ...], was: str, end: str = ""
) -> Breach | None:
    for name in names:
        if name in known and name in values and known[name].value != values[name]:
            earlier, now = _show(known[name].value), _show(values[name])
            path = f"resok4.obj_attributes.{name}"
            return Breach(
                f"{name} is {earlier}",
                f"{name} {was} {earlier}, and is {now}{end}",
                path,
                known[name].source.number,
            )
    return None


def _show(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return getattr(value, "name", None) or str(value)


@rule("nfs4/attributes-agree", ATTRIBUTES_AGREE, of=(p.GETATTR,), killed_by="getattr4-counts-links-up")
def attributes_agree(case: Case) -> Breach | None:
    """Attributes that differ from the last ones, though nothing changed the object."""
    seen = attributes_of(case.step)
    if seen is None or not _is_apart(case) or not case.is_alone(seen[0]):
        return None
    values = plain_attributes(seen[1])
    known = {
        name: value
        for name, value in object_of(case.world, seen[0]).values.items()
        if same_user(value.source, case.exchange)
    }
    kind = values.get("type", known["type"].value if "type" in known else None)
    return _differs(known, values, _still(kind), "was", " with nothing in between that changes it")


@rule("nfs4/change-moves", CHANGE_MOVES, of=(p.GETATTR,), killed_by="getattr4-change-is-the-first")
def change_moves(case: Case) -> Breach | None:
    """The same change as before an operation that modified the object."""
    seen = attributes_of(case.step)
    if seen is None or seen[1].change is None or not _is_apart(case):
        return None
    known = object_of(case.world, seen[0])
    if not known.changed_by or known.read is None or known.read.value != seen[1].change:
        return None
    return Breach(
        f"a change other than {seen[1].change}",
        f"change is {seen[1].change}, as before {known.changed_by}",
        "resok4.obj_attributes.change",
        known.read.source.number,
    )


@rule("nfs4/change-comes-again", CHANGE_MOVES, of=(p.GETATTR,), killed_by="getattr4-change-comes-again")
def change_comes_again(case: Case) -> Breach | None:
    """A value of change that the object had before it had another one."""
    seen = attributes_of(case.step)
    if seen is None or seen[1].change is None or not _is_apart(case) or case.world.others:
        return None
    known, value = object_of(case.world, seen[0]), seen[1].change
    if known.is_delegated:
        return None
    if known.read is None or known.read.value == value or value not in known.past:
        return None
    expected = f"another change than {value}, which it had before {known.read.value}"
    return Breach(
        expected, f"change is {value} again", "resok4.obj_attributes.change", known.past[value].number
    )


@rule("nfs4/rename-changes", CHANGE_MOVES, of=(p.RENAME,), killed_by="rename4-change-stands")
def rename_changes(case: Case) -> Breach | None:
    """RENAME to a name that was absent, in the same directory, with the same change before and after it.

    Without knowing that the name was absent, both might be names of one file, and RENAME does nothing.
    """
    at, result = t.cast("p.Step", case.step), getattr(case.result, "resok4", None)
    if result is None or case.args is None or at.current is None or at.current != at.saved:
        return None
    known = case.world.names.get((at.current, bytes(case.args.newname)))
    if known is None or known[0] or not _is_apart(case) or not case.is_alone(at.current):
        return None
    first, last = result.source_cinfo, result.target_cinfo
    if not first.atomic or not last.atomic or first.before != last.after:
        return None
    expected, seen = (
        f"another change than {first.before}",
        f"change {last.after}, as before RENAME to a new name",
    )
    return Breach(expected, seen, "resok4.target_cinfo.after", known[1].number)


@rule(
    "nfs4/change-info-before",
    BEFORE_IS_BEFORE,
    of=(p.CREATE, p.LINK, p.OPEN, p.REMOVE, p.RENAME),
    killed_by="create4-before-is-older",
)
def change_info_before(case: Case) -> Breach | None:
    """An atomic `before` that differs from the last change of the directory, though nothing changed it."""
    if not _is_apart(case):
        return None
    for directory_change in directory_changes(case.step):
        known = object_of(case.world, directory_change.directory).values.get("change")
        if known is None or not directory_change.info.atomic or not case.is_alone(directory_change.directory):
            continue
        if known.value != directory_change.info.before:
            before = directory_change.info.before
            seen = f"before is {before}, and change was {known.value} with nothing in between that changes it"
            path = f"{directory_change.path}.before"
            return Breach(f"before is {known.value}", seen, path, known.source.number)
    return None


@rule("nfs4/names-agree", NAMES_AGREE, of=(p.LOOKUP,), killed_by="lookup4-finds-a-name-once")
def names_agree(case: Case) -> Breach | None:
    """A name that is absent just after it was there, or the other way round."""
    directory = t.cast("p.Step", case.step).current
    if case.args is None or case.result is None or directory is None or not _is_apart(case):
        return None
    name, status = t.cast("bytes", name_in(case.step)), p.status_of(case.result)
    known = case.world.names.get((directory, name))
    if known is None or status not in {OK, Nfsstat4.NFS4ERR_NOENT} or known[0] is (status == OK):
        return None
    if not case.is_alone(directory) or not same_user(known[1], case.exchange):
        return None
    was, now = ("there", "absent") if known[0] else ("absent", "there")
    expected = "success" if known[0] else "NFS4ERR_NOENT"
    return Breach(
        expected, f"the name is {now}, and was {was} with nothing in between", "status", known[1].number
    )


@rule(
    "nfs4/stateid-order",
    SEQIDS_GO_ON,
    of=(p.LOCK, p.LOCKU, p.OPEN, p.OPEN_DOWNGRADE),
    killed_by="opendowngrade4-seqid-goes-back",
)
def stateid_order(case: Case) -> Breach | None:
    """A lower seqid than the same stateid had before."""
    given = stateid_of(case.step)
    if given is None or not _is_apart(case):
        return None
    state = case.world.state4
    key = state.key(bytes(given[0].other))
    known = None if key is None else state.stateids.get(key)
    if known is None or (given[0].seqid - known.value) % _ALL < _HALF:
        return None
    expected = f"seqid {known.value} or a later one"
    return Breach(
        expected, f"seqid {given[0].seqid} after {known.value}", f"{given[1]}.seqid", known.source.number
    )


@rule("nfs4/status-flags", FLAGS_STAY, of=(p.SEQUENCE,), killed_by="sequence4-revokes-now-and-then")
def status_flags(case: Case) -> Breach | None:
    """Status flags of lost state that are gone, though the client acknowledged nothing."""
    result = case.result.sr_resok4 if case.result is not None else None
    if result is None or case.world.others or not _is_apart(case):
        return None
    known = case.world.state4.flags.get(bytes(result.sr_sessionid))
    # A server may fill in the flags when the compound is over.
    if known is None or any(step.operation not in QUIET for step in case.exchange.steps):
        return None
    gone, new = known.value & ~result.sr_status_flags, result.sr_status_flags & ~known.value
    # One loss may become another: some state, then all of it.
    if any(new & bit for bit in _LOST):
        return None
    names = " and ".join(name for bit, name in _LOST.items() if gone & bit)
    if not names:
        return None
    return Breach(
        f"{names} as before",
        f"no {names}, which was set, with nothing in between that acknowledges it",
        "sr_resok4.sr_status_flags",
        known.source.number,
    )
