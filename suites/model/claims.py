# SPDX-License-Identifier: MIT
"""What a program claims: each property with its clause, by version of NFS."""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Mapping

from nfsjudge import Harm, Requirement, should, stated
from nfsjudge.lint.nfs3_rules import COOKIES_DIFFER
from suites.clauses import (
    DATA_IS_CURRENT,
    FILEID_IS_UNIQUE,
    FILEID_STAYS,
    LISTS_ARE_CURRENT,
    MTIME_IS_OF_DATA,
    MTIME_STAYS,
    NAMES_ARE_CURRENT,
)
from suites.nfs2.clauses import NLINK_COUNTS_NAMES, SYMLINK_TEXT_IS_KEPT
from suites.nfs2.test_with_nfs3 import V3_SEES_SAME_ATTRIBUTES, V3_SEES_SAME_DATA
from suites.nfs3 import clauses as v3
from suites.nfs3.test_create import GUARDED_KEEPS_EXISTING
from suites.nfs3.test_setattr_size import SIZE_CHANGE_UPDATES_MTIME
from suites.nfs3.test_times import WRITE_MOVES_CTIME
from suites.nfs4 import test_pairs as pairs4
from suites.nfs4.clauses import CHANGE_INFO


class Property(enum.StrEnum):
    """What can be wrong."""

    NAMES = "names"
    LISTED = "listed"
    COOKIES = "cookies"
    TYPE = "type"
    SIZE = "size"
    DATA = "data"
    GAP = "gap"
    EXTENSION = "extension"
    TEXT = "text"
    NLINK = "nlink"
    FILEID = "fileid"
    """Unique among the objects that exist."""
    FILEID_STAYS = "fileid stays"
    SET = "set"
    """Mode, owner and size as SETATTR set them."""
    MTIME_SET = "mtime set"
    """In the step that sets it; later it is `MTIME_STAYS`."""
    MTIME_STAYS = "mtime stays"
    WRITE_MOVES_MTIME = "write moves mtime"
    SIZE_MOVES_MTIME = "size moves mtime"
    TIMES_GO_ON = "times go on"
    CHANGE = "change"
    BEFORE = "before"
    TRUNCATES = "truncates"
    """CREATE UNCHECKED of an existing file."""
    GUARDED = "guarded"
    EXCLUSIVE = "exclusive"


GROUPS: t.Final[Mapping[str, frozenset[Property]]] = {
    "names": frozenset(
        {
            *(Property.NAMES, Property.LISTED, Property.COOKIES),
            *(Property.TRUNCATES, Property.GUARDED, Property.EXCLUSIVE),
        }
    ),
    "data": frozenset({Property.SIZE, Property.DATA, Property.GAP, Property.EXTENSION, Property.TEXT}),
    "attributes": frozenset(
        {
            *(Property.TYPE, Property.NLINK, Property.FILEID, Property.FILEID_STAYS, Property.SET),
            *(Property.MTIME_SET, Property.MTIME_STAYS),
            *(Property.WRITE_MOVES_MTIME, Property.SIZE_MOVES_MTIME, Property.TIMES_GO_ON),
        }
    ),
    "change": frozenset({Property.CHANGE, Property.BEFORE}),
}
"""What one check judges: a server that breaks one of these is still judged by the others."""
Claims: t.TypeAlias = Mapping[Property, Requirement]


V3: t.Final[Claims] = {
    Property.NAMES: stated(
        "RFC 1813",
        "1.6",
        "a call is complete when it returns: names that it made are there for all, names that it removed are not",
        harm=Harm.SUCCESS,
    ),
    Property.LISTED: v3.READDIR_LISTS_ENTRIES,
    Property.COOKIES: COOKIES_DIFFER,
    Property.TYPE: stated(
        "RFC 1813", "2.5", "type is the type of the object, as long as it exists", harm=Harm.OBJECT
    ),
    Property.SIZE: stated(
        "RFC 1813",
        "2.5",
        "size is the size of the file in bytes, with every change that was answered before",
        harm=Harm.DATA,
    ),
    Property.DATA: v3.READ_RETURNS_CURRENT_DATA,
    Property.GAP: v3.WRITE_GAP_IS_ZERO,
    Property.EXTENSION: v3.EXTENSION_READS_AS_ZEROS,
    Property.TEXT: v3.SYMLINK_DATA_IS_NOT_INTERPRETED,
    Property.NLINK: v3.NLINK_COUNTS,
    Property.FILEID: FILEID_IS_UNIQUE,
    Property.FILEID_STAYS: FILEID_STAYS.of("3"),  # checks of NFSv4 use NFSv3 as well
    Property.SET: v3.SETATTR_SETS_ATTRIBUTES,
    Property.MTIME_SET: v3.SETS_TIMES_TO_TIME_DELTA,
    Property.MTIME_STAYS: MTIME_STAYS,
    Property.WRITE_MOVES_MTIME: WRITE_MOVES_CTIME,
    Property.SIZE_MOVES_MTIME: SIZE_CHANGE_UPDATES_MTIME,
    Property.TIMES_GO_ON: should(  # the text does not speak of clocks that are set back
        "RFC 1813",
        "2.5",
        "mtime and ctime are times of last changes: later ones are not earlier, unless SETATTR sets them",
    ),
    Property.BEFORE: v3.WCC_BEFORE_IS_PRE_OPERATION,
    Property.GUARDED: GUARDED_KEEPS_EXISTING,
    Property.EXCLUSIVE: v3.EXCLUSIVE_NEEDS_ITS_VERIFIER,
}
V4: t.Final[Claims] = {
    Property.NAMES: stated(
        "RFC 5661",
        "18.13.3",
        "LOOKUP finds the object of a name, and no object of a name that was removed",
        harm=Harm.SUCCESS,
    ),
    Property.LISTED: stated(
        "RFC 5661",
        "18.23.3",
        "READDIR retrieves the entries of the directory, each of them once",
        harm=Harm.DATA,
    ),
    Property.COOKIES: should(  # the text does not say that two cookies differ, and no listing has gone on from them
        "RFC 5661",
        "18.23.3",
        "each entry should have another cookie value, which continues the listing after it",
    ),
    Property.TYPE: stated(
        "RFC 5661", "5.8.1.2", "attribute type designates the type of the object", harm=Harm.OBJECT
    ),
    Property.SIZE: stated(
        "RFC 5661", "5.8.1.5", "attribute size is the size of the object in bytes", harm=Harm.DATA
    ),
    Property.DATA: stated(
        "RFC 5661",
        "18.22.3",
        "READ returns the data of the file from the offset on, as it was written last",
        harm=Harm.DATA,
    ),
    Property.GAP: stated(
        "RFC 5661",
        "12.5.4.2",
        "a file that grows is zero extended, also by a WRITE past its end: the gap before the data reads as zeros",
        harm=Harm.DATA,
    ),
    Property.EXTENSION: stated(
        "RFC 5661", "18.30.4", "a larger size adds zeros to the end of the file", harm=Harm.DATA
    ),
    Property.TEXT: stated(
        "RFC 5661", "18.24.3", "READLINK returns the text of the symbolic link", harm=Harm.DATA
    ),
    Property.NLINK: stated(
        "RFC 5661", "5.8.2.25", "attribute numlinks is the number of hard links to the object"
    ),
    Property.FILEID: stated(
        "RFC 5661", "5.8.2.7", "attribute fileid identifies the file uniquely within its file system"
    ),
    Property.FILEID_STAYS: FILEID_STAYS,
    Property.SET: stated(
        "RFC 5661",
        "18.30.3",
        "SETATTR that succeeds has set all attributes of the request",
        harm=Harm.SUCCESS,
    ),
    Property.MTIME_SET: stated(
        "RFC 5661", "5.8.2.44", "SETATTR of time_modify_set sets the time of the last modification"
    ),
    Property.MTIME_STAYS: pairs4.MTIME_STAYS,
    Property.WRITE_MOVES_MTIME: should(  # "it is assumed"
        "RFC 5661", "18.32.4", "writing data to a file updates its time_modify and its change"
    ),
    Property.SIZE_MOVES_MTIME: stated(
        "RFC 5661", "18.30.4", "SETATTR of another size updates the time_modify and the change of the file"
    ),
    Property.TIMES_GO_ON: should(  # the text does not speak of clocks that are set back
        "RFC 5661",
        "5.8.2.43",
        "time_modify and time_metadata are times of last changes: later ones are not earlier, unless SETATTR sets them",
    ),
    Property.CHANGE: stated(
        "RFC 5661",
        "5.8.1.4",
        "by change a client can determine that the object was modified: it has a value that it did not have before",
        harm=Harm.DATA,
    ),
    Property.BEFORE: CHANGE_INFO,
    Property.TRUNCATES: stated(
        "RFC 5661",
        "18.16.3",
        "UNCHECKED4 with a size of zero truncates an existing file, and keeps it otherwise",
        harm=Harm.DATA,
    ),
    Property.GUARDED: stated(
        "RFC 5661", "18.16.3", "GUARDED4 fails if the name exists, and keeps what it names", harm=Harm.OBJECT
    ),
    Property.EXCLUSIVE: stated(
        "RFC 5661",
        "18.16.3",
        "EXCLUSIVE4_1 succeeds only for a file created with its verifier",
        harm=Harm.OBJECT,
    ),
}
V2: t.Final[Claims] = {
    Property.NAMES: NAMES_ARE_CURRENT.of("2"),
    Property.LISTED: LISTS_ARE_CURRENT.of("2"),
    Property.TYPE: V3_SEES_SAME_ATTRIBUTES,
    Property.SIZE: stated(
        "RFC 1094",
        "2.3.5",
        "size is the size of the file in bytes, whichever version has changed it last",
        harm=Harm.DATA,
    ),
    Property.DATA: DATA_IS_CURRENT.of("2"),
    Property.GAP: V3_SEES_SAME_DATA,
    Property.EXTENSION: V3_SEES_SAME_DATA,
    Property.TEXT: SYMLINK_TEXT_IS_KEPT,
    Property.NLINK: NLINK_COUNTS_NAMES,
    Property.SET: V3_SEES_SAME_ATTRIBUTES,
    Property.MTIME_SET: V3_SEES_SAME_ATTRIBUTES,
    Property.MTIME_STAYS: MTIME_STAYS.of("2"),
    Property.WRITE_MOVES_MTIME: MTIME_IS_OF_DATA.of("2"),
}
"""What RFC 1094 says of files that other versions change as well: no more than this is judged of NFSv2."""
CLAIMS: t.Final[Mapping[str, Claims]] = {"v2": V2, "v3": V3, "v4": V4}


def claims_of(group: str, *versions: Claims) -> tuple[Requirement, ...]:
    """The clauses of a group, each once, in the order of `Property`."""
    found = [
        claims[which] for claims in versions for which in Property if which in GROUPS[group] & claims.keys()
    ]
    return tuple(dict.fromkeys(found))
