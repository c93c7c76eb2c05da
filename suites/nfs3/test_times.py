# SPDX-License-Identifier: MIT
"""Times of directories (RFC 1813 section 2.5): what moves mtime."""

from __future__ import annotations

import pytest

from nfsclient.clients import Nfs3
from nfsjudge import Level, Requirement, expect, proves
from suites.nfs3.calls import Place
from suites.nfs3.times import LONG_AGO, make_old
from suites.nfs3.wcc import CHANGES, wcc_field, wcc_of

DIRECTORY_MTIME_FOLLOWS_ENTRIES = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # section 2.5 defines mtime for the data of files only
    gist="a change of its entries should update the mtime of a directory",
)


@pytest.mark.parametrize("change", CHANGES)
@proves(DIRECTORY_MTIME_FOLLOWS_ENTRIES, killed_by="names3-keep-mtime-of-directories", needs="cansettime")
def test_directory_mtime(nfs3: Nfs3, place: Place, change: str) -> None:
    """A change of the entries of a directory updates its mtime."""
    place.arrange(change, b"name")
    make_old(nfs3, place.here)
    wcc_of(place.call(nfs3, change, b"name"), wcc_field(change))
    expect(place.scratch.attributes(place.here).mtime, "mtime of the directory").differs_from(LONG_AGO)
