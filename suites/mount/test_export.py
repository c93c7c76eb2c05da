# SPDX-License-Identifier: MIT
"""EXPORT (RFC 1813 section 5.2.5, RFC 1094 A.5.6): the list of exports."""

from __future__ import annotations

import pytest

from fixtures.checks.mounting import MakeMounting
from fixtures.checks.target import TargetView
from nfsclient.clients import Mount
from nfsjudge import expect_that, observe, proves, show
from suites.mount.clauses import EVERY_VERSION, EXPORT_LISTS_ALL, LISTS_RESPECT_LIMITS, OLD_VERSIONS


@pytest.mark.exclusive
@EVERY_VERSION
@proves(LISTS_RESPECT_LIMITS, killed_by="export-lists-an-overlong-path")
def test_well_formed(mounting: MakeMounting, version: int) -> None:
    """EXPORT returns a list that decodes within the limits for names and paths."""
    exports = mounting(version).client.export()
    observe("exports", len(exports))
    observe("groups", sum(len(entry.ex_groups) for entry in exports))


@pytest.mark.exclusive
@OLD_VERSIONS
@proves(EXPORT_LISTS_ALL, killed_by="export1-omits-the-first-export")
def test_lists_export_old(mounting: MakeMounting, version: int) -> None:
    """EXPORT of MOUNT versions 1 and 2 lists the export that can be mounted."""
    mount = mounting(version)
    mount.need(mount.export)
    names = mount.export.strip(b"/").split(b"/")
    above = {b"/" + b"/".join(names[:length]) for length in range(len(names) + 1)}
    exports = {entry.ex_dir.rstrip(b"/") or b"/" for entry in mount.client.export()}
    expected = f"{show(mount.export)} or a directory above it"
    expect_that(bool(above & exports), expected, show(sorted(exports)), "exports in EXPORT")


@pytest.mark.exclusive
@proves(EXPORT_LISTS_ALL, killed_by="export3-omits-the-first-export", needs="mount")
def test_lists_export(mount3: Mount, target: TargetView) -> None:
    """EXPORT lists the export that can be mounted."""
    path = target.address.export.encode()
    exports = [entry.ex_dir for entry in mount3.export()]
    observe("exports", len(exports))
    above = [
        path[:length] or b"/" for length in range(len(path) + 1) if path[length : length + 1] in (b"/", b"")
    ]
    listed = {export.rstrip(b"/") or b"/" for export in exports} & set(above)
    expected = f"{show(path)} or a directory above it"
    expect_that(bool(listed), expected, show(sorted(exports)), "exports in EXPORT")
