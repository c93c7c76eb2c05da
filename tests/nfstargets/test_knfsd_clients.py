# SPDX-License-Identifier: MIT
"""What the kernel says of its NFSv4 clients, read as values."""

from __future__ import annotations

from nfstargets.knfsd.clients import client_of
from nfstargets.states import HeldState

INFO = """\
clientid: 0x3bffe81e6b03c1bf
address: "192.0.2.1:730"
status: confirmed
seconds from last renew: 1
name: "Linux NFSv4.1 \\"box\\"\\012two"
minor version: 1
Implementation domain: "kernel.org"
Implementation name: "Linux 6.1: x"
Implementation time: [0, 0]
callback state: UP
callback address: 192.0.2.1:0
"""
STATES = """\
- 0x00000001bfc1036b1ee8ff3b01000000: { type: open, access: rw, deny: -w, superblock: "62:30:12", filename: "a, b: }", \
owner: "open id:\\000\\001" }
- 0x00000001bfc1036b1ee8ff3b02000000: { type: deleg, access: r, superblock: "62:30:12", filename: "f" }
"""


def test_a_client_and_what_it_holds() -> None:
    client = client_of(INFO, STATES)
    assert (client.id, client.address, client.status) == ("3bffe81e6b03c1bf", "192.0.2.1:730", "confirmed")
    assert client.name == 'Linux NFSv4.1 "box"\ntwo'
    assert (client.minor_version, client.seconds_since_renewal, client.callback_state) == (1, 1, "UP")
    assert client.held == (
        HeldState(
            kind="open",
            stateid="00000001bfc1036b1ee8ff3b01000000",
            access="rw",
            deny="w",
            file="a, b: }",
            owner="open id:\0\1",
        ),
        HeldState(kind="deleg", stateid="00000001bfc1036b1ee8ff3b02000000", access="r", file="f"),
    )


def test_what_it_does_not_say_is_empty() -> None:
    client = client_of("", "")
    assert (client.id, client.status, client.minor_version, client.held) == ("", "", 0, ())
    assert client.seconds_since_renewal is None
