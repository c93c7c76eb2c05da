# SPDX-License-Identifier: MIT
"""Scripts of checks: what they refer to, what they send, and that nothing from a server is code in them."""

from __future__ import annotations

import typing as t

import hypothesis
import hypothesis.strategies as st
import pytest

from nfsclient.protocol import mount, nfs3
from nfsclient.replay import Story
from nfsclient.rpc.auth import AuthNone, AuthSys, Credential, RawCredential
from nfsclient.rpc.exchange import Exchange, RawBytes
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Void, XdrType
from nfsjudge.messages import Mark
from nfsjudge.reproduce import MOST_CHARACTERS, CannotWrite, Setting, write_script
from nfsproof.only_data import is_only_data

ROOT = b"\x07" * 24
HANDLE = b"\x01handle-of-the-file"
ME = AuthSys(1, 2)
SETTING = Setting(
    "nfs://127.0.0.1:20490/export", root=ROOT, path=b"/export", credential=ME, services={"c:1": "nfs"}
)
STORY = Story("nfs3/fake/check", "FAIL", expected=("4",), observed="5")
OK = nfs3.Nfsstat3.NFS3_OK


def exchange(
    procedure: Procedure[t.Any, t.Any] | None,
    args: XdrType | None,
    result: XdrType | None = None,
    *,
    at: float = 1.0,
    took: float = 0.01,
    credential: Credential = ME,
    xid: int = 0,
    call: bytes = b"",
    local: str = "c:1",
) -> Exchange:
    return Exchange(
        xid or int(at * 1000), procedure, args, credential, call, at, "s:2049", "tcp",
        reply=b"" if result is None else result.to_xdr(), result=result, received_at=at + took, local=local,
    )  # fmt: skip


def attributes() -> nfs3.Fattr3:
    time = nfs3.Nfstime3(77, 88)
    return nfs3.Fattr3(nfs3.Ftype3.NF3REG, 0o644, 1, 0, 0, 5, 5, nfs3.Specdata3(0, 0), 1, 2, time, time, time)


def created(handle: bytes = HANDLE, *, at: float = 1.0, name: bytes = b"f") -> Exchange:
    args = nfs3.Create3Args(
        nfs3.Diropargs3(ROOT, name),
        nfs3.Createhow3(nfs3.CreateMode3.UNCHECKED, obj_attributes=nfs3.Sattr3()),
    )
    wcc = nfs3.WccData(None, None)
    result = nfs3.Create3Res(OK, resok=nfs3.Create3ResOk(handle, attributes(), wcc))
    return exchange(nfs3.CREATE, args, result, at=at)


def getattr_of(handle: bytes, *, at: float, took: float = 0.01, credential: Credential = ME) -> Exchange:
    result = nfs3.Getattr3Res(OK, resok=nfs3.Getattr3ResOk(attributes()))
    args = nfs3.Getattr3Args(handle)
    return exchange(nfs3.GETATTR, args, result, at=at, took=took, credential=credential)


def script(*exchanges: Exchange, raw: tuple[RawBytes, ...] = (), **options: object) -> str:
    text = write_script(STORY, SETTING, exchanges, raw, **options)  # type: ignore[arg-type]
    assert_only_data(text)
    return text


def assert_only_data(text: str) -> None:
    """The script is ASCII, and nothing in it but calls of the replay with literals, types and variables."""
    assert text.isascii()
    assert is_only_data(text), text


def test_the_root_is_requested_and_a_handle_is_taken_from_the_new_reply() -> None:
    text = script(created(), getattr_of(HANDLE, at=2.0))
    assert "root3 = replay.root(3)" in text
    assert "dir=root3, name=b'f'" in text
    assert "g2 = replay.take(r1, 'resok.obj', " in text
    assert "nfs3.Getattr3Args(object=g2)" in text


def test_a_handle_that_nobody_gave_is_sent_as_it_was() -> None:
    assert "object=b'of nobody at all'" in script(getattr_of(b"of nobody at all", at=1.0))


def test_a_name_that_the_check_made_up_is_made_up_again() -> None:
    text = script(created(name=b"nfsproof-0123456789ab"), created(name=b"x-nfsproof-0123456789ab", at=2.0))
    assert text.count("name1 = replay.fresh_name()") == 1
    assert "name=name1" in text
    assert "name=b'x-' + name1" in text


def test_paths_of_the_export_follow_the_url() -> None:
    text = script(exchange(mount.MNT3, mount.DirpathArgs(b"/export/nfsproof-0123456789ab/d")))
    assert "replay.path + b'/' + name1 + b'/d'" in text


def test_cookies_and_verifiers_are_taken_and_the_first_ones_are_not() -> None:
    def page(cookie: int, verifier: bytes, at: float) -> Exchange:
        entries = [nfs3.Entry3(1, b"a", 41), nfs3.Entry3(2, b"b", 42)]
        assert "entries" in nfs3.Readdir3ResOk.__xdr_fields__
        result = nfs3.Readdir3Res(OK, resok=nfs3.Readdir3ResOk(None, b"verifier", entries, False))
        return exchange(nfs3.READDIR, nfs3.Readdir3Args(ROOT, cookie, verifier, 512), result, at=at)

    text = script(page(0, bytes(8), 1.0), page(42, b"verifier", 2.0), page(43, b"verifiex", 3.0))
    assert "cookie=0" in text
    assert "replay.take(r1, 'resok.entries[1].cookie', 42)" in text
    assert "replay.take(r1, 'resok.cookieverf', b'verifier')" in text
    assert "cookie=43, cookieverf=b'verifiex'" in text


def test_the_time_of_a_guard_is_taken() -> None:
    args = nfs3.Setattr3Args(HANDLE, nfs3.Sattr3(), nfs3.Nfstime3(77, 88))
    text = script(created(), exchange(nfs3.SETATTR, args, at=2.0))
    assert "replay.take(r1, 'resok.obj_attributes.atime', None)" in text


def test_calls_that_overlap_are_sent_before_the_first_is_waited_for() -> None:
    lines = script(
        getattr_of(b"a" * 16, at=1.0, took=5.0), getattr_of(b"b" * 16, at=2.0, took=1.0)
    ).splitlines()
    verbs = [
        line.partition("replay.")[2].partition("(")[0]
        for line in lines
        if line[:2] in {"r1", "r2", "p1", "p2"}
    ]
    assert verbs == ["submit", "call", "wait"]


@pytest.mark.parametrize(
    "credential", [AuthNone(), AuthSys(5, 6, (7,), b"\xff'\n", 8), RawCredential(77, b"\0" * 9)]
)
def test_another_user_is_said(credential: Credential) -> None:
    text = script(getattr_of(HANDLE, at=1.0, credential=credential))
    namespace: dict[str, object] = {
        name: globals()[name] for name in ("AuthNone", "AuthSys", "RawCredential")
    }
    expression = text.partition("credential=")[2].partition("\n")[0].removesuffix(")")
    assert eval(expression, namespace) == credential


def test_an_xid_that_is_used_twice_is_pinned() -> None:
    text = script(exchange(nfs3.NULL, Void(), xid=0xABCD), exchange(nfs3.NULL, Void(), xid=0xABCD, at=2.0))
    assert text.count("xid=0x0000abcd") == 2


def test_what_deviated_is_marked() -> None:
    got_attributes = getattr_of(ROOT, at=1.0)
    text = script(
        got_attributes,
        marks=[Mark(got_attributes.result, "resok.obj_attributes.nlink", "expected 4; seen 5")],
    )
    assert "deviates='resok.obj_attributes.nlink', note='expected 4; seen 5'" in text


def test_bare_bytes_are_sent_as_they_were_but_for_what_the_server_gave() -> None:
    message = b"\x00\x00\x00\x01" + bytes(20) + len(ROOT).to_bytes(4, "big") + ROOT + b"end!"
    mark = (0x80000000 | len(message)).to_bytes(4, "big")
    raw = (
        RawBytes(1.0, True, mark + message, "s:2049", "tcp", "c:1"),
        RawBytes(1.1, False, b"answer", "s:2049", "tcp", "c:1"),
        RawBytes(1.2, True, b"\x80\x00\x00\xffcut", "s:2049", "tcp", "c:1"),
    )
    text = script(raw=raw)
    assert "opaque(root3) + b'end!'" in text
    assert "replay.send_record(c1, " in text
    assert "replay.receive_record(c1)" in text
    assert (
        "replay.send_raw(c1, bytes.fromhex('800000ff637574'))" in text or "b'\\x80\\x00\\x00\\xffcut'" in text
    )
    assert (
        text.index("replay.send_record(")
        < text.index("replay.receive_record(c1)")
        < text.index("replay.send_raw(")
    )
    assert text.rstrip().endswith("replay.receive_record(c1, 1.0)\nreplay.end()")


def test_what_was_done_to_the_server_is_reported_in_its_place() -> None:
    text = script(created(), getattr_of(HANDLE, at=3.0), happened=[(2.0, "crash")])
    assert text.index("r1 = ") < text.index("replay.happened('crash')") < text.index("r2 = ")


def test_a_procedure_that_no_protocol_has_goes_out_as_bytes() -> None:
    strange = Procedure(0x20000001, 1, 9, "STRANGE", Void, Void)
    assert "replay.send_record(c1, b'the call')" in script(exchange(strange, Void(), call=b"the call"))


def test_a_script_that_would_be_endless_is_not_made() -> None:
    data = bytes(range(256)) * 7 + b"x" + bytes(range(255))
    many = [
        exchange(nfs3.WRITE, nfs3.Write3Args(ROOT, 0, 9, nfs3.StableHow.UNSTABLE, data * 3000), at=float(n))
        for n in range(1, MOST_CHARACTERS // (len(data) * 3000) + 2)
    ]
    with pytest.raises(CannotWrite):
        script(*many)


HOSTILE = [
    b"'''\nimport os; os.abort()\n'''",
    b'"""\nraise SystemExit\n"""',
    b"\\', __import__('os').abort(), '",
    b"{url}{0!r}%s%(x)s\\N{DIGIT ONE}",
    b"\r\n# coding: utf-7\n+AGEAYg-",
    "\u202e\u2066x\u2029y\ud800".encode("utf-8", "surrogatepass"),
    b"\x00\x1b]0;x\x07",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_from_a_server_is_code(hostile: bytes) -> None:
    decoded = hostile.decode("utf-8", "surrogateescape")
    story = Story(decoded, decoded, decoded, (decoded, decoded), decoded)
    entries = [nfs3.Entry3(1, hostile, 41)]
    listed = nfs3.Readdir3Res(OK, resok=nfs3.Readdir3ResOk(None, bytes(8), entries, True))
    listing = exchange(nfs3.READDIR, nfs3.Readdir3Args(ROOT, 0, bytes(8), 512), listed)
    handle = (hostile + b"padding padding")[:60]
    looked = created(handle, at=2.0, name=hostile)
    text = write_script(
        story,
        SETTING,
        [listing, looked, getattr_of(handle, at=3.0)],
        [RawBytes(4.0, True, hostile, "s:2049", "tcp", "c:1")],
        happened=[(5.0, decoded)],
        marks=[Mark(listing, f"resok{decoded}", decoded)],
    )
    assert_only_data(text)


@hypothesis.given(st.binary(max_size=80), st.binary(min_size=1, max_size=64), st.text(max_size=50))
@hypothesis.settings(max_examples=60, deadline=None)
def test_nor_is_anything_else(name: bytes, handle: bytes, text: str) -> None:
    written = write_script(
        Story(text, text, text, (text,), text),
        SETTING,
        [created(handle, name=name), getattr_of(handle, at=2.0)],
        [RawBytes(3.0, True, name + handle, "s:2049", "tcp", "c:1")],
        marks=[],
    )
    assert_only_data(written)
