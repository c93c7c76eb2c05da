# SPDX-License-Identifier: MIT
"""Plans in TOML: what they mean, and what is said about mistakes in them."""

from __future__ import annotations

import sys
import typing as t
from pathlib import Path
from types import SimpleNamespace

import pytest

from nfsfaults import actions as a
from nfsfaults.inside import Inside
from nfsfaults.messages import Message, Tracker
from nfsfaults.names import BadPlan
from nfsfaults.plan import Plan
from nfsfaults.proxy import Proxy
from nfsproof.fault_plans import BadPlanFile, load_plan, parse_plan
from tests.nfsfaults.messages import call, reply

WHOLE = """
seed = 7

[[rule]]
name = "the reply is lost"
on = "reply"
program = "nfs"
version = 3
procedure = ["REMOVE", "RMDIR"]
nth = 2
do = "drop"

[[rule]]
procedure = "READ"
where.args.count = 100
do = [{ action = "set-field", field = "args.count", value = 10 }, { action = "delay", seconds = 0.5 }]
must_fire = false

[[rule]]
do = { action = "set-bytes", at = -1, flip = "01" }

[[link]]
toward = "server"
latency = 0.01
"""


def message(data: bytes) -> Message:
    tracker = Tracker()
    tracker.message(call("READ"), "server")
    found = tracker.message(data, "server")
    assert found is not None
    return found


def test_a_whole_plan() -> None:
    plan = parse_plan(WHOLE, "plan.toml")
    lost, short, flipped = plan.rules
    assert plan.seed == 7
    assert (lost.label, lost.select.on, lost.select.nth, lost.actions) == (
        "the reply is lost",
        "reply",
        2,
        (a.Drop(),),
    )
    assert short.actions == (a.SetField("args.count", 10), a.Delay(0.5))
    assert not short.must_fire
    assert short.select.describes(message(call("READ")))
    assert not short.select.describes(message(call("GETATTR")))
    assert flipped.actions == (a.SetBytes(-1, flip=b"\1"),)
    assert plan.links[0].latency == 0.01


def test_a_plan_about_packets() -> None:
    text = """
[[rule]]
do = ["lose-packets", { action = "forge-reset", toward = "client", number = "outside" }]

[[rule]]
do = { action = "ip-fragments", size = 64, lose = 2, overlap = 8, reverse = true }

[[rule]]
do = { action = "split-segment", sizes = [4, 100], overlap = 2 }

[[link]]
toward = "server"
rate = 125000
lost_syns = 1
"""
    plan = parse_plan(text, "plan.toml")
    assert [rule.actions for rule in plan.rules] == [
        (a.LosePackets(), a.ForgeReset("client", "outside")),
        (a.IpFragments(64, 2, 8, True),),
        (a.SplitSegment((4, 100), 2),),
    ]
    assert (plan.links[0].rate, plan.links[0].lost_syns) == (125_000, 1)
    assert plan.needs == {"packets"}
    assert Plan(links=plan.links).about_packets == "the link toward the server"
    with pytest.raises(BadPlan, match="lose-packets is about packets, which a proxy does not make"):
        Proxy(t.cast("t.Any", None), plan)
    with pytest.raises(BadPlan, match="lose-packets is about packets, which a socket does not make"):
        Inside(plan)


def test_a_value_is_compared() -> None:
    plan = parse_plan(WHOLE.replace("args.count = 100", "args.count = 101"), "plan.toml")
    assert not plan.rules[1].select.describes(message(call("READ")))


def test_names_are_texts_or_bytes() -> None:
    for value in ('"name"', '{ hex = "6e616d65" }'):
        plan = parse_plan(
            f'[[rule]]\nprocedure = "REMOVE"\nwhere = {{ "args.object.name" = {value} }}\ndo = "drop"', "p"
        )
        assert plan.rules[0].select.describes(message(call("REMOVE")))
        assert not plan.rules[0].select.describes(message(reply("REMOVE")))


def test_a_seed_is_drawn_and_may_be_given() -> None:
    text = '[[rule]]\nprobability = 0.5\ndo = "drop"'
    assert parse_plan(text, "p").seed != parse_plan(text, "p").seed
    assert parse_plan(text, "p", 5).seed == 5


RULE = '[[rule]]\nprocedure = "READ"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "p: rule: expected tables"),
        ("x = [", "not TOML"),
        ("[[rules]]", "p: rules: unknown field of a plan; similar: rule"),
        ('[[rule]]\nprocedure = "REED"\ndo = "drop"', "p:2: procedure: unknown procedure or operation 'REED'"),
        ('[[rule]]\nprocedure = "REED"\ndo = "drop"', "similar: READ"),
        ('[[rule]]\nprogram = "nsf"\ndo = "drop"', "p:2: program: unknown program 'nsf'; similar: nfs"),
        ('[[rule]]\nprogram = "nfs"\nversion = 5\ndo = "drop"', "p:3: version: nfs has no version 5"),
        (RULE + 'do = "dorp"', "p:3: do: unknown action 'dorp'; similar: drop"),
        (RULE + "do = 1", "p:3: do: expected an action"),
        (RULE, "p:1: do: expected an action"),
        (RULE + "nht = 1\ndo = 'drop'", "p:3: nht: unknown field of [[rule]]; similar: nth"),
        (RULE + "nth = 0\ndo = 'drop'", "p:3: nth: expected a number, 1 or more, seen 0"),
        (RULE + "nth = 1\nevery = 2\ndo = 'drop'", "p:3: nth: nth, every and probability exclude each other"),
        (RULE + "on = 'both'\ndo = 'drop'", "p:3: on: expected one of call, reply, seen 'both'"),
        (
            RULE + 'do = { action = "delay", second = 1 }',
            "p:3: do: unknown field 'second' of delay; similar: seconds",
        ),
        (RULE + 'do = { action = "delay", seconds = "1" }', "p:3: do: seconds: expected another kind"),
        (RULE + 'do = { action = "delay", seconds = -1 }', "p:3: do: seconds: expected a number, 0 or more"),
        (RULE + 'do = { action = "delay" }', "p:3: do: expected other values"),
        (RULE + 'do = { action = "ip-fragments", size = 9 }', "p:3: do: size: size and overlap must be multiples of 8"),
        (RULE + 'do = { action = "bad-checksum", layer = "tcp" }', "p:3: do: layer: expected one of 'transport'"),
        ('[[link]]\ntoward = "server"\nrate = 0.5', "p:3: rate: expected a whole number, 1 or more, seen 0.5"),
        (RULE + 'do = { action = "segments", sizes = 3 }', "p:3: do: sizes: expected a list of numbers"),
        (RULE + 'do = { action = "set-bytes", at = 0, data = "xy" }', "p:3: do: expected bytes as hexadecimal"),
        (
            RULE + 'do = { action = "set-field", field = "args.cuont", value = 1 }',
            "p:3: do: field: 'args.cuont': unknown field 'cuont'; similar: count",
        ),
        (RULE + 'do = { action = "set-field", field = "args.", value = 1 }', "p:3: do: field: 'args.'"),
        (RULE + 'do = { action = "set-field", field = "result.status", value = 1 }', "header.NAME or args.NAME"),
        (RULE + "where = { args = 1 }\ndo = 'drop'", "p:3: where: field: expected header.NAME or args.NAME"),
        (RULE + "where.args.count = 1.5\ndo = 'drop'", "where: expected a number, a text or"),
        (RULE + "where = 1\ndo = 'drop'", "p:3: where: expected fields with their values"),
        ('[[link]]\ntoward = "up"', "p:2: toward: expected one of server, client, seen 'up'"),
        ('[[link]]\ntoward = "server"\nloss = 1', "p:3: loss: expected a probability"),
        ('[[link]]\ntoward = "server"\nlatency = "1"', "p:3: latency: expected a number"),
        ('[[link]]\ntoward = "server"\n[[link]]\ntoward = "server"', "link: more than one link for one direction"),
    ],
)  # fmt: skip
def test_mistakes(text: str, said: str) -> None:
    with pytest.raises(BadPlanFile) as caught:
        parse_plan(text, "p")
    assert said in str(caught.value)


def test_deep_fields_and_compounds_are_taken() -> None:
    for procedure, field in [
        ("READ", "result.resok.file_attributes.size"),
        ("COMPOUND", "args.argarray[1].x"),
        ("SEQUENCE", "result.resarray"),
    ]:
        parse_plan(
            f'[[rule]]\non = "reply"\nprocedure = "{procedure}"\n'
            f'do = {{ action = "set-field", field = "{field}", value = 1 }}',
            "p",
        )


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(BadPlanFile, match="expected text in UTF-8"):
        load_plan(path)
    path.write_bytes(b"#" * (2 << 20))
    with pytest.raises(BadPlanFile, match="bytes at most"):
        load_plan(path)
    path.write_text(WHOLE)
    assert load_plan(path, 3).seed == 3


# ---------------------------------------------------------------- packets


PACKETS = """
[[rule]]
where.packet.TCP.window = 100
where."packet.IP.src" = "198.18.0.2"
where.args.count = 100
do = [{ action = "change-packet", field = "IP.ttl", value = 3 }, "lose-packets"]
"""


def test_fields_of_packets() -> None:
    pytest.importorskip("scapy", reason="scapy is not installed (extra `packet`)")
    plan = parse_plan(PACKETS, "plan.toml")
    (rule,) = plan.rules
    assert rule.actions == (a.ChangePacket("IP.ttl", 3), a.LosePackets())
    assert plan.needs_scapy
    about_read = message(call("READ"))
    assert not rule.select.describes(about_read)  # where there are no packets, no rule about them acts
    for window, acts in ((100, True), (101, False)):
        about_read = message(call("READ"))
        packet = SimpleNamespace(TCP=SimpleNamespace(window=window), IP=SimpleNamespace(src="198.18.0.2"))
        about_read.read_packet = lambda packet=packet: packet
        assert rule.select.describes(about_read) == acts


def test_a_plan_that_only_chooses_by_packets_needs_them() -> None:
    pytest.importorskip("scapy", reason="scapy is not installed (extra `packet`)")
    plan = parse_plan('[[rule]]\nwhere.packet.IP.ttl = 64\ndo = "drop"', "p")
    assert plan.needs == {"messages", "packets"}
    with pytest.raises(BadPlan, match="a field of packets is about packets, which a socket does not make"):
        Inside(plan)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "where.packet.TCQ.window = 1\ndo = 'drop'",
            "p:1: where: field: packets have no layer 'TCQ'; similar: TCP",
        ),
        ("where.packet.TCP.windw = 1\ndo = 'drop'", "TCP has no field 'windw'; similar: window"),
        ("do = { action = 'change-packet', field = 'ttl', value = 1 }", "expected LAYER.FIELD"),
        (
            "do = { action = 'change-packet', field = 'IP.tll', value = 1 }",
            "IP has no field 'tll'; similar: ttl",
        ),
        ("do = { action = 'function', name = 'a:b' }", "only a plan in a file may name a function"),
    ],
)
def test_mistakes_about_packets(rule: str, said: str) -> None:
    pytest.importorskip("scapy", reason="scapy is not installed (extra `packet`)")
    with pytest.raises(BadPlanFile) as bad:
        parse_plan(f"[[rule]]\n{rule}", "p")
    assert said in str(bad.value)


FUNCTION = '[[rule]]\nprocedure = "READ"\ndo = { action = "function", name = "NAME" }\n'


def test_a_function_next_to_the_plan(tmp_path: Path) -> None:
    (tmp_path / "mine_next_to_it.py").write_text("def twice(packet):\n    return [packet, packet]\n")
    path = tmp_path / "plan.toml"
    path.write_text(FUNCTION.replace("NAME", "mine_next_to_it:twice"))
    plan = load_plan(path)
    (action,) = plan.rules[0].actions
    assert isinstance(action, a.CallFunction)
    assert action.function is not None
    assert action.function("one") == ["one", "one"]
    assert plan.rules[0].label == "function(name='mine_next_to_it:twice') on call of READ (nth 1)".replace(
        "nth 1", "each"
    )
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mine", "expected module:function, seen 'mine'"),
        ("../mine:f", "expected module:function"),
        ("no_such_module_here:f", "'no_such_module_here' cannot be imported (ModuleNotFoundError"),
        ("mine_broken:f", "'mine_broken' cannot be imported (ZeroDivisionError: division by zero)"),
        ("mine_misspelt:twise", "has no function 'twise'; similar: twice"),
    ],
)
def test_a_function_that_is_not_there(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mine_broken.py").write_text("1 / 0\n")
    (tmp_path / "mine_misspelt.py").write_text("def twice(packet):\n    return packet\n")
    path = tmp_path / "plan.toml"
    path.write_text(FUNCTION.replace("NAME", name))
    with pytest.raises(BadPlanFile) as bad:
        load_plan(path)
    assert said in str(bad.value)
    assert str(bad.value).startswith(f"{path}:3: do: ")
