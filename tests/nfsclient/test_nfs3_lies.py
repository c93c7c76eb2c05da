# SPDX-License-Identifier: MIT
"""The path client of NFSv3 against servers that lie: each action gives what is true, or a typed error, and soon.

Those of NFSv2 are in `test_highlevel_nfs2`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import typing as t
from collections.abc import Callable

import pytest

from nfsclient.errors import NfsClientError, ServerViolation
from nfsclient.files import Info
from nfsclient.highlevel import EndlessListing, Limits, NoProgress
from nfsclient.listings import ListingBounds
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.handlers import ServerApi
from tests.nfsclient.conftest import Stage

DATA = b"data"
BIG = 1 << 62
NAMES = [f"name-{number}" for number in range(30)]
Lie: t.TypeAlias = Callable[[t.Any, t.Any], None]
"""Changes the successful result of a call: (arguments, result)."""


def read(stage: Stage) -> None:
    assert stage.client.read_file("f") == DATA


def read_in_pieces(stage: Stage) -> None:
    with stage.client.open("f") as file:
        assert b"".join(iter(lambda: file.read(3), b"")) == DATA


def read_all_of_an_open_file(stage: Stage) -> None:
    with stage.client.open("f", "r+") as file:
        assert file.read() == DATA


def write(stage: Stage) -> None:
    stage.client.write_file("g", DATA * 1000)
    assert content(stage, "g") == DATA * 1000


def append(stage: Stage) -> None:
    with stage.client.open("f", "a") as file:
        file.write(b"more")
    assert content(stage, "f") == DATA + b"more"


def list_names(stage: Stage) -> None:
    assert sorted(stage.client.listdir("d")) == NAMES


def list_entries(stage: Stage) -> None:
    assert sorted(entry.name.decode() for entry in stage.client.scan("d")) == NAMES


def walk(stage: Stage) -> None:
    assert [(top, sorted(others)) for top, _, others in stage.client.walk("d")] == [("d", NAMES)]


def follow(stage: Stage) -> None:
    assert stage.client.stat("l").size == len(DATA)


def content(stage: Stage, name: str) -> bytes:
    """What the server has, read without the code under test."""
    found = stage.client.session.nfs.lookup(stage.root, name.encode()).resok
    assert found is not None
    result = stage.client.session.nfs.read(found.object, 0, 1 << 20).resok
    assert result is not None
    return bytes(result.data)


def of_attributes(**wrong: t.Any) -> Lie:
    def bend(_args: t.Any, result: t.Any) -> None:
        for name in ("obj_attributes", "file_attributes"):
            given = getattr(result, name, None)
            if given is not None:
                setattr(result, name, replace(given, **wrong))

    return bend


def more(size: int, *, eof: bool | None = None, count: int | None = None) -> Lie:
    """READ gives `size` bytes, whatever the file has."""

    def bend(args: p.Read3Args, result: t.Any) -> None:
        result.data = bytes(min(size, args.count))
        result.count = len(result.data) if count is None else count
        result.eof = result.eof if eof is None else eof

    return bend


def no_attributes(_args: t.Any, result: t.Any) -> None:
    result.file_attributes = None


def both(*lies: Lie) -> Lie:
    def bend(args: t.Any, result: t.Any) -> None:
        for lie in lies:
            lie(args, result)

    return bend


def sets(**wrong: t.Any) -> Lie:
    def bend(_args: t.Any, result: t.Any) -> None:
        for name, value in wrong.items():
            setattr(result, name, value)

    return bend


def names(make: Callable[[bytes], bytes]) -> Lie:
    def bend(_args: t.Any, result: t.Any) -> None:
        for entry in result.entries:
            if entry.name not in {b".", b".."}:
                entry.name = make(entry.name)

    return bend


def cookies(make: Callable[[int], int]) -> Lie:
    def bend(_args: t.Any, result: t.Any) -> None:
        result.eof = False
        for entry in result.entries:
            entry.cookie = make(entry.cookie)

    return bend


def again_for_ever(args: t.Any, result: t.Any) -> None:
    result.eof = False
    for at, entry in enumerate(result.entries, 1):
        entry.cookie = args.cookie + at


def nothing(_args: t.Any, result: t.Any) -> None:
    result.entries, result.eof = [], False


READING = (read, read_in_pieces, read_all_of_an_open_file)
LISTING = (list_names, list_entries, walk)
READDIRS = (p.READDIR, p.READDIRPLUS)
LIES: dict[str, tuple[tuple[Procedure[t.Any, t.Any], ...], Lie, tuple[Callable[[Stage], None], ...]]] = {
    "READ: more data than count": ((p.READ,), more(1 << 20, count=4), READING),
    "READ: less data than count": ((p.READ,), sets(count=1000), READING),
    "READ: count 0 with data": ((p.READ,), sets(count=0), READING),
    "READ: data beyond the end": ((p.READ,), more(1 << 20), READING),
    "READ: data beyond the end, eof each time": ((p.READ,), more(1 << 20, eof=True), READING),
    "READ: data beyond the end, never eof": ((p.READ,), more(1 << 20, eof=False), READING),
    "READ: data beyond the end, no attributes": (
        (p.READ,),
        both(more(5000, eof=True), no_attributes),
        READING,
    ),
    "READ: one byte at a time, never eof": ((p.READ,), more(1, eof=False), READING),
    "READ: never eof": ((p.READ,), sets(eof=False), READING),
    "READ: no data, no eof": ((p.READ,), more(0, eof=False), READING),
    "READ: the end of the file at once": ((p.READ,), more(0, eof=True), READING),
    "READ: the end of the file at once, no attributes": (
        (p.READ,),
        both(more(0, eof=True), no_attributes),
        READING,
    ),
    "GETATTR, LOOKUP: a size of 2^62": ((p.GETATTR, p.LOOKUP, p.READ), of_attributes(size=BIG), READING),
    "GETATTR, LOOKUP: the largest size": (
        (p.GETATTR, p.LOOKUP),
        of_attributes(size=2**64 - 1),
        (*READING, append),
    ),
    "LOOKUP: a size of 0": ((p.LOOKUP,), of_attributes(size=0), READING),
    "LOOKUP: a type of no object": ((p.LOOKUP,), of_attributes(type=99), (read, follow)),
    "WRITE: more than was sent": ((p.WRITE,), sets(count=1 << 30), (write,)),
    "WRITE: nothing": ((p.WRITE,), sets(count=0), (write, append)),
    "WRITE: less stable than requested": ((p.WRITE,), sets(committed=p.StableHow.UNSTABLE), (write,)),
    "WRITE: a stable_how of no meaning": ((p.WRITE,), sets(committed=77), (write, append)),
    "COMMIT: another verifier each time": ((p.COMMIT,), sets(verf=b"otherone"), (append,)),
    "READDIR: an empty page without eof": (READDIRS, nothing, LISTING),
    "READDIR: never eof": (READDIRS, sets(eof=False), LISTING),
    "READDIR: one cookie for all": (READDIRS, cookies(lambda _: 5), LISTING),
    "READDIR: the same names for ever": (READDIRS, again_for_ever, LISTING),
    "READDIR: a slash in a name": (READDIRS, names(lambda name: b"../" + name), LISTING),
    "READDIR: an empty name": (READDIRS, names(lambda _: b""), LISTING),
    "READDIR: a NUL in a name": (READDIRS, names(lambda name: name + b"\0"), LISTING),
    "READLINK: a link to itself": ((p.READLINK,), sets(data=b"l"), (follow,)),
    "READLINK: a text out of the export": ((p.READLINK,), sets(data=b"/etc/passwd"), (follow,)),
    "READLINK: a text that leads up for ever": ((p.READLINK,), sets(data=b"../" * 1000 + b"l"), (follow,)),
}


@pytest.fixture
def lied_to(stage: Stage) -> Stage:
    """A file, a directory with names and a link, made while the server was honest."""
    stage.client.write_file("f", DATA)
    stage.client.mkdir("d")
    directory = stage.client.find("d")
    for name in NAMES:
        stage.client.session.nfs.create(directory.handle, name.encode())
    stage.client.symlink("f", "l")
    stage.limit(read=2000, write=1000, page=1024)
    stage.client.listing_bounds = ListingBounds(entries=500)
    return stage


def tell(stage: Stage, procedure: Procedure[t.Any, t.Any], lie: Lie, calls: list[str]) -> None:
    def middleware(_server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        calls.append(procedure.name)
        reply = proceed(context, args)
        if reply.resok is not None:
            lie(args, reply.resok)
        return reply

    stage.server.interpose(procedure, middleware)


CASES = [
    pytest.param(procedures, lie, action, id=f"{name}-{action.__name__}")
    for name, (procedures, lie, actions) in LIES.items()
    for action in actions
]


@pytest.mark.parametrize(("procedures", "lie", "action"), CASES)
def test_a_lie_is_an_error_or_does_no_harm(
    lied_to: Stage, procedures: tuple[Procedure[t.Any, t.Any], ...], lie: Lie, action: Callable[[Stage], None]
) -> None:
    calls: list[str] = []
    for procedure in procedures:
        tell(lied_to, procedure, lie, calls)
    with contextlib.suppress(NfsClientError):
        action(lied_to)
    assert lied_to.pauses.now <= 2
    assert len(calls) < 600
    assert not lied_to.client.session.rpc.core.pending


@pytest.mark.parametrize("action", READING)
@pytest.mark.parametrize(
    "lie",
    [more(1 << 20, count=4), more(1 << 20), more(5000, eof=True), more(0, eof=True)],
    ids=["count", "beyond", "beyond, eof", "early end"],
)
def test_data_that_the_size_contradicts_is_never_given(
    lied_to: Stage, lie: Lie, action: Callable[[Stage], None]
) -> None:
    tell(lied_to, p.READ, lie, [])
    with pytest.raises(ServerViolation, match=r"READ of /f|/f: READ"):
        action(lied_to)


def test_a_file_that_grows_is_read_as_long_as_its_size_says_so(lied_to: Stage) -> None:
    with lied_to.client.open("f") as file:
        got = [file.read(4), file.read(4)]
        other = lied_to.client.open("f", "a")
        for _ in range(3):
            other.write(b"more")
            got.append(file.read(4))
    assert got == [DATA, b"", b"more", b"more", b"more"]


def test_a_file_that_grows_faster_than_it_is_read_ends(lied_to: Stage) -> None:
    """The server states a larger size each time, and gives that data: the error comes before memory is full."""
    size = [4]

    def grow(_args: t.Any, result: t.Any) -> None:
        size[0] += 2000
        result.obj_attributes = replace(result.obj_attributes, size=size[0])

    tell(lied_to, p.GETATTR, grow, [])
    tell(lied_to, p.READ, both(more(2000, eof=False), no_attributes), [])
    with pytest.raises(NoProgress, match="grows as fast as it is read"):
        lied_to.client.read_file("f")


@pytest.mark.parametrize("action", LISTING)
def test_names_that_lead_elsewhere_are_not_given(lied_to: Stage, action: Callable[[Stage], None]) -> None:
    for procedure in READDIRS:
        tell(lied_to, procedure, names(lambda name: b"../" + name), [])
    with pytest.raises(ServerViolation, match="expected the name of an entry"):
        action(lied_to)


def test_the_directory_above_is_no_entry(lied_to: Stage) -> None:
    for procedure in READDIRS:
        tell(lied_to, procedure, names(lambda _: b".."), [])
    assert lied_to.client.listdir("d") == []
    assert list(lied_to.client.scan("d")) == []
    assert list(lied_to.client.walk("d")) == [("d", [], [])]


@pytest.mark.parametrize("action", LISTING)
def test_a_listing_for_ever_is_bounded(lied_to: Stage, action: Callable[[Stage], None]) -> None:
    for procedure in READDIRS:
        tell(lied_to, procedure, again_for_ever, [])
    with pytest.raises(EndlessListing):
        action(lied_to)


@pytest.mark.parametrize("wrong", [0, 1, 2**32 - 1], ids=["0", "1", "the largest"])
def test_limits_of_fsinfo_are_no_reason_to_fail(lied_to: Stage, wrong: int) -> None:
    info = lied_to.client.session.nfs.fsinfo(lied_to.root).resok
    assert info is not None
    for name in ("rtmax", "rtpref", "rtmult", "wtmax", "wtpref", "wtmult", "dtpref"):
        setattr(info, name, wrong)
    fields = {each.name: getattr(info, each.name) for each in dataclasses.fields(Info)}
    limits = Limits.of(Info(**fields))
    assert 1 <= limits.read <= 1 << 20
    assert 1 <= limits.write <= 1 << 20
    assert 1024 <= limits.page <= 1 << 20
    lied_to.client.session.limits = limits
    write(lied_to)
    read(lied_to)
