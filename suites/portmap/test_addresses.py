# SPDX-License-Identifier: MIT
"""Universal addresses and their conversion, GETADDRLIST, GETTIME and GETSTAT (RFC 1833 section 2.2, RFC 5665)."""

from __future__ import annotations

import ipaddress
import time

import pytest

from fixtures.binding import NOBODYS_PROGRAM, MakeBinder
from fixtures.raw import MOUNT, NFS
from nfsclient.protocol.portmap import PROGRAM
from nfsclient.protocol.rpcbind import UniversalAddressError, from_universal
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.portmap.clauses import EVERY_VERSION, RPCBIND_VERSIONS

UNIVERSAL_ADDRESS_OF_IPV4 = Requirement(
    rfc="RFC 5665",
    section="5.2.3.3",
    gist="a universal address of IPv4 is h1.h2.h3.h4.p1.p2, each a decimal number from 0 to 255",
)
UNIVERSAL_ADDRESS_OF_IPV6 = Requirement(
    rfc="RFC 5665",
    section="5.2.3.4",
    gist="a universal address of IPv6 is an IPv6 address as text, followed by .p1.p2",
)
GETADDR_RETURNS_CALLABLE_ADDRESS = Requirement(
    rfc="RFC 1833",
    section="2.2.1",
    level=Level.SHOULD,
    gist="GETADDR returns an address that a client can call",
)
CONVERTS_ADDRESSES = Requirement(
    rfc="RFC 1833",
    section="2.2.1",
    gist="UADDR2TADDR and TADDR2UADDR convert universal addresses to transport addresses and back",
)
GETTIME_RETURNS_SECONDS = Requirement(
    rfc="RFC 1833",
    section="2.2.1",
    gist="GETTIME returns the time of the server's clock in seconds",
)
GETTIME_RETURNS_CURRENT_TIME = Requirement(
    rfc="RFC 1833",
    section="2.2.1",
    level=Level.SHOULD,  # the clock of the machine may be wrong
    gist="GETTIME returns the current time in seconds since 1970",
)
GETADDRLIST_LISTS_ADDRESSES = Requirement(
    rfc="RFC 1833", section="2.2.2", gist="GETADDRLIST returns the list of addresses of the given program"
)
GETADDRLIST_DESCRIBES_TRANSPORTS = Requirement(
    rfc="RFC 1833",
    section="2.1",
    level=Level.SHOULD,
    gist="an entry of GETADDRLIST describes its transport by semantics, family and protocol",
)
GETSTAT_COUNTS_REQUESTS = Requirement(
    rfc="RFC 1833",
    section="2.2.2",
    level=Level.SHOULD,
    gist="GETSTAT returns the number and kind of requests that the server has received",
)
_DAY = 86_400


# ---------------------------------------------------------------- syntax


def _is_universal(address: bytes | str, netid: str) -> bool:
    """Whether the address is a valid universal address of this transport."""
    text = address.decode(errors="replace") if isinstance(address, bytes) else address
    try:
        host, _ = from_universal(text)
    except UniversalAddressError:
        return False
    return ipaddress.ip_address(host).version == (6 if netid.endswith("6") else 4)


@RPCBIND_VERSIONS
@proves(
    UNIVERSAL_ADDRESS_OF_IPV4, UNIVERSAL_ADDRESS_OF_IPV6, killed_by="getaddr-writes-the-port-behind-a-colon"
)
def test_getaddr_gives_a_universal_address(binder: MakeBinder, version: int) -> None:
    """GETADDR returns a valid universal address."""
    rpcbind = binder(version)
    address = rpcbind.rpcbind.getaddr(PROGRAM, version, rpcbind.netid)
    if not address:
        skip(f"rpcbind has not registered itself for {rpcbind.netid}")
    rule = UNIVERSAL_ADDRESS_OF_IPV6 if rpcbind.netid.endswith("6") else UNIVERSAL_ADDRESS_OF_IPV4
    expect(_is_universal(address, rpcbind.netid), f"that {address} is universal", because=rule).is_true()


@RPCBIND_VERSIONS
@proves(
    UNIVERSAL_ADDRESS_OF_IPV4,
    UNIVERSAL_ADDRESS_OF_IPV6,
    killed_by="rpcbind-dump-writes-the-port-behind-a-colon",
)
def test_dump_gives_universal_addresses(binder: MakeBinder, version: int) -> None:
    """DUMP returns valid universal addresses."""
    # Only well-known programs: others may register any text as their address.
    entries = [
        (each.r_netid.decode(errors="replace"), each.r_addr)
        for each in binder(version).rpcbind.dump()
        if each.r_prog in {PROGRAM, NFS, MOUNT}
    ]
    of_ip = [(netid, address) for netid, address in entries if netid in {"tcp", "udp", "tcp6", "udp6"}]
    observe("transports", sorted({netid for netid, _ in entries}))
    wrong = [address for netid, address in of_ip if not _is_universal(address, netid)]
    expect(wrong, "the addresses in DUMP that are not universal").equals([])


@proves(
    UNIVERSAL_ADDRESS_OF_IPV4,
    UNIVERSAL_ADDRESS_OF_IPV6,
    killed_by="getversaddr4-writes-the-port-behind-a-colon",
    needs="rpcbind4",
)
def test_getversaddr_gives_a_universal_address(binder: MakeBinder, nfs_program: tuple[int, int]) -> None:
    """GETVERSADDR returns a valid universal address."""
    rpcbind = binder(4)
    address = rpcbind.rpcbind.getversaddr(*nfs_program, rpcbind.netid)
    if not address:
        skip(f"NFS is not registered for {rpcbind.netid}")
    expect(_is_universal(address, rpcbind.netid), f"that {address} is universal").is_true()


@RPCBIND_VERSIONS
@proves(GETADDR_RETURNS_CALLABLE_ADDRESS, killed_by="getaddr-gives-the-wildcard")
def test_getaddr_gives_an_address_that_can_be_called(
    binder: MakeBinder, version: int, nfs_program: tuple[int, int]
) -> None:
    """GETADDR returns an address and port that a client can call."""
    rpcbind = binder(version)
    address = rpcbind.rpcbind.getaddr(*nfs_program, rpcbind.netid)
    if not _is_universal(address, rpcbind.netid):
        skip("GETADDR gives no universal address of NFS")
    host, port = from_universal(address)
    observe("host", host)
    callable_ = port > 0 and not ipaddress.ip_address(host).is_unspecified
    expect(callable_, f"that {address} can be called").is_true()


# ---------------------------------------------------------------- conversion


ADDRESSES = {
    "port-2049": ("127.0.0.1.8.1", "::1.8.1"),
    "port-111": ("192.0.2.200.0.111", "2001:db8::c8.0.111"),
    "port-65534": ("10.255.0.1.255.254", "2001:db8:ffff::ff01.255.254"),
}
"""Id -> a universal address of IPv4, and the one to use instead if the call goes over IPv6."""


def _of_family(address: str, netid: str) -> str:
    ipv4, ipv6 = ADDRESSES[address]
    return ipv6 if netid.endswith("6") else ipv4


@RPCBIND_VERSIONS
@pytest.mark.parametrize("address", list(ADDRESSES))
@proves(CONVERTS_ADDRESSES, killed_by="uaddr2taddr-swaps-the-bytes-of-the-port")
def test_addresses_come_back(binder: MakeBinder, version: int, address: str) -> None:
    """TADDR2UADDR returns the address that was converted with UADDR2TADDR."""
    rpcbind = binder(version)
    asked = _of_family(address, rpcbind.netid)
    form = rpcbind.rpcbind.uaddr2taddr(asked)
    if not form.buf:
        skip(f"{asked} is not converted")
    observe("form", f"{len(form.buf)} bytes")
    back = rpcbind.rpcbind.taddr2uaddr(bytes(form.buf))
    same = _is_universal(back, rpcbind.netid) and from_universal(back) == from_universal(asked)
    expect(same, f"that {asked} comes back, not {back!r}").is_true()


@RPCBIND_VERSIONS
@proves(CONVERTS_ADDRESSES, killed_by="uaddr2taddr-knows-one-address")
def test_different_addresses_have_different_forms(binder: MakeBinder, version: int) -> None:
    """UADDR2TADDR converts different addresses to different results."""
    rpcbind = binder(version)
    addresses = [_of_family(address, rpcbind.netid) for address in ADDRESSES]
    forms = {bytes(rpcbind.rpcbind.uaddr2taddr(address).buf) for address in addresses}
    if b"" in forms:
        skip("not every address is converted")
    expect(len(forms), "how many forms three addresses have").equals(3)


# ---------------------------------------------------------------- GETTIME


@RPCBIND_VERSIONS
@proves(GETTIME_RETURNS_CURRENT_TIME, killed_by="gettime-begins-in-2000")
def test_the_time_is_that_of_today(binder: MakeBinder, version: int) -> None:
    """GETTIME returns the current time, to within a day."""
    seconds = binder(version).rpcbind.gettime()
    observe("ahead of this machine", f"{round(seconds - time.time())} s")
    now = int(time.time())
    expect(seconds, "seconds since 1970").between(now - _DAY, now + _DAY)


@RPCBIND_VERSIONS
@proves(GETTIME_RETURNS_SECONDS, killed_by="gettime-counts-calls-by-the-hour")
def test_the_time_passes_as_here(binder: MakeBinder, version: int) -> None:
    """GETTIME returns times as far apart as the two calls."""
    rpcbind = binder(version).rpcbind
    began = time.monotonic()
    first, second = rpcbind.gettime(), rpcbind.gettime()
    passed = int(time.monotonic() - began) + 2
    expect(second - first, "seconds between two calls").between(-passed, passed)


# ---------------------------------------------------------------- GETADDRLIST


@proves(
    GETADDRLIST_LISTS_ADDRESSES, killed_by="getaddrlist4-omits-the-transport-of-the-call", needs="rpcbind4"
)
def test_getaddrlist_has_the_transport_of_the_call(binder: MakeBinder, nfs_program: tuple[int, int]) -> None:
    """GETADDRLIST lists the transport over which it is called."""
    rpcbind = binder(4)
    if not rpcbind.rpcbind.getversaddr(*nfs_program, rpcbind.netid):
        skip(f"NFS is not registered for {rpcbind.netid}")
    netids = [each.r_nc_netid.decode(errors="replace") for each in rpcbind.rpcbind.getaddrlist(*nfs_program)]
    observe("transports", netids)
    expect(netids, "the transports in GETADDRLIST").contains(rpcbind.netid)


@proves(GETADDRLIST_LISTS_ADDRESSES, killed_by="getaddrlist4-has-what-is-not-registered", needs="rpcbind4")
def test_getaddrlist_has_only_what_dump_has(binder: MakeBinder, nfs_program: tuple[int, int]) -> None:
    """GETADDRLIST lists only transports that DUMP lists."""
    rpcbind = binder(4)
    registered = {each.netid for each in rpcbind.entries() if (each.prog, each.vers) == nfs_program}
    listed = {each.r_nc_netid.decode(errors="replace") for each in rpcbind.rpcbind.getaddrlist(*nfs_program)}
    expect(sorted(listed - registered), "transports that DUMP does not have").equals([])


@proves(GETADDRLIST_LISTS_ADDRESSES, killed_by="getaddrlist4-lists-nobody", needs="rpcbind4")
def test_getaddrlist_of_an_unregistered_program_is_empty(binder: MakeBinder) -> None:
    """GETADDRLIST returns an empty list for a program that is not registered."""
    listed = binder(4).rpcbind.getaddrlist(NOBODYS_PROGRAM, 1)
    expect(len(listed), "addresses of a program that nobody registered").equals(0)


@proves(GETADDRLIST_DESCRIBES_TRANSPORTS, killed_by="getaddrlist4-mixes-families-up", needs="rpcbind4")
def test_getaddrlist_describes_transports(binder: MakeBinder, nfs_program: tuple[int, int]) -> None:
    """GETADDRLIST returns the right family and protocol for each transport."""
    known = {
        b"tcp": (b"inet", b"tcp"),
        b"udp": (b"inet", b"udp"),
        b"tcp6": (b"inet6", b"tcp"),
        b"udp6": (b"inet6", b"udp"),
    }
    entries = [each for each in binder(4).rpcbind.getaddrlist(*nfs_program) if each.r_nc_netid in known]
    wrong = [
        (each.r_nc_netid, each.r_nc_protofmly, each.r_nc_proto)
        for each in entries
        if (each.r_nc_protofmly, each.r_nc_proto) != known[each.r_nc_netid]
    ]
    expect(wrong, "transports that are described wrongly").equals([])


@proves(
    GETADDRLIST_DESCRIBES_TRANSPORTS, killed_by="getaddrlist4-takes-udp-for-connections", needs="rpcbind4"
)
def test_getaddrlist_tells_datagrams_from_connections(
    binder: MakeBinder, nfs_program: tuple[int, int]
) -> None:
    """GETADDRLIST returns the right semantics for each transport."""
    meant = {b"tcp": (2, 3), b"tcp6": (2, 3), b"udp": (1,), b"udp6": (1,)}
    entries = [each for each in binder(4).rpcbind.getaddrlist(*nfs_program) if each.r_nc_netid in meant]
    wrong = [
        (each.r_nc_netid, each.r_nc_semantics)
        for each in entries
        if each.r_nc_semantics not in meant[each.r_nc_netid]
    ]
    expect(wrong, "transports with other semantics").equals([])


# ---------------------------------------------------------------- GETSTAT


@EVERY_VERSION
@proves(GETSTAT_COUNTS_REQUESTS, killed_by="getstat4-counts-nothing", needs="rpcbind4")
def test_getstat_counts_what_is_looked_up(
    binder: MakeBinder, version: int, nfs_program: tuple[int, int]
) -> None:
    """GETSTAT counts the calls that look up a program."""
    statistics = binder(4).rpcbind
    before = statistics.getstat()[version - 2].info[3]
    binder(version).port(*nfs_program)
    after = statistics.getstat()[version - 2].info[3]
    expect(after, f"calls of procedure 3 of version {version}").at_least(before + 1)
