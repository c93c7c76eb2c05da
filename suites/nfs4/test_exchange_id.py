# SPDX-License-Identifier: MIT
"""EXCHANGE_ID (RFC 5661 section 18.35): client ids, by the nine cases of section 18.35.4."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients.nfs4 import Nfs4, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, observe, proves, should, stated
from suites.nfs4.clauses import NOT_ONLY_OP
from suites.nfs4.minors import MINORS
from suites.nfs4.retries import need_answer

CONFIRMED_R = must(
    "RFC 5661",
    "18.35.3",
    "EXCHGID4_FLAG_CONFIRMED_R is set in the result if the client id was confirmed before, and not otherwise",
)
UPDATE_FLAG_IS_NEVER_RETURNED = stated(
    "RFC 5661", "18.35.3", "EXCHGID4_FLAG_UPD_CONFIRMED_REC_A is always off in the result"
)
ROLES_ARE_ACCEPTABLE = must(
    "RFC 5661", "13.1", "the result has one of the five acceptable combinations of pNFS roles"
)
UNDEFINED_FLAGS_ARE_INVALID = must(
    "RFC 5661", "18.35.3", "a bit that is not defined in eia_flags gets NFS4ERR_INVAL"
)
INCARNATIONS_DIFFER = must(
    "RFC 5661", "18.35.3", "two incarnations of a client owner never get the same client id"
)
SAME_CLIENT_SAME_RESULT = stated(
    "RFC 5661",
    "18.35.4",
    "case 2: a confirmed owner and verifier get the result of before, but for so_minor_id",
)
UNCONFIRMED_IS_REPLACED = should(  # how a server knows a retry is its affair
    "RFC 5661", "18.35.4", "case 4: an owner with an unconfirmed record gets a new client id"
)
RESTART_KEEPS_THE_OLD = stated(
    "RFC 5661",
    "18.35.4",
    "case 5: the confirmed record of the earlier incarnation exists until the new one is confirmed",
)
UPDATE_OF_NOTHING = stated(
    "RFC 5661", "18.35.4", "case 7: an update without a confirmed record gets NFS4ERR_NOENT"
)
UPDATE_OF_ANOTHER = stated(
    "RFC 5661", "18.35.4", "case 8: an update with another verifier gets NFS4ERR_NOT_SAME"
)
DEFINED_FLAGS_ARE_TAKEN = stated(
    "RFC 5661",
    "18.35.3",
    "eia_flags and eir_flags have bits of a list; a bit of the list for the arguments is no error",
)
IMPLEMENTATION_DECIDES_NOTHING = must(
    "RFC 5661",
    "18.35.3",
    "servers accept a zero-length eia_client_impl_id, and do not change their behavior because of one",
)
_DEFINED: t.Final = {
    "moved_refer": p.EXCHGID4_FLAG_SUPP_MOVED_REFER,
    "moved_migr": p.EXCHGID4_FLAG_SUPP_MOVED_MIGR,
    "princ_stateid": p.EXCHGID4_FLAG_BIND_PRINC_STATEID,
}
_ROLES: t.Final = frozenset(
    {
        p.EXCHGID4_FLAG_USE_PNFS_MDS,
        p.EXCHGID4_FLAG_USE_PNFS_MDS | p.EXCHGID4_FLAG_USE_PNFS_DS,
        p.EXCHGID4_FLAG_USE_PNFS_DS,
        p.EXCHGID4_FLAG_USE_NON_PNFS,
        p.EXCHGID4_FLAG_USE_PNFS_DS | p.EXCHGID4_FLAG_USE_NON_PNFS,
    }
)
"""Section 13.1."""


@MINORS
@proves(CONFIRMED_R, killed_by="exchangeid4-new-is-confirmed")
def test_new_owner(nfs4: Nfs4) -> None:
    """The client id of a new owner is not confirmed."""
    result = expect(nfs4.exchange_id(new_owner())).ok()
    expect(
        result.eir_flags & p.EXCHGID4_FLAG_CONFIRMED_R, "CONFIRMED_R", of=result, field="eir_flags"
    ).equals(0)
    expect(
        result.eir_flags & p.EXCHGID4_FLAG_UPD_CONFIRMED_REC_A,
        "UPD_CONFIRMED_REC_A",
        of=result,
        field="eir_flags",
        because=UPDATE_FLAG_IS_NEVER_RETURNED,
    ).equals(0)


@MINORS
@pytest.mark.parametrize(
    "asked",
    [0, p.EXCHGID4_FLAG_USE_NON_PNFS, p.EXCHGID4_FLAG_USE_PNFS_MDS, p.EXCHGID4_FLAG_MASK_PNFS],
    ids=["none", "non_pnfs", "mds", "all"],
)
@proves(ROLES_ARE_ACCEPTABLE, killed_by="exchangeid4-returns-no-role")
def test_roles(nfs4: Nfs4, asked: int) -> None:
    """The result has an acceptable combination of pNFS roles, whichever the request names."""
    result = expect(nfs4.exchange_id(new_owner(), asked)).ok()
    expect(result.eir_flags & p.EXCHGID4_FLAG_MASK_PNFS, "roles", of=result, field="eir_flags").one_of(
        *sorted(_ROLES)
    )


@MINORS
@pytest.mark.parametrize(
    "flags",
    [0x10, 0x0080_0000, p.EXCHGID4_FLAG_CONFIRMED_R],
    ids=["bit-4", "bit-23", "confirmed_r"],
)
@proves(UNDEFINED_FLAGS_ARE_INVALID, killed_by="exchangeid4-ignores-undefined-flags")
def test_undefined_flag(nfs4: Nfs4, flags: int) -> None:
    """A flag that is not defined for the arguments is invalid."""
    result = nfs4.exchange_id(new_owner(), flags)
    expect(result).refused(Nfsstat4.NFS4ERR_INVAL, because=UNDEFINED_FLAGS_ARE_INVALID)


@MINORS
@proves(NOT_ONLY_OP, killed_by="compound4-sessionless-with-company")
def test_with_company(nfs4: Nfs4) -> None:
    """EXCHANGE_ID without SEQUENCE, and with another operation after it, fails with NOT_ONLY_OP."""
    reply = need_answer(nfs4.compound(op.exchange_id(new_owner()), op.putrootfh()))
    expect(reply).field("status").equals(Nfsstat4.NFS4ERR_NOT_ONLY_OP)


@MINORS
@proves(
    SAME_CLIENT_SAME_RESULT,
    CONFIRMED_R,
    killed_by=("exchangeid4-confirmed-gets-a-new-id", "exchangeid4-never-confirms"),
)
def test_confirmed_again(nfs4: Nfs4) -> None:
    """A confirmed owner with the same verifier gets the same client id, and CONFIRMED_R."""
    owner = new_owner()
    client = nfs4.new_client(owner)
    client.create_session()
    result = expect(nfs4.exchange_id(owner)).ok()
    expect(result).field("eir_clientid", "client id").equals(client.id)
    expect(
        result.eir_flags & p.EXCHGID4_FLAG_CONFIRMED_R,
        "CONFIRMED_R",
        of=result,
        field="eir_flags",
        because=CONFIRMED_R,
    ).equals(p.EXCHGID4_FLAG_CONFIRMED_R)
    expect(result).field("eir_server_scope", "server scope").equals(client.result.eir_server_scope)
    major = client.result.eir_server_owner.so_major_id
    expect(result.eir_server_owner).field("so_major_id").equals(major)


@MINORS
@proves(UNCONFIRMED_IS_REPLACED, killed_by="exchangeid4-unconfirmed-keeps-its-id")
def test_unconfirmed_again(nfs4: Nfs4) -> None:
    """An owner whose client id is not confirmed gets a new one, and the old one does not work any more."""
    owner = new_owner()
    first = expect(nfs4.exchange_id(owner)).ok()
    second = expect(nfs4.exchange_id(owner)).ok()
    expect(second).field("eir_clientid", "second client id").differs_from(first.eir_clientid)
    result = nfs4.create_session(first.eir_clientid, first.eir_sequenceid)
    expect(result).refused(Nfsstat4.NFS4ERR_STALE_CLIENTID)


@MINORS
@proves(INCARNATIONS_DIFFER, killed_by="exchangeid4-restart-keeps-the-id")
def test_restarted_client(nfs4: Nfs4) -> None:
    """A confirmed owner with another verifier gets another client id."""
    owner = new_owner()
    client = nfs4.new_client(owner)
    client.create_session()
    result = expect(nfs4.exchange_id(new_owner(owner.co_ownerid))).ok()
    expect(result).field("eir_clientid", "client id").differs_from(client.id)
    expect(
        result.eir_flags & p.EXCHGID4_FLAG_CONFIRMED_R,
        "CONFIRMED_R",
        of=result,
        field="eir_flags",
        because=CONFIRMED_R,
    ).equals(0)


@MINORS
@proves(RESTART_KEEPS_THE_OLD, killed_by="exchangeid4-restart-ends-sessions")
def test_restart_keeps_session(nfs4: Nfs4) -> None:
    """EXCHANGE_ID of a new incarnation does not end the session of the old one."""
    owner = new_owner()
    session = nfs4.new_client(owner).create_session()
    expect(nfs4.exchange_id(new_owner(owner.co_ownerid))).ok()
    expect(session.renew()).ok()


@MINORS
@proves(UPDATE_OF_NOTHING, killed_by="exchangeid4-updates-what-is-not-there")
def test_update_unknown(nfs4: Nfs4) -> None:
    """An update for an owner without a confirmed client id fails with NOENT."""
    result = nfs4.exchange_id(new_owner(), p.EXCHGID4_FLAG_UPD_CONFIRMED_REC_A)
    expect(result).refused(Nfsstat4.NFS4ERR_NOENT, because=UPDATE_OF_NOTHING)


@MINORS
@proves(UPDATE_OF_ANOTHER, killed_by="exchangeid4-updates-another-incarnation")
def test_update_other_verifier(nfs4: Nfs4) -> None:
    """An update with another verifier than that of the confirmed client id fails with NOT_SAME."""
    owner = new_owner()
    nfs4.new_client(owner).create_session()
    result = nfs4.exchange_id(new_owner(owner.co_ownerid), p.EXCHGID4_FLAG_UPD_CONFIRMED_REC_A)
    expect(result).refused(Nfsstat4.NFS4ERR_NOT_SAME, because=UPDATE_OF_ANOTHER)


@MINORS
@pytest.mark.parametrize("name", _DEFINED)
@proves(DEFINED_FLAGS_ARE_TAKEN, killed_by="exchangeid4-knows-roles-only")
def test_defined_flag(nfs4: Nfs4, name: str) -> None:
    """A flag that is defined for the arguments is no error."""
    flag = _DEFINED[name]
    result = nfs4.exchange_id(new_owner(), flag)
    observe(
        name, "set" if result.eir_resok4 is not None and result.eir_resok4.eir_flags & flag else "not set"
    )
    expect(result).ok()


@MINORS
@proves(IMPLEMENTATION_DECIDES_NOTHING, killed_by="exchangeid4-refuses-implementations")
def test_implementation(nfs4: Nfs4) -> None:
    """EXCHANGE_ID says which program the client is, and succeeds as without that."""
    name = p.NfsImplId4(b"example.org", b"a client that nobody knows", p.Nfstime4(1_000_000_000, 999_999_999))
    owner = new_owner()
    first = expect(nfs4.exchange_id(owner, impl_id=[name])).ok()
    expect(nfs4.create_session(first.eir_clientid, first.eir_sequenceid)).ok()
    again = expect(nfs4.exchange_id(owner)).ok()
    expect(again).field("eir_clientid", "client id").equals(first.eir_clientid)
