# SPDX-License-Identifier: MIT
"""Mutants of the reference server, and what workloads say of them at small scale.

`RED` has mutants with a workload that ends FAIL on them: they break what the workload uses. `GREEN` has those of NFSv3
that change an operation which workloads use and are still not seen, each with the reason; `survivors` has those of
NFSv2 and NFSv4.1. `test_mutants` runs a part of the first table, or all of it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

LIKE: t.Final = {"2": "v2-like", "3": "v3-like", "4.1": "v4-like"}
_RATE: t.Final[dict[str, t.Any]] = {"duration": 0.25, "warmup": 0.0, "seed": 3}
_TREE: t.Final[dict[str, t.Any]] = {"parameters": {"files": 30, "directories": 4, "levels": 3}, "page": 1024}
_LIKE_A_KERNEL = ""

HOW: t.Final[Mapping[str, tuple[str, dict[str, t.Any]]]] = {
    "names and data": ("connectathon-basic", {"policy": "raw", "window": 1}),
    "with caches": ("connectathon-basic", {"policy": _LIKE_A_KERNEL}),
    "listings": ("find", {"policy": _LIKE_A_KERNEL, **_TREE}),
    "small writes": ("randwrite", {
        "callers": 2, "connections": 2, "stable": "unstable", "parameters": {"size": 4000, "io": 500}, **_RATE}),
    "one block": ("randwrite", {"stable": "unstable", "parameters": {"size": 500, "io": 500}, **_RATE}),
    "lists with sizes": ("dirlist", {"parameters": {"files": 20, "size": 3000, "attributes": True}, **_RATE}),
    "two connections": ("mailserver", {
        "policy": _LIKE_A_KERNEL, "callers": 2, "connections": 2, "parameters": {"files": 8, "mean": 3000}, **_RATE}),
    "many files": ("mailserver", {"callers": 2, "parameters": {"files": 8, "mean": 3000}, **_RATE}),
    "many files, with caches": ("mailserver", {
        "policy": _LIKE_A_KERNEL, "callers": 2, "parameters": {"files": 8, "mean": 3000}, **_RATE}),
    "many empty files": ("smallread", {"parameters": {"files": 20, "size": 0}, **_RATE}),
    "odd offsets": ("randread", {"parameters": {"size": 16016, "io": 1001}, **_RATE}),
    "large reads": ("write10", {
        "rsize": 131072, "wsize": 131072, "parameters": {"size": 256 << 10, "write": 131072}}),
    "data-sync": ("write10", {
        "stable": "data-sync", "rsize": 65536, "wsize": 65536, "parameters": {"size": 256 << 10, "write": 65536}}),
    "stable writes": ("write10", {"stable": "file-sync", "parameters": {"size": 64 << 10}}),
    "lists": ("dirlist", {"parameters": {"files": 20}, **_RATE}),
    "lists, side by side": ("dirlist", {
        "callers": 3, "page": 512, "parameters": {"files": 60, "width": 30}, **_RATE}),
    "recalls": ("recall", {"policy": "delegated", "parameters": {"files": 3}}),
    "locks": ("lockedreads", {"policy": _LIKE_A_KERNEL, "clients": 2, "parameters": {"files": 2, "rounds": 2}}),
}  # fmt: skip
"""Workloads and how they are run; the empty policy is that which is like a kernel, by the version."""

_RED: t.Final[Mapping[tuple[str, str], str]] = {
    ("small writes", "3"): """
        commit3-flushes-by-offset commit3-flushes-the-farthest-first commit3-flushes-the-newest-first
        write3-clears-rest-of-block write3-keeps-the-older-data write3-puts-the-file-back
        write3-second-client-appends write3-truncates-after-the-data write3-unstable-ends-with-connections
    """,
    ("two connections", "3"): """
        getattr3-caches-files-by-connection
    """,
    ("many empty files", "3"): """
        create3-reuses-a-handle
    """,
    ("odd offsets", "3"): """
        read3-aligns-offset
    """,
    ("large reads", "3"): """
        read3-rotates-large-reads
    """,
    ("data-sync", "3"): """
        write3-data-sync-ends-at-8-kib
    """,
    ("stable writes", "3"): """
        write3-file-sync-is-unstable
    """,
    ("lists", "3"): """
        list3-swaps-the-dots
    """,
    ("lists, side by side", "3"): """
        list3-ignores-cookies readdir3-claims-eof-early readdir3-exceeds-count readdir3-repeats-an-entry
        readdir3-skips-an-entry
    """,
    ("many files, with caches", "3"): """
        read3-count-echoes-request
    """,
    ("names and data", "3"): """
        commit3-after-has-another-fileid commit3-before-has-no-size commit3-drops-data
        commit3-refuses-count-zero create3-attributes-of-the-directory create3-creates-nothing
        create3-guarded-always-exists create3-reuses-the-fileid-of-a-linked-file
        getattr3-fileid-changes-with-nlink getattr3-fileid-of-the-parent getattr3-mode-includes-the-type
        getattr3-nlink-is-always-1 getattr3-remembers-attributes-by-connection
        getattr3-reports-empty-files-as-fifos getattr3-wrong-type info3-attributes-of-the-root
        link3-attributes-of-the-directory link3-creates-in-the-parent link3-creates-nothing
        link3-keeps-nlink link3-makes-a-copy link3-returns-the-old-nlink list3-wrong-fileid
        lookup3-attributes-of-the-directory lookup3-dir-attributes-of-the-object
        lookup3-finds-every-name lookup3-follows-symlinks lookup3-returns-another-entry
        lookup3-returns-another-type lookup3-returns-the-directory mkdir3-attributes-of-the-parent
        mkdir3-creates-a-file-inside read3-attributes-have-another-size read3-changes-mtime
        read3-eof-before-the-end read3-eof-only-when-short read3-ignores-eof
        readdir3-attributes-of-another readdir3-invents-an-entry readdir3-lists-removed-entries
        readdir3-never-returns-eof readdir3-wrong-fileid readlink3-attributes-of-the-root
        readlink3-drops-last-byte remove3-answers-xdev remove3-follows-symlinks remove3-keeps-nlink
        remove3-removes-a-neighbour remove3-removes-nothing rename3-keeps-the-old-name
        rmdir3-removes-a-neighbour write3-after-is-before write3-before-is-after
        write3-drops-uncommitted-pages write3-keeps-older-data write3-reports-more-than-sent
        write3-returns-unknown-committed
    """,
    ("with caches", "3"): """
        access3-attributes-of-the-root access3-reports-everything-as-regular
    """,
    ("listings", "3"): """
        list3-ignores-small-counts list3-resumes-an-entry-too-late
        readdirplus3-attributes-of-another readdirplus3-claims-eof-early readdirplus3-exceeds-maxcount
        readdirplus3-fileid-unlike-attributes readdirplus3-handle-of-another readdirplus3-never-returns-eof
        readdirplus3-omits-directories readdirplus3-repeats-an-entry readdirplus3-skips-an-entry
    """,
    ("many files", "3"): """
        commit3-commits-another-file commit3-drops-other-files read3-caches-data-by-connection
        remove3-keeps-names-taken write3-appends-whole-blocks write3-drops-unaligned-tail
    """,
    ("small writes", "2"): """
        read2-returns-a-byte-too-many read2-returns-twice-the-count write2-puts-the-file-back
    """,
    ("lists, side by side", "2"): """
        readdir2-returns-empty-pages readdir2-returns-eof-early
    """,
    ("names and data", "2"): """
        create2-appends-a-version-to-names create2-makes-a-fifo create2-makes-another-name
        create2-returns-attributes-of-the-directory create2-returns-the-handle-of-the-directory
        getattr2-changes-the-mode getattr2-fsid-differs-by-object getattr2-mode-lacks-the-type
        getattr2-remembers-attributes-by-connection getattr2-repeats-fileids
        getattr2-reports-everything-as-device getattr2-reports-one-link-too-many
        getattr2-returns-nanoseconds getattr2-rounds-the-size link2-keeps-nlink link2-makes-a-copy
        lookup2-finds-the-directory lookup2-missing-name-is-nxio lookup2-returns-another-fileid
        lookup2-returns-another-mode lookup2-returns-another-owner lookup2-returns-another-type
        lookup2-returns-attributes-of-the-directory lookup2-returns-other-times
        mkdir2-creates-a-file-inside mkdir2-returns-the-handle-of-the-parent
        nfs2-changes-names-with-special-bytes nfs2-renamed-handle-refers-to-directory
        read2-changes-mtime read2-inverts-the-data read2-returns-a-wrong-first-byte
        read2-returns-another-owner read2-size-is-the-byte-count readdir2-invents-an-entry
        readdir2-lists-a-directory-only-once readdir2-lists-names-in-upper-case
        readdir2-lists-removed-entries readdir2-omits-the-last-entry readdir2-repeats-an-entry
        readdir2-returns-other-fileids readlink2-drops-the-last-byte remove2-does-nothing
        remove2-keeps-nlink remove2-removes-the-last-name rename2-keeps-the-old-name
        setattr2-ignores-size-0 setattr2-inverts-write-for-group setattr2-returns-a-wrong-size
        setattr2-returns-old-attributes symlink2-makes-a-file write2-clears-the-next-byte
        write2-inverts-the-data write2-returns-another-fileid write2-returns-old-attributes
        write2-returns-the-old-size write2-zeroes-the-last-byte
    """,
    ("one block", "4.1"): """
        write4-keeps-the-older-data
    """,
    ("lists with sizes", "4.1"): """
        readdir4-all-sizes-are-zero
    """,
    ("large reads", "4.1"): """
        read4-ends-large-data-with-a-zero
    """,
    ("data-sync", "4.1"): """
        write4-commits-nothing write4-data-sync-ends-at-4-kib
    """,
    ("names and data", "4.1"): """
        access4-grants-everything commit4-loses-the-data compound4-goes-on-after-an-error
        create4-change-info-is-of-nothing create4-change-stands create4-makes-directories
        getattr4-change-is-the-first getattr4-change-stands getattr4-counts-links-up
        getattr4-empty-files-are-fifos getattr4-remembers-attributes-by-session getattr4-renumbers-files
        link4-change-info-is-of-nothing link4-counts-nothing lookup4-absent-is-inval
        lookup4-finds-a-name-once lookup4-finds-every-name lookup4-noent-is-errno
        lookup4-remembers-what-it-found read4-changes-the-time read4-never-at-the-end
        read4-repeats-the-first-file read4-returns-more read4-returns-zeros readdir4-adds-the-type
        readdir4-skips-the-last readlink4-cuts-the-text remove4-change-info-is-of-nothing
        rename4-change-stands rename4-renames-nothing sequence4-failed-requests-keep-the-slot
        sequence4-revokes-now-and-then setattr4-inverts-the-last-mode-bit
        setattr4-resets-what-is-not-named setattr4-sets-nothing write4-drops-uncommitted-pages
        write4-reports-more-than-sent write4-writes-zeros
    """,
    ("listings", "4.1"): """
        lookupp4-stays readdir4-empty-has-no-end readdir4-ignores-cookies sequence4-answers-slot-0
        sequence4-answers-the-next-sequence-id
    """,
    ("many files", "4.1"): """
        getattr4-rounds-large-sizes-up write4-puts-the-file-back
    """,
    ("listings", "2"): """
        mkdir2-makes-a-file
    """,
    ("many files, with caches", "2"): """
        getattr2-fileid-changes-with-the-size getattr2-keeps-old-mtime
    """,
    ("two connections", "2"): """
        lookup2-remembers-names-by-connection
    """,
    ("locks", "4.1"): """
        lock4-read-locks-exclude locku4-keeps-the-seqid
    """,
    ("recalls", "4.1"): """
        changes4-refuse-and-clear open4-ignores-delegations
    """,
    ("small writes", "4.1"): """
        commit4-flushes-by-offset commit4-flushes-the-farthest-first commit4-flushes-the-newest-first
        sequence4-new-connection-is-misordered
    """,
    ("two connections", "4.1"): """
        sequence4-first-slot-comes-first
    """,
    ("with caches", "4.1"): """
        getattr4-change-comes-again
    """,
}
RED: t.Final[tuple[tuple[str, str, str], ...]] = tuple(
    (how, version, name) for (how, version), names in _RED.items() for name in names.split()
)
"""(key of `HOW`, version of NFS, mutant)."""

NAMED: t.Final[frozenset[str]] = frozenset({
    "read3-attributes-have-another-size", "write3-clears-rest-of-block", "write3-puts-the-file-back",
    "readdir3-wrong-fileid", "readdirplus3-fileid-unlike-attributes",
    "create3-reuses-a-handle", "list3-swaps-the-dots", "lookup3-returns-the-directory",
})  # fmt: skip
"""Always run."""

GREEN: t.Final[Mapping[str, str]] = {
    "the mode of a new object is a SHOULD (RFC 1813 section 3.3.8): counted as a trouble": """
        create3-ignores-mode
    """,
    "a handle that RENAME makes stale is looked up again, and counted: a SHOULD (RFC 1813 section 3.3.14)": """
        rename3-stales-handles
    """,
    "a name like .. that leads elsewhere is a SHOULD (RFC 1813 section 3.2), and counted": """
        lookup3-dotdot-is-the-directory-itself lookup3-finds-the-first-parent
    """,
    "another version of NFS, another export or UDP is needed for it": """
        commit3-over-udp-answers-at-once getattr3-size-is-that-of-nfs3 link3-across-exports-is-io
        link3-copies-across-exports list3-lists-what-nfs3-left list3-over-udp-loses-an-entry
        lookup3-finds-names-of-the-first-export lookup3-leaves-the-export write3-verifier-by-transport
    """,
    "it shows after a restart or a crash only": """
        commit3-commits-own-data-only commit3-count-zero-flushes-one-block commit3-does-not-flush-ranges
        commit3-flushes-by-the-old-name commit3-flushes-few-files commit3-flushes-nothing
        commit3-flushes-only-its-connection commit3-forgets-data-of-before-a-restart
        commit3-full-disk-loses-data commit3-nospc-loses-data commit3-over-udp-flushes-nothing
        commit3-shrinks-files-in-a-crash commit3-undoes-writes-of-nfs4
        commit3-verifier-lags-after-restart commit3-verifier-survives-crash crash-brings-back-cut-data
        crash-brings-back-data-beyond-the-end crash-brings-back-old-names
        crash-brings-back-removed-names crash-empties-renamed-files crash-empties-some-of-many-files
        crash-empties-symlinks crash-fills-gaps crash-forgets-data-over-udp crash-forgets-modes
        crash-leaves-new-names-to-copies crash-loses-deep-directories
        crash-loses-names-of-one-connection crash-loses-some-of-many-names
        crash-miscounts-links-of-moved-files crash-mixes-up-special-files crash-restores-link-counts
        crash-restores-modes-of-directories crash-restores-mtime-of-writes crash-restores-parents
        crash-returns-data-after-write crash-rounds-sizes-up crash-undoes-half-of-rename
        crash-undoes-overwriting create3-exclusive-forgets-at-restart
        create3-exclusive-repeat-makes-a-new-file-after-restart
        create3-exclusive-truncates-after-restart create3-guarded-accepts-files-of-before-a-restart
        export-is-stale-after-a-restart getattr3-handles-are-stale-after-restart
        handles-change-places-after-a-restart handles-reach-the-next-file-after-a-restart
        list-has-old-fileids-after-restart list-skips-an-entry-after-restart
        list3-restarts-after-a-change list3-restarts-for-an-unknown-verifier
        listings-fail-after-a-restart write3-calls-unstable-data-stable write3-lies-about-data-sync
        write3-lies-about-file-sync write3-stable-write-shares-fate write3-treats-data-sync-as-unstable
        write3-verifier-changes-for-lost-files-only write3-verifier-changes-late
    """,
    "limits, and the room in a file system, are best effort": """
        fsinfo3-always-claims-links fsinfo3-has-no-granularity fsinfo3-malformed-time-delta
        fsinfo3-prefers-more-than-the-maximum fsinfo3-refuses-a-file fsinfo3-returns-maxfilesize-0
        fsinfo3-returns-rtmax-0 fsinfo3-returns-wtmax-0 fsstat3-frees-more-than-all
        fsstat3-refuses-a-file fsstat3-usable-space-wraps write3-exceeds-maxfilesize
    """,
    "lists of access control may give new objects more": """
        creations3-ignore-initial-attributes
    """,
    "no client looks at names that another one removes": """
        getattr3-accepts-handles-of-one-connection lookup3-remembers-names-by-connection
    """,
    "no client reads what another one has not committed": """
        write3-hides-unstable-data
    """,
    "no directory is read like that: its pages, names and changes are others": """
        readdir3-compares-sums-of-names readdir3-empty-directory-lacks-eof
        readdir3-gives-two-entries-a-cookie readdir3-lists-a-file readdir3-lists-a-name-twice
        readdir3-lowers-names readdir3-repeats-a-cookie readdir3-skips-an-entry-after-removal
        readdir3-skips-the-entry-after-the-cookie readdir3-too-small-returns-eof
        readdir3-too-small-returns-nothing readdirplus3-attributes-by-connection
        readdirplus3-lists-a-file readdirplus3-remembers-attributes-by-connection
        readdirplus3-remembers-attributes-by-name readdirplus3-remembers-handles-by-name
        readdirplus3-skips-the-entry-after-the-cookie
    """,
    "no program has a link to something that exists": """
        getattr3-follows-symlinks link3-follows-symlinks
    """,
    "no program has special files": """
        access3-answers-bad-cookie getattr3-omits-device-numbers
        getattr3-reports-special-files-as-regular getattr3-returns-an-old-ctime
        getattr3-returns-an-unknown-type link3-copies-special-files list3-lists-special-files
        list3-replaces-special-characters read3-wrong-type-is-io write3-answers-badtype
        write3-wrong-type-is-io
    """,
    "no program has such links": """
        readlink3-cuts-long-data readlink3-needs-permission readlink3-reads-files
        readlink3-reads-non-links readlink3-refusals-show-a-link readlink3-remembers-texts-by-name
    """,
    "no program has such names and objects: what it removes is a file without data": """
        remove3-accepts-the-empty-name remove3-destroys-linked-files remove3-empties-directories
        remove3-removes-from-files remove3-removes-missing-names
    """,
    "no program makes a directory over a name that exists": """
        mkdir3-accepts-an-existing-directory mkdir3-creates-in-files mkdir3-replaces-files
        mkdir3-returns-the-handle-of-the-parent
    """,
    "no program makes a file over a name that exists, or with EXCLUSIVE": """
        create3-copies-links create3-empties-targets-of-links create3-exclusive-accepts-any-verifier
        create3-exclusive-accepts-existing create3-exclusive-accepts-older-files
        create3-exclusive-accepts-other-types create3-exclusive-creates-later
        create3-exclusive-empties-by-name create3-exclusive-forgets-verifier
        create3-exclusive-remembers-names create3-exclusive-replaces-the-file
        create3-exclusive-resets-the-mode create3-exclusive-truncates-again create3-fills-the-file
        create3-follows-links create3-guarded-accepts-directories create3-guarded-accepts-existing
        create3-guarded-creates-later create3-guarded-folds-case create3-guarded-sets-the-mode
        create3-guarded-truncates create3-unchecked-drops-uncommitted-pages create3-unchecked-is-guarded
        create3-unchecked-replaces-others create3-unchecked-truncates
        create3-unchecked-truncates-one-page creations3-server-times-are-of-the-client
        creations3-swap-initial-times link3-refuses-and-increases-nlink link3-replaces-directories
        link3-replaces-files
    """,
    "no program makes such calls": """
        commit3-extends-the-file commit3-refuses-clean-files commit3-refuses-ranges
        create3-size-zero-frees-nothing getattr3-rounds-small-sizes-up getattr3-truncates-size
        list3-skips-an-entry-of-large-pages read3-beyond-has-bytes read3-carries-more-than-it-counts
        read3-empty-file-lacks-eof read3-fills-holes read3-returns-more-than-count read3-returns-nothing
        read3-short-returns-eof read3-short-skips-the-first-byte read3-truncates-offset
        read3-wraps-around write3-accepts-nothing write3-brings-truncated-bytes-back
        write3-clears-the-end-of-large-data write3-continuation-writes-nothing
        write3-drops-data-of-unknown-stability write3-echoes-unknown-stable-how write3-fills-gap
        write3-full-counts-all write3-full-is-io write3-ignores-count
        write3-large-unaligned-loses-a-byte write3-no-data-extends write3-no-data-truncates
        write3-over-quota-is-io write3-overwrites-symlinks write3-stays-full write3-too-big-is-io
        write3-truncates-offset write3-wraps-around
    """,
    "no program removes a directory that is not empty": """
        rmdir3-accepts-the-empty-name rmdir3-destroys-data rmdir3-empties-before-refusing
        rmdir3-empties-by-dot rmdir3-empties-by-dotdot rmdir3-follows-symlinks rmdir3-not-empty-is-io
        rmdir3-removes-files rmdir3-removes-from-files rmdir3-removes-missing-names
    """,
    "no program renames a directory, or a file that has data, or replaces one": """
        rename3-accepts-the-empty-name rename3-before-is-of-the-other-directory
        rename3-destroys-replaced-files rename3-empties-directories rename3-finds-renamed-sources
        rename3-follows-symlinks rename3-keeps-dotdot rename3-keeps-nlink-of-replaced-files
        rename3-keeps-the-name-in-the-old-directory rename3-keeps-the-target rename3-loses-an-entry
        rename3-makes-a-new-file rename3-moves-below-itself rename3-moves-by-dots
        rename3-moves-into-targets-of-links rename3-of-itself-is-exist rename3-of-itself-removes
        rename3-over-empty-directory-does-nothing rename3-over-other-types-does-nothing
        rename3-removes-one-of-two-links rename3-removes-the-old-name-in-a-first-step
        rename3-removes-the-target-first rename3-removes-the-target-in-a-first-step
        rename3-renames-from-files rename3-renames-into-files rename3-replaces-directories-by-files
        rename3-replaces-files-by-directories rename3-replaces-full-directories
        rename3-replaces-nothing-new rename3-replaces-other-types rename3-replaces-what-links-point-to
        rename3-returns-two-sizes-after rename3-returns-two-sizes-before rename3-shows-a-temporary-file
        rename3-stays-in-its-directory rename3-swaps-the-directories rename3-too-many-directories-is-io
    """,
    "no program uses cookies of older listings": """
        create3-compares-half-of-the-verifier list3-invents-an-entry-for-unknown-cookies
        write3-verifier-by-file write3-verifier-by-stability write3-verifier-is-made-of-seconds
        write3-verifier-is-reused
    """,
    "no program uses handles of what is gone, of another type, or damaged ones": """
        commit3-changes-the-mode-of-non-files create3-creates-in-files
        create3-ignores-the-generation-of-handles create3-returns-the-handle-of-the-directory
        creations3-no-room-is-io creations3-no-room-leaves-a-file getattr3-altered-handle-is-noent
        getattr3-empty-handle-is-noent getattr3-ignores-the-generation-of-handles
        getattr3-short-handle-is-inval link3-creates-in-files link3-ignores-the-generation-of-handles
        link3-refusals-show-the-directory link3-refuses-and-links-directories link3-unsupported-is-io
        list3-refuses-huge-counts lookup3-finds-names-in-files lookup3-ignores-the-generation-of-handles
        read3-answers-isdir read3-follows-the-name-after-rename read3-reads-symlinks
        read3-removed-handle-reads-the-newest-file write3-answers-isdir
        write3-clears-the-beginning-when-too-far write3-continuation-is-inval
        write3-removed-handle-writes-the-newest-file
    """,
    "no program uses such names": """
        create3-accepts-the-empty-name create3-cuts-long-names link3-accepts-the-empty-name
        link3-cuts-long-names lookup3-compares-sums-of-names lookup3-compares-the-start-of-names
        lookup3-finds-removed-names lookup3-folds-case
    """,
    "the embedded server says JUKEBOX only when a knob or a delegation makes it": """
        jukebox3-executes-the-call jukebox3-ignores-delegations jukebox3-refuses-the-retry
        jukebox3-retry-does-nothing
    """,
    "the embedded server writes everything unless a knob says otherwise": """
        write3-short-count-sizes-all write3-short-count-writes-all
        write3-short-count-zeroes-the-last-byte write3-short-wcc-counts-all
    """,
    "the run ends VOID: a call is refused, as a right server may do it": """
        commit3-changes-verifier commit3-fails-the-second-time commit3-has-its-own-verifier
        commit3-never-has-room create3-denies-everybody creations3-hide-what-they-refuse
        creations3-leave-what-they-refuse fsstat3-denies-everybody info3-refuses-non-files
        jukebox3-never-ends link3-fails-after-linking link3-is-not-supported lookup3-denies-everybody
        mkdir3-creates-nothing write3-verifier-by-connection
    """,
    "that a write moves times is not compared, nor are those of directories": """
        getattr3-caches-directories-by-connection getattr3-changes-mtime
        getattr3-returns-a-billion-nanoseconds link3-sets-ctime-to-mtime write3-keeps-ctime
        write3-keeps-mtime write3-no-data-changes-mtime write3-second-unstable-keeps-ctime
        write3-second-unstable-keeps-mtime
    """,
    "who may do what is not compared: a call that is refused ends the run VOID": """
        access3-denies-with-an-error access3-executes-anything access3-grants-modify-to-readers
        access3-grants-more-than-requested access3-grants-read-of-any-directory access3-ignores-groups
        access3-ignores-the-mode access3-never-executes access3-never-grants-extend
        access3-never-grants-lookup access3-refuses-an-empty-request access3-refuses-unknown-bits
        access3-remembers-what-it-granted access3-treats-others-as-group auth3-eight-groups-count
        changes3-deny-and-do changes3-refuse-and-clear data3-grants-all-what-one-was-granted
        data3-remembers-who-was-granted fsinfo3-denies-everybody getattr3-owner-is-the-caller
        read3-shows-uncommitted-data-to-its-writer write3-gives-the-file-away
        write3-refused-clears-the-beginning write3-verifier-by-user
    """,
}
"""By the reason: mutants of NFSv3 that no workload sees."""
