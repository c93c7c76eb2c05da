# SPDX-License-Identifier: MIT
"""What a client knows of objects: handles, attributes, names, and how it learns of changes."""

from __future__ import annotations

import itertools
import math
import typing as t
from collections import Counter
from collections.abc import Callable, Iterable

from nfsclient.files import Attributes, Files, Found
from nfsclient.files.v4 import attributes_of
from nfsclient.protocol import nfs4
from nfsclient.replies import NotFound
from workloads import calls as c
from workloads.attributes import AttributeChecks
from workloads.engine import Work
from workloads.ledger import Ledger
from workloads.policies.client_clock import ClientClock
from workloads.policies.data import DataPart, Node
from workloads.policies.table import Policy
from workloads.policies.verbs import STABLE, verbs_for
from workloads.trouble import WrongAnswer

DOTS: t.Final = frozenset({b".", b".."})
ELSEWHERE: t.Final = "names . and .. that lead elsewhere"
"""The name of their number among the troubles of a result."""
PAGE: t.Final = 8192
"""Bytes of a page of a directory, if nobody says more."""


class Kept:
    """What an open file has: its object, and its state on the server in NFSv4."""

    __slots__ = ("files", "lock", "node", "opened", "owner", "range")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.opened: nfs4.Stateid4 | None = None
        self.lock: nfs4.Stateid4 | None = None
        self.range: tuple[int, int, bool] | None = None
        """(offset, length, whether exclusive) of what is locked."""
        self.owner = b""
        """Of locks."""
        self.files: Files | None = None


class Act:
    """One call of a program while its steps are carried out."""

    __slots__ = (
        "call",
        "directory",
        "file",
        "fresh",
        "has_changed",
        "known",
        "name",
        "node",
        "path",
        "result",
        "to",
    )

    def __init__(self, call: c.Call) -> None:
        self.call: t.Any = call
        self.path: str = getattr(call, "path", "")
        self.name = self.path.rpartition("/")[2].encode()
        self.to: str = getattr(call, "to", "")
        self.file: c.OpenFile | None = getattr(call, "file", None)
        self.directory: Node | None = None
        self.node: Node | None = None
        self.known = False
        self.fresh = False
        """Whether attributes of `node` have come within this call."""
        self.has_changed = False
        """Whether a step that changes something has ended."""
        self.result: t.Any = None


class Known(DataPart):
    """Names, handles and attributes of one client, and the steps that find an object."""

    def __init__(
        self,
        policy: Policy,
        version: str,
        root: bytes,
        ledger: Ledger,
        checks: AttributeChecks,
        *,
        clock: Callable[[], float],
        troubles: Counter[str],
        rsize: int = 65536,
        wsize: int = 65536,
        page: int = PAGE,
        window: int = 1,
        stable: str = "unstable",
        plus: bool = True,
    ) -> None:
        """`root` is the handle of the directory of the run. `plus`: attributes come with listings where they can."""
        super().__init__()
        self.policy = policy
        self.version = version
        self.ledger = ledger
        self.checks = checks
        checks.know(root, "")
        self.contents = ledger.contents
        self.writer = ledger.writer
        self.clock = clock
        self.now = ClientClock(clock)
        """By which what is kept grows old."""
        self.troubles = troubles
        self.rsize, self.wsize, self.page, self.window = rsize, wsize, page, window
        self.stable = STABLE[stable]
        self.plus = plus
        self.keeps_data = policy.keeps_data
        self.delays_writes = policy.delays_writes
        self.trusts_own_writes = policy.trusts_own_writes
        self.verbs = verbs_for(version, wants_delegations=policy.wants_delegations)
        self.files = self.verbs.files
        self._nodes: dict[str, Node] = {"": Node("", root, window)}
        self._nodes[""].item = ledger.items[""]
        self._replaced: list[Node] = []
        """Nodes with delegations, of paths that have another handle now."""
        self.open_files: dict[Node, list[c.OpenFile]] = {}
        self._lockers = itertools.count(1)

    def nodes(self) -> Iterable[Node]:
        return itertools.chain(self._nodes.values(), self._replaced)

    def _set_node(self, path: str, handle: bytes) -> Node:
        """A new node for a path. A server may have several handles for a file: a delegation stays with the old node."""
        before = self._nodes.get(path)
        if before is not None and before.delegation is not None:
            self._replaced = [each for each in self._replaced if each.delegation is not None] + [before]
        node = self._nodes[path] = Node(path, handle, self.window)
        node.item = self.ledger.items.get(path)
        return node

    # ------------------------------------------------------------ attributes

    def _learn(self, node: Node, attributes: Attributes | None, *, own: bool = False) -> None:
        """Attributes have come. `own`: they are what a change of this client has left."""
        if attributes is None:
            return
        key = attributes.change if attributes.change is not None else attributes.mtime
        least, most = self.policy.attributes
        if attributes.is_directory:
            least = self.policy.directory_attributes
        if node.key is not None and key != node.key and not own:
            self._has_changed(node)
            node.lifetime = least
        else:
            node.lifetime = min(max(node.lifetime * 2, least), most)
        node.key = key
        node.attributes = attributes
        node.fetched_at = self.now()

    def _has_changed(self, node: Node) -> None:
        """Somebody else has changed it, or it looks so."""
        if node.attributes is not None and node.attributes.is_directory:
            if self.policy.names == "all":
                begin = f"{node.path}/" if node.path else ""
                for path in [each for each in self._nodes if each and each.startswith(begin)]:
                    other = self._nodes[path]
                    if c.parent_of(path) == node.path and not self._is_busy(other):
                        del self._nodes[path]
        else:
            self.drop_data(node)

    @staticmethod
    def _is_busy(node: Node) -> bool:
        return bool(node.opens or node.unstable or node.dirty or node.delegation or node.pool.running)

    def own_change(self, node: Node, after: Attributes | None) -> None:
        if self.trusts_own_writes:
            if after is not None:
                self._learn(node, after, own=True)
            else:
                node.key = None
                # Compounds of a kernel bring the attributes of a directory that they change; ours leave them out.
                if not (self.version.startswith("4") and node.attributes and node.attributes.is_directory):
                    node.fetched_at = -math.inf
        else:
            node.fetched_at = -math.inf

    def own_write(self, node: Node, reply: t.Any) -> None:
        self.own_change(node, self.verbs.after(reply))

    def _is_fresh(self, node: Node) -> bool:
        if node.attributes is None:
            return False
        age = self.now() - node.fetched_at
        return age < (math.inf if node.delegation is not None else node.lifetime)

    def _captured(self, steps: Work[t.Any]) -> Work[tuple[t.Any, t.Any]]:
        """The result of steps, and the last reply of them."""
        reply: t.Any = None
        try:
            ask = next(steps)
            while True:
                try:
                    reply = yield ask
                except Exception as error:  # noqa: BLE001  (the steps decide)
                    ask = steps.throw(error)
                else:
                    ask = steps.send(reply)
        except StopIteration as end:
            return end.value, reply

    # ------------------------------------------------------------ steps: finding

    def _walk(self, path: str) -> Work[Node]:
        """The directory of a path."""
        node = self._nodes.get(path)
        if node is not None and (path == "" or self.policy.names == "directories" or self._is_fresh(node)):
            return node
        if node is not None:
            before = node.key
            yield from self._refresh(node)
            if node.key == before or path in self._nodes:
                return node
        parent = yield from self._walk(c.parent_of(path))
        return (yield from self._find(parent, path))

    def _find(self, parent: Node, path: str) -> Work[Node]:
        name = path.rpartition("/")[2].encode()
        up = self.verbs.going_up(parent.handle) if name == b".." else None
        if up is not None:
            reply = yield from up
            above = Node(path, reply.handle, self.window)
            attributes = attributes_of(reply.attributes)
            self._learn(above, attributes)
            yield from self._check_dots(path, attributes, "LOOKUPP")
            return above
        found: Found = yield from self.files.lookup(parent.handle, name)
        if name in DOTS:
            yield from self._check_dots(path, found.attributes, "LOOKUP")
        node = self._nodes.get(path)
        if node is None or node.handle != found.handle:
            node = self._set_node(path, found.handle)
        self.checks.know(found.handle, path)
        self._learn(node, found.attributes)
        return node

    def _check_dots(self, path: str, seen: Attributes | None, by: str) -> Work[None]:
        """Compare what `.` or `..` led to with the directory that it stands for, if that is one of the run.

        That LOOKUP knows these names is a SHOULD (RFC 1813 section 3.2); LOOKUPP leads to the parent (RFC 5661 section
        18.14). Raises `WrongAnswer`.
        """
        directory, _, name = path.rpartition("/")
        if name == "..":
            if not directory:
                return
            directory = c.parent_of(directory)
        node, item = self._nodes.get(directory), self.ledger.items.get(directory)
        if (
            seen is None
            or not seen.fileid
            or node is None
            or item is None
            or item.fileid in {None, seen.fileid}
        ):
            return
        now = yield from self.files.getattr(node.handle)  # that a fileid stays is not promised
        if now.fileid == seen.fileid or self.ledger.items.get(directory) is not item:
            return
        if by == "LOOKUP":
            self.troubles[ELSEWHERE] += 1
            return
        where = directory or "the directory of the run"
        wrong = WrongAnswer(
            f"{path}: {where} has fileid {now.fileid}, and {by} leads to fileid {seen.fileid}"
        )
        wrong.procedure = by
        raise wrong

    def _refresh(self, node: Node) -> Work[None]:
        self._learn(node, (yield from self.files.getattr(node.handle)))

    def do_parent(self, act: Act) -> Work[None]:
        act.directory = yield from self._walk(c.parent_of(act.path))

    def do_directory(self, act: Act) -> Work[None]:
        act.node = yield from self._walk(act.path)

    def do_lookup(self, act: Act) -> Work[None]:
        assert act.directory is not None
        node = self._nodes.get(act.path)
        if node is not None and self.policy.names == "all":
            if not self._is_fresh(act.directory):
                yield from self._refresh(act.directory)
                node = self._nodes.get(act.path)
            if node is not None:
                act.node, act.known = node, True
                return
        try:
            act.node = yield from self._find(act.directory, act.path)
        except NotFound:
            if act.path in self.ledger.files or act.path in self.ledger.children:
                raise
            act.result = None
            raise
        act.fresh = act.node.attributes is not None

    def do_find(self, act: Act) -> Work[None]:
        assert act.directory is not None
        act.node = yield from self._find(act.directory, act.path)

    def do_kept(self, act: Act) -> Work[None]:
        act.node = self._nodes.get(act.path)
        if act.node is None:
            yield from self.do_parent(act)
            yield from self.do_find(act)

    def do_absent(self, act: Act) -> Work[None]:
        assert act.directory is not None
        try:
            yield from self.files.lookup(act.directory.handle, act.name)
        except NotFound:
            return
        raise WrongAnswer(
            f"{c.name_of(act.call)} of {act.path!r}: LOOKUP found the name, and nobody has made it"
        )

    def _of(self, act: Act) -> Node:
        """The object of a call: by its path, or of its open file."""
        if act.node is None:
            assert act.file is not None
            act.node = t.cast("Kept", act.file.kept).node
        return act.node

    def do_getattr(self, act: Act) -> Work[None]:
        yield from self._refresh(self._of(act))
        act.fresh = True
        act.result = self._of(act).attributes

    def do_attributes(self, act: Act) -> Work[None]:
        node = self._of(act)
        if not act.fresh and not self._is_fresh(node):
            yield from self.do_getattr(act)
        act.result = node.attributes

    def do_revalidate(self, act: Act) -> Work[None]:
        if not act.fresh and self._of(act).delegation is None:
            yield from self._refresh(self._of(act))
            act.fresh = True

    def do_access(self, act: Act) -> Work[None]:
        if self.verbs.has_access:
            yield from self.files.access(self._of(act).handle)

    def _known(self, act: Act) -> bool:
        node = self._nodes.get(act.path)
        if node is None or node.attributes is None:
            return False
        act.node = node
        return True

    def do_known_access(self, act: Act) -> Work[None]:
        if self._known(act):
            yield from self.do_access(act)

    def do_known_revalidate(self, act: Act) -> Work[None]:
        if self._known(act):
            yield from self.do_revalidate(act)
