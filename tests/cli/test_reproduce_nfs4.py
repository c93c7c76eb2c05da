# SPDX-License-Identifier: MIT
"""Scripts of checks of NFSv4, on NFS-Ganesha. Skipped where it is not installed or cannot be started."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.plugin.scripting import url_of
from nfsclient.clients.nfs4 import Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.replay import Replay, Story
from nfsclient.url import NfsUrl
from nfsclient.xdr import XdrType
from nfsjudge.records import CheckRecord, read_records
from nfsproof.exits import Exit
from nfstargets import make_target
from nfstargets.base import TargetError
from tests.cli.test_reproduce import python
from tests.needs import needs

pytestmark = needs("ganesha.nfsd")
CHECKS = (
    "nfs4/COMPOUND/no-filehandle[restorefh]",
    "nfs4/CREATE_SESSION/*",
    "nfs4/EXCHANGE_ID/*",
    "nfs4/OPEN/upgrade",
    "nfs4/READDIR/pages*",
    "nfs4/SEQUENCE/*",
    "nfs4/VERIFY/*",
)
_OF_CALL = re.compile(r"#(\d+) COMPOUND .* -> (NFS4\w+)")
_ANSWER = re.compile(r"^  #(\d+) ->.*\n    status: (\w+)", re.MULTILINE)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    made = make_target("ganesha:mem")
    try:
        made.start()
    except TargetError as error:
        if "unshare" in str(error):
            pytest.skip(str(error))
        raise
    yield str(url_of("ganesha:mem", made.address()))
    made.stop()


@pytest.fixture(scope="module")
def checks(url: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[CheckRecord]]:
    """What a run on it leaves."""
    folder = tmp_path_factory.mktemp("run") / "report"
    words = ("run", url, *CHECKS, "--evidence=always", f"--report={folder}", "-q")
    result = python("-m", "nfsproof", *words)
    assert result.returncode == Exit.FAIL, result.stdout + result.stderr
    with (folder / "records.jsonl").open() as lines:
        return folder, [record for record in read_records(lines) if isinstance(record, CheckRecord)]


def test_each_compound_ends_as_it_did(url: str, checks: tuple[Path, list[CheckRecord]]) -> None:
    folder, records = checks
    assert len(records) > 30
    for check in records[::3]:
        result = python(str(folder / check.script), url)
        assert (result.returncode, result.stderr) == (0, ""), check.id
        recorded = dict(_OF_CALL.findall("\n".join(check.transcript)))
        now = dict(_ANSWER.findall(result.stdout))
        assert {number: now.get(number) for number in recorded} == recorded, check.id
        for complaint in ("what was recorded is sent", "not sent", "not removed"):
            assert complaint not in result.stdout, check.id


def test_the_deviation_is_marked(url: str, checks: tuple[Path, list[CheckRecord]]) -> None:
    folder, _ = checks
    words = ("reproduce", CHECKS[0], f"--report={folder}", "--script")
    result = python("-m", "nfsproof", *words)
    assert result.returncode == Exit.OK, result.stderr
    (marked,) = [line for line in result.stdout.splitlines() if "    <-- " in line]
    assert marked.strip().startswith("status: NFS4ERR_RESTOREFH")


def test_a_session_that_was_used_before(url: str) -> None:
    lines: list[str] = []
    replay = Replay(NfsUrl.parse(url), Story("nfs4/fake/check", "FAIL"), say=lines.append)
    sessionid, root = replay.session([2, 1]), replay.root(4)
    client = replay.connect("nfs")
    for number, slot in ((3, 0), (2, 1)):
        operations: list[XdrType] = [p.Sequence4Args(sessionid, number, slot, slot, False), op.putfh(root)]
        reply = replay.call(1, client, p.COMPOUND, p.Compound4Args(b"", 1, operations))
        assert reply.status == p.Nfsstat4.NFS4_OK, lines
    name = replay.fresh_name()
    making: list[XdrType] = [p.Sequence4Args(sessionid, 4, 0, 1, True), op.putfh(root), op.mkdir(name)]
    assert replay.call(3, client, p.COMPOUND, p.Compound4Args(b"", 1, making)).status == p.Nfsstat4.NFS4_OK
    replay.end()
    assert not [line for line in lines if "not removed" in line]
    again = Replay(NfsUrl.parse(url), Story("nfs4/fake/check", "FAIL"), say=lines.append)
    with Nfs4(again.connect("nfs")).establish() as session:
        looked = session.compound(op.putfh(again.root(4)), op.lookup(name))
    again.end()
    assert looked.status == p.Nfsstat4.NFS4ERR_NOENT
