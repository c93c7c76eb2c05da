# SPDX-License-Identifier: MIT
"""GETXATTR, SETXATTR, LISTXATTRS and REMOVEXATTR (RFC 8276 section 8.4). They are optional, in NFSv4.2."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4, SetxattrOption4
from nfsjudge import Harm, expect, expect_data, expect_names, must, proves, skip, stated, unsupported

KEEPS_THE_VALUE = stated(
    "RFC 8276", "8.4.1.3", "GETXATTR obtains the value of the given extended attribute key", harm=Harm.DATA
)
ABSENT_IS_NOXATTR = must("RFC 8276", "8.4.1.3", "GETXATTR of a key that does not exist gets NFS4ERR_NOXATTR")
CREATE_NEEDS_A_NEW_KEY = must(
    "RFC 8276", "8.4.2.3", "SETXATTR4_CREATE of a key that exists gets NFS4ERR_EXIST", harm=Harm.DATA
)
REPLACE_NEEDS_A_KEY = must(
    "RFC 8276",
    "8.4.2.3",
    "SETXATTR4_REPLACE of a key that does not exist gets NFS4ERR_NOXATTR",
    harm=Harm.SUCCESS,
)
SETTING_CHANGES = must(
    "RFC 8276",
    "8.4.2.3",
    "SETXATTR that creates a key or changes its value changes the attribute change of the file",
)
LISTS_KEYS = stated(
    "RFC 8276",
    "8.4.3.3",
    "LISTXATTRS returns the extended attribute keys of the object, page by page",
    harm=Harm.DATA,
)
REMOVES_THE_KEY = stated(
    "RFC 8276", "8.4.4.3", "REMOVEXATTR deletes the extended attribute of the key", harm=Harm.SUCCESS
)
REMOVE_NEEDS_A_KEY = must(
    "RFC 8276", "8.4.4.3", "REMOVEXATTR of a key that does not exist gets NFS4ERR_NOXATTR", harm=Harm.SUCCESS
)
SUPPORT_IS_TRUE = must(
    "RFC 8276",
    "8.4",
    "xattr_support is TRUE where extended attributes are supported, and where it is not, no operation on them is",
)
_4_2: t.Final = pytest.mark.parametrize("minor", [2], ids=["4.2"])


def set_key(compounds: Compounds, file: bytes, name: bytes, value: bytes) -> None:
    """SETXATTR that must succeed, unless the value is too large for the server (RFC 8276 section 8.4.2.3)."""
    reply = compounds.compound(op.putfh(file), op.setxattr(name, value))
    if reply.status == Nfsstat4.NFS4ERR_XATTR2BIG:
        skip(f"the server takes no extended attribute of {len(value)} bytes")
    expect(reply).ok()


def keys(compounds: Compounds, file: bytes, maxcount: int = 32768) -> list[bytes]:
    """All keys of a file, page by page."""
    found: list[bytes] = []
    cookie = 0
    for _ in range(100):
        page = (
            expect(compounds.compound(op.putfh(file), op.listxattrs(cookie, maxcount))).of(p.LISTXATTRS).ok()
        )
        found += [bytes(name) for name in page.lxr_names]
        if page.lxr_eof:
            break
        cookie = page.lxr_cookie
    return found


@_4_2
@pytest.mark.parametrize("value", [b"value", b"", b"\0\xff" * 500], ids=["short", "empty", "binary"])
@proves(KEEPS_THE_VALUE, killed_by="getxattr4-cuts-values")
def test_value(compounds: Compounds, scratch: Nfs4Scratch, value: bytes) -> None:
    """GETXATTR returns the value that SETXATTR has set, and the last one if there were several."""
    file = scratch.file("file")
    set_key(compounds, file, b"key", b"the first value")
    set_key(compounds, file, b"key", value)
    reply = expect(compounds.compound(op.putfh(file), op.getxattr(b"key"))).ok()
    expect_data(reply.of(p.GETXATTR).gxr_value or b"", value)


@_4_2
@proves(ABSENT_IS_NOXATTR, killed_by="getxattr4-absent-is-empty")
def test_absent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """GETXATTR of a key that does not exist fails with NOXATTR."""
    reply = compounds.compound(op.putfh(scratch.file("file")), op.getxattr(b"absent"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOXATTR, because=ABSENT_IS_NOXATTR)


@_4_2
@proves(CREATE_NEEDS_A_NEW_KEY, killed_by="setxattr4-ignores-the-option")
def test_create_exists(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETXATTR4_CREATE of a key that exists fails with EXIST, and the value stays."""
    file = scratch.file("file")
    set_key(compounds, file, b"key", b"old")
    again = op.setxattr(b"key", b"new", SetxattrOption4.SETXATTR4_CREATE)
    reply = compounds.compound(op.putfh(file), again)
    expect(reply).refused(Nfsstat4.NFS4ERR_EXIST, because=CREATE_NEEDS_A_NEW_KEY)
    kept = expect(compounds.compound(op.putfh(file), op.getxattr(b"key"))).ok()
    expect_data(kept.of(p.GETXATTR).gxr_value or b"", b"old")


@_4_2
@proves(REPLACE_NEEDS_A_KEY, killed_by="setxattr4-ignores-the-option")
def test_replace_absent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETXATTR4_REPLACE of a key that does not exist fails with NOXATTR."""
    file = scratch.file("file")
    set_key(compounds, file, b"other", b"value")  # so that nothing else refuses the next one
    setting = op.setxattr(b"key", b"new", SetxattrOption4.SETXATTR4_REPLACE)
    reply = compounds.compound(op.putfh(file), setting)
    expect(reply).refused(Nfsstat4.NFS4ERR_NOXATTR, because=REPLACE_NEEDS_A_KEY)


@_4_2
@proves(SETTING_CHANGES, killed_by="setxattr4-keeps-the-change")
def test_change(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETXATTR of a new key moves the attribute change."""
    file = scratch.file("file")
    expect(compounds.compound(op.putfh(file), op.listxattrs())).ok()  # UNSUPPORTED where there are none
    before = scratch.attributes(file, "change").change
    set_key(compounds, file, b"key", b"value")
    expect(scratch.attributes(file, "change")).field("change").differs_from(before)


@_4_2
@proves(LISTS_KEYS, killed_by="listxattrs4-lists-nothing")
def test_list(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LISTXATTRS lists every key once, also in small pages."""
    file, made = scratch.file("file"), [b"key-%02d" % number for number in range(20)]
    for name in made:
        set_key(compounds, file, name, b"value")
    expect_names([key for key in keys(compounds, file) if key.startswith(b"key-")], made)
    expect_names([key for key in keys(compounds, file, 100) if key.startswith(b"key-")], made)


@_4_2
@proves(REMOVES_THE_KEY, killed_by="removexattr4-removes-nothing")
def test_remove(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A key that was removed does not exist any more."""
    file = scratch.file("file")
    set_key(compounds, file, b"key", b"value")
    expect(compounds.compound(op.putfh(file), op.removexattr(b"key"))).ok()
    reply = compounds.compound(op.putfh(file), op.getxattr(b"key"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOXATTR, because=REMOVES_THE_KEY)


@_4_2
@proves(REMOVE_NEEDS_A_KEY, killed_by="removexattr4-absent-is-ok")
def test_remove_absent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """REMOVEXATTR of a key that does not exist fails with NOXATTR."""
    file = scratch.file("file")
    set_key(compounds, file, b"other", b"value")  # so that nothing else refuses the next one
    reply = compounds.compound(op.putfh(file), op.removexattr(b"absent"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOXATTR, because=REMOVE_NEEDS_A_KEY)


@_4_2
@proves(SUPPORT_IS_TRUE, killed_by="getattr4-xattrs-are-not-supported")
def test_support(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """xattr_support is TRUE where the operations work, and where it is not, they are not supported."""
    file = scratch.file("file")
    reply = compounds.compound(op.putfh(file), op.listxattrs())
    known = scratch.attributes(file, "xattr_support")
    says = bool(known.xattr_support)
    works = reply.status not in {Nfsstat4.NFS4ERR_NOTSUPP, Nfsstat4.NFS4ERR_OP_ILLEGAL}
    if says == works and not works:
        unsupported("the server has no extended attributes")
    if not says:
        what = f"xattr_support, where LISTXATTRS answers {reply.status.name}"
        expect(says, what, of=known, field="xattr_support").is_true()
    expect(
        works, f"whether LISTXATTRS is supported ({reply.status.name})", of=reply, field="status"
    ).is_true()
