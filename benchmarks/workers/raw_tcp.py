# SPDX-License-Identifier: MIT
"""Plain TCP in Python, the floor under any Python client: echo, receive and send over a blocking socket."""

from __future__ import annotations

import functools
import socket

from benchmarks.workers.common import Order, Run, Tally, clock, repeat, serve, setting

MESSAGE = bytes(120)
"""About as long as a GETATTR call and its reply."""


@functools.cache
def connection(service: str) -> socket.socket:
    """The one connection to a service."""
    connected = socket.create_connection(("127.0.0.1", int(setting(f"{service}_PORT"))), timeout=None)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connected


def echo(order: Order) -> Run:
    """`window` messages there and back: each burst that came back is sent again with one call."""
    sock, buffer = connection("ECHO"), bytearray(1 << 16)
    length = len(MESSAGE)

    def run(deadline: float) -> Tally:
        tally = Tally()
        sock.sendall(MESSAGE * order.window)
        outstanding, partial = order.window, 0
        while outstanding:
            whole, partial = divmod(partial + sock.recv_into(buffer), length)
            tally.operations += whole
            if clock() < deadline:
                sock.sendall(MESSAGE * whole)
            else:
                outstanding -= whole
        return tally

    return run


def receive(order: Order) -> Run:
    """Blocks of `size` bytes into one buffer."""
    sock, buffer = connection("SOURCE"), bytearray(order.size)

    def step(tally: Tally) -> None:
        tally.bytes += sock.recv_into(buffer, order.size, socket.MSG_WAITALL)
        tally.operations += 1

    return repeat(step)


def send(order: Order) -> Run:
    sock, block = connection("SINK"), bytes(order.size)

    def step(tally: Tally) -> None:
        sock.sendall(block)
        tally.bytes += len(block)
        tally.operations += 1

    return repeat(step)


if __name__ == "__main__":
    serve({"getattr": echo, "read": receive, "write": send})
