# SPDX-License-Identifier: MIT
"""Clauses that checks in more than one file prove, each declared once."""

from __future__ import annotations

from nfsjudge import Harm, should, stated

# ---------------------------------------------------------------- section 2.2.7: READ

READ_MAKES_PROGRESS = should(
    "RFC 1094",
    "2.2.7",
    "READ returns at least one byte before the end of the file, since its reply has no eof flag",
    harm=Harm.DATA,
)


# ---------------------------------------------------------------- section 2.2.10: CREATE

SUCCESS_ADDS_NAME = stated(
    "RFC 1094",
    "2.2.10",
    "NFS_OK means that the directory now has an entry with the given name",
    harm=Harm.SUCCESS,
)
NAME_IS_KEPT_EXACTLY = should(
    # a server may have to map unusual names, or cut long ones, for its file system
    "RFC 1094",
    "2.2.10",
    "a new entry has exactly the given name, byte for byte",
)


# ---------------------------------------------------------------- section 2.2.14: SYMLINK

SYMLINK_TEXT_IS_KEPT = stated(
    "RFC 1094",
    "2.2.14",
    "the server stores the text of a symbolic link uninterpreted, and READLINK returns it",
    harm=Harm.DATA,
)


# ---------------------------------------------------------------- section 2.3.1: statuses

RETURNS_NOENT = should("RFC 1094", "2.3.1", "NOENT means that the file does not exist")
LONG_NAME_IS_REFUSED = should(
    "RFC 1094", "2.3.1", "a name of more than 255 bytes is too long; the server does not shorten it"
)


# ---------------------------------------------------------------- section 2.3.2: types

TYPE_NAMES_KIND = stated(
    "RFC 1094", "2.3.2", "type names the kind of object: NFBLK and NFCHR are devices, NFNON is not a file"
)


# ---------------------------------------------------------------- section 2.3.5: attributes

DIRECTORY_SIZE_IS_STEADY = should(
    # the text does not define them: some systems add up what is below, with a delay
    "RFC 1094",
    "2.3.5",
    "size and nlink of a directory stay the same while nobody changes it",
)
TYPE_IS_IN_MODE = should(
    "RFC 1094", "2.3.5", "mode also encodes the file type, and type is the one that mode encodes"
)
NLINK_COUNTS_NAMES = stated("RFC 1094", "2.3.5", "nlink is the number of different names of the file")


# ---------------------------------------------------------------- section 2.3.10: diropargs

ONLY_DIRECTORIES_HAVE_NAMES = stated(
    "RFC 1094", "2.3.10", "dir is a directory: no other object contains names"
)


# ---------------------------------------------------------------- section 3.3: permissions

CHECKS_PERMISSIONS = should("RFC 1094", "3.3", "the server checks permissions as its operating system does")
