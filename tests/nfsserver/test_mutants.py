# SPDX-License-Identifier: MIT
"""The mechanism of mutants, and that the sample mutants do what their gist says, and nothing while off."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.errors import SystemErr
from nfsclient.protocol.nfs3 import GETATTR, NULL, CreateMode3, Ftype3, Nfsstat3, Nfstime3, Sattr3, StableHow
from nfsclient.xdr import Buffer
from nfsserver import (
    DuplicateMutant,
    Server,
    UnknownMutant,
    all_mutants,
    declare_mutant,
    find_mutant,
    mutant,
    wire_mutant,
)
from nfsserver import mutants as registry
from tests.nfsserver.conftest import AnyNfs3, Rig

if t.TYPE_CHECKING:
    from nfsserver.mutants import Answer, ProceedWire

S = Nfsstat3


@pytest.fixture
def scratch_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants declared in a test are forgotten after it."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))


def test_declarations_are_complete() -> None:
    assert len(all_mutants()) >= 12
    for each in all_mutants():
        procedure = each.name.partition("-")[0]
        assert procedure == procedure.lower(), each.name
        assert each.breaks.startswith(("RFC ", "XNFS")), each.name
        assert each.gist, each.name
        assert not each.gist.endswith("."), each.name
        assert each.bends or each.wire is not None or each.bend is not None, each.name


def test_names_are_taken_once(scratch_registry: None) -> None:
    declare_mutant("x1-does-wrong", breaks="RFC 1813 section 3", gist="x")
    with pytest.raises(DuplicateMutant):
        declare_mutant("x1-does-wrong", breaks="RFC 1813 section 3", gist="x")
    with pytest.raises(DuplicateMutant):
        mutant("write3-reports-more-than-sent", bends=GETATTR, breaks="RFC 1813 section 3", gist="x")(
            lambda _server, context, args, proceed: proceed(context, args)
        )


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownMutant) as error:
        Server(mutants=["write3-reports-more-than-snet"])
    assert "write3-reports-more-than-snet" in str(error.value)
    server = Server()
    with pytest.raises(UnknownMutant):
        server.mutants.add("nonsense")
    with pytest.raises(UnknownMutant):
        find_mutant("nonsense")


def test_mutants_switch_at_run_time(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    directory = nfs3.mkdir(root, b"d").resok.obj
    assert nfs3.getattr(directory).resok.obj_attributes.type == Ftype3.NF3DIR
    rig.server.mutants.add("getattr3-wrong-type")
    assert nfs3.getattr(directory).resok.obj_attributes.type == Ftype3.NF3REG
    assert nfs3.getattr(root).resok.obj_attributes.type == Ftype3.NF3DIR, "a run goes by the root"
    rig.server.mutants.discard("getattr3-wrong-type")
    assert nfs3.getattr(directory).resok.obj_attributes.type == Ftype3.NF3DIR
    assert set(rig.server.mutants) == set()


def test_middleware_nests(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    order: list[str] = []

    def note(name: str) -> t.Any:
        def middleware(_server: Server, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            order.append(name)
            return proceed(context, args)

        return middleware

    remove_inner = rig.server.interpose(GETATTR, note("inner"))
    rig.server.interpose(GETATTR, note("outer"))
    nfs3.getattr(root)
    assert order == ["outer", "inner"]
    remove_inner()
    nfs3.getattr(root)
    assert order == ["outer", "inner", "outer"]


def test_middleware_reaches_null(rig: Rig, nfs3: AnyNfs3) -> None:
    peers: list[str] = []

    def note(_server: Server, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        peers.append(context.peer[0])
        return proceed(context, args)

    rig.server.interpose(NULL, note)
    nfs3.null()
    assert peers == ["127.0.0.1"]


def test_state_belongs_to_server_and_mutant() -> None:
    one, two = Server(), Server()
    one.mutant_state("a")["n"] = 1
    assert one.mutant_state("a") == {"n": 1}
    assert one.mutant_state("b") == two.mutant_state("a") == {}


def test_faults_of_middleware_are_kept(nfs3: AnyNfs3, rig: Rig, root: bytes) -> None:
    def fail(*_: t.Any) -> t.NoReturn:
        raise ZeroDivisionError

    rig.server.interpose(GETATTR, fail)
    with pytest.raises(SystemErr):
        nfs3.getattr(root)
    procedure, error = rig.server.faults.pop()
    assert procedure is GETATTR
    assert isinstance(error, ZeroDivisionError)


def test_wire_mutants_bend_bytes(scratch_registry: None, rig: Rig, nfs3: AnyNfs3) -> None:
    @wire_mutant("rpc-answers-another-xid", breaks="RFC 5531 section 9", gist="The xid is bent")
    def bend(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
        answer = proceed(message)
        if answer is None:
            return None
        whole = b"".join(answer)
        bent: list[Buffer] = [bytes([whole[0] ^ 0x80]) + whole[1:]]
        return bent

    right = rig.server.answer(b"\0" * 4 + b"\0" * 4 + b"\0" * 3 + b"\3" + bytes(40), ("127.0.0.1", 1), "tcp")
    rig.server.mutants.add("rpc-answers-another-xid")
    wrong = rig.server.answer(b"\0" * 4 + b"\0" * 4 + b"\0" * 3 + b"\3" + bytes(40), ("127.0.0.1", 1), "tcp")
    assert right is not None
    assert wrong is not None
    assert b"".join(wrong)[0] == 0x80 ^ b"".join(right)[0]


# ---------------------------------------------------------------- the samples


@pytest.fixture
def bent(make_rig: t.Callable[..., Rig], request: pytest.FixtureRequest) -> Rig:
    """A server with the mutant that the test names in its marker."""
    return make_rig(mutants=[request.param])


def bends(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("bent", [name], indirect=True, ids=[name])


@bends("setattr3-ignores-guard")
def test_setattr3_ignores_guard(bent: Rig) -> None:
    reply = bent.nfs3().setattr(bent.file(b"f"), Sattr3(mode=0), Nfstime3(1))
    assert reply.status == S.NFS3_OK


@bends("readlink3-drops-last-byte")
def test_readlink3_drops_last_byte(bent: Rig) -> None:
    nfs3 = bent.nfs3()
    link = nfs3.symlink(bent.root, b"l", b"target").resok.obj
    assert nfs3.readlink(link).resok.data == b"targe"


@bends("read3-ignores-eof")
def test_read3_ignores_eof(bent: Rig) -> None:
    assert bent.nfs3().read(bent.file(b"f"), 0, 1).resok.eof is False


@bends("write3-reports-more-than-sent")
def test_write3_reports_more_than_sent(bent: Rig) -> None:
    assert bent.nfs3().write(bent.file(b"f"), 0, b"abc").resok.count == 4


@bends("commit3-changes-verifier")
def test_commit3_changes_verifier(bent: Rig) -> None:
    handle = bent.file(b"f")
    nfs3 = bent.nfs3()
    assert nfs3.commit(handle).resok.verf != nfs3.commit(handle).resok.verf


@bends("commit3-flushes-nothing")
def test_commit3_flushes_nothing(bent: Rig) -> None:
    handle = bent.file(b"f")
    nfs3 = bent.nfs3()
    nfs3.write(handle, 0, b"data", StableHow.UNSTABLE)
    assert nfs3.commit(handle).status == S.NFS3_OK
    bent.server.crash()
    assert bent.nfs3().read(handle, 0, 10).resok.data != b"data"


@bends("create3-guarded-takes-existing")
def test_create3_guarded_takes_existing(bent: Rig) -> None:
    bent.file(b"f")
    assert bent.nfs3().create(bent.root, b"f", CreateMode3.GUARDED).status == S.NFS3_OK


@bends("remove3-removes-nothing")
def test_remove3_removes_nothing(bent: Rig) -> None:
    bent.file(b"f")
    nfs3 = bent.nfs3()
    assert nfs3.remove(bent.root, b"f").status == S.NFS3_OK
    assert nfs3.lookup(bent.root, b"f").status == S.NFS3_OK
    assert nfs3.remove(bent.root, b"g").status == S.NFS3ERR_NOENT


@bends("readdir3-skips-an-entry")
def test_readdir3_skips_an_entry(bent: Rig) -> None:
    for number in range(20):
        bent.file(b"file-%02d" % number)
    first = bent.nfs3().readdir(bent.root, count=512).resok
    second = bent.nfs3().readdir(bent.root, first.entries[-1].cookie, first.cookieverf).resok
    names = {entry.name for entry in (*first.entries, *second.entries)}
    assert len({b"file-%02d" % number for number in range(20)} - names) == 1


@bends("readdirplus3-exceeds-maxcount")
def test_readdirplus3_exceeds_maxcount(bent: Rig) -> None:
    for number in range(20):
        bent.file(b"%d" % number)
    assert len(bent.nfs3().readdirplus(bent.root, maxcount=1000).resok.to_xdr()) > 1000


@bends("pathconf3-understates-name-max")
def test_pathconf3_understates_name_max(bent: Rig) -> None:
    assert bent.nfs3().pathconf(bent.root).resok.name_max == 127


@bends("mnt3-mounts-what-is-not-there")
def test_mnt3_mounts_what_is_not_there(bent: Rig) -> None:
    assert bent.mount().mnt(b"/none").mountinfo is not None


@bends("getport2-invents-ports")
def test_getport2_invents_ports(bent: Rig) -> None:
    assert bent.portmap().getport(4711, 1) == 4711


def test_faults_of_wire_mutants_are_silence(scratch_registry: None, rig: Rig) -> None:
    @wire_mutant("rpc-fails", breaks="RFC 5531 section 9", gist="x")
    def fail(_server: Server, _message: bytes, _proceed: ProceedWire) -> Answer:
        raise ZeroDivisionError

    rig.server.mutants.add("rpc-fails")
    assert rig.server.answer(bytes(40), ("127.0.0.1", 1), "tcp") is None
    assert rig.server.faults.pop()[0] is None
