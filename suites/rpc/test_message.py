# SPDX-License-Identifier: MIT
"""RPC message headers (RFC 1831 sections 7.1 and 8): how a server answers calls with a wrong header field.

The RFC does not say which of several errors a server reports first, so each call here has one wrong field. Where a
server may check the credential before it looks at that field, AUTH_ERROR is accepted too.
"""

from __future__ import annotations

import pytest

from fixtures.raw import (
    AUTH_ERROR,
    CLOSED,
    PROC_UNAVAIL,
    PROG_MISMATCH,
    PROG_UNAVAIL,
    RPC_MISMATCH,
    SILENCE,
    SUCCESS,
    MakeWire,
    Proto,
    words,
)
from nfsclient.errors import RpcTimeout
from nfsclient.rpc.messages import AuthFlavor
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.rpc.parameters import short

ECHOES_XID = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="a reply has the xid of its call, whatever its value",
)
REFUSES_OTHER_RPC_VERSIONS = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="a server rejects a call whose RPC version is not 2",
)
REPORTS_RPC_MISMATCH = Requirement(
    rfc="RFC 1831",
    section="7",
    gist="a server should answer RPC_MISMATCH to a call with another RPC version",
    level=Level.SHOULD,
)
RPC_MISMATCH_HAS_RANGE = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="RPC_MISMATCH returns the range of RPC versions supported, which includes 2 but not the version refused",
)
RETURNS_PROG_UNAVAIL = Requirement(
    rfc="RFC 1831",
    section="7.1",
    gist="a server answers PROG_UNAVAIL to a call of a program that it does not serve",
)
RETURNS_PROG_MISMATCH = Requirement(
    rfc="RFC 1831",
    section="7.1",
    gist="a server answers PROG_MISMATCH to a call of a program version that it does not serve",
)
PROG_MISMATCH_HAS_RANGE = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="PROG_MISMATCH returns the lowest and highest version served, and a version served is in that range",
)
RETURNS_PROC_UNAVAIL = Requirement(
    rfc="RFC 1831",
    section="7.1",
    gist="a server answers PROC_UNAVAIL to a call of a procedure that does not exist",
)
SYS_REPLY_VERIFIER = Requirement(
    rfc="RFC 1831",
    section="A",
    gist="the reply to a call with AUTH_SYS has a verifier of flavor AUTH_NONE or AUTH_SHORT",
)
NONE_REPLY_VERIFIER = Requirement(
    rfc="RFC 1831",
    section="9.1",
    gist="the reply to a call with AUTH_NONE has a verifier of flavor AUTH_NONE",
)
REPLIES_TO_CALLS_ONLY = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="a server should send a reply only to a call",
    level=Level.SHOULD,
)
REFUSES_TRUNCATED_HEADER = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="a server does not execute a call that lacks part of its header, up to credential and verifier",
)

TRANSPORTS = pytest.mark.parametrize("proto", ["tcp", "udp"])
HIGHEST = 2**32 - 1


@TRANSPORTS
@pytest.mark.parametrize("xid", [0, 2**31 - 1, 2**31, HIGHEST], ids=short)
@proves(ECHOES_XID, killed_by="rpc-bends-xids-at-the-ends")
def test_any_xid_is_echoed(wire: MakeWire, proto: Proto, xid: int) -> None:
    """A reply has the xid of its call."""
    peer = wire(proto)
    call = peer.make(xid=xid)
    peer.tell(call.message())
    try:
        reply = peer.hear()
    except RpcTimeout:
        # Over UDP the datagram may be lost: `wait` sends it again, and reports a missing reply.
        reply = peer.wait(call).reply
    peer.note(call, reply)
    expect(reply[:4], "the xid of the reply").equals(words(xid))


@proves(ECHOES_XID, killed_by="rpc-ignores-falling-xids")
def test_xids_may_fall(wire: MakeWire) -> None:
    """The server answers calls whose xids decrease."""
    peer = wire()
    answered = [peer.ask(peer.make(xid=xid)).outcome for xid in (3_000_000_000, 2_000_000_000, 5, 4)]
    expect(answered, "the answers to calls whose xids fall").equals([SUCCESS] * 4)


@TRANSPORTS
@pytest.mark.parametrize("version", [0, 1, 3, HIGHEST], ids=short)
@proves(REFUSES_OTHER_RPC_VERSIONS, killed_by="rpc-takes-any-rpc-version")
def test_another_rpc_version_is_not_accepted(wire: MakeWire, proto: Proto, version: int) -> None:
    """The server does not accept a call with an RPC version other than 2."""
    peer = wire(proto)
    said = peer.attempt(peer.make(rpcvers=version).message())
    observe("answer", said.outcome)
    expect(said.outcome, f"the answer to RPC version {version}").one_of(
        RPC_MISMATCH, AUTH_ERROR, SILENCE, CLOSED
    )


@pytest.mark.parametrize("version", [0, 1, 3, HIGHEST], ids=short)
@proves(REPORTS_RPC_MISMATCH, killed_by="rpc-drops-another-rpc-version")
def test_another_rpc_version_is_a_mismatch(wire: MakeWire, version: int) -> None:
    """The server answers a call with another RPC version with RPC_MISMATCH."""
    peer = wire()
    said = peer.attempt(peer.make(rpcvers=version).message())
    expect(said.outcome, f"the answer to RPC version {version}").equals(RPC_MISMATCH)


@pytest.mark.parametrize("version", [0, 3, HIGHEST], ids=short)
@proves(RPC_MISMATCH_HAS_RANGE, killed_by="rpc-names-wrong-rpc-versions")
def test_rpc_mismatch_names_version_2(wire: MakeWire, version: int) -> None:
    """The version range in RPC_MISMATCH includes 2 and excludes the version refused."""
    peer = wire()
    said = peer.attempt(peer.make(rpcvers=version).message())
    if said.low is None or said.high is None or said.outcome != RPC_MISMATCH:
        skip(f"the answer is no RPC_MISMATCH, but {said.outcome}")
    versions = (said.low, said.high)
    observe("versions", versions)
    expect(versions, "the lowest and highest RPC version").satisfies(
        lambda ends: ends[0] <= 2 <= ends[1] and not ends[0] <= version <= ends[1],
        f"a range with 2 in it, and without {version}",
    )


@TRANSPORTS
@pytest.mark.parametrize("program", [0, 0x3FFF_FF42, HIGHEST], ids=["0", "0x3fffff42", "4g-1"])
@proves(RETURNS_PROG_UNAVAIL, killed_by="rpc-takes-unknown-programs-for-nfs")
def test_an_unknown_program_is_unavailable(wire: MakeWire, proto: Proto, program: int) -> None:
    """The server answers a call of an unknown program with PROG_UNAVAIL."""
    peer = wire(proto)
    said = peer.ask(peer.make(prog=program))
    expect(said.outcome, f"the answer to a call of program {program}").one_of(PROG_UNAVAIL, AUTH_ERROR)


@TRANSPORTS
@pytest.mark.parametrize("version", [0, 77, HIGHEST], ids=short)
@proves(RETURNS_PROG_MISMATCH, killed_by="rpc-has-no-program-in-unknown-versions")
def test_an_unknown_version_is_a_mismatch(wire: MakeWire, proto: Proto, version: int) -> None:
    """The server answers a call of an unknown NFS version with PROG_MISMATCH."""
    peer = wire(proto)
    said = peer.ask(peer.make(vers=version))
    expect(said.outcome, f"the answer to a call of version {version}").one_of(PROG_MISMATCH, AUTH_ERROR)


@pytest.mark.parametrize("version", [0, 77, HIGHEST], ids=short)
@proves(RETURNS_PROG_MISMATCH, killed_by="rpc-has-no-program-in-unknown-versions", needs="mount")
def test_an_unknown_version_of_mount_is_a_mismatch(wire: MakeWire, version: int) -> None:
    """The server answers a call of an unknown MOUNT version with PROG_MISMATCH."""
    peer = wire("tcp", "mount")
    said = peer.ask(peer.make(vers=version))
    expect(said.outcome, f"the answer to a call of version {version}").one_of(PROG_MISMATCH, AUTH_ERROR)


@pytest.mark.parametrize("service", ["nfs", "mount"])
@pytest.mark.parametrize("version", [0, 77, HIGHEST], ids=short)
@proves(PROG_MISMATCH_HAS_RANGE, killed_by="rpc-swaps-the-versions-of-a-mismatch")
def test_a_mismatch_names_the_versions(wire: MakeWire, service: str, version: int) -> None:
    """The version range in PROG_MISMATCH includes a version that the server serves."""
    peer = wire("tcp", "mount" if service == "mount" else "nfs")
    said = peer.ask(peer.make(vers=version))
    if said.low is None or said.high is None or said.outcome != PROG_MISMATCH:
        skip(f"the answer is no PROG_MISMATCH, but {said.outcome}")
    versions = (said.low, said.high)
    observe("versions", versions)
    # The range may include versions that are refused here: a server may serve them over another transport only.
    expect(versions, "the lowest and highest version of the program").satisfies(
        lambda ends: ends[0] <= peer.version <= ends[1], f"a range with {peer.version} in it"
    )


PAST_THE_LAST = {2: 18, 3: 22}
"""Version of NFS -> the first procedure number that is not defined."""


@TRANSPORTS
@pytest.mark.parametrize(
    "beyond", [0, 1, 1000, 2**31, HIGHEST], ids=["last+1", "last+2", "last+1001", "last+2g", "4g-1"]
)
@proves(RETURNS_PROC_UNAVAIL, killed_by="rpc-takes-unknown-procedures-for-null")
def test_an_unknown_procedure_is_unavailable(wire: MakeWire, proto: Proto, beyond: int) -> None:
    """The server answers a call of an unknown NFS procedure with PROC_UNAVAIL."""
    peer = wire(proto)
    number = min(PAST_THE_LAST[peer.version] + beyond, HIGHEST)
    said = peer.ask(peer.make(number))
    expect(said.outcome, f"the answer to a call of procedure {number}").one_of(PROC_UNAVAIL, AUTH_ERROR)


@pytest.mark.parametrize("number", [18, 22, HIGHEST], ids=short)
@proves(RETURNS_PROC_UNAVAIL, killed_by="rpc-takes-unknown-procedures-for-null", needs="nfs2")
def test_an_unknown_procedure_of_version_2_is_unavailable(wire: MakeWire, number: int) -> None:
    """The server answers a call of an unknown NFSv2 procedure with PROC_UNAVAIL."""
    peer = wire()
    said = peer.ask(peer.make(number, vers=2))
    expect(said.outcome, f"the answer to a call of procedure {number}").one_of(PROC_UNAVAIL, AUTH_ERROR)


# Not 6 and 7: XNFS defines them for versions 1 and 2, and some servers ignore the version when they dispatch.
@pytest.mark.parametrize("number", [8, 100, HIGHEST], ids=short)
@proves(RETURNS_PROC_UNAVAIL, killed_by="mount3-takes-unknown-procedures-for-null", needs="mount")
def test_an_unknown_procedure_of_mount_is_unavailable(wire: MakeWire, number: int) -> None:
    """The server answers a call of an unknown MOUNT procedure with PROC_UNAVAIL."""
    peer = wire("tcp", "mount")
    said = peer.ask(peer.make(number))
    expect(said.outcome, f"the answer to a call of procedure {number}").one_of(PROC_UNAVAIL, AUTH_ERROR)


@TRANSPORTS
@proves(SYS_REPLY_VERIFIER, killed_by="rpc-verifies-with-auth-sys")
def test_the_verifier_of_a_reply_is_none_or_short(wire: MakeWire, proto: Proto) -> None:
    """A reply to AUTH_SYS has a verifier of flavor AUTH_NONE or AUTH_SHORT."""
    peer = wire(proto)
    verf = peer.ask(peer.make()).verf
    flavor = None if verf is None else verf.flavor
    expect(flavor, "the flavour of the verifier in the reply").one_of(
        AuthFlavor.AUTH_NONE, AuthFlavor.AUTH_SHORT
    )


@TRANSPORTS
@proves(NONE_REPLY_VERIFIER, killed_by="rpc-gives-a-shorthand-to-nobody")
def test_the_verifier_of_a_reply_to_none_is_none(wire: MakeWire, proto: Proto) -> None:
    """A reply to AUTH_NONE has a verifier of flavor AUTH_NONE."""
    peer = wire(proto)
    said = peer.ask(peer.make(cred=words(0, 0)))
    if said.verf is None:
        skip(f"NULL with AUTH_NONE is refused: {said.outcome}")
    expect(said.verf.flavor, "the flavour of the verifier in the reply").equals(AuthFlavor.AUTH_NONE)


@TRANSPORTS
@proves(REPLIES_TO_CALLS_ONLY, killed_by="rpc-answers-replies")
def test_a_reply_is_not_answered(wire: MakeWire, proto: Proto) -> None:
    """The server does not answer a reply message."""
    peer = wire(proto)
    said = peer.attempt(words(0x0BAD_CA11, 1, 0, 0, 0, 0))
    observe("answer", said.outcome)
    expect(said.outcome, "the answer to a reply").one_of(SILENCE, CLOSED)


@pytest.mark.parametrize("size", [8, 12, 16, 20, 24, 28, 32, 36, 38])
@proves(REFUSES_TRUNCATED_HEADER, killed_by="rpc-fills-up-short-headers")
def test_a_call_without_its_whole_header_is_not_executed(wire: MakeWire, size: int) -> None:
    """The server does not execute a call with a truncated header."""
    peer = wire()
    said = peer.attempt(peer.make(cred=words(0, 0)).message()[:size])
    observe("answer", said.outcome)
    expect(said.outcome, f"the answer to the first {size} of 40 bytes").satisfies(
        lambda outcome: outcome != SUCCESS, "any refusal, silence, or the end of the connection"
    )
