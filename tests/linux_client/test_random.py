# SPDX-License-Identifier: MIT
"""A random sequence of operations on a file of the export and on one of the guest: both have to be equal throughout."""

from __future__ import annotations

import pytest

from nfsclient import NfsClient
from tests.linux_client.conftest import Mounted

PROGRAM = """
import mmap, os, random, sys
random = random.Random(int(sys.argv[1]))
most, path, model = 400_000, "file", bytearray()
descriptor = os.open(path, os.O_RDWR | os.O_CREAT)

def check(step, what):
    seen = os.pread(descriptor, most + 1, 0)
    if seen != model:
        first = next((n for n, (a, b) in enumerate(zip(seen, model)) if a != b), min(len(seen), len(model)))
        sys.exit(f"step {step}, {what}: {len(seen)} bytes instead of {len(model)}, different at {first}")

for step in range(400):
    what = random.choice("write write read truncate map append sync reopen forget rename".split())
    at, length = random.randrange(most), random.randrange(1, 60_000)
    length = min(length, most - at)
    data = random.randbytes(length)
    if what == "write":
        model.extend(bytes(max(0, at - len(model))))
        model[at : at + length] = data
        os.pwrite(descriptor, data, at)
    elif what == "append" and len(model) + 1000 < most:
        model += data[:1000]
        with open(path, "ab") as file:
            file.write(data[:1000])
    elif what == "read":
        seen = os.pread(descriptor, length, at)
        if seen != model[at : at + length]:
            sys.exit(f"step {step}: read {length} bytes at {at}")
    elif what == "truncate":
        model = model[:at] + bytes(max(0, at - len(model)))
        os.ftruncate(descriptor, at)
    elif what == "map" and model:
        begin = random.randrange(len(model))
        data = data[: len(model) - begin]
        model[begin : begin + len(data)] = data
        with mmap.mmap(descriptor, len(model)) as view:
            view[begin : begin + len(data)] = data
            view.flush()
    elif what == "sync":
        os.fsync(descriptor)
    elif what == "reopen":
        os.close(descriptor)
        descriptor = os.open(path, os.O_RDWR)
    elif what == "forget":
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        check(step, what)
    elif what == "rename":
        os.rename(path, path + "x")
        path += "x"
        if len(path) > 20:
            os.link(path, "file")
            os.unlink(path)
            path = "file"
check(step, "end")
os.close(descriptor)
os.rename(path, "result")
open("model", "wb").write(model)
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_file_is_as_its_model(linux_client: Mounted, nfs: NfsClient, seed: int) -> None:
    linux_client.python(PROGRAM, str(seed))
    assert sorted(nfs.listdir()) == ["model", "result"]
    assert nfs.read_file("result") == nfs.read_file("model")
