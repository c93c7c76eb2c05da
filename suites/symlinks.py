# SPDX-License-Identifier: MIT
"""Symbolic links as entries of a directory: what names a link is about the link, never about what its text names.

Servers that keep files in a file system of their machine follow a link where they forget to say that they do not want
to, and remove, empty or link its target. Servers with caches return the text that a link of this name had before.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.checks.scratch import Scratch
from nfsjudge import Requirement, expect, expect_data, expect_names, expect_that, observe, skip
from suites.common_client import CREATIONS, Answer, TreeClient
from suites.replies import need_done

_LINK: t.Final = b"link"
_TARGET: t.Final = b"target"
_SOURCE: t.Final = b"source"
_INSIDE: t.Final = b"inside"
_NEW: t.Final = b"new"
_PRECIOUS: t.Final = b"precious data"
_OTHER: t.Final = b"other data"
_BEFORE: t.Final = [_LINK, _SOURCE, _TARGET]
_NOT_READY: t.Final = 10008
"""JUKEBOX and DELAY: the server has begun."""
_NO_LINK: t.Final = frozenset({6, 22, 10083})
"""NXIO, INVAL and WRONG_TYPE: what READLINK answers of another object."""
_TWICE: t.Final = frozenset({2, 17})
"""NOENT and EXIST: what a call gets that was executed before. Checks of refusals judge what a refused call does."""


class Act(t.NamedTuple):
    """A call with the name or the handle of a link, and what a success makes of the names in the directory."""

    make: Callable[[TreeClient, bytes], Answer[None]]
    """(client, directory) -> the answer."""
    names: list[bytes]
    link: bytes | None
    """The name that the link has afterwards, with its text; None if it is gone, or may have no text."""
    names_directory: bool = False
    """Whether the target is a directory, with a file in it."""


def _links(client: TreeClient, where: bytes) -> Answer[None]:
    found = client.lookup(where, _LINK)
    return Answer(found.reply) if found.value is None else client.link(found.value[0], where, _NEW)


def _sets(client: TreeClient, where: bytes, **attributes: int) -> Answer[None]:
    found = client.lookup(where, _LINK)
    return Answer(found.reply) if found.value is None else client.set(found.value[0], **attributes)


def _replaces(client: TreeClient, where: bytes) -> Answer[None]:
    return client.rename(where, _SOURCE, _LINK)


def _creates(how: str) -> Act:
    return Act(lambda client, where: client.create_empty(where, _LINK, how), [_LINK, _SOURCE, _TARGET], _LINK)


ACTS: t.Final[dict[str, Act]] = {
    "remove": Act(lambda client, where: client.remove(where, _LINK), [_SOURCE, _TARGET], None),
    "rename": Act(lambda client, where: client.rename(where, _LINK, _NEW), [_NEW, _SOURCE, _TARGET], _NEW),
    "replace": Act(_replaces, [_LINK, _TARGET], None),
    "replace-directory": Act(_replaces, [_LINK, _TARGET], None, names_directory=True),
    "hard-link": Act(_links, [_LINK, _NEW, _SOURCE, _TARGET], _NEW),
    "set-mode": Act(lambda client, where: _sets(client, where, mode=0o600), _BEFORE, _LINK),
    "set-size": Act(lambda client, where: _sets(client, where, size=0), _BEFORE, None),
    **{f"create-{how}": _creates(how) for how in CREATIONS},
}
"""What checks do to a link. A server may refuse any of it."""
OF_ATTRIBUTES: t.Final = ("set-mode", "set-size")
OF_NAMES: t.Final = tuple(name for name in ACTS if name not in {*OF_ATTRIBUTES, "replace-directory"})
"""Acts with the name of a link to a file."""
_REPLACING: t.Final = ("replace", "replace-directory")


def expect_target_kept(
    client: TreeClient,
    scratch: Scratch[t.Any, t.Any],
    name: str,
    kept: Requirement,
    link_kept: Requirement,
) -> None:
    """The target of a link keeps its name and its data, whatever is done to the link, and the link its text.

    `kept` is about the target; `link_kept` is about the link, and about the names in the directory.
    """
    __tracebackhide__ = True
    act, where = ACTS[name], scratch.handle
    scratch.file(_SOURCE, _OTHER)
    mode = _make_target(client, scratch, act)
    scratch.symlink(_LINK, _TARGET)
    answer = act.make(client, where)
    observe(name, answer.reply.status)
    _expect_target(client, scratch, act, mode, kept)
    if int(answer.reply.status) == _NOT_READY:
        skip("the server puts the call off, and may have done a part of it", answer.reply)
    names = act.names if answer.succeeded else _BEFORE
    seen = [name for name in scratch.names() if not name.startswith(b".")]  # removed files may get such names
    if int(answer.reply.status) in _TWICE and sorted(seen) == act.names != _BEFORE:
        skip("the call is refused and done: over UDP it may have been sent twice", answer.reply)
    expect_names(seen, names, because=link_kept)
    link = act.link if answer.succeeded else _LINK
    if link is not None:
        text = _text(client, where, link, link_kept)
        expect(text, "text of the link", field="link|data", because=link_kept).equals(_TARGET)
    if name in _REPLACING and answer.succeeded:
        expect_data(scratch.read(scratch.lookup(_LINK) or b""), _OTHER, "data of the new file", because=kept)


def _make_target(client: TreeClient, scratch: Scratch[t.Any, t.Any], act: Act) -> int | None:
    """Make what the link names; its mode, if the server says it."""
    if act.names_directory:
        target = scratch.directory(_TARGET)
        scratch.file(_INSIDE, _PRECIOUS, directory=target)
    else:
        target = scratch.file(_TARGET, _PRECIOUS)
    seen = client.getattr(target).value
    return None if seen is None else seen.mode


def _expect_target(
    client: TreeClient, scratch: Scratch[t.Any, t.Any], act: Act, mode: int | None, kept: Requirement
) -> None:
    """The target is there as it was."""
    __tracebackhide__ = True
    target = scratch.lookup(_TARGET)
    expect_that(target is not None, "an object", "no such name", "target of the symbolic link", because=kept)
    assert target is not None
    if act.names_directory:
        expect_names(scratch.names(target), [_INSIDE], "names in the target", because=kept)
        inside = scratch.lookup(_INSIDE, directory=target)
        expect_data(scratch.read(inside or b""), _PRECIOUS, "data of a file in the target", because=kept)
    else:
        expect_data(scratch.read(target), _PRECIOUS, "data of the target", because=kept)
    seen = client.getattr(target).value
    if mode is not None and seen is not None and seen.mode is not None:
        expect(seen.mode, "mode of the target", field="mode", because=kept).equals(mode)


def _text(client: TreeClient, where: bytes, name: bytes, because: Requirement) -> bytes | None:
    """What READLINK returns for a name; None if it says that the object is no symbolic link."""
    found = client.lookup(where, name)
    expect(found.reply, because=because).ok()
    assert found.value is not None
    read = client.readlink(found.value[0])
    if int(read.reply.status) in _NO_LINK:
        return None
    expect(read.reply, because=because).ok()
    return read.value


def expect_text_of_now(
    clients: list[TreeClient], scratch: Scratch[t.Any, t.Any], because: Requirement
) -> None:
    """A link that was removed and made again has its new text, and so has one that another link has replaced."""
    __tracebackhide__ = True
    maker, where = clients[0], scratch.handle

    def expect_text(text: bytes, when: str) -> None:
        __tracebackhide__ = True
        for client in clients:
            seen = _text(client, where, _LINK, because)
            expect(seen, f"text of the link {when}", field="link|data", because=because).equals(text)

    scratch.symlink(_LINK, b"first")
    expect_text(b"first", "that is new")
    need_done(maker, lambda: maker.remove(where, _LINK), "REMOVE")
    scratch.symlink(_LINK, b"some/where/else")
    expect_text(b"some/where/else", "that was made again")
    scratch.symlink(_NEW, b"third")
    renamed = maker.rename(where, _NEW, _LINK)
    observe("RENAME of a link over another one", renamed.reply.status)
    if renamed.succeeded:
        expect_text(b"third", "that was replaced")
