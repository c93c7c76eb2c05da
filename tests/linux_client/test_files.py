# SPDX-License-Identifier: MIT
"""Single files: what programs may do with them over a mount, and what the server has afterwards."""

from __future__ import annotations

import hashlib
import stat

import pytest

from nfsclient import NfsClient
from nfsclient.files import Attributes, FileType, Time
from tests.linux_client.conftest import Mounted

MIB = 1 << 20
_REMOVED = """
import time
ends = time.monotonic() + 20
while any(name.startswith(".nfs") for name in os.listdir(".")) and time.monotonic() < ends:
    time.sleep(0.05)
"""
"""Waits until the client has removed what it had renamed for an open file: close() does not wait for that REMOVE."""


def seconds_of(attributes: Attributes) -> int:
    """When the data changed."""
    assert attributes.mtime is not None
    return attributes.mtime.seconds


def test_a_file_is_made_exclusively_once(linux_client: Mounted, nfs: NfsClient) -> None:
    program = """
import errno, os
flags = os.O_CREAT | os.O_EXCL | os.O_RDWR
one = os.open("once", flags, 0o640)
os.write(one, b"mine")
try:
    os.open("once", flags)
except FileExistsError:
    print("refused")
os.close(one)
"""
    assert linux_client.python(program) == "refused\n"
    assert nfs.read_file("once") == b"mine"
    status = nfs.stat("once")
    assert (status.mode, status.uid, status.gid) == (0o640, 0, 0)
    # The verifier was in the times; the client has set them since.
    assert abs(seconds_of(status) - int(linux_client.sh("date +%s"))) < 600


def test_appended_lines_are_all_there(linux_client: Mounted, nfs: NfsClient) -> None:
    linux_client.sh("for n in $(seq 200); do echo line $n >>log; done")
    linux_client.sh("for p in a b c; do (for n in $(seq 50); do echo $p $n; done >>log) & done; wait")
    lines = nfs.read_file("log").decode().splitlines()
    assert lines[:200] == [f"line {number}" for number in range(1, 201)]
    assert sorted(lines[200:]) == sorted(f"{letter} {number}" for letter in "abc" for number in range(1, 51))


def test_a_file_is_renamed_over_an_open_one(linux_client: Mounted, nfs: NfsClient) -> None:
    program = """
import os
open("old", "w").write("old contents")
open("new", "w").write("new contents")
held = open("old")
os.rename("new", "old")
print(held.read())
print(open("old").read())
print(sorted(name.startswith(".nfs") for name in os.listdir(".")))
held.close()
"""
    program += _REMOVED + 'print(os.listdir("."))'
    lines = linux_client.python(program).splitlines()
    assert lines == ["old contents", "new contents", "[False, True]", "['old']"]
    assert nfs.listdir() == ["old"]


def test_an_open_file_outlives_its_name(linux_client: Mounted, nfs: NfsClient) -> None:
    program = """
import os
held = open("gone", "w+b")
held.write(b"before")
held.flush()
os.unlink("gone")
print(len(os.listdir(".")), os.listdir(".")[0][:4], os.path.exists("gone"), os.fstat(held.fileno()).st_nlink)
held.write(b" and after")
held.flush()
os.fsync(held.fileno())
held.seek(0)
print(held.read().decode())
held.close()
"""
    program += _REMOVED + 'print(len(os.listdir(".")))'
    lines = linux_client.python(program).splitlines()
    assert lines == ["1 .nfs False 1", "before and after", "0"]
    assert nfs.listdir() == []


def test_a_mapped_file_is_read_and_written(linux_client: Mounted, nfs: NfsClient) -> None:
    program = """
import mmap, os
with open("mapped", "w+b") as file:
    file.truncate(1_000_000)
    with mmap.mmap(file.fileno(), 0) as view:
        for at in range(0, 1_000_000, 4093):
            view[at : at + 4] = at.to_bytes(4, "big")
        view.flush()
        print(view[4093:4097] == (4093).to_bytes(4, "big"))
    os.fsync(file.fileno())
"""
    assert linux_client.python(program) == "True\n"
    expected = bytearray(1_000_000)
    for at in range(0, 1_000_000, 4093):
        expected[at : at + 4] = at.to_bytes(4, "big")
    assert nfs.read_file("mapped") == expected[:1_000_000]
    linux_client.guest.drop_caches()
    read = """
import hashlib, mmap
with open("mapped", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view:
    print(hashlib.sha256(view).hexdigest())
"""
    assert linux_client.python(read).strip() == hashlib.sha256(expected[:1_000_000]).hexdigest()


@pytest.mark.parametrize("how", ["conv=fsync", "conv=fdatasync", "oflag=sync", "oflag=direct", "oflag=dsync"])
def test_large_blocks_arrive(linux_client: Mounted, nfs: NfsClient, how: str) -> None:
    linux_client.sh(
        f"dd if=/dev/urandom of=/tmp/data bs=64k count=64 status=none; dd if=/tmp/data of=big bs=256k {how}"
    )
    linux_client.guest.drop_caches()
    digests = linux_client.sh(
        "sha256sum </tmp/data; sha256sum <big; dd if=big bs=1M iflag=direct status=none | sha256sum"
    )
    assert len(set(digests.splitlines())) == 1
    data = nfs.read_file("big")
    assert len(data) == 4 * MIB
    assert hashlib.sha256(data).hexdigest() == digests.split()[0]
    linux_client.sh("rm /tmp/data")


@pytest.mark.parametrize("size", [512, 4096, 65_536])
def test_small_transfers_arrive(linux_client: Mounted, nfs: NfsClient, size: int) -> None:
    linux_client.again(rsize=size, wsize=size)
    data = hashlib.sha512(b"x").digest() * 10_000
    linux_client.guest.write_file(f"{linux_client.point}/f", data)
    linux_client.guest.drop_caches()
    assert linux_client.guest.read_file(f"{linux_client.point}/f") == data
    assert nfs.read_file("f") == data


def test_holes_and_truncation(linux_client: Mounted, nfs: NfsClient) -> None:
    program = """
import os
with open("f", "w+b") as file:
    file.write(b"begin")
    file.seek(3_000_000)
    file.write(b"end")
    file.truncate(2_999_000)
    file.truncate(3_000_010)
    file.seek(5)
    file.write(b" and more")
print(os.stat("f").st_size)
os.truncate("f", 100)
os.truncate("f", 200)
print(len(open("f", "rb").read()))
"""
    assert linux_client.python(program) == "3000010\n200\n"
    assert nfs.read_file("f") == b"begin and more" + bytes(186)


def test_attributes_are_set_and_seen(linux_client: Mounted, nfs: NfsClient) -> None:
    script = """
echo x >f; chown 1234:567 f; chmod 4751 f; touch -d '2001-02-03 04:05:06.123456789 UTC' f
mkdir -m 1777 d; ln -s 'some where' l; ln f g; mkfifo p; mknod c c 5 300; mknod b b 7 1
chown -h 5:6 l
stat -c '%n %f %u %g %h %s %Y' f d l g p c b
stat -c '%y' f; stat -c '%t:%T' c b; readlink l
"""
    lines = linux_client.sh(script).splitlines()
    assert lines[:4] == [
        "f 89e9 1234 567 2 2 981173106",
        f"d 43ff 0 0 2 {nfs.stat('d').size} {seconds_of(nfs.stat('d'))}",
        f"l a1ff 5 6 1 10 {seconds_of(nfs.lstat('l'))}",
        "g 89e9 1234 567 2 2 981173106",
    ]
    assert lines[7:] == ["2001-02-03 04:05:06.123456789 +0000", "5:12c", "7:1", "some where"]
    kinds = {name: nfs.lstat(name).type for name in "fdlgpcb"}
    assert kinds == {
        "f": FileType.REGULAR,
        "d": FileType.DIRECTORY,
        "l": FileType.LINK,
        "g": FileType.REGULAR,
        "p": FileType.FIFO,
        "c": FileType.CHARACTER,
        "b": FileType.BLOCK,
    }
    assert nfs.stat("f").mtime == Time(981173106, 123456789)
    assert stat.S_ISDIR(int(lines[1].split()[1], 16))


def test_modes_are_obeyed(linux_client: Mounted) -> None:
    linux_client.sh(
        "echo secret >f; chmod 600 f; mkdir -m 700 d; mkdir -m 777 open; mkdir -m 1777 sticky; echo >sticky/f"
    )
    for command in (
        "cat f",
        "echo >>f",
        "ls d",
        "chmod 777 f",
        "touch d/x",
        "rm sticky/f",
        "mv sticky/f open/",
    ):
        done = linux_client.run("sh", "-c", command, user=1000)
        assert done.status != 0, command
        assert b"ermission denied" in done.stderr or b"not permitted" in done.stderr, command
    done = linux_client.run(
        "sh", "-ec", "echo mine >open/f; cat open/f; stat -c %u:%g open/f; rm open/f", user=1000
    )
    assert done.check().text == "mine\n1000:1000\n"


def test_names_of_all_kinds(linux_client: Mounted, nfs: NfsClient) -> None:
    linux_client.served.do(lambda server: server.knobs.set("utf8_names", False))
    program = """
import os
names = [b"n" * 255, b"with space", b"new\\nline", bytes(range(1, 47)), bytes(range(48, 256))]
names += ["\\u00e4\\u4e2d".encode(), b"-", b"..."]
for name in names:
    with open(name, "wb") as file:
        file.write(name)
assert sorted(os.listdir(b".")) == sorted(names)
for name in names:
    assert open(name, "rb").read() == name
try:
    open(b"n" * 256, "wb")
except OSError as error:
    print(error.errno)
path = "deep"
os.mkdir(path)
for number in range(40):
    path += f"/{number}"
    os.mkdir(path)
open(path + "/f", "w").write("down here")
print(open(path + "/f").read())
print(os.statvfs(".").f_namemax)
"""
    assert linux_client.python(program) == "36\ndown here\n255\n"
    assert b"n" * 255 in nfs.listdir(b"")
    assert nfs.read_file("deep/" + "/".join(map(str, range(40))) + "/f") == b"down here"


def test_room_is_reported_and_taken(linux_client: Mounted, nfs: NfsClient) -> None:
    size, free = map(int, linux_client.sh("df -B 1 --output=size,avail . | tail -n 1").split())
    room = nfs.fsstat()
    assert (size, free) == (room.tbytes, room.abytes)
    linux_client.sh("dd if=/dev/zero of=f bs=1M count=3 conv=fsync status=none")
    assert free - int(linux_client.sh("df -B 1 --output=avail . | tail -n 1")) >= 3 * MIB


def test_directories_refuse_what_they_must(linux_client: Mounted) -> None:
    script = """
mkdir -p d/e; touch f
for command in 'rmdir d' 'mkdir d' 'mv d d/e' 'mv -T f d' 'mv -T d f' 'rm d' 'rmdir f' 'ls f/x' 'ln d x' 'cat d' \\
        'unlink d' 'mv -T e d'; do
    if $command 2>/tmp/why; then echo "$command: ok"; else echo "$command: $(sed 's/.*: //' /tmp/why)"; fi
done
"""
    assert linux_client.sh(script).splitlines() == [
        "rmdir d: Directory not empty",
        "mkdir d: File exists",
        "mv d d/e: cannot move 'd' to a subdirectory of itself, 'd/e/d'",
        "mv -T f d: cannot overwrite directory 'd' with non-directory",
        "mv -T d f: cannot overwrite non-directory 'f' with directory 'd'",
        "rm d: Is a directory",
        "rmdir f: Not a directory",
        "ls f/x: Not a directory",
        "ln d x: hard link not allowed for directory",
        "cat d: Is a directory",
        "unlink d: Is a directory",
        "mv -T e d: No such file or directory",
    ]
