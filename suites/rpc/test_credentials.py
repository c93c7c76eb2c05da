# SPDX-License-Identifier: MIT
"""Credentials and verifiers (RFC 1831 sections 7.2 and 9, appendix A): limits, flavors, and refusals.

The server decides whom it serves, and a server that serves everybody need not read credentials at all. So a server
that accepts an oversized credential is NONSTRICT only. Where identity may matter, the checks call GETATTR of the
export's root, because a server need not look at the credential of NULL.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.announcing import RUNGS, Announced
from fixtures.checks.wire import (
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
from nfsclient.rpc.messages import AuthFlavor, AuthStat
from nfsjudge import (
    Harm,
    expect,
    expect_that,
    observe,
    proves,
    should,
    show,
    skip,
    stated,
)
from suites.rpc.lengths import with_smaller_lengths
from suites.rpc.parameters import TRANSPORTS, short

ACCEPTS_AUTH_SYS_WITHIN_LIMITS = stated(
    "RFC 1831", "A", "AUTH_SYS may have any stamp, a machine name of up to 255 bytes, and up to 16 groups"
)
REFUSES_MALFORMED_AUTH_SYS = should(
    "RFC 1831",
    "A",
    "a server should refuse AUTH_SYS that is truncated, or exceeds 255 bytes of machine name or 16 groups",
)
LIMITS_AUTH_BODY = should(
    "RFC 1831", "7.2", "a server should refuse a credential or verifier with a body of more than 400 bytes"
)
IGNORES_AUTH_NONE_BODY = should(
    "RFC 1831", "9.1", "a server should ignore the body of AUTH_NONE, which is undefined"
)
NULL_NEEDS_NO_AUTHENTICATION = should(
    "RFC 1831", "11.1", "NULL of any program should never require authentication"
)
REFUSES_IDENTITY_WITH_AUTH_ERROR = stated(
    "RFC 1831", "8", "a server that does not accept the identity of a caller answers AUTH_ERROR"
)
REPORTS_AUTH_ERROR = should(
    "RFC 1831",
    "7.2",
    "a server that rejects authentication parameters should give the reason with AUTH_ERROR",
)
AUTH_ERROR_HAS_REASON = stated(
    "RFC 1831", "8", "AUTH_ERROR gives a reason other than AUTH_OK, which means success"
)
REFUSES_UNKNOWN_SHORTHAND = should(
    "RFC 1831", "A", "a server should refuse an AUTH_SHORT credential that it does not know"
)
RETURNS_REJECTEDCRED = should(
    "RFC 1831",
    "A",
    "a server that issues AUTH_SHORT should refuse one that it does not know with AUTH_REJECTEDCRED",
)
TOLERATES_SURPLUS_CREDENTIAL = should(
    "RFC 1831", "8", "a server should either ignore surplus bytes in a credential or refuse the credential"
)
PADS_WITH_ZEROS = stated(
    "RFC 4506",
    "4.10",
    "opaque data are padded with zero bytes, in the verifier of a reply too",
    harm=Harm.SECRET,
)
SYS_REPLY_VERIFIER = stated(
    "RFC 1831", "A", "the reply to a call with AUTH_SYS has a verifier of flavor AUTH_NONE or AUTH_SHORT"
)
NONE_REPLY_VERIFIER = stated(
    "RFC 1831", "9.1", "the reply to a call with AUTH_NONE has a verifier of flavor AUTH_NONE"
)
NONE, SYS, SHORT = 0, 1, 2
REFUSALS = (AUTH_ERROR, GARBAGE_ARGS, CLOSED, SILENCE)


class SysBody(t.TypedDict, total=False):
    """The arguments of `sys_body`."""

    name: bytes
    gids: int
    stamp: int
    name_length: int
    gids_length: int


def sys_body(
    peer: Wire,
    *,
    name: bytes = b"nfsproof",
    gids: int = 0,
    stamp: int = 0,
    name_length: int | None = None,
    gids_length: int | None = None,
) -> bytes:
    """The authsys_parms of the run's user; the encoded lengths can be set to wrong values."""
    credential = peer.client.credential
    uid, gid = getattr(credential, "uid", 0), getattr(credential, "gid", 0)
    groups = words(gids if gids_length is None else gids_length, *range(5000, 5000 + gids))
    return words(stamp) + opaque(name, length=name_length) + words(uid, gid) + groups


def named(peer: Wire) -> str:
    """Procedure 1 of the version of NFS that the run is about."""
    return "COMPOUND" if peer.version == 4 else "GETATTR"


def getattr_of(
    peer: Wire, root_arguments: bytes, cred: bytes | None = None, verf: bytes | None = None
) -> RawCall:
    """GETATTR of the export's root with the given credential and verifier."""
    call = peer.make(1, root_arguments, cred=cred or auth(SYS, sys_body(peer)))
    return call if verf is None else peer.make(1, call.args, cred=call.cred, verf=verf)


AT_THE_LIMIT: dict[str, tuple[str, SysBody]] = {
    "name-0": ("an empty machine name", {"name": b""}),
    "name-255": ("a machine name of 255 bytes", {"name": b"n" * 255}),
    "groups-16": ("16 groups", {"gids": 16}),
    "name+groups": ("a machine name of 255 bytes and 16 groups", {"name": b"n" * 255, "gids": 16}),
    "stamp-4g-1": ("the highest stamp", {"stamp": 2**32 - 1}),
}
"""Id -> description, and the arguments of `sys_body`."""


@TRANSPORTS
@pytest.mark.parametrize("what", AT_THE_LIMIT)
@proves(ACCEPTS_AUTH_SYS_WITHIN_LIMITS, killed_by="rpc-refuses-auth-sys-at-its-limits")
def test_sys_at_limits(wire: MakeWire, root_arguments: bytes, proto: Proto, what: str) -> None:
    """The server accepts AUTH_SYS credentials at the limits of the RFC."""
    peer = wire(proto)
    description, fields = AT_THE_LIMIT[what]
    answer = peer.call(getattr_of(peer, root_arguments, auth(SYS, sys_body(peer, **fields))))
    expect(answer.outcome, f"answer to {named(peer)} with AUTH_SYS and {description}", of=answer).equals(
        SUCCESS
    )


BEYOND_THE_LIMIT: dict[str, tuple[str, SysBody]] = {
    "groups-17": ("17 groups", {"gids": 17}),
    "groups-32": ("32 groups", {"gids": 32}),
    "groups-2g": ("a group count of 2^31", {"gids_length": 2**31}),
    "groups-4g-1": ("a group count of 2^32-1", {"gids_length": 2**32 - 1}),
    "name-256": ("a machine name of 256 bytes", {"name": b"n" * 256}),
    "name-4g-1": ("a machine name length of 2^32-1", {"name_length": 2**32 - 1}),
    "name-past-end": ("a machine name longer than the credential", {"name_length": 100}),
}
"""Id -> description, and the arguments of `sys_body`."""


def _expect_refused(peer: Wire, message: bytes, what: str) -> None:
    """A message gets one of `REFUSALS`."""
    __tracebackhide__ = True
    answer = peer.try_message(message)
    observe("answer", answer.outcome)
    expect(answer.outcome, f"answer to {what}", of=answer).one_of(*REFUSALS)


def _send_alone(peer: Wire, message: bytes, call_null: Callable[[], None]) -> None:
    """A message with a smaller length, which is not judged: no time is lost with waiting for an answer."""
    peer.send_record(message)
    call_null()
    peer.client.close()


@pytest.mark.parametrize("what", BEYOND_THE_LIMIT)
@proves(REFUSES_MALFORMED_AUTH_SYS, killed_by="rpc-accepts-auth-sys-beyond-its-limits")
def test_sys_beyond_limits(
    wire: MakeWire,
    root_arguments: bytes,
    announced: Announced,
    null_on_other_connection: Callable[[], None],
    what: str,
) -> None:
    """The server refuses AUTH_SYS credentials beyond the limits of the RFC."""
    description, fields = BEYOND_THE_LIMIT[what]
    peer = wire()
    message = getattr_of(peer, root_arguments, auth(SYS, sys_body(peer, **fields))).message()
    length = fields.get("gids_length") or fields.get("name_length") or 0
    at = message.index(words(length)) if length > RUNGS[0] else None
    unit = 4 if "gids_length" in fields else 1
    for data in with_smaller_lengths(message, at, announced, unit=unit):
        peer = wire()
        if data != message:
            _send_alone(peer, data, null_on_other_connection)
            continue
        _expect_refused(peer, data, f"{named(peer)} with AUTH_SYS and {description}")


@pytest.mark.parametrize("size", [0, 4, 8, 16, 20, 24])
@proves(REFUSES_MALFORMED_AUTH_SYS, killed_by="rpc-pads-short-credentials")
def test_sys_truncated(wire: MakeWire, root_arguments: bytes, size: int) -> None:
    """The server refuses a truncated AUTH_SYS credential."""
    peer = wire()
    _expect_refused(
        peer,
        getattr_of(peer, root_arguments, auth(SYS, sys_body(peer)[:size])).message(),
        f"{named(peer)} with the first {size} of 28 bytes of AUTH_SYS",
    )


@pytest.mark.parametrize("surplus", [4, 12, 372])
@proves(TOLERATES_SURPLUS_CREDENTIAL, killed_by="rpc-bytes-after-auth-sys-are-system-err")
def test_sys_trailing_bytes(wire: MakeWire, root_arguments: bytes, surplus: int) -> None:
    """The server ignores trailing bytes after AUTH_SYS, or refuses the credential."""
    peer = wire()
    body = sys_body(peer) + bytes(surplus)
    answer = peer.try_message(getattr_of(peer, root_arguments, auth(SYS, body)).message())
    observe("answer", answer.outcome)
    expect(answer.outcome, f"answer to {named(peer)} with {surplus} bytes after AUTH_SYS", of=answer).one_of(
        SUCCESS, *REFUSALS
    )


TOO_LONG = {
    "401": ("401 bytes", auth(NONE, bytes(401))),
    "404": ("404 bytes", auth(NONE, bytes(404))),
    "10000": ("10000 bytes", auth(NONE, bytes(10_000))),
    "2g": ("2^31 bytes, which are not there", auth(NONE, b"", length=2**31)),
    "4g-1": ("2^32-1 bytes, which are not there", auth(NONE, b"", length=2**32 - 1)),
}
"""Id -> description, and the encoded credential or verifier."""
LENGTH_AT = 4
"""Where its length stands."""


@pytest.mark.parametrize("what", TOO_LONG)
@proves(LIMITS_AUTH_BODY, killed_by="rpc-accepts-credentials-of-any-length")
def test_credential_too_long(
    wire: MakeWire, announced: Announced, null_on_other_connection: Callable[[], None], what: str
) -> None:
    """The server refuses a credential of more than 400 bytes."""
    description, cred = TOO_LONG[what]
    for each in with_smaller_lengths(cred, LENGTH_AT, announced):
        peer = wire()
        if each != cred:
            _send_alone(peer, peer.make(cred=each).message(), null_on_other_connection)
            continue
        _expect_refused(peer, peer.make(cred=each).message(), f"NULL with a credential of {description}")


@pytest.mark.parametrize("what", TOO_LONG)
@proves(LIMITS_AUTH_BODY, killed_by="rpc-accepts-verifiers-of-any-length")
def test_verifier_too_long(
    wire: MakeWire, announced: Announced, null_on_other_connection: Callable[[], None], what: str
) -> None:
    """The server refuses a verifier of more than 400 bytes."""
    description, verf = TOO_LONG[what]
    for each in with_smaller_lengths(verf, LENGTH_AT, announced):
        peer = wire()
        if each != verf:
            _send_alone(peer, peer.make(verf=each).message(), null_on_other_connection)
            continue
        _expect_refused(peer, peer.make(verf=each).message(), f"NULL with a verifier of {description}")


@pytest.mark.parametrize("size", [1, 4, 100, 399, 400])
@proves(IGNORES_AUTH_NONE_BODY, killed_by="rpc-refuses-none-with-a-body")
def test_none_credential_body(wire: MakeWire, size: int) -> None:
    """The server ignores the body of an AUTH_NONE credential."""
    peer = wire()
    answer = peer.try_message(peer.make(cred=auth(NONE, b"\xa5" * size)).message())
    expect(answer.outcome, f"answer to NULL with AUTH_NONE and a body of {size} bytes", of=answer).equals(
        SUCCESS
    )


# Multiples of four: another check looks at the padding of an echoed verifier.
@pytest.mark.parametrize("size", [4, 100, 396, 400])
@proves(IGNORES_AUTH_NONE_BODY, killed_by="rpc-refuses-none-with-a-body")
def test_none_verifier_body(wire: MakeWire, size: int) -> None:
    """The server ignores the body of an AUTH_NONE verifier."""
    peer = wire()
    answer = peer.try_message(peer.make(verf=auth(NONE, b"\xa5" * size)).message())
    expect(answer.outcome, f"answer to NULL with an AUTH_NONE verifier of {size} bytes", of=answer).equals(
        SUCCESS
    )


@pytest.mark.parametrize(("proto", "service"), [("tcp", "nfs"), ("udp", "nfs"), ("tcp", "mount")])
@proves(NULL_NEEDS_NO_AUTHENTICATION, killed_by="rpc-null-requires-authentication")
def test_null_with_auth_none(wire: MakeWire, proto: Proto, service: str) -> None:
    """The server answers NULL with AUTH_NONE."""
    peer = wire(proto, "mount" if service == "mount" else "nfs")
    answer = peer.call(peer.make(cred=auth(NONE)))
    expect(answer.outcome, "answer to NULL with AUTH_NONE", of=answer).equals(SUCCESS)


@TRANSPORTS
@proves(REFUSES_IDENTITY_WITH_AUTH_ERROR, killed_by="rpc-auth-none-is-garbage-args")
def test_getattr_with_auth_none(wire: MakeWire, root_arguments: bytes, proto: Proto) -> None:
    """The server executes GETATTR with AUTH_NONE, or refuses it with AUTH_ERROR."""
    peer = wire(proto)
    answer = peer.call(getattr_of(peer, root_arguments, auth(NONE)))
    observe("answer", answer.outcome)
    expect(answer.outcome, f"answer to {named(peer)} with AUTH_NONE", of=answer).one_of(SUCCESS, AUTH_ERROR)


@pytest.mark.parametrize("flavor", [3, 6, 7, 99, 390_003, 2**31, 2**32 - 1], ids=short)
@proves(REPORTS_AUTH_ERROR, killed_by="rpc-treats-unknown-flavors-as-auth-sys")
def test_unknown_flavor(wire: MakeWire, root_arguments: bytes, flavor: int) -> None:
    """The server refuses a credential of an unknown flavor with AUTH_ERROR."""
    # Some servers know a few of these flavors, but an empty body identifies nobody in any of them.
    peer = wire()
    answer = peer.try_message(getattr_of(peer, root_arguments, auth(flavor)).message())
    observe("answer", answer.outcome if answer.auth_stat is None else str(AuthStat(answer.auth_stat)))
    expect(answer.outcome, f"answer to {named(peer)} with a credential of flavor {flavor}", of=answer).equals(
        AUTH_ERROR
    )


@pytest.mark.parametrize("body", [b"", bytes(4), b"shorthand", b"\xff" * 400], ids=["0", "4", "9", "400"])
@proves(
    REFUSES_UNKNOWN_SHORTHAND,
    RETURNS_REJECTEDCRED,
    killed_by=("rpc-accepts-any-shorthand", "rpc-issues-shorthands-and-others-are-badcred"),
)
def test_unknown_shorthand(wire: MakeWire, root_arguments: bytes, body: bytes) -> None:
    """The server refuses an AUTH_SHORT credential that it never issued."""
    peer = wire()
    verf = peer.call(getattr_of(peer, root_arguments)).verf
    issues = verf is not None and verf.flavor == AuthFlavor.AUTH_SHORT
    observe("AUTH_SHORT in replies to AUTH_SYS", "issued" if issues else "not issued")
    answer = peer.try_message(getattr_of(peer, root_arguments, auth(SHORT, body)).message())
    what = f"answer to {named(peer)} with an unknown AUTH_SHORT"
    expect(answer.outcome, what, of=answer, because=REFUSES_UNKNOWN_SHORTHAND).one_of(*REFUSALS)
    if answer.auth_stat is None:
        return
    observe("auth_stat", AuthStat(answer.auth_stat))
    # To a server that issues none, AUTH_SHORT is one more flavor that it does not know.
    if issues:
        what = "auth_stat of an unknown AUTH_SHORT"
        rejected = AuthStat.AUTH_REJECTEDCRED
        expect(AuthStat(answer.auth_stat), what, of=answer, because=RETURNS_REJECTEDCRED).equals(rejected)


@pytest.mark.parametrize("flavor", [SYS, SHORT, 6, 99], ids=["sys", "short", "gss", "unknown"])
@proves(AUTH_ERROR_HAS_REASON, killed_by="rpc-refuses-with-auth-ok")
def test_auth_error_reason(wire: MakeWire, root_arguments: bytes, flavor: int) -> None:
    """AUTH_ERROR gives a reason other than AUTH_OK."""
    peer = wire()
    answer = peer.try_message(getattr_of(peer, root_arguments, auth(flavor, bytes(7))).message())
    if answer.auth_stat is None:
        skip(f"expected AUTH_ERROR, got {answer.outcome}; another check judges that")
    observe("auth_stat", str(AuthStat(answer.auth_stat)))
    expect(AuthStat(answer.auth_stat), "auth_stat of AUTH_ERROR", of=answer).differs_from(AuthStat.AUTH_OK)


VERIFIERS = {
    "none": ("AUTH_NONE with a body", auth(NONE, b"verifier")),
    "sys": ("AUTH_SYS", auth(SYS, bytes(20))),
    "short": ("AUTH_SHORT", auth(SHORT, b"a shorthand!")),
    "gss": ("RPCSEC_GSS", auth(6, bytes(16))),
    "unknown": ("flavor 99", auth(99, b"verifier")),
}
"""Id -> description, and the encoded verifier."""


@pytest.mark.parametrize("what", VERIFIERS)
@proves(REPORTS_AUTH_ERROR, killed_by="rpc-treats-verifiers-as-arguments")
def test_verifier_with_sys(wire: MakeWire, root_arguments: bytes, what: str) -> None:
    """The server ignores an unexpected verifier of an AUTH_SYS call, or answers AUTH_ERROR."""
    peer = wire()
    description, verf = VERIFIERS[what]
    # AUTH_SYS should come with an empty verifier (appendix A), so a server may not know how to treat these.
    answer = peer.try_call(getattr_of(peer, root_arguments, verf=verf))
    observe("answer", answer.outcome)
    expect(
        answer.outcome, f"answer to {named(peer)} with AUTH_SYS and a verifier of {description}", of=answer
    ).one_of(SUCCESS, AUTH_ERROR)


@proves(PADS_WITH_ZEROS, killed_by="rpc-pads-verifiers-with-stale-memory")
def test_reply_verifier_padding(wire: MakeWire) -> None:
    """The server pads the verifier of a reply with zeros."""
    # Many times, with other data in between: memory that a server does not clear may be zero by chance.
    peer = wire()
    paddings, length = set(), 0
    for size in range(48):
        between = peer.try_message(peer.make(cred=auth(NONE, b"\xff" * 400)).message())
        answer = peer.try_message(peer.make(verf=auth(NONE, b"v" * (size % 40 * 4 + size % 3 + 1))).message())
        if {between.outcome, answer.outcome} & {CLOSED, SILENCE}:
            skip("the server does not answer calls with a body in AUTH_NONE")
        reply = answer.reply
        length = int.from_bytes(reply[16:20], "big") if reply[8:12] == bytes(4) else 0
        paddings.add(reply[20 + length : 20 + length + -length % 4].strip(b"\0"))
    observe("verifier of the reply", "that of the call" if length else "empty")
    seen = f"nonzero bytes {show(sorted(paddings - {b''}))}"
    expect_that(paddings == {b""}, "zeros", seen, "padding of the verifier in replies")


@TRANSPORTS
@proves(SYS_REPLY_VERIFIER, killed_by="rpc-replies-with-an-auth-sys-verifier")
def test_reply_verifier_sys(wire: MakeWire, proto: Proto) -> None:
    """A reply to AUTH_SYS has a verifier of flavor AUTH_NONE or AUTH_SHORT."""
    peer = wire(proto)
    verf = peer.call(peer.make()).verf
    flavor = None if verf is None else verf.flavor
    expect(flavor, "flavor of the verifier in the reply").one_of(AuthFlavor.AUTH_NONE, AuthFlavor.AUTH_SHORT)


@TRANSPORTS
@proves(NONE_REPLY_VERIFIER, killed_by="rpc-null-returns-auth-short")
def test_reply_verifier_none(wire: MakeWire, proto: Proto) -> None:
    """A reply to AUTH_NONE has a verifier of flavor AUTH_NONE."""
    peer = wire(proto)
    answer = peer.call(peer.make(cred=words(0, 0)))
    if answer.verf is None:
        skip(f"the server refuses NULL with AUTH_NONE: it answers {answer.outcome}")
    expect(answer.verf.flavor, "flavor of the verifier in the reply", of=answer).equals(AuthFlavor.AUTH_NONE)
