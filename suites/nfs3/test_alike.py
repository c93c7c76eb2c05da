# SPDX-License-Identifier: MIT
"""Values that agree in part are different values: verifiers of EXCLUSIVE, names (RFC 1813)."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import LOOKUP, CreateMode3, Diropargs3, Lookup3Args
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Harm, expect, expect_once, expect_that, proves, should, skip
from suites.clauses import NAMES_ARE_COMPARED_WHOLE
from suites.nfs3.clauses import EXCLUSIVE_NEEDS_ITS_VERIFIER, READDIR_LISTS_ENTRIES
from suites.nfs3.common import CommonNfs3
from suites.nfs3.limits import name_max_of
from suites.nfs3.listing import SMALL_PAGE, Fill, page, read_all
from suites.two_names import MAY_BE_SAME, expect_two_files, names_alike

FOLDED_NAMES_ARE_CONSISTENT = should(  # of GUARDED the text says "should"
    "RFC 1813",
    "3.3.8",
    "GUARDED creates a file, or fails with NFS3ERR_EXIST where the server takes the name for another one",
    harm=Harm.OBJECT,
)
_MANY = 300


@pytest.mark.parametrize("same", ["first", "last"])
@proves(
    EXCLUSIVE_NEEDS_ITS_VERIFIER,
    killed_by="create3-compares-half-of-the-verifier",
    needs="exclusive_create",
)
def test_verifiers(nfs3: Nfs3, scratch: Nfs3Scratch, same: str) -> None:
    """CREATE EXCLUSIVE with a verifier that agrees in one half with that of the file fails."""
    # The halves differ in most of their bits: a server may store only some (IMPLEMENTATION of section 3.3.8).
    half, first, second = b"\x11\x22\x33\x44", b"\x55\x66\x77\x01", b"\xaa\x99\x88\x7e"
    verifiers = [half + start if same == "first" else start + half for start in (first, second)]
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=verifiers[0])).ok()
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=verifiers[1])).refused()


@proves(
    NAMES_ARE_COMPARED_WHOLE,
    FOLDED_NAMES_ARE_CONSISTENT,
    killed_by=("lookup3-compares-the-start-of-names", "create3-guarded-folds-case"),
)
def test_names(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """Names that agree in part are names of different files; where the server folds them, the second is refused."""
    client = CommonNfs3(nfs3)
    for how, names in names_alike(name_max_of(nfs3, scratch.handle)).items():
        may_be_same = FOLDED_NAMES_ARE_CONSISTENT if how in MAY_BE_SAME else None
        expect_two_files(client, scratch.handle, names, how, NAMES_ARE_COMPARED_WHOLE, may_be_same)


@proves(
    READDIR_LISTS_ENTRIES,
    NAMES_ARE_COMPARED_WHOLE,
    killed_by=("readdir3-compares-sums-of-names", "lookup3-compares-sums-of-names"),
)
def test_equal_sums(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Nfs3Scratch, fill: Fill
) -> None:
    """Many names of the same bytes in another order are listed once each, and are names of different files."""
    names = [bytes(order) for order in itertools.islice(itertools.permutations(b"abcdef"), _MANY)]
    fill(names)
    listing = read_all(page, nfs3, scratch.handle, count=SMALL_PAGE)
    if not listing.ended:
        skip("READDIR never returns eof TRUE for the directory")
    expect_once(listing.names, names)
    rpc, of_file = rpc_connect("nfs"), dict[int, bytes]()
    calls = (Lookup3Args(Diropargs3(scratch.handle, name)) for name in names)
    for args, reply in rpc.pipeline(LOOKUP, calls):
        expect(reply, because=NAMES_ARE_COMPARED_WHOLE).ok()
        seen = reply.resok.obj_attributes if reply.resok is not None else None
        if seen is not None:
            other = of_file.setdefault(seen.fileid, args.what.name)
            text = f"file {args.what.name.decode()}, another one than {other.decode()}"
            expect_that(other == args.what.name, "two files", "one", text, because=NAMES_ARE_COMPARED_WHOLE)
