# SPDX-License-Identifier: MIT
"""One client with a policy: carries out the steps of its rows for the calls of programs.

What it keeps is a `Node` for each object that it knows, by path. What a policy with caches does to it:

    a name            kept until the directory is seen to have changed by somebody else, or the name is removed
    attributes        kept for `lifetime` seconds; that begins at the least, doubles each time that nothing has changed
                      and ends at the most (a kernel's acregmin and acregmax)
    data              kept until the attributes show that somebody else has changed the file
    an own change     of a directory or a file: with pre- and post-operation attributes (NFSv3, NFSv4) it is known as
                      such; without them (NFSv2) it looks like a change by somebody else
    a delegation      kept until it is recalled or the client ends; what it covers needs no call

An error of a call that cannot be, by what the calls of this run have made, is `WrongAnswer`; one that is about the
surroundings (full disk, stale handle, no permission) is `Stopped`.
"""

from __future__ import annotations

import contextlib
import math
import typing as t
from collections.abc import Callable

from nfsclient.errors import ConnectionLost, NfsStatusError, NotInVersion, RpcTimeout
from nfsclient.files import Create, Files, NewAttributes
from nfsclient.protocol import nfs4
from workloads import calls as c
from workloads.engine import Work
from workloads.policies.data import Node
from workloads.policies.known import Act, Kept
from workloads.policies.names import NameSteps
from workloads.policies.verbs import Verbs4
from workloads.spec import OF_NFS2
from workloads.trouble import Stopped, WrongAnswer

_SURROUNDINGS: t.Final = {
    "NOSPC": "full disk",
    "DQUOT": "full disk",
    "STALE": "stale handle",
    "BADHANDLE": "stale handle",
    "FHEXPIRED": "stale handle",
    "ACCES": "refused",
    "ACCESS": "refused",
    "PERM": "refused",
    "ROFS": "refused",
    "IO": "error of the server",
    "SERVERFAULT": "error of the server",
    "DELAY": "busy",
    "JUKEBOX": "busy",
    "GRACE": "restart",
    "STALE_CLIENTID": "restart",
    "BADSESSION": "restart",
    "BAD_STATEID": "restart",
    "STALE_STATEID": "restart",
    "BAD_COOKIE": "changed while listed",
    "NOT_SAME": "changed while listed",
    "EXPIRED": "lost lease",
    "NOTSUPP": "not in this version",
    "FBIG": "file too large",
    "NAMETOOLONG": "refused",
}
_OLD_HANDLES: t.Final = {"FHEXPIRED": "handles that had expired", "STALE": "stale handles"}
"""By status: what is counted if the name gives another handle."""
_NEW_FILE: t.Final = 0o644
"""The mode of a new file."""
_CHANGES: t.Final = frozenset(
    {"mkdir", "rmdir", "create", "open", "rename", "link", "symlink", "remove", "setattr"}
)
"""Steps that are not to be made twice."""
_CHANGING: t.Final = frozenset({c.Mkdir, c.Rmdir, c.Create, c.Rename, c.Link, c.Symlink, c.Remove, c.Chmod})
"""Calls that change names, or what objects are."""


class PolicyClient(NameSteps):
    """Carries out calls for one client. `perform` gives the work of a call, for a task on the channel of the client."""

    def __init__(self, *args: t.Any, **more: t.Any) -> None:
        """As `Known`."""
        super().__init__(*args, **more)
        self._steps: dict[str, list[tuple[str, Callable[[Act], Work[t.Any]]]]] = {
            name: [(step, getattr(self, f"do_{step}")) for step in row.steps]
            for name, row in self.policy.rows_for(self.version).items()
        }

    # ------------------------------------------------------------ calls

    def begin(self, pace: float) -> None:
        """What comes now is measured on its own clock: each call takes `pace` seconds; 0: the real time."""
        self.now.begin(pace)

    def perform(self, call: c.Call) -> Work[t.Any]:
        """The work of a call; its result is that of the call. Raises `Wrong`, `Stopped`."""
        self.now.go_on()
        return self._perform(call)

    def _perform(self, call: c.Call) -> Work[t.Any]:
        if isinstance(call, c.DropCaches):
            self.drop_all_data()
            if call.everything:
                yield from self._return_delegations()
            if call.everything and self.policy.names == "all":
                self.drop_names()
            return None
        if isinstance(call, c.Sync):
            yield from self._sync()
            return None
        act = Act(call)
        ledger = self.ledger
        paths = [path for path in (act.path, act.to) if path] if type(call) in _CHANGING else []
        items = ledger.begin_change(*paths)
        try:
            try:
                yield from self._carry_out(act)
            except NfsStatusError as error:
                if not self._may_look_up_again(act, error):
                    raise
                yield from self._require_volatile(act, error)
                self.troubles[f"{_OLD_HANDLES[_name_of(error)]}, names looked up again"] += 1
                self.drop_names()
                act = Act(call)
                yield from self._carry_out(act)
        except NfsStatusError as error:
            raise self._judged(call, error) from error
        except ConnectionLost as error:
            text = f"{c.name_of(call)}: the connection ended in the middle of the run ({error.cause})"
            raise Stopped("connection", text) from error
        except RpcTimeout as error:
            raise Stopped("connection", f"{c.name_of(call)}: {error}") from error
        except NotInVersion as error:
            raise Stopped("not in this version", f"{c.name_of(call)}: {error}") from error
        finally:
            ledger.end_change(items, *paths)
        if isinstance(call, c.Close):
            self._closed(act)
        return act.result

    def _sync(self) -> Work[None]:
        """What waits is of open files: it is written when they are closed."""
        for node, files in list(self.open_files.items()):
            for file in files:
                if file.is_written:
                    yield from self.flush(file, node)

    def _carry_out(self, act: Act) -> Work[None]:
        for name, step in self._steps[c.name_of(act.call)]:
            if (yield from step(act)):
                break
            act.has_changed = act.has_changed or name in _CHANGES

    @staticmethod
    def _may_look_up_again(act: Act, error: NfsStatusError) -> bool:
        """Whether a handle is old that a name can give again, as kernels do it (RFC 5661 section 4.2.3).

        A server may revoke a handle at any time (RFC 1813 section 2.5); that RENAME leaves it as it is, is a SHOULD
        (section 3.3.14). Nothing may have been changed by the call yet. An open file has no other way to its handle.
        """
        return _name_of(error) in _OLD_HANDLES and act.file is None and not act.has_changed

    def _require_volatile(self, act: Act, error: NfsStatusError) -> Work[None]:
        """Raise `WrongAnswer` if an object of NFSv4 has a handle that is stale, and the server says that it cannot be.

        A persistent handle is valid until the object is removed, or all of the file system is gone (RFC 5661 section
        4.2.2): that of the directory of the run tells.
        """
        if not isinstance(self.verbs, Verbs4) or _name_of(error) != "STALE" or self.ledger.losses:
            return
        for path in dict.fromkeys((act.path, c.parent_of(act.path), c.parent_of(act.to))):
            node = self._nodes.get(path)
            if node is not None and (node.item is None or node.item is not self.ledger.items.get(path)):
                return  # a handle that was used may be of another object
        if (yield from self.verbs.expire_type(self._nodes[""].handle)):
            return
        text = f"{c.name_of(act.call)} of {act.path!r}: {error}, and nobody has removed it"
        wrong = WrongAnswer(f"{text}: until then its handle is valid (fh_expire_type)")
        wrong.procedure = error.procedure
        raise wrong

    def _closed(self, act: Act) -> None:
        node, file = self._of(act), act.file
        assert file is not None
        node.opens -= 1
        still = [other for other in self.open_files.pop(node, []) if other is not file]
        if still:
            self.open_files[node] = still

    @staticmethod
    def _judged(call: c.Call, error: NfsStatusError) -> Exception:
        """What an error status means for the run."""
        name = _name_of(error)
        kind = _SURROUNDINGS.get(name)
        if name == "BADTYPE" and isinstance(
            call, c.Symlink
        ):  # a type that the server does not have (RFC 5661, 18.4)
            kind = "not in this version"
        about = getattr(call, "path", "") or getattr(getattr(call, "file", None), "path", "")
        text = f"{c.name_of(call)} of {about!r}: {error}"
        if kind is not None:
            return Stopped(kind, text)
        wrong = WrongAnswer(f"{text}, which cannot be by what this run has made")
        wrong.procedure = error.procedure
        return wrong

    def finish(self) -> Work[None]:
        """Give back what the server keeps for this client, so that others can remove the files: opens, delegations."""
        if not isinstance(self.verbs, Verbs4):
            return
        for node, files in list(self.open_files.items()):
            for file in files:
                if file.kept.opened is not None:
                    with contextlib.suppress(NfsStatusError):
                        yield from self.verbs.close(node.handle, file.kept.opened)
        self.open_files.clear()
        yield from self._return_delegations()

    def _return_delegations(self) -> Work[None]:
        for node in list(self.nodes()):
            with contextlib.suppress(NfsStatusError):
                yield from self.give_back(node)

    def drop_names(self) -> None:
        """Forget names and attributes."""
        root = self._nodes[""]
        busy = {
            path: node for path, node in self._nodes.items() if node.opens or node.unstable or node.delegation
        }
        self._nodes = {"": root} | busy
        for node in self._nodes.values():
            node.attributes, node.fetched_at = None, -math.inf

    # ------------------------------------------------------------ steps: opens, data

    def do_open(self, act: Act) -> Work[None]:
        if act.file is not None:  # opened locally
            return
        call: c.Open = act.call
        state = self.ledger.file(act.path)
        if isinstance(self.verbs, Verbs4):
            assert act.directory is not None
            opened = yield from self.verbs.open(act.directory.handle, act.name, writes=call.writes)
            node = self._nodes.get(act.path)
            if node is None or node.handle != opened.handle:
                node = self._set_node(act.path, opened.handle)
            self.checks.know(opened.handle, act.path)
            self._learn(node, opened.attributes)
            act.node = node
            yield from self._take_delegation(node, opened.delegation)
            file = self._opened(act, state, writes=call.writes)
            file.kept.opened = opened.stateid
        else:
            file = self._opened(act, state, writes=call.writes)
        if call.truncates:
            yield from self._truncate(file)

    def _truncate(self, file: c.OpenFile) -> Work[None]:
        node = file.kept.node
        files = self.files_for(file, writes=True)
        file.state.begin_cut()
        try:
            _, reply = yield from self._captured(files.setattr(node.handle, NewAttributes(size=0)))
            file.state.truncate()
        finally:
            file.state.end_cut()
        self.drop_data(node)
        for each in node.unstable:
            file.state.unstable.pop(id(each.piece), None)
        file.state.touch()
        node.unstable.clear()
        self.own_change(node, self.verbs.after(reply))

    def _take_delegation(self, node: Node, delegation: nfs4.Stateid4 | None) -> Work[None]:
        if delegation is None:
            return
        self.troubles["delegations granted"] += 1
        if self.policy.wants_delegations:
            node.delegation = delegation
            return
        assert isinstance(self.verbs, Verbs4)
        yield from self.verbs.delegreturn(node.handle, delegation)

    def files_for(self, file: c.OpenFile, *, writes: bool) -> Files:
        kept: Kept = file.kept
        if not isinstance(self.verbs, Verbs4):
            return self.files
        if kept.files is None or kept.opened is None:
            stateid = kept.lock or kept.opened or kept.node.delegation
            assert stateid is not None
            del writes
            kept.files = self.verbs.with_stateid(stateid)
        return kept.files

    def do_create(self, act: Act) -> Work[None]:
        assert act.directory is not None
        if isinstance(self.verbs, Verbs4):
            opened, reply = yield from self._captured(
                self.verbs.open(act.directory.handle, act.name, writes=True, creates=True, mode=_NEW_FILE)
            )
            node = Node(act.path, opened.handle, self.window)
            self._learn(node, opened.attributes)
            stateid = opened.stateid
            yield from self._take_delegation(node, opened.delegation)
        else:
            how = Create.UNCHECKED if self.version in OF_NFS2 else Create.GUARDED
            made, reply = yield from self._captured(
                self.files.create(act.directory.handle, act.name, how, NewAttributes(mode=_NEW_FILE))
            )
            node = Node(act.path, made.handle, self.window)
            self._learn(node, made.attributes)
            stateid = None
        self._nodes[act.path] = act.node = node
        self.own_change(act.directory, self.verbs.after(reply))
        self._opened(act, self.ledger.create(act.path, _NEW_FILE), writes=True).kept.opened = stateid
        node.item = self.ledger.items.get(act.path)
        self.checks.know(node.handle, act.path)

    def do_close(self, act: Act) -> Work[None]:
        assert act.file is not None
        kept: Kept = act.file.kept
        if kept.opened is not None and isinstance(self.verbs, Verbs4):
            yield from self.verbs.close(kept.node.handle, kept.opened)
            kept.opened = None

    def do_data(self, act: Act) -> Work[None]:
        assert act.file is not None
        act.result = yield from self.read(act.file, self._of(act), act.call.offset, act.call.count)
        self.ledger.reads += 1
        self.ledger.read_bytes += act.result

    def do_put(self, act: Act) -> Work[None]:
        """WRITE, now or later."""
        assert act.file is not None
        act.result = yield from self.write(act.file, self._of(act), act.call.offset, act.call.count)

    def do_flush(self, act: Act) -> Work[None]:
        if act.file is not None and act.file.is_written:
            yield from self.flush(act.file, self._of(act))

    def do_commit(self, act: Act) -> Work[None]:
        if act.file is not None and act.file.is_written and self._of(act).unstable:
            yield from self.commit(act.file, self._of(act))

    def do_commit_all(self, act: Act) -> Work[None]:
        """COMMIT of the file."""
        assert act.file is not None
        node = self._of(act)
        if node.unstable:
            yield from self.commit(act.file, node)
        else:
            yield from self.files_for(act.file, writes=True).commit(node.handle)


def _name_of(error: NfsStatusError) -> str:
    """The name of a status without its prefix."""
    return str(error.status).rpartition("ERR_")[2]
