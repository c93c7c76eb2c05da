# SPDX-License-Identifier: MIT
"""The knobs of Spritely NFS; `nfsserver.settings` has them all. They cite the sections of its paper."""

from __future__ import annotations

from dataclasses import dataclass

from nfsserver import declaring
from nfsserver.callback_settings import CallbackSettings

_knob = declaring.knob


@dataclass(frozen=True, slots=True)
class SpritelySettings(CallbackSettings):
    """Choices that the paper leaves to a server."""

    snfs_versions: str = _knob(
        "file",
        "where versions of files come from: each file has one on stable storage, or a counter gives them, which "
        "forgets files that are closed",
        "Spritely NFS section 4.3.3",
        "Spritely NFS section 3.1",
        choices=("file", "counter"),
        of_snfs=True,
        draws=("counter",),
    )
    snfs_version_step: int = _knob(
        64,
        "with the counter: it is written to stable storage at multiples of this number, and a crash skips the rest",
        "Spritely NFS section 4.3.3",
        least=1,
        of_snfs=True,
        draws=(1, 1000),
    )
    snfs_entries: int = _knob(
        4096,
        "the most entries of the state table, above which closed files with dirty blocks are reclaimed",
        "Spritely NFS section 4.3.1",
        least=1,
        of_snfs=True,
        draws=(64, 256),
    )
    snfs_callback_timeout: float = _knob(
        1.0,
        "seconds without a reply, and without a WRITE of its client, after which a callback is given up",
        "Spritely NFS section 3.2",
        least=0.05,
        of_snfs=True,
        draws=(0.5, 3.0),
    )
    snfs_honors_lost: bool = _knob(
        True,
        "an OPEN for which a client has not written back succeeds with SNFS_INCONSISTENT; otherwise it fails once "
        "with IO",
        "Spritely NFS section 3.2",
        of_snfs=True,
        draws=(False,),
    )
    snfs_grace: float = _knob(
        10.0,
        "seconds after a restart in which clients reopen what they had",
        "Spritely NFS section 2.4",
        least=0.1,
        most=3600,
        of_snfs=True,
        draws=(5.0, 60.0),
    )
    snfs_recovery: str = _knob(
        "refuse",
        "what becomes of an OPEN in that time: SNFS_RECOVERING, or it waits",
        "Spritely NFS section 2.4",
        choices=("refuse", "wait"),
        of_snfs=True,
        draws=("wait",),
    )
    snfs_nfs_interval: float = _knob(
        60.0,
        "seconds after its last access by another version of NFS in which a file counts as open by that version",
        "Spritely NFS section 6.1",
        least=1,
        most=3600,
        of_snfs=True,
        draws=(3.0, 600.0),
    )
    snfs_version_growth: int = _knob(
        1,
        "by how much the version of a file grows at each OPEN for writing",
        "Spritely NFS section 3.1",
        least=1,
        most=1000,
        of_snfs=True,
        draws=(2, 1000),
    )
    snfs_calls_opener: bool = _knob(
        False,
        "an OPEN for writing that ends caching for all readers calls the opener, too, if it is one of them",
        "Spritely NFS section 4.3.4",
        of_snfs=True,
        draws=(True,),
    )
    snfs_needs_open: bool = _knob(
        True,
        "READ and WRITE of who does not have the file open are refused; otherwise only those of clients that were "
        "given up",
        "Spritely NFS section 3.2",
        "Spritely NFS section 6.1",
        of_snfs=True,
        draws=(False,),
    )
    snfs_dirty_kept: int | None = _knob(
        None,
        "the most closed files with dirty blocks, above which the oldest is reclaimed at once; none: when the table "
        "is full",
        "Spritely NFS section 4.3.1",
        least=0,
        of_snfs=True,
        draws=(0, 4),
    )
    snfs_waits_after_error: bool = _knob(
        False,
        "a client that answers a callback with an error is given up when the time for a reply is over, not at once",
        "Spritely NFS section 3.2",
        of_snfs=True,
        draws=(True,),
    )
