# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_charset.py catch."""

from __future__ import annotations

import typing as t
import unicodedata

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, restate4
from nfsmutants.nfs4.getattr_values import shown
from nfsmutants.nfs4.names import WITH_NAMES, renamed
from nfsmutants.rules import RFC5661_CHARACTERS
from nfsserver.fs.rules import PARENT
from nfsserver.nfs4.common import compound_of, is_utf8


@mutant(WITH_NAMES, breaks=RFC5661_CHARACTERS)
def charset4_bad_utf8_is_replaced(call: AnyCall) -> t.Any:
    """A name that is no UTF-8 is found, or made, under another name, though there is only UTF-8"""

    def other(name: bytes, is_made: bool) -> bytes:
        return name if is_utf8(name) else b"repaired" if is_made else b"file"

    return renamed(call, other)


@mutant(WITH_NAMES, breaks=RFC5661_CHARACTERS)
def charset4_bad_utf8_is_badname(call: AnyCall) -> t.Any:
    """A name that is no UTF-8 gets BADNAME"""
    bad: list[bytes] = []

    def other(name: bytes, _is_made: bool) -> bytes:
        bad.extend([] if is_utf8(name) else [name])
        return name

    result = renamed(call, other)
    return restate4(result, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_BADNAME) if bad else result


@mutant(p.CREATE)
def create4_texts_are_any_bytes(call: Call[p.Create4Args, p.Create4Res]) -> p.Create4Res:
    """CREATE of a symbolic link repairs a text that is no UTF-8"""
    text = call.args.objtype.linkdata
    if text is None or is_utf8(bytes(text)):
        return call.proceed()
    return call.proceed_with("objtype", linkdata=bytes(text).decode(errors="replace").encode())


@mutant((p.CREATE, p.GETATTR, p.READLINK))
def readlink4_repairs_texts(call: AnyCall) -> t.Any:
    """A symbolic link may have any text (fs_charset_cap), and READLINK repairs what is no UTF-8"""
    if call.operation is p.GETATTR:
        return shown(call, "fs_charset_cap", lambda _, __: p.FSCHARSET_CAP4_CONTAINS_NON_UTF8)
    if call.operation is p.READLINK:
        return amend4(call.proceed(), link=lambda it: bytes(it.link).decode(errors="replace").encode())
    text = call.args.objtype.linkdata
    if text is None or is_utf8(bytes(text)):
        return call.proceed()
    result = call.proceed_with("objtype", linkdata=b"any text")
    made = compound_of(call.context).current
    if made is not None and made.target is not None:
        made.target = bytes(text)
    return result


def _ascii(name: bytes) -> bytes:
    return bytes(byte for byte in name if byte < 128) or b"none"


@mutant(WITH_NAMES)
def open4_drops_what_is_not_ascii(call: AnyCall) -> t.Any:
    """Names have the ASCII characters of what was sent, and no others"""
    return renamed(call, lambda name, _: _ascii(name) if is_utf8(name) else name)


@mutant(WITH_NAMES)
def names4_are_normalized_in_lookup_only(call: AnyCall) -> t.Any:
    """OPEN that creates takes two forms of one name for one, LOOKUP does not"""

    def other(name: bytes, is_made: bool) -> bytes:
        if not is_made or not is_utf8(name):
            return name
        form = unicodedata.normalize("NFC", name.decode()).encode()
        known: bytes = call.state.setdefault(form, name)
        return known

    return renamed(call, other)


@mutant(WITH_NAMES)
def names4_end_at_a_nul(call: AnyCall) -> t.Any:
    """A name ends at its first NUL"""
    return renamed(call, lambda name, _: name.partition(b"\0")[0] if b"\0" in name[1:] else name)


@mutant((p.LOOKUP, p.OPEN, p.REMOVE, p.RENAME))
def names4_decode_overlong_characters(call: AnyCall) -> t.Any:
    """A slash and dots in two bytes each are a path to the directory above"""
    state, marked = compound_of(call.context), b"\xc0\xae\xc0\xae\xc0\xaf"
    if marked not in call.args.to_xdr() or state.current is None:
        return call.proceed()
    state.current = state.current.fs.lookup(state.caller, state.current, PARENT)
    state.saved = None if state.saved is None else state.current
    return renamed(call, lambda name, _: name.removeprefix(marked))
