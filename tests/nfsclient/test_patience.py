# SPDX-License-Identifier: MIT
"""Waiting after JUKEBOX: how long, how often, and that each attempt is a new call."""

from __future__ import annotations

import pytest

from nfsclient.clients import Nfs3, Patience
from nfsclient.clients.patience import Spell
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsserver import ManualClock, Server
from tests.nfsclient.conftest import Pauses, Stage

PATTERN = bytes(range(256)) * 20


def test_pauses_double_up_to_the_longest_and_end_in_time() -> None:
    pauses = Pauses()
    patience = pauses.patience(first=0.1, longest=0.5, total=2.0)
    assert list(patience.pauses()) == pytest.approx([0.1, 0.2, 0.4, 0.5, 0.5, 0.3])
    assert pauses.now == pytest.approx(2.0)


def test_an_answer_is_not_waited_for() -> None:
    pauses = Pauses()
    assert pauses.patience().retry(lambda: "again", lambda result: result == "later", "now") == "now"
    assert not pauses.waited


def test_the_last_refusal_is_given_back() -> None:
    pauses = Pauses()
    left = iter(range(100))
    result = pauses.patience(first=1.0, longest=1.0, total=5.0).retry(
        lambda: next(left), lambda _result: True, -1
    )
    assert result == 4
    assert sum(pauses.waited) == 5.0


def test_a_spell_begins_with_the_shortest_pause_again_where_the_call_gets_further() -> None:
    pauses = Pauses()
    spell = Spell(pauses.patience(first=1.0, longest=8.0, total=40.0))
    steps = [0, 0, 3, 3, 2, 3, 4, 4]
    assert all(spell.pause(step) for step in steps)
    assert pauses.waited == [1.0, 2.0, 1.0, 2.0, 4.0, 8.0, 1.0, 2.0]
    while spell.pause(4):
        pass
    assert pauses.now == 40.0
    assert not spell.pause(5), "all steps share one patience"


def test_waiting_serves_the_loop() -> None:
    now = 0.0

    def tick() -> float:
        nonlocal now
        now += 0.25
        return now

    loop = Loop(clock=tick)
    loop_before = now
    list(Patience.of(loop, first=1.0, total=2.0).pauses())
    assert now >= loop_before + 2.0
    loop.close()


def test_each_attempt_is_a_call_with_another_xid() -> None:
    loop, pauses = Loop(), Pauses()
    server = Server(clock=ManualClock(), seed=1, knobs={"jukebox_calls": 3})
    server.listen(loop)
    exchanges: list[Exchange] = []
    with connect_tcp("127.0.0.1", server.port, loop=loop, credential=AuthSys(0, 0)) as rpc:
        rpc.on_exchange = exchanges.append
        root = server.backend.handle_of(server.fs.root)
        client = Nfs3(rpc, patience=pauses.patience(first=0.1))
        reply = client.mkdir(root, b"d")
    assert client.put_off == 1
    assert reply.status == p.Nfsstat3.NFS3_OK
    assert len({exchange.xid for exchange in exchanges}) == len(exchanges) == 4
    assert pauses.waited == pytest.approx([0.1, 0.2, 0.4])
    server.close()
    loop.close()


@pytest.mark.parametrize(
    "knobs",
    [
        {"jukebox_calls": 2},
        {"offline_names": "*"},
        {"write_accepts": 7, "read_returns": 11},
        {"write_accepts_random": 3},
        {"rtmax": 100, "wtmax": 50, "dtmax": 512},
        {"readdir_page": 1},
        {"withhold_pre_op": True, "withhold_post_op": True, "withhold_handles": True},
        {"time_granularity": 2.0, "case_insensitive": True, "stale_on_remove": False},
        {"jukebox_calls": 1, "withhold_post_op": True, "withhold_handles": True, "readdir_page": 2},
    ],
    ids="-".join,
)
def test_the_client_by_path_copes_with_what_a_server_may_do(
    stage: Stage, knobs: dict[str, int | float | bool | str]
) -> None:
    stage.server.knobs.update(**knobs)
    client = stage.client
    client.mkdir("d")
    client.write_file("d/f", PATTERN)
    client.symlink("f", "d/link")
    client.link("d/f", "d/second")
    assert client.read_file("d/link") == PATTERN
    assert sorted(client.listdir("d")) == ["f", "link", "second"]
    client.rename("d/f", "d/g")
    for name in client.listdir("d"):
        client.remove(f"d/{name}")
    client.rmdir("d")
    assert not client.exists("d")


def test_the_client_waits_until_a_delegation_is_back(stage: Stage) -> None:
    stage.client.write_file("f", PATTERN)
    stage.server.knobs.set("delegated_names", "f")
    waits = stage.pauses.patience()

    def wait(seconds: float) -> None:
        waits.wait(seconds)
        if stage.pauses.now > 3.0:
            stage.server.knobs.set("delegated_names", "")

    nfs3 = Nfs3(stage.client.session.rpc, patience=Patience(wait, waits.clock, first=0.1))
    assert nfs3.remove(stage.root, b"f").status == p.Nfsstat3.NFS3_OK
    assert 3.0 < stage.pauses.now < 10.0
