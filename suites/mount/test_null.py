# SPDX-License-Identifier: MIT
"""NULL of MOUNT (RFC 1813 section 5.2.0, RFC 1094 A.5.1)."""

from __future__ import annotations

from fixtures.checks.mounting import MakeMounting
from nfsclient.clients import Mount
from nfsclient.rpc.auth import AuthNone
from nfsjudge import expect_that, proves
from suites.mount.calls import refusal_of
from suites.mount.clauses import EVERY_VERSION, NULL_ACCEPTS_AUTH_NONE, NULL_RETURNS_NOTHING, OLD_VERSIONS


@OLD_VERSIONS
@proves(NULL_RETURNS_NOTHING, killed_by="mount1-null-returns-results")
def test_answered_old(mounting: MakeMounting, version: int) -> None:
    """MOUNT versions 1 and 2 answer NULL without results."""
    mounting(version).client.null()


@EVERY_VERSION
@proves(NULL_ACCEPTS_AUTH_NONE, killed_by="mount-null-requires-authentication")
def test_with_auth_none(mounting: MakeMounting, version: int) -> None:
    """MOUNT answers NULL with AUTH_NONE."""
    refusal = refusal_of(mounting(version, credential=AuthNone()).client.null)
    expect_that(not refusal, "success", refusal, "answer to NULL with AUTH_NONE")


@proves(NULL_RETURNS_NOTHING, killed_by="mount3-null-returns-results", needs="mount")
def test_answered(mount3: Mount) -> None:
    """MOUNT answers NULL without results."""
    mount3.null()
