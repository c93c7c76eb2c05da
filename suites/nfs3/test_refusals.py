# SPDX-License-Identifier: MIT
"""Refusals: a call that creates an object and fails leaves no object (RFC 1813 sections 3.3.8 to 3.3.11 and 3.3.15).

A failed call returns wcc_data just because it may have changed the directory, so this is SHOULD. JUKEBOX says that the
server has begun (section 2.6): what it leaves is not judged. What was there before stays as it was: that is binding.
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
from nfsjudge import Harm, expect_that, observe, proves, should, show, skip, stated
from nfsjudge.expect import StatusReply
from suites import refused
from suites.nfs3.bad_names import BelowNfs, reply_if_decoded
from suites.nfs3.file_types import NODES
from suites.nfs3.permissions import STRANGER
from suites.refused import EMPTY, FILE, FULL, NEW, OTHER
from suites.replies import copies_sent

REFUSED_CALL_CREATES_NOTHING = should(
    "RFC 1813",
    "3.3.8",
    "a call that fails should not create the object (CREATE; MKDIR, SYMLINK, MKNOD and LINK alike)",
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


REFUSED_CALL_CHANGES_NOTHING = stated(
    "RFC 1813",
    "2.6",
    "an error says why a call was not carried out: the objects that it names stay as they are",
    harm=Harm.OBJECT,
)
REFUSED: t.Final[dict[str, dict[str, refused.Act]]] = {
    "exist": {
        "CREATE": lambda nfs3, at: (
            nfs3.create(at.here, FILE, CreateMode3.GUARDED, Sattr3(mode=0o600, size=0)).status
        ),
        "MKDIR": lambda nfs3, at: nfs3.mkdir(at.here, FILE).status,
        "MKDIR of a directory": lambda nfs3, at: nfs3.mkdir(at.here, FULL).status,
        "SYMLINK": lambda nfs3, at: nfs3.symlink(at.here, FILE, b"target").status,
        "LINK": lambda nfs3, at: nfs3.link(at.other, at.here, FILE).status,
        "MKNOD": lambda nfs3, at: nfs3.mknod(at.here, FILE, NODES["fifo"]).status,
    },
    "notempty": {
        "RENAME": lambda nfs3, at: nfs3.rename(at.here, EMPTY, at.here, FULL).status,
        "RMDIR": lambda nfs3, at: nfs3.rmdir(at.here, FULL).status,
    },
    "noent": {
        "RENAME": lambda nfs3, at: nfs3.rename(at.here, NEW, at.here, FILE).status,
        "REMOVE": lambda nfs3, at: nfs3.remove(at.here, NEW).status,
        "RMDIR": lambda nfs3, at: nfs3.rmdir(at.here, NEW).status,
    },
    "notdir": {
        "CREATE": lambda nfs3, at: nfs3.create(at.file, NEW, CreateMode3.GUARDED, Sattr3(mode=0o600)).status,
        "MKDIR": lambda nfs3, at: nfs3.mkdir(at.file, NEW).status,
        "REMOVE": lambda nfs3, at: nfs3.remove(at.file, OTHER).status,
        "RMDIR": lambda nfs3, at: nfs3.rmdir(at.here, FILE).status,
        "RENAME": lambda nfs3, at: nfs3.rename(at.here, EMPTY, at.here, FILE).status,
    },
    "isdir": {
        "WRITE": lambda nfs3, at: nfs3.write(at.full, 0, b"data").status,
        "SETATTR": lambda nfs3, at: nfs3.setattr(at.full, Sattr3(size=0)).status,
        "RENAME": lambda nfs3, at: nfs3.rename(at.here, FILE, at.here, FULL).status,
    },
}
"""Calls that fail on every server, by the reason."""
DENIED: t.Final[dict[str, refused.Act]] = {
    "SETATTR of mode": lambda nfs3, at: nfs3.setattr(at.file, Sattr3(mode=0o666)).status,
    "SETATTR of size": lambda nfs3, at: nfs3.setattr(at.file, Sattr3(size=0)).status,
    "WRITE": lambda nfs3, at: nfs3.write(at.file, 0, b"theirs").status,
    "CREATE": lambda nfs3, at: nfs3.create(at.here, NEW, CreateMode3.GUARDED, Sattr3(mode=0o600)).status,
    "MKDIR": lambda nfs3, at: nfs3.mkdir(at.here, NEW).status,
    "SYMLINK": lambda nfs3, at: nfs3.symlink(at.here, NEW, b"target").status,
    "LINK": lambda nfs3, at: nfs3.link(at.file, at.here, NEW).status,
    "REMOVE": lambda nfs3, at: nfs3.remove(at.here, FILE).status,
    "RMDIR": lambda nfs3, at: nfs3.rmdir(at.here, EMPTY).status,
    "RENAME": lambda nfs3, at: nfs3.rename(at.here, FILE, at.here, NEW).status,
}


@pytest.mark.parametrize("reason", REFUSED)
@proves(REFUSED_CALL_CHANGES_NOTHING, killed_by="changes3-refuse-and-clear")
def test_keep_objects(nfs3: Nfs3, scratch: Nfs3Scratch, reason: str) -> None:
    """A call that fails leaves the objects that it names as they are."""
    refused.expect_nothing_changed(nfs3, scratch, REFUSED[reason])


@proves(
    REFUSED_CALL_CHANGES_NOTHING,
    killed_by="changes3-deny-and-do",
    needs=("other_users", "distinct_users"),
)
def test_denied_changes_nothing(scratch: Nfs3Scratch, as_user: Callable[..., Nfs3]) -> None:
    """A call that the server denies to another user changes nothing."""
    refused.expect_nothing_changed(as_user(*STRANGER), scratch, DENIED)


@proves(
    REFUSED_CALL_CHANGES_NOTHING,
    killed_by="changes3-deny-and-do",
    needs=("other_users", "distinct_users"),
)
def test_denied_truncation(scratch: Nfs3Scratch, as_user: Callable[..., Nfs3]) -> None:
    """CREATE with a size of 0 that the server denies to another user does not truncate the file."""

    def truncate(nfs3: Nfs3, at: refused.Place) -> Nfsstat3:
        return nfs3.create(at.here, FILE, CreateMode3.UNCHECKED, Sattr3(size=0)).status

    refused.expect_nothing_changed(as_user(*STRANGER), scratch, {"CREATE that truncates": truncate})


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
        found, what = scratch.lookup(name), f"status of LOOKUP {after}"
        expect_that(found is None, "NFS3ERR_NOENT", "success", what, operation="LOOKUP")
        with contextlib.suppress(CannotClean):  # READDIR fails: other checks judge that
            expect_that(
                name not in scratch.names(),
                f"no {show(name)}",
                f"{show(name)}, which LOOKUP does not find",
                f"names in READDIR {after}",
            )
    if not refused:
        skip("the server refused none of the calls")
