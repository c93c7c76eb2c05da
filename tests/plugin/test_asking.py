# SPDX-License-Identifier: MIT
"""What the terminal shows while the run asks the target what it has, and the lines about it before the first check."""

from __future__ import annotations

import io

import pytest

from fixtures.plugin.asking import AGAIN, LATE, SOON, Asking
from fixtures.plugin.header import found_line
from fixtures.stage.capabilities import YES, Capabilities, answer_of, failing, from_status
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Skipped, Unsupported
from nfsjudge.reason import within
from nfsjudge.wording import listing
from nfstargets import TargetAddress
from reports.lacking import failing_lines, lacks_line, lacks_lines, report_lines


class Shown:
    """A stream, and a clock that the test moves."""

    def __init__(self, *, is_terminal: bool) -> None:
        self.now = 0.0
        self.stream = io.StringIO()
        self.asking = Asking(self.stream, is_terminal=is_terminal, width=60, clock=lambda: self.now)

    def ask(self, at: float, what: str = "nfs2", of: int = 30) -> str:
        """What the question adds to the stream."""
        before = self.stream.getvalue()
        self.now = at
        self.asking(what, of)
        return self.stream.getvalue()[len(before) :]


def test_a_quick_server_is_probed_without_a_word() -> None:
    for is_terminal in (True, False):
        shown = Shown(is_terminal=is_terminal)
        assert shown.ask(SOON / 2) == ""
        shown.asking.close()
        assert shown.stream.getvalue() == ""


def test_a_terminal_shows_each_question_in_one_line() -> None:
    shown = Shown(is_terminal=True)
    assert "ports and versions" in shown.ask(0.0, "ports and versions", of=0)
    prompt = shown.ask(SOON, "udp")
    assert prompt.startswith("\r\x1b[K")
    assert "udp (2 of 30)" in prompt
    assert "\n" not in prompt
    assert len(shown.ask(SOON, "x" * 500)) < 65
    shown.asking.close()
    assert shown.stream.getvalue().endswith("\r\x1b[K")


def test_a_file_gets_a_line_now_and_then() -> None:
    shown = Shown(is_terminal=False)
    assert shown.ask(LATE / 2) == ""
    assert "asking the server" in shown.ask(LATE)
    assert shown.ask(LATE * 2) == ""
    assert shown.stream.getvalue().count("\n") == 1
    assert shown.ask(LATE + AGAIN, "udp") == (
        "nfsproof: asking the server what it has: udp (4 of 30, about 5 min more)\n"
    )
    assert shown.ask(LATE + AGAIN + 1) == ""


def test_what_was_not_probed_is_taken_for_present_and_noted() -> None:
    made = capabilities(nfs3=YES)
    made.unprobed = {"udp"}
    assert made.has("udp")
    made.need("udp")
    assert made.consulted == {"udp"}
    assert "udp" not in made
    address = TargetAddress(host="h", nfs_port=2049, mount_port=0)
    made.unprobed = {"nfs2", "nfs4"}
    assert found_line(address, made).startswith("NFSv3 at port 2049")


# ---------------------------------------------------------------- lines before the first check


def capabilities(**values: str) -> Capabilities:
    made = Capabilities()
    made.update(values)
    return made


def test_what_was_found_is_one_line() -> None:
    address = TargetAddress(host="h", nfs_port=24500, mount_port=24501)
    assert (
        found_line(address, capabilities(nfs3=YES, nfs4=YES, nfs4_minor2="no"))
        == "NFSv3 and NFSv4.1 at port 24500, MOUNT at port 24501, no rpcbind of this server"
    )
    alone = TargetAddress(host="h", nfs_port=2049, mount_port=0, version=4)
    assert found_line(alone, capabilities(nfs4=YES, nfs4_minor2=YES)) == "NFSv4.1 and NFSv4.2 at port 2049"


def test_what_is_lacking_is_one_line_and_all_reasons_are_kept() -> None:
    lacking = {"nfs3": YES, "nfs2": "no", "nfs2_udp": "no", "mknod": "MKNOD answers NFS3ERR_NOTSUPP"}
    assert lacks_line(lacking) == "lacks 3 of 4 capabilities, for 2 reasons"
    assert lacks_lines(lacking) == [
        "lacks nfs2, nfs2_udp (no)",
        "lacks mknod (MKNOD answers NFS3ERR_NOTSUPP)",
    ]


def test_what_fails_is_said_besides() -> None:
    failing = {"nfs3": YES, "nfs2": "no", "removable": "fails: REMOVE answers NFS3ERR_ACCES"}
    assert failing_lines(failing) == ["lacks removable (fails: REMOVE answers NFS3ERR_ACCES)"]
    assert failing_lines({"nfs2": "no"}) == []


def test_a_failure_is_not_joined_with_a_lack_by_the_same_answer() -> None:
    answer = answer_of("MKNOD", Nfsstat3.NFS3ERR_IO)
    other = within(
        "a device cannot be made: MKNOD answers NFS3ERR_IO", answer, text="a device cannot be made"
    )
    assert lacks_lines({"mknod": failing(answer), "device": failing(other), "socket": other}) == [
        "lacks mknod, device (fails: MKNOD answers NFS3ERR_IO)",
        "lacks socket (a device cannot be made)",
    ]


def test_one_reason_is_said_at_once() -> None:
    assert lacks_line({"nfs3": YES, "nfs2": "no"}) == "lacks nfs2 (no)"
    assert lacks_line({"nfs3": YES}) == ""


def test_words_are_listed() -> None:
    assert [listing(words) for words in ((), ("a",), ("a", "b"), ("a", "b", "c"))] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_what_is_not_known_is_no_lack() -> None:
    why = "a scratch directory cannot be made: MKDIR answers NFS3ERR_IO"
    found = {"nfs3": YES, "symlink": f"not known: {why}", "mknod": f"not known: {why}", "nfs2": "no"}
    assert lacks_line(found) == "lacks nfs2 (no)"
    assert failing_lines(found) == [f"does not show whether it has symlink, mknod ({why})"]
    assert report_lines(found) == [f"unknown: symlink, mknod ({why})", "lacks:   nfs2 (no)"]


def test_a_check_ends_as_skip_where_something_is_not_known() -> None:
    capabilities = Capabilities()
    capabilities["symlink"] = "not known: MKDIR answers NFS3ERR_IO"
    with pytest.raises(Skipped, match="whether the target has symlink is not known: MKDIR"):
        capabilities.need("symlink")
    assert capabilities.consulted == {"symlink"}
    for _ in range(3):
        assert capabilities.may_try_again("symlink")
        capabilities.note_trials(["symlink"])
    assert not capabilities.may_try_again("symlink")
    capabilities["symlink"] = "SYMLINK answers NFS3ERR_NOTSUPP"
    with pytest.raises(Unsupported):
        capabilities.need("symlink")


@pytest.mark.parametrize(
    ("status", "value"),
    [
        (Nfsstat3.NFS3_OK, "yes"),
        (Nfsstat3.NFS3ERR_NOTSUPP, "CREATE answers NFS3ERR_NOTSUPP"),
        (Nfsstat3.NFS3ERR_ACCES, "CREATE answers NFS3ERR_ACCES"),
        (Nfsstat3.NFS3ERR_JUKEBOX, "not known: CREATE answers NFS3ERR_JUKEBOX"),
        (Nfsstat3.NFS3ERR_NOSPC, "not known: CREATE answers NFS3ERR_NOSPC"),
        (Nfsstat3.NFS3ERR_DQUOT, "not known: CREATE answers NFS3ERR_DQUOT"),
        (Nfsstat3.NFS3ERR_IO, "fails: CREATE answers NFS3ERR_IO"),
    ],
)
def test_a_server_that_is_busy_or_full_lacks_nothing(status: Nfsstat3, value: str) -> None:
    assert from_status("CREATE", status) == value
