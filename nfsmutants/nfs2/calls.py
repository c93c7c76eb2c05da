# SPDX-License-Identifier: MIT
"""The types of calls that mutants of NFSv2 get: one per procedure."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2 as p
from nfsclient.xdr import Void
from nfsmutants.form import Call

Null: t.TypeAlias = Call[Void, Void]
Getattr: t.TypeAlias = Call[p.FhandleArgs, p.Attrstat]
Setattr: t.TypeAlias = Call[p.Sattrargs, p.Attrstat]
Root: t.TypeAlias = Call[Void, Void]
Lookup: t.TypeAlias = Call[p.Diropargs, p.Diropres]
Readlink: t.TypeAlias = Call[p.FhandleArgs, p.Readlinkres]
Read: t.TypeAlias = Call[p.Readargs, p.Readres]
Writecache: t.TypeAlias = Call[Void, Void]
Write: t.TypeAlias = Call[p.Writeargs, p.Attrstat]
Create: t.TypeAlias = Call[p.Createargs, p.Diropres]
Remove: t.TypeAlias = Call[p.Diropargs, p.StatRes]
Rename: t.TypeAlias = Call[p.Renameargs, p.StatRes]
Link: t.TypeAlias = Call[p.Linkargs, p.StatRes]
Symlink: t.TypeAlias = Call[p.Symlinkargs, p.StatRes]
Mkdir: t.TypeAlias = Call[p.Createargs, p.Diropres]
Rmdir: t.TypeAlias = Call[p.Diropargs, p.StatRes]
Readdir: t.TypeAlias = Call[p.Readdirargs, p.Readdirres]
Statfs: t.TypeAlias = Call[p.FhandleArgs, p.Statfsres]
