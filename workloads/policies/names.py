# SPDX-License-Identifier: MIT
"""Steps that change or list names, set attributes, lock, and give delegations back."""

from __future__ import annotations

import typing as t
from collections import Counter

from nfsclient.errors import NfsStatusError
from nfsclient.files import Attributes, NewAttributes, Page, Position
from nfsclient.protocol import nfs4
from workloads import calls as c
from workloads.engine import Until, Work
from workloads.policies.data import Node
from workloads.policies.known import DOTS, Act, Kept, Known
from workloads.policies.verbs import Verbs4
from workloads.spec import OF_NFS2
from workloads.trouble import Stopped, WrongAnswer

_FIRST_PAUSE: t.Final = 0.001
_LONGEST_PAUSE: t.Final = 30.0
_MOST_PAGES: t.Final = 100_000
_MOST_LISTINGS: t.Final = 8
"""Times that a listing begins, where its cookies become invalid."""
_USUAL_PAGE: t.Final = 4096
"""Bytes of a page that is large enough for any entry; a server may find a smaller one too small (RFC 1813, READDIR)."""
_NEW_DIRECTORY: t.Final = 0o755
"""The mode of a new directory."""


Seen: t.TypeAlias = tuple[bytes, int | None, Attributes | None, int]
"""An entry: (name, fileid, attributes, when the page was requested)."""


class Listing:
    """What the pages of one listing had."""

    def __init__(self) -> None:
        self.pages = 0
        self.names = list[str]()
        """Without `.` and `..`."""
        self.seen = list[Seen]()
        self.dots = list[Seen]()
        """The entries `.` and `..`."""


class NameSteps(Known):
    """The steps of calls that are about names, attributes and locks."""

    _fileids_change = False
    """Whether the server was seen to give an object another fileid, which it may."""

    def do_mkdir(self, act: Act) -> Work[None]:
        """MKDIR."""
        assert act.directory is not None
        made, reply = yield from self._captured(
            self.files.mkdir(act.directory.handle, act.name, NewAttributes(mode=_NEW_DIRECTORY))
        )
        node = self._set_node(act.path, made.handle)
        self._learn(node, made.attributes)
        self.own_change(act.directory, self.verbs.after(reply))
        self.ledger.mkdir(act.path, _NEW_DIRECTORY)
        node.item = self.ledger.items.get(act.path)
        self.checks.know(made.handle, act.path)

    def do_rmdir(self, act: Act) -> Work[None]:
        """RMDIR."""
        assert act.directory is not None
        _, reply = yield from self._captured(self.files.rmdir(act.directory.handle, act.name))
        self._forget(act.path)
        self.own_change(act.directory, self.verbs.after(reply))
        self.checks.forget(act.path)
        self.ledger.rmdir(act.path)

    def do_remove(self, act: Act) -> Work[None]:
        """REMOVE; a delegation of the file goes back first."""
        assert act.directory is not None
        node = self._nodes.get(act.path)
        if node is not None and node.delegation is not None:
            yield from self.give_back(node)
        _, reply = yield from self._captured(self.files.remove(act.directory.handle, act.name))
        if node is not None:
            self._names_changed(act.path, node)
        self._forget(act.path)
        self.own_change(act.directory, self.verbs.after(reply))
        self.checks.forget(act.path)
        self.ledger.remove(act.path)

    def _names_changed(self, path: str, node: Node) -> None:
        """Its number of links is another one: what is kept of it by this and by its other names is old."""
        node.fetched_at = float("-inf")
        item = self.ledger.items.get(path)
        if item is not None and item.names > 1:
            for other in self._nodes.values():
                if other.handle == node.handle:
                    other.fetched_at = float("-inf")

    def _forget(self, path: str) -> None:
        node = self._nodes.pop(path, None)
        if node is not None:
            self.drop_data(node)

    def do_rename(self, act: Act) -> Work[None]:
        """RENAME."""
        source = act.directory
        assert source is not None
        target = yield from self._walk(c.parent_of(act.to))
        name = act.to.rpartition("/")[2].encode()
        _, reply = yield from self._captured(self.files.rename(source.handle, act.name, target.handle, name))
        self._forget(act.to)
        node = self._nodes.pop(act.path, None)
        if node is not None:
            node.path = act.to
            self._nodes[act.to] = node
        self.own_change(source, None)
        if target is not source:
            self.own_change(target, self.verbs.after(reply))
        self.checks.forget(act.to)
        self.checks.forget(act.path, renamed=True)
        self.ledger.rename(act.path, act.to)

    def do_link(self, act: Act) -> Work[None]:
        """LINK."""
        node = self._of(act)
        target = yield from self._walk(c.parent_of(act.to))
        name = act.to.rpartition("/")[2].encode()
        _, reply = yield from self._captured(self.files.link(node.handle, target.handle, name))
        self._names_changed(act.path, node)
        if self.policy.names == "all":
            self._nodes[act.to] = node
        self.own_change(target, self.verbs.after(reply))
        self.ledger.link(act.path, act.to)

    def do_symlink(self, act: Act) -> Work[None]:
        """SYMLINK."""
        assert act.directory is not None
        text = act.call.text
        made, reply = yield from self._captured(
            self.files.symlink(act.directory.handle, act.name, text.encode(), NewAttributes(mode=0o777))
        )
        node = self._set_node(act.path, made.handle)
        self._learn(node, made.attributes)
        self.own_change(act.directory, self.verbs.after(reply))
        self.ledger.symlink(act.path, text)
        node.item = self.ledger.items.get(act.path)
        self.checks.know(made.handle, act.path)

    def do_readlink(self, act: Act) -> Work[None]:
        """READLINK."""
        text = (yield from self.files.readlink(self._of(act).handle)).decode(errors="backslashreplace")
        expected = self.ledger.links.get(act.path)
        if text != expected:
            raise WrongAnswer(f"readlink of {act.path!r}: expected {expected!r}, got {text!r}")
        act.result = text

    def do_setattr(self, act: Act) -> Work[None]:
        """SETATTR of the mode."""
        node, wanted = self._of(act), NewAttributes(mode=act.call.mode)
        item = self.ledger.items.get(act.path)
        if item is not None:
            item.mode = None
        if isinstance(self.verbs, Verbs4):
            self._learn(node, (yield from self.verbs.setattr(node.handle, wanted)), own=True)
            if item is not None:
                item.mode = wanted.mode
            return
        _, reply = yield from self._captured(self.files.setattr(node.handle, wanted))
        if item is not None:
            item.mode = wanted.mode
        after = self.verbs.after(reply)
        if after is None and self.version in OF_NFS2:
            after = _of_attrstat(reply)
        if after is not None:
            self._learn(node, after, own=True)
        else:
            self.own_change(node, None)

    def do_statfs(self, act: Act) -> Work[None]:
        """STATFS, FSSTAT, or GETATTR of the space."""
        act.result = yield from self.files.statfs(self._of(act).handle)

    # ------------------------------------------------------------ listings

    def do_readdir(self, act: Act) -> Work[None]:
        """READDIR to the end; with attributes READDIRPLUS, or READDIR of NFSv4 with attributes.

        Where cookies become invalid on the way it begins again: a change of the directory may do that, and a restart.
        """
        node, quiet = self._of(act), 0
        for _ in range(_MOST_LISTINGS):
            before, losses = self.ledger.changes[act.path], self.ledger.losses
            listing = Listing()
            try:
                yield from self._list(act, node, listing)
            except NfsStatusError as error:
                if not _is_old_cookie(error) or not listing.pages:
                    raise
                quiet += (self.ledger.changes[act.path], self.ledger.losses) == (before, losses)
                if quiet == _MOST_LISTINGS:
                    raise self._endless(act, str(error.status)) from error
                self.troubles["listings begun again: their cookies were not valid any more"] += 1
            else:
                self.ledger.check_names(act.path, before, listing.names)
                if self.ledger.changes[act.path] == before:
                    yield from self._check_entries(act, node, listing, before)
                act.result = listing.names
                return
        text = f"readdir of {act.path!r}: its cookies became invalid {_MOST_LISTINGS} times, and it changed meanwhile"
        raise Stopped("changed while listed", text)

    @staticmethod
    def _endless(act: Act, status: str) -> WrongAnswer:
        wrong = WrongAnswer(
            f"readdir of {act.path!r}: the server gave cookies and answered {status} to them, "
            f"{_MOST_LISTINGS} times from the beginning, while nobody changed the directory: it cannot be listed"
        )
        wrong.procedure = "READDIR"
        return wrong

    def _list(self, act: Act, node: Node, listing: Listing) -> Work[None]:
        """All pages."""
        before = self.ledger.changes[act.path]
        with_attributes = act.call.attributes and self.plus and self.version not in OF_NFS2
        position, positions = Position(), set[Position]()
        while listing.pages < _MOST_PAGES:
            begun = self.checks.begin()
            try:
                page = yield from self.files.readdir(
                    node.handle, position, self.page, attributes=with_attributes
                )
            except NfsStatusError as error:
                if str(error.status).endswith("TOOSMALL") and self.page < _USUAL_PAGE:
                    raise Stopped(
                        "page too small",
                        f"readdir of {act.path!r}: the server answers {error.status} to {self.page} bytes, which may "
                        "be too few for an entry; use a larger --page",
                    ) from error
                if not with_attributes or not str(error.status).endswith("NOTSUPP"):
                    raise
                self.troubles["READDIRPLUS refused, READDIR instead"] += 1
                self.plus = with_attributes = False
                continue
            listing.pages += 1
            self._take_page(act.path, page, listing, begun, with_attributes=with_attributes)
            if page.eof:
                return
            if not page.entries:
                raise WrongAnswer(f"readdir of {act.path!r}: a page without entries is not the end")
            position = page.next
            if position in positions:
                text = f"readdir of {act.path!r}: cookie {position.cookie} comes again: the listing goes in circles"
                if self.ledger.changes[act.path] == before:
                    raise WrongAnswer(f"{text}, and nobody has changed the directory")
                raise Stopped("no progress", text)
            positions.add(position)
        raise Stopped("no progress", f"readdir of {act.path!r}: no end after {_MOST_PAGES} pages")

    def _take_page(
        self, path: str, page: Page, listing: Listing, begun: int, *, with_attributes: bool
    ) -> None:
        for entry in page.entries:
            name = bytes(entry.name)
            attributes = entry.attributes if with_attributes else None
            seen = name, entry.fileid, attributes, begun
            if name in DOTS:
                listing.dots.append(seen)
            else:
                listing.names.append(name.decode(errors="backslashreplace"))
                listing.seen.append(seen)
            if with_attributes and name != b"..":
                self._enter(path, name, entry.handle, attributes)

    def _check_entries(self, act: Act, node: Node, listing: Listing, before: int) -> Work[None]:
        """Compare fileids and attributes of entries with what is known of their objects."""
        twice = Counter(name for name, *_ in listing.dots).most_common(1)
        if twice and twice[0][1] > 1:
            where = act.path or "the directory of the run"
            raise WrongAnswer(f"{where}: its listing has twice {twice[0][0].decode()}")
        strange: tuple[bytes, int] | None = None
        for name, fileid, attributes, begun in (*listing.seen, *listing.dots):
            item = self.ledger.items.get(_named(act.path, name))
            if item is None:
                continue
            known = item.fileid
            if attributes is not None:
                known = attributes.fileid
                self.checks.judge(item, attributes, begun, "the listing")
                if fileid and known is not None and fileid != known:
                    raise self._wrong_fileid(item.path, fileid, known)
            elif fileid and known is not None and fileid != known:
                strange = strange or (name, fileid)
        if strange is not None and not self._fileids_change:
            yield from self._look_at(act, node, *strange, before)

    def _look_at(self, act: Act, node: Node, name: bytes, fileid: int, before: int) -> Work[None]:
        """An entry has another fileid than its object had: which one has it now? That it stays is not promised.

        `before`: how often the directory had changed when it was listed; by now the name may be of another object.
        """
        attributes: Attributes | None = None
        handle = node.handle
        if name == b"..":
            above = self._nodes.get(c.parent_of(act.path))
            if above is None:
                return
            handle = above.handle
        elif name != b".":
            found = yield from self.files.lookup(node.handle, name)
            attributes, handle = found.attributes, found.handle
        if attributes is None:
            attributes = yield from self.files.getattr(handle)
        if self.ledger.changes[act.path] != before:
            return
        if attributes.fileid is not None and attributes.fileid != fileid:
            raise self._wrong_fileid(f"{act.path}/{name.decode()}", fileid, attributes.fileid)
        self._fileids_change = True

    @staticmethod
    def _wrong_fileid(path: str, seen: int, expected: int) -> WrongAnswer:
        wrong = WrongAnswer(f"{path}: its fileid is {expected}, and the listing of its directory says {seen}")
        wrong.procedure = "READDIR"
        return wrong

    def _enter(self, path: str, name: bytes, handle: bytes | None, attributes: Attributes | None) -> None:
        """An entry came with what a LOOKUP gives; a server may leave that out, then nothing is known."""
        if handle is None or attributes is None or self.policy.names != "all":
            if self.policy.names == "all":
                self.troubles["entries without handle or attributes"] += 1
            return
        at = f"{path}/{name.decode()}" if path else name.decode()
        known = self._nodes.get(at)
        if known is None or known.handle != handle:
            known = self._set_node(at, bytes(handle))
        self.checks.know(bytes(handle), at)
        self._learn(known, attributes)

    # ------------------------------------------------------------ locks and delegations

    def _verbs4(self, what: str) -> Verbs4:
        if not isinstance(self.verbs, Verbs4):
            raise Stopped(
                "not in this version",
                f"{what}: NFSv{self.version} has no locks; they are calls of the lock manager (NLM), which is not here",
            )
        return self.verbs

    def do_delegated(self, act: Act) -> Work[bool]:
        """Whether the rest needs no call: the file is delegated, and this use of it stays local."""
        yield from ()
        if act.file is not None:  # a lock: local under a delegation
            kept: Kept = act.file.kept
            return kept.node.delegation is not None and kept.lock is None
        node = self._nodes.get(act.path)
        if node is None or node.delegation is None or act.call.writes or act.call.truncates:
            return False
        act.node = node
        self._opened(act, self.ledger.file(act.path), writes=False)
        return True

    def _opened(self, act: Act, state: t.Any, *, writes: bool) -> c.OpenFile:
        node = self._of(act)
        node.opens += 1
        file = c.OpenFile(act.path, state, is_written=writes)
        file.kept = Kept(node)
        act.file = act.result = file
        self.open_files.setdefault(node, []).append(file)
        return file

    def do_lock(self, act: Act) -> Work[None]:
        """LOCK."""
        assert act.file is not None
        verbs, kept = self._verbs4("lock"), t.cast("Kept", act.file.kept)
        call: c.Lock = act.call
        assert kept.opened is not None
        kept.owner = kept.owner or b"locker %d" % next(self._lockers)
        pause = _FIRST_PAUSE
        while True:
            try:
                kept.lock = yield from verbs.lock(
                    kept.node.handle,
                    kept.opened,
                    call.offset,
                    call.count,
                    exclusive=call.is_exclusive,
                    owner=kept.owner,
                )
            except NfsStatusError as error:
                if error.status != nfs4.Nfsstat4.NFS4ERR_DENIED or pause > _LONGEST_PAUSE:
                    raise
            else:
                break
            self.troubles["locks that others held, tried again"] += 1
            yield Until(self.clock() + pause)
            pause *= 2
        kept.range = call.offset, call.count or nfs4.NFS4_MAXFILELEN, call.is_exclusive
        kept.files = None

    def do_unlock(self, act: Act) -> Work[None]:
        """LOCKU."""
        assert act.file is not None
        verbs, kept = self._verbs4("unlock"), t.cast("Kept", act.file.kept)
        if kept.lock is not None:
            kept.lock = yield from verbs.unlock(kept.node.handle, kept.lock, act.call.offset, act.call.count)
            kept.range = None

    def do_free_stateid(self, act: Act) -> Work[None]:
        """FREE_STATEID of the lock owner, which has no lock any more."""
        assert act.file is not None
        kept: Kept = act.file.kept
        if kept.lock is not None:
            yield from self._verbs4("unlock").free_stateid(kept.lock)
            kept.lock = kept.files = None

    def do_forget(self, act: Act) -> Work[None]:
        """Data that was read before the lock may be old."""
        yield from ()
        self.drop_data(self._of(act))

    def give_back(self, node: Node) -> Work[None]:
        """DELEGRETURN, after an OPEN for each file that is open by the delegation only."""
        delegation, node.delegation = node.delegation, None
        if delegation is None:
            return
        verbs = self._verbs4("delegations")
        for file in self.open_files.get(node, []):
            kept: Kept = file.kept
            if kept.opened is None:
                owner = b"reopener %d" % next(self._lockers)
                kept.opened = yield from verbs.reopen(
                    node.handle, delegation, writes=file.is_written, owner=owner
                )
                kept.files = None
        yield from verbs.delegreturn(node.handle, delegation)

    def delegation_of(self, stateid: nfs4.Stateid4) -> Node | None:
        """The object of a delegation that is recalled."""
        for node in self.nodes():
            if node.delegation is not None and node.delegation.other == stateid.other:
                return node
        return None


def _named(directory: str, name: bytes) -> str:
    """The path of an entry. Of `..` in the directory of the run nothing is known, whatever is returned for it."""
    if name == b".":
        return directory
    if name == b"..":
        return c.parent_of(directory) if directory else ".."
    return (
        f"{directory}/{name.decode(errors='backslashreplace')}"
        if directory
        else name.decode(errors="backslashreplace")
    )


def _is_old_cookie(error: NfsStatusError) -> bool:
    """Whether a cookie or its verifier is not valid any more (RFC 1813 section 3.3.16, RFC 5661 section 18.23)."""
    return str(error.status).rpartition("ERR_")[2] in {"BAD_COOKIE", "NOT_SAME"}


def _of_attrstat(reply: t.Any) -> Attributes | None:
    """The attributes in a reply to SETATTR of NFSv2."""
    from nfsclient.files import v2

    found = getattr(reply, "resok", None)
    return None if found is None else v2.attributes_of(found)
