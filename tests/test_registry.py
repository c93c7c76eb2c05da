# SPDX-License-Identifier: MIT
"""A protocol is declared once: TOY, one file of tests, appears wherever protocols do, and no room names it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest

from nfsclient.protocol import registry
from nfsclient.protocol.registry import Protocol
from tests.rooms import ROOMS
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[1]
SEEN: t.Final[dict[str, object]] = {
    "registry": True,
    "services": "FULL",
    "statistics": ["toy  COMPOUND", "toy COMPOUND ADD", "toy COMPOUND GET", "toy COMPOUND PUT"],
    "statuses": ["toy1 ADD FULL", "toy1 PUT OK"],
    "transcripts": "COMPOUND PUT value=99; ADD value=2; GET",
    "scripts": ["    from tests import toy"],
    "scripts for a replay": True,
    "port": True,
    "captures": "TOY version 1",
    "captured calls": "7",
    "lint": True,
    "fault plans": ["ADD"],
    "proxy": "toy version 1 COMPOUND",
    "archives": True,
    "policy": [True, "toy"],
    "ids": ["toy/ADD/is-small", ["ADD", "COMPOUND", "GET", "NULL", "PUT"]],
    "causes": ["toy/ADD/x1", "toy/ADD/x2", "RFC 9999 1: ADD: status: expected FULL, got success"],
    "patience": "Toy COMPOUND",
    "what it lacks": ["PUT", ""],
    "first line": "NFSv3 and Toy at port 9, no rpcbind of this server",
    "new-check": [
        "suites/toy/test_add.py",
        "nfsmutants/toy/add.py",
        "RFC 9999 section 3",
        "add-fill-in-is-small",
    ],
}
"""Place -> what is seen of TOY there, in a process in which it was registered."""


@pytest.fixture(scope="module")
def everywhere() -> dict[str, object]:
    """What tests/toy_everywhere.py prints."""
    command = [sys.executable, "-m", "tests.toy_everywhere"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=AT_MOST, check=False)
    assert done.returncode == 0, done.stderr
    return t.cast("dict[str, object]", json.loads(done.stdout))


@pytest.mark.parametrize("place", SEEN)
def test_a_registered_protocol_appears(everywhere: dict[str, object], place: str) -> None:
    assert everywhere[place] == SEEN[place]


def test_scapy_has_its_layers(everywhere: dict[str, object]) -> None:
    pytest.importorskip("scapy")
    assert everywhere["scapy layers"] == "Toy1CompoundCall"


def test_reports_have_its_title(everywhere: dict[str, object]) -> None:
    pytest.importorskip("allure_commons")
    assert everywhere["Allure"] == ["Toy"]


def test_no_room_names_it() -> None:
    naming = [
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if re.search(r"\btoy\b", path.read_text(), re.IGNORECASE)
    ]
    assert naming == []


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="registered twice: nfs3"):
        registry.register(Protocol(name="nfs3", title="NFSv3", rfcs={0: "RFC 1813"}))


def test_every_version_of_a_program_belongs_to_one_protocol() -> None:
    versions = [
        (each.number, each.version) for protocol in registry.protocols() for each in protocol.programs
    ]
    assert len(versions) == len(set(versions))
    assert all(registry.protocol_of_version(*each) is not None for each in versions)


def test_callbacks_are_found_by_their_version_under_any_number_of_clients() -> None:
    found = registry.callback_of(1, 0x4000_0000)
    assert found is not None
    assert found.is_callback
    assert registry.callback_of(1, 100_003) is None
    assert registry.callback_of(7) is None
