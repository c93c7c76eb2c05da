# SPDX-License-Identifier: MIT
"""The doctor names what a server demands that nfsproof does not give, and that a server is slow."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.mount import MNT3, Mnt3Res, Mountres3Ok, MountStat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfstargets.diagnosis import Diagnosis, Outcome, diagnose
from nfstargets.diagnosis.security import may_be_security, named
from tests.nfstargets.partial_server import MOUNT, Messages, refuses_flavor, wants_tls, word

KRB5 = [390003, 390004]


class Clinic:
    """A loop with one server on it, and a clock that the test may move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.loop = Loop(self.clock)
        self.server = Server(seed=1)
        self.server.listen(self.loop)
        self.port = self.server.port

    def clock(self) -> float:
        """Each look at it takes a moment, so that nothing waits for ever."""
        self.now += 1e-4
        return self.now

    def diagnose(self, path: str = "/export", more: str = "") -> Diagnosis:
        url = f"nfs://127.0.0.1{path}?nfsport={self.port}&mountport={self.port}&uid=0&gid=0{more}"
        return diagnose(url, loop=self.loop)


@pytest.fixture
def clinic() -> Iterator[Clinic]:
    made = Clinic()
    yield made
    made.server.close()
    made.loop.close()


# ---------------------------------------------------------------- TLS


def test_a_server_that_wants_tls_is_named(clinic: Clinic) -> None:
    clinic.server.surround(wants_tls(100003, MOUNT))
    found = clinic.diagnose()
    assert "refuses calls without TLS" in found.step("NFS").seen
    assert "xprtsec=none" in found.step("NFS").advice
    for step in found.steps:
        assert "export rules" not in step.advice


def test_an_export_that_wants_tls_is_named(clinic: Clinic) -> None:
    """NULL is answered, and MNT is not."""
    clinic.server.surround(wants_tls(MOUNT))
    found = clinic.diagnose()
    assert found.step("NFS").outcome is Outcome.OK
    assert "TLS" in found.render_failures()


def test_tls_is_named_by_version_4_as_well(clinic: Clinic) -> None:
    clinic.server.surround(wants_tls(100003))
    found = clinic.diagnose(more="&version=4.1")
    assert "refuses calls without TLS" in found.step("NFS").seen


def test_tls_is_not_named_where_it_is_not_offered(clinic: Clinic) -> None:
    found = clinic.diagnose("/other")
    assert not found.healthy
    assert "TLS" not in found.render()
    assert "use one of these" in found.step("export").advice


# ---------------------------------------------------------------- Kerberos


def lists_krb5(server: Server) -> None:
    def mnt(_server: object, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        handle = proceed(context, args).resok.fhandle
        return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(handle, KRB5))

    server.interpose(MNT3, mnt)


def test_an_export_for_kerberos_only_is_named(clinic: Clinic) -> None:
    lists_krb5(clinic.server)
    clinic.server.surround(refuses_flavor(100003))
    found = clinic.diagnose()
    assert "MNT lists only the flavors krb5, krb5i" in found.step("export").seen
    assert "the server wants krb5, krb5i" in found.step("path").seen
    assert "AUTH_SYS (sec=sys)" in found.step("path").advice


def test_a_list_of_flavors_that_the_server_does_not_follow_is_no_failure(clinic: Clinic) -> None:
    lists_krb5(clinic.server)
    found = clinic.diagnose()
    assert found.healthy, found.render()
    assert "krb5" in found.step("export").seen


def test_wrongsec_is_named(clinic: Clinic) -> None:
    services = (p.RpcGssSvcT.RPC_GSS_SVC_NONE, p.RpcGssSvcT.RPC_GSS_SVC_PRIVACY)
    wanted = [p.Secinfo4(6, p.RpcsecGssInfo(b"\x2a", 0, service)) for service in services]
    clinic.server.interpose(p.LOOKUP, lambda *_: p.Lookup4Res(Nfsstat4.NFS4ERR_WRONGSEC))
    clinic.server.interpose(p.SECINFO, lambda *_: p.Secinfo4Res(Nfsstat4.NFS4_OK, wanted))
    step = clinic.diagnose(more="&version=4.1").step("path")
    assert "NFS4ERR_WRONGSEC" in step.seen
    assert "the server wants krb5, krb5p" in step.seen
    assert "AUTH_SYS (sec=sys)" in step.advice


def test_flavors_without_a_name_are_numbers() -> None:
    assert named((1, 390005, 77)) == "AUTH_SYS, krb5p, flavor 77"


# ---------------------------------------------------------------- slow servers


def slow(clinic: Clinic, seconds: float) -> None:
    """Each call takes the server so long, by the clock of the loop."""

    def answer(message: bytes, proceed: t.Any) -> t.Any:
        clinic.now += seconds if word(message, 12) != 100000 else 0.0
        return proceed(message)

    clinic.server.surround(Messages(answer))


@pytest.mark.parametrize("more", ["", "&version=4.2"])
def test_a_slow_server_is_named_and_all_steps_have_their_time(clinic: Clinic, more: str) -> None:
    slow(clinic, 2.0)
    found = clinic.diagnose(more=more)
    assert found.healthy, found.render()
    assert "slow: NULL is answered after 2.0 s" in found.step("RPC version").seen
    assert found.step("root squash").seen == "root stays root"


def test_a_quick_server_is_not_called_slow(clinic: Clinic) -> None:
    assert clinic.diagnose().step("RPC version").seen == "RPC version 2"


@pytest.mark.parametrize(
    ("refusal", "may"),
    [
        ("MNT3ERR_ACCES from MNT", True),
        ("expected /x, saw NFS4ERR_WRONGSEC from LOOKUP", True),
        ("NFS3ERR_PERM from GETATTR", True),
        ("expected /x in the name space of the server, saw NFS4ERR_NOENT from LOOKUP", False),
        ("MNT3ERR_NOTDIR from MNT", False),
    ],
)
def test_a_path_that_is_not_there_has_nothing_to_do_with_tls(refusal: str, *, may: bool) -> None:
    assert may_be_security(refusal) is may
