# SPDX-License-Identifier: MIT
"""Refusals: a call that creates an object and fails leaves no object.

RFC 1094 says so of each: sections 2.2.10 (CREATE), 2.2.13 (LINK), 2.2.14 (SYMLINK) and 2.2.15 (MKDIR). What was there
before stays as it was.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.errors import AuthFailed, GarbageArgs, ProcUnavail, SystemErr
from nfsclient.protocol.nfs2 import Nfsstat2, Sattr
from nfsjudge import Harm, expect_that, observe, proves, show, skip, stated
from nfsjudge.expect import StatusReply
from suites import refused
from suites.refused import EMPTY, FILE, FULL, NEW, OTHER
from suites.replies import copies_sent

REFUSED_CALL_CREATES_NOTHING = stated(
    "RFC 1094",
    "2.2.10",
    "any status but NFS_OK means that nothing was created (CREATE; LINK, SYMLINK and MKDIR alike)",
    harm=Harm.SUCCESS,
)
_FOREIGN: t.Final = Sattr(mode=0o644, uid=4242, gid=4242)
"""An owner that many servers let only root set, after they have made the object."""
_JUKEBOX: t.Final = 10008
"""Of version 3: the server has begun."""
_REFUSED_BY_RPC: t.Final = (GarbageArgs, ProcUnavail, SystemErr, AuthFailed)
Act: t.TypeAlias = Callable[[Nfs2, bytes, bytes, bytes], StatusReply]
"""(client, directory, an unused name in it, a file) -> the reply."""


def _create(attributes: Sattr) -> Act:
    return lambda nfs2, where, name, _: nfs2.create(where, name, attributes)


def _mkdir(attributes: Sattr) -> Act:
    return lambda nfs2, where, name, _: nfs2.mkdir(where, name, attributes)


def _symlink(data: bytes, attributes: Sattr) -> Act:
    return lambda nfs2, where, name, _: nfs2.symlink(where, name, data, attributes)


CALLS: t.Final[dict[str, dict[str, Act]]] = {
    "create": {"plain": _create(Sattr(mode=0o644)), "foreign-owner": _create(_FOREIGN)},
    "mkdir": {
        "plain": _mkdir(Sattr(mode=0o755)),
        "foreign-owner": _mkdir(_FOREIGN),
        "size": _mkdir(Sattr(mode=0o755, size=100)),
    },
    "symlink": {
        "plain": _symlink(b"target", Sattr(mode=0o777)),
        "without-mode": _symlink(b"target", Sattr()),
        "empty": _symlink(b"", Sattr(mode=0o777)),
        "long": _symlink(b"t" * 1024, Sattr(mode=0o777)),
        "foreign-owner": _symlink(b"target", _FOREIGN),
    },
    "link": {
        "plain": lambda nfs2, where, name, file: nfs2.link(file, where, name),
        "of-directory": lambda nfs2, where, name, _: nfs2.link(where, where, name),
    },
}
"""Calls that some server refuses: plain ones too, since it is about servers that support little."""


REFUSED_CALL_CHANGES_NOTHING = stated(
    "RFC 1094",
    "2.3.1",
    "a status other than NFS_OK is an error: the objects that the call names stay as they are",
    harm=Harm.OBJECT,
)
_PLAIN: t.Final = Sattr(mode=0o600)
REFUSED: t.Final[dict[str, dict[str, refused.Act]]] = {
    "exist": {
        "MKDIR": lambda nfs2, at: nfs2.mkdir(at.here, FILE, _PLAIN).status,
        "MKDIR of a directory": lambda nfs2, at: nfs2.mkdir(at.here, FULL, _PLAIN).status,
        "SYMLINK": lambda nfs2, at: nfs2.symlink(at.here, FILE, b"target", _PLAIN).status,
        "LINK": lambda nfs2, at: nfs2.link(at.other, at.here, FILE).status,
    },
    "notempty": {
        "RENAME": lambda nfs2, at: nfs2.rename(at.here, EMPTY, at.here, FULL).status,
        "RMDIR": lambda nfs2, at: nfs2.rmdir(at.here, FULL).status,
    },
    "noent": {
        "RENAME": lambda nfs2, at: nfs2.rename(at.here, NEW, at.here, FILE).status,
        "REMOVE": lambda nfs2, at: nfs2.remove(at.here, NEW).status,
        "RMDIR": lambda nfs2, at: nfs2.rmdir(at.here, NEW).status,
    },
    "notdir": {
        "CREATE": lambda nfs2, at: nfs2.create(at.file, NEW, _PLAIN).status,
        "MKDIR": lambda nfs2, at: nfs2.mkdir(at.file, NEW, _PLAIN).status,
        "REMOVE": lambda nfs2, at: nfs2.remove(at.file, OTHER).status,
        "RMDIR": lambda nfs2, at: nfs2.rmdir(at.here, FILE).status,
        "RENAME": lambda nfs2, at: nfs2.rename(at.here, EMPTY, at.here, FILE).status,
    },
    "isdir": {
        "WRITE": lambda nfs2, at: nfs2.write(at.full, 0, b"data").status,
        "RENAME": lambda nfs2, at: nfs2.rename(at.here, FILE, at.here, FULL).status,
    },
}
"""Calls that fail on every server, by the reason."""
DENIED: t.Final[dict[str, refused.Act]] = {
    "SETATTR of mode": lambda nfs2, at: nfs2.setattr(at.file, Sattr(mode=0o666)).status,
    "SETATTR of size": lambda nfs2, at: nfs2.setattr(at.file, Sattr(size=0)).status,
    "WRITE": lambda nfs2, at: nfs2.write(at.file, 0, b"theirs").status,
    "CREATE": lambda nfs2, at: nfs2.create(at.here, NEW, _PLAIN).status,
    "MKDIR": lambda nfs2, at: nfs2.mkdir(at.here, NEW, _PLAIN).status,
    "SYMLINK": lambda nfs2, at: nfs2.symlink(at.here, NEW, b"target", _PLAIN).status,
    "LINK": lambda nfs2, at: nfs2.link(at.file, at.here, NEW).status,
    "REMOVE": lambda nfs2, at: nfs2.remove(at.here, FILE).status,
    "RMDIR": lambda nfs2, at: nfs2.rmdir(at.here, EMPTY).status,
    "RENAME": lambda nfs2, at: nfs2.rename(at.here, FILE, at.here, NEW).status,
}


@pytest.mark.parametrize("reason", REFUSED)
@proves(REFUSED_CALL_CHANGES_NOTHING, killed_by="changes2-refuse-and-clear")
def test_keep_objects(nfs2: Nfs2, scratch: Nfs2Scratch, reason: str) -> None:
    """A call that fails leaves the objects that it names as they are."""
    refused.expect_nothing_changed(nfs2, scratch, REFUSED[reason])


@proves(REFUSED_CALL_CHANGES_NOTHING, killed_by="changes2-deny-and-do", needs="other_users")
def test_denied_changes_nothing(scratch: Nfs2Scratch, as_user: Callable[..., Nfs2]) -> None:
    """A call that the server denies to another user changes nothing."""
    refused.expect_nothing_changed(as_user(4242, 4242), scratch, DENIED)


@proves(REFUSED_CALL_CHANGES_NOTHING, killed_by="changes2-deny-and-do", needs="other_users")
def test_denied_truncation(scratch: Nfs2Scratch, as_user: Callable[..., Nfs2]) -> None:
    """CREATE with a size of 0 that the server denies to another user does not truncate the file."""

    def truncate(nfs2: Nfs2, at: refused.Place) -> Nfsstat2:
        return nfs2.create(at.here, FILE, Sattr(size=0)).status

    refused.expect_nothing_changed(as_user(4242, 4242), scratch, {"CREATE that truncates": truncate})


@pytest.mark.parametrize("procedure", CALLS)
@proves(REFUSED_CALL_CREATES_NOTHING, killed_by="creations2-leave-what-they-refuse")
def test_leave_nothing(
    nfs2: Nfs2, as_user: Callable[..., Nfs2], scratch: Nfs2Scratch, procedure: str
) -> None:
    """A call that fails to create an object does not leave one."""
    file, closed, refused = scratch.file("file"), scratch.directory("closed", mode=0o700), 0
    calls = [(what, nfs2, scratch.handle, act) for what, act in CALLS[procedure].items()]
    calls.append(("by another user", as_user(4242, 4242), closed, CALLS[procedure]["plain"]))
    for what, client, where, act in calls:
        copies = copies_sent(client.rpc)
        try:
            reply = act(client, where, what.encode(), file)
        except _REFUSED_BY_RPC:
            continue
        if reply.status == Nfsstat2.NFSERR_EXIST and copies_sent(client.rpc) != copies:
            continue  # the reply to the first copy was lost, and may have said that the object was created
        if reply.status in {Nfsstat2.NFS_OK, _JUKEBOX}:
            continue
        refused += 1
        observe(f"{procedure.upper()} {what}", show(reply.status))
        expect_that(
            scratch.lookup(what, directory=where) is None,
            "NFSERR_NOENT",
            "success",
            f"status of LOOKUP after {procedure.upper()} ({what}) answered {reply.status}",
            operation="LOOKUP",
        )
    if not refused:
        skip("the server refused none of the calls")
