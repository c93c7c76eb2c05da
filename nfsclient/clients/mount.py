# SPDX-License-Identifier: MIT
"""A typed client of the MOUNT protocol, versions 1 to 3 (RFC 1094 appendix A, RFC 1813 section 5)."""

from __future__ import annotations

import typing as t

from nfsclient.clients.caller import Caller, TypedClient
from nfsclient.protocol import mount as p
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Void

if t.TYPE_CHECKING:
    from nfsclient.rpc.auth import Credential


class _Procedures(t.NamedTuple):
    null: Procedure[Void, Void]
    dump: Procedure[Void, p.Mountlist]
    umnt: Procedure[p.DirpathArgs, Void]
    umntall: Procedure[Void, Void]
    export: Procedure[Void, p.Exports]


_VERSIONS: t.Final = {
    1: _Procedures(p.NULL1, p.DUMP1, p.UMNT1, p.UMNTALL1, p.EXPORT1),
    2: _Procedures(p.NULL2, p.DUMP2, p.UMNT2, p.UMNTALL2, p.EXPORT2),
    3: _Procedures(p.NULL3, p.DUMP3, p.UMNT3, p.UMNTALL3, p.EXPORT3),
}


class Mount(TypedClient):
    """MOUNT over one connection. Paths are bytes. Raises `RpcError` and `XdrError` only."""

    __slots__ = ("_procedures", "version")

    def __init__(
        self,
        rpc: Caller,
        version: int = 3,
        *,
        credential: Credential | None = None,
        timeout: float | None = None,
    ) -> None:
        if version not in _VERSIONS:
            raise ValueError(f"expected MOUNT version 1, 2 or 3, saw {version}")
        super().__init__(rpc, credential=credential, timeout=timeout)
        self.version = version
        self._procedures = _VERSIONS[version]

    def null(self) -> None:
        """NULL: nothing, but an answer."""
        self.call(self._procedures.null, Void())

    def mnt(self, dirpath: bytes) -> p.Mnt3Res:
        """MNT of version 3: the root handle of an exported directory (RFC 1813 section 5.2.1)."""
        if self.version != 3:
            raise ValueError(
                f"this client speaks MOUNT version {self.version}: call mnt1, which gives a handle for NFSv2"
            )
        return self.call(p.MNT3, p.DirpathArgs(dirpath))

    def mnt1(self, dirpath: bytes) -> p.Mnt1Res:
        """MNT of versions 1 and 2: the root handle of an exported directory, for NFSv2 (RFC 1094 A.5.2)."""
        if self.version == 3:
            raise ValueError("this client speaks MOUNT version 3: call mnt, which gives a handle for NFSv3")
        return self.call(p.MNT1 if self.version == 1 else p.MNT2, p.DirpathArgs(dirpath))

    def dump(self) -> list[p.Mountbody]:
        """DUMP: who has mounted what, as far as the server remembers."""
        return self.call(self._procedures.dump, Void()).entries

    def umnt(self, dirpath: bytes) -> None:
        """UMNT: forget this client's mount of a directory."""
        self.call(self._procedures.umnt, p.DirpathArgs(dirpath))

    def umntall(self) -> None:
        """UMNTALL: forget all mounts of this client."""
        self.call(self._procedures.umntall, Void())

    def export(self) -> list[p.Exportnode]:
        """EXPORT: what the server exports, and to whom in its own notation."""
        return self.call(self._procedures.export, Void()).entries

    def exportall(self) -> list[p.Exportnode]:
        """EXPORTALL of versions 1 and 2: the same as EXPORT, where a server has it."""
        if self.version == 3:
            raise ValueError("EXPORTALL exists in MOUNT versions 1 and 2 only; this client speaks 3")
        return self.call(p.EXPORTALL1 if self.version == 1 else p.EXPORTALL2, Void()).entries
