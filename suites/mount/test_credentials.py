# SPDX-License-Identifier: MIT
"""Which credentials MOUNT accepts (RFC 1813 section 5.1.1, RFC 1094 A.2)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.mounting import MakeMounting
from nfsclient.rpc.auth import AuthNone
from nfsjudge import Part, Requirement, expect_that, observe, proves, should
from suites.mount.calls import refusal_of

MNT_REQUIRES_AUTH_SYS = should(
    "RFC 1813", "5.2.1", "MNT requires AUTH_UNIX or better", part=Part.IMPLEMENTATION
)
UMNT_REQUIRES_AUTH_SYS = should("RFC 1813", "5.2.3", "UMNT requires AUTH_UNIX or better")
UMNTALL_REQUIRES_AUTH_SYS = should("RFC 1813", "5.2.4", "UMNTALL requires AUTH_UNIX or better")


@pytest.mark.parametrize("name", ["mnt", "umnt", "umntall"])
@proves(
    MNT_REQUIRES_AUTH_SYS,
    UMNT_REQUIRES_AUTH_SYS,
    UMNTALL_REQUIRES_AUTH_SYS,
    killed_by="mount3-accepts-auth-none",
    needs="mount",
)
def test_auth_none_refused(mounting: MakeMounting, name: str) -> None:
    """MNT, UMNT and UMNTALL refuse AUTH_NONE."""
    mount = mounting(3, credential=AuthNone())
    acts: dict[str, tuple[Requirement, Callable[[], t.Any]]] = {
        "mnt": (MNT_REQUIRES_AUTH_SYS, lambda: mount.mnt(mount.export)),
        "umnt": (UMNT_REQUIRES_AUTH_SYS, lambda: mount.client.umnt(mount.export)),
        "umntall": (UMNTALL_REQUIRES_AUTH_SYS, mount.client.umntall),
    }
    rule, act = acts[name]
    refusal = refusal_of(act)
    observe("AUTH_NONE", refusal or "served")
    what = f"answer to {name.upper()} with AUTH_NONE"
    expect_that(bool(refusal), "an error", "success", what, because=rule, operation=name.upper())
