# SPDX-License-Identifier: MIT
"""The configuration file of NFS-Ganesha, from values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

EXPORT_KINDS = ("vfs", "mem")
"""Which of Ganesha's back ends (FSAL) can be exported: files of this machine, or its own in memory."""

MEM_FILE_SIZE = 0x20_0000
"""Bytes of each file that /mem keeps, 2 MiB: its maximum. Beyond that it accepts data and returns other data."""

MEM_FILES = 16_384
"""How many of them /mem must have room for: checks of large directories create 10,000."""

TRANSFER = 0x10_0000
"""Bytes of the largest READ and WRITE, 1 MiB: as much as checks move at once, so that they can go beyond it."""

LEASE = 5
"""Seconds: checks wait until leases expire."""

_LOG = """\
LOG {
  Default_Log_Level = EVENT;
  COMPONENTS {
    # It logs each connection that a client resets, and a missing message bus.
    TIRPC = WARN;
    DBUS = FATAL;
  }
  # The exit report in a report quotes it, and reports travel: no name of the machine.
  FORMAT { HOSTNAME = false; EPOCH = false; PROGNAME = false; }
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GaneshaConfig:
    """What differs from one start to the next. All paths are absolute."""

    nfs_port: int
    mount_port: int
    state: Path
    """Folder for what it must remember over a restart (clients of NFSv4)."""
    plugins: Path
    """Folder of its back ends, `libfsalvfs.so` and the like."""
    vfs: Path | None = None
    """Folder to export as /vfs; None: no such export."""
    mem: bool = False
    """Export /mem, which is empty at each start."""
    protocols: tuple[int, ...] = (3, 4)
    """Without 3 there is no MOUNT either."""
    host: str = "127.0.0.1"
    lease: int = LEASE
    """Seconds for which a client of NFSv4 may be silent."""
    grace: int = 0
    """Seconds after a start in which clients of before only reclaim; 0: none."""

    def text(self) -> str:
        blocks = [
            _block(
                "NFS_CORE_PARAM",
                NFS_Port=self.nfs_port,
                MNT_Port=self.mount_port,
                Bind_addr=self.host,
                Protocols=", ".join(map(str, self.protocols)),
                Enable_UDP=True,
                # Locks need NLM, which in turn wants a statd on this machine.
                Enable_NLM=False,
                Enable_RQUOTA=False,
                # NFSv3 mounts by the short names /vfs and /mem as well.
                mount_path_pseudo=True,
                Plugins_Dir=self.plugins,
            ),
            _block(
                "NFSv4",
                Graceless=not self.grace,
                Lease_Lifetime=self.lease,
                Grace_Period=self.grace or 5,
                Minor_Versions="0, 1, 2",
                RecoveryBackend="fs",
                RecoveryRoot=self.state,
                Only_Numeric_Owners=True,
                PNFS_MDS=False,
                PNFS_DS=False,
            ),
            _block("NFS_KRB5", Active_krb5=False, CCacheDir=self.state),
            _block(
                "EXPORT_DEFAULTS",
                Access_Type="RW",
                Squash="No_Root_Squash",
                SecType="sys",
                Transports="UDP, TCP",
            ),
        ]
        if self.vfs is not None:
            blocks.append(_export(1, self.vfs, "vfs"))
        if self.mem:
            blocks.append(_block("MEM", Inode_Size=MEM_FILE_SIZE))
            blocks.append(_export(2, Path("/mem"), "mem"))
        return "\n".join([*blocks, _LOG])


def _export(number: int, path: Path, kind: str) -> str:
    backend = f"  FSAL {{ Name = {kind.upper()}; }}\n"
    return _block(
        "EXPORT",
        Export_Id=number,
        Path=path,
        Pseudo=Path("/", kind),
        MaxRead=TRANSFER,
        MaxWrite=TRANSFER,
        PrefRead=TRANSFER,
        PrefWrite=TRANSFER,
        inner=backend,
    )


def _block(name: str, *, inner: str = "", **settings: int | str | Path) -> str:
    lines = "".join(f"  {key} = {_value(value)};\n" for key, value in settings.items())
    return f"{name} {{\n{lines}{inner}}}\n"


def _value(value: int | str | Path) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    # Paths in quotes: they may hold blanks. Lists of words must stand without.
    return f'"{value}"' if isinstance(value, Path) else str(value)
