# SPDX-License-Identifier: MIT
"""The path client of NFSv4.1 against a server that lies: typed errors in bounded time, and nothing is believed."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator

import pytest

from nfsclient.clients.nfs4 import CompoundError, SessionViolation
from nfsclient.errors import NfsClientError, ServerViolation
from nfsclient.files import Info
from nfsclient.highlevel.nfs4.calls import limits_of
from nfsclient.listings import ListingBounds
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import replace
from tests.nfsclient.nfs4_peer import OK, S, Stage4


@pytest.fixture
def stage() -> Iterator[Stage4]:
    made = Stage4()
    yield made
    made.close()


def lie(stage: Stage4, **wrong: t.Any) -> None:
    def bend(res: p.Compound4Res) -> p.Compound4Res:
        first = res.resarray[0] if res.resarray else None
        if isinstance(first, p.Sequence4Res) and first.sr_resok4 is not None:
            first = p.Sequence4Res(OK, replace(first.sr_resok4, **wrong))
            return p.Compound4Res(res.status, res.tag, [first, *res.resarray[1:]])
        return res

    stage.server.bend = bend


@pytest.mark.parametrize(
    "wrong",
    [{"sr_slotid": 77}, {"sr_sequenceid": 77}, {"sr_sessionid": b"y" * 16}],
    ids=lambda lie: next(iter(lie)),
)
def test_reply_for_another_request_is_not_believed(stage: Stage4, wrong: dict[str, t.Any]) -> None:
    lie(stage, **wrong)
    for _ in range(20):  # slots that a lie has cost run out: a new session replaces them
        with pytest.raises(SessionViolation):
            stage.client.stat("f")


def test_server_that_always_refuses_sessions(stage: Stage4) -> None:
    stage.server.script("SEQUENCE", *[S.NFS4ERR_BADSESSION] * 1000)
    with pytest.raises(CompoundError, match="BADSESSION"):
        stage.client.stat("f")
    assert stage.server.count("CREATE_SESSION") < 20


def test_server_that_always_forgets_clients(stage: Stage4) -> None:
    stage.server.script("SEQUENCE", S.NFS4ERR_BADSESSION)
    stage.server.script("CREATE_SESSION", *[S.NFS4ERR_STALE_CLIENTID] * 1000)
    with pytest.raises(CompoundError, match="STALE_CLIENTID"):
        stage.client.stat("f")


@pytest.mark.parametrize("status", [S.NFS4ERR_OLD_STATEID, S.NFS4ERR_BAD_STATEID, S.NFS4ERR_EXPIRED])
def test_server_that_never_accepts_a_stateid(stage: Stage4, status: p.Nfsstat4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.script("READ", *[status] * 1000)
    with pytest.raises(CompoundError) as caught:
        stage.client.read_file("f")
    assert caught.value.status == status


def test_status_flags_that_never_go_away(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.status_flags = 0xFFFF_FFFF
    assert stage.client.read_file("f") == b"data"
    assert stage.server.count("TEST_STATEID") <= 3


def test_results_of_other_operations_are_not_believed(stage: Stage4) -> None:
    def bend(res: p.Compound4Res) -> p.Compound4Res:
        return p.Compound4Res(OK, b"", [res.resarray[0], *[p.Putrootfh4Res(OK)] * 5])

    stage.server.bend = bend
    with pytest.raises(ServerViolation):
        stage.client.stat("")


def test_more_data_than_requested_is_not_believed(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.script("READ", p.Read4Res(OK, p.Read4ResOk(True, bytes(5000))))
    with pytest.raises(ServerViolation):
        stage.client.read_file("f")


# ---------------------------------------------------------------- lengths, counts, cookies, ends and sizes

DATA = b"data"
NAMES = [b"name-%d" % number for number in range(20)]
Lie: t.TypeAlias = Callable[[t.Any, t.Any], t.Any]
"""Makes the result of an operation of (arguments, the server's own result)."""


def read(stage: Stage4) -> None:
    assert stage.client.read_file("f") == DATA


def read_in_pieces(stage: Stage4) -> None:
    with stage.client.open("f") as file:
        assert b"".join(iter(lambda: file.read(3), b"")) == DATA


def write(stage: Stage4) -> None:
    stage.client.write_file("g", DATA * 1000)
    assert bytes(stage.server.files[b"g"]) == DATA * 1000


def append(stage: Stage4) -> None:
    with stage.client.open("f", "a") as file:
        file.write(b"more")
    assert bytes(stage.server.files[b"f"]) == DATA + b"more"


def names(stage: Stage4) -> None:
    assert stage.client.listdir(b"") == [b"f", *sorted(NAMES)]


def stat(stage: Stage4) -> None:
    assert stage.client.stat("f").size == len(DATA)


def reads(size: int, *, eof: bool) -> Lie:
    return lambda args, _: p.Read4Res(OK, p.Read4ResOk(eof, bytes(min(size, args.count))))


def attributes(**wrong: t.Any) -> Lie:
    """GETATTR with other values, or without (None)."""

    def bend(_args: t.Any, result: p.Getattr4Res) -> t.Any:
        assert result.resok4 is not None
        given = result.resok4.obj_attributes
        of_file = {name: value for name, value in wrong.items() if getattr(given, name) is not None}
        is_file = given.type != p.NfsFtype4.NF4DIR
        return p.Getattr4Res(OK, p.Getattr4ResOk(replace(given, **of_file))) if is_file else result

    return bend


def written(**wrong: t.Any) -> Lie:
    return lambda _args, result: p.Write4Res(OK, replace(result.resok4, **wrong))


def page(
    *, eof: bool | None = None, change: Callable[[p.Entry4], None] = lambda _: None, most: int = 9
) -> Lie:
    def bend(_args: t.Any, result: p.Readdir4Res) -> t.Any:
        assert result.resok4 is not None
        listing = result.resok4.reply
        for entry in listing.entries:
            change(entry)
        del listing.entries[most:]
        listing.eof = listing.eof if eof is None else eof
        return result

    return bend


def called(name: Callable[[bytes], bytes]) -> Callable[[p.Entry4], None]:
    return lambda entry: setattr(entry, "name", name(entry.name))


def again_for_ever(args: p.Readdir4Args, result: p.Readdir4Res) -> t.Any:
    assert result.resok4 is not None
    listing = [p.Entry4(args.cookie + at, NAMES[0], p.Fattr4()) for at in (1, 2, 3)]
    result.resok4.reply = p.Dirlist4(listing, False)
    return result


READING = (read, read_in_pieces)
LIES: dict[str, tuple[str, Lie, tuple[Callable[[Stage4], None], ...]]] = {
    "READ: data beyond the end, eof each time": ("READ", reads(900, eof=True), READING),
    "READ: data beyond the end, never eof": ("READ", reads(900, eof=False), READING),
    "READ: one byte at a time, never eof": ("READ", reads(1, eof=False), READING),
    "READ: no data, no eof": ("READ", reads(0, eof=False), READING),
    "READ: the end of the file at once": ("READ", reads(0, eof=True), READING),
    "GETATTR: no size": ("GETATTR", attributes(size=None), (*READING, append, stat)),
    "GETATTR: no type": ("GETATTR", attributes(type=None), (*READING, append, stat)),
    "GETATTR: a type of no object": ("GETATTR", attributes(type=p.NfsFtype4(99)), (*READING, append, stat)),
    "GETATTR: a size of 2^62": ("GETATTR", attributes(size=1 << 62), READING),
    "GETATTR: the largest size": ("GETATTR", attributes(size=2**64 - 1), READING),
    "WRITE: more than was sent": ("WRITE", written(count=1 << 30), (write, append)),
    "WRITE: nothing": ("WRITE", written(count=0), (write, append)),
    "WRITE: a stable_how4 of no meaning": ("WRITE", written(committed=p.StableHow4(77)), (write, append)),
    "WRITE: another verifier than COMMIT": (
        "WRITE",
        written(committed=p.StableHow4.UNSTABLE4, writeverf=b"otherone"),
        (write, append),
    ),
    "READDIR: never eof": ("READDIR", page(eof=False), (names,)),
    "READDIR: an empty page without eof": ("READDIR", page(eof=False, most=0), (names,)),
    "READDIR: one cookie for all": (
        "READDIR",
        page(eof=False, change=lambda entry: setattr(entry, "cookie", 5)),
        (names,),
    ),
    "READDIR: the same names for ever": ("READDIR", again_for_ever, (names,)),
    "READDIR: a slash in a name": ("READDIR", page(change=called(lambda name: b"../" + name)), (names,)),
    "READDIR: an empty name": ("READDIR", page(change=called(lambda _: b"")), (names,)),
    "READDIR: a NUL in a name": ("READDIR", page(change=called(lambda name: name + b"\0")), (names,)),
}
CASES = [
    pytest.param(operation, lie, action, id=f"{name}-{action.__name__}")
    for name, (operation, lie, actions) in LIES.items()
    for action in actions
]


def tell(stage: Stage4, operation: str, lie: Lie) -> None:
    stage.server.script(operation, *[lambda args, proceed: lie(args, proceed())] * 5000)


@pytest.fixture
def lied_to(stage: Stage4) -> Stage4:
    stage.server.files[b"f"] = bytearray(DATA)
    stage.server.files.update((name, bytearray()) for name in NAMES)
    stage.client.listing_bounds = ListingBounds(entries=500)
    return stage


@pytest.mark.parametrize(("operation", "lie", "action"), CASES)
def test_a_lie_is_an_error_or_does_no_harm(
    lied_to: Stage4, operation: str, lie: Lie, action: Callable[[Stage4], None]
) -> None:
    tell(lied_to, operation, lie)
    before = len(lied_to.server.called)
    with contextlib.suppress(NfsClientError):
        action(lied_to)
    assert lied_to.pauses.now <= 2
    assert len(lied_to.server.called) - before < 600
    lied_to.server.scripted.clear()
    lied_to.client.stat("f")  # the session is whole


@pytest.mark.parametrize("action", READING)
@pytest.mark.parametrize(
    "lie",
    [reads(900, eof=True), reads(900, eof=False), reads(0, eof=True)],
    ids=["beyond, eof", "beyond", "early end"],
)
def test_data_that_the_size_contradicts_is_never_given(
    lied_to: Stage4, lie: Lie, action: Callable[[Stage4], None]
) -> None:
    tell(lied_to, "READ", lie)
    with pytest.raises(ServerViolation, match="READ of f: the server"):
        action(lied_to)


def test_nothing_is_appended_at_the_start_of_a_file_whose_size_is_not_stated(lied_to: Stage4) -> None:
    with lied_to.client.open("f", "a") as file:
        tell(lied_to, "GETATTR", attributes(size=None))
        with pytest.raises(ServerViolation, match="REQUIRED attribute size"):
            file.write(b"more")
    assert lied_to.server.files[b"f"] == DATA


@pytest.mark.parametrize("status_codes", [0, 1, 500])
def test_other_results_than_were_tested(lied_to: Stage4, status_codes: int) -> None:
    lied_to.server.status_flags = p.SEQ4_STATUS_ADMIN_STATE_REVOKED
    result = p.TestStateid4Res(OK, p.TestStateid4ResOk([S.NFS4ERR_BAD_STATEID] * status_codes))
    lied_to.server.script("TEST_STATEID", *[result] * 50)
    with lied_to.client.open("f") as first, lied_to.client.open("f") as second:
        assert (first.read(), second.read()) == (DATA, DATA)


@pytest.mark.parametrize("wrong", [0, 1, 2**32 - 1], ids=["0", "1", "the largest"])
def test_limits_of_the_session_are_no_reason_to_fail(lied_to: Stage4, wrong: int) -> None:
    fore = lied_to.client.live.session.state.fore
    sizes = replace(fore, ca_maxrequestsize=wrong, ca_maxresponsesize=wrong, ca_maxrequests=wrong)
    for attribute in (0, 1, 2**64 - 1):
        limits = limits_of(sizes, Info(rtmax=attribute, wtmax=attribute))
        assert 1 <= limits.read <= 1 << 20
        assert 1 <= limits.write <= 1 << 20
        assert 512 <= limits.page <= 64 << 10
        lied_to.client.limits = limits
        read(lied_to)
