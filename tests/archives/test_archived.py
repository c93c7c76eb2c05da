# SPDX-License-Identifier: MIT
"""Archives come from strangers: only files of a run are extracted, to the requested folder."""

from __future__ import annotations

import gzip
import io
import json
import random
import stat
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reports
from nfsjudge.records import BadRecord
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from reports import archived
from reports.archived import BadArchive, unpack
from tests.archives.conftest import CAPTURE, make_run, packed

RECORDS = b"""{"target":"embedded","kind":"run","schema":1}
{"id":"nfs3/a/b","verdict":"PASS","kind":"check","schema":1}
"""
MANIFEST = json.dumps({"format": "nfsproof-archive", "schema": 1}).encode()
GOOD = [("run/manifest.json", MANIFEST), ("run/records.jsonl", RECORDS)]


def tar(path: Path, *members: tuple[str | tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members:
            member = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def zipped(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def inside(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


HOSTILE = [
    "../records.jsonl",
    "run/../../evil.py",
    "/etc/evil",
    "run/evidence/../../../evil.py",
    "run/evidence//evil.py",
    "run\\..\\evil.py",
    "C:/evil.py",
    "run/evidence/.bashrc",
    "run/setup.py",
    "run/evidence/a\nb.py",
    "run/evidence/" + "a" * 300,
    "run/evidence/" + "a/" * 20 + "b.py",
]


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_lead_elsewhere_stay_inside(tmp_path: Path, make: object, name: str) -> None:
    archive = make(tmp_path / ("a.zip" if make is zipped else "a.tar.gz"), *GOOD, (name, b"evil"))  # type: ignore[operator]
    found = unpack(archive, tmp_path / "deep" / "out")
    assert inside(tmp_path / "deep" / "out") == [".nfsproof-unpacked", "manifest.json", "records.jsonl"]
    assert inside(tmp_path / "deep") == [f"out/{name}" for name in inside(tmp_path / "deep" / "out")]
    assert "is ignored" in found.problems[0]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_stay_inside(tmp_path: Path, kind: bytes) -> None:
    member = tarfile.TarInfo("run/evidence/a.py")
    member.type, member.linkname = kind, "/etc/passwd"
    found = unpack(tar(tmp_path / "a.tar.gz", *GOOD, (member, b"")), tmp_path / "out")
    assert not (tmp_path / "out" / "evidence").exists()
    assert "it is not a file but a" in found.problems[0]


def test_a_link_in_a_zip_stays_inside(tmp_path: Path) -> None:
    member = zipfile.ZipInfo("run/evidence/a.py")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    unpack(zipped(tmp_path / "a.zip", *GOOD, (member, b"/etc/passwd")), tmp_path / "out")
    assert not (tmp_path / "out" / "evidence").exists()


def test_a_link_and_then_a_file_through_it(tmp_path: Path) -> None:
    link = tarfile.TarInfo("run/evidence")
    link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
    archive = tar(tmp_path / "a.tar.gz", *GOOD, (link, b""), ("run/evidence/evil.py", b"evil"))
    unpack(archive, tmp_path / "out")
    assert not (tmp_path / "evil.py").exists()


def test_the_same_name_twice_counts_once(tmp_path: Path) -> None:
    found = unpack(tar(tmp_path / "a.tar.gz", *GOOD, ("run/RECORDS.jsonl", b""), GOOD[1]), tmp_path / "out")
    assert (tmp_path / "out" / "records.jsonl").read_bytes() == RECORDS
    assert "it is in the archive twice" in found.problems[-1]


@pytest.mark.parametrize(
    "names", [("x", "x/y.py"), ("x/y.py", "X"), ("a/x/y.py", "a/x"), ("a/x", "a/x/y/z.py")]
)
@pytest.mark.parametrize("make", [tar, zipped])
def test_a_name_that_is_both_a_file_and_a_folder(
    tmp_path: Path, make: object, names: tuple[str, str]
) -> None:
    first, second = (f"run/evidence/{name}" for name in names)
    archive = make(  # type: ignore[operator]
        tmp_path / ("a.zip" if make is zipped else "a.tar.gz"), *GOOD, (first, b"1"), (second, b"2")
    )
    found = unpack(archive, tmp_path / "out")
    assert (tmp_path / "out" / first.removeprefix("run/")).read_bytes() == b"1"
    assert (
        f"{second!r} is ignored: the archive has both a file and a folder of one name" in found.problems[-1]
    )


@pytest.mark.parametrize("make", [tar, zipped])
def test_a_bomb_is_bounded(tmp_path: Path, make: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archived, "MOST_BYTES", 2**20)
    bombs = [(f"run/evidence/{number}.py", bytes(2**20)) for number in range(5)]
    archive = make(tmp_path / ("a.zip" if make is zipped else "a.tar.gz"), *GOOD, *bombs)  # type: ignore[operator]
    assert archive.stat().st_size < 2**15
    found = unpack(archive, tmp_path / "out")
    assert (
        sum(path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file()) <= 2**20 + 1000
    )
    assert "unpacks to more than" in found.problems[0]


def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archived, "MOST_FILES", 10)
    many = [(f"run/evidence/{number}.py", b"") for number in range(50)]
    found = unpack(tar(tmp_path / "a.tar.gz", *GOOD, *many), tmp_path / "out")
    assert len(inside(tmp_path / "out")) == 11
    assert "more than 10 files" in found.problems[0]


def test_a_header_as_large_as_a_disk_takes_no_memory(tmp_path: Path) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 2**33
    archive = tmp_path / "a.tar.gz"
    good = gzip.decompress(tar(tmp_path / "good.tar.gz", *GOOD).read_bytes()).rstrip(b"\0")
    good += bytes(-len(good) % 512)
    with gzip.open(archive, "wb") as out:
        out.write(good + header.tobuf())
        for _ in range(64):
            out.write(bytes(2**20))
    tracemalloc.start()
    found = unpack(archive, tmp_path / "out")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 * 2**20
    assert "broken" in found.problems[0]


@pytest.mark.parametrize("ending", [".tar.gz", ".zip"])
def test_a_torn_archive_never_raises_anything_else(tmp_path: Path, ending: str) -> None:
    whole = tmp_path / f"whole{ending}"
    packed(make_run(tmp_path / "run"), whole)
    data = whole.read_bytes()
    for cut in range(0, len(data), max(1, len(data) // 60)):
        torn = tmp_path / f"torn{ending}"
        torn.write_bytes(data[:cut])
        try:
            found = unpack(torn, tmp_path / f"out{cut}")
        except BadArchive:
            continue
        # Only data after the last file can be missing without a message.
        assert found.problems or (found.folder / "manifest.json").exists()


def test_what_came_before_a_tear_is_used(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(200_000)
    archive = tar(tmp_path / "a.tar.gz", *GOOD, ("run/evidence/a.py", noise))
    archive.write_bytes(archive.read_bytes()[:100_000])
    (run,), problems = reports.load_all([archive])
    assert run.checks[0].id == "nfs3/a/b"
    assert "broken" in problems[0]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=600),
    head=st.sampled_from([b"", b"\x1f\x8b\x08\x00", b"PK\x03\x04", b"PK\x05\x06"]),
)
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, head: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    for content in (head + data, gzip.compress(data)):
        (folder / "a.zip").write_bytes(content)
        with pytest.raises(BadArchive):
            unpack(folder / "a.zip", folder / "out")


@pytest.mark.parametrize(
    ("manifest", "hint"),
    [
        (b"{", "no readable manifest.json"),
        (b"[" * 100_000, "no readable manifest.json"),
        (b'{"format": "other"}', "belongs to something else"),
        (b'{"format": "nfsproof-archive", "schema": 99}', "later than 1"),
    ],
)
def test_a_foreign_manifest_is_reported_and_the_records_are_read(
    tmp_path: Path, manifest: bytes, hint: str
) -> None:
    archive = tar(tmp_path / "a.tar.gz", GOOD[1], ("run/manifest.json", manifest))
    (run,), problems = reports.load_all([archive])
    assert hint in problems[0]
    assert len(run.checks) == 1


def test_an_archive_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match=r"it has no records\.jsonl"):
        reports.load_all([zipped(tmp_path / "a.zip", ("setup.py", b"import os"))])


def test_archives_of_several_people_come_into_one_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ann", "bob"):
        folder = tmp_path / name
        folder.mkdir()
        packed(make_run(folder / "run"), folder / "A.tar.gz", label="Server A")
    page = tmp_path / "board.html"
    archives = [str(tmp_path / name / "A.tar.gz") for name in ("ann", "bob")]
    for _ in range(2):  # the second time what was unpacked is replaced
        assert run_command_line(["report", *archives, "--html", str(page)]) == Exit.OK
    text = page.read_text()
    assert "Server A (2)" in text
    for name in ("A", "A-2"):
        assert (tmp_path / "board-files" / name / CAPTURE).is_file()
    assert "filer7" not in text


def test_a_folder_of_archives(tmp_path: Path) -> None:
    for name in ("b.tar.gz", "a.zip"):
        packed(make_run(tmp_path / name[0] / "deep" / "run"), tmp_path / name, label=name[0])
    runs, _ = reports.load_all([tmp_path])
    assert [run.label for run in runs] == ["a", "b"]


def test_a_folder_of_the_users_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed(make_run(tmp_path / "run"), tmp_path / "A.zip", label="A")
    mine = tmp_path / "board-files" / "A" / "thesis.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    assert (
        run_command_line(["report", str(tmp_path / "A.zip"), "--html", str(tmp_path / "board.html")])
        == Exit.USAGE
    )
    assert mine.read_text() == "mine"
    assert "not extracted from an archive" in capsys.readouterr().err


def test_the_archive_of_a_folder_stands_for_it(tmp_path: Path) -> None:
    for name in ("A", "B"):
        make_run(tmp_path / name)
    packed(tmp_path / "A", tmp_path / "A.tar.gz", label="a")
    found = [path.relative_to(tmp_path).as_posix() for path in reports.reading.find_records(tmp_path)]
    assert found == ["A.tar.gz", "B/records.jsonl"]
