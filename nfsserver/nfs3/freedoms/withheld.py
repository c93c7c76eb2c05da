# SPDX-License-Identifier: MIT
"""Knobs that withhold attributes and handles, which only few replies owe (RFC 1813 section 2.5)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import Fattr3, Nfsstat3, WccAttr
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Struct, Union, fields_of, replace, shape_of
from nfsclient.xdr.kinds import OpaqueNode, OptionalNode, StructNode
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Proceed
from nfsserver.settings import Settings


def withhold(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """Remove the optional parts of a reply that knobs withhold."""
    return _without(proceed(context, args), server.knobs.now)


def _without(value: t.Any, now: Settings) -> t.Any:
    if isinstance(value, Union):
        arms = {
            name: _without(arm, now) for name in ("resok", "resfail") if (arm := getattr(value, name, None))
        }
        return replace(value, **arms)
    if not isinstance(value, Struct):
        return value
    changes: dict[str, object] = {}
    for name, node in fields_of(type(value)):
        inner = getattr(value, name)
        if isinstance(node, OptionalNode):
            if _is_withheld(node, now):
                changes[name] = None
        elif isinstance(inner, list):
            changes[name] = [_without(each, now) for each in inner]
        elif isinstance(node, StructNode):
            changes[name] = _without(inner, now)
    return replace(value, **changes) if changes else value


def _is_withheld(node: OptionalNode, now: Settings) -> bool:
    if isinstance(node.inner, OpaqueNode):
        return now.withhold_handles
    if isinstance(node.inner, StructNode):
        return (
            now.withhold_post_op
            if node.inner.cls is Fattr3
            else node.inner.cls is WccAttr and now.withhold_pre_op
        )
    return False


def reply_with_nothing(res: type[t.Any], status: Nfsstat3) -> t.Any:
    """The result of this status, without anything that may be left out of it."""
    arm = shape_of(res).arm_for(status)
    if arm is None or not isinstance(arm.node, StructNode):
        return res(status)
    cls, name = arm.node.cls, str(arm.name)
    nothing = [node.cls() if isinstance(node, StructNode) else None for _, node in fields_of(cls)]
    return res(status, **{name: cls(*nothing)})
