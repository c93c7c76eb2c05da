# SPDX-License-Identifier: MIT
"""XDR (RFC 4506): a wire type is declared once, as a class; everything else is derived from it.

class Nfstime3(Struct):
    seconds: u32
    nseconds: u32

Nfstime3.from_xdr(bytes(8))          # strict: limits, padding, booleans, no trailing bytes
Nfstime3(1, 2).to_xdr()
print("\\n".join(format_value(Nfstime3(1, 2))))
"""

from __future__ import annotations

from nfsclient.errors import XdrError
from nfsclient.xdr.attributes import AttributeMap, attributes_of, bits_of, mask_of
from nfsclient.xdr.compiler import source_of
from nfsclient.xdr.encoder import encoded_size
from nfsclient.xdr.kinds import (
    UNLIMITED,
    Array,
    Bit,
    Buffer,
    Bulk,
    Case,
    Choice,
    ChoiceTable,
    Default,
    FixedArray,
    FixedOpaque,
    Identity,
    Lazy,
    LinkedList,
    NotAWireType,
    Opaque,
    String,
    i32,
    i64,
    u32,
    u64,
)
from nfsclient.xdr.malform import Malformation, malformations
from nfsclient.xdr.printer import format_value
from nfsclient.xdr.types import (
    Struct,
    Union,
    Unread,
    Void,
    XdrEnum,
    XdrType,
    fields_of,
    parts_of,
    replace,
    shape_of,
)

__all__ = [
    "UNLIMITED",
    "Array",
    "AttributeMap",
    "Bit",
    "Buffer",
    "Bulk",
    "Case",
    "Choice",
    "ChoiceTable",
    "Default",
    "FixedArray",
    "FixedOpaque",
    "Identity",
    "Lazy",
    "LinkedList",
    "Malformation",
    "NotAWireType",
    "Opaque",
    "String",
    "Struct",
    "Union",
    "Unread",
    "Void",
    "XdrEnum",
    "XdrError",
    "XdrType",
    "attributes_of",
    "bits_of",
    "encoded_size",
    "fields_of",
    "format_value",
    "i32",
    "i64",
    "malformations",
    "mask_of",
    "parts_of",
    "replace",
    "shape_of",
    "source_of",
    "u32",
    "u64",
]
