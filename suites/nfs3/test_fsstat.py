# SPDX-License-Identifier: MIT
"""FSSTAT (RFC 1813 section 3.3.18): how full the file system is. The numbers are best effort, so few are judged."""

from __future__ import annotations

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsjudge import Requirement, expect, observe, proves

FSSTAT_FOR_ANY_OBJECT = Requirement(
    rfc="RFC 1813", section="3.3.18", gist="FSSTAT accepts the handle of any object of the file system"
)


@proves(FSSTAT_FOR_ANY_OBJECT, killed_by="fsstat3-refuses-a-file")
def test_regular_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """FSSTAT accepts the handle of a regular file."""
    resok = expect(nfs3.fsstat(scratch.file("file"))).ok()
    observe("abytes <= fbytes <= tbytes", resok.abytes <= resok.fbytes <= resok.tbytes)
    observe("afiles <= ffiles <= tfiles", resok.afiles <= resok.ffiles <= resok.tfiles)
    observe("invarsec", resok.invarsec)
