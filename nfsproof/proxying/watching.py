# SPDX-License-Identifier: MIT
"""What passes through the proxy, as packets: into a capture with both sides, and to the lint."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.rpc.exchange import Segment
from nfsfaults.proxy_sockets import Address, Passed
from nfsjudge import pcapng
from nfsjudge.capture import Packets
from nfsjudge.captured import Packet, Reading, Statistics
from nfsjudge.lint import Finding

_ETHERNET: t.Final = 1
_ABOUT: t.Final = "What passed through nfsproof proxy, on both sides: client to proxy, and proxy to server."


class Watch:
    """Takes what the sockets of the proxy took and gave.

    `file` gets a capture in the format pcapng, and is closed at the end. With `lint`, the replies of the server are
    judged as they left it: the side of the clients shows what the plan made of them.
    """

    def __init__(
        self,
        file: t.BinaryIO | None,
        *,
        lint: bool,
        epoch: float,
        fail: Callable[[str], None],
        most: int | None = None,
    ) -> None:
        """`epoch`: what to add to times to have seconds since 1970. `fail` gets the reason if writing ends.

        A capture ends after `most` bytes; None: it has no bound.
        """
        self._left = most
        self.packets = 0
        self._file = file
        self._reading = Reading() if lint else None
        self._made = Packets(with_clients=True)
        self._epoch = epoch
        self._fail = fail
        if file is not None:
            self._write(pcapng.section(_ABOUT) + pcapng.interface())

    @property
    def is_needed(self) -> bool:
        """Whether it does anything."""
        return self._file is not None or self._reading is not None

    @property
    def findings(self) -> list[Finding]:
        """What the lint has found so far."""
        return [] if self._reading is None else self._reading.findings

    @property
    def statistics(self) -> Statistics:
        """What the lint has seen."""
        return Statistics() if self._reading is None else self._reading.statistics

    @property
    def calls(self) -> int:
        """Calls that the lint has seen."""
        return sum(self.statistics.exchanges.values())

    @property
    def answered(self) -> int:
        """Calls whose replies were judged; known when the watch is closed."""
        return self.statistics.answered

    def take(self, passed: Passed) -> None:
        """Bytes of one side, or the end of a connection."""
        for moment, frame, comment in self._made.of(_segment(passed)):
            self.packets += 1
            if self._file is not None:
                self._write(pcapng.packet(moment + self._epoch, frame, comment))
            if self._reading is not None and passed.side == "server":
                packet = Packet(self.packets, moment + self._epoch, _ETHERNET, frame, len(frame))
                self._reading.take(packet)

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        if self._left is not None:
            if self._left < len(data):
                self._left = 0  # no gaps: nothing more is written
                return
            self._left -= len(data)
        try:
            self._file.write(data)
        except OSError as error:  # a full disk ends the capture, not the proxy
            self._file = None
            self._fail(f"the capture ends here: {error.strerror}")

    def close(self) -> None:
        """Nothing more comes."""
        if self._reading is not None:
            self._reading.finish()
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._fail(f"the capture is not complete: {error.strerror}")


def _segment(passed: Passed) -> Segment:
    """As the client of the connection sees it: the proxy is the server of its clients, and a client of the server."""
    is_client = passed.side == "server"
    here, there = _text(passed.local), _text(passed.peer)
    return Segment(
        passed.at,
        passed.sent == is_client,
        passed.data,
        there if is_client else here,
        passed.transport,
        here if is_client else there,
        passed.connection,
        "closed" if passed.ended else "",
    )


def _text(address: Address) -> str:
    host, port = address
    host = host.partition("%")[0]  # a scope has no place in an IPv6 header
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
