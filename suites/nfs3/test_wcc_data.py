# SPDX-License-Identifier: MIT
"""Weak cache consistency (RFC 1813 section 2.5, wcc_data) of the procedures that change directories.

A server may omit either half at any time; what it returns has to be true. wcc_data of files is here where two clients
take part; the checks of WRITE, SETATTR and COMMIT cover the rest.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, Sattr3, StableHow
from nfsjudge import expect, observe, proves, skip, unsupported
from nfsjudge.expect import StatusReply
from suites.nfs3.attributes import expect_before, expect_same_object, with_mode
from suites.nfs3.calls import Place, call_on, procedure_name
from suites.nfs3.clauses import (
    DIRECTORY_SIZE_AND_NLINK_ARE_STEADY,
    WCC_AFTER_HAS_NEW_TIMES,
    WCC_AFTER_IS_POST_OPERATION,
    WCC_BEFORE_HAS_OLD_TIMES,
    WCC_BEFORE_IS_PRE_OPERATION,
)
from suites.nfs3.permissions import STRANGER
from suites.nfs3.times import LONG_AGO, make_old
from suites.nfs3.wcc import (
    CHANGES,
    EXISTING,
    REFUSED,
    VARIANTS,
    arrange_entry,
    change_entry,
    refused_call,
    wcc_field,
    wcc_of,
)

RETURNING_WCC: t.Final = ("create", "mkdir", "symlink", "mknod", "remove", "rmdir", "rename", "link")


# ---------------------------------------------------------------- changes and refusals


@pytest.mark.parametrize("change", VARIANTS)
@proves(
    WCC_BEFORE_HAS_OLD_TIMES,
    DIRECTORY_SIZE_AND_NLINK_ARE_STEADY,
    killed_by=("wcc3-before-has-another-size", "wcc3-before-is-from-after"),
)
def test_before(nfs3: Nfs3, place: Place, change: str) -> None:
    """wcc_data.before of a directory matches GETATTR before the change."""
    arrange_entry(place, change, b"name")
    known = place.scratch.attributes(place.here)
    reply = change_entry(nfs3, place, change, b"name")
    if wcc_of(reply, wcc_field(change)).before is None:
        unsupported("the server returned no wcc_data.before, which is optional")
    expect_before(reply, f"resok.{wcc_field(change)}.before", known)


@pytest.mark.parametrize("change", VARIANTS)
@proves(WCC_AFTER_IS_POST_OPERATION, killed_by=("wcc3-after-is-of-another-object", "wcc3-after-is-stale"))
def test_after(nfs3: Nfs3, place: Place, change: str) -> None:
    """wcc_data.after of a directory matches GETATTR after the change."""
    arrange_entry(place, change, b"name")
    reply = change_entry(nfs3, place, change, b"name")
    if wcc_of(reply, wcc_field(change)).after is None:
        unsupported("the server returned no wcc_data.after, which is optional")
    expect_same_object(reply, f"resok.{wcc_field(change)}.after", place.scratch.attributes(place.here))


@pytest.mark.parametrize("change", REFUSED)
@proves(WCC_AFTER_IS_POST_OPERATION, killed_by="wcc3-refusals-show-another-object")
def test_after_refusal(nfs3: Nfs3, place: Place, change: str) -> None:
    """wcc_data.after of a refused call matches the attributes of the directory."""
    place.arrange("lookup", EXISTING)
    reply = refused_call(nfs3, place, change)
    observe(f"{procedure_name(change)} that should fail", reply.status)
    if reply.resfail is None:
        skip(f"{procedure_name(change)} succeeded although it should fail: other checks judge that")
    if getattr(reply.resfail, wcc_field(change)).after is None:
        unsupported("the server returned no wcc_data.after with the error, which is optional")
    expect_same_object(reply, f"resfail.{wcc_field(change)}.after", place.scratch.attributes(place.here))


@pytest.mark.parametrize("change", CHANGES)
@proves(WCC_AFTER_HAS_NEW_TIMES, killed_by="wcc3-after-has-old-times")
def test_after_times(nfs3: Nfs3, place: Place, change: str) -> None:
    """wcc_data.after of a directory has the times that GETATTR returns after the change."""
    place.arrange(change, b"name")
    path = wcc_field(change)
    reply = place.call(nfs3, change, b"name")
    if wcc_of(reply, path).after is None:
        unsupported("the server returned no wcc_data.after, which is optional")
    known = place.scratch.attributes(place.here)
    for name in ("mtime", "ctime"):
        expect(reply).field(f"resok.{path}.after.{name}").equals(getattr(known, name))


@pytest.mark.parametrize("change", REFUSED)
@proves(
    WCC_BEFORE_HAS_OLD_TIMES, DIRECTORY_SIZE_AND_NLINK_ARE_STEADY, killed_by="wcc3-refusals-have-another-size"
)
def test_before_refusal(nfs3: Nfs3, place: Place, change: str) -> None:
    """wcc_data.before of a refused call matches the attributes of the directory."""
    place.arrange("lookup", EXISTING)
    known = place.scratch.attributes(place.here)
    reply = refused_call(nfs3, place, change)
    observe(f"{procedure_name(change)} that should fail", reply.status)
    if reply.resfail is None:
        skip(f"{procedure_name(change)} succeeded although it should fail: other checks judge that")
    if getattr(reply.resfail, wcc_field(change)).before is None:
        unsupported("the server returned no wcc_data.before with the error, which is optional")
    expect_before(reply, f"resfail.{wcc_field(change)}.before", known)


# ---------------------------------------------------------------- two clients


@pytest.mark.parametrize("change", [*VARIANTS, "existing"])
@proves(
    WCC_BEFORE_HAS_OLD_TIMES,
    DIRECTORY_SIZE_AND_NLINK_ARE_STEADY,
    killed_by="wcc3-caches-directories-by-connection",
)
def test_before_two_clients(nfs3: Nfs3, second_client: Nfs3, place: Place, change: str) -> None:
    """wcc_data.before includes a change that another client made."""
    arrange_entry(place, change, b"name")
    make_old(second_client, place.here)
    expect(nfs3.getattr(place.here)).ok()  # what this client may cache
    made = second_client.mkdir(place.here, b"of-the-other-client", Sattr3(mode=0o755))
    if made.resok is None:
        skip(f"the other client cannot change the directory: MKDIR answers {made.status}", made)
    known = expect(second_client.getattr(place.here)).ok().obj_attributes
    reply = change_entry(nfs3, place, change, b"name")
    if wcc_of(reply, wcc_field(change)).before is None:
        unsupported("the server returned no wcc_data.before, which is optional")
    expect_before(reply, f"resok.{wcc_field(change)}.before", known)


@pytest.mark.parametrize("change", CHANGES)
@proves(WCC_AFTER_IS_POST_OPERATION, killed_by="getattr3-caches-directories-by-connection")
def test_after_two_clients(nfs3: Nfs3, second_client: Nfs3, place: Place, change: str) -> None:
    """wcc_data.after matches what GETATTR returns to another client."""
    place.arrange(change, b"name")
    expect(second_client.getattr(place.here)).ok()  # what that client may cache
    reply = place.call(nfs3, change, b"name")
    after = wcc_of(reply, wcc_field(change)).after
    if after is None:
        unsupported("the server returned no wcc_data.after, which is optional")
    known = expect(second_client.getattr(place.here)).ok().obj_attributes
    expect_same_object(reply, f"resok.{wcc_field(change)}.after", known)
    for name in ("mtime", "ctime"):
        expect(reply, because=WCC_AFTER_HAS_NEW_TIMES).field(
            f"resok.{wcc_field(change)}.after.{name}"
        ).equals(getattr(known, name))


_ON_FILES: t.Final[dict[str, tuple[str, Callable[[Nfs3, bytes], StatusReply]]]] = {
    "write": (
        "file_wcc",
        lambda nfs3, file: nfs3.write(file, offset=0, data=b"mine", stable=StableHow.FILE_SYNC),
    ),
    "write-refused": ("file_wcc", lambda nfs3, file: nfs3.write(file, offset=2**63, data=b"mine")),
    "setattr": ("obj_wcc", lambda nfs3, file: nfs3.setattr(file, Sattr3(mode=0o640))),
    "setattr-refused": (
        "obj_wcc",
        lambda nfs3, file: nfs3.setattr(file, Sattr3(mode=0o600), guard=LONG_AGO),
    ),
    "commit": ("file_wcc", lambda nfs3, file: nfs3.commit(file)),
}
"""Calls on a file with wcc_data in their replies, and the field that contains it."""


def _expect_other_clients_change(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, call: str) -> None:
    """Expect `before` of a call to show what another client changed since this one got the attributes."""
    __tracebackhide__ = True
    file = with_mode(second_client, scratch.file("f", b"some data"), 0o600)
    expect(nfs3.getattr(file)).ok()  # what this client may cache
    # FILE_SYNC: after an UNSTABLE WRITE the server may update the times later.
    longer = second_client.write(file, offset=0, data=b"longer than before", stable=StableHow.FILE_SYNC)
    if longer.resok is None:
        skip(f"the other client cannot change the file: WRITE answers {longer.status}", longer)
    known = expect(second_client.getattr(file)).ok().obj_attributes
    field, act = _ON_FILES[call]
    reply = act(nfs3, file)
    observe(f"{call} after a change by another client", reply.status)
    arm = "resok" if reply.status == Nfsstat3.NFS3_OK else "resfail"
    results = getattr(reply, arm)
    if results is None or getattr(results, field).before is None:
        unsupported("the server returned no wcc_data.before, which is optional")
    expect_before(reply, f"{arm}.{field}.before", known)


@pytest.mark.parametrize("call", _ON_FILES)
@proves(WCC_BEFORE_IS_PRE_OPERATION, killed_by="wcc3-caches-files-by-connection")
def test_file_two_clients(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, call: str) -> None:
    """wcc_data.before of a file includes a change that another client made."""
    _expect_other_clients_change(nfs3, second_client, scratch, call)


@pytest.mark.parametrize("call", ["write", "setattr", "commit"])
@proves(
    WCC_BEFORE_IS_PRE_OPERATION,
    killed_by="wcc3-caches-files-by-connection",
    needs=("other_users", "distinct_users"),
)
def test_file_denied(
    second_client: Nfs3, scratch: Nfs3Scratch, as_user: Callable[..., Nfs3], call: str
) -> None:
    """wcc_data.before of a call without permission includes a change that another user made."""
    _expect_other_clients_change(as_user(*STRANGER), second_client, scratch, call)


# ---------------------------------------------------------------- calls on a file instead of a directory


@pytest.mark.parametrize("procedure", RETURNING_WCC)
@proves(WCC_AFTER_IS_POST_OPERATION, killed_by="wcc3-refusals-show-another-object")
def test_after_notdir(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """wcc_data.after of a call on a file instead of a directory is of that file."""
    file, path = scratch.file("file", b"data"), wcc_field(procedure)
    reply = call_on(nfs3, procedure, file)
    observe(f"{procedure_name(procedure)} on a file", reply.status)
    if reply.resfail is None or getattr(reply.resfail, path).after is None:
        unsupported("the call succeeded, or returned an error without wcc_data.after, which is optional")
    expect_same_object(reply, f"resfail.{path}.after", scratch.attributes(file))


@pytest.mark.parametrize("procedure", RETURNING_WCC)
@proves(WCC_BEFORE_IS_PRE_OPERATION, killed_by="wcc3-refusals-have-another-size")
def test_before_notdir(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """wcc_data.before of a call on a file instead of a directory is of that file."""
    file, path = scratch.file("file", b"data"), wcc_field(procedure)
    known = scratch.attributes(file)
    reply = call_on(nfs3, procedure, file)
    observe(f"{procedure_name(procedure)} on a file", reply.status)
    if reply.resfail is None or getattr(reply.resfail, path).before is None:
        unsupported("the call succeeded, or returned an error without wcc_data.before, which is optional")
    expect_before(reply, f"resfail.{path}.before", known)
