# SPDX-License-Identifier: MIT
"""A kernel for the guest from Debian's packages, for QEMU: newer than that of User-Mode Linux, with its modules.

Its disks and its network need modules, so a first file system in memory loads them, and then the guest's own starts.
"""

from __future__ import annotations

import lzma
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from nfstargets.cache import InstallError
from nfstargets.knfsd.image import GUEST, KNFSD
from nfstargets.knfsd.packages import (
    Apt,
    check_machine,
    check_room,
    check_tools,
    explained,
    found_tool,
    make_image,
)
from nfstargets.recipes import Installable, Workshop

KERNEL = "linux-image-6.12-cloud-amd64"
FIRST = GUEST / "first"
ROOM = 400
"""MB that it needs while it is made; 60 stay."""
TOOLS = {"dpkg-deb": "dpkg", "depmod": "kmod", "mke2fs": "e2fsprogs", "unshare": "util-linux"}
_NEEDED_FIRST = ("virtio_blk", "virtio_net")
_IMAGE_SIZE = 128 << 20
_FOLDER, _PROGRAM = 0o040755, 0o100755


def build(shop: Workshop, recipe: Installable) -> None:
    """Downloads the kernel and makes its disk of modules. Raises InstallError, in one line where the cause is known."""
    check_machine(recipe.name)
    check_tools(recipe.name, TOOLS)
    check_room(shop, recipe.name, ROOM)
    try:
        _make(shop, _unpack(shop))
    except InstallError as error:
        raise InstallError(explained(str(error), shop.kept, ROOM)) from error


def _unpack(shop: Workshop) -> Path:
    apt = Apt(shop)
    apt.read_lists()
    tree = shop.scratch / "tree"
    apt.unpack("downloading the kernel (35 MB)", apt.meant_by(KERNEL), tree)
    apt.unpack("downloading busybox", "busybox-static", tree)
    return tree


def _make(shop: Workshop, tree: Path) -> None:
    kernel = next((tree / "boot").glob("vmlinuz-*"))
    version = kernel.name.removeprefix("vmlinuz-")
    shop.run("listing its modules", found_tool("depmod") or "depmod", "-b", tree, version)
    modules = tree / "lib/modules"
    make_image(shop, modules, shop.into / "modules.img", _IMAGE_SIZE)
    files = {"init": FIRST.read_bytes(), "bin/busybox": (tree / "bin/busybox").read_bytes()}
    needed = in_order((modules / version / "modules.dep").read_text(), _NEEDED_FIRST)
    for number, name in enumerate(needed):
        module = modules / version / name
        packed = module.read_bytes()
        data = lzma.decompress(packed) if module.suffix == ".xz" else packed
        files[f"modules/{number:02}-{module.name.removesuffix('.xz')}"] = data
    (shop.into / "first.img").write_bytes(archive_of(files))
    shutil.copyfile(kernel, shop.into / "linux")
    (shop.into / "version").write_text(version + "\n")


def in_order(dependencies: str, names: Iterable[str]) -> list[str]:
    """The modules with these names and all that they need, in the order in which they can be loaded.

    `dependencies`: modules.dep(5), in which those that are needed first come last. What is built in is not there.
    """
    found: list[str] = []
    lines = dict(line.split(":", 1) for line in dependencies.splitlines())
    for name in names:
        for path, needed in lines.items():
            if Path(path).name.partition(".")[0] == name:
                found += [*reversed(needed.split()), path]
    return list(dict.fromkeys(found))


def archive_of(files: Mapping[str, bytes]) -> bytes:
    """A file system in memory as the kernel takes it: an archive of cpio ("newc") with programs and their folders."""
    folders = ["dev", "proc", "root", *sorted({str(Path(name).parent) for name in files} - {"."})]
    members = [(name, _FOLDER, b"") for name in folders]
    members += [(name, _PROGRAM, data) for name, data in files.items()]
    parts = [_member(number, *member) for number, member in enumerate(members, 1)]
    return b"".join([*parts, _member(0, "TRAILER!!!", 0, b"")])


def _member(number: int, name: str, mode: int, data: bytes) -> bytes:
    path = name.encode() + b"\0"
    numbers = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
    head = b"070701" + b"".join(b"%08x" % value for value in numbers) + path
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


KNFSD_QEMU = Installable(
    name="knfsd:qemu",
    title="kernel of knfsd for QEMU",
    version="6.12",
    licence="GPL-2.0",
    tool="apt-get",
    tool_from="apt",
    build=build,
    serves="NFS 3, 4 and MOUNT 1, 2, 3 over TCP and UDP",
    marks=(FIRST,),
    needs=(KNFSD,),
)
