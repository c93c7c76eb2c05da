# SPDX-License-Identifier: MIT
"""A program for tests/test_registry.py: registers TOY, and prints as JSON where it appears, by the place's name."""

from __future__ import annotations

import importlib.util
import json
import tempfile
import typing as t
from pathlib import Path

from fixtures.checks.dialects import CLASSES
from fixtures.ids import id_of, operations
from fixtures.plugin import header
from fixtures.plugin.statuses import statuses_of, unserved
from fixtures.stage.capabilities import YES, Capabilities
from fixtures.stage.patience import asked_for
from nfsclient.protocol import registry
from nfsclient.replay import Story
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsfaults.names import names_of
from nfsjudge import reproduce, show
from nfsjudge.captured.calls import call_to_judge
from nfsjudge.captured.traffic import program_of
from nfsjudge.lint import views
from nfsjudge.messages import Mark
from nfsjudge.policy import capability_for, policy_of
from nfsjudge.records import CheckRecord, RequirementRecord, RunRecord
from nfsjudge.tally import Tally
from nfsjudge.terms import outcome_of
from nfsjudge.transcript import call_line
from nfsproof.archiving.messages import _types_of as types_in_archives
from nfsproof.newcheck.plan import Wish, make_plan
from nfsproof.only_data import is_only_data
from nfsproof.proxying.view import _name as name_in_proxy
from nfsserver import Server
from nfstargets import TargetAddress
from reports.causes import causes, signature
from reports.run import Run
from tests import toy
from tests.toy import ToyOp, ToyStat

ROOT = Path(__file__).resolve().parents[1]


def real_exchange() -> Exchange:
    """A call of TOY to the embedded server, which offers what is registered."""
    loop = Loop()
    server = Server(seed=1)
    server.listen(loop)
    seen: list[Exchange] = []
    rpc = connect_tcp("127.0.0.1", server.port, loop=loop)
    rpc.on_exchange = seen.append
    rpc.call(toy.COMPOUND, toy.CompoundArgs(7, [toy.put(99), toy.add(2), toy.get()]))
    rpc.close()
    server.close()
    return seen[-1]


def places(exchange: Exchange) -> dict[str, t.Callable[[], object]]:
    """Place -> what is seen of TOY there."""
    mark = Mark(exchange.steps[1].result, "status", "expected OK")

    def script() -> str:
        setting = reproduce.Setting("nfs://host/export", credential=AuthSys(0, 0))
        return reproduce.write_script(
            Story("toy/ADD/x", "FAIL", "a clause"), setting, [exchange], marks=[mark]
        )

    def tally() -> list[str]:
        counted = Tally()
        counted.add(exchange)
        return [f"{row.protocol} {row.within} {row.procedure}" for row in counted.record().procedures]

    def layers() -> str:
        from nfsfaults.packet import RpcCall  # scapy is an extra, and takes long to load

        return type(RpcCall(exchange.call).payload).__name__

    def plan() -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            made = make_plan(Wish("toy/ADD/is-small", section="3"), Path(folder))
        return [made.suite_file, made.mutant_file, made.clause.citation, made.mutant]

    def labels() -> list[str]:
        from reports.allure import _labels, _Writer  # an extra as well

        run = Run(RunRecord("embedded", protocols=registry.titles()))
        made = _labels(
            _Writer(run, "it", t.cast("t.Any", None), None), CheckRecord("toy/ADD/x", "PASS"), "toy"
        )
        return [label.value for label in made if label.name == "epic"]

    def grouped() -> list[str]:
        made = []
        for section in ("1", "2"):
            clause = RequirementRecord("RFC 9999", section, "DESCRIPTION", "STATED", section)
            made.append(CheckRecord(f"toy/ADD/x{section}", "FAIL", clause, ["FULL (1)"], "success"))
            made[-1].outcome = outcome_of([show(ToyStat.FULL)], show(ToyStat.OK), operation="ADD")
        return [*causes(made)[0].checks, signature(made[0])]

    def lacking() -> list[str]:
        asked = [toy.put(1)], [toy.add(1)]
        answers = [toy.did(ToyOp.PUT, ToyStat.ABSENT)], [toy.did(ToyOp.ADD, ToyStat.ABSENT)]
        return [unserved([toy.exchange(*each, ToyStat.ABSENT)]) for each in zip(asked, answers, strict=True)]

    def first_line() -> str:
        # As a module of its name in fixtures/checks/dialects would bring it.
        vars(header)["CLASSES"] = (
            *CLASSES,
            type("ToyDialect", (CLASSES[0],), {"name": "toy", "title": "Toy"}),
        )
        capabilities = Capabilities()
        capabilities.update({"nfs3": YES, "toy": YES})
        return header.found_line(TargetAddress(host="h", nfs_port=9, mount_port=0), capabilities)

    found: dict[str, t.Callable[[], object]] = {
        "registry": lambda: registry.protocol_named("toy") is toy.PROTOCOL,
        "services": lambda: str(exchange.result.status),
        "statistics": tally,
        "statuses": lambda: statuses_of([exchange]),
        "transcripts": lambda: call_line(exchange),
        "scripts": lambda: [line for line in script().splitlines() if "import toy" in line],
        "scripts for a replay": lambda: is_only_data(script()),
        "port": lambda: "connect('mount'" in script() or 'connect("mount"' in script(),
        "captures": lambda: program_of(exchange.call),
        "captured calls": lambda: str(call_to_judge(exchange.call, 0.0, "x", "tcp").exchange.args.tag),
        "lint": lambda: views.views_for(exchange) is toy.VIEWS,
        "fault plans": lambda: [each.name for each in names_of("toy", 1, ("ADD",)).operations or ()],
        "proxy": lambda: name_in_proxy(toy.PROGRAM, toy.VERSION, 1),
        "archives": lambda: types_in_archives(exchange.call) == (toy.CompoundArgs, toy.CompoundRes),
        "policy": lambda: [policy_of(ToyStat.FULL).status is ToyStat, capability_for(toy.ADD)],
        "ids": lambda: [id_of("suites/toy/test_add_twice.py::test_is_small"), sorted(operations("toy"))],
        "causes": grouped,
        "patience": lambda: asked_for(exchange.result),
        "what it lacks": lacking,
        "first line": first_line,
        "new-check": plan,
    }
    if importlib.util.find_spec("scapy") is not None:
        found["scapy layers"] = layers
    if importlib.util.find_spec("allure_commons") is not None:
        found["Allure"] = labels
    return found


def main() -> None:
    """Print it."""
    toy.join_in()
    print(json.dumps({name: see() for name, see in places(real_exchange()).items()}))  # noqa: T201


if __name__ == "__main__":
    main()
