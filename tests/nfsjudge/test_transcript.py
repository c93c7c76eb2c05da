# SPDX-License-Identifier: MIT
"""Transcripts: bounded, with what the verdict is about and the credentials of calls."""

from __future__ import annotations

import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.errors import RpcTimeout, XdrError
from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import (
    Diropargs3,
    Entry3,
    Lookup3Args,
    Nfsstat3,
    Readdir3Args,
    Readdir3Res,
    Readdir3ResOk,
    Rename3Args,
)
from nfsclient.rpc.auth import AuthNone, AuthSys, Credential, RawCredential
from nfsclient.rpc.exchange import Exchange
from nfsjudge.transcript import (
    MOST_LINES,
    Besides,
    as_whom,
    call_line,
    cut,
    full_lines,
    short_transcript,
    summary_line,
    transcript,
)

ROOT = AuthSys(0, 0)
HEAD = re.compile(r"#(\d+) ")


def listing(entries: int, credential: Credential = ROOT, *, answered: bool = True) -> Exchange:
    names = [Entry3(number, b"name-%d" % number, number) for number in range(entries)]
    reply = Readdir3Res(Nfsstat3.NFS3_OK, Readdir3ResOk(None, bytes(8), names, eof=True))
    marked = Exchange(
        1,
        nfs3.READDIR,
        Readdir3Args(b"dir", 0, bytes(8), 4096),
        credential,
        b"",
        0.0,
        "",
        "tcp",
        result=reply,
    )
    if answered:
        marked.reply, marked.received_at = b"reply", 0.001
    else:
        marked.result, marked.error = None, RpcTimeout("READDIR", 1.0)
    return marked


@given(st.lists(st.tuples(st.integers(0, 400), st.booleans()), max_size=60), st.data())
def test_a_transcript_is_bounded_and_has_what_is_marked(
    kinds: list[tuple[int, bool]], draw: st.DataObject
) -> None:
    exchanges = [listing(entries, answered=answered) for entries, answered in kinds]
    marked = draw.draw(st.sampled_from(exchanges)) if exchanges else None
    entries = len(marked.result.resok.entries) if marked is not None and marked.result is not None else 0
    field = f"resok.entries[{entries - 1}].name" if entries else None
    subject = marked if marked is None or marked.result is None else marked.result
    lines = transcript(exchanges, subject=subject, field=field, note="expected another")
    assert len(lines) <= MOST_LINES + 4
    shown = [int(found[1]) for line in lines if (found := HEAD.match(line))]
    left_out = sum(int(line.split()[1]) for line in lines if "exchanges left out" in line)
    assert shown == sorted(set(shown))
    assert len(shown) + left_out == len(exchanges)
    if marked is not None:
        assert exchanges.index(marked) + 1 in shown
        assert len(exchanges) in shown
        assert [line.split(": ")[1] for line in lines if line.endswith("<-- expected another")] == (
            [f"'name-{entries - 1}'    <-- expected another"] if field else []
        )


def test_what_is_left_out_is_counted_by_kind() -> None:
    lines = transcript([*(listing(0) for _ in range(300))])
    (omitted,) = [line for line in lines if "left out" in line]
    assert re.fullmatch(r"\.\.\. \d+ exchanges left out: \d+ READDIR NFS3_OK", omitted)


def test_an_exchange_without_a_reply_is_shown_among_many() -> None:
    exchanges = [listing(0) for _ in range(100)]
    exchanges[40] = listing(0, answered=False)
    assert any(line.startswith("#41 READDIR") for line in transcript(exchanges))


@pytest.mark.parametrize(
    ("credential", "text"),
    [
        (None, ""),
        (AuthNone(), "AUTH_NONE"),
        (AuthSys(4242, 100), "AUTH_SYS uid 4242, gid 100"),
        (AuthSys(1, 2, (3, 4)), "AUTH_SYS uid 1, gid 2, gids 3 4"),
        (RawCredential(6, b"abc"), "RPCSEC_GSS, 3 bytes"),
        (RawCredential(4711, b"abc"), "flavor 4711, 3 bytes"),
    ],
)
def test_as_whom_a_call_was_made(credential: Credential | None, text: str) -> None:
    assert as_whom(credential) == text


def test_a_line_names_the_user_where_it_is_not_the_usual_one() -> None:
    stranger = AuthSys(4242, 4242)
    exchanges = [listing(0), listing(0), listing(0, stranger)]
    assert "  as: AUTH_SYS uid 4242, gid 4242" in transcript(exchanges)
    assert ["uid 4242" in line for line in short_transcript(exchanges)] == [False, False, True]
    assert "as AUTH_SYS uid 4242, gid 4242" in summary_line(exchanges[2], 3, usual=ROOT)


def test_a_call_in_one_line() -> None:
    exchange = listing(0)
    assert call_line(exchange).startswith("READDIR dir=646972 (3 bytes), cookie=0, ")
    exchange.procedure, exchange.args = nfs3.LOOKUP, Lookup3Args(Diropargs3(b"\1", b"name\n"))
    assert call_line(exchange) == r"LOOKUP what.dir=01 (1 bytes), what.name='name\n'"
    exchange.procedure = nfs3.RENAME
    exchange.args = Rename3Args(Diropargs3(b"\1", b"a" * 255), Diropargs3(b"\2", b"b"))
    assert call_line(exchange).endswith("..., to.dir=02 (1 bytes), to.name='b'")
    assert len(call_line(exchange)) < 250
    exchange.procedure = None
    assert call_line(exchange) == "a message of 0 bytes that the check wrote byte by byte"


@pytest.mark.parametrize(
    ("verifier", "where"),
    [(b"", "0x000018 (24)"), (b"12345", "0x000020 (32)")],
)
def test_a_dump_says_where_the_results_begin(verifier: bytes, where: str) -> None:
    """An error counts bytes from there, the dump from the beginning of the message."""
    exchange = listing(0)
    head = struct.pack(">5I", 1, 1, 0, 0, len(verifier)) + verifier + bytes(-len(verifier) % 4) + bytes(4)
    exchange.result, exchange.reply = None, head + b"\0\0\0\7"
    exchange.error = XdrError("Readdir3Res.status", "7 is not a value of Nfsstat3", 0)
    lines = full_lines(exchange, 1)
    assert any("Readdir3Res.status" in line for line in lines)
    assert f"  reply bytes; the results begin at {where}:" in lines
    exchange.reply = b"\0" * 10
    assert "  reply bytes:" in full_lines(exchange, 1)


@given(st.integers(0, 500), st.lists(st.integers(0, 499), max_size=3, unique=True), st.integers(12, 100))
def test_a_cut_keeps_what_is_signed(size: int, signed: list[int], most: int) -> None:
    lines = [f"line {number}" for number in range(size)]
    signed = [at for at in signed if at < size]
    kept, places = cut(lines, signed, most)
    assert len(kept) <= most + 4
    assert sorted(kept[at] for at in places) == sorted(lines[at] for at in signed)
    left_out = sum(int(line.split()[1]) for line in kept if line.startswith("..."))
    assert left_out + sum(not line.startswith("...") for line in kept) == size


def test_what_happened_besides_stands_in_its_place_and_is_bounded() -> None:
    first, second = listing(1), listing(1)
    first.sent_at, second.sent_at = 1.0, 3.0
    lines = transcript([first, second], [Besides(2.0, ["sent 2 bytes", "8000"]), Besides(4.0, ["closed"])])
    at = lines.index("- sent 2 bytes")
    assert lines[at + 1] == "    8000"
    assert lines[0].startswith("#1 ")
    assert lines[at + 2].startswith("#2 ")
    assert lines[-1] == "- closed"
    many = [Besides(5.0, [f"sent {number}", "0", "1"]) for number in range(1000)]
    assert len(transcript([first], many)) < MOST_LINES
    assert "- ... 984 more of the same kinds" in transcript([first], many)
    assert short_transcript([], many[:2]) == ["- sent 0", "- sent 1"]
