# SPDX-License-Identifier: MIT
"""Compiles a wire type into straight-line code, on its first use.

For each class three functions are generated: a decoder for `bytes` (slices are the result), a decoder for
other buffers (slices are copied into `bytes`, bulk data stays a view), and an encoder. Runs of fixed-width
fields become one `struct.Struct`, whose values land directly in the slots of the objects.

The generated code knows no paths: when anything is wrong it gives up, and the reflective codec is run over
the same bytes to say which field it was. So the common case pays nothing for good messages, and the two
codecs check each other. What must stay true: generated code accepts exactly what `reflect` accepts.
"""

from __future__ import annotations

import linecache
import struct
import typing as t

from nfsclient.errors import XdrError
from nfsclient.xdr import reflect
from nfsclient.xdr.decoder import DecoderWriter
from nfsclient.xdr.encoder import EncoderWriter
from nfsclient.xdr.kinds import Buffer
from nfsclient.xdr.types import XdrType

_DECODE_ERRORS = (XdrError, reflect.Malformed, struct.error, IndexError, OverflowError, ValueError)
_ENCODE_ERRORS = (
    XdrError,
    reflect.Malformed,
    struct.error,
    AttributeError,
    TypeError,
    OverflowError,
    ValueError,
)


def install(cls: type[t.Any]) -> None:
    """Replace the first-use stubs of `cls` by compiled functions."""
    fast, viewed, packer = (
        DecoderWriter(cls, viewed=False),
        DecoderWriter(cls, viewed=True),
        EncoderWriter(cls),
    )
    source = "\n".join(
        [*viewed.function("unpack_view"), "", *fast.function("unpack_from"), "", *packer.function("pack"), ""]
    )
    namespace: dict[str, t.Any] = {
        **viewed.namespace,
        **fast.namespace,
        **packer.namespace,
        "new": object.__new__,
        "Malformed": reflect.Malformed,
        "DECODE_ERRORS": _DECODE_ERRORS,
        "ENCODE_ERRORS": _ENCODE_ERRORS,
        "explain_decode": _explain_decode,
        "explain_encode": _explain_encode,
        "CLS": cls,
    }
    name = f"<xdr {cls.__module__}.{cls.__qualname__}>"
    # The text was made here from declarations, never from anything off the network.
    exec(compile(source, name, "exec"), namespace)  # noqa: S102
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    cls.__xdr_source__ = source
    cls.unpack_from = staticmethod(namespace["unpack_from"])
    cls.pack = namespace["pack"]


def _explain_decode(cls: type[XdrType], buf: Buffer, start: int, error: Exception) -> t.NoReturn:
    """Raise the `XdrError` that says which field was wrong."""
    reflect.decode(cls, buf, start)
    detail = f"a bug of nfsclient.xdr: the compiled decoder gave up ({error!r}), the reflective one did not"
    raise XdrError(cls.__name__, detail, start)


def _explain_encode(value: XdrType, out: list[Buffer], mark: int) -> None:
    """Raise the `XdrError` that says which field was wrong.

    A value that is legal though unusual (a memoryview for a fixed opaque) is encoded the slow way instead.
    """
    slow = reflect.encode(value)
    out[mark:] = [slow]


def source_of(cls: type[XdrType]) -> str:
    """The generated source of encoder and decoder, for reading."""
    if "__xdr_source__" not in cls.__dict__:
        install(cls)
    return cls.__xdr_source__
