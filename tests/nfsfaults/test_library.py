# SPDX-License-Identifier: MIT
"""The library under random plans: its data is intact and its calls are right, whatever happens to the messages.

A model of the files is compared with what the server has. In NFSv3 rules lose and double idempotent calls only, since
RFC 1813 section 4.5 promises nothing about others; what delays or divides messages applies to all. In NFSv4.1 each
request may be lost with its connection, and is executed exactly once.

`NFSPROOF_PLANS` is the number of plans; with `--hypothesis-seed` a failure comes again.
"""

from __future__ import annotations

import os
import typing as t
from contextlib import closing

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nfsclient
from nfsclient.clients import Patience
from nfsclient.highlevel import Limits
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.loop import Loop
from nfsfaults import actions as a
from nfsfaults.inside import Inside
from nfsfaults.plan import Plan, Rule, Selector
from nfsserver import Server

PLANS: t.Final = int(os.environ.get("NFSPROOF_PLANS", "500"))
"""In all; NFSv4.1, NFSv3 over TCP and over UDP have a part each."""
_IDEMPOTENT: t.Final = ("READ", "WRITE", "GETATTR", "LOOKUP", "ACCESS", "COMMIT", "READDIRPLUS", "FSINFO")
_NAMES: t.Final = ("f", "g", "h")
_SIZE: t.Final = 600
"""Bytes of a READ or WRITE: a file is several calls."""
Step: t.TypeAlias = tuple[t.Any, ...]

_MESSAGES: t.Final = st.sampled_from(["call", "reply"])
_DELAYS: t.Final = st.sampled_from([0.0, 0.001, 0.004])
_LATE: t.Final = st.one_of(
    st.builds(a.Delay, st.sampled_from([0.001, 0.004])),
    st.builds(a.Hold, st.integers(1, 2), st.just(0.005)),
)
_PIECES: t.Final = st.one_of(
    st.builds(a.Segments, st.tuples(st.integers(1, 100)), _DELAYS),
    st.builds(a.Fragments, st.tuples(st.integers(1, 100)), _DELAYS),
    st.builds(a.Stall, st.just(0.002), st.integers(0, 60)),
)
_CUTS: t.Final = st.one_of(
    st.builds(a.Drop, st.sampled_from(["close", "reset"])),
    st.builds(a.Truncate, st.integers(0, 100)),
    st.builds(a.Reset, st.integers(0, 60)),
)


def _rule(action: st.SearchStrategy[t.Any], operations: tuple[str, ...]) -> st.SearchStrategy[Rule]:
    def make(kind: t.Any, nth: int, action: a.Action) -> Rule:
        select = Selector(kind, "nfs", operations=operations, nth=nth)
        return Rule(select, (action,), must_fire=False)

    return st.builds(make, _MESSAGES, st.integers(1, 4 if operations else 12), action)


def _plans(*rules: st.SearchStrategy[Rule]) -> st.SearchStrategy[Plan]:
    return st.builds(lambda chosen: Plan(tuple(chosen)), st.lists(st.one_of(*rules), min_size=1, max_size=5))


PLANS_TCP: t.Final = _plans(
    _rule(_LATE, ()),
    _rule(_PIECES, ()),
    _rule(st.builds(a.Duplicate), _IDEMPOTENT),
    _rule(_CUTS, _IDEMPOTENT),
)
PLANS_UDP: t.Final = _plans(
    _rule(_LATE, _IDEMPOTENT),
    _rule(st.builds(a.Duplicate), _IDEMPOTENT),
    _rule(st.builds(a.Drop), _IDEMPOTENT),
)
PLANS_4: t.Final = _plans(_rule(_LATE, ()), _rule(_PIECES, ()), _rule(_CUTS, ()))

_NAME: t.Final = st.sampled_from(_NAMES)
STEPS: t.Final = st.lists(
    st.one_of(
        st.tuples(st.just("write"), _NAME, st.binary(max_size=2000)),
        st.tuples(st.just("patch"), _NAME, st.integers(0, 1500), st.binary(min_size=1, max_size=1500)),
        st.tuples(st.just("truncate"), _NAME, st.integers(0, 3000)),
        st.tuples(st.just("remove"), _NAME),
        st.tuples(st.just("rename"), _NAME, _NAME),
        st.tuples(st.just("read"), _NAME),
        st.tuples(st.just("restart")),
    ),
    min_size=1,
    max_size=6,
)
KNOBS: t.Final = st.fixed_dictionaries(
    {},
    optional={
        "read_returns": st.sampled_from([100, 599]),
        "write_accepts": st.sampled_from([100, 599]),
        "jukebox_calls": st.sampled_from([1, 2]),
    },
)


class Rig:
    """A server and a client of it on one loop, a plan between them, and the model of the files."""

    def __init__(self, plan: Plan, knobs: dict[str, t.Any], kind: str) -> None:
        self.loop = Loop()
        self.server = Server(seed=1, knobs=knobs)
        _, port = self.server.listen(self.loop)
        self.inside = Inside(plan)
        self.files: dict[str, bytes] = {}
        credential = AuthSys(0, 0)
        if kind == "udp":
            rpc = connect_udp(
                "127.0.0.1", port, loop=self.loop, timeout=5, first_interval=0.02, credential=credential
            )
        else:
            rpc = connect_tcp("127.0.0.1", port, loop=self.loop, timeout=5, credential=credential)
        self.client = self._client(rpc, kind)

    def _client(self, rpc: RpcClient, kind: str) -> nfsclient.NfsClient:
        patience = Patience.of(self.loop, first=0.001, longest=0.01, total=10.0)
        if kind == "4.1":
            found = nfsclient.nfs4.NfsClient(
                rpc, path=b"/export", rsize=_SIZE, wsize=_SIZE, patience=patience
            )
            self.inside.attach(rpc)  # the session stands; what follows is disturbed
            return found
        self.inside.attach(rpc)
        root = self.server.backend.handle_of(self.server.fs.root)
        limits = Limits(_SIZE, _SIZE, 4096)
        return nfsclient.nfs3.NfsClient(
            rpc, root, base=b"/export", limits=limits, patience=patience, reconnect=True
        )

    def do(self, step: Step) -> None:
        """Make a step, and the same in the model. What the model refuses is not tried."""
        what, *values = step
        if what == "restart":
            self.server.restart()
            return
        if what != "write" and values[0] not in self.files:
            return
        getattr(self, f"_{what}")(*values)

    def _write(self, name: str, data: bytes) -> None:
        self.client.write_file(name, data)
        self.files[name] = data

    def _patch(self, name: str, offset: int, data: bytes) -> None:
        with self.client.open(name, "r+b") as file:
            file.seek(offset)
            file.write(data)
        old = self.files[name].ljust(offset, b"\0")
        self.files[name] = old[:offset] + data + old[offset + len(data) :]

    def _truncate(self, name: str, size: int) -> None:
        self.client.truncate(name, size)
        self.files[name] = self.files[name][:size].ljust(size, b"\0")

    def _remove(self, name: str) -> None:
        self.client.remove(name)
        del self.files[name]

    def _rename(self, name: str, new: str) -> None:
        self.client.rename(name, new)
        self.files[new] = self.files.pop(name)

    def _read(self, name: str) -> None:
        assert bytes(self.client.read_file(name)) == self.files[name]

    def compare(self) -> None:
        """Names and data by the client, and as they stand in the server."""
        assert sorted(self.client.listdir()) == sorted(self.files)
        for name in self.files:
            self._read(name)
        assert self._of_server() == self.files

    def _of_server(self) -> dict[str, bytes]:
        """The files, without the code under test."""
        with_plain = connect_tcp("127.0.0.1", self.server.port, loop=self.loop, credential=AuthSys(0, 0))
        root = self.server.backend.handle_of(self.server.fs.root)
        patience = Patience.of(self.loop, first=0.001, longest=0.01, total=10.0)
        with nfsclient.nfs3.NfsClient(with_plain, root, base=b"/export", patience=patience) as plain:
            return {name: bytes(plain.read_file(name)) for name in plain.listdir()}

    def close(self) -> None:
        self.inside.close()
        if isinstance(self.client, nfsclient.nfs3.NfsClient):
            self.client.session.rpc.close()
        else:
            assert isinstance(self.client, nfsclient.nfs4.NfsClient)
            self.client.live.rpc.close()
        self.server.close()
        self.loop.close()


def _run(kind: str, plan: Plan, knobs: dict[str, t.Any], steps: list[Step]) -> None:
    with closing(Rig(plan, knobs, kind)) as rig:
        for step in steps:
            rig.do(step)
        rig.compare()


def _many(share: int) -> settings:
    return settings(
        max_examples=max(1, PLANS // share),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )


@_many(3)
@given(plan=PLANS_TCP, knobs=KNOBS, steps=STEPS)
def test_nfs3_over_tcp(plan: Plan, knobs: dict[str, t.Any], steps: list[Step]) -> None:
    _run("tcp", plan, knobs, steps)


@_many(3)
@given(plan=PLANS_UDP, knobs=KNOBS, steps=STEPS)
def test_nfs3_over_udp(plan: Plan, knobs: dict[str, t.Any], steps: list[Step]) -> None:
    _run("udp", plan, knobs, steps)


@_many(3)
@given(plan=PLANS_4, knobs=KNOBS, steps=STEPS)
def test_nfs41(plan: Plan, knobs: dict[str, t.Any], steps: list[Step]) -> None:
    _run("4.1", plan, knobs, steps)


def test_nfs41_a_recovery_that_is_cut_in_its_second_session_still_ends_the_grace_period() -> None:
    lost = Rule(Selector("reply", "nfs", operations=("CREATE_SESSION",), nth=2), (a.Drop("close"),))
    _run("4.1", Plan((lost,)), {}, [("restart",), ("write", "f", b"data"), ("read", "f")])


def test_nfs41_a_call_that_must_not_run_twice_is_not_sent_into_a_connection_that_the_server_has_closed() -> (
    None
):
    _run("4.1", Plan(()), {}, [("write", "f", b"data"), ("restart",), ("rename", "f", "g")])
