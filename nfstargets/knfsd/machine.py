# SPDX-License-Identifier: MIT
"""The virtual machine: how User-Mode Linux is started, and what its kernel gets to know."""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from pathlib import Path

from nfstargets.knfsd.options import KnfsdOptions
from nfstargets.process import Network

GUEST = "192.0.2.2"
"""Addresses for documentation (RFC 5737): nobody has them, and the network is of the run alone."""
OURS = ("192.0.2.1", "192.0.2.3")
"""The run's: the first is its usual one, the second makes another client."""
NETWORK = Network("tap0", OURS, "255.255.255.0")
PROGRAMS = Path(__file__).parent / "guest"
MIB = 1 << 20
STATE_SIZE = 32 * MIB
DATA_SIZE = 1024 * MIB


@dataclass(frozen=True, slots=True)
class Disks:
    """The disks of a machine: files below one folder. What is on `state` and `data` survives a crash."""

    folder: Path

    @property
    def image(self) -> Path:
        """The root file system, which is only read: a link, since the console repeats its name, and reports travel."""
        return self.folder / "root.img"

    @property
    def programs(self) -> Path:
        """A tar archive with what runs in the guest."""
        return self.folder / "programs.tar"

    @property
    def state(self) -> Path:
        """What the service remembers: mounts and clients."""
        return self.folder / "memory" / "state.img"

    @property
    def data(self) -> Path:
        """The exported file system."""
        return self.folder / "memory" / "data.img"

    def pack_programs(self) -> None:
        """The programs of the guest, as they are here, for its next start."""
        with tarfile.open(self.programs, "w") as archive:
            archive.add(PROGRAMS / "agent.py", "agent.py")


def guest_settings(options: KnfsdOptions, **where: str) -> list[str]:
    """The words on the kernel's command line that are for the agent. `where`: its devices and its address."""
    settings = {
        **where,
        "fs": options.fs,
        "sync": "async" if options.is_async else "sync",
        # A file system in memory leaves enough for the rest of the guest.
        "size": f"{options.mem * 5 // 8}m",
        "block": str(MIB),
        "threads": str(options.threads),
        "grace": str(options.grace),
        "lease": str(options.lease),
        "versions": "+".join(options.versions),
    }
    return [f"nfsproof.{name}={value}" for name, value in settings.items()]


@dataclass(frozen=True, slots=True)
class UserModeLinux:
    """A kernel that is a process. It needs no privilege but a tap device."""

    kernel: Path

    def command(self, disks: Disks, options: KnfsdOptions, *, plain: bool = False) -> list[str]:
        """The command line. It writes the console on standard output; "{line}" is the line to the agent.

        With `plain` it sends packets as they are on a cable, with checksums and within the MTU.
        """
        settings = guest_settings(
            options,
            programs="/dev/ubdb",
            state="/dev/ubdc",
            data="/dev/ubdd",
            line="/dev/tty1",
            address=f"{GUEST}/24",
            interface="vec0",
            peers=",".join(OURS),
            packets="plain" if plain else "large",
        )
        return [
            str(self.kernel),
            "umid=guest",
            f"uml_dir={disks.folder / 'uml'}",
            f"mem={options.mem}M",
            f"ubd0r={disks.image}",
            f"ubd1r={disks.programs}",
            f"ubd2={disks.state}",
            f"ubd3={disks.data}",
            "root=/dev/ubda",
            "ro",
            "rootfstype=ext4",
            "init=/nfsproof/init",
            # A fixed hardware address: ours remembers it over a restart.
            f"vec0:transport=tap,ifname={NETWORK.name},depth=128,gro=1,mac=02:00:00:00:02:02",
            "con=null",
            "con0=null,fd:1",
            "con1=fd:{line}",
            *settings,
        ]
