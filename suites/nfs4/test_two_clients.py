# SPDX-License-Identifier: MIT
"""State of NFSv4 crossed with time, or with another session, owner or client (RFC 5661)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import CompoundReply, Compounds, Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.rpc.auth import AuthSys
from nfsclient.xdr import XdrType
from nfsjudge import (
    Harm,
    Level,
    expect,
    expect_unchanged,
    proves,
    should,
    skip,
    stated,
)
from suites.clauses import FILEID_STAYS, WRITE_KEEPS_OWNER_AND_MODE
from suites.neighbours import SIZE, Part, Written, expect_nothing_lost, write_at_once
from suites.nfs3.permissions import STRANGER
from suites.nfs4 import races
from suites.nfs4.locks import WRITE_LT, lock_range, test_range
from suites.nfs4.opens import BOTH, WRITE, another_client, another_session, need_exclusive, open_file
from suites.races import ROUNDS

RECLAIMS_END = stated(
    "RFC 5661",
    "18.51.3",
    "once RECLAIM_COMPLETE is done, reclaims of the client are refused: NFS4ERR_NO_GRACE",
    harm=Harm.DATA,
)
CLOSE_KEEPS_OTHER_LOCKS = stated(
    "RFC 5661",
    "18.2.3",
    "CLOSE releases the locks of the closed open only: those of other owners of the file stay",
    harm=Harm.DATA,
)
STATE_IS_OF_THE_CLIENT = stated(
    "RFC 5661",
    "18.37.3",
    "opens, locks and the lease are tied to the client id, and are not affected by DESTROY_SESSION",
    harm=Harm.DATA,
)
EXCLUSIVE_CREATES_ONCE = stated(
    "RFC 5661",
    "18.16.3",
    "exclusive creation: of two requests with different verifiers one creates the file",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.16.5")},
)
GUARDED_CREATES_ONCE = should(
    # "checks for the presence of a duplicate object by name before performing the create": exclusive creation is what
    # EXCLUSIVE4_1 is for, and two successes have replaced nothing. As GUARDED_CREATES_ONCE of NFSv3.
    "RFC 5661",
    "18.16.3",
    "GUARDED4 checks for an object of the name before it creates one: of two requests one should create the file",
    also={"4.0": ("RFC 7530", "16.16.5")},
)
WRITES_DO_NOT_UNDO_OTHERS = stated(
    "RFC 5661",
    "18.32.3",
    "WRITE writes its data at its offset, and undoes no WRITE of another client next to it",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.36.4")},
)
ACCESS_IS_CURRENT = should(  # what ACCESS says may be out of date as soon as it is said
    "RFC 5661",
    "18.1.3",
    "ACCESS follows the mode that the object has now",
    also={"4.0": ("RFC 7530", "16.1.4")},
)
# OPEN "requires the server's READ and WRITE operations to perform appropriate access checking. Changes to ACLs also
# require new access checking"; attributes that are more restrictive hold at once.
READ_IS_CHECKED = stated(
    "RFC 5661",
    "13.9.2.3",
    "READ performs access checking, by the permissions that the file has now",
    harm=Harm.SECRET,
    also={"4.0": ("RFC 7530", "16.23.4")},
)
WRITE_IS_CHECKED = stated(
    "RFC 5661",
    "13.9.2.3",
    "WRITE performs access checking, by the permissions that the file has now",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.36.4", Level.SHOULD)},  # which says so of a count of zero only
)
_NO_PERMISSION = (Nfsstat4.NFS4ERR_ACCESS, Nfsstat4.NFS4ERR_PERM)
_ATTEMPTS = 5
_ACCESS = p.ACCESS4_READ | p.ACCESS4_MODIFY


@pytest.mark.parametrize("what", ["open", "lock"])
@proves(RECLAIMS_END, killed_by="reclaims4-never-end")
def test_late_reclaim(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, what: str) -> None:
    """A reclaim after RECLAIM_COMPLETE is refused, and nothing is locked."""
    file = scratch.file("file")
    if what == "open":
        opening = op.open(op.claim_previous(), BOTH, p.OPEN4_SHARE_DENY_BOTH, owner=new_state_owner())
        reply = compounds.compound(op.putfh(file), opening)
    else:
        opened = open_file(compounds, file, BOTH)
        locking = op.lock(opened.stateid, WRITE_LT, 0, 10, owner=new_state_owner(), reclaim=True)
        reply = compounds.compound(op.putfh(file), locking)
    expect(reply).refused(
        # A client that had nothing before a restart has nothing to reclaim, either (section 8.4.2.1).
        *(Nfsstat4.NFS4ERR_NO_GRACE, Nfsstat4.NFS4ERR_RECLAIM_BAD, Nfsstat4.NFS4ERR_RECLAIM_CONFLICT),
        because=RECLAIMS_END,
    )
    expect(test_range(another_client(v4), file, WRITE_LT, 0, 10)).ok()


@proves(CLOSE_KEEPS_OTHER_LOCKS, killed_by="close4-unlocks-for-all")
def test_close_keeps_locks(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After CLOSE of one owner's open, the lock of another owner of the client still excludes other clients."""
    file, other = scratch.file("file"), another_client(v4)
    opened, two = open_file(compounds, file, BOTH), open_file(compounds, file, BOTH)
    first = lock_range(compounds, opened, WRITE_LT, 0, 10)
    lock_range(compounds, two, WRITE_LT, 10, 10)
    # With locks, the server may refuse CLOSE (section 18.2.3).
    expect(compounds.compound(op.putfh(file), op.locku(first, 0, 10))).ok()
    expect(compounds.compound(op.putfh(file), op.close(opened.stateid))).ok()
    expect(test_range(other, file, WRITE_LT, 10, 10)).refused(Nfsstat4.NFS4ERR_DENIED)
    expect(test_range(other, file, WRITE_LT, 0, 10)).ok()


@proves(STATE_IS_OF_THE_CLIENT, killed_by="destroysession4-ends-the-state")
def test_session_ends(v4: Nfs4Dialect, nfs4: Nfs4, scratch: Nfs4Scratch) -> None:
    """After DESTROY_SESSION of the session that opened and locked a file, another session of the client uses both."""
    file, other = scratch.file("file", b"data"), another_client(v4)
    client = nfs4.new_client()
    session, two = client.create_session(), client.create_session()
    expect(session.compound(op.reclaim_complete())).ok()
    opened = open_file(session, file, BOTH)
    stateid = lock_range(session, opened, WRITE_LT, 0, 10)
    expect(session.destroy()).ok()
    expect(two.compound(op.putfh(file), op.read(stateid, 0, 4))).ok()
    expect(two.compound(op.putfh(file), op.write(opened.stateid, 20, b"data"))).ok()
    expect(test_range(other, file, WRITE_LT, 0, 10)).refused(Nfsstat4.NFS4ERR_DENIED)
    expect(two.compound(op.putfh(file), op.locku(stateid, 0, 10))).ok()


# ---------------------------------------------------------------- at the same time


@proves(EXCLUSIVE_CREATES_ONCE, killed_by="open4-exclusive-forgets-the-verifier")
def test_exclusive_race(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Of two OPENs with EXCLUSIVE4_1 of one name by two clients at the same time, exactly one succeeds."""
    need_exclusive(compounds)
    hows = [op.exclusive4_1(verifier, Fattr4()) for verifier in (b"\x11" * 8, b"\xee" * 8)]
    _expect_one_creates(v4, scratch, hows)


@proves(GUARDED_CREATES_ONCE, killed_by="open4-guarded-race-is-unchecked")
def test_guarded_race(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """Of two OPENs with GUARDED4 of one name by two clients at the same time, exactly one succeeds."""
    _expect_one_creates(v4, scratch, [op.guarded(Fattr4(mode=0o644)) for _ in range(2)])


def _expect_one_creates(v4: Nfs4Dialect, scratch: Nfs4Scratch, hows: list[p.Createhow4]) -> None:
    """Of two OPENs of one name, sent at once by two clients, exactly one succeeds."""
    __tracebackhide__ = True
    clients = [another_session(v4), another_session(v4)]
    owners = [new_state_owner() for _ in clients]
    judged = 0
    for number in range(ROUNDS // 2):
        name, put_off = b"file-%d" % number, False
        for _ in range(_ATTEMPTS):
            waits = [
                races.start(client, op.putfh(scratch.handle), op.open(name, BOTH, owner=owner, how=how))
                for client, owner, how in zip(clients, owners, hows, strict=True)
            ]
            replies = [wait() for wait in waits]
            put_off |= any(reply.status == Nfsstat4.NFS4ERR_DELAY for reply in replies)
            if any(reply.status != Nfsstat4.NFS4ERR_DELAY for reply in replies):
                break
        done = sum(reply.status == Nfsstat4.NFS4_OK for reply in replies)
        # What answered DELAY may have created the file (section 18.16.4): then EXIST for both says nothing.
        if done or (not put_off and all(reply.status == Nfsstat4.NFS4ERR_EXIST for reply in replies)):
            judged += 1
            expect(done, "OPENs that succeeded").equals(1)
        for client, reply in zip(clients, replies, strict=True):
            if reply.status == Nfsstat4.NFS4_OK:
                client.compound(op.putfh(scratch.handle), op.lookup(name), op.close(reply.stateid))
    if not judged:
        skip(f"no OPEN succeeded: the last one answers {replies[-1].status}")


@pytest.mark.parametrize("where", ["inside", "at-the-end"])
@proves(WRITES_DO_NOT_UNDO_OTHERS, killed_by="write4-puts-the-file-back")
def test_neighbours(v4: Nfs4Dialect, session: Session, scratch: Nfs4Scratch, where: str) -> None:
    """WRITEs of two clients to neighbouring ranges at the same time all take effect."""
    file = scratch.file("f", bytes(SIZE) if where == "inside" else b"")
    clients = [session, another_session(v4)]
    opened = [open_file(client, file, BOTH).stateid for client in clients]

    size = SIZE if where == "inside" else 0
    """Bytes that the file has at least: the replies so far say so."""

    def need_gaps(reply: CompoundReply, *, is_beyond: bool) -> None:
        is_refused = reply.failed is p.WRITE and reply.status != Nfsstat4.NFS4ERR_DELAY
        if is_beyond and is_refused:  # what is refused has changed nothing
            skip(
                f"WRITE beyond the end answers {reply.status.name}: the server may make no gaps in files",
                reply,
            )

    def grown(part: Part, reply: CompoundReply, *, is_beyond: bool) -> Written:
        nonlocal size
        need_gaps(reply, is_beyond=is_beyond)
        written = _written(reply)
        if not written.status:
            size = max(size, part.offset + written.taken)
        return written

    under_way: list[list[Callable[[], CompoundReply]]] = [[], []]

    def start(number: int) -> Callable[[Part], Callable[[], Written]]:
        waits = under_way[number]

        def submit(part: Part) -> Callable[[], Written]:
            while len(waits) >= max(1, clients[number].state.slots.allowed):
                waits.pop(0)()
            writing = op.write(opened[number], part.offset, part.data, p.StableHow4.UNSTABLE4)
            is_beyond = part.offset > size
            wait = _once(races.start(clients[number], op.putfh(file), writing))
            waits.append(wait)

            def answer() -> Written:
                reply = wait()
                if wait in waits:
                    waits.remove(wait)
                return grown(part, reply, is_beyond=is_beyond)

            return answer

        return submit

    def again(part: Part) -> int:
        for wait in list(under_way[0]):  # else no slot may be free
            wait()
        is_beyond = part.offset > size
        reply = session.compound(op.putfh(file), op.write(opened[0], part.offset, part.data))
        need_gaps(reply, is_beyond=is_beyond)
        return int(expect(reply).of(p.WRITE).ok().count)

    wanted = write_at_once([start(0), start(1)], again)
    expect_nothing_lost(scratch.read(file), wanted)


def _once(wait: Callable[[], CompoundReply]) -> Callable[[], CompoundReply]:
    """The same reply each time."""
    replies: list[CompoundReply] = []

    def get() -> CompoundReply:
        if not replies:
            replies.append(wait())
        return replies[0]

    return get


def _written(reply: CompoundReply) -> Written:
    if reply.status == Nfsstat4.NFS4ERR_DELAY:
        return Written(reply.status, 0)
    return Written(0, expect(reply).of(p.WRITE).ok().count)


# ---------------------------------------------------------------- permissions


@proves(ACCESS_IS_CURRENT, killed_by="access4-remembers-what-it-granted", needs="nfs4_other_users")
def test_access_after_mode(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """ACCESS of another user follows a mode that the owner has set since, as for a new file."""
    stranger = v4.new_compounds(v4.connections.connect("nfs"), AuthSys(*STRANGER))

    def granted(file: bytes) -> int:
        reply = stranger.compound(op.putfh(file), op.access(_ACCESS))
        return int(expect(reply).of(p.ACCESS).ok().access)

    def set_mode(file: bytes, mode: int) -> None:
        expect(compounds.compound(op.putfh(file), op.setattr(Fattr4(mode=mode)))).ok()

    known = {}
    for mode in (0o600, 0o644):
        new = scratch.file(f"f{mode:o}")
        set_mode(new, mode)
        known[mode] = granted(new)
    if known[0o600] == known[0o644]:
        skip("ACCESS does not follow the mode: another check judges that")
    file = scratch.file("file")
    for mode in (0o644, 0o600, 0o644):
        set_mode(file, mode)
        expect(
            granted(file), f"access of another user after the mode was set to {mode:04o}", field="access"
        ).equals(known[mode])


_READ = op.read(op.ANONYMOUS, 0, 4)
"""Without an OPEN, which might hold what it was granted."""
_WRITE = op.write(op.ANONYMOUS, 0, b"data")


def _stranger(v4: Nfs4Dialect) -> Compounds:
    return v4.new_compounds(v4.connections.connect("nfs"), AuthSys(*STRANGER))


def _set_mode(compounds: Compounds, file: bytes, mode: int) -> None:
    expect(compounds.compound(op.putfh(file), op.setattr(Fattr4(mode=mode)))).ok()


def _need_denied(compounds: Compounds, stranger: Compounds, new: bytes, use: XdrType) -> None:
    """SKIP unless the mode of a file that nobody has used so decides whether another user may."""
    _set_mode(compounds, new, 0o600)
    reply = stranger.compound(op.putfh(new), use)
    if reply.status == Nfsstat4.NFS4_OK:
        skip("the mode 0600 keeps no other user from the data: another check judges that")
    if reply.status not in _NO_PERMISSION or reply.failed not in {p.READ, p.WRITE}:
        name = "COMPOUND" if reply.failed is None else reply.failed.name
        skip(
            f"whether the mode 0600 keeps other users out is not known: {name} answers {reply.status.name}",
            reply,
        )


def _after_mode(compounds: Compounds, stranger: Compounds, file: bytes, use: XdrType) -> CompoundReply:
    """What a user is answered whom a file has admitted before its mode was set to 0600. SKIP if it admits nobody."""
    _set_mode(compounds, file, 0o666)
    first = stranger.compound(op.putfh(file), use)
    if first.status != Nfsstat4.NFS4_OK:
        skip(f"another user may not use a file of mode 0666: the operation answers {first.status}")
    _set_mode(compounds, file, 0o600)
    return stranger.compound(op.putfh(file), use)


@proves(READ_IS_CHECKED, killed_by="data4-remembers-who-was-granted", needs="nfs4_other_users")
def test_read_after_mode(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ is refused to another user whom the owner has excluded since it was granted."""
    stranger = _stranger(v4)
    _need_denied(compounds, stranger, scratch.file("new", b"data"), _READ)
    expect(_after_mode(compounds, stranger, scratch.file("file", b"data"), _READ)).refused()


@proves(WRITE_IS_CHECKED, killed_by="data4-remembers-who-was-granted", needs="nfs4_other_users")
def test_write_after_mode(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE is refused to another user whom the owner has excluded since it was granted."""
    stranger = _stranger(v4)
    _need_denied(compounds, stranger, scratch.file("new"), _WRITE)
    expect(_after_mode(compounds, stranger, scratch.file("file"), _WRITE)).refused()


@proves(READ_IS_CHECKED, killed_by="data4-grants-all-what-one-was-granted", needs="nfs4_other_users")
def test_read_after_owner(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ of a file of mode 0600 is refused to another user after its owner has read it."""
    stranger, file = _stranger(v4), scratch.file("file", b"data")
    _need_denied(compounds, stranger, scratch.file("new", b"data"), _READ)
    _set_mode(compounds, file, 0o600)
    expect(compounds.compound(op.putfh(file), _READ)).ok()
    expect(stranger.compound(op.putfh(file), _READ)).refused()


@proves(WRITE_IS_CHECKED, killed_by="data4-grants-all-what-one-was-granted", needs="nfs4_other_users")
def test_write_after_owner(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE to a file of mode 0600 is refused to another user after its owner has written to it."""
    stranger, file = _stranger(v4), scratch.file("file")
    _need_denied(compounds, stranger, scratch.file("new"), _WRITE)
    _set_mode(compounds, file, 0o600)
    expect(compounds.compound(op.putfh(file), _WRITE)).ok()
    expect(stranger.compound(op.putfh(file), _WRITE)).refused()


@pytest.mark.parametrize("count", [4, 20], ids=["part", "whole"])
@proves(
    WRITE_KEEPS_OWNER_AND_MODE,
    FILEID_STAYS,
    killed_by=("write4-gives-the-file-away", "write4-by-others-changes-the-fileid"),
    needs="nfs4_other_users",
)
def test_foreign_write(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, count: int) -> None:
    """WRITE by another user keeps the owner, the group, the mode and the fileid of a file."""
    file = scratch.file("file", b"0123456789")
    _set_mode(compounds, file, 0o666)
    names = "owner", "owner_group", "mode", "fileid"
    before = scratch.attributes(file, *names)
    stranger = _stranger(v4)
    opened = open_file(stranger, file, WRITE)
    writing = op.write(opened.stateid, 0, bytes(count))
    expect(stranger.compound(op.putfh(file), writing)).ok()
    after = scratch.attributes(file, *names)
    expect_unchanged(before, after, names[:-1])
    expect_unchanged(before, after, names[-1:], because=FILEID_STAYS)
