# SPDX-License-Identifier: MIT
"""Groups of a caller (RFC 1813 section 4.4): AUTH_SYS has room for sixteen."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import ACCESS3_READ, Sattr3
from nfsjudge import expect, proves, unsupported
from suites.nfs3.attributes import with_mode
from suites.nfs3.clauses import GRANTS_WITH_PERMISSION
from suites.nfs3.permissions import STRANGER, access_of

GROUPS: t.Final = tuple(range(5001, 5017))
"""As many as AUTH_SYS has room for."""


@proves(GRANTS_WITH_PERMISSION, killed_by="auth3-eight-groups-count", needs=("root", "other_users"))
def test_sixteen_groups(nfs3: Nfs3, scratch: Nfs3Scratch, as_user: Callable[..., Nfs3]) -> None:
    """A member of sixteen groups may read files of each of them."""
    member = as_user(*STRANGER, gids=GROUPS)
    for group in (GROUPS[0], GROUPS[8], GROUPS[15]):
        file = scratch.file(f"file-{group}", b"data")
        expect(nfs3.setattr(file, Sattr3(gid=group))).ok()
        with_mode(nfs3, file, 0o640)
        granted = access_of(member, file, ACCESS3_READ)
        if group == GROUPS[0] and not granted:
            unsupported("the server ignores the groups in the credential, or grants nothing")
        what = f"access of a member of group {group}, the {GROUPS.index(group) + 1}th of its groups"
        expect(granted, what, field="access").equals(ACCESS3_READ)
