# SPDX-License-Identifier: MIT
"""Which names and objects may be there after a crash: exactly those that calls have made."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest

from nfsjudge.survival import Level, Node, Promise, SeenNode, Tree


def tree_of_calls(*, is_lossy: bool = True) -> Tree:
    tree = Tree(is_lossy=is_lossy)
    tree.mkdir("d", 0o755)
    tree.create("a", 0o644)
    tree.content("a").write(0, b"data", Level.FILE_SYNC)
    tree.link("a", "d/b")
    tree.symlink("c", b"where/to")
    tree.create("old", 0o644)
    tree.rename("old", "d/new")
    return tree


def seen_of(tree: Tree, node: Node | None = None) -> SeenNode:
    """What a server shows that has lost nothing."""
    node = node or tree.root
    names = sum(each is node for _, each in tree.walk())
    content = node.content.now if node.content is not None else node.text
    mode = node.modes[-1] if node.modes else 0
    entries = {name: seen_of(tree, child) for name, child in node.entries.items()}
    return SeenNode(node.kind, id(node), names, mode, content, entries)


def changed(seen: SeenNode, path: str, **changes: t.Any) -> SeenNode:
    name, _, rest = path.partition("/")
    if not path:
        return dataclasses.replace(seen, **changes)
    entries = {**seen.entries, name: changed(seen.entries[name], rest, **changes)}
    return dataclasses.replace(seen, entries=entries)


def test_what_calls_have_made_is_right() -> None:
    tree = tree_of_calls()
    assert tree.is_now(seen_of(tree))
    assert tree.judge(seen_of(tree)) is None


@pytest.mark.parametrize(
    ("path", "changes", "what"),
    [
        ("", {"entries": {}}, "names"),
        ("d", {"entries": {}}, "names in d"),
        ("d/b", {"nlink": 1}, "nlink of d/b"),
        ("d/b", {"fileid": 4242}, "object of a"),
        ("c", {"data": b"where"}, "text of c"),
        ("c", {"kind": "file"}, "type of c"),
        ("a", {"data": b""}, "size of a"),
        ("d/new", {"mode": 0o600}, "mode of d/new"),
        ("a", {"trouble": "READ answers NFS3ERR_IO (5)"}, "object of a"),
    ],
)
def test_what_is_wrong(path: str, changes: dict[str, t.Any], what: str) -> None:
    tree = tree_of_calls()
    seen = seen_of(tree)
    assert tree.is_now(seen)
    found = tree.judge(changed(seen, path, **changes))
    assert found is not None
    assert found.what == what
    assert not found.is_weak


def test_a_lost_mode_is_weak_only_where_setattr_may_be_lost() -> None:
    for is_lossy in (True, False):
        tree = tree_of_calls(is_lossy=is_lossy)
        tree.chmod("a", 0o600)
        seen = changed(seen_of(tree), "a", mode=0o644)
        found = tree.judge(changed(seen, "d/b", mode=0o644))
        assert found is not None
        assert (found.promise, found.is_weak) == (Promise.SETATTR, is_lossy)


def test_what_the_server_never_showed_is_not_judged() -> None:
    tree = tree_of_calls()
    seen = changed(seen_of(tree), "d/new", mode=0o666, nlink=7)
    assert tree.is_now(seen)
    assert tree.judge(seen_of(tree)) is None
    assert not tree.is_now(changed(seen, "a", data=b"other"))


def test_a_strong_violation_comes_first() -> None:
    tree = tree_of_calls()
    tree.chmod("a", 0o600)
    seen = changed(changed(seen_of(tree), "a", mode=0o644), "c", data=b"")
    found = tree.judge(seen)
    assert found is not None
    assert found.what == "text of c"
