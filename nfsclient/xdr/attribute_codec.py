# SPDX-License-Identifier: MIT
"""Compiles decoders and encoders of an `AttributeMap`, one pair for each bitmap that comes often enough."""

from __future__ import annotations

import linecache
import struct
import typing as t
from collections.abc import Callable

from nfsclient.compiled import code_of
from nfsclient.errors import XdrError
from nfsclient.xdr import reflect
from nfsclient.xdr.attributes import MOST_WORDS, AttributeMap, Codecs, Mask, codecs_of
from nfsclient.xdr.decoder import DecoderWriter
from nfsclient.xdr.encoder import EncoderWriter
from nfsclient.xdr.kinds import Buffer

_WORD = struct.Struct(">I")


class Explain(t.NamedTuple):
    """What the compiler does when generated code gives up."""

    decode_errors: tuple[type[Exception], ...]
    encode_errors: tuple[type[Exception], ...]
    decode: Callable[[type[t.Any], Buffer, int, Exception], t.NoReturn]
    encode: Callable[[t.Any, list[Buffer], int], None]


def install(cls: type[t.Any], explain: Explain) -> None:
    """Replace the first-use stubs of `cls`."""
    codecs = codecs_of(cls)
    cls.__xdr_source__ = f"# {cls.__name__}: bitmaps that have been compiled so far\n"
    cls.unpack_from = staticmethod(_make_unpack(codecs, explain))
    cls.pack = _make_pack(codecs, explain)
    cls.from_xdr = classmethod(_from_xdr)


def _make_unpack(codecs: Codecs, explain: Explain) -> Callable[[t.Any, int], tuple[t.Any, int]]:
    cls, plain, viewed, errors = codecs.cls, codecs.plain, codecs.viewed, explain.decode_errors
    read_word = _WORD.unpack_from

    def unpack_from(buf: t.Any, pos: int = 0) -> tuple[t.Any, int]:
        try:
            (count,) = read_word(buf, pos)
            at = pos + 4 + 4 * count
            if count > MOST_WORDS:
                decode = None
            elif type(buf) is bytes:
                decode = plain.get(buf[pos:at])
            else:
                buf = memoryview(buf)
                decode = viewed.get(bytes(buf[pos:at]))
            if decode is not None:
                return decode(buf, at)
        except errors as error:
            failure: Exception = error
        else:
            value, end = reflect.decode(cls, buf, pos)
            if codecs.is_worth_compiling(value.attrmask):
                compile_mask(codecs, value.attrmask)
            return value, end
        return explain.decode(cls, buf, pos, failure)

    return unpack_from


def _make_pack(codecs: Codecs, explain: Explain) -> Callable[[t.Any, list[Buffer]], None]:
    encoders, errors = codecs.encoders, explain.encode_errors

    def pack(self: AttributeMap, out: list[Buffer]) -> None:
        encode = encoders.get(self.attrmask)
        if encode is None:
            out.append(reflect.encode(self))
            if codecs.is_worth_compiling(self.attrmask):
                compile_mask(codecs, self.attrmask)
            return
        mark = len(out)
        try:
            encode(self, out)
        except errors:
            pass
        else:
            return
        explain.encode(self, out, mark)

    return pack


def _from_xdr(cls: type[t.Any], buf: Buffer) -> t.Any:
    value, end = cls.unpack_from(buf, 0)
    if end != len(buf):
        detail = f"{len(buf) - end} bytes are left over after the end of the value"
        raise XdrError(cls.__name__, detail, end)
    return value


def compile_mask(codecs: Codecs, mask: Mask) -> str:
    """Make the decoders and the encoder for a bitmap; give their source."""
    layout = codecs.layout(mask)
    fields = [(field.name, field.node) for field in layout.fields]
    writers = (
        DecoderWriter(codecs.cls, viewed=True),
        DecoderWriter(codecs.cls, viewed=False),
        EncoderWriter(codecs.cls),
    )
    viewed, plain, encoder = writers
    functions = (
        viewed.attributes_function("unpack_view", fields, has_rest=layout.has_unknown),
        plain.attributes_function("unpack", fields, has_rest=layout.has_unknown),
        encoder.attributes_function("pack", mask, fields, has_rest=layout.has_unknown),
    )
    source = "\n".join(line for function in functions for line in [*function, ""])
    namespace: dict[str, t.Any] = {
        **viewed.namespace,
        **plain.namespace,
        **encoder.namespace,
        "new": object.__new__,
        "CLS": codecs.cls,
        "MASK": mask,
        "Malformed": reflect.Malformed,
    }
    name = f"<xdr {codecs.cls.__module__}.{codecs.cls.__qualname__} {'-'.join(f'{word:x}' for word in mask)}>"
    # The text was made here from declarations; of the network it has the numbers of known bits.
    exec(code_of(source, name), namespace)  # noqa: S102
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    codecs.cls.__xdr_source__ += f"# {name}\n{source}"
    key = b"".join(_WORD.pack(word) for word in (len(mask), *mask))
    codecs.plain[key] = namespace["unpack"]
    codecs.viewed[key] = namespace["unpack_view"]
    codecs.encoders[mask] = namespace["pack"]
    return source
