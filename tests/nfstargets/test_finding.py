# SPDX-License-Identifier: MIT
"""What a URL leaves open is found: ports without rpcbind, and the version where there is no NFSv3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from nfsclient.discovery import Ports, PortUnknown, find_ports
from nfsclient.errors import MountFailed, ProgMismatch
from nfsclient.protocol import mount, nfs3
from nfsclient.protocol.portmap import DUMP, GETPORT, IPPROTO_TCP, GetportRes, Mapping, Pmaplist
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfsproof.proxying.running import CannotProxy, upstream_of
from nfsserver import Server
from nfstargets import finding
from nfstargets.diagnosis import diagnose
from nfstargets.finding import Found, find_services, no_nfs3, says_version
from tests.nfstargets.partial_server import Messages, only, refusing


class Place:
    """A loop with servers on it."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.servers: list[Server] = []

    def serve(self, *around: Messages, host: str = "127.0.0.1") -> int:
        """The port of a new server."""
        server = Server(seed=1)
        for call in around:
            server.surround(call)
        server.listen(self.loop, host)
        self.servers.append(server)
        return server.port

    def find(self, text: str, *, timeout: float = 5.0) -> Found:
        return find_services(
            NfsUrl.parse(text), may_choose=not says_version(text), loop=self.loop, timeout=timeout
        )


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """No rpcbind at its usual port: one of this machine is not asked."""
    monkeypatch.setattr("nfsclient.protocol.portmap.PORT", 1)
    made = Place()
    yield made
    for server in made.servers:
        server.close()
    made.loop.close()


# ---------------------------------------------------------------- ports


def test_nfs_and_mount_at_the_port_of_the_url(place: Place) -> None:
    port = place.serve()
    found = place.find(f"nfs://127.0.0.1:{port}/export")
    assert (found.url.nfs_port, found.url.mountport, found.url.version) == (port, port, 3)
    assert (found.rpcbind_port, found.remark) == (None, "")


def test_the_library_takes_the_port_of_the_url_for_mount_as_well(place: Place) -> None:
    port = place.serve()
    url = NfsUrl.parse(f"nfs://127.0.0.1:{port}/export")
    assert find_ports(url, loop=place.loop) == Ports(port, port)
    other = place.serve(only(3, mount=False))
    with pytest.raises(PortUnknown, match="say the port of MOUNT in the URL"):
        find_ports(replace(url, port=other), loop=place.loop)


def test_ports_of_rpcbind(place: Place) -> None:
    port = place.serve()
    found = place.find(f"nfs://127.0.0.1/export?rpcbindport={port}")
    assert (found.url.nfs_port, found.url.mountport, found.rpcbind_port) == (port, port, port)


def test_a_port_of_the_url_counts_more_than_rpcbind_of_another_server(place: Place) -> None:
    registry, port = place.serve(), place.serve()
    found = place.find(f"nfs://127.0.0.1:{port}/export?rpcbindport={registry}")
    assert (found.url.nfs_port, found.url.mountport) == (port, port)


def test_an_rpcbind_that_lists_another_server_is_not_judged(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry, port = place.serve(), place.serve()
    monkeypatch.setattr("nfsclient.protocol.portmap.PORT", registry)
    assert place.find(f"nfs://127.0.0.1:{port}/export").rpcbind_port is None
    assert place.find(f"nfs://127.0.0.1:{registry}/export").rpcbind_port == registry


def test_mount_from_rpcbind_where_it_is_not_at_the_port_of_nfs(place: Place) -> None:
    registry, port = place.serve(), place.serve(only(3, mount=False))
    found = place.find(f"nfs://127.0.0.1:{port}/export?rpcbindport={registry}")
    assert (found.url.nfs_port, found.url.mountport) == (port, registry)


def test_rpcbind_lists_nfs_only_and_mount_is_at_the_same_port(place: Place) -> None:
    port = place.serve()
    place.servers[0].interpose(
        GETPORT,
        lambda _server, context, args, proceed: (
            GetportRes(0) if args.prog == mount.PROGRAM else proceed(context, args)
        ),
    )
    found = place.find(f"nfs://127.0.0.1/export?rpcbindport={port}")
    assert (found.url.nfs_port, found.url.mountport, found.rpcbind_port) == (port, port, port)


def test_without_rpcbind_the_usual_ports_are_tried(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    nfs, mnt = place.serve(only(3, mount=False)), place.serve()
    monkeypatch.setattr(finding, "NFS_PORT", nfs)
    monkeypatch.setattr(finding, "MOUNT_PORT", mnt)
    found = place.find("nfs://127.0.0.1/export")
    assert (found.url.nfs_port, found.url.mountport, found.rpcbind_port) == (nfs, mnt, None)


def test_what_cannot_be_found_is_an_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    port = place.serve(only(3, mount=False))
    monkeypatch.setattr(finding, "MOUNT_PORT", 1)
    with pytest.raises(PortUnknown, match="MOUNT"):
        place.find(f"nfs://127.0.0.1:{port}/export")
    with pytest.raises(MountFailed, match="NFS version 3 at port 1"):
        place.find("nfs://127.0.0.1:1/export")


# ---------------------------------------------------------------- versions


def test_a_server_of_version_4_only_is_tested_with_that(place: Place) -> None:
    port = place.serve(only(4, mount=False))
    found = place.find(f"nfs://127.0.0.1:{port}/export")
    assert (found.url.version, found.url.minor, found.url.nfs_port) == (4, None, port)
    assert found.remark == no_nfs3((1, 2))
    assert "NFSv4.1 and NFSv4.2" in found.remark


# A server that refuses NFSv3 by mistake must not end green because it is tested with another version.


@pytest.mark.parametrize("low", [2, 3])
def test_a_server_that_refuses_a_version_in_its_range_is_not_tested_without_it(
    place: Place, low: int
) -> None:
    port = place.serve(refusing(3, low=low, high=4))
    with pytest.raises(MountFailed, match=f"{low} to 4 as the versions that it has.*version=4.1") as caught:
        place.find(f"nfs://127.0.0.1:{port}/export")
    assert f"NFS version 3 at port {port}" in str(caught.value)


@pytest.mark.parametrize(("has", "advice"), [(4, "version=4.1"), (2, "version=2")])
def test_a_server_whose_rpcbind_lists_version_3_is_not_tested_without_it(
    place: Place, monkeypatch: pytest.MonkeyPatch, has: int, advice: str
) -> None:
    port = place.serve(only(has))
    expected = f"rpcbind at port {port} lists NFS version 3 at port {port}.*{advice}"
    for url in (f"nfs://127.0.0.1/export?rpcbindport={port}", f"nfs://127.0.0.1:{port}/export"):
        monkeypatch.setattr("nfsclient.protocol.portmap.PORT", port)
        with pytest.raises(MountFailed, match=expected):
            place.find(url)


def test_rpcbind_lists_version_3_over_ipv6(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the port mapper, which has IPv4 only, lists nothing."""
    port = place.serve(only(4), host="::1")
    place.servers[0].interpose(DUMP, lambda *_: Pmaplist([]))
    monkeypatch.setattr("nfsclient.protocol.portmap.PORT", port)
    with pytest.raises(MountFailed, match="lists NFS version 3"):
        place.find(f"nfs://[::1]:{port}/export")


def test_what_the_user_says_is_tested_in_spite_of_a_contradiction(place: Place) -> None:
    port = place.serve(refusing(3, low=2, high=4))
    assert place.find(f"nfs://127.0.0.1:{port}/export?version=4.1").url.version == 4
    assert place.find(f"nfs://127.0.0.1:{port}/export?version=2").url.version == 2


# What right servers of NFSv4 only do.


def test_a_mountd_that_still_answers_is_no_contradiction(place: Place) -> None:
    port = place.serve(only(4, mount=True, portmap=False))
    assert place.find(f"nfs://127.0.0.1:{port}/export?mountport={port}").url.version == 4


def test_another_server_of_the_host_is_no_contradiction(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, port = place.serve(), place.serve(only(4, mount=False))
    monkeypatch.setattr("nfsclient.protocol.portmap.PORT", other)
    assert place.find(f"nfs://127.0.0.1:{port}/export").url.version == 4


def test_rpcbind_that_gives_the_port_of_another_version_is_no_contradiction(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rpcbind of Linux answers GETPORT of a version that it does not list with the port of one that it lists."""
    port = place.serve(only(4))
    place.servers[0].interpose(GETPORT, lambda *_: GetportRes(port))
    place.servers[0].interpose(DUMP, lambda *_: Pmaplist([Mapping(nfs3.PROGRAM, 4, IPPROTO_TCP, port)]))
    monkeypatch.setattr("nfsclient.protocol.portmap.PORT", port)
    found = place.find("nfs://127.0.0.1/export")
    assert (found.url.version, found.url.nfs_port) == (4, port)


@pytest.mark.parametrize("version", ["3", "2"])
def test_a_version_of_the_user_stays(place: Place, version: str) -> None:
    port = place.serve(only(4, mount=False))
    with pytest.raises(MountFailed, match=f"NFS version {version} at port {port}"):
        place.find(f"nfs://127.0.0.1:{port}/export?version={version}")


def test_a_server_of_version_2_only_is_tested_with_that(place: Place) -> None:
    port = place.serve(only(2))
    found = place.find(f"nfs://127.0.0.1:{port}/export")
    assert (found.url.version, found.url.mountport) == (2, port)
    assert "NFSv2" in found.remark


def test_silence_does_not_change_the_version(place: Place) -> None:
    """It may be any fault of the server: only what the server says itself counts."""
    silent_in_3 = Messages(
        lambda message, proceed: None if message[16:20] == (3).to_bytes(4, "big") else proceed(message)
    )
    port = place.serve(silent_in_3)
    with pytest.raises(MountFailed):
        place.find(f"nfs://127.0.0.1:{port}/export", timeout=0.3)


def test_version_4_is_not_tried_over_udp(place: Place) -> None:
    port = place.serve(only(4, mount=False))
    with pytest.raises(MountFailed) as caught:
        place.find(f"nfs://127.0.0.1:{port}/export?proto=udp")
    assert ProgMismatch.__name__ not in str(caught.value)
    assert "versions 4 to 4" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [("nfs://h/x", False), ("nfs://h/x?uid=0", False), ("nfs://h/x?uid=0&version=3", True)],
)
def test_whether_a_url_says_a_version(text: str, says: bool) -> None:
    assert says_version(text) is says


def test_the_library_names_the_version_of_a_server_of_version_4_only(place: Place) -> None:
    port = place.serve(only(4, mount=False))
    url = NfsUrl.parse(f"nfs://127.0.0.1:{port}/export")
    with pytest.raises(PortUnknown, match=rf"port {port}, saw NFSv4 only; say \?version=4.1 in the URL"):
        find_ports(url, loop=place.loop)


# ---------------------------------------------------------------- proxy and replay find the same


def test_a_proxy_finds_what_a_run_finds(place: Place) -> None:
    port = place.serve()
    found = upstream_of(f"nfs://127.0.0.1:{port}/export", loop=place.loop)
    assert (found.nfs_port, found.mount_port) == (port, port)
    newer = place.serve(only(4, mount=False))
    alone = upstream_of(f"nfs://127.0.0.1:{newer}/mem", loop=place.loop)
    assert (alone.nfs_port, alone.mount_port) == (newer, None)
    assert alone.url is not None
    assert alone.url.version == 4


def test_a_proxy_names_the_port_of_the_url_at_which_nothing_listens(place: Place) -> None:
    with pytest.raises(CannotProxy) as caught:
        upstream_of("nfs://127.0.0.1:1/export", loop=place.loop)
    assert "port 1" in str(caught.value)
    assert "refused" in str(caught.value)
    assert "rpcbind" not in str(caught.value)


# ---------------------------------------------------------------- the doctor finds the same


def test_the_doctor_finds_what_a_run_finds(place: Place) -> None:
    port = place.serve()
    found = diagnose(f"nfs://127.0.0.1:{port}/export?uid=0&gid=0", loop=place.loop)
    assert found.healthy, found.render()
    assert f"MOUNT answers at port {port} as well" in found.step("rpcbind").seen


def test_the_doctor_goes_on_with_version_4(place: Place) -> None:
    port = place.serve(only(4, mount=False))
    url = f"nfs://127.0.0.1:{port}/export"
    found = diagnose(f"{url}?uid=0&gid=0", loop=place.loop)
    assert found.healthy, found.render()
    assert found.step("version").seen == no_nfs3((1, 2))
    assert found.step("session").seen == "NFSv4.2 gives one"
    asked = diagnose(f"{url}?version=3", loop=place.loop)
    assert "version=4.1 in the URL" in asked.step("NFS").advice


def test_the_doctor_sees_the_contradiction(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    port = place.serve(refusing(3, low=2, high=4))
    found = diagnose(f"nfs://127.0.0.1:{port}/export", loop=place.loop)
    assert not found.healthy
    assert "is refused, but its answer (PROG_MISMATCH) gives 2 to 4" in found.step("NFS").seen
    assert "version=4.1 in the URL" in found.step("NFS").advice
    listed = place.serve(only(4))
    monkeypatch.setattr("nfsclient.protocol.portmap.PORT", listed)
    found = diagnose(f"nfs://127.0.0.1:{listed}/export", loop=place.loop)
    assert not found.healthy
    assert f"lists NFS version 3 at port {listed}" in found.step("NFS").seen


def test_the_advice_is_a_line_to_paste(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    port = place.serve(only(3, 4, mount=False))
    monkeypatch.setattr("nfstargets.diagnosis.examination.MOUNT_PORT", 1)
    advice = diagnose(f"nfs://127.0.0.1:{port}/export", loop=place.loop).step("rpcbind").advice
    assert f"'nfs://127.0.0.1/export?nfsport={port}&mountport=PORT'" in advice
    assert f"'nfs://127.0.0.1/export?version=4&nfsport={port}'" in advice
