# SPDX-License-Identifier: MIT
"""Messages of RPC (RFC 1831 sections 7.1 and 8): what answers a call, and says what was wrong with it.

Which of several refusals comes first is open. So each call here has one thing wrong with it; and where a server may
ask who calls before it looks further, AUTH_ERROR is taken too.
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

XID_IS_ECHOED = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="the xid of a reply always matches that of its call, and is no sequence number",
)
VERSION_2 = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="rpcvers must be 2: a call of another version is rejected, not accepted",
)
VERSION_IS_TOLD = Requirement(
    rfc="RFC 1831",
    section="7",
    gist="a mismatch of the RPC version is worth detecting: the reply should be RPC_MISMATCH",
    level=Level.SHOULD,
)
VERSIONS_OF_RPC = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="RPC_MISMATCH returns the lowest and highest RPC version that is supported: 2 is, what was refused is not",
)
UNKNOWN_PROGRAM = Requirement(
    rfc="RFC 1831", section="7.1", gist="a call of a program that is not served is answered PROG_UNAVAIL"
)
UNKNOWN_VERSION = Requirement(
    rfc="RFC 1831",
    section="7.1",
    gist="a call of a version that the program is not served in is answered PROG_MISMATCH",
)
VERSIONS_OF_PROGRAM = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="PROG_MISMATCH returns the lowest and highest version of the program: the one that is served lies between",
)
UNKNOWN_PROCEDURE = Requirement(
    rfc="RFC 1831", section="7.1", gist="a call of a procedure that does not exist is answered PROC_UNAVAIL"
)
REPLY_VERIFIER = Requirement(
    rfc="RFC 1831",
    section="A",
    gist="the verifier of a reply to AUTH_SYS is AUTH_NONE or AUTH_SHORT",
)
NONE_VERIFIER = Requirement(
    rfc="RFC 1831", section="9.1", gist="credential, verifier and reply verifier are AUTH_NONE together"
)
REPLIES_ANSWER_CALLS = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="a reply answers a call: what is no call should not be answered with one",
    level=Level.SHOULD,
)
WHOLE_HEADER = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="a call has the fields of call_body, credential and verifier included: without them nothing is called",
)

TRANSPORTS = pytest.mark.parametrize("proto", ["tcp", "udp"])
HIGHEST = 2**32 - 1


@TRANSPORTS
@pytest.mark.parametrize("xid", [0, 2**31 - 1, 2**31, HIGHEST])
@proves(XID_IS_ECHOED, killed_by="rpc-bends-xids-at-the-ends")
def test_any_xid_is_echoed(wire: MakeWire, proto: Proto, xid: int) -> None:
    peer = wire(proto)
    call = peer.make(xid=xid)
    peer.tell(call.message())
    try:
        reply = peer.hear()
    except RpcTimeout:
        # Over UDP the datagram may be lost: `wait` sends it again, and says what is owed.
        reply = peer.wait(call).reply
    peer.note(call, reply)
    expect(reply[:4], "the xid of the reply").equals(words(xid))


@proves(XID_IS_ECHOED, killed_by="rpc-ignores-falling-xids")
def test_xids_may_fall(wire: MakeWire) -> None:
    peer = wire()
    answered = [peer.ask(peer.make(xid=xid)).outcome for xid in (3_000_000_000, 2_000_000_000, 5, 4)]
    expect(answered, "the answers to calls whose xids fall").equals([SUCCESS] * 4)


@TRANSPORTS
@pytest.mark.parametrize("version", [0, 1, 3, HIGHEST])
@proves(VERSION_2, killed_by="rpc-takes-any-rpc-version")
def test_another_rpc_version_is_not_accepted(wire: MakeWire, proto: Proto, version: int) -> None:
    peer = wire(proto)
    said = peer.attempt(peer.make(rpcvers=version).message())
    observe("answer", said.outcome)
    expect(said.outcome, f"the answer to RPC version {version}").one_of(
        RPC_MISMATCH, AUTH_ERROR, SILENCE, CLOSED
    )


@pytest.mark.parametrize("version", [0, 1, 3, HIGHEST])
@proves(VERSION_IS_TOLD, killed_by="rpc-drops-another-rpc-version")
def test_another_rpc_version_is_a_mismatch(wire: MakeWire, version: int) -> None:
    peer = wire()
    said = peer.attempt(peer.make(rpcvers=version).message())
    expect(said.outcome, f"the answer to RPC version {version}").equals(RPC_MISMATCH)


@pytest.mark.parametrize("version", [0, 3, HIGHEST])
@proves(VERSIONS_OF_RPC, killed_by="rpc-names-wrong-rpc-versions")
def test_rpc_mismatch_names_version_2(wire: MakeWire, version: int) -> None:
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
@pytest.mark.parametrize("program", [0, 0x3FFF_FF42, HIGHEST])
@proves(UNKNOWN_PROGRAM, killed_by="rpc-takes-unknown-programs-for-nfs")
def test_an_unknown_program_is_unavailable(wire: MakeWire, proto: Proto, program: int) -> None:
    peer = wire(proto)
    said = peer.ask(peer.make(prog=program))
    expect(said.outcome, f"the answer to a call of program {program}").one_of(PROG_UNAVAIL, AUTH_ERROR)


@TRANSPORTS
@pytest.mark.parametrize("version", [0, 77, HIGHEST])
@proves(UNKNOWN_VERSION, killed_by="rpc-has-no-program-in-unknown-versions")
def test_an_unknown_version_is_a_mismatch(wire: MakeWire, proto: Proto, version: int) -> None:
    peer = wire(proto)
    said = peer.ask(peer.make(vers=version))
    expect(said.outcome, f"the answer to a call of version {version}").one_of(PROG_MISMATCH, AUTH_ERROR)


@pytest.mark.parametrize("version", [0, 77, HIGHEST])
@proves(UNKNOWN_VERSION, killed_by="rpc-has-no-program-in-unknown-versions", needs="mount")
def test_an_unknown_version_of_mount_is_a_mismatch(wire: MakeWire, version: int) -> None:
    peer = wire("tcp", "mount")
    said = peer.ask(peer.make(vers=version))
    expect(said.outcome, f"the answer to a call of version {version}").one_of(PROG_MISMATCH, AUTH_ERROR)


@pytest.mark.parametrize("service", ["nfs", "mount"])
@pytest.mark.parametrize("version", [0, 77, HIGHEST])
@proves(VERSIONS_OF_PROGRAM, killed_by="rpc-swaps-the-versions-of-a-mismatch")
def test_a_mismatch_names_the_versions(wire: MakeWire, service: str, version: int) -> None:
    peer = wire("tcp", "mount" if service == "mount" else "nfs")
    said = peer.ask(peer.make(vers=version))
    if said.low is None or said.high is None or said.outcome != PROG_MISMATCH:
        skip(f"the answer is no PROG_MISMATCH, but {said.outcome}")
    versions = (said.low, said.high)
    observe("versions", versions)
    # The range may have versions in it that are refused here: a version may be served over another transport only.
    expect(versions, "the lowest and highest version of the program").satisfies(
        lambda ends: ends[0] <= peer.version <= ends[1], f"a range with {peer.version} in it"
    )


PAST_THE_LAST = {2: 18, 3: 22}
"""Version of NFS -> the first number that is no procedure."""


@TRANSPORTS
@pytest.mark.parametrize("beyond", [0, 1, 1000, 2**31, HIGHEST])
@proves(UNKNOWN_PROCEDURE, killed_by="rpc-takes-unknown-procedures-for-null")
def test_an_unknown_procedure_is_unavailable(wire: MakeWire, proto: Proto, beyond: int) -> None:
    peer = wire(proto)
    number = min(PAST_THE_LAST[peer.version] + beyond, HIGHEST)
    said = peer.ask(peer.make(number))
    expect(said.outcome, f"the answer to a call of procedure {number}").one_of(PROC_UNAVAIL, AUTH_ERROR)


@pytest.mark.parametrize("number", [18, 22, HIGHEST])
@proves(UNKNOWN_PROCEDURE, killed_by="rpc-takes-unknown-procedures-for-null", needs="nfs2")
def test_an_unknown_procedure_of_version_2_is_unavailable(wire: MakeWire, number: int) -> None:
    peer = wire()
    said = peer.ask(peer.make(number, vers=2))
    expect(said.outcome, f"the answer to a call of procedure {number}").one_of(PROC_UNAVAIL, AUTH_ERROR)


# Not 6 and 7: XNFS has them in the versions before 3, and servers that go by the number alone in every one.
@pytest.mark.parametrize("number", [8, 100, HIGHEST])
@proves(UNKNOWN_PROCEDURE, killed_by="mount3-takes-unknown-procedures-for-null", needs="mount")
def test_an_unknown_procedure_of_mount_is_unavailable(wire: MakeWire, number: int) -> None:
    peer = wire("tcp", "mount")
    said = peer.ask(peer.make(number))
    expect(said.outcome, f"the answer to a call of procedure {number}").one_of(PROC_UNAVAIL, AUTH_ERROR)


@TRANSPORTS
@proves(REPLY_VERIFIER, killed_by="rpc-verifies-with-auth-sys")
def test_the_verifier_of_a_reply_is_none_or_short(wire: MakeWire, proto: Proto) -> None:
    peer = wire(proto)
    verf = peer.ask(peer.make()).verf
    flavor = None if verf is None else verf.flavor
    expect(flavor, "the flavour of the verifier in the reply").one_of(
        AuthFlavor.AUTH_NONE, AuthFlavor.AUTH_SHORT
    )


@TRANSPORTS
@proves(NONE_VERIFIER, killed_by="rpc-gives-a-shorthand-to-nobody")
def test_the_verifier_of_a_reply_to_none_is_none(wire: MakeWire, proto: Proto) -> None:
    peer = wire(proto)
    said = peer.ask(peer.make(cred=words(0, 0)))
    if said.verf is None:
        skip(f"NULL with AUTH_NONE is refused: {said.outcome}")
    expect(said.verf.flavor, "the flavour of the verifier in the reply").equals(AuthFlavor.AUTH_NONE)


@TRANSPORTS
@proves(REPLIES_ANSWER_CALLS, killed_by="rpc-answers-replies")
def test_a_reply_is_not_answered(wire: MakeWire, proto: Proto) -> None:
    peer = wire(proto)
    said = peer.attempt(words(0x0BAD_CA11, 1, 0, 0, 0, 0))
    observe("answer", said.outcome)
    expect(said.outcome, "the answer to a reply").one_of(SILENCE, CLOSED)


@pytest.mark.parametrize("size", [8, 12, 16, 20, 24, 28, 32, 36, 38])
@proves(WHOLE_HEADER, killed_by="rpc-fills-up-short-headers")
def test_a_call_without_its_whole_header_is_not_executed(wire: MakeWire, size: int) -> None:
    peer = wire()
    said = peer.attempt(peer.make(cred=words(0, 0)).message()[:size])
    observe("answer", said.outcome)
    expect(said.outcome, f"the answer to the first {size} of 40 bytes").satisfies(
        lambda outcome: outcome != SUCCESS, "any refusal, silence, or the end of the connection"
    )
