# SPDX-License-Identifier: MIT
"""A version is a package of nfsclient, not a suffix: `nfs4.NfsClient` and not `NfsClient4` (docs/architecture.md)."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest

import nfsclient.protocol
from nfsclient.rpc.program import Procedure, Program
from nfsclient.xdr import XdrEnum, XdrType

LIBRARY = Path(nfsclient.__file__).parent
WITH_VERSION: t.Final = re.compile(r"(?<!\d)[1-4]$")
"""The end of a name. Numbers of more digits are no versions (`u32`)."""
PROTOCOL: t.Final = re.compile(r"_*nfs[234]|Nfs[234]|AsyncNfs[234]|NFS[234]|_NFS[234]|v[234]")
"""The name of a protocol: of its typed client, of an object of that, of a module or a number."""

ALLOWED: t.Final = {
    "mnt1": "`Mount` has the calls of both versions of MOUNT, and MNT gives another result in version 1",
    "_IN_4_0": "a minor version, of which the package nfs4 has three",
    "_IN_4_1": "a minor version",
    "_IN_4_2": "a minor version",
}
"""Other names, and why their version is no suffix."""


def is_of_rfc(name: str, value: object) -> bool:
    """Whether a name of a protocol module is one of its RFC: a type, a constant, a procedure or a program."""
    if isinstance(value, type):
        return issubclass(value, (XdrType, XdrEnum))
    if t.get_origin(value) is t.Annotated:
        return True
    return (
        name.isupper()
        and not name.startswith("_")
        and isinstance(value, (int, bytes, str, Procedure, Program))
    )


def names_of_rfcs() -> set[str]:
    """The names that the RFCs give: with the fields of structures and the members of enumerations."""
    names: set[str] = set()
    for found in pkgutil.walk_packages(nfsclient.protocol.__path__, "nfsclient.protocol."):
        for name, value in vars(importlib.import_module(found.name)).items():
            if not is_of_rfc(name, value):
                continue
            names.add(name)
            if isinstance(value, type):
                names |= {*getattr(value, "__members__", ()), *vars(value).get("__annotations__", ())}
    return names


def defined(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """(line, name, whether it is a class) of everything that gets a name."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name):
                yield node.lineno, name, True
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                yield node.lineno, name, False
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name, False
            case ast.alias(asname=str(name)):
                yield node.lineno, name, False


def offences(tree: ast.AST, of_rfcs: set[str], *, is_protocol: bool) -> Iterator[tuple[int, str]]:
    """(line, name) of the names with a version as suffix.

    Outside the protocols a value or a function may be called as the type of the RFC that it is or makes (`fattr4`), but
    no class may.
    """
    lower = {name.lower() for name in of_rfcs}
    for line, name, is_class in defined(tree):
        if not WITH_VERSION.search(name) or PROTOCOL.fullmatch(name) or name in ALLOWED:
            continue
        is_value = name == name.lower() and name.lstrip("_") in lower
        if not (is_protocol and name in of_rfcs) and (is_class or not is_value):
            yield line, name


@pytest.fixture(scope="module")
def of_rfcs() -> set[str]:
    return names_of_rfcs()


def test_no_name_of_the_library_ends_in_a_version(of_rfcs: set[str]) -> None:
    found = []
    for path in sorted(LIBRARY.rglob("*.py")):
        where = path.relative_to(LIBRARY)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        is_protocol = where.parts[0] == "protocol"
        found += [
            f"{where}:{line}: {name}" for line, name in offences(tree, of_rfcs, is_protocol=is_protocol)
        ]
        if WITH_VERSION.search(path.stem) and not PROTOCOL.fullmatch(path.stem):
            found.append(f"{where}: its name")
    assert not found, "\n".join(
        ["put what belongs to one version into its package, without a suffix:", *found]
    )


@pytest.mark.parametrize(
    "text",
    [
        "class Lister4: ...",
        "class Entry4: ...",  # a type of the RFC, which this is not
        "def connect3(): ...",
        "async def discover4(): ...",
        "def f(client4): ...",
        "self._root4 = None",
        "from nfsclient.xdr import replace as replace3",
        "Limits4 = Limits",
        "_require_version_4 = 1",
    ],
)
def test_a_suffix_is_found(of_rfcs: set[str], text: str) -> None:
    assert len(list(offences(ast.parse(text), of_rfcs, is_protocol=False))) == 1


@pytest.mark.parametrize(
    "text", ["class Operation4: ...", "AnyOperation4 = Any", "def client_time4(): ...", "class Step4: ..."]
)
def test_a_suffix_is_found_beside_the_types_of_the_rfc(of_rfcs: set[str], text: str) -> None:
    assert len(list(offences(ast.parse(text), of_rfcs, is_protocol=True))) == 1


def test_names_of_the_rfc_and_of_protocols_are_none(of_rfcs: set[str]) -> None:
    wire = "class Fattr4: ...\nclass Stateid4:\n    resok4 = 1\nNFS4 = 1\nGETADDR4 = 1\nOffset3 = 1"
    assert not list(offences(ast.parse(wire), of_rfcs, is_protocol=True))
    ours = "class Nfs4: ...\nclass AsyncNfs4: ...\ndef fattr4(sattr3): ...\nself.nfs4 = nfs4\nu32 = i64 = 1"
    assert not list(offences(ast.parse(ours), of_rfcs, is_protocol=False))


def test_each_exception_is_needed() -> None:
    names = {
        name
        for path in LIBRARY.rglob("*.py")
        for _, name, _ in defined(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert not set(ALLOWED) - names
