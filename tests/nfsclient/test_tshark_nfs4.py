# SPDX-License-Identifier: MIT
"""Our bytes of NFSv4, read by somebody else: tshark names every operation of calls and replies, and every attribute."""

from __future__ import annotations

import json
import shutil
import subprocess
import typing as t
from collections import Counter
from pathlib import Path

import pytest

from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.core import USUAL_REPLY
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.plan import Plan
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType, attributes_of
from nfsclient.xdr.attributes import AttributeField
from nfsjudge.capture import write_capture
from tests.waiting import AT_MOST
from tests.wire_samples import samples, values_of

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

OK: t.Final = p.Nfsstat4.NFS4_OK
CREDENTIAL: t.Final = AuthSys(0, 0, (1, 2, 3))


FILES: t.Final = p.Layouttype4.LAYOUT4_NFSV4_1_FILES
_ADDRESS: t.Final = p.Nfsv41FileLayoutDsAddr4([0], [[p.Netaddr4(b"tcp", b"127.0.0.1.8.1")]])
_LAYOUT: t.Final = p.Nfsv41FileLayout4(bytes(16), 0x1000, 0, 0, [b"filehandle"])
_READ: t.Final = p.Layoutiomode4.LAYOUTIOMODE4_READ


def _results(operation: p.AnyOperation4) -> list[t.Any]:
    """Samples; where tshark looks into an opaque, with the type that is meant to be in it."""
    match operation.name:
        case "GETDEVICEINFO":
            address = p.DeviceAddr4(FILES, _ADDRESS.to_xdr())
            return [p.Getdeviceinfo4Res(OK, p.Getdeviceinfo4ResOk(address, []))]
        case "LAYOUTGET":
            layout = p.Layout4(0, 100, _READ, p.LayoutContent4(FILES, _LAYOUT.to_xdr()))
            return [p.Layoutget4Res(OK, p.Layoutget4ResOk(True, p.READ_BYPASS_STATEID, [layout]))]
        case "EXCHANGE_ID":
            # tshark 4.0 takes `gsshandle4_t spi_handles<>` for one handle: without any, both readings are the same.
            return [one for one in samples(operation.res) if not _has_ssv_handles(one)]
        case _:
            return samples(operation.res)


def _has_ssv_handles(result: p.ExchangeId4Res) -> bool:
    protection = None if result.eir_resok4 is None else result.eir_resok4.eir_state_protect.spr_ssv_info
    return protection is not None and bool(protection.spi_handles)


def _attribute_values(field: AttributeField) -> list[t.Any]:
    if field.name == "mdsthreshold":
        return [p.Mdsthreshold4([p.ThresholdItem4(FILES, [0b11], bytes(7) + b"\x05" + bytes(7) + b"\x06")])]
    return values_of(field.node)


class _Capture:
    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []

    def add(self, procedure: Procedure[t.Any, t.Any], args: XdrType, result: XdrType) -> None:
        xid = 1000 + len(self.exchanges)
        word = xid.to_bytes(4, "big")
        at = float(len(self.exchanges))
        self.exchanges.append(
            Exchange(
                xid=xid,
                procedure=procedure,
                args=args,
                credential=CREDENTIAL,
                call=word + Plan(procedure, CREDENTIAL).header + args.to_xdr(),
                sent_at=at,
                peer="127.0.0.1:2049",
                transport="tcp",
                reply=word + USUAL_REPLY + result.to_xdr(),
                result=result,
                received_at=at + 0.5,
                local="127.0.0.1:800",
            )
        )

    def compound(self, args: XdrType, result: XdrType, minor: int = 2) -> None:
        status = p.status_of(result)
        self.add(p.COMPOUND, p.Compound4Args(b"tag", minor, [args]), p.Compound4Res(status, b"tag", [result]))

    def callback(self, args: XdrType, result: XdrType) -> None:
        status = p.status_of(result)
        call = p.CbCompound4Args(b"tag", 2, 7, [args])
        self.add(p.CB_COMPOUND, call, p.CbCompound4Res(status, b"tag", [result]))


def _tshark(capture: Path, display_filter: str, *columns: str) -> list[dict[str, list[str]]]:
    wanted = [word for column in columns for word in ("-e", column)]
    command = ["tshark", "-r", str(capture), "-T", "json", "-Y", display_filter, *wanted]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=AT_MOST)
    return [packet["_source"]["layers"] for packet in json.loads(shown.stdout)]


def test_tshark_reads_every_operation(tmp_path: Path) -> None:
    capture = _Capture()
    for operation in p.OPERATIONS:
        calls, results = samples(operation.args), _results(operation)
        for index in range(max(len(calls), len(results))):
            minor = 0 if operation.until == 0 else 2
            capture.compound(calls[index % len(calls)], results[index % len(results)], minor)
    path = tmp_path / "operations.pcapng"
    write_capture(path, capture.exchanges, epoch=1_700_000_000)
    assert _tshark(path, "_ws.malformed", "frame.number") == []
    shown = _tshark(path, "nfs.opcode", "nfs.opcode")
    # Numbers below 3 are no operations: EXCHANGE_ID has a bitmap of operations too.
    seen = Counter(number for layers in shown for number in layers["nfs.opcode"] if int(number) >= 3)
    sent = Counter(
        str(step.operation.number) for one in capture.exchanges for step in one.steps for _ in range(2)
    )
    assert seen == sent


def test_tshark_reads_every_callback(tmp_path: Path) -> None:
    capture = _Capture()
    for operation in p.CALLBACKS:
        calls, results = samples(operation.args), samples(operation.res)
        for index in range(max(len(calls), len(results))):
            capture.callback(calls[index % len(calls)], results[index % len(results)])
    path = tmp_path / "callbacks.pcapng"
    write_capture(path, capture.exchanges, epoch=1_700_000_000)
    assert _tshark(path, "_ws.malformed", "frame.number") == []
    shown = _tshark(path, "nfs.cb.operation", "nfs.cb.operation")
    seen = {number for layers in shown for number in layers["nfs.cb.operation"]}
    assert seen == {str(operation.number) for operation in p.CALLBACKS}


def test_tshark_reads_every_attribute(tmp_path: Path) -> None:
    capture = _Capture()
    for field in attributes_of(p.Fattr4).values():
        for value in _attribute_values(field):
            attributes = p.Fattr4(**{field.name: value})
            result = p.Getattr4Res(OK, p.Getattr4ResOk(attributes))
            capture.compound(p.Getattr4Args(p.bitmap(field.name)), result)
    path = tmp_path / "attributes.pcapng"
    write_capture(path, capture.exchanges, epoch=1_700_000_000)
    assert _tshark(path, "_ws.malformed", "frame.number") == []
