# SPDX-License-Identifier: MIT
"""`nfsproof replay`: the same bytes to a server, what it answers, and what is said about captures that are broken."""

from __future__ import annotations

import contextlib
import socket
import threading
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsjudge.captured import BadCapture
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsproof.proxying.running import Upstream
from nfsproof.replaying import captured, sending
from tests.nfsfaults.messages import call, framed, reply

pytest.importorskip("scapy", reason="scapy is not installed (extra `packet`)")

from scapy.layers.inet import IP, TCP, UDP
from scapy.packet import Raw
from scapy.utils import wrpcap

from nfsfaults.packet import replaying

CLIENT, SERVER = "192.0.2.7", "192.0.2.1"


def datagrams(*messages: bytes, port: int = 700) -> list[t.Any]:
    """Calls of the client and replies of the server."""
    made = []
    for message in messages:
        is_call = message[4:8] == bytes(4)
        ends = (CLIENT, SERVER, port, 2049) if is_call else (SERVER, CLIENT, 2049, port)
        made.append(IP(src=ends[0], dst=ends[1]) / UDP(sport=ends[2], dport=ends[3]) / Raw(message))
    return made


def stream(*messages: bytes, size: int = 100, port: int = 700) -> list[t.Any]:
    """A connection of TCP on which a client sends these calls, in segments."""
    made: list[t.Any] = [IP(src=CLIENT, dst=SERVER) / TCP(sport=port, dport=2049, seq=9, flags="S")]
    data = b"".join(framed(message) for message in messages)
    for at in range(0, len(data), size):
        sent = TCP(sport=port, dport=2049, seq=10 + at, flags="PA") / Raw(data[at : at + size])
        made.append(IP(src=CLIENT, dst=SERVER) / sent)
    return made


class Echo:
    """Takes what comes, and answers each call with a function of it."""

    def __init__(self, answer: t.Callable[[bytes], bytes | None]) -> None:
        self.messages: list[bytes] = []
        self.sources: list[int] = []
        self._answer = answer
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._threads = [
            threading.Thread(target=serve, daemon=True) for serve in (self._datagrams, self._stream)
        ]
        for thread in self._threads:
            thread.start()

    def _datagrams(self) -> None:
        while True:
            data, sender = self._udp.recvfrom(65_535)
            if not data:
                return
            answer = self._took(data, sender[1])
            if answer is not None:
                self._udp.sendto(answer, sender)

    def _stream(self) -> None:
        while True:
            connection, sender = self._tcp.accept()
            if self._answer(b"") == b"stop":
                connection.close()
                return
            with connection, connection.makefile("rb") as file:
                while mark := file.read(4):
                    data = file.read(int.from_bytes(mark, "big") & 0x7FFF_FFFF)
                    answer = self._took(data, sender[1])
                    if answer is not None:
                        with contextlib.suppress(OSError):  # nobody waits any more
                            connection.sendall(framed(answer))

    def _took(self, data: bytes, port: int) -> bytes | None:
        self.messages.append(data)
        self.sources.append(port)
        return self._answer(data)

    def close(self) -> None:
        self._answer = lambda _: b"stop"
        socket.create_connection(("127.0.0.1", self.port)).close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"", ("127.0.0.1", self.port))
        for thread in self._threads:
            thread.join(10)
        self._tcp.close()
        self._udp.close()


@pytest.fixture
def echo() -> Iterator[Echo]:
    made = Echo(lambda data: data[:4] + reply("READ")[4:])
    yield made
    made.close()


def replayed(folder: Path, packets: list[t.Any], *words: str) -> int:
    path = folder / "some.pcap"
    wrpcap(str(path), packets)
    return run_command_line(["replay", str(path), *words])


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_the_same_bytes_go_as_often_as_wished(
    tmp_path: Path, echo: Echo, capsys: pytest.CaptureFixture[str], transport: str
) -> None:
    packets = (datagrams if transport == "udp" else stream)(call("READ"))
    assert replayed(tmp_path, packets, "--to", f"127.0.0.1:{echo.port}", "--times", "3") == Exit.OK
    assert echo.messages == [call("READ")] * 3
    assert len(set(echo.sources)) == 1
    said = lines(capsys)
    frame = len(packets)
    assert said[0] == f"frame {frame}, sent from port {echo.sources[0]}:"
    assert said[1].startswith("  #1 READ xid 0x00000001 -> NFS3ERR_STALE")
    assert "      file: 4 bytes" in said or any("file" in line for line in said)
    assert "  the capture has no reply to compare with" in said


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_new_xid_is_the_only_difference(tmp_path: Path, echo: Echo, transport: str) -> None:
    packets = (datagrams if transport == "udp" else stream)(call("READ"))
    assert (
        replayed(tmp_path, packets, "--to", f"127.0.0.1:{echo.port}", "--times", "2", "--xid", "new")
        == Exit.OK
    )
    first, second = echo.messages
    assert first[:4] != second[:4] != call("READ")[:4]
    assert first[4:] == second[4:] == call("READ")[4:]


def test_what_does_not_decode_is_sent_with_another_xid_too() -> None:
    assert replaying.with_xid(call("READ")[:30], 7) == b"\0\0\0\7" + call("READ")[4:30]


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_the_old_port_is_used_again(tmp_path: Path, echo: Echo, transport: str) -> None:
    with socket.socket(type=socket.SOCK_STREAM if transport == "tcp" else socket.SOCK_DGRAM) as sock:
        sock.bind(("", 0))
        port = sock.getsockname()[1]
    packets = (datagrams if transport == "udp" else stream)(call("READ"), port=port)
    assert replayed(tmp_path, packets, "--to", f"127.0.0.1:{echo.port}", "--port", "same") == Exit.OK
    assert echo.sources == [port]


def test_replies_are_compared_with_the_capture(
    tmp_path: Path, echo: Echo, capsys: pytest.CaptureFixture[str]
) -> None:
    other = reply("READ").replace(b"\0\0\0\x46", b"\0\0\0\x0d")
    packets = datagrams(call("READ", 1), reply("READ", 1), call("READ", 2), b"\0\0\0\2" + other[4:])
    assert replayed(tmp_path, packets, "--to", f"127.0.0.1:{echo.port}", "--all") == Exit.OK
    said = lines(capsys)
    assert "  the same reply as in the capture" in said
    at = said.index("  differs from the capture:")
    assert said[at + 1] == "    status: NFS3ERR_ACCES (13) there, NFS3ERR_STALE (70) now"


def test_a_list_of_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packets = datagrams(call("READ", 1), reply("READ", 1), call("REMOVE", 2))
    assert replayed(tmp_path, packets, "--list") == Exit.OK
    ends = "udp 192.0.2.7:700 -> 192.0.2.1:2049"
    assert lines(capsys) == [
        f"frame 1  {ends}  xid 0x00000001  READ file=66696c65 (4 bytes), offset=0, count=100",
        f"frame 3  {ends}  xid 0x00000002  REMOVE object.dir=66696c65 (4 bytes), object.name='name'",
    ]


def test_frames_are_chosen(tmp_path: Path, echo: Echo, capsys: pytest.CaptureFixture[str]) -> None:
    packets = datagrams(call("READ", 1), reply("READ", 1), call("REMOVE", 2))
    to = ("--to", f"127.0.0.1:{echo.port}")
    assert replayed(tmp_path, packets, *to, "--frame", "3") == Exit.OK
    assert echo.messages == [call("REMOVE", 2)]
    for words, said in (
        ((), "the capture has 2 requests: choose by --frame (--list shows them), or send --all"),
        (("--frame", "2"), "no request ends in frame 2; the nearest do in 1, 3 (see --list)"),
    ):
        capsys.readouterr()
        assert replayed(tmp_path, packets, *to, *words) == Exit.USAGE
        error = capsys.readouterr().err
        assert said in error
        assert "Traceback" not in error


def test_no_reply_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    silent = Echo(lambda _: None)
    packets = datagrams(call("READ"))
    words = ("--to", f"127.0.0.1:{silent.port}", "--timeout", "0.05")
    assert replayed(tmp_path, packets, *words) == Exit.OK
    silent.close()
    assert "  no reply within 0.05 s" in lines(capsys)


def test_a_server_that_is_not_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    assert replayed(tmp_path, stream(call("READ")), "--to", f"127.0.0.1:{port}") == Exit.USAGE
    error = capsys.readouterr().err
    assert f"cannot reach 127.0.0.1 port {port} over TCP: Connection refused" in error
    assert "Traceback" not in error


def test_a_port_that_is_in_use_is_one_line(
    tmp_path: Path, echo: Echo, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("", 0)) as sock:
        words = ("--to", f"127.0.0.1:{echo.port}", "--port", str(sock.getsockname()[1]))
        assert replayed(tmp_path, stream(call("READ")), *words) == Exit.USAGE
    error = capsys.readouterr().err
    assert "Address already in use; after a connection of TCP its port stays in use for a minute" in error
    assert "Traceback" not in error


def test_a_reply_that_never_ends_is_bounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    endless = Echo(lambda data: data[:4] + b"\0\0\0\1" + bytes(replaying.MOST_REPLY) if data else b"")
    assert replayed(tmp_path, stream(call("READ")), "--to", f"127.0.0.1:{endless.port}") == Exit.USAGE
    assert "record" in capsys.readouterr().err
    endless.close()


# ---------------------------------------------------------------- captures


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "neither pcap nor pcapng"),
        (b"not a capture", "neither pcap nor pcapng"),
        (b"\x0a\x0d\x0d\x0a\xff\xff\xff\xff", ""),
        (b"\xa1\xb2\xc3\xd4\0\2\0\4" + bytes(8) + b"\0\4\0\0\0\0\0\1" + b"\0" * 8 + b"\xff" * 8, ""),
    ],
    ids=["empty", "text", "pcapng", "pcap"],
)
def test_a_broken_capture_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, said: str
) -> None:
    path = tmp_path / "broken.pcapng"
    path.write_bytes(data)
    assert run_command_line(["replay", str(path), "--list"]) == Exit.USAGE
    error = capsys.readouterr().err
    assert said in error
    assert str(path) in error
    assert error.count("\n") <= 2
    assert "Traceback" not in error


def test_a_capture_without_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replayed(tmp_path, datagrams(reply("READ")), "--to", "127.0.0.1:9") == Exit.USAGE
    assert "the capture has no call of RPC" in capsys.readouterr().err
    assert run_command_line(["replay", str(tmp_path / "absent"), "--list"]) == Exit.USAGE
    assert "cannot read" in capsys.readouterr().err


def test_requests_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: t.Any) -> None:
    monkeypatch.setattr(captured, "MOST_REQUESTS", 2)
    packets = datagrams(*(call("READ", number) for number in range(5)))
    assert replayed(tmp_path, packets, "--list") == Exit.OK
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 2
    assert "only its first 2 requests are read" in said.err


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_captures_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "a.pcap"
    wrpcap(str(path), [*datagrams(call("READ"), reply("READ")), *stream(call("WRITE"), call("REMOVE", 5))])
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    requests = captured.Requests()
    with path.open("rb") as file, contextlib.suppress(BadCapture):
        requests.read(file)
    for request in requests.found:
        assert request.line
        if request.reply is not None:
            assert sending.differences(request, request.reply) == ["the same reply as in the capture"]


def test_it_says_that_it_needs_scapy(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> t.NoReturn:
        raise ModuleNotFoundError("No module named 'scapy'", name="scapy")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(
        sending.CannotReplay, match=r"^replay needs scapy: python -m pip install 'scapy>=2.6'$"
    ):
        list(sending.replay([], sending.Wish(Upstream("127.0.0.1", 9))))
