# SPDX-License-Identifier: MIT
"""Typed clients of the RPC binding protocol: `Portmap` (version 2), `Rpcbind` (3 and 4; RFC 1833)."""

from __future__ import annotations

import typing as t

from nfsclient.clients.caller import Caller, TypedClient
from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Void

if t.TYPE_CHECKING:
    from nfsclient.rpc.auth import Credential


class Portmap(TypedClient):
    """The port mapper. `prot` is IPPROTO_TCP (6) or IPPROTO_UDP (17). Raises `RpcError` and `XdrError`."""

    __slots__ = ()

    def null(self) -> None:
        """NULL: nothing, but an answer."""
        self.call(pm.NULL, Void())

    def set(self, prog: int, vers: int, prot: int, port: int) -> bool:
        """SET: register a port; False when refused. Only for callers on the same machine."""
        return self.call(pm.SET, pm.Mapping(prog, vers, prot, port)).value

    def unset(self, prog: int, vers: int, prot: int = 0, port: int = 0) -> bool:
        """UNSET: remove a program and version; `prot` and `port` are ignored."""
        return self.call(pm.UNSET, pm.Mapping(prog, vers, prot, port)).value

    def getport(self, prog: int, vers: int, prot: int = pm.IPPROTO_TCP) -> int:
        """GETPORT: the port of a program; 0 when it is not registered."""
        return self.call(pm.GETPORT, pm.Mapping(prog, vers, prot)).port

    def dump(self) -> list[pm.Mapping]:
        """DUMP: all registrations."""
        return self.call(pm.DUMP, Void()).entries

    def callit(self, prog: int, vers: int, proc: int, args: bytes = b"") -> pm.CallResult:
        """CALLIT: pass a call on, over UDP; a call that fails is not answered (`RpcTimeout`)."""
        return self.call(pm.CALLIT, pm.CallArgs(prog, vers, proc, args))


class _Procedures(t.NamedTuple):
    null: Procedure[Void, Void]
    set: Procedure[rb.Rpcb, pm.BoolRes]
    unset: Procedure[rb.Rpcb, pm.BoolRes]
    getaddr: Procedure[rb.Rpcb, rb.TextRes]
    dump: Procedure[Void, rb.Rpcblist]
    callit: Procedure[rb.RpcbRmtcallargs, rb.RpcbRmtcallres]
    gettime: Procedure[Void, rb.GettimeRes]
    uaddr2taddr: Procedure[rb.TextArgs, rb.Netbuf]
    taddr2uaddr: Procedure[rb.Netbuf, rb.TextRes]


_VERSIONS: t.Final = {
    3: _Procedures(
        rb.NULL3,
        rb.SET3,
        rb.UNSET3,
        rb.GETADDR3,
        rb.DUMP3,
        rb.CALLIT3,
        rb.GETTIME3,
        rb.UADDR2TADDR3,
        rb.TADDR2UADDR3,
    ),
    4: _Procedures(
        rb.NULL4,
        rb.SET4,
        rb.UNSET4,
        rb.GETADDR4,
        rb.DUMP4,
        rb.BCAST4,
        rb.GETTIME4,
        rb.UADDR2TADDR4,
        rb.TADDR2UADDR4,
    ),
}


class Rpcbind(TypedClient):
    """rpcbind. Addresses are universal addresses as text. Raises `RpcError` and `XdrError` only.

    `getversaddr`, `indirect`, `getaddrlist` and `getstat` exist in version 4 only; a server asked for them in
    version 3 has no such procedure, so `ValueError` is raised instead.
    """

    __slots__ = ("_procedures", "version")

    def __init__(
        self,
        rpc: Caller,
        version: int = 4,
        *,
        credential: Credential | None = None,
        timeout: float | None = None,
    ) -> None:
        if version not in _VERSIONS:
            raise ValueError(f"expected rpcbind version 3 or 4, saw {version}; version 2 is Portmap")
        super().__init__(rpc, credential=credential, timeout=timeout)
        self.version = version
        self._procedures = _VERSIONS[version]

    def null(self) -> None:
        """NULL: nothing, but an answer."""
        self.call(self._procedures.null, Void())

    def set(self, prog: int, vers: int, netid: str, addr: str, owner: str = "") -> bool:
        """SET: register an address; False when refused. Only for callers on the same machine."""
        return self.call(self._procedures.set, _rpcb(prog, vers, netid, addr, owner)).value

    def unset(self, prog: int, vers: int, netid: str = "", addr: str = "", owner: str = "") -> bool:
        """UNSET: remove a registration; with an empty `netid` on all transports."""
        return self.call(self._procedures.unset, _rpcb(prog, vers, netid, addr, owner)).value

    def getaddr(self, prog: int, vers: int, netid: str = "tcp", addr: str = "") -> str:
        """GETADDR: the address of a program on the transport of this call; empty when not registered."""
        return _text(self.call(self._procedures.getaddr, _rpcb(prog, vers, netid, addr)))

    def dump(self) -> list[rb.Rpcb]:
        """DUMP: all registrations."""
        return self.call(self._procedures.dump, Void()).entries

    def callit(self, prog: int, vers: int, proc: int, args: bytes = b"") -> rb.RpcbRmtcallres:
        """CALLIT, called BCAST in version 4: pass a call on; a call that fails is not answered."""
        return self.call(self._procedures.callit, rb.RpcbRmtcallargs(prog, vers, proc, args))

    def gettime(self) -> int:
        """GETTIME: the server's clock in seconds since 1970-01-01 00:00 UTC."""
        return self.call(self._procedures.gettime, Void()).seconds

    def uaddr2taddr(self, addr: str) -> rb.Netbuf:
        """UADDR2TADDR: a universal address in the form of the server's operating system."""
        return self.call(self._procedures.uaddr2taddr, rb.TextArgs(addr.encode()))

    def taddr2uaddr(self, buf: bytes) -> str:
        """TADDR2UADDR: the inverse of `uaddr2taddr`."""
        return _text(self.call(self._procedures.taddr2uaddr, rb.Netbuf(len(buf), buf)))

    def getversaddr(self, prog: int, vers: int, netid: str = "tcp", addr: str = "") -> str:
        """GETVERSADDR: as `getaddr`, but only if this very version is registered."""
        self._require_latest("GETVERSADDR")
        return _text(self.call(rb.GETVERSADDR4, _rpcb(prog, vers, netid, addr)))

    def indirect(self, prog: int, vers: int, proc: int, args: bytes = b"") -> rb.RpcbRmtcallres:
        """INDIRECT: pass a call on; unlike with `callit` a call that fails is answered by an RPC error."""
        self._require_latest("INDIRECT")
        return self.call(rb.INDIRECT4, rb.RpcbRmtcallargs(prog, vers, proc, args))

    def getaddrlist(self, prog: int, vers: int) -> list[rb.RpcbEntry]:
        """GETADDRLIST: all transports on which a program and version are registered."""
        self._require_latest("GETADDRLIST")
        return self.call(rb.GETADDRLIST4, _rpcb(prog, vers)).entries

    def getstat(self) -> list[rb.RpcbStat]:
        """GETSTAT: what versions 2, 3 and 4 have counted, in this order."""
        self._require_latest("GETSTAT")
        return self.call(rb.GETSTAT4, Void()).versions

    def _require_latest(self, name: str) -> None:
        if self.version != 4:
            raise ValueError(f"{name} exists in rpcbind version 4 only; this client speaks {self.version}")


def _rpcb(prog: int, vers: int, netid: str = "", addr: str = "", owner: str = "") -> rb.Rpcb:
    return rb.Rpcb(prog, vers, netid.encode(), addr.encode(), owner.encode())


def _text(reply: rb.TextRes) -> str:
    return reply.value.decode("ascii", "backslashreplace")
