# SPDX-License-Identifier: MIT
"""Scripts of checks of NFSv4: what is taken from new replies, and which sessions are made again."""

from __future__ import annotations

from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import Unread, XdrType
from nfsjudge.reproduce import FoundSession, Setting, found_sessions, write_script
from tests.nfsjudge.test_reproduce import ME, STORY, assert_only_data, exchange

ROOT = b"\x09" * 64
SETTING = Setting("nfs://127.0.0.1/export?version=4.1", root4=ROOT, path=b"/export", credential=ME)
CLIENTID, FIRST = 0x1234_5678_9ABC_DEF0, 77
SESSION = b"a session of us!"
OTHER = b"some stateid"
OWNER = p.ClientOwner4(b"verifier", b"nfsproof 0123456789abcdef")
OK = p.Nfsstat4.NFS4_OK
CHANNEL = op.channel()


def compound(*pairs: tuple[XdrType, XdrType], at: float = 1.0):  # type: ignore[no-untyped-def]
    args = p.Compound4Args(b"", 1, [asked for asked, _ in pairs])
    return exchange(p.COMPOUND, args, p.Compound4Res(OK, b"", [given for _, given in pairs]), at=at)


def sequence(number: int, slot: int = 0, session: bytes = SESSION) -> tuple[XdrType, XdrType]:
    result = p.Sequence4ResOk(session, number, slot, 3, 3, 0)
    return p.Sequence4Args(session, number, slot, slot, False), p.Sequence4Res(OK, sr_resok4=result)


def exchange_id() -> tuple[XdrType, XdrType]:
    how = p.StateProtectHow4.SP4_NONE
    result = p.ExchangeId4ResOk(
        CLIENTID, FIRST, 0, p.StateProtect4R(how), p.ServerOwner4(0, b"major"), b"scope", []
    )
    return op.exchange_id(OWNER), p.ExchangeId4Res(OK, eir_resok4=result)


def create_session(number: int) -> tuple[XdrType, XdrType]:
    result = p.CreateSession4ResOk(SESSION, number, 0, CHANNEL, CHANNEL)
    return op.create_session(CLIENTID, number), p.CreateSession4Res(OK, csr_resok4=result)


def putfh(handle: bytes) -> tuple[XdrType, XdrType]:
    return op.putfh(handle), p.Putfh4Res(OK)


def getattr_of(**values: object) -> tuple[XdrType, XdrType]:
    result = p.Getattr4ResOk(p.Fattr4(**values))  # type: ignore[arg-type]
    return op.getattr(*values), p.Getattr4Res(OK, resok4=result)


def script(*exchanges: object) -> str:
    text = write_script(STORY, SETTING, exchanges)  # type: ignore[arg-type]
    assert_only_data(text)
    return text


def test_a_client_and_its_session_are_made_again() -> None:
    text = script(
        compound(exchange_id()),
        compound(create_session(FIRST), at=2.0),
        compound(create_session(FIRST + 1), at=3.0),
        compound(create_session(FIRST - 50), at=4.0),
        compound(sequence(1), putfh(ROOT), at=5.0),
    )
    assert "owner1 = replay.fresh_owner()" in text
    assert "co_ownerid=owner1" in text
    assert f"replay.take(r1, 'resarray[0].eir_resok4.eir_clientid', {CLIENTID})" in text
    assert "csa_clientid=g1, csa_sequence=g2," in text
    assert "csa_clientid=g1, csa_sequence=g2 + 1," in text
    assert f"csa_clientid=g1, csa_sequence={FIRST - 50}," in text
    assert "root4 = replay.root(4)" in text
    assert "Putfh4Args(object=root4)" in text
    assert "replay.session(" not in text


def test_a_session_of_before_the_check_makes_way_for_a_new_one() -> None:
    unknown = b"nobody's session"
    refused = exchange(
        p.COMPOUND,
        p.Compound4Args(b"", 1, [p.Sequence4Args(unknown, 9, 0, 0, False)]),
        p.Compound4Res(p.Nfsstat4.NFS4ERR_BADSESSION, b"", [p.Sequence4Res(p.Nfsstat4.NFS4ERR_BADSESSION)]),
        at=3.0,
    )
    used = [
        compound(sequence(8)),
        compound(sequence(9), at=1.5),
        compound(sequence(4, slot=2), at=2.0),
        refused,
    ]
    assert found_sessions(used) == {SESSION: FoundSession(1, {0: 6, 2: 3})}
    text = script(*used)
    assert text.count("s1 = replay.session()") == 1
    assert [line.split("(")[-1] for line in text.splitlines() if "sa_sessionid=s1" in line] == [
        "sa_sessionid=s1, sa_sequenceid=2, sa_slotid=0, sa_highest_slotid=0, sa_cachethis=False),",
        "sa_sessionid=s1, sa_sequenceid=3, sa_slotid=0, sa_highest_slotid=0, sa_cachethis=False),",
        "sa_sessionid=s1, sa_sequenceid=1, sa_slotid=2, sa_highest_slotid=2, sa_cachethis=False),",
    ]
    assert 'sa_sessionid=b"nobody\'s session"' in text


def test_a_stateid_is_that_of_the_new_reply() -> None:
    stateid = p.Stateid4(1, OTHER)
    closing = (op.close(stateid), p.Close4Res(OK, open_stateid=p.Stateid4(2, OTHER)))
    given = (op.close(p.Stateid4(0, b"x" * 12)), p.Close4Res(OK, open_stateid=stateid))
    text = script(compound(given), compound(closing, at=2.0))
    assert "replay.take(r1, 'resarray[0].open_stateid.other', b'some stateid')" in text
    assert "open_stateid=nfs4.Stateid4(seqid=1, other=g1)" in text


def test_attributes_to_compare_are_the_latest_of_the_server() -> None:
    def verify(**values: object) -> tuple[XdrType, XdrType]:
        return op.verify(p.Fattr4(**values)), p.Verify4Res(OK)  # type: ignore[arg-type]

    time = p.Nfstime4(5, 6)
    text = script(
        compound(getattr_of(change=7, size=3)),
        compound(getattr_of(change=7, time_modify=time), at=2.0),
        compound(verify(change=7, size=3, time_modify=time), at=3.0),
        compound((op.setattr(p.Fattr4(size=3)), p.Setattr4Res(OK, [])), at=4.0),
        compound(verify(change=8), at=5.0),
    )
    assert "replay.take(r2, 'resarray[0].resok4.obj_attributes.change', 7)" in text
    assert "time_modify', nfs4.Nfstime4(seconds=5, nseconds=6))" in text
    assert "nfs4.Verify4Args(obj_attributes=nfs4.Fattr4(change=g1, size=3, time_modify=g2))" in text
    assert "nfs4.Verify4Args(obj_attributes=nfs4.Fattr4(change=8))" in text


def test_an_operation_that_nobody_knows_is_sent_as_it_was() -> None:
    args = p.Compound4Args(b"", 1, [op.putrootfh(), Unread(9999, b"rest", 1)])
    text = script(exchange(p.COMPOUND, args))
    assert "Unread(number=9999, rest=b'rest', following=1)" in text
    assert "from nfsclient.xdr import Unread" in text
