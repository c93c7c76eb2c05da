# SPDX-License-Identifier: MIT
"""Files and directories by path over Spritely NFS (Srinivasan and Mogul, 1989), with a consistent cache.

cache       what is kept, without I/O: what is to be read, written and dropped
caching     the calls that it needs, CALLBACKs, recovery
writeback   WRITEs of what waits, for programs and for CALLBACKs
callbacks   CALLBACKs on the connection, from message to reply
files       open files
client      paths
"""

from __future__ import annotations

from nfsclient.highlevel.snfs.client import NfsClient, connect
from nfsclient.highlevel.snfs.errors import StateLost
from nfsclient.highlevel.snfs.files import NfsFile

__all__ = ["NfsClient", "NfsFile", "StateLost", "connect"]
