# SPDX-License-Identifier: MIT
"""What a server must still know when it has dropped what it can read again from its disk."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import Harm, expect, expect_data, must, proves, skip, stated

PERSISTENT_LASTS = must(
    "RFC 5661",
    "4.2.2",
    "a persistent filehandle is accepted for its object during the lifetime of that",
    also={"4.0": ("RFC 7530", "4.2.2")},
)
WRITTEN_IS_READ = stated(
    "RFC 5661",
    "18.32.3",
    "data that WRITE has answered as FILE_SYNC4 has been committed to stable storage",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.36.4")},
)
_FILES: t.Final = 8


@proves(
    PERSISTENT_LASTS, WRITTEN_IS_READ, killed_by=("putfh4-knows-few-handles", "read4-repeats-the-first-file")
)
def test_handles_and_data(target: TargetView, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Filehandles of files in several directories work, and data is there, after the caches were dropped."""
    files: dict[bytes, tuple[bytes, int | None]] = {}
    directory = scratch.handle
    for number in range(_FILES):
        directory = scratch.directory(b"d", directory=directory)
        data = b"%d" % number * 3
        file = scratch.file(b"f", data, directory=directory)
        files[file] = data, scratch.attributes(file, "fileid").fileid
    if scratch.attributes(directory, "fh_expire_type").fh_expire_type != p.FH4_PERSISTENT:
        skip("filehandles of the server may expire")
    target.drop_caches()
    for file, (data, fileid) in files.items():
        reading = (op.putfh(file), op.getattr("fileid"), op.read(op.ANONYMOUS, 0, 100))
        reply = expect(compounds.compound(*reading)).ok()
        expect(reply.attributes).field("fileid").equals(fileid)
        result = reply.of(p.READ).resok4
        assert result is not None
        expect_data(bytes(result.data), data, because=WRITTEN_IS_READ)
