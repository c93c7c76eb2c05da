# SPDX-License-Identifier: MIT
"""A server of NFSv4 only: no MOUNT, no rpcbind. On NFS-Ganesha; skipped where it cannot be started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nfsclient.discovery.nfs4 import discover
from nfsclient.errors import MountFailed
from nfsclient.url import NfsUrl
from nfsjudge.records import CheckRecord, read_records
from nfsproof.exits import Exit
from nfstargets import make_target
from nfstargets.base import TargetError
from nfstargets.diagnosis import Outcome, diagnose
from nfstargets.ganesha import GaneshaTarget
from tests.cli.test_reproduce import python
from tests.needs import needs

pytestmark = needs("ganesha.nfsd")


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    made = GaneshaTarget("mem,vers=4")
    try:
        made.start()
    except TargetError as error:
        if "unshare" in str(error):
            pytest.skip(str(error))
        raise
    address = made.address()
    assert (address.version, address.mount_port) == (4, 0)
    yield f"nfs://{address.host}:{address.nfs_port}"
    made.stop()


def checks_of(folder: Path) -> dict[str, CheckRecord]:
    with (folder / "records.jsonl").open() as lines:
        return {record.id: record for record in read_records(lines) if isinstance(record, CheckRecord)}


def test_a_run_needs_neither_mount_nor_rpcbind(host: str, tmp_path: Path) -> None:
    some = (
        "nfs4/LOOKUP",
        "nfs3/NULL",
        "mount/NULL",
        "portmap/NULL",
        "rpc/header/unknown-procedure*",
    )
    words = ("run", f"{host}/mem?version=4.1&uid=0&gid=0", *some, "-q", "--lint=fail")
    result = python("-m", "nfsproof", *words, "--minor=all", f"--report={tmp_path}")
    assert result.returncode == Exit.OK, result.stdout
    checks = checks_of(tmp_path)
    verdicts = {name: check.verdict for name, check in checks.items()}
    assert {verdict for name, verdict in verdicts.items() if name.startswith("nfs4/") and "4.1" in name} == {
        "PASS"
    }
    later = [record for name, record in checks.items() if "[4.2]" in name]
    assert later
    assert all("the URL of the target says version=4.1" in record.reason for record in later)
    assert verdicts["rpc/header/unknown-procedure[last+1-tcp]"] == "PASS"
    others = [
        verdict for name, verdict in verdicts.items() if name.split("/")[0] in {"nfs3", "mount", "portmap"}
    ]
    assert set(others) == {"UNSUPPORTED"}


def test_a_url_without_a_version_goes_on_with_version_4(host: str, tmp_path: Path) -> None:
    words = ("run", f"{host}/mem?uid=0&gid=0", "nfs4/LOOKUP", "nfs3/NULL", f"--report={tmp_path}")
    result = python("-m", "nfsproof", *words)
    assert result.returncode == Exit.OK, result.stdout
    assert "found: NFSv4.1 and NFSv4.2 at port" in result.stdout
    assert "no NFSv3, but NFSv4.1 and NFSv4.2" in result.stdout
    verdicts = {name.split("/")[0]: check.verdict for name, check in checks_of(tmp_path).items()}
    assert verdicts == {"nfs4": "PASS", "nfs3": "UNSUPPORTED"}
    required = python("-m", "nfsproof", "run", f"{host}/mem?version=3&uid=0&gid=0", "nfs3/NULL")
    assert required.returncode == Exit.USAGE


def test_version_4_2_has_the_checks_of_both(host: str, tmp_path: Path) -> None:
    words = ("run", f"{host}/mem?version=4.2&uid=0&gid=0", "nfs4/LOOKUP", "-q", f"--report={tmp_path}")
    result = python("-m", "nfsproof", *words)
    assert result.returncode == Exit.OK, result.stdout
    assert {check.verdict for check in checks_of(tmp_path).values()} == {"PASS"}


@pytest.mark.parametrize("version", ["4", "4.1", "4.2"])
def test_the_doctor_finds_it_healthy(host: str, version: str) -> None:
    diagnosis = diagnose(f"{host}/mem?version={version}&uid=0&gid=0", patience=60)
    assert diagnosis.healthy, diagnosis.render()
    names = [step.name for step in diagnosis.steps]
    wanted = [
        "name",
        "port",
        "RPC version",
        "NFS",
        "session",
        "privileged port",
        "path",
        "write access",
        "root squash",
    ]
    assert names == wanted
    assert diagnosis.step("root squash").seen == "root stays root"
    minor = "1" if version == "4.1" else "2"
    assert diagnosis.step("session").seen == f"NFSv4.{minor} gives one"


def test_what_is_wrong_is_said(host: str) -> None:
    diagnosis = diagnose(f"{host}/mem/nothing?version=4.1", patience=60)
    assert diagnosis.step("path").outcome is Outcome.FAILED
    assert (
        "expected /mem/nothing in the name space of the server, saw NFS4ERR_NOENT"
        in diagnosis.step("path").seen
    )
    assert diagnosis.step("write access").outcome is Outcome.NOT_TRIED
    old = diagnose(f"{host}/mem?version=3&mountport=1", patience=60)
    assert "version=4.1 in the URL" in old.step("NFS").advice


def test_discovery(host: str) -> None:
    found = discover(NfsUrl.parse(f"{host}/mem?version=4&uid=0&gid=0"))
    assert (found.minor, found.path) == (2, b"/mem")
    with pytest.raises(MountFailed, match="expected /nothing in the name space"):
        discover(NfsUrl.parse(f"{host}/nothing/below?version=4.1"))


def test_the_target_knows_its_address_again(host: str) -> None:
    target = make_target(f"{host}/mem?version=4.1")
    target.start()
    address = target.address()
    assert (address.version, address.minor, address.export, address.inside) == (4, 1, "/mem", "")
    assert type(address).from_plain(address.to_plain()) == address
