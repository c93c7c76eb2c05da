# SPDX-License-Identifier: MIT
"""CALLIT of portmap 2, BCAST of rpcbind 3 and 4 (RFC 1833 sections 2.2.1 and 3.2): calls that are passed on."""

from __future__ import annotations

from fixtures.checks.rpcbind import MakePortMapper, MakeRelay, Relay
from fixtures.checks.wire import AUTH_ERROR, SILENCE, SUCCESS, Answer
from nfsclient.clients import Mount
from nfsclient.protocol.mount import Exports
from nfsclient.protocol.portmap import CallResult
from nfsclient.protocol.rpcbind import RpcbRmtcallres, from_universal
from nfsjudge import expect, observe, proves, should, skip, stated
from suites.portmap.calls import unknown_call
from suites.portmap.clauses import EVERY_VERSION, PORTMAP

CALLIT_IS_SILENT_ON_ERROR = stated(
    "RFC 1833", "2.2.1", "CALLIT sends a reply only if the procedure was executed", also=PORTMAP
)
CALLIT_RETURNS_PORT = stated(
    "RFC 1833", "2.2.1", "CALLIT returns the port or address of the program that it called", also=PORTMAP
)
CALLIT_RETURNS_RESULTS = stated(
    "RFC 1833", "2.2.1", "CALLIT returns the results of the procedure that it called", also=PORTMAP
)
CALLIT_EQUALS_DIRECT_CALL = should(  # the port mapper makes the call, and a list may depend on the caller
    "RFC 1833", "2.2.1", "CALLIT returns the same results as a direct call of the procedure", also=PORTMAP
)


def _result(answer: Answer, version: int) -> tuple[int, bytes]:
    """The port and the results in a reply of CALLIT."""
    if version == 2:
        old = answer.decode(CallResult)
        return old.port, bytes(old.res)
    new = answer.decode(RpcbRmtcallres)
    return from_universal(new.addr.decode(errors="replace"))[1], bytes(new.results)


@EVERY_VERSION
@proves(CALLIT_RETURNS_RESULTS, killed_by="callit-adds-to-the-results", needs="callit")
def test_null(relay: MakeRelay, version: int, nfs_program: tuple[int, int]) -> None:
    """CALLIT of NULL returns empty results."""
    answer = relay(version).null()
    expect(answer.outcome, "answer to CALLIT of NULL", of=answer).equals(SUCCESS)
    _, results = _result(answer, version)
    expect(results, "results of NULL").equals(b"")


@EVERY_VERSION
@proves(CALLIT_RETURNS_PORT, killed_by="callit-returns-another-port", needs="callit")
def test_port(
    relay: MakeRelay, port_mapper: MakePortMapper, version: int, nfs_program: tuple[int, int]
) -> None:
    """CALLIT returns the port of the program that it called."""
    answer = relay(version).null()
    expect(answer.outcome, "answer to CALLIT of NULL", of=answer).equals(SUCCESS)
    port, _ = _result(answer, version)
    wanted = port_mapper(version, "udp").port(*nfs_program)
    expect(port, "port of NFS in the reply", of=answer).equals(wanted)


@EVERY_VERSION
@proves(CALLIT_EQUALS_DIRECT_CALL, killed_by="callit-loses-results", needs="callit")
def test_results(
    relay: MakeRelay,
    mount3: Mount,
    version: int,
    mount_program: tuple[int, int],
) -> None:
    """CALLIT returns the same results as a direct call."""
    answer = relay(version).try_call(*mount_program, 5)
    if answer.outcome != SUCCESS:
        skip(f"the port mapper does not pass on EXPORT of MOUNT: the answer is {answer.outcome}")
    _, results = _result(answer, version)
    observe("size of the reply", f"{len(answer.reply)} bytes")
    wanted = Exports(mount3.export()).to_xdr()
    expect(results, "results of EXPORT").equals(wanted)


def _expect_silence(relay: Relay, version: int, what: str, mount_program: tuple[int, int]) -> None:
    answer = relay.try_call(*unknown_call(what, mount_program))
    observe("answer", answer.outcome)
    # AUTH_ERROR comes from the port mapper itself: it refuses to pass calls on for this client.
    expect(answer.outcome, f"answer to CALLIT of an unknown {what}", of=answer).one_of(SILENCE, AUTH_ERROR)


@EVERY_VERSION
@proves(CALLIT_IS_SILENT_ON_ERROR, killed_by="callit-answers-unknown-programs", needs="callit")
def test_unknown_program(relay: MakeRelay, version: int, mount_program: tuple[int, int]) -> None:
    """CALLIT sends no reply when the program is unknown."""
    _expect_silence(relay(version), version, "program", mount_program)


@EVERY_VERSION
@proves(CALLIT_IS_SILENT_ON_ERROR, killed_by="callit-answers-unknown-versions", needs="callit")
def test_unknown_version(relay: MakeRelay, version: int, mount_program: tuple[int, int]) -> None:
    """CALLIT sends no reply when the version is unknown."""
    _expect_silence(relay(version), version, "version", mount_program)


@EVERY_VERSION
@proves(CALLIT_IS_SILENT_ON_ERROR, killed_by="callit-answers-unknown-procedures", needs="callit")
def test_unknown_procedure(relay: MakeRelay, version: int, mount_program: tuple[int, int]) -> None:
    """CALLIT sends no reply when the procedure is unknown."""
    _expect_silence(relay(version), version, "procedure", mount_program)
