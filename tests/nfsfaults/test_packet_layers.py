# SPDX-License-Identifier: MIT
# ruff: noqa: E402 - what is imported last needs scapy
"""The scapy layers: what scapy's own lack, and what users do with them."""

from __future__ import annotations

import itertools
import subprocess
import sys
import typing as t
from collections.abc import Iterator

import pytest

from tests.needs import need, needs

need("scapy")

from scapy.layers.inet import IP, TCP, UDP
from scapy.packet import Packet, Padding, Raw, fuzz
from scapy.sessions import TCPSession

from nfsclient.protocol import nfs3, nfs4
from nfsclient.protocol import portmap as pm
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import AuthFlavor, AuthStat, MismatchInfo, OpaqueAuth, accepted, denied
from nfsclient.xdr import Void, XdrType
from nfsfaults import packet as p

pytestmark = needs("scapy")

NFS = p.RpcMessage
CALL: t.Final = 0x1234


@pytest.fixture(autouse=True)
def _no_calls_of_other_tests() -> Iterator[None]:
    p.forget_calls()
    yield
    p.forget_calls()


def exchange(call: Packet, reply: bytes) -> Packet:
    """The reply as it is dissected after its call."""
    bytes(call)
    return p.RpcMessage(reply)


def reply_bytes(result: XdrType, xid: int = CALL) -> bytes:
    return accepted(xid, 0).to_xdr() + result.to_xdr()  # type: ignore[arg-type]


def test_fields_are_shown_and_set_and_lengths_follow() -> None:
    sent = IP(src="10.0.0.2", dst="10.0.0.1") / UDP(sport=700) / p.RpcCall(xid=CALL)
    sent /= p.call_of(nfs3.WRITE, file=b"handle", offset=8, count=5, stable="FILE_SYNC", data=b"hello")
    read = IP(bytes(sent))
    args = read[p.NfsCall].args
    assert (args.count, args.data, args.stable) == (5, b"hello", nfs3.StableHow.FILE_SYNC)
    assert "FILE_SYNC" in str(read.show(dump=True))
    args.count, args.data = 3, b"longer than before"
    again = IP(bytes(_without_checksums(read)))
    assert again[p.NfsCall].args.data == b"longer than before"
    assert again[UDP].len == len(again[UDP]) == again[IP].len - 20
    value = again[p.NfsCall].args.value()
    assert value == nfs3.Write3Args(b"handle", 8, 3, nfs3.StableHow.FILE_SYNC, b"longer than before")


def _without_checksums(packet: Packet) -> Packet:
    del packet[IP].chksum, packet[IP].len, packet[UDP].chksum, packet[UDP].len
    return packet


def test_the_procedure_follows_from_the_layer_of_the_arguments() -> None:
    call = p.RpcCall(xid=CALL) / p.Nfs3RemoveCall()
    read = p.RpcCall(bytes(call))
    assert (read.prog, read.vers, read.proc) == (100003, 3, nfs3.REMOVE.number)
    assert isinstance(read.payload, p.Nfs3RemoveCall)


def test_a_field_whose_name_scapy_needs_has_an_underscore() -> None:
    call = p.RpcCall() / p.Nfs3LookupCall()
    call[p.NfsCall].args.what.name_ = b"file"
    assert p.RpcCall(bytes(call))[p.Diropargs3].name_ == b"file"


# ---------------------------------------------------------------- what scapy's own layers lack


def test_replies_are_dissected_by_their_call() -> None:
    result = nfs3.Read3Res(nfs3.Nfsstat3.NFS3_OK, nfs3.Read3ResOk(None, 4, True, b"data"))
    reply = exchange(p.RpcCall(xid=CALL) / p.Nfs3ReadCall(), reply_bytes(result))
    assert reply[p.NfsReply].result.resok.data == b"data"
    assert isinstance(reply.payload, p.Nfs3ReadReply)
    assert bytes(reply) == reply_bytes(result)
    reply[p.NfsReply].result.resok.data = b"other data"
    assert p.RpcMessage(bytes(reply))[p.NfsReply].result.resok.data == b"other data"


def test_a_reply_to_an_unknown_call_keeps_its_bytes() -> None:
    data = reply_bytes(nfs3.Read3Res(nfs3.Nfsstat3.NFS3_OK, nfs3.Read3ResOk(None, 4, True, b"data")))
    reply = p.RpcMessage(data)
    assert isinstance(reply.payload, Raw)
    assert bytes(reply) == data


def test_replies_belong_to_the_call_in_their_conversation() -> None:
    """The same XID is in use between other addresses, and from the server to the client."""
    down = IP(src="10.0.0.2", dst="10.0.0.1") / UDP(sport=700, dport=2049)
    up = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=2049, dport=700)
    other = IP(src="10.0.0.3", dst="10.0.0.1") / UDP(sport=700, dport=2049)
    IP(bytes(down / p.RpcCall(xid=CALL) / p.Nfs3RemoveCall()))
    IP(bytes(other / p.RpcCall(xid=CALL) / p.Nfs3MkdirCall()))
    IP(bytes(up / p.RpcCall(xid=CALL, prog=0x40000000) / p.NfsCallback1CbCompoundCall()))
    answer = IP(bytes(up / p.RpcReply(xid=CALL) / p.Nfs3RemoveReply()))
    assert isinstance(answer[p.NfsReply], p.Nfs3RemoveReply)
    called_back = IP(bytes(down / p.RpcReply(xid=CALL) / p.NfsCallback1CbCompoundReply()))
    assert p.NfsCallbackReply in called_back


@pytest.mark.parametrize(
    "reply",
    [
        denied(CALL, auth_stat=AuthStat.AUTH_TOOWEAK),
        denied(CALL, mismatch=MismatchInfo(2, 2)),
    ],
    ids=["auth", "mismatch"],
)
def test_denied_replies_are_read(reply: XdrType) -> None:
    read = exchange(p.RpcCall(xid=CALL) / p.Nfs3ReadCall(), reply.to_xdr())
    denial = read[p.RpcReply].body.rreply
    assert denial.value() == t.cast("t.Any", reply).body.rreply
    assert p.NfsReply not in read
    assert bytes(read) == reply.to_xdr()


def test_verifiers_with_a_body_are_read() -> None:
    header = t.cast("t.Any", accepted(CALL, 0))  # type: ignore[arg-type]
    header.body.areply.verf = OpaqueAuth(AuthFlavor.RPCSEC_GSS, b"a checksum")
    read = exchange(p.RpcCall(xid=CALL) / p.Nfs3NullCall(), header.to_xdr())
    assert read[p.RpcReply].body.areply.verf.body == b"a checksum"
    assert read[p.RpcReply].succeeded


def test_credentials_of_any_flavor_are_read() -> None:
    call = p.RpcCall(cred=p.OpaqueAuth(flavor="AUTH_SHORT", body=b"short")) / p.Nfs3GetattrCall()
    call[p.NfsCall].args.object = b"handle"
    read = p.RpcCall(bytes(call))
    assert (read.cred.body, read[p.NfsCall].args.object) == (b"short", b"handle")


def test_the_body_of_auth_sys_is_a_layer() -> None:
    credential, verifier = AuthSys(1000, 100, (4, 5)).opaque()
    head = bytes(p.RpcCall(xid=CALL) / p.Nfs3NullCall())[:24]
    read = p.RpcCall(head + credential + verifier)
    assert (read[p.AuthSysParms].uid, read[p.AuthSysParms].gids) == (1000, [4, 5])
    assert bytes(read) == head + credential + verifier
    read.cred.body.gids = [7]
    assert p.RpcCall(bytes(read)).cred.body.gids == [7]


def test_compounds_and_their_replies_are_read() -> None:
    operations = [
        p.Sequence4Args(sa_slotid=3),
        p.Putfh4Args(object=b"handle"),
        p.Getattr4Args(attr_request=[2]),
    ]
    call = p.RpcCall(xid=CALL) / p.Nfs4CompoundCall(args=p.Compound4Args(minorversion=1, argarray=operations))
    read = p.RpcCall(bytes(call))
    assert read[p.Sequence4Args].sa_slotid == 3
    assert read[p.NfsCall].args.argarray[1].object == b"handle"
    attributes = nfs4.Fattr4(size=5, mode=0o644)
    results: list[XdrType] = [
        nfs4.Putfh4Res(nfs4.Nfsstat4.NFS4_OK),
        nfs4.Getattr4Res(nfs4.Nfsstat4.NFS4_OK, nfs4.Getattr4ResOk(attributes)),
    ]
    reply = p.RpcMessage(reply_bytes(nfs4.Compound4Res(nfs4.Nfsstat4.NFS4_OK, b"", results)))
    found = reply[p.Fattr4]
    assert (found.size, found.mode) == (5, 0o644)
    found.owner = b"root"
    changed = p.RpcMessage(bytes(reply))[p.Fattr4].value()
    assert changed == nfs4.Fattr4(size=5, mode=0o644, owner=b"root")


def test_callbacks_are_read() -> None:
    recall = p.CbRecall4Args(fh=b"handle", truncate=True)
    call = p.RpcCall(xid=CALL) / p.NfsCallback1CbCompoundCall(args=p.CbCompound4Args(argarray=[recall]))
    call.prog = 0x5000_0000  # clients choose it
    read = p.RpcMessage(bytes(call))
    assert read[p.CbRecall4Args].fh == b"handle"


def test_portmap_and_mount_are_read() -> None:
    call = p.RpcCall(xid=CALL) / p.call_of(pm.GETPORT, prog=100003, vers=3, prot=17)
    read = IP(bytes(IP() / UDP(sport=700, dport=111) / call))
    assert read[p.PortmapCall].args.prog == 100003
    assert isinstance(p.RpcCall(bytes(p.RpcCall() / p.Mount3MntCall())).payload, p.MountCall)


# ---------------------------------------------------------------- streams


@pytest.mark.parametrize("sizes", [[], [4], [0, 7, 0, 1], [40, 0]], ids=str)
def test_records_of_any_fragments_become_one_message(sizes: list[int]) -> None:
    call = p.RpcCall(xid=CALL) / p.call_of(nfs3.GETATTR, object=b"handle")
    record = p.RecordMark(sizes=sizes) / call
    read = p.RecordMark(bytes(record))
    assert (read.sizes, read[p.NfsCall].args.object) == (sizes, b"handle")
    assert bytes(read) == bytes(record)
    read[p.NfsCall].args.object = b"a longer handle"
    assert p.RecordMark(bytes(read))[p.NfsCall].args.object == b"a longer handle"


def test_marks_can_be_wrong() -> None:
    built = bytes(p.RecordMark(length=4, last=0) / p.RpcCall() / p.Nfs3NullCall())
    assert built[:4] == b"\0\0\0\x04"
    partial = p.RecordMark(b"\x80\0\0\x64partial")
    assert (partial.last, partial.length, partial.load) == (1, 100, b"partial")
    assert bytes(partial) == b"\x80\0\0\x64partial"


def layers(packet: Packet) -> Iterator[Packet]:
    """Each layer of a packet."""
    for number in itertools.count():
        layer = packet.getlayer(number)
        if layer is None:
            return
        yield layer


def test_a_stream_is_put_together_from_segments() -> None:
    record = bytes(p.RecordMark(sizes=[12]) / p.RpcCall(xid=CALL) / p.call_of(nfs3.READLINK, symlink=b"link"))
    second = bytes(p.RecordMark() / p.RpcCall(xid=CALL + 1) / p.call_of(nfs3.GETATTR, object=b"two"))
    stream = record + second
    base = IP(src="10.0.0.2", dst="10.0.0.1")
    cuts = [(0, 10), (10, 50), (50, len(record) + 3), (len(record) + 3, len(stream))]
    segments = [IP(bytes(base / TCP(sport=700, dport=2049, seq=1 + at) / stream[at:end])) for at, end in cuts]
    session = TCPSession()
    whole = [found for segment in segments if (found := session.process(segment)) is not None]
    calls = [call for packet in whole for call in layers(packet) if isinstance(call, p.NfsCall)]
    assert [type(call).__name__ for call in calls] == ["Nfs3ReadlinkCall", "Nfs3GetattrCall"]


def test_two_records_in_one_segment_leave_padding() -> None:
    record = bytes(p.RecordMark() / p.RpcCall() / p.Nfs3NullCall())
    read = p.RecordMark(record + record)
    assert read[Padding].load == record
    assert bytes(read) == record + record


# ---------------------------------------------------------------- scapy's ways


@pytest.mark.parametrize("name", sorted(p.programs.LAYERS))
def test_random_bodies_can_be_built_and_read_by_length(name: str) -> None:
    body = getattr(p, name)()
    for _ in range(3):
        data = bytes(fuzz(body))
        if data:
            assert bytes(type(body)(data)) == data


def test_fuzz_keeps_what_is_set_and_changes_the_rest() -> None:
    call = fuzz(p.RpcCall(xid=CALL, cred=p.OpaqueAuth()) / p.Nfs3WriteCall(args=fuzz(p.Write3Args(count=5))))
    built = {bytes(call) for _ in range(10)}
    assert len(built) > 5
    for data in built:
        assert data[:24] == bytes(p.RpcCall(xid=CALL) / p.Nfs3WriteCall())[:24]
        assert p.RpcCall(data)[p.NfsCall].args.count == 5


def test_values_may_be_outside_of_their_types() -> None:
    long = p.call_of(nfs3.GETATTR, object=bytes(100))  # a handle has 64 bytes at most
    assert len(bytes(long)) == 104
    odd = p.Nfs3WriteCall(args=Raw(b"anything"))
    assert bytes(odd) == b"anything"
    assert bytes(p.call_of(nfs3.ACCESS, access=-1))[-4:] == b"\xff\xff\xff\xff"
    assert isinstance(p.Nfs3GetattrCall(bytes(long)), Raw)


def test_a_packet_prints_the_command_that_builds_it() -> None:
    call = p.RpcCall(xid=CALL) / p.call_of(nfs3.WRITE, stable="DATA_SYNC", data=b"x")
    names = {"RpcCall": p.RpcCall, "Nfs3WriteCall": p.Nfs3WriteCall, "Write3Args": p.Write3Args}
    assert bytes(eval(call.command(), names)) == bytes(call)


def test_an_answer_is_matched_to_its_call() -> None:
    call = IP(src="10.0.0.2", dst="10.0.0.1") / UDP(sport=700) / p.RpcCall(xid=CALL) / p.Nfs3NullCall()
    reply = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(dport=700) / p.RpcReply(xid=CALL) / p.Nfs3NullReply()
    untyped: t.Any = reply
    assert untyped.answers(call)
    assert untyped.hashret() == t.cast("t.Any", call).hashret()
    reply[p.RpcReply].xid = CALL + 1
    assert not untyped.answers(call)


def test_unknown_names_have_near_matches() -> None:
    with pytest.raises(AttributeError, match="Nfs3WriteCall"):
        _ = p.Nfs3WritCall
    assert p.Void is p.layer_of(Void)


def test_nothing_else_imports_scapy() -> None:
    rooms = (
        "nfsclient nfsserver nfsmutants nfsjudge nfsfaults.proxy nfsfaults.inside nfstargets fixtures.plugin"
    )
    program = f"import sys\nfor room in {rooms.split()!r}: __import__(room)\nprint('scapy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
