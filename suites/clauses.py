# SPDX-License-Identifier: MIT
"""Claims that several versions of NFS state in the same words, by section of the latest."""

from __future__ import annotations

from nfsjudge import Harm, Level, should, stated

FSID_IS_OF_ALL = stated(
    "RFC 1813",
    "2.5",
    "fsid is the identifier of the file system: the same for a directory and the files in it",
    also={"2": ("RFC 1094", "2.3.5")},
)
FILEID_IS_UNIQUE = stated(
    "RFC 1813",
    "2.5",
    "fileid uniquely identifies the file within its file system",
    also={"2": ("RFC 1094", "2.3.5")},
)
MTIME_IS_OF_DATA = stated(
    "RFC 1813",
    "2.5",
    "mtime is the time when the data of the file was last modified",
    also={"2": ("RFC 1094", "2.3.5")},
)
MTIME_STAYS = should(  # the text does not say what else may move it
    "RFC 1813",
    "2.5",
    "mtime should stay as it was set while the data of the file does not change",
    also={"2": ("RFC 1094", "2.3.5")},
)
DIRECTORY_MTIME_FOLLOWS_ENTRIES = should(  # both sections define mtime for the data of files only
    "RFC 1813",
    "2.5",
    "a change of its entries should update the mtime of a directory",
    also={"2": ("RFC 1094", "2.3.5")},
)
SETATTR_CHANGES_ATTRIBUTES = stated(
    "RFC 1813",
    "3.3.2",
    "SETATTR changes attributes: it is not denied for every attribute of an object that the user has created",
    also={"2": ("RFC 1094", "2.2.3", Level.SHOULD)},  # section 3.3 leaves permissions to the server
)
READ_COUNT_IS_LIMIT = stated(
    "RFC 1813", "3.3.6", "READ returns at most count bytes", also={"2": ("RFC 1094", "2.2.7")}
)
FILEID_STAYS = should(  # the text says that it is unique, not that it is constant
    "RFC 5661",
    "5.8.2.7",
    "fileid identifies the file: it should stay the same while the file exists",
    also={"2": ("RFC 1094", "2.3.5"), "3": ("RFC 1813", "2.5"), "4.0": ("RFC 7530", "5.8.2.6")},
)
NAMES_ARE_CURRENT = stated(
    "RFC 5661",
    "18.13.3",
    "LOOKUP finds what the directory holds now, with every change of names that was answered before",
    harm=Harm.DATA,
    also={"2": ("RFC 1094", "2.2.5"), "3": ("RFC 1813", "3.3.3"), "4.0": ("RFC 7530", "16.13.4")},
)
NAMES_THAT_ARE_GONE = stated(
    "RFC 5661",
    "18.13.3",
    "LOOKUP finds no name whose removal or renaming was answered before",
    harm=Harm.SUCCESS,
    also={"2": ("RFC 1094", "2.2.5"), "3": ("RFC 1813", "3.3.3"), "4.0": ("RFC 7530", "16.13.4")},
)
NAMES_ARE_COMPARED_WHOLE = stated(
    "RFC 5661",
    "18.13.3",
    "a name is of the object that was created with it, however similar other names are",
    harm=Harm.DATA,
    also={"3": ("RFC 1813", "3.3.3"), "4.0": ("RFC 7530", "16.13.4")},
)
DATA_IS_CURRENT = stated(
    "RFC 5661",
    "18.22.3",
    "READ returns the data of the file, with every change that was answered before",
    harm=Harm.DATA,
    also={"2": ("RFC 1094", "2.2.7"), "4.0": ("RFC 7530", "16.23.4")},
)
LISTS_ARE_CURRENT = stated(
    "RFC 5661",
    "18.23.3",
    "READDIR lists what the directory holds now",
    harm=Harm.DATA,
    also={"2": ("RFC 1094", "2.2.17"), "4.0": ("RFC 7530", "16.24.4")},
)
RENAME_MOVES_ALL = stated(
    "RFC 5661",
    "18.26.3",
    "RENAME of a directory changes its name and the directory that it is in, and nothing that is in it",
    harm=Harm.DATA,
    also={"2": ("RFC 1094", "2.2.12"), "3": ("RFC 1813", "3.3.14"), "4.0": ("RFC 7530", "16.27.4")},
)
SETATTR_SETS = stated(
    "RFC 5661",
    "18.30.3",
    "after a successful SETATTR the attributes have the new values",
    harm=Harm.SUCCESS,
    also={"2": ("RFC 1094", "2.2.3"), "4.0": ("RFC 7530", "16.32.4")},
)
NEW_BYTES_ARE_ZERO = stated(
    "RFC 5661",
    "18.30.4",
    "bytes that a larger size or a gap adds to a file are zeros, not what was in the file before",
    harm=Harm.DATA,
    also={
        "2": ("RFC 1094", "2.2.3", Level.SHOULD),  # no sentence says what a larger size adds
        "4.0": ("RFC 7530", "16.32.5"),
    },
)
WRITE_KEEPS_OWNER_AND_MODE = stated(
    "RFC 5661",
    "18.32.3",
    "WRITE writes data to a file: owner, group and mode stay, except that bits to set a user or group may go",
    harm=Harm.OBJECT,
    also={"3": ("RFC 1813", "3.3.7"), "4.0": ("RFC 7530", "16.36.4")},
)
