# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_undefined.py catch."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, Message, mutant, wire_mutant
from nfsserver.middleware import Answer

_UNDEFINED: t.Final = bytes.fromhex("7ffffff0")
"""What `nfsclient.xdr.malformations` takes for a value that nobody defines."""


@wire_mutant()
def compound4_undefined_is_zero(message: Message) -> Answer:
    """A value that an enumeration does not define is taken for 0"""
    return message.proceed(message.data.replace(_UNDEFINED, bytes(4)))


@wire_mutant()
def compound4_undefined_is_two(message: Message) -> Answer:
    """A value that an enumeration does not define is taken for 2"""
    return message.proceed(message.data.replace(_UNDEFINED, bytes([0, 0, 0, 2])))


def _known(given: p.Fattr4) -> p.Fattr4:
    return p.Fattr4().changed(**given.values())


def _with_other_attributes(call: Call[t.Any, t.Any], other: Callable[[p.Fattr4], p.Fattr4]) -> t.Any:
    args = call.args
    if isinstance(args, p.Create4Args):
        return call.proceed_with(createattrs=other(args.createattrs))
    if isinstance(args, p.Open4Args):
        how = args.openhow.how
        if how is None or how.createattrs is None:
            return call.proceed()
        return call.proceed_with("openhow.how", createattrs=other(how.createattrs))
    return call.proceed_with(obj_attributes=other(args.obj_attributes))


_WITH_ATTRIBUTES: t.Final = (p.SETATTR, p.CREATE, p.OPEN, p.VERIFY, p.NVERIFY)


@mutant(_WITH_ATTRIBUTES)
def attributes4_ignores_unknown_ones(call: Call[t.Any, t.Any]) -> t.Any:
    """Attributes that nobody knows are ignored; VERIFY and NVERIFY then succeed"""
    if isinstance(call.args, p.Nverify4Args) and call.args.obj_attributes.rest:
        return p.Nverify4Res(p.Nfsstat4.NFS4_OK)
    return _with_other_attributes(call, _known)


def _masked(given: p.Fattr4) -> p.Fattr4:
    return given if given.mode is None else given.changed(mode=given.mode & 0o7777)


@mutant(_WITH_ATTRIBUTES)
def attributes4_mask_the_mode(call: Call[t.Any, t.Any]) -> t.Any:
    """Bits that mode does not define are ignored; NVERIFY says that they differ"""
    if (
        isinstance(call.args, p.Nverify4Args)
        and _masked(call.args.obj_attributes) != call.args.obj_attributes
    ):
        return p.Nverify4Res(p.Nfsstat4.NFS4_OK)
    return _with_other_attributes(call, _masked)


def _shortened(given: p.Fattr4) -> p.Fattr4:
    changes = {}
    for name in ("time_access_set", "time_modify_set"):
        asked = getattr(given, name)
        if asked is not None and asked.time is not None:
            changes[name] = p.client_time(asked.time.seconds, min(asked.time.nseconds, 999_999_999))
    return given.changed(**changes)


@mutant((p.SETATTR, p.CREATE, p.OPEN))
def attributes4_take_any_nseconds(call: Call[t.Any, t.Any]) -> t.Any:
    """Times with too many nanoseconds are those of the last one of the second"""
    return _with_other_attributes(call, _shortened)


@wire_mutant()
def compound4_ignores_second_elements(message: Message) -> Answer:
    """Of two equal elements in an array for one, the second is ignored"""
    data, two, single = message.data, b"\0\0\0\2", b"\0\0\0\1"
    at = data.find(two)
    while at >= 0:
        rest = data[at + 4 :]
        for size in (4, *range(24, len(rest) // 2 + 1, 4)):
            element = rest[:size]
            if len(element) == size and any(element[:4]) and rest[size : 2 * size] == element:
                return message.proceed(data[:at] + single + element + rest[2 * size :])
        at = data.find(two, at + 4)
    return message.proceed()
