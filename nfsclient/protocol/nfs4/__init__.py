# SPDX-License-Identifier: MIT
"""NFS version 4, minor versions 0, 1 and 2: types, attributes, operations and callbacks, errors.

RFC 7530 (4.0), RFC 5661 (4.1), RFC 7862 (4.2), RFC 8276 (extended attributes). There is one set of declarations: minor
versions differ by what the tables of operations and attributes say of each. Everything is re-exported here, 700 names:
``from nfsclient.protocol import nfs4 as p``.
"""

from __future__ import annotations

from nfsclient.protocol.nfs4 import errors as errors
from nfsclient.protocol.nfs4.acl import *  # noqa: F403
from nfsclient.protocol.nfs4.attributes import *  # noqa: F403
from nfsclient.protocol.nfs4.callbacks import *  # noqa: F403
from nfsclient.protocol.nfs4.compound import *  # noqa: F403
from nfsclient.protocol.nfs4.directories import *  # noqa: F403
from nfsclient.protocol.nfs4.filehandles import *  # noqa: F403
from nfsclient.protocol.nfs4.files import *  # noqa: F403
from nfsclient.protocol.nfs4.layouts import *  # noqa: F403
from nfsclient.protocol.nfs4.locations import *  # noqa: F403
from nfsclient.protocol.nfs4.locks import *  # noqa: F403
from nfsclient.protocol.nfs4.opens import *  # noqa: F403
from nfsclient.protocol.nfs4.operations import *  # noqa: F403
from nfsclient.protocol.nfs4.pnfs import *  # noqa: F403
from nfsclient.protocol.nfs4.ranges import *  # noqa: F403
from nfsclient.protocol.nfs4.security import *  # noqa: F403
from nfsclient.protocol.nfs4.sessions import *  # noqa: F403
from nfsclient.protocol.nfs4.types import *  # noqa: F403
from nfsclient.protocol.nfs4.xattrs import *  # noqa: F403
