# SPDX-License-Identifier: MIT
"""What the installations of the guest and of its kernels share: Debian's packages, disks, and what is missing.

Nothing of this machine's apt is used but how it reaches the network, and nothing of it is changed.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from nfstargets.cache import InstallError
from nfstargets.recipes import Workshop

SUITE = "bookworm"
SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where mke2fs, depmod and chroot are, which the PATH of a user may lack."""
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


def sources() -> list[str]:
    """The lines of sources.list."""
    return [f"deb [signed-by={_KEYRING}] {mirror} {suite} main" for mirror, suite in _MIRRORS]


class Apt:
    """Debian's package manager with lists and archives below `kept`: it goes on with a file that is there in part."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop
        self.folder = shop.kept / "apt"
        self._config = self.folder / "apt.conf"

    def read_lists(self) -> None:
        """What packages there are. Raises InstallError."""
        for name in ("etc", "lists/partial", "archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        (self.folder / "etc/sources.list").write_text("\n".join([*sources(), ""]))
        settings = {
            # Nothing of this machine's configuration, but how it reaches the network.
            "Dir::Etc::main": "/dev/null",
            "Dir::Etc::parts": "/dev/null",
            "Dir::Etc::sourcelist": self.folder / "etc/sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State::lists": self.folder / "lists",
            "Dir::State::status": self.folder / "status",
            "Dir::Cache": self.folder,
            "Dir::Cache::archives": self.folder / "archives",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
        }
        dump = ["apt-config", "dump", '--format=%F "%v";%n', "Acquire::http", "Acquire::https"]
        acquire = self._shop.run("reading the proxies of apt", *dump)
        self._config.write_text(acquire + "".join(f'{name} "{value}";\n' for name, value in settings.items()))
        self.get("reading lists of packages", "update", "--error-on=any")

    def get(self, what: str, *words: str) -> None:
        """One command of apt-get. Raises InstallError."""
        self._shop.run(what, "apt-get", "-q", *words, APT_CONFIG=self._config)

    def meant_by(self, name: str) -> str:
        """The package that a package without content stands for. Raises InstallError."""
        said = self._shop.run(f"looking up {name}", "apt-cache", "depends", name, APT_CONFIG=self._config)
        found = re.search(r"^\s*Depends: (\S+)$", said, re.MULTILINE)
        if found is None:
            raise InstallError(f"Debian's package {name} names no other package any more")
        return found[1]

    def unpack(self, what: str, name: str, into: Path) -> None:
        """The files of one package, without those that it depends on. Raises InstallError."""
        archives = self.folder / "archives"
        # It writes to the present folder.
        script = 'cd "$1" && apt-get -q download "$2"'
        self._shop.run(what, "sh", "-c", script, "download", archives, name, APT_CONFIG=self._config)
        newest = max(archives.glob(f"{name}_*.deb"), key=lambda path: path.stat().st_mtime)
        self._shop.run(f"unpacking {name}", "dpkg-deb", "-x", newest, into)


def make_image(shop: Workshop, tree: Path, image: Path, size: int) -> None:
    """A disk of a folder, without mounting anything. Raises InstallError."""
    with image.open("wb") as file:
        file.truncate(size)
    # The files of the guest belong to root, in the eyes of a namespace at least.
    as_root = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
    how = ["-q", "-F", "-t", "ext4", "-m", "0", "-d"]
    shop.run(f"making {image.name}", *as_root, found_tool("mke2fs") or "mke2fs", *how, tree, image)


def found_tool(tool: str) -> str | None:
    """Where a program is; None if it is not there."""
    return shutil.which(tool) or shutil.which(tool, path=SYSTEM_FOLDERS)


def check_machine(target: str) -> None:
    """Raises InstallError where the guest cannot run."""
    if platform.machine() not in ("x86_64", "amd64"):
        raise InstallError(f"{target}: its machine is for x86-64 only; this machine is {platform.machine()}")


def check_tools(target: str, tools: Mapping[str, str]) -> None:
    """Raises InstallError that names all programs that are missing, and the packages that have them."""
    missing = [tool for tool in tools if found_tool(tool) is None]
    if missing:
        packages = " ".join(dict.fromkeys(tools[tool] for tool in missing))
        verb, them = ("is", "it") if len(missing) == 1 else ("are", "them")
        raise InstallError(
            f"{target} needs {', '.join(missing)}, which {verb} not in PATH; get {them}: apt install {packages}"
        )


def check_room(shop: Workshop, target: str, megabytes: int) -> None:
    """Raises InstallError when the disk of the cache is too full."""
    free = shutil.disk_usage(shop.into).free // 1_000_000
    if free < megabytes:
        raise InstallError(
            f"{target} needs {megabytes} MB in {shop.into.parents[1]}, which has {free} MB free"
        )


def explained(words: str, kept: Path, megabytes: int) -> str:
    """One line for a broken download and a full disk, else the words as they are."""
    if _FULL_DISK.search(words):
        return f"knfsd could not be installed: the disk of {kept.parent} is full; {megabytes} MB are needed"
    if (found := _BROKEN_DOWNLOAD.search(words)) is not None:
        what = found.group().strip()
        return f"knfsd could not be installed: a download broke ({what}); the next try goes on from there"
    return words
