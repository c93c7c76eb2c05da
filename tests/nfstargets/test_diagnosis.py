# SPDX-License-Identifier: MIT
"""The diagnosis against the embedded server, on one loop with it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import nfsclient
from nfsclient import connect
from nfsclient.discovery import as_url
from nfsclient.errors import UrlError
from nfsclient.protocol import mount, nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.portmap import GETPORT, GetportRes
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.messages import AcceptStat, AuthStat, MismatchInfo, accepted, denied
from nfsclient.rpc.program import Program
from nfsclient.rpc.server import RpcServer
from nfsclient.rpc.service import CallContext, Dispatcher, Refused
from nfsclient.rpc.sockets import Address
from nfsclient.url import NfsUrl
from nfsclient.xdr import Buffer
from nfsserver import Server
from nfsserver.handlers import ServerApi
from nfstargets.diagnosis import Diagnosis, Outcome, diagnose, examination
from nfstargets.diagnosis.report import Step
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]

OK, FAILED, NOT_TRIED = Outcome.OK, Outcome.FAILED, Outcome.NOT_TRIED
PATIENCE = 3.0


class Clinic:
    """A loop, and the servers on it."""

    def __init__(self) -> None:
        self.loop = Loop()
        self._closers: list[Callable[[], None]] = []

    def server(self, **options: t.Any) -> Server:
        server = Server(**options)
        server.listen(self.loop)
        self._closers.append(server.close)
        return server

    def answerer(self, answerer: t.Any) -> int:
        """The port of something that answers RPC in its own way."""
        server = RpcServer(self.loop, answerer)
        self._closers.append(server.close)
        return server.listen_tcp()[1]

    def diagnose(self, url: str) -> Diagnosis:
        return diagnose(url, loop=self.loop, patience=PATIENCE)

    def close(self) -> None:
        for close in self._closers:
            close()
        self.loop.close()


@pytest.fixture
def clinic() -> Iterator[Clinic]:
    clinic = Clinic()
    yield clinic
    clinic.close()


URLS = [
    *(
        "",
        "&proto=udp",
        "&version=2",
        "&version=2&proto=udp",
        "&version=3",
        "&rsize=512&wsize=1024",
        "&secure=0",
    ),
    *(
        "&uid=1000&gid=1000",
        "&debug=1&timeo=5",
        "&rpcbindport={port}",
        "&sec=sys&xprtsec=none",
        "&delegations=1",
    ),
]
"""A parameter of each kind."""


@pytest.mark.parametrize("more", URLS)
def test_every_url_that_a_run_takes_can_be_examined(clinic: Clinic, more: str) -> None:
    server = clinic.server()
    url = f"nfs://127.0.0.1/export?nfsport={server.port}&mountport={server.port}{more}".replace(
        "{port}", str(server.port)
    )
    as_url(url, (2, 3))  # what `run` does first
    diagnosis = clinic.diagnose(url)
    assert diagnosis.healthy, diagnosis.render()
    assert {step.outcome for step in diagnosis.steps if step.name in {"NFS", "MOUNT", "export"}} == {OK}


def test_every_parameter_of_urls_is_tried_above() -> None:
    tried = {name for more in URLS for name in re.findall(r"&(\w+)=", more)}
    with pytest.raises(UrlError) as caught:
        NfsUrl.parse("nfs://h/?what=1")
    known = str(caught.value).partition("parameters ")[2].partition(", saw")[0].split(", ")
    assert set(known) - {"nfsport", "mountport"} <= tried


def url_of(server: Server, path: str = "/export", more: str = "") -> str:
    return f"nfs://127.0.0.1{path}?nfsport={server.port}&mountport={server.port}&uid=0&gid=0{more}"


def failed(diagnosis: Diagnosis) -> list[str]:
    return [step.name for step in diagnosis.steps if step.outcome is FAILED]


class Fixed:
    """Answers each call in the same way."""

    def __init__(self, answer: Callable[[int], list[Buffer] | None]) -> None:
        self._answer = answer

    def answer(
        self, message: bytes, peer: Address, transport: t.Literal["tcp", "udp"], channel: object = None
    ) -> list[Buffer] | None:
        return self._answer(int.from_bytes(message[:4], "big"))


# ---------------------------------------------------------------- a healthy server


def test_a_healthy_server_is_healthy_and_left_as_it_was(clinic: Clinic) -> None:
    server = clinic.server()
    diagnosis = clinic.diagnose(url_of(server))
    assert diagnosis.healthy, diagnosis.render()
    assert diagnosis.render().endswith("The server can be tested.")
    assert {step.name for step in diagnosis.steps if step.outcome is NOT_TRIED} == {"rpcbind"}
    with connect(url_of(server), loop=clinic.loop) as nfs:
        assert list(nfs.listdir("/")) == []


def test_over_udp(clinic: Clinic) -> None:
    assert clinic.diagnose(url_of(clinic.server(), more="&proto=udp")).healthy


def test_ports_come_from_rpcbind(clinic: Clinic) -> None:
    server = clinic.server()
    diagnosis = clinic.diagnose(f"nfs://127.0.0.1/export?rpcbindport={server.port}")
    assert diagnosis.step("rpcbind").outcome is OK, diagnosis.render()
    assert f"NFS at port {server.port} and MOUNT at port {server.port}" in diagnosis.step("rpcbind").seen
    assert diagnosis.healthy


def test_root_stays_root(clinic: Clinic) -> None:
    assert clinic.diagnose(url_of(clinic.server())).step("root squash").seen == "root stays root"


def test_root_is_squashed(clinic: Clinic) -> None:
    server = clinic.server(root_squash=True)
    server.fs.root.mode = 0o777
    step = clinic.diagnose(url_of(server)).step("root squash")
    assert step.outcome is OK
    assert step.seen.startswith("root is squashed to uid ")
    assert "no_root_squash" in step.advice


def test_root_is_squashed_and_may_not_write(clinic: Clinic) -> None:
    server = clinic.server(root_squash=True)
    server.fs.root.mode = 0o755
    diagnosis = clinic.diagnose(url_of(server))
    assert failed(diagnosis) == ["write access", "root squash"], diagnosis.render()
    assert "root is squashed" in diagnosis.step("root squash").seen


# ---------------------------------------------------------------- what is in the way


def test_an_unknown_export_shows_the_list(clinic: Clinic) -> None:
    diagnosis = clinic.diagnose(url_of(clinic.server(exports=("/one", "/two")), "/three"))
    assert failed(diagnosis) == ["export"]
    assert "/three is refused" in diagnosis.step("export").seen
    assert "exported: /one, /two" in diagnosis.step("export").seen


def test_a_path_that_ends_inside_the_export(clinic: Clinic) -> None:
    diagnosis = clinic.diagnose(url_of(clinic.server(), "/export/no/where"))
    assert failed(diagnosis) == ["path"]
    assert "NFS3ERR_NOENT" in diagnosis.step("path").seen


@pytest.mark.parametrize("more", ["", "&version=2", "&version=4.1"])
def test_a_path_that_ends_at_a_file(clinic: Clinic, more: str) -> None:
    server = clinic.server()
    with nfsclient.connect(url_of(server), loop=clinic.loop) as nfs:
        nfs.write_file("f", b"")
    diagnosis = clinic.diagnose(url_of(server, "/export/f", more))
    assert "path" in failed(diagnosis)
    assert diagnosis.step("path").seen == "/export/f is of type REGULAR"
    assert diagnosis.step("path").advice == "use the path of a directory"


def test_a_user_who_may_not_write(clinic: Clinic) -> None:
    server = clinic.server()
    server.fs.root.mode = 0o755
    url = url_of(server).replace("uid=0&gid=0", "uid=4711&gid=4711")
    diagnosis = clinic.diagnose(url)
    assert failed(diagnosis) == ["write access"]
    assert "user 4711 cannot write: MKDIR answers NFS3ERR_ACCES" in diagnosis.step("write access").seen
    assert "uid=" in diagnosis.step("write access").advice


def test_a_read_only_export(clinic: Clinic) -> None:
    server = clinic.server()
    refusal = nfs3.Mkdir3Res(Nfsstat3.NFS3ERR_ROFS, resfail=nfs3.Mkdir3ResFail(nfs3.WccData()))
    server.interpose(nfs3.MKDIR, lambda *_: refusal)
    diagnosis = clinic.diagnose(url_of(server))
    assert failed(diagnosis) == ["write access"]
    assert "read-write" in diagnosis.step("write access").advice


def test_what_cannot_be_removed_again_is_reported(clinic: Clinic) -> None:
    server = clinic.server()
    refusal = nfs3.Rmdir3Res(Nfsstat3.NFS3ERR_ACCES, resfail=nfs3.Rmdir3ResFail(nfs3.WccData()))
    server.interpose(nfs3.RMDIR, lambda *_: refusal)
    diagnosis = clinic.diagnose(url_of(server))
    assert failed(diagnosis) == ["cleaning up"]
    assert ".nfsproof-doctor-" in diagnosis.step("cleaning up").seen


def test_a_server_without_mkdir_gives_a_typed_refusal(clinic: Clinic) -> None:
    server = clinic.server()

    def refuse(*_: t.Any) -> t.NoReturn:
        raise Refused(accept_stat=AcceptStat.PROC_UNAVAIL)

    server.interpose(nfs3.MKDIR, refuse)
    assert failed(clinic.diagnose(url_of(server))) == ["write access"]


def test_nfs_and_mount_exchanged(clinic: Clinic) -> None:
    nfs, mnt = Dispatcher(), Dispatcher()
    nfs.register(nfs3.NFS3, {})
    mnt.register(mount.MOUNT3, {})
    url = f"nfs://127.0.0.1/x?nfsport={clinic.answerer(mnt)}&mountport={clinic.answerer(nfs)}"
    diagnosis = clinic.diagnose(url)
    assert failed(diagnosis) == ["NFS", "MOUNT"]
    assert "swap" in diagnosis.step("NFS").advice


def test_a_server_of_version_4_only(clinic: Clinic) -> None:
    dispatcher = Dispatcher()
    dispatcher.register(Program(nfs3.NFS3.number, 4, "NFS", (nfs3.NULL,)), {})
    port = clinic.answerer(dispatcher)
    diagnosis = clinic.diagnose(f"nfs://127.0.0.1/x?nfsport={port}&mountport={port}")
    assert "NFS has version 4 only" in diagnosis.step("NFS").seen
    assert "version=4.1 in the URL" in diagnosis.step("NFS").advice
    assert "NFS" in failed(diagnosis)


def test_mount_of_version_1_only(clinic: Clinic) -> None:
    dispatcher = Dispatcher()
    dispatcher.register(nfs3.NFS3, {})
    dispatcher.register(mount.MOUNT1, {})
    port = clinic.answerer(dispatcher)
    diagnosis = clinic.diagnose(f"nfs://127.0.0.1/x?nfsport={port}&mountport={port}")
    assert failed(diagnosis) == ["MOUNT"]
    assert "it offers 1 to 1" in diagnosis.step("MOUNT").seen


def test_another_version_of_rpc(clinic: Clinic) -> None:
    port = clinic.answerer(Fixed(lambda xid: denied(xid, mismatch=MismatchInfo(3, 4)).to_buffers()))
    diagnosis = clinic.diagnose(f"nfs://127.0.0.1/x?nfsport={port}&mountport={port}")
    assert diagnosis.step("RPC version").outcome is FAILED
    assert "3 to 4" in diagnosis.step("RPC version").seen


def test_a_version_range_that_contains_3(clinic: Clinic) -> None:
    answer = Fixed(lambda xid: accepted(xid, AcceptStat.PROG_MISMATCH, MismatchInfo(2, 4)).to_buffers())
    port = clinic.answerer(answer)
    diagnosis = clinic.diagnose(f"nfs://127.0.0.1/x?nfsport={port}&mountport={port}")
    assert "gives 2 to 4 as the versions" in diagnosis.step("NFS").seen


def test_rpcbind_without_mount_still_finds_nfs(clinic: Clinic) -> None:
    server = clinic.server()

    def hide_mount(_server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        return GetportRes(0) if args.prog == mount.PROGRAM else proceed(context, args)

    server.interpose(GETPORT, hide_mount)
    diagnosis = clinic.diagnose(f"nfs://127.0.0.1/export?rpcbindport={server.port}&uid=0&gid=0")
    assert diagnosis.healthy, diagnosis.render()
    # MOUNT is at the port of NFS, and a run finds it there as well.
    assert "MOUNT version 3 over tcp to be registered" in diagnosis.step("rpcbind").seen
    assert f"MOUNT at port {server.port}" in diagnosis.step("rpcbind").seen


# ---------------------------------------------------------------- privileged ports


def only_below_1024(server: Server, *procedures: t.Any) -> None:
    def guard(_server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        if context.peer[1] >= 1024:
            raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
        return proceed(context, args)

    for procedure in procedures:
        server.interpose(procedure, guard)


def mnt_below_1024(server: Server) -> None:
    def guard(_server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        if context.peer[1] >= 1024:
            return mount.Mnt3Res(mount.MountStat3.MNT3ERR_ACCES)
        return proceed(context, args)

    server.interpose(mount.MNT3, guard)


def getattr_below_1024(server: Server) -> None:
    def guard(_server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        if context.peer[1] >= 1024:
            return nfs3.Getattr3Res(Nfsstat3.NFS3ERR_PERM)
        return proceed(context, args)

    server.interpose(nfs3.GETATTR, guard)


RULES: dict[str, Callable[[Server], None]] = {
    "AUTH_ERROR for NULL": lambda server: only_below_1024(server, nfs3.NULL, mount.NULL3, mount.MNT3),
    "AUTH_ERROR for MNT": lambda server: only_below_1024(server, mount.MNT3),
    "ACCES for MNT": mnt_below_1024,
    "PERM for GETATTR": getattr_below_1024,
}


@pytest.mark.skipif(os.geteuid() != 0, reason="ports below 1024 need root")
@pytest.mark.parametrize("rule", RULES)
def test_a_server_that_wants_privileged_ports(clinic: Clinic, rule: str) -> None:
    server = clinic.server()
    RULES[rule](server)
    diagnosis = clinic.diagnose(url_of(server))
    assert failed(diagnosis) == ["privileged port"], diagnosis.render()
    assert "secure=1" in diagnosis.step("privileged port").advice
    assert diagnosis.step("write access").outcome is OK
    assert clinic.diagnose(url_of(server, more="&secure=1")).healthy


@pytest.mark.parametrize("rule", RULES)
def test_without_privilege_it_says_what_could_not_be_tried(
    clinic: Clinic, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "may_bind_below_1024", lambda: False)
    server = clinic.server()
    RULES[rule](server)
    diagnosis = clinic.diagnose(url_of(server))
    assert not diagnosis.healthy
    step = diagnosis.step("privileged port")
    assert step.outcome is NOT_TRIED
    assert "run this as root" in step.seen


def test_secure_without_privilege(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "may_bind_below_1024", lambda: False)
    diagnosis = clinic.diagnose(url_of(clinic.server(), more="&secure=1"))
    assert failed(diagnosis) == ["privileged port"]


def test_a_refusal_that_has_nothing_to_do_with_the_port(clinic: Clinic) -> None:
    server = clinic.server()

    def refuse(*_: t.Any) -> t.NoReturn:
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)

    server.interpose(mount.MNT3, refuse)
    diagnosis = clinic.diagnose(url_of(server))
    assert failed(diagnosis) == ["export"]
    assert "AUTH_TOOWEAK" in diagnosis.step("export").seen


# ---------------------------------------------------------------- the text


def test_text_from_the_server_cannot_harm_the_terminal() -> None:
    step = Step("export", FAILED, "exported: /\x1b[2Jevil\n/two", "do\x07")
    text = Diagnosis("nfs://h/\x1b", (step,)).render()
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\\x1b[2Jevil\\n/two" in text


def test_long_text_is_cut() -> None:
    assert len(Diagnosis("u", (Step("name", OK, "x" * 10_000),)).render()) < 1000


def test_every_step_has_its_line_and_failures_are_named_at_the_end(clinic: Clinic) -> None:
    text = clinic.diagnose(url_of(clinic.server(), "/nope")).render()
    assert "FAILED     export" in text
    assert text.splitlines()[-1] == "Failed: export."


def test_a_step_that_breaks_down_is_no_traceback(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> t.NoReturn:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(examination, "try_access", broken)
    diagnosis = clinic.diagnose(url_of(clinic.server()))
    assert "ZeroDivisionError: of ours" in diagnosis.step("export").seen
    assert "report it" in diagnosis.step("export").advice


def test_a_step_of_several_lines_stays_readable() -> None:
    step = Step("crash", Outcome.FAILED, "it ended with 3", "try \x1b", ("It printed nothing.",))
    indent = " " * 28
    assert step.lines() == [
        "FAILED     crash            it ended with 3",
        f"{indent}It printed nothing.",
        f"{indent}-> try \\x1b",
    ]


def test_nfs4_is_imported_by_need() -> None:
    """It is the longest import; of a port that nobody listens on, nothing of it is needed."""
    program = (
        "import sys; from nfstargets.diagnosis import diagnose; found = diagnose('nfs://127.0.0.1:1/x', patience=2.0);"
        "assert not found.healthy; sys.exit(' '.join(name for name in sys.modules if 'nfs4' in name) or 0)"
    )
    ended = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=AT_MOST,
    )
    assert ended.returncode == 0, ended.stderr
