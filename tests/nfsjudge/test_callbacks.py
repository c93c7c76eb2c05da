# SPDX-License-Identifier: MIT
"""Callbacks in evidence: what the server says stands in their arguments, and the call comes from the server."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.exchange import Segment
from nfsclient.rpc.record import fragment
from nfsjudge import Nonconformance, expect
from nfsjudge.capture import write_capture
from nfsjudge.lint import lint
from nfsjudge.messages import Mark, message_records
from nfsjudge.placing import Placing, made_up
from nfsjudge.pointing import locate
from nfsjudge.reproduce import write_script
from nfsjudge.transcript import call_line, full_lines, summary_line, transcript
from tests.needs import needs
from tests.nfsjudge.callbacks import CLIENT, SERVER, callback
from tests.nfsjudge.test_capture import blocks
from tests.nfsjudge.test_reproduce import STORY, assert_only_data
from tests.nfsjudge.test_reproduce_nfs4 import (
    FIRST,
    SETTING,
    compound,
    create_session,
    exchange_id,
    sequence,
)
from tests.waiting import AT_MOST

PATH = "argarray[1].stateid.seqid"


def test_a_claim_about_an_argument_of_a_callback_marks_it() -> None:
    exchange = callback()
    recall = exchange.args.argarray[1]
    with pytest.raises(Nonconformance) as failed:
        expect(recall.stateid).field("seqid", "seqid of the stateid").equals(0)
    later = compound(sequence(1), at=2.0)
    assert locate([exchange, later], failed.value.subject, failed.value.field) == (exchange.args, PATH)
    assert exchange.is_about(exchange.args)
    assert exchange.is_about(recall)
    assert not exchange.is_about(exchange.result)
    assert exchange.path_of(recall, "stateid.seqid") == PATH
    assert exchange.path_of(exchange.args, PATH) == PATH


def test_a_transcript_says_who_called_and_points_into_the_call() -> None:
    exchange = callback()
    lines = full_lines(exchange, 5, mark=PATH, note="expected 0")
    assert lines[0] == "#5 callback CB_COMPOUND (CB_SEQUENCE, CB_RECALL) xid 0x0000004d -> NFS4_OK (250.0 ms)"
    assert "  call of the server:" in lines
    assert [line.strip() for line in lines if "<--" in line] == ["seqid: 1    <-- expected 0"]
    assert "callback" in summary_line(exchange, 5)
    assert call_line(exchange, exchange.args, PATH).startswith(
        "CB_RECALL (operation 2 of CB_SEQUENCE, CB_RECALL) stateid"
    )
    whole = transcript(
        [exchange, compound(sequence(1), at=2.0)], subject=exchange.args, field=PATH, note="expected 0"
    )
    assert sum("<--" in line for line in whole) == 1


def test_a_message_of_a_record_points_into_the_call() -> None:
    exchange = callback()
    call, reply = message_records([exchange], marks=[Mark(callback().args, PATH)])
    assert (call.deviating, reply.deviating) == ([], []), "equal, but another callback's"
    call, reply = message_records([exchange], marks=[Mark(exchange.args, PATH, "FAIL")])
    assert [call.fields[at].strip() for at in call.deviating] == ["seqid: 1"]
    assert reply.deviating == []


def test_its_call_comes_from_the_server() -> None:
    exchange = callback()
    assert [segment.sent for segment in made_up([exchange], set())] == [False, True]
    segments = [
        Segment(1.0, False, fragment(exchange.call, ()), SERVER, "tcp", CLIENT, 1),
        Segment(1.2, True, fragment(exchange.reply or b"", ()), SERVER, "tcp", CLIENT, 1),
    ]
    placing = Placing([exchange], segments)
    assert [placing.call_of[0].sent, placing.reply_of[0].sent] == [False, True]
    assert not list(placing.left(lambda message: message.exchange is not None))


def test_a_capture_has_the_note_at_the_call(tmp_path: Path) -> None:
    path = tmp_path / "c.pcapng"
    write_capture(path, [callback()], notes={1: "FAIL: the seqid is 1"})
    packets = [body for kind, body in blocks(path.read_bytes()) if kind == 6]
    (call,) = [body for body in packets if b"exchange #1: callback CB_COMPOUND" in body]
    assert b"FAIL: the seqid is 1" in call
    (reply,) = [body for body in packets if b"exchange #1: the reply" in body]
    assert b"FAIL" not in reply


@needs("tshark")
def test_tshark_reads_a_callback(tmp_path: Path) -> None:
    path = tmp_path / "c.pcapng"
    write_capture(path, [callback()])
    fields = ["-e", "tcp.srcport", "-e", "rpc.msgtyp", "-e", "rpc.program", "-e", "nfs.stateid.other"]
    command = [
        "tshark",
        "-n",
        "-r",
        str(path),
        "-d",
        "tcp.port==2049,rpc",
        "-Y",
        "rpc",
        "-T",
        "fields",
        *fields,
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=AT_MOST)
    call, reply = (line.split("\t") for line in result.stdout.splitlines())
    assert call[:3] == ["2049", "0", str(p.CB_COMPOUND.program)]
    assert reply[1] == "1"


def test_the_lint_counts_it_and_does_not_judge_it() -> None:
    first, last = compound(sequence(1)), compound(sequence(2), at=2.0)
    last.call = first.call = b"a call"
    assert lint([first, callback(1.5, seqid=0), last]) == []
    last.call = b""  # a reply without a call: its number counts the callback
    assert [finding.number for finding in lint([first, callback(1.5, seqid=0), last])] == [3]


def test_a_script_waits_for_it() -> None:
    exchange = callback(at=3.0)
    exchanges = [compound(exchange_id()), compound(create_session(FIRST), at=2.0), exchange]
    for other in exchanges:
        other.peer, other.local = SERVER, CLIENT
    text = write_script(STORY, SETTING, exchanges, marks=[Mark(exchange.args, PATH, "FAIL: seqid")])
    assert_only_data(text)
    line = f"replay.callback(3, c1, 'CB_SEQUENCE, CB_RECALL', deviates={PATH!r}, note='FAIL: seqid')"
    assert line in text.splitlines()
