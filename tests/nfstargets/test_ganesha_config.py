# SPDX-License-Identifier: MIT
from __future__ import annotations

from pathlib import Path

from nfstargets.ganesha_config import GaneshaConfig

FOLDER = Path("/scratch/with blank")


def config(**changes: object) -> GaneshaConfig:
    values = {"nfs_port": 21049, "mount_port": 21050, "state": FOLDER / "state", "plugins": Path("/plugins")}
    return GaneshaConfig(**(values | changes))  # type: ignore[arg-type]


def test_blocks_are_balanced_and_settings_end_in_semicolons() -> None:
    text = config(vfs=FOLDER / "vfs", mem=True).text()
    assert text.count("{") == text.count("}")
    for line in text.splitlines():
        stripped = line.strip()
        assert not stripped or stripped.endswith((";", "{", "}")) or stripped.startswith("#"), line


def test_paths_are_quoted() -> None:
    text = config(vfs=FOLDER / "vfs").text()
    assert 'Path = "/scratch/with blank/vfs";' in text
    assert 'RecoveryRoot = "/scratch/with blank/state";' in text


def test_ports_and_address() -> None:
    text = config().text()
    assert "NFS_Port = 21049;" in text
    assert "MNT_Port = 21050;" in text
    assert "Bind_addr = 127.0.0.1;" in text


def test_exports_are_those_asked_for() -> None:
    assert "EXPORT {" not in config().text()
    assert "Name = VFS;" in config(vfs=FOLDER).text()
    assert "Name = MEM;" not in config(vfs=FOLDER).text()
    assert 'Pseudo = "/mem";' in config(mem=True).text()
