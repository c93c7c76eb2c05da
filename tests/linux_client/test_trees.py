# SPDX-License-Identifier: MIT
"""Whole trees of files, copied, packed, built and listed by the kernel's client."""

from __future__ import annotations

from nfsclient import NfsClient
from tests.linux_client.conftest import POINT, Mounted
from tests.linux_client.trees import in_guest, on_server

LIBRARY = "/usr/lib/python3.11"
MANY = 3_000


def test_a_copied_tree_is_equal_on_both_sides(linux_client: Mounted, nfs: NfsClient) -> None:
    linux_client.sh(f"cp -a {LIBRARY} tree; sync; ln -s ../x tree/dangling; mkfifo tree/fifo")
    source = in_guest(linux_client, LIBRARY)
    assert len(source) > 500
    linux_client.guest.drop_caches()
    copy = in_guest(linux_client, "tree")
    assert {name: copy[name] for name in source} == source
    assert copy.keys() - source.keys() == {"dangling", "fifo"}
    assert on_server(nfs, "tree") == copy


def test_a_program_is_built_and_run(linux_client: Mounted, nfs: NfsClient) -> None:
    write = """
import pathlib
folder = pathlib.Path("built/source")
folder.mkdir(parents=True)
for n in range(30):
    (folder / f"part{n}.h").write_text(f"int part{n}(int);\\n")
    (folder / f"part{n}.c").write_text(f'#include "part{n}.h"\\nint part{n}(int x) {{ return x + {n}; }}\\n')
calls = "".join(f"    sum = part{n}(sum);\\n" for n in range(30))
heads = "".join(f'#include "part{n}.h"\\n' for n in range(30))
body = f'    int sum = 0;\\n{calls}    printf("sum %d\\\\n", sum);\\n    return 0;\\n'
(folder / "main.c").write_text(f"#include <stdio.h>\\n{heads}int main(void) {{\\n{body}}}\\n")
pathlib.Path("built/Makefile").write_text(
    "OBJECTS = $(patsubst source/%.c,objects/%.o,$(wildcard source/*.c))\\n"
    "program: $(OBJECTS)\\n\\ttcc -o $@ $(OBJECTS)\\n"
    "objects/%.o: source/%.c\\n\\t@mkdir -p objects\\n\\ttcc -c -o $@ $<\\n"
    "clean:\\n\\trm -rf objects program\\n")
"""
    linux_client.python(write)
    said = linux_client.sh("make -C built -j 3; built/program; make -C built -q; echo current")
    assert said.endswith("sum 435\ncurrent\n")
    assert len(nfs.listdir("built/objects")) == 31
    # One source that is newer, and no more, is compiled again.
    assert linux_client.sh("touch built/source/part7.c; make -C built").count(" -c ") == 1
    linux_client.sh(f"cp -a {LIBRARY}/json .; python3 -m compileall -q json; make -C built clean")
    assert linux_client.python("import json; print(json.__file__)") == f"{POINT}/json/__init__.py\n"
    assert sorted(nfs.listdir("built")) == ["Makefile", "source"]
    assert len(nfs.listdir("json/__pycache__")) == 5


def test_find_and_tar_see_the_same_tree(linux_client: Mounted, nfs: NfsClient) -> None:
    script = f"""
cp -a {LIBRARY}/email {LIBRARY}/asyncio .
ln email/parser.py asyncio/linked.py
tar cf all.tar email asyncio
mkdir unpacked
tar xpf all.tar -C unpacked
tar df all.tar
tar df all.tar -C unpacked
find email -type f -name '*.py' | wc -l
find . -newer all.tar -type d | sort
find unpacked -links 2 -type f | sort
find unpacked -delete
"""
    lines = linux_client.sh(script).split()
    files = [name for _, _, names in nfs.walk("email") for name in names]
    assert int(lines[0]) == sum(name.endswith(".py") for name in files) > 20
    assert lines[1:] == [".", "./unpacked", "unpacked/asyncio/linked.py", "unpacked/email/parser.py"]
    assert sorted(nfs.listdir()) == ["all.tar", "asyncio", "email"]


def test_a_directory_of_many_names(linux_client: Mounted) -> None:
    make = f"""
import os
os.mkdir("many")
for number in range({MANY}):
    os.close(os.open(f"many/name-{{number:05}}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
"""
    linux_client.python(make, seconds=300)
    linux_client.guest.drop_caches()
    for listing in ("ls many", "ls -l many | tail -n +2", "ls -U many", "find many -type f"):
        lines = linux_client.sh(f"{listing} | sort -u | wc -l; {listing} | wc -l").split()
        assert lines == [str(MANY), str(MANY)], listing
    # Names that go while they are listed.
    linux_client.sh("rm -r many; mkdir many; rmdir many")
