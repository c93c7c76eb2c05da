# SPDX-License-Identifier: MIT
"""The mechanism of mutants, and that the sample mutants do what their gist says, and nothing while off."""

from __future__ import annotations

import re
import sys
import typing as t
from pathlib import Path

import pytest

import nfsmutants
from nfsclient.errors import SystemErr
from nfsclient.protocol.nfs2 import Attrstat, Nfsstat2
from nfsclient.protocol.nfs3 import (
    GETATTR,
    NULL,
    READ,
    WRITE,
    CreateMode3,
    Ftype3,
    Getattr3Res,
    Nfsstat3,
    Nfstime3,
    Sattr3,
    StableHow,
)
from nfsclient.xdr import Buffer
from nfsmutants import Mutants, UnknownMutant, all_mutants, find_mutant, form
from nfsmutants.bending import amend, change, restate
from nfsmutants.form import AnyCall, Message, WrongDeclaration, mutant, mutant_of_each, wire_mutant
from nfsmutants.nfs3.calls import Getattr
from nfsserver import Server
from nfsserver.handlers import ServerApi
from nfsserver.nfs2.common import fattr
from tests.nfsserver.conftest import AnyNfs3, Rig

if t.TYPE_CHECKING:
    from nfsserver.middleware import Answer

RULE = "RFC 1813 section 3"
S = Nfsstat3


@pytest.fixture
def scratch_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants declared in a test are forgotten after it."""
    monkeypatch.setattr(form, "_registry", dict(form._registry))


def test_declarations_are_complete() -> None:
    assert len(all_mutants()) >= 800
    for each in all_mutants():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", each.name), each.name
        assert re.fullmatch(r"(RFC \d+ sections? \S.*)?", each.breaks), each.name
        assert not each.gist.endswith("."), each.name
        kinds = (each.on_call, each.on_message, each.transport)
        assert sum(kind is not None for kind in kinds) == 1, each.name
        assert bool(each.operations) is (each.on_call is not None), each.name


def test_every_module_is_imported() -> None:
    folder = Path(nfsmutants.__file__).parent
    modules = {
        ".".join(path.relative_to(folder.parent).with_suffix("").parts) for path in folder.rglob("*.py")
    }
    assert {name.removesuffix(".__init__") for name in modules} <= set(sys.modules)


def test_a_declaration_names_itself(scratch_registry: None) -> None:
    @mutant(GETATTR, breaks=RULE, kills_many="everybody looks at attributes")
    def getattr3_does_wrong(call: Getattr) -> Getattr3Res:
        """GETATTR does
        wrong

        And more about it.
        """
        return call.proceed()

    made = find_mutant("getattr3-does-wrong")
    assert (made.gist, made.breaks) == ("GETATTR does wrong", RULE)
    assert made.operations == (GETATTR,)
    assert made.kills_many


def test_a_family_has_a_mutant_for_each_procedure(scratch_registry: None) -> None:
    @mutant_of_each((READ, WRITE))
    def does_wrong(call: AnyCall) -> t.Any:
        """{} does wrong"""
        return call.proceed()

    both = [find_mutant("read3-does-wrong"), find_mutant("write3-does-wrong")]
    assert [each.gist for each in both] == ["READ does wrong", "WRITE does wrong"]
    assert [each.breaks for each in both] == ["", ""]
    assert [each.operations for each in both] == [(READ,), (WRITE,)]


def test_wrong_declarations_are_refused(scratch_registry: None) -> None:
    def write3_reports_more_than_sent(call: Getattr) -> Getattr3Res:
        """The name is taken"""
        return call.proceed()

    def getattr3_says_nothing(call: Getattr) -> Getattr3Res:
        return call.proceed()

    for declared in (write3_reports_more_than_sent, getattr3_says_nothing):
        with pytest.raises(WrongDeclaration):
            mutant(GETATTR)(declared)


def test_unknown_names_are_refused() -> None:
    server = Server()
    with pytest.raises(UnknownMutant) as error:
        Mutants(server, ["write3-reports-more-than-snet"])
    assert "write3-reports-more-than-snet" in str(error.value)
    assert "--list-mutants" in str(error.value)
    mutants = Mutants(server)
    with pytest.raises(UnknownMutant):
        mutants.add("nonsense")
    with pytest.raises(UnknownMutant):
        find_mutant("nonsense")
    assert list(mutants) == []


def test_changes_reach_what_is_nested_and_there() -> None:
    times = Sattr3(mode=0o600)
    changed = change(times, "mtime", set_it=2)
    assert changed.mtime.set_it == 2
    assert change(times, mode=lambda it: it.mode | 1).mode == 0o601
    assert change(times, "mtime.time", seconds=1) == times, "there is no time to change"


def test_replies_are_amended_where_they_have_results(rig: Rig) -> None:
    good, bad = rig.nfs3().getattr(rig.root), rig.nfs3().getattr(b"x" * 16)
    assert amend(good, "obj_attributes", mode=1).resok.obj_attributes.mode == 1
    assert amend(bad, "obj_attributes", mode=1) == bad
    assert restate(bad, bad.status, S.NFS3ERR_IO).status == S.NFS3ERR_IO
    assert restate(bad, S.NFS3ERR_IO, S.NFS3ERR_NOENT) == bad
    of_v2 = Attrstat(Nfsstat2.NFS_OK, fattr(rig.server.fs.root))
    changed = amend(of_v2, mode=1).attributes
    assert changed is not None
    assert changed.mode == 1


def test_mutants_switch_at_run_time(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    directory = nfs3.mkdir(root, b"d").resok.obj
    assert nfs3.getattr(directory).resok.obj_attributes.type == Ftype3.NF3DIR
    rig.mutants.add("getattr3-wrong-type")
    assert nfs3.getattr(directory).resok.obj_attributes.type == Ftype3.NF3REG
    assert nfs3.getattr(root).resok.obj_attributes.type == Ftype3.NF3DIR, "a run goes by the root"
    rig.mutants.discard("getattr3-wrong-type")
    assert nfs3.getattr(directory).resok.obj_attributes.type == Ftype3.NF3DIR
    assert set(rig.mutants) == set()


def test_middleware_nests(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    order: list[str] = []

    def note(name: str) -> t.Any:
        def middleware(_server: ServerApi, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
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

    def note(_server: ServerApi, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        peers.append(context.peer[0])
        return proceed(context, args)

    rig.server.interpose(NULL, note)
    nfs3.null()
    assert peers == ["127.0.0.1"]


def test_state_belongs_to_server_and_mutant(scratch_registry: None, make_rig: t.Callable[..., Rig]) -> None:
    seen: list[int] = []

    @mutant(GETATTR)
    def getattr3_counts(call: Getattr) -> Getattr3Res:
        """GETATTR counts"""
        call.state["calls"] = call.state.get("calls", 0) + 1
        seen.append(call.state["calls"])
        return call.proceed()

    first, two = make_rig(mutants=["getattr3-counts"]), make_rig(mutants=["getattr3-counts"])
    first.nfs3().getattr(first.root)
    first.nfs3().getattr(first.root)
    two.nfs3().getattr(two.root)
    assert seen == [1, 2, 1]
    first.mutants.discard("getattr3-counts")
    first.mutants.add("getattr3-counts")
    first.nfs3().getattr(first.root)
    assert seen == [1, 2, 1, 1], "it remembers nothing from before"


def test_faults_of_middleware_are_kept(nfs3: AnyNfs3, rig: Rig, root: bytes) -> None:
    def fail(*_: t.Any) -> t.NoReturn:
        raise ZeroDivisionError

    rig.server.interpose(GETATTR, fail)
    with pytest.raises(SystemErr):
        nfs3.getattr(root)
    procedure, error = rig.server.messages.faults.pop()
    assert procedure is GETATTR
    assert isinstance(error, ZeroDivisionError)


def test_wire_mutants_bend_bytes(scratch_registry: None, rig: Rig) -> None:
    @wire_mutant()
    def rpc_answers_another_xid(message: Message) -> Answer:
        """The xid is bent"""
        answer = message.proceed()
        if answer is None:
            return None
        whole = b"".join(answer)
        bent: list[Buffer] = [bytes([whole[0] ^ 0x80]) + whole[1:]]
        return bent

    right = rig.server.messages.answer(
        b"\0" * 4 + b"\0" * 4 + b"\0" * 3 + b"\3" + bytes(40), ("127.0.0.1", 1), "tcp"
    )
    rig.mutants.add("rpc-answers-another-xid")
    wrong = rig.server.messages.answer(
        b"\0" * 4 + b"\0" * 4 + b"\0" * 3 + b"\3" + bytes(40), ("127.0.0.1", 1), "tcp"
    )
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


@bends("create3-guarded-accepts-existing")
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


@bends("mnt3-mounts-unknown-paths")
def test_mnt3_mounts_what_is_not_there(bent: Rig) -> None:
    assert bent.mount().mnt(b"/none").mountinfo is not None


@bends("getport2-invents-ports")
def test_getport2_invents_ports(bent: Rig) -> None:
    assert bent.portmap().getport(4711, 1) == 4711


def test_faults_of_wire_mutants_are_silence(scratch_registry: None, rig: Rig) -> None:
    @wire_mutant()
    def rpc_fails(_message: Message) -> Answer:
        """It fails"""
        raise ZeroDivisionError

    rig.mutants.add("rpc-fails")
    assert rig.server.messages.answer(bytes(40), ("127.0.0.1", 1), "tcp") is None
    assert rig.server.messages.faults.pop()[0] is None
