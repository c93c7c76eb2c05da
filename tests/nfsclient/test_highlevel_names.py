# SPDX-License-Identifier: MIT
"""Names by path: resolution, creation, removal, attributes, and the errors."""

from __future__ import annotations

import errno
import pickle
import stat
import typing as t
from pathlib import PurePosixPath

import pytest

from nfsclient.errors import NfsStatusError, RetriesExhausted
from nfsclient.files import FileType, NewAttributes, Time
from nfsclient.highlevel import LinkNotFollowed
from nfsclient.protocol import nfs3 as p
from tests.nfsclient.conftest import Stage


def withhold(resok: t.Any) -> None:
    """Leave out everything that a server may leave out."""
    for field in ("obj", "obj_attributes", "dir_attributes", "file_attributes", "symlink_attributes"):
        if hasattr(resok, field) and not isinstance(resok, p.Getattr3ResOk):
            setattr(resok, field, None)


class TestResolution:
    @pytest.mark.parametrize(
        "path",
        ["a/b/f", "/a/b/f", "a//b/./f", b"a/b/f", PurePosixPath("a/b/f")],
        ids=["relative", "absolute", "untidy", "bytes", "path"],
    )
    def test_forms_of_a_path(self, stage: Stage, path: t.Any) -> None:
        stage.client.mkdir("a/b", parents=True)
        stage.client.write_file("a/b/f", b"data")
        assert stage.client.read_file(path) == b"data"

    def test_names_are_bytes_and_text_is_utf_8(self, stage: Stage) -> None:
        stage.client.write_file("\u00fc", b"")
        stage.client.write_file(b"\xff\xfe", b"")
        assert stage.client.listdir(b"") == [b"\xc3\xbc", b"\xff\xfe"]
        assert stage.client.listdir("") == ["\u00fc", "\udcff\udcfe"]
        assert stage.client.exists("\udcff\udcfe")

    def test_the_root_is_a_directory_that_has_no_name(self, stage: Stage) -> None:
        assert stage.client.stat().type == FileType.DIRECTORY
        assert stage.client.stat("/").fileid == stage.client.stat("..").fileid == stage.client.stat().fileid
        for act in (stage.client.remove, stage.client.rmdir, stage.client.mkdir):
            with pytest.raises(NfsStatusError):
                act("/")

    def test_symbolic_links_are_followed_to_their_end(self, stage: Stage) -> None:
        stage.client.mkdir("a/b", parents=True)
        stage.client.write_file("a/b/f", b"data")
        stage.client.symlink("a/b", "short")
        stage.client.symlink("../short/f", "a/again")
        assert stage.client.read_file("a/again") == b"data"
        assert stage.client.lstat("a/again").type == FileType.LINK
        assert stage.client.readlink("a/again") == "../short/f"
        assert stage.client.readlink(b"a/again") == b"../short/f"

    def test_dot_dot_after_a_link_leads_where_the_link_led(self, stage: Stage) -> None:
        stage.client.mkdir("a/b", parents=True)
        stage.client.mkdir("c")
        stage.client.symlink("../a/b", "c/l")
        stage.client.write_file("a/here", b"data")
        assert stage.client.read_file("c/l/../here") == b"data"

    def test_an_absolute_link_is_followed_within_the_export(self, stage: Stage) -> None:
        stage.client.write_file("f", b"data")
        stage.client.symlink("/export/f", "inside")
        stage.client.symlink("/etc/passwd", "outside")
        assert stage.client.read_file("inside") == b"data"
        with pytest.raises(LinkNotFollowed, match="out of the export"):
            stage.client.read_file("outside")

    def test_links_in_a_circle_end(self, stage: Stage) -> None:
        stage.client.symlink("b", "a")
        stage.client.symlink("a", "b")
        with pytest.raises(LinkNotFollowed, match="more than 40") as caught:
            stage.client.stat("a")
        assert isinstance(caught.value, OSError)
        assert caught.value.errno == errno.ELOOP
        assert str(caught.value).startswith("a leads through")

    def test_a_file_is_written_through_a_link(self, stage: Stage) -> None:
        stage.client.write_file("f", b"old")
        stage.client.symlink("f", "l")
        stage.client.write_file("l", b"new")
        assert (stage.client.read_file("f"), stage.client.lstat("l").type) == (b"new", FileType.LINK)

    def test_nothing_is_followed_by_what_works_on_names(self, stage: Stage) -> None:
        stage.client.write_file("f", b"")
        stage.client.symlink("f", "l")
        stage.client.rename("l", "m")
        stage.client.remove("m")
        assert stage.client.listdir() == ["f"]


class TestWithheld:
    def test_attributes_and_handles_are_requested(self, stage: Stage) -> None:
        for procedure in (p.LOOKUP, p.CREATE, p.MKDIR, p.SYMLINK, p.READ, p.READLINK, p.READDIR):
            stage.bend(procedure, withhold)
        stage.bend(p.READDIRPLUS, without_attributes_of_entries)
        client = stage.client
        assert client.find("").attributes is None
        made = client.mkdir("d")
        assert made.handle == client.find("d").handle
        client.write_file("d/f", b"data")
        client.symlink("d/f", "l")
        assert (client.read_file("l"), client.stat("l").size) == (b"data", 4)
        with client.open("d/x", "x") as file:
            file.write(b"x")
        assert list(client.walk()) == [("", ["d"], ["l"]), ("d", [], ["f", "x"])]

    def test_an_entry_that_is_gone_when_it_is_looked_up_is_left_out(self, stage: Stage) -> None:
        stage.client.write_file("f", b"")
        stage.bend(p.READDIRPLUS, without_attributes_of_entries)
        gone = p.Lookup3Res(p.Nfsstat3.NFS3ERR_NOENT, resfail=p.Lookup3ResFail())
        stage.script(p.LOOKUP, gone)
        assert list(stage.client.walk()) == [("", [], [])]


def without_attributes_of_entries(resok: p.Readdirplus3ResOk) -> None:
    resok.entries = [p.Entryplus3(each.fileid, each.name, each.cookie) for each in resok.entries]


class TestChanges:
    def test_directories_are_made_and_removed(self, stage: Stage) -> None:
        client = stage.client
        client.mkdir("a/b/c", 0o700, parents=True)
        client.mkdir("a/b/c", exist_ok=True)
        assert client.stat("a/b/c").mode == 0o700
        with pytest.raises(FileExistsError):
            client.mkdir("a/b")
        with pytest.raises(FileNotFoundError):
            client.mkdir("x/y")
        client.rmdir("a/b/c")
        assert client.listdir("a/b") == []

    def test_a_file_instead_of_a_directory_is_no_success(self, stage: Stage) -> None:
        stage.client.write_file("f", b"")
        with pytest.raises(FileExistsError):
            stage.client.mkdir("f", exist_ok=True)

    def test_links_renames_and_removal(self, stage: Stage) -> None:
        client = stage.client
        client.write_file("f", b"data")
        client.link("f", "g")
        assert client.stat("g").nlink == 2
        client.mkdir("d")
        client.rename("f", "d/h")
        client.remove("g")
        assert list(client.walk()) == [("", ["d"], []), ("d", [], ["h"])]

    def test_attributes_are_set(self, stage: Stage) -> None:
        client = stage.client
        client.write_file("f", b"data", mode=0o600)
        assert client.stat("f").mode == 0o600
        client.chmod("f", stat.S_IFREG | 0o640)
        client.chown("f", 5)
        client.chown("f", gid=6)
        client.utime("f", (7 * 10**9 + 8, 9 * 10**9 + 10))
        client.truncate("f", 2)
        seen = client.stat("f")
        assert (seen.mode, seen.uid, seen.gid, seen.size) == (0o640, 5, 6, 2)
        client.utime("f", (7 * 10**9 + 8, 9 * 10**9 + 10))
        seen = client.stat("f")
        assert (seen.atime, seen.mtime) == (Time(7, 8), Time(9, 10))
        client.utime("f")
        assert client.stat("f").mtime != Time(9, 10)

    def test_an_existing_file_keeps_its_mode(self, stage: Stage) -> None:
        stage.client.write_file("f", b"", mode=0o600)
        stage.client.write_file("f", b"", mode=0o666)
        assert stage.client.stat("f").mode == 0o600

    def test_exclusive_creation_sets_mode_and_times_afterwards(self, stage: Stage) -> None:
        stage.watch(p.CREATE, p.SETATTR)
        stage.client.open("f", "x", permissions=0o600).close()
        assert [name for name, *_ in stage.calls] == ["CREATE", "SETATTR"]
        assert stage.called("CREATE")[0].how.mode == p.CreateMode3.EXCLUSIVE
        assert stage.client.stat("f").mode == 0o600

    def test_exclusive_creation_falls_back_where_the_server_has_it_not(self, stage: Stage) -> None:
        refusal = p.Create3Res(p.Nfsstat3.NFS3ERR_NOTSUPP, resfail=p.Create3ResFail(p.WccData()))
        stage.watch(p.CREATE)
        stage.script(p.CREATE, refusal)
        stage.client.open("f", "x", permissions=0o600).close()
        assert [args.how.mode for args in stage.called("CREATE")] == [
            p.CreateMode3.EXCLUSIVE,
            p.CreateMode3.GUARDED,
        ]
        assert stage.client.stat("f").mode == 0o600

    def test_jukebox_is_waited_for(self, stage: Stage) -> None:
        stage.script(p.GETATTR, *[p.Getattr3Res(p.Nfsstat3.NFS3ERR_JUKEBOX)] * 8)
        stage.client.stat()
        assert stage.pauses.waited == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0])

    def test_endless_jukebox_is_given_up(self, stage: Stage) -> None:
        stage.script(p.GETATTR, *[p.Getattr3Res(p.Nfsstat3.NFS3ERR_JUKEBOX)] * 1000)
        with pytest.raises(RetriesExhausted, match="GETATTR"):
            stage.client.stat()
        assert stage.pauses.now == pytest.approx(30.0)


class TestErrors:
    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            ("NOENT", FileNotFoundError),
            ("EXIST", FileExistsError),
            ("ACCES", PermissionError),
            ("PERM", PermissionError),
            ("NOTDIR", NotADirectoryError),
            ("ISDIR", IsADirectoryError),
            ("STALE", NfsStatusError),
        ],
    )
    def test_a_status_is_pythons_own_exception_too(
        self, stage: Stage, status: str, kind: type[Exception]
    ) -> None:
        wanted = p.Nfsstat3[f"NFS3ERR_{status}"]
        stage.script(p.LOOKUP, p.Lookup3Res(wanted, resfail=p.Lookup3ResFail()))
        with pytest.raises(kind) as caught:
            stage.client.stat("a/b")
        error = caught.value
        assert isinstance(error, NfsStatusError)
        assert (error.status, error.procedure, error.path) == (wanted, "LOOKUP", "a/b")
        assert str(error) == f"LOOKUP on a/b answered NFS3ERR_{status}"

    def test_exists_is_false_only_for_what_is_not_there(self, stage: Stage) -> None:
        stage.client.write_file("f", b"")
        assert stage.client.exists("f")
        assert not stage.client.exists("g")
        assert not stage.client.exists("f/g")
        stage.script(p.LOOKUP, p.Lookup3Res(p.Nfsstat3.NFS3ERR_IO, resfail=p.Lookup3ResFail()))
        with pytest.raises(NfsStatusError):
            stage.client.exists("f")

    def test_the_client_is_no_part_of_its_errors(self, stage: Stage) -> None:
        with pytest.raises(FileNotFoundError) as caught:
            stage.client.stat("none")
        assert pickle.dumps(str(caught.value))

    def test_fsstat_is_passed_on(self, stage: Stage) -> None:
        room = stage.client.fsstat().tbytes
        assert room is not None
        assert room > 0

    def test_setattr_takes_any_attributes(self, stage: Stage) -> None:
        stage.client.write_file("f", b"")
        stage.client.setattr("f", NewAttributes(size=3, mode=0o400))
        assert (stage.client.stat("f").size, stage.client.stat("f").mode) == (3, 0o400)
