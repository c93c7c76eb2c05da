# SPDX-License-Identifier: MIT
"""Errors of calls as the library raises them, with the call that they arose from."""

from __future__ import annotations

import typing as t

from nfsclient.errors import NfsClientError
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import Procedure

Error = t.TypeVar("Error", bound=NfsClientError)


def failed(procedure: Procedure[t.Any, t.Any], error: Error) -> Error:
    """The error, of a call of this procedure."""
    error.exchange = Exchange(1, procedure, None, None, b"", 0.0, "", "tcp", error=error)
    return error
