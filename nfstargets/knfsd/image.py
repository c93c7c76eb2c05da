# SPDX-License-Identifier: MIT
"""The guest: a small Debian with the kernel's NFS server, installed into the cache without a loop device.

What has been downloaded is kept until the image is complete, so that a broken installation goes on where it ended.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from nfstargets.cache import InstallError
from nfstargets.recipes import Installable, Workshop

GUEST = Path(__file__).parent / "guest"
SUITE = "bookworm"
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
SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where mke2fs and chroot are, which the PATH of a user may lack."""
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_MIRRORS = (
    ("http://deb.debian.org/debian", SUITE),
    ("http://deb.debian.org/debian", f"{SUITE}-updates"),
    ("http://deb.debian.org/debian-security", f"{SUITE}-security"),
)
_BROKEN_DOWNLOAD = re.compile(
    r".*(failed to fetch|could not resolve|could not connect|unable to connect|connection (failed|timed out)"
    r"|temporary failure|hash sum mismatch|failed to download).*",
    re.IGNORECASE,
)
_FULL_DISK = re.compile(r"no space left on device|not enough free space|enough free space", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Product:
    """What an installation of the guest holds."""

    home: Path

    @property
    def kernel(self) -> Path:
        """The program that is the machine."""
        return self.home / "linux"

    @property
    def image(self) -> Path:
        """The root file system of the guest."""
        return self.home / "root.img"

    @property
    def version(self) -> str:
        """Of the kernel, such as "6.1.176"; "" when it does not say."""
        try:
            return (self.home / "version").read_text().strip()
        except OSError:
            return ""


def build(shop: Workshop, _recipe: Installable) -> None:
    """Downloads the packages and makes the image of them. Raises InstallError, in one line where the cause is known."""
    if platform.machine() not in ("x86_64", "amd64"):
        raise InstallError(
            f"knfsd: Debian has User-Mode Linux for x86-64 only; this machine is {platform.machine()}"
        )
    for tool, package in (("apt-get", "apt"), ("mke2fs", "e2fsprogs"), ("unshare", "util-linux")):
        if _which(tool) is None:
            raise InstallError(f"knfsd needs {tool}, which is not in PATH; get it: apt install {package}")
    free = shutil.disk_usage(shop.into).free // 1_000_000
    if free < ROOM:
        raise InstallError(f"knfsd needs {ROOM} MB in {shop.into.parents[1]}, which has {free} MB free")
    try:
        _download(shop)
        _make(shop, _unpack(shop))
    except InstallError as error:
        raise InstallError(explained(str(error), shop.kept)) from error


def explained(words: str, kept: Path) -> str:
    """One line for a broken download and a full disk, else the words as they are."""
    if _FULL_DISK.search(words):
        return f"knfsd could not be installed: the disk of {kept.parent} is full; {ROOM} MB are needed"
    if (found := _BROKEN_DOWNLOAD.search(words)) is not None:
        what = found.group().strip()
        return f"knfsd could not be installed: a download broke ({what}); the next try goes on from there"
    return words


def _which(tool: str) -> str | None:
    return shutil.which(tool) or shutil.which(tool, path=SYSTEM_FOLDERS)


def _download(shop: Workshop) -> None:
    """All packages into `kept`: apt goes on with a file of which a part has arrived."""
    apt = shop.kept / "apt"
    for name in ("etc", "lists/partial", "archives/partial"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    (apt / "etc/sources.list").write_text("\n".join([*_sources(), ""]))
    settings = {
        # Nothing of this machine's configuration, but how it reaches the network.
        "Dir::Etc::main": "/dev/null",
        "Dir::Etc::parts": "/dev/null",
        "Dir::Etc::sourcelist": apt / "etc/sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": apt / "lists",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt,
        "Dir::Cache::archives": apt / "archives",
        "APT::Architecture": "amd64",
        "APT::Architectures": "amd64",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
    }
    dump = ["apt-config", "dump", '--format=%F "%v";%n', "Acquire::http", "Acquire::https"]
    acquire = shop.run("reading the proxies of apt", *dump)
    config = apt / "apt.conf"
    config.write_text(acquire + "".join(f'{name} "{value}";\n' for name, value in settings.items()))
    shop.run("reading lists of packages", "apt-get", "-q", "update", "--error-on=any", APT_CONFIG=config)
    what = ["?essential", "?priority(required)", "apt", *PACKAGES]
    how = ["-q", "-y", "--download-only", "--no-remove"]
    shop.run("downloading packages (90 MB)", "apt-get", *how, "install", *what, APT_CONFIG=config)


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
        "installing the packages in the guest (a minute)",
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
        *_sources(),
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
    image = shop.into / "root.img"
    with image.open("wb") as file:
        file.truncate(IMAGE_SIZE)
    # The files of the guest belong to root, in the eyes of a namespace at least.
    as_root = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
    how = ["-q", "-F", "-t", "ext4", "-m", "0", "-d"]
    shop.run("making the image", *as_root, _which("mke2fs") or "mke2fs", *how, tree, image)


def _digest() -> str:
    """What the archive depends on, besides the packages themselves."""
    parts = [*map(str.encode, PACKAGES), *((GUEST / name).read_bytes() for name in ("init", "trim"))]
    return sha256(b"\0".join(parts)).hexdigest()[:12]


def _sources() -> list[str]:
    return [f"deb [signed-by={_KEYRING}] {mirror} {suite} main" for mirror, suite in _MIRRORS]


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
