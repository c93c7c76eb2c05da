# SPDX-License-Identifier: MIT
"""CALLIT and INDIRECT, SET and UNSET from another machine, and unknown calls (RFC 1833 sections 2.2 and 3.2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.binding import INDIRECT, NOBODYS_PROGRAM, MakeBinder, MakeRelay, Relay, Stranger
from fixtures.raw import (
    AUTH_ERROR,
    PROC_UNAVAIL,
    PROG_MISMATCH,
    SILENCE,
    SUCCESS,
    Proto,
    Said,
    Wire,
)
from nfsclient.clients import Mount
from nfsclient.errors import RpcError
from nfsclient.protocol.mount import Exports
from nfsclient.protocol.portmap import CallResult
from nfsclient.protocol.rpcbind import RpcbRmtcallres, from_universal
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.portmap.clauses import EVERY_VERSION, TRANSPORTS, both, clause

CALLIT_IS_SILENT_ON_ERROR = clause("CALLIT sends a reply only if the procedure was executed")
CALLIT_RETURNS_PORT = clause("CALLIT returns the port or address of the program that it called")
CALLIT_RETURNS_RESULTS = clause("CALLIT returns the results of the procedure that it called")
CALLIT_EQUALS_DIRECT_CALL = clause(
    "CALLIT returns the same results as a direct call of the procedure",
    Level.SHOULD,  # the port mapper makes the call, and a list may depend on the caller
)
INDIRECT_REPORTS_ERRORS = Requirement(
    rfc="RFC 1833",
    section="2.2.2",
    gist="INDIRECT returns an error indication, for example if the program is not registered",
)
SET_IS_LOCAL = Requirement(
    rfc="RFC 1833",
    section="2.2.2",
    gist="a server accepts SET and UNSET only from clients on the same machine",
)
PORTMAP_SET_IS_LOCAL = Requirement(
    rfc="RFC 1833",
    section="3.2",
    level=Level.SHOULD,
    gist="a program should register only with the port mapper on its own machine",
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
UNKNOWN_CALLS = {"program": (NOBODYS_PROGRAM, 1, 0), "version": (0, 99, 0), "procedure": (0, 0, 99)}
"""Unknown part -> program, version and procedure to call.

0 stands for MOUNT's value: for security, few port mappers pass on calls of NFS.
"""


def _unknown_call(what: str, mount_program: tuple[int, int]) -> tuple[int, int, int]:
    prog, vers, proc = UNKNOWN_CALLS[what]
    return prog or mount_program[0], vers or mount_program[1], proc


# ---------------------------------------------------------------- CALLIT


def _result(said: Said, version: int) -> tuple[int, bytes]:
    """The port and the results in a reply of CALLIT."""
    if version == 2:
        old = said.decode(CallResult)
        return old.port, bytes(old.res)
    new = said.decode(RpcbRmtcallres)
    return from_universal(new.addr.decode(errors="replace"))[1], bytes(new.results)


@EVERY_VERSION
@proves(*both(CALLIT_RETURNS_RESULTS), killed_by="callit-adds-to-the-results", needs="callit")
def test_null_is_passed_on_without_results(
    relay: MakeRelay, version: int, nfs_program: tuple[int, int]
) -> None:
    """CALLIT of NULL returns empty results."""
    said = relay(version).null()
    expect(said.outcome, "the answer to CALLIT of NULL", because=CALLIT_RETURNS_RESULTS[version]).equals(
        SUCCESS
    )
    _, results = _result(said, version)
    expect(results, "the results of NULL", because=CALLIT_RETURNS_RESULTS[version]).equals(b"")


@EVERY_VERSION
@proves(*both(CALLIT_RETURNS_PORT), killed_by="callit-says-another-port", needs="callit")
def test_callit_says_where_the_program_is(
    relay: MakeRelay, binder: MakeBinder, version: int, nfs_program: tuple[int, int]
) -> None:
    """CALLIT returns the port of the program that it called."""
    said = relay(version).null()
    expect(said.outcome, "the answer to CALLIT of NULL", because=CALLIT_RETURNS_PORT[version]).equals(SUCCESS)
    port, _ = _result(said, version)
    wanted = binder(version, "udp").port(*nfs_program)
    expect(port, "the port of NFS in the answer", because=CALLIT_RETURNS_PORT[version]).equals(wanted)


@EVERY_VERSION
@proves(*both(CALLIT_EQUALS_DIRECT_CALL), killed_by="callit-loses-results", needs="callit")
def test_callit_gives_what_the_program_gives(
    relay: MakeRelay,
    mount_client: Mount,
    version: int,
    mount_program: tuple[int, int],
) -> None:
    """CALLIT returns the same results as a direct call."""
    said = relay(version).attempt(*mount_program, 5)
    if said.outcome != SUCCESS:
        skip(f"EXPORT of MOUNT is not passed on: {said.outcome}")
    _, results = _result(said, version)
    observe("bytes of the answer", len(said.reply))
    wanted = Exports(mount_client.export()).to_xdr()
    expect(results, "the results of EXPORT", because=CALLIT_EQUALS_DIRECT_CALL[version]).equals(wanted)


def _expect_silence(relay: Relay, version: int, what: str, mount_program: tuple[int, int]) -> None:
    said = relay.attempt(*_unknown_call(what, mount_program))
    rule = CALLIT_IS_SILENT_ON_ERROR[version]
    observe("answer", said.outcome)
    # AUTH_ERROR comes from the port mapper itself: it refuses to pass calls on for this client.
    expect(said.outcome, f"what CALLIT of an unknown {what} brings", because=rule).one_of(SILENCE, AUTH_ERROR)


@EVERY_VERSION
@proves(*both(CALLIT_IS_SILENT_ON_ERROR), killed_by="callit-tells-of-unknown-programs", needs="callit")
def test_callit_of_an_unknown_program_is_silent(
    relay: MakeRelay, version: int, mount_program: tuple[int, int]
) -> None:
    """CALLIT sends no reply when the program is unknown."""
    _expect_silence(relay(version), version, "program", mount_program)


@EVERY_VERSION
@proves(*both(CALLIT_IS_SILENT_ON_ERROR), killed_by="callit-tells-of-unknown-versions", needs="callit")
def test_callit_of_an_unknown_version_is_silent(
    relay: MakeRelay, version: int, mount_program: tuple[int, int]
) -> None:
    """CALLIT sends no reply when the version is unknown."""
    _expect_silence(relay(version), version, "version", mount_program)


@EVERY_VERSION
@proves(*both(CALLIT_IS_SILENT_ON_ERROR), killed_by="callit-tells-of-unknown-procedures", needs="callit")
def test_callit_of_an_unknown_procedure_is_silent(
    relay: MakeRelay, version: int, mount_program: tuple[int, int]
) -> None:
    """CALLIT sends no reply when the procedure is unknown."""
    _expect_silence(relay(version), version, "procedure", mount_program)


# ---------------------------------------------------------------- INDIRECT


@TRANSPORTS
@pytest.mark.parametrize("what", list(UNKNOWN_CALLS))
@proves(INDIRECT_REPORTS_ERRORS, killed_by="indirect4-is-silent", needs="rpcbind4")
def test_indirect_tells_what_is_not_there(
    relay: MakeRelay, proto: Proto, what: str, mount_program: tuple[int, int]
) -> None:
    """INDIRECT returns an error when program, version or procedure is unknown."""
    said = relay(4, INDIRECT, proto).attempt(*_unknown_call(what, mount_program))
    observe("answer", said.outcome)
    tells = said.outcome not in {SUCCESS, SILENCE}
    expect(tells, f"that INDIRECT of an unknown {what} brings an error, not {said.outcome}").is_true()


# ---------------------------------------------------------------- SET and UNSET


@pytest.mark.exclusive
@EVERY_VERSION
@proves(SET_IS_LOCAL, PORTMAP_SET_IS_LOCAL, killed_by="portmap-set-serves-everybody")
def test_nobody_registers_from_another_machine(stranger: Stranger, version: int) -> None:
    """SET from another machine registers nothing."""
    client = stranger.binder(version)
    try:
        said = client.set(NOBODYS_PROGRAM, 1, 1)
    except RpcError as error:
        observe("answer", error)
        said = False
    # On a new connection, because the server may have closed the first one.
    registered = stranger.binder(version).port(NOBODYS_PROGRAM, 1)
    if said or registered:
        stranger.binder(version).unset(NOBODYS_PROGRAM, 1)
    rule = PORTMAP_SET_IS_LOCAL if version == 2 else SET_IS_LOCAL
    expect((said, registered), "the answer to SET, and the port that is registered", because=rule).equals(
        (False, 0)
    )


@pytest.mark.exclusive
@EVERY_VERSION
@proves(SET_IS_LOCAL, PORTMAP_SET_IS_LOCAL, killed_by="portmap-unset-serves-everybody")
def test_nobody_unregisters_from_another_machine(stranger: Stranger, version: int) -> None:
    """UNSET from another machine removes nothing."""
    registered = stranger.registered()
    client = stranger.binder(version)
    try:
        client.unset(NOBODYS_PROGRAM, registered)
    except RpcError as error:
        observe("answer", error)
    rule = PORTMAP_SET_IS_LOCAL if version == 2 else SET_IS_LOCAL
    port = stranger.binder(version).port(NOBODYS_PROGRAM, registered)
    expect(port, "the port that was registered", because=rule).differs_from(0)


# ---------------------------------------------------------------- unknown versions and procedures


@TRANSPORTS
@pytest.mark.parametrize("version", [0, 5, 77])
@proves(RETURNS_PROG_MISMATCH, killed_by="portmap-has-every-version", needs="portmap")
def test_an_unknown_version_is_a_mismatch(
    binder_wire: Callable[[int, Proto], Wire], proto: Proto, version: int
) -> None:
    """The port mapper answers a call of an unknown version with PROG_MISMATCH."""
    wire = binder_wire(2, proto)
    said = wire.ask(wire.make(vers=version))
    expect(said.outcome, f"the answer to a call of version {version}").one_of(PROG_MISMATCH, AUTH_ERROR)


@pytest.mark.parametrize("version", [0, 5, 77])
@proves(PROG_MISMATCH_HAS_RANGE, killed_by="portmap-swaps-versions", needs="portmap")
def test_a_mismatch_names_the_versions(binder_wire: Callable[[int, Proto], Wire], version: int) -> None:
    """The version range in the port mapper's PROG_MISMATCH includes 2."""
    wire = binder_wire(2, "tcp")
    said = wire.ask(wire.make(vers=version))
    if said.low is None or said.high is None or said.outcome != PROG_MISMATCH:
        skip(f"the answer is no PROG_MISMATCH, but {said.outcome}")
    observe("versions", (said.low, said.high))
    expect((said.low, said.high), "the lowest and highest version").satisfies(
        lambda ends: ends[0] <= 2 <= ends[1], "a range with 2 in it"
    )


@pytest.mark.parametrize(
    ("version", "number"),
    [(2, 6), (3, 9), (4, 13), (2, 99), (3, 99), (4, 99)],
    ids=["v2-6", "v3-9", "v4-13", "v2-99", "v3-99", "v4-99"],
)
@proves(RETURNS_PROC_UNAVAIL, killed_by="portmap-takes-unknown-procedures-for-null", needs="portmap")
def test_an_unknown_procedure_is_unavailable(
    binder_wire: Callable[[int, Proto], Wire], version: int, number: int
) -> None:
    """The port mapper answers a call of an unknown procedure with PROC_UNAVAIL."""
    wire = binder_wire(version, "tcp")
    said = wire.ask(wire.make(number))
    expect(said.outcome, f"the answer to a call of procedure {number}").one_of(PROC_UNAVAIL, AUTH_ERROR)
