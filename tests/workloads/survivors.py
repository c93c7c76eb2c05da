# SPDX-License-Identifier: MIT
"""Mutants of NFSv2 and NFSv4.1 that change an operation of workloads, and that no workload sees, by the reason."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

GREEN_2: t.Final[Mapping[str, str]] = {
    "a fileid of 0 is none": """
        readdir2-dots-have-no-fileid
    """,
    "a name like .. that leads elsewhere is a SHOULD (RFC 1094 section 3.2), and counted": """
        lookup2-finds-the-first-parent lookup2-swaps-the-dots
    """,
    "another version of NFS, another export or UDP is needed for it": """
        nfs2-cuts-data-over-udp nfs2-over-udp-returns-another-owner
    """,
    "how delegations end is not compared: data is, and a client that waits too long ends the run VOID": """
        nfs2-executes-while-it-recalls nfs2-ignores-delegations
    """,
    "how long a page may be is compared for NFSv3 only, by the lint": """
        readdir2-exceeds-count readdir2-overfills-the-page
    """,
    "it shows after a restart or a crash only": """
        crash-brings-back-cut-data crash-brings-back-data-beyond-the-end crash-brings-back-old-names
        crash-brings-back-removed-names crash-empties-renamed-files crash-empties-some-of-many-files
        crash-empties-symlinks crash-fills-gaps crash-forgets-data-over-udp crash-forgets-modes
        crash-leaves-new-names-to-copies crash-loses-deep-directories
        crash-loses-names-of-one-connection crash-loses-some-of-many-names
        crash-miscounts-links-of-moved-files crash-mixes-up-special-files crash-restores-link-counts
        crash-restores-modes-of-directories crash-restores-mtime-of-writes crash-restores-parents
        crash-returns-data-after-write crash-rounds-sizes-up crash-undoes-half-of-rename
        crash-undoes-overwriting export-is-stale-after-a-restart handles-change-places-after-a-restart
        handles-reach-the-next-file-after-a-restart listings-fail-after-a-restart
        new-files-have-another-fsid-after-a-restart nfs2-crash-loses-everything nfs2-crash-loses-names
        nfs2-restart-invalidates-handles readdir2-restarts-after-a-removal
        readdir2-skips-an-entry-after-restart removed-handles-reach-files-of-after-a-restart
        replaced-handles-reach-the-new-file-after-a-restart root-is-stale-after-a-restart
        setattr2-is-lost-in-a-crash write2-crash-loses-data-of-one-connection
        write3-crash-leaves-other-bytes write3-crash-loses-data-of-one-connection
        write3-crash-zeroes-pages
    """,
    "limits, and the room in a file system, are best effort": """
        statfs2-block-size-differs-by-object statfs2-reports-more-available-than-free
        statfs2-reports-more-free-than-total statfs2-returns-bsize-0 statfs2-returns-tsize-0
    """,
    "no directory is read like that: its pages, names and changes are others": """
        readdir2-cuts-long-names readdir2-invents-names-for-odd-arguments readdir2-lacks-long-names
        readdir2-lists-non-directories readdir2-never-returns-eof
        readdir2-omits-names-before-a-directory readdir2-repeats-a-cookie readdir2-returns-cookie-0
        readdir2-skips-the-fourth-entry readdir2-treats-cookies-as-positions
    """,
    "no program has such names and objects, or looks at them after such a change": """
        changes2-deny-and-do changes2-refuse-and-clear create2-inverts-group-write
        create2-keeps-one-page create2-never-truncates create2-requires-attributes
        create2-sets-attributes-of-existing create2-size-zero-frees-nothing create2-swaps-times
        create2-truncates-if-size-is-unset create2-truncates-one-page link2-creates-removed-files
        link2-links-directories link2-refuses-and-increases-nlink lookup2-cuts-names-at-nul
        lookup2-file-is-noent lookup2-finds-names-in-files lookup2-follows-links lookup2-follows-paths
        lookup2-reports-special-files-as-links lookup2-truncates-large-files mkdir2-inverts-group-write
        mkdir2-swaps-times names2-keep-mtime-of-directories names2-keep-one-page
        names2-of-links-leave-a-copy names2-of-links-reach-targets nfs2-accepts-existing-names
        nfs2-creates-in-non-directories nfs2-refuses-a-name-and-creates-another
        nfs2-removed-handle-refers-to-next-file nfs2-removes-missing-names nfs2-replaces-existing-names
        nfs2-uses-removed-directories readlink2-directory-is-einval readlink2-reads-non-links
        readlink2-remembers-texts-by-name remove2-empties-directories remove2-empties-other-names
        rename2-destroys-replaced-files rename2-loses-an-entry rename2-loses-the-data
        rename2-moves-below-itself rename2-moves-into-targets-of-links
        rename2-over-existing-does-nothing rename2-removes-the-target-first
        rename2-removes-the-target-in-a-first-step rename2-renames-by-dots
        rename2-replaces-full-directories rename2-stays-in-its-directory rename2-to-itself-removes
        rmdir2-dots-empty-the-directory rmdir2-empties-before-it-refuses rmdir2-removes-files
        rmdir2-removes-full-directories umnt-and-umntall-revoke-handles
    """,
    "no program makes such calls": """
        read2-large-counts-skip-a-byte read2-obeys-totalcount read2-reads-non-files
        read2-returns-zeros-beyond-the-end write2-accepts-non-files write2-answers-before-it-is-stable
        write2-fills-holes write2-keeps-ctime write2-mixes-clients write2-no-data-truncates
        write2-obeys-beginoffset write2-obeys-totalcount write2-offsets-are-signed
    """,
    "no program sets such attributes, or has such objects": """
        getattr2-mode-contradicts-the-type getattr2-returns-an-unknown-type
        getattr2-returns-nanoseconds-for-some-files nfs2-accepts-an-invalid-handle
        nfs2-altered-handle-is-the-root setattr2-after-a-change-is-lost setattr2-changes-extreme-times
        setattr2-does-not-extend setattr2-extension-restores-old-data setattr2-follows-links
        setattr2-halves-large-sizes setattr2-keeps-one-page setattr2-keeps-the-owner
        setattr2-of-nothing-updates-times setattr2-rounds-times-up setattr2-same-size-clears
        setattr2-sets-an-unset-field setattr2-sets-only-the-first-field setattr2-size-keeps-one-page
        setattr2-swaps-atime-and-mtime setattr2-truncates-a-byte-too-much setattr2-truncates-non-files
    """,
    "the run ends VOID, or does not begin: a call is refused or put off, as a right server may do it": """
        create2-denies-everybody creations2-leave-what-they-refuse lookup2-denies-everybody
        mkdir2-denies-everybody nfs2-optional-is-a-system-error nfs2-optional-is-an-io-error
        read2-denies-everybody read2-returns-nothing readdir2-denies-everybody
        readlink2-denies-everybody remove2-denies-everybody rename2-denies-everybody
        rmdir2-denies-everybody setattr2-denies-everybody statfs2-denies-everybody
        write2-denies-everybody
    """,
    "the run names what it could not remove": """
        rmdir2-does-nothing
    """,
    "who may do what is not compared: a call that is refused ends the run VOID": """
        create2-ignores-permissions setattr2-anybody-changes-the-mode
        setattr2-type-bits-change-permissions
    """,
}

GREEN_4: t.Final[Mapping[str, str]] = {
    "another version of NFS, another export or UDP is needed for it": """
        commit4-undoes-writes-of-nfs3 readdir4-lists-what-nfs4-left
    """,
    "clients and sessions are made once, and used as they are meant to be": """
        bindconn4-binds-fore-only bindconn4-binds-the-backchannel-only bindconn4-forgets-lost-callbacks
        bindconn4-returns-another-session bindconn4-unknown-is-ok compound4-begins-at-the-root
        compound4-current-is-saved compound4-drops-the-tag compound4-needs-no-session
        compound4-removed-is-illegal compound4-sessionless-with-company
        compound4-takes-any-minor-version compound4-takes-any-number-of-operations
        compound4-unknown-is-notsupp compound4-writes-and-removes-go-up
        createsession4-accepts-an-operation-less createsession4-accepts-half-of-the-request
        createsession4-adds-a-backchannel createsession4-doubles-back-sizes createsession4-doubles-sizes
        createsession4-executes-larger-requests createsession4-halves-the-backchannel
        createsession4-has-half-of-the-slots createsession4-replay-makes-another
        createsession4-returns-the-next-sequence createsession4-second-is-misordered
        createsession4-sends-larger-replies createsession4-takes-any-sequence
        createsession4-unknown-is-inval createsession4-wants-the-first-connection
        destroyclientid4-destroys-nothing destroyclientid4-is-never-busy
        destroyclientid4-looks-at-sessions-only destroyclientid4-unknown-is-ok
        destroysession4-destroys-nothing destroysession4-ends-the-state destroysession4-unknown-is-ok
        exchangeid4-confirmed-gets-a-new-id exchangeid4-cuts-owners-at-a-nul
        exchangeid4-ignores-undefined-flags exchangeid4-knows-roles-only exchangeid4-never-confirms
        exchangeid4-new-is-confirmed exchangeid4-refuses-implementations exchangeid4-repeat-is-in-use
        exchangeid4-returns-no-role exchangeid4-unconfirmed-keeps-its-id
        exchangeid4-updates-another-incarnation exchangeid4-updates-what-is-not-there
        lock4-locks-end-with-connections read4-fills-the-reply-with-data
        reclaimcomplete4-always-succeeds savefh4-keeps-the-first sequence4-backchannel-stays-down
        sequence4-halves-the-highest-slot sequence4-hides-the-lost-backchannel
        sequence4-renews-by-one-session sequence4-renews-no-lease
    """,
    "how delegations end is not compared: data is, and a client that waits too long ends the run VOID": """
        changes4-delay-after-the-return changes4-do-not-wait-for-the-return changes4-ignore-delegations
        getattr4-answers-before-the-return getattr4-asks-no-writer getattr4-delays-after-the-return
        nfs4-local-changes-do-not-wait open4-invents-delegations open4-recalls-another-file
        open4-recalls-with-the-seqid open4-revokes-delegations-at-once open4-takes-any-delegation
        remove4-delays-after-the-return remove4-ignores-delegations
    """,
    "how long a page may be is compared for NFSv3 only, by the lint": """
        readdir4-exceeds-maxcount
    """,
    "it shows after a restart or a crash only": """
        exchangeid4-restart-ends-sessions exchangeid4-restart-keeps-the-id
    """,
    "no compound of a workload is like that": """
        restorefh4-keeps-the-current
    """,
    "no directory is read like that: its pages, names and changes are others": """
        readdir4-counts-cookies-from-one readdir4-dircount-is-a-limit
        readdir4-invents-an-entry-for-unknown-cookies readdir4-lacks-long-names readdir4-lists-dots
        readdir4-of-a-file-is-empty readdir4-remembers-attributes-by-session
        readdir4-remembers-filehandles-by-name readdir4-repeats-a-cookie readdir4-small-pages-are-empty
        readdir4-unknown-bit-is-an-error
    """,
    "no program has locks that conflict, or that are parts of a file": """
        close4-takes-lock-stateids freestateid4-frees-everything freestateid4-frees-nothing
        freestateid4-unknown-is-ok lock4-compares-seqids lock4-compares-the-clientid
        lock4-denied-has-another-range lock4-denied-names-nobody lock4-denied-upgrades-unlock
        lock4-forgets-the-range-before lock4-grants-always lock4-locks-the-gap lock4-locks-whole-files
        lock4-one-client-has-no-conflicts lock4-own-locks-conflict lock4-second-keeps-the-seqid
        lock4-to-the-end-is-to-the-size lock4-upgrades-over-readers lock4-waits-without-a-conflict
        lock4-wrong-range-is-badrange locks4-cut-owners-at-a-nul locku4-compares-seqids
        locku4-compares-the-type locku4-takes-open-stateids locku4-unlocks-everything
        locku4-zero-length-is-ok
    """,
    "no program has named attributes": """
        create4-of-an-attribute-is-inval link4-of-an-attribute-is-inval lookupp4-of-attributes-is-noent
        openattr4-attributes-are-regular openattr4-attributes-are-short openattr4-gives-a-directory
        openattr4-keeps-named-attr-false openattr4-lists-nothing rename4-of-an-attribute-is-inval
    """,
    "no program has such names and objects, or looks at them after such a change": """
        bindconn4-follows-sequence create4-keeps-the-current-filehandle
        createsession4-keeps-the-old-client destroysession4-destroys-its-own
        destroysession4-may-stand-anywhere getfh4-changes-the-handle link4-empty-name-is-noent
        link4-existing-is-taken link4-links-nothing link4-makes-the-file-current
        link4-sets-time-metadata-to-time-modify lookup4-compares-the-start-of-names
        lookup4-empty-name-is-noent lookup4-in-a-file-is-noent lookup4-in-a-link-is-notdir
        lookup4-remembers-names-by-session lookup4-returns-another-entry lookupp4-finds-the-first-parent
        lookupp4-of-a-file-is-noent lookupp4-of-the-root-is-the-root names4-dots-are-directories
        names4-dots-are-known names4-drop-uncommitted-pages names4-keep-one-page
        names4-long-ones-are-cut names4-of-links-leave-a-copy names4-of-links-reach-targets
        names4-replaces-bad-utf8 names4-slashes-are-paths open4-keeps-the-current-filehandle
        putfh4-bad-handle-is-inval putfh4-keeps-the-first putrootfh4-is-no-directory
        readdir4-ends-after-a-change readdir4-skips-an-entry-after-a-change
        readdir4-skips-an-entry-after-removal readlink4-of-a-file-is-empty readlink4-of-a-file-is-inval
        readlink4-remembers-texts-by-name remove4-absent-is-ok remove4-before-is-older
        remove4-empty-name-is-noent remove4-full-is-exist remove4-in-a-file-is-noent
        remove4-removes-nothing rename4-absent-is-ok rename4-change-info-is-swapped
        rename4-destroys-replaced-files rename4-empty-name-is-noent rename4-incompatible-is-inval
        rename4-keeps-numlinks-of-replaced-files rename4-loses-an-entry rename4-moves-below-itself
        rename4-moves-into-targets-of-links rename4-never-replaces rename4-of-itself-removes
        rename4-over-a-link-keeps-numlinks rename4-removes-the-old-name-in-a-first-step
        rename4-removes-the-target-in-a-first-step rename4-stays-in-the-directory
        rename4-takes-a-link-away savefh4-takes-the-current-away secinfo4-keeps-the-current-filehandle
        secinfononame4-keeps-the-current-filehandle sequence4-caches-any-size
        sequence4-compares-half-of-session-ids sequence4-errors-move-the-slot
        sequence4-executes-false-retries sequence4-executes-retries
        sequence4-executes-retries-of-failures sequence4-executes-uncached-retries
        sequence4-forgets-replies sequence4-limits-move-the-slot sequence4-lone-retry-is-misordered
        sequence4-second-is-inval sequence4-sessions-share-replies sequence4-slots-share-a-reply
        sequence4-takes-any-first-number sequence4-takes-any-slot sequence4-takes-later-numbers
        sequence4-unknown-session-is-stale setxattr4-keeps-the-change
    """,
    "no program makes such calls": """
        commit4-drops-other-pages commit4-extends-the-file commit4-of-a-directory-is-inval
        read4-beyond-has-bytes read4-beyond-is-inval read4-current-is-anonymous
        read4-far-beyond-is-inval read4-far-beyond-is-not-eof read4-of-a-directory-is-inval
        read4-of-nothing-is-inval read4-seqid-zero-is-bad read4-wraps-around
        types4-wrong-one-is-serverfault write4-ends-at-2-gib write4-fills-the-gap
        write4-gap-repeats-the-data write4-large-unaligned-loses-a-byte write4-of-nothing-extends
        write4-of-nothing-is-inval write4-of-nothing-truncates write4-second-unstable-keeps-time-modify
        write4-wraps-around write4-wraps-at-2-gib
    """,
    "no program makes such objects, and the mode of a new one is counted only": """
        changes4-deny-and-do create4-before-is-older create4-empty-name-is-noent
        create4-existing-is-taken create4-in-a-file-is-inval create4-keeps-the-owners
        create4-names-are-shorter-than-maxname create4-regular-is-inval create4-sets-no-mode
        create4-swaps-device-numbers create4-swaps-times creations4-take-a-masked-mode
    """,
    "no program opens a file like that, denies anything, or uses a stateid that has ended": """
        changes4-take-closed-stateids close4-closes-for-all close4-compares-owners-without-clients
        close4-compares-the-seqid close4-drops-uncommitted-pages close4-keeps-shares
        close4-takes-any-seqid close4-unlocks-for-all nfs4-honours-what-expired
        open4-before-reclaim-complete-is-inval open4-change-info-is-of-nothing
        open4-clears-the-last-digit-of-the-mode open4-compares-half-of-the-verifier
        open4-compares-the-clientid open4-compares-the-start-of-owners open4-creates-always
        open4-denied-truncates open4-denies-always open4-directory-is-inval open4-empty-name-is-noent
        open4-exclusive-attribute-is-exist open4-exclusive-empties open4-exclusive-forgets-the-verifier
        open4-exclusive-ignores-attributes open4-exclusive-remembers-names
        open4-exclusive-truncates-again open4-guarded-empties open4-guarded-folds-case
        open4-guarded-is-unchecked open4-guarded-race-is-unchecked open4-ignores-deny
        open4-replaces-other-objects open4-says-that-the-size-was-set open4-second-gets-another-stateid
        open4-sets-no-current-stateid open4-size-zero-frees-nothing open4-swaps-times
        open4-takes-any-share open4-truncates-the-attributes open4-unchecked-always-truncates
        open4-unchecked-drops-uncommitted-pages open4-unchecked-keeps-one-page
        open4-unchecked-keeps-the-data open4-unchecked-sets-any-size open4-unchecked-truncates-one-page
        open4-wants-confirmation opendowngrade4-keeps-the-denial opens4-are-of-names
        read4-compares-half-of-stateids read4-takes-closed-stateids read4-takes-locks-of-closed-opens
        read4-takes-stateids-of-others reclaims4-never-end restorefh4-restores-no-stateid
        setattr4-ignores-the-open-mode stateids4-of-any-file stateids4-that-are-bad-write
        stateids4-unknown-is-anonymous write4-bad-stateid-writes write4-ignores-the-open-mode
        write4-takes-the-invalid-stateid
    """,
    "no program sets or compares such attributes, or requests others than those of a stat": """
        attributes4-ignores-unknown-ones attributes4-mask-the-mode attributes4-take-any-nseconds
        getattr4-adds-the-type getattr4-announces-two-bytes getattr4-drops-the-last-attribute
        getattr4-fails-within-three-words getattr4-fileid-of-files-is-short
        getattr4-hides-a-required-attribute getattr4-keeps-the-time-that-was-set
        getattr4-lacks-a-required-attribute getattr4-nothing-is-everything getattr4-of-many-is-a-fault
        getattr4-only-files-have-all getattr4-set-only-is-left-out getattr4-swaps-types
        getattr4-unknown-bit-is-an-error setattr4-acl-keeps-the-mode setattr4-after-a-change-is-lost
        setattr4-creation-time-is-mtime setattr4-denial-is-inval setattr4-denies-and-does
        setattr4-drops-uncommitted-pages setattr4-extension-restores-old-data setattr4-follows-links
        setattr4-ignores-denials setattr4-ignores-the-mask setattr4-ignores-the-size
        setattr4-ignores-unsupported-attributes setattr4-is-a-modification setattr4-keeps-one-page
        setattr4-keeps-the-group setattr4-mode-drops-the-time-in-silence
        setattr4-of-an-owner-resets-the-mode setattr4-owner-is-never-set setattr4-read-only-is-perm
        setattr4-same-size-clears setattr4-says-that-all-was-set setattr4-seconds-have-31-bits
        setattr4-server-time-changes-nothing setattr4-sets-times-of-the-server
        setattr4-size-drops-the-mode setattr4-size-drops-uncommitted-pages setattr4-size-keeps-one-page
        setattr4-size-keeps-time-modify setattr4-sizes-have-31-bits setattr4-swaps-times
        setattr4-takes-any-mask setattr4-takes-any-nseconds setattr4-times-end-in-2038
        setattr4-truncation-within-a-page-keeps-it
    """,
    "the run ends VOID, or does not begin: a call is refused or put off, as a right server may do it": """
        commit4-fails-the-second-time commit4-verifier-is-random delay4-never-ends
        delegreturn4-returns-nothing locku4-ends-the-stateid locku4-unlocks-nothing
        open4-delays-after-the-return open4-recalls-another-stateid operations4-deny-what-access-grants
        putfh4-knows-few-handles write4-stateids-end-with-connections
    """,
    "who may do what is not compared: a call that is refused ends the run VOID": """
        access4-grants-strangers access4-never-grants-extend access4-remembers-what-it-granted
        access4-supports-everything access4-supports-undefined-bits auth4-eight-groups-count
        data4-grants-all-what-one-was-granted data4-remembers-who-was-granted open4-asks-no-mode
        read4-shows-uncommitted-data-to-its-writer write4-by-others-changes-the-fileid
        write4-gives-the-file-away
    """,
}
