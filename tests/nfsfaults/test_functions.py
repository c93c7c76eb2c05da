# SPDX-License-Identifier: MIT
"""Functions of the user's at the level of messages: the example of docs/faults.md, through the proxy and inside."""

from __future__ import annotations

import textwrap
import typing as t
from pathlib import Path

import pytest

from nfsclient.clients import Nfs3
from nfsclient.highlevel import Limits
from nfsclient.nfs3 import NfsClient
from nfsclient.protocol import nfs3
from nfsclient.xdr import Void
from nfsfaults import actions as a
from nfsfaults.functions import load
from nfsfaults.inside import Inside
from nfsfaults.matcher import Matcher, Write
from nfsfaults.plan import Plan, Rule, Selector
from nfsfaults.proxy import Proxy
from nfsfaults.with_scapy import NoScapy
from nfsproof.fault_plans import load_plan
from tests.nfsfaults.messages import call, framed, reply
from tests.nfsfaults.proxied import Proxied

pytest.importorskip("scapy", reason="scapy is not installed (extra `packet`)")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "faults.md"


def example(folder: Path) -> Path:
    """The files of the page: their names are its comments."""
    text = PAGE.read_text().partition("## A function of yours")[2].partition("\n## ")[0]
    block = "\n".join(line for line in text.splitlines() if line.startswith("    ") or not line)
    module, _, plan = textwrap.dedent(block).partition("# plan.toml")
    (folder / "mine.py").write_text(module)
    path = folder / "plan.toml"
    path.write_text(plan)
    return path


@pytest.mark.parametrize("udp", [False, True], ids=["tcp", "udp"])
def test_the_example_of_the_page(tmp_path: Path, udp: bool) -> None:
    plan = load_plan(example(tmp_path))
    with Proxied(plan) as proxied:
        rpc = proxied.connect(udp=udp)
        with NfsClient(rpc, proxied.root, base=b"/export", limits=Limits(4096, 4096, 8192)) as nfs:
            nfs.write_file("f", bytes(4096))
            looked, read = Nfs3(rpc), 1000
            found = looked.lookup(proxied.root, b"f").resok
            assert found is not None
            result = looked.read(found.object, 0, read).resok
            assert result is not None
            assert result.count == read // 2
        assert proxied.notes == []


def test_what_fails_passes_and_is_noted() -> None:
    fails = a.CallFunction("tests:fail", load("operator:neg", Path()))
    plan = Plan((Rule(Selector(nth=1), (fails,)),))
    with Proxied(plan) as proxied:
        with proxied.connect() as rpc:
            rpc.call(nfs3.NULL, Void())
        (note,) = proxied.notes
    assert note.startswith("tests:fail with call of NULL (program 100003 version 3 procedure 0), xid 0x")
    assert "TypeError: bad operand type for unary -" in note


def through(
    function: t.Any, data: bytes, toward: t.Any = "server", before: bytes = b""
) -> tuple[list[bytes], Matcher]:
    """What a flow writes."""
    kind: t.Any = "call" if toward == "server" else "reply"
    matcher = Matcher(Plan((Rule(Selector(kind), (a.CallFunction("tests:one", function),)),)))
    flow = matcher.flow("tcp")
    if before:
        flow.tracker.message(before, "server")
    flow.receive(0.0, data, toward)
    return [event.data for event in flow.events(1.0) if isinstance(event, Write)], matcher


def test_messages_are_lost_doubled_and_changed() -> None:
    assert through(lambda _: None, call("READ"))[0] == []
    assert through(lambda message: [message, message], call("READ"))[0] == [framed(call("READ"))] * 2

    def another(packet: t.Any) -> t.Any:
        packet.xid = 9
        return packet

    written, matcher = through(another, call("READ"))
    assert written == [framed(call("READ", 9))]
    assert matcher.firings[0].after == call("READ", 9)


def test_results_of_replies_are_read() -> None:
    seen: list[str] = []

    def look(packet: t.Any) -> t.Any:
        seen.append(packet.payload.name)
        return packet

    assert through(look, reply("READ", 5), "client", call("READ", 5))[0] == [framed(reply("READ", 5))]
    assert seen == ["Nfs3ReadReply"]


@pytest.mark.parametrize(
    "make", [Inside, lambda plan: Proxy(t.cast("t.Any", None), plan)], ids=["inside", "proxy"]
)
def test_without_scapy_a_function_is_refused_in_one_line(
    make: t.Callable[[Plan], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> t.NoReturn:
        raise ModuleNotFoundError("No module named 'scapy'", name="scapy")

    monkeypatch.setattr("importlib.import_module", missing)
    plan = Plan((Rule(Selector(), (a.CallFunction("tests:same", lambda message: message),)),))
    with pytest.raises(NoScapy, match=r"^needs scapy: python -m pip install 'scapy>=2.6'$"):
        make(plan)
