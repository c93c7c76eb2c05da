# SPDX-License-Identifier: MIT
"""Whether a script does nothing but what scripts of nfsproof do: data goes to a replay. It is read, and not run."""

from __future__ import annotations

import ast
import re
import typing as t

from nfsclient.protocol.registry import modules
from nfsjudge.reproduce import MISSING

_NODES = (
    *(
        ast.Module,
        ast.ImportFrom,
        ast.alias,
        ast.Assign,
        ast.Expr,
        ast.Call,
        ast.keyword,
        ast.Name,
        ast.Attribute,
    ),
    *(
        ast.Constant,
        ast.List,
        ast.Tuple,
        ast.BinOp,
        ast.Add,
        ast.Mult,
        ast.UnaryOp,
        ast.USub,
        ast.Load,
        ast.Store,
    ),
)
_MODULES = frozenset({"nfsclient.replay", "nfsclient.rpc.auth", "nfsclient.xdr"})
_TYPES = frozenset({"Replay", "Story", "AuthNone", "AuthSys", "RawCredential", "Unread", "Void", "opaque"})
_VARIABLE = re.compile(r"replay|[rpgcs]\d+|(name|owner)\d+|root[234]")
_OF_REPLAY = frozenset(
    {
        *(
            "call",
            "callback",
            "close",
            "connect",
            "end",
            "export",
            "fresh_name",
            "fresh_owner",
            "half_close",
            "happened",
            "many",
            "path",
        ),
        *("receive_record", "root", "send_raw", "send_record", "session", "submit", "take", "wait"),
    }
)
_HANDLER = ast.parse(
    f'try:\n    pass\nexcept ImportError as error:\n    raise SystemExit(f"{{error}}: {MISSING}") from error\n'
)


def is_only_data(text: str) -> bool:
    """Whether a script calls nothing but the replay, with literals, types of protocols and variables."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    statements = list[ast.stmt]()
    for statement in tree.body:
        if isinstance(statement, ast.Try):
            if not _is_guard(statement):
                return False
            statements += statement.body
        else:
            statements.append(statement)
    return all(_is_harmless(node) for statement in statements for node in ast.walk(statement))


def _is_guard(statement: ast.Try) -> bool:
    """What says that nfsclient is missing, around imports."""
    wanted = t.cast("ast.Try", _HANDLER.body[0])
    same = [ast.dump(each) for each in statement.handlers] == [ast.dump(each) for each in wanted.handlers]
    return (
        same
        and not statement.orelse
        and not statement.finalbody
        and all(isinstance(each, ast.ImportFrom) for each in statement.body)
    )


def _is_harmless(node: ast.AST) -> bool:
    match node:
        case ast.ImportFrom():
            return (
                node.module is not None
                and not node.level
                and all(_may_import(node.module, each) for each in node.names)
            )
        case ast.Name(ctx=ast.Store()):
            return _VARIABLE.fullmatch(node.id) is not None
        case ast.Name():
            return _VARIABLE.fullmatch(node.id) is not None or node.id in modules().keys() | _TYPES | {
                "bytes"
            }
        case ast.Attribute(ctx=ast.Load()):
            return _is_known(node)
        case ast.Assign():
            return all(isinstance(target, ast.Name) for target in node.targets)
        case ast.Call():
            return isinstance(node.func, ast.Attribute) or (
                isinstance(node.func, ast.Name) and node.func.id in _TYPES
            )
    return isinstance(node, _NODES) and not isinstance(node, ast.Attribute)


def _may_import(package: str, alias: ast.alias) -> bool:
    """A type from one of the modules of `_MODULES`, or a protocol from the package that declares it."""
    if alias.asname is not None:
        return False
    protocol = modules().get(alias.name)
    if protocol is not None and protocol.__name__ == f"{package}.{alias.name}":
        return True
    return package in _MODULES and alias.name in _TYPES


def _is_known(node: ast.Attribute) -> bool:
    """``replay.call``, ``nfs3.GETATTR``, ``nfs3.Ftype3.NF3DIR``, ``bytes.fromhex``."""
    match node.value:
        case ast.Name(id="replay"):
            return node.attr in _OF_REPLAY
        case ast.Name(id="bytes"):
            return node.attr == "fromhex"
        case ast.Name(id="Replay"):
            return node.attr == "of_arguments"
        case ast.Name(id=name):
            return name in modules() and _is_declared(name, node.attr)
        case ast.Attribute(value=ast.Name(id=name)):
            return name in modules() and node.attr.isupper()
    return False


def _is_declared(protocol: str, name: str) -> bool:
    """Whether a protocol has such a type or procedure, and not only a module that it imports."""
    from nfsclient.rpc.program import Procedure
    from nfsclient.xdr import XdrEnum, XdrType

    value = getattr(modules()[protocol], name, None)
    return isinstance(value, Procedure) or (isinstance(value, type) and issubclass(value, XdrType | XdrEnum))
