# SPDX-License-Identifier: MIT
"""`suites.symlinks` and `suites.moved`: with servers that are wrong, and with freedoms of right ones."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Nonconformance, Skipped, Unsupported, stated
from suites.common_client import Answer, TreeClient
from suites.moved import expect_entries_moved, expect_other_name_kept
from suites.symlinks import expect_target_kept, expect_text_of_now
from tests.suites.toy_file_system import Node, Reply, Toy, ToyClient, ToyScratch

_TEXT: t.Final = stated("RFC 1813", "3.3.5", "the text of a link")
_KEPT: t.Final = stated("RFC 1813", "3.3.14", "what is kept")
_COUNTS: t.Final = stated("RFC 1813", "2.5", "nlink counts names")
_READLINKS: t.Final = {
    "READLINK is put off": Nfsstat3.NFS3ERR_JUKEBOX,
    "READLINK is denied": Nfsstat3.NFS3ERR_ACCES,
    "links are files": Nfsstat3.NFS3ERR_INVAL,
    "links cannot be read": Nfsstat3.NFS3ERR_IO,
}
"""What READLINK of this server answers."""
_HIDDEN: t.Final = (b".nfs0001", b".fuse_hidden0001")


class _Client(TreeClient, ToyClient):
    """Its server has symbolic links, and a network that may lose replies."""

    copies = 0

    def copies_sent(self) -> int:
        return self.copies

    def symlink(self, where: bytes, name: bytes, text: bytes) -> Answer[None]:
        self.toy.handles[self.toy.make(where, name)].text = text
        return Answer(Reply())

    def readlink(self, handle: bytes) -> Answer[bytes]:
        if self.toy.fault in _READLINKS:
            return Answer(Reply(_READLINKS[self.toy.fault]))
        text = self.toy.handles[handle].text
        assert text is not None
        return Answer(Reply(), b"first" if self.toy.fault == "texts are remembered" else text)

    def parent(self, directory: bytes) -> Answer[bytes]:
        raise AssertionError("no check of these trees looks for a parent")

    def create_empty(self, where: bytes, name: bytes, how: str) -> Answer[None]:
        raise AssertionError("no check of these trees creates a file in this way")

    def remove(self, where: bytes, name: bytes) -> Answer[None]:
        return self._sent(super().remove(where, name), "REMOVE")

    def move(self, where: bytes, name: bytes, to: bytes, to_name: bytes) -> Answer[None]:
        return self._sent(super().move(where, name, to, to_name), "RENAME")

    def _sent(self, done: Answer[None], what: str) -> Answer[None]:
        """A call that was executed, and whose first reply may be lost."""
        if self.toy.fault == f"the reply to {what} is lost":
            self.copies += 1
            return Answer(Reply(Nfsstat3.NFS3ERR_NOENT))
        if self.toy.fault == f"{what} is not supported":
            return Answer(Reply(Nfsstat3.NFS3ERR_NOTSUPP))
        if self.toy.fault == f"{what} fails":
            return Answer(Reply(Nfsstat3.NFS3ERR_IO))
        return done

    def rename(self, where: bytes, name: bytes, to_name: bytes) -> Answer[None]:
        names = self._names(where)
        replaced = names.get(to_name)
        done = super().rename(where, name, to_name)
        if replaced is None:
            return done
        if self.toy.fault == "nlink stays":
            replaced.nlink += 1
        if self.toy.fault in {name.decode() for name in _HIDDEN}:
            self._hide(names, replaced)
        return done

    def _hide(self, names: dict[bytes, Node], node: Node) -> None:
        """A file that is open keeps a name."""
        names[self.toy.fault.encode()] = node
        node.nlink += 1


def _made(fault: str) -> tuple[_Client, t.Any]:
    toy = Toy(fault)
    return _Client(toy), ToyScratch(toy)


def _text_of_now(fault: str) -> None:
    client, scratch = _made(fault)
    expect_text_of_now([client], scratch, _TEXT)


def _target_kept(fault: str) -> None:
    expect_target_kept(*_made(fault), "rename", _KEPT, _TEXT)


def _entries_moved(fault: str) -> None:
    client, scratch = _made(fault)
    expect_entries_moved([client], scratch, _KEPT)


def _other_name_kept(fault: str) -> None:
    expect_other_name_kept(*_made(fault), _KEPT, _COUNTS)


@pytest.mark.parametrize("judge", [_text_of_now, _target_kept, _entries_moved, _other_name_kept])
def test_a_right_server_passes(judge: Callable[[str], None]) -> None:
    judge("")


@pytest.mark.parametrize("judge", [_text_of_now, _target_kept])
@pytest.mark.parametrize("fault", ["READLINK is put off", "READLINK is denied"])
def test_readlink_that_says_nothing_returns_no_wrong_text(judge: Callable[[str], None], fault: str) -> None:
    with pytest.raises(Skipped, match="NFS3ERR_"):
        judge(fault)


@pytest.mark.parametrize("judge", [_text_of_now, _target_kept])
@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("links are files", "text of the link.*got none"),
        ("links cannot be read", "expected success, got NFS3ERR_IO"),
        ("texts are remembered", "text of the link.*got 'first'"),
    ],
)
def test_wrong_links_are_found(judge: Callable[[str], None], fault: str, text: str) -> None:
    with pytest.raises(Nonconformance, match=text) as found:
        judge(fault)
    assert found.value.requirement is _TEXT


@pytest.mark.parametrize(("judge", "what"), [(_text_of_now, "REMOVE"), (_entries_moved, "RENAME")])
def test_a_change_that_a_check_needs_is_judged_by_others(judge: Callable[[str], None], what: str) -> None:
    with pytest.raises(Skipped, match="may have been executed twice"):
        judge(f"the reply to {what} is lost")
    with pytest.raises(Skipped, match=f"{what} answers NFS3ERR_IO"):
        judge(f"{what} fails")
    with pytest.raises(Unsupported, match=f"{what} answers NFS3ERR_NOTSUPP"):
        judge(f"{what} is not supported")


@pytest.mark.parametrize("name", _HIDDEN)
def test_a_replaced_file_may_keep_a_hidden_name(name: bytes) -> None:
    _other_name_kept(name.decode())


def test_nlink_that_stays_is_found() -> None:
    with pytest.raises(Nonconformance, match="nlink of the replaced file: expected 1, got 2") as found:
        _other_name_kept("nlink stays")
    assert found.value.requirement is _COUNTS
