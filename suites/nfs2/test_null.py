# SPDX-License-Identifier: MIT
"""NULL, ROOT and WRITECACHE (RFC 1094 sections 2.2.1, 2.2.4 and 2.2.8): procedures that do nothing."""

from __future__ import annotations

from collections.abc import Callable

from nfsclient.clients import Nfs2
from nfsclient.errors import AuthFailed, XdrError
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Requirement, expect, proves

NULL_ANSWERS = Requirement(
    rfc="RFC 1094", section="2.2.1", gist="NULL takes no arguments, returns no results, and is answered"
)
FOR_EVERYBODY = Requirement(
    rfc="RFC 1094",
    section="3.4",
    level=Level.SHOULD,  # said of what NFS uses, not of what each server has to take
    gist="AUTH_NONE is allowed in NULL",
)
OBSOLETE = Requirement(
    rfc="RFC 1094",
    section="2.2.4",
    level=Level.SHOULD,  # it is no longer used: nobody is hurt by an answer of another form
    gist="ROOT, which is obsolete, takes nothing and returns nothing",
)
FOR_LATER = Requirement(
    rfc="RFC 1094",
    section="2.2.8",
    level=Level.SHOULD,
    gist="WRITECACHE, meant for a later revision, takes nothing and returns nothing",
)


@proves(NULL_ANSWERS, killed_by="null2-returns-results")
def test_null_is_answered_without_results(nfs2: Nfs2) -> None:
    # As those call it who measure with it: again and again on one connection.
    for _ in range(3):
        nfs2.null()


@proves(NULL_ANSWERS, killed_by="null2-returns-results", needs=("nfs2", "udp2"))
def test_null_is_answered_over_udp(rpc_connect: Callable[..., RpcClient]) -> None:
    nfs2 = Nfs2(rpc_connect("nfs", proto="udp"))
    for _ in range(3):
        nfs2.null()


@proves(FOR_EVERYBODY, killed_by="null2-asks-for-authentication", needs="nfs2")
def test_null_needs_no_authentication(rpc_connect: Callable[..., RpcClient]) -> None:
    refusal: AuthFailed | None = None
    try:
        Nfs2(rpc_connect("nfs", credential=AuthNone())).null()
    except AuthFailed as error:
        refusal = error
    expect(refusal, "the refusal of NULL with AUTH_NONE").is_absent()


# A server that does not have what is obsolete answers PROC_UNAVAIL, and the check is UNSUPPORTED.


def _surplus(act: Callable[[], None]) -> str:
    """Why the results are not void; empty where they are."""
    try:
        act()
    except XdrError as error:
        return str(error)
    return ""


@proves(OBSOLETE, killed_by="root2-returns-a-status")
def test_root_is_answered_without_results(nfs2: Nfs2) -> None:
    expect(_surplus(nfs2.root), "what is wrong with the results of ROOT").equals("")


@proves(FOR_LATER, killed_by="writecache2-returns-a-status")
def test_writecache_is_answered_without_results(nfs2: Nfs2) -> None:
    expect(_surplus(nfs2.writecache), "what is wrong with the results of WRITECACHE").equals("")
