# SPDX-License-Identifier: MIT
"""A virtual machine of QEMU: needs no privilege at all, and emulates the processor, so it is about ten times slower."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nfstargets.base import TargetError
from nfstargets.knfsd.machine import Disks, guest_settings
from nfstargets.knfsd.options import KnfsdOptions

PROGRAM = "qemu-system-x86_64"
HOST = "127.0.0.1"
ADDRESS = "10.0.2.15/24"
"""That QEMU forwards to."""
GATEWAY = "10.0.2.2"
"""What all callers have as their address in its view; for the guest, loopback of this machine."""
_INSIDE = (2049, 20048)


def find_qemu() -> Path:
    """The program. Raises TargetError that says how to get it."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise TargetError(
            f"knfsd:qemu needs {PROGRAM}, which is not in PATH; get it: apt install --no-install-recommends "
            "qemu-system-x86"
        )
    return Path(found)


@dataclass(frozen=True, slots=True)
class Qemu:
    """An emulated machine. The run reaches its services by ports of loopback."""

    program: Path
    home: Path
    """The installation of its kernel."""

    def command(self, disks: Disks, options: KnfsdOptions, ports: tuple[int, ...]) -> list[str]:
        """The command line. It writes the console on standard output; "{line}" is the line to the agent."""
        settings = guest_settings(
            options,
            programs="/dev/vdc",
            state="/dev/vdd",
            data="/dev/vde",
            line="/dev/ttyS1",
            address=ADDRESS,
            interface="eth0",
            peers=GATEWAY,
        )
        forwards = "".join(
            f",hostfwd={kind}:{HOST}:{port}-:{inside}"
            for port, inside in zip(ports, _INSIDE, strict=True)
            for kind in ("tcp", "udp")
        )
        files = {
            disks.image: "on",
            self.home / "modules.img": "on",
            disks.programs: "on",
            disks.state: "off",
            disks.data: "off",
        }
        return machine(self.program, self.home, files, options.mem, settings, forwards)


def machine(
    program: Path, home: Path, disks: Mapping[Path, str], memory: int, settings: Iterable[str], forwards: str
) -> list[str]:
    """The command line of a machine: `disks` in their order, with "on" for those that are only read; MiB of memory."""
    words = ["console=ttyS0", "quiet", "panic=-1", "mitigations=off", "net.ifnames=0", *settings]
    # Without locks, since User-Mode Linux locks the image, to which nobody writes. What the guest has flushed is
    # with the kernel of this machine, which does not crash.
    drives = [
        word
        for path, is_read in disks.items()
        for word in (
            "-drive",
            f"file={_escaped(path)},file.locking=off,if=virtio,format=raw,cache=unsafe,readonly={is_read}",
        )
    ]
    return [
        str(program),
        *("-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "1", "-m", str(memory)),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
        *("-chardev", "socket,id=line,fd={line}", "-serial", "chardev:line"),
        *drives,
        # Not with restrict=on, which lets no answer over UDP pass.
        *("-nic", f"user,model=virtio-net-pci{forwards}"),
        *("-kernel", str(home / "linux"), "-initrd", str(home / "first.img")),
        *("-append", " ".join(words)),
    ]


def _escaped(path: Path) -> str:
    """For an option of QEMU, where commas part the words."""
    return os.fspath(path).replace(",", ",,")
