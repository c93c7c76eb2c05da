# SPDX-License-Identifier: MIT
"""Sends recorded messages again: what the scripts stand on that a failed check leaves (docs/evidence.md).

A script names its messages one by one; this module connects, sends, prints every answer, and finds in new answers what
the server gives at run time. Nothing that goes wrong with one message ends it: that is printed, and the next is sent.
"""

from __future__ import annotations

import copy
import dataclasses
import secrets
import sys
import typing as t
from collections import Counter
from collections.abc import Callable, Sequence

from nfsclient.clients import Nfs2, Nfs3
from nfsclient.clients.nfs4 import new_owner
from nfsclient.discovery import Endpoint, Ports, as_url, discover, find_ports, open_connection
from nfsclient.errors import NfsClientError, UrlError
from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.portmap import PORT as RPCBIND_PORT
from nfsclient.protocol.registry import Service
from nfsclient.replay.nfs4 import Sessions
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.messages import parse_reply
from nfsclient.rpc.program import Procedure
from nfsclient.url import NfsUrl
from nfsclient.xdr import XdrType, format_value

Say: t.TypeAlias = Callable[[str], object]

TIMEOUT = 5.0
"""Seconds for a call."""
SILENCE = 1.0
"""Seconds after which no answer to bare bytes is expected any more."""
_SHOWN = 128
_MOST_PAGES = 10_000
_DEEPEST = 64
_ARROW = "    <-- "
_EXIT_USAGE = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Story:
    """Printed in addition to the answers: where the messages come from."""

    check: str
    verdict: str
    clause: str = ""
    expected: tuple[str, ...] = ()
    observed: str = ""


class Replay:
    """One run of a script."""

    def __init__(
        self, url: NfsUrl, story: Story, *, say: Say | None = None, timeout: float = TIMEOUT
    ) -> None:
        self.url = url
        self.story = story
        self.timeout = timeout
        self.loop = Loop()
        self._say: Say = say if say is not None else _print
        self._endpoints: dict[int, Endpoint] = {}
        self._known_ports: Ports | None = None
        self._fresh: list[bytes] = []
        self._clients: list[RpcClient] = []
        self._nfs4 = Sessions(self._connect_for_compounds)
        self._root_of_compounds: bytes | None = None
        self._line(f"check {story.check}: {story.verdict}")
        self._line(f"server {url}")

    @classmethod
    def of_arguments(cls, default: str, story: Story, started: str = "") -> Replay:
        """The server is the first word of the command line, or the one that the check was run on.

        `started` is the name of one that was started for the run, and is gone: then a word is needed.
        """
        if started and len(sys.argv) < 2:
            sys.stderr.write(
                f"the server of the run ({started}) was started for it, and is gone: name one, "
                f"nfs://HOST/EXPORT, or let nfsproof start it: nfsproof reproduce {story.check!r} --script "
                "--report=DIR\n"
            )
            sys.exit(_EXIT_USAGE)
        try:
            url = as_url(sys.argv[1] if len(sys.argv) > 1 else default, (2, 3, 4))
        except UrlError as error:
            sys.stderr.write(f"{error}; the first argument names the server\n")
            sys.exit(_EXIT_USAGE)
        return cls(url, story)

    def _line(self, text: str) -> None:
        """Print a line; nothing that a server sent moves the cursor."""
        self._say("".join(char if char.isprintable() else ascii(char)[1:-1] for char in text))

    # ------------------------------------------------------------ what the server gives

    def root(self, version: int = 3) -> bytes:
        """The handle of the directory that the URL means. Ends the script where it cannot be had."""
        if version != 4:
            return self._endpoint(version).root
        if self._root_of_compounds is None:
            try:
                self._root_of_compounds = self._nfs4.root(self.url.components)
            except NfsClientError as error:
                self._give_up("asked", error)
        return self._root_of_compounds

    def session(self, uses: Sequence[int] = (), minor: int = 1) -> bytes:
        """The id of a new session, made for a new client of this minor version. Ends the script where there is none.

        `uses`: how many requests each of its slots has had, from slot 0 on.
        """
        try:
            return self._nfs4.session(uses, minor).id
        except NfsClientError as error:
            self._give_up("asked for a session", error)

    def fresh_owner(self) -> bytes:
        """The name of a client of NFSv4 that nobody else is, for one that the check made up."""
        return new_owner().co_ownerid

    def _connect_for_compounds(self) -> RpcClient:
        return open_connection(self.url, self._port("nfs"), loop=self.loop, timeout=self.timeout)

    def _give_up(self, wanted: str, error: Exception) -> t.NoReturn:
        self._line(f"the server cannot be {wanted}: {error}")
        self._line("name another one: the first argument is nfs://HOST/EXPORT")
        sys.exit(_EXIT_USAGE)

    @property
    def path(self) -> bytes:
        """The path of the URL."""
        return self.url.path

    def export(self, version: int = 3) -> bytes:
        """The part of the path that is mounted."""
        return self._endpoint(version).export

    def _endpoint(self, version: int) -> Endpoint:
        if version not in self._endpoints:
            url = dataclasses.replace(self.url, version=version, minor=None)
            try:
                self._endpoints[version] = discover(url, loop=self.loop, timeout=self.timeout)
            except NfsClientError as error:
                self._give_up("asked", error)
        return self._endpoints[version]

    def fresh_name(self) -> bytes:
        """A name that is not there yet, for one that the check made for itself; removed at the end."""
        self._fresh.append(b"nfsproof-" + secrets.token_hex(6).encode())
        return self._fresh[-1]

    def take(self, reply: object, path: str, recorded: t.Any) -> t.Any:
        """What a new answer has at a dotted path (``resok.entries[3].cookie``), or else what was recorded."""
        value: t.Any = reply
        for step in path.split("."):
            name, _, index = step.partition("[")
            value = getattr(value, name, None)
            if index and value is not None:
                place = int(index.rstrip("]"))
                value = value[place] if place < len(value) else None
        if value is None:
            self._line(f"    the answer has no {path} now: what was recorded is sent in its place")
            return recorded
        return bytes(value) if isinstance(value, memoryview) else value

    # ------------------------------------------------------------ messages

    def connect(
        self, service: Service = "nfs", proto: str = "tcp", fragment_sizes: Sequence[int] | None = None
    ) -> RpcClient:
        """A connection to one of the server's services. Ends the script where there is none."""
        try:
            url = dataclasses.replace(self.url, proto=proto)
            client = open_connection(url, self._port(service), loop=self.loop, timeout=self.timeout)
        except NfsClientError as error:
            self._give_up("reached", error)
        if fragment_sizes is not None and proto == "tcp":
            t.cast("t.Any", client.core).fragment_sizes = fragment_sizes
        self._clients.append(client)
        return client

    def _port(self, service: Service) -> int:
        if service == "portmap":
            return self.url.rpcbindport or RPCBIND_PORT
        if self._known_ports is None:
            self._known_ports = find_ports(self.url, loop=self.loop, timeout=self.timeout)
        return self._known_ports.nfs if service == "nfs" else self._known_ports.mount

    def call(
        self,
        number: int,
        client: RpcClient,
        procedure: Procedure[t.Any, t.Any],
        args: XdrType,
        *,
        credential: Credential | None = None,
        xid: int | None = None,
        deviates: str | None = None,
        note: str = "",
    ) -> t.Any:
        """Make a call, print its answer and give it; None without one.

        `deviates` is the path of the field in the answer by which the check judged, empty for the answer as a whole;
        `note` is what was said of it.
        """
        pending = self.submit(number, client, procedure, args, credential=credential, xid=xid)
        return self.wait(number, client, pending, deviates=deviates, note=note)

    def submit(
        self,
        number: int,
        client: RpcClient,
        procedure: Procedure[t.Any, t.Any],
        args: XdrType,
        *,
        credential: Credential | None = None,
        xid: int | None = None,
    ) -> Pending[t.Any] | None:
        """Make a call without waiting for its answer; None where it could not be made."""
        self._line(f"#{number} {procedure.name}")
        for line in format_value(args):
            self._line(f"    {line}")
        self._nfs4.expect(client, procedure)
        try:
            return client.submit(procedure, args, credential=credential, timeout=self.timeout, xid=xid)
        except (NfsClientError, ValueError) as error:
            self._line(f"    not sent: {error}")
            return None

    def wait(
        self,
        number: int,
        client: RpcClient,
        pending: Pending[t.Any] | None,
        *,
        deviates: str | None = None,
        note: str = "",
    ) -> t.Any:
        """Wait for the answer to a call, print it and give it; None without one."""
        sign = _sign(note) if deviates is not None else ""
        if pending is None:
            return None
        try:
            result = client.wait(pending)
        except NfsClientError as error:
            self._line(f"  #{number} -> {error}{sign}")
            return None
        self._nfs4.learn(client, pending.args, result)
        self._line(f"  #{number} ->{sign if not deviates else ''}")
        lines = format_value(result, mark=deviates or None, note=sign.removeprefix(_ARROW))
        for line in lines or ["(no data)"]:
            self._line(f"    {line}")
        return result

    def callback(
        self, number: int, client: RpcClient, names: str, *, deviates: str | None = None, note: str = ""
    ) -> None:
        """Wait for what the server called at this point of the check, and print it with our answer.

        `names` are the operations that it carried. `deviates` is the path in its arguments of the field by which the
        check judged; `note` is what was said of it.
        """
        sign = _sign(note) if deviates is not None else ""
        self._line(f"#{number} callback of the server")
        came = self._nfs4.await_callback(client, self.timeout)
        if came is None:
            self._line(f"    none within {self.timeout:g} s; the check got {names}{sign}")
            return
        lines = format_value(came.args, mark=deviates or None, note=sign.removeprefix(_ARROW))
        for line in lines:
            self._line(f"    {line}")
        self._line(
            f"  #{number} <- {getattr(came.result, 'status', 'answered')}{sign if not deviates else ''}"
        )

    def send_raw(self, client: RpcClient, data: bytes) -> None:
        """Send bytes as they are: over TCP a piece of the stream with its own record marks."""
        self._send(f"{len(data)} bytes as they are", data, lambda: client.send_raw(data))

    def send_record(self, client: RpcClient, message: bytes, fragment_sizes: Sequence[int] = ()) -> None:
        """Send bytes as one message; over TCP as a record, in fragments of these sizes and a last one."""
        pieces = f" in {len(fragment_sizes) + 1} fragments" if fragment_sizes else ""
        what = f"a message of {len(message)} bytes{pieces}"
        self._send(what, message, lambda: client.send_record(message, fragment_sizes))

    def many(
        self,
        client: RpcClient,
        procedure: Procedure[t.Any, t.Any],
        args: XdrType,
        path: str = "",
        values: Sequence[t.Any] = (),
        *,
        credential: Credential | None = None,
    ) -> None:
        """Calls that the check made besides the others: one, or one for each value of the field at `path`."""
        calls = [args] if not path else [_replaced(args, path.split("."), value) for value in values]
        outcomes = Counter[str]()
        try:
            for _, result in client.pipeline(procedure, calls, credential=credential, timeout=self.timeout):
                outcomes[str(getattr(result, "status", "answered"))] += 1
        except (NfsClientError, ValueError) as error:
            outcomes[str(error)] += 1
        counted = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
        self._line(f"besides: {len(calls)} {procedure.name} -> {counted}")

    def close(self, client: RpcClient) -> None:
        """Close a connection, as the check did."""
        self._line("closed a connection")
        client.close()

    def half_close(self, client: RpcClient) -> None:
        """Say on a connection that nothing more will be sent."""
        self._line("half-closed a connection")
        client.shutdown_write()

    def _send(self, what: str, data: bytes, send: Callable[[], None]) -> None:
        self._line(f"sent: {what}: {_hex(data)}")
        try:
            send()
        except NfsClientError as error:
            self._line(f"    not sent: {error}")

    def receive_record(
        self, client: RpcClient, seconds: float = TIMEOUT, *, deviates: bool = False, note: str = ""
    ) -> None:
        """Print the next message that answers no call of `call`, or that there is none."""
        sign = _sign(note) if deviates else ""
        try:
            reply = client.receive_record(seconds)
        except NfsClientError as error:
            self._line(f"received: nothing: {error}{sign}")
            return
        self._line(f"received: {_meaning(reply)}: {_hex(reply)}{sign}")

    def happened(self, text: str) -> None:
        """Something that the check did to the server, which a script cannot: time to do it by hand."""
        self._line(f"here the check did to the server: {text}")
        if sys.stdin is not None and sys.stdin.isatty():
            self._line("do the same, and press Enter")
            sys.stdin.readline()

    # ------------------------------------------------------------ the end

    def end(self) -> None:
        """Tell what the check made of it, and remove what was made."""
        story = self.story
        self._line(f"recorded: {story.verdict} of {story.check}")
        if story.clause:
            self._line(f"clause:   {story.clause}")
        for text in story.expected:
            self._line(f"expected: {text}")
        if story.observed:
            self._line(f"seen:     {story.observed}")
        for client in self._clients:
            client.close()
        self._nfs4.close()
        if self._root_of_compounds is not None:
            self._remove_by_compounds(self._root_of_compounds)
        else:
            for name in self._fresh:
                self._remove(name)
        self.loop.close()

    def _remove_by_compounds(self, root: bytes) -> None:
        try:
            left = self._nfs4.remove(root, self._fresh)
        except NfsClientError as error:
            self._line(f"not removed: {self._fresh!r}: {error}")
            return
        for name in left:
            self._line(f"not removed: {name!r}")

    def _remove(self, name: bytes) -> None:
        """Remove the objects below the root that the script created, if possible."""
        version = 2 if self.url.version == 2 else 3
        try:
            with open_connection(self.url, self._port("nfs"), loop=self.loop, timeout=self.timeout) as rpc:
                nfs: Nfs2 | Nfs3 = Nfs2(rpc) if version == 2 else Nfs3(rpc)
                _remove_tree(nfs, self.root(version), name)
                if nfs.lookup(self.root(version), name).resok is not None:
                    self._line(f"not removed: {name!r}")
        except NfsClientError as error:
            self._line(f"not removed: {name!r}: {error}")


def _remove_tree(nfs: Nfs2 | Nfs3, directory: bytes, name: bytes, depth: int = 0) -> None:
    if int(nfs.remove(directory, name).status) == 0 or depth > _DEEPEST:
        return
    found = nfs.lookup(directory, name).resok
    if found is None:
        return
    if isinstance(nfs, Nfs2):
        inside = t.cast("nfs2.Diropok", found).file
        nfs.setattr(inside, nfs2.Sattr(mode=0o777))
    else:
        inside = t.cast("nfs3.Lookup3ResOk", found).object
        nfs.setattr(inside, nfs3.Sattr3(mode=0o777))
    for entry in _names(nfs, inside):
        _remove_tree(nfs, inside, entry, depth + 1)
    nfs.rmdir(directory, name)


def _names(nfs: Nfs2 | Nfs3, directory: bytes) -> list[bytes]:
    """What is in a directory; a server that goes round in circles does not keep us."""
    found: dict[bytes, None] = {}
    cookie: t.Any = 0 if isinstance(nfs, Nfs3) else bytes(4)
    verifier = bytes(8)
    for _ in range(_MOST_PAGES):
        if isinstance(nfs, Nfs3):
            page: t.Any = nfs.readdir(directory, cookie, verifier, 8192).resok
            verifier = verifier if page is None else page.cookieverf
        else:
            page = nfs.readdir(directory, cookie, 4096).resok
        before = len(found)
        found.update(dict.fromkeys(entry.name for entry in (page.entries if page is not None else ())))
        if len(found) == before or page.eof:
            break
        cookie = page.entries[-1].cookie
    return [name for name in found if name not in {b".", b".."}]


def _replaced(value: t.Any, path: Sequence[str], leaf: t.Any) -> t.Any:
    """A copy of a value with another leaf."""
    found = copy.copy(value)
    inside = leaf if len(path) == 1 else _replaced(getattr(value, path[0]), path[1:], leaf)
    setattr(found, path[0], inside)
    return found


def opaque(data: bytes) -> bytes:
    """Variable-length opaque data in XDR: length, bytes, padding."""
    return len(data).to_bytes(4, "big") + data + bytes(-len(data) % 4)


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


def _sign(note: str) -> str:
    return f"{_ARROW}{note or 'here it deviated'}"


def _hex(data: bytes) -> str:
    return data[:_SHOWN].hex() + (f"... ({len(data)} bytes)" if len(data) > _SHOWN else "")


def _meaning(reply: bytes) -> str:
    """What a reply message says."""
    try:
        _, error = parse_reply(reply, 0, "the call")
    except NfsClientError as broken:
        return str(broken)
    return "a reply of success" if error is None else str(error)
