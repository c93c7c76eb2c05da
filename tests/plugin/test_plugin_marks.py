# SPDX-License-Identifier: MIT
"""Checks say themselves which field of which reply a claim is about, and a reply has that field."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import typing as t
from collections.abc import Iterator
from pathlib import Path

from tests.plugin.evidence_run import ROOT, EvidenceRun, marks_in
from tests.plugin.marking_run import MARKED
from tests.waiting import AT_MOST

_FORMS: t.Final = {
    # a field of a reply
    "nfs3/COMMIT/verifier-repeated": {("COMMIT", "resok.verf")},
    # a field of a part of a reply
    "nfs3/SETATTR/uid": {("GETATTR", "resok.obj_attributes.uid"), ("GETATTR", "resok.obj_attributes.gid")},
    "nfs4/REMOVE/change-info[4.1]": {
        ("COMPOUND", "resarray[2].resok4.cinfo.before"),
        ("COMPOUND", "resarray[2].resok4.cinfo.after"),
    },
    # the status of a compound
    "nfs4/EXCHANGE_ID/with-company[4.1]": {("COMPOUND", "status")},
    # what is derived from a field
    "nfs4/LOCK/denied[4.1]": {
        ("COMPOUND", "resarray[2].denied.offset"),
        ("COMPOUND", "resarray[2].denied.locktype"),
        ("COMPOUND", "resarray[2].denied.owner.owner"),
        ("COMPOUND", "resarray[2].denied.owner.clientid"),
    },
    # only the name of the field
    "nfs2/LINK/shared-attributes": {("GETATTR", "attributes.mode")},
    "recovery/SETATTR/directory[v3]": {("GETATTR", "resok.obj_attributes.mode")},
    # names of a directory
    "nfs2/RMDIR/removes-empty-directory": {("READDIR", "readdirok.entries")},
    # the arguments of a callback
    "nfs4/delegation/recall-names-it[write]": {("CB_COMPOUND", "argarray[1].stateid.other")},
    # raw answers
    "rpc/header/unknown-program[0-tcp]": {("raw", "")},
}
"""A check of each form -> what its claims mark, as operation and path in what the server said."""
_NOT_OF_A_REPLY: t.Final = {
    ("faults/lost.py", "list(after.attributes)"): "several fields of an earlier reply",
    ("nfs4/test_compound.py", "p.operation_of(reply[-1]).name"): "the kind of a result",
    ("nfs4/test_operations.py", "p.operation_of(reply[-1]).name"): "the kind of a result",
    ("pairs.py", "seen.is_file"): "attributes that are the same in all versions",
    ("pairs.py", "seen.mtime"): "as above",
}
"""What checks read from objects without saying a field -> why."""
_NOT_ALWAYS: t.Final = {
    "data after the retry": "it is read only where a retry could change it",
    "status of the retry": "a retry of raw bytes is no call of a client",
    "names listed by the handle of the removed directory": "a refusal lists none",
    "port registered by SET": "an address in versions 3 and 4",
    "the name that is listed": "one name of a listing of several pages",
    "names that nobody made": "some names of a listing of several pages",
    "the name up to the NUL, listed": "whether a name is in a listing of several pages",
    "supported attributes": "words of a bitmap, which the check reads as names",
    "locations without a server": "an empty list has no field to mark",
    "statuses of DELEGPURGE": "those of several replies",
    "flavors by SECINFO_NO_NAME": "some fields of all entries",
    "whether LISTXATTRS is supported": "the operation may be answered as an illegal one",
}
"""What claims are about that operations or versions share of which some have no such field -> why."""
_THROUGH: t.Final = {"len", "bytes", "list", "set", "sorted", "abs", "getattr", "names_of"}
"""Functions whose result is about the same field as their argument."""


def test_a_reply_has_each_field_that_a_check_names(evidence_run: EvidenceRun) -> None:
    wrong = {
        (marked["check"], marked["what"], marked["says"])
        for marked in evidence_run.marked
        if not marked["operation"] and not marked["what"].startswith(tuple(_NOT_ALWAYS))
    }
    assert wrong == set()
    others = {
        (marked["check"], marked["says"], marked["field"])
        for marked in evidence_run.marked
        if marked["operation"] not in {"", "raw"}
        and not re.sub(r"\[\d+\]$", "", marked["field"]).endswith(tuple(marked["says"].split("|")))
    }
    assert others == set()
    assert len(evidence_run.marked) > 3000 // evidence_run.every


def test_each_form_of_a_claim_marks_its_field(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "--target", "embedded", "-q", "-p", "no:cacheprovider"]
    result = subprocess.run(
        [*command, "-p", "tests.plugin.marking_run", f"--report={tmp_path / 'report'}", *_FORMS],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), MARKED: str(tmp_path / "marked")},
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-2000:]
    seen = {(mark["operation"], mark["field"]) for mark in marks_in(tmp_path)}
    assert seen == set().union(*_FORMS.values())


def _reads(node: ast.AST) -> Iterator[ast.Attribute]:
    """What a value reads from objects, itself or through functions that keep its meaning."""
    if isinstance(node, ast.Attribute):
        yield node
    elif isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in _THROUGH:
            for argument in node.args:
                yield from _reads(argument)
    elif isinstance(node, ast.BinOp | ast.Tuple):
        for child in ast.iter_child_nodes(node):
            yield from _reads(child)


def _silent_claims(source: str) -> Iterator[tuple[int, str]]:
    """(line, value) of each claim about what a value read from an object, which does not say the field."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "expect"):
            continue
        says = {keyword.arg for keyword in node.keywords} & {"of", "field"}
        if len(node.args) > 1 and not says and any(_reads(node.args[0])):
            yield node.lineno, ast.unparse(node.args[0])


def test_a_claim_about_a_field_says_which() -> None:
    found = {
        (str(path.relative_to(ROOT / "suites")), value): line
        for path in sorted((ROOT / "suites").rglob("*.py"))
        for line, value in _silent_claims(path.read_text())
    }
    assert {place: line for place, line in found.items() if place not in _NOT_OF_A_REPLY} == {}
    assert _NOT_OF_A_REPLY.keys() - found.keys() == set()


def test_claims_that_say_no_field_are_seen() -> None:
    silent = [
        'expect(after.size, "size").equals(1)',
        'expect(len(reply.resok.data), "bytes").equals(1)',
        'expect(scratch.attributes(file).mode & 0o777, "permissions").equals(1)',
        'expect((denied.offset, denied.length), "range").equals(1)',
    ]
    assert [line for line, _ in _silent_claims("\n".join(silent))] == [1, 2, 3, 4]
    marked = ['expect(after).field("size").equals(1)', 'expect(after.size, "size", of=after, field="size")']
    assert list(_silent_claims("\n".join([*marked, 'expect(scratch.names(), "names")']))) == []
