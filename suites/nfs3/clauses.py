# SPDX-License-Identifier: MIT
"""Clauses that checks in more than one file prove, each declared once."""

from __future__ import annotations

from nfsjudge import Harm, Part, must, should, stated

# ---------------------------------------------------------------- section 2.5: attributes, handles, wcc_data

DIRECTORY_SIZE_AND_NLINK_ARE_STEADY = should(
    # Section 2.5 defines both for files only: some systems simulate them, or update them later.
    "RFC 1813",
    "2.5",
    "size and nlink of a directory should stay the same while nobody changes the directory",
)
NLINK_COUNTS = should(  # a server may have to simulate fields
    "RFC 1813", "2.5", "nlink is the number of names (hard links) of a file"
)
NSECONDS_BELOW_ONE_SECOND = should(  # the text gives no limit: it is custom, and clients rely on it
    "RFC 1813", "2.5", "nseconds counts nanoseconds after the last full second: it is below 1,000,000,000"
)
MODE_HAS_DEFINED_BITS_ONLY = should(
    "RFC 1813", "2.5", "mode should have no bits but the defined protection bits"
)
HANDLE_IS_OF_ONE_FILE = must(
    "RFC 1813",
    "2.5",
    "equal file handles refer to the same file: the handle of a removed or replaced file never reaches another",
    harm=Harm.DATA,
)
RETURNS_STALE = should(
    "RFC 1813",
    "2.5",
    "a handle whose object no longer exists or is no longer accessible should be answered with NFS3ERR_STALE",
)
BAD_HANDLE_REACHES_NOTHING = stated(
    "RFC 1813",
    "2.5",
    "a handle that refers to no object has no effect: nothing is created and nothing removed",
    harm=Harm.OBJECT,
)
WRITE_EXTENDS_SIZE = stated(
    "RFC 1813",
    "2.5",
    "size is the size of the file: WRITE at or beyond the end extends it to the last byte counted",
    harm=Harm.DATA,
)
STORES_32_BIT_SECONDS = should(
    "RFC 1813",
    "2.5",
    "seconds of a time are unsigned: the server should store times of 1970 and after 2038, or refuse them",
)
WCC_BEFORE_IS_PRE_OPERATION = stated(
    "RFC 1813", "2.5", "wcc_data.before has the size, mtime and ctime of the object from before the operation"
)
WCC_BEFORE_HAS_OLD_TIMES = should(  # some file systems update the times of a directory later
    "RFC 1813", "2.5", "wcc_data.before should have the times of the directory from before the operation"
)
WCC_AFTER_IS_POST_OPERATION = stated(
    "RFC 1813", "2.5", "wcc_data.after has the attributes of the object from after the operation"
)
WCC_AFTER_HAS_NEW_TIMES = should(  # some file systems update the times of a directory later
    "RFC 1813", "2.5", "wcc_data.after should have the times of the object from after the operation"
)


# ---------------------------------------------------------------- section 2.6: statuses

RETURNS_EXIST = should(
    "RFC 1813", "2.6", "creating a name that already exists returns NFS3ERR_EXIST", harm=Harm.SUCCESS
)
RETURNS_NOTDIR = should(
    "RFC 1813", "2.6", "a directory operation on an object that is not a directory returns NFS3ERR_NOTDIR"
)
RETURNS_NOENT = should("RFC 1813", "2.6", "an operation on a name that does not exist returns NFS3ERR_NOENT")
RETURNS_MLINK = should("RFC 1813", "2.6", "NFS3ERR_MLINK reports too many hard links")
RETURNS_BADHANDLE = should(
    "RFC 1813",
    "2.6",
    "a handle that fails consistency checks returns NFS3ERR_BADHANDLE, one invalid otherwise NFS3ERR_STALE",
)
RETURNS_TOOSMALL = should(  # clients should not send less than dtpref (section 3.3.16, IMPLEMENTATION)
    "RFC 1813", "2.6", "NFS3ERR_TOOSMALL reports that the buffer is too small, even for one entry"
)
RETURNS_NOSPC = should(
    "RFC 1813", "2.6", "NFS3ERR_NOSPC reports that the operation would exceed the limit of the file system"
)
RETURNS_ROFS = should(
    "RFC 1813", "2.6", "NFS3ERR_ROFS reports a modifying operation on a read-only file system"
)
READ_ONLY_IS_UNCHANGED = stated(
    "RFC 1813", "2.6", "a read-only file system is not modified", harm=Harm.OBJECT
)
NOSPC_LEAVES_NOTHING = should(  # a failed call returns wcc_data because it may have changed the directory
    "RFC 1813", "2.6", "an operation that fails with NFS3ERR_NOSPC should create nothing"
)
RETURNS_NOTSUPP = should(
    "RFC 1813", "2.6", "NFS3ERR_NOTSUPP reports an operation that the server does not support"
)
RETURNS_NAMETOOLONG = should("RFC 1813", "2.6", "NFS3ERR_NAMETOOLONG reports a name or path that is too long")


# ---------------------------------------------------------------- section 3.2: names

NAMES_RETURN_A_STATUS = should(
    "RFC 1813",
    "3.2",
    "a name that is empty or has characters that the server cannot handle returns a status, NFS3ERR_ACCES",
)
REFUSES_EMPTY_NAMES = should("RFC 1813", "3.2", "an empty filename is refused (NFS3ERR_ACCES)")
DOTDOT_IS_THE_PARENT = should("RFC 1813", "3.2", 'the name ".." refers to the parent directory')
LONG_NAMES_RETURN_NAMETOOLONG = should(
    # Such a name does not exist either, and errors have no order of precedence (section 2.5).
    "RFC 1813",
    "3.2",
    "with no_trunc, an operation on a name longer than name_max returns NFS3ERR_NAMETOOLONG",
)


# ---------------------------------------------------------------- section 3.3.2: SETATTR

EXTENSION_READS_AS_ZEROS = should(
    "RFC 1813",
    "3.3.2",
    "bytes that a larger size adds to a file read as zeros",
    part=Part.IMPLEMENTATION,
    harm=Harm.DATA,
)
SETATTR_SETS_ATTRIBUTES = stated(
    "RFC 1813",
    "3.3.2",
    "after a successful SETATTR the attributes have the requested values",
    harm=Harm.SUCCESS,
)
SETATTR_SETS_NOTHING_ELSE = stated(
    "RFC 1813", "3.3.2", "SETATTR changes only the attributes that new_attributes sets", harm=Harm.OBJECT
)
SIZE_CHANGE_KEEPS_DATA = stated(
    "RFC 1813",
    "3.3.2",
    "a new size truncates or extends the file at its end: the data below both sizes stays the same",
    harm=Harm.DATA,
)
SETATTR_SIZE_IS_OF_FILES = should(
    "RFC 1813", "3.3.2", "SETATTR of the size is for regular files", part=Part.IMPLEMENTATION
)


# ---------------------------------------------------------------- section 3.3.5: READLINK

SYMLINK_DATA_IS_NOT_INTERPRETED = stated(
    "RFC 1813", "3.3.5", "the data of a symbolic link is stored as it is, not interpreted", harm=Harm.DATA
)


# ---------------------------------------------------------------- section 3.3.6: READ

READ_DATA_AT_OFFSET = stated(
    "RFC 1813", "3.3.6", "READ returns the bytes of the file that begin at offset", harm=Harm.DATA
)
READ_EOF_AT_END = stated(
    "RFC 1813", "3.3.6", "READ sets eof if and only if offset plus the returned count is the size of the file"
)
READ_ABOVE_RTMAX = stated(
    "RFC 1813",
    "3.3.6",
    "READ of more than rtmax may be short, and returns only data of the file",
    harm=Harm.DATA,
)
READ_RETURNS_CURRENT_DATA = stated(
    "RFC 1813",
    "3.3.6",
    "READ returns the current data of the file, with every change that was answered before",
    harm=Harm.DATA,
)


# ---------------------------------------------------------------- section 3.3.7: WRITE

WRITES_COUNT_BYTES = stated(
    "RFC 1813",
    "3.3.7",
    "the count bytes that WRITE reports are in the file, starting at offset",
    harm=Harm.DATA,
)
WRITE_WCC_AFTER = stated("RFC 1813", "3.3.7", "file_wcc.after has the attributes of the file after the WRITE")
WRITE_MAKES_PROGRESS = should(
    "RFC 1813",
    "3.3.7",
    "a short WRITE without an error wrote some of the data, so that repeated WRITEs come to an end",
    part=Part.IMPLEMENTATION,
)
FILE_SYNC_DATA_IS_STABLE = must(
    "RFC 1813",
    "3.3.7",
    "data written with FILE_SYNC is on stable storage before WRITE returns",
    harm=Harm.DATA,
)
WRITE_KEEPS_OTHER_DATA = stated(
    "RFC 1813",
    "3.3.7",
    "WRITE changes at most its own range: a WRITE that fails does not damage the file",
    harm=Harm.DATA,
)
VERIFIER_IS_CONSTANT = must("RFC 1813", "3.3.7", "verf stays the same during one instance of the server")
VERIFIER_CHANGES_ON_LOSS = stated(
    "RFC 1813", "3.3.7", "the server does not lose uncommitted data without changing verf", harm=Harm.DATA
)
WRITE_CHANGES_ONLY_ITS_RANGE = stated(
    "RFC 1813", "3.3.7", "WRITE changes count bytes at offset and no others", harm=Harm.DATA
)
WRITE_COUNT_BOUNDS_DATA = should(  # no RFC says what a count means that differs from the length of the data
    "RFC 1813", "3.3.7", "WRITE writes no more than count bytes, and no more than its data"
)
WRITE_GAP_IS_ZERO = should(
    "RFC 1813",
    "3.3.7",
    "bytes between the old end of the file and data written beyond it read as zeros (as in 3.3.2)",
    part=Part.IMPLEMENTATION,
    harm=Harm.DATA,
)
WRITE_RETURNS_INVAL = should(
    "RFC 1813",
    "3.3.7",
    "WRITE to an object that is not a regular file fails with NFS3ERR_INVAL",
    part=Part.IMPLEMENTATION,
)


# ---------------------------------------------------------------- section 3.3.8: CREATE

SETS_INITIAL_ATTRIBUTES = should(  # access control lists and rules for groups may override them (section 4.4)
    "RFC 1813",
    "3.3.8",
    "the attributes in the arguments of CREATE are the initial attributes of the new file",
)
MKDIR_SETS_INITIAL_ATTRIBUTES = should(  # as for CREATE
    "RFC 1813",
    "3.3.9",
    "the attributes in the arguments of MKDIR are the initial attributes of the new directory",
)
MKNOD_SETS_INITIAL_ATTRIBUTES = should(  # as for CREATE
    "RFC 1813",
    "3.3.11",
    "the attributes in the arguments of MKNOD are the initial attributes of the new special file",
)
EXCLUSIVE_NEEDS_ITS_VERIFIER = should(
    "RFC 1813",
    "3.3.8",
    "EXCLUSIVE succeeds only for a file created with its verifier, never for any other existing object",
    part=Part.IMPLEMENTATION,  # DESCRIPTION has the purpose only: "using the verifier to ensure exclusive creation"
    harm=Harm.OBJECT,
)


# ---------------------------------------------------------------- section 3.3.14: RENAME

RENAMES_THE_OBJECT = stated(
    "RFC 1813",
    "3.3.14",
    "RENAME gives an object a new name, in the same directory or in another one",
    harm=Harm.SUCCESS,
)
RENAME_REPLACES_TARGET = stated(
    "RFC 1813",
    "3.3.14",
    "RENAME removes a target that is compatible with the source; its name then refers to the source",
    harm=Harm.SUCCESS,
)
RENAME_NEEDS_COMPATIBLE_TARGET = must(
    "RFC 1813",
    "3.3.14",
    "source and target are both directories or both not, and a target directory is empty",
    harm=Harm.OBJECT,
)
RENAME_RETURNS_EXIST = should(
    "RFC 1813", "3.3.14", "RENAME to a target that is incompatible or not empty returns NFS3ERR_EXIST"
)
RENAME_WCC = stated(
    "RFC 1813", "3.3.14", "fromdir_wcc describes the directory from.dir, and todir_wcc the directory to.dir"
)


# ---------------------------------------------------------------- section 3.3.16: READDIR

READDIR_LISTS_ENTRIES = stated(
    "RFC 1813", "3.3.16", "READDIR lists each entry of the directory once, and nothing else", harm=Harm.DATA
)
READDIR_SURVIVES_CHANGES = should(
    "RFC 1813",
    "3.3.16",
    # No harm: the text leaves it to the client not to hold a cookie across a change of the directory, and only expects
    # that a cookie is refused which the server knows to be invalid. Directories that a change reorders lose entries.
    "a cookie that became invalid is refused; with an accepted cookie, unchanged entries are listed once",
    part=Part.IMPLEMENTATION,
)
READDIR_COOKIE_RESUMES = stated(
    "RFC 1813", "3.3.16", "a cookie with its verifier resumes the listing after its entry", harm=Harm.DATA
)
READDIR_RETURNS_NAMES = stated(
    "RFC 1813", "3.3.16", "an entry has the name of the object as it is stored in the directory"
)
READDIR_RETURNS_FILEID = stated("RFC 1813", "3.3.16", "an entry has the fileid of the object that it names")
READDIR_NEEDS_DIRECTORY = stated(
    "RFC 1813", "3.3.16", "READDIR works on directories only: other objects have no entries"
)
READDIR_COUNT_IS_LIMIT = stated(
    "RFC 1813",
    "3.3.16",
    "the result is at most count bytes (READDIRPLUS: maxcount, 3.3.17), including all XDR overhead",
)
READDIR_EOF_AT_END = stated(
    "RFC 1813", "3.3.16", "eof is TRUE if and only if no entries are left after this page"
)


# ---------------------------------------------------------------- section 3.3.18: FSSTAT

FS_INFO_RETURNS_ATTRIBUTES = stated(
    "RFC 1813",
    "3.3.18",
    "obj_attributes of FSSTAT (and FSINFO, PATHCONF) are the attributes of the object in the call",
)


# ---------------------------------------------------------------- section 3.3.19: FSINFO

SETS_TIMES_TO_TIME_DELTA = stated(
    "RFC 1813",
    "3.3.19",
    "if FSF3_CANSETTIME is set, SETATTR sets a time as requested, to the accuracy of time_delta",
)


MAXFILESIZE_IS_LIMIT = should(  # RFC 1813 asks for a best effort only
    "RFC 1813", "3.3.19", "maxfilesize is the maximum size of a file"
)
TWO_GIB_FIT_BELOW_MAXFILESIZE = stated(
    "RFC 1813",
    "3.3.19",
    # The description says "The maximum size of a file on the file system", without an exception for estimates: a server
    # that announces more than it stores says what is not so. Signed sizes of 32 bits end 1 byte below 2 GiB, and then
    # that is the maximum. A limit far above may be one that no file has ever reached: MAXFILESIZE_IS_LIMIT.
    "maxfilesize is the maximum size of a file on the file system: 2 GiB and a few bytes fit if it says so",
)


# ---------------------------------------------------------------- section 3.3.20: PATHCONF

NO_TRUNC = stated(
    "RFC 1813",
    "3.3.20",
    "with no_trunc, a name longer than name_max is refused with NFS3ERR_NAMETOOLONG, not truncated",
)
TREATS_LONG_NAMES_ALIKE = should(  # with no_trunc FALSE, it is the refusal that contradicts PATHCONF
    "RFC 1813",
    "3.3.20",
    "no_trunc is one answer for all: long names should be refused in every procedure, or truncated in every one",
)
NAME_MAX = should(  # PATHCONF may return only an estimate
    "RFC 1813", "3.3.20", "name_max is the maximum length of a name in the directory"
)
CASE_SENSITIVE = should(  # the text defines only TRUE, and a server of several file systems may not know
    "RFC 1813", "3.3.20", "without case_insensitive, names that differ only in case are different names"
)


# ---------------------------------------------------------------- section 3.3.21: COMMIT

COMMIT_FLUSHES_DATA = stated(
    "RFC 1813",
    "3.3.21",
    "COMMIT flushes data that was written with UNSTABLE to stable storage",
    harm=Harm.DATA,
)
COMMIT_VERIFIER_IS_CONSTANT = must(
    "RFC 1813", "3.3.21", "verf equals that of earlier WRITEs and COMMITs until the server reboots"
)
COMMIT_FLUSHES_RANGE = stated(
    "RFC 1813", "3.3.21", "COMMIT flushes the range given by offset and count", harm=Harm.DATA
)
COMMIT_NOTHING_TO_FLUSH = should(
    "RFC 1813",
    "3.3.21",
    "COMMIT succeeds if there is nothing to flush, in the file, in the range or since a restart",
    part=Part.IMPLEMENTATION,
)


# ---------------------------------------------------------------- section 4.4: permissions

DENIES_WITHOUT_PERMISSION = should(
    "RFC 1813", "4.4", "the server is expected to deny what the mode of an object does not allow a user to do"
)
GRANTS_WITH_PERMISSION = should(
    "RFC 1813", "4.4", "the server is expected to grant what the mode of an object allows a user to do"
)
SQUASHED_ROOT_IS_NOBODY = should(
    "RFC 1813", "4.4", "root that the server maps to nobody has no more rights than nobody"
)
EXCLUSIVE_KEEPS_DATA = stated(
    "RFC 1813",
    "3.3.8",
    "EXCLUSIVE that comes again does not damage the file that it created",
    harm=Harm.OBJECT,
)
