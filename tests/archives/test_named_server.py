# SPDX-License-Identifier: MIT
"""A server that tells its host name in NFSv4: NFS-Ganesha under another name; skipped where it cannot be started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nfsproof.exits import Exit
from nfstargets.base import TargetError
from nfstargets.ganesha import GaneshaTarget
from nfstargets.process import KeptServer
from tests.archives.conftest import contents
from tests.archives.test_identity import board_of, leaks
from tests.cli.test_reproduce import python
from tests.needs import needs

pytestmark = needs("ganesha.nfsd", "unshare")
NAME = "acme-filer01"


class NamedGanesha(GaneshaTarget):
    """One on a machine with another name."""

    def command(self, server: KeptServer, ports: tuple[int, ...]) -> list[str]:
        script = 'hostname "$0" && exec "$@"'
        return ["unshare", "--uts", "sh", "-c", script, NAME, *super().command(server, ports)]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    made = NamedGanesha("mem,vers=4")
    try:
        made.start()
    except TargetError as error:
        if "unshare" in str(error):
            pytest.skip(str(error))
        raise
    address = made.address()
    yield f"nfs://{address.host}:{address.nfs_port}/mem?version=4.1&uid=0&gid=0"
    made.stop()


def test_its_archive_and_board_do_not_tell_it(url: str, tmp_path: Path) -> None:
    run, archive = tmp_path / "run", tmp_path / "a.tar.gz"
    some = ("nfs4/OPEN/change-info", "nfs4/EXCHANGE_ID", "nfs4/CREATE_SESSION")
    result = python("-m", "nfsproof", "run", url, *some, "-q", "--evidence=always", f"--report={run}")
    assert result.returncode in {Exit.OK, Exit.FAIL}, result.stdout + result.stderr
    raw = {str(path): path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert leaks(raw, [NAME]), "the server has not told its name"
    result = python("-m", "nfsproof", "archive", str(run), "--label", "Server D", "--output", str(archive))
    assert result.returncode == Exit.OK, result.stdout + result.stderr
    words = [NAME, "filer01", "ganesha"]
    assert leaks(contents(archive), words) == []
    assert leaks(board_of(archive, tmp_path / "board"), words) == []
    assert b'"anonymous": true' in contents(archive)["manifest.json"]
