# SPDX-License-Identifier: MIT
"""The attributes of an object one by one, each with the value that it has and with another one."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ATTRIBUTES, NUMBERS, Fattr4, NfsFtype4, Nfsstat4
from nfsclient.xdr import XdrType, mask_of
from nfsjudge import Requirement, expect, observe, skip

_DRIFTING: t.Final = frozenset(
    {
        "files_avail",
        "files_free",
        "files_total",
        "quota_avail_hard",
        "quota_avail_soft",
        "quota_used",
        "space_avail",
        "space_free",
        "space_total",
        "space_used",
        "space_freed",
        "time_access",
    }
)
"""What others, or the server itself, may change between two operations."""
_FEW: t.Final = 12
"""Operations of a compound that every server takes."""
_LATER: t.Final = 100_000
"""Seconds: more than any server rounds a time by."""

Verifying: t.TypeAlias = t.Callable[[Fattr4], XdrType]


def supported_names(scratch: Nfs4Scratch, handle: bytes) -> list[str]:
    """The names in `supported_attrs` of an object."""
    words = scratch.attributes(handle, "supported_attrs").supported_attrs or []
    return [name for name in p.names_of(words) if name in NUMBERS]


def made_object(scratch: Nfs4Scratch, kind: str) -> bytes:
    """A new file, directory, link or fifo, which has that for its name."""
    match kind:
        case "file":
            return scratch.file("file", b"data")
        case "directory":
            return scratch.directory("directory")
        case "link":
            return scratch.symlink("link", b"target")
        case _:
            return scratch.fifo("fifo")


def steady_values(scratch: Nfs4Scratch, handle: bytes) -> dict[str, Fattr4]:
    """Each supported attribute of a quiet object that can be read, alone, with the value that it has."""
    names = [
        name
        for name in supported_names(scratch, handle)
        if ATTRIBUTES[NUMBERS[name]].about.is_readable and name not in {*_DRIFTING, "rdattr_error"}
    ]
    found: dict[str, Fattr4] = {}
    for at in range(0, len(names), _FEW):
        known = scratch.attributes(handle, *names[at : at + _FEW])
        values = {name: getattr(known, name) for name in names[at : at + _FEW]}
        found |= {
            name: Fattr4().changed(**{name: value}) for name, value in values.items() if value is not None
        }
    unique = found.get("unique_handles")
    if unique is None or not unique.unique_handles:  # one of several (section 10.3.4)
        found.pop("filehandle", None)
    return {name: value for name, value in found.items() if _is_translated(name, getattr(value, name))}


def is_translated(owner: bytes) -> bool:
    """Whether an owner or group is a name that the server translates in both directions (section 5.9).

    Without "@" no translation was available, and the text says nothing to anybody; digits get BADOWNER on some servers.
    """
    name, at, domain = owner.partition(b"@")
    return bool(name and at and domain) and name.lower() not in {b"nobody", b"nogroup"}


def _is_translated(name: str, value: t.Any) -> bool:
    """Whether all owners and groups in the value of an attribute are such names; in an ACL also special ones."""
    if name in {"owner", "owner_group"}:
        return is_translated(bytes(value))
    if name in {"acl", "dacl", "sacl"}:
        aces = value if name == "acl" else value.na41_aces
        return all(bytes(ace.who).endswith(b"@") or is_translated(bytes(ace.who)) for ace in aces)
    return True


def other_values(values: dict[str, Fattr4]) -> dict[str, Fattr4]:
    """The same attributes, each with a value that it does not have, as far as one can be made."""
    others = {name: _other(name, getattr(value, name)) for name, value in values.items()}
    return {name: Fattr4().changed(**{name: value}) for name, value in others.items() if value is not None}


def _other(name: str, value: t.Any) -> t.Any:  # noqa: PLR0911  (one case a type)
    match value:
        case _ if name == "rawdev":  # has no meaning here (section 5.8.2.31)
            return None
        case bool():
            return not value
        case NfsFtype4():
            return NfsFtype4.NF4DIR if value != NfsFtype4.NF4DIR else NfsFtype4.NF4REG
        case p.ChangeAttrType4():
            return p.ChangeAttrType4((value + 1) % len(p.ChangeAttrType4))
        case int():
            return value ^ (1 if name != "change" else 1 << 62)  # a value that it has not soon, either
        case p.Nfstime4(seconds, nseconds):
            return p.Nfstime4(seconds + _LATER, nseconds)
        case p.Fsid4(major, minor):
            return p.Fsid4(major ^ 1, minor)
        case list() if name in {"supported_attrs", "suppattr_exclcreat"}:
            return list(mask_of({bit for bit in _bits(value) if bit != NUMBERS["size"]} or {0}))
        case _:  # what a server may spell in several ways
            return None


def _bits(words: list[int]) -> list[int]:
    return [32 * at + bit for at, word in enumerate(words) for bit in range(32) if word >> bit & 1]


def failures(
    compounds: Compounds, handle: bytes, verifying: Verifying, values: dict[str, Fattr4]
) -> dict[str, Nfsstat4]:
    """Those of the attributes for which VERIFY or NVERIFY does not succeed, with the status."""
    found: dict[str, Nfsstat4] = {}
    names = list(values)
    most = _FEW
    if isinstance(compounds, Session):
        most = max(1, min(compounds.state.fore.ca_maxoperations - 2, _FEW))
    while names:
        some = names[:most]
        reply = compounds.compound(op.putfh(handle), *(verifying(values[name]) for name in some))
        done = len(reply) - 1
        if reply.status != Nfsstat4.NFS4_OK:
            if reply.failed not in {p.VERIFY, p.NVERIFY} or reply.status == Nfsstat4.NFS4ERR_DELAY:
                skip(f"the server answers {reply.status}")
            found[some[done - 1]] = reply.status
        names = names[done:]
    return found


def statuses(
    compounds: Compounds, handle: bytes, verifying: Verifying, values: dict[str, Fattr4]
) -> dict[str, Nfsstat4]:
    """The status of VERIFY or NVERIFY of each attribute. SKIP where the server answers DELAY."""
    found: dict[str, Nfsstat4] = {}
    for name, value in values.items():
        reply = compounds.compound(op.putfh(handle), verifying(value))
        if reply.status == Nfsstat4.NFS4ERR_DELAY:
            skip("the server answers NFS4ERR_DELAY")
        found[name] = reply.status
    observe("attributes", len(found))
    return found


def steady(
    compounds: Compounds, handle: bytes, verifying: Verifying, values: dict[str, Fattr4], wrong: list[str]
) -> dict[str, Nfsstat4]:
    """The statuses, asked for again, of those of the `wrong` attributes that have kept their values all the time.

    Times and `change` may move without a call of a client, where data and attributes arrive somewhere after CLOSE.
    """
    found: dict[str, Nfsstat4] = {}
    for name in wrong:
        reading = (op.putfh(handle), op.getattr(name))
        before = expect(compounds.compound(*reading)).ok().attributes
        again = statuses(compounds, handle, verifying, {name: values[name]})
        after = expect(compounds.compound(*reading)).ok().attributes
        sent = getattr(values[name], name)
        if getattr(before, name) == sent == getattr(after, name):
            found |= again
        else:
            observe("attribute that moves by itself", name)
    return found


def mismatches(statuses_by_name: dict[str, Nfsstat4], *expected: Nfsstat4) -> list[str]:
    """The attributes with another status than those, each as `size: NFS4_OK`."""
    return [f"{name}: {status.name}" for name, status in statuses_by_name.items() if status not in expected]


# ---------------------------------------------------------------- what VERIFY and NVERIFY refuse alike

_RARE: t.Final[dict[str, t.Any]] = {
    "archive": True,
    "hidden": True,
    "system": True,
    "quota_used": 1,
    "layout_blksize": 1,
}
"""Attributes that few servers support, with a value."""
_WITHOUT_A_VALUE: t.Final[dict[str, t.Any]] = {
    "rdattr_error": Nfsstat4.NFS4_OK,
    "time_access_set": p.SERVER_TIME,
    "time_modify_set": p.SERVER_TIME,
}


def expect_attrnotsupp(compounds: Compounds, scratch: Nfs4Scratch, verifying: Verifying) -> None:
    """VERIFY or NVERIFY of an attribute that is not in `supported_attrs` fails with ATTRNOTSUPP."""
    __tracebackhide__ = True
    file = scratch.file("file")
    supported = supported_names(scratch, file)
    for name, value in _RARE.items():
        if name not in supported:
            reply = compounds.compound(op.putfh(file), verifying(Fattr4().changed(**{name: value})))
            expect(reply).status(Nfsstat4.NFS4ERR_ATTRNOTSUPP)
            return
    skip(f"the server supports {', '.join(_RARE)}")


def expect_inval_without_value(compounds: Compounds, scratch: Nfs4Scratch, verifying: Verifying) -> None:
    """VERIFY or NVERIFY of rdattr_error, and of a time that can only be set, fails with INVAL."""
    __tracebackhide__ = True
    file = scratch.file("file")
    supported = supported_names(scratch, file)
    asked = {
        name: Fattr4().changed(**{name: value})
        for name, value in _WITHOUT_A_VALUE.items()
        if name in supported
    }
    seen = statuses(compounds, file, verifying, asked)
    expect(mismatches(seen, Nfsstat4.NFS4ERR_INVAL), "attributes that are not INVAL").equals([])


def expect_near(known: Fattr4, name: str, seconds: int, because: Requirement | None = None) -> None:
    """A time is what was set, to a second more than the `time_delta` among the same attributes."""
    __tracebackhide__ = True
    found, delta = getattr(known, name), known.time_delta
    expect(found, name, because=because).is_present()
    width = 1 if delta is None else delta.seconds + 1
    expect(
        abs(found.seconds - seconds),
        f"seconds between the time that was set and {name}",
        of=found,
        field="seconds",
        because=because,
    ).at_most(width)


# ---------------------------------------------------------------- all REQUIRED ones at once

_AGAIN: t.Final = 3
"""Times that values are read and sent, where some move by themselves."""


def expect_required_at_once(
    compounds: Compounds,
    scratch: Nfs4Scratch,
    handle: bytes,
    minor: int,
    verifying: Verifying,
    wanted: Nfsstat4,
) -> None:
    """VERIFY or NVERIFY of all REQUIRED attributes in one operation, with the values that GETATTR returns."""
    __tracebackhide__ = True
    names = [
        attribute.name
        for attribute in p.ATTRIBUTES.values()
        if attribute.about.required and attribute.about.since <= minor and attribute.name != "rdattr_error"
    ]
    if not scratch.attributes(handle, "unique_handles").unique_handles:
        names.remove("filehandle")
    for _ in range(_AGAIN):
        known = scratch.attributes(handle, *names)
        reply = compounds.compound(op.putfh(handle), verifying(known))
        if reply.status == wanted or scratch.attributes(handle, *names) == known:
            expect(reply).status(wanted)
            return
    skip("REQUIRED attributes move by themselves")
