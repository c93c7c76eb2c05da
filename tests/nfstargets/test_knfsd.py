# SPDX-License-Identifier: MIT
"""The Linux kernel's server as a target: its options, its command line, and what `nfsproof install` says."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tarfile
import typing as t
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from nfstargets import make_target
from nfstargets.base import Alarm, TargetError
from nfstargets.cache import CommandShop, InstallError, install
from nfstargets.knfsd import compiled, image, packaged
from nfstargets.knfsd.compiled import KNFSD_V2
from nfstargets.knfsd.console import alarms_in
from nfstargets.knfsd.image import KNFSD, Product, build
from nfstargets.knfsd.machine import GUEST, OURS, Disks, UserModeLinux
from nfstargets.knfsd.options import KnfsdOptions
from nfstargets.knfsd.packages import explained
from nfstargets.knfsd.qemu import Qemu, find_qemu
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
    [
        ("", "knfsd:ext4"),
        ("sync,ext4", "knfsd:ext4"),
        ("mem=512,async,xfs", "knfsd:xfs,async,mem=512"),
        ("tmpfs,v2", "knfsd:v2,tmpfs"),
        ("qemu", "knfsd:qemu,ext4"),
        ("vers=4.1+3", "knfsd:ext4,vers=3+4.1"),
        ("vers=3+4", "knfsd:ext4,vers=3+4.0+4.1+4.2"),
    ],
)
def test_the_full_name_says_what_differs(text: str, name: str) -> None:
    assert KnfsdOptions.parse(text).name() == name
    assert make_target(f"knfsd:{text}" if text else "knfsd").name == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "ext5",
            r"unknown option 'ext5' of knfsd.*ext4.*; expected ext4, xfs, tmpfs, v2, qemu, sync, async, threads=NUMBER",
        ),
        ("thread=4", "unknown option 'thread=4' of knfsd.*threads="),
        ("threads", "unknown option 'threads'"),
        ("grace=5", "knfsd:grace=5: expected a number from 10 to 3600"),
        ("lease=", "knfsd:lease=: expected a number"),
        ("mem=1e3", "expected a number from 128"),
        ("v2,qemu", "knfsd:v2,qemu: expected one of v2 and qemu"),
        ("vers=3+5", "knfsd:vers=3\\+5: expected versions such as 3\\+4.1, got '5'"),
        ("vers=", "expected versions such as"),
        ("vers=4.0", "expected 2, 3, 4.1 or 4.2 among the versions"),
        ("vers=2+3", "only the kernel of knfsd:v2 serves NFSv2"),
    ],
)
def test_an_option_that_means_nothing_is_reported(text: str, said: str) -> None:
    with pytest.raises(TargetError, match=said) as caught:
        make_target(f"knfsd:{text}")
    assert "\n" not in str(caught.value)


def test_what_is_not_installed_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NFSPROOF_SERVERS", str(tmp_path / "none"))
    with pytest.raises(TargetError, match=r"is not installed; nfsproof install knfsd$"):
        make_target("knfsd").start()


@pytest.mark.parametrize(
    ("versions", "version", "has_mount"),
    [("3", 3, True), ("3+4.1", 3, True), ("4.1", 4, False), ("4.1+4.2", 4, False), ("4", 4, False)],
)
def test_without_nfs3_there_is_no_mount_to_ask(versions: str, version: int, has_mount: bool) -> None:
    address = KnfsdTarget(f"vers={versions}").address_of((2049, 20048))
    assert (address.version, bool(address.mount_port), bool(address.portmap_port)) == (
        version,
        has_mount,
        has_mount,
    )


def test_the_address_is_of_nobody_else() -> None:
    address = KnfsdTarget().address_of((2049, 20048))
    assert (address.host, address.portmap_port, address.export) == (GUEST, 111, "/volume/export")
    assert address.other_source in OURS
    assert address.version == 3


def test_a_server_of_version_2_alone_is_tested_with_it() -> None:
    assert KnfsdTarget("v2,vers=2+4.1").address_of((2049, 20048)).version == 2


def test_the_address_under_qemu_is_of_loopback() -> None:
    target = KnfsdTarget("qemu")
    ports = target.choose_ports()
    address = target.address_of(ports)
    assert (address.host, address.nfs_port, address.mount_port) == ("127.0.0.1", *ports)
    # The guest's rpcbind would name ports of the guest.
    assert address.portmap_port is None
    assert address.other_source == ""


@pytest.mark.parametrize("part", ["v2", "qemu"])
def test_a_kernel_that_is_not_installed_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setenv("NFSPROOF_SERVERS", str(tmp_path / "none"))
    with pytest.raises(TargetError, match=rf"is not installed; nfsproof install knfsd:{part}$"):
        make_target(f"knfsd:{part}").start()


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
    product = Product(tmp_path / "guest", tmp_path)
    assert product.version == ""
    (tmp_path / "version").write_text("6.1.176\n")
    assert product.version == "6.1.176"
    assert product.image == tmp_path / "guest" / "root.img"


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
    assert [(alarm.text, alarm.is_grave) for alarm in found] == [(WARNING, False), (OOPS, True)]
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
    assert [alarm.is_grave for alarm in alarms_in([line])] == [False]


def test_alarms_are_reported_once_and_in_whole_lines(tmp_path: Path) -> None:
    target = KnfsdTarget()
    target.log_path = tmp_path / "console"
    assert target.alarms() == []
    target._server = KeptServer(tmp_path)
    assert target.alarms() == []
    target.log_path.write_text(f"boot\n{WARNING}\n{OOPS[:10]}")
    assert [alarm.text for alarm in target.alarms()] == [WARNING]
    with target.log_path.open("a") as log:
        log.write(f"{OOPS[10:]}\n")
    assert [alarm.text for alarm in target.alarms()] == [OOPS]
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
    found = explained(words, tmp_path / ".kept-knfsd", 1500)
    assert "\n" not in found
    assert re.search(said, found)


def test_an_unknown_failure_keeps_its_words(tmp_path: Path) -> None:
    assert explained("c failed:\n  E: else", tmp_path, 1500) == "c failed:\n  E: else"


def test_another_processor_is_reported(shop: CommandShop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(InstallError, match="x86-64 only; this machine is aarch64"):
        build(shop, KNFSD)


def test_a_missing_tool_is_reported(shop: CommandShop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(
        "nfstargets.knfsd.packages.found_tool", lambda tool: None if tool == "mke2fs" else tool
    )
    with pytest.raises(
        InstallError, match="needs mke2fs, which is not in PATH; get it: apt install e2fsprogs"
    ):
        build(shop, KNFSD)


def test_a_small_disk_is_reported_before_anything_is_done(
    shop: CommandShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr("nfstargets.knfsd.packages.found_tool", lambda tool: tool)
    usage = shutil.disk_usage("/")._replace(free=7_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(InstallError, match=r"needs 1500 MB in .*cache, which has 7 MB free"):
        build(shop, KNFSD)
    assert not shop.kept.exists()


def test_all_that_a_compiler_needs_is_named_at_once(
    shop: CommandShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(
        "nfstargets.knfsd.packages.found_tool",
        lambda tool: None if tool in ("gcc", "flex", "bison") else tool,
    )
    with pytest.raises(InstallError) as caught:
        compiled.build(shop, KNFSD_V2)
    assert str(caught.value) == (
        "knfsd:v2 needs gcc, flex, bison, which are not in PATH; get them: apt install gcc flex bison"
    )


def test_a_folder_in_which_no_kernel_compiles_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr("nfstargets.knfsd.packages.found_tool", lambda tool: tool)
    monkeypatch.setattr(compiled, "check_room", lambda *_: None)
    kept = tmp_path / "my cache" / ".kept"
    place = CommandShop(into=tmp_path, scratch=tmp_path, kept=kept, say=lambda _line: None, advice="apt")
    with pytest.raises(
        InstallError, match=r"no kernel can be compiled in .*my cache, which has ' ' in its name"
    ):
        compiled.build(place, KNFSD_V2)


def test_a_source_that_is_configured_is_not_unpacked_again(shop: CommandShop) -> None:
    shop.kept.mkdir()
    tree = shop.kept / f"tree-{sha256(compiled.CONFIG.read_bytes()).hexdigest()[:12]}"
    tree.mkdir()
    assert compiled._source(shop) == tree


def test_a_choice_that_the_kernel_did_not_take_is_found() -> None:
    wanted = "# Needed.\nCONFIG_NFSD=y\nCONFIG_NFSD_V2=y\n# CONFIG_MODULES is not set\n"
    assert compiled.not_taken(wanted, "CONFIG_NFSD=y\n# CONFIG_NFSD_V2 is not set\n") == ["CONFIG_NFSD_V2=y"]
    assert compiled.not_taken(wanted, "CONFIG_NFSD_V2=y\nCONFIG_NFSD=y\n") == []


def test_the_compiler_has_more_time_and_its_work_is_reported(
    shop: CommandShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = shop.kept / "tree"
    (tree / "include/config").mkdir(parents=True)
    (tree / "include/config/kernel.release").write_text("6.1.1\n")
    limits: list[tuple[str, float]] = []

    def run(shop: CommandShop, what: str, *_argv: str | Path, **_environment: str | Path) -> str:
        limits.append((what, shop.limit))
        return ""

    usual = shop.limit
    monkeypatch.setattr(CommandShop, "run", run)
    compiled._compile(shop, tree)
    assert limits == [("compiling", compiled.TIME), ("stripping", usual)]
    assert (shop.into / "version").read_text() == "6.1.1\n"


def test_modules_are_loaded_after_those_that_they_need() -> None:
    dependencies = (
        "kernel/net/core/failover.ko.xz:\n"
        "kernel/drivers/net/net_failover.ko.xz: kernel/net/core/failover.ko.xz\n"
        "kernel/drivers/net/virtio_net.ko.xz: kernel/drivers/net/net_failover.ko.xz kernel/net/core/failover.ko.xz\n"
        "kernel/drivers/block/virtio_blk.ko:\n"
    )
    found = packaged.in_order(dependencies, ["virtio_blk", "ext4", "virtio_net"])
    assert [Path(name).name.partition(".")[0] for name in found] == [
        "virtio_blk",
        "failover",
        "net_failover",
        "virtio_net",
    ]


def test_the_first_file_system_is_an_archive_that_cpio_reads(tmp_path: Path) -> None:
    data = packaged.archive_of({"init": b"#!/bin/sh\n", "bin/tool": b"1234567"})
    members, at = {}, 0
    while at < len(data):
        head = data[at : at + 110]
        assert head[:6] == b"070701"
        numbers = [int(head[6 + 8 * n : 14 + 8 * n], 16) for n in range(13)]
        name = data[at + 110 : at + 110 + numbers[11] - 1].decode()
        begin = at + (110 + numbers[11] + 3) // 4 * 4
        members[name] = (numbers[1], data[begin : begin + numbers[6]])
        at = begin + (numbers[6] + 3) // 4 * 4
    assert members["init"] == (0o100755, b"#!/bin/sh\n")
    assert members["bin/tool"] == (0o100755, b"1234567")
    assert {name for name, (mode, _) in members.items() if mode == 0o040755} == {"dev", "proc", "root", "bin"}
    assert list(members)[-1] == "TRAILER!!!"


def test_the_command_line_of_qemu_forwards_ports_and_asks_for_no_privilege(tmp_path: Path) -> None:
    machine = Qemu(Path("/usr/bin/qemu"), Path("/cache/knfsd,qemu"))
    words = machine.command(Disks(tmp_path), KnfsdOptions(machine="qemu", fs="xfs"), (5001, 5002))
    network = next(word for word in words if word.startswith("user,"))
    for kind in ("tcp", "udp"):
        assert f"hostfwd={kind}:127.0.0.1:5001-:2049" in network
        assert f"hostfwd={kind}:127.0.0.1:5002-:20048" in network
    # No answer over UDP would pass.
    assert "restrict=on" not in network
    assert any(word.startswith("file=/cache/knfsd,,qemu/modules.img,") for word in words)
    assert sum("{line}" in word for word in words) == 1
    assert "nfsproof.fs=xfs" in words[-1].split()


def test_without_qemu_one_line_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        TargetError, match="needs qemu-system-x86_64, which is not in PATH; get it: apt install"
    ):
        find_qemu()


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


# ---------------------------------------------------------------- a boot that hangs


class HangingServer(KeptServer):
    """Its machine hangs in its first starts, and never says that it is ready."""

    def __init__(self, scratch: Path, *, hangs: int, dies: bool = False) -> None:
        super().__init__(scratch)
        self.hangs = hangs
        self.dies = dies
        self.starts = self.kills = 0

    def start(self, argv: list[str], output: Path, folder: Path | None = None) -> None:
        self.starts += 1
        self.pid = None if self.dies else 7
        if self.starts > self.hangs:
            self.said.append('{"event": "ready"}')

    def wait(self, predicate: Callable[[], bool], seconds: float) -> bool:
        return predicate()

    def is_alive(self) -> bool:
        return self.pid is not None

    def end(self, number: int, seconds: float) -> None:
        self.kills += 1
        self.pid = None


def hanging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **how: t.Any
) -> tuple[KnfsdTarget, HangingServer]:
    monkeypatch.setattr("nfstargets.program._answers", lambda _address: True)
    monkeypatch.setattr(KnfsdTarget, "start_limit", 0.0)
    target = KnfsdTarget()
    target.log_path = tmp_path / "console"
    target._machine = UserModeLinux(Path("/cache/linux"))
    server = HangingServer(tmp_path, **how)
    target._server = server
    return target, server


def test_a_machine_that_hangs_while_it_boots_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, server = hanging(tmp_path, monkeypatch, hangs=2)
    target.launch((2049, 20048))
    assert (server.starts, server.kills) == (3, 2)


def test_a_machine_that_always_hangs_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, server = hanging(tmp_path, monkeypatch, hangs=9)
    with pytest.raises(TargetError, match="did not answer within"):
        target.launch((2049, 20048))
    assert server.starts == 3


def test_a_machine_that_ends_is_not_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, server = hanging(tmp_path, monkeypatch, hangs=9, dies=True)
    with pytest.raises(TargetError, match="ended while starting"):
        target.launch((2049, 20048))
    assert server.starts == 1
