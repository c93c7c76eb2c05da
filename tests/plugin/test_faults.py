# SPDX-License-Identifier: MIT
"""The fixture `faults`: what acts stands in the transcript, and what never acts makes a check VOID."""

from __future__ import annotations

import pytest

from nfsfaults.bridge.networks import Networks, NoNetworks
from tests.plugin.conftest import Suite

BODY = """
    from fixtures.checks.faults import Drop, Duplicate, MakeFaulty, on
    from nfsclient.protocol.nfs3 import GETATTR, MKNOD

    @proves(RULE, killed_by=MUTANT)
    def test_acted(faults, root):
        \"\"\"A claim.\"\"\"
        peer = faults("tcp", 3, on("call", GETATTR, Duplicate()))
        peer.call(peer.make(1, len(root).to_bytes(4, "big") + root))

    @proves(RULE, killed_by=MUTANT)
    def test_acted_and_failed(faults, root):
        \"\"\"A claim.\"\"\"
        peer = faults("udp", 3, on("reply", GETATTR, Drop()))
        answer = peer.call_and_lose(peer.make(1, len(root).to_bytes(4, "big") + root))
        expect(answer.outcome, "outcome").equals("something else")

    @proves(RULE, killed_by=MUTANT)
    def test_never_acted(faults, root):
        \"\"\"A claim.\"\"\"
        peer = faults("tcp", 3, on("call", MKNOD, Drop()))
        peer.call(peer.make())

    @proves(RULE, killed_by=MUTANT)
    def test_never_acted_and_skipped(faults, root):
        \"\"\"A claim.\"\"\"
        faults("tcp", 3, on("call", MKNOD, Drop()))
        skip("for a reason")

    @proves(RULE, killed_by=MUTANT)
    def test_forged(faults):
        \"\"\"A claim.\"\"\"
        from fixtures.checks.faults import Replay
        faults("tcp", 3, on("call", GETATTR, Replay(via="forged")))
    """
PACKETS = """
    from fixtures.checks.faults import Link, LosePackets, on
    from nfsclient.protocol.nfs3 import GETATTR, MKNOD

    @proves(RULE, killed_by=MUTANT)
    def test_acted(faults, root):
        \"\"\"A claim.\"\"\"
        peer = faults("tcp", 3, on("call", GETATTR, LosePackets()))
        answer = peer.call(peer.make(1, len(root).to_bytes(4, "big") + root))
        expect(answer.outcome, "outcome").equals("SUCCESS")

    @proves(RULE, killed_by=MUTANT)
    def test_never_acted(faults, root):
        \"\"\"A claim.\"\"\"
        peer = faults("udp", 3, on("call", MKNOD, LosePackets()))
        peer.call(peer.make())

    @proves(RULE, killed_by=MUTANT)
    def test_no_syn(faults, root):
        \"\"\"A claim.\"\"\"
        peer = faults("udp", 3, links=[Link("server", lost_syns=1)])
        peer.call(peer.make())

    @proves(RULE, killed_by=MUTANT)
    def test_no_packets(faults, monkeypatch):
        \"\"\"A claim.\"\"\"
        from nfsfaults.bridge.networks import Networks, NoNetworks
        def refuse(*_):
            raise NoNetworks("no private network (unshare: refused): it needs root")
        monkeypatch.setattr(Networks, "__init__", refuse)
        faults("tcp", 3, on("call", GETATTR, LosePackets()))

    @proves(RULE, killed_by=MUTANT)
    def test_no_scapy(faults, monkeypatch):
        \"\"\"A claim.\"\"\"
        from nfsfaults import with_scapy
        def refuse():
            raise with_scapy.NoScapy("needs scapy: install it")
        monkeypatch.setattr(with_scapy, "making", refuse)
        faults("tcp", 3, on("call", GETATTR, LosePackets()))
    """


def test_verdicts(suite: Suite) -> None:
    suite.write(BODY)
    outcome = suite.run()
    assert outcome.verdicts == {
        "acted": "PASS",
        "acted_and_failed": "FAIL",
        "never_acted": "VOID",
        "never_acted_and_skipped": "SKIP",
        "forged": "UNSUPPORTED",
    }
    checks = outcome.checks
    assert "a rule of the plan never acted" in checks["never_acted"].reason
    transcript = "\n".join(checks["acted_and_failed"].transcript)
    assert "fault: drop on reply of GETATTR (nth 1): GETATTR reply, xid 0x" in transcript


CRASHES = """
    import pytest
    from fixtures.checks.across import ARRANGED, CRASH, across
    from fixtures.checks.faults import Duplicate, on
    from nfsclient.protocol.nfs3 import GETATTR, MKNOD

    def steps(faults, root, *rules):
        peer = faults("tcp", 3, *rules)
        yield ARRANGED
        peer.call(peer.make(1, len(root).to_bytes(4, "big") + root))
        yield CRASH

    @across(CRASH, "WRITE")
    @proves(RULE, killed_by=MUTANT)
    def test_acted(faults, root):
        \"\"\"A claim.\"\"\"
        yield from steps(faults, root, on("call", GETATTR, Duplicate()))

    @across(CRASH, "WRITE")
    @proves(RULE, killed_by=MUTANT)
    def test_never_acted(faults, root):
        \"\"\"A claim.\"\"\"
        yield from steps(faults, root, on("call", MKNOD, Duplicate()))
    """


@pytest.mark.parametrize("alone", [False, True], ids=["shared", "alone"])
def test_verdicts_across_a_crash(suite: Suite, alone: bool) -> None:
    """The rules of a plan that began before the crash count, whether others share the crash or not."""
    suite.write(CRASHES)
    verdicts: dict[str, str] = {}
    for selected in (["-k", "test_acted"], ["-k", "test_never"]) if alone else ([],):
        verdicts |= suite.run(*selected).verdicts  # of the report that the next run replaces
    assert verdicts == {"acted": "PASS", "never_acted": "VOID"}


BODY4 = """
    import pytest
    from fixtures.checks.faults import Drop, Truncate, on, on_callback
    from nfsclient.clients.nfs4 import operations as op
    from nfsclient.errors import ConnectionLost
    from nfsclient.protocol import nfs4 as p
    from nfsclient.rpc.program import Procedure

    @proves(RULE, killed_by=MUTANT)
    def test_reply_lost(v4, faults):
        \"\"\"A claim.\"\"\"
        rpc = v4.connections.connect("nfs")
        session = v4.new_session(rpc)
        disturbed = faults.before(rpc, on("reply", p.COMPOUND, Drop("close")))
        with pytest.raises(ConnectionLost):
            session.compound(op.putrootfh())
        reply = disturbed.result(p.COMPOUND)
        expect(len(reply.resarray), "results").equals(3)

    @proves(RULE, killed_by=MUTANT)
    def test_never_acted(v4, faults):
        \"\"\"A claim.\"\"\"
        rpc = v4.connections.connect("nfs")
        faults.before(rpc, on_callback("call", p.CB_RECALL, Drop("close")))
        v4.new_session(rpc)
    """


def test_sessions(suite: Suite) -> None:
    """A plan before the connection of a session: what it loses stands in the transcript and in the capture."""
    suite.write(BODY4)
    outcome = suite.run("--evidence=always")
    assert outcome.verdicts == {"reply_lost": "FAIL", "never_acted": "VOID"}
    check = outcome.checks["reply_lost"]
    fault = "fault: drop(then='close') on reply of COMPOUND (nth 1): COMPOUND of SEQUENCE, PUTROOTFH reply, xid 0x"
    assert fault in "\n".join(check.transcript)
    assert fault.encode() in (outcome.report / check.capture).read_bytes()


def test_verdicts_with_packets(suite: Suite) -> None:
    try:
        Networks().close()
    except NoNetworks as error:
        pytest.skip(str(error))
    suite.write(PACKETS)
    outcome = suite.run()
    assert outcome.verdicts == {
        "acted": "PASS",
        "never_acted": "VOID",
        "no_syn": "VOID",
        "no_packets": "UNSUPPORTED",
        "no_scapy": "UNSUPPORTED",
    }
    checks = outcome.checks
    assert "a rule of the plan never acted" in checks["never_acted"].reason
    assert "the SYN toward the server was not lost" in checks["no_syn"].reason
    assert "it needs root" in checks["no_packets"].reason
    assert checks["no_scapy"].reason == "the plan needs packets: needs scapy: install it"
