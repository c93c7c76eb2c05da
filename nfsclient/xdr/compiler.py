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
from collections.abc import Callable, Sequence

from nfsclient.compiled import code_of
from nfsclient.errors import XdrError
from nfsclient.xdr import attribute_codec, reflect
from nfsclient.xdr.decoder import DecoderWriter
from nfsclient.xdr.encoder import EncoderWriter
from nfsclient.xdr.kinds import Buffer, ChoiceTable
from nfsclient.xdr.types import STUBS, Void, XdrType, compile_by

_DECODE_ERRORS = (XdrError, reflect.Malformed, struct.error, IndexError, OverflowError, ValueError)
_ENCODE_ERRORS = (
    XdrError,
    reflect.Malformed,
    struct.error,
    AttributeError,
    TypeError,
    KeyError,
    OverflowError,
    ValueError,
)


def install(cls: type[t.Any]) -> None:
    """Replace the first-use stubs of `cls` by compiled functions."""
    if cls.__xdr_role__ == "attributes":
        attribute_codec.install(cls, _EXPLAIN)
        return
    if cls.__xdr_role__ == "unread":
        _install_slow(cls)
        return
    exact = DecoderWriter(cls, viewed=False, exact=True)
    fast, viewed, packer = (
        DecoderWriter(cls, viewed=False),
        DecoderWriter(cls, viewed=True),
        EncoderWriter(cls),
    )
    functions = (
        viewed.function("unpack_view"),
        fast.function("unpack_from"),
        exact.exact_function("from_xdr"),
        packer.function("pack"),
    )
    source = "\n".join(line for function in functions for line in [*function, ""])
    namespace: dict[str, t.Any] = {
        **viewed.namespace,
        **fast.namespace,
        **exact.namespace,
        **packer.namespace,
        "new": object.__new__,
        "Malformed": reflect.Malformed,
        "DECODE_ERRORS": _DECODE_ERRORS,
        "ENCODE_ERRORS": _ENCODE_ERRORS,
        "explain_decode": _explain_decode,
        "explain_encode": _explain_encode,
        "explain_exact": _explain_exact,
        "CLS": cls,
    }
    name = f"<xdr {cls.__module__}.{cls.__qualname__}>"
    # The text was made here from declarations, never from anything off the network.
    exec(code_of(source, name), namespace)  # noqa: S102
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    cls.__xdr_source__ = source
    for method, stub in STUBS.items():
        made = namespace[method]
        if cls.__dict__.get(method) is stub:
            setattr(cls, method, made if method == "pack" else staticmethod(made))
        else:
            namespace[method] = getattr(cls, method)  # the class has its own; generated code is to use it


def _install_slow(cls: type[t.Any]) -> None:
    """The same without compiled code, for values that are rare."""
    cls.__xdr_source__ = f"# {cls.__name__}: no code, the reflective codec encodes and decodes it\n"
    cls.unpack_from = classmethod(reflect.decode)
    cls.from_xdr = classmethod(lambda kind, buf: reflect.decode(kind, buf)[0])
    cls.pack = lambda value, out: out.append(reflect.encode(value))


ENCODE_ERRORS: t.Final = _ENCODE_ERRORS
"""What the functions of `encoder_of` may raise; then the ordinary encoder says what is wrong."""


def encoder_of(
    table: ChoiceTable, classes: Sequence[type[t.Any]]
) -> Callable[[Sequence[XdrType]], list[Buffer]]:
    """One function that encodes values of these alternatives, in this order, with their numbers."""
    writer = EncoderWriter(Void)
    source = "\n".join(writer.alternatives_function("pack", table, classes))
    namespace: dict[str, t.Any] = {**writer.namespace, "Malformed": reflect.Malformed}
    # The text was made here from declarations.
    exec(compile(source, "<xdr alternatives>", "exec"), namespace)  # noqa: S102
    return t.cast("Callable[[Sequence[XdrType]], list[Buffer]]", namespace["pack"])


def _explain_decode(cls: type[XdrType], buf: Buffer, start: int, error: Exception) -> t.NoReturn:
    """Raise the `XdrError` that says which field was wrong."""
    reflect.decode(cls, buf, start)
    detail = f"a bug of nfsclient.xdr: the compiled decoder gave up ({error!r}), the reflective one did not"
    raise XdrError(cls.__name__, detail, start)


def _explain_exact(cls: type[XdrType], buf: Buffer, error: Exception) -> t.NoReturn:
    """The same for a value that should fill its buffer."""
    if isinstance(error, XdrError):
        raise error
    _, end = reflect.decode(cls, buf, 0)
    left = len(buf) - end
    if left:
        raise XdrError(cls.__name__, f"{left} bytes are left over after the end of the value", end)
    _explain_decode(cls, buf, 0, error)


def _explain_encode(value: XdrType, out: list[Buffer], mark: int) -> None:
    """Raise the `XdrError` that says which field was wrong.

    A value that is legal though unusual (a memoryview for a fixed opaque) is encoded the slow way instead.
    """
    slow = reflect.encode(value)
    out[mark:] = [slow]


_EXPLAIN = attribute_codec.Explain(_DECODE_ERRORS, _ENCODE_ERRORS, _explain_decode, _explain_encode)


compile_by(install)


def source_of(cls: type[XdrType]) -> str:
    """The generated source of encoder and decoder, for reading."""
    if "__xdr_source__" not in cls.__dict__:
        install(cls)
    return cls.__xdr_source__
