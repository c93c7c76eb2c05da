# SPDX-License-Identifier: MIT
"""NULL (RFC 1094 section 2.2.1) does nothing and replies."""

from __future__ import annotations

from collections.abc import Callable

from nfsclient.clients import Nfs2
from nfsclient.errors import AuthFailed
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.messages import AuthStat
from nfsjudge import expect_that, proves, should, stated

NULL_IS_ANSWERED = stated("RFC 1094", "2.2.1", "NULL takes no arguments, returns no results, and is answered")
NULL_ALLOWS_AUTH_NONE = should(  # the text says what NFS uses, not what each server must accept
    "RFC 1094", "3.4", "AUTH_NONE is allowed in NULL"
)


@proves(NULL_IS_ANSWERED, killed_by="null2-returns-results")
def test_no_results(nfs2: Nfs2) -> None:
    """NULL returns no results."""
    # Clients ping with NULL: several calls on one connection.
    for _ in range(3):
        nfs2.null()


@proves(NULL_IS_ANSWERED, killed_by="null2-returns-results", needs=("nfs2", "nfs2_udp"))
def test_udp(rpc_connect: Callable[..., RpcClient]) -> None:
    """NULL is answered over UDP."""
    nfs2 = Nfs2(rpc_connect("nfs", proto="udp"))
    for _ in range(3):
        nfs2.null()


@proves(NULL_ALLOWS_AUTH_NONE, killed_by="null2-requires-authentication", needs="nfs2")
def test_auth_none(rpc_connect: Callable[..., RpcClient]) -> None:
    """NULL accepts a call with AUTH_NONE."""
    refusal: AuthFailed | None = None
    try:
        Nfs2(rpc_connect("nfs", credential=AuthNone())).null()
    except AuthFailed as error:
        refusal = error
    seen = "" if refusal is None else f"AUTH_ERROR ({AuthStat(refusal.auth_stat)})"
    expect_that(refusal is None, "success", seen, "answer to NULL with AUTH_NONE")
