# SPDX-License-Identifier: MIT
"""If no knob decided anything, a server with other knobs gives the same answers."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import replace

import pytest

from nfsclient.clients import Nfs2
from nfsclient.errors import RpcTimeout
from nfsclient.protocol import nfs2
from nfsclient.protocol.nfs3 import Sattr3, StableHow
from nfsproof.freedoms import Setting, drawn, in_parts, single_settings
from nfsserver import KNOBS, Settings, parse_setting
from nfsserver.consulted import Consulted
from nfsserver.fs import touch_locally
from nfsserver.services import freedoms
from tests.nfsserver.conftest import ALICE, Rig

Script: t.TypeAlias = Callable[[Rig], list[object]]


def null(rig: Rig) -> list[object]:
    nfs3 = rig.nfs3()
    nfs3.null()
    rig.mount().null()
    return [rig.portmap().getport(100003, 3) != 0]


def small_file(rig: Rig) -> list[object]:
    nfs3 = rig.nfs3()
    made = nfs3.create(rig.root, b"file")
    written = nfs3.write(made.resok.obj, 0, b"0123456789", StableHow.FILE_SYNC)
    return [made, written, nfs3.read(made.resok.obj, 0, 1 << 20), nfs3.getattr(made.resok.obj)]


def large_file(rig: Rig) -> list[object]:
    nfs3 = rig.nfs3()
    made = nfs3.create(rig.root, b"x" * 70)
    written = nfs3.write(made.resok.obj, 0, bytes(9000), StableHow.FILE_SYNC)
    return [
        made,
        written,
        nfs3.read(made.resok.obj, 5, 8995),
        nfs3.setattr(made.resok.obj, Sattr3(size=2**40)),
    ]


def names(rig: Rig) -> list[object]:
    nfs3 = rig.nfs3(ALICE)
    made = nfs3.mkdir(rig.root, b"Directory")
    where = made.resok.obj
    linked = [nfs3.symlink(where, b"symbolic", b"some/where"), nfs3.lookup(rig.root, b"directory")]
    return [made, *linked, nfs3.readdir(where), nfs3.rename(where, b"symbolic", rig.root, b"one")]


def listing(rig: Rig) -> list[object]:
    nfs3 = rig.nfs3()
    made = [nfs3.create(rig.root, b"f%d" % number) for number in range(5)]
    linked = nfs3.link(made[0].resok.obj, rig.root, b"link")
    return [
        *made,
        linked,
        nfs3.readdirplus(rig.root),
        nfs3.remove(rig.root, b"f1"),
        nfs3.access(rig.root, 63),
    ]


def what_there_is(rig: Rig) -> list[object]:
    nfs3 = rig.nfs3()
    return [nfs3.fsinfo(rig.root), nfs3.fsstat(rig.root), nfs3.pathconf(rig.root)]


def version_2(rig: Rig) -> list[object]:
    client = Nfs2(rig.rpc())
    made = client.create(rig.root, b"file", nfs2.Sattr(mode=0o644))
    assert made.resok is not None
    written = client.write(made.resok.file, 0, bytes(200))
    return [made, written, client.read(made.resok.file, 0, 100), client.readdir(rig.root)]


def by_mount(rig: Rig) -> list[object]:
    mount = rig.mount()
    return [mount.mnt(b"/export"), mount.export(), mount.dump()]


def removed_locally(rig: Rig) -> list[object]:
    nfs3 = rig.nfs3()
    made = nfs3.create(rig.root, b"file")
    touch_locally(rig.server.fs, b"file", remove=True)
    return [made, nfs3.getattr(made.resok.obj)]


SCRIPTS: t.Final[tuple[Script, ...]] = (
    null,
    small_file,
    large_file,
    names,
    listing,
    what_there_is,
    version_2,
    by_mount,
    removed_locally,
)
ALL: t.Final = (
    *(setting.values for setting in single_settings()),
    *(drawn(seed) for seed in range(1, 11)),
    ("write_accepts=10",),
    ("write_accepts=9",),
    ("read_returns=10",),
    ("read_returns=9",),
    ("readdir_page=7",),
    ("readdir_page=8",),
    ("name_max=69",),
    ("name_max=70",),
    ("rtmax=8994",),
    ("delegated_names=f*",),
    ("jukebox_names=one", "jukebox_calls=1"),
)


def knobs_of(setting: tuple[str, ...]) -> dict[str, t.Any]:
    return dict(parse_setting(word) for word in setting if not word.startswith("--"))


def played(script: Script, rig: Rig) -> list[object]:
    """What a script saw, including errors if the server breaks its assumptions."""
    try:
        return script(rig)
    except (AttributeError, RpcTimeout, AssertionError) as error:
        return [repr(error)]


def consulted_by(script: Script, make_rig: t.Callable[..., Rig]) -> Consulted:
    rig = make_rig()
    consulted = rig.server.consult()
    played(script, rig)
    return Consulted.from_plain(consulted.to_plain())


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_who_cannot_see_a_setting_sees_the_same_with_it(
    script: Script, make_rig: t.Callable[..., Rig]
) -> None:
    usual = played(script, make_rig())
    consulted = consulted_by(script, make_rig)
    assert played(script, make_rig()) == usual
    for setting in ALL:
        turned = knobs_of(setting)
        if not consulted.may_differ(replace(Settings(), **turned), freedoms()):
            assert played(script, make_rig(knobs=turned)) == usual, setting


@pytest.mark.parametrize(
    ("script", "seen", "unseen"),
    [
        (null, (), ("read_only=yes", "rtmax=1", "jukebox_calls=1", "root_squash=yes", "read_returns=1")),
        (small_file, ("write_accepts=9", "read_returns=9"), ("write_accepts=10", "read_returns=10")),
        (small_file, ("offline_names=f*", "time_granularity=1"), ("offline_names=g*", "hard_links=no")),
        (large_file, ("name_max=69", "rtmax=8994"), ("name_max=70", "rtmax=8995")),
        (names, ("case_insensitive=yes", "path_max=9", "delegated_names=one"), ("path_max=10", "wtmax=1")),
        (
            listing,
            ("hard_links=no", "stale_on_remove=no", "readdir_page=7"),
            ("readdir_page=8", "symlinks=no"),
        ),
        (what_there_is, ("hard_links=no", "rtmax=1048575", "name_max=254"), ("write_accepts=1",)),
        (version_2, ("readdir_page=1", "read_returns=99"), ("write_accepts=1", "jukebox_calls=1")),
        (removed_locally, ("stale_on_remove=no",), ("quota_bytes=0",)),
    ],
)
def test_what_a_script_can_see(
    script: Script, seen: tuple[str, ...], unseen: tuple[str, ...], make_rig: t.Callable[..., Rig]
) -> None:
    consulted = consulted_by(script, make_rig)
    visible = {
        knob
        for knob in (*seen, *unseen)
        if consulted.may_differ(replace(Settings(), **knobs_of((knob,))), freedoms())
    }
    assert visible == set(seen)


def test_who_turns_knobs_sees_all_of_them(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig()
    consulted = rig.server.consult()
    rig.server.knobs.set("readdir_page", 1)
    rig.server.knobs.reset()
    assert consulted.may_differ(replace(Settings(), rtmax=1), freedoms())
    consulted.clear()
    assert not consulted.may_differ(replace(Settings(), rtmax=1), freedoms())


def test_of_very_many_names_any_may_match(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig()
    consulted = rig.server.consult()
    nfs3 = rig.nfs3()
    for number in range(300):
        nfs3.lookup(rig.root, b"%d" % number)
        nfs3.remove(rig.root, b"%d" % number)
    assert consulted.may_differ(replace(Settings(), delegated_names="nobody"), freedoms())


def test_every_knob_is_obeyed_somewhere() -> None:
    by_freedom = {name for freedom in freedoms() for name in freedom.knobs}
    assert by_freedom <= KNOBS.keys()
    assert len({freedom.name for freedom in freedoms()}) == len(freedoms())


def test_a_setting_that_many_checks_can_see_runs_a_part_of_them() -> None:
    """The parts take turns, and a setting that few checks can see runs them all."""
    checks = [*[Consulted(reads={"read_max"})] * 2, *[Consulted(reads={"quota"})], *[Consulted()] * 2]
    settings = [Setting((value,)) for value in ("rtmax=512", "quota_bytes=0", "rtmax=64")]
    assert [part.arguments for part in in_parts(settings, checks)] == [("--part=1/3",), (), ("--part=2/3",)]
