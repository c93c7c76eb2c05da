# SPDX-License-Identifier: MIT
"""Messages in records: complete, within bounds, and never without what the verdict is about."""

from __future__ import annotations

from nfsclient.errors import RpcTimeout
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.exchange import Exchange, RawBytes
from nfsjudge.messages import MOST_FIRST, MOST_LAST, MOST_LINES, Mark, message_records


def listing(count: int, *, at: float = 1.0, long: bool = False) -> Exchange:
    attributes = p.Fattr3(
        p.Ftype3.NF3REG, 0o644, 1, 0, 0, 5, 5, p.Specdata3(0, 0), 1, 2,
        p.Nfstime3(1, 2), p.Nfstime3(1, 2), p.Nfstime3(1, 2),
    )  # fmt: skip
    entries = [
        p.Entryplus3(n, b"\x1b[31m" + b"x" * (3000 if long else 3), n, attributes, b"\x01" * 16)
        for n in range(count)
    ]
    result = p.Readdirplus3Res(
        p.Nfsstat3.NFS3_OK, resok=p.Readdirplus3ResOk(attributes, bytes(8), entries, True)
    )
    args = p.Readdirplus3Args(b"\x01" * 16, 0, bytes(8), 4096, 65536)
    return Exchange(
        7, p.READDIRPLUS, args, AuthNone(), b"call", at, "127.0.0.1:2049", "tcp",
        reply=b"reply", result=result, received_at=at + 0.5,
    )  # fmt: skip


def test_a_call_and_a_reply_with_their_fields_and_times() -> None:
    call, reply = message_records([listing(1)], began=0.25)
    assert (call.number, call.time, call.direction) == (1, 0.75, "call")
    assert (reply.number, reply.time, reply.direction) == (1, 1.25, "reply")
    assert call.fields[0] == "credential: AUTH_NONE"
    assert call.fields[1].startswith("dir: 0101")
    assert "count: 4096" in " ".join(call.fields) or "dircount: 4096" in " ".join(call.fields)
    assert reply.deviating == []


def test_a_long_listing_is_cut_with_a_line_that_says_so() -> None:
    _, reply = message_records([listing(10_000, long=True)])
    assert len(reply.fields) <= MOST_LINES + 4
    assert "lines are left out" in " ".join(reply.fields)
    assert max(map(len, reply.fields)) < 500
    assert "\x1b" not in "".join(reply.fields)


def test_the_deviating_field_survives_the_cut() -> None:
    listed = listing(10_000)
    mark = Mark(listed.result, "resok.reply_entries[7777].fileid", "expected another")
    field = next(iter(p.Readdirplus3ResOk.__xdr_fields__[2:3]))
    mark = Mark(listed.result, f"resok.{field}[7777].fileid", "expected another")
    _, reply = message_records([listed], marks=[mark])
    (at,) = reply.deviating
    assert reply.fields[at].strip() == "fileid: 7777"
    assert len(reply.fields) <= MOST_LINES + 4


def test_without_a_field_the_whole_reply_is_marked_at_its_first_line() -> None:
    first, other = listing(1), listing(1, at=3.0)
    records = message_records([first, other], marks=[Mark(other)])
    assert [record.deviating for record in records] == [[], [], [], [0]]


def test_equal_replies_are_distinguished() -> None:
    first, other = listing(1), listing(1, at=3.0)
    records = message_records([first, other], marks=[Mark(first.result, "status")])
    assert [record.deviating for record in records] == [[], [0], [], []]


def test_of_many_messages_the_first_the_last_and_the_marked_are_kept() -> None:
    many = [listing(0, at=float(n)) for n in range(1000)]
    records = message_records(many, marks=[Mark(many[400].result, "status")])
    assert len(records) <= MOST_FIRST + MOST_LAST + 6
    assert records[0].number == 1
    assert records[-1].number == 1000
    assert any(record.number == 401 and record.deviating for record in records)
    summaries = [record.summary for record in records if record.direction == ""]
    assert len(summaries) == 2
    assert "messages are left out" in summaries[0]


def test_a_call_without_an_answer_says_why() -> None:
    lost = Exchange(
        7, p.NULL, None, AuthNone(), b"call", 1.0, "x:1", "udp", error=RpcTimeout("NULL\x1b", 2.0), resent=2
    )
    call, none = message_records([lost], marks=[Mark(lost)])
    assert "sent 3 times" in call.summary
    assert none.summary.startswith("no reply: NULL\\x1b was not answered")
    assert "\x1b" not in none.summary
    assert none.deviating == [0]


def test_bytes_outside_calls_have_no_number_and_are_not_shown_twice() -> None:
    message = b"\x00\x00\x00\x07" + bytes(30)
    known = Exchange(7, None, None, None, message, 1.0, "x:1", "tcp")
    raw = [
        RawBytes(0.5, True, b"\x80\x00\x00\x22" + message, "x:1", "tcp"),
        RawBytes(0.6, True, b"other", "x:1", "tcp"),
        RawBytes(0.7, False, b"strange", "x:1", "tcp"),
    ]
    records = message_records([known], raw)
    assert [(record.number, record.direction) for record in records] == [
        (0, "call"),
        (0, "reply"),
        (1, "call"),
    ]
