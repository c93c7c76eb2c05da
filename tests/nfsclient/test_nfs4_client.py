# SPDX-License-Identifier: MIT
"""The path client of NFSv4.1 against a server that loses things."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

import pytest

from nfsclient import MountFailed, UrlError, connect
from nfsclient.clients.nfs4 import Nfs4, SessionViolation
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import (
    ConnectionLost,
    NfsClientError,
    RetriesExhausted,
    RpcTimeout,
    ServerDown,
    XdrError,
)
from nfsclient.highlevel.nfs4 import FateUnknown, NfsClient, StateLost
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.exchange import Exchange
from nfsclient.xdr import XdrType, replace
from tests.nfsclient.nfs4_peer import OK, ROOT, S, Stage4
from tests.waiting import AT_MOST

READ = p.OpenDelegationType4.OPEN_DELEGATE_READ
NONE = p.OpenDelegationType4.OPEN_DELEGATE_NONE


@pytest.fixture
def stage() -> Iterator[Stage4]:
    made = Stage4()
    yield made
    made.close()


def serve_callbacks(stage: Stage4, count: int = 1) -> None:
    """Until the server has this many replies to its callbacks."""
    done = stage.loop.run_until(
        lambda: len(stage.server.callback_replies) >= count, stage.loop.clock() + AT_MOST
    )
    assert done


# ---------------------------------------------------------------- data


def test_data_longer_than_one_call(stage: Stage4) -> None:
    data = bytes(range(256)) * 40
    stage.client.write_file("f", data)
    assert bytes(stage.server.files[b"f"]) == data
    assert stage.client.read_file("f") == data


def test_short_reads_and_writes_are_continued(stage: Stage4) -> None:
    def short(args: t.Any, _proceed: t.Any) -> t.Any:
        cut = replace(args, count=7) if isinstance(args, p.Read4Args) else replace(args, data=args.data[:7])
        name = "READ" if isinstance(args, p.Read4Args) else "WRITE"
        result = stage.server._perform(name, cut)
        if name == "READ":
            result.resok4.eof = False
        return result

    stage.server.script("WRITE", short, short)
    stage.client.write_file("f", b"x" * 500 + b"y" * 500)
    stage.server.script("READ", short, short, short)
    assert stage.client.read_file("f") == b"x" * 500 + b"y" * 500


def test_data_is_written_again_when_the_verifier_changes(stage: Stage4) -> None:
    with stage.client.open("f", "w") as file:
        file.write(b"a" * 2500)
        stage.server.verifier += 1
        stage.server.files[b"f"].clear()
    assert bytes(stage.server.files[b"f"]) == b"a" * 2500


def test_listing_in_pages(stage: Stage4) -> None:
    names = [f"n{number}" for number in range(10)]
    stage.server.files.update({name.encode(): bytearray() for name in names})
    assert stage.client.listdir() == names


def test_pages_of_a_listing_follow_each_other(stage: Stage4) -> None:
    names = [f"n{number:02}" for number in range(40)]
    stage.server.files.update({name.encode(): bytearray() for name in names})
    stage.server.script("READDIR", *[lambda _args, proceed: proceed()] * 3, S.NFS4ERR_DELAY)
    assert stage.client.listdir() == names
    assert stage.server.count("READDIR") == 14 + 1
    listing = stage.client.scan("", ("size",))
    next(listing)
    listing.close()  # type: ignore[attr-defined]
    assert not stage.client.live.session.state.outstanding


def test_recorder_sees_decoded_pages(stage: Stage4) -> None:
    stage.server.files.update({b"n%d" % number: bytearray() for number in range(9)})
    seen: list[Exchange] = []
    stage.rpc.on_exchange = seen.append
    assert len(stage.client.listdir()) == 9
    assert {type(exchange.result) for exchange in seen} == {p.Compound4Res}


def test_listing_survives_the_loss_of_the_connection(stage: Stage4) -> None:
    names = [f"n{number:02}" for number in range(40)]
    stage.server.files.update({name.encode(): bytearray() for name in names})
    listing = stage.client.scan("", ("size",))
    found = [next(listing).name.decode()]
    stage.server.restart()
    assert found + [entry.name.decode() for entry in listing] == names


def test_expired_cookie_restarts_the_listing(stage: Stage4) -> None:
    names = [f"n{number}" for number in range(10)]
    stage.server.files.update({name.encode(): bytearray() for name in names})
    stage.server.script("READDIR", lambda _args, proceed: proceed(), S.NFS4ERR_NOT_SAME)
    assert sorted(stage.client.listdir()) == names


# ---------------------------------------------------------------- what is lost and found again


def test_delay_is_retried(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.script("SEQUENCE", S.NFS4ERR_DELAY)
    stage.server.script("READ", S.NFS4ERR_DELAY, S.NFS4ERR_DELAY)
    assert stage.client.read_file("f") == b"data"


def test_grace_is_waited_for(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.script("OPEN", S.NFS4ERR_GRACE, S.NFS4ERR_GRACE)
    stage.server.script("LOCK", S.NFS4ERR_GRACE)
    with stage.client.open("f") as file, file.locked(shared=True):
        assert file.read() == b"data"


SETTING_UP = ["EXCHANGE_ID", "CREATE_SESSION", "RECLAIM_COMPLETE"]


@pytest.mark.parametrize("name", SETTING_UP)
def test_delay_of_what_makes_a_session_is_waited_for(name: str) -> None:
    stage = Stage4(script={name: [S.NFS4ERR_DELAY] * 3})
    assert stage.client.listdir() == []
    assert stage.server.count(name) == 4
    assert stage.pauses.now == pytest.approx(0.05 + 0.1 + 0.2)
    stage.close()


@pytest.mark.parametrize("name", SETTING_UP[:2])
def test_endless_delay_of_what_makes_a_session_ends_with_patience(stage: Stage4, name: str) -> None:
    stage.server.script(name, *[S.NFS4ERR_DELAY] * 1000)
    before = stage.pauses.now
    with pytest.raises(RetriesExhausted, match=f"{name} answered NFS4ERR_DELAY"):
        NfsClient(stage.dial(), patience=stage.pauses.patience())
    assert stage.pauses.now == pytest.approx(before + 30)


@pytest.mark.parametrize("name", ["EXCHANGE_ID", "LOOKUP"])
def test_a_connect_that_must_wait_for_ever_names_the_step(stage: Stage4, name: str) -> None:
    stage.server.script(name, *[S.NFS4ERR_DELAY] * 1000)
    url = f"nfs://127.0.0.1/export?version=4.1&nfsport={stage.port}"
    with pytest.raises(MountFailed, match="answered NFS4ERR_DELAY") as caught:
        connect(url, loop=stage.loop, patience=stage.pauses.patience())
    assert caught.value.step == ("lookup" if name == "LOOKUP" else name)


def test_endless_delay_ends_with_patience(stage: Stage4) -> None:
    stage.server.script("LOOKUP", *[S.NFS4ERR_DELAY] * 1000)
    with pytest.raises(RetriesExhausted):
        stage.client.stat("f")
    assert stage.pauses.now >= 30


def test_reply_that_was_lost_is_fetched_with_the_same_slot_and_sequence_id(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray()
    parent = stage.client.root
    stage.server.drops = 1
    stage.client.live.run(lambda: [op.putfh(parent), op.remove(b"f")])
    assert b"f" not in stage.server.files
    assert stage.server.count("REMOVE") == 2  # the second one is answered from the reply cache


def test_many_requests_survive_the_loss_of_their_connection(stage: Stage4) -> None:
    data = bytes(range(256)) * 200
    stage.client.write_file("f", data)
    with stage.client.open("f") as file:
        stage.server.drops = 3
        assert file.read() == data
        stage.server.drops = 1
        stage.pauses.on_wait = stage.server.restart
        file.seek(0)
        assert file.read() == data


def test_flags_of_the_server_are_acted_upon(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    with stage.client.open("f", "r+") as file, file.locked():
        stage.server.reclaimed.clear()
        stage.server.status_flags = p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED | p.SEQ4_STATUS_CB_PATH_DOWN
        file.read(1)
        stage.server.status_flags = 0
        file.read(1)
        file.read(1)
        assert stage.server.reclaimed == ["open", "lock", "complete"]
        assert stage.server.count("BIND_CONN_TO_SESSION") == 1


def test_backchannel_comes_to_a_new_connection_though_the_server_delays_that(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.script("BIND_CONN_TO_SESSION", S.NFS4ERR_DELAY, S.NFS4ERR_DELAY)
    stage.server.drops = 1
    assert stage.client.read_file("f") == b"data"
    assert stage.server.count("BIND_CONN_TO_SESSION") == 3


@pytest.mark.parametrize("where", ["OPEN", "LOCK", "RECLAIM_COMPLETE", "CREATE_SESSION", "EXCHANGE_ID"])
def test_restart_in_the_middle_of_a_recovery(stage: Stage4, where: str) -> None:
    stage.server.files[b"f"] = bytearray(b"data")

    def restart(_args: t.Any, _proceed: t.Any) -> p.Nfsstat4:
        stage.server.forget_everything()
        stage.server.drops = 1
        return S.NFS4ERR_SERVERFAULT

    with stage.client.open("f", "r+") as file, file.locked():
        stage.server.restart()
        stage.server.script(where, restart)
        stage.server.reclaimed.clear()
        assert file.read(4) == b"data"
        assert stage.server.reclaimed[-3:] == ["open", "lock", "complete"]


def test_delayed_sequence_keeps_its_slot_and_sequence_id(stage: Stage4) -> None:
    stage.server.script("SEQUENCE", S.NFS4ERR_DELAY, S.NFS4ERR_DELAY)
    before = stage.client.live.session.state.slots[0].sequence_id
    stage.client.listdir()
    assert stage.client.live.session.state.slots[0].sequence_id == before + 2  # GETATTR of the root, READDIR
    assert stage.server.count("CREATE_SESSION") == 1


def test_return_of_a_delegation_that_is_delayed_is_repeated(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.grants = READ
    with stage.client.open("f") as file:
        delegation = stage.client.live.held.delegations[b"f"]
        stage.server.script("DELEGRETURN", S.NFS4ERR_DELAY)
        stage.server.call_back(p.CbRecall4Args(delegation.stateid, False, b"f"))
        serve_callbacks(stage)
        for _ in range(3):
            file.seek(0)
            assert file.read(4) == b"data"
    assert stage.server.count("DELEGRETURN") == 2
    assert stage.client.live.held.delegations == {}


def test_session_that_is_gone_is_replaced(stage: Stage4) -> None:
    stage.server.sessions.clear()
    stage.client.write_file("f", b"data")
    assert stage.client.read_file("f") == b"data"


def test_connection_that_must_be_bound_is_bound(stage: Stage4) -> None:
    stage.server.script("SEQUENCE", S.NFS4ERR_CONN_NOT_BOUND_TO_SESSION)
    stage.client.write_file("f", b"data")
    assert stage.server.count("BIND_CONN_TO_SESSION") == 1


@pytest.mark.parametrize("status", [S.NFS4ERR_BADSLOT, S.NFS4ERR_SEQ_MISORDERED, S.NFS4ERR_DEADSESSION])
def test_session_whose_slots_disagree_is_replaced(stage: Stage4, status: p.Nfsstat4) -> None:
    stage.server.script("SEQUENCE", status)
    stage.client.write_file("f", b"data")
    assert stage.server.count("CREATE_SESSION") == 2


def test_restart_is_survived_with_opens_and_locks(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    with stage.client.open("f", "r+") as file, file.locked(0, 10):
        file.lock(20, 10)
        stage.server.reclaimed.clear()
        stage.server.restart()
        stage.server.in_grace = True
        assert file.read(4) == b"data"
        assert stage.server.reclaimed == ["open", "lock", "lock", "complete"]


def test_lock_that_cannot_be_reclaimed_is_reported(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    file = stage.client.open("f", "r+")
    file.lock()
    stage.server.refuses_reclaims = True
    stage.server.restart()
    with pytest.raises(StateLost):
        file.read(4)
    file.close()
    assert stage.server.called[-1][-1] == "CLOSE"
    assert stage.client.live.held.opens == {}


def test_open_without_locks_is_opened_again(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    with stage.client.open("f") as file:
        stage.server.refuses_reclaims = True
        stage.server.restart()
        assert file.read(4) == b"data"


def test_unstable_data_survives_a_restart(stage: Stage4) -> None:
    with stage.client.open("f", "w") as file:
        file.write(b"a" * 3000)
        stage.server.restart()
        stage.server.files[b"f"].clear()
    assert bytes(stage.server.files[b"f"]) == b"a" * 3000


def test_call_with_unknown_fate_says_so(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray()
    root = stage.client.root
    stage.server.drops = 1
    stage.pauses.on_wait = stage.server.forget_everything
    with pytest.raises(FateUnknown, match="REMOVE"):
        stage.client.live.run(lambda: [op.putfh(root), op.remove(b"f")])


def test_server_that_stays_away_ends_in_a_typed_error(stage: Stage4) -> None:
    stage.server.close()
    with pytest.raises(ServerDown, match="LOOKUP"):
        stage.client.stat("f")


def test_late_reply_is_fetched_over_a_new_connection(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray()
    root = stage.client.root
    stage.rpc.timeout = 0.5
    stage.server.withholds = 1
    stage.client.live.run(lambda: [op.putfh(root), op.remove(b"f")])
    assert stage.server.count("REMOVE") >= 2
    assert stage.client.live.session.state.outstanding == set()


@pytest.mark.parametrize("query", ["version=4.0", "version=4.1&proto=udp"])
def test_urls_that_cannot_work(query: str) -> None:
    with pytest.raises(UrlError, match="over tcp"):
        connect(f"nfs://127.0.0.1:1/x?{query}")


def test_url_of_a_path_that_is_not_there(stage: Stage4) -> None:
    with pytest.raises(MountFailed, match="NFS4ERR_NOENT"):
        connect(f"nfs://127.0.0.1:{stage.port}/nowhere?version=4.1", loop=stage.loop)


def test_url_with_any_minor_version(stage: Stage4) -> None:
    stage.server.minors = {1}
    stage.server.files[b"f"] = bytearray(b"data")
    with connect(f"nfs://127.0.0.1:{stage.port}/?version=4", loop=stage.loop) as client:
        assert client.read_file("f") == b"data"
    stage.server.minors = set()
    with pytest.raises(MountFailed, match="MINOR_VERS_MISMATCH"):
        connect(f"nfs://127.0.0.1:{stage.port}/?version=4", loop=stage.loop)


def test_lost_connection_without_reconnecting(stage: Stage4) -> None:
    stage.client.live.reconnect = False
    stage.server.drop_connections()
    with pytest.raises(ConnectionLost):
        stage.client.stat("f")


def test_lease_is_renewed_in_time(stage: Stage4) -> None:
    live = stage.client.live
    before = stage.server.called.count(["SEQUENCE"])
    live.keep()
    assert stage.server.called.count(["SEQUENCE"]) == before
    live.lease.renewed_at -= 50
    live.keep()
    assert stage.server.called.count(["SEQUENCE"]) == before + 1


# ---------------------------------------------------------------- delegations


def test_delegated_file_is_read_once_until_the_recall(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.grants = READ
    with stage.client.open("f") as file:
        assert file.delegation == READ
        assert [file.seek(0), file.read(4), file.seek(0), file.read(4)] == [0, b"data", 0, b"data"]
        assert stage.server.count("READ") == 1
        delegation = stage.client.live.held.delegations[b"f"]
        stage.server.call_back(p.CbRecall4Args(delegation.stateid, False, b"f"))
        serve_callbacks(stage)
        assert stage.server.callback_answer().status == OK
        assert file.delegation == NONE
        stage.server.files[b"f"][:] = b"DATA"
        file.seek(0)
        assert file.read(4) == b"DATA"
        assert stage.server.count("DELEGRETURN") == 1


def test_delegated_data_is_not_believed_without_a_lease(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.grants = READ
    with stage.client.open("f") as file:
        assert file.read(4) == b"data"
        stage.server.files[b"f"][:] = b"DATA"
        stage.client.live.lease.renewed_at -= 100
        file.seek(0)
        assert file.read(4) == b"DATA"


def test_revoked_delegation_is_freed_and_the_open_used(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.grants = READ
    with stage.client.open("f") as file:
        stage.server.revoked.add(stage.client.live.held.delegations[b"f"].stateid.other)
        assert file.read(4) == b"data"
    assert stage.server.count("FREE_STATEID") == 1


def test_delegation_is_reclaimed_with_its_open(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.grants = READ
    with stage.client.open("f") as file:
        stage.server.restart()
        stage.client.stat("f")
        assert file.delegation == READ


# ---------------------------------------------------------------- callbacks


def test_recall_of_what_the_client_does_not_hold(stage: Stage4) -> None:
    stage.server.call_back(p.CbRecall4Args(p.Stateid4(1, b"x" * 12), False, b"f"))
    serve_callbacks(stage)
    assert stage.server.callback_answer().status == S.NFS4ERR_BADHANDLE


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (p.CbNotifyLock4Args(b"f", p.StateOwner4(1, b"o")), OK),
        (p.CbRecallAny4Args(0, [3]), OK),
        (p.CbRecallSlot4Args(0), OK),
        (p.CbGetattr4Args(b"f", [1 << 4]), S.NFS4ERR_BADHANDLE),
        (
            p.CbLayoutrecall4Args(
                p.Layouttype4.LAYOUT4_NFSV4_1_FILES,
                p.Layoutiomode4.LAYOUTIOMODE4_ANY,
                False,
                p.Layoutrecall4(p.LayoutrecallType4.LAYOUTRECALL4_ALL),
            ),
            S.NFS4ERR_NOMATCHING_LAYOUT,
        ),
        (p.CbNotifyDeviceid4Args([]), OK),
        (
            p.CbPushDeleg4Args(b"f", p.OpenDelegation4(NONE)),
            S.NFS4ERR_REJECT_DELEG,
        ),
        (p.CbIllegal4Args(), S.NFS4ERR_OP_ILLEGAL),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, p.Nfsstat4) else "",
)
def test_callbacks_are_answered(stage: Stage4, args: t.Any, status: p.Nfsstat4) -> None:
    stage.server.call_back(args)
    serve_callbacks(stage)
    assert stage.server.callback_answer().status == status


def test_callback_is_replayed_from_the_cache_and_misordered_ones_are_refused(stage: Stage4) -> None:
    notice = p.CbNotifyLock4Args(b"f", p.StateOwner4(1, b"o"))
    seen = stage.client.live.session.callbacks
    for count, (number, expected) in enumerate([(1, OK), (1, OK), (2, OK), (4, S.NFS4ERR_SEQ_MISORDERED)]):
        stage.server.call_back(notice, sequence_id=number)
        serve_callbacks(stage, count + 1)
        assert stage.server.callback_answer().status == expected
    assert seen.count == 2


def test_callback_that_comes_before_its_session_is_known(stage: Stage4) -> None:
    """A server may call back with the reply to CREATE_SESSION, or before it: it is to try again, not to give up."""

    def at_once(_args: XdrType, proceed: Callable[[], XdrType]) -> XdrType:
        made = proceed()
        stage.server.call_back(session=list(stage.server.sessions)[-1])
        return made

    stage.server.script("CREATE_SESSION", at_once)
    session = stage.client.live.nfs4.new_client().create_session(callbacks=True)
    serve_callbacks(stage)
    assert stage.server.callback_answer().status == S.NFS4ERR_DELAY
    stage.server.call_back(session=session.id)
    serve_callbacks(stage, 2)
    assert stage.server.callback_answer().status == OK


def test_callback_for_an_unknown_session(stage: Stage4) -> None:
    stage.server.call_back(session=b"x" * 16)
    serve_callbacks(stage)
    assert stage.server.callback_answer().status == S.NFS4ERR_BADSESSION


@pytest.mark.parametrize("size", [0, 3, 40, 400])
def test_garbage_callbacks_do_no_harm(stage: Stage4, size: int) -> None:
    stage.server.call_back_raw(b"\xff" * size)
    stage.server.files[b"f"] = bytearray(b"data")
    assert stage.client.read_file("f") == b"data"


# ---------------------------------------------------------------- callbacks of a check


def test_check_scripts_its_callbacks(stage: Stage4) -> None:
    nfs4 = Nfs4(stage.dial())
    session = nfs4.establish(callbacks=True)
    notice = p.CbNotifyLock4Args(b"f", p.StateOwner4(1, b"o"))

    def call(number: int) -> None:
        stage.server.call_back(notice, session=session.id, sequence_id=number)

    session.callbacks.on(p.CB_NOTIFY_LOCK, S.NFS4ERR_DELAY)
    call(1)
    assert session.await_callbacks(1, AT_MOST)
    serve_callbacks(stage)
    assert stage.server.callback_answer().status == S.NFS4ERR_DELAY
    session.callbacks.on(p.CB_NOTIFY_LOCK, None)
    nfs4.callbacks.holds = True
    call(2)
    assert session.await_callbacks(2, AT_MOST)
    assert len(stage.server.callback_replies) == 1
    nfs4.callbacks.release()
    serve_callbacks(stage, 2)
    assert stage.server.callback_answer().status == OK
    nfs4.callbacks.holds, nfs4.callbacks.silent = False, True
    call(3)
    assert session.await_callbacks(3, AT_MOST)
    session.renew()
    assert len(stage.server.callback_replies) == 2
    assert session.callbacks.received[-1].args == notice


# ---------------------------------------------------------------- many requests


def test_compounds_in_a_pipeline(stage: Stage4) -> None:
    names = [b"n%d" % number for number in range(40)]
    stage.server.files.update({name: bytearray(name) for name in names})
    session = Nfs4(stage.dial()).establish()
    found = {}
    for operations, reply in session.pipeline(
        [op.putrootfh(), op.lookup(name), op.getattr("size")] for name in names
    ):
        found[operations[1].objname] = reply.attributes.size  # type: ignore[attr-defined]
    assert found == {name: len(name) for name in names}
    assert not session.state.outstanding


def test_request_is_repeated_on_another_connection(stage: Stage4) -> None:
    session = Nfs4(stage.dial()).establish()
    request = session.state.begin([op.putrootfh()])
    stage.server.drops = 1
    with pytest.raises(ConnectionLost):
        session.perform(request)
    other = Nfs4(stage.dial())
    assert session.bind(other).bctsr_status == OK
    assert session.perform(request, via=other).statuses == [OK]


def test_errors_are_of_the_library(stage: Stage4) -> None:
    assert issubclass(SessionViolation, NfsClientError)
    assert issubclass(RpcTimeout, NfsClientError)
    assert issubclass(XdrError, NfsClientError)
    assert stage.client.root == ROOT
