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
from nfsjudge.pointing import Claim, find, find_field


def attributes(size: int) -> Fattr3:
    time = Nfstime3(1, 2)
    return Fattr3(Ftype3.NF3REG, 0o644, 1, 0, 0, size, size, Specdata3(0, 0), 1, 2, time, time, time)


def exchange(size: int) -> Exchange:
    reply = Getattr3Res(Nfsstat3.NFS3_OK, Getattr3ResOk(attributes(size)))
    return Exchange(1, nfs3.GETATTR, None, None, b"", 0.0, "", "tcp", result=reply)


class Holder:
    def attributes(self, _name: str) -> Fattr3:
        return attributes(7)


def claim(failed: pytest.ExceptionInfo[Nonconformance]) -> Claim:
    assert failed.value.claim is not None
    return failed.value.claim


def test_names_come_from_the_source_of_the_claim() -> None:
    holder, size = Holder(), 7
    with pytest.raises(Nonconformance) as failed:
        expect(holder.attributes("é").size, "size").equals(8)
    assert (claim(failed).names, claim(failed).value) == (("size",), 7)
    with pytest.raises(Nonconformance) as failed:
        expect(
            holder.attributes("f").mtime.seconds,
            "seconds",
        ).at_least(8)
    assert claim(failed).names == ("mtime", "seconds")
    with pytest.raises(Nonconformance) as failed:
        expect(size, "size").at_most(6)
    assert claim(failed).names == ("size",)
    with pytest.raises(Nonconformance) as failed:
        expect(size + 1, "sum").at_most(6)
    assert claim(failed).names == ()


def test_a_claim_without_source_points_nowhere() -> None:
    code = "from nfsjudge import expect\nexpect(1, 'one').equals(2)\n"
    with pytest.raises(Nonconformance) as failed:
        exec(code, {})
    assert claim(failed).names == ()


def test_the_latest_field_with_the_value_is_found() -> None:
    exchanges = [exchange(7), exchange(7), exchange(9)]
    assert find_field(exchanges, ("size",), 7) == (exchanges[1].result, "resok.obj_attributes.size")
    assert find_field(exchanges, ("obj_attributes", "size"), 9) == (
        exchanges[2].result,
        "resok.obj_attributes.size",
    )


@pytest.mark.parametrize(("names", "value"), [((), 7), (("size",), 8), (("bulk",), 7), (("size",), True)])
def test_what_is_not_there_is_not_found(names: tuple[str, ...], value: object) -> None:
    assert find_field([exchange(7), exchange(1)], names, value) is None


def test_a_local_object_is_found_where_it_is_and_not_where_its_like_is() -> None:
    exchanges = [exchange(7), exchange(7)]
    first = exchanges[0].result
    after = first.resok.obj_attributes
    with pytest.raises(Nonconformance) as failed:
        expect(after.size - 1, "the size").equals(8)
    assert find(exchanges, claim(failed)) == (first, "resok.obj_attributes.size")
    with pytest.raises(Nonconformance) as failed:
        expect(after.mtime.seconds > 5, "that time goes on").is_true()
    assert find(exchanges, claim(failed)) == (first, "resok.obj_attributes.mtime.seconds")
    with pytest.raises(Nonconformance) as failed:
        expect(first.resok is None, "that there is none").is_true()
    assert find(exchanges, claim(failed)) == (first, "resok")


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
        expect(said.outcome, "the answer").equals("AUTH_ERROR")
    assert find(exchanges, claim(failed)) == (exchanges[index], None)


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
    found = find(exchanges, Claim(names, what="the names"))
    assert (found and found[0]) is (None if index is None else exchanges[index].result)
    assert found is None or str(found[1]).endswith("entries")


@pytest.mark.parametrize(
    ("what", "value", "field"),
    [
        ("size", 7, "size"),
        ("permission bits of mode", 0o644, "mode"),
        ("mtime in nanoseconds", 1_000_000_002, "mtime"),
        ("the sum", 7, None),
        ("size", 8, None),
        ("size", True, None),
    ],
)
def test_words_name_a_field_that_has_the_value(what: str, value: object, field: str | None) -> None:
    found = find([exchange(7)], Claim(value, what=what))
    assert (found and found[1]) == (field and f"resok.obj_attributes.{field}")
