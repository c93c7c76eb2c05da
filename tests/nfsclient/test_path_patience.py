# SPDX-License-Identifier: MIT
"""One call of a path client has one patience, however many calls to the server it makes; endless listings end."""

from __future__ import annotations

import itertools
import typing as t
from collections.abc import Callable, Iterator

import pytest

import nfsclient
from nfsclient.clients.nfs4 import Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.patience import SharedPatience
from nfsclient.errors import EndlessListing, RetriesExhausted
from nfsclient.listings import ListingBounds
from nfsclient.protocol import nfs3, nfs4
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.xdr import replace
from nfsserver import ManualClock, Server
from nfsserver.nfs4.common import failed
from tests.nfsclient.conftest import Pauses

TOTAL = 30.0
LEVELS = 10


class Scene:
    """A server that lets each call wait for a while, and a client by path, which has one patience."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.loop, self.pauses = Loop(), Pauses()
        self.server = Server(clock=ManualClock(), seed=1)
        self.server.listen(self.loop)
        rpc = connect_tcp("127.0.0.1", self.server.port, loop=self.loop, credential=AuthSys(0, 0))
        patience = self.pauses.patience(first=1.0, longest=1.0, total=TOTAL)
        self.client: nfsclient.NfsClient
        if version == 3:
            root = self.server.backend.handle_of(self.server.fs.root)
            self.client = nfsclient.nfs3.NfsClient(rpc, root, base=b"/export", patience=patience)
        else:
            self.client = nfsclient.nfs4.NfsClient(rpc, path=b"/export", patience=patience)
        self.client.mkdir("/".join(["d"] * LEVELS), parents=True)
        self.client.write_file("d/f", b"data")
        self.pauses.waited.clear()

    def delay(self, seconds: float) -> None:
        """Each name, and each directory, needs so long until it is there."""
        until: dict[t.Any, float] = {}

        def around(refusal: t.Callable[[], t.Any]) -> t.Any:
            def answer(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
                key = (args.to_xdr(), id(getattr(context.state, "current", None)))
                if self.pauses.now < until.setdefault(key, self.pauses.now + seconds):
                    return refusal()
                return proceed(context, args)

            return answer

        if self.version == 3:
            jukebox = Nfsstat3.NFS3ERR_JUKEBOX
            self.server.interpose(
                nfs3.READDIRPLUS,
                around(lambda: nfs3.Readdirplus3Res(jukebox, resfail=nfs3.Readdirplus3ResFail())),
            )
            self.server.interpose(
                nfs3.LOOKUP, around(lambda: nfs3.Lookup3Res(jukebox, resfail=nfs3.Lookup3ResFail()))
            )
        else:
            delay = Nfsstat4.NFS4ERR_DELAY
            for operation in (nfs4.READDIR, nfs4.LOOKUP):
                self.server.interpose(operation, around(lambda proceed=operation: failed(proceed, delay)))  # type: ignore[misc]

    def endless(self, size: int) -> None:
        """Each page of a listing has names of this size, and names and cookies are always new."""
        numbers = itertools.count(10)

        def page4(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            result = proceed(context, replace(args, cookie=0, cookieverf=bytes(8)))
            self.pauses.now += 1.0
            new = [
                nfs4.Entry4(number, b"%0*d" % (size, number), nfs4.Fattr4(type=nfs4.NfsFtype4.NF4REG))
                for number in itertools.islice(numbers, 10)
            ]
            return replace(result, resok4=replace(result.resok4, reply=nfs4.Dirlist4(new, eof=False)))

        def page3(kind: t.Any) -> t.Any:
            def answer(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
                result = proceed(context, replace(args, cookie=0, cookieverf=bytes(8)))
                self.pauses.now += 1.0
                new = [
                    kind(number, b"%0*d" % (size, number), number) for number in itertools.islice(numbers, 10)
                ]
                return replace(result, resok=replace(result.resok, entries=new, eof=False))

            return answer

        self.server.interpose(nfs4.READDIR, page4)
        self.server.interpose(nfs3.READDIR, page3(nfs3.Entry3))
        self.server.interpose(nfs3.READDIRPLUS, page3(nfs3.Entryplus3))

    def close(self) -> None:
        self.client.close()
        self.server.close()
        self.loop.close()


def once_each(answer: t.Any) -> t.Any:
    """A handler that gives `answer` to each operation once, before it is executed."""
    asked: set[t.Any] = set()

    def handler(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        key = (args.to_xdr(), getattr(context.state, "current", None))
        if key in asked:
            return proceed(context, args)
        asked.add(key)
        return answer

    return handler


def test_each_operation_of_a_compound_waits_from_the_shortest_pause_on() -> None:
    """As each call of NFSv3 does: a compound gets further each time, and the next operation has not waited yet."""
    scene = Scene(4)
    scene.client.patience = scene.client.live.patience = SharedPatience.shared(scene.pauses.patience())  # type: ignore[attr-defined]
    for operation in (nfs4.PUTFH, nfs4.LOOKUP, nfs4.GETFH, nfs4.GETATTR):
        scene.server.interpose(operation, once_each(failed(operation, Nfsstat4.NFS4ERR_DELAY)))
    assert scene.client.stat("d/d/d").is_directory
    assert scene.pauses.waited == [0.05] * (1 + 3 + 1 + 1)
    scene.close()


def test_compounds_by_hand_wait_from_the_shortest_pause_on() -> None:
    scene = Scene(4)
    rpc = connect_tcp("127.0.0.1", scene.server.port, loop=scene.loop, credential=AuthSys(0, 0))
    with Nfs4(rpc, patience=scene.pauses.patience()).establish() as session:
        for operation in (nfs4.PUTROOTFH, nfs4.LOOKUP, nfs4.GETATTR):
            scene.server.interpose(operation, once_each(failed(operation, Nfsstat4.NFS4ERR_DELAY)))
        session.compound(op.putrootfh(), op.lookup(b"export"), op.getattr("type")).ok()
    assert scene.pauses.waited == [0.05] * 3
    rpc.close()
    scene.close()


@pytest.fixture(params=[3, 4], ids=["v3", "v4"])
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    made = Scene(request.param)
    yield made
    made.close()


CALLS: dict[str, Callable[[t.Any], object]] = {
    "stat": lambda client: client.stat("/".join(["d"] * LEVELS)),
    "walk": lambda client: list(client.walk()),
    "mkdir": lambda client: client.mkdir("/".join(["d"] * LEVELS + ["new"])),
    "rename": lambda client: client.rename("/".join(["d"] * LEVELS), "/".join(["d"] * (LEVELS - 1) + ["e"])),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_one_call_waits_no_longer_than_its_patience(scene: Scene, call: Callable[[t.Any], object]) -> None:
    """A server that needs a third of the patience for each name."""
    scene.delay(TOTAL / 3)
    with pytest.raises(RetriesExhausted):
        call(scene.client)
    assert TOTAL * 0.9 <= sum(scene.pauses.waited) <= TOTAL + 1.0


def test_the_next_call_has_all_of_it_again(scene: Scene) -> None:
    scene.delay(TOTAL / 2 - 2)
    for path in ("d/d", "d/d/d", "d/f"):
        scene.client.stat(path)
    assert sum(scene.pauses.waited) > TOTAL


def test_what_the_caller_of_a_generator_does_costs_no_patience(scene: Scene) -> None:
    scene.delay(1.0)
    walking = scene.client.walk()
    for _ in walking:
        scene.pauses.now += 10 * TOTAL
        assert scene.client.exists("d")


def test_a_generator_that_is_left_ends_its_call(scene: Scene) -> None:
    for _ in scene.client.scan(""):
        break
    scene.delay(TOTAL / 2 - 2)
    assert scene.client.exists("d/f")


@pytest.mark.parametrize(
    ("bounds", "name"),
    [
        (ListingBounds(entries=500), "entries"),
        (ListingBounds(bytes=5000), "bytes"),
        (ListingBounds(seconds=20.0), "seconds"),
    ],
    ids=["entries", "bytes", "seconds"],
)
@pytest.mark.parametrize("way", ["listdir", "scan", "walk"])
def test_an_endless_listing_ends(scene: Scene, bounds: ListingBounds, name: str, way: str) -> None:
    scene.endless(20)
    scene.client.listing_bounds = bounds
    listing = getattr(scene.client, way)
    with pytest.raises(EndlessListing, match=rf"raise listing_bounds\.{name} if the directory") as caught:
        list(listing(""))
    error = caught.value
    assert error.entries <= 520
    assert error.names == error.entries * 20
    assert error.pages == error.entries // 10
    assert "the last one b'" in str(error)


def test_a_directory_that_holds_itself_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nfsclient.listings._DEEPEST", 50)
    scene = Scene(3)
    top = scene.client.find("d")

    def found(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        return proceed(context, replace(args, dir=top.handle))

    scene.server.interpose(nfs3.READDIRPLUS, found)
    with pytest.raises(EndlessListing, match="more than 50 levels"):
        list(scene.client.walk("d"))
    scene.close()
