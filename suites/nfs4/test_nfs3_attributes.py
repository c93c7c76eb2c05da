# SPDX-License-Identifier: MIT
"""Attributes of one object by NFSv3 and by NFSv4: where both have one, it is one property of the object."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsclient.clients import Nfs3
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs3 import Sattr3, client_time
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import expect, proves, should, skip, stated
from suites.nfs4.attribute_values import made_object

ATTRIBUTES_ARE_THE_OBJECTS = stated(
    "RFC 5661",
    "5.8.1.2",
    "type, as size and numlinks of a file, is that of the object, whichever version of NFS asks for it",
)
OTHERS_ARE_THE_OBJECTS = should(
    # an access control list may show as one mode here and as another there, and owners are translated (section 5.9)
    "RFC 5661",
    "5.8.2.43",
    "time_modify, as mode, fileid and owners, should be that of the object, whichever version of NFS asks for it",
)
_KINDS: t.Final = ("file", "directory", "link", "fifo")
_FIRM: t.Final = [*(("type", kind) for kind in _KINDS), ("size", "file"), ("numlinks", "file")]
_OTHERS: t.Final = [
    (name, kind)
    for name in ("size", "numlinks", "mode", "fileid", "time_modify", "owner", "owner_group")
    for kind in _KINDS
    # The mode and the size of a symbolic link are the server's to say.
    if (name, kind) not in {*_FIRM, ("mode", "link"), ("size", "link")}
]


def _cases(cases: t.Iterable[tuple[str, str]]) -> pytest.MarkDecorator:
    """Names with types."""
    return pytest.mark.parametrize(("name", "kind"), cases, ids=lambda it: it)


def _found(v3: Nfs3Dialect, v4: Nfs4Dialect, name: bytes) -> bytes:
    """The handle that NFSv3 finds for a name in the directory of NFSv4. SKIP where it finds none."""
    _, here = v3.lookup(v3.root, v4.scratch.name)
    if here is None:
        skip("NFSv3 does not find the directory that NFSv4 has made")
    status, found = v3.lookup(here, name)
    if found is None:
        skip(f"NFSv3 does not find what NFSv4 has made: LOOKUP answers {status}")
    return found


def _by_nfs3(nfs3: Nfs3, handle: bytes) -> dict[str, t.Any]:
    """The attributes, as NFSv4 has them."""
    seen = expect(nfs3.getattr(handle)).ok().obj_attributes
    return {
        "type": p.NfsFtype4(int(seen.type)),
        "size": seen.size,
        "numlinks": seen.nlink,
        "mode": seen.mode & 0o7777,
        "fileid": seen.fileid,
        "time_modify": p.Nfstime4(seen.mtime.seconds, seen.mtime.nseconds),
        "owner": b"%d" % seen.uid,
        "owner_group": b"%d" % seen.gid,
    }


def _expect_same(v3: Nfs3Dialect, v4: Nfs4Dialect, name: str, kind: str) -> None:
    __tracebackhide__ = True
    made = made_object(v4.scratch, kind)
    three, nfs3 = _found(v3, v4, kind.encode()), v3.client()
    wanted = _by_nfs3(nfs3, three)[name]
    seen = v4.scratch.attributes(made, name)
    if getattr(seen, name) is None:
        skip(f"the server does not support {name}")
    if name in {"owner", "owner_group"} and not bytes(getattr(seen, name)).isdigit():
        skip("owners have names in NFSv4, and numbers in NFSv3")
    if _by_nfs3(nfs3, three)[name] != wanted:
        skip(f"{name} moves by itself")
    expect(seen).field(name, f"{name}, which NFSv3 has shown").equals(wanted)


@_cases(_FIRM)
@proves(ATTRIBUTES_ARE_THE_OBJECTS, killed_by="getattr4-is-of-another-object")
def test_same(v3: Nfs3Dialect, v4: Nfs4Dialect, name: str, kind: str) -> None:
    """The type of each object, and size and numlinks of a file, are the same by both versions."""
    _expect_same(v3, v4, name, kind)


@_cases(_OTHERS)
@proves(OTHERS_ARE_THE_OBJECTS, killed_by="getattr4-has-its-own-modes-and-owners")
def test_both(v3: Nfs3Dialect, v4: Nfs4Dialect, name: str, kind: str) -> None:
    """All other attributes that both versions have are the same by both, for an object of each type."""
    _expect_same(v3, v4, name, kind)


_SECONDS: t.Final = 1_000_000_000
_BY_NFS3: t.Final = {
    "mode": Sattr3(mode=0o604),
    "size": Sattr3(size=9),
    "time_modify": Sattr3(mtime=client_time(_SECONDS)),
}
_BY_NFS4: t.Final = {
    "mode": Fattr4(mode=0o604),
    "size": Fattr4(size=9),
    "time_modify": Fattr4(time_modify_set=p.client_time(_SECONDS)),
}
_WANTED: t.Final[dict[str, t.Any]] = {"mode": 0o604, "size": 9, "time_modify": p.Nfstime4(_SECONDS, 0)}


@pytest.mark.parametrize("name", _BY_NFS3)
@proves(OTHERS_ARE_THE_OBJECTS, killed_by="getattr4-remembers-what-nfs4-has-seen")
def test_set_by_nfs3(v3: Nfs3Dialect, v4: Nfs4Dialect, name: str) -> None:
    """What SETATTR of NFSv3 has set, GETATTR of NFSv4 returns, though it has returned something else before."""
    made = v4.scratch.file("file", b"data", mode=0o640)
    v4.scratch.attributes(made, name)
    three, nfs3 = _found(v3, v4, b"file"), v3.client()
    expect(nfs3.setattr(three, _BY_NFS3[name])).ok()
    if _by_nfs3(nfs3, three)[name] != _WANTED[name]:
        skip(f"SETATTR of NFSv3 does not set {name} to this value")
    seen = v4.scratch.attributes(made, name)
    expect(seen).field(name, f"{name} after SETATTR by NFSv3").equals(_WANTED[name])


@pytest.mark.parametrize("name", _BY_NFS4)
@proves(OTHERS_ARE_THE_OBJECTS, killed_by="getattr3-remembers-what-nfs3-has-seen")
def test_set_by_nfs4(v3: Nfs3Dialect, v4: Nfs4Dialect, name: str) -> None:
    """What SETATTR of NFSv4 has set, GETATTR of NFSv3 returns, though it has returned something else before."""
    made = v4.scratch.file("file", b"data", mode=0o640)
    three, nfs3 = _found(v3, v4, b"file"), v3.client()
    _by_nfs3(nfs3, three)
    if v4.session.compound(op.putfh(made), op.setattr(_BY_NFS4[name])).status != Nfsstat4.NFS4_OK:
        skip(f"SETATTR of NFSv4 does not set {name}")
    if getattr(v4.scratch.attributes(made, name), name) != _WANTED[name]:
        skip(f"SETATTR of NFSv4 does not set {name} to this value")
    seen = _by_nfs3(nfs3, three)[name]
    expect(seen, f"{name} by NFSv3 after SETATTR by NFSv4").equals(_WANTED[name])
