# SPDX-License-Identifier: MIT
"""NULL (RFC 1813 section 3.3.0): does nothing and replies."""

from __future__ import annotations

from collections.abc import Callable

from nfsclient.clients import Nfs3
from nfsclient.errors import AuthFailed
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.messages import AuthStat
from nfsjudge import Part, expect_that, proves, should, show, stated

NULL_RETURNS_NOTHING = stated("RFC 1813", "3.3.0", "NULL takes no arguments and returns no results")
NULL_NEEDS_NO_AUTHENTICATION = should(
    "RFC 1813", "3.3.0", "NULL should never require authentication", part=Part.IMPLEMENTATION
)


@proves(NULL_RETURNS_NOTHING, killed_by="null3-returns-results")
def test_no_results(nfs3: Nfs3) -> None:
    """NULL returns no results, however often it is called."""
    # Tools that measure round trips call it repeatedly on one connection.
    for _ in range(3):
        nfs3.null()


@proves(NULL_NEEDS_NO_AUTHENTICATION, killed_by="null3-requires-authentication")
def test_auth_none(rpc_connect: Callable[..., RpcClient]) -> None:
    """NULL accepts a call with AUTH_NONE."""
    refusal = ""
    try:
        Nfs3(rpc_connect("nfs", credential=AuthNone())).null()
    except AuthFailed as error:
        refusal = f"AUTH_ERROR with {show(AuthStat(error.auth_stat))}"
    expect_that(not refusal, "success", refusal, "answer to NULL with AUTH_NONE")
