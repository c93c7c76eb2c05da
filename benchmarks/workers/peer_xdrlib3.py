# SPDX-License-Identifier: MIT
"""xdrlib3 (PyPI), the standard library's former xdrlib: a decoder written by hand, field by field.

It builds the very objects that our codec builds, and checks what ours checks: limits, padding, booleans, end.
"""

from __future__ import annotations

import typing as t

import xdrlib3

from benchmarks.workers import samples
from benchmarks.workers.common import Order, Run, Tally, repeat, serve
from nfsclient.protocol import nfs3 as p

TYPES = {member.value: member for member in p.Ftype3}
STATUSES = {member.value: member for member in p.Nfsstat3}


def decode_time(u: t.Any) -> p.Nfstime3:
    return p.Nfstime3(u.unpack_uint(), u.unpack_uint())


def decode_attributes(u: t.Any) -> p.Fattr3:
    return p.Fattr3(
        TYPES[u.unpack_enum()],
        u.unpack_uint(),
        u.unpack_uint(),
        u.unpack_uint(),
        u.unpack_uint(),
        u.unpack_uhyper(),
        u.unpack_uhyper(),
        p.Specdata3(u.unpack_uint(), u.unpack_uint()),
        u.unpack_uhyper(),
        u.unpack_uhyper(),
        decode_time(u),
        decode_time(u),
        decode_time(u),
    )


def decode_flag(u: t.Any) -> bool:
    flag = u.unpack_uint()
    if flag > 1:
        raise ValueError("neither true nor false")
    return bool(flag)


def decode_handle(u: t.Any) -> bytes:
    handle: bytes = u.unpack_opaque()
    if len(handle) > p.NFS3_FHSIZE:
        raise ValueError("handle too long")
    return handle


def decode_entry(u: t.Any) -> p.Entryplus3:
    """entryplus3 without its successor."""
    return p.Entryplus3(
        u.unpack_uhyper(),
        u.unpack_string(),
        u.unpack_uhyper(),
        decode_attributes(u) if decode_flag(u) else None,
        decode_handle(u) if decode_flag(u) else None,
    )


def decode_page(data: bytes) -> p.Readdirplus3Res:
    """A READDIRPLUS3res that is good."""
    u = xdrlib3.Unpacker(data)
    status = STATUSES[u.unpack_enum()]
    attributes = decode_attributes(u) if decode_flag(u) else None
    verifier = u.unpack_fopaque(8)
    entries = []
    while decode_flag(u):
        entries.append(decode_entry(u))
    reply = p.Readdirplus3Res(status, p.Readdirplus3ResOk(attributes, verifier, entries, decode_flag(u)))
    u.done()
    return reply


def fattr3(_order: Order) -> Run:
    data = samples.FATTR3

    def step(tally: Tally) -> None:
        for _ in range(100):
            unpacker = xdrlib3.Unpacker(data)
            decode_attributes(unpacker)
            unpacker.done()
        tally.operations += 100

    return repeat(step)


def fattr3_read(_order: Order) -> Run:
    """The same, with every field looked at."""
    data = samples.FATTR3

    def step(tally: Tally) -> None:
        for _ in range(100):
            unpacker = xdrlib3.Unpacker(data)
            _ = samples.every_field(decode_attributes(unpacker))
            unpacker.done()
        tally.operations += 100

    return repeat(step)


def page(_order: Order) -> Run:
    """A page with all its objects."""
    assert decode_page(samples.PAGE) == p.Readdirplus3Res.from_xdr(samples.PAGE)

    def step(tally: Tally) -> None:
        decode_page(samples.PAGE)
        tally.operations += 1

    return repeat(step)


if __name__ == "__main__":
    serve({"fattr3": fattr3, "fattr3-read": fattr3_read, "page": page, "page-read": page})
