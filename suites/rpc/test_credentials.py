# SPDX-License-Identifier: MIT
"""Credentials and verifiers (RFC 1831 sections 7.2 and 9, appendix A): limits, flavours, and how they are refused.

Who is let in is the server's to decide, and one that lets in everybody need not read credentials at all: what is taken
though it is more than there may be is NONSTRICT. GETATTR of the export's root is called where identity may matter, as a
server need not look at credentials of NULL.
"""

from __future__ import annotations

import pytest

from fixtures.raw import (
    AUTH_ERROR,
    CLOSED,
    GARBAGE_ARGS,
    SILENCE,
    SUCCESS,
    MakeWire,
    Proto,
    RawCall,
    Wire,
    auth,
    opaque,
    words,
)
from nfsclient.rpc.messages import AuthStat
from nfsjudge import Level, Requirement, expect, observe, proves, skip

WITHIN_LIMITS = Requirement(
    rfc="RFC 1831",
    section="A",
    gist="AUTH_SYS has any stamp, a machine name of up to 255 bytes, and up to 16 groups",
)
BEYOND_LIMITS = Requirement(
    rfc="RFC 1831",
    section="A",
    gist="what has more than 255 bytes of machine name, more than 16 groups, or is cut, should not be taken",
    level=Level.SHOULD,
)
AT_MOST_400 = Requirement(
    rfc="RFC 1831",
    section="7.2",
    gist="the body of a credential or verifier has up to 400 bytes: longer ones should not be taken",
    level=Level.SHOULD,
)
NONE_IS_UNDEFINED = Requirement(
    rfc="RFC 1831",
    section="9.1",
    gist="the body of AUTH_NONE is undefined, and only recommended to be empty: it should not matter",
    level=Level.SHOULD,
)
NULL_FOR_ALL = Requirement(
    rfc="RFC 1831",
    section="11.1",
    gist="procedure 0 of any program should never require any kind of authentication",
    level=Level.SHOULD,
)
REFUSED_AS_SUCH = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="a server that does not take the identity of a caller answers AUTH_ERROR",
)
REASON_IS_GIVEN = Requirement(
    rfc="RFC 1831",
    section="7.2",
    gist="where authentication parameters are rejected, the reply should say why, with AUTH_ERROR",
    level=Level.SHOULD,
)
A_REASON = Requirement(
    rfc="RFC 1831", section="8", gist="AUTH_ERROR comes with what failed; AUTH_OK means success"
)
UNKNOWN_SHORTHAND = Requirement(
    rfc="RFC 1831",
    section="A",
    gist="a shorthand that the server does not keep should be rejected, even where nobody was given one",
    level=Level.SHOULD,
)
UNKNOWN_SHORTHAND_CODE = Requirement(
    rfc="RFC 1831",
    section="A",
    gist="the reason for rejecting an unknown shorthand is AUTH_REJECTEDCRED: the client then tries AUTH_SYS",
    level=Level.SHOULD,
)
SURPLUS = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="a credential that is not as it should be is refused as a credential, or put up with",
    level=Level.SHOULD,
)

PADDING = Requirement(
    rfc="RFC 4506",
    section="4.10",
    gist="the bytes that fill up opaque data to a multiple of four are zero, in the verifier of a reply too",
)

NONE, SYS, SHORT = 0, 1, 2
REFUSALS = (AUTH_ERROR, GARBAGE_ARGS, CLOSED, SILENCE)


def sys_body(
    peer: Wire,
    *,
    name: bytes = b"nfsproof",
    gids: int = 0,
    stamp: int = 0,
    name_length: int | None = None,
    gids_length: int | None = None,
) -> bytes:
    """authsys_parms of the user of the run; the lengths may be other than they are."""
    credential = peer.client.credential
    uid, gid = getattr(credential, "uid", 0), getattr(credential, "gid", 0)
    groups = words(gids if gids_length is None else gids_length, *range(5000, 5000 + gids))
    return words(stamp) + opaque(name, length=name_length) + words(uid, gid) + groups


def getattr_of(
    peer: Wire, root_arguments: bytes, cred: bytes | None = None, verf: bytes | None = None
) -> RawCall:
    """GETATTR of the root, with this credential and verifier."""
    call = peer.make(1, root_arguments, cred=cred or auth(SYS, sys_body(peer)))
    return call if verf is None else peer.make(1, call.args, cred=call.cred, verf=verf)


AT_THE_LIMIT = {
    "no name": {"name": b""},
    "name of 255 bytes": {"name": b"n" * 255},
    "16 groups": {"gids": 16},
    "name of 255 bytes, 16 groups": {"name": b"n" * 255, "gids": 16},
    "the highest stamp": {"stamp": 2**32 - 1},
}


@pytest.mark.parametrize("proto", ["tcp", "udp"])
@pytest.mark.parametrize("what", AT_THE_LIMIT)
@proves(WITHIN_LIMITS, killed_by="rpc-refuses-auth-sys-at-its-limits")
def test_auth_sys_is_taken_up_to_its_limits(
    wire: MakeWire, root_arguments: bytes, proto: Proto, what: str
) -> None:
    peer = wire(proto)
    body = sys_body(peer, **AT_THE_LIMIT[what])  # type: ignore[arg-type]
    said = peer.ask(getattr_of(peer, root_arguments, auth(SYS, body)))
    expect(said.outcome, f"the answer to GETATTR with {what}").equals(SUCCESS)


BEYOND = {
    "17 groups": {"gids": 17},
    "32 groups": {"gids": 32},
    "2^31 groups announced": {"gids_length": 2**31},
    "2^32-1 groups announced": {"gids_length": 2**32 - 1},
    "name of 256 bytes": {"name": b"n" * 256},
    "name of 2^32-1 bytes announced": {"name_length": 2**32 - 1},
    "name longer than the body": {"name_length": 100},
}


@pytest.mark.parametrize("what", BEYOND)
@proves(BEYOND_LIMITS, killed_by="rpc-takes-auth-sys-beyond-its-limits")
def test_auth_sys_is_not_taken_beyond_its_limits(wire: MakeWire, root_arguments: bytes, what: str) -> None:
    peer = wire()
    body = sys_body(peer, **BEYOND[what])  # type: ignore[arg-type]
    said = peer.attempt(getattr_of(peer, root_arguments, auth(SYS, body)).message())
    observe("answer", said.outcome)
    expect(said.outcome, f"the answer to GETATTR with {what}").one_of(*REFUSALS)


@pytest.mark.parametrize("size", [0, 4, 8, 16, 20, 24])
@proves(BEYOND_LIMITS, killed_by="rpc-fills-up-short-credentials")
def test_auth_sys_is_not_taken_in_part(wire: MakeWire, root_arguments: bytes, size: int) -> None:
    peer = wire()
    said = peer.attempt(getattr_of(peer, root_arguments, auth(SYS, sys_body(peer)[:size])).message())
    observe("answer", said.outcome)
    expect(said.outcome, f"the answer to GETATTR with {size} of 28 bytes of AUTH_SYS").one_of(*REFUSALS)


@pytest.mark.parametrize("surplus", [4, 12, 372])
@proves(SURPLUS, killed_by="rpc-fails-at-long-credentials")
def test_bytes_behind_auth_sys_are_refused_or_put_up_with(
    wire: MakeWire, root_arguments: bytes, surplus: int
) -> None:
    peer = wire()
    body = sys_body(peer) + bytes(surplus)
    said = peer.attempt(getattr_of(peer, root_arguments, auth(SYS, body)).message())
    observe("answer", said.outcome)
    expect(said.outcome, f"the answer to GETATTR with {surplus} bytes behind AUTH_SYS").one_of(
        SUCCESS, *REFUSALS
    )


TOO_LONG = {
    "401 bytes": auth(NONE, bytes(401)),
    "404 bytes": auth(NONE, bytes(404)),
    "10000 bytes": auth(NONE, bytes(10_000)),
    "2^31 bytes announced": auth(NONE, b"", length=2**31),
    "2^32-1 bytes announced": auth(NONE, b"", length=2**32 - 1),
}


@pytest.mark.parametrize("what", TOO_LONG)
@proves(AT_MOST_400, killed_by="rpc-takes-credentials-of-any-length")
def test_a_credential_has_400_bytes_at_most(wire: MakeWire, what: str) -> None:
    peer = wire()
    said = peer.attempt(peer.make(cred=TOO_LONG[what]).message())
    observe("answer", said.outcome)
    expect(said.outcome, f"the answer to NULL with a credential of {what}").one_of(*REFUSALS)


@pytest.mark.parametrize("what", TOO_LONG)
@proves(AT_MOST_400, killed_by="rpc-takes-verifiers-of-any-length")
def test_a_verifier_has_400_bytes_at_most(wire: MakeWire, what: str) -> None:
    peer = wire()
    said = peer.attempt(peer.make(verf=TOO_LONG[what]).message())
    observe("answer", said.outcome)
    expect(said.outcome, f"the answer to NULL with a verifier of {what}").one_of(*REFUSALS)


@pytest.mark.parametrize("size", [1, 4, 100, 399, 400])
@proves(NONE_IS_UNDEFINED, killed_by="rpc-refuses-none-with-a-body")
def test_the_body_of_none_does_not_matter(wire: MakeWire, size: int) -> None:
    peer = wire()
    said = peer.attempt(peer.make(cred=auth(NONE, b"\xa5" * size)).message())
    expect(said.outcome, f"the answer to NULL with AUTH_NONE and a body of {size} bytes").equals(SUCCESS)


# Multiples of four: what a server pads an echo with is a check of its own.
@pytest.mark.parametrize("size", [4, 100, 396, 400])
@proves(NONE_IS_UNDEFINED, killed_by="rpc-refuses-none-with-a-body")
def test_the_body_of_a_verifier_of_none_does_not_matter(wire: MakeWire, size: int) -> None:
    peer = wire()
    said = peer.attempt(peer.make(verf=auth(NONE, b"\xa5" * size)).message())
    expect(said.outcome, f"the answer to NULL with a verifier of {size} bytes").equals(SUCCESS)


@pytest.mark.parametrize(("proto", "service"), [("tcp", "nfs"), ("udp", "nfs"), ("tcp", "mount")])
@proves(NULL_FOR_ALL, killed_by="rpc-null-asks-who-calls")
def test_null_is_for_everybody(wire: MakeWire, proto: Proto, service: str) -> None:
    peer = wire(proto, "mount" if service == "mount" else "nfs")
    said = peer.ask(peer.make(cred=auth(NONE)))
    expect(said.outcome, "the answer to NULL with AUTH_NONE").equals(SUCCESS)


@pytest.mark.parametrize("proto", ["tcp", "udp"])
@proves(REFUSED_AS_SUCH, killed_by="rpc-takes-none-for-garbage")
def test_nobody_is_served_or_refused_as_such(wire: MakeWire, root_arguments: bytes, proto: Proto) -> None:
    peer = wire(proto)
    said = peer.ask(getattr_of(peer, root_arguments, auth(NONE)))
    observe("answer", said.outcome)
    expect(said.outcome, "the answer to GETATTR with AUTH_NONE").one_of(SUCCESS, AUTH_ERROR)


@pytest.mark.parametrize("flavor", [3, 6, 7, 99, 390_003, 2**31, 2**32 - 1])
@proves(REASON_IS_GIVEN, killed_by="rpc-takes-unknown-flavours-for-auth-sys")
def test_an_unknown_flavour_is_refused(wire: MakeWire, root_arguments: bytes, flavor: int) -> None:
    # Some servers know a few of these; none can take an empty body for the credential of anybody.
    peer = wire()
    said = peer.attempt(getattr_of(peer, root_arguments, auth(flavor)).message())
    observe("answer", said.outcome if said.auth_stat is None else str(AuthStat(said.auth_stat)))
    expect(said.outcome, f"the answer to GETATTR with a credential of flavour {flavor}").equals(AUTH_ERROR)


@pytest.mark.parametrize("body", [b"", bytes(4), b"shorthand", b"\xff" * 400], ids=["0", "4", "9", "400"])
@proves(UNKNOWN_SHORTHAND, killed_by="rpc-takes-any-shorthand")
def test_an_unknown_shorthand_is_not_taken(wire: MakeWire, root_arguments: bytes, body: bytes) -> None:
    peer = wire()
    said = peer.attempt(getattr_of(peer, root_arguments, auth(SHORT, body)).message())
    expect(said.outcome, "the answer to GETATTR with an unknown AUTH_SHORT").one_of(*REFUSALS)


@proves(UNKNOWN_SHORTHAND_CODE, killed_by="rpc-calls-shorthands-bad")
def test_an_unknown_shorthand_is_a_rejected_credential(wire: MakeWire, root_arguments: bytes) -> None:
    peer = wire()
    said = peer.attempt(getattr_of(peer, root_arguments, auth(SHORT, b"shorthand")).message())
    if said.auth_stat is None:
        skip(f"the answer is no AUTH_ERROR, but {said.outcome}")
    expect(AuthStat(said.auth_stat), "the reason").equals(AuthStat.AUTH_REJECTEDCRED)


@pytest.mark.parametrize("flavor", [SYS, SHORT, 6, 99])
@proves(A_REASON, killed_by="rpc-refuses-with-auth-ok")
def test_a_refusal_says_what_failed(wire: MakeWire, root_arguments: bytes, flavor: int) -> None:
    peer = wire()
    said = peer.attempt(getattr_of(peer, root_arguments, auth(flavor, bytes(7))).message())
    if said.auth_stat is None:
        skip(f"the answer is no AUTH_ERROR, but {said.outcome}")
    observe("reason", str(AuthStat(said.auth_stat)))
    expect(AuthStat(said.auth_stat), "the reason").differs_from(AuthStat.AUTH_OK)


VERIFIERS = {
    "none with a body": auth(NONE, b"verifier"),
    "sys": auth(SYS, bytes(20)),
    "short": auth(SHORT, b"a shorthand!"),
    "gss": auth(6, bytes(16)),
    "unknown": auth(99, b"verifier"),
}


@pytest.mark.parametrize("what", VERIFIERS)
@proves(REASON_IS_GIVEN, killed_by="rpc-takes-verifiers-for-arguments")
def test_a_verifier_is_ignored_or_refused_as_such(wire: MakeWire, root_arguments: bytes, what: str) -> None:
    peer = wire()
    # AUTH_SYS should come with an empty one (appendix A), so that a server may not know what to do with these.
    said = peer.risk(getattr_of(peer, root_arguments, verf=VERIFIERS[what]))
    observe("answer", said.outcome)
    expect(said.outcome, f"the answer to GETATTR with AUTH_SYS and a verifier ({what})").one_of(
        SUCCESS, AUTH_ERROR
    )


@proves(PADDING, killed_by="rpc-pads-verifiers-with-what-is-there")
def test_a_verifier_that_comes_back_is_padded_with_zeros(wire: MakeWire) -> None:
    # Again and again, and with data between: what a server does not clear is zero by chance.
    peer = wire()
    paddings, length = set(), 0
    for size in range(48):
        between = peer.attempt(peer.make(cred=auth(NONE, b"\xff" * 400)).message())
        said = peer.attempt(peer.make(verf=auth(NONE, b"v" * (size % 40 * 4 + size % 3 + 1))).message())
        if {between.outcome, said.outcome} & {CLOSED, SILENCE}:
            skip("bodies of AUTH_NONE are not answered")
        reply = said.reply
        length = int.from_bytes(reply[16:20], "big") if reply[8:12] == bytes(4) else 0
        paddings.add(reply[20 + length : 20 + length + -length % 4].strip(b"\0"))
    observe("verifier", "comes back" if length else "is empty")
    expect(sorted(paddings), "what is not zero in the padding of verifiers").equals([b""])
