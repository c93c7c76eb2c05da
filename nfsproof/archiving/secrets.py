# SPDX-License-Identifier: MIT
"""The secrets of a target and of the machine that tested it: names, addresses, paths."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import socket
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from nfsclient.errors import UrlError
from nfsclient.url import NfsUrl
from nfsjudge.records import RunRecord
from nfstargets.clients import is_client
from nfstargets.clients.target import OF_COMMANDS

HOST, EXPORT, TARGET, SERVER, MACHINE, USER = "HOST", "/EXPORT", "TARGET", "SERVER", "TESTER", "USER"
"""Replacements of secrets."""
_NO_SECRETS = {"localhost", "localhost.localdomain", "ip6-localhost", "nfsproof"}
_COMMON_USERS = {"root", "nfs", "admin", "user", "runner", "nobody", "test"}
COMMON_EXPORTS = {"/", "/export", "/exports", "/data", "/tmp", "/srv", "/mnt", "/nfs"}  # noqa: S108  not used
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*[A-Za-z0-9]")
_OUR_WORDS = {"nfsv2", "nfsv3", "nfsv4", "mount", "fsal", "memory", "linux", "server"}

_CLIENTS_OF_NO_NAME = {*OF_COMMANDS, "linux"}
"""Clients whose name says nothing of them, or is also that of this machine's system."""
_WORDS_OF_COMMANDS = {"what", "program", "programs", "mount", "mounts"}
"""Words of their descriptions that name no program."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def of_run(about: RunRecord, *, anonymous: bool, hide: Iterable[str] = ()) -> dict[str, str]:
    """Secrets of the target of a run -> their replacements."""
    found: dict[str, str] = {secret.strip(): SERVER for secret in hide if secret.strip()}
    try:
        url = NfsUrl.parse(about.target)
    except UrlError:
        if anonymous:
            name, _, kind = about.target.partition(":")
            found |= {about.target: TARGET}
            if is_client(about.target):
                found |= {} if kind in _CLIENTS_OF_NO_NAME else {kind: TARGET}
                found |= dict.fromkeys(_programs_in(about.description), TARGET) if kind in OF_COMMANDS else {}
            else:
                found |= {name: TARGET}
                found |= {f"/{kind}": EXPORT} if kind else {}
            found |= dict.fromkeys(_names_in(about.description), SERVER)
    else:
        found |= {about.target: TARGET, str(url): TARGET} | dict.fromkeys(of_host(url.host), HOST)
        path = url.path.decode("utf-8", "backslashreplace")
        if anonymous and path.casefold() not in COMMON_EXPORTS:
            found[path] = EXPORT
    return {key: value for key, value in found.items() if key.lower() not in _NO_SECRETS}


def exports_in(script: str) -> dict[str, str]:
    """The exports of URLs in a script. For a server that nfsproof started, only scripts contain it."""
    found: dict[str, str] = {}
    for word in re.findall(r"nfs://[^'\"\s]+", script):
        with contextlib.suppress(UrlError):
            path = NfsUrl.parse(word).path.decode("utf-8", "backslashreplace")
            found |= {path: EXPORT} if path.casefold() not in COMMON_EXPORTS else {}
    return found


def _names_in(description: str) -> list[str]:
    """The description, and words in it that look like the name of a product: with a capital, four letters or more."""
    words = [word for word in _NAME.findall(description) if len(word) > 3 and word.lower() != word]
    parts = [part for word in words for part in word.split("-") if len(part) > 3]
    return [description, *(word for word in (*words, *parts) if word.lower() not in _OUR_WORDS)]


def _programs_in(description: str) -> list[str]:
    """The programs of a client that is commands of the user: words of its description, with and without folders."""
    words = [word.rstrip(",") for word in description.split()]
    found = [part for word in words for part in (word, word.rpartition("/")[2])]
    return [part for part in found if len(part) > 3 and part not in _WORDS_OF_COMMANDS]


def of_host(host: str) -> list[str]:
    """A host as it may be called: its name, the first part of that, and its addresses as far as they are known here."""
    names = {host}
    literal = as_address(host)
    if literal is not None:
        return [] if literal.is_loopback else [*names, *spellings(literal)]
    with contextlib.suppress(OSError, UnicodeError):
        for *_, canonical, peer in socket.getaddrinfo(host, None, flags=socket.AI_CANONNAME):
            names |= {canonical} if canonical else set()
            address = as_address(str(peer[0]))
            if address is not None and not address.is_loopback:
                names |= set(spellings(address))
    first = host.partition(".")[0]
    names |= {first} if len(first) > 2 and as_address(host) is None and first.lower() != "nfs" else set()
    return sorted(names)


def of_machine(folder: Path, peer: str = "") -> dict[str, str]:
    """The same of this machine: its name, the user, where things lie, and the address from which it calls `peer`."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        name = socket.gethostname()
        found |= {name: MACHINE, name.partition(".")[0]: MACHINE}
    home = os.path.expanduser("~")  # noqa: PTH111 - never raises
    user = home.rpartition("/")[2]
    if len(user) > 2 and user not in _COMMON_USERS:
        found[user] = USER
    checkout = Path(__file__).resolve().parents[2]
    places = {folder.absolute(): "RUN", Path.cwd(): "FOLDER", Path(home): "~", checkout: "NFSPROOF"}
    places[Path(tempfile.gettempdir())] = "TEMPORARY"
    for path, instead in places.items():
        if len(path.parts) > 1:
            found |= {str(path): instead, str(path.resolve()): instead}
    found |= dict.fromkeys(_own_addresses(peer), MACHINE)
    return {key: value for key, value in found.items() if key and key.lower() not in _NO_SECRETS}


def _own_addresses(peer: str) -> Iterator[str]:
    """Which address of this machine faces a host. Nothing is sent: a UDP socket only looks for its route."""
    if not peer:
        return
    with contextlib.suppress(OSError, UnicodeError):
        for family, *_, address in socket.getaddrinfo(peer, 2049, type=socket.SOCK_DGRAM):
            with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect(address)
                own = as_address(probe.getsockname()[0])
                if own is not None and not own.is_loopback:
                    yield from spellings(own)


def host_of(target: str) -> str:
    """The host in a URL; empty if it is none."""
    try:
        return NfsUrl.parse(target).host
    except UrlError:
        return ""


def as_address(text: str) -> Address | None:
    """An IP address, or None."""
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def spellings(address: Address) -> list[str]:
    """An address as people and programs write it."""
    found = [address.compressed, address.exploded]
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        found.append(str(address.ipv4_mapped))
    return list(dict.fromkeys(found))
