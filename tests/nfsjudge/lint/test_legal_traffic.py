# SPDX-License-Identifier: MIT
"""Legal traffic is silent: several users and connections, calls at the same time, restarts, both versions."""

from __future__ import annotations

import random
import typing as t

import pytest

from nfsclient.clients import Mount, Nfs2, Nfs3
from nfsclient.protocol import nfs3 as p
from nfsclient.protocol.nfs2 import Sattr
from nfsclient.protocol.nfs3 import (
    CreateMode3,
    Diropargs3,
    Ftype3,
    Mknoddata3,
    Sattr3,
    StableHow,
    client_time,
)
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.exchange import Exchange
from nfsjudge.lint import Event, Happening, lint
from nfsserver.knobs import KNOBS as ALL_KNOBS
from nfsserver.settings import Value
from tests.nfsserver.conftest import ALICE, BOB, ROOT_USER, Rig

CREDENTIALS = (ROOT_USER, ALICE, BOB)


class Monkey:
    """Does anything with a few names in two directories."""

    def __init__(self, rig: Rig, seed: int, proto: str) -> None:
        self.rig, self.chance = rig, random.Random(seed)
        self.exchanges: list[Exchange] = []
        self.events: list[Event] = []
        self.rpcs: list[RpcClient] = []
        for credential in CREDENTIALS:
            rpc = rig.rpc(credential, proto=proto)
            rpc.on_exchange = self.exchanges.append
            self.rpcs.append(rpc)
        first: t.Any = Nfs3(self.rpcs[0])
        self.directories = [
            first.mkdir(rig.root, name, Sattr3(mode=0o777)).resok.obj for name in (b"one", b"two")
        ]
        self.handles = [*self.directories, rig.root]

    def call(self) -> tuple[t.Any, t.Any]:
        chance, c = self.chance, self.chance.choice
        where = Diropargs3(c(self.directories), c([b"a", b"b", b"c", b"d", b".", b"..", b"absent"]))
        other = Diropargs3(c(self.directories), c([b"a", b"b", b"c", b"e"]))
        handle = c(self.handles[-8:] + self.directories)
        new = Sattr3(
            mode=c([None, 0o600, 0o666]),
            size=c([None, None, 0, 5, 5000]),
            mtime=c([p.DONT_CHANGE_TIME, p.SERVER_TIME, client_time(chance.randrange(2**31), 5)]),
        )
        data = bytes(chance.randrange(1, 3000))
        calls: list[tuple[t.Any, t.Any]] = [
            (p.GETATTR, p.Getattr3Args(handle)),
            (p.GETATTR, p.Getattr3Args(handle)),
            (p.SETATTR, p.Setattr3Args(handle, new)),
            (p.LOOKUP, p.Lookup3Args(where)),
            (p.LOOKUP, p.Lookup3Args(where)),
            (p.ACCESS, p.Access3Args(handle, 63)),
            (p.READLINK, p.Readlink3Args(handle)),
            (p.READ, p.Read3Args(handle, chance.randrange(4000), chance.randrange(4000))),
            (p.WRITE, p.Write3Args(handle, chance.randrange(4000), len(data), c(list(StableHow)), data)),
            (p.COMMIT, p.Commit3Args(handle, 0, 0)),
            (p.CREATE, p.Create3Args(where, p.Createhow3(CreateMode3.GUARDED, new))),
            (p.CREATE, p.Create3Args(where, p.Createhow3(CreateMode3.UNCHECKED, new))),
            (p.CREATE, p.Create3Args(where, p.Createhow3(CreateMode3.EXCLUSIVE, verf=b"verifier"))),
            (p.MKDIR, p.Mkdir3Args(where, Sattr3(mode=0o777))),
            (p.SYMLINK, p.Symlink3Args(where, p.Symlinkdata3(Sattr3(), b"text"))),
            (p.MKNOD, p.Mknod3Args(where, Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o666)))),
            (p.REMOVE, p.Remove3Args(where)),
            (p.RMDIR, p.Rmdir3Args(where)),
            (p.RENAME, p.Rename3Args(where, other)),
            (p.LINK, p.Link3Args(handle, other)),
            (p.READDIR, p.Readdir3Args(c(self.directories), 0, bytes(8), c([200, 512, 4096]))),
            (p.READDIRPLUS, p.Readdirplus3Args(c(self.directories), 0, bytes(8), 512, c([600, 4096]))),
            (p.FSSTAT, p.Fsstat3Args(handle)),
            (p.FSINFO, p.Fsinfo3Args(handle)),
            (p.PATHCONF, p.Pathconf3Args(handle)),
        ]
        return c(calls)

    def step(self, most: int) -> None:
        """Up to `most` calls at the same time; the answers come in any order."""
        pending = []
        for _ in range(self.chance.randrange(1, most + 1)):
            rpc = self.chance.choice(self.rpcs)
            pending.append((rpc, rpc.submit(*self.call())))
        for rpc, call in pending:
            result = rpc.wait(call)
            handle = getattr(getattr(result, "resok", None), "obj", None) or getattr(
                getattr(result, "resok", None), "object", None
            )
            if isinstance(handle, bytes):
                self.handles.append(handle)
        if self.chance.random() < 0.3:
            self.rig.clock.advance(self.chance.choice([0, 1e-9, 1e-3, 2.0]))

    def crash(self) -> None:
        self.rig.server.crash()
        self.events.append(Event(self.rig.loop.clock(), Happening.RESTART))


def accused(exchanges: list[Exchange], events: list[Event]) -> list[str]:
    return [
        f"{finding.rule.name}: {finding.text}"
        for finding in lint(exchanges, events)
        if finding.severity != "INFO"
    ]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("proto", "most"), [("tcp", 1), ("tcp", 6), ("udp", 1)])
def test_whatever_clients_do(rig: Rig, seed: int, proto: str, most: int) -> None:
    monkey = Monkey(rig, seed, proto)
    for _ in range(300 // most):
        monkey.step(most)
    assert accused(monkey.exchanges, monkey.events) == []


@pytest.mark.parametrize("seed", range(6))
def test_crashes(rig: Rig, seed: int) -> None:
    monkey = Monkey(rig, seed, "udp")
    for _ in range(120):
        monkey.step(1)
        if monkey.chance.random() < 0.05:
            monkey.crash()
    assert accused(monkey.exchanges, monkey.events) == []


@pytest.mark.parametrize("seed", range(4))
def test_somebody_unseen(rig: Rig, seed: int) -> None:
    """Another client's calls are not among the exchanges: with `others` the lint finds nothing."""
    monkey = Monkey(rig, seed, "tcp")
    for _ in range(200):
        monkey.step(1)
    seen = [exchange for exchange in monkey.exchanges if exchange.credential is not BOB]
    found = [finding for finding in lint(seen, others=True) if finding.severity != "INFO"]
    assert [finding.text for finding in found] == []


@pytest.mark.parametrize("seed", range(4))
def test_calls_that_are_not_answered(rig: Rig, seed: int) -> None:
    """Some replies are lost: those calls may have been executed, and at any time."""
    monkey = Monkey(rig, seed, "tcp")
    for _ in range(200):
        monkey.step(1)
    for exchange in monkey.exchanges:
        if monkey.chance.random() < 0.05:
            exchange.reply = exchange.result = exchange.received_at = None
    assert accused(monkey.exchanges, []) == []


@pytest.mark.parametrize("seed", range(4))
def test_both_versions_at_once(rig: Rig, seed: int) -> None:
    monkey = Monkey(rig, seed, "tcp")
    mounted: t.Any = Mount(monkey.rpcs[0], 1).mnt1(b"/export")
    nfs2: t.Any = Nfs2(monkey.rpcs[0])
    for _ in range(100):
        monkey.step(1)
        made = nfs2.lookup(mounted.directory, b"one").resok.file
        found = nfs2.lookup(made, monkey.chance.choice([b"a", b"b"])).resok
        if found is None or monkey.chance.random() < 0.2:
            nfs2.create(made, b"a")
            continue
        nfs2.getattr(found.file)
        nfs2.setattr(found.file, Sattr(mode=0o640))
        nfs2.write(found.file, 10, b"version 2")
        nfs2.read(found.file, 0, 100)
        nfs2.remove(made, monkey.chance.choice([b"a", b"b", b"c"]))
        nfs2.readdir(made)
    assert accused(monkey.exchanges, []) == []


@pytest.mark.parametrize("seed", range(4))
def test_calls_that_come_again(rig: Rig, seed: int) -> None:
    """With the same XID a server may answer what it answered before."""
    monkey = Monkey(rig, seed, "tcp")
    for _ in range(150):
        monkey.step(1)
        again = monkey.chance.choice(monkey.exchanges[-10:])
        now = rig.loop.clock()
        copy = Exchange(
            again.xid, again.procedure, again.args, again.credential, again.call, now, again.peer, "tcp",
            again.reply, again.result, again.error, rig.loop.clock(),
        )  # fmt: skip
        monkey.exchanges.append(copy)
    assert accused(monkey.exchanges, []) == []


KNOBS: list[dict[str, Value]] = [
    {"write_accepts": 7},
    {"write_accepts_random": 3},
    {"read_returns": 5},
    {"jukebox_calls": 2},
    {"jukebox_seconds": 1.0},
    {"jukebox_tries": 1},
    {"jukebox_tries_random": 7, "idle_close": 0.5},
    {"withhold_pre_op": True},
    {"withhold_post_op": True},
    {"withhold_handles": True},
    {"withhold_pre_op": True, "withhold_post_op": True, "withhold_handles": True},
    {"readdir_page": 1},
    {"time_granularity": 1.0},
    {"time_granularity": 3600.0},
    {"hard_links": False, "symlinks": False},
    {"max_file_size": 1000},
    {"name_max": 4},
    {"path_max": 2},
    {"free_bytes": 4096},
    {"free_files": 3},
    {"quota_bytes": 8192},
    {"root_squash": True},
    {"all_squash": True},
    {"read_only_names": "a*"},
    {"offline_names": "b*"},
    {"delegated_names": "c*"},
    {"rtmax": 100, "wtmax": 100, "dtmax": 512},
    {"case_insensitive": True},
    {"stale_on_remove": False},
    {"always_commits": True},
    {"commit": False},
    {"holes": False},
    {"empty_write_moves_times": True},
    {"nonvolatile_memory": True},
    {"crash_loses": 3},
    {"write_back_fails": True, "free_bytes": 4096},
    {"list_dots": False, "late_eof": True},
    {"opaque_cookies": True, "cookies_expire": True},
    {"plain_directories": True},
    {"ctime_is_mtime": True},
    {"several_handles": True},
    {"stale_on_rename": True},
    {"truncates_names": True, "name_max": 4},
    {"restricted_names": True},
    {"mknod": False, "readdirplus": False, "exclusive_create": False},
    {"access_grants": 15},
    {"mount_list": False, "replay_cache": False},
    {"on_garbage": "silence", "reversed_replies": True, "auth_stat": 1},
]


def test_all_knobs_are_turned() -> None:
    """With times of directories that lag, the lint is right to say that they should not."""
    turned = {name for setting in KNOBS for name in setting}
    of_others = {knob.name for knob in ALL_KNOBS.values() if knob.of_nfs4 or knob.of_snfs}
    assert set(ALL_KNOBS) - turned - of_others == {"jukebox_names", "read_only", "directory_times_lag"}


@pytest.mark.parametrize("setting", KNOBS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_every_freedom(rig: Rig, setting: dict[str, Value], seed: int) -> None:
    """Also where it is taken from the middle on."""
    monkey = Monkey(rig, seed, "tcp")
    for _ in range(40):
        monkey.step(1)
    rig.server.knobs.update(**setting)
    monkey.events.append(Event(rig.loop.clock(), Happening.RESTART))
    for _ in range(150):
        monkey.step(1)
    assert accused(monkey.exchanges, monkey.events) == []


def test_ctime_may_be_a_copy_of_mtime(rig: Rig) -> None:
    """What SETATTR sets may show in ctime, in its own reply and in all later ones (RFC 1813 section 1.6)."""
    monkey = Monkey(rig, 0, "tcp")
    nfs: t.Any = Nfs3(monkey.rpcs[0])
    file = nfs.create(monkey.directories[0], b"f", CreateMode3.GUARDED).resok.obj
    for new in (Sattr3(mtime=client_time(5)), Sattr3(mtime=p.SERVER_TIME), Sattr3(mode=0o600)):
        reply = nfs.setattr(file, new)
        reply.resok.obj_wcc.after.ctime = p.Nfstime3(5)
    assert [line for line in accused(monkey.exchanges, []) if "ctime-backwards" in line] == []


def _quiet(rig: Rig) -> tuple[Monkey, t.Any, bytes]:
    """A client, and a file that only it knows."""
    monkey = Monkey(rig, 0, "tcp")
    nfs: t.Any = Nfs3(monkey.rpcs[0])
    return monkey, nfs, nfs.create(monkey.directories[0], b"f", CreateMode3.GUARDED).resok.obj


def test_ctime_may_have_whole_seconds_where_mtime_has_less(rig: Rig) -> None:
    monkey, nfs, file = _quiet(rig)
    rig.clock.advance(1 - rig.clock.now_ns() % 10**9 / 1e9)
    for _ in range(8):
        reply = nfs.write(file, 0, b"data")
        reply.resok.file_wcc.before = None
        reply.resok.file_wcc.after.ctime.nseconds = 0
        rig.clock.advance(0.1)
    assert accused(monkey.exchanges, []) == []


def test_a_time_that_a_client_chose_shows_no_tick(rig: Rig) -> None:
    """ctime stays while mtime leaps: the clock of the server may not have moved in between."""
    monkey, nfs, file = _quiet(rig)
    known = nfs.getattr(file).resok.obj_attributes.ctime
    for seconds in (2**31, 5, 2**30):
        reply = nfs.setattr(file, Sattr3(mtime=client_time(seconds)))
        reply.resok.obj_wcc.before, reply.resok.obj_wcc.after.ctime = None, known
        nfs.getattr(file).resok.obj_attributes.ctime = known
    assert accused(monkey.exchanges, []) == []


def test_what_was_granted_may_be_denied_after_a_change(rig: Rig) -> None:
    monkey, nfs, file = _quiet(rig)
    alice: t.Any = Nfs3(monkey.rpcs[1])
    nfs.setattr(file, Sattr3(mode=0o644))
    alice.getattr(file)
    granted = alice.access(file, 63).resok.access
    nfs.setattr(file, Sattr3(mode=0o600))
    denied = alice.read(file, 0, 1).status
    assert (granted & 1, denied) == (1, p.Nfsstat3.NFS3ERR_ACCES)
    assert accused(monkey.exchanges, []) == []


def test_file_slots_may_be_unlimited(rig: Rig) -> None:
    monkey, nfs, file = _quiet(rig)
    resok = nfs.fsstat(file).resok
    resok.tfiles, resok.ffiles, resok.afiles = 7, 2**64 - 1, 2**64 - 1
    assert accused(monkey.exchanges, []) == []
