# SPDX-License-Identifier: MIT
"""OPEN that creates (RFC 5661 section 18.16): the mode of the new file, by each way to create."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4
from nfsjudge import expect, observe, proves, should, skip
from suites.nfs4.opens import create_file

CREATED_WITH_ATTRIBUTES = should(
    # access control lists that a directory passes on may override the mode (section 6.4.3)
    "RFC 5661",
    "18.16.3",
    "createattrs are the initial attributes of the file; attrset says which of them were set",
    also={"4.0": ("RFC 7530", "16.16.5")},
)
MODES: t.Final = (0o600, 0o644, 0o751)


def _how(name: str, attributes: Fattr4) -> p.Createhow4:
    match name:
        case "unchecked":
            return op.unchecked(attributes)
        case "guarded":
            return op.guarded(attributes)
        case _:
            return op.exclusive4_1(b"verifier", attributes)


@pytest.mark.parametrize("how", ["unchecked", "guarded", "exclusive4.1"])
@proves(CREATED_WITH_ATTRIBUTES, killed_by="open4-clears-the-last-digit-of-the-mode")
def test_mode(compounds: Compounds, scratch: Nfs4Scratch, how: str) -> None:
    """A file that OPEN creates has the mode of the request, if attrset says that it was set."""
    known = scratch.attributes(scratch.handle, "suppattr_exclcreat").suppattr_exclcreat
    if how == "exclusive4.1" and "mode" not in p.names_of(known or []):
        skip("EXCLUSIVE4_1 does not set the mode (suppattr_exclcreat)")
    for mode in MODES:
        opened = create_file(compounds, scratch.handle, b"%o" % mode, _how(how, Fattr4(mode=mode)))
        names = p.names_of(opened.result.attrset)
        observe("attrset", ", ".join(names))
        if "mode" in names:
            expect(scratch.attributes(opened.handle, "mode")).field("mode").equals(mode)
