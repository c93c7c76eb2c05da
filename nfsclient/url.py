# SPDX-License-Identifier: MIT
"""NFS URLs: ``nfs://host[:port]/export/path?version=3&proto=tcp&nfsport=…&mountport=…&uid=…&gid=…&secure=1``.

The form and most parameters are those that users of libnfs know. The syntax is that of RFC 3986;
percent-encoding gives any byte to the path, which is bytes like every NFS name.
"""

from __future__ import annotations

import ipaddress
import re
import typing as t
from dataclasses import dataclass
from urllib.parse import quote_from_bytes, unquote, unquote_to_bytes

from nfsclient.errors import UrlError
from nfsclient.similar import similar_text

_SCHEME = "nfs"
_MAX_ID = 0xFFFF_FFFF
_VERSIONS: t.Final[t.Mapping[str, t.Mapping[str, t.Any]]] = {
    "2": {"version": 2},
    "3": {"version": 3},
    "4": {"version": 4},
    "4.0": {"version": 4, "minor": 0},
    "4.1": {"version": 4, "minor": 1},
    "4.2": {"version": 4, "minor": 2},
    "snfs": {"version": 2, "is_spritely": True},
}
_PROTOS: t.Final = ("tcp", "udp")
_WITHOUT_EFFECT: t.Final = frozenset(
    {
        "auto-traverse-mounts",
        "autoreconnect",
        "cache-size",
        "debug",
        "dircache",
        "if",
        "pagecache",
        "pagecachettl",
        "readahead",
        "retrans",
        "tcp-syncnt",
        "timeo",
    }
)
"""Parameters of libnfs that steer its own caches, logs and retries: taken, kept, and of no effect here."""
_FIXED: t.Final = {"sec": "sys", "xprtsec": "none"}
"""Parameters with the one value that this library has: taking another would promise what it does not do."""
_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_UNSAFE_IN_HOST = re.compile(r"[\x00-\x20\x7f/?#@:\[\]\\]")


@dataclass(frozen=True)
class NfsUrl:
    """A parsed NFS URL. `str()` gives it back in its shortest form; parsing that gives an equal object."""

    host: str
    """Name or address, an IPv6 address without brackets."""
    path: bytes = b"/"
    """Absolute path on the server: the export and what lies inside it. Never empty, no slash at its end."""
    port: int | None = None
    """Port of NFS from ``host:port``."""
    version: int = 3
    minor: int | None = None
    """Minor version of NFSv4, if the URL names one."""
    is_spritely: bool = False
    """Whether it is Spritely NFS: the procedures of NFSv2 and more, in another program (docs/spritely.md)."""
    proto: str = "tcp"
    """``tcp`` or ``udp``."""
    nfsport: int | None = None
    """Port of NFS from the parameter; the same as `port` when both are given."""
    mountport: int | None = None
    rpcbindport: int | None = None
    """Port of rpcbind; None means 111."""
    uid: int | None = None
    """User to act as; None means that of this process."""
    gid: int | None = None
    secure: bool = False
    """Whether to call from a privileged source port (below 1024), which some servers demand."""
    rsize: int | None = None
    """Most bytes of one READ; the server's limit counts as well."""
    wsize: int | None = None
    """Most bytes of one WRITE."""
    delegations: bool = False
    """Whether an NFSv4 server may delegate open files to a path client (RFC 5661 section 10.4)."""
    without_effect: tuple[tuple[str, str], ...] = ()
    """Parameters that libnfs knows and that mean nothing here, in order."""

    @property
    def nfs_port(self) -> int | None:
        """The port of NFS, however it was given; None means: ask rpcbind."""
        return self.nfsport if self.nfsport is not None else self.port

    @property
    def netloc(self) -> str:
        """Host and port as they stand in the URL."""
        host = self.host.replace("%", "%25")
        host = f"[{host}]" if ":" in host else host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def components(self) -> tuple[bytes, ...]:
        """The names of the path, from the root on."""
        return tuple(name for name in self.path.split(b"/") if name)

    @classmethod
    def parse(cls, text: str, *, version: int = 3) -> NfsUrl:
        """Parse a URL. Raises `UrlError` with what was expected, what was seen and what to do.

        `version` is that of NFS if the URL names none.
        """
        if _HALVES.search(text):  # not those that stand for a byte of the command line
            raise UrlError(
                f"expected text that can be written as UTF-8, saw {text!r}; encode bytes as in %ff"
            )
        scheme, separator, rest = text.partition("://")
        if not separator or scheme.lower() != _SCHEME:
            raise UrlError(f"expected a URL as in nfs://host/export, saw {text!r}; begin it with nfs://")
        rest, _, fragment = rest.partition("#")
        if fragment:
            raise UrlError(f"expected no fragment, saw #{fragment} in {text!r}; write # in a path as %23")
        rest, _, query = rest.partition("?")
        netloc, slash, path = rest.partition("/")
        host, port = _parse_netloc(netloc, text)
        fields = _parse_query(query, text)
        nfsport = fields.get("nfsport")
        if port is not None and nfsport is not None and nfsport != port:
            raise UrlError(
                f"expected one port for NFS, saw {port} and nfsport={nfsport} in {text!r}; leave one out"
            )
        return cls(
            host=host, port=port, path=_parse_path(slash + path, text), **{"version": version} | fields
        )

    def __str__(self) -> str:
        query = "&".join(f"{name}={value}" for name, value in self._parameters())
        return f"{_SCHEME}://{self.netloc}{quote_from_bytes(self.path)}{'?' + query if query else ''}"

    def _parameters(self) -> t.Iterator[tuple[str, str]]:
        if self.is_spritely:
            yield "version", "snfs"
        elif (self.version, self.minor) != (3, None):
            yield "version", str(self.version) if self.minor is None else f"{self.version}.{self.minor}"
        if self.proto != "tcp":
            yield "proto", self.proto
        for name in _NUMBERS:
            value = getattr(self, name)
            if value is not None:
                yield name, str(value)
        if self.secure:
            yield "secure", "1"
        if self.delegations:
            yield "delegations", "1"
        for name, text in self.without_effect:
            yield name, quote_from_bytes(text.encode("utf-8", "surrogateescape"), safe="/:,")


_NUMBERS: t.Final = {
    "nfsport": (1, 0xFFFF),
    "mountport": (1, 0xFFFF),
    "rpcbindport": (1, 0xFFFF),
    "uid": (0, _MAX_ID),
    "gid": (0, _MAX_ID),
    "rsize": (1, _MAX_ID),
    "wsize": (1, _MAX_ID),
}
"""Numeric parameter -> smallest and largest value."""


def _parse_netloc(netloc: str, text: str) -> tuple[str, int | None]:
    if "@" in netloc:
        raise UrlError(
            f"expected no user name, saw {netloc!r} in {text!r}; use the parameters uid= and gid= after a ?"
        )
    if netloc.startswith("["):
        host, bracket, tail = netloc[1:].partition("]")
        host, port = unquote(host), tail[1:]
        if not bracket or not _is_ipv6(host) or (tail and not tail.startswith(":")):
            raise UrlError(f"expected an IPv6 address as in [::1]:2049, saw {netloc!r} in {text!r}")
    else:
        host, _, port = netloc.partition(":")
        host = unquote(host)
        if ":" in port:
            raise UrlError(
                f"expected host:port, saw {netloc!r} in {text!r}; put brackets around an IPv6 address: [::1]"
            )
        if not host or _UNSAFE_IN_HOST.search(host):
            raise UrlError(f"expected a host name or address, saw {host!r} in {text!r}")
    return host, _number("port", port, 1, 0xFFFF, text) if port else None


def _is_ipv6(host: str) -> bool:
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        return False
    return not _UNSAFE_IN_HOST.search(host.replace(":", ""))


def _parse_path(path: str, text: str) -> bytes:
    raw = unquote_to_bytes(path.encode("utf-8", "surrogateescape"))
    if b"\0" in raw:
        raise UrlError(f"expected a path without NUL bytes, saw {path!r} in {text!r}")
    return b"/" + b"/".join(name for name in raw.split(b"/") if name)


def _parse_query(query: str, text: str) -> dict[str, t.Any]:
    fields: dict[str, t.Any] = {}
    unused: list[tuple[str, str]] = []
    seen: set[str] = set()
    for item in filter(None, query.split("&")):
        name, equals, value = item.partition("=")
        if not equals:
            raise UrlError(f"expected name=value, saw {item!r} in {text!r}")
        if name in seen:
            raise UrlError(f"expected each parameter once, saw {name} twice in {text!r}")
        seen.add(name)
        if name in _FIXED:
            _one_of(name, value, {_FIXED[name]: True}, text)
        elif name in _WITHOUT_EFFECT:
            unused.append((name, unquote(value, errors="surrogateescape")))
        else:
            fields |= _parse_parameter(name, value, text)
    return fields | ({"without_effect": tuple(unused)} if unused else {})


def _parse_parameter(name: str, value: str, text: str) -> dict[str, t.Any]:
    if name in _NUMBERS:
        return {name: _number(name, value, *_NUMBERS[name], text)}
    match name:
        case "version":
            return dict(_one_of(name, value, _VERSIONS, text))
        case "proto":
            return {"proto": _one_of(name, value, dict(zip(_PROTOS, _PROTOS, strict=True)), text)}
        case "secure" | "delegations":
            return {name: _one_of(name, value, {"0": False, "1": True}, text)}
    known = sorted({*_NUMBERS, "version", "proto", "secure", "delegations"})
    near = similar_text(name, known)
    raise UrlError(f"expected one of the parameters {', '.join(known)}, saw {name!r} in {text!r}{near}")


T = t.TypeVar("T")


def _one_of(name: str, value: str, choices: t.Mapping[str, T], text: str) -> T:
    if value not in choices:
        raise UrlError(f"expected {name}= one of {', '.join(choices)}, saw {value!r} in {text!r}")
    return choices[value]


def _number(name: str, value: str, low: int, high: int, text: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 10 and low <= int(value) <= high):
        raise UrlError(f"expected {name} to be a number of {low} to {high}, saw {value!r} in {text!r}")
    return int(value)
