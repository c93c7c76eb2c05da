# SPDX-License-Identifier: MIT
"""The guest: a small Debian with the kernel's NFS server, installed into the cache without a loop device.

What has been downloaded is kept until the image is complete, so that a broken installation goes on where it ended.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from nfstargets.cache import InstallError
from nfstargets.knfsd.packages import (
    SUITE,
    Apt,
    check_machine,
    check_room,
    check_tools,
    explained,
    make_image,
    sources,
)
from nfstargets.recipes import Installable, Workshop

GUEST = Path(__file__).parent / "guest"
PACKAGES = (
    "user-mode-linux",
    "nfs-kernel-server",
    "nfs-common",
    "rpcbind",
    "python3",
    "iproute2",
    "kmod",
    "netbase",
    "busybox-static",
    "xfsprogs",
    # What a client builds with.
    "make",
    "tcc",
    "libc6-dev",
)
IMAGE_SIZE = 400 << 20
"""Of the guest's root file system; two thirds are filled, the rest takes no room."""
ROOM = 1500
"""MB that an installation needs while it is made; 350 stay."""


@dataclass(frozen=True, slots=True)
class Product:
    """The installations of the guest and of the kernel that it boots, often one."""

    home: Path
    kernel_home: Path

    @property
    def kernel(self) -> Path:
        """The kernel, of User-Mode Linux the program that is the machine."""
        return self.kernel_home / "linux"

    @property
    def image(self) -> Path:
        """The root file system of the guest."""
        return self.home / "root.img"

    @property
    def version(self) -> str:
        """Of the kernel, such as "6.1.176"; "" when it does not say."""
        try:
            return (self.kernel_home / "version").read_text().strip()
        except OSError:
            return ""


def build(shop: Workshop, recipe: Installable) -> None:
    """Downloads the packages and makes the image of them. Raises InstallError, in one line where the cause is known."""
    check_machine(recipe.name)
    check_tools(recipe.name, {"apt-get": "apt", "mke2fs": "e2fsprogs", "unshare": "util-linux"})
    check_room(shop, recipe.name, ROOM)
    try:
        _download(shop)
        _make(shop, _unpack(shop))
    except InstallError as error:
        raise InstallError(explained(str(error), shop.kept, ROOM)) from error


def _download(shop: Workshop) -> None:
    """All packages into `kept`: apt goes on with a file of which a part has arrived."""
    apt = Apt(shop)
    apt.read_lists()
    what = ["?essential", "?priority(required)", "apt", *PACKAGES]
    apt.get("downloading packages (90 MB)", "-y", "--download-only", "--no-remove", "install", *what)


def _unpack(shop: Workshop) -> Path:
    """The system of the guest in an archive, made by mmdebstrap of the packages in `kept`."""
    archive = shop.kept / f"system-{_digest()}.tar"
    if archive.exists():
        return archive
    part = archive.with_suffix(".part")
    fill = 'mkdir -p "$1/var/cache/apt/archives" && cp "$NFSPROOF_DEBS"/*.deb "$1/var/cache/apt/archives/"'
    # As root it mounts /proc, /sys and /dev in what it makes. In a private namespace these mounts end with it, also
    # after kill -9: whoever removes what it left must not find the files of this machine there.
    privately = ["unshare", "--mount", "--propagation=private"] if os.geteuid() == 0 else []
    shop.run(
        "installing the packages in the guest",
        *privately,
        "mmdebstrap",
        "--variant=minbase",
        "--architectures=amd64",
        "--format=tar",
        f"--include={','.join(PACKAGES)}",
        '--aptopt=Acquire::Retries "3"',
        f"--setup-hook={fill}",
        '--customize-hook=sh "$NFSPROOF_GUEST/trim" "$1"',
        SUITE,
        part,
        *sources(),
        NFSPROOF_DEBS=shop.kept / "apt/archives",
        NFSPROOF_GUEST=GUEST,
    )
    return part.rename(archive)


def _make(shop: Workshop, archive: Path) -> None:
    """The image of the archive, without mounting anything."""
    tree = shop.scratch / "tree"
    tree.mkdir()
    shop.run("unpacking the guest", "tar", "-x", "-C", tree, "--exclude=./dev/*", "-f", archive)
    (tree / "usr/bin/linux.uml").rename(shop.into / "linux")
    shutil.copyfile(tree / "nfsproof/version", shop.into / "version")
    make_image(shop, tree, shop.into / "root.img", IMAGE_SIZE)


def _digest() -> str:
    """What the archive depends on, besides the packages themselves."""
    parts = [*map(str.encode, PACKAGES), *((GUEST / name).read_bytes() for name in ("init", "trim"))]
    return sha256(b"\0".join(parts)).hexdigest()[:12]


KNFSD = Installable(
    name="knfsd",
    title="Linux kernel NFS server (User-Mode Linux)",
    version="6.1",
    licence="GPL-2.0",
    tool="mmdebstrap",
    tool_from="mmdebstrap, apt and e2fsprogs: apt install mmdebstrap e2fsprogs debian-archive-keyring",
    build=build,
    serves="NFS 3, 4 and MOUNT 1, 2, 3 over TCP and UDP",
    marks=(GUEST / "init", GUEST / "trim"),
)
