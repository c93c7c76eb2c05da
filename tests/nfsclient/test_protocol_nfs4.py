# SPDX-License-Identifier: MIT
"""The tables and wire types of NFSv4: operations round-trip, tables agree with each other and with the RFCs."""

from __future__ import annotations

import struct
import subprocess
import sys
import typing as t

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import errors
from nfsclient.rpc.plan import carries_bulk
from nfsclient.xdr import Unread, XdrError, XdrType, format_value, malformations, reflect, shape_of
from nfsjudge.given import given_in
from tests.strategies import xdr_values
from tests.wire_samples import samples

OK = p.Nfsstat4.NFS4_OK
ALL: t.Final = (*p.OPERATIONS, *p.CALLBACKS)
TYPES: t.Final = [cls for operation in ALL for cls in (operation.args, operation.res)]
SEQUENCE: t.Final = p.Sequence4Args(bytes(16), 1, 0, 0, False)
SEQUENCE_OK: t.Final = p.Sequence4Res(OK, p.Sequence4ResOk(bytes(16), 1, 0, 0, 0, 0))
relaxed = settings(
    deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def name_of(cls: type) -> str:
    return cls.__name__


@pytest.mark.parametrize("cls", TYPES, ids=name_of)
@relaxed
@given(data=st.data())
def test_both_codecs_agree_on_every_operation(cls: type[XdrType], data: st.DataObject) -> None:
    value = data.draw(xdr_values(cls))
    encoded = value.to_xdr()
    assert encoded == reflect.encode(value)
    assert (
        cls.from_xdr(encoded) == cls.from_xdr(memoryview(encoded)) == reflect.decode(cls, encoded)[0] == value
    )


@pytest.mark.parametrize("cls", TYPES, ids=name_of)
def test_damaged_operations_are_refused(cls: type[XdrType]) -> None:
    for value in samples(cls)[:4]:
        assert cls.from_xdr(value.to_xdr()) == value
        for flaw in malformations(value):
            if flaw.flaw in {"enum", "discriminant"}:
                continue
            with pytest.raises(XdrError):
                cls.from_xdr(flaw.data)


@pytest.mark.parametrize(
    "cls", [p.Compound4Args, p.Compound4Res, p.CbCompound4Args, p.CbCompound4Res], ids=name_of
)
@relaxed
@given(data=st.data(), noise=st.binary(max_size=40), at=st.integers(0, 200))
def test_compounds_round_trip_and_both_codecs_refuse_the_same(
    cls: type[XdrType], data: st.DataObject, noise: bytes, at: int
) -> None:
    value = data.draw(xdr_values(cls))
    encoded = value.to_xdr()
    assert cls.from_xdr(encoded) == value
    hostile = encoded[:at] + noise + encoded[at + len(noise) :]
    try:
        expected = reflect.decode(cls, hostile)
    except XdrError as slow:
        with pytest.raises(XdrError) as fast:
            cls.unpack_from(hostile)
        assert str(fast.value) == str(slow)  # noqa: PT017
    else:
        assert cls.unpack_from(hostile) == expected


@relaxed
@given(data=st.data())
def test_attributes_round_trip(data: st.DataObject) -> None:
    value = data.draw(xdr_values(p.Fattr4))
    for _ in range(5):
        assert p.Fattr4.from_xdr(value.to_xdr()) == value
    assert value.to_xdr() == reflect.encode(value)


# ---------------------------------------------------------------- layouts by hand


def u(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


def test_a_compound_has_the_layout_of_the_rfc() -> None:
    call = p.Compound4Args(
        b"tag", 1, [SEQUENCE, p.Putrootfh4Args(), p.Getattr4Args(p.bitmap("size", "mode"))]
    )
    assert call.to_xdr() == (
        u(3) + b"tag\0" + u(1, 3) + u(53) + bytes(16) + u(1, 0, 0, 0) + u(24) + u(9, 2, 0x10, 0x2)
    )
    attributes = p.Fattr4(size=5, mode=0o644)
    results = [SEQUENCE_OK, p.Putrootfh4Res(OK), p.Getattr4Res(OK, p.Getattr4ResOk(attributes))]
    reply = p.Compound4Res(OK, b"", results)
    assert reply.to_xdr() == (
        u(0, 0, 3)
        + (u(53, 0) + bytes(16) + u(1, 0, 0, 0, 0))
        + u(24, 0)
        + u(9, 0, 2, 0x10, 0x2, 12, 0, 5, 0o644)
    )
    assert p.Compound4Args.from_xdr(call.to_xdr()) == call
    assert p.Compound4Res.from_xdr(reply.to_xdr()) == reply


def test_an_open_has_the_layout_of_the_rfc() -> None:
    call = p.Open4Args(
        seqid=0,
        share_access=p.OPEN4_SHARE_ACCESS_BOTH,
        share_deny=0,
        owner=p.StateOwner4(7, b"me"),
        openhow=p.Openflag4(
            p.Opentype4.OPEN4_CREATE, p.Createhow4(p.Createmode4.EXCLUSIVE4, createverf=b"verifier")
        ),
        claim=p.OpenClaim4(p.OpenClaimType4.CLAIM_NULL, file=b"name"),
    )
    assert call.to_xdr() == u(0, 3, 0, 0, 7, 2) + b"me\0\0" + u(1, 2) + b"verifier" + u(0, 4) + b"name"


def test_lists_of_entries_are_chains() -> None:
    entries = [p.Entry4(3, b"a", p.Fattr4(fileid=9)), p.Entry4(4, b"b", p.Fattr4())]
    listing = p.Dirlist4(entries, True)
    assert listing.to_xdr() == (
        u(1, 0, 3, 1) + b"a\0\0\0" + u(1, 1 << 20, 8, 0, 9) + u(1, 0, 4, 1) + b"b\0\0\0" + u(0, 0) + u(0, 1)
    )
    assert p.Dirlist4.from_xdr(listing.to_xdr()) == listing


# ---------------------------------------------------------------- tables


def test_operations_have_the_numbers_3_to_75_and_callbacks_3_to_15() -> None:
    assert [operation.number for operation in p.OPERATIONS] == [*range(3, 76), 10044]
    assert [callback.number for callback in p.CALLBACKS] == [*range(3, 16), 10044]
    assert p.NFS4.operations == (p.NULL, p.COMPOUND, *p.OPERATIONS)
    assert p.BY_NAME["SEQUENCE"] is p.SEQUENCE is p.operation_of(SEQUENCE)


@pytest.mark.parametrize(("minor", "highest", "callback"), [(0, 39, 4), (1, 58, 14), (2, 75, 15)])
def test_minor_versions_differ_by_their_tables(minor: int, highest: int, callback: int) -> None:
    assert [operation.number for operation in p.operations_of(minor)] == [*range(3, highest + 1), 10044]
    assert (
        max(
            declared.number
            for declared in p.CALLBACKS
            if declared.is_in(minor) and declared is not p.CB_ILLEGAL
        )
        == callback
    )
    refused = {
        operation.name for operation in p.operations_of(minor) if not operation.is_implementable(minor)
    }
    gone = {"OPEN_CONFIRM", "RELEASE_LOCKOWNER", "RENEW", "SETCLIENTID", "SETCLIENTID_CONFIRM"}
    assert refused == (set() if minor == 0 else gone if minor == 1 else gone | {"GETDEVICELIST"})


@pytest.mark.parametrize("minor", [0, 1, 2])
def test_the_lists_of_errors_are_those_of_the_operations(minor: int) -> None:
    listed = {operation.name for operation in ALL if errors.is_listed(operation.name, minor)}
    assert listed == {operation.name for operation in ALL if operation.is_in(minor)}
    for operation in ALL:
        if not operation.is_in(minor):
            assert operation.is_expected(minor, p.Nfsstat4.NFS4ERR_OP_ILLEGAL)
        elif not operation.is_implementable(minor):
            assert operation.errors(minor) == {p.Nfsstat4.NFS4ERR_NOTSUPP}
        else:
            assert operation.errors(minor)


def test_what_the_texts_say_is_expected_in_addition_to_the_lists() -> None:
    status = p.Nfsstat4
    assert p.EXCHANGE_ID.is_expected(1, status.NFS4ERR_PERM)
    assert p.LOCKU.is_expected(1, status.NFS4ERR_ISDIR)
    assert p.CREATE.is_expected(2, status.NFS4ERR_WRONG_TYPE)
    assert p.GETFH.is_expected(1, status.NFS4ERR_DELAY)
    assert p.READ.is_expected(1, OK)
    assert not p.ILLEGAL.is_expected(1, OK)
    assert not p.GETATTR.is_expected(1, status.NFS4ERR_NOTEMPTY)
    assert not p.RENEW.is_expected(1, OK)
    assert status.NFS4ERR_MINOR_VERS_MISMATCH in errors.compound_errors(0)
    assert status.NFS4ERR_TOO_MANY_OPS in errors.compound_errors(2) - errors.compound_errors(0)


def test_every_result_begins_with_its_status() -> None:
    for operation in ALL:
        for result in samples(operation.res):
            assert isinstance(p.status_of(result), p.Nfsstat4)


def test_places_of_stateids_are_fields() -> None:
    for operation in ALL:
        for cls, places in ((operation.args, operation.stateids), (operation.res, operation.gives_stateid)):
            made = samples(cls)
            for place in places:
                assert any(isinstance(_at(value, place), p.Stateid4) for value in made), (
                    operation.name,
                    place,
                )


def _at(value: t.Any, place: str) -> t.Any:
    for name in place.split("."):
        value = getattr(value, name) if value is not None else None
    return value


def test_attributes_are_those_of_the_rfcs() -> None:
    required = {number for number, attribute in p.ATTRIBUTES.items() if attribute.about.required}
    assert required == {*range(12), 19, 75}
    assert list(p.ATTRIBUTES) == list(range(83))
    assert [len(p.attributes_since(minor)) for minor in (0, 1, 2)] == [56, 77, 83]
    written = {attribute.name for attribute in p.ATTRIBUTES.values() if attribute.about.access == "W"}
    assert written == {
        "time_access_set",
        "time_modify_set",
        "layout_hint",
        "retention_set",
        "retentevt_set",
        "mode_set_masked",
        "mode_umask",
    }
    both = {attribute.name for attribute in p.ATTRIBUTES.values() if attribute.about.access == "RW"}
    assert both == {
        *("size", "acl", "archive", "hidden", "mimetype", "mode", "owner", "owner_group", "system"),
        *("time_backup", "time_create", "dacl", "sacl", "retention_hold", "sec_label"),
    }
    assert [attribute.name for attribute in p.ATTRIBUTES.values() if attribute.about.per == "server"] == [
        "lease_time"
    ]


def test_only_what_can_be_set_is_settable() -> None:
    attributes = p.Fattr4(size=1, time_modify_set=p.SERVER_TIME)
    assert p.settable(attributes) is attributes
    with pytest.raises(p.NotSettable, match="no SETATTR can set fileid, 120"):
        p.settable(p.Fattr4(size=1, fileid=2, attrmask=(1 << 4 | 1 << 20, 0, 0, 1 << 24)))
    with pytest.raises(KeyError):
        p.bitmap("no_such_attribute")


# ---------------------------------------------------------------- compounds


def test_an_unknown_operation_ends_what_can_be_read() -> None:
    call = p.Compound4Args(b"", 1, [SEQUENCE, Unread(999, b"whatever", following=1)])
    assert p.Compound4Args.from_xdr(call.to_xdr()) == call
    steps = p.compound_steps(call, None)
    assert [step.operation for step in steps] == [p.SEQUENCE, p.ILLEGAL]
    reply = u(0, 0, 1) + u(999, 0)
    with pytest.raises(
        XdrError, match=r"Compound4Res\.resarray\[0\] at byte 12: 999 is the number of no alternative"
    ):
        p.Compound4Res.from_xdr(reply)


def test_an_op_count_that_lies_is_refused_before_memory_is_taken() -> None:
    with pytest.raises(XdrError, match="cannot fit"):
        p.Compound4Args.from_xdr(u(0, 1, 0xFFFF_FFFF) + u(24) * 3)
    with pytest.raises(XdrError, match="cannot fit"):
        p.Compound4Args.from_xdr(u(0, 1, 1) + u(9, 0xFFFF_FFFF, 0))


def test_steps_follow_the_filehandles() -> None:
    handle = p.Getfh4Res(OK, p.Getfh4ResOk(b"found"))
    args = p.Compound4Args(
        b"",
        1,
        [
            SEQUENCE,
            p.Putfh4Args(b"dir"),
            p.Savefh4Args(),
            p.Lookup4Args(b"name"),
            p.Getattr4Args([]),
            p.Getfh4Args(),
            p.Restorefh4Args(),
            p.SecinfoNoName4Args(p.SecinfoStyle4.SECINFO_STYLE4_CURRENT_FH),
            p.Getfh4Args(),
        ],
    )
    results: list[XdrType] = [
        SEQUENCE_OK,
        p.Putfh4Res(OK),
        p.Savefh4Res(OK),
        p.Lookup4Res(OK),
        p.Getattr4Res(OK, p.Getattr4ResOk(p.Fattr4())),
        handle,
        p.Restorefh4Res(OK),
        p.SecinfoNoName4Res(OK, []),
    ]
    steps = t.cast("list[p.Step]", p.compound_steps(args, p.Compound4Res(OK, b"", results)))
    assert [step.current for step in steps] == [
        *(None, None, b"dir", b"dir", b"found", b"found", b"found", b"dir", None),
    ]
    assert [step.saved for step in steps[2:6]] == [None, b"dir", b"dir", b"dir"]
    assert steps[5].at("resok4.object") == "resarray[5].resok4.object"
    assert (steps[8].result, steps[8].status) == (None, None)


def test_steps_without_arguments_come_from_the_results() -> None:
    steps = p.compound_steps(None, p.Compound4Res(OK, b"", [SEQUENCE_OK]))
    assert [(step.operation, step.args) for step in steps] == [(p.SEQUENCE, None)]
    other = p.compound_steps(p.Compound4Args(b"", 1, [SEQUENCE]), p.Compound4Res(OK, b"", [p.Putfh4Res(OK)]))
    assert other[0].result is None
    recall = p.CbCompound4Args(b"", 1, 0, [p.CbRecall4Args(p.ANONYMOUS_STATEID, False, b"fh")])
    assert [step.operation for step in p.callback_steps(recall, None)] == [p.CB_RECALL]


def test_transcripts_name_the_operations() -> None:
    text = format_value(
        p.Compound4Args(b"", 1, [SEQUENCE, p.Setattr4Args(p.ANONYMOUS_STATEID, p.Fattr4(mode=0o640))])
    )
    assert "  [0] SEQUENCE (53):" in text
    assert "  [1] SETATTR (34):" in text
    assert "      mode: 0640" in text


def test_what_a_server_gave_is_found_in_compounds_and_attributes() -> None:
    attributes = p.Fattr4(filehandle=b"handle", time_modify=p.Nfstime4(5, 6))
    read = p.Getattr4Res(OK, p.Getattr4ResOk(attributes))
    closed = p.Close4Res(OK, p.Stateid4(1, b"twelve bytes"))
    given = dict(given_in(p.Compound4Res(OK, b"", [read, closed]), ""))
    assert given["resarray[0].resok4.obj_attributes.time_modify"] == ("time", 5, 6)
    assert given["resarray[1].open_stateid.other"] == b"twelve bytes"


def test_bulk_data_is_not_copied() -> None:
    payload = bytearray(b"x" * 10_001)
    write = p.Write4Args(p.ANONYMOUS_STATEID, 0, p.StableHow4.UNSTABLE4, payload)
    buffers = p.Compound4Args(b"", 1, [SEQUENCE, p.Putfh4Args(b"fh"), write]).to_buffers()
    assert any(buffer is payload for buffer in buffers)
    assert carries_bulk(p.Compound4Args)
    assert carries_bulk(p.Compound4Res)
    assert not carries_bulk(p.CbCompound4Args)
    reply = p.Compound4Res(OK, b"", [p.Read4Res(OK, p.Read4ResOk(True, b"data"))])
    decoded = p.Compound4Res.from_xdr(reply.to_xdr()).resarray[0]
    assert isinstance(decoded, p.Read4Res)
    assert decoded.resok4 is not None
    assert isinstance(decoded.resok4.data, memoryview)


@pytest.mark.parametrize("tag", [b"", b"tag"])
def test_the_data_of_a_last_read_stand_where_the_call_says(tag: bytes) -> None:
    args = p.Compound4Args(tag, 1, [SEQUENCE, p.Putfh4Args(b"fh"), p.Read4Args(p.ANONYMOUS_STATEID, 0, 9)])
    results: list[XdrType] = [SEQUENCE_OK, p.Putfh4Res(OK), p.Read4Res(OK, p.Read4ResOk(False, b"the data"))]
    reply = p.Compound4Res(OK, tag, results)
    bulk = p.bulk_of(args)
    assert bulk is p.bulk_of(args)
    assert bulk is not None
    assert reply.to_xdr()[bulk.at :] == u(8) + b"the data"
    assert (bulk.asked(args), bulk.data(reply)) == (9, b"the data")
    bulk.place(reply, b"others")
    assert bulk.data(reply) == b"others"
    assert bulk.data(p.Compound4Res(OK, tag, [SEQUENCE_OK])) is None


def test_other_compounds_have_no_place_for_data() -> None:
    read = p.Read4Args(p.ANONYMOUS_STATEID, 0, 9)
    assert p.bulk_of(p.Compound4Args(b"", 1, [SEQUENCE])) is None
    assert p.bulk_of(p.Compound4Args(b"", 1, [])) is None
    assert p.bulk_of(p.Compound4Args(b"", 1, [p.Getattr4Args([]), read])) is None


# ---------------------------------------------------------------- as a library


def test_nfs4_is_not_imported_unless_it_is_used() -> None:
    program = "import sys, nfsclient, nfsclient.clients; print([m for m in sys.modules if 'nfs4' in m])"
    shown = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    assert shown.stdout == "[]\n"


def test_every_union_over_a_status_covers_all_of_them() -> None:
    for cls in TYPES:
        if cls.__xdr_role__ == "union":
            assert shape_of(cls).arm_for(70) is not None, cls


def test_bitmaps_of_attributes_are_printed_by_name() -> None:
    asked = p.Getattr4Args(p.bitmap("type", "change", "mounted_on_fileid"))
    assert format_value(asked) == ["attr_request: type, change, mounted_on_fileid"]
    assert format_value(p.Getattr4Args([])) == ["attr_request: none"]
    assert format_value(p.Getattr4Args([2, 0])) == ["attr_request: type (2 words, the last one 0)"]
    assert format_value(asked, mark="attr_request[1]")[:2] == ["attr_request: 2 elements", "  [0]: 10"]
    many = p.Getattr4Args([0xFFFF_FFFF] * 100)
    (line,) = format_value(many)
    assert line.endswith(", ... 3136 more")


def _listing() -> p.Compound4Res:
    """A page of READDIR with entries of all lengths modulo 4."""
    when, device = p.Nfstime4(-1, 2), p.Specdata4(3, 4)
    entries = [
        p.Entry4(
            number,
            b"n" * number,
            p.Fattr4(fsid=p.Fsid4(1, number), owner=b"o" * number, rawdev=device, time_modify=when),
        )
        for number in range(1, 9)
    ]
    page = p.Readdir4ResOk(bytes(8), p.Dirlist4(entries, True))
    return p.Compound4Res(OK, b"", [SEQUENCE_OK, p.Putfh4Res(OK), p.Readdir4Res(OK, page)])


def test_a_listing_that_is_cut_anywhere_is_refused_by_both_codecs() -> None:
    whole = _listing().to_xdr()
    for _ in range(8):  # so that its bitmap is compiled
        assert p.Compound4Res.from_xdr(whole) == _listing()
    for size in range(len(whole)):
        for decode in (p.Compound4Res.unpack_from, lambda data: reflect.decode(p.Compound4Res, data)):
            with pytest.raises(XdrError):
                decode(whole[:size])


def test_lazy_attributes_are_there_when_they_are_read() -> None:
    encoded = p.Fattr4(fsid=p.Fsid4(1, 2), mode=0o644, time_modify=p.Nfstime4(3, 4)).to_xdr()
    for _ in range(8):
        found = p.Fattr4.from_xdr(encoded)
        assert (found.fsid, found.time_modify) == (p.Fsid4(1, 2), p.Nfstime4(3, 4))
        assert found.fsid is found.fsid
        assert (found.rawdev, found.time_access, found.owner) == (None, None, None)
        assert p.Fattr4.from_xdr(encoded).to_xdr() == encoded
        assert found.changed(time_modify=None) == p.Fattr4(fsid=p.Fsid4(1, 2), mode=0o644)
