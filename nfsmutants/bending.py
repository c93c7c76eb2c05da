# SPDX-License-Identifier: MIT
"""Changing arguments and replies of any protocol: the functions that most mutants are made of."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Iterable

from nfsclient.xdr import Union, XdrType, replace, shape_of
from nfsserver.fs import SUPERUSER, FsError, Inode, Kind
from nfsserver.handlers import ServerApi

X = t.TypeVar("X", bound=XdrType)


def change(value: X, path: str = "", /, **changes: t.Any) -> X:
    """A copy with other fields, at the end of `path`: ``change(args, "where", name=b"x")``.

    If a change is a function, it gets the structure that has the fields and returns the new value of its field.
    Nothing changes if an optional part of the path is missing.
    """
    if path:
        step, _, rest = path.partition(".")
        inner = getattr(value, step)
        return value if inner is None else replace(value, **{step: change(inner, rest, **changes)})
    made = {name: new(value) if callable(new) else new for name, new in changes.items()}
    return replace(value, **made)


def amend(reply: X, path: str = "", /, **changes: t.Any) -> X:
    """A reply with other results, changed as `change` does; unchanged if it has no results."""
    return _amend_arm(reply, "resok", path, changes)


def amend_refusal(reply: X, path: str = "", /, **changes: t.Any) -> X:
    """A refusal with other results; unchanged if it has no results."""
    return _amend_arm(reply, "resfail", path, changes)


def _amend_arm(reply: X, arm: str, path: str, changes: dict[str, t.Any]) -> X:
    results = getattr(reply, arm, None)
    if results is None:
        return reply
    if isinstance(reply, Union):
        # Only NFSv3 calls its arms resok and resfail.
        status = next(getattr(reply, name) for name in reply.__xdr_fields__[:1])
        chosen = shape_of(type(reply)).arm_for(status)
        assert chosen is not None
        arm = str(chosen.name)
    return replace(reply, **{arm: change(results, path, **changes)})


def restate(reply: X, old: int, new: int) -> X:
    """The reply with the status `new` instead of `old`; unchanged if its status is another one."""
    return replace(reply, status=new) if getattr(reply, "status", None) == old else reply


def count(state: dict[str, t.Any]) -> int:
    """How often this function was called with this state, including this call."""
    state["count"] = state.get("count", 0) + 1
    return int(state["count"])


def inode_of(server: ServerApi, handle: bytes) -> Inode | None:
    """The object of a handle; None if the handle is invalid or stale."""
    try:
        return server.backend.resolve(handle)
    except FsError:
        return None


def child_of(server: ServerApi, directory: bytes, name: bytes) -> Inode | None:
    """The object of a name in the directory of a handle; None if it does not exist."""
    parent = inode_of(server, directory)
    return None if parent is None or parent.directory is None else parent.directory.get(name)


def clear(inode: Inode | None) -> None:
    """Lose the data of a file, or the files in a directory."""
    if inode is None:
        return
    if inode.data is not None:
        inode.data.truncate(0)
    for name in inode.directory.names() if inode.directory is not None else ():
        with contextlib.suppress(FsError):
            inode.fs.remove(SUPERUSER, inode, name)


def clear_named(directory: Inode | None, name: bytes) -> None:
    """The same for the object of a name. What should be its directory and is a file is meant itself."""
    entries = None if directory is None else directory.directory
    clear(directory if entries is None else entries.get(name))


def target_of(link: Inode | None) -> Inode | None:
    """What a symbolic link names in its directory; None if it names nothing there, or is no symbolic link."""
    if link is None or link.kind is not Kind.SYMLINK or link.place is None:
        return None
    directory = link.place[0].directory
    return None if directory is None else directory.get(link.target)


def copy_links(links: Iterable[Inode | None]) -> None:
    """Make a link `copy` next to each of these symbolic links that has a target."""
    for link in links:
        if link is not None and link.place is not None and target_of(link) is not None:
            where = link.place[0]
            with contextlib.suppress(FsError):
                where.fs.symlink(SUPERUSER, where, b"copy", link.target)


def remembered_text(state: dict[t.Any, t.Any], link: Inode | None, text: bytes) -> bytes:
    """The first text of a symbolic link of this name in this directory, as far as `state` knows."""
    if link is None or link.place is None:
        return text
    directory, name = link.place
    return bytes(state.setdefault((directory.fileid, directory.generation, name), text))
