# SPDX-License-Identifier: MIT
"""A folder that looks like a checkout of pynfs: a program with its command line and output, and tests by a plan.

The plan is a file next to the program: for each code its flags, its function, and what it does. `program` is the text
of that program; it runs with the standard library alone, and talks to no server unless the plan says so.
"""

from __future__ import annotations

import json
import os
import typing as t
from dataclasses import asdict, dataclass
from pathlib import Path

PROGRAM: t.Final = """\
import json, optparse, os, signal, sys, time

plan = json.load(open(os.path.join(os.path.dirname(__file__), "plan.json")))
parser = optparse.OptionParser()
for name in ("--showcodesflags", "--maketree", "--force", "--rundeps", "-v", "--showomit", "--secure"):
    parser.add_option(name, action="store_true", default=False, dest=name.strip("-"))
for name in ("--json", "--serverhelper", "--serverhelperarg"):
    parser.add_option(name, default=None, dest=name.strip("-"))
for name in ("--minorversion", "--uid", "--gid"):
    parser.add_option(name, type="int", default=2, dest=name.strip("-"))
options, words = parser.parse_args()
tests = {test["code"]: test for test in plan["tests"]}
if options.showcodesflags:
    print("some module is not there")
    for code in sorted(tests):
        print(code, "FLAGS:", ", ".join([*tests[code]["flags"], "everything"]))
    sys.exit(0)
where, *codes = words
unknown = [code for code in codes if code not in tests]
if unknown:
    parser.error("no such code: %s" % unknown[0])
print(json.dumps([where, codes, vars(options)]), file=open(plan["calls"], "a"))
if plan["dies"]:
    print("no server, no tests")
    raise SystemExit(plan["dies"])
results = {}
trace = "Traceback (most recent call last):\\n  File \\"x.py\\", line 1, in f\\n"


class FailureException(Exception):
    pass


def label(test):
    return "%-65s" % ("%-8s %s" % (test["code"], test["function"]))


def show(test, state, words=""):
    print(label(test) + " : " + state)
    line = ""
    for word in words.split():
        if len(line) + len(word) > 53 and line:
            print(" " * 10 + line)
            line = ""
        line += " " + word
    if line:
        print(" " * 10 + line)


def run(test):
    show(test, "RUNNING")
    state, words, err = "PASS", test["words"], ""
    print(test["prints"], end="")
    what = test["does"]
    if what == "wait":
        print(os.getpid(), end="", file=open(plan["calls"] + "-waits", "w"), flush=True)
        print("waiting")
        time.sleep(3600)
    elif what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "crash":
        state, err = "FAILURE", trace + words + "\\n"
        print(err, end="", file=sys.stderr)
    elif what in ("fail", "quietly crash"):
        name = "testmod.FailureException: " if what == "fail" else ""
        state, err = "FAILURE", trace + name + words + "\\n"
    elif what in ("warn", "unsupported"):
        state = {"warn": "WARNING", "unsupported": "UNSUPPORTED"}[what]
    results[test["code"]] = (state, words, err)
    show(test, state, words if state != "PASS" else "")


def tree(code):
    test = tests[code]
    if code in results or options.minorversion < test["since"]:
        return
    for other in test["needs"]:
        if options.rundeps or other in codes:
            tree(other)
        if not options.force and results.get(other, ("OMIT",))[0] in ("OMIT", "FAILURE", "UNSUPPORTED"):
            results[code] = ("OMIT", "%s did not pass" % other, "")
            return
    run(test)


for code in [test["code"] for test in plan["tests"] if test["code"] in codes]:
    tree(code)
print("*" * 50)
for code, (state, words, err) in results.items():
    show(tests[code], state, words if state != "PASS" else "")
print("*" * 50)
if options.json:
    cases = []
    for code, test in tests.items():
        state, words, err = results.get(code, ("OMIT", "", ""))
        case = {"code": code, "name": test["function"], "classname": "st_x", "time": "0.1"}
        if state == "FAILURE":
            case["failure"] = {"message": words, "err": err}
        elif state == "OMIT":
            case["skipped"] = 1
        cases.append(case)
    json.dump({"tests": len(tests), "testcase": cases}, open(options.json, "w"))
sys.exit(0)
"""


@dataclass(frozen=True, slots=True)
class Planned:
    """A test of the stand-in."""

    code: str
    does: str = "pass"
    """``pass``, ``fail``, ``warn``, ``unsupported``, ``crash``, ``quietly crash``, ``wait`` or ``kill``."""
    words: str = ""
    prints: str = ""
    flags: tuple[str, ...] = ("all",)
    needs: tuple[str, ...] = ()
    since: int = 0
    """The first minor version."""
    function: str = "st_exchange_id.testIt"


def make_checkout(folder: Path, *tests: Planned, dies: int = 0) -> Path:
    """A checkout whose trees have these tests. `dies`: the exit status with which the program ends before them."""
    made = ("nfs4.1/xdrdef/nfs4_const.py", "rpc/rpc_const.py", "nfs4.0/lib/rpc/rpc_const.py")
    for path in made:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("", encoding="utf-8")
    plan = {"tests": [asdict(test) for test in tests], "calls": str(folder / "calls.jsonl"), "dies": dies}
    for tree in ("nfs4.0", "nfs4.1"):
        (folder / tree / "testserver.py").write_text(PROGRAM, encoding="utf-8")
        (folder / tree / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    return folder


def is_waiting(checkout: Path) -> bool:
    """Whether a test waits for ever now."""
    try:
        os.kill(int((checkout / "calls.jsonl-waits").read_text(encoding="ascii")), 0)
    except (OSError, ValueError):
        return False
    return True


def calls_of(checkout: Path) -> list[tuple[str, list[str], dict[str, t.Any]]]:
    """How the program was called: server and path, codes, options."""
    lines = (checkout / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    return [(where, codes, options) for where, codes, options in map(json.loads, lines)]
