# SPDX-License-Identifier: MIT
"""Captures have exactly the bytes that the server received and sent.

Those of every 24th check; of all checks with ``NFSPROOF_EVERY=1``, as in CI.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import typing as t
from collections import Counter, defaultdict
from pathlib import Path

from nfsjudge.records import CheckRecord, read_records
from tests.plugin.conftest import ROOT
from tests.plugin.recorded_run import HEARD, Heard
from tests.plugin.settled_run import EVERY
from tests.plugin.test_plugin_wireshark import packets_of
from tests.waiting import AT_MOST

_SYN, _ACK = 2, 16

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


def differences(heard: list[Heard], path: Path) -> list[str]:
    """What the capture and the server do not agree on."""
    captured, wrong = passed_in(path), list[str]()
    for one in heard:
        key = (one["transport"], one["client"], one["port"])
        received, sent = ([bytes.fromhex(each) for each in one[way]] for way in ("received", "sent"))
        if not (received or sent):
            continue
        own: Passed = captured[key].pop(0) if captured[key] else {}
        for name, there, here in (
            ("received", received, own.get(True, [])),
            ("sent", sent, own.get(False, [])),
        ):
            if one["transport"] == "udp":
                same = there == here
            else:
                far, near = b"".join(there), b"".join(here)
                # Of a connection that was closed, one side may not have read to the end.
                same = far == near or (
                    one["closed"] and (near.startswith(far) if name == "received" else far.startswith(near))
                )
            if not same:
                wrong.append(f"{key} {name}: {[len(x) for x in there][:9]} {[len(x) for x in here][:9]}")
    for key, rest in captured.items():
        wrong += [f"{key}: only in the capture" for one in rest if any(map(any, one.values()))]
    return wrong


def test_captures_have_the_bytes_that_the_server_received_and_sent(tmp_path: Path) -> None:
    every = int(os.environ.get(EVERY, "24"))
    heard, report = tmp_path / "heard.jsonl", tmp_path / "report"
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        EVERY: str(every),
        HEARD: str(heard),
    }
    plugins = ("-p", "no:cacheprovider", "-p", "tests.plugin.settled_run", "-p", "tests.plugin.recorded_run")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "suites", "-q", *plugins, "--evidence=always", f"--report={report}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        timeout=AT_MOST,
        check=False,
    )
    assert run.returncode == 0, run.stdout.decode()[-2000:]
    with (report / "records.jsonl").open() as lines:
        checks = {one.id: one for one in read_records(lines) if isinstance(one, CheckRecord)}
    compared, wrong = Counter[str](), {}
    for line in heard.read_text().splitlines():
        one = json.loads(line)
        check = checks[one["check"]]
        if not check.capture:
            assert not one["connections"], check.id
            continue
        compared[check.id] += 1
        if found := differences(one["connections"], report / check.capture):
            wrong[check.id] = found
    assert wrong == {}
    assert len(compared) > 2000 // every
