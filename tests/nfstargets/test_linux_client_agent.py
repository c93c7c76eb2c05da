# SPDX-License-Identifier: MIT
"""The agent of a guest that is a client, as far as it can be tried outside, and how it gets there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tarfile
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from nfstargets.base import TargetError
from nfstargets.cache import PLACE
from nfstargets.knfsd.client import Cable, ClientUnavailable, Done, LinuxClient, ProgramFailed, pack_programs
from nfstargets.knfsd.guest.client import Client, obey
from tests.waiting import AT_MOST


class Agent:
    """An agent that does everything here."""

    def __init__(self) -> None:
        self.client = Client({})

    def ask(self, what: str, **arguments: Any) -> dict[str, Any]:
        request = {"id": 7, "part": json.dumps({"do": what, **arguments}), "whole": True}
        answer = obey(self.client, request)
        assert answer.pop("id") == 7
        return answer

    def run(self, *argv: str, seconds: float = AT_MOST, keep: int = 1000) -> dict[str, Any]:
        me = {"user": os.getuid(), "group": os.getgid()}
        if os.getuid() != 0:
            pytest.skip("only root may give up its groups")
        begun = self.ask("begin", argv=list(argv), keep=keep, folder="/", **me)
        assert begun["ok"], begun
        done = self.ask("finish", number=begun["number"], seconds=seconds)
        return done | {name: b64decode(done[name]) for name in ("stdout", "stderr")}


@pytest.fixture
def agent() -> Agent:
    return Agent()


def test_a_program_is_run(agent: Agent) -> None:
    assert agent.run("sh", "-c", "echo out; echo err >&2; exit 3") == {
        "ok": True,
        "status": 3,
        "stdout": b"out\n",
        "stderr": b"err\n",
        "cut": False,
        "late": False,
    }


def test_the_beginning_of_much_output_is_kept(agent: Agent) -> None:
    done = agent.run("sh", "-c", "yes | head -c 1000000", keep=10)
    assert (done["stdout"], done["cut"], done["status"]) == (b"y\n" * 5, True, 0)


def test_a_program_that_takes_too_long_is_ended(agent: Agent) -> None:
    done = agent.run(
        sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()", seconds=0
    )
    assert (done["late"], done["status"]) == (True, -signal.SIGKILL)


def test_what_a_program_leaves_running_is_not_waited_for(agent: Agent) -> None:
    done = agent.run("sh", "-c", f"{sys.executable} -c 'import signal; signal.pause()' & echo left")
    assert (done["late"], done["status"], done["stdout"]) == (False, 0, b"left\n")


def test_files_move_in_pieces(agent: Agent, tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    for begin, data in ((True, b"one"), (False, b"two")):
        assert agent.ask("write", path=path, data=b64encode(data).decode(), begin=begin) == {"ok": True}
    assert b64decode(agent.ask("read", path=path, offset=1, count=4)["data"]) == b"netw"
    assert agent.ask("read", path=path, offset=6, count=4) == {"ok": True, "data": ""}


def test_a_request_comes_in_parts(agent: Agent, tmp_path: Path) -> None:
    words = json.dumps({"do": "write", "path": str(tmp_path / "f"), "data": "", "begin": True})
    assert obey(agent.client, {"id": 1, "part": words[:9]}) == {"id": 1, "ok": True}
    assert not (tmp_path / "f").exists()
    assert obey(agent.client, {"id": 2, "part": words[9:], "whole": True}) == {"id": 2, "ok": True}
    assert (tmp_path / "f").exists()


def test_what_it_cannot_do_is_an_answer(agent: Agent) -> None:
    assert "FileNotFoundError" in agent.ask("read", path="/nowhere/f", offset=0, count=1)["why"]
    assert not agent.ask("nothing")["ok"]
    assert not agent.ask("finish", number=1, seconds=1)["ok"]
    assert not agent.ask("begin")["ok"]
    assert not obey(agent.client, {"id": 1, "part": "{", "whole": True})["ok"]


def test_the_programs_run_from_their_archive(tmp_path: Path) -> None:
    pack_programs(tmp_path / "programs.tar")
    with tarfile.open(tmp_path / "programs.tar") as archive:
        archive.extractall(tmp_path / "guest", filter="data")
    assert "/run/nfsproof" in (tmp_path / "guest/agent.py").read_text()
    look = f"import sys; sys.path.insert(0, {str(tmp_path / 'guest')!r})\n"
    look += "from nfstargets.knfsd.guest import client; print(client.__file__, client.attend.__module__)"
    listed = subprocess.run(
        [sys.executable, "-I", "-S", "-c", look], check=True, capture_output=True, text=True, cwd="/"
    )
    assert listed.stdout.split() == [
        str(tmp_path / "guest/nfstargets/knfsd/guest/client.py"),
        "nfstargets.knfsd.guest.agent",
    ]


def test_each_guest_has_other_addresses() -> None:
    cables = [Cable(number) for number in range(4)]
    assert cables[0].ours == "192.0.2.1"
    assert cables[3].theirs == "192.0.2.194"
    for name in ("device", "ours", "theirs", "hardware"):
        assert len({getattr(cable, name) for cable in cables}) == 4


def test_numbers_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="expected a number below 4, got 4"):
        LinuxClient(number=4)
    with pytest.raises(ValueError, match="has the number 0, too"):
        LinuxClient(joins=LinuxClient())


def test_a_client_that_is_not_installed_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PLACE, str(tmp_path))
    with pytest.raises(ClientUnavailable, match="nfsproof install knfsd"):
        LinuxClient().start()
    assert LinuxClient().alarms() == []
    with pytest.raises(TargetError, match="is not running"):
        LinuxClient().run("true")


def test_a_program_that_failed_says_its_words() -> None:
    assert Done(("true",), 0, b"x", b"", is_cut=False, is_late=False).check().text == "x"
    with pytest.raises(ProgramFailed, match=r"^sh -c x in the guest ended with exit status 2: no such x$"):
        Done(("sh", "-c", "x"), 2, b"", b"no such x\n", is_cut=False, is_late=False).check()
    with pytest.raises(ProgramFailed, match="its time was up"):
        Done(("cat",), -9, b"", b"", is_cut=False, is_late=True).check()
