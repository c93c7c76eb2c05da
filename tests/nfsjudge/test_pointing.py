# SPDX-License-Identifier: MIT
"""From a claim about a value to the field of a reply that had it."""

from __future__ import annotations

import pytest

from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import Fattr3, Ftype3, Getattr3Res, Getattr3ResOk, Nfsstat3, Nfstime3, Specdata3
from nfsclient.rpc.exchange import Exchange
from nfsjudge import Nonconformance, expect
from nfsjudge.pointing import find_field


def attributes(size: int) -> Fattr3:
    time = Nfstime3(1, 2)
    return Fattr3(Ftype3.NF3REG, 0o644, 1, 0, 0, size, size, Specdata3(0, 0), 1, 2, time, time, time)


def exchange(size: int) -> Exchange:
    reply = Getattr3Res(Nfsstat3.NFS3_OK, Getattr3ResOk(attributes(size)))
    return Exchange(1, nfs3.GETATTR, None, None, b"", 0.0, "", "tcp", result=reply)


class Holder:
    def attributes(self, _name: str) -> Fattr3:
        return attributes(7)


def test_names_come_from_the_source_of_the_claim() -> None:
    holder, size = Holder(), 7
    with pytest.raises(Nonconformance) as failed:
        expect(holder.attributes("é").size, "size").equals(8)
    assert (failed.value.names, failed.value.value) == (("size",), 7)
    with pytest.raises(Nonconformance) as failed:
        expect(
            holder.attributes("f").mtime.seconds,
            "seconds",
        ).at_least(8)
    assert failed.value.names == ("mtime", "seconds")
    with pytest.raises(Nonconformance) as failed:
        expect(size, "size").at_most(6)
    assert failed.value.names == ("size",)
    with pytest.raises(Nonconformance) as failed:
        expect(size + 1, "sum").at_most(6)
    assert failed.value.names == ()


def test_a_claim_without_source_points_nowhere() -> None:
    code = "from nfsjudge import expect\nexpect(1, 'one').equals(2)\n"
    with pytest.raises(Nonconformance) as failed:
        exec(code, {})
    assert failed.value.names == ()


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
