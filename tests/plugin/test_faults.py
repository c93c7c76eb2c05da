# SPDX-License-Identifier: MIT
"""The fixture `faults`: what acts stands in the transcript, and what never acts makes a check VOID."""

from __future__ import annotations

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
