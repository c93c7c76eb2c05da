# SPDX-License-Identifier: MIT
"""Calls that are passed on, registrations from afar, and what there is not (RFC 1833 sections 2.2 and 3.2)."""

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

SILENT_ON_ERROR = clause("CALLIT sends a reply only if the call was executed, and none otherwise")
SAYS_WHERE = clause("CALLIT returns the port or address of the program that it called")
GIVES_RESULTS = clause("CALLIT returns the results of the procedure that it called")
SAME_RESULTS = clause(
    "CALLIT returns what the procedure returns to whoever calls it",
    Level.SHOULD,  # it is the port mapper that calls: a list may depend on that
)
INDIRECT_TELLS = Requirement(
    rfc="RFC 1833",
    section="2.2.2",
    gist="INDIRECT is not silent about errors, such as a program that is not registered: it returns an indication",
)
SAME_MACHINE = Requirement(
    rfc="RFC 1833",
    section="2.2.2",
    gist="SET and UNSET are accepted from callers on the same machine only",
)
SAME_MACHINE_2 = Requirement(
    rfc="RFC 1833",
    section="3.2",
    level=Level.SHOULD,
    gist="a program registers with the port mapper on the same machine",
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
WRONG = {"program": (NOBODYS_PROGRAM, 1, 0), "version": (0, 99, 0), "procedure": (0, 0, 99)}
"""What is called that is not there; 0 stands for that of MOUNT: calls of NFS are passed on by few, for safety."""


def _wrong(what: str, mount_program: tuple[int, int]) -> tuple[int, int, int]:
    prog, vers, proc = WRONG[what]
    return prog or mount_program[0], vers or mount_program[1], proc


# ---------------------------------------------------------------- CALLIT


def _result(said: Said, version: int) -> tuple[int, bytes]:
    """Port and results in the answer to CALLIT."""
    if version == 2:
        old = said.decode(CallResult)
        return old.port, bytes(old.res)
    new = said.decode(RpcbRmtcallres)
    return from_universal(new.addr.decode(errors="replace"))[1], bytes(new.results)


@EVERY_VERSION
@proves(*both(GIVES_RESULTS), killed_by="callit-adds-to-the-results", needs="callit")
def test_null_is_passed_on_without_results(
    relay: MakeRelay, version: int, nfs_program: tuple[int, int]
) -> None:
    said = relay(version).null()
    expect(said.outcome, "the answer to CALLIT of NULL", because=GIVES_RESULTS[version]).equals(SUCCESS)
    _, results = _result(said, version)
    expect(results, "the results of NULL", because=GIVES_RESULTS[version]).equals(b"")


@EVERY_VERSION
@proves(*both(SAYS_WHERE), killed_by="callit-says-another-port", needs="callit")
def test_callit_says_where_the_program_is(
    relay: MakeRelay, binder: MakeBinder, version: int, nfs_program: tuple[int, int]
) -> None:
    said = relay(version).null()
    expect(said.outcome, "the answer to CALLIT of NULL", because=SAYS_WHERE[version]).equals(SUCCESS)
    port, _ = _result(said, version)
    wanted = binder(version, "udp").port(*nfs_program)
    expect(port, "the port of NFS in the answer", because=SAYS_WHERE[version]).equals(wanted)


@EVERY_VERSION
@proves(*both(SAME_RESULTS), killed_by="callit-loses-results", needs="callit")
def test_callit_gives_what_the_program_gives(
    relay: MakeRelay,
    mount_client: Mount,
    version: int,
    mount_program: tuple[int, int],
) -> None:
    said = relay(version).attempt(*mount_program, 5)
    if said.outcome != SUCCESS:
        skip(f"EXPORT of MOUNT is not passed on: {said.outcome}")
    _, results = _result(said, version)
    observe("bytes of the answer", len(said.reply))
    wanted = Exports(mount_client.export()).to_xdr()
    expect(results, "the results of EXPORT", because=SAME_RESULTS[version]).equals(wanted)


def _is_silent(relay: Relay, version: int, what: str, mount_program: tuple[int, int]) -> None:
    said = relay.attempt(*_wrong(what, mount_program))
    rule = SILENT_ON_ERROR[version]
    observe("answer", said.outcome)
    # AUTH_ERROR does not come of the call that was to be passed on: who asks may not have it passed on.
    expect(said.outcome, f"what CALLIT of an unknown {what} brings", because=rule).one_of(SILENCE, AUTH_ERROR)


@EVERY_VERSION
@proves(*both(SILENT_ON_ERROR), killed_by="callit-tells-of-unknown-programs", needs="callit")
def test_callit_of_an_unknown_program_is_silent(
    relay: MakeRelay, version: int, mount_program: tuple[int, int]
) -> None:
    _is_silent(relay(version), version, "program", mount_program)


@EVERY_VERSION
@proves(*both(SILENT_ON_ERROR), killed_by="callit-tells-of-unknown-versions", needs="callit")
def test_callit_of_an_unknown_version_is_silent(
    relay: MakeRelay, version: int, mount_program: tuple[int, int]
) -> None:
    _is_silent(relay(version), version, "version", mount_program)


@EVERY_VERSION
@proves(*both(SILENT_ON_ERROR), killed_by="callit-tells-of-unknown-procedures", needs="callit")
def test_callit_of_an_unknown_procedure_is_silent(
    relay: MakeRelay, version: int, mount_program: tuple[int, int]
) -> None:
    _is_silent(relay(version), version, "procedure", mount_program)


# ---------------------------------------------------------------- INDIRECT


@TRANSPORTS
@pytest.mark.parametrize("what", list(WRONG))
@proves(INDIRECT_TELLS, killed_by="indirect4-is-silent", needs="rpcbind4")
def test_indirect_tells_what_is_not_there(
    relay: MakeRelay, proto: Proto, what: str, mount_program: tuple[int, int]
) -> None:
    said = relay(4, INDIRECT, proto).attempt(*_wrong(what, mount_program))
    observe("answer", said.outcome)
    tells = said.outcome not in {SUCCESS, SILENCE}
    expect(tells, f"that INDIRECT of an unknown {what} brings an error, not {said.outcome}").is_true()


# ---------------------------------------------------------------- registrations


@pytest.mark.exclusive
@EVERY_VERSION
@proves(SAME_MACHINE, SAME_MACHINE_2, killed_by="portmap-set-serves-everybody")
def test_nobody_registers_from_another_machine(stranger: Stranger, version: int) -> None:
    client = stranger.binder(version)
    try:
        said = client.set(NOBODYS_PROGRAM, 1, 1)
    except RpcError as error:
        observe("answer", error)
        said = False
    # On another connection, as the server may have had enough of that one.
    registered = stranger.binder(version).port(NOBODYS_PROGRAM, 1)
    if said or registered:
        stranger.binder(version).unset(NOBODYS_PROGRAM, 1)
    rule = SAME_MACHINE_2 if version == 2 else SAME_MACHINE
    expect((said, registered), "the answer to SET, and the port that is registered", because=rule).equals(
        (False, 0)
    )


@pytest.mark.exclusive
@EVERY_VERSION
@proves(SAME_MACHINE, SAME_MACHINE_2, killed_by="portmap-unset-serves-everybody")
def test_nobody_unregisters_from_another_machine(stranger: Stranger, version: int) -> None:
    registered = stranger.registered()
    client = stranger.binder(version)
    try:
        client.unset(NOBODYS_PROGRAM, registered)
    except RpcError as error:
        observe("answer", error)
    rule = SAME_MACHINE_2 if version == 2 else SAME_MACHINE
    port = stranger.binder(version).port(NOBODYS_PROGRAM, registered)
    expect(port, "the port that was registered", because=rule).differs_from(0)


# ---------------------------------------------------------------- what there is not


@TRANSPORTS
@pytest.mark.parametrize("version", [0, 5, 77])
@proves(UNKNOWN_VERSION, killed_by="portmap-has-every-version", needs="portmap")
def test_an_unknown_version_is_a_mismatch(
    binder_wire: Callable[[int, Proto], Wire], proto: Proto, version: int
) -> None:
    wire = binder_wire(2, proto)
    said = wire.ask(wire.make(vers=version))
    expect(said.outcome, f"the answer to a call of version {version}").one_of(PROG_MISMATCH, AUTH_ERROR)


@pytest.mark.parametrize("version", [0, 5, 77])
@proves(VERSIONS_OF_PROGRAM, killed_by="portmap-swaps-versions", needs="portmap")
def test_a_mismatch_names_the_versions(binder_wire: Callable[[int, Proto], Wire], version: int) -> None:
    wire = binder_wire(2, "tcp")
    said = wire.ask(wire.make(vers=version))
    if said.low is None or said.high is None or said.outcome != PROG_MISMATCH:
        skip(f"the answer is no PROG_MISMATCH, but {said.outcome}")
    observe("versions", (said.low, said.high))
    expect((said.low, said.high), "the lowest and highest version").satisfies(
        lambda ends: ends[0] <= 2 <= ends[1], "a range with 2 in it"
    )


@pytest.mark.parametrize(("version", "number"), [(2, 6), (3, 9), (4, 13), (2, 99), (3, 99), (4, 99)])
@proves(UNKNOWN_PROCEDURE, killed_by="portmap-takes-unknown-procedures-for-null", needs="portmap")
def test_an_unknown_procedure_is_unavailable(
    binder_wire: Callable[[int, Proto], Wire], version: int, number: int
) -> None:
    wire = binder_wire(version, "tcp")
    said = wire.ask(wire.make(number))
    expect(said.outcome, f"the answer to a call of procedure {number}").one_of(PROC_UNAVAIL, AUTH_ERROR)
