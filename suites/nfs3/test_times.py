# SPDX-License-Identifier: MIT
"""Times that a change moves (RFC 1813 section 2.5)."""

from __future__ import annotations

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsjudge import Level, Requirement, expect, proves
from suites.nfs3.changing import CHANGES, wcc_of
from suites.nfs3.times import LONG_AGO, make_old

DIRECTORY_MTIME_FOLLOWS_ENTRIES = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # section 2.5 defines mtime for the data of files only
    gist="a change of its entries should update the mtime of a directory",
)


# ---------------------------------------------------------------- times of directories


@pytest.mark.parametrize("change", CHANGES)
@proves(DIRECTORY_MTIME_FOLLOWS_ENTRIES, killed_by="names3-leave-mtime-of-directories", needs="cansettime")
def test_directory_mtime(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    """A change of the entries of a directory updates its mtime."""
    make_old(nfs3, furnished.handle)
    wcc_of(CHANGES[change].act(nfs3, furnished), CHANGES[change].wcc)
    expect(furnished.attributes().mtime, "mtime of the directory").differs_from(LONG_AGO)
