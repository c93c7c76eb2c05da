# SPDX-License-Identifier: MIT
"""Words that name nobody, although a machine may be called by them: those of the protocols, of scripts and of reports.

Where a field names a machine by such a word, the field is masked, and the word is not looked for elsewhere.
"""

from __future__ import annotations

import re
import typing as t

from nfsclient import protocol
from nfsclient.protocol import mount, nfs2, nfs3, nfs4, portmap, rpcbind
from nfsclient.xdr import XdrEnum, XdrType

_OTHERS = """
access account address admin anonymous archive attribute bytes call callback capture cell check client cluster common
community compound connection control count current data default devel directory domain dynamic edition embedded
enterprise error evidence exchange expected export exports external false fault file files filer finding folder fromhex
generic gateway group host import index internal kernel label linux local localdomain localhost lock main master memory
message mode mount name network nfsd nfsproof nfsv nfsv2 nfsv3 nfsv4 node none normal object offset operation owner path
plan port preempt production program protocol proxy public record release replay reply report request root script seen
server service session share shared slot smp staging state status step storage story string system target test tester
true type unknown user value vault verdict version volume work world write
"""


def _words() -> t.Iterator[str]:
    yield from _OTHERS.split()
    for module in (protocol, mount, nfs2, nfs3, nfs4, portmap, rpcbind):
        for name, value in vars(module).items():
            yield name
            if isinstance(value, type) and issubclass(value, XdrType):
                yield from value.__xdr_fields__
            elif isinstance(value, type) and issubclass(value, XdrEnum):
                yield from value.__members__


def _parts(word: str) -> t.Iterator[str]:
    yield word
    yield from word.split("_")
    yield from re.findall(r"[A-Z]?[a-z0-9]+", word)


COMMON_WORDS: t.Final = frozenset(part.lower().encode() for word in _words() for part in _parts(word))
"""In lower case."""
