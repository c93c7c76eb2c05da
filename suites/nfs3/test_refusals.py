# SPDX-License-Identifier: MIT
"""Refusals: a call that creates an object and fails leaves no object (RFC 1813 sections 3.3.8 to 3.3.11 and 3.3.15).

A failed call returns wcc_data just because it may have changed the directory, so this is SHOULD. JUKEBOX says that the
server has begun (section 2.6): what it leaves is not judged.
"""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import CannotClean
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Ftype3, Mknoddata3, Nfsstat3, Sattr3
from nfsjudge import Level, Requirement, expect_that, observe, proves, show, skip
from nfsjudge.expect import StatusReply
from suites.nfs3.bad_names import BelowNfs, reply_if_decoded
from suites.nfs3.file_types import NODES
from suites.nfs3.permissions import STRANGER
from suites.replies import copies_sent

REFUSED_CALL_CREATES_NOTHING = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    gist="a call that fails should not create the object (CREATE; MKDIR, SYMLINK, MKNOD and LINK alike)",
)
_FOREIGN: t.Final = Sattr3(mode=0o644, uid=STRANGER[0], gid=STRANGER[1])
"""An owner that many servers let only root set, after they have made the object."""
_HUGE: t.Final = Sattr3(mode=0o644, size=2**64 - 1)
"""A size that no file has: signed 64-bit numbers cannot represent it."""
Act: t.TypeAlias = Callable[[Nfs3, Nfs3Scratch, bytes], StatusReply]
"""(client, scratch directory, an unused name) -> the reply."""


def _create(mode: CreateMode3, attributes: Sattr3) -> Act:
    return lambda nfs3, scratch, name: nfs3.create(scratch.handle, name, mode, attributes, b"nfsproof")


def _mkdir(attributes: Sattr3) -> Act:
    return lambda nfs3, scratch, name: nfs3.mkdir(scratch.handle, name, attributes)


def _symlink(data: bytes, attributes: Sattr3) -> Act:
    return lambda nfs3, scratch, name: nfs3.symlink(scratch.handle, name, data, attributes)


def _mknod(what: Mknoddata3) -> Act:
    return lambda nfs3, scratch, name: nfs3.mknod(scratch.handle, name, what)


CALLS: t.Final[dict[str, dict[str, Act]]] = {
    "create": {
        "guarded": _create(CreateMode3.GUARDED, Sattr3(mode=0o644)),
        "exclusive": _create(CreateMode3.EXCLUSIVE, Sattr3()),
        "foreign-owner": _create(CreateMode3.UNCHECKED, _FOREIGN),
        "huge-size": _create(CreateMode3.UNCHECKED, _HUGE),
    },
    "mkdir": {"plain": _mkdir(Sattr3(mode=0o755)), "foreign-owner": _mkdir(_FOREIGN), "size": _mkdir(_HUGE)},
    "symlink": {
        "with-mode": _symlink(b"target", Sattr3(mode=0o777)),
        "without-mode": _symlink(b"target", Sattr3()),
        "empty": _symlink(b"", Sattr3(mode=0o777)),
        "too-long": _symlink(b"t" * 5000, Sattr3(mode=0o777)),
        "foreign-owner": _symlink(b"target", _FOREIGN),
    },
    "mknod": {
        **{kind: _mknod(node) for kind, node in NODES.items()},
        "foreign-owner": _mknod(Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=_FOREIGN)),
        "regular": _mknod(Mknoddata3(Ftype3.NF3REG)),
        "directory": _mknod(Mknoddata3(Ftype3.NF3DIR)),
    },
    "link": {
        "of-file": lambda nfs3, scratch, name: nfs3.link(scratch.file(name + b"-file"), scratch.handle, name),
        "of-directory": lambda nfs3, scratch, name: nfs3.link(
            scratch.directory(name + b"-directory"), scratch.handle, name
        ),
        "of-root": lambda nfs3, scratch, name: nfs3.link(scratch.handle, scratch.handle, name),
    },
}
"""Calls that some server refuses: most plain ones too, since it is about servers that support little."""


@pytest.mark.parametrize("procedure", CALLS)
@proves(
    REFUSED_CALL_CREATES_NOTHING,
    killed_by=("creations3-leave-what-they-refuse", "creations3-hide-what-they-refuse"),
)
def test_leave_nothing(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """A call that fails to create an object does not leave one."""
    refused = 0
    for what, act in CALLS[procedure].items():
        name, copies = what.encode(), copies_sent(nfs3.rpc)
        reply = reply_if_decoded(nfs3, lambda act=act, name=name: act(nfs3, scratch, name), what)  # type: ignore[misc]
        if isinstance(reply, BelowNfs) or reply.status in {Nfsstat3.NFS3_OK, Nfsstat3.NFS3ERR_JUKEBOX}:
            continue
        if reply.status == Nfsstat3.NFS3ERR_EXIST and copies_sent(nfs3.rpc) != copies:
            continue  # the reply to the first copy was lost, and may have said that the object was created
        refused += 1
        observe(f"{procedure.upper()} {what}", show(reply.status))
        after = f"after {procedure.upper()} ({what}) answered {reply.status}"
        expect_that(scratch.lookup(name) is None, "NFS3ERR_NOENT", "success", f"status of LOOKUP {after}")
        with contextlib.suppress(CannotClean):  # READDIR fails: other checks judge that
            expect_that(
                name not in scratch.names(),
                f"no {show(name)}",
                f"{show(name)}, which LOOKUP does not find",
                f"names in READDIR {after}",
            )
    if not refused:
        skip("the server refused none of the calls")
