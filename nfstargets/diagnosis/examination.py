# SPDX-License-Identifier: MIT
"""The steps of a diagnosis, from the name of the host to a file that was written."""

from __future__ import annotations

import shlex
import typing as t
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from nfsclient.clients import Mount, Portmap
from nfsclient.discovery import Mounted, PortUnknown, ask_rpcbind, open_connection
from nfsclient.errors import (
    AuthFailed,
    BadReply,
    ConnectFailed,
    ConnectionLost,
    MountFailed,
    NfsClientError,
    ProgMismatch,
    ProgUnavail,
    RpcMismatch,
    RpcTimeout,
)
from nfsclient.paths import shown
from nfsclient.protocol import mount, nfs3, portmap
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfstargets.diagnosis.access import Access, may_bind_below_1024, try_access
from nfstargets.diagnosis.peers import NoAddress, first_that_listens, resolve, what_listens
from nfstargets.diagnosis.report import Outcome, Step
from nfstargets.diagnosis.security import (
    NO_TLS,
    SYS_ONLY,
    is_too_weak,
    may_be_security,
    named,
    offers_tls,
)
from nfstargets.diagnosis.wording import why
from nfstargets.diagnosis.writing import WriteTrial
from nfstargets.finding import MOUNT_PORT, NFS_PORT, served_minors, sign_of_nfs3
from nfstargets.versions import client_of

_CALL = 2.0
"""Seconds for one connection or call: enough for most servers that are awake."""
_FIRST = 6.0
"""For the first NULL: how late its answer is decides about the time for all others."""
_SLOW = 0.5
"""Seconds: a server that needs more for NULL is slow."""
_CALLS = 60
"""As many calls a diagnosis makes at most: a slow server has the time for them."""
_LONGEST = 240.0
"""Seconds more for a slow server, at most."""
_NAMES = {nfs3.NFS3.number: "NFS", mount.PROGRAM: "MOUNT"}
_NO_RPC = (BadReply, ConnectionLost, RpcTimeout)
_AUTH_SYS = 1


class Examination:
    """One look at one URL. Each step takes what the steps before it found out."""

    def __init__(self, url: NfsUrl, loop: Loop, patience: float) -> None:
        self.asked = url
        self.url = url
        """The same with the address that was chosen instead of the name."""
        self.loop = loop
        self._deadline = loop.clock() + patience
        self.nfs_port = url.nfs_port
        self._mount_port = url.mountport
        self._is_guess = False
        self._connects = False
        self._nfs_error: NfsClientError | None = None
        self._nfs_speaks_rpc = False
        self._mount_speaks = False
        self._access: Access | None = None
        self._can_be_privileged = may_bind_below_1024()
        self._privileged = url.secure and self._can_be_privileged
        """Whether calls come from a port below 1024."""
        self._below_1024: bool | None = None
        """Whether the server takes such ports only; None: nothing gave reason to try."""
        self._late = 0.0
        """Seconds after which a slow server answered NULL; 0 for others."""
        self._has_tls: bool | None = None
        """Whether it offers TLS; None: nothing gave reason to ask."""
        self.minors: tuple[int, ...] = ()
        """Of a server that says that it has no NFSv3: the minor versions of NFSv4 that it has."""

    def steps(self) -> Iterator[Step]:
        """All steps in order; none raises."""
        stopped = ""
        for name, way in self._ways():
            if not stopped and self._left() <= 0:
                stopped = "the time for the diagnosis is used up"
            if stopped:
                yield Step(name, Outcome.NOT_TRIED, stopped)
                continue
            step = _guarded(name, way)
            yield step
            if name == "name" and step.outcome is Outcome.FAILED:
                stopped = "the host has no address"
        yield from self._write_steps(stopped)

    def _ways(self) -> list[tuple[str, t.Callable[[], tuple[Outcome, str, str]]]]:
        # What the user has stated comes first: a wrong port is not the fault of rpcbind.
        rpcbind = [("rpcbind", self._rpcbind)]
        nfs = [("port", self._port), ("RPC version", self._rpc), ("NFS", self._nfs)]
        return [
            ("name", self._name),
            *([*nfs, *rpcbind] if self.asked.nfs_port is not None else [*rpcbind, *nfs]),
            ("MOUNT", self._mount),
            ("export", self._export),
            ("privileged port", self._source_port),
            ("path", self._path),
        ]

    # ------------------------------------------------------------ means

    def _left(self) -> float:
        return self._deadline - self.loop.clock()

    def _timeout(self) -> float:
        return max(0.05, min(max(_CALL, 4 * self._late), self._left()))

    def _connect(self, port: int) -> RpcClient:
        return open_connection(
            self.url, port, loop=self.loop, timeout=self._timeout(), privileged=self._privileged
        )

    def _listener(self, port: int) -> str:
        if self.url.proto == "udp":
            return "something that does not answer RPC over UDP"
        return what_listens(self.url.host, port, self._timeout())

    # ------------------------------------------------------------ steps

    def _name(self) -> tuple[Outcome, str, str]:
        host = self.asked.host
        try:
            addresses = resolve(host, min(4.0, self._left()))
        except NoAddress as error:
            return _failed(
                f"{host} has no address: {error}", "check the spelling and the DNS, or use the address"
            )
        ports = [self.nfs_port or self.url.rpcbindport or portmap.PORT, NFS_PORT]
        address = addresses[0]
        if len(addresses) > 1:
            address = first_that_listens(addresses, ports, self._timeout())
        self.url = replace(self.url, host=address)
        return _ok(f"{host} is {', '.join(addresses)}" if addresses != [host] else f"{host} is an address")

    def _rpcbind(self) -> tuple[Outcome, str, str]:
        if self.nfs_port is not None and self._mount_port is not None:
            return _not_tried("the URL has both ports")
        if self.asked.nfs_port is not None and not self._nfs_speaks_rpc:
            return _not_tried(f"the URL gives port {self.nfs_port}, and no NFS server answers there")
        if self.nfs_port is not None and self._is_served(self.nfs_port, "MOUNT"):
            self._mount_port = self.nfs_port
            return _not_tried(f"MOUNT answers at port {self.nfs_port} as well")
        found: list[str] = []
        trouble: list[PortUnknown] = []
        # Ask for one port at a time: a missing one must not hide the other.
        if self.nfs_port is None:
            self.nfs_port = self._ask(replace(self.url, mountport=1), "NFS", found, trouble)
        if self._mount_port is None:
            self._mount_port = self._ask(
                replace(self.url, nfsport=self.nfs_port or 1, port=None), "MOUNT", found, trouble
            )
        if self.nfs_port is None:
            self.nfs_port, self._is_guess = NFS_PORT, True
        if not trouble:
            return _ok(f"it lists {' and '.join(found)}")
        outcome, seen, advice = self._rpcbind_trouble(trouble[0])
        if self._finds_without_rpcbind():
            return _ok(f"{seen}; NFS answers at port {self.nfs_port}, and MOUNT at port {self._mount_port}")
        return outcome, seen, advice

    def _ask(self, url: NfsUrl, name: str, found: list[str], trouble: list[PortUnknown]) -> int | None:
        if trouble and trouble[0].__cause__ is not None:
            return None  # it did not answer the first time
        try:
            ports = ask_rpcbind(url, loop=self.loop, timeout=self._timeout())
        except PortUnknown as error:
            trouble.append(error)
            return None
        port = ports.nfs if name == "NFS" else ports.mount
        found.append(f"{name} at port {port}")
        return port

    def _rpcbind_trouble(self, error: PortUnknown) -> tuple[Outcome, str, str]:
        port = self.url.rpcbindport or portmap.PORT
        if error.__cause__ is not None:
            return _failed(
                f"no answer from port {port}: {why(error.__cause__)}",
                f"start rpcbind on the server and open its port for this host, or {self._port_in_url()}",
            )
        return _failed(
            f"it does not list what is needed: {error.detail.partition(', saw ')[0].removeprefix('expected ')}; "
            f"it lists {self._registered(port) or 'neither NFS nor MOUNT'}",
            f"start the missing service, or {self._port_in_url()}",
        )

    def _port_in_url(self) -> str:
        """What to write, with all that is known."""
        port = self.nfs_port
        if self._is_guess or port is None or not self._is_served(port, "NFS"):
            return "give the ports of NFS and MOUNT in the URL: ?nfsport=PORT&mountport=PORT"
        alone = ""
        if self.url.version == 3 and served_minors(self.url, port, loop=self.loop, timeout=self._timeout()):
            alone = f". NFSv4 needs no MOUNT: {self._url_with(version=4, nfsport=port, port=None)}"
        with_port = self._url_with(nfsport=port, port=None, mountport=1).replace(
            "mountport=1", "mountport=PORT"
        )
        return f"give the port of MOUNT: {with_port}{alone}"

    def _url_with(self, **changes: t.Any) -> str:
        """The URL of the user with changes, for the shell."""
        return shlex.quote(str(replace(self.asked, **changes)))

    def _finds_without_rpcbind(self) -> bool:
        """Whether NFS and MOUNT answer where a run looks for them as well (`nfstargets.finding`)."""
        if self.nfs_port is None or not self._is_served(self.nfs_port, "NFS"):
            return False
        if self._mount_port is None:
            places = (self.nfs_port, MOUNT_PORT)
            self._mount_port = next((place for place in places if self._is_served(place, "MOUNT")), None)
        return self._mount_port is not None

    def _is_served(self, port: int, service: str) -> bool:
        """Whether NULL is answered, or refused to this caller only."""
        error = self._null_once(port, service)
        return error is None or isinstance(error, AuthFailed)

    def _registered(self, port: int) -> str:
        """What the portmapper lists of NFS and MOUNT."""
        try:
            with closing(self._connect(port)) as rpc:
                entries = Portmap(rpc).dump()
        except NfsClientError:
            return ""
        protos = {portmap.IPPROTO_TCP: "tcp", portmap.IPPROTO_UDP: "udp"}
        words = [
            f"{_NAMES[entry.prog]} {entry.vers} {protos.get(entry.prot, entry.prot)}"
            for entry in entries
            if entry.prog in _NAMES
        ]
        return ", ".join(dict.fromkeys(words))

    def _port(self) -> tuple[Outcome, str, str]:
        assert self.nfs_port is not None
        if self.url.proto == "udp":
            self._connects = True
            return _not_tried("UDP has no connections")
        try:
            with closing(self._connect(self.nfs_port)) as rpc:
                self._connects = True
                seen = f"{rpc.peer_address[0]} accepts connections at port {self.nfs_port}"
        except ConnectFailed as error:
            return _failed(f"no connection to port {self.nfs_port}: {why(error)}", self._port_advice(error))
        return _ok(seen + (", the usual port of NFS" if self._is_guess else ""))

    def _port_advice(self, error: ConnectFailed) -> str:
        if "in time" in error.cause or "timed out" in error.cause:
            return "a firewall drops the calls, or the host is down: open the port for this host"
        if "refused" in error.cause.lower():
            return f"start the NFS server, or {self._nfs_port_in_url()}"
        return "check the route to the host and its firewall"

    def _nfs_port_in_url(self) -> str:
        if self.asked.nfs_port is not None:
            return f"correct its port in the URL, which says {self.asked.nfs_port}"
        return "give its port in the URL: nfsport="

    def _rpc(self) -> tuple[Outcome, str, str]:
        if not self._connects or self.nfs_port is None:
            return _not_tried("there is no connection")
        began = self.loop.clock()
        self._nfs_error = self._null(self.nfs_port, "NFS", min(_FIRST, 0.6 * self._left()))
        self._note_speed(self.loop.clock() - began)
        if isinstance(self._nfs_error, RpcMismatch):
            return _failed(str(self._nfs_error), "the server must speak RPC version 2 (RFC 5531)")
        if isinstance(self._nfs_error, _NO_RPC) and self._offers_tls():
            return _failed(
                f"the server ends calls without TLS ({why(self._nfs_error)}), and offers TLS", NO_TLS
            )
        if isinstance(self._nfs_error, _NO_RPC):
            seen = f"at port {self.nfs_port} is {self._listener(self.nfs_port)} ({why(self._nfs_error)})"
            port = self._nfs_port_in_url().replace("its port", "the port of NFS")
            advice = f"{port}. If the server requires TLS, allow calls without it"
            if isinstance(self._nfs_error, RpcTimeout):
                advice += f". Or it needs more than {self._nfs_error.seconds:.1f} s for an answer"
            return _failed(seen, advice)
        if isinstance(self._nfs_error, ConnectFailed):
            return _failed(
                str(self._nfs_error), "the server accepted one connection but not the next: read its log"
            )
        self._nfs_speaks_rpc = True
        if not self._late:
            return _ok("RPC version 2")
        seen = f"RPC version 2, but slow: NULL is answered after {self._late:.1f} s"
        return Outcome.OK, seen, "a run has patience with that, and takes accordingly long"

    def _note_speed(self, seconds: float) -> None:
        """A slow server gets more time for each call, and for all of them."""
        if isinstance(self._nfs_error, _NO_RPC) or seconds < _SLOW:
            return
        self._late = seconds
        self._deadline += min(_LONGEST, _CALLS * seconds)

    def _offers_tls(self) -> bool:
        """Whether the server offers TLS, which it may require (RFC 9289)."""
        if self._has_tls is None:
            port = self.nfs_port
            self._has_tls = (
                port is not None and self.url.proto == "tcp" and offers_tls(lambda: self._connect(port))
            )
        return self._has_tls

    def _null(self, port: int, service: str, timeout: float | None = None) -> NfsClientError | None:
        """What NULL of the version that is tested ends in: None for an answer.

        A server may refuse or ignore calls from source ports above 1023 (RFC 5531 appendix A). Where one below
        is taken, it is used from then on.
        """
        error = self._null_once(port, service, timeout)
        may_be_the_port = isinstance(error, (AuthFailed, ConnectionLost, RpcTimeout))
        if may_be_the_port and not self._privileged and self._can_be_privileged and self._below_1024 is None:
            self._privileged = True
            second = self._null_once(port, service)
            self._privileged = self._below_1024 = second is None
            return second if second is None else error
        return error

    def _version(self, service: str) -> int:
        """Version 1 of MOUNT goes with version 2 of NFS (RFC 1094 section A.1)."""
        return self.url.version if service == "NFS" or self.url.version == 3 else 1

    def _null_once(self, port: int, service: str, timeout: float | None = None) -> NfsClientError | None:
        try:
            with closing(self._connect(port)) as rpc:
                rpc.timeout = rpc.timeout if timeout is None else timeout
                if service == "MOUNT":
                    Mount(rpc, self._version(service)).null()
                else:
                    client_of(self.url.version)(rpc).null()
        except NfsClientError as error:
            return error
        return None

    def _nfs(self) -> tuple[Outcome, str, str]:
        if not self._nfs_speaks_rpc or self.nfs_port is None:
            return _not_tried("no RPC is spoken there")
        return self._judge_null(self._nfs_error, "NFS", self.nfs_port, "nfsport")

    def _judge_null(
        self, error: NfsClientError | None, name: str, port: int, parameter: str
    ) -> tuple[Outcome, str, str]:
        version = self._version(name)
        match error:
            case None:
                return _ok(f"version {version} answers at port {port}")
            case ProgMismatch():
                return self._judge_version(error, name, port)
            case ProgUnavail() if name == "NFS" and self._null_once(port, "MOUNT") is None:
                return _failed(f"port {port} belongs to MOUNT", "swap nfsport= and mountport= in the URL")
            case ProgUnavail():
                return _failed(
                    f"the server at port {port} does not have {name}",
                    f"give its port in the URL: {parameter}=",
                )
            case AuthFailed() if is_too_weak(error) and self._offers_tls():
                return _failed(
                    f"version {version} refuses calls without TLS: AUTH_TOOWEAK, and AUTH_TLS is answered STARTTLS",
                    NO_TLS,
                )
            case AuthFailed():
                # NULL may demand a credential; whether a port below 1024 helps is seen further down.
                return _ok(f"version {version} exists, but refuses NULL: {error}")
            case _:
                return _failed(f"NULL of {name} at port {port}: {why(error)}", "read the log of the server")

    def _judge_version(self, error: ProgMismatch, name: str, port: int) -> tuple[Outcome, str, str]:
        """Another version may be served. It is not tested without being asked for if something says that NFSv3 is."""
        version, low, high = self._version(name), error.low, error.high
        seen = f"{name} version {version} is refused; it offers {low} to {high}"
        if low > version:
            seen = f"{name} has {f'version {low}' if low == high else f'versions {low} to {high}'} only"
        advice = f"enable version {version} of {name} on the server"
        if name == "NFS" and version == 3:
            minors = served_minors(self.url, port, loop=self.loop, timeout=self._timeout())
            sign = sign_of_nfs3(self.url, port, error, loop=self.loop, timeout=self._timeout())
            if sign:
                seen, advice = f"NFS version 3 is refused, but {sign}", "repair NFSv3 on the server"
            self.minors = () if sign else minors
            if minors or low == 4:
                reason = "if it is not to have NFSv3" if sign else "or"
                advice += f"; {reason}, test NFSv4 alone: version=4.{next(iter(minors), 1)} in the URL"
        return _failed(seen, advice)

    def _mount(self) -> tuple[Outcome, str, str]:
        if self._mount_port is None:
            return _not_tried("its port is unknown")
        port = self._mount_port
        error = self._null(port, "MOUNT")
        if isinstance(error, ConnectFailed):
            return _failed(f"no connection to port {port}: {why(error)}", self._mount_advice(error))
        if isinstance(error, _NO_RPC):
            seen = f"at port {port} is {self._listener(port)} ({why(error)})"
            return _failed(seen, "give the port of MOUNT in the URL: mountport=")
        judged = self._judge_null(error, "MOUNT", port, "mountport")
        self._mount_speaks = judged[0] is Outcome.OK
        return judged

    def _mount_advice(self, error: ConnectFailed) -> str:
        return (
            self._port_advice(error)
            .replace("NFS server", "MOUNT service")
            .replace(self._nfs_port_in_url(), "give its port in the URL: mountport=")
        )

    def _export(self) -> tuple[Outcome, str, str]:
        if not self._mount_speaks:
            return _not_tried("MOUNT does not answer")
        if self.nfs_port is None:
            return _not_tried("the port of NFS is unknown")
        access = self._find_access()
        if isinstance(access.mounted, Mounted):
            return self._mounted(access.mounted)
        return self._refused(access.mounted)

    def _find_access(self) -> Access:
        """From the source port that the user may use, and from one below 1024 where that may help."""
        self._access = first = self._try(privileged=self._privileged)
        if first.may_be_the_port and not self._privileged and self._can_be_privileged:
            second = self._try(privileged=True)
            self._below_1024 = second.error is None
            if self._below_1024:
                self._access, self._privileged = second, True
        return self._access

    def _try(self, *, privileged: bool) -> Access:
        assert self.nfs_port is not None
        assert self._mount_port is not None
        return try_access(
            replace(self.url, secure=privileged),
            self.nfs_port,
            self._mount_port,
            loop=self.loop,
            timeout=self._timeout,
        )

    def _mounted(self, mounted: Mounted) -> tuple[Outcome, str, str]:
        seen = f"{shown(mounted.path)} is mounted"
        if mounted.flavors and _AUTH_SYS not in mounted.flavors:
            return Outcome.OK, f"{seen}; MNT lists only the flavors {named(mounted.flavors)}", SYS_ONLY
        return _ok(seen)

    def _refused(self, error: MountFailed) -> tuple[Outcome, str, str]:
        exports = self._exports()
        seen = f"{shown(self.url.path)} is refused ({why(error)})"
        if may_be_security(why(error)) and self._offers_tls():
            return _failed(f"{seen}; the server offers TLS (RFC 9289), and may require it", NO_TLS)
        if exports is None:
            return _failed(seen, "check the export rules for this host")
        if not exports:
            return _failed(f"{seen}; nothing is exported", "export a directory to this host")
        return _failed(
            f"{seen}; exported: {', '.join(exports)}",
            "use one of these, or export this one; the export rules must allow this host",
        )

    def _exports(self) -> list[str] | None:
        """What EXPORT lists; None when it does not answer."""
        if self._mount_port is None:
            return None
        try:
            with closing(self._connect(self._mount_port)) as rpc:
                return [shown(entry.ex_dir) for entry in Mount(rpc, self._version("MOUNT")).export()]
        except NfsClientError:
            return None

    def _source_port(self) -> tuple[Outcome, str, str]:
        if self.asked.secure:
            if self._privileged:
                return _ok("used because of secure=1")
            return _failed(
                "secure=1 needs a source port below 1024, which this user may not use",
                "run as root or with CAP_NET_BIND_SERVICE, or remove secure=1",
            )
        if self._below_1024:
            return _failed(
                "the server accepts calls only from source ports below 1024",
                "add secure=1 to the URL and run as root, or allow other ports on the server (insecure)",
            )
        if self._below_1024 is False:
            return _ok("a port below 1024 is refused, too")
        trouble = self._access.error if self._access is not None else self._nfs_error
        if trouble is None:
            return _ok("not needed") if self._access is not None else _not_tried("nothing was refused")
        if self._can_be_privileged:
            return _not_tried("the refusal does not depend on the source port")
        return _not_tried("the source port may be the reason; run this as root to try one below 1024")

    def _path(self) -> tuple[Outcome, str, str]:
        access = self._access
        if access is None or not isinstance(access.mounted, Mounted):
            return _not_tried("nothing is mounted")
        if access.attributes is not None and not access.attributes.is_directory:
            kind = access.attributes.type
            seen = "of no known type" if kind is None else f"of type {kind.name}"
            return _failed(f"{shown(self.url.path)} is {seen}", "use the path of a directory")
        if access.error is None:
            return _ok(f"{shown(self.url.path)} is a directory")
        flavors = access.flavors or (
            access.mounted.flavors if _AUTH_SYS not in access.mounted.flavors else ()
        )
        if flavors or isinstance(access.error, AuthFailed):
            wanted = f"; the server wants {named(flavors)}" if flavors else ""
            return _failed(f"{why(access.error)}{wanted}", SYS_ONLY)
        if may_be_security(why(access.error)) and self._offers_tls():
            return _failed(
                f"{why(access.error)}; the server offers TLS (RFC 9289), and may require it", NO_TLS
            )
        return _failed(
            why(access.error), "check the part of the path below the export, and the permissions of the user"
        )

    # ------------------------------------------------------------ writing

    def _write_steps(self, stopped: str) -> Iterator[Step]:
        names = ("write access", "root squash")
        access = self._access
        if not stopped and self._left() <= 0:
            stopped = "the time for the diagnosis is used up"
        if not stopped and (access is None or access.error is not None or access.root is None):
            stopped = "there is no directory to write to"
        if stopped or access is None or self.nfs_port is None:
            yield from (Step(name, Outcome.NOT_TRIED, stopped) for name in names)
            return
        port = self.nfs_port
        trial = WriteTrial(self.url, access, lambda: self._connect(port))
        with closing(trial):
            yield _guarded(names[0], trial.write)
            yield _guarded(names[1], trial.squash)
        if trial.not_removed:
            yield Step(
                "cleaning up",
                Outcome.FAILED,
                f"{trial.not_removed} is still in {shown(self.url.path)}",
                "remove it",
            )


def _guarded(name: str, way: t.Callable[[], tuple[Outcome, str, str]]) -> Step:
    """One step, whatever happens in it."""
    try:
        return Step(name, *way())
    except (NfsClientError, OSError) as error:
        return Step(name, Outcome.FAILED, str(error), "read the log of the server")
    except Exception as error:  # noqa: BLE001 - people in trouble need the other steps, not a traceback
        said = f"{type(error).__name__}: {error}"
        return Step(
            name,
            Outcome.FAILED,
            f"this step failed itself: {said}",
            "this is a bug of nfsproof: please report it",
        )


def _ok(seen: str) -> tuple[Outcome, str, str]:
    return Outcome.OK, seen, ""


def _failed(seen: str, advice: str) -> tuple[Outcome, str, str]:
    return Outcome.FAILED, seen, advice


def _not_tried(seen: str) -> tuple[Outcome, str, str]:
    return Outcome.NOT_TRIED, seen, ""
