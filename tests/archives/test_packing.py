# SPDX-License-Identifier: MIT
"""What is handed over does not tell where it was tested, and all the rest is in it."""

from __future__ import annotations

import ipaddress
import json
import socket
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reports
from nfsjudge.records import CheckRecord, EndRecord, RunRecord, read_records, to_line
from nfsproof.archiving import ArchiveError, Wishes, pack
from nfsproof.archiving.captures import NotOurs, addresses_in, scrubbed
from nfsproof.archiving.scrub import Scrubber
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from tests.archives.conftest import ADDRESS, CAPTURE, HOST, PATH, SCRIPT, TARGET, make_run, packed
from tests.needs import needs
from tests.waiting import AT_MOST


@pytest.fixture(autouse=True)
def no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name server is used."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "not here")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)


def forms_of(word: str) -> list[bytes]:
    """How a word may stand in a file, in lower case."""
    return [word.lower().encode(), word.encode().hex().encode()]


def leaks(files: dict[str, bytes], *words: str) -> list[tuple[str, str]]:
    joined = {name: data.lower() for name, data in files.items()}
    found = [
        (name, word)
        for name, data in joined.items()
        for word in words
        if any(f in data for f in forms_of(word))
    ]
    # A dump has blanks between its digits.
    texts = {
        name: b"".join(data.split()) for name, data in joined.items() if name.endswith((".jsonl", ".py"))
    }
    dumps = [(word, word.encode().hex().encode()) for word in words]
    return found + [(name, word) for name, data in texts.items() for word, digits in dumps if digits in data]


@pytest.mark.parametrize("ending", [".tar.gz", ".tgz", ".zip"])
def test_the_host_its_address_and_our_paths_are_nowhere(tmp_path: Path, ending: str) -> None:
    files = packed(make_run(tmp_path / "run"), tmp_path / f"a{ending}", label="Server A")
    assert set(files) == {"records.jsonl", "manifest.json", CAPTURE, SCRIPT}
    assert leaks(files, HOST, "filer7", ADDRESS, PATH, TARGET, str(tmp_path)) == []
    assert not any(ipaddress.ip_address(ADDRESS).packed in data for data in files.values())


def test_names_of_all_kinds(tmp_path: Path) -> None:
    files = packed(make_run(tmp_path / "run"), tmp_path / "a.zip", label="Server A", hide=("refused",))
    run, check, *_, end = read_records(files["records.jsonl"].decode().splitlines(keepends=True))
    assert isinstance(run, RunRecord)
    assert (run.target, run.label, run.description) == ("Server A", "Server A", "")
    assert run.watched == "process 4711 and 2 more"
    assert run.capabilities == {"device": "HOST SERVER"}
    assert isinstance(check, CheckRecord)
    assert check.rerun == "bin/nfsproof run 'TARGET' nfs3/a/b"
    assert check.observed == "said 'exported by HOST (HOST.8.1), see /EXPORT/x'"
    assert check.elsewhere == []
    assert (check.capture, check.script) == (CAPTURE, SCRIPT)
    assert isinstance(end, EndRecord)
    assert end.note == "HOST is gone"


def test_a_run_without_a_label_gets_a_number(tmp_path: Path) -> None:
    files = packed(make_run(tmp_path / "run"), tmp_path / "a.zip")
    manifest = json.loads(files["manifest.json"])
    assert manifest["label"].startswith("target ")
    assert not manifest["anonymous"]
    assert leaks(files, HOST, ADDRESS) == []
    assert leaks(files, PATH) != []  # the export says nothing of the host


def test_with_hosts_nothing_is_changed(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    files = packed(run, tmp_path / "a.zip", with_hosts=True, with_logs=True)
    assert files[CAPTURE] == (run / CAPTURE).read_bytes()
    assert HOST.encode() in files["records.jsonl"]
    assert "logs/server.log" in files


def test_logs_are_cleaned_too(tmp_path: Path) -> None:
    files = packed(make_run(tmp_path / "run"), tmp_path / "a.zip", with_logs=True)
    assert files["logs/server.log"] == b"listening on HOST\n"


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("", "nfsproof run 'Box.toml#lab' a --control=crash=COMMAND"),
        ("B", "nfsproof run TARGET a --control=crash=COMMAND"),
    ],
)
def test_commands_of_the_owner_are_not_handed_over(tmp_path: Path, label: str, expected: str) -> None:
    check = CheckRecord("nfs3/a/b", "FAIL", observed="1")
    check.rerun = "nfsproof run 'dir/Box.toml#lab' a '--control=crash=ssh bmc reset'"
    lines = f"{to_line(RunRecord(TARGET, 'Box'))}\n{to_line(check)}\n{to_line(EndRecord(1))}\n"
    (tmp_path / "records.jsonl").write_text(lines, encoding="utf-8")
    files = packed(tmp_path, tmp_path / "a.zip", label=label)
    _, found, _ = read_records(files["records.jsonl"].decode().splitlines(keepends=True))
    assert isinstance(found, CheckRecord)
    assert found.rerun == expected


@pytest.mark.parametrize(
    ("target", "description", "hidden"),
    [
        ("client:libnfs", "libnfs (libnfs.so.13)", ["libnfs"]),
        ("client:command", "what /opt/acme/acme-mount mounts", ["acme"]),
        ("client:program", "the programs acme-cat, acme-cp", ["acme"]),
    ],
)
def test_the_name_of_a_client_is_hidden_and_the_word_is_not(
    tmp_path: Path, target: str, description: str, hidden: list[str]
) -> None:
    check = CheckRecord("clients/lost/call-lost[read-3]", "FAIL", observed=f"{description}: no such file")
    check.title, check.rerun = "The client reads", f"nfsproof run {target} a --mount=COMMAND"
    lines = f"{to_line(RunRecord(target, description))}\n{to_line(check)}\n{to_line(EndRecord(1))}\n"
    (tmp_path / "records.jsonl").write_text(lines, encoding="utf-8")
    files = packed(tmp_path, tmp_path / "a.zip", label="Client A")
    assert leaks(files, *hidden) == []
    _, found, _ = read_records(files["records.jsonl"].decode().splitlines(keepends=True))
    assert isinstance(found, CheckRecord)
    assert found.title == "The client reads"
    assert found.id == check.id


@pytest.mark.parametrize("anonymous", [True, False])
def test_a_server_that_was_started_for_the_run(tmp_path: Path, anonymous: bool) -> None:
    about = RunRecord("ganesha:mem", "ganesha:mem (NFS-Ganesha 4.3, FSAL MEM)")
    check = CheckRecord("nfs3/a/b", "FAIL", observed="NFS-Ganesha says", rerun="nfsproof run ganesha:mem a")
    check.elsewhere = ["NFS-Ganesha 4.3"]
    end = EndRecord(11, baseline="ganesha-4.3-mem.toml", differences=["expired: a: as Ganesha has it"])
    lines = f"{to_line(about)}\n{to_line(check)}\n{to_line(end)}\n"
    (tmp_path / "records.jsonl").write_text(lines, encoding="utf-8")
    files = packed(tmp_path, tmp_path / "a.zip", label="B", anonymous=anonymous)
    assert bool(leaks(files, "ganesha")) is not anonymous


@pytest.mark.parametrize(
    ("target", "path"), [("ganesha:mem", "/mem"), ("ganesha", "/vfs"), ("fernfs", "/long/one")]
)
def test_the_export_of_a_server_that_was_started_for_the_run(tmp_path: Path, target: str, path: str) -> None:
    check = CheckRecord("nfs3/mem/vfs", "FAIL", observed=f"dirpath: '{path}'", script=SCRIPT)
    lines = f"{to_line(RunRecord(target, target))}\n{to_line(check)}\n{to_line(EndRecord(1))}\n"
    (tmp_path / "records.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / SCRIPT).parent.mkdir(parents=True)
    sent = (len(path).to_bytes(4, "big") + path.encode()).hex()
    usage = "# python THIS_FILE nfs://HOST/EXPORT\n"
    (tmp_path / SCRIPT).write_text(f"{usage}run('nfs://127.0.0.1:41813{path}?mountport=1', '{sent}')\n")
    files = packed(tmp_path, tmp_path / "a.zip", label="B")
    assert set(files) >= {SCRIPT}
    assert leaks(files, path) == [("records.jsonl", path)] * ("nfs3/mem/vfs".count(path))  # of the id alone
    named = packed(tmp_path, tmp_path / "b.zip", label="B", anonymous=False)
    assert path.encode() in named[SCRIPT]


@pytest.mark.parametrize("word", ["host", "Server", "hidden", "TARGET"])
def test_a_word_that_looks_like_what_stands_in_its_place(word: str) -> None:
    scrubber = Scrubber({word: word.upper()})
    hidden = scrubber.text(f"nfs://{word}/EXPORT says {word.upper()}")
    assert word.casefold() not in hidden.casefold()
    assert scrubber.is_clean(hidden.encode())


def _is_somebody(address: ipaddress.IPv4Address) -> bool:
    """Not of this machine, nor of those that captures are made up with."""
    made_up = ipaddress.ip_network("192.0.2.0/24")
    return not (address.is_loopback or address.is_unspecified or address in made_up)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    host=st.from_regex(r"[a-z][a-z0-9-]{2,20}[a-z0-9](\.[a-z]{2,8}){1,3}", fullmatch=True),
    address=st.integers(0, 2**32 - 1).map(ipaddress.IPv4Address).filter(_is_somebody),
    before=st.text(" ./:-@'\"\n\x00é", max_size=60),
    after=st.text(" ./:-@'\"\n\x00é", max_size=9),
    shout=st.booleans(),
)
def test_whatever_the_host_is_called_it_never_appears(
    tmp_path_factory: pytest.TempPathFactory,
    host: str,
    address: ipaddress.IPv4Address,
    before: str,
    after: str,
    shout: bool,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    said = f"{before}{host.upper() if shout else host}{after} {before}{address}{after}"
    run = make_run(folder / "run", host=host, address=str(address), said=said)
    files = packed(run, folder / "a.zip", label="L")
    assert leaks(files, host) == []
    assert not any(str(address).encode() in data for data in files.values())


@needs("tshark")
def test_a_cleaned_capture_is_one_still(tmp_path: Path) -> None:
    files = packed(make_run(tmp_path / "run"), tmp_path / "a.zip", label="A")
    capture = tmp_path / "clean.pcapng"
    capture.write_bytes(files[CAPTURE])
    before = (tmp_path / "run" / CAPTURE).read_bytes()
    assert addresses_in(before) == {ipaddress.ip_address(ADDRESS)}
    assert addresses_in(files[CAPTURE]) == set()
    assert abs(len(before) - len(files[CAPTURE])) < 400  # comments are shorter
    command = ["tshark", "-r", str(capture), "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    command += ["-T", "fields", "-e", "ip.checksum.status", "-e", "tcp.checksum.status"]
    output = subprocess.run(command, capture_output=True, text=True, timeout=AT_MOST, check=True).stdout
    assert {tuple(line.split()) for line in output.splitlines()} == {("1", "1")}


def test_an_address_of_ipv6_is_hidden_in_all_its_forms(tmp_path: Path) -> None:
    address = ipaddress.IPv6Address("2620:1ec::77")
    said = f"{address} {address.exploded} {str(address).upper()}"
    files = packed(make_run(tmp_path / "run", address=str(address), said=said), tmp_path / "a.zip", label="A")
    assert leaks(files, str(address), address.exploded) == []
    assert not any(address.packed in data for data in files.values())
    assert addresses_in(files[CAPTURE]) == set()


def test_nothing_to_hide_changes_no_byte(tmp_path: Path) -> None:
    data = (make_run(tmp_path / "run", address="127.0.0.1") / CAPTURE).read_bytes()
    assert scrubbed(data, Scrubber({})) == data


@pytest.mark.parametrize("cut", [5, 40, 131, -3])
def test_a_torn_capture_is_left_out_and_reported(tmp_path: Path, cut: int) -> None:
    run = make_run(tmp_path / "run")
    (run / CAPTURE).write_bytes((run / CAPTURE).read_bytes()[:cut])
    found = pack(run, tmp_path / "a.zip", Wishes())
    assert CAPTURE in found.manifest.left_out
    assert found.problems[0].startswith(f"{CAPTURE} is left out: ")
    (loaded,) = reports.load_all([tmp_path / "a.zip"])[0]
    assert loaded.checks[0].capture == ""


@given(data=st.binary(max_size=300))
def test_any_bytes_for_a_capture(data: bytes) -> None:
    for content in (data, b"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a" + data):
        try:
            scrubbed(content, Scrubber({}))
        except NotOurs:
            continue


def test_lines_that_are_no_records_are_left_out(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    with (run / "records.jsonl").open("a") as file:
        file.write(f'{{"kind":"check","id":"{HOST}')
    found = pack(run, tmp_path / "a.zip", Wishes())
    assert found.problems == ["line 5 of records.jsonl is no record and was left out"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    (run / "evidence" / "passwd.py").symlink_to("/etc/passwd")
    assert "evidence/passwd.py" not in packed(run, tmp_path / "a.zip")


@pytest.mark.parametrize(
    ("file", "hint"),
    [("a.rar", "ends in .tar.gz"), ("no/folder/a.zip", "folder/a.zip: No such file"), ("", "No such file")],
)
def test_what_cannot_be_done_is_one_line(tmp_path: Path, file: str, hint: str) -> None:
    run = make_run(tmp_path / "run") if file else tmp_path
    with pytest.raises(ArchiveError, match=hint):
        pack(run, tmp_path / (file or "a.zip"), Wishes())
    assert list(tmp_path.glob(".*part")) == []


def test_records_that_do_not_say_what_was_tested_are_not_packed(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text('{"id":"a/b","verdict":"PASS","kind":"check","schema":1}\n')
    with pytest.raises(ArchiveError, match="does not say what was tested"):
        pack(tmp_path, tmp_path / "a.zip", Wishes())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path / "run")
    assert run_command_line(["archive", str(run), "--label", "Server A"]) == Exit.OK
    assert capsys.readouterr().out == f"written: {tmp_path}/Server-A.tar.gz (3 files, label: Server A)\n"
    assert run_command_line(["archive", str(tmp_path / "nothing")]) == Exit.USAGE
    assert "nothing/records.jsonl: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["vm", "a", "x9"])
def test_short_names_are_hidden_in_bytes_where_they_are_strings(word: str) -> None:
    scrubber = Scrubber({word: "HOST"})
    string = len(word).to_bytes(4, "big") + word.encode()
    chance = b"\x00" + word.encode() + b"\x00"
    assert scrubber.data(string + b"\0" + chance) == string[:4] + scrubber.data(string)[4:] + b"\0" + chance
    assert scrubber.data(string) != string
    assert scrubber.text(f"from {word}: {word}b") == f"from HOST: {word}b"
