# SPDX-License-Identifier: MIT
"""Rules for what single operations of a callback say (RFC 5661 section 20).

A callback is judged at the time when it came, and the replies that were under way then are not known. So no rule says
that a client has no delegation, or was denied no lock: the reply that gave it may be on its way. What is compared is
what cannot be otherwise: types of objects, bits that are defined, what CREATE_SESSION and earlier OPENs have said.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import bits_of
from nfsjudge.lint.case import Case
from nfsjudge.lint.nfs4_callbacks import sequence_of
from nfsjudge.lint.nfs4_known import Known
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.requirement import must, should, stated

SAME_MINOR = must(
    "RFC 5661",
    "19.2.3",
    "the minorversion of CB_COMPOUND is that of the COMPOUND that made client ID and session",
)
SEQID_IS_ZERO = must("RFC 5661", "8.2.2", "the seqid of a stateid in a callback is zero")
WRITTEN_FILES = stated(
    "RFC 5661", "20.1.3", "CB_GETATTR is for a file that is delegated for writing, so for a regular file"
)
DEFINED_TYPES = stated(
    "RFC 5661", "20.6.3", "each bit of the type mask of CB_RECALL_ANY is that of a defined type of objects"
)
SLOTS_THAT_THERE_ARE = should(  # no sentence bars a higher target: it only asks for nothing
    "RFC 5661",
    "20.8.3",
    "CB_RECALL_SLOT has the client return slots: its target is no higher than the slots that the session has",
)
LOCKS_OF_FILES = stated(
    "RFC 5661", "20.11.3", "CB_NOTIFY_LOCK is about a byte-range lock of a file, which is a regular file"
)
NOTICES_ARE_ANNOUNCED = must(
    "RFC 5661",
    "20.11.3",
    "a server that sends CB_NOTIFY_LOCK for a file has set OPEN4_RESULT_MAY_NOTIFY_LOCK when that was opened",
)
_REGULAR: t.Final = frozenset({p.NfsFtype4.NF4REG, p.NfsFtype4.NF4NAMEDATTR})


def _session(case: Case) -> Known | None:
    """What is known of the session of a callback."""
    sequence = sequence_of(case.exchange.args)
    return None if sequence is None else case.world.state4.channels.get(bytes(sequence.csa_sessionid))


def _no_file(case: Case, handle: bytes, field: str) -> Breach | None:
    """The object of a handle is known to be something else than a regular file."""
    facts = case.world.facts.get(handle)
    known = None if facts is None or facts.object4 is None else facts.object4.identity.get("type")
    if known is None or facts is None or facts.object4 is None:
        return None
    if facts.object4.generation != case.world.generation or known.value in _REGULAR:
        return None
    kind = p.NfsFtype4(known.value)
    return Breach(
        "the handle of a regular file", f"that of an object of type {kind.name}", field, known.source.number
    )


@rule(
    "nfs4/callback-minor",
    SAME_MINOR,
    of=(p.CB_COMPOUND,),
    killed_by="open4-recalls-with-another-minor-version",
)
def callback_minor(case: Case) -> Breach | None:
    """A callback with another minor version than that by which its session was made."""
    known = _session(case)
    if known is None or known.value.minor is None or case.args.minorversion == known.value.minor:
        return None
    expected, seen = (f"minor version {number}" for number in (known.value.minor, case.args.minorversion))
    return Breach(expected, seen, "minorversion", known.source.number)


@rule("nfs4/callback-seqid", SEQID_IS_ZERO, of=(p.CB_RECALL,), killed_by="open4-recalls-with-the-seqid")
def callback_seqid(case: Case) -> Breach | None:
    """CB_RECALL with a seqid that is not 0; in 4.0 it has the seqid that the client has."""
    is_later = getattr(case.exchange.args, "minorversion", 0) > 0
    if case.args is None or not is_later or case.args.stateid.seqid == 0:
        return None
    return Breach("seqid 0", f"seqid {case.args.stateid.seqid}", "stateid.seqid")


@rule(
    "nfs4/callback-getattr",
    WRITTEN_FILES,
    of=(p.CB_GETATTR,),
    killed_by="getattr4-asks-about-another-file",
)
def callback_getattr(case: Case) -> Breach | None:
    """CB_GETATTR of something that is no regular file."""
    return None if case.args is None else _no_file(case, bytes(case.args.fh), "fh")


@rule(
    "nfs4/callback-recall-any",
    DEFINED_TYPES,
    of=(p.CB_RECALL_ANY,),
    killed_by="open4-recalls-any-of-undefined-types",
)
def callback_recall_any(case: Case) -> Breach | None:
    """CB_RECALL_ANY with a bit in its type mask that no RFC defines."""
    if case.args is None or getattr(case.exchange.args, "minorversion", 0) > p.LATEST_MINOR:
        return None  # a later minor version may define more
    unknown = sorted(set(bits_of(case.args.craa_type_mask)) - p.RECALLABLE)
    if not unknown:
        return None
    return Breach("bits of defined types", f"bit {unknown[0]}", "craa_type_mask")


@rule(
    "nfs4/callback-slots",
    SLOTS_THAT_THERE_ARE,
    of=(p.CB_RECALL_SLOT,),
    killed_by="sequence4-recalls-slots-up-to-any",
)
def callback_slots(case: Case) -> Breach | None:
    """CB_RECALL_SLOT with a target above all slots that the session ever had."""
    known = _session(case)
    if known is None or case.args is None:
        return None
    session = bytes(sequence.csa_sessionid) if (sequence := sequence_of(case.exchange.args)) else b""
    highest = max(known.value.fore.ca_maxrequests - 1, case.world.state4.highest.get(session, 0))
    target = case.args.rsa_target_highest_slotid
    if target <= highest:
        return None
    expected, seen = f"a target of at most {highest}", f"a target of {target}"
    return Breach(expected, seen, "rsa_target_highest_slotid", known.source.number)


@rule(
    "nfs4/callback-lock-file",
    LOCKS_OF_FILES,
    of=(p.CB_NOTIFY_LOCK,),
    killed_by="locku4-notifies-of-another-file",
)
def callback_lock_file(case: Case) -> Breach | None:
    """CB_NOTIFY_LOCK of something that is no regular file."""
    return None if case.args is None else _no_file(case, bytes(case.args.cnla_fh), "cnla_fh")


@rule(
    "nfs4/callback-lock-announced",
    NOTICES_ARE_ANNOUNCED,
    of=(p.CB_NOTIFY_LOCK,),
    killed_by="open4-does-not-announce-notices",
)
def callback_lock_announced(case: Case) -> Breach | None:
    """CB_NOTIFY_LOCK for a file of which no OPEN of the client has returned OPEN4_RESULT_MAY_NOTIFY_LOCK."""
    sequence, state = sequence_of(case.exchange.args), case.world.state4
    client = None if sequence is None else state.clients.get(bytes(sequence.csa_sessionid))
    if client is None or case.args is None:
        return None
    known = state.notices.get((client, bytes(case.args.cnla_fh)))
    if known is None or known.value:
        return None
    expected = "OPEN4_RESULT_MAY_NOTIFY_LOCK in the result of OPEN"
    return Breach(expected, "a notice that no OPEN has announced", "cnla_fh", known.source.number)
