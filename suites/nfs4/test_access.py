# SPDX-License-Identifier: MIT
"""ACCESS (RFC 5661 section 18.1)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import expect, must, observe, proves, should, skip, stated, unsupported
from suites.nfs4.minors import MINORS

WITHIN_THE_REQUEST = must(
    "RFC 5661",
    "18.1.3",
    "supported and access have no bits that the request does not name, and access has none that supported lacks",
)
ONLY_DEFINED_ARE_SUPPORTED = stated(
    "RFC 5661",
    "18.1.3",
    "supported has the access rights that the server can verify reliably: bits without a meaning are none",
    also={"4.0": ("RFC 7530", "16.1.4")},
)
OWNERS_MAY = should(  # access control lists, and how users are mapped, are the server's
    "RFC 5661", "6.2.4", "the mode of an object should decide what its owner may do with it"
)
_RIGHTS = {
    "read": p.ACCESS4_READ,
    "lookup": p.ACCESS4_LOOKUP,
    "modify": p.ACCESS4_MODIFY,
    "extend": p.ACCESS4_EXTEND,
    "delete": p.ACCESS4_DELETE,
    "execute": p.ACCESS4_EXECUTE,
}


@MINORS
@pytest.mark.parametrize("name", _RIGHTS)
@proves(WITHIN_THE_REQUEST, killed_by=("access4-supports-everything", "access4-grants-everything"))
def test_within_asked(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """ACCESS of one right says nothing of others."""
    asked = _RIGHTS[name]
    result = expect(compounds.compound(op.putfh(scratch.handle), op.access(asked))).of(p.ACCESS).ok()
    expect(result.supported & ~asked, "supported, but not asked for", of=result, field="supported").equals(0)
    expect(result.access & ~result.supported, "access, but not supported", of=result, field="access").equals(
        0
    )


@MINORS
@proves(ONLY_DEFINED_ARE_SUPPORTED, killed_by="access4-supports-undefined-bits")
def test_undefined(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """ACCESS with a bit that is not defined says nothing of it, or is invalid."""
    reply = compounds.compound(op.putfh(scratch.handle), op.access(p.ACCESS4_READ | 1 << 31))
    observe("ACCESS with an undefined bit", reply.status.name)
    if reply.failed is p.ACCESS and reply.status == p.Nfsstat4.NFS4ERR_INVAL:
        return
    result = expect(reply).of(p.ACCESS).ok()
    expect(
        (result.supported | result.access) & (1 << 31),
        "bit that is not defined",
        of=result,
        field="supported",
    ).equals(0)


@pytest.mark.parametrize("minor", [2], ids=["4.2"])
@proves(WITHIN_THE_REQUEST, killed_by="access4-supports-everything")
def test_extended_attributes(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """ACCESS of the three rights to extended attributes (RFC 8276) says nothing of others."""
    asked = p.ACCESS4_XAREAD | p.ACCESS4_XAWRITE | p.ACCESS4_XALIST
    reply = compounds.compound(op.putfh(scratch.file("file")), op.access(asked))
    if reply.failed is p.ACCESS and reply.status == p.Nfsstat4.NFS4ERR_INVAL:
        unsupported("the server does not know the rights to extended attributes")
    result = expect(reply).of(p.ACCESS).ok()
    expect(result.supported & ~asked, "supported, but not asked for", of=result, field="supported").equals(0)
    expect(result.access & ~result.supported, "access, but not supported", of=result, field="access").equals(
        0
    )


# ---------------------------------------------------------------- what the owner may do


@proves(WITHIN_THE_REQUEST, killed_by="access4-supports-everything")
def test_empty_mask(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """ACCESS of no right at all succeeds, and says nothing."""
    result = expect(compounds.compound(op.putfh(scratch.handle), op.access(0))).of(p.ACCESS).ok()
    expect(result).field("supported").equals(0)
    expect(result).field("access").equals(0)


@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(OWNERS_MAY, killed_by="access4-never-grants-extend")
def test_owner(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """ACCESS grants the owner to read, modify and extend a file of mode 0600, and to use a directory of mode 0700."""
    wanted = p.ACCESS4_READ | p.ACCESS4_MODIFY | p.ACCESS4_EXTEND
    if kind == "file":
        handle = scratch.file("file", mode=0o600)
        scratch.write(handle, b"data")  # SKIP where the server does not let the owner do it
    else:
        handle, wanted = scratch.directory("directory", mode=0o700), wanted | p.ACCESS4_LOOKUP
        scratch.file("file", directory=handle)
    result = expect(compounds.compound(op.putfh(handle), op.access(wanted))).of(p.ACCESS).ok()
    observe("supported", f"{result.supported:#x} of {wanted:#x}")
    if not result.supported & wanted:  # section 18.1.3
        skip("the server says that it can verify none of the rights reliably")
    expect(result).field("access", "rights of the owner").equals(result.supported & wanted)
