# SPDX-License-Identifier: MIT
"""The Linux kernel's server as a target: its options, its command line, and what `nfsproof install` says."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from nfstargets import make_target
from nfstargets.base import Alarm, TargetError
from nfstargets.cache import CommandShop, InstallError, install
from nfstargets.knfsd import image
from nfstargets.knfsd.console import alarms_in
from nfstargets.knfsd.image import KNFSD, Product, build, explained
from nfstargets.knfsd.machine import GUEST, OURS, Disks, UserModeLinux
from nfstargets.knfsd.options import KnfsdOptions
from nfstargets.knfsd.target import KnfsdTarget
from nfstargets.process import KeptServer
from nfstargets.tap import DEVICE, make_tap


@pytest.fixture
def shop(tmp_path: Path) -> CommandShop:
    into = tmp_path / "cache" / ".work" / "home"
    into.mkdir(parents=True)
    kept = tmp_path / "cache" / ".kept"
    return CommandShop(into=into, scratch=tmp_path, kept=kept, say=lambda _line: None, advice="apt")


def test_options_come_in_any_order() -> None:
    assert KnfsdOptions.parse("") == KnfsdOptions()
    found = KnfsdOptions.parse("threads=2,async,tmpfs,grace=20,lease=30,mem=512")
    assert found == KnfsdOptions(fs="tmpfs", is_async=True, threads=2, grace=20, lease=30, mem=512)
    assert KnfsdOptions.parse("async,sync") == KnfsdOptions()


@pytest.mark.parametrize(
    ("text", "name"),
    [("", "knfsd:ext4"), ("sync,ext4", "knfsd:ext4"), ("mem=512,async,xfs", "knfsd:xfs,async,mem=512")],
)
def test_the_full_name_says_what_differs(text: str, name: str) -> None:
    assert KnfsdOptions.parse(text).name() == name
    assert make_target(f"knfsd:{text}" if text else "knfsd").name == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "ext5",
            r"unknown option 'ext5' of knfsd.*ext4.*; expected ext4, xfs, tmpfs, sync, async, threads=NUMBER",
        ),
        ("thread=4", "unknown option 'thread=4' of knfsd.*threads="),
        ("threads", "unknown option 'threads'"),
        ("grace=5", "knfsd:grace=5: expected a number from 10 to 3600"),
        ("lease=", "knfsd:lease=: expected a number"),
        ("mem=1e3", "expected a number from 128"),
    ],
)
def test_an_option_that_means_nothing_is_told(text: str, said: str) -> None:
    with pytest.raises(TargetError, match=said) as caught:
        make_target(f"knfsd:{text}")
    assert "\n" not in str(caught.value)


def test_what_is_not_installed_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NFSPROOF_SERVERS", str(tmp_path / "none"))
    with pytest.raises(TargetError, match=r"is not installed; nfsproof install knfsd$"):
        make_target("knfsd").start()


def test_the_address_is_of_nobody_else() -> None:
    address = KnfsdTarget().address_of((2049, 20048))
    assert (address.host, address.portmap_port, address.export) == (GUEST, 111, "/volume/export")
    assert address.other_source in OURS


def test_the_command_line_tells_the_guest_what_was_chosen(tmp_path: Path) -> None:
    machine = UserModeLinux(Path("/cache/linux"))
    words = machine.command(Disks(tmp_path), KnfsdOptions(fs="tmpfs", is_async=True, threads=3, mem=160))
    assert words[0] == "/cache/linux"
    assert f"ubd0r={tmp_path / 'root.img'}" in words
    assert {"nfsproof.fs=tmpfs", "nfsproof.sync=async", "nfsproof.threads=3", "mem=160M"} <= set(words)
    assert sum("{line}" in word for word in words) == 1


def test_the_programs_of_the_guest_are_an_archive(tmp_path: Path) -> None:
    disks = Disks(tmp_path)
    disks.pack_programs()
    with tarfile.open(disks.programs) as archive:
        assert archive.getnames() == ["agent.py"]
    assert disks.programs.stat().st_size % 512 == 0


def test_a_product_says_its_version(tmp_path: Path) -> None:
    assert Product(tmp_path).version == ""
    (tmp_path / "version").write_text("6.1.176\n")
    assert Product(tmp_path).version == "6.1.176"


# ---------------------------------------------------------------- console

WARNING = "WARNING: CPU: 0 PID: 71 at fs/nfsd/nfs4state.c:5216 nfsd4_open+0x1/0x2"
OOPS = "BUG: kernel NULL pointer dereference, address: 0000000000000008"
TRACE = ["Call Trace:", " [<60a0b>] nfsd_dispatch+0x1/0x2", "---[ end trace ]---"]


def test_a_sound_kernel_gives_no_alarm() -> None:
    said = """\
EXT4-fs (ubdd): mounted filesystem with ordered data mode. Quota mode: none.
EXT4-fs (ubdd): recovery complete
operation not supported error, dev ubdd, sector 1616 op 0x9:(WRITE_ZEROES) flags 0x0 phys_seg 0 prio class 2
SGI XFS with ACLs, security attributes, realtime, quota, no debug enabled
rcu: \tRCU event tracing is enabled.
SELinux: CONFIG_SECURITY_SELINUX_CHECKREQPROT_VALUE is non-zero.  This is deprecated.
NFSD: starting 10-second grace period (net f0000000)
"""
    assert alarms_in(said.splitlines()) == []


def test_a_warning_is_one_alarm_with_its_trace() -> None:
    assert alarms_in(["before", WARNING, *TRACE]) == [Alarm(WARNING, (WARNING, *TRACE), is_grave=False)]


def test_an_oops_is_grave_and_not_hidden_by_a_warning() -> None:
    panic = "Kernel panic - not syncing: Fatal exception"
    found = alarms_in([WARNING, *TRACE, OOPS, *TRACE, panic])
    assert [(one.text, one.is_grave) for one in found] == [(WARNING, False), (OOPS, True)]
    assert found[1].lines == (OOPS, *TRACE, panic)


@pytest.mark.parametrize(
    "line",
    [
        "INFO: task nfsd:71 blocked for more than 120 seconds.",
        "rcu: INFO: rcu_sched self-detected stall on CPU",
        "EXT4-fs error (device ubdd): ext4_lookup:1855: inode #2: comm nfsd: deleted inode referenced",
        "nfsd: page allocation failure: order:0, mode:0x0",
        "Out of memory: Killed process 71 (rpc.mountd)",
    ],
)
def test_what_may_come_of_a_busy_machine_is_not_grave(line: str) -> None:
    assert [one.is_grave for one in alarms_in([line])] == [False]


def test_alarms_are_told_once_and_in_whole_lines(tmp_path: Path) -> None:
    target = KnfsdTarget()
    target.log_path = tmp_path / "console"
    assert target.alarms() == []
    target._server = KeptServer(tmp_path)
    assert target.alarms() == []
    target.log_path.write_text(f"boot\n{WARNING}\n{OOPS[:10]}")
    assert [one.text for one in target.alarms()] == [WARNING]
    with target.log_path.open("a") as log:
        log.write(f"{OOPS[10:]}\n")
    assert [one.text for one in target.alarms()] == [OOPS]
    assert target.alarms() == []


# ---------------------------------------------------------------- installation


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a failed\n  dpkg: error: No space left on device\n  E: x", "is full; 1500 MB are needed"),
        (
            "b failed\n  E: Failed to fetch http://d/x.deb  Could not resolve 'd'\n  E: y",
            r"a download broke \(E: Failed to fetch .*'d'\); the next try goes on from there",
        ),
    ],
)
def test_a_known_failure_is_one_line(tmp_path: Path, words: str, said: str) -> None:
    found = explained(words, tmp_path / ".kept-knfsd")
    assert "\n" not in found
    assert re.search(said, found)


def test_an_unknown_failure_keeps_its_words(tmp_path: Path) -> None:
    assert explained("c failed:\n  E: else", tmp_path) == "c failed:\n  E: else"


def test_another_processor_is_told(shop: CommandShop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(InstallError, match="x86-64 only; this machine is aarch64"):
        build(shop, KNFSD)


def test_a_missing_tool_is_told(shop: CommandShop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(image, "_which", lambda tool: None if tool == "mke2fs" else tool)
    with pytest.raises(
        InstallError, match="needs mke2fs, which is not in PATH; get it: apt install e2fsprogs"
    ):
        build(shop, KNFSD)


def test_a_small_disk_is_told_before_anything_is_done(
    shop: CommandShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(image, "_which", lambda tool: tool)
    usage = shutil.disk_usage("/")._replace(free=7_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(InstallError, match=r"needs 1500 MB in .*cache, which has 7 MB free"):
        build(shop, KNFSD)
    assert not shop.kept.exists()


def test_without_mmdebstrap_one_line_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NFSPROOF_SERVERS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        InstallError, match="which is not in PATH; get mmdebstrap, apt and e2fsprogs: apt install"
    ):
        install(KNFSD, lambda _line: None)


def test_an_archive_that_is_complete_is_not_made_again(shop: CommandShop) -> None:
    shop.kept.mkdir()
    archive = shop.kept / f"system-{image._digest()}.tar"
    archive.touch()
    assert image._unpack(shop) == archive


def test_what_mmdebstrap_mounts_ends_with_it(shop: CommandShop, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str | Path, ...]] = []

    def run(_shop: CommandShop, _what: str, *argv: str | Path, **_environment: str | Path) -> str:
        ran.append(argv)
        raise InstallError("enough")

    monkeypatch.setattr(CommandShop, "run", run)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(InstallError, match="enough"):
        image._unpack(shop)
    assert ran[0][:4] == ("unshare", "--mount", "--propagation=private", "mmdebstrap")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(InstallError, match="enough"):
        image._unpack(shop)
    assert ran[1][0] == "mmdebstrap"


def test_a_tap_device_that_cannot_be_made_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nfstargets.tap.DEVICE", "/nowhere/tun")
    assert DEVICE == "/dev/net/tun"
    with pytest.raises(Exception, match="/nowhere/tun cannot be opened: No such file"):
        make_tap("tap0", ["192.0.2.1"], "255.255.255.0")
