# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_names.py catch."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs4.bending import refusal
from nfsmutants.rules import RFC5661_ERRORS

Rename: t.TypeAlias = Callable[[bytes, bool], bytes]
"""Another name for one, which is to be made or found."""
WITH_NAMES: t.Final = (p.LOOKUP, p.OPEN, p.REMOVE, p.RENAME, p.SECINFO, p.CREATE, p.LINK)
_FIELDS: t.Final = {
    p.LOOKUP: ("objname", False),
    p.REMOVE: ("target", False),
    p.SECINFO: ("name", False),
    p.CREATE: ("objname", True),
    p.LINK: ("newname", True),
}
"""The field with the name, and whether that is to be made."""
_LONGEST: t.Final = 255
_FOUND, _MADE = b"file", b"made"


def renamed(call: AnyCall, other: Rename) -> t.Any:
    """Proceed with other names: (name, whether it is to be made) -> the name that is taken."""
    if call.operation is p.RENAME:
        old, new = bytes(call.args.oldname), bytes(call.args.newname)
        return call.proceed_with(oldname=other(old, False), newname=other(new, True))
    if call.operation is p.OPEN:
        name = call.args.claim.file
        if name is None:
            return call.proceed()
        return call.proceed_with("claim", file=other(bytes(name), call.args.openhow.how is not None))
    field, is_made = _FIELDS[call.operation]
    return call.proceed_with(**{field: other(bytes(getattr(call.args, field)), is_made)})


@mutant(WITH_NAMES)
def names4_dots_are_directories(call: AnyCall) -> t.Any:
    """An operation finds "." and "..", unless it has made something else of them before"""

    def other(name: bytes, is_made: bool) -> bytes:
        if name not in {b".", b".."} or (not is_made and "made" in call.state):
            return name
        if is_made:
            call.state["made"] = True
        return _other(is_made)

    return renamed(call, other)


def _other(is_made: bool) -> bytes:
    return _MADE if is_made else _FOUND


@mutant(WITH_NAMES)
def names4_slashes_are_paths(call: AnyCall) -> t.Any:
    """An operation with a name with a slash finds another entry, or makes something else"""
    return renamed(call, lambda name, is_made: _other(is_made) if b"/" in name else name)


@mutant(WITH_NAMES)
def names4_long_ones_are_cut(call: AnyCall) -> t.Any:
    """A name that is too long is cut, although no_trunc is true"""
    return renamed(call, lambda name, _is_made: name[:_LONGEST])


@mutant(WITH_NAMES, breaks=RFC5661_ERRORS)
def names4_replaces_bad_utf8(call: AnyCall) -> t.Any:
    """Bytes of a new name that are no UTF-8 become a question mark"""
    return renamed(call, lambda name, is_made: name.replace(b"\xff", b"?") if is_made else name)


@mutant(WITH_NAMES)
def names4_dots_are_known(call: AnyCall) -> t.Any:
    """An operation on "." or ".." says that it is a directory"""
    seen: list[bytes] = []

    def other(name: bytes, _is_made: bool) -> bytes:
        seen.append(name)
        return name

    result = renamed(call, other)
    return refusal(result, Nfsstat4.NFS4ERR_ISDIR) if {b".", b".."} & {*seen} else result
