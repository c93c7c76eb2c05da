# SPDX-License-Identifier: MIT
"""Clauses that checks in more than one file prove, each declared once."""

from __future__ import annotations

from nfsjudge import Harm, Level, Part, Requirement

# ---------------------------------------------------------------- section 2.5: attributes, handles, wcc_data

DIRECTORY_SIZE_AND_NLINK_ARE_STEADY = Requirement(
    rfc="RFC 1813",
    section="2.5",
    # Section 2.5 defines both for files only: some systems simulate them, or update them later.
    level=Level.SHOULD,
    gist="size and nlink of a directory should stay the same while nobody changes the directory",
)
NLINK_COUNTS = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # a server may have to simulate fields
    gist="nlink is the number of names (hard links) of a file",
)
FILEID_STAYS = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # the text says that it is unique, not that it is constant
    gist="fileid identifies the file: it should stay the same while the file exists",
)
NSECONDS_BELOW_ONE_SECOND = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # the text gives no limit: it is custom, and clients rely on it
    gist="nseconds counts nanoseconds after the last full second: it is below 1,000,000,000",
)
MODE_HAS_DEFINED_BITS_ONLY = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="mode should have no bits but the defined protection bits",
    level=Level.SHOULD,
)
HANDLE_IS_OF_ONE_FILE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="equal file handles refer to the same file: the handle of a removed or replaced file never reaches another",
    level=Level.MUST,
    harm=Harm.DATA,
)
RETURNS_STALE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a handle whose object no longer exists or is no longer accessible should be answered with NFS3ERR_STALE",
    level=Level.SHOULD,
)
BAD_HANDLE_REACHES_NOTHING = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a handle that refers to no object has no effect: nothing is created and nothing removed",
    harm=Harm.OBJECT,
)
WRITE_EXTENDS_SIZE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="size is the size of the file: WRITE at or beyond the end extends it to the last byte counted",
    harm=Harm.DATA,
)
STORES_32_BIT_SECONDS = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="seconds of a time are unsigned: the server should store times of 1970 and after 2038, or refuse them",
    level=Level.SHOULD,
)
WCC_BEFORE_IS_PRE_OPERATION = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="wcc_data.before has the size, mtime and ctime of the object from before the operation",
)
WCC_BEFORE_HAS_OLD_TIMES = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # some file systems update the times of a directory later
    gist="wcc_data.before should have the times of the directory from before the operation",
)
WCC_AFTER_IS_POST_OPERATION = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="wcc_data.after has the attributes of the object from after the operation",
)
WCC_AFTER_HAS_NEW_TIMES = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # some file systems update the times of a directory later
    gist="wcc_data.after should have the times of the object from after the operation",
)


# ---------------------------------------------------------------- section 2.6: statuses

RETURNS_EXIST = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="creating a name that already exists returns NFS3ERR_EXIST",
    harm=Harm.SUCCESS,
)
RETURNS_NOTDIR = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="a directory operation on an object that is not a directory returns NFS3ERR_NOTDIR",
)
RETURNS_NOENT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="an operation on a name that does not exist returns NFS3ERR_NOENT",
)
RETURNS_MLINK = Requirement(
    rfc="RFC 1813", section="2.6", level=Level.SHOULD, gist="NFS3ERR_MLINK reports too many hard links"
)
RETURNS_BADHANDLE = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="a handle that fails consistency checks returns NFS3ERR_BADHANDLE, one invalid otherwise NFS3ERR_STALE",
    level=Level.SHOULD,
)
RETURNS_TOOSMALL = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,  # clients should not send less than dtpref (section 3.3.16, IMPLEMENTATION)
    gist="NFS3ERR_TOOSMALL reports that the buffer is too small, even for one entry",
)
RETURNS_NOSPC = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_NOSPC reports that the operation would exceed the limit of the file system",
)
RETURNS_ROFS = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_ROFS reports a modifying operation on a read-only file system",
)
READ_ONLY_IS_UNCHANGED = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="a read-only file system is not modified",
    harm=Harm.OBJECT,
)
NOSPC_LEAVES_NOTHING = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,  # a failed call returns wcc_data because it may have changed the directory
    gist="an operation that fails with NFS3ERR_NOSPC should create nothing",
)
RETURNS_NOTSUPP = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_NOTSUPP reports an operation that the server does not support",
)
RETURNS_NAMETOOLONG = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_NAMETOOLONG reports a name or path that is too long",
)


# ---------------------------------------------------------------- section 3.2: names

NAMES_RETURN_A_STATUS = Requirement(
    rfc="RFC 1813",
    section="3.2",
    level=Level.SHOULD,
    gist="a name that is empty or has characters that the server cannot handle returns a status, NFS3ERR_ACCES",
)
REFUSES_EMPTY_NAMES = Requirement(
    rfc="RFC 1813",
    section="3.2",
    level=Level.SHOULD,
    gist="an empty filename is refused (NFS3ERR_ACCES)",
)
DOTDOT_IS_THE_PARENT = Requirement(
    rfc="RFC 1813", section="3.2", level=Level.SHOULD, gist='the name ".." refers to the parent directory'
)
LONG_NAMES_RETURN_NAMETOOLONG = Requirement(
    rfc="RFC 1813",
    section="3.2",
    # Such a name does not exist either, and errors have no order of precedence (section 2.5).
    level=Level.SHOULD,
    gist="with no_trunc, an operation on a name longer than name_max returns NFS3ERR_NAMETOOLONG",
)


# ---------------------------------------------------------------- section 3.3.2: SETATTR

EXTENSION_READS_AS_ZEROS = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="bytes that a larger size adds to a file read as zeros",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    harm=Harm.DATA,
)
SETATTR_SETS_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="after a successful SETATTR the attributes have the requested values",
    harm=Harm.SUCCESS,
)
SETATTR_SETS_NOTHING_ELSE = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="SETATTR changes only the attributes that new_attributes sets",
    harm=Harm.OBJECT,
)
SIZE_CHANGE_KEEPS_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="a new size truncates or extends the file at its end: the data below both sizes stays the same",
    harm=Harm.DATA,
)
SETATTR_SIZE_IS_OF_FILES = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="SETATTR of the size is for regular files",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)


# ---------------------------------------------------------------- section 3.3.5: READLINK

SYMLINK_DATA_IS_NOT_INTERPRETED = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    gist="the data of a symbolic link is stored as it is, not interpreted",
    harm=Harm.DATA,
)


# ---------------------------------------------------------------- section 3.3.6: READ

READ_DATA_AT_OFFSET = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ returns the bytes of the file that begin at offset",
    harm=Harm.DATA,
)
READ_EOF_AT_END = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ sets eof if and only if offset plus the returned count is the size of the file",
)
READ_ABOVE_RTMAX = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ of more than rtmax may be short, and returns only data of the file",
    harm=Harm.DATA,
)
READ_RETURNS_CURRENT_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ returns the current data of the file, with every change that was answered before",
    harm=Harm.DATA,
)


# ---------------------------------------------------------------- section 3.3.7: WRITE

WRITES_COUNT_BYTES = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="the count bytes that WRITE reports are in the file, starting at offset",
    harm=Harm.DATA,
)
WRITE_WCC_AFTER = Requirement(
    rfc="RFC 1813", section="3.3.7", gist="file_wcc.after has the attributes of the file after the WRITE"
)
WRITE_MAKES_PROGRESS = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="a short WRITE without an error wrote some of the data, so that repeated WRITEs come to an end",
)
FILE_SYNC_DATA_IS_STABLE = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="data written with FILE_SYNC is on stable storage before WRITE returns",
    level=Level.MUST,
    harm=Harm.DATA,
)
WRITE_KEEPS_OTHER_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="WRITE changes at most its own range: a WRITE that fails does not damage the file",
    harm=Harm.DATA,
)
VERIFIER_IS_CONSTANT = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="verf stays the same during one instance of the server",
    level=Level.MUST,
)
VERIFIER_CHANGES_ON_LOSS = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="the server does not lose uncommitted data without changing verf",
    harm=Harm.DATA,
)
WRITE_CHANGES_ONLY_ITS_RANGE = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="WRITE changes count bytes at offset and no others",
    harm=Harm.DATA,
)
WRITE_COUNT_BOUNDS_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    level=Level.SHOULD,  # no RFC says what a count means that differs from the length of the data
    gist="WRITE writes no more than count bytes, and no more than its data",
)
WRITE_GAP_IS_ZERO = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="bytes between the old end of the file and data written beyond it read as zeros (as in 3.3.2)",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    harm=Harm.DATA,
)
WRITE_RETURNS_INVAL = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="WRITE to an object that is not a regular file fails with NFS3ERR_INVAL",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)


# ---------------------------------------------------------------- section 3.3.8: CREATE

SETS_INITIAL_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,  # access control lists and rules for groups may override them (section 4.4)
    gist="the attributes in the arguments of CREATE are the initial attributes of the new file",
)
MKDIR_SETS_INITIAL_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.9",
    level=Level.SHOULD,  # as for CREATE
    gist="the attributes in the arguments of MKDIR are the initial attributes of the new directory",
)
MKNOD_SETS_INITIAL_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.11",
    level=Level.SHOULD,  # as for CREATE
    gist="the attributes in the arguments of MKNOD are the initial attributes of the new special file",
)
EXCLUSIVE_NEEDS_ITS_VERIFIER = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,  # DESCRIPTION has the purpose only: "using the verifier to ensure exclusive creation"
    gist="EXCLUSIVE succeeds only for a file created with its verifier, never for any other existing object",
    harm=Harm.OBJECT,
)


# ---------------------------------------------------------------- section 3.3.14: RENAME

RENAMES_THE_OBJECT = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="RENAME gives an object a new name, in the same directory or in another one",
    harm=Harm.SUCCESS,
)
RENAME_REPLACES_TARGET = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="RENAME removes a target that is compatible with the source; its name then refers to the source",
    harm=Harm.SUCCESS,
)
RENAME_NEEDS_COMPATIBLE_TARGET = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.MUST,
    gist="source and target are both directories or both not, and a target directory is empty",
    harm=Harm.OBJECT,
)
RENAME_RETURNS_EXIST = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.SHOULD,
    gist="RENAME to a target that is incompatible or not empty returns NFS3ERR_EXIST",
)
RENAME_WCC = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="fromdir_wcc describes the directory from.dir, and todir_wcc the directory to.dir",
)


# ---------------------------------------------------------------- section 3.3.16: READDIR

READDIR_LISTS_ENTRIES = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="READDIR lists each entry of the directory once, and nothing else",
    harm=Harm.DATA,
)
READDIR_SURVIVES_CHANGES = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    # No harm: the text leaves it to the client not to hold a cookie across a change of the directory, and only expects
    # that a cookie is refused which the server knows to be invalid. Directories that a change reorders lose entries.
    gist="a cookie that became invalid is refused; with an accepted cookie, unchanged entries are listed once",
)
READDIR_COOKIE_RESUMES = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="a cookie with its verifier resumes the listing after its entry",
    harm=Harm.DATA,
)
READDIR_RETURNS_NAMES = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="an entry has the name of the object as it is stored in the directory",
)
READDIR_RETURNS_FILEID = Requirement(
    rfc="RFC 1813", section="3.3.16", gist="an entry has the fileid of the object that it names"
)
READDIR_NEEDS_DIRECTORY = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="READDIR works on directories only: other objects have no entries",
)
READDIR_COUNT_IS_LIMIT = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="the result is at most count bytes (READDIRPLUS: maxcount, 3.3.17), including all XDR overhead",
)
READDIR_EOF_AT_END = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="eof is TRUE if and only if no entries are left after this page",
)


# ---------------------------------------------------------------- section 3.3.18: FSSTAT

FS_INFO_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.18",
    gist="obj_attributes of FSSTAT (and FSINFO, PATHCONF) are the attributes of the object in the call",
)


# ---------------------------------------------------------------- section 3.3.19: FSINFO

SETS_TIMES_TO_TIME_DELTA = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    gist="if FSF3_CANSETTIME is set, SETATTR sets a time as requested, to the accuracy of time_delta",
)


MAXFILESIZE_IS_LIMIT = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    level=Level.SHOULD,  # RFC 1813 asks for a best effort only
    gist="maxfilesize is the maximum size of a file",
)
TWO_GIB_FIT_BELOW_MAXFILESIZE = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    # The description says "The maximum size of a file on the file system", without an exception for estimates: a server
    # that announces more than it stores says what is not so. Signed sizes of 32 bits end 1 byte below 2 GiB, and then
    # that is the maximum. A limit far above may be one that no file has ever reached: MAXFILESIZE_IS_LIMIT.
    gist="maxfilesize is the maximum size of a file on the file system: 2 GiB and a few bytes fit if it says so",
)


# ---------------------------------------------------------------- section 3.3.20: PATHCONF

NO_TRUNC = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    gist="with no_trunc, a name longer than name_max is refused with NFS3ERR_NAMETOOLONG, not truncated",
)
TREATS_LONG_NAMES_ALIKE = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    level=Level.SHOULD,  # with no_trunc FALSE, it is the refusal that contradicts PATHCONF
    gist="no_trunc is one answer for all: long names should be refused in every procedure, or truncated in every one",
)
NAME_MAX = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    level=Level.SHOULD,  # PATHCONF may return only an estimate
    gist="name_max is the maximum length of a name in the directory",
)
CASE_SENSITIVE = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    level=Level.SHOULD,  # the text defines only TRUE, and a server of several file systems may not know
    gist="without case_insensitive, names that differ only in case are different names",
)


# ---------------------------------------------------------------- section 3.3.21: COMMIT

COMMIT_FLUSHES_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="COMMIT flushes data that was written with UNSTABLE to stable storage",
    harm=Harm.DATA,
)
COMMIT_VERIFIER_IS_CONSTANT = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="verf equals that of earlier WRITEs and COMMITs until the server reboots",
    level=Level.MUST,
)
COMMIT_FLUSHES_RANGE = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="COMMIT flushes the range given by offset and count",
    harm=Harm.DATA,
)
COMMIT_NOTHING_TO_FLUSH = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="COMMIT succeeds if there is nothing to flush, in the file, in the range or since a restart",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)


# ---------------------------------------------------------------- section 4.4: permissions

DENIES_WITHOUT_PERMISSION = Requirement(
    rfc="RFC 1813",
    section="4.4",
    level=Level.SHOULD,
    gist="the server is expected to deny what the mode of an object does not allow a user to do",
)
GRANTS_WITH_PERMISSION = Requirement(
    rfc="RFC 1813",
    section="4.4",
    gist="the server is expected to grant what the mode of an object allows a user to do",
    level=Level.SHOULD,
)
SQUASHED_ROOT_IS_NOBODY = Requirement(
    rfc="RFC 1813",
    section="4.4",
    level=Level.SHOULD,
    gist="root that the server maps to nobody has no more rights than nobody",
)
EXCLUSIVE_KEEPS_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="EXCLUSIVE that comes again does not damage the file that it created",
    harm=Harm.OBJECT,
)
