# SPDX-License-Identifier: MIT
"""From a claim about a value to the field of a reply that had it."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

import pytest

from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import (
    Entry3,
    Fattr3,
    Ftype3,
    Getattr3Res,
    Getattr3ResOk,
    Nfsstat3,
    Nfstime3,
    Readdir3Res,
    Readdir3ResOk,
    Specdata3,
)
from nfsclient.rpc.exchange import Exchange
from nfsjudge import Nonconformance, expect
from nfsjudge.pointing import Claim, find, locate


def attributes(size: int) -> Fattr3:
    times = Nfstime3(1, 2), Nfstime3(1, 2), Nfstime3(1, 2)
    return Fattr3(Ftype3.NF3REG, 0o644, 1, 0, 0, size, size, Specdata3(0, 0), 1, 2, *times)


def exchange(size: int) -> Exchange:
    reply = Getattr3Res(Nfsstat3.NFS3_OK, Getattr3ResOk(attributes(size)))
    return Exchange(1, nfs3.GETATTR, None, None, b"", 0.0, "", "tcp", result=reply)


def claim(failed: pytest.ExceptionInfo[Nonconformance]) -> Claim:
    assert failed.value.claim is not None
    return failed.value.claim


def test_the_latest_field_with_the_value_is_found() -> None:
    exchanges = [exchange(7), exchange(7), exchange(9)]
    assert find(exchanges, Claim(7, field="size")) == (exchanges[1].result, "resok.obj_attributes.size")
    assert find(exchanges, Claim(7, field="length|size")) == (
        exchanges[1].result,
        "resok.obj_attributes.size",
    )
    with pytest.raises(Nonconformance) as failed:
        expect(9, "size of the file", field="obj_attributes.size").equals(8)
    assert find(exchanges, claim(failed)) == (exchanges[2].result, "resok.obj_attributes.size")


@pytest.mark.parametrize(("field", "value"), [("", 7), ("size", 8), ("bulk", 7), ("size", True), ("ize", 7)])
def test_what_is_not_there_is_not_found(field: str, value: object) -> None:
    assert find([exchange(7), exchange(1)], Claim(value, field=field)) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [("mode", 0o644), ("mtime", 1_000_000_002), ("mtime.seconds", 1), ("type", Ftype3.NF3REG)],
)
def test_a_value_may_be_derived_from_the_field(field: str, value: object) -> None:
    with_type = exchange(7)
    with_type.result.resok.obj_attributes.mode |= 0o100000
    assert find([with_type], Claim(value, field=field)) == (with_type.result, f"resok.obj_attributes.{field}")


def test_a_claim_that_names_nothing_marks_nothing() -> None:
    size = 7
    with pytest.raises(Nonconformance) as failed:
        expect(size, "size").equals(8)
    assert failed.value.claim is None


def test_a_part_of_a_reply_is_found_where_it_is_and_not_where_its_like_is() -> None:
    exchanges = [exchange(7), exchange(7)]
    first = exchanges[0].result
    after = first.resok.obj_attributes
    with pytest.raises(Nonconformance) as failed:
        expect(after.size - 1, "the size", of=after, field="size").equals(8)
    assert find(exchanges, claim(failed)) == (first, "resok.obj_attributes.size")
    with pytest.raises(Nonconformance) as failed:
        expect(after.mtime.seconds > 5, "that time goes on", of=after.mtime).is_true()
    assert find(exchanges, claim(failed)) == (first, "resok.obj_attributes.mtime")
    with pytest.raises(Nonconformance) as failed:
        expect(first.resok is None, "that there is none", of=first, field="resok").is_true()
    assert find(exchanges, claim(failed)) == (first, "resok")


@pytest.mark.parametrize(
    ("what", "text"), [("", "size: expected 8, got 7"), ("bytes", "bytes: expected 8, got 7")]
)
def test_a_field_of_a_part_is_located_in_the_reply(what: str, text: str) -> None:
    exchanges = [exchange(7), exchange(7)]
    after = exchanges[0].result.resok.obj_attributes
    with pytest.raises(Nonconformance, match=text) as failed:
        expect(after).field("size", what).equals(8)
    found = locate(exchanges, failed.value.subject, failed.value.field)
    assert found == (exchanges[0].result, "resok.obj_attributes.size")


def test_what_is_in_no_reply_stays_as_it_is() -> None:
    exchanges = [exchange(7), exchange(8)]
    lone = exchange(7).result
    assert locate(exchanges, lone, "status") == (lone, "status")
    assert locate(exchanges, exchanges[1].result, "status") == (exchanges[1].result, "status")
    assert locate(exchanges, exchanges[0], None) == (exchanges[0], None)


@dataclass
class Answer:
    """As raw answers are: the bytes that came."""

    reply: bytes
    outcome: str = "SUCCESS"


def raw(reply: bytes | None) -> Exchange:
    return Exchange(1, None, None, None, b"call", 0.0, "", "tcp", reply=reply)


@pytest.mark.parametrize(("reply", "index"), [(b"yes", 1), (b"", 2)])
def test_a_raw_answer_is_its_exchange(reply: bytes, index: int) -> None:
    exchanges = [raw(b"no"), raw(b"yes"), raw(None), exchange(7)]
    said = Answer(reply)
    with pytest.raises(Nonconformance) as failed:
        expect(said.outcome, "the answer", of=said).equals("AUTH_ERROR")
    assert find(exchanges, claim(failed)) == (exchanges[index], None)
    assert locate(exchanges, said, None) == (exchanges[index], None)


def page(*names: bytes) -> Exchange:
    entries = [Entry3(number, name, number) for number, name in enumerate(names, 1)]
    reply = Readdir3Res(Nfsstat3.NFS3_OK, Readdir3ResOk(None, bytes(8), entries, eof=True))
    return Exchange(1, nfs3.READDIR, None, None, b"", 0.0, "", "tcp", result=reply)


@pytest.mark.parametrize(
    ("names", "index"),
    [([b"a", b"b"], 2), ([b"c"], 0), ([], 1), ([b"d"], None), ([b"a"], None), (["a"], None)],
)
def test_names_are_those_of_the_latest_page_that_lists_no_others(
    names: list[t.Any], index: int | None
) -> None:
    exchanges = [page(b".", b"c"), page(b".", b".."), page(b"a", b"b")]
    found = find(exchanges, Claim(names, field="entries"))
    assert (found and found[0]) is (None if index is None else exchanges[index].result)
    assert found is None or str(found[1]).endswith("entries")
