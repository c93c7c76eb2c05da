# SPDX-License-Identifier: MIT
"""Times (RFC 5661 section 5.8.2): what moves time_modify of a directory."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import XdrType
from nfsjudge import expect, proves, should, skip

DIRECTORY_TIME_FOLLOWS_ENTRIES = should(  # the text says "object" and names no entries
    "RFC 5661",
    "5.8.2.43",
    "time_modify is the time of the last modification: it should follow the entries of a directory",
    also={"4.0": ("RFC 7530", "5.8.2.39")},
)
CHANGES: t.Final = (
    *("open", "create", "link"),
    *("remove_file", "remove_directory", "rename_from", "rename_to"),
)
"""Operations that change the entries of a directory."""
_LONG_AGO: t.Final = 946_684_800
"""The year 2000: no server's clock shows it by chance."""


def _make_old(compounds: Compounds, scratch: Nfs4Scratch, handle: bytes) -> None:
    compounds.compound(op.putfh(handle), op.setattr(p.Fattr4(time_modify_set=p.client_time(_LONG_AGO))))
    seen = scratch.attributes(handle, "time_modify").time_modify
    if seen is None or seen.seconds != _LONG_AGO:
        skip("SETATTR does not set time_modify to the year 2000, so a later change would not show")


def _arranged(compounds: Compounds, scratch: Nfs4Scratch, change: str, here: bytes) -> Callable[[], object]:
    """Make what the change of the directory `here` needs; the function that makes it."""
    there, old, new = scratch.directory("there"), b"old", b"new"

    def act(*operations: XdrType) -> Callable[[], object]:
        def run() -> None:
            status = compounds.compound(*operations).status
            if status != p.Nfsstat4.NFS4_OK:
                skip(f"the change of the directory answers {status}: other checks judge that")

        return run

    match change:
        case "open":
            return lambda: scratch.file(new, directory=here)
        case "create":
            return lambda: scratch.directory(new, directory=here)
        case "link":
            file = scratch.file(old, directory=there)
            return lambda: scratch.link(file, new, directory=here)
        case "remove_file" | "remove_directory":
            make = scratch.file if change == "remove_file" else scratch.directory
            make(old, directory=here)
            return act(op.putfh(here), op.remove(old))
    source, target = (here, there) if change == "rename_from" else (there, here)
    scratch.file(old, directory=source)
    return act(op.putfh(source), op.savefh(), op.putfh(target), op.rename(old, new))


@pytest.mark.parametrize("change", CHANGES)
@proves(DIRECTORY_TIME_FOLLOWS_ENTRIES, killed_by="getattr4-keeps-the-time-that-was-set")
def test_directory_time(compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """A change of the entries of a directory updates its time_modify."""
    here = scratch.directory("here")
    change_it = _arranged(compounds, scratch, change, here)
    _make_old(compounds, scratch, here)
    change_it()
    seen = scratch.attributes(here, "time_modify").time_modify
    expect(seen, "time_modify of the directory", of=seen).differs_from(p.Nfstime4(_LONG_AGO, 0))
