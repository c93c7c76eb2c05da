# SPDX-License-Identifier: MIT
"""The diagnosis of what is no NFS server: nobody there, another service, garbage, silence.

The peers answer from a thread: the diagnosis examines unknown services with plain sockets, outside its loop.
"""

from __future__ import annotations

import http.server
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import typing as t
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from nfstargets.diagnosis import Diagnosis, Outcome, diagnose, peers
from nfstargets.diagnosis.peers import NoAddress, recognise, resolve, what_listens
from nfstargets.process import free_ports
from tests.waiting import AT_MOST

FAILED, NOT_TRIED = Outcome.FAILED, Outcome.NOT_TRIED
PATIENCE = 2.0


class Peer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


@contextmanager
def serving(server: socketserver.BaseServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield int(server.server_address[1])  # type: ignore[index]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def peer(behave: Callable[[socket.socket], None]) -> Peer:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            try:
                behave(self.request)
            except OSError:
                return

    return Peer(("127.0.0.1", 0), Handler)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def url_of(port: int, host: str = "127.0.0.1") -> str:
    return f"nfs://{host}/export?nfsport={port}&mountport={port}"


def look(url: str) -> Diagnosis:
    return diagnose(url, patience=PATIENCE)


def hang_up(sock: socket.socket) -> None:
    sock.recv(4096)


def spout_garbage(sock: socket.socket) -> None:
    sock.recv(4096)
    sock.sendall(b"\xde\xad\xbe\xef" * 64)


def say_a_bad_reply(sock: socket.socket) -> None:
    call = sock.recv(4096)
    body = call[4:8] + (7).to_bytes(4, "big") + bytes(16)
    sock.sendall((0x8000_0000 | len(body)).to_bytes(4, "big") + body)


def greet(sock: socket.socket) -> None:
    sock.sendall(b"220 mail.example ready\r\n")
    sock.recv(4096)


def greet_as_ssh(sock: socket.socket) -> None:
    sock.sendall(b"SSH-2.0-example\r\n")
    sock.recv(4096)


def refuse_in_tls(sock: socket.socket) -> None:
    # Without a certificate the handshake fails, in the words of TLS.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with context.wrap_socket(sock, server_side=True):
        pass


def wait_for_the_end(sock: socket.socket) -> None:
    while sock.recv(4096):
        pass


class Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing."""


STRANGERS: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "closes": (hang_up, "something that does not answer RPC"),
    "garbage": (spout_garbage, "something that answers de ad be ef"),
    "bad reply": (say_a_bad_reply, "message type"),
    "greeting": (greet, "mail or FTP"),
    "ssh": (greet_as_ssh, "an SSH server"),
    "tls": (refuse_in_tls, "a TLS server"),
    "silence": (wait_for_the_end, "something that does not answer RPC"),
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_at_the_port(stack: ExitStack, stranger: str) -> None:
    behave, seen = STRANGERS[stranger]
    port = stack.enter_context(serving(peer(behave)))
    diagnosis = look(url_of(port))
    step = diagnosis.step("RPC version")
    assert step.outcome is FAILED, diagnosis.render()
    assert seen in step.seen
    assert f"correct the port of NFS in the URL, which says {port}" in step.advice
    if stranger == "silence":
        waited = step.seen.partition("no answer within ")[2].partition(" s")[0]
        assert f"needs more than {waited} s" in step.advice


@pytest.mark.parametrize("stranger", [None, "closes", "silence", "ssh"])
def test_the_port_of_the_url_is_the_first_trouble_and_rpcbind_is_none(
    stack: ExitStack, stranger: str | None
) -> None:
    (port,) = free_ports(1)
    if stranger is not None:
        port = stack.enter_context(serving(peer(STRANGERS[stranger][0])))
    diagnosis = look(f"nfs://127.0.0.1:{port}/export")
    failed = [step.name for step in diagnosis.steps if step.outcome is FAILED]
    assert failed == ["port" if stranger is None else "RPC version"]
    assert f"port {port}" in diagnosis.render_failures().splitlines()[0]
    assert "rpcbind" not in diagnosis.render_failures()
    assert "nfsport=" not in diagnosis.render_failures()


def test_an_http_server(stack: ExitStack) -> None:
    port = stack.enter_context(serving(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)))
    assert "an HTTP server" in look(url_of(port)).step("RPC version").seen


def test_nobody_at_the_port() -> None:
    (port,) = free_ports(1)
    diagnosis = look(url_of(port))
    assert diagnosis.step("port").outcome is FAILED
    assert "refused" in diagnosis.step("port").seen
    assert "start the NFS server" in diagnosis.step("port").advice
    assert "start the MOUNT service" in diagnosis.step("MOUNT").advice
    assert not diagnosis.healthy


def test_a_port_that_a_firewall_blocks(stack: ExitStack) -> None:
    # A full backlog looks like it: the kernel drops what comes then.
    listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
    for _ in range(2):
        filler = stack.enter_context(socket.socket())
        filler.setblocking(False)
        filler.connect_ex(listener.getsockname())
    step = diagnose(url_of(listener.getsockname()[1]), patience=1.0).step("port")
    assert step.outcome is FAILED
    assert "firewall" in step.advice


def test_no_rpcbind() -> None:
    (port,) = free_ports(1)
    diagnosis = look(f"nfs://127.0.0.1/export?rpcbindport={port}")
    assert diagnosis.step("rpcbind").outcome is FAILED
    assert "give the ports of NFS and MOUNT in the URL" in diagnosis.step("rpcbind").advice
    assert diagnosis.step("MOUNT").outcome is NOT_TRIED


def test_rpcbind_that_spouts_garbage(stack: ExitStack) -> None:
    port = stack.enter_context(serving(peer(spout_garbage)))
    diagnosis = look(f"nfs://127.0.0.1/export?rpcbindport={port}")
    assert diagnosis.step("rpcbind").outcome is FAILED


def test_nobody_over_udp() -> None:
    (port,) = free_ports(1)
    diagnosis = diagnose(url_of(port) + "&proto=udp", patience=1.0)
    assert diagnosis.step("port").outcome is NOT_TRIED
    assert diagnosis.step("RPC version").outcome is FAILED


def test_a_name_without_address() -> None:
    diagnosis = look("nfs://nfsproof.invalid/export")
    assert diagnosis.step("name").outcome is FAILED
    assert "nfsproof.invalid has no address" in diagnosis.step("name").seen
    assert {step.outcome for step in diagnosis.steps[1:]} == {NOT_TRIED}
    assert len(diagnosis.render().splitlines()) < 7


@pytest.mark.parametrize("host", ["a" * 300, "a..b", "%00x"])
def test_names_that_no_resolver_takes(host: str) -> None:
    assert not look(f"nfs://{host}/export").healthy


@pytest.mark.parametrize(
    "url",
    ["", "host:/export", "http://host/", "nfs://", "nfs://h/x?what=1", "nfs://h:x/", "nfs://h/?version=4.0"],
)
def test_what_is_not_our_kind_of_url(url: str) -> None:
    diagnosis = look(url)
    assert [step.name for step in diagnosis.steps] == ["URL"]
    assert not diagnosis.healthy
    assert diagnosis.steps[0].advice


def test_numeric_addresses_ask_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> t.NoReturn:
        raise AssertionError("a resolver was started")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert resolve("127.0.0.1", 1.0) == ["127.0.0.1"]
    assert resolve("::1", 1.0) == ["::1"]


def test_a_resolver_that_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "_RESOLVE", "import signal; signal.pause()")
    with pytest.raises(NoAddress, match="did not answer within"):
        resolve("name.invalid", 0.3)


def test_localhost_has_an_address() -> None:
    assert resolve("localhost", 5.0)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "an HTTP server"),
        (b"<!DOCTYPE HTML><html>", "an HTTP server"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "a TLS server"),
        (b"\x80\x00\x00\x1c" + bytes(24), None),
        (b"", None),
    ],
)
def test_first_bytes(data: bytes, kind: str | None) -> None:
    assert recognise(data) == kind


def test_a_stranger_that_has_gone() -> None:
    (port,) = free_ports(1)
    assert what_listens("127.0.0.1", port, 1.0) == "nothing that accepts connections any more"


def test_the_command_ends_with_usage_and_without_traceback() -> None:
    (port,) = free_ports(1)
    done = subprocess.run(
        [sys.executable, "-m", "nfsproof", "doctor", url_of(port)],
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )
    assert done.returncode == 4, done.stderr
    assert "Failed: port, MOUNT." in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
