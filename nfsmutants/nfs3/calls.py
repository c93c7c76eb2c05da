# SPDX-License-Identifier: MIT
"""The types of calls that mutants of NFSv3 get: one per procedure."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3 as p
from nfsclient.xdr import Void
from nfsmutants.form import Call

Null: t.TypeAlias = Call[Void, Void]
Getattr: t.TypeAlias = Call[p.Getattr3Args, p.Getattr3Res]
Setattr: t.TypeAlias = Call[p.Setattr3Args, p.Setattr3Res]
Lookup: t.TypeAlias = Call[p.Lookup3Args, p.Lookup3Res]
Access: t.TypeAlias = Call[p.Access3Args, p.Access3Res]
Readlink: t.TypeAlias = Call[p.Readlink3Args, p.Readlink3Res]
Read: t.TypeAlias = Call[p.Read3Args, p.Read3Res]
Write: t.TypeAlias = Call[p.Write3Args, p.Write3Res]
Create: t.TypeAlias = Call[p.Create3Args, p.Create3Res]
Mkdir: t.TypeAlias = Call[p.Mkdir3Args, p.Mkdir3Res]
Symlink: t.TypeAlias = Call[p.Symlink3Args, p.Symlink3Res]
Mknod: t.TypeAlias = Call[p.Mknod3Args, p.Mknod3Res]
Remove: t.TypeAlias = Call[p.Remove3Args, p.Remove3Res]
Rmdir: t.TypeAlias = Call[p.Rmdir3Args, p.Rmdir3Res]
Rename: t.TypeAlias = Call[p.Rename3Args, p.Rename3Res]
Link: t.TypeAlias = Call[p.Link3Args, p.Link3Res]
Readdir: t.TypeAlias = Call[p.Readdir3Args, p.Readdir3Res]
Readdirplus: t.TypeAlias = Call[p.Readdirplus3Args, p.Readdirplus3Res]
Fsstat: t.TypeAlias = Call[p.Fsstat3Args, p.Fsstat3Res]
Fsinfo: t.TypeAlias = Call[p.Fsinfo3Args, p.Fsinfo3Res]
Pathconf: t.TypeAlias = Call[p.Pathconf3Args, p.Pathconf3Res]
Commit: t.TypeAlias = Call[p.Commit3Args, p.Commit3Res]
