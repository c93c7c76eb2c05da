# SPDX-License-Identifier: MIT
"""Weak cache consistency (RFC 1813 section 2.5, wcc_data) of the procedures that change directories.

A server may withhold either half at any time; what it gives has to be true. Of files it is checked with WRITE,
SETATTR and COMMIT.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Ftype3, Mknoddata3, Nfsstat3, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.agreement import expect_before, expect_same_object

BEFORE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="before has size, mtime and ctime of the object from before the operation",
)
AFTER = Requirement(
    rfc="RFC 1813", section="2.5", gist="after has the attributes of the object from after the operation"
)


TIMES = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # some file systems bring the times of a directory up to date by and by
    gist="after has the times of the object from after the operation",
)


class Change(t.NamedTuple):
    """A call that changes the scratch directory, and where its reply speaks of that."""

    act: Callable[[Nfs3, Scratch], t.Any]
    wcc: str = "dir_wcc"


def _rename_in(nfs3: Nfs3, scratch: Scratch) -> t.Any:
    found = expect(nfs3.lookup(scratch.handle, b"directory")).ok()
    return nfs3.rename(found.object, b"inside", scratch.handle, b"new")


def _rename_out(nfs3: Nfs3, scratch: Scratch) -> t.Any:
    found = expect(nfs3.lookup(scratch.handle, b"directory")).ok()
    return nfs3.rename(scratch.handle, b"file", found.object, b"new")


def _link(nfs3: Nfs3, scratch: Scratch) -> t.Any:
    found = expect(nfs3.lookup(scratch.handle, b"file")).ok()
    return nfs3.link(found.object, scratch.handle, b"new")


def _link_over(nfs3: Nfs3, scratch: Scratch) -> t.Any:
    found = expect(nfs3.lookup(scratch.handle, b"file")).ok()
    return nfs3.link(found.object, scratch.handle, b"empty")


_FIFO: t.Final = Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644))
CHANGES: t.Final[dict[str, Change]] = {
    "create": Change(
        lambda nfs3, scratch: nfs3.create(scratch.handle, b"new", CreateMode3.GUARDED, Sattr3())
    ),
    "mkdir": Change(lambda nfs3, scratch: nfs3.mkdir(scratch.handle, b"new", Sattr3(mode=0o755))),
    "symlink": Change(lambda nfs3, scratch: nfs3.symlink(scratch.handle, b"new", b"target")),
    "mknod": Change(lambda nfs3, scratch: nfs3.mknod(scratch.handle, b"new", _FIFO)),
    "remove": Change(lambda nfs3, scratch: nfs3.remove(scratch.handle, b"file")),
    "rmdir": Change(lambda nfs3, scratch: nfs3.rmdir(scratch.handle, b"empty")),
    "rename_from": Change(_rename_out, "fromdir_wcc"),
    "rename_to": Change(_rename_in, "todir_wcc"),
    "link": Change(_link, "linkdir_wcc"),
}
REFUSED: t.Final[dict[str, Change]] = {
    "create": Change(
        lambda nfs3, scratch: nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3())
    ),
    "mkdir": Change(lambda nfs3, scratch: nfs3.mkdir(scratch.handle, b"file", Sattr3())),
    "remove": Change(lambda nfs3, scratch: nfs3.remove(scratch.handle, b"nobody-made-this")),
    "rename": Change(
        lambda nfs3, scratch: nfs3.rename(scratch.handle, b"nobody-made-this", scratch.handle, b"new"),
        "fromdir_wcc",
    ),
    "rename_to": Change(
        lambda nfs3, scratch: nfs3.rename(scratch.handle, b"nobody-made-this", scratch.handle, b"new"),
        "todir_wcc",
    ),
    "symlink": Change(lambda nfs3, scratch: nfs3.symlink(scratch.handle, b"file", b"target")),
    "mknod": Change(lambda nfs3, scratch: nfs3.mknod(scratch.handle, b"file", _FIFO)),
    "rmdir": Change(lambda nfs3, scratch: nfs3.rmdir(scratch.handle, b"nobody-made-this")),
    "link": Change(_link_over, "linkdir_wcc"),
}


@pytest.fixture
def furnished(scratch: Scratch) -> Scratch:
    """The scratch directory with what the changes need."""
    scratch.file("file", b"data")
    scratch.file("inside", directory=scratch.directory("directory"))
    scratch.directory("empty")
    return scratch


def _done(reply: t.Any, path: str) -> t.Any:
    """The wcc_data of a change that was made."""
    if reply.status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported("the server does not support this procedure")
    if reply.resok is None:
        skip(f"the change was refused: {reply.status}")
    return getattr(reply.resok, path)


@pytest.mark.parametrize("change", CHANGES)
@proves(BEFORE, killed_by=("wcc3-before-has-another-size", "wcc3-before-is-from-after"))
def test_before_is_what_getattr_said(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    known = furnished.attributes()
    reply = CHANGES[change].act(nfs3, furnished)
    if _done(reply, CHANGES[change].wcc).before is None:
        unsupported("the server withholds the attributes from before")
    expect_before(reply, f"resok.{CHANGES[change].wcc}.before", known)


@pytest.mark.parametrize("change", CHANGES)
@proves(AFTER, killed_by=("wcc3-after-is-of-another-object", "wcc3-after-is-stale"))
def test_after_is_what_getattr_says(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    reply = CHANGES[change].act(nfs3, furnished)
    if _done(reply, CHANGES[change].wcc).after is None:
        unsupported("the server withholds the attributes from after")
    expect_same_object(reply, f"resok.{CHANGES[change].wcc}.after", furnished.attributes())


@pytest.mark.parametrize("change", REFUSED)
@proves(AFTER, killed_by="wcc3-refusals-show-another-object")
def test_after_a_refusal_is_what_getattr_says(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    reply = REFUSED[change].act(nfs3, furnished)
    observe("the refusal", reply.status)
    if reply.resfail is None:
        skip("the server did not refuse")
    if getattr(reply.resfail, REFUSED[change].wcc).after is None:
        unsupported("the server withholds the attributes after a refusal")
    expect_same_object(reply, f"resfail.{REFUSED[change].wcc}.after", furnished.attributes())


@pytest.mark.parametrize("change", CHANGES)
@proves(TIMES, killed_by="wcc3-after-has-old-times")
def test_after_has_the_times_that_getattr_says(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    path = CHANGES[change].wcc
    reply = CHANGES[change].act(nfs3, furnished)
    if _done(reply, path).after is None:
        unsupported("the server withholds the attributes from after")
    known = furnished.attributes()
    for name in ("mtime", "ctime"):
        expect(reply).field(f"resok.{path}.after.{name}").equals(getattr(known, name))


@pytest.mark.parametrize("change", REFUSED)
@proves(BEFORE, killed_by="wcc3-refusals-have-another-size")
def test_before_a_refusal_is_what_getattr_said(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    known = furnished.attributes()
    reply = REFUSED[change].act(nfs3, furnished)
    observe("the refusal", reply.status)
    if reply.resfail is None:
        skip("the server did not refuse")
    if getattr(reply.resfail, REFUSED[change].wcc).before is None:
        unsupported("the server withholds the attributes from before a refusal")
    expect_before(reply, f"resfail.{REFUSED[change].wcc}.before", known)
