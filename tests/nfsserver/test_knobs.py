# SPDX-License-Identifier: MIT
"""Knobs: each changes what it says, keeps the server correct, and refuses invalid values."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest

from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs3 import (
    FSF3_LINK,
    FSF3_SYMLINK,
    Nfsstat3,
    Nfstime3,
    Sattr3,
    SetTime,
    StableHow,
    TimeHow,
)
from nfsserver import KNOBS, BadKnob, Settings, parse_setting
from nfsserver.fs import touch_locally
from tests.nfsserver.conftest import ALICE, AnyNfs3, Rig

S = Nfsstat3
DATA = bytes(range(256)) * 4


# ---------------------------------------------------------------- the table


def test_declarations_are_complete() -> None:
    assert len(KNOBS) >= 30
    for knob in KNOBS.values():
        assert knob.cites, knob.name
        assert all(cite.startswith(("RFC ", "Spritely NFS section ")) for cite in knob.cites), knob.name
        assert knob.meaning, knob.name
        assert not knob.meaning.endswith("."), knob.name
        assert knob.parse(knob.usual) == knob.default


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("write_accepts=100", 100),
        ("write_accepts=none", None),
        ("read_only=yes", True),
        ("hard_links=off", False),
        ("time_granularity=2", 2.0),
        ("jukebox_names=f*", "f*"),
        (" rtmax = 8192 ", 8192),
    ],
)
def test_settings_are_parsed(text: str, value: object) -> None:
    name, parsed = parse_setting(text)
    assert parsed == value
    assert type(parsed) is type(value)
    assert name in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("write_accepts", "a knob is set by NAME=VALUE, not 'write_accepts'"),
        (
            "writes=1",
            "no knob is named 'writes'; similar: write_accepts; `nfsproof serve --list-knobs` shows all names",
        ),
        ("write_accepts=0", "write_accepts is a whole number of at least 1, or none, not 0"),
        ("write_accepts=many", "write_accepts is a whole number of at least 1, or none, not 'many'"),
        ("read_only=perhaps", "read_only is yes or no, not 'perhaps'"),
        ("jukebox_seconds=nan", "jukebox_seconds is a number of at least 0, not nan"),
        ("jukebox_seconds=inf", "jukebox_seconds is a number of at least 0, not inf"),
        ("name_max=256", "name_max is a whole number of at least 1 and at most 255, or none, not 256"),
    ],
)
def test_wrong_settings_are_one_clear_line(text: str, said: str) -> None:
    with pytest.raises(BadKnob) as refused:
        parse_setting(text)
    assert str(refused.value) == said


def test_values_of_another_type_are_refused(rig: Rig) -> None:
    with pytest.raises(BadKnob):
        rig.server.knobs.update(read_returns=5, read_only=1)
    assert rig.server.knobs.now == Settings()


def test_reset_goes_back_to_what_the_server_was_made_with(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig(knobs={"rtmax": 4096})
    rig.server.knobs.set("rtmax", 1024)
    rig.server.knobs.set("read_only", True)
    rig.server.knobs.reset()
    assert rig.server.backend.limits.read_max == 4096
    assert not rig.server.fs.read_only


# ---------------------------------------------------------------- counts and pages


def test_write_accepts(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.set("write_accepts", 100)
    reply = nfs3.write(file, 0, DATA)
    assert reply.resok.count == 100
    assert reply.resok.file_wcc.after.size == 100
    assert bytes(nfs3.read(file, 0, 2000).resok.data) == DATA[:100]
    assert nfs3.write(file, 100, DATA[100:150]).resok.count == 50


def test_write_with_two_lengths_stays_refused(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.set("write_accepts", 1)
    assert nfs3.write(file, 0, DATA, count=5).status == S.NFS3ERR_INVAL


def test_write_accepts_random_shares_that_can_be_repeated(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")

    def counts() -> list[int]:
        rig.server.knobs.set("write_accepts_random", 5)
        return [nfs3.write(file, 0, DATA).resok.count for _ in range(20)]

    first = counts()
    assert first == counts()
    assert len(set(first)) > 5
    assert all(1 <= count <= len(DATA) for count in first)


def test_read_returns(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", DATA[:150])
    rig.server.knobs.set("read_returns", 100)
    reply = nfs3.read(file, 0, 200).resok
    assert (reply.count, reply.eof) == (100, False)
    reply = nfs3.read(file, 100, 200).resok
    assert (reply.count, reply.eof) == (50, True)
    nfs2 = Nfs2(rig.rpc())
    assert len(nfs2.read(file, 0, 200).resok.data) == 100  # type: ignore[union-attr]


def test_readdir_page(rig: Rig, nfs3: AnyNfs3) -> None:
    names = {b"f%d" % number for number in range(5)}
    for name in names:
        rig.file(name)
    rig.server.knobs.set("readdir_page", 2)
    for call in (nfs3.readdir, nfs3.readdirplus):
        found: list[bytes] = []
        cookie, verifier, eof = 0, bytes(8), False
        while not eof:
            page = call(rig.root, cookie, verifier).resok
            assert 1 <= len(page.entries) <= 2
            found += [entry.name for entry in page.entries]
            cookie, verifier, eof = page.entries[-1].cookie, page.cookieverf, page.eof
        assert sorted(found) == sorted({b".", b"..", *names})
    page2 = Nfs2(rig.rpc()).readdir(rig.root, bytes(4), 4096).resok
    assert page2 is not None
    assert (len(page2.entries), page2.eof) == (2, False)


# ---------------------------------------------------------------- JUKEBOX


def test_jukebox_calls_are_counted_by_file(rig: Rig, nfs3: AnyNfs3) -> None:
    file, other = rig.file(b"f", DATA), rig.file(b"other")
    rig.server.knobs.update(jukebox_calls=2, jukebox_names="f*")
    assert nfs3.getattr(other).status == S.NFS3_OK
    assert nfs3.read(file, 0, 5).status == S.NFS3ERR_JUKEBOX
    assert nfs3.lookup(rig.root, b"f").status == S.NFS3ERR_JUKEBOX
    assert nfs3.read(file, 0, 5).status == S.NFS3_OK
    assert nfs3.lookup(rig.root, b"f").status == S.NFS3_OK


def test_jukebox_call_does_nothing_else(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.update(jukebox_calls=1, jukebox_names="new")
    assert nfs3.create(rig.root, b"new").status == S.NFS3ERR_JUKEBOX
    assert rig.server.fs.root.directory is not None
    assert not rig.server.fs.root.directory.names()
    assert nfs3.create(rig.root, b"new").status == S.NFS3_OK


def test_jukebox_seconds_pass_by_the_clock_of_the_server(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.set("jukebox_seconds", 5.0)
    assert nfs3.getattr(rig.root).status == S.NFS3ERR_JUKEBOX
    rig.clock.advance(4.9)
    assert nfs3.getattr(rig.root).status == S.NFS3ERR_JUKEBOX
    rig.clock.advance(0.2)
    assert nfs3.getattr(rig.root).status == S.NFS3_OK


def test_first_try_of_each_call_is_put_off(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", DATA)
    rig.server.knobs.set("jukebox_tries", 1)
    statuses = [nfs3.read(file, at, 5).status for at in (0, 0, 5, 5, 0)]
    assert statuses == [S.NFS3ERR_JUKEBOX, S.NFS3_OK, S.NFS3ERR_JUKEBOX, S.NFS3_OK, S.NFS3_OK]
    assert nfs3.create(rig.root, b"new").status == S.NFS3ERR_JUKEBOX
    assert nfs3.create(rig.root, b"new").status == S.NFS3_OK


def test_tries_at_random_are_those_of_the_seed(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", bytes(100))

    def answers(seed: int) -> list[S]:
        rig.server.knobs.set("jukebox_tries_random", seed)
        return [S(nfs3.read(file, at, 1).status) for at in range(100)]

    first = answers(1)
    assert set(first) == {S.NFS3_OK, S.NFS3ERR_JUKEBOX}
    assert answers(1) == first
    assert answers(2) != first


def test_null_is_never_put_off(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.update(jukebox_calls=1, jukebox_tries=1)
    nfs3.null()


def test_delegation_holds_up_what_needs_its_recall(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", DATA)
    rig.server.knobs.set("delegated_names", "f")
    assert nfs3.getattr(file).status == S.NFS3_OK
    assert nfs3.lookup(rig.root, b"f").status == S.NFS3_OK
    for _ in range(3):
        assert nfs3.write(file, 0, b"x").status == S.NFS3ERR_JUKEBOX
        assert nfs3.remove(rig.root, b"f").status == S.NFS3ERR_JUKEBOX
    rig.server.knobs.set("delegated_names", "")
    assert nfs3.remove(rig.root, b"f").status == S.NFS3_OK


def test_offline_files_are_fetched_at_the_first_call_for_their_data(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", DATA)
    rig.server.knobs.set("offline_names", "f")
    assert nfs3.getattr(file).status == S.NFS3_OK
    assert nfs3.setattr(file, Sattr3(mode=0o600)).status == S.NFS3_OK
    assert nfs3.read(file, 0, 5).status == S.NFS3ERR_JUKEBOX
    assert nfs3.read(file, 0, 5).status == S.NFS3_OK
    assert nfs3.write(file, 0, b"x").status == S.NFS3_OK


# ---------------------------------------------------------------- what is withheld


def test_pre_op_attributes_are_withheld(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.set("withhold_pre_op", True)
    wcc = nfs3.write(file, 0, b"x").resok.file_wcc
    assert wcc.before is None
    assert wcc.after.size == 1
    failed = nfs3.rename(rig.root, b"none", rig.root, b"x").resfail
    assert failed.fromdir_wcc.before is failed.todir_wcc.before is None


def test_post_op_attributes_are_withheld(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.set("withhold_post_op", True)
    assert nfs3.getattr(file).resok.obj_attributes.size == 0
    wcc = nfs3.write(file, 0, b"x").resok.file_wcc
    assert wcc.after is None
    assert wcc.before.size == 0
    found = nfs3.lookup(rig.root, b"f").resok
    assert found.object == file
    assert found.obj_attributes is found.dir_attributes is None
    page = nfs3.readdirplus(rig.root).resok
    assert page.dir_attributes is None
    assert all(entry.name_attributes is None and entry.name_handle for entry in page.entries)


def test_handles_are_withheld(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.set("withhold_handles", True)
    made = nfs3.create(rig.root, b"f").resok
    assert made.obj is None
    assert made.obj_attributes.size == 0
    assert nfs3.mkdir(rig.root, b"d").resok.obj is None
    assert all(entry.name_handle is None for entry in nfs3.readdirplus(rig.root).resok.entries)
    assert nfs3.lookup(rig.root, b"f").resok.object


# ---------------------------------------------------------------- the file system


def test_times_are_coarse(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.set("time_granularity", 2.0)
    file = rig.file(b"f")
    rig.clock.advance(1.5)
    when = SetTime(TimeHow.SET_TO_CLIENT_TIME, Nfstime3(12_345_67, 89))
    nfs3.setattr(file, Sattr3(mtime=when))
    attributes = nfs3.getattr(file).resok.obj_attributes
    for each in (attributes.atime, attributes.mtime, attributes.ctime):
        assert each.seconds % 2 == each.nseconds == 0
    assert attributes.mtime.seconds == 12_345_66
    assert nfs3.fsinfo(rig.root).resok.time_delta == Nfstime3(2, 0)


def test_times_never_go_back_when_they_become_coarse(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.clock.advance(0.7)
    file = rig.file(b"f")
    before = nfs3.getattr(file).resok.obj_attributes.mtime
    rig.server.knobs.set("time_granularity", 1.0)
    nfs3.write(file, 0, b"x")
    after = nfs3.getattr(file).resok.obj_attributes.mtime
    assert (after.seconds, after.nseconds) >= (before.seconds, before.nseconds)
    assert after.nseconds == 0


def test_no_links(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.update(hard_links=False, symlinks=False)
    assert nfs3.link(file, rig.root, b"g").status == S.NFS3ERR_NOTSUPP
    assert nfs3.symlink(rig.root, b"g", b"f").status == S.NFS3ERR_NOTSUPP
    assert not nfs3.fsinfo(rig.root).resok.properties & (FSF3_LINK | FSF3_SYMLINK)


def test_limits_are_reported_and_kept(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.update(
        max_file_size=1000, name_max=10, path_max=5, rtmax=600, wtmax=500, dtmax=700, case_insensitive=True
    )
    info = nfs3.fsinfo(rig.root).resok
    assert (info.maxfilesize, info.rtmax, info.wtmax, info.dtpref) == (1000, 600, 500, 700)
    assert info.rtmult <= info.rtmax
    assert info.wtmult <= info.wtmax
    conf = nfs3.pathconf(rig.root).resok
    assert (conf.name_max, conf.case_insensitive, conf.case_preserving) == (10, True, True)
    assert nfs3.write(file, 0, DATA).resok.count == 500
    assert nfs3.write(file, 900, DATA[:200]).status == S.NFS3ERR_FBIG
    assert nfs3.setattr(file, Sattr3(size=1001)).status == S.NFS3ERR_INVAL
    assert nfs3.create(rig.root, b"n" * 11).status == S.NFS3ERR_NAMETOOLONG
    assert nfs3.symlink(rig.root, b"s", b"123456").status == S.NFS3ERR_NAMETOOLONG
    nfs3.setattr(file, Sattr3(size=1000))
    assert nfs3.read(file, 0, 1000).resok.count == 600


def test_disk_is_full_until_something_goes(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", DATA)
    rig.server.knobs.set("free_bytes", 0)
    assert nfs3.fsstat(rig.root).resok.fbytes == 0
    other = nfs3.create(rig.root, b"g").resok.obj
    assert nfs3.write(other, 0, b"x").status == S.NFS3ERR_NOSPC
    assert nfs3.write(file, 0, b"x").status == S.NFS3_OK
    nfs3.remove(rig.root, b"f")
    assert nfs3.write(other, 0, b"x").status == S.NFS3_OK
    rig.server.knobs.reset()
    assert nfs3.fsstat(rig.root).resok.fbytes > 2**20


def test_unstable_data_is_kept_when_the_disk_fills(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", DATA)
    nfs3.write(file, 0, b"new", StableHow.UNSTABLE)
    rig.server.knobs.set("free_bytes", 0)
    nfs3.commit(file)
    assert nfs3.fsstat(rig.root).resok.fbytes == 0
    assert bytes(nfs3.read(file, 0, 3).resok.data) == b"new"


def test_no_more_files(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.set("free_files", 1)
    assert nfs3.fsstat(rig.root).resok.ffiles == 1
    assert nfs3.mkdir(rig.root, b"d").status == S.NFS3_OK
    assert nfs3.create(rig.root, b"f").status == S.NFS3ERR_NOSPC


def test_quota_is_of_one_user(rig: Rig) -> None:
    nfs3, alice = rig.nfs3(), rig.nfs3(ALICE)
    rig.server.knobs.set("quota_bytes", 8192)
    own, other = alice.create(rig.root, b"a").resok.obj, nfs3.create(rig.root, b"r").resok.obj
    assert alice.write(own, 0, bytes(10_000)).resok.count == 8192
    assert alice.write(own, 8192, b"x").status == S.NFS3ERR_DQUOT
    assert alice.write(own, 0, b"x").status == S.NFS3_OK
    assert nfs3.write(other, 0, b"x").status == S.NFS3_OK


def test_read_only_export(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.set("read_only", True)
    assert nfs3.write(file, 0, b"x").status == S.NFS3ERR_ROFS
    assert nfs3.create(rig.root, b"g").status == S.NFS3ERR_ROFS


def test_read_only_files(rig: Rig, nfs3: AnyNfs3) -> None:
    file, other = rig.file(b"f", DATA), rig.file(b"g")
    rig.server.knobs.set("read_only_names", "f")
    assert nfs3.write(file, 0, b"x").status == S.NFS3ERR_ACCES
    assert nfs3.setattr(file, Sattr3(mode=0)).status == S.NFS3ERR_ACCES
    assert not nfs3.access(file, 0x3F).resok.access & 0x0C
    assert nfs3.write(other, 0, b"x").status == S.NFS3_OK
    assert nfs3.remove(rig.root, b"f").status == S.NFS3_OK


def test_squashing(rig: Rig) -> None:
    nobody = 65534
    rig.server.knobs.set("root_squash", True)
    assert rig.nfs3().create(rig.root, b"r").resok.obj_attributes.uid == nobody
    assert rig.nfs3(ALICE).create(rig.root, b"a").resok.obj_attributes.uid == 1000
    rig.server.knobs.set("all_squash", True)
    assert rig.nfs3(ALICE).create(rig.root, b"b").resok.obj_attributes.uid == nobody


def test_settings_of_one_call_squash_its_caller(rig: Rig) -> None:
    """Middleware may replace `now` for one call, without a change of the knobs."""
    usual = rig.server.knobs.now
    rig.server.knobs.now = dataclasses.replace(usual, root_squash=True)
    assert rig.nfs3().create(rig.root, b"squashed").resok.obj_attributes.uid == 65534
    rig.server.knobs.now = usual
    assert rig.nfs3().create(rig.root, b"root").resok.obj_attributes.uid == 0


def test_case_does_not_count(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.set("case_insensitive", True)
    file = rig.file(b"Name")
    assert nfs3.lookup(rig.root, b"nAME").resok.object == file
    assert nfs3.mkdir(rig.root, b"NAME").status == S.NFS3ERR_EXIST
    assert nfs3.link(file, rig.root, b"name").status == S.NFS3ERR_EXIST
    assert [entry.name for entry in nfs3.readdir(rig.root).resok.entries][2:] == [b"Name"]
    assert nfs3.rename(rig.root, b"NAME", rig.root, b"other").status == S.NFS3_OK
    rig.file(b"second")
    assert nfs3.rename(rig.root, b"OTHER", rig.root, b"SECOND").status == S.NFS3_OK
    assert [entry.name for entry in nfs3.readdir(rig.root).resok.entries][2:] == [b"second"]
    assert nfs3.remove(rig.root, b"SECOND").status == S.NFS3_OK
    assert nfs3.lookup(rig.root, b"second").status == S.NFS3ERR_NOENT


def test_handles_outlive_names(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.set("stale_on_remove", False)
    file = rig.file(b"f", DATA)
    nfs3.remove(rig.root, b"f")
    assert bytes(nfs3.read(file, 0, 2000).resok.data) == DATA
    assert nfs3.getattr(file).resok.obj_attributes.nlink == 0
    assert nfs3.link(file, rig.root, b"g").status == S.NFS3ERR_STALE
    rig.server.knobs.reset()
    assert nfs3.getattr(file).status == S.NFS3ERR_STALE


def test_files_without_a_name_do_not_outlive_a_crash(rig: Rig) -> None:
    rig.server.knobs.set("stale_on_remove", False)
    file = rig.file(b"f", DATA)
    rig.nfs3().remove(rig.root, b"f")
    rig.server.crash()
    assert rig.nfs3().getattr(file).status == S.NFS3ERR_STALE


# ---------------------------------------------------------------- outside the protocol


def test_files_change_without_the_protocol(rig: Rig, nfs3: AnyNfs3) -> None:
    directory = nfs3.mkdir(rig.root, b"d").resok.obj
    file = nfs3.create(directory, b"f").resok.obj
    before = nfs3.getattr(file).resok.obj_attributes
    rig.server.knobs.set("read_only", True)
    touch_locally(rig.server.fs, b"d/f")
    after = nfs3.getattr(file).resok.obj_attributes
    assert after.size > before.size
    assert after.mtime != before.mtime
    touch_locally(rig.server.fs, b"/d/f", remove=True)
    assert nfs3.getattr(file).status == S.NFS3ERR_STALE
    assert nfs3.lookup(directory, b"f").status == S.NFS3ERR_NOENT
    assert rig.server.fs.read_only
