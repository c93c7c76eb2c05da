# SPDX-License-Identifier: MIT
"""Captures have exactly the bytes that the server received and sent; and calls have every value of each field.

Captures of every 24th check; of all checks with ``NFSPROOF_EVERY=1``, as in CI. The values need all.
"""

from __future__ import annotations

import struct
import sys
import typing as t
from collections import Counter, defaultdict
from functools import partialmethod
from pathlib import Path

import pytest

from nfsclient.clients.patience import Patience
from nfsclient.protocol import nfs4
from nfsclient.replay import Replay
from nfsclient.rpc.loop import Loop
from nfsclient.xdr import bits_of
from nfsjudge.placing import fragment_sizes, records
from nfsserver.nfs4.values import supported
from nfsserver.server import Server
from nfstargets.embedded import EXPORT, SECOND_EXPORT
from tests.plugin.evidence_run import EvidenceRun
from tests.plugin.recorded_run import Heard
from tests.plugin.settled_run import EVERY
from tests.plugin.test_plugin_wireshark import packets_of
from tests.suites.argument_values import Sent, gaps
from tests.suites.unsent import without_reason

_SYN, _ACK = 2, 16
_LEFT = ("rpc/connections/client-", "rpc/garbage/stream", "recovery/edges/library")
"""Checks whose clients leave without reading what the server sends to them, or send more than it reads: it may have
crashed meanwhile."""
_KEPT_OUT = (
    *("recovery/rewrite/", "faults/packets/", "faults/replayed/"),
    *("nfs3/model/", "nfs4/model/", "nfs4/state_model/"),
)
"""Checks that keep 64 MiB out of their evidence, those in which a bridge makes packets that no client has sent, and
those that record a random program only where it breaks."""

_NOT_REPEATABLE = (
    *("nfs4/", "nfs3/delegations/", "nfs2/delegations/"),
    *("faults/backchannel/", "faults/sessions/", "faults/recovery/stream-cut4"),
    *("recovery/edges/", "recovery/nfs4/", "recovery/nfs4_names/", "recovery/reclaim/"),
    *("recovery/reclaim_delegations/", "recovery/sessions/"),
    *("snfs/CALLBACK/", "snfs/dead/", "snfs/other_versions/waits", "snfs/reclaim/", "snfs/restart/"),
)
"""A script sends the client ids and sessions of the run: a server refuses them. It answers each callback at once, and
sets no knobs."""

Passed: t.TypeAlias = dict[bool, list[bytes]]
"""By whether the client sent it: segments of a stream, or datagrams."""


def passed_in(path: Path) -> dict[tuple[str, int, int], list[Passed]]:
    """(transport, the client's port, the server's port) -> what passed, connection by connection."""
    found: dict[tuple[str, int, int], list[Passed]] = defaultdict(list)
    for _, frame, _ in packets_of(path):
        at = 14 + (frame[14] & 15) * 4
        source, destination = struct.unpack_from(">HH", frame, at)
        is_udp = frame[23] == 17
        payload = frame[at + 8 :] if is_udp else frame[at + 20 :]
        flags = 0 if is_udp else frame[at + 13]
        ports = (source, destination)
        is_client = ("udp" if is_udp else "tcp", *ports) in found
        if is_udp and not is_client and ("udp", *ports[::-1]) not in found:
            is_client = True
            found["udp", *ports].append(defaultdict(list))
        if flags & (_SYN | _ACK) == _SYN:
            is_client = True
            found["tcp", *ports].append(defaultdict(list))
        if payload or is_udp:
            key = ("udp" if is_udp else "tcp", *(ports if is_client else ports[::-1]))
            found[key][-1][is_client].append(payload)
    return found


def _is_cut(there: bytes, here: bytes, name: str) -> bool:
    """Whether the side that received has not read to the end."""
    return here.startswith(there) if name == "received" else there.startswith(here)


def differences(heard: list[Heard], path: Path, *, has_left: bool = False) -> list[str]:
    """What the capture and the server do not agree on."""
    captured, wrong = passed_in(path), list[str]()
    for connection in heard:
        key = (connection["transport"], connection["client"], connection["port"])
        received, sent = ([bytes.fromhex(each) for each in connection[way]] for way in ("received", "sent"))
        if not (received or sent):
            continue
        own: Passed = captured[key].pop(0) if captured[key] else {}
        for name, there, here in (
            ("received", received, own.get(True, [])),
            ("sent", sent, own.get(False, [])),
        ):
            if connection["transport"] == "udp":
                same = there == here
            else:
                far, near = b"".join(there), b"".join(here)
                same = far == near or (has_left and connection["closed"] and _is_cut(far, near, name))
            if not same:
                wrong.append(f"{key} {name}: {[len(x) for x in there][:9]} {[len(x) for x in here][:9]}")
    for key, rest in captured.items():
        wrong += [f"{key}: only in the capture" for passed in rest if any(map(any, passed.values()))]
    return wrong


def test_each_field_of_the_arguments_has_several_values(evidence_run: EvidenceRun) -> None:
    if evidence_run.every != 1:
        pytest.skip(f"needs a run of all checks: {EVERY}=1")
    sent = Sent()
    for connections in evidence_run.heard.values():
        for connection in connections:
            received = [bytes.fromhex(data) for data in connection["received"]]
            is_udp = connection["transport"] == "udp"
            for message in received if is_udp else [data for _, _, data in records(b"".join(received))]:
                sent.add_message(message)
    left, unused = without_reason(gaps(sent, bits_of(supported(nfs4.LATEST_MINOR))))
    assert left == [], "no check sends this: write one, or give the reason in tests/suites/unsent.py"
    assert unused == [], "checks send this now: tests/suites/unsent.py has reasons for nothing"


def test_captures_have_the_bytes_that_the_server_received_and_sent(evidence_run: EvidenceRun) -> None:
    wrong, compared = {}, 0
    for check_id, connections in evidence_run.heard.items():
        check = evidence_run.checks[check_id]
        if check_id.startswith(_KEPT_OUT):
            continue
        if not check.capture:
            assert not connections, check.id
            continue
        compared += 1
        has_left = check.id.startswith(_LEFT)
        if found := differences(connections, evidence_run.report / check.capture, has_left=has_left):
            wrong[check.id] = found
    assert wrong == {}
    assert compared > 2000 // evidence_run.every


# ---------------------------------------------------------------- scripts


def shape(stream: list[bytes], transport: str) -> tuple[object, ...]:
    """What is the same whatever values are in messages: sizes of fragments, and what is called."""
    if transport == "udp":
        return ("udp", *((len(message), message[4:24]) for message in stream))
    whole, found = b"".join(stream), list[object]()
    end = 0
    for begin, end, message in records(whole):
        found.append((tuple(fragment_sizes(whole[begin:end]) or ()), len(message), message[4:24]))
    return ("tcp", *found, len(whole) - end)


class _Impatient:
    """A delegation that a script has left is in the way of its clean-up: nobody waits for its end here."""

    @staticmethod
    def of(loop: Loop) -> Patience:
        return Patience.of(loop, first=0.001, longest=0.001, total=0.01)


def sent_by(script: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[object, ...]]:
    """The shapes of what a script sends, connection by connection, to a new server on its own loop."""
    loop, taps = Loop(), list[tuple[str, list[bytes]]]()
    server = Server(exports=(EXPORT, SECOND_EXPORT))
    server.listen(loop)
    connect, receive = Replay.connect, Replay.receive_record

    def tapped(self: Replay, *args: t.Any, **more: t.Any) -> t.Any:
        loop.catch_up()  # the server accepts connections only while the loop runs
        client, sent = connect(self, *args, **more), list[bytes]()
        client.on_wire = lambda is_sent, data, end: sent.append(data) if is_sent and not end else None
        taps.append((client.core.transport, sent))
        return client

    def said(_text: str) -> None:
        """Nobody reads it."""

    def at_once(self: Replay, client: t.Any, *_: float, **more: t.Any) -> None:
        # The server is in this process: what does not come at once does not come.
        receive(self, client, 0.0, **more)

    url = f"nfs://127.0.0.1{EXPORT}?uid=0&gid=0&rpcbindport={server.port}"
    with monkeypatch.context() as patched:
        patched.setattr("nfsclient.replay.Loop", lambda: loop)
        patched.setattr("nfsclient.replay.nfs4.Patience", _Impatient)
        patched.setattr(Replay, "connect", tapped)
        patched.setattr(Replay, "__init__", partialmethod(Replay.__init__, say=said, timeout=0.2))
        patched.setattr(Replay, "receive_record", at_once)
        patched.setattr(sys, "argv", [str(script), url])
        exec(compile(script.read_text(), str(script), "exec"), {})
        server.close()
    return Counter(shape(sent, transport) for transport, sent in taps if sent)


def test_scripts_send_what_the_server_received(
    evidence_run: EvidenceRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {}
    for check in evidence_run.checks.values():
        if not check.script or check.id.startswith((*_KEPT_OUT, *_NOT_REPEATABLE)):
            continue
        passed = passed_in(evidence_run.report / check.capture)
        wanted = Counter(
            shape(value[True], transport)
            for (transport, _, _), each in passed.items()
            for value in each
            if value.get(True)
        )
        seen = sent_by(evidence_run.report / check.script, monkeypatch)
        if seen != wanted:
            wrong[check.id] = [*(wanted - seen), "instead", *(seen - wanted)]
    assert wrong == {}
