# SPDX-License-Identifier: MIT
"""What the wire types declare as identity is in no archive: every field of every protocol, in every form."""

from __future__ import annotations

import base64
import dataclasses
import re
import struct
import typing as t
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.protocol import mount, nfs4
from nfsclient.rpc.auth import AuthSys, AuthSysParms
from nfsclient.rpc.exchange import Exchange, Segment
from nfsclient.xdr.identity import IdentityKind
from nfsjudge.capture import write_capture
from nfsjudge.messages import message_records
from nfsjudge.records import AnyRecord, CheckRecord, EndRecord, RunRecord, to_line
from nfsjudge.reproduce import Setting, write_script
from nfsjudge.showing import show
from nfsjudge.transcript import hexdump, transcript
from nfsproof.archiving import ArchiveError, Wishes, masks, pack
from nfsproof.archiving.masks import Masks
from nfsproof.archiving.printed import names_in
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from tests.archives.conftest import contents
from tests.archives.named import (
    MACHINE,
    NAMES,
    PLACE_BYTES,
    PROGRAMS,
    exchanges,
    marked,
    unmarked,
)
from tests.nfsjudge.captured.making import EPOCH
from tests.nfsjudge.test_reproduce import STORY

_PACKED = [PLACE_BYTES]
_NOT_IDENTITY = {
    "filehandles": "object file dir obj fh cna_fh coa_fh cpda_fh cnla_fh lor_fh name_handle symlink fsroot fhandle "
    "filehandle",
    "names of files, and paths that a client sends": "name objname newname oldname target linkdata link data to "
    "symlink_data dirpath file file_delegate_prev gxa_name lxr_names rxa_name sxa_key",
    "contents of files and attributes": "d_data adb_pattern gxr_value sxa_value mimetype",
    "text that a client sends and gets back": "tag",
    "names of transports": "na_r_netid r_netid r_nc_netid r_nc_protofmly r_nc_proto netid",
    "keys, digests, identifiers of mechanisms and labels": "oid ssa_ssv ssa_digest ssr_digest spi_handles "
    "ssp_hash_algs ssp_encr_algs gcbp_handle_from_server gcbp_handle_from_client slai_data",
    "numbers of layouts, and filehandles in them": "loc_body loh_body lou_body lrf_body thi_hintlist fls_info",
}
"""Why a field is not marked -> the names of fields. A new string or opaque needs `Identity`, or a line here."""


def test_every_string_is_identity_or_is_listed_as_none() -> None:
    listed = {name for names in _NOT_IDENTITY.values() for name in names.split()}
    open_ = sorted(f"{octet.owner.__name__}.{octet.name}" for octet in unmarked() if octet.name not in listed)
    assert not open_, f"mark these with Identity, or say in _NOT_IDENTITY why they name nobody: {open_}"
    assert listed <= {octet.name for octet in unmarked()}, "fields in _NOT_IDENTITY that no type has"


def test_the_messages_have_a_name_in_every_field_that_is_marked() -> None:
    found = {
        exchange
        for program in PROGRAMS
        for each in program.procedures
        for f, _ in exchanges(each)
        for exchange in f
    }
    assert found | {(AuthSysParms, "machinename")} == marked()


# ---------------------------------------------------------------- all fields


def every_exchange() -> list[Exchange]:
    made = [
        exchange
        for program in PROGRAMS[:-1]
        for each in program.procedures
        for _, exchange in exchanges(each)
    ]
    somebody = AuthSys(machine_name=MACHINE.encode())
    call = made[0].call[:24] + b"".join(somebody.opaque()) + made[0].call[24 + 44 + 8 :]
    return [
        *made,
        dataclasses.replace(made[0], xid=9999, call=b"\0\0\x27\x0f" + call[4:], credential=somebody),
    ]


def segments_of(made: list[Exchange]) -> list[Segment]:
    """The bytes of exchanges, in fragments and pieces that part the names; then callbacks on the same connection."""
    found = []
    for index, exchange in enumerate(made):
        for sent, message in ((True, exchange.call), (False, exchange.reply or b"")):
            at = exchange.sent_at if sent else exchange.received_at or 0.0
            cut = len(message) - 13 if index % 2 else len(message)
            stream = b"".join(
                struct.pack(">I", len(part) | (0x8000_0000 if last else 0)) + part
                for part, last in ((message[:cut], cut == len(message)), (message[cut:], True))
                if part
            )
            middle = len(stream) - 7
            parts = (stream[:middle], stream[middle:])
            found += [Segment(at, sent, part, exchange.peer, "tcp", exchange.local, 1) for part in parts]
    for each in PROGRAMS[-1].procedures:
        for _, callback in exchanges(each):
            for sent, message in ((False, callback.call), (True, callback.reply or b"")):
                data = struct.pack(">I", len(message) | 0x8000_0000) + message
                found.append(Segment(callback.sent_at, sent, data, callback.peer, "tcp", callback.local, 1))
    return found


def make_run(folder: Path, made: list[Exchange], segments: list[Segment], *, capture: bool = True) -> Path:
    """A run as the plugin leaves it: the exchanges are in transcript, messages, capture and script."""
    file, script = "evidence/nfs4/a/b.pcapng", "evidence/nfs4/a/b.py"
    said = [show(exchange.result) for exchange in made[:60]] + [
        f"{exchange.result!r:.300}..." for exchange in made
    ]
    lines = [line for exchange in made for line in transcript([exchange])]
    lines += [
        "reply bytes:",
        *(f"    {line}" for exchange in made[::7] for line in hexdump(exchange.reply or b"")),
    ]
    check = CheckRecord(
        *("nfs4/a/b", "FAIL"),
        observed="; ".join(said) if capture else "",
        transcript=lines,
        messages=message_records(made, [], marks=[], began=0.0),
        capture=file if capture else "",
        script=script if capture else "",
        target="nfs://127.0.0.1/x",
    )
    records: list[AnyRecord] = [RunRecord("nfs://127.0.0.1/x", "x", label="Server D"), check, EndRecord(1)]
    (folder / file).parent.mkdir(parents=True)
    (folder / "records.jsonl").write_text(
        "".join(to_line(record) + "\n" for record in records), encoding="utf-8"
    )
    if capture:
        write_capture(folder / file, made, segments=segments, epoch=EPOCH, notes={1: said[0]})
        (folder / script).write_text(
            write_script(STORY, Setting("nfs://127.0.0.1/x"), made), encoding="utf-8"
        )
    return folder


def forms_of(word: str) -> t.Iterator[bytes]:
    """A name in the encodings in which a file may have it, in lower case."""
    data = word.encode()
    yield data.lower()
    for spelling in (data, data.lower(), data.upper()):
        yield spelling.hex().encode()
        yield "".join(f"\\x{byte:02x}" for byte in spelling).encode()
        yield "".join(f"\\u{byte:04x}" for byte in spelling).encode()
        for shift in range(3):  # where a name begins in a group of three bytes
            begin = -shift % 3
            whole = spelling[begin : begin + (len(spelling) - begin) // 3 * 3]
            if len(whole) >= 6:
                yield base64.b64encode(whole).lower()


def leaks(files: dict[str, bytes], words: t.Iterable[str]) -> list[tuple[str, str]]:
    found = []
    for name, data in files.items():
        # Split forms: blanks in dumps, ends of lines, quotes between parts of a literal.
        views = [data.lower(), re.sub(rb"[\s'\"+]+", b"", data.lower())]
        found += [(name, word) for word in words for form in forms_of(word) for view in views if form in view]
        found += [
            (name, pack.hex())
            for pack in _PACKED
            for view in views
            if pack in view or pack.hex().encode() in view
        ]
    return sorted(set(found))


def board_of(archive: Path, folder: Path) -> dict[str, bytes]:
    """The board of an archive and all files that belong to it."""
    folder.mkdir()
    assert run_command_line(["report", str(archive), "--html", str(folder / "board.html")]) in set(Exit)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_no_name_of_any_field_is_in_an_archive_or_its_board(tmp_path: Path) -> None:
    made = every_exchange()
    run = make_run(tmp_path / "run", made, segments_of(made))
    raw = {str(path): path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert {word for _, word in leaks(raw, NAMES)} >= set(NAMES)  # they can be found
    archive = tmp_path / "a.tar.gz"
    packed = pack(run, archive, Wishes(label="Server D"))
    assert packed.problems == []
    files = contents(archive)
    assert len(files) == 4
    assert leaks(files, NAMES) == []
    assert leaks(board_of(archive, tmp_path / "board"), NAMES) == []
    # The stream of a capture is in packets.
    whole = b"".join(part for part in segments_in(files["evidence/nfs4/a/b.pcapng"]))
    assert leaks({"stream": whole}, NAMES) == []


def segments_in(capture: bytes) -> t.Iterator[bytes]:
    """What the packets of our captures carry over TCP."""
    at = 0
    while at < len(capture):
        kind, size = struct.unpack_from("<II", capture, at)
        if kind == 6:
            (kept,) = struct.unpack_from("<I", capture, at + 20)
            yield capture[at + 28 : at + 28 + kept][54:]
        at += size


def test_a_run_without_captures_has_none_either(tmp_path: Path) -> None:
    made = every_exchange()
    run = make_run(tmp_path / "run", made, [], capture=False)
    pack(run, tmp_path / "a.zip", Wishes(label="Server D"))
    unprinted = {"203.0.113.201"}  # in results of other programs only, which are printed as numbers
    assert leaks(contents(tmp_path / "a.zip"), [name for name in NAMES if name not in unprinted]) == []


def test_with_hosts_they_are_there(tmp_path: Path) -> None:
    made = every_exchange()
    run = make_run(tmp_path / "run", made, segments_of(made))
    pack(run, tmp_path / "a.zip", Wishes(label="Server D", with_hosts=True))
    assert {word for _, word in leaks(contents(tmp_path / "a.zip"), NAMES)} >= set(NAMES)


# ---------------------------------------------------------------- damaged messages


def owner_reply() -> Exchange:
    return next(
        exchange
        for found, exchange in exchanges(nfs4.COMPOUND)
        if (nfs4.ServerOwner4, "so_major_id") in found
        and isinstance(exchange.result.resarray[0], nfs4.ExchangeId4Res)
    )


@pytest.mark.parametrize(
    "how", ["cut in the name", "cut before it", "padding", "a status before it", "no call"]
)
def test_names_in_replies_that_do_not_decode(tmp_path: Path, how: str) -> None:
    called = owner_reply()
    reply = bytearray(called.reply or b"")
    at = reply.index(MACHINE.encode())
    match how:
        case "cut in the name":
            del reply[at + 9 :]
        case "padding":
            end = at + int.from_bytes(reply[at - 4 : at], "big")
            reply[end : end + (-(end - at)) % 4] = b"\x01" * ((-(end - at)) % 4)
            reply += MACHINE.encode()
        case "cut before it":
            reply = reply[:at] + bytes(3) + reply[at:]
        case "a status before it":
            reply[32:36] = b"\x7f\0\0\0"
        case _:
            reply[:4] = b"\xff\xff\xff\xff"
    broken = dataclasses.replace(
        called, reply=bytes(reply), result=None, error=ValueError("it does not decode")
    )
    run = make_run(tmp_path / "run", [called], segments_of([broken]))
    pack(run, tmp_path / "a.zip", Wishes(label="Server D"))
    assert leaks(contents(tmp_path / "a.zip"), [MACHINE, "filer01", "acme-fil"]) == []


def test_a_run_with_too_many_names_is_not_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masks, "MOST_WORDS", 5)
    made = every_exchange()
    run = make_run(tmp_path / "run", made, segments_of(made))
    with pytest.raises(ArchiveError, match=r"at most 4000 names .* --with-hosts"):
        pack(run, tmp_path / "a.zip", Wishes(label="Server D"))


# ---------------------------------------------------------------- masks


def test_equal_names_have_equal_masks_and_others_have_others() -> None:
    made = Masks(with_paths=True)
    first, second = made.hidden("host", b"filer-a.corp.example"), made.hidden("host", b"filer-b.corp.example")
    assert first != second
    assert made.hidden("host", b"filer-a.corp.example") == first
    assert made.hidden("host", b"FILER-A.corp.example").lower() == first
    assert len(first) == len(b"filer-a.corp.example")
    assert [at for at, byte in enumerate(first) if byte in b".-"] == [5, 7, 12]


@given(what=st.sampled_from(["host", "client", "product"]), data=st.binary(min_size=1, max_size=40))
def test_a_mask_has_the_length_and_no_word_of_what_it_hides(what: IdentityKind, data: bytes) -> None:
    hidden = Masks(with_paths=True).hidden(what, data)
    assert len(hidden) == len(data)
    for word in re.findall(rb"[A-Za-z0-9\x80-\xff]{2,}", data if data.isascii() and data.isalnum() else b""):
        assert hidden == data or word not in hidden


@pytest.mark.parametrize(
    ("what", "value", "expected"),
    [
        ("principal", b"65534", b"65534"),
        ("principal", b"EVERYONE@", b"EVERYONE@"),
        ("principal", b"root@localdomain", b"root@localdomain"),
        ("principal", b"root@corp.example", b"root@xxxa.xxxxxxa"),
        ("principal", b"alice@localdomain", b"xxxxa@localdomain"),
        ("principal", b"alice", b"xxxxa"),
        ("host", b"acme_NFS\0", b"xxxa_XXA\0"),
        ("host", b"*", b"*"),
        ("host", b"127.0.0.1", b"127.0.0.1"),
        ("host", b"10.0.0.0/8", b"00.1.1.1/2"),
        ("address", b"127.0.0.1.8.1", b"127.0.0.1.8.1"),
        ("address", b"::.8.1", b"::.8.1"),
        ("address", b"198.51.100.77.8.1", b"000.00.001.01.8.1"),
        ("address", b"/run/rpcbind.sock", b"/run/rpcbind.sock"),
        ("client", b"nfsproof 0123456789abcdef", b"nfsproof 0123456789abcdef"),
        ("client", b"owner 85b05331", b"owner 85b05331"),
        ("path", b"/export", b"/export"),
        ("path", b"/vol/payroll", b"/xxa/xxxxxxa"),
        ("body", b"\0\0\0\x2bacme-filer01 ", b"\0\0\0\x2bxxxa-xxxxxxa "),
    ],
)
def test_what_is_hidden_of_a_field(what: IdentityKind, value: bytes, expected: bytes) -> None:
    assert Masks(with_paths=True).hidden(what, value) == expected


def test_paths_are_shown_where_the_server_is_not_hidden() -> None:
    assert Masks(with_paths=False).hidden("path", b"/vol/payroll") == b"/vol/payroll"


def test_words_in_binary_names_are_looked_for() -> None:
    made = Masks(with_paths=True)
    made.hidden("host", b"\x01\x02acme-filer01\xff\0")
    assert {"acme-filer01", "filer01"} <= set(made.words)


def test_a_name_that_is_a_word_of_reports_is_not_looked_for_in_them() -> None:
    made = Masks(with_paths=True)
    assert made.hidden("host", b"server") != b"server"
    assert made.words == {}


def test_the_product_stays_readable_where_the_archive_names_it() -> None:
    made = Masks(with_paths=False, public="Lab 2 ganesha:mem (NFS-Ganesha 4.3, FSAL MEM)")
    assert b"anesha" not in made.hidden("host", b"acme-filer01_NFS-Ganesha")
    assert sorted(made.words) == ["acme-filer01", "acme-filer01_nfs-ganesha", "filer01"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ml_hostname: 'acme-filer01'", [("host", b"acme-filer01")]),
        ("eir_server_owner.so_major_id=61636d65, x=1", [("host", b"acme")]),
        ("so_major_id: 61636d65 (4 bytes)", [("host", b"acme")]),
        ("nii_name='AcmeStore 9...", [("product", b"AcmeStore 9")]),
        ("owner: 'o\\'hara@corp'", [("principal", b"o'hara@corp")]),
        ("name: 'acme'", []),
        ("so_major_id: '", []),
    ],
)
def test_printed_fields_are_read(line: str, expected: list[tuple[str, bytes]]) -> None:
    found = list(names_in(line))
    assert [value for _, value in found] == [value for _, value in expected]


def test_masked_messages_decode(tmp_path: Path) -> None:
    """XDR lengths and padding stay, so that Wireshark and nfsproof read the capture as before."""
    made = [exchange for each in mount.MOUNT3.procedures for _, exchange in exchanges(each)] + [owner_reply()]
    run = make_run(tmp_path / "run", made, segments_of(made))
    pack(run, tmp_path / "a.zip", Wishes(label="Server D"))
    stream = b"".join(segments_in(contents(tmp_path / "a.zip")["evidence/nfs4/a/b.pcapng"]))
    before = b"".join(segments_in((run / "evidence/nfs4/a/b.pcapng").read_bytes()))
    assert len(stream) == len(before)
    same = {at for at, (byte, other) in enumerate(zip(stream, before, strict=True)) if byte == other}
    for exchange in made:
        reply = exchange.reply or b""
        at = before.find(reply[:24])
        hidden = bytes(
            stream[at + index] if at + index not in same else byte for index, byte in enumerate(reply)
        )
        assert exchange.procedure is not None
        exchange.procedure.res.from_xdr(hidden[24:]) if before[at:].startswith(reply) else None
