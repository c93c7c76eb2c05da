# SPDX-License-Identifier: MIT
"""Objects that RENAME moved or replaced: what must be true of their entries, their parent and their other names.

Handles of what was moved may be stale afterwards, so everything is looked up again.
"""

from __future__ import annotations

import typing as t

from fixtures.checks.scratch import Scratch
from nfsjudge import Requirement, expect, expect_data, expect_names, observe, skip, unsupported
from suites.common_client import CommonClient, TreeClient
from suites.replies import need_done

_DIRECTORY: t.Final = b"directory"
_THERE: t.Final = b"there"
_INSIDE: t.Final = b"inside"
_DEEP: t.Final = b"deep"
_DOTS: t.Final = (b".", b"..")
_DATA: t.Final = bytes(1 + at * 7 % 251 for at in range(5000))
_MOST_PAGES: t.Final = 10


def _find(client: CommonClient, where: bytes, *names: bytes, because: Requirement) -> bytes:
    """The handle at the end of a path."""
    __tracebackhide__ = True
    for name in names:
        found = client.lookup(where, name)
        expect(found.reply, because=because).ok()
        assert found.value is not None
        where = found.value[0]
    return where


def _names(client: CommonClient, where: bytes, because: Requirement) -> list[bytes]:
    __tracebackhide__ = True
    names: list[bytes] = []
    at: t.Any = None
    for _ in range(_MOST_PAGES):
        answer = client.page(where, at)
        expect(answer.reply, because=because).ok()
        assert answer.value is not None
        names += [entry.name for entry in answer.value.entries]
        at = answer.value.next
        if at is None:
            break
    return names


def _move(client: TreeClient, scratch: Scratch[t.Any, t.Any]) -> bytes:
    """Move the directory into another one, whose handle is returned."""
    elsewhere = scratch.directory("elsewhere")
    need_done(client, lambda: client.move(scratch.handle, _DIRECTORY, elsewhere, _THERE), "RENAME")
    return elsewhere


def expect_entries_moved(
    clients: list[TreeClient], scratch: Scratch[t.Any, t.Any], because: Requirement
) -> None:
    """A directory that was moved to another one has the same entries for all clients, with the same data."""
    __tracebackhide__ = True
    directory = scratch.directory(_DIRECTORY)
    scratch.file(_DEEP, directory=scratch.directory(_INSIDE, directory=directory))
    scratch.file("file", _DATA, directory=directory)
    for client in clients:
        _names(client, directory, because)
    elsewhere = _move(clients[0], scratch)
    expect_names(scratch.names(), [b"elsewhere"], "names in the old directory", because=because)
    for client in clients:
        there = _find(client, elsewhere, _THERE, because=because)
        what = "names in the moved directory"
        expect_names(_names(client, there, because), [b"file", _INSIDE], what, because=because)
        inner = _find(client, there, _INSIDE, because=because)
        what = "names in the directory in it"
        expect_names(_names(client, inner, because), [_DEEP], what, because=because)
    file = _find(clients[-1], elsewhere, _THERE, b"file", because=because)
    expect_data(scratch.read(file), _DATA, "data of a file in the moved directory", because=because)


def expect_parent_of_now(
    clients: list[TreeClient], scratch: Scratch[t.Any, t.Any], because: Requirement
) -> None:
    """The parent of a directory is the one that it was moved to, for clients that asked for it before, too."""
    __tracebackhide__ = True
    directory = scratch.directory(_DIRECTORY)
    for client in clients:
        before = client.parent(directory)
        if before.value is None:
            unsupported(f"the parent of a new directory is not found: {before.reply.status}", before.reply)
        if _fileid(client, before.value) != _fileid(client, scratch.handle):
            skip("the parent of a new directory is wrong, which another check judges", before.reply)
    elsewhere = _move(clients[0], scratch)
    for client in clients:
        there = _find(client, elsewhere, _THERE, because=because)
        parent = client.parent(there)
        expect(parent.reply, because=because).ok()
        assert parent.value is not None
        known = _fileid(client, elsewhere)
        seen = _fileid(client, parent.value)
        expect(seen, "fileid of the parent of the moved directory", field="fileid", because=because).equals(
            known
        )


def _fileid(client: CommonClient, handle: bytes) -> int:
    """Of an object. SKIP where the server has none, as in NFSv4."""
    seen = client.getattr(handle)
    expect(seen.reply).ok()
    if seen.value is None or seen.value.fileid is None:
        skip("the server does not support fileid")
    return seen.value.fileid


def expect_other_name_kept(
    client: TreeClient, scratch: Scratch[t.Any, t.Any], kept: Requirement, counts: Requirement
) -> None:
    """A file that RENAME replaces keeps its other name with its data, and has a link less."""
    __tracebackhide__ = True
    scratch.file("source", b"source")
    target = scratch.file("target", _DATA)
    before = client.getattr(target).value
    scratch.link(target, "other")
    linked = client.getattr(target).value
    renamed = client.rename(scratch.handle, b"source", b"target")
    observe("RENAME", renamed.reply.status)
    other = _find(client, scratch.handle, b"other", because=kept)
    expect_data(scratch.read(other), _DATA, "data by the other name", because=kept)
    if any(name.startswith(b".") for name in scratch.names() if name not in _DOTS):
        return  # the server keeps a replaced file that is open somewhere by another name, which counts
    after = client.getattr(other).value
    if before is None or linked is None or after is None or before.nlink is None or linked.nlink is None:
        return
    if not renamed.succeeded or linked.nlink != before.nlink + 1:
        return  # the checks of LINK judge whether links are counted
    expect(after.nlink, "nlink of the replaced file", field="nlink|numlinks", because=counts).equals(
        before.nlink
    )


def expect_not_below_itself(client: TreeClient, scratch: Scratch[t.Any, t.Any], because: Requirement) -> None:
    """A directory cannot be moved into a directory that is in it."""
    __tracebackhide__ = True
    directory = scratch.directory(_DIRECTORY)
    below = scratch.directory(_INSIDE, directory=directory)
    answer = client.move(scratch.handle, _DIRECTORY, below, _DIRECTORY)
    expect_names(scratch.names(), [_DIRECTORY], "names in the parent directory", because=because)
    expect(answer.reply, because=because).refused()
